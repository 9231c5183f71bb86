//! `flecto-diff`: changes and their places, targets, git.

mod apply; // the changes of a diff, turned around
mod documents; // Kubernetes objects and other documents, also in strings
mod git; // revisions, repositories and what git has instead of a file
mod ignore; // what --ignore and --neat leave
mod lists; // identity, order, likeness
mod odd; // what a repository may hold that is odd, and what it may try
mod outside; // as git's and kubectl's diff program
mod round; // applying the changes gives the new side
mod sealed; // encrypted values and files
mod silent; // what is a change although it looks like none, and the other way round
mod streams; // order, counts, limits, errors
mod targets; // files, folders, globs, from anywhere

use crate::support::{self, Run};
use serde_json::Value;
use tempfile::TempDir;

/// Two files compared with each other.
fn pair(name: &str, old: impl AsRef<[u8]>, new: impl AsRef<[u8]>, options: &[&str]) -> Run {
    let dir = folder(&[(&format!("old/{name}"), old.as_ref()), (&format!("new/{name}"), new.as_ref())]);
    let (old, new) = (format!("old/{name}"), format!("new/{name}"));
    support::run(
        support::program("flecto-diff").current_dir(dir.path()).arg("--no-index").args(options).args([old, new]),
    )
}

/// A folder with these files.
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    for (name, content) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(path, content).expect("a file");
    }
    dir
}

/// The changes, one line each: `~ path: before → after`, as JSON.
fn told(run: &Run) -> Vec<String> {
    let line = |change: &Value| {
        let document = change["document"].as_str().map_or(String::new(), |document| format!("{{{document}}} "));
        let path = change["path"].as_str().expect("a path");
        match change["op"].as_str().expect("an op") {
            "added" => format!("+ {document}{path}: {}", change["after"]),
            "removed" => format!("- {document}{path}: {}", change["before"]),
            "changed" => format!("~ {document}{path}: {} → {}", change["before"], change["after"]),
            _ => format!("% {document}{path}: {} → {}", change["before"], change["after"]),
        }
    };
    run.records("change").iter().map(line).collect()
}

/// The changes between two YAML texts.
#[track_caller]
fn yaml(old: &str, new: &str) -> Vec<String> {
    told(&pair("a.yaml", old, new, &[]).exits(0))
}
