//! What silences a finding, and who can: the file of the baseline, comments where nobody's change is judged, and nobody's
//! word without a reason.

use crate::support::{PROD_YAML_CHANGED, Repo, Run, program, run};

const ENTRY: &str = r#"{"rule":"dangerous-toggle-enabled","file":"config/prod.yaml","path":"debug","reason":"a test bed","date":"2026-05-04"}"#;
const POOL: &str = r#"{"rule":"pool-size-jump","file":"config/prod.yaml","path":"db.pool_size","reason":"load test","date":"2026-05-04"}"#;

fn file(entries: &[&str]) -> String {
    format!("{{\"accepted\":[{}]}}\n", entries.join(",\n"))
}

fn ci(repo: &Repo, more: &[&str]) -> Run {
    run(repo.program("flecto").args(["ci", "config", "--quiet", "--format", "ndjson"]).args(more))
}

/// The findings that count, and those that do not, by rule.
fn findings(done: &Run) -> (Vec<String>, Vec<String>) {
    let (accepted, open): (Vec<_>, Vec<_>) =
        done.records("finding").into_iter().partition(|f| f.get("accepted").is_some());
    let rules =
        |list: Vec<serde_json::Value>| list.iter().map(|f| f["rule"].as_str().unwrap_or_default().into()).collect();
    (rules(open), rules(accepted))
}

fn warnings(done: &Run) -> String {
    done.records("warning").iter().map(|w| w["message"].as_str().unwrap_or_default().to_string() + "\n").collect()
}

#[test]
fn the_accepted_file_of_the_baseline_counts_and_that_of_the_change_does_not() {
    let repo = Repo::new();
    repo.write(".flecto-accepted.json", file(&[ENTRY]));
    repo.commit("accepted");
    repo.write("config/prod.yaml", PROD_YAML_CHANGED);
    let done = ci(&repo, &[]).exits(1);
    assert_eq!(findings(&done), (vec!["pool-size-jump".into()], vec!["dangerous-toggle-enabled".into()]));
    assert_eq!(done.records("verdict")[0]["accepted"], 1);
    // The change accepts the other one too: in vain, and by name.
    repo.write(".flecto-accepted.json", file(&[ENTRY, POOL]));
    for staged in [false, true] {
        if staged {
            repo.git(["add", "."]);
        }
        let done = ci(&repo, if staged { &["--staged"] } else { &[] }).exits(1);
        assert_eq!(findings(&done).0, ["pool-size-jump", "flecto-accepted-changed"]);
        assert!(done.stdout.contains("accepted: config/prod.yaml: db.pool_size (pool-size-jump)"), "{}", done.stdout);
    }
    repo.commit("head accepts");
    for more in [&["--snapshot-ref", "HEAD~1"][..], &["--snapshot-ref", "HEAD~1", "--to-ref", "HEAD"]] {
        assert_eq!(findings(&ci(&repo, more).exits(1)).0, ["pool-size-jump", "flecto-accepted-changed"]);
    }
    // Merged, it counts; the working tree's counts where the operator says so, and another file where it is named.
    repo.git(["update-ref", "refs/heads/base", "HEAD"]);
    repo.write("config/prod.yaml", crate::support::PROD_YAML);
    repo.commit("back");
    repo.write("config/prod.yaml", PROD_YAML_CHANGED);
    ci(&repo, &[]).exits(0);
    repo.write("none.json", file(&[]));
    assert_eq!(findings(&ci(&repo, &["--accepted", "none.json"]).exits(1)).0.len(), 2);
    std::fs::remove_file(repo.path().join(".flecto-accepted.json")).expect("gone");
    let done = ci(&repo, &[]).exits(1);
    assert_eq!(findings(&done).0, ["flecto-accepted-changed"]);
    assert!(done.stdout.contains("no longer accepted"), "{}", done.stdout);
    assert_eq!(findings(&ci(&repo, &["--config-from", "worktree"]).exits(1)).0.len(), 2);
}

