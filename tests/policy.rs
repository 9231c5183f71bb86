//! flecto-policy: what it passes on, what it finds, what fails the run.

mod attacks;
mod commands;
mod filters;
mod gate;
mod packs;
mod stream;

use crate::support::{Run, filter};

const START: &str = r#"{"type":"start","version":1,"baseline":"origin/main"}"#;

/// A stream of one modified file with these lines, and counts that are right.
fn stream(lines: &[&str]) -> String {
    let changes = lines.iter().filter(|line| line.contains(r#""type":"change""#)).count();
    let mut out = format!("{START}\n{}\n", file("modified"));
    for line in lines {
        out.push_str(line);
        out.push('\n');
    }
    out.push_str(&end(changes, true));
    out
}

fn file(status: &str) -> String {
    format!(r#"{{"type":"file","file":"a.yaml","format":"yaml","status":"{status}"}}"#)
}

fn end(changes: usize, complete: bool) -> String {
    format!(
        "{{\"type\":\"end\",\"files\":1,\"differing\":1,\"changes\":{changes},\"errors\":0,\"complete\":{complete}}}\n"
    )
}

fn change(path: &str, op: &str, values: &str) -> String {
    format!(r#"{{"type":"change","file":"a.yaml","path":"{path}","op":"{op}"{values}}}"#)
}

fn policy(args: &[&str], input: &str) -> Run {
    filter("flecto-policy", args, input)
}

/// The rules that fired, with their paths, in order.
fn fired(run: &Run) -> Vec<String> {
    let findings = run.records("finding");
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_string();
    findings.iter().map(|f| format!("{} {}", text(&f["rule"]), text(&f["path"]))).collect()
}
