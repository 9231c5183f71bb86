//! `flecto-diff`: see `flecto::diff`.

use std::process::ExitCode;

fn main() -> ExitCode {
    flecto::cli::run(flecto::cli::diff::run)
}