#[test]
fn a_change_that_brings_the_first_accepted_file_does_not_accept_itself() {
    let repo = Repo::new();
    repo.write("config/prod.yaml", PROD_YAML_CHANGED);
    repo.write(".flecto-accepted.json", file(&[ENTRY, POOL]));
    let done = ci(&repo, &["--snapshot-ref", "origin/main"]).exits(1);
    assert_eq!(findings(&done).0, ["pool-size-jump", "dangerous-toggle-enabled", "flecto-accepted-changed"]);
    ci(&repo, &["--config-from", "worktree"]).exits(0);
    // One that cannot be read, or is a link, does not stop the gate either; in the baseline it does.
    repo.write(".flecto-accepted.json", "{");
    assert!(ci(&repo, &[]).exits(1).stdout.contains("cannot be read"));
    repo.commit("broken");
    repo.write("config/prod.yaml", "debug: true\n");
    assert!(ci(&repo, &[]).exits(2).stderr.contains(".flecto-accepted.json"));
}

#[test]
fn g6_the_accepted_file_of_the_baseline_stands_in_the_printed_lines() {
    let repo = Repo::new();
    repo.write(".flecto-accepted.json", file(&[ENTRY, POOL]));
    repo.commit("accepted");
    repo.write("config/prod.yaml", PROD_YAML_CHANGED);
    std::fs::remove_file(repo.path().join(".flecto-accepted.json")).expect("gone");
    let more = ["--fail-on", "error"];
    let direct = ci(&repo, &more).exits(0);
    let lines = ci(&repo, &[&more[..], &["--print-pipeline"]].concat()).exits(0).stdout;
    let path = format!("{}:{}", crate::support::bin_dir().display(), std::env::var("PATH").unwrap_or_default());
    let mut sh = crate::support::clean(std::process::Command::new("sh"));
    sh.current_dir(repo.path()).env("PATH", path);
    assert_eq!(crate::support::run_with(&mut sh, &lines).exits(0).stdout, direct.stdout, "{lines}");
}

#[test]
fn in_a_folder_below_the_top_level_the_file_there_counts() {
    let repo = Repo::new();
    let below = |entry: &str| entry.replace("config/prod.yaml", "prod.yaml");
    repo.write("config/.flecto-accepted.json", file(&[&below(ENTRY), &below(POOL)]));
    repo.commit("accepted");
    repo.write("config/prod.yaml", PROD_YAML_CHANGED);
    run(repo.program("flecto").args(["ci", "prod.yaml", "-C", "config"])).exits(0);
    let mut there = repo.program("flecto");
    run(there.args(["ci", "prod.yaml"]).current_dir(repo.path().join("config"))).exits(0);
    ci(&repo, &[]).exits(1);
}

#[test]
fn files_outside_of_a_repository_are_accepted_by_the_file_beside_them() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("a file");
    write("a.yaml", "debug: false\n");
    write("b.yaml", "debug: true\n");
    let ci = || run(program("flecto").current_dir(dir.path()).args(["ci", "a.yaml", "b.yaml"]));
    ci().exits(1);
    write(".flecto-accepted.json", &file(&[&ENTRY.replace("config/prod.yaml", "b.yaml")]));
    ci().exits(0);
}

/// Formats with comments: what the file says before and after, with the comment as `C`, and the path of `debug`.
const FORMATS: &[(&str, &str, &str)] = &[
    ("a.yaml", "x: 1\ndebug: false\n", "x: 1\n#C\ndebug: true\n"),
    ("a.jsonc", "{\"x\": 1, \"debug\": false}", "{\"x\": 1,\n//C\n\"debug\": true}"),
    ("a.json", "{\"x\": 1, \"debug\": false}", "{\"x\": 1,\n/*C*/\n\"debug\": true}"),
    ("a.json5", "{x: 1, debug: false}", "{x: 1,\n/*C*/\ndebug: true}"),
    ("a.toml", "x = 1\ndebug = false\n", "x = 1\n#C\ndebug = true\n"),
    ("a.ini", "[a]\nx = 1\ndebug = false\n", "[a]\nx = 1\n;C\ndebug = true\n"),
    ("a.env", "X=1\nDEBUG=false\n", "X=1\n#C\nDEBUG=true\n"),
    ("a.properties", "x=1\ndebug=false\n", "x=1\n!C\ndebug=true\n"),
    ("a.tf", "x = 1\ndebug = false\n", "x = 1\n//C\ndebug = true\n"),
    ("b.tf", "x = 1\ndebug = false\n", "x = 1\n#C\ndebug = true\n"),
];

