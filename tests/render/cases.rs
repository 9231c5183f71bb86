//! The shared odd and hostile records: each case's `must` is checked; what needs a program that is not here is named.

use super::runner::commands;
use crate::support::{Run, program, run_with, shared};
use regex::Regex;
use serde_json::{Map, Value, json};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Expands `{"$repeat":s,"n":k}` and `{i}`.
fn expand(value: &Value, i: Option<u64>) -> Value {
    match value {
        Value::Object(map) if map.contains_key("$repeat") => {
            let text = map["$repeat"].as_str().expect("a string");
            json!(text.repeat(map["n"].as_u64().expect("a number") as usize))
        }
        Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), expand(v, i))).collect::<Map<_, _>>().into(),
        Value::Array(items) => items.iter().map(|item| expand(item, i)).collect(),
        Value::String(text) if text == "{i}" && i.is_some() => json!(i.expect("a number") + 1),
        Value::String(text) => match i {
            Some(i) => json!(text.replace("{i}", &i.to_string())),
            None => json!(text),
        },
        other => other.clone(),
    }
}

struct Given {
    input: String,
    prefix: Option<String>,
    server: bool,
    windows: bool,
}

fn given(case: &Value) -> Given {
    let mut records = Vec::new();
    for entry in case["given"].as_array().expect("records") {
        match entry.get("$range") {
            Some(n) => records.extend((0..n.as_u64().expect("a number")).map(|i| expand(&entry["each"], Some(i)))),
            None => records.push(expand(entry, None)),
        }
    }
    let mut out = Given { input: String::new(), prefix: None, server: false, windows: false };
    let mut lines = vec![json!({"type":"start","version":1,"baseline":"origin/main"})];
    let (mut changes, mut findings) = (0, 0);
    for mut record in records {
        let fields = record.as_object_mut().expect("a record");
        let kind = fields.remove("kind").expect("a kind");
        if let Some(Value::String(cwd)) = fields.remove("cwd") {
            out.prefix = Some(cwd);
        }
        out.windows |= fields.remove("platform").is_some();
        for (from, to) in [("type", "op"), ("col", "column")] {
            if let Some(value) = fields.remove(from) {
                fields.insert(to.into(), value);
            }
        }
        match kind.as_str() {
            Some("server") => out.server = true,
            Some("change") => changes += 1,
            _ => findings += 1,
        }
        fields.insert("type".into(), kind);
        lines.push(record);
    }
    lines.push(json!({"type":"verdict","fail_on":["policy"],"failed":findings > 0,"error":0,"warn":findings,"info":0,"added":0,"removed":0,"changed":changes,"reordered":0}));
    lines.push(json!({"type":"end","files":1,"differing":0,"changes":changes,"errors":0,"complete":true}));
    out.input = lines.iter().map(|line| format!("{line}\n")).collect();
    out
}

