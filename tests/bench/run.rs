//! What does a command cost? Runs shell lines in turn and measures time, processor time and memory.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// One command of a row.
#[derive(Debug)]
pub(crate) struct Contender {
    pub(crate) name: String,
    pub(crate) shell: String,
}

impl Contender {
    pub(crate) fn new(name: impl Into<String>, shell: String) -> Contender {
        Contender { name: name.into(), shell }
    }
}

/// What one run took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) time: Duration,
    /// Of all its processes, user and system; in steps of a hundredth of a second, zero where there is no /proc.
    pub(crate) cpu: Duration,
    /// The most memory of any process of the command, in KiB.
    pub(crate) memory: u64,
}

/// What several runs of a command took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Summary {
    /// The median.
    pub(crate) time: Duration,
    /// The mean: the steps are coarse, and a mean of several runs is finer.
    pub(crate) cpu: Duration,
    /// The most, in KiB.
    pub(crate) memory: u64,
}

/// How often commands are run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    /// At most so often, after once to warm the caches.
    pub(crate) most: usize,
    /// No further round begins after this, once there were three.
    pub(crate) enough: Duration,
}

/// Runs all commands in turn, so that a busy machine slows all of them.
pub(crate) fn in_turn(folder: &Path, contenders: &[Contender], rounds: Rounds) -> Vec<Summary> {
    let mut costs: Vec<Vec<Cost>> = vec![Vec::new(); contenders.len()];
    let begun = Instant::now();
    for round in 0..=rounds.most {
        if round > rounds.most.min(3) && begun.elapsed() > rounds.enough {
            break;
        }
        for (contender, costs) in contenders.iter().zip(&mut costs) {
            let cost = sh(folder, &contender.shell).unwrap_or_else(|| panic!("{} failed", contender.shell));
            if round > 0 || rounds.most == 0 {
                costs.push(cost);
            }
        }
    }
    costs.iter_mut().map(|costs| summary(costs)).collect()
}

fn summary(costs: &mut [Cost]) -> Summary {
    costs.sort_by_key(|cost| cost.time);
    let count = u32::try_from(costs.len()).unwrap_or(1).max(1);
    Summary {
        time: costs[costs.len() / 2].time,
        cpu: costs.iter().map(|cost| cost.cpu).sum::<Duration>() / count,
        memory: costs.iter().map(|cost| cost.memory).max().unwrap_or(0),
    }
}

/// Runs a shell line with its output thrown away; `None` when it fails. Memory is read from /proc while it runs, so it is a
/// lower bound, and 0 for what ends at once or where there is no /proc.
pub(crate) fn sh(folder: &Path, line: &str) -> Option<Cost> {
    let before = cpu_of_children();
    let begun = Instant::now();
    let mut child = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let id = child.id();
    let (done, finished) = std::sync::mpsc::channel::<()>();
    let watcher = std::thread::spawn(move || {
        let mut memory = 0;
        // A program that ends within a few milliseconds is not slowed down by being looked at.
        let timeout = std::sync::mpsc::RecvTimeoutError::Timeout;
        while finished.recv_timeout(Duration::from_millis(10)) == Err(timeout) {
            memory = memory.max(family_memory(id));
        }
        memory
    });
    let status = child.wait().ok()?;
    let time = begun.elapsed();
    drop(done);
    let memory = watcher.join().unwrap_or(0);
    let cpu = cpu_of_children().saturating_sub(before);
    status.success().then_some(Cost { time, cpu, memory })
}

/// What all ended children of this process took, from /proc: `cutime` and `cstime`, in hundredths of a second (the unit is
/// the same on every Linux that one meets).
fn cpu_of_children() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is the program's name in parentheses, and may hold blanks.
    let rest = text.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let ticks: u64 = rest.split(' ').skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// The peak memory of the largest process among `id` and its children, in KiB.
fn family_memory(id: u32) -> u64 {
    let read = |path: String| std::fs::read_to_string(path).unwrap_or_default();
    let peak = read(format!("/proc/{id}/status"))
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0);
    read(format!("/proc/{id}/task/{id}/children"))
        .split_whitespace()
        .filter_map(|child| child.parse().ok())
        .map(family_memory)
        .fold(peak, u64::max)
}
