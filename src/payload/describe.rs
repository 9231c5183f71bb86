//! What can be said about a change by computing? Its type and direction, so that no model has to guess them.

use crate::json::Object;
use crate::record::{Change, Finding, Op};
use crate::value::{Envelope, Value};

/// A change as one line of the prompt: where, what, and what follows from the values.
pub(super) fn change(change: &Change) -> String {
    let mut object = Object::new();
    object.opt_str("document", change.document.as_deref());
    object.str("path", &change.path).str("op", change.op.as_str());
    for (key, value) in [("before", &change.before), ("after", &change.after)] {
        object.opt_raw(key, value.as_ref().map(Value::to_json).as_deref());
    }
    let sides = (change.before.as_ref(), change.after.as_ref());
    if let Some(name) = types(sides) {
        object.str("type", &name);
    }
    if let (Op::Changed, (Some(before), Some(after))) = (change.op, sides) {
        let (direction, factor) = direction(before, after);
        object.opt_str("direction", direction).opt_raw("factor", factor.as_deref());
    }
    object.opt_str("note", change.note.as_deref());
    object.finish()
}

/// A finding as one line of the prompt.
pub(super) fn finding(finding: &Finding) -> String {
    let mut object = Object::new();
    object.str("rule", &finding.rule).opt_str("pack", finding.pack.as_deref());
    object.str("severity", finding.severity.as_str()).opt_str("document", finding.document.as_deref());
    object.str("path", &finding.path).str("message", &finding.message);
    if finding.accepted.is_some() {
        object.bool("accepted", true);
    }
    object.finish()
}

/// `number`, or `boolean to string` where the type changes; nothing where a side is hidden or no type is of interest.
fn types(sides: (Option<&Value>, Option<&Value>)) -> Option<String> {
    match sides {
        (Some(before), Some(after)) => {
            let (before, after) = (type_of(before)?, type_of(after)?);
            Some(if before == after { before.to_string() } else { format!("{before} to {after}") })
        }
        (Some(value), None) | (None, Some(value)) => type_of(value).map(str::to_string),
        (None, None) => None,
    }
}

fn type_of(value: &Value) -> Option<&str> {
    Some(match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(text) if text == "***" || text.starts_with("<encrypted:") || text.starts_with("<no longer") => {
            return None;
        }
        Value::String(_) => "string",
        Value::List(_) => "list",
        Value::Map(_) => match value.envelope() {
            None | Some(Envelope::Entries(_)) => "map",
            Some(Envelope::Text { kind: "int" | "float", .. }) => "number",
            Some(Envelope::Text { kind: kind @ ("date" | "datetime"), .. }) => kind,
            Some(_) => return None,
        },
    })
}

/// Which way a value went, and by what factor where that tells something.
fn direction(before: &Value, after: &Value) -> (Option<&'static str>, Option<String>) {
    if let (Some(before), Some(after)) = (switch(before), switch(after)) {
        let word = match (before, after) {
            (false, true) => Some("turned on"),
            (true, false) => Some("turned off"),
            _ => None,
        };
        return (word, None);
    }
    let Some((before, after)) = comparable(before, after) else { return (None, None) };
    let word = match before.partial_cmp(&after) {
        Some(std::cmp::Ordering::Less) => "increase",
        Some(std::cmp::Ordering::Greater) => "decrease",
        _ => return (Some("the same amount, written otherwise"), None),
    };
    let factor = after / before;
    let tells = before > 0.0 && after > 0.0 && (1e-4..=1e9).contains(&factor);
    (Some(word), tells.then(|| significant(factor)))
}

