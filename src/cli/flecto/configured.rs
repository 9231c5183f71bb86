//! Which settings hold, and whose? Those of the baseline commit, never of the change that they judge.
//!
//! With a baseline commit, `.flectorc` and `policies/` are read from that revision's tip: a pull request cannot loosen the
//! gate that judges it. What it would change is a finding. An option that no file may set (W1) is refused in either side's
//! file: somebody meant it to work.

use super::options::{Compared, ConfigFrom, Configured};
use crate::fields;
use crate::git::{self, Blob, Entry, Mode, Repository};
use crate::pipeline::Attached;
use crate::policy::accepted::{self, Accepted, FILE_NAME as ACCEPTED};
use crate::record::Finding;
use crate::render::Format;
use crate::rules;
use crate::settings::{self, NAMES, PACKS_DIR, Section, Side};
use anyhow::{anyhow, bail, ensure};
use clap::ValueEnum as _;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What the settings say, for a plan.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The settings that hold.
    pub(super) section: Section,
    /// The file that they are in.
    pub(super) name: Option<String>,
    /// The targets that they name, as the command line would.
    pub(super) files: Vec<String>,
    /// The baseline's packs.
    pub(super) packs: Vec<Attached>,
    /// Packs to be read where they lie, because the operator said so.
    pub(super) loose_packs: Vec<PathBuf>,
    /// The baseline's accepted findings.
    pub(super) accepted: Option<Attached>,
    /// Accepted findings to be read where they lie: nothing is compared with a commit.
    pub(super) loose_accepted: Option<PathBuf>,
    /// What the change would change about all that.
    pub(super) findings: Vec<Finding>,
}

/// The files that count as settings on one side, by their names from the top level.
type Files = BTreeMap<String, Content>;

/// A file of settings: its object's id, where it has one, and its bytes.
#[derive(Clone)]
struct Content {
    id: Option<String>,
    bytes: Vec<u8>,
}

impl Configured {
    /// Looks for the settings and reads them.
    ///
    /// # Errors
    /// Settings that cannot be used, a refused option in them, a baseline that is no commit.
    pub(super) fn find(&self, compared: &Compared) -> anyhow::Result<Found> {
        if self.no_config {
            ensure!(self.profile.is_none(), "--profile names a part of the settings, and --no-config reads none");
            return Ok(Found::default());
        }
        let here = match &compared.directory {
            Some(folder) => folder.clone(),
            None => PathBuf::from("."),
        };
        ensure!(here.is_dir(), "{}: no such folder; -C names the one to run in", here.display());
        let repository = match Repository::discover(&here) {
            Ok(repository) => repository,
            // flecto-diff knows what to say about it.
            Err(git::Error::NoRepository | git::Error::Bare) if self.config.is_none() => {
                // Two files outside of any repository: nobody else judges them.
                let loose = here.join(ACCEPTED).is_file().then(|| PathBuf::from(ACCEPTED));
                return Ok(Found { loose_accepted: loose, ..Found::default() });
            }
            Err(error) => bail!("{error}"),
        };
        // From a folder below the top level, names lead up first.
        let up = "../".repeat(repository.prefix().components().count());
        let (counts, base, head) = self.sides(compared, &repository)?;
        let (name, section) = self.section(&counts, &up)?;
        let mut found = Found { section, name, ..Found::default() };
        found.files = found.section.files.iter().flatten().map(|glob| format!("{up}{glob}")).collect();
        for (name, content) in counts.iter().filter(|(name, _)| is_pack(name)) {
            rules::read_pack(&format!("{up}{name}"), &content.bytes)?;
            let base_name = name.rsplit('/').next().unwrap_or(name).to_string();
            match &content.id {
                Some(id) => {
                    found.packs.push(Attached { name: base_name, id: id.clone(), bytes: content.bytes.clone() });
                }
                None => found.loose_packs.push(PathBuf::from(format!("{up}{name}"))),
            }
        }
        let accepted = accepted_name(&repository);
        if let Some(content) = counts.get(&accepted) {
            Accepted::read(ACCEPTED, &content.bytes)?;
            match &content.id {
                Some(id) => {
                    let (name, bytes) = (ATTACHED_ACCEPTED.to_string(), content.bytes.clone());
                    found.accepted = Some(Attached { name, id: id.clone(), bytes });
                }
                None => found.loose_accepted = Some(PathBuf::from(ACCEPTED)),
            }
        }
        if let (Some(base), Some(head)) = (&base, &head) {
            refuse_actions(head, &up)?;
            found.findings = differences(base, head, &up, self.config.is_none());
            let bytes = |files: &Files| files.get(&accepted).map(|content| content.bytes.clone());
            found.findings.extend(accepted::changed(ACCEPTED, bytes(base).as_deref(), bytes(head).as_deref()));
        }
        Ok(found)
    }

