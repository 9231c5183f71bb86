//! What can be said to `flecto ci`, `flecto explain` and `flecto demo`? The options, grouped as they are shared.

use crate::cli::render::Color;
use crate::render::{Format, MIN_WIDTH, Style};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

const EXIT_STATUS: &str = "Exit status: 0, or 2 when the run could not be completed.";

/// What is compared with what.
#[derive(Args, Debug)]
pub(super) struct Compared {
    /// Files, folders, or quoted globs (`'config/**/*.{yaml,yml}'`) [default: the settings' files]
    #[arg(value_name = "TARGET")]
    pub(super) targets: Vec<OsString>,
    /// The commit to compare with [default: HEAD]
    #[arg(long, value_name = "REV")]
    pub(super) snapshot_ref: Option<String>,
    /// Compare this commit instead of the working tree
    #[arg(long, value_name = "REV", conflicts_with = "staged")]
    pub(super) to_ref: Option<String>,
    /// Compare what is staged instead of the working tree
    #[arg(long)]
    pub(super) staged: bool,
    /// Compare with the common ancestor of both sides
    #[arg(long)]
    pub(super) merge_base: bool,
    /// Accept a run in which no file matched
    #[arg(long)]
    pub(super) allow_empty: bool,
    /// Of the files that the targets match, only those that this glob matches, from the top of the repository
    #[arg(long, value_name = "GLOB", help_heading = "Reading files")]
    pub(super) include: Vec<String>,
    /// And none that this glob matches; a file that is named itself counts all the same
    #[arg(long, value_name = "GLOB", help_heading = "Reading files")]
    pub(super) exclude: Vec<String>,
    /// Leave out changes at and below these paths: 'metadata.labels', '**.checksum'
    #[arg(long, value_name = "PATTERN", help_heading = "Reading files")]
    pub(super) ignore: Vec<String>,
    /// Compare lists as sets: all of them, or those at these paths
    #[arg(long, value_name = "PATTERN", num_args = 0..=1, require_equals = true, default_missing_value = "**", help_heading = "Reading files")]
    pub(super) ignore_order: Vec<String>,
    /// The fields that identify the items of a list: 'rules=from,to'
    #[arg(long, value_name = "PATH=KEY", help_heading = "Reading files")]
    pub(super) list_key: Vec<String>,
    /// Read every file as this format
    #[arg(long, value_name = "FORMAT", help_heading = "Reading files")]
    pub(super) input_format: Option<String>,
    /// Read files of these names as this format: '*.conf=ini'
    #[arg(long, value_name = "GLOB=FORMAT", help_heading = "Reading files")]
    pub(super) format_map: Vec<String>,
    /// Compare documents in strings as text
    #[arg(long, help_heading = "Reading files")]
    pub(super) raw_strings: bool,
    /// Leave out what a cluster writes into objects by itself (managedFields, status, …)
    #[arg(long, help_heading = "Reading files")]
    pub(super) neat: bool,
    /// Of two equal keys in one map take the last, with a warning
    #[arg(long, help_heading = "Reading files")]
    pub(super) allow_duplicate_keys: bool,
    /// What one side of one file may weigh: bytes, or a number with K, M or G [default: 64M]
    #[arg(long, value_name = "SIZE", help_heading = "Reading files")]
    pub(super) max_file_size: Option<String>,
    /// Hide secret values in the report
    #[arg(long)]
    pub(super) mask_secrets: bool,
    /// Show secret values also in formats that are made to be published
    #[arg(long, conflicts_with = "mask_secrets")]
    pub(super) show_secrets: bool,
    /// Colour the text
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(super) color: Option<Color>,
    /// Lay out the text: plain, which scripts read, or rich, for a person with a terminal
    #[arg(long, value_enum, value_name = "STYLE")]
    pub(super) style: Option<Style>,
    /// Columns of the rich style [default: the terminal's, else 100]
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(MIN_WIDTH as i64..=1000))]
    pub(super) width: Option<u16>,
    /// Write the report to a file, whole or not at all; - is stdout
    #[arg(short, long, value_name = "FILE", allow_hyphen_values = true)]
    pub(super) output: Option<PathBuf>,
    /// Run in this folder
    #[arg(short = 'C', value_name = "DIR")]
    pub(super) directory: Option<PathBuf>,
    /// Print the shell lines that do the same, and do nothing
    #[arg(long)]
    pub(super) print_pipeline: bool,
}

