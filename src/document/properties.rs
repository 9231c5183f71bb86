//! What does this Java properties file say? The grammar of `java.util.Properties.load`.
//!
//! Keys are flat: `a.b` is one key, as Java has it. Values are text. Of a key that is set twice Java takes the last.

use super::flat::{Keys, Lines, node};
use super::lines::Cursor;
use super::{Data, Document, Error, Options, Parsed, Place, Span};
use std::borrow::Cow;

pub(super) fn parse<'a>(text: &'a str, options: &Options) -> Result<Parsed<'a>, Error> {
    let mut cursor = Cursor::new(text);
    let mut keys = Keys::default();
    let mut lines = Lines::new(text);
    while let Some((start, line)) = lines.next() {
        let content = line.trim_start_matches(BLANKS);
        // A `\` alone joins nothing to the next line, which can then be blank or a comment as any line can.
        if content.is_empty() || content == "\\" || content.starts_with(['#', '!']) {
            continue;
        }
        let start = start + line.len() - content.len();
        let (logical, ends) = logical_line(start, content, &mut lines);
        let key_length = end_of_key(&logical);
        let rest = logical[key_length..].trim_start_matches(BLANKS);
        let value = match rest.strip_prefix(['=', ':']) {
            Some(value) => value.trim_start_matches(BLANKS),
            None => rest,
        };
        let value_from = logical.len() - value.len();
        let (key_at, value_at) = (source_of(&ends, start, 0), source_of(&ends, start, value_from));
        // The key's last character: a key can go on over line ends.
        let key_end = source_of(&ends, start, key_length.saturating_sub(1)) + 1;
        let key_span = cursor.span(key_at, key_end.max(key_at + 1));
        let mut span = key_span;
        if !value.is_empty() {
            let last = source_of(&ends, start, logical.len() - 1);
            span = cursor.span(value_at, last + 1);
        }
        let at = key_span.start;
        let (key, value) = match logical {
            Cow::Borrowed(line) => (unescape(&line[..key_length], at)?, unescape(&line[value_from..], at)?),
            Cow::Owned(line) => (
                Cow::Owned(unescape(&line[..key_length], at)?.into_owned()),
                Cow::Owned(unescape(&line[value_from..], at)?.into_owned()),
            ),
        };
        keys.add(key, key_span, node(Data::String(value), span));
    }
    let end_line = cursor.place(text.trim_end().len()).line;
    let mut warnings = Vec::new();
    let entries = keys.into_last("Java takes", options, &mut warnings);
    let start = entries.first().map_or(Place { line: 1, column: 1 }, |entry| entry.key_span.start);
    // A last key may be nothing but what is trimmed here: a vertical tab is no blank to Java.
    let root = node(Data::Map(entries), Span { start, end_line: end_line.max(start.line) });
    Ok(Parsed { documents: vec![Document::new(root, 0)], warnings })
}

const BLANKS: [char; 3] = [' ', '\t', '\u{c}'];

/// A line with the lines that a `\` at its end joins to it, and for each joint the length so far and the byte of the text
/// that goes on there.
fn logical_line<'a>(start: usize, first: &'a str, lines: &mut Lines<'a>) -> (Cow<'a, str>, Vec<(usize, usize)>) {
    if !continues(first) {
        return (Cow::Borrowed(first), vec![(0, start)]);
    }
    let mut out = first[..first.len() - 1].to_string();
    let mut ends = vec![(0, start)];
    for (start, line) in lines {
        let content = line.trim_start_matches(BLANKS);
        ends.push((out.len(), start + line.len() - content.len()));
        if !continues(content) {
            out.push_str(content);
            break;
        }
        out.push_str(&content[..content.len() - 1]);
    }
    (Cow::Owned(out), ends)
}

/// An odd number of backslashes at the end.
fn continues(line: &str) -> bool {
    (line.len() - line.trim_end_matches('\\').len()) % 2 == 1
}

/// The byte of the text that the byte `at` of a logical line comes from.
fn source_of(ends: &[(usize, usize)], start: usize, at: usize) -> usize {
    ends.iter().rev().find(|(from, _)| *from <= at).map_or(start, |(from, source)| source + at - from)
}

/// Where the key ends: at the first blank, `=` or `:` without a `\` before it.
fn end_of_key(line: &str) -> usize {
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        if !escaped && (BLANKS.contains(&c) || c == '=' || c == ':') {
            return at;
        }
        escaped = c == '\\' && !escaped;
    }
    line.len()
}

