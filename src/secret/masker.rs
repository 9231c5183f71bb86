//! How does a stream of records lose its secrets? Holds the records of one file back until the file is done, because a value that is
//! hidden in one of them is hidden in all.
//!
//! What is known of a record decides how it is read: `before` and `after` are values at the record's path; every other field
//! is searched under its own name, also in records and fields that nobody here knows. A finding's sentence is made again from the
//! masked values. At the end what was hidden is searched for in what is about to be written: a hit is an error.

use super::context::{Context, loose_path};
use super::spread::Spread;
use super::value::{Hit, Walk, strings};
use super::{Evidence, MASK, Place};
use crate::json;
use crate::limits::MASK_WINDOW;
use crate::path::{Path, Segment, Word};
use crate::pattern::Pattern;
use crate::record::{self, Record};
use crate::stream::{Line, StreamError};
use crate::value::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// What the operator may say about masking, on the command line alone.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Add to each masked record which evidence decided.
    pub evidence: bool,
    /// Paths whose values are shown whatever they look like.
    pub allow: Vec<Pattern>,
    /// Paths whose values are hidden whatever they look like.
    pub mask: Vec<Pattern>,
}

impl Options {
    /// Whether no path is spoken of.
    fn says_nothing(&self) -> bool {
        self.allow.is_empty() && self.mask.is_empty()
    }
}

/// One line that may be shown.
#[derive(Clone, Debug)]
pub struct Masked {
    /// The line with its newline; the bytes that came in where nothing had to be hidden.
    pub text: String,
    /// The number of the line that it was in the input.
    pub number: u64,
}

impl Masked {
    /// The line as the [`crate::stream`] functions take it.
    pub fn line(&self) -> Line<'_> {
        Line::new(&self.text, self.number)
    }
}

/// Why a stream cannot be masked. Then nothing more of it may be shown.
#[derive(Debug)]
pub enum MaskError {
    /// A line that is no record.
    Stream(StreamError),
    /// Something that was hidden in a file would still be in the line with this number.
    Survived(u64),
}

impl From<StreamError> for MaskError {
    fn from(error: StreamError) -> MaskError {
        MaskError::Stream(error)
    }
}

impl fmt::Display for MaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MaskError::Stream(error) => error.fmt(f),
            MaskError::Survived(number) => write!(
                f,
                "line {number} of the input holds a secret where it cannot be hidden; the line and what follows are withheld"
            ),
        }
    }
}

impl std::error::Error for MaskError {}

/// Masks the records of one stream, one after another.
///
/// Lines come back in their order, some later than they went in: one file's records are held back, up to
/// [`crate::limits::MASK_WINDOW`] bytes, so that a value hidden once is hidden wherever it occurs in that file.
///
/// ```
/// use flecto::secret::{Masker, Options};
/// use flecto::stream::Reader;
/// let input = "{\"type\":\"change\",\"file\":\"a.yaml\",\"path\":\"db.password\",\"op\":\"added\",\"after\":\"hunter22\"}\n";
/// let (mut masker, mut reader) = (Masker::new(Options::default()), Reader::new(input.as_bytes()));
/// let mut shown = String::new();
/// while let Some(line) = reader.next_line()? {
///     for line in masker.push(&line)? {
///         shown.push_str(&line.text);
///     }
/// }
/// for line in masker.finish()? {
///     shown.push_str(&line.text);
/// }
/// assert!(shown.contains("\"after\":\"***\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Masker {
    options: Options,
    /// The file whose records are held, as the records name it.
    file: Option<String>,
    /// Its kind, from its `file` record.
    kind: Option<String>,
    held: Vec<Held>,
    bytes: usize,
    spread: Spread,
    /// The window was passed in this file.
    passed: bool,
}

/// A record that waits for the rest of its file.
#[derive(Debug)]
struct Held {
    number: u64,
    /// The line as it came.
    text: String,
    /// The record after its own secrets were hidden; `None` where it had none.
    masked: Option<Record>,
    evidence: Vec<(String, Evidence)>,
    /// Where the record is, for what a sentence says of values at the same place.
    path: Option<String>,
}

