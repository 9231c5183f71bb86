//! What does a person read who has the time? The report as a screen: by file and document, changes of one parent together and
//! aligned, long texts as a diff of their lines, each finding under its change, counts at the end.
//!
//! Layout may change from release to release; `text` without this style is the one that scripts read.

use super::columns::{around_difference, middle, start, width, wrapped};
use super::read::baseline_label;
use super::report::{FileReport, Report, reason};
use super::shown;
use super::text::{BOLD, CYAN, DIM, GREEN, RED, YELLOW, paint};
use crate::path::{Path, Segment};
use crate::record::{Change, Finding, Op, Severity};
use crate::text::{count, escape, header_name};
use crate::value::Value;
use imara_diff::{Algorithm, Diff, InternedInput};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// The width when there is no terminal to ask.
pub const DEFAULT_WIDTH: usize = 100;

/// The narrowest screen that is laid out for.
pub const MIN_WIDTH: usize = 40;

/// How many lines of a text's own diff are shown.
const TEXT_LINES: usize = 12;

/// How many lines of what is in an added or removed map or list are shown.
const PARTS: usize = 8;

/// Names are aligned up to this width; a longer one pushes its value on.
const NAME: usize = 32;

/// The least room for a value, however narrow the screen and long its name.
const VALUE: usize = 24;

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
            self.prose(0, YELLOW, &format!("warning: {}", escape(warning)), &mut out);
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
            self.prose(2, RED, &escape(&error), out);
        }
        let mut findings: ByPlace<'_> = HashMap::new();
        let mut places: HashMap<Option<&str>, HashSet<&str>> = HashMap::new();
        for change in &file.changes {
            places.entry(change.document.as_deref()).or_default().insert(&change.path);
        }
        for finding in &file.findings {
            let document = finding.document.as_deref();
            let place = |path: &str| places.get(&document).and_then(|paths| paths.get(path).copied());
            // A rule looks into what was added or removed as a whole: its finding stands under that.
            let above = place(&finding.path).or_else(|| ancestors(&finding.path).find_map(|path| place(&path)));
            findings.entry((document, above.unwrap_or(&finding.path))).or_default().push(finding);
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
                if finding.path != change.path {
                    let below = finding.path.strip_prefix(change.path.as_str()).unwrap_or(&finding.path);
                    let below = format!("at {}", escape(below.trim_start_matches('.')));
                    let _ = writeln!(out, "{:1$}{2}", "", indent + 4, paint(self.color, DIM, &below));
                }
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
        let mut column = indent + 4 + width(&name) + pad;
        if column + VALUE > self.width {
            // A long path keeps its line for itself.
            let _ = write!(out, "\n{:1$}", "", indent + 4);
            column = indent + 6;
        }
        let room = self.width.saturating_sub(column).max(VALUE);
        let note = change.note.as_deref().filter(|note| *note != "order");
        let note = note.map_or_else(String::new, |note| format!(" ({})", escape(note)));
        let note_of = |out: &mut String, used: usize| {
            let breaks = used + width(&note) > room;
            for line in wrapped(note.trim_start(), room).iter().filter(|line| !line.is_empty()) {
                let gap = if breaks { format!("\n{:column$}", "") } else { " ".to_string() };
                let _ = write!(out, "{gap}{}", paint(self.color, DIM, &escape(line)));
            }
            out.push('\n');
        };
        match (change.op, &change.before, &change.after) {
            (Op::Reordered, ..) => {
                let said = "the same items in another order";
                let _ = write!(out, "  {said}");
                note_of(out, said.len());
            }
            (_, Some(Value::String(before)), Some(Value::String(after)))
                if before.contains('\n') || after.contains('\n') =>
            {
                let said = format!("text of {}", count(after.lines().count() as u64, "line"));
                let _ = write!(out, "  {said}");
                note_of(out, said.len());
                self.lines(before, after, indent + 4, out);
            }
            (_, Some(before), Some(after)) => {
                let (before, after) = (shown::whole(before), shown::whole(after));
                let both = width(&before) + width(&after) + 3;
                let used = if both <= room {
                    let _ = write!(out, "  {} → {}", paint(self.color, RED, &before), paint(self.color, GREEN, &after));
                    both
                } else {
                    // One above the other, and what differs can be seen in both.
                    let (before, after) = around_difference(&before, &after, room);
                    let at = column.saturating_sub(2).min(self.width.saturating_sub(VALUE));
                    let _ = write!(out, "  {}\n{:at$}→ ", paint(self.color, RED, &before), "");
                    out.push_str(&paint(self.color, GREEN, &after));
                    width(&after)
                };
                note_of(out, used);
            }
            (_, Some(one), None) | (_, None, Some(one)) => {
                let whole = shown::whole(one);
                if width(&whole) <= room {
                    let _ = write!(out, "  {}", paint(self.color, style, &whole));
                    note_of(out, width(&whole));
                } else if let Some(parts) = parts(one) {
                    let size = size(one);
                    let _ = write!(out, "  {size}");
                    note_of(out, size.len());
                    self.parts(&parts, style, indent + 4, out);
                } else {
                    let length = format!(" [{} characters]", length(one));
                    let shown = middle(&whole, room.saturating_sub(width(&length)).max(VALUE / 2));
                    let _ = write!(out, "  {}{}", paint(self.color, style, &shown), paint(self.color, DIM, &length));
                    note_of(out, room);
                }
            }
            (_, None, None) => note_of(out, 0),
        }
    }

    /// What is in a map or a list, a line each.
    fn parts(&self, parts: &[(String, &Value)], style: &str, indent: usize, out: &mut String) {
        // One line more is no shorter than to say that there is one.
        let shown = if parts.len() == PARTS + 1 { parts.len() } else { PARTS };
        let longest = parts.iter().take(shown).map(|(name, _)| width(name)).filter(|w| *w <= NAME).max().unwrap_or(0);
        for (name, value) in parts.iter().take(shown) {
            let name = middle(name, self.width.saturating_sub(indent + VALUE + 2).max(VALUE));
            let pad = longest.saturating_sub(width(&name));
            let room = self.width.saturating_sub(indent + width(&name) + pad + 2).max(VALUE);
            let value = middle(&shown::whole(value), room);
            let _ = writeln!(out, "{:indent$}{name}{:pad$}  {}", "", "", paint(self.color, style, &value));
        }
        self.more(parts.len() - shown.min(parts.len()), "more value", indent, out);
    }

    /// A sentence, over several lines where it must be.
    fn prose(&self, indent: usize, style: &str, text: &str, out: &mut String) {
        for (at, line) in wrapped(text, self.width.saturating_sub(indent + 2)).iter().enumerate() {
            let indent = if at == 0 { indent } else { indent + 2 };
            let _ = writeln!(out, "{:indent$}{}", "", paint(self.color, style, &escape(line)));
        }
    }

    /// How much is not shown.
    fn more(&self, n: usize, noun: &str, indent: usize, out: &mut String) {
        if n > 0 {
            let _ = writeln!(out, "{:indent$}{}", "", paint(self.color, DIM, &format!("… {}", count(n as u64, noun))));
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
        // The first new line that no row tells of yet: hunks near each other share what is between.
        let mut next = 0;
        for hunk in diff.hunks() {
            let (from, to) = (hunk.after.start as usize, hunk.after.end as usize);
            if let Some(at) = from.checked_sub(1).filter(|at| *at >= next) {
                if at > next && !rows.is_empty() {
                    rows.push((" ", DIM, "…"));
                }
                rows.extend(new.get(at).map(|line| (" ", DIM, *line)));
            }
            rows.extend(hunk.before.clone().filter_map(|at| old.get(at as usize)).map(|line| ("-", RED, *line)));
            rows.extend((from..to).filter_map(|at| new.get(at)).map(|line| ("+", GREEN, *line)));
            rows.extend(new.get(to).map(|line| (" ", DIM, *line)));
            next = to + 1;
        }
        let room = self.width.saturating_sub(indent + 2).max(20);
        for (sign, style, line) in rows.iter().take(TEXT_LINES) {
            let line = start(&escape(line), room);
            let _ = writeln!(out, "{:indent$}{}", "", paint(self.color, style, &format!("{sign} {line}")));
        }
        self.more(rows.len().saturating_sub(TEXT_LINES), "more line", indent, out);
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
        out.push('\n');
        for line in wrapped(&below, room) {
            let _ = writeln!(out, "{:below_indent$}{}", "", paint(self.color, DIM, &escape(&line)));
        }
    }

    fn totals(&self, report: &Report, out: &mut String) {
        let files = match report.matched {
            Some(matched) => format!("{} of {}", report.differing(), count(matched, "file")),
            None => count(report.differing(), "file"),
        };
        let mut facts = vec![(format!("{} in {files}", count(report.changes(), "change")), "")];
        let severities =
            [(Severity::Error, "error", RED), (Severity::Warn, "warning", YELLOW), (Severity::Info, "notice", CYAN)];
        for (severity, noun, style) in severities {
            let n = report.count(severity);
            if n > 0 {
                facts.push((count(n, noun), style));
            }
        }
        if let Some(verdict) = &report.verdict {
            let (said, style) = if verdict.failed { ("failed", RED) } else { ("passed", GREEN) };
            facts.push((format!("gate {said} ({})", escape(&verdict.fail_on.join(","))), style));
        }
        let only = if let [file] = report.files.as_slice() { file.name.as_str() } else { "" };
        let baseline = baseline_label(report.start.as_ref(), only);
        if !baseline.is_empty() {
            facts.push((baseline.trim_start().to_string(), DIM));
        }
        let mut used = 0;
        for (at, (fact, style)) in facts.iter().enumerate() {
            let fact = middle(fact, self.width.saturating_sub(4));
            if at > 0 && used + 3 + width(&fact) > self.width {
                out.push_str("\n  ");
                used = 2;
            } else if at > 0 {
                out.push_str(" · ");
                used += 3;
            }
            used += width(&fact);
            out.push_str(&if style.is_empty() { fact.into() } else { paint(self.color, style, &fact) });
        }
        out.push('\n');
        if let Some(reason) = &report.incomplete {
            self.prose(0, RED, &format!("incomplete: {}", escape(reason)), out);
        }
    }
}

