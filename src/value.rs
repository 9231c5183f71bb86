//! What can a config hold? A value as it travels in records: JSON, with map order kept and numbers as text.
//!
//! `null`, absent, `""`, `0`, `false` and `{}` are six different things; absent is `Option::None` around a [`Value`].
//! A number keeps its text, because `1e3`, `1000.0` and `12345678901234567890123` are what a person wrote and `f64` is
//! not. serde_json's own `Value` was rejected: it sorts maps or changes every map of the program, drops all but the last
//! of two equal keys, and rounds numbers.
//!
//! What JSON cannot say is in an *envelope*: `{"$flecto":"int","text":"12345678901234567890123"}`. See [`Envelope`].

use crate::json;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The key that makes a map an envelope.
pub const ENVELOPE: &str = "$flecto";

/// What stands in the place of a value that was encrypted and is now in the clear.
pub const WITHHELD: &str = "<no longer encrypted>";

/// A value of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number, as its JSON text.
    Number(String),
    /// A string, decoded.
    String(String),
    /// A list.
    List(Vec<Value>),
    /// A map in the order of the record. A key occurs once in what flecto writes.
    Map(Vec<(String, Value)>),
}

/// What an envelope holds. Written as `{"$flecto":KIND,"text":…}`, with `tag` and `value` where the kind needs them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Envelope<'a> {
    /// `int`, `float`, `date`, `datetime`, `bytes`, `key`, …: a scalar by its source text.
    Text {
        /// The kind, as it stands in the record.
        kind: &'a str,
        /// The source text.
        text: &'a str,
    },
    /// `tagged`: a value with a tag that YAML does not define, `!secret`, `!Ref`.
    Tagged {
        /// The tag, `!` included.
        tag: &'a str,
        /// What is tagged.
        value: &'a Value,
    },
    /// `map`: a user's map that has the key `$flecto` itself, or two keys of the same text. Its `entries` are pairs.
    Entries(&'a [Value]),
    /// `long`: the stand-in of a string over [`crate::limits::MAX_STRING`]: its length in bytes and its digest.
    Long {
        /// What a person is told: `70000000 bytes, sha256 0123456789ab`.
        text: &'a str,
    },
}

impl Value {
    /// Reads a value that serde_json has found to be valid JSON.
    ///
    /// Linear in the text and without recursion limits of its own: a record of flecto nests at most
    /// [`crate::limits::MAX_DEPTH`] deep, and another program's is refused beyond twice that.
    ///
    /// # Errors
    /// Text that is nested too deep.
    pub fn from_raw(raw: &RawValue) -> Result<Value, TooDeep> {
        let mut walker = Walker { text: raw.get(), at: 0, depth: 0 };
        walker.value()
    }

    /// Reads JSON text.
    ///
    /// # Errors
    /// Text that is no JSON, or nested too deep. The error never quotes the text.
    pub fn parse(text: &str) -> Result<Value, TooDeep> {
        let raw: &RawValue = serde_json::from_str(text).map_err(|_| TooDeep)?;
        Value::from_raw(raw)
    }

    /// Appends the value as compact JSON (see [`crate::json`] for what is escaped).
    pub fn write(&self, out: &mut String) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(true) => out.push_str("true"),
            Value::Bool(false) => out.push_str("false"),
            Value::Number(text) => out.push_str(text),
            Value::String(text) => json::write_str(out, text),
            Value::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Value::Map(entries) => {
                out.push('{');
                for (at, (key, value)) in entries.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    json::write_str(out, key);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// The value as compact JSON.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// What stands under `key`, in a map.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Map(entries) => entries.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The envelope that this map is, if it is one.
    pub fn envelope(&self) -> Option<Envelope<'_>> {
        let Value::Map(entries) = self else { return None };
        let (first, kind) = entries.first()?;
        if first != ENVELOPE {
            return None;
        }
        let text = self.get("text").and_then(Value::as_str);
        match (kind.as_str()?, text) {
            ("tagged", _) => Some(Envelope::Tagged { tag: self.get("tag")?.as_str()?, value: self.get("value")? }),
            ("map", _) => match self.get("entries")? {
                Value::List(pairs) => Some(Envelope::Entries(pairs)),
                _ => None,
            },
            ("long", Some(text)) => Some(Envelope::Long { text }),
            (kind, Some(text)) => Some(Envelope::Text { kind, text }),
            _ => None,
        }
    }

