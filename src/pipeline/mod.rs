//! Which stages, with which environment, joined how? The wrapper's plan, as data.
//!
//! A [`Plan`] is made by the options (`crate::cli::flecto`), run by [`run()`] and printed by [`Plan::to_shell`]: one value, so
//! that what is printed is what is run. It holds no logic of the stages: the wrapper reads no record, except that it picks
//! the line with the narration out of what `flecto-narrate` wrote.
//!
//! ```text
//! report first   diff ─ policy ─┬─ render ── stdout; status fixed, stdout let go
//!                               └─ kept, up to a bound; then mask ─ payload ─ narrate ─ render --format narration ── stderr
//! within         diff ─ policy ─── kept; then mask ─ payload ─ narrate; then render over both ── stdout
//! ```

mod children;
mod output;
mod run;
mod shell;
mod statuses;

pub use children::{Guard, Lifeline, guard, heed_signals};
pub use run::run;
pub use statuses::{Ended, Trouble};

use crate::environment::{FORGE_TOKENS, MODEL_KEYS};
use std::ffi::OsString;
use std::path::PathBuf;

/// A program of ours that a plan can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Reads files and git, writes changes.
    Diff,
    /// Judges changes.
    Policy,
    /// Hides secrets.
    Mask,
    /// Writes the prompt.
    Payload,
    /// Asks the model.
    Narrate,
    /// Shows the records.
    Render,
    /// Puts a comment on a pull request.
    Post,
}

impl Program {
    /// Every one, in the order of the line.
    pub const ALL: [Program; 7] = [
        Program::Diff,
        Program::Policy,
        Program::Mask,
        Program::Payload,
        Program::Narrate,
        Program::Render,
        Program::Post,
    ];

    /// Its file name, without a platform's suffix.
    pub const fn name(self) -> &'static str {
        match self {
            Program::Diff => "flecto-diff",
            Program::Policy => "flecto-policy",
            Program::Mask => "flecto-mask",
            Program::Payload => "flecto-payload",
            Program::Narrate => "flecto-narrate",
            Program::Render => "flecto-render",
            Program::Post => "flecto-post",
        }
    }

    /// The variables that it must not see: the model's keys are `flecto-narrate`'s alone, the forges' tokens
    /// `flecto-post`'s.
    pub fn withheld(self) -> impl Iterator<Item = &'static str> {
        let keys: &[&str] = if self == Program::Narrate { &[] } else { &MODEL_KEYS };
        let tokens: &[&str] = if self == Program::Post { &[] } else { &FORGE_TOKENS };
        keys.iter().chain(tokens).copied()
    }
}

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Which.
    pub program: Program,
    /// What it is told.
    pub arguments: Vec<Argument>,
}

/// A word of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// As it is.
    Word(OsString),
    /// The place of an [`Attached`] file, which is only known when the plan is carried out.
    Attached(String),
}

/// A file of the baseline commit that a stage reads. It is written out for the run, because what lies in the working tree
/// under the same name is the change's author's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    /// Its name, without folders.
    pub name: String,
    /// The id of the object that holds it.
    pub id: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

impl Stage {
    /// A program without arguments.
    pub fn new(program: Program) -> Stage {
        Stage { program, arguments: Vec::new() }
    }

    /// Adds arguments.
    #[must_use]
    pub fn with<S: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = S>) -> Stage {
        self.arguments.extend(arguments.into_iter().map(|word| Argument::Word(word.into())));
        self
    }

    /// Adds `--name value` where there is a value; `--name=value` when that would read as another option.
    #[must_use]
    pub fn option<S: Into<OsString>>(self, name: &str, value: Option<S>) -> Stage {
        let Some(value) = value.map(Into::into) else { return self };
        if value.as_encoded_bytes().starts_with(b"-") {
            let mut word = OsString::from(name);
            word.push("=");
            word.push(value);
            return self.with([word]);
        }
        self.with([OsString::from(name), value])
    }

    /// Adds `--name value` for every value.
    #[must_use]
    pub fn options<S: Into<OsString>>(self, name: &str, values: impl IntoIterator<Item = S>) -> Stage {
        values.into_iter().fold(self, |stage, value| stage.option(name, Some(value)))
    }

    /// Adds `--name` and the place of a file that goes with the plan.
    #[must_use]
    pub fn attached(mut self, name: &str, file: &Attached) -> Stage {
        self.arguments.extend([Argument::Word(name.into()), Argument::Attached(file.name.clone())]);
        self
    }

    /// Adds a flag where it is set.
    #[must_use]
    pub fn flag(self, name: &str, set: bool) -> Stage {
        if set { self.with([name]) } else { self }
    }
}

/// What the wrapper does: a line of stages, and perhaps a question to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Where it happens, where that is not the working directory.
    pub directory: Option<PathBuf>,
    /// Files that stages read and that are not to be read where they lie.
    pub attached: Vec<Attached>,
    /// What makes the records that are shown: `flecto-diff`, `flecto-policy`, and what else stands before the last stage.
    pub judge: Vec<Stage>,
    /// What shows them: the last stage of the line.
    pub show: Stage,
    /// Where its output goes, where that is not stdout; written whole or not at all.
    pub output: Option<PathBuf>,
    /// What is asked of a model.
    pub question: Option<Question>,
    /// What gets the report when it is out: `flecto-post`.
    pub post: Option<Stage>,
    /// What shows the same records once more, for the job's summary.
    pub summary: Option<Summary>,
}

/// The job's summary, beside the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// What makes Markdown of the records.
    pub show: Stage,
    /// What appends it to the file that the runner names.
    pub append: Stage,
}

/// A question to a model, beside the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// From the judged records to the answer: `flecto-mask`, `flecto-payload`, `flecto-narrate`.
    pub stages: Vec<Stage>,
    /// What becomes of the answer.
    pub answer: Answer,
}

/// What becomes of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is shown after the report, by this stage (without one: as it is, for a dry run), at this place.
    After(Option<Stage>, Place),
    /// The stage that asks shows it itself on stderr, as it comes.
    Live,
    /// It stands in the report.
    Within,
}

/// Where an answer is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Where model text goes when nobody asked for another place.
    Stderr,
    /// After the report.
    Stdout,
    /// In a file, written whole or not at all.
    File(PathBuf),
}

impl Plan {
    /// The line of stages from the first to the last that is shown.
    pub fn line(&self) -> impl Iterator<Item = &Stage> {
        self.judge.iter().chain([&self.show])
    }

    /// Every stage that may run.
    pub fn stages(&self) -> impl Iterator<Item = &Stage> {
        let question = self.question.iter().flat_map(|question| {
            let shown = match &question.answer {
                Answer::After(show, _) => show.as_ref(),
                Answer::Live | Answer::Within => None,
            };
            question.stages.iter().chain(shown)
        });
        let summary = self.summary.iter().flat_map(|summary| [&summary.show, &summary.append]);
        self.line().chain(question).chain(&self.post).chain(summary)
    }
}

/// The file of a program of ours, beside this one.
///
/// # Errors
/// When it is not there.
pub fn find(program: Program) -> anyhow::Result<PathBuf> {
    let team = children::Team::new(None, &[])?;
    team.find(program)?;
    Ok(team.file(program))
}
