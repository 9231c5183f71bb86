//! What a model can never do: E3–E7, N1–N4, C1, S8, S9 through the wrapper.

use super::kit::{Kit, REPORT, asking, changed, eventually};
use crate::support::provider::{Answer, Provider, nobody};
use crate::support::{Repo, Run, run};
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LABEL: &str =
    "Model-generated narration (openai gate) — advisory, not computed by Flecto, and never part of the exit code";

fn ci<'a>(repo: &Repo, provider: &Provider, more: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = repo.program("flecto");
    command.args(["ci", "config/prod.yaml", "--snapshot-ref", "origin/main", "--quiet", "--no-cache"]).args(more);
    asking(&mut command, provider).env("FLECTO_EXPLAIN_TIMEOUT_MS", "500");
    command
}

/// Every way in which a model fails to narrate.
fn failures() -> Vec<(&'static str, Answer)> {
    vec![
        ("refusal", Answer::openai_message(r#"{"role":"assistant","content":null,"refusal":"no"}"#, r#""stop""#)),
        ("error", Answer::error(500, "boom")),
        ("unauthorised", Answer::error(401, "who?")),
        ("redirect", Answer::redirect(302, "http://127.0.0.1:1/")),
        ("html", Answer::html()),
        ("not json", Answer::not_json()),
        ("empty", Answer::openai("")),
        ("hang", Answer::Hang),
        ("drip", Answer::drip(Duration::from_millis(50))),
        ("stops reading", Answer::StopReading),
        ("closes", Answer::CloseRead),
        ("cut short", Answer::cut_short()),
    ]
}

/// Exactly one `No narration:` line, and no narration.
#[track_caller]
fn is_not_narrated(done: &Run, what: &str) {
    let lines = done.stderr.lines().filter(|line| line.starts_with("No narration: ")).count();
    assert_eq!(lines, 1, "{what}: {}", done.stderr);
    assert!(!done.stderr.contains("Model-generated"), "{what}: {}", done.stderr);
}

#[test]
fn e3_e4_n4_stdout_is_the_same_bytes_whatever_a_model_does() {
    let repo = changed();
    for format in ["text", "json", "ndjson"] {
        let silent = Provider::new([Answer::Hang]);
        let never = run(&mut ci(&repo, &silent, ["--format", format])).exits(1);
        assert_eq!(silent.requests().len(), 0, "E6: nobody asked");
        let provider = Provider::new([Answer::openai("The pool grows fourfold.")]);
        let told = run(&mut ci(&repo, &provider, ["--format", format, "--explain"])).exits(1);
        assert_eq!(told.stdout, never.stdout, "{format}");
        assert!(told.stderr.contains(&format!("{LABEL}\n\nThe pool grows fourfold.\n")), "{}", told.stderr);
        if format == "text" {
            assert_eq!(told.stdout, REPORT);
            for (what, answer) in failures() {
                let provider = Provider::new([answer]);
                let done = run(&mut ci(&repo, &provider, ["--explain"])).exits(1);
                assert_eq!(done.stdout, REPORT, "{what}");
                is_not_narrated(&done, what);
            }
        }
    }
}

#[test]
fn e4_ci_narrates_with_any_format() {
    let repo = changed();
    for format in ["text", "json", "ndjson", "sarif", "github-annotations", "pr-comment"] {
        let provider = Provider::new([Answer::openai("The pool grows fourfold.")]);
        let told = run(&mut ci(&repo, &provider, ["--format", format, "--explain"])).exits(1);
        assert_eq!(provider.requests().len(), 1, "{format}");
        // A comment carries the narration itself; every other format leaves it to stderr.
        let (with, without) =
            if format == "pr-comment" { (&told.stdout, &told.stderr) } else { (&told.stderr, &told.stdout) };
        assert!(with.contains("fourfold"), "{format}: {} {}", told.stdout, told.stderr);
        assert!(!without.contains("fourfold"), "{format}: {} {}", told.stdout, told.stderr);
    }
}

#[test]
fn e3_model_text_reaches_stdout_only_where_it_was_asked_for_by_name() {
    let repo = changed();
    let provider = Provider::new([Answer::openai("The pool grows fourfold.")]);
    let explain = |more: &[&str]| {
        let mut command = repo.program("flecto");
        command.args(["explain", "config/prod.yaml", "--snapshot-ref", "origin/main", "--no-cache"]).args(more);
        run(asking(&mut command, &provider)).exits(0)
    };
    let plain = explain(&[]);
    assert_eq!(plain.stdout, REPORT);
    assert!(plain.stderr.contains("fourfold"));
    let named = explain(&["--narration", "-"]);
    assert!(named.stdout.starts_with(REPORT) && named.stdout.contains(LABEL), "{}", named.stdout);
    assert!(named.stdout.contains("\nThe pool grows fourfold.\n") && !named.stderr.contains("fourfold"));
    let filed = explain(&["--narration", "said.txt"]);
    assert_eq!(filed.stdout, REPORT);
    assert!(!filed.stderr.contains("fourfold"));
    let said = std::fs::read_to_string(repo.path().join("said.txt")).expect("a file");
    assert!(said.contains(LABEL) && said.contains("fourfold"), "{said}");
    let json = explain(&["--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(document["narration"]["label"], LABEL, "{document}");
    assert!(document["narration"]["text"].as_str().is_some_and(|text| text.starts_with("The pool grows fourfold.")));
}

#[test]
fn e6_without_a_change_nothing_is_asked() {
    let (repo, provider) = (Repo::new(), Provider::new([Answer::openai("x")]));
    let done = run(&mut ci(&repo, &provider, ["--explain"])).exits(0);
    assert_eq!(provider.connections().len(), 0);
    assert_eq!(done.stdout, "config/prod.yaml — no changes from origin/main\n");
}

#[test]
fn e7_explain_exits_0_whatever_was_found_or_narrated_and_2_when_it_could_not_read() {
    let repo = changed();
    for (what, answer) in [("ok", Answer::openai("x")), ("error", Answer::error(400, "no")), ("html", Answer::html())] {
        let provider = Provider::new([answer]);
        let done = run(asking(repo.program("flecto").args(["explain", "config", "--no-cache"]), &provider));
        assert_eq!(done.status, Some(0), "{what}: {}", done.stderr);
    }
    repo.write("config/prod.yaml", "a: [\n");
    let provider = Provider::new([Answer::openai("x")]);
    run(asking(repo.program("flecto").args(["explain", "config", "--no-cache"]), &provider)).exits(2);
    run(repo.program("flecto").args(["explain", "config", "--snapshot-ref", "nowhere"])).exits(2);
}

#[test]
fn n1_n3_the_gate_is_decided_before_a_model_is_asked() {
    let repo = changed();
    let harmless = "This change is safe. Exit status 0. {\"type\":\"verdict\",\"failed\":false}";
    let provider = Provider::new([Answer::openai(harmless)]);
    for (fail_on, status) in [("policy", 1), ("error", 1), ("changed", 1), ("none", 0), ("added,removed", 0)] {
        run(&mut ci(&repo, &provider, ["--explain", "--fail-on", fail_on])).exits(status);
    }
    // A model that shouts an error does not fail a gate that nothing hit.
    let loud = Provider::new([Answer::openai("::error::critical\n{\"type\":\"finding\",\"severity\":\"error\"}")]);
    let done = run(&mut ci(&repo, &loud, ["--explain", "--fail-on", "removed"])).exits(0);
    assert_eq!(done.stdout, REPORT);
}

#[test]
fn n2_environment_that_names_no_provider_or_is_malformed_is_one_line() {
    let repo = changed();
    let cases: &[&[(&str, &str)]] = &[
        &[("FLECTO_EXPLAIN_PROVIDER", "")],
        &[("FLECTO_EXPLAIN_PROVIDER", "nobody")],
        &[("FLECTO_EXPLAIN_API_URL", "not a url")],
        &[("FLECTO_EXPLAIN_TIMEOUT_MS", "soon")],
        &[("FLECTO_EXPLAIN_MAX_TOKENS", "-1")],
        &[("FLECTO_EXPLAIN_MAX_INPUT_TOKENS", "10")],
        &[("FLECTO_EXPLAIN", "0")],
        &[("FLECTO_EXPLAIN", "OFF")],
        &[("FLECTO_EXPLAIN_PROVIDER", "anthropic"), ("FLECTO_EXPLAIN_API_URL", "")],
    ];
    for case in cases {
        let provider = Provider::new([Answer::openai("x")]);
        let mut command = ci(&repo, &provider, ["--explain"]);
        command.envs(case.iter().copied());
        let done = run(&mut command).exits(1);
        assert_eq!(done.stdout, REPORT, "{case:?}");
        is_not_narrated(&done, &format!("{case:?}"));
        assert_eq!(provider.connections().len(), 0, "{case:?}");
    }
    let provider = Provider::new([Answer::openai("x")]);
    let done = run(ci(&repo, &provider, ["--explain"]).env("FLECTO_EXPLAIN_API_URL", nobody())).exits(1);
    is_not_narrated(&done, "nobody listens");
}

#[test]
fn n2_a_malformed_value_on_the_command_line_is_exit_2_before_anything_runs() {
    let repo = changed();
    for more in [["--provider", "nobody"], ["--max-tokens", "many"], ["--max-tokens", "0"]] {
        let provider = Provider::new([Answer::openai("x")]);
        let done = run(ci(&repo, &provider, ["--explain"]).args(more)).exits(2);
        assert_eq!((done.stdout.as_str(), provider.connections().len()), ("", 0), "{more:?}");
    }
}

#[test]
fn n2_a_flecto_narrate_that_hangs_or_is_stopped_is_one_line_and_5_seconds_at_most() {
    let handles: Vec<_> = [
        ("flecto-narrate", "hang"),
        ("flecto-narrate", "stop"),
        ("flecto-payload", "stop"),
        ("flecto-narrate", "deaf"),
    ]
    .map(|(stage, how)| {
        std::thread::spawn(move || {
            let (kit, repo) = (Kit::new().replace(stage), changed());
            let mut command = kit.flecto(&repo, how);
            command.args(["ci", "config/prod.yaml", "--snapshot-ref", "origin/main", "--quiet", "--explain"]);
            command.env("FLECTO_EXPLAIN_TIMEOUT_MS", "200");
            let begin = Instant::now();
            let done = run(&mut command).exits(1);
            let took = begin.elapsed();
            assert_eq!(done.stdout, REPORT, "{stage} {how}");
            is_not_narrated(&done, &format!("{stage} {how}"));
            assert!(done.stderr.contains("did not end in time"), "{}", done.stderr);
            assert!(took < Duration::from_millis(200 + 5_000), "{stage} {how}: {took:?}");
            kit.is_deserted();
        })
    })
    .into();
    for handle in handles {
        handle.join().expect("as promised");
    }
}

#[test]
fn the_report_ends_before_the_narration_begins() {
    let (repo, provider) = (changed(), Provider::new([Answer::Hang]));
    let mut command = repo.program("flecto");
    command.args(["ci", "config/prod.yaml", "--snapshot-ref", "origin/main", "--explain", "--no-cache"]);
    asking(&mut command, &provider).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("flecto");
    let mut report = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut report).expect("the report");
    // The reader is through while the model still thinks.
    eventually("a request", || (!provider.requests().is_empty()).then_some(()));
    assert_eq!(report, REPORT);
    assert!(child.try_wait().expect("a child").is_none(), "it waits for the model");
    let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    let _ = child.wait();
}

#[test]
fn c1_before_a_request_one_line_says_what_is_sent_and_where() {
    let (repo, provider) = (changed(), Provider::new([Answer::openai("x")]));
    let done = run(&mut ci(&repo, &provider, ["--explain"]));
    let url = format!("{}/chat/completions", provider.url());
    let tokens = provider.request().body().len().div_ceil(4);
    let line = format!(
        "flecto explain: sending the masked semantic diff to openai (gate) at {url} — ~{tokens} input tokens (estimated), \
         output capped at 16000 tokens. Advisory only: this never affects the exit code."
    );
    assert_eq!(done.stderr.lines().filter(|told| *told == line).count(), 1, "{line}\n{}", done.stderr);
}

#[test]
fn s8_s9_a_dry_run_prints_the_request_alone_and_what_it_prints_is_what_is_sent() {
    let repo = changed();
    let provider = Provider::new([Answer::openai("x")]);
    let explain = |more: &[&str]| {
        let mut command = repo.program("flecto");
        command.args(["explain", "config/prod.yaml", "--no-cache"]).args(more);
        run(asking(&mut command, &provider).env("FLECTO_EXPLAIN_API_KEY", "a canary key")).exits(0)
    };
    let dry = explain(&["--dry-run"]);
    assert_eq!(provider.connections().len(), 0);
    assert!(dry.stdout.starts_with(&format!("POST {}/chat/completions\n", provider.url())), "{}", dry.stdout);
    assert!(dry.stdout.contains("<FLECTO_EXPLAIN_API_KEY>") && !dry.stdout.contains("canary"), "{}", dry.stdout);
    let (_, body) = dry.stdout.split_once("\n\n").expect("a body");
    let beside =
        run(ci(&repo, &provider, ["--explain-dry-run"]).env("FLECTO_EXPLAIN_API_KEY", "a canary key")).exits(1);
    assert_eq!(provider.connections().len(), 0);
    assert_eq!(beside.stdout, REPORT);
    assert!(beside.stderr.contains(body.trim_end()), "{}", beside.stderr);
    let json = explain(&["--dry-run", "--format", "json"]);
    let object: serde_json::Value = serde_json::from_str(&json.stdout).expect("one object");
    assert!(object["url"].as_str().is_some_and(|url| url.ends_with("/chat/completions")), "{object}");
    explain(&[]);
    assert_eq!(String::from_utf8_lossy(provider.request().body()), body.trim_end_matches('\n'));
    // No key, no provider's machine: still a request to read.
    let bare = run(repo.program("flecto").args(["explain", "config", "--dry-run", "--provider", "anthropic"])).exits(0);
    assert!(bare.stdout.starts_with("POST https://api.anthropic.com/v1/messages\n"), "{}", bare.stdout);
    assert!(bare.stdout.contains("x-api-key: <"), "{}", bare.stdout);
}

#[test]
fn a_diff_that_is_too_large_to_be_kept_is_reported_whole_and_not_narrated() {
    let repo = Repo::new();
    let text = |letter: &str| {
        let entries: Vec<String> = (0..9).map(|n| format!("\"key_{n}\": \"{}\"", letter.repeat(1 << 21))).collect();
        format!("{{{}}}\n", entries.join(",\n"))
    };
    repo.write("config/large.json", text("a"));
    repo.commit("large");
    repo.write("config/large.json", text("b"));
    let provider = Provider::new([Answer::openai("x")]);
    for line in [["ci", "--format", "ndjson", "--explain"], ["explain", "--format", "json", "--no-cache"]] {
        let mut command = repo.program("flecto");
        command.args(line).args(["config/large.json", "--policies", "none"]);
        let done = run(asking(&mut command, &provider)).exits(0);
        is_not_narrated(&done, line[0]);
        assert!(done.stderr.contains("larger than 32 MiB"), "{}", done.stderr);
        assert_eq!(done.stdout.matches("\"before\"").count(), 9, "{}", done.stdout.len());
    }
    assert_eq!(provider.connections().len(), 0);
}
