//! The git side: revisions, odd repositories, and what git has in the place of a file.

use crate::support::{self, PROD_YAML, PROD_YAML_CHANGED, Repo, Run};
use std::process::Command;

fn files(run: &Run) -> Vec<String> {
    let line = |record: &serde_json::Value| {
        format!("{} {}", record["status"].as_str().expect("a status"), record["file"].as_str().expect("a name"))
    };
    run.records("file").iter().map(line).collect()
}

#[test]
fn the_three_new_sides() {
    let repo = Repo::new();
    repo.write("config/prod.yaml", "a: staged\n");
    repo.git(["add", "--all"]);
    repo.write("config/prod.yaml", "a: work\n");
    let after = |args: [&str; 2]| {
        let run = repo.run("flecto-diff", ["config/prod.yaml", args[0], args[1]]).exits(0);
        run.records("change").iter().find(|c| c["path"] == "a").map(|c| c["after"].to_string())
    };
    assert_eq!(after(["--snapshot-ref", "HEAD"]), Some("\"work\"".into()));
    assert_eq!(after(["--staged", "--allow-empty"]), Some("\"staged\"".into()));
    repo.commit("second");
    let run =
        repo.run("flecto-diff", ["config/prod.yaml", "--snapshot-ref", "origin/main", "--to-ref", "HEAD"]).exits(0);
    assert_eq!(run.records("start")[0]["baseline"], "origin/main");
    assert_eq!(run.records("start")[0]["to"], "HEAD");
    assert_eq!(run.records("end")[0]["differing"], 1);
}

#[test]
fn the_common_ancestor() {
    let repo = Repo::new();
    repo.git(["checkout", "--quiet", "-b", "topic"]);
    repo.write("config/topic.yaml", "t: 1\n");
    repo.commit("topic");
    repo.git(["checkout", "--quiet", "main"]);
    repo.write("config/prod.yaml", PROD_YAML_CHANGED);
    repo.commit("main goes on");
    repo.git(["checkout", "--quiet", "topic"]);
    assert_eq!(
        files(&repo.run("flecto-diff", ["config", "--snapshot-ref", "main"]).exits(0)),
        ["modified config/prod.yaml", "added config/topic.yaml"]
    );
    let run = repo.run("flecto-diff", ["config", "--snapshot-ref", "main", "--merge-base"]).exits(0);
    assert_eq!(files(&run), ["added config/topic.yaml"]);
    repo.git(["checkout", "--quiet", "--orphan", "alone"]);
    repo.commit("alone");
    let run = repo.run("flecto-diff", ["config", "--snapshot-ref", "main", "--merge-base"]).exits(2);
    assert!(run.stderr.contains("no common ancestor"), "{}", run.stderr);
}

