//! `flecto ci` and `flecto explain` as commands: E1, G1–G5, G7, and the options of the first day.

use super::kit::{REPORT, changed};
use crate::support::{Repo, Run, run};

const FROM: [&str; 2] = ["--snapshot-ref", "origin/main"];

#[test]
fn e1_explain_and_ci_print_the_report_to_the_byte() {
    let repo = changed();
    let explained = run(repo.program("flecto").args(["explain", "config/prod.yaml"]).args(FROM)).exits(0);
    assert_eq!(explained.stdout, REPORT);
    let ci = run(repo.program("flecto").args(["ci", "config/prod.yaml", "--format", "text"]).args(FROM)).exits(1);
    assert_eq!(ci.stdout, REPORT);
    repo.git(["checkout", "--quiet", "."]);
    let same = run(repo.program("flecto").args(["explain", "config/prod.yaml"]).args(FROM)).exits(0);
    assert_eq!(same.stdout, "config/prod.yaml — no changes from origin/main\n");
    repo.write("config/prod.yaml", "db:\n  host: db.internal\n  pool_size: 6\ndebug: false\n");
    let one = run(repo.program("flecto").args(["explain", "config/prod.yaml"]).args(FROM)).exits(0);
    assert_eq!(one.stdout, "config/prod.yaml — 1 change from origin/main:\n  ~ db.pool_size: 5 → 6\n");
}

#[test]
fn e1_colour_changes_no_other_byte() {
    let repo = changed();
    let coloured =
        run(repo.program("flecto").args(["ci", "config/prod.yaml", "--color", "always"]).args(FROM)).exits(1);
    assert!(coloured.stdout.contains("\u{1b}["), "{}", coloured.stdout);
    let mut plain = String::new();
    let mut rest = coloured.stdout.as_str();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.split_once('m').expect("a colour").1;
    }
    plain.push_str(rest);
    assert_eq!(plain, REPORT);
}

#[test]
fn e2_targets_from_any_folder() {
    let repo = changed();
    let from = |dir: &str, target: &str| {
        let mut command = repo.program("flecto");
        command.current_dir(repo.path().join(dir)).args(["ci", target, "--fail-on", "changed"]);
        run(&mut command)
    };
    for (dir, target) in
        [("", "config"), ("", "config/**/*.{yaml,yml}"), ("config", "."), ("config", "prod.yaml"), ("config", "*.yaml")]
    {
        assert!(from(dir, target).exits(1).stdout.contains("db.pool_size"), "{dir} {target}");
    }
    let nothing = run(repo.program("flecto").args(["ci", "config", "confg/*.yaml"])).exits(2);
    assert!(nothing.stderr.contains("confg/*.yaml"), "{}", nothing.stderr);
}

#[test]
fn g1_three_exit_statuses() {
    let repo = changed();
    repo.run("flecto", ["ci", "config", "--fail-on", "removed"]).exits(0);
    repo.run("flecto", ["ci", "config", "--fail-on", "changed"]).exits(1);
    let unresolved = repo.run("flecto", ["ci", "config", "--snapshot-ref", "gone"]).exits(2);
    assert_eq!(unresolved.stdout.lines().filter(|line| line.contains("pool_size")).count(), 0);
    repo.run("flecto", ["ci", "config", "--no-such-option"]).exits(2);
    repo.write("config/broken.yaml", "a: [1\nb: 2\n");
    for format in ["text", "json", "ndjson"] {
        let partial = repo.run("flecto", ["ci", "config", "--format", format]).exits(2);
        assert!(partial.stdout.contains("db.pool_size"), "what could be read is reported: {}", partial.stdout);
        assert!(
            partial.stdout.contains("incomplete") || partial.stdout.contains("\"complete\":false"),
            "{}",
            partial.stdout
        );
        assert!(partial.stdout.contains("broken.yaml"), "{}", partial.stdout);
    }
}

