//! What is secret where a user and a password stand together and neither has a name of its own? `user:password` under an account's
//! name, `("user", "password")` under `auth`, the users of a JAAS module, ACLs of ZooKeeper, and an account that a sentence tells.

use super::scan::{Span, words};
use super::words::{Named, Strength};
use super::{By, opaque, reading};
use std::ops::Range;

/// What the name of a pair of user and password says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// A user: a password may stand behind it.
    User,
    /// The pair itself: `basic.auth.user.info`.
    Pair,
}

/// Names under which `user:password` stands. What ends in one of them counts: `smtp_user`, `imap.login`.
const USERS: &[&str] = &["user", "username", "login", "account", "admin"];

/// Names of the pair as a whole.
const PAIRS: &[&str] = &["userinfo", "userpass", "usrpwd", "userpwd", "userandpassword"];

/// Whether a user and a password stand under a name.
pub(super) fn holder(name: &str) -> Option<Holder> {
    let last = name.rsplit(['_', '-', '.', ' ', '/', ':']).next().unwrap_or(name);
    let is = |list: &[&str]| list.iter().any(|word| word.eq_ignore_ascii_case(last));
    if is(PAIRS) {
        return Some(Holder::Pair);
    }
    is(USERS).then_some(Holder::User)
}

/// The password in `user:password`; the whole of a user's name that is as long and as random as a token only is.
pub(super) fn secret_part(value: &str, holder: Holder) -> Option<Range<usize>> {
    let value = value.trim_end();
    if holder == Holder::User && value.len() >= 32 && !value.contains([':', ' ']) {
        return (opaque::is_random(value) && !reading::is_kept(value, Strength::Strong)).then_some(0..value.len());
    }
    let references = value.starts_with('$') || value.starts_with("{{");
    let from = if references { value.find("}:").or_else(|| value.find(':'))? } else { 0 };
    let colon = from + value[from..].find(':')?;
    let (user, password) = (&value[..colon], &value[colon + 1..]);
    let named = references && reading::is_reference(user)
        || !user.is_empty()
            && user.len() < 64
            && user.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-@+".contains(&b));
    let told = match holder {
        Holder::User => {
            (opaque::is_mixed(password) || opaque::is_jumbled(password)) && !password.contains([' ', '/', ':'])
        }
        Holder::Pair => !password.is_empty() && !password.starts_with("//"),
    };
    (named && told && !reading::is_kept(password, Strength::Strong)).then_some(colon + 1..value.len())
}

/// `auth=("joe", "…")`, `credentials: ["joe", "…"]`: the second of two literals in brackets under such a name.
pub(super) fn in_tuple(text: &str, start: usize, named: &Named) -> Option<Range<usize>> {
    if !matches!(
        named.word,
        "auth" | "basicauth" | "httpauth" | "proxyauth" | "credentials" | "credential" | "creds" | "userpwd"
    ) {
        return None;
    }
    let area = &text[start..super::formats::floor(text, start + 512)];
    let open = area.strip_prefix(['(', '['])?;
    let literal = |from: usize| -> Option<Range<usize>> {
        let skip = open[from..].len() - open[from..].trim_start().len();
        let at = from + skip;
        let quote = open[at..].chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let length = open[at + 1..].find(quote)?;
        Some(at + 1..at + 1 + length)
    };
    let first = literal(0)?;
    let comma = first.end + 1;
    let second =
        literal(comma + open[comma..].trim_start().strip_prefix(',').map(|rest| open[comma..].len() - rest.len())?)?;
    let closed = open[second.end + 1..].trim_start().starts_with([')', ']']);
    let value = &open[second.clone()];
    let offset = start + 1;
    (closed && !value.is_empty() && !reading::is_kept(value, Strength::Strong))
        .then_some(offset + second.start..offset + second.end)
}

/// Finds those that a text names by its own habit.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    if text.contains("LoginModule") {
        jaas(text, spans);
    }
    if text.contains("chpasswd") {
        for range in words(text, |b| !b.is_ascii_whitespace() && !b"\"'[],{}".contains(&b)) {
            if let Some((user, password)) = text[range.clone()].split_once(':')
                && !user.is_empty()
                && user.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
                && opaque::is_mixed(password)
                && !password.contains(['/', ':'])
                && !reading::is_kept(password, Strength::Strong)
            {
                spans.push(Span::new(range.end - password.len()..range.end, By::Container, "user and password"));
            }
        }
    }
    if text.contains("digest:") {
        zookeeper(text, spans);
    }
}

