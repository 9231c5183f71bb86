//! How tests run the real programs: with a cleared environment, in folders of their own, against real git.

#![allow(dead_code, reason = "each test module uses its part")]
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

pub(crate) mod provider;
#[cfg(unix)]
pub(crate) mod terminal;
pub(crate) mod tls;

pub(crate) mod forge;

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;

/// What a program did.
#[derive(Debug)]
pub(crate) struct Run {
    /// Its exit status; `None` when a signal ended it.
    pub(crate) status: Option<i32>,
    /// What it wrote.
    pub(crate) stdout: String,
    /// What it said.
    pub(crate) stderr: String,
}

impl Run {
    /// Asserts the exit status and shows everything when it is another.
    #[track_caller]
    pub(crate) fn exits(self, status: i32) -> Run {
        assert_eq!(self.status, Some(status), "\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr);
        self
    }

    /// The records on stdout of one type.
    pub(crate) fn records(&self, kind: &str) -> Vec<serde_json::Value> {
        self.stdout
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .filter(|record| record["type"] == kind)
            .collect()
    }
}

/// The folder of the built programs.
pub(crate) fn bin_dir() -> PathBuf {
    Path::new(assert_cmd::cargo::cargo_bin!("flecto")).parent().expect("a folder").to_path_buf()
}

/// One of our programs, with an environment of nothing but what git and a home need. `HOME` is an empty folder shared by
/// all tests of a run: a test that keeps something there makes its own.
pub(crate) fn program(name: &str) -> Command {
    clean(Command::new(bin_dir().join(name)))
}

/// Any command, with the same cleared environment as [`program`].
pub(crate) fn clean(mut command: Command) -> Command {
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

/// When a program counts as hung. Far above what any test takes on a busy machine; tests of time have bounds of their own.
const HANGS_AFTER: Duration = Duration::from_secs(180);

/// Runs a command with `input` on its stdin (fed from a thread, so that large inputs do not deadlock), and gives up after
/// [`HANGS_AFTER`].
pub(crate) fn run_with(command: &mut Command, input: impl AsRef<[u8]>) -> Run {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.as_ref().to_vec();
    let kept = if input.len() < SCHEMA_CHECK_MAX { input.clone() } else { Vec::new() };
    let feeder = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let id = child.id();
    let (done, finished) = std::sync::mpsc::channel::<()>();
    let watchdog = std::thread::spawn(move || {
        if finished.recv_timeout(HANGS_AFTER).is_err() {
            let _ = Command::new("kill").args(["-KILL", &id.to_string()]).status();
        }
    });
    let output = child.wait_with_output().expect("the program's output");
    let _ = done.send(());
    let _ = watchdog.join();
    let _ = feeder.join();
    if WRITES_RECORDS.iter().any(|name| Path::new(command.get_program()).file_stem() == Some(OsStr::new(name))) {
        check_against_schema(&kept, &output.stdout);
    }
    Run {
        status: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The programs whose stdout is records.
const WRITES_RECORDS: [&str; 5] = ["flecto-diff", "flecto-policy", "flecto-mask", "flecto-payload", "flecto-narrate"];

/// Streams over this many bytes are not held against the schema: they repeat what smaller ones show.
const SCHEMA_CHECK_MAX: usize = 1 << 20;

/// Holds every record that a program wrote itself, and did not pass on as it came, against docs/schemas/record.schema.json.
#[track_caller]
fn check_against_schema(input: &[u8], output: &[u8]) {
    static SCHEMA: OnceLock<jsonschema::Validator> = OnceLock::new();
    if output.len() > SCHEMA_CHECK_MAX {
        return;
    }
    let schema = SCHEMA.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas/record.schema.json");
        let text = std::fs::read_to_string(path).expect("the schema");
        jsonschema::validator_for(&serde_json::from_str(&text).expect("JSON")).expect("a schema")
    });
    let passed_on: std::collections::HashSet<&[u8]> = input.split(|b| *b == b'\n').collect();
    for line in output.split(|b| *b == b'\n').filter(|line| !line.is_empty() && !passed_on.contains(line)) {
        // A dry run prints no records, and a line that is cut off is what other tests are about.
        let Ok(record) = serde_json::from_slice::<serde_json::Value>(line) else { continue };
        if record.get("type").is_none() {
            continue;
        }
        let wrong: Vec<String> = schema.iter_errors(&record).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(wrong.is_empty(), "{} does not fit the schema: {wrong:#?}", String::from_utf8_lossy(line));
    }
}

/// Runs a command with an empty stdin.
pub(crate) fn run(command: &mut Command) -> Run {
    run_with(command, "")
}

/// Runs one of our filters over records.
pub(crate) fn filter<I, S>(name: &str, args: I, input: &str) -> Run
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    run_with(program(name).args(args), input)
}

/// A git repository in a folder of its own: `config/prod.yaml` committed on `main`, `origin/main` pointing at the commit.
pub(crate) struct Repo {
    dir: TempDir,
}

/// The committed `config/prod.yaml` of a [`Repo`].
pub(crate) const PROD_YAML: &str = "db:\n  host: db.internal\n  pool_size: 5\ndebug: false\n";

/// The change of the README: a pool four times as large and a dangerous toggle.
pub(crate) const PROD_YAML_CHANGED: &str = "db:\n  host: db.internal\n  pool_size: 20\ndebug: true\n";

impl Repo {
    /// A copy of the one prepared repository.
    pub(crate) fn new() -> Repo {
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
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file, with its folders.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(path, content).expect("a file");
    }

    /// Runs git here, asserts that it worked, and gives back what it wrote.
    #[track_caller]
    pub(crate) fn git<const N: usize>(&self, args: [&str; N]) -> String {
        run(clean(Command::new("git")).args(args).current_dir(self.path())).exits(0).stdout
    }

    /// Commits everything.
    pub(crate) fn commit(&self, message: &str) {
        self.git(["add", "--all"]);
        self.git(["commit", "--quiet", "--message", message]);
    }

    /// One of our programs, started here.
    pub(crate) fn program(&self, name: &str) -> Command {
        let mut command = program(name);
        command.current_dir(self.path());
        command
    }

    /// Runs one of our programs here.
    pub(crate) fn run<const N: usize>(&self, name: &str, args: [&str; N]) -> Run {
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
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("shared").join(name));
    if let Some(path) = path.into_iter().find(|path| path.exists()) {
        return Some(path);
    }
    eprintln!("skipped: {name} of the shared test data is not here");
    None
}

/// Says that a test was skipped, and why.
pub(crate) fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}
