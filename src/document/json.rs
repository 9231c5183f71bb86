//! What does this JSON say? JSON as RFC 8259 has it, JSON with comments, and JSON5.
//!
//! Strict JSON is read in one pass ([`strict`]). For the rest jsonc-parser makes the tree; its defaults accept far more than
//! JSON, so every switch is set here, and what it lets through all the same (raw control characters) is found by a look at
//! the source.

mod strict;

use super::lines::{Cursor, first_control};
use super::{Data, Document, Entry, Error, Format, Key, Node, Options, Parsed, Scalar, ScalarKind, Span};
use crate::limits::MAX_DEPTH;
use jsonc_parser::ast::{ObjectPropName, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, ParseStringErrorKind, parse_to_ast};
use std::borrow::Cow;

pub(super) fn parse<'a>(format: Format, text: &'a str, options: &Options) -> Result<Parsed<'a>, Error> {
    let Some(mut root) = strict::parse(text) else { return by_dialect(format, text, options) };
    super::plan::simplify(&mut root);
    Ok(Parsed { documents: vec![Document::new(root, 0)], warnings: Vec::new() })
}

/// Reads a text that may be more or less than JSON.
fn by_dialect<'a>(format: Format, text: &'a str, options: &Options) -> Result<Parsed<'a>, Error> {
    let mut warnings = Vec::new();
    if let Some(at) = first_control(text).filter(|_| format != Format::Json5) {
        return Err(raw_control(text, at));
    }
    let result = match read(format, text) {
        Err(error) if format == Format::Json && is_comment_or_comma(error.kind()) => {
            let relaxed = read(Format::Jsonc, text);
            if relaxed.is_ok() {
                let place = Cursor::new(text).place(error.range().start);
                let what = match error.kind() {
                    ParseErrorKind::CommentsNotAllowed => "a comment",
                    _ => "a trailing comma",
                };
                let line = place.line + options.lines_before;
                warnings.push(format!("line {line} has {what}, which JSON does not allow; read as JSON with comments"));
            }
            relaxed
        }
        result => result,
    };
    let value = result.map_err(|error| explain(format, text, &error))?;
    let Some(value) = value else {
        let place = Cursor::new(text).place(text.len());
        return Err(Error::new(place, "an empty file is not JSON; write `null` or `{}`, or delete it"));
    };
    let mut tree = Tree { cursor: Cursor::new(text), text, format, options, warnings, depth: 0 };
    let mut root = tree.node(value)?;
    super::plan::simplify(&mut root);
    Ok(Parsed { documents: vec![Document::new(root, 0)], warnings: tree.warnings })
}

fn read(format: Format, text: &str) -> Result<Option<Value<'_>>, ParseError> {
    let (jsonc, json5) = (format != Format::Json, format == Format::Json5);
    let options = ParseOptions {
        allow_comments: jsonc,
        allow_trailing_commas: jsonc,
        allow_loose_object_property_names: json5,
        allow_missing_commas: false,
        allow_single_quoted_strings: json5,
        allow_hexadecimal_numbers: json5,
        allow_unary_plus_numbers: json5,
        allow_bare_decimal_point_numbers: json5,
        allow_non_finite_numbers: json5,
        allow_extended_string_escapes: json5,
    };
    parse_to_ast(text, &CollectOptions::default(), &options).map(|result| result.value)
}

fn is_comment_or_comma(kind: &ParseErrorKind) -> bool {
    matches!(kind, ParseErrorKind::CommentsNotAllowed | ParseErrorKind::TrailingCommasNotAllowed)
}

struct Tree<'a, 'o> {
    cursor: Cursor<'a>,
    text: &'a str,
    format: Format,
    options: &'o Options,
    warnings: Vec<String>,
    depth: usize,
}

