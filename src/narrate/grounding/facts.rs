//! What does the diff hold? The data of a prompt, read back into what a narration can be looked up in.

use crate::path::Path;
use serde_json::Value;
use std::collections::BTreeSet;

/// One change, as far as words can be held against it.
#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    pub(super) path: String,
    /// The last names of the path, in lower case: what prose calls the value.
    pub(super) names: Vec<String>,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    pub(super) op: String,
    pub(super) direction: Way,
    /// Words that only the new, or only the old side has.
    pub(super) gained: bool,
    pub(super) lost: bool,
    pub(super) masked: bool,
    /// Both sides say yes or no, whatever their types.
    pub(super) switches: bool,
}

/// Where a value went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Way {
    /// It cannot be said.
    #[default]
    Unknown,
    Up,
    Down,
    On,
    Off,
    Same,
}

/// Everything that a narration may rest on.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) changes: Vec<Change>,
    /// Every text of the diff in lower case, one a line.
    pub(super) corpus: String,
    /// Words of paths and short values that are no everyday words.
    pub(super) words: BTreeSet<String>,
    numbers: Vec<f64>,
    derived: Derived,
}

/// What follows from the values by computing.
#[derive(Clone, Debug, Default)]
struct Derived {
    counts: Vec<f64>,
    ratios: Vec<f64>,
    percents: Vec<f64>,
    differences: Vec<f64>,
    conversions: Vec<f64>,
}

/// A number of a text, and how it is spoken of: 25 can be a percentage of two values and still be none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Number {
    pub(super) value: f64,
    pub(super) decimals: usize,
    /// `300%`, `300 percent`
    pub(super) percent: bool,
    /// `4x`, `4 times`, `a factor of 4`
    pub(super) ratio: bool,
    /// `by 15`, `15 more`
    pub(super) difference: bool,
    /// `90s`, `90 seconds`
    pub(super) unit: bool,
    /// The unit is its own, not only somewhere in the statement: then it counts no files.
    pub(super) measured: bool,
}

impl Facts {
    /// Reads the data between the two marks of a prompt; `None` where it is not of the form that flecto-payload writes.
    pub(super) fn read(user: &str, mark: &str) -> Option<Facts> {
        let (_, rest) = user.split_once(&format!("BEGIN {mark}\n"))?;
        let (data, _) = rest.split_once(&format!("END {mark}\n"))?;
        let mut facts = Facts::default();
        let (mut files, mut findings) = (0_u32, 0_u32);
        let mut ops: Vec<String> = Vec::new();
        for line in data.lines() {
            let value: Value = serde_json::from_str(line).ok()?;
            facts.take_texts(&value);
            if value["op"].is_string() {
                let change = facts.take_change(&value);
                ops.push(change.op.clone());
                facts.changes.push(change);
            } else if value["rule"].is_string() {
                findings += 1;
            } else {
                files += 1;
            }
        }
        let all = facts.changes.len() as u32;
        for op in ["added", "removed", "changed", "reordered"] {
            facts.derived.counts.push(ops.iter().filter(|known| *known == op).count() as f64);
        }
        facts.derived.counts.extend([files, findings, all, all + findings].map(f64::from));
        Some(facts)
    }

    fn take_texts(&mut self, line: &Value) {
        for field in ["file", "document", "path", "before", "after", "note", "rule", "pack", "severity", "message"] {
            let mut texts = Vec::new();
            leaves(&line[field], &mut texts);
            for text in texts {
                self.numbers.extend(numbers_in(&text));
                // A file's name is no subject: "alerts fire" says nothing about a value in alerts.yaml.
                if field != "file" && text.len() <= 200 {
                    self.words.extend(words_of(&text));
                }
                self.corpus.push_str(&text.to_lowercase());
                self.corpus.push('\n');
            }
        }
    }

