//! `flecto policies` and `flecto accept`.

use super::{change, policy, stream};
use crate::support::{program, run, run_with};
use flecto::rules;

fn flecto(args: &[&str], input: &str) -> crate::support::Run {
    run_with(program("flecto").args(args), input)
}

#[test]
fn policies_list_names_every_rule_and_show_explains_it() {
    let list = flecto(&["policies", "list"], "").exits(0).stdout;
    for name in rules::builtin_names() {
        for rule in &rules::read_builtin(name).expect("a pack").rules {
            assert!(list.contains(&format!("  {}  ", rule.id)) || list.contains(&rule.id), "{}", rule.id);
        }
    }
    let show = flecto(&["policies", "show", "pool-size-jump"], "").exits(0).stdout;
    for part in ["default/pool-size-jump (warn)", "max_connections", "Source:", "db.pool_size: 5 -> 20"] {
        assert!(show.contains(part), "{part}: {show}");
    }
    assert!(flecto(&["policies", "show", "kubernetes"], "").exits(0).stdout.contains("k8s-privileged"));
    let unknown = flecto(&["policies", "show", "pool-size-jmp"], "").exits(2);
    assert!(unknown.stderr.contains("did you mean `pool-size-jump`?"), "{}", unknown.stderr);
}

#[test]
fn policies_test_runs_examples_and_folders() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(path, text).expect("a file");
    };
    let pack = "pack: ours\nabout: x\nrules:\n- id: no-http\n  severity: warn\n  match: {key: url, after: {regex: '^http:'}}\n  message: No.\n  fires: {path: a.url, after: 'http://x'}\n  quiet: {path: a.url, after: 'https://x'}\n";
    write("ours.yaml", pack);
    write("case/before.yaml", "a: {url: 'https://x'}\n");
    write("case/after.yaml", "a: {url: 'http://x'}\n");
    write("case/expected.txt", "# what must be found\nno-http a.url\n");
    let test = || run(program("flecto").args(["policies", "test"]).arg(dir.path()));
    assert_eq!(test().exits(0).stdout, "3 tests, 0 failed\n");
    write("case/expected.txt", "no-http b.url\n");
    let failed = test().exits(1);
    assert!(failed.stderr.contains("expected and not found: no-http b.url"), "{}", failed.stderr);
    assert!(failed.stderr.contains("found and not expected: no-http a.url"), "{}", failed.stderr);
    write("case/expected.txt", "no-http a.url\n");
    write("ours.yaml", &pack.replace("'https://x'}\n", "'http://y'}\n"));
    let failed = test().exits(1);
    assert!(failed.stderr.contains("ours.yaml:9: `no-http` fires at this example"), "{}", failed.stderr);
    write("ours.yaml", "pack: [\n");
    test().exits(2);
}

#[test]
fn accept_writes_the_file_that_policy_reads() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("accepted.json");
    let name = file.to_str().expect("text");
    let input = stream(&[
        &change("debug", "changed", r#","before":false,"after":true"#),
        &change("db.pool_size", "changed", r#","before":5,"after":20"#),
    ]);
    let report = policy(&["--fail-on", "none"], &input).exits(0).stdout;
    let accept = |args: &[&str], input: &str| {
        let mut all = vec!["accept", "--accepted", name, "--reason", "a test bed", "--date", "2026-05-04"];
        all.extend(args);
        flecto(&all, input)
    };
    accept(&[], &report).exits(2);
    accept(&["--rule", "no-such-rule"], &report).exits(2);
    accept(&["--all"], &report[..report.len() / 2]).exits(2);
    assert!(!file.exists(), "nothing is written when something is wrong");
    accept(&["--rule", "dangerous-toggle-enabled"], &report).exits(0);
    let once = policy(&["--accepted", name], &input).exits(1);
    assert_eq!(once.records("verdict")[0]["accepted"], 1);
    accept(&["--path", "db.pool_size"], &once.stdout).exits(0);
    policy(&["--accepted", name], &input).exits(0);
    let text = std::fs::read_to_string(&file).expect("the file");
    accept(&["--all"], &report).exits(0);
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), text, "the same command writes the same file");
    let wrong = ["accept", "--accepted", name, "--reason", "x", "--date", "today", "--all"];
    flecto(&wrong, &report).exits(2);
}
