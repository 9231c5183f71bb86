//! The lines of `--print-pipeline`, executed by a plain `sh`, do what flecto does.

use super::kit::{REPORT, asking, changed};
use crate::support::provider::{Answer, Provider};
use crate::support::{Repo, Run, bin_dir, clean, run, run_with};
use std::process::Command;

/// What flecto does, and what `sh` does with the lines, read from its stdin.
fn both(repo: &Repo, provider: &Provider, line: &[&str]) -> (Run, Run) {
    let flecto = run(asking(repo.program("flecto").args(line), provider));
    let printed = run(repo.program("flecto").args(line).arg("--print-pipeline")).exits(0);
    assert_eq!(printed.stderr, "");
    let path = format!("{}:{}", bin_dir().display(), std::env::var("PATH").unwrap_or_default());
    let mut sh = clean(Command::new("sh"));
    let shell = run_with(asking(sh.current_dir(repo.path()).env("PATH", path), provider), &printed.stdout);
    (flecto, shell)
}

#[test]
fn g6_the_printed_lines_give_the_same_bytes_and_the_same_status() {
    let repo = changed();
    repo.write("config/it's $HOME.json", "{\"a\": [1, 2, {\"b\": null}]}\n");
    repo.write("config/broken.yaml", "a: [1\n");
    repo.write("other/same.yaml", "a: 1\n");
    repo.commit("more");
    repo.write("config/it's $HOME.json", "{\"a\": [1, {\"b\": false}]}\n");
    repo.write("config/broken.yaml", "a: [2\n");
    repo.write("config/prod.yaml", "db:\n  pool_size: 40\n");
    let provider = Provider::new([Answer::openai("The pool grows.")]);
    let cases: &[(i32, &[&str])] = &[
        (1, &["ci", "config/prod.yaml", "--snapshot-ref", "origin/main", "--fail-on", "changed"]),
        (0, &["ci", "config/prod.yaml", "--snapshot-ref", "origin/main", "--fail-on", "none"]),
        (1, &["ci", "config/prod.yaml", "--format", "json", "--fail-on", "removed,added"]),
        (1, &["ci", "config/prod.yaml", "--format", "ndjson"]),
        (0, &["ci", "config/it's $HOME.json", "--format", "ndjson", "--fail-on", "error"]),
        (2, &["ci", "config/broken.yaml"]),
        (2, &["ci", "config", "--format", "json"]),
        (0, &["ci", "other", "--format", "json"]),
        (2, &["ci", "nowhere/*.yaml"]),
        (0, &["ci", "config/**/*.toml", "--allow-empty"]),
        (1, &["ci", "prod.yaml", "-C", "config", "--color", "always", "--mask-secrets", "--fail-on", "changed"]),
        (1, &["ci", "config/prod.yaml", "--fail-on", "changed", "--explain", "--no-cache"]),
        (2, &["ci", "config", "--format", "json", "--explain", "--no-cache"]),
        (0, &["explain", "config/prod.yaml", "--no-cache"]),
        (0, &["explain", "config/prod.yaml", "--format", "json", "--no-cache"]),
        (0, &["explain", "config/prod.yaml", "--narration", "-", "--no-cache"]),
        (0, &["explain", "config/prod.yaml", "--dry-run"]),
        (0, &["ci", "config/prod.yaml", "--explain-dry-run", "--fail-on", "none"]),
    ];
    for (status, line) in cases {
        let (flecto, shell) = both(&repo, &provider, line);
        assert_eq!(flecto.stdout, shell.stdout, "{line:?}\n{}\n{}", flecto.stderr, shell.stderr);
        assert_eq!((flecto.status, shell.status), (Some(*status), Some(*status)), "{line:?}\n{}", flecto.stderr);
        let told = |run: &Run| {
            let lines = run.stderr.lines().filter(|line| !line.ends_with(" s"));
            let mut lines: Vec<String> = lines.map(str::to_string).collect();
            // Programs that run side by side may speak in any order.
            lines.sort();
            lines
        };
        assert_eq!(told(&flecto), told(&shell), "{line:?}");
    }
}

#[test]
fn g6_the_lines_keep_keys_and_tokens_where_the_wrapper_does() {
    let printed = run(changed().program("flecto").args(["explain", "config", "--print-pipeline"])).exits(0).stdout;
    let asking = printed.lines().find(|line| line.contains("flecto-narrate")).expect("the question");
    assert!(asking.contains("| flecto-narrate"), "{asking}");
    for stage in ["flecto-diff", "flecto-policy", "flecto-mask", "flecto-payload", "flecto-render"] {
        assert!(printed.contains(&format!("keyless {stage}")) && !printed.contains(&format!("| {stage}")), "{printed}");
    }
    let plain = run(changed().program("flecto").args(["ci", "config", "--print-pipeline"])).exits(0).stdout;
    assert!(plain.contains("unset FLECTO_EXPLAIN_API_KEY ANTHROPIC_API_KEY OPENAI_API_KEY\n"), "{plain}");
    assert!(plain.contains("unset GITHUB_TOKEN"), "{plain}");
}

#[test]
fn by_hand_the_filters_print_what_ci_prints() {
    let repo = changed();
    let path = format!("{}:{}", bin_dir().display(), std::env::var("PATH").unwrap_or_default());
    let mut sh = clean(Command::new("sh"));
    sh.current_dir(repo.path())
        .env("PATH", path)
        .args(["-c", "flecto-diff --snapshot-ref origin/main config/prod.yaml | flecto-policy | flecto-render"]);
    assert_eq!(run(&mut sh).exits(1).stdout, REPORT);
}
