//! What would a change do to the settings and to the packs? A sentence for a finding; layout is no difference.

use super::read::read;
use super::{Section, Settings};
use crate::json;
use crate::pattern::Pattern;
use crate::record::{Finding, Severity};
use crate::rules::{self, Pack};
use crate::text;
use std::collections::{BTreeMap, BTreeSet};

/// The rule of the finding that the settings change.
pub const CHANGED: &str = "flecto-settings-changed";

/// One side's settings file, for [`changed`].
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it holds.
    pub bytes: &'a [u8],
}

/// The finding that the head's settings differ from the base's in what they say, if they do. Layout is no difference.
pub fn changed(base: Option<Side<'_>>, head: Option<Side<'_>>, formats: &[&str]) -> Option<Finding> {
    let name = head.or(base)?.name;
    let read_side = |side: Option<Side<'_>>| match side {
        Some(side) => read(side.name, side.bytes, formats).map(|settings| settings.lines()),
        None => Ok(BTreeMap::new()),
    };
    let what = match (read_side(base), read_side(head)) {
        (_, Err(error)) => {
            let place = error.place.map_or_else(String::new, |at| format!(" (line {}, column {})", at.line, at.column));
            format!("They cannot be read{place}, so every run would fail once this is merged.")
        }
        (Err(_), Ok(_)) => "Those of the baseline cannot be read, these can.".to_string(),
        (Ok(old), Ok(new)) if old == new => return None,
        (Ok(old), Ok(new)) => differences(&old, &new),
    };
    Some(finding(name, &format!("The settings change, with effect once this is merged: {what}")))
}

/// The finding that a pack of the repository's own differs in what it says, if it does.
pub fn pack_changed(name: &str, base: Option<&[u8]>, head: Option<&[u8]>) -> Option<Finding> {
    if base == head {
        return None;
    }
    let read = |bytes: Option<&[u8]>| bytes.map(|bytes| rules::read_pack(name, bytes));
    let what = match (read(base), read(head)) {
        (_, Some(Err(_))) => "it cannot be read, so every run would fail once this is merged.".to_string(),
        (Some(Err(_)), Some(Ok(_))) => "the baseline's cannot be read, this one can.".to_string(),
        (Some(Ok(_)) | Some(Err(_)), None) => "it is removed.".to_string(),
        (None, Some(Ok(pack))) => format!("it is new, with {}.", text::count(pack.rules.len() as u64, "rule")),
        (Some(Ok(old)), Some(Ok(new))) => rule_differences(&old, &new)?,
        (None, None) => return None,
    };
    Some(finding(name, &format!("A pack of rules changes, with effect once this is merged: {what}")))
}

fn finding(name: &str, message: &str) -> Finding {
    let message = text::shorten(message, MAX_MESSAGE).into_owned();
    Finding { pack: Some("flecto".into()), message, ..Finding::about(name, CHANGED, Severity::Warn) }
}

/// How long the sentence about changed settings may be, in characters. What is beyond it is in the diff of the file.
const MAX_MESSAGE: usize = 1000;

