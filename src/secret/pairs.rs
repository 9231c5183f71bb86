//! What in `name=value` and `name: value` is secret? One scanner for environment lines, properties, INI, YAML and JSON lines,
//! connection strings, queries, headers and attributes: in each of them the key classifier decides about the name, and
//! only how the value ends differs.

use super::scan::{Next, Span};
use super::words::{self, Named, Strength};
use super::{By, accounts, opaque, reading};

/// A name is looked for this many bytes before its sign.
const MAX_NAME: usize = 160;

/// Finds them. A byte is looked at a bounded number of times: names end at the sign before, values are skipped once hidden.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    if !bytes.iter().any(|b| matches!(b, b'=' | b':' | b',')) {
        return;
    }
    let mut ends = Ends {
        text,
        newline: Next::new(text, b'\n'),
        semicolon: Next::new(text, b';'),
        double: Next::new(text, b'"'),
        single: Next::new(text, b'\''),
        back: Next::new(text, b'`'),
    };
    let mut memory: Option<(String, Option<Named>)> = None;
    let mut at = 0;
    let mut last_sign = 0;
    while at < bytes.len() {
        let sign = bytes[at];
        if !matches!(sign, b'=' | b':' | b',') {
            at += 1;
            continue;
        }
        let from = last_sign;
        last_sign = at + 1;
        let Some(key) = key_before(text, at, from) else {
            at += 1;
            continue;
        };
        if sign == b',' && !(key.quoted && key.called && call_pair(text, at, &key)) {
            at += 1;
            continue;
        }
        let mut name = &text[key.start..key.end];
        if sign == b':' && bytes[at - 1] == b'/' {
            // `/tokens/:id`: a route's parameter.
            at += 1;
            continue;
        }
        if name == "key" && ["Public ", "public "].iter().any(|word| text[..key.start].ends_with(word)) {
            at += 1;
            continue;
        }
        if let Some(other) = told_before(text, &key, sign, at) {
            name = other;
        }
        if memory.as_ref().is_none_or(|(known, _)| known != name) {
            memory = Some((name.to_string(), words::named(name)));
        }
        let Some(named) = memory.as_ref().and_then(|(_, named)| *named) else {
            // `user=bob:…`: a user and a password under a user's name.
            if let Some(known) = accounts::holder(name)
                && let Some((start, end, _)) = value_after(&mut ends, at, &key)
                && let Some(part) = accounts::secret_part(&text[start..end], known)
            {
                spans.push(Span::new(start + part.start..start + part.end, By::Container, "user and password"));
            }
            if let Some(length) = ["eval", "cmd", "command"].iter().find_map(|end| name.strip_suffix(end).map(str::len))
                && words::named(&name[..length]).is_some_and(|named| named.strength == Strength::Strong)
                && let Some((start, end, _)) = value_after(&mut ends, at, &key)
                && let Some(literal) =
                    ["echo ", "printf ", "echo -n "].iter().rev().find_map(|tool| text[start..end].strip_prefix(tool))
                && !reading::is_kept(literal, Strength::Strong)
            {
                // `passwordeval "echo x"`: a command that says it, and does not look it up.
                spans.push(Span::new(end - literal.len()..end, By::Container, "password command"));
            }
            at += 1;
            continue;
        };
        if key.in_reference {
            // `${NAME:-literal}`: only the default is a value, and nothing else in the reference is a pair.
            let window = &text[key.start..super::formats::floor(text, key.start + 512)];
            let end = window.find('}').unwrap_or(window.len());
            if let Some(literal) =
                reading::literal_default(&window[..end]).map(|literal| literal.trim_matches(['"', '\'', '`', ' ']))
                && !reading::is_kept(literal, named.strength)
            {
                let start = literal.as_ptr() as usize - text.as_ptr() as usize;
                spans.push(Span::new(start..start + literal.len(), By::Container, named.word));
            }
            at = (key.start + end).max(at + 1);
            last_sign = at;
            continue;
        }
        let Some((start, end, kind)) = value_after(&mut ends, at, &key) else {
            at += 1;
            continue;
        };
        let value = &text[start..end];
        if let Some(body) = heredoc(text, start..end) {
            if !reading::is_kept(&text[body.clone()], named.strength) {
                spans.push(Span::new(body.clone(), By::Container, named.word));
            }
            at = body.end.max(at + 1);
            last_sign = last_sign.max(at);
            continue;
        }
        if names_itself(text, &key, at, start..end) {
            at += 1;
            continue;
        }
        let before = spans.len();
        if key.flag && named.word == "secret" && text[..key.end].ends_with("--secret") && names_one(value) {
            // `--secret=db-password`: which of the secrets that a store has.
            at += 1;
            continue;
        }
        if value.starts_with('[') && named.strength == Strength::Strong && key.start > 0 {
            // `secret: ['x', 'y']`: keys in turn.
            let area = &text[start..super::formats::floor(text, start + 512)];
            let area = &area[..area.find(']').unwrap_or(0)];
            let mut from = start;
            for (which, part) in area.split(['"', '\'']).enumerate() {
                if which % 2 == 1 && opaque::is_passwordish(part) && !reading::is_kept(part, named.strength) {
                    spans.push(Span::new(from..from + part.len(), By::Container, named.word));
                }
                from += part.len() + 1;
            }
        }
        if let Some(part) = accounts::in_tuple(text, start, &named) {
            spans.push(Span::new(part, By::Container, "user and password"));
        }
        judge(value, start, &named, kind, spans);
        at = if spans.len() > before { end.max(at + 1) } else { at + 1 };
        last_sign = last_sign.max(at.min(end));
    }
}

