//! Did a value move? Notes on both records of a value that went from one place to another unchanged.
//!
//! The plain facts stay: a removal and an addition. A note is only made where no other value of the file could be meant,
//! and never for a value that turns up by chance, `30` or `true`.

use super::compare::{Found, Side};
use super::notes;
use super::same::Hashes;
use crate::document::{Data, Node};
use crate::path::Segment;
use crate::record::Op;
use std::collections::{HashMap, HashSet};

/// A shorter string turns up by chance.
const MIN_TEXT: usize = 8;

/// With more changes than this in one file, nobody follows a note from one to another.
const MAX_FOUND: usize = 20_000;

/// How many pairs of keys of one file are looked at for ones that look alike: what a person can oversee, a hundred times.
const MAX_LOOKS: usize = 1_000_000;

/// Adds the notes.
pub(super) fn note(found: &mut [Found<'_>]) {
    if found.len() > MAX_FOUND || !found.iter().any(|f| f.op == Op::Added) || !found.iter().any(|f| f.op == Op::Removed)
    {
        return;
    }
    let mut hashes = Hashes::default();
    let mut places: HashMap<u64, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for (at, one) in found.iter().enumerate() {
        let (side, added) = match one.op {
            Op::Added => (&one.after, true),
            Op::Removed => (&one.before, false),
            Op::Changed | Op::Reordered => continue,
        };
        let Some(node) = side.as_ref().and_then(Side::node) else { continue };
        if telling(node) {
            let place = places.entry(hashes.of(node)).or_default();
            if added { place.1.push(at) } else { place.0.push(at) }
        }
    }
    let mut pairs: Vec<(usize, usize)> = places
        .into_values()
        .filter_map(|(removed, added)| match (&removed[..], &added[..]) {
            ([a], [b]) => Some((*a, *b)),
            _ => None,
        })
        .collect();
    pairs.sort_unstable();
    for (removed, added) in &pairs {
        tell(found, *removed, *added, "moved");
    }
    let noted: HashSet<usize> = pairs.into_iter().map(|(removed, _)| removed).collect();
    for (removed, added) in renamed_keys(found, &mut hashes, &noted) {
        tell(found, removed, added, "renamed");
    }
    same_looks(found);
}

fn tell(found: &mut [Found<'_>], removed: usize, added: usize, what: &str) {
    let apart = found[removed].document != found[added].document;
    let (from, to) = (place(&found[removed], apart), place(&found[added], apart));
    found[removed].notes.push(format!("{what} to {to}"));
    found[added].notes.push(format!("{what} from {from}"));
}

/// A key that is gone and one that came under the same parent with the same value, where the names have a word in common
/// or are nearly one: `timeout` that became `request_timeout`, `timezone` that became `time_zone`, `jzs` that became `jsz`.
/// So much says more than the value, which may be any.
fn renamed_keys(found: &[Found<'_>], hashes: &mut Hashes, noted: &HashSet<usize>) -> Vec<(usize, usize)> {
    /// The removed and the added keys of one map.
    #[derive(Default)]
    struct Siblings {
        gone: Vec<usize>,
        came: Vec<usize>,
    }
    let mut parents: HashMap<(Option<&str>, &[Segment]), Siblings> = HashMap::new();
    for (at, one) in found.iter().enumerate() {
        let Some((Segment::Key(_), parent)) = one.path.0.split_last() else { continue };
        let group = parents.entry((one.document.as_deref(), parent)).or_default();
        match one.op {
            Op::Removed => group.gone.push(at),
            Op::Added => group.came.push(at),
            Op::Changed | Op::Reordered => {}
        }
    }
    let mut pairs = Vec::new();
    for Siblings { gone, came } in parents.into_values().filter(|all| all.gone.len() * all.came.len() <= 1_000) {
        let mut fits = |a: usize, b: usize| {
            let node = |side: &Option<Side<'_>>, hashes: &mut Hashes| {
                side.as_ref().and_then(Side::node).map(|node| hashes.of(node))
            };
            let (old, new) = (node(&found[a].before, hashes), node(&found[b].after, hashes));
            old.is_some() && old == new && alike(&found[a], &found[b])
        };
        let fitting: Vec<(usize, usize)> =
            gone.iter().flat_map(|a| came.iter().map(move |b| (*a, *b))).filter(|(a, b)| fits(*a, *b)).collect();
        let alone = |(a, b): &(usize, usize)| {
            fitting.iter().filter(|(x, y)| x == a || y == b).count() == 1 && !noted.contains(a)
        };
        pairs.extend(fitting.iter().copied().filter(alone));
    }
    pairs.sort_unstable();
    pairs
}

/// Whether the names have a word in common, or are one but for how it is divided, for a letter, or for two that changed places.
fn alike(a: &Found<'_>, b: &Found<'_>) -> bool {
    let words = |one: &Found<'_>| -> Vec<String> {
        let Some(Segment::Key(key)) = one.path.0.last() else { return Vec::new() };
        let mut out = vec![String::new()];
        let mut was_lower = false;
        for c in key.chars() {
            if !c.is_alphanumeric() || c.is_uppercase() && was_lower {
                out.push(String::new());
            }
            if let Some(word) = out.last_mut().filter(|_| c.is_alphanumeric()) {
                word.extend(c.to_lowercase());
            }
            was_lower = c.is_lowercase();
        }
        out
    };
    let (a, b) = (words(a), words(b));
    let (a_whole, b_whole) = (a.concat(), b.concat());
    a.iter().any(|word| word.len() > 2 && b.contains(word)) || !a_whole.is_empty() && is_slip(&a_whole, &b_whole)
}

/// Whether one text is the other, or a slip of it: a letter more at any place, or two neighbours that changed places.
fn is_slip(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (short, long) = if a.len() <= b.len() { (&a, &b) } else { (&b, &a) };
    let start = short.iter().zip(long).take_while(|(x, y)| x == y).count();
    let (short, long) = (&short[start..], &long[start..]);
    match long.len() - short.len() {
        0 => match (short, long) {
            ([p, q, rest @ ..], [r, s, other @ ..]) => (p, q, rest) == (s, r, other) && start + short.len() > 2,
            _ => short.is_empty(),
        },
        1 => short == &long[1..] && start + short.len() > 2,
        _ => false,
    }
}

/// A key that is gone and one that came under the same parent that the eye cannot tell apart.
fn same_looks(found: &mut [Found<'_>]) {
    let keys = |op: Op| {
        found.iter().enumerate().filter(move |(_, one)| one.op == op).filter_map(|(at, one)| {
            match one.path.0.split_last() {
                Some((Segment::Key(key), parent)) => Some((at, parent, key.as_str())),
                _ => None,
            }
        })
    };
    if keys(Op::Removed).all(|(_, _, key)| key.is_ascii()) {
        return;
    }
    let mut come: HashMap<&[Segment], Vec<(usize, &str)>> = HashMap::new();
    for (at, parent, key) in keys(Op::Added) {
        come.entry(parent).or_default().push((at, key));
    }
    let mut budget = MAX_LOOKS;
    let mut pairs = Vec::new();
    for (a, parent, gone) in keys(Op::Removed).filter(|(_, _, key)| !key.is_ascii()) {
        let Some(others) = come.get(parent).filter(|others| others.len() <= budget) else { continue };
        budget -= others.len();
        pairs.extend(others.iter().find(|(_, other)| notes::same_looks(gone, other)).map(|(b, _)| (a, *b)));
    }
    for at in pairs.into_iter().flat_map(|(a, b)| [a, b]) {
        found[at].notes.push(notes::KEY_COMPOSITION.to_string());
    }
}

/// Where it is; in which document, too, where that says something.
fn place(found: &Found<'_>, apart: bool) -> String {
    match &found.document {
        Some(document) if apart => format!("{} of {document}", found.path),
        _ => found.path.to_string(),
    }
}

fn telling(node: &Node<'_>) -> bool {
    match &node.data {
        Data::String(text) => text.len() >= MIN_TEXT,
        Data::Encrypted(_) => true,
        Data::Map(entries) => entries.len() > 1 || entries.iter().any(|entry| telling(&entry.value)),
        Data::List(items) => items.len() > 1 || items.iter().any(telling),
        _ => false,
    }
}
