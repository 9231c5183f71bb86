//! What does git know? The one module that runs git.
//!
//! Every command runs from the top level of the repository that the start directory is in, never from a target's
//! folder, with options and an environment under which git starts nothing of the repository's: no external diff, no
//! textconv, no filter, no hook, no file system monitor, no replace refs, and no network. git 2.30 is enough.
//!
//! git's own words are for people at a terminal in some language; here it runs with `LC_ALL=C`, what is known is turned
//! into an [`Error`] that names the way out, and the rest is shown as one escaped, shortened line.

use crate::environment;
use crate::limits::MAX_ERROR_TEXT;
use crate::text;
use std::ffi::OsStr;
use std::fmt;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;

/// Options before the subcommand of every call. Those given with `-c` count as the operator's own ("protected").
const OPTIONS: [&str; 13] = [
    "--no-pager",
    "--no-replace-objects",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "safe.bareRepository=explicit",
    "-c",
    "core.warnAmbiguousRefs=true",
    "-c",
    "protocol.allow=never",
    "-c",
    "core.quotePath=false",
];

/// Variables that would change what the commands below say.
const REMOVED: [&str; 7] = [
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_PAGER",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_REFLOG_ACTION",
];

/// The most paths that are passed to one git command; with more, git is asked for everything.
const MAX_PATHS: usize = 500;

/// Why git could not answer. Made from git's kind of failure; what it quotes of git is escaped and short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no `git` to run, or it cannot be started.
    NoGit,
    /// The start directory is in no repository.
    NoRepository,
    /// A repository without a work tree.
    Bare,
    /// git refuses a repository that somebody else owns. The command that git recommends.
    Unsafe(String),
    /// A revision that is no commit here: the revision and what is wrong with it, with the way out.
    Revision(String, String),
    /// There is no commit yet.
    Unborn,
    /// A path inside a submodule.
    Submodule(String),
    /// Anything else, by git's first line, escaped.
    Other(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoGit => f.write_str("git cannot be started; install git 2.30 or later, or compare two files with --no-index"),
            Error::NoRepository => {
                f.write_str("this is no git repository; run in one (-C DIR), or compare two files with --no-index OLD NEW")
            }
            Error::Bare => f.write_str(
                "this is a bare repository, which has no files to compare; run in a work tree of it (git worktree add)",
            ),
            Error::Unsafe(remedy) => write!(f, "git refuses this repository because another user owns it; if you trust it: {remedy}"),
            Error::Revision(revision, problem) => write!(f, "`{}` {problem}", text::escape(revision)),
            Error::Unborn => f.write_str(
                "there is no commit yet to compare with; commit something, use --staged, or compare two files with --no-index",
            ),
            Error::Submodule(path) => write!(
                f,
                "{}: inside a submodule, which is a repository of its own; run there (-C DIR)",
                text::escape(path)
            ),
            Error::Other(line) => write!(f, "git failed: {line}"),
        }
    }
}

impl std::error::Error for Error {}

/// A repository with a work tree.
#[derive(Clone, Debug)]
pub struct Repository {
    top: PathBuf,
    prefix: PathBuf,
    shallow: bool,
    sha256: bool,
}

/// What an entry of a tree or of the index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A file, executable or not.
    File,
    /// A symbolic link; the blob is its target.
    Link,
    /// A submodule; the id is a commit of it.
    Submodule,
}

/// A name in a tree or in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// From the top level, with `/`, as bytes.
    pub path: Vec<u8>,
    /// What it is.
    pub mode: Mode,
    /// The id of its object, in hex.
    pub id: String,
    /// 0; 1 to 3 for the sides of an unresolved merge.
    pub stage: u8,
}

/// A name that git sees in the work tree: tracked, or neither tracked nor ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkName {
    /// From the top level, with `/`, as bytes. A nested repository ends in `/`.
    pub path: Vec<u8>,
    /// Whether it is in the index.
    pub tracked: bool,
    /// Whether it is left out of the work tree on purpose (a sparse checkout).
    pub sparse: bool,
}

/// What an object turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blob {
    /// A file's content.
    Content(Vec<u8>),
    /// More bytes than were asked for: how many.
    TooLarge(u64),
    /// Not here: a partial clone, or a broken repository.
    Missing,
}

