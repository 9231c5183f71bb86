//! Who sees which secret: K1 and K3, with canaries in every variable and a stand-in for every program that writes down what
//! it sees.

use super::kit::{Kit, STAGES, asking};
use crate::support::provider::{Answer, Provider, contains};
use crate::support::{PROD_YAML_CHANGED, Repo, Run, bin_dir, clean, program, run};
use std::path::Path;
use std::process::Command;

const KEYS: [&str; 3] = ["FLECTO_EXPLAIN_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"];
const TOKENS: [&str; 6] =
    ["GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "CI_JOB_TOKEN", "GITEA_TOKEN", "SYSTEM_ACCESSTOKEN"];

/// A canary for a variable: no shape of a real key, so that nothing but its place can keep it from being seen.
fn canary(name: &str) -> String {
    format!("canary of {}", name.to_lowercase().replace('_', " "))
}

fn plant(command: &mut Command) -> &mut Command {
    for name in KEYS.into_iter().chain(TOKENS) {
        command.env(name, canary(name));
    }
    command
}

/// A folder whose `git`, and `flecto-hello`, are the stand-in.
fn path_of_stand_ins() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let stand_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/stand-in");
    for name in ["git", "flecto-hello"] {
        std::os::unix::fs::symlink(&stand_in, dir.path().join(name)).expect("a link");
    }
    dir
}

fn with_path<'a>(command: &'a mut Command, dir: &Path) -> &'a mut Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let git = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|git| git.is_file()).expect("git");
    command.env("PATH", format!("{}:{path}", dir.display())).env("STAND_IN_GIT", git)
}

/// A repository full of secrets that a model must not get, and their values.
fn secrets() -> (Repo, Vec<String>) {
    let repo = Repo::new();
    let words: Vec<String> = ["password", "message", "comment", "key"].map(|w| format!("Canary{w}9x7Q")).into();
    repo.write(
        "config/prod.yaml",
        "db:\n  host: db.internal\n  pool_size: 5\ndebug: false\nuntouched: CanaryUntouched\n",
    );
    repo.write("config/other.yaml", "other: CanaryOtherFile\n");
    repo.commit("second");
    let changed = format!(
        "{PROD_YAML_CHANGED}untouched: CanaryUntouched # CanaryComment\ndb_password: {}\nurl: postgres://u:{}@db/x\n",
        words[0], words[1]
    );
    repo.write("config/prod.yaml", changed);
    let mut words = words[..2].to_vec();
    words.extend(["CanaryUntouched", "CanaryComment", "CanaryOtherFile"].map(String::from));
    (repo, words)
}

fn record_all() -> Kit {
    STAGES.into_iter().fold(Kit::new(), Kit::replace)
}

fn narrated(kit: &Kit, provider: &Provider, line: &[&str], cache: &Path) -> Run {
    let (repo, _) = secrets();
    let dir = path_of_stand_ins();
    let mut command = kit.flecto(&repo, "record");
    with_path(plant(asking(command.args(line), provider)), dir.path()).env("FLECTO_EXPLAIN_CACHE_DIR", cache);
    run(&mut command)
}

#[test]
fn k1_a_key_is_in_the_environment_of_flecto_narrate_alone_and_in_no_argument() {
    let (kit, cache) = (record_all(), tempfile::tempdir().expect("a folder"));
    let provider = Provider::new([Answer::openai("ok")]);
    narrated(&kit, &provider, &["ci", "config", "--explain", "--model", "gate"], cache.path()).exits(1);
    assert_eq!(provider.requests().len(), 1);
    for name in STAGES.into_iter().chain(["git"]) {
        let seen = kit.left(&format!("{name}.seen"));
        assert!(seen.contains(&format!("program {name}")), "{name} was not started");
        for key in KEYS {
            let has = seen.contains(&canary(key)) || seen.contains(key);
            assert_eq!(has, name == "flecto-narrate", "{key} in {name}");
            assert!(!seen.lines().any(|line| line.starts_with("argument") && line.contains("canary of")), "{name}");
        }
    }
}

#[test]
fn k1_flecto_x_sees_neither_keys_nor_tokens() {
    let (kit, repo, dir) = (Kit::new(), Repo::new(), path_of_stand_ins());
    let mut command = kit.flecto(&repo, "record");
    run(with_path(plant(command.args(["hello", "--there", "x y"])), dir.path())).exits(0);
    let seen = kit.left("flecto-hello.seen");
    assert!(seen.contains("argument --there\nargument x y\n"), "{seen}");
    assert!(!seen.contains("canary of"), "{seen}");
}

