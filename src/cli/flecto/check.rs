//! Will every stage understand what it is told? Asked of the definitions that the stages themselves parse their options
//! with, so that a malformed value is one error before anything runs, and not one stage's error and the confusion of the
//! others.

use crate::cli;
use crate::pipeline::{Argument, Plan, Program, Stage};
use clap::CommandFactory as _;
use std::ffi::OsString;

/// Checks the plan's command lines.
///
/// # Errors
/// The first option that a stage would refuse, in one sentence.
pub(super) fn check(plan: &Plan) -> anyhow::Result<()> {
    for stage in plan.stages() {
        if let Err(error) = definition(stage.program).try_get_matches_from(words(stage)) {
            anyhow::bail!("{}; see flecto --help, {} --help", cli::sentence(&error), stage.program.name());
        }
    }
    Ok(())
}

fn definition(program: Program) -> clap::Command {
    match program {
        Program::Diff => cli::diff::Args::command(),
        Program::Policy => cli::policy::Args::command(),
        Program::Mask => cli::mask::Args::command(),
        Program::Payload => cli::payload::Args::command(),
        Program::Narrate => cli::narrate::Args::command(),
        Program::Render => cli::render::Render::command(),
        Program::Post => cli::post::Post::command(),
    }
}

fn words(stage: &Stage) -> impl Iterator<Item = OsString> {
    let name = std::iter::once(OsString::from(stage.program.name()));
    name.chain(stage.arguments.iter().map(|argument| match argument {
        Argument::Word(word) => word.clone(),
        Argument::Attached(name) => name.into(),
    }))
}
