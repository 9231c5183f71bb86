//! Does flecto-diff say what a reviewer would? Small pairs with the right answer, each from somebody's bug report.
//!
//! `tests/data/cases.ndjson`: a line is one case. `source` is the public report, `why` the reason for the answer, which was
//! decided from the documentation before the program was asked. `expect` is a list of changes, order free, or an
//! `error`; `or` holds other answers that are as good. `absent` and `contains` are texts that stdout must not, must
//! hold; without `expect` they and `most` (changes) are all that is held. A side is text, or `{"$repeat":[[text, n], …]}`.
//!
//! A path is a list of segments: a text is a map key, a number a list index (the old one for removed), `{"doc"}` the
//! document, `{"id"}` a list item by identity, `{"as"}` steps into a document in a string, `{"env"}` and `{"flag"}` are items
//! of such lists, `{"key"}` a key that is no string. Values that JSON cannot say: `{"$int"|"$float"|"$date"|…: text}`,
//! `{"$encrypted"}`, `{"$withheld"}`. `order` means that only the order changed. `notices` of a YAML 1.1 kind want the
//! changes of `modes.yaml11`, each with a note.

use crate::support;
use flecto::path::{Path as FlectoPath, Segment};
use serde_json::Value;
use std::path::Path;

/// Cases whose answer flecto gives otherwise, with the argument. The list may only shrink: a case that passes must
/// leave it.
const ARGUED: &[(&str, &str)] = &[];

#[test]
fn flecto_diff_says_what_a_reviewer_would() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cases.ndjson");
    walk(&own);
}

#[test]
fn flecto_diff_says_what_a_reviewer_would_of_the_shared_cases() {
    if let Some(path) = support::shared("data/cases/dev.ndjson") {
        walk(&path);
    }
}

#[track_caller]
fn walk(data: &Path) {
    let text = std::fs::read_to_string(data).expect("the cases");
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a case")).collect();
    assert!(cases.len() >= 50, "{} cases", cases.len());
    let half = cases.len().div_ceil(2);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let halves: Vec<_> = cases.chunks(half).map(|part| scope.spawn(move || wrong(part))).collect();
        halves.into_iter().flat_map(|half| half.join().expect("no panic")).collect()
    });
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// One line for each case with another answer than the right one, argued ones aside.
fn wrong(cases: &[Value]) -> Vec<String> {
    let judged = cases.iter().map(|case| {
        let id = case["id"].as_str().expect("an id");
        let argued = ARGUED.iter().any(|(known, _)| *known == id);
        match (try_case(case), argued) {
            (Ok(()), false) | (Err(_), true) => None,
            (Ok(()), true) => Some(format!("{id}: passes now and must leave the list of the argued")),
            (Err(problem), false) => Some(format!("{id} ({}) {}\n    {problem}", case["source"], case["symptom"])),
        }
    });
    judged.flatten().collect()
}

/// Runs a case and holds the answer against the right ones.
fn try_case(case: &Value) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder");
    let side = |name: &str| {
        let format = case[format!("{name}_format")].as_str().or(case["format"].as_str()).expect("a format");
        let file = case["filename"].as_str().map_or_else(|| format!("app.{}", ending(format)), str::to_string);
        let path = folder.path().join(name).join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, content(&case[name])).expect("a file");
        path
    };
    let (before, after) = (side("before"), side("after"));
    let run = support::run(support::program("flecto-diff").arg("--no-index").args([before, after]));
    for text in texts(&case["absent"]) {
        if run.stdout.contains(text) || run.stderr.contains(text) {
            return Err(format!("says {text:?}: {}", run.stdout));
        }
    }
    for text in texts(&case["contains"]) {
        if !run.stdout.contains(text) {
            return Err(format!("does not say {text:?}: {}", run.stdout));
        }
    }
    let first = judge(case, &case["expect"], &run);
    let others = case["or"].as_array().into_iter().flatten();
    if first.is_err() && others.into_iter().any(|expect| judge(case, expect, &run).is_ok()) {
        return Ok(());
    }
    first
}

/// The ending of a file of a format.
fn ending(format: &str) -> &str {
    match format {
        "k8s" | "sops" => "yaml",
        "dotenv" => "env",
        "hcl" => "tf",
        other => other,
    }
}

fn content(side: &Value) -> String {
    match side {
        Value::String(text) => text.clone(),
        other => {
            let parts = other["$repeat"].as_array().expect("parts").iter();
            let count = |part: &Value| part[1].as_u64().and_then(|n| usize::try_from(n).ok()).expect("a count");
            parts.map(|part| part[0].as_str().expect("a text").repeat(count(part))).collect()
        }
    }
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().map(|text| text.as_str().expect("a text"))
}

fn judge(case: &Value, expect: &Value, run: &support::Run) -> Result<(), String> {
    if let Some(error) = expect.get("error") {
        return judge_error(error, run);
    }
    if run.status != Some(0) {
        return Err(format!("exit status {:?}: {}", run.status, short(&run.stderr)));
    }
    let mut changes = run.records("change");
    if expect.is_null() {
        let most = case["most"].as_u64().map_or(usize::MAX, |n| usize::try_from(n).expect("a count"));
        return match changes.len() {
            0 => Err("nothing is said".into()),
            n if n > most => Err(format!("{n} changes: {}", short(&run.stdout))),
            _ => Ok(()),
        };
    }
    let expect = expect.as_array().expect("changes");
    let mut wanted: Vec<(&Value, bool)> = expect.iter().map(|want| (want, false)).collect();
    if texts(&case["notices"]).any(|notice| notice.starts_with("yaml11")) {
        let noted = case["modes"]["yaml11"].as_array().into_iter().flatten();
        let plain = |want: &&Value| expect.iter().all(|other| other["path"] != want["path"]);
        wanted.extend(noted.filter(plain).map(|want| (want, true)));
    }
    for (want, noted) in wanted {
        let Some(at) = changes.iter().position(|record| matches(want, record, noted)) else {
            return Err(format!("missing {want} among {}", short(&Value::from(changes).to_string())));
        };
        changes.swap_remove(at);
    }
    if changes.is_empty() { Ok(()) } else { Err(format!("not expected: {}", short(&Value::from(changes).to_string()))) }
}

