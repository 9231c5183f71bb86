//! What changed in this file? From the bytes of two sides to the records of one file.

use super::lines::Lines;
use super::{Options, documents, ignore, kind, moves};
use crate::document::{self, Data, Document, Format, Node, split_yaml};
use crate::record::{File, Status};
use base64::Engine as _;
use foldhash::HashMapExt as _;
use sha2::{Digest as _, Sha256};

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
    let old_format = old_name.as_ref().and_then(|name| options.format_of(name));
    let format = options.format_of(&name).or(old_format);
    let mut record = File {
        file: name.clone(),
        file_bytes: job.name.bytes(),
        format: format.map_or("unknown", Format::as_str).to_string(),
        kind: None,
        kinds: Vec::new(),
        status: Status::Unchanged,
        from: job.from.as_ref().map(Name::text),
        side: None,
        error: None,
    };
    let mut report = Report::default();
    if let Err(failure) = judge(job, options, (old_format, format), &mut record, &mut report) {
        // What failed is called by its own name; where both sides have one, the baseline says where the old one stands.
        let before = failure.side == "before";
        let failed = old_name.filter(|_| before).unwrap_or_else(|| name.clone());
        let place = if before && job.against.is_none() { format!(" (in {})", job.baseline) } else { String::new() };
        let glue = if failure.message.starts_with(|c: char| c.is_ascii_digit()) { "" } else { " " };
        report = Report {
            failed: true,
            said: vec![format!("{failed}:{glue}{}{place}", failure.message)],
            ..Report::default()
        };
        record.status = Status::Error;
        record.kind = None;
        record.kinds.clear();
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
    let scheme = |text: &Text<'_>| match text {
        Text::Parse(bytes) => document::whole_file(bytes),
        _ => None,
    };
    let crypt = |text: &Text<'_>| scheme(text) == Some("git-crypt");
    if job.on_disk
        && crypt(&old) != crypt(&new)
        && !matches!(job.new, Content::Absent)
        && !matches!(job.old, Content::Absent)
    {
        return fail("before", "is locked by git-crypt in the repository and unlocked here; compare commits (--to-ref HEAD) or the index (--staged)".into());
    }
    // What is ciphertext as a whole needs no format.
    let parses = |text: &Text<'_>| matches!(text, Text::Parse(_)) && scheme(text).is_none();
    if format.is_none() && (parses(&old) || parses(&new)) {
        return fail(if parses(&new) { "after" } else { "before" }, unsupported());
    }
    if let Some(scheme) = scheme(&new).or_else(|| scheme(&old)).filter(|_| format.is_none()) {
        record.format = scheme.to_string();
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
        Content::Link(target) => Text::Whole(Data::String(link_text(target).into()), "link"),
        Content::Submodule(commit) => Text::Whole(Data::String(commit.clone().into()), "submodule"),
        Content::Bytes(bytes) => Text::Parse(bytes),
    })
}

/// The target of a link; bytes that are no text are spelt out, so that two targets never look the same.
fn link_text(target: &[u8]) -> String {
    let mut out = String::new();
    for chunk in target.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

pub(super) fn hex(bytes: &[u8], count: usize) -> String {
    bytes.iter().take(count).map(|byte| format!("{byte:02x}")).collect()
}

/// Equal but for carriage returns at the ends of lines, which git adds and takes away.
pub(super) fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    if a == b {
        return true;
    }
    let has_returns = |side: &[u8]| memchr::memchr(b'\r', side).is_some();
    if !has_returns(a) && !has_returns(b) {
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
    let (a, b) = both(
        size(old) + size(new),
        || parse(old, old_format, &old_parts, options, &mut Vec::new()),
        || parse(new, new_format, &new_parts, options, &mut warnings),
    );
    let a = a.map_err(|message| Failure { side: "before", message })?;
    let b = b.map_err(|message| Failure { side: "after", message })?;
    report.said.extend(warnings.iter().map(|warning| format!("{}: {warning}", record.file)));
    let all: Vec<&Document<'_>> = b.documents.iter().chain(&a.documents).collect();
    let kinds: Vec<String> = kind::of(&record.file, &all).into_iter().map(str::to_string).collect();
    record.kind = kinds.first().cloned();
    record.kinds = kinds;
    let loose = is_json(old_format) != is_json(new_format);
    let mut found =
        documents::compare_part(&a.documents, &b.documents, &options.settings, 0, loose, (a.count, b.count));
    report.ignored += ignore::take_out(&mut found, &options.ignore);
    report.neat += ignore::take_out(&mut found, &options.neat);
    moves::note(&mut found);
    if let (Text::Whole(_, was), Text::Parse(_)) = (old, new) {
        found.iter_mut().for_each(|one| one.notes.push(format!("was {}, is a file now", a_thing(was))));
    }
    if let (Text::Parse(_), Text::Whole(_, is)) = (old, new) {
        found.iter_mut().for_each(|one| one.notes.push(format!("was a file, is {} now", a_thing(is))));
    }
    let bytes: &[u8] = if let Text::Parse(bytes) = new { bytes } else { &[] };
    let source = std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Into::into);
    let remarks = if found.is_empty() { Vec::new() } else { remarks(new, new_format, &new_parts) };
    let mut lines = Lines::new(record, &source, &remarks);
    lines.expect(&found);
    for one in found {
        lines.found(one).map_err(|message| Failure { side: "after", message })?;
    }
    report.text = lines.text;
    report.changes = lines.count;
    Ok(())
}

