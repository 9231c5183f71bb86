//! What travels on the pipe? One JSON object a line; docs/schemas/record.schema.json is the contract.
//!
//! [`Record`] is any record, foreign ones included: its fields in their order, each value as the JSON text that came in.
//! Rewriting one replaces fields where they stand and keeps the rest. The structs ([`Start`], [`File`], [`Change`], …) are
//! what flecto itself writes and reads; they ignore fields that they do not know, and whoever rewrites a record goes
//! through [`Record::set`], never through a struct, so that unknown fields survive.

use crate::json::{self, Object};
use crate::outcome::Outcome;
use crate::value::Value;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

/// The version of the records, in `start`.
pub const VERSION: u64 = 1;

/// Any record: its fields in order, each as JSON text.
#[derive(Clone, Debug)]
pub struct Record {
    fields: Vec<(String, Box<RawValue>)>,
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Record, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Record;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a record")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record, A::Error> {
                let mut fields: Vec<(String, Box<RawValue>)> = Vec::with_capacity(12);
                while let Some(key) = map.next_key::<String>()? {
                    let repeated = fields.len() < MANY_FIELDS && fields.iter().any(|(known, _)| *known == key);
                    if repeated {
                        return Err(serde::de::Error::custom(REPEATED_KEY));
                    }
                    fields.push((key, map.next_value()?));
                }
                let mut seen = HashSet::new();
                if fields.len() > MANY_FIELDS && !fields.iter().all(|(key, _)| seen.insert(key)) {
                    return Err(serde::de::Error::custom(REPEATED_KEY));
                }
                Ok(Record { fields })
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// Records of flecto have fewer fields. Beyond it they are compared all at once.
const MANY_FIELDS: usize = 32;

/// The text of the error for a repeated key; [`crate::stream`] recognises it, since serde has no error kinds.
pub(crate) const REPEATED_KEY: &str = "a key is repeated";

impl Record {
    /// Reads one record.
    ///
    /// # Errors
    /// Text that is no JSON object, or repeats a key. serde_json's message can quote the text: do not print it.
    pub fn parse(line: &str) -> Result<Record, serde_json::Error> {
        serde_json::from_str(line)
    }

    /// The field `type`; `None` when there is none or it is no string.
    pub fn kind(&self) -> Option<String> {
        self.str("type")
    }

    /// The fields in their order, as JSON text.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.fields.iter().map(|(key, raw)| (key.as_str(), &**raw))
    }

    /// A field as JSON text.
    pub fn get(&self, key: &str) -> Option<&RawValue> {
        self.fields.iter().find(|(known, _)| known == key).map(|(_, raw)| &**raw)
    }

    /// A field that is a string.
    pub fn str(&self, key: &str) -> Option<String> {
        self.text(key).map(Cow::into_owned)
    }

    /// A field that is a string, borrowed where nothing in it is escaped.
    pub fn text(&self, key: &str) -> Option<Cow<'_, str>> {
        let raw = self.get(key)?.get();
        let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
        if inner.contains('\\') { serde_json::from_str(raw).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(inner)) }
    }

    /// A field that is a whole number, not negative.
    pub fn uint(&self, key: &str) -> Option<u64> {
        self.get(key)?.get().parse().ok()
    }

    /// A field that is `true` or `false`.
    pub fn bool(&self, key: &str) -> Option<bool> {
        self.get(key)?.get().parse().ok()
    }

    /// A field as a value; `None` when it is absent (present with null is `Some(Value::Null)`) or nested too deep to be
    /// looked into.
    pub fn value(&self, key: &str) -> Option<Value> {
        Value::from_raw(self.get(key)?).ok()
    }

    /// Replaces a field where it stands, or adds it at the end. `json` must be JSON text; anything else is ignored.
    pub fn set(&mut self, key: &str, json: String) {
        let Ok(raw) = RawValue::from_string(json) else { return };
        match self.fields.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = raw,
            None => self.fields.push((key.to_string(), raw)),
        }
    }

    /// Replaces a field where it stands, or adds it at the end, as a string.
    pub fn set_str(&mut self, key: &str, text: &str) {
        self.set(key, json::string(text));
    }

    /// Takes a field out.
    pub fn remove(&mut self, key: &str) {
        self.fields.retain(|(known, _)| known != key);
    }

    /// Gives a field another name, where it stands.
    pub fn rename(&mut self, key: &str, name: &str) {
        if let Some(field) = self.fields.iter_mut().find(|(known, _)| known == key) {
            field.0 = name.to_string();
        }
    }

    /// The record as a line, without its newline.
    pub fn to_line(&self) -> String {
        let mut object = Object::new();
        for (key, raw) in &self.fields {
            object.raw(key, raw.get());
        }
        object.finish()
    }
}

