//! Is this file in the middle of a merge? The marks that git leaves where it could not merge break every format, and the
//! parse error that they cause points at the wrong thing.

use super::{Error, Place};

/// The error for a text that could not be read, if it holds an unresolved conflict; at the first one.
pub(super) fn explain(text: &str) -> Option<Error> {
    let mut lines = (1_u32..).zip(text.lines());
    let (line, _) = lines.find(|(_, content)| content.starts_with("<<<<<<< "))?;
    lines.find(|(_, content)| *content == "=======")?;
    lines.find(|(_, content)| content.starts_with(">>>>>>> "))?;
    Some(Error::new(
        Place { line, column: 1 },
        "an unresolved merge conflict (`<<<<<<<`); resolve it, and compare what comes of it",
    ))
}
