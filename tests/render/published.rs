//! The formats that leave the machine: one look at each over the same records, masked, complete, and said when cut.

use super::hostile::FORMATS;
use super::runner::commands;
use super::sample::{NARRATION, README, TWENTY, render};
use serde_json::{Value, json};

const PUBLISHED: [&str; 8] =
    ["pr-comment", "markdown", "github-annotations", "sarif", "rdjsonl", "gitlab-codequality", "junit", "html"];

/// Compares with the file of that name; `UPDATE_SNAPSHOTS=1` writes it.
fn snapshot(name: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/render").join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(&path, text).expect("a snapshot");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == expected, "{name} differs; UPDATE_SNAPSHOTS=1 writes it anew\n{text}");
}

#[test]
fn every_format_over_the_same_records() {
    let input = format!("{TWENTY}{NARRATION}");
    for format in FORMATS {
        // What the mask hides is the mask's to say; this is about the formats.
        let args = if PUBLISHED.contains(&format) {
            vec!["--format", format, "--show-secrets"]
        } else {
            vec!["--format", format]
        };
        let run = render(args, &input).exits(2);
        snapshot(&format!("{format}.txt"), &run.stdout);
    }
}

#[test]
fn s10_published_formats_are_masked_unless_told_otherwise() {
    let secret = ["hunter", "22-canary"].concat();
    let change = json!({"type":"change","file":"a.yaml","path":"db.password","op":"changed","before":"","after":secret,"line":1});
    // A sentence with its template, and one of a user's filter that has the value in its words.
    let with_template = json!({"type":"finding","file":"a.yaml","path":"db.password","rule":"r","severity":"warn",
        "message":format!("It is now {secret}."),"template":"It is now {after}.","after":secret,"line":1});
    let of_a_filter = json!({"type":"finding","file":"a.yaml","path":"x","rule":"r","severity":"warn","message":format!("seen: {secret}"),"line":2});
    let input = format!(
        "{}\n{}\n{change}\n{with_template}\n{of_a_filter}\n{}\n",
        json!({"type":"start","version":1,"baseline":"main"}),
        json!({"type":"file","file":"a.yaml","format":"yaml","status":"modified"}),
        json!({"type":"end","files":1,"differing":1,"changes":1,"errors":0,"complete":true}),
    );
    for format in PUBLISHED {
        let run = render(["--format", format], &input).exits(0);
        assert!(!run.stdout.contains(&secret) && run.stdout.contains("It is now"), "{format}: {}", run.stdout);
        let run = render(["--format", format, "--show-secrets"], &input).exits(0);
        assert!(run.stdout.contains(&secret), "{format}: {}", run.stdout);
    }
    for format in ["text", "rich", "json", "ndjson"] {
        let run = render(["--format", format], &input).exits(0);
        assert!(run.stdout.contains(&secret), "{format}: {}", run.stdout);
        let run = render(["--format", format, "--mask-secrets"], &input).exits(0);
        assert!(!run.stdout.contains(&secret) && run.stdout.contains("It is now"), "{format}: {}", run.stdout);
    }
}

#[test]
fn g1_every_format_says_that_it_is_incomplete() {
    let cut: String = README.lines().take(4).flat_map(|line| [line, "\n"]).collect();
    for format in FORMATS.into_iter().filter(|format| *format != "narration") {
        let run = render(["--format", format], &cut).exits(2);
        let said = run.stdout.to_lowercase();
        assert!(said.contains("incomplete"), "{format}: {}", run.stdout);
    }
}

#[test]
fn g5_the_same_bytes_twice() {
    for format in FORMATS {
        let input = format!("{TWENTY}{NARRATION}");
        assert_eq!(
            render(["--format", format], &input).stdout,
            render(["--format", format], &input).stdout,
            "{format}"
        );
    }
}

