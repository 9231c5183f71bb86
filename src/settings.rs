//! What does a repository want by default? `.flectorc`: which rules, which triggers, which files; never an action.
//!
//! The author of a pull request writes this file, so it can only say how to look at a diff. Whether a model is asked, whom,
//! with which key, what is posted, accepted or written, and what is compared with what, is said on the command line and in
//! the environment alone: a key that tries is refused, in every file that is looked at (see [`refused`]).
//!
//! These are pure functions from bytes; whoever calls them decides whose bytes count: the baseline commit's. What the head's
//! file would change is a finding (see [`changed`]).
//!
//! ```yaml
//! files: ["config/**/*.{yaml,yml}"]
//! defaults:
//!   policies: [auto]
//!   failOn: [policy]
//! profiles:
//!   prod:
//!     policies: [auto, strict-prod]
//!     severity: {pool-size-jump: error}
//! ```

use crate::document::{Data, Format, Key, Node};
use crate::fields::{self, BadFile, Fields, Source};
use crate::json;
use crate::pattern::Pattern;
use crate::record::{Finding, Severity};
use crate::rules::choice::{Adjustment, LEVELS, Policies};
use crate::rules::gate::FailOn;
use crate::rules::{self, Pack};
use crate::text;
use std::collections::{BTreeMap, BTreeSet};

/// The names that settings are looked for under, at the top of the repository. Two of them at once are an error: nobody
/// could say which counts.
pub const NAMES: &[&str] = &[".flectorc", ".flectorc.json", ".flectorc.yaml", ".flectorc.yml", ".flectorc.toml"];

/// The folder whose `*.yaml`, `*.yml` and `*.json` are packs of the repository's own.
pub const PACKS_DIR: &str = "policies";

/// The rule of the finding that the settings change.
pub const CHANGED: &str = "flecto-settings-changed";

/// What one file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// What holds unless a profile or the command line says otherwise.
    pub defaults: Section,
    /// Named sets of what differs from that.
    pub profiles: BTreeMap<String, Section>,
}

/// A set of settings; what is absent is not said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The targets, where the command line names none: globs.
    pub files: Option<Vec<String>>,
    /// Of the files that the targets match, only those that match one of these globs.
    pub include: Option<Vec<String>>,
    /// And none that match one of these.
    pub exclude: Option<Vec<String>>,
    /// The packs.
    pub policies: Option<Policies>,
    /// The triggers.
    pub fail_on: Option<FailOn>,
    /// Other severities, by rule.
    pub severity: Vec<Adjustment>,
    /// Paths whose changes do not count: path patterns.
    pub ignore: Option<Vec<Pattern>>,
    /// What identifies the items of the lists at these paths: fields.
    pub list_keys: Vec<(Pattern, Vec<String>)>,
    /// Whether secrets are hidden in every format. A file can turn that on, never off.
    pub mask_secrets: bool,
    /// The format of the report, one of the words that [`read`] was given.
    pub format: Option<String>,
}

const TOP: &[&str] = &["defaults", "profiles", "files", "include", "exclude"];
const SECTION: &[&str] =
    &["files", "include", "exclude", "policies", "failOn", "severity", "ignore", "listKeys", "maskSecrets", "format"];

/// Reads a settings file. `name` tells its format (one without an ending is YAML or JSON), `formats` are the words that
/// `format` can be.
///
/// # Errors
/// An action (see [`refused`]), an unknown key with the nearest known one, a value that cannot be used; each with its place.
pub fn read(name: &str, bytes: &[u8], formats: &[&str]) -> Result<Settings, BadFile> {
    fields::document(name, format_of(name, bytes)?, bytes, |source, root| {
        if let Some(error) = find_action(source, root, Level::Top) {
            return Err(error);
        }
        let top = source.fields(root, "the settings", TOP)?;
        let reader = Reader { source, formats };
        let mut defaults = match top.get("defaults") {
            Some(node) => reader.section(node)?,
            None => Section::default(),
        };
        for (key, slot) in
            [("files", &mut defaults.files), ("include", &mut defaults.include), ("exclude", &mut defaults.exclude)]
        {
            if let Some(node) = top.get(key) {
                if slot.is_some() {
                    return source.fail_at(node, format!("`{key}` stands here and in `defaults`; write it once"));
                }
                *slot = Some(reader.globs(node, key)?);
            }
        }
        let mut profiles = BTreeMap::new();
        if let Some(node) = top.get("profiles") {
            for (profile, _, node) in source.entries(node, "`profiles`")? {
                profiles.insert(profile.to_string(), reader.section(node)?);
            }
        }
        Ok(Settings { defaults, profiles })
    })
}

