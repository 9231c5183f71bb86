//! What in a text is secret? Runs every grammar over it and merges what they find; looks through one layer of base64, percent and
//! backslash escapes.
//!
//! Every grammar is linear in the text. What the layers find is mapped back to the text that stands in the record.

use super::memory::{self, Memory, recall};
use super::{
    By, MASK, accounts, calls, command, devices, formats, lines, markup, opaque, pairs, phrases, prompts, tables,
    terms, url,
};
use std::borrow::Cow;
use std::ops::Range;

/// A part of a text that must not be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// Which part.
    pub(super) range: Range<usize>,
    /// What says so.
    pub(super) by: By,
    /// The word or rule.
    pub(super) word: Cow<'static, str>,
}

impl Span {
    pub(super) fn new(range: Range<usize>, by: By, word: impl Into<Cow<'static, str>>) -> Span {
        Span { range, by, word: word.into() }
    }

    /// What stands in its place.
    fn mark(&self) -> Cow<'static, str> {
        match self.by {
            By::Format => format!("[REDACTED:{}]", self.word).into(),
            _ => MASK.into(),
        }
    }
}

/// How many layers of encoding are looked through.
const LAYERS: usize = 3;

/// The secret parts of a text, in order, not overlapping. `opaque` says whether words that merely look random count.
pub(super) fn scan(text: &str, opaque: bool) -> Vec<Span> {
    look(text, opaque, true)
}

/// As [`scan`], for a text that documents something: its sentences name keys and no values.
pub(super) fn scan_documentation(text: &str) -> Vec<Span> {
    look(text, true, false)
}

thread_local! {
    static CLEAN: Memory<()> = Memory::default();
    static CLEAN_NAMES: Memory<()> = Memory::default();
    static CLEAN_DOCUMENTATION: Memory<()> = Memory::default();
}

fn look(text: &str, opaque: bool, told: bool) -> Vec<Span> {
    if text.len() < SHORTEST_UNPLAIN && is_plain(text) {
        return Vec::new();
    }
    let clean = match (opaque, told) {
        (_, false) => &CLEAN_DOCUMENTATION,
        (true, _) => &CLEAN,
        (false, _) => &CLEAN_NAMES,
    };
    if memory::known(clean, text).is_some() {
        return Vec::new();
    }
    let spans = look_afresh(text, opaque, told);
    if spans.is_empty() {
        memory::keep(clean, text, ());
    }
    spans
}

fn look_afresh(text: &str, opaque: bool, told: bool) -> Vec<Span> {
    let mut spans = Vec::new();
    collect(text, 0, &mut spans);
    if text.contains(' ') {
        phrases::sentences(text, told, &mut spans);
    }
    if text.contains('\n') {
        super::outline::find(text, &mut spans);
    }
    if opaque {
        opaque_words(text, &mut spans);
    }
    if spans.is_empty() || super::reading::is_reference(text) {
        return Vec::new();
    }
    merge(text, spans)
}

/// The shortest plain word that a format fits in, or that is looked into as base64 or as random text.
const SHORTEST_UNPLAIN: usize = formats::SHORTEST;

/// Whether a text is one word of letters, digits, `_`, `.` and inner `-` and `/`: no grammar but those of whole words has a say in it.
fn is_plain(text: &str) -> bool {
    !text.starts_with(['-', '/'])
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b'/'))
}

/// Finds the secrets that one way of writing shows.
type Grammar = fn(&str, &mut Vec<Span>);

/// Which ASCII characters a text has. One with others too counts as having all: what those are is not asked here.
#[derive(Clone, Copy, Debug)]
struct Chars(u128);

impl Chars {
    const fn set(bytes: &[u8]) -> Chars {
        let (mut set, mut at) = (0, 0);
        while at < bytes.len() {
            set |= 1 << bytes[at];
            at += 1;
        }
        Chars(set)
    }

    fn of(text: &str) -> Chars {
        let mut set = 0;
        for byte in text.bytes() {
            if byte >= 0x80 {
                return Chars(u128::MAX);
            }
            set |= 1 << byte;
        }
        Chars(set)
    }

    fn any(self, of: Chars) -> bool {
        self.0 & of.0 != 0
    }
}

