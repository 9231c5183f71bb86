//! `--pr-comment-post`: the comment is printed all the same, and nothing that posting does changes how a run ends.

use super::kit::{Kit, asking, changed};
use crate::post::{on_github, token};
use crate::support::forge::{Api, Forge};
use crate::support::provider::{Answer, Provider};
use crate::support::{Repo, bin_dir, clean, run, run_with};
use std::process::Command;

const LINE: [&str; 6] = ["ci", "config", "--format", "pr-comment", "--pr-comment-post", "--quiet"];

fn github() -> Forge {
    Forge::new(Api::Github, "github-actions[bot]")
}

/// With the variables of a CI run on a pull request.
fn in_ci<'a>(command: &'a mut Command, forge: &Forge) -> &'a mut Command {
    let ci = on_github(forge);
    let variables = ci.get_envs().filter(|(name, _)| name.to_string_lossy().starts_with("GITHUB_"));
    command.envs(variables.filter_map(|(name, value)| Some((name, value?))))
}

#[test]
fn f1_the_comment_is_posted_and_printed_and_the_gate_decides() {
    let (repo, forge) = (changed(), github());
    let printed = run(repo.program("flecto").args(&LINE[..4])).exits(1).stdout;
    let done = run(in_ci(repo.program("flecto").args(LINE), &forge)).exits(1);
    assert_eq!(done.stdout, printed);
    let comments = forge.comments();
    assert_eq!(comments.len(), 1, "{}", done.stderr);
    assert_eq!(comments[0].body, printed);
    // Over the one of the last run.
    run(in_ci(repo.program("flecto").args(LINE).args(["--fail-on", "none"]), &forge)).exits(0);
    assert_eq!(forge.comments().len(), 1);
}

#[test]
fn f1_what_fails_is_a_warning() {
    let repo = changed();
    let printed = run(repo.program("flecto").args(&LINE[..4])).exits(1).stdout;
    // No token, as on a fork's pull request.
    let forge = github();
    let done = run(in_ci(repo.program("flecto").args(LINE), &forge).env("GITHUB_TOKEN", "")).exits(1);
    assert_eq!((done.stdout.as_str(), forge.comments().len()), (printed.as_str(), 0));
    assert!(done.stderr.contains("warning"), "{}", done.stderr);
    for how in ["kill", "exit-2", "exit-3", "exit-1", "missing"] {
        let kit = Kit::new();
        let kit = if how == "missing" { kit.remove("flecto-post") } else { kit.replace("flecto-post") };
        let done = run(in_ci(kit.flecto(&repo, how).args(LINE), &forge)).exits(1);
        assert_eq!(done.stdout, printed, "{how}");
        assert_eq!(done.stderr.contains("flecto: warning: no comment: "), how != "exit-2", "{how}: {}", done.stderr);
    }
    let file = run(in_ci(repo.program("flecto").args(LINE).args(["-o", "comment.md"]), &forge)).exits(1);
    assert_eq!(file.stdout, "");
    assert_eq!(std::fs::read_to_string(repo.path().join("comment.md")).expect("a file"), printed);
    assert_eq!(forge.comments().len(), 1);
}

#[test]
fn f1_posting_goes_with_a_comment_alone() {
    let done = changed().run("flecto", ["ci", "config", "--pr-comment-post"]).exits(2);
    assert!(done.stderr.contains("--format pr-comment") && done.stdout.is_empty(), "{}", done.stderr);
}

#[test]
fn k3_the_token_reaches_flecto_post_alone() {
    let (repo, forge) = (changed(), github());
    let stages = ["flecto-diff", "flecto-policy", "flecto-mask", "flecto-payload", "flecto-narrate", "flecto-render"];
    let kit = stages.into_iter().chain(["flecto-post"]).fold(Kit::new(), Kit::replace);
    let provider = Provider::new([Answer::openai("ok")]);
    let mut command = kit.flecto(&repo, "record");
    asking(in_ci(command.args(LINE).arg("--explain").arg("--no-cache"), &forge), &provider);
    let done = run(command.env("FLECTO_EXPLAIN_API_KEY", "the model's key")).exits(1);
    assert_eq!(forge.comments().len(), 1, "{}", done.stderr);
    assert!(done.stdout.contains("Model-generated narration"), "{}", done.stdout);
    for stage in stages {
        assert!(!kit.left(&format!("{stage}.seen")).contains(&token()), "{stage}");
    }
    let seen = kit.left("flecto-post.seen");
    assert!(seen.contains(&token()) && !seen.contains("the model's key"), "{seen}");
    assert!(!done.stdout.contains(&token()) && !done.stderr.contains(&token()));
}

