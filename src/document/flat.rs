//! What do the line-based formats share? Lines with their places, and maps of keys that may be written more than once.

use super::{Data, Entry, Key, Node, Options, Span, key_name};
use foldhash::HashMap;
use std::borrow::Cow;

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
        let (line, length) = match memchr::memchr2(b'\n', b'\r', rest.as_bytes()) {
            Some(end) if rest[end..].starts_with("\r\n") => (&rest[..end], end + 2),
            Some(end) => (&rest[..end], end + 1),
            None => (rest, rest.len()),
        };
        self.at += length;
        Some((start, line))
    }
}

/// A key and the values that it was given, each with its place.
#[derive(Debug)]
pub(super) struct Written<'a> {
    pub(super) key: Cow<'a, str>,
    pub(super) key_span: Span,
    /// The last value.
    pub(super) value: Node<'a>,
    /// Those before it; few keys have any.
    pub(super) earlier: Vec<Node<'a>>,
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
        let next = self.written.len();
        let at = *self.index.entry(key.clone()).or_insert(next);
        if at == next {
            self.written.push(Written { key, key_span, value, earlier: Vec::new() });
        } else {
            let written = &mut self.written[at];
            written.earlier.push(std::mem::replace(&mut written.value, value));
        }
        at
    }

    /// Whether there is such a key.
    pub(super) fn contains(&self, key: &str) -> bool {
        self.index.contains_key(key)
    }

    /// As a map where a key that was written several times has the list of its values.
    pub(super) fn into_lists(self) -> Vec<Entry<'a>> {
        let entry = |mut written: Written<'a>| {
            let mut value = written.value;
            if let Some(first) = written.earlier.first() {
                let start = first.span.start;
                written.earlier.push(value);
                let end_line = written.earlier.iter().map(|node| node.span.end_line).fold(start.line, u32::max);
                value = node(Data::List(written.earlier), Span { start, end_line });
            }
            Entry::new(Key::String(written.key), written.key_span, value)
        };
        self.written.into_iter().map(entry).collect()
    }

    /// As a map where a key that was written several times has its last value. A warning says that `readers` take it.
    pub(super) fn into_last(self, readers: &str, options: &Options, warnings: &mut Vec<String>) -> Vec<Entry<'a>> {
        let entry = |written: Written<'a>| {
            if let Some(earlier) = written.earlier.last() {
                warnings.push(format!(
                    "{} is set on line {} and again on line {}; {readers} the last",
                    key_name(&written.key),
                    earlier.span.start.line + options.lines_before,
                    written.value.span.start.line + options.lines_before
                ));
            }
            Entry::new(Key::String(written.key), written.key_span, written.value)
        };
        self.written.into_iter().map(entry).collect()
    }
}

pub(super) fn node(data: Data<'_>, span: Span) -> Node<'_> {
    Node { data, tag: None, yaml11: None, span }
}
