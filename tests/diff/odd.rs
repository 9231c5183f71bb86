//! Odd repositories: names, modes, links, what is missing or may not be read, and what an attacker puts into them.

use crate::support::{self, PROD_YAML, PROD_YAML_CHANGED, Repo, Run};
use std::path::Path;
use std::process::Command;

fn files(run: &Run) -> Vec<String> {
    let line = |record: &serde_json::Value| {
        format!("{} {}", record["status"].as_str().expect("a status"), record["file"].as_str().expect("a name"))
    };
    run.records("file").iter().map(line).collect()
}

#[test]
fn a_repository_of_somebody_else_is_one_line_with_gits_remedy() {
    let repo = Repo::new();
    // As if another user owned it: git's own switch for its tests.
    let run = support::run(repo.program("flecto-diff").arg("config").env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1"));
    if run.status == Some(0) {
        return support::skipped("this git has no safe.directory");
    }
    let run = run.exits(2);
    assert!(run.stderr.contains("git config --global --add safe.directory"), "{}", run.stderr);
    assert_eq!((run.stderr.lines().count(), run.stdout.as_str()), (1, ""), "{}", run.stderr);
}

#[test]
#[cfg(unix)]
fn a_file_that_may_not_be_read_is_an_error_of_its_own() {
    use std::os::unix::fs::PermissionsExt as _;
    let repo = Repo::new();
    repo.write("config/a.yaml", "a: 1\n");
    repo.write("config/b.yaml", "b: 1\n");
    repo.commit("more");
    repo.write("config/a.yaml", "a: 2\n");
    repo.write("config/b.yaml", "b: 2\n");
    let closed = repo.path().join("config/a.yaml");
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).expect("permissions");
    if std::fs::read(&closed).is_ok() {
        // The administrator reads everything but the memory at address 0.
        let memory = Path::new("/proc/self/mem");
        if !memory.exists() {
            return support::skipped("nothing is unreadable to the administrator here");
        }
        let args = ["--no-index", "--input-format=yaml", "config/b.yaml", "/proc/self/mem"];
        let run = repo.run("flecto-diff", args).exits(2);
        assert_eq!(files(&run), ["error mem"]);
        assert!(run.stderr.contains("mem: cannot be read"), "{}", run.stderr);
        assert_eq!(run.records("end")[0]["complete"], false);
        return;
    }
    let run = repo.run("flecto-diff", ["config"]).exits(2);
    assert_eq!(files(&run), ["error config/a.yaml", "modified config/b.yaml"]);
    assert!(run.stderr.contains("config/a.yaml: cannot be read: permission denied"), "{}", run.stderr);
    assert_eq!(run.records("end")[0]["complete"], false);
}

#[test]
fn a_folder_where_a_file_was_and_the_other_way_round() {
    let repo = Repo::new();
    repo.write("config/dir.yaml/inner.yaml", "i: 1\n");
    repo.commit("a folder with a file's name");
    std::fs::remove_file(repo.path().join("config/prod.yaml")).expect("removed");
    repo.write("config/prod.yaml/a.yaml", "x: 1\n");
    std::fs::remove_dir_all(repo.path().join("config/dir.yaml")).expect("removed");
    repo.write("config/dir.yaml", "y: 1\n");
    let run = repo.run("flecto-diff", ["config"]).exits(0);
    assert_eq!(
        files(&run),
        [
            "added config/dir.yaml",
            "removed config/dir.yaml/inner.yaml",
            "removed config/prod.yaml",
            "added config/prod.yaml/a.yaml"
        ]
    );
}

#[test]
fn a_partial_clone_names_what_is_missing_and_fetches_nothing() {
    let repo = Repo::new();
    repo.git(["config", "uploadpack.allowFilter", "true"]);
    repo.write("config/prod.yaml", PROD_YAML_CHANGED);
    repo.write("config/more.yaml", "m: 1\n");
    repo.commit("second");
    let dir = tempfile::tempdir().expect("a folder");
    let url = format!("file://{}", repo.path().display());
    let mut clone = support::clean(Command::new("git"));
    clone.args(["clone", "--quiet", "--filter=blob:none", &url, "clone"]).current_dir(dir.path());
    support::run(&mut clone).exits(0);
    let here = dir.path().join("clone");
    let objects =
        || support::run(support::clean(Command::new("git")).args(["count-objects", "-v"]).current_dir(&here)).stdout;
    let before = objects();
    let args = ["config", "--snapshot-ref", "HEAD~1"];
    let run = support::run(support::program("flecto-diff").args(args).current_dir(&here)).exits(2);
    assert_eq!(files(&run), ["added config/more.yaml", "error config/prod.yaml"]);
    assert!(run.stderr.contains("is not in this clone") && run.stderr.contains("git fetch"), "{}", run.stderr);
    assert_eq!(objects(), before, "something was fetched");
    // What is there is compared.
    std::fs::write(here.join("config/prod.yaml"), PROD_YAML).expect("a file");
    let run = support::run(support::program("flecto-diff").arg("config").current_dir(&here)).exits(0);
    assert_eq!(run.records("change").len(), 2);
}

