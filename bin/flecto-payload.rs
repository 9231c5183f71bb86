//! `flecto-payload`: see `flecto::payload`.

use std::process::ExitCode;

fn main() -> ExitCode {
    flecto::outcome::Outcome::Trouble.into()
}
