//! `flecto`: spawns the filters and joins them; see `flecto::pipeline`.

use std::process::ExitCode;

fn main() -> ExitCode {
    flecto::outcome::Outcome::Trouble.into()
}
