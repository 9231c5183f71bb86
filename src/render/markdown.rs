//! What does a reviewer read? Markdown: counts first, then findings by severity, then the changes.
//!
//! Every text of the diff stands in a code element in which each punctuation mark is a character reference, because that is
//! what was measured to hold: GitHub and Gitea link mentions and issue numbers after they have decoded references, and
//! backtick spans break on an empty value, a leading backtick and a lone carriage return. Addresses (`a@b.example`,
//! `www.example.org`) are linked inside of such elements too, after references are decoded, so a `<wbr>` parts them, which
//! shows and copies as nothing. No text of the diff begins a line, so that GitLab finds no quick action either.
//!
//! A comment has a largest size, so tables are cut at whole rows and say how many they show. What the narration may take is
//! set aside whether there is one or not: with and without it, the rest is the same bytes.

use super::narration;
use super::report::{FileReport, Report, reason};
use super::shown;
use crate::record::{Change, Finding, Op, Record, Severity, Verdict};
use crate::text::{count, shorten, spelled};
use std::fmt::Write as _;

/// GitHub's limit is 65,536 of a unit that its documentation does not name; so many bytes satisfy every reading.
pub(super) const COMMENT_BYTES: usize = 65_000;

/// `$GITHUB_STEP_SUMMARY` takes 1 MiB for all that a step writes there.
pub(super) const SUMMARY_BYTES: usize = 500_000;

/// What is set aside for a narration: its longest text ([`crate::limits::MAX_NARRATION`] characters) in mostly ASCII. Never
/// more than a third of the whole.
const NARRATION_BYTES: usize = 21_000;

/// More changes than these are folded.
const FOLD: u64 = 25;

/// Longest message, path and file name in a cell, in characters.
const CELL: usize = 400;

/// Room for the lines between the tables: headings, counts, notices of what was left out.
const FRAME: usize = 2_500;

/// The first line of flecto's own comment. `flecto-post` updates the comment that begins with it.
pub(super) fn marker(instance: Option<&str>) -> String {
    match instance {
        None => "<!-- flecto:pr-comment -->".into(),
        Some(key) => format!("<!-- flecto:pr-comment --><!-- flecto:instance {key} -->"),
    }
}

/// The last line of flecto's own comment. `flecto-post` posts none that was cut off on its way.
const END: &str = "<!-- flecto:end -->";

/// The report as Markdown of at most `max` bytes.
pub(super) fn render(report: &Report, first_line: Option<&str>, max: usize) -> String {
    let narration_room = NARRATION_BYTES.min(max / 3);
    let mut room = max.saturating_sub(narration_room + FRAME);
    let mut out = String::new();
    if let Some(line) = first_line {
        out.push_str(line);
        out.push('\n');
    }
    summary(report, &mut out);
    let errors: Vec<String> = report.files.iter().filter_map(not_compared).collect();
    section(&mut out, &mut room, "Not compared", "| File | Why |\n|---|---|\n", &errors, "file");
    let findings = finding_rows(report);
    // Findings may take two thirds of the room, so that a flood of them leaves something to the changes.
    let mut findings_room = room / 3 * 2;
    let before = findings_room;
    section(&mut out, &mut findings_room, "Findings", FINDINGS_HEAD, &findings, "finding");
    room -= before - findings_room;
    if let Some(record) = &report.narration {
        narrate(record, narration_room, &mut out);
    }
    changes(report, &mut room, &mut out);
    if first_line.is_some() {
        out.push_str(END);
        out.push('\n');
    }
    out
}

const FINDINGS_HEAD: &str = "| Severity | File | Path | Rule | Message |\n|---|---|---|---|---|\n";
const CHANGES_HEAD: &str = "| | Path | Before | After |\n|---|---|---|---|\n";

fn summary(report: &Report, out: &mut String) {
    let baseline = report.start.as_ref().map_or_else(String::new, |start| {
        let to = start.to.as_deref().map_or_else(String::new, |to| format!(" to {}", code(to)));
        format!(" from {}{to}", code(&start.baseline))
    });
    let files = match (report.changes(), report.differing(), report.matched) {
        (0, 0, Some(matched)) => format!("**No changes**{baseline} in {}", count(matched, "file")),
        (0, 0, None) => format!("**No changes**{baseline}"),
        (changes, files, _) => format!("**{}**{baseline} in {}", count(changes, "change"), count(files, "file")),
    };
    let severities = [(Severity::Error, "error"), (Severity::Warn, "warning"), (Severity::Info, "notice")];
    let counts: Vec<String> = severities
        .into_iter()
        .map(|(severity, noun)| (report.count(severity), noun))
        .filter(|(n, _)| *n > 0)
        .map(|(n, noun)| format!("**{}**", count(n, noun)))
        .collect();
    let findings = if counts.is_empty() { "no findings".to_string() } else { counts.join(", ") };
    let gate = report.verdict.as_ref().map_or_else(String::new, gate);
    let _ = writeln!(out, "{files} · {findings}{gate}\n");
    if let Some(reason) = &report.incomplete {
        let _ = writeln!(out, "**Incomplete:** {}\n", code(reason));
    }
    for warning in report.warnings.iter().take(10) {
        let _ = writeln!(out, "**Warning:** {}\n", code(&shorten(warning, CELL / 4)));
    }
}

