//! What do the published formats work on? The whole report in memory: they sort by severity, count before they list, and
//! cut.

use super::narration;
use super::read::{Ending, View, baseline_label};
use crate::record::{Change, File, Finding, Record, Severity, Start, Status, Verdict};
use crate::value::Value;
use std::collections::HashMap;
use std::io;

/// A stream, read to its end.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) start: Option<Start>,
    /// In the order of the stream, each name once.
    pub(super) files: Vec<FileReport>,
    pub(super) verdict: Option<Verdict>,
    pub(super) warnings: Vec<String>,
    pub(super) narration: Option<Record>,
    /// Why this is not the whole report.
    pub(super) incomplete: Option<String>,
    /// Files that the targets matched, as far as the stream says.
    pub(super) matched: Option<u64>,
    by_name: HashMap<String, usize>,
    current: usize,
}

/// One file.
#[derive(Debug, Default)]
pub(super) struct FileReport {
    pub(super) name: String,
    pub(super) told: Option<File>,
    pub(super) changes: Vec<Change>,
    pub(super) findings: Vec<Finding>,
}

impl FileReport {
    /// Why the file could not be compared, if so.
    pub(super) fn error(&self) -> Option<String> {
        let told = self.told.as_ref().filter(|file| file.status == Status::Error)?;
        let side = match told.side.as_deref() {
            Some("before") => " (the old side)",
            Some("after") => " (the new side)",
            _ => "",
        };
        Some(format!("not compared{side}: {}", told.error.as_deref().unwrap_or("it could not be read")))
    }

    /// What the file as a whole went through, in words; not escaped.
    pub(super) fn story(&self) -> Option<String> {
        let told = self.told.as_ref()?;
        match (told.status, &told.from) {
            (Status::Added, _) => Some("new file".into()),
            (Status::Removed, _) => Some("file removed".into()),
            (Status::Renamed, Some(from)) => Some(format!("renamed from {from}")),
            _ => None,
        }
    }

    /// Whether there is anything to tell of the file.
    pub(super) fn differs(&self) -> bool {
        self.is_news() || !self.findings.is_empty()
    }

    /// Whether the file differs or could not be compared; a finding alone may be about one that is the same.
    fn is_news(&self) -> bool {
        !self.changes.is_empty() || self.story().is_some() || self.error().is_some()
    }
}

/// Something for a tool that shows problems: a finding, or a file that could not be compared.
#[derive(Debug)]
pub(super) struct Issue<'r> {
    pub(super) file: &'r str,
    pub(super) document: Option<&'r str>,
    pub(super) path: Option<&'r str>,
    pub(super) pack: Option<&'r str>,
    pub(super) rule: &'r str,
    pub(super) severity: Severity,
    pub(super) message: std::borrow::Cow<'r, str>,
    pub(super) line: Option<u64>,
    pub(super) column: Option<u64>,
    pub(super) end_line: Option<u64>,
    pub(super) line_hash: Option<&'r str>,
    /// Why it does not count, when it was accepted.
    pub(super) accepted: Option<&'r Value>,
}

/// The rule id of a file that could not be compared.
pub(super) const UNREADABLE: &str = "file-not-compared";

/// The rule id of a report that is not the whole one.
pub(super) const INCOMPLETE: &str = "report-incomplete";

impl<'r> Issue<'r> {
    /// What flecto itself has to say, of a file or of the whole run.
    fn own(file: &'r str, rule: &'r str, message: String) -> Issue<'r> {
        Issue {
            file,
            document: None,
            path: None,
            pack: None,
            rule,
            severity: Severity::Error,
            message: message.into(),
            line: None,
            column: None,
            end_line: None,
            line_hash: None,
            accepted: None,
        }
    }

    /// The document in brackets and the path; not escaped.
    pub(super) fn place(&self) -> Option<String> {
        let path = self.path?;
        Some(match self.document {
            Some(document) => format!("[{document}] {path}"),
            None => path.to_string(),
        })
    }
}

