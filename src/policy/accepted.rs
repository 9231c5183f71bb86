//! Which findings did a person accept, and why? `.flecto-accepted.json`, and what a comment beside a value says.
//!
//! The file is an action's result: `flecto accept` writes it, a person commits it. It is sorted, so that two branches that
//! accept different things merge.
//!
//! ```json
//! {"accepted":[
//!   {"rule":"pool-size-jump","file":"config/prod.yaml","path":"db.pool_size","reason":"load test of May","date":"2026-05-04"}
//! ]}
//! ```

use super::OWN_PACK;
use crate::document::{Data, Format};
use crate::fields::{self, BadFile};
use crate::json::Object;
use crate::path::Path;
use crate::record::{Finding, Severity};
use crate::value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The file's usual name.
pub const FILE_NAME: &str = ".flecto-accepted.json";

/// What identifies a finding: who accepts one accepts it at this place, until the place changes its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The document in it.
    pub document: Option<String>,
    /// The path.
    pub path: String,
    /// The rule.
    pub rule: String,
}

impl Place {
    /// That of a finding.
    pub fn of(finding: &Finding) -> Place {
        Place {
            file: finding.file.clone(),
            document: finding.document.clone(),
            path: finding.path.clone(),
            rule: finding.rule.clone(),
        }
    }
}

impl std::fmt::Display for Place {
    /// `a.yaml: db.pool_size (pool-size-jump)`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.file)?;
        if let Some(document) = &self.document {
            write!(f, "{document} ")?;
        }
        write!(f, "{} ({})", self.path, self.rule)
    }
}

/// Why a finding was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    /// The person's words.
    pub reason: String,
    /// The day that the person gave, `2026-05-04`.
    pub date: String,
}

/// The accepted findings.
#[derive(Clone, Debug, Default)]
pub struct Accepted {
    entries: BTreeMap<Place, Acceptance>,
    met: BTreeSet<Place>,
}

impl Accepted {
    /// Reads the file.
    ///
    /// # Errors
    /// What is wrong with it first, with its place: an entry without a reason among it.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Accepted, BadFile> {
        fields::document(name, Format::Json, bytes, |source, root| {
            let top = source.fields(root, "the accepted findings", &["accepted"])?;
            let list = top.need("accepted")?;
            let Data::List(items) = &list.data else {
                return source.fail_at(list, "`accepted` is no list; write one of entries");
            };
            let mut out = Accepted::default();
            for item in items {
                const KEYS: &[&str] = &["rule", "file", "document", "path", "reason", "date"];
                let entry = source.fields(item, "an accepted finding", KEYS)?;
                let text = |key: &'static str| source.str(entry.need(key)?, key).map(str::to_string);
                let document = entry.get("document").map(|node| source.str(node, "document")).transpose()?;
                let place = Place {
                    file: text("file")?,
                    document: document.map(str::to_string),
                    path: text("path")?,
                    rule: text("rule")?,
                };
                let acceptance = Acceptance { reason: text("reason")?, date: text("date")? };
                if acceptance.reason.trim().is_empty() {
                    return source.fail_at(item, "an accepted finding with an empty reason; say why");
                }
                if !is_date(&acceptance.date) {
                    return source.fail_at(item, "an accepted finding whose `date` is no day; write YYYY-MM-DD");
                }
                if out.entries.insert(place, acceptance).is_some() {
                    return source.fail_at(item, "an accepted finding that is there twice; take one out");
                }
            }
            Ok(out)
        })
    }

    /// Whether nothing is accepted.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Why a finding is accepted, if it is; and remembers that it occurred.
    pub fn meet(&mut self, finding: &Finding) -> Option<&Acceptance> {
        let place = Place::of(finding);
        let acceptance = self.entries.get(&place)?;
        self.met.insert(place);
        Some(acceptance)
    }

    /// Those that were not met, in order.
    pub fn stale(&self) -> Vec<&Place> {
        self.entries.keys().filter(|place| !self.met.contains(*place)).collect()
    }

    /// Accepts one more, or gives an accepted one another reason.
    ///
    /// # Errors
    /// No reason, or a date that is none, as a sentence.
    pub fn add(&mut self, place: Place, acceptance: Acceptance) -> Result<(), &'static str> {
        if acceptance.reason.trim().is_empty() {
            return Err("an empty reason; say why the finding is accepted");
        }
        if !is_date(&acceptance.date) {
            return Err("a date that is none; write YYYY-MM-DD");
        }
        self.entries.insert(place, acceptance);
        Ok(())
    }

    /// Takes one out; whether it was there.
    pub fn remove(&mut self, place: &Place) -> bool {
        self.entries.remove(place).is_some()
    }

    /// The accepted findings, sorted.
    pub fn entries(&self) -> impl Iterator<Item = (&Place, &Acceptance)> {
        self.entries.iter()
    }

    /// The file's text: an entry a line, sorted by file, document, path and rule.
    pub fn to_text(&self) -> String {
        let lines: Vec<String> = self
            .entries
            .iter()
            .map(|(place, acceptance)| {
                let mut object = Object::new();
                object.str("rule", &place.rule).str("file", &place.file).opt_str("document", place.document.as_deref());
                object.str("path", &place.path).str("reason", &acceptance.reason).str("date", &acceptance.date);
                format!("  {}", object.finish())
            })
            .collect();
        format!("{{\"accepted\":[\n{}\n]}}\n", lines.join(",\n"))
    }
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let number = |range: std::ops::Range<usize>| text.get(range).and_then(|part| part.parse::<u32>().ok());
    bytes.len() == 10
        && bytes[4] == b'-'
        && bytes[7] == b'-'
        && bytes.iter().enumerate().all(|(at, b)| at == 4 || at == 7 || b.is_ascii_digit())
        && number(5..7).is_some_and(|month| (1..=12).contains(&month))
        && number(8..10).is_some_and(|day| (1..=31).contains(&day))
}

