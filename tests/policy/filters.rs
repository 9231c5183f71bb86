//! docs/rules-as-filters.md: every program in it is run as it stands.

use super::{change, policy, stream};
use crate::support::{Run, clean, run_with};
use std::path::Path;
use std::process::Command;

/// The code block after a heading of the page.
fn program_of(heading: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules-as-filters.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let section = page.split("\n## ").find(|section| section.starts_with(heading)).expect("the section");
    let code = section.split("```").nth(1).expect("a code block");
    code.split_once('\n').expect("a language").1.to_string()
}

/// Runs a filter of the page over records, then the gate over what it wrote.
fn through(interpreter: &str, heading: &str, input: &str) -> Option<(Run, Run)> {
    if run_with(clean(Command::new("sh")).args(["-c", &format!("command -v {interpreter}")]), "").status != Some(0) {
        crate::support::skipped(&format!("{interpreter} is not here"));
        return None;
    }
    let shell = if interpreter == "jq" { "sh" } else { interpreter };
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("filter");
    std::fs::write(&file, program_of(heading)).expect("a file");
    let filtered = run_with(clean(Command::new(shell)).arg(&file), input).exits(0);
    let judged = policy(&["--policies", "none", "--fail-on", "error"], &filtered.stdout);
    Some((filtered, judged))
}

fn without_findings(run: &Run) -> String {
    run.stdout.lines().filter(|line| !line.contains("\"finding\"")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_rule_in_python_stands_in_the_line() {
    let bad = change("web.image", "changed", r#","before":"nginx:1.27","after":"nginx:latest","line":3"#);
    let tree = change("b", "added", r#","after":{"spec":[{"image":"redis"}]}"#);
    let input = stream(&[&bad, &tree, &change("c.image", "added", r#","after":"nginx:1.27""#)]);
    let Some((filtered, judged)) = through("python3", "Python", &input) else { return };
    assert_eq!(without_findings(&filtered), input);
    let findings = judged.exits(1).records("finding");
    assert_eq!(findings.len(), 2);
    assert_eq!((&findings[0]["path"], &findings[0]["line"]), (&"web.image".into(), &3.into()));
    let (_, judged) = through("python3", "Python", &stream(&[])).expect("python");
    judged.exits(0);
}

#[test]
fn a_rule_in_jq_stands_in_the_line() {
    let input = stream(&[
        &change("logs.retention_days", "changed", r#","before":90,"after":30"#),
        &change("a.retention_days", "changed", r#","before":30,"after":90"#),
    ]);
    let Some((filtered, judged)) = through("jq", "jq", &input) else { return };
    assert_eq!(without_findings(&filtered), input);
    let findings = judged.exits(1).records("finding");
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0]["rule"], "retention-shortened");
}

#[cfg(unix)]
#[test]
fn a_rule_in_shell_stands_in_the_line() {
    let line = change("fee", "changed", r#","before":1,"after":2"#).replace("a.yaml", "payments/eu.yaml");
    let input = stream(&[&change("x", "added", r#","after":"a\\nb""#), &line, &line.replace("fee", "cap")]);
    let (filtered, judged) = through("sh", "Shell", &input).expect("a shell");
    assert_eq!(without_findings(&filtered), input);
    let findings = judged.exits(1).records("finding");
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0]["file"], "payments/eu.yaml");
}

#[test]
fn a_filter_that_dies_early_fails_the_run() {
    let whole = stream(&[&change("x", "added", r#","after":1"#)]);
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    for cut in 0..lines.len() {
        policy(&["--policies", "none", "--fail-on", "none"], &lines[..cut].concat()).exits(2);
    }
}
