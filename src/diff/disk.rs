//! What is on disk under this name? Files are opened only where they are plain files; links are read, never followed.

use super::file::Content;
use crate::git;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Reads a file, or says what it is instead.
pub(super) fn read(path: &Path, max: u64) -> Content {
    let data = match path.symlink_metadata() {
        Ok(data) => data,
        Err(error) if is_absent(&error) => return Content::Absent,
        Err(error) => return Content::Failed(unreadable(&error)),
    };
    if data.is_symlink() {
        return match path.read_link() {
            Ok(target) => Content::Link(git::git_path(target.as_os_str())),
            Err(error) => Content::Failed(unreadable(&error)),
        };
    }
    if data.is_dir() {
        return Content::Absent;
    }
    if !data.is_file() {
        return Content::Failed("is no plain file (a pipe, a socket or a device), which is never opened".into());
    }
    if data.len() > max {
        return too_large(data.len(), max);
    }
    match open(path) {
        Ok(file) => drain(file, data.len(), max),
        Err(error) => Content::Failed(unreadable(&error)),
    }
}

/// Reads an open stream to its end, which is `expected` bytes away if nothing has changed. A byte more of room lets the last
/// read see the end.
pub(super) fn drain(input: impl io::Read, expected: u64, max: u64) -> Content {
    let mut bytes = Vec::with_capacity(usize::try_from(expected.min(max)).map_or(0, |size| size + 1));
    match input.take(max.saturating_add(1)).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > max => too_large(bytes.len() as u64, max),
        Ok(_) => Content::Bytes(bytes),
        Err(error) => Content::Failed(unreadable(&error)),
    }
}

/// Opens a file that was a plain file a moment ago; one that has become a pipe or a link meanwhile is not waited for and
/// not followed.
fn open(path: &Path) -> io::Result<File> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
        options.custom_flags(flags.bits().cast_signed());
    }
    options.open(path)
}

pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The message for a side that weighs too much.
pub(super) fn too_large(size: u64, max: u64) -> Content {
    Content::Failed(format!(
        "has {} where {max} are allowed; raise --max-file-size if it is meant",
        crate::text::count(size, "byte")
    ))
}

pub(super) fn unreadable(error: &io::Error) -> String {
    format!("cannot be read: {}", error.kind())
}
