//! `flecto-render`: see `flecto::render`.

use std::process::ExitCode;

fn main() -> ExitCode {
    flecto::cli::run(flecto::cli::render::run)
}