#[test]
fn shared_cases_hold() {
    let Some(file) = shared("data/ci/dev.ndjson") else { return };
    let mut wrong = Vec::new();
    let mut missing = Vec::new();
    for line in std::fs::read_to_string(file).expect("cases").lines() {
        // A lone surrogate is no Unicode text; what reads a config file replaces it before it becomes a record.
        let case: Value = serde_json::from_str(&line.replace("\\ud800", "\\ufffd")).expect("a case");
        let given = given(&case);
        let id = case["id"].as_str().expect("an id");
        if given.server || (given.windows && !cfg!(windows)) {
            missing.push(format!(
                "{id}: {}",
                if given.server { "a forge; see the tests of flecto-post" } else { "Windows" }
            ));
            continue;
        }
        let mut command = program("flecto-render");
        command.args(["--format", case["format"].as_str().expect("a format")]);
        command.args(["--path-prefix", given.prefix.as_deref().unwrap_or("")]);
        let run = run_with(&mut command, &given.input);
        for check in case["must"]["checks"].as_array().expect("checks") {
            match holds(check, &run) {
                Ok(true) => {}
                Ok(false) => {
                    wrong.push(format!("{id}: {check}\n{}", run.stdout.chars().take(1_500).collect::<String>()))
                }
                Err(why) => missing.push(format!("{id}: {check}: {why}")),
            }
        }
    }
    missing.iter().for_each(|what| eprintln!("not checked here: {what}"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a check holds; an error names what is not here.
fn holds(check: &Value, run: &Run) -> Result<bool, &'static str> {
    let out = &run.stdout;
    let text = |at: usize| check[at].as_str().expect("a string");
    let number = |at: usize| check[at].as_u64().expect("a number") as usize;
    let regex = |pattern: &str| Regex::new(&pattern.replace(r"(?<!\\)", r"(?:^|[^\\])")).expect("a regex");
    let document = || serde_json::from_str::<Value>(out).expect("JSON");
    Ok(match text(0) {
        "runner_only" => {
            let allowed: Vec<&str> = check[1].as_array().expect("names").iter().filter_map(Value::as_str).collect();
            commands(out).iter().all(|command| allowed.contains(&command.name.as_str()))
        }
        "count_commands" => commands(out).len() == number(1),
        "runner_data" => commands(out)[number(1)].data == text(2),
        "runner_prop" => commands(out)[number(1)].properties.get(text(2)).is_some_and(|value| value == text(3)),
        "runner_prop_absent" => !commands(out)[number(1)].properties.contains_key(text(2)),
        "runner_data_max_utf16" => commands(out)[number(1)].data.encode_utf16().count() <= number(2),
        "max_commands_per_level" => ["error", "warning", "notice"]
            .iter()
            .all(|level| commands(out).iter().filter(|command| command.name == *level).count() <= number(1)),
        "line_count" => out.lines().count() == number(1),
        "not_contains" => !out.contains(text(1)),
        "contains_regex" => regex(text(1)).is_match(out),
        "not_regex" => !regex(text(1)).is_match(out),
        "count_regex" => regex(text(1)).find_iter(out).count() == number(2),
        "starts_with" => out.starts_with(text(1)),
        "stderr_contains" => run.stderr.contains(text(1)),
        "valid_utf8" => !out.contains('\u{fffd}') || out.matches('\u{fffd}').count() == 1,
        "exit" => run.status == check[1].as_i64().and_then(|n| i32::try_from(n).ok()),
        "max_utf8_bytes" => out.len() <= number(1),
        "max_line_utf8_bytes" => out.lines().all(|line| line.len() <= number(1)),
        "json_len" => {
            let length = document().pointer(text(1)).and_then(Value::as_array).map(Vec::len);
            let length = length.expect("a list");
            if text(2) == "==" { length == number(3) } else { length <= number(3) }
        }
        "json_eq" => document().pointer(text(1)) == Some(&check[2]),
        "json_absent" => document().pointer(text(1)).is_none(),
        "json_not_regex" => {
            !regex(text(2)).is_match(document().pointer(text(1)).and_then(Value::as_str).expect("text"))
        }
        "sarif_schema" => {
            static SCHEMA: OnceLock<Option<jsonschema::Validator>> = OnceLock::new();
            let schema = SCHEMA.get_or_init(|| {
                let file = std::fs::read_to_string(shared("data/ci/sarif-2.1.0.schema.json")?).expect("a schema");
                Some(jsonschema::validator_for(&serde_json::from_str(&file).expect("JSON")).expect("a schema"))
            });
            let schema = schema.as_ref().ok_or("the schema")?;
            let mut log = document();
            // Thirty thousand results of one form say no more than the first and the last hundred.
            if let Some(results) = log.pointer_mut("/runs/0/results").and_then(Value::as_array_mut)
                && results.len() > 200
            {
                let end = results.len() - 100;
                results.drain(100..end);
            }
            schema.is_valid(&log)
        }
        "max_gzip_bytes" => gzip(out)? <= number(1),
        "multitool_no_error" => return Err("the SARIF multitool"),
        "md_closed_html" => out.matches("<details>").count() == out.matches("</details>").count(),
        kind if kind.starts_with("md_") => {
            let html = markdown(out)?;
            let cells: Vec<&str> = regex("(?s)<td[^>]*>(.*?)</td>")
                .captures_iter(&html)
                .map(|found| found.get(1).expect("a cell").as_str())
                .collect();
            match kind {
                "md_table_rows_min" => html.matches("<tr>").count() > number(1),
                "md_tags_subset_in_cells" => {
                    let tags = regex("</?([a-z]+)");
                    let allowed: Vec<&str> =
                        check[1].as_array().expect("tags").iter().filter_map(Value::as_str).collect();
                    cells.iter().all(|cell| tags.captures_iter(cell).all(|tag| allowed.contains(&&tag[1])))
                }
                "md_cell_contains" => cells.iter().any(|cell| plain(cell).contains(text(1))),
                "md_outside_code_not_regex" => {
                    !regex(text(1)).is_match(&regex("(?s)<code.*?</code>").replace_all(&html, ""))
                }
                other => panic!("an unknown check: {other}"),
            }
        }
        other => panic!("an unknown check: {other}"),
    })
}

pub(super) fn plain(cell: &str) -> String {
    let text = Regex::new("<[^>]*>").expect("a regex").replace_all(cell, "");
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// What cmark-gfm makes of a text, or the name of what is missing.
pub(super) fn markdown(text: &str) -> Result<String, &'static str> {
    let args = ["--unsafe", "-e", "table", "-e", "autolink", "-e", "tagfilter"];
    let mut command = Command::new("cmark-gfm");
    if command.arg("--version").stdout(Stdio::null()).status().is_err() {
        return Err("cmark-gfm");
    }
    Ok(run_with(Command::new("cmark-gfm").args(args), text).exits(0).stdout)
}

fn gzip(text: &str) -> Result<usize, &'static str> {
    use std::io::{Read as _, Write as _};
    let child = Command::new("gzip").arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.map_err(|_| "gzip")?;
    let (mut stdin, text) = (child.stdin.take().expect("a pipe"), text.to_string());
    let feeder = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let mut out = Vec::new();
    child.stdout.take().expect("a pipe").read_to_end(&mut out).expect("output");
    feeder.join().expect("a thread").expect("all of it");
    child.wait().expect("a status");
    Ok(out.len())
}