struct Key {
    start: usize,
    end: usize,
    /// The name stands in quotes of its own.
    quoted: bool,
    /// The byte before the name and its quote; a blank at the beginning of the text.
    before: u8,
    /// The quote that opens right before the name and is not closed behind it: it ends the value.
    outer: Option<u8>,
    /// Only layout stands before it on its line.
    first: bool,
    /// A `(` stands before it, or it is a flag: `define('NAME', 'value')`, `["--password", "value"]`.
    called: bool,
    /// `--name`.
    flag: bool,
    /// `${` stands before it.
    in_reference: bool,
}

fn key_before(text: &str, sign: usize, from: usize) -> Option<Key> {
    let bytes = text.as_bytes();
    let floor = from.max(sign.saturating_sub(MAX_NAME));
    let mut end = sign;
    while end > floor && b" \t:?+".contains(&bytes[end - 1]) {
        end -= 1;
    }
    let mut quoted = false;
    let mut quote = 0;
    // `"name"`, `\"name\"`, `['name']`.
    if end > floor && bytes[end - 1] == b']' {
        end -= 1;
    }
    if end > floor && b"\"'`".contains(&bytes[end - 1]) {
        quoted = true;
        quote = bytes[end - 1];
        end -= 1;
        if end > floor && bytes[end - 1] == b'\\' {
            end -= 1;
        }
    }
    let inside =
        |b: u8| b.is_ascii_alphanumeric() || b >= 0x80 || b"_-.@/$~".contains(&b) || quoted && b"[]: ".contains(&b);
    let mut start = end;
    while start > floor && inside(bytes[start - 1]) {
        start -= 1;
    }
    while start < end && (!text.is_char_boundary(start) || b"-./@$~ ".contains(&bytes[start])) {
        start += 1;
    }
    while end > start && !text.is_char_boundary(end) {
        end -= 1;
    }
    if start >= end {
        return None;
    }
    let mut back = start;
    let mut flag = false;
    while back > 0 && b"-./@$~".contains(&bytes[back - 1]) && start - back < 8 {
        flag |= bytes[back - 1] == b'-';
        back -= 1;
    }
    let mut outer = None;
    if back > 0 && b"\"'`".contains(&bytes[back - 1]) {
        if quoted && bytes[back - 1] == quote {
            back -= 1;
            if back > 0 && bytes[back - 1] == b'\\' {
                back -= 1;
            }
        } else {
            outer = Some(bytes[back - 1]);
            back -= 1;
        }
    }
    let before = if back == 0 { b'\n' } else { bytes[back - 1] };
    let line = text[..back].bytes().rev().take(24).take_while(|b| *b != b'\n').count();
    let lead = &bytes[back - line..back];
    let lead = std::str::from_utf8(lead).unwrap_or("x").trim();
    let first = line < 24
        && (lead.is_empty()
            || matches!(
                lead,
                "-" | "export"
                    | "set"
                    | "ENV"
                    | "ARG"
                    | "env"
                    | "- -e"
                    | "-e"
                    | "#"
                    | "//"
                    | "setx"
                    | "*"
                    | "- name"
                    | "declare -x"
                    | "local"
                    | "const"
                    | "let"
                    | "var"
                    | "{"
                    | "["
                    | "+"
                    | ">"
                    | ";"
                    | "!"
            ));
    // `define( 'NAME', …`: blanks after the parenthesis.
    let open = text[..back].trim_end_matches(' ').as_bytes().last().copied().unwrap_or(b'\n');
    let called = before == b'(' || flag || before == b'[' || before == b' ' && quoted && open == b'(';
    let in_reference = before == b'{' && back > 1 && bytes[back - 2] == b'$';
    Some(Key { start, end, quoted, before, outer, first, called, flag, in_reference })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Query,
    Other,
}

