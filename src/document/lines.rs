//! Where is this byte? Text that is known to be text, and byte offsets as lines and columns.

use super::{Error, Place, Span};

const UTF16: &str = "this is UTF-16 text; convert it to UTF-8 first (for example with `iconv -f UTF-16 -t UTF-8`), git and most tools need that too";

/// The text without its byte order mark.
///
/// # Errors
/// Text that is not UTF-8 or holds a NUL, with the place of it.
pub(super) fn decode(bytes: &[u8]) -> Result<&str, Error> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Error::new(Place { line: 1, column: 1 }, UTF16));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let nul = position(bytes, |b| b == 0);
    // Two characters are enough to tell: text without a mark that has a NUL beside its first byte is UTF-16.
    if nul.is_some_and(|at| at <= 1)
        && bytes.len() >= 4
        && (bytes[0] == 0) != (bytes[1] == 0)
        && (bytes[2] == 0) == (bytes[0] == 0)
    {
        return Err(Error::new(Place { line: 1, column: 1 }, UTF16));
    }
    match std::str::from_utf8(bytes) {
        Err(error) => {
            let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
            let byte = bytes.get(valid.len()).copied().unwrap_or_default();
            Err(Error::new(
                Cursor::new(valid).place(valid.len()),
                format!("byte 0x{byte:02x} is not UTF-8 text; save the file as UTF-8"),
            ))
        }
        Ok(text) => match nul {
            Some(at) => {
                Err(Error::new(Cursor::new(text).place(at), "a NUL character; this is no text file, or a damaged one"))
            }
            None => Ok(text),
        },
    }
}

/// The first control character that no text format allows as it is: C0 without tab and line breaks.
pub(super) fn first_control(text: &str) -> Option<usize> {
    position(text.as_bytes(), |b| b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r'))
}

/// The first byte that is `wanted`. Whole blocks are asked at once, without a branch, which compilers turn into vector
/// instructions: nearly every text has none.
fn position(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> Option<usize> {
    const BLOCK: usize = 64;
    let found = bytes.chunks(BLOCK).position(|block| block.iter().fold(false, |found, &b| found | wanted(b)))?;
    let start = found * BLOCK;
    bytes[start..].iter().position(|&b| wanted(b)).map(|at| start + at)
}

/// Turns byte offsets into places. Offsets that grow cost one pass over the text in all; for one that goes back the text is
/// indexed once, so that any order is cheap.
///
/// A line ends with `\n`, `\r\n` or a lone `\r`.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    now: Position,
    /// The position of every [`STEP`]th byte, once it was needed.
    index: Vec<Position>,
}

#[derive(Clone, Copy, Debug)]
struct Position {
    at: usize,
    /// From 1.
    line: u32,
    /// From 0.
    column: u32,
}

const TOP: Position = Position { at: 0, line: 1, column: 0 };

const STEP: usize = 512;

impl Position {
    fn advance(&mut self, bytes: &[u8], to: usize) {
        let characters =
            |text: &[u8]| u32::try_from(text.iter().filter(|byte| **byte & 0xc0 != 0x80).count()).unwrap_or(u32::MAX);
        while let Some(length) = memchr::memchr2(b'\n', b'\r', &bytes[self.at..to]) {
            let end = self.at + length;
            if bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n') {
                self.column = self.column.saturating_add(characters(&bytes[self.at..end]));
            } else {
                self.line = self.line.saturating_add(1);
                self.column = 0;
            }
            self.at = end + 1;
        }
        self.column = self.column.saturating_add(characters(&bytes[self.at..to]));
        self.at = to;
    }
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, now: TOP, index: Vec::new() }
    }

    /// The place of the character that begins at or holds the byte `offset`.
    pub(super) fn place(&mut self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let bytes = self.text.as_bytes();
        if offset < self.now.at && self.index.is_empty() {
            let mut position = TOP;
            for step in 0..=bytes.len() / STEP {
                position.advance(bytes, step * STEP);
                self.index.push(position);
            }
        }
        // Once there is an index, a jump forward takes it as well.
        if offset < self.now.at || (offset - self.now.at > STEP && !self.index.is_empty()) {
            self.now = self.index.get(offset / STEP).copied().unwrap_or(TOP);
        }
        self.now.advance(bytes, offset);
        Place { line: self.now.line, column: self.now.column + 1 }
    }

    /// The span of `start..end`, a range that is not empty.
    pub(super) fn span(&mut self, start: usize, end: usize) -> Span {
        let start = self.place(start);
        Span { start, end_line: self.place(end.saturating_sub(1)).line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_every_line_end() {
        let text = "aé\r\nb\rc🙂d\n";
        let mut cursor = Cursor::new(text);
        let at = |cursor: &mut Cursor<'_>, needle: &str| {
            let place = cursor.place(text.find(needle).expect("there"));
            (place.line, place.column)
        };
        assert_eq!(at(&mut cursor, "é"), (1, 2));
        assert_eq!(at(&mut cursor, "b"), (2, 1));
        assert_eq!(at(&mut cursor, "d"), (3, 3));
        assert_eq!(at(&mut cursor, "a"), (1, 1), "backwards too");
        assert_eq!(cursor.place(usize::MAX), Place { line: 4, column: 1 });
    }

    #[test]
    fn any_order_gives_the_same_places() {
        let text = "é, b\r\n🙂".repeat(1000);
        let offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).step_by(7).collect();
        let mut forward = Cursor::new(&text);
        let places: Vec<Place> = offsets.iter().map(|at| forward.place(*at)).collect();
        let mut backward = Cursor::new(&text);
        let mut back: Vec<Place> = offsets.iter().rev().map(|at| backward.place(*at)).collect();
        back.reverse();
        assert_eq!(places, back);
    }

    #[test]
    fn what_is_no_text_is_named_with_its_place() {
        let message = |bytes: &[u8]| decode(bytes).expect_err("no text").to_string();
        assert!(message(b"\xff\xfea\0").contains("UTF-16"));
        assert!(message(b"a\0b\0").contains("UTF-16"));
        assert!(message(b"\0a\0b").contains("UTF-16"));
        assert!(message(b"ab\nc\0").starts_with("2:2: a NUL"));
        assert!(message(b"ab\nc\xe9d").starts_with("2:2: byte 0xe9"));
        assert_eq!(decode(b"\xef\xbb\xbfa"), Ok("a"));
    }
}
