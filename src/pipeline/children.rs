//! Who is running, and how do they all end? Starting stages, waiting for them, and what a signal does.
//!
//! Nothing outlives the wrapper: on INT, TERM and HUP it ends its own children, by their ids, waits for them, and dies of
//! the same signal; when it is killed outright, their lifeline pipe closes (see [`environment::LIFELINE`]).
//!
//! A child's id is its own until it is reaped, so a child is waited for without being reaped first, and reaped under the
//! lock under which signals are sent: no signal can reach a stranger that got the id.

use super::{Argument, Attached, Ended, Program, Stage};
use crate::environment;
use anyhow::{Context as _, anyhow};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a signal has to end. A static, because signals are the process's.
static CREW: Mutex<Crew> = Mutex::new(Crew { ids: Vec::new(), files: Vec::new(), doomed: false });

struct Crew {
    /// Children that are not reaped.
    ids: Vec<u32>,
    /// Files and folders that must not stay behind.
    files: Vec<PathBuf>,
    /// A signal came: nothing is started or said any more.
    doomed: bool,
}

/// The lock. A thread that panicked while it held it ended the process, so poison is no news.
fn crew() -> MutexGuard<'static, Crew> {
    let crew = CREW.lock().unwrap_or_else(PoisonError::into_inner);
    if crew.doomed {
        drop(crew);
        // The thread that took the signal ends the process; whatever this thread would say now is noise.
        loop {
            std::thread::park();
        }
    }
    crew
}

/// A temporary file or folder that a signal does not leave behind. What removes it otherwise is its owner's business.
#[derive(Debug)]
pub struct Guard(PathBuf);

/// Guards `path` until the [`Guard`] is dropped.
pub fn guard(path: &Path) -> Guard {
    guard_file(path);
    Guard(path.to_path_buf())
}

impl Drop for Guard {
    fn drop(&mut self) {
        release_file(&self.0);
    }
}

/// Remembers a temporary file or folder, so that a signal does not leave it behind.
pub(super) fn guard_file(path: &Path) {
    crew().files.push(path.to_path_buf());
}

/// Forgets it again.
pub(super) fn release_file(path: &Path) {
    crew().files.retain(|file| file != path);
}

/// The folder of our programs, and what every stage inherits.
#[derive(Debug)]
pub(super) struct Team {
    folder: PathBuf,
    directory: Option<PathBuf>,
    attached: Option<(Guard, tempfile::TempDir)>,
    lifeline: Option<Lifeline>,
}

/// A pipe whose writing end only this process has.
#[derive(Debug)]
pub struct Lifeline {
    #[cfg(unix)]
    reader: std::io::PipeReader,
    #[cfg(unix)]
    _writer: std::io::PipeWriter,
}

impl Lifeline {
    /// Without one (no descriptor left, say) the stages still run; most end when their own pipes close.
    #[cfg(unix)]
    pub fn new() -> Option<Lifeline> {
        let (reader, writer) = std::io::pipe().ok()?;
        rustix::io::fcntl_setfd(&reader, rustix::io::FdFlags::empty()).ok()?;
        Some(Lifeline { reader, _writer: writer })
    }

    /// There is none on this platform.
    #[cfg(not(unix))]
    pub fn new() -> Option<Lifeline> {
        None
    }

    /// Makes a program of ours end when this process is gone.
    pub fn tie(&self, command: &mut Command) {
        #[cfg(unix)]
        {
            use std::os::fd::AsRawFd as _;
            command.env(environment::LIFELINE, self.reader.as_raw_fd().to_string());
        }
        #[cfg(not(unix))]
        let _ = command;
    }
}

impl Team {
    /// Finds the programs beside this one, links resolved, and never by PATH: a checkout's own `flecto-diff` is nobody's.
    /// Stages run in `directory`, or where this program does; the files that go with the plan are written out for them.
    ///
    /// # Errors
    /// Where this program is cannot be told, or a file cannot be written.
    pub(super) fn new(directory: Option<&Path>, attached: &[Attached]) -> anyhow::Result<Team> {
        let own = std::env::current_exe().and_then(|path| path.canonicalize());
        let own = own.map_err(|error| anyhow!("cannot find the folder of this program: {}", error.kind()))?;
        let folder = own.parent().context("this program is in no folder")?.to_path_buf();
        Ok(Team {
            folder,
            directory: directory.map(Path::to_path_buf),
            attached: if attached.is_empty() { None } else { Some(write_out(attached)?) },
            lifeline: Lifeline::new(),
        })
    }

    /// A program's file.
    pub(super) fn file(&self, program: Program) -> PathBuf {
        self.folder.join(format!("{}{}", program.name(), std::env::consts::EXE_SUFFIX))
    }

    /// Whether a program is there.
    ///
    /// # Errors
    /// What is missing and where it was looked for.
    pub(super) fn find(&self, program: Program) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.file(program).is_file(),
            "{} is not in {}, where this flecto is; install flecto again",
            program.name(),
            self.folder.display()
        );
        Ok(())
    }

    fn word(&self, argument: &Argument) -> OsString {
        match (argument, &self.attached) {
            (Argument::Word(word), _) => word.clone(),
            (Argument::Attached(name), Some((_, folder))) => folder.path().join(name).into(),
            (Argument::Attached(name), None) => name.into(),
        }
    }

    /// A stage, with the environment that it may see.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn start(
        &self,
        stage: &Stage,
        stdin: impl Into<Stdio>,
        stdout: impl Into<Stdio>,
    ) -> anyhow::Result<Running> {
        let mut command = Command::new(self.file(stage.program));
        command.args(stage.arguments.iter().map(|argument| self.word(argument))).stdin(stdin).stdout(stdout);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        for name in stage.program.withheld() {
            command.env_remove(name);
        }
        command.env(environment::WRAPPER, env!("CARGO_PKG_VERSION"));
        if let Some(lifeline) = &self.lifeline {
            lifeline.tie(&mut command);
        }
        let name = stage.program.name();
        let mut crew = crew();
        let child = command.spawn().map_err(|error| anyhow!("cannot start {name}: {}", error.kind()))?;
        crew.ids.push(child.id());
        Ok(Running { program: stage.program, child, ended: None })
    }
}

