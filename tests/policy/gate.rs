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

/// Every combination of facts, findings, accepted findings, triggers and failures: as the library says, and, one in
/// forty of them, as the program does.
#[test]
fn g1_g7_the_exit_status_table() {
    use flecto::outcome::Outcome;
    use flecto::policy::{self as stage, Options, accepted::Accepted};
    use flecto::rules::{choice::Policies, gate::FailOn};
    const ENTRY: &str =
        r#"{"accepted":[{"rule":"r","file":"a.yaml","path":"x","reason":"known","date":"2026-05-04"}]}"#;
    const TRIGGERS: [&str; 8] = ["none", "changed", "added", "removed", "policy", "error", "warn", "info"];
    let facts: [(&str, Option<String>, &str); 7] = [
        ("", None, "modified"),
        ("changed", Some(change("a", "changed", r#","before":1,"after":2"#)), "modified"),
        ("changed", Some(change("a", "reordered", r#","before":[1,2],"after":[2,1]"#)), "modified"),
        ("changed", None, "renamed"),
        ("added", Some(change("a", "added", r#","after":1"#)), "modified"),
        ("removed", Some(change("a", "removed", r#","before":1"#)), "modified"),
        ("removed", None, "removed"),
    ];
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("accepted.json");
    std::fs::write(&file, ENTRY).expect("a file");
    let mut cells = 0;
    for (fact, line, status) in &facts {
        for severity in [None, Some("info"), Some("warn"), Some("error")] {
            for is_accepted in [false, true] {
                for triggers in TRIGGERS.map(|word| word.to_string()).into_iter().chain(["removed,error".to_string()]) {
                    for failure in ["", "incomplete", "half", "garbage", "no end", "two starts", "nothing"] {
                        let lines: Vec<String> = line.iter().cloned().chain(severity.map(finding)).collect();
                        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
                        let whole =
                            stream(&lines).replace("\"status\":\"modified\"", &format!("\"status\":\"{status}\""));
                        let input = match failure {
                            "incomplete" => whole.replace("\"complete\":true", "\"complete\":false"),
                            "half" => whole.replace("\"changes\":", "\"changes\":1"),
                            "garbage" => format!("{whole}garbage\n"),
                            "no end" => {
                                whole.lines().take_while(|l| !l.contains("\"end\"")).collect::<Vec<_>>().join("\n")
                                    + "\n"
                            }
                            "two starts" => format!("{START}\n{whole}"),
                            "nothing" => String::new(),
                            _ => whole,
                        };
                        let hit = |trigger: &str| {
                            let open = severity.filter(|_| !is_accepted);
                            trigger == *fact && !fact.is_empty()
                                || open == Some(trigger)
                                || trigger == "policy" && matches!(open, Some("warn" | "error"))
                        };
                        let expected = match failure {
                            "" => i32::from(triggers.split(',').any(hit)),
                            _ => 2,
                        };
                        let options = Options {
                            policies: Policies::from_words(["none"]).expect("a word"),
                            fail_on: FailOn::from_words(triggers.split(',')).expect("words"),
                            accepted: if is_accepted {
                                Accepted::read("a.json", ENTRY.as_bytes()).expect("a file")
                            } else {
                                Accepted::default()
                            },
                            ..Options::default()
                        };
                        let outcome = stage::run(options, input.as_bytes(), std::io::sink());
                        let status = outcome.map_or(Outcome::Trouble, |report| report.outcome) as i32;
                        let cell = format!("{fact} {severity:?} {is_accepted} {triggers} {failure}");
                        assert_eq!(status, expected, "{cell}");
                        if cells % 40 == 0 {
                            let mut args = vec!["--policies", "none", "--fail-on", triggers.as_str()];
                            if is_accepted {
                                args.extend(["--accepted", file.to_str().expect("text")]);
                            }
                            assert_eq!(policy(&args, &input).status, Some(expected), "{cell}");
                        }
                        cells += 1;
                    }
                }
            }
        }
    }
    assert_eq!(cells, 7 * 4 * 2 * 9 * 7);
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
