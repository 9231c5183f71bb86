//! What `flecto explain` and `flecto ci --explain` tell the stages that ask: each option, through the real programs

use super::kit::{REPORT, asking, changed};
use crate::support::provider::{Answer, Provider};
use crate::support::{Repo, Run, run};

/// Two files that differ.
fn two() -> Repo {
    let repo = changed();
    repo.write("config/a.yaml", "retries: 1\n");
    repo.commit("two files");
    repo.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    repo.write("config/a.yaml", "retries: 3\n");
    repo.write("config/prod.yaml", "db:\n  host: db.internal\n  pool_size: 80\ndebug: true\n");
    repo
}

fn explain(repo: &Repo, provider: &Provider, more: &[&str], variables: &[(&str, &str)]) -> Run {
    let mut command = repo.program("flecto");
    command.args(["explain", "config", "--snapshot-ref", "origin/main", "--no-cache"]).args(more);
    run(asking(&mut command, provider).envs(variables.iter().copied()))
}

const PRICES: [(&str, &str); 2] = [("FLECTO_EXPLAIN_PRICE_INPUT", "5"), ("FLECTO_EXPLAIN_PRICE_OUTPUT", "25")];

#[test]
fn by_file_asks_once_a_file_and_shows_each_under_its_name() {
    let repo = two();
    let answers = || Provider::new(["`retries` goes from 1 to 3.", "`db.pool_size`: 20 → 80."].map(Answer::openai));
    let provider = answers();
    let told = explain(&repo, &provider, &["--by", "file"], &[]).exits(0);
    assert_eq!(provider.requests().len(), 2);
    let bodies: Vec<String> =
        provider.requests().iter().map(|request| String::from_utf8_lossy(request.body()).into_owned()).collect();
    assert!(bodies[0].contains("a.yaml") && !bodies[0].contains("prod.yaml"), "{}", bodies[0]);
    assert!(bodies[1].contains("prod.yaml") && !bodies[1].contains("a.yaml"), "{}", bodies[1]);
    assert!(told.stderr.contains("the diff is asked about file by file, with 2 prompts"), "{}", told.stderr);
    for said in
        ["\n\nconfig/a.yaml:\n\n`retries` goes from 1 to 3.\n", "\n\nconfig/prod.yaml:\n\n`db.pool_size`: 20 → 80.\n"]
    {
        assert!(told.stderr.contains(said), "{}", told.stderr);
    }
    assert_eq!(told.stderr.matches("Model-generated narration (openai gate) — advisory").count(), 2);
    // A document has one narration, with both parts in it.
    let provider = answers();
    let json = explain(&repo, &provider, &["--by", "file", "--format", "json"], &[]).exits(0);
    let document: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    let text = document["narration"]["text"].as_str().expect("a text");
    assert!(
        text.starts_with("config/a.yaml:\n\n`retries`") && text.contains("\n\nconfig/prod.yaml:\n\n`db.pool_size`")
    );
    assert_eq!(document["narration"]["usage"], serde_json::json!({"input_tokens": 20, "output_tokens": 10}));
    assert_eq!(document["narration"]["grounding"]["statements"], 2);
    let provider = answers();
    let mut comment = repo.program("flecto");
    comment.args(["ci", "config", "--snapshot-ref", "origin/main", "--no-cache", "--fail-on", "none", "--explain"]);
    comment.args(["--by", "file", "--format", "pr-comment"]);
    let comment = run(asking(&mut comment, &provider)).exits(0);
    assert_eq!(comment.stdout.matches("### Model-generated narration (advisory)").count(), 1);
    assert!(comment.stdout.contains("config/a.yaml:\n\n`retries`") && comment.stdout.contains("20 → 80."));
}

#[test]
fn by_file_names_what_does_not_fit_and_narrates_the_rest() {
    let repo = two();
    repo.write("config/prod.yaml", format!("db: {{host: '{}'}}\n", "long words ".repeat(400)));
    let provider = Provider::new([Answer::openai("`retries` goes from 1 to 3.")]);
    let small = [("FLECTO_EXPLAIN_MAX_INPUT_TOKENS", "1200")];
    let whole = explain(&repo, &provider, &[], &small).exits(0);
    assert!(whole.stderr.contains("above the limit of 1200; ask with --by file"), "{}", whole.stderr);
    assert!(provider.connections().is_empty());
    let told = explain(&repo, &provider, &["--by", "file"], &small).exits(0);
    assert_eq!(provider.requests().len(), 1);
    assert!(told.stderr.contains("No narration: config/prod.yaml: the request is estimated at"), "{}", told.stderr);
    assert!(told.stderr.contains("config/a.yaml:\n\n`retries` goes from 1 to 3."), "{}", told.stderr);
}

#[test]
fn c5_each_file_is_kept_for_itself() {
    let (repo, home) = (two(), tempfile::tempdir().expect("a home"));
    let ask = |provider: &Provider| {
        let mut command = repo.program("flecto");
        command.args(["explain", "config", "--snapshot-ref", "origin/main", "--by", "file"]);
        run(asking(command.env("XDG_CACHE_HOME", home.path()), provider)).exits(0)
    };
    let provider = Provider::new(["`retries` 1 → 3", "`debug`"].map(Answer::openai));
    ask(&provider);
    assert_eq!(provider.requests().len(), 2);
    repo.write("config/a.yaml", "retries: 4\n");
    let changed = ask(&provider);
    assert_eq!(provider.requests().len(), 3, "only the file that changed is asked about again");
    assert!(changed.stderr.contains("gate, cached)"), "{}", changed.stderr);
}