/// Changes that stand in one map or list, with what is common to their paths.
struct Group<'r> {
    parent: Option<String>,
    changes: Vec<(String, &'r Change)>,
}

/// Changes with one parent together, where the first of them stands; one alone keeps its whole path.
fn groups(changes: &[Change]) -> Vec<Group<'_>> {
    let mut families: Vec<(Option<Path>, Vec<&Change>)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for change in changes {
        let parent = parent(&change.path).filter(|parent| !parent.0.is_empty());
        let key = parent.as_ref().map(ToString::to_string);
        match key.as_ref().and_then(|key| known.get(key)) {
            Some(&at) => families[at].1.push(change),
            None => {
                known.extend(key.map(|key| (key, families.len())));
                families.push((parent, vec![change]));
            }
        }
    }
    let mut out: Vec<Group<'_>> = Vec::new();
    for (parent, changes) in families {
        match parent {
            Some(parent) if changes.len() > 1 => out.push(Group {
                parent: Some(parent.to_string()),
                changes: changes.into_iter().map(|change| (last(&change.path), change)).collect(),
            }),
            _ => {
                let alone = changes.into_iter().map(|change| (change.path.clone(), change));
                // Paths of their own, side by side, are aligned with each other.
                match out.last_mut() {
                    Some(previous) if previous.parent.is_none() => previous.changes.extend(alone),
                    _ => out.push(Group { parent: None, changes: alone.collect() }),
                }
            }
        }
    }
    out
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

