//! What docs/ci.md and the action say is executed as it stands there.

use super::token;
use crate::support::forge::{Api, Forge};
use crate::support::{PROD_YAML_CHANGED, Repo, Run, bin_dir, clean, run};
use std::path::Path;
use std::process::Command;

fn file(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect(name)
}

/// The block of docs/ci.md after a mark.
fn block(mark: &str) -> String {
    let page = file("docs/ci.md");
    let (_, rest) = page.split_once(&format!("<!-- tested: {mark} -->\n```")).expect("a marked block");
    let (block, _) = rest.split_once("\n```").expect("its end");
    block.split_once('\n').expect("its language").1.to_string()
}

/// A repository with a change, and an `origin` to fetch from.
fn repo() -> (Repo, tempfile::TempDir) {
    let (repo, origin) = (Repo::new(), tempfile::tempdir().expect("a folder"));
    let url = origin.path().to_str().expect("UTF-8").to_string();
    repo.git(["clone", "--quiet", "--bare", ".", &url]);
    repo.git(["remote", "add", "origin", &url]);
    repo.write("config/prod.yaml", PROD_YAML_CHANGED);
    (repo, origin)
}

fn shell(shell: &str, script: &str, repo: &Repo, variables: &[(&str, &str)]) -> Run {
    let mut command = clean(Command::new(shell));
    let path = std::env::var("PATH").expect("PATH");
    command.env("PATH", format!("{}:{path}", bin_dir().display())).current_dir(repo.path());
    run(command.envs(variables.iter().copied()).args(["-c", script]))
}

fn on_github<'a>(forge_url: &'a str, token: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_API_URL", forge_url),
        ("GITHUB_REPOSITORY", "o/r"),
        ("GITHUB_REF", "refs/pull/7/merge"),
        ("GITHUB_TOKEN", token),
        ("BASE", "main"),
        ("FLECTO_EXPLAIN_PROVIDER", "anthropic"),
        ("FLECTO_EXPLAIN_API_KEY", ""),
    ]
}

#[test]
fn the_workflow_line_gates_and_comments() {
    let (repo, _origin) = repo();
    let forge = Forge::new(Api::Github, "me");
    let page = block("github");
    let line = page.lines().find_map(|line| line.trim().strip_prefix("run: ")).expect("a line");
    let (url, token) = (forge.url(), token());
    let run = shell("sh", line, &repo, &on_github(&url, &token)).exits(1);
    assert!(run.stdout.starts_with("<!-- flecto:pr-comment -->\n**2 changes**"), "{}", run.stdout);
    assert!(run.stderr.contains("No narration: "), "{}", run.stderr);
    assert_eq!(forge.comments().len(), 1);
    assert_eq!(forge.comments()[0].body, run.stdout);
    assert!(!run.stderr.contains(&token));
}

#[test]
fn the_gitlab_job_writes_its_report() {
    let (repo, _origin) = repo();
    let page = block("gitlab");
    let lines = page.split_once("script:").expect("a script").1.split_once("artifacts:").expect("its end").0;
    let script: Vec<&str> = lines.lines().filter_map(|line| line.trim().strip_prefix("- ")).collect();
    assert_eq!(script.len(), 2);
    let variables = [("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")];
    shell("sh", &format!("set -e\n{}", script.join("\n")), &repo, &variables).exits(1);
    let report = std::fs::read_to_string(repo.path().join("gl-code-quality.json")).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report.as_array().map(Vec::len), Some(2));
    assert_eq!(report[0]["location"]["path"], "config/prod.yaml");
    // The component's script is the same but for its inputs.
    let component = file("templates/flecto.yml");
    assert!(component.contains(script[0]), "{component}");
}

#[test]
fn git_shows_files_with_flecto() {
    for mark in ["git", "difftool"] {
        let (repo, _origin) = repo();
        let run = shell("sh", &block(mark), &repo, &[]).exits(0);
        let expected =
            "config/prod.yaml — 2 changes from prod.yaml:\n  ~ db.pool_size: 5 → 20\n  ~ debug: false → true\n";
        assert!(run.stdout.contains(expected), "{mark}: {}{}", run.stdout, run.stderr);
    }
}

/// The script of the action's last step.
fn action() -> String {
    let action = file(".github/actions/flecto/action.yml");
    let (_, script) = action.rsplit_once("run: |\n").expect("a script");
    script.lines().map(|line| format!("{}\n", line.strip_prefix("        ").unwrap_or(line))).collect()
}

#[test]
fn the_action_gates_comments_and_takes_no_input_for_a_command() {
    let (repo, _origin) = repo();
    repo.write("with space/$(touch pwned).yaml", "a: 1\n");
    let forge = Forge::new(Api::Github, "me");
    let (url, token) = (forge.url(), token());
    let summary = repo.path().join("summary.md");
    let mut variables = on_github(&url, &token);
    variables.extend([
        ("GITHUB_STEP_SUMMARY", summary.to_str().expect("UTF-8")),
        ("TARGETS", "config/**/*.yaml\n\nwith space/$(touch pwned).yaml\n"),
        ("BASELINE", ""),
        ("FAIL_ON", "error"),
        ("COMMENT", "true"),
        ("INSTANCE", "prod"),
        ("SUMMARY", "true"),
        ("EXPLAIN", "false"),
    ]);
    let run = shell("bash", &action(), &repo, &variables).exits(1);
    assert!(run.stdout.starts_with("<!-- flecto:pr-comment --><!-- flecto:instance prod -->\n"), "{}", run.stdout);
    assert_eq!(forge.comments().len(), 1);
    assert!(!repo.path().join("pwned").exists());
    assert!(std::fs::read_to_string(&summary).expect("a summary").contains("<code>db.pool"));
    variables.push(("COMMENT", "false"));
    variables.push(("FAIL_ON", "none"));
    let run = shell("bash", &action(), &repo, &variables).exits(0);
    assert!(run.stdout.starts_with("::error file=config/prod.yaml,line=4"), "{}", run.stdout);
}