impl<'a> Tree<'a, '_> {
    fn node(&mut self, value: Value<'a>) -> Result<Node<'a>, Error> {
        let range = value.range();
        let start = self.cursor.place(range.start);
        let data = match value {
            Value::NullKeyword(_) => Data::Null,
            Value::BooleanLit(literal) => Data::Bool(literal.value),
            Value::NumberLit(literal) => number(literal.value),
            Value::StringLit(literal) => {
                self.check_string(range.start, range.end)?;
                Data::String(literal.value)
            }
            Value::Array(array) => {
                self.enter(range.start)?;
                let mut items = Vec::with_capacity(array.elements.len());
                for element in array.elements {
                    items.push(self.node(element)?);
                }
                self.depth -= 1;
                Data::List(items)
            }
            Value::Object(object) => {
                self.enter(range.start)?;
                let mut entries = Vec::with_capacity(object.properties.len());
                for property in object.properties {
                    let (range, name) = match property.name {
                        ObjectPropName::String(literal) => {
                            self.check_string(literal.range.start, literal.range.end)?;
                            (literal.range, literal.value)
                        }
                        ObjectPropName::Word(word) => (word.range, Cow::Borrowed(word.value)),
                    };
                    let key_span = self.cursor.span(range.start, range.end);
                    entries.push(Entry::new(Key::String(name), key_span, self.node(property.value)?));
                }
                self.depth -= 1;
                super::settle_duplicates(&mut entries, self.options, &mut self.warnings)?;
                Data::Map(entries)
            }
        };
        let end_line = self.cursor.place(range.end.saturating_sub(1)).line;
        Ok(Node { data, tag: None, yaml11: None, span: Span { start, end_line } })
    }

    fn enter(&mut self, at: usize) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(too_deep(self.text, at)) } else { Ok(()) }
    }

    /// A tab or a line break inside a string; in JSON5 a line break without a `\` before it, where the parser takes a lone
    /// `\r`. The other control characters were found before parsing.
    fn check_string(&self, start: usize, end: usize) -> Result<(), Error> {
        let bytes = &self.text.as_bytes()[start..end];
        let raw = if self.format == Format::Json5 {
            let mut escaped = false;
            bytes.iter().position(|&b| {
                let raw = matches!(b, b'\r' | b'\n') && !escaped;
                // The `\n` of an escaped `\r\n` is escaped too.
                escaped = (b == b'\\' && !escaped) || (b == b'\r' && escaped);
                raw
            })
        } else {
            bytes.iter().position(|&b| b < 0x20)
        };
        match raw {
            Some(at) => Err(raw_control(self.text, start + at)),
            None => Ok(()),
        }
    }
}

/// Numbers keep their text. The canonical text of a JSON5 hexadecimal is decimal, and `+`, a bare point and the like are gone.
fn number(source: &str) -> Data<'_> {
    let canonical = match source.trim_start_matches(['+', '-']) {
        hex if hex.starts_with("0x") || hex.starts_with("0X") => super::number::to_decimal(source),
        _ => Cow::Borrowed(source.strip_prefix('+').unwrap_or(source)),
    };
    Data::Typed(Scalar::with_canonical(ScalarKind::Number, source, canonical))
}

fn too_deep(text: &str, at: usize) -> Error {
    let place = Cursor::new(text).place(at);
    Error::new(place, format!("nested deeper than {MAX_DEPTH} levels; flecto reads no deeper"))
}

fn raw_control(text: &str, at: usize) -> Error {
    let byte = text.as_bytes().get(at).copied().unwrap_or_default();
    let escape = match byte {
        b'\t' => "\\t".to_string(),
        b'\n' => "\\n".to_string(),
        b'\r' => "\\r".to_string(),
        byte => format!("\\u{byte:04x}"),
    };
    let message = format!("a raw control character, which JSON strings do not allow; write it as `{escape}`");
    Error::new(Cursor::new(text).place(at), message)
}

