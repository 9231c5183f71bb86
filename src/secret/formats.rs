//! Which tokens say themselves what they are? The published formats of `formats.txt`, one line each, and how they are found.
//!
//! A new provider is one line in that file; the tests make an example from the line itself and hide it alone, in a
//! sentence, in a shell command and in a path. Nothing is compiled before a text holds one of a format's keywords: one
//! Aho-Corasick pass decides that for all of them, and an expression then runs over the text once. Boundaries are tested
//! here and not in the expressions, against the token's own alphabet: a list of allowed terminators always lacks one.

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::{Regex, RegexBuilder};
use std::ops::Range;
use std::sync::OnceLock;

/// The table. Its head says what the columns are.
const TABLE: &str = include_str!("formats.txt");

/// Where a format may begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    /// Anywhere: its prefix is like nothing else.
    Free,
    /// Not right after a letter or digit.
    Word,
    /// Only as a whole run of token characters: it has no prefix, or one that is too short.
    Token,
}

/// One line of the table.
#[derive(Debug)]
pub(super) struct Format {
    /// What a redaction says.
    pub(super) name: &'static str,
    edge: Edge,
    expression: &'static str,
    /// How a test makes one.
    #[cfg(test)]
    pub(super) example: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Format {
    /// `None` for a line that does not compile, which a test rules out.
    fn regex(&self) -> Option<&Regex> {
        self.compiled
            .get_or_init(|| {
                let anchored = match self.edge {
                    Edge::Token => format!("^(?:{})$", self.expression),
                    Edge::Free | Edge::Word => self.expression.to_string(),
                };
                // ASCII classes are faster, but what is not in one (`[^"]`) could then be half a character.
                let build = |unicode| RegexBuilder::new(&anchored).unicode(unicode).size_limit(4 << 20).build().ok();
                build(false).or_else(|| build(true))
            })
            .as_ref()
    }
}

struct Table {
    formats: Vec<Format>,
    keywords: AhoCorasick,
    /// The format that each keyword belongs to.
    owners: Vec<usize>,
    /// Formats of [`Edge::Token`].
    whole: Vec<usize>,
    /// Those of them without a keyword.
    bare: Vec<usize>,
}

fn table() -> Option<&'static Table> {
    static TABLE_ONCE: OnceLock<Option<Table>> = OnceLock::new();
    TABLE_ONCE.get_or_init(read_table).as_ref()
}

fn read_table() -> Option<Table> {
    let (mut formats, mut words, mut owners, mut bare) = (Vec::<Format>::new(), Vec::new(), Vec::new(), Vec::new());
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.split(' ');
        let (name, edge, keywords) = (columns.next()?, columns.next()?, columns.next()?);
        let expression = columns.next()?;
        #[cfg(test)]
        let example = columns.next()?;
        let edge = match edge {
            "." => Edge::Free,
            "w" => Edge::Word,
            _ => Edge::Token,
        };
        if keywords == "-" {
            bare.push(formats.len());
        } else {
            for word in keywords.split(',') {
                words.push(word);
                owners.push(formats.len());
            }
        }
        formats.push(Format {
            name,
            edge,
            expression,
            #[cfg(test)]
            example,
            compiled: OnceLock::new(),
        });
    }
    let keywords = AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(&words).ok()?;
    let whole = (0..formats.len()).filter(|at| formats[*at].edge == Edge::Token).collect();
    Some(Table { formats, keywords, owners, whole, bare })
}

/// A token of a known format in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// What is secret of it.
    pub(super) span: Range<usize>,
    /// The format's name.
    pub(super) name: &'static str,
}

/// The shortest text that any format fits in.
pub(super) const SHORTEST: usize = 14;

/// Runs of token characters at least this long are tried against the formats that have no keyword.
const BARE_TOKEN: usize = 36;

