//! The author of a pull request against the gate that judges it: each way that was thought of, through `flecto ci`.

use super::kit::changed;
use crate::support::{Repo, Run, run};
use std::time::{Duration, Instant};

fn ci(repo: &Repo, more: &[&str]) -> Run {
    run(repo.program("flecto").args(["ci", "config", "--quiet"]).args(more))
}

fn both_found(done: &Run) {
    for rule in ["Pool size increased from 5 to 20", "Potentially dangerous toggle enabled."] {
        assert!(done.stdout.contains(rule), "{rule}: {}{}", done.stdout, done.stderr);
    }
}

#[test]
fn nothing_that_the_head_brings_silences_a_rule() {
    for (name, text) in [
        (".flectorc", "defaults: {severity: {pool-size-jump: 'off', dangerous-toggle-enabled: 'off'}}\n"),
        (".flectorc", "defaults: {policies: none}\n"),
        (".flectorc", "defaults: {ignore: ['**']}\n"),
        (".flectorc", "defaults: {failOn: none}\n"),
        (".flectorc.toml", "[defaults]\nfailOn = [\"none\"]\n"),
        (".flectorc", "files: ['nothing/**']\nexclude: ['**']\n"),
        (".flectorc", "include: ['no-such/**']\n"),
        // A file with a mark, one with another encoding, one that is huge, nests, is no text, is there twice.
        (".flectorc", "\u{feff}defaults: {failOn: none}\n"),
        (".flectorc", "defaults: {failOn: none}\ndefaults: {failOn: none}\n"),
        (".flectorc", "{\"defaults\": {\"failOn\": \"none\", \"failOn\": \"none\"}}"),
        (".flectorc", "\0\0\0"),
        ("policies/ours.yaml", "pack: default\nabout: x\nrules: []\n"),
        (
            "policies/ours.yaml",
            "pack: default\nabout: x\nrules:\n- {id: pool-size-jump, severity: info, match: {key: nothing, after: 1}, message: m.}\n",
        ),
        ("policies/default.yaml", ""),
        (".flecto-accepted.json", "{\"accepted\": [], \"accepted\": []}"),
        (".gitattributes", "*.yaml binary -diff filter=evil diff=evil export-ignore linguist-generated\n"),
        ("config/.gitattributes", "* -text -diff\n"),
        (".gitignore", "config/\n"),
        (".ignore", "*\n"),
        (".rgignore", "*\n"),
        ("config/.flectorc", "defaults: {failOn: none}\n"),
    ] {
        let repo = changed();
        repo.write(name, text);
        both_found(&ci(&repo, &["--snapshot-ref", "origin/main"]).exits(1));
    }
    for bytes in [b"\xff\xfed\0e\0f\0".to_vec(), vec![b' '; 3 << 20], "[".repeat(200_000).into_bytes()] {
        let repo = changed();
        repo.write(".flectorc", bytes);
        let done = run(repo.program("flecto").args(["ci", "config", "--quiet"]));
        // Too large to be settings is an error that says so, on either side; otherwise the head's does not count.
        assert!(matches!(done.status, Some(1 | 2)), "{done:?}");
        if done.status == Some(1) {
            both_found(&done);
        }
    }
}

