//! What are the parts of this change? Every value in it, each with its path, what happened to it, and how far below the
//! change it lies: an added or removed subtree is judged leaf by leaf, also inside documents in strings.

use crate::document::{self, Data, Format};
use crate::limits::MAX_EMBEDDED;
use crate::path::{Path, Segment, Word};
use crate::record::Op;
use crate::value::{Envelope, Value};
use std::collections::HashSet;

/// One value of a change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site<'a> {
    /// Where it is.
    pub(super) path: &'a Path,
    /// What happened to it.
    pub(super) op: Op,
    /// What it was.
    pub(super) before: Option<&'a Value>,
    /// What it is.
    pub(super) after: Option<&'a Value>,
    /// How many steps below the change.
    pub(super) depth: usize,
}

/// Calls `see` for the change's own value and everything in it.
pub(super) fn walk(site: &Site<'_>, see: &mut dyn FnMut(&Site<'_>)) {
    let mut path = site.path.clone();
    let embedded = path.0.iter().filter(|segment| matches!(segment, Segment::Inner(_))).count();
    Walk { see, embedded }.visit(&mut path, site.op, site.before, site.after, site.depth);
}

struct Walk<'s> {
    see: &'s mut dyn FnMut(&Site<'_>),
    embedded: usize,
}

impl Walk<'_> {
    fn visit(&mut self, path: &mut Path, op: Op, before: Option<&Value>, after: Option<&Value>, depth: usize) {
        (self.see)(&Site { path, op, before, after, depth });
        match (op, before, after) {
            (Op::Reordered, _, _) => {}
            (Op::Changed, Some(before), Some(after)) => self.pair(path, before, after, depth),
            (_, before, after) => {
                if let Some(value) = before {
                    self.inside(path, Op::Removed, value, depth);
                }
                if let Some(value) = after {
                    self.inside(path, Op::Added, value, depth);
                }
            }
        }
    }

    /// The parts of a value that is new or gone as a whole.
    fn inside(&mut self, path: &mut Path, op: Op, value: &Value, depth: usize) {
        for (segment, child) in children(value) {
            self.one(path, segment, op, &child, depth + 1);
        }
        if let Value::String(text) = value
            && self.embedded < MAX_EMBEDDED
            && let Some(inner) = embedded(path, text)
        {
            self.embedded += 1;
            self.one(path, Segment::Inner(None), op, &inner, depth);
            self.embedded -= 1;
        }
    }

    fn one(&mut self, path: &mut Path, segment: Segment, op: Op, value: &Value, depth: usize) {
        path.0.push(segment);
        match op {
            Op::Removed => self.visit(path, op, Some(value), None, depth),
            _ => self.visit(path, op, None, Some(value), depth),
        }
        path.0.pop();
    }

    /// The parts of a value that became another: what only one side has, and what both have and differs. Of two lists,
    /// what the other one has too at any place is no part of the change.
    fn pair(&mut self, path: &mut Path, before: &Value, after: &Value, depth: usize) {
        match (before, after) {
            (Value::List(old), Value::List(new)) => {
                let texts = |items: &[Value]| items.iter().map(Value::to_json).collect::<HashSet<String>>();
                let (old_texts, new_texts) = (texts(old), texts(new));
                for (segment, child) in children(before).into_iter().filter(|(_, v)| !new_texts.contains(&v.to_json()))
                {
                    self.one(path, segment, Op::Removed, &child, depth + 1);
                }
                for (segment, child) in children(after).into_iter().filter(|(_, v)| !old_texts.contains(&v.to_json())) {
                    self.one(path, segment, Op::Added, &child, depth + 1);
                }
            }
            (Value::Map(old), Value::Map(_)) if before.envelope().is_none() && after.envelope().is_none() => {
                for (segment, child) in children(after) {
                    let Segment::Key(key) = &segment else { continue };
                    match old.iter().find(|(known, _)| known == key).map(|(_, value)| value) {
                        Some(value) if *value == child => {}
                        Some(value) => {
                            path.0.push(segment);
                            self.visit(path, Op::Changed, Some(value), Some(&child), depth + 1);
                            path.0.pop();
                        }
                        None => self.one(path, segment, Op::Added, &child, depth + 1),
                    }
                }
                for (segment, child) in children(before) {
                    if let Segment::Key(key) = &segment
                        && after.get(key).is_none()
                    {
                        self.one(path, segment, Op::Removed, &child, depth + 1);
                    }
                }
            }
            (Value::String(old), Value::String(new)) if self.embedded < MAX_EMBEDDED => {
                let (old, new) = (embedded(path, old), embedded(path, new));
                self.embedded += 1;
                path.0.push(Segment::Inner(None));
                match (old, new) {
                    (Some(old), Some(new)) => self.pair(path, &old, &new, depth),
                    (Some(old), None) => self.visit(path, Op::Removed, Some(&old), None, depth),
                    (None, Some(new)) => self.visit(path, Op::Added, None, Some(&new), depth),
                    (None, None) => {}
                }
                path.0.pop();
                self.embedded -= 1;
            }
            _ => {
                self.inside(path, Op::Removed, before, depth);
                self.inside(path, Op::Added, after, depth);
            }
        }
    }
}