#[test]
fn n4_narration_changes_no_machine_format() {
    for format in FORMATS.into_iter().filter(|f| !matches!(*f, "json" | "narration" | "pr-comment" | "markdown")) {
        let with = render(["--format", format], &format!("{TWENTY}{NARRATION}"));
        assert_eq!(with.stdout, render(["--format", format], TWENTY).stdout, "{format}");
    }
}

const HEADING: &str = "### Model-generated narration (advisory)\n";

#[test]
fn n5_between_findings_and_changes_label_first_inside_a_fence() {
    for format in ["pr-comment", "markdown"] {
        let out = render(["--format", format], &format!("{README}{NARRATION}")).exits(1).stdout;
        let (findings, heading, changes) = (
            out.find("### Findings").expect("findings"),
            out.find(HEADING).expect("narration"),
            out.find("### Changes").expect("changes"),
        );
        assert!(findings < heading && heading < changes);
        assert!(out[heading..].starts_with(&format!(
            "{HEADING}\nModel-generated narration (anthropic claude-opus-5) — advisory, not computed by Flecto, and never part of the exit code\n\n```text\n- The pool is four times as large.\n- `debug` is on.\n```\n\n"
        )), "{out}");
    }
}

#[test]
fn n5_the_same_bytes_less_that_section_also_when_both_are_too_long() {
    let long = NARRATION.replace("- The pool", &"x".repeat(300).repeat(90));
    let (head, tail) = README.split_at(README.find("{\"type\":\"verdict\"").expect("a verdict"));
    let mut many = head.to_string();
    for n in 0..3_000 {
        many.push_str(&format!("{}\n", json!({"type":"finding","file":"config/prod.yaml","path":format!("k{n}"),"rule":"r","severity":"warn","message":"m"})));
    }
    many.push_str(tail);
    for (report, narration) in [(README.to_string(), NARRATION.to_string()), (many, long)] {
        for max in ["8000", "65000"] {
            let args = ["--format", "pr-comment", "--max-bytes", max];
            let without = render(args, &report).stdout;
            let with = render(args, &format!("{report}{narration}")).stdout;
            assert!(with.len() <= max.parse().expect("a number"), "{}", with.len());
            let (before, rest) = with.split_once(HEADING).expect("a narration");
            let (_, after) = rest.split_once("\n### Changes").expect("changes");
            assert_eq!(format!("{before}### Changes{after}"), without);
        }
    }
}

#[test]
fn n5_model_text_stays_inside_its_fence() {
    let hostile =
        "```\\n# Approved\\n````text\\n@octo ![x](https://x.invalid/p.png) <img src=x> /merge\\n/merge\\n`````\\n";
    let out =
        render(["--format", "pr-comment"], &format!("{README}{}", NARRATION.replace("- The pool", hostile))).stdout;
    let section = &out[out.find(HEADING).expect("narration")..out.find("### Changes").expect("changes")];
    let fence = "``````";
    assert!(section.contains(&format!("\n{fence}text\n")) && section.ends_with(&format!("\n{fence}\n\n")), "{section}");
    assert_eq!(section.matches(fence).count(), 2);
    assert!(!section.contains("\n/merge"), "GitLab would run it");
}

#[test]
fn comment_begins_with_its_marker_and_holds_no_other() {
    let input = README.replace("Potentially", "<!-- flecto:pr-comment --> ");
    let out = render(["--format", "pr-comment"], &input).stdout;
    assert!(out.starts_with("<!-- flecto:pr-comment -->\n"));
    assert!(out.ends_with("\n<!-- flecto:end -->\n"));
    assert_eq!(out.matches("<!--").count(), 2);
    let out = render(["--format", "pr-comment", "--instance", "prod-eu"], &input).stdout;
    assert!(out.starts_with("<!-- flecto:pr-comment --><!-- flecto:instance prod-eu -->\n"));
    assert!(!render(["--format", "markdown"], &input).stdout.contains("<!--"));
    render(["--format", "pr-comment", "--instance", "a-->b"], &input).exits(2);
}

