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
