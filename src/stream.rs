//! How do records come in and go out? Lines in, bounded and counted; whole lines out, flushed and checked.
//!
//! A stage reads [`Line`]s: the first bytes tell the type of a line that a filter of ours wrote, so that a line which the
//! stage does not handle is copied and never parsed. What is parsed goes through ndjson-stream, one line at a time: that
//! gives physical line numbers, a bound on a line, and the knowledge that the last one was cut off.
//!
//! [`Tally`] holds a stream to its own counts: half a diff must not pass a gate, be narrated, or look whole.

use crate::limits::MAX_LINE;
use crate::record::{self, BadField, End, File, Record, Start, Status};
use ndjson_stream::config::{EmptyLineHandling, NdjsonConfig};
use ndjson_stream::engine::NdjsonEngine;
use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, BufWriter, Read as _, Write};

/// Why a stream cannot be read on. Names the line and what was seen, never the line's text.
#[derive(Debug)]
pub enum StreamError {
    /// A line that is not a record.
    Line {
        /// Its number, from 1.
        number: u64,
        /// What is wrong with it.
        problem: Problem,
    },
    /// The input itself failed.
    Input(io::Error),
}

/// What is wrong with a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Problem {
    /// No JSON; the column where it stops being some, from 1.
    NotJson(usize),
    /// JSON, but no object.
    NotAnObject,
    /// An object without a string `type`.
    NoType,
    /// The same key twice: two readers would read two records.
    RepeatedKey,
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// Longer than [`MAX_LINE`].
    TooLong,
    /// The last line has no newline: whoever wrote it died, or its disk was full.
    CutOff,
    /// A record of ours that lacks something.
    Field(BadField),
    /// A record where it must not stand.
    Order(&'static str),
}

impl From<BadField> for Problem {
    fn from(field: BadField) -> Problem {
        Problem::Field(field)
    }
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, problem) = match self {
            StreamError::Input(error) => return write!(f, "cannot read standard input: {}", error.kind()),
            StreamError::Line { number, problem } => (number, problem),
        };
        write!(f, "line {number} of the input ")?;
        match problem {
            Problem::NotJson(column) => write!(f, "is no JSON at column {column}; every line must be one record"),
            Problem::NotAnObject => f.write_str("is no JSON object; every line must be one record"),
            Problem::NoType => f.write_str("has no `type`; every record needs one"),
            Problem::RepeatedKey => f.write_str("repeats a key; a record has each key once"),
            Problem::NotUtf8 => f.write_str("is not UTF-8; records are"),
            Problem::TooLong => write!(f, "is longer than {} MiB; flecto-diff writes no such record", MAX_LINE >> 20),
            Problem::CutOff => f.write_str("is cut off; the program that wrote it did not finish"),
            Problem::Field(field) => write!(f, "is {field}; see `man flecto-records`"),
            Problem::Order(what) => write!(f, "is {what}"),
        }
    }
}

impl std::error::Error for StreamError {}

/// Reads lines, one at a time, into one buffer.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    buffer: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Reader<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> Reader<R> {
        Reader { input, buffer: Vec::new(), number: 0 }
    }

    /// The next line, blank ones included; `None` at the end.
    ///
    /// # Errors
    /// A line that is too long, cut off or not UTF-8, and input that cannot be read.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>, StreamError> {
        self.buffer.clear();
        self.number += 1;
        let number = self.number;
        let fail = |problem| Err(StreamError::Line { number, problem });
        let limit = MAX_LINE as u64 + 1;
        let length = self.input.by_ref().take(limit).read_until(b'\n', &mut self.buffer).map_err(StreamError::Input)?;
        if length == 0 {
            return Ok(None);
        }
        if self.buffer.last() != Some(&b'\n') {
            return fail(if length as u64 == limit { Problem::TooLong } else { Problem::CutOff });
        }
        match std::str::from_utf8(&self.buffer) {
            Ok(text) => Ok(Some(Line { text, number })),
            Err(_) => fail(Problem::NotUtf8),
        }
    }
}

/// One line of a stream, with its newline.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    text: &'a str,
    number: u64,
}

impl<'a> Line<'a> {
    /// A line with its newline, as if it had been read: for a stage that hands lines to another part of itself.
    pub fn new(text: &'a str, number: u64) -> Line<'a> {
        Line { text, number }
    }

    /// The line as it came, newline included: what is passed on.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The line's number, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether there is nothing on it. A blank line is no record and no error; it is passed on.
    pub fn is_blank(&self) -> bool {
        self.text.trim_ascii().is_empty()
    }

    /// The record's type, from the line's first bytes where a filter of ours wrote it, else by parsing.
    ///
    /// # Errors
    /// As [`Line::record`], for a line that had to be parsed.
    pub fn kind(&self) -> Result<Cow<'a, str>, StreamError> {
        if let Some(rest) = self.text.strip_prefix("{\"type\":\"")
            && let Some((kind, after)) = rest.split_once('"')
            && kind.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
            && after.starts_with([',', '}'])
        {
            return Ok(Cow::Borrowed(kind));
        }
        self.record().map(|record| Cow::Owned(record.kind().unwrap_or_default()))
    }

