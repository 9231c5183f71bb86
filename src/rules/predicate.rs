//! Does this value have the property that a rule asks for? Yes, no, or nobody can tell.
//!
//! The third answer is for values that were hidden before they came here (`***`, ciphertext, a stand-in for a string that
//! was too long): they have no properties but that one, a rule that needs to know more does not fire, and `not` does not turn
//! ignorance into knowledge.

use super::quantity::{Quantity, Unit};
use crate::secret;
use crate::value::{Envelope, Value, WITHHELD};
use regex::Regex;
use std::sync::OnceLock;

/// What a rule can ask of a value.
#[derive(Clone, Debug)]
pub enum Predicate {
    /// It is one of these scalars, by text (ASCII case aside) or by number: `0`, `0.0` and `"0"` are equal.
    OneOf(Vec<String>),
    /// It is of this sort.
    Is(Sort),
    /// Its text contains a match.
    Regex(Pattern),
    /// It is a quantity in this relation to another.
    Compare(Relation, Quantity),
    /// It is a list, or a text of words, with a member that has the property.
    Contains(Box<Predicate>),
    /// It does not have the property.
    Not(Box<Predicate>),
    /// It has all of these properties.
    All(Vec<Predicate>),
    /// It has at least one of them.
    Any(Vec<Predicate>),
}

/// The words of `is:`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A switch that is on: true, yes, on, 1, enabled, as a boolean, a string or a number.
    Enabled,
    /// A switch that is off: false, no, off, 0, disabled.
    Disabled,
    /// There is no value.
    Absent,
    /// Null, an empty string, list or map.
    Empty,
    /// A number, or a string that is one.
    Number,
    /// A string.
    String,
    /// A list.
    List,
    /// A map.
    Map,
    /// Ciphertext.
    Encrypted,
}

/// The words of `is:` and what they mean.
pub const SORTS: &[(&str, Sort)] = &[
    ("enabled", Sort::Enabled),
    ("disabled", Sort::Disabled),
    ("absent", Sort::Absent),
    ("empty", Sort::Empty),
    ("number", Sort::Number),
    ("string", Sort::String),
    ("list", Sort::List),
    ("map", Sort::Map),
    ("encrypted", Sort::Encrypted),
];

/// How two quantities are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Greater than.
    Above,
    /// Less than.
    Below,
    /// Equal or greater.
    AtLeast,
    /// Equal or less.
    AtMost,
}

/// A regular expression that is compiled when it is first needed. Its syntax was checked when the rule was read, its size
/// when it is compiled.
#[derive(Clone, Debug)]
pub struct Pattern {
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

/// How much of a text an expression is searched for in, in bytes.
const MAX_SEARCHED: usize = 256 << 10;

/// The memory that a compiled expression may take, in bytes. `\w{1000}` and its like end here instead of in the machine's
/// memory.
const MAX_REGEX: usize = 1 << 20;

/// How deep an expression may nest.
const MAX_REGEX_NEST: u32 = 50;

impl Pattern {
    /// An expression of ours, known to be good: compiled when it is first needed.
    pub(super) fn trusted(source: &str) -> Pattern {
        Pattern { source: source.to_string(), compiled: OnceLock::new() }
    }

    /// A foreign expression, compiled at once so that a bad one is named with its place.
    pub(super) fn checked(source: &str) -> Option<Pattern> {
        let pattern = Pattern::trusted(source);
        pattern.regex().is_some().then_some(pattern)
    }

    /// The expression.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    fn regex(&self) -> Option<&Regex> {
        let build =
            || regex::RegexBuilder::new(&self.source).size_limit(MAX_REGEX).nest_limit(MAX_REGEX_NEST).build().ok();
        self.compiled.get_or_init(build).as_ref()
    }

    /// Whether `text` contains a match. Of a longer text its first part is searched: a rule that means the text of a whole
    /// file is no rule about configuration, and a large expression costs its size for every character.
    pub fn is_match(&self, text: &str) -> bool {
        let end = (0..=MAX_SEARCHED.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        self.regex().is_some_and(|regex| regex.is_match(&text[..end.unwrap_or(0)]))
    }
}

/// Whether a value was hidden before it came here, so that nothing is known of it.
pub fn is_opaque(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            text == secret::MASK
                || text == WITHHELD
                || text.starts_with("[REDACTED:") && text.ends_with(']')
                || is_encrypted(value)
        }
        other => matches!(other.envelope(), Some(Envelope::Long { .. })),
    }
}

