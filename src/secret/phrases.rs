//! What is secret in lines that are no pairs? Authorization schemes, cookies, SQL, directives, netrc and pgpass lines, and sentences
//! about a changed secret.

use super::scan::{Span, words};
use super::words::{self as names, Strength};
use super::{By, accounts, opaque, pairs, reading};
use std::ops::Range;

/// Finds them.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    schemes(text, spans);
    let mut start = 0;
    for line in text.split('\n') {
        let range = start..start + line.len();
        start += line.len() + 1;
        if line.len() < 6 {
            continue;
        }
        cookies(line, range.start, spans);
        directives(line, range.start, spans);
        pgpass(line, range.start, spans);
    }
    netrc(text, spans);
}

/// Finds what sentences tell of a secret's value.
/// In a text that documents something (`told` is false) only what no word of a sentence looks like counts.
pub(super) fn sentences(text: &str, told: bool, spans: &mut Vec<Span>) {
    let mut start = 0;
    for line in text.split('\n') {
        let from = spans.len();
        sentence(line, start, spans);
        accounts::told(line, start, spans);
        if !told {
            let mut at = 0;
            spans.retain(|span| {
                at += 1;
                let value = &text[span.range.clone()];
                let digits =
                    value.bytes().all(|b| b.is_ascii_digit()) && matches!(&*span.word, "pin" | "puk" | "otp" | "tan");
                at <= from
                    || digits
                    || opaque::is_passwordish(value)
                        && !opaque::is_identifier(value)
                        && !value.contains(['/', '_', '.'])
            });
        }
        start += line.len() + 1;
    }
}

/// `Basic dXNlcjpwYXNz`, `Bearer abc`: the credential after a scheme, wherever it stands.
fn schemes(text: &str, spans: &mut Vec<Span>) {
    for range in words(text, |b| b.is_ascii_alphanumeric() || b == b'-') {
        let word = &text[range.clone()];
        let rest = &text[range.end..];
        let blanks = rest.bytes().take_while(|b| *b == b' ').count();
        let escaped = rest.starts_with("%20") || rest.starts_with('+');
        if blanks == 0 && !escaped {
            continue;
        }
        if word.len() > 24 || !pairs::SCHEMES.iter().any(|scheme| scheme.eq_ignore_ascii_case(word)) {
            continue;
        }
        let from = range.end + if escaped { if rest.starts_with('+') { 1 } else { 3 } } else { blanks };
        let length = text[from..].bytes().take_while(|b| b.is_ascii_alphanumeric() || b"._~+/=-:%".contains(b)).count();
        let credential = text[from..from + length].trim_end_matches(['.', ':', ',', ')']);
        if credential.len() < 6 {
            continue;
        }
        let lower = word.to_ascii_lowercase();
        let fits = match lower.as_str() {
            "basic" => {
                opaque::decode(credential).is_some_and(|text| text.contains(':'))
                    && credential.bytes().any(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'=')
            }
            "bearer" | "ssws" | "dpop" | "geniekey" | "bot" | "jwt" => {
                credential.bytes().any(|b| b.is_ascii_digit()) && credential.len() >= 8 && !credential.starts_with('-')
                    || credential.len() >= 20
                        && !credential.contains(['.', '/', '-'])
                        && names::split(credential).len() > 3
            }
            "splunk" => opaque::is_uuid(credential),
            "digest" => {
                // `Digest username="a", response="…"`: the answer stands for the password.
                let area = &rest[..super::formats::floor(rest, 1024)];
                if let Some(at) = area.find("response=\"")
                    && let Some(length) = area[at + 10..].find('"')
                    && length >= 16
                {
                    let from = range.end + at + 10;
                    spans.push(Span::new(from..from + length, By::Container, "authorization"));
                }
                false
            }
            _ => opaque::is_random(credential) && credential.len() >= 20 && lower != "key" && lower != "client",
        };
        if fits && !reading::is_reference(credential) {
            let word = if lower == "basic" { "basic authorization" } else { "authorization" };
            spans.push(Span::new(from..from + credential.len(), By::Container, word));
        }
    }
}

