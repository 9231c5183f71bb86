//! The options of `flecto accept`: a person accepts findings, with a reason and a date, in a file that is committed.

use super::{expect_piped_input, say};
use crate::outcome::Outcome;
use crate::policy::accepted::{Acceptance, Accepted, FILE_NAME, Place};
use crate::record::Finding;
use crate::stream::{Reader, Tally};
use anyhow::{anyhow, ensure};
use clap::Args;
use std::io::Write as _;
use std::path::PathBuf;

/// Accepts findings: they stay in reports, marked, and fail no run.
///
/// Reads the records of flecto-policy and adds what it found to the file, which has to be committed; against a commit, the
/// file of that commit counts. This is an action: no settings file can ask for it.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Accept {
    /// Why; it stands in every report
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// The day, YYYY-MM-DD: given, not read from a clock, so that the same command writes the same file
    #[arg(long, value_name = "DAY")]
    date: String,
    /// Only findings of this rule; may be given several times
    #[arg(long, value_name = "RULE")]
    rule: Vec<String>,
    /// Only findings at this path; may be given several times
    #[arg(long, value_name = "PATH")]
    path: Vec<String>,
    /// Accept every finding that is read
    #[arg(long, conflicts_with_all = ["rule", "path"])]
    all: bool,
    /// The file
    #[arg(long, value_name = "FILE", default_value = FILE_NAME)]
    accepted: PathBuf,
}

const AFTER_HELP: &str = "\
Example:
  flecto-diff config/ --snapshot-ref origin/main | flecto-policy --fail-on none |
    flecto accept --rule pool-size-jump --reason 'load test of May' --date 2026-05-04";

/// Runs it.
///
/// # Errors
/// Input that is no whole stream, a reason or date that is none, nothing to accept, a file that cannot be read or written.
pub fn run(arguments: &Accept) -> anyhow::Result<Outcome> {
    let Accept { reason, date, rule, path, all, accepted: file } = arguments;
    ensure!(
        *all || !rule.is_empty() || !path.is_empty(),
        "nothing is named; add --rule, --path, or --all for everything"
    );
    expect_piped_input("flecto-diff … | flecto-policy | flecto accept --rule RULE --reason TEXT --date DAY")?;
    let shown = file.display();
    let mut accepted = match std::fs::read(file) {
        Ok(bytes) => Accepted::read(&file.to_string_lossy(), &bytes)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Accepted::default(),
        Err(error) => return Err(anyhow!("{shown}: cannot be read: {}", error.kind())),
    };
    let mut tally = Tally::new();
    let mut reader = Reader::new(std::io::stdin().lock());
    let mut added = 0u64;
    while let Some(line) = reader.next_line()? {
        if line.is_blank() {
            continue;
        }
        match line.kind()?.as_ref() {
            "start" => tally.start(&line)?,
            "file" => {
                tally.file(&line)?;
            }
            "change" => tally.change(&line)?,
            "end" => {
                tally.end(&line)?;
            }
            "finding" => {
                let finding = Finding::from_record(&line.record()?).or_else(|field| line.fail(field))?;
                let wanted = (rule.is_empty() || rule.contains(&finding.rule))
                    && (path.is_empty() || path.contains(&finding.path))
                    && finding.accepted.is_none();
                if wanted {
                    let acceptance = Acceptance { reason: reason.clone(), date: date.clone() };
                    accepted.add(Place::of(&finding), acceptance).map_err(anyhow::Error::msg)?;
                    added += 1;
                }
            }
            _ => {}
        }
    }
    // Half a report would accept half of what the person meant.
    tally.whole().map_err(|error| anyhow!("{}", error.to_string().split(';').next().unwrap_or_default()))?;
    ensure!(added > 0, "no finding matches; look at the report without --rule and --path");
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
    let write = || -> std::io::Result<()> {
        let mut builder = tempfile::Builder::new();
        // As any program makes a file: the person's umask decides who reads it.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut whole = builder.tempfile_in(folder)?;
        whole.write_all(accepted.to_text().as_bytes())?;
        whole.persist(file).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| anyhow!("{shown}: cannot be written: {}", error.kind()))?;
    say("flecto", &format!("{} in {shown}; commit it", crate::text::count(added, "accepted finding")));
    Ok(Outcome::Clean)
}
