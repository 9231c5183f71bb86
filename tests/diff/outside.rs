//! flecto-diff as the diff program of others: git's external diff, git difftool, and what kubectl calls.

use super::{folder, told};
use crate::support::{self, PROD_YAML_CHANGED, Repo};

fn changed() -> Repo {
    let repo = Repo::new();
    repo.write("config/old name.yaml", "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\n");
    repo.write("config/gone.yaml", "x: 1\n");
    repo.commit("more");
    repo.write("config/prod.yaml", PROD_YAML_CHANGED);
    repo.write("config/new.yaml", "list: [completely, different]\n");
    repo.git(["mv", "config/old name.yaml", "config/new name.yaml"]);
    repo.write("config/new name.yaml", "a: 1\nb: 2\nc: 3\nd: 4\ne: 6\n");
    std::fs::remove_file(repo.path().join("config/gone.yaml")).expect("removed");
    repo.git(["add", "--all"]);
    repo
}

#[test]
fn as_gits_external_diff() {
    let repo = changed();
    let program = support::bin_dir().join("flecto-diff");
    repo.git(["config", "diff.external", program.to_str().expect("text")]);
    let run = repo.git(["diff", "--ext-diff", "-M", "--cached"]);
    let run = support::Run { status: Some(0), stdout: run, stderr: String::new() };
    let files: Vec<String> = run.records("file").iter().map(|f| format!("{} {}", f["status"], f["file"])).collect();
    assert_eq!(
        files,
        [
            r#""removed" "config/gone.yaml""#,
            r#""renamed" "config/new name.yaml""#,
            r#""added" "config/new.yaml""#,
            r#""modified" "config/prod.yaml""#
        ]
    );
    assert_eq!(run.records("file")[1]["from"], "config/old name.yaml");
    assert!(told(&run).contains(&"~ e: 5 → 6".to_string()), "{:?}", told(&run));
}

