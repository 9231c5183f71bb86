//! What changed? Two sides of files, from git or from disk, as a stream of records.
//!
//! [`run`] plans which files there are on either side and which of them differ ([`plan`]), then reads, parses and
//! compares those, on all cores, and writes their records in the order of their names. Equal bytes are never parsed, and
//! at most a bounded number of finished files wait for their turn.

mod accepts;
mod align;
mod compare;
mod disk;
mod documents;
mod file;
mod folders;
mod identity;
mod ignore;
mod kind;
mod line_hash;
mod lines;
mod lists;
mod moves;
mod notes;
mod plan;
mod renames;
mod run;
mod same;
mod sealed;
mod strings;
mod targets;

pub use compare::Settings;
pub use lines::NOT_JUDGED;
pub use run::{names, run};
pub use targets::glob;

use crate::document::{self, Format};
use crate::pattern::Pattern;
use globset::GlobMatcher;
use std::ffi::OsString;
use std::path::PathBuf;

/// What is compared with what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sides {
    /// A commit with the work tree, the index or another commit.
    Git {
        /// The revision of the old side; `HEAD` without one.
        from: Option<String>,
        /// What the new side is.
        to: To,
        /// Whether the old side is the common ancestor of both.
        merge_base: bool,
    },
    /// Two files or two folders on disk, whatever git says.
    Disk,
    /// The two sides of one file that git hands to its external diff program.
    Handed(Box<Handed>),
}

/// What git calls an external diff program with: `path old-file old-hex old-mode new-file new-hex new-mode`, and for a
/// renamed file the new path and a text about it (git's documentation of `GIT_EXTERNAL_DIFF`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handed {
    /// The file's name.
    pub name: OsString,
    /// Its old name, where it is another.
    pub from: Option<OsString>,
    /// The old side.
    pub old: HandedSide,
    /// The new side.
    pub new: HandedSide,
}

/// A side of [`Handed`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandedSide {
    /// Where its content is; `/dev/null` for none.
    pub file: OsString,
    /// The id of its object, zeros where git has none.
    pub id: String,
    /// Its mode, `100644`, `120000`, …; `.` for a side that is not there.
    pub mode: String,
}

impl Handed {
    /// Reads the arguments, if that is what they are.
    pub fn read(arguments: &[OsString]) -> Option<Handed> {
        let (name, from) = match arguments.len() {
            7 => (&arguments[0], None),
            9 => (&arguments[7], Some(arguments[0].clone())),
            _ => return None,
        };
        let side = |at: usize| {
            let (id, mode) = (arguments[at + 1].to_str()?, arguments[at + 2].to_str()?);
            let is_id = id == "." || id.len() >= 4 && id.bytes().all(|b| b.is_ascii_hexdigit());
            let is_mode = mode == "." || mode.len() == 6 && mode.bytes().all(|b| matches!(b, b'0'..=b'7'));
            let side = HandedSide { file: arguments[at].clone(), id: id.to_string(), mode: mode.to_string() };
            (is_id && is_mode).then_some(side)
        };
        Some(Handed { name: name.clone(), from, old: side(1)?, new: side(4)? })
    }
}

/// The new side of a comparison with a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum To {
    /// What is on disk.
    WorkTree,
    /// What would be committed.
    Index,
    /// Another revision.
    Revision(String),
}

/// What `flecto-diff` was asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it runs.
    pub directory: PathBuf,
    /// What is compared.
    pub sides: Sides,
    /// Files, folders and globs; with [`Sides::Disk`] the old and the new one.
    pub targets: Vec<OsString>,
    /// No side was named: two operands may be meant to be compared with each other.
    pub guess: bool,
    /// What one side of one file may weigh, in bytes.
    pub max_file_size: u64,
    /// Nothing to compare is no error.
    pub allow_empty: bool,
    /// A difference makes the exit status 1.
    pub exit_code: bool,
    /// The format of every file.
    pub input_format: Option<Format>,
    /// Formats by name, before what the name's ending says.
    pub format_map: Vec<(GlobMatcher, Format)>,
    /// Of the files that the targets match, only those that one of these matches; all when there are none.
    pub include: Vec<GlobMatcher>,
    /// And none that one of these matches. A file that a target names by its very name counts all the same.
    pub exclude: Vec<GlobMatcher>,
    /// Paths that are left out.
    pub ignore: Vec<Pattern>,
    /// Paths that a cluster writes by itself, and that are left out.
    pub neat: Vec<Pattern>,
    /// Of two equal keys in a map the last one counts.
    pub allow_duplicate_keys: bool,
    /// How trees are compared.
    pub settings: Settings,
}

impl Options {
    /// The format of a file by its name, as far as the options or the name tell.
    pub(crate) fn format_of(&self, name: &str) -> Option<Format> {
        if self.input_format.is_some() {
            return self.input_format;
        }
        let file = name.rsplit('/').next().unwrap_or(name);
        let mapped = self.format_map.iter().find(|(glob, _)| glob.is_match(name) || glob.is_match(file));
        mapped.map(|(_, format)| *format).or_else(|| Format::from_name(name))
    }
}

/// What a file is for, by its name and its content: `kubernetes`, `compose`, …; nothing where it cannot be read.
pub fn kinds(name: &str, bytes: &[u8]) -> Vec<&'static str> {
    let Some(format) = Format::from_name(name) else { return Vec::new() };
    let parsed = document::parse(format, bytes, &document::Options::default());
    parsed.map_or_else(|_| Vec::new(), |parsed| kind::of(name, &parsed.documents.iter().collect::<Vec<_>>()))
}

/// What a cluster writes into objects by itself: see `--neat`.
pub const NEAT: [&str; 10] = [
    "metadata.managedFields",
    "metadata.resourceVersion",
    "metadata.uid",
    "metadata.selfLink",
    "metadata.generation",
    "metadata.creationTimestamp",
    "metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']",
    "metadata.annotations['deployment.kubernetes.io/revision']",
    "spec.template.metadata.creationTimestamp",
    "status",
];