/// The error for the first action that a settings file tries to take, if it tries. Asked of the head's file too, which
/// otherwise counts for nothing: somebody meant it to work. A file that cannot be parsed takes no action.
pub fn refused(name: &str, bytes: &[u8]) -> Option<BadFile> {
    let format = format_of(name, bytes).ok()?;
    fields::document(name, format, bytes, |source, root| Ok(find_action(source, root, Level::Top))).ok().flatten()
}

impl Settings {
    /// What holds: the profile's settings over the defaults. A profile's list takes the place of the default one; severities
    /// and list keys are added to each other.
    ///
    /// # Errors
    /// A profile that is not there, as a sentence that names the nearest.
    pub fn resolve(&self, profile: Option<&str>) -> Result<Section, String> {
        let Some(name) = profile else { return Ok(self.defaults.clone()) };
        let Some(profile) = self.profiles.get(name) else {
            let known: Vec<&str> = self.profiles.keys().map(String::as_str).collect();
            return Err(if known.is_empty() {
                format!("no profile `{name}`: the settings have none")
            } else {
                fields::unknown("profile", name, "the settings", &known)
            });
        };
        Ok(profile.clone().over(&self.defaults))
    }

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
    /// This section, and what it does not say from `below`.
    pub fn over(self, below: &Section) -> Section {
        let mut severity = below.severity.clone();
        severity.extend(self.severity);
        let mut list_keys = below.list_keys.clone();
        list_keys.retain(|(pattern, _)| !self.list_keys.iter().any(|(own, _)| own == pattern));
        list_keys.extend(self.list_keys);
        Section {
            files: self.files.or_else(|| below.files.clone()),
            include: self.include.or_else(|| below.include.clone()),
            exclude: self.exclude.or_else(|| below.exclude.clone()),
            policies: self.policies.or_else(|| below.policies.clone()),
            fail_on: self.fail_on.or_else(|| below.fail_on.clone()),
            severity,
            ignore: self.ignore.or_else(|| below.ignore.clone()),
            list_keys,
            mask_secrets: self.mask_secrets || below.mask_secrets,
            format: self.format.or_else(|| below.format.clone()),
        }
    }

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

struct Reader<'s> {
    source: &'s Source<'s>,
    formats: &'s [&'s str],
}

