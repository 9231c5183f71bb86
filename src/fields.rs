//! How is a file that a person wrote for flecto read? Strictly: rules, settings and accepted findings know their keys, and
//! a wrong one is named with its place and the key that was probably meant.
//!
//! serde was rejected here: its errors quote values, know no column in YAML, and stop where the person needs the name of
//! the file.

use crate::document::{self, Data, Format, Key, Node, Parsed, Place, Scalar, ScalarKind};
use std::fmt;

/// Why such a file cannot be used: one line, `FILE:LINE:COLUMN: what was seen; what to do`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadFile {
    /// The file's name, as the person knows it.
    pub name: String,
    /// Where in it, as far as it is known.
    pub place: Option<Place>,
    /// What was seen and what to do; `;` between them. Quotes keys, and words from closed lists, never other text.
    pub message: String,
}

impl fmt::Display for BadFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.name)?;
        if let Some(Place { line, column }) = self.place {
            write!(f, "{line}:{column}:")?;
        }
        write!(f, " {}", self.message)
    }
}

impl std::error::Error for BadFile {}

/// The largest such file, in bytes: a hundred times the largest pack that comes with flecto. Reading one stays far below
/// a second whatever is in it.
pub const MAX_BYTES: usize = 1 << 20;

/// Parses the one document of such a file and hands its root to `read`.
///
/// # Errors
/// A file that is too large, does not parse, or has more than one document; and what `read` finds.
pub fn document<T>(
    name: &str,
    format: Format,
    bytes: &[u8],
    read: impl FnOnce(&Source<'_>, &Node<'_>) -> Result<T, BadFile>,
) -> Result<T, BadFile> {
    let source = Source { name };
    if bytes.len() > MAX_BYTES {
        return source.fail(None, "the file is larger than 1 MiB; split it");
    }
    let parsed: Parsed<'_> =
        match document::parse(format, bytes, &document::Options { sealed: true, ..document::Options::default() }) {
            Ok(parsed) => parsed,
            Err(error) => return source.fail(error.place, error.message),
        };
    match parsed.documents.as_slice() {
        [only] => read(&source, &only.root),
        [] => source.fail(None, "the file is empty; write a map"),
        [_, second, ..] => source.fail(Some(second.root.span.start), "a second document; write one a file"),
    }
}

/// Names the file in errors.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The file's name.
    pub name: &'a str,
}

impl Source<'_> {
    /// An error at a place.
    ///
    /// # Errors
    /// Always.
    pub fn fail<T>(&self, place: Option<Place>, message: impl Into<String>) -> Result<T, BadFile> {
        Err(BadFile { name: self.name.to_string(), place, message: message.into() })
    }

    /// An error at a value.
    ///
    /// # Errors
    /// Always.
    pub fn fail_at<T>(&self, node: &Node<'_>, message: impl Into<String>) -> Result<T, BadFile> {
        self.fail(Some(node.span.start), message)
    }

    /// The map that a value must be, its keys all among `known`. `what` names it in errors: `a rule`.
    ///
    /// # Errors
    /// Another value, a key that is not known (with the nearest that is), a key that is no string.
    pub fn fields<'n>(&self, node: &'n Node<'n>, what: &'static str, known: &[&str]) -> Result<Fields<'n>, BadFile> {
        let entries = self.entries(node, what)?;
        for (key, place, _) in &entries {
            if !known.contains(key) {
                return self.fail(Some(*place), unknown("key", key, what, known));
            }
        }
        Ok(Fields { name: self.name.to_string(), what, place: node.span.start, entries })
    }

    /// The map that a value must be, whatever its keys; each with its place.
    ///
    /// # Errors
    /// Another value, a key that is no string.
    pub fn entries<'n>(&self, node: &'n Node<'n>, what: &str) -> Result<Vec<(&'n str, Place, &'n Node<'n>)>, BadFile> {
        let Data::Map(entries) = &node.data else {
            return self.fail_at(node, format!("{} where {what} is expected; write a map", kind(node)));
        };
        let mut out = Vec::with_capacity(entries.len());
        for entry in entries {
            match &entry.key {
                Key::String(key) => out.push((&**key, entry.key_span.start, &entry.value)),
                Key::Typed(..) => {
                    return self.fail(Some(entry.key_span.start), "a key that is no string; put it into quotes");
                }
            }
        }
        Ok(out)
    }

    /// The string that a value must be.
    ///
    /// # Errors
    /// Another value.
    pub fn str<'n>(&self, node: &'n Node<'n>, what: &str) -> Result<&'n str, BadFile> {
        match &node.data {
            Data::String(text) => Ok(text),
            _ => self.fail_at(node, format!("{} where {what} is expected; write a string", kind(node))),
        }
    }

    /// A string, or a list of strings, as a list; each with the node that it stands in.
    ///
    /// # Errors
    /// Another value, an empty list.
    pub fn strs<'n>(&self, node: &'n Node<'n>, what: &str) -> Result<Vec<(&'n str, &'n Node<'n>)>, BadFile> {
        match &node.data {
            Data::List(items) if items.is_empty() => {
                self.fail_at(node, format!("an empty list where {what} is expected; name one or leave the key out"))
            }
            Data::List(items) => items.iter().map(|item| Ok((self.str(item, what)?, item))).collect(),
            _ => Ok(vec![(self.str(node, what)?, node)]),
        }
    }

    /// The word that a value must be, one of `words`.
    ///
    /// # Errors
    /// Another value or word, with the nearest of them.
    pub fn word<'n>(&self, node: &'n Node<'n>, what: &str, words: &[&str]) -> Result<&'n str, BadFile> {
        let text = self.str(node, what)?;
        if words.contains(&text) { Ok(text) } else { self.fail_at(node, unknown("word", text, what, words)) }
    }
}

