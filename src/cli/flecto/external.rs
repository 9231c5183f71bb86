//! What does `flecto x` run, where there is no such subcommand? `flecto-x`: a filter of ours from beside this program, or
//! the user's own by PATH, as git does it.

use crate::environment;
use crate::outcome::Outcome;
use crate::pipeline::{self, Program};
use anyhow::{anyhow, bail};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::process::Command;

/// Runs it in place of this process, or waits for it where there is no such thing. It sees no key and no token, unless it
/// is the filter of ours that may.
///
/// # Errors
/// No such program.
pub(super) fn run(words: Vec<OsString>) -> anyhow::Result<Outcome> {
    let mut words = words.into_iter();
    let word = words.next().unwrap_or_default();
    let name = word.to_string_lossy();
    // A slash would make it a path into the working directory, which may be an attacker's checkout.
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.starts_with('-') || !name.chars().all(is_name) {
        bail!("`{name}` is no subcommand; see flecto --help");
    }
    let program = format!("flecto-{name}");
    let own = Program::ALL.into_iter().find(|own| own.name() == program);
    let mut command = match own {
        Some(own) => {
            let mut command = Command::new(pipeline::find(own)?);
            own.withheld().for_each(|variable| {
                command.env_remove(variable);
            });
            command
        }
        None => {
            let mut command = Command::new(&program);
            environment::withhold_all(&mut command);
            command
        }
    };
    command.args(words);
    let error = replace(command)?;
    if error == ErrorKind::NotFound {
        bail!("`{name}` is no subcommand, and there is no {program} in PATH; see flecto --help");
    }
    Err(anyhow!("cannot start {program}: {error}"))
}

/// Becomes the program. Comes back only with why that failed.
#[cfg(unix)]
fn replace(mut command: Command) -> anyhow::Result<ErrorKind> {
    use std::os::unix::process::CommandExt as _;
    Ok(command.exec().kind())
}

#[cfg(not(unix))]
fn replace(mut command: Command) -> anyhow::Result<ErrorKind> {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(Outcome::Trouble as i32)),
        Err(error) => Ok(error.kind()),
    }
}
