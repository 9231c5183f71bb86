//! Why is this no YAML? The parser's error in our words: its own may quote the text.

use super::place;
use crate::document::lines::Cursor;
use crate::document::{Error, Place, template};
use crate::limits::MAX_DEPTH;
use granit_parser::{ErrorKind as Kind, ScanError};

pub(super) fn explain(text: &str, error: &ScanError) -> Error {
    let at = place(*error.marker());
    if let Kind::RecursionLimitExceeded = error.kind() {
        return Error::new(at, format!("nested deeper than {MAX_DEPTH} levels; flecto reads no deeper"));
    }
    if let Some(error) = template::explain(text, at.line) {
        return error;
    }
    if let Some(at) = tab(text, at, error.kind()) {
        return Error::new(at, "a tab in the indentation; YAML indents with spaces only");
    }
    Error::new(at, message(error.kind()))
}

/// The first tab of the indentation of the line of the error, or of the line before.
fn tab(text: &str, at: Place, kind: &Kind) -> Option<Place> {
    let said = matches!(
        kind,
        Kind::TabNotAllowed
            | Kind::TabInBlockIndentation
            | Kind::TabInIndentation
            | Kind::TabAtBlockScalarStart
            | Kind::TabInPlainScalar
    );
    let mut start = 0;
    let mut found = None;
    for (number, line) in (1_u32..).zip(text.split_inclusive('\n')) {
        if number > at.line {
            break;
        }
        let indentation = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        if number + 1 >= at.line
            && !line.trim().is_empty()
            && let Some(tab) = indentation.find('\t')
        {
            found = Some(Cursor::new(text).place(start + tab));
        }
        start += line.len();
    }
    found.or(said.then_some(at))
}

fn message(kind: &Kind) -> &'static str {
    match kind {
        Kind::UnclosedQuotedScalar => "a quote that is never closed; add the closing one",
        Kind::UnclosedFlowCollection { .. }
        | Kind::UnexpectedEofFlowSequence
        | Kind::UnexpectedEofFlowMapping
        | Kind::UnexpectedEofImplicitFlowMapping => "a bracket that is never closed; add the closing one",
        Kind::ExpectedFlowMappingSeparator | Kind::ExpectedFlowSequenceSeparator => {
            "a comma or a closing bracket is missing between brackets; add it"
        }
        Kind::MisplacedFlowCollectionEnd | Kind::MismatchedFlowCollectionEnd { .. } => {
            "a closing bracket that does not match; check the brackets before it"
        }
        Kind::UnknownAnchor => "an alias to an anchor that this document does not define before it; define it with `&`",
        Kind::MappingValueNotAllowed => {
            "a second `: ` where a value was read already; quote the value if the colon belongs to it"
        }
        Kind::ExpectedBlockMappingKey | Kind::SimpleKeyExpected | Kind::InvalidSimpleKey => {
            "a line that is no `key: value` and continues nothing; check its indentation, and quote it if it is text"
        }
        Kind::InvalidIndentation | Kind::InvalidQuotedScalarIndent | Kind::InvalidFlowScalarIndent => {
            "indentation that fits nothing above it; align it with its neighbours"
        }
        Kind::ExpectedBlockSequenceEntry | Kind::BlockSequenceEntryNotAllowed => {
            "a list item where none belongs, or a line between items that is none; check the indentation"
        }
        Kind::BlockEntryInFlowCollection => "a `- ` item between brackets; separate items with commas there",
        Kind::UnexpectedCharacter { .. } => {
            "a character that begins no YAML value (like `@`, `` ` `` or `%`); quote the value"
        }
        Kind::UnknownQuotedScalarEscape | Kind::InvalidQuotedScalarHexEscape | Kind::InvalidUnicodeEscape => {
            "an escape in double quotes that YAML does not know; double the backslash, or use single quotes"
        }
        Kind::InvalidLowSurrogateHexEscape
        | Kind::InvalidLowSurrogate
        | Kind::MissingLowSurrogate
        | Kind::UnpairedLowSurrogate => {
            "a `\\u` escape that is half of a pair; both halves are needed for one character"
        }
        Kind::InvalidTrailingSingleQuotedScalar | Kind::InvalidTrailingDoubleQuotedScalar => {
            "text after a closing quote; quote the whole value, or double the inner quotes"
        }
        Kind::CommentNotSeparated => "a `#` straight after a value; put a space before a comment, or quote the value",
        Kind::CommentInterceptedScalar => "a comment inside a text of several lines; move it, or quote the text",
        Kind::InvalidBlockScalarHeader | Kind::ZeroBlockScalarIndent => {
            "text after `|` or `>`; the text of the block begins on the next line"
        }
        Kind::InvalidBlockScalarIndent => {
            "the first lines of a block text are indented deeper than the rest; align them"
        }
        Kind::DocumentIndicatorInQuotedScalar => "a `---` or `...` line inside quotes; indent it, or close the quote",
        Kind::UndeclaredTagHandle => {
            "a tag whose `!handle!` no %TAG line declares; declare it, or write the tag in full"
        }
        Kind::BomInsideDocument => "a byte order mark in the middle; remove it (two files were probably joined)",
        Kind::DuplicateVersionDirective | Kind::DuplicateTagDirective => {
            "a directive that stands there twice; remove one"
        }
        Kind::UnsupportedYamlMajorVersion => "a %YAML version that is not 1.x; flecto reads YAML 1.1 and 1.2",
        Kind::MissingDocumentEndBeforeDirective => "a directive after a document; end that document with a `...` line",
        Kind::ExpectedDocumentStart | Kind::InvalidDocumentEnd => {
            "content after the end of a document; begin the next one with a `---` line"
        }
        Kind::MissingAnchorOrAliasName => "a `&` or `*` without a name; quote the value if it is text",
        Kind::PlainScalarStartsWithDashFlowIndicator => "a `-` straight before a bracket or comma; quote the value",
        Kind::MappingKeyNotAllowed => {
            "a key where none may begin; check the indentation, and quote the value before it"
        }
        _ => "this is not YAML here; look for a missing quote, bracket or space at this place or just before it",
    }
}
