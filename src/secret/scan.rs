//! What in a text is secret? Runs every grammar over it and merges what they find; looks through one layer of base64, percent and
//! backslash escapes.
//!
//! Every grammar is linear in the text. What the layers find is mapped back to the text that stands in the record.

use super::{By, MASK, calls, command, formats, lines, markup, opaque, pairs, phrases, tables, url};
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
const LAYERS: usize = 2;

/// The secret parts of a text, in order, not overlapping. `opaque` says whether words that merely look random count.
pub(super) fn scan(text: &str, opaque: bool) -> Vec<Span> {
    look(text, opaque, true)
}

/// As [`scan`], for a text that documents something: its sentences name keys and no values.
pub(super) fn scan_documentation(text: &str) -> Vec<Span> {
    look(text, true, false)
}

fn look(text: &str, opaque: bool, told: bool) -> Vec<Span> {
    if super::reading::is_reference(text) {
        return Vec::new();
    }
    let mut spans = Vec::new();
    collect(text, 0, &mut spans);
    phrases::sentences(text, told, &mut spans);
    if text.contains('\n') {
        super::outline::find(text, &mut spans);
    }
    if opaque {
        opaque_words(text, &mut spans);
    }
    merge(text, spans)
}

fn collect(text: &str, layer: usize, spans: &mut Vec<Span>) {
    if text.len() < 4 {
        return;
    }
    let mut found = Vec::new();
    formats::find(text, &mut found);
    spans.extend(found.into_iter().map(|found| Span::new(found.span, By::Format, found.name)));
    url::find(text, spans);
    pairs::find(text, spans);
    command::find(text, spans);
    calls::find(text, spans);
    lines::find(text, spans);
    phrases::find(text, spans);
    tables::find(text, spans);
    markup::find(text, spans);
    if layer < LAYERS {
        base64(text, layer, spans);
        escapes(text, layer, spans);
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
        let Some(inner) = opaque::decode(word) else { continue };
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
    }
    plain(text, at)
}

fn opaque_words(text: &str, spans: &mut Vec<Span>) {
    for range in words(text, |b| b.is_ascii_alphanumeric() || b"_-+/=.~".contains(&b)) {
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

/// Names whose values look random and are public.
pub(super) fn public_name(name: &str) -> bool {
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