#[test]
fn g2_snapshot_ref_is_one_commit() {
    let repo = changed();
    repo.write("two", "x");
    repo.commit("second");
    for wrong in
        ["HEAD~1..HEAD", "HEAD...origin/main", "config/prod.yaml", "HEAD:config/prod.yaml", "", "^HEAD", "--all"]
    {
        let done = run(repo.program("flecto").arg("ci").arg("config").arg(format!("--snapshot-ref={wrong}"))).exits(2);
        assert!(!done.stdout.contains("pool_size"), "{wrong}: {}", done.stdout);
    }
}

#[test]
fn g3_no_match_is_exit_2_unless_allowed() {
    let repo = changed();
    repo.run("flecto", ["ci", "*.toml"]).exits(2);
    repo.run("flecto", ["ci", "*.toml", "--allow-empty"]).exits(0);
}

#[test]
fn g4_without_a_key_the_gate_still_runs() {
    let repo = changed();
    let mut command = repo.program("flecto");
    command.args(["ci", "config/prod.yaml", "--explain", "--provider", "anthropic"]).args(FROM);
    // As a fork's workflow has them.
    command.env("FLECTO_EXPLAIN_API_KEY", "").env("ANTHROPIC_API_KEY", "").env("GITHUB_TOKEN", "");
    let done = run(&mut command).exits(1);
    assert_eq!(done.stdout, REPORT);
    assert_eq!(done.stderr.lines().filter(|line| line.starts_with("No narration: ")).count(), 1, "{}", done.stderr);
}

#[test]
fn g5_the_same_inputs_give_the_same_bytes() {
    let (one, two) = (changed(), changed());
    for format in ["text", "json", "ndjson"] {
        let run = |repo: &Repo| repo.run("flecto", ["ci", "config", "--format", format]).exits(1).stdout;
        let first = run(&one);
        assert_eq!(first, run(&one), "{format}");
        assert_eq!(first, run(&two), "{format}: another folder");
        assert!(!first.contains(&*one.path().to_string_lossy()), "{format}: an absolute path");
    }
}

#[test]
fn g7_fail_on_words() {
    let repo = changed();
    for (words, status) in [
        ("policy", 1),
        ("error", 1),
        ("warn", 1),
        ("info", 0),
        ("changed", 1),
        ("added", 0),
        ("removed", 0),
        ("added,changed", 1),
        ("none", 0),
    ] {
        repo.run("flecto", ["ci", "config", "--fail-on", words]).exits(status);
    }
    repo.run("flecto", ["ci", "config"]).exits(1);
    let unknown = repo.run("flecto", ["ci", "config", "--fail-on", "eror"]).exits(2);
    assert!(unknown.stderr.contains("eror") && unknown.stdout.is_empty(), "{}{}", unknown.stdout, unknown.stderr);
}

