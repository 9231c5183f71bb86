//! The options of `flecto-policy`.

use super::{expect_piped_input, say};
use crate::outcome::Outcome;
use crate::policy::accepted::Accepted;
use crate::policy::{self, Options};
use crate::record::{Finding, Record};
use crate::rules::choice::{Adjustment, Policies};
use crate::rules::gate::FailOn;
use crate::rules::{self, Pack};
use anyhow::Context as _;
use clap::Parser;
use std::path::{Path, PathBuf};

/// Judges changes by rules and decides whether they fail the run.
///
/// Reads records, passes them all on, and adds a `finding` after each change that a rule fires at and one `verdict` before
/// `end`. Findings that other filters wrote count too. Exit status: 0 when nothing matched --fail-on, 1 when something
/// did, 2 when that cannot be said.
#[derive(Clone, Debug, Parser)]
#[command(name = "flecto-policy", version, about, long_about, after_help = AFTER_HELP)]
pub struct Args {
    /// Packs of rules, with commas between them: names, `auto` (default, and the packs that fit a file), files, or `none`
    #[arg(long, value_name = "LIST", default_value = "auto")]
    policies: Vec<Policies>,

    /// A pack of your own, YAML or JSON; may be given several times
    #[arg(long, value_name = "FILE")]
    policy_file: Vec<PathBuf>,

    /// What fails the run: changed, added, removed, policy (a finding of warn or error), error, warn, info, none
    #[arg(long, value_name = "LIST", default_value = "policy")]
    fail_on: Vec<FailOn>,

    /// Give a rule another severity: error, warn, info or off; may be given several times
    #[arg(long, value_name = "RULE=LEVEL")]
    severity: Vec<Adjustment>,

    /// A file of accepted findings: they stay in the stream, marked, and count for nothing
    #[arg(long, value_name = "FILE")]
    accepted: Option<PathBuf>,

    /// Let comments (`flecto-ignore-next-line RULE — reason`) accept findings, although the diff is against a commit
    #[arg(long)]
    accept_inline: bool,

    /// A finding about the run itself, as a record, to be added before the verdict; may be given several times
    #[arg(long, value_name = "RECORD")]
    add_finding: Vec<String>,

    /// Judge what is there: the stream need not be a whole diff
    #[arg(long)]
    partial: bool,
}

const AFTER_HELP: &str = "\
Examples:
  flecto-diff 'config/**/*.yaml' | flecto-policy --fail-on error | flecto-render
  flecto-diff config/ | flecto-policy --policies auto,strict-prod --policy-file policies/ours.yaml > report.ndjson
  flecto-diff config/ | grep pool_size | flecto-policy --partial | flecto-render

The packs and their rules: flecto policies list. How to write rules: docs/policy.md, docs/rules-as-filters.md.";

/// The program.
///
/// # Errors
/// Options that cannot be used, input that is no stream.
pub fn stage(args: Args) -> anyhow::Result<Outcome> {
    let options = args.into_options()?;
    expect_piped_input("flecto-diff config/ | flecto-policy | flecto-render")?;
    let report = policy::run(options, super::input(), std::io::stdout().lock())?;
    if !report.stale.is_empty() {
        let some: Vec<&str> = report.stale.iter().take(MAX_NAMED).map(String::as_str).collect();
        let more = report.stale.len().saturating_sub(MAX_NAMED);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        say("flecto-policy", &format!("accepted findings that do not occur (any more): {}{more}", some.join(", ")));
    }
    Ok(report.outcome)
}

/// How many accepted findings that do not occur are named on the one line about them.
const MAX_NAMED: usize = 10;

impl Args {
    fn into_options(self) -> anyhow::Result<Options> {
        let words = |lists: Vec<Vec<String>>| lists.into_iter().flatten().collect::<Vec<_>>();
        let policies = words(self.policies.iter().map(Policies::words).collect());
        let fail_on = words(self.fail_on.iter().map(FailOn::words).collect());
        let message = anyhow::Error::msg::<String>;
        let policies = Policies::from_words(policies.iter().map(String::as_str)).map_err(message)?;
        let files = policies.files.iter().map(Path::new).chain(self.policy_file.iter().map(PathBuf::as_path));
        let packs = files.map(read_pack).collect::<anyhow::Result<Vec<Pack>>>()?;
        let accepted = match &self.accepted {
            Some(path) => Accepted::read(&path.to_string_lossy(), &read(path)?)?,
            None => Accepted::default(),
        };
        let extra = self.add_finding.iter().map(|text| read_finding(text)).collect::<anyhow::Result<Vec<Finding>>>()?;
        Ok(Options {
            policies,
            packs,
            fail_on: FailOn::from_words(fail_on.iter().map(String::as_str)).map_err(message)?,
            severity: self.severity,
            accepted,
            accept_inline: self.accept_inline,
            extra,
            partial: self.partial,
        })
    }
}

/// Reads a pack of the user's own.
///
/// # Errors
/// A file that cannot be read, or is no pack.
pub(super) fn read_pack(path: &Path) -> anyhow::Result<Pack> {
    Ok(rules::read_pack(&path.to_string_lossy(), &read(path)?)?)
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    use std::io::Read as _;
    // One byte more than is accepted: enough to know that it is too much, whatever the file is.
    let mut bytes = Vec::new();
    let open = std::fs::File::open(path).map_err(|error| error.kind());
    let read = open.and_then(|file| {
        file.take(crate::fields::MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(|error| error.kind())
    });
    match read {
        Ok(_) => Ok(bytes),
        Err(kind) => anyhow::bail!("{}: cannot be read: {kind}", path.display()),
    }
}

fn read_finding(text: &str) -> anyhow::Result<Finding> {
    let record = Record::parse(text).ok().context("--add-finding: no record; write a JSON object")?;
    anyhow::ensure!(record.kind().as_deref() == Some("finding"), "--add-finding: the record's type is not `finding`");
    Finding::from_record(&record).map_err(|field| anyhow::anyhow!("--add-finding: it is {field}"))
}