impl Masker {
    /// Masks as the operator says.
    pub fn new(options: Options) -> Masker {
        Masker { options, ..Masker::default() }
    }

    /// Takes the next line of the stream (blank ones too) and gives back the lines that are ready.
    ///
    /// # Errors
    /// A line that is no record, and a secret that would survive.
    pub fn push(&mut self, line: &Line<'_>) -> Result<Vec<Masked>, MaskError> {
        if line.is_blank() {
            self.hold(Held {
                number: line.number(),
                text: line.text().to_string(),
                masked: None,
                evidence: Vec::new(),
                path: None,
            });
            return Ok(if self.file.is_none() { self.flush(false)? } else { Vec::new() });
        }
        let record = line.record()?;
        let kind = record.text("type").unwrap_or_default();
        let file = record.text("file");
        let mut ready = Vec::new();
        let ends = matches!(&*kind, "start" | "verdict" | "end" | "payload" | "narration");
        if ends || file.is_some() && file.as_deref() != self.file.as_deref() {
            ready = self.flush(true)?;
            self.file = if ends { None } else { file.map(Cow::into_owned) };
            self.kind = None;
        }
        if kind == "file" {
            self.kind = record.str("kind");
        }
        let held = self.mask(line, &kind, &record);
        self.hold(held);
        if self.file.is_none() {
            ready.append(&mut self.flush(true)?);
        } else if self.bytes > MASK_WINDOW {
            ready.append(&mut self.flush(false)?);
            if !self.passed {
                self.passed = true;
                let message = format!(
                    "the records of one file are more than {} MiB; what is hidden further down may have been shown in the lines before",
                    MASK_WINDOW >> 20
                );
                ready.push(Masked { text: record::warning_line("mask", &message) + "\n", number: line.number() });
            }
        }
        Ok(ready)
    }

    /// The stream has ended: gives back what was held.
    ///
    /// # Errors
    /// A secret that would survive.
    pub fn finish(&mut self) -> Result<Vec<Masked>, MaskError> {
        self.flush(true)
    }

    fn hold(&mut self, held: Held) {
        self.bytes += held.text.len();
        self.held.push(held);
    }

    fn masking<'a>(&'a self, record: &'a Record) -> Masking<'a> {
        Masking {
            options: &self.options,
            file: self.file.as_deref().map(Cow::Borrowed).or_else(|| record.text("file")),
            kind: self.kind.as_deref(),
            path_text: record.text("path"),
            document: record.text("document"),
            hits: Vec::new(),
            record,
            masked: None,
        }
    }

    /// Hides what a record says by itself.
    fn mask(&mut self, line: &Line<'_>, kind: &str, record: &Record) -> Held {
        let mut masking = self.masking(record);
        masking.run(kind);
        let Masking { hits, path_text, mut masked, .. } = masking;
        let path = path_text.map(Cow::into_owned);
        if let Some(masked) = &mut masked {
            masked.remove("line_hash");
        }
        let mut evidence = Vec::new();
        for (at, hit) in hits {
            self.spread.add(&hit.hidden, path.as_deref());
            evidence.push((at, hit.evidence));
        }
        Held { number: line.number(), text: line.text().to_string(), masked, evidence, path }
    }

    /// Hides in all held records what was hidden in one of them, checks them, and lets them go.
    fn flush(&mut self, done: bool) -> Result<Vec<Masked>, MaskError> {
        let mut ready = Vec::with_capacity(self.held.len());
        self.spread.prepare();
        for mut held in std::mem::take(&mut self.held) {
            if !self.spread.is_empty() {
                self.spread_into(&mut held);
            }
            let text = match held.masked {
                None => held.text,
                Some(mut record) => {
                    if self.options.evidence && !held.evidence.is_empty() {
                        add_evidence(&mut record, held.evidence);
                    }
                    let line = record.to_line();
                    json::harden(&line).into_owned() + "\n"
                }
            };
            if !self.spread.is_empty() && self.survives(&text) {
                return Err(MaskError::Survived(held.number));
            }
            ready.push(Masked { text, number: held.number });
        }
        self.bytes = 0;
        if done {
            self.spread = Spread::default();
            self.passed = false;
            self.file = None;
            self.kind = None;
        }
        Ok(ready)
    }

