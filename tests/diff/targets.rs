//! Targets: files, folders and globs, over both sides, from any folder.

use crate::support::{self, Repo, Run};

fn files(run: &Run) -> Vec<String> {
    let line = |record: &serde_json::Value| {
        format!("{} {}", record["status"].as_str().expect("a status"), record["file"].as_str().expect("a name"))
    };
    run.records("file").iter().map(line).collect()
}

fn repo() -> Repo {
    let repo = Repo::new();
    repo.write("config/a.yaml", "a: 1\n");
    repo.write("config/deep/b.json", "{\"b\": 1}\n");
    repo.write("config/deep/note.txt", "text\n");
    repo.write("config/.hidden/c.yml", "c: 1\n");
    repo.write(".github/workflows/ci.yml", "on: push\n");
    repo.write(".gitignore", "*.local.yaml\nbuild/\n");
    repo.commit("more");
    repo.write("config/a.yaml", "a: 2\n");
    std::fs::remove_file(repo.path().join("config/deep/b.json")).expect("removed");
    repo.write("config/.hidden/c.yml", "c: 2\n");
    repo.write("config/new.yaml", "n: 1\n");
    repo.write("config/x.local.yaml", "x: 1\n");
    repo.write("build/y.yaml", "y: 1\n");
    repo.write("config/deep/note.txt", "other text\n");
    repo
}

#[test]
fn e2_files_folders_and_globs_over_both_sides() {
    let repo = repo();
    let all = [
        "modified config/.hidden/c.yml",
        "modified config/a.yaml",
        "removed config/deep/b.json",
        "added config/new.yaml",
    ];
    assert_eq!(files(&repo.run("flecto-diff", ["config"]).exits(0)), all);
    assert_eq!(files(&repo.run("flecto-diff", ["config/"]).exits(0)), all);
    assert_eq!(files(&repo.run("flecto-diff", ["."]).exits(0)), all);
    assert_eq!(files(&repo.run("flecto-diff", ["config/**/*.{yaml,yml,json}"]).exits(0)), all);
    assert_eq!(files(&repo.run("flecto-diff", ["config/*.yaml"]).exits(0)), [all[1], all[3]]);
    assert_eq!(files(&repo.run("flecto-diff", ["**/*.{yml,x}"]).exits(0)), [all[0]]);
    assert_eq!(files(&repo.run("flecto-diff", ["config/deep/b.json"]).exits(0)), [all[2]]);
    assert_eq!(
        files(
            &repo.run("flecto-diff", ["./config//a.yaml", "config/../config/new.yaml", "--snapshot-ref=HEAD"]).exits(0)
        ),
        [all[1], all[3]]
    );
}

#[test]
fn e2_from_any_folder_of_the_repository() {
    let repo = repo();
    let run = |dir: &str, target: &str| {
        files(&support::run(support::program("flecto-diff").arg(target).current_dir(repo.path().join(dir))).exits(0))
    };
    assert_eq!(run("config", "a.yaml"), ["modified a.yaml"]);
    assert_eq!(run("config", "*.yaml"), ["modified a.yaml", "added new.yaml"]);
    assert_eq!(run("config/deep", "../a.yaml"), ["modified ../a.yaml"]);
    assert_eq!(run("config/deep", "../*.yaml"), ["modified ../a.yaml", "added ../new.yaml"]);
    assert_eq!(run("config/deep", "."), ["removed b.json"]);
    let absolute = repo.path().join("config/a.yaml");
    assert_eq!(run("", absolute.to_str().expect("text")), ["modified config/a.yaml"]);
    let config = repo.path().join("config");
    let run = repo.run("flecto-diff", ["-C", config.to_str().expect("text"), "a.yaml"]).exits(0);
    assert_eq!(files(&run), ["modified a.yaml"]);
}

#[test]
fn e2_globs_follow_gitignore_and_a_named_file_need_not() {
    let repo = repo();
    assert_eq!(files(&repo.run("flecto-diff", ["config/x.local.yaml"]).exits(0)), ["added config/x.local.yaml"]);
    assert_eq!(files(&repo.run("flecto-diff", ["build"]).exits(0)), ["added build/y.yaml"]);
    let run = repo.run("flecto-diff", ["config/*.local.yaml"]).exits(2);
    assert!(run.stderr.contains("config/*.local.yaml: matches no file"), "{}", run.stderr);
    // What is committed although it is ignored is a file like any other.
    repo.git(["add", "--force", "config/x.local.yaml"]);
    repo.git(["commit", "--quiet", "--message", "forced"]);
    repo.write("config/x.local.yaml", "x: 2\n");
    assert_eq!(files(&repo.run("flecto-diff", ["config/*.local.yaml"]).exits(0)), ["modified config/x.local.yaml"]);
}

