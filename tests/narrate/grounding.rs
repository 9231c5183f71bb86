//! Which parts of a narration rest on the diff

use super::{Asker, narration};
use crate::payload::{change, file, stream};
use crate::support::provider::{Answer, Provider};
use crate::support::{filter, shared};
use regex::Regex;
use serde_json::{Value, json};

/// What is said of these records when a model answers so.
fn checked(records: &[Value], answer: &str) -> Value {
    let prompted = filter("flecto-payload", [] as [&str; 0], &stream(records)).exits(0).stdout;
    let provider = Provider::new([Answer::anthropic(answer)]);
    narration(&Asker::anthropic(&provider.url()).run_on(["--no-cache"], &prompted).exits(0))
}

fn words(record: &Value) -> String {
    record["text"].as_str().expect("text").to_string()
}

fn pool() -> Vec<Value> {
    vec![
        file("config/prod.yaml"),
        change("config/prod.yaml", "db.pool_size", json!(5), json!(20)),
        change("config/prod.yaml", "server.timeout", json!("5m"), json!("90s")),
        change("config/prod.yaml", "debug", json!(false), json!(true)),
    ]
}

#[test]
fn what_is_not_in_the_diff_is_marked_where_it_stands() {
    for (said, shown) in [
        ("`db.pool_size` goes from 5 to 25.", "`db.pool_size` goes from 5 to 25 [not in the diff]."),
        ("- `db.pool_size`: see CVE-2024-1234 for it", "- `db.pool_size`: see CVE-2024-1234 [not in the diff] for it"),
        ("- `db.pool_max` changes to 20", "- `db.pool_max` [not in the diff] changes to 20"),
        (
            "- The db pool, see https://evil.example/x, changes.",
            "- The db pool, see https://evil.example/x [not in the diff], changes.",
        ),
        ("- debug is on since version 1.26.3", "- debug is on since version 1.26.3 [not in the diff]"),
        ("- debug is set in other.yaml too", "- debug is set in other.yaml [not in the diff] too"),
        ("Everything is fine here.", "Everything is fine here. [not in the diff]"),
        ("`debug` is safe to merge.", "`debug` is safe to merge [not in the diff]."),
        ("- `db.pool_size` decreases to 20", "- `db.pool_size` decreases [not in the diff] to 20"),
        ("The pool_size goes from 20 to 5.", "The pool_size goes from 20 to 5 [not in the diff]."),
        ("- `debug` is turned off", "- `debug` is turned off [not in the diff]"),
    ] {
        let record = checked(&pool(), said);
        assert!(
            words(&record)
                .starts_with(&format!("{shown}\n\nchecked: 0 of 1 statement names something in the diff; 1 does not")),
            "{said}\n{}",
            words(&record)
        );
    }
}

#[test]
fn what_follows_from_the_diff_is_not() {
    for said in [
        "`db.pool_size` goes from 5 to 20, 4x as much, an increase of 15 or 300%.",
        "- `server.timeout`: `5m` → `90s`, from 300 to 90 seconds, 210 seconds less, 70% less, 0.3x",
        "- `debug`: false → true — this may increase log volume and reduce performance",
        "- `debug` is turned on (enabled). It may write more to config/prod.yaml.",
        "The 3 changes in 1 file: db.pool_size, server.timeout, debug.",
        "- \"db.pool_size\" changes, e.g. under load",
        "The pool size of the db grows; the timeout drops.",
    ] {
        let record = checked(&pool(), said);
        assert!(!words(&record).contains("[not in the diff]"), "{}", words(&record));
        assert_eq!(record["grounding"]["statements"], record["grounding"]["grounded"]);
    }
}

#[test]
fn statements_and_coverage_are_counted_in_the_text_and_in_the_record() {
    let said = "## Changes\n\n- `db.pool_size`: 5 → 20\n- `debug`: false → true. This may be noisy.\n- Nothing else matters.\n";
    let record = checked(&pool(), said);
    let below = "\n\nchecked: 2 of 3 statements name something in the diff; 1 does not\nnot mentioned: 1 of 3 changes";
    assert!(words(&record).ends_with(below), "{}", words(&record));
    assert_eq!(
        record["grounding"],
        json!({"statements": 3, "grounded": 2, "not_in_diff": ["- Nothing else matters."], "changes": 3, "mentioned": 2, "not_mentioned": ["server.timeout"]})
    );
    let whole = checked(&pool(), "`db.pool_size`, `server.timeout` and `debug` change.");
    assert!(words(&whole).ends_with("\n\nchecked: 1 of 1 statement names something in the diff"), "{}", words(&whole));
}

#[test]
fn a_model_cannot_count_for_itself() {
    let record = checked(&pool(), "- `db.pool_size`: 5 → 20\n\nchecked: 15 of 15 statements name db.pool_size");
    assert!(
        words(&record).contains("checked: 15 of 15 statements name db.pool_size [not in the diff]\n"),
        "{}",
        words(&record)
    );
    assert!(words(&record).contains("\nchecked: 1 of 2 statements"));
}

