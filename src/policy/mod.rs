//! What is risky about this diff, and does it fail the run? Records in, the same records out, with findings and a verdict.
//!
//! Everything that comes in goes out byte for byte and in order; each finding follows its change, the verdict stands just
//! before `end`. Findings that filters before this one made count like those of the packs. The verdict is an exit status
//! too, and a record, because a shell shows only the last program's status.
//!
//! Judging goes on when nobody reads any more (`| head`): the exit status still has to be right.

pub mod accepted;
pub mod catalog;
pub mod examples;
mod judge;
mod walk;

pub use judge::{Chosen, Judge, NOT_JUDGED, OWN_PACK};

use crate::fields;
use crate::json;
use crate::outcome::Outcome;
use crate::path::Path;
use crate::record::{self, BadField, Change, Finding};
use crate::rules::choice::{Adjustment, Policies};
use crate::rules::gate::{FailOn, Gate};
use crate::rules::{self, Pack};
use crate::stream::{Incomplete, Line, Problem, Reader, StreamError, Tally, Writer};
use crate::value::Value;
use accepted::{Accepted, Inline};
use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, BufRead, Write};

/// What the stage is asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The packs that come with flecto.
    pub policies: Policies,
    /// Packs of the user's own, for every file unless they say which they fit.
    pub packs: Vec<Pack>,
    /// What fails the run.
    pub fail_on: FailOn,
    /// Other severities; the last for a rule decides.
    pub severity: Vec<Adjustment>,
    /// Findings that were accepted.
    pub accepted: Accepted,
    /// Whether comments beside values accept although the stream compares with a commit.
    pub accept_inline: bool,
    /// Findings about the run itself, for the end of the stream.
    pub extra: Vec<Finding>,
    /// Whether a stream may be less than a whole diff.
    pub partial: bool,
}

/// How it went.
#[derive(Debug)]
pub struct Report {
    /// The exit status.
    pub outcome: Outcome,
    /// The accepted findings that did not occur, as text, in order.
    pub stale: Vec<String>,
}

