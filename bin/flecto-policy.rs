//! `flecto-policy`: see `flecto::policy`.

use std::process::ExitCode;

fn main() -> ExitCode {
    flecto::cli::run(flecto::cli::policy::stage)
}