    fn spread_into(&self, held: &mut Held) {
        let known = held.masked.is_some();
        let path = held.path.clone();
        // A line without a hit in its JSON text and without escapes has none in its strings.
        if !known && !held.text.contains('\\') && !self.spread.occurs(&held.text, path.as_deref()) {
            return;
        }
        if held.text.trim_ascii().is_empty() {
            return;
        }
        let mut record = match held.masked.take() {
            Some(record) => record,
            None => match Record::parse(&held.text) {
                Ok(record) => record,
                Err(_) => return,
            },
        };
        let mut changed = false;
        let fields: Vec<(String, String)> =
            record.fields().map(|(key, raw)| (key.to_string(), raw.get().to_string())).collect();
        for (key, raw) in fields {
            if key == "masked" || is_ours(&key, &raw) || !raw.contains('"') {
                continue;
            }
            // A sentence about a path may say any value of that path, however short.
            let near = matches!(key.as_str(), "message" | "note" | "reason").then_some(path.as_deref()).flatten();
            let Ok(value) = Value::parse(&raw) else { continue };
            if let Some(value) = self.spread.replace(&value, near) {
                record.set(&key, value.to_json());
                held.evidence.push((key, Evidence { by: super::By::Propagated, word: "same value".into() }));
                changed = true;
            }
        }
        let names: Vec<String> = record.fields().map(|(key, _)| key.to_string()).collect();
        for key in names {
            if let Some(Value::String(name)) = self.spread.replace(&Value::String(key.clone()), None)
                && record.get(&name).is_none()
            {
                record.rename(&key, &name);
                changed = true;
            }
        }
        if changed {
            record.remove("line_hash");
            // What a mask was put into may read as something else now; it is read again until it stays what it is.
            for _ in 0..4 {
                let kind = record.kind().unwrap_or_default();
                let mut masking = self.masking(&record);
                masking.run(&kind);
                let Some(masked) = masking.masked else { break };
                record = masked;
            }
        }
        held.masked = (known || changed).then_some(record);
    }

    /// Whether something that was hidden is in a line that is about to be written.
    fn survives(&self, line: &str) -> bool {
        if self.spread.occurs(line, None) {
            // In the JSON text it may be a part of what stands in no string: looked at again below.
        } else if !line.contains('\\') {
            return false;
        }
        let Ok(record) = Record::parse(line) else { return false };
        record.fields().any(|(key, raw)| {
            self.spread.occurs(key, None)
                || raw.get().contains('"')
                    && !is_ours(key, raw.get())
                    && Value::from_raw(raw).map_or(true, |value| {
                        let mut texts = Vec::new();
                        strings(&value, &mut texts);
                        texts.iter().any(|text| self.spread.occurs(text, None))
                    })
        })
    }
}

/// Whether a field holds a word of a closed list, or the name of a rule: short, and of small letters, digits and `-`. Such a word
/// stays, also where a secret is written alike (`password: kubernetes`): whoever wrote the files must not be able to make the
/// records of their own change unreadable. Any other text in these fields is nobody's word, and is treated as a text.
fn is_ours(key: &str, raw: &str) -> bool {
    let longest = match key {
        "type" | "op" | "status" | "severity" | "side" | "format" | "fail_on" => 24,
        "rule" | "pack" => 64,
        _ => return false,
    };
    let is_word = |c: u8| matches!(c, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'"');
    let words = if key == "fail_on" { raw.trim_matches(['[', ']']) } else { raw };
    words.split(',').all(|word| word.len() <= longest + 2 && word.bytes().all(is_word))
}

/// Adds which evidence decided, after the fields that were there.
fn add_evidence(record: &mut Record, evidence: Vec<(String, Evidence)>) {
    let mut list: Vec<String> = Vec::new();
    for (at, evidence) in evidence {
        let mut object = json::Object::new();
        object.str("at", &at).str("by", evidence.by.as_str()).str("word", &evidence.word);
        let text = object.finish();
        if !list.contains(&text) {
            list.push(text);
        }
    }
    record.set("masked", format!("[{}]", list.join(",")));
}

