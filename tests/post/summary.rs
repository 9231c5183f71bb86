//! The job's summary: appended whole or not at all, through no link, and never a status.

use super::{MARKER, comment, on_github, post};
use crate::support::forge::{Api, Forge};
use crate::support::{Run, program, run_with};
use std::path::Path;

/// Appends Markdown to a summary; it is printed all the same.
#[track_caller]
fn append(summary: &Path, body: &str) -> Run {
    let mut command = program("flecto-post");
    let run = run_with(command.arg("--step-summary").env("GITHUB_STEP_SUMMARY", summary), body).exits(0);
    assert_eq!(run.stdout, body);
    run
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a summary")
}

#[test]
fn a_report_is_appended_to_what_is_there() {
    let dir = tempfile::tempdir().expect("a folder");
    let summary = dir.path().join("summary.md");
    // A runner makes the file; without one it is made.
    append(&summary, "**1 change**\n\n");
    assert_eq!(read(&summary), "**1 change**\n");
    append(&summary, &comment("2 changes"));
    assert_eq!(read(&summary), "**1 change**\n\n**2 changes**\n", "without the marks of a comment");
    std::fs::write(&summary, "no line end").expect("a file");
    append(&summary, "x");
    assert_eq!(read(&summary), "no line end\nx\n");
}

#[test]
fn it_is_appended_whole_or_not_at_all() {
    let dir = tempfile::tempdir().expect("a folder");
    let summary = dir.path().join("summary.md");
    for (there, fits) in [(1 << 20, false), ((1 << 20) - 6, false), ((1 << 20) - 7, true), (1 << 21, false)] {
        std::fs::write(&summary, "x".repeat(there)).expect("a file");
        let run = append(&summary, "12345\n");
        let len = std::fs::metadata(&summary).expect("a file").len() as usize;
        assert_eq!(len, if fits { 1 << 20 } else { there });
        assert_eq!(
            run.stderr.contains("warning: no job summary: ") && run.stderr.contains("no room"),
            !fits,
            "{}",
            run.stderr
        );
    }
    // A comment that breaks off is none; nothing at all is no report.
    std::fs::write(&summary, "").expect("a file");
    let mut cut = program("flecto-post");
    cut.arg("--step-summary").env("GITHUB_STEP_SUMMARY", &summary);
    assert!(run_with(&mut cut, format!("{MARKER}\ncut o")).exits(2).stderr.contains("cut off"));
    assert!(append(&summary, "").stderr.contains("there is no report"));
    assert_eq!(read(&summary), "");
}

#[cfg(unix)]
#[test]
fn no_link_is_followed_and_no_pipe_waited_for() {
    let dir = tempfile::tempdir().expect("a folder");
    let (summary, victim) = (dir.path().join("summary.md"), dir.path().join("victim"));
    std::fs::write(&victim, "theirs").expect("a file");
    for target in [victim.as_path(), Path::new("nowhere")] {
        std::os::unix::fs::symlink(target, &summary).expect("a link");
        let run = append(&summary, "ours\n");
        assert!(run.stderr.contains("warning: no job summary: the job summary is a link"), "{}", run.stderr);
        std::fs::remove_file(&summary).expect("gone");
    }
    assert_eq!(read(&victim), "theirs");
    assert!(!dir.path().join("nowhere").exists());
    std::fs::create_dir(&summary).expect("a folder");
    assert!(append(&summary, "ours\n").stderr.contains("warning: no job summary: "));
    assert!(append(Path::new("/dev/null"), "ours\n").stderr.contains("is no file"));
    let pipe = dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    assert!(append(&pipe, "ours\n").stderr.contains("warning: no job summary: "));
    let missing = dir.path().join("no/such/folder/summary.md");
    assert!(append(&missing, "ours\n").stderr.contains("cannot be written"));
}

#[test]
fn without_the_variable_it_is_a_warning() {
    for value in [None, Some("")] {
        let mut command = program("flecto-post");
        command.arg("--step-summary").envs(value.map(|value| ("GITHUB_STEP_SUMMARY", value)));
        let run = run_with(&mut command, "x\n").exits(0);
        assert_eq!(run.stderr, "flecto-post: warning: no job summary: GITHUB_STEP_SUMMARY is not set\n");
    }
}

#[test]
fn r4_what_it_says_of_a_hostile_path_is_no_command() {
    let dir = tempfile::tempdir().expect("a folder");
    let hostile = dir.path().join("x\n::error::y##[add-mask]z");
    let run = append(&hostile.join("summary.md"), "x\n");
    assert!(crate::render::commands(&run.stderr).is_empty(), "{}", run.stderr);
}

#[test]
fn a_comment_that_cannot_be_written_goes_there_unless_it_is_there_anyway() {
    let dir = tempfile::tempdir().expect("a folder");
    let summary = dir.path().join("summary.md");
    let forge = Forge::new(Api::Github, "me");
    let mut command = on_github(&forge);
    command.env_remove("GITHUB_TOKEN").env("GITHUB_STEP_SUMMARY", &summary);
    assert!(post(&mut command, &comment("x")).stderr.contains("the report is in the job summary"));
    assert_eq!(read(&summary), "**x**\n");
    let run = post(command.arg("--no-summary"), &comment("y"));
    assert!(!run.stderr.contains("summary"), "{}", run.stderr);
    assert_eq!(read(&summary), "**x**\n");
}
