//! What does GitHub call this line? The `primaryLocationLineHash` by which code scanning follows an alert.
//!
//! The algorithm is that of github/codeql-action (`src/fingerprints.ts`): over the UTF-16 code units of the file without
//! blanks and tabs, line ends folded to one, a rolling hash with the factor 37, modulo 2^64, of the 100 units that start
//! with the line; in hex, with which of several equal ones it is. An alert upload that says the same raises no warning.

use foldhash::{HashMap, HashMapExt as _};
use std::collections::VecDeque;

/// So many units are hashed, from the start of the line on.
const WINDOW: usize = 100;
const FACTOR: u64 = 37;
/// What stands for the end of the file, and is hashed.
const END: u64 = 65_535;

/// The hashes of those lines of a text that are asked for.
#[derive(Debug)]
pub(super) struct LineHashes<'t> {
    text: &'t str,
    /// By line, from 1: the hash, and which of several equal ones it is.
    known: HashMap<usize, (u64, u32)>,
}

impl<'t> LineHashes<'t> {
    pub(super) fn new(text: &'t str) -> LineHashes<'t> {
        LineHashes { text, known: HashMap::new() }
    }

    /// Makes the hashes of these lines, from 1, in one walk over the text up to the last of them.
    pub(super) fn want(&mut self, lines: impl IntoIterator<Item = usize>) {
        let mut lines: Vec<usize> =
            lines.into_iter().filter(|line| *line > 0 && !self.known.contains_key(line)).collect();
        lines.sort_unstable();
        lines.dedup();
        let Some(last) = lines.last() else { return };
        let hashes = Walk::new(self.text).hashes(*last);
        let at = |line: &usize| hashes.get(line - 1).copied();
        // All lines are hashed, because an equal one may stand before; only equal ones are counted.
        let mut counts: HashMap<u64, u32> = lines.iter().filter_map(at).map(|hash| (hash, 0)).collect();
        let mut next = lines.iter().peekable();
        for (line, hash) in (1..).zip(&hashes) {
            let Some(count) = counts.get_mut(hash) else { continue };
            *count = count.saturating_add(1);
            if next.next_if(|wanted| **wanted == line).is_some() {
                self.known.insert(line, (*hash, *count));
            }
        }
    }

    /// The hash of a line that was [wanted](LineHashes::want); `None` for one that the text does not have.
    pub(super) fn get(&self, line: usize) -> Option<String> {
        self.known.get(&line).map(|(hash, count)| format!("{hash:x}:{count}"))
    }
}

/// A walk over a text that hashes its lines.
///
/// The hash of a window is the difference of two hashes of all that precedes its ends, so one multiplication for each unit
/// does, and nothing is remembered but the lines whose windows are still open.
struct Walk<'t> {
    text: &'t str,
    at: usize,
    after_return: bool,
    /// Units so far, and the hash of them all.
    units: usize,
    sum: u64,
    /// FACTOR to the power of WINDOW.
    gone: u64,
    /// The lines whose windows are open: where they end, and the hash of all that precedes them.
    open: VecDeque<(usize, u64)>,
    /// Where the first of them ends.
    next_end: usize,
    out: Vec<u64>,
}