#[test]
fn as_gits_difftool() {
    let repo = changed();
    let program = support::bin_dir().join("flecto-diff");
    let tool = format!("'{}' --no-index \"$LOCAL\" \"$REMOTE\"", program.display());
    repo.git(["config", "difftool.flecto.cmd", &tool]);
    let out = repo.git([
        "difftool",
        "--no-prompt",
        "--tool=flecto",
        "--cached",
        "--",
        "config/prod.yaml",
        "config/gone.yaml",
    ]);
    let run = support::Run { status: Some(0), stdout: out, stderr: String::new() };
    let told = told(&run);
    assert!(told.contains(&"~ db.pool_size: 5 → 20".to_string()), "{told:?}");
    assert!(told.contains(&r#"- $: {"x":1}"#.to_string()), "{told:?}");
}

#[test]
fn as_kubectls_diff() {
    // Two folders of files without endings, and options of letters and dashes alone: kubectl drops others.
    let live = "apiVersion: v1\nkind: Service\nmetadata: {name: api, generation: 1}\nspec: {port: 80}\n";
    let merged = "apiVersion: v1\nkind: Service\nmetadata: {name: api, generation: 2}\nspec: {port: 81}\n";
    let dir = folder(&[
        ("LIVE-1/v1.Service.default.api", live.as_bytes()),
        ("MERGED-2/v1.Service.default.api", merged.as_bytes()),
    ]);
    let run = |options: &[&str]| {
        let mut command = support::program("flecto-diff");
        command.args(["--no-index", "--input-format=yaml", "--exit-code", "--neat"]).args(options);
        support::run(command.args([dir.path().join("LIVE-1"), dir.path().join("MERGED-2")]))
    };
    assert_eq!(told(&run(&[]).exits(1)), ["~ {Service/api} spec.port: 80 → 81"]);
    std::fs::write(dir.path().join("MERGED-2/v1.Service.default.api"), live).expect("a file");
    run(&[]).exits(0);
    std::fs::write(dir.path().join("MERGED-2/v1.Service.default.api"), "a: b: c\n").expect("a file");
    run(&[]).exits(2);
}

/// The text of a file of the documentation, so that what it shows is what is tried.
fn script(name: &str) -> String {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/external-diff.md")).expect("the page");
    let start = page.find(&format!("# {name}\n")).unwrap_or_else(|| panic!("{name} is not in the page"));
    let text = &page[start..];
    format!("#!/bin/sh\n{}", &text[..text.find("```").expect("its end")])
}

#[cfg(unix)]
fn executable(path: &std::path::Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, text).expect("a file");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("permissions");
}

fn with_path(mut command: std::process::Command, first: &std::path::Path) -> std::process::Command {
    let rest = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{}:{rest}", first.display(), support::bin_dir().display()));
    command
}

#[test]
#[cfg(unix)]
fn the_script_for_git_shows_what_a_person_reads() {
    let repo = changed();
    let tools = tempfile::tempdir().expect("a folder");
    executable(&tools.path().join("git-flecto"), &script("git-flecto"));
    let git = |args: &[&str]| {
        let mut git = with_path(support::clean(std::process::Command::new("git")), tools.path());
        support::run(git.args(args).current_dir(repo.path()))
    };
    repo.git(["config", "diff.flecto.command", "git-flecto"]);
    repo.write(".git/info/attributes", "*.yaml diff=flecto\n");
    let run = git(&["diff", "--ext-diff", "-M", "--cached"]).exits(0);
    assert!(run.stdout.contains("~ db.pool_size: 5 → 20"), "{}", run.stdout);
    assert!(run.stdout.contains("renamed from config/old name.yaml"), "{}", run.stdout);
    assert!(run.stdout.contains("file removed") && run.stdout.contains("new file"), "{}", run.stdout);
    // Without the option git compares lines as ever, and history can be read the same way.
    repo.git(["commit", "--quiet", "--message", "second"]);
    let log = git(&["log", "-p", "-1", "--ext-diff", "--format=%s"]).exits(0);
    assert!(log.stdout.contains("~ db.pool_size: 5 → 20"), "{}", log.stdout);
    // A file that became a link is two things to git.
    std::fs::remove_file(repo.path().join("config/prod.yaml")).expect("removed");
    std::os::unix::fs::symlink("new.yaml", repo.path().join("config/prod.yaml")).expect("a link");
    let run = git(&["diff", "--ext-diff"]).exits(0);
    assert!(run.stdout.contains("(file removed)") && run.stdout.contains(r#"+ $: "new.yaml""#), "{}", run.stdout);
}

#[test]
fn gits_exit_code_can_follow() {
    let repo = changed();
    let mut git = support::clean(std::process::Command::new("git"));
    git.args(["-c", "diff.trustExitCode=true", "diff", "--ext-diff", "--exit-code", "--cached"])
        .current_dir(repo.path());
    git.env("GIT_EXTERNAL_DIFF", support::bin_dir().join("flecto-diff")).env("FLECTO_DIFF_OPTIONS", "--exit-code");
    let run = support::run(&mut git);
    if run.stderr.contains("external diff died") {
        return support::skipped("this git does not know diff.trustExitCode");
    }
    run.exits(1);
}

#[test]
fn a_conflict_that_git_names_alone_is_compared_as_a_target() {
    let repo = Repo::new();
    repo.write("config/prod.yaml", PROD_YAML_CHANGED);
    assert_eq!(repo.run("flecto-diff", ["config/prod.yaml"]).exits(0).records("change").len(), 2);
}

#[test]
fn folders_of_gits_difftool() {
    let repo = changed();
    let tool = format!("'{}' --no-index \"$LOCAL\" \"$REMOTE\"", support::bin_dir().join("flecto-diff").display());
    repo.git(["config", "difftool.flecto.cmd", &tool]);
    let out = repo.git(["difftool", "--dir-diff", "--no-symlinks", "--tool=flecto", "--cached"]);
    let run = support::Run { status: Some(0), stdout: out, stderr: String::new() };
    let files: Vec<String> = run.records("file").iter().map(|f| f["file"].to_string()).collect();
    assert!(files.iter().any(|file| file.contains("config/prod.yaml")), "{files:?}");
    assert!(told(&run).contains(&"~ db.pool_size: 5 → 20".to_string()), "{:?}", told(&run));
}

/// What kubectl does: the variable's words without a shell, those with other characters dropped, two folders after them.
#[cfg(unix)]
const KUBECTL: &str = r#"#!/bin/sh
set -f
set -- $KUBECTL_EXTERNAL_DIFF
program=$1
shift
kept=
for word do
  case $word in *[!a-zA-Z0-9=-]*) ;; *) kept="$kept $word" ;; esac
done
exec "$program" $kept "$LIVE" "$MERGED"
"#;

#[test]
#[cfg(unix)]
fn kubectl_drops_options_and_the_environment_brings_them() {
    let object = |generation: u8, port: u8| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: api, namespace: p, generation: {generation}, labels: {{sum: s{generation}}}}}\nspec: {{port: {port}}}\n"
        )
    };
    let name = "v1.Service.p.api";
    let dir = folder(&[
        (&format!("LIVE-1/{name}"), object(1, 80).as_bytes()),
        (&format!("MERGED-2/{name}"), object(2, 81).as_bytes()),
        (&format!("MERGED-2/{}", "v1.Service.p.new"), object(1, 1).replace("api", "new").as_bytes()),
    ]);
    let tools = tempfile::tempdir().expect("a folder");
    executable(&tools.path().join("kubectl"), KUBECTL);
    executable(&tools.path().join("kubectl-flecto"), &script("kubectl-flecto"));
    let run = |external: &str, options: &str| {
        let mut kubectl = with_path(support::clean(std::process::Command::new("kubectl")), tools.path());
        kubectl.env("KUBECTL_EXTERNAL_DIFF", external).env("FLECTO_DIFF_OPTIONS", options);
        kubectl.env("LIVE", dir.path().join("LIVE-1")).env("MERGED", dir.path().join("MERGED-2"));
        support::run(&mut kubectl)
    };
    let plain = "flecto-diff --no-index --input-format=yaml --neat --exit-code --ignore=metadata.labels";
    let first = told(&run(plain, "").exits(1));
    assert!(first.iter().any(|change| change.contains("labels.sum")), "kubectl keeps more than it did: {first:?}");
    let run_with = |options: &str| told(&run(plain, options).exits(1));
    let kept = run_with(" --ignore=metadata.labels\t--raw-strings ");
    assert_eq!(kept[0], "~ {Service/p/api} spec.port: 80 → 81");
    assert!(kept.len() == 2 && !kept[1].contains("sum"), "{kept:?}");
    // The command line beats the environment where both say one thing.
    assert_eq!(run_with("--input-format=json --ignore=metadata.labels"), kept);
    // All of it in the environment, and what a person reads.
    let all = "--no-index --input-format=yaml --exit-code --neat --ignore=metadata.labels";
    assert_eq!(told(&run("flecto-diff", all).exits(1)), kept);
    let text = run("kubectl-flecto", "--ignore=metadata.labels");
    assert!(text.stdout.contains("~ [Service/p/api] spec.port: 80 → 81"), "{}{}", text.stdout, text.stderr);
    // What is no option is refused: it would be taken for a file.
    for (options, says) in [
        ("config", "`config` is no option"),
        ("--input-format yaml", "`yaml` is no option"),
        ("--", "`--` is no option"),
        ("--nonsense", "unexpected argument"),
    ] {
        let refused = run(plain, options).exits(2);
        assert!(refused.stderr.contains(says), "{options}: {}", refused.stderr);
        assert!(refused.stdout.is_empty());
    }
    // A file that cannot be read is trouble, not a difference.
    std::fs::write(dir.path().join("MERGED-2").join(name), "a: b: c\n").expect("a file");
    run(plain, "").exits(2);
}