/// A field that a record of ours must have and does not, or has with another type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadField {
    /// The record's type.
    pub record: &'static str,
    /// The field.
    pub field: &'static str,
}

impl fmt::Display for BadField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a `{}` record without a usable `{}`", self.record, self.field)
    }
}

impl std::error::Error for BadField {}

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$doc])* $variant),+ }

        impl $name {
            /// Every one, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The word in a record.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }

            /// The one that a record's word names.
            pub fn from_word(word: &str) -> Option<$name> {
                match word { $($word => Some($name::$variant),)+ _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// What happened to a value.
    Op {
        /// It is new.
        Added = "added",
        /// It is gone.
        Removed = "removed",
        /// It is another one.
        Changed = "changed",
        /// The items of a list are the same in another order.
        Reordered = "reordered",
    }
}

words! {
    /// How bad a finding is; the worst last.
    Severity {
        /// Worth knowing.
        Info = "info",
        /// Worth a look before merging.
        Warn = "warn",
        /// Expected to hurt.
        Error = "error",
    }
}

words! {
    /// What happened to a file.
    Status {
        /// Its bytes are others. There may be no `change`: it may have been laid out anew.
        Modified = "modified",
        /// It is new.
        Added = "added",
        /// It is gone.
        Removed = "removed",
        /// It stood under another name before; its content may have changed too.
        Renamed = "renamed",
        /// It was named on the command line and is the same.
        Unchanged = "unchanged",
        /// A side of it could not be read or parsed.
        Error = "error",
    }
}

/// The first record of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The version of the records: [`VERSION`].
    pub version: u64,
    /// What a person calls the old side: `origin/main`, a file, a folder.
    pub baseline: String,
    /// The commit of the old side, in hex, where it is one.
    pub commit: Option<String>,
    /// What a person calls the new side, where it is not the working tree.
    pub to: Option<String>,
}

/// A file that differs, could not be read, or was asked for by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name, relative and with `/`.
    pub file: String,
    /// The name's bytes in base64, for a name that is not UTF-8 (`file` is then its lossy reading).
    pub file_bytes: Option<String>,
    /// The format that it was read as: `yaml`, `json`, …
    pub format: String,
    /// What it is, where its content tells: `kubernetes`, `compose`, `github-workflow`, …
    pub kind: Option<String>,
    /// All that it is, where that is more than one: an encrypted object of Kubernetes is `sops` and `kubernetes`.
    pub kinds: Vec<String>,
    /// What happened to it.
    pub status: Status,
    /// The old name of a renamed file.
    pub from: Option<String>,
    /// Which side failed, for `error`: `before` or `after`.
    pub side: Option<String>,
    /// Why, for `error`: a sentence with line and column, never with source text.
    pub error: Option<String>,
}

/// A value that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file's name.
    pub file: String,
    /// The document in the file: `Deployment/prod/api`, or an index.
    pub document: Option<String>,
    /// Where: the text of a [`crate::path::Path`].
    pub path: String,
    /// What happened.
    pub op: Op,
    /// The old value, as JSON; absent for `added`.
    pub before: Option<Value>,
    /// The new value, as JSON; absent for `removed`.
    pub after: Option<Value>,
    /// Where an added item stands in the new list, a removed one in the old, from 0: its path names it by identity.
    pub index: Option<u64>,
    /// What a reviewer should know beside it.
    pub note: Option<String>,
    /// Line of the value in the new file, from 1.
    pub line: Option<u64>,
    /// Column of the value in the new file, in Unicode characters from 1.
    pub column: Option<u64>,
    /// The last line of the value in the new file.
    pub end_line: Option<u64>,
    /// Line of the value in the old file, from 1.
    pub before_line: Option<u64>,
    /// For a removed value: the line in the new file of the key, or of the item, that held it.
    pub parent_line: Option<u64>,
    /// What comments accept here: one of rule, reason, line of the comment and path, or a list of them. Without a path it
    /// is about the whole change, with one about that part of it.
    pub accept: Option<Value>,
    /// GitHub's hash of the line, or of the parent's; never on a masked record.
    pub line_hash: Option<String>,
}