struct Ends<'a> {
    text: &'a str,
    newline: Next<'a>,
    semicolon: Next<'a>,
    double: Next<'a>,
    single: Next<'a>,
    back: Next<'a>,
}

impl Ends<'_> {
    fn quote(&mut self, quote: u8, from: usize) -> usize {
        match quote {
            b'"' => self.double.after(from),
            b'\'' => self.single.after(from),
            _ => self.back.after(from),
        }
    }
}

/// Where the value begins and ends.
fn value_after(ends: &mut Ends<'_>, sign: usize, key: &Key) -> Option<(usize, usize, Kind)> {
    let text = ends.text;
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let mut start = sign + 1;
    if bytes[sign] == b':' && byte(start) == b'/' && byte(start + 1) == b'/' {
        return None;
    }
    if bytes[sign] == b'=' && b">=~".contains(&byte(start)) {
        start += 1;
        if byte(start) == b'=' {
            start += 1;
        }
    } else if bytes[sign] == b':' && b"=:".contains(&byte(start)) {
        start += 1;
    }
    // `token==1.0.0`, `tokens~=0.4`: a comparison says the value only where that is a literal in quotes.
    let compared = bytes[sign] == b'=' && (byte(sign + 1) == b'=' || sign > 0 && b"~!<>".contains(&bytes[sign - 1]));
    if compared && !text[start..].trim_start_matches([' ', '=']).starts_with(['"', '\'', '`']) {
        return None;
    }
    let colon = bytes[sign] == b':';
    if colon && !b" \t\n\r\"'`\\".contains(&byte(start)) && !b" \t\n\r\"'`{,([;".contains(&key.before) {
        // `arn:aws:…:secret:name`: parts of one word.
        return None;
    }
    let spaced = sign > 0 && b" \t".contains(&bytes[sign - 1])
        || colon
        || bytes[sign] == b','
        || key.quoted
        || byte(sign + 1) == b'>';
    let newline = ends.newline.after(start.min(text.len()));
    if spaced || key.first {
        while start < newline && b" \t".contains(&byte(start)) {
            start += 1;
        }
    }
    if start >= text.len() || start > newline {
        return None;
    }
    // A quote of its own.
    let escaped = byte(start) == b'\\' && b"\"'".contains(&byte(start + 1));
    if escaped {
        let inside = start + 2;
        let mut end = ends.quote(byte(start + 1), inside);
        if end > inside && byte(end - 1) == b'\\' {
            end -= 1;
        }
        return Some((inside, end, Kind::Other));
    }
    let query = b"?&".contains(&key.before) && key.outer.is_none();
    if b"\"'`".contains(&byte(start)) && Some(byte(start)) != key.outer && !query {
        let quote = byte(start);
        let inside = start + 1;
        let mut end = ends.quote(quote, inside);
        let mut tries = 0;
        while end < text.len()
            && end > inside
            && (byte(end - 1) == b'\\' && byte(end.saturating_sub(2)) != b'\\'
                || byte(end + 1) == quote && key_free(bytes, end))
            && tries < 64
        {
            // An escaped quote, or a doubled one.
            let skip = if byte(end - 1) == b'\\' { 1 } else { 2 };
            end = ends.quote(quote, (end + skip).min(text.len()));
            tries += 1;
        }
        return Some((inside, end.max(inside), Kind::Other));
    }
    let outer_end = key.outer.map_or(text.len(), |quote| ends.quote(quote, start));
    let stop = newline.min(outer_end);
    if query {
        let length =
            text[start..stop].find(|c: char| c.is_whitespace() || "&#\"'<>`\\".contains(c)).unwrap_or(stop - start);
        return Some((
            start,
            start + text[start..start + length].trim_end_matches(['.', ',', ';', ')', ']']).len(),
            Kind::Query,
        ));
    }
    if byte(start) == b'{' && bytes[sign] == b'=' && !text[start..stop].starts_with("{{") {
        // `PWD={a;b}` of ODBC: `}` is doubled inside.
        let mut end = start + 1;
        while end < stop && !(byte(end) == b'}' && byte(end + 1) != b'}') {
            end += if byte(end) == b'}' { 2 } else { 1 };
        }
        if end < stop && (end + 1 == stop || b"; ".contains(&byte(end + 1))) {
            return Some((start + 1, end, Kind::Other));
        }
    }
    // A connection string: the value ends at a semicolon that another pair follows, or that ends the text.
    if !colon {
        let semicolon = ends.semicolon.after(start);
        if semicolon < stop
            && (key.before == b';'
                || pair_follows(text, semicolon + 1)
                || text[semicolon + 1..stop].trim().is_empty() && !key.first)
        {
            return Some((start, semicolon, Kind::Other));
        }
    }
    let whole_line = key.first || key.outer.is_some();
    let mut end = start;
    while end < stop {
        let b = byte(end);
        let next = byte(end + 1);
        if b == b'{' && (next == b'{' || end > 0 && byte(end - 1) == b'$') || b == b'$' && next == b'(' {
            // Over a reference as a whole: `{{ .Values.x }}`.
            let close = if next == b'{' {
                "}}"
            } else if b == b'{' {
                "}"
            } else {
                ")"
            };
            let window = &text[end..super::formats::floor(text, stop.min(end + 512))];
            if let Some(length) = window.find(close) {
                end += length + close.len();
                continue;
            }
        }
        if whole_line {
            let blank = b == b' ' || b == b'\t';
            let stops = blank
                && (next == b'#'
                    || next == b'|'
                    || text[end + 1..].starts_with("&&")
                    || text[end + 1..].starts_with("--")
                    || pair_follows(text, end + 1) && !colon)
                || b == b'&' && pair_follows(text, end + 1) && !colon
                || b == b',' && pair_follows(text, end + 1);
            if stops {
                break;
            }
        } else {
            let stops = b.is_ascii_whitespace()
                || b == b'\\' && b"nrt\"'".contains(&next)
                || b"\"'`<>".contains(&b) && end > start
                || b == b'&' && pair_follows(text, end + 1)
                || b == b',' && (pair_follows(text, end + 1) || colon || next == b' ')
                || b == b';' && (next == b' ' || end + 1 == stop)
                || colon && b == b'}'
                || key.before == b',' && b == b','
                || key.before == b'{' && b == b'}';
            // `password: correct horse`: a value of several words in a line of its own is taken above.
            if stops {
                break;
            }
        }
        end += 1;
    }
    end = super::formats::floor(text, end);
    if colon
        && !key.first
        && !key.quoted
        && !key.flag
        && key.outer.is_none()
        && byte(sign + 1) != b' '
        && b" \n".contains(&key.before)
        && end == start
    {
        return None;
    }
    let tight = colon && byte(sign + 1) == byte(start) && !key.quoted && key.outer.is_none() && !key.first;
    // `where the password: prefix was dropped`: a sentence goes on behind a word.
    let prose = colon
        && !key.first
        && !key.quoted
        && key.outer.is_none()
        && key.before == b' '
        && byte(end) == b' '
        && byte(end + 1).is_ascii_lowercase()
        && end > start
        && text[start..end].bytes().all(|b| b.is_ascii_lowercase());
    if prose {
        return None;
    }
    if byte(end) == b'<'
        && end > start
        && byte(start).is_ascii_uppercase()
        && text[start..end].bytes().all(|b| b.is_ascii_alphabetic())
    {
        // `password: Option<String>`.
        return None;
    }
    if tight && text[start..end].bytes().all(|b| b.is_ascii_lowercase() || b"-_.".contains(&b)) {
        // `rake secrets:check`: a task, a tag, a name within a name.
        return None;
    }
    let mut value = text[start..end].trim_end();
    if !whole_line {
        value = trim_closing(value);
        if value.is_empty() {
            value = text[start..end].trim_end();
        }
    } else if key.quoted {
        value = value.trim_end_matches([',', '}', ']', ' ']);
    }
    Some((start, start + value.len(), Kind::Other))
}

