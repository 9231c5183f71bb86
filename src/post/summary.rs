//! Where does a report go that no comment may hold? Into the job's summary: a file that the runner names and shows.
//!
//! It is the way out for a fork's pull request, which has no token that may write. The file is the whole step's, so what
//! is there stays; the runner throws a summary of more than [`BYTES`] away whole, so a report that does not fit is not
//! appended at all.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

/// What a job summary takes, in bytes (actions/runner, FileCommandManager.cs).
pub(super) const BYTES: u64 = 1 << 20;

/// Appends a text, whole or not at all, after an empty line where something stands there already.
///
/// # Errors
/// Why it is not there.
pub(super) fn append(path: &Path, text: &str) -> Result<(), String> {
    let cannot = |error: &io::Error| format!("the job summary cannot be written: {}", error.kind());
    let mut file = open(path).map_err(|error| match is_link(path) {
        true => "the job summary is a link, which no runner makes; it is not followed".to_string(),
        false => cannot(&error),
    })?;
    let data = file.metadata().map_err(|error| cannot(&error))?;
    if !data.is_file() {
        return Err("the job summary is no file".into());
    }
    lock(&file);
    let there = file.metadata().map_err(|error| cannot(&error))?.len();
    let gap = if there == 0 { "" } else { "\n" };
    let block = format!("{gap}{}\n", text.trim_end_matches(['\r', '\n']));
    if there + block.len() as u64 > BYTES {
        return Err(format!("the job summary has no room for it: {} bytes are there, 1 MiB is the most", there));
    }
    file.write_all(block.as_bytes()).map_err(|error| {
        // A disk that is full in the middle of it.
        let _ = file.set_len(there);
        cannot(&error)
    })
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|data| data.is_symlink())
}

/// Through no link: whoever could put one there could have the report appended to a file of their choice.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    // A named pipe without a reader would hold the run.
    let flags =
        OFlags::APPEND | OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::from_raw_mode(0o666))?))
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    if is_link(path) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    File::options().append(true).create(true).open(path)
}

/// Two flectos of one step do not both see the same room. Without a lock (a file system that has none) they may.
fn lock(file: &File) {
    #[cfg(unix)]
    let _ = rustix::fs::flock(file, rustix::fs::FlockOperation::LockExclusive);
    #[cfg(not(unix))]
    let _ = file;
}