/// A rule that fired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file's name.
    pub file: String,
    /// The document in the file.
    pub document: Option<String>,
    /// Where.
    pub path: String,
    /// The rule's id.
    pub rule: String,
    /// The pack that it is in; absent for a user's own filter.
    pub pack: Option<String>,
    /// How bad it is.
    pub severity: Severity,
    /// The sentence.
    pub message: String,
    /// What the sentence was made of: see [`fill`].
    pub template: Option<String>,
    /// The old value, for the template.
    pub before: Option<Value>,
    /// The new value, for the template.
    pub after: Option<Value>,
    /// Line in the new file, from 1.
    pub line: Option<u64>,
    /// Column in the new file, from 1.
    pub column: Option<u64>,
    /// The last line in the new file.
    pub end_line: Option<u64>,
    /// Line in the old file, from 1.
    pub before_line: Option<u64>,
    /// For a removed value: the line in the new file of what held it.
    pub parent_line: Option<u64>,
    /// Who accepted it and why, as JSON; it then counts for nothing.
    pub accepted: Option<Value>,
    /// GitHub's hash of the line; never on a masked record.
    pub line_hash: Option<String>,
}

/// The gate's answer, just before `end`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The triggers, as words.
    pub fail_on: Vec<String>,
    /// Whether one of them matched.
    pub failed: bool,
    /// Findings that are not accepted, by severity: error, warn, info.
    pub error: u64,
    /// As above.
    pub warn: u64,
    /// As above.
    pub info: u64,
    /// Findings that are accepted.
    pub accepted: u64,
    /// Changes by op.
    pub added: u64,
    /// As above.
    pub removed: u64,
    /// As above.
    pub changed: u64,
    /// As above.
    pub reordered: u64,
}

/// The last record that counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// Files that the targets matched.
    pub files: u64,
    /// Files with status `modified`, `added`, `removed` or `renamed`.
    pub differing: u64,
    /// `change` records.
    pub changes: u64,
    /// Files with status `error`.
    pub errors: u64,
    /// Whether everything that was asked for was read.
    pub complete: bool,
}

impl Start {
    /// The record as a line.
    pub fn to_line(&self) -> String {
        let mut object = Object::new();
        object.str("type", "start").uint("version", self.version).str("baseline", &self.baseline);
        object.opt_str("commit", self.commit.as_deref()).opt_str("to", self.to.as_deref());
        object.finish()
    }

    /// Reads it.
    ///
    /// # Errors
    /// A missing or mistyped field.
    pub fn from_record(record: &Record) -> Result<Start, BadField> {
        Ok(Start {
            version: need_uint(record, "start", "version")?,
            baseline: need(record, "start", "baseline")?,
            commit: record.str("commit"),
            to: record.str("to"),
        })
    }
}

impl File {
    /// All that it is.
    pub fn all_kinds(&self) -> Vec<&str> {
        if self.kinds.is_empty() {
            self.kind.as_deref().into_iter().collect()
        } else {
            self.kinds.iter().map(String::as_str).collect()
        }
    }

    /// The record as a line.
    pub fn to_line(&self) -> String {
        let mut object = Object::new();
        object.str("type", "file").str("file", &self.file).opt_str("file_bytes", self.file_bytes.as_deref());
        object.str("format", &self.format).opt_str("kind", self.kind.as_deref());
        if self.kinds.len() > 1 {
            let list = Value::List(self.kinds.iter().cloned().map(Value::String).collect());
            object.raw("kinds", &list.to_json());
        }
        object.str("status", self.status.as_str()).opt_str("from", self.from.as_deref());
        object.opt_str("side", self.side.as_deref()).opt_str("error", self.error.as_deref());
        object.finish()
    }