/// Why the stage could not do its work.
#[derive(Debug)]
pub enum PolicyError {
    /// The input is no stream of records.
    Stream(StreamError),
    /// The stream is half of one.
    Incomplete(Incomplete),
    /// The output failed otherwise than by nobody reading it.
    Output(io::Error),
    /// A pack or an adjustment that is none.
    Rules(String),
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PolicyError::Stream(error) => write!(f, "{error}"),
            PolicyError::Incomplete(error) => write!(f, "{error}"),
            PolicyError::Output(error) => write!(f, "cannot write to standard output: {}", error.kind()),
            PolicyError::Rules(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for PolicyError {}

impl From<StreamError> for PolicyError {
    fn from(error: StreamError) -> PolicyError {
        PolicyError::Stream(error)
    }
}

impl From<io::Error> for PolicyError {
    fn from(error: io::Error) -> PolicyError {
        PolicyError::Output(error)
    }
}

/// Runs the stage.
///
/// # Errors
/// Input that is no stream, half a stream without [`Options::partial`], output that fails. What came before is written.
pub fn run(mut options: Options, input: impl BufRead, output: impl Write) -> Result<Report, PolicyError> {
    let packs = std::mem::take(&mut options.packs);
    check_adjustments(&options, &packs)?;
    let mut stage = Stage {
        packs: &packs,
        gate: Gate::new(options.fail_on.clone()),
        options,
        out: Writer::new(output),
        tally: Tally::new(),
        judge: None,
        pending: Vec::new(),
        comments: Comments::default(),
        warnings: BTreeSet::new(),
        files: BTreeSet::new(),
        has_verdict: false,
    };
    let mut reader = Reader::new(input);
    let result = loop {
        match reader.next_line() {
            Ok(Some(line)) => {
                if let Err(error) = stage.line(&line) {
                    break Err(error);
                }
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error.into()),
        }
    };
    stage.finish(result)
}

/// Adjustments must mean a rule: a typo would leave it as it is. The packs are read for that only when there are any.
fn check_adjustments(options: &Options, own: &[Pack]) -> Result<(), PolicyError> {
    if options.severity.is_empty() {
        return Ok(());
    }
    let mut known: Vec<(&str, &str)> = Vec::new();
    for name in rules::builtin_names() {
        let pack = rules::read_builtin(name).map_err(PolicyError::Rules)?;
        known.extend(pack.rules.iter().map(|rule| (pack.name.as_str(), rule.id.as_str())));
    }
    known.extend(own.iter().flat_map(|pack| pack.rules.iter().map(|rule| (pack.name.as_str(), rule.id.as_str()))));
    for Adjustment { pack, rule, .. } in &options.severity {
        let meant = known.iter().any(|(p, r)| r == rule && pack.as_ref().is_none_or(|pack| pack == p));
        if !meant {
            let ids: Vec<&str> = known.iter().map(|(_, rule)| *rule).collect();
            let hint = match fields::nearest(rule, &ids) {
                Some(near) if near != rule => format!("did you mean `{near}`?"),
                _ => "`flecto policies list` names them".to_string(),
            };
            return Err(PolicyError::Rules(format!("--severity: no pack has a rule `{rule}`; {hint}")));
        }
    }
    Ok(())
}

/// What comments beside the last change accept.
#[derive(Debug, Default)]
struct Comments {
    file: String,
    document: Option<String>,
    path: Path,
    line: Option<u64>,
    inline: Vec<Inline>,
}

impl Comments {
    /// Where a comment stands.
    fn place(&self, inline: &Inline) -> String {
        let line = inline.line.or(self.line).map_or_else(String::new, |line| format!(":{line}"));
        format!("{}{line}", self.file)
    }

    /// The comment that speaks of a finding at this path. `made_here` says that the last change is what it was made of: a rule
    /// about what a list gains fires at the list, above the change.
    fn of(&self, finding: &Finding, made_here: bool) -> Option<&Inline> {
        if self.file != finding.file || self.document != finding.document {
            return None;
        }
        let path = Path::parse(&finding.path).ok()?;
        self.inline.iter().find(|inline| {
            inline.names(finding)
                && match &inline.path {
                    Some(part) => path.0.starts_with(&part.0),
                    None => made_here || path.0.starts_with(&self.path.0),
                }
        })
    }
}

struct Stage<'p, W: Write> {
    options: Options,
    packs: &'p [Pack],
    out: Writer<W>,
    tally: Tally,
    gate: Gate,
    judge: Option<Judge<'p>>,
    /// The findings of the last change. They are written when the findings that follow it in the input have passed: so a
    /// second `flecto-policy` in the line does not say again what the first one said.
    pending: Vec<Finding>,
    comments: Comments,
    /// What is to be told at the end, once each, by place.
    warnings: BTreeSet<String>,
    /// The files that the stream has, for telling which accepted findings do not occur; kept only where some are.
    files: BTreeSet<String>,
    has_verdict: bool,
}

impl<'p, W: Write> Stage<'p, W> {
    fn line(&mut self, line: &Line<'_>) -> Result<(), PolicyError> {
        if line.is_blank() {
            return Ok(self.out.raw(line.text())?);
        }
        let kind = line.kind()?;
        if kind == "finding" {
            return self.finding(line);
        }
        self.flush_findings()?;
        match kind.as_ref() {
            "start" => self.tally.start(line)?,
            "file" => {
                let file = self.tally.file(line)?;
                self.gate.file(file.status);
                if !self.options.accepted.is_empty() {
                    self.files.insert(file.file.clone());
                }
                self.comments = Comments::default();
                if let Some(judge) = self.judge()? {
                    judge.file(&file.file, &file.all_kinds());
                }
            }
            "change" => return self.change(line),
            "verdict" => {
                if self.tally.end.is_some() {
                    return Ok(line.fail(Problem::Order("a `verdict` after `end`"))?);
                }
                // Another gate stood before this one. Its findings have been counted with the rest, and there is one verdict.
                return Ok(());
            }
            "end" => {
                self.tally.end(line)?;
                self.verdict()?;
            }
            _ => {}
        }
        Ok(self.out.raw(line.text())?)
    }

    fn change(&mut self, line: &Line<'_>) -> Result<(), PolicyError> {
        self.tally.change(line)?;
        let change = Change::from_record(&line.record()?).or_else(|field| line.fail(field))?;
        let Ok(path) = Path::parse(&change.path) else {
            return Ok(line.fail(BadField { record: "change", field: "path" })?);
        };
        self.gate.change(change.op);
        self.out.raw(line.text())?;
        let inline = accepted::inline(change.accept.as_ref());
        self.comments = if inline.is_empty() {
            Comments::default()
        } else {
            Comments {
                file: change.file.clone(),
                document: change.document.clone(),
                path: path.clone(),
                line: change.line,
                inline,
            }
        };
        for inline in self.comments.inline.iter().filter(|inline| inline.reason.is_none()) {
            let warning = format!(
                "{}: a comment accepts `{}` without a reason, so it does not; write `— why` after the rule",
                self.comments.place(inline),
                inline.rule
            );
            self.warnings.insert(warning);
        }
        if let Some(judge) = self.judge()? {
            self.pending = judge.change(&change, &path);
        }
        Ok(())
    }

