//! `flecto-mask`: see `flecto::mask`.

use std::process::ExitCode;

fn main() -> ExitCode {
    flecto::cli::run(flecto::cli::mask::main)
}