/// The finding that the accepted findings differ in what they say from those that count, if they do: in the head's file,
/// which accepts nothing before it is merged. `base` and `head` are what the two files hold.
pub fn changed(name: &str, base: Option<&[u8]>, head: Option<&[u8]>) -> Option<Finding> {
    if base == head {
        return None;
    }
    let read =
        |bytes: Option<&[u8]>| bytes.map_or_else(|| Ok(Accepted::default()), |bytes| Accepted::read(name, bytes));
    let what = match (read(base), read(head)) {
        (_, Err(_)) => "the file cannot be read, so every run would fail once this is merged.".to_string(),
        (Err(_), Ok(_)) => "the baseline's file cannot be read, this one can.".to_string(),
        (Ok(old), Ok(new)) => {
            let others = |from: &Accepted, to: &Accepted| {
                let is_new = |(place, why): &(&Place, &Acceptance)| from.entries.get(*place) != Some(*why);
                to.entries.iter().filter(is_new).map(|(place, _)| place.to_string()).collect::<Vec<_>>()
            };
            let gone: Vec<String> =
                old.entries.keys().filter(|place| !new.entries.contains_key(*place)).map(Place::to_string).collect();
            let list = |word: &str, places: Vec<String>| {
                let more = places.len().saturating_sub(MAX_NAMED);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let some = places.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
                (!places.is_empty()).then(|| format!("{word} {some}{more}"))
            };
            let parts = [list("accepted:", others(&old, &new)), list("no longer accepted:", gone)];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            if parts.is_empty() {
                return None;
            }
            format!("{}.", parts.join("; "))
        }
    };
    let message = format!("The accepted findings change, with effect once this is merged: {what}");
    let message = crate::text::shorten(&message, MAX_MESSAGE).into_owned();
    Some(Finding { pack: Some(OWN_PACK.into()), message, ..Finding::about(name, CHANGED, Severity::Warn) })
}

/// The rule of the finding that the accepted findings change.
pub const CHANGED: &str = "flecto-accepted-changed";

/// How many entries that sentence names of a kind, and how long it may be, in characters.
const MAX_NAMED: usize = 5;
const MAX_MESSAGE: usize = 1000;

/// An acceptance that stands in a comment beside a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inline {
    /// The rule, or `pack/rule`.
    pub(super) rule: String,
    /// The person's words; none make it worthless.
    pub(super) reason: Option<String>,
    /// Of which part of the change it speaks; `None` for all of it.
    pub(super) path: Option<Path>,
    /// The comment's line.
    pub(super) line: Option<u64>,
}

