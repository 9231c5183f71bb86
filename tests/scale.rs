//! What docs/scale.md says of many machines: a stream cut before its `file` records gives the same lines.

use crate::support::{bin_dir, clean};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// A whole stream of `changes` changes in files of ten: some with secrets, some that rules fire at.
fn stream(changes: usize) -> String {
    let mut out = String::from("{\"type\":\"start\",\"version\":1,\"baseline\":\"HEAD\"}\n");
    for n in 0..changes {
        let file = n / 10;
        if n % 10 == 0 {
            let _ = writeln!(out, r#"{{"type":"file","file":"f{file:07}.yaml","format":"yaml","status":"modified"}}"#);
        }
        let (path, before, after) = match n % 7 {
            0 => ("db.pool_size", "5".to_string(), format!("{}", 5 + n % 40)),
            1 => ("db.password", "\"old\"".to_string(), format!("\"Zk{n}-long-enough-to-travel\"")),
            2 => ("note", "\"\"".to_string(), format!("\"Zk{}-long-enough-to-travel is it\"", n.saturating_sub(1))),
            3 => ("debug", "false".to_string(), "true".to_string()),
            _ => ("cache.ttl", "1".to_string(), n.to_string()),
        };
        let _ = writeln!(
            out,
            r#"{{"type":"change","file":"f{file:07}.yaml","path":"s{n}.{path}","op":"changed","before":{before},"after":{after}}}"#
        );
    }
    let files = changes.div_ceil(10);
    let _ = writeln!(
        out,
        r#"{{"type":"end","files":{files},"differing":{files},"changes":{changes},"errors":0,"complete":true}}"#
    );
    out
}

/// The line of filters that works on any slice.
const LINE: &str = "flecto-policy --partial | flecto-mask | flecto-render --format ndjson --partial";

/// Runs a shell line in a folder with our programs in its PATH, and gives the lines of the report, sorted, and the sum of
/// the changes that the verdicts count.
fn report(folder: &Path, line: &str) -> (Vec<String>, u64) {
    let mut command = clean(Command::new("sh"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(bin_dir()).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(paths).expect("a PATH"));
    let output = command.args(["-c", line]).current_dir(folder).output().expect("a shell");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let (mut lines, mut counted) = (Vec::new(), 0);
    for line in text.lines() {
        if line.starts_with(r#"{"type":"verdict""#) {
            let verdict: serde_json::Value = serde_json::from_str(line).expect("JSON");
            counted += verdict["changed"].as_u64().expect("a count");
        } else if !line.starts_with(r#"{"type":"warning""#) {
            lines.push(line.to_string());
        }
    }
    lines.sort_unstable();
    (lines, counted)
}

#[test]
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn gnu_parallel_gives_the_lines_that_one_process_gives() {
    let version = Command::new("parallel").arg("--version").output();
    if !version.is_ok_and(|output| output.stdout.starts_with(b"GNU parallel")) {
        eprintln!("skipped: GNU parallel is not installed");
        return;
    }
    // Ten thousand changes are enough to be cut many times; a million are for an hour when nobody waits.
    let million = std::env::var_os("FLECTO_TEST_MILLION").is_some_and(|value| !value.is_empty());
    let (changes, block) = if million { (1_000_000, "10M") } else { (10_000, "100k") };
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("all.ndjson"), stream(changes)).expect("a stream");
    let whole = report(folder.path(), &format!("sed '1d;$d' all.ndjson | {LINE}"));
    let split = format!(
        "sed '1d;$d' all.ndjson | parallel --will-cite --pipe --recstart '{{\"type\":\"file\",' --block {block} '{LINE}'"
    );
    let parts = report(folder.path(), &split);
    assert!(whole.0.len() > changes + changes / 10, "{} lines", whole.0.len());
    assert!(whole.0.iter().any(|line| line.contains("***")), "something is masked");
    assert_eq!(whole.1, changes as u64);
    assert_eq!(parts.1, whole.1, "the verdicts add up");
    assert!(parts.0 == whole.0, "the lines are the same");
}