/// Bytes of two sides from which on it is worth a thread to read them at once.
const WORTH_A_THREAD: usize = 1 << 20;

fn size(text: &Text<'_>) -> usize {
    if let Text::Parse(bytes) = text { bytes.len() } else { 0 }
}

/// Does both, at once where there is much to do.
fn both<A: Send, B>(size: usize, a: impl Fn() -> A + Sync, b: impl FnOnce() -> B) -> (A, B) {
    if size < WORTH_A_THREAD {
        return (a(), b());
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(super::run::STACK).spawn_scoped(scope, &a);
        let b = b();
        let a = match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(a)) => a,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            // No thread was to be had.
            Err(_) => a(),
        };
        (a, b)
    })
}

/// The comments of the new side that speak to flecto.
fn remarks(new: &Text<'_>, format: Format, parts: &Option<Parts>) -> Vec<document::Remark> {
    let Text::Parse(bytes) = new else { return Vec::new() };
    let Some(parts) = parts else { return document::remarks(format, bytes, &document::Options::default()) };
    let of_part = |part: &document::Part| {
        let options = document::Options {
            lines_before: part.lines_before,
            documents_before: part.documents_before,
            ..document::Options::default()
        };
        document::remarks(format, &bytes[part.bytes.clone()], &options)
    };
    parts.parts.iter().flat_map(of_part).collect()
}

fn a_thing(what: &str) -> &'static str {
    match what {
        "link" => "a symbolic link",
        _ => "a submodule",
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
    let mut ids: foldhash::HashMap<&[u8], u64> = foldhash::HashMap::with_capacity(olds.len());
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
    // An empty YAML document is none; in other formats null is a value.
    let is_there = |document: &Document<'_>| {
        format != Format::Yaml || !matches!(document.root, Node { data: Data::Null, tag: None, .. })
    };
    match (text, parts) {
        (Text::None, _) => Ok(Parsed { documents: Vec::new(), count: 0 }),
        (Text::Whole(data, _), _) => {
            let root = Node { data: data.clone(), tag: None, yaml11: None, span: document::Span::default() };
            Ok(Parsed { documents: vec![Document { root, index: 0, encrypted: None }], count: 1 })
        }
        (Text::Parse(bytes), None) => {
            let parsed = document::parse(format, bytes, &options).map_err(|error| error.to_string())?;
            warnings.extend(parsed.warnings);
            let count = parsed.documents.len();
            Ok(Parsed { count, documents: parsed.documents.into_iter().filter(is_there).collect() })
        }
        (Text::Parse(bytes), Some(parts)) => {
            let mut documents = Vec::new();
            for part in &parts.parts {
                options.lines_before = part.lines_before;
                options.documents_before = part.documents_before;
                let parsed =
                    document::parse(format, &bytes[part.bytes.clone()], &options).map_err(|error| error.to_string())?;
                warnings.extend(parsed.warnings);
                documents.extend(parsed.documents.into_iter().filter(is_there));
            }
            Ok(Parsed { documents, count: parts.count })
        }
    }
}
