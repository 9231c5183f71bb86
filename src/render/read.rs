//! What does a format get to see? The records of a stream, in order, grouped by file, and at the end whether that was all.

use crate::record::{Change, File, Finding, Record, Start, Verdict};
use crate::secret::{self, MaskError, Masker};
use crate::stream::{Line, Reader, StreamError, Tally};
use crate::text;
use std::fmt;
use std::io::{self, BufRead};

/// A format, as far as the stream concerns it. Each method gets what the record says and the record itself, which may have
/// fields that flecto does not know.
pub(super) trait View {
    /// The first record.
    fn start(&mut self, _start: &Start, _record: &Record) -> io::Result<()> {
        Ok(())
    }
    /// What follows is about this file, until the next call. `told` is its `file` record, which a filter may have dropped.
    fn file(&mut self, _name: &str, _told: Option<(&File, &Record)>) -> io::Result<()> {
        Ok(())
    }
    /// A change of the current file.
    fn change(&mut self, _change: &Change, _record: &Record) -> io::Result<()> {
        Ok(())
    }
    /// A finding in the current file.
    fn finding(&mut self, _finding: &Finding, _record: &Record) -> io::Result<()> {
        Ok(())
    }
    /// The gate's answer.
    fn verdict(&mut self, _verdict: &Verdict, _record: &Record) -> io::Result<()> {
        Ok(())
    }
    /// A warning that concerns the report. Those of the narration do not: they must not change a byte of it.
    fn warning(&mut self, _message: &str, _record: &Record) -> io::Result<()> {
        Ok(())
    }
    /// What a model said.
    fn narration(&mut self, _record: &Record) -> io::Result<()> {
        Ok(())
    }
    /// That was all.
    fn finish(&mut self, ending: &Ending) -> io::Result<()>;
}

/// How a stream ended.
#[derive(Debug, Default)]
pub(super) struct Ending {
    /// What was counted.
    pub(super) tally: Tally,
    /// The gate's answer, if there was one.
    pub(super) verdict: Option<Verdict>,
    /// Why reading stopped early.
    pub(super) broken: Option<Broken>,
}

impl Ending {
    /// Why this is not the whole report; `None` when it is.
    pub(super) fn incomplete(&self) -> Option<String> {
        if let Some(error) = &self.broken {
            return Some(error.to_string());
        }
        if let Err(incomplete) = self.tally.whole() {
            return Some(incomplete.reason());
        }
        let end = self.tally.end.as_ref().filter(|end| !end.complete)?;
        Some(match end.errors {
            0 => "not everything that was asked for could be read".into(),
            errors => format!("{} could not be compared", text::count(errors, "file")),
        })
    }
}

/// Reads a stream to its end, or to its first line that is no record. With `mask`, what the view gets to see has lost its
/// secrets.
///
/// # Errors
/// Those of the view: output that fails. A broken stream is no error here: the view tells it.
pub(super) fn read(input: impl BufRead, mask: Option<secret::Options>, view: &mut impl View) -> io::Result<Ending> {
    let mut walk = Walk { view, ending: Ending::default(), current: None };
    let stop = each_line(input, mask, |line| if line.is_blank() { Ok(()) } else { walk.line(line) });
    let mut ending = walk.ending;
    match stop {
        Ok(()) => {}
        Err(Stop::Broken(broken)) => ending.broken = Some(broken),
        Err(Stop::Output(error)) => return Err(error),
    }
    Ok(ending)
}