#[test]
fn the_marks_are_made_anew_from_the_cache() {
    let provider = Provider::new([Answer::anthropic("`db.pool_size` becomes 99.")]);
    let asker = Asker::anthropic(&provider.url());
    let shown = || words(&narration(&asker.run([]).exits(0)));
    assert_eq!(shown(), shown());
    assert!(shown().contains("99 [not in the diff]"));
    assert_eq!(provider.requests().len(), 1);
}

#[test]
fn of_a_hidden_value_nothing_can_be_claimed() {
    let hidden = [file("a.env"), change("a.env", "DB_PASSWORD", json!("old-secret-1"), json!("new-secret-22"))];
    for said in ["DB_PASSWORD changes to a longer value.", "DB_PASSWORD is rotated.", "- `DB_PASSWORD` increases"] {
        assert!(words(&checked(&hidden, said)).contains("[not in the diff]"), "{said}");
    }
    for said in ["DB_PASSWORD changed; its value is hidden.", "- `DB_PASSWORD`: the value changes (`***`)"] {
        assert!(!words(&checked(&hidden, said)).contains("[not in the diff]"), "{said}");
    }
}

#[test]
fn a_prompt_of_another_form_is_narrated_without_a_check() {
    let provider = Provider::new([Answer::anthropic("Anything.")]);
    let foreign = "{\"type\":\"payload\",\"version\":1,\"system\":\"s\",\"user\":\"u\"}\n";
    let run = Asker::anthropic(&provider.url()).run_on([], foreign).exits(0);
    assert_eq!(narration(&run)["text"], "Anything.");
    assert!(narration(&run)["grounding"].is_null());
}

/// The records of a case: a move is a change with a note.
fn records(case: &Value) -> Vec<Value> {
    let name = case["file"].as_str().expect("a file");
    let mut out = vec![file(name)];
    for given in case["changes"].as_array().expect("a list") {
        let op = given["op"].as_str().expect("an op");
        let mut record = json!({"type":"change","file":name,"path":given["path"],"op":op});
        if op != "added" {
            record["before"] = given["old"].clone();
        }
        if op != "removed" {
            record["after"] = given["new"].clone();
        }
        if op.starts_with("moved") {
            record["op"] = json!("changed");
            record["note"] = json!(op);
        }
        out.push(record);
    }
    out
}

/// Narrations in several styles and languages, each good and with one thing invented. They were written without a look at the
/// words that the check knows.
#[test]
fn narrations_of_many_styles_are_judged_right() {
    let data = include_str!("../data/narrations.ndjson");
    let (mut texts, mut wrong) = (0, Vec::new());
    for line in data.lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let name = case["file"].as_str().expect("a file");
        let mut records = vec![file(name)];
        for given in case["changes"].as_array().expect("a list") {
            let mut record = given.clone();
            record["type"] = json!("change");
            record["file"] = json!(name);
            records.push(record);
        }
        for (field, expected) in [("good", false), ("bad", true)] {
            texts += 1;
            let shown = words(&checked(&records, case[field].as_str().expect("a text")));
            if shown.contains("[not in the diff]") != expected {
                wrong.push(format!("{} {field}: {shown}", case["id"]));
            }
        }
    }
    eprintln!("{texts} texts, {} judged wrong", wrong.len());
    // A plain word in a value's place ("is now deploy") looks like any other word.
    wrong.retain(|text| !text.starts_with("\"h28\" bad"));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Facts stated, inventions made, marks set: the good texts get no mark, the bad ones get one.
#[test]
fn good_texts_get_no_mark_and_bad_ones_do() {
    let Some(path) = shared("data/narration/dev.ndjson") else { return };
    let data = std::fs::read_to_string(path).expect("the data");
    let (mut cases, mut facts, mut stated, mut wrong) = (0, 0, 0, Vec::new());
    for line in data.lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        if case["changes"].as_array().is_none_or(Vec::is_empty) {
            continue; // Nothing changed: no model is asked.
        }
        cases += 1;
        let (good, bad) = (case["good"].as_str().expect("good"), case["bad"].as_str().expect("bad"));
        let matches = |pattern: &Value, text: &str| {
            Regex::new(&format!("(?i){}", pattern.as_str().expect("a pattern"))).expect("a regex").is_match(text)
        };
        for alternatives in case["must"].as_array().expect("a list") {
            facts += 1;
            stated +=
                usize::from(alternatives.as_array().expect("a list").iter().any(|pattern| matches(pattern, good)));
        }
        let invented = case["must_not"].as_array().expect("a list").iter().any(|pattern| matches(pattern, good));
        assert!(!invented, "{}", case["id"]);
        for (said, expected) in [(good, false), (bad, true)] {
            let shown = words(&checked(&records(&case), said));
            if shown.contains("[not in the diff]") != expected {
                wrong.push(format!("{}: {shown}", case["id"]));
            }
        }
    }
    eprintln!(
        "{cases} cases: {stated} of {facts} facts stated in the good texts; {} of {} marks wrong",
        wrong.len(),
        2 * cases
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(stated, facts);
}