/// One record on its way.
struct Masking<'a> {
    options: &'a Options,
    file: Option<Cow<'a, str>>,
    kind: Option<&'a str>,
    path_text: Option<Cow<'a, str>>,
    document: Option<Cow<'a, str>>,
    hits: Vec<(String, Hit)>,
    record: &'a Record,
    /// The record without its secrets, once it had one.
    masked: Option<Record>,
}

impl Masking<'_> {
    fn run(&mut self, kind: &str) {
        let record = self.record;
        let path = self.path_text.as_deref().and_then(|text| Path::parse(text).ok());
        let allowed = path.as_ref().is_some_and(|path| self.options.allow.iter().any(|pattern| pattern.covers(path)));
        let mut before = None;
        let mut after = None;
        let context = match &path {
            Some(path) => Context::at(&Place {
                file: self.file.as_deref(),
                kind: self.kind,
                document: self.document.as_deref(),
                path,
            }),
            // A path that is not written as ours still names what stands there.
            None => self.path_text.as_deref().map_or_else(Context::root, |text| {
                let path = Path(loose_path(text));
                let (file, kind, document) = (self.file.as_deref(), self.kind, self.document.as_deref());
                Context::at(&Place { file, kind, document, path: &path })
            }),
        };
        for (key, raw) in record.fields() {
            match key {
                "line_hash" => {}
                key if is_ours(key, raw.get()) => {}
                "masked" if kind != "masked" => {}
                "path" => self.path(path.as_ref()),
                "before" | "after" | "value" if self.path_text.is_some() || key != "value" => {
                    let walked = self.value(key, raw, &context, path.as_ref());
                    match key {
                        "before" => before = walked,
                        "after" => after = walked,
                        _ => {}
                    }
                }
                "message" if kind == "finding" => {}
                _ if allowed && matches!(key, "note" | "template") => {}
                _ => self.field(key, raw),
            }
        }
        if kind == "finding" && record.get("message").is_some() {
            self.message(allowed, before.as_ref(), after.as_ref());
        }
        self.names();
        // A name that is not UTF-8 stands in the record twice.
        if let Some(masked) = &mut self.masked
            && masked.text("file") != record.text("file")
            && record.get("file_bytes").is_some()
        {
            masked.remove("file_bytes");
        }
    }

    /// The record as far as it is masked.
    fn shown(&self) -> &Record {
        self.masked.as_ref().unwrap_or(self.record)
    }

    fn change(&mut self) -> &mut Record {
        self.masked.get_or_insert_with(|| self.record.clone())
    }

    fn take(&mut self, at: &str, hits: Vec<Hit>) {
        self.hits.extend(hits.into_iter().map(|hit| (at.to_string(), hit)));
    }

    fn set(&mut self, key: &str, json: String) {
        self.change().set(key, json);
    }

    /// A value at the record's path; gives back what is shown of it.
    fn value(&mut self, key: &str, raw: &RawValue, context: &Context, path: Option<&Path>) -> Option<Value> {
        let Ok(value) = Value::from_raw(raw) else {
            // What cannot be looked into is hidden whole.
            self.set(key, json::string(MASK));
            return Some(Value::String(MASK.into()));
        };
        let mut walk = Walk {
            hits: Vec::new(),
            allow: if path.is_some() { &self.options.allow } else { &[] },
            mask: if path.is_some() { &self.options.mask } else { &[] },
            path: path.filter(|_| !self.options.says_nothing()).map_or_else(Vec::new, |path| path.0.clone()),
        };
        let shown = walk.value(context, &value);
        let hits = std::mem::take(&mut walk.hits);
        drop(walk);
        self.take(key, hits);
        match shown {
            None => Some(value),
            Some(shown) => {
                self.set(key, shown.to_json());
                Some(shown)
            }
        }
    }

    /// Any other field, under its own name.
    fn field(&mut self, key: &str, raw: &RawValue) {
        if raw.get().len() < 4 && !raw.get().contains(['"', '[', '{']) {
            return;
        }
        let Ok(value) = Value::from_raw(raw) else {
            self.set(key, json::string(MASK));
            return;
        };
        let context = if NAMES.contains(&key) { Context::root() } else { Context::root().key(key) };
        let mut walk = Walk::default();
        let shown = match &value {
            Value::String(text) if NAMES.contains(&key) => walk.name(text).map(Value::String),
            value => walk.value(&context, value),
        };
        self.take(key, walk.hits);
        if let Some(shown) = shown {
            self.set(key, shown.to_json());
        }
    }

    /// The names of the record's own fields, which another program may have made of anything.
    fn names(&mut self) {
        for (key, _) in self.record.fields() {
            let mut walk = Walk::default();
            let Some(shown) = walk.name(key) else { continue };
            self.take("name", walk.hits);
            let mut name = shown.clone();
            let mut n = 2;
            while self.shown().get(&name).is_some() {
                name = format!("{shown}#{n}");
                n += 1;
            }
            self.change().rename(key, &name);
        }
    }

    /// The path itself, whose keys and selectors may hold a secret.
    fn path(&mut self, path: Option<&Path>) {
        let Some(text) = self.path_text.as_deref() else { return };
        let mut walk = Walk::default();
        let shown = match path {
            None => walk.name(text),
            Some(path) => {
                let mut masked: Option<Vec<Segment>> = None;
                // What the place of a selector says; most paths have none.
                let (mut context, mut known) = (Context::root(), 0);
                for (at, segment) in path.0.iter().enumerate() {
                    if matches!(segment, Segment::Item(_)) {
                        for passed in &path.0[known..at] {
                            context = context.step(passed);
                        }
                        known = at;
                    }
                    if let Some(shown) = mask_segment(&mut walk, &context, segment) {
                        masked.get_or_insert_with(|| path.0.clone())[at] = shown;
                    }
                }
                masked.map(|segments| Path(segments).to_string())
            }
        };
        self.take("path", walk.hits);
        if let Some(shown) = shown {
            self.set("path", json::string(&shown));
        }
    }

    /// A finding's sentence: made again from its template, and searched like any other text.
    fn message(&mut self, allowed: bool, before: Option<&Value>, after: Option<&Value>) {
        let Some(message) = self.shown().str("message") else {
            if let Some(raw) = self.record.get("message") {
                self.field("message", raw);
            }
            return;
        };
        let path = self.shown().str("path").unwrap_or_default();
        let made = match self.shown().str("template") {
            Some(template) if self.masked.is_some() => record::fill(&template, &path, before, after),
            _ => message.clone(),
        };
        let mut walk = Walk::default();
        let shown = if allowed { None } else { walk.string(&Context::root(), &made) };
        self.take("message", walk.hits);
        let shown = shown.unwrap_or(made);
        if shown != message {
            self.set("message", json::string(&shown));
        }
    }
}

/// Fields that hold names: texts in which words that look random are ids more often than secrets.
const NAMES: &[&str] =
    &["file", "from", "document", "baseline", "to", "commit", "kind", "rule", "pack", "stage", "version"];

fn mask_segment(walk: &mut Walk<'_>, context: &Context, segment: &Segment) -> Option<Segment> {
    match segment {
        Segment::Key(name) => walk.name(name).map(Segment::Key),
        Segment::Entry { name, nth } => walk.name(name).map(|name| Segment::Entry { name, nth: *nth }),
        Segment::Typed(name) => walk.name(name).map(Segment::Key),
        Segment::Inner(Some(name)) => walk.name(name).map(|name| Segment::Inner(Some(name))),
        Segment::Item(fields) => {
            let mut any = false;
            let fields = fields
                .iter()
                .map(|(field, word)| {
                    let shown = walk.string(&context.item().key(field), word.text());
                    let name = walk.name(field);
                    any |= shown.is_some() || name.is_some();
                    (name.unwrap_or_else(|| field.clone()), shown.map_or_else(|| word.clone(), Word::Text))
                })
                .collect();
            any.then_some(Segment::Item(fields))
        }
        Segment::Index(_) | Segment::Inner(None) => None,
    }
}
