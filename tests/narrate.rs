//! flecto-narrate, against a scripted provider

mod cache;
mod costs;
mod exec;
mod failures;
mod grounding;
mod hostile;
mod providers;
mod shapes;
#[cfg(unix)]
mod streaming;
mod tls;

use crate::payload::readme;
use crate::support::provider::Provider;
use crate::support::{Run, filter, program, run_with};
use serde_json::Value;
use std::process::Command;
use tempfile::TempDir;

/// A key that no text has by chance.
const KEY: &str = "canary-key-4f9c2e7a1b";

/// The stream of the README with its prompt.
fn prompted() -> String {
    filter("flecto-payload", [] as [&str; 0], &readme()).exits(0).stdout
}

/// A home of its own, and `flecto-narrate` in it.
struct Asker {
    home: TempDir,
    envs: Vec<(String, String)>,
}

impl Asker {
    /// Asks a provider of the Messages API.
    fn anthropic(url: &str) -> Asker {
        Asker::new("anthropic", url).env("ANTHROPIC_API_KEY", KEY)
    }

    /// Asks a provider of the chat completions API.
    fn openai(url: &str) -> Asker {
        Asker::new("openai", url).env("OPENAI_API_KEY", KEY).env("FLECTO_EXPLAIN_MODEL", "local-model")
    }

    fn new(provider: &str, url: &str) -> Asker {
        let asker = Asker { home: tempfile::tempdir().expect("a home"), envs: vec![] };
        let asker = asker.env("FLECTO_EXPLAIN_PROVIDER", provider).env("FLECTO_EXPLAIN_TIMEOUT_MS", "20000");
        asker.env("FLECTO_EXPLAIN_API_URL", url)
    }

    /// With a variable; the last value of a name holds.
    fn env(mut self, name: &str, value: &str) -> Asker {
        self.envs.push((name.into(), value.into()));
        self
    }

    fn command(&self) -> Command {
        let mut command = program("flecto-narrate");
        command.env("HOME", self.home.path()).envs(self.envs.iter().map(|(name, value)| (name, value)));
        command
    }

    fn run_on<const N: usize>(&self, args: [&str; N], input: &str) -> Run {
        run_with(self.command().args(args), input)
    }

    /// Narrates the change of the README.
    fn run<const N: usize>(&self, args: [&str; N]) -> Run {
        self.run_on(args, &prompted())
    }

    /// The files of the cache.
    fn entries(&self) -> Vec<std::path::PathBuf> {
        let dir = self.home.path().join(".cache/flecto/explain");
        std::fs::read_dir(dir).map_or(vec![], |dir| dir.flatten().map(|entry| entry.path()).collect())
    }
}

/// The one narration.
#[track_caller]
fn narration(run: &Run) -> Value {
    let mut records = run.records("narration");
    assert_eq!(records.len(), 1, "\n--- stdout\n{}\n--- stderr\n{}", run.stdout, run.stderr);
    records.remove(0)
}

/// What the model said in it: without the marks and the lines that say what rests on the diff.
#[track_caller]
fn text(run: &Run) -> String {
    said(narration(run)["text"].as_str().expect("text"))
}

fn said(text: &str) -> String {
    let own = text.rfind("checked: ").map_or(text, |at| &text[..at]);
    own.replace(" [not in the diff]", "").trim_end().to_string()
}

/// Asserts that there is no narration, exit status 0, one line that says why, and the same reason as a record.
#[track_caller]
fn reason(run: Run) -> String {
    let run = run.exits(0);
    let lines: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with("No narration: ")).collect();
    assert_eq!(lines.len(), 1, "\n--- stdout\n{}\n--- stderr\n{}", run.stdout, run.stderr);
    assert!(run.records("narration").is_empty() && run.records("payload").is_empty(), "{}", run.stdout);
    let reason = lines[0].strip_prefix("No narration: ").expect("a reason").to_string();
    let warnings = run.records("warning");
    assert!(warnings.len() == 1 && warnings[0]["stage"] == "narrate", "{}", run.stdout);
    assert!(!run.stderr.contains(KEY) && !run.stdout.contains(KEY), "{}", run.stderr);
    reason
}

