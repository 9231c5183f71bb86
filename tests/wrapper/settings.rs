//! Whose settings count: the baseline's, never those of the change that they judge. W1, W2, W5 through the wrapper.

use super::kit::{REPORT, changed};
use crate::support::{Repo, Run, run};

/// A repository whose baseline has these settings, with the README's change not committed.
fn settled(settings: &str) -> Repo {
    let repo = Repo::new();
    repo.write(".flectorc", settings);
    repo.commit("settings");
    repo.write("config/prod.yaml", crate::support::PROD_YAML_CHANGED);
    repo
}

fn ci(repo: &Repo, more: &[&str]) -> Run {
    run(repo.program("flecto").args(["ci", "config", "--quiet"]).args(more))
}

#[test]
fn settings_of_the_baseline_hold_and_the_command_line_beats_them() {
    let repo = settled("defaults:\n  failOn: [removed]\n  format: json\nprofiles:\n  strict:\n    failOn: [changed]\n");
    let plain = ci(&repo, &[]).exits(0);
    assert!(plain.stdout.starts_with('{'), "{}", plain.stdout);
    ci(&repo, &["--profile", "strict"]).exits(1);
    ci(&repo, &["--fail-on", "policy"]).exits(1);
    assert!(ci(&repo, &["--format", "text"]).exits(0).stdout.contains(" — 2 changes from HEAD:\n"));
    ci(&repo, &["--no-config"]).exits(1);
    let unknown = ci(&repo, &["--profile", "strikt"]).exits(2);
    assert!(unknown.stderr.contains("strikt") && unknown.stderr.contains("strict"), "{}", unknown.stderr);
    repo.write("mine.yaml", "defaults: {failOn: none}\n");
    ci(&repo, &["--config", "mine.yaml"]).exits(0);
    ci(&repo, &["--config", "gone.yaml"]).exits(2);
}

#[test]
fn a_change_cannot_loosen_the_gate_that_judges_it() {
    for head in ["defaults: {failOn: none}\n", "defaults: {ignore: ['**'], severity: {pool-size-jump: off}}\n"] {
        let repo = changed();
        repo.write(".flectorc", head);
        let working = ci(&repo, &[]).exits(1);
        assert!(working.stdout.contains("db.pool_size: 5 → 20"), "{}", working.stdout);
        assert!(
            working.stdout.contains("flecto-settings-changed") || working.stdout.contains("settings change"),
            "{}",
            working.stdout
        );
        // Committed, staged: the same.
        repo.git(["add", "."]);
        ci(&repo, &["--staged"]).exits(1);
        repo.commit("loosen");
        ci(&repo, &["--snapshot-ref", "origin/main"]).exits(1);
        ci(&repo, &["--snapshot-ref", "origin/main", "--to-ref", "HEAD"]).exits(1);
        ci(&repo, &["--snapshot-ref", "origin/main", "--merge-base"]).exits(1);
        // The operator may say otherwise.
        let own = ci(&repo, &["--snapshot-ref", "origin/main", "--config-from", "worktree", "--fail-on", "error"]);
        assert!(!own.stdout.contains("settings change"), "{}", own.stdout);
    }
}

#[test]
fn changed_settings_are_a_finding_even_when_no_target_differs() {
    let repo = Repo::new();
    repo.write(".flectorc", "defaults: {failOn: none}\n");
    let done = ci(&repo, &[]).exits(1);
    assert!(done.stdout.contains("failOn is set to"), "{}", done.stdout);
    let json = ci(&repo, &["--format", "json", "--fail-on", "none"]).exits(0);
    assert!(json.stdout.contains("flecto-settings-changed"), "{}", json.stdout);
}

#[test]
fn the_tip_of_the_baseline_counts_also_with_merge_base() {
    let repo = Repo::new();
    repo.git(["checkout", "--quiet", "-b", "feature"]);
    repo.write("config/prod.yaml", crate::support::PROD_YAML_CHANGED);
    repo.commit("feature");
    repo.git(["checkout", "--quiet", "main"]);
    repo.write(".flectorc", "defaults: {failOn: changed}\n");
    repo.commit("a stricter gate, after the branch began");
    repo.git(["checkout", "--quiet", "feature"]);
    let done = ci(
        &repo,
        &[
            "--snapshot-ref",
            "main",
            "--merge-base",
            "--severity",
            "dangerous-toggle-enabled=off",
            "--severity",
            "pool-size-jump=off",
        ],
    )
    .exits(1);
    // The branch did not touch the settings; that main moved on is no finding.
    assert!(!done.stdout.contains("settings change"), "{}", done.stdout);
}

