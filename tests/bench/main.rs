//! Times whole commands against each other, on workloads made from a seed.
//!
//! ```text
//! cargo bench --bench commands -- [--quick] [--full] [--only NAME] [--rounds N] [--bin FOLDER] [--instructions]
//! ```
//!
//! Every row is the median of several rounds in which all commands of the row take turns, so that a busy machine slows all of
//! them. A figure means something as a ratio within its row only; the ratio is that of processor time, which other work on
//! the machine disturbs least. The floor of a row reads and parses the same bytes with the same parsers and does nothing
//! else; peers are timed where they are installed. What is printed is the table of docs/performance.md.
//!
//! `--bin` times the programs of another folder, to compare two builds. `--instructions` counts the instructions of five commands instead, see [`instructions`].

#![allow(clippy::print_stdout, reason = "it prints a table")]
#![allow(missing_docs, reason = "a program")]

mod generate;
mod growth;
mod instructions;
mod run;

use flecto::document::{self, Format};
use flecto::{mask, policy, render, secret};
use run::{Contender, Rounds, in_turn, sh};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What was asked for.
struct Asked {
    quick: bool,
    full: bool,
    only: String,
    rounds: Rounds,
}

impl Asked {
    fn wants(&self, name: &str) -> bool {
        name.contains(&self.only)
    }
}

fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.first().map(String::as_str) {
        Some("floor") => {
            floor(&args[1..]);
            return std::process::ExitCode::SUCCESS;
        }
        Some("line") => {
            args[1..].iter().for_each(|file| line(file));
            return std::process::ExitCode::SUCCESS;
        }
        _ => {}
    }
    let value = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let has = |name: &str| args.iter().any(|arg| arg == name);
    let quick = has("--quick");
    let most = value("--rounds").and_then(|n| n.parse().ok()).unwrap_or(if quick { 3 } else { 9 });
    let asked = Asked {
        quick,
        full: has("--full"),
        only: value("--only").cloned().unwrap_or_default(),
        rounds: Rounds { most, enough: Duration::from_secs(if quick { 3 } else { 12 }) },
    };
    let own = PathBuf::from(env!("CARGO_BIN_EXE_flecto"));
    let own = own.parent().expect("a folder").display().to_string();
    let bin = value("--bin").cloned().unwrap_or(own);
    let work = tempfile::tempdir().expect("a folder");
    if has("--instructions") {
        let well = instructions::check(work.path(), &bin);
        return if well { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::FAILURE };
    }
    header();
    let mut bench = Bench { work: work.path(), bin, me: String::new(), asked: &asked };
    bench.me = std::env::current_exe().expect("this program").display().to_string();
    bench.all();
    if asked.wants("growth") {
        growth::table(
            work.path(),
            &bench.bin,
            Rounds { most: asked.rounds.most.min(5), enough: Duration::from_secs(4) },
        );
    }
    std::process::ExitCode::SUCCESS
}

/// Says what was measured on what.
fn header() {
    let commit = Command::new("git").args(["rev-parse", "--short", "HEAD"]).output();
    let commit = commit.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string()).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("Commit {commit}, {} on {}, {cores} cores.\n", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    println!("| workload | command | ms | CPU ms | CPU ratio | peak MiB |\n|---|---|---:|---:|---:|---:|");
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

/// Does in this one process what `flecto-policy | flecto-mask | flecto-render --format ndjson` does in three: each stage over all of
/// the records, from one buffer into the next.
fn line(file: &str) {
    let records = std::fs::read(file).expect("a stream");
    let (mut judged, mut masked) = (Vec::new(), Vec::new());
    policy::run(policy::Options::default(), records.as_slice(), &mut judged).expect("a stream");
    mask::run(judged.as_slice(), &mut masked, secret::Options::default()).expect("a stream");
    let options = render::Options { format: render::Format::Ndjson, ..render::Options::default() };
    render::run(&options, masked.as_slice(), std::io::stdout().lock()).expect("a stream");
}

struct Bench<'a> {
    work: &'a Path,
    bin: String,
    /// This program, for the floor.
    me: String,
    asked: &'a Asked,
}

