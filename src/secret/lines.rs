//! What is secret in a line of a product's own configuration, by the words that it begins with? SNMP, Redis, HAProxy, IPsec, RANCID,
//! routers: each line is words with blanks between, and the product's manual says which word is the secret.
//!
//! One line of [`LINES`] a product's habit. What is a pair (`name = value`) is not here: see `pairs`.

use super::By;
use super::reading;
use super::scan::{Span, words};
use super::words::Strength;
use std::ops::Range;

/// Where in the words after the beginning the secret is.
#[derive(Clone, Copy, Debug)]
enum At {
    /// That word, counted from 0.
    Word(usize),
    /// What is behind the first colon of that word.
    AfterColon(usize),
    /// Every word in braces.
    Braces,
    /// The one word behind, where it is no word of a language.
    Alone,
    /// The last word of the line.
    Last,
    /// Every word that is no variable.
    Literals,
    /// Every word that begins with `>` or `<`, and digests behind `#` or `!`: an ACL of Redis.
    Acl,
}

/// The words that begin a line (`*` is any), where the secret is, and whose line it is.
const LINES: &[(&[&str], At, &str)] = &[
    (&["rocommunity"], At::Word(0), "net-snmp"),
    (&["rwcommunity"], At::Word(0), "net-snmp"),
    (&["rocommunity6"], At::Word(0), "net-snmp"),
    (&["rwcommunity6"], At::Word(0), "net-snmp"),
    (&["trapcommunity"], At::Word(0), "net-snmp"),
    (&["trap2sink", "*"], At::Word(0), "net-snmp"),
    (&["trapsink", "*"], At::Word(0), "net-snmp"),
    (&["com2sec", "*", "*"], At::Word(0), "net-snmp"),
    (&["createUser", "*", "*"], At::Word(0), "net-snmp: authentication"),
    (&["createUser", "*", "*", "*", "*"], At::Word(0), "net-snmp: privacy"),
    (&["sentinel", "auth-pass", "*"], At::Word(0), "redis sentinel"),
    (&["AUTH", "*"], At::Word(0), "redis"),
    (&["user", "*", "on"], At::Acl, "redis ACL"),
    (&["user", "*", "off"], At::Acl, "redis ACL"),
    (&["ACL", "SETUSER", "*"], At::Acl, "redis ACL"),
    (&["stats", "auth"], At::AfterColon(0), "haproxy"),
    (&["add", "password", "*"], At::Braces, "rancid"),
    (&["add", "userpassword", "*"], At::Braces, "rancid"),
    (&["add", "enablepassword", "*"], At::Braces, "rancid"),
    (&["add", "passphrase", "*"], At::Braces, "rancid"),
    (&["key-string"], At::Word(0), "cisco key chain"),
    (&["key-string", "7"], At::Word(0), "cisco key chain"),
    (&["crypto", "isakmp", "key"], At::Word(0), "cisco"),
    (&["crypto", "isakmp", "key", "6"], At::Word(0), "cisco"),
    (&["pre-shared-key"], At::Word(0), "cisco"),
    (&["pre-shared-key", "local"], At::Word(0), "cisco"),
    (&["pre-shared-key", "remote"], At::Word(0), "cisco"),
    (&["pre-shared-key", "ascii-text"], At::Word(0), "junos"),
    (&["wpa-psk", "ascii"], At::Word(0), "cisco"),
    (&["wpa-psk", "ascii", "0"], At::Word(0), "cisco"),
    (&["wpa-psk", "ascii", "7"], At::Word(0), "cisco"),
    (&["ip", "ospf", "authentication-key"], At::Word(0), "cisco"),
    (&["ip", "ospf", "message-digest-key", "*", "md5"], At::Word(0), "cisco"),
    (&["ip", "ospf", "message-digest-key", "*", "md5", "7"], At::Word(0), "cisco"),
    (&["ntp", "authentication-key", "*", "md5"], At::Word(0), "cisco"),
    (&["snmp-server", "host", "*", "version", "2c"], At::Word(0), "cisco"),
    (&["snmp-server", "host", "*", "traps", "version", "2c"], At::Word(0), "cisco"),
    (&["snmp-server", "host", "*", "informs", "version", "2c"], At::Word(0), "cisco"),
    (&["snmp-server", "host", "*"], At::Word(0), "cisco"),
    (&["password", "*"], At::Alone, "grub"),
    (&["rename-command", "*"], At::Word(0), "redis"),
    (&["snmp-server", "user", "*", "*", "v3", "auth", "*"], At::Word(0), "cisco"),
    (&["snmp-server", "user", "*", "*", "v3", "auth", "*", "*", "priv", "*"], At::Word(0), "cisco"),
    (&["snmp-server", "user", "*", "*", "v3", "auth", "*", "*", "priv", "aes", "128"], At::Word(0), "cisco"),
    (&["standby", "*", "authentication"], At::Word(0), "cisco"),
    (&["vrrp", "*", "authentication"], At::Word(0), "cisco"),
    (&["MONITOR", "*", "*", "*"], At::Word(0), "nut"),
    (&["d-i", "*", "password"], At::Word(0), "debian installer"),
    (&["auth_pass"], At::Word(0), "keepalived"),
    (&["bindpw"], At::Word(0), "nslcd, pam_ldap"),
    (&["rootbindpw"], At::Word(0), "pam_ldap"),
    (&["rootpw"], At::Word(0), "slapd"),
    (&["rootpw", "--plaintext"], At::Word(0), "kickstart"),
    (&["rootpw", "--iscrypted"], At::Word(0), "kickstart"),
    (&["authserver", "*"], At::Word(0), "radius client"),
    (&["acctserver", "*"], At::Word(0), "radius client"),
    (&["secure_link_md5"], At::Literals, "nginx"),
    (&["password_pbkdf2", "*"], At::Word(0), "grub"),
    (&["/msg", "NickServ", "IDENTIFY"], At::Last, "irc services"),
    (&["/msg", "NickServ", "identify"], At::Last, "irc services"),
    (&["PRIVMSG", "NickServ", ":IDENTIFY"], At::Last, "irc services"),
    (&["/ns", "identify"], At::Last, "irc services"),
    (&["/oper", "*"], At::Word(0), "irc"),
    (&["monitorRole"], At::Alone, "jmx"),
    (&["controlRole"], At::Alone, "jmx"),
    (&["option", "key"], At::Word(0), "openwrt"),
    (&["sv_setsteamaccount"], At::Word(0), "srcds"),
    (&["quote", "PASS"], At::Word(0), "ftp"),
    (&["PASS"], At::Alone, "ftp, pop3, irc"),
];

