//! Which parts of a narration rest on the diff? Looks up everything in it that can be looked up, and marks what is not there.
//!
//! Nothing here understands language. It takes the numbers, names, paths, versions and addresses of a text and asks whether
//! they stand in the diff or follow from it by computing; and it holds a few words about direction ("increases", "is
//! removed", "unchanged") against what was computed about the change that a statement names. So it finds many inventions and
//! not all of them, and what it marks is a reason to look, never a verdict.

mod factors;
mod facts;
mod words;

use crate::json::{self, Object};
use facts::{Change, Facts};

/// What stands behind something that is not in the diff.
const MARK: &str = " [not in the diff]";

/// How many paths a record lists that the narration does not mention.
const MAX_LISTED: usize = 50;

/// A narration with its marks, and the counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Checked {
    /// The text with [`MARK`] behind what is not in the diff.
    pub(super) text: String,
    statements: usize,
    grounded: usize,
    marked: Vec<String>,
    changes: usize,
    unmentioned: Vec<String>,
}

impl Checked {
    /// The lines that stand under the narration.
    pub(super) fn summary(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.statements > 0 {
            let without = self.statements - self.grounded;
            let verb = if without == 1 { "does not" } else { "do not" };
            let rest = if without == 0 { String::new() } else { format!("; {without} {verb}") };
            let noun = if self.statements == 1 { "statement names" } else { "statements name" };
            lines.push(format!("checked: {} of {} {noun} something in the diff{rest}", self.grounded, self.statements));
        }
        if !self.unmentioned.is_empty() {
            lines.push(format!(
                "not mentioned: {} of {}",
                self.unmentioned.len(),
                crate::text::count(self.changes as u64, "change")
            ));
        }
        lines
    }

    /// The record's field `grounding`.
    pub(super) fn to_json(&self) -> String {
        let list = |texts: &[String]| {
            let texts: Vec<String> = texts.iter().take(MAX_LISTED).map(|text| json::string(text)).collect();
            format!("[{}]", texts.join(","))
        };
        let mut object = Object::new();
        object.uint("statements", self.statements as u64).uint("grounded", self.grounded as u64);
        object.raw("not_in_diff", &list(&self.marked)).uint("changes", self.changes as u64);
        object.uint("mentioned", (self.changes - self.unmentioned.len()) as u64);
        object.raw("not_mentioned", &list(&self.unmentioned));
        object.finish()
    }
}

/// Checks a cleaned text against the prompt that it answers; `None` where the prompt is not of a form that can be read.
pub(super) fn check(text: &str, user: &str, mark: &str) -> Option<Checked> {
    let facts = Facts::read(user, mark)?;
    let mut checked = Checked { changes: facts.changes.len(), ..Checked::default() };
    let mut fenced = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        if fenced || is_frame(line) {
            lines.push(line.to_string());
        } else {
            lines.push(check_line(line, &facts, &mut checked));
        }
    }
    checked.text = lines.join("\n");
    let lower = text.to_lowercase();
    let unmentioned = facts.changes.iter().filter(|change| !is_mentioned(change, &lower, &facts));
    checked.unmentioned = unmentioned.map(|change| change.path.clone()).collect();
    Some(checked)
}

/// Lines that state nothing: blank ones, headings, rules, fences, our own notes.
fn is_frame(line: &str) -> bool {
    let line = line.trim();
    line.starts_with(['#', '—', '['])
        || !line.chars().any(char::is_alphanumeric)
        || line.starts_with("```")
        || line.ends_with(':')
        || heads_table(line)
}

/// The first row of a table names its columns.
fn heads_table(line: &str) -> bool {
    const COLUMNS: [&str; 14] = [
        "path", "key", "setting", "before", "after", "old", "new", "from", "to", "change", "effect", "was", "is",
        "value",
    ];
    let Some(cells) = line.strip_prefix('|') else { return false };
    let cells = cells.trim_end_matches('|').split('|').map(|cell| cell.trim().to_lowercase());
    cells.filter(|cell| COLUMNS.contains(&cell.as_str())).count() > 1
}