/// `Cookie: a=b; c=d` and `Set-Cookie: …`: the values of cookies that carry a session, and random ones.
fn cookies(line: &str, start: usize, spans: &mut Vec<Span>) {
    if !line.contains([':', '=']) {
        return;
    }
    let Some(at) =
        find_ignore_case(line, "cookie:").or_else(|| find_ignore_case(line, "cookie=").filter(|_| line.contains(';')))
    else {
        return;
    };
    let mut from = at + 7;
    for part in line[from..].split(';') {
        let offset = from + (part.len() - part.trim_start().len());
        from += part.len() + 1;
        let Some((name, value)) = part.trim().split_once('=') else { continue };
        let value = value.trim_matches(['"', '\'']);
        let lower = name.trim_start_matches(['"', '\'', ' ']).to_ascii_lowercase();
        let session = [
            "sess",
            "sid",
            "auth",
            "token",
            "csrf",
            "xsrf",
            "jwt",
            "remember",
            "login",
            "ticket",
            "identity",
            "connect.s",
            "_gh_",
            "cf_clearance",
            "sso",
        ]
        .iter()
        .any(|word| lower.contains(word));
        let attribute = matches!(
            lower.as_str(),
            "path" | "domain" | "expires" | "max-age" | "samesite" | "secure" | "httponly" | "priority"
        );
        let offset = offset + part.trim().len() - part.trim().split_once('=').map_or(0, |(_, value)| value.len());
        let length = value.bytes().take_while(|b| !b"\"' ,".contains(b)).count();
        if !attribute
            && length >= 4
            && (session || opaque::is_random(&value[..length]))
            && !reading::is_kept(&value[..length], Strength::Medium)
        {
            let quote = usize::from(line[offset..].starts_with(['"', '\'']));
            spans.push(Span::new(start + offset + quote..start + offset + quote + length, By::Container, "cookie"));
        }
    }
}

fn find_ignore_case(text: &str, word: &str) -> Option<usize> {
    let (bytes, word) = (text.as_bytes(), word.as_bytes());
    bytes.windows(word.len()).position(|window| window.eq_ignore_ascii_case(word))
}