#[test]
fn g2_a_revision_is_one_commit_and_nothing_else() {
    let repo = Repo::new();
    repo.git(["branch", "twice"]);
    repo.git(["tag", "twice"]);
    repo.write("other.yaml", "a: 1\n");
    repo.commit("second");
    repo.git(["tag", "--force", "twice"]);
    for (revision, says) in [
        ("main..HEAD", "is a range"),
        ("main...HEAD", "is a range"),
        ("^main", "is a range"),
        ("--output=x", "looks like an option"),
        ("-h", "looks like an option"),
        ("", "is no revision"),
        ("nope", "is no commit"),
        ("origin/nope", "is no commit"),
        ("other.yaml", "is a file here"),
        ("HEAD:other.yaml", "names a file"),
        (":/second", "names a file or a search"),
        ("twice", "is ambiguous"),
        ("HEAD^{tree}", "is no commit"),
        ("HEAD~7", "is no commit"),
        ("main\nHEAD", "is no commit"),
        ("0000000000000000000000000000000000000000", "is no commit"),
    ] {
        let run = repo.run("flecto-diff", ["config", &format!("--snapshot-ref={revision}")]).exits(2);
        assert!(run.stdout.is_empty() && run.stderr.contains(says), "{revision}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        let run = repo.run("flecto-diff", ["config", &format!("--to-ref={revision}")]).exits(2);
        assert!(run.stderr.contains(says), "{revision}: {}", run.stderr);
    }
    assert!(!repo.path().join("x").exists());
    for revision in ["HEAD", "HEAD~1", "main", "refs/heads/twice", "origin/main", "main@{0}"] {
        repo.run("flecto-diff", ["config", &format!("--snapshot-ref={revision}")]).exits(0);
    }
}

#[test]
fn repositories_that_cannot_be_used_say_why() {
    let outside = tempfile::tempdir().expect("a folder");
    let run = |args: &[&str]| support::run(support::program("flecto-diff").args(args).current_dir(outside.path()));
    let said = run(&["a.yaml"]).exits(2).stderr;
    assert!(said.contains("no git repository") && said.contains("--no-index"), "{said}");
    let git = |args: &[&str]| {
        support::run(support::clean(Command::new("git")).args(args).current_dir(outside.path())).exits(0);
    };
    git(&["init", "--quiet", "--bare", "bare.git"]);
    let said = run(&["-C", "bare.git", "a.yaml"]).exits(2).stderr;
    assert!(said.contains("bare repository"), "{said}");
    git(&["init", "--quiet", "empty"]);
    std::fs::write(outside.path().join("empty/a.yaml"), "a: 1\n").expect("a file");
    let said = run(&["-C", "empty", "a.yaml"]).exits(2).stderr;
    assert!(said.contains("no commit yet"), "{said}");
    git(&["-C", "empty", "add", "a.yaml"]);
    assert_eq!(files(&run(&["-C", "empty", "a.yaml", "--staged"]).exits(0)), ["added a.yaml"]);
    let said = run(&["-C", "nowhere", "a.yaml"]).exits(2).stderr;
    assert!(said.contains("nowhere: no folder"), "{said}");
}

#[test]
fn a_shallow_clone_names_the_remedy() {
    let repo = Repo::new();
    repo.write("config/prod.yaml", PROD_YAML_CHANGED);
    repo.commit("second");
    let dir = tempfile::tempdir().expect("a folder");
    let url = format!("file://{}", repo.path().display());
    let mut clone = support::clean(Command::new("git"));
    support::run(clone.args(["clone", "--quiet", "--depth=1", &url, "clone"]).current_dir(dir.path())).exits(0);
    let run = |revision: &str| {
        support::run(
            support::program("flecto-diff")
                .args(["config", "--snapshot-ref", revision])
                .current_dir(dir.path().join("clone")),
        )
    };
    let said = run("HEAD~1").exits(2).stderr;
    assert!(said.contains("shallow") && said.contains("git fetch --unshallow"), "{said}");
    run("HEAD").exits(0);
}

#[test]
#[cfg(unix)]
fn links_are_compared_by_their_targets_and_never_followed() {
    use std::os::unix::fs::symlink;
    let repo = Repo::new();
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("secret.yaml"), "password: canary-1234\n").expect("a file");
    symlink("prod.yaml", repo.path().join("config/link.yaml")).expect("a link");
    repo.commit("a link");
    assert_eq!(files(&repo.run("flecto-diff", ["config"]).exits(0)), Vec::<String>::new());
    std::fs::remove_file(repo.path().join("config/link.yaml")).expect("removed");
    symlink(outside.path().join("secret.yaml"), repo.path().join("config/link.yaml")).expect("a link");
    let run = repo.run("flecto-diff", ["config"]).exits(0);
    assert_eq!(files(&run), ["modified config/link.yaml"]);
    assert_eq!(run.records("file")[0]["format"], "link");
    assert_eq!(run.records("change")[0]["before"], "prod.yaml");
    assert!(!run.stdout.contains("canary"), "{}", run.stdout);
    // A file that becomes a link.
    std::fs::remove_file(repo.path().join("config/prod.yaml")).expect("removed");
    symlink(outside.path().join("secret.yaml"), repo.path().join("config/prod.yaml")).expect("a link");
    let run = repo.run("flecto-diff", ["config/prod.yaml"]).exits(0);
    assert!(run.records("change")[0]["note"].as_str().expect("a note").contains("is a symbolic link now"));
    assert!(!run.stdout.contains("canary"));
    // A folder that becomes one: nothing behind it is of this repository.
    std::fs::remove_dir_all(repo.path().join("config")).expect("removed");
    std::fs::write(outside.path().join("prod.yaml"), "password: canary-1234\n").expect("a file");
    symlink(outside.path(), repo.path().join("config")).expect("a link");
    let run = repo.run("flecto-diff", ["**/prod.yaml"]).exits(0);
    assert_eq!(files(&run), ["removed config/prod.yaml"]);
    let run = repo.run("flecto-diff", ["config/prod.yaml"]).exits(2);
    assert!(run.stderr.contains("leaves the work tree through a link"), "{}", run.stderr);
    assert!(!run.stdout.contains("canary"));
}

