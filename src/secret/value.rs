//! How does a value lose its secrets? Walks it with the evidence of its place and gives back another value, or says that nothing had to
//! be hidden.

use super::context::{Context, Hold, NAME_FIELDS, VALUE_FIELDS, glued};
use super::scan::{self, redact};
use super::words::{self, Named, Strength};
use super::{By, Evidence, MASK, accounts, command, opaque, pairs, reading};
use crate::limits::MAX_EMBEDDED;
use crate::path::Segment;
use crate::pattern::Pattern;
use crate::value::{ENVELOPE, Envelope, Value};
use foldhash::HashMap;

/// How a key's name is shown; `None` when nothing in it is secret.
pub(super) fn shown_name(name: &str) -> Option<String> {
    let spans = scan::scan(name, false);
    (!spans.is_empty()).then(|| settled_name(name, &spans))
}

fn settled_name(name: &str, spans: &[scan::Span]) -> String {
    settle(&redact(name, spans), |text| {
        let spans = scan::scan(text, false);
        (!spans.is_empty()).then(|| redact(text, &spans))
    })
}

/// What was hidden, and why. The text stays inside the process: it is what the mask looks for elsewhere.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    pub(super) evidence: Evidence,
    pub(super) hidden: String,
}

/// Collects what is hidden, and knows what the operator said of paths.
#[derive(Debug, Default)]
pub(super) struct Walk<'a> {
    pub(super) hits: Vec<Hit>,
    /// Patterns of `--allow` and `--mask`, and the path of the value that is walked; unused when there are none.
    pub(super) allow: &'a [Pattern],
    pub(super) mask: &'a [Pattern],
    pub(super) path: Vec<Segment>,
}

/// How often a text may change before it is hidden whole: what a mask leaves may read as something else once.
const ROUNDS: usize = 4;

