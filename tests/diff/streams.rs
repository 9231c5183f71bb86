//! The stream that flecto-diff writes: order, counts, places, errors, limits.

use super::{folder, pair, told, yaml};
use crate::support::{self, Repo};

#[test]
fn an_unparsable_side_is_a_record_and_the_others_go_on() {
    let repo = Repo::new();
    repo.write("config/a.yaml", "a: 1\n");
    repo.write("config/b.yaml", "b: 1\n");
    repo.commit("more");
    repo.write("config/a.yaml", "a: 1\n  b: 2: 3\nsecret: canary-1234\n");
    repo.write("config/b.yaml", "b: 2\n");
    let run = repo.run("flecto-diff", ["config"]).exits(2);
    let files = run.records("file");
    assert_eq!((files[0]["status"].as_str(), files[0]["side"].as_str()), (Some("error"), Some("after")));
    assert!(files[0]["error"].as_str().expect("why").starts_with("2:"), "{files:?}");
    assert_eq!(files[1]["status"], "modified");
    let end = &run.records("end")[0];
    assert_eq!(
        (end["errors"].as_u64(), end["complete"].as_bool(), end["differing"].as_u64()),
        (Some(1), Some(false), Some(1))
    );
    assert!(run.stderr.starts_with("flecto-diff: config/a.yaml:2:"), "{}", run.stderr);
    assert!(!run.stderr.contains("canary") && run.stderr.lines().count() == 1, "{}", run.stderr);
    // The old side of one.
    repo.commit("broken");
    repo.write("config/a.yaml", "a: 1\n");
    let run = repo.run("flecto-diff", ["config"]).exits(2);
    assert_eq!(run.records("file")[0]["side"], "before");
    assert!(run.stderr.contains("(in HEAD)"), "{}", run.stderr);
}

#[test]
fn every_place_points_at_its_value() {
    let old = "a: 1\nb:\n  - x: 1\n  - why: 2\nc: gone\n";
    let new = "# comment\na: 2\nb:\n  - x: 1\n  - why: 3\n\"d\": {e: [1,\n  2]}\n";
    let run = pair("a.yaml", old, new, &[]).exits(0);
    let place = |path: &str| {
        let changes = run.records("change");
        let change =
            changes.iter().find(|c| c["path"] == path).unwrap_or_else(|| panic!("{path}: {changes:?}")).clone();
        (
            change["line"].as_u64(),
            change["column"].as_u64(),
            change["end_line"].as_u64(),
            change["before_line"].as_u64(),
        )
    };
    assert_eq!(place("a"), (Some(2), Some(4), None, Some(1)));
    assert_eq!(place("b[1].why"), (Some(5), Some(10), None, Some(4)));
    assert_eq!(place("c"), (None, None, None, Some(5)));
    assert_eq!(place("d"), (Some(6), Some(6), Some(7), None));
}

#[test]
fn comments_that_accept_travel_with_the_next_value() {
    let run = pair(
        "a.yaml",
        "a: 1\nb: 1\nc: 1\n",
        "# flecto-ignore-next-line some-rule — it is meant\na: 2\n# flecto-ignore-next-line other\nb: 2\nc: 2\n",
        &[],
    )
    .exits(0);
    let changes = run.records("change");
    assert_eq!(changes[0]["accept"], serde_json::json!({"rule": "some-rule", "reason": "it is meant", "line": 1}));
    assert_eq!(changes[1]["accept"], serde_json::json!({"rule": "other", "line": 3}));
    assert!(changes[2].get("accept").is_none());
    // The comment stands above the key; the value may begin on the next line.
    let run = pair("a.yaml", "a: 1\n", "a: 1\n# flecto-ignore-next-line r: why\nb:\n  c: 1\n", &[]).exits(0);
    assert_eq!(run.records("change")[0]["accept"]["rule"], "r");
}

#[test]
fn g5_the_same_inputs_give_the_same_bytes() {
    let repo = Repo::new();
    for n in 0..40 {
        repo.write(&format!("config/f{n}.yaml"), format!("list: [a, b, {n}]\nmap: {{x: 1, y: [1, 2, 3]}}\n"));
    }
    repo.commit("many");
    for n in 0..40 {
        repo.write(&format!("config/f{n}.yaml"), format!("list: [b, c, {n}, d]\nmap: {{y: [3, 1, 2], z: {n}}}\n"));
    }
    let once = repo.run("flecto-diff", ["config"]).exits(0).stdout;
    for _ in 0..5 {
        assert_eq!(repo.run("flecto-diff", ["config"]).exits(0).stdout, once);
    }
    let top = repo.path().to_str().expect("text");
    assert!(!once.contains(top));
    let names: Vec<String> = once
        .lines()
        .filter(|l| l.contains("\"type\":\"file\""))
        .map(|l| l.split('"').nth(7).expect("a name").to_string())
        .collect();
    assert!(names.is_sorted() && names.len() == 40, "{names:?}");
}

