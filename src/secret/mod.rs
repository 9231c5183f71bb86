//! Does this look like a secret? The one classifier: for the mask, for the rules that say so, and for the payload.
//!
//! What decides is called evidence ([`By`]), and the order in which it is asked for is the order of its trust: references
//! are kept; published token formats and what containers (URLs, connection strings, command lines, …) name as secret lose
//! their smallest span; a value under a key that names a secret is hidden whole; last comes a small test for opaque text.

mod masker;

use crate::path::{Path, Segment};
use crate::value::Value;
pub use masker::{MaskError, Masked, Masker, Options};
use std::borrow::Cow;
use std::fmt;

/// What stands in the place of a hidden value that has no published format.
pub const MASK: &str = "***";

/// Where a value stands, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The file's name.
    pub file: Option<&'a str>,
    /// What the file is: `kubernetes`, `compose`, … (the field `kind` of its `file` record).
    pub kind: Option<&'a str>,
    /// The document in the file: `Secret/prod/db`.
    pub document: Option<&'a str>,
    /// Where in the document.
    pub path: &'a Path,
}

/// What kind of evidence decided that a value is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum By {
    /// The name of its key.
    Key,
    /// A token format that its provider published.
    Format,
    /// The grammar of the string that it is in: a URL, a connection string, a command line.
    Container,
    /// A value beside it: `{name: DB_PASSWORD, value: …}`.
    Sibling,
    /// The kind of document: the data of a Kubernetes Secret.
    Document,
    /// It looks random and like nothing that is public.
    Opaque,
    /// It was hidden elsewhere in the same file.
    Propagated,
    /// The operator said so (`--mask`).
    Operator,
}

impl By {
    /// The word in a record.
    pub fn as_str(self) -> &'static str {
        match self {
            By::Key => "key",
            By::Format => "format",
            By::Container => "container",
            By::Sibling => "sibling",
            By::Document => "document",
            By::Opaque => "opaque",
            By::Propagated => "propagated",
            By::Operator => "operator",
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a value counts as a secret. Never says the value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Evidence {
    /// What decided.
    pub by: By,
    /// The word or the rule: `password`, `github-token`, `url userinfo`.
    pub word: String,
}

/// Whether a value, or anything inside it, is a secret, and what says so. Values that are masked already, references
/// (`${DB_PASSWORD}`) and encrypted sentinels are none.
pub fn inspect(place: &Place<'_>, value: &Value) -> Option<Evidence> {
    let word = secret_word(place.path)?;
    match value {
        Value::String(text) if !text.is_empty() && text != MASK => Some(Evidence { by: By::Key, word }),
        _ => None,
    }
}

/// Whether the last name of a path is that of a secret, whatever stands there.
pub fn is_secret_key(path: &Path) -> bool {
    secret_word(path).is_some()
}

/// Free text (a message, a file name, a note) with everything hidden that is a secret by itself.
pub fn mask_text(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

fn secret_word(path: &Path) -> Option<String> {
    let name = path.0.iter().rev().find_map(|segment| match segment {
        Segment::Key(name) | Segment::Entry { name, .. } => Some(name.to_lowercase()),
        _ => None,
    })?;
    let word = ["password", "secret", "token", "api_key", "apikey"].into_iter().find(|word| name.ends_with(word))?;
    Some(word.to_string())
}