/// What a text has in it where a grammar finds something. A grammar that is not named here looks for itself.
mod needs {
    use super::Chars;

    const BLANK: u128 = Chars::set(b" \t\n\r\x0b\x0c").0;
    /// `scheme://`, `user:password@host`.
    pub(super) const URL: Chars = Chars::set(b":@");
    /// More than one word, or one in quotes; a flag is looked for beside that.
    pub(super) const COMMAND: Chars = Chars(BLANK | Chars::set(b"()`;|&\"'\\{}$<>*").0);
    /// `a || "b"`, `a or "b"`, `variable "x"`, `call("x")`.
    pub(super) const CALLS: Chars = Chars::set(b" |?\"(");
    /// Two words, fields with colons between, macros.
    pub(super) const LINES: Chars = Chars(BLANK | Chars::set(b":$").0);
    /// Two words, a header, a scheme whose blank is encoded, fields with colons between.
    pub(super) const PHRASES: Chars = Chars(BLANK | Chars::set(b":=%+").0);
    /// `digest:user:…`, `user_joe="…"`.
    pub(super) const ACCOUNTS: Chars = Chars::set(b":=");
    /// An answer is a literal.
    pub(super) const PROMPTS: Chars = Chars::set(b"\"'{");
    /// Words with blanks between.
    pub(super) const DEVICES: Chars = Chars::set(b" ");
    /// A literal in double quotes, columns in parentheses.
    pub(super) const TERMS: Chars = Chars::set(b"\"'(");
    /// What stands between cells.
    pub(super) const TABLES: Chars = Chars::set(b",;\t|");
    /// Percent, backslash and entity escapes.
    pub(super) const ESCAPES: Chars = Chars::set(b"%\\&");
}

fn collect(text: &str, layer: usize, spans: &mut Vec<Span>) {
    gather(text, layer, Chars::of(text), spans);
}

/// Runs the grammars that can find something in a text that `has` these characters.
fn gather(text: &str, layer: usize, has: Chars, spans: &mut Vec<Span>) {
    if text.len() < 4 {
        return;
    }
    let mut found = Vec::new();
    formats::find(text, &mut found);
    spans.extend(found.into_iter().map(|found| Span::new(found.span, By::Format, found.name)));
    if has.any(needs::URL) {
        url::find(text, spans);
    }
    pairs::find(text, spans);
    let flag = text.starts_with('-') || text.starts_with('/') && has.any(Chars::set(b":"));
    if flag || has.any(needs::COMMAND) {
        command::find(text, spans);
    }
    let grammars: [(Chars, Grammar); 8] = [
        (needs::CALLS, calls::find),
        (needs::LINES, lines::find),
        (needs::PHRASES, phrases::find),
        (needs::ACCOUNTS, accounts::find),
        (needs::PROMPTS, prompts::find),
        (needs::DEVICES, devices::find),
        (needs::TERMS, terms::find),
        (needs::TABLES, tables::find),
    ];
    for (needed, find) in grammars {
        if has.any(needed) {
            find(text, spans);
        }
    }
    markup::find(text, spans);
    if layer < LAYERS {
        base64(text, layer, spans);
        if has.any(needs::ESCAPES) {
            escapes(text, layer, spans);
        }
    }
}

/// Sorts, joins what overlaps, and drops what is masked already.
pub(super) fn merge(text: &str, mut spans: Vec<Span>) -> Vec<Span> {
    let public = if text.contains("-----BEGIN ") { formats::public_blocks(text) } else { Vec::new() };
    spans.retain(|span| {
        if public.iter().any(|block| block.start <= span.range.start && span.range.end <= block.end) {
            return false;
        }
        let inside = &text[span.range.clone()];
        !inside.is_empty() && !super::reading::is_masked(inside)
    });
    spans.sort_by(|a, b| {
        (a.range.start, std::cmp::Reverse(a.range.end), a.by).cmp(&(
            b.range.start,
            std::cmp::Reverse(b.range.end),
            b.by,
        ))
    });
    let mut out: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match out.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                let same = span.range == last.range;
                if same && span.by == By::Format && last.by != By::Format {
                    *last = span;
                } else if span.range.end > last.range.end {
                    // What both cover has no one kind.
                    last.range.end = span.range.end;
                    if last.by == By::Format {
                        last.by = By::Container;
                    }
                }
            }
            _ => out.push(span),
        }
    }
    out
}

