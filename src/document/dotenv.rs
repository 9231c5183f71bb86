//! What does this dotenv file say? `KEY=VALUE` lines, never expanded, and never the environment.
//!
//! Readers differ (the npm package, python-dotenv, Docker, the shell). Where they do the rule that keeps most of what is
//! written holds, and a warning says so. Whether a reader expands `$` depends on the quotes, so a value that has an
//! unescaped `$` outside of single quotes is a template, and never equal to the same text in single quotes.

use super::flat::{Keys, Lines, node};
use super::lines::Cursor;
use super::{Data, Document, Error, Options, Parsed, Place, Scalar, ScalarKind, Span, key_name};
use std::borrow::Cow;

pub(super) fn parse<'a>(text: &'a str, options: &Options) -> Result<Parsed<'a>, Error> {
    let mut reader = Reader { text, cursor: Cursor::new(text), keys: Keys::default(), warnings: Vec::new(), options };
    let mut lines = Lines::new(text);
    while let Some((start, line)) = lines.next() {
        if let Some(end) = reader.line(start, line)? {
            // A quoted value may end lines further down.
            lines.at = text[end..].find(['\n', '\r']).map_or(text.len(), |length| end + length);
        }
    }
    let end_line = reader.cursor.place(text.trim_end().len()).line;
    let mut warnings = reader.warnings;
    let entries = reader.keys.into_last("readers take", options, &mut warnings);
    let start = entries.first().map_or(Place { line: 1, column: 1 }, |entry| entry.key_span.start);
    let root = node(Data::Map(entries), Span { start, end_line });
    Ok(Parsed { documents: vec![Document::new(root, 0)], warnings })
}

struct Reader<'a, 'o> {
    text: &'a str,
    cursor: Cursor<'a>,
    keys: Keys<'a>,
    warnings: Vec<String>,
    options: &'o Options,
}

impl<'a> Reader<'a, '_> {
    /// Reads a line; gives the byte after a quoted value.
    fn line(&mut self, start: usize, line: &'a str) -> Result<Option<usize>, Error> {
        let mut content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            return Ok(None);
        }
        let mut at = start + line.len() - line.trim_start().len();
        if let Some(rest) = content.strip_prefix("export").filter(|rest| rest.starts_with([' ', '\t'])) {
            let rest = rest.trim_start();
            at += content.len() - rest.len();
            content = rest;
        }
        let length =
            content.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-'))).unwrap_or(content.len());
        let key = &content[..length];
        let rest = content[length..].trim_start();
        let key_span = self.cursor.span(at, at + length.max(1));
        if key.is_empty() || !(rest.is_empty() || rest.starts_with(['=', ':'])) {
            if content.starts_with("{{") || content.starts_with("{%") {
                return Err(super::template::error(key_span.start, &format!("{}…", &content[..2])));
            }
            let message = "a line that is no `KEY=VALUE`; write one, or `#` before a comment";
            return Err(Error::new(key_span.start, message));
        }
        let Some(value) = rest.get(1..) else {
            // `export KEY`, and Docker's `KEY`: taken from the environment of whoever reads it.
            self.keys.add(Cow::Borrowed(key), key_span, node(Data::Null, key_span));
            return Ok(None);
        };
        let from = at + content.len() - value.len();
        let blanks = value.len() - value.trim_start_matches([' ', '\t']).len();
        let begin = from + blanks;
        let (data, range, end) = match value.trim_start_matches([' ', '\t']).chars().next() {
            Some(quote @ ('"' | '\'' | '`')) => match self.quoted(begin, quote, key_span)? {
                Some((data, end)) => (data, begin..end, Some(end)),
                None => (self.bare(value, key, key_span), begin..start + line.len(), None),
            },
            _ => (self.bare(value, key, key_span), begin..at + content.len(), None),
        };
        let mut span = self.cursor.span(range.start, range.end.max(range.start + 1));
        if matches!(&data, Data::String(text) if text.is_empty()) && end.is_none() {
            span = key_span;
        }
        self.keys.add(Cow::Borrowed(key), key_span, node(data, span));
        Ok(end)
    }

    /// A quoted value that begins at `at`, and the byte after its quote. `None` where more follows on the line than a
    /// comment: then the quotes are part of an unquoted value.
    ///
    /// A `\"` does not end double quotes. Whether a `\'` ends single ones depends on the reader: it does where nothing but a
    /// comment follows (`'C:\'`, as the shell has it), and else does not (`'it\'s'`, as the npm package has it).
    fn quoted(&mut self, at: usize, quote: char, key_span: Span) -> Result<Option<(Data<'a>, usize)>, Error> {
        let inner = &self.text[at + 1..];
        let ways: &[bool] = if quote == '"' { &[true] } else { &[false, true] };
        let mut is_closed = false;
        let length = ways.iter().find_map(|escapes| {
            let length = closing(inner, quote, *escapes)?;
            is_closed = true;
            let rest = inner[length + 1..].split(['\n', '\r']).next().unwrap_or_default().trim_start();
            (rest.is_empty() || rest.starts_with('#')).then_some(length)
        });
        let Some(length) = length else {
            if is_closed {
                return Ok(None);
            }
            return Err(Error::new(self.cursor.place(at.max(1)), unclosed(key_span)));
        };
        let after = at + 1 + length + 1;
        let inner = &inner[..length];
        let lines: Cow<'a, str> = if inner.contains('\r') {
            Cow::Owned(inner.replace("\r\n", "\n").replace('\r', "\n"))
        } else {
            Cow::Borrowed(inner)
        };
        let data = match quote {
            '\'' => Data::String(lines),
            '`' => text_or_template(lines),
            _ => {
                let template = has_dollar(&lines);
                let unescaped = unescape(lines, template);
                if template { as_template(unescaped) } else { Data::String(unescaped) }
            }
        };
        Ok(Some((data, after)))
    }

    /// An unquoted value: up to a `#` after a blank, without blanks around it. `text` is what follows the `=`.
    fn bare(&mut self, text: &'a str, key: &str, key_span: Span) -> Data<'a> {
        let bytes = text.as_bytes();
        let comment = (1..bytes.len()).find(|&at| bytes[at] == b'#' && matches!(bytes[at - 1], b' ' | b'\t'));
        let value = comment.map_or(text, |at| &text[..at]).trim();
        let ambiguous = value.contains('#') || (comment.is_some() && value.is_empty());
        if ambiguous {
            self.warnings.push(format!(
                "line {}: readers differ on where a comment begins in the unquoted value of {}; put it in quotes",
                key_span.start.line + self.options.lines_before,
                key_name(key)
            ));
        }
        text_or_template(Cow::Borrowed(value))
    }
}

