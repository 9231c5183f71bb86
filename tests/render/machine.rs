//! json and ndjson: everything that the stream said, and nothing that a CI log would act on.

use super::sample::{NARRATION, README, TWENTY, render};
use serde_json::Value;

fn json(run: &str) -> Value {
    serde_json::from_str(run).unwrap_or_else(|error| panic!("{error}: {run}"))
}

#[test]
fn json_is_one_document_with_everything_in_it() {
    let run = render(["--format", "json"], TWENTY).exits(2);
    let document = json(&run.stdout);
    assert_eq!(document["version"], 1);
    assert_eq!(document["baseline"], "origin/main");
    assert_eq!(document["to"], "HEAD");
    assert_eq!(document["x-tool"], "ours", "unknown fields of known records stay");
    assert_eq!(document["complete"], false);
    assert_eq!(document["incomplete"], "1 file could not be compared");
    assert_eq!(document["counts"], serde_json::json!({"files": 9, "differing": 4, "changes": 8, "errors": 1}));
    assert_eq!(document["verdict"]["failed"], false);
    assert_eq!(document["warnings"].as_array().map(Vec::len), Some(1));
    assert!(document.get("narration").is_none());
    let files = document["files"].as_array().expect("files");
    let names: Vec<_> = files.iter().filter_map(|file| file["file"].as_str()).collect();
    assert_eq!(names, ["a/new.env", "a/old.json", "broken.yaml", "deploy/api.yaml", "layout.yaml"]);
    assert_eq!(files[2]["error"], "12:3: mapping values are not allowed here");
    assert_eq!(files[3]["changes"].as_array().map(Vec::len), Some(6));
    assert_eq!(files[3]["findings"][0]["my-field"], serde_json::json!([1, 2]));
    assert_eq!(files[3]["findings"][1]["accepted"]["reason"], "rotated, see runbook");
    assert_eq!(files[4]["changes"], serde_json::json!([]));
    assert!(run.stdout.contains("\"text\": \"12345678901234567890123\""));
    assert!(run.stdout.starts_with("{\n  \"version\": 1,\n  \"baseline\": \"origin/main\",\n"));
    assert!(run.stdout.ends_with("\n}\n"));
}

#[test]
fn json_complete_run_with_a_failed_gate() {
    let document = json(&render(["--format", "json"], README).exits(1).stdout);
    assert_eq!(document["complete"], true);
    assert_eq!(document["verdict"]["failed"], true);
    assert!(document.get("incomplete").is_none() && document.get("warnings").is_none());
}

#[test]
fn e5_json_has_the_label_and_only_with_a_narration() {
    let document = json(&render(["--format", "json"], &format!("{README}{NARRATION}")).exits(1).stdout);
    assert_eq!(
        document["narration"]["label"],
        "Model-generated narration (anthropic claude-opus-5) — advisory, not computed by Flecto, and never part of the exit code"
    );
    assert_eq!(document["narration"]["text"], "- The pool is four times as large.\n- `debug` is on.\n");
}

#[test]
fn g5_the_same_bytes_twice_and_from_the_same_records_laid_out_otherwise() {
    for format in ["text", "json"] {
        let once = render(["--format", format], TWENTY).stdout;
        assert_eq!(render(["--format", format], TWENTY).stdout, once);
        let spaced = TWENTY.replace("{\"type\":", "{ \"type\" : ").replace('\n', " \r\n\n");
        assert_eq!(render(["--format", format], &spaced).stdout, once, "{format}");
    }
}

#[test]
fn ndjson_passes_the_report_and_nothing_of_the_narration() {
    let run = render(["--format", "ndjson"], &format!("{TWENTY}{NARRATION}")).exits(2);
    let kept: String = TWENTY
        .lines()
        .filter(|line| !line.contains("\"payload\"") && !line.contains("\"narrate\""))
        .flat_map(|line| [line, "\n"])
        .collect();
    assert_eq!(run.stdout, kept);
}

#[test]
fn r4_machine_output_holds_no_command_but_the_same_values() {
    let input = README.replace("Potentially", "##[add-mask]main ##vso[task.setvariable]x \\u202e");
    for format in ["json", "ndjson"] {
        let out = render(["--format", format], &input).exits(1).stdout;
        assert!(!out.contains("##[") && !out.contains("##vso[") && !out.contains('\u{202e}'), "{out}");
        assert!(out.contains("#\\u0023[add-mask]main #\\u0023vso[task.setvariable]x \\u202e"), "{out}");
    }
}

#[test]
fn a_removed_value_is_shown_at_what_held_it() {
    let input = concat!(
        r#"{"type":"start","version":1,"baseline":"HEAD"}"#,
        "\n",
        r#"{"type":"file","file":"a.yaml","format":"yaml","status":"modified"}"#,
        "\n",
        r#"{"type":"change","file":"a.yaml","path":"db.tls","op":"removed","before":true,"before_line":9,"parent_line":7}"#,
        "\n",
        r#"{"type":"finding","file":"a.yaml","path":"db.tls","rule":"tls-gone","severity":"warn","message":"Gone.","before":true,"before_line":9,"parent_line":7}"#,
        "\n",
        r#"{"type":"change","file":"a.yaml","path":"db.x","op":"removed","before":true,"before_line":10,"parent_line":7}"#,
        "\n",
        r#"{"type":"verdict","fail_on":["error"],"failed":false,"error":0,"warn":1,"info":0,"accepted":0,"added":0,"removed":2,"changed":0,"reordered":0}"#,
        "\n",
        r#"{"type":"end","files":1,"differing":1,"changes":2,"errors":0,"complete":true}"#,
        "\n",
    );
    let of = |format: &'static str| render(["--format", format], input).exits(0).stdout;
    let sarif = json(&of("sarif"));
    let region = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startLine"], 7);
    let annotations = of("github-annotations");
    assert!(annotations.contains("::warning file=a.yaml,line=7"), "{annotations}");
    assert!(annotations.contains("::notice file=a.yaml,line=7"), "{annotations}");
    assert_eq!(json(&of("rdjsonl"))["location"]["range"]["start"]["line"], 7);
    assert_eq!(json(&of("gitlab-codequality"))[0]["location"]["lines"]["begin"], 7);
    assert!(of("junit").contains("line=\"7\""));
}