impl Reader<'_> {
    fn section(&self, node: &Node<'_>) -> Result<Section, BadFile> {
        let source = self.source;
        let section = source.fields(node, "a set of settings", SECTION)?;
        let globs = |key: &'static str| section.get(key).map(|node| self.globs(node, key)).transpose();
        Ok(Section {
            files: globs("files")?,
            include: globs("include")?,
            exclude: globs("exclude")?,
            policies: self.policies(&section)?,
            fail_on: match section.get("failOn") {
                Some(node) => {
                    let words = source.strs(node, "`failOn`")?;
                    match FailOn::from_words(words.iter().map(|(word, _)| *word)) {
                        Ok(fail_on) => Some(fail_on),
                        Err(message) => return source.fail_at(node, format!("`failOn`: {message}")),
                    }
                }
                None => None,
            },
            severity: self.severity(&section)?,
            ignore: match section.get("ignore") {
                Some(node) => {
                    let texts = source.strs(node, "`ignore`")?;
                    Some(texts.into_iter().map(|(text, node)| self.pattern(text, node)).collect::<Result<_, _>>()?)
                }
                None => None,
            },
            list_keys: self.list_keys(&section)?,
            mask_secrets: match section.get("maskSecrets") {
                Some(node) if !fields::bool(source, node, "`maskSecrets`")? => {
                    return source.fail_at(
                        node,
                        "`maskSecrets: false`; a file can turn masking on, not off: take it out (--show-secrets is an option)",
                    );
                }
                found => found.is_some(),
            },
            format: match section.get("format") {
                Some(node) => Some(source.word(node, "`format`", self.formats)?.to_string()),
                None => None,
            },
        })
    }

    fn globs(&self, node: &Node<'_>, key: &str) -> Result<Vec<String>, BadFile> {
        let texts = self.source.strs(node, &format!("`{key}`"))?;
        let mut out = Vec::with_capacity(texts.len());
        for (text, node) in texts {
            let leaves = text.starts_with(['/', '\\', '~'])
                || text.split(['/', '\\']).any(|part| part == "..")
                || text.as_bytes().get(1) == Some(&b':');
            if leaves {
                return self
                    .source
                    .fail_at(node, format!("`{key}` leaves the repository; write it from its top level"));
            }
            if text.starts_with('-') || text.is_empty() {
                return self
                    .source
                    .fail_at(node, format!("`{key}` is empty or looks like an option; write ./ before it"));
            }
            out.push(text.to_string());
        }
        Ok(out)
    }

    fn policies(&self, section: &Fields<'_>) -> Result<Option<Policies>, BadFile> {
        let Some(node) = section.get("policies") else { return Ok(None) };
        let words = self.source.strs(node, "`policies`")?;
        match Policies::from_words(words.iter().map(|(word, _)| *word)) {
            Ok(policies) if policies.files.is_empty() => Ok(Some(policies)),
            Ok(_) => self
                .source
                .fail_at(node, format!("`policies` names a file; packs in {PACKS_DIR}/ are taken without being named")),
            Err(message) => self.source.fail_at(node, format!("`policies`: {message}")),
        }
    }

    fn severity(&self, section: &Fields<'_>) -> Result<Vec<Adjustment>, BadFile> {
        let Some(node) = section.get("severity") else { return Ok(Vec::new()) };
        let mut out = Vec::new();
        for (rule, place, node) in self.source.entries(node, "`severity`")? {
            // YAML 1.1 habits write `off`, which some writers and readers turn into a boolean.
            let level = match &node.data {
                Data::Bool(false) => "off",
                _ => self.source.word(node, "`severity`", LEVELS)?,
            };
            match format!("{rule}={level}").parse() {
                Ok(adjustment) => out.push(adjustment),
                Err(message) => return self.source.fail(Some(place), format!("`severity`: {message}")),
            }
        }
        Ok(out)
    }

    fn pattern(&self, text: &str, node: &Node<'_>) -> Result<Pattern, BadFile> {
        Pattern::parse(text).or_else(|error| self.source.fail_at(node, error.to_string()))
    }

    fn list_keys(&self, section: &Fields<'_>) -> Result<Vec<(Pattern, Vec<String>)>, BadFile> {
        let Some(node) = section.get("listKeys") else { return Ok(Vec::new()) };
        let mut out = Vec::new();
        for (text, place, node) in self.source.entries(node, "`listKeys`")? {
            let pattern = match Pattern::parse(text) {
                Ok(pattern) => pattern,
                Err(error) => return self.source.fail(Some(place), error.to_string()),
            };
            let keys = self.source.strs(node, "the fields of `listKeys`")?;
            out.push((pattern, keys.into_iter().map(|(key, _)| key.to_string()).collect()));
        }
        Ok(out)
    }
}

fn format_of(name: &str, bytes: &[u8]) -> Result<Format, BadFile> {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    match base.rsplit_once('.') {
        Some((_, ending @ ("json" | "yaml" | "yml" | "toml"))) => {
            let word = if ending == "yml" { "yaml" } else { ending };
            match Format::from_word(word) {
                Some(format) => Ok(format),
                None => Source { name }.fail(None, "this format cannot be read here; write YAML or JSON"),
            }
        }
        _ if bytes.trim_ascii_start().starts_with(b"{") => Ok(Format::Jsonc),
        _ => Ok(Format::Yaml),
    }
}

/// What a map's keys are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Top,
    /// Names of profiles: not settings themselves.
    Profiles,
    Settings,
    /// Names of rules, patterns: not settings themselves.
    Names,
}

/// Keys that would make flecto act, by how they begin or by their whole name, and why not. Compared in lower case without
/// `-` and `_`.
const ACTIONS: &[(&[&str], &[&str], &str)] = &[
    (
        &[
            "explain",
            "narrat",
            "provider",
            "model",
            "endpoint",
            "apiurl",
            "apikey",
            "anthropic",
            "openai",
            "maxtoken",
            "prompt",
        ],
        &["url", "key", "keys", "token", "llm", "cache", "cachedir", "timeout", "timeoutms"],
        "whether a model is asked, and which, is said on the command line or in the environment alone",
    ),
    (
        &["prcomment", "post", "comment", "webhook", "notify"],
        &["forge", "github", "gitlab"],
        "posting is asked for on the command line alone",
    ),
    (&["accept", "suppress"], &["updatebaseline"], "accepting a finding is an action on the command line"),
    (
        &["baseline", "snapshot", "configfrom"],
        &["base", "baseref", "toref", "to", "ref", "staged", "mergebase", "noindex", "config", "noconfig"],
        "what is compared with what is said on the command line alone",
    ),
    (
        &["output", "outfile"],
        &["out", "o", "report", "reportfile", "summary", "summaryfile", "directory"],
        "where something is written is said on the command line alone",
    ),
    (&["showsecret"], &["unmask"], "showing secrets is asked for on the command line alone"),
    (
        &["plugin", "exec", "command", "script"],
        &["run", "require", "extends"],
        "settings run nothing; a rule of your own is a filter or a pack",
    ),
];

