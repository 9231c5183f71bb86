//! What must hold for every input? The claims that the fuzz targets have in common.
//!
//! A claim that fails panics with what was seen; libFuzzer keeps the input. How to run them is in README.md.

#[path = "../../tests/diff/apply.rs"]
mod apply;

use flecto::document::{Data, Error, Format, Key, Node, Options, Parsed, Place, parse, split_yaml, whole_file};
use std::fmt::Write as _;

/// Draws decisions from the fuzzer's bytes; zeros when they are used up, so that every input means something.
pub struct Feed<'a> {
    bytes: &'a [u8],
}

impl<'a> Feed<'a> {
    /// Draws from these bytes.
    pub fn new(bytes: &'a [u8]) -> Feed<'a> {
        Feed { bytes }
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n.max(1)
    }

    /// One of these.
    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// A text: up to the next NUL. What is no UTF-8 is replaced.
    pub fn text(&mut self) -> String {
        let end = self.bytes.iter().position(|byte| *byte == 0).unwrap_or(self.bytes.len());
        let (text, rest) = self.bytes.split_at(end);
        self.bytes = rest.get(1..).unwrap_or_default();
        String::from_utf8_lossy(text).into_owned()
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// A word that is like no other, of these characters: what must be hidden, or must be kept.
    pub fn word(&mut self, alphabet: &[u8], length: usize) -> String {
        // A good mixer (splitmix64) over what was drawn: nearly equal inputs give unlike words.
        let mut state = u64::from(self.byte()) << 8 | u64::from(self.byte());
        (0..length)
            .map(|_| {
                state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
                let mut z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
                char::from(alphabet[usize::try_from((z ^ (z >> 31)) % alphabet.len() as u64).unwrap_or(0)])
            })
            .collect()
    }

    /// A secret of no published format that looks like nothing else: `Krst42PLam731bnd`.
    pub fn canary(&mut self) -> String {
        const UPPER: &[u8] = b"BCDFGHJKLMNPQRSTVWXZ";
        const LOWER: &[u8] = b"bcdfghjklmnpqrstvwxz";
        const DIGIT: &[u8] = b"23456789";
        [(UPPER, 1), (LOWER, 3), (DIGIT, 2), (UPPER, 2), (LOWER, 2), (DIGIT, 3), (LOWER, 3)]
            .iter()
            .map(|(alphabet, length)| self.word(alphabet, *length))
            .collect()
    }
}

/// Reads a text and holds the answer to what is promised of every format. Gives what was read, for claims of one format.
pub fn read(format: Format, bytes: &[u8]) -> Result<Parsed<'_>, Error> {
    let parsed = parse(format, bytes, &Options::default());
    let text = String::from_utf8_lossy(bytes);
    // A lone carriage return ends a line too.
    let lines = u32::try_from(text.matches(['\n', '\r']).count()).unwrap_or(u32::MAX) + 1;
    match &parsed {
        Ok(parsed) => {
            for document in &parsed.documents {
                places(&document.root, lines);
                is_json(&document.root);
            }
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.chars().count() < 400, "a long message: {message}");
            assert!(!message.contains(|c: char| c.is_control()), "a control character in {message:?}");
            if let Some(place) = error.place {
                assert!(place.line >= 1 && place.line <= lines && place.column >= 1, "{place:?} of {lines} lines");
            }
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes)
        && whole_file(bytes).is_none()
        // Every other byte NUL is taken for UTF-16, and a carriage return moves them.
        && !text.contains('\0')
    {
        let seen = shown(&parsed);
        if !text.contains('\r') {
            let other = text.replace('\n', "\r\n");
            assert_eq!(seen, shown(&parse(format, other.as_bytes(), &Options::default())), "with CRLF");
        }
        if !text.starts_with('\u{feff}') {
            let other = format!("\u{feff}{text}");
            assert_eq!(seen, shown(&parse(format, other.as_bytes(), &Options::default())), "with a byte order mark");
        }
        if format == Format::Yaml {
            parts(bytes, parsed.as_ref());
        }
    }
    parsed
}

/// Everything that was read, places included. A message may name the line end that stands there.
fn shown(parsed: &Result<Parsed<'_>, Error>) -> String {
    match parsed {
        Ok(parsed) => format!("{parsed:#?}"),
        Err(error) => error.to_string().replace("\\r", "\\n"),
    }
}

fn places(node: &Node<'_>, lines: u32) {
    let holds = |place: Place| place.line >= 1 && place.line <= lines && place.column >= 1;
    assert!(holds(node.span.start) && node.span.end_line >= node.span.start.line, "{:?}", node.span);
    assert!(node.span.end_line <= lines, "{:?} of {lines} lines", node.span);
    match &node.data {
        Data::List(items) => items.iter().for_each(|item| places(item, lines)),
        Data::Map(entries) => {
            for entry in entries {
                assert!(holds(entry.key_span.start), "{:?}", entry.key_span);
                places(&entry.value, lines);
            }
        }
        _ => {}
    }
}

/// What goes into a record can be read back from it, both ways of writing it agree, and no ciphertext is in it.
fn is_json(node: &Node<'_>) {
    let written = node.to_value().to_json();
    let mut streamed = String::new();
    node.write_json(&mut streamed);
    assert_eq!(written, streamed);
    match flecto::value::Value::parse(&written) {
        Ok(value) => assert_eq!(value.to_json(), written),
        Err(error) => panic!("{error:?}: {written}"),
    }
    if let Err(error) = serde_json::from_str::<serde_json::Value>(&written) {
        // serde_json reads 127 levels; the records are read without that limit.
        assert!(error.to_string().starts_with("recursion limit"), "{error}: {written}");
    }
    assert!(!written.contains("ENC[AES256_GCM,"), "ciphertext in {written}");
}

/// The parts of a file with several documents say what the file says, and where. An error in one part may be another one in
/// the whole, but one it is.
fn parts(text: &[u8], whole: Result<&Parsed<'_>, &Error>) {
    let Some(parts) = split_yaml(text) else { return };
    let mut seen = Vec::new();
    for part in &parts {
        let options =
            Options { lines_before: part.lines_before, documents_before: part.documents_before, ..Options::default() };
        match parse(Format::Yaml, &text[part.bytes.clone()], &options) {
            Ok(parsed) => seen.extend(parsed.documents.iter().map(|d| format!("{} {:#?}", d.index, d.root))),
            Err(error) => {
                assert!(whole.is_err(), "a part is refused, the whole is read: {error}");
                return;
            }
        }
    }
    match whole {
        Ok(whole) => {
            let whole: Vec<String> = whole.documents.iter().map(|d| format!("{} {:#?}", d.index, d.root)).collect();
            assert_eq!(seen, whole, "the parts of the file");
        }
        Err(error) => panic!("the parts are read, the whole is refused: {error}"),
    }
}

/// All that a tree says, without its places: one line.
pub fn tree(node: &Node<'_>, out: &mut String) {
    if let Some(tag) = &node.tag {
        let _ = write!(out, "{tag} ");
    }
    match &node.data {
        Data::List(items) => {
            out.push('[');
            items.iter().for_each(|item| {
                tree(item, out);
                out.push(',');
            });
            out.push(']');
        }
        Data::Map(entries) => {
            out.push('{');
            for entry in entries {
                let _ = match &entry.key {
                    Key::String(text) => write!(out, "{text:?}:"),
                    Key::Typed(kind, text) => write!(out, "{kind} {text:?}:"),
                };
                tree(&entry.value, out);
                out.push(',');
            }
            out.push('}');
        }
        other => {
            let _ = write!(out, "{other:?}");
        }
    }
}

/// The new side, from the old one and the changes that were told.
pub fn applied(old: &serde_json::Value, changes: &[&serde_json::Value]) -> serde_json::Value {
    apply::applied(old, changes)
}
