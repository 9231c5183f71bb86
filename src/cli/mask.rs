//! The options of `flecto-mask`.

use crate::mask;
use crate::outcome::Outcome;
use crate::pattern::Pattern;
use crate::secret::Options;
use clap::Parser;

/// Hides secret values in records.
#[derive(Debug, Parser)]
#[command(name = "flecto-mask", version, about, max_term_width = 100)]
#[command(long_about = "Hides secret values in records.\n\n\
Reads records and writes them with every secret replaced: `***` for a value that its key, its container or its place names \
as one, `[REDACTED:github-token]` for a token of a published format. Values, map keys, paths, file names, notes, messages \
and records of unknown types are searched. A value that is hidden once is hidden wherever it stands in the records of the \
same file.")]
#[command(
    after_help = "Example:\n  flecto-diff config/ | flecto-mask --evidence | jq -c 'select(.masked) | {path, masked}'\n\n\
Exit status: 0, or 2 when a line is no record or a secret could not be hidden."
)]
pub struct Args {
    /// Add to each masked record which evidence decided, never the value
    #[arg(long)]
    evidence: bool,
    /// Show the values at these paths, whatever they look like (`db.user`, `**.token_count`); may be repeated
    #[arg(long, value_name = "PATH", value_parser = pattern)]
    allow: Vec<Pattern>,
    /// Hide the values at these paths, whatever they look like; may be repeated
    #[arg(long, value_name = "PATH", value_parser = pattern)]
    mask: Vec<Pattern>,
}

fn pattern(text: &str) -> Result<Pattern, String> {
    Pattern::parse(text).map_err(|error| error.to_string())
}

/// Runs the stage on standard input and output.
///
/// # Errors
/// As [`mask::run`].
pub fn main(args: Args) -> anyhow::Result<Outcome> {
    super::expect_piped_input("flecto-diff config/ | flecto-mask")?;
    let options = Options { evidence: args.evidence, allow: args.allow, mask: args.mask };
    mask::run(super::input(), std::io::stdout().lock(), options)
}