#[test]
fn e2_a_target_that_means_nothing_is_named() {
    let repo = repo();
    for target in ["nope.yaml", "nope/", "config/*.toml", "config/a.yaml/"] {
        let run = repo.run("flecto-diff", ["config/a.yaml", target]).exits(2);
        assert!(run.stdout.is_empty(), "{target}");
        assert!(run.stderr.starts_with(&format!("flecto-diff: {target}: matches no file")), "{}", run.stderr);
        repo.run("flecto-diff", ["config/a.yaml", target, "--allow-empty"]).exits(0);
    }
    let run = repo.run("flecto-diff", ["config/deep/*.txt"]).exits(2);
    assert!(run.stderr.contains("no known format"), "{}", run.stderr);
    for (target, says) in [("../x.yaml", "outside the repository"), ("", "empty target"), ("a[", "not closed")] {
        let run = repo.run("flecto-diff", [target]).exits(2);
        assert!(run.stderr.contains(says), "{target}: {}", run.stderr);
    }
}

#[test]
fn a_named_file_of_an_unknown_format_is_an_error_that_lists_what_is_known() {
    let repo = repo();
    let run = repo.run("flecto-diff", ["config/deep/note.txt", "config/a.yaml", "--snapshot-ref=HEAD"]).exits(2);
    assert_eq!(files(&run), ["modified config/a.yaml", "error config/deep/note.txt"]);
    assert!(run.stderr.contains("note.txt: unsupported format") && run.stderr.contains("yaml"), "{}", run.stderr);
    let run = repo.run("flecto-diff", ["config/deep/note.txt", "--format-map", "*.txt=yaml"]).exits(0);
    assert_eq!(run.records("change").len(), 1);
    let run = repo.run("flecto-diff", ["config/deep/note.txt", "--input-format", "yaml"]).exits(0);
    assert_eq!(run.records("change")[0]["after"], "other text");
}

#[test]
fn a_file_that_was_named_and_is_the_same_says_so_and_others_do_not() {
    let repo = Repo::new();
    assert_eq!(files(&repo.run("flecto-diff", ["config/prod.yaml"]).exits(0)), ["unchanged config/prod.yaml"]);
    let run = repo.run("flecto-diff", ["config"]).exits(0);
    assert_eq!(files(&run), Vec::<String>::new());
    assert_eq!(run.records("end")[0]["files"], 1);
}

#[test]
#[cfg(target_os = "linux")]
fn names_of_any_bytes() {
    use std::os::unix::ffi::OsStrExt as _;
    let repo = Repo::new();
    for name in [
        &b"line\nbreak.yaml"[..],
        b"tab\t.yaml",
        b"quote'\".yaml",
        b"not\xffutf8.yaml",
        b"*star.yaml",
        b"-dash.yaml",
        b"HEAD~1",
    ] {
        std::fs::write(repo.path().join(std::ffi::OsStr::from_bytes(name)), "a: 1\n").expect("a file");
    }
    repo.commit("names");
    for name in [&b"line\nbreak.yaml"[..], b"not\xffutf8.yaml", b"*star.yaml", b"-dash.yaml"] {
        std::fs::write(repo.path().join(std::ffi::OsStr::from_bytes(name)), "a: 2\n").expect("a file");
    }
    let run = repo.run("flecto-diff", ["*.yaml"]).exits(0);
    let names: Vec<_> = run.records("file").into_iter().map(|r| (r["file"].clone(), r["file_bytes"].clone())).collect();
    let names: Vec<(&str, Option<&str>)> =
        names.iter().map(|(a, b)| (a.as_str().expect("a name"), b.as_str())).collect();
    assert_eq!(
        names,
        [
            ("*star.yaml", None),
            ("-dash.yaml", None),
            ("line\nbreak.yaml", None),
            ("not\u{fffd}utf8.yaml", Some("bm90/3V0ZjgueWFtbA=="))
        ]
    );
    let literal =
        support::run(repo.program("flecto-diff").arg(std::ffi::OsStr::from_bytes(b"not\xffutf8.yaml"))).exits(0);
    assert_eq!(literal.records("change").len(), 1);
    assert_eq!(
        files(&repo.run("flecto-diff", ["--snapshot-ref=HEAD", "*star.yaml", "--", "-dash.yaml"]).exits(0)).len(),
        2
    );
    // A file that is called like a revision is a file where a target stands.
    repo.write("HEAD~1", "a: 2\n");
    assert_eq!(files(&repo.run("flecto-diff", ["HEAD~1", "--input-format", "yaml"]).exits(0)), ["modified HEAD~1"]);
}
