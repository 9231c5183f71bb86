//! What do the smaller tools for problems read? reviewdog's rdjsonl, GitLab's Code Quality and JUnit.

use super::place::Root;
use super::report::{Issue, Report, reason};
use super::sarif::fingerprint;
use super::text::place;
use crate::json::Object;
use crate::record::Severity;
use crate::text::{count, escape};
use std::collections::HashMap;
use std::fmt::Write as _;

/// One diagnostic a line (reviewdog, proto/rdf/reviewdog.proto). Columns there count UTF-8 bytes; the records count
/// characters and do not say whether what precedes is ASCII, so none is written rather than a wrong one.
pub(super) fn rdjsonl(report: &Report, root: &Root) -> String {
    let mut out = String::new();
    for issue in report.issues(false) {
        let mut location = Object::new();
        location.str("path", &root.path(issue.file));
        if let Some(line) = issue.line {
            let at = |line: u64| {
                let mut position = Object::new();
                position.uint("line", line);
                position.finish()
            };
            let mut range = Object::new();
            range.raw("start", &at(line)).raw("end", &at(issue.end_line.unwrap_or(line).max(line)));
            location.raw("range", &range.finish());
        }
        let mut source = Object::new();
        source.str("name", "flecto");
        let mut code = Object::new();
        code.str("value", issue.rule);
        let severity = match issue.severity {
            Severity::Error => "ERROR",
            Severity::Warn => "WARNING",
            Severity::Info => "INFO",
        };
        let mut diagnostic = Object::new();
        diagnostic.str("message", &sentence(&issue)).raw("location", &location.finish());
        diagnostic.str("severity", severity).raw("source", &source.finish()).raw("code", &code.finish());
        out.push_str(&diagnostic.finish());
        out.push('\n');
    }
    out
}

/// GitLab's Code Quality report (docs.gitlab.com, ci/testing/code_quality). GitLab joins the reports of all jobs and
/// compares two commits by fingerprint, so each is there once, is made from the file's place in the repository, and does
/// not change when the line moves.
pub(super) fn codequality(report: &Report, root: &Root) -> String {
    let mut out = String::from("[");
    let mut seen: HashMap<String, u64> = HashMap::new();
    for (at, issue) in report.issues(false).iter().enumerate() {
        out.push_str(if at == 0 { "\n" } else { ",\n" });
        let id = issue.rule;
        // What is about the whole report has no file, and a path may not be empty.
        let file = Some(root.path(issue.file)).filter(|file| !file.is_empty()).unwrap_or_else(|| ".".into());
        let parts = [id, &file, issue.document.unwrap_or(""), issue.path.unwrap_or("")];
        let nth = seen.entry(fingerprint(&parts)).and_modify(|n| *n += 1).or_insert(1);
        let print = if *nth == 1 {
            fingerprint(&parts)
        } else {
            fingerprint(&[parts[0], parts[1], parts[2], parts[3], &nth.to_string()])
        };
        let severity = match issue.severity {
            Severity::Error => "critical",
            Severity::Warn => "major",
            Severity::Info => "info",
        };
        let mut lines = Object::new();
        lines.uint("begin", issue.line.unwrap_or(1));
        let mut location = Object::new();
        location.str("path", &file).raw("lines", &lines.finish());
        let mut entry = Object::new();
        entry.str("description", &sentence(issue)).str("check_name", id).str("fingerprint", &print);
        entry.str("severity", severity).raw("location", &location.finish());
        out.push_str(&entry.finish());
    }
    out.push_str(if out.len() == 1 { "]\n" } else { "\n]\n" });
    out
}

/// JUnit XML as CI servers read it (there is no official schema): a suite a file, a test case a finding; a file without
/// any has one that passes.
pub(super) fn junit(report: &Report) -> String {
    let mut suites = String::new();
    let (mut tests, mut failures, mut errors) = (0, 0, 0);
    for file in &report.files {
        let mut cases = String::new();
        let mut of_suite = (0u64, 0u64, 0u64, 0u64);
        if let Some(error) = file.error() {
            of_suite.2 += 1;
            let error = xml(&escape(&error));
            let _ = writeln!(
                cases,
                "    <testcase name=\"compare\" classname=\"{}\"><error type=\"file-not-compared\" message=\"{error}\"/></testcase>",
                xml(&escape(&file.name))
            );
        }
        for finding in &file.findings {
            let name = xml(&place(finding.document.as_deref(), &finding.path));
            let line =
                finding.line.or(finding.parent_line).map_or_else(String::new, |line| format!(" line=\"{line}\""));
            let rule = xml(&escape(&finding.rule));
            let message = xml(&escape(&finding.message));
            let class = xml(&escape(&file.name));
            let inside = match (&finding.accepted, finding.severity) {
                (Some(by), _) => {
                    of_suite.3 += 1;
                    let why = reason(by).map_or_else(String::new, |why| format!(": {}", xml(&escape(why))));
                    format!("<skipped message=\"accepted{why}\"/>")
                }
                (None, Severity::Info) => format!("<system-out>{message}</system-out>"),
                (None, _) => {
                    of_suite.1 += 1;
                    format!("<failure type=\"{rule}\" message=\"{message}\">{}: {message}</failure>", finding.severity)
                }
            };
            let _ = writeln!(
                cases,
                "    <testcase name=\"{name} ({rule})\" classname=\"{class}\" file=\"{class}\"{line}>{inside}</testcase>"
            );
        }
        if cases.is_empty() {
            let changes = count(file.changes.len() as u64, "change");
            let class = xml(&escape(&file.name));
            let _ = writeln!(cases, "    <testcase name=\"{changes}\" classname=\"{class}\" file=\"{class}\"/>");
        }
        of_suite.0 = cases.lines().count() as u64;
        tests += of_suite.0;
        failures += of_suite.1;
        errors += of_suite.2;
        let _ = writeln!(
            suites,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{cases}  </testsuite>",
            xml(&escape(&file.name)),
            of_suite.0,
            of_suite.1,
            of_suite.2,
            of_suite.3
        );
    }
    if let Some(why) = &report.incomplete {
        tests += 1;
        errors += 1;
        let _ = writeln!(
            suites,
            "  <testsuite name=\"flecto\" tests=\"1\" failures=\"0\" errors=\"1\">\n    <testcase name=\"the report is whole\" classname=\"flecto\"><error type=\"incomplete\" message=\"incomplete: {}\"/></testcase>\n  </testsuite>",
            xml(&escape(why))
        );
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"flecto\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">\n{suites}</testsuites>\n"
    )
}

fn sentence(issue: &Issue<'_>) -> String {
    match issue.place() {
        Some(place) => format!("{place}: {}", issue.message),
        None => issue.message.to_string(),
    }
}

/// Text that has no control characters any more, for XML 1.0, in an attribute or an element.
fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}