/// `requirepass hunter2`, `identified by 'x'`, `username a password b`: a word that names a secret, a blank, its value.
fn directives(line: &str, start: usize, spans: &mut Vec<Span>) {
    let tokens: Vec<Range<usize>> = words(line, |b| !b.is_ascii_whitespace()).take(MAX_TOKENS).collect();
    let token = |at: usize| tokens.get(at).map(|range| &line[range.clone()]);
    let clean = |range: &Range<usize>| -> Range<usize> {
        let text = &line[range.clone()];
        let quotes: &[char] = &['"', '\'', '`', ';', ',', ')', '('];
        let from = range.start + (text.len() - text.trim_start_matches(quotes).len());
        let to = range.end - (text.len() - text.trim_end_matches(quotes).len());
        from..to.max(from)
    };
    let mut push = |range: Range<usize>, word: &'static str| {
        let value = &line[range.clone()];
        if !value.is_empty() && !reading::is_kept(value, Strength::Strong) {
            spans.push(Span::new(start + range.start..start + range.end, By::Container, word));
        }
    };
    for at in 0..tokens.len() {
        let Some(word) = token(at) else { continue };
        // As long as one of the words below.
        if !matches!(word.len(), 2..=4 | 6 | 8..=10 | 17) {
            continue;
        }
        let lower = word.to_ascii_lowercase();
        let quoted_next = token(at + 1).is_some_and(|next| next.starts_with(['\'', '"']));
        match lower.as_str() {
            // `IDENTIFIED BY 'x'`, `IDENTIFIED WITH plugin BY 'x'`.
            "by" if [1, 3].iter().any(|back| {
                at.checked_sub(*back).and_then(token).is_some_and(|w| w.eq_ignore_ascii_case("identified"))
            }) =>
            {
                let skip = usize::from(token(at + 1).is_some_and(|w| w.eq_ignore_ascii_case("password")));
                if let Some(value) = tokens.get(at + 1 + skip) {
                    push(quoted_run(line, value, &clean), "identified by");
                }
            }
            "password" | "secret" | "passwd" | "passphrase"
                if quoted_next
                    && at > 0
                    && !line[..tokens[at].start].ends_with(['"', '\''])
                    && token(at - 1).is_none_or(|before| before != "with" && !before.ends_with("getent")) =>
            {
                push(quoted_run(line, &tokens[at + 1], &clean), "password");
            }
            // `user "joe" pass "x"`.
            "pass" | "pwd" | "pw"
                if quoted_next
                    && (0..at).any(|at| {
                        matches!(token(at).unwrap_or(""), "user" | "username" | "login" | "account" | "usr")
                    }) =>
            {
                push(quoted_run(line, &tokens[at + 1], &clean), "password");
            }
            "password" | "secret" | "insecure-password" | "key" | "community" | "passwd"
                if at > 0 && word == lower && router_line(token(0), lower == "key") =>
            {
                // A digit between says how the value is encoded.
                let skip =
                    usize::from(token(at + 1).is_some_and(|w| w.len() == 1 && w.bytes().all(|b| b.is_ascii_digit())));
                if let Some(value) = tokens.get(at + 1 + skip) {
                    push(clean(value), "password");
                }
            }
            _ => {}
        }
    }
    // `nmcli c modify x wifi-sec.psk …`: a name of several words, and behind it what no word looks like.
    for at in 1..tokens.len().saturating_sub(1) {
        let name = &line[tokens[at].clone()];
        if name.len() < 32
            && name.contains(['.', '_', '-'])
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
            && names::named(name).is_some_and(|named| named.strength == Strength::Strong && named.word != "key")
        {
            let value = clean(&tokens[at + 1]);
            let shown = &line[value.clone()];
            if opaque::is_passwordish(shown)
                && !shown.contains(['/', '=', ':', '.', '$', '(', '#'])
                && !opaque::is_identifier(shown)
                && !is_term(shown)
                && !is_only_a_name(shown)
            {
                push(value, "argument");
            }
        }
    }
    // `aws configure set aws_secret_access_key x`, `kubectl config set-credentials`, `git config x.token y`.
    for at in 1..tokens.len().saturating_sub(1) {
        let (before, name) = (&line[tokens[at - 1].clone()], &line[tokens[at].clone()]);
        if matches!(
            before,
            "set"
                | "config"
                | "put"
                | "setx"
                | "SetEnv"
                | "--set"
                | "env:set"
                | "--global"
                | "SET"
                | "-x"
                | "-gx"
                | "-Ux"
                | "proxy_set_header"
                | "add_header"
                | "--add"
                | "fastcgi_param"
                | "setenv"
                | "config:set"
                | "uwsgi_param"
        ) && let Some(named) = names::named(name).filter(|named| {
            named.strength == Strength::Strong || named.strength == Strength::Medium && before.ends_with("_header")
        }) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-:/".contains(&b))
            && (names::split(name).len() > 1
                || tokens.len() == at + 2
                || before.ends_with("_header") && token(at + 1).is_some_and(|next| next.starts_with(['"', '\''])))
        {
            let value = quoted_run(line, &tokens[at + 1], &clean);
            let small = FILLERS.contains(&&line[value.clone()]);
            if line[value.clone()].starts_with(['=', ':', '<', '>', '|', '&']) || small && tokens.len() > at + 2 {
                continue;
            }
            // A scheme before the credential stays readable.
            let part = pairs::judge_value(&line[value.clone()], &named, false).map_or(0, |(part, _)| part.start);
            push(value.start + part..value.end, named.word);
        }
    }
    // `cachemgr_passwd x all`: a name of several words that begins a line, and what no word of a sentence looks like.
    if (3..=4).contains(&tokens.len())
        && let Some(named) = token(0).and_then(names::named)
        && named.strength == Strength::Strong
        && !matches!(named.word, "key")
    {
        let name = &line[tokens[0].clone()];
        let value = clean(&tokens[1]);
        let shown = &line[value.clone()];
        if name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
            && name.contains(['_', '-', '.'])
            && opaque::is_passwordish(shown)
            && !shown.contains(['=', '/', ':'])
            && !is_only_a_name(shown)
        {
            push(value, named.word);
        }
    }
    // A directive alone on its line. A sentence has more words, and a word that says nothing but `password` begins many.
    let lead = token(0).is_some_and(|w| {
        matches!(
            w,
            "set"
                | "config"
                | "env"
                | "setenv"
                | "SetEnv"
                | "PassEnv"
                | "SET"
                | "Setenv"
                | "ENV"
                | "#"
                | "//"
                | ";"
                | "--"
                | "*"
                | "-"
                | ">"
                | "!"
                | "REM"
                | "rem"
                | "option"
        )
    });
    if tokens.len() == 2 || tokens.len() == 3 && lead {
        let name_at = tokens.len() - 2;
        let name = &line[tokens[name_at].clone()];
        let value = clean(&tokens[name_at + 1]);
        let quoted = line[tokens[name_at + 1].clone()].starts_with(['"', '\'']);
        if let Some(named) = names::named(name)
            && named.word != "key"
            && named.strength >= Strength::Medium
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-$".contains(&b))
            && (names::split(name).len() > 1
                || name != named.word
                || name.len() > 8
                || quoted
                || line.trim_end().ends_with(';')
                || opaque::is_passwordish(&line[value.clone()]))
        {
            let shown = &line[value.clone()];
            // `Passwort vergessen?` is a label: one natural word is a directive only when products write it so, or when a digit follows.
            let single = names::split(name).len() == 1;
            let lower = name.bytes().all(|b| b.is_ascii_lowercase());
            let written = ["pass", "auth", "pw", "psk", "secret"].iter().any(|end| name.ends_with(end))
                && name != "pass"
                && name != "auth"
                && name != "secret";
            let word_only = single
                && !(lower && (written || shown.bytes().any(|b| b.is_ascii_digit()))
                    || quoted && !shown.contains(' ')
                    || name.starts_with('_') && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
                    || opaque::is_passwordish(shown));
            if !word_only
                && !reading::is_kept(shown, named.strength)
                && !is_only_a_name(shown)
                && !shown.contains("->")
                && !shown.ends_with("()")
                && shown.parse::<f64>().is_err()
                && shown.len() > 2
                && !shown.starts_with(['=', ':', '-', '('])
            {
                push(value, named.word);
            }
        }
    }
}