fn gate(verdict: &Verdict) -> String {
    let said = if verdict.failed { "**failed**" } else { "passed" };
    format!(" · gate {said} ({})", code(&verdict.fail_on.join(",")))
}

fn not_compared(file: &FileReport) -> Option<String> {
    let error = file.error()?;
    Some(format!("| {} | {} |\n", cut(&file.name), cut(&error)))
}

/// A heading and a table, cut at whole rows; nothing without rows.
fn section(out: &mut String, room: &mut usize, title: &str, head: &str, rows: &[String], noun: &str) {
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "### {title}\n");
    let shown = table(out, room, head, rows);
    out.push('\n');
    let all = rows.len();
    if shown < all {
        let _ = writeln!(out, "**{shown} of {} shown**, {} not shown.\n", count(all as u64, noun), all - shown);
    }
}

/// As many rows as there is room for; gives back how many.
fn table(out: &mut String, room: &mut usize, head: &str, rows: &[String]) -> usize {
    let mut shown = 0;
    for row in rows {
        let needed = row.len() + if shown == 0 { head.len() } else { 0 };
        if needed > *room {
            break;
        }
        if shown == 0 {
            out.push_str(head);
        }
        *room -= needed;
        out.push_str(row);
        shown += 1;
    }
    shown
}

fn finding_rows(report: &Report) -> Vec<String> {
    let mut rows: Vec<(bool, Severity, String)> = Vec::new();
    for file in &report.files {
        for finding in &file.findings {
            let accepted = finding.accepted.is_some();
            rows.push((accepted, finding.severity, finding_row(&file.name, finding)));
        }
    }
    rows.sort_by_key(|(accepted, severity, _)| (*accepted, std::cmp::Reverse(*severity)));
    rows.into_iter().map(|(_, _, row)| row).collect()
}

fn finding_row(file: &str, finding: &Finding) -> String {
    let place = match finding.line {
        Some(line) => format!("{}:{line}", shorten(file, CELL)),
        None => file.to_string(),
    };
    let message = cut(&finding.message);
    let (accepted, why) = match &finding.accepted {
        None => ("", String::new()),
        Some(by) => (", accepted", reason(by).map_or_else(String::new, |why| format!(" accepted: {}", cut(why)))),
    };
    format!(
        "| {}{accepted} | {} | {} | {} | {message}{why} |\n",
        finding.severity,
        cut(&place),
        cut(&placed(finding.document.as_deref(), &finding.path)),
        cut(&finding.rule),
    )
}

fn changes(report: &Report, room: &mut usize, out: &mut String) {
    let all = report.changes();
    let files: Vec<&FileReport> =
        report.files.iter().filter(|file| !file.changes.is_empty() || file.story().is_some()).collect();
    if files.is_empty() {
        return;
    }
    out.push_str("### Changes\n\n");
    let folded = all > FOLD;
    if folded {
        let _ = writeln!(out, "<details><summary>{}</summary>\n", count(all, "change"));
    }
    let mut shown = 0;
    let mut unseen: Vec<&FileReport> = Vec::new();
    for file in files {
        let heading = file_heading(file);
        let rows: Vec<String> = file.changes.iter().map(change_row).collect();
        let least = heading.len() + 2 + rows.first().map_or(0, |row| row.len() + CHANGES_HEAD.len() + 1);
        if !unseen.is_empty() || least > *room {
            unseen.push(file);
            continue;
        }
        *room -= heading.len() + 3;
        let _ = writeln!(out, "{heading}\n");
        let some = table(out, room, CHANGES_HEAD, &rows);
        if some > 0 {
            out.push('\n');
        }
        shown += some as u64;
        if some < rows.len() {
            unseen.push(file);
        }
    }
    if folded {
        out.push_str("</details>\n\n");
    }
    if shown < all || !unseen.is_empty() {
        let _ = write!(out, "**{shown} of {} shown**, {} not shown", count(all, "change"), all - shown);
        let mut left = FRAME / 2;
        let mut separator = ", in: ";
        for (at, file) in unseen.iter().enumerate() {
            let item = format!("{separator}{} ({})", code(&shorten(&file.name, CELL / 4)), file.changes.len());
            if item.len() > left {
                let _ = write!(out, " and {}", count((unseen.len() - at) as u64, "more file"));
                break;
            }
            left -= item.len();
            out.push_str(&item);
            separator = ", ";
        }
        out.push_str(".\n");
    }
}

fn file_heading(file: &FileReport) -> String {
    let story = file.story().map_or_else(String::new, |story| match file.told.as_ref().and_then(|f| f.from.as_ref()) {
        Some(from) => format!(", renamed from {}", cut(from)),
        None => format!(", {story}"),
    });
    format!("{} — {}{story}", cut(&file.name), count(file.changes.len() as u64, "change"))
}

