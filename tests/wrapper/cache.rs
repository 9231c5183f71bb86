//! flecto cache: it shows, it deletes entries, and nothing else

use super::kit::{asking, changed};
use crate::support::provider::{Answer, Provider};
use crate::support::{Run, program, run};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A home with a cache in it: so many entries, made by asking.
struct Home(TempDir);

impl Home {
    fn with_entries(models: &[&str]) -> Home {
        let home = Home(tempfile::tempdir().expect("a home"));
        let (repo, provider) = (changed(), Provider::new([Answer::openai("`debug` is on.")]));
        for model in models {
            let mut command = repo.program("flecto");
            command.args(["explain", "config", "--model", model]);
            run(asking(command.env("HOME", home.0.path()), &provider)).exits(0);
        }
        assert_eq!(home.names().len(), models.len());
        home
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join(".cache/flecto/explain")
    }

    fn names(&self) -> Vec<String> {
        let list = std::fs::read_dir(self.folder()).expect("a folder");
        list.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    fn cache<const N: usize>(&self, words: [&str; N]) -> Run {
        run(program("flecto").arg("cache").args(words).env("HOME", self.0.path()))
    }
}

fn age(path: &Path, days: u64) {
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(days * 86_400);
    std::fs::File::options().write(true).open(path).expect("a file").set_modified(then).expect("a time");
}

#[test]
fn it_says_where_and_how_much_and_nothing_of_what_they_say() {
    let home = Home::with_entries(&["one", "two"]);
    let shown = home.cache([]).exits(0);
    let (folder, rest) = shown.stdout.split_once('\n').expect("two lines");
    assert_eq!(Path::new(folder), home.folder());
    assert!(rest.starts_with("2 entries, 1 KiB"), "{rest}");
    assert!(!shown.stdout.contains("debug") && !shown.stdout.contains("left alone"));
    let none = Home(tempfile::tempdir().expect("a home"));
    assert!(none.cache([]).exits(0).stdout.ends_with("\n0 entries, 0 KiB\n"));
    assert!(!none.folder().exists(), "looking makes nothing");
}

#[test]
fn prune_deletes_what_is_older_and_clear_everything() {
    let home = Home::with_entries(&["one", "two", "three"]);
    let old = home.folder().join(&home.names()[0]);
    age(&old, 40);
    assert_eq!(home.cache(["prune", "--older-than", "6w"]).exits(0).stdout, "deleted 0 entries, 0 KiB\n");
    assert!(home.cache(["prune", "--older-than", "30d"]).exits(0).stdout.starts_with("deleted 1 entry, 1 KiB"));
    assert!(!old.exists() && home.names().len() == 2);
    assert!(home.cache(["clear"]).exits(0).stdout.starts_with("deleted 2 entries"));
    assert!(home.names().is_empty() && home.folder().is_dir());
    for wrong in [["prune", "--older-than", "soon"], ["prune", "--older-than", "-1d"], ["clear", "--older-than", "1d"]]
    {
        home.cache(wrong).exits(2);
    }
    home.cache(["prune"]).exits(2);
}

#[test]
#[cfg(unix)]
fn what_is_no_entry_is_never_deleted_and_no_link_is_followed() {
    let home = Home::with_entries(&["one"]);
    let entry = home.folder().join(&home.names()[0]);
    let outside = tempfile::tempdir().expect("a folder");
    let mine = outside.path().join("mine");
    std::fs::copy(&entry, &mine).expect("a file that is built like an entry");
    let hex = |digit: char| digit.to_string().repeat(64);
    let put = |name: &str, content: &str| std::fs::write(home.folder().join(name), content).expect("a file");
    put("notes.txt", "mine");
    put(&hex('a'), "a file with such a name");
    put(&hex('b'), &format!("{}\nno entry", hex('c')));
    put(&hex('F'), &format!("{}\n{{}}", hex('c')));
    put(".tmp-abcdef", "half written, just now");
    put(".tmp-a", "not ours");
    std::os::unix::fs::symlink(&mine, home.folder().join(hex('d'))).expect("a link");
    std::os::unix::fs::symlink(outside.path(), home.folder().join(hex('e'))).expect("a link");
    std::fs::create_dir(home.folder().join("folder")).expect("a folder");
    std::fs::copy(&entry, home.folder().join("folder").join(hex('1'))).expect("a file");
    let before = home.names().len();
    let cleared = home.cache(["clear"]).exits(0).stdout;
    assert!(cleared.starts_with("deleted 1 entry, 1 KiB; 9 files that flecto did not make, left alone"), "{cleared}");
    assert_eq!(home.names().len(), before - 1);
    assert!(mine.exists() && !entry.exists());
    age(&home.folder().join(".tmp-abcdef"), 1);
    assert!(home.cache(["prune", "--older-than", "1h"]).exits(0).stdout.starts_with("deleted 1 entry"));
    assert!(home.folder().join(".tmp-a").exists());
}

#[test]
#[cfg(unix)]
fn a_folder_that_is_a_link_or_no_folder_is_refused() {
    let home = Home::with_entries(&["one"]);
    let other = tempfile::tempdir().expect("a folder");
    let link = other.path().join("link");
    std::os::unix::fs::symlink(home.folder(), &link).expect("a link");
    let file = other.path().join("file");
    std::fs::write(&file, "x").expect("a file");
    for (dir, words) in
        [(link.as_path(), "is a link"), (&file, "is no folder"), (Path::new("cache"), "is no absolute path")]
    {
        let mut command = program("flecto");
        command.args(["cache", "clear"]).env("HOME", home.0.path()).env("FLECTO_EXPLAIN_CACHE_DIR", dir);
        let refused = run(&mut command).exits(2);
        assert!(refused.stderr.contains(words) && refused.stdout.is_empty(), "{}", refused.stderr);
    }
    assert_eq!(home.names().len(), 1);
}
