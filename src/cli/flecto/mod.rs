//! What should `flecto` do? Its subcommands, and the plan that each makes of its options.

mod cache;
mod check;
mod configured;
mod demo;
mod doctor;
mod external;
mod init;
mod manual;
mod mcp;
mod options;
mod plan;
mod survey;

use super::accept::Accept;
use super::policies::Policies;
use crate::outcome::Outcome;
use crate::pipeline;
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write as _;

pub use doctor::Doctor;
pub use init::Init;
pub use manual::{commands, completions, pages};
pub use options::{Ci, Demo, Explain};

/// Tells what a configuration change really changes, whether it is risky, and what it may break.
#[derive(Debug, Parser)]
#[command(
    name = "flecto",
    version,
    about = "Tell what a configuration change really changes, whether it is risky, and what it may break",
    after_help = "Any other word runs flecto-WORD: `flecto diff` is flecto-diff, and one of your own is found by PATH.\n\n\
                  Examples:\n  flecto demo\n  flecto init\n  flecto ci 'config/**/*.{yaml,yml,json}' --snapshot-ref origin/main\n  \
                  flecto explain config/prod.yaml --snapshot-ref origin/main",
    max_term_width = 100,
    allow_external_subcommands = true,
    arg_required_else_help = true
)]
pub struct Flecto {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Ci(Box<Ci>),
    Explain(Box<Explain>),
    Demo(Demo),
    Init(Init),
    Doctor(Doctor),
    Policies(Policies),
    Accept(Accept),
    Cache(cache::Cache),
    Mcp(mcp::Mcp),
    /// Print the completions of flecto and its filters for a shell
    #[command(after_help = "Example:\n  flecto completions bash > ~/.local/share/bash-completion/completions/flecto")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

/// Runs `flecto`.
///
/// # Errors
/// What cannot be done, as one sentence.
pub fn run(arguments: Flecto) -> anyhow::Result<Outcome> {
    match arguments.command {
        Command::Ci(ci) => carry_out(&ci.plan()?, ci.compared.print_pipeline),
        Command::Explain(explain) => {
            let outcome = carry_out(&explain.plan()?, explain.compared.print_pipeline)?;
            // E7: a gate has no say here.
            Ok(if outcome == Outcome::Findings { Outcome::Clean } else { outcome })
        }
        Command::Demo(demo) => demo.run(),
        Command::Init(init) => init.run(),
        Command::Doctor(doctor) => doctor.run(),
        Command::Policies(policies) => super::policies::run(&policies),
        Command::Accept(accept) => super::accept::run(&accept),
        Command::Cache(cache) => cache.run(),
        Command::Mcp(mcp) => mcp.run(),
        Command::Completions { shell } => {
            to_stdout(&manual::completions(shell))?;
            Ok(Outcome::Clean)
        }
        Command::Other(words) => external::run(words),
    }
}

fn carry_out(plan: &pipeline::Plan, print: bool) -> anyhow::Result<Outcome> {
    check::check(plan)?;
    if print {
        to_stdout(&plan.to_shell())?;
        return Ok(Outcome::Clean);
    }
    pipeline::heed_signals();
    pipeline::run(plan)
}

/// Writes to stdout, where a closed pipe is no failure.
fn to_stdout(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(anyhow::anyhow!("cannot write standard output: {}", error.kind()))
        }
        _ => Ok(()),
    }
}