#[test]
fn n5_without_narration_the_comment_is_the_same_bytes_less_its_section() {
    let repo = changed();
    let never = repo.run("flecto", ["ci", "config", "--format", "pr-comment"]).exits(1).stdout;
    let comment = |answer: Answer| {
        let provider = Provider::new([answer]);
        let mut command = repo.program("flecto");
        command.args(["ci", "config", "--format", "pr-comment", "--explain", "--no-cache"]);
        run(asking(&mut command, &provider)).exits(1)
    };
    let told = comment(Answer::openai("The pool grows.\n```\n@team <img>")).stdout;
    let begin = told.find("Model-generated narration (advisory)").expect("a heading");
    assert!(told[begin..].contains("Model-generated narration (openai gate) — advisory"), "{told}");
    // One stretch of lines was put in, and nothing else is different.
    let (before, after): (Vec<&str>, Vec<&str>) = (never.lines().collect(), told.lines().collect());
    let same = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let rest = before.len() - same;
    assert_eq!(before[same..], after[after.len() - rest..], "{told}");
    let failed = comment(Answer::error(500, "no"));
    assert_eq!(failed.stdout, never);
    assert_eq!(failed.stderr.lines().filter(|line| line.starts_with("No narration: ")).count(), 1, "{}", failed.stderr);
}

#[test]
fn g6_the_printed_lines_post_too() {
    let repo: Repo = changed();
    let provider = Provider::new([Answer::openai("The pool grows.")]);
    for more in [&[][..], &["--explain", "--no-cache"], &["--explain-dry-run"], &["-o", "comment.md"]] {
        let (one, two) = (github(), github());
        let mut flecto = repo.program("flecto");
        let direct = run(asking(in_ci(flecto.args(LINE).args(more), &one), &provider)).exits(1);
        let lines = run(repo.program("flecto").args(LINE).args(more).arg("--print-pipeline")).exits(0).stdout;
        let path = format!("{}:{}", bin_dir().display(), std::env::var("PATH").unwrap_or_default());
        let mut sh = clean(Command::new("sh"));
        sh.current_dir(repo.path()).env("PATH", path);
        let shell = run_with(asking(in_ci(&mut sh, &two), &provider), &lines).exits(1);
        assert_eq!(direct.stdout, shell.stdout, "{more:?}\n{lines}\n{}", shell.stderr);
        let bodies = |forge: &Forge| forge.comments().into_iter().map(|comment| comment.body).collect::<Vec<_>>();
        assert_eq!((bodies(&one), bodies(&one).len()), (bodies(&two), 1), "{more:?}");
    }
}