#[test]
fn an_alias_bomb_in_settings_ends_at_once() {
    let mut bomb = String::from("a0: &a0 [x, x]\n");
    for at in 1..60 {
        bomb.push_str(&format!("a{at}: &a{at} [*a{0}, *a{0}]\n", at - 1));
    }
    let start = Instant::now();
    let head = changed();
    head.write(".flectorc", &bomb);
    both_found(&ci(&head, &[]).exits(1));
    let base = Repo::new();
    base.write(".flectorc", &bomb);
    base.commit("bomb");
    let done = ci(&base, &[]).exits(2);
    assert!(done.stderr.starts_with("flecto: .flectorc:") && done.stderr.lines().count() == 1, "{}", done.stderr);
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

#[test]
fn what_stands_beside_the_settings_is_not_the_settings() {
    // A folder of that name, settings above the repository, and a repository in a repository.
    let repo = changed();
    repo.write(".flectorc/x", "defaults: {failOn: none}\n");
    both_found(&ci(&repo, &[]).exits(1));
    let outer = tempfile::tempdir().expect("a folder");
    std::fs::write(outer.path().join(".flectorc"), "defaults: {failOn: none}\n").expect("a file");
    let inner = outer.path().join("inner");
    let copy =
        run(crate::support::clean(std::process::Command::new("cp")).args(["-r"]).arg(changed().path()).arg(&inner));
    copy.exits(0);
    let mut there = crate::support::program("flecto");
    both_found(&run(there.args(["ci", "config", "--quiet"]).current_dir(&inner)).exits(1));
}

#[test]
fn names_and_revisions_are_what_they_are() {
    let repo = changed();
    for name in ["HEAD~1", "origin/main", "--output=x", "main..HEAD"] {
        repo.write(name, "x: 1\n");
    }
    for revision in
        ["--output=x", "-p", "origin/main..HEAD", "origin/main...HEAD", "HEAD^@", "HEAD:config", ":/first", ""]
    {
        let done = run(repo.program("flecto").args(["ci", "config", "--quiet", &format!("--snapshot-ref={revision}")]));
        assert_eq!((done.status, done.stdout.as_str()), (Some(2), ""), "{revision:?}: {}", done.stderr);
    }
    // The file called origin/main does not stand in for the commit, nor does it make the name ambiguous in silence.
    let done = ci(&repo, &["--snapshot-ref", "origin/main"]);
    assert!(matches!(done.status, Some(1 | 2)), "{done:?}");
}

#[test]
fn the_repositorys_own_git_settings_run_nothing_and_hide_nothing() {
    let repo = changed();
    let marker = repo.path().join("ran");
    let evil = format!("touch {}", marker.display());
    for (key, value) in [
        ("core.fsmonitor", evil.as_str()),
        ("diff.external", &evil),
        ("diff.evil.textconv", &evil),
        ("diff.evil.command", &evil),
        ("filter.evil.clean", &evil),
        ("filter.evil.smudge", &evil),
        ("filter.evil.process", &evil),
        ("core.hooksPath", "hooks"),
        ("core.sshCommand", &evil),
        ("core.pager", &evil),
        ("core.quotePath", "true"),
        ("diff.ignoreSubmodules", "all"),
        ("diff.noprefix", "true"),
        ("status.showUntrackedFiles", "no"),
        ("core.ignoreCase", "true"),
    ] {
        repo.git(["config", key, value]);
    }
    repo.write(".gitattributes", "*.yaml diff=evil filter=evil\n");
    repo.write("config/new.yaml", "debug: true\n");
    let done = ci(&repo, &[]).exits(1);
    both_found(&done);
    assert!(done.stdout.contains("config/new.yaml"), "untracked files count: {}", done.stdout);
    assert!(!marker.exists(), "something of the repository ran");
}

#[test]
fn file_names_neither_act_nor_hide() {
    let repo = changed();
    for name in ["config/new\nline.yaml", "config/es\u{1b}[2Jcape.yaml", "config/::error::x.yaml", "config/Prod.yaml"] {
        repo.write(name, "debug: true\n");
    }
    for format in ["text", "json", "sarif", "github-annotations", "pr-comment"] {
        let done = ci(&repo, &["--format", format]).exits(1);
        assert!(!done.stdout.contains('\u{1b}') && !done.stderr.contains('\u{1b}'), "{format}");
        assert!(done.stdout.contains("Prod.yaml") && done.stdout.contains("cape.yaml"), "{format}: {}", done.stdout);
    }
    let records = ci(&repo, &["--format", "ndjson"]).exits(1).records("file");
    assert_eq!(records.len(), 5, "names that differ in case alone are two files");
}

#[test]
fn a_submodule_a_link_and_a_swap_of_kinds_are_seen() {
    let repo = changed();
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("prod.yaml"), crate::support::PROD_YAML).expect("a file");
    std::fs::remove_file(repo.path().join("config/prod.yaml")).expect("gone");
    std::os::unix::fs::symlink(outside.path().join("prod.yaml"), repo.path().join("config/prod.yaml")).expect("a link");
    // A link to what the file said before is a change, and what it leads to is not read.
    let done = ci(&repo, &["--fail-on", "changed,removed"]).exits(1);
    assert!(done.stdout.contains("is a symbolic link now"), "{}", done.stdout);
    let repo = changed();
    let commit = repo.git(["rev-parse", "HEAD"]);
    repo.git(["update-index", "--add", "--cacheinfo", &format!("160000,{},config/sub.yaml", commit.trim())]);
    let done = ci(&repo, &["--staged", "--fail-on", "added,changed"]).exits(1);
    assert!(done.stdout.contains("config/sub.yaml"), "{}", done.stdout);
}