/// A value in a line without what closes something that was opened before it, and without what ends a sentence.
fn trim_closing(mut value: &str) -> &str {
    loop {
        let Some(last) = value.chars().next_back() else { return value };
        let open = match last {
            ')' => '(',
            ']' => '[',
            '}' => '{',
            '.' | ',' | ';' | '!' | '?' => '\0',
            ':' if value.ends_with("):") => '\0',
            _ => return value,
        };
        if open != '\0' && value.matches(open).count() >= value.matches(last).count() {
            return value;
        }
        value = &value[..value.len() - 1];
    }
}

/// `define('DB_PASSWORD', 'x')`: a name of several words or in capitals, and a quoted value behind the comma. `list("token", "-i")` is
/// a list of words.
fn call_pair(text: &str, comma: usize, key: &Key) -> bool {
    let name = &text[key.start..key.end];
    let rest = text[comma + 1..].trim_start();
    let value = rest.strip_prefix(['"', '\'']);
    let compound = words::split(name).len() > 1 || name.bytes().all(|b| !b.is_ascii_lowercase());
    let set = || {
        let head = text[super::formats::floor(text, key.start.saturating_sub(24))..key.start]
            .trim_end_matches(['"', '\'', ' ']);
        [
            "setProperty(",
            "put(",
            "set(",
            "setenv(",
            "addProperty(",
            "setAttribute(",
            "setdefault(",
            "SetEnvironmentVariable(",
        ]
        .iter()
        .any(|call| head.ends_with(call))
    };
    value.is_some_and(|value| !value.starts_with('-')) && (compound || key.flag || set())
}

