//! How tests run the real programs: with a cleared environment, in folders of their own, against real git.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;

/// What a program did.
#[derive(Debug)]
pub struct Run {
    /// Its exit status; `None` when a signal ended it.
    pub status: Option<i32>,
    /// What it wrote.
    pub stdout: String,
    /// What it said.
    pub stderr: String,
}

impl Run {
    /// Asserts the exit status and shows everything when it is another.
    #[track_caller]
    pub fn exits(self, status: i32) -> Run {
        assert_eq!(self.status, Some(status), "\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr);
        self
    }

    /// The records on stdout of one type.
    pub fn records(&self, kind: &str) -> Vec<serde_json::Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .filter(|record| record["type"] == kind)
            .collect()
    }
}

/// The folder of the built programs.
pub fn bin_dir() -> PathBuf {
    Path::new(assert_cmd::cargo::cargo_bin!("flecto")).parent().expect("a folder").to_path_buf()
}

/// One of our programs, with an environment of nothing but what git and a home need. `HOME` is an empty folder shared by
/// all tests of a run: a test that keeps something there makes its own.
pub fn program(name: &str) -> Command {
    clean(Command::new(bin_dir().join(name)))
}

/// Any command, with the same cleared environment as [`program`].
pub fn clean(mut command: Command) -> Command {
    static HOME: OnceLock<TempDir> = OnceLock::new();
    let home = HOME.get_or_init(|| tempfile::tempdir().expect("a home")).path();
    command.env_clear();
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command.env("HOME", home).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("GIT_AUTHOR_NAME", "t").env("GIT_AUTHOR_EMAIL", "t@example.org");
    command.env("GIT_COMMITTER_NAME", "t").env("GIT_COMMITTER_EMAIL", "t@example.org");
    command.env("LLVM_PROFILE_FILE", "/dev/null");
    command
}

/// Runs a command with `input` on its stdin (fed from a thread, so that large inputs do not deadlock), and gives up after
/// a minute.
pub fn run_with(command: &mut Command, input: impl AsRef<[u8]>) -> Run {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.as_ref().to_vec();
    let feeder = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let id = child.id();
    let (done, finished) = std::sync::mpsc::channel::<()>();
    let watchdog = std::thread::spawn(move || {
        if finished.recv_timeout(Duration::from_secs(60)).is_err() {
            let _ = Command::new("kill").args(["-KILL", &id.to_string()]).status();
        }
    });
    let output = child.wait_with_output().expect("the program's output");
    let _ = done.send(());
    let _ = watchdog.join();
    let _ = feeder.join();
    Run {
        status: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs a command with an empty stdin.
pub fn run(command: &mut Command) -> Run {
    run_with(command, "")
}

/// Runs one of our filters over records.
pub fn filter<I, S>(name: &str, args: I, input: &str) -> Run
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    run_with(program(name).args(args), input)
}

/// A git repository in a folder of its own: `config/prod.yaml` committed on `main`, `origin/main` pointing at the commit.
pub struct Repo {
    dir: TempDir,
}

/// The committed `config/prod.yaml` of a [`Repo`].
pub const PROD_YAML: &str = "db:\n  host: db.internal\n  pool_size: 5\ndebug: false\n";

/// The change of the README: a pool four times as large and a dangerous toggle.
pub const PROD_YAML_CHANGED: &str = "db:\n  host: db.internal\n  pool_size: 20\ndebug: true\n";

impl Repo {
    /// A copy of the one prepared repository.
    pub fn new() -> Repo {
        static PREPARED: OnceLock<TempDir> = OnceLock::new();
        let prepared = PREPARED.get_or_init(|| {
            let repo = Repo { dir: tempfile::tempdir().expect("a folder") };
            repo.git(["init", "--quiet", "--initial-branch=main"]);
            repo.write("config/prod.yaml", PROD_YAML);
            repo.commit("first");
            repo.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
            repo.dir
        });
        let repo = Repo { dir: tempfile::tempdir().expect("a folder") };
        copy(prepared.path(), repo.path());
        repo
    }

    /// The top level.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file, with its folders.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(path, content).expect("a file");
    }

    /// Runs git here, asserts that it worked, and gives back what it wrote.
    #[track_caller]
    pub fn git<const N: usize>(&self, args: [&str; N]) -> String {
        run(clean(Command::new("git")).args(args).current_dir(self.path())).exits(0).stdout
    }

    /// Commits everything.
    pub fn commit(&self, message: &str) {
        self.git(["add", "--all"]);
        self.git(["commit", "--quiet", "--message", message]);
    }

    /// One of our programs, started here.
    pub fn program(&self, name: &str) -> Command {
        let mut command = program(name);
        command.current_dir(self.path());
        command
    }

    /// Runs one of our programs here.
    pub fn run<const N: usize>(&self, name: &str, args: [&str; N]) -> Run {
        run(self.program(name).args(args))
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

/// A file of the shared test data, or `None` with a line that says that the test was skipped.
pub fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {name} of the shared test data is not here");
    None
}
