//! `flecto-payload`: see `flecto::payload`.

use std::process::ExitCode;

fn main() -> ExitCode {
    flecto::cli::run(flecto::cli::payload::main)
}