/// A doubled quote is one inside SQL and INI values only where the value goes on behind it.
fn key_free(bytes: &[u8], at: usize) -> bool {
    bytes.get(at + 2).is_some_and(u8::is_ascii_alphanumeric)
}

/// Whether `name=` or `name =` follows, after blanks.
fn pair_follows(text: &str, from: usize) -> bool {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() && at < from + 4 && b" \t".contains(&bytes[at]) {
        at += 1;
    }
    let start = at;
    while at < bytes.len() && at < start + 48 && (bytes[at].is_ascii_alphanumeric() || b"_-. ".contains(&bytes[at])) {
        at += 1;
    }
    at > start
        && at < bytes.len()
        && bytes[at] == b'='
        && bytes[start].is_ascii_alphabetic()
        && bytes.get(at + 1) != Some(&b'=')
}

/// The name that another pair gives: `name: API_TOKEN, value: x` in one line, `val password: String = "x"`.
fn told_before<'a>(text: &'a str, key: &Key, sign: u8, at: usize) -> Option<&'a str> {
    let floor = super::formats::floor(text, key.start.saturating_sub(MAX_NAME));
    let head = text[floor..key.start].trim_end_matches(['"', '\'', '\\', ' ', '&']);
    let word = |text: &'a str| {
        let text = text.trim_end_matches(['"', '\'', '\\', ' ', ',']);
        let from = text
            .rfind(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)))
            .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
        (&text[..from], &text[from..])
    };
    let name = &text[key.start..key.end];
    if sign == b'=' && super::context::VALUE_FIELDS.contains(&&*super::context::glued(name)) {
        // `write-attribute(name=password,value=x)`, `key=DB_PASSWORD value=x`.
        let (rest, said) = word(head);
        let names = rest
            .strip_suffix('=')
            .is_some_and(|rest| super::context::NAME_FIELDS.contains(&&*super::context::glued(word(rest).1)));
        if names && words::named(said).is_some_and(|named| named.strength == Strength::Strong) {
            return Some(said);
        }
    }
    if sign == b'=' && name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        // A type between a name and its value.
        let (_, before) = word(head.strip_suffix(':')?);
        return (text.as_bytes().get(at + 1) == Some(&b' ') && words::named(before).is_some()).then_some(before);
    }
    if sign == b':' && super::context::VALUE_FIELDS.contains(&&*super::context::glued(name)) {
        let (rest, said) = word(head.strip_suffix(',')?);
        let (_, field) = word(rest.trim_end_matches(['"', '\'', '\\', ' ']).strip_suffix(':')?);
        let names = super::context::NAME_FIELDS.contains(&&*super::context::glued(field));
        return (names && words::named(said).is_some_and(|named| named.strength == Strength::Strong)).then_some(said);
    }
    None
}

/// The lines of `<<EOF … EOF`, where a value is one.
fn heredoc(text: &str, value: std::ops::Range<usize>) -> Option<std::ops::Range<usize>> {
    let word = text[value.clone()].strip_prefix("<<")?.trim_start_matches(['-', '~']).trim_matches(['"', '\'']);
    let fine = (2..32).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let start = value.end + text[value.end..].find('\n').filter(|at| *at < 4)? + 1;
    let area = &text[start..super::formats::floor(text, start + 8192)];
    let mut at = 0;
    for line in area.split('\n') {
        if fine && line.trim() == word && at > 0 {
            return Some(start..start + at - 1);
        }
        at += line.len() + 1;
    }
    None
}