    /// The line as a record.
    ///
    /// # Errors
    /// A line that is no JSON object, repeats a key, or has no `type`.
    pub fn record(&self) -> Result<Record, StreamError> {
        let config =
            NdjsonConfig::default().with_empty_line_handling(EmptyLineHandling::ParseAlways).with_parse_rest(true);
        let mut engine = NdjsonEngine::<Record>::with_config(config);
        engine.input(self.text);
        match engine.pop() {
            Some(Ok(record)) if record.kind().is_some() => Ok(record),
            Some(Ok(_)) => self.fail(Problem::NoType),
            Some(Err(error)) => self.fail(self.diagnose(&error)),
            None => self.fail(Problem::CutOff),
        }
    }

    /// An error at this line.
    ///
    /// # Errors
    /// Always.
    pub fn fail<T>(&self, problem: impl Into<Problem>) -> Result<T, StreamError> {
        Err(StreamError::Line { number: self.number, problem: problem.into() })
    }

    /// serde_json's messages can quote the input, so only its categories and columns are used.
    fn diagnose(&self, error: &serde_json::Error) -> Problem {
        if error.classify() == serde_json::error::Category::Data {
            if error.to_string().starts_with(record::REPEATED_KEY) {
                return Problem::RepeatedKey;
            }
            return Problem::NotAnObject;
        }
        Problem::NotJson(error.column().max(1))
    }
}

/// Writes records: whole lines, and one checked flush at the end.
///
/// A reader that is gone (`| head -1`) is no failure: what follows is thrown away, and [`Writer::is_closed`] tells a stage
/// that has nothing else to do to stop early. A full disk is one.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: BufWriter<W>,
    closed: bool,
}

impl<W: Write> Writer<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Writer<W> {
        Writer { out: BufWriter::with_capacity(1 << 16, out), closed: false }
    }

    /// Writes a line that has its newline.
    ///
    /// # Errors
    /// Output that fails otherwise than by a closed pipe.
    pub fn raw(&mut self, line: &str) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let result = self.out.write_all(line.as_bytes());
        self.check(result)
    }

    /// Writes a line and its newline.
    ///
    /// # Errors
    /// As [`Writer::raw`].
    pub fn line(&mut self, line: &str) -> io::Result<()> {
        self.raw(line)?;
        self.raw("\n")
    }

    /// Sends on what is buffered.
    ///
    /// # Errors
    /// As [`Writer::raw`].
    pub fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let result = self.out.flush();
        self.check(result)
    }

    /// Whether the reader is gone.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    fn check(&mut self, result: io::Result<()>) -> io::Result<()> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            other => other,
        }
    }
}

/// What a stream said of itself, and whether it keeps its word.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The `start` record, once seen.
    pub start: Option<Start>,
    /// The `end` record, once seen.
    pub end: Option<End>,
    changes: u64,
    differing: u64,
    errors: u64,
}

impl Tally {
    /// Nothing seen yet.
    pub fn new() -> Tally {
        Tally::default()
    }

    /// Takes in a `start`.
    ///
    /// # Errors
    /// A second one, or one of a version that this program does not know.
    pub fn start(&mut self, line: &Line<'_>) -> Result<(), StreamError> {
        let start = Start::from_record(&line.record()?).or_else(|field| line.fail(field))?;
        if self.start.is_some() {
            return line.fail(Problem::Order("a second `start`; two streams are not one"));
        }
        if start.version != record::VERSION {
            return line.fail(Problem::Order(
                "a `start` of another version of the records; use programs of one flecto release",
            ));
        }
        self.start = Some(start);
        Ok(())
    }

    /// Takes in a `file` and gives it back.
    ///
    /// # Errors
    /// One after `end`, or without what it needs.
    pub fn file(&mut self, line: &Line<'_>) -> Result<File, StreamError> {
        self.not_after_end(line)?;
        let file = File::from_record(&line.record()?).or_else(|field| line.fail(field))?;
        match file.status {
            Status::Error => self.errors += 1,
            Status::Unchanged => {}
            Status::Modified | Status::Added | Status::Removed | Status::Renamed => self.differing += 1,
        }
        Ok(file)
    }

    /// Takes in a `change`, which need not be parsed for that.
    ///
    /// # Errors
    /// One after `end`.
    pub fn change(&mut self, line: &Line<'_>) -> Result<(), StreamError> {
        self.not_after_end(line)?;
        self.changes += 1;
        Ok(())
    }

