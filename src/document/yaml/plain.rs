//! What does this YAML say, where it is written plainly? One pass from lines to tree.
//!
//! Nearly every file is block maps and lists of words, quoted words, numbers, bracketed lists of one line and texts over
//! several, and taking it apart token by token costs many times as much. Whatever is anything else (an anchor, a tag,
//! brackets over several lines, a tab, a second document, a key that stands twice, an error) is left to the parser of the
//! whole language: this reader says nothing unless it is sure to say the same, places included.

use super::scalar::{self, Readings};
use super::{Place, Span, key_of};
use crate::document::{Data, Entry, Key, Node, find_duplicate};
use crate::limits::MAX_DEPTH;
use memchr::{memchr, memchr_iter};
use std::borrow::Cow;

/// The longest key, in bytes, that every parser takes for one.
const MAX_KEY: usize = 1000;

/// The longest line, in bytes, in which characters are counted from its start for each place in it.
const MAX_COUNTED: usize = 4096;

/// A document, and what of it Kubernetes reads as something else, in document order.
pub(super) struct Plain<'a> {
    pub(super) root: Node<'a>,
    pub(super) kubernetes: Vec<(Place, Data<'a>)>,
    pub(super) kubernetes_keys: Vec<(Place, Key<'a>)>,
}

/// The one document of a text without control characters; `None` where the other reader has to look.
pub(super) fn parse(text: &str) -> Option<Plain<'_>> {
    if !is_ordinary(text) {
        return None;
    }
    let mut reader = Reader {
        text,
        bytes: text.as_bytes(),
        line: Line { number: 0, start: 0, content: 0, end: 0, next: 0, wide: false },
        done: false,
        empty: 0,
        comment: false,
        at: 0,
        depth: 0,
        items: Vec::new(),
        entries: Vec::new(),
        kubernetes: Vec::new(),
        kubernetes_keys: Vec::new(),
    };
    if reader.seek().is_none() {
        // The mark before the document, or what is another's business.
        if !text[reader.line.start..].starts_with("---") {
            return None;
        }
        reader.at = reader.line.start + 3;
        reader.end_of_line()?;
        reader.seek()?;
    }
    if reader.done {
        return None;
    }
    let root = reader.block()?;
    let Reader { kubernetes, kubernetes_keys, done, .. } = reader;
    done.then_some(Plain { root, kubernetes, kubernetes_keys })
}