    /// The scalar as one word for a path, a message or a comparison: a string itself, everything else as its source or
    /// JSON text. Not escaped for display.
    pub fn to_text(&self) -> Cow<'_, str> {
        match self {
            Value::String(text) => Cow::Borrowed(text),
            Value::Number(text) => Cow::Borrowed(text),
            Value::Null => Cow::Borrowed("null"),
            Value::Bool(value) => Cow::Borrowed(if *value { "true" } else { "false" }),
            other => match other.envelope() {
                Some(Envelope::Text { text, .. } | Envelope::Long { text }) => Cow::Borrowed(text),
                _ => Cow::Owned(other.to_json()),
            },
        }
    }

    /// The number that the value is, also from an `int` or `float` envelope.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Number(text) => text.parse().ok(),
            other => match other.envelope() {
                Some(Envelope::Text { kind: "int" | "float", text }) => text.parse().ok(),
                _ => None,
            },
        }
    }
}

/// A value that cannot be read: no JSON, or nested deeper than flecto writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooDeep;

impl std::fmt::Display for TooDeep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value is no JSON or is nested too deep")
    }
}

impl std::error::Error for TooDeep {}

/// Twice what documents may have: a value may stand inside envelopes.
const MAX_RECORD_DEPTH: usize = 2 * crate::limits::MAX_DEPTH + 16;

/// Walks JSON that is known to be valid. The grammar is checked by serde_json, strings are decoded by it; what is left
/// is to find where each value ends.
struct Walker<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Walker<'_> {
    fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | b':')) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or(0)
    }

    fn value(&mut self) -> Result<Value, TooDeep> {
        match self.peek() {
            b'n' => self.word(4, Value::Null),
            b't' => self.word(4, Value::Bool(true)),
            b'f' => self.word(5, Value::Bool(false)),
            b'"' => Ok(Value::String(self.string()?)),
            b'[' => self.nested(|walker| {
                let mut items = Vec::new();
                while walker.peek() != b']' {
                    items.push(walker.value()?);
                }
                Ok(Value::List(items))
            }),
            b'{' => self.nested(|walker| {
                let mut entries = Vec::new();
                while walker.peek() != b'}' {
                    let key = walker.string()?;
                    entries.push((key, walker.value()?));
                }
                Ok(Value::Map(entries))
            }),
            _ => {
                let rest = &self.text[self.at..];
                let length =
                    rest.find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E')).unwrap_or(rest.len());
                if length == 0 {
                    return Err(TooDeep);
                }
                self.at += length;
                Ok(Value::Number(rest[..length].to_string()))
            }
        }
    }

    fn word(&mut self, length: usize, value: Value) -> Result<Value, TooDeep> {
        self.at += length;
        Ok(value)
    }

    fn nested(&mut self, inside: impl FnOnce(&mut Self) -> Result<Value, TooDeep>) -> Result<Value, TooDeep> {
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_RECORD_DEPTH {
            return Err(TooDeep);
        }
        let value = inside(self)?;
        self.depth -= 1;
        self.at += 1;
        Ok(value)
    }

    fn string(&mut self) -> Result<String, TooDeep> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut at = start + 1;
        let mut plain = true;
        loop {
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    plain = false;
                    at += 2;
                }
                Some(_) => at += 1,
                None => return Err(TooDeep),
            }
        }
        self.at = at + 1;
        if plain {
            return Ok(self.text[start + 1..at].to_string());
        }
        serde_json::from_str(&self.text[start..=at]).map_err(|_| TooDeep)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_numbers_and_nothing_survive_the_round_trip() {
        let text = r#"{"b":1e3,"a":[1000.0,12345678901234567890123,-0],"":null,"x":{"$flecto":"int","text":"1"},"e":{},"s":"a\"\\\nb"}"#;
        let value = Value::parse(text).expect("valid");
        assert_eq!(value.to_json(), text);
    }

    #[test]
    fn spaces_between_tokens_are_read() {
        let value = Value::parse(" { \"a\" : [ 1 , 2 ] , \"b\" : \"x, y: z\" } ").expect("valid");
        assert_eq!(value.to_json(), r#"{"a":[1,2],"b":"x, y: z"}"#);
    }

    #[test]
    fn an_envelope_is_recognised_by_its_first_key() {
        let value = Value::parse(r#"{"$flecto":"float","text":".5e1"}"#).expect("valid");
        assert_eq!(value.envelope(), Some(Envelope::Text { kind: "float", text: ".5e1" }));
        assert_eq!(value.as_f64(), Some(5.0));
        assert_eq!(Value::parse(r#"{"a":1,"$flecto":"float"}"#).expect("valid").envelope(), None);
    }

    #[test]
    fn deep_values_are_read_and_bombs_refused() {
        let deep = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
        assert!(Value::parse(&deep(255)).is_ok());
        assert!(Value::parse(&deep(100_000)).is_err());
    }
}
