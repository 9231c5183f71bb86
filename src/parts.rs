//! What are the parts of a value, and what is each called? The steps of paths below a value, for whoever looks into one that
//! is a single record: as `flecto-diff` would have written them.

use crate::path::{Segment, Word};
use crate::value::{Envelope, Value};
use std::borrow::Cow;
use std::collections::HashSet;

/// The values directly in a value, with the step that leads to each: as `flecto-diff` would write it, so that a rule and an
/// accepted finding mean the same place whether a value is new alone or with what surrounds it.
pub fn children(value: &Value) -> Vec<(Segment, Cow<'_, Value>)> {
    match value {
        Value::List(items) => list_children(items),
        Value::Map(entries) => match value.envelope() {
            None => entries.iter().map(|(key, value)| (Segment::Key(key.clone()), Cow::Borrowed(value))).collect(),
            Some(Envelope::Entries(pairs)) => pairs.iter().filter_map(pair).collect(),
            Some(Envelope::Tagged { value, .. }) => children(value),
            Some(_) => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// An entry of a map that JSON cannot hold as one.
fn pair(pair: &Value) -> Option<(Segment, Cow<'_, Value>)> {
    let Value::List(items) = pair else { return None };
    let [key, value] = items.as_slice() else { return None };
    let segment = match key {
        Value::String(text) => Segment::Key(text.clone()),
        other => Segment::Typed(other.to_text().into_owned()),
    };
    Some((segment, Cow::Borrowed(value)))
}

/// The fields that identify the items of a list, the first of which decides.
const IDENTITIES: [&str; 3] = ["id", "name", "key"];

fn list_children(items: &[Value]) -> Vec<(Segment, Cow<'_, Value>)> {
    if let Some(entries) = entries(items) {
        return entries;
    }
    let by_identity = IDENTITIES.iter().find_map(|field| {
        let words: Option<Vec<Word>> = items.iter().map(|item| identity(item, field)).collect();
        let words = words?;
        let distinct: HashSet<&Word> = words.iter().collect();
        (!words.is_empty() && distinct.len() == words.len()).then_some((*field, words))
    });
    match by_identity {
        Some((field, words)) => {
            let steps = words.into_iter().map(|word| Segment::Item(vec![(field.to_string(), word)]));
            steps.zip(items.iter().map(Cow::Borrowed)).collect()
        }
        None => items.iter().enumerate().map(|(at, item)| (Segment::Index(at), Cow::Borrowed(item))).collect(),
    }
}

fn identity(item: &Value, field: &str) -> Option<Word> {
    match item.get(field)? {
        Value::String(text) if !text.is_empty() => Some(Word::Text(text.clone())),
        Value::Number(text) if text.bytes().all(|b| b.is_ascii_digit()) => Some(Word::Int(text.clone())),
        _ => None,
    }
}

/// The entries of a list of `KEY=VALUE` strings, when it is one and no key is there twice.
fn entries(items: &[Value]) -> Option<Vec<(Segment, Cow<'_, Value>)>> {
    let mut names = HashSet::new();
    let mut out = Vec::with_capacity(items.len());
    for item in items {
        let (name, value) = item.as_str()?.split_once('=')?;
        let bare = name.strip_prefix("--").unwrap_or(name);
        let fine = bare.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && bare.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
        if !fine || !names.insert(name) {
            return None;
        }
        let value = Value::String(value.to_string());
        out.push((Segment::Entry { name: name.to_string(), nth: 1 }, Cow::Owned(value)));
    }
    (!out.is_empty()).then_some(out)
}
