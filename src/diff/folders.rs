//! Two files or folders on disk, and whether a folder is one: the side of the comparison that git does not see.

use super::file::{Content, Name};
use super::plan::{Plan, Source, Task};
use super::{Handed, HandedSide, Options, disk};
use crate::git;
use crate::record::Start;
use crate::text;
use anyhow::Context as _;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Whether the folders above a name are folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// They are.
    Plain,
    /// One of them is a link.
    Link,
}

/// Remembers which folders of a work tree are links.
#[derive(Debug)]
pub(super) struct Folders<'r> {
    top: &'r Path,
    known: Mutex<HashMap<Vec<u8>, Reach>>,
}

impl<'r> Folders<'r> {
    pub(super) fn new(top: &'r Path) -> Folders<'r> {
        Folders { top, known: Mutex::default() }
    }

    /// What lies between the top level and a name.
    pub(super) fn reach(&self, name: &[u8]) -> Reach {
        let Some(slash) = name.iter().rposition(|&b| b == b'/') else { return Reach::Plain };
        let folder = &name[..slash];
        if let Some(known) = self.known.lock().ok().and_then(|known| known.get(folder).copied()) {
            return known;
        }
        let above = self.reach(folder);
        let link = || self.top.join(git::os_path(folder)).symlink_metadata().is_ok_and(|data| data.is_symlink());
        let reach = if above == Reach::Link || link() { Reach::Link } else { Reach::Plain };
        if let Ok(mut known) = self.known.lock() {
            known.insert(folder.to_vec(), reach);
        }
        reach
    }
}

/// Plans the comparison of two files or two folders.
///
/// # Errors
/// Other than two operands; a file with a folder; one that is not there.
pub(super) fn plan(options: &Options) -> anyhow::Result<Plan> {
    let [old, new] = &options.targets[..] else {
        anyhow::bail!("--no-index compares two files or two folders: --no-index OLD NEW")
    };
    anyhow::ensure!(old != "-" || new != "-", "standard input cannot be both sides; name a file for one of them");
    let (before, after) = (Operand::read(options, old)?, Operand::read(options, new)?);
    let baseline = before.label.clone();
    let to = Some(after.label.clone());
    let (tasks, files) = match (&before.kind, &after.kind) {
        (Kind::File(_), Kind::Folder) | (Kind::Folder, Kind::File(_)) => {
            anyhow::bail!("{} and {}: a file and a folder; name two files or two folders", before.shown, after.shown)
        }
        (Kind::Nothing, Kind::Nothing) => anyhow::bail!("both sides are nothing; name two files or two folders"),
        (Kind::Folder, _) | (_, Kind::Folder) => folders(options, &before, &after)?,
        (old, new) => {
            let named = if matches!(new, Kind::Nothing) { &before } else { &after };
            let source = |kind: &Kind| match kind {
                Kind::File(source) => source.clone(),
                _ => Source::Known(Content::Absent),
            };
            let name = Name(named.label.clone().into_bytes());
            let against = matches!(old, Kind::File(_)).then(|| Name(before.label.clone().into_bytes()));
            (vec![Task { name, from: None, against, old: source(old), new: source(new), literal: true }], 1)
        }
    };
    anyhow::ensure!(
        files > 0 || options.allow_empty,
        "{} and {}: no file of a known format in either; say --input-format, or --allow-empty if that is meant",
        before.shown,
        after.shown
    );
    let start = Start { version: crate::record::VERSION, baseline, commit: None, to };
    Ok(Plan { start, tasks, files, names: Vec::new(), repository: None, on_disk: false, said: Vec::new() })
}

/// Plans the comparison of one file as git hands it to an external diff program.
pub(super) fn handed(options: &Options, handed: &Handed) -> Plan {
    let source = |side: &HandedSide| {
        if side.mode == "." || is_nothing(&side.file) {
            return Source::Known(Content::Absent);
        }
        let path = options.directory.join(&side.file);
        match (side.mode.as_str(), disk::read(&path, options.max_file_size)) {
            // git writes the target of a link into a file.
            ("120000", Content::Bytes(target)) => Source::Known(Content::Link(target)),
            ("160000", _) => Source::Known(Content::Submodule(side.id.clone())),
            (_, content) => Source::Known(content),
        }
    };
    let name = |name: &OsStr| Name(git::git_path(name));
    let task = Task {
        name: name(&handed.name),
        from: handed.from.as_deref().map(name),
        against: None,
        old: source(&handed.old),
        new: source(&handed.new),
        literal: true,
    };
    let start = Start { version: crate::record::VERSION, baseline: "the old side".into(), commit: None, to: None };
    Plan { start, tasks: vec![task], files: 1, names: Vec::new(), repository: None, on_disk: false, said: Vec::new() }
}

/// One of the two things that are compared.
struct Operand {
    path: PathBuf,
    kind: Kind,
    /// What it is called in records: relative to where the program runs, else its bare name.
    label: String,
    /// As it was written.
    shown: String,
}

enum Kind {
    File(Source),
    Folder,
    /// `/dev/null`: the side that does not exist.
    Nothing,
}

impl Operand {
    fn read(options: &Options, operand: &OsStr) -> anyhow::Result<Operand> {
        let shown = text::escape(&operand.to_string_lossy()).into_owned();
        anyhow::ensure!(!operand.is_empty(), "an empty file name; name two files or two folders");
        let path = options.directory.join(operand);
        let label = label(&options.directory, &path);
        if operand == "-" {
            let content = disk::drain(std::io::stdin().lock(), 0, options.max_file_size);
            return Ok(Operand { path, kind: Kind::File(Source::Known(content)), label: "-".into(), shown });
        }
        if is_nothing(operand) {
            return Ok(Operand { path, kind: Kind::Nothing, label: "nothing".into(), shown });
        }
        let data = path.symlink_metadata().map_err(|error| {
            let what = if disk::is_absent(&error) { "is not there".to_string() } else { disk::unreadable(&error) };
            anyhow::anyhow!("{shown}: {what}; name two files or two folders")
        })?;
        // The operator named it: a link in the last place is followed, as the shell's own tools do. A pipe is read only
        // where the shell made one for this purpose.
        let real = path.metadata().with_context(|| format!("{shown}: a link that leads nowhere"))?;
        let kind = if real.is_dir() {
            Kind::Folder
        } else if real.is_file() {
            let target = if data.is_symlink() { path.canonicalize()? } else { path.clone() };
            Kind::File(Source::Disk(target))
        } else if path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd") || path == Path::new("/dev/stdin") {
            let file = std::fs::File::open(&path).with_context(|| format!("{shown}: cannot be opened"))?;
            Kind::File(Source::Known(disk::drain(file, 0, options.max_file_size)))
        } else {
            Kind::File(Source::Disk(path.clone()))
        };
        Ok(Operand { path, kind, label, shown })
    }
}

