//! What does this text say? Every format becomes the same tree, each value with its place in the source.
//!
//! One file a format; each is a function from text to [`Parsed`], and [`parse`] is the one door. A tenth format joins by
//! a file, a line in [`Format`] and a line in [`parse`], and touches no other.
//!
//! Nothing here reads a file, expands a variable or decrypts. Errors are made from kind and position: the parsers' own
//! messages quote the source, and the source may be a secret.

mod conflict;
mod dotenv;
mod encrypted;
mod flat;
mod format;
mod hcl;
mod ini;
mod json;
mod lines;
mod number;
mod owned;
mod plan;
mod properties;
mod remarks;
mod split;
mod template;
mod toml;
mod write;
mod yaml;

pub use encrypted::whole_file;
pub use format::Format;
pub use remarks::{Remark, remarks};
pub use split::{Part, split_yaml};

use foldhash::HashMapExt as _;
use std::borrow::Cow;
use std::fmt;

/// What the string of a [`Data::Cycle`] is in a record.
pub const CYCLE: &str = "<recursive alias>";

/// How a text is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// A key that stands in a map twice is a warning, and the last wins. It is an error otherwise.
    pub allow_duplicate_keys: bool,
    /// How many lines of the file precede the text: for a part of a file, see [`split_yaml`].
    pub lines_before: u32,
    /// How many documents of the file precede the text.
    pub documents_before: usize,
    /// The text is a string of a tree or a record, or flecto's own: ciphertext was replaced before, and what looks like a
    /// sentinel (`<encrypted:sops:0123456789ab>`) is one. In a file from outside such a text is made to look like none.
    pub sealed: bool,
}

/// Reads a text.
///
/// # Errors
/// A text that is not of this format, is not UTF-8, or exceeds one of [`crate::limits`]. The error never quotes the text
/// beyond the name of a key.
pub fn parse<'a>(format: Format, text: &'a [u8], options: &Options) -> Result<Parsed<'a>, Error> {
    if let Some(scheme) = encrypted::whole_file(text) {
        return Ok(encrypted::whole(scheme, text));
    }
    let parsed = match lines::decode(text) {
        // Line ends are layout, also inside a string of several lines: a checkout with CRLF says what one with LF says.
        Ok(text) if matches!(format, Format::Toml | Format::Hcl | Format::Dotenv) && text.contains("\r\n") => {
            read(format, &text.replace("\r\n", "\n"), options).map(owned::parsed)
        }
        Ok(text) => read(format, text, options),
        // Java read properties as Latin-1 until version 9, and many are.
        Err(_) if format == Format::Properties && std::str::from_utf8(text).is_err() => {
            let text: String = text.iter().map(|byte| char::from(*byte)).collect();
            read(format, &text, options).map(|parsed| {
                let mut parsed = owned::parsed(parsed);
                parsed.warnings.push("not UTF-8; read as Latin-1, as Java reads properties".into());
                parsed
            })
        }
        Err(error) => Err(error),
    };
    parsed.map_err(|error| {
        let conflict = std::str::from_utf8(text).ok().and_then(conflict::explain);
        conflict.unwrap_or(error).moved(options.lines_before)
    })
}

fn read<'a>(format: Format, text: &'a str, options: &Options) -> Result<Parsed<'a>, Error> {
    let mut parsed = match format {
        Format::Yaml => yaml::parse(text, options),
        Format::Json | Format::Jsonc | Format::Json5 => json::parse(format, text, options),
        Format::Toml => toml::parse(text, options),
        Format::Ini => ini::parse(ini::Dialect::Ini, text, options),
        Format::Systemd => ini::parse(ini::Dialect::Systemd, text, options),
        Format::Dotenv => dotenv::parse(text, options),
        Format::Properties => properties::parse(text, options),
        Format::Hcl => hcl::parse(text, options),
    }?;
    encrypted::seal(text, &mut parsed, options.sealed);
    Ok(parsed)
}

/// A place in a source text: both from 1, columns in Unicode characters, a byte order mark not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// Where a value or a key stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Its first character.
    pub start: Place,
    /// The line of its last character.
    pub end_line: u32,
}

