//! What does a person read who has the time? The report as a screen: by file and document, changes of one parent together and
//! aligned, long texts as a diff of their lines, each finding under its change, counts at the end.
//!
//! Layout may change from release to release; `text` without this style is the one that scripts read.

use super::report::{FileReport, Report, reason};
use super::shown;
use super::text::{BOLD, CYAN, DIM, GREEN, RED, YELLOW, paint};
use crate::path::{Path, Segment};
use crate::record::{Change, Finding, Op, Severity};
use crate::text::{count, escape, header_name};
use crate::value::Value;
use imara_diff::{Algorithm, Diff, InternedInput};
use std::collections::HashMap;
use std::fmt::Write as _;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};

/// The width when there is no terminal to ask.
pub const DEFAULT_WIDTH: usize = 100;

/// The narrowest screen that is laid out for.
pub const MIN_WIDTH: usize = 40;

/// How many lines of a text's own diff are shown.
const TEXT_LINES: usize = 12;

/// Names are aligned up to this width; a longer one pushes its value on.
const NAME: usize = 32;

pub(super) struct Rich {
    pub(super) color: bool,
    pub(super) width: usize,
}

/// The findings of a file by where they are.
type ByPlace<'r> = HashMap<(Option<&'r str>, &'r str), Vec<&'r Finding>>;

impl Rich {
    pub(super) fn render(&self, report: &Report) -> String {
        let mut out = String::new();
        for file in report.files.iter() {
            self.file(file, &mut out);
        }
        for warning in &report.warnings {
            let _ = writeln!(out, "{} {}", paint(self.color, YELLOW, "warning:"), escape(warning));
        }
        self.totals(report, &mut out);
        out
    }

    fn file(&self, file: &FileReport, out: &mut String) {
        let story = file.story().map_or_else(String::new, |story| format!("  {}", escape(&story)));
        let counted = match file.error() {
            Some(_) => "not compared".to_string(),
            None if file.changes.is_empty() => "no changes".to_string(),
            None => count(file.changes.len() as u64, "change"),
        };
        let name = header_name(&file.name);
        let gap = self.width.saturating_sub(width(&name) + width(&story) + width(&counted)).max(2);
        let _ = writeln!(
            out,
            "{}{}{:gap$}{}",
            paint(self.color, BOLD, &name),
            paint(self.color, DIM, &story),
            "",
            paint(self.color, DIM, &counted)
        );
        if let Some(error) = file.error() {
            let _ = writeln!(out, "  {}", paint(self.color, RED, &escape(&error)));
        }
        let mut findings: ByPlace<'_> = HashMap::new();
        for finding in &file.findings {
            findings.entry((finding.document.as_deref(), &finding.path)).or_default().push(finding);
        }
        for of_document in file.changes.chunk_by(|a, b| a.document == b.document) {
            let document = of_document[0].document.as_deref();
            if let Some(document) = document {
                let _ = writeln!(out, "  {}", paint(self.color, CYAN, &escape(document)));
            }
            let indent = if document.is_some() { 4 } else { 2 };
            for group in groups(of_document) {
                self.group(&group, indent, &mut findings, out);
            }
        }
        // What speaks of no change of this file: a finding about the file, or one of a filter of the user's.
        let told = |finding: &&Finding| findings.contains_key(&(finding.document.as_deref(), finding.path.as_str()));
        for finding in file.findings.iter().filter(told) {
            let place = super::text::place(finding.document.as_deref(), &finding.path);
            let _ = writeln!(out, "  {place}");
            self.finding(finding, 4, out);
        }
        out.push('\n');
    }

