//! `flecto demo` shows what flecto does, without a key and without leaving anything behind.

use crate::support::provider::{Answer, Provider};
use crate::support::{program, run};

#[test]
fn the_demo_shows_the_report_and_the_request_and_sends_nothing() {
    let temporary = tempfile::tempdir().expect("a folder");
    let done = run(program("flecto").arg("demo").env("TMPDIR", temporary.path())).exits(0);
    assert!(done.stdout.starts_with("$ flecto ci config/prod.yaml --snapshot-ref origin/main\n"), "{}", done.stdout);
    assert!(done.stdout.contains(super::kit::REPORT), "{}", done.stdout);
    assert!(done.stdout.contains("(exit status 1: the gate failed)\n"), "{}", done.stdout);
    assert!(done.stdout.contains("\nPOST https://api.anthropic.com/v1/messages\n"), "{}", done.stdout);
    assert!(done.stderr.starts_with("flecto: 2 changes in 1 of 1 file; "), "{}", done.stderr);
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    assert_eq!(std::fs::read_dir(temporary.path()).expect("a folder").count(), 0, "nothing stays");
}

#[test]
fn the_demo_asks_a_model_only_when_told() {
    let provider = Provider::new([Answer::openai("The pool grows.")]);
    let mut quiet = program("flecto");
    run(super::kit::asking(quiet.arg("demo"), &provider)).exits(0);
    assert_eq!(provider.connections().len(), 0);
    let mut asking = program("flecto");
    let done = run(super::kit::asking(asking.args(["demo", "--explain", "--no-cache"]), &provider)).exits(0);
    assert!(done.stdout.contains(super::kit::REPORT) && done.stderr.contains("The pool grows."), "{}", done.stderr);
    assert_eq!(provider.requests().len(), 1);
}

#[test]
fn the_demo_keeps_its_repository_when_told() {
    let temporary = tempfile::tempdir().expect("a folder");
    let done = run(program("flecto").args(["demo", "--keep"]).env("TMPDIR", temporary.path())).exits(0);
    let kept = done.stderr.trim_end().rsplit(' ').next().expect("a path").to_string();
    let again =
        run(program("flecto").args(["ci", "config", "--snapshot-ref", "origin/main"]).current_dir(&kept)).exits(1);
    assert!(again.stdout.contains("db.pool_size: 5 → 20"), "{}", again.stdout);
}

#[test]
fn the_demo_needs_no_git_settings_and_heeds_none() {
    let (home, temporary) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let hooks = home.path().join("hooks");
    std::fs::create_dir(&hooks).expect("a folder");
    let settings = format!("[commit]\n gpgSign = true\n[core]\n hooksPath = {}\n autocrlf = true\n", hooks.display());
    std::fs::write(home.path().join(".gitconfig"), settings).expect("a file");
    let mut command = program("flecto");
    command.arg("demo").env("HOME", home.path()).env("TMPDIR", temporary.path());
    for name in
        ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_CONFIG_GLOBAL"]
    {
        command.env_remove(name);
    }
    assert!(run(&mut command).exits(0).stdout.contains(super::kit::REPORT));
}