/// The parser's error in our words: its own quote the text.
fn explain(format: Format, text: &str, error: &ParseError) -> Error {
    use ParseErrorKind as Kind;
    let at = match error.kind() {
        // The parser points behind the value before it; people and other tools point at what came instead.
        Kind::ExpectedComma => next_token(text, error.range().start),
        _ => error.range().start,
    };
    let rest = &text[at.min(text.len())..];
    let name = format.as_str().to_ascii_uppercase();
    let other = match format {
        Format::Jsonc => "; say --input-format json5, or use a name that ends in .json5, if that is what the file is",
        _ => "; use a name that ends in .json5 or .jsonc if that is what the file is",
    };
    let word = rest.trim_start_matches(['-', '+']);
    let foreign = ["NaN", "Infinity", "undefined", "None", "True", "False", "nan", "inf"]
        .into_iter()
        .find(|foreign| word.strip_prefix(foreign).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)));
    let message = match error.kind() {
        Kind::NestingDepthExceeded => return too_deep(text, at),
        kind if !matches!(kind, Kind::String(_)) && foreign.is_some() => format!(
            "{} is not {name}; write null, a string, or true and false in lower case",
            foreign.unwrap_or_default()
        ),
        Kind::UnexpectedWord => "a word without quotes is no value; quote it".to_string(),
        Kind::CommentsNotAllowed => format!("{name} has no comments{other}"),
        Kind::TrailingCommasNotAllowed => format!("a comma before the closing bracket; remove it{other}"),
        Kind::ExpectedComma => "a comma is missing before this; add it".to_string(),
        Kind::ExpectedColonAfterObjectKey => "a key without a colon; write `\"key\": value`".to_string(),
        Kind::ExpectedObjectValue => "a key without a value; write `\"key\": value`".to_string(),
        Kind::ExpectedStringObjectProperty => format!("a key without quotes; quote it{other}"),
        Kind::SingleQuotedStringsNotAllowed => format!("a string in single quotes; use double quotes{other}"),
        Kind::HexadecimalNumbersNotAllowed => format!("a hexadecimal number; write it in decimal{other}"),
        Kind::UnaryPlusNumbersNotAllowed => format!("a number with a plus sign; remove it{other}"),
        Kind::BareDecimalPointNumbersNotAllowed => {
            format!("a number needs digits on both sides of its point{other}")
        }
        Kind::ExpectedDigit | Kind::ExpectedPlusMinusOrDigitInNumberLiteral => {
            "a number that stops too early; digits are missing".to_string()
        }
        Kind::MultipleRootJsonValues => "text after the end of the value; one file holds one value".to_string(),
        Kind::UnterminatedArray => format!("a list that is never closed{}; add its `]`", last_line(text)),
        Kind::UnterminatedObject => format!("a map that is never closed{}; add its `}}`", last_line(text)),
        Kind::UnterminatedCommentBlock => "a comment that is never closed; add its `*/`".to_string(),
        Kind::UnexpectedCloseBrace => "a `}` that closes nothing; remove it".to_string(),
        Kind::UnexpectedCloseBracket => "a `]` that closes nothing; remove it".to_string(),
        Kind::UnexpectedColon => "a colon where a value belongs; remove it".to_string(),
        Kind::UnexpectedComma => "a comma where a value belongs; remove it".to_string(),
        Kind::String(ParseStringErrorKind::UnterminatedStringLiteral) => {
            "a string that is never closed; add its quote".to_string()
        }
        Kind::String(ParseStringErrorKind::InvalidUnicodeEscapeSequence(_)) => {
            "a `\\u` escape that is half of a pair; both halves are needed for one character".to_string()
        }
        Kind::String(_) => format!("an escape that {name} does not know; double the backslash if it is meant"),
        _ => format!("this is not {name} here; look for a missing quote or bracket before it"),
    };
    if let Some(error) = super::template::explain(text, Cursor::new(text).place(at).line) {
        return error;
    }
    Error::new(Cursor::new(text).place(at), message)
}

/// The first byte from `at` that is neither white space nor part of a comment.
fn next_token(text: &str, at: usize) -> usize {
    let mut rest = &text[at.min(text.len())..];
    loop {
        rest = rest.trim_start();
        let comment = match rest.get(..2) {
            Some("//") => rest.find(['\n', '\r']),
            Some("/*") => rest.find("*/").map(|end| end + 2),
            _ => None,
        };
        match comment {
            Some(length) => rest = &rest[length..],
            None => return text.len() - rest.len(),
        }
    }
}

