//! Can this text be shown? Makes foreign text inert for a terminal, a CI log and a reader's eye.
//!
//! Keys, values, file names and messages come from whoever wrote the change, so every one of them passes through
//! [`escape`] before it reaches a terminal or a log. Nothing is dropped: what would act on the reader is spelled out.
//! `strip-ansi-escapes` and annotate-snippets' normaliser were tried; both leave zero-width and bidi characters.

use std::borrow::Cow;
use std::fmt::Write as _;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};

/// Whether a terminal, a CI runner or an eye could act on `c` rather than read it: control characters (C0, C1, DEL),
/// format characters (bidi controls, zero width, Unicode tags), line and paragraph separators, variation selectors
/// and the blank fillers that look like nothing.
pub fn is_active(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    matches!(
        c.general_category(),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
    ) || matches!(c, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{34f}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}')
}

/// One line of text that is safe to print anywhere: active characters as visible escapes (`\n`, `\t`, `\u{200b}`),
/// and no two characters left that a CI runner takes for a command (`##[…]`, `##vso[…]`, `::name::`).
///
/// The text reads back by eye; it is not meant to be parsed. Borrowed when there was nothing to do.
pub fn escape(text: &str) -> Cow<'_, str> {
    let plain = text.bytes().all(|b| (0x20..0x7f).contains(&b) && b != b'#' && b != b':');
    if plain { Cow::Borrowed(text) } else { defuse(spell(text, false)) }
}

/// As [`escape`], but keeps `\n` and `\t`: for text of several lines whose layout is meant.
pub fn escape_lines(text: &str) -> Cow<'_, str> {
    defuse(spell(text, true))
}

/// A model's text line by line, inert. A space is put before what some machine takes for more than text at the start of a
/// line: a heading of Buildkite's or GitLab's log, a quick action of a GitLab comment.
pub fn inert_lines(text: &str) -> Vec<String> {
    let acts = |line: &str| line.trim_start().starts_with('/') || heads_a_log(line);
    let text = escape_lines(text.trim_matches('\n'));
    text.split('\n').map(|line| if acts(line) { format!(" {line}") } else { line.to_string() }).collect()
}

/// Whether Buildkite or GitLab would take a line for a heading of its log.
pub fn heads_a_log(line: &str) -> bool {
    ["--- ", "+++ ", "~~~ ", "^^^ ", "section_start:", "section_end:"].iter().any(|start| line.starts_with(start))
}

/// A file's name at the start of a line, inert.
pub fn header_name(name: &str) -> String {
    format!("{}{}", if heads_a_log(name) { "./" } else { "" }, escape(name))
}

/// Active characters as visible escapes, line ends included, and nothing else: for formats that break a CI runner's
/// commands in a way of their own.
pub fn spelled(text: &str) -> Cow<'_, str> {
    spell(text, false)
}

fn spell(text: &str, keep_layout: bool) -> Cow<'_, str> {
    if !text.chars().any(is_active) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\t' if keep_layout => out.push(c),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_active(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Breaks what GitHub's, Azure's and TeamCity's runners look for anywhere in a line. A `\` between the two characters
/// is visible and survives copying; a zero-width character would be neither.
fn defuse(text: Cow<'_, str>) -> Cow<'_, str> {
    let hash = text.as_bytes().windows(3).any(|w| w.starts_with(b"##") && is_command_start(w[2]));
    let colons = is_workflow_command(&text);
    if !hash && !colons {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 4);
    let bytes = text.as_bytes();
    let mut line_start = true;
    for (at, c) in text.char_indices() {
        let second_hash =
            c == '#' && at > 0 && bytes[at - 1] == b'#' && bytes.get(at + 1).is_some_and(|&b| is_command_start(b));
        let second_colon = line_start && c == ':' && at > 0 && bytes[at - 1] == b':';
        if second_hash || second_colon {
            out.push('\\');
        }
        if c == '\n' {
            line_start = true;
        } else if !c.is_whitespace() && (c != ':' || second_colon) {
            line_start = false;
        }
        out.push(c);
    }
    Cow::Owned(out)
}

fn is_command_start(byte: u8) -> bool {
    byte == b'[' || byte.is_ascii_alphabetic()
}

fn is_workflow_command(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("::"))
}

/// Cuts `text` to at most `max` characters, and says so with a last `…`.
pub fn shorten(text: &str, max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max) {
        None => Cow::Borrowed(text),
        Some(_) => {
            let cut = text.char_indices().nth(max.saturating_sub(1)).map_or(0, |(at, _)| at);
            Cow::Owned(format!("{}…", &text[..cut]))
        }
    }
}

/// `1 change`, `2 changes`.
pub fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_is_borrowed() {
        assert!(matches!(escape("db.pool_size"), Cow::Borrowed(_)));
        assert_eq!(escape("Zürich → 東京 🙂"), "Zürich → 東京 🙂");
    }

    #[test]
    fn active_characters_are_spelled() {
        assert_eq!(
            escape("a\u{200b}b\u{202e}c\x1b[2J\u{e0041}\u{9b}"),
            "a\\u{200b}b\\u{202e}c\\u{1b}[2J\\u{e0041}\\u{9b}"
        );
        assert_eq!(escape("one\r\ntwo\t"), "one\\r\\ntwo\\t");
        assert_eq!(escape_lines("one\n\ttwo\r"), "one\n\ttwo\\r");
    }

    #[test]
    fn runner_commands_are_broken_wherever_they_stand() {
        assert_eq!(escape("x ##[error]boo"), "x #\\#[error]boo");
        assert_eq!(escape("##vso[task.setvariable]x"), "#\\#vso[task.setvariable]x");
        assert_eq!(escape("  ::set-output name=a::b"), "  :\\:set-output name=a::b");
        assert_eq!(escape("std::vec"), "std::vec");
        assert_eq!(escape("# heading ## two"), "# heading ## two");
        assert_eq!(escape_lines("ok\n::warning::x"), "ok\n:\\:warning::x");
    }

    #[test]
    fn shortening_says_so() {
        assert_eq!(shorten("abcdef", 4), "abc…");
        assert_eq!(shorten("abc", 4), "abc");
    }
}