/// Whether a text is a secret's name and nothing else: `pepper77!` has the word of one in it and is none.
fn is_only_a_name(text: &str) -> bool {
    names::named(text).is_some() && !text.bytes().any(|b| b.is_ascii_digit())
}

/// Whether a line of a router or a proxy begins so; `key` is a secret in some of them only.
fn router_line(first: Option<&str>, key: bool) -> bool {
    // In lower case, as devices write them: `Username or password is not correct.` is a sentence.
    first.is_some_and(|first| {
        if key { matches!(first, "tacacs-server" | "radius-server" | "ntp" | "crypto") } else { CISCO.contains(&first) }
    })
}

/// Words that begin a line of a router, a proxy or a supplicant.
const CISCO: &[&str] = &[
    "enable",
    "username",
    "snmp-server",
    "neighbor",
    "tacacs-server",
    "radius-server",
    "ppp",
    "standby",
    "vrrp",
    "aaa",
    "user",
];

/// A sentence about a changed value is short; a longer text is documentation, in which quotes hold names.
const MAX_SENTENCE: usize = 40;

/// More words than a line of such a kind has: the rest of a longer one is no directive.
const MAX_TOKENS: usize = 256;

/// From an opening quote to its end, over blanks.
fn quoted_run(line: &str, range: &Range<usize>, clean: &impl Fn(&Range<usize>) -> Range<usize>) -> Range<usize> {
    let text = &line[range.start..];
    if let Some(quote) = text.chars().next().filter(|c| matches!(c, '\'' | '"'))
        && let Some(end) = text[1..].find(quote)
    {
        return range.start + 1..range.start + 1 + end;
    }
    clean(range)
}

/// `host:port:database:user:password`, as ~/.pgpass has it.
fn pgpass(line: &str, start: usize, spans: &mut Vec<Span>) {
    if line.len() > 1024 || line.contains(' ') || line.matches(':').count() < 4 {
        return;
    }
    let mut cuts = Vec::new();
    let bytes = line.as_bytes();
    for at in 0..bytes.len() {
        if bytes[at] == b':' && (at == 0 || bytes[at - 1] != b'\\') {
            cuts.push(at);
            if cuts.len() == 4 {
                break;
            }
        }
    }
    let [host, port, database, user] = cuts[..] else { return };
    let port = &line[host + 1..port];
    // A MAC address or a fingerprint: two hexadecimal digits each.
    let octet = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit());
    if octet(&line[..host]) && octet(port) {
        return;
    }
    let fine = (port == "*" || port.len() >= 2 && port.bytes().all(|b| b.is_ascii_digit()))
        && !line[..host].is_empty()
        && line[..host].bytes().all(|b| b.is_ascii_alphanumeric() || b".-_*/".contains(&b))
        && (line[..host].bytes().any(|b| b.is_ascii_alphabetic()) || line[..host].contains(['.', '*']))
        && line[database + 1..user].bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-*@".contains(&b))
        && !line[database + 1..user].is_empty();
    let password = &line[user + 1..];
    if fine && !password.is_empty() && !reading::is_reference(password) {
        spans.push(Span::new(start + user + 1..start + line.len(), By::Container, "pgpass"));
    }
}