fn write_out(files: &[Attached]) -> anyhow::Result<(Guard, tempfile::TempDir)> {
    let failed = |error: std::io::Error| anyhow!("cannot write a temporary file: {}", error.kind());
    let folder = tempfile::Builder::new().prefix("flecto-").tempdir().map_err(failed)?;
    let guard = guard(folder.path());
    for file in files {
        std::fs::write(folder.path().join(&file.name), &file.bytes).map_err(failed)?;
    }
    Ok((guard, folder))
}

/// A stage that was started. Dropped before it ended, it is ended.
#[derive(Debug)]
pub(super) struct Running {
    program: Program,
    child: Child,
    ended: Option<Ended>,
}

impl Running {
    /// Which program it is.
    pub(super) fn program(&self) -> Program {
        self.program
    }

    /// Its stdin, where that is a pipe of ours and was not taken.
    pub(super) fn stdin(&mut self) -> anyhow::Result<ChildStdin> {
        self.child.stdin.take().context("a stage without a pipe")
    }

    /// Its stdout, where that is a pipe of ours and was not taken.
    pub(super) fn stdout(&mut self) -> anyhow::Result<ChildStdout> {
        self.child.stdout.take().context("a stage without a pipe")
    }

    /// Waits for its end.
    pub(super) fn wait(&mut self) -> Ended {
        if let Some(ended) = self.ended {
            return ended;
        }
        self.await_unreaped();
        self.reap()
    }

    /// Waits for its end until `deadline`, then ends it.
    pub(super) fn wait_until(&mut self, deadline: Instant) -> Ended {
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(ended) = self.ended {
                return ended;
            }
            if self.has_ended() {
                return self.reap();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.kill();
                self.ended = Some(Ended::Hung);
                return Ended::Hung;
            }
            std::thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Ends it, at once and also when it is stopped.
    pub(super) fn kill(&mut self) {
        if self.ended.is_some() {
            return;
        }
        {
            let _crew = crew();
            let _ = self.child.kill();
        }
        self.wait();
    }

    fn reap(&mut self) -> Ended {
        let mut crew = crew();
        let ended = self.child.wait().map_or(Ended::Status(2), Ended::from);
        let id = self.child.id();
        crew.ids.retain(|&other| other != id);
        self.ended = Some(ended);
        ended
    }

    #[cfg(unix)]
    fn await_unreaped(&self) {
        let _ = unreaped(self.child.id(), rustix::process::WaitIdOptions::empty());
    }

    #[cfg(unix)]
    fn has_ended(&self) -> bool {
        // An error means that there is nothing to wait for.
        !matches!(unreaped(self.child.id(), rustix::process::WaitIdOptions::NOHANG), Ok(None))
    }

    /// Nothing sends signals here, so reaping at once is safe.
    #[cfg(not(unix))]
    fn await_unreaped(&self) {}

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits for a child without reaping it.
#[cfg(unix)]
fn unreaped(
    id: u32,
    options: rustix::process::WaitIdOptions,
) -> rustix::io::Result<Option<rustix::process::WaitIdStatus>> {
    use rustix::process::{WaitId, WaitIdOptions};
    let Some(id) = pid(id) else { return Ok(None) };
    let options = options | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::io::retry_on_intr(|| rustix::process::waitid(WaitId::Pid(id), options))
}

#[cfg(unix)]
fn pid(id: u32) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(i32::try_from(id).ok()?)
}

/// From here on INT, TERM and HUP end the children first. A signal that this process was started to ignore (`nohup`)
/// stays ignored.
#[cfg(unix)]
pub fn heed_signals() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(watch_signals);
}

#[cfg(unix)]
fn watch_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
    let Ok(mut signals) = signal_hook::iterator::Signals::new(wanted) else { return };
    let _ = std::thread::Builder::new().name("signals".into()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            end_children();
            // Comes back only where the platform cannot die of it.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
            std::process::exit(128 + signal);
        }
    });
}

/// Nothing to do where there are no such signals: a console ends its processes together.
#[cfg(not(unix))]
pub fn heed_signals() {}

#[cfg(unix)]
fn end_children() {
    use rustix::process::{Signal, WaitId, WaitIdOptions, kill_process, waitid};
    let (ids, files) = {
        let mut crew = CREW.lock().unwrap_or_else(PoisonError::into_inner);
        crew.doomed = true;
        let ids: Vec<_> = std::mem::take(&mut crew.ids).into_iter().filter_map(pid).collect();
        for &id in &ids {
            // KILL, so that one that is stopped or hung ends too; our stages keep nothing that TERM would let them save.
            let _ = kill_process(id, Signal::KILL);
        }
        (ids, std::mem::take(&mut crew.files))
    };
    for id in ids {
        let _ = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(id), WaitIdOptions::EXITED));
    }
    for file in files {
        let _ = if file.is_dir() { std::fs::remove_dir_all(file) } else { std::fs::remove_file(file) };
    }
}

/// The signals that are ignored, as the bits of `/proc/self/status`; none where that cannot be read.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}