/// Whether a value is the sentinel of ciphertext.
pub fn is_encrypted(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.starts_with("<encrypted:") && text.ends_with('>'))
}

const ON: [&str; 7] = ["true", "yes", "on", "1", "enabled", "enable", "y"];
const OFF: [&str; 7] = ["false", "no", "off", "0", "disabled", "disable", "n"];

fn is_word(value: &Value, words: &[&str]) -> bool {
    match value {
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let text = value.to_text();
            words.iter().any(|word| text.trim().eq_ignore_ascii_case(word))
        }
        _ => false,
    }
}

impl Predicate {
    /// Asks it of a value, or of there being none. `None` when it cannot be told.
    pub fn test(&self, value: Option<&Value>) -> Option<bool> {
        match self {
            Predicate::Is(Sort::Absent) => return Some(value.is_none()),
            Predicate::Is(Sort::Encrypted) => return Some(value.is_some_and(is_encrypted)),
            Predicate::Not(inner) => return inner.test(value).map(|answer| !answer),
            Predicate::All(all) => return fold(all, value, false),
            Predicate::Any(any) => return fold(any, value, true),
            _ => {}
        }
        let Some(value) = value else { return Some(false) };
        if is_opaque(value) {
            return None;
        }
        Some(match self {
            Predicate::OneOf(texts) => texts.iter().any(|text| equals(text, value)),
            Predicate::Is(sort) => sort.holds(value),
            Predicate::Regex(pattern) => is_scalar(value) && pattern.is_match(&value.to_text()),
            Predicate::Compare(relation, bound) => {
                let Some(quantity) = Quantity::of(value, bound.unit()) else { return Some(false) };
                match (relation, quantity.compare(bound)?) {
                    (Relation::Above, order) => order.is_gt(),
                    (Relation::Below, order) => order.is_lt(),
                    (Relation::AtLeast, order) => order.is_ge(),
                    (Relation::AtMost, order) => order.is_le(),
                }
            }
            Predicate::Contains(member) => members(value).iter().any(|item| member.test(Some(item)) == Some(true)),
            _ => return None,
        })
    }
}

fn fold(parts: &[Predicate], value: Option<&Value>, decides: bool) -> Option<bool> {
    let mut known = true;
    for part in parts {
        match part.test(value) {
            Some(answer) if answer == decides => return Some(decides),
            Some(_) => {}
            None => known = false,
        }
    }
    known.then_some(!decides)
}

fn is_scalar(value: &Value) -> bool {
    match value {
        Value::List(_) => false,
        Value::Map(_) => matches!(value.envelope(), Some(Envelope::Text { .. })),
        _ => true,
    }
}

/// Equal by text, ASCII case aside, or by number.
fn equals(text: &str, value: &Value) -> bool {
    if !is_scalar(value) {
        return false;
    }
    if value.to_text().eq_ignore_ascii_case(text) {
        return true;
    }
    match (Quantity::parse(text, Unit::Number), Quantity::of(value, Unit::Number)) {
        (Some(a), Some(b)) => a.compare(&b).is_some_and(std::cmp::Ordering::is_eq),
        _ => false,
    }
}

impl Sort {
    fn holds(self, value: &Value) -> bool {
        match self {
            Sort::Enabled => is_word(value, &ON),
            Sort::Disabled => is_word(value, &OFF),
            Sort::Empty => match value {
                Value::Null => true,
                Value::String(text) => text.trim().is_empty(),
                Value::List(items) => items.is_empty(),
                Value::Map(entries) => entries.is_empty(),
                _ => false,
            },
            Sort::Number => Quantity::of(value, Unit::Number).is_some(),
            Sort::String => matches!(value, Value::String(_)),
            Sort::List => matches!(value, Value::List(_)),
            Sort::Map => matches!(value, Value::Map(_)) && value.envelope().is_none(),
            Sort::Absent | Sort::Encrypted => false,
        }
    }
}

/// The members of a list, or the words of a string that are separated by commas, semicolons or blanks. A set in disguise:
/// `permissions: "read, write"`. A string is at most so many words; text is no set.
pub fn members(value: &Value) -> Vec<Value> {
    match value {
        Value::List(items) => items.clone(),
        Value::String(text) if text.len() <= MAX_SET_TEXT => text
            .split([',', ';', ' ', '\t', '\n'])
            .filter(|word| !word.is_empty())
            .map(|word| Value::String(word.to_string()))
            .collect(),
        _ => Vec::new(),
    }
}

/// The longest string that is looked at as a set of words, in bytes.
const MAX_SET_TEXT: usize = 4096;
