//! The programs in a folder of their own, in which one can be replaced or taken away: `flecto` finds its stages beside itself.

use crate::support::provider::Provider;
use crate::support::{PROD_YAML_CHANGED, Repo, bin_dir, clean};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The stages, in the order of the line.
pub(crate) const STAGES: [&str; 6] =
    ["flecto-diff", "flecto-policy", "flecto-mask", "flecto-payload", "flecto-narrate", "flecto-render"];

pub(crate) struct Kit {
    dir: TempDir,
    log: TempDir,
}

impl Kit {
    /// All programs. `flecto` is a second name of the file, not a link to it, since it looks through links.
    pub(crate) fn new() -> Kit {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let flecto = dir.path().join("flecto");
        std::fs::hard_link(bin_dir().join("flecto"), flecto).expect("a second name");
        for stage in STAGES.into_iter().chain(["flecto-post"]) {
            std::os::unix::fs::symlink(bin_dir().join(stage), dir.path().join(stage)).expect("a link");
        }
        Kit { dir, log: tempfile::tempdir().expect("a folder") }
    }

    /// Puts the stand-in in the place of a program.
    pub(crate) fn replace(self, name: &str) -> Kit {
        let stand_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/stand-in");
        let kit = self.remove(name);
        std::os::unix::fs::symlink(stand_in, kit.path(name)).expect("a link");
        kit
    }

    /// Takes a program away.
    pub(crate) fn remove(self, name: &str) -> Kit {
        let _ = std::fs::remove_file(self.path(name));
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// `flecto` of this folder, started in `repo`, with stand-ins that do `how`.
    pub(crate) fn flecto(&self, repo: &Repo, how: &str) -> Command {
        let mut command = clean(Command::new(self.path("flecto")));
        command.current_dir(repo.path());
        command.env("STAND_IN", how).env("STAND_IN_REAL", bin_dir()).env("STAND_IN_LOG", self.log.path());
        command
    }

    /// What a stand-in left.
    pub(crate) fn left(&self, name: &str) -> String {
        std::fs::read_to_string(self.log.path().join(name)).unwrap_or_default()
    }

    /// Waits until a stand-in has left something.
    pub(crate) fn wait_for(&self, name: &str) -> String {
        eventually(&format!("{name} was left"), || Some(self.left(name)).filter(|text| text.ends_with('\n')))
    }

    /// The processes that were started, directly or not, by a `flecto` of this kit and are still there: whoever has its
    /// folder in its environment.
    pub(crate) fn alive(&self) -> Vec<String> {
        let mark = self.log.path().to_string_lossy().into_owned();
        let mut alive = Vec::new();
        for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            if String::from_utf8_lossy(&environment).contains(&mark) {
                let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                alive.push(String::from_utf8_lossy(&command).replace('\0', " "));
            }
        }
        alive
    }

    /// Waits until none is left, and says which are when some stay.
    #[track_caller]
    pub(crate) fn is_deserted(&self) {
        let end = Instant::now() + Duration::from_secs(10);
        while !self.alive().is_empty() {
            assert!(Instant::now() < end, "still there: {:?}", self.alive());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Waits for something, at most half a minute.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A repository with the README's change.
pub(crate) fn changed() -> Repo {
    let repo = Repo::new();
    repo.write("config/prod.yaml", PROD_YAML_CHANGED);
    repo
}

/// What E1 prints for it.
pub(crate) const REPORT: &str = "config/prod.yaml — 2 changes from origin/main:
  ~ db.pool_size: 5 → 20
  ~ debug: false → true
  ! policy(warn) [default] db.pool_size: Pool size increased from 5 to 20 (>=2x).
  ! policy(error) [default] debug: Potentially dangerous toggle enabled.
";

/// A local provider that needs no key.
pub(crate) fn asking<'a>(command: &'a mut Command, provider: &Provider) -> &'a mut Command {
    command.env("FLECTO_EXPLAIN_PROVIDER", "openai").env("FLECTO_EXPLAIN_MODEL", "gate");
    command.env("FLECTO_EXPLAIN_API_URL", provider.url())
}