/// The values directly in a value, with the step that leads to each: as `flecto-diff` would write it, so that a rule and an
/// accepted finding mean the same place whether a value is new alone or with what surrounds it.
fn children(value: &Value) -> Vec<(Segment, Value)> {
    match value {
        Value::List(items) => list_children(items),
        Value::Map(entries) => match value.envelope() {
            None => entries.iter().map(|(key, value)| (Segment::Key(key.clone()), value.clone())).collect(),
            Some(Envelope::Entries(pairs)) => pairs.iter().filter_map(pair).collect(),
            Some(Envelope::Tagged { value, .. }) => children(value),
            Some(_) => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// An entry of a map that JSON cannot hold as one.
fn pair(pair: &Value) -> Option<(Segment, Value)> {
    let Value::List(items) = pair else { return None };
    let [key, value] = items.as_slice() else { return None };
    let segment = match key {
        Value::String(text) => Segment::Key(text.clone()),
        other => Segment::Typed(other.to_text().into_owned()),
    };
    Some((segment, value.clone()))
}

/// The fields that identify the items of a list, the first of which decides.
const IDENTITIES: [&str; 3] = ["id", "name", "key"];

fn list_children(items: &[Value]) -> Vec<(Segment, Value)> {
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
            steps.zip(items.iter().cloned()).collect()
        }
        None => items.iter().enumerate().map(|(at, item)| (Segment::Index(at), item.clone())).collect(),
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
fn entries(items: &[Value]) -> Option<Vec<(Segment, Value)>> {
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
        out.push((Segment::Entry { name: name.to_string(), nth: 1 }, Value::String(value.to_string())));
    }
    (!out.is_empty()).then_some(out)
}

/// The document that a string holds, if it holds one: a map or a list with something in it, in the format that the key's
/// name tells, else JSON or YAML. Prose that happens to be YAML is harmless: no rule knows its keys.
fn embedded(path: &Path, text: &str) -> Option<Value> {
    let start = text.trim_start();
    let json = start.starts_with(['{', '[']);
    let lines = text.contains('\n') && text.contains([':', '=']);
    if !(json || lines) {
        return None;
    }
    let named = match path.0.last() {
        Some(Segment::Key(name)) => Format::from_name(name),
        _ => None,
    };
    let format = named.unwrap_or(if json { Format::Json } else { Format::Yaml });
    let parsed =
        document::parse(format, text.as_bytes(), &document::Options { sealed: true, ..document::Options::default() })
            .ok()?;
    let [only] = parsed.documents.as_slice() else { return None };
    match &only.root.data {
        Data::Map(entries) if !entries.is_empty() => Some(only.root.to_value()),
        Data::List(items) if items.iter().any(|item| matches!(item.data, Data::Map(_))) => Some(only.root.to_value()),
        _ => None,
    }
}