    fn take_change(&mut self, line: &Value) -> Change {
        let text = |field: &str| line.get(field).map(scalar);
        let (before, after) = (text("before"), text("after"));
        let path = line["path"].as_str().unwrap_or_default().to_string();
        let parsed = Path::parse(&path).unwrap_or_default();
        let names = parsed.names().rev().take(2).map(str::to_lowercase).filter(|name| name.len() > 1).collect();
        let (a, b) = (before.clone().unwrap_or_default(), after.clone().unwrap_or_default());
        let (old, new): (BTreeSet<&str>, BTreeSet<&str>) = (tokens(&a), tokens(&b));
        let masked = [&a, &b].iter().any(|text| text.contains("***") || text.contains("<encrypted:"));
        let direction = match line["direction"].as_str() {
            Some("increase") => Way::Up,
            Some("decrease") => Way::Down,
            Some("turned on") => Way::On,
            Some("turned off") => Way::Off,
            Some(_) => Way::Same,
            None if before.is_some() && before == after && !masked => Way::Same,
            None => versions(&a, &b),
        };
        let named = unit_of(parsed.names().next_back().unwrap_or_default());
        let (from, to) = (quantities(&a, named), quantities(&b, named));
        for x in &from {
            for y in &to {
                self.derived.take(*x, *y);
            }
        }
        // 0.5 is 50%.
        let fractions =
            from.iter().chain(&to).map(|quantity| quantity.number).filter(|number| (0.0..=1.0).contains(number));
        self.derived.percents.extend(fractions.map(|number| number * 100.0));
        self.derived.conversions.extend(from.iter().chain(&to).flat_map(|quantity| quantity.in_other_units()));
        Change {
            names,
            op: line["op"].as_str().unwrap_or_default().to_string(),
            direction,
            gained: new.difference(&old).next().is_some(),
            lost: old.difference(&new).next().is_some(),
            masked,
            switches: is_switch(&a) && is_switch(&b),
            path,
            before,
            after,
        }
    }

    /// Whether a text stands in the diff, as it is or as a part of something.
    pub(super) fn holds(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let text = text.trim_end_matches('/');
        if text.is_empty() {
            return false;
        }
        // 5m is no part of 15m, 20 none of 2000.
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let (first, last) = (digit(text.chars().next()), digit(text.chars().next_back()));
        self.corpus.match_indices(text).any(|(at, _)| {
            let (before, after) = (&self.corpus[..at], &self.corpus[at + text.len()..]);
            !(first && digit(before.chars().next_back()) || last && digit(after.chars().next()))
        })
    }

    /// Whether a number stands in the diff.
    pub(super) fn has_written(&self, number: Number) -> bool {
        self.numbers.iter().any(|known| (known - number.value).abs() <= 1e-9 * number.value.abs())
    }

    /// Whether there are two numbers whose ratio can be told.
    pub(super) fn knows_ratios(&self) -> bool {
        !self.derived.ratios.is_empty()
    }

    /// Whether a value became about so many times what it was.
    pub(super) fn has_ratio(&self, factor: f64) -> bool {
        self.derived.ratios.iter().any(|known| (known - factor).abs() <= 0.1 * factor)
    }

    /// Whether a number stands in the diff or follows from it, to the digits that are shown.
    pub(super) fn has_number(&self, number: Number) -> bool {
        let value = number.value;
        let step = 0.5 * 10_f64.powi(-(number.decimals.min(12) as i32)) * 1.000_001;
        let by = step.min(0.06 * value.abs().max(0.1));
        let near = |known: &[f64], by: f64| known.iter().any(|known| (known - value).abs() <= by);
        let derived = &self.derived;
        if number.percent {
            // What is named a percentage is one without its sign.
            let named = ["percent", "pct", "utiliz"].iter().any(|word| self.corpus.contains(word));
            return self.holds(&format!("{value}%"))
                || near(&derived.percents, by)
                || named && self.has_written(number);
        }
        self.has_written(number)
            || !number.measured && near(&derived.counts, 1e-9)
            || number.ratio && near(&derived.ratios, by)
            || number.difference && near(&derived.differences, by)
            || number.unit && near(&derived.conversions, by)
    }
}

/// The texts of a value: keys, strings, and other scalars as they are written.
fn leaves(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Array(items) => items.iter().for_each(|item| leaves(item, out)),
        Value::Object(fields) => {
            for (key, value) in fields {
                if key != "$flecto" {
                    out.push(key.clone());
                    leaves(value, out);
                }
            }
        }
        other => out.push(scalar(other)),
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) if fields.contains_key("$flecto") => {
            fields.get("text").and_then(Value::as_str).map_or_else(|| value.to_string(), str::to_string)
        }
        other => other.to_string(),
    }
}

