//! Where else does a hidden value stand? Remembers what was hidden in one file, finds it again as a whole token, also in its base64, percent
//! and JSON-escaped forms, and says whether it survived.

use super::value::Names;
use super::{MASK, opaque, reading};
use crate::limits::MASK_PROPAGATE;
use crate::value::Value;
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use std::collections::{BTreeMap, BTreeSet};

/// How many different values of one file are remembered; a file with more secrets than this is a dump of them, and each is
/// hidden where it stands all the same.
const MAX_VALUES: usize = 50_000;

/// Longer values are found by their beginning: enough to tell them from anything else, and bounded for the automaton.
const MAX_NEEDLE: usize = 256;

/// What was hidden in one file.
#[derive(Debug, Default)]
pub(super) struct Spread {
    /// Values long enough to be found anywhere.
    values: BTreeSet<String>,
    /// All values by the path that they stood at, for sentences about that path.
    near: BTreeMap<String, BTreeSet<String>>,
    bytes: usize,
    needles: Vec<Needle>,
    automaton: Option<AhoCorasick>,
    /// Something was added since the automaton was built.
    stale: bool,
}

#[derive(Clone, Debug)]
struct Needle {
    /// The text, of which the automaton knows the beginning.
    text: String,
}

impl Spread {
    /// Remembers a hidden value.
    pub(super) fn add(&mut self, hidden: &str, path: Option<&str>) {
        let hidden = hidden.trim();
        // What a mask was left in is no secret's text, and would be another one the next time.
        let marked = hidden.contains(MASK) || hidden.contains("[REDACTED");
        if marked || hidden.is_empty() || self.bytes > 64 << 20 || self.values.len() > MAX_VALUES {
            return;
        }
        if let Some(path) = path
            && hidden.len() >= 3
            && hidden.len() <= MAX_NEEDLE
        {
            let known = self.near.entry(path.to_string()).or_default();
            if known.len() < 64 {
                known.insert(hidden.to_string());
            }
        }
        if hidden.chars().count() < MASK_PROPAGATE || is_common(hidden) {
            return;
        }
        if self.values.insert(hidden.to_string()) {
            self.bytes += hidden.len();
            self.stale = true;
        }
    }

    /// Makes ready to search.
    pub(super) fn prepare(&mut self) {
        if !self.stale {
            return;
        }
        self.stale = false;
        let mut needles: Vec<Needle> = Vec::new();
        for value in &self.values {
            for text in forms(value) {
                needles.push(Needle { text });
            }
        }
        let starts = needles.iter().map(|needle| {
            let end = super::formats::floor(&needle.text, MAX_NEEDLE);
            &needle.text[..end]
        });
        self.automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::LeftmostLongest)
            .build(starts)
            .ok();
        self.needles = needles;
    }

    /// Whether nothing is remembered.
    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty() && self.near.is_empty()
    }

    /// Whether a text holds a hidden value as a whole token; also a short one of the same path, when there is one.
    pub(super) fn occurs(&self, text: &str, path: Option<&str>) -> bool {
        self.hits(text).next().is_some() || path.is_some_and(|path| !self.near_hits(text, path).is_empty())
    }

    fn hits<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (usize, usize)> + 'a {
        let automaton = self.automaton.iter();
        automaton.flat_map(move |automaton| automaton.find_iter(text)).filter_map(move |hit| {
            let needle = &self.needles[hit.pattern().as_usize()];
            let rest = needle.text.as_bytes();
            let common = text.as_bytes()[hit.start()..].iter().zip(rest).take_while(|(a, b)| a == b).count();
            let end = super::formats::floor(text, hit.start() + common).max(hit.end());
            is_token(text, hit.start(), end).then_some((hit.start(), end))
        })
    }

    /// Hidden values of one path in a sentence, raw or quoted.
    fn near_hits(&self, text: &str, path: &str) -> Vec<(usize, usize)> {
        let Some(values) = self.near.get(path) else { return Vec::new() };
        let mut out = Vec::new();
        for value in values {
            for form in [value.clone(), quoted(value)] {
                let mut from = 0;
                while let Some(at) = text[from..].find(&form).map(|at| from + at) {
                    let end = at + form.len();
                    if is_token(text, at, end) {
                        out.push((at, end));
                    }
                    from = end;
                }
            }
        }
        out.sort_unstable();
        out
    }

    /// A value without what was hidden elsewhere; `None` when it has none of it.
    pub(super) fn replace(&self, value: &Value, near: Option<&str>) -> Option<Value> {
        match value {
            Value::String(text) => self.replace_text(text, near).map(Value::String),
            Value::List(items) => {
                let new: Vec<Option<Value>> = items.iter().map(|item| self.replace(item, near)).collect();
                new.iter().any(Option::is_some).then(|| {
                    Value::List(items.iter().zip(new).map(|(item, new)| new.unwrap_or_else(|| item.clone())).collect())
                })
            }
            Value::Map(entries) => {
                let mut any = false;
                let mut out: Vec<(String, Value)> = Vec::with_capacity(entries.len());
                let mut names = Names::default();
                for (key, value) in entries {
                    let name = self.replace_text(key, near);
                    let inner = self.replace(value, near);
                    any |= name.is_some() || inner.is_some();
                    let name = match name {
                        Some(name) => names.unique(name, &out),
                        None => key.clone(),
                    };
                    out.push((name, inner.unwrap_or_else(|| value.clone())));
                }
                any.then_some(Value::Map(out))
            }
            Value::Number(text) => self.occurs(text, None).then(|| Value::String(MASK.into())),
            Value::Null | Value::Bool(_) => None,
        }
    }

    fn replace_text(&self, text: &str, near: Option<&str>) -> Option<String> {
        let mut hits: Vec<(usize, usize)> = self.hits(text).collect();
        if let Some(path) = near {
            hits.extend(self.near_hits(text, path));
            hits.sort_unstable();
        }
        if hits.is_empty() {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for (start, end) in hits {
            if start < at {
                continue;
            }
            out.push_str(&text[at..start]);
            out.push_str(MASK);
            at = end;
        }
        out.push_str(&text[at..]);
        Some(out)
    }
}