/// Kinds of IPsec secrets, behind a lone colon, and which word behind the kind is the secret.
const IPSEC: &[(&str, usize)] = &[
    ("PSK", 0),
    ("EAP", 0),
    ("XAUTH", 0),
    ("NTLM", 0),
    ("PPK", 0),
    ("RSA", 1),
    ("ECDSA", 1),
    ("P12", 1),
    ("PKCS8", 1),
];

/// Finds them.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let config = text.lines().any(|line| {
        let mut words = line.split_ascii_whitespace();
        matches!(words.next(), Some("user" | "login" | "username" | "host" | "account" | "server" | "machine"))
            && words.next().is_some()
            && words.next().is_none()
    });
    let ftp = text.contains("ftp");
    let mut start = 0;
    for line in text.split('\n') {
        if (6..MAX_LINE).contains(&line.len()) {
            one_line(line, start, config, ftp, spans);
        }
        start += line.len() + 1;
    }
}

/// No line of such a product is longer.
const MAX_LINE: usize = 2048;

fn one_line(line: &str, start: usize, config: bool, ftp: bool, spans: &mut Vec<Span>) {
    let tokens: Vec<Range<usize>> = cut(line);
    if tokens.len() < 2 {
        colons(line, start, spans);
        return;
    }
    let token = |at: usize| tokens.get(at).map(|range| &line[range.clone()]);
    let mut push = |range: Range<usize>, word: &'static str| {
        let value = line[range.clone()].trim_matches(['"', '\'', ';', ',', '{', '}']);
        let from = range.start + (value.as_ptr() as usize - line[range.clone()].as_ptr() as usize);
        if value.len() >= 3 && !value.starts_with("--") && !reading::is_kept(value, Strength::Strong) {
            spans.push(Span::new(start + from..start + from + value.len(), By::Container, word));
        }
    };
    for (begins, at, _) in LINES {
        if !begins
            .iter()
            .enumerate()
            .all(|(at, wanted)| token(at).is_some_and(|word| *wanted == "*" || word == *wanted))
        {
            continue;
        }
        let rest = tokens.get(begins.len()..).unwrap_or(&[]);
        match at {
            At::Word(which) => {
                if let Some(range) = rest.get(*which) {
                    let word = &line[range.clone()];
                    let kind = matches!(
                        word,
                        "on" | "off"
                            | "version"
                            | "traps"
                            | "informs"
                            | "7"
                            | "0"
                            | "6"
                            | "ascii-text"
                            | "local"
                            | "remote"
                    );
                    let alone = begins[0] != "AUTH" || rest.len() == 1;
                    let prose = begins[0] == "d-i" && !line.contains("passw") || word.ends_with('.') && rest.len() > 1;
                    if !kind && alone && !prose {
                        push(range.clone(), "directive");
                    }
                }
            }
            At::AfterColon(which) => {
                if let Some(range) = rest.get(*which)
                    && let Some(colon) = line[range.clone()].find(':')
                {
                    push(range.start + colon + 1..range.end, "directive");
                }
            }
            At::Braces => rest
                .iter()
                .filter(|range| line[(*range).clone()].starts_with('{') && line[(*range).clone()].ends_with('}'))
                .for_each(|range| push(range.clone(), "directive")),
            At::Alone => {
                if let [range] = rest
                    && super::opaque::is_passwordish(&line[range.clone()])
                    && !line[range.clone()].contains(['/', '.', ':'])
                {
                    push(range.clone(), "directive");
                }
            }
            At::Last => rest.iter().next_back().into_iter().for_each(|range| push(range.clone(), "directive")),
            At::Literals => rest.iter().for_each(|range| {
                for part in words(&line[range.clone()], |b| !b.is_ascii_whitespace()) {
                    let word = line[range.start + part.start..range.start + part.end].trim_matches(['"', '\'', ';']);
                    if !word.starts_with('$') && !word.is_empty() {
                        let from = word.as_ptr() as usize - line.as_ptr() as usize;
                        push(from..from + word.len(), "directive");
                    }
                }
            }),
            At::Acl => rest.iter().for_each(|range| {
                let word = &line[range.clone()];
                let digest = word.len() == 65 && word[1..].bytes().all(|b| b.is_ascii_hexdigit());
                if word.starts_with(['>', '<']) || word.starts_with(['#', '!']) && digest {
                    push(range.start + 1..range.end, "directive");
                }
            }),
        }
    }
    // `10.0.0.1 10.0.0.2 : PSK "…"`.
    if let Some(colon) = (0..tokens.len().min(8)).find(|at| token(*at) == Some(":"))
        && let Some((_, which)) = IPSEC.iter().find(|(kind, _)| token(colon + 1) == Some(kind))
        && let Some(range) = tokens.get(colon + 2 + which)
    {
        push(range.clone(), "ipsec secret");
    }
    // `1 MD5 …`: keys of ntpd.
    if tokens.len() == 3
        && token(0).is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit()))
        && matches!(token(1), Some("MD5" | "M" | "SHA1" | "SHA256" | "SHA512" | "AES128" | "AES128CMAC" | "AES256CMAC"))
    {
        push(tokens[2].clone(), "ntp key");
    }
    // `[smtp.example.org]:587 user:password`.
    if tokens.len() == 2
        && let (Some(host), Some(pair)) = (token(0), token(1))
        && let Some(colon) = pair.find(':')
        && colon > 0
        && (host.starts_with('[') && host.contains(']')
            || is_host_name(host)
                && super::opaque::is_passwordish(&pair[colon + 1..])
                && !pair[colon + 1..].contains(['/', ':']))
    {
        push(tokens[1].start + colon + 1..tokens[1].end, "user and password");
    }
    // `"app" "…"`: users of pgbouncer, a line each.
    if tokens.len() == 2
        && let (Some(user), Some(password)) = (token(0), token(1))
        && [user, password].iter().all(|word| word.len() > 2 && word.starts_with('"') && word.ends_with('"'))
        && super::opaque::is_passwordish(password.trim_matches('"'))
        && (password.bytes().any(|b| b.is_ascii_uppercase())
            || password.trim_matches('"').bytes().any(|b| !b.is_ascii_alphanumeric()))
        && super::words::named(user).is_none()
        && [user, password].iter().all(|word| !word.contains([' ', '=', '/', ',', '\'', ':']) || word.contains('$'))
        && line.trim().len() == user.len() + 1 + password.len()
    {
        push(tokens[1].clone(), "user and password");
    }
    // `user joe …` in what a script types to ftp.
    if tokens.len() == 3 && ftp && token(0) == Some("user") && token(2).is_some_and(super::opaque::is_passwordish) {
        push(tokens[2].clone(), "user and password");
    }
    // `user password`, `login x`, `password y`, a line each.
    if config
        && tokens.len() == 2
        && matches!(token(0), Some("password" | "pass" | "passwd" | "passphrase" | "secret" | "token"))
    {
        push(tokens[1].clone(), "password");
    }
    // `"user@isp" * "password"`: chap-secrets and pap-secrets without the addresses.
    if tokens.len() == 3
        && token(1) == Some("*")
        && token(0).is_some_and(|word| word.starts_with('"'))
        && token(2).is_some_and(|word| word.starts_with('"') || super::opaque::is_passwordish(word))
    {
        push(tokens[2].clone(), "chap secret");
    }
    // `"user" pptpd "password" *`: chap-secrets.
    if tokens.len() == 4
        && matches!(token(3), Some("*" | "\"*\""))
        && token(2).is_some_and(|word| word.starts_with('"') || has_digit(word))
    {
        push(tokens[2].clone(), "chap secret");
    }
}

