//! How does a tree travel? As the values of records: plain JSON where JSON can say it, else an envelope (see
//! [`crate::value`]).

use super::{CYCLE, Data, Entry, Key, Node, Scalar, ScalarKind};
use crate::json;
use crate::value::{ENVELOPE, Value};

/// A scalar that is not a string, as JSON has it.
enum Written<'n> {
    /// A number, by its JSON text.
    Number(&'n str),
    /// A string.
    String(&'n str),
    /// An envelope of this kind around the source text.
    Envelope(&'static str, &'n str),
}

impl Node<'_> {
    /// The value as records have it, tags included.
    pub fn to_value(&self) -> Value {
        match &self.tag {
            None => self.data.to_value(),
            Some(tag) => Value::Map(vec![
                (ENVELOPE.into(), Value::String("tagged".into())),
                ("tag".into(), Value::String(tag.to_string())),
                ("value".into(), self.data.to_value()),
            ]),
        }
    }

    /// Appends [`Node::to_value`] as compact JSON, without building it.
    pub fn write_json(&self, out: &mut String) {
        match &self.tag {
            None => self.data.write_json(out),
            Some(tag) => {
                out.push_str("{\"$flecto\":\"tagged\",\"tag\":");
                json::write_str(out, tag);
                out.push_str(",\"value\":");
                self.data.write_json(out);
                out.push('}');
            }
        }
    }

    /// The word for its type in a note: `string`, `int`, `map`; a tag, where it has one.
    pub fn type_name(&self) -> &str {
        self.tag.as_deref().unwrap_or_else(|| self.data.type_name())
    }
}

impl Data<'_> {
    /// The word for the type in a note.
    pub fn type_name(&self) -> &'static str {
        match self {
            Data::Null => "null",
            Data::Bool(_) => "bool",
            Data::Typed(scalar) => scalar.kind.name(),
            Data::String(_) => "string",
            Data::Encrypted(_) => "encrypted",
            Data::List(_) => "list",
            Data::Map(_) => "map",
            Data::Cycle => "recursive alias",
        }
    }

    /// The value as records have it.
    pub fn to_value(&self) -> Value {
        match self {
            Data::Null => Value::Null,
            Data::Bool(value) => Value::Bool(*value),
            Data::Typed(scalar) => written_value(written(scalar)),
            Data::String(text) | Data::Encrypted(text) => Value::String(text.to_string()),
            Data::Cycle => Value::String(CYCLE.into()),
            Data::List(items) => Value::List(items.iter().map(Node::to_value).collect()),
            Data::Map(entries) if plain(entries) => {
                Value::Map(entries.iter().map(|entry| (entry.key.text().to_string(), entry.value.to_value())).collect())
            }
            Data::Map(entries) => Value::Map(vec![
                (ENVELOPE.into(), Value::String("map".into())),
                (
                    "entries".into(),
                    Value::List(
                        entries
                            .iter()
                            .map(|entry| Value::List(vec![key_value(&entry.key), entry.value.to_value()]))
                            .collect(),
                    ),
                ),
            ]),
        }
    }

    /// Appends [`Data::to_value`] as compact JSON, without building it.
    pub fn write_json(&self, out: &mut String) {
        match self {
            Data::Null => out.push_str("null"),
            Data::Bool(true) => out.push_str("true"),
            Data::Bool(false) => out.push_str("false"),
            Data::Typed(scalar) => match written(scalar) {
                Written::Number(text) => out.push_str(text),
                Written::String(text) => json::write_str(out, text),
                Written::Envelope(kind, text) => {
                    out.push_str("{\"$flecto\":");
                    json::write_str(out, kind);
                    out.push_str(",\"text\":");
                    json::write_str(out, text);
                    out.push('}');
                }
            },
            Data::String(text) | Data::Encrypted(text) => json::write_str(out, text),
            Data::Cycle => json::write_str(out, CYCLE),
            Data::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.write_json(out);
                }
                out.push(']');
            }
            Data::Map(entries) => {
                let plain = plain(entries);
                out.push_str(if plain { "{" } else { "{\"$flecto\":\"map\",\"entries\":[" });
                for (at, entry) in entries.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    if plain {
                        json::write_str(out, entry.key.text());
                        out.push(':');
                        entry.value.write_json(out);
                    } else {
                        out.push('[');
                        key_value(&entry.key).write(out);
                        out.push(',');
                        entry.value.write_json(out);
                        out.push(']');
                    }
                }
                out.push_str(if plain { "}" } else { "]}" });
            }
        }
    }
}

