//! The options of `flecto policies`: what the rules are, and whether one's own do what they should.

use super::say;
use crate::diff::{self, Settings, Sides};
use crate::limits::MAX_FILE_SIZE;
use crate::outcome::Outcome;
use crate::policy::{self, Options, catalog, examples};
use crate::record::Record;
use crate::rules::Pack;
use crate::rules::choice::Policies as Choice;
use crate::rules::gate::FailOn;
use anyhow::{Context as _, anyhow, bail, ensure};
use clap::{Args, Subcommand};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Lists, explains and tests rules.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Policies {
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    /// List the packs and their rules
    List {
        /// A pack of your own, to be listed too
        #[arg(long, value_name = "FILE")]
        policy_file: Vec<PathBuf>,
    },
    /// Show what a pack or a rule looks for, why, and what to check
    Show {
        /// The pack, the rule, or pack/rule
        #[arg(value_name = "ID")]
        id: String,
        /// A pack of your own, to be looked in too
        #[arg(long, value_name = "FILE")]
        policy_file: Vec<PathBuf>,
    },
    /// Test the packs of a folder: their examples, and its folders of before, after and expected
    Test {
        /// The folder: packs (*.yaml, *.yml, *.json), and folders with before.EXT, after.EXT and expected.txt
        #[arg(value_name = "DIR", default_value = "policies")]
        folder: PathBuf,
    },
}

const AFTER_HELP: &str = "\
Examples:
  flecto policies list
  flecto policies show pool-size-jump
  flecto policies test policies/";

/// Runs it.
///
/// # Errors
/// A pack that cannot be read, a name that nothing has, a folder that holds no test.
pub fn run(arguments: &Policies) -> anyhow::Result<Outcome> {
    match &arguments.command {
        Command::List { policy_file } => print(&catalog::list(&read_packs(policy_file)?).map_err(anyhow::Error::msg)?),
        Command::Show { id, policy_file } => {
            print(&catalog::show(id, &read_packs(policy_file)?).map_err(anyhow::Error::msg)?)
        }
        Command::Test { folder } => test(folder),
    }
}

fn print(text: &str) -> anyhow::Result<Outcome> {
    let text = crate::text::escape_lines(text);
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            bail!("cannot write to standard output: {}", error.kind())
        }
        _ => Ok(Outcome::Clean),
    }
}

fn read_packs(files: &[PathBuf]) -> anyhow::Result<Vec<Pack>> {
    files.iter().map(|file| super::policy::read_pack(file)).collect()
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> anyhow::Result<Vec<String>> {
    let entries = std::fs::read_dir(folder);
    let entries = entries.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            anyhow!("{}: no such folder; name the one with the packs or the tests", folder.display())
        }
        kind => anyhow!("{}: cannot be read: {kind}", folder.display()),
    })?;
    let mut names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// Tests the packs of a folder: the examples that rules carry, then each folder in it that has a `before` or an `after`.
fn test(folder: &Path) -> anyhow::Result<Outcome> {
    let mut packs = Vec::new();
    let mut cases = Vec::new();
    for name in names(folder)? {
        let path = folder.join(&name);
        let is_case = || names(&path).is_ok_and(|names| names.iter().any(|name| stem(name).is_some()));
        if path.is_dir() {
            if is_case() {
                cases.push(path);
            }
        } else if [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending)) {
            packs.push((path.clone(), super::policy::read_pack(&path)?));
        }
    }
    let mut failures = Vec::new();
    let mut tried = 0;
    for (path, pack) in &packs {
        tried += pack.rules.iter().map(|rule| rule.fires.len() + rule.quiet.len()).sum::<usize>();
        for broken in examples::check(pack) {
            let did = if broken.should_fire { "does not fire at" } else { "fires at" };
            failures.push(format!("{}:{}: `{}` {did} this example", path.display(), broken.line, broken.rule));
        }
        for rule in examples::without_examples(pack) {
            say("flecto", &format!("{}: `{}` has no example of one kind (fires, quiet)", path.display(), rule.id));
        }
    }
    let packs: Vec<Pack> = packs.into_iter().map(|(_, pack)| pack).collect();
    for case in &cases {
        tried += 1;
        failures.extend(try_case(case, &packs)?);
    }
    ensure!(tried > 0, "{}: no pack with examples and no folder of before, after, expected.txt", folder.display());
    for failure in &failures {
        say("flecto", failure);
    }
    let count = failures.len();
    print(&format!("{}, {count} failed\n", crate::text::count(tried as u64, "test")))?;
    Ok(if failures.is_empty() { Outcome::Clean } else { Outcome::Findings })
}

/// `before` or `after`, when a file is called so, with any ending.
fn stem(name: &str) -> Option<&str> {
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    ["before", "after"].contains(&stem).then_some(stem)
}

/// Compares `before` with `after`, judges by the packs, and holds the findings against `expected.txt`: a line
/// `RULE PATH` each, in any order; `#` begins a comment.
fn try_case(case: &Path, packs: &[Pack]) -> anyhow::Result<Vec<String>> {
    let names = names(case)?;
    let side = |wanted: &str| names.iter().find(|name| stem(name) == Some(wanted)).map(|name| case.join(name));
    let shown = case.display();
    let (Some(before), Some(after)) = (side("before"), side("after")) else {
        bail!("{shown}: before or after is missing; a test has both");
    };
    let mut diff = Vec::new();
    let options = diff::Options {
        include: Vec::new(),
        exclude: Vec::new(),
        directory: PathBuf::from("."),
        sides: Sides::Disk,
        targets: vec![before.into_os_string(), after.into_os_string()],
        guess: false,
        max_file_size: MAX_FILE_SIZE,
        allow_empty: true,
        exit_code: false,
        input_format: None,
        format_map: Vec::new(),
        ignore: Vec::new(),
        neat: Vec::new(),
        allow_duplicate_keys: false,
        settings: Settings::default(),
    };
    let outcome = diff::run(&options, &mut diff, &mut |message| say("flecto", message))?;
    ensure!(outcome != Outcome::Trouble, "{shown}: before and after could not be compared");
    let mut judged = Vec::new();
    let options = Options {
        policies: Choice::from_words(["none"]).map_err(anyhow::Error::msg)?,
        packs: packs.to_vec(),
        fail_on: FailOn::from_words(["none"]).map_err(anyhow::Error::msg)?,
        ..Options::default()
    };
    policy::run(options, diff.as_slice(), &mut judged)?;
    let judged = String::from_utf8(judged).context("records are UTF-8")?;
    let found: Vec<String> = judged
        .lines()
        .filter_map(|line| Record::parse(line).ok())
        .filter(|record| record.kind().as_deref() == Some("finding"))
        .map(|record| format!("{} {}", record.str("rule").unwrap_or_default(), record.str("path").unwrap_or_default()))
        .collect();
    let expected = std::fs::read_to_string(case.join("expected.txt"));
    let expected = expected.map_err(|error| anyhow!("{shown}/expected.txt: cannot be read: {}", error.kind()))?;
    let expected: Vec<&str> =
        expected.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let missing = expected.iter().filter(|line| !found.iter().any(|f| f == *line));
    let mut failures: Vec<String> = missing.map(|line| format!("{shown}: expected and not found: {line}")).collect();
    let extra = found.iter().filter(|line| !expected.contains(&line.as_str()));
    failures.extend(extra.map(|line| format!("{shown}: found and not expected: {line}")));
    Ok(failures)
}