    /// Reads it.
    ///
    /// # Errors
    /// A missing or mistyped field.
    pub fn from_record(record: &Record) -> Result<File, BadField> {
        let status = need(record, "file", "status")?;
        Ok(File {
            file: need(record, "file", "file")?,
            file_bytes: record.str("file_bytes"),
            format: record.str("format").unwrap_or_default(),
            kind: record.str("kind"),
            kinds: match record.value("kinds") {
                Some(Value::List(items)) => items.iter().filter_map(Value::as_str).map(str::to_string).collect(),
                _ => Vec::new(),
            },
            status: Status::from_word(&status).ok_or(BadField { record: "file", field: "status" })?,
            from: record.str("from"),
            side: record.str("side"),
            error: record.str("error"),
        })
    }
}

impl Change {
    /// The record as a line.
    pub fn to_line(&self) -> String {
        let mut object = Object::new();
        object.str("type", "change").str("file", &self.file).opt_str("document", self.document.as_deref());
        object.str("path", &self.path).str("op", self.op.as_str());
        put_value(&mut object, "before", self.before.as_ref());
        put_value(&mut object, "after", self.after.as_ref());
        object.opt_uint("index", self.index).opt_str("note", self.note.as_deref());
        object.opt_uint("line", self.line).opt_uint("column", self.column);
        object.opt_uint("end_line", self.end_line).opt_uint("before_line", self.before_line);
        object.opt_uint("parent_line", self.parent_line);
        put_value(&mut object, "accept", self.accept.as_ref());
        object.opt_str("line_hash", self.line_hash.as_deref());
        object.finish()
    }

    /// Reads it.
    ///
    /// # Errors
    /// A missing or mistyped field.
    pub fn from_record(record: &Record) -> Result<Change, BadField> {
        let op = need(record, "change", "op")?;
        Ok(Change {
            file: need(record, "change", "file")?,
            document: record.str("document"),
            path: need(record, "change", "path")?,
            op: Op::from_word(&op).ok_or(BadField { record: "change", field: "op" })?,
            before: opt_value(record, "change", "before")?,
            after: opt_value(record, "change", "after")?,
            index: record.uint("index"),
            note: record.str("note"),
            line: record.uint("line"),
            column: record.uint("column"),
            end_line: record.uint("end_line"),
            before_line: record.uint("before_line"),
            parent_line: record.uint("parent_line"),
            accept: record.value("accept"),
            line_hash: record.str("line_hash"),
        })
    }
}

impl Finding {
    /// A finding at a change's place, without a sentence yet.
    pub fn at(change: &Change, rule: &str, severity: Severity) -> Finding {
        Finding {
            document: change.document.clone(),
            path: change.path.clone(),
            line: change.line,
            column: change.column,
            end_line: change.end_line,
            before_line: change.before_line,
            parent_line: change.parent_line,
            line_hash: change.line_hash.clone(),
            ..Finding::about(&change.file, rule, severity)
        }
    }

    /// A finding about a file as a whole, without a sentence yet.
    pub fn about(file: &str, rule: &str, severity: Severity) -> Finding {
        Finding {
            file: file.to_string(),
            document: None,
            path: "$".into(),
            rule: rule.to_string(),
            pack: None,
            severity,
            message: String::new(),
            template: None,
            before: None,
            after: None,
            line: None,
            column: None,
            end_line: None,
            before_line: None,
            parent_line: None,
            accepted: None,
            line_hash: None,
        }
    }

    /// The record as a line.
    pub fn to_line(&self) -> String {
        let mut object = Object::new();
        object.str("type", "finding").str("file", &self.file).opt_str("document", self.document.as_deref());
        object.str("path", &self.path).str("rule", &self.rule).opt_str("pack", self.pack.as_deref());
        object.str("severity", self.severity.as_str()).str("message", &self.message);
        object.opt_str("template", self.template.as_deref());
        put_value(&mut object, "before", self.before.as_ref());
        put_value(&mut object, "after", self.after.as_ref());
        object.opt_uint("line", self.line).opt_uint("column", self.column);
        object.opt_uint("end_line", self.end_line).opt_uint("before_line", self.before_line);
        object.opt_uint("parent_line", self.parent_line);
        put_value(&mut object, "accepted", self.accepted.as_ref());
        object.opt_str("line_hash", self.line_hash.as_deref());
        object.finish()
    }

