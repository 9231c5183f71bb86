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
const NAMES: &[&str] = &[
    "pre-shared-key",
    "preshared-key",
    "pre-shared-secret",
    "shared-secret",
    "auth-password",
    "priv-password",
    "authentication-key",
    "message-digest-key",
];
const BETWEEN: &[&str] =
    &["local", "remote", "ascii-text", "hexadecimal", "ascii", "hex", "key", "md5", "sha", "sha1", "sha256", "type"];

/// Methods behind `authentication` and `privacy` of a user of SNMP.
const METHODS: &[&str] =
    &["md5", "sha", "sha1", "sha224", "sha256", "sha384", "sha512", "des", "3des", "aes", "aes128", "aes256"];

/// No line of such a device has more words.
const MAX_WORDS: usize = 24;

/// Finds them.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let mut start = 0;
    let mut server = false;
    for line in text.split('\n') {
        // ` key 7 x` in the block of a server of TACACS or RADIUS.
        if !line.starts_with([' ', '\t']) {
            server = ["tacacs", "radius", "aaa-server"].iter().any(|kind| line.starts_with(kind));
        } else if server && line.trim_start().starts_with("key ") {
            let value = line.rsplit(' ').next().unwrap_or("");
            if value.len() >= 4 && !reading::is_kept(value, Strength::Strong) {
                let end = start + line.len();
                spans.push(Span::new(end - value.len()..end, By::Container, "directive"));
            }
        }
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
    if !(set || named || written || line.contains("community") || line.contains("user")) {
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
            let skip = (at + 1..tokens.len()).take_while(|at| is_between(token(*at))).count();
            push(at + 1 + skip, true);
        }
        // `password cipher x`, `community read cipher x`, `password manager user-name admin plaintext x`.
        if at > 0 && WRITTEN.contains(&word) && (0..at).any(|at| is_secret_word(token(at))) {
            push(at + 1, matches!(word, "cipher" | "irreversible-cipher" | "ascii-text" | "ENC"));
        }
    }
    for at in 1..tokens.len() - 1 {
        let (before, word) = (token(at - 1), token(at));
        // `set snmp community x authorization read-only`, `snmp-agent community write x`, `user u authentication md5 x`.
        let set = token(0) == "set" && at >= 2 && is_secret_word(word);
        let community =
            before == "community" && matches!(word, "read" | "write" | "ro" | "rw" | "read-only" | "read-write");
        let method = matches!(before, "authentication" | "auth" | "privacy" | "priv") && METHODS.contains(&word);
        if set || community || method && line.contains("user") {
            push(at + 1, false);
        }
    }
}

/// What may stand between a name and its value: how it is written, and the number of a key or of an encoding.
fn is_between(word: &str) -> bool {
    BETWEEN.contains(&word) || word.len() <= 3 && word.bytes().all(|b| b.is_ascii_digit())
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