#[test]
#[cfg(unix)]
fn what_is_no_plain_file_is_never_opened() {
    let repo = Repo::new();
    let pipe = repo.path().join("config/pipe.yaml");
    let made = support::run(support::clean(Command::new("mkfifo")).arg(&pipe));
    if made.status != Some(0) {
        eprintln!("skipped: there is no mkfifo");
        return;
    }
    let run = repo.run("flecto-diff", ["config/pipe.yaml"]).exits(2);
    assert!(run.stderr.contains("no plain file"), "{}", run.stderr);
    assert_eq!(files(&run), ["error config/pipe.yaml"]);
    repo.run("flecto-diff", ["config", "--allow-empty"]).exits(0);
}

#[test]
fn submodules_are_named_by_their_commits_and_not_entered() {
    let repo = Repo::new();
    let inner = Repo::new();
    let url = inner.path().to_str().expect("text").to_string();
    repo.git(["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "sub"]);
    repo.commit("a submodule");
    let old = inner.git(["rev-parse", "HEAD"]);
    inner.write("config/prod.yaml", PROD_YAML_CHANGED);
    inner.commit("second");
    let new = inner.git(["rev-parse", "HEAD"]);
    let dir = repo.path().join("sub");
    let mut pull = support::clean(Command::new("git"));
    support::run(pull.args(["pull", "--quiet"]).current_dir(dir)).exits(0);
    repo.git(["add", "sub"]);
    let run = repo.run("flecto-diff", ["sub", "--staged"]).exits(0);
    let change = &run.records("change")[0];
    assert_eq!((change["before"].as_str(), change["after"].as_str()), (Some(old.trim()), Some(new.trim())));
    assert_eq!(run.records("file")[0]["format"], "submodule");
    assert_eq!(files(&repo.run("flecto-diff", ["."]).exits(0)), ["modified sub"]);
    let run = repo.run("flecto-diff", ["sub/config/prod.yaml"]).exits(2);
    assert!(run.stderr.contains("submodule"), "{}", run.stderr);
}

#[test]
fn pointers_and_locked_files_are_no_content() {
    let repo = Repo::new();
    let content = "a: 1\n";
    let pointer = format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize {}\n",
        "a9f5f3d9ad9b8b3f2c1bb2c3b0f1f7d1c2d9a6a7b4c5d6e7f8091a2b3c4d5e6f",
        content.len()
    );
    repo.write("big.yaml", &pointer);
    repo.write("locked.yaml", b"\0GITCRYPT\0abcdefgh");
    repo.commit("pointers");
    repo.write("big.yaml", content);
    repo.write("locked.yaml", "password: canary-1234\n");
    let run = repo.run("flecto-diff", ["big.yaml", "locked.yaml", "config/prod.yaml"]).exits(2);
    assert_eq!(files(&run), ["error big.yaml", "unchanged config/prod.yaml", "error locked.yaml"]);
    assert!(run.stderr.contains("big.yaml: is a Git LFS pointer"), "{}", run.stderr);
    assert!(run.stderr.contains("git-crypt"), "{}", run.stderr);
    assert!(!run.stdout.contains("canary"));
    // Between commits it is what it looks like: the file is in the clear now.
    repo.commit("in the clear");
    let run = repo.run("flecto-diff", ["locked.yaml", "--snapshot-ref", "HEAD~1", "--to-ref", "HEAD"]).exits(0);
    let change = &run.records("change")[0];
    assert!(change["before"].as_str().expect("text").starts_with("<encrypted:git-crypt:"));
    assert_eq!(change["after"], "<no longer encrypted>");
    assert!(!run.stdout.contains("canary"));
}

#[test]
fn renames_are_found_as_git_finds_them() {
    let repo = Repo::new();
    let body: String = (0..20).map(|n| format!("key{n}: value {n}\n")).collect();
    repo.write("config/old.yaml", &body);
    repo.write("config/same.yaml", format!("{body}x: 1\n"));
    repo.commit("two");
    repo.git(["mv", "config/old.yaml", "config/new.yaml"]);
    repo.git(["mv", "config/same.yaml", "config/moved.yaml"]);
    repo.write("config/new.yaml", body.replace("value 3\n", "value three\n"));
    let run = repo.run("flecto-diff", ["config"]).exits(0);
    assert_eq!(files(&run), ["renamed config/moved.yaml", "renamed config/new.yaml"]);
    assert_eq!(run.records("file")[0]["from"], "config/same.yaml");
    assert_eq!(run.records("file")[1]["from"], "config/old.yaml");
    assert_eq!(run.records("change").len(), 1);
    assert_eq!(run.records("end")[0]["differing"], 2);
    // Without a file that came, one that is gone is gone.
    repo.write("config/new.yaml", "other: 1\n");
    let run = repo.run("flecto-diff", ["config"]).exits(0);
    assert_eq!(files(&run), ["renamed config/moved.yaml", "added config/new.yaml", "removed config/old.yaml"]);
}

#[test]
fn sparse_files_are_taken_from_the_index() {
    let repo = Repo::new();
    repo.write("kept/a.yaml", "a: 1\n");
    repo.commit("two folders");
    repo.git(["sparse-checkout", "set", "--cone", "kept"]);
    assert!(!repo.path().join("config/prod.yaml").exists());
    assert_eq!(files(&repo.run("flecto-diff", ["."]).exits(0)), Vec::<String>::new());
    assert_eq!(files(&repo.run("flecto-diff", ["config/prod.yaml"]).exits(0)), ["unchanged config/prod.yaml"]);
}

#[test]
fn nothing_of_the_repository_runs() {
    let repo = Repo::new();
    let canary = repo.path().join("canary");
    let script = repo.path().join("run.sh");
    std::fs::write(&script, format!("#!/bin/sh\necho ran >> '{}'\ncat\n", canary.display())).expect("a file");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    }
    let script = script.to_str().expect("text");
    repo.write(".gitattributes", "*.yaml diff=evil filter=evil\n");
    for (key, value) in [
        ("diff.external", script),
        ("diff.evil.command", script),
        ("diff.evil.textconv", script),
        ("filter.evil.clean", script),
        ("filter.evil.smudge", script),
        ("core.fsmonitor", script),
        ("core.pager", script),
        ("core.hooksPath", repo.path().to_str().expect("text")),
    ] {
        repo.git(["config", key, value]);
    }
    std::fs::copy(script, repo.path().join("post-index-change")).expect("a copy");
    let _ = std::fs::remove_file(&canary);
    repo.write("config/prod.yaml", PROD_YAML_CHANGED);
    for args in [["config", "--exit-code"], ["**/*.yaml", "--exit-code"], ["config/prod.yaml", "--staged"]] {
        support::run(repo.program("flecto-diff").args(args).env("GIT_EXTERNAL_DIFF", script));
    }
    assert!(!canary.exists(), "something of the repository ran");
}