/// Which git this is: `2.43.0`.
///
/// # Errors
/// There is none.
pub fn version() -> Result<String, Error> {
    let output = command(Path::new("."), Path::new(".")).arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(|_| Error::NoGit)?;
    // `git version 2.43.0`, and on some systems more after it.
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.split_whitespace().nth(2).unwrap_or_default().to_string())
}

impl Repository {
    /// The repository that `start` is in.
    ///
    /// # Errors
    /// No repository, a bare one, or one that git refuses.
    pub fn discover(start: &Path) -> Result<Repository, Error> {
        let mut command = command(start, start);
        command.args(["rev-parse", "--is-shallow-repository", "--show-object-format", "--show-toplevel"]);
        let output = command.stdin(Stdio::null()).output().map_err(|_| Error::NoGit)?;
        if !output.status.success() {
            return Err(failure(&output.stderr));
        }
        // The top level comes last, because it alone can contain a newline.
        let mut parts = output.stdout.splitn(3, |&b| b == b'\n');
        let mut next = || parts.next().unwrap_or_default();
        let (shallow, format, top) = (next() == b"true", next(), next());
        let top = top.strip_suffix(b"\n").unwrap_or(top);
        if top.is_empty() {
            return Err(Error::Bare);
        }
        let top = os_path(top);
        let top = top.canonicalize().unwrap_or(top);
        let real = start.canonicalize().map_err(|_| Error::NoRepository)?;
        let prefix = real.strip_prefix(&top).map(Path::to_path_buf).unwrap_or_default();
        Ok(Repository { top, prefix, shallow, sha256: format == b"sha256" })
    }

    /// The top level of the work tree, without links.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The start directory, from the top level; empty at the top level.
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// Whether object ids are SHA-256 and not SHA-1.
    pub fn is_sha256(&self) -> bool {
        self.sha256
    }

    /// The id of the commit that a revision names (G2).
    ///
    /// # Errors
    /// Anything that is not exactly one commit: a range, an option, a file, an ambiguous or unknown name.
    pub fn commit(&self, revision: &str) -> Result<String, Error> {
        let bad = |problem: String| Err(Error::Revision(revision.to_string(), problem));
        if revision.is_empty() {
            return bad("is no revision; an empty variable? Leave the option out to compare with HEAD".into());
        }
        if revision.starts_with('-') {
            return bad("looks like an option, not a revision; name one commit".into());
        }
        if revision.contains("..") || revision.starts_with('^') {
            return bad("is a range; name one commit (--merge-base takes the common ancestor, as A...B does)".into());
        }
        if revision.contains(':') {
            return bad("names a file or a search, not a commit; name one commit".into());
        }
        let spec = format!("{revision}^{{commit}}");
        let output = self.run(["rev-parse", "--verify", "--end-of-options", &spec])?;
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("is ambiguous") {
            return bad(
                "is ambiguous; say which is meant (refs/heads/NAME, refs/tags/NAME, refs/remotes/origin/NAME, or a longer id)"
                    .into(),
            );
        }
        let lines: Vec<&[u8]> = output.stdout.split(|&b| b == b'\n').filter(|line| !line.is_empty()).collect();
        if output.status.success()
            && let [id] = lines[..]
            && is_id(id)
        {
            return Ok(String::from_utf8_lossy(id).into_owned());
        }
        if revision == "HEAD" && !self.shallow && self.is_unborn() {
            return Err(Error::Unborn);
        }
        let here = self.top.join(&self.prefix).join(revision);
        if here.symlink_metadata().is_ok() {
            return bad("is a file here, not a revision; give it as a target".into());
        }
        if self.shallow {
            return bad(
                "is not in this clone, which is shallow; git fetch --unshallow (actions/checkout: fetch-depth: 0)"
                    .into(),
            );
        }
        let remote = revision.split_once('/').filter(|(remote, _)| self.has_remote(remote));
        match remote {
            Some((remote, branch)) => bad(format!(
                "is no commit of this repository; git fetch {} {}",
                text::escape(remote),
                text::escape(branch)
            )),
            None => bad("is no commit of this repository; see git branch --all, or fetch it first".into()),
        }
    }

