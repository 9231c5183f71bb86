//! The options of `flecto-payload`.

use crate::outcome::Outcome;
use crate::payload;
use clap::Parser;

/// Writes the prompt that a model gets: the masked semantic diff and what to make of it.
#[derive(Debug, Parser)]
#[command(name = "flecto-payload", version, about, max_term_width = 100)]
#[command(long_about = "Writes the prompt that a model gets: the masked semantic diff and what to make of it.\n\n\
Reads records, masks them (again: nothing here trusts that flecto-mask ran), passes them on, and adds one `payload` \
record at the end. Only the known fields of the known records get into it: file names, changed paths, operations, values, \
notes, and findings. The same diff gives the same bytes.")]
#[command(
    after_help = "Example:\n  flecto-diff config/ | flecto-policy | flecto-payload | jq -r 'select(.type==\"payload\").user'\n\n\
Exit status: 0, or 2 when the input is no whole stream of records."
)]
pub struct Args {
    /// Take a stream that is not whole (after grep, say)
    #[arg(long)]
    partial: bool,
    /// Write one prompt for all files (all), or one each (file)
    #[arg(long, value_name = "WHAT", default_value = "all")]
    by: By,
}

/// What one prompt is about.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum By {
    /// One prompt for the whole diff.
    All,
    /// One prompt a file, for diffs that are too long for one request.
    File,
}

/// Runs the stage on standard input and output.
///
/// # Errors
/// As [`payload::run`].
pub fn main(args: Args) -> anyhow::Result<Outcome> {
    super::expect_piped_input("flecto-diff config/ | flecto-mask | flecto-payload")?;
    let options = payload::Options { partial: args.partial, by_file: matches!(args.by, By::File) };
    let say = |message: &str| super::say("flecto-payload", message);
    payload::run(super::input(), std::io::stdout().lock(), options, say)
}
