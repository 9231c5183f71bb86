//! What in a URL is secret? The password of its userinfo, a user that is a token, and credentials before an `@` without a scheme
//! (`app:pw@tcp(db:3306)/x`, `scott/tiger@//db:1521/x`). Queries are pairs: see `pairs`.

use super::scan::Span;
use super::{By, opaque, reading};

/// Schemes before a `:` whose text has no password in it.
const NOT_CREDENTIALS: &[&str] = &[
    "mailto",
    "sip",
    "sips",
    "xmpp",
    "acct",
    "npm",
    "docker",
    "im",
    "tel",
    "urn",
    "workspace",
    "patch",
    "file",
    "git",
    "image",
    "pkg",
    "http",
    "https",
    "oci",
    "cid",
    "mid",
];

/// Users that are part of a protocol and secret to nobody.
const PLAIN_USERS: &[&str] = &[
    "git",
    "hg",
    "svn",
    "root",
    "admin",
    "user",
    "anonymous",
    "ubuntu",
    "ec2-user",
    "oauth2",
    "x-access-token",
    "x-token-auth",
    "gitlab-ci-token",
    "token",
    "oauth2accesstoken",
    "_json_key",
    "aws",
];

/// Finds them. Each `://` owns the text up to the next one, so that a byte belongs to one URL.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let mut marks = text.match_indices("://").map(|(at, _)| at).peekable();
    while let Some(mark) = marks.next() {
        let start = mark + 3;
        let limit = marks.peek().copied().unwrap_or(text.len());
        let from = spans.len();
        userinfo(text, start, limit.max(start), spans);
        let scheme = &text[formats_floor(text, mark.saturating_sub(16))..mark];
        let scheme = scheme.rsplit(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).next().unwrap_or("");
        if spans.len() == from {
            by_scheme(text, scheme, start, limit.max(start), spans);
            hooks(text, start, limit.max(start), spans);
        }
    }
    bare(text, spans);
}

/// Schemes of proxies whose user is the password, and of streams whose last name is the key.
fn by_scheme(text: &str, scheme: &str, start: usize, limit: usize, spans: &mut Vec<Span>) {
    const PROXIES: &[&str] =
        &["trojan", "vless", "vmess", "hysteria", "hysteria2", "hy2", "tuic", "anytls", "ssr", "ss"];
    let area = &text[start..limit];
    let area = &area[..url_end(area)];
    if PROXIES.contains(&scheme) {
        if let Some(at) = area.find('@').filter(|at| *at > 0 && !area[..*at].contains('/'))
            && !keep_password(&area[..at])
        {
            spans.push(Span::new(start..start + at, By::Container, "url userinfo"));
        }
        return;
    }
    if matches!(scheme, "rtmp" | "rtmps" | "srt")
        && let Some(slash) = area.rfind('/')
        && area[..slash].contains('/')
    {
        let key = &area[slash + 1..];
        if key.len() >= 10 && (opaque::is_mixed(key) || key.matches('-').count() >= 3) && !keep_password(key) {
            spans.push(Span::new(start + slash + 1..start + area.len(), By::Container, "stream key"));
        }
    }
}

/// Names of hosts and folders behind which a URL of a webhook has its secret.
const HOOKS: &[&str] = &[
    "hook",
    "hooks",
    "webhook",
    "webhooks",
    "incoming",
    "integration",
    "integrations",
    "heartbeat",
    "heartbeats",
    "trigger",
    "catch",
    "ping",
    "callback",
    "ingest",
    "webhookb2",
    "incomingwebhook",
    "postback",
];

/// `https://chat.example.org/hooks/…`: whoever knows the address may post there.
fn hooks(text: &str, start: usize, limit: usize, spans: &mut Vec<Span>) {
    let area = &text[start..limit];
    let area = &area[..url_end(area)];
    let (path, query) = area.split_at(area.find(['?', '#']).unwrap_or(area.len()));
    let Some(slash) = path.find('/') else { return };
    let is_hook = |name: &str| HOOKS.iter().any(|hook| hook.eq_ignore_ascii_case(name));
    let mut told = path[..slash].split(['.', ':']).any(is_hook);
    let mut at = start + slash;
    for part in path[slash..].split('/') {
        let secret = part.len() >= 16
            && (opaque::is_random(part)
                || opaque::is_short_random(part)
                || opaque::is_uuid(part)
                || part.bytes().all(|b| b.is_ascii_alphanumeric())
                    && part.bytes().filter(u8::is_ascii_digit).count() >= 2);
        if told && secret && !reading::is_reference(part) {
            spans.push(Span::new(at..at + part.len(), By::Container, "webhook"));
        }
        told |= is_hook(part);
        at += part.len() + 1;
    }
    if told && let Some(key) = query.find("key=").map(|at| at + 4) {
        let value = query[key..].split('&').next().unwrap_or("");
        if opaque::is_uuid(value) || opaque::is_random(value) {
            let from = start + path.len() + key;
            spans.push(Span::new(from..from + value.len(), By::Container, "webhook"));
        }
    }
}

