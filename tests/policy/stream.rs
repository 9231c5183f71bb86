//! Records in, the same records out: order, bytes, counts, and streams that are less than whole.

use super::{START, change, end, file, fired, policy, stream};
use crate::support::{program, run_with};
use std::io::Write as _;
use std::process::Stdio;

const POOL: &str = r#","before":5,"after":20"#;
const DEBUG: &str = r#","before":false,"after":true"#;

#[test]
fn everything_passes_byte_for_byte_and_in_order() {
    let foreign = "{ \"note\" : [1,  2],\t\"type\":\"mine\" }";
    let odd = r#"{"op":"changed", "after": 6.0,"before":5, "x":"é","path":"size","file":"a.yaml","type":"change"}"#;
    let input = format!(
        "{START}\n{}\n\n{foreign}\n{odd}\n{}{}\n",
        file("modified"),
        end(1, true),
        r#"{"type":"narration","provider":"p","model":"m","label":"l","text":"t","cached":false,"truncated":false}"#
    );
    let run = policy(&[], &input).exits(0);
    let passed: String = run.stdout.lines().filter(|l| !l.contains("verdict")).map(|l| format!("{l}\n")).collect();
    assert_eq!(passed, input);
}

#[test]
fn each_finding_follows_its_change_and_the_verdict_stands_before_the_end() {
    let run =
        policy(&[], &stream(&[&change("db.pool_size", "changed", POOL), &change("debug", "changed", DEBUG)])).exits(1);
    let kinds: Vec<String> = run
        .stdout
        .lines()
        .map(|l| {
            serde_json::from_str::<serde_json::Value>(l).expect("JSON")["type"].as_str().expect("text").to_string()
        })
        .collect();
    assert_eq!(kinds, ["start", "file", "change", "finding", "change", "finding", "verdict", "end"]);
}

#[test]
fn e1_the_messages_are_these() {
    let run = policy(&[], &stream(&[&change("db.pool_size", "changed", POOL), &change("debug", "changed", DEBUG)]));
    let findings = run.records("finding");
    let told: Vec<_> = findings.iter().map(|f| (&f["severity"], &f["pack"], &f["message"])).collect();
    assert_eq!(told[0].0, "warn");
    assert_eq!(told[0].1, "default");
    assert_eq!(told[0].2, "Pool size increased from 5 to 20 (>=2x).");
    assert_eq!(findings[0]["template"], "Pool size increased from {before} to {after} (>=2x).");
    assert_eq!(told[1].0, "error");
    assert_eq!(told[1].2, "Potentially dangerous toggle enabled.");
    assert_eq!(findings[1].get("before"), None, "a sentence that says no value carries none");
}