#[test]
fn a_comment_with_a_reason_accepts_in_every_format_but_not_against_a_commit() {
    for (name, old, new) in FORMATS {
        for (comment, accepts) in [
            (" flecto-ignore-next-line dangerous-toggle-enabled — a test bed", true),
            (" flecto-ignore-next-line dangerous-toggle-enabled - a test bed", true),
            (" flecto-ignore-next-line default/dangerous-toggle-enabled -- a test bed", true),
            (" flecto-ignore-next-line other-rule — a test bed", false),
            (" flecto-ignore-next-line dangerous-toggle-enabled", false),
            (" flecto-ignore-next-line dangerous-toggle-enabled —", false),
            (" flecto-ignore-next-line dangerous-toggle-enabled a test bed", false),
            (" flecto-ignore-next-line — a test bed", false),
            (" flecto-ignore-next-line", false),
        ] {
            let dir = tempfile::tempdir().expect("a folder");
            std::fs::create_dir_all(dir.path().join("old")).expect("a folder");
            std::fs::create_dir_all(dir.path().join("new")).expect("a folder");
            std::fs::write(dir.path().join("old").join(name), old).expect("a file");
            std::fs::write(dir.path().join("new").join(name), new.replace('C', comment)).expect("a file");
            let diff = run(program("flecto-diff").current_dir(dir.path()).args(["--no-index", "old", "new"])).exits(0);
            let judged = crate::support::filter("flecto-policy", [] as [&str; 0], &diff.stdout);
            let judged = judged.exits(i32::from(!accepts));
            let reasonless = comment.ends_with(['—', 'd']) && !comment.contains("— a") && !comment.contains("- a");
            if reasonless && comment.contains("dangerous") {
                assert!(warnings(&judged).contains("without a reason"), "{name}{comment}: {}", judged.stdout);
            }
        }
    }
    let repo = Repo::new();
    repo.write("config/prod.yaml", "debug: false\n");
    repo.commit("base");
    let comment = "# flecto-ignore-next-line dangerous-toggle-enabled — trust me\n";
    repo.write("config/prod.yaml", format!("{comment}debug: true\n"));
    let done = ci(&repo, &[]).exits(1);
    assert!(
        warnings(&done).contains("config/prod.yaml:1: a comment accepts `dangerous-toggle-enabled` (trust me)"),
        "{}",
        done.stdout
    );
    assert_eq!(findings(&ci(&repo, &["--accept-inline"]).exits(0)).1, ["dangerous-toggle-enabled"]);
    for format in ["text", "json", "pr-comment"] {
        let shown = run(repo.program("flecto").args(["ci", "config", "--quiet", "--format", format])).exits(1);
        assert!(shown.stdout.contains("trust me"), "{format}: {}", shown.stdout);
    }
}

/// What a comment is about, with `--accept-inline`: the findings that are left, as rule and path.
fn left(name: &str, old: &str, new: &str) -> Vec<String> {
    let repo = Repo::new();
    repo.write(name, old);
    repo.commit("base");
    repo.write(name, new);
    let done = run(repo.program("flecto").args(["ci", name, "--quiet", "--format", "ndjson", "--accept-inline"]));
    let open = done.records("finding").into_iter().filter(|f| f.get("accepted").is_none());
    open.map(|f| f["path"].as_str().unwrap_or_default().to_string()).collect()
}

