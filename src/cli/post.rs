//! Where should `flecto-post` put the comment?

use crate::cli::{expect_piped_input, say};
use crate::environment;
use crate::outcome::Outcome;
use crate::post::{self, Forge, Options, Posted, Said};
use anyhow::Context as _;
use clap::Parser;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

/// The largest comment that is read.
const MAX_INPUT: u64 = 16 << 20;

/// Keeps one comment on a pull request up to date.
#[derive(Debug, Parser)]
#[command(
    name = "flecto-post",
    version,
    about = "Write the comment on standard input to its pull request, over the one of the last run",
    after_help = "The forge, the repository and the pull request come from the CI system (GitHub, Gitea, Forgejo, GitLab, Bitbucket, \
                  Azure DevOps), the token from its variable (GITHUB_TOKEN, GITLAB_TOKEN, GITEA_TOKEN, BITBUCKET_TOKEN, \
                  SYSTEM_ACCESSTOKEN). The comment is also printed. What fails is a warning: the exit status is 0, and the report \
                  goes to $GITHUB_STEP_SUMMARY where there is one.\n\n\
                  Example:\n  flecto-diff 'config/**/*.yaml' --snapshot-ref origin/main | flecto-render --format pr-comment | flecto-post --dry-run"
)]
pub struct Post {
    /// Whose API to speak
    #[arg(long, value_enum, value_name = "FORGE")]
    pub forge: Option<Forge>,
    /// Address of the API: https, or this machine
    #[arg(long, value_name = "URL")]
    pub api_url: Option<String>,
    /// Repository: owner/name; GitLab: a project's id or path; Azure DevOps: project/repository
    #[arg(long, value_name = "NAME")]
    pub repository: Option<String>,
    /// Number of the pull request
    #[arg(long, value_name = "N")]
    pub pull_request: Option<u64>,
    /// Longest time to spend, waits included
    #[arg(long, value_name = "SECONDS", default_value_t = 90, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
    /// Print the requests, with the token replaced by its variable's name, and send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Write no comment; append the Markdown on standard input to the file that GITHUB_STEP_SUMMARY names
    #[arg(long, conflicts_with_all = ["dry_run", "no_summary", "forge", "api_url", "repository", "pull_request"])]
    pub step_summary: bool,
    /// Do not append to the job summary when the comment cannot be written
    #[arg(long)]
    pub no_summary: bool,
}

/// The variable that names the job summary.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Runs `flecto-post` over standard input.
///
/// # Errors
/// Input that is no comment of flecto's, and output that cannot be written. That posting failed is none.
pub fn run(arguments: Post) -> anyhow::Result<Outcome> {
    expect_piped_input("… | flecto-render --format pr-comment | flecto-post")?;
    let mut body = String::new();
    let read = std::io::stdin().lock().take(MAX_INPUT + 1).read_to_string(&mut body);
    let read = read.map_err(|error| anyhow::anyhow!("cannot read standard input: {}", error.kind()))?;
    anyhow::ensure!(read as u64 <= MAX_INPUT, "the comment is larger than {} MiB", MAX_INPUT >> 20);
    if arguments.step_summary {
        print(&body)?;
        if post::is_comment(&body) {
            post::check(&body)?;
        }
        match environment::text(STEP_SUMMARY) {
            Some(path) => summarize(path, &body),
            None => say("flecto-post", &format!("warning: no job summary: {STEP_SUMMARY} is not set")),
        }
        return Ok(Outcome::Clean);
    }
    let said = Said {
        forge: arguments.forge,
        api_url: arguments.api_url,
        repository: arguments.repository,
        pull_request: arguments.pull_request,
    };
    let options = Options { said, time: Duration::from_secs(arguments.timeout) };
    if arguments.dry_run {
        post::check(&body)?;
        return match post::dry_run(&options, &body) {
            Ok(requests) => print(&requests).map(|()| Outcome::Clean),
            Err(why) => anyhow::bail!("{why}"),
        };
    }
    // Whoever reads the output waits for no forge.
    print(&body)?;
    post::check(&body)?;
    match post::upsert(&options, &body) {
        Ok(Posted::Created) => say("flecto-post", "comment written"),
        Ok(Posted::Updated) => say("flecto-post", "comment updated"),
        Ok(Posted::Unchanged) => say("flecto-post", "the comment is up to date"),
        Err(why) => {
            say("flecto-post", &format!("warning: no comment: {why}"));
            if let Some(path) = environment::text(STEP_SUMMARY).filter(|_| !arguments.no_summary) {
                summarize(path, &body);
            }
        }
    }
    Ok(Outcome::Clean)
}

fn summarize(path: String, body: &str) {
    match post::summarize(&PathBuf::from(path), body) {
        Ok(()) => say("flecto-post", "the report is in the job summary"),
        Err(why) => say("flecto-post", &format!("warning: no job summary: {why}")),
    }
}

fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(anyhow::anyhow!("{}", error.kind())).context("cannot write standard output")
        }
        _ => Ok(()),
    }
}
