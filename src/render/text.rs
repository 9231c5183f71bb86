//! What does a person read? Per file a header, then all changes, then all findings.
//!
//! ```text
//! config/prod.yaml — 2 changes from origin/main:
//!   ~ db.pool_size: 5 → 20
//!   + [Deployment/prod/api] spec.paused: true
//!   ! policy(warn) [default] db.pool_size: Pool size increased from 5 to 20 (>=2x).
//! ```
//!
//! These lines are a contract: scripts read them. The YAML document, where a file has one to name, stands in brackets before
//! the path. What a file as a whole went through is a line of its own under the header: `  (new file)`, `  (file removed)`,
//! `  (renamed from config/old.yaml)`. The last line of a report that is not the whole one begins with `incomplete: `.

use super::read::{Ending, View, baseline_label};
use super::report::reason;
use super::shown;
use crate::record::{Change, File, Finding, Op, Record, Severity, Start, Status};
use crate::stream::Writer;
use crate::text::{count, escape, header_name};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

pub(super) const BOLD: &str = "1";
pub(super) const RED: &str = "31";
pub(super) const GREEN: &str = "32";
pub(super) const YELLOW: &str = "33";
pub(super) const CYAN: &str = "36";
pub(super) const DIM: &str = "2";

pub(super) struct Text<'w, W: Write> {
    out: &'w mut Writer<W>,
    color: bool,
    start: Option<Start>,
    current: Option<Group>,
    any: bool,
    warnings: String,
}

/// One file: its lines wait until they are counted.
struct Group {
    name: String,
    told: Option<File>,
    count: u64,
    changes: String,
    findings: String,
}

impl<'w, W: Write> Text<'w, W> {
    pub(super) fn new(out: &'w mut Writer<W>, color: bool) -> Text<'w, W> {
        Text { out, color, start: None, current: None, any: false, warnings: String::new() }
    }

    fn flush_file(&mut self) -> io::Result<()> {
        let Some(group) = self.current.take() else { return Ok(()) };
        let baseline = baseline_label(self.start.as_ref(), &group.name);
        let name = header_name(&group.name);
        let status = group.told.as_ref().map(|file| file.status);
        let header = match (status, group.count) {
            (Some(Status::Error), _) => {
                let told = group.told.as_ref();
                let side = match told.and_then(|file| file.side.as_deref()) {
                    Some("before") => " (the old side)",
                    Some("after") => " (the new side)",
                    _ => "",
                };
                let error = told.and_then(|file| file.error.as_deref()).unwrap_or("it could not be read");
                format!("{name} — not compared{side}: {}", escape(error))
            }
            (_, 0) => format!("{name} — no changes{baseline}"),
            (_, n) => format!("{name} — {}{baseline}:", count(n, "change")),
        };
        let style = if status == Some(Status::Error) { RED } else { BOLD };
        self.out.line(&paint(self.color, style, &header))?;
        let note = match (status, group.told.as_ref().and_then(|file| file.from.as_deref())) {
            (Some(Status::Added), _) => "  (new file)\n".to_string(),
            (Some(Status::Removed), _) => "  (file removed)\n".to_string(),
            (Some(Status::Renamed | Status::Error), Some(from)) => format!("  (renamed from {})\n", escape(from)),
            _ => String::new(),
        };
        self.out.raw(&note)?;
        self.out.raw(&group.changes)?;
        self.out.raw(&group.findings)
    }
}

impl<W: Write> View for Text<'_, W> {
    fn start(&mut self, start: &Start, _record: &Record) -> io::Result<()> {
        self.start = Some(start.clone());
        Ok(())
    }

    fn file(&mut self, name: &str, told: Option<(&File, &Record)>) -> io::Result<()> {
        self.flush_file()?;
        self.any = true;
        self.current = Some(Group {
            name: name.to_string(),
            told: told.map(|(file, _)| file.clone()),
            count: 0,
            changes: String::new(),
            findings: String::new(),
        });
        Ok(())
    }

