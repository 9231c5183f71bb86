//! What goes wrong at a forge: a warning each, never a status, and the token nowhere.

use super::{comment, on_github, post, token};
use crate::support::forge::{Accident, Api, Forge};
use crate::support::run_with;
use std::time::{Duration, Instant};

fn answer(status: u16, headers: &[(&str, String)], body: &str) -> Accident {
    let headers = headers.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    Accident::Answer(status, headers, body.to_string())
}

#[test]
fn f1_g4_a_read_only_token_is_a_warning_and_the_report_goes_to_the_summary() {
    let dir = tempfile::tempdir().expect("a folder");
    let summary = dir.path().join("summary.md");
    std::fs::write(&summary, "other steps wrote this\n").expect("a file");
    let denied = answer(403, &[], "{\"message\":\"Resource not accessible by integration\"}");
    let forge = Forge::new(Api::Github, "me").accident("POST", denied);
    let run = post(on_github(&forge).env("GITHUB_STEP_SUMMARY", &summary), &comment("the report"));
    assert!(run.stderr.contains("warning: no comment: GitHub answered 403: Resource not accessible"), "{}", run.stderr);
    assert_eq!(forge.count("POST"), 1, "a plain 403 is not asked again");
    let text = std::fs::read_to_string(&summary).expect("a summary");
    assert_eq!(text, "other steps wrote this\n\n**the report**\n");
    std::fs::write(&summary, "x".repeat(1 << 20)).expect("a file");
    let run = post(
        on_github(&Forge::new(Api::Github, "me")).env_remove("GITHUB_TOKEN").env("GITHUB_STEP_SUMMARY", &summary),
        &comment("x"),
    );
    assert!(run.stderr.contains("the job summary has no room"), "{}", run.stderr);
    assert_eq!(std::fs::metadata(&summary).expect("a file").len(), 1 << 20);
}

#[test]
fn f1_waits_that_the_forge_asks_for_are_kept_when_short() {
    let reset = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time").as_secs() + 1;
    for accident in [
        answer(429, &[("retry-after", "1".into())], "{}"),
        answer(403, &[("retry-after", "1".into())], "{}"),
        answer(403, &[("x-ratelimit-remaining", "0".into()), ("x-ratelimit-reset", reset.to_string())], "{}"),
    ] {
        let forge = Forge::new(Api::Github, "me").accident("POST", accident);
        let run = post(&mut on_github(&forge), &comment("x"));
        assert!(run.stderr.contains("comment written"), "{}", run.stderr);
        assert_eq!((forge.count("POST"), forge.comments().len()), (2, 1));
    }
}

