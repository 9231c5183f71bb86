//! Which files does a target mean? A file, a folder or a glob, from wherever the program runs.
//!
//! A target is brought to a name from the top level, as bytes with `/`. What is on disk under that name, or in the
//! commit, decides whether it is a file or a folder; a glob is one only where nothing has that very name.

use super::Options;
use crate::git;
use crate::text;
use globset::{GlobBuilder, GlobMatcher};
use std::ffi::OsStr;
use std::path::Path;

/// A target.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// As it was written.
    pub(super) shown: String,
    /// From the top level, without `.` and `..`; empty for the top level itself.
    pub(super) name: Vec<u8>,
    /// Set where it has the characters of a glob.
    pub(super) glob: Option<GlobMatcher>,
    /// It ends in `/`, or is `.`: a folder is meant.
    pub(super) folder: bool,
    /// Whether some file is meant by it, and whether some of a format that is not known was passed over.
    pub(super) matched: bool,
    pub(super) passed_over: bool,
}

/// How a target means a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// By its very name.
    Literal,
    /// As one of several.
    Member,
}

impl Target {
    /// Reads a target.
    ///
    /// # Errors
    /// One outside the repository; a bad glob.
    pub(super) fn parse(target: &OsStr, top: &Path, prefix: &Path) -> anyhow::Result<Target> {
        let shown = text::escape(&target.to_string_lossy()).into_owned();
        anyhow::ensure!(!target.is_empty(), "an empty target; name a file, a folder or a glob (an empty variable?)");
        let bytes = git::git_path(target);
        let name = if Path::new(target).is_absolute() {
            absolute(Path::new(target), top)
        } else {
            let mut parts: Vec<&[u8]> = Vec::new();
            let prefix = git::git_path(prefix.as_os_str());
            let whole = [&prefix[..], b"/", &bytes[..]].concat();
            let mut inside = true;
            let whole: &[u8] = &whole;
            for part in whole.split(|&b| b == b'/') {
                match part {
                    b"" | b"." => {}
                    b".." => inside = parts.pop().is_some() && inside,
                    part => parts.push(part),
                }
            }
            inside.then(|| parts.join(&b'/'))
        };
        let Some(name) = name else {
            anyhow::bail!(
                "{shown}: lies outside the repository; run in its own repository (-C DIR), or compare with --no-index"
            )
        };
        let glob = match std::str::from_utf8(&name) {
            Ok(name) if is_glob(name) => Some(glob(name).map_err(|problem| anyhow::anyhow!("{shown}: {problem}"))?),
            _ => None,
        };
        let folder =
            bytes.ends_with(b"/") || matches!(&bytes[..], b"." | b"..") || bytes.ends_with(b"/.") || name.is_empty();
        Ok(Target { shown, name, glob, folder, matched: false, passed_over: false })
    }

    /// The folder, or file, that holds everything that the target can mean.
    pub(super) fn base(&self) -> Vec<u8> {
        if self.glob.is_none() {
            return self.name.clone();
        }
        let parts = self.name.split(|&b| b == b'/');
        let plain: Vec<&[u8]> =
            parts.take_while(|part| !part.iter().any(|b| matches!(b, b'*' | b'?' | b'[' | b'{' | b'\\'))).collect();
        plain.join(&b'/')
    }

    /// Whether, and how, the target means the file of this name.
    pub(super) fn matches(&self, name: &[u8]) -> Option<Match> {
        if name == self.name && !self.folder {
            return Some(Match::Literal);
        }
        if self.name.is_empty() || name.strip_prefix(&self.name[..]).is_some_and(|rest| rest.starts_with(b"/")) {
            return Some(Match::Member);
        }
        let glob = self.glob.as_ref()?;
        glob.is_match(git::os_path(name)).then_some(Match::Member)
    }
}

/// A path of this machine as a name from the top level. The folder that it is in is resolved, the last part is not: it
/// may be a link that is itself what is compared.
fn absolute(target: &Path, top: &Path) -> Option<Vec<u8>> {
    if let Ok(rest) = target.strip_prefix(top) {
        return Some(git::git_path(rest.as_os_str()));
    }
    if target.canonicalize().is_ok_and(|target| target == top) {
        return Some(Vec::new());
    }
    let parent = target.parent()?.canonicalize().ok()?;
    let name = parent.strip_prefix(top).ok()?.join(target.file_name()?);
    Some(git::git_path(name.as_os_str()))
}

/// Whether the text has characters that a glob gives a meaning.
pub(super) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// A glob over whole names: `*` stops at `/`, `**` does not, `{a,b}` and `{a,}` are either.
///
/// # Errors
/// A text that is no glob, and why.
pub fn glob(text: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(text).literal_separator(true).empty_alternates(true).backslash_escape(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| {
        let what = match error.kind() {
            globset::ErrorKind::UnclosedClass => "a `[` is not closed",
            globset::ErrorKind::UnclosedAlternates => "a `{` is not closed",
            globset::ErrorKind::UnopenedAlternates => "a `}` without its `{`",
            globset::ErrorKind::InvalidRange(..) => "a range that runs backwards",
            globset::ErrorKind::DanglingEscape => "a `\\` at the end",
            _ => "it cannot be compiled",
        };
        format!("no glob: {what}")
    })
}

/// The line about targets that mean nothing.
pub(super) fn unmatched(targets: &[Target], options: &Options, sides: &str) -> Option<String> {
    let missing: Vec<&Target> = targets.iter().filter(|target| !target.matched).collect();
    let first = missing.first()?;
    let names: Vec<&str> = missing.iter().map(|target| target.shown.as_str()).collect();
    let names = names.join(", ");
    let many = if missing.len() > 1 { "match" } else { "matches" };
    if first.passed_over && options.input_format.is_none() {
        return Some(format!(
            "{names}: {many} only files whose names tell no known format; say --input-format FORMAT or --format-map 'GLOB=FORMAT'"
        ));
    }
    Some(format!("{names}: {many} no file {sides}; check the name (globs need quotes), or pass --allow-empty"))
}
