//! What is secret among the arguments of a call? Functions that take a password by its place say so with no name beside it:
//! `mysqli_connect("db", "app", "…")`, `HTTPBasicAuth("ci", "…")`.
//!
//! One line of [`CALLS`] a function. An argument with a name (`password="…"`) is a pair: see `pairs`.

use super::By;
use super::reading;
use super::scan::Span;
use super::words::{self, Strength};
use std::ops::Range;

/// The end of a function's name, and which of its arguments is the secret, counted from 0.
const CALLS: &[(&str, usize)] = &[
    ("keyring.set_password", 2),
    ("pymysql.connect", 2),
    ("MySQLdb.connect", 2),
    ("DBI->connect", 2),
    ("hmac.new", 0),
    ("Fernet", 0),
    ("createCipheriv", 1),
    ("createDecipheriv", 1),
    ("password_hash", 0),
    ("changeUserPassword", 1),
    ("signWith", 1),
    ("SymmetricSecurityKey", 0),
    ("mysqli_connect", 2),
    ("mysql_connect", 2),
    ("mysql_pconnect", 2),
    ("mysqli", 2),
    ("PDO", 2),
    ("oci_connect", 1),
    ("odbc_connect", 2),
    ("ftp_login", 2),
    ("imap_open", 2),
    ("ldap_bind", 2),
    ("ssh2_auth_password", 2),
    ("getConnection", 2),
    ("NetworkCredential", 1),
    ("UsernamePasswordCredentials", 1),
    ("UsernamePasswordAuthenticationToken", 1),
    ("PasswordAuthentication", 1),
    ("HTTPBasicAuth", 1),
    ("HTTPDigestAuth", 1),
    ("HTTPProxyAuth", 1),
    ("BasicAuth", 1),
    ("SetBasicAuth", 1),
    ("basicAuth", 1),
    ("basic_auth", 1),
    ("PlainAuth", 2),
    ("PlainCredentials", 1),
    ("BasicAWSCredentials", 1),
    ("AwsBasicCredentials.create", 1),
    ("NewStaticCredentials", 1),
    ("NewStaticCredentialsProvider", 1),
    ("StaticCredentialsProvider", 1),
    ("withCredentials", 1),
    ("setCredentials", 1),
    ("starttls_login", 1),
    (".login", 1),
    (".authenticate", 1),
    (".setToken", 0),
    (".setApiKey", 0),
    (".set_token", 0),
    (".set_password", 0),
    (".setPassword", 0),
    ("PASSWORD", 0),
    ("createCipher", 1),
    ("createHmac", 1),
    ("jwt.sign", 1),
    ("jwt.verify", 1),
    ("jwt.encode", 1),
    ("JWT.encode", 1),
    ("pgp_sym_decrypt", 1),
    ("pgp_sym_encrypt", 1),
    ("AES_DECRYPT", 1),
    ("AES_ENCRYPT", 1),
    ("SqlCredential", 1),
    ("PSCredential", 1),
    ("db.auth", 1),
    ("redis.auth", 0),
    ("red:auth", 0),
    ("client.auth", 0),
    ("crypt", 0),
];

/// Finds them. A parenthesis is looked at once, and its arguments up to a bound.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    fallbacks(text, spans);
    variables(text, spans);
    secure_string(text, spans);
    defaults(text, spans);
    for (open, _) in text.match_indices('(') {
        let head = &text[super::formats::floor(text, open.saturating_sub(48))..open];
        let Some((_, which)) = CALLS.iter().find(|(name, _)| {
            head.ends_with(name)
                && (name.starts_with('.')
                    || !head[..head.len() - name.len()].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
        }) else {
            named(text, head, open, spans);
            continue;
        };
        let area = &text[open + 1..super::formats::floor(text, open + 1 + 1024)];
        let Some(literal) = argument(area, *which) else { continue };
        let value = &area[literal.clone()];
        if !value.is_empty() && !reading::is_kept(value, Strength::Strong) {
            spans.push(Span::new(open + 1 + literal.start..open + 1 + literal.end, By::Container, "argument"));
        }
    }
}

/// Words before the name of a secret in the name of a function that looks it up, or says whether it is right.
const READERS: &[&str] = &[
    "get", "read", "fetch", "load", "find", "lookup", "has", "is", "require", "verify", "validate", "check", "compare",
    "env", "from", "delete", "remove", "revoke", "list", "describe", "test", "use", "show", "match", "expect",
    "assert",
];

/// `.withPassword("…")`, `.secret("…")`: a function that is called by the name of what it is given.
fn named(text: &str, head: &str, open: usize, spans: &mut Vec<Span>) {
    let rest = &text[open + 1..];
    let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) else { return };
    let length = head.bytes().rev().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    let name = &head[head.len() - length..];
    if !(3..=40).contains(&length) {
        return;
    }
    let inside = &rest[1..super::formats::floor(rest, 513)];
    let Some(end) = inside.find(quote) else { return };
    let value = &inside[..end];
    if inside[end + 1..].trim_start().starts_with([')', ';'])
        && words::named(name).is_some_and(|named| {
            named.strength == Strength::Strong
                && !named.many
                && (super::opaque::is_passwordish(value)
                    || super::opaque::is_random(value)
                    || named.word.contains("pass") && words::split(name).len() > 1 && value.len() >= 4)
        })
        && !words::split(name).first().is_some_and(|first| READERS.contains(&first.as_str()))
        && !value.contains([' ', '/', ':', '{', '.'])
        && words::named(value).is_none()
        && !reading::is_kept(value, Strength::Strong)
    {
        spans.push(Span::new(open + 2..open + 2 + end, By::Container, "argument"));
    }
}

