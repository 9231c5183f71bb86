//! How is a value shown to a person? On one line, told apart from its look-alikes, inert, and never longer than fits.
//!
//! Scalars read as JSON writes them, so that `"5"` and `5` differ. What JSON cannot say reads as in the file: a big number,
//! a date, `!secret x`. What flecto put in the place of a value stands without quotes: `***`, `<encrypted:sops:…>`. A
//! subtree is compact JSON of the same parts. Characters that act are spelled (`\u{200b}`), as everywhere in text.

use crate::limits::SHOWN_VALUE;
use crate::record::Change;
use crate::text;
use crate::value::{Envelope, Value, WITHHELD};

/// A value for one line of text: escaped, and shortened in the middle when it has more than `max` characters.
pub(super) fn within(value: &Value, max: usize) -> String {
    let (shown, length) = written(value, &JSON);
    text::escape(&shorten(shown, max, length)).into_owned()
}

/// A value for one line of text, all of it.
pub(super) fn whole(value: &Value) -> String {
    within(value, usize::MAX)
}

/// The sides of a change that there are, each as [`within`] shows it, but where that would leave out what differs: then each
/// is what stands around the first difference.
pub(super) fn sides(change: &Change) -> (Option<String>, Option<String>) {
    shortened(change, &JSON, |shown| text::escape(&shown).into_owned())
}

/// As [`sides`], for cells of a table whose characters are all escaped by the table's own means. A string has its quotes, and
/// inside of them it is what the file says: a backslash is one, a line end is `␊`.
pub(super) fn cell_sides(change: &Change) -> (Option<String>, Option<String>) {
    shortened(change, &PLAIN, |shown| layout_marks(&shown))
}

/// Line ends and tabs as marks, everything else that acts as a visible escape.
pub(super) fn layout_marks(text: &str) -> String {
    let marked: String = text
        .chars()
        .map(|c| match c {
            '\n' => '␊',
            '\r' => '␍',
            '\t' => '␉',
            c => c,
        })
        .collect();
    text::spelled(&marked).into_owned()
}

/// How a string stands between its quotes.
struct Quoting {
    escapes: bool,
}

const JSON: Quoting = Quoting { escapes: true };
const PLAIN: Quoting = Quoting { escapes: false };

fn written(value: &Value, quoting: &Quoting) -> (String, usize) {
    let mut out = String::new();
    quoting.write(value, &mut out);
    let length = match value {
        Value::String(text) => text.chars().count(),
        _ => out.chars().count(),
    };
    (out, length)
}

/// Both ends of a long text, and how long it was.
fn shorten(shown: String, max: usize, length: usize) -> String {
    if shown.len() <= max || shown.chars().count() <= max {
        return shown;
    }
    let half = max / 2;
    let head = shown.char_indices().nth(half).map_or(shown.len(), |(at, _)| at);
    let tail = shown.char_indices().nth_back(half.saturating_sub(1)).map_or(0, |(at, _)| at);
    format!("{}…{} [{} characters]", &shown[..head], &shown[tail..], length)
}

/// Characters before the first difference that are shown with it.
const CONTEXT: usize = 24;

fn shortened(change: &Change, quoting: &Quoting, finish: fn(String) -> String) -> (Option<String>, Option<String>) {
    let side = |value: &Option<Value>| value.as_ref().map(|value| written(value, quoting));
    let (before, after) = (side(&change.before), side(&change.after));
    let start = match (&before, &after) {
        (Some((before, _)), Some((after, _))) => hidden_difference(before, after),
        _ => None,
    };
    let side = |side: Option<(String, usize)>| {
        let (shown, length) = side?;
        Some(finish(match start {
            Some(start) => around(&shown, start, length),
            None => shorten(shown, SHOWN_VALUE, length),
        }))
    };
    (side(before), side(after))
}

/// Where to begin so that the first difference is seen, if [`shorten`] would leave it out on a side.
fn hidden_difference(before: &str, after: &str) -> Option<usize> {
    if before.len().max(after.len()) <= SHOWN_VALUE {
        return None;
    }
    let same = before.chars().zip(after.chars()).take_while(|(a, b)| a == b).count();
    let half = SHOWN_VALUE / 2;
    let is_kept = |text: &str| {
        let length = text.chars().count();
        length <= SHOWN_VALUE || same < half || same + half > length
    };
    (!is_kept(before) || !is_kept(after)).then(|| same.saturating_sub(CONTEXT))
}

/// As much of a text as is shown of any, from a character on, and how long it was.
fn around(shown: &str, start: usize, length: usize) -> String {
    let mut rest = shown.chars().skip(start);
    let part: String = rest.by_ref().take(SHOWN_VALUE).collect();
    let (before, after) = (if start > 0 { "…" } else { "" }, if rest.next().is_some() { "…" } else { "" });
    format!("{before}{part}{after} [{length} characters]")
}

impl Quoting {
    fn write(&self, value: &Value, out: &mut String) {
        match value {
            Value::Null => out.push_str("null"),
            Value::Bool(true) => out.push_str("true"),
            Value::Bool(false) => out.push_str("false"),
            Value::Number(text) => out.push_str(text),
            Value::String(text) if is_sentinel(text) => out.push_str(text),
            Value::String(text) => self.quote(text, out),
            Value::List(items) => self.list(items, out),
            Value::Map(entries) => match value.envelope() {
                Some(envelope) => self.envelope(&envelope, out),
                None => {
                    out.push('{');
                    for (at, (key, value)) in entries.iter().enumerate() {
                        if at > 0 {
                            out.push(',');
                        }
                        self.quote(key, out);
                        out.push(':');
                        self.write(value, out);
                    }
                    out.push('}');
                }
            },
        }
    }