#[test]
#[cfg(unix)]
fn the_mode_of_a_file_says_nothing_about_its_content() {
    use std::os::unix::fs::PermissionsExt as _;
    let repo = Repo::new();
    let path = repo.path().join("config/prod.yaml");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    assert_eq!(repo.git(["diff", "--name-only"]).trim(), "config/prod.yaml");
    assert_eq!(files(&repo.run("flecto-diff", ["config"]).exits(0)), Vec::<String>::new());
    assert_eq!(files(&repo.run("flecto-diff", ["config/prod.yaml"]).exits(0)), ["unchanged config/prod.yaml"]);
    repo.git(["add", "--all"]);
    assert_eq!(files(&repo.run("flecto-diff", ["config", "--staged"]).exits(0)), Vec::<String>::new());
    repo.write("config/prod.yaml", PROD_YAML_CHANGED);
    assert_eq!(repo.run("flecto-diff", ["config"]).exits(0).records("change").len(), 2);
}

#[test]
#[cfg(unix)]
fn a_link_that_becomes_a_file() {
    use std::os::unix::ffi::OsStrExt as _;
    let repo = Repo::new();
    let link = repo.path().join("config/link.yaml");
    std::os::unix::fs::symlink("prod.yaml", &link).expect("a link");
    repo.commit("a link");
    std::fs::remove_file(&link).expect("removed");
    repo.write("config/link.yaml", "a: 1\n");
    for args in [vec!["config"], vec!["config", "--staged"]] {
        let run = support::run(repo.program("flecto-diff").args(&args)).exits(0);
        let change = &run.records("change")[0];
        assert_eq!((change["before"].as_str(), change["op"].as_str()), (Some("prod.yaml"), Some("changed")));
        assert_eq!(change["note"], "was a symbolic link, is a file now");
        repo.git(["add", "--all"]);
    }
    // Two targets that are no text do not look the same.
    repo.commit("a file");
    let odd = |byte: u8| std::ffi::OsStr::from_bytes(&[b'x', byte]).to_owned();
    let other = repo.path().join("config/odd.yaml");
    if std::os::unix::fs::symlink(odd(0xfe), &other).is_err() {
        return support::skipped("links must be text here");
    }
    repo.commit("an odd link");
    std::fs::remove_file(&other).expect("removed");
    std::os::unix::fs::symlink(odd(0xff), &other).expect("a link");
    let run = repo.run("flecto-diff", ["config"]).exits(0);
    let change = &run.records("change")[0];
    assert_eq!((change["before"].as_str(), change["after"].as_str()), (Some("x\\xfe"), Some("x\\xff")));
}

#[test]
fn a_file_that_is_renamed_with_changes_between_commits_and_in_the_index() {
    let repo = Repo::new();
    let body: String = (0..20).map(|n| format!("key{n}: value {n}\n")).collect();
    repo.write("config/old.yaml", &body);
    repo.commit("first");
    repo.git(["mv", "config/old.yaml", "config/new.yaml"]);
    repo.write("config/new.yaml", body.replace("value 7\n", "value seven\n"));
    repo.git(["add", "--all"]);
    let told = |run: Run| {
        let file = run.records("file")[0].clone();
        assert_eq!((file["status"].as_str(), file["from"].as_str()), (Some("renamed"), Some("config/old.yaml")));
        assert_eq!(run.records("change").len(), 1);
        assert_eq!(run.records("change")[0]["path"], "key7");
    };
    told(repo.run("flecto-diff", ["config", "--staged"]).exits(0));
    repo.commit("second");
    told(repo.run("flecto-diff", ["config", "--snapshot-ref", "HEAD~1", "--to-ref", "HEAD"]).exits(0));
    // Of another format it is still the same file.
    repo.write("config/list.yaml", "a: 1\nb: 2\nc: 3\n");
    repo.commit("third");
    repo.git(["mv", "config/list.yaml", "config/list.yml"]);
    assert_eq!(files(&repo.run("flecto-diff", ["config"]).exits(0)), ["renamed config/list.yml"]);
}

