//! Which files differ? The names on either side of a repository that the targets mean, and which of them are other bytes.

use super::file::{Content, Name};
use super::targets::{self, Match, Target};
use super::{Options, To, disk, folders, renames};
use crate::git::{self, Blob, Entry, Mode, Repository, WorkName};
use crate::record::Start;
use globset::GlobMatcher;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use sha2::Digest as _;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// Where a side of a file is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Nowhere: what is known about it is all there is.
    Known(Content),
    /// An object of git, by its id; a link's object is its target.
    Blob(String, Mode),
    /// A file on disk.
    Disk(PathBuf),
}

/// A file that differs, or that was named.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) name: Name,
    pub(super) from: Option<Name>,
    /// The old side's own name, where two files were named: it may tell another format, or the only one.
    pub(super) against: Option<Name>,
    pub(super) old: Source,
    pub(super) new: Source,
    pub(super) literal: bool,
}

/// What is to be done.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) start: Start,
    /// In the order of their names.
    pub(super) tasks: Vec<Task>,
    /// How many files the targets mean.
    pub(super) files: u64,
    /// Their names; only where git says which there are.
    pub(super) names: Vec<Vec<u8>>,
    pub(super) repository: Option<Repository>,
    pub(super) on_disk: bool,
    /// Lines for standard error.
    pub(super) said: Vec<String>,
}

/// Plans a comparison with a commit.
///
/// # Errors
/// No repository, a bad revision, a bad target, or one that means nothing.
pub(super) fn git(
    options: &Options,
    repository: Repository,
    from: Option<&str>,
    to: &To,
    merge_base: bool,
) -> anyhow::Result<Plan> {
    let mut said = Vec::new();
    let label = from.unwrap_or("HEAD").to_string();
    let mut commit = match repository.commit(&label) {
        // The first commit of all is compared with nothing, as `git diff --cached` does.
        Err(git::Error::Unborn) if *to == To::Index && from.is_none() => None,
        other => Some(other?),
    };
    let to_commit = match to {
        To::Revision(revision) => Some(repository.commit(revision)?),
        _ => None,
    };
    if merge_base && let Some(old) = &commit {
        let new = match &to_commit {
            Some(new) => new.clone(),
            None => repository.commit("HEAD")?,
        };
        let (base, several) = repository.merge_base(old, &new, &label)?;
        if several {
            said.push(format!(
                "{label} has several common ancestors with what it is compared with; {} was taken",
                &base[..12]
            ));
        }
        commit = Some(base);
    }
    let mut targets = options
        .targets
        .iter()
        .map(|target| Target::parse(target, repository.top(), repository.prefix()))
        .collect::<anyhow::Result<Vec<_>>>()?;
    if *to == To::WorkTree {
        for target in &mut targets {
            through_links(target, repository.top())?;
        }
    }
    let bases: Vec<Vec<u8>> = targets.iter().map(Target::base).collect();
    let old = match &commit {
        Some(commit) => repository.tree(commit, &bases)?,
        None => Vec::new(),
    };
    let mut candidates = Candidates::new();
    for entry in old {
        candidates.insert(entry.path.clone(), (Some(entry), New::Absent));
    }
    match (to, &to_commit) {
        (To::Revision(_), Some(new)) => {
            for entry in repository.tree(new, &bases)? {
                side(&mut candidates, entry.path.clone(), New::Entry(entry));
            }
        }
        (To::Index, _) => {
            for entry in repository.index(&bases)? {
                side(&mut candidates, entry.path.clone(), New::Entry(entry));
            }
        }
        _ => work_tree(&repository, &targets, &bases, &mut candidates)?,
    }
    let mut chosen = Vec::new();
    for (path, (old, new)) in candidates {
        if let Some(literal) = choose(&mut targets, &path, &old, &new, options) {
            chosen.push((path, old, new, literal));
        }
    }
    let sides = match to {
        To::WorkTree => format!("in {label} or here"),
        To::Index => format!("in {label} or in the index"),
        To::Revision(to) => format!("in {label} or in {to}"),
    };
    if !options.allow_empty
        && let Some(problem) = targets::unmatched(&targets, options, &sides)
    {
        anyhow::bail!(problem);
    }
    let files = chosen.len() as u64;
    let names = chosen.iter().map(|(path, ..)| path.clone()).collect();
    let tasks = differing(options, &repository, chosen)?;
    let tasks = rename(options, &repository, tasks)?;
    let start = Start {
        version: crate::record::VERSION,
        baseline: label,
        commit,
        to: match to {
            To::WorkTree => None,
            To::Index => Some("the index".to_string()),
            To::Revision(revision) => Some(revision.clone()),
        },
    };
    let on_disk = *to == To::WorkTree;
    Ok(Plan { start, tasks, files, names, repository: Some(repository), on_disk, said })
}