#[test]
fn f1_waits_that_are_too_long_are_not_kept() {
    let begun = Instant::now();
    let forge = Forge::new(Api::Github, "me").accident("GET", answer(429, &[("retry-after", "3600".into())], "{}"));
    let run = post(&mut on_github(&forge), &comment("x"));
    assert!(run.stderr.contains("asks to wait too long"), "{}", run.stderr);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn f1_a_list_that_fails_once_is_asked_again() {
    let forge = Forge::new(Api::Github, "me").accident("GET", answer(502, &[], "oops"));
    assert!(post(&mut on_github(&forge), &comment("x")).stderr.contains("comment written"));
}

#[test]
fn f1_a_comment_that_is_too_long_is_cut() {
    let long = comment(&"line\n".repeat(40_000));
    let forge = Forge::new(Api::Github, "me");
    post(&mut on_github(&forge), &long);
    let stored = forge.comments().remove(0).body;
    assert!(stored.len() <= 65_536 && stored.contains("longer than this forge allows"), "{}", stored.len());
    assert!(stored.ends_with("<!-- flecto:end -->\n"));
    let too_long =
        answer(422, &[], "{\"message\":\"Validation Failed: Body is too long (maximum is 65536 characters)\"}");
    let forge = Forge::new(Api::Github, "me").accident("POST", too_long);
    post(&mut on_github(&forge), &long);
    assert!(forge.comments()[0].body.len() < 25_000);
}

#[test]
fn f1_k3_the_token_follows_no_redirect_to_another_server() {
    let other = Forge::new(Api::Github, "me");
    for status in [301, 302, 307, 308] {
        let there = format!("{}/repos/o/r/issues/7/comments", other.url());
        for method in ["GET", "POST"] {
            let forge =
                Forge::new(Api::Github, "me").accident(method, answer(status, &[("location", there.clone())], ""));
            let run = post(&mut on_github(&forge), &comment("x"));
            assert!(
                run.stderr.contains("redirects to 127.0.0.1:") && run.stderr.contains("which is not followed"),
                "{}",
                run.stderr
            );
        }
    }
    assert_eq!(other.seen().len(), 0);
}

#[test]
fn f1_k3_nor_a_next_page_on_another_server() {
    let other = Forge::new(Api::Github, "me");
    let link = format!("<{}/page2>; rel=\"next\"", other.url());
    let body = "[{\"id\":1,\"user\":{\"login\":\"x\"},\"body\":\"y\"}]";
    let forge = Forge::new(Api::Github, "me").accident("GET", answer(200, &[("link", link)], body));
    let run = post(&mut on_github(&forge), &comment("x"));
    assert!(run.stderr.contains("on another server, which is not asked"), "{}", run.stderr);
    assert_eq!(other.seen().len(), 0);
}

#[test]
fn f1_k3_nor_one_within_the_server() {
    for location in ["/repos/o/new/issues/7/comments", "HERE/repos/o/new/issues/7/comments", "", "?x"] {
        for (method, status) in [("POST", 307), ("GET", 301), ("GET", 304), ("POST", 303)] {
            let forge = Forge::new(Api::Github, "me");
            let to = location.replace("HERE", &forge.url());
            let forge = forge.clone().accident(method, answer(status, &[("location", to)], ""));
            let run = post(&mut on_github(&forge), &comment("x"));
            assert!(run.stderr.contains("redirects to another address there, which is not followed"), "{}", run.stderr);
            assert!(forge.comments().is_empty());
            assert!(forge.seen().iter().all(|seen| seen.path.starts_with("/repos/o/r/")));
        }
    }
}

#[test]
fn f1_slow_and_endless_answers_end_in_time() {
    let begun = Instant::now();
    let forge = Forge::new(Api::Github, "me").accident("GET", Accident::Slow);
    let run = post(on_github(&forge).args(["--timeout", "1"]), &comment("x"));
    assert!(run.stderr.contains("the time ran out"), "{}", run.stderr);
    let forge = Forge::new(Api::Github, "me").accident("GET", Accident::Flood);
    let forge = forge.accident("GET", Accident::Flood).accident("GET", Accident::Flood);
    let run = post(&mut on_github(&forge), &comment("x"));
    assert!(run.stderr.contains("sent more than"), "{}", run.stderr);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn k3_an_error_that_quotes_the_token_is_told_without_it() {
    let text = format!("{{\"message\":\"bad token {} \\u001b[2J ::error::x {}\"}}", token(), "y".repeat(500));
    let forge = Forge::new(Api::Github, "me").accident("GET", answer(401, &[], &text));
    let run = post(&mut on_github(&forge), &comment("x"));
    assert!(run.stderr.contains("bad token *** \\u{1b}[2J"), "{}", run.stderr);
    assert!(run.stderr.len() < 400);
}

#[test]
fn k3_the_token_is_in_one_header_alone() {
    let forge = Forge::new(Api::Github, "me").comment("me", comment("old"));
    post(&mut on_github(&forge), &comment("new"));
    for seen in forge.seen() {
        assert!(!seen.path.contains(&token()) && !seen.body.contains(&token()));
        assert_eq!(seen.head.matches(&token()).count(), 1);
        let head = seen.head.to_lowercase();
        assert!(head.contains("authorization: bearer ghs_") && head.contains("user-agent: flecto/"), "{head}");
    }
}

#[test]
fn k3_no_plain_http_to_another_machine() {
    let forge = Forge::new(Api::Github, "me");
    let run = post(on_github(&forge).env("GITHUB_API_URL", "http://forge.example/api/v3"), &comment("x"));
    assert!(run.stderr.contains("plain http to another machine"), "{}", run.stderr);
}

#[test]
fn g4_without_a_token_it_is_a_warning() {
    let forge = Forge::new(Api::Github, "me");
    let run = post(on_github(&forge).env("GITHUB_TOKEN", ""), &comment("x"));
    assert!(run.stderr.contains("warning: no comment: no token; set GITHUB_TOKEN"), "{}", run.stderr);
    assert_eq!(forge.seen().len(), 0);
}

#[test]
fn what_is_no_whole_comment_is_not_posted() {
    let forge = Forge::new(Api::Github, "me");
    for body in ["", "hello\n", "<!-- flecto:pr-comment -->\ncut off"] {
        let run = run_with(&mut on_github(&forge), body).exits(2);
        assert_eq!(run.stdout, body);
    }
    assert_eq!(forge.seen().len(), 0);
}

#[test]
fn f1_a_dry_run_prints_the_requests_and_sends_nothing() {
    let forge = Forge::new(Api::Github, "me");
    for with_token in [true, false] {
        let mut command = on_github(&forge);
        if !with_token {
            command.env_remove("GITHUB_TOKEN");
        }
        let run = run_with(command.arg("--dry-run"), comment("x")).exits(0);
        let api = forge.url();
        assert!(
            run.stdout.starts_with(&format!("GET {api}/repos/o/r/issues/7/comments?per_page=100&page=1\naccept: ")),
            "{}",
            run.stdout
        );
        assert!(run.stdout.contains("authorization: Bearer <GITHUB_TOKEN>\n") && !run.stdout.contains(&token()));
        let (_, body) = run.stdout.rsplit_once("\n\n").expect("a body");
        let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
        assert_eq!(body["body"], comment("x"));
    }
    assert_eq!(forge.seen().len(), 0);
}