/// `user_alice="…"`: a server's users, in the options of its login module (Kafka, ZooKeeper).
fn jaas(text: &str, spans: &mut Vec<Span>) {
    for (at, mark) in text.match_indices("user_") {
        let rest = &text[at + mark.len()..];
        let name = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"_.-".contains(b)).count();
        let Some(value) = rest[name..].strip_prefix('=') else { continue };
        let escaped = usize::from(value.starts_with('\\'));
        let Some(quote) = value[escaped..].chars().next().filter(|c| matches!(c, '"' | '\'')) else { continue };
        let inside = &value[escaped + 1..];
        let Some(length) = inside.find(quote) else { continue };
        let password = inside[..length].trim_end_matches('\\');
        if !password.is_empty() && !reading::is_kept(password, Strength::Strong) {
            let from = text.len() - inside.len();
            spans.push(Span::new(from..from + password.len(), By::Container, "jaas user"));
        }
    }
}

/// `digest:super:…`: the user and the digest of a ZooKeeper's ACL, which opens what it guards to who guesses the password.
fn zookeeper(text: &str, spans: &mut Vec<Span>) {
    for (at, mark) in text.match_indices("digest:") {
        let rest = &text[at + mark.len()..];
        let Some((user, after)) = rest.split_once(':') else { continue };
        let length = after.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"+/=".contains(b)).count();
        let fine = !user.is_empty() && user.len() < 64 && !user.contains(char::is_whitespace);
        if fine && length == 28 && after[..length].ends_with('=') {
            let from = text.len() - after.len();
            spans.push(Span::new(from..from + length, By::Container, "acl digest"));
        }
    }
}

/// Users that everybody has, of whom a sentence tells the password: `log in with admin:…`.
const LOGINS: &[&str] =
    &["admin", "administrator", "root", "sa", "system", "postgres", "guest", "operator", "superuser", "test", "demo"];

/// `log in with admin / …`, `default credentials: admin:…`: a user and a password that a sentence names in one breath.
pub(super) fn told(line: &str, start: usize, spans: &mut Vec<Span>) {
    if line.len() > 1024 || !line.contains([':', '/']) {
        return;
    }
    let lower = line.to_ascii_lowercase();
    if ![
        "log in",
        "login",
        "logins",
        "logged in",
        "sign in",
        "credential",
        "creds",
        "account",
        "user",
        "zugang",
        "anmeld",
    ]
    .iter()
    .any(|word| lower.contains(word))
    {
        return;
    }
    let tokens: Vec<Range<usize>> = words(line, |b| !b.is_ascii_whitespace()).take(256).collect();
    for at in 0..tokens.len() {
        let word = &line[tokens[at].clone()];
        let quotes = ['"', '\'', '`', '.', ',', ';', ')', '('];
        let shown = if word == "/" && at > 0 && at + 1 < tokens.len() {
            line[tokens[at + 1].clone()].trim_matches(quotes)
        } else {
            let before = at.checked_sub(1).map_or("", |at| &line[tokens[at].clone()]);
            let told = matches!(before, "are" | "is" | "with" | "using" | "use" | "as" | "=" | "ist" | "mit" | "sind")
                || before.ends_with(':');
            match word.trim_matches(quotes).split_once([':', '/']) {
                Some((user, password))
                    if (LOGINS.iter().any(|login| login.eq_ignore_ascii_case(user))
                        || told
                            && user.bytes().all(|b| b.is_ascii_alphabetic())
                            && ["login", "cred", "log in", "sign in"].iter().any(|word| lower.contains(word)))
                        && !user.is_empty()
                        && !password.contains(['/', ':', '@']) =>
                {
                    password
                }
                _ => continue,
            }
        };
        let before = at.checked_sub(1).map_or("", |at| &line[tokens[at].clone()]);
        // `log in with admin:rosebud`: everybody's user, and a word that says nothing of it.
        let everybody = matches!(before, "with" | "is" | "as" | "use" | "are" | "mit" | "ist")
            && word.trim_matches(quotes).split_once([':', '/']).is_some_and(|(user, password)| {
                matches!(user, "admin" | "root" | "administrator" | "sa")
                    && password.len() >= 4
                    && password.bytes().all(|b| b.is_ascii_alphanumeric())
                    && password != user
                    && super::words::named(password).is_none()
            });
        if (opaque::is_mixed(shown) || everybody)
            && !looks_like_version(shown)
            && !reading::is_kept(shown, Strength::Strong)
        {
            let from = start + (shown.as_ptr() as usize - line.as_ptr() as usize);
            spans.push(Span::new(from..from + shown.len(), By::Container, "account"));
        }
    }
}

/// `1.25-alpine`: behind a colon or a slash an image's tag is as likely.
fn looks_like_version(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && text.contains('.')
}
