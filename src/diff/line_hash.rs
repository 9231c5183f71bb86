//! What does GitHub call this line? The `primaryLocationLineHash` by which code scanning follows an alert.
//!
//! The algorithm is that of github/codeql-action (`src/fingerprints.ts`): over the UTF-16 code units of the file without
//! blanks and tabs, line ends folded to one, a rolling hash with the factor 37, modulo 2^64, of the 100 units that start
//! with the line; in hex, with which of several equal ones it is. An alert upload that says the same raises no warning.

use std::collections::HashMap;

const WINDOW: usize = 100;
const FACTOR: u64 = 37;
/// What stands for the end of the file, and is hashed.
const END: u64 = 65_535;

/// The hashes of the lines of a text, made as far as they are asked for.
#[derive(Debug)]
pub(super) struct LineHashes<'t> {
    units: std::str::EncodeUtf16<'t>,
    after_return: bool,
    done: bool,
    roller: Roller,
}

impl<'t> LineHashes<'t> {
    pub(super) fn new(text: &'t str) -> LineHashes<'t> {
        let roller = Roller {
            window: [0; WINDOW],
            starts: [false; WINDOW],
            at: 0,
            hash: 0,
            gone: (0..WINDOW).fold(1_u64, |product, _| product.wrapping_mul(FACTOR)),
            counts: HashMap::new(),
            out: Vec::new(),
            line_start: true,
        };
        LineHashes { units: text.encode_utf16(), after_return: false, done: false, roller }
    }

    /// The hash of a line, from 1.
    pub(super) fn get(&mut self, line: usize) -> Option<&str> {
        while self.roller.out.len() < line && !self.done {
            self.step();
        }
        self.roller.out.get(line.checked_sub(1)?).map(String::as_str)
    }

    fn step(&mut self) {
        let Some(unit) = self.units.next() else {
            self.roller.push(END);
            for _ in 0..WINDOW {
                self.roller.emit();
                self.roller.shift(0);
            }
            self.done = true;
            return;
        };
        let unit = u64::from(unit);
        let blank = unit == u64::from(b' ') || unit == u64::from(b'\t');
        let second = self.after_return && unit == u64::from(b'\n');
        self.after_return = !blank && !second && unit == u64::from(b'\r');
        if !blank && !second {
            self.roller.push(if self.after_return { u64::from(b'\n') } else { unit });
        }
    }
}

#[derive(Debug)]
struct Roller {
    window: [u64; WINDOW],
    starts: [bool; WINDOW],
    at: usize,
    hash: u64,
    gone: u64,
    counts: HashMap<u64, usize>,
    out: Vec<String>,
    line_start: bool,
}

impl Roller {
    fn push(&mut self, unit: u64) {
        self.emit();
        if self.line_start {
            self.starts[self.at] = true;
        }
        self.line_start = unit == u64::from(b'\n');
        self.shift(unit);
    }

    /// The line that starts where the window does has all its units now.
    fn emit(&mut self) {
        if std::mem::take(&mut self.starts[self.at]) {
            let count = self.counts.entry(self.hash).and_modify(|n| *n += 1).or_insert(1);
            self.out.push(format!("{:x}:{count}", self.hash));
        }
    }

    fn shift(&mut self, unit: u64) {
        let first = std::mem::replace(&mut self.window[self.at], unit);
        self.hash = self.hash.wrapping_mul(FACTOR).wrapping_add(unit).wrapping_sub(self.gone.wrapping_mul(first));
        self.at = (self.at + 1) % WINDOW;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_lines(text: &str) -> Vec<String> {
        let mut hashes = LineHashes::new(text);
        (1..).map_while(|line| hashes.get(line).map(str::to_string)).collect()
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
    fn equal_lines_are_counted() {
        let text = format!("{}x", "same\n".repeat(300));
        let hashes = of_lines(&text);
        assert_eq!(hashes[0].split(':').next(), hashes[100].split(':').next());
        assert!(hashes[0].ends_with(":1") && hashes[100].ends_with(":101"));
    }
}