/// How it is judged.
#[derive(Args, Debug)]
#[command(next_help_heading = "Judging")]
pub(super) struct Judged {
    /// Packs of rules: names with commas between them, `auto` (default, and the packs that fit a file), or `none`
    #[arg(long, value_name = "LIST")]
    pub(super) policies: Vec<String>,
    /// A pack of your own, YAML or JSON; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(super) policy_file: Vec<PathBuf>,
    /// Give a rule another severity: error, warn, info or off; may be given several times
    #[arg(long, value_name = "RULE=LEVEL")]
    pub(super) severity: Vec<String>,
    /// A file of accepted findings: they are shown, marked, and count for nothing [default: the baseline's
    /// .flecto-accepted.json]
    #[arg(long, value_name = "FILE")]
    pub(super) accepted: Option<PathBuf>,
    /// Let comments in the files accept findings, although the diff is against a commit
    #[arg(long)]
    pub(super) accept_inline: bool,
}

/// Where the settings come from.
#[derive(Args, Debug)]
#[command(next_help_heading = "Settings")]
pub(super) struct Configured {
    /// Read the settings from this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["no_config", "config_from"])]
    pub(super) config: Option<PathBuf>,
    /// Read no settings
    #[arg(long, conflicts_with = "config_from")]
    pub(super) no_config: bool,
    /// Read .flectorc from the baseline commit, or from the working tree, which the change's author wrote
    #[arg(long, value_enum, value_name = "WHERE", default_value_t)]
    pub(super) config_from: ConfigFrom,
    /// Use this profile of the settings
    #[arg(long, value_name = "NAME")]
    pub(super) profile: Option<String>,
}

/// Which `.flectorc` counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ConfigFrom {
    /// The baseline's, so that a change cannot loosen the gate that judges it
    #[default]
    Baseline,
    /// The working tree's
    Worktree,
}

/// How a model is asked.
#[derive(Args, Debug)]
#[command(next_help_heading = "Asking a model")]
pub(super) struct Asked {
    /// Whom to ask: anthropic, openai, or exec for a program of yours [default: FLECTO_EXPLAIN_PROVIDER]
    #[arg(long, value_name = "PROVIDER")]
    pub(super) provider: Option<String>,
    /// The program that --provider exec asks: the prompt on its stdin, the narration on its stdout; no shell
    #[arg(long, value_name = "COMMAND", allow_hyphen_values = true)]
    pub(super) exec: Option<String>,
    /// Which model [default: FLECTO_EXPLAIN_MODEL, else the provider's]
    #[arg(long, value_name = "MODEL")]
    pub(super) model: Option<String>,
    /// The longest answer to ask for, in tokens [default: FLECTO_EXPLAIN_MAX_TOKENS, else 16000]
    #[arg(long, value_name = "N")]
    pub(super) max_tokens: Option<String>,
    /// How hard the model thinks: none, minimal, low, medium, high, xhigh, max, as far as it knows the word [default: its own]
    #[arg(long, value_name = "LEVEL")]
    pub(super) effort: Option<String>,
    /// Ask once for the whole diff (all), or once a file (file), for a diff that is too long for one request
    #[arg(long, value_name = "WHAT")]
    pub(super) by: Option<String>,
    /// Send nothing that may cost more, by the prices in FLECTO_EXPLAIN_PRICE_INPUT and _OUTPUT (per million tokens)
    #[arg(long, value_name = "SUM")]
    pub(super) max_cost: Option<String>,
    /// Show the answer when it is whole; on a terminal it is otherwise shown as it comes
    #[arg(long)]
    pub(super) no_stream: bool,
    /// Ask again, also where an answer is kept
    #[arg(long)]
    pub(super) no_cache: bool,
}

