//! What does this JSON say, where it is nothing but JSON? One pass from text to tree.
//!
//! Nearly every file is strict JSON, and reading it by way of another tree costs four times as much. Whatever is not as RFC
//! 8259 has it (and whatever a person must be told of: a key that stands twice, nesting beyond the limit) is left to the
//! other reader, which knows the dialects and finds the words.

use crate::document::{Data, Entry, Key, Node, Place, Scalar, ScalarKind, Span, find_duplicate};
use crate::limits::MAX_DEPTH;
use std::borrow::Cow;

/// The value of a text that is strict JSON; `None` where the other reader has to look.
pub(super) fn parse(text: &str) -> Option<Node<'_>> {
    let mut reader = Reader {
        text,
        bytes: text.as_bytes(),
        at: 0,
        line: 1,
        line_start: 0,
        wide: 0,
        depth: 0,
        items: Vec::new(),
        entries: Vec::new(),
    };
    let root = reader.value()?;
    reader.space();
    (reader.at == text.len()).then_some(root)
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
    /// Where the line begins, and how many bytes of it so far are no characters of their own.
    line_start: usize,
    wide: usize,
    depth: usize,
    /// What belongs to containers that are still open, so that each gets as much memory as it needs and once.
    items: Vec<Node<'a>>,
    entries: Vec<Entry<'a>>,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' => self.at += 1,
                b'\n' | b'\r' => {
                    self.at += if byte == b'\r' && self.bytes.get(self.at + 1) == Some(&b'\n') { 2 } else { 1 };
                    self.line = self.line.saturating_add(1);
                    self.line_start = self.at;
                    self.wide = 0;
                }
                _ => return,
            }
        }
    }

    fn place(&self) -> Place {
        let column = self.at - self.line_start - self.wide + 1;
        Place { line: self.line, column: u32::try_from(column).unwrap_or(u32::MAX) }
    }

    fn value(&mut self) -> Option<Node<'a>> {
        self.space();
        let start = self.place();
        let data = match self.peek()? {
            b'"' => Data::String(self.string()?),
            b'{' => self.map()?,
            b'[' => self.list()?,
            b't' => self.word("true", Data::Bool(true))?,
            b'f' => self.word("false", Data::Bool(false))?,
            b'n' => self.word("null", Data::Null)?,
            _ => self.number()?,
        };
        Some(Node { data, tag: None, yaml11: None, span: Span { start, end_line: self.line } })
    }

    fn word(&mut self, word: &str, data: Data<'a>) -> Option<Data<'a>> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return None;
        }
        self.at += word.len();
        Some(data)
    }

    fn enter(&mut self) -> Option<()> {
        self.at += 1;
        self.depth += 1;
        (self.depth <= MAX_DEPTH).then_some(())
    }

    /// After a value: whether another follows.
    fn goes_on(&mut self, close: u8) -> Option<bool> {
        self.space();
        let byte = self.peek()?;
        self.at += 1;
        match byte {
            b',' => Some(true),
            byte if byte == close => Some(false),
            _ => None,
        }
    }

    fn list(&mut self) -> Option<Data<'a>> {
        self.enter()?;
        let first = self.items.len();
        self.space();
        if self.peek()? == b']' {
            self.at += 1;
        } else {
            loop {
                let item = self.value()?;
                self.items.push(item);
                if !self.goes_on(b']')? {
                    break;
                }
            }
        }
        self.depth -= 1;
        Some(Data::List(self.items.drain(first..).collect()))
    }

    fn map(&mut self) -> Option<Data<'a>> {
        self.enter()?;
        let first = self.entries.len();
        self.space();
        if self.peek()? == b'}' {
            self.at += 1;
        } else {
            loop {
                self.space();
                if self.peek()? != b'"' {
                    return None;
                }
                let key_span = Span { start: self.place(), end_line: self.line };
                let key = Key::String(self.string()?);
                self.space();
                if self.peek()? != b':' {
                    return None;
                }
                self.at += 1;
                let value = self.value()?;
                self.entries.push(Entry { key, key_span, yaml11: None, value });
                if !self.goes_on(b'}')? {
                    break;
                }
            }
        }
        self.depth -= 1;
        if find_duplicate(&self.entries[first..]).is_some() {
            return None;
        }
        Some(Data::Map(self.entries.drain(first..).collect()))
    }

    /// A string, from its quote on.
    fn string(&mut self) -> Option<Cow<'a, str>> {
        self.at += 1;
        let start = self.at;
        let rest = &self.bytes[start..];
        let plain = rest.iter().position(|&byte| !is_plain(byte))?;
        self.at += plain;
        if rest[plain] == b'"' {
            self.at += 1;
            return self.text.get(start..start + plain).map(Cow::Borrowed);
        }
        let mut out: Option<String> = None;
        let mut copied = start;
        loop {
            match self.peek()? {
                b'"' => {
                    let last = self.text.get(copied..self.at)?;
                    self.at += 1;
                    return Some(match out {
                        None => Cow::Borrowed(last),
                        Some(text) => Cow::Owned(text + last),
                    });
                }
                b'\\' => {
                    let out = out.get_or_insert_default();
                    out.push_str(self.text.get(copied..self.at)?);
                    out.push(self.escape()?);
                    copied = self.at;
                }
                0..0x20 => return None,
                byte => {
                    self.wide += usize::from(byte & 0xc0 == 0x80);
                    self.at += 1;
                }
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let kind = *self.bytes.get(self.at + 1)?;
        self.at += 2;
        Some(match kind {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.unit()?;
                if !(0xd800..0xdc00).contains(&unit) {
                    return char::from_u32(unit);
                }
                if self.bytes.get(self.at..self.at + 2)? != b"\\u" {
                    return None;
                }
                self.at += 2;
                let low = self.unit()?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                return char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + low);
            }
            _ => return None,
        })
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Option<u32> {
        let digits = self.bytes.get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |unit, &byte| Some(unit * 16 + char::from(byte).to_digit(16)?))
    }

    fn number(&mut self) -> Option<Data<'a>> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek()? == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        let source = self.text.get(start..self.at)?;
        Some(Data::Typed(Scalar::new(ScalarKind::Number, source)))
    }

    fn digits(&mut self) -> Option<()> {
        let count = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(())
    }
}

