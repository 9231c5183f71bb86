//! What do the line-based formats share? Lines with their places, and maps of keys that may be written more than once.

use super::{Data, Entry, Key, Node, Span};
use std::borrow::Cow;
use std::collections::HashMap;

/// The lines of a text with the byte where each begins, without their ends.
#[derive(Clone, Debug)]
pub(super) struct Lines<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Lines<'a> {
        Lines { text, at: 0 }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<(usize, &'a str)> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let start = self.at;
        let (line, length) = match rest.find(['\n', '\r']) {
            Some(end) if rest[end..].starts_with("\r\n") => (&rest[..end], end + 2),
            Some(end) => (&rest[..end], end + 1),
            None => (rest, rest.len()),
        };
        self.at += length;
        Some((start, line))
    }
}

/// A key and the values that it was given, each with its place. A value is absent for a key without one.
#[derive(Debug)]
pub(super) struct Written<'a> {
    pub(super) key: Cow<'a, str>,
    pub(super) key_span: Span,
    pub(super) values: Vec<Node<'a>>,
}

/// Keys in the order in which they were first written.
#[derive(Debug, Default)]
pub(super) struct Keys<'a> {
    pub(super) written: Vec<Written<'a>>,
    index: HashMap<Cow<'a, str>, usize>,
}

impl<'a> Keys<'a> {
    /// Gives a key one more value, and says where the key stands in `written`.
    pub(super) fn add(&mut self, key: Cow<'a, str>, key_span: Span, value: Node<'a>) -> usize {
        let at = *self.index.entry(key.clone()).or_insert_with(|| {
            self.written.push(Written { key, key_span, values: Vec::new() });
            self.written.len() - 1
        });
        self.written[at].values.push(value);
        at
    }

    /// Whether there is such a key.
    pub(super) fn contains(&self, key: &str) -> bool {
        self.index.contains_key(key)
    }

    /// As a map where a key that was written several times has the list of its values.
    pub(super) fn into_lists(self) -> Vec<Entry<'a>> {
        let entry = |mut written: Written<'a>| {
            let value = if written.values.len() == 1 {
                written.values.remove(0)
            } else {
                let start = written.values.first().map_or(written.key_span.start, |node| node.span.start);
                let end_line = written.values.iter().map(|node| node.span.end_line).fold(start.line, u32::max);
                node(Data::List(written.values), Span { start, end_line })
            };
            Entry::new(Key::String(written.key), written.key_span, value)
        };
        self.written.into_iter().map(entry).collect()
    }
}

pub(super) fn node(data: Data<'_>, span: Span) -> Node<'_> {
    Node { data, tag: None, yaml11: None, span }
}