impl Walk<'_> {
    fn hit(&mut self, by: By, word: &str, hidden: &str) {
        self.hits.push(Hit { evidence: Evidence { by, word: word.to_string() }, hidden: hidden.to_string() });
    }

    /// The value without its secrets; `None` when there are none.
    pub(super) fn value(&mut self, context: &Context, value: &Value) -> Option<Value> {
        if !(self.allow.is_empty() && self.mask.is_empty()) {
            let path = crate::path::Path(self.path.clone());
            if self.mask.iter().any(|pattern| pattern.covers(&path)) {
                return self.whole(By::Operator, "--mask", value);
            }
            if self.allow.iter().any(|pattern| pattern.covers(&path)) {
                return None;
            }
        }
        match value {
            Value::Null | Value::Bool(_) => None,
            Value::Number(text) => self.number(context, text),
            Value::String(text) => self.string(context, text).map(Value::String),
            Value::List(items) => self.list(context, items),
            Value::Map(entries) => match value.envelope() {
                Some(envelope) => self.envelope(context, value, &envelope),
                None => self.map(context, entries),
            },
        }
    }

    /// Every scalar of a value, whatever it is.
    fn whole(&mut self, by: By, word: &str, value: &Value) -> Option<Value> {
        match value {
            Value::String(text) if reading::is_masked(text) => None,
            Value::Null => None,
            scalar @ (Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
                self.hit(by, word, &scalar.to_text());
                Some(Value::String(MASK.into()))
            }
            Value::List(items) if items.is_empty() => None,
            Value::Map(entries) if entries.is_empty() => None,
            other => {
                let mut texts = Vec::new();
                strings(other, &mut texts);
                for text in texts {
                    self.hit(by, word, &text);
                }
                Some(Value::String(MASK.into()))
            }
        }
    }

    fn number(&mut self, context: &Context, text: &str) -> Option<Value> {
        let hold = context.hold?;
        let counts = hold.by == By::Document || pairs::number_counts(text, &hold.named, false);
        if !counts {
            return None;
        }
        self.hit(hold.by, hold.named.word, text);
        Some(Value::String(MASK.into()))
    }

    fn list(&mut self, context: &Context, items: &[Value]) -> Option<Value> {
        if let Some(hold) =
            context.hold.filter(|hold| hold.named.strength == Strength::Strong && is_key_of_bytes(hold, items))
        {
            return Some(Value::List(
                items
                    .iter()
                    .map(|item| {
                        self.hit(hold.by, hold.named.word, &item.to_text());
                        Value::String(MASK.into())
                    })
                    .collect(),
            ));
        }
        let texts: Vec<Option<&str>> = items.iter().map(Value::as_str).collect();
        let mut changed: Vec<Option<Value>> = vec![None; items.len()];
        if texts.iter().flatten().count() > 1 && texts.iter().flatten().any(|text| text.starts_with(['-', '/'])) {
            for (at, range, word) in command::arguments(&texts) {
                let Some(text) = texts[at] else { continue };
                self.hit(By::Container, word, &text[range.clone()]);
                changed[at] = Some(Value::String(format!("{}{MASK}{}", &text[..range.start], &text[range.end..])));
            }
        }
        // `["DB_PASSWORD", "x"]`: a name of several words and what no word looks like.
        if let [Some(name), Some(value)] = texts.as_slice()
            && name.contains(['_', '-', '.'])
            && opaque::is_passwordish(value)
            && !opaque::is_identifier(value)
            && words::named(value).is_none()
            && let Some(named) = words::named(name).filter(|named| named.strength == Strength::Strong)
            && !reading::is_kept(value, Strength::Strong)
        {
            self.hit(By::Sibling, named.word, value);
            return Some(Value::List(vec![items[0].clone(), Value::String(MASK.into())]));
        }
        // `[["password", "x"], …]`, `["password", "x"]` under no name: a pair whose first is a name.
        for (at, item) in items.iter().enumerate() {
            let mut inner = context.item();
            if let Value::List(pair) = item
                && let [Value::String(name), _] = pair.as_slice()
                && inner.hold.is_none()
                && let Some(named) = words::named(name).filter(|named| {
                    named.strength == Strength::Strong
                        || named.strength == Strength::Medium && pair[1].as_str().is_some_and(opaque::is_random)
                })
            {
                let mut pair = pair.clone();
                let beside = context.beside("value", named);
                if let Some(masked) = self.value(&beside, &pair[1]) {
                    pair[1] = masked;
                    changed[at] = Some(Value::List(pair));
                    continue;
                }
            }
            inner.entry = None;
            let known = changed[at].take();
            self.path.push(Segment::Index(at));
            let masked = self.value(&inner, known.as_ref().unwrap_or(item));
            self.path.pop();
            changed[at] = masked.or(known);
        }
        if changed.iter().all(Option::is_none) {
            return None;
        }
        Some(Value::List(items.iter().zip(changed).map(|(item, new)| new.unwrap_or_else(|| item.clone())).collect()))
    }

    fn map(&mut self, context: &Context, entries: &[(String, Value)]) -> Option<Value> {
        let siblings = Siblings::of(entries);
        let mut out: Vec<(String, Value)> = Vec::with_capacity(entries.len());
        let mut names = Names::default();
        let mut any = false;
        for (name, value) in entries {
            let inner = siblings.context(context, name);
            self.path.push(Segment::Key(name.clone()));
            let masked = self.value(&inner, value);
            self.path.pop();
            any |= masked.is_some();
            let mut key = name.clone();
            let told = context.hold.is_some_and(|hold| hold.named.strength == Strength::Strong && !hold.shield);
            if told && matches!(value, Value::Null | Value::Bool(true)) && is_value_for_a_key(name) {
                // `passwords: {hunter-22: null}`: a set, whose members are its keys.
                self.hit(By::Key, "member", name);
                any = true;
                key = names.unique(MASK.to_string(), &out);
            } else if let Some(shown) = self.name(name) {
                any = true;
                key = names.unique(shown, &out);
            }
            out.push((key, masked.unwrap_or_else(|| value.clone())));
        }
        any.then_some(Value::Map(out))
    }

    /// A key's name without its secrets.
    pub(super) fn name(&mut self, name: &str) -> Option<String> {
        if name.len() < 8 {
            return None;
        }
        let spans = scan::scan(name, false);
        if spans.is_empty() {
            return None;
        }
        for span in &spans {
            self.hit(span.by, &span.word, &name[span.range.clone()]);
        }
        Some(settled_name(name, &spans))
    }

    fn envelope(&mut self, context: &Context, value: &Value, envelope: &Envelope<'_>) -> Option<Value> {
        match envelope {
            Envelope::Tagged { tag, value: inner } => {
                if matches!(
                    *tag,
                    "!secret"
                        | "!env"
                        | "!env_var"
                        | "!vault"
                        | "!encrypted/pkcs1-oaep"
                        | "!Ref"
                        | "!GetAtt"
                        | "!ImportValue"
                        | "!reference"
                        | "!include"
                        | "!var"
                        | "!file"
                ) && inner.as_str().is_some_and(|text| text.len() < 200 && !opaque::is_random(text))
                {
                    return None;
                }
                let masked = self.value(context, inner)?;
                Some(replaced(value, "value", masked))
            }
            Envelope::Entries(pairs) => {
                let mut any = false;
                let mut out = Vec::with_capacity(pairs.len());
                for pair in *pairs {
                    let masked = match pair {
                        Value::List(two) => match two.as_slice() {
                            [Value::String(name), inner] => self.value(&context.key(name), inner).map(|masked| {
                                Value::List(vec![
                                    Value::String(self.name(name).unwrap_or_else(|| name.clone())),
                                    masked,
                                ])
                            }),
                            _ => self.value(context, pair),
                        },
                        _ => self.value(context, pair),
                    };
                    any |= masked.is_some();
                    out.push(masked.unwrap_or_else(|| pair.clone()));
                }
                any.then(|| replaced(value, "entries", Value::List(out)))
            }
            Envelope::Text { kind: "int" | "float", text } => self.number(context, text),
            Envelope::Text { kind: "expression", text } => {
                let masked = self.expression(context, text)?;
                Some(replaced(value, "text", Value::String(masked)))
            }
            Envelope::Long { text } | Envelope::Text { text, .. } => {
                // A scalar by its source text: hidden whole or not at all, because half a date is no date.
                let mut inner = Walk::default();
                let masked = inner.string(context, text)?;
                self.hits.append(&mut inner.hits);
                Some(Value::String(if masked.contains(MASK) || masked.contains("[REDACTED") {
                    masked
                } else {
                    MASK.into()
                }))
            }
        }
    }

    /// An expression of a language: what it names is no value, what it quotes is one.
    fn expression(&mut self, context: &Context, text: &str) -> Option<String> {
        let mut spans = Vec::new();
        let mut from = 0;
        while let Some(open) = text[from..].find('"').map(|at| from + at + 1) {
            let Some(close) = text[open..].find('"').map(|at| open + at) else { break };
            let literal = &text[open..close];
            let before = text[..open - 1].trim_end();
            let index = before.ends_with('[') || text[close + 1..].starts_with([']', ':']);
            // `name = "…"` inside of an object says more than the expression's own place.
            let beside = before.strip_suffix(['=', ':']).map(|before| {
                let name = before.trim_end().trim_end_matches('"');
                name.rsplit(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).next().unwrap_or("")
            });
            let named = match beside.filter(|name| !name.is_empty()) {
                Some(name) => words::named(name),
                None => context.hold.map(|hold| hold.named),
            };
            let judged = named
                .filter(|named| {
                    named.strength > Strength::Weak
                        && !index
                        && !opaque::is_identifier(literal)
                        && words::named(literal).is_none()
                })
                .and_then(|named| pairs::judge_value(literal, &named, false));
            match judged {
                Some((part, word)) => spans.push(scan::Span::new(open + part.start..open + part.end, By::Key, word)),
                None => spans.extend(
                    scan::scan(literal, true)
                        .into_iter()
                        .map(|span| scan::Span { range: open + span.range.start..open + span.range.end, ..span }),
                ),
            }
            from = close + 1;
        }
        let spans = scan::merge(text, spans);
        if spans.is_empty() {
            return None;
        }
        for span in &spans {
            self.hit(span.by, &span.word, &text[span.range.clone()]);
        }
        Some(redact(text, &spans))
    }

    /// A text without its secrets; `None` when it has none.
    pub(super) fn string(&mut self, context: &Context, text: &str) -> Option<String> {
        let first = self.string_once(context, text)?;
        // What is hidden from now on was part of what the mask left; it is no secret of the file's.
        let mut quiet = Walk::default();
        Some(settle(&first, |text| quiet.string_once(context, text)))
    }

    fn string_once(&mut self, context: &Context, text: &str) -> Option<String> {
        if reading::is_masked(text) {
            return None;
        }
        if let Some(hold) = context.hold
            && let Some(shown) = self.held(context, &hold, text)
        {
            return Some(shown);
        }
        let trimmed = text.trim_start();
        if trimmed.starts_with(['{', '['])
            && text.len() > 4
            && context.embedded < MAX_EMBEDDED
            && !trimmed.starts_with("[REDACTED")
            && let Ok(inner) = Value::parse(text)
        {
            return self.value(&context.inner(), &inner).map(|masked| masked.to_json());
        }
        if let Some(known) = accounts::holder(&context.name)
            && let Some(part) = accounts::secret_part(text, known)
        {
            self.hit(By::Container, "user and password", &text[part.clone()]);
            let mark = whole_mark(&text[part.clone()]);
            return Some(format!("{}{mark}{}", &text[..part.start], &text[part.end..]));
        }
        let spans = if is_documentation(&context.name) {
            scan::scan_documentation(text)
        } else {
            let coordinate =
                context.name.len() == 1 && !matches!(text.len(), 4 | 43 | 64 | 86 | 88 | 171 | 172 | 342 | 512 | 683);
            scan::scan(text, coordinate || !scan::public_name(&context.name))
        };
        if spans.is_empty() {
            return None;
        }
        for span in &spans {
            self.hit(span.by, &span.word, &text[span.range.clone()]);
        }
        Some(redact(text, &spans))
    }

    /// A text under a name that says it is a secret.
    fn held(&mut self, context: &Context, hold: &Hold, text: &str) -> Option<String> {
        let mut offset = 0;
        if let Some(entry) = &context.entry
            && let Some(rest) = text.strip_prefix(entry.as_str())
            && rest.starts_with(['=', ':'])
        {
            offset = entry.len() + 1;
        } else if let Some(rest) = text.strip_prefix(context.name.as_str())
            && !context.name.is_empty()
            && rest.starts_with('=')
        {
            offset = context.name.len() + 1;
        }
        let value = &text[offset..];
        if value.is_empty() || reading::is_masked(value) {
            return None;
        }
        if hold.by == By::Document {
            if reading::is_reference(value)
                || is_certificate(value)
                || matches!(value, "true" | "false")
                || is_setting(&context.name, value)
            {
                return None;
            }
            self.hit(hold.by, hold.named.word, value);
            if let Some(inner) = opaque::decode(value.trim()) {
                self.hit(hold.by, hold.named.word, &inner);
            }
            return Some(format!("{}{}", &text[..offset], whole_mark(value)));
        }
        let names = is_name_list_item(value, &hold.named) || hold.named.strength == Strength::Medium && is_label(value);
        if context.listed && names || is_certificate(value) {
            return None;
        }
        if hold.language && is_label_text(value) {
            return None;
        }
        // Among labels a word without a digit is one, and so is a sentence.
        if hold.shield
            && (!value.bytes().any(|b| b.is_ascii_digit()) || value.split_whitespace().count() > 2)
            && !opaque::is_random(value)
        {
            return None;
        }
        let (range, word) = pairs::judge_value(value, &hold.named, false)?;
        let (start, end) = (offset + range.start, offset + range.end);
        self.hit(hold.by, word, &text[start..end]);
        let mark = if start == 0 && end == text.len() { whole_mark(text) } else { MASK.to_string() };
        Some(format!("{}{mark}{}", &text[..start], &text[end..]))
    }
}