    /// Reads it.
    ///
    /// # Errors
    /// A missing or mistyped field.
    pub fn from_record(record: &Record) -> Result<Finding, BadField> {
        let severity = need(record, "finding", "severity")?;
        Ok(Finding {
            file: need(record, "finding", "file")?,
            document: record.str("document"),
            path: need(record, "finding", "path")?,
            rule: need(record, "finding", "rule")?,
            pack: record.str("pack"),
            severity: Severity::from_word(&severity).ok_or(BadField { record: "finding", field: "severity" })?,
            message: need(record, "finding", "message")?,
            template: record.str("template"),
            before: opt_value(record, "finding", "before")?,
            after: opt_value(record, "finding", "after")?,
            line: record.uint("line"),
            column: record.uint("column"),
            end_line: record.uint("end_line"),
            before_line: record.uint("before_line"),
            parent_line: record.uint("parent_line"),
            accepted: record.value("accepted"),
            line_hash: record.str("line_hash"),
        })
    }
}

impl Verdict {
    /// The record as a line.
    pub fn to_line(&self) -> String {
        let mut list = String::from("[");
        for (at, word) in self.fail_on.iter().enumerate() {
            if at > 0 {
                list.push(',');
            }
            json::write_str(&mut list, word);
        }
        list.push(']');
        let mut object = Object::new();
        object.str("type", "verdict").raw("fail_on", &list).bool("failed", self.failed);
        object.uint("error", self.error).uint("warn", self.warn).uint("info", self.info);
        object.uint("accepted", self.accepted).uint("added", self.added).uint("removed", self.removed);
        object.uint("changed", self.changed).uint("reordered", self.reordered);
        object.finish()
    }

    /// Reads it.
    ///
    /// # Errors
    /// A missing or mistyped field.
    pub fn from_record(record: &Record) -> Result<Verdict, BadField> {
        let words = match record.value("fail_on") {
            Some(Value::List(items)) => items.iter().filter_map(|item| item.as_str().map(str::to_string)).collect(),
            _ => return Err(BadField { record: "verdict", field: "fail_on" }),
        };
        Ok(Verdict {
            fail_on: words,
            failed: record.bool("failed").ok_or(BadField { record: "verdict", field: "failed" })?,
            error: need_uint(record, "verdict", "error")?,
            warn: need_uint(record, "verdict", "warn")?,
            info: need_uint(record, "verdict", "info")?,
            accepted: record.uint("accepted").unwrap_or(0),
            added: need_uint(record, "verdict", "added")?,
            removed: need_uint(record, "verdict", "removed")?,
            changed: need_uint(record, "verdict", "changed")?,
            reordered: need_uint(record, "verdict", "reordered")?,
        })
    }

    /// The gate's part of the exit status.
    pub fn outcome(&self) -> Outcome {
        if self.failed { Outcome::Findings } else { Outcome::Clean }
    }
}

impl End {
    /// The record as a line.
    pub fn to_line(&self) -> String {
        let mut object = Object::new();
        object.str("type", "end").uint("files", self.files).uint("differing", self.differing);
        object.uint("changes", self.changes).uint("errors", self.errors).bool("complete", self.complete);
        object.finish()
    }

    /// Reads it.
    ///
    /// # Errors
    /// A missing or mistyped field.
    pub fn from_record(record: &Record) -> Result<End, BadField> {
        Ok(End {
            files: need_uint(record, "end", "files")?,
            differing: need_uint(record, "end", "differing")?,
            changes: need_uint(record, "end", "changes")?,
            errors: need_uint(record, "end", "errors")?,
            complete: record.bool("complete").ok_or(BadField { record: "end", field: "complete" })?,
        })
    }
}

