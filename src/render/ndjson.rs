//! What does the next filter read? The records of the report, as they came, made inert for a CI log; without the prompt and
//! without what a model said, so that the bytes are the same whether one was asked.

use super::read::{Ending, Stop, concerns_report, each_line};
use crate::json;
use crate::record::{Record, Verdict, warning_line};
use crate::secret;
use crate::stream::{Line, StreamError, Writer};
use std::io::{self, BufRead, Write};

/// Copies a stream. A stream that lost records gets `complete: false` into its `end`, and a `warning` that says so.
pub(super) fn pass<W: Write>(
    input: impl BufRead,
    mask: Option<secret::Options>,
    out: &mut Writer<W>,
) -> io::Result<Ending> {
    let mut ending = Ending::default();
    let stop = each_line(input, mask, |line| {
        if let Some(text) = take(line, &mut ending)? {
            out.raw(&text)?;
        }
        Ok(())
    });
    match stop {
        Ok(()) => {}
        Err(Stop::Broken(broken)) => ending.broken = Some(broken),
        Err(Stop::Output(error)) => return Err(error),
    }
    // A stream whose files could not all be read says so in its own `end`; only a loss on the way is news.
    let lost = match &ending.broken {
        Some(error) => Some(error.to_string()),
        None => ending.tally.whole().err().map(|lost| lost.reason()),
    };
    if let Some(reason) = lost {
        out.line(&warning_line("render", &format!("incomplete: {reason}")))?;
    }
    Ok(ending)
}

/// The line to write, if the record belongs to the report.
fn take(line: &Line<'_>, ending: &mut Ending) -> Result<Option<String>, StreamError> {
    if line.is_blank() {
        return Ok(Some("\n".into()));
    }
    let tally = &mut ending.tally;
    match &*line.kind()? {
        "start" => tally.start(line)?,
        "file" => {
            tally.file(line)?;
        }
        "change" => tally.change(line)?,
        "verdict" => {
            let verdict = Verdict::from_record(&line.record()?).or_else(|field| line.fail(field))?;
            ending.verdict = Some(verdict);
        }
        "end" => {
            tally.end(line)?;
            if tally.whole().is_err() {
                let mut record = line.record()?;
                record.set("complete", "false".into());
                return Ok(Some(inert(&record)));
            }
        }
        "payload" | "narration" => return Ok(None),
        "warning" if !concerns_report(&line.record()?) => return Ok(None),
        _ => {}
    }
    Ok(Some(json::harden(line.text()).into_owned()))
}

fn inert(record: &Record) -> String {
    format!("{}\n", json::harden(&record.to_line()))
}
