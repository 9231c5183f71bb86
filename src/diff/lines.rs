//! How is a difference written? The records of one file, whole lines, none longer than a line may be.
//!
//! A value that no record holds is told in its parts; a string that no record holds is told by its length and digest, with
//! a finding that says that no rule has seen it.

use super::accepts;
use super::compare::{self, Found, Side};
use super::line_hash::LineHashes;
use crate::document::{self, Data, Node, Remark};
use crate::json;
use crate::limits::{MAX_LINE, MAX_STRING};
use crate::path::Segment;
use crate::record::{Change, File, Finding, Op, Severity};
use crate::value::{ENVELOPE, Value};
use sha2::{Digest as _, Sha256};

/// The rule of the finding that says that a value was too long to be judged.
pub const NOT_JUDGED: &str = "not-judged";

/// The records of one file, as they are written.
pub(super) struct Lines<'j> {
    record: &'j File,
    remarks: &'j [Remark],
    hashes: LineHashes<'j>,
    pub(super) text: String,
    pub(super) count: u64,
}

impl<'j> Lines<'j> {
    /// `remarks` are the comments of the new side that speak to flecto.
    pub(super) fn new(record: &'j File, source: &'j str, remarks: &'j [Remark]) -> Lines<'j> {
        let hashes = LineHashes::new(source);
        Lines { record, remarks, hashes, text: record.to_line() + "\n", count: 0 }
    }

    /// Prepares for these differences: the file is walked over once for all of them.
    pub(super) fn expect<'f, 't: 'f>(&mut self, found: impl IntoIterator<Item = &'f Found<'t>>) {
        self.hashes.want(found.into_iter().filter_map(|found| usize::try_from(line_of(found)?).ok()));
    }

    /// Writes a difference; one that is longer than a line may be as its parts.
    pub(super) fn found(&mut self, found: Found<'_>) -> Result<(), String> {
        let mut long = Vec::new();
        if weight(&found) <= MAX_LINE {
            let change = self.change(&found, &mut long);
            let line = change.to_line();
            if line.len() <= MAX_LINE {
                self.count += 1;
                self.text.push_str(&line);
                self.text.push('\n');
                for size in long {
                    self.not_judged(&change, size);
                }
                return Ok(());
            }
        }
        let parts = split(found);
        self.expect(parts.iter().flatten());
        for part in parts {
            match part {
                Some(part) => self.found(part)?,
                None => return Err("has a key of more than 16 MiB; no record holds it".to_string()),
            }
        }
        Ok(())
    }

    fn change(&self, found: &Found<'_>, long: &mut Vec<usize>) -> Change {
        let span = found.new_span.filter(|span| span.start.line > 0);
        let line = span.map(|span| u64::from(span.start.line));
        let parent_line = found.parent_line.filter(|_| line.is_none()).map(u64::from);
        let mut value = |side: &Option<Side<'_>>| {
            side.as_ref().map(|side| {
                let mut value = side.to_value();
                shorten(&mut value, long);
                value
            })
        };
        Change {
            file: self.record.file.clone(),
            document: found.document.as_deref().map(str::to_string),
            path: found.path.to_string(),
            op: found.op,
            before: value(&found.before),
            after: value(&found.after),
            index: found.index.map(|index| index as u64),
            note: (!found.notes.is_empty()).then(|| found.notes.join("; ")),
            line,
            column: span.map(|span| u64::from(span.start.column)),
            end_line: span.filter(|span| span.end_line > span.start.line).map(|span| u64::from(span.end_line)),
            before_line: found.old_span.filter(|span| span.start.line > 0).map(|span| u64::from(span.start.line)),
            parent_line,
            accept: self.accept(found),
            line_hash: line_of(found).and_then(|line| self.hashes.get(usize::try_from(line).ok()?)),
        }
    }

    /// What comments accept in the new side of a difference: all of it, or a part of an added value.
    fn accept(&self, found: &Found<'_>) -> Option<Value> {
        let place = found.new_span?.start;
        let mut out = Vec::new();
        for remark in self.remarks {
            // A document begins where its first key does, and that is what the comment is about.
            if remark.covers(place) && !found.path.0.is_empty() {
                out.extend(accepts::of(remark, None));
            } else if let Some(node) = found.after.as_ref().and_then(Side::node)
                && let Some(steps) = accepts::below(node, remark.from)
            {
                out.extend(accepts::of(remark, Some(&found.path.join(&steps))));
            }
        }
        if out.len() > 1 { Some(Value::List(out)) } else { out.pop() }
    }

    fn not_judged(&mut self, change: &Change, size: usize) {
        let message = format!(
            "A string of {size} bytes is too long for a record; its digest stands for it, and no rule has seen it."
        );
        let finding = Finding { message, ..Finding::at(change, NOT_JUDGED, Severity::Warn) };
        self.text.push_str(&finding.to_line());
        self.text.push('\n');
    }
}