/// `machine h login u password p`, on one line or on many.
fn netrc(text: &str, spans: &mut Vec<Span>) {
    if !text.contains("password") || !(text.contains("machine") || text.contains("default")) || !text.contains("login")
    {
        return;
    }
    let mut inside = false;
    let mut wanted = false;
    for range in words(text, |b| !b.is_ascii_whitespace()) {
        let word = &text[range.clone()];
        if wanted {
            wanted = false;
            let quoted = word.trim_matches(['"', '\'', ',']);
            let offset = range.start + (quoted.as_ptr() as usize - word.as_ptr() as usize);
            if !quoted.is_empty() && !reading::is_reference(quoted) {
                spans.push(Span::new(offset..offset + quoted.len(), By::Container, "netrc"));
            }
            continue;
        }
        match word {
            "machine" | "default" => inside = true,
            "password" | "account" if inside => wanted = word == "password",
            _ => {}
        }
    }
}

/// A sentence that names a secret's path and then says its values: `Value of db.password changed from "a" to "b"`.
/// The least reliable layer (findings of ours are made again from masked values instead), so it wants both.
fn sentence(line: &str, start: usize, spans: &mut Vec<Span>) {
    if line.len() > 8192 || !line.contains(' ') {
        return;
    }
    let tokens: Vec<Range<usize>> = words(line, |b| !b.is_ascii_whitespace()).take(MAX_TOKENS).collect();
    if tokens.len() < 3 || tokens.len() > MAX_SENTENCE || line.contains("renamed") {
        // A renamed key has two names in quotes and no value.
        return;
    }
    labelled(line, &tokens, start, spans);
    named_there(line, &tokens, start, spans);
    let code = line.trim_end().ends_with([')', ';', '}']) && line.contains('(') && line.contains(" = ");
    if code {
        return;
    }
    let mut name: Option<(usize, names::Named, &str)> = None;
    for (at, range) in tokens.iter().enumerate() {
        let word = line[range.clone()]
            .trim_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != ']' && c != '$' && c != '-');
        if word.len() > 128 {
            continue;
        }
        let word = word.trim_end_matches("'s").trim_end_matches("’s");
        let last = word.rsplit(['.', '/', '[', ']', '\'', '"']).find(|part| !part.is_empty()).unwrap_or(word);
        let Some(named) = names::named(last).filter(|named| named.strength >= Strength::Medium) else { continue };
        let path_like = word.contains(['.', '_', '[', '/', '-'])
            || names::split(word).len() > 1
            || word.bytes().any(|b| b.is_ascii_uppercase()) && word.bytes().all(|b| !b.is_ascii_lowercase());
        // Documentation names keys too: a sentence about a value says right after the name, or right before it, that it is one.
        let next = tokens.get(at + 1).map(|range| line[range.clone()].trim_end_matches([':', ',']).to_lowercase());
        let before = at.checked_sub(1).and_then(|at| tokens.get(at)).map(|range| line[range.clone()].to_lowercase());
        // `from "x-creds" to …`: a value that looks like a name.
        let quoted = line[range.clone()].starts_with(['"', '\'', '`']);
        let before = before.filter(|before| !(quoted && matches!(before.as_str(), "from" | "to" | "as")));
        let told = next.is_some_and(|next| CHANGES.contains(&next.as_str()))
            || line[range.clone()].ends_with(':') && path_like
            || path_like && near_change(line, &tokens[at + 1..])
            || next_word(line, tokens.get(at + 1)) == "to"
                && before
                    .as_deref()
                    .is_some_and(|before| matches!(before, "reset" | "change" | "changed" | "set" | "update"))
            || before.is_some_and(|before| BEFORE.contains(&before.as_str())) && path_like;
        if told {
            name = Some((at, named, last));
            break;
        }
    }
    let Some((at, named, last)) = name else { return };
    let after = tokens[at].end;
    let mut any = false;
    for range in literals(line, after) {
        let value = &line[range.clone()];
        if !kept_in_sentence(value, &named) {
            spans.push(Span::new(start + range.start..start + range.end, By::Container, named.word));
        }
        any = true;
    }
    // What was quoted before the name is the value too, when the sentence leads from it: `"hunter2" is the new db.password`.
    for range in literals(&line[..tokens[at].start], 0) {
        let value = &line[range.clone()];
        if names::named(value).is_none() && !kept_in_sentence(value, &named) && !value.contains(' ') {
            spans.push(Span::new(start + range.start..start + range.end, By::Container, named.word));
        }
    }
    if any {
        return;
    }
    // Without quotes only the clause right behind the name is read: `is set to x`, `changed from x to y`, `= x`.
    let mut told: Option<Lead> = None;
    let mut distance = 0;
    for range in tokens.iter().skip(at + 1) {
        let word = &line[range.clone()];
        let bare = word.to_lowercase();
        let bare = bare.trim_end_matches([':', ',']);
        distance += 1;
        if let Some(lead) = Lead::of(bare) {
            told = Some(told.map_or(lead, |known| known.max(lead)));
            distance = 0;
            continue;
        }
        if FILLERS.contains(&bare) && distance <= 4 {
            continue;
        }
        let Some(lead) = told.take() else { return };
        let value =
            word.trim_matches(['(', ')', ',', ';', '.', '!', '?', ':', '[', ']', '<', '>', '*', '\'', '"', '`']);
        // `this.token = token` is code, and a flag is no value.
        if !value.contains(char::is_alphanumeric)
            || word.starts_with("--")
            || value == last
            || reading::is_plain_word(word.trim_end_matches([',', ';', '.']), named.strength)
        {
            return;
        }
        let offset = range.start + (value.as_ptr() as usize - word.as_ptr() as usize);
        // After `to` or `=` any word is the value; after `is` or `from` a word of letters says how things are.
        let letters = value.chars().all(char::is_alphabetic);
        if !kept_in_sentence(value, &named) && (lead == Lead::Value || !letters) {
            spans.push(Span::new(start + offset..start + offset + value.len(), By::Container, named.word));
        }
    }
}