#[test]
fn a_users_finding_counts_with_as_little_as_it_must_have() {
    let own = r#"{"type":"finding","file":"a.yaml","path":"x","rule":"mine","severity":"warn","message":"No."}"#;
    let run = policy(&["--policies", "none"], &stream(&[&change("x", "changed", POOL), own])).exits(1);
    assert!(run.stdout.contains(own));
    assert_eq!(run.records("verdict")[0]["warn"], 1);
    let lacking = own.replace(r#""rule":"mine","#, "");
    let run = policy(&[], &stream(&[&change("x", "changed", POOL), &lacking])).exits(2);
    assert!(run.stderr.contains("line 4") && run.stderr.contains("`rule`"), "{}", run.stderr);
    let wrong = own.replace("warn", "critical");
    policy(&[], &stream(&[&wrong])).exits(2);
}

#[test]
fn a_second_gate_in_the_line_adds_nothing_and_decides_anew() {
    let input = stream(&[&change("db.pool_size", "changed", POOL)]);
    let first = policy(&["--fail-on", "none"], &input).exits(0);
    let second = policy(&["--fail-on", "warn"], &first.stdout).exits(1);
    assert_eq!(second.records("finding").len(), 1);
    let verdicts = second.records("verdict");
    assert_eq!((verdicts.len(), &verdicts[0]["failed"]), (1, &serde_json::Value::Bool(true)));
}

#[test]
fn subtrees_are_judged_leaf_by_leaf() {
    let tree = r#","after":{"web":{"debug":true,"env":[{"name":"APP_DEBUG","value":"1"},{"name":"B","value":"1"}],"list":["X=1","DEBUG=true"]}}"#;
    let run = policy(&[], &stream(&[&change("$", "added", tree)])).exits(1);
    assert_eq!(
        fired(&run),
        [
            "dangerous-toggle-enabled web.debug",
            "dangerous-toggle-enabled web.env[name=APP_DEBUG].value",
            "dangerous-toggle-enabled web.list[@DEBUG]"
        ]
    );
}

#[test]
fn a_document_in_a_string_is_judged_too() {
    let yaml = r#","after":"server:\n  debug: true\n""#;
    let run = policy(&[], &stream(&[&change("data['app.yaml']", "added", yaml)])).exits(1);
    assert_eq!(fired(&run), ["dangerous-toggle-enabled data['app.yaml']!server.debug"]);
    let json = r#","before":"{\"debug\": false}","after":"{\"debug\": true, \"x\": 1}""#;
    let run = policy(&[], &stream(&[&change("data.conf", "changed", json)])).exits(1);
    assert_eq!(fired(&run), ["dangerous-toggle-enabled data.conf!debug"]);
    let whole = r#","after":{"data":{"app.yaml":"inner: |\n  debug: true\n"}}"#;
    let run = policy(&[], &stream(&[&change("$", "added", whole)])).exits(1);
    assert_eq!(fired(&run), ["dangerous-toggle-enabled data['app.yaml']!inner!debug"]);
}

#[test]
fn a_map_with_our_own_mark_in_it_hides_nothing() {
    let sly = r#","after":{"$flecto":"map","entries":[["$flecto","int"],["debug",true],[1,{"debug":true}]]}"#;
    let run = policy(&[], &stream(&[&change("web", "added", sly)])).exits(1);
    assert_eq!(fired(&run), ["dangerous-toggle-enabled web.debug", "dangerous-toggle-enabled web.1.debug"]);
}

#[test]
fn a_value_that_replaces_another_kind_is_judged_inside() {
    let run = policy(&[], &stream(&[&change("web", "changed", r#","before":"x","after":{"debug":true}"#)])).exits(1);
    assert_eq!(fired(&run), ["dangerous-toggle-enabled web.debug"]);
    let both = r#","before":{"debug":true,"n":1},"after":{"debug":true,"n":2}"#;
    policy(&[], &stream(&[&change("web", "changed", both)])).exits(0);
}

#[test]
fn the_same_rule_at_the_same_place_fires_once() {
    let line = change("debug", "changed", DEBUG);
    let run = policy(&[], &stream(&[&line, &line])).exits(1);
    assert_eq!(run.records("finding").len(), 1);
    let other = line.replace(r#""path""#, r#""document":"1","path""#);
    assert_eq!(policy(&[], &stream(&[&line, &other])).records("finding").len(), 2);
}

#[test]
fn a_value_that_was_too_long_for_a_record_is_named_as_not_judged() {
    let cut = r#","after":{"$flecto":"long","text":"70000000 bytes, sha256 0123456789ab"}"#;
    let run = policy(&[], &stream(&[&change("blob", "added", cut)])).exits(1);
    assert_eq!(fired(&run), ["value-not-judged blob"]);
}

#[test]
fn half_a_diff_does_not_pass() {
    let line = change("size", "changed", DEBUG);
    let whole = stream(&[&line, &line]);
    for (name, broken) in [
        ("a change lost", whole.replacen(&format!("{line}\n"), "", 1)),
        ("no start", whole.replacen(START, "", 1)),
        ("no end", whole.replace(&end(2, true), "")),
        ("no file", whole.replacen(&file("modified"), "", 1)),
        ("nothing", String::new()),
    ] {
        let run = policy(&["--fail-on", "none"], &broken).exits(2);
        assert!(
            run.stderr.starts_with("flecto-policy: ") && run.stderr.contains("--partial"),
            "{name}: {}",
            run.stderr
        );
        policy(&["--fail-on", "none", "--partial"], &broken).exits(0);
    }
    for (name, broken) in [
        ("two streams", format!("{whole}{whole}")),
        (
            "a finding after the end",
            format!(
                "{whole}{}\n",
                r#"{"type":"finding","file":"f","path":"p","rule":"r","severity":"info","message":"m"}"#
            ),
        ),
        ("no record", whole.replace(&line, "{nope")),
        ("cut off", whole[..whole.len() - 5].to_string()),
        ("a path that is none", whole.replace(r#""path":"size""#, r#""path":"a..b""#)),
    ] {
        let run = policy(&["--fail-on", "none", "--partial"], &broken).exits(2);
        assert_eq!(run.stderr.lines().count(), 1, "{name}: {}", run.stderr);
    }
}

#[test]
fn a_partial_stream_still_gets_a_verdict() {
    let run = policy(&["--partial"], &format!("{}\n", change("debug", "changed", DEBUG))).exits(1);
    assert_eq!(run.records("verdict")[0]["failed"], true);
}

#[test]
fn what_could_not_be_read_is_exit_2_after_passing_on() {
    let input = stream(&[&change("debug", "changed", DEBUG)]).replace("\"complete\":true", "\"complete\":false");
    for fail_on in ["policy", "none"] {
        let run = policy(&["--fail-on", fail_on], &input).exits(2);
        assert_eq!(run.records("verdict")[0]["error"], 1);
        assert_eq!(run.records("end")[0]["complete"], false);
    }
}

#[test]
fn judging_goes_on_when_nobody_reads() {
    let mut input = format!("{START}\n{}\n", file("modified"));
    let many = 20_000;
    for at in 0..many {
        input.push_str(&change(&format!("k{at}"), "changed", POOL));
        input.push('\n');
    }
    input.push_str(&change("debug", "changed", DEBUG));
    input.push_str(&format!("\n{}", end(many + 1, true)));
    let mut child = program("flecto-policy")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    drop(child.stdout.take());
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("all of it is read");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(1), 0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("the device");
    let mut child = program("flecto-policy")
        .stdin(Stdio::piped())
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    child.stdin.take().expect("a pipe").write_all(stream(&[]).as_bytes()).expect("read");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output"));
}

#[test]
fn bad_options_are_exit_2_and_say_what_was_meant() {
    for (args, says) in [
        (vec!["--fail-on", "eror"], "did you mean `error`?"),
        (vec!["--fail-on", ""], "empty"),
        (vec!["--fail-on", "none", "--fail-on", "error"], "beside other triggers"),
        (vec!["--policies", "defualt"], "did you mean `default`?"),
        (vec!["--policies", "none,default"], "beside other policies"),
        (vec!["--severity", "pool-size-jmp=info"], "did you mean `pool-size-jump`?"),
        (vec!["--severity", "pool-size-jump=fatal"], "unknown level"),
        (vec!["--severity", "pool-size-jump"], "no `=`"),
        (vec!["--policy-file", "does-not-exist.yaml"], "cannot be read"),
        (vec!["--accepted", "does-not-exist.json"], "cannot be read"),
        (vec!["--add-finding", "{}"], "not `finding`"),
    ] {
        let run = run_with(program("flecto-policy").args(&args), "").exits(2);
        assert!(run.stderr.contains(says), "{args:?}: {}", run.stderr);
        assert_eq!(run.stdout, "");
    }
}