    /// The common ancestor of two commits, and whether there are others as good.
    ///
    /// # Errors
    /// Commits without one.
    pub fn merge_base(&self, old: &str, new: &str, revision: &str) -> Result<(String, bool), Error> {
        let output = self.run(["merge-base", "--all", old, new])?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut ids = text.lines().filter(|line| is_id(line.as_bytes()));
        match ids.next() {
            Some(id) => Ok((id.to_string(), ids.next().is_some())),
            None if self.shallow => Err(Error::Revision(
                revision.to_string(),
                "has no common ancestor in this clone, which is shallow; git fetch --unshallow (actions/checkout: fetch-depth: 0)"
                    .into(),
            )),
            None => Err(Error::Revision(
                revision.to_string(),
                "has no common ancestor with what it is compared with; leave --merge-base out".into(),
            )),
        }
    }

    /// The files of a commit, at and below `paths`; all with none.
    ///
    /// # Errors
    /// As git fails.
    pub fn tree(&self, commit: &str, paths: &[Vec<u8>]) -> Result<Vec<Entry>, Error> {
        let mut command = self.command();
        command.args(["ls-tree", "-r", "-z", "--full-tree", commit]);
        let out = self.listing(command, paths)?;
        Ok(out.split(|&b| b == 0).filter_map(|line| entry(line, false)).collect())
    }

    /// The files of the index, at and below `paths`; all with none.
    ///
    /// # Errors
    /// As git fails.
    pub fn index(&self, paths: &[Vec<u8>]) -> Result<Vec<Entry>, Error> {
        let mut command = self.command();
        command.args(["ls-files", "-z", "--stage"]);
        let out = self.listing(command, paths)?;
        Ok(out.split(|&b| b == 0).filter_map(|line| entry(line, true)).collect())
    }

    /// The names that git sees in the work tree, at and below `paths`; all with none. Those that are ignored only where
    /// asked for. Files are not opened.
    ///
    /// # Errors
    /// As git fails.
    pub fn work_names(&self, paths: &[Vec<u8>], ignored: bool) -> Result<Vec<WorkName>, Error> {
        let mut command = self.command();
        command.args(["ls-files", "-z", "-t", "--cached", "--others"]);
        if !ignored {
            command.arg("--exclude-standard");
        }
        let out = self.listing(command, paths)?;
        let mut names: Vec<WorkName> = out
            .split(|&b| b == 0)
            .filter(|line| line.len() > 2)
            .map(|line| WorkName { path: line[2..].to_vec(), tracked: line[0] != b'?', sparse: line[0] == b'S' })
            .collect();
        names.sort_by(|a, b| a.path.cmp(&b.path));
        names.dedup_by(|a, b| a.path == b.path);
        Ok(names)
    }