/// `connect(user=u, password=pw)`, `this.token = token`: code that passes on what a name holds.
fn names_itself(text: &str, key: &Key, sign: usize, value: std::ops::Range<usize>) -> bool {
    let name = &text[key.start..key.end];
    let shown = text[value.clone()].trim_end_matches(';');
    if text.as_bytes()[sign] != b'=' || shown.is_empty() || !shown.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
    {
        return false;
    }
    if let Some(member) = name.strip_prefix("this.").or_else(|| name.strip_prefix("self.")) {
        return member == shown;
    }
    // An argument of a call: what opened the parenthesis is a name, and a comma or the end follows.
    let window = super::formats::floor(text, key.start.saturating_sub(256));
    let called =
        text[window..key.start].rsplit(['\n', ')']).next().and_then(|line| line.rfind('(').map(|open| &line[..open]));
    let head = called.is_some_and(|head| head.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'));
    let closed = text[value.end..].trim_start().starts_with([')', ',']);
    head && closed && value.start == sign + 1 && (shown.len() < 3 || words::named(shown).is_some())
}

/// Whether the value is hidden, and how much of it.
fn judge(value: &str, start: usize, named: &Named, kind: Kind, spans: &mut Vec<Span>) {
    let trimmed = value.trim();
    if trimmed.is_empty() {
        return;
    }
    let start = start + (value.len() - value.trim_start().len());
    if let Some((range, word)) = judge_value(trimmed, named, kind == Kind::Query) {
        spans.push(Span::new(start + range.start..start + range.end, By::Container, word));
    }
}

/// Which part of a value under a name is hidden: nothing, the credential behind a scheme, a reference's default, or all of it.
pub(super) fn judge_value(value: &str, named: &Named, query: bool) -> Option<(std::ops::Range<usize>, &'static str)> {
    let all = Some((0..value.len(), named.word));
    if value.parse::<f64>().is_ok() && !number_counts(value, named, true) {
        return None;
    }
    if value.starts_with('[') && (value.ends_with([']', ',']) || !value.contains(']'))
        || value.starts_with('{')
            && !value.starts_with("{{")
            && value.len() > 1
            && (value.contains(':') || value.contains(','))
    {
        // A list or a map in flow style: its own pairs are looked at one by one.
        return None;
    }
    if value.len() > 2
        && matches!(value.as_bytes()[0], b'&' | b'*')
        && named.strength >= Strength::Medium
        && value[1..].bytes().all(|b| b.is_ascii_lowercase() || b"_-".contains(&b))
    {
        // An anchor or an alias of YAML.
        return None;
    }
    if matches!(value, "|" | ">" | "|-" | ">-" | "|+" | ">+" | "{" | "[" | "(" | "\\" | "{}" | "[]" | "\"\"" | "''") {
        return None;
    }
    if let Some((name, version)) = value.split_once(':')
        && names_one(name)
        && (version == "latest"
            || !version.is_empty() && version.len() < 4 && version.bytes().all(|b| b.is_ascii_digit()))
    {
        // `--set-secrets=DB_PASSWORD=db-password:latest`: a stored secret and its version.
        return None;
    }
    if let Some(literal) = default_in_reference(value) {
        return Some((literal, named.word));
    }
    if value.starts_with("***") && value.len() < 6 {
        // The replacement of a `sed` command.
        return None;
    }
    if [".*", "([", "(?", "[^", "\\S", "\\w"].iter().any(|start| value.starts_with(start)) {
        // A regular expression for one.
        return None;
    }
    if query && value.strip_prefix(':').is_some_and(|name| words::named(name).is_some()) {
        // `/reset?token=:token`: a route's parameter.
        return None;
    }
    if matches!(named.word, "gpgkey" | "pgpkey") && is_key_id(value)
        || named.word == "signingkey" && is_key_id(value) && value.bytes().all(|b| !b.is_ascii_lowercase())
    {
        return None;
    }
    if query && named.strength == Strength::Weak {
        // In a query `key`, `sig` and `code` are credentials as soon as they are longer than a word.
        return (value.len() >= 16
            && value.bytes().any(|b| b.is_ascii_digit())
            && !opaque::is_uuid(value)
            && !reading::is_reference(value))
        .then_some((0..value.len(), named.word));
    }
    if named.strength < Strength::Strong && value.starts_with('#') && value.contains(' ')
        || value.starts_with("#see ")
        || value.starts_with("# ")
    {
        // A comment where a value would be.
        return None;
    }
    if let Some((scheme, credential)) = value.split_once(' ')
        && (!reading::is_prose(value) || named.word == "authorization" && is_one_credential(credential))
        && SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme))
    {
        let offset = value.len() - credential.trim_start().len();
        if reading::is_kept(&value[offset..], Strength::Medium) {
            return None;
        }
        return Some((offset..value.len(), named.word));
    }
    if named.word == "secretid" && opaque::is_uuid(value) {
        return all;
    }
    if words::names_a_field(named) && is_field_name(value) {
        return None;
    }
    if named.strength == Strength::Medium && value.contains('\n') && value.contains(['=', '{']) {
        // A block of configuration under `auth`: its own pairs are looked at one by one.
        return None;
    }
    if named.strength == Strength::Medium && named.word != "pass" && is_several_words(value) {
        return None;
    }
    if named.word == "licensekey" && LICENSES.contains(&value.to_ascii_lowercase().as_str()) {
        return None;
    }
    if matches!(named.word, "passwd" | "passw") && value.split_whitespace().all(|word| NSS.contains(&word)) {
        // Where a system looks its users up: `passwd: files sss`.
        return None;
    }
    if named.word == "secretkey"
        && named.strength == Strength::Medium
        && value.bytes().all(|b| b.is_ascii_lowercase() || b"-_.".contains(&b))
    {
        // `secret.key: db-password`: which key of a Secret.
        return None;
    }
    if named.word == "token" && named.many && is_style(value) {
        return None;
    }
    if named.word == "pin"
        && (is_count_of_pins(value) || value.contains(',') && value.split(',').all(|pin| is_board_pin(pin.trim())))
    {
        return None;
    }
    if named.word == "pin" && !value.bytes().any(|b| b.is_ascii_digit()) && value.len() < 16 {
        // What an actor or a pin of a board is called.
        return None;
    }
    if reading::is_kept(value, named.strength) || named.word == "pin" && is_board_pin(value) {
        return None;
    }
    if named.strength == Strength::Weak && DIGESTS.contains(&named.word) && value.bytes().all(|b| b.is_ascii_hexdigit())
    {
        return None;
    }
    all
}

