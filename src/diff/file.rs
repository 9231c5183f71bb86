//! What changed in this file? From the bytes of two sides to the records of one file.

use super::compare::{Found, Side};
use super::{Options, documents, kind, line_hash, moves};
use crate::document::{self, Data, Document, Format, Node, split_yaml};
use crate::json;
use crate::limits::{MAX_LINE, MAX_STRING};
use crate::path::Segment;
use crate::record::{Change, File, Finding, Op, Severity, Status};
use crate::value::{ENVELOPE, Value};
use base64::Engine as _;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// The rule of the finding that says that a value was too long to be judged.
pub const NOT_JUDGED: &str = "not-judged";

/// A file's name: bytes, because a name need not be UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name(pub(super) Vec<u8>);

impl Name {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    fn bytes(&self) -> Option<String> {
        std::str::from_utf8(&self.0).is_err().then(|| base64::engine::general_purpose::STANDARD.encode(&self.0))
    }
}

/// One side of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Absent,
    Bytes(Vec<u8>),
    /// A symbolic link, by its target. It is never followed.
    Link(Vec<u8>),
    /// A submodule, by the commit that it is at.
    Submodule(String),
    /// What cannot be read, and why.
    Failed(String),
}

/// A file to compare.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) name: Name,
    /// The old name of a renamed file.
    pub(super) from: Option<Name>,
    /// The old side's own name, where two files were named.
    pub(super) against: Option<Name>,
    pub(super) old: Content,
    pub(super) new: Content,
    /// It was named on the command line.
    pub(super) literal: bool,
    /// The new side is what is on disk, where git may have turned a pointer into content.
    pub(super) on_disk: bool,
    /// What a person calls the old side.
    pub(super) baseline: String,
}

/// What came out of comparing a file.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// Its records: whole lines.
    pub(super) text: String,
    pub(super) differs: bool,
    pub(super) failed: bool,
    pub(super) changes: u64,
    /// Lines for standard error.
    pub(super) said: Vec<String>,
    /// Changes left out, by `--ignore` and by `--neat`.
    pub(super) ignored: u64,
    pub(super) neat: u64,
}

/// What stands before the parser: a text to parse, or something that says all itself.
enum Text<'c> {
    None,
    Parse(&'c [u8]),
    Whole(Data<'static>, &'static str),
}

/// Why a side could not be taken in.
struct Failure {
    side: &'static str,
    message: String,
}

/// Compares the two sides of a file.
pub(super) fn diff(job: &Job, options: &Options) -> Report {
    let name = job.name.text();
    // Of two files each is what its own name says; a name that says nothing (`<(helm template …)`) follows the other.
    let old_name = job.from.as_ref().or(job.against.as_ref()).map(Name::text);
    let old_format = old_name.and_then(|name| options.format_of(&name));
    let format = options.format_of(&name).or(old_format);
    let mut record = File {
        file: name.clone(),
        file_bytes: job.name.bytes(),
        format: format.map_or("unknown", Format::as_str).to_string(),
        kind: None,
        status: Status::Unchanged,
        from: job.from.as_ref().map(Name::text),
        side: None,
        error: None,
    };
    let mut report = Report::default();
    if let Err(failure) = judge(job, options, (old_format, format), &mut record, &mut report) {
        let place = if failure.side == "before" { format!(" (in {})", job.baseline) } else { String::new() };
        let glue = if failure.message.starts_with(|c: char| c.is_ascii_digit()) { "" } else { " " };
        report = Report {
            failed: true,
            said: vec![format!("{name}:{glue}{}{place}", failure.message)],
            ..Report::default()
        };
        record.status = Status::Error;
        record.kind = None;
        record.side = Some(failure.side.to_string());
        record.error = Some(failure.message);
        report.text = record.to_line() + "\n";
    }
    report
}

