//! How is a tool's work done? By `flecto` as a process of its own, in the served folder, bounded in time and output, that sees
//! no key and no token and ends when this process does.

use crate::environment;
use crate::pipeline::Lifeline;
use crate::text;
use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest that a call may take.
const TIME: Duration = Duration::from_secs(60);

/// How often a call looks whether it was cancelled.
const PAUSE: Duration = Duration::from_millis(20);

/// How much of what `flecto` says on stderr is told.
const MAX_SAID: usize = 2000;

/// Where the work is done.
pub(super) struct Workshop {
    program: PathBuf,
    folder: PathBuf,
    lifeline: Option<Lifeline>,
    /// The call that is worked on, until it is cancelled.
    current: Mutex<Option<String>>,
}

/// Why a call gave nothing.
pub(super) enum Failed {
    /// For the reason that was said.
    Said(String),
    /// The output is over its bound.
    Long,
}

impl Workshop {
    pub(super) fn new(folder: PathBuf) -> anyhow::Result<Workshop> {
        let program = std::env::current_exe().and_then(|path| path.canonicalize());
        let program = program.map_err(|error| anyhow::anyhow!("cannot find this program: {}", error.kind()))?;
        Ok(Workshop { program, folder, lifeline: Lifeline::new(), current: Mutex::default() })
    }

    /// Ends the work on a call, if it is the one that is worked on.
    pub(super) fn cancel(&self, id: &str) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.as_deref() == Some(id) {
            *current = None;
        }
    }

    fn is_current(&self) -> bool {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Runs `flecto` with these words and gives its stdout, up to `limit` bytes.
    pub(super) fn run(&self, id: &str, words: impl Iterator<Item = OsString>, limit: usize) -> Result<String, Failed> {
        let said = |text: String| Failed::Said(text);
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(id.to_string());
        let mut command = Command::new(&self.program);
        command.args(words).current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        environment::withhold_all(&mut command).env(environment::WRAPPER, env!("CARGO_PKG_VERSION"));
        if let Some(lifeline) = &self.lifeline {
            lifeline.tie(&mut command);
        }
        let mut child =
            command.spawn().map_err(|error| said(format!("flecto could not be started: {}", error.kind())))?;
        let output = gather(child.stdout.take(), limit);
        let complaint = gather(child.stderr.take(), 64 << 10);
        let deadline = Instant::now() + TIME;
        let ended = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Ok(status.code()),
                Ok(None) if !self.is_current() => break Err("it was cancelled".to_string()),
                Ok(None) if Instant::now() > deadline => {
                    break Err(format!("it took longer than {} s; name fewer files", TIME.as_secs()));
                }
                _ => std::thread::sleep(PAUSE),
            }
        };
        if ended.is_err() {
            end(&mut child);
        }
        let status = ended.map_err(said)?;
        let within = deadline.saturating_duration_since(Instant::now());
        let (output, complaint) = (take(&output, within), take(&complaint, within));
        match (status, output) {
            (Some(0 | 1), Some((bytes, false))) => {
                String::from_utf8(bytes).map_err(|_| said("the report is no text".into()))
            }
            (Some(0 | 1), _) => Err(Failed::Long),
            _ => {
                let bytes = complaint.map(|(bytes, _)| bytes).unwrap_or_default();
                // Whoever failed says so first; what the others miss then is no news.
                let first = String::from_utf8_lossy(&bytes)
                    .lines()
                    .next()
                    .map_or_else(String::new, |line| text::escape(line).into());
                Err(said(text::shorten(&first, MAX_SAID).into_owned()))
            }
        }
    }
}

/// What a pipe gave, and whether it was more than the limit.
type Gathered = (Vec<u8>, bool);

/// Reads a pipe to its end in a thread, and keeps so much of it.
fn gather(pipe: Option<impl Read + Send + 'static>, limit: usize) -> Receiver<Gathered> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.by_ref().take(limit as u64 + 1).read_to_end(&mut bytes);
            // So that whoever writes can end.
            let _ = std::io::copy(&mut pipe, &mut std::io::sink());
        }
        let long = bytes.len() > limit;
        bytes.truncate(limit);
        let _ = sender.send((bytes, long));
    });
    receiver
}

fn take(gathered: &Receiver<Gathered>, within: Duration) -> Option<Gathered> {
    gathered.recv_timeout(within.max(Duration::from_secs(1))).ok()
}

/// Ends `flecto` so that it ends its own stages first; outright, where it does not.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(id) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        let deadline = Instant::now() + Duration::from_secs(2);
        while Instant::now() < deadline {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }
    let _ = child.kill();
    let _ = child.wait();
}