/// A value and where it stands. An alias stands where it is used.
#[derive(Clone, Debug, PartialEq)]
pub struct Node<'a> {
    /// What it is.
    pub data: Data<'a>,
    /// A tag that the format does not define itself, `!` included: `!secret`, `!Ref`. Part of the value.
    pub tag: Option<Rare>,
    /// What a YAML 1.1 reader sees where that is something else: `no` is `false` there. `None` where both readings agree,
    /// and in documents that are read as 1.1 in the first place.
    pub yaml11: Option<Box<Data<'a>>>,
    /// Where it stands.
    pub span: Span,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Data<'a> {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A scalar that is more than its text: a number, a date.
    Typed(Scalar<'a>),
    /// Text, decoded.
    String(Cow<'a, str>),
    /// Ciphertext, by the sentinel that a parser put in its place: `<encrypted:sops:0123456789ab>`. The ciphertext itself is
    /// nowhere.
    Encrypted(Cow<'a, str>),
    /// A list.
    List(Vec<Node<'a>>),
    /// A map, in source order.
    Map(Vec<Entry<'a>>),
    /// An alias to a value that contains it. Equal to any other.
    Cycle,
}

/// A scalar with a type of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar<'a> {
    /// Its type.
    pub kind: ScalarKind,
    /// As the source writes it.
    pub source: Cow<'a, str>,
    /// The canonical text, where it is not the source.
    canonical: Option<Rare>,
}

impl<'a> Scalar<'a> {
    /// A scalar whose canonical text is the source.
    pub fn new(kind: ScalarKind, source: impl Into<Cow<'a, str>>) -> Scalar<'a> {
        Scalar { kind, source: source.into(), canonical: None }
    }

    /// A scalar with this canonical text.
    pub fn with_canonical(kind: ScalarKind, source: impl Into<Cow<'a, str>>, canonical: Cow<'_, str>) -> Scalar<'a> {
        let source = source.into();
        let canonical = (canonical != source).then(|| canonical.into_owned().into());
        Scalar { kind, source, canonical }
    }

    /// As JSON or a comparison wants it: decimal digits for an integer of any base, the source for the others.
    pub fn canonical(&self) -> &str {
        self.canonical.as_deref().unwrap_or(&self.source)
    }

    fn into_canonical(self) -> Cow<'a, str> {
        self.canonical.map_or(self.source, |text| Cow::Owned(text.to_string()))
    }
}

/// A text that few values have. It is one pointer wide, because all the others have room for it too.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rare(Box<Cow<'static, str>>);

impl From<String> for Rare {
    fn from(text: String) -> Rare {
        Rare(Box::new(Cow::Owned(text)))
    }
}

impl std::ops::Deref for Rare {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// The types of [`Scalar`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarKind {
    /// A whole number, of any size.
    Int,
    /// A floating-point number; compared as a number where both sides are finite.
    Float,
    /// A number of a format that knows one kind only (JSON): `1` and `1.0` are equal.
    Number,
    /// A date, with a time or without, as written.
    Date,
    /// An expression of the format's own language, as written: HCL.
    Expression,
    /// Text that its reader expands, as written: `http://${HOST}/` in dotenv without single quotes. Never equal to a
    /// [`Data::String`] of the same text, which is taken literally. In a record it is a string.
    Template,
}

/// An entry of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<'a> {
    /// Its key.
    pub key: Key<'a>,
    /// Where the key stands.
    pub key_span: Span,
    /// What a YAML 1.1 reader takes the key for where that is another one, as [`Node::yaml11`]: `on` is `true` there.
    pub yaml11: Option<Box<Key<'a>>>,
    /// Its value.
    pub value: Node<'a>,
}

impl<'a> Entry<'a> {
    /// An entry whose key every reader takes for the same.
    pub fn new(key: Key<'a>, key_span: Span, value: Node<'a>) -> Entry<'a> {
        Entry { key, key_span, yaml11: None, value }
    }
}

/// A key of a map.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key<'a> {
    /// A string.
    String(Cow<'a, str>),
    /// Anything else, by its type and canonical text: (`int`, `200`), (`bool`, `true`), (`float`, `1.3`).
    Typed(&'static str, Cow<'a, str>),
}