#[test]
fn the_narration_takes_the_place_of_the_prompt_and_the_rest_is_passed_on_byte_for_byte() {
    let provider = Provider::new([crate::support::provider::Answer::anthropic("It grows.")]);
    let foreign = "{ \"type\" : \"mine\", \"x\":[1 ,2] }\n\n";
    let input = prompted().replacen('\n', &format!("\n{foreign}"), 1);
    let run = Asker::anthropic(&provider.url()).run_on([], &input).exits(0);
    let at = input.find("{\"type\":\"payload\"").expect("a prompt");
    assert_eq!(&run.stdout[..at], &input[..at]);
    assert_eq!(run.stdout[at..].lines().count(), 1);
    let record = narration(&run);
    for (field, value) in [("provider", "anthropic"), ("model", "claude-opus-5")] {
        assert_eq!(record[field], value);
    }
    assert_eq!((&record["cached"], &record["truncated"]), (&false.into(), &false.into()));
    assert_eq!(record["usage"], serde_json::json!({"input_tokens": 412, "output_tokens": 61}));
}

#[test]
fn fed_with_what_is_no_stream_or_has_no_prompt_it_says_which_stage_is_missing() {
    let provider = Provider::new([crate::support::provider::Answer::Hang]);
    let asker = Asker::anthropic(&provider.url());
    for (input, words) in [
        (readme(), "put flecto-payload before flecto-narrate"),
        (String::new(), "the programs before it wrote nothing"),
        ("config/prod.yaml: changed\n".to_string(), "line 1 of the input is no JSON"),
        ("{\"type\":\"payload\",\"version\":1,\"system\":\"x\"}\n".to_string(), "without a usable `user`"),
        (prompted() + &prompted(), "two streams are not one"),
    ] {
        let run = asker.run_on(["--dry-run"], &input).exits(2);
        assert!(run.stderr.contains(words), "{}", run.stderr);
    }
    assert!(provider.connections().is_empty());
}

#[test]
fn what_the_payload_stage_withheld_is_the_reason() {
    let provider = Provider::new([crate::support::provider::Answer::Hang]);
    let input = readme() + "{\"type\":\"warning\",\"stage\":\"payload\",\"message\":\"too long\"}\n";
    let run = Asker::anthropic(&provider.url()).run_on([], &input).exits(0);
    assert_eq!(run.stdout, input);
    assert_eq!(run.stderr, "No narration: too long\n");
}

#[test]
fn e6_where_nothing_changed_nothing_is_asked() {
    let provider = Provider::new([crate::support::provider::Answer::anthropic("x")]);
    let nothing = filter("flecto-payload", [] as [&str; 0], &crate::payload::stream(&[])).exits(0).stdout;
    let run = Asker::anthropic(&provider.url()).run_on([], &nothing).exits(0);
    assert_eq!(run.stderr, "No narration: nothing changed, so no model was asked\n");
    assert!(run.records("payload").is_empty() && run.records("narration").is_empty());
    assert!(provider.connections().is_empty());
}

#[test]
fn several_prompts_are_narrated_one_by_one() {
    let provider = Provider::new(["first", "second"].map(crate::support::provider::Answer::anthropic));
    let records = |name: &str| vec![crate::payload::file(name), crate::payload::change(name, "a", 1.into(), 2.into())];
    let stream = crate::payload::stream(&[records("a.yaml"), records("b.yaml")].concat());
    let input = filter("flecto-payload", ["--by", "file"], &stream).exits(0).stdout;
    let run = Asker::anthropic(&provider.url()).run_on([], &input).exits(0);
    let texts: Vec<_> =
        run.records("narration").iter().map(|record| said(record["text"].as_str().expect("text"))).collect();
    assert_eq!(texts, ["first", "second"]);
}