impl ScalarKind {
    /// The word for the kind, in envelopes and notes.
    pub fn name(self) -> &'static str {
        match self {
            ScalarKind::Int => "int",
            ScalarKind::Float => "float",
            ScalarKind::Number => "number",
            ScalarKind::Date => "date",
            ScalarKind::Expression => "expression",
            ScalarKind::Template => "template",
        }
    }
}

/// Whether a map can be a JSON object: no two keys of one text (`200` and `"200"`), and none that makes an envelope of it.
fn plain(entries: &[Entry<'_>]) -> bool {
    let mut typed = entries.iter().filter(|entry| matches!(entry.key, Key::Typed(..))).peekable();
    if typed.peek().is_some() {
        let mut texts = std::collections::HashSet::new();
        if !entries.iter().all(|entry| texts.insert(entry.key.text())) {
            return false;
        }
    }
    entries.iter().all(|entry| entry.key.text() != ENVELOPE)
}

/// A key in the `entries` of a `map` envelope: by its type, so that `200` and `"200"` stay apart.
fn key_value(key: &Key<'_>) -> Value {
    match key {
        Key::String(text) => Value::String(text.to_string()),
        Key::Typed("null", _) => Value::Null,
        Key::Typed("bool", text) => Value::Bool(text == "true"),
        Key::Typed("int" | "float", text) if exact_json_number(text) => Value::Number(text.to_string()),
        Key::Typed(_, text) => Value::Map(vec![
            (ENVELOPE.into(), Value::String("key".into())),
            ("text".into(), Value::String(text.to_string())),
        ]),
    }
}

fn written_value(written: Written<'_>) -> Value {
    match written {
        Written::Number(text) => Value::Number(text.into()),
        Written::String(text) => Value::String(text.into()),
        Written::Envelope(kind, text) => {
            Value::Map(vec![(ENVELOPE.into(), Value::String(kind.into())), ("text".into(), Value::String(text.into()))])
        }
    }
}

fn written<'n>(scalar: &'n Scalar<'_>) -> Written<'n> {
    let (source, canonical) = (scalar.source.as_ref(), scalar.canonical());
    let kind = match scalar.kind {
        // A date is a string to every reader of JSON; where it became one, or was one, a note says so.
        ScalarKind::Template | ScalarKind::Date => return Written::String(source),
        ScalarKind::Expression => return Written::Envelope(scalar.kind.name(), source),
        ScalarKind::Int => "int",
        ScalarKind::Float => "float",
        ScalarKind::Number if canonical.bytes().any(|b| matches!(b, b'.' | b'e' | b'E' | b'n' | b'N' | b'I')) => {
            "float"
        }
        ScalarKind::Number => "int",
    };
    if exact_json_number(source) {
        Written::Number(source)
    } else if exact_json_number(canonical) {
        Written::Number(canonical)
    } else {
        Written::Envelope(kind, if kind == "int" { canonical } else { source })
    }
}

/// Whether the text is a JSON number that a reader with 64-bit integers and doubles, serde_json among them, holds without
/// losing a digit that was written: an integer of 64 bits, or a float of at most 17 significant digits that is neither
/// infinite nor rounded to zero.
fn exact_json_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    let whole = digits(at);
    if whole == 0 || (whole > 1 && bytes[at] == b'0') {
        return false;
    }
    at += whole;
    let mut is_int = true;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return false;
        }
        at += 1 + fraction;
        is_int = false;
    }
    let mantissa = &bytes[..at];
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        let exponent = digits(at);
        if exponent == 0 {
            return false;
        }
        at += exponent;
        is_int = false;
    }
    if at != bytes.len() {
        return false;
    }
    if is_int {
        return text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok();
    }
    let significant: Vec<u8> = mantissa.iter().copied().filter(u8::is_ascii_digit).collect();
    let first = significant.iter().position(|&b| b != b'0').unwrap_or(significant.len());
    let last = significant.iter().rposition(|&b| b != b'0').map_or(first, |at| at + 1);
    let zero = first == significant.len();
    last - first.min(last) <= 17 && text.parse::<f64>().is_ok_and(|value| value.is_finite() && (zero || value != 0.0))
}

