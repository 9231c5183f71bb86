//! What does flecto do? Shown in a repository of its own, so that it can be seen before it is set up.

use super::options::Demo;
use super::{carry_out, to_stdout};
use crate::environment;
use crate::outcome::Outcome;
use crate::pipeline::{self, Plan};
use anyhow::{Context as _, anyhow, ensure};
use clap::Parser as _;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

const FILE: &str = "config/prod.yaml";
const BEFORE: &str = "db:\n  host: db.internal\n  pool_size: 5\ndebug: false\n";
const AFTER: &str = "db:\n  host: db.internal\n  pool_size: 20\ndebug: true\n";
const BASELINE: &str = "origin/main";

impl Demo {
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        let folder = tempfile::Builder::new().prefix("flecto-demo-").tempdir();
        let folder = folder.map_err(|error| anyhow!("cannot make a temporary folder: {}", error.kind()))?;
        pipeline::heed_signals();
        let _guard = (!self.keep).then(|| pipeline::guard(folder.path()));
        make_repository(folder.path())?;
        let common = [FILE, "--snapshot-ref", BASELINE];
        let mut asked = self.asked.words();
        if self.explain {
            self.show("explain", &common, &asked, folder.path())?;
        } else {
            self.show("ci", &common, &[], folder.path())?;
            to_stdout("\nWhat a model would get (nothing is sent; flecto demo --explain asks one):\n".as_bytes())?;
            if self.asked.provider.is_none() && environment::text("FLECTO_EXPLAIN_PROVIDER").is_none() {
                asked.extend(["--provider", "anthropic"].map(String::from));
            }
            asked.push("--dry-run".into());
            self.show("explain", &common, &asked, folder.path())?;
            to_stdout(b"\n")?;
        }
        if self.keep {
            let kept = folder.keep();
            super::super::say("flecto demo", &format!("the repository is in {}", kept.display()));
        }
        Ok(Outcome::Clean)
    }

    /// Prints a command as a person would type it, and does what it does.
    fn show(&self, subcommand: &str, common: &[&str], more: &[String], folder: &Path) -> anyhow::Result<()> {
        let words: Vec<&str> = common.iter().copied().chain(more.iter().map(String::as_str)).collect();
        to_stdout(format!("$ flecto {subcommand} {}\n", words.join(" ")).as_bytes())?;
        let mut line: Vec<OsString> = ["flecto", subcommand, "--no-config", "-C"].map(OsString::from).into();
        line.push(folder.into());
        line.extend(words.into_iter().map(OsString::from));
        let plan =
            super::Flecto::try_parse_from(line).map_err(|_| anyhow!("the demo's own options are wrong"))?.plan()?;
        match carry_out(&plan, false)? {
            Outcome::Trouble => Err(anyhow!("the demo could not be completed")),
            Outcome::Findings => to_stdout(b"(exit status 1: the gate failed)\n"),
            Outcome::Clean => Ok(()),
        }
    }
}

/// One commit, which is also what `origin/main` names, and a change that is not committed.
fn make_repository(folder: &Path) -> anyhow::Result<()> {
    let file = folder.join(FILE);
    let write = |text: &str| std::fs::write(&file, text).map_err(|e| anyhow!("cannot write the demo: {}", e.kind()));
    std::fs::create_dir_all(file.parent().context("a folder")?)?;
    write(BEFORE)?;
    git(folder, &["init", "--quiet"])?;
    git(folder, &["add", FILE])?;
    git(folder, &["commit", "--quiet", "--no-verify", "--message", "The state in production"])?;
    git(folder, &["update-ref", &format!("refs/remotes/{BASELINE}"), "HEAD"])?;
    write(AFTER)
}

/// Here, and only here, flecto makes something with git; `crate::git` only asks. None of the user's settings applies.
fn git(folder: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=flecto demo", "-c", "user.email=demo@example.org"]).args(arguments);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_TEMPLATE_DIR"] {
        command.env_remove(name);
    }
    let status = environment::withhold_all(&mut command).status();
    let status = status.map_err(|_| anyhow!("git cannot be started; install git 2.30 or later"))?;
    ensure!(status.success(), "git {} failed in the demo's folder", arguments.first().unwrap_or(&"init"));
    Ok(())
}

impl super::Flecto {
    fn plan(&self) -> anyhow::Result<Plan> {
        match &self.command {
            super::Command::Ci(ci) => ci.plan(),
            super::Command::Explain(explain) => explain.plan(),
            _ => Err(anyhow!("no plan")),
        }
    }
}
