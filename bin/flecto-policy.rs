//! `flecto-policy`: see `flecto::policy`.

use std::process::ExitCode;

fn main() -> ExitCode {
    flecto::outcome::Outcome::Trouble.into()
}
