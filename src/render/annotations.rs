//! What does GitHub show beside the lines? Workflow commands, the worst first, within the runner's limits.
//!
//! Command and escapes: actions/toolkit, packages/core/src/command.ts. Limits: actions/runner keeps ten of each level a step
//! and 4,096 UTF-16 units of a message, and says nothing of what it drops; so does this, aloud.

use super::place::Root;
use super::report::{Issue, Report};
use super::shown;
use crate::record::{Change, Op, Severity};
use crate::text::{count, is_active};
use std::collections::HashSet;
use std::fmt::Write as _;

/// How many of one level the runner keeps of a step.
const PER_LEVEL: usize = 10;

/// How many UTF-16 units of a message the runner keeps.
const MESSAGE_UNITS: usize = 4_096;

pub(super) fn render(report: &Report, root: &Root) -> String {
    let mut out = String::new();
    let issues = report.issues(false);
    let mut used = [0usize; 3];
    let mut left_out = 0;
    for issue in &issues {
        let used = &mut used[issue.severity as usize];
        if *used == PER_LEVEL {
            left_out += 1;
            continue;
        }
        *used += 1;
        command(&mut out, issue, root);
    }
    // Changes that no rule speaks of, as far as there is room for notices.
    let mut told = HashSet::new();
    for file in &report.files {
        told.extend(file.findings.iter().map(|f| (f.file.as_str(), f.document.as_deref(), f.path.as_str())));
    }
    let mut changes_left_out = 0;
    let notices = &mut used[Severity::Info as usize];
    for change in report.files.iter().flat_map(|file| &file.changes) {
        if told.contains(&(change.file.as_str(), change.document.as_deref(), change.path.as_str())) {
            continue;
        }
        if *notices == PER_LEVEL {
            changes_left_out += 1;
            continue;
        }
        *notices += 1;
        let message = sentence(change);
        let issue = Issue {
            file: &change.file,
            document: change.document.as_deref(),
            path: Some(&change.path),
            pack: None,
            rule: change.op.as_str(),
            severity: Severity::Info,
            message: message.into(),
            line: change.line.or(change.parent_line),
            column: change.column,
            end_line: change.end_line,
            line_hash: None,
            accepted: None,
        };
        command(&mut out, &issue, root);
    }
    totals(report, issues.len(), left_out, changes_left_out, &mut out);
    out
}

/// One plain line where the commands do not tell all.
fn totals(report: &Report, issues: usize, left_out: usize, changes_left_out: usize, out: &mut String) {
    if left_out + changes_left_out > 0 {
        let _ = writeln!(
            out,
            "flecto: {} and {}; {} and {} are not shown as annotations (the runner keeps {PER_LEVEL} of a level)",
            count(report.changes(), "change"),
            count(issues as u64, "finding"),
            count(changes_left_out as u64, "change"),
            count(left_out as u64, "finding"),
        );
    } else if out.is_empty() {
        let files = report.matched.map_or_else(String::new, |n| format!(" in {}", count(n, "file")));
        let _ = writeln!(out, "flecto: no changes{}{files}", report.baseline());
    }
}

fn sentence(change: &Change) -> String {
    let (before, after) = shown::sides(change);
    let side = Option::<String>::unwrap_or_default;
    match change.op {
        Op::Added => format!("added: {}", side(after)),
        Op::Removed => format!("removed: {}", side(before)),
        Op::Changed => format!("{} → {}", side(before), side(after)),
        Op::Reordered => "the same items in another order".into(),
    }
}

fn command(out: &mut String, issue: &Issue<'_>, root: &Root) {
    let name = match issue.severity {
        Severity::Error => "error",
        Severity::Warn => "warning",
        Severity::Info => "notice",
    };
    let _ = write!(out, "::{name} file={}", property(&root.path(issue.file)));
    if let Some(line) = issue.line {
        let _ = write!(out, ",line={line}");
        match issue.end_line.filter(|end| *end > line) {
            Some(end) => {
                let _ = write!(out, ",endLine={end}");
            }
            // The runner drops a column of several lines.
            None => {
                if let Some(column) = issue.column {
                    let _ = write!(out, ",col={column}");
                }
            }
        }
    }
    let message = match issue.place() {
        Some(place) => format!("{place}: {}", issue.message),
        None => issue.message.to_string(),
    };
    let _ = writeln!(out, ",title={}::{}", property(issue.rule), data(&cut(&visible(&message))));
}

/// At most [`MESSAGE_UNITS`] of UTF-16, cut between characters, with a mark.
fn cut(message: &str) -> String {
    let mut units = 0;
    let mut kept = 0;
    for (at, c) in message.char_indices() {
        units += c.len_utf16();
        if units > MESSAGE_UNITS {
            return format!("{}…", &message[..kept]);
        }
        // Room for the mark.
        if units < MESSAGE_UNITS {
            kept = at + c.len_utf8();
        }
    }
    message.to_string()
}

/// What acts is spelled, but for line ends, which are part of a message. The older form of a command is found anywhere in
/// a line, by this runner and by Azure's, so that is broken.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let bytes = text.as_bytes();
    for (at, c) in text.char_indices() {
        let starts_command = |b: &u8| *b == b'[' || b.is_ascii_alphabetic();
        if c == '#' && at > 0 && bytes[at - 1] == b'#' && bytes.get(at + 1).is_some_and(starts_command) {
            out.push_str("\\#");
        } else if is_active(c) && c != '\r' && c != '\n' {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// The text after the second `::`.
fn data(visible: &str) -> String {
    visible.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property.
fn property(text: &str) -> String {
    data(&visible(text)).replace(':', "%3A").replace(',', "%2C")
}
