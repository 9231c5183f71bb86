//! What somebody could write into a pack or a stream to get past the gate, or to hold it up.

use super::{change, fired, policy, stream};
use crate::support::{bin_dir, clean, run_with};
use std::process::Command;
use std::time::{Duration, Instant};

fn with_pack(name: &str, text: &str, input: &str) -> crate::support::Run {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join(name);
    std::fs::write(&path, text).expect("a file");
    policy(&["--policies", "none", "--policy-file", path.to_str().expect("text")], input)
}

fn pack(matcher: &str) -> String {
    format!("pack: mine\nabout: ours\nrules:\n- id: mine\n  severity: warn\n  match: {matcher}\n  message: Seen.\n")
}

#[test]
fn a_pack_of_ones_own_judges() {
    let input = stream(&[&change("image", "changed", r#","before":"a:1","after":"a:latest""#)]);
    let run = with_pack("p.yaml", &pack("{key: image, after: {regex: ':latest$'}}"), &input).exits(1);
    assert_eq!(fired(&run), ["mine image"]);
    let json = r#"{"pack":"mine","about":"x","rules":[{"id":"mine","severity":"info","match":{"path":"image","op":"changed"},"message":"Seen {after}."}]}"#;
    let run = with_pack("p.json", json, &input).exits(0);
    assert_eq!(run.records("finding")[0]["message"], "Seen a:latest.");
}

#[test]
fn a_pack_that_is_wrong_is_named_by_line_and_column() {
    for (text, says) in [
        (
            pack("{key: image, after: 1}").replace("severity", "severty"),
            ":5:3: unknown key `severty` in a rule; did you mean `severity`?",
        ),
        (pack("{keys: image, after: 1}"), ":6:11: unknown key `keys` in `match`; did you mean `key`?"),
        (pack("{key: image}"), ":6:10: `match` asks nothing"),
        (pack("{key: '*', after: 1}"), "no name of a key"),
        (pack("{path: 'a..b', after: 1}"), ":6:17: no path pattern: at character 3"),
        (pack("{key: a, after: {regex: '(?=x)'}}"), "no look-around"),
        (pack("{key: a, after: {above: many}}"), "`above` is no quantity"),
        (pack("{key: a, after: {is: shiny}}"), "unknown word `shiny`"),
        (pack("{key: a, grows: {factor: 0}}"), "no number above 1"),
        (pack("{key: a, grows: {factor: 2}, shrinks: {factor: 2}}"), "beside `shrinks`"),
        (pack("{key: a, op: renamed}"), "unknown word `renamed`"),
        (pack("{key: a, after: {}}"), "empty demand"),
        ("- 1\n".into(), ":1:1: a list where a pack is expected"),
        (String::new(), ""),
        ("pack: a\nabout: b\nrules: []\n---\nx: 1\n".into(), "second document"),
        ("pack: a\nabout: b\nrules: 3\n".into(), ":3:8: `rules` is no list"),
        ("pack: A b\nabout: b\nrules: []\n".into(), "is no name"),
        ("pack: a\nrules: []\n".into(), "without `about`"),
        (pack("{key: a, after: 1}").replace("about: ours\n", "about: ours\nabout: ours\n"), ""),
    ] {
        let run = with_pack("p.yaml", &text, "").exits(2);
        assert!(run.stderr.contains("p.yaml:") && run.stderr.contains(says), "{text}\n{}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1);
    }
}

#[test]
fn hostile_packs_end_in_an_error_in_bounded_time() {
    let start = Instant::now();
    let bomb = {
        let mut text = String::from("a0: &a0 [x, x]\n");
        for at in 1..40 {
            text.push_str(&format!("a{at}: &a{at} [*a{}, *a{}]\n", at - 1, at - 1));
        }
        text
    };
    let many_regexes = format!(
        "pack: a\nabout: b\nrules:\n{}",
        (0..300)
            .map(|at| format!("- {{id: r{at}, severity: warn, match: {{key: a, after: {{regex: '(\\w{{1,8}}-){{8}}'}}}}, message: x}}\n"))
            .collect::<String>()
    );
    for (name, text) in [
        ("a regex that explodes", pack(r"{key: a, after: {regex: '(\w{1,100}){1,100}'}}")),
        (
            "a regex that nests",
            pack(&format!("{{key: a, after: {{regex: '{}a{}'}}}}", "(".repeat(200), ")".repeat(200))),
        ),
        ("many regexes", many_regexes),
        ("a pattern that is long", pack(&format!("{{path: '{}', after: 1}}", "a.".repeat(2000)))),
        ("demands that nest", pack(&format!("{{key: a, after: {}1{}}}", "{not: ".repeat(100), "}".repeat(100)))),
        ("an alias bomb", bomb),
        ("a deep file", "[".repeat(100_000)),
        ("a huge file", "#".repeat(2 << 20)),
        ("many rules", format!("pack: a\nabout: b\nrules: [{}]", "1,".repeat(2000))),
        ("no text", "\0\0".into()),
    ] {
        let run = with_pack("p.yaml", &text, "").exits(2);
        assert_eq!(run.stderr.lines().count(), 1, "{name}: {}", run.stderr);
        assert!(run.stderr.len() < 500, "{name}: {}", run.stderr.len());
    }
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

#[test]
fn a_slow_regex_over_a_long_value_ends() {
    let value = "a".repeat(1 << 20);
    let input = stream(&[&change("a", "added", &format!(r#","after":"{value}""#))]);
    let start = Instant::now();
    with_pack("p.yaml", &pack("{key: a, after: {regex: '(a|aa|aaa|a*)*b$'}}"), &input).exits(0);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn deep_and_wide_values_are_judged_in_bounded_time() {
    let deep = format!("{}true{}", r#"{"debug":"#.repeat(240), "}".repeat(240));
    let wide = format!(
        "[{}]",
        (0..50_000).map(|at| format!("{{\"name\":\"n{at}\",\"debug\":true}}")).collect::<Vec<_>>().join(",")
    );
    // Bounded processor time, because a busy machine stretches every other: the shell's limit kills what takes more.
    let limited = "ulimit -t 40; exec \"$0\"";
    for (value, expected) in [(deep, 1), (wide, 50_000)] {
        let input = stream(&[&change("x", "added", &format!(",\"after\":{value}"))]);
        let mut command = clean(Command::new("sh"));
        let run = run_with(command.args(["-c", limited]).arg(bin_dir().join("flecto-policy")), input).exits(1);
        assert_eq!(run.stdout.lines().filter(|line| line.contains(r#""type":"finding""#)).count(), expected);
    }
}

#[test]
fn foreign_text_in_messages_is_inert() {
    let path = r"['\u001b[2J##[error]x']";
    let input = stream(&[&change(&format!("{path}.debug"), "added", r#","after":true"#)]);
    let run = policy(&[], &input).exits(1);
    let finding = run.stdout.lines().find(|line| line.contains("\"finding\"")).expect("a finding");
    assert!(!finding.contains('\u{1b}') && !finding.contains("##["), "{finding}");
}

#[test]
fn an_acceptance_that_travels_with_the_change_does_not_count_against_a_commit() {
    let line = change(
        "debug",
        "changed",
        r#","before":false,"after":true,"line":4,"accept":{"rule":"dangerous-toggle-enabled","reason":"trust me"}"#,
    );
    let commit = "a".repeat(40);
    let input = stream(&[&line])
        .replace(r#""baseline":"origin/main""#, &format!(r#""baseline":"origin/main","commit":"{commit}""#));
    let run = policy(&[], &input).exits(1);
    assert_eq!(run.records("finding")[0].get("accepted"), None);
    let warning = run.records("warning")[0]["message"].as_str().expect("text").to_string();
    assert!(
        warning.contains("a.yaml:4") && warning.contains("trust me") && warning.contains("--accept-inline"),
        "{warning}"
    );
    policy(&["--accept-inline"], &input).exits(0);
    // Without a start nobody can say what it compares with.
    policy(&["--partial"], &format!("{line}\n")).exits(1);
}
