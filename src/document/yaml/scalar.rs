//! What is this plain scalar? A number, a word with a meaning, or text: by YAML 1.2, by 1.1, and as Kubernetes reads it.
//!
//! - **1.2**: the core schema (YAML 1.2.2, 10.3.2).
//! - **1.1**: the type repository: `yes`/`no`/`on`/`off`, `y`/`n` (go-yaml v2, and so Helm, has them; PyYAML, Psych and
//!   SnakeYAML do not); a leading zero is octal; `_` between digits; `0b`; base 60; dates. The readers' disagreement about
//!   `1e3` (1.1 wants a point and a sign in the exponent) is left out: it would be a note at every such number.
//! - **Kubernetes**: sigs.k8s.io/yaml, that is go-yaml v2 followed by a conversion to JSON: as 1.1, but base 60 and dates
//!   are strings, `0o17` is octal, and `08` is the float 8.

use crate::document::number::in_radix;
use crate::document::{Data, Scalar, ScalarKind};
use std::borrow::Cow;

/// What one reader sees. The canonical text stands only where it is not the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Null,
    Bool(bool),
    Typed(ScalarKind, Option<String>),
    String,
}

impl Seen {
    pub(super) fn into_data(self, source: Cow<'_, str>) -> Data<'_> {
        match self {
            Seen::Null => Data::Null,
            Seen::Bool(value) => Data::Bool(value),
            Seen::String => Data::String(source),
            Seen::Typed(kind, canonical) => Data::Typed(match canonical {
                Some(canonical) => Scalar::with_canonical(kind, source, canonical.into()),
                None => Scalar::new(kind, source),
            }),
        }
    }
}

/// How the three readers see one scalar; 1.1 and Kubernetes only where they differ from 1.2.
#[derive(Debug)]
pub(super) struct Readings {
    pub(super) core: Seen,
    pub(super) yaml11: Option<Seen>,
    pub(super) kubernetes: Option<Seen>,
}

impl Readings {
    fn all(core: Seen) -> Readings {
        Readings { core, yaml11: None, kubernetes: None }
    }
}

/// Reads a plain scalar.
pub(super) fn resolve(text: &str) -> Readings {
    let bytes = text.as_bytes();
    match bytes.first() {
        None => Readings::all(Seen::Null),
        Some(b'~') if bytes.len() == 1 => Readings::all(Seen::Null),
        Some(b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'y' | b'Y' | b'o' | b'O') if bytes.len() <= 5 => word(text),
        Some(b'1'..=b'9') if bytes.len() < 20 && bytes.iter().all(u8::is_ascii_digit) => {
            Readings::all(Seen::Typed(ScalarKind::Int, None))
        }
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => {
            let core = core_number(text);
            let differing = |seen: Seen| if seen == core { None } else { Some(seen) };
            let yaml11 = differing(yaml11_number(text, &core));
            let kubernetes = differing(kubernetes_number(text, &core));
            Readings { core, yaml11, kubernetes }
        }
        _ => Readings::all(Seen::String),
    }
}

fn word(text: &str) -> Readings {
    match text {
        "null" | "Null" | "NULL" => Readings::all(Seen::Null),
        "true" | "True" | "TRUE" => Readings::all(Seen::Bool(true)),
        "false" | "False" | "FALSE" => Readings::all(Seen::Bool(false)),
        "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "y" | "Y" => only_in_11(true),
        "no" | "No" | "NO" | "off" | "Off" | "OFF" | "n" | "N" => only_in_11(false),
        _ => Readings::all(Seen::String),
    }
}

fn only_in_11(value: bool) -> Readings {
    Readings { core: Seen::String, yaml11: Some(Seen::Bool(value)), kubernetes: Some(Seen::Bool(value)) }
}

fn int(source: &str, digits: &str, radix: u32) -> Seen {
    let canonical = in_radix(source, digits, source.starts_with('-'), radix);
    Seen::Typed(ScalarKind::Int, (canonical != source).then(|| canonical.into_owned()))
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

fn all(text: &str, allowed: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(allowed)
}

/// [-+]? (inf|Inf|INF), or (nan|NaN|NAN) without a sign, after their point.
fn is_not_finite(text: &str) -> bool {
    matches!(unsigned(text), ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

/// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
fn is_float(text: &str) -> bool {
    let rest = unsigned(text);
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(unsigned(&rest[at + 1..]))),
        None => (rest, None),
    };
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty()),
        None => all(mantissa, |b| b.is_ascii_digit()),
    };
    mantissa_ok && exponent.is_none_or(|exponent| all(exponent, |b| b.is_ascii_digit()))
}