#[test]
fn a_comment_is_cut_at_whole_rows_and_says_so() {
    let mut input = String::from("{\"type\":\"start\",\"version\":1,\"baseline\":\"main\"}\n");
    for n in 0..3_000 {
        input.push_str(&format!("{}\n", json!({"type":"change","file":format!("f{}.yaml", n / 100),"path":format!("k{n}"),"op":"changed","before":"😀".repeat(40),"after":n})));
    }
    input.push_str("{\"type\":\"end\",\"files\":30,\"differing\":0,\"changes\":3000,\"errors\":0,\"complete\":true}\n");
    let out = render(["--format", "pr-comment"], &input).exits(0).stdout;
    assert!(out.len() <= 65_000 && out.len() > 30_000, "{}", out.len());
    assert_eq!(out.matches("<details>").count(), out.matches("</details>").count());
    let shown = out.lines().filter(|line| line.starts_with("| changed |")).count();
    assert!(out.lines().filter(|line| line.starts_with("| changed |")).all(|line| line.ends_with(" |")));
    assert!(
        out.contains(&format!("**{shown} of 3000 changes shown**, {} not shown, in: <code>f", 3_000 - shown)),
        "{out}"
    );
}

#[test]
fn annotations_are_the_worst_first_within_the_limits_and_count_the_rest() {
    let mut input = String::from("{\"type\":\"start\",\"version\":1,\"baseline\":\"main\"}\n");
    for n in 0..40 {
        let severity = ["info", "warn", "error"][n % 3];
        input.push_str(&format!("{}\n", json!({"type":"finding","file":"a.yaml","path":format!("k{n}"),"rule":"r","severity":severity,"message":"m","line":n + 1})));
    }
    input.push_str("{\"type\":\"end\",\"files\":1,\"differing\":0,\"changes\":0,\"errors\":0,\"complete\":true}\n");
    let out = render(["--format", "github-annotations"], &input).exits(0).stdout;
    let names: Vec<String> = commands(&out).into_iter().map(|command| command.name).collect();
    assert_eq!(names.len(), 30);
    assert!(names[..10].iter().all(|n| n == "error") && names[10..20].iter().all(|n| n == "warning"));
    assert!(out.ends_with("flecto: 0 changes and 40 findings; 0 changes and 10 findings are not shown as annotations (the runner keeps 10 of a level)\n"), "{out}");
}

#[test]
fn names_are_relative_to_the_top_level() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(dir.path().join(".git")).expect("a folder");
    std::fs::create_dir_all(dir.path().join("services/api")).expect("a folder");
    for (format, expected) in [
        ("github-annotations", "file=services/api/config/prod.yaml"),
        ("sarif", "\"uri\":\"services/api/config/prod.yaml\""),
        ("rdjsonl", "\"path\":\"services/api/config/prod.yaml\""),
        ("gitlab-codequality", "\"path\":\"services/api/config/prod.yaml\""),
    ] {
        let mut command = crate::support::program("flecto-render");
        command.args(["--format", format]).current_dir(dir.path().join("services/api"));
        let run = crate::support::run_with(&mut command, README).exits(1);
        assert!(run.stdout.contains(expected), "{format}: {}", run.stdout);
        let run = render(["--format", format, "--path-prefix", "services/api"], README).exits(1);
        assert!(run.stdout.contains(expected), "{format}: {}", run.stdout);
    }
}

#[test]
fn sarif_leaves_accepted_findings_out_unless_asked() {
    let log = |args: &[&str]| -> Value {
        let run = crate::support::filter("flecto-render", [&["--format", "sarif"], args].concat(), TWENTY);
        serde_json::from_str(&run.stdout).expect("JSON")
    };
    let results = |log: &Value| log["runs"][0]["results"].as_array().expect("results").clone();
    assert!(results(&log(&[])).iter().all(|result| result["ruleId"] != "no-longer-encrypted"));
    let all = results(&log(&["--with-accepted"]));
    let accepted = all.iter().find(|result| result["ruleId"] == "no-longer-encrypted").expect("it");
    assert_eq!(accepted["suppressions"][0]["justification"], "rotated, see runbook");
    assert_eq!(log(&["--category", "prod"])["runs"][0]["automationDetails"]["id"], "prod/");
}