    /// Takes in an `end` and gives it back.
    ///
    /// # Errors
    /// A second one, or one without what it needs.
    pub fn end(&mut self, line: &Line<'_>) -> Result<End, StreamError> {
        self.not_after_end(line)?;
        let end = End::from_record(&line.record()?).or_else(|field| line.fail(field))?;
        self.end = Some(end.clone());
        Ok(end)
    }

    /// `change` records seen so far.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Whether nothing was lost: one `start`, one `end`, and as many records between them as `end` says.
    ///
    /// # Errors
    /// What is missing, as a sentence that names the way out.
    pub fn whole(&self) -> Result<(), Incomplete> {
        let Some(end) = &self.end else { return Err(Incomplete::NoEnd) };
        if self.start.is_none() {
            return Err(Incomplete::NoStart);
        }
        let seen = (self.changes, self.differing, self.errors);
        let told = (end.changes, end.differing, end.errors);
        if seen != told {
            return Err(Incomplete::Counts { seen: self.changes, told: end.changes });
        }
        Ok(())
    }

    /// Whether the stream is whole and everything that it was made from could be read.
    pub fn is_complete(&self) -> bool {
        self.whole().is_ok() && self.end.as_ref().is_some_and(|end| end.complete)
    }

    fn not_after_end(&self, line: &Line<'_>) -> Result<(), StreamError> {
        if self.end.is_some() {
            return line.fail(Problem::Order("a record of the diff after `end`; two streams are not one"));
        }
        Ok(())
    }
}

/// Why a stream is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// No `start` record.
    NoStart,
    /// No `end` record.
    NoEnd,
    /// Other numbers than `end` tells; those of changes are named.
    Counts {
        /// Changes seen.
        seen: u64,
        /// Changes told.
        told: u64,
    },
}

impl Incomplete {
    /// What is missing, without the way out: for a report, whose reader cannot take it.
    pub fn reason(&self) -> String {
        match self {
            Incomplete::NoStart => "the stream has no `start` record".into(),
            Incomplete::NoEnd => "the stream has no `end` record".into(),
            Incomplete::Counts { seen, told } if seen == told => "the stream lost `file` records on its way".into(),
            Incomplete::Counts { seen, told } => {
                format!("the stream has {seen} of the {told} changes that its `end` record tells of")
            }
        }
    }
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; if that is meant (after grep, say), use --partial", self.reason())
    }
}

impl std::error::Error for Incomplete {}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Result<Vec<(u64, String)>, StreamError> {
        let mut reader = Reader::new(text);
        let mut out = Vec::new();
        while let Some(line) = reader.next_line()? {
            if !line.is_blank() {
                out.push((line.number(), line.kind()?.into_owned()));
            }
        }
        Ok(out)
    }

    fn problem(text: &[u8]) -> (u64, Problem) {
        match lines(text) {
            Err(StreamError::Line { number, problem }) => (number, problem),
            other => panic!("expected a bad line, got {other:?}"),
        }
    }

    #[test]
    fn any_valid_json_is_read_and_blank_lines_are_counted() {
        let text = b"{\"type\":\"a\"}\n\n \r\n{ \"x\": 1, \"type\" : \"b\" }\r\n";
        assert_eq!(lines(text).expect("two records"), [(1, "a".to_string()), (4, "b".to_string())]);
    }

    #[test]
    fn what_is_no_record_is_named_with_its_line() {
        assert_eq!(problem(b"{\"type\":\"a\"}\n{\"type\": nope}\n"), (2, Problem::NotJson(11)));
        assert_eq!(problem(b"{\"type\":\"a\x04\"}\n"), (1, Problem::NotJson(10)), "no name of a type is that");
        assert_eq!(problem(b"[1]\n"), (1, Problem::NotAnObject));
        assert_eq!(problem(b"{\"a\":1}\n"), (1, Problem::NoType));
        assert_eq!(problem(b"{\"a\":1,\"a\":2,\"type\":\"x\"}\n"), (1, Problem::RepeatedKey));
        assert_eq!(problem(b"{\"type\":\"\xff\"}\n"), (1, Problem::NotUtf8));
        assert_eq!(problem(b"{\"type\":\"a\"}"), (1, Problem::CutOff));
        assert_eq!(problem(b"{\"x\":1} {\"type\":\"a\"}\n").0, 1);
        assert_eq!(problem(b"{\"x\":\"a\0b\",\"type\":\"a\"}\n").0, 1);
    }

    #[test]
    fn a_line_over_the_limit_is_refused_and_one_at_it_is_read() {
        let mut text = format!("{{\"type\":\"{}\"}}", "a".repeat(MAX_LINE - 11)).into_bytes();
        assert_eq!(text.len(), MAX_LINE);
        text.push(b'\n');
        assert!(lines(&text).is_ok());
        text.insert(9, b'a');
        assert_eq!(problem(&text), (1, Problem::TooLong));
    }
}