/// Every token of a known format in `text`, and every private key; possibly overlapping, in no order.
pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    if text.len() < SHORTEST {
        return;
    }
    private_keys(text, found);
    let Some(table) = table() else { return };
    // Those of which a keyword is there, in the order of the table.
    let mut seen: Vec<usize> = Vec::new();
    for hit in table.keywords.find_overlapping_iter(text) {
        let owner = table.owners[hit.pattern().as_usize()];
        if let Err(at) = seen.binary_search(&owner) {
            seen.insert(at, owner);
        }
    }
    let mut any_token = false;
    for format in seen.iter().map(|at| &table.formats[*at]) {
        if format.edge == Edge::Token {
            any_token = true;
        } else {
            occurrences(text, format, found);
        }
    }
    if !any_token && text.len() < BARE_TOKEN {
        return;
    }
    for token in tokens(text) {
        let word = &text[token.clone()];
        if word.len() > MAX_TOKEN || !any_token && word.len() < BARE_TOKEN {
            continue;
        }
        let wanted =
            |at: usize| seen.binary_search(&at).is_ok() || word.len() >= BARE_TOKEN && table.bare.contains(&at);
        let fits = |at: &&usize| wanted(**at) && table.formats[**at].regex().is_some_and(|regex| regex.is_match(word));
        if let Some(at) = table.whole.iter().find(fits) {
            found.push(Found { span: token.clone(), name: table.formats[*at].name });
        }
    }
}

/// No format of [`Edge::Token`] is longer.
const MAX_TOKEN: usize = 256;

/// The runs of characters that tokens without a prefix are made of, short ones left out. A run ends before punctuation that ends a
/// sentence.
fn tokens(text: &str) -> impl Iterator<Item = Range<usize>> {
    let inside = |b: u8| b.is_ascii_alphanumeric() || b"_-.~:/+=|*".contains(&b);
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            if !inside(bytes[at]) {
                at += 1;
                continue;
            }
            let mut start = at;
            while at < bytes.len() && inside(bytes[at]) {
                at += 1;
            }
            let mut end = at;
            while end > start && b".:-".contains(&bytes[end - 1]) {
                end -= 1;
            }
            while start < end && b".:-=/".contains(&bytes[start]) {
                start += 1;
            }
            if end - start >= SHORTEST {
                return Some(start..end);
            }
        }
        None
    })
    .flat_map(move |run| {
        // `KEY=token` and `user:token` are runs too: what stands after the mark is tried as well.
        let word = &text[run.clone()];
        let cuts = word.bytes().enumerate().take(MAX_TOKEN).filter(|(_, b)| b"=:/".contains(b)).map(|(at, _)| at + 1);
        let mut after: Vec<Range<usize>> = cuts.take(4).map(|cut| run.start + cut..run.end).collect();
        // The letter of an escape is no part of the token behind it: `\\n` and the token.
        if run.start > 0 && text.as_bytes()[run.start - 1] == b'\\' {
            after.push(run.start + 1..run.end);
        }
        std::iter::once(run).chain(after)
    })
}

fn occurrences(text: &str, format: &Format, found: &mut Vec<Found>) {
    let Some(regex) = format.regex() else { return };
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(groups) = if from <= text.len() { regex.captures_at(text, from) } else { None } {
        let (Some(whole), inner) = (groups.get(0), groups.get(1)) else { return };
        if format.edge == Edge::Word && !begins(bytes, whole.start()) {
            // Every expression is bounded, so trying again from the next character stays linear.
            from = whole.start() + 1;
            continue;
        }
        let span = inner.unwrap_or(whole);
        let mut end = span.end();
        // A longer token than was published is hidden to its end; `%` and `.` end sentences and escapes too often.
        if end == whole.end() {
            while end < bytes.len() && (bytes[end].is_ascii_alphanumeric() || b"_-+/=".contains(&bytes[end])) {
                end += 1;
            }
            while end > span.end() && b"-/_".contains(&bytes[end - 1]) {
                end -= 1;
            }
        }
        found.push(Found { span: span.start()..end, name: format.name });
        from = end.max(from + 1);
    }
}

/// How much of the text before a `+` or `/` must look like base64 for it to be one.
const BASE64_RUN: usize = 24;

/// Whether a token may begin here: not inside a word, unless what precedes is the end of an escape (`\n`, `%3D`, `\u003d`).
fn begins(bytes: &[u8], at: usize) -> bool {
    let before = |n: usize| if at >= n { bytes[at - n] } else { b' ' };
    if !before(1).is_ascii_alphanumeric() {
        // Inside of a longer word of base64 `+` and `/` are letters.
        let run = b"+/".contains(&before(1)) && at >= BASE64_RUN;
        return !run || !std::str::from_utf8(&bytes[at - BASE64_RUN..at]).is_ok_and(super::opaque::is_dense);
    }
    before(2) == b'\\' && b"nrtbf".contains(&before(1))
        || before(3) == b'%' && before(2).is_ascii_hexdigit() && before(1).is_ascii_hexdigit()
        || before(6) == b'\\' && before(5) == b'u'
        || before(4) == b'\\' && before(3) == b'x'
}