fn differences(old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> String {
    let quote = |text: &str| json::string(&text::shorten(text, 120));
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let parts = keys.into_iter().filter_map(|key| match (old.get(key), new.get(key)) {
        (Some(old), Some(new)) if old == new => None,
        (Some(old), Some(new)) => Some(format!("{key} from {} to {}", quote(old), quote(new))),
        (Some(old), None) => Some(format!("{key} is no longer set (was {})", quote(old))),
        (None, Some(new)) => Some(format!("{key} is set to {}", quote(new))),
        (None, None) => None,
    });
    format!("{}.", parts.collect::<Vec<_>>().join("; "))
}

fn rule_differences(old: &Pack, new: &Pack) -> Option<String> {
    // The parsed rules, not their text, so that layout and comments are no change; `Debug` shows every field.
    let texts = |pack: &Pack| -> BTreeMap<String, String> {
        let one = |rule: &rules::Rule| {
            let mut rule = rule.clone();
            for example in rule.fires.iter_mut().chain(&mut rule.quiet) {
                example.line = 0;
            }
            (rule.id.clone(), format!("{rule:?}"))
        };
        pack.rules.iter().map(one).collect()
    };
    let (olds, news) = (texts(old), texts(new));
    let list = |word: &str, ids: Vec<&String>| {
        let ids: Vec<&str> = ids.into_iter().map(String::as_str).collect();
        (!ids.is_empty()).then(|| format!("{word} {}", ids.join(", ")))
    };
    let gone = olds.keys().filter(|id| !news.contains_key(*id)).collect();
    let added = news.keys().filter(|id| !olds.contains_key(*id)).collect();
    let others =
        news.iter().filter(|(id, text)| olds.get(*id).is_some_and(|old| old != *text)).map(|(id, _)| id).collect();
    let mut parts: Vec<String> = [list("rules gone:", gone), list("rules new:", added), list("rules changed:", others)]
        .into_iter()
        .flatten()
        .collect();
    if format!("{:?}", old.fits) != format!("{:?}", new.fits) {
        parts.push("the files that it fits".into());
    }
    (!parts.is_empty()).then(|| format!("{}.", parts.join("; ")))
}

impl Settings {
    /// Every setting as a line of text, for comparing two files: `profiles.prod.failOn` and `policy,error`.
    fn lines(&self) -> BTreeMap<String, String> {
        let mut out = BTreeMap::new();
        self.defaults.lines("", &mut out);
        for (name, section) in &self.profiles {
            out.insert(format!("profiles.{name}"), "there".into());
            section.lines(&format!("profiles.{name}."), &mut out);
        }
        out
    }
}

impl Section {
    fn lines(&self, prefix: &str, out: &mut BTreeMap<String, String>) {
        let mut put = |key: &str, text: String| out.insert(format!("{prefix}{key}"), text);
        for (key, globs) in [("files", &self.files), ("include", &self.include), ("exclude", &self.exclude)] {
            if let Some(globs) = globs {
                put(key, globs.join(","));
            }
        }
        if let Some(policies) = &self.policies {
            put("policies", policies.words().join(","));
        }
        if let Some(fail_on) = &self.fail_on {
            put("failOn", fail_on.words().join(","));
        }
        for adjustment in &self.severity {
            let text = adjustment.to_string();
            let (rule, level) = text.split_once('=').unwrap_or((&text, ""));
            put(&format!("severity.{rule}"), level.to_string());
        }
        if let Some(patterns) = &self.ignore {
            put("ignore", patterns.iter().map(Pattern::as_str).collect::<Vec<_>>().join(","));
        }
        for (pattern, keys) in &self.list_keys {
            put(&format!("listKeys.{pattern}"), keys.join(","));
        }
        if self.mask_secrets {
            put("maskSecrets", "true".into());
        }
        if let Some(format) = &self.format {
            put("format", format.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMATS: &[&str] = &["text", "json"];

    fn side(text: &str) -> Option<Side<'_>> {
        Some(Side { name: ".flectorc", bytes: text.as_bytes() })
    }

    #[test]
    fn what_the_head_would_change_is_said() {
        let base = "defaults: {failOn: [policy, error]}\n";
        let message = |head: Option<Side<'_>>| changed(side(base), head, FORMATS).map(|finding| finding.message);
        assert_eq!(message(side("# other layout\ndefaults:\n  failOn: [policy, error]\n")), None);
        assert_eq!(
            message(side("defaults: {failOn: none, ignore: ['**']}\n")).as_deref(),
            Some(
                "The settings change, with effect once this is merged: failOn from \"policy,error\" to \"none\"; ignore is set to \"**\"."
            )
        );
        assert!(message(None).is_some_and(|m| m.contains("failOn is no longer set")));
        assert!(message(side("defaults: {failOn: eror}\n")).is_some_and(|m| m.contains("every run would fail")));
        assert!(message(side("{")).is_some_and(|m| m.contains("every run would fail")));
        assert_eq!(changed(None, None, FORMATS), None);
        let finding = changed(None, side(base), FORMATS).expect("new settings");
        assert_eq!((finding.rule.as_str(), finding.severity), (CHANGED, Severity::Warn));
        let long = format!("defaults: {{ignore: ['{}']}}\n", "a".repeat(900));
        assert!(message(side(&long)).is_some_and(|m| m.chars().count() <= MAX_MESSAGE));
    }

    #[test]
    fn what_the_heads_packs_would_change_is_said() {
        let pack = |rules: &str| format!("pack: ours\nabout: x\nrules: [{rules}]\n");
        let rule = |id: &str, severity: &str| {
            format!("{{id: {id}, severity: {severity}, match: {{key: a, after: 1}}, message: m.}}")
        };
        let base = pack(&format!("{}, {}", rule("a", "warn"), rule("b", "error")));
        let message = |head: Option<&str>| {
            pack_changed("policies/ours.yaml", Some(base.as_bytes()), head.map(str::as_bytes)).map(|f| f.message)
        };
        assert_eq!(message(Some(&format!("# layout\n{base}"))), None);
        let other = pack(&format!("{}, {}", rule("a", "info"), rule("c", "error")));
        let said = message(Some(&other)).expect("a finding");
        assert!(said.ends_with("rules gone: b; rules new: c; rules changed: a."), "{said}");
        assert!(message(None).is_some_and(|m| m.contains("removed")));
        assert!(message(Some("x: [")).is_some_and(|m| m.contains("every run would fail")));
    }
}