/// The text without its secret parts.
pub(super) fn redact(text: &str, spans: &[Span]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for span in spans {
        out.push_str(&text[at..span.range.start]);
        out.push_str(&span.mark());
        at = span.range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// A word of base64 is hidden whole when the text that it holds has something secret in it.
fn base64(text: &str, layer: usize, spans: &mut Vec<Span>) {
    for range in words(text, |b| b.is_ascii_alphanumeric() || b"+/_-=".contains(&b)) {
        let word = text[range.clone()].trim_end_matches('=');
        if word.len() < 16 {
            continue;
        }
        // `key=base64`: what stands before the mark is no part of it.
        let start = word.rfind('=').map_or(range.start, |at| range.start + at + 1);
        let word = &text[start..range.start + word.len()];
        let Some(inner) = opaque::decode_hex(word).or_else(|| opaque::decode(word)) else { continue };
        if inner.len() < 10 {
            continue;
        }
        let mut found = Vec::new();
        collect(&inner, layer + 1, &mut found);
        super::outline::find(&inner, &mut found);
        found.retain(|span| !super::reading::is_masked(&inner[span.range.clone()]));
        if let Some(first) = found.into_iter().min_by_key(|span| (span.by, span.range.start)) {
            let by = if first.by == By::Format && first.word == "private-key" { By::Format } else { By::Container };
            let word = if by == By::Format { first.word } else { "base64".into() };
            let end = (start + word_length(&text[start..])).min(text.len());
            spans.push(Span::new(start..end, by, word));
        }
    }
}

fn word_length(text: &str) -> usize {
    text.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"+/_-=".contains(b)).count()
}

/// Percent and backslash escapes are undone, with the place of each character remembered.
fn escapes(text: &str, layer: usize, spans: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let percent = bytes.windows(3).any(|w| w[0] == b'%' && w[1].is_ascii_hexdigit() && w[2].is_ascii_hexdigit());
    if percent {
        through(text, layer, spans, unpercent);
    }
    let backslash = bytes.windows(2).any(|w| w[0] == b'\\' && b"\"'/\\ux".contains(&w[1]));
    if backslash {
        through(text, layer, spans, unbackslash);
    }
    let entity = bytes.windows(4).any(|w| {
        w[0] == b'&'
            && (w[1] == b'#'
                || w[1..].starts_with(b"quo")
                || w[1..].starts_with(b"lt;")
                || w[1..].starts_with(b"gt;")
                || w[1..].starts_with(b"amp"))
    });
    if entity {
        through(text, layer, spans, unentity);
    }
    let wide = !text.is_ascii() && text.contains(['：', '＝']);
    if wide {
        through(text, layer, spans, |text, at| {
            let c = text[at..].chars().next()?;
            let plain = match c {
                '：' => ':',
                '＝' => '=',
                c => c,
            };
            Some((Some(plain), c.len_utf8()))
        });
    }
    let hidden = !text.is_ascii() && text.chars().any(crate::text::is_active);
    if hidden {
        through(text, layer, spans, |text, at| {
            let c = text[at..].chars().next()?;
            Some(if crate::text::is_active(c) && c != '\n' && c != '\t' && c != '\r' {
                (None, c.len_utf8())
            } else {
                (Some(c), c.len_utf8())
            })
        });
    }
}

type Step = (Option<char>, usize);

fn through(text: &str, layer: usize, spans: &mut Vec<Span>, step: impl Fn(&str, usize) -> Option<Step>) {
    let mut inner = String::with_capacity(text.len());
    // The place in `text` of each byte of `inner`, and one past the end.
    let mut places: Vec<usize> = Vec::with_capacity(text.len() + 1);
    let mut at = 0;
    while at < text.len() {
        let Some((c, length)) = step(text, at) else { break };
        if let Some(c) = c {
            inner.push(c);
            places.resize(inner.len(), at);
        }
        at += length.max(1);
    }
    places.push(text.len());
    if inner == text {
        return;
    }
    let mut found = Vec::new();
    collect(&inner, layer.max(LAYERS - 1) + 1, &mut found);
    for span in found {
        if super::reading::is_masked(&inner[span.range.clone()]) {
            continue;
        }
        let (start, end) = (places[span.range.start], places[span.range.end]);
        spans.push(Span { range: start..end.max(start), by: span.by, word: span.word });
    }
}

fn plain(text: &str, at: usize) -> Option<Step> {
    let c = text[at..].chars().next()?;
    Some((Some(c), c.len_utf8()))
}

fn unpercent(text: &str, at: usize) -> Option<Step> {
    let bytes = text.as_bytes();
    // `%2520`: what was escaped twice.
    if text[at..].starts_with("%25")
        && let Some(hex) = text.get(at + 3..at + 5)
        && let Ok(byte) = u8::from_str_radix(hex, 16)
        && (0x20..0x7f).contains(&byte)
    {
        return Some((Some(char::from(byte)), 5));
    }
    if bytes[at] == b'%'
        && let Some(hex) = text.get(at + 1..at + 3)
        && let Ok(byte) = u8::from_str_radix(hex, 16)
        && (0x20..0x7f).contains(&byte)
    {
        return Some((Some(char::from(byte)), 3));
    }
    plain(text, at)
}

fn unbackslash(text: &str, at: usize) -> Option<Step> {
    let bytes = text.as_bytes();
    if bytes[at] != b'\\' {
        return plain(text, at);
    }
    let hex = |from: usize, count: usize| {
        text.get(from..from + count).and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32)
    };
    match bytes.get(at + 1) {
        Some(b'n') => Some((Some('\n'), 2)),
        Some(b't') => Some((Some('\t'), 2)),
        Some(b'r') => Some((Some('\r'), 2)),
        Some(b'u') => hex(at + 2, 4).map_or_else(|| plain(text, at), |c| Some((Some(c), 6))),
        Some(b'x') => hex(at + 2, 2).map_or_else(|| plain(text, at), |c| Some((Some(c), 4))),
        Some(b) if b"\"'/\\ :=&@;,".contains(b) => Some((Some(char::from(*b)), 2)),
        _ => plain(text, at),
    }
}

