//! What is a rule? Data: what it matches, how bad that is, the sentence that says so, and why anybody should care.
//!
//! Rules stand in packs, YAML or JSON files that docs/policy.md describes and docs/schemas/pack.schema.json checks in editors.
//! This module reads them; `flecto-policy` judges by them, and others show their help. Each rule carries examples of when
//! it fires and when it does not: they are its test.

mod builtin;
pub mod choice;
pub mod gate;
pub mod names;
pub mod predicate;
pub mod quantity;
mod read;

pub use builtin::{builtin, names as builtin_names, read_builtin};
pub use read::{MAX_RULES, read_pack};

use crate::path::Path;
use crate::pattern::{self, Pattern};
use crate::record::{Op, Severity};
use crate::value::Value;
use globset::{Glob, GlobMatcher};
use names::NameGlob;
use predicate::Predicate;
use quantity::Unit;
use std::sync::OnceLock;

/// A named set of rules.
#[derive(Clone, Debug)]
pub struct Pack {
    /// Its name: `default`, `kubernetes`.
    pub name: String,
    /// What it is about, in one sentence.
    pub about: String,
    /// The files that it takes by itself.
    pub fits: Fits,
    /// Its rules, in the order of the file.
    pub rules: Vec<Rule>,
}

/// Which files a pack takes when the packs are chosen by the files (`--policies auto`).
#[derive(Clone, Debug, Default)]
pub struct Fits {
    /// Every file.
    pub all: bool,
    /// Files of these kinds.
    pub kinds: Vec<String>,
    /// Files with names that match.
    pub files: Vec<FileGlob>,
}

/// A glob over file names, read with globset: `*` stays within a folder, `**` does not. One without `/` is compared with the
/// bare name.
#[derive(Clone, Debug)]
pub struct FileGlob {
    text: String,
    matcher: Matcher,
}

#[derive(Clone, Debug)]
enum Matcher {
    /// The bare name is the text.
    Name,
    /// The bare name ends in what follows the star that the text begins with.
    End,
    /// Anything else; compiled when it is first needed.
    Glob(Glob, OnceLock<GlobMatcher>),
}

impl FileGlob {
    /// Reads a glob; `None` when it is none.
    pub fn new(text: &str) -> Option<FileGlob> {
        let full = if text.contains('/') { text.to_string() } else { format!("**/{text}") };
        let glob = globset::GlobBuilder::new(&full).literal_separator(true).build().ok()?;
        let is_plain =
            |part: &str| !part.is_empty() && !part.contains(['/', '\\', '*', '?', '[', ']', '{', '}', ',', '!']);
        let matcher = if is_plain(text) {
            Matcher::Name
        } else if text.strip_prefix('*').is_some_and(is_plain) {
            Matcher::End
        } else {
            Matcher::Glob(glob, OnceLock::new())
        };
        Some(FileGlob { text: text.to_string(), matcher })
    }

    /// The text that it was read from.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it matches a file's name.
    pub fn matches(&self, file: &str) -> bool {
        let name = || file.rsplit('/').next().unwrap_or(file);
        match &self.matcher {
            Matcher::Name => name() == self.text,
            Matcher::End => name().ends_with(&self.text[1..]),
            Matcher::Glob(glob, matcher) => matcher.get_or_init(|| glob.compile_matcher()).is_match(file),
        }
    }
}

impl Fits {
    /// Whether it says anything.
    pub fn is_some_kind(&self) -> bool {
        self.all || !self.kinds.is_empty() || !self.files.is_empty()
    }

    /// Whether the pack takes a file of this name and these kinds.
    pub fn takes(&self, file: &str, kinds: &[&str]) -> bool {
        self.all
            || kinds.iter().any(|kind| self.kinds.iter().any(|known| known == kind))
            || self.files.iter().any(|glob| glob.matches(file))
    }
}

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name, unique among the packs: `pool-size-jump`.
    pub id: String,
    /// How bad it is.
    pub severity: Severity,
    /// What it matches.
    pub when: When,
    /// The sentence, a template of [`crate::record::fill`].
    pub message: String,
    /// Why it matters and what to check.
    pub help: String,
    /// Where that is known from: a published report, a guide.
    pub source: String,
    /// Changes at which it must fire.
    pub fires: Vec<Example>,
    /// Changes at which it must not.
    pub quiet: Vec<Example>,
}

