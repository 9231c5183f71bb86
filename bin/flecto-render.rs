//! `flecto-render`: see `flecto::render`.

use std::process::ExitCode;

fn main() -> ExitCode {
    flecto::outcome::Outcome::Trouble.into()
}