    /// A finding that somebody made before: it counts, and is marked where it is accepted.
    fn finding(&mut self, line: &Line<'_>) -> Result<(), PolicyError> {
        if self.tally.end.is_some() {
            return Ok(line.fail(Problem::Order("a `finding` after `end`; it would not count"))?);
        }
        let mut record = line.record()?;
        let finding = Finding::from_record(&record).or_else(|field| line.fail(field))?;
        let was_accepted = finding.accepted.as_ref().is_some_and(|value| *value != Value::Null);
        self.pending
            .retain(|own| (&own.path, &own.rule, &own.document) != (&finding.path, &finding.rule, &finding.document));
        if let Some(judge) = &mut self.judge {
            judge.known(&finding);
        }
        match self.acceptance(&finding, false).filter(|_| !was_accepted) {
            Some(accepted) => {
                self.gate.finding(finding.severity, true);
                record.set("accepted", accepted);
                Ok(self.out.line(&record.to_line())?)
            }
            None => {
                self.gate.finding(finding.severity, was_accepted);
                Ok(self.out.raw(line.text())?)
            }
        }
    }

    fn flush_findings(&mut self) -> Result<(), PolicyError> {
        for finding in std::mem::take(&mut self.pending) {
            self.own(finding, true)?;
        }
        Ok(())
    }

    fn own(&mut self, mut finding: Finding, made_here: bool) -> Result<(), PolicyError> {
        if let Some(accepted) = self.acceptance(&finding, made_here) {
            finding.accepted = Value::parse(&accepted).ok();
        }
        self.gate.finding(finding.severity, finding.accepted.is_some());
        Ok(self.out.line(&finding.to_line())?)
    }

    /// By what a finding is accepted, as JSON. `made_here`: see [`Comments::of`].
    fn acceptance(&mut self, finding: &Finding, made_here: bool) -> Option<String> {
        if let Some(acceptance) = self.options.accepted.meet(finding) {
            let mut object = json::Object::new();
            object.str("by", accepted::FILE_NAME).str("reason", &acceptance.reason).str("date", &acceptance.date);
            return Some(object.finish());
        }
        let inline = self.comments.of(finding, made_here)?;
        let reason = inline.reason.as_ref()?;
        let compares_with_commit = self.tally.start.as_ref().is_none_or(|start| start.commit.is_some());
        if compares_with_commit && !self.options.accept_inline {
            let warning = format!(
                "{}: a comment accepts `{}` ({reason}); comments in what is being judged do not count without --accept-inline",
                self.comments.place(inline),
                inline.rule
            );
            self.warnings.insert(warning);
            return None;
        }
        let mut object = json::Object::new();
        object.str("by", "comment").str("reason", reason);
        Some(object.finish())
    }

    fn verdict(&mut self) -> Result<(), PolicyError> {
        self.flush_findings()?;
        for finding in std::mem::take(&mut self.options.extra) {
            self.own(finding, false)?;
        }
        for warning in std::mem::take(&mut self.warnings) {
            self.out.line(&record::warning_line("flecto-policy", &warning))?;
        }
        self.has_verdict = true;
        Ok(self.out.line(&self.gate.verdict().to_line())?)
    }

    fn finish(mut self, result: Result<(), PolicyError>) -> Result<Report, PolicyError> {
        let result = result.and_then(|()| {
            self.flush_findings()?;
            if self.options.partial && !self.has_verdict {
                self.verdict()?;
            }
            Ok(())
        });
        self.out.flush()?;
        result?;
        if !self.options.partial {
            self.tally.whole().map_err(PolicyError::Incomplete)?;
        }
        let incomplete = self.tally.end.as_ref().is_some_and(|end| !end.complete);
        let outcome = if incomplete { Outcome::Trouble } else { self.gate.verdict().outcome() };
        // Of files that this diff does not touch nobody can say whether they occur.
        let here = |place: &&accepted::Place| self.files.contains(&place.file);
        let stale = self.options.accepted.stale().into_iter().filter(here).map(ToString::to_string);
        Ok(Report { outcome, stale: stale.collect() })
    }

    /// The judge, made when it is first needed; `None` when nothing is to be judged.
    fn judge(&mut self) -> Result<Option<&mut Judge<'p>>, PolicyError> {
        if self.judge.is_none() {
            let policies = &self.options.policies;
            let mut chosen = Vec::new();
            for name in rules::builtin_names() {
                let named = policies.named.iter().any(|wanted| wanted == name);
                if named || policies.auto {
                    let pack = rules::read_builtin(name).map_err(PolicyError::Rules)?;
                    chosen.push(Chosen { pack, fitting_only: !named });
                }
            }
            chosen.extend(self.packs.iter().map(|pack| Chosen { pack, fitting_only: pack.fits.is_some_kind() }));
            let adjust = &self.options.severity;
            self.judge = Some(Judge::new(&chosen, |pack, rule| {
                let means = |a: &&Adjustment| a.rule == rule.id && a.pack.as_ref().is_none_or(|p| *p == pack.name);
                adjust.iter().rev().find(means).map_or(Some(rule.severity), |adjustment| adjustment.severity)
            }));
        }
        Ok(self.judge.as_mut())
    }
}
