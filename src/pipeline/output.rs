//! Where does the report go? To stdout, or to a file that is whole or is not there.

use super::children::{Guard, Running, Team, guard};
use super::statuses::{culprit, outcome};
use super::{Ended, Program, Stage};
use crate::outcome::Outcome;
use anyhow::anyhow;
use std::fs::File;
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Stdio};
use std::thread::JoinHandle;
use tempfile::NamedTempFile;

/// Where the last stage of the line writes to.
pub(super) struct Output {
    /// The file, where it is not the user's stdout.
    pending: Option<Pending>,
    /// Whether what is written is also kept, for whoever gets it after that.
    keeps: bool,
    copier: Option<JoinHandle<io::Result<Copied>>>,
}

/// What was written.
struct Copied {
    file: Option<NamedTempFile>,
    kept: Vec<u8>,
}

impl Output {
    /// To `path`, or to stdout; `keeps` says whether [`Output::finish`] gives it back too.
    ///
    /// # Errors
    /// A folder in which no file can be made.
    pub(super) fn new(path: Option<&Path>, keeps: bool) -> anyhow::Result<Output> {
        Ok(Output { pending: path.map(Pending::new).transpose()?, keeps, copier: None })
    }

    /// Starts the stage whose output this is. It inherits stdout where nothing else is done with it; a file is written by
    /// this process, which then knows that all of it is there.
    ///
    /// # Errors
    /// A stage that cannot be started.
    pub(super) fn start(&mut self, team: &Team, stage: &Stage, input: impl Into<Stdio>) -> anyhow::Result<Running> {
        if self.pending.is_none() && !self.keeps {
            return team.start(stage, input, Stdio::inherit());
        }
        let mut running = team.start(stage, input, Stdio::piped())?;
        let output = running.stdout()?;
        let file = self.pending.as_mut().and_then(|pending| pending.file.take());
        let keeps = self.keeps;
        self.copier = Some(std::thread::spawn(move || copy(output, file, keeps)));
        Ok(running)
    }

    /// Puts the file in its place, unless the stage that wrote it, the last of `ends`, was killed or could not even begin.
    /// A report that says that it is incomplete is a report. The stage must have ended. Gives back what was written, where
    /// that was asked for and the stage lived to its end.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub(super) fn finish(&mut self, ends: &[(Program, Ended)]) -> anyhow::Result<Option<Vec<u8>>> {
        let Some(copier) = self.copier.take() else { return Ok(None) };
        let copied = copier.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
        let Copied { file, kept } = match (copied, &self.pending) {
            (Ok(copied), _) => copied,
            (Err(error), Some(pending)) => return Err(cannot_write(&pending.path, &error)),
            (Err(error), None) => return Err(anyhow!("cannot write standard output: {}", error.kind())),
        };
        let last = &ends[ends.len().saturating_sub(1)..];
        if culprit(last).is_some() {
            return Ok(None);
        }
        if let (Some(pending), Some(file)) = (&self.pending, file) {
            let empty = file.as_file().metadata().is_ok_and(|data| data.len() == 0);
            if !(empty && outcome(last) == Outcome::Trouble) {
                pending.place(file)?;
            }
        }
        Ok(self.keeps.then_some(kept))
    }
}

/// Copies to the file or to stdout. A reader of stdout that is gone ends nothing.
fn copy(mut from: ChildStdout, mut file: Option<NamedTempFile>, keeps: bool) -> io::Result<Copied> {
    let (mut kept, mut gone, mut chunk) = (Vec::new(), false, vec![0; 1 << 16]);
    loop {
        let length = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let bytes = &chunk[..length];
        match &mut file {
            Some(file) => file.write_all(bytes)?,
            None if gone => {}
            None => {
                let mut out = io::stdout().lock();
                match out.write_all(bytes).and_then(|()| out.flush()) {
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => gone = true,
                    other => other?,
                }
            }
        }
        if keeps {
            kept.extend_from_slice(bytes);
        }
    }
    if let Some(file) = &mut file {
        file.flush()?;
    }
    Ok(Copied { file, kept })
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