/// The paths above a path, the nearest first.
fn ancestors(path: &str) -> impl Iterator<Item = String> {
    let mut path = Path::parse(path).ok();
    std::iter::from_fn(move || {
        let here = path.as_mut()?;
        here.0.pop()?;
        Some(here.to_string())
    })
}

/// The values in a map or a list that is not empty, each with its way there; `None` for anything else.
fn parts(value: &Value) -> Option<Vec<(String, &Value)>> {
    let mut out = Vec::new();
    collect(value, &mut Path(Vec::new()), &mut out);
    (out.len() > 1 || out.first().is_some_and(|(name, _)| name != "$")).then_some(out)
}

fn collect<'v>(value: &'v Value, at: &mut Path, out: &mut Vec<(String, &'v Value)>) {
    match value {
        Value::Map(entries) if !entries.is_empty() && value.envelope().is_none() => {
            for (key, value) in entries {
                at.0.push(Segment::Key(key.clone()));
                collect(value, at, out);
                at.0.pop();
            }
        }
        Value::List(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                at.0.push(Segment::Index(index));
                collect(item, at, out);
                at.0.pop();
            }
        }
        leaf => out.push((escape(&below(at)).into_owned(), leaf)),
    }
}

/// A way down, as it is written after what it starts at.
fn below(path: &Path) -> String {
    let whole = path.to_string();
    match path.0.first() {
        Some(Segment::Index(_)) => whole.trim_start_matches('$').to_string(),
        _ => whole,
    }
}

/// How much is in a map or a list, in words.
fn size(value: &Value) -> String {
    match value {
        Value::Map(entries) => format!("a map of {}", count(entries.len() as u64, "key")),
        Value::List(items) => format!("a list of {}", count(items.len() as u64, "item")),
        _ => String::new(),
    }
}

/// How long a value is, in characters: a string's own, else as it is written.
fn length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        other => shown::whole(other).chars().count(),
    }
}