/// Where the quote is that closes a text.
fn closing(text: &str, quote: char, escapes: bool) -> Option<usize> {
    let mut escaped = false;
    let closes = |(_, c): &(usize, char)| {
        let closes = *c == quote && !escaped;
        escaped = *c == '\\' && !escaped && escapes;
        closes
    };
    text.char_indices().find(closes).map(|(at, _)| at)
}

fn unclosed(key_span: Span) -> String {
    format!(
        "a quote that is never closed, for the key on line {}; close it, or quote the value with another kind",
        key_span.start.line
    )
}

/// A `$` without a `\` before it.
fn has_dollar(text: &str) -> bool {
    let mut escaped = false;
    text.chars().any(|c| {
        let dollar = c == '$' && !escaped;
        escaped = c == '\\' && !escaped;
        dollar
    })
}

fn text_or_template(text: Cow<'_, str>) -> Data<'_> {
    if has_dollar(&text) { as_template(text) } else { Data::String(text) }
}

fn as_template(text: Cow<'_, str>) -> Data<'_> {
    Data::Typed(Scalar::new(ScalarKind::Template, text))
}

/// The escapes of double quotes: `\n`, `\r`, `\t`, `\"`, `\\`, and `\$` where nothing is expanded. Other backslashes stay.
fn unescape(text: Cow<'_, str>, template: bool) -> Cow<'_, str> {
    if !text.contains('\\') {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some(c @ ('"' | '\\')) => out.push(c),
            Some('$') if !template => out.push('$'),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use crate::document::{Data, Format, Options, ScalarKind, parse};

    #[track_caller]
    fn read(text: &str) -> (Vec<String>, Vec<String>) {
        let parsed = parse(Format::Dotenv, text.as_bytes(), &Options::default()).expect(text);
        let Data::Map(entries) = &parsed.documents[0].root.data else { panic!("a map") };
        let said = entries
            .iter()
            .map(|entry| {
                let template = matches!(&entry.value.data, Data::Typed(scalar) if scalar.kind == ScalarKind::Template);
                let mark = if template { "$" } else { "" };
                format!("{}={mark}{}", entry.key.text(), entry.value.to_value().to_json())
            })
            .collect();
        (said, parsed.warnings)
    }

    #[test]
    fn hashes_begin_a_comment_after_a_blank_only() {
        let (values, warnings) = read("# c\nPASS=ab#cd\nCH=#tech\nA=1 # note\nE= # none\nF=\"x # y\" # z\n");
        assert_eq!(values, [r##"PASS="ab#cd""##, r##"CH="#tech""##, r#"A="1""#, r#"E="""#, r##"F="x # y""##]);
        assert_eq!(warnings.len(), 3, "{warnings:?}");
        assert!(warnings[0].starts_with("line 2:") && warnings[0].contains("`PASS`") && !warnings[0].contains("ab#cd"));
    }

    #[test]
    fn quotes_span_lines_and_escapes_are_read_in_double_quotes() {
        let (values, _) = read(
            "CERT=\"-----BEGIN X-----\r\nAAAA\r\n\"\r\nJ=`{\n \"a\": \"it's\"\n}`\nN=\"a\\nb\\\"c\"\nS='a\\nb'\nexport K = v w \nD: y\nEMPTY=\nNONE\n",
        );
        assert_eq!(
            values,
            [
                r#"CERT="-----BEGIN X-----\nAAAA\n""#,
                r#"J="{\n \"a\": \"it's\"\n}""#,
                r#"N="a\nb\"c""#,
                r#"S="a\\nb""#,
                r#"K="v w""#,
                r#"D="y""#,
                r#"EMPTY="""#,
                "NONE=null",
            ]
        );
    }

    #[test]
    fn a_dollar_outside_of_single_quotes_makes_a_template() {
        let (values, _) = read("A='a$b'\nB=\"a$b\"\nC=a$b\nD=\"a\\$b\"\nE=\"\\$a $b\"\nF=plain\n");
        assert_eq!(
            values,
            [r#"A="a$b""#, r#"B=$"a$b""#, r#"C=$"a$b""#, r#"D="a$b""#, r#"E=$"\\$a $b""#, r#"F="plain""#]
        );
    }

    #[test]
    fn the_last_of_two_wins_and_is_said() {
        let (values, warnings) = read("A=1\nB=2\nA=3\n");
        assert_eq!(values, [r#"A="3""#, r#"B="2""#]);
        assert_eq!(warnings, ["`A` is set on line 1 and again on line 3; readers take the last"]);
    }

    #[test]
    fn quotes_within_a_value_are_part_of_it() {
        let (values, _) = read("A=it's\nB=\"x\"y\nC=a\"b\"\n");
        assert_eq!(values, [r#"A="it's""#, r#"B="\"x\"y""#, r#"C="a\"b\"""#]);
    }

    #[test]
    fn a_backslash_before_the_quote_closes_or_not_by_what_follows() {
        let (values, _) = read("A='C:\\'\nB='it\\'s'\nC=`a\\`b` # c\nD='x\\\\\\'y'\nE='p\\' q\n");
        assert_eq!(values, [r#"A="C:\\""#, r#"B="it\\'s""#, r#"C="a\\`b""#, r#"D="x\\\\\\'y""#, r#"E="'p\\' q""#]);
    }

    #[test]
    fn what_is_no_dotenv_is_refused_without_quoting_it() {
        for (text, at) in
            [("A=1\nhunter2 hunter2\n", "2:1:"), ("=hunter2\n", "1:1:"), ("A=1\nB=\"hunter2\nC=3\n", "2:3:")]
        {
            let error = parse(Format::Dotenv, text.as_bytes(), &Options::default()).expect_err(text).to_string();
            assert!(error.starts_with(at) && !error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn places_point_at_keys_and_values() {
        let parsed = parse(Format::Dotenv, b"export A =  v\nB=\"x\ny\"\nC=\n", &Options::default()).expect("dotenv");
        let Data::Map(entries) = &parsed.documents[0].root.data else { panic!("a map") };
        let said: Vec<String> = entries
            .iter()
            .map(|entry| {
                let (key, value) = (entry.key_span.start, entry.value.span);
                format!("{}:{} {}:{}-{}", key.line, key.column, value.start.line, value.start.column, value.end_line)
            })
            .collect();
        assert_eq!(said, ["1:8 1:13-1", "2:1 2:3-3", "4:1 4:1-4"]);
    }
}