/// `/dev/null`, and what git for Windows passes for it.
fn is_nothing(operand: &OsStr) -> bool {
    operand == "/dev/null" || cfg!(windows) && operand.eq_ignore_ascii_case("nul")
}

/// What a path is called in records (S7).
fn label(directory: &Path, path: &Path) -> String {
    let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
    let inside = match (directory.canonicalize().ok(), parent, path.file_name()) {
        (Some(directory), Some(parent), Some(name)) => {
            parent.join(name).strip_prefix(directory).ok().map(Path::to_path_buf)
        }
        _ => None,
    };
    let name = match &inside {
        Some(inside) if !inside.as_os_str().is_empty() => inside.as_os_str(),
        _ => path.file_name().unwrap_or(OsStr::new(".")),
    };
    String::from_utf8_lossy(&git::git_path(name)).into_owned()
}

/// The files of two folders, by their names within.
fn folders(options: &Options, before: &Operand, after: &Operand) -> anyhow::Result<(Vec<Task>, u64)> {
    let mut pairs: BTreeMap<Vec<u8>, (Source, Source)> = BTreeMap::new();
    let absent = || Source::Known(Content::Absent);
    for (side, operand) in [before, after].into_iter().enumerate() {
        if !matches!(operand.kind, Kind::Folder) {
            continue;
        }
        for (name, source) in walk(&operand.path)? {
            let pair = pairs.entry(name).or_insert_with(|| (absent(), absent()));
            if side == 0 { pair.0 = source } else { pair.1 = source }
        }
    }
    pairs.retain(|name, _| options.format_of(&String::from_utf8_lossy(name)).is_some());
    let files = pairs.len() as u64;
    // Below the folder that the program runs in, names are from there.
    let named = if matches!(after.kind, Kind::Folder) { after } else { before };
    let prefix = match options.directory.canonicalize().ok().zip(named.path.canonicalize().ok()) {
        Some((directory, folder)) => folder.strip_prefix(&directory).ok().map(|rest| git::git_path(rest.as_os_str())),
        None => None,
    };
    let tasks = pairs.into_iter().map(|(name, (old, new))| {
        let name = match &prefix {
            Some(prefix) if !prefix.is_empty() => [&prefix[..], b"/", &name[..]].concat(),
            _ => name,
        };
        Task { name: Name(name), from: None, against: None, old, new, literal: false }
    });
    let mut tasks: Vec<Task> = tasks.collect();
    tasks.sort_by(|a, b| a.name.cmp(&b.name));
    Ok((tasks, files))
}

/// Every file below a folder. Links are files here; what cannot be read is named, and the rest goes on.
fn walk(folder: &Path) -> anyhow::Result<Vec<(Vec<u8>, Source)>> {
    let mut out = Vec::new();
    let mut builder = ignore::WalkBuilder::new(folder);
    builder.standard_filters(false).follow_links(false).sort_by_file_path(Ord::cmp);
    for entry in builder.build() {
        let (path, source) = match entry {
            Ok(entry) if entry.depth() == 0 => continue,
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_dir()) => continue,
            Ok(entry) => (entry.path().to_path_buf(), Source::Disk(entry.path().to_path_buf())),
            Err(error) => {
                let kind =
                    error.io_error().map_or_else(|| "an unknown error".to_string(), |error| error.kind().to_string());
                anyhow::bail!("{}: a folder in it cannot be read: {kind}", text::escape(&folder.to_string_lossy()))
            }
        };
        if let Ok(name) = path.strip_prefix(folder) {
            out.push((git::git_path(name.as_os_str()), source));
        }
    }
    Ok(out)
}