/// Whether what stands between two places is a token of its own.
fn is_token(text: &str, start: usize, end: usize) -> bool {
    let inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let (first, last) = (text[start..end].chars().next(), text[start..end].chars().next_back());
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    // A JSON text may end an escape right before: `\nhunter2`.
    let escape =
        before.is_some_and(|c| "nrtbf".contains(c)) && text[..start].len() >= 2 && text.as_bytes()[start - 2] == b'\\';
    (!inside(before) || !inside(first) || escape) && (!inside(after) || !inside(last))
}

/// A value in the forms that it has elsewhere.
fn forms(value: &str) -> BTreeSet<String> {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
    let mut out = BTreeSet::from([value.to_string()]);
    if value.len() <= MAX_NEEDLE {
        out.insert(STANDARD.encode(value));
        out.insert(STANDARD_NO_PAD.encode(value));
        let mut percent = String::new();
        for byte in value.bytes() {
            if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
                percent.push(char::from(byte));
            } else {
                percent.push_str(&format!("%{byte:02X}"));
            }
        }
        out.insert(percent);
    }
    out.insert(quoted(value));
    out
}

/// A value as JSON writes it, without the quotes.
fn quoted(value: &str) -> String {
    let json = crate::json::string(value);
    json[1..json.len() - 1].to_string()
}

/// Words that stand in many places and are nobody's secret there: a single word of letters, a plain value, a name.
fn is_common(text: &str) -> bool {
    let letters = text.chars().all(|c| c.is_alphabetic() || c == '-' || c == '_' || c == '.' || c == ' ' || c == '/');
    let mixed = text.chars().any(char::is_uppercase)
        && text.chars().any(char::is_lowercase)
        && text.chars().skip(1).any(char::is_uppercase);
    let word = letters && !mixed && text.chars().count() < 16;
    let repeated = text.chars().collect::<BTreeSet<char>>().len() < 4;
    word || repeated
        || opaque::is_identifier(text)
        || reading::is_masked(text)
        || reading::is_reference(text)
        || reading::is_plain_word(text, super::words::Strength::Weak)
        || text.parse::<f64>().is_ok() && text.len() < 12
        || opaque::is_uuid(text) && text.starts_with("00000000")
}
