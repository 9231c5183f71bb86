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

/// As [`run`], of a program that takes options from a variable of the environment, too.
pub fn run_with_options_of<A: Parser>(variable: &str, stage: impl FnOnce(A) -> anyhow::Result<Outcome>) -> ExitCode {
    run_parsed(|| A::try_parse_from(with_options_of(variable, &A::command())), stage)
}

/// The arguments of this process, after its name those that the variable holds: words between blanks, without any quoting.
/// Each has to be an option: a stray word would be taken for a target.
fn with_options_of(variable: &str, command: &clap::Command) -> Vec<std::ffi::OsString> {
    let mut arguments: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let held = std::env::var_os(variable).unwrap_or_default();
    let Some(held) = held.to_str() else {
        refuse(command, &format!("{variable}: is not UTF-8; write options, separated by blanks"))
    };
    let words: Vec<&str> = held.split_ascii_whitespace().collect();
    if let Some(word) = words.iter().find(|word| !word.starts_with('-') || matches!(**word, "-" | "--")) {
        let word = crate::text::shorten(word, 60);
        refuse(
            command,
            &format!("{variable}: `{word}` is no option; write values with `=`, as in --input-format=yaml"),
        );
    }
    let at = arguments.len().min(1);
    arguments.splice(at..at, words.into_iter().map(std::ffi::OsString::from));
    arguments
}

/// Ends the program as a bad option does.
fn refuse(command: &clap::Command, message: &str) -> ! {
    say(command.get_name(), message);
    std::process::exit(Outcome::Trouble as i32)
}

/// Runs a program: parses its options, calls `stage`, prints its error as one line, and gives back its exit status.
///
/// A bad option is exit 2 with one line; `--help` and `--version` come before anything that can fail. A panic is
/// exit 2 with its place alone, because a panic's message can quote what was being read. A stage that a wrapper of another
/// version started refuses to run; one whose wrapper is killed ends with it.
pub fn run<A: Parser>(stage: impl FnOnce(A) -> anyhow::Result<Outcome>) -> ExitCode {
    run_parsed(A::try_parse, stage)
}

fn run_parsed<A: Parser>(
    parse: impl FnOnce() -> Result<A, clap::Error>,
    stage: impl FnOnce(A) -> anyhow::Result<Outcome>,
) -> ExitCode {
    let name = A::command().get_name().to_string();
    let program = name.clone();
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        say(&program, &format!("internal error{place}; this is a bug in flecto, please report it"));
        std::process::exit(Outcome::Trouble as i32);
    }));
    let arguments = match parse() {
        Ok(arguments) => arguments,
        Err(error) if is_help(&error) => error.exit(),
        Err(error) => {
            say(&name, &advice(&error));
            return Outcome::Trouble.into();
        }
    };
    match kin::meet_wrapper().and_then(|()| stage(arguments)) {
        Ok(outcome) => outcome.into(),
        Err(error) => {
            say(&name, &format!("{error:#}"));
            Outcome::Trouble.into()
        }
    }
}

/// Whether it is a text that was asked for, or that says how the program is used, rather than an error.
fn is_help(error: &clap::Error) -> bool {
    use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    !error.use_stderr() || error.kind() == DisplayHelpOnMissingArgumentOrSubcommand
}

/// What clap says about bad options, and what it advises, on one line. What was typed is in it as it is, line ends too: it
/// may be a file's name that a glob put there, so this goes through [`say`] like any foreign text.
fn advice(error: &clap::Error) -> String {
    let text = error.to_string();
    let line_of = |head: &str| text.lines().find_map(|line| line.trim_start().strip_prefix(head));
    if error.kind() == clap::error::ErrorKind::MissingRequiredArgument
        && let Some(usage) = line_of("Usage: ")
    {
        // What is missing goes with what was given, which only the usage names.
        return format!("{}; usage: {usage}", sentence(error));
    }
    format!("{}; {}", sentence(error), line_of("tip: ").unwrap_or("--help lists the options"))
}

/// clap's message without its head and its advice, on one line.
fn sentence(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join(" ");
    line.strip_prefix("error: ").unwrap_or(&line).to_string()
}

/// One line on stderr: `program: message`, made safe for a terminal and a CI log. A stderr that is gone is no failure.
pub fn say(program: &str, message: &str) {
    // In one write, so that lines of several stages do not mix and none is half-written when its stage is ended.
    let line = format!("{program}: {}\n", crate::text::escape(message));
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// Standard input, read in pieces as large as a pipe holds.
pub(crate) fn input() -> impl std::io::BufRead {
    std::io::BufReader::with_capacity(1 << 16, std::io::stdin().lock())
}

/// Refuses to wait for a person to type records: a filter whose stdin is a terminal says how it is used.
///
/// # Errors
/// When stdin is a terminal.
pub fn expect_piped_input(usage: &str) -> anyhow::Result<()> {
    anyhow::ensure!(!std::io::stdin().is_terminal(), "no records on standard input; use it in a pipe: {usage}");
    Ok(())
}
