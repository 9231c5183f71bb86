//! How does it read? Ends the stream: shows the records to a person, or to the machine that shows them to one.
//!
//! | format | for | holds in memory |
//! |---|---|---|
//! | `text` | a terminal, a log | one file's lines |
//! | `json` | a script: one document | one file's records |
//! | `ndjson` | a script: the records themselves | nothing |
//! | `narration` | a terminal: what a model said, and that alone | nothing |
//! | `pr-comment`, `markdown` | a pull request, a job summary | the report |
//! | `github-annotations`, `sarif` | GitHub beside the lines, code scanning | the report |
//! | `html` | an incident, a release | the report |
//! | `rdjsonl`, `gitlab-codequality`, `junit` | reviewdog, GitLab, CI servers | the report |
//!
//! Every format gets its records from [`read`], which holds the stream to its own counts; what was lost on the way is told
//! in the format itself and by exit status 2. Formats that are made to be published are masked on the way in, unless the
//! operator says otherwise. Shortening for display happens here and nowhere earlier.

mod annotations;
mod columns;
mod html;
mod json;
mod markdown;
mod narration;
mod ndjson;
mod place;
mod problems;
mod read;
mod report;
mod rich;
mod rule_text;
mod sarif;
mod shown;
mod text;

use crate::outcome::Outcome;
use crate::secret;
use crate::stream::Writer;
use crate::text as words;
use place::Root;
use read::{Ending, View};
use report::Report;
use std::io::{self, BufRead, Write};

pub use read::baseline_label;
pub use rich::{DEFAULT_WIDTH, MIN_WIDTH};

/// What to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Lines for a person: per file a header, the changes, the findings
    #[default]
    Text,
    /// One JSON document: files with their changes and findings, and the verdict
    Json,
    /// The records of the report, one a line
    Ndjson,
    /// What a model said, with the line that says so; nothing when there is none
    Narration,
    /// The sticky comment of a pull request, for flecto-post
    PrComment,
    /// The comment without its marker, for a job summary
    Markdown,
    /// Workflow commands that GitHub shows beside the lines
    GithubAnnotations,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Diagnostics for reviewdog, one a line
    Rdjsonl,
    /// GitLab's Code Quality report
    GitlabCodequality,
    /// JUnit XML
    Junit,
    /// One page for a browser, with nothing from elsewhere
    Html,
}

impl Format {
    /// Whether the format is made to leave the machine, so that secrets in it are hidden without being asked to.
    pub fn is_published(self) -> bool {
        !matches!(self, Format::Text | Format::Json | Format::Ndjson | Format::Narration)
    }
}

/// How `text` is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Style {
    /// One line a fact, the same in every release
    #[default]
    Plain,
    /// A screen: grouped and aligned, long texts as a diff, findings under their changes
    Rich,
}

/// How to write it.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The format.
    pub format: Format,
    /// How `text` is laid out.
    pub style: Style,
    /// How wide the screen of the rich style is, in columns.
    pub width: usize,
    /// Whether to colour `text`.
    pub color: bool,
    /// Whether a stream that lost records is accepted.
    pub partial: bool,
    /// How to hide secrets; `None` shows what the records say.
    pub mask: Option<secret::Options>,
    /// The way from the repository's top level to the folder that file names are relative to, with `/`.
    pub path_prefix: String,
    /// What tells flecto's comments on one pull request apart.
    pub instance: Option<String>,
    /// The most bytes of a comment; the format's own limit when absent.
    pub max_bytes: Option<usize>,
    /// What tells SARIF uploads for one commit apart.
    pub category: Option<String>,
    /// Whether SARIF holds accepted findings.
    pub with_accepted: bool,
}

/// How it went.
#[derive(Debug)]
pub struct Rendered {
    /// The verdict of the stream, or trouble when it says that not everything was read.
    pub outcome: Outcome,
    /// What a person must be told beside the report: that a format could not take all of it.
    pub notes: Vec<String>,
    /// What was found, in one line; `None` where no gate judged it.
    pub summary: Option<String>,
}

