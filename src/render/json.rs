//! What does a script read? One JSON document, indented by two, written while it is read.
//!
//! ```json
//! { "version": 1, "baseline": "origin/main",
//!   "files": [{ "file": "…", "status": "modified", …, "changes": [{…}], "findings": [{…}] }],
//!   "verdict": {…}, "counts": {"files": 1, "differing": 1, "changes": 2, "errors": 0}, "complete": true }
//! ```
//!
//! A record is here with all its fields, also those that flecto does not know, less its `type`. `verdict` is there when a
//! gate judged, `narration` when a model said something, `warnings` when a stage had any, `incomplete` says why `complete`
//! is false. A stream that breaks off still makes a whole document.

use super::read::{Ending, View};
use crate::json::{self as wire, Object};
use crate::record::{Change, File, Finding, Record, Start, VERSION, Verdict};
use crate::stream::Writer;
use std::io::{self, Write};

pub(super) struct Document<'w, W: Write> {
    out: &'w mut Writer<W>,
    opened: bool,
    files: u64,
    current: Option<Group>,
    verdict: Option<String>,
    warnings: Vec<String>,
    narration: Option<Record>,
}

struct Group {
    head: String,
    changes: Vec<String>,
    findings: Vec<String>,
}

/// Names that the document itself gives; a `start` record's own fields stay clear of them.
const OURS: [&str; 8] = ["type", "files", "verdict", "counts", "complete", "incomplete", "warnings", "narration"];

impl<'w, W: Write> Document<'w, W> {
    pub(super) fn new(out: &'w mut Writer<W>) -> Document<'w, W> {
        Document { out, opened: false, files: 0, current: None, verdict: None, warnings: Vec::new(), narration: None }
    }

    fn open(&mut self, head: &str) -> io::Result<()> {
        if !self.opened {
            self.opened = true;
            let mut text = String::new();
            indented(head, 0, &mut text);
            self.out.raw(text.trim_end_matches("\n}"))?;
            self.out.raw(",\n  \"files\": [")?;
        }
        Ok(())
    }

    /// A stream without `start` has a document without `baseline`.
    fn open_anyway(&mut self) -> io::Result<()> {
        let mut head = Object::new();
        head.uint("version", VERSION);
        self.open(&head.finish())
    }

    fn flush_file(&mut self) -> io::Result<()> {
        let Some(group) = self.current.take() else { return Ok(()) };
        self.open_anyway()?;
        self.out.raw(if self.files == 0 { "\n    " } else { ",\n    " })?;
        self.files += 1;
        let mut file = group.head;
        file.pop();
        if file.len() > 1 {
            file.push(',');
        }
        file.push_str("\"changes\":[");
        file.push_str(&group.changes.join(","));
        file.push_str("],\"findings\":[");
        file.push_str(&group.findings.join(","));
        file.push_str("]}");
        let mut text = String::new();
        indented(&file, 4, &mut text);
        self.out.raw(&text)
    }

    fn member(&mut self, key: &str, json: &str) -> io::Result<()> {
        let mut text = format!(",\n  \"{key}\": ");
        indented(json, 2, &mut text);
        self.out.raw(&text)
    }
}

impl<W: Write> View for Document<'_, W> {
    fn start(&mut self, _start: &Start, record: &Record) -> io::Result<()> {
        self.open(&without(record, &OURS))
    }

    fn file(&mut self, name: &str, told: Option<(&File, &Record)>) -> io::Result<()> {
        self.flush_file()?;
        let head = match told {
            Some((_, record)) => without(record, &["type", "changes", "findings"]),
            None => {
                let mut head = Object::new();
                head.str("file", name);
                head.finish()
            }
        };
        self.current = Some(Group { head, changes: Vec::new(), findings: Vec::new() });
        Ok(())
    }

    fn change(&mut self, _change: &Change, record: &Record) -> io::Result<()> {
        if let Some(group) = &mut self.current {
            group.changes.push(without(record, &["type"]));
        }
        Ok(())
    }

    fn finding(&mut self, _finding: &Finding, record: &Record) -> io::Result<()> {
        if let Some(group) = &mut self.current {
            group.findings.push(without(record, &["type"]));
        }
        Ok(())
    }

    fn verdict(&mut self, _verdict: &Verdict, record: &Record) -> io::Result<()> {
        self.verdict = Some(without(record, &["type"]));
        Ok(())
    }

    fn warning(&mut self, _message: &str, record: &Record) -> io::Result<()> {
        self.warnings.push(without(record, &["type"]));
        Ok(())
    }

    fn narration(&mut self, record: &Record) -> io::Result<()> {
        super::narration::gather(&mut self.narration, record);
        Ok(())
    }

    fn finish(&mut self, ending: &Ending) -> io::Result<()> {
        self.flush_file()?;
        self.open_anyway()?;
        self.out.raw(if self.files == 0 { "]" } else { "\n  ]" })?;
        if let Some(verdict) = self.verdict.take() {
            self.member("verdict", &verdict)?;
        }
        if let Some(end) = &ending.tally.end {
            let mut counts = Object::new();
            counts.uint("files", end.files).uint("differing", end.differing);
            counts.uint("changes", end.changes).uint("errors", end.errors);
            self.member("counts", &counts.finish())?;
        }
        if !self.warnings.is_empty() {
            let warnings = format!("[{}]", self.warnings.join(","));
            self.member("warnings", &warnings)?;
        }
        let incomplete = ending.incomplete();
        self.member("complete", if incomplete.is_none() { "true" } else { "false" })?;
        if let Some(reason) = incomplete {
            self.member("incomplete", &wire::string(&reason))?;
        }
        if let Some(narration) = self.narration.take() {
            self.member("narration", &super::narration::with_label(&narration))?;
        }
        self.out.raw("\n}\n")
    }
}

/// A record as JSON text without some of its fields.
pub(super) fn without(record: &Record, fields: &[&str]) -> String {
    let mut object = Object::new();
    for (key, raw) in record.fields().filter(|(key, _)| !fields.contains(key)) {
        object.raw(key, raw.get());
    }
    object.finish()
}

/// Appends valid JSON indented by two, `margin` deep, and as inert as all JSON of ours.
pub(super) fn indented(json: &str, margin: usize, out: &mut String) {
    let json = wire::harden(json);
    let bytes = json.as_bytes();
    let mut depth = margin / 2;
    let mut at = 0;
    let newline = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    while let Some(&byte) = bytes.get(at) {
        let from = at;
        at += 1;
        match byte {
            b'"' => {
                while bytes.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
                out.push_str(&json[from..at]);
            }
            b' ' | b'\n' | b'\r' | b'\t' => {}
            b'{' | b'[' => {
                out.push(char::from(byte));
                while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
                    at += 1;
                }
                if matches!(bytes.get(at), Some(b'}' | b']')) {
                    out.push(char::from(bytes[at]));
                    at += 1;
                } else {
                    depth += 1;
                    newline(out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                newline(out, depth);
                out.push(char::from(byte));
            }
            b',' => {
                out.push(',');
                newline(out, depth);
            }
            b':' => out.push_str(": "),
            other => out.push(char::from(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::indented;

    #[test]
    fn indenting_touches_only_the_layout() {
        let mut out = String::new();
        indented("{\"a\" :[ ],\"b\":{},\"c\":[1,{\"x,:{\\\"\":null}] , \"d\\\\\":\"é\u{200b}\"}", 0, &mut out);
        let expected = "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"x,:{\\\"\": null\n    }\n  ],\n  \"d\\\\\": \"é\\u200b\"\n}";
        assert_eq!(out, expected);
    }
}
