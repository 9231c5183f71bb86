//! Is everything there that a run needs? What `flecto ci` would do here, step by step, and what keeps it from doing it.

use super::configured::Found;
use super::options::{Ci, ConfigFrom};
use super::{Command, Flecto, survey, to_stdout};
use crate::cli;
use crate::diff;
use crate::git::{self, Repository};
use crate::http;
use crate::narrate;
use crate::outcome::Outcome;
use crate::pipeline::{Argument, Program};
use crate::text;
use anyhow::anyhow;
use clap::{Args, Parser as _};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Say what a run would do here, and what keeps it from doing it
///
/// Looks at git, the settings and where they come from, what the targets match, which packs of rules judge that, the
/// programs beside this one, and whether a model could be asked. A key is never shown, and nothing is sent without --online.
#[derive(Args, Debug)]
#[command(
    after_help = "Exit status: 0 when `flecto ci` could run here, 2 when something keeps it from that (each such line begins with `!!`).\n\n\
                  Examples:\n  flecto doctor\n  flecto doctor 'config/**/*.yaml' --snapshot-ref origin/main --online"
)]
pub struct Doctor {
    /// Files, folders, or quoted globs [default: the settings' files]
    #[arg(value_name = "TARGET")]
    targets: Vec<OsString>,
    /// The commit to compare with [default: HEAD]
    #[arg(long, value_name = "REV")]
    snapshot_ref: Option<String>,
    /// Read .flectorc from the baseline commit, or from the working tree
    #[arg(long, value_enum, value_name = "WHERE", default_value_t)]
    config_from: ConfigFrom,
    /// Use this profile of the settings
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Try whether the model's endpoint answers; no key and nothing of the repository is sent
    #[arg(long)]
    online: bool,
    /// Run in this folder
    #[arg(short = 'C', value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// How long an endpoint may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The oldest git that flecto is made for.
const GIT: (u32, u32) = (2, 30);

/// What is found, line by line.
#[derive(Default)]
struct Report {
    text: String,
    broken: bool,
}

impl Report {
    fn fine(&mut self, what: &str, says: &str) {
        self.line("ok", what, says);
    }

    /// What is not there, and need not be.
    fn absent(&mut self, what: &str, says: &str) {
        self.line("--", what, says);
    }

    fn broken(&mut self, what: &str, says: &str) {
        self.broken = true;
        self.line("!!", what, says);
    }

    fn line(&mut self, mark: &str, what: &str, says: &str) {
        self.text.push_str(&format!("{mark} {what:<11} {}\n", text::escape(says)));
    }
}

impl Doctor {
    /// Runs it.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        let mut report = Report::default();
        self.git(&mut report);
        programs(&mut report);
        if let Err(error) = self.settings(&mut report) {
            report.broken("settings", &error.to_string());
        }
        self.narration(&mut report);
        to_stdout(report.text.as_bytes())?;
        Ok(if report.broken { Outcome::Trouble } else { Outcome::Clean })
    }

    fn folder(&self) -> &Path {
        self.directory.as_deref().unwrap_or(Path::new("."))
    }

