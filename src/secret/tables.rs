//! What is secret in a table? Lines of cells under a head whose cells are names (`user,password`), and rows of a name and its value
//! (`| password | … |`).
//!
//! A table is only seen where a line has a cell that is nothing but a secret's name: prose with commas has none.

use super::scan::Span;
use super::words::{self, Named, Strength};
use super::{By, opaque, pairs, reading};
use std::ops::Range;

/// What stands between cells, and how many cells a line has at most.
const MARKS: [u8; 4] = [b',', b';', b'\t', b'|'];
const MAX_CELLS: usize = 64;
/// No row is longer.
const MAX_LINE: usize = 4096;

/// A line whose cells are names.
struct Head {
    mark: u8,
    cells: usize,
    /// Which of its columns are secret, and what their names say.
    secret: Vec<(usize, Named)>,
}

/// Finds them.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let mut start = 0;
    let mut head: Option<Head> = None;
    for line in text.split('\n') {
        let at = start;
        start += line.len() + 1;
        let line = line.trim_end_matches('\r');
        if line.len() < 4 || line.len() > MAX_LINE {
            head = None;
            continue;
        }
        if let Some(known) = &head {
            let cells = cells(line, known.mark);
            if cells.len() == known.cells {
                for (column, named) in &known.secret {
                    cell(line, &cells[*column], at, named, false, spans);
                }
                continue;
            }
            head = None;
        }
        for mark in MARKS {
            if !line.as_bytes().contains(&mark) {
                continue;
            }
            let cells = cells(line, mark);
            if !(2..=MAX_CELLS).contains(&cells.len()) {
                continue;
            }
            let names: Vec<Option<Named>> = cells.iter().map(|range| name(&line[range.clone()])).collect();
            let columns: Vec<(usize, Named)> =
                names.iter().enumerate().filter_map(|(at, named)| named.map(|named| (at, named))).collect();
            if columns.is_empty() {
                continue;
            }
            if cells.len() == 2 && mark == b'|' && columns.len() == 1 && columns[0].0 == 0 {
                // `| password | … |`: a row that says one value.
                cell(line, &cells[1], at, &columns[0].1, true, spans);
            }
            let plain = cells.iter().all(|range| is_name(&line[range.clone()]));
            if plain {
                head = Some(Head { mark, cells: cells.len(), secret: columns });
                break;
            }
        }
    }
}

/// The cells of a line without the blanks and quotes around them; the marks at both ends of a row of Markdown are none.
fn cells(line: &str, mark: u8) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut from = 0;
    let trimmed = line.trim();
    let (skip_first, skip_last) = (mark == b'|' && trimmed.starts_with('|'), mark == b'|' && trimmed.ends_with('|'));
    let mut quoted = false;
    for (at, b) in line.bytes().chain([mark]).enumerate() {
        quoted ^= b == b'"' && mark != b'|';
        if b == mark && (!quoted || at == line.len()) {
            let cell = &line[from..at];
            let inner = cell.trim().trim_matches(['"', '\'', '`']);
            let start = from + (inner.as_ptr() as usize - cell.as_ptr() as usize);
            out.push(start..start + inner.len());
            from = at + 1;
            if out.len() > MAX_CELLS + 2 {
                return Vec::new();
            }
        }
    }
    if skip_last && out.len() > 1 {
        out.pop();
    }
    if skip_first && !out.is_empty() {
        out.remove(0);
    }
    out
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 32
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '/'))
        && !text.bytes().any(|b| b.is_ascii_digit())
}

fn name(text: &str) -> Option<Named> {
    (is_name(text) && text.split(' ').count() <= 3)
        .then(|| words::named(text))
        .flatten()
        .filter(|named| named.strength == Strength::Strong)
}

fn cell(line: &str, range: &Range<usize>, at: usize, named: &Named, lone: bool, spans: &mut Vec<Span>) {
    let value = &line[range.clone()];
    let ruler = value.bytes().all(|b| b"-:= ".contains(&b));
    // A column of a document describes more often than it tells; what tells has no blanks, and a digit or a sign.
    let told = !value.contains(' ') && value.len() >= 4 && (!lone || opaque::is_mixed(value));
    if ruler || !told || words::named(value).is_some() || reading::is_kept(value, named.strength) {
        return;
    }
    if let Some((part, word)) = pairs::judge_value(value, named, false) {
        let from = at + range.start;
        spans.push(Span::new(from + part.start..from + part.end, By::Container, word));
    }
}