#[test]
fn cost_is_the_report_and_nothing_is_sent() {
    let (repo, provider) = (two(), Provider::new([Answer::openai("x")]));
    let told = explain(&repo, &provider, &["--cost"], &PRICES).exits(0);
    assert!(
        told.stdout.starts_with("openai (gate): ~") && told.stdout.ends_with(" by your prices\n"),
        "{}",
        told.stdout
    );
    let each = explain(&repo, &provider, &["--cost", "--by", "file"], &PRICES).exits(0);
    let names: Vec<&str> = each.stdout.lines().filter_map(|line| line.split_once(": ")).map(|(name, _)| name).collect();
    assert_eq!(names, ["config/a.yaml", "config/prod.yaml"]);
    assert!(provider.connections().is_empty());
    for more in [["--cost", "--dry-run"], ["--cost", "--narration=-"]] {
        explain(&repo, &provider, &more, &[]).exits(2);
    }
}

#[test]
fn max_cost_keeps_a_dearer_request_from_being_sent() {
    let (repo, provider) = (changed(), Provider::new([Answer::openai("`debug` is on.")]));
    let ci = |sum: &str| {
        let mut command = repo.program("flecto");
        command.args(["ci", "config/prod.yaml", "--snapshot-ref", "origin/main", "--quiet", "--no-cache", "--explain"]);
        run(asking(command.args(["--max-cost", sum]), &provider).envs(PRICES)).exits(1)
    };
    let dear = ci("0.01");
    assert_eq!(dear.stdout, REPORT);
    assert!(dear.stderr.contains("No narration: the request may cost up to 0.40"), "{}", dear.stderr);
    assert!(provider.connections().is_empty());
    let cheap = ci("1");
    assert!(cheap.stderr.contains("`debug` is on.") && cheap.stdout == REPORT, "{}", cheap.stderr);
    assert_eq!(provider.requests().len(), 1);
}

#[test]
#[cfg(unix)]
fn a_program_of_the_operators_is_asked() {
    let (repo, provider) = (changed(), Provider::new([Answer::openai("x")]));
    let more = ["--provider", "exec", "--exec", "sh -c 'cat >/dev/null; echo \"`debug` is on.\"'", "--model", "mine"];
    let told = explain(&repo, &provider, &more.map(|word| word), &[("FLECTO_EXPLAIN_MODEL", "")]).exits(0);
    assert_eq!(told.stdout, REPORT);
    assert!(told.stderr.contains("Model-generated narration (exec mine) — advisory"), "{}", told.stderr);
    assert!(provider.connections().is_empty());
    let wrong = explain(&repo, &provider, &["--provider", "exec", "--exec", "'open"], &[]).exits(2);
    assert!(wrong.stdout.is_empty() && wrong.stderr.contains("quote that is not closed"), "{}", wrong.stderr);
}

#[test]
fn effort_is_sent_in_the_words_of_the_api() {
    let repo = changed();
    let body = |more: &[&str], variables: &[(&str, &str)]| -> serde_json::Value {
        let provider = Provider::new([Answer::openai("x")]);
        let dry = explain(&repo, &provider, &[more, &["--dry-run"]].concat(), variables).exits(0);
        serde_json::from_str(dry.stdout.split_once("\n\n").expect("a body").1).expect("JSON")
    };
    assert_eq!(body(&["--effort", "low"], &[])["reasoning_effort"], "low");
    let anthropic = body(&["--effort", "max", "--provider", "anthropic"], &[]);
    assert_eq!(anthropic["output_config"], serde_json::json!({"effort": "max"}));
    assert_eq!(body(&[], &[("FLECTO_EXPLAIN_EFFORT", "high")])["reasoning_effort"], "high");
    let plain = body(&[], &[]);
    assert!(plain.get("reasoning_effort").is_none() && plain.get("output_config").is_none());
    let provider = Provider::new([Answer::openai("x")]);
    explain(&repo, &provider, &["--effort", "hardest"], &[]).exits(2);
    let wrong = explain(&repo, &provider, &[], &[("FLECTO_EXPLAIN_EFFORT", "hardest")]).exits(0);
    assert!(wrong.stderr.contains("No narration: FLECTO_EXPLAIN_EFFORT is none of"), "{}", wrong.stderr);
    let exec = ["--provider", "exec", "--exec", "cat", "--effort", "low"];
    assert!(explain(&repo, &provider, &exec, &[]).exits(0).stderr.contains("No narration: exec knows no --effort"));
    assert!(provider.connections().is_empty());
}

#[test]
fn a_word_that_no_stage_knows_is_exit_2_before_anything_runs() {
    let (repo, provider) = (changed(), Provider::new([Answer::openai("x")]));
    for more in [["--by", "line"], ["--max-cost", "lots"], ["--effort", "--cost"], ["--exec", ""]] {
        let wrong = explain(&repo, &provider, &more, &[]).exits(2);
        assert_eq!(wrong.stdout, "", "{more:?}");
    }
    assert!(provider.connections().is_empty());
}
