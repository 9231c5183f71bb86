//! What does a settings file say? From bytes to [`Settings`], each mistake with its place.

use super::actions::{Level, find_action};
use super::{PACKS_DIR, Section, Settings};
use crate::document::{Data, Format, Node};
use crate::fields::{self, BadFile, Fields, Source};
use crate::pattern::Pattern;
use crate::rules::choice::{Adjustment, LEVELS, Policies};
use crate::rules::gate::FailOn;
use std::collections::BTreeMap;

const TOP: &[&str] = &["defaults", "profiles", "files", "include", "exclude"];
const SECTION: &[&str] =
    &["files", "include", "exclude", "policies", "failOn", "severity", "ignore", "listKeys", "maskSecrets", "format"];

/// Reads a settings file. `name` tells its format (one without an ending is YAML or JSON), `formats` are the words that
/// `format` can be.
///
/// # Errors
/// An action (see [`super::refused`]), an unknown key with the nearest known one, a value that cannot be used; each with its place.
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

pub(super) fn format_of(name: &str, bytes: &[u8]) -> Result<Format, BadFile> {
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

#[cfg(test)]
mod tests {
    use super::super::refused;
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
}
