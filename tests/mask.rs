//! flecto-mask

mod cases;

use crate::support::{filter, shared};
use serde_json::{Value, json};

/// Cases as one stream, each in a file of its own, so that one case does not hide another's value.
fn stream(cases: &[cases::Case]) -> String {
    let mut out = String::from("{\"type\":\"start\",\"version\":1,\"baseline\":\"HEAD\"}\n");
    for (at, case) in cases.iter().enumerate() {
        let mut record = json!({"type": "change", "file": format!("case-{at}.yaml"), "path": case.path, "op": "added", "after": case.value});
        if let Some(document) = case.document {
            record["document"] = json!(document);
        }
        out.push_str(&(record.to_string() + "\n"));
    }
    out
}

fn texts(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Number(number) => out.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, out)),
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            out.push(key.clone());
            texts(value, out);
        }),
        Value::Null | Value::Bool(_) => {}
    }
}

#[test]
fn generated_cases_of_other_providers_and_habits_do_not_leak_and_stay_readable() {
    let (mut secret, mut leaks, mut ordinary, mut over) = (0, Vec::new(), 0, Vec::new());
    for seed in [0x5eed_0001, 0xfeed_beef_0042, 0x1234_5678_9abc_def1] {
        let cases = cases::cases(seed);
        let run = filter("flecto-mask", ["--evidence"], &stream(&cases)).exits(0);
        for (case, record) in cases.iter().zip(run.records("change")) {
            let mut found = Vec::new();
            texts(&record["after"], &mut found);
            found.push(record["path"].as_str().expect("a path").to_string());
            match &case.secret {
                Some(span) => {
                    secret += 1;
                    if found.iter().any(|text| text.contains(span.as_str())) {
                        leaks.push(format!(
                            "LEAK {} | {} | {} => {}",
                            case.kind, case.path, case.value, record["after"]
                        ));
                    }
                }
                None => {
                    ordinary += 1;
                    if record["after"] != case.value || record["path"] != json!(case.path) {
                        over.push(format!(
                            "OVER {} | {} => {} {}",
                            case.path, case.value, record["after"], record["masked"]
                        ));
                    }
                }
            }
        }
    }
    let report = leaks.iter().chain(&over).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(
        leaks.len() * 200 <= secret && over.len() * 200 <= ordinary,
        "{} of {secret} leak, {} of {ordinary} are hidden for nothing:\n{report}",
        leaks.len(),
        over.len()
    );
}

#[test]
fn the_shared_cases_stay_within_their_goal() {
    use std::io::Read as _;
    let Some(path) = shared("data/secrets/dev.ndjson.gz") else { return };
    let unpacked = std::process::Command::new("gzip").args(["-dc"]).arg(path).output().expect("gzip");
    let mut text = String::new();
    unpacked.stdout.as_slice().read_to_string(&mut text).expect("text");
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a case")).collect();
    let mut input = String::new();
    for case in &cases {
        let record =
            json!({"type": "change", "file": "case.yaml", "path": case["path"], "op": "added", "after": case["value"]});
        input.push_str(&(record.to_string() + "\n"));
    }
    let run = filter("flecto-mask", [""; 0], &input).exits(0);
    let (mut leaks, mut over) = (Vec::new(), Vec::new());
    let (mut secret, mut ordinary) = (0, 0);
    for (case, record) in cases.iter().zip(run.records("change")) {
        let mut found = vec![record["path"].as_str().expect("a path").to_string()];
        texts(&record["after"], &mut found);
        if case["label"] == "secret" {
            secret += 1;
            let span = case["span"].as_str().expect("a span");
            if found.iter().any(|text| text.contains(span)) {
                assert_ne!(case["tier"], "format", "{case}");
                leaks.push(case["id"].to_string());
            }
        } else {
            ordinary += 1;
            if record["after"] != case["value"] || record["path"] != case["path"] {
                over.push(case["id"].to_string());
            }
        }
    }
    assert!(
        leaks.len() * 200 <= secret && over.len() * 200 <= ordinary,
        "{leaks:?} leak, {over:?} are hidden for nothing"
    );
}