#[test]
fn a_comment_is_about_the_next_value_and_all_that_is_in_it() {
    const C: &str = "# flecto-ignore-next-line dangerous-toggle-enabled — why\n";
    // `debug` is not `debugger`, nor what stands beside it.
    let old = "debug: false\ndebugger:\n  debug: false\nz: 1\n";
    let new = format!("{C}debug: true\ndebugger:\n  debug: true\nz: 1\n");
    assert_eq!(left("a.yaml", old, &new), ["debugger.debug"]);
    // A map, with all in it, and not the next one.
    let old = "a:\n  debug: false\n  b: {debug: false}\nc:\n  debug: false\n";
    let new = format!("{C}a:\n  debug: true\n  b: {{debug: true}}\nc:\n  debug: true\n");
    assert_eq!(left("a.yaml", old, &new), ["c.debug"]);
    // Within a value that is new as a whole, and around one.
    let new = format!("a:\n  x: 1\nw:\n  one:\n    {C}    debug: true\n  two:\n    debug: true\n");
    assert_eq!(left("a.yaml", "a:\n  x: 1\n", &new), ["w.two.debug"]);
    let new = format!("a:\n  x: 1\n{C}w:\n  one:\n    debug: true\nv:\n  debug: true\n");
    assert_eq!(left("a.yaml", "a:\n  x: 1\n", &new), ["v.debug"]);
    // A file that is new as a whole: its first key, not the file.
    assert_eq!(left("new.yaml", "", &format!("{C}debug: true\nb:\n  debug: true\n")), ["b.debug"]);
    // An item of a list, by its name.
    let new = format!("l:\n  {C}  - name: one\n    debug: true\n  - name: two\n    debug: true\n");
    assert_eq!(left("a.yaml", "k: 1\n", &format!("k: 1\n{new}")), ["l[name=two].debug"]);
    // One rule, not another, and several in one comment.
    let old = "db:\n  pool_size: 5\n  debug: false\n";
    let new = format!("{C}db:\n  pool_size: 50\n  debug: true\n");
    assert_eq!(left("a.yaml", old, &new), ["db.pool_size"]);
    assert_eq!(left("a.yaml", old, &new.replace("enabled —", "enabled, pool-size-jump —")), [] as [&str; 0]);
    // A key beside it on the same line.
    let new =
        "{\n// flecto-ignore-next-line dangerous-toggle-enabled — why\n\"debug\": true, \"a\": {\"debug\": true}}";
    assert_eq!(left("a.jsonc", "{\"debug\": false, \"a\": {\"debug\": false}}", new), ["a.debug"]);
    // The document that it stands in, of several.
    let old = "a: 1\ndebug: false\n---\na: 2\ndebug: false\n";
    let new = format!("a: 1\ndebug: true\n---\na: 2\n{C}debug: true\n");
    assert_eq!(left("a.yaml", old, &new).len(), 1);
    let new = format!("a: 1\ndebug: true\n{C}---\ndebug: true\na: 2\n");
    assert_eq!(left("a.yaml", old, &new).len(), 2, "the end of a document is not the start of the next");
    // What a list gains is found at the list: the item's comment speaks of it.
    let cors = "# flecto-ignore-next-line net-cors-any — why\n";
    let old = "cors:\n  allowed_origins:\n    - https://a.example\n";
    let new = format!("cors:\n  allowed_origins:\n    - https://a.example\n    {cors}    - '*'\n");
    let fires = left("a.yaml", old, &new.replace(cors, "# x\n"));
    assert_eq!(fires.len(), 1, "{fires:?}");
}

#[test]
fn text_in_a_string_is_no_comment() {
    const C: &str = "# flecto-ignore-next-line dangerous-toggle-enabled — why\n";
    for (name, text) in [
        ("a.yaml", format!("s: |\n  {C}debug: true\n")),
        ("a.yaml", format!("s: >\n  x\n\n  {C}debug: true\n")),
        ("a.yaml", format!("s: 'x\n  {C}  '\ndebug: true\n")),
        ("a.toml", format!("s = '''\n{C}'''\ndebug = true\n")),
        ("a.tf", format!("s = <<-E\n  {C}E\ndebug = true\n")),
        ("a.env", format!("S=\"\n{C}\"\nDEBUG=true\n")),
        ("a.properties", format!("s=x\\\n{C}debug=true\n")),
    ] {
        let old = text.replace("true", "false");
        assert_eq!(left(name, &old, &text).len(), 1, "{name}\n{text}");
    }
}
