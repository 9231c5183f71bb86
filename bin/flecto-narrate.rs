//! `flecto-narrate`: see `flecto::narrate`.

use std::process::ExitCode;

fn main() -> ExitCode {
    flecto::outcome::Outcome::Trouble.into()
}
