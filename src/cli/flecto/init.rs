//! Where does one begin? A first `.flectorc`, made of what the repository holds.

use super::survey::{self, File};
use super::to_stdout;
use crate::git::Repository;
use crate::outcome::Outcome;
use crate::settings::{self, NAMES};
use crate::text;
use anyhow::{anyhow, ensure};
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::PathBuf;

/// Write a first .flectorc, made of what the repository holds
///
/// Looks for configuration files, writes settings that name them at the top of the repository, and says what it found and
/// what to do next. Nothing is overwritten: where settings are there already, nothing is written.
#[derive(Args, Debug)]
#[command(
    after_help = "Exit status: 0, or 2 when nothing was written.\n\nExamples:\n  flecto init\n  flecto init --print"
)]
pub struct Init {
    /// Print the settings and write nothing
    #[arg(long)]
    print: bool,
    /// Run in this folder
    #[arg(short = 'C', value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// The file that is written.
const NAME: &str = NAMES[0];

/// Folders whose files are somebody else's, or made up: they can be added by hand.
const NOT_OURS: [&str; 13] = [
    "node_modules",
    "vendor",
    "third_party",
    "testdata",
    "fixtures",
    "test",
    "tests",
    "__tests__",
    "spec",
    "docs",
    "doc",
    "examples",
    "dist",
];

/// How many globs are written at most; beyond that one for everything is as good.
const MAX_GLOBS: usize = 20;

impl Init {
    /// Runs it.
    ///
    /// # Errors
    /// No repository, settings that are there, nothing to look at, a folder that cannot be written to.
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        let here = self.directory.clone().unwrap_or_else(|| PathBuf::from("."));
        ensure!(here.is_dir(), "{}: no such folder; -C names the one to run in", here.display());
        let repository = Repository::discover(&here)?;
        let top = repository.top();
        let there = NAMES.iter().find(|name| top.join(name).symlink_metadata().is_ok());
        if let Some(name) = there.filter(|_| !self.print) {
            return Err(anyhow!(
                "{name} is there already, and nothing was written; change it, or look at flecto doctor"
            ));
        }
        let names = repository.work_names(&[], false)?;
        let names = names.into_iter().filter_map(|name| String::from_utf8(name.path).ok());
        let files = survey::files(top, names.filter(|name| is_ours(name)));
        ensure!(
            !files.is_empty(),
            "no configuration file is here (YAML, JSON, TOML, INI, dotenv, properties, HCL); name the folder with -C"
        );
        let globs = globs(&files);
        let text = settings_text(&globs);
        // What is written must be what is read.
        settings::read(NAME, text.as_bytes(), &[])?;
        if self.print {
            to_stdout(text.as_bytes())?;
            return Ok(Outcome::Clean);
        }
        // Also where a link with that name appeared meanwhile: it is not followed.
        let file = std::fs::OpenOptions::new().write(true).create_new(true).open(top.join(NAME));
        file.and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|error| anyhow!("{NAME}: cannot be written: {}", error.kind()))?;
        let mut out = format!("{}:\n", text::count(files.len() as u64, "configuration file"));
        for (glob, count) in &globs {
            out.push_str(&format!("  {glob}  ({count})\n"));
        }
        out.push_str(&format!("packs of rules that judge them: {}\n", survey::told(&files).map_err(|e| anyhow!(e))?));
        out.push_str(&format!("{NAME} is written; it counts once it is committed\n"));
        out.push_str("next: flecto ci --config-from worktree\n");
        to_stdout(text::escape_lines(&out).as_bytes())?;
        Ok(Outcome::Clean)
    }
}

fn is_ours(name: &str) -> bool {
    let mut folders: Vec<&str> = name.split('/').collect();
    let file = folders.pop().unwrap_or_default();
    !folders.iter().any(|folder| NOT_OURS.contains(folder))
        && !NAMES.contains(&file)
        && !file.starts_with(".flecto-")
        && !file.ends_with(".lock")
}

/// Globs for files, with how many each means: one for each folder at the top, with the endings that are there.
fn globs(files: &[File]) -> Vec<(String, usize)> {
    let mut folders: BTreeMap<&str, (BTreeSet<&str>, BTreeSet<String>, usize)> = BTreeMap::new();
    for file in files {
        let (folder, _) = file.name.split_once('/').unwrap_or(("", &file.name));
        let base = file.name.rsplit('/').next().unwrap_or(&file.name);
        let (endings, names, count) = folders.entry(folder).or_default();
        *count += 1;
        match base.rsplit_once('.') {
            // `.env.production` and its like are known by how they begin.
            _ if base == ".env" || base.starts_with(".env.") => {
                names.insert(".env*".into());
            }
            Some((stem, ending)) if !stem.is_empty() && is_plain(ending) => {
                endings.insert(ending);
            }
            _ => {
                names.insert(quoted(base));
            }
        }
    }
    let one = |(folder, (endings, names, count)): (&str, (BTreeSet<&str>, BTreeSet<String>, usize))| {
        let mut parts: Vec<String> = names.into_iter().collect();
        match endings.len() {
            0 => {}
            1 => parts.extend(endings.iter().map(|ending| format!("*.{ending}"))),
            _ => parts.push(format!("*.{{{}}}", endings.into_iter().collect::<Vec<_>>().join(","))),
        }
        let prefix = if folder.is_empty() { String::new() } else { format!("{}/**/", quoted(folder)) };
        let globs: Vec<String> = parts.into_iter().map(|part| format!("{prefix}{part}")).collect();
        (globs, count)
    };
    let all: Vec<(Vec<String>, usize)> = folders.into_iter().map(one).collect();
    if all.iter().map(|(globs, _)| globs.len()).sum::<usize>() > MAX_GLOBS {
        return vec![("**".into(), files.len())];
    }
    // The count is of the folder; it stands with its first glob alone.
    let mut out = Vec::new();
    for (globs, count) in all {
        out.extend(globs.into_iter().enumerate().map(|(at, glob)| (glob, if at == 0 { count } else { 0 })));
    }
    out
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// A name as a glob that means it alone.
fn quoted(name: &str) -> String {
    let special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\');
    name.chars().map(|c| if special(c) { format!("[{c}]") } else { c.to_string() }).collect()
}

fn settings_text(globs: &[(String, usize)]) -> String {
    let mut out = String::from(
        "# What flecto looks at in this repository, and what fails a run. It counts once it is committed: a pull request is\n\
         # judged by the settings of the commit that it is compared with. All that can stand here: `flecto ci --help`, and\n\
         # docs/policy.md of flecto.\nfiles:\n",
    );
    for (glob, _) in globs {
        out.push_str(&format!("  - {}\n", crate::json::string(glob)));
    }
    out.push_str(
        "defaults:\n  # default, and the packs of rules that fit a file by its kind\n  policies: [auto]\n  # a finding of severity warn or error\n  \
         failOn: [policy]\n# profiles:\n#   prod: {policies: [auto, strict-prod], failOn: [policy, removed]}\n",
    );
    out
}
