//! Times whole commands against each other, on workloads made from a seed.
//!
//! ```text
//! cargo bench --bench commands -- [--quick] [--only NAME] [--rounds N]
//! ```
//!
//! Every row is the median of several rounds in which all commands of the row take turns, so that a busy machine slows all of
//! them. A figure means something as a ratio within its row only. The floor of a row reads and parses the same bytes with
//! the same parsers and does nothing else; peers are timed where they are installed (`dyff`, `diffyml`, `jd`, `difft`).

#![allow(clippy::print_stdout, reason = "it prints a table")]
#![allow(missing_docs, reason = "a program")]

mod generate;

use flecto::document::{self, Format};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// One command of a row.
struct Contender {
    name: &'static str,
    shell: String,
}

/// What one run took.
#[derive(Clone, Copy)]
struct Cost {
    time: Duration,
    /// The most memory of any process of the command, in KiB.
    memory: u64,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if args.first().is_some_and(|arg| arg == "floor") {
        return floor(&args[1..]);
    }
    let value = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let quick = args.iter().any(|arg| arg == "--quick");
    let rounds = value("--rounds").and_then(|n| n.parse().ok()).unwrap_or(if quick { 3 } else { 9 });
    let only = value("--only").map_or("", String::as_str);
    let work = tempfile::tempdir().expect("a folder");
    println!("| workload | command | median ms | ratio | peak MiB |\n|---|---|---:|---:|---:|");
    for (workload, contenders) in rows(work.path(), quick, only) {
        table_row(work.path(), &workload, &contenders, rounds);
    }
}

/// Reads and parses files, and does nothing else with them.
fn floor(files: &[String]) {
    for file in files {
        let bytes = std::fs::read(file).expect("a file");
        let format = Format::from_name(file).unwrap_or(Format::Yaml);
        let parsed = document::parse(format, &bytes, &document::Options::default());
        assert!(parsed.is_ok(), "{file} does not parse");
    }
}

fn rows(work: &Path, quick: bool, only: &str) -> Vec<(String, Vec<Contender>)> {
    let bin = PathBuf::from(env!("CARGO_BIN_EXE_flecto"));
    let bin = bin.parent().expect("a folder").display().to_string();
    let me = std::env::current_exe().expect("this program").display().to_string();
    let command = |name, shell: String| Contender { name, shell };
    let mut rows = Vec::new();
    let wanted = |name: &str| name.contains(only);

    if wanted("start") {
        std::fs::write(work.join("empty.ndjson"), generate::stream(0, 1)).expect("a file");
        let mut row = vec![command("true", "true".into())];
        for name in ["flecto-policy", "flecto-mask", "flecto-payload", "flecto-render"] {
            row.push(command(name, format!("{bin}/{name} < empty.ndjson")));
        }
        row.push(command("flecto --version", format!("{bin}/flecto --version")));
        rows.push(("start: an empty stream".to_string(), row));
    }

    let counts: &[u64] = if quick { &[50, 1_000] } else { &[50, 250, 1_000, 10_000] };
    for &files in counts.iter().filter(|_| wanted("files")) {
        let name = format!("files: {files}, a tenth changed");
        let root = work.join(format!("tree-{files}"));
        generate::tree(&root, files, 7).expect("a tree");
        let script = format!(
            "cd {} && git init -q && cp -r old/. . && git add -A team-* && git -c user.name=b -c user.email=b@example.org commit -qm b && cp -r new/. .",
            root.display()
        );
        assert!(sh(work, &script).is_some(), "a repository");
        let root = root.display();
        rows.push((
            name,
            vec![
                command("git diff --no-index", format!("git diff --no-index {root}/old {root}/new; true")),
                command("floor", format!("find {root}/old {root}/new -type f | xargs {me} floor")),
                command("flecto-diff --no-index", format!("{bin}/flecto-diff --no-index {root}/old {root}/new")),
                command("flecto ci", format!("cd {root} && {bin}/flecto ci 'team-*/*' --quiet; true")),
                command(
                    "flecto ci --format sarif",
                    format!("cd {root} && {bin}/flecto ci 'team-*/*' --quiet --format sarif; true"),
                ),
            ],
        ));
    }

    let sizes: &[usize] = if quick { &[1, 10] } else { &[1, 10, 100] };
    for &size in sizes.iter().filter(|_| wanted("json")) {
        for (side, changed) in [("old", false), ("new", true)] {
            std::fs::write(work.join(format!("{side}-{size}.json")), generate::big_json(size << 20, 3, changed))
                .expect("a file");
        }
        rows.push((
            format!("json: {size} MiB"),
            pair(&bin, &me, &format!("old-{size}.json"), &format!("new-{size}.json")),
        ));
    }
    for &size in [1usize, 10].iter().filter(|_| wanted("yaml")) {
        for (side, changed) in [("old", false), ("new", true)] {
            std::fs::write(work.join(format!("{side}-{size}.yaml")), generate::big_yaml(size << 20, 3, changed))
                .expect("a file");
        }
        rows.push((
            format!("yaml: {size} MiB"),
            pair(&bin, &me, &format!("old-{size}.yaml"), &format!("new-{size}.yaml")),
        ));
    }
    let documents: &[u64] = if quick { &[200, 2_000] } else { &[200, 2_000, 20_000] };
    for &count in documents.iter().filter(|_| wanted("manifest")) {
        for (side, changed) in [("old", false), ("new", true)] {
            std::fs::write(work.join(format!("{side}-k{count}.yaml")), generate::manifest(count, 5, changed))
                .expect("a file");
        }
        rows.push((
            format!("manifest: {count} documents, 3 changed"),
            pair(&bin, &me, &format!("old-k{count}.yaml"), &format!("new-k{count}.yaml")),
        ));
    }

    let records: &[u64] = if quick { &[10_000] } else { &[10_000, 1_000_000] };
    for &count in records.iter().filter(|_| wanted("stream")) {
        let file = format!("stream-{count}.ndjson");
        std::fs::write(work.join(&file), generate::stream(count, 9)).expect("a file");
        rows.push((
            format!("stream: {count} changes"),
            vec![
                command("cat", format!("cat {file}")),
                command("flecto-policy", format!("{bin}/flecto-policy < {file}")),
                command("flecto-mask", format!("{bin}/flecto-mask < {file}")),
                command("flecto-render --format ndjson", format!("{bin}/flecto-render --format ndjson < {file}; true")),
                command(
                    "policy | mask | render",
                    format!(
                        "{bin}/flecto-policy < {file} | {bin}/flecto-mask | {bin}/flecto-render --format ndjson; true"
                    ),
                ),
            ],
        ));
    }
    rows
}

