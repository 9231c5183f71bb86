//! A program of the operator's in the provider's place, and what things cost

use super::{Asker, KEY, narration, prompted, reason, text};
use crate::support::provider::{Answer, Provider};
use std::time::{Duration, Instant};

/// Asks a program; keys are in the environment all the same.
fn exec() -> Asker {
    Asker::new("exec", "").env("FLECTO_EXPLAIN_API_KEY", KEY).env("GITHUB_TOKEN", KEY)
}

#[test]
#[cfg(unix)]
fn a_program_gets_the_prompt_and_gives_the_narration() {
    let run = exec().run(["--exec", "sed -n 's/.*\"path\":\"\\([^\"]*\\)\".*/- `\\1` changes/p'"]).exits(0);
    assert_eq!(text(&run), "- `db.pool_size` changes\n- `debug` changes\n- `db.pool_size` changes");
    let record = narration(&run);
    assert_eq!((&record["provider"], &record["model"]), (&"exec".into(), &"sed".into()));
    assert!(record["label"].as_str().expect("a label").starts_with("Model-generated narration (exec sed) — advisory"));
    assert!(run.stderr.contains("sending the masked semantic diff to exec (sed) at sed — ~"), "{}", run.stderr);
    let named = exec().run(["--exec", "cat", "--model", "qwen3-4b"]).exits(0);
    assert_eq!(narration(&named)["model"], "qwen3-4b");
}

#[test]
#[cfg(unix)]
fn a_dry_run_prints_what_the_program_would_read() {
    let dry = exec().run(["--exec", "cat 'a b'", "--dry-run"]).exits(0);
    let (head, stdin) = dry.stdout.split_once("\n\n").expect("an empty line");
    assert_eq!(head, "EXEC [\"cat\",\"a b\"]");
    let dir = tempfile::tempdir().expect("a folder");
    let seen = dir.path().join("seen");
    exec().run(["--exec", &format!("sh -c 'cat > {}; echo ok'", seen.display())]).exits(0);
    assert_eq!(std::fs::read_to_string(seen).expect("what it read"), stdin);
}

#[test]
#[cfg(unix)]
fn k1_a_program_gets_no_key_and_no_shell() {
    let run = exec().run(["--exec", "env"]).exits(0);
    assert!(!run.stdout.contains(KEY) && !run.stderr.contains(KEY), "{}", run.stdout);
    assert!(run.stdout.contains("PATH="));
    let literal = exec().run(["--exec", "echo $HOME; `id`"]).exits(0);
    assert!(text(&literal).starts_with("$HOME; `id`"), "{}", text(&literal));
}

#[test]
#[cfg(unix)]
fn n2_a_program_that_fails_is_one_line() {
    let long = "sh -c 'yes \"`db.pool_size` grows\" | head -c 9000000'";
    for (command, words) in [
        ("/nonexistent/model", "model could not be started"),
        ("false", "false failed with exit status 1"),
        ("sh -c 'echo \"no model: \u{1b}[31mx\" >&2; exit 3'", "sh failed with exit status 3: no model: x"),
        ("sh -c 'kill -9 $$'", "sh was ended by a signal"),
        ("true", "true wrote no text"),
        ("printf '\\377\\376'", "printf wrote what is not UTF-8"),
        (long, "sh wrote more than 8 MiB"),
    ] {
        let why = reason(exec().run(["--exec", command]));
        assert!(why.contains(words), "{command}: {why}");
    }
    let start = Instant::now();
    let slow = exec().env("FLECTO_EXPLAIN_TIMEOUT_MS", "600");
    assert!(reason(slow.run(["--exec", "sleep 60"])).contains("no answer within 600 ms"));
    assert!(reason(slow.run(["--exec", "sh -c 'exec >&-; sleep 60'"])).contains("no answer within 600 ms"));
    assert!(start.elapsed() < Duration::from_secs(10));
    assert!(reason(exec().run([])).starts_with("no command for exec"));
    assert!(reason(exec().env("FLECTO_EXPLAIN_EXEC", "'open").run([])).contains("FLECTO_EXPLAIN_EXEC has a quote"));
    let wrong = exec().run(["--exec", "'open"]).exits(2);
    assert!(wrong.stdout.is_empty() && wrong.stderr.contains("quote"), "{}", wrong.stderr);
}

/// Whether anything that has this mark in its command line still runs.
#[cfg(target_os = "linux")]
fn runs(mark: &str) -> bool {
    std::fs::read_dir("/proc").expect("/proc").flatten().any(|entry| {
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = command.split(|byte| *byte == 0).collect();
        words.len() > 1 && words[0].ends_with(b"sleep") && words[1] == mark.as_bytes()
    })
}

