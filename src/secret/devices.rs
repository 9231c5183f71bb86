//! What is secret in a line of a router, a switch or a firewall, wherever in the line it stands? Their lines are words from the root of a
//! tree to a value: `ikev2 local-authentication pre-shared-key x`, `local-user joe password cipher x`, `set … ascii-text "x"`.
//!
//! Lines that are told by how they begin are in `lines`.

use super::scan::{Span, words};
use super::words::{self as names, Strength};
use super::{By, opaque, reading};
use std::ops::Range;

/// Words that say how the secret behind them is written, after a word that names a secret.
const WRITTEN: &[&str] = &[
    "cipher",
    "irreversible-cipher",
    "simple",
    "plaintext",
    "plain-text",
    "cleartext",
    "clear-text",
    "ascii-text",
    "hexadecimal",
    "encrypted",
    "hashed",
    "ENC",
    "value",
    "ascii",
    "hex",
];

/// Words that name a secret of devices, and those between it and its value.
const NAMES: &[&str] =
    &["pre-shared-key", "preshared-key", "pre-shared-secret", "shared-secret", "auth-password", "priv-password"];
const BETWEEN: &[&str] = &["local", "remote", "ascii-text", "hexadecimal", "ascii", "hex", "0", "6", "7", "8", "key"];

/// No line of such a device has more words.
const MAX_WORDS: usize = 24;

/// Finds them.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let mut start = 0;
    for line in text.split('\n') {
        let at = start;
        start += line.len() + 1;
        if (12..1024).contains(&line.len()) && line.contains(' ') {
            one_line(line, at, spans);
        }
    }
}

fn one_line(line: &str, start: usize, spans: &mut Vec<Span>) {
    let set = line.trim_start().starts_with("set ");
    let named = NAMES.iter().any(|name| line.contains(name));
    let written = WRITTEN.iter().any(|word| line.contains(word));
    if !(set || named || written) {
        return;
    }
    let tokens: Vec<Range<usize>> = words(line, |b| !b.is_ascii_whitespace()).take(MAX_WORDS + 1).collect();
    if tokens.len() < 3 || tokens.len() > MAX_WORDS {
        return;
    }
    let token = |at: usize| tokens.get(at).map_or("", |range| &line[range.clone()]);
    let mut push = |at: usize, sure: bool| {
        let Some(range) = tokens.get(at) else { return };
        let shown = &line[range.clone()];
        let quoted = shown.starts_with(['"', '\'']);
        let value = shown.trim_matches(['"', '\'', ';', ',']);
        let from = range.start + (value.as_ptr() as usize - shown.as_ptr() as usize);
        if value.len() >= 3
            && !is_word(value)
            && (sure && at + 1 == tokens.len() || quoted || opaque::is_passwordish(value))
            && !reading::is_kept(value, Strength::Strong)
        {
            spans.push(Span::new(start + from..start + from + value.len(), By::Container, "directive"));
        }
    };
    for at in 0..tokens.len() - 1 {
        let word = token(at);
        if NAMES.contains(&word) {
            let skip = (at + 1..tokens.len()).take_while(|at| BETWEEN.contains(&token(*at))).count();
            push(at + 1 + skip, true);
        }
        // `password cipher x`, `community read cipher x`, `password manager user-name admin plaintext x`.
        if at > 0 && WRITTEN.contains(&word) && (0..at).any(|at| is_secret_word(token(at))) {
            push(at + 1, matches!(word, "cipher" | "irreversible-cipher" | "ascii-text" | "ENC"));
        }
    }
    let last = tokens.len() - 1;
    if token(0) == "set" && last >= 3 && is_secret_word(token(last - 1)) {
        push(last, false);
    }
}

/// A word of a line that names a secret, as devices write it: small letters and dashes.
fn is_secret_word(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
        && (matches!(word, "community" | "key" | "authentication-mode")
            || names::named(word).is_some_and(|named| named.strength == Strength::Strong))
}

/// A name and nothing else: what stands behind it is the value.
fn is_word(text: &str) -> bool {
    names::named(text).is_some() && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') || WRITTEN.contains(&text)
}
