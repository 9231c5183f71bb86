//! What does the end of each stage mean for the run? A table, and nothing else.

use super::Program;
use crate::outcome::Outcome;
use std::fmt;
use std::process::ExitStatus;

/// How a stage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
    /// By the wrapper, which had waited as long as it may.
    Hung,
}

/// SIGPIPE: the reader is gone. The same number on every Unix.
const CLOSED_PIPE: i32 = 13;

impl From<ExitStatus> for Ended {
    fn from(status: ExitStatus) -> Ended {
        if let Some(code) = status.code() {
            return Ended::Status(code);
        }
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return Ended::Signal(signal);
        }
        Ended::Status(Outcome::Trouble as i32)
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Status(code) => write!(f, "ended with status {code}"),
            Ended::Signal(signal) => write!(f, "was ended by signal {signal}"),
            Ended::Hung => f.write_str("did not end in time"),
        }
    }
}

impl Ended {
    /// What it means for a run whose report this stage makes. A verdict is `flecto-policy`'s and `flecto-render`'s to
    /// give; from another stage, 1 is as broken as any other status. A closed pipe is the business of who closed it.
    pub fn outcome(self, program: Program) -> Outcome {
        match self {
            Ended::Status(0) | Ended::Signal(CLOSED_PIPE) => Outcome::Clean,
            Ended::Status(1) if matches!(program, Program::Policy | Program::Render) => Outcome::Findings,
            Ended::Status(_) | Ended::Signal(_) | Ended::Hung => Outcome::Trouble,
        }
    }

    /// Whether the stage cannot have said itself what was wrong: it was killed, or its status is none of ours.
    fn is_speechless(self) -> bool {
        !matches!(self, Ended::Status(0..=2) | Ended::Signal(CLOSED_PIPE))
    }
}

/// A stage that broke without a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Which.
    pub program: Program,
    /// How.
    pub ended: Ended,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.program.name(), self.ended)
    }
}

/// The outcome of a line of stages, in order: the worst of theirs.
pub(super) fn outcome(line: &[(Program, Ended)]) -> Outcome {
    line.iter().map(|&(program, ended)| ended.outcome(program)).max().unwrap_or_default()
}

/// Who failed: of the stages that broke without a word the one farthest downstream, since the trouble of those before it
/// may be its closed pipe. A stage that ended with 2 has said why.
pub(super) fn culprit(line: &[(Program, Ended)]) -> Option<Trouble> {
    line.iter().rev().find(|(_, ended)| ended.is_speechless()).map(|&(program, ended)| Trouble { program, ended })
}

#[cfg(test)]
mod tests {
    use super::Ended::{Hung, Signal, Status};
    use super::Outcome::{Clean, Findings, Trouble as Broken};
    use super::Program::{Diff, Mask, Policy, Render};
    use super::*;

    #[test]
    fn each_stage_has_its_statuses() {
        for (program, one) in [(Diff, Broken), (Policy, Findings), (Mask, Broken), (Render, Findings)] {
            let cases = [
                (Status(0), Clean),
                (Status(1), one),
                (Status(2), Broken),
                (Status(101), Broken),
                (Signal(9), Broken),
                (Signal(13), Clean),
                (Hung, Broken),
            ];
            for (ended, expected) in cases {
                assert_eq!(ended.outcome(program), expected, "{} {ended}", program.name());
            }
        }
    }

    #[test]
    fn the_worst_counts_and_the_farthest_downstream_is_named() {
        let line = [(Diff, Signal(9)), (Policy, Signal(11)), (Render, Status(2))];
        assert_eq!(outcome(&line), Broken);
        assert_eq!(culprit(&line).map(|t| t.to_string()).as_deref(), Some("flecto-policy was ended by signal 11"));
        assert_eq!(culprit(&[(Diff, Signal(13)), (Policy, Status(1)), (Render, Status(1))]), None);
        assert_eq!(outcome(&[(Diff, Signal(13)), (Policy, Status(1)), (Render, Status(0))]), Findings);
    }
}
