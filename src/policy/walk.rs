//! What are the parts of this change? Every value in it, each with its path, what happened to it, and how far below the
//! change it lies: an added or removed subtree is judged leaf by leaf, also inside documents in strings.

use crate::document::{self, Data, Format};
use crate::limits::MAX_EMBEDDED;
use crate::parts::children;
use crate::path::{Path, Segment};
use crate::record::Op;
use crate::value::Value;
use foldhash::HashMap;
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
        // What a plan finds is not what it makes.
        if let [Segment::Key(list), Segment::Key(_), Segment::Key(side), ..] = path.0.as_slice()
            && list == "resource_changes"
            && side == "before"
        {
            return;
        }
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
        if op == Op::Added && self.planned(path, value, depth) {
            return;
        }
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

    /// An entry of a Terraform plan that is new says itself what becomes of a resource: from `before` to `after`. That, and
    /// not that all of it is new, is what the rules are about.
    fn planned(&mut self, path: &mut Path, value: &Value, depth: usize) -> bool {
        let [Segment::Key(list), Segment::Key(_)] = path.0.as_slice() else { return false };
        let (Some(action), Some(before), Some(after)) = (value.get("action"), value.get("before"), value.get("after"))
        else {
            return false;
        };
        if list != "resource_changes" {
            return false;
        }
        self.one(path, Segment::Key("action".into()), Op::Added, action, depth + 1);
        path.0.push(Segment::Key("after".into()));
        match (before, after) {
            (Value::Map(_), Value::Map(_)) => self.pair(path, before, after, depth),
            (_, Value::Null) => {}
            _ => self.inside(path, Op::Added, after, depth),
        }
        path.0.pop();
        true
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
            (Value::Map(old), Value::Map(new)) if before.envelope().is_none() && after.envelope().is_none() => {
                let (old, new) = (by_key(old), by_key(new));
                for (segment, child) in children(after) {
                    let Segment::Key(key) = &segment else { continue };
                    match old.get(key.as_str()) {
                        Some(value) if **value == *child => {}
                        Some(value) => {
                            path.0.push(segment);
                            self.visit(path, Op::Changed, Some(*value), Some(&*child), depth + 1);
                            path.0.pop();
                        }
                        None => self.one(path, segment, Op::Added, &child, depth + 1),
                    }
                }
                for (segment, child) in children(before) {
                    if let Segment::Key(key) = &segment
                        && !new.contains_key(key.as_str())
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

/// The values of a map by their keys; of a key that is there twice the first.
fn by_key(entries: &[(String, Value)]) -> HashMap<&str, &Value> {
    entries.iter().rev().map(|(key, value)| (key.as_str(), value)).collect()
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