/// The new side of a name.
#[derive(Clone, Debug, Default)]
enum New {
    #[default]
    Absent,
    Entry(Entry),
    Work(WorkName),
}

type Candidates = BTreeMap<Vec<u8>, (Option<Entry>, New)>;

/// Notes the new side of a name.
fn side(candidates: &mut Candidates, path: Vec<u8>, new: New) {
    candidates.entry(path).or_default().1 = new;
}

/// A target whose folder is a link: what it means lies elsewhere in the work tree, or outside of it.
fn through_links(target: &mut Target, top: &Path) -> anyhow::Result<()> {
    let base = target.base();
    let path = top.join(git::os_path(&base));
    let folder = if target.glob.is_some() || target.folder { Some(path.as_path()) } else { path.parent() };
    let Some(folder) = folder.filter(|folder| folder.starts_with(top)) else { return Ok(()) };
    let Ok(real) = folder.canonicalize() else { return Ok(()) };
    if real == folder {
        return Ok(());
    }
    anyhow::ensure!(
        real.starts_with(top),
        "{}: leaves the work tree through a link, which is not followed; name the file where it is",
        target.shown
    );
    anyhow::bail!(
        "{}: goes through a link; name it where it is: {}",
        target.shown,
        crate::text::escape(&real.strip_prefix(top).unwrap_or(&real).to_string_lossy())
    )
}

/// Adds what is on disk: what git lists, and ignored files that were named.
fn work_tree(
    repository: &Repository,
    targets: &[Target],
    bases: &[Vec<u8>],
    candidates: &mut Candidates,
) -> anyhow::Result<()> {
    let names = repository.work_names(bases, false)?;
    let mut add = |name: WorkName| side(candidates, name.path.clone(), New::Work(name));
    let mut ignored: Vec<Vec<u8>> = Vec::new();
    for target in targets.iter().filter(|target| target.glob.is_none() && !target.name.is_empty()) {
        let known = names.iter().any(|name| target.matches(&name.path).is_some() && name.path != target.name);
        let path = repository.top().join(git::os_path(&target.name));
        match path.symlink_metadata() {
            Ok(data) if data.is_dir() && !known => ignored.push(target.name.clone()),
            Ok(data) if !data.is_dir() => {
                anyhow::ensure!(
                    !is_nested(repository.top(), &target.name),
                    "{}: inside a submodule or another repository; run there (-C DIR)",
                    target.shown
                );
                if !names.iter().any(|name| name.path == target.name) {
                    add(WorkName { path: target.name.clone(), tracked: false, sparse: false });
                }
            }
            _ => {}
        }
    }
    if !ignored.is_empty() {
        repository.work_names(&ignored, true)?.into_iter().for_each(&mut add);
    }
    names.into_iter().for_each(add);
    Ok(())
}

/// Whether a name lies in a repository within the repository.
fn is_nested(top: &Path, name: &[u8]) -> bool {
    let slashes = name.iter().enumerate().filter(|(_, b)| **b == b'/');
    slashes.map(|(at, _)| top.join(git::os_path(&name[..at])).join(".git")).any(|path| path.symlink_metadata().is_ok())
}

/// Whether a file is meant, and whether by its very name.
fn choose(targets: &mut [Target], path: &[u8], old: &Option<Entry>, new: &New, options: &Options) -> Option<bool> {
    if path.ends_with(b"/") {
        // A repository within the repository: it is not entered.
        return None;
    }
    let submodule = |entry: &Entry| entry.mode == Mode::Submodule;
    let is_submodule = old.as_ref().is_some_and(submodule) || matches!(new, New::Entry(entry) if submodule(entry));
    let known = is_submodule || options.format_of(&String::from_utf8_lossy(path)).is_some();
    let mut literal = None;
    for target in targets {
        match target.matches(path) {
            Some(Match::Literal) => {
                target.matched = true;
                literal = Some(true);
            }
            Some(Match::Member) if known => {
                target.matched = true;
                literal = literal.or(Some(false));
            }
            Some(Match::Member) => target.passed_over = true,
            None => {}
        }
    }
    let name = git::os_path(path);
    let any = |globs: &[GlobMatcher]| globs.iter().any(|glob| glob.is_match(&name));
    let kept = (options.include.is_empty() || any(&options.include)) && !any(&options.exclude);
    literal.filter(|&literal| literal || kept)
}

type Chosen = (Vec<u8>, Option<Entry>, New, bool);