const BEGIN: &str = "-----BEGIN ";

/// PEM and PuTTY private keys, also truncated ones, with real line breaks or escaped ones: the body is hidden, the BEGIN
/// line says what was there. Each byte is looked at a bounded number of times.
fn private_keys(text: &str, found: &mut Vec<Found>) {
    if !text.contains([' ', ':']) {
        return;
    }
    let mut from = 0;
    while let Some(at) = text[from..].find(BEGIN) {
        let label_start = from + at + BEGIN.len();
        from = label_start;
        let label_area = &text[label_start..floor(text, label_start + 80)];
        let Some(label_end) = label_area.find("-----") else { continue };
        let label = &label_area[..label_end];
        if !(label.contains("PRIVATE KEY") || label.contains("SECRET KEY")) {
            continue;
        }
        let body = label_start + label_end + 5;
        let end = text[body..].find("-----").map_or_else(|| body + pem_length(&text[body..]), |end| body + end);
        let end = if text[end..].starts_with("-----END") || text[end..].starts_with(BEGIN) {
            end
        } else {
            (body + pem_length(&text[body..])).min(end.max(body))
        };
        if text[body..end].bytes().any(|b| b.is_ascii_alphanumeric()) {
            found.push(Found { span: body..end, name: "private-key" });
        }
        from = end.max(from);
    }
    if let Some(at) = text.find("Private-Lines:") {
        let body = at + "Private-Lines:".len();
        let end = text[body..].find("Private-MAC").map_or(text.len(), |end| body + end);
        found.push(Found { span: body..end, name: "private-key" });
    }
    // A secret key of signify or minisign is one base64 line under a comment.
    if let Some(at) = text.find("secret key") {
        let rest = at + "secret key".len();
        if text[..at].contains("untrusted comment:")
            && let Some(newline) = text[rest..].find('\n')
        {
            let start = rest + newline + 1;
            let end = text[start..].find('\n').map_or(text.len(), |end| start + end);
            found.push(Found { span: start..end, name: "private-key" });
        }
    }
}

/// The bodies of public PEM blocks: certificates, requests, public keys. Nothing in them is a token; that a body is one is seen by
/// its base64 that begins as DER or OpenPGP does.
pub(super) fn public_blocks(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(BEGIN) {
        let label_start = from + at + BEGIN.len();
        from = label_start;
        let area = &text[label_start..floor(text, label_start + 80)];
        let Some(label_end) = area.find("-----") else { continue };
        let label = &area[..label_end];
        let public = [
            "CERTIFICATE",
            "PUBLIC KEY",
            "CRL",
            "PKCS7",
            "PARAMETERS",
            "CSR",
            "AGE ENCRYPTED",
            "PGP MESSAGE",
            "SIGNATURE",
            "CMS",
        ]
        .iter()
        .any(|word| label.contains(word))
            && !label.contains("PRIVATE");
        if !public {
            continue;
        }
        let body = label_start + label_end + 5;
        let end = text[body..].find("-----").map_or(text.len(), |end| body + end);
        let inside = &text[body..end];
        let first = inside.trim_start_matches(|c: char| c.is_whitespace() || c == '\\' || c == 'n');
        let base64 = inside.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=\n\r\t \\".contains(&b));
        if base64
            && [
                "MI",
                "MF",
                "MC",
                "MD",
                "MH",
                "ME",
                "mQ",
                "mD",
                "xs",
                "xj",
                "BA",
                "YWdlLWVuY3J5cHRpb24",
                "hQ",
                "wc",
                "wV",
                "iQ",
                "iH",
                "U1NIU0lH",
            ]
            .iter()
            .any(|start| first.starts_with(start))
        {
            out.push(body..end);
        }
        from = end;
    }
    out
}