/// One pair of files: the floor, git, flecto and whatever peer is installed.
fn pair(bin: &str, me: &str, old: &str, new: &str) -> Vec<Contender> {
    let command = |name, shell: String| Contender { name, shell };
    let mut row = vec![
        command("git diff --no-index", format!("git diff --no-index {old} {new}; true")),
        command("floor", format!("{me} floor {old} {new}")),
        command("flecto-diff --no-index", format!("{bin}/flecto-diff --no-index {old} {new}")),
    ];
    let peers = [
        ("dyff", format!("dyff between {old} {new}; true")),
        ("diffyml", format!("diffyml {old} {new}; true")),
        ("jd", format!("jd {old} {new}; true")),
        ("difft", format!("difft {old} {new}; true")),
    ];
    for (name, shell) in peers {
        if sh(Path::new("."), &format!("command -v {name}")).is_some() {
            row.push(command(name, shell));
        }
    }
    row
}

fn table_row(work: &Path, workload: &str, contenders: &[Contender], rounds: usize) {
    let mut costs: Vec<Vec<Cost>> = vec![Vec::new(); contenders.len()];
    for round in 0..=rounds {
        for (contender, costs) in contenders.iter().zip(&mut costs) {
            let cost = sh(work, &contender.shell).unwrap_or_else(|| panic!("{} failed", contender.shell));
            // The first round warms the caches.
            if round > 0 {
                costs.push(cost);
            }
        }
    }
    let medians: Vec<Duration> = costs.iter_mut().map(|costs| median(costs)).collect();
    for ((contender, costs), time) in contenders.iter().zip(&costs).zip(&medians) {
        let memory = costs.iter().map(|cost| cost.memory).max().unwrap_or(0);
        let ratio = time.as_secs_f64() / medians[0].as_secs_f64();
        println!(
            "| {workload} | {} | {:.1} | {ratio:.2} | {} |",
            contender.name,
            time.as_secs_f64() * 1e3,
            memory >> 10
        );
    }
}

fn median(costs: &mut [Cost]) -> Duration {
    costs.sort_by_key(|cost| cost.time);
    costs[costs.len() / 2].time
}

/// Runs a shell line with its output thrown away; `None` when it fails. Memory is read from /proc while it runs, so it is a
/// lower bound, and 0 for what ends at once or where there is no /proc.
fn sh(folder: &Path, line: &str) -> Option<Cost> {
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
        while finished.recv_timeout(Duration::from_millis(20)).is_err() {
            memory = memory.max(family_memory(id));
        }
        memory
    });
    let status = child.wait().ok()?;
    let time = begun.elapsed();
    drop(done);
    let memory = watcher.join().unwrap_or(0);
    status.success().then_some(Cost { time, memory })
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
