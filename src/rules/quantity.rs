//! How much is `512Mi`, `30s`, `500m`, `1_000`? Numbers with their units, so that a rule can say "grown tenfold".
//!
//! | unit | written | counted in |
//! |---|---|---|
//! | `number` | `5`, `1e3`, `"20"`, `1_000`, `50%` | itself; a percentage only compares with another |
//! | `bytes` | `512Mi`, `2G`, `64kb`, `1.5 GiB` | bytes; `K` and `Ki` as Kubernetes and systemd read them (1000, 1024) |
//! | `duration` | `30s`, `5m`, `1h30m`, `250ms`, `10 minutes` | seconds |
//! | `cpu` | `500m`, `2`, `0.5` | cores |
//!
//! A bare number where a unit is possible compares only with another bare number: whether `30` is seconds or milliseconds
//! is not in the file. Nothing else is a number: no `0x10`, no `inf`, no version, no date.

use crate::value::{Envelope, Value};
use std::cmp::Ordering;

/// What a quantity counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Anything.
    #[default]
    Number,
    /// Memory or disk.
    Bytes,
    /// Time.
    Duration,
    /// Processor cores.
    Cpu,
}

/// The words of `unit:`.
pub const UNITS: &[(&str, Unit)] =
    &[("number", Unit::Number), ("bytes", Unit::Bytes), ("duration", Unit::Duration), ("cpu", Unit::Cpu)];

/// An amount of something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    amount: f64,
    unit: Unit,
    /// Whether a unit was written; `%` counts as one.
    marked: bool,
}

impl Quantity {
    /// Reads a text.
    pub fn parse(text: &str, unit: Unit) -> Option<Quantity> {
        let text = text.trim();
        if text.len() > 64 {
            return None;
        }
        if let Some(amount) = plain(text) {
            // A bare number of cores is one; bytes and seconds it only might be.
            return Some(Quantity { amount, unit, marked: unit == Unit::Cpu });
        }
        let marked = |amount| Some(Quantity { amount, unit, marked: true });
        match unit {
            Unit::Number => marked(plain(text.strip_suffix('%')?.trim_end())?),
            Unit::Cpu => marked(plain(text.strip_suffix('m')?)? / 1000.0),
            Unit::Bytes => {
                let at = text.find(|c: char| c.is_ascii_alphabetic())?;
                marked(plain(text[..at].trim_end())? * byte_factor(&text[at..])?)
            }
            Unit::Duration => marked(duration(text)?),
        }
    }

    /// The quantity that a value is.
    pub fn of(value: &Value, unit: Unit) -> Option<Quantity> {
        match value {
            Value::Number(text) | Value::String(text) => Quantity::parse(text, unit),
            other => match other.envelope() {
                Some(Envelope::Text { kind: "int" | "float", text }) => Quantity::parse(text, unit),
                _ => None,
            },
        }
    }

    /// What it counts.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// How it compares with another; `None` when only one of them says its unit.
    pub fn compare(&self, other: &Quantity) -> Option<Ordering> {
        if self.marked != other.marked || self.unit != other.unit {
            return None;
        }
        self.amount.partial_cmp(&other.amount)
    }

    /// Whether it is at least `factor` times, and at least `amount` more than, `before`. From zero or less nothing grows by a
    /// factor: zero often means "no limit".
    pub fn grew_from(&self, before: &Quantity, factor: Option<f64>, amount: Option<f64>) -> bool {
        self.compare(before) == Some(Ordering::Greater)
            && factor.is_none_or(|factor| before.amount > 0.0 && self.amount >= before.amount * factor)
            && amount.is_none_or(|amount| self.amount - before.amount >= amount)
    }
}

/// A decimal number as configs write it: digits, one point, an exponent, a sign; `_` between digits.
fn plain(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let fine = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.bytes().any(|b| b.is_ascii_digit())
        && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-' | b'_'))
        && !digits.starts_with('_');
    if !fine {
        return None;
    }
    let number: f64 = if text.contains('_') { text.replace('_', "").parse() } else { text.parse() }.ok()?;
    number.is_finite().then_some(number)
}

