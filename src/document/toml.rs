//! What does this TOML say? TOML 1.0 (and what 1.1 adds), by the `toml` crate; its tables are sorted by name, so the order
//! of the file comes back from the places of the keys.

use super::lines::Cursor;
use super::{
    Data, Document, Entry, Error, Key, Node, Options, Parsed, Place, Scalar, ScalarKind, Span, key_name, number,
};
use crate::limits::MAX_DEPTH;
use std::borrow::Cow;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(super) fn parse<'a>(text: &'a str, options: &Options) -> Result<Parsed<'a>, Error> {
    if text.starts_with('\u{feff}') {
        let place = Place { line: 1, column: 1 };
        return Err(Error::new(place, "a second byte order mark, which the parser would skip; remove it"));
    }
    let root = match DeTable::parse(text) {
        Ok(table) => table,
        Err(error) => return Err(explain(text, &error, options)),
    };
    let mut tree = Tree { text, cursor: Cursor::new(text) };
    let entries = tree.entries(root.into_inner(), 1)?;
    let end_line = tree.cursor.place(text.trim_end().len()).line;
    let start = entries.first().map_or(Place { line: 1, column: 1 }, |entry| entry.key_span.start);
    let root = Node { data: Data::Map(entries), tag: None, yaml11: None, span: Span { start, end_line } };
    Ok(Parsed { documents: vec![Document::new(root, 0)], warnings: Vec::new() })
}

/// Whether an integer has digits, and those of its base alone: the parser leaves both to whoever converts it.
fn is_integer(source: &str) -> bool {
    let digits = source.strip_prefix(['+', '-']).unwrap_or(source);
    let (digits, radix) = match digits.get(..2) {
        Some("0x") => (&digits[2..], 16),
        Some("0o") => (&digits[2..], 8),
        Some("0b") => (&digits[2..], 2),
        _ => (digits, 10),
    };
    !digits.is_empty() && digits.chars().all(|c| c == '_' || c.is_digit(radix))
}

struct Tree<'a> {
    text: &'a str,
    cursor: Cursor<'a>,
}