#[test]
fn a_bad_option_is_one_line_that_says_what_was_meant() {
    let dir = super::folder(&[("a.yaml", b"a: 1\n"), ("b.json", b"{")]);
    let says = |args: &[&str]| {
        let run = support::run(support::program("flecto-diff").args(args).current_dir(dir.path())).exits(2);
        assert_eq!((run.stderr.lines().count(), run.stdout.as_str()), (1, ""), "{}", run.stderr);
        run.stderr
    };
    assert_eq!(
        says(&["--snapshot-reff", "main", "a.yaml"]),
        "flecto-diff: unexpected argument '--snapshot-reff' found; a similar argument exists: '--snapshot-ref'\n"
    );
    let format = says(&["--input-format", "ymal", "a.yaml"]);
    assert!(format.contains("one of yaml, json") && format.ends_with("; --help lists the options\n"), "{format}");
    // A file's name that a glob made an option is no command to a terminal or a CI log.
    let hostile = says(&["--\u{1b}[2J\n::error::x.yaml"]);
    assert!(!hostile.contains('\u{1b}') && !hostile.contains("\n::"), "{hostile:?}");
    assert!(says(&["--no-index", "-", "-"]).contains("standard input cannot be both sides"));
}

#[test]
fn a_side_that_cannot_be_read_is_called_by_its_own_name() {
    let run = |old: &str, new: &str, text: &str| {
        let dir = super::folder(&[("a.yaml", b"a: 1\n"), ("b.json", text.as_bytes())]);
        support::run(support::program("flecto-diff").args(["--no-index", old, new]).current_dir(dir.path()))
            .exits(2)
            .stderr
    };
    assert!(run("b.json", "a.yaml", "{").starts_with("flecto-diff: b.json:1:1: a map that is never closed"));
    assert!(run("a.yaml", "b.json", "{").starts_with("flecto-diff: b.json:1:1: a map that is never closed"));
    let template = "A=1\n{{#if x}}\nB={{ b }}\n{{/if}}\n";
    let dir = super::folder(&[("a.env", b"A=1\n"), ("b.env", template.as_bytes())]);
    let args = ["--no-index", "a.env", "b.env"];
    let refused = support::run(support::program("flecto-diff").args(args).current_dir(dir.path())).exits(2).stderr;
    assert!(refused.starts_with("flecto-diff: b.env:2:1: this is a template that was not rendered"), "{refused}");
    let conflict = "{\n<<<<<<< HEAD\n\"a\": 1\n=======\n\"a\": 2\n>>>>>>> theirs\n}\n";
    assert!(run("a.yaml", "b.json", conflict).starts_with("flecto-diff: b.json:2:1: an unresolved merge conflict"));
}