#[cfg(test)]
mod tests {
    use crate::document::{Format, Options, parse};

    #[track_caller]
    fn yaml(text: &str) -> String {
        let parsed = parse(Format::Yaml, text.as_bytes(), &Options::default()).expect("valid");
        let root = &parsed.documents[0].root;
        let mut out = String::new();
        root.write_json(&mut out);
        assert_eq!(out, root.to_value().to_json(), "both writers agree");
        assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok(), "{out}");
        out
    }

    #[test]
    fn numbers_stay_as_written_where_json_can_hold_them() {
        for (source, json) in [
            ("10", "10"),
            ("1.048576e+07", "1.048576e+07"),
            ("8520e10", "8520e10"),
            ("1e3", "1e3"),
            ("1000.0", "1000.0"),
            ("0x1F", "31"),
            ("0o17", "15"),
            ("+12", "12"),
            ("012", "12"),
            ("-0", "-0"),
            ("18446744073709551615", "18446744073709551615"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("18446744073709551616", r#"{"$flecto":"int","text":"18446744073709551616"}"#),
            ("0xFFFFFFFFFFFFFFFFFF", r#"{"$flecto":"int","text":"4722366482869645213695"}"#),
            ("12e4567", r#"{"$flecto":"float","text":"12e4567"}"#),
            ("1e-999", r#"{"$flecto":"float","text":"1e-999"}"#),
            ("0e-999", "0e-999"),
            ("0.1234567890123456789", r#"{"$flecto":"float","text":"0.1234567890123456789"}"#),
            (".5", r#"{"$flecto":"float","text":".5"}"#),
            (".inf", r#"{"$flecto":"float","text":".inf"}"#),
            (".NaN", r#"{"$flecto":"float","text":".NaN"}"#),
        ] {
            assert_eq!(yaml(source), json, "{source}");
        }
    }

    #[test]
    fn maps_are_objects_unless_keys_would_be_lost() {
        assert_eq!(yaml("{200: a, true: b, ~: c, x: d}"), r#"{"200":"a","true":"b","null":"c","x":"d"}"#);
        assert_eq!(
            yaml("{200: a, '200': b, true: c}"),
            r#"{"$flecto":"map","entries":[[200,"a"],["200","b"],[true,"c"]]}"#
        );
        assert_eq!(
            yaml("{$flecto: date, text: x}"),
            r#"{"$flecto":"map","entries":[["$flecto","date"],["text","x"]]}"#
        );
        assert_eq!(
            yaml("!secret {a: !Ref b}"),
            r#"{"$flecto":"tagged","tag":"!secret","value":{"a":{"$flecto":"tagged","tag":"!Ref","value":"b"}}}"#
        );
    }

    #[test]
    fn absent_null_empty_and_zero_differ() {
        assert_eq!(
            yaml("{a: , b: ~, c: '', d: 0, e: false, f: {}, g: []}"),
            r#"{"a":null,"b":null,"c":"","d":0,"e":false,"f":{},"g":[]}"#
        );
    }
}