fn judge(
    job: &Job,
    options: &Options,
    (old_format, format): (Option<Format>, Option<Format>),
    record: &mut File,
    report: &mut Report,
) -> Result<(), Failure> {
    let fail = |side, message: String| Err(Failure { side, message });
    let old = text(&job.old).map_err(|message| Failure { side: "before", message })?;
    let new = text(&job.new).map_err(|message| Failure { side: "after", message })?;
    let equal = match (&job.old, &job.new) {
        (Content::Bytes(a), Content::Bytes(b)) => same_bytes(a, b) || pointer_to(a, b),
        (a, b) => a == b,
    };
    record.status = match (&job.old, &job.new) {
        _ if job.from.is_some() => Status::Renamed,
        (Content::Absent, Content::Absent) => return Ok(()),
        _ if equal => Status::Unchanged,
        (Content::Absent, _) => Status::Added,
        (_, Content::Absent) => Status::Removed,
        _ => Status::Modified,
    };
    for (side, text) in [("before", &old), ("after", &new)] {
        if let Text::Whole(_, what) = text {
            record.format = (*what).to_string();
        }
        if let Text::Parse(bytes) = text
            && !equal
            && is_pointer(bytes)
        {
            return fail(
                side,
                "is a Git LFS pointer, its content is not here; git lfs pull, then compare the files with --no-index"
                    .into(),
            );
        }
    }
    if equal {
        if record.status == Status::Renamed || job.literal {
            report.differs = record.status == Status::Renamed;
            report.text = record.to_line() + "\n";
        }
        return Ok(());
    }
    report.differs = true;
    let crypt = |text: &Text<'_>| matches!(text, Text::Whole(_, "git-crypt"));
    if job.on_disk
        && crypt(&old) != crypt(&new)
        && !matches!(job.new, Content::Absent)
        && !matches!(job.old, Content::Absent)
    {
        return fail("before", "is locked by git-crypt in the repository and unlocked here; compare commits (--to-ref HEAD) or the index (--staged)".into());
    }
    let parses = matches!(old, Text::Parse(_)) || matches!(new, Text::Parse(_));
    if parses && format.is_none() {
        let side = if matches!(new, Text::Parse(_)) { "after" } else { "before" };
        return fail(side, unsupported());
    }
    let new_format = format.unwrap_or(Format::Yaml);
    compare(options, (&old, old_format.unwrap_or(new_format)), (&new, new_format), record, report)
}

/// What is known, for the error about what is not.
fn unsupported() -> String {
    let words: Vec<&str> = Format::words().collect();
    let endings: Vec<&str> = Format::endings().collect();
    format!(
        "unsupported format: the name does not tell it; say --input-format FORMAT or --format-map 'GLOB=FORMAT' (formats: {}; known endings: {})",
        words.join(", "),
        endings.join(" ")
    )
}

fn text(content: &Content) -> Result<Text<'_>, String> {
    Ok(match content {
        Content::Absent => Text::None,
        Content::Failed(message) => return Err(message.clone()),
        Content::Link(target) => Text::Whole(Data::String(String::from_utf8_lossy(target).into_owned().into()), "link"),
        Content::Submodule(commit) => Text::Whole(Data::String(commit.clone().into()), "submodule"),
        Content::Bytes(bytes) if bytes.starts_with(b"\0GITCRYPT\0") => {
            let sentinel = format!("<encrypted:git-crypt:{}>", hex(&Sha256::digest(bytes), 6));
            Text::Whole(Data::Encrypted(sentinel.into()), "git-crypt")
        }
        Content::Bytes(bytes) => Text::Parse(bytes),
    })
}

fn hex(bytes: &[u8], count: usize) -> String {
    bytes.iter().take(count).map(|byte| format!("{byte:02x}")).collect()
}

/// Equal but for carriage returns at the ends of lines, which git adds and takes away.
pub(super) fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    if a == b {
        return true;
    }
    if !a.contains(&b'\r') && !b.contains(&b'\r') {
        return false;
    }
    folded(a).eq(folded(b))
}

/// The bytes with each `\r\n` as `\n`.
pub(super) fn folded(bytes: &[u8]) -> impl Iterator<Item = u8> + '_ {
    bytes
        .iter()
        .enumerate()
        .filter(|(at, byte)| **byte != b'\r' || bytes.get(at + 1) != Some(&b'\n'))
        .map(|(_, byte)| *byte)
}

/// <https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md>
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

fn is_pointer(bytes: &[u8]) -> bool {
    bytes.len() < 1024 && bytes.starts_with(POINTER)
}

/// Whether `old` is the pointer to `new`.
fn pointer_to(old: &[u8], new: &[u8]) -> bool {
    is_pointer(old) && {
        let line = format!("\noid sha256:{}\n", hex(&Sha256::digest(new), 32));
        old.windows(line.len()).any(|window| window == line.as_bytes())
    }
}

/// The documents of one side, with how many the file has.
struct Parsed<'c> {
    documents: Vec<Document<'c>>,
    count: usize,
}