#[cfg(target_os = "linux")]
#[track_caller]
fn is_gone(mark: &str) {
    let start = Instant::now();
    while runs(mark) {
        assert!(start.elapsed() < Duration::from_secs(10), "{mark} still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_program_started_neither_holds_the_answer_nor_outlives_it() {
    let start = Instant::now();
    // The grandchild has the pipes of its parent, and would hold them for minutes.
    let run = exec().run(["--exec", "sh -c 'sleep 301.25 & echo debug is on'"]).exits(0);
    assert!(text(&run).ends_with("is on") && start.elapsed() < Duration::from_secs(15));
    is_gone("301.25");
    let slow = exec().env("FLECTO_EXPLAIN_TIMEOUT_MS", "800");
    assert!(reason(slow.run(["--exec", "sh -c 'sleep 302.25 & sleep 302.25'"])).contains("no answer within 800 ms"));
    is_gone("302.25");
    let failing = exec().run(["--exec", "sh -c 'sleep 303.25 & exit 4'"]);
    assert!(reason(failing).contains("exit status 4"));
    is_gone("303.25");
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_ends_when_flecto_is_killed() {
    use crate::support::program;
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("old.yaml"), "a: 1\n").expect("a file");
    let repo = crate::support::Repo::new();
    repo.write("config/prod.yaml", crate::support::PROD_YAML_CHANGED);
    for (at, name) in ["flecto-narrate", "flecto"].into_iter().enumerate() {
        let mark = format!("30{}.75", 4 + at);
        let command = format!("sh -c 'sleep {mark} & sleep {mark}'");
        let mut asked = match name {
            "flecto" => {
                let mut asked = repo.program("flecto");
                asked.args(["explain", "config", "--no-cache"]);
                asked
            }
            name => program(name),
        };
        asked.args(["--provider", "exec", "--exec", &command]).env("HOME", dir.path());
        let mut child = asked.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect(name);
        let _ = child.stdin.take().expect("a pipe").write_all(prompted().as_bytes());
        let start = Instant::now();
        while !runs(&mark) {
            assert!(start.elapsed() < Duration::from_secs(30), "it never began");
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = Command::new("kill").args(["-KILL", &child.id().to_string()]).status();
        let _ = child.wait();
        is_gone(&mark);
    }
}

#[test]
#[cfg(unix)]
fn c6_the_command_line_is_in_the_name_of_an_entry() {
    let asker = exec();
    let said = |command: &str| {
        let record = narration(&asker.run(["--exec", command]).exits(0));
        (record["cached"].as_bool().expect("cached"), super::said(record["text"].as_str().expect("text")))
    };
    assert_eq!(said("echo debug"), (false, "debug".into()));
    assert_eq!(said("echo debug"), (true, "debug".into()));
    assert_eq!(said("echo debug db"), (false, "debug db".into()));
    assert_eq!(said("echo 'debug db'"), (false, "debug db".into()), "two words are not one");
}

fn priced(url: &str) -> Asker {
    Asker::anthropic(url).env("FLECTO_EXPLAIN_PRICE_INPUT", "5").env("FLECTO_EXPLAIN_PRICE_OUTPUT", "25")
}

#[test]
fn costs_are_estimated_before_and_stated_after_by_the_operators_prices() {
    let provider = Provider::new([Answer::anthropic("x")]);
    let run = priced(&provider.url()).run([]).exits(0);
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert!(
        lines[1].starts_with("flecto explain: at most 0.40") && lines[1].ends_with(" by your prices."),
        "{}",
        run.stderr
    );
    let billed = "flecto explain: anthropic billed 412 input tokens and 61 output tokens, 0.0036 by your prices.";
    assert_eq!(lines[2], billed);
    assert!(!Asker::anthropic(&provider.url()).run([]).stderr.contains("prices"), "never guessed");
}

#[test]
fn a_request_that_may_cost_more_is_not_sent() {
    let provider = Provider::new([Answer::anthropic("x")]);
    let why = reason(priced(&provider.url()).run(["--max-cost", "0.40"]));
    assert!(why.contains("above --max-cost 0.4"), "{why}");
    assert!(reason(Asker::anthropic(&provider.url()).run(["--max-cost", "1"])).contains("needs prices"));
    assert!(reason(priced(&provider.url()).env("FLECTO_EXPLAIN_PRICE_INPUT", "").run([])).contains("one is missing"));
    assert!(reason(priced(&provider.url()).env("FLECTO_EXPLAIN_PRICE_INPUT", "-5").run([])).contains("is no price"));
    assert!(reason(priced(&provider.url()).env("FLECTO_EXPLAIN_MAX_COST", "lots").run([])).contains("is no sum"));
    assert!(provider.connections().is_empty());
    narration(&priced(&provider.url()).run(["--max-cost", "0.5"]).exits(0));
    narration(&priced(&provider.url()).run(["--max-cost", "0.03", "--max-tokens", "1000"]).exits(0));
    Asker::anthropic(&provider.url()).run(["--max-cost", "1e3"]).exits(2);
}

#[test]
fn cost_says_what_it_may_cost_and_sends_nothing() {
    let provider = Provider::new([Answer::anthropic("x")]);
    let run = priced(&provider.url()).run(["--cost"]).exits(0);
    assert!(run.stdout.starts_with("anthropic (claude-opus-5): ~"), "{}", run.stdout);
    assert!(run.stdout.trim_end().ends_with(" by your prices") && run.stdout.lines().count() == 1);
    let unknown = Asker::new("anthropic", "").run_on(["--cost"], &prompted()).exits(0);
    assert!(unknown.stdout.contains("cost unknown"), "{}", unknown.stdout);
    assert!(provider.connections().is_empty());
}
