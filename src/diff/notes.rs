//! What should a reviewer know beside the two values? The sentences of `note`, all in one place.
//!
//! A note is made where the values alone mislead: they look the same and are not, or are the same to one reader only. It
//! never repeats a value beyond a few characters that are named by code point.

use crate::document::{Data, Key, Node, Scalar, ScalarKind};
use crate::json;
use crate::value::{ENVELOPE, Value};
use unicode_normalization::UnicodeNormalization as _;

/// On the new value of what was ciphertext.
pub(super) const UNSEALED: &str = "was encrypted and no longer is; the value is withheld";

/// On a value that is new in a document that was encrypted.
pub(super) const WITHHELD_NEW: &str = "its document was encrypted and no longer is; the value is withheld";

/// On each ciphertext of a document in which all of them changed.
pub(super) fn sealed_anew(count: usize) -> String {
    format!(
        "encrypted anew: all {count} encrypted values that were there changed at once, as a new data key does it; \
         whether this one is another cannot be told"
    )
}

/// On a reordered list whose items have no names.
pub(super) const BY_PLACE: &str = "items are called by their places in the old list";

/// In a shorter list the eye finds what moved.
const MANY_ITEMS: usize = 8;

/// On a reordered list of many items of which few moved: where they were and are, among the items that both sides have.
/// Takes the old places in the new order.
pub(super) fn few_moved(now: &[usize]) -> Option<String> {
    if now.len() < MANY_ITEMS {
        return None;
    }
    let mut was: Vec<usize> = now.to_vec();
    was.sort_unstable();
    // What stayed: the longest run of old places that rise.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; now.len()];
    for at in 0..now.len() {
        let length = ends.partition_point(|end| now[*end] < now[at]);
        before[at] = length.checked_sub(1).map(|last| ends[last]);
        if length == ends.len() { ends.push(at) } else { ends[length] = at }
    }
    let mut moved = vec![true; now.len()];
    let mut next = ends.last().copied();
    while let Some(at) = next {
        moved[at] = false;
        next = before[at];
    }
    let moved: Vec<usize> = (0..now.len()).filter(|at| moved[*at]).collect();
    let place = |at: usize| was.binary_search(&now[at]).unwrap_or(at);
    let told: Vec<String> = moved.iter().map(|at| format!("[{}] → [{at}]", place(*at))).collect();
    (moved.len() <= 3 && !told.is_empty())
        .then(|| format!("{} of {} items moved: {}", moved.len(), now.len(), told.join(", ")))
}

/// On a change of a list item's or a map's key that only the text's reader tells apart.
pub(super) fn key_type(old: &Key<'_>, new: &Key<'_>) -> String {
    format!("the key was {} and is {} now", a_kind(key_kind(old)), a_kind(key_kind(new)))
}