#[test]
fn a_step_summary_is_the_report_as_markdown_and_no_status() {
    let repo = changed();
    let markdown = repo.run("flecto", ["ci", "config", "--format", "markdown"]).exits(1).stdout;
    let summary = repo.path().join("summary.md");
    for format in ["text", "json", "sarif", "github-annotations", "pr-comment", "markdown"] {
        std::fs::write(&summary, "before\n").expect("a file");
        let printed = repo.run("flecto", ["ci", "config", "--format", format]).exits(1).stdout;
        let mut command = repo.program("flecto");
        command.args(["ci", "config", "--format", format, "--step-summary"]).env("GITHUB_STEP_SUMMARY", &summary);
        let done = run(&mut command).exits(1);
        assert_eq!(done.stdout, printed, "{format}");
        let text = std::fs::read_to_string(&summary).expect("a summary");
        assert_eq!(text.trim_end(), format!("before\n\n{markdown}").trim_end(), "{format}: {}", done.stderr);
        run(command.args(["--fail-on", "none"])).exits(0);
    }
    // Nothing of it changes how a run ends.
    for how in ["kill", "exit-2", "exit-3", "missing"] {
        let kit = Kit::new();
        let kit = if how == "missing" { kit.remove("flecto-post") } else { kit.replace("flecto-post") };
        let mut command = kit.flecto(&repo, how);
        let done = run(command.args(["ci", "config", "--step-summary"]).env("GITHUB_STEP_SUMMARY", &summary)).exits(1);
        assert_eq!(
            done.stderr.contains("flecto: warning: no job summary: "),
            how != "exit-2",
            "{how}: {}",
            done.stderr
        );
    }
    let done = repo.run("flecto", ["ci", "config", "--step-summary"]).exits(1);
    assert!(done.stderr.contains("warning: no job summary: GITHUB_STEP_SUMMARY is not set"), "{}", done.stderr);
}

#[test]
fn e3_a_step_summary_holds_what_a_model_said_only_where_the_report_does() {
    let repo = changed();
    let summary = repo.path().join("summary.md");
    for (format, within) in [("text", false), ("sarif", false), ("pr-comment", true)] {
        let provider = Provider::new([Answer::openai("The pool grows.")]);
        std::fs::write(&summary, "").expect("a file");
        let mut command = repo.program("flecto");
        command.args(["ci", "config", "--format", format, "--explain", "--no-cache", "--step-summary"]);
        let done = run(asking(command.env("GITHUB_STEP_SUMMARY", &summary), &provider)).exits(1);
        let text = std::fs::read_to_string(&summary).expect("a summary");
        assert_eq!(text.contains("The pool grows."), within, "{format}: {}", done.stderr);
        assert_eq!(text.contains("Model-generated narration (openai gate) — advisory"), within, "{format}");
        assert!(text.contains("db.pool"), "{text}");
    }
}

#[test]
fn g6_the_printed_lines_write_the_summary_too() {
    let repo = changed();
    let provider = Provider::new([Answer::openai("The pool grows.")]);
    let path = format!("{}:{}", bin_dir().display(), std::env::var("PATH").unwrap_or_default());
    let cases: [&[&str]; 6] = [
        &["ci", "config"],
        &["ci", "config", "--format", "sarif", "-o", "flecto.sarif"],
        &["ci", "config", "--explain", "--no-cache"],
        &["ci", "config", "--format", "pr-comment", "--explain", "--no-cache"],
        &["ci", "config", "--format", "pr-comment", "--pr-comment-post"],
        &["ci", "config", "--explain-dry-run"],
    ];
    for line in cases {
        let line = [line, &["--step-summary", "--quiet"]].concat();
        let summaries = [repo.path().join("one.md"), repo.path().join("two.md")];
        let (one, two) = (github(), github());
        let mut flecto = repo.program("flecto");
        let flecto = asking(in_ci(flecto.args(&line), &one), &provider).env("GITHUB_STEP_SUMMARY", &summaries[0]);
        let direct = run(flecto).exits(1);
        let lines = run(repo.program("flecto").args(&line).arg("--print-pipeline")).exits(0).stdout;
        let mut sh = clean(Command::new("sh"));
        sh.current_dir(repo.path()).env("PATH", &path).env("GITHUB_STEP_SUMMARY", &summaries[1]);
        let shell = run_with(asking(in_ci(&mut sh, &two), &provider), &lines).exits(1);
        assert_eq!(direct.stdout, shell.stdout, "{line:?}\n{lines}\n{}", shell.stderr);
        let [a, b] = summaries.map(|file| {
            let text = std::fs::read_to_string(&file).unwrap_or_else(|_| panic!("{line:?}: no summary\n{lines}"));
            std::fs::remove_file(file).expect("gone");
            text
        });
        assert!(a == b && a.contains("db.pool"), "{line:?}\n{lines}\n{a}\n{b}");
        assert_eq!(one.comments().len(), two.comments().len());
    }
}