#[test]
fn w1_an_explain_option_in_base_or_head_is_refused_by_name() {
    for (text, key) in [
        ("explain: true\n", "explain"),
        ("defaults: {explainModel: x}\n", "explainModel"),
        ("profiles: {p: {explain_provider: openai}}\n", "explain_provider"),
        ("{\"defaults\": {\"explainDryRun\": true}}\n", "explainDryRun"),
    ] {
        let base = settled(text);
        let head = changed();
        head.write(".flectorc", text);
        for (side, repo) in [("base", &base), ("head", &head)] {
            for line in [
                &["ci", "config"][..],
                &["explain", "config"],
                &["ci", "config", "--staged"],
                &["ci", "config", "--print-pipeline"],
            ] {
                if line.contains(&"--staged") {
                    repo.git(["add", "."]);
                }
                let done = run(repo.program("flecto").args(line)).exits(2);
                assert!(
                    done.stderr.contains(&format!("`{key}` cannot be set in a file")),
                    "{side} {line:?}: {}",
                    done.stderr
                );
                assert_eq!(done.stdout, "", "{side} {line:?}");
            }
        }
        head.commit("bad");
        let done =
            run(head.program("flecto").args(["ci", "config", "--snapshot-ref", "origin/main", "--to-ref", "HEAD"]))
                .exits(2);
        assert!(done.stderr.contains(key), "{}", done.stderr);
    }
    // Under every name that settings can have, and where two of them are there.
    for name in [".flectorc.json", ".flectorc.yaml", ".flectorc.yml"] {
        let repo = changed();
        repo.write(name, "{\"explain\": 1}\n");
        repo.write(".flectorc", "defaults: {}\n");
        assert!(ci(&repo, &[]).exits(2).stderr.contains(&format!("{name}:1:")));
    }
}

#[test]
fn w2_format_model_and_baseline_of_explain_come_from_the_command_line_alone() {
    let repo = settled("defaults: {format: json}\n");
    let explained = run(repo.program("flecto").args(["explain", "config"])).exits(0);
    assert!(explained.stdout.contains(" — 2 changes from HEAD:\n"), "{}", explained.stdout);
    for key in ["model: m", "provider: openai", "snapshotRef: origin/main", "apiUrl: 'http://127.0.0.1:1'", "apiKey: k"]
    {
        let repo = changed();
        repo.write(".flectorc", format!("defaults: {{{key}}}\n"));
        run(repo.program("flecto").args(["explain", "config"])).exits(2);
    }
}

#[test]
fn w5_settings_that_cannot_be_used_are_named_with_their_place() {
    for (text, says) in [
        ("defaults:\n  failon: none\n", ".flectorc:2:3: unknown key `failon`"),
        ("defaults: {failOn: eror}\n", "eror"),
        ("a: [\n", ".flectorc:"),
    ] {
        let done = ci(&settled(text), &[]).exits(2);
        assert!(done.stderr.contains(says) && done.stderr.lines().count() == 1, "{text}: {}", done.stderr);
        assert_eq!(done.stdout, "");
    }
    let both = settled("defaults: {}\n");
    both.write(".flectorc.json", "{}\n");
    both.commit("both");
    assert!(ci(&both, &[]).exits(2).stderr.contains("both .flectorc and .flectorc.json"));
}

#[test]
fn targets_come_from_the_settings_when_none_is_named_and_from_any_folder() {
    let repo = settled("files: ['config/**/*.yaml']\ndefaults: {failOn: changed}\n");
    assert!(run(repo.program("flecto").args(["ci", "--quiet"])).exits(1).stdout.contains("db.pool_size"));
    let mut below = repo.program("flecto");
    below.current_dir(repo.path().join("config")).args(["ci", "--quiet"]);
    assert!(run(&mut below).exits(1).stdout.contains("db.pool_size"));
    let none = run(changed().program("flecto").arg("ci")).exits(2);
    assert!(none.stderr.contains("no target"), "{}", none.stderr);
}

