//! `flecto init` and `flecto doctor`: where one begins, and what keeps a run from working.

use super::kit::Kit;
use crate::support::{Repo, Run, clean, program, run};
use std::io::{Read as _, Write as _};

fn doctor(repo: &Repo, more: &[&str]) -> Run {
    run(repo.program("flecto").arg("doctor").args(more))
}

fn line<'r>(done: &'r Run, what: &str) -> &'r str {
    done.stdout.lines().find(|line| line[3..].starts_with(what)).unwrap_or_else(|| panic!("{what}: {}", done.stdout))
}

#[test]
fn init_writes_settings_that_a_run_can_use() {
    let repo = Repo::new();
    repo.write("deploy/api.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    repo.write("deploy/prod/web.json", "{}");
    repo.write(".env.production", "A=1\n");
    repo.write("package.json", "{\"name\": \"a\", \"version\": \"1.0.0\"}");
    repo.write("node_modules/x/package.json", "{}");
    repo.write("Cargo.lock", "a = 1\n");
    repo.write("ignored/a.yaml", "a: 1\n");
    repo.write(".gitignore", "ignored/\n");
    let printed = run(repo.program("flecto").args(["init", "--print"])).exits(0).stdout;
    assert!(!repo.path().join(".flectorc").exists(), "--print writes nothing");
    let done = run(repo.program("flecto").arg("init")).exits(0);
    let text = std::fs::read_to_string(repo.path().join(".flectorc")).expect("settings");
    assert_eq!(text, printed);
    for part in ["\"config/**/*.yaml\"", "\"deploy/**/*.{json,yaml}\"", "\".env*\"", "\"*.json\""] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("node_modules") && !text.contains("ignored"), "{text}");
    for part in
        ["5 configuration files", "kubernetes (1 file)", "node (1 file)", "next: flecto ci --config-from worktree"]
    {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    // What it says comes next works, and counts after a commit.
    repo.write("config/prod.yaml", crate::support::PROD_YAML_CHANGED);
    run(repo.program("flecto").args(["ci", "--config-from", "worktree", "--quiet"])).exits(1);
    repo.commit("settings");
    run(repo.program("flecto").args(["ci", "--quiet"])).exits(0);
}

#[test]
fn init_overwrites_nothing() {
    for name in [".flectorc", ".flectorc.json", ".flectorc.toml"] {
        let repo = Repo::new();
        repo.write(name, "mine");
        let done = run(repo.program("flecto").arg("init")).exits(2);
        assert!(done.stderr.contains(name) && done.stdout.is_empty(), "{}", done.stderr);
        assert_eq!(std::fs::read_to_string(repo.path().join(name)).expect("the file"), "mine");
    }
    // Nor through a link that leads out, nor into a folder of that name.
    let repo = Repo::new();
    let outside = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(outside.path().join("new"), repo.path().join(".flectorc")).expect("a link");
    run(repo.program("flecto").arg("init")).exits(2);
    assert!(!outside.path().join("new").exists());
    let repo = Repo::new();
    std::fs::create_dir(repo.path().join(".flectorc")).expect("a folder");
    run(repo.program("flecto").arg("init")).exits(2);
    // From a folder below, it is the top level's.
    let repo = Repo::new();
    run(repo.program("flecto").args(["init", "-C", "config"])).exits(0);
    assert!(repo.path().join(".flectorc").is_file() && !repo.path().join("config/.flectorc").exists());
    // Nothing to look at, no repository.
    let empty = tempfile::tempdir().expect("a folder");
    run(program("flecto").arg("init").current_dir(empty.path())).exits(2);
    run(clean(std::process::Command::new("git")).args(["init", "--quiet"]).current_dir(empty.path())).exits(0);
    assert!(
        run(program("flecto").arg("init").current_dir(empty.path())).exits(2).stderr.contains("no configuration file")
    );
}

#[test]
fn init_writes_names_that_are_odd_as_what_they_are() {
    let repo = Repo::new();
    repo.write("we[i]rd *dir/a.yaml", "a: 1\n");
    repo.write("new\nline/a.yaml", "a: 1\n");
    repo.write("es\u{1b}[2Jcape/a.yaml", "a: 1\n");
    let done = run(repo.program("flecto").arg("init")).exits(0);
    assert!(!done.stdout.contains('\u{1b}'), "{}", done.stdout);
    repo.commit("settings");
    repo.write("we[i]rd *dir/a.yaml", "a: 2\n");
    let done = run(repo.program("flecto").args(["ci", "--quiet", "--format", "ndjson"])).exits(0);
    assert_eq!(done.records("change").len(), 1, "{}", done.stdout);
}

#[test]
fn doctor_says_what_a_run_would_do() {
    let repo = Repo::new();
    repo.write(".flectorc", "files: ['config/**/*.yaml']\n");
    repo.write("policies/ours.yaml", "pack: ours\nabout: x\nrules: []\n");
    repo.write("config/k.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    repo.commit("settings");
    let done = doctor(&repo, &[]).exits(0);
    assert!(line(&done, "git").starts_with("ok git         2."), "{}", done.stdout);
    assert!(line(&done, "baseline").contains("HEAD is "));
    assert!(line(&done, "settings").contains(".flectorc of HEAD"));
    assert!(line(&done, "own packs").contains("ours.yaml of HEAD"));
    assert!(line(&done, "target").contains("config/**/*.yaml: 2 files"), "{}", done.stdout);
    assert!(line(&done, "rules").contains("default") && line(&done, "rules").contains("kubernetes (1 file)"));
    assert!(line(&done, "programs").starts_with("ok "));
    assert!(line(&done, "narration").starts_with("-- "), "{}", done.stdout);
    assert!(!done.stdout.contains("!!"), "{}", done.stdout);
    // What the change would change is told, and who counts is the baseline's.
    repo.write(".flectorc", "files: ['none/**']\n");
    assert!(doctor(&repo, &[]).exits(0).stdout.contains("The settings change"));
    let head = doctor(&repo, &["--config-from", "worktree"]).exits(2);
    assert!(line(&head, "target").starts_with("!! ") && line(&head, "target").contains("none/**"));
    let named = doctor(&repo, &["config/prod.yaml", "--snapshot-ref", "origin/main"]).exits(0);
    assert!(
        line(&named, "settings").starts_with("-- ") && line(&named, "target").contains(": 1 file"),
        "{}",
        named.stdout
    );
}

#[test]
fn doctor_names_what_keeps_a_run_from_working_and_exits_with_2() {
    let repo = Repo::new();
    for (more, what, says) in [
        (&["--snapshot-ref", "no-such"][..], "baseline", "no-such"),
        (&["--snapshot-ref", "--output=x"], "baseline", ""),
        (&["--profile", "p"], "settings", "no profile"),
        (&["no/such.yaml"], "target", "no/such.yaml"),
        (&[], "targets", "none"),
    ] {
        let done = doctor(&repo, more).exits(2);
        if !done.stdout.is_empty() {
            let line = line(&done, what);
            assert!(line.starts_with("!! ") && line.contains(says), "{more:?}: {}", done.stdout);
        }
    }
    repo.write(".flectorc", "explain: true\n");
    let done = doctor(&repo, &["config"]).exits(2);
    assert!(line(&done, "settings").contains("`explain` cannot be set in a file"), "{}", done.stdout);
    let outside = tempfile::tempdir().expect("a folder");
    let done = run(program("flecto").args(["doctor", "x.yaml"]).current_dir(outside.path())).exits(2);
    assert!(line(&done, "repository").starts_with("!! "), "{}", done.stdout);
    let done = run(Kit::new().remove("flecto-mask").flecto(&repo, "").args(["doctor", "config"])).exits(2);
    assert!(line(&done, "programs").contains("flecto-mask is missing"), "{}", done.stdout);
    // Nobody's text acts on the terminal.
    let done = doctor(&repo, &["a\u{1b}[2Jb.yaml"]).exits(2);
    assert!(!done.stdout.contains('\u{1b}'), "{}", done.stdout);
}

#[test]
fn k1_doctor_shows_no_key_and_sends_none() {
    let secret = ["sk-", "ant-", "nobodys-", "0123456789abcdef"].concat();
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = server.local_addr().expect("an address");
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = server.accept().expect("a caller");
        let mut request = Vec::new();
        let mut buffer = [0; 1024];
        while !request.windows(4).any(|w| w == b"\r\n\r\n") {
            match stream.read(&mut buffer) {
                Ok(0) | Err(_) => break,
                Ok(count) => request.extend_from_slice(&buffer[..count]),
            }
        }
        let _ = stream.write_all(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        String::from_utf8_lossy(&request).into_owned()
    });
    let repo = Repo::new();
    let with = |more: &[&str]| {
        let mut command = repo.program("flecto");
        command.args(["doctor", "config"]).args(more);
        command.env("FLECTO_EXPLAIN_PROVIDER", "anthropic").env("ANTHROPIC_API_KEY", &secret);
        command.env("FLECTO_EXPLAIN_API_URL", format!("http://{address}"));
        run(&mut command)
    };
    let offline = with(&[]).exits(0);
    assert!(line(&offline, "narration").contains("a key is in ANTHROPIC_API_KEY"), "{}", offline.stdout);
    assert!(line(&offline, "online").contains("not tried"));
    let online = with(&["--online"]).exits(0);
    assert!(line(&online, "online").contains("HTTP status 401"), "{}", online.stdout);
    let request = asked.join().expect("a request");
    for text in [&offline.stdout, &offline.stderr, &online.stdout, &online.stderr, &request] {
        assert!(!text.contains("nobodys"), "{text}");
    }
    // Nobody there: that is told, and only because it was asked for.
    let gone = with(&["--online"]).exits(2);
    assert!(line(&gone, "online").starts_with("!! "), "{}", gone.stdout);
    with(&[]).exits(0);
}