#[test]
fn k1_a_key_is_in_no_output_record_or_cache_file() {
    for answer in [Answer::openai("ok"), Answer::error(401, &canary("FLECTO_EXPLAIN_API_KEY")), Answer::Hang] {
        let (kit, cache) = (Kit::new(), tempfile::tempdir().expect("a folder"));
        let provider = Provider::new([answer]);
        let (repo, _) = secrets();
        let mut command = kit.flecto(&repo, "");
        plant(asking(command.args(["explain", "config"]), &provider));
        command.env("FLECTO_EXPLAIN_CACHE_DIR", cache.path()).env("FLECTO_EXPLAIN_TIMEOUT_MS", "300");
        let done = run(&mut command).exits(0);
        let key = canary("FLECTO_EXPLAIN_API_KEY");
        assert!(provider.got(&key), "the key goes to the provider");
        for (where_, text) in [("stdout", &done.stdout), ("stderr", &done.stderr)] {
            assert!(!text.contains("canary of"), "{where_}: {text}");
        }
        for (name, bytes) in files(cache.path()) {
            assert!(!contains(&bytes, "canary of"), "{name}");
            assert!(!name.contains("canary"), "{name}");
        }
    }
}

#[test]
fn k3_forge_tokens_reach_no_stage_and_not_git() {
    let (kit, cache) = (record_all(), tempfile::tempdir().expect("a folder"));
    let provider = Provider::new([Answer::openai("ok")]);
    narrated(&kit, &provider, &["ci", "config", "--explain"], cache.path()).exits(1);
    for name in STAGES.into_iter().chain(["git"]) {
        let seen = kit.left(&format!("{name}.seen"));
        for token in TOKENS {
            assert!(!seen.contains(&canary(token)) && !seen.contains(token), "{token} in {name}");
        }
    }
    assert!(!provider.got("canary of github token"));
}

#[test]
fn s1_s3_what_is_sent_holds_no_canary_and_what_is_kept_neither() {
    for line in [
        &["ci", "config", "--explain", "--format", "json"][..],
        &["explain", "config"],
        &["explain", "config", "--format", "json"],
        &["explain", "config", "--narration", "-", "--mask-secrets"],
    ] {
        let (repo, words) = secrets();
        let cache = tempfile::tempdir().expect("a folder");
        let provider = Provider::new([Answer::openai("ok")]);
        let mut command = repo.program("flecto");
        plant(asking(command.args(line), &provider)).env("FLECTO_EXPLAIN_CACHE_DIR", cache.path());
        let done = run(&mut command);
        assert_eq!(provider.requests().len(), 1, "{line:?}: {}", done.stderr);
        let path = repo.path().to_string_lossy().into_owned();
        for word in words.iter().map(String::as_str).chain([path.as_str(), "origin/main", "refs/heads"]) {
            assert!(!provider.got(word), "{line:?} sent {word}");
            assert!(!done.stderr.contains(word) || word.starts_with('/'), "{line:?} said {word}");
            for (name, bytes) in files(cache.path()) {
                assert!(!contains(&bytes, word), "{line:?} kept {word} in {name}");
            }
        }
        assert!(provider.got("db.pool_size"), "the change itself is sent");
    }
}

#[test]
fn flecto_and_one_of_its_filters_is_that_filter() {
    let found = run(program("flecto").args(["render", "--version"])).exits(0);
    assert!(found.stdout.starts_with("flecto-render "), "{}", found.stdout);
    // Beside flecto, not by PATH: one that lies in the checkout is nobody's.
    let empty = tempfile::tempdir().expect("a folder");
    let mut command = clean(Command::new(bin_dir().join("flecto")));
    assert!(
        run(command.args(["render", "--version"]).env("PATH", empty.path())).exits(0).stdout.contains("flecto-render")
    );
}

#[test]
fn an_unknown_word_is_exit_2_and_no_way_into_the_working_directory() {
    let repo = Repo::new();
    let stand_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/stand-in");
    std::fs::create_dir(repo.path().join("flecto-a")).expect("a folder");
    std::os::unix::fs::symlink(stand_in, repo.path().join("flecto-a/b")).expect("a link");
    for word in ["cl", "a/b", "../x", "a b"] {
        let done = run(repo.program("flecto").arg(word)).exits(2);
        assert!(done.stderr.contains("no subcommand") && done.stderr.lines().count() == 1, "{word}: {}", done.stderr);
    }
}

fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            out.extend(files(&entry.path()));
        } else {
            let name = entry.path().to_string_lossy().into_owned();
            out.push((name, std::fs::read(entry.path()).expect("a file")));
        }
    }
    out
}