/// A `warning` record as a line: a stage could not do all that it was asked for.
pub fn warning_line(stage: &str, message: &str) -> String {
    let mut object = Object::new();
    object.str("type", "warning").str("stage", stage).str("message", message);
    object.finish()
}

/// Makes a finding's sentence from its template, in one pass: `{path}`, `{before}`, `{after}` are filled in as text, `{{`
/// is a brace. Policy makes the sentence with it, and the mask makes it again from masked values. What was filled in is
/// never looked at again, so a value that contains `{after}` stays what it is.
pub fn fill(template: &str, path: &str, before: Option<&Value>, after: Option<&Value>) -> String {
    let mut out = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let absent = || Cow::Borrowed("nothing");
        let (length, text) = if rest.starts_with("{{") {
            (2, "{".into())
        } else if rest.starts_with("{path}") {
            (6, path.into())
        } else if rest.starts_with("{before}") {
            (8, before.map_or_else(absent, Value::to_text))
        } else if rest.starts_with("{after}") {
            (7, after.map_or_else(absent, Value::to_text))
        } else {
            (1, "{".into())
        };
        out.push_str(&text);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

fn put_value(object: &mut Object, key: &str, value: Option<&Value>) {
    if let Some(value) = value {
        object.raw(key, &value.to_json());
    }
}

fn need(record: &Record, kind: &'static str, field: &'static str) -> Result<String, BadField> {
    record.str(field).ok_or(BadField { record: kind, field })
}

fn need_uint(record: &Record, kind: &'static str, field: &'static str) -> Result<u64, BadField> {
    record.uint(field).ok_or(BadField { record: kind, field })
}

/// Absent is fine; present and unreadable is not, or half a value would count as none.
fn opt_value(record: &Record, kind: &'static str, field: &'static str) -> Result<Option<Value>, BadField> {
    match record.get(field) {
        None => Ok(None),
        Some(raw) => Value::from_raw(raw).map(Some).map_err(|_| BadField { record: kind, field }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewriting_keeps_unknown_fields_in_their_order_and_spelling() {
        let mut record =
            Record::parse(r#"{"type":"change", "x": [1, 2], "after":"s3cret","z":1e2}"#).expect("a record");
        record.set_str("after", "***");
        assert_eq!(record.to_line(), r#"{"type":"change","x":[1, 2],"after":"***","z":1e2}"#);
    }

    #[test]
    fn a_text_is_that_of_the_string() {
        let record = Record::parse(r#"{"type":"x","a":"b","c":"d\"e","f":5,"g":""}"#).expect("a record");
        let texts = ["a", "c", "f", "g", "h"].map(|key| record.text(key));
        let texts = texts.each_ref().map(Option::as_deref);
        assert_eq!(texts, [Some("b"), Some("d\"e"), None, Some(""), None]);
    }

    #[test]
    fn a_repeated_key_is_an_error() {
        assert!(Record::parse(r#"{"type":"end","a":1,"a":2}"#).is_err());
        let many = |last: usize| {
            let fields: Vec<String> = (0..100).chain([last]).map(|n| format!("\"k{n}\":{n}")).collect();
            Record::parse(&format!("{{{}}}", fields.join(",")))
        };
        assert!(many(100).is_ok());
        assert!([0, 31, 32, 33, 50, 99].into_iter().all(|last| many(last).is_err()));
    }

    #[test]
    fn null_is_not_absent() {
        let record = Record::parse(r#"{"type":"change","file":"f","path":"a","op":"added","after":null}"#).expect("ok");
        let change = Change::from_record(&record).expect("a change");
        assert_eq!(change.after, Some(Value::Null));
        assert_eq!(change.before, None);
        assert_eq!(change.to_line(), record.to_line());
    }

    #[test]
    fn a_template_is_filled_in_one_pass() {
        let before = Value::Number("5".into());
        let after = Value::String("{before}{{".into());
        let text = fill("{path}: {before} to {after} {{x} {y}", "a.b", Some(&before), Some(&after));
        assert_eq!(text, "a.b: 5 to {before}{{ {x} {y}");
        assert_eq!(fill("{before}", "p", None, None), "nothing");
    }
}
