//! Which pull request: from the reference, from the event, from the merge queue, from the options.

use super::{comment, on_github, post};
use crate::support::forge::{Api, Forge};

/// The number in the paths that were asked for, with this reference and this event.
fn number(reference: &str, event: Option<&str>) -> Result<String, String> {
    let forge = Forge::new(Api::Github, "me");
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("event.json");
    let mut command = on_github(&forge);
    command.env("GITHUB_REF", reference);
    if let Some(event) = event {
        std::fs::write(&file, event).expect("a file");
        command.env("GITHUB_EVENT_PATH", &file);
    }
    let run = post(&mut command, &comment("x"));
    match forge.seen().first() {
        Some(seen) => Ok(seen.path.split('/').nth(5).expect("a number").to_string()),
        None => Err(run.stderr),
    }
}

#[test]
fn the_number_is_found_wherever_ci_says_it() {
    let found = |reference: &str, event: Option<&str>| number(reference, event).expect("a number");
    assert_eq!(found("refs/pull/12/merge", None), "12");
    assert_eq!(found("refs/pull/13/head", None), "13");
    assert_eq!(found("refs/heads/main", Some("{\"pull_request\":{\"number\":14}}")), "14");
    assert_eq!(found("refs/heads/main", Some("{\"issue\":{\"number\":15,\"pull_request\":{}}}")), "15");
    assert_eq!(found("refs/heads/main", Some("{\"workflow_run\":{\"pull_requests\":[{\"number\":16}]}}")), "16");
    assert_eq!(found("refs/heads/gh-readonly-queue/main/pr-17-0123abc", None), "17");
    for (reference, event) in [
        ("refs/heads/main", None),
        ("refs/heads/pull/12/merge", None),
        ("refs/heads/main", Some("{\"issue\":{\"number\":15}}")),
        ("refs/heads/main", Some("{\"workflow_run\":{\"pull_requests\":[]}}")),
        ("refs/heads/main", Some("not json")),
    ] {
        let said = number(reference, event).expect_err("no number");
        assert!(said.contains("belongs to no pull request; say --pull-request"), "{said}");
    }
}

#[test]
fn options_come_before_the_environment() {
    let forge = Forge::new(Api::Github, "me");
    post(on_github(&forge).args(["--pull-request", "99", "--repository", "a/b"]), &comment("x"));
    assert!(forge.seen()[0].path.starts_with("/repos/a/b/issues/99/comments"));
}

#[test]
fn a_repository_that_is_none_is_not_asked() {
    let forge = Forge::new(Api::Github, "me");
    for bad in ["o", "o/r/../../x", "o/r?x=1", "o/r#", "../r"] {
        let run = post(on_github(&forge).env("GITHUB_REPOSITORY", bad), &comment("x"));
        assert!(run.stderr.contains("warning: no comment: the repository is not one"), "{}", run.stderr);
    }
    assert_eq!(forge.seen().len(), 0);
}

#[test]
fn outside_of_ci_it_says_what_is_missing() {
    let run = post(&mut crate::support::program("flecto-post"), &comment("x"));
    assert!(run.stderr.contains("say --forge, --repository and --pull-request"), "{}", run.stderr);
}
