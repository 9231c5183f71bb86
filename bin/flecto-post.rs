//! `flecto-post`: see `flecto::post`.

use std::process::ExitCode;

fn main() -> ExitCode {
    flecto::cli::run(flecto::cli::post::run)
}
