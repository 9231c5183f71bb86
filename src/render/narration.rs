//! What did a model say? Its text, under the line that says whose it is; nothing when there is none.

use super::json::without;
use super::read::{Ending, View};
use crate::json::Object;
use crate::limits::MAX_NARRATION;
use crate::record::Record;
use crate::stream::Writer;
use crate::text::{escape, header_name, inert_lines};
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
        if let Some(file) = record.str("file") {
            self.out.line(&format!("{}:", header_name(&file)))?;
            self.out.line("")?;
        }
        for line in inert_lines(&text) {
            self.out.line(&line)?;
        }
        Ok(())
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

/// Takes another narration into one: where each file was asked about, a report still has one narration, each part under its
/// file's name, at most as long as one may be.
pub(super) fn gather(all: &mut Option<Record>, next: &Record) {
    let mut next = next.clone();
    if let Some(file) = next.str("file") {
        let text = format!("{}:\n\n{}", header_name(&file), next.str("text").unwrap_or_default());
        next.set_str("text", &text);
    }
    let Some(first) = all else {
        *all = Some(next);
        return;
    };
    let texts = [&*first, &next].map(|record| record.str("text").unwrap_or_default()).join("\n\n");
    let cut = texts.chars().count() > MAX_NARRATION;
    first.set_str("text", &if cut { shortened(&texts) } else { texts });
    let both = |field: &str| [&*first, &next].map(|record| record.bool(field) == Some(true));
    let (cached, truncated) = (both("cached"), both("truncated"));
    first.set("cached", (cached[0] && cached[1]).to_string());
    first.set("truncated", (truncated[0] || truncated[1] || cut).to_string());
    if first.str("answered_by") != next.str("answered_by") {
        first.set_str("answered_by", "more than one model");
    }
    for field in ["usage", "grounding"] {
        let sides = [&*first, &next].map(|record| Record::parse(record.get(field)?.get()).ok());
        // What one of them does not tell, nobody knows of all.
        match sides {
            [Some(one), Some(other)] => first.set(field, sum(&one, &other)),
            _ => first.remove(field),
        }
    }
    // The parts are named in the text.
    first.remove("file");
}

fn shortened(text: &str) -> String {
    let notice = format!("\n\n[cut here by flecto: a narration is at most {MAX_NARRATION} characters]");
    let text = text.strip_suffix(&notice).unwrap_or(text);
    text.chars().take(MAX_NARRATION - notice.chars().count()).chain(notice.chars()).collect()
}

/// Two objects of counts and lists as one: counts added, lists joined.
fn sum(one: &Record, other: &Record) -> String {
    let mut object = Object::new();
    for (key, raw) in one.fields() {
        let inner = |raw: &str| raw.trim().strip_prefix('[')?.strip_suffix(']').map(|list| list.trim().to_string());
        let lists = [inner(raw.get()), other.get(key).and_then(|raw| inner(raw.get()))];
        match lists {
            [Some(list), rest] => {
                let items = [list, rest.unwrap_or_default()];
                let items: Vec<&str> = items.iter().map(String::as_str).filter(|list| !list.is_empty()).collect();
                object.raw(key, &format!("[{}]", items.join(",")))
            }
            _ => object.uint(key, one.uint(key).unwrap_or(0).saturating_add(other.uint(key).unwrap_or(0))),
        };
    }
    object.finish()
}

/// The record as JSON text, with its label.
pub(super) fn with_label(record: &Record) -> String {
    let mut record = record.clone();
    record.set_str("label", &label(&record));
    without(&record, &["type"])
}