fn compare(
    options: &Options,
    (old, old_format): (&Text<'_>, Format),
    (new, new_format): (&Text<'_>, Format),
    record: &mut File,
    report: &mut Report,
) -> Result<(), Failure> {
    let (old_parts, new_parts) = parts((old, old_format), (new, new_format));
    let mut warnings = Vec::new();
    let a = parse(old, old_format, &old_parts, options, &mut warnings)
        .map_err(|message| Failure { side: "before", message })?;
    warnings.clear();
    let b = parse(new, new_format, &new_parts, options, &mut warnings)
        .map_err(|message| Failure { side: "after", message })?;
    report.said.extend(warnings.iter().map(|warning| format!("{}: {warning}", record.file)));
    let all: Vec<&Document<'_>> = b.documents.iter().chain(&a.documents).collect();
    record.kind = kind::of(&record.file, &all).map(str::to_string);
    let loose = is_json(old_format) != is_json(new_format);
    let mut found =
        documents::compare_part(&a.documents, &b.documents, &options.settings, 0, loose, (a.count, b.count));
    found.retain(|one| {
        let ignored = options.ignore.iter().any(|pattern| pattern.covers(&one.path));
        let neat = !ignored && options.neat.iter().any(|pattern| pattern.covers(&one.path));
        report.ignored += u64::from(ignored);
        report.neat += u64::from(neat);
        !ignored && !neat
    });
    moves::note(&mut found);
    if let (Text::Whole(_, was), Text::Parse(_)) = (old, new) {
        found.iter_mut().for_each(|one| one.notes.push(format!("was {}, is a file now", a_thing(was))));
    }
    if let (Text::Parse(_), Text::Whole(_, is)) = (old, new) {
        found.iter_mut().for_each(|one| one.notes.push(format!("was a file, is {} now", a_thing(is))));
    }
    let mut lines = Lines::new(record, if let Text::Parse(bytes) = new { bytes } else { &[] });
    lines.text = record.to_line() + "\n";
    for one in found {
        lines.found(one).map_err(|message| Failure { side: "after", message })?;
    }
    report.text = lines.text;
    report.changes = lines.count;
    Ok(())
}

fn a_thing(what: &str) -> &'static str {
    match what {
        "link" => "a symbolic link",
        "submodule" => "a submodule",
        _ => "a file encrypted by git-crypt",
    }
}

fn is_json(format: Format) -> bool {
    matches!(format, Format::Json | Format::Jsonc | Format::Json5)
}

/// Parts of a text to parse: each with what precedes it; and how many documents the whole has.
struct Parts {
    parts: Vec<document::Part>,
    count: usize,
}

/// What of two manifests of many documents differs: equal documents are not parsed.
fn parts(
    (old, old_format): (&Text<'_>, Format),
    (new, new_format): (&Text<'_>, Format),
) -> (Option<Parts>, Option<Parts>) {
    let (Text::Parse(a), Text::Parse(b), Format::Yaml, Format::Yaml) = (old, new, old_format, new_format) else {
        return (None, None);
    };
    let (Some(olds), Some(news)) = (split_yaml(a), split_yaml(b)) else { return (None, None) };
    if olds.len() < 2 || news.len() < 2 {
        return (None, None);
    }
    let mut ids: HashMap<&[u8], u64> = HashMap::new();
    let mut tokens = [Vec::with_capacity(olds.len()), Vec::with_capacity(news.len())];
    for (side, (text, parts)) in [(*a, &olds), (*b, &news)].into_iter().enumerate() {
        for part in parts {
            let next = ids.len() as u64;
            tokens[side].push(*ids.entry(&text[part.bytes.clone()]).or_insert(next));
        }
    }
    let mut budget = super::align::BUDGET;
    let gaps = super::align::gaps(&mut budget, &tokens[0], &tokens[1]);
    let (mut keep_old, mut keep_new) = (vec![false; olds.len()], vec![false; news.len()]);
    for (before, after) in gaps {
        keep_old[before].fill(true);
        keep_new[after].fill(true);
    }
    let keep = |parts: Vec<document::Part>, keep: &[bool]| Parts {
        count: parts.len(),
        parts: parts.into_iter().zip(keep).filter(|(_, keep)| **keep).map(|(part, _)| part).collect(),
    };
    (Some(keep(olds, &keep_old)), Some(keep(news, &keep_new)))
}

fn parse<'c>(
    text: &'c Text<'_>,
    format: Format,
    parts: &Option<Parts>,
    options: &Options,
    warnings: &mut Vec<String>,
) -> Result<Parsed<'c>, String> {
    let mut options =
        document::Options { allow_duplicate_keys: options.allow_duplicate_keys, ..document::Options::default() };
    match (text, parts) {
        (Text::None, _) => Ok(Parsed { documents: Vec::new(), count: 0 }),
        (Text::Whole(data, _), _) => {
            let root = Node { data: data.clone(), tag: None, yaml11: None, span: document::Span::default() };
            Ok(Parsed { documents: vec![Document { root, index: 0, encrypted: None }], count: 1 })
        }
        (Text::Parse(bytes), None) => {
            let parsed = document::parse(format, bytes, &options).map_err(|error| error.to_string())?;
            warnings.extend(parsed.warnings);
            Ok(Parsed { count: parsed.documents.len(), documents: parsed.documents })
        }
        (Text::Parse(bytes), Some(parts)) => {
            let mut documents = Vec::new();
            for part in &parts.parts {
                options.lines_before = part.lines_before;
                options.documents_before = part.documents_before;
                let parsed =
                    document::parse(format, &bytes[part.bytes.clone()], &options).map_err(|error| error.to_string())?;
                warnings.extend(parsed.warnings);
                documents.extend(parsed.documents);
            }
            Ok(Parsed { documents, count: parts.count })
        }
    }
}

/// The records of one file, as they are written.
struct Lines<'j> {
    record: &'j File,
    source: &'j [u8],
    hashes: Option<Vec<String>>,
    accepts: Option<HashMap<u64, Vec<Value>>>,
    text: String,
    count: u64,
}

