//! `flecto-narrate`: see `flecto::narrate`.

use std::process::ExitCode;

fn main() -> ExitCode {
    flecto::cli::run(flecto::cli::narrate::main)
}
