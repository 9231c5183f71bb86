//! `flecto-diff`: see `flecto::diff`.

use std::process::ExitCode;

fn main() -> ExitCode {
    flecto::cli::run_with_options_of("FLECTO_DIFF_OPTIONS", flecto::cli::diff::run)
}