fn key_kind(key: &Key<'_>) -> &'static str {
    match key {
        Key::String(_) => "string",
        Key::Typed(kind, _) => kind,
    }
}

fn a_kind(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {kind}")
}

/// A key as a value: what JSON would write, in the envelope that says that it is a key.
pub(super) fn key_value(key: &Key<'_>) -> Value {
    let text = match key {
        Key::String(text) => json::string(text),
        Key::Typed(_, text) => text.to_string(),
    };
    Value::Map(vec![(ENVELOPE.into(), Value::String("key".into())), ("text".into(), Value::String(text))])
}

/// On a value that is the same in YAML 1.2 and another one in YAML 1.1.
pub(super) fn only_yaml11(before: &Data<'_>, after: &Data<'_>) -> String {
    if let (Data::String(was), Data::String(is)) = (before, after)
        && (was.strip_suffix('\n') == Some(is) || is.strip_suffix('\n') == Some(was))
    {
        let (has, reads) = if was.len() > is.len() { ("no", "loses") } else { ("a", "gains") };
        return format!(
            "the file now has {has} line break at its end; to libyaml (PyYAML, go-yaml) the text {reads} it too"
        );
    }
    let (was, is) = (before.type_name(), after.type_name());
    if was == is {
        format!("the same to a YAML 1.2 reader; a YAML 1.1 reader sees another {is}")
    } else {
        format!("the same to a YAML 1.2 reader; a YAML 1.1 reader sees {} become {}", a_kind(was), a_kind(is))
    }
}

/// On a key that is the same in YAML 1.2 and another one in YAML 1.1.
pub(super) fn key_only_yaml11(was: &Key<'_>, is: &Key<'_>) -> String {
    let (a, b) = (key_kind(was), key_kind(is));
    if a == b {
        format!("the key is the same to a YAML 1.2 reader; a YAML 1.1 reader sees another {b}")
    } else {
        format!("the key is the same to a YAML 1.2 reader; a YAML 1.1 reader sees {} become {}", a_kind(a), a_kind(b))
    }
}

/// On a value that changed.
pub(super) fn of_change(old: &Node<'_>, new: &Node<'_>) -> Vec<String> {
    let mut notes = match (&old.data, &new.data) {
        (Data::String(a), Data::String(b)) if a == b => Vec::new(),
        (Data::String(a), Data::String(b)) => of_texts(a, b),
        (a, b) => {
            let scalar = |data: &Data<'_>| !matches!(data, Data::List(_) | Data::Map(_));
            let (was, is) = (a.type_name(), b.type_name());
            let same_text = || scalar(a) && scalar(b) && a.to_value().to_text() == b.to_value().to_text();
            if was != is && (is_number(was) && is_number(is) || same_text()) {
                vec![format!("the type changed: {was} → {is}")]
            } else {
                Vec::new()
            }
        }
    };
    if let (Data::Typed(a), Data::Typed(b)) = (&old.data, &new.data)
        && (is_interpolation(a, b) || is_interpolation(b, a))
    {
        notes.push("the same value: a string that is one interpolation is what is in it".to_string());
    }
    notes.extend(of_tags(old, new));
    if let (Data::Typed(a), Data::Typed(b)) = (&old.data, &new.data)
        && a.kind == b.kind
        && (a.source != a.canonical() || b.source != b.canonical())
        && is_number(a.kind.name())
        && short(&a.source)
        && short(&b.source)
    {
        notes.push(format!("written {} → {}", a.source, b.source));
    }
    notes
}

/// Whether an HCL template is nothing but this expression, `"${var.x}"`: the specification unwraps it.
fn is_interpolation(template: &Scalar<'_>, expression: &Scalar<'_>) -> bool {
    let inner = template.canonical().strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    template.kind == ScalarKind::Template
        && expression.kind == ScalarKind::Expression
        && inner
            .is_some_and(|inner| [&expression.source, expression.canonical()].iter().any(|text| inner.trim() == *text))
}

/// What a reader does with a value: `the tag changed: !Ref → none`.
fn of_tags(old: &Node<'_>, new: &Node<'_>) -> Option<String> {
    let name =
        |tag: &Option<crate::document::Rare>| tag.as_deref().filter(|tag| short(tag)).unwrap_or("none").to_string();
    let long = [&old.tag, &new.tag].into_iter().flatten().any(|tag| !short(tag));
    (old.tag != new.tag && !long).then(|| format!("the tag changed: {} → {}", name(&old.tag), name(&new.tag)))
}

fn short(text: &str) -> bool {
    text.len() <= 40
}

fn is_number(kind: &str) -> bool {
    matches!(kind, "int" | "float" | "number")
}

/// On a text that changed: what the eye does not see, or which lines of a long one are others.
pub(super) fn of_texts(a: &str, b: &str) -> Vec<String> {
    let mut notes = Vec::new();
    if a.trim_end_matches(['\n', '\r']) == b.trim_end_matches(['\n', '\r']) {
        notes.push(format!("only the line breaks at the end differ: {} → {}", ends(a), ends(b)));
    } else if a.chars().filter(|c| !c.is_whitespace()).eq(b.chars().filter(|c| !c.is_whitespace())) {
        notes.push("only white space differs".to_string());
    } else if a.nfkc().eq(b.nfkc()) {
        notes.push(format!(
            "looks the same: only the Unicode composition differs ({} → {})",
            difference(a, b),
            difference(b, a)
        ));
    } else if let Some(seen) = look_alike(a, b) {
        notes.push(seen);
    }
    if let Some(lines) = changed_lines(a, b) {
        notes.push(lines);
    }
    notes
}

fn ends(text: &str) -> String {
    let rest = &text[text.trim_end_matches(['\n', '\r']).len()..];
    if rest.is_empty() {
        return "none".to_string();
    }
    rest.chars().take(8).map(|c| if c == '\n' { "\\n" } else { "\\r" }).collect()
}

/// The first characters in which `a` differs from `b`, by code point.
fn difference(a: &str, b: &str) -> String {
    let start = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
    let points: Vec<String> = a.chars().skip(start).take(2).map(|c| format!("U+{:04X}", u32::from(c))).collect();
    if points.is_empty() { "nothing".to_string() } else { points.join(" ") }
}

/// Two texts that differ only in characters that cannot be seen.
fn look_alike(a: &str, b: &str) -> Option<String> {
    let visible = |text: &str| -> String { text.chars().filter(|c| !crate::text::is_active(*c)).collect() };
    if a.is_ascii() && b.is_ascii() || visible(a) != visible(b) {
        return None;
    }
    Some("looks the same: only invisible characters differ".to_string())
}

/// A key that is gone and one that is new that only look the same.
pub(super) fn same_looks(a: &str, b: &str) -> bool {
    a != b && (!a.is_ascii() || !b.is_ascii()) && (a.nfkc().eq(b.nfkc()) || look_alike(a, b).is_some())
}

/// On both records of such keys.
pub(super) const KEY_COMPOSITION: &str =
    "another key looks the same: only the Unicode composition or invisible characters differ";

/// Texts of more lines than this are pointed into.
const MANY_LINES: usize = 6;

/// Which lines differ, in texts of many.
fn changed_lines(a: &str, b: &str) -> Option<String> {
    let (old, new) = (a.lines().count(), b.lines().count());
    if old.max(new) < MANY_LINES || old.max(new) > 100_000 {
        return None;
    }
    let ids = |text: &str, known: &mut std::collections::HashMap<String, u64>| -> Vec<u64> {
        text.lines()
            .map(|line| {
                let next = known.len() as u64;
                *known.entry(line.to_string()).or_insert(next)
            })
            .collect()
    };
    let mut known = std::collections::HashMap::new();
    let (old, new) = (ids(a, &mut known), ids(b, &mut known));
    let mut budget = 50_000_000;
    let gaps = super::align::gaps(&mut budget, &old, &new);
    let mut parts: Vec<String> = gaps
        .iter()
        .take(5)
        .map(|(before, after)| match (before.len(), after.len()) {
            (0, _) => format!("{} added", lines(after)),
            (_, 0) => format!("{} removed", lines(before)),
            _ if before == after => format!("{} changed", lines(after)),
            _ => format!("{} became {}", lines(before), lines(after)),
        })
        .collect();
    if gaps.len() > 5 {
        parts.push(format!("{} more places", gaps.len() - 5));
    }
    if parts.is_empty() { None } else { Some(format!("in the text: {}", parts.join(", "))) }
}

fn lines(range: &std::ops::Range<usize>) -> String {
    if range.len() == 1 {
        format!("line {}", range.start + 1)
    } else {
        format!("lines {}–{}", range.start + 1, range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_said() {
        let note = |a: &str, b: &str| of_texts(a, b).join("; ");
        assert_eq!(note("bar\n", "bar\n\n"), "only the line breaks at the end differ: \\n → \\n\\n");
        assert_eq!(note("a b", "a  b"), "only white space differs");
        assert!(note("Z\u{fc}rich", "Zu\u{308}rich").contains("U+00FC"), "{}", note("Z\u{fc}rich", "Zu\u{308}rich"));
        assert!(note("ab", "a\u{200b}b").contains("invisible"));
        assert_eq!(note("a", "b"), "");
    }

    #[test]
    fn of_a_long_list_what_moved_is_told() {
        let note = |now: &[usize]| few_moved(now).unwrap_or_default();
        assert_eq!(note(&[0, 1, 2, 3, 4, 9, 5, 6, 7, 8]), "1 of 10 items moved: [9] → [5]");
        assert_eq!(note(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 0]), "1 of 10 items moved: [0] → [9]");
        // Places among those that both sides have.
        assert_eq!(note(&[10, 20, 30, 90, 40, 50, 60, 70]), "1 of 8 items moved: [7] → [3]");
        assert_eq!(note(&[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]), "");
        assert_eq!(note(&[1, 0]), "");
    }

    #[test]
    fn long_texts_are_pointed_into() {
        let text = "1\n2\n3\n4\n5\n6\n7\n8\n";
        let note = |b: &str| of_texts(text, b).join("; ");
        assert_eq!(note("1\n2\nx\n4\n5\n6\n7\n8\n"), "in the text: line 3 changed");
        assert_eq!(note("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"), "in the text: lines 9–10 added");
    }
}