/// Four significant digits: enough to tell 512Mi from 512M, and no more than a reader takes in.
fn significant(number: f64) -> String {
    let digits = (3 - number.abs().log10().floor().clamp(-12.0, 15.0) as i32).max(0) as usize;
    let text = format!("{number:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

fn switch(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(on) => Some(*on),
        Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "on" | "yes" | "true" | "enabled" => Some(true),
            "off" | "no" | "false" | "disabled" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Both values as amounts of one thing; nothing for amounts that cannot be compared without knowing what they are for.
fn comparable(before: &Value, after: &Value) -> Option<(f64, f64)> {
    let ((a, unit_a), (b, unit_b)) = (amount(before)?, amount(after)?);
    if unit_a == unit_b {
        return Some((a, b));
    }
    let ((family_a, scale_a), (family_b, scale_b)) = (scale(&unit_a)?, scale(&unit_b)?);
    (family_a == family_b).then_some((a * scale_a, b * scale_b))
}

fn amount(value: &Value) -> Option<(f64, String)> {
    if let Some(number) = value.as_f64() {
        return number.is_finite().then(|| (number, String::new()));
    }
    let text = value.as_str()?.trim();
    let length = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+')).unwrap_or(text.len());
    let unit = text[length..].trim_start();
    let word = unit.len() <= 4 && unit.chars().all(|c| c.is_alphabetic() || c == '%');
    let number: f64 = text[..length].parse().ok()?;
    (word && number.is_finite()).then(|| (number, unit.to_string()))
}

/// What family a unit is of and how large it is there. `m` is a minute beside other times; beside a bare number it could be
/// a thousandth, so a bare number has no family.
fn scale(unit: &str) -> Option<(&'static str, f64)> {
    let time = match unit {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        "w" => 604_800.0,
        _ => 0.0,
    };
    if time > 0.0 {
        return Some(("time", time));
    }
    let prefix = unit.strip_suffix('B').unwrap_or(unit);
    let power = |letter: &str| "KMGTPE".find(&letter.to_ascii_uppercase()).map(|at| at as i32 + 1);
    let size = match prefix.strip_suffix('i') {
        Some(letter) if letter.len() == 1 => 1024_f64.powi(power(letter)?),
        None if prefix.len() == 1 => 1000_f64.powi(power(prefix)?),
        None if prefix.is_empty() && unit == "B" => 1.0,
        _ => return None,
    };
    Some(("size", size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(before: &str, after: &str) -> String {
        let value = |text: &str| Value::parse(text).expect("a value");
        let (word, factor) = direction(&value(before), &value(after));
        format!("{} {}", word.unwrap_or("-"), factor.unwrap_or("-".into()))
    }

    #[test]
    fn directions_are_computed() {
        for (before, after, expected) in [
            ("5", "20", "increase 4"),
            ("3", "1", "decrease 0.3333"),
            ("\"512Mi\"", "\"512M\"", "decrease 0.9537"),
            ("\"5m\"", "\"5h\"", "increase 60"),
            ("\"100m\"", "\"250m\"", "increase 2.5"),
            ("\"500m\"", "1", "- -"),
            ("\"1Gi\"", "\"1024Mi\"", "the same amount, written otherwise -"),
            ("30", "\"30s\"", "- -"),
            ("0", "5", "increase -"),
            ("false", "true", "turned on -"),
            ("\"On\"", "\"Off\"", "turned off -"),
            ("\"1.25.3\"", "\"1.26.0\"", "- -"),
            ("\"***\"", "\"***\"", "- -"),
            ("{\"$flecto\":\"int\",\"text\":\"10000000000000000000\"}", "5", "decrease -"),
        ] {
            assert_eq!(way(before, after), expected, "{before} → {after}");
        }
    }

    #[test]
    fn types_are_named_when_they_change() {
        let value = |text: &str| Value::parse(text).expect("a value");
        let types = |a: &str, b: &str| types((Some(&value(a)), Some(&value(b))));
        assert_eq!(types("false", "\"false\"").as_deref(), Some("boolean to string"));
        assert_eq!(types("1", "{\"$flecto\":\"int\",\"text\":\"99999999999999999999\"}").as_deref(), Some("number"));
        assert_eq!(types("\"***\"", "\"x\""), None);
    }
}