/// A name of a stored secret: words of small letters, which no digit makes a password of.
pub(super) fn names_one(value: &str) -> bool {
    value.contains(['-', '_', '/']) && value.bytes().all(|b| b.is_ascii_lowercase() || b"-_/.".contains(&b))
}

/// `Bearer violet-falcon` under `Authorization`: one word that does not say what the header is.
fn is_one_credential(text: &str) -> bool {
    let text = text.trim();
    !text.contains(' ')
        && words::named(text).is_none()
        && !matches!(text.to_ascii_lowercase().as_str(), "authentication" | "required" | "header" | "scheme" | "realm")
}

/// Sources in `nsswitch.conf`.
const NSS: &[&str] = &[
    "files",
    "sss",
    "ldap",
    "nis",
    "nisplus",
    "compat",
    "systemd",
    "winbind",
    "db",
    "dns",
    "altfiles",
    "extrausers",
    "mymachines",
    "myhostname",
    "resolve",
    "cache",
    "hesiod",
];

/// `#ff8800`, `16px`, `0.5rem`, `rgb(1 2 3)`, `var(--x)`: how something looks.
fn is_style(value: &str) -> bool {
    let color = value
        .strip_prefix('#')
        .is_some_and(|hex| matches!(hex.len(), 3 | 4 | 6 | 8) && hex.bytes().all(|b| b.is_ascii_hexdigit()));
    let function = ["rgb(", "rgba(", "hsl(", "hsla(", "var(", "calc(", "oklch(", "linear-gradient(", "cubic-bezier("]
        .iter()
        .any(|start| value.starts_with(start) && value.ends_with(')'));
    let size = value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    let unit = &value[size.len()..];
    let length = matches!(unit, "px" | "rem" | "em" | "%" | "vh" | "vw" | "pt" | "ms" | "deg" | "fr" | "ch")
        && !size.is_empty()
        && size.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'-');
    color || function || length
}

/// `4 pins`, `2x20 pin header`, `pins 3 and 4`: how many or which pins a plug has.
fn is_count_of_pins(value: &str) -> bool {
    let grid = value.split_once('x').is_some_and(|(rows, columns)| {
        [rows, columns].iter().all(|n| (1..=2).contains(&n.len()) && n.bytes().all(|b| b.is_ascii_digit()))
    });
    grid || value.contains("pin")
        && value.bytes().all(|b| b.is_ascii_alphanumeric() || b", -".contains(&b))
        && value.contains(' ')
        && value.split(' ').all(|word| word.bytes().filter(u8::is_ascii_digit).count() <= 3)
        || value.contains(' ')
            && value.split(' ').all(|word| {
                let digits = word.bytes().filter(u8::is_ascii_digit).count();
                digits <= 3 && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b",-".contains(&b))
            })
}

