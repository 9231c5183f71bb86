//! Which comments speak to flecto, and of which value? `flecto-ignore-next-line`, in every format that has comments.
//!
//! No parser gives its comments, and none has to: a comment is what can be written otherwise without the text saying
//! anything else. Each place where the mark stands is overwritten and the text is read again; where the same tree comes out,
//! it stood in a comment, and not in a string, a block scalar or a heredoc. That holds for every format, also for a tenth
//! one, and costs nothing but a search where there is no mark.

use super::{Data, Format, Node, Options, Place, lines, parse};

/// What a comment begins with that speaks to flecto.
const MARK: &str = "flecto-ignore-next-line";

/// As long as [`MARK`], and nobody's.
const BLANK: &str = "xxxxxx-xxxxxx-xxxx-xxxx";

/// How many bytes may be read again to tell comments from strings, in a text that has the mark in both. Beyond that none
/// of them is a comment.
const MAX_WORK: usize = 64 << 20;

/// How many comments of a text may speak to flecto. With more of them, none does: each is compared with every change, and a
/// file that needs so many should be left out of a rule instead.
const MAX_REMARKS: usize = 500;

/// A comment that speaks to flecto, on a line of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// What follows the mark.
    pub text: String,
    /// The line that it stands on.
    pub line: u32,
    /// Where the value begins that it is about, with its key: the next key or list item after it, with all that is in it.
    pub from: Place,
    /// Where the first value begins that is no part of that; `None` where none follows.
    pub to: Option<Place>,
}

impl Remark {
    /// Whether what stands at this place is what the comment is about, or a part of it.
    pub fn covers(&self, place: Place) -> bool {
        self.from <= place && self.to.is_none_or(|to| place < to)
    }
}

/// The comments of a text that speak to flecto and that a value follows, in order.
pub fn remarks(format: Format, text: &[u8], options: &Options) -> Vec<Remark> {
    // Without a mark this is all that happens.
    let Ok(text) = lines::decode(text) else { return Vec::new() };
    if !text.contains(MARK) {
        return Vec::new();
    }
    // A text with a key twice has a value that no tree shows, and what is in that would look like a comment.
    let options = Options { allow_duplicate_keys: false, ..*options };
    let candidates = candidates(text);
    if candidates.len() > MAX_REMARKS {
        return Vec::new();
    }
    let Ok(said) = parse(format, text.as_bytes(), &options) else { return Vec::new() };
    let unchanged = |offsets: &[usize]| {
        let mut other = text.to_string();
        offsets.iter().for_each(|&at| other.replace_range(at..at + MARK.len(), BLANK));
        parse(format, other.as_bytes(), &options).is_ok_and(|read| {
            let roots = |parsed: &super::Parsed<'_>| parsed.documents.len();
            roots(&read) == roots(&said) && read.documents.iter().zip(&said.documents).all(|(a, b)| a.root == b.root)
        })
    };
    let all: Vec<usize> = candidates.iter().map(|candidate| candidate.offset).collect();
    let comments: Vec<Candidate> = if unchanged(&all) {
        candidates
    } else if text.len().saturating_mul(candidates.len()) <= MAX_WORK {
        candidates.into_iter().filter(|candidate| unchanged(&[candidate.offset])).collect()
    } else {
        Vec::new()
    };
    let mut entries = Vec::new();
    said.documents.iter().for_each(|document| gather(&document.root, &mut entries));
    let source: Vec<&str> = split_lines(text).map(|(_, line)| line).collect();
    let about = |candidate: Candidate| {
        let line = candidate.line + options.lines_before;
        let (from, to) = scope(line, &entries, &source, options.lines_before)?;
        // A document of its own begins between them: that comment is the end of the one before.
        let between = source.get(candidate.line as usize..(from.line - options.lines_before) as usize - 1);
        let parted = format == Format::Yaml && between.is_some_and(|lines| lines.iter().any(|l| l.starts_with("---")));
        (!parted).then_some(Remark { text: candidate.text, line, from, to })
    };
    comments.into_iter().filter_map(about).collect()
}

/// A line that looks like a comment with the mark.
struct Candidate {
    /// Where the mark is, in bytes.
    offset: usize,
    /// Its line in the text, from 1.
    line: u32,
    text: String,
}

fn candidates(text: &str) -> Vec<Candidate> {
    let mut out = Vec::new();
    for (line, (start, content)) in (1..).zip(split_lines(text)) {
        let begins = content.trim_start().trim_start_matches(['#', '/', '*', ';', '!']).trim_start();
        let Some(rest) = begins.strip_prefix(MARK) else { continue };
        if rest.starts_with(|c: char| !c.is_whitespace()) {
            continue;
        }
        let text = rest.trim().trim_end_matches("*/").trim_end().to_string();
        out.push(Candidate { offset: start + content.len() - begins.len(), line, text });
    }
    out
}