fn find_action(source: &Source<'_>, node: &Node<'_>, level: Level) -> Option<BadFile> {
    let Data::Map(entries) = &node.data else { return None };
    for entry in entries {
        let Key::String(key) = &entry.key else { continue };
        if matches!(level, Level::Top | Level::Settings) {
            let plain = key.to_lowercase().replace(['-', '_', '.', ' '], "");
            let plain = plain.strip_prefix("flecto").unwrap_or(&plain).to_string();
            let action = ACTIONS.iter().find(|(starts, names, _)| {
                starts.iter().any(|start| plain.starts_with(start)) || names.contains(&plain.as_str())
            });
            if let Some((_, _, why)) = action {
                let shown = text::shorten(key, 64);
                let message = format!("`{shown}` cannot be set in a file; {why}");
                return source.fail::<()>(Some(entry.key_span.start), message).err();
            }
        }
        let below = match (level, key.as_ref()) {
            (Level::Top, "profiles") => Level::Profiles,
            (Level::Top | Level::Settings, "severity" | "listKeys") => Level::Names,
            (Level::Names, _) => continue,
            _ => Level::Settings,
        };
        if let Some(error) = find_action(source, &entry.value, below) {
            return Some(error);
        }
    }
    None
}

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
    Finding {
        file: name.to_string(),
        document: None,
        path: "$".into(),
        rule: CHANGED.into(),
        pack: Some("flecto".into()),
        severity: Severity::Warn,
        message: text::shorten(message, MAX_MESSAGE).into_owned(),
        template: None,
        before: None,
        after: None,
        line: None,
        column: None,
        end_line: None,
        before_line: None,
        accepted: None,
        line_hash: None,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    const FORMATS: &[&str] = &["text", "json"];

    fn settings(text: &str) -> Settings {
        read(".flectorc", text.as_bytes(), FORMATS).unwrap_or_else(|error| panic!("{error}"))
    }

    fn error(text: &str) -> String {
        read(".flectorc", text.as_bytes(), FORMATS).expect_err(text).to_string()
    }

    const ALL: &str = "\
files: [config/**]
exclude: config/dev/**
defaults:
  policies: auto
  failOn: [policy, added]
  severity: {pool-size-jump: error, default/dangerous-toggle-enabled: off}
  ignore: [metadata.managedFields]
  listKeys: {spec.ports: [port, protocol], users: login}
  format: json
profiles:
  explain-prod:
    failOn: none
    maskSecrets: true
    severity: {pool-size-jump: info}
";

    #[test]
    fn a_profile_lies_over_the_defaults() {
        let settings = settings(ALL);
        let base = settings.resolve(None).expect("defaults");
        assert_eq!(base.files.as_deref(), Some(&["config/**".to_string()][..]));
        assert_eq!(base.fail_on.as_ref().map(FailOn::words), Some(vec!["policy".to_string(), "added".into()]));
        assert!(!base.mask_secrets);
        let prod = settings.resolve(Some("explain-prod")).expect("a profile");
        assert_eq!(prod.fail_on.as_ref().map(FailOn::words), Some(vec!["none".to_string()]));
        assert!(prod.mask_secrets);
        let severity: Vec<String> = prod.severity.iter().map(Adjustment::to_string).collect();
        assert_eq!(severity, ["pool-size-jump=error", "default/dangerous-toggle-enabled=off", "pool-size-jump=info"]);
        assert_eq!(prod.list_keys.len(), 2);
        assert_eq!(prod.format.as_deref(), Some("json"));
        let unknown = settings.resolve(Some("explain-pord")).expect_err("no such profile");
        assert!(unknown.contains("did you mean `explain-prod`?"), "{unknown}");
    }

    #[test]
    fn json_and_yaml_say_the_same() {
        let yaml = settings("defaults: {failOn: error}\n");
        assert_eq!(settings("{\"defaults\": {\"failOn\": \"error\"}, // why\n}"), yaml);
        assert_eq!(
            read("a/.flectorc.json", b"{\"defaults\": {\"failOn\": [\"error\"]}}", FORMATS).expect("json"),
            yaml
        );
    }

    #[test]
    fn w1_explain_options_are_refused_wherever_they_stand() {
        for (text, key) in [
            ("explain: true\n", "explain"),
            ("defaults: {explainModel: m}\n", "explainModel"),
            ("defaults: {explain_dry_run: true}\n", "explain_dry_run"),
            ("profiles: {prod: {explain: true}}\n", "explain"),
            ("profiles: {prod: {EXPLAIN-provider: x}}\n", "EXPLAIN-provider"),
            ("defaults: {failOn: {explain: 1}}\n", "explain"),
            ("unknown: {deep: {explainKey: 1}}\n", "explainKey"),
            ("{\"explain\": null}", "explain"),
            ("explain: &a {}\ndefaults: *a\n", "explain"),
        ] {
            let message = error(text);
            assert!(message.contains(&format!("`{key}` cannot be set in a file")), "{text}: {message}");
            assert!(message.starts_with(".flectorc:1:"), "{message}");
            assert_eq!(refused(".flectorc", text.as_bytes()).map(|e| e.to_string()), Some(message), "the head too");
        }
    }

    #[test]
    fn w2_no_action_is_taken_from_a_file() {
        for key in [
            "provider",
            "model",
            "endpoint",
            "apiUrl",
            "apiKey",
            "key",
            "token",
            "prCommentPost",
            "post",
            "accept",
            "acceptInline",
            "accepted",
            "baseline",
            "snapshotRef",
            "toRef",
            "output",
            "outputFile",
            "o",
            "showSecrets",
            "cacheDir",
            "configFrom",
            "plugins",
            "ANTHROPIC_API_KEY",
            "FLECTO_EXPLAIN_MODEL",
            "updateBaseline",
            "timeoutMs",
        ] {
            for text in
                [format!("{key}: x\n"), format!("defaults:\n  {key}: x\n"), format!("profiles:\n  p:\n    {key}: x\n")]
            {
                let message = error(&text);
                assert!(message.contains(&format!("`{key}` cannot be set in a file")), "{text}: {message}");
            }
        }
    }

    #[test]
    fn w5_what_is_malformed_is_named_with_its_place() {
        for (text, says) in [
            ("defaults:\n  failon: none\n", ":2:3: unknown key `failon` in a set of settings; did you mean `failOn`?"),
            ("default: {}\n", ":1:1: unknown key `default` in the settings; did you mean `defaults`?"),
            ("defaults: {failOn: eror}\n", ":1:20: `failOn`: unknown trigger `eror`"),
            ("defaults: {failOn: []}\n", "an empty list"),
            ("defaults: {failOn: 1}\n", "a number where `failOn` is expected"),
            ("defaults: {policies: defualt}\n", "did you mean `default`?"),
            ("defaults: {policies: ./ours.yaml}\n", "names a file"),
            ("defaults: {severity: {a: fatal}}\n", "unknown word `fatal`"),
            ("defaults: {ignore: 'a..b'}\n", "no path pattern"),
            ("defaults: {maskSecrets: false}\n", "not off"),
            ("defaults: {maskSecrets: 1}\n", "write true or false"),
            ("defaults: {format: txt}\n", "did you mean `text`?"),
            ("files: [../x]\n", "leaves the repository"),
            ("files: [/etc/passwd]\n", "leaves the repository"),
            ("files: ['C:/x']\n", "leaves the repository"),
            ("files: ['--output=x']\n", "looks like an option"),
            ("files: [a]\ndefaults: {files: [b]}\n", "write it once"),
            ("[]\n", "a list where the settings is expected"),
            ("defaults: {}\n---\nprofiles: {}\n", "second document"),
        ] {
            let message = error(text);
            assert!(message.contains(says), "{text}: {message}");
        }
    }

    #[test]
    fn hostile_settings_end_at_once() {
        let start = std::time::Instant::now();
        let mut bomb = String::from("a0: &a0 [x, x]\n");
        for at in 1..60 {
            bomb.push_str(&format!("a{at}: &a{at} [*a{0}, *a{0}]\n", at - 1));
        }
        for text in [bomb, "[".repeat(100_000), "{".repeat(100_000), "a: ".repeat(100_000), "x".repeat(3 << 20)] {
            assert!(read(".flectorc", text.as_bytes(), FORMATS).is_err());
            assert_eq!(refused(".flectorc", text.as_bytes()), None);
        }
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    }

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