impl Rule {
    /// Whether the sentence says a value.
    pub fn tells_values(&self) -> bool {
        self.message.contains("{before}") || self.message.contains("{after}")
    }
}

/// What a rule matches: all that is given must hold.
#[derive(Clone, Debug, Default)]
pub struct When {
    /// What happened to the value.
    pub ops: Vec<Op>,
    /// Where: one of these.
    pub paths: Vec<Pattern>,
    /// And none of these.
    pub not_paths: Vec<Pattern>,
    /// What the value is called: one of these.
    pub keys: Vec<NameGlob>,
    /// And none of these.
    pub not_keys: Vec<NameGlob>,
    /// Files of these kinds only.
    pub kinds: Vec<String>,
    /// Files of these names only.
    pub files: Vec<FileGlob>,
    /// And none of these.
    pub not_files: Vec<FileGlob>,
    /// Documents of these names only: `Deployment/*`.
    pub documents: Vec<pattern::Glob>,
    /// What the old value must be.
    pub before: Option<Predicate>,
    /// What the new value must be.
    pub after: Option<Predicate>,
    /// How the number must have changed.
    pub growth: Option<Growth>,
    /// What the list, or the text of words, must have got.
    pub gains: Option<Predicate>,
    /// What it must have lost.
    pub loses: Option<Predicate>,
    /// What the new value must be a secret by.
    pub secret: Option<SecretBy>,
    /// For what was added or removed: how many steps above the value the addition or removal may have happened.
    pub within: Option<usize>,
}

/// How a number must have changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Whether it must have shrunk instead.
    pub down: bool,
    /// To at least so many times the old value; when it shrank, to at most that part of it.
    pub factor: Option<f64>,
    /// By at least so much.
    pub amount: Option<f64>,
    /// What it counts.
    pub unit: Unit,
}

/// What makes a value a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretBy {
    /// What it is called.
    Name,
    /// What it looks like: a published format, or a password where an address has its own.
    Shape,
    /// What stands beside it in a longer text, or that it looks random.
    Text,
}

/// A change, for a rule to be tested with.
#[derive(Clone, Debug)]
pub struct Example {
    /// Where it stands in the pack's file, for a failing test.
    pub line: u32,
    /// The file's name.
    pub file: String,
    /// The file's kind.
    pub kind: Option<String>,
    /// The document.
    pub document: Option<String>,
    /// Where.
    pub path: Path,
    /// What happened.
    pub op: Op,
    /// The old value.
    pub before: Option<Value>,
    /// The new value.
    pub after: Option<Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_over_names_says_what_globset_says() {
        let files = [
            "a.env",
            ".env",
            "x/.env",
            "x/a.env",
            "x/y/package.json",
            "package.json",
            "Package.json",
            "package.json5",
            "x.env/y",
            "x/a.env.b",
            "",
            "/",
            "x/",
            "a,b",
            "x/a b",
            "\\x",
            "é.env",
            "x/é.env",
            "*.env",
            "x\ny.env",
        ];
        for text in [
            "*.env",
            ".env",
            "package.json",
            "*",
            "*env",
            "**/*.env",
            "x/*.env",
            "?.env",
            "{a,b}.env",
            "a,b",
            "*.e*v",
            "a b",
            "!a",
            "*é.env",
            "[ab].env",
            "**/x/**",
            "*\\*",
            "**",
        ] {
            let Some(glob) = FileGlob::new(text) else { continue };
            let full = if text.contains('/') { text.to_string() } else { format!("**/{text}") };
            let slow =
                globset::GlobBuilder::new(&full).literal_separator(true).build().expect("a glob").compile_matcher();
            for file in files {
                assert_eq!(glob.matches(file), slow.is_match(file), "{text} {file:?}");
            }
        }
    }
}
