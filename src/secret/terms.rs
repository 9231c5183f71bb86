//! What is secret in the terms of a program: Lisp's `(setq my-password "x")` and `:password "x"`, Erlang's `{password, "x"}`, and the
//! columns of an SQL `INSERT`. A name is followed by a literal, with no sign between them that `pairs` would know.

use super::scan::Span;
use super::words::{self, Named, Strength};
use super::{By, opaque, pairs, reading};
use std::ops::Range;

/// Finds them.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    if text.contains('"') {
        literals(text, spans);
    }
    inserts(text, spans);
    if text.contains("sed ") {
        substitutions(text, spans);
    }
}

/// `sed 's/DB_PASSWORD_PLACEHOLDER/x/'`: what takes the place of a secret's name.
fn substitutions(text: &str, spans: &mut Vec<Span>) {
    for mark in ["s/", "s|", "s#", "s@", "s,"] {
        for (at, _) in text.match_indices(mark) {
            if !text[..at].ends_with(['\'', '"', ' ', ';']) {
                continue;
            }
            let rest = &text[at + 2..super::formats::floor(text, at + 2 + 256)];
            let mut parts = rest.split(&mark[1..]);
            let (Some(pattern), Some(value), Some(_)) = (parts.next(), parts.next(), parts.next()) else { continue };
            let name = pattern.trim_matches(|c: char| !c.is_alphanumeric());
            let name =
                ["_PLACEHOLDER", "_HERE", "_VALUE"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
            if name.len() < 48
                && words::named(name).is_some_and(|named| named.strength == Strength::Strong)
                && opaque::is_passwordish(value)
                && !value.contains(['=', '$', '\\', '('])
                && !reading::is_kept(value, Strength::Strong)
            {
                let from = value.as_ptr() as usize - text.as_ptr() as usize;
                spans.push(Span::new(from..from + value.len(), By::Container, "substitution"));
            }
        }
    }
}

/// Words before a name that give it a value.
const SETTERS: &[&str] =
    &["setq", "setf", "def", "defvar", "defparameter", "defcustom", "define", "setenv", "setq-default"];

/// Every literal in double quotes is looked back from, over one name.
fn literals(text: &str, spans: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(open) = text[from..].find('"').map(|at| from + at) {
        let Some(close) = text[open + 1..].find('"').map(|at| open + 1 + at) else { return };
        from = close + 1;
        let value = &text[open + 1..close];
        if value.is_empty() || value.len() > 1024 || value.contains('\n') {
            // What stands between two literals was taken for one.
            if value.contains('\n') {
                from = open + 1;
            }
            continue;
        }
        let head = &text[super::formats::floor(text, open.saturating_sub(96))..open];
        let erlang = head.strip_suffix("<<").unwrap_or(head).trim_end_matches(' ').strip_suffix(',');
        let blank = head.ends_with(' ').then(|| head.trim_end_matches(' '));
        let Some(before) = erlang.or(blank) else { continue };
        let length = before.bytes().rev().take_while(|b| b.is_ascii_alphanumeric() || b"_-*?!".contains(b)).count();
        let name = &before[before.len() - length..];
        let lead = before[..before.len() - length].trim_end_matches(' ');
        let told = if erlang.is_some() {
            lead.ends_with('{') || name.starts_with("CURLOPT_")
        } else {
            lead.ends_with(':') && is_keyword(lead)
                || lead
                    .strip_suffix(|c: char| c == '\'')
                    .unwrap_or(lead)
                    .rsplit(['(', ' '])
                    .next()
                    .is_some_and(|word| SETTERS.contains(&word))
                    && lead.contains('(')
        };
        if told
            && bytes.get(close) == Some(&b'"')
            && let Some(named) = words::named(name).filter(|named| named.strength >= Strength::Medium)
            && let Some((part, word)) = pairs::judge_value(value, &named, false)
            && words::named(value).is_none_or(|_| opaque::is_mixed(value))
        {
            spans.push(Span::new(open + 1 + part.start..open + 1 + part.end, By::Container, word));
        }
    }
}

/// `:password`: the colon stands at a beginning, and does not end another name.
fn is_keyword(lead: &str) -> bool {
    let before = lead[..lead.len() - 1].chars().next_back();
    before.is_none_or(|c| c.is_whitespace() || "({[,".contains(c))
}

/// `INSERT INTO users (name, password) VALUES ('joe', 'x'), …`: the columns say what the literals are.
fn inserts(text: &str, spans: &mut Vec<Span>) {
    for (at, word) in [("VALUES", "values"), ("values", "VALUES")].iter().flat_map(|(word, _)| text.match_indices(word))
    {
        let head = text[super::formats::floor(text, at.saturating_sub(1024))..at].trim_end();
        let Some(columns) = head.strip_suffix(')').and_then(|head| head.rfind('(').map(|open| &head[open + 1..]))
        else {
            continue;
        };
        let named: Vec<Option<Named>> = columns
            .split(',')
            .map(|column| {
                words::named(column.trim().trim_matches(['"', '`', '[', ']']))
                    .filter(|named| named.strength == Strength::Strong)
            })
            .collect();
        if named.iter().all(Option::is_none) || named.len() > 64 {
            continue;
        }
        let mut rest = at + word.len();
        while let Some(row) = row(text, rest) {
            for (cell, named) in row.cells.iter().zip(&named) {
                let Some(named) = named else { continue };
                let value = &text[cell.clone()];
                let literal = value.strip_prefix(['\'', '"']).and_then(|inner| inner.strip_suffix(['\'', '"']));
                if let Some(literal) = literal
                    && !literal.is_empty()
                    && !reading::is_kept(literal, named.strength)
                {
                    spans.push(Span::new(cell.start + 1..cell.end - 1, By::Container, named.word));
                }
            }
            rest = row.end;
        }
    }
}

/// One `('joe', 'x')` of the values.
struct Row {
    cells: Vec<Range<usize>>,
    end: usize,
}

fn row(text: &str, from: usize) -> Option<Row> {
    let bytes = text.as_bytes();
    let mut at = from;
    while bytes.get(at).is_some_and(|b| b.is_ascii_whitespace() || *b == b',') {
        at += 1;
    }
    if bytes.get(at) != Some(&b'(') {
        return None;
    }
    let limit = (at + 8192).min(bytes.len());
    at += 1;
    let (mut cells, mut start, mut depth) = (Vec::new(), at, 0usize);
    while at < limit {
        match bytes[at] {
            quote @ (b'\'' | b'"') => {
                at += 1;
                while at < limit && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'(' => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b @ (b',' | b')') if depth == 0 => {
                let cell = text.get(start..at)?;
                let inner = cell.trim();
                let offset = start + (inner.as_ptr() as usize - cell.as_ptr() as usize);
                cells.push(offset..offset + inner.len());
                if b == b')' {
                    return Some(Row { cells, end: at + 1 });
                }
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}