#[test]
fn work_trees_are_repositories_too() {
    let repo = Repo::new();
    let dir = tempfile::tempdir().expect("a folder");
    let tree = dir.path().join("tree");
    repo.git(["worktree", "add", "--quiet", tree.to_str().expect("text"), "-b", "side"]);
    std::fs::write(tree.join("config/prod.yaml"), PROD_YAML_CHANGED).expect("a file");
    let run = support::run(support::program("flecto-diff").arg("config").current_dir(&tree)).exits(0);
    assert_eq!(run.records("end")[0]["changes"], 2);
    assert_eq!(files(&repo.run("flecto-diff", ["config"]).exits(0)), Vec::<String>::new());
    #[cfg(unix)]
    {
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&tree, &link).expect("a link");
        let run =
            support::run(support::program("flecto-diff").arg("prod.yaml").current_dir(link.join("config"))).exits(0);
        assert_eq!(files(&run), ["modified prod.yaml"]);
    }
}

#[test]
fn two_operands_without_a_flag() {
    let repo = Repo::new();
    repo.write("config/test.yaml", "a: 1\n");
    repo.commit("two");
    let run = repo.run("flecto-diff", ["config/prod.yaml", "config/test.yaml"]).exits(2);
    assert!(run.stderr.contains("--snapshot-ref HEAD") && run.stderr.contains("--no-index"), "{}", run.stderr);
    repo.run("flecto-diff", ["config/prod.yaml", "config/test.yaml", "--snapshot-ref", "HEAD"]).exits(0);
    let run = repo.run("flecto-diff", ["config/prod.yaml", "config/test.yaml", "--no-index"]).exits(0);
    assert_eq!(run.records("start")[0]["baseline"], "config/prod.yaml");
    // A glob of the shell that meets a new file means it, too; only without any tracked file the two are a pair.
    repo.write("config/new.yaml", "a: 2\n");
    for pair in [["config/test.yaml", "config/new.yaml"], ["config/new.yaml", "config/test.yaml"]] {
        let run = repo.run("flecto-diff", pair).exits(2);
        assert!(run.stderr.contains("one that is new") && run.stderr.lines().count() == 1, "{}", run.stderr);
        assert!(run.stderr.contains("--snapshot-ref HEAD") && run.stderr.contains("--no-index"), "{}", run.stderr);
    }
    let run = repo.run("flecto-diff", ["config/test.yaml", "config/new.yaml", "--snapshot-ref", "HEAD"]).exits(0);
    assert_eq!(files(&run), ["added config/new.yaml", "unchanged config/test.yaml"]);
    repo.write("config/newer.yaml", "a: 3\n");
    let run = repo.run("flecto-diff", ["config/new.yaml", "config/newer.yaml"]).exits(0);
    assert_eq!(run.records("change")[0]["after"], 3);
    let run = support::run_with(repo.program("flecto-diff").args(["config/test.yaml", "-"]), "a: 9\n").exits(0);
    assert_eq!(run.records("change")[0]["after"], 9);
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("x.yaml"), PROD_YAML).expect("a file");
    let other = outside.path().join("x.yaml");
    let run = repo.run("flecto-diff", ["config/prod.yaml", other.to_str().expect("text")]).exits(0);
    assert_eq!(files(&run), ["unchanged x.yaml"]);
    let folders = ["config", outside.path().to_str().expect("text")];
    assert!(repo.run("flecto-diff", folders).exits(2).stderr.contains("outside the repository"));
}

#[test]
fn line_ends_that_git_would_change_are_no_difference() {
    let repo = Repo::new();
    repo.write("config/prod.yaml", PROD_YAML.replace('\n', "\r\n"));
    assert_eq!(files(&repo.run("flecto-diff", ["config"]).exits(0)), Vec::<String>::new());
}

#[test]
fn an_unresolved_merge_is_an_error_of_its_file() {
    let repo = Repo::new();
    repo.git(["checkout", "--quiet", "-b", "side"]);
    repo.write("config/prod.yaml", "a: side\n");
    repo.commit("side");
    repo.git(["checkout", "--quiet", "main"]);
    repo.write("config/prod.yaml", "a: main\n");
    repo.commit("main");
    let _ = support::run(support::clean(Command::new("git")).args(["merge", "side"]).current_dir(repo.path()));
    let run = repo.run("flecto-diff", ["config", "--staged"]).exits(2);
    assert!(run.stderr.contains("unresolved merge conflict"), "{}", run.stderr);
}