/// `smtp.example.org`: small letters with dots between, of which the last part has no digit.
fn is_host_name(word: &str) -> bool {
    word.contains('.')
        && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-.".contains(&b))
        && word.rsplit('.').next().is_some_and(|tld| tld.len() >= 2 && tld.bytes().all(|b| b.is_ascii_lowercase()))
}

fn has_digit(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_digit()) && word.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Words of a line; what stands in quotes is one.
fn cut(line: &str) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut until = 0;
    for range in words(line, |b| !b.is_ascii_whitespace()).take(64) {
        if range.start < until {
            continue;
        }
        let mut end = range.end;
        if let Some(quote) = line[range.clone()].chars().next().filter(|c| matches!(c, '"' | '\''))
            && let Some(close) = line[range.start + 1..].find(quote)
        {
            end = (range.start + 1 + close + 1).max(range.start + 2);
        }
        until = end;
        out.push(range.start..end);
    }
    out
}

/// Lines of fields with colons between: `user:realm:digest` of htdigest, the digests of a Windows dump, `WIFI:…;P:…;;`.
fn colons(line: &str, start: usize, spans: &mut Vec<Span>) {
    let text = line.trim_end();
    if let Some(rest) = text.strip_prefix("WIFI:") {
        let mut at = "WIFI:".len();
        for part in rest.split(';') {
            if let Some(password) = part.strip_prefix("P:")
                && !password.is_empty()
                && !reading::is_kept(password, Strength::Strong)
            {
                spans.push(Span::new(start + at + 2..start + at + 2 + password.len(), By::Container, "wifi code"));
            }
            at += part.len() + 1;
        }
        return;
    }
    // `$USER5$=…`: macros of Nagios, which hold folders as well.
    if let Some((name, value)) = text.split_once("$=")
        && name.strip_prefix("$USER").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        && super::opaque::is_mixed(value)
        && !reading::is_kept(value, Strength::Strong)
    {
        let from = start + name.len() + 2;
        spans.push(Span::new(from..from + value.len(), By::Container, "nagios macro"));
        return;
    }
    let fields: Vec<&str> = text.splitn(8, ':').collect();
    let digest = |field: &str| field.len() == 32 && field.bytes().all(|b| b.is_ascii_hexdigit());
    if fields.len() >= 3 && !fields[0].is_empty() && !fields[0].contains(['/', ' ']) {
        let mut at = 0;
        for (which, field) in fields.iter().enumerate() {
            let htdigest = fields.len() == 3 && which == 2;
            let dump = fields.len() >= 7 && (which == 2 || which == 3);
            if digest(field) && (htdigest || dump) {
                spans.push(Span::new(start + at..start + at + field.len(), By::Container, "password digest"));
            }
            at += field.len() + 1;
        }
    }
}
