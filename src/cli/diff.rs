//! The options of `flecto-diff`.

use super::say;
use crate::diff::{self, Handed, NEAT, Options, Settings, Sides, To};
use crate::document::Format;
use crate::limits::MAX_FILE_SIZE;
use crate::outcome::Outcome;
use crate::pattern::Pattern;
use clap::Parser;
use globset::GlobMatcher;
use std::ffi::OsString;
use std::path::PathBuf;

/// Compares configuration files by what they mean, and writes each difference as a record, one JSON object a line.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "flecto-diff",
    version,
    args_override_self = true,
    after_help = "Examples:\n  flecto-diff config/prod.yaml --snapshot-ref origin/main | flecto-policy | flecto-render\n  flecto-diff 'config/**/*.{yaml,yml,json}'\n  flecto-diff --no-index old.yaml new.yaml\n\nWhat it writes is described in flecto-records(5). Exit status: 0, 1 with --exit-code when something differs, 2 when\nsomething could not be compared.\n\nFLECTO_DIFF_OPTIONS in the environment holds options that come before those of the command line, separated by blanks,\neach a word of its own (--input-format=yaml): for git and kubectl, which pass none of their own (docs/external-diff.md)."
)]
pub struct Args {
    /// Files, folders and quoted globs (`**`, `{a,b}`); with --no-index the old and the new file or folder, `-` for stdin
    #[arg(value_name = "TARGET")]
    targets: Vec<OsString>,

    /// The commit to compare with: a branch, a tag, an id
    #[arg(long, value_name = "REV")]
    snapshot_ref: Option<String>,

    /// Compare this commit, not the working tree
    #[arg(long, value_name = "REV", conflicts_with = "staged")]
    to_ref: Option<String>,

    /// Compare what is staged for the next commit, not the working tree
    #[arg(long)]
    staged: bool,

    /// Compare with the common ancestor of both sides
    #[arg(long)]
    merge_base: bool,

    /// Compare two files or two folders with each other, without git
    #[arg(long, conflicts_with_all = ["snapshot_ref", "to_ref", "staged", "merge_base"])]
    no_index: bool,

    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR")]
    directory: Option<PathBuf>,

    /// What one side of one file may weigh: bytes, or a number with K, M or G
    #[arg(long, value_name = "SIZE", default_value_t = Size(MAX_FILE_SIZE), value_parser = size)]
    max_file_size: Size,

    /// Targets that match no file are no error
    #[arg(long)]
    allow_empty: bool,

    /// Exit with 1 when something differs
    #[arg(long)]
    exit_code: bool,

    /// Read every file as this format
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    input_format: Option<Format>,

    /// Read files of these names as this format: '*.conf=ini'
    #[arg(long, value_name = "GLOB=FORMAT", value_parser = format_map)]
    format_map: Vec<(GlobMatcher, Format)>,

    /// Of the files that the targets match, only those that this glob matches, from the top of the repository
    #[arg(long, value_name = "GLOB", value_parser = diff::glob, conflicts_with = "no_index")]
    include: Vec<GlobMatcher>,

    /// And none that this glob matches; a file that is named itself counts all the same
    #[arg(long, value_name = "GLOB", value_parser = diff::glob, conflicts_with = "no_index")]
    exclude: Vec<GlobMatcher>,

    /// The fields that identify the items of a list: 'rules=from,to'
    #[arg(long, value_name = "PATH=KEY", value_parser = list_key)]
    list_key: Vec<(Pattern, Fields)>,

    /// Leave out changes at and below these paths: 'metadata.labels', '**.checksum'
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    ignore: Vec<Pattern>,

    /// Compare lists as sets: all of them, or those at these paths
    #[arg(long, value_name = "PATTERN", num_args = 0..=1, require_equals = true, default_missing_value = "**", value_parser = pattern, value_delimiter = ',')]
    ignore_order: Vec<Pattern>,

    /// Compare documents in strings as text
    #[arg(long)]
    raw_strings: bool,

    /// Leave out what a cluster writes into objects by itself (managedFields, status, …)
    #[arg(long)]
    neat: bool,

