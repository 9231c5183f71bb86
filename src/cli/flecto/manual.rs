//! How is every program described? Man pages and completions, from the same definition that parses the options.

use super::Flecto;
use clap::{Command, CommandFactory as _};
use clap_complete::Shell;

/// Every program of ours, as clap knows it.
pub fn commands() -> Vec<Command> {
    vec![
        Flecto::command(),
        crate::cli::diff::Args::command(),
        crate::cli::policy::Args::command(),
        crate::cli::mask::Args::command(),
        crate::cli::payload::Args::command(),
        crate::cli::narrate::Args::command(),
        crate::cli::render::Render::command(),
        crate::cli::post::Post::command(),
    ]
}

/// The completions of all programs for a shell, as one script.
pub fn completions(shell: Shell) -> Vec<u8> {
    let mut out = Vec::new();
    for mut command in commands() {
        let name = command.get_name().to_string();
        clap_complete::generate(shell, &mut command, name, &mut out);
    }
    out
}

/// The man pages of a program, in roff, each with its file name: one for it, and one for each of its subcommands
/// (`flecto-ci.1`).
pub fn pages(mut command: Command) -> Vec<(String, Vec<u8>)> {
    command.build();
    let mut pages = Vec::new();
    for command in std::iter::once(&command).chain(command.get_subcommands()) {
        let name = command.get_display_name().unwrap_or(command.get_name()).to_string();
        if name == "flecto-help" {
            continue;
        }
        let mut roff = Vec::new();
        let man = clap_mangen::Man::new(command.clone()).source(concat!("flecto ", env!("CARGO_PKG_VERSION")));
        // Writing to memory does not fail.
        let _ = man.date("").render(&mut roff);
        pages.push((format!("{name}.1"), roff));
    }
    pages
}