fn unentity(text: &str, at: usize) -> Option<Step> {
    if text.as_bytes()[at] == b'&' {
        for (name, c) in [
            ("&quot;", '"'),
            ("&lt;", '<'),
            ("&gt;", '>'),
            ("&amp;", '&'),
            ("&apos;", '\''),
            ("&#39;", '\''),
            ("&#34;", '"'),
            ("&#61;", '='),
            ("&#x3d;", '='),
        ] {
            if text[at..].starts_with(name) {
                return Some((Some(c), name.len()));
            }
        }
        let number = text[at..].strip_prefix("&#").and_then(|rest| rest.get(..rest.find(';').filter(|end| *end < 8)?));
        if let Some(number) = number {
            let digits = number.strip_prefix(['x', 'X']);
            let code = digits.map_or_else(|| number.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok());
            if let Some(c) = code.and_then(char::from_u32).filter(|c| !c.is_control()) {
                return Some((Some(c), number.len() + 3));
            }
        }
    }
    plain(text, at)
}

fn opaque_words(text: &str, spans: &mut Vec<Span>) {
    for range in words(text, |b| b.is_ascii_alphanumeric() || b"_-+/=.~".contains(&b)) {
        if range.len() < opaque::SHORTEST {
            continue;
        }
        let word = &text[range.clone()];
        let before = text[..range.start].bytes().next_back();
        // A picture in a data URL.
        let media = before == Some(b',') && {
            let head = &text[super::formats::floor(text, range.start.saturating_sub(64))..range.start];
            head.ends_with(";base64,")
                && ["data:image/", "data:font/", "data:audio/", "data:video/"].iter().any(|kind| head.contains(kind))
        };
        // A part of a URL, a digest or an id is judged by what it is a part of.
        if media
            || before.is_some_and(|b| b":@%#$&?!\\".contains(&b))
            || word.starts_with("//")
            || word.starts_with("-D")
            || word.starts_with('/') && super::reading::is_file_path(word)
            || named_public(&text[..range.start])
            || before == Some(b'|') && text.contains("|1|") && text.contains(" ssh-")
        {
            continue;
        }
        let (start, word) = match word.split_once('=') {
            Some((key, value)) if !value.trim_matches('=').is_empty() => {
                if public_name(key) {
                    continue;
                }
                (range.end - value.len(), value)
            }
            _ => (range.start, word.trim_end_matches('.')),
        };
        if opaque::is_opaque(word) {
            spans.push(Span::new(start..start + word.len(), By::Opaque, "opaque"));
        }
    }
}

