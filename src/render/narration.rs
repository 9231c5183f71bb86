//! What did a model say? Its text, under the line that says whose it is; nothing when there is none.

use super::json::without;
use super::read::{Ending, View};
use super::text::heads_a_log;
use crate::record::Record;
use crate::stream::Writer;
use crate::text::{escape, escape_lines};
use std::io::{self, Write};

pub(super) struct Narration<'w, W: Write> {
    out: &'w mut Writer<W>,
}

impl<'w, W: Write> Narration<'w, W> {
    pub(super) fn new(out: &'w mut Writer<W>) -> Narration<'w, W> {
        Narration { out }
    }
}

impl<W: Write> View for Narration<'_, W> {
    fn narration(&mut self, record: &Record) -> io::Result<()> {
        let text = record.str("text").unwrap_or_default();
        self.out.line("")?;
        self.out.line(&escape(&label(record)))?;
        self.out.line("")?;
        for line in lines(&text) {
            self.out.line(&line)?;
        }
        Ok(())
    }

    fn finish(&mut self, _ending: &Ending) -> io::Result<()> {
        Ok(())
    }
}

/// A model's text line by line, inert. A space is put before what some machine takes for more than text at the start of a
/// line: a heading of Buildkite's or GitLab's log, a quick action of a GitLab comment.
pub(super) fn lines(text: &str) -> Vec<String> {
    let acts = |line: &str| line.trim_start().starts_with('/') || heads_a_log(line);
    let text = escape_lines(text.trim_matches('\n'));
    text.split('\n').map(|line| if acts(line) { format!(" {line}") } else { line.to_string() }).collect()
}

/// The line that stands before model text. It is made here, from what the record says, rather than taken from its `label`:
/// no text of a model may ever be shown without it, whatever a filter in between did to the record.
pub(super) fn label(record: &Record) -> String {
    let field = |name: &str| record.str(name).unwrap_or_else(|| "unknown".into());
    let mut who = format!("{} {}", field("provider"), field("model"));
    if let Some(other) = record.str("answered_by") {
        who.push_str(", answered by ");
        who.push_str(&other);
    }
    if record.bool("cached") == Some(true) {
        who.push_str(", cached");
    }
    format!("Model-generated narration ({who}) — advisory, not computed by Flecto, and never part of the exit code")
}

/// The record as JSON text, with its label.
pub(super) fn with_label(record: &Record) -> String {
    let mut record = record.clone();
    record.set_str("label", &label(&record));
    without(&record, &["type"])
}