/// How far a PEM body without an end reaches: base64, blanks, escapes of line breaks, and headers such as `Proc-Type: 4`.
fn pem_length(text: &str) -> usize {
    let end = text
        .bytes()
        .position(|b| !(b.is_ascii_alphanumeric() || b"+/=\n\r\t \\,:-.".contains(&b)))
        .unwrap_or(text.len());
    floor(text, end)
}

/// The last character boundary at or before `at`.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes one from the example column. Deterministic: the caller's seed decides.
    pub(super) fn example(template: &str, seed: &mut u64) -> String {
        let mut next = |n: usize| {
            *seed ^= *seed << 13;
            *seed ^= *seed >> 7;
            *seed ^= *seed << 17;
            (*seed % n as u64) as usize
        };
        let mut out = String::new();
        let mut rest = template;
        while let Some(open) = rest.find('{') {
            out.push_str(&rest[..open]);
            rest = &rest[open..];
            let close = rest.find('}').expect("a closed brace");
            let spec = &rest[1..close];
            let set: &[u8] = match spec.as_bytes()[0] {
                b'A' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                b'a' => b"abcdefghijklmnopqrstuvwxyz0123456789",
                b'U' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
                b'h' => b"0123456789abcdef",
                b'H' => b"0123456789ABCDEF",
                b'd' => b"0123456789",
                b'b' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
                b'L' => b"abcdefghijklmnopqrstuvwxyz",
                b'8' => b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789",
                _ => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
            };
            match spec[1..].parse::<usize>() {
                Ok(count) => {
                    for at in 0..count {
                        let mut c = set[next(set.len())];
                        if (at == 0 || at + 1 == count) && !c.is_ascii_alphanumeric() {
                            c = b'7';
                        }
                        out.push(char::from(c));
                    }
                }
                Err(_) if spec == "uuid" => {
                    for (at, count) in [8, 4, 4, 4, 12].into_iter().enumerate() {
                        if at > 0 {
                            out.push('-');
                        }
                        for _ in 0..count {
                            out.push(char::from(b"0123456789abcdef"[next(16)]));
                        }
                    }
                }
                Err(_) => out.push_str(&rest[..=close]),
            }
            rest = &rest[close + 1..];
        }
        out.push_str(rest);
        out.replace('&', " ")
    }

    #[test]
    fn every_line_compiles_and_finds_its_own_example_wherever_it_stands() {
        let table = table().expect("a table");
        assert!(table.formats.len() > 250);
        let mut seed = 0x9e37_79b9_7f4a_7c15;
        for format in &table.formats {
            assert!(format.regex().is_some(), "{}", format.expression);
            for round in 0..4 {
                let token = example(format.example, &mut seed);
                for text in [
                    token.clone(),
                    format!("use {token} for the nightly sync"),
                    format!("rotated to {token}."),
                    format!("curl -H \"X-Auth: {token}\" https://api.example.org/"),
                    format!("X={token}\nB=2"),
                    format!("({token})<br>"),
                    format!("a\\n{token}\\nb"),
                ] {
                    let mut found = Vec::new();
                    find(&text, &mut found);
                    let at = text.find(&token).expect("the token");
                    let common = |f: &Found| f.span.end.min(at + token.len()).saturating_sub(f.span.start.max(at));
                    assert!(
                        found.iter().any(|f| common(f) >= 8),
                        "{} round {round}: {} survives in {text}",
                        format.name,
                        format.expression
                    );
                }
            }
        }
    }

    #[test]
    fn private_keys_are_found_whole_truncated_and_escaped() {
        let dashes = "-".repeat(5);
        for kind in ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
            for text in [
                format!("{dashes}BEGIN {kind}{dashes}\nMIIabc\nQQ==\n{dashes}END {kind}{dashes}\n"),
                format!("k: |\n  {dashes}BEGIN {kind}{dashes}\n  MIIabc\n"),
                format!("{dashes}BEGIN {kind}{dashes}\\nMIIabc\\n{dashes}END {kind}{dashes}\\n"),
            ] {
                let mut found = Vec::new();
                find(&text, &mut found);
                assert!(found.iter().any(|f| text[f.span.clone()].contains("MIIabc")), "{text}");
            }
        }
        let mut found = Vec::new();
        find(&format!("{dashes}BEGIN PUBLIC KEY{dashes}\nMIIabc\n{dashes}END PUBLIC KEY{dashes}"), &mut found);
        assert_eq!(found, []);
    }
}
