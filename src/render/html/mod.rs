//! What is attached to an incident or a release? One page that needs nothing else: no network, light and dark, filter by
//! severity, search, print.
//!
//! The page's own policy allows its own style and its own script by their hashes and nothing else, so that no text of the diff
//! could load or run anything even if one were not escaped.

use super::report::{FileReport, Report, reason};
use super::shown;
use crate::record::{Change, Finding, Op, Severity};
use crate::text::{count, spelled};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The report as a page.
pub(super) fn render(report: &Report) -> String {
    let mut out = String::new();
    head(report, &mut out);
    for file in report.files.iter().filter(|file| file.differs()) {
        section(file, &mut out);
    }
    let _ = writeln!(out, "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>");
    out
}

fn head(report: &Report, out: &mut String) {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let files = count(report.differing(), "file");
    let changes = count(report.changes(), "change");
    let baseline = text(&report.baseline());
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>flecto: {changes} in {files}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{changes} in {files}</h1>\n<p>",
        hash(STYLE),
        hash(SCRIPT),
    );
    let _ = write!(out, "Configuration{baseline}");
    for (severity, noun) in [(Severity::Error, "error"), (Severity::Warn, "warning"), (Severity::Info, "notice")] {
        let n = report.count(severity);
        if n > 0 {
            let _ = write!(out, " · <strong class=\"{severity}\">{}</strong>", count(n, noun));
        }
    }
    if let Some(verdict) = &report.verdict {
        let (class, said) = if verdict.failed { ("error", "failed") } else { ("added", "passed") };
        let _ = write!(out, " · gate <strong class=\"{class}\">{said}</strong> ({})", text(&verdict.fail_on.join(",")));
    }
    out.push_str("</p>\n");
    if let Some(why) = &report.incomplete {
        let _ = writeln!(out, "<p class=\"notice\"><strong>Incomplete:</strong> {}</p>", text(why));
    }
    for warning in &report.warnings {
        let _ = writeln!(out, "<p class=\"notice\">{}</p>", text(warning));
    }
    out.push_str("<form>\n<input type=\"search\" id=\"search\" placeholder=\"Search\" aria-label=\"Search\">\n");
    for (kind, label) in [("error", "errors"), ("warn", "warnings"), ("info", "notices"), ("change", "changes")] {
        let _ =
            writeln!(out, "<label><input type=\"checkbox\" name=\"kind\" value=\"{kind}\" checked> {label}</label>");
    }
    out.push_str("<button type=\"button\" id=\"print\">Print</button>\n<span id=\"shown\" class=\"dim\" role=\"status\"></span>\n</form>\n");
}

fn section(file: &FileReport, out: &mut String) {
    let name = text(&file.name);
    let story =
        file.story().map_or_else(String::new, |story| format!(" <span class=\"story\">{}</span>", text(&story)));
    let changes = count(file.changes.len() as u64, "change");
    let _ = writeln!(
        out,
        "<section data-file=\"{name}\">\n<header><h2><code>{name}</code>{story}</h2><span class=\"dim\">{changes}</span></header>"
    );
    if let Some(error) = file.error() {
        let _ = writeln!(
            out,
            "<table><tbody><tr data-kind=\"error\"><td class=\"error\">{}</td></tr></tbody></table>",
            text(&error)
        );
    }
    if !file.findings.is_empty() {
        out.push_str(
            "<table>\n<thead><tr><th>Finding</th><th>Path</th><th>Rule</th><th>Message</th></tr></thead>\n<tbody>\n",
        );
        let mut findings: Vec<&Finding> = file.findings.iter().collect();
        findings.sort_by_key(|finding| (finding.accepted.is_some(), std::cmp::Reverse(finding.severity)));
        for finding in findings {
            finding_row(finding, out);
        }
        out.push_str("</tbody>\n</table>\n");
    }
    if !file.changes.is_empty() {
        out.push_str(
            "<table>\n<thead><tr><th>Change</th><th>Path</th><th>Before</th><th>After</th></tr></thead>\n<tbody>\n",
        );
        for change in &file.changes {
            change_row(change, out);
        }
        out.push_str("</tbody>\n</table>\n");
    }
    out.push_str("</section>\n");
}

fn finding_row(finding: &Finding, out: &mut String) {
    let severity = finding.severity;
    let (class, mark) = if finding.accepted.is_some() { (" class=\"accepted\"", ", accepted") } else { ("", "") };
    let why = finding.accepted.as_ref().and_then(reason);
    let why = why.map_or_else(String::new, |why| format!(" <span class=\"dim\">accepted: {}</span>", text(why)));
    let line = finding.line.map_or_else(String::new, |line| format!(" <span class=\"dim\">line {line}</span>"));
    let _ = writeln!(
        out,
        "<tr data-kind=\"{severity}\"{class}><td class=\"{severity}\">{severity}{mark}</td><td><code>{}</code>{line}</td><td><code>{}</code></td><td>{}{why}</td></tr>",
        placed(finding.document.as_deref(), &finding.path),
        text(&finding.rule),
        text(&finding.message),
    );
}

fn change_row(change: &Change, out: &mut String) {
    let (before, after) = shown::cell_sides(change);
    let side = |side: Option<String>| side.map_or_else(String::new, |side| format!("<code>{}</code>", text(&side)));
    let op = change.op;
    let word = if op == Op::Reordered { "order" } else { op.as_str() };
    let note = change.note.as_deref().filter(|note| *note != "order");
    let note = note.map_or_else(String::new, |note| format!(" <span class=\"dim\">{}</span>", text(note)));
    let _ = writeln!(
        out,
        "<tr data-kind=\"change\"><td class=\"{op}\">{word}</td><td><code>{}</code></td><td>{}</td><td>{}{note}</td></tr>",
        placed(change.document.as_deref(), &change.path),
        side(before),
        side(after),
    );
}

fn placed(document: Option<&str>, path: &str) -> String {
    match document {
        Some(document) => text(&format!("[{document}] {path}")),
        None => text(path),
    }
}

/// Foreign text, in an element or in an attribute with double quotes. `#` is a reference so that no CI log that the page is
/// printed to finds a command in it.
fn text(foreign: &str) -> String {
    let mut out = String::with_capacity(foreign.len() + 8);
    for c in spelled(foreign).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '#' => out.push_str("&#35;"),
            c => out.push(c),
        }
    }
    out
}
