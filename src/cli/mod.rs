//! What did the user ask? The options of every program, each parsed once into a struct that cannot be wrong, and the one
//! place where a program starts and ends.

pub mod accept;
pub mod diff;
pub mod flecto;
mod kin;
pub mod mask;
pub mod narrate;
pub mod payload;
pub mod policies;
pub mod policy;
pub mod post;
pub mod render;

use crate::outcome::Outcome;
use clap::Parser;
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

/// Runs a program: parses its options, calls `stage`, prints its error as one line, and gives back its exit status.
///
/// A bad option is exit 2 with clap's message; `--help` and `--version` come before anything that can fail. A panic is
/// exit 2 with its place alone, because a panic's message can quote what was being read. A stage that a wrapper of another
/// version started refuses to run; one whose wrapper is killed ends with it.
pub fn run<A: Parser>(stage: impl FnOnce(A) -> anyhow::Result<Outcome>) -> ExitCode {
    let name = A::command().get_name().to_string();
    let program = name.clone();
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        say(&program, &format!("internal error{place}; this is a bug in flecto, please report it"));
        std::process::exit(Outcome::Trouble as i32);
    }));
    let arguments = A::parse();
    match kin::meet_wrapper().and_then(|()| stage(arguments)) {
        Ok(outcome) => outcome.into(),
        Err(error) => {
            say(&name, &format!("{error:#}"));
            Outcome::Trouble.into()
        }
    }
}

/// One line on stderr: `program: message`, made safe for a terminal and a CI log. A stderr that is gone is no failure.
pub fn say(program: &str, message: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{program}: {}", crate::text::escape(message));
}

/// Refuses to wait for a person to type records: a filter whose stdin is a terminal says how it is used.
///
/// # Errors
/// When stdin is a terminal.
pub fn expect_piped_input(usage: &str) -> anyhow::Result<()> {
    anyhow::ensure!(!std::io::stdin().is_terminal(), "no records on standard input; use it in a pipe: {usage}");
    Ok(())
}
