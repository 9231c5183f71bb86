//! What differs inside a document that stands in a string?
//!
//! A ConfigMap's `app.yaml`, an annotation with JSON in it: where both sides of a changed string parse as the same
//! structured format and are maps or lists, the difference is told inside, its path stepped with `!`. A string is taken
//! for JSON by its first character, for another format by the name of its key, for YAML without a name only where it
//! cannot well be prose or a script.

use super::compare::{Comparer, Found, Side, Step};
use super::documents;
use crate::document::{Data, Format, Key, Node, Options, Parsed, Span, parse};
use crate::limits::MAX_EMBEDDED;
use crate::path::{Path, Segment};
use crate::record::Op;

impl<'t> Comparer<'t, '_> {
    /// Reports what differs inside two strings; `false` where they are no documents.
    pub(super) fn embedded(&mut self, place: Span, old: &str, new: &str) -> bool {
        if self.settings.raw_strings || self.depth >= MAX_EMBEDDED || self.unsealed {
            return false;
        }
        let key = match self.steps.last() {
            Some(Step::Key(key)) => key.text(),
            _ => "",
        };
        let Some(format) = format_of(key, old).filter(|format| format_of(key, new) == Some(*format)) else {
            return false;
        };
        // The ciphertext of the file was replaced when it was read.
        let options = Options { sealed: true, ..Options::default() };
        let (Ok(a), Ok(b)) = (parse(format, old.as_bytes(), &options), parse(format, new.as_bytes(), &options)) else {
            return false;
        };
        let named = Format::from_name(key).is_some();
        if !structured(&a, format, named) || !structured(&b, format, named) {
            return false;
        }
        let inner = documents::compare(&a.documents, &b.documents, self.settings, self.depth + 1, false);
        let outer = self.path();
        // Where the lines of the string are lines of the file (a block scalar), places go on counting.
        let lines = u32::try_from(new.lines().count()).unwrap_or(u32::MAX);
        let block = lines > 1 && place.end_line.saturating_sub(place.start.line) + 1 == lines;
        for found in inner {
            let mut path = outer.clone();
            path.0.push(Segment::Inner(found.document.as_deref().map(str::to_string)));
            let detached = Found {
                document: None,
                path: Path([path.0, found.path.0].concat()),
                op: found.op,
                before: found.before.as_ref().map(Side::detached),
                after: found.after.as_ref().map(Side::detached),
                old_span: None,
                new_span: found.new_span.map(|span| if block { moved(place, span) } else { place }),
                parent_line: (found.op == Op::Removed).then(|| match found.parent_line {
                    Some(line) if block => place.start.line + line - 1,
                    _ => place.start.line,
                }),
                index: found.index,
                notes: found.notes,
            };
            self.out.push(detached);
        }
        true
    }
}

fn moved(outer: Span, inner: Span) -> Span {
    let mut span = inner;
    span.start.line = outer.start.line + inner.start.line - 1;
    span.start.column = outer.start.column + inner.start.column - 1;
    span.end_line = outer.start.line + inner.end_line - 1;
    span
}

/// The format that a string under this key may hold.
fn format_of(key: &str, text: &str) -> Option<Format> {
    let start = text.trim_start();
    if start.starts_with("#!") {
        return None;
    }
    match Format::from_name(key) {
        Some(format) => Some(format),
        None if start.starts_with(['{', '[']) => Some(Format::Json),
        None if text.trim_end().contains('\n') => Some(Format::Yaml),
        None => None,
    }
}

/// Whether it is a map or a list, and by its looks written as one.
fn structured(parsed: &Parsed<'_>, format: Format, named: bool) -> bool {
    let container = |node: &Node<'_>| matches!(node.data, Data::Map(_) | Data::List(_));
    if parsed.documents.is_empty() || !parsed.documents.iter().all(|document| container(&document.root)) {
        return false;
    }
    if named || format != Format::Yaml {
        return true;
    }
    // Without a name: prose has "Note: see below", a script has "case x:"; a document has plain keys.
    parsed.documents.iter().all(|document| match &document.root.data {
        Data::Map(entries) => entries.iter().all(|entry| match &entry.key {
            Key::String(key) => {
                !key.is_empty()
                    && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/'))
            }
            Key::Typed(..) => false,
        }),
        _ => false,
    })
}