/// Whether a public thing's name stands right before: `PublicKey = `, `"commit": "`.
fn named_public(head: &str) -> bool {
    let bare = head.trim_end_matches([' ', '"', '\'', '\t']);
    let Some(head) = bare.strip_suffix(['=', ':']) else { return false };
    let head = head.trim_end_matches([' ', '"', '\'', '\t']);
    let window = &head[super::formats::floor(head, head.len().saturating_sub(64))..];
    let name = window.rsplit(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).next().unwrap_or("");
    let said = window[..window.len() - name.len()].trim_end();
    name.len() > 2 && public_name(name)
        || name.eq_ignore_ascii_case("key") && said.to_ascii_lowercase().ends_with("public")
}

/// Names whose values look random and are public.
pub(super) fn public_name(name: &str) -> bool {
    thread_local! {
        static PUBLIC_NAMES: Memory<bool> = Memory::default();
    }
    recall(&PUBLIC_NAMES, name, || is_public_name(name))
}

fn is_public_name(name: &str) -> bool {
    const PUBLIC: &[&str] = &[
        "digest",
        "checksum",
        "kid",
        "n",
        "x",
        "y",
        "e",
        "fingerprint",
        "thumbprint",
        "integrity",
        "sha",
        "sha1",
        "sha256",
        "sha512",
        "md5",
        "etag",
        "commit",
        "revision",
        "rev",
        "hash",
        "sum",
        "publickey",
        "pubkey",
        "public",
        "certificate",
        "cert",
        "crt",
        "cabundle",
        "cadata",
        "certificateauthoritydata",
        "clientcertificatedata",
        "id",
        "uid",
        "uuid",
        "guid",
        "arn",
        "ami",
        "image",
        "version",
        "build",
        "nonce",
        "x5c",
        "x5t",
        "knownhosts",
        "authorizedkeys",
        "hostkeys",
        "siteverification",
        "verification",
        "clientid",
        "tenantid",
        "appid",
        "projectid",
        "accountid",
        "measurementid",
        "trackingid",
        "sitekey",
        "dkim",
        "spf",
        "dnskey",
        "ds",
        "tlsa",
        "sshfp",
        "svg",
        "icon",
        "logo",
        "data",
        "font",
        "path",
        "d",
        "points",
        "narhash",
        "ksuid",
        "ulid",
        "nanoid",
        "encrypteddata",
        "resolved",
        "url",
        "href",
        "src",
        "file",
        "filename",
        "class",
        "classname",
        "package",
        "module",
        "requires",
        "signature",
    ];
    let words = super::words::split(name);
    let glued = words.concat();
    glued.ends_with("sitekey")
        || PUBLIC.contains(&glued.as_str()) && glued != "data"
        || words.iter().any(|word| {
            matches!(
                word.as_str(),
                "public"
                    | "pub"
                    | "digest"
                    | "checksum"
                    | "fingerprint"
                    | "thumbprint"
                    | "sha256"
                    | "integrity"
                    | "certificate"
                    | "cert"
                    | "crt"
                    | "sha"
                    | "commit"
            )
        })
        || words.last().is_some_and(|last| {
            matches!(
                last.as_str(),
                "id" | "ids"
                    | "hash"
                    | "sum"
                    | "uri"
                    | "url"
                    | "path"
                    | "arn"
                    | "image"
                    | "class"
                    | "sha1"
                    | "md5"
                    | "ca"
                    | "verification"
            )
        })
}

/// The runs of bytes that satisfy `inside`.
pub(super) fn words(text: &str, inside: impl Fn(u8) -> bool) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !inside(bytes[at]) {
            at += 1;
        }
        let start = at;
        while at < bytes.len() && inside(bytes[at]) {
            at += 1;
        }
        (start < at).then_some(start..at)
    })
}

/// Remembers where a byte occurs next, so that asking again from a later place never looks at a byte twice.
#[derive(Debug)]
pub(super) struct Next<'a> {
    bytes: &'a [u8],
    wanted: u8,
    from: usize,
    at: usize,
}

