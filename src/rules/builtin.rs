//! The packs that come with flecto, as data in the program. One is read when it is first needed, because an empty stream
//! should cost little more than starting a program.

use super::{Pack, read};
use crate::document::Format;
use crate::fields::{self, BadFile};
use std::sync::OnceLock;

/// A pack in the program.
#[derive(Debug)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// Its file's text.
    pub text: &'static str,
    read: OnceLock<Result<Pack, BadFile>>,
}

macro_rules! packs {
    ($($name:literal),+ $(,)?) => {
        static PACKS: [Builtin; [$($name),+].len()] = [$(
            Builtin { name: $name, text: include_str!(concat!("packs/", $name, ".yaml")), read: OnceLock::new() }
        ),+];
    };
}

packs![
    "default",
    "database",
    "limits",
    "logging",
    "network",
    "tls",
    "kubernetes",
    "compose",
    "github-actions",
    "gitlab-ci",
    "terraform",
    "systemd",
    "sops",
    "node",
    "strict-prod",
];

/// The packs that come with flecto, `default` first, in the order in which they are listed and judged by.
pub fn builtin() -> &'static [Builtin] {
    &PACKS
}

/// Their names.
pub fn names() -> Vec<&'static str> {
    PACKS.iter().map(|pack| pack.name).collect()
}

/// Reads one of them.
///
/// # Errors
/// An unknown name, as a sentence that names the nearest. A pack of ours that cannot be read would be one too; a test
/// reads them all.
pub fn read_builtin(name: &str) -> Result<&'static Pack, String> {
    match PACKS.iter().find(|pack| pack.name == name) {
        Some(pack) => pack.read().as_ref().map_err(ToString::to_string),
        None => Err(fields::unknown("pack", name, "the list of policies", &names())),
    }
}

impl Builtin {
    fn read(&self) -> &Result<Pack, BadFile> {
        self.read.get_or_init(|| read::read(self.name, Format::Yaml, self.text.as_bytes(), true))
    }
}
