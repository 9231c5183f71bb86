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
use std::collections::HashMap;

/// A shorter string turns up by chance.
const MIN_TEXT: usize = 8;

/// With more changes than this in one file, nobody follows a note from one to another.
const MAX_FOUND: usize = 20_000;

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
        let Some(Side::Node(node)) = side else { continue };
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
    for (removed, added) in pairs {
        let (from, to) = (place(&found[removed]), place(&found[added]));
        found[removed].notes.push(format!("moved to {to}"));
        found[added].notes.push(format!("moved from {from}"));
    }
    same_looks(found);
}

/// A key that is gone and one that came under the same parent that the eye cannot tell apart.
fn same_looks(found: &mut [Found<'_>]) {
    let key = |one: &Found<'_>| match one.path.0.split_last() {
        Some((Segment::Key(key), parent)) if !key.is_ascii() => Some((parent.to_vec(), key.clone())),
        _ => None,
    };
    let mut pairs = Vec::new();
    for (a, gone) in found.iter().enumerate().filter(|(_, one)| one.op == Op::Removed) {
        let Some((parent, name)) = key(gone) else { continue };
        let other = found.iter().position(|one| {
            one.op == Op::Added
                && matches!(one.path.0.split_last(), Some((Segment::Key(other), p)) if *p == parent[..] && notes::same_looks(&name, other))
        });
        pairs.extend(other.map(|b| (a, b)));
    }
    for at in pairs.into_iter().flat_map(|(a, b)| [a, b]) {
        found[at].notes.push(notes::KEY_COMPOSITION.to_string());
    }
}

fn place(found: &Found<'_>) -> String {
    match &found.document {
        Some(document) => format!("{} of {document}", found.path),
        None => found.path.to_string(),
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