/// `Passwort für den Zugang: …`, `pw for bob = …`, `the wifi key is …`: a secret's word, some words, a sign or a verb, and what no
/// word looks like.
fn labelled(line: &str, tokens: &[Range<usize>], start: usize, spans: &mut Vec<Span>) {
    for at in 0..tokens.len() {
        let word = line[tokens[at].clone()].trim_matches(|c: char| !c.is_alphanumeric());
        if word.is_empty() || word.len() > 32 {
            continue;
        }
        // `mot de passe`, `wifi key`: up to three words are one name.
        let strong = |name: &str| names::named(name).is_some_and(|named| named.strength == Strength::Strong);
        let named = strong(word)
            || matches!(word, "key" | "passe" | "code" | "pass")
                && (1..=2).any(|back| {
                    at.checked_sub(back).is_some_and(|first| {
                        let end = word.as_ptr() as usize - line.as_ptr() as usize + word.len();
                        let name = &line[tokens[first].start..end];
                        name.len() < 48 && strong(&name.replace(' ', "_"))
                    })
                });
        if !named {
            continue;
        }
        for sign in at + 1..tokens.len().min(at + 8) {
            let token = &line[tokens[sign].clone()];
            let verb = matches!(token, "is" | "ist" | "est" | "es" | "è" | "är" | "lautet" | "was" | "war" | "remains");
            if !(token == "=" || verb || token.ends_with(':') && token.len() > 1) {
                continue;
            }
            let Some(value) = tokens.get(sign + 1) else { return };
            let shown = line[value.clone()].trim_matches(['"', '\'', '`', '.', ',', ';', ')', '(']);
            let from = value.start + (shown.as_ptr() as usize - line[value.clone()].as_ptr() as usize);
            let digits = shown.bytes().any(|b| b.is_ascii_digit());
            if (opaque::is_mixed(shown) && digits || verb && opaque::is_jumbled(shown))
                && !shown.contains(['/', ':', '='])
                && !is_term(shown)
                && !(word.eq_ignore_ascii_case("signingkey") && shown.bytes().all(|b| b.is_ascii_hexdigit()))
                && !reading::is_kept(shown, Strength::Strong)
            {
                spans.push(Span::new(start + from..start + from + shown.len(), By::Container, "labelled"));
            }
            return;
        }
    }
}