impl<'a> Tree<'a> {
    fn entries(&mut self, table: DeTable<'a>, depth: usize) -> Result<Vec<Entry<'a>>, Error> {
        // In the order of the text, so that the cursor goes forward.
        let mut rows: Vec<_> = table.into_iter().collect();
        rows.sort_by_key(|(key, _)| key.span().start);
        let mut entries = Vec::with_capacity(rows.len());
        for (key, value) in rows {
            let range = key.span();
            let key_span = self.cursor.span(range.start, range.end);
            let value = self.node(value, depth)?;
            entries.push(Entry::new(Key::String(key.into_inner()), key_span, value));
        }
        entries.sort_by_cached_key(first_place);
        Ok(entries)
    }

    fn node(&mut self, value: Spanned<DeValue<'a>>, depth: usize) -> Result<Node<'a>, Error> {
        let range = value.span();
        let mut span = self.cursor.span(range.start, range.end);
        if depth > MAX_DEPTH {
            return Err(Error::new(
                span.start,
                format!("nested deeper than {MAX_DEPTH} levels; flecto reads no deeper"),
            ));
        }
        let source = self.text.get(range).unwrap_or_default();
        let typed = |kind, canonical| Data::Typed(Scalar::with_canonical(kind, source, canonical));
        let data = match value.into_inner() {
            DeValue::String(text) => Data::String(text),
            DeValue::Boolean(value) => Data::Bool(value),
            DeValue::Integer(_) if !is_integer(source) => {
                return Err(Error::new(span.start, "a number without digits, or with digits that are none of TOML"));
            }
            DeValue::Integer(_) => typed(ScalarKind::Int, number::to_decimal(source)),
            DeValue::Float(_) => typed(
                ScalarKind::Float,
                if source.contains('_') { Cow::Owned(source.replace('_', "")) } else { Cow::Borrowed(source) },
            ),
            DeValue::Datetime(_) => {
                typed(ScalarKind::Date, Cow::Owned(source.to_ascii_uppercase().replacen(' ', "T", 1)))
            }
            DeValue::Array(items) => {
                let mut list = Vec::with_capacity(items.len());
                for item in items {
                    list.push(self.node(item, depth + 1)?);
                }
                span.end_line = span.end_line.max(list.last().map_or(0, |item| item.span.end_line));
                Data::List(list)
            }
            DeValue::Table(table) => {
                let entries = self.entries(table, depth + 1)?;
                span.end_line = entries.iter().map(|entry| entry.value.span.end_line).fold(span.end_line, u32::max);
                Data::Map(entries)
            }
        };
        Ok(Node { data, tag: None, yaml11: None, span })
    }
}

/// Where an entry is first mentioned: `[a.b]` mentions `a`, also where an `[a]` follows and is its place.
fn first_place(entry: &Entry<'_>) -> Place {
    let inner = match &entry.value.data {
        Data::Map(entries) => entries.first().map(first_place),
        _ => None,
    };
    inner.map_or(entry.key_span.start, |inner| inner.min(entry.key_span.start))
}

/// The parser's error in our words. Its message is matched, never shown; an unknown one gets the general sentence.
fn explain(text: &str, error: &toml::de::Error, options: &Options) -> Error {
    let span = error.span().unwrap_or(text.len()..text.len());
    let place = Cursor::new(text).place(span.start);
    if let Some(error) = super::template::explain(text, place.line) {
        return error;
    }
    let seen = error.message().split(", expected").next().unwrap_or_default();
    let message = match seen {
        "duplicate key" => return redefined(text, span.start, options),
        "recursion limit" | "cannot recurse further; max recursion depth met" => {
            "nested too deep (the limit for TOML is 80 levels); flecto reads no deeper"
        }
        "string values must be quoted" => "a value without quotes; TOML strings are quoted",
        "missing value" | "missing value for key" | "key with no value" => "a key without a value; write `key = value`",
        "extra `=`" | "extra assignment between key-value pairs" => "a second `=`; quote the value if it belongs to it",
        "invalid unquoted key" | "unquoted keys cannot be empty" => {
            "a key with other characters than A-Z a-z 0-9 _ -; quote it"
        }
        "missing comma between array elements" | "missing comma between key-value pairs" => {
            "a comma is missing; add it"
        }
        "extra comma in array" | "extra comma in inline table" => "a comma without a value; remove it",
        "unclosed array" | "unclosed inline table" | "unclosed table" | "unclosed array table" => {
            "a bracket that is never closed; add the closing one"
        }
        "missing opening quote" => "a quote that is never closed or never opened; check the quotes of this value",
        "unexpected leading zero" => "a number with a leading zero; remove it, or write `0o` for octal",
        "carriage return must be followed by newline" => "a lone carriage return; end lines with \\n or \\r\\n",
        "unexpected key or value" | "unexpected content" | "unexpected content between comment and newline" => {
            "text after the end of the value; one key and value a line, and quote text"
        }
        _ => "this is not TOML here; look for a missing quote, bracket or `=` at this place or just before it",
    };
    Error::new(place, message)
}

/// The second definition of a key, with the line of the first.
fn redefined(text: &str, at: usize, options: &Options) -> Error {
    let path = path_at(text, at);
    let name = dotted(text, at, at).first().map_or_else(|| "a key".to_string(), |name| key_name(name));
    // What stands before it: in the whole text the second definition has taken the place of the first.
    let (table, _) = DeTable::parse_recoverable(&text[..at]);
    let first = find(table.get_ref(), &path);
    let place = Cursor::new(text).place(at);
    let first = first.map_or_else(String::new, |first| {
        format!(", first on line {}", Cursor::new(text).place(first).line + options.lines_before)
    });
    Error::new(
        place,
        format!(
            "{name} is defined a second time{first}; TOML defines a key once and closes an inline table, remove one"
        ),
    )
}

fn find(table: &DeTable<'_>, path: &[String]) -> Option<usize> {
    let (first, rest) = path.split_first()?;
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == first)?;
    if rest.is_empty() {
        return Some(key.span().start);
    }
    let inner = match value.get_ref() {
        DeValue::Table(table) => Some(table),
        DeValue::Array(items) => match items.iter().last().map(Spanned::get_ref) {
            Some(DeValue::Table(table)) => Some(table),
            _ => None,
        },
        _ => None,
    };
    // The key may be what is defined where a table was wanted: `a = 1` and `[a.b]`.
    inner.and_then(|inner| find(inner, rest)).or_else(|| Some(key.span().start))
}

/// The path of the key at `at`: the table header above it and the dotted key before it, or the header that holds it.
fn path_at(text: &str, at: usize) -> Vec<String> {
    let line_start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[line_start..].lines().next().unwrap_or_default();
    if line.trim_start().starts_with('[') {
        let opened = line_start + line.find(|c: char| c != '[' && c != ' ').unwrap_or(0);
        return dotted(text, opened, at);
    }
    let header = text[..line_start].lines().rev().find_map(|line| line.trim_start().strip_prefix('['));
    let mut path = header.map_or_else(Vec::new, |header| dotted(header, header.starts_with('[').into(), header.len()));
    path.extend(dotted(text, line_start, at));
    path
}

/// The keys of a dotted key that begins at `from`, up to the one that holds or follows the byte `to`.
fn dotted(text: &str, from: usize, to: usize) -> Vec<String> {
    let mut keys = Vec::new();
    let mut at = from;
    while at < text.len() {
        let rest = text[at..].trim_start_matches([' ', '\t', '.', '{', ',']);
        at = text.len() - rest.len();
        let (key, length) = match rest.as_bytes().first() {
            Some(quote @ (b'"' | b'\'')) => match rest[1..].find(char::from(*quote)) {
                Some(end) => (&rest[1..=end], end + 2),
                None => break,
            },
            _ => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(rest.len());
                (&rest[..end], end)
            }
        };
        if length == 0 {
            break;
        }
        keys.push(key.to_string());
        at += length;
        if at > to || !text[at..].trim_start_matches([' ', '\t']).starts_with('.') {
            break;
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use crate::document::{Data, Format, Node, Options, parse};

    fn read(text: &str) -> Result<String, String> {
        let parsed = parse(Format::Toml, text.as_bytes(), &Options::default()).map_err(|error| error.to_string())?;
        Ok(parsed.documents[0].root.to_value().to_json())
    }

    #[test]
    fn three_spellings_of_one_tree() {
        let one = read("a.b = 1\na.c = { d = 1, e = [1, 2,] }\n").expect("toml");
        let two = read("[a]\nb = 1\n[a.c]\nd = 0x1\ne = [\n  1, # one\n  2,\n]\n").expect("toml");
        assert_eq!(one, r#"{"a":{"b":1,"c":{"d":1,"e":[1,2]}}}"#);
        assert_eq!(two.replace("0x1", "1"), one);
    }

    #[test]
    fn types_order_and_text_are_kept() {
        assert_eq!(
            read("z = 1_000\na = 1_0.5\nd = 1979-05-27 07:32:00Z\nt = 07:32:00\ni = inf\nn = -nan\ns = 'C:\\x'\nm = \"\"\"\nx\ny\"\"\"\nb = true\nmixed = [1, 'a', {}]\nhex = 0xFF\n[empty]\n[[list]]\nx = 1\n[[list]]\n").expect("toml"),
            concat!(
                r#"{"z":1000,"a":10.5,"d":"1979-05-27 07:32:00Z","t":"07:32:00","#,
                r#""i":{"$flecto":"float","text":"inf"},"n":{"$flecto":"float","text":"-nan"},"s":"C:\\x","m":"x\ny","b":true,"#,
                r#""mixed":[1,"a",{}],"hex":255,"empty":{},"list":[{"x":1},{}]}"#
            )
        );
    }

    #[test]
    fn what_the_parser_leaves_unchecked_is_refused() {
        for text in ["a = 0x\n", "a = 0o\n", "a = 0b\n", "a = 1_0\u{660}\n", "a = 0xFG\n", "\u{feff}\u{feff}a = 1\n"] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn redefinitions_name_both_lines() {
        for (text, at, name, first) in [
            ("a = { b = 1 }\n[a]\nc = 2\n", "2:2:", "`a`", "line 1"),
            ("a = 1\nb = 2\na = 3\n", "3:1:", "`a`", "line 1"),
            ("[x]\na = 1\n[y]\na = 1\na = 2\n", "5:1:", "`a`", "line 4"),
            ("[x.y]\n[x.y]\n", "2:4:", "`y`", "line 1"),
            ("[[l]]\nk = 1\n[[l]]\nk = 1\nk = 2\n", "5:1:", "`k`", "line 4"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(at) && error.contains(name) && error.contains(first), "{error}\n{text}");
        }
    }

    #[test]
    fn errors_quote_nothing() {
        for text in [
            "password = hunter2\n",
            "password = \"hunter2\n",
            "password \"hunter2\"\n",
            "[hunter2\n",
            "a = [1 hunter2]\n",
        ] {
            let error = read(text).expect_err(text);
            assert!(!error.contains("hunter2") && error.contains(';'), "{error}");
        }
        let deep = format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(read(&deep).expect_err("deep").contains("80"));
    }

    #[test]
    fn places_point_at_keys_and_values() {
        let text = "a = 1\n[s.t]\n  k = [\n  'é', 2]\n[[l]]\nx = { y = 'z' }\n[s]\nlate = true\n";
        let parsed = parse(Format::Toml, text.as_bytes(), &Options::default()).expect("toml");
        let mut found = Vec::new();
        fn walk(node: &Node<'_>, found: &mut Vec<String>) {
            match &node.data {
                Data::Map(entries) => {
                    for entry in entries {
                        let (key, value) = (entry.key_span.start, entry.value.span);
                        let name = entry.key.text();
                        found.push(format!(
                            "{name} {}:{} {}:{}-{}",
                            key.line, key.column, value.start.line, value.start.column, value.end_line
                        ));
                        walk(&entry.value, found);
                    }
                }
                Data::List(items) => items.iter().for_each(|item| walk(item, found)),
                _ => {}
            }
        }
        walk(&parsed.documents[0].root, &mut found);
        assert_eq!(
            found,
            [
                "a 1:1 1:5-1",
                "s 7:2 7:1-8",
                "t 2:4 2:1-4",
                "k 3:3 3:7-4",
                "late 8:1 8:8-8",
                "l 5:3 5:1-6",
                "x 6:1 6:5-6",
                "y 6:7 6:11-6"
            ]
        );
    }
}