/// `DB_HOST: db.internal` beside the password in a Secret: a name that says where or how, and a value in plain words.
fn is_setting(name: &str, value: &str) -> bool {
    let words = words::split(name);
    let says = words.last().is_some_and(|last| {
        matches!(
            last.as_str(),
            "host" | "hostname" | "port" | "env" | "environment" | "database" | "dbname" | "region" | "debug" | "level"
        )
    });
    says && words::named(name).is_none()
        && value.len() < 64
        && value.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b".-_".contains(&b))
        && !opaque::is_random(value)
        && value.bytes().filter(u8::is_ascii_digit).count() < 6
}

/// A label or a sentence of a user interface: several words, or one that is written as none types a password.
fn is_label_text(text: &str) -> bool {
    let text = text.trim();
    let letters = text.chars().all(|c| c.is_alphabetic() || " -'’.?!:…,/()%{}".contains(c));
    text.split_whitespace().count() > 2
        || letters && text.chars().next().is_some_and(|c| c.is_uppercase() || !c.is_ascii())
        || letters && text.contains(' ')
}

/// `network_key: [1, 3, 5, …]`: a key that is written byte by byte.
fn is_key_of_bytes(hold: &Hold, items: &[Value]) -> bool {
    items.len() >= 8
        && hold.named.word.ends_with("key")
        && items.iter().all(|item| match item {
            Value::Number(text) => text.len() <= 3 && text.bytes().all(|b| b.is_ascii_digit()),
            Value::String(text) => {
                text.len() <= 4 && text.starts_with("0x") && text[2..].bytes().all(|b| b.is_ascii_hexdigit())
            }
            _ => false,
        })
}

