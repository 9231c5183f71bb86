//! Does a command still take the work that it took? Instructions, as valgrind counts them: the same on a busy machine.
//!
//! What is expected is an order of magnitude. A count above twice the figure is a regression to look into; one far below
//! is a reason to write down the better figure.

use crate::generate;
use std::path::Path;
use std::process::Command;

/// The command, and how many million instructions it takes.
const EXPECTED: [(&str, &str, u64); 5] = [
    ("start: flecto-mask, an empty stream", "flecto-mask empty.ndjson", 1),
    ("files: 50, a tenth changed", "flecto-diff --no-index tree/old tree/new", 5),
    ("json: 1 MiB", "flecto-diff --no-index old.json new.json", 150),
    ("manifest: 2,000 documents, 3 changed", "flecto-diff --no-index old.yaml new.yaml", 30),
    ("stream: 2,000 changes through flecto-policy", "flecto-policy stream.ndjson", 150),
];

/// Counts, prints and judges; whether all is as it was. Without valgrind it says that it was skipped.
pub(crate) fn check(work: &Path, bin: &str) -> bool {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("skipped: valgrind is not installed");
        return true;
    }
    let write = |name: &str, text: String| std::fs::write(work.join(name), text).expect("a file");
    write("empty.ndjson", generate::stream(0, 1));
    write("stream.ndjson", generate::stream(2_000, 9));
    generate::tree(&work.join("tree"), 50, 7).expect("a tree");
    for (side, changed) in [("old", false), ("new", true)] {
        write(&format!("{side}.json"), generate::big_json(1 << 20, 3, changed));
        write(&format!("{side}.yaml"), generate::manifest(2_000, 5, changed));
    }
    println!("| command | million instructions | expected, about | |\n|---|---:|---:|---|");
    let mut all_well = true;
    for (name, line, expected) in EXPECTED {
        let count = count(work, bin, line) / 1_000_000;
        let well = count <= expected * 2;
        all_well &= well;
        println!("| {name} | {count} | {expected} | {} |", if well { "as expected" } else { "MORE" });
    }
    all_well
}

fn count(work: &Path, bin: &str, line: &str) -> u64 {
    let mut words = line.split(' ');
    let program = format!("{bin}/{}", words.next().unwrap_or_default());
    let mut command = Command::new("valgrind");
    command.current_dir(work).args(["--tool=callgrind", "--callgrind-out-file=/dev/null", &program]);
    let mut args: Vec<&str> = words.collect();
    if let [file] = args[..]
        && file.ends_with(".ndjson")
    {
        command.stdin(std::fs::File::open(work.join(file)).expect("a stream"));
        args.clear();
    }
    let output = command.args(args).output().expect("valgrind runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let collected = said.lines().find_map(|line| line.split_once("Collected : ").map(|(_, count)| count.trim()));
    collected.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("no count of {line}: {said}"))
}