/// One line: a bullet is one statement, prose has one a sentence. A sentence that goes on about the same thing ("This may …")
/// belongs to the one before.
fn check_line(line: &str, facts: &Facts, checked: &mut Checked) -> String {
    let body = line.trim_start();
    let bullet = body.starts_with(['-', '*', '+', '•'])
        || body.split_once(['.', ')']).is_some_and(|(n, _)| n.parse::<u32>().is_ok());
    let mut out = String::new();
    for statement in if bullet { vec![line] } else { sentences(line) } {
        // A statement about nothing of the diff is one thing to doubt, not as many as it has numbers.
        // Nor does a model count its own statements.
        let marks = match !forges_summary(statement) && names_something(statement, facts) {
            true => words::marks(statement, facts),
            false => vec![words::Mark::at_end(statement)],
        };
        checked.statements += 1;
        checked.grounded += usize::from(marks.is_empty());
        checked.marked.extend(marks.iter().map(|mark| mark.text.clone()));
        out.push_str(&with_marks(statement, &marks));
    }
    out
}

/// Whether a line looks like one of the two that are made here and stand under the text.
fn forges_summary(statement: &str) -> bool {
    let start = statement.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    start.starts_with("checked:") || start.starts_with("not mentioned:")
}

fn with_marks(statement: &str, marks: &[words::Mark]) -> String {
    let mut out = String::with_capacity(statement.len() + marks.len() * MARK.len());
    let mut done = 0;
    for mark in marks {
        out.push_str(&statement[done..mark.end]);
        out.push_str(MARK);
        done = mark.end;
    }
    out.push_str(&statement[done..]);
    out
}

/// Sentences with the blanks after them, so that they join to the line again.
fn sentences(line: &str) -> Vec<&str> {
    const GOES_ON: [&str; 19] = [
        "This ",
        "That ",
        "It ",
        "They ",
        "These ",
        "Those ",
        "So ",
        "As a result",
        "Therefore",
        "If ",
        "Thus",
        "Hence",
        "Together ",
        "Das ",
        "Dies",
        "Dadurch",
        "Cela ",
        "Ceci ",
        "Ainsi",
    ];
    let mut out: Vec<&str> = Vec::new();
    let (mut start, mut code) = (0, false);
    let bytes = line.as_bytes();
    for (at, c) in line.char_indices() {
        code ^= c == '`';
        let ends = matches!(c, '.' | '!' | '?') && !code && bytes.get(at + 1) == Some(&b' ');
        if !ends {
            continue;
        }
        let rest = line[at + 1..].trim_start();
        // "e.g. a", "approx. 5": a sentence begins with a capital, a digit or a mark.
        let begins = rest.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || "`\"“*".contains(c));
        if begins && !GOES_ON.iter().any(|word| rest.starts_with(word)) {
            let end = line.len() - rest.len();
            out.push(&line[start..end]);
            start = end;
        }
    }
    if start < line.len() {
        out.push(&line[start..]);
    }
    out
}

/// Whether a statement is about anything in the diff.
fn names_something(statement: &str, facts: &Facts) -> bool {
    let lower = statement.to_lowercase();
    if facts.changes.iter().any(|change| lower.contains(&change.path.to_lowercase()) || has_sides(change, &lower)) {
        return true;
    }
    lower.split(|c: char| !c.is_alphanumeric()).any(|word| {
        let single = word.strip_suffix('s').unwrap_or(word);
        facts.words.contains(word) || facts.words.contains(single) || facts.words.contains(&format!("{word}s"))
    }) || words::numbers(statement).any(|number| facts.has_written(number))
}

fn has_sides(change: &Change, lower: &str) -> bool {
    let has = |side: &Option<String>| {
        side.as_ref().is_some_and(|text| text.chars().count() > 2 && lower.contains(&text.to_lowercase()))
    };
    has(&change.before) && has(&change.after)
}

/// Whether a narration mentions a change: by its path, by a name that no other change has, or by both of its values.
fn is_mentioned(change: &Change, lower: &str, facts: &Facts) -> bool {
    let by_name = |name: &String| {
        let unique = facts.changes.iter().filter(|other| other.names.contains(name)).count() == 1;
        unique && words::has_word(lower, name)
    };
    lower.contains(&change.path.to_lowercase()) || change.names.iter().any(by_name) || has_sides(change, lower)
}