impl<'j> Lines<'j> {
    fn new(record: &'j File, source: &'j [u8]) -> Lines<'j> {
        Lines { record, source, hashes: None, accepts: None, text: String::new(), count: 0 }
    }

    /// Writes a difference; one that is longer than a line may be as its parts.
    fn found(&mut self, found: Found<'_>) -> Result<(), String> {
        let mut long = Vec::new();
        let change = self.change(&found, &mut long);
        let line = change.to_line();
        if line.len() <= MAX_LINE {
            self.count += 1;
            self.text.push_str(&line);
            self.text.push('\n');
            for size in long {
                self.not_judged(&change, size);
            }
            return Ok(());
        }
        drop(line);
        for part in split(found) {
            match part {
                Some(part) => self.found(part)?,
                None => return Err("has a key of more than 16 MiB; no record holds it".to_string()),
            }
        }
        Ok(())
    }

    fn change(&mut self, found: &Found<'_>, long: &mut Vec<usize>) -> Change {
        let span = found.new_span.filter(|span| span.start.line > 0);
        let line = span.map(|span| u64::from(span.start.line));
        let mut value = |side: &Option<Side<'_>>| {
            side.as_ref().map(|side| {
                let mut value = side.to_value();
                shorten(&mut value, long);
                value
            })
        };
        Change {
            file: self.record.file.clone(),
            document: found.document.as_deref().map(str::to_string),
            path: found.path.to_string(),
            op: found.op,
            before: value(&found.before),
            after: value(&found.after),
            index: found.index.map(|index| index as u64),
            note: (!found.notes.is_empty()).then(|| found.notes.join("; ")),
            line,
            column: span.map(|span| u64::from(span.start.column)),
            end_line: span.filter(|span| span.end_line > span.start.line).map(|span| u64::from(span.end_line)),
            before_line: found.old_span.filter(|span| span.start.line > 0).map(|span| u64::from(span.start.line)),
            accept: line.and_then(|line| self.accept(line)),
            line_hash: line.and_then(|line| self.line_hash(line)),
        }
    }

    fn line_hash(&mut self, line: u64) -> Option<String> {
        let source = self.source;
        let hashes = self.hashes.get_or_insert_with(|| line_hash::of_lines(&String::from_utf8_lossy(source)));
        hashes.get(usize::try_from(line).ok()?.checked_sub(1)?).cloned()
    }

    /// What comments just above a line accept.
    fn accept(&mut self, line: u64) -> Option<Value> {
        let source = self.source;
        let accepts = self.accepts.get_or_insert_with(|| accepts(source));
        match accepts.get(&line)?.as_slice() {
            [one] => Some(one.clone()),
            many => Some(Value::List(many.to_vec())),
        }
    }

    fn not_judged(&mut self, change: &Change, size: usize) {
        let finding = Finding {
            file: change.file.clone(),
            document: change.document.clone(),
            path: change.path.clone(),
            rule: NOT_JUDGED.to_string(),
            pack: None,
            severity: Severity::Warn,
            message: format!(
                "A string of {size} bytes is too long for a record; its digest stands for it, and no rule has seen it."
            ),
            template: None,
            before: None,
            after: None,
            line: change.line,
            column: change.column,
            end_line: change.end_line,
            before_line: change.before_line,
            accepted: None,
            line_hash: change.line_hash.clone(),
        };
        self.text.push_str(&finding.to_line());
        self.text.push('\n');
    }
}