/// An error ends with status 2, names the line where one is given, and says the words (`a|b`: one of them).
fn judge_error(error: &Value, run: &support::Run) -> Result<(), String> {
    if run.status != Some(2) {
        return Err(format!("exit status {:?}, not an error: {}", run.status, short(&run.stdout)));
    }
    let said = run.stderr.to_lowercase();
    if let Some(line) = error["line"].as_u64() {
        let places = [format!(":{line}:"), format!("line {line}")];
        if !places.iter().any(|place| said.contains(place)) {
            return Err(format!("an error without line {line}: {}", short(&said)));
        }
    }
    match texts(&error["must_mention"]).find(|words| !words.split('|').any(|word| said.contains(&word.to_lowercase())))
    {
        Some(words) => Err(format!("an error that does not mention {words}: {}", short(&said))),
        None => Ok(()),
    }
}

fn matches(want: &Value, record: &Value, noted: bool) -> bool {
    let (document, path) = wanted_path(&want["path"]);
    if document.is_some_and(|name| record["document"].as_str() != Some(&name)) || noted && record["note"].is_null() {
        return false;
    }
    let said = FlectoPath::parse(record["path"].as_str().expect("a path")).expect("a path that reads back");
    if said.0.iter().map(step).ne(path) {
        return false;
    }
    if want["order"] == true {
        return record["op"] == "reordered";
    }
    let side = |name: &str| want.get(name).is_none_or(|value| record.get(name).is_some_and(|said| same(value, said)));
    want["op"] == record["op"] && side("before") && side("after")
}

/// A segment as cases and records have it in common.
#[derive(Debug, PartialEq)]
enum Step {
    Key(String),
    Index(usize),
    Item(Vec<String>),
    Entry(String),
    Inner,
}

fn step(segment: &Segment) -> Step {
    match segment {
        Segment::Key(key) | Segment::Typed(key) => Step::Key(key.clone()),
        Segment::Index(at) => Step::Index(*at),
        Segment::Item(fields) => {
            let mut values: Vec<String> = fields.iter().map(|(_, word)| word.text().to_string()).collect();
            values.sort();
            Step::Item(values)
        }
        Segment::Entry { name, .. } => Step::Entry(name.clone()),
        Segment::Inner(_) => Step::Inner,
    }
}

fn wanted_path(path: &Value) -> (Option<String>, Vec<Step>) {
    let (mut document, mut steps) = (None, Vec::new());
    for part in path.as_array().expect("a path") {
        match part {
            Value::String(key) => steps.push(Step::Key(key.clone())),
            Value::Number(at) => steps.push(Step::Index(at.to_string().parse().expect("an index"))),
            part => {
                let (kind, value) = part.as_object().and_then(|object| object.iter().next()).expect("a segment");
                match kind.as_str() {
                    "doc" => document = Some(word(value)),
                    "id" => {
                        let mut values: Vec<String> = value.as_object().expect("fields").values().map(word).collect();
                        values.sort();
                        steps.push(Step::Item(values));
                    }
                    "as" => steps.push(Step::Inner),
                    "env" | "flag" => steps.push(Step::Entry(word(value))),
                    "key" => steps.push(Step::Key(word(value))),
                    other => panic!("no segment: {other}"),
                }
            }
        }
    }
    (document, steps)
}

/// A scalar as text: of `{"$float":"1.3"}` the text, else the value.
fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(object) => object.values().next().map_or_else(String::new, word),
        other => other.to_string(),
    }
}

/// Whether a record says this value.
fn same(want: &Value, said: &Value) -> bool {
    match want {
        Value::Object(object) => match object.keys().find(|key| key.starts_with('$') && *key != "$flecto") {
            None => said.as_object().is_some_and(|said| {
                said.len() == object.len() && object.iter().all(|(k, v)| said.get(k).is_some_and(|s| same(v, s)))
            }),
            Some(kind) => typed(kind, &object[kind], said),
        },
        Value::Array(items) => said.as_array().is_some_and(|said| {
            said.len() == items.len() && items.iter().zip(said).all(|(want, said)| same(want, said))
        }),
        Value::Number(number) if number.is_f64() => said.is_f64() && said.as_f64() == number.as_f64(),
        other => other == said,
    }
}

fn typed(kind: &str, want: &Value, said: &Value) -> bool {
    let text = if said.get("$flecto").is_some() { word(&said["text"]) } else { word(said) };
    let want = word(want);
    match kind {
        "$encrypted" => said.as_str().is_some_and(|text| text.starts_with("<encrypted:")),
        "$withheld" => said == flecto::value::WITHHELD,
        "$float" => !said.is_string() && text.parse::<f64>().ok() == want.parse::<f64>().ok(),
        "$int" => !said.is_string() && text == want,
        _ => text == want,
    }
}

fn short(text: &str) -> String {
    text.trim().chars().take(600).collect()
}