impl<'a> Next<'a> {
    pub(super) fn new(text: &'a str, wanted: u8) -> Next<'a> {
        Next { bytes: text.as_bytes(), wanted, from: usize::MAX, at: 0 }
    }

    /// The first place at or after `from`, or the end of the text.
    pub(super) fn after(&mut self, from: usize) -> usize {
        if self.from == usize::MAX || from < self.from || from > self.at {
            self.at =
                self.bytes[from..].iter().position(|b| *b == self.wanted).map_or(self.bytes.len(), |at| from + at);
            self.from = from;
        }
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the grammars look for, and what stands around it.
    const PARTS: &[&str] = &[
        "password",
        "passwd",
        "token",
        "secret",
        "key",
        "user",
        "login ",
        "connect ",
        "rootpw",
        "mysql",
        "schtasks",
        "curl",
        "sshpass",
        "sudo",
        "echo ",
        "net ",
        "scott/tiger",
        "hunter2",
        "S3cr3t-Passw0rd!",
        "a",
        "B",
        "7",
        "-",
        "-p",
        "-u ",
        "--token ",
        "/p:",
        "/user:",
        "=",
        ":",
        "::",
        "://",
        "@",
        "@db.example.com",
        "@tcp(",
        " ",
        "  ",
        "\n",
        "\t",
        "\r",
        "\"",
        "'",
        "`",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "${",
        "$",
        "#",
        ";",
        ",",
        "|",
        "||",
        "??",
        " or ",
        "&",
        "&&",
        "&quot;",
        "<",
        ">",
        "<key>",
        "</key>",
        "+",
        "%",
        "%20",
        "%3D",
        "\\",
        "\\u003d",
        "\\n",
        "Bearer ",
        "Basic ",
        "Cookie:",
        "set-cookie=",
        "session",
        "WIFI:",
        "P:",
        "$USER5$=",
        "PSK ",
        "by ",
        "identified ",
        "machine ",
        "default ",
        ".",
        "/",
        "_",
        "~",
        "*",
        "!",
        "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
        "x7Kp2Qm9Lr4Tn8Vb3Zc6",
        "cGFzc3dvcmQ9aHVudGVyMg",
        "variable \"",
        "default",
        "é",
        "\u{200b}",
        "вход",
        "mysqli_connect(",
        " / ",
        "= ",
        "WITH",
        "value",
        "to ",
        "changed ",
        "is ",
    ];

    fn text(parts: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = String> {
        proptest::collection::vec(proptest::sample::select(PARTS), parts).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn a_grammar_that_is_left_out_finds_nothing(text in text(1..7)) {
            let (mut some, mut all) = (Vec::new(), Vec::new());
            collect(&text, 0, &mut some);
            gather(&text, 0, Chars(u128::MAX), &mut all);
            prop_assert_eq!(some, all, "{}", text);
        }

        #[test]
        fn nothing_is_found_in_a_short_plain_word(text in "[A-Za-z0-9_./-]{1,13}") {
            if is_plain(&text) {
                prop_assert_eq!(look_afresh(&text, true, true), Vec::new(), "{}", text);
                prop_assert_eq!(look_afresh(&text, false, true), Vec::new(), "{}", text);
                prop_assert_eq!(look_afresh(&text, true, false), Vec::new(), "{}", text);
            }
        }

        #[test]
        fn the_second_look_says_what_the_first_said(text in text(1..6)) {
            for (opaque, told) in [(true, true), (false, true), (true, false)] {
                let first = look_afresh(&text, opaque, told);
                prop_assert_eq!(&look(&text, opaque, told), &first, "{}", &text);
                prop_assert_eq!(&look(&text, opaque, told), &first, "{}", &text);
            }
        }
    }

    #[test]
    fn words_of_the_grammars_alone_are_plain() {
        for part in PARTS.iter().filter(|part| part.len() < SHORTEST_UNPLAIN && is_plain(part)) {
            for other in PARTS {
                let text = format!("{part}{other}");
                if text.len() < SHORTEST_UNPLAIN && is_plain(&text) {
                    assert_eq!(look_afresh(&text, true, true), Vec::new(), "{text}");
                }
            }
        }
    }
}
