//! flecto-post: one comment, kept up to date, against a forge that misbehaves

mod failing; // what goes wrong at the forge, and that nothing of it fails a run
mod forges; // the five APIs
mod hostile; // servers and environments that mean harm
mod places; // which pull request
mod sticky; // which comment is flecto's own
mod summary; // the job's summary
mod workflow; // docs/ci.md and the action, executed

use crate::support::forge::Forge;
use crate::support::{Run, program, run_with};
use std::process::Command;

pub(crate) const MARKER: &str = "<!-- flecto:pr-comment -->";

/// A comment as `flecto-render` writes one.
pub(crate) fn comment(text: &str) -> String {
    format!("{MARKER}\n**{text}**\n<!-- flecto:end -->\n")
}

/// A token, put together here so that no scanner finds one in the repository.
pub(crate) fn token() -> String {
    ["ghs", "_", "canary", "Token", "0123456789"].concat()
}

/// `flecto-post` in GitHub Actions, on a pull request, with its token.
pub(crate) fn on_github(forge: &Forge) -> Command {
    let mut command = program("flecto-post");
    command.env("GITHUB_ACTIONS", "true").env("GITHUB_API_URL", forge.url()).env("GITHUB_REPOSITORY", "o/r");
    command.env("GITHUB_REF", "refs/pull/7/merge").env("GITHUB_TOKEN", token());
    command
}

/// Posts, and checks what holds for every run: the comment is on stdout, the status is 0, the token is nowhere.
#[track_caller]
pub(crate) fn post(command: &mut Command, body: &str) -> Run {
    let run = run_with(command, body).exits(0);
    assert_eq!(run.stdout, body, "{}", run.stderr);
    assert!(!run.stderr.contains(&token()), "{}", run.stderr);
    assert_eq!(run.stderr.lines().filter(|line| !line.starts_with("flecto-post: ")).count(), 0, "{}", run.stderr);
    run
}
