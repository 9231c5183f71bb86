//! What fails a run? The triggers of `--fail-on`, and whether one of them matched.

use crate::fields;
use crate::record::{Op, Severity, Status, Verdict};

/// A trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Trigger {
    /// A value or list that changed, a renamed file.
    Changed,
    /// A value or file that is new.
    Added,
    /// A value or file that is gone.
    Removed,
    /// A finding of severity warn or error.
    Policy,
    /// A finding of severity error.
    Error,
    /// A finding of severity warn.
    Warn,
    /// A finding of severity info.
    Info,
}

/// The words of `--fail-on`.
pub const WORDS: &[&str] = &["changed", "added", "removed", "policy", "error", "warn", "info", "none"];

impl Trigger {
    const ALL: [Trigger; 7] = [
        Trigger::Changed,
        Trigger::Added,
        Trigger::Removed,
        Trigger::Policy,
        Trigger::Error,
        Trigger::Warn,
        Trigger::Info,
    ];

    /// The word.
    pub fn as_str(self) -> &'static str {
        WORDS[self as usize]
    }

    fn from_word(word: &str) -> Option<Trigger> {
        Trigger::ALL.into_iter().find(|trigger| trigger.as_str() == word)
    }
}

/// Which triggers fail the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailOn(Vec<Trigger>);

impl Default for FailOn {
    /// `policy`: a finding worth a look before merging, or worse.
    fn default() -> FailOn {
        FailOn(vec![Trigger::Policy])
    }
}

impl FailOn {
    /// Reads a list of words, given one by one; each may hold several with commas between them.
    ///
    /// # Errors
    /// An unknown word, no word, or `none` beside another, as a sentence.
    pub fn from_words<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<FailOn, String> {
        let mut triggers = Vec::new();
        let mut none = false;
        for word in words.into_iter().flat_map(|words| words.split(',')).map(str::trim) {
            match Trigger::from_word(word) {
                Some(trigger) if !triggers.contains(&trigger) => triggers.push(trigger),
                Some(_) => {}
                None if word == "none" => none = true,
                None if word.is_empty() => {
                    return Err("an empty word in the list of triggers; write `none` for none".into());
                }
                None => return Err(fields::unknown("trigger", word, "the list", WORDS)),
            }
        }
        match (none, triggers.is_empty()) {
            (true, false) => Err("`none` stands beside other triggers; write one or the others".into()),
            (false, true) => Err("no trigger is named; write `none` for none".into()),
            _ => Ok(FailOn(triggers)),
        }
    }

    /// The words, in the order in which they were given; `none` when there are none.
    pub fn words(&self) -> Vec<String> {
        if self.0.is_empty() {
            return vec!["none".to_string()];
        }
        self.0.iter().map(|trigger| trigger.as_str().to_string()).collect()
    }
}

impl std::str::FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<FailOn, String> {
        FailOn::from_words([text])
    }
}

/// Counts what passes, and says in the end whether a trigger matched.
#[derive(Clone, Debug)]
pub struct Gate {
    fail_on: FailOn,
    verdict: Verdict,
    files: [bool; 3],
}

impl Gate {
    /// Nothing counted yet.
    pub fn new(fail_on: FailOn) -> Gate {
        Gate { fail_on, verdict: Verdict::default(), files: [false; 3] }
    }

    /// Counts a change.
    pub fn change(&mut self, op: Op) {
        match op {
            Op::Added => self.verdict.added += 1,
            Op::Removed => self.verdict.removed += 1,
            Op::Changed => self.verdict.changed += 1,
            Op::Reordered => self.verdict.reordered += 1,
        }
    }

    /// Takes note of a file: one that is new, gone or renamed is a change also when no value in it is.
    pub fn file(&mut self, status: Status) {
        match status {
            Status::Renamed => self.files[0] = true,
            Status::Added => self.files[1] = true,
            Status::Removed => self.files[2] = true,
            Status::Modified | Status::Unchanged | Status::Error => {}
        }
    }

    /// Counts a finding.
    pub fn finding(&mut self, severity: Severity, accepted: bool) {
        match severity {
            _ if accepted => self.verdict.accepted += 1,
            Severity::Error => self.verdict.error += 1,
            Severity::Warn => self.verdict.warn += 1,
            Severity::Info => self.verdict.info += 1,
        }
    }

    /// The answer.
    pub fn verdict(&self) -> Verdict {
        let counts = &self.verdict;
        let [renamed, added, removed] = self.files;
        let matched = |trigger: &Trigger| match trigger {
            Trigger::Changed => counts.changed + counts.reordered > 0 || renamed,
            Trigger::Added => counts.added > 0 || added,
            Trigger::Removed => counts.removed > 0 || removed,
            Trigger::Policy => counts.error + counts.warn > 0,
            Trigger::Error => counts.error > 0,
            Trigger::Warn => counts.warn > 0,
            Trigger::Info => counts.info > 0,
        };
        let failed = self.fail_on.0.iter().any(matched);
        Verdict { fail_on: self.fail_on.words(), failed, ..counts.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_read_strictly() {
        let read = |text: &str| text.parse::<FailOn>().map(|f| f.words().join(","));
        assert_eq!(read("policy, error,policy").as_deref(), Ok("policy,error"));
        assert_eq!(read("none").as_deref(), Ok("none"));
        assert_eq!(read("eror").expect_err("a typo"), "unknown trigger `eror` in the list; did you mean `error`?");
        for bad in ["", ",", "policy,", "none,policy", "Policy", "renamed"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert_eq!(FailOn::default().words(), ["policy"]);
    }
}
