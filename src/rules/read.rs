//! How is a pack read? Into rules that cannot be wrong, or into an error with its place.

use super::names::NameGlob;
use super::predicate::{Pattern as Text, Predicate, Relation, SORTS};
use super::quantity::{Quantity, UNITS, Unit};
use super::{Example, FileGlob, Fits, Growth, Pack, Rule, SecretBy, When};
use crate::document::{Data, Format, Node};
use crate::fields::{self, BadFile, Fields, Source};
use crate::path::Path;
use crate::pattern::{Glob, Pattern};
use crate::record::{Op, Severity};

/// The rules that one pack may have.
pub const MAX_RULES: usize = 1000;

/// The regular expressions that one foreign pack may have: each is compiled while it is read.
const MAX_REGEXES: usize = 200;

/// How deep `not`, `any` and `contains` may nest.
const MAX_NESTING: usize = 16;

/// Reads a pack that somebody wrote. JSON is read by the ending `.json`, everything else as YAML.
///
/// # Errors
/// What is wrong with it first, with its place.
pub fn read_pack(name: &str, bytes: &[u8]) -> Result<Pack, BadFile> {
    let format = if name.ends_with(".json") { Format::Json } else { Format::Yaml };
    read(name, format, bytes, false)
}

pub(super) fn read(name: &str, format: Format, bytes: &[u8], trusted: bool) -> Result<Pack, BadFile> {
    fields::document(name, format, bytes, |source, root| {
        let mut reader = Reader { source, trusted, regexes: 0, default_kind: None };
        reader.pack(root)
    })
}

struct Reader<'s> {
    source: &'s Source<'s>,
    trusted: bool,
    regexes: usize,
    /// The kind of the files that the pack fits: that of its examples, unless they say another.
    default_kind: Option<String>,
}

