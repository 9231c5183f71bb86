//! What did a model say? Its text, under the line that says whose it is; nothing when there is none.

use super::json::without;
use super::read::{Ending, View};
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
        self.out.line(escape_lines(text.trim_end_matches('\n')).as_ref())
    }

    fn finish(&mut self, _ending: &Ending) -> io::Result<()> {
        Ok(())
    }
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
