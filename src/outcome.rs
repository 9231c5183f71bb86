//! How did it go? One verdict type, and the one place where it becomes a number.

use std::process::ExitCode;

/// How a program ended. Ordered, worst last, so that outcomes combine with [`Ord::max`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Nothing to report: exit status 0.
    #[default]
    Clean = 0,
    /// The gate was hit, or `--exit-code` was given and something differs: exit status 1.
    Findings = 1,
    /// The run could not be completed: exit status 2. Never used for "something was found", so that a CI
    /// script can tell a broken run from a failed gate.
    Trouble = 2,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        ExitCode::from(outcome as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::Outcome::{Clean, Findings, Trouble};

    #[test]
    fn the_worst_outcome_wins() {
        assert_eq!(Clean.max(Findings), Findings);
        assert_eq!(Trouble.max(Findings), Trouble);
    }
}
