//! In which order does everything happen? Plan, then read in order, compare on all cores, write in order.

use super::file::{self, Content, Job, Report};
use super::plan::{self, Plan, Source};
use super::{Options, Sides, folders};
use crate::git::{Error, Repository};
use crate::outcome::Outcome;
use crate::record::End;
use crate::stream::Writer;
use crate::text;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::mpsc;

/// Files that may be begun before the one whose turn it is to be written: a big one holds up none that are small.
const AHEAD: usize = 1024;

/// Bytes of files that are being compared or wait to be, and of reports that wait for their turn, beyond which no further
/// file is read.
const MAX_BYTES: usize = 256 << 20;

/// The stack of a worker: documents nest [`crate::limits::MAX_DEPTH`] deep, within strings again.
pub(super) const STACK: usize = 64 << 20;

/// Compares, and writes the records to `out`. `say` takes lines for standard error.
///
/// # Errors
/// What ends the run: nothing to compare with, a target that means nothing, output that fails. Files that cannot be read
/// are records, and make the outcome [`Outcome::Trouble`].
pub fn run(options: &Options, out: impl Write, say: &mut dyn FnMut(&str)) -> anyhow::Result<Outcome> {
    let plan = plan(options)?;
    plan.said.iter().for_each(|line| say(line));
    let mut out = Writer::new(out);
    out.line(&plan.start.to_line())?;
    let mut end = End { files: plan.files, complete: true, ..End::default() };
    let (mut ignored, mut neat) = (0, 0);
    compare(options, &plan, |report, _| {
        out.raw(&report.text)?;
        report.said.iter().for_each(|line| say(line));
        end.changes += report.changes;
        end.differing += u64::from(report.differs);
        end.errors += u64::from(report.failed);
        ignored += report.ignored;
        neat += report.neat;
        Ok(!out.is_closed())
    })?;
    end.complete = end.errors == 0;
    out.line(&end.to_line())?;
    out.flush()?;
    if ignored > 0 {
        say(&format!("{} left out by --ignore", text::count(ignored, "change")));
    }
    if neat > 0 {
        say(&format!("{} left out by --neat", text::count(neat, "change")));
    }
    Ok(match end {
        End { complete: false, .. } => Outcome::Trouble,
        End { differing, .. } if differing > 0 && options.exit_code => Outcome::Findings,
        _ => Outcome::Clean,
    })
}

/// The names of the files that are compared, whether they differ or not: from the top level of the repository, or as they
/// are reported where there is none.
///
/// # Errors
/// As [`run`] before it has read a file.
pub fn names(options: &Options) -> anyhow::Result<Vec<String>> {
    Ok(plan(options)?.names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

fn plan(options: &Options) -> anyhow::Result<Plan> {
    let (from, to, merge_base) = match &options.sides {
        Sides::Git { from, to, merge_base } => (from, to, merge_base),
        Sides::Disk => return folders::plan(options),
        Sides::Handed(handed) => return Ok(folders::handed(options, handed)),
    };
    let repository = match Repository::discover(&options.directory) {
        Ok(repository) => repository,
        Err(Error::NoRepository | Error::NoGit) if options.guess && paths(options).is_some() => {
            return folders::plan(options);
        }
        Err(error) => return Err(error.into()),
    };
    if options.guess
        && let Some(are) = paths(options)
    {
        match (are, tracked(options, &repository)?) {
            // A glob of the shell that happens to match two files, of which one may be new, means each of them.
            (Paths::Files, [old, new])
                if (old == Git::Tracked || new == Git::Tracked) && old != Git::Outside && new != Git::Outside =>
            {
                let what = if old == new { "two tracked files" } else { "a tracked file and one that is new" };
                anyhow::bail!(
                    "{what}: to compare each with the last commit say --snapshot-ref HEAD, to compare them with each other say --no-index"
                )
            }
            (Paths::Folders, [old, new]) if old == Git::Tracked || new == Git::Tracked => {}
            (Paths::Files | Paths::Folders, _) => return folders::plan(options),
        }
    }
    anyhow::ensure!(!options.targets.is_empty(), "nothing to compare; name a file, a folder or a quoted glob");
    plan::git(options, repository, from.as_deref(), to, *merge_base)
}

/// What two operands on disk are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paths {
    Files,
    Folders,
}

/// Whether the operands are two files or two folders that are there.
fn paths(options: &Options) -> Option<Paths> {
    let [old, new] = &options.targets[..] else { return None };
    let is_folder = |operand: &std::ffi::OsString| {
        if operand == "-" {
            Some(false)
        } else {
            options.directory.join(operand).metadata().ok().map(|data| data.is_dir())
        }
    };
    match (is_folder(old)?, is_folder(new)?) {
        (true, true) => Some(Paths::Folders),
        (false, false) => Some(Paths::Files),
        _ => None,
    }
}

/// What an operand is to the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Git {
    /// It is no file of the work tree.
    Outside,
    /// It is, and git knows nothing of it.
    New,
    /// git tracks it, or something in it.
    Tracked,
}