impl Bench<'_> {
    fn all(&self) {
        if self.asked.wants("start") {
            self.start();
        }
        let counts: &[u64] = if self.asked.quick { &[50, 1_000] } else { &[50, 250, 1_000, 10_000] };
        for &files in counts.iter().filter(|_| self.asked.wants("files")) {
            self.files(files);
        }
        for (kind, sizes) in [("json", &[1_usize, 10, 100]), ("yaml", &[1, 10, 100])] {
            let sizes = sizes.iter().filter(|size| **size < 100 || self.asked.full && kind == "json");
            for &size in sizes.filter(|_| self.asked.wants(kind)) {
                self.write(&format!("-{size}.{kind}"), |changed| match kind {
                    "json" => generate::big_json(size << 20, 3, changed),
                    _ => generate::big_yaml(size << 20, 3, changed),
                });
                self.pair(&format!("{kind}: {size} MiB"), &format!("{size}.{kind}"));
            }
        }
        let documents: &[u64] = if self.asked.quick { &[200, 2_000] } else { &[200, 2_000, 20_000] };
        for &count in documents.iter().filter(|_| self.asked.wants("manifest")) {
            self.write(&format!("-k{count}.yaml"), |changed| generate::manifest(count, 5, changed));
            self.pair(&format!("manifest: {count} documents, 3 changed"), &format!("k{count}.yaml"));
        }
        let records: &[u64] = if self.asked.quick { &[10_000] } else { &[10_000, 1_000_000] };
        for &count in records.iter().filter(|_| self.asked.wants("stream")) {
            self.stream(count);
        }
    }

    fn write(&self, suffix: &str, text: impl Fn(bool) -> String) {
        for (side, changed) in [("old", false), ("new", true)] {
            std::fs::write(self.work.join(format!("{side}{suffix}")), text(changed)).expect("a file");
        }
    }

    fn row(&self, workload: &str, contenders: &[Contender]) {
        let costs = in_turn(self.work, contenders, self.asked.rounds);
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let base = costs.first().map_or(1.0, |cost| ms(cost.cpu).max(1.0));
        for (contender, cost) in contenders.iter().zip(&costs) {
            println!(
                "| {workload} | {} | {:.1} | {:.1} | {:.2} | {} |",
                contender.name,
                ms(cost.time),
                ms(cost.cpu),
                ms(cost.cpu) / base,
                cost.memory >> 10
            );
        }
    }

    /// Start-up: each command a hundred times, or the clock is too coarse.
    fn start(&self) {
        let bin = &self.bin;
        std::fs::write(self.work.join("empty.ndjson"), generate::stream(0, 1)).expect("a file");
        let many = |line: &str| {
            format!("for i in 0 1 2 3 4 5 6 7 8 9; do for j in 0 1 2 3 4 5 6 7 8 9; do {line}; done; done; true")
        };
        let mut row = vec![Contender::new("/bin/true", many("/bin/true"))];
        for name in ["flecto-policy", "flecto-mask", "flecto-payload", "flecto-render"] {
            row.push(Contender::new(name, many(&format!("{bin}/{name} < empty.ndjson"))));
        }
        for name in ["flecto", "flecto-diff"] {
            row.push(Contender::new(format!("{name} --version"), many(&format!("{bin}/{name} --version"))));
        }
        self.row("start, 100 times", &row);
    }

    fn files(&self, files: u64) {
        let (bin, me) = (&self.bin, &self.me);
        let root = self.work.join(format!("tree-{files}"));
        let changed = generate::tree(&root, files, 7).expect("a tree");
        std::fs::write(root.join("changed"), changed.join("\n")).expect("a list");
        let root = root.display();
        let script = format!(
            "cd {root} && git init -q && cp -r old/. . && git add -A team-* && git -c user.name=b -c user.email=b@example.org commit -qm b && cp -r new/. ."
        );
        assert!(sh(self.work, &script).is_some(), "a repository");
        self.row(
            &format!("files: {files}, a tenth changed"),
            &[
                Contender::new("git diff --no-index", format!("git diff --no-index {root}/old {root}/new; true")),
                Contender::new("floor: parse the changed files", format!("cd {root} && xargs {me} floor < changed")),
                Contender::new("flecto-diff --no-index", format!("{bin}/flecto-diff --no-index {root}/old {root}/new")),
                Contender::new("flecto ci", format!("cd {root} && {bin}/flecto ci 'team-*/*' --quiet; true")),
                Contender::new(
                    "flecto ci --format sarif",
                    format!("cd {root} && {bin}/flecto ci 'team-*/*' --quiet --format sarif; true"),
                ),
            ],
        );
    }

    /// One pair of files: the floor, git, flecto and whatever peer is installed.
    fn pair(&self, workload: &str, name: &str) {
        let (old, new, bin) = (format!("old-{name}"), format!("new-{name}"), &self.bin);
        let mut row = vec![
            Contender::new("floor: parse both sides", format!("{} floor {old} {new}", self.me)),
            Contender::new(
                "flecto-diff --no-index",
                format!("{bin}/flecto-diff --max-file-size 200000000 --no-index {old} {new}"),
            ),
            Contender::new("git diff --no-index", format!("git diff --no-index {old} {new}; true")),
        ];
        let json = name.ends_with(".json");
        let peers = [
            ("dyff", "between", true),
            ("diffyml", "", true),
            ("jd", "", true),
            ("difft", "", true),
            ("json-diff", "", json),
            ("jsondiffpatch", "", json),
            ("deep", "diff", json),
        ];
        for (peer, word, fits) in peers {
            if fits && sh(Path::new("."), &format!("command -v {peer}")).is_some() {
                row.push(Contender::new(peer, format!("timeout 60 {peer} {word} {old} {new}; true")));
            }
        }
        self.row(workload, &row);
    }

    fn stream(&self, count: u64) {
        let (bin, file) = (&self.bin, format!("stream-{count}.ndjson"));
        std::fs::write(self.work.join(&file), generate::stream(count, 9)).expect("a file");
        self.row(
            &format!("stream: {count} changes"),
            &[
                Contender::new("cat", format!("cat {file} | cat")),
                Contender::new("flecto-policy", format!("{bin}/flecto-policy < {file}; true")),
                Contender::new("flecto-mask", format!("{bin}/flecto-mask < {file}")),
                Contender::new("flecto-render --format ndjson", format!("{bin}/flecto-render --format ndjson < {file}; true")),
                Contender::new(
                    "policy, mask, render one after the other",
                    format!(
                        "{bin}/flecto-policy < {file} > a; {bin}/flecto-mask < a > b; {bin}/flecto-render --format ndjson < b; true"
                    ),
                ),
            ],
        );
        self.row(
            &format!("line: {count} changes"),
            &[
                Contender::new("policy, mask, render in one process", format!("{} line {file}", self.me)),
                Contender::new(
                    "policy | mask | render",
                    format!(
                        "{bin}/flecto-policy < {file} | {bin}/flecto-mask | {bin}/flecto-render --format ndjson; true"
                    ),
                ),
            ],
        );
    }
}
