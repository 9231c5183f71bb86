//! Where in a document? A path is a list of segments; its text can be typed in a shell and found by grep in the JSON.
//!
//! | text | segment |
//! |---|---|
//! | `db.pool_size` | [`Segment::Key`], bare: `[A-Za-z_][A-Za-z0-9_-]*` and no word that YAML reads otherwise |
//! | `responses.200` | [`Segment::Typed`], an integer key |
//! | `annotations['a.b/c']`, `responses['200']` | [`Segment::Key`], quoted; `'` is written `''` |
//! | `versions[?1.3]`, `on[?true]` | [`Segment::Typed`], any other key that is no string, as JSON |
//! | `servers[3]` | [`Segment::Index`]: of the new side; for a removed item of the old side |
//! | `containers[name=api]`, `ports[containerPort=80,protocol=TCP]` | [`Segment::Item`] |
//! | `env[@DB_HOST]`, `args[@--set#2]` | [`Segment::Entry`] of a `KEY=VALUE` or flag list |
//! | `data['app.yaml']!server.port` | [`Segment::Inner`]: inside a document in a string |
//! | `$` | the root: no segment |
//!
//! `Path::parse` reads back exactly what `Display` writes: a property test holds them together. The YAML document that a
//! path is in is a field of its own in a record, never part of the path, so that a rule or a secret-name test never sees
//! a resource's name.

use crate::json;
use std::fmt::{self, Write as _};

/// One step down into a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Segment {
    /// The entry of a map under a string key.
    Key(String),
    /// The entry of a map under a key that is no string, by the key's canonical JSON text: `200`, `1.3`, `true`, `null`.
    Typed(String),
    /// The n-th item of a list, from 0.
    Index(usize),
    /// The item of a list in which the named fields have these values.
    Item(Vec<(String, Word)>),
    /// The entry of a list of `KEY=VALUE` strings or of flags, by its name; `nth` is 1 for the first of that name.
    Entry {
        /// The name: `DB_HOST`, `--port`.
        name: String,
        /// Which of several equal names, from 1.
        nth: usize,
    },
    /// Into the document that a string holds; with the document's name where the string holds several.
    Inner(Option<String>),
}

/// The value of a field that identifies a list item.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Word {
    /// A string.
    Text(String),
    /// An integer, as decimal text.
    Int(String),
}

impl Word {
    /// The value without its type.
    pub fn text(&self) -> &str {
        match self {
            Word::Text(text) | Word::Int(text) => text,
        }
    }
}

/// Where in a document: the root, or some steps down from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path(pub Vec<Segment>);

/// Words that a YAML reader of either version takes for something else than a string.
const RESERVED: [&str; 16] = [
    "true",
    "false",
    "yes",
    "no",
    "on",
    "off",
    "y",
    "n",
    "null",
    "nan",
    "inf",
    "infinity",
    "t",
    "f",
    "none",
    "undefined",
];

impl Path {
    /// The root.
    pub fn root() -> Path {
        Path(Vec::new())
    }

    /// This path and one more step.
    pub fn child(&self, segment: Segment) -> Path {
        let mut segments = Vec::with_capacity(self.0.len() + 1);
        segments.extend_from_slice(&self.0);
        segments.push(segment);
        Path(segments)
    }

    /// This path and more steps.
    pub fn join(&self, more: &[Segment]) -> Path {
        Path(self.0.iter().chain(more).cloned().collect())
    }

