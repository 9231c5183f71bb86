//! A terminal for a program's stderr: a real pseudo-terminal, by the `script` of util-linux, so that the program sees one.

use std::ffi::OsStr;
use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// A program whose stderr is a terminal.
pub(crate) struct Watched {
    child: Child,
    dir: TempDir,
    seen: Arc<Mutex<Vec<u8>>>,
    reader: std::thread::JoinHandle<()>,
}

impl Watched {
    /// Starts a command with this input; `None`, with a line that says so, where there is no `script`.
    pub(crate) fn start(command: &Command, input: &str) -> Option<Watched> {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("input"), input).expect("input");
        let quote = |word: &OsStr| format!("'{}'", word.to_string_lossy().replace('\'', r"'\''"));
        let words: Vec<String> = std::iter::once(command.get_program()).chain(command.get_args()).map(quote).collect();
        let folder = quote(dir.path().as_os_str());
        let line = format!("exec {} <{folder}/input >{folder}/output", words.join(" "));
        let mut script = Command::new("script");
        script.args(["-q", "-f", "-e", "-c", &line, "/dev/null"]).env_clear().env("SHELL", "/bin/sh");
        script.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        script.env("TERM", "xterm").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        if let Some(folder) = command.get_current_dir() {
            script.current_dir(folder);
        }
        let Ok(mut child) = script.spawn() else {
            super::skipped("`script` of util-linux is not here");
            return None;
        };
        let (seen, mut stdout) = (Arc::default(), child.stdout.take().expect("a pipe"));
        let kept: Arc<Mutex<Vec<u8>>> = Arc::clone(&seen);
        let reader = std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = stdout.read(&mut piece) {
                kept.lock().expect("a lock").extend_from_slice(&piece[..length]);
            }
        });
        Some(Watched { child, dir, seen, reader })
    }

    /// What the terminal was sent so far, every byte of it.
    pub(crate) fn bytes(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().expect("a lock")).into_owned()
    }

    /// Whether it still runs.
    pub(crate) fn runs(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
    }

    /// Ends it, as a closed window would.
    pub(crate) fn close(mut self) {
        let _ = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        let _ = self.child.wait();
    }

    /// Waits for its end: what the terminal was sent, what went to stdout, and the exit status.
    pub(crate) fn finish(mut self) -> (String, String, Option<i32>) {
        let status = self.child.wait().expect("an end");
        self.reader.join().expect("the reader");
        let seen = String::from_utf8_lossy(&self.seen.lock().expect("a lock")).into_owned();
        let output = std::fs::read_to_string(self.dir.path().join("output")).expect("output");
        (seen, output, status.code())
    }
}

/// What stands on a terminal in the end: what was wiped is gone.
pub(crate) fn screen(bytes: &str) -> String {
    let rows = bytes.replace("\r\n", "\n");
    let rows = rows.split('\n').map(|row| row.rsplit("\r\u{1b}[K").next().unwrap_or_default());
    rows.collect::<Vec<_>>().join("\n")
}
