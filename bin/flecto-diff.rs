//! `flecto-diff`: see `flecto::diff`.

use std::process::ExitCode;

fn main() -> ExitCode {
    flecto::outcome::Outcome::Trouble.into()
}