    /// The names of map keys and list entries along the path, outermost first. Resource and item names are not among
    /// them: a container called `token-service` is no secret.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.iter().filter_map(|segment| match segment {
            Segment::Key(name) | Segment::Entry { name, .. } | Segment::Typed(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Reads a path's text.
    ///
    /// # Errors
    /// Text that [`Display`](fmt::Display) would not write, by the position (in bytes) where it stops making sense.
    pub fn parse(text: &str) -> Result<Path, BadPath> {
        let mut parser = Parser { text, at: 0 };
        let path = if text == "$" { Path::root() } else { parser.path()? };
        // One text for one path: `a['b']` is refused, because `a.b` says the same.
        let mut same = Same { rest: text };
        let written = fmt::Write::write_fmt(&mut same, format_args!("{path}"));
        if written.is_ok() && same.rest.is_empty() { Ok(path) } else { Err(BadPath { at: parser.at.min(text.len()) }) }
    }
}

/// Takes a text that is written and compares it with one that is known.
struct Same<'a> {
    rest: &'a str,
}

impl fmt::Write for Same<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.rest = self.rest.strip_prefix(part).ok_or(fmt::Error)?;
        Ok(())
    }
}

/// A text that is no path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPath {
    /// Where it stops making sense, in bytes from 0.
    pub at: usize,
}

impl fmt::Display for BadPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no path: cannot be read from character {}", self.at + 1)
    }
}

impl std::error::Error for BadPath {}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_char('$');
        }
        let mut dot = false;
        for segment in &self.0 {
            match segment {
                Segment::Key(key) if is_bare(key) => {
                    if dot {
                        f.write_char('.')?;
                    }
                    f.write_str(key)?;
                }
                Segment::Key(key) => write!(f, "[{}]", Quoted(key))?,
                Segment::Typed(key) if is_decimal(key) && dot => write!(f, ".{key}")?,
                Segment::Typed(key) => write!(f, "[?{key}]")?,
                Segment::Index(at) => write!(f, "[{at}]")?,
                Segment::Item(fields) => {
                    f.write_char('[')?;
                    for (at, (field, value)) in fields.iter().enumerate() {
                        if at > 0 {
                            f.write_char(',')?;
                        }
                        write_word(f, field)?;
                        f.write_char('=')?;
                        match value {
                            Word::Int(text) => f.write_str(text)?,
                            Word::Text(text) => write_word(f, text)?,
                        }
                    }
                    f.write_char(']')?;
                }
                Segment::Entry { name, nth } => {
                    f.write_str("[@")?;
                    if is_entry_name(name) {
                        f.write_str(name)?
                    } else {
                        write!(f, "{}", Quoted(name))?
                    }
                    if *nth != 1 {
                        write!(f, "#{nth}")?;
                    }
                    f.write_char(']')?;
                }
                Segment::Inner(None) => f.write_char('!')?,
                Segment::Inner(Some(document)) => write!(f, "!{{{}}}", Quoted(document))?,
            }
            dot = !matches!(segment, Segment::Inner(None));
        }
        Ok(())
    }
}

/// Single-quoted, `'` doubled.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('\'')?;
        for c in self.0.chars() {
            if c == '\'' {
                f.write_char('\'')?;
            }
            f.write_char(c)?;
        }
        f.write_char('\'')
    }
}

fn write_word(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    if is_bare(text) { f.write_str(text) } else { write!(f, "{}", Quoted(text)) }
}

fn is_bare(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        && !(text.len() <= 9 && RESERVED.iter().any(|word| word.eq_ignore_ascii_case(text)))
}

/// A canonical integer: no leading zero, no plus.
fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
        && (digits == "0" && text == "0" || !digits.starts_with('0'))
}