#[test]
fn the_last_line_tells_what_was_found_and_the_verdict_on_stderr() {
    let repo = changed();
    // Files, changes, findings by severity, accepted ones, the verdict, the time.
    let told = |run: &Run| {
        let line = run.stderr.strip_suffix(" s\n").unwrap_or_else(|| panic!("{}", run.stderr));
        let (line, time) = line.rsplit_once("; ").expect("a time");
        assert!(time.parse::<f64>().is_ok_and(|time| (0.0..60.0).contains(&time)), "{time}");
        line.to_string()
    };
    let failed = repo.run("flecto", ["ci", "config", "--fail-on", "warn,error"]).exits(1);
    let found = "flecto: 2 changes in 1 of 1 file; findings: 1 error, 1 warn, 0 info, 0 accepted";
    assert_eq!(told(&failed), format!("{found}; gate failed (--fail-on warn,error)"));
    let passed = repo.run("flecto", ["ci", "config", "--fail-on", "none"]).exits(0);
    assert_eq!(told(&passed), format!("{found}; gate passed (--fail-on none)"));
    assert_eq!(passed.stdout, failed.stdout, "it is no part of the report");
    assert_eq!(repo.run("flecto", ["ci", "config", "--quiet"]).exits(1).stderr, "");
    // An accepted finding counts as one; a file that cannot be read is told first, and the line says what the rest is worth.
    repo.write("a.json", r#"{"accepted":[{"rule":"pool-size-jump","file":"config/prod.yaml","path":"db.pool_size","reason":"x","date":"2026-05-04"}]}"#);
    let accepted = repo.run("flecto", ["ci", "config", "--accepted", "a.json"]).exits(1);
    assert!(
        told(&accepted).contains("findings: 1 error, 0 warn, 0 info, 1 accepted; gate failed"),
        "{}",
        accepted.stderr
    );
    repo.write("config/broken.yaml", "a: [\n");
    let broken = repo.run("flecto", ["ci", "config"]).exits(2);
    assert!(
        broken.stderr.contains("2 changes in 1 of 2 files;")
            && broken.stderr.contains("; incomplete (--fail-on policy)"),
        "{}",
        broken.stderr
    );
}

#[test]
fn an_output_file_is_whole_or_not_touched() {
    let repo = changed();
    let read = |name: &str| std::fs::read_to_string(repo.path().join(name)).expect("a file");
    let done = run(repo.program("flecto").args(["ci", "config/prod.yaml", "-o", "out.txt"]).args(FROM)).exits(1);
    assert_eq!((done.stdout.as_str(), read("out.txt").as_str()), ("", REPORT));
    // A run that cannot even begin leaves the old report.
    repo.run("flecto", ["ci", "config", "--snapshot-ref", "gone", "--format", "ndjson", "-o", "out.txt"]).exits(2);
    assert_eq!(read("out.txt"), REPORT);
    let nowhere = repo.run("flecto", ["ci", "config", "-o", "no/such/folder.txt"]).exits(2);
    assert!(nowhere.stderr.contains("no/such/folder.txt"), "{}", nowhere.stderr);
    // Through a link, which stays one; and into a device.
    std::os::unix::fs::symlink("out.txt", repo.path().join("link.txt")).expect("a link");
    repo.run("flecto", ["ci", "config", "--fail-on", "none", "--format", "json", "-o", "link.txt"]).exits(0);
    assert!(read("out.txt").starts_with('{') && repo.path().join("link.txt").is_symlink());
    repo.run("flecto", ["ci", "config", "--fail-on", "none", "-o", "/dev/null"]).exits(0);
    let beside = run(repo.program("flecto").args(["ci", ".", "-C", "config", "-o", "in.txt"])).exits(1);
    assert_eq!(beside.stdout, "");
    assert!(read("config/in.txt").contains("pool_size"), "-o is read from -C's folder");
}

#[test]
fn a_full_disk_is_exit_2_and_a_closed_stdout_still_has_a_verdict() {
    use std::process::{Command, Stdio};
    let repo = changed();
    let full = std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
    let mut command = repo.program("flecto");
    let output = command.args(["ci", "config", "--fail-on", "none"]).stdout(full).output().expect("flecto");
    assert_eq!(output.status.code(), Some(2));
    let lines = (0..20_000).map(|n| format!("key_{n}: 1\n")).collect::<String>();
    repo.write("config/large.yaml", lines);
    let mut command = repo.program("flecto");
    command.args(["ci", "config", "--fail-on", "added", "--quiet"]).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("flecto");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("an end");
    assert_eq!((output.status.code(), output.stderr), (Some(1), Vec::new()));
    let _ = Command::new("true").status();
}

#[test]
fn in_another_folder() {
    let repo = changed();
    let mut command = crate::support::program("flecto");
    command.args(["ci", "prod.yaml", "-C"]).arg(repo.path().join("config"));
    assert!(run(&mut command).exits(1).stdout.contains("db.pool_size"));
    let gone = run(crate::support::program("flecto").args(["ci", "x", "-C", "no-such-folder"])).exits(2);
    assert!(gone.stderr.contains("no-such-folder"), "{}", gone.stderr);
}