fn byte_factor(suffix: &str) -> Option<f64> {
    let letters = suffix.trim_end_matches(['b', 'B']);
    let (letter, binary) = match letters.strip_suffix(['i', 'I']) {
        Some(letter) => (letter, true),
        None => (letters, false),
    };
    let power = match letter {
        "" if !binary => 0,
        "k" | "K" => 1,
        "m" | "M" => 2,
        "g" | "G" => 3,
        "t" | "T" => 4,
        "p" | "P" => 5,
        _ => return None,
    };
    let base: f64 = if binary { 1024.0 } else { 1000.0 };
    (suffix.len() - letters.len() <= 1).then(|| base.powi(power))
}

/// `1h30m`, `30s`, `250ms`, `10 minutes`: parts of a number and a unit, each unit once and in falling order is not asked.
fn duration(text: &str) -> Option<f64> {
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let length = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_' | '-')))?;
        let amount = plain(&rest[..length])?;
        rest = rest[length..].trim_start();
        let length = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let seconds = match rest[..length].to_ascii_lowercase().as_str() {
            "ns" => 1e-9,
            "us" | "µs" => 1e-6,
            "ms" | "msec" | "millis" | "milliseconds" => 1e-3,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86_400.0,
            "w" | "week" | "weeks" => 604_800.0,
            _ => return None,
        };
        total += amount * seconds;
        rest = rest[length..].trim_start();
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_as_their_systems_read_them() {
        let amount = |text: &str, unit| Quantity::parse(text, unit).map(|q| q.amount);
        assert_eq!(amount("1_000", Unit::Number), Some(1000.0));
        assert_eq!(amount("1e3", Unit::Number), Some(1000.0));
        assert_eq!(amount("50%", Unit::Number), Some(50.0));
        assert_eq!(amount("512Mi", Unit::Bytes), Some(512.0 * 1024.0 * 1024.0));
        assert_eq!(amount("2G", Unit::Bytes), Some(2e9));
        assert_eq!(amount("64kb", Unit::Bytes), Some(64e3));
        assert_eq!(amount("1.5 GiB", Unit::Bytes), Some(1.5 * 1024.0 * 1024.0 * 1024.0));
        assert_eq!(amount("1h30m", Unit::Duration), Some(5400.0));
        assert_eq!(amount("250ms", Unit::Duration), Some(0.25));
        assert_eq!(amount("10 minutes", Unit::Duration), Some(600.0));
        assert_eq!(amount("500m", Unit::Cpu), Some(0.5));
        assert_eq!(amount("2", Unit::Cpu), Some(2.0));
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in [
            "***",
            "[REDACTED:github-token]",
            "<encrypted:sops:0123456789ab>",
            "inf",
            "nan",
            "0x10",
            "1.2.3",
            "2020-01-01",
            "",
            "-",
            "e5",
            "_1",
            "5 apples",
            "1e999",
            "12:30",
        ] {
            for unit in [Unit::Number, Unit::Bytes, Unit::Duration, Unit::Cpu] {
                assert_eq!(Quantity::parse(text, unit), None, "{text} {unit:?}");
            }
        }
        assert_eq!(Quantity::parse(&"9".repeat(100_000), Unit::Number), None);
    }

    #[test]
    fn growth_wants_two_amounts_of_one_unit() {
        let grew = |before: &str, after: &str, unit, factor| {
            let read = |text| Quantity::parse(text, unit).expect("a quantity");
            read(after).grew_from(&read(before), Some(factor), None)
        };
        assert!(grew("5", "10", Unit::Number, 2.0) && !grew("5", "9", Unit::Number, 2.0));
        assert!(!grew("0", "10", Unit::Number, 2.0) && !grew("-1", "10", Unit::Number, 2.0));
        assert!(grew("30s", "5m", Unit::Duration, 10.0) && !grew("30", "5m", Unit::Duration, 2.0));
        assert!(grew("500m", "1", Unit::Cpu, 2.0));
        assert!(!grew("50%", "200", Unit::Number, 2.0));
    }
}