/// Puts a stand-in for each string that no record holds.
fn shorten(value: &mut Value, long: &mut Vec<usize>) {
    match value {
        Value::String(text) if text.len() > MAX_STRING / 6 && json::string(text).len() > MAX_STRING => {
            long.push(text.len());
            let text = format!("{} bytes, sha256 {}", text.len(), hex(&Sha256::digest(text.as_bytes()), 6));
            *value =
                Value::Map(vec![(ENVELOPE.into(), Value::String("long".into())), ("text".into(), Value::String(text))]);
        }
        Value::List(items) => items.iter_mut().for_each(|item| shorten(item, long)),
        Value::Map(entries) => entries.iter_mut().for_each(|(_, item)| shorten(item, long)),
        _ => {}
    }
}

/// The parts of a difference that is too long for a record; `None` for one that has no parts.
fn split(found: Found<'_>) -> Vec<Option<Found<'_>>> {
    let sides = [(Op::Removed, &found.before), (Op::Added, &found.after)];
    let both = found.before.is_some() && found.after.is_some();
    let mut out = Vec::new();
    for (op, side) in sides {
        let Some(side) = side else { continue };
        let mut push = |segment: Option<Segment>, side: Side<'_>, span: Option<document::Span>| {
            let path = match segment {
                Some(segment) => found.path.child(segment),
                None => found.path.clone(),
            };
            let gone = op == Op::Removed;
            let side = Some(side.detached());
            let (before, after) = if gone { (side, None) } else { (None, side) };
            out.push(Some(Found {
                document: found.document.clone(),
                path,
                op,
                before,
                after,
                old_span: span.filter(|_| gone),
                new_span: span.filter(|_| !gone),
                index: None,
                notes: found.notes.clone(),
            }));
        };
        let span = if op == Op::Removed { found.old_span } else { found.new_span };
        match side {
            side if both => push(None, side.clone(), span),
            Side::Node(Node { data: Data::Map(entries), tag: None, .. }) if !entries.is_empty() => {
                for entry in entries {
                    push(
                        Some(super::compare::key_segment(&entry.key)),
                        Side::Node(&entry.value),
                        Some(entry.value.span),
                    );
                }
            }
            Side::Node(Node { data: Data::List(items), tag: None, .. }) if !items.is_empty() => {
                for (at, item) in items.iter().enumerate() {
                    push(Some(Segment::Index(at)), Side::Node(item), Some(item.span));
                }
            }
            Side::Value(Value::Map(entries)) if !entries.is_empty() && entries[0].0 != ENVELOPE => {
                for (key, value) in entries {
                    push(Some(Segment::Key(key.clone())), Side::Value(value.clone()), span);
                }
            }
            Side::Value(Value::List(items)) if !items.is_empty() => {
                for (at, item) in items.iter().enumerate() {
                    push(Some(Segment::Index(at)), Side::Value(item.clone()), span);
                }
            }
            _ => out.push(None),
        }
    }
    out
}

/// What accepts a finding on the next line.
const MARK: &str = "flecto-ignore-next-line";

/// The comments that accept something, by the line of the value that they are for: the next one that is no comment.
fn accepts(source: &[u8]) -> HashMap<u64, Vec<Value>> {
    let mut out: HashMap<u64, Vec<Value>> = HashMap::new();
    if !source.windows(MARK.len()).any(|window| window == MARK.as_bytes()) {
        return out;
    }
    let mut waiting = Vec::new();
    for (at, line) in String::from_utf8_lossy(source).lines().enumerate() {
        let trimmed = line.trim_start_matches('\u{feff}').trim();
        let comment = ["#", "//", ";", "/*", "*", "!"].iter().find_map(|start| trimmed.strip_prefix(start));
        match comment {
            Some(comment) => waiting.extend(acceptance(comment)),
            None if trimmed.is_empty() => {}
            None => {
                if !waiting.is_empty() {
                    out.insert(at as u64 + 1, std::mem::take(&mut waiting));
                }
            }
        }
    }
    out
}

/// `flecto-ignore-next-line RULE — reason`; a reason may also follow `--`, `-` or `:`.
fn acceptance(comment: &str) -> Option<Value> {
    let rest = comment.trim().trim_start_matches(['#', '/', '*', ';']).trim_start().strip_prefix(MARK)?;
    let rest = rest.strip_prefix(char::is_whitespace)?.trim().trim_end_matches("*/").trim_end();
    let (rule, reason) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let reason = reason.trim_start().trim_start_matches(['—', '–', '-', ':']).trim();
    let rule = rule.trim_end_matches(':');
    let mut fields = vec![("rule".to_string(), Value::String(rule.to_string()))];
    if !reason.is_empty() {
        fields.push(("reason".to_string(), Value::String(reason.to_string())));
    }
    (!rule.is_empty()).then_some(Value::Map(fields))
}