fn ends_url(c: char) -> bool {
    c.is_whitespace() || "\"'<>`\u{201c}\u{201d}".contains(c)
}

fn userinfo(text: &str, start: usize, limit: usize, spans: &mut Vec<Span>) {
    let area = &text[start..limit];
    // A reference in the place of a password may hold blanks and quotes: `https://u:{{ .pw }}@h`.
    let end = url_end(area);
    let (whole, area) = (area, &area[..end]);
    if !area.contains('@') {
        blank_password(whole, end, start, spans);
        return;
    }
    let Some(at) = last_at(area) else { return };
    let info = &area[..at];
    let colon = info.find(':');
    let (user, password) = colon.map_or((info, None), |colon| (&info[..colon], Some((colon + 1, &info[colon + 1..]))));
    match password {
        Some((_, "x-oauth-basic")) if user.len() >= 8 && !reading::is_reference(user) && !reading::is_masked(user) => {
            spans.push(Span::new(start..start + user.len(), By::Container, "url userinfo"));
        }
        Some((_, "x-oauth-basic")) | Some((_, "")) => token_user(user, start, spans),
        Some((offset, password)) => {
            if password.len() > 4096 || user.len() > 512 {
                spans.push(Span::new(start + offset..start + offset + password.len(), By::Container, "url userinfo"));
                return;
            }
            if user.len() >= 32 {
                token_user(user, start, spans);
            }
            if keep_password(password) {
                return;
            }
            let from = start + offset;
            spans.push(Span::new(from..from + password.len(), By::Container, "url userinfo"));
        }
        None => token_user(user, start, spans),
    }
}

/// `https://app:correct horse@host/`: blanks that nobody escaped, between a colon that no port follows and a host.
fn blank_password(area: &str, end: usize, start: usize, spans: &mut Vec<Span>) {
    let Some(colon) = area[..end].find(':') else { return };
    let user = area[..colon].bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-%".contains(&b));
    let first = &area[colon + 1..end];
    let rest = &area[end..formats_floor(area, end + 64)];
    let rest = &rest[..rest.find(['\n', '"', '\'', '`', '<', '>', '/']).unwrap_or(rest.len())];
    let Some(at) = rest.find('@') else { return };
    let host = &area[end + at + 1..];
    let host = &host[..url_end(host)];
    let port = first.bytes().all(|b| b.is_ascii_digit());
    if user
        && colon > 0
        && !first.is_empty()
        && !port
        && !first.contains(['/', '?', '#', '{', '$', '<'])
        && rest.starts_with(' ')
        && is_host(host)
    {
        spans.push(Span::new(start + colon + 1..start + end + at, By::Container, "url userinfo"));
    }
}

/// Whether what stands in a password's place is a reference or a mask.
fn keep_password(password: &str) -> bool {
    reading::is_masked(password)
        || reading::is_reference(password)
        || password.starts_with('<') && password.ends_with('>')
        || password.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
            && password.contains('_')
            && super::words::named(password).is_some()
        || matches!(password, "PASSWORD" | "PASS" | "PASSWD" | "TOKEN" | "SECRET")
        || password.starts_with("%s") && password.len() <= 3
        || matches!(password, "%v" | "%d" | "{}" | "...")
        || password.starts_with('{')
            && password.ends_with('}')
            && password[1..password.len() - 1].bytes().all(|b| b.is_ascii_alphabetic() || b"_.".contains(&b))
            && super::words::named(&password[1..password.len() - 1]).is_some()
}

fn token_user(user: &str, start: usize, spans: &mut Vec<Span>) {
    let random = opaque::is_random(user)
        || opaque::is_uuid(user)
        || opaque::is_opaque(user)
        || opaque::is_short_random(user)
        || user.len() >= 20 && opaque::is_dense(user);
    if random && !PLAIN_USERS.contains(&user) && !reading::is_reference(user) {
        spans.push(Span::new(start..start + user.len(), By::Container, "url userinfo"));
    }
}