/// The lines of a text with the byte at which each begins, as [`lines::Cursor`] counts them.
fn split_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = Some(0);
    std::iter::from_fn(move || {
        let start = at?;
        let rest = &text[start..];
        let length = rest.find(['\n', '\r']);
        at = length.map(|length| start + length + if rest[length..].starts_with("\r\n") { 2 } else { 1 });
        Some((start, &rest[..length.unwrap_or(rest.len())]))
    })
}

/// A key or a list item: where it begins, how many follow in the list that are in it, and whether it is a key.
struct Part {
    start: Place,
    parts: usize,
    is_key: bool,
}

/// Every key and list item of a tree, each before those in it.
fn gather(node: &Node<'_>, out: &mut Vec<Part>) {
    let mut push = |start: Place, is_key: bool, value: &Node<'_>| {
        let at = out.len();
        out.push(Part { start, parts: 0, is_key });
        gather(value, out);
        out[at].parts = out.len() - at - 1;
    };
    match &node.data {
        Data::Map(entries) => entries.iter().for_each(|entry| push(entry.key_span.start, true, &entry.value)),
        Data::List(items) => items.iter().for_each(|item| push(item.span.start, false, item)),
        _ => {}
    }
}

/// From where to where the value reaches that a comment on this line is about.
fn scope(line: u32, parts: &[Part], source: &[&str], lines_before: u32) -> Option<(Place, Option<Place>)> {
    let after = parts.iter().enumerate().filter(|(_, part)| part.start.line > line);
    let (mut at, _) = after.min_by_key(|(at, part)| (part.start, *at))?;
    // In `[a.b]`, `a.b = 1` and `resource "x" "y" {` the whole name is meant, and not all that begins as it does.
    loop {
        let part = &parts[at];
        let inner = (at + 1..=at + part.parts).filter(|&inner| {
            parts[inner].is_key && parts[inner].start.line == part.start.line && parts[inner].start > part.start
        });
        let Some(next) = inner.min_by_key(|&inner| parts[inner].start).filter(|_| part.is_key) else { break };
        let text = source.get((part.start.line - lines_before) as usize - 1).copied().unwrap_or_default();
        let (from, to) = (part.start.column as usize - 1, parts[next].start.column as usize - 1);
        if text.chars().take(to).skip(from).any(|c| matches!(c, '=' | ':' | '{' | '[' | ',')) {
            break;
        }
        at = next;
    }
    let from = parts[at].start;
    let outside = parts.iter().enumerate().filter(|(other, _)| !(at..=at + parts[at].parts).contains(other));
    let to = outside.map(|(_, part)| part.start).filter(|start| *start > from).min();
    Some((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(format: Format, text: &str) -> Vec<(String, u32, u32, Option<u32>)> {
        let found = remarks(format, text.as_bytes(), &Options::default());
        found.into_iter().map(|r| (r.text, r.line, r.from.line, r.to.map(|to| to.line))).collect()
    }

    #[test]
    fn every_format_with_comments_has_them() {
        for (format, text) in [
            (Format::Yaml, "a: 1\n# flecto-ignore-next-line r — why\nb: 1\nc: 1\n"),
            (Format::Jsonc, "{\"a\": 1,\n// flecto-ignore-next-line r — why\n\"b\": 1,\n\"c\": 1}\n"),
            (Format::Json5, "{a: 1,\n/* flecto-ignore-next-line r — why */\nb: 1,\nc: 1}\n"),
            (Format::Jsonc, "{\"a\": 1,\n/* flecto-ignore-next-line r — why */\n\"b\": 1,\n\"c\": 1}\n"),
            (Format::Toml, "a = 1\n# flecto-ignore-next-line r — why\nb = 1\nc = 1\n"),
            (Format::Ini, "a = 1\n; flecto-ignore-next-line r — why\nb = 1\nc = 1\n"),
            (Format::Ini, "a = 1\n# flecto-ignore-next-line r — why\nb = 1\nc = 1\n"),
            (Format::Systemd, "[A]\n# flecto-ignore-next-line r — why\nB=1\nC=1\n"),
            (Format::Dotenv, "A=1\n# flecto-ignore-next-line r — why\nB=1\nC=1\n"),
            (Format::Properties, "a=1\n! flecto-ignore-next-line r — why\nb=1\nc=1\n"),
            (Format::Hcl, "a = 1\n// flecto-ignore-next-line r — why\nb = 1\nc = 1\n"),
            (Format::Hcl, "a = 1\n# flecto-ignore-next-line r — why\nb = 1\nc = 1\n"),
        ] {
            assert_eq!(at(format, text), [("r — why".to_string(), 2, 3, Some(4))], "{format:?}\n{text}");
            let text = text.replace('\n', "\r\n");
            assert_eq!(at(format, &text), [("r — why".to_string(), 2, 3, Some(4))], "{format:?} with CRLF");
        }
    }

    #[test]
    fn what_only_looks_like_a_comment_is_none() {
        for (format, text) in [
            (Format::Yaml, "a: |\n  # flecto-ignore-next-line r — why\nb: 1\n"),
            (Format::Yaml, "a: >-\n  x\n  # flecto-ignore-next-line r — why\nb: 1\n"),
            (Format::Yaml, "a: 'x\n  # flecto-ignore-next-line r — why\n  y'\nb: 1\n"),
            (Format::Yaml, "a: \"x\n  # flecto-ignore-next-line r — why\n  \"\nb: 1\n"),
            (Format::Yaml, "a: x\n  // flecto-ignore-next-line r — why\nb: 1\n"),
            (Format::Toml, "a = '''\n# flecto-ignore-next-line r — why\n'''\nb = 1\n"),
            (Format::Toml, "a = \"\"\"\n# flecto-ignore-next-line r — why\n\"\"\"\nb = 1\n"),
            (Format::Dotenv, "A=\"\n# flecto-ignore-next-line r — why\n\"\nB=1\n"),
            (Format::Properties, "a=x\\\n# flecto-ignore-next-line r — why\nb=1\n"),
            (Format::Hcl, "a = <<E\n# flecto-ignore-next-line r — why\nE\nb = 1\n"),
            (Format::Json5, "{a: 'x\\\n// flecto-ignore-next-line r — why\\\n', b: 1}\n"),
        ] {
            assert!(text.contains(MARK));
            assert_eq!(at(format, text), [], "{format:?}\n{text}");
            // And a real one beside it is one.
            let last = text.lines().count();
            if format != Format::Json5 {
                let comment = "# flecto-ignore-next-line r — really\n";
                let b = text.rfind(['b', 'B']).expect("b");
                let text = format!("{}{comment}{}", &text[..b], &text[b..]);
                let expected = ("r — really".to_string(), last as u32, last as u32 + 1, None);
                assert_eq!(at(format, &text), [expected], "{format:?}\n{text}");
            }
        }
    }

    #[test]
    fn a_comment_is_about_the_next_value_with_all_that_is_in_it() {
        for (format, text, expected) in [
            // A map, not what follows it.
            (Format::Yaml, "# M\na:\n  x: 1\n  y: 2\nb: 1\n", (1, 2, Some(5))),
            // The first key of the file, not the file.
            (Format::Yaml, "# M\n\n# more\na: 1\nb: 2\n", (1, 4, Some(5))),
            // An item of a list.
            (Format::Yaml, "l:\n  # M\n  - name: x\n    v: 1\n  - name: y\n", (2, 3, Some(5))),
            // Not the key beside it.
            (Format::Jsonc, "{\n// M\n\"a\": 1, \"b\": 2}", (2, 3, Some(3))),
            (Format::Toml, "# M\n[a]\nx = 1\n[b]\ny = 1\n", (1, 2, Some(4))),
            (Format::Toml, "# M\n[a.b]\nx = 1\n[a.c]\ny = 1\n", (1, 2, Some(4))),
            (
                Format::Hcl,
                "# M\nresource \"x\" \"y\" {\n  a = 1\n}\nresource \"x\" \"z\" {\n  a = 1\n}\n",
                (1, 2, Some(5)),
            ),
            (Format::Ini, "; M\n[a]\nx = 1\n[b]\ny = 1\n", (1, 2, Some(4))),
            (Format::Yaml, "---\na: 1\n---\n# M\nb: 1\n", (4, 5, None)),
        ] {
            let text = text.replace("M", "flecto-ignore-next-line r");
            let (line, from, to) = expected;
            assert_eq!(at(format, &text), [("r".to_string(), line, from, to)], "{format:?}\n{text}");
        }
        // At the end of a document, of a file: about nothing.
        assert_eq!(at(Format::Yaml, "a: 1\n# flecto-ignore-next-line r\n---\nb: 1\n"), []);
        assert_eq!(at(Format::Yaml, "a: 1\n# flecto-ignore-next-line r\n"), []);
        // More than anybody means.
        let many = |count: usize| {
            (0..count).map(|n| format!("# flecto-ignore-next-line r — why\na{n}: 1\n")).collect::<String>()
        };
        assert_eq!(at(Format::Yaml, &many(MAX_REMARKS)).len(), MAX_REMARKS);
        assert_eq!(at(Format::Yaml, &many(MAX_REMARKS + 1)), []);
        // No mark: other words, other places.
        assert_eq!(at(Format::Yaml, "# flecto-ignore-next-lines r\na: 1 # flecto-ignore-next-line r\nb: 1\n"), []);
    }
}