fn tokens(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| c.is_whitespace() || ",;|\"[]{}".contains(c)).filter(|token| !token.is_empty()).collect()
}

pub(super) fn is_switch(text: &str) -> bool {
    let word = text.to_ascii_lowercase();
    ["true", "false", "on", "off", "yes", "no", "enabled", "disabled"].contains(&word.as_str())
}

/// Which of two dotted numbers is the later version.
fn versions(before: &str, after: &str) -> Way {
    let parts = |text: &str| -> Option<Vec<u64>> {
        let text = text.trim_start_matches(['v', '^', '~', '=', '>', ' ']);
        let parts: Option<Vec<u64>> = text.split('.').map(|part| part.parse().ok()).collect();
        parts.filter(|parts| parts.len() > 1)
    };
    match parts(before).zip(parts(after)).map(|(before, after)| before.cmp(&after)) {
        Some(std::cmp::Ordering::Less) => Way::Up,
        Some(std::cmp::Ordering::Greater) => Way::Down,
        _ => Way::Unknown,
    }
}

/// Every number in a text, also inside of words: `1.3` of `TLSv1.3`, `5` of `5m`.
fn numbers_in(text: &str) -> Vec<f64> {
    let mut out = Vec::new();
    for run in text.split(|c: char| !c.is_ascii_digit() && c != '.') {
        let run = run.trim_matches('.');
        out.extend(run.parse::<f64>().ok());
        out.extend(run.split('.').filter_map(|part| part.parse::<f64>().ok()));
    }
    out
}