fn change_row(change: &Change) -> String {
    let (before, after) = shown::cell_sides(change);
    let side = |side: Option<String>| side.map_or_else(String::new, |side| code_of(&side));
    let op = if change.op == Op::Reordered { "order" } else { change.op.as_str() };
    let note = change.note.as_deref().filter(|note| *note != "order");
    let note = note.map_or_else(String::new, |note| format!(" ({})", cut(note)));
    format!(
        "| {op} | {} | {} | {}{note} |\n",
        cut(&placed(change.document.as_deref(), &change.path)),
        side(before),
        side(after)
    )
}

fn placed(document: Option<&str>, path: &str) -> String {
    match document {
        Some(document) => format!("[{document}] {path}"),
        None => path.to_string(),
    }
}

/// The model's text under its heading and its label, in a fence that it cannot close.
fn narrate(record: &Record, room: usize, out: &mut String) {
    let label = narration::label(record);
    let text = record.str("text").unwrap_or_default();
    let lines = crate::text::inert_lines(&text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let label = if is_plain(&label) { label } else { code(&label) };
    let head = format!("### Model-generated narration (advisory)\n\n{label}\n\n{fence}text\n");
    let cut = "(The text is longer than there is room for here.)\n";
    let mut left = room.saturating_sub(head.len() + cut.len() + fence.len() + 2);
    out.push_str(&head);
    for line in &lines {
        let needed = line.len() + 1;
        if needed > left {
            let mut end = left.saturating_sub(1).min(line.len());
            while !line.is_char_boundary(end) {
                end -= 1;
            }
            if end > 0 {
                let _ = writeln!(out, "{}", &line[..end]);
            }
            out.push_str(cut);
            break;
        }
        left -= needed;
        let _ = writeln!(out, "{line}");
    }
    let _ = writeln!(out, "{fence}\n");
}

/// Whether a text can stand as prose: no mark that Markdown or a forge's autolinks act on.
fn is_plain(text: &str) -> bool {
    let safe = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | ',' | ':' | '/' | '(' | ')' | '-' | '—');
    // A forge links what may be a commit; a date in a model's name is none.
    let commit = |word: &str| {
        word.len() >= 7 && word.bytes().all(|b| b.is_ascii_hexdigit()) && word.bytes().any(|b| b.is_ascii_alphabetic())
    };
    let words = || text.split(|c: char| !c.is_alphanumeric());
    text.chars().all(safe) && !["www.", "//", "GH-"].iter().any(|mark| text.contains(mark)) && !words().any(commit)
}

/// A text of the diff in a cell, shortened.
fn cut(text: &str) -> String {
    code(&shorten(text, CELL))
}

/// A text of the diff, in a code element.
pub(super) fn code(text: &str) -> String {
    code_of(&shown::layout_marks(text))
}

/// As [`code`], for a text that is spelled already.
fn code_of(spelled_text: &str) -> String {
    let mut out = String::with_capacity(spelled_text.len() * 2 + 13);
    out.push_str("<code>");
    let text = spelled(spelled_text);
    for (at, c) in text.char_indices() {
        if makes_an_address(&text[..at], c) {
            out.push_str(PARTED);
        }
        if c.is_ascii_punctuation() && !matches!(c, '-' | '.' | ',' | '/') {
            let _ = write!(out, "&#{};", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out.push_str("</code>");
    out
}

/// Parts what would be linked as one address.
const PARTED: &str = "<wbr>";

/// Whether `c` after `before` makes an address that cmark-gfm links: the dot of `www.`, the `@` of a mail address.
fn makes_an_address(before: &str, c: char) -> bool {
    match c {
        '.' => before.len() >= 3 && before.as_bytes()[before.len() - 3..].eq_ignore_ascii_case(b"www"),
        '@' => before.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-' | '_')),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_parted() {
        assert_eq!(code("www.x a@b @c"), "<code>www<wbr>.x a<wbr>&#64;b &#64;c</code>");
    }

    #[test]
    fn a_code_element_leaves_no_mark_that_acts() {
        assert_eq!(code("a-b.c/d, e"), "<code>a-b.c/d, e</code>");
        assert_eq!(code("|`<@#1\n\u{202e}"), "<code>&#124;&#96;&#60;&#64;&#35;1␊&#92;u&#123;202e&#125;</code>");
    }

    #[test]
    fn a_plain_label_stays_readable_and_a_hostile_one_is_code() {
        assert!(is_plain("Model-generated narration (anthropic claude-opus-5, cached) — advisory"));
        assert!(is_plain("Model-generated narration (anthropic claude-x-20260102)"));
        for hostile in ["@octo", "0123456789abcdef", "GH-1", "#1", "http://x", "www.x.y", "a_b", "<b>", "a\nb"] {
            assert!(!is_plain(hostile), "{hostile}");
        }
    }
}
