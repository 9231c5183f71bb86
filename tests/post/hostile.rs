//! Servers that mean harm, and environments that somebody else wrote into: a warning each, in time, and the token nowhere.

use super::{comment, on_github, post, token};
use crate::render::commands;
use crate::support::forge::{Accident, Api, Forge};
use crate::support::program;
use std::time::{Duration, Instant};

fn told(status: u16, headers: &[(&str, String)], body: &str) -> Accident {
    let headers = headers.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    Accident::Answer(status, headers, body.to_string())
}

#[test]
fn f1_a_server_that_is_down_for_ever_ends_in_time() {
    let begun = Instant::now();
    for method in ["GET", "POST"] {
        let forge =
            (0..20).fold(Forge::new(Api::Github, "me"), |forge, _| forge.accident(method, told(503, &[], "<html>")));
        let run = post(&mut on_github(&forge), &comment("x"));
        assert!(run.stderr.contains("warning: no comment: GitHub answered 503"), "{}", run.stderr);
        assert!(forge.seen().len() <= 8, "{}", forge.seen().len());
        assert!(forge.comments().is_empty());
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn f1_answers_that_lie_about_themselves_are_no_answers() {
    for raw in [
        "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n[]",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n[{}]",
        "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n[]",
        "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999999\r\n\r\n[]",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n[]",
        "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n[{\"id\":1,",
        "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nnull",
        "HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n[1,2,[]]",
        "no http at all ::error::x\n##[add-mask]y\n",
    ] {
        let forge = (0..3).fold(Forge::new(Api::Github, "me"), |forge, _| forge.accident("GET", Accident::Raw(raw)));
        let run = post(&mut on_github(&forge), &comment("x"));
        assert!(run.stderr.contains("warning: no comment: "), "{raw:?}: {}", run.stderr);
        assert!(commands(&run.stderr).is_empty() && forge.comments().is_empty(), "{raw:?}: {}", run.stderr);
    }
    // Deep JSON is no stack overflow.
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let run =
        post(&mut on_github(&Forge::new(Api::Github, "me").accident("GET", told(200, &[], &deep))), &comment("x"));
    assert!(run.stderr.contains("did not answer in JSON"), "{}", run.stderr);
}

#[test]
fn f1_pages_in_a_circle_or_without_end_are_no_loop() {
    let page = |n: u64| format!("[{{\"id\":{n},\"user\":{{\"login\":\"x\"}},\"body\":\"y\"}}]");
    let next =
        |forge: &Forge| [("link", format!("<{}/repos/o/r/issues/7/comments?page=2>; rel=\"next\"", forge.url()))];
    // The same page again and again brings nothing new.
    let mut forge = Forge::new(Api::Github, "me");
    for _ in 0..5 {
        let link = next(&forge);
        forge = forge.accident("GET", told(200, &link, &page(1)));
    }
    assert!(post(&mut on_github(&forge), &comment("x")).stderr.contains("comment written"));
    assert_eq!(forge.count("GET"), 2);
    // A new one on every page for ever: no second comment beside one that may be further on.
    let mut forge = Forge::new(Api::Github, "me");
    for n in 0..150 {
        let link = next(&forge);
        forge = forge.accident("GET", told(200, &link, &page(n)));
    }
    let run = post(&mut on_github(&forge), &comment("x"));
    assert!(run.stderr.contains("more comments than flecto reads (100 pages)"), "{}", run.stderr);
    assert_eq!((forge.count("GET"), forge.count("POST")), (100, 0));
}

#[test]
fn r4_k3_what_a_server_says_is_no_command_and_holds_no_token() {
    let said = format!("{{\"message\":\"\\n::error::x\\n##[add-mask]y ##vso[a]b {} \\u001b]8;;x\"}}", token());
    for (status, body) in [
        (401, said.as_str()),
        (404, said.as_str()),
        (500, said.as_str()),
        (422, "{\"errors\":[{\"message\":\"::add-mask::x\"}]}"),
    ] {
        let forge =
            (0..9).fold(Forge::new(Api::Github, "me"), |forge, _| forge.accident("GET", told(status, &[], body)));
        let run = post(&mut on_github(&forge), &comment("x"));
        assert!(
            run.stderr.contains(&format!("answered {status}")) && commands(&run.stderr).is_empty(),
            "{}",
            run.stderr
        );
        assert!(!run.stderr.contains('\u{1b}'));
    }
    let evil = [("location", format!("https://evil.invalid\u{1b}[2J/##[add-mask]{}", token()))];
    let forge = Forge::new(Api::Github, "me").accident("GET", told(302, &evil, ""));
    let run = post(&mut on_github(&forge), &comment("x"));
    assert!(commands(&run.stderr).is_empty() && !run.stderr.contains('\u{1b}'), "{}", run.stderr);
}

#[test]
fn k3_no_variable_smuggles_a_header_or_another_path() {
    let forge = Forge::new(Api::Github, "me");
    let long = "9".repeat(40);
    for (name, value) in [
        ("GITHUB_REPOSITORY", "o/r\r\nx-evil: 1"),
        ("GITHUB_REPOSITORY", "o/r HTTP/1.1\r\n\r\nDELETE /"),
        ("GITHUB_REPOSITORY", "o/%2e%2e"),
        ("GITHUB_REF", "refs/pull/7/../8/merge"),
        ("GITHUB_REF", "refs/pull/7\r\n/merge"),
        ("GITHUB_REF", "refs/pull/-7/merge"),
        ("GITHUB_REF", long.as_str()),
        ("GITHUB_TOKEN", "a\r\nx-evil: 1"),
        ("GITHUB_TOKEN", "ä"),
        ("GITHUB_API_URL", "http://127.0.0.1\r\n.evil.invalid"),
        ("GITHUB_API_URL", "http://127.0.0.1@evil.invalid"),
        ("GITHUB_API_URL", "http://127.0.0.1.evil.invalid"),
        ("GITHUB_API_URL", "file:///etc/passwd"),
    ] {
        let run = post(on_github(&forge).env(name, value), &comment("x"));
        assert!(run.stderr.contains("warning: no comment: "), "{name}={value:?}: {}", run.stderr);
        assert!(run.stderr.lines().all(|line| !line.contains('\r')), "{}", run.stderr);
    }
    assert_eq!(forge.seen().len(), 0);
    let mut gitlab = program("flecto-post");
    gitlab.env("GITLAB_CI", "true").env("CI_API_V4_URL", forge.url()).env("CI_PROJECT_ID", "42/../43");
    gitlab.env("CI_MERGE_REQUEST_IID", "7").env("GITLAB_TOKEN", token());
    assert!(post(&mut gitlab, &comment("x")).stderr.contains("the repository is not one"));
    assert_eq!(forge.seen().len(), 0);
}

#[test]
fn k3_the_api_is_that_of_the_server_that_ci_names() {
    let forge = Forge::new(Api::Github, "me");
    let run = post(on_github(&forge).env("GITHUB_SERVER_URL", "https://github.example"), &comment("x"));
    assert!(run.stderr.contains("GITHUB_API_URL names another host than GITHUB_SERVER_URL"), "{}", run.stderr);
    let mut gitlab = program("flecto-post");
    gitlab.env("GITLAB_CI", "true").env("CI_API_V4_URL", forge.url()).env("CI_SERVER_URL", "https://gitlab.example");
    gitlab.env("CI_PROJECT_ID", "42").env("CI_MERGE_REQUEST_IID", "7").env("GITLAB_TOKEN", token());
    assert!(post(&mut gitlab, &comment("x")).stderr.contains("another host than CI_SERVER_URL"));
    assert_eq!(forge.seen().len(), 0);
    // Said by the operator, it is meant; and the same host is the same whatever its port and path.
    let mut said = on_github(&forge);
    said.env("GITHUB_SERVER_URL", "https://github.example")
        .env_remove("GITHUB_API_URL")
        .args(["--api-url", &forge.url()]);
    assert!(post(&mut said, &comment("x")).stderr.contains("comment written"));
    post(on_github(&forge).env("GITHUB_SERVER_URL", "http://127.0.0.1:1"), &comment("y"));
    assert_eq!(forge.comments()[0].body, comment("y"));
}