impl<'t> Walk<'t> {
    fn new(text: &'t str) -> Walk<'t> {
        Walk {
            text,
            at: 0,
            after_return: false,
            units: 0,
            sum: 0,
            gone: (0..WINDOW).fold(1_u64, |product, _| product.wrapping_mul(FACTOR)),
            open: VecDeque::from([(WINDOW, 0)]),
            next_end: WINDOW,
            out: Vec::new(),
        }
    }

    /// The hashes of the first lines, at least so many, or of all.
    fn hashes(mut self, lines: usize) -> Vec<u64> {
        while self.out.len() < lines && self.at <= self.text.len() {
            self.step();
        }
        self.out
    }

    /// Takes in what remains of one line of the text, or its end.
    fn step(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        if rest.is_empty() {
            self.push(END);
            (0..WINDOW).for_each(|_| self.push(0));
            self.at += 1;
            return;
        }
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let line = &self.text[self.at..self.at + end];
        self.at += end;
        if line.is_ascii() {
            self.take(line.bytes().map(u16::from));
        } else {
            self.take(line.encode_utf16());
        }
    }

    fn take(&mut self, units: impl Iterator<Item = u16>) {
        for unit in units {
            let second = self.after_return && unit == u16::from(b'\n');
            self.after_return = unit == u16::from(b'\r');
            match unit {
                0x20 | 0x09 => {}
                0x0a if second => {}
                0x0a | 0x0d => {
                    self.push(u64::from(b'\n'));
                    let end = self.units + WINDOW;
                    self.next_end = self.next_end.min(end);
                    self.open.push_back((end, self.sum));
                }
                unit => self.push(u64::from(unit)),
            }
        }
    }

    fn push(&mut self, unit: u64) {
        self.sum = self.sum.wrapping_mul(FACTOR).wrapping_add(unit);
        self.units += 1;
        if self.units == self.next_end {
            self.close();
        }
    }

    /// The first open window is full.
    #[inline(never)]
    fn close(&mut self) {
        if let Some((_, before)) = self.open.pop_front() {
            let hash = self.sum.wrapping_sub(before.wrapping_mul(self.gone));
            self.out.push(hash);
        }
        self.next_end = self.open.front().map_or(usize::MAX, |(end, _)| *end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_lines(text: &str) -> Vec<String> {
        let mut hashes = LineHashes::new(text);
        hashes.want(0..=text.len() + 1);
        (1..).map_while(|line| hashes.get(line)).collect()
    }

    /// From the definition: each line's hash computed on its own.
    fn slowly(text: &str) -> Vec<u64> {
        let folded = text.replace("\r\n", "\n").replace('\r', "\n");
        let units: Vec<u64> =
            folded.encode_utf16().filter(|u| !matches!(u, 32 | 9)).map(u64::from).chain([END]).collect();
        let mut starts = vec![0];
        starts.extend(units.iter().enumerate().filter(|(_, u)| **u == 10).map(|(at, _)| at + 1));
        let hash = |start: usize| {
            (0..WINDOW)
                .fold(0_u64, |hash, n| hash.wrapping_mul(FACTOR).wrapping_add(*units.get(start + n).unwrap_or(&0)))
        };
        starts.into_iter().map(hash).collect()
    }

    #[test]
    fn rolling_gives_what_the_definition_gives() {
        let long = "key: value with some length 🙂\n".repeat(20);
        for text in ["", "a", "a: 1\nb: 2\n", "a\r\nb\rc\n\n  d\te\n", &long] {
            let hashes = of_lines(text);
            let expected: Vec<String> = slowly(text).iter().map(|hash| format!("{hash:x}")).collect();
            let got: Vec<&str> = hashes.iter().filter_map(|h| h.split_once(':')).map(|(hash, _)| hash).collect();
            assert_eq!(got, expected, "{text:?}");
        }
        assert!(of_lines("a\na\na\n")[0].ends_with(":1"));
    }

    #[test]
    fn any_order_gives_the_same_hashes() {
        let text = "a\nb: 1\n".repeat(200);
        let all = of_lines(&text);
        let mut hashes = LineHashes::new(&text);
        for lines in [vec![300, 7, 7], vec![2], vec![401, 399, 1000]] {
            hashes.want(lines.iter().copied());
            for line in lines {
                assert_eq!(hashes.get(line).as_ref(), all.get(line - 1), "{line}");
            }
        }
    }

    #[test]
    fn equal_lines_are_counted() {
        let text = format!("{}x", "same\n".repeat(300));
        let hashes = of_lines(&text);
        assert_eq!(hashes[0].split(':').next(), hashes[100].split(':').next());
        assert!(hashes[0].ends_with(":1") && hashes[100].ends_with(":101"));
    }
}