fn core_number(text: &str) -> Seen {
    let digits = unsigned(text);
    if all(digits, |b| b.is_ascii_digit()) {
        return int(text, digits, 10);
    }
    if let Some(octal) = text.strip_prefix("0o").filter(|rest| all(rest, |b| matches!(b, b'0'..=b'7'))) {
        return int(text, octal, 8);
    }
    if let Some(hex) = text.strip_prefix("0x").filter(|rest| all(rest, |b| b.is_ascii_hexdigit())) {
        return int(text, hex, 16);
    }
    if is_not_finite(text) || is_float(text) {
        return Seen::Typed(ScalarKind::Float, None);
    }
    Seen::String
}

fn yaml11_number(text: &str, core: &Seen) -> Seen {
    if matches!(core, Seen::Typed(ScalarKind::Float, _)) {
        return core.clone();
    }
    let rest = unsigned(text);
    let (first, tail) = (rest.as_bytes().first().copied().unwrap_or_default(), rest.get(1..).unwrap_or_default());
    match first {
        b'0' => {
            if let Some(binary) = rest.strip_prefix("0b").filter(|rest| all(rest, |b| matches!(b, b'0' | b'1' | b'_')))
            {
                return int(text, binary, 2);
            }
            if let Some(hex) = rest.strip_prefix("0x").filter(|rest| all(rest, |b| b.is_ascii_hexdigit() || b == b'_'))
            {
                return int(text, hex, 16);
            }
            if all(tail, |b| matches!(b, b'0'..=b'7' | b'_')) {
                return int(text, tail, 8);
            }
            if rest == "0" {
                return core.clone();
            }
        }
        b'1'..=b'9' if tail.bytes().all(|b| b.is_ascii_digit() || b == b'_') => return int(text, rest, 10),
        _ => {}
    }
    if rest.contains('_') && is_float(&text.replace('_', "")) && rest.contains('.') && !rest.starts_with('_') {
        return Seen::Typed(ScalarKind::Float, Some(text.replace('_', "")));
    }
    if let Some(seen) = base_60(text, rest) {
        return seen;
    }
    if is_date(text) {
        return Seen::Typed(ScalarKind::Date, None);
    }
    Seen::String
}

/// `1:30` is 90: [-+]? [1-9][0-9_]* ( : [0-5]?[0-9] )+, and with `.` and digits after it a float.
fn base_60(source: &str, rest: &str) -> Option<Seen> {
    let (whole, fraction) = match rest.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (rest, None),
    };
    let mut places = whole.split(':');
    let first = places.next()?;
    let leading = first.starts_with(|c: char| c.is_ascii_digit() && (c != '0' || fraction.is_some()));
    if !leading || !all(first, |b| b.is_ascii_digit() || b == b'_') || !whole.contains(':') {
        return None;
    }
    let mut value: u128 = first.replace('_', "").parse().ok()?;
    for place in places {
        let digits: u128 = place.parse().ok().filter(|_| all(place, |b| b.is_ascii_digit()) && place.len() <= 2)?;
        if digits > 59 {
            return None;
        }
        value = value.checked_mul(60)?.checked_add(digits)?;
    }
    let sign = if source.starts_with('-') { "-" } else { "" };
    match fraction {
        None => Some(Seen::Typed(ScalarKind::Int, Some(format!("{sign}{value}")))),
        Some(digits) if digits.bytes().all(|b| b.is_ascii_digit() || b == b'_') => {
            Some(Seen::Typed(ScalarKind::Float, Some(format!("{sign}{value}.{}", digits.replace('_', "")))))
        }
        Some(_) => None,
    }
}