#[test]
fn line_ends_by_attributes_and_settings_are_no_change() {
    let repo = Repo::new();
    let text = "text: |\n  one\n  two\nb: 1\n";
    repo.write(".gitattributes", "*.yaml text eol=crlf\n");
    repo.write("config/t.yaml", text);
    repo.write("config/e.env", "A=1\n");
    repo.commit("attributes");
    std::fs::remove_dir_all(repo.path().join("config")).expect("removed");
    repo.git(["-c", "core.autocrlf=true", "checkout", "--", "config"]);
    let on_disk = std::fs::read_to_string(repo.path().join("config/t.yaml")).expect("a file");
    assert!(on_disk.contains("\r\n"), "{on_disk:?}");
    assert_eq!(files(&repo.run("flecto-diff", ["config"]).exits(0)), Vec::<String>::new());
    repo.write("config/t.yaml", on_disk.replace("b: 1", "b: 2"));
    let run = repo.run("flecto-diff", ["config"]).exits(0);
    assert_eq!(run.records("change").len(), 1);
    assert_eq!(run.records("change")[0]["path"], "b");
}

#[test]
#[cfg(unix)]
fn filters_of_the_repository_never_run() {
    let repo = Repo::new();
    let canary = repo.path().join("canary");
    let script = repo.path().join("run.sh");
    std::fs::write(&script, format!("#!/bin/sh\necho \"$@\" >> '{}'\ncat\n", canary.display())).expect("a file");
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    let script = script.to_str().expect("text");
    repo.write(".gitattributes", "*.yaml filter=evil diff=evil ident text working-tree-encoding=UTF-16\n");
    repo.write("evil", format!("[filter \"evil\"]\n clean = {script}\n smudge = {script}\n process = {script}\n required = true\n[diff \"evil\"]\n textconv = {script}\n command = {script}\n[core]\n sshCommand = {script}\n gitProxy = {script}\n alternateRefsCommand = {script}\n editor = {script}\n[credential]\n helper = {script}\n"));
    repo.git(["config", "include.path", "../evil"]);
    repo.write("config/prod.yaml", PROD_YAML_CHANGED);
    let _ = std::fs::remove_file(&canary);
    for args in
        [&["config"][..], &["**/*.yaml"], &["config/prod.yaml", "--merge-base", "--snapshot-ref", "origin/main"]]
    {
        let run = support::run(repo.program("flecto-diff").args(args)).exits(0);
        assert_eq!(run.records("change").len(), 2, "{}", run.stderr);
    }
    support::run(repo.program("flecto-diff").args(["config", "--staged", "--allow-empty"])).exits(0);
    let ran = std::fs::read_to_string(&canary).unwrap_or_default();
    assert_eq!(ran, "", "something of the repository ran");
}

#[test]
#[cfg(unix)]
fn names_that_are_odd_are_names_like_any() {
    use std::os::unix::ffi::OsStrExt as _;
    let repo = Repo::new();
    let names: [&[u8]; 7] = [
        b"a b.yaml",
        b"new\nline.yaml",
        b"-x.yaml",
        b"--output=y.yaml",
        b"\xff.yaml",
        b"tab\t'\".yaml",
        b":(top)z.yaml",
    ];
    let path = |name: &[u8]| repo.path().join(std::ffi::OsStr::from_bytes(name));
    let write = |text: &str| names.iter().all(|name| std::fs::write(path(name), text).is_ok());
    if !write("a: 1\n") {
        return support::skipped("names must be text here");
    }
    repo.commit("odd names");
    write("a: 2\n");
    let run = repo.run("flecto-diff", ["."]).exits(0);
    assert_eq!(run.records("file").len(), names.len(), "{:?}", files(&run));
    assert!(run.records("file").iter().all(|file| file["status"] == "modified"));
    let odd =
        run.records("file").into_iter().find(|file| file.get("file_bytes").is_some()).expect("a name that is no text");
    assert_eq!((odd["file"].as_str(), odd["file_bytes"].as_str()), (Some("\u{fffd}.yaml"), Some("/y55YW1s")));
    // Each by its own name; one that begins with a dash after `--`, or from `./`.
    for name in names {
        let target = std::ffi::OsStr::from_bytes(name);
        let run = support::run(repo.program("flecto-diff").arg("--").arg(target)).exits(0);
        assert_eq!(run.records("change").len(), 1, "{target:?}: {}", run.stderr);
        let run = support::run(repo.program("flecto-diff").arg(Path::new(".").join(target))).exits(0);
        assert_eq!(run.records("change").len(), 1, "{target:?}: {}", run.stderr);
    }
    support::run(repo.program("flecto-diff").arg("-x.yaml")).exits(2);
    assert!(!path(b"y.yaml").exists());
    // An error about one is one line.
    std::fs::write(path(b"new\nline.yaml"), "a: b: c\n").expect("a file");
    let run = repo.run("flecto-diff", ["."]).exits(2);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
}