/// Whether a string goes on with this byte, and the byte is a character.
fn is_plain(byte: u8) -> bool {
    matches!(byte, 0x20..0x80) && byte != b'"' && byte != b'\\'
}

#[cfg(test)]
mod tests {
    use super::super::{Format, Options};
    use super::*;

    /// Both readers of one text, as the same text: `None` for one that refuses.
    fn both(text: &str) -> (Option<String>, Option<String>) {
        let strict = parse(text).map(|root| format!("{root:?}"));
        let other = super::super::by_dialect(Format::Json, text, &Options::default());
        let other = other.ok().filter(|parsed| parsed.warnings.is_empty());
        (strict, other.map(|parsed| format!("{:?}", parsed.documents[0].root)))
    }

    #[test]
    fn what_it_reads_the_other_reader_reads_alike() {
        let good = [
            "null",
            " [ ] ",
            "{}",
            "-0",
            "[0.5e-3, 1E+10, -12, 0, 123456789012345678901234567890]",
            "{\"a\": {\"b\": [1, \"x\", true, false, null]},\r\n\t\"é🙂\": \"ü\", \"z\": 1,\r \"y\": [\n]}",
            r#"{"a\u0041\n\t\"\\\/\b\f\r": "\ud83d\ude42é", "": ""}"#,
            "[\"\u{7f}\u{2028}\", {\"k\": \"v\"}, {\"k\": \"v\"}]\n\n",
        ];
        for text in good {
            let (strict, other) = both(text);
            assert!(strict.is_some(), "{text:?}");
            assert_eq!(strict, other, "{text:?}");
        }
        // Every damage: it refuses, or reads what the other reader reads.
        for text in good {
            for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
                for with in
                    ["", "\"", "\\", "]", "}", ",", "0", "-", ".", "e", " ", "\n", "\u{1}", "/", ":", "u", "\\ud800"]
                {
                    for skip in [0, 1] {
                        let Some(rest) = text.get(at + skip..) else { continue };
                        let damaged = format!("{}{with}{rest}", &text[..at]);
                        if let (Some(strict), other) = both(&damaged) {
                            assert_eq!(Some(strict), other, "{damaged:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_a_person_must_be_told_is_left_to_the_other_reader() {
        let deep = format!("{}1{}", "[".repeat(300), "]".repeat(300));
        for text in
            ["{\"a\":1,\"a\":2}", "[1,]", "[1] // c", "", "01", "[\"a\tb\"]", "\"\\ud800\"", "'a'", "{a:1}", &deep]
        {
            assert!(parse(text).is_none(), "{text:?}");
        }
    }
}