/// `\t`, `\n`, `\f`, `\r`, `\uXXXX` (two of them for a character outside of the basic plane); before anything else a `\` is
/// dropped.
fn unescape(text: &str, at: Place) -> Result<Cow<'_, str>, Error> {
    if !text.contains('\\') {
        return Ok(Cow::Borrowed(text));
    }
    let bad = || Error::new(at, "a `\\u` escape without four hexadecimal digits, or half of a pair; correct it");
    let mut out = String::with_capacity(text.len());
    let mut high: Option<u32> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let escape = if c == '\\' { chars.next() } else { None };
        if let Some('u') = escape {
            let mut unit = 0;
            for _ in 0..4 {
                unit = unit * 16 + chars.next().and_then(|c| c.to_digit(16)).ok_or_else(bad)?;
            }
            match (high.take(), unit) {
                (None, 0xd800..=0xdbff) => high = Some(unit),
                (Some(high), 0xdc00..=0xdfff) => {
                    out.extend(char::from_u32(0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00)));
                }
                (None, unit) => out.push(char::from_u32(unit).ok_or_else(bad)?),
                (Some(_), _) => return Err(bad()),
            }
            continue;
        }
        if high.is_some() {
            return Err(bad());
        }
        match (c, escape) {
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('f')) => out.push('\u{c}'),
            ('\\', Some('r')) => out.push('\r'),
            ('\\', Some(other)) => out.push(other),
            ('\\', None) => {}
            (c, _) => out.push(c),
        }
    }
    if high.is_some() { Err(bad()) } else { Ok(Cow::Owned(out)) }
}

#[cfg(test)]
mod tests {
    use crate::document::{Data, Format, Options, parse};

    #[test]
    fn the_grammar_of_java() {
        let text = "# c\n! c\na=1\nb : 2\nc 3\nd\ne\\=f=g\\:h\n long = one \\\n    two\\\n  three\nuni=\\u00e9\\ud83d\\ude42\nesc=a\\tb\\qc\\\\\ntail=x  \nf =\n";
        let parsed = parse(Format::Properties, text.as_bytes(), &Options::default()).expect("properties");
        assert_eq!(
            parsed.documents[0].root.to_value().to_json(),
            r#"{"a":"1","b":"2","c":"3","d":"","e=f":"g:h","long":"one twothree","uni":"é🙂","esc":"a\tbqc\\","tail":"x  ","f":""}"#
        );
        let Data::Map(entries) = &parsed.documents[0].root.data else { panic!("a map") };
        let said: Vec<String> = entries
            .iter()
            .map(|entry| {
                let (key, value) = (entry.key_span.start, entry.value.span);
                format!("{}:{} {}:{}-{}", key.line, key.column, value.start.line, value.start.column, value.end_line)
            })
            .collect();
        assert_eq!(said[1], "4:1 4:5-4");
        assert_eq!(said[5], "8:2 8:9-10");
        assert_eq!(said[3], "6:1 6:1-6");
    }

    #[test]
    fn spans_end_where_their_text_does_whatever_the_line_ends() {
        let root = |text: &'static str| {
            parse(Format::Properties, text.as_bytes(), &Options::default())
                .expect("properties")
                .documents
                .remove(0)
                .root
        };
        let key = |text: &'static str| {
            let Data::Map(entries) = root(text).data else { panic!("a map") };
            entries[0].key_span
        };
        // Both found by fuzzing: a key that goes on over a line end, and one that is only a vertical tab.
        assert_eq!(key("bare\\\n   two\\\n\nb=1\n"), key("bare\\\r\n   two\\\r\n\r\nb=1\r\n"));
        let span = root("# c\n\n\u{b}\n").span;
        assert_eq!((span.start.line, span.end_line), (3, 3));
    }

    /// As `java.util.Properties` (17) reads them.
    #[test]
    fn a_backslash_alone_joins_nothing() {
        for (text, said) in [
            ("\\\n", "{}"),
            ("  \\\r\n", "{}"),
            ("\\\n\na=1\n", r#"{"a":"1"}"#),
            ("\\\n# no\na=1\n", r#"{"a":"1"}"#),
            ("\\\n  a=1\n", r#"{"a":"1"}"#),
            ("a\\\n# b\n", r##"{"a#":"b"}"##),
            ("a=\\\n\\\n b", r#"{"a":"b"}"#),
        ] {
            let parsed = parse(Format::Properties, text.as_bytes(), &Options::default()).expect(text);
            assert_eq!(parsed.documents[0].root.to_value().to_json(), said, "{text:?}");
        }
    }

    #[test]
    fn the_last_of_two_wins_and_bad_escapes_are_refused() {
        let parsed = parse(Format::Properties, b"a=1\na=2\n", &Options::default()).expect("properties");
        assert_eq!(parsed.documents[0].root.to_value().to_json(), r#"{"a":"2"}"#);
        assert_eq!(parsed.warnings, ["`a` is set on line 1 and again on line 2; Java takes the last"]);
        for text in ["a=\\u12", "a=\\ud800", "a=\\ud800x", "a=\\udc00"] {
            let error = parse(Format::Properties, text.as_bytes(), &Options::default()).expect_err(text).to_string();
            assert!(error.starts_with("1:1:"), "{error}");
        }
    }

    #[test]
    fn latin_1_is_read_where_it_is_not_utf_8() {
        let parsed = parse(Format::Properties, b"name=Z\xfcrich\n", &Options::default()).expect("properties");
        assert_eq!(parsed.documents[0].root.to_value().to_json(), r#"{"name":"Zürich"}"#);
        assert!(parsed.warnings[0].contains("Latin-1"));
    }
}