    fn git(&self, report: &mut Report) {
        match git::version() {
            Ok(version) => {
                let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or_default());
                let found = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
                if found < GIT {
                    report.broken("git", &format!("{version} is too old; install {}.{} or later", GIT.0, GIT.1));
                } else {
                    report.fine("git", &version);
                }
            }
            Err(error) => return report.broken("git", &error.to_string()),
        }
        let repository = match Repository::discover(self.folder()) {
            Ok(repository) => repository,
            Err(error) => return report.broken("repository", &error.to_string()),
        };
        let prefix = repository.prefix().to_string_lossy();
        let place = if prefix.is_empty() { "at its top level".to_string() } else { format!("in its folder {prefix}") };
        report.fine("repository", &place);
        let revision = self.snapshot_ref.as_deref().unwrap_or("HEAD");
        match repository.commit(revision) {
            Ok(id) => report.fine("baseline", &format!("{revision} is {}", &id[..12.min(id.len())])),
            Err(error) => report.broken("baseline", &error.to_string()),
        }
    }

    /// The command line of the run that is meant.
    fn ci(&self) -> anyhow::Result<Ci> {
        let mut words: Vec<OsString> = ["flecto", "ci"].map(OsString::from).into();
        let mut option = |name: &str, value: Option<OsString>| {
            words.extend(value.map(|value| [OsString::from(name), value]).into_iter().flatten());
        };
        option("-C", self.directory.clone().map(Into::into));
        option("--snapshot-ref", self.snapshot_ref.clone().map(Into::into));
        option("--profile", self.profile.clone().map(Into::into));
        option("--config-from", (self.config_from == ConfigFrom::Worktree).then(|| "worktree".into()));
        words.push("--".into());
        words.extend(self.targets.iter().cloned());
        match Flecto::try_parse_from(words).map(|flecto| flecto.command) {
            Ok(Command::Ci(ci)) => Ok(*ci),
            _ => Err(anyhow!("a target or a revision that no option takes; check them")),
        }
    }

    fn settings(&self, report: &mut Report) -> anyhow::Result<()> {
        let ci = self.ci()?;
        let found = ci.configured.find(&ci.compared)?;
        let whose = match self.config_from {
            ConfigFrom::Worktree => "the working tree".to_string(),
            ConfigFrom::Baseline => self.snapshot_ref.clone().unwrap_or_else(|| "HEAD".into()),
        };
        match &found.name {
            Some(name) => report.fine("settings", &format!("{name} of {whose}")),
            None => report.absent("settings", &format!("none in {whose}; flecto init writes some")),
        }
        for finding in &found.findings {
            report.absent("", &format!("{}: {}", finding.file, finding.message));
        }
        let packs = found.packs.iter().map(|pack| pack.name.clone());
        let packs: Vec<String> =
            packs.chain(found.loose_packs.iter().map(|p| p.to_string_lossy().into_owned())).collect();
        if !packs.is_empty() {
            report.fine("own packs", &format!("{} of {whose}", packs.join(", ")));
        }
        if found.accepted.is_some() || found.loose_accepted.is_some() {
            report.fine("accepted", &format!(".flecto-accepted.json of {whose}"));
        }
        self.targets(&ci, &found, report);
        Ok(())
    }

    /// What each target matches, and who judges it.
    fn targets(&self, ci: &Ci, found: &Found, report: &mut Report) {
        let targets: Vec<OsString> = match self.targets.as_slice() {
            [] => found.files.iter().map(OsString::from).collect(),
            named => named.to_vec(),
        };
        if targets.is_empty() {
            return report.broken("targets", "none; name one on the command line, or let the settings name files");
        }
        let mut names = std::collections::BTreeSet::new();
        for target in targets {
            let shown = target.to_string_lossy().into_owned();
            match matched(ci, found, &target) {
                Ok(these) => {
                    report.fine("target", &format!("{shown}: {}", text::count(these.len() as u64, "file")));
                    names.extend(these);
                }
                Err(error) => report.broken("target", &error.to_string()),
            }
        }
        let Ok(repository) = Repository::discover(self.folder()) else { return };
        let files = survey::files(repository.top(), names);
        let policies = found.section.policies.clone().unwrap_or_default();
        let told = match policies.auto {
            false => Ok(policies.words().join(", ")),
            true => survey::told(&files).map(|told| {
                let named = policies.named.iter().map(|name| format!(", {name}"));
                std::iter::once(told).chain(named).collect()
            }),
        };
        match told {
            Ok(told) => report.fine("rules", &told),
            Err(error) => report.broken("rules", &error),
        }
    }

    fn narration(&self, report: &mut Report) {
        let plan = match narrate::Plan::new(&narrate::Options::default()) {
            Ok(plan) => plan,
            Err(reason) => {
                let line = reason.line();
                return report.absent("narration", line.strip_prefix("No narration: ").unwrap_or(&line));
            }
        };
        let key = match (&plan.key, &plan.url) {
            (Some(key), _) => format!("; a key is in {}", key.variable),
            (None, Some(_)) => "; no key".into(),
            (None, None) => String::new(),
        };
        report.fine("narration", &format!("{} ({}) at {}{key}", plan.provider, plan.model, plan.target()));
        let Some(url) = plan.url.as_ref().filter(|_| self.online) else {
            return report.absent("online", "not tried; --online tries it");
        };
        match http::send("HEAD", url, &[], &[], PATIENCE, 1 << 16) {
            Ok(response) => report.fine("online", &format!("{} answers (HTTP status {})", url.host(), response.status)),
            Err(failure) => report.broken("online", &plan.redact(&failure.message)),
        }
    }
}

/// The files that a target means, from the top level.
fn matched(ci: &Ci, found: &Found, target: &OsString) -> anyhow::Result<Vec<String>> {
    let stage = ci.compared.diff(found, vec![target.clone()]);
    let words = stage.arguments.into_iter().filter_map(|argument| match argument {
        Argument::Word(word) => Some(word),
        Argument::Attached(_) => None,
    });
    let words = std::iter::once(OsString::from(stage.program.name())).chain(words);
    let arguments = cli::diff::Args::try_parse_from(words).map_err(|_| anyhow!("settings that flecto-diff refuses"))?;
    let mut options = arguments.options()?;
    if let Some(directory) = &ci.compared.directory {
        options.directory = std::env::current_dir()?.join(directory);
    }
    // A target that is a question of its own is not two files to be compared with each other.
    options.guess = false;
    diff::names(&options)
}

/// The stages lie beside this program, and are of one release with it.
fn programs(report: &mut Report) {
    let beside = std::env::current_exe().ok().and_then(|path| path.canonicalize().ok());
    let Some(folder) = beside.as_deref().and_then(Path::parent) else {
        return report.broken("programs", "where this program lies cannot be told");
    };
    let mut wrong = Vec::new();
    for program in Program::ALL {
        let name = program.name();
        let mut command = std::process::Command::new(folder.join(name));
        let output = crate::environment::withhold_all(command.arg("--version")).output();
        match output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string()) {
            Ok(version) if version == format!("{name} {}", env!("CARGO_PKG_VERSION")) => {}
            Ok(version) => wrong.push(format!("{name} is another version ({version})")),
            Err(_) => wrong.push(format!("{name} is missing")),
        }
    }
    if wrong.is_empty() {
        report.fine("programs", &format!("all {} are here, version {}", Program::ALL.len(), env!("CARGO_PKG_VERSION")));
    } else {
        report.broken("programs", &format!("{}; install them from one release", wrong.join(", ")));
    }
}