fn is_entry_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/' | b':'))
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn bad<T>(&self) -> Result<T, BadPath> {
        Err(BadPath { at: self.at })
    }

    fn expect(&mut self, token: &str) -> Result<(), BadPath> {
        if self.eat(token) { Ok(()) } else { self.bad() }
    }

    fn path(&mut self) -> Result<Path, BadPath> {
        let mut segments = Vec::new();
        let mut dot = false;
        while !self.rest().is_empty() {
            let segment = if self.eat("!") {
                if self.eat("{") {
                    let document = self.quoted()?;
                    self.expect("}")?;
                    Segment::Inner(Some(document))
                } else {
                    Segment::Inner(None)
                }
            } else if self.eat("[") {
                let segment = self.bracket()?;
                self.expect("]")?;
                segment
            } else {
                if dot {
                    self.expect(".")?;
                }
                self.bare(dot)?
            };
            dot = !matches!(segment, Segment::Inner(None));
            segments.push(segment);
        }
        if segments.is_empty() { self.bad() } else { Ok(Path(segments)) }
    }

    fn bare(&mut self, after_dot: bool) -> Result<Segment, BadPath> {
        let length = self.rest().find(['.', '[', '!']).unwrap_or(self.rest().len());
        let word = self.rest()[..length].to_string();
        if is_bare(&word) {
            self.at += length;
            Ok(Segment::Key(word))
        } else if after_dot && is_decimal(&word) {
            self.at += length;
            Ok(Segment::Typed(word))
        } else {
            self.bad()
        }
    }

    fn bracket(&mut self) -> Result<Segment, BadPath> {
        if self.eat("@") {
            let name = if self.rest().starts_with('\'') {
                self.quoted()?
            } else {
                let length = self.rest().find(['#', ']']).unwrap_or(self.rest().len());
                let name = self.rest()[..length].to_string();
                self.at += length;
                name
            };
            let nth = if self.eat("#") { self.number()? } else { 1 };
            return Ok(Segment::Entry { name, nth });
        }
        if self.eat("?") {
            // The text of a key that is no string: JSON without its own brackets at top level, so that `]` ends it.
            let mut depth = 0usize;
            let mut in_string = false;
            let mut escaped = false;
            for (offset, c) in self.rest().char_indices() {
                match c {
                    _ if escaped => escaped = false,
                    '\\' if in_string => escaped = true,
                    '"' => in_string = !in_string,
                    '[' | '{' if !in_string => depth += 1,
                    ']' if !in_string && depth == 0 => {
                        let text = self.rest()[..offset].to_string();
                        self.at += offset;
                        return Ok(Segment::Typed(text));
                    }
                    ']' | '}' if !in_string => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            return self.bad();
        }
        if self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(Segment::Index(self.number()?));
        }
        let first = if self.rest().starts_with('\'') { self.quoted()? } else { self.word()? };
        if self.rest().starts_with(']') {
            return Ok(Segment::Key(first));
        }
        let mut fields = Vec::new();
        let mut field = first;
        loop {
            self.expect("=")?;
            let value = if self.rest().starts_with('\'') {
                Word::Text(self.quoted()?)
            } else {
                let word = self.word()?;
                if is_decimal(&word) { Word::Int(word) } else { Word::Text(word) }
            };
            fields.push((field, value));
            if !self.eat(",") {
                return Ok(Segment::Item(fields));
            }
            field = if self.rest().starts_with('\'') { self.quoted()? } else { self.word()? };
        }
    }

    fn word(&mut self) -> Result<String, BadPath> {
        let length = self.rest().find(['=', ',', ']']).unwrap_or(self.rest().len());
        let word = self.rest()[..length].to_string();
        if length == 0 {
            return self.bad();
        }
        self.at += length;
        Ok(word)
    }

    fn number(&mut self) -> Result<usize, BadPath> {
        let length = self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest().len());
        match self.rest()[..length].parse() {
            Ok(number) => {
                self.at += length;
                Ok(number)
            }
            Err(_) => self.bad(),
        }
    }

    fn quoted(&mut self) -> Result<String, BadPath> {
        self.expect("'")?;
        let mut out = String::new();
        loop {
            let Some(length) = self.rest().find('\'') else { return self.bad() };
            out.push_str(&self.text[self.at..self.at + length]);
            self.at += length + 1;
            if self.eat("'") { out.push('\'') } else { return Ok(out) }
        }
    }
}