/// Report what changed, and end with the gate's exit status
///
/// Compares configuration files with a commit, judges what changed, and reports it. The report goes to stdout, and is the
/// same bytes whatever a model says; what a model says goes to stderr.
#[derive(Args, Debug)]
#[command(
    after_help = "Exit status: 0 when nothing matched --fail-on, 1 when something did, 2 when the run could not be completed.\n\n\
                  Example:\n  flecto ci 'config/**/*.{yaml,yml,json}' --snapshot-ref origin/main --fail-on policy --format json -o report.json"
)]
pub struct Ci {
    #[command(flatten)]
    pub(super) compared: Compared,
    /// How to write the report
    #[arg(long, value_name = "FORMAT", value_parser = report_format())]
    pub(super) format: Option<Format>,
    /// Leave out the line on stderr that tells what was found and whether the gate failed
    #[arg(short, long)]
    pub(super) quiet: bool,
    #[command(flatten)]
    pub(super) judged: Judged,
    #[command(flatten)]
    pub(super) configured: Configured,
    /// What makes the gate fail: changed, added, removed, policy, error, warn, info, none [default: policy]
    #[arg(long, value_name = "LIST", help_heading = "Judging")]
    pub(super) fail_on: Vec<String>,
    /// Write the comment to the pull request that this CI run is about, over the one of the last run
    #[arg(long, help_heading = "Publishing")]
    pub(super) pr_comment_post: bool,
    /// Append the report, as Markdown, to the file that GITHUB_STEP_SUMMARY names
    #[arg(long, help_heading = "Publishing")]
    pub(super) step_summary: bool,
    /// Name that tells flecto's comments on one pull request apart
    #[arg(long, value_name = "NAME", help_heading = "Publishing")]
    pub(super) instance: Option<String>,
    /// Most bytes of a comment or summary [default: 65000, markdown: 500000]
    #[arg(long, value_name = "BYTES", help_heading = "Publishing")]
    pub(super) max_bytes: Option<String>,
    /// Category of a SARIF log, one for each upload of a commit [default: flecto]
    #[arg(long, value_name = "NAME", help_heading = "Publishing")]
    pub(super) category: Option<String>,
    /// Keep accepted findings in a SARIF log, as suppressed ones
    #[arg(long, help_heading = "Publishing")]
    pub(super) with_accepted: bool,
    /// Ask a model, after the report, what the change may break
    #[arg(long, help_heading = "Asking a model")]
    pub(super) explain: bool,
    /// Print on stderr, after the report, the request that a model would get, and send nothing
    #[arg(long, help_heading = "Asking a model")]
    pub(super) explain_dry_run: bool,
    #[command(flatten)]
    pub(super) asked: Asked,
}

/// Report what changed, and ask a model what it may break
///
/// The model gets the masked semantic diff and nothing else of the repository. What it says is advice: it is shown on
/// stderr, under a line that says so, and never changes an exit status.
#[derive(Args, Debug)]
#[command(after_help = format!("{EXIT_STATUS}\n\n\
                  Examples:\n  flecto explain config/prod.yaml --snapshot-ref origin/main\n  \
                  flecto explain config/prod.yaml --dry-run --provider anthropic"))]
pub struct Explain {
    #[command(flatten)]
    pub(super) compared: Compared,
    /// How to write the report; in json the narration is in the document
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(super) format: ExplainFormat,
    /// Print the request that a model would get, and nothing else; send nothing
    #[arg(long, conflicts_with_all = ["narration", "output"])]
    pub(super) dry_run: bool,
    /// Print what the request may cost, by your prices, and nothing else; send nothing
    #[arg(long, conflicts_with_all = ["narration", "output", "dry_run"])]
    pub(super) cost: bool,
    /// Write the narration to this file instead of stderr; - is stdout, after the report
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    pub(super) narration: Option<PathBuf>,
    #[command(flatten)]
    pub(super) judged: Judged,
    #[command(flatten)]
    pub(super) configured: Configured,
    #[command(flatten)]
    pub(super) asked: Asked,
}

/// How `flecto explain` writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ExplainFormat {
    /// Lines for a person
    #[default]
    Text,
    /// One JSON document, the narration in it
    Json,
}

/// Show in a small repository of its own what flecto does
///
/// Makes a git repository in a temporary folder, changes a configuration file in it, and shows the report and the request
/// that a model would get. Nothing is sent, and no key is needed, unless --explain is given.
#[derive(Args, Debug)]
#[command(after_help = format!("{EXIT_STATUS}\n\nExample:\n  flecto demo"))]
pub struct Demo {
    /// Ask a model
    #[arg(long)]
    pub(super) explain: bool,
    /// Leave the repository where it is, to try more in it
    #[arg(long)]
    pub(super) keep: bool,
    #[command(flatten)]
    pub(super) asked: Asked,
}

/// Every format that shows a report: not the one that shows what a model said alone.
fn report_format() -> impl TypedValueParser<Value = Format> {
    let reports = Format::value_variants().iter().filter(|&&format| format != Format::Narration);
    PossibleValuesParser::new(reports.filter_map(ValueEnum::to_possible_value))
        .try_map(|word| Format::from_str(&word, false))
}