/// The entries of a map, its keys known.
#[derive(Debug)]
pub struct Fields<'n> {
    name: String,
    what: &'static str,
    place: Place,
    entries: Vec<(&'n str, Place, &'n Node<'n>)>,
}

impl<'n> Fields<'n> {
    /// What stands under `key`.
    pub fn get(&self, key: &str) -> Option<&'n Node<'n>> {
        self.entries.iter().find(|(known, _, _)| *known == key).map(|(_, _, node)| *node)
    }

    /// What must stand under `key`.
    ///
    /// # Errors
    /// Nothing does.
    pub fn need(&self, key: &str) -> Result<&'n Node<'n>, BadFile> {
        self.get(key).ok_or_else(|| BadFile {
            name: self.name.clone(),
            place: Some(self.place),
            message: format!("{} without `{key}`; add it", self.what),
        })
    }
}

/// A value that must be `true` or `false`.
///
/// # Errors
/// Another value.
pub fn bool(source: &Source<'_>, node: &Node<'_>, what: &str) -> Result<bool, BadFile> {
    match &node.data {
        Data::Bool(value) => Ok(*value),
        _ => source.fail_at(node, format!("{} where {what} is expected; write true or false", kind(node))),
    }
}

/// A scalar's text: a string itself, a number, a date or a boolean as written.
pub fn scalar_text<'n>(node: &'n Node<'n>) -> Option<&'n str> {
    match &node.data {
        Data::String(text) => Some(text),
        Data::Typed(scalar @ Scalar { kind: ScalarKind::Int | ScalarKind::Float | ScalarKind::Number, .. }) => {
            Some(scalar.canonical())
        }
        Data::Typed(scalar) => Some(&scalar.source),
        Data::Bool(true) => Some("true"),
        Data::Bool(false) => Some("false"),
        _ => None,
    }
}

/// What a value is, for an error, with its article.
pub fn kind(node: &Node<'_>) -> &'static str {
    match &node.data {
        Data::Null => "nothing",
        Data::Bool(_) => "true or false",
        Data::Typed(Scalar { kind: ScalarKind::Date, .. }) => "a date",
        Data::Typed(Scalar { kind: ScalarKind::Expression, .. }) => "an expression",
        Data::Typed(_) => "a number",
        Data::String(_) => "a string",
        Data::Encrypted(_) => "an encrypted value",
        Data::List(_) => "a list",
        Data::Map(_) => "a map",
        Data::Cycle => "a cycle",
    }
}

/// `unknown key `x` in a rule; did you mean `y`?`, or the list of what is known.
pub fn unknown(noun: &str, seen: &str, what: &str, known: &[&str]) -> String {
    match nearest(seen, known) {
        Some(word) => format!("unknown {noun} `{seen}` in {what}; did you mean `{word}`?"),
        None => format!("unknown {noun} `{seen}` in {what}; known are {}", known.join(", ")),
    }
}

/// The word of `known` that was probably meant.
pub fn nearest<'w>(seen: &str, known: &[&'w str]) -> Option<&'w str> {
    let seen: String = seen.chars().take(64).flat_map(char::to_lowercase).filter(|c| c.is_alphanumeric()).collect();
    let plain = |word: &str| word.to_lowercase().replace(['-', '_'], "");
    let score = |word: &str| strsim::jaro_winkler(&seen, &plain(word));
    let best = known.iter().copied().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    (score(best) >= 0.85).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_a_foreign_one_is_not() {
        let known = ["severity", "message", "fail-on", "id"];
        assert_eq!(nearest("severty", &known), Some("severity"));
        assert_eq!(nearest("failOn", &known), Some("fail-on"));
        assert_eq!(nearest("colour", &known), None);
        assert_eq!(
            unknown("word", "eror", "--fail-on", &["error", "none"]),
            "unknown word `eror` in --fail-on; did you mean `error`?"
        );
    }
}