#[test]
fn include_and_exclude_choose_among_the_files_that_targets_match() {
    let repo = settled("exclude: ['config/dev/**']\ndefaults: {failOn: changed}\n");
    repo.write("config/dev/a.yaml", "a: 1\n");
    repo.write("config/b.json", "{}\n");
    let names = |more: &[&str]| {
        let done = ci(&repo, &[more, &["--fail-on", "none", "--format", "ndjson"]].concat()).exits(0);
        let files = done.records("file");
        files.iter().map(|file| file["file"].as_str().unwrap_or_default().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(&[]), ["config/b.json", "config/prod.yaml"]);
    assert_eq!(names(&["--exclude", "**/*.json"]), ["config/dev/a.yaml", "config/prod.yaml"]);
    assert_eq!(names(&["--include", "**/prod.*"]), ["config/prod.yaml"]);
    assert_eq!(names(&["config/dev/a.yaml"]).len(), 3, "named by its very name");
}

const PACK: &str = "pack: ours\nabout: Ours.\nrules:\n  - id: no-twenty\n    severity: error\n    match: {path: db.pool_size, after: 20}\n    message: 'Never twenty.'\n";

#[test]
fn packs_of_the_baseline_judge_and_those_of_the_change_do_not() {
    let repo = Repo::new();
    repo.write("policies/ours.yaml", PACK);
    // What is there for a cluster is none of ours.
    repo.write("policies/kyverno.yaml", "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\n");
    repo.commit("pack");
    repo.write("config/prod.yaml", crate::support::PROD_YAML_CHANGED);
    assert!(ci(&repo, &[]).exits(1).stdout.contains("policy(error) [ours] db.pool_size: Never twenty."));
    // The change takes the rule out: it judges all the same, and that is a finding of its own.
    repo.write("policies/ours.yaml", PACK.replace("no-twenty", "other").replace("after: 20", "after: 21"));
    let loosened = ci(&repo, &[]).exits(1);
    assert!(loosened.stdout.contains("Never twenty."), "{}", loosened.stdout);
    assert!(loosened.stdout.contains("A pack of rules changes"), "{}", loosened.stdout);
    std::fs::remove_file(repo.path().join("policies/ours.yaml")).expect("gone");
    assert!(ci(&repo, &[]).exits(1).stdout.contains("Never twenty."));
    assert!(!ci(&repo, &["--config-from", "worktree"]).stdout.contains("Never twenty."));
    assert!(!ci(&repo, &["--no-config"]).stdout.contains("Never twenty."));
}

#[test]
fn g6_packs_of_the_baseline_stand_in_the_printed_lines() {
    let repo = Repo::new();
    repo.write("policies/it's ours.yaml", PACK);
    repo.commit("pack");
    repo.write("config/prod.yaml", crate::support::PROD_YAML_CHANGED);
    std::fs::remove_file(repo.path().join("policies/it's ours.yaml")).expect("gone");
    let direct = ci(&repo, &[]).exits(1);
    let lines = ci(&repo, &["--print-pipeline"]).exits(0).stdout;
    let temporary = tempfile::tempdir().expect("a folder");
    let path = format!("{}:{}", crate::support::bin_dir().display(), std::env::var("PATH").unwrap_or_default());
    let mut sh = crate::support::clean(std::process::Command::new("sh"));
    sh.current_dir(repo.path()).env("PATH", path).env("TMPDIR", temporary.path());
    let shell = crate::support::run_with(&mut sh, &lines).exits(1);
    assert_eq!(direct.stdout, shell.stdout, "{lines}");
    assert!(shell.stdout.contains("Never twenty."));
    assert_eq!(std::fs::read_dir(temporary.path()).expect("a folder").count(), 0, "nothing stays behind");
}

#[test]
fn settings_that_are_a_link_are_not_followed() {
    let repo = changed();
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("rc"), "defaults: {failOn: none}\n").expect("a file");
    std::os::unix::fs::symlink(outside.path().join("rc"), repo.path().join(".flectorc")).expect("a link");
    let done = ci(&repo, &["--snapshot-ref", "origin/main"]).exits(1);
    assert!(done.stdout.starts_with(REPORT.lines().next().expect("a header")), "{}", done.stdout);
    repo.git(["add", ".flectorc"]);
    repo.commit("link");
    repo.write("config/prod.yaml", "a: 1\n");
    assert!(ci(&repo, &[]).exits(2).stderr.contains(".flectorc: is a link"));
}
