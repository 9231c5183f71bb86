//! Does this look like a secret? The one classifier: for the mask, for the rules that say so, and for the payload.
//!
//! What decides is called evidence ([`By`]), and the order in which it is asked for is the order of its trust: references
//! are kept; published token formats and what containers (URLs, connection strings, command lines, …) name as secret lose
//! their smallest span; a value under a key that names a secret is hidden whole; last comes a small test for opaque text.
//!
//! | module | its question |
//! |---|---|
//! | `words` | which words in a key's name say that its value is a secret? |
//! | `formats` | which tokens say themselves what they are? |
//! | `reading` | can this value be a secret at all? |
//! | `url`, `accounts`, `pairs`, `command`, `calls`, `lines`, `devices`, `phrases`, `prompts`, `tables`, `terms`, `markup`, `outline` | what in such a text is secret? |
//! | `opaque` | does this word look random? |
//! | `scan` | what in a text is secret, by all of these? |
//! | `context` | what does the place of a value say? |
//! | `value` | how does a value lose its secrets? |
//! | `spread` | where else does a hidden value stand? |
//! | `memory` | what was found out about this text before? |
//! | `masker` | how does a stream of records lose its secrets? |
//!
//! Every part is linear in its input; what cannot be looked into (nested too deep) is hidden whole.

mod accounts;
mod calls;
mod command;
mod context;
mod devices;
mod formats;
mod lines;
mod markup;
mod masker;
mod memory;
mod opaque;
mod outline;
mod pairs;
mod phrases;
mod prompts;
mod reading;
mod scan;
mod spread;
mod tables;
mod terms;
mod url;
mod value;
mod words;

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

impl Evidence {
    /// Whether the secret stands where an address, or a pair of user and password, has its own: no guess.
    pub fn of_address(&self) -> bool {
        matches!(self.word.as_str(), "url userinfo" | "credentials" | "user and password")
    }
}

/// Whether a value, or anything inside it, is a secret, and what says so first. Values that are masked already, references
/// (`${DB_PASSWORD}`) and encrypted sentinels are none.
///
/// ```
/// use flecto::{path::Path, secret::{self, By, Place}, value::Value};
/// let path = Path::parse("db.url").expect("a path");
/// let place = Place { file: None, kind: None, document: None, path: &path };
/// let found = secret::inspect(&place, &Value::String("postgres://app:hunter2@db.internal/app".into()));
/// assert_eq!(found.map(|found| found.by), Some(By::Container));
/// assert_eq!(secret::inspect(&place, &Value::String("postgres://app:${PW}@db.internal/app".into())), None);
/// ```
pub fn inspect(place: &Place<'_>, value: &Value) -> Option<Evidence> {
    let mut walk = value::Walk::default();
    walk.value(&context::Context::at(place), value)?;
    walk.hits.into_iter().next().map(|hit| hit.evidence)
}

/// What [`inspect`] finds in the new value of a change, less what the old value held already: a password that stays in an
/// address whose database changes is no news. Both values stand at the same place.
pub fn inspect_new(place: &Place<'_>, before: Option<&Value>, after: &Value) -> Option<Evidence> {
    let hits = |value| {
        let mut walk = value::Walk::default();
        walk.value(&context::Context::at(place), value).map(|_| walk.hits)
    };
    let found = hits(after).filter(|found| !found.is_empty())?;
    let known = before.and_then(hits).unwrap_or_default();
    found.into_iter().find(|hit| !known.iter().any(|old| old.hidden == hit.hidden)).map(|hit| hit.evidence)
}

/// Whether the last name of a path is that of a secret, whatever stands there.
///
/// ```
/// use flecto::{path::Path, secret::is_secret_key};
/// assert!(is_secret_key(&Path::parse("db.adminPassword").expect("a path")));
/// assert!(!is_secret_key(&Path::parse("db.password_min_length").expect("a path")));
/// ```
pub fn is_secret_key(path: &Path) -> bool {
    let name = path.0.iter().rev().find_map(|segment| match segment {
        Segment::Key(name) | Segment::Entry { name, .. } | Segment::Typed(name) => Some(name),
        Segment::Index(_) | Segment::Item(_) | Segment::Inner(_) => None,
    });
    name.and_then(|name| words::named(name.trim_start_matches('-')))
        .is_some_and(|named| named.strength > words::Strength::Weak)
}

/// Free text (a message, a file name, a note) with everything hidden that is a secret by itself. Borrowed when there is nothing.
///
/// ```
/// use flecto::secret::mask_text;
/// assert_eq!(mask_text("see redis://:hunter2@cache/0"), "see redis://:***@cache/0");
/// assert_eq!(mask_text("nothing to see"), "nothing to see");
/// ```
pub fn mask_text(text: &str) -> Cow<'_, str> {
    let mut walk = value::Walk::default();
    match walk.string(&context::Context::root(), text) {
        Some(masked) => Cow::Owned(masked),
        None => Cow::Borrowed(text),
    }
}