#[test]
fn sarif_uses_the_lines_own_hash_once_for_each_rule() {
    let hash = "0123456789abcdef:1";
    let finding = |path: &str| json!({"type":"finding","file":"a.yaml","path":path,"rule":"r","severity":"warn","message":"m","line":3,"line_hash":hash});
    let input = format!("{}\n{}\n", finding("a"), finding("b"));
    let run = render(["--format", "sarif", "--partial"], &input).exits(0);
    let log: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let prints: Vec<&str> = log["runs"][0]["results"]
        .as_array()
        .expect("results")
        .iter()
        .filter_map(|result| result["partialFingerprints"]["primaryLocationLineHash"].as_str())
        .collect();
    assert_eq!(prints.len(), 2);
    assert_eq!(prints[0], hash);
    assert_ne!(prints[1], hash);
}

#[test]
fn code_quality_fingerprints_are_unique() {
    let finding = json!({"type":"finding","file":"a.yaml","path":"k","rule":"r","severity":"warn","message":"m"});
    let run = render(["--format", "gitlab-codequality", "--partial"], &format!("{finding}\n{finding}\n")).exits(0);
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_ne!(report[1]["fingerprint"], report[2]["fingerprint"]);
    assert_eq!(report[1]["severity"], "major");
    assert_eq!(report[0]["check_name"], "report-incomplete");
}

#[test]
fn code_quality_fingerprints_stay_when_lines_move() {
    let prints = |from: u64| -> Vec<String> {
        let at = |n: u64| json!({"type":"finding","file":"a.yaml","document":"D","path":format!("k{}", n / 2),"rule":"r","severity":"warn","message":"m","line":from + n,"before":n});
        let input: String = (0..8).map(|n| format!("{}\n", at(n))).collect();
        let run = render(["--format", "gitlab-codequality", "--partial"], &input).exits(0);
        let report: Vec<Value> = serde_json::from_str(&run.stdout).expect("JSON");
        report[1..].iter().map(|entry| entry["fingerprint"].as_str().expect("a fingerprint").to_string()).collect()
    };
    let prints_now = prints(1);
    assert_eq!(prints_now, prints(40));
    let different: std::collections::HashSet<&String> = prints_now.iter().collect();
    assert_eq!(different.len(), 8);
}

#[test]
fn fingerprints_of_two_folders_with_the_same_names_differ() {
    let finding =
        json!({"type":"finding","file":"app.yaml","path":"k","rule":"r","severity":"warn","message":"m","line":1});
    let of = |format: &'static str, prefix: &'static str| {
        let run = render(["--format", format, "--partial", "--path-prefix", prefix], &format!("{finding}\n")).exits(0);
        serde_json::from_str::<Value>(&run.stdout).expect("JSON")
    };
    let (a, b) = (of("gitlab-codequality", "services/a"), of("gitlab-codequality", "services/b"));
    assert_ne!(a[1]["fingerprint"], b[1]["fingerprint"]);
    assert_eq!(a[1]["fingerprint"], of("gitlab-codequality", "./services/a")[1]["fingerprint"]);
    let prints = |log: Value| log["runs"][0]["results"][0]["partialFingerprints"].clone();
    let (a, b) = (prints(of("sarif", "services/a")), prints(of("sarif", "services/b")));
    assert_ne!(a["flecto/v1"], b["flecto/v1"]);
    assert_ne!(a["primaryLocationLineHash"], b["primaryLocationLineHash"]);
}