/// Where a URL ends: at a blank, a quote or a bracket, but not inside `{{ … }}`, `${…}` or `<…>`.
fn url_end(area: &str) -> usize {
    let mut depth = 0usize;
    let mut opened = 0;
    for (at, c) in area.char_indices() {
        match c {
            '{' => {
                depth += 1;
                opened = at;
            }
            '}' => depth = depth.saturating_sub(1),
            '\n' => return at,
            c if depth > 0 && at < opened + 200 => {
                let _ = c;
            }
            '<' if area[at..].chars().take(64).any(|c| c == '>') && area[..at].ends_with(':') => {}
            '>' if area[at..].starts_with(">@") => {}
            c if ends_url(c) => return at,
            ',' | ';' | '|' if area[at + 1..].starts_with(|c: char| c.is_whitespace()) => return at,
            _ => {}
        }
    }
    area.len()
}

/// The `@` that ends the userinfo: the last one before a query or a fragment after which a host stands. `/` and `@` may be
/// in a password that nobody escaped; `https://example.org/@scope/x` has no userinfo.
fn last_at(area: &str) -> Option<usize> {
    let path = area.find('/').unwrap_or(area.len());
    let query = area.find(['?', '#']).unwrap_or(area.len());
    let authority = &area[..path.min(query)];
    if authority.contains('@') {
        // The authority has one. A raw slash in the password still may hide a later one: only when a host follows.
        let first = authority.rfind('@')?;
        let later = area
            .rfind('@')
            .filter(|at| *at > first && is_host(&area[at + 1..]) && !is_host_then_path(&area[first + 1..]));
        return Some(later.unwrap_or(first));
    }
    let at = area.rfind('@')?;
    // `user:pa/ss@host`, `user:pa?ss@host`, `user:pa#ss@host`: a colon before the first slash with no port behind it.
    let first = path.min(query);
    let colon = authority.find(':')?;
    let port = &area[colon + 1..first];
    let is_port = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let ipv6 = authority.starts_with('[');
    (!is_port && !ipv6 && is_host(&area[at + 1..])).then_some(at)
}

fn is_host(text: &str) -> bool {
    let length = text.bytes().take_while(|b| b.is_ascii_alphanumeric() || b".-_[]:{}$()".contains(b)).count();
    length > 0 && (text.len() == length || text[length..].starts_with(['/', '?', '#', ',', ';']))
}

/// `host/…`: what follows the first `@` is complete, so a later one belongs to the path.
fn is_host_then_path(text: &str) -> bool {
    let length = text.bytes().take_while(|b| b.is_ascii_alphanumeric() || b".-_[]:{}$(),".contains(b)).count();
    length > 0 && (length == text.len() || text[length..].starts_with(['/', '?', '#']))
}

/// `ORCLPDB1`: what Oracle's tnsnames.ora calls a database. A branch or a tag of an `owner/repository` is none.
fn is_alias(name: &str) -> bool {
    const REVISIONS: &[&str] = &[
        "HEAD", "MAIN", "MASTER", "LATEST", "TRUNK", "RELEASE", "STABLE", "DEVELOP", "TAG", "REL", "ALL", "SHA1",
        "SHA256", "SHA512",
    ];
    name.len() >= 2
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b"_.".contains(&b))
        && !(name.starts_with('V') && name[1..].starts_with(|c: char| c.is_ascii_digit()))
        && !name.split(['_', '.']).any(|part| REVISIONS.contains(&part))
}

/// What a database's name in capitals has in it.
const ALIASES: &[&str] = &["ORCL", "DB", "XE", "TNS", "PROD", "SID"];

/// What stands behind the last slash, blank or quote.
fn last_part(text: &str) -> &str {
    let window = &text[formats_floor(text, text.len().saturating_sub(128))..];
    window.rsplit(|c: char| c.is_whitespace() || "/\"'`".contains(c)).next().unwrap_or("")
}

fn ends_word(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || "\"'`,;)".contains(c))
}

