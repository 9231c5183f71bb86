//! N2, W5, K2: nothing that goes wrong out there is more than one line

use super::{Asker, KEY, narration, reason, text};
use crate::support::provider::{Answer, Provider, nobody};
use std::time::{Duration, Instant};

#[test]
fn n2_whatever_a_provider_does_is_one_line_and_exit_0() {
    for (name, answer, words, attempts) in [
        ("400", Answer::error(400, "bad"), "anthropic answered 400 (invalid_request_error): bad [request req_t1]", 1),
        ("401", Answer::error(401, "no"), "answered 401", 1),
        ("403", Answer::error(403, "no"), "answered 403", 1),
        ("404", Answer::http(404, &[], "not found"), "answered 404: not found", 1),
        ("413", Answer::error(413, "large"), "answered 413", 1),
        ("500", Answer::retry_after(500, "0"), "answered 500", 3),
        ("529", Answer::retry_after(529, "0"), "answered 529", 3),
        ("408", Answer::retry_after(408, "0"), "answered 408", 3),
        ("429", Answer::retry_after(429, "0"), "answered 429", 3),
        ("a day", Answer::retry_after(429, "86400"), "wait longer than the time-out leaves", 1),
        ("for ever", Answer::retry_after(429, "99999999999999999999"), "wait longer", 1),
        ("a date", Answer::retry_after(503, "Wed, 21 Oct 2037 07:28:00 GMT"), "wait longer", 1),
        (
            "no money",
            Answer::json(429, r#"{"error":{"message":"over quota","type":"insufficient_quota"}}"#),
            "over quota",
            1,
        ),
        ("told not to", Answer::http(500, &[("x-should-retry", "false")], "{}"), "answered 500", 1),
        (
            "html 502",
            Answer::http(502, &[("retry-after", "0")], "<html>\u{1b}[2J Bad Gateway"),
            "answered 502: a web page",
            3,
        ),
        ("refusal", Answer::anthropic_refusal(), "the model declined (category cyber): Declined by policy.", 1),
        ("empty", Answer::json(200, ""), "an empty answer", 1),
        ("html", Answer::html(), "a web page in place of an answer", 1),
        ("not JSON", Answer::not_json(), "no JSON", 1),
        ("bad UTF-8", Answer::invalid_utf8(), "not UTF-8", 1),
        ("SSE", Answer::sse(), "a stream of events", 1),
        (
            "deep",
            Answer::json(200, format!("{{\"content\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000))),
            "nested too deep",
            1,
        ),
        ("huge", Answer::huge(64 << 20), "more than 8 MiB", 1),
        ("cut short", Answer::cut_short(), "before the answer was complete", 1),
        ("closed", Answer::CloseRead, "before the answer was complete", 1),
        ("no HTTP", Answer::Raw(b"SSH-2.0-OpenSSH_9.9\r\n\r\n".to_vec()), "did not answer in HTTP", 1),
        ("gzip", Answer::http(200, &[("content-encoding", "gzip")], "\u{1f}x"), "compressed", 1),
        ("headers", Answer::http(200, &[("x", &"y".repeat(200_000))], "{}"), "headers that are too large", 1),
        ("error 200", Answer::json(200, r#"{"error":{"code":502,"message":"upstream died"}}"#), "upstream died", 1),
    ] {
        let provider = Provider::new([answer]);
        let why = reason(Asker::anthropic(&provider.url()).run([]));
        assert!(why.contains(words), "{name}: {why}");
        assert_eq!(provider.connections().len(), attempts, "{name}: {why}");
    }
}

#[test]
fn n2_what_passes_is_tried_again_and_told_apart_from_what_does_not() {
    for first in [
        Answer::retry_after(500, "0"),
        Answer::retry_after(529, "0"),
        Answer::retry_after(429, "0"),
        Answer::retry_after(408, "0"),
    ] {
        let provider = Provider::new([first.clone(), first, Answer::anthropic("It grows.")]);
        let run = Asker::anthropic(&provider.url()).run([]).exits(0);
        assert_eq!(text(&run), "It grows.");
        assert_eq!(provider.requests().len(), 3);
        let bodies: Vec<_> = provider.requests().iter().map(|request| request.raw.clone()).collect();
        assert!(bodies[0] == bodies[1] && bodies[1] == bodies[2], "the same bytes each time");
    }
}

#[test]
fn n2_the_wish_of_retry_after_is_granted() {
    let provider = Provider::new([Answer::retry_after(429, "1"), Answer::anthropic("x")]);
    narration(&Asker::anthropic(&provider.url()).run([]).exits(0));
    let times = provider.connections();
    assert!(times[1] - times[0] >= Duration::from_millis(990));
}

#[test]
fn n2_networks_fail_in_one_line_that_names_the_cause() {
    let refused = reason(Asker::anthropic(&nobody()).run([]));
    assert!(refused.contains("127.0.0.1 refuses connections on port"), "{refused}");
    let unknown = reason(Asker::anthropic("https://no-such-host.invalid").run([]));
    assert!(unknown.contains("no-such-host.invalid") && unknown.contains("cannot be resolved"), "{unknown}");
    let reset = Provider::new([Answer::CloseUnread]);
    let closed = reason(Asker::anthropic(&reset.url()).run([]));
    assert!(closed.contains("closed the connection"), "{closed}");
    let plain = Provider::new([Answer::Greet(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())]);
    let tls = reason(Asker::anthropic(&plain.url().replace("http:", "https:")).run([]));
    assert!(tls.contains("did not answer in TLS"), "{tls}");
}

#[test]
fn n2_proxies_fail_in_one_line_that_names_the_cause() {
    let url = "https://provider.example";
    for (value, words) in [
        ("http://user:s3cr3t-pass@127.0.0.1:1", "the proxy, or provider.example behind it, refuses connections"),
        ("http://[s3cr3t-pass", "the proxy in HTTPS_PROXY cannot be read"),
        ("socks5://s3cr3t-pass@127.0.0.1:1", "the proxy in HTTPS_PROXY is a SOCKS proxy"),
    ] {
        let run = Asker::anthropic(url).env("HTTPS_PROXY", value).run([]);
        assert!(!run.stderr.contains("s3cr3t"), "{}", run.stderr);
        let why = reason(run);
        assert!(why.contains(words), "{why}");
    }
    let proxy = Provider::new([Answer::http(407, &[("proxy-authenticate", "Basic")], "")]);
    let why = reason(Asker::anthropic(url).env("ALL_PROXY", &proxy.url()).run([]));
    assert!(why.contains("(407)"), "{why}");
    assert_eq!(proxy.requests()[0].line(), "CONNECT provider.example:443 HTTP/1.1");
    assert!(!proxy.got(KEY), "the key does not go to the proxy");
    let proxy = Provider::new([Answer::http(502, &[], "")]);
    assert!(
        reason(Asker::anthropic(url).env("https_proxy", &proxy.url()).run([])).contains("refused the connection (502)")
    );
}

#[test]
fn no_proxy_names_who_is_reached_directly() {
    let proxy = Provider::new([Answer::http(502, &[], "")]);
    for (no_proxy, through) in [
        ("other.example", true),
        ("provider.invalid", false),
        ("x, .invalid", false),
        ("*.invalid", false),
        ("provider.invalid:443", false),
        ("provider.invalid:444", true),
        ("*", false),
        ("ider.invalid", true),
    ] {
        let before = proxy.connections().len();
        let asker =
            Asker::anthropic("https://provider.invalid").env("HTTPS_PROXY", &proxy.url()).env("NO_PROXY", no_proxy);
        reason(asker.run([]));
        assert_eq!(proxy.connections().len() > before, through, "{no_proxy}");
    }
}

#[test]
fn n2_malformed_variables_are_one_line_and_name_themselves() {
    let provider = Provider::new([Answer::anthropic("x")]);
    for (name, value) in [
        ("FLECTO_EXPLAIN_PROVIDER", "antropic"),
        ("FLECTO_EXPLAIN_MAX_TOKENS", "0"),
        ("FLECTO_EXPLAIN_MAX_TOKENS", "-1"),
        ("FLECTO_EXPLAIN_MAX_TOKENS", "1e3"),
        ("FLECTO_EXPLAIN_MAX_INPUT_TOKENS", "many"),
        ("FLECTO_EXPLAIN_MAX_INPUT_TOKENS", "99999999999999999999999"),
        ("FLECTO_EXPLAIN_TIMEOUT_MS", "120s"),
        ("FLECTO_EXPLAIN_TIMEOUT_MS", "+5"),
        ("FLECTO_EXPLAIN_API_URL", "localhost:8080"),
        ("FLECTO_EXPLAIN_MODEL", "a b"),
        ("FLECTO_EXPLAIN_CACHE_DIR", "relative/folder"),
    ] {
        let why = reason(Asker::anthropic(&provider.url()).env(name, value).run([]));
        assert!(why.contains(name), "{name}={value}: {why}");
    }
    assert!(provider.connections().is_empty());
}

#[test]
fn w5_malformed_options_are_exit_2_before_anything_runs() {
    let provider = Provider::new([Answer::anthropic("x")]);
    for args in [
        ["--provider", "antropic"],
        ["--provider", ""],
        ["--model", ""],
        ["--model", "a b"],
        ["--max-tokens", "0"],
        ["--max-tokens", "many"],
        ["--format", "json"],
        ["--no-such", "option"],
    ] {
        let run = Asker::anthropic(&provider.url()).run(args).exits(2);
        assert!(run.stdout.is_empty() && run.stderr.contains(args[0]), "{}", run.stderr);
    }
    assert!(provider.connections().is_empty());
}

#[test]
fn k2_error_text_is_shown_without_the_key_clean_on_one_line_and_short() {
    let text = format!("bad key {KEY} \u{1b}[31m\r\n::error::x \u{202e}{} end {}", KEY.to_uppercase(), "y".repeat(500));
    for answer in [
        Answer::error(401, &text),
        Answer::json(400, serde_json::json!({"error": text}).to_string()),
        Answer::json(422, serde_json::json!({"detail": [{"msg": text}, {"msg": "second"}]}).to_string()),
        Answer::json(400, serde_json::json!({"object": "error", "message": text}).to_string()),
        Answer::http(400, &[("content-type", "text/plain")], &text),
        Answer::http(400, &[("request-id", KEY)], "{}"),
    ] {
        let provider = Provider::new([answer]);
        let run = Asker::anthropic(&provider.url()).run([]);
        let all = format!("{}{}", run.stdout, run.stderr);
        assert!(!all.to_lowercase().contains(KEY), "{all}");
        assert!(!all.contains('\u{1b}') && !all.contains('\u{202e}') && !all.contains("\n::"), "{all:?}");
        let why = reason(run);
        let shown = why.split_once(": ").map_or("", |(_, text)| text);
        assert!(shown.chars().count() <= 200 + " [request req_t1]".len(), "{why}");
    }
    let split = Provider::new([Answer::error(401, &format!("key {}\u{200b}{} x", &KEY[..9], &KEY[9..]))]);
    assert!(reason(Asker::anthropic(&split.url()).run([])).contains("key <ANTHROPIC_API_KEY> x"));
}

#[test]
fn k2_a_key_that_is_cut_in_half_is_not_shown_either() {
    let provider = Provider::new([Answer::error(401, &format!("{}{KEY}", "y".repeat(190)))]);
    let why = reason(Asker::anthropic(&provider.url()).run([]));
    assert!(!why.contains(&KEY[..6]), "{why}");
}

#[test]
fn n2_a_server_that_never_stops_sending_headers_or_chunks_is_left() {
    let start = Instant::now();
    let chunks = [&b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"[..], &b"ffffff\r\n"[..]].concat();
    for head in [chunks, b"HTTP/1.1 200 OK\r\nx: ".to_vec(), b"HTTP/1.1 ".to_vec()] {
        let provider = Provider::new([Answer::Flood(head, 64 << 20)]);
        reason(Asker::anthropic(&provider.url()).run([]));
    }
    assert!(start.elapsed() < Duration::from_secs(30));
}