/// Where a text ends, for the error about what is not closed.
fn last_line(text: &str) -> String {
    format!(" (the text ends on line {})", Cursor::new(text).place(text.trim_end().len()).line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;

    fn read_as(format: Format, text: &str) -> Result<(String, Vec<String>), String> {
        let parsed = document::parse(format, text.as_bytes(), &Options::default()).map_err(|e| e.to_string())?;
        let mut out = String::new();
        parsed.documents[0].root.write_json(&mut out);
        Ok((out, parsed.warnings))
    }

    #[test]
    fn json_is_strict() {
        for bad in [
            "{a: 1}",
            "{'a': 1}",
            "[1 2]",
            "[0x1]",
            "[+1]",
            "[.5]",
            "[5.]",
            "[NaN]",
            "[Infinity]",
            "[01]",
            "[\"\\x41\"]",
            "[\"a\tb\"]",
            "[\"a\nb\"]",
            "[\u{c}1]",
            "[1,,2]",
            "[",
            "{\"a\"}",
            "",
            "  ",
            "[1]]",
            "\"\\ud800\"",
            "[1e]",
            "[-]",
            "[True]",
            "nul",
            "\"\u{1}\"",
            "[\"\u{b}\"]",
        ] {
            assert!(read_as(Format::Json, bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn comments_and_trailing_commas_are_read_and_said() {
        let text = "{ // why\n \"a\": [1, 2,], /* b */ }";
        let (value, warnings) = read_as(Format::Json, text).expect("read");
        assert_eq!(value, r#"{"a":[1,2]}"#);
        assert_eq!(warnings, ["line 1 has a comment, which JSON does not allow; read as JSON with comments"]);
        assert_eq!(read_as(Format::Jsonc, text).expect("read"), (r#"{"a":[1,2]}"#.into(), vec![]));
    }

    #[test]
    fn json5_reads_what_its_specification_shows() {
        let text = "// c\n{unquoted: 'and \"single\"', line: 'a\\\nb', hex: 0xdecaf, half: .5, dot: 8675309., sign: +1, 'x': \"\\x41\", nan: NaN, inf: -Infinity,}";
        let (value, warnings) = read_as(Format::Json5, text).expect("read");
        assert_eq!(
            value,
            r#"{"unquoted":"and \"single\"","line":"ab","hex":912559,"half":{"$flecto":"float","text":".5"},"dot":{"$flecto":"float","text":"8675309."},"sign":1,"x":"A","nan":{"$flecto":"float","text":"NaN"},"inf":{"$flecto":"float","text":"-Infinity"}}"#
        );
        assert!(warnings.is_empty());
    }

    #[test]
    fn a_line_break_in_a_json5_string_needs_its_backslash() {
        for text in ["'a\\\nb'", "'a\\\r\nb'", "'a\\\rb'"] {
            assert_eq!(read_as(Format::Json5, text).expect(text).0, r#""ab""#, "{text:?}");
        }
        for text in ["'a\nb'", "'a\r\nb'", "'a\rb'", "{'a\rb': 1}", "'a\\\\\rb'"] {
            assert!(read_as(Format::Json5, text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn errors_say_where_and_what_and_quote_nothing() {
        for (text, start, word) in [
            ("{\"cc\": NaN}\n", "1:8:", "NaN"),
            ("{\"a\": 1,\n \"n\": 1, \"n\": 2}\n", "2:10:", "`n`"),
            ("[\n  \"hunter2\n", "2:3:", "never closed"),
            ("{\"password\": hunter2}", "1:14:", "quote"),
            ("[\"a\tb\"]", "1:4:", "\\t"),
        ] {
            let error = read_as(Format::Json, text).expect_err("bad");
            assert!(error.starts_with(start) && error.contains(word), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
        assert!(
            read_as(Format::Json, "{\"n\": 1,\n \"m\": 1,\n \"n\": 2}").expect_err("bad").contains("first on line 1")
        );
    }

    #[test]
    fn nesting_is_read_up_to_the_limit_and_refused_beyond() {
        let deep = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
        assert!(read_as(Format::Json, &deep(255)).is_ok());
        for n in [256, 600, 100_000] {
            assert!(read_as(Format::Json, &deep(n)).expect_err("deep").contains("255"), "{n}");
        }
    }

    #[test]
    fn a_later_duplicate_wins_where_it_is_allowed() {
        let options = Options { allow_duplicate_keys: true, ..Options::default() };
        let parsed = document::parse(Format::Json, b"{\"a\":1,\"b\":2,\n\"a\":3}", &options).expect("read");
        assert_eq!(parsed.documents[0].root.to_value().to_json(), r#"{"a":3,"b":2}"#);
        assert_eq!(
            parsed.warnings,
            ["the key `a` of line 1 stands in its map again on line 2; the last one was taken"]
        );
    }
}