/// What two operands are to the repository.
fn tracked(options: &Options, repository: &Repository) -> anyhow::Result<[Git; 2]> {
    let mut out = [Git::Outside; 2];
    for (operand, tracked) in options.targets.iter().zip(&mut out) {
        let target = super::targets::Target::parse(operand, repository.top(), repository.prefix());
        if let Ok(target) = target
            && operand != "-"
        {
            let entries = repository.index(std::slice::from_ref(&target.name))?;
            let known = entries.iter().any(|entry| entry.path == target.name || target.matches(&entry.path).is_some());
            *tracked = if known { Git::Tracked } else { Git::New };
        }
    }
    Ok(out)
}

/// Runs every task and hands its report over, in order. `done` says whether to go on.
fn compare(
    options: &Options,
    plan: &Plan,
    mut done: impl FnMut(&Report, usize) -> anyhow::Result<bool>,
) -> anyhow::Result<()> {
    if plan.tasks.is_empty() {
        return Ok(());
    }
    let ids = plan.tasks.iter().flat_map(|task| [&task.old, &task.new]).filter_map(plan::blob_id).collect();
    let mut blobs = match &plan.repository {
        Some(repository) => repository.blobs(ids)?,
        None => crate::git::Blobs::none(),
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(plan.tasks.len());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(cores).stack_size(STACK).build()?;
    let (send, receive) = mpsc::channel::<(usize, usize, Report)>();
    let mut waiting: BTreeMap<usize, Report> = BTreeMap::new();
    let (mut next, mut bytes) = (0, 0);
    pool.in_place_scope_fifo(|scope| {
        let mut take = |next: &mut usize, bytes: &mut usize| -> anyhow::Result<bool> {
            // Every task reports, or the program has ended with a panic.
            let Ok((at, size, report)) = receive.recv() else { return Ok(false) };
            *bytes += report.text.len();
            *bytes -= size;
            waiting.insert(at, report);
            while let Some(report) = waiting.remove(next) {
                *bytes -= report.text.len();
                if !done(&report, *next)? {
                    return Ok(false);
                }
                *next += 1;
            }
            Ok(true)
        };
        for (at, task) in plan.tasks.iter().enumerate() {
            while at - next >= AHEAD || bytes > MAX_BYTES && at > next {
                if !take(&mut next, &mut bytes)? {
                    return Ok::<(), anyhow::Error>(());
                }
            }
            let read = |source: &Source, blobs: &mut crate::git::Blobs| match source {
                Source::Disk(_) => Ok(Content::Absent),
                source => plan::load(source, blobs, options.max_file_size),
            };
            let old = read(&task.old, &mut blobs)?;
            let new = read(&task.new, &mut blobs)?;
            let mut job = Job {
                name: task.name.clone(),
                from: task.from.clone(),
                against: task.against.clone(),
                old,
                new,
                literal: task.literal,
                on_disk: plan.on_disk,
                baseline: plan.start.baseline.clone(),
            };
            let size =
                [&job.old, &job.new].into_iter().map(|c| if let Content::Bytes(b) = c { b.len() } else { 0 }).sum();
            bytes += size;
            let send = send.clone();
            scope.spawn_fifo(move |_| {
                // What is on disk is read where it is compared.
                for (source, content) in [(&task.old, &mut job.old), (&task.new, &mut job.new)] {
                    if let Source::Disk(path) = source {
                        *content = super::disk::read(path, options.max_file_size);
                    }
                }
                let report = file::diff(&job, options);
                let _ = send.send((at, size, report));
            });
        }
        while next < plan.tasks.len() {
            if !take(&mut next, &mut bytes)? {
                break;
            }
        }
        Ok(())
    })
}