/// Names of texts that say what something is for.
fn is_documentation(name: &str) -> bool {
    matches!(
        &*glued(name),
        "description"
            | "desc"
            | "help"
            | "helptext"
            | "summary"
            | "doc"
            | "docs"
            | "documentation"
            | "comment"
            | "comments"
            | "title"
            | "tooltip"
            | "hint"
            | "note"
            | "notes"
            | "longdescription"
            | "shortdescription"
            | "about"
            | "details"
            | "markdowndescription"
    )
}

/// The mark of a value that is hidden whole: its format's where it has one.
fn whole_mark(text: &str) -> String {
    let mut found = Vec::new();
    super::formats::find(text, &mut found);
    match found.iter().find(|found| found.span == (0..text.len())) {
        Some(found) => format!("[REDACTED:{}]", found.name),
        None => MASK.to_string(),
    }
}

/// Repeats a change until it changes nothing; a text that does not come to rest is hidden whole.
fn settle(first: &str, mut again: impl FnMut(&str) -> Option<String>) -> String {
    let mut shown = first.to_string();
    for _ in 0..ROUNDS {
        match again(&shown) {
            None => return shown,
            Some(next) if next == shown => return shown,
            Some(next) => shown = next,
        }
    }
    MASK.to_string()
}

/// Whether a key is no name: both cases, a digit and a sign.
fn is_value_for_a_key(name: &str) -> bool {
    let bytes = name.as_bytes();
    opaque::is_random(name)
        || opaque::is_password_like(name)
        || bytes.len() >= 8
            && bytes.iter().any(u8::is_ascii_uppercase)
            && bytes.iter().any(u8::is_ascii_lowercase)
            && bytes.iter().any(u8::is_ascii_digit)
            && bytes.iter().any(|b| b"-_.!#+".contains(b))
}