/// `2001-12-14`, or with one- or two-digit month and day, `T`, `t` or blanks, a time, and a zone. A day that the calendar
/// does not have makes it text: readers disagree from text to a crash.
pub(super) fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() < 8 || bytes[4] != b'-' || !bytes[..4].iter().all(u8::is_ascii_digit) {
        return false;
    }
    let (date, time) = match text.find(['T', 't', ' ', '\t']) {
        Some(at) => (&text[..at], Some(text[at + 1..].trim_start_matches([' ', '\t']))),
        None => (text, None),
    };
    let mut fields = date.split('-').map(|field| all(field, |b| b.is_ascii_digit()).then_some(field));
    let (Some(Some(year)), Some(Some(month)), Some(Some(day)), None) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return false;
    };
    let short_ok = time.is_some() || (month.len() == 2 && day.len() == 2);
    let number = |field: &str| field.parse::<u32>().unwrap_or(u32::MAX);
    let (year, month_number, day_number) = (number(year), number(month), number(day));
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let days = match month_number {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    short_ok && month.len() <= 2 && day.len() <= 2 && (1..=days).contains(&day_number) && time.is_none_or(is_time)
}

/// `21:59:43.10 -5:00`
fn is_time(text: &str) -> bool {
    let clock_end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '.'))).unwrap_or(text.len());
    let (clock, zone) = (&text[..clock_end], text[clock_end..].trim_start_matches([' ', '\t']));
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut fields = clock.split(':');
    let two = |field: Option<&str>, max: u32, short: bool| {
        field.is_some_and(|field| {
            (field.len() == 2 || (short && field.len() == 1)) && field.parse::<u32>().is_ok_and(|value| value <= max)
        })
    };
    two(fields.next(), 24, true)
        && two(fields.next(), 59, false)
        && two(fields.next(), 60, false)
        && fields.next().is_none()
        && fraction.bytes().all(|b| b.is_ascii_digit())
        && (zone.is_empty()
            || zone == "Z"
            || zone.strip_prefix(['+', '-']).is_some_and(|zone| {
                let digits = zone.replacen(':', "", 1);
                digits.len() <= 4 && all(&digits, |b| b.is_ascii_digit())
            }))
}

