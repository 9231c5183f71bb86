//! What should `flecto-render` write, and how?

use crate::cli::expect_piped_input;
use crate::outcome::Outcome;
use crate::render::{self, Format, Options};
use clap::{Parser, ValueEnum};
use std::io::IsTerminal as _;

/// Shows records to a person or to another program, and ends with the exit status of their verdict.
#[derive(Debug, Parser)]
#[command(
    name = "flecto-render",
    version,
    about = "Show the records of a diff: as text, as one JSON document, or as they are",
    after_help = "Exit status: 0, 1 when the verdict in the stream is that the gate failed, 2 when the report is not the whole one.\n\n\
                  Example:\n  flecto-diff 'config/**/*.yaml' | flecto-policy | flecto-render --format json"
)]
pub struct Render {
    /// What to write
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,
    /// When to colour text; `auto` is on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: Color,
    /// Accept a stream that lost records on purpose, after grep or head
    #[arg(long)]
    pub partial: bool,
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Whether to colour what goes to standard output.
    pub fn on_stdout(self) -> bool {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                std::io::stdout().is_terminal()
                    && !set("NO_COLOR")
                    && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
            }
        }
    }
}

/// Runs `flecto-render` over standard input.
///
/// # Errors
/// As [`render::run`], and a terminal on standard input.
pub fn run(arguments: Render) -> anyhow::Result<Outcome> {
    expect_piped_input("flecto-diff TARGET | flecto-render")?;
    let options = Options { format: arguments.format, color: arguments.color.on_stdout(), partial: arguments.partial };
    render::run(&options, std::io::stdin().lock(), std::io::stdout().lock())
}