/// Whether there is no character that parsers disagree on, or that makes an error.
fn is_ordinary(text: &str) -> bool {
    let bytes = text.as_bytes();
    if memchr(0x7f, bytes).is_some() || memchr_iter(b'\r', bytes).any(|at| bytes.get(at + 1) != Some(&b'\n')) {
        return false;
    }
    let fits =
        |c: char| !matches!(c, '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    text.is_ascii() || text.chars().all(fits)
}

/// A line that says something.
#[derive(Clone, Copy)]
struct Line {
    /// From 1.
    number: u32,
    /// Where it starts, its first byte that is no blank, its end without the line break, and the next line.
    start: usize,
    content: usize,
    end: usize,
    next: usize,
    /// Some of its characters are of several bytes.
    wide: bool,
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// The line that is being read.
    line: Line,
    /// There is none any more.
    done: bool,
    /// How many blank lines stand before it, and whether a comment does.
    empty: usize,
    comment: bool,
    /// How far it was read.
    at: usize,
    depth: usize,
    /// What belongs to collections that are still open, so that each gets as much memory as it needs and once.
    items: Vec<Node<'a>>,
    entries: Vec<Entry<'a>>,
    kubernetes: Vec<(Place, Data<'a>)>,
    kubernetes_keys: Vec<(Place, Key<'a>)>,
}

impl<'a> Reader<'a> {
    /// Takes the line at `line.next`; `None` for one whose characters would be counted too often.
    fn take(&mut self) -> Option<()> {
        let start = self.line.next;
        let rest = &self.bytes[start..];
        let length = memchr(b'\n', rest);
        let mut end = start + length.unwrap_or(rest.len());
        let next = length.map_or(end, |_| end + 1);
        if length.is_some() && end > start && self.bytes[end - 1] == b'\r' {
            end -= 1;
        }
        let line = &self.bytes[start..end];
        let blanks = line.iter().take_while(|byte| **byte == b' ').count();
        let number = self.line.number.checked_add(1)?;
        let wide = !line.is_ascii();
        if wide && line.len() > MAX_COUNTED {
            return None;
        }
        self.line = Line { number, start, content: start + blanks, end, next, wide };
        self.at = self.line.content;
        Some(())
    }

    /// Goes on to the next line that is not blank and no comment. `None` for the mark of a document, too.
    fn seek(&mut self) -> Option<()> {
        (self.empty, self.comment) = (0, false);
        while self.line.next < self.bytes.len() {
            self.take()?;
            match self.peek() {
                None => self.empty += 1,
                Some(b'#') => self.comment = true,
                Some(_) => return (!self.is_marker()).then_some(()),
            }
        }
        self.done = true;
        Some(())
    }

    fn is_marker(&self) -> bool {
        let line = &self.bytes[self.line.start..self.line.end];
        line.starts_with(b"---") || line.starts_with(b"...")
    }

    fn indent(&self) -> usize {
        self.line.content - self.line.start
    }

    fn place(&self, at: usize) -> Place {
        let before = &self.bytes[self.line.start..at];
        let column =
            if self.line.wide { before.iter().filter(|byte| **byte & 0xc0 != 0x80).count() } else { before.len() };
        Place { line: self.line.number, column: u32::try_from(column + 1).unwrap_or(u32::MAX) }
    }

    fn here(&self) -> Span {
        Span { start: self.place(self.at), end_line: self.line.number }
    }

    /// The byte at `at`, a line break being the end.
    fn peek(&self) -> Option<u8> {
        self.bytes[..self.line.end].get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    /// Whether the byte at `at + 1` ends a word of structure: `-` or `:`.
    fn ends_after(&self, at: usize) -> bool {
        at + 1 >= self.line.end || self.bytes[at + 1] == b' '
    }

    fn is_dash(&self) -> bool {
        self.peek() == Some(b'-') && self.ends_after(self.at)
    }

    /// Nothing but a comment follows on this line.
    fn end_of_line(&mut self) -> Option<()> {
        let before = self.at;
        self.blanks();
        match self.peek() {
            None => Some(()),
            Some(b'#') if self.at > before => Some(()),
            _ => None,
        }
    }

    /// The list or map that begins here, on a line of its own or behind a dash.
    fn block(&mut self) -> Option<Node<'a>> {
        self.depth += 1;
        if self.depth >= MAX_DEPTH {
            return None;
        }
        let indent = self.at - self.line.start;
        let node = if self.is_dash() { self.list(indent) } else { self.map(indent) };
        self.depth -= 1;
        node
    }

    /// The value that begins on a line below its key or dash, which stands at `indent`.
    fn below(&mut self, indent: usize) -> Option<Node<'a>> {
        if self.is_dash() || self.is_key()? { self.block() } else { self.value(indent) }
    }

    fn list(&mut self, indent: usize) -> Option<Node<'a>> {
        let start = self.place(self.at);
        let first = self.items.len();
        loop {
            self.at += 1;
            self.blanks();
            let item = match self.peek() {
                None => {
                    self.seek()?;
                    if self.done || self.indent() <= indent {
                        return None;
                    }
                    self.below(indent)?
                }
                Some(_) if self.is_dash() || self.is_key()? => self.block()?,
                Some(_) => self.value(indent)?,
            };
            self.items.push(item);
            if self.done || self.indent() < indent || self.indent() == indent && !self.is_dash() {
                break;
            }
            if self.indent() > indent {
                return None;
            }
        }
        let end_line = self.items.last().map_or(0, |item| item.span.end_line).max(start.line);
        let data = Data::List(self.items.drain(first..).collect());
        Some(Node { data, tag: None, yaml11: None, span: Span { start, end_line } })
    }

    fn map(&mut self, indent: usize) -> Option<Node<'a>> {
        let start = self.place(self.at);
        let first = self.entries.len();
        loop {
            let (key, yaml11, key_span) = self.key()?;
            if self.peek() != Some(b':') || !self.ends_after(self.at) {
                return None;
            }
            self.at += 1;
            self.blanks();
            let value = match self.peek() {
                None | Some(b'#') => {
                    self.seek()?;
                    if !self.done && self.indent() > indent {
                        self.below(indent)?
                    } else if !self.done && self.indent() == indent && self.is_dash() {
                        self.block()?
                    } else {
                        Node { data: Data::Null, tag: None, yaml11: None, span: key_span }
                    }
                }
                Some(_) if self.is_dash() => return None,
                Some(_) => self.value(indent)?,
            };
            self.entries.push(Entry { key, key_span, yaml11, value });
            if self.done || self.indent() < indent {
                break;
            }
            if self.indent() > indent || self.is_dash() {
                return None;
            }
        }
        let end_line = self.entries.last().map_or(0, |entry| entry.value.span.end_line).max(start.line);
        Some(Node { data: self.entries_from(first)?, tag: None, yaml11: None, span: Span { start, end_line } })
    }

    fn entries_from(&mut self, first: usize) -> Option<Data<'a>> {
        if find_duplicate(&self.entries[first..]).is_some() {
            return None;
        }
        Some(Data::Map(self.entries.drain(first..).collect()))
    }

    /// Whether a key begins here, that is a word with a colon behind it. `None` where it is none of the plain ones.
    fn is_key(&self) -> Option<bool> {
        match self.peek()? {
            b'"' | b'\'' => {
                let mut ahead = Ahead { bytes: &self.bytes[..self.line.end], at: self.at };
                if ahead.quoted().is_none() {
                    // It goes on on the next line, which no key does.
                    return Some(false);
                }
                ahead.blanks();
                Some(ahead.at < self.line.end && self.bytes[ahead.at] == b':')
            }
            b'[' | b'{' | b'|' | b'>' => Some(false),
            _ => Some(self.word()?.1),
        }
    }

    /// A key, up to its colon.
    fn key(&mut self) -> Option<(Key<'a>, Option<Box<Key<'a>>>, Span)> {
        let span = self.here();
        let start = self.at;
        let (key, yaml11) = match self.peek()? {
            b'"' | b'\'' => (Key::String(self.quoted(None)?), None),
            _ => {
                let (end, is_key) = self.word()?;
                if !is_key {
                    return None;
                }
                self.at = end;
                self.plain_key(start, end, span.start)?
            }
        };
        self.blanks();
        (self.at - start <= MAX_KEY).then_some((key, yaml11, span))
    }

    fn plain_key(&mut self, start: usize, end: usize, place: Place) -> Option<(Key<'a>, Option<Box<Key<'a>>>)> {
        let text = &self.text[start..end];
        if text == "<<" {
            return None;
        }
        let Readings { core, yaml11, kubernetes } = scalar::resolve(text);
        if let Some(seen) = kubernetes {
            self.kubernetes_keys.push((place, key_of(seen.into_data(text.into()), None)));
        }
        let yaml11 = yaml11.map(|seen| Box::new(key_of(seen.into_data(text.into()), None)));
        Some((key_of(core.into_data(text.into()), None), yaml11))
    }

    /// A value that is no block, of a key or dash that stands at `indent`. Then goes on to the line behind it.
    fn value(&mut self, indent: usize) -> Option<Node<'a>> {
        let node = match self.peek()? {
            b'|' | b'>' => return self.block_text(indent),
            b'"' | b'\'' => {
                let span = self.here();
                let data = Data::String(self.quoted(Some(indent))?);
                Node { data, tag: None, yaml11: None, span: Span { end_line: self.line.number, ..span } }
            }
            b'[' | b'{' => self.bracketed()?,
            _ => return self.words(indent),
        };
        self.end_of_line()?;
        self.seek()?;
        Some(node)
    }

    /// A text without quotes, which goes on on each line that is indented deeper than `indent`.
    fn words(&mut self, indent: usize) -> Option<Node<'a>> {
        let mut span = self.here();
        let (end, is_key) = self.word()?;
        if is_key {
            return None;
        }
        let mut text = Cow::Borrowed(&self.text[self.at..end]);
        self.at = end;
        loop {
            self.end_of_line()?;
            let ends = self.peek().is_some();
            self.seek()?;
            if self.done || self.indent() <= indent {
                break;
            }
            let (end, is_key) = self.rest_of_word(self.at)?;
            if ends || self.comment || is_key {
                return None;
            }
            let text = text.to_mut();
            match self.empty {
                0 => text.push(' '),
                empty => (0..empty).for_each(|_| text.push('\n')),
            }
            text.push_str(&self.text[self.at..end]);
            self.at = end;
            span.end_line = self.line.number;
        }
        Some(self.plain(text, span))
    }

    fn plain(&mut self, text: Cow<'a, str>, span: Span) -> Node<'a> {
        let Readings { core, yaml11, kubernetes } = scalar::resolve(&text);
        if let Some(seen) = kubernetes {
            self.kubernetes.push((span.start, seen.into_data(text.clone())));
        }
        let yaml11 = yaml11.map(|seen| Box::new(seen.into_data(text.clone())));
        Node { data: core.into_data(text), tag: None, yaml11, span }
    }

    /// A word without quotes: where it ends, blanks at its end left out, and whether a colon makes it a key.
    fn word(&self) -> Option<(usize, bool)> {
        let first = self.bytes[self.at];
        if !begins_word(first) || first == b'-' && self.ends_after(self.at) {
            return None;
        }
        self.rest_of_word(self.at + 1)
    }

    fn rest_of_word(&self, mut at: usize) -> Option<(usize, bool)> {
        let line = &self.bytes[..self.line.end];
        let mut is_key = false;
        while let Some(byte) = line.get(at) {
            match byte {
                b':' if self.ends_after(at) => {
                    is_key = true;
                    break;
                }
                b'#' if line[at - 1] == b' ' => break,
                b'\t' => return None,
                _ => at += 1,
            }
        }
        while line[at - 1] == b' ' {
            at -= 1;
        }
        Some((at, is_key))
    }

    /// A value in quotes or brackets, all on this line.
    fn bracketed(&mut self) -> Option<Node<'a>> {
        let span = self.here();
        let data = match self.peek()? {
            b'"' | b'\'' => Data::String(self.quoted(None)?),
            b'[' => self.inner(Self::flow_list)?,
            b'{' => self.inner(Self::flow_map)?,
            _ => {
                let end = self.flow_word()?;
                let text = Cow::Borrowed(&self.text[self.at..end]);
                self.at = end;
                return Some(self.plain(text, span));
            }
        };
        Some(Node { data, tag: None, yaml11: None, span })
    }

    fn inner(&mut self, read: fn(&mut Self) -> Option<Data<'a>>) -> Option<Data<'a>> {
        self.depth += 1;
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.at += 1;
        self.blanks();
        let data = read(self);
        self.depth -= 1;
        data
    }

    /// After a value in brackets: whether another follows.
    fn goes_on(&mut self, close: u8) -> Option<bool> {
        self.blanks();
        let byte = self.peek()?;
        self.at += 1;
        match byte {
            b',' => {
                self.blanks();
                Some(true)
            }
            byte if byte == close => Some(false),
            _ => None,
        }
    }

    fn flow_list(&mut self) -> Option<Data<'a>> {
        let first = self.items.len();
        if self.peek() == Some(b']') {
            self.at += 1;
        } else {
            loop {
                let item = self.bracketed()?;
                self.items.push(item);
                if !self.goes_on(b']')? {
                    break;
                }
            }
        }
        Some(Data::List(self.items.drain(first..).collect()))
    }

    fn flow_map(&mut self) -> Option<Data<'a>> {
        let first = self.entries.len();
        if self.peek() == Some(b'}') {
            self.at += 1;
        } else {
            loop {
                let key_span = self.here();
                let start = self.at;
                let (key, yaml11) = match self.peek()? {
                    b'"' | b'\'' => (Key::String(self.quoted(None)?), None),
                    _ => {
                        let end = self.flow_word()?;
                        self.at = end;
                        self.plain_key(start, end, key_span.start)?
                    }
                };
                if self.at - start > MAX_KEY || self.peek() != Some(b':') || self.bytes.get(self.at + 1) != Some(&b' ')
                {
                    return None;
                }
                self.at += 1;
                self.blanks();
                let value = self.bracketed()?;
                self.entries.push(Entry { key, key_span, yaml11, value });
                if !self.goes_on(b'}')? {
                    break;
                }
            }
        }
        self.entries_from(first)
    }

    /// Where a word in brackets ends that consists of nothing unusual.
    fn flow_word(&self) -> Option<usize> {
        let line = &self.bytes[..self.line.end];
        let after = line.get(self.at + 1);
        let is_dash = matches!(after, None | Some(b' ' | b',' | b'[' | b']' | b'{' | b'}'));
        if !begins_word(*line.get(self.at)?) || line[self.at] == b'-' && is_dash {
            return None;
        }
        let mut at = self.at + 1;
        loop {
            match *line.get(at)? {
                b',' | b']' | b'}' => break,
                b':' if matches!(line.get(at + 1), None | Some(b' ' | b',' | b'[' | b']' | b'{' | b'}')) => break,
                b'\t' | b'#' | b'[' | b'{' | b'"' | b'\'' => return None,
                _ => at += 1,
            }
        }
        while line[at - 1] == b' ' {
            at -= 1;
        }
        Some(at)
    }

    /// A text in quotes. Its other lines, where it may have any, are indented deeper than `indent`.
    fn quoted(&mut self, indent: Option<usize>) -> Option<Cow<'a, str>> {
        let quote = self.peek()?;
        let start = self.at + 1;
        let mut ahead = Ahead { bytes: &self.bytes[..self.line.end], at: self.at };
        if ahead.quoted() == Some(false) {
            self.at = ahead.at;
            return Some(Cow::Borrowed(&self.text[start..self.at - 1]));
        }
        let mut out = String::new();
        // What precedes this in `out` was escaped, or stands on another line: no blank of it is cut off.
        let mut kept = 0;
        self.at = start;
        loop {
            let rest = &self.bytes[self.at..self.line.end];
            let length = rest.iter().position(|byte| *byte == quote || *byte == b'\\' && quote == b'"');
            out.push_str(&self.text[self.at..self.at + length.unwrap_or(rest.len())]);
            let Some(length) = length else {
                out.truncate(kept.max(out.trim_end_matches(' ').len()));
                if out.len() > kept && out.ends_with('\t') {
                    return None;
                }
                match self.fold(indent?)? {
                    0 => out.push(' '),
                    empty => (0..empty).for_each(|_| out.push('\n')),
                }
                kept = out.len();
                continue;
            };
            self.at += length + 1;
            if rest[length] == b'\\' {
                if self.peek().is_none() {
                    // An escaped line break is nothing.
                    if self.fold(indent?)? > 0 {
                        return None;
                    }
                } else {
                    out.push(self.escape()?);
                }
                kept = out.len();
            } else if quote == b'\'' && self.peek() == Some(b'\'') {
                out.push('\'');
                self.at += 1;
            } else {
                return Some(Cow::Owned(out));
            }
        }
    }

    /// Goes on to the next line of a text in quotes; how many blank ones stand between.
    fn fold(&mut self, indent: usize) -> Option<usize> {
        let mut empty = 0;
        while self.line.next < self.bytes.len() {
            self.take()?;
            if self.line.content < self.line.end {
                let fits = self.indent() > indent && self.bytes[self.at] != b'\t';
                return fits.then_some(empty);
            }
            empty += 1;
        }
        None
    }

    /// What an escape stands for, behind its backslash.
    fn escape(&mut self) -> Option<char> {
        let kind = self.peek()?;
        self.at += 1;
        let digits = match kind {
            b'"' | b'\\' | b'/' | b' ' => return Some(char::from(kind)),
            b'n' => return Some('\n'),
            b't' => return Some('\t'),
            b'r' => return Some('\r'),
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            _ => return None,
        };
        let text = self.text.get(self.at..self.at + digits)?;
        self.at += digits;
        let valid = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        u32::from_str_radix(text, 16).ok().filter(|_| valid).and_then(char::from_u32)
    }

    /// A block text, `|`, `|-`, `>` or `>-`, below a key or dash at `indent`.
    fn block_text(&mut self, indent: usize) -> Option<Node<'a>> {
        // For the parser it begins with its first line, and so it does here.
        let mut start = Place::default();
        let folded = self.peek() == Some(b'>');
        self.at += 1;
        let strip = self.peek() == Some(b'-');
        self.at += usize::from(strip);
        self.end_of_line()?;
        let mut text = String::new();
        let (mut inner, mut empty, mut deeper_before) = (0, 0, false);
        let mut end_line = 0;
        loop {
            if self.line.next >= self.bytes.len() {
                self.done = true;
                break;
            }
            self.take()?;
            let Line { start: line_start, content, end, next, .. } = self.line;
            if content == end {
                // How long a blank line is matters only where it is longer than the text is indented.
                if self.indent() > inner {
                    return None;
                }
                empty += 1;
                continue;
            }
            if inner == 0 {
                if self.indent() <= indent {
                    return None;
                }
                inner = self.indent();
                start = self.place(content);
            } else if self.indent() < inner {
                // Where a comment or a tab ends it, the places of what follows are another's business.
                let plain = self.indent() <= indent && !matches!(self.bytes[content], b'#' | b'\t');
                if !plain || self.is_marker() {
                    return None;
                }
                break;
            }
            // Whether a line of nothing but tabs is the last one is another's business.
            if self.text[content..end].trim_start().is_empty() {
                return None;
            }
            // Folding makes a blank of a single line break between two lines that are not indented deeper.
            let line = &self.text[line_start + inner..end];
            let deeper = line.starts_with([' ', '\t']);
            if folded && !text.is_empty() && !deeper && !deeper_before {
                text.pop();
                if empty == 0 {
                    text.push(' ');
                }
            }
            deeper_before = deeper;
            (0..empty).for_each(|_| text.push('\n'));
            empty = 0;
            text.push_str(line);
            text.push('\n');
            end_line = self.line.number;
            if next == end {
                // The end of the file without a line break: readers differ.
                return None;
            }
        }
        if inner == 0 {
            return None;
        }
        if strip {
            text.pop();
        }
        let span = Span { start, end_line };
        Some(Node { data: Data::String(Cow::Owned(text)), tag: None, yaml11: None, span })
    }
}

/// What a word without quotes may begin with, here: none of YAML's indicators but a dash.
fn begins_word(byte: u8) -> bool {
    !matches!(
        byte,
        b' ' | b'\t'
            | b'?'
            | b':'
            | b','
            | b'['
            | b']'
            | b'{'
            | b'}'
            | b'#'
            | b'&'
            | b'*'
            | b'!'
            | b'|'
            | b'>'
            | b'\''
            | b'"'
            | b'%'
            | b'@'
            | b'`'
    )
}

/// Looks for the end of a text in quotes.
struct Ahead<'l> {
    bytes: &'l [u8],
    at: usize,
}

impl Ahead<'_> {
    fn blanks(&mut self) {
        while self.bytes.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
    }

    /// Goes behind the closing quote; whether anything is escaped.
    fn quoted(&mut self) -> Option<bool> {
        let quote = *self.bytes.get(self.at)?;
        self.at += 1;
        let mut escaped = false;
        loop {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            if byte == b'\\' && quote == b'"' {
                escaped = true;
                self.at += 1;
            } else if byte == quote {
                if quote == b'"' || self.bytes.get(self.at) != Some(&b'\'') {
                    return Some(escaped);
                }
                escaped = true;
                self.at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests;
