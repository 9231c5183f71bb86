//! What does a code scanning service read? SARIF 2.1.0 (OASIS), of which GitHub uses a part and punishes the rest.
//!
//! Decisions that the service forces: a result names its rule by `ruleId` and `ruleIndex`; rules carry all four texts;
//! locations are percent-encoded and relative to the top level; columns count what the records count, Unicode code points,
//! and `columnKind` says so; `primaryLocationLineHash` is the line's own hash where the record has one, so that the
//! service's own computation agrees, and a hash of rule, file and path where it has none or where two findings of a rule
//! share a line; accepted findings are left out, because GitHub has no use for `suppressions` and shows them as open.

use super::place::Root;
use super::report::{INCOMPLETE, Issue, Report, reason};
use super::rule_text::RuleText;
use crate::json::Object;
use crate::record::Severity;
use crate::text::{count, shorten};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

/// GitHub rejects a run with more results.
const MAX_RESULTS: usize = 25_000;

/// GitHub rejects a file of more than 10 MiB after gzip. What varies from result to result is counted as if it could not be
/// compressed at all; what is the same in each compresses to almost nothing.
const MAX_VARYING: usize = 9_000_000;

/// The longest message of a result, in characters: GitHub shows the first sentence.
const MESSAGE: usize = 1_000;

/// GitHub's bound on a rule's name, in characters.
const NAME: usize = 255;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// Where one can read about the program: its repository, else where the documentation of its release will be.
const HOME: &str = env!("CARGO_PKG_REPOSITORY");
const DOCUMENTATION: &str = concat!("https://docs.rs/flecto/", env!("CARGO_PKG_VERSION"));

/// How the log is written.
#[derive(Debug)]
pub(super) struct Sarif<'o> {
    /// What tells two uploads for one commit apart: `automationDetails.id`.
    pub(super) category: &'o str,
    /// Whether accepted findings are in the log, as suppressed ones.
    pub(super) accepted: bool,
}

impl Sarif<'_> {
    /// The log, and what a person must be told of what is not in it.
    pub(super) fn render(&self, report: &Report, root: &Root) -> (String, Option<String>) {
        // That a run was not complete stands in `invocations`; it is nowhere in the code.
        let mut issues = report.issues(self.accepted);
        issues.retain(|issue| issue.rule != INCOMPLETE);
        let all = issues.len();
        let fit = fitting(&issues);
        issues.truncate(fit);
        let left_out = (fit < all).then(|| {
            format!(
                "{}, {fit} of them in the log, the most severe first: code scanning rejects a larger one",
                count(all as u64, "finding")
            )
        });
        let mut index: BTreeMap<&str, (usize, &Issue<'_>)> = BTreeMap::new();
        for issue in &issues {
            let next = index.len();
            index.entry(issue.rule).or_insert((next, issue));
        }
        let mut run = Object::new();
        run.raw("tool", &tool(&index));
        run.raw("invocations", &invocation(report, root, left_out.as_deref()));
        run.raw("originalUriBaseIds", &base());
        run.str("columnKind", "unicodeCodePoints");
        let mut automation = Object::new();
        automation.str("id", &format!("{}/", self.category.trim_end_matches('/')));
        run.raw("automationDetails", &automation.finish());
        run.raw("results", &results(&issues, &index, root));
        let mut log = Object::new();
        log.str("$schema", SCHEMA).str("version", "2.1.0").raw("runs", &format!("[{}]", run.finish()));
        (log.finish() + "\n", left_out)
    }
}