/// The line on the new side by which code scanning follows a difference.
fn line_of(found: &Found<'_>) -> Option<u64> {
    let line = found.new_span.map(|span| span.start.line).filter(|line| *line > 0);
    line.or(found.parent_line).map(u64::from)
}

/// The least that the values of a difference take in a record: what is surely too long need not be written to know it.
/// A string that gets a stand-in weighs nothing.
fn weight(found: &Found<'_>) -> usize {
    fn of(node: &Node<'_>) -> usize {
        match &node.data {
            Data::String(text) if text.len() <= MAX_STRING => text.len(),
            Data::List(items) => items.iter().map(of).sum(),
            Data::Map(entries) => entries.iter().map(|entry| entry.key.text().len() + of(&entry.value)).sum(),
            _ => 0,
        }
    }
    let side = |side: &Option<Side<'_>>| side.as_ref().and_then(Side::node).map_or(0, of);
    side(&found.before) + side(&found.after)
}

/// Puts a stand-in for each string that no record holds.
fn shorten(value: &mut Value, long: &mut Vec<usize>) {
    match value {
        Value::String(text) if text.len() > MAX_STRING / 6 && json::string(text).len() > MAX_STRING => {
            long.push(text.len());
            let text =
                format!("{} bytes, sha256 {}", text.len(), super::file::hex(&Sha256::digest(text.as_bytes()), 6));
            *value =
                Value::Map(vec![(ENVELOPE.into(), Value::String("long".into())), ("text".into(), Value::String(text))]);
        }
        Value::List(items) => items.iter_mut().for_each(|item| shorten(item, long)),
        Value::Map(entries) => entries.iter_mut().for_each(|(_, item)| shorten(item, long)),
        _ => {}
    }
}

/// The parts of a difference that is too long for a record; `None` for one that has no parts.
fn split(found: Found<'_>) -> Vec<Option<Found<'_>>> {
    let sides = [(Op::Removed, &found.before), (Op::Added, &found.after)];
    let both = found.before.is_some() && found.after.is_some();
    let mut out = Vec::new();
    for (op, side) in sides {
        let Some(side) = side else { continue };
        let mut push = |segment: Option<Segment>, side: Side<'_>, span: Option<document::Span>| {
            let path = match segment {
                Some(segment) => found.path.child(segment),
                None => found.path.clone(),
            };
            let gone = op == Op::Removed;
            let side = Some(side.detached());
            let (before, after) = if gone { (side, None) } else { (None, side) };
            out.push(Some(Found {
                document: found.document.clone(),
                path,
                op,
                before,
                after,
                old_span: span.filter(|_| gone),
                new_span: span.filter(|_| !gone),
                parent_line: found.parent_line.filter(|_| gone),
                index: None,
                notes: found.notes.clone(),
            }));
        };
        let span = if op == Op::Removed { found.old_span } else { found.new_span };
        match side {
            side if both => push(None, side.clone(), span),
            side if let Some(Node { tag: None, data: Data::Map(entries), .. }) = side.node()
                && !entries.is_empty() =>
            {
                for entry in entries {
                    push(Some(compare::key_segment(&entry.key)), Side::Node(&entry.value), Some(entry.value.span));
                }
            }
            side if let Some(Node { tag: None, data: Data::List(items), .. }) = side.node()
                && !items.is_empty() =>
            {
                for (at, item) in items.iter().enumerate() {
                    push(Some(Segment::Index(at)), Side::Node(item), Some(item.span));
                }
            }
            Side::Value(Value::Map(entries)) if !entries.is_empty() && entries[0].0 != ENVELOPE => {
                for (key, value) in entries {
                    push(Some(Segment::Key(key.clone())), Side::Value(value.clone()), span);
                }
            }
            Side::Value(Value::List(items)) if !items.is_empty() => {
                for (at, item) in items.iter().enumerate() {
                    push(Some(Segment::Index(at)), Side::Value(item.clone()), span);
                }
            }
            _ => out.push(None),
        }
    }
    out
}
