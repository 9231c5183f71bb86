//! What may be shown? Reads records and writes them without their secrets.
//!
//! The work is [`crate::secret`]'s, because the payload and the published formats need it too; here is the stage around it: lines in,
//! lines out, and what the operator says about paths. A slice of a stream is as good as a whole one: nothing is counted.

use crate::outcome::Outcome;
use crate::secret::{Masker, Options};
use crate::stream::{Reader, Writer};
use std::io::{BufRead, Write};

/// Reads a stream and writes it masked, in order. Lines that nothing was hidden in are passed on byte for byte.
///
/// # Errors
/// A line that is no record, a secret that could not be hidden, and output that fails. What came before is written.
pub fn run(input: impl BufRead, output: impl Write, options: Options) -> anyhow::Result<Outcome> {
    let (mut reader, mut writer) = (Reader::new(input), Writer::new(output));
    let mut masker = Masker::new(options);
    let result = pump(&mut reader, &mut writer, &mut masker);
    // What is masked already is written also when the stream breaks off later.
    writer.flush()?;
    result
}

fn pump<R: BufRead, W: Write>(
    reader: &mut Reader<R>,
    writer: &mut Writer<W>,
    masker: &mut Masker,
) -> anyhow::Result<Outcome> {
    loop {
        let line = match reader.next_line() {
            Ok(line) => line,
            Err(error) => return broken(error.into(), writer, masker),
        };
        let Some(line) = line else { break };
        match masker.push(&line) {
            Ok(ready) => {
                for line in ready {
                    writer.raw(&line.text)?;
                }
            }
            Err(crate::secret::MaskError::Stream(error)) => return broken(error.into(), writer, masker),
            Err(error) => return Err(error.into()),
        }
        if writer.is_closed() {
            return Ok(Outcome::Clean);
        }
    }
    for line in masker.finish()? {
        writer.raw(&line.text)?;
    }
    Ok(Outcome::Clean)
}

/// A broken line ends the stream; the records before it were whole, and are shown.
fn broken<W: Write>(error: anyhow::Error, writer: &mut Writer<W>, masker: &mut Masker) -> anyhow::Result<Outcome> {
    for line in masker.finish()? {
        writer.raw(&line.text)?;
    }
    Err(error)
}