    fn change(&mut self, change: &Change, _record: &Record) -> io::Result<()> {
        if let Some(group) = &mut self.current {
            group.count += 1;
            write_change(&mut group.changes, change, self.color);
        }
        Ok(())
    }

    fn finding(&mut self, finding: &Finding, _record: &Record) -> io::Result<()> {
        if let Some(group) = &mut self.current {
            write_finding(&mut group.findings, finding, self.color);
        }
        Ok(())
    }

    fn warning(&mut self, message: &str, _record: &Record) -> io::Result<()> {
        let _ = writeln!(self.warnings, "warning: {}", escape(message));
        Ok(())
    }

    fn finish(&mut self, ending: &Ending) -> io::Result<()> {
        self.flush_file()?;
        let incomplete = ending.incomplete();
        if let (false, Some(end)) = (self.any, &ending.tally.end) {
            let baseline = baseline_label(self.start.as_ref(), "");
            self.out.line(&format!("no changes{baseline} in {}", count(end.files, "file")))?;
        }
        self.out.raw(&self.warnings)?;
        if let Some(reason) = incomplete {
            self.out.line(&paint(self.color, RED, &format!("incomplete: {}", escape(&reason))))?;
        }
        Ok(())
    }
}

fn write_change(out: &mut String, change: &Change, color: bool) {
    let (sign, style) = match change.op {
        Op::Added => ("+", GREEN),
        Op::Removed => ("-", RED),
        Op::Changed | Op::Reordered => ("~", YELLOW),
    };
    let (before, after) = shown::sides(change);
    let side = |side: Option<String>| side.unwrap_or_else(|| "nothing".to_string());
    let values = match change.op {
        Op::Added => side(after),
        Op::Removed => side(before),
        Op::Changed | Op::Reordered => format!("{} → {}", side(before), side(after)),
    };
    let _ =
        write!(out, "  {} {}: {values}", paint(color, style, sign), place(change.document.as_deref(), &change.path));
    let note = change.note.as_deref().map(escape);
    let note = match (change.op, note) {
        (Op::Reordered, None) => Some(Cow::Borrowed("order")),
        (Op::Reordered, Some(note)) if note != "order" => Some(Cow::Owned(format!("order; {note}"))),
        (_, note) => note,
    };
    if let Some(note) = note {
        let _ = write!(out, " {}", paint(color, DIM, &format!("({note})")));
    }
    out.push('\n');
}

fn write_finding(out: &mut String, finding: &Finding, color: bool) {
    let style = match finding.severity {
        Severity::Error => RED,
        Severity::Warn => YELLOW,
        Severity::Info => CYAN,
    };
    let accepted = if finding.accepted.is_some() { ", accepted" } else { "" };
    let mark = paint(color, style, &format!("! policy({}{accepted})", finding.severity)).into_owned();
    let pack = finding.pack.as_deref().map_or_else(String::new, |pack| format!(" [{}]", escape(pack)));
    let place = place(finding.document.as_deref(), &finding.path);
    let _ = write!(out, "  {mark}{pack} {place}: {}", escape(&finding.message));
    if let Some(why) = finding.accepted.as_ref().and_then(reason) {
        let _ = write!(out, " (accepted: {})", escape(why));
    }
    out.push('\n');
}

/// The document in brackets, then the path.
pub(super) fn place(document: Option<&str>, path: &str) -> String {
    match document {
        Some(document) => format!("[{}] {}", escape(document), escape(path)),
        None => escape(path).into_owned(),
    }
}

/// Text in a style of a terminal, or as it is.
pub(super) fn paint<'t>(color: bool, style: &str, text: &'t str) -> Cow<'t, str> {
    if color { Cow::Owned(format!("\x1b[{style}m{text}\x1b[0m")) } else { Cow::Borrowed(text) }
}