    /// Reads objects by id, in the order of `ids`.
    ///
    /// # Errors
    /// A git that cannot be started.
    pub fn blobs(&self, ids: Vec<String>) -> Result<Blobs, Error> {
        if ids.is_empty() {
            return Ok(Blobs::none());
        }
        let mut command = self.command();
        command.args(["cat-file", "--batch", "--buffer"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|_| Error::NoGit)?;
        let stdin = child.stdin.take();
        let out = child.stdout.take().map(|out| BufReader::with_capacity(1 << 16, out));
        // From a thread: git stops reading while its own output is not read.
        let feeder = std::thread::spawn(move || {
            let Some(stdin) = stdin else { return };
            let mut stdin = std::io::BufWriter::new(stdin);
            for id in ids {
                if stdin.write_all(id.as_bytes()).and_then(|()| stdin.write_all(b"\n")).is_err() {
                    return;
                }
            }
            let _ = stdin.flush();
        });
        Ok(Blobs { child: Some(child), out, feeder: Some(feeder) })
    }

    /// One file of a commit, by its name from the top level; `None` where there is none.
    ///
    /// # Errors
    /// As git fails; a link, a submodule, a missing object or more than `max` bytes.
    pub fn file(&self, commit: &str, path: &str, max: u64) -> Result<Option<Vec<u8>>, Error> {
        let entries = self.tree(commit, &[path.as_bytes().to_vec()])?;
        let Some(entry) = entries.into_iter().find(|entry| entry.path == path.as_bytes()) else { return Ok(None) };
        let what = match entry.mode {
            Mode::File => match self.blobs(vec![entry.id])?.next(max)? {
                Blob::Content(content) => return Ok(Some(content)),
                Blob::TooLarge(size) => format!("has {size} bytes, more than the {max} that are read"),
                Blob::Missing => "is not in this clone; fetch it first".to_string(),
            },
            Mode::Link => "is a link, which is not followed".to_string(),
            Mode::Submodule => "is a submodule".to_string(),
        };
        Err(Error::Revision(format!("{}:{path}", commit.get(..12).unwrap_or(commit)), what))
    }

    fn is_unborn(&self) -> bool {
        let known = self.run(["rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD"]);
        known.is_ok_and(|output| !output.status.success())
            && self.run(["symbolic-ref", "--quiet", "HEAD"]).is_ok_and(|output| output.status.success())
    }

    fn has_remote(&self, name: &str) -> bool {
        let output = self.run(["remote"]);
        output.is_ok_and(|output| output.stdout.split(|&b| b == b'\n').any(|line| line == name.as_bytes()))
    }

    fn command(&self) -> Command {
        command(&self.top, &self.top.join(&self.prefix))
    }

    fn run<const N: usize>(&self, args: [&str; N]) -> Result<std::process::Output, Error> {
        self.command().args(args).stdin(Stdio::null()).output().map_err(|_| Error::NoGit)
    }

    fn listing(&self, mut command: Command, paths: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
        if paths.len() <= MAX_PATHS && !paths.iter().any(Vec::is_empty) {
            command.arg("--").args(paths.iter().map(|path| os_path(path)));
        }
        let output = command.stdin(Stdio::null()).output().map_err(|_| Error::NoGit)?;
        if output.status.success() { Ok(output.stdout) } else { Err(failure(&output.stderr)) }
    }
}

/// Objects, one after the other, from one `git cat-file`.
#[derive(Debug)]
pub struct Blobs {
    child: Option<Child>,
    out: Option<BufReader<ChildStdout>>,
    feeder: Option<JoinHandle<()>>,
}

impl Blobs {
    /// No objects at all.
    pub fn none() -> Blobs {
        Blobs { child: None, out: None, feeder: None }
    }

    /// The next object. Of one larger than `max` bytes only the size is taken in.
    ///
    /// # Errors
    /// A git that died, or answers something else than was asked for.
    pub fn next(&mut self, max: u64) -> Result<Blob, Error> {
        let died = || Error::Other("git cat-file ended early; is the repository damaged? git fsck tells".into());
        let out = self.out.as_mut().ok_or_else(died)?;
        let mut header = Vec::new();
        out.read_until(b'\n', &mut header).map_err(|_| died())?;
        let header = String::from_utf8_lossy(&header);
        let mut words = header.split_ascii_whitespace();
        let (_, kind, size) = (words.next(), words.next(), words.next());
        match (kind, size.and_then(|size| size.parse::<u64>().ok())) {
            (Some("missing"), _) => Ok(Blob::Missing),
            (Some(kind), Some(size)) => {
                let fits = kind == "blob" && size <= max;
                let mut content = Vec::new();
                let mut body = out.by_ref().take(size);
                let length = if fits {
                    content.reserve_exact(usize::try_from(size).unwrap_or(0));
                    body.read_to_end(&mut content).map(|length| length as u64)
                } else {
                    std::io::copy(&mut body, &mut std::io::sink())
                };
                let mut newline = [0];
                out.read_exact(&mut newline).map_err(|_| died())?;
                match length {
                    Ok(length) if length != size => Err(died()),
                    Err(_) => Err(died()),
                    Ok(_) if kind != "blob" => Ok(Blob::Missing),
                    Ok(_) if !fits => Ok(Blob::TooLarge(size)),
                    Ok(_) => Ok(Blob::Content(content)),
                }
            }
            _ => Err(died()),
        }
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        // Closing our end ends git, and with it the feeder, also when not everything was read.
        drop(self.out.take());
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        if let Some(feeder) = self.feeder.take() {
            let _ = feeder.join();
        }
    }
}

/// A git command that starts in `dir`. Relative `GIT_DIR` and `GIT_WORK_TREE` count from `start`, where the user set them.
fn command(dir: &Path, start: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(dir).args(OPTIONS);
    environment::withhold_all(&mut command);
    for name in REMOVED {
        command.env_remove(name);
    }
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_TRACE") {
            command.env_remove(name);
        }
    }
    if dir != start {
        for name in ["GIT_DIR", "GIT_WORK_TREE"] {
            if let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) {
                command.env(name, start.join(value));
            }
        }
    }
    command
        .env("LC_ALL", "C")
        .env("LANGUAGE", "C")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0");
    command
}

