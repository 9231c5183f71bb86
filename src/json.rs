//! How is JSON written so that nobody acts on it? The one writer of JSON text, for records and for the `json` format.
//!
//! What it writes is plain JSON that reads back to the same value. Beyond what JSON demands it spells as `\u` escapes
//! whatever [`text::is_active`] names, and the second `#` of anything that a CI runner could take for `##[command]` or
//! `##vso[command]`: those parsers search whole lines of a log and know nothing of JSON.

use crate::text;
use std::borrow::Cow;

/// Appends `text` as a JSON string, quotes included.
pub fn write_str(out: &mut String, text: &str) {
    out.push('"');
    let bytes = text.as_bytes();
    let mut done = 0;
    for (at, c) in text.char_indices() {
        let escaped = match c {
            '"' | '\\' => true,
            '#' => closes_command(bytes, at),
            c => text::is_active(c),
        };
        if escaped {
            out.push_str(&text[done..at]);
            write_escape(out, c);
            done = at + c.len_utf8();
        }
    }
    out.push_str(&text[done..]);
    out.push('"');
}

fn write_escape(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str("\\u");
                for shift in [12, 8, 4, 0] {
                    out.push(char::from_digit(u32::from(*unit >> shift) & 0xf, 16).unwrap_or('0'));
                }
            }
        }
    }
}

fn closes_command(bytes: &[u8], at: usize) -> bool {
    at > 0 && bytes[at - 1] == b'#' && bytes.get(at + 1).is_some_and(|b| *b == b'[' || b.is_ascii_alphabetic())
}

/// `text` as a JSON string.
pub fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_str(&mut out, text);
    out
}

/// Makes somebody else's valid JSON as inert as ours, without changing what it says. Outside of strings JSON has no
/// character that this touches, so the text can be worked on without parsing it.
pub fn harden(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let needs = |at: usize, c: char| match c {
        '#' => closes_command(bytes, at),
        ' ' | '\n' | '\r' | '\t' => false,
        c => text::is_active(c),
    };
    if !json.char_indices().any(|(at, c)| needs(at, c)) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for (at, c) in json.char_indices() {
        if needs(at, c) { write_escape(&mut out, c) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Writes one JSON object, field by field, in the order of the calls.
///
/// ```
/// use flecto::json::Object;
/// let mut object = Object::new();
/// object.str("type", "warning").uint("line", 3).raw("value", "[1]");
/// assert_eq!(object.finish(), r#"{"type":"warning","line":3,"value":[1]}"#);
/// ```
#[derive(Debug)]
pub struct Object {
    text: String,
}

impl Default for Object {
    fn default() -> Object {
        Object::new()
    }
}

impl Object {
    /// An object without fields.
    pub fn new() -> Object {
        Object { text: String::from("{") }
    }

    fn key(&mut self, key: &str) -> &mut String {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        write_str(&mut self.text, key);
        self.text.push(':');
        &mut self.text
    }

    /// A string field.
    pub fn str(&mut self, key: &str, value: &str) -> &mut Object {
        write_str(self.key(key), value);
        self
    }

    /// A string field, left out when there is none.
    pub fn opt_str(&mut self, key: &str, value: Option<&str>) -> &mut Object {
        if let Some(value) = value {
            self.str(key, value);
        }
        self
    }

    /// A number field.
    pub fn uint(&mut self, key: &str, value: u64) -> &mut Object {
        let text = value.to_string();
        self.key(key).push_str(&text);
        self
    }

    /// A number field, left out when there is none.
    pub fn opt_uint(&mut self, key: &str, value: Option<u64>) -> &mut Object {
        if let Some(value) = value {
            self.uint(key, value);
        }
        self
    }

    /// A boolean field.
    pub fn bool(&mut self, key: &str, value: bool) -> &mut Object {
        self.key(key).push_str(if value { "true" } else { "false" });
        self
    }

    /// A field whose value is JSON text already.
    pub fn raw(&mut self, key: &str, json: &str) -> &mut Object {
        self.key(key).push_str(json);
        self
    }

    /// A field whose value is JSON text already, left out when there is none.
    pub fn opt_raw(&mut self, key: &str, json: Option<&str>) -> &mut Object {
        if let Some(json) = json {
            self.raw(key, json);
        }
        self
    }

    /// The finished text, without a newline.
    pub fn finish(mut self) -> String {
        self.text.push('}');
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        for text in
            ["", "plain", "a\"b\\c\n\r\t\u{8}\u{0}", "##[error]x ##vso[a]b ###[", "\u{202e}\u{200b}\u{e0041}🙂é"]
        {
            let json = string(text);
            assert_eq!(serde_json::from_str::<String>(&json).ok().as_deref(), Some(text), "{json}");
            assert!(json.chars().all(|c| !text::is_active(c)), "{json}");
            assert!(!json.contains("##[") && !json.contains("##vso["), "{json}");
        }
    }

    #[test]
    fn hardening_keeps_the_meaning() {
        let json = "{\"a\u{202e}\": \"##[x]\",\n \"b\": [1, null]}";
        let hard = harden(json);
        assert!(!hard.contains("##[") && !hard.contains('\u{202e}'));
        let (a, b): (serde_json::Value, serde_json::Value) =
            (serde_json::from_str(json).expect("valid"), serde_json::from_str(&hard).expect("valid"));
        assert_eq!(a, b);
        assert!(matches!(harden("{\"a\":1}"), Cow::Borrowed(_)));
    }
}