/// `sha256`, `OAuth2`, `base64`: a word with a number behind it, which sentences have of methods and versions.
fn is_term(text: &str) -> bool {
    const TERMS: &[&str] = &[
        "sha", "base", "oauth", "argon", "md", "v", "pbkdf", "utf", "aes", "rs", "hs", "es", "ed", "x", "p", "web",
        "http", "tls", "ipv", "kv", "bcrypt", "scrypt", "rc", "rsa", "ec", "log", "python", "postgres", "mysql",
        "redis",
    ];
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    TERMS.contains(&text[..letters].to_ascii_lowercase().as_str())
        && text.len() < 16
        && text[letters..].starts_with(|c: char| c.is_ascii_digit())
        && text[letters..].bytes().all(|b| b.is_ascii_digit() || b".-_".contains(&b) || matches!(b, b'i' | b'd'))
}

/// `password 'x7Kp2' is too short`, `the default password tiger77 must be changed`: a value right behind the word itself.
fn named_there(line: &str, tokens: &[Range<usize>], start: usize, spans: &mut Vec<Span>) {
    for at in 0..tokens.len() - 1 {
        let word = line[tokens[at].clone()].to_lowercase();
        let typed = matches!(
            word.as_str(),
            "password"
                | "passwd"
                | "passphrase"
                | "passcode"
                | "pw"
                | "psk"
                | "pin"
                | "passwort"
                | "kennwort"
                | "contraseña"
        );
        if !(typed || matches!(word.as_str(), "credential" | "secret" | "token")) {
            continue;
        }
        let next = &line[tokens[at + 1].clone()];
        let quoted = next.starts_with(['"', '\'', '`', '\u{201c}', '«']);
        let before = at.checked_sub(1).map_or("", |at| line[tokens[at].clone()].trim_start_matches(['(', '"']));
        let which = matches!(
            before.to_lowercase().as_str(),
            "default"
                | "initial"
                | "temporary"
                | "weak"
                | "hardcoded"
                | "hard-coded"
                | "plaintext"
                | "plain-text"
                | "admin"
                | "root"
        );
        let value = next.trim_matches(|c: char| "\"'`.,;:()\u{201c}\u{201d}«»".contains(c));
        let from = tokens[at + 1].start + (value.as_ptr() as usize - next.as_ptr() as usize);
        let digit = value.bytes().any(|b| b.is_ascii_digit());
        let upper = value.bytes().any(|b| b.is_ascii_uppercase());
        let sign = value.bytes().any(|b| !b.is_ascii_alphanumeric());
        let ended = next.ends_with([',', '.', ';', ')']) || at + 2 == tokens.len() || before.ends_with(',');
        let alone = typed
            && opaque::is_mixed(value)
            && (upper || sign || ended)
            && !is_term(value)
            && !value.contains([':', '(', '=', '%', '$', '{'])
            && value.len() >= 6;
        let says = quoted && next.len() > value.len() + 1 || which && typed || alone;
        if says
            && value.len() > 3
            && (digit || quoted && opaque::is_jumbled(value))
            && (typed || opaque::is_mixed(value))
            && !opaque::is_identifier(value)
            && names::named(value).is_none()
            && !value.contains(['/', '=', '.'])
            && !reading::is_kept(value, Strength::Strong)
        {
            spans.push(Span::new(start + from..start + from + value.len(), By::Container, "password"));
        }
    }
}

/// Words behind a secret's name after which its value may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lead {
    /// How things are: `is`, `was`, `from`.
    State,
    /// What it is: `to`, `=`, `→`.
    Value,
}