impl Report {
    /// The words after "changes": ` from origin/main`.
    pub(super) fn baseline(&self) -> String {
        baseline_label(self.start.as_ref(), "")
    }

    /// All changes.
    pub(super) fn changes(&self) -> u64 {
        self.files.iter().map(|file| file.changes.len() as u64).sum()
    }

    /// Files that differ or could not be compared.
    pub(super) fn differing(&self) -> u64 {
        self.files.iter().filter(|file| file.is_news()).count() as u64
    }

    /// Findings that count, of one severity.
    pub(super) fn count(&self, severity: Severity) -> u64 {
        let counts = |finding: &&Finding| finding.severity == severity && finding.accepted.is_none();
        self.files.iter().map(|file| file.findings.iter().filter(counts).count() as u64).sum()
    }

    /// What tools that show problems are given: the worst first, in the order of the stream within a severity. Accepted
    /// findings only when asked for.
    pub(super) fn issues(&self, accepted: bool) -> Vec<Issue<'_>> {
        let mut issues: Vec<Issue<'_>> = Vec::new();
        for file in &self.files {
            if let Some(error) = file.error() {
                issues.push(Issue::own(&file.name, UNREADABLE, format!("This file was {error}.")));
            }
            issues.extend(file.findings.iter().filter(|finding| accepted || finding.accepted.is_none()).map(
                |finding| Issue {
                    file: &file.name,
                    document: finding.document.as_deref(),
                    path: Some(&finding.path),
                    pack: finding.pack.as_deref(),
                    rule: &finding.rule,
                    severity: finding.severity,
                    message: finding.message.as_str().into(),
                    line: finding.line.or(finding.parent_line),
                    column: finding.column,
                    end_line: finding.end_line,
                    line_hash: finding.line_hash.as_deref(),
                    accepted: finding.accepted.as_ref(),
                },
            ));
        }
        if let Some(reason) = &self.incomplete {
            issues.push(Issue::own(".", INCOMPLETE, format!("The report is incomplete: {reason}.")));
        }
        issues.sort_by_key(|issue| std::cmp::Reverse(issue.severity));
        issues
    }
}

/// The reason that an acceptance gives, if it gives one.
pub(super) fn reason(accepted: &Value) -> Option<&str> {
    accepted.as_str().or_else(|| accepted.get("reason").and_then(Value::as_str))
}

impl View for Report {
    fn start(&mut self, start: &Start, _record: &Record) -> io::Result<()> {
        self.start = Some(start.clone());
        Ok(())
    }

    fn file(&mut self, name: &str, told: Option<(&File, &Record)>) -> io::Result<()> {
        self.current = *self.by_name.entry(name.to_string()).or_insert_with(|| {
            self.files.push(FileReport { name: name.to_string(), ..FileReport::default() });
            self.files.len() - 1
        });
        if let Some((file, _)) = told {
            self.files[self.current].told = Some(file.clone());
        }
        Ok(())
    }

    fn change(&mut self, change: &Change, _record: &Record) -> io::Result<()> {
        self.files[self.current].changes.push(change.clone());
        Ok(())
    }

    fn finding(&mut self, finding: &Finding, _record: &Record) -> io::Result<()> {
        self.files[self.current].findings.push(finding.clone());
        Ok(())
    }

    fn verdict(&mut self, verdict: &Verdict, _record: &Record) -> io::Result<()> {
        self.verdict = Some(verdict.clone());
        Ok(())
    }

    fn warning(&mut self, message: &str, _record: &Record) -> io::Result<()> {
        self.warnings.push(message.to_string());
        Ok(())
    }

    fn narration(&mut self, record: &Record) -> io::Result<()> {
        narration::gather(&mut self.narration, record);
        Ok(())
    }

    fn finish(&mut self, ending: &Ending) -> io::Result<()> {
        self.incomplete = ending.incomplete();
        self.matched = ending.tally.end.as_ref().map(|end| end.files);
        Ok(())
    }
}