/// The files that are other bytes, and those that were named.
fn differing(options: &Options, repository: &Repository, chosen: Vec<Chosen>) -> anyhow::Result<Vec<Task>> {
    let is_sparse = |new: &New| matches!(new, New::Work(name) if name.sparse);
    let sparse = chosen.iter().any(|(_, _, new, _)| is_sparse(new));
    let indexed: BTreeMap<Vec<u8>, Entry> = if !sparse && !chosen.iter().any(|c| is_gitlink(&c.1)) {
        BTreeMap::new()
    } else {
        let entries = repository.index(&chosen.iter().map(|chosen| chosen.0.clone()).collect::<Vec<_>>())?;
        entries.into_iter().map(|entry| (entry.path.clone(), entry)).collect()
    };
    let folders = folders::Folders::new(repository.top());
    let task = |(path, old, new, literal): Chosen| -> Option<Task> {
        let source = |entry: &Entry| match entry.mode {
            Mode::Submodule => Source::Known(Content::Submodule(entry.id.clone())),
            _ if entry.stage > 0 => Source::Known(Content::Failed(
                "has an unresolved merge conflict in the index; resolve it (git add), or compare the work tree".into(),
            )),
            mode => Source::Blob(entry.id.clone(), mode),
        };
        let before = old.as_ref().map_or(Source::Known(Content::Absent), source);
        let after = match &new {
            New::Absent => Source::Known(Content::Absent),
            New::Entry(entry) => source(entry),
            New::Work(name) => on_disk(repository, &folders, name, indexed.get(&path), literal),
        };
        let same = before == after
            || matches!((&before, &after, &old), (Source::Blob(id, mode), Source::Disk(file), Some(_)) if is_blob(options, repository, file, id, *mode));
        let after = if same && before != after { before.clone() } else { after };
        let nothing = same && before == Source::Known(Content::Absent);
        (!nothing && (!same || literal)).then(|| Task {
            name: Name(relative(repository.prefix(), &path)),
            from: None,
            against: None,
            old: before,
            new: after,
            literal,
        })
    };
    let mut tasks: Vec<Task> = if chosen.len() > 1 {
        chosen.into_par_iter().filter_map(task).collect()
    } else {
        chosen.into_iter().filter_map(task).collect()
    };
    tasks.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(tasks)
}

fn is_gitlink(entry: &Option<Entry>) -> bool {
    entry.as_ref().is_some_and(|entry| entry.mode == Mode::Submodule)
}

/// What the work tree has under a name.
fn on_disk(
    repository: &Repository,
    folders: &folders::Folders<'_>,
    name: &WorkName,
    indexed: Option<&Entry>,
    literal: bool,
) -> Source {
    let path = repository.top().join(git::os_path(&name.path));
    match folders.reach(&name.path) {
        folders::Reach::Plain => {}
        folders::Reach::Link if literal => {
            return Source::Known(Content::Failed("is reached through a link, which is not followed".into()));
        }
        // As git sees it: behind a link there is nothing of this repository.
        folders::Reach::Link => return Source::Known(Content::Absent),
    }
    let data = path.symlink_metadata();
    let absent = data.as_ref().is_err_and(disk::is_absent);
    if absent && name.sparse {
        // Left out of the work tree on purpose: what the index has is what would be there.
        return match indexed {
            Some(entry) => Source::Blob(entry.id.clone(), entry.mode),
            None => Source::Known(Content::Absent),
        };
    }
    if data.as_ref().is_ok_and(std::fs::Metadata::is_dir) {
        return match indexed.filter(|entry| entry.mode == Mode::Submodule) {
            Some(entry) => Source::Known(Content::Submodule(entry.id.clone())),
            None => Source::Known(Content::Absent),
        };
    }
    if absent { Source::Known(Content::Absent) } else { Source::Disk(path) }
}

/// Whether a file on disk is an object of git, with carriage returns at line ends folded if it must be.
fn is_blob(options: &Options, repository: &Repository, path: &Path, id: &str, mode: Mode) -> bool {
    let bytes = match (disk::read(path, options.max_file_size), mode) {
        (Content::Bytes(bytes), Mode::File) => bytes,
        (Content::Link(target), Mode::Link) => target,
        _ => return false,
    };
    if object_id(repository, &bytes) == id {
        return true;
    }
    bytes.windows(2).any(|pair| pair == b"\r\n") && {
        let folded: Vec<u8> = super::file::folded(&bytes).collect();
        object_id(repository, &folded) == id
    }
}