    fn group<'r>(&self, group: &Group<'r>, indent: usize, findings: &mut ByPlace<'r>, out: &mut String) {
        let mut indent = indent;
        if let Some(parent) = &group.parent {
            let _ = writeln!(out, "{:indent$}{}", "", escape(parent));
            indent += 2;
        }
        let longest =
            group.changes.iter().map(|(name, _)| width(&escape(name))).filter(|w| *w <= NAME).max().unwrap_or(0);
        for (name, change) in &group.changes {
            self.change(name, change, indent, longest, out);
            for finding in findings.remove(&(change.document.as_deref(), &change.path)).unwrap_or_default() {
                self.finding(finding, indent + 4, out);
            }
        }
    }

    fn change(&self, name: &str, change: &Change, indent: usize, longest: usize, out: &mut String) {
        let (sign, style) = match change.op {
            Op::Added => ("+", GREEN),
            Op::Removed => ("-", RED),
            Op::Changed | Op::Reordered => ("~", YELLOW),
        };
        let name = escape(name);
        let pad = longest.saturating_sub(width(&name));
        let _ = write!(out, "{:indent$}{} {name}{:pad$}", "", paint(self.color, style, sign), "");
        let room = self.width.saturating_sub(indent + 4 + width(&name) + pad).max(20);
        let mut lines = None;
        match (change.op, &change.before, &change.after) {
            (Op::Reordered, ..) => out.push_str("  the same items in another order"),
            (_, Some(Value::String(before)), Some(Value::String(after)))
                if before.contains('\n') || after.contains('\n') =>
            {
                lines = Some((before.as_str(), after.as_str()));
                let _ = write!(out, "  text of {}", count(after.lines().count() as u64, "line"));
            }
            (_, before, after) => {
                let half = room.saturating_sub(3) / if before.is_some() && after.is_some() { 2 } else { 1 };
                let side =
                    |value: &Value, style: &str| paint(self.color, style, &fitting(value, half.max(12))).into_owned();
                out.push_str("  ");
                match (before, after) {
                    (Some(before), Some(after)) => {
                        let _ = write!(out, "{} → {}", side(before, RED), side(after, GREEN));
                    }
                    (Some(before), None) => out.push_str(&side(before, RED)),
                    (None, Some(after)) => out.push_str(&side(after, GREEN)),
                    (None, None) => {}
                }
            }
        }
        if let Some(note) = change.note.as_deref().filter(|note| *note != "order") {
            let _ = write!(out, " {}", paint(self.color, DIM, &format!("({})", escape(note))));
        }
        out.push('\n');
        if let Some((before, after)) = lines {
            self.lines(before, after, indent + 4, out);
        }
    }

    /// A text of several lines as a diff of them, with one line around each place.
    fn lines(&self, before: &str, after: &str, indent: usize, out: &mut String) {
        let input = InternedInput::new(before, after);
        let mut diff = Diff::compute(Algorithm::Histogram, &input);
        diff.postprocess_lines(&input);
        let old: Vec<&str> = before.lines().collect();
        let new: Vec<&str> = after.lines().collect();
        let mut rows: Vec<(&str, &str, &str)> = Vec::new();
        for hunk in diff.hunks() {
            if let Some(context) = (hunk.after.start as usize).checked_sub(1).and_then(|at| new.get(at)) {
                rows.push((" ", DIM, context));
            }
            rows.extend(hunk.before.clone().filter_map(|at| old.get(at as usize)).map(|line| ("-", RED, *line)));
            rows.extend(hunk.after.clone().filter_map(|at| new.get(at as usize)).map(|line| ("+", GREEN, *line)));
            if let Some(context) = new.get(hunk.after.end as usize) {
                rows.push((" ", DIM, context));
            }
        }
        let room = self.width.saturating_sub(indent + 2).max(20);
        for (sign, style, line) in rows.iter().take(TEXT_LINES) {
            let line = escape(line);
            let line = crate::text::shorten(&line, room);
            let _ = writeln!(out, "{:indent$}{}", "", paint(self.color, style, &format!("{sign} {line}")));
        }
        if rows.len() > TEXT_LINES {
            let more = count((rows.len() - TEXT_LINES) as u64, "more line");
            let _ = writeln!(out, "{:indent$}{}", "", paint(self.color, DIM, &format!("… {more}")));
        }
    }

    fn finding(&self, finding: &Finding, indent: usize, out: &mut String) {
        let style = match finding.severity {
            Severity::Error => RED,
            Severity::Warn => YELLOW,
            Severity::Info => CYAN,
        };
        let mark = format!("{}{}", finding.severity, if finding.accepted.is_some() { ", accepted" } else { "" });
        let mark_width = width(&mark).max(5);
        let message = escape(&finding.message).into_owned();
        let room = self.width.saturating_sub(indent + mark_width + 1).max(30);
        for (at, line) in wrapped(&message, room).iter().enumerate() {
            // What was harmless within a line may be a command at the start of one.
            let line = escape(line);
            if at == 0 {
                let pad = mark_width - width(&mark);
                let _ = write!(out, "{:indent$}{}{:pad$} {line}", "", paint(self.color, style, &mark), "");
            } else {
                let _ = write!(out, "\n{:1$}{line}", "", indent + mark_width + 1);
            }
        }
        let mut below = escape(&finding.rule).into_owned();
        if let Some(pack) = &finding.pack {
            let _ = write!(below, " of {}", escape(pack));
        }
        if let Some(why) = finding.accepted.as_ref().and_then(reason) {
            let _ = write!(below, "; accepted: {}", escape(why));
        }
        let below_indent = indent + mark_width + 1;
        let _ = writeln!(out, "\n{:below_indent$}{}", "", paint(self.color, DIM, &below));
    }

    fn totals(&self, report: &Report, out: &mut String) {
        let files = match report.matched {
            Some(matched) => format!("{} of {}", report.differing(), count(matched, "file")),
            None => count(report.differing(), "file"),
        };
        let mut line = format!("{}{} in {files}", count(report.changes(), "change"), report.baseline());
        let severities =
            [(Severity::Error, "error", RED), (Severity::Warn, "warning", YELLOW), (Severity::Info, "notice", CYAN)];
        for (severity, noun, style) in severities {
            let n = report.count(severity);
            if n > 0 {
                let _ = write!(line, " · {}", paint(self.color, style, &count(n, noun)));
            }
        }
        if let Some(verdict) = &report.verdict {
            let said = if verdict.failed {
                paint(self.color, RED, "gate failed")
            } else {
                paint(self.color, GREEN, "gate passed")
            };
            let _ = write!(line, " · {said} ({})", escape(&verdict.fail_on.join(",")));
        }
        let _ = writeln!(out, "{line}");
        if let Some(reason) = &report.incomplete {
            let _ = writeln!(out, "{}", paint(self.color, RED, &format!("incomplete: {}", escape(reason))));
        }
    }
}

