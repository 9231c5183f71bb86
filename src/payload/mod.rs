//! What is the least that a model must see? Masks once more, keeps the known fields of the known records, and writes one
//! prompt after the records that it passes on.
//!
//! The masking here does not trust that anybody masked before: this is the last program before the one that has a
//! connection. What it passes on went through the same masker. The prompt depends on the change alone: the same diff gives
//! the same bytes, in any order of files, masked before or not.

mod describe;
mod prompt;

use crate::json::Object;
use crate::outcome::Outcome;
use crate::record::{self, Change, Finding};
use crate::secret::{self, Masker, Options as MaskOptions};
use crate::stream::{Line, Reader, Tally, Writer};
use crate::value::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, Write};

pub use prompt::VERSION;

/// The stage's name in a `warning` record.
const STAGE: &str = "payload";

/// A change as one JSON object: where, what, and what follows from its values (type, direction, factor).
pub fn facts(change: &Change) -> String {
    describe::change(change)
}

/// How the prompt is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Takes a stream that is not whole: after `grep`, say.
    pub partial: bool,
    /// One prompt a file instead of one for all, for a diff that is too long for one request.
    pub by_file: bool,
}

/// The lines of one file, as the prompt has them.
#[derive(Debug, Default)]
struct Section {
    changes: Vec<String>,
    findings: Vec<String>,
}

/// What becomes the prompt: sections by file name, which sorts them.
#[derive(Debug, Default)]
struct Diff {
    sections: BTreeMap<String, Section>,
    bytes: usize,
    hidden: usize,
}

impl Diff {
    /// A record line cannot be longer, and no provider takes a prompt of a tenth of it.
    const LIMIT: usize = crate::limits::MAX_LINE / 4;

    fn is_too_long(&self) -> bool {
        self.bytes > Diff::LIMIT
    }

    fn add(&mut self, file: &str, line: String, finding: bool) {
        self.bytes += line.len() + 1;
        if self.is_too_long() {
            self.sections.clear();
            return;
        }
        self.hidden += prompt::escapes(&line);
        let section = self.sections.entry(prompt::shown_name(file)).or_default();
        if finding { section.findings.push(line) } else { section.changes.push(line) }
    }
}

/// Reads a stream, passes it on masked, and adds the prompt. What a person should know is said through `say`.
///
/// # Errors
/// A line that is no record, a secret that could not be hidden, a stream that is not whole, and output that fails.
pub fn run(
    input: impl BufRead,
    output: impl Write,
    options: Options,
    mut say: impl FnMut(&str),
) -> anyhow::Result<Outcome> {
    let (mut reader, mut writer) = (Reader::new(input), Writer::new(output));
    let (mut masker, mut tally) = (Masker::new(MaskOptions::default()), Tally::new());
    let mut diff = Diff::default();
    let mut pass = |line: Line<'_>, tally: &mut Tally, diff: &mut Diff| -> anyhow::Result<()> {
        take(&line, tally, diff)?;
        Ok(writer.raw(line.text())?)
    };
    while let Some(line) = reader.next_line()? {
        for masked in masker.push(&line)? {
            pass(masked.line(), &mut tally, &mut diff)?;
        }
    }
    for masked in masker.finish()? {
        pass(masked.line(), &mut tally, &mut diff)?;
    }
    if !options.partial {
        tally.whole()?;
    }
    let unread = tally.end.as_ref().map_or(0, |end| end.errors);
    for line in prompts(diff, unread, options.by_file, &mut say) {
        writer.line(&line)?;
    }
    writer.flush()?;
    Ok(Outcome::Clean)
}

/// Looks at one masked line.
fn take(line: &Line<'_>, tally: &mut Tally, diff: &mut Diff) -> anyhow::Result<()> {
    if line.is_blank() {
        return Ok(());
    }
    match &*line.kind()? {
        "start" => tally.start(line)?,
        "file" => {
            tally.file(line)?;
        }
        "change" => {
            tally.change(line)?;
            let change = Change::from_record(&line.record()?).or_else(|field| line.fail(field))?;
            diff.add(&change.file, describe::change(&change), false);
        }
        "finding" => {
            let finding = Finding::from_record(&line.record()?).or_else(|field| line.fail(field))?;
            diff.add(&finding.file, describe::finding(&finding), true);
        }
        "end" => {
            tally.end(line)?;
        }
        _ => {}
    }
    Ok(())
}

/// The `payload` records, or the `warning` that says why there is none.
fn prompts(diff: Diff, unread: u64, by_file: bool, say: &mut impl FnMut(&str)) -> Vec<String> {
    if diff.is_too_long() {
        let message = format!(
            "the diff is longer than {} MiB, more than any model takes; narrate fewer files at once",
            Diff::LIMIT >> 20
        );
        say(&message);
        return vec![record::warning_line(STAGE, &message)];
    }
    if diff.hidden > 0 {
        say(&format!("{} invisible or control characters of the diff are sent as visible escapes", diff.hidden));
    }
    let mut lines = Vec::new();
    if by_file && diff.sections.len() > 1 {
        say(&format!("the diff is asked about file by file, with {} prompts", diff.sections.len()));
        for (file, section) in diff.sections {
            lines.push(payload(Some(&file.clone()), &BTreeMap::from([(file, section)]), unread, say));
        }
    } else {
        lines.push(payload(None, &diff.sections, unread, say));
    }
    lines
}

/// Whether the classifier finds nothing in any text of a value, keys included.
fn holds_no_secret(value: &Value) -> bool {
    match value {
        Value::String(text) => secret::mask_text(text) == text.as_str(),
        Value::List(items) => items.iter().all(holds_no_secret),
        Value::Map(entries) => {
            entries.iter().all(|(key, value)| secret::mask_text(key) == key.as_str() && holds_no_secret(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// One prompt; `file` names what it is about, where it is about one of several.
fn payload(
    file: Option<&str>,
    sections: &BTreeMap<String, Section>,
    unread: u64,
    say: &mut impl FnMut(&str),
) -> String {
    let count = |of: fn(&Section) -> usize| sections.values().map(of).sum::<usize>() as u64;
    let (changes, findings) = (count(|s| s.changes.len()), count(|s| s.findings.len()));
    let prompt = prompt::build(sections, unread);
    // Masked text is a fixed point of the classifier. Where it is not, something got past the records' own masking: the
    // question is then not what to cut out of the prompt, but why, and nothing is sent. Each text is asked about as a model
    // reads it, without JSON's escapes; the JSON around it would look like an assignment to a secret.
    if !prompt.data.lines().all(|line| Value::parse(line).is_ok_and(|line| holds_no_secret(&line))) {
        let message = "the finished prompt still held something that looks like a secret; nothing is sent";
        say(message);
        return record::warning_line(STAGE, message);
    }
    let mut object = Object::new();
    object.str("type", "payload").uint("version", prompt::VERSION).opt_str("file", file);
    object.str("system", prompt::SYSTEM).str("user", &prompt.user).str("mark", &prompt.mark);
    object.uint("files", sections.len() as u64).uint("changes", changes).uint("findings", findings);
    object.finish()
}