    /// The files that count, and the two sides whose difference is a finding.
    fn sides(
        &self,
        compared: &Compared,
        repository: &Repository,
    ) -> anyhow::Result<(Files, Option<Files>, Option<Files>)> {
        if self.config_from == ConfigFrom::Worktree {
            return Ok((from_disk(repository)?, None, None));
        }
        let revision = compared.snapshot_ref.as_deref().unwrap_or("HEAD");
        let tip = match repository.commit(revision) {
            Ok(tip) => tip,
            // Nothing to judge by, and nobody's file is judged: what was accepted here is.
            Err(git::Error::Unborn) => {
                let accepted = accepted_name(repository);
                let mut mine = from_disk(repository)?;
                mine.retain(|name, _| *name == accepted);
                let mut head = head(compared, repository)?;
                head.remove(&accepted);
                return Ok((mine, Some(Files::new()), Some(head)));
            }
            Err(error) => bail!("{error}"),
        };
        let counts = from_tree(repository, &tip)?;
        let head_files = head(compared, repository)?;
        // What the change did is told from where it began; what counts is the tip's.
        let began = if compared.merge_base && !(counts.is_empty() && head_files.is_empty()) {
            let to =
                repository.commit(compared.to_ref.as_deref().unwrap_or("HEAD")).map_err(|error| anyhow!("{error}"))?;
            let (base, _) = repository.merge_base(&tip, &to, revision).map_err(|error| anyhow!("{error}"))?;
            from_tree(repository, &base)?
        } else {
            counts.clone()
        };
        Ok((counts, Some(began), Some(head_files)))
    }

    /// The settings that hold: those of `--config`, else the ones among `files`.
    fn section(&self, files: &Files, up: &str) -> anyhow::Result<(Option<String>, Section)> {
        let words = format_words();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let read = match &self.config {
            Some(path) => {
                let name = path.to_string_lossy();
                let bytes = read_file(path).map_err(|kind| anyhow!("{name}: cannot be read: {kind}"))?;
                Some((name.clone().into_owned(), settings::read(&name, &bytes, &words)?))
            }
            None => match the_settings(files)? {
                Some((name, content)) => {
                    let name = format!("{up}{name}");
                    let read = settings::read(&name, &content.bytes, &words)?;
                    Some((name, read))
                }
                None => None,
            },
        };
        match (read, self.profile.as_deref()) {
            (Some((name, read)), profile) => {
                Ok((Some(name), read.resolve(profile).map_err(|message| anyhow!("{message}"))?))
            }
            (None, Some(profile)) => bail!("no profile `{profile}`: there are no settings (.flectorc) to have one"),
            (None, None) => Ok((None, Section::default())),
        }
    }
}

/// The one file among them that is the settings.
fn the_settings(files: &Files) -> anyhow::Result<Option<(&String, &Content)>> {
    let mut found = files.iter().filter(|(name, _)| NAMES.contains(&name.as_str()));
    match (found.next(), found.next()) {
        (Some((one, _)), Some((other, _))) => bail!("both {one} and {other} are there; keep one of them"),
        (first, _) => Ok(first),
    }
}

/// W1: an option that no file may set is refused in the head's files too.
fn refuse_actions(head: &Files, up: &str) -> anyhow::Result<()> {
    for (name, content) in head.iter().filter(|(name, _)| NAMES.contains(&name.as_str())) {
        if let Some(error) = settings::refused(&format!("{up}{name}"), &content.bytes) {
            return Err(error.into());
        }
    }
    Ok(())
}

/// What the change would change about the settings and the packs, as findings.
fn differences(base: &Files, head: &Files, up: &str, with_settings: bool) -> Vec<Finding> {
    let words = format_words();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut out = Vec::new();
    if with_settings {
        let (old, new) = (named_settings(base, up), named_settings(head, up));
        out.extend(settings::changed(side(old.as_ref()), side(new.as_ref()), &words));
    }
    let names: BTreeSet<&String> = base.keys().chain(head.keys()).filter(|name| is_pack(name)).collect();
    for name in names {
        let (old, new) = (base.get(name), head.get(name));
        let bytes = |content: Option<&Content>| content.map(|content| content.bytes.clone());
        let (old, new) = (bytes(old), bytes(new));
        out.extend(settings::pack_changed(&format!("{up}{name}"), old.as_deref(), new.as_deref()));
    }
    out
}

/// One side's settings, under the name that a person knows. Of two files, which is an error where they count, the first.
fn named_settings<'f>(files: &'f Files, up: &str) -> Option<(String, &'f [u8])> {
    let mut found = files.iter().filter(|(name, _)| NAMES.contains(&name.as_str()));
    found.next().map(|(name, content)| (format!("{up}{name}"), content.bytes.as_slice()))
}