    fn list(&self, items: &[Value], out: &mut String) {
        out.push('[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            self.write(item, out);
        }
        out.push(']');
    }

    fn envelope(&self, envelope: &Envelope<'_>, out: &mut String) {
        match envelope {
            Envelope::Text { text, .. } => out.push_str(text),
            Envelope::Tagged { tag, value } => {
                out.push_str(tag);
                out.push(' ');
                match value {
                    Value::String(text) if is_word(text) => out.push_str(text),
                    other => self.write(other, out),
                }
            }
            Envelope::Entries(pairs) => {
                out.push('{');
                for (at, pair) in pairs.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    match pair {
                        Value::List(both) if both.len() == 2 => {
                            self.write(&both[0], out);
                            out.push(':');
                            self.write(&both[1], out);
                        }
                        other => self.write(other, out),
                    }
                }
                out.push('}');
            }
            Envelope::Long { text } => {
                out.push('<');
                out.push_str(text);
                out.push('>');
            }
        }
    }

    /// Only what would end the string is escaped here; characters that act are spelled by [`text::escape`] afterwards.
    fn quote(&self, text: &str, out: &mut String) {
        out.push('"');
        for c in text.chars() {
            if self.escapes && matches!(c, '"' | '\\') {
                out.push('\\');
            }
            out.push(c);
        }
        out.push('"');
    }
}

/// Whether flecto put this text in the place of a value.
pub(super) fn is_sentinel(text: &str) -> bool {
    text == "***"
        || text == WITHHELD
        || (text.starts_with("<encrypted:") && text.ends_with('>') && !text[1..text.len() - 1].contains(['<', '>']))
        || (text.starts_with("[REDACTED:") && text.ends_with(']') && !text[1..text.len() - 1].contains(['[', ']']))
}

/// Whether a tagged string can stand without quotes and not be taken for anything else.
fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '/' | '.'))
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '.' | '-'))
        && !matches!(text, "true" | "false" | "null")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(json: &str) -> String {
        within(&Value::parse(json).expect("JSON"), SHOWN_VALUE)
    }

    #[test]
    fn look_alikes_differ() {
        for (json, text) in [
            ("5", "5"),
            (r#""5""#, r#""5""#),
            ("null", "null"),
            (r#""null""#, r#""null""#),
            (r#""""#, r#""""#),
            ("{}", "{}"),
            (r#""a\"b\\c""#, r#""a\"b\\c""#),
            (r#""***""#, "***"),
            (r#""<encrypted:sops:0123456789ab>""#, "<encrypted:sops:0123456789ab>"),
            (r#""<no longer encrypted>""#, "<no longer encrypted>"),
            (r#""x [REDACTED:a]""#, r#""x [REDACTED:a]""#),
            (r#"{"$flecto":"int","text":"12345678901234567890123"}"#, "12345678901234567890123"),
            (r#"{"$flecto":"date","text":"2033-12-20"}"#, "2033-12-20"),
            (r#"{"$flecto":"tagged","tag":"!secret","value":"x"}"#, "!secret x"),
            (r#"{"$flecto":"tagged","tag":"!a","value":"5"}"#, r#"!a "5""#),
            (r#"{"$flecto":"map","entries":[["a",1],["a",2]]}"#, r#"{"a":1,"a":2}"#),
            (
                r#"{"a":[1,{"$flecto":"float","text":".5"}],"p":"***","z":"\u200b##[x]"}"#,
                r#"{"a":[1,.5],"p":***,"z":"\u{200b}#\#[x]"}"#,
            ),
        ] {
            assert_eq!(shown(json), text);
        }
    }

    #[test]
    fn a_difference_in_the_middle_of_long_values_is_shown() {
        let pair = |before: &str, after: &str| {
            let line = format!(
                r#"{{"type":"change","file":"f","path":"p","op":"changed","before":{before},"after":{after}}}"#
            );
            let record = serde_json::from_str(&line).expect("a record");
            let (before, after) = sides(&Change::from_record(&record).expect("a change"));
            (before.expect("a side"), after.expect("a side"))
        };
        let text = |middle: &str| format!("\"{}{middle}{}\"", "a".repeat(300), "z".repeat(300));
        let (old, new) = pair(&text("5"), &text("20"));
        let around = |middle: &str, left: usize| {
            format!("…{}{middle}{}… [{} characters]", "a".repeat(CONTEXT), "z".repeat(left), 600 + middle.len())
        };
        assert_eq!(old, around("5", SHOWN_VALUE - CONTEXT - 1));
        assert_eq!(new, around("20", SHOWN_VALUE - CONTEXT - 2));
        // At either end it is seen as it is.
        let (old, new) = (format!("\"1{}\"", "a".repeat(300)), format!("\"2{}\"", "a".repeat(300)));
        assert_eq!(pair(&old, &new), (shown(&old), shown(&new)));
        // One side short, the other grown in its middle.
        let (old, new) = pair(&text(""), &text(&"é".repeat(500)));
        assert!(old.starts_with("…aaaa") && old.contains("az") && new.contains("aé"), "{old} {new}");
        assert_eq!(pair("5", "\"5\""), ("5".to_string(), "\"5\"".to_string()));
    }

    #[test]
    fn a_long_value_shows_both_ends_and_its_length() {
        let text = shown(&format!("\"{}z\"", "é".repeat(200)));
        assert_eq!(text, format!("\"{}…{}z\" [201 characters]", "é".repeat(59), "é".repeat(58)));
        let exact = "a".repeat(SHOWN_VALUE - 2);
        assert_eq!(shown(&format!("\"{exact}\"")), format!("\"{exact}\""));
    }
}
