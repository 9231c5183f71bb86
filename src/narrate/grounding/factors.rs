//! Which words say by what factor a value changed, and does one of the diff's pairs of values bear it out?

use super::facts::Facts;
use regex::Regex;
use std::sync::LazyLock;

/// Words that say a factor, in English, German and French. Those that are about something else as often ("double-check",
/// "may double the load") are none: only the finished forms say what the diff says.
const FACTORS: [(&str, f64); 12] = [
    (r"doubles|doubled|twice as|two times as|twofold|verdoppelt|doppelt so|deux fois plus", 2.0),
    (r"triples|tripled|three times as|threefold|verdreifacht|trois fois plus", 3.0),
    (r"quadruples|quadrupled|four times as|fourfold|vervierfacht|vierfache|quatre fois plus", 4.0),
    (r"five times as|fivefold|verfünffacht|cinq fois plus", 5.0),
    (r"six times as|sixfold", 6.0),
    (r"seven times as|sevenfold", 7.0),
    (r"eight times as|eightfold", 8.0),
    (r"nine times as|ninefold", 9.0),
    (r"ten times as|tenfold|verzehnfacht|dix fois plus", 10.0),
    (r"is halved|are halved|was halved|half as|half of what it was|halbiert|deux fois moins", 0.5),
    (r"a third of what it was|a third as", 1.0 / 3.0),
    (r"a quarter of what it was|a quarter as", 0.25),
];

/// The places of the words that no pair of values bears out. Where the diff has no two numbers to compare, nothing is said.
pub(super) fn wrong(statement: &str, facts: &Facts) -> Vec<(usize, usize)> {
    static WORDS: LazyLock<Vec<(Regex, f64)>> = LazyLock::new(|| {
        let pattern =
            |(words, factor): &(&str, f64)| Some((Regex::new(&format!(r"(?i)\b(?:{words})\b")).ok()?, *factor));
        FACTORS.iter().filter_map(pattern).collect()
    });
    let mut out = Vec::new();
    for (pattern, factor) in WORDS.iter() {
        if facts.knows_ratios() && !facts.has_ratio(*factor) {
            out.extend(pattern.find_iter(statement).map(|found| (found.start(), found.end())));
        }
    }
    out
}