/// `ConvertTo-SecureString "…"` of PowerShell, wherever its flags stand.
fn secure_string(text: &str, spans: &mut Vec<Span>) {
    for (at, found) in text.match_indices("ConvertTo-SecureString") {
        let from = at + found.len();
        let area = &text[from..super::formats::floor(text, from + 160)];
        let area = &area[..area.find([')', '\n', '|']).unwrap_or(area.len())];
        let Some(open) = area.find(['"', '\'']) else { continue };
        let quote = area[open..].chars().next().unwrap_or('"');
        let Some(length) = area[open + 1..].find(quote) else { continue };
        let value = &area[open + 1..open + 1 + length];
        if !value.is_empty() && !reading::is_kept(value, Strength::Strong) {
            spans.push(Span::new(from + open + 1..from + open + 1 + length, By::Container, "secure string"));
        }
    }
}

/// `process.env.PASSWORD || 'x'`, `$PW ?? "x"`: the literal that code falls back to where a secret's name has no value.
fn fallbacks(text: &str, spans: &mut Vec<Span>) {
    for mark in ["||", "??", " or "] {
        for (at, _) in text.match_indices(mark) {
            let after = text[at + mark.len()..].trim_start_matches(' ');
            let Some(quote) = after.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) else { continue };
            let inside = &after[1..super::formats::floor(after, 1024)];
            let Some(length) = inside.find(quote) else { continue };
            let head = text[super::formats::floor(text, at.saturating_sub(160))..at]
                .trim_end_matches([' ', ')', ']', '\'', '"']);
            let name = head.rsplit(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).next().unwrap_or("");
            let value = &inside[..length];
            if words::named(name).is_some_and(|named| named.strength == Strength::Strong)
                && !value.is_empty()
                && !reading::is_kept(value, Strength::Strong)
            {
                let start = text.len() - after.len() + 1;
                spans.push(Span::new(start..start + length, By::Container, "fallback"));
            }
        }
    }
}

/// `{{ db_password | default('x') }}`, `{{ default "x" .Values.password }}`: the literal that a template falls back to.
fn defaults(text: &str, spans: &mut Vec<Span>) {
    for (at, word) in text.match_indices("default") {
        let rest = &text[at + word.len()..];
        let inside = rest.trim_start_matches([' ', '(']);
        let Some(quote) = inside.chars().next().filter(|c| matches!(c, '"' | '\'')) else { continue };
        let literal = &inside[1..super::formats::floor(inside, 512)];
        let Some(length) = literal.find(quote) else { continue };
        let value = &literal[..length];
        let head = text[super::formats::floor(text, at.saturating_sub(96))..at].trim_end();
        let name = |text: &str, last: bool| -> bool {
            let mut parts = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|part| !part.is_empty());
            let part = if last { parts.next_back() } else { parts.next() };
            part.and_then(words::named).is_some_and(|named| named.strength == Strength::Strong)
        };
        let piped = head.strip_suffix('|').is_some_and(|head| name(head.trim_end(), true));
        let behind = literal[length + 1..].trim_start();
        let end = behind.find(['}', ' ', ')', '|']).unwrap_or(behind.len());
        let applied = behind.starts_with(['.', '$']) && name(&behind[..end], true);
        if (piped || applied) && !value.is_empty() && !reading::is_kept(value, Strength::Strong) {
            let from = text.len() - literal_start(text, literal);
            spans.push(Span::new(from..from + length, By::Container, "default"));
        }
    }
}

fn literal_start(text: &str, literal: &str) -> usize {
    text.len() - (literal.as_ptr() as usize - text.as_ptr() as usize)
}

/// `variable "db_password" { default = "x" }` of Terraform: the block's name says what its default is.
fn variables(text: &str, spans: &mut Vec<Span>) {
    for (at, found) in text.match_indices("variable \"") {
        let rest = &text[at + found.len()..super::formats::floor(text, at + found.len() + 1024)];
        let Some((name, block)) = rest.split_once('"') else { continue };
        let block = &block[..block.find("\n}").unwrap_or(block.len())];
        let Some(default) = block.find("default").map(|at| &block[at + "default".len()..]) else { continue };
        let Some(literal) = default.trim_start().strip_prefix('=').map(str::trim_start) else { continue };
        let Some(inside) = literal.strip_prefix('"') else { continue };
        let Some(length) = inside.find('"') else { continue };
        let value = &inside[..length];
        if words::named(name).is_some_and(|named| named.strength == Strength::Strong)
            && !value.is_empty()
            && !reading::is_kept(value, Strength::Strong)
        {
            let start = inside.as_ptr() as usize - text.as_ptr() as usize;
            spans.push(Span::new(start..start + length, By::Container, "variable"));
        }
    }
}

/// The inside of the quoted literal that is the argument of this number; `None` when it is no literal.
fn argument(area: &str, which: usize) -> Option<Range<usize>> {
    let (mut at, mut count, mut depth) = (0, 0, 0usize);
    let bytes = area.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'"' | b'\'' | b'`') => {
                let mut end = at + 1;
                while end < bytes.len() && bytes[end] != quote {
                    end += if bytes[end] == b'\\' { 2 } else { 1 };
                }
                if end >= bytes.len() {
                    return None;
                }
                if count == which && depth <= 1 {
                    return Some(at + 1..end);
                }
                at = end;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => return None,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => count += 1,
            b'\n' if count > which => return None,
            _ => {}
        }
        at += 1;
    }
    None
}
