//! C1 to C4: budgets, and what is said about them

use super::{Asker, narration, prompted, reason, text};
use crate::support::provider::{Answer, Provider};
use std::time::{Duration, Instant};

#[test]
fn c1_one_line_before_the_request_and_the_tokens_billed_after_it() {
    let provider = Provider::new([Answer::anthropic("x")]);
    let asker = Asker::anthropic(&provider.url());
    let body = asker.run(["--dry-run"]).stdout.split_once("\n\n").expect("a body").1.trim_end().to_string();
    let run = asker.run([]).exits(0);
    let tokens = body.chars().count().div_ceil(4);
    let expected = format!(
        "flecto explain: sending the masked semantic diff to anthropic (claude-opus-5) at {}/v1/messages — ~{tokens} input \
         tokens (estimated), output capped at 16000 tokens. Advisory only: this never affects the exit code.",
        provider.url()
    );
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines, [expected.as_str(), "flecto explain: anthropic billed 412 input tokens and 61 output tokens."]);
}

#[test]
fn c1_the_estimate_counts_characters_and_not_bytes() {
    let provider = Provider::new([Answer::anthropic("x")]);
    let asker = Asker::anthropic(&provider.url());
    let input = prompted().replace("db.pool_size", &"ü".repeat(400));
    let body = asker.run_on(["--dry-run"], &input).stdout.split_once("\n\n").expect("a body").1.trim_end().to_string();
    assert!(body.len() > body.chars().count() + 300);
    let run = asker.run_on([], &input).exits(0);
    assert!(run.stderr.contains(&format!("~{} input tokens", body.chars().count().div_ceil(4))), "{}", run.stderr);
}

#[test]
fn c1_a_provider_that_tells_no_usage_is_said_to() {
    let provider = Provider::new([Answer::json(
        200,
        r#"{"choices":[{"finish_reason":"stop","message":{"content":"Visible."}}]}"#,
    )]);
    let run = Asker::openai(&provider.url()).run([]).exits(0);
    assert!(run.stderr.contains("openai did not say how many tokens it billed"), "{}", run.stderr);
    assert!(narration(&run)["usage"].is_null());
}

#[test]
fn c1_from_the_cache_it_says_so_and_that_nothing_was_sent() {
    let provider = Provider::new([Answer::anthropic("x"), Answer::error(500, "asked twice")]);
    let asker = Asker::anthropic(&provider.url());
    asker.run([]).exits(0);
    let run = asker.run([]).exits(0);
    assert_eq!(run.stderr, "flecto explain: the narration comes from the cache; nothing was sent.\n");
    assert_eq!(provider.connections().len(), 1);
}

#[test]
fn c2_a_request_over_the_limit_is_not_sent_and_never_cut() {
    let provider = Provider::new([Answer::anthropic("x")]);
    let asker =
        |limit: u64| Asker::anthropic(&provider.url()).env("FLECTO_EXPLAIN_MAX_INPUT_TOKENS", &limit.to_string());
    let body = asker(1).run(["--dry-run"]).stdout.split_once("\n\n").expect("a body").1.trim_end().to_string();
    let tokens = body.chars().count().div_ceil(4) as u64;
    let why = reason(asker(tokens - 1).run([]));
    assert!(why.contains(&format!("estimated at {tokens} input tokens, above the limit of {}", tokens - 1)), "{why}");
    assert!(provider.connections().is_empty());
    narration(&asker(tokens).run([]).exits(0));
    assert_eq!(provider.request().body(), body.as_bytes());
    let long = prompted().replace("db.pool_size", &"x".repeat(130_000));
    assert!(reason(Asker::anthropic(&provider.url()).run_on([], &long)).contains("above the limit of 30000"));
}

#[test]
fn c3_the_output_cap_is_sent_and_a_cut_off_answer_is_labelled() {
    let provider =
        Provider::new([Answer::anthropic_blocks(r#"[{"type":"text","text":"The pool gr"}]"#, "max_tokens", "")]);
    let asker = Asker::anthropic(&provider.url()).env("FLECTO_EXPLAIN_MAX_TOKENS", "77");
    let run = asker.run([]).exits(0);
    assert_eq!(provider.request().json()["max_tokens"], 77);
    assert_eq!(narration(&run)["truncated"], true);
    assert_eq!(text(&run), "The pool gr\n\n[cut off: the model reached its limit of 77 output tokens]");
    asker.run(["--max-tokens", "99"]).exits(0);
    assert_eq!(provider.requests()[1].json()["max_tokens"], 99, "the flag beats the variable");
    let default = Provider::new([Answer::anthropic("x")]);
    Asker::anthropic(&default.url()).run([]).exits(0);
    assert_eq!(default.request().json()["max_tokens"], 16000);
}

#[test]
fn c4_the_time_bounds_the_whole_narration_whatever_the_server_does() {
    let slow = Duration::from_millis(100);
    for (name, answer) in [
        ("hang", Answer::Hang),
        ("drip", Answer::drip(slow)),
        ("headers drip", Answer::Drip(b"HTTP/1.1 200 OK\r\nx: y".repeat(100), slow)),
        ("stall", Answer::Stall(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{".to_vec())),
        ("no reading", Answer::StopReading),
        ("waits", Answer::retry_after(503, "1")),
    ] {
        let provider = Provider::new([answer]);
        let start = Instant::now();
        let why = reason(Asker::anthropic(&provider.url()).env("FLECTO_EXPLAIN_TIMEOUT_MS", "700").run([]));
        let took = start.elapsed();
        assert!(took < Duration::from_secs(4), "{name} took {took:?}");
        assert!(why.contains("FLECTO_EXPLAIN_TIMEOUT_MS") || why.contains("time-out"), "{name}: {why}");
    }
}

#[test]
fn c4_a_body_that_nobody_reads_ends_with_the_time() {
    let provider = Provider::new([Answer::StopReading]);
    let asker = Asker::anthropic(&provider.url())
        .env("FLECTO_EXPLAIN_TIMEOUT_MS", "700")
        .env("FLECTO_EXPLAIN_MAX_INPUT_TOKENS", "9000000");
    let start = Instant::now();
    let long = prompted().replace("db.pool_size", &"x".repeat(2 << 20));
    assert!(reason(asker.run_on([], &long)).contains("no answer within 700 ms"));
    assert!(start.elapsed() < Duration::from_secs(15));
}