impl Lead {
    fn of(word: &str) -> Option<Lead> {
        match word {
            "ist" | "est" | "es" | "è" | "är" | "er" | "is" | "was" | "has" | "as" | "now" | "becomes" | "became"
            | "from" | "von" | "de" | "with" | "by" | "contains" | "equals" | "changed" | "changes" | "updated"
            | "rotated" | "replaced" | "went" | "goes" | "set" => Some(Lead::State),
            "to" | "=" | "→" | "->" | "=>" | "~>" | ":" | "auf" | "zu" | "lautet" | "à" | "value" => {
                Some(Lead::Value)
            }
            _ => None,
        }
    }
}

/// Words right before a path that a sentence says a value of: `value of x`, `changed x`.
const BEFORE: &[&str] = &["of", "changed", "updated", "rotated", "set", "new", "in", "for", "from", "as", "at", "to"];

/// `DB_PASSWORD in prod.yaml is now …`: a word of change within the next few.
fn near_change(line: &str, tokens: &[Range<usize>]) -> bool {
    tokens.iter().take(5).any(|range| {
        matches!(
            line[range.clone()].trim_end_matches([':', ',']),
            "changed"
                | "was"
                | "is"
                | "now"
                | "set"
                | "updated"
                | "rotated"
                | "→"
                | "->"
                | "=>"
                | "equal"
                | "became"
                | "replaced"
        )
    })
}

fn next_word<'a>(line: &'a str, range: Option<&Range<usize>>) -> &'a str {
    range.map_or("", |range| &line[range.clone()])
}

fn kept_in_sentence(value: &str, named: &names::Named) -> bool {
    reading::is_kept(value, named.strength.max(Strength::Medium))
        || named.word == "signingkey" && pairs::judge_value(value, named, false).is_none()
        || value.parse::<f64>().is_ok() && !pairs::number_counts(value, named, true)
        || NOTHING.contains(&value.to_lowercase().as_str())
        || is_only_a_name(value)
        || is_term(value)
        || opaque::is_identifier(value)
        || names::named(value).is_some() && value.contains(['.', '_']) && !value.bytes().any(|b| b.is_ascii_digit())
}

const NOTHING: &[&str] = &[
    "nothing",
    "empty",
    "absent",
    "missing",
    "unset",
    "removed",
    "added",
    "changed",
    "null",
    "(none)",
    "plaintext",
    "plain",
    "hardcoded",
    "deprecated",
    "required",
    "rotated",
    "rotation",
    "warn",
    "error",
    "info",
];
const CHANGES: &[&str] = &[
    "ist", "est", "lautet", "es", "è", "är", "changed", "changes", "was", "set", "is", "from", "updated", "rotated",
    "now", "becomes", "became", "replaced", "added", "removed", "went", "modified", "equals", "→", "->", "=>", "=",
    "contains", "has", "differs", "differ",
];
const FILLERS: &[&str] = &[
    "the",
    "a",
    "an",
    "value",
    "new",
    "old",
    "now",
    "to",
    "from",
    "be",
    "set",
    "literal",
    "plain",
    "string",
    "plaintext",
    "changed",
    "in",
    "is",
    "was",
    "and",
    "by",
    "for",
    "of",
    "this",
    "that",
    "it",
    "its",
    "not",
    "no",
    "with",
    "as",
    "at",
    "on",
    "your",
    "my",
    "our",
    "their",
    "any",
    "some",
    "before",
    "after",
    "first",
    "when",
    "if",
    "via",
    "then",
];

/// What stands in quotes of any kind, from `from` on.
fn literals(line: &str, from: usize) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut chars = line[from..].char_indices().peekable();
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        let close = match c {
            '"' => '"',
            '`' => '`',
            '\'' if !before.is_alphanumeric() => '\'',
            '\u{201c}' | '\u{201e}' => '\u{201d}',
            '\u{2018}' => '\u{2019}',
            '«' => '»',
            '「' => '」',
            '『' => '』',
            _ => {
                before = c;
                continue;
            }
        };
        let start = from + at + c.len_utf8();
        let Some(length) =
            line[start..].find(close).or_else(|| (c == '\u{201e}').then(|| line[start..].find('\u{201c}')).flatten())
        else {
            before = c;
            continue;
        };
        if length > 0 {
            out.push(start..start + length);
        }
        let end = start + length;
        while chars.peek().is_some_and(|(at, _)| from + at <= end) {
            chars.next();
        }
        before = close;
    }
    out
}