fn kubernetes_number(text: &str, core: &Seen) -> Seen {
    let plain: Cow<'_, str> = if text.contains('_') { Cow::Owned(text.replace('_', "")) } else { Cow::Borrowed(text) };
    let rest = unsigned(&plain);
    let lower = rest.as_bytes().get(1).map(u8::to_ascii_lowercase);
    let prefixed = match (rest.as_bytes().first(), lower) {
        (Some(b'0'), Some(b'x')) => Some((16, &rest[2..])),
        (Some(b'0'), Some(b'b')) => Some((2, &rest[2..])),
        (Some(b'0'), Some(b'o')) => Some((8, &rest[2..])),
        (Some(b'0'), Some(b'0'..=b'7')) => Some((8, &rest[1..])),
        (Some(b'0'..=b'9'), _) => Some((10, rest)),
        _ => None,
    };
    if let Some((radix, digits)) = prefixed
        && all(digits, |b| char::from(b).is_digit(radix))
        && !(radix == 10 && digits.len() > 1 && digits.starts_with('0'))
    {
        return int(text, digits, radix);
    }
    if is_not_finite(text) {
        return core.clone();
    }
    if !text.starts_with('_') && is_float(&plain) {
        let sign = if plain.starts_with('-') { "-" } else { "" };
        let significant = rest.trim_start_matches('0');
        let zero = if significant.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "0" };
        let canonical = format!("{sign}{zero}{significant}");
        let as_core = *core == Seen::Typed(ScalarKind::Float, None);
        return if as_core { core.clone() } else { Seen::Typed(ScalarKind::Float, Some(canonical)) };
    }
    Seen::String
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `int 420`, `bool true`, `string`: what a reader sees.
    fn spell(seen: &Seen, source: &str) -> String {
        match seen {
            Seen::Null => "null".into(),
            Seen::Bool(value) => format!("bool {value}"),
            Seen::String => "string".into(),
            Seen::Typed(kind, canonical) => format!("{} {}", kind.name(), canonical.as_deref().unwrap_or(source)),
        }
    }

    #[test]
    fn the_three_readings_of_a_plain_scalar() {
        // source, YAML 1.2 core, YAML 1.1 (`=`: the same), Kubernetes (`=`: the same)
        for (source, core, yaml11, kubernetes) in [
            ("", "null", "=", "="),
            ("~", "null", "=", "="),
            ("Null", "null", "=", "="),
            ("nULL", "string", "=", "="),
            ("True", "bool true", "=", "="),
            ("tRUE", "string", "=", "="),
            ("yes", "string", "bool true", "bool true"),
            ("Off", "string", "bool false", "bool false"),
            ("y", "string", "bool true", "bool true"),
            ("N", "string", "bool false", "bool false"),
            ("oN", "string", "=", "="),
            ("0", "int 0", "=", "="),
            ("10", "int 10", "=", "="),
            ("-7", "int -7", "=", "="),
            ("+7", "int 7", "=", "="),
            ("0644", "int 644", "int 420", "int 420"),
            ("-0644", "int -644", "int -420", "int -420"),
            ("08", "int 8", "string", "float 8"),
            ("0o17", "int 15", "string", "="),
            ("0x1F", "int 31", "=", "="),
            ("-0x1F", "string", "int -31", "int -31"),
            ("0b101", "string", "int 5", "int 5"),
            ("1_000", "string", "int 1000", "int 1000"),
            ("1_000.5", "string", "float 1000.5", "float 1000.5"),
            ("1e3", "float 1e3", "=", "="),
            ("1.", "float 1.", "=", "="),
            (".5", "float .5", "=", "="),
            (".", "string", "=", "="),
            ("-", "string", "=", "="),
            ("1.2.3", "string", "=", "="),
            ("1e", "string", "=", "="),
            ("8520e10", "float 8520e10", "=", "="),
            (".inf", "float .inf", "=", "="),
            ("-.INF", "float -.INF", "=", "="),
            (".nan", "float .nan", "=", "="),
            ("1:30", "string", "int 90", "="),
            ("190:20:30", "string", "int 685230", "="),
            ("1:99", "string", "=", "="),
            ("01:30", "string", "=", "="),
            ("1:30.5", "string", "float 90.5", "="),
            ("2001-12-14", "string", "date 2001-12-14", "="),
            ("2001-12-14t21:59:43.10-05:00", "string", "date 2001-12-14t21:59:43.10-05:00", "="),
            ("2001-1-1 1:02:03", "string", "date 2001-1-1 1:02:03", "="),
            ("2033-13-20", "string", "=", "="),
            ("2023-02-29", "string", "=", "="),
            ("2024-02-29", "string", "date 2024-02-29", "="),
            ("2024-2-9", "string", "=", "="),
            ("10.0.0.1", "string", "=", "="),
            ("--flag", "string", "=", "="),
            ("12345678901234567890123", "int 12345678901234567890123", "=", "="),
            ("00", "int 0", "=", "="),
        ] {
            let readings = resolve(source);
            let other = |seen: &Option<Seen>| seen.as_ref().map_or("=".to_string(), |seen| spell(seen, source));
            assert_eq!(spell(&readings.core, source), core, "{source} in 1.2");
            assert_eq!(other(&readings.yaml11), yaml11, "{source} in 1.1");
            assert_eq!(other(&readings.kubernetes), kubernetes, "{source} in Kubernetes");
        }
    }
}