/// A key that is no string, as the text of a [`Segment::Typed`]: canonical JSON for what JSON knows, else the source
/// text as a JSON string inside its kind, `{"float":".inf"}`.
pub fn typed_key(kind: &str, text: &str) -> String {
    let known = match kind {
        "int" => is_decimal(text),
        "float" => serde_json::from_str::<f64>(text).is_ok(),
        "bool" | "null" => true,
        _ => false,
    };
    if known {
        return text.to_string();
    }
    let mut out = String::from("{");
    json::write_str(&mut out, kind);
    out.push(':');
    json::write_str(&mut out, text);
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(text: &str) -> Segment {
        Segment::Key(text.to_string())
    }

    #[test]
    fn the_table_of_the_module_is_what_is_written() {
        let cases = [
            (vec![], "$"),
            (vec![key("db"), key("pool_size")], "db.pool_size"),
            (vec![key("responses"), Segment::Typed("200".into())], "responses.200"),
            (vec![key("responses"), key("200")], "responses['200']"),
            (vec![key("annotations"), key("a.b/c")], "annotations['a.b/c']"),
            (vec![key("on"), Segment::Typed("true".into())], "['on'][?true]"),
            (vec![key("servers"), Segment::Index(3), key("port")], "servers[3].port"),
            (
                vec![key("c"), Segment::Item(vec![("name".into(), Word::Text("api".into()))]), key("image")],
                "c[name=api].image",
            ),
            (
                vec![
                    key("ports"),
                    Segment::Item(vec![
                        ("containerPort".into(), Word::Int("80".into())),
                        ("protocol".into(), Word::Text("TCP".into())),
                    ]),
                ],
                "ports[containerPort=80,protocol=TCP]",
            ),
            (vec![key("env"), Segment::Entry { name: "DB_HOST".into(), nth: 1 }], "env[@DB_HOST]"),
            (vec![key("args"), Segment::Entry { name: "--set".into(), nth: 2 }], "args[@--set#2]"),
            (vec![key("data"), key("app.yaml"), Segment::Inner(None), key("server")], "data['app.yaml']!server"),
            (vec![Segment::Index(0), key("vars"), Segment::Index(1)], "[0].vars[1]"),
            (vec![Segment::Typed("200".into())], "[?200]"),
        ];
        for (segments, text) in cases {
            assert_eq!(Path(segments.clone()).to_string(), text);
            assert_eq!(Path::parse(text), Ok(Path(segments)), "{text}");
        }
    }

    #[test]
    fn only_one_text_names_a_path() {
        for text in ["", "a..b", "a.", ".a", "a['b']", "a[", "a[@", "a['b", "a[01]", "true", "a.01", "a[?1", "!x{"] {
            assert!(Path::parse(text).is_err(), "{text}");
        }
    }

    fn segment() -> impl Strategy<Value = Segment> {
        let text = || prop_oneof![".{0,6}", "[a-z'\\[\\].!@#=,$?{}\n-]{0,5}", "true|no|null|1|1\\.5"];
        let word = prop_oneof![text().prop_map(Word::Text), (0u32..500).prop_map(|n| Word::Int(n.to_string()))];
        prop_oneof![
            text().prop_map(Segment::Key),
            (0usize..2000).prop_map(Segment::Index),
            prop_oneof![
                Just(("int", "200")),
                Just(("float", "1.3")),
                Just(("bool", "true")),
                Just(("date", "2020-01-01]"))
            ]
            .prop_map(|(kind, text)| Segment::Typed(typed_key(kind, text))),
            prop::collection::vec((text(), word), 1..3).prop_map(Segment::Item),
            (text(), 1usize..4).prop_map(|(name, nth)| Segment::Entry { name, nth }),
            prop_oneof![Just(None), text().prop_map(Some)].prop_map(Segment::Inner),
        ]
    }

    proptest! {
        #[test]
        fn path_text_parses_back(segments in prop::collection::vec(segment(), 0..6)) {
            let path = Path(segments);
            prop_assert_eq!(Path::parse(&path.to_string()), Ok(path));
        }
    }
}