impl Key<'_> {
    /// The key's text, without its type: what a JSON reader would call it.
    pub fn text(&self) -> &str {
        match self {
            Key::String(text) | Key::Typed(_, text) => text,
        }
    }
}

/// One document of a file.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    /// Its value.
    pub root: Node<'a>,
    /// Which it is in the file, from 0, empty documents counted.
    pub index: usize,
    /// By which scheme it is encrypted, in whole or in its values: `sops`, `ansible-vault`, `age`, …
    pub encrypted: Option<&'static str>,
}

impl<'a> Document<'a> {
    fn new(root: Node<'a>, index: usize) -> Document<'a> {
        Document { root, index, encrypted: None }
    }
}

/// What a file says.
#[derive(Clone, Debug, Default)]
pub struct Parsed<'a> {
    /// Its documents; one for formats that know no more.
    pub documents: Vec<Document<'a>>,
    /// What a reviewer should know about how it was read; safe to print.
    pub warnings: Vec<String>,
}

/// Why a text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Where, as far as it is known.
    pub place: Option<Place>,
    /// What was seen and what to do, `;` between them. Made by us: never source text beyond a key's name.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(Place { line, column }) => write!(f, "{line}:{column}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {}

impl Error {
    fn new(place: Place, message: impl Into<String>) -> Error {
        Error { place: Some(place), message: message.into() }
    }

    fn moved(mut self, lines: u32) -> Error {
        if let Some(place) = &mut self.place {
            place.line = place.line.saturating_add(lines);
        }
        self
    }
}

/// A key as an error may name it: quoted, without anything that acts on a reader, at most 60 characters.
fn key_name(key: &str) -> String {
    let short = crate::text::shorten(key, 60);
    format!("`{}`", crate::text::escape(&short))
}

/// The error, or the warning, for a key that stands in one map twice.
fn duplicate_key(key: &str, first: Span, second: Span, options: &Options) -> Result<String, Error> {
    let name = key_name(key);
    if options.allow_duplicate_keys {
        let (first, second) = (first.start.line + options.lines_before, second.start.line + options.lines_before);
        return Ok(format!(
            "the key {name} of line {first} stands in its map again on line {second}; the last one was taken"
        ));
    }
    let first = first.start.line + options.lines_before;
    Err(Error::new(
        second.start,
        format!(
            "the key {name} stands in this map twice, first on line {first}; remove one (readers disagree on which \
             one counts), or pass --allow-duplicate-keys to take the last"
        ),
    ))
}

/// Refuses keys that occur twice, or removes all but the last and says so. Order of first mention is kept.
fn settle_duplicates<'a>(
    entries: &mut Vec<Entry<'a>>,
    options: &Options,
    warnings: &mut Vec<String>,
) -> Result<(), Error> {
    let Some((first, second)) = find_duplicate(entries) else { return Ok(()) };
    if !options.allow_duplicate_keys {
        duplicate_key(entries[second].key.text(), entries[first].key_span, entries[second].key_span, options)?;
    }
    let mut kept: Vec<Entry<'a>> = Vec::with_capacity(entries.len());
    let mut places: std::collections::HashMap<Key<'a>, usize> = std::collections::HashMap::new();
    for entry in entries.drain(..) {
        if let Some(&at) = places.get(&entry.key) {
            warnings.push(duplicate_key(entry.key.text(), kept[at].key_span, entry.key_span, options)?);
            kept[at] = entry;
        } else {
            places.insert(entry.key.clone(), kept.len());
            kept.push(entry);
        }
    }
    *entries = kept;
    Ok(())
}

/// The first pair of entries with one key. Small maps, that is nearly all, are compared without hashing.
fn find_duplicate(entries: &[Entry<'_>]) -> Option<(usize, usize)> {
    if entries.len() <= 12 {
        return entries.iter().enumerate().find_map(|(second, entry)| {
            entries[..second].iter().position(|earlier| earlier.key == entry.key).map(|first| (first, second))
        });
    }
    let mut seen = foldhash::HashMap::with_capacity(entries.len());
    entries.iter().enumerate().find_map(|(at, entry)| seen.insert(&entry.key, at).map(|first| (first, at)))
}