/// What git's standard error says went wrong.
fn failure(stderr: &[u8]) -> Error {
    let said = String::from_utf8_lossy(stderr);
    if said.contains("dubious ownership") || said.contains("unsafe repository") {
        let remedy = said.lines().map(str::trim).find(|line| line.starts_with("git config"));
        let remedy = remedy.unwrap_or("git config --global --add safe.directory DIR");
        return Error::Unsafe(text::escape(remedy).into_owned());
    }
    if said.contains("must be run in a work tree") || said.contains("cannot use bare repository") {
        return Error::Bare;
    }
    if said.contains("not a git repository") {
        return Error::NoRepository;
    }
    if let Some((_, rest)) = said.split_once("Pathspec '")
        && let Some((path, _)) = rest.split_once("' is in submodule")
    {
        return Error::Submodule(path.to_string());
    }
    let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it gave no reason");
    let line = line.strip_prefix("fatal: ").unwrap_or(line);
    Error::Other(text::shorten(&text::escape(line), MAX_ERROR_TEXT).into_owned())
}

/// `100644 blob ID\tPATH` of ls-tree, `100644 ID 0\tPATH` of ls-files. Modes: git's documentation of `git fast-import`.
fn entry(line: &[u8], staged: bool) -> Option<Entry> {
    let tab = line.iter().position(|&b| b == b'\t')?;
    let head = std::str::from_utf8(&line[..tab]).ok()?;
    let mut words = head.split(' ').filter(|word| !word.is_empty());
    let mode = match words.next()? {
        "120000" => Mode::Link,
        "160000" => Mode::Submodule,
        _ => Mode::File,
    };
    let (id, stage) = if staged {
        (words.next()?, words.next()?.parse().ok()?)
    } else {
        words.next()?;
        (words.next()?, 0)
    };
    Some(Entry { path: line[tab + 1..].to_vec(), mode, id: id.to_string(), stage })
}

fn is_id(text: &[u8]) -> bool {
    matches!(text.len(), 40 | 64) && text.iter().all(u8::is_ascii_hexdigit)
}

/// A name as git has it, as a path of this system.
pub fn os_path(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        PathBuf::from(OsStr::from_bytes(bytes))
    }
    #[cfg(not(unix))]
    {
        PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
    }
}

/// A path of this system as git has it: bytes, with `/`.
pub fn git_path(path: &OsStr) -> Vec<u8> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        path.as_bytes().to_vec()
    }
    #[cfg(not(unix))]
    {
        path.to_string_lossy().replace('\\', "/").into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_are_read_by_their_fields() {
        let tree = entry(b"100644 blob 0123456789012345678901234567890123456789\ta b\n.yaml", false).expect("an entry");
        assert_eq!((tree.path.as_slice(), tree.mode, tree.stage), (&b"a b\n.yaml"[..], Mode::File, 0));
        let link = entry(b"120000 0123456789012345678901234567890123456789 2\tl", true).expect("an entry");
        assert_eq!((link.mode, link.stage), (Mode::Link, 2));
        assert_eq!(entry(b"", false), None);
    }

    #[test]
    fn gits_failures_name_the_way_out() {
        let said = b"fatal: detected dubious ownership in repository at '/x'\nTo add an exception for this directory, call:\n\n\tgit config --global --add safe.directory /x\n";
        assert_eq!(failure(said), Error::Unsafe("git config --global --add safe.directory /x".into()));
        assert_eq!(
            failure(b"fatal: not a git repository (or any of the parent directories): .git\n"),
            Error::NoRepository
        );
        assert_eq!(failure(b"fatal: Pathspec 'a/b' is in submodule 'a'\n"), Error::Submodule("a/b".into()));
        let long = format!("fatal: \x1b[31m{}", "x".repeat(900));
        let Error::Other(line) = failure(long.as_bytes()) else { panic!("another kind") };
        assert!(line.starts_with("\\u{1b}") && line.chars().count() <= MAX_ERROR_TEXT);
    }
}