fn side<'f>(named: Option<&'f (String, &'f [u8])>) -> Option<Side<'f>> {
    named.map(|(name, bytes)| Side { name, bytes })
}

/// The words that `format` in a file can be.
fn format_words() -> Vec<String> {
    let reports = Format::value_variants().iter().filter(|&&format| format != Format::Narration);
    reports.filter_map(|format| format.to_possible_value().map(|value| value.get_name().to_string())).collect()
}

fn is_pack(name: &str) -> bool {
    let Some(file) = name.strip_prefix(PACKS_DIR).and_then(|rest| rest.strip_prefix('/')) else { return false };
    !file.contains('/') && [".yaml", ".yml", ".json"].iter().any(|ending| file.ends_with(ending))
}

/// What the accepted findings are called in the folder that the run is in, by its name from the top level: findings name
/// their files from there.
fn accepted_name(repository: &Repository) -> String {
    let folders = repository.prefix().iter().map(|name| name.to_string_lossy().into_owned());
    folders.chain([ACCEPTED.to_string()]).collect::<Vec<_>>().join("/")
}

/// What [`Attached`] calls them: no pack, whose names end otherwise.
const ATTACHED_ACCEPTED: &str = "accepted findings";

/// A pack is a file that says so. The folder's name is a common one: what is there for a cluster's admission controller is
/// none of ours, while a pack with a mistake in it must not pass in silence.
fn is_foreign(name: &str, bytes: &[u8]) -> bool {
    is_pack(name)
        && bytes.split(|&byte| byte == b'\n').any(|line| {
            let line = line.trim_ascii_start();
            line.starts_with(b"apiVersion:") || line.starts_with(b"\"apiVersion\"")
        })
}

/// The head's files: the commit's, the index's, or the working tree's.
fn head(compared: &Compared, repository: &Repository) -> anyhow::Result<Files> {
    if let Some(revision) = &compared.to_ref {
        let commit = repository.commit(revision).map_err(|error| anyhow!("{error}"))?;
        return from_tree(repository, &commit);
    }
    if compared.staged {
        let entries = repository.index(&wanted_paths(repository)).map_err(|error| anyhow!("{error}"))?;
        return from_entries(repository, entries);
    }
    from_disk(repository)
}

fn wanted_paths(repository: &Repository) -> Vec<Vec<u8>> {
    let names = NAMES.iter().chain([&PACKS_DIR]).map(|name| name.as_bytes().to_vec());
    names.chain([accepted_name(repository).into_bytes()]).collect()
}

fn from_tree(repository: &Repository, commit: &str) -> anyhow::Result<Files> {
    let entries = repository.tree(commit, &wanted_paths(repository)).map_err(|error| anyhow!("{error}"))?;
    from_entries(repository, entries)
}

fn from_entries(repository: &Repository, entries: Vec<Entry>) -> anyhow::Result<Files> {
    let mut wanted = Vec::new();
    let accepted = accepted_name(repository);
    for entry in entries {
        let name = String::from_utf8_lossy(&entry.path).into_owned();
        if entry.stage == 0 && (NAMES.contains(&name.as_str()) || is_pack(&name) || name == accepted) {
            wanted.push((name, entry));
        }
    }
    let mut files = Files::new();
    let mut blobs = repository
        .blobs(wanted.iter().map(|(_, entry)| entry.id.clone()).collect())
        .map_err(|error| anyhow!("{error}"))?;
    for (name, entry) in wanted {
        let blob = blobs.next(fields::MAX_BYTES as u64).map_err(|error| anyhow!("{error}"))?;
        let bytes = match (entry.mode, blob) {
            (Mode::File, Blob::Content(bytes)) => bytes,
            (Mode::Link, _) => bail!("{name}: is a link, which is not followed; commit the file itself"),
            (_, Blob::TooLarge(size)) => bail!("{name}: has {size} bytes; settings and packs are far smaller"),
            _ => bail!("{name}: is not in this clone; fetch it first"),
        };
        if !is_foreign(&name, &bytes) {
            files.insert(name, Content { id: Some(entry.id), bytes });
        }
    }
    Ok(files)
}

/// The files that lie there. A link is what git would store of it, its target's name: it is not followed.
fn from_disk(repository: &Repository) -> anyhow::Result<Files> {
    let top = repository.top();
    let mut names: Vec<String> = NAMES.iter().map(|name| (*name).to_string()).collect();
    for entry in std::fs::read_dir(top.join(PACKS_DIR)).into_iter().flatten().flatten() {
        names.push(format!("{PACKS_DIR}/{}", entry.file_name().to_string_lossy()));
    }
    names.retain(|name| NAMES.contains(&name.as_str()) || is_pack(name));
    names.push(accepted_name(repository));
    let mut files = Files::new();
    for name in names {
        let path = top.join(&name);
        let Ok(data) = path.symlink_metadata() else { continue };
        let bytes = if data.is_symlink() {
            let target = std::fs::read_link(&path).unwrap_or_default();
            target.into_os_string().into_encoded_bytes()
        } else if data.is_file() {
            read_file(&path).map_err(|kind| anyhow!("{name}: cannot be read: {kind}"))?
        } else {
            continue;
        };
        if !is_foreign(&name, &bytes) {
            files.insert(name, Content { id: None, bytes });
        }
    }
    Ok(files)
}

/// A file's bytes, one more than is accepted at most: enough to know that it is too much.
fn read_file(path: &Path) -> Result<Vec<u8>, std::io::ErrorKind> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| error.kind())?;
    file.take(fields::MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(|error| error.kind())?;
    Ok(bytes)
}