/// Reads a stream of records and writes it in a format. A reader of the output that is gone does not change the outcome.
///
/// # Errors
/// A broken or cut stream (what could be read has then been written, and says that it is incomplete), and output that
/// cannot be written.
pub fn run(options: &Options, input: impl BufRead, output: impl Write) -> anyhow::Result<Rendered> {
    let mut out = Writer::new(output);
    let mut notes = Vec::new();
    let mask = options.mask.clone();
    let ending = match options.format {
        Format::Text if options.style == Style::Plain => show(input, mask, text::Text::new(&mut out, options.color)),
        Format::Json => show(input, mask, json::Document::new(&mut out)),
        Format::Ndjson => ndjson::pass(input, mask, &mut out),
        Format::Narration => show(input, mask, narration::Narration::new(&mut out)),
        _ => publish(options, input, mask, &mut out, &mut notes),
    }
    .and_then(|ending| out.flush().map(|()| ending))
    .map_err(|error| anyhow::anyhow!("cannot write standard output: {}", error.kind()))?;
    let summary = ending.summary();
    Ok(Rendered { outcome: ending.outcome(options.partial)?, notes, summary })
}

fn show(input: impl BufRead, mask: Option<secret::Options>, mut view: impl View) -> io::Result<Ending> {
    let ending = read::read(input, mask, &mut view)?;
    view.finish(&ending)?;
    Ok(ending)
}

/// The formats that need the whole report before their first line.
fn publish<W: Write>(
    options: &Options,
    input: impl BufRead,
    mask: Option<secret::Options>,
    out: &mut Writer<W>,
    notes: &mut Vec<String>,
) -> io::Result<Ending> {
    let mut report = Report::default();
    let ending = read::read(input, mask, &mut report)?;
    report.finish(&ending)?;
    let root = Root::new(&options.path_prefix);
    let text = match options.format {
        Format::Text => rich::Rich { color: options.color, width: options.width.max(MIN_WIDTH) }.render(&report),
        Format::PrComment => {
            let marker = markdown::marker(options.instance.as_deref());
            markdown::render(&report, Some(&marker), options.max_bytes.unwrap_or(markdown::COMMENT_BYTES))
        }
        Format::Markdown => markdown::render(&report, None, options.max_bytes.unwrap_or(markdown::SUMMARY_BYTES)),
        Format::GithubAnnotations => annotations::render(&report, &root),
        Format::Sarif => {
            let sarif = sarif::Sarif {
                category: options.category.as_deref().unwrap_or("flecto"),
                accepted: options.with_accepted,
            };
            let (log, note) = sarif.render(&report, &root);
            notes.extend(note);
            log
        }
        Format::Rdjsonl => problems::rdjsonl(&report, &root),
        Format::GitlabCodequality => problems::codequality(&report, &root),
        Format::Html => html::render(&report),
        _ => problems::junit(&report),
    };
    out.raw(&text)?;
    Ok(ending)
}

impl Ending {
    /// Files, changes, findings, accepted ones, and the gate's answer.
    fn summary(&self) -> Option<String> {
        let (verdict, end) = (self.verdict.as_ref()?, self.tally.end.as_ref()?);
        let changes = words::count(end.changes, "change");
        let files = words::count(end.files, "file");
        let findings =
            [(verdict.error, "error"), (verdict.warn, "warn"), (verdict.info, "info"), (verdict.accepted, "accepted")];
        let findings: Vec<String> = findings.iter().map(|(count, word)| format!("{count} {word}")).collect();
        let answer = match (end.complete, verdict.failed) {
            (false, _) => "incomplete",
            (true, true) => "gate failed",
            (true, false) => "gate passed",
        };
        Some(format!(
            "{changes} in {} of {files}; findings: {}; {answer} (--fail-on {})",
            end.differing,
            findings.join(", "),
            verdict.fail_on.join(",")
        ))
    }

    fn outcome(self, partial: bool) -> anyhow::Result<Outcome> {
        if let Some(broken) = self.broken {
            anyhow::bail!("the report is incomplete: {broken}");
        }
        if !partial {
            self.tally.whole()?;
        }
        let told_incomplete = self.tally.end.as_ref().is_some_and(|end| !end.complete);
        let verdict = self.verdict.as_ref().map_or(Outcome::Clean, crate::record::Verdict::outcome);
        Ok(if told_incomplete { Outcome::Trouble } else { verdict })
    }
}