/// The names that the entries of a map have got so far: two keys may look the same once they are masked.
#[derive(Default)]
pub(super) struct Names {
    /// How many of the entries are known here: nothing is kept before the first name has to be unlike the others.
    seen: usize,
    /// Each with the number that the next of the same name is tried with.
    taken: HashMap<String, usize>,
}

impl Names {
    /// `name`, with a number where an earlier entry has that name.
    pub(super) fn unique(&mut self, name: String, entries: &[(String, Value)]) -> String {
        for (known, _) in &entries[self.seen..] {
            self.taken.entry(known.clone()).or_insert(2);
        }
        self.seen = entries.len();
        let Some(&first) = self.taken.get(&name) else { return name };
        let mut n = first;
        while self.taken.contains_key(&format!("{name}#{n}")) {
            n += 1;
        }
        let numbered = format!("{name}#{n}");
        self.taken.insert(name, n + 1);
        numbered
    }
}

fn replaced(map: &Value, key: &str, value: Value) -> Value {
    let Value::Map(entries) = map else { return value };
    let mut entries = entries.clone();
    if let Some(entry) = entries.iter_mut().find(|(name, _)| name == key) {
        entry.1 = value;
    }
    Value::Map(entries)
}

/// A certificate, also in base64: public, and wanted by who reviews it.
fn is_certificate(text: &str) -> bool {
    let has = |text: &str| text.contains("BEGIN CERTIFICATE") && !text.contains("PRIVATE KEY");
    has(text) || opaque::decode(text.trim()).is_some_and(|inner| has(&inner))
}