impl Inline {
    /// Whether it speaks of this rule.
    pub(super) fn names(&self, finding: &Finding) -> bool {
        let own = self.rule.strip_suffix(finding.rule.as_str());
        own.is_some_and(|pack| {
            pack.is_empty() || pack.strip_suffix('/').is_some_and(|pack| finding.pack.as_deref() == Some(pack))
        })
    }
}

/// Those of a change's `accept` field: one, or a list of them. One that says of which part it speaks, and not how a path is
/// written, speaks of none.
pub(super) fn inline(accept: Option<&Value>) -> Vec<Inline> {
    let one = |value: &Value| {
        let reason = value.get("reason").and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
        let path = match value.get("path") {
            Some(path) => Some(Path::parse(path.as_str()?).ok()?),
            None => None,
        };
        let line = match value.get("line") {
            Some(Value::Number(text)) => text.parse().ok(),
            _ => None,
        };
        let rule = value.get("rule")?.as_str()?.to_string();
        Some(Inline { rule, reason: reason.map(str::to_string), path, line })
    };
    match accept {
        Some(Value::List(items)) => items.iter().filter_map(one).collect(),
        Some(value) => one(value).into_iter().collect(),
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(rule: &str, path: &str) -> Place {
        Place { file: "a.yaml".into(), document: None, path: path.into(), rule: rule.into() }
    }

    #[test]
    fn what_is_written_reads_back_sorted() {
        let mut accepted = Accepted::default();
        let why = |reason: &str| Acceptance { reason: reason.into(), date: "2026-05-04".into() };
        accepted.add(place("b", "z"), why("later \"quoted\"")).expect("fine");
        accepted.add(place("a", "a"), why("first")).expect("fine");
        assert!(accepted.add(place("a", "b"), why("  ")).is_err());
        let text = accepted.to_text();
        let read = Accepted::read(FILE_NAME, text.as_bytes()).expect("our own file");
        assert_eq!(read.to_text(), text);
        assert!(text.find("first") < text.find("later"));
        assert_eq!(read.stale().len(), 2);
    }

    #[test]
    fn what_the_heads_file_would_accept_is_said() {
        let file = |entries: &[(&str, &str)]| {
            let mut accepted = Accepted::default();
            for (rule, reason) in entries {
                let why = Acceptance { reason: (*reason).into(), date: "2026-05-04".into() };
                accepted.add(place(rule, "x"), why).expect("fine");
            }
            accepted.to_text().into_bytes()
        };
        let said = |base: Option<&[u8]>, head: Option<&[u8]>| changed(FILE_NAME, base, head).map(|f| f.message);
        let base = file(&[("a", "so"), ("b", "so")]);
        assert_eq!(said(Some(&base), Some(&base)), None);
        let spread = String::from_utf8_lossy(&base).replace(',', " ,\n").into_bytes();
        assert_eq!(said(Some(&base), Some(&spread)), None, "layout is no difference");
        let other = said(Some(&base), Some(&file(&[("b", "other"), ("c", "so")]))).expect("a finding");
        assert!(
            other.ends_with("accepted: a.yaml: x (b), a.yaml: x (c); no longer accepted: a.yaml: x (a)."),
            "{other}"
        );
        assert!(said(None, Some(&base)).is_some_and(|text| text.contains("accepted: a.yaml: x (a)")));
        assert!(said(Some(&base), None).is_some_and(|text| text.contains("no longer accepted: a.yaml: x (a)")));
        assert!(said(Some(&base), Some(b"{")).is_some_and(|text| text.contains("every run would fail")));
        assert!(said(None, None).is_none());
    }

    #[test]
    fn an_entry_needs_a_reason_a_date_and_known_keys() {
        let read = |entry: &str| {
            let text = format!("{{\"accepted\": [{entry}]}}");
            Accepted::read("x.json", text.as_bytes()).expect_err(entry).to_string()
        };
        let good = r#""rule":"r","file":"f","path":"p","date":"2026-05-04""#;
        assert!(read(&format!("{{{good}}}")).contains("without `reason`"));
        assert!(read(&format!("{{{good},\"reason\":\" \"}}")).contains("empty reason"));
        assert!(read(r#"{"rule":"r","file":"f","path":"p","date":"May","reason":"x"}"#).contains("YYYY-MM-DD"));
        assert_eq!(
            read(&format!("{{{good},\"reazon\":\"x\"}}")),
            "x.json:1:69: unknown key `reazon` in an accepted finding; did you mean `reason`?"
        );
    }
}
