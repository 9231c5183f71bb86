//! `flecto`: joins the filters with pipes; see `flecto::pipeline`.

use std::process::ExitCode;

fn main() -> ExitCode {
    flecto::cli::run(flecto::cli::flecto::run)
}