/// Changes that stand in one map or list, with what is common to their paths.
struct Group<'r> {
    parent: Option<String>,
    changes: Vec<(String, &'r Change)>,
}

/// Neighbours with one parent together; one alone keeps its whole path.
fn groups(changes: &[Change]) -> Vec<Group<'_>> {
    let mut out: Vec<Group<'_>> = Vec::new();
    let split: Vec<(Option<Path>, &Change)> = changes.iter().map(|change| (parent(&change.path), change)).collect();
    for run in split.chunk_by(|a, b| a.0.is_some() && a.0 == b.0) {
        let (parent, _) = &run[0];
        match parent {
            Some(parent) if run.len() > 1 && !parent.0.is_empty() => out.push(Group {
                parent: Some(parent.to_string()),
                changes: run.iter().map(|(_, change)| (last(&change.path), *change)).collect(),
            }),
            _ => out.push(Group { parent: None, changes: run.iter().map(|(_, c)| (c.path.clone(), *c)).collect() }),
        }
    }
    // Paths of their own, side by side, are aligned with each other.
    let mut merged: Vec<Group<'_>> = Vec::new();
    for group in out {
        match merged.last_mut() {
            Some(previous) if previous.parent.is_none() && group.parent.is_none() => {
                previous.changes.extend(group.changes);
            }
            _ => merged.push(group),
        }
    }
    merged
}

fn parent(path: &str) -> Option<Path> {
    let mut path = Path::parse(path).ok()?;
    path.0.pop()?;
    Some(path)
}

/// The last step of a path as it is written after its parent.
fn last(path: &str) -> String {
    let Ok(parsed) = Path::parse(path) else { return path.to_string() };
    match parsed.0.last() {
        Some(segment @ (Segment::Key(_) | Segment::Typed(_))) => Path(vec![segment.clone()]).to_string(),
        Some(segment) => Path(vec![segment.clone()]).to_string().trim_start_matches('$').to_string(),
        None => path.to_string(),
    }
}

/// A value in a room; a longer one with its length, which needs room too.
fn fitting(value: &Value, room: usize) -> String {
    let shown = shown::within(value, room);
    if width(&shown) <= room { shown } else { shown::within(value, room.saturating_sub(20).max(12)) }
}

/// Text in lines of at most `room`, broken at blanks where there are some.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let needed = width(word);
        if used > 0 && used + 1 + needed > room {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += needed;
        }
    }
    lines
}

/// How many columns a terminal gives a text. Near enough for East Asian scripts and emoji; a wrong guess costs alignment.
fn width(text: &str) -> usize {
    text.chars()
        .map(|c| match u32::from(c) {
            0x20..0x300 => 1,
            0x1100..=0x115f
            | 0x2e80..=0x303e
            | 0x3041..=0xa4cf
            | 0xac00..=0xd7a3
            | 0xf900..=0xfaff
            | 0xfe30..=0xfe6f => 2,
            0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1f64f | 0x1f680..=0x1faff | 0x20000..=0x3fffd => 2,
            _ => match c.general_category() {
                GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark => 0,
                _ => 1,
            },
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_a_terminal() {
        assert_eq!(width("abc"), 3);
        assert_eq!(width("東京"), 4);
        assert_eq!(width("e\u{301}"), 1);
        assert_eq!(width("🙂"), 2);
    }

    #[test]
    fn text_is_wrapped_at_blanks() {
        assert_eq!(wrapped("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrapped("aaaaaaaa b", 5), ["aaaaaaaa", "b"]);
    }
}