/// Whether an item below a plural such as `secrets:` is the name of one: `secrets: [db_password]`.
pub(super) fn is_name_list_item(text: &str, named: &Named) -> bool {
    matches!(named.word, "secrets" | "secret")
        && text.len() < 64
        && !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_lowercase() || b"-_./".contains(&b))
}

/// A name in lower case, of several words: `public_v2`.
fn is_label(text: &str) -> bool {
    text.contains(['_', '-'])
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b))
        && !opaque::is_random(text)
}

/// Every string and number of a value, keys left out.
pub(super) fn strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) | Value::Number(text) => out.push(text.clone()),
        Value::List(items) => items.iter().for_each(|item| strings(item, out)),
        Value::Map(entries) => {
            entries.iter().filter(|(key, _)| key != ENVELOPE).for_each(|(_, value)| strings(value, out))
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// What the entries of a map say about each other.
struct Siblings {
    /// A field holds the name of a secret: `{name: DB_PASSWORD, value: …}`.
    named: Option<Named>,
    /// A Kubernetes Secret.
    secret: bool,
    /// A field says that the value beside it is sensitive.
    sensitive: bool,
    /// The private half of a JSON Web Key.
    jwk: bool,
    /// An item that says from where a secret comes: its `secretKey` is a name.
    selector: bool,
}

/// The private members of a JSON Web Key (RFC 7518).
const JWK_PRIVATE: &[&str] = &["d", "p", "q", "dp", "dq", "qi", "k", "oth"];

const JWK: Named = Named { strength: Strength::Strong, word: "jwk", numbers: false, many: false };
const SENSITIVE: Named = Named { strength: Strength::Strong, word: "sensitive", numbers: true, many: false };

impl Siblings {
    fn of(entries: &[(String, Value)]) -> Siblings {
        let text = |wanted: &str| entries.iter().find(|(key, _)| key == wanted).and_then(|(_, value)| value.as_str());
        let mut named = None;
        let mut sensitive = false;
        let mut selector = false;
        for (key, value) in entries {
            let field = glued(key);
            if NAME_FIELDS.contains(&&*field)
                && let Some(name) = value.as_str().filter(|name| name.len() < 256)
            {
                let last = name.rsplit(['.', '/', ']', '[', '\'']).find(|part| !part.is_empty()).unwrap_or(name);
                let found = words::named(last)
                    .or_else(|| words::named(name))
                    .filter(|named| named.strength >= Strength::Medium);
                named = named.or(found);
            }
            sensitive |= matches!(
                &*field,
                "sensitive"
                    | "secret"
                    | "issecret"
                    | "secure"
                    | "issensitive"
                    | "masked"
                    | "encrypted"
                    | "noecho"
                    | "hidden"
                    | "protected"
                    | "confidential"
                    | "is_secret"
            ) && matches!(value, Value::Bool(true));
            sensitive |= matches!(&*field, "type" | "kind" | "format" | "widget" | "inputtype")
                && value.as_str().is_some_and(|text| {
                    matches!(
                        text.to_ascii_lowercase().as_str(),
                        "password"
                            | "secret"
                            | "securestring"
                            | "secureobject"
                            | "sensitive"
                            | "credential"
                            | "secret_text"
                            | "token"
                    )
                });
            selector |= matches!(&*field, "remoteref" | "objectname" | "sourceref" | "secretname");
            sensitive |= &*field == "noecho" && value.as_str().is_some_and(|text| text.eq_ignore_ascii_case("true"));
        }
        Siblings {
            named,
            secret: text("kind") == Some("Secret")
                && entries
                    .iter()
                    .any(|(key, _)| key == "apiVersion" || key == "metadata" || key == "data" || key == "stringData"),
            sensitive,
            jwk: text("kty").is_some(),
            selector,
        }
    }

    fn context(&self, context: &Context, name: &str) -> Context {
        if self.secret && matches!(name, "data" | "stringData") {
            return context.as_secret_data(name);
        }
        if self.selector && name == "secretKey" {
            return context.key("name");
        }
        if self.jwk && JWK_PRIVATE.contains(&name) {
            return context.beside(name, JWK);
        }
        let beside = self.named.or(self.sensitive.then_some(SENSITIVE));
        if let Some(named) = beside
            && VALUE_FIELDS.contains(&&*glued(name))
        {
            return context.beside(name, named);
        }
        context.key(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_the_same_are_numbered_in_their_order() {
        let mut names = Names::default();
        let mut out: Vec<(String, Value)> = Vec::new();
        for name in ["a", "x", "x", "x#2", "x", "a", "x#5", "x", "x", "b", "x#2"] {
            // What the first free number is, looked for in all of them.
            let taken = |name: &str| out.iter().any(|(known, _)| known == name);
            let expected = match taken(name) {
                false => name.to_string(),
                true => (2..).map(|n| format!("{name}#{n}")).find(|name| !taken(name)).expect("a number"),
            };
            let key = if name == "a" && out.is_empty() { name.to_string() } else { names.unique(name.into(), &out) };
            assert_eq!(key, expected);
            out.push((key, Value::Null));
        }
        let keys: Vec<&str> = out.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["a", "x", "x#2", "x#2#2", "x#3", "a#2", "x#5", "x#4", "x#6", "b", "x#2#3"]);
    }

    #[test]
    fn many_secrets_as_keys_take_no_longer_than_they_are() {
        let name = |n: usize| format!("{}{}{n:036}", "gh", "p_");
        let map = Value::Map((0..20_000).map(|n| (name(n), Value::Null)).collect());
        let start = std::time::Instant::now();
        let shown = Walk::default().value(&Context::root(), &map).expect("secrets");
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
        let Value::Map(entries) = shown else { panic!("a map") };
        let distinct: std::collections::HashSet<&String> = entries.iter().map(|(key, _)| key).collect();
        assert!(distinct.len() == 20_000 && distinct.iter().all(|key| key.starts_with("[REDACTED:github-token]")));
    }
}
