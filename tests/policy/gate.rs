//! What fails the run: every trigger, every severity, accepted findings, and the exit status of each combination.

use super::{START, change, end, file, policy, stream};

const WARN: &str = r#"{"type":"finding","file":"a.yaml","path":"x","rule":"r","severity":"warn","message":"m"}"#;

fn finding(severity: &str) -> String {
    WARN.replace("warn", severity)
}

fn status_of(fail_on: &str, input: &str) -> i32 {
    let run = policy(&["--policies", "none", "--fail-on", fail_on], input);
    let status = run.status.expect("a status");
    let failed = &run.records("verdict")[0]["failed"];
    assert_eq!(*failed, status == 1, "the record and the exit status agree: {}", run.stdout);
    status
}

#[test]
fn g7_each_trigger_answers_to_its_facts_alone() {
    let values = r#","before":1,"after":2"#;
    let facts: Vec<(&str, String, Vec<&str>)> = vec![
        ("nothing", stream(&[]), vec![]),
        ("a changed value", stream(&[&change("a", "changed", values)]), vec!["changed"]),
        ("a reordered list", stream(&[&change("a", "reordered", r#","before":[1,2],"after":[2,1]"#)]), vec!["changed"]),
        ("a renamed file", stream(&[]).replace("modified", "renamed"), vec!["changed"]),
        ("an added value", stream(&[&change("a", "added", r#","after":1"#)]), vec!["added"]),
        ("an added file", stream(&[]).replace("modified", "added"), vec!["added"]),
        ("a removed value", stream(&[&change("a", "removed", r#","before":1"#)]), vec!["removed"]),
        ("a removed file", stream(&[]).replace("modified", "removed"), vec!["removed"]),
        ("an error finding", stream(&[&finding("error")]), vec!["policy", "error"]),
        ("a warn finding", stream(&[&finding("warn")]), vec!["policy", "warn"]),
        ("an info finding", stream(&[&finding("info")]), vec!["info"]),
    ];
    for (name, input, triggers) in &facts {
        for word in ["changed", "added", "removed", "policy", "error", "warn", "info", "none"] {
            assert_eq!(status_of(word, input), i32::from(triggers.contains(&word)), "{name}, --fail-on {word}");
        }
    }
}

#[test]
fn g7_several_triggers_and_the_default() {
    let added = stream(&[&change("a", "added", r#","after":1"#)]);
    assert_eq!(status_of("removed,added", &added), 1);
    assert_eq!(status_of("removed, changed", &added), 0);
    policy(&["--policies", "none"], &stream(&[&finding("warn")])).exits(1);
    policy(&["--policies", "none"], &stream(&[&finding("info"), &change("a", "added", r#","after":1"#)])).exits(0);
}

#[test]
fn g7_an_unknown_word_is_exit_2() {
    for word in ["eror", "renamed", "Policy", "all", "narration", "model", ""] {
        let run = policy(&["--fail-on", word], &stream(&[])).exits(2);
        assert_eq!(run.stdout, "", "nothing half-written");
    }
}

#[test]
fn g7_accepted_findings_do_not_count() {
    let marked = |severity: &str| finding(severity).replace(r#""message""#, r#""accepted":{"reason":"x"},"message""#);
    for severity in ["error", "warn", "info"] {
        for word in ["policy", "error", "warn", "info"] {
            assert_eq!(status_of(word, &stream(&[&marked(severity)])), 0, "{severity} {word}");
        }
        let run = policy(&["--policies", "none"], &stream(&[&marked(severity)]));
        assert_eq!(run.records("verdict")[0]["accepted"], 1);
    }
}

/// Every combination of findings, accepted findings, triggers and failures.
#[test]
fn g1_g7_the_exit_status_table() {
    let dir = tempfile::tempdir().expect("a folder");
    let accepted = dir.path().join("accepted.json");
    let entry = r#"{"accepted":[{"rule":"r","file":"a.yaml","path":"x","reason":"known","date":"2026-05-04"}]}"#;
    std::fs::write(&accepted, entry).expect("a file");
    let accepted = accepted.to_str().expect("text");
    for severity in [None, Some("info"), Some("warn"), Some("error")] {
        for is_accepted in [false, true] {
            for trigger in ["none", "policy", "error", "warn", "info", "added"] {
                for failure in ["", "incomplete", "half", "garbage"] {
                    let line = severity.map(finding);
                    let mut input = stream(&line.iter().map(String::as_str).collect::<Vec<_>>());
                    match failure {
                        "incomplete" => input = input.replace("\"complete\":true", "\"complete\":false"),
                        "half" => input = input.replace("\"changes\":0", "\"changes\":1"),
                        "garbage" => input.push_str("garbage\n"),
                        _ => {}
                    }
                    let mut args = vec!["--policies", "none", "--fail-on", trigger];
                    if is_accepted {
                        args.extend(["--accepted", accepted]);
                    }
                    let hit = match (severity, trigger) {
                        _ if is_accepted => false,
                        (Some("error" | "warn"), "policy") => true,
                        (Some(severity), trigger) => severity == trigger,
                        _ => false,
                    };
                    let expected = if failure.is_empty() { i32::from(hit) } else { 2 };
                    let run = policy(&args, &input);
                    assert_eq!(
                        run.status,
                        Some(expected),
                        "{severity:?} {is_accepted} {trigger} {failure}\n{}",
                        run.stderr
                    );
                }
            }
        }
    }
}

#[test]
fn g7_accepted_by_file_is_marked_and_a_stale_entry_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("accepted.json");
    let entries = r#"{"accepted":[
  {"rule":"dangerous-toggle-enabled","file":"a.yaml","path":"debug","reason":"a test bed","date":"2026-05-04"},
  {"rule":"gone","file":"a.yaml","path":"old","reason":"was so","date":"2026-05-04"}]}"#;
    std::fs::write(&path, entries).expect("a file");
    let input = stream(&[&change("debug", "changed", r#","before":false,"after":true"#)]);
    let run = policy(&["--accepted", path.to_str().expect("text")], &input).exits(0);
    let finding = &run.records("finding")[0];
    assert_eq!(finding["accepted"]["reason"], "a test bed");
    assert_eq!(run.records("verdict")[0]["error"], 0);
    assert!(run.stderr.contains("a.yaml: old (gone)"), "{}", run.stderr);
}

#[test]
fn comments_accept_without_a_commit_and_only_with_a_reason() {
    let line = change(
        "debug",
        "changed",
        r#","before":false,"after":true,"line":4,"accept":{"rule":"dangerous-toggle-enabled","reason":"test bed"}"#,
    );
    let without_commit = stream(&[&line]);
    let run = policy(&[], &without_commit).exits(0);
    assert_eq!(run.records("finding")[0]["accepted"]["reason"], "test bed");
    // Another rule, no reason.
    policy(&[], &without_commit.replace("dangerous-toggle-enabled\",", "other\",")).exits(1);
    let run = policy(&[], &without_commit.replace(",\"reason\":\"test bed\"", "")).exits(1);
    assert!(run.records("warning")[0]["message"].as_str().expect("text").contains("without a reason"));
    // Another value's comment does not reach here.
    let other = change("x", "changed", r#","before":1,"after":2"#);
    let input = stream(&[&line.replace("debug", "size").replace("false", "0").replace("true", "3"), &other, WARN]);
    policy(&[], &input.replace("dangerous-toggle-enabled", "r")).exits(1);
}

#[test]
fn n3_a_narration_is_no_finding_and_no_trigger() {
    let words = r#"{"type":"narration","provider":"p","model":"m","label":"l","text":"error: policy finding! fail","cached":false,"truncated":false,"severity":"error","failed":true}"#;
    let input = format!("{}{words}\n", stream(&[]));
    for trigger in ["policy", "error", "warn", "info", "changed", "added", "removed"] {
        let run = policy(&["--fail-on", trigger], &input).exits(0);
        assert!(run.stdout.ends_with(&format!("{words}\n")));
        assert_eq!(run.records("finding").len(), 0);
    }
}

#[test]
fn g5_the_same_input_gives_the_same_bytes() {
    let input = stream(&[&change(
        "$",
        "added",
        r#","after":{"debug":true,"a":{"password":"x9!kkLpq"},"b":[1,{"debug":"yes"}]}"#,
    )]);
    let first = policy(&[], &input).stdout;
    assert_eq!(first, policy(&[], &input).stdout);
    assert!(first.contains(START) && first.contains(&file("modified")) && first.ends_with(&end(1, true)));
}