#[test]
fn g3_a_run_that_matched_no_file_is_trouble() {
    let repo = Repo::new();
    repo.run("flecto-diff", ["*.nope"]).exits(2);
    let run = repo.run("flecto-diff", ["*.nope", "--allow-empty"]).exits(0);
    assert_eq!(run.records("end")[0]["files"], 0);
    assert!(repo.run("flecto-diff", []).exits(2).stderr.contains("nothing to compare"));
}

#[test]
fn the_exit_status_tells_a_difference_only_when_asked() {
    let repo = Repo::new();
    repo.run("flecto-diff", ["config", "--exit-code"]).exits(0);
    repo.write("config/prod.yaml", "a: 1\n");
    repo.run("flecto-diff", ["config"]).exits(0);
    repo.run("flecto-diff", ["config", "--exit-code"]).exits(1);
    repo.write("config/prod.yaml", "a: 1: 2\n");
    repo.run("flecto-diff", ["config", "--exit-code"]).exits(2);
}

#[test]
fn s7_names_are_relative_to_where_it_runs_or_bare() {
    let dir = folder(&[("x/old.yaml", b"a: 1\n"), ("x/new.yaml", b"a: 2\n"), ("y/a", b"")]);
    let names = |from: &str, old: &str, new: &str| {
        let mut command = support::program("flecto-diff");
        let run = support::run(command.args(["--no-index", old, new]).current_dir(dir.path().join(from))).exits(0);
        let (start, file) = (run.records("start")[0].clone(), run.records("file")[0].clone());
        (start["baseline"].as_str().expect("text").to_string(), file["file"].as_str().expect("text").to_string())
    };
    assert_eq!(names("", "x/old.yaml", "x/new.yaml"), ("x/old.yaml".into(), "x/new.yaml".into()));
    assert_eq!(names("y", "../x/old.yaml", "../x/new.yaml"), ("old.yaml".into(), "new.yaml".into()));
    let (old, new) = (dir.path().join("x/old.yaml"), dir.path().join("x/new.yaml"));
    let (old, new) = (old.to_str().expect("text"), new.to_str().expect("text"));
    assert_eq!(names("y", old, new), ("old.yaml".into(), "new.yaml".into()));
    assert_eq!(names("x", old, new), ("old.yaml".into(), "new.yaml".into()));
}