impl Reader<'_> {
    fn pack(&mut self, node: &Node<'_>) -> Result<Pack, BadFile> {
        let pack = self.source.fields(node, "a pack", &["pack", "about", "fits", "rules"])?;
        let name = self.name(pack.need("pack")?, "the pack's name")?;
        let about = self.text(pack.need("about")?, "what the pack is about")?;
        let fits = match pack.get("fits") {
            Some(node) => self.fits(node)?,
            None => Fits::default(),
        };
        self.default_kind = fits.kinds.first().cloned();
        let rules = pack.need("rules")?;
        let Data::List(items) = &rules.data else {
            return self.source.fail_at(rules, "`rules` is no list; write `- id: …` for each rule");
        };
        if items.len() > MAX_RULES {
            return self.source.fail_at(rules, format!("more than {MAX_RULES} rules; split the pack"));
        }
        let mut out: Vec<Rule> = Vec::with_capacity(items.len());
        for item in items {
            let rule = self.rule(item)?;
            if out.iter().any(|known| known.id == rule.id) {
                return self.source.fail_at(item, format!("a second rule `{}`; give each its own id", rule.id));
            }
            out.push(rule);
        }
        Ok(Pack { name, about, fits, rules: out })
    }

    fn fits(&mut self, node: &Node<'_>) -> Result<Fits, BadFile> {
        if matches!(&node.data, Data::String(word) if word == "all") {
            return Ok(Fits { all: true, ..Fits::default() });
        }
        let fits = self.source.fields(node, "`fits`", &["kinds", "files"])?;
        Ok(Fits { all: false, kinds: self.words(&fits, "kinds")?, files: self.files(&fits, "files")? })
    }

    fn rule(&mut self, node: &Node<'_>) -> Result<Rule, BadFile> {
        const KEYS: &[&str] = &["id", "severity", "match", "message", "help", "source", "fires", "quiet"];
        let rule = self.source.fields(node, "a rule", KEYS)?;
        let id = self.name(rule.need("id")?, "the rule's id")?;
        let severity = self.source.word(rule.need("severity")?, "`severity`", &["error", "warn", "info"])?;
        let matcher = rule.need("match")?;
        let when = self.when(matcher)?;
        let message = rule.need("message")?;
        let read = Rule {
            id,
            severity: Severity::from_word(severity).unwrap_or(Severity::Warn),
            when,
            message: self.text(message, "`message`")?,
            help: self.opt_text(&rule, "help")?,
            source: self.opt_text(&rule, "source")?,
            fires: self.examples(&rule, "fires")?,
            quiet: self.examples(&rule, "quiet")?,
        };
        if read.when.secret.is_some() && read.tells_values() {
            return self.source.fail_at(message, "a message that says a secret; take {before} and {after} out");
        }
        Ok(read)
    }

    fn when(&mut self, node: &Node<'_>) -> Result<When, BadFile> {
        const KEYS: &[&str] = &[
            "op", "path", "not-path", "key", "not-key", "kind", "file", "not-file", "document", "before", "after",
            "grows", "shrinks", "gains", "loses", "secret", "within", "unit",
        ];
        let when = self.source.fields(node, "`match`", KEYS)?;
        let unit = match when.get("unit") {
            Some(node) => {
                let words: Vec<&str> = UNITS.iter().map(|(word, _)| *word).collect();
                let word = self.source.word(node, "`unit`", &words)?;
                UNITS.iter().find(|(known, _)| *known == word).map_or(Unit::Number, |(_, unit)| *unit)
            }
            None => Unit::Number,
        };
        let mut out = When {
            paths: self.patterns(&when, "path")?,
            not_paths: self.patterns(&when, "not-path")?,
            keys: self.keys(&when, "key")?,
            not_keys: self.keys(&when, "not-key")?,
            kinds: self.words(&when, "kind")?,
            files: self.files(&when, "file")?,
            not_files: self.files(&when, "not-file")?,
            documents: self.words(&when, "document")?.iter().map(|text| Glob::new(text)).collect(),
            before: self.opt_predicate(&when, "before", unit)?,
            after: self.opt_predicate(&when, "after", unit)?,
            gains: self.opt_predicate(&when, "gains", unit)?,
            loses: self.opt_predicate(&when, "loses", unit)?,
            ..When::default()
        };
        out.growth = match (when.get("grows"), when.get("shrinks")) {
            (Some(node), Some(_)) => return self.source.fail_at(node, "`grows` beside `shrinks`; take one out"),
            (Some(node), None) => Some(self.growth(node, false, unit)?),
            (None, Some(node)) => Some(self.growth(node, true, unit)?),
            (None, None) => None,
        };
        if let Some(node) = when.get("secret") {
            let word = self.source.word(node, "`secret`", &["name", "shape", "text"])?;
            out.secret = Some(match word {
                "name" => SecretBy::Name,
                "shape" => SecretBy::Shape,
                _ => SecretBy::Text,
            });
        }
        if let Some(node) = when.get("within") {
            let steps = fields::scalar_text(node).and_then(|text| text.parse().ok());
            match steps {
                Some(steps) => out.within = Some(steps),
                None => return self.source.fail_at(node, "`within` is no number of steps; write 0, 1, 2, …"),
            }
        }
        let nothing = out.before.is_none()
            && out.after.is_none()
            && out.growth.is_none()
            && out.gains.is_none()
            && out.loses.is_none()
            && out.secret.is_none();
        out.ops = match when.get("op") {
            Some(node) => self.ops(node)?,
            None if nothing => {
                return self.source.fail_at(node, "`match` asks nothing of the values; add `op`, `before` or `after`");
            }
            None if out.loses.is_some() => vec![Op::Removed, Op::Changed],
            None => vec![Op::Added, Op::Changed],
        };
        if out.paths.is_empty() && out.keys.is_empty() && nothing {
            return self.source.fail_at(node, "`match` names no place; add `path` or `key` (`path: '**'` is anywhere)");
        }
        Ok(out)
    }

    fn ops(&self, node: &Node<'_>) -> Result<Vec<Op>, BadFile> {
        let words: Vec<&str> = Op::ALL.iter().map(|op| op.as_str()).collect();
        let mut out = Vec::new();
        for (_, node) in self.source.strs(node, "`op`")? {
            out.extend(Op::from_word(self.source.word(node, "`op`", &words)?));
        }
        Ok(out)
    }

    fn growth(&self, node: &Node<'_>, down: bool, unit: Unit) -> Result<Growth, BadFile> {
        let growth = self.source.fields(node, "`grows`", &["factor", "amount"])?;
        let number = |key: &str, positive: f64| match growth.get(key) {
            None => Ok(None),
            Some(node) => match fields::scalar_text(node).and_then(|text| text.parse::<f64>().ok()) {
                Some(number) if number.is_finite() && number > positive => Ok(Some(number)),
                _ => self.source.fail_at(node, format!("`{key}` is no number above {positive}")),
            },
        };
        Ok(Growth { down, factor: number("factor", 1.0)?, amount: number("amount", 0.0)?, unit })
    }

    fn opt_predicate(&mut self, when: &Fields<'_>, key: &str, unit: Unit) -> Result<Option<Predicate>, BadFile> {
        when.get(key).map(|node| self.predicate(node, unit, 0)).transpose()
    }

    /// A scalar, a list of scalars, or a map of demands.
    fn predicate(&mut self, node: &Node<'_>, unit: Unit, depth: usize) -> Result<Predicate, BadFile> {
        if depth > MAX_NESTING {
            return self.source.fail_at(node, "demands that nest too deep; take some out");
        }
        match &node.data {
            Data::Map(_) => self.demands(node, unit, depth),
            Data::List(items) if !items.is_empty() => {
                let texts: Option<Vec<&str>> = items.iter().map(fields::scalar_text).collect();
                match texts {
                    Some(texts) => Ok(Predicate::OneOf(texts.into_iter().map(str::to_string).collect())),
                    None => self.source.fail_at(node, "a list of more than scalars; use `any` for other demands"),
                }
            }
            _ => match fields::scalar_text(node) {
                Some(text) => Ok(Predicate::OneOf(vec![text.to_string()])),
                None => self.source.fail_at(
                    node,
                    format!(
                        "{} where a demand is expected; write a scalar, a list of them, or a map",
                        fields::kind(node)
                    ),
                ),
            },
        }
    }

    fn demands(&mut self, node: &Node<'_>, unit: Unit, depth: usize) -> Result<Predicate, BadFile> {
        const KEYS: &[&str] =
            &["is", "one-of", "regex", "above", "below", "at-least", "at-most", "contains", "not", "any", "all"];
        let demands = self.source.fields(node, "a demand", KEYS)?;
        let mut out = Vec::new();
        if let Some(node) = demands.get("is") {
            let words: Vec<&str> = SORTS.iter().map(|(word, _)| *word).collect();
            let mut sorts = Vec::new();
            for (_, node) in self.source.strs(node, "`is`")? {
                let word = self.source.word(node, "`is`", &words)?;
                sorts.extend(SORTS.iter().find(|(known, _)| *known == word).map(|(_, sort)| Predicate::Is(*sort)));
            }
            out.push(Predicate::Any(sorts));
        }
        if let Some(node) = demands.get("one-of") {
            out.push(self.predicate(node, unit, depth + 1)?);
        }
        if let Some(node) = demands.get("regex") {
            out.push(Predicate::Regex(self.regex(node)?));
        }
        for (key, relation) in [
            ("above", Relation::Above),
            ("below", Relation::Below),
            ("at-least", Relation::AtLeast),
            ("at-most", Relation::AtMost),
        ] {
            if let Some(node) = demands.get(key) {
                match fields::scalar_text(node).and_then(|text| Quantity::parse(text, unit)) {
                    Some(quantity) => out.push(Predicate::Compare(relation, quantity)),
                    None => return self.source.fail_at(node, format!("`{key}` is no quantity of the rule's `unit`")),
                }
            }
        }
        if let Some(node) = demands.get("contains") {
            out.push(Predicate::Contains(Box::new(self.predicate(node, unit, depth + 1)?)));
        }
        if let Some(node) = demands.get("not") {
            out.push(Predicate::Not(Box::new(self.predicate(node, unit, depth + 1)?)));
        }
        for (key, all) in [("any", false), ("all", true)] {
            let Some(node) = demands.get(key) else { continue };
            let Data::List(items) = &node.data else {
                return self.source.fail_at(node, format!("`{key}` is no list; write one of demands"));
            };
            let parts =
                items.iter().map(|item| self.predicate(item, unit, depth + 1)).collect::<Result<Vec<_>, _>>()?;
            out.push(if all { Predicate::All(parts) } else { Predicate::Any(parts) });
        }
        match out.len() {
            0 => self.source.fail_at(node, "an empty demand; leave it out"),
            1 => Ok(out.remove(0)),
            _ => Ok(Predicate::All(out)),
        }
    }

    fn regex(&mut self, node: &Node<'_>) -> Result<Text, BadFile> {
        let text = self.source.str(node, "`regex`")?;
        if self.trusted {
            return Ok(Text::trusted(text));
        }
        self.regexes += 1;
        if self.regexes > MAX_REGEXES {
            return self.source.fail_at(node, format!("more than {MAX_REGEXES} regular expressions; split the pack"));
        }
        match Text::checked(text) {
            Some(pattern) => Ok(pattern),
            None => self.source.fail_at(
                node,
                "no regular expression that flecto can run; they have no look-around and no back-references, and are bounded in size",
            ),
        }
    }

    fn patterns(&self, when: &Fields<'_>, key: &str) -> Result<Vec<Pattern>, BadFile> {
        let Some(node) = when.get(key) else { return Ok(Vec::new()) };
        let mut out = Vec::new();
        for (text, node) in self.source.strs(node, "a path pattern")? {
            match Pattern::parse(text) {
                Ok(pattern) => out.push(pattern),
                Err(error) => return self.source.fail_at(node, error.to_string()),
            }
        }
        Ok(out)
    }

    fn keys(&self, when: &Fields<'_>, key: &str) -> Result<Vec<NameGlob>, BadFile> {
        let Some(node) = when.get(key) else { return Ok(Vec::new()) };
        let mut out = Vec::new();
        for (text, node) in self.source.strs(node, "a key's name")? {
            match NameGlob::new(text) {
                Some(glob) => out.push(glob),
                None => {
                    return self.source.fail_at(node, "no name of a key; write words, with `*` at either end for more");
                }
            }
        }
        Ok(out)
    }

    fn files(&self, fields: &Fields<'_>, key: &str) -> Result<Vec<FileGlob>, BadFile> {
        let Some(node) = fields.get(key) else { return Ok(Vec::new()) };
        let mut out = Vec::new();
        for (text, node) in self.source.strs(node, "a glob over file names")? {
            match FileGlob::new(text) {
                Some(glob) => out.push(glob),
                None => return self.source.fail_at(node, "no glob over file names"),
            }
        }
        Ok(out)
    }

    fn words(&self, fields: &Fields<'_>, key: &str) -> Result<Vec<String>, BadFile> {
        let Some(node) = fields.get(key) else { return Ok(Vec::new()) };
        Ok(self.source.strs(node, "a word")?.into_iter().map(|(text, _)| text.to_string()).collect())
    }

    fn name(&self, node: &Node<'_>, what: &str) -> Result<String, BadFile> {
        let text = self.source.str(node, what)?;
        let fine = (1..=64).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && text.starts_with(|c: char| c.is_ascii_lowercase());
        if fine {
            Ok(text.to_string())
        } else {
            self.source.fail_at(node, format!("{what} is no name; use lower-case letters, digits and `-`, at most 64"))
        }
    }

    fn text(&self, node: &Node<'_>, what: &str) -> Result<String, BadFile> {
        let text = self.source.str(node, what)?.trim();
        match text.len() {
            0 => self.source.fail_at(node, format!("{what} is empty; write a sentence")),
            1..=4096 => Ok(text.to_string()),
            _ => self.source.fail_at(node, format!("{what} is longer than 4096 bytes; shorten it")),
        }
    }

    fn opt_text(&self, fields: &Fields<'_>, key: &'static str) -> Result<String, BadFile> {
        fields.get(key).map_or_else(|| Ok(String::new()), |node| self.text(node, &format!("`{key}`")))
    }

    fn examples(&self, rule: &Fields<'_>, key: &'static str) -> Result<Vec<Example>, BadFile> {
        let Some(node) = rule.get(key) else { return Ok(Vec::new()) };
        match &node.data {
            Data::List(items) => items.iter().map(|item| self.example(item)).collect(),
            _ => Ok(vec![self.example(node)?]),
        }
    }

    fn example(&self, node: &Node<'_>) -> Result<Example, BadFile> {
        const KEYS: &[&str] = &["path", "op", "before", "after", "file", "kind", "document"];
        let example = self.source.fields(node, "an example", KEYS)?;
        let path = example.need("path")?;
        let Ok(parsed) = Path::parse(self.source.str(path, "a path")?) else {
            return self.source.fail_at(path, "no path; write it as flecto prints it");
        };
        let before = example.get("before").map(Node::to_value);
        let after = example.get("after").map(Node::to_value);
        let op = match (example.get("op"), &before, &after) {
            (Some(node), _, _) => self.ops(node)?[0],
            (None, Some(_), Some(_)) => Op::Changed,
            (None, None, Some(_)) => Op::Added,
            (None, Some(_), None) => Op::Removed,
            (None, None, None) => return self.source.fail_at(node, "an example without `before` and `after`; add one"),
        };
        let text =
            |key: &str| example.get(key).map(|node| self.source.str(node, "a text").map(str::to_string)).transpose();
        Ok(Example {
            line: node.span.start.line,
            file: text("file")?.unwrap_or_else(|| "config/app.yaml".to_string()),
            kind: text("kind")?.or_else(|| self.default_kind.clone()),
            document: text("document")?,
            path: parsed,
            op,
            before,
            after,
        })
    }
}
