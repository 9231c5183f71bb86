//! Is this a template that was never rendered? Helm, Jinja and their like put `{{ … }}` and `{% … %}` into files of other
//! formats, which then are not of that format, and whose parse errors mislead.

use super::lines::Cursor;
use super::{Error, Place};

/// The error for a text that failed on `line`, if templating is the likely cause: a mark on that line or next to it.
/// It names the first mark of the file.
pub(super) fn explain(text: &str, line: u32) -> Option<Error> {
    let marks = marks(text, line);
    // `"{{ .Values.x | default "y" }}"`: the inner quotes end the outer ones.
    if marks.is_empty()
        && let Some(at) = quoted_mark(text, line)
    {
        return Some(error(Cursor::new(text).place(at), "{{ … }}"));
    }
    let near = marks.iter().any(|mark| mark.line + 2 >= line);
    let first = marks.first().filter(|_| near)?;
    let mut cursor = Cursor::new(text);
    Some(error(cursor.place(first.at), first.kind))
}

/// The error for a mark at a known place.
pub(super) fn error(place: Place, kind: &str) -> Error {
    Error::new(
        place,
        format!(
            "this is a template that was not rendered (`{kind}`); render it first (`helm template`, `jinja2`, …) and compare \
             the output, or compare the values file that it is rendered from"
        ),
    )
}

/// A mark on the line itself, quoted or not.
fn quoted_mark(text: &str, line: u32) -> Option<usize> {
    let mut lines = text.split_inclusive('\n').scan(0, |start, content| {
        let this = *start;
        *start += content.len();
        Some((this, content))
    });
    let (start, content) = lines.nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let at = content.find("{{").filter(|at| !content[..*at].ends_with('$'))?;
    (!content.trim_start().starts_with('#')).then_some(start + at)
}

struct Mark {
    at: usize,
    line: u32,
    kind: &'static str,
}

/// Marks outside of quotes and comments, up to the line after `line`. `${{ … }}` is GitHub's and valid YAML.
fn marks(text: &str, line: u32) -> Vec<Mark> {
    let mut found = Vec::new();
    let mut start = 0;
    for (number, content) in
        (1_u32..).zip(text.split_inclusive('\n')).take_while(|(number, _)| *number <= line.saturating_add(1))
    {
        if let Some((at, kind)) = mark(content) {
            found.push(Mark { at: start + at, line: number, kind });
        }
        start += content.len();
    }
    found
}

fn mark(line: &str) -> Option<(usize, &'static str)> {
    let bytes = line.as_bytes();
    let mut quote = None;
    for (at, &byte) in bytes.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| bytes[at]);
        match (quote, byte) {
            (Some(open), byte) if open == byte => quote = None,
            (Some(_), _) => {}
            // A quote opens only where a value begins; elsewhere it is an apostrophe.
            (None, b'"' | b'\'')
                if before.is_none_or(|b| matches!(b, b' ' | b'\t' | b'[' | b'{' | b',' | b':' | b'(')) =>
            {
                quote = Some(byte);
            }
            (None, b'#') if before.is_none_or(|b| matches!(b, b' ' | b'\t')) => return None,
            (None, b'{') if before != Some(b'$') => match bytes.get(at + 1) {
                Some(b'{') => return Some((at, "{{ … }}")),
                Some(b'%') => return Some((at, "{% … %}")),
                _ => {}
            },
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_count_outside_of_quotes_comments_and_github_expressions() {
        for (line, found) in [
            ("name: {{ .Release.Name }}", true),
            ("{{- if .Values.lb }}", true),
            ("{% for x in y %}", true),
            ("  # {{ not me }}", false),
            ("if: ${{ github.ref }}", false),
            ("msg: \"{{ quoted }}\"", false),
            ("msg: '{{ quoted }}'", false),
            ("it's {{ x }}", true),
            ("a: {b: {c: d}}", false),
        ] {
            assert_eq!(mark(line).is_some(), found, "{line}");
        }
    }
}