/// An amount with a unit, in the units of its family.
#[derive(Clone, Copy, Debug)]
struct Quantity {
    number: f64,
    unit: Option<(&'static [f64], f64)>,
}

/// Seconds, milliseconds, microseconds, minutes, hours, days.
const TIME: &[f64] = &[1.0, 1e-3, 1e-6, 60.0, 3600.0, 86_400.0];
/// Bytes, and their decimal and binary multiples.
const SIZE: &[f64] = &[1.0, 1e3, 1e6, 1e9, 1e12, 1024.0, 1_048_576.0, 1_073_741_824.0, 1_099_511_627_776.0];

/// Cores, and thousandths of one.
const CORES: &[f64] = &[1.0, 1e-3];

/// The unit that a name tells of a number without one: `timeoutSeconds`, `segment.bytes`, `cpu`.
fn unit_of(name: &str) -> Option<(&'static [f64], f64)> {
    let words = words_of(name);
    let short = name.rsplit(['_', '-', '.']).next().unwrap_or_default();
    let is = |word: &str| short.eq_ignore_ascii_case(word) || words.iter().any(|known| known == word);
    let milliseconds = is("ms") || is("millis") || is("milliseconds") || name.ends_with("Ms");
    let units: [(bool, (&'static [f64], f64)); 7] = [
        (milliseconds, (TIME, 1e-3)),
        (is("seconds") || is("secs") || is("sec"), (TIME, 1.0)),
        (is("minutes") || is("mins"), (TIME, 60.0)),
        (is("hours"), (TIME, 3600.0)),
        (is("days"), (TIME, 86_400.0)),
        (is("bytes"), (SIZE, 1.0)),
        (is("cpu") || is("cpus"), (CORES, 1.0)),
    ];
    units.into_iter().find(|(named, _)| *named).map(|(_, unit)| unit)
}

impl Quantity {
    fn in_other_units(self) -> Vec<f64> {
        let Some((family, scale)) = self.unit else { return Vec::new() };
        family.iter().map(|unit| self.number * scale / unit).collect()
    }
}

/// The amounts that a value is or consists of; a few at most.
fn quantities(text: &str, named: Option<(&'static [f64], f64)>) -> Vec<Quantity> {
    let cores = named.is_some_and(|(family, _)| std::ptr::eq(family, CORES));
    let words = text.split(|c: char| c.is_whitespace() || ",;|\"[]{}:=".contains(c)).filter(|word| !word.is_empty());
    let amounts = words.take(64).filter_map(|word| {
        let length = word.find(|c: char| !c.is_ascii_digit() && !".-+".contains(c)).unwrap_or(word.len());
        let number: f64 = word[..length].parse().ok()?;
        let unit = match &word[length..] {
            "m" if cores => Some((CORES, 1e-3)),
            "" => named,
            "%" => None,
            "s" => Some((TIME, 1.0)),
            "ms" => Some((TIME, 1e-3)),
            "us" | "µs" => Some((TIME, 1e-6)),
            "m" | "min" => Some((TIME, 60.0)),
            "h" => Some((TIME, 3600.0)),
            "d" => Some((TIME, 86_400.0)),
            "B" => Some((SIZE, 1.0)),
            "k" | "K" | "kB" | "KB" => Some((SIZE, 1e3)),
            "M" | "MB" => Some((SIZE, 1e6)),
            "G" | "GB" => Some((SIZE, 1e9)),
            "T" | "TB" => Some((SIZE, 1e12)),
            "Ki" | "KiB" => Some((SIZE, 1024.0)),
            "Mi" | "MiB" => Some((SIZE, 1_048_576.0)),
            "Gi" | "GiB" => Some((SIZE, 1_073_741_824.0)),
            "Ti" | "TiB" => Some((SIZE, 1_099_511_627_776.0)),
            _ => return None,
        };
        Some(Quantity { number, unit })
    });
    amounts.take(8).collect()
}

/// Whether two texts are one amount: `1Gi` and `1024Mi`.
pub(super) fn same_amount(one: &str, other: &str) -> bool {
    let amount = |text: &str| {
        quantities(text, None).first().map(|q| (q.number * q.unit.map_or(1.0, |(_, scale)| scale), q.unit))
    };
    let (Some((x, a)), Some((y, b))) = (amount(one), amount(other)) else { return false };
    let same_family = match (a, b) {
        (Some((one, _)), Some((other, _))) => std::ptr::eq(one, other),
        _ => false,
    };
    same_family && (x - y).abs() <= 1e-9 * x.abs().max(1.0)
}

impl Derived {
    /// Takes in what follows from two amounts.
    fn take(&mut self, before: Quantity, after: Quantity) {
        let (a, b, family) = match (before.unit, after.unit) {
            (Some((family, x)), Some((other, y))) if std::ptr::eq(family, other) => {
                (before.number * x, after.number * y, family)
            }
            _ => (before.number, after.number, &[1.0][..]),
        };
        self.differences.extend(family.iter().map(|unit| (b - a).abs() / unit));
        for (x, y) in [(a, b), (b, a)] {
            if x != 0.0 && (y / x).is_finite() {
                let ratio = (y / x).abs();
                self.ratios.push(ratio);
                self.percents.extend([ratio * 100.0, (y - x).abs() / x.abs() * 100.0]);
            }
        }
    }
}

/// Words of prose or of configurations in general: that one of them stands in both texts says nothing.
const EVERYDAY: [&str; 62] = [
    "the",
    "and",
    "for",
    "from",
    "with",
    "this",
    "that",
    "not",
    "are",
    "was",
    "now",
    "new",
    "old",
    "all",
    "any",
    "has",
    "its",
    "but",
    "can",
    "may",
    "will",
    "into",
    "than",
    "true",
    "false",
    "null",
    "yes",
    "off",
    "name",
    "names",
    "value",
    "values",
    "config",
    "configuration",
    "file",
    "files",
    "spec",
    "data",
    "metadata",
    "template",
    "list",
    "item",
    "items",
    "type",
    "key",
    "keys",
    "set",
    "setting",
    "settings",
    "change",
    "changes",
    "changed",
    "rule",
    "rules",
    "default",
    "only",
    "number",
    "string",
    "group",
    "groups",
    "version",
    "which",
];

/// The words of a text that can be a subject, in lower case, parts of compound names too.
fn words_of(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for run in text.split(|c: char| !c.is_alphanumeric()) {
        let mut start = 0;
        let mut previous = ' ';
        for (at, c) in run.char_indices() {
            if c.is_uppercase() && previous.is_lowercase() {
                out.push(run[start..at].to_lowercase());
                start = at;
            }
            previous = c;
        }
        out.push(run[start..].to_lowercase());
        out.push(run.to_lowercase());
    }
    out.retain(|word| {
        word.chars().count() > 2 && word.chars().any(char::is_alphabetic) && !EVERYDAY.contains(&word.as_str())
    });
    out
}