/// Gives every line of a stream to `take`, blank ones too, in order; masked, if that is asked for.
pub(super) fn each_line(
    input: impl BufRead,
    mask: Option<secret::Options>,
    mut take: impl FnMut(&Line<'_>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut reader = Reader::new(input);
    let mut masker = mask.map(Masker::new);
    while let Some(line) = reader.next_line()? {
        match &mut masker {
            None => take(&line)?,
            Some(masker) => {
                for masked in masker.push(&line)? {
                    take(&masked.line())?;
                }
            }
        }
    }
    if let Some(masker) = &mut masker {
        for masked in masker.finish()? {
            take(&masked.line())?;
        }
    }
    Ok(())
}

/// Why reading stopped early.
#[derive(Debug)]
pub(super) enum Broken {
    /// A line that is no record.
    Stream(StreamError),
    /// The mask gave up.
    Mask(MaskError),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Stream(error) => error.fmt(f),
            Broken::Mask(error) => error.fmt(f),
        }
    }
}

/// Why the lines ended before the stream did.
#[derive(Debug)]
pub(super) enum Stop {
    /// The stream cannot be read on.
    Broken(Broken),
    /// The output failed.
    Output(io::Error),
}

impl From<StreamError> for Stop {
    fn from(error: StreamError) -> Stop {
        Stop::Broken(Broken::Stream(error))
    }
}

impl From<MaskError> for Stop {
    fn from(error: MaskError) -> Stop {
        Stop::Broken(Broken::Mask(error))
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Output(error)
    }
}

struct Walk<'v, V> {
    view: &'v mut V,
    ending: Ending,
    current: Option<String>,
}

impl<V: View> Walk<'_, V> {
    fn line(&mut self, line: &Line<'_>) -> Result<(), Stop> {
        match &*line.kind()? {
            "start" => {
                self.ending.tally.start(line)?;
                if let Some(start) = &self.ending.tally.start {
                    self.view.start(start, &line.record()?)?;
                }
            }
            "file" => {
                let file = self.ending.tally.file(line)?;
                self.current = Some(file.file.clone());
                self.view.file(&file.file, Some((&file, &line.record()?)))?;
            }
            "change" => {
                self.ending.tally.change(line)?;
                let record = line.record()?;
                let change = Change::from_record(&record).or_else(|field| line.fail(field))?;
                self.enter(&change.file)?;
                self.view.change(&change, &record)?;
            }
            "finding" => {
                let record = line.record()?;
                let finding = Finding::from_record(&record).or_else(|field| line.fail(field))?;
                self.enter(&finding.file)?;
                self.view.finding(&finding, &record)?;
            }
            "verdict" => {
                let record = line.record()?;
                let verdict = Verdict::from_record(&record).or_else(|field| line.fail(field))?;
                self.view.verdict(&verdict, &record)?;
                self.ending.verdict = Some(verdict);
            }
            "end" => {
                self.ending.tally.end(line)?;
            }
            "warning" => {
                let record = line.record()?;
                if concerns_report(&record) {
                    self.view.warning(&record.str("message").unwrap_or_default(), &record)?;
                }
            }
            "narration" => self.view.narration(&line.record()?)?,
            _ => {
                line.record()?;
            }
        }
        Ok(())
    }

    fn enter(&mut self, file: &str) -> io::Result<()> {
        if self.current.as_deref() != Some(file) {
            self.current = Some(file.to_string());
            self.view.file(file, None)?;
        }
        Ok(())
    }
}

/// Whether a warning is one of the report. What the narration's stages warn of depends on a model, a network and a price;
/// they say it on stderr themselves, and the report is the same bytes with and without them.
pub(super) fn concerns_report(warning: &Record) -> bool {
    let stage = warning.str("stage").unwrap_or_default();
    !matches!(stage.strip_prefix("flecto-").unwrap_or(&stage), "narrate" | "payload")
}

/// The words after "changes": ` from origin/main`, ` from v1 to v2`, or nothing when the stream does not say.
pub fn baseline_label(start: Option<&Start>, file: &str) -> String {
    let Some(start) = start else { return String::new() };
    let to = match &start.to {
        Some(to) if to != file => format!(" to {}", text::escape(to)),
        _ => String::new(),
    };
    format!(" from {}{to}", text::escape(&start.baseline))
}