    /// Of two equal keys in one map take the last, with a warning
    #[arg(long)]
    allow_duplicate_keys: bool,
}

/// A number of bytes.
#[derive(Clone, Copy, Debug)]
struct Size(u64);

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            bytes if bytes % (1 << 20) == 0 => write!(f, "{}M", bytes >> 20),
            bytes => write!(f, "{bytes}"),
        }
    }
}

/// The fields of a list key. A type of its own, because clap would take a `Vec` for an option given several times.
#[derive(Clone, Debug)]
struct Fields(Vec<String>);

impl Args {
    /// What was asked for.
    ///
    /// # Errors
    /// A start directory that is none.
    pub fn options(self) -> anyhow::Result<Options> {
        let here = std::env::current_dir().unwrap_or_default();
        let directory = here.join(self.directory.unwrap_or_default());
        anyhow::ensure!(
            directory.is_dir(),
            "{}: no folder to run in; check -C",
            crate::text::escape(&directory.to_string_lossy())
        );
        let guess = self.snapshot_ref.is_none() && self.to_ref.is_none() && !self.staged && !self.merge_base;
        let handed = Handed::read(&self.targets).filter(|_| guess && !self.no_index);
        let sides = if self.no_index {
            Sides::Disk
        } else if let Some(handed) = handed {
            Sides::Handed(Box::new(handed))
        } else {
            let to = match self.to_ref {
                Some(revision) => To::Revision(revision),
                None if self.staged => To::Index,
                None => To::WorkTree,
            };
            Sides::Git { from: self.snapshot_ref, to, merge_base: self.merge_base }
        };
        let neat =
            if self.neat { NEAT.iter().filter_map(|text| Pattern::parse(text).ok()).collect() } else { Vec::new() };
        Ok(Options {
            directory,
            sides,
            targets: self.targets,
            guess,
            max_file_size: self.max_file_size.0,
            allow_empty: self.allow_empty,
            exit_code: self.exit_code,
            input_format: self.input_format,
            format_map: self.format_map,
            include: self.include,
            exclude: self.exclude,
            ignore: self.ignore,
            neat,
            allow_duplicate_keys: self.allow_duplicate_keys,
            settings: Settings {
                ignore_order: self.ignore_order,
                list_keys: self.list_key.into_iter().map(|(pattern, fields)| (pattern, fields.0)).collect(),
                raw_strings: self.raw_strings,
            },
        })
    }
}

/// Runs the program.
///
/// # Errors
/// As [`diff::run`].
pub fn run(args: Args) -> anyhow::Result<Outcome> {
    let options = args.options()?;
    diff::run(&options, std::io::stdout().lock(), &mut |line| say("flecto-diff", line))
}

fn size(text: &str) -> Result<Size, String> {
    let (digits, shift) = match text.trim_end_matches(['B', 'b', 'i']).char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 10),
        Some((at, 'm' | 'M')) => (&text[..at], 20),
        Some((at, 'g' | 'G')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    number.map(Size).ok_or_else(|| "no size; write bytes, or a number with K, M or G".to_string())
}

fn format(word: &str) -> Result<Format, String> {
    let known = || Format::words().collect::<Vec<_>>().join(", ");
    Format::from_word(word).ok_or_else(|| format!("no known format; one of {}", known()))
}

fn format_map(text: &str) -> Result<(GlobMatcher, Format), String> {
    let (glob, word) = text.rsplit_once('=').ok_or("no GLOB=FORMAT, as in '*.conf=yaml'")?;
    Ok((diff::glob(glob)?, format(word)?))
}

fn list_key(text: &str) -> Result<(Pattern, Fields), String> {
    let (path, fields) = text.rsplit_once('=').ok_or("no PATH=KEY, as in 'rules=from,to'")?;
    let fields: Vec<String> = fields.split(',').map(str::to_string).collect();
    if fields.iter().any(String::is_empty) {
        return Err("a key without a name".to_string());
    }
    Ok((pattern(path)?, Fields(fields)))
}

fn pattern(text: &str) -> Result<Pattern, String> {
    Pattern::parse(text).map_err(|error| error.to_string())
}
