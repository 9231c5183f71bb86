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

mod actions;
mod changes;
mod read;

pub use actions::refused;
pub use changes::{CHANGED, Side, changed, pack_changed};
pub use read::read;

use crate::fields;
use crate::pattern::Pattern;
use crate::rules::choice::{Adjustment, Policies};
use crate::rules::gate::FailOn;
use std::collections::BTreeMap;

/// The names that settings are looked for under, at the top of the repository. Two of them at once are an error: nobody
/// could say which counts.
pub const NAMES: &[&str] = &[".flectorc", ".flectorc.json", ".flectorc.yaml", ".flectorc.yml", ".flectorc.toml"];

/// The folder whose `*.yaml`, `*.yml` and `*.json` are packs of the repository's own.
pub const PACKS_DIR: &str = "policies";

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
}