#[test]
fn two_folders_are_compared_file_by_file() {
    let dir = folder(&[
        ("old/same.yaml", b"a: 1\n"),
        ("old/x/changed.json", b"{\"a\": 1}"),
        ("old/gone.yaml", b"a: 1\n"),
        ("old/readme.txt", b"1"),
        ("new/same.yaml", b"a: 1\n"),
        ("new/x/changed.json", b"{\"a\": 2}"),
        ("new/.come.yaml", b"b: 1\n"),
        ("new/readme.txt", b"2"),
    ]);
    let run = |args: &[&str]| support::run(support::program("flecto-diff").args(args).current_dir(dir.path()));
    let out = run(&["--no-index", "old", "new"]).exits(0);
    let lines: Vec<String> = out.records("file").iter().map(|f| format!("{} {}", f["status"], f["file"])).collect();
    assert_eq!(
        lines,
        [r#""added" "new/.come.yaml""#, r#""removed" "new/gone.yaml""#, r#""modified" "new/x/changed.json""#]
    );
    assert_eq!(out.records("end")[0]["files"], 4);
    assert_eq!(run(&["old", "new"]).exits(0).stdout, out.stdout);
    assert!(run(&["--no-index", "old", "new/same.yaml"]).exits(2).stderr.contains("a file and a folder"));
    assert!(run(&["--no-index", "old"]).exits(2).stderr.contains("OLD NEW"));
    assert!(run(&["--no-index", "old", "nope"]).exits(2).stderr.contains("nope: is not there"));
    let out = run(&["--no-index", "/dev/null", "new/same.yaml"]).exits(0);
    assert_eq!(told(&out), [r#"+ $: {"a":1}"#]);
}

#[test]
fn hostile_files_end_in_a_clear_error() {
    let limit = |old: &str, new: &str, options: &[&str], says: &str| {
        let run = pair("a.yaml", old, new, options).exits(2);
        assert!(run.stderr.contains(says) && run.stderr.len() < 400, "{}", run.stderr);
    };
    limit("a: 1\n", &format!("a: {}{}\n", "[".repeat(100_000), "]".repeat(100_000)), &[], "deep");
    limit("a: 1\n", &"a: 1\n".repeat(100), &["--max-file-size", "64"], "--max-file-size");
    let run = pair("a.yaml", b"a: 1\n", b"a: \xff\n", &[]).exits(2);
    assert!(run.stderr.contains("UTF-8"), "{}", run.stderr);
}

#[test]
fn nesting_up_to_the_limit_is_compared() {
    let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(250), "]".repeat(250));
    let run = pair("a.json", deep("1"), deep("2"), &[]).exits(0);
    assert_eq!(run.records("change").len(), 1);
}

#[test]
fn long_values_are_told_in_parts_and_longer_ones_by_their_digests() {
    // A subtree of some 17 MB, of which no part is long.
    let items: String = (0..17).map(|n| format!("  k{n}: {}\n", "x".repeat(1 << 20))).collect();
    let run = pair("a.yaml", "a: 1\n", format!("a: 1\nb:\n{items}"), &[]).exits(0);
    assert_eq!(run.records("change").len(), 17);
    assert_eq!(run.records("end")[0]["changes"], 17);
    let run = pair("a.yaml", "a: 1\n", format!("a: {}\n", "y".repeat(5 << 20)), &[]).exits(0);
    assert_eq!(run.records("change")[0]["after"]["$flecto"], "long");
    assert_eq!(run.records("finding")[0]["rule"], "not-judged");
}

#[test]
fn what_the_eye_does_not_see_is_said() {
    let note = |old: &str, new: &str| {
        let run = pair("a.yaml", old, new, &[]).exits(0);
        run.records("change")[0]["note"].as_str().unwrap_or_default().to_string()
    };
    assert!(note("a: |\n  x\n", "a: |-\n  x\n").contains("line breaks at the end"));
    assert!(note("a: 8520e10\n", "a: \"8520e10\"\n").contains("float → string"));
    assert!(note("a: 10\n", "a: 10.0\n").contains("int → float"));
    assert!(note("a: Z\u{fc}rich\n", "a: Zu\u{308}rich\n").contains("Unicode composition"));
    assert!(note("a: no\n", "a: \"no\"\n").contains("YAML 1.1"));
    assert!(note("200: x\n", "\"200\": x\n").contains("the key was an int and is a string now"));
    assert!(note("a: {x: long enough}\n", "b: {x: long enough}\n").contains("moved"));
}

#[test]
fn formatting_is_never_a_change() {
    let old = "# c\na: {x: 1, y: [1, 2]}\nb: \"s\"\nc: |\n  t\n";
    let new = "c: \"t\\n\"\n\n\nb: s # d\na:\n    y:\n    - 1\n    - 2\n    x: 1\n";
    assert_eq!(yaml(old, new), Vec::<String>::new());
    let run = pair("a.yaml", old, new, &[]).exits(0);
    assert_eq!(run.records("file")[0]["status"], "modified");
}

#[test]
fn a_closed_pipe_is_quiet() {
    let repo = Repo::new();
    for n in 0..300 {
        repo.write(&format!("config/f{n}.yaml"), format!("text: {}\n", "x".repeat(2000)));
    }
    let script = format!("'{}' config | head -n 1", support::bin_dir().join("flecto-diff").display());
    let mut command = support::clean(std::process::Command::new("sh"));
    let run = support::run(command.args(["-c", &script]).current_dir(repo.path())).exits(0);
    assert_eq!(run.stderr, "");
    if std::path::Path::new("/dev/full").exists() {
        let script = format!("'{}' config > /dev/full", support::bin_dir().join("flecto-diff").display());
        let mut command = support::clean(std::process::Command::new("sh"));
        support::run(command.args(["-c", &script]).current_dir(repo.path())).exits(2);
    }
}

/// The hashes are those of a program of its own, which cuts each window out of the file instead of rolling over it and gives
/// what github/codeql-action has in its own tests.
#[test]
fn line_hashes_are_those_that_github_computes() {
    let repo = support::Repo::new();
    let text = "# same\nname:\t'a  b'\r\n# same\ngröße: '😀'\rlist: [1, 2]   \n\n\nlast: \"x\"";
    let repeated = format!("items:\n{}", "  - {n: same, v: 1}\n".repeat(12));
    repo.write("config/a.yaml", "{}\n");
    repo.write("config/bom.yaml", "{}\n");
    repo.write("config/same.yaml", "items: []\n");
    repo.commit("before");
    repo.write("config/a.yaml", text);
    repo.write("config/bom.yaml", format!("\u{feff}{text}"));
    repo.write("config/same.yaml", &repeated);
    let run = repo.run("flecto-diff", ["config"]).exits(0);
    let hashes = |file: &str| -> Vec<(u64, String)> {
        let of_file = |record: &&serde_json::Value| record["file"] == file;
        let hash = |record: &serde_json::Value| {
            (record["line"].as_u64().expect("a line"), record["line_hash"].as_str().expect("a hash").to_string())
        };
        let mut all: Vec<_> = run.records("change").iter().filter(of_file).map(hash).collect();
        all.sort();
        all
    };
    let expected =
        [(2, "c12b1b53dd497207:1"), (4, "46d62b575cc5aeee:1"), (5, "ebcd9da19078348:1"), (8, "269e8c44831b0249:1")]
            .map(|(line, hash)| (line, hash.to_string()));
    assert_eq!(hashes("config/a.yaml"), expected);
    assert_eq!(hashes("config/bom.yaml"), expected);
    // Of equal lines each has its number, as long as what follows is equal too.
    let same = hashes("config/same.yaml");
    for (line, hash) in [(2, "dd744711b4f9b812:1"), (6, "dd744711b4f9b812:5"), (8, "994f9f72eb96521f:1")] {
        assert!(same.contains(&(line, hash.to_string())), "{same:?}");
    }
}
