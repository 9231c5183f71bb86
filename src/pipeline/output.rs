//! Where does the report go? To stdout, or to a file that is whole or is not there.

use super::children::{Guard, Running, Team, guard};
use super::statuses::{culprit, outcome};
use super::{Ended, Program, Stage};
use crate::outcome::Outcome;
use anyhow::anyhow;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::JoinHandle;
use tempfile::NamedTempFile;

/// Where the last stage of the line writes to.
pub(super) enum Output {
    /// The user's stdout, which that stage inherits.
    Stdout,
    /// A file that will be put in its place; the thread fills it.
    File(Pending, Option<JoinHandle<io::Result<NamedTempFile>>>),
}

impl Output {
    /// To `path`, or to stdout.
    ///
    /// # Errors
    /// A folder in which no file can be made.
    pub(super) fn new(path: Option<&Path>) -> anyhow::Result<Output> {
        Ok(match path {
            None => Output::Stdout,
            Some(path) => Output::File(Pending::new(path)?, None),
        })
    }

    /// Starts the stage whose output this is. A file is written by this process, which then knows that all of it is there.
    ///
    /// # Errors
    /// A stage that cannot be started.
    pub(super) fn start(&mut self, team: &Team, stage: &Stage, input: impl Into<Stdio>) -> anyhow::Result<Running> {
        let Output::File(pending, copy) = self else { return team.start(stage, input, Stdio::inherit()) };
        let mut running = team.start(stage, input, Stdio::piped())?;
        let mut output = running.stdout()?;
        *copy = pending.file.take().map(|mut file| {
            std::thread::spawn(move || {
                io::copy(&mut output, &mut file)?;
                file.flush()?;
                Ok(file)
            })
        });
        Ok(running)
    }

    /// Puts the file in its place, unless the stage that wrote it, the last of `ends`, was killed or could not even begin.
    /// A report that says that it is incomplete is a report.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn finish(&mut self, ends: &[(Program, Ended)]) -> anyhow::Result<()> {
        let Output::File(pending, copy) = self else { return Ok(()) };
        let Some(copy) = copy.take() else { return Ok(()) };
        let written = copy.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
        let file = written.map_err(|error| cannot_write(&pending.path, &error))?;
        let empty = file.as_file().metadata().is_ok_and(|data| data.len() == 0);
        let last = &ends[ends.len().saturating_sub(1)..];
        if culprit(last).is_some() || outcome(last) == Outcome::Trouble && empty {
            return Ok(());
        }
        pending.place(file)
    }
}

/// Writes a file whole or not at all.
///
/// # Errors
/// A file that cannot be written.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let mut pending = Pending::new(path)?;
    let Some(mut file) = pending.file.take() else { return Ok(()) };
    file.write_all(bytes).map_err(|error| cannot_write(path, &error))?;
    pending.place(file)
}

/// A file that is not there yet: a temporary one in the same folder, which a signal does not leave behind.
pub(super) struct Pending {
    path: PathBuf,
    file: Option<NamedTempFile>,
    _guard: Guard,
}

impl Pending {
    fn new(path: &Path) -> anyhow::Result<Pending> {
        // Through a link, so that the link stays one.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        // A device or a pipe cannot be replaced; what it gets is kept elsewhere until it is whole.
        let special = path.metadata().is_ok_and(|data| !data.is_file());
        let own = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = if special { std::env::temp_dir() } else { own.to_path_buf() };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".flecto-");
        #[cfg(unix)]
        if !special {
            // As `>` would make it: the umask decides.
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder).map_err(|error| cannot_write(&path, &error))?;
        Ok(Pending { _guard: guard(file.path()), path, file: Some(file) })
    }

    fn place(&self, file: NamedTempFile) -> anyhow::Result<()> {
        let placed = match self.path.metadata() {
            Ok(data) if !data.is_file() => pour(&file, &self.path),
            Ok(data) => {
                let _ = file.as_file().set_permissions(data.permissions());
                file.persist(&self.path).map(drop).map_err(|error| error.error)
            }
            Err(_) => file.persist(&self.path).map(drop).map_err(|error| error.error),
        };
        placed.map_err(|error| cannot_write(&self.path, &error))
    }
}

/// Into a device or a pipe.
fn pour(file: &NamedTempFile, path: &Path) -> io::Result<()> {
    let mut device = File::options().write(true).open(path)?;
    io::copy(&mut file.reopen()?, &mut device)?;
    device.flush()
}

fn cannot_write(path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!("{}: cannot be written: {}", path.display(), error.kind())
}