/// `0xDEADBEEFDEADBEEF`: the id or the fingerprint of an OpenPGP key.
fn is_key_id(value: &str) -> bool {
    let digits = value.strip_prefix("0x").unwrap_or(value);
    matches!(digits.len(), 8 | 16 | 40) && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Weak names under which a hexadecimal text is a digest or a commit.
const DIGESTS: &[&str] =
    &["hash", "signature", "sig", "sign", "seed", "serial", "nonce", "identity", "blob", "keys", "ticket", "session"];

/// `user_id`, `createdAt`, `email`: what a field is called.
fn is_field_name(value: &str) -> bool {
    const ENDS: &[&str] = &[
        "id",
        "ids",
        "name",
        "email",
        "uuid",
        "at",
        "key",
        "code",
        "type",
        "number",
        "date",
        "ref",
        "slug",
        "ip",
        "title",
        "time",
        "user",
        "username",
        "tenant",
        "account",
        "phone",
        "address",
        "status",
        "region",
        "zone",
        "country",
        "label",
        "index",
        "sku",
        "timestamp",
        "version",
        "hash",
        "path",
        "url",
        "host",
        "org",
        "role",
        "group",
        "category",
        "locale",
        "state",
    ];
    let words = words::split(value);
    value.len() < 48
        && value.starts_with(|c: char| c.is_ascii_lowercase())
        && value.bytes().all(|b| b.is_ascii_alphabetic() || b"_.-".contains(&b))
        && words.last().is_some_and(|last| ENDS.contains(&last.as_str()))
}

/// `support tokens (#1234)`: three words, of which the first is no scheme and has letters only.
fn is_several_words(value: &str) -> bool {
    let mut words = value.split(' ').filter(|word| !word.is_empty());
    let first = words.next().unwrap_or("");
    first.bytes().all(|b| b.is_ascii_lowercase())
        && words.clone().count() >= 2
        && !value.split(' ').any(|word| opaque::is_opaque(word) || opaque::is_password_like(word))
}

/// Names of licences, which stand under `license_key` in lists of repositories.
const LICENSES: &[&str] = &[
    "mit",
    "apache-2.0",
    "gpl-2.0",
    "gpl-3.0",
    "agpl-3.0",
    "lgpl-3.0",
    "bsd-2-clause",
    "bsd-3-clause",
    "mpl-2.0",
    "isc",
    "unlicense",
    "other",
    "cc0-1.0",
];

/// `GPIO14`, `D3`, `PA_5`: a pin of a chip.
fn is_board_pin(value: &str) -> bool {
    let value = ["GPIO_NUM_", "GPIO", "Arduino", "IO_", "PIN_"]
        .iter()
        .find_map(|start| value.strip_prefix(start))
        .unwrap_or(value);
    let letters = value.bytes().take_while(|b| b.is_ascii_alphabetic() || *b == b'_').count();
    let digits = value.len() - letters;
    letters <= 6 && (1..=3).contains(&digits) && value[letters..].bytes().all(|b| b.is_ascii_digit())
}

/// Whether a number under this name can be the secret.
pub(super) fn number_counts(value: &str, named: &Named, text: bool) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    // A token or a key of digits alone is a count, unless it is long and written as text.
    let digits_of_text = !named.numbers && named.strength == Strength::Strong && !named.many && digits >= 5;
    if digits_of_text && text && value.bytes().all(|b| b.is_ascii_digit()) {
        return true;
    }
    // What stands under `credentials` by a name of its own is one, also of digits alone.
    if matches!(named.word, "credential" | "credentials" | "creds") && digits >= 6 && digits == value.len() {
        return true;
    }
    named.numbers
        && named.strength >= Strength::Medium
        && digits >= if named.word == "pin" || named.word == "pass" { 4 } else { 3 }
        && !value.contains('.')
        && !value.starts_with('-')
}

/// Schemes of `Authorization`.
pub(super) const SCHEMES: &[&str] = &[
    "basic",
    "bearer",
    "token",
    "digest",
    "ssws",
    "apikey",
    "api-key",
    "negotiate",
    "ntlm",
    "hawk",
    "oauth",
    "geniekey",
    "splunk",
    "bot",
    "aws4-hmac-sha256",
    "key",
    "jwt",
    "dpop",
    "mac",
    "sharedkey",
    "sharedaccesssignature",
    "client",
    "klaviyo-api-key",
    "discogs",
    "gogs",
    "pat",
    "macaroon",
    "snowflake",
    "zoho-oauthtoken",
];

/// The literal default of a reference that is the whole value: `${PW:-hunter2}`, `{{ pw | default "x" }}`.
pub(super) fn default_in_reference(value: &str) -> Option<std::ops::Range<usize>> {
    let opened = ["${{", "{{", "${", "$(", "#{", "%{"].iter().find(|open| value.starts_with(**open))?;
    let close = match *opened {
        "${{" | "{{" => "}}",
        "$(" => ")",
        _ => "}",
    };
    if !value.ends_with(close) || value.len() < opened.len() + close.len() {
        return None;
    }
    let body = &value[opened.len()..value.len() - close.len()];
    if *opened == "%{"
        && body.split(':').all(|part| part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
        && body.starts_with(|c: char| c.is_ascii_uppercase())
    {
        // A pattern of grok: `%{WORD:token}`.
        return None;
    }
    let literal = reading::literal_default(body)?;
    let literal = literal.trim().trim_start_matches('(').trim_end_matches([')', ' ']);
    let inner = literal.trim_matches(['"', '\'', '`']);
    let offset = inner.as_ptr() as usize - value.as_ptr() as usize;
    Some(offset..offset + inner.len())
}
