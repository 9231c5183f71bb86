//! What does this text say? Every format becomes the same tree, each value with its place in the source.
//!
//! One file a format; each is a function from text to [`Parsed`], and [`parse`] is the one door. A tenth format joins by
//! a file, a line in [`Format`] and a line in [`parse`], and touches no other.
//!
//! Nothing here reads a file, expands a variable or decrypts. Errors are made from kind and position: the parsers' own
//! messages quote the source, and the source may be a secret.

use std::borrow::Cow;
use std::fmt;

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// YAML, one document or many.
    Yaml,
    /// JSON, with comments and trailing commas where the name or the content says so.
    Json,
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
#[derive(Clone, Debug)]
pub struct Node<'a> {
    /// What it is.
    pub data: Data<'a>,
    /// A tag that the format does not define itself, `!` included: `!secret`, `!Ref`. Part of the value.
    pub tag: Option<Cow<'a, str>>,
    /// What a YAML 1.1 reader sees where that is something else: `no` is `false` there. `None` where both readings agree,
    /// and in documents that are read as 1.1 in the first place.
    pub yaml11: Option<Box<Data<'a>>>,
    /// Where it stands.
    pub span: Span,
}

/// What a value is.
#[derive(Clone, Debug)]
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
    /// As JSON or a comparison wants it: decimal digits for an integer of any base, the source for the others.
    pub canonical: Cow<'a, str>,
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
}

/// An entry of a map.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// Its key.
    pub key: Key<'a>,
    /// Where the key stands.
    pub key_span: Span,
    /// Its value.
    pub value: Node<'a>,
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