#[test]
fn sarif_names_no_rule_as_its_id_in_any_case() {
    for (id, name) in [
        ("\u{fc}", None),
        ("\u{dc}ber", None),
        ("stra\u{df}e", None),
        ("\u{436}", None),
        ("R", None),
        ("\u{fc}-x", Some("\u{dc}X")),
        ("pool-size", Some("PoolSize")),
    ] {
        let finding = json!({"type":"finding","file":"a.yaml","path":"k","rule":id,"severity":"warn","message":"m"});
        let run = render(["--format", "sarif", "--partial"], &format!("{finding}\n")).exits(0);
        let log: Value = serde_json::from_str(&run.stdout).expect("JSON");
        let rule = &log["runs"][0]["tool"]["driver"]["rules"][0];
        assert_eq!((rule["id"].as_str(), rule.get("name").and_then(Value::as_str)), (Some(id), name), "{rule}");
    }
}

#[test]
fn rdjsonl_has_lines_and_no_columns() {
    // A column there counts bytes; what precedes this value may be `größe: `, which the record does not say.
    let finding = json!({"type":"finding","file":"a.yaml","path":"k","rule":"r","severity":"warn","message":"m","line":3,"column":8,"end_line":5});
    let run = render(["--format", "rdjsonl", "--partial"], &format!("{finding}\n")).exits(0);
    let last: Value = serde_json::from_str(run.stdout.lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["location"]["range"], json!({"start":{"line":3},"end":{"line":5}}));
}

#[test]
fn junit_counts_what_it_holds() {
    let out = render(["--format", "junit"], TWENTY).exits(2).stdout;
    let count = |what: &str| out.matches(what).count();
    for (word, what) in [("tests", "<testcase "), ("failures", "<failure "), ("errors", "<error ")] {
        assert!(out.lines().nth(1).is_some_and(|line| line.contains(&format!("{word}=\"{}\"", count(what)))), "{out}");
    }
    assert_eq!(count("<skipped "), 1);
    assert!(out.contains("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""), "{out}");
}

/// The stream that the snapshots are of covers what a stream can hold; a record taken out is missed here.
#[test]
fn the_records_of_the_snapshots_cover_what_there_is() {
    let input = format!("{TWENTY}{NARRATION}");
    let records: Vec<Value> = input.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let all = |kind: &str, field: &str| -> std::collections::BTreeSet<String> {
        let of_kind = records.iter().filter(|record| record["type"] == kind);
        of_kind.filter_map(|record| record[field].as_str().map(str::to_string)).collect()
    };
    let set = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
    for kind in ["start", "verdict", "end", "payload", "narration", "warning", "mine"] {
        assert!(records.iter().any(|record| record["type"] == kind), "{kind}");
    }
    assert_eq!(all("file", "status"), set(&["added", "error", "modified", "removed", "renamed"]));
    assert_eq!(all("change", "op"), set(&["added", "changed", "removed", "reordered"]));
    assert_eq!(all("finding", "severity"), set(&["error", "info", "warn"]));
    let change = |what: &dyn Fn(&Value) -> bool| records.iter().any(|r| r["type"] == "change" && what(r));
    assert!(change(&|r| r["path"].as_str().is_some_and(|path| path.contains("']!"))), "an embedded document");
    assert!(change(&|r| r["path"] == "$"), "a whole file");
    assert!(change(&|r| r["before"] == "***" && r["after"] == "***"), "a masked value");
    assert!(change(&|r| r["before"].as_str().is_some_and(|v| v.starts_with("<encrypted:"))), "an encrypted value");
    assert!(change(&|r| r["before"]["$flecto"] == "int" && r["after"]["$flecto"] == "date"), "envelopes");
    assert!(change(&|r| r["before"] == 3 && r["after"] == "3"), "look-alikes");
    for field in ["note", "line_hash", "document", "end_line", "before_line"] {
        assert!(change(&|r| !r[field].is_null()), "{field}");
    }
    assert!(change(&|r| r["line"].is_null()), "no line");
    let finding = |field: &str| records.iter().any(|r| r["type"] == "finding" && !r[field].is_null());
    for field in ["accepted", "template", "pack", "my-field"] {
        assert!(finding(field), "{field}");
    }
    let file = |name: &str| records.iter().filter(|r| r["type"] == "change" && r["file"] == name).count();
    assert_eq!(file("layout.yaml"), 0, "a file whose layout alone differs");
}