/// The id that git gives a blob: the hash of its header and its bytes.
fn object_id(repository: &Repository, bytes: &[u8]) -> String {
    let header = format!("blob {}\0", bytes.len());
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    if repository.is_sha256() {
        hex(&sha2::Sha256::new().chain_update(header).chain_update(bytes).finalize())
    } else {
        hex(&sha1::Sha1::new().chain_update(header).chain_update(bytes).finalize())
    }
}

/// Makes one task of a file that is gone and the file that it became.
fn rename(options: &Options, repository: &Repository, mut tasks: Vec<Task>) -> anyhow::Result<Vec<Task>> {
    let absent = Source::Known(Content::Absent);
    let is_file = |source: &Source| matches!(source, Source::Blob(_, Mode::File) | Source::Disk(_));
    let gone: Vec<usize> = (0..tasks.len()).filter(|at| tasks[*at].new == absent && is_file(&tasks[*at].old)).collect();
    let came: Vec<usize> = (0..tasks.len()).filter(|at| tasks[*at].old == absent && is_file(&tasks[*at].new)).collect();
    if gone.is_empty() || came.is_empty() {
        return Ok(tasks);
    }
    let sources: Vec<&Source> =
        gone.iter().map(|at| &tasks[*at].old).chain(came.iter().map(|at| &tasks[*at].new)).collect();
    let ids = sources.iter().filter_map(|source| blob_id(source)).collect();
    let mut blobs = repository.blobs(ids)?;
    let signer = renames::Signer::default();
    let mut signatures = Vec::with_capacity(sources.len());
    for source in sources {
        signatures.push(signer.sign(&load(source, &mut blobs, options.max_file_size)?));
    }
    let came_signatures = signatures.split_off(gone.len());
    let named = |places: &[usize], signatures: Vec<Option<renames::Signature>>| {
        let zipped = places.iter().zip(signatures);
        zipped.filter_map(|(at, signature)| Some((*at, (tasks[*at].name.0.clone(), signature?)))).unzip()
    };
    let (gone, olds): (Vec<usize>, Vec<_>) = named(&gone, signatures);
    let (came, news): (Vec<usize>, Vec<_>) = named(&came, came_signatures);
    let mut dropped = HashSet::new();
    for (from, to) in renames::pair(&olds, &news) {
        let old = tasks[gone[from]].clone();
        tasks[came[to]].from = Some(old.name);
        tasks[came[to]].old = old.old;
        dropped.insert(gone[from]);
    }
    let mut at = 0;
    tasks.retain(|_| {
        at += 1;
        !dropped.contains(&(at - 1))
    });
    Ok(tasks)
}

/// The id under which a source has to be asked for.
pub(super) fn blob_id(source: &Source) -> Option<String> {
    match source {
        Source::Blob(id, _) => Some(id.clone()),
        _ => None,
    }
}

/// Reads a source; blobs come in the order in which they were asked for.
pub(super) fn load(source: &Source, blobs: &mut git::Blobs, max: u64) -> anyhow::Result<Content> {
    Ok(match source {
        Source::Known(content) => content.clone(),
        Source::Disk(path) => disk::read(path, max),
        Source::Blob(_, mode) => match blobs.next(max)? {
            Blob::Content(bytes) if *mode == Mode::Link => Content::Link(bytes),
            Blob::Content(bytes) => Content::Bytes(bytes),
            Blob::TooLarge(size) => disk::too_large(size, max),
            Blob::Missing => Content::Failed(
                "is not in this clone (a partial one?), and nothing is fetched; git fetch, or clone without --filter"
                    .into(),
            ),
        },
    })
}

/// A name from the top level as one from where the program runs (S7), with `/`.
fn relative(prefix: &Path, path: &[u8]) -> Vec<u8> {
    let prefix = git::git_path(prefix.as_os_str());
    let from: Vec<&[u8]> = prefix.split(|&b| b == b'/').filter(|part| !part.is_empty()).collect();
    let to: Vec<&[u8]> = path.split(|&b| b == b'/').collect();
    let common = from.iter().zip(&to[..to.len() - 1]).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n(&b".."[..], from.len() - common);
    up.chain(to[common..].iter().copied()).collect::<Vec<_>>().join(&b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_relative_to_where_the_program_runs() {
        for (prefix, path, expected) in [
            ("", "a/b.yaml", "a/b.yaml"),
            ("a", "a/b.yaml", "b.yaml"),
            ("a/c", "a/b.yaml", "../b.yaml"),
            ("x/y", "a.yaml", "../../a.yaml"),
            ("a.yaml", "a.yaml", "../a.yaml"),
        ] {
            assert_eq!(relative(Path::new(prefix), path.as_bytes()), expected.as_bytes(), "{prefix} {path}");
        }
    }
}
