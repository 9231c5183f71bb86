//! Where does each document of a YAML file begin, without parsing it? So that equal documents cost no parsing.

use memchr::memmem;
use std::ops::Range;

/// One document of a YAML text, found by its marker alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its bytes: from its `---` line, or from the start of the text, to the next marker.
    pub bytes: Range<usize>,
    /// How many lines precede it: [`super::Options::lines_before`].
    pub lines_before: u32,
    /// How many documents precede it: [`super::Options::documents_before`].
    pub documents_before: usize,
}

/// Splits a YAML text at its document markers, `---` at the start of a line. Parsing the parts one by one, with the two
/// `…_before` of each in the options, gives exactly the documents that parsing the whole gives.
///
/// A `---` at the start of a line is a marker wherever it stands: YAML lets neither a block scalar nor a quoted one hold
/// it (YAML 1.2.2, 9.1.2, c-forbidden). `None` where that is not the whole story: a `...` line, a line that begins with
/// `%` (a directive), a lone `\r`, a byte order mark that is not the first thing, text that is not UTF-8.
pub fn split_yaml(text: &[u8]) -> Option<Vec<Part>> {
    let text = std::str::from_utf8(text).ok()?;
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    if memmem::find(&text.as_bytes()[start..], "\u{feff}".as_bytes()).is_some() {
        return None;
    }
    let bytes = text.as_bytes();
    let returns = memchr::memchr_iter(b'\r', bytes);
    if returns.into_iter().any(|at| bytes.get(at + 1) != Some(&b'\n')) {
        return None;
    }
    // Where lines begin that begin with this.
    let begins = |mark: &'static [u8]| {
        let first = bytes[start..].starts_with(&mark[1..]).then_some(start);
        first.into_iter().chain(memmem::find_iter(&bytes[start..], mark).map(move |at| start + at + 1))
    };
    if begins(b"\n%").next().is_some() || begins(b"\n...").any(|at| is_marker(&bytes[at..], b"...")) {
        return None;
    }
    let mut parts: Vec<Part> = Vec::new();
    let (mut counted, mut lines) = (start, 0_usize);
    for at in begins(b"\n---").filter(|at| is_marker(&bytes[*at..], b"---")) {
        lines += memchr::memchr_iter(b'\n', &bytes[counted..at]).count();
        counted = at;
        // Blank and comment lines before the first marker are no document.
        let mut from = at;
        if let Some(last) = parts.last_mut() {
            last.bytes.end = at;
        } else if says_something(&text[start..at]) {
            parts.push(Part { bytes: 0..at, lines_before: 0, documents_before: 0 });
        } else {
            from = 0;
        }
        let lines_before = if from == 0 { 0 } else { u32::try_from(lines).unwrap_or(u32::MAX) };
        parts.push(Part { bytes: from..bytes.len(), lines_before, documents_before: parts.len() });
    }
    if parts.is_empty() {
        parts.push(Part { bytes: 0..bytes.len(), lines_before: 0, documents_before: 0 });
    }
    Some(parts)
}

/// Whether there is a line that is not blank and no comment.
fn says_something(text: &str) -> bool {
    let mut lines = text.split('\n').map(|line| line.trim_start_matches([' ', '\t', '\r']));
    lines.any(|line| !line.is_empty() && !line.starts_with('#'))
}

fn is_marker(line: &[u8], marker: &[u8; 3]) -> bool {
    line.strip_prefix(marker).is_some_and(|rest| matches!(rest.first(), None | Some(b' ' | b'\t' | b'\r' | b'\n')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Format, Options, parse};

    /// What a parse says, comparable.
    fn said(text: &[u8], options: &Options) -> Vec<String> {
        let parsed = parse(Format::Yaml, text, options).expect("valid");
        parsed.documents.iter().map(|document| format!("{} {:?}", document.index, document.root)).collect()
    }

    #[test]
    fn the_parts_say_what_the_whole_says() {
        for text in [
            "",
            "# nothing\n\n",
            "a: 1",
            "a: 1\n---\nb: 2\n---\n\n---\n# only a comment\n---\nc: 3\n",
            "---\na: 1\n---",
            "# first\n---\na: 1\n--- # note\nb: 2\n",
            "--- text\n--- |\n  block\n  --- no marker\n---\tq\n",
            "\u{feff}---\r\na: 1\r\n---\r\nb: |\r\n  x\r\n\r\n---\r\n",
            "a: |\n  x\n\n---\nb: >-\n  y\n----\n",
            "x: ---\ny: a---\n---\n- 1\n",
        ] {
            let whole = parse(Format::Yaml, text.as_bytes(), &Options::default());
            let Ok(_) = whole else {
                assert!(text.contains("----"), "{text:?}: {whole:?}");
                continue;
            };
            let parts = split_yaml(text.as_bytes()).expect("splits");
            let mut joined = Vec::new();
            for part in &parts {
                let options = Options {
                    lines_before: part.lines_before,
                    documents_before: part.documents_before,
                    ..Options::default()
                };
                joined.extend(said(&text.as_bytes()[part.bytes.clone()], &options));
            }
            assert_eq!(joined, said(text.as_bytes(), &Options::default()), "{text:?}");
            assert_eq!(parts.first().map(|part| part.bytes.start), Some(0));
            assert!(parts.windows(2).all(|w| w[0].bytes.end == w[1].bytes.start), "{text:?}");
            assert_eq!(parts.last().map(|part| part.bytes.end), Some(text.len()));
        }
    }

    #[test]
    fn what_needs_a_parser_is_not_split() {
        for text in [
            "%YAML 1.2\n---\na: 1\n",
            "a: 1\n...\n---\nb: 1\n",
            "a: 1\r---\rb: 2\r",
            "---\n\u{feff}---\n",
            "a\u{feff}: 1\n",
        ] {
            assert_eq!(split_yaml(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(split_yaml(b"\xff"), None);
    }
}