/// `user:password@host` and `user/password@host` without a scheme.
fn bare(text: &str, spans: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let mut last_end = 0;
    for (at, _) in text.match_indices('@') {
        if at < last_end {
            continue;
        }
        let after = &text[at + 1..formats_floor(text, at + 1 + 96)];
        let dsn = ["tcp(", "unix(", "tcp6(", "cloudsql(", "udp("].iter().any(|protocol| after.starts_with(protocol))
            || after.starts_with("(") && after.contains("):") && !after.starts_with("(DESC");
        let oracle = after.starts_with("//") && after.len() > 3
            || after.get(..12).is_some_and(|start| start.eq_ignore_ascii_case("(description"));
        let host = after.bytes().take_while(|b| b.is_ascii_alphanumeric() || b".-_".contains(b)).count();
        let name = &after[..host];
        let rest = &after[host..];
        let port = rest.strip_prefix(':').map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
        let tld = name.rsplit_once('.').is_some_and(|(stem, tld)| {
            !stem.is_empty()
                && tld.len() >= 2
                && (tld.bytes().all(|b| b.is_ascii_alphabetic())
                    || stem.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
        });
        let hostlike = host > 0
            && (port > 0 && !name.starts_with("sha") || tld || name == "localhost")
            && !name.starts_with(|c: char| c.is_ascii_digit() && !tld && port == 0);
        let alias = !(dsn || oracle || hostlike)
            && is_alias(name)
            && ends_word(rest)
            && (ALIASES.iter().any(|part| name.contains(part)) || opaque::is_mixed(last_part(&text[..at])));
        let oracle = oracle || alias;
        // `svc:…@db01/app`, `svc:…@[::1]:5432`: a host of one word is one only behind what no word looks like.
        let short = !(dsn || oracle || hostlike)
            && (host > 0 && name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.starts_with("sha")
                || after.starts_with('['))
            && (ends_word(rest) || rest.starts_with('/') || after.starts_with('['))
            || after.starts_with('/')
                && !after.starts_with("//")
                && !text.contains([' ', '\n'])
                && opaque::is_passwordish(text[..at].rsplit(':').next().unwrap_or(""));
        let short = short && opaque::is_passwordish(text[..at].rsplit(':').next().unwrap_or(""));
        if !(dsn || oracle || hostlike || short) {
            continue;
        }
        // Back to where the credentials begin; a DSN's password may hold anything but blanks and quotes.
        let mut begin = at;
        let floor = last_end.max(at.saturating_sub(256));
        while begin > floor
            && !(bytes[begin - 1].is_ascii_whitespace()
                || b"\"'<>`(,=".contains(&bytes[begin - 1]) && !dsn
                || b"\"'`\n".contains(&bytes[begin - 1]))
        {
            begin -= 1;
        }
        while !text.is_char_boundary(begin) {
            begin += 1;
        }
        if text[begin..at].starts_with("//") && !text[..begin].ends_with(':') {
            begin += 2;
        }
        let mut info = &text[begin..at];
        if info.contains("://") {
            last_end = at;
            continue;
        }
        if dsn
            && let Some(eq) = info.find('=')
            && info.find(':').is_none_or(|colon| eq < colon)
        {
            begin += eq + 1;
            info = &text[begin..at];
        }
        if let Some(thin) = info.rfind("thin:").or_else(|| info.rfind("oci:")) {
            let skip = thin + info[thin..].find(':').map_or(0, |colon| colon + 1);
            begin += skip;
            info = &text[begin..at];
        }
        let mark = if oracle {
            info.find('/').or_else(|| if alias { None } else { info.find(':') })
        } else {
            info.find(':').or_else(|| if port > 0 { info.find('/') } else { None })
        };
        let Some(mark) = mark else { continue };
        let (user, password) = (&info[..mark], &info[mark + 1..]);
        let user_fine = !user.is_empty()
            && user.len() <= 64
            && user.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-$#".contains(&b));
        // `corp/joe:…@dc`: a domain before the user.
        let user_fine = user_fine
            || short
                && user.split_once('/').is_some_and(|(domain, user)| {
                    !domain.is_empty()
                        && !user.is_empty()
                        && user.bytes().chain(domain.bytes()).all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
                });
        if !user_fine
            || NOT_CREDENTIALS.contains(&user)
            || password.is_empty()
            || keep_password(password)
            || password.contains(['/']) && (!oracle || alias) && !dsn
            || password.bytes().all(|b| b.is_ascii_digit()) && !dsn && !oracle && port == 0
        {
            continue;
        }
        spans.push(Span::new(begin + mark + 1..at, By::Container, "credentials"));
        last_end = at + 1;
    }
}

use super::formats::floor as formats_floor;