fn fitting(issues: &[Issue<'_>]) -> usize {
    let mut varying = 0;
    for (at, issue) in issues.iter().take(MAX_RESULTS).enumerate() {
        varying += 60 + issue.message.len().min(4 * MESSAGE) + issue.file.len() + issue.path.map_or(0, str::len);
        if varying > MAX_VARYING {
            return at;
        }
    }
    issues.len().min(MAX_RESULTS)
}

fn message(text: &str) -> String {
    let mut object = Object::new();
    object.str("text", text);
    object.finish()
}

fn base() -> String {
    let mut base = Object::new();
    base.raw("description", &message("The top level of the repository."));
    let mut ids = Object::new();
    ids.raw("%SRCROOT%", &base.finish());
    ids.finish()
}

fn tool(index: &BTreeMap<&str, (usize, &Issue<'_>)>) -> String {
    let mut rules: Vec<(usize, String)> = index.iter().map(|(id, (at, issue))| (*at, rule(id, issue))).collect();
    rules.sort_by_key(|(at, _)| *at);
    let rules: Vec<String> = rules.into_iter().map(|(_, rule)| rule).collect();
    let mut driver = Object::new();
    driver.str("name", "flecto").str("semanticVersion", env!("CARGO_PKG_VERSION"));
    driver.str("version", env!("CARGO_PKG_VERSION"));
    driver.str("informationUri", if HOME.is_empty() { DOCUMENTATION } else { HOME });
    driver.raw("rules", &format!("[{}]", rules.join(",")));
    let mut tool = Object::new();
    tool.raw("driver", &driver.finish());
    tool.finish()
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warn => "warning",
        Severity::Info => "note",
    }
}

/// A rule's descriptor. Nothing in it varies with what was found, or alerts would change their names from run to run.
fn rule(id: &str, issue: &Issue<'_>) -> String {
    let text = RuleText::of(issue);
    let mut object = Object::new();
    object.str("id", id);
    // A name is optional, and one that equals the id but for case, in any script, is a fault (SARIF1001).
    let name = shorten(&pascal(issue.rule), NAME).into_owned();
    let other = !name.is_empty() && name.to_lowercase() != id.to_lowercase();
    object.opt_str("name", other.then_some(name.as_str()));
    object.raw("shortDescription", &message(&text.title));
    object.raw("fullDescription", &message(&text.description));
    let mut help = Object::new();
    help.str("text", &text.help).str("markdown", &text.help_markdown);
    object.raw("help", &help.finish());
    let mut configuration = Object::new();
    configuration.str("level", level(issue.severity));
    object.raw("defaultConfiguration", &configuration.finish());
    let mut properties = Object::new();
    properties
        .raw("tags", if text.security.is_some() { "[\"configuration\",\"security\"]" } else { "[\"configuration\"]" });
    properties.str("precision", "high");
    let problem = match issue.severity {
        Severity::Error => "error",
        Severity::Warn => "warning",
        Severity::Info => "recommendation",
    };
    properties.str("problem.severity", problem);
    properties.opt_str("security-severity", text.security);
    object.raw("properties", &properties.finish());
    object.finish()
}

/// `pool-size-doubled` → `PoolSizeDoubled`: SARIF wants a name that is not the id.
fn pascal(id: &str) -> String {
    let words = id.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words
        .map(|word| {
            let mut chars = word.chars();
            chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
        })
        .collect::<String>()
}

fn invocation(report: &Report, root: &Root, left_out: Option<&str>) -> String {
    let mut notes: Vec<String> = Vec::new();
    for file in &report.files {
        if let Some(error) = file.error() {
            let mut note = Object::new();
            note.str("level", "error").raw("message", &message(&brackets(&format!("This file was {error}."))));
            note.raw(
                "locations",
                &format!("[{{\"physicalLocation\":{}}}]", physical(&file.name, None, None, None, root)),
            );
            notes.push(note.finish());
        }
    }
    let said = report.incomplete.as_ref().map(|reason| format!("The report is incomplete: {reason}."));
    for text in said.as_deref().into_iter().chain(left_out) {
        let mut note = Object::new();
        note.str("level", "error").raw("message", &message(&brackets(text)));
        notes.push(note.finish());
    }
    let mut invocation = Object::new();
    invocation.bool("executionSuccessful", report.incomplete.is_none());
    if !notes.is_empty() {
        invocation.raw("toolExecutionNotifications", &format!("[{}]", notes.join(",")));
    }
    format!("[{}]", invocation.finish())
}

fn results(issues: &[Issue<'_>], index: &BTreeMap<&str, (usize, &Issue<'_>)>, root: &Root) -> String {
    let mut out = String::from("[");
    let mut lines_taken: HashSet<(&str, &str, &str)> = HashSet::new();
    for (at, issue) in issues.iter().enumerate() {
        out.push_str(if at == 0 { "\n" } else { ",\n" });
        let id = issue.rule;
        let rule_index = index.get(id).map_or(0, |(at, _)| *at as u64);
        let own_line = issue.line_hash.filter(|hash| lines_taken.insert((id, issue.file, hash)));
        // By the file's place in the repository: two jobs that run in two folders may both have an `app.yaml`.
        let file = root.path(issue.file);
        let semantic = fingerprint(&[id, &file, issue.document.unwrap_or(""), issue.path.unwrap_or("")]);
        let mut result = Object::new();
        result.str("ruleId", id).uint("ruleIndex", rule_index).str("level", level(issue.severity));
        // A filter of the user's may say nothing; the service takes no empty message.
        let said = if issue.message.trim().is_empty() { "The rule fired; it says no more." } else { &issue.message };
        result.raw("message", &message(&brackets(&shorten(said, MESSAGE))));
        let mut location = Object::new();
        location.raw("physicalLocation", &physical(issue.file, issue.line, issue.column, issue.end_line, root));
        if let Some(place) = issue.place() {
            let mut logical = Object::new();
            logical.str("fullyQualifiedName", &place);
            location.raw("logicalLocations", &format!("[{}]", logical.finish()));
        }
        result.raw("locations", &format!("[{}]", location.finish()));
        let mut prints = Object::new();
        match own_line {
            Some(hash) => prints.str("primaryLocationLineHash", hash),
            None => prints.str("primaryLocationLineHash", &format!("{}:1", &semantic[..16])),
        };
        prints.str("flecto/v1", &semantic);
        result.raw("partialFingerprints", &prints.finish());
        if let Some(accepted) = issue.accepted {
            let mut suppression = Object::new();
            suppression.str("kind", "external").str("status", "accepted");
            suppression.opt_str("justification", reason(accepted));
            result.raw("suppressions", &format!("[{}]", suppression.finish()));
        }
        out.push_str(&result.finish());
    }
    out.push_str(if issues.is_empty() { "]" } else { "\n]" });
    out
}

fn physical(file: &str, line: Option<u64>, column: Option<u64>, end_line: Option<u64>, root: &Root) -> String {
    let uri = root.uri(file);
    let mut artifact = Object::new();
    artifact.str("uri", &uri);
    if !uri.starts_with("file:") {
        artifact.str("uriBaseId", "%SRCROOT%");
    }
    // A whole file has no region of its own, and GitHub wants one.
    let mut region = Object::new();
    region.uint("startLine", line.unwrap_or(1));
    if line.is_some() {
        region.opt_uint("startColumn", column);
        region.opt_uint("endLine", end_line.filter(|end| line.is_some_and(|start| *end > start)));
    }
    let mut physical = Object::new();
    physical.raw("artifactLocation", &artifact.finish()).raw("region", &region.finish());
    physical.finish()
}

/// `[text](1)` in a message is a link to a related location, so the brackets of a foreign text are escaped (3.11.6).
fn brackets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut slashes = 0;
    for (at, c) in text.char_indices() {
        if c == ']' && text[at + 1..].starts_with('(') {
            out.extend(std::iter::repeat_n('\\', slashes + 1));
        }
        slashes = if c == '\\' { slashes + 1 } else { 0 };
        out.push(c);
    }
    out
}

/// 128 bits in hex that depend on the parts and on nothing else.
pub(super) fn fingerprint(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().take(16).fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_text_holds_no_link() {
        assert_eq!(brackets("a [b](1) {0} [c]"), "a [b\\](1) {0} [c]");
        assert_eq!(brackets("[b\\](1)"), "[b\\\\\\](1)");
    }

    #[test]
    fn names_are_pascal() {
        assert_eq!(pascal("pool-size_doubled"), "PoolSizeDoubled");
    }
}
