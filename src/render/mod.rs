//! How does it read? Ends the stream: shows the records to a person, or to the machine that shows them to one.
//!
//! | format | for | holds in memory |
//! |---|---|---|
//! | `text` | a terminal, a log | one file's lines |
//! | `json` | a script: one document | one file's records |
//! | `ndjson` | a script: the records themselves | nothing |
//! | `narration` | a terminal: what a model said, and that alone | nothing |
//!
//! Every format gets its records from [`read`], which holds the stream to its own counts; what was lost on the way is told
//! in the format itself and by exit status 2. Shortening for display happens here and nowhere earlier.

mod json;
mod narration;
mod ndjson;
mod read;
mod shown;
mod text;

use crate::outcome::Outcome;
use crate::stream::Writer;
use anyhow::Context as _;
use read::{Ending, View};
use std::io::{BufRead, Write};

pub use read::baseline_label;
pub use shown::value as shown_value;

/// What to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Lines for a person: per file a header, the changes, the findings
    #[default]
    Text,
    /// One JSON document: files with their changes and findings, and the verdict
    Json,
    /// The records of the report, one a line
    Ndjson,
    /// What a model said, with the line that says so; nothing when there is none
    Narration,
}

/// How to write it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The format.
    pub format: Format,
    /// Whether to colour `text`.
    pub color: bool,
    /// Whether a stream that lost records is accepted.
    pub partial: bool,
}

/// Reads a stream of records and writes it in a format.
///
/// The outcome is the verdict of the stream, or trouble when the stream says that not everything was read. A reader that
/// is gone does not change it.
///
/// # Errors
/// A broken or cut stream (what could be read has then been written, and says that it is incomplete), and output that
/// cannot be written.
pub fn run(options: &Options, input: impl BufRead, output: impl Write) -> anyhow::Result<Outcome> {
    let mut out = Writer::new(output);
    let ending = match options.format {
        Format::Text => show(input, text::Text::new(&mut out, options.color)),
        Format::Json => show(input, json::Document::new(&mut out)),
        Format::Ndjson => ndjson::pass(input, &mut out),
        Format::Narration => show(input, narration::Narration::new(&mut out)),
    }
    .and_then(|ending| out.flush().map(|()| ending))
    .map_err(|error| anyhow::anyhow!("cannot write standard output: {}", error.kind()))?;
    ending.outcome(options.partial)
}

fn show(input: impl BufRead, mut view: impl View) -> std::io::Result<Ending> {
    let ending = read::read(input, &mut view)?;
    view.finish(&ending)?;
    Ok(ending)
}

impl Ending {
    fn outcome(self, partial: bool) -> anyhow::Result<Outcome> {
        if let Some(broken) = self.broken {
            return Err(broken).context("the report is incomplete");
        }
        if !partial {
            self.tally.whole()?;
        }
        let told_incomplete = self.tally.end.as_ref().is_some_and(|end| !end.complete);
        let verdict = self.verdict.as_ref().map_or(Outcome::Clean, crate::record::Verdict::outcome);
        Ok(if told_incomplete { Outcome::Trouble } else { verdict })
    }
}
