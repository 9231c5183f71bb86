//! What every filter does with broken, huge and cut streams.

use crate::support::{filter, program, run_with};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

/// The filters, each with the options that let it read any slice of a stream, and what it must read whole without them.
const FILTERS: [(&str, &[&str]); 4] = [
    ("flecto-policy", &["--policies", "default"]),
    ("flecto-mask", &[]),
    ("flecto-payload", &[]),
    ("flecto-render", &["--format", "ndjson"]),
];

/// The filters that hold a stream to the counts of its `end`.
const COUNTING: [&str; 3] = ["flecto-policy", "flecto-payload", "flecto-render"];

const START: &str = r#"{"type":"start","version":1,"baseline":"HEAD"}"#;
const FILE: &str = r#"{"type":"file","file":"a.yaml","format":"yaml","status":"modified"}"#;
const CHANGE: &str = r#"{"type":"change","file":"a.yaml","path":"a","op":"changed","before":1,"after":2}"#;
const END: &str = r#"{"type":"end","files":1,"differing":1,"changes":1,"errors":0,"complete":true}"#;

fn stream(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn whole() -> String {
    stream(&[START, FILE, CHANGE, END])
}

#[test]
fn a_whole_stream_passes_every_filter() {
    for (name, args) in FILTERS {
        let run = filter(name, args, &whole()).exits(0);
        assert!(run.stdout.contains(CHANGE), "{name}: {}", run.stdout);
    }
}

#[test]
fn a_line_that_is_no_record_is_exit_2_and_named_by_its_number() {
    let long = format!(r#"{{"type":"x","v":"{}"}}"#, "a".repeat(17 << 20));
    let broken: [(&str, &str, &str); 8] = [
        ("bad JSON", "{\"type\": nope}", "no JSON"),
        ("no object", "[1,2]", "no JSON object"),
        ("no type", r#"{"a":1}"#, "no `type`"),
        ("a type that is no string", r#"{"type":1}"#, "no `type`"),
        ("a repeated key", r#"{"a":1,"type":"x","a":2}"#, "repeats a key"),
        ("a NUL", "{\"a\":\"\0\",\"type\":\"x\"}", "no JSON"),
        ("two values", r#"{"a":1,"type":"x"} {}"#, "no JSON"),
        ("a line over the limit", &long, "longer than"),
    ];
    for (name, args) in FILTERS {
        for (what, line, says) in &broken {
            let run = filter(name, args, &stream(&[START, FILE, CHANGE, line, END])).exits(2);
            assert!(
                run.stderr.contains("line 4 of the input") && run.stderr.contains(says),
                "{name}, {what}: {}",
                run.stderr
            );
            assert!(run.stderr.lines().count() <= 2, "{name}, {what}: {}", run.stderr);
        }
    }
}

#[test]
fn bytes_that_are_not_utf8_are_exit_2() {
    let mut input = stream(&[START, FILE]).into_bytes();
    input.extend_from_slice(b"{\"type\":\"x\",\"v\":\"\xff\"}\n");
    for (name, args) in FILTERS {
        let run = run_with(program(name).args(args), &input).exits(2);
        assert!(run.stderr.contains("line 3 of the input is not UTF-8"), "{name}: {}", run.stderr);
    }
}

#[test]
fn the_error_of_a_broken_line_never_quotes_it() {
    let line = r#"{"type":"change","file":"a","path":"p","op":"changed","before":"hunter2hunter2" "after":1}"#;
    for (name, args) in FILTERS {
        let run = filter(name, args, &stream(&[START, line])).exits(2);
        assert!(!run.stderr.contains("hunter2"), "{name}: {}", run.stderr);
    }
}

#[test]
fn blank_lines_are_passed_over() {
    for (name, args) in FILTERS {
        filter(name, args, &stream(&[START, "", FILE, "  \t", CHANGE, "\r", END])).exits(0);
    }
}

#[test]
fn a_missing_last_newline_is_a_writer_that_died() {
    for (name, args) in FILTERS {
        let run = filter(name, args, whole().trim_end()).exits(2);
        assert!(run.stderr.contains("line 4 of the input is cut off"), "{name}: {}", run.stderr);
    }
}

#[test]
fn a_stream_cut_at_any_byte_never_passes_for_a_whole_one() {
    let text = whole();
    for name in COUNTING {
        for cut in (0..text.len()).step_by(7).chain([text.len() - 1]) {
            let run = filter(name, [""; 0], &text[..cut]);
            assert_eq!(run.status, Some(2), "{name} cut at byte {cut}: {}", run.stderr);
        }
    }
}

#[test]
fn two_streams_are_not_one() {
    for name in COUNTING {
        let run = filter(name, [""; 0], &(whole() + &whole())).exits(2);
        assert!(run.stderr.contains("line 5 of the input"), "{name}: {}", run.stderr);
    }
}

#[test]
fn lost_lines_are_noticed_by_their_number() {
    for name in COUNTING {
        let run = filter(name, [""; 0], &stream(&[START, FILE, END])).exits(2);
        assert!(
            run.stderr.contains("0 of the 1 changes") && run.stderr.contains("--partial"),
            "{name}: {}",
            run.stderr
        );
    }
    filter("flecto-policy", ["--partial"], &stream(&[CHANGE])).exits(0);
    filter("flecto-render", ["--partial", "--format", "json"], &stream(&[CHANGE])).exits(0);
    filter("flecto-payload", ["--partial"], &stream(&[CHANGE])).exits(0);
}

#[test]
fn foreign_records_are_passed_on_byte_for_byte_and_in_order() {
    let foreign = r#"{ "z": [1,  2.50, 1e3], "type":"x-mine", "a":"é\u00e9" }"#;
    for name in ["flecto-policy", "flecto-mask"] {
        let run = filter(name, [""; 0], &stream(&[START, foreign, FILE, CHANGE, foreign, END])).exits(0);
        let seen: Vec<&str> = run.stdout.lines().filter(|line| *line == foreign || *line == CHANGE).collect();
        assert_eq!(seen, [foreign, CHANGE, foreign], "{name}");
    }
}

#[test]
fn records_that_other_json_writers_wrote_are_read() {
    let spaced = r#"{ "baseline": "HEAD", "version": 1, "type": "start" }"#;
    let sorted = r#"{"after": 2, "before": 1, "file": "a.yaml", "op": "changed", "path": "a", "type": "change"}"#;
    let end = r#"{"changes": 1, "complete": true, "differing": 1, "errors": 0, "files": 1, "type": "end"}"#;
    for (name, args) in FILTERS {
        filter(name, args, &stream(&[spaced, FILE, sorted, end])).exits(0);
    }
}

/// Starts a filter, lets a thread write `input` until nobody reads it any more, and gives back the child.
fn start(
    name: &str,
    args: &[&str],
    stdout: Stdio,
    input: impl Iterator<Item = String> + Send + 'static,
) -> std::process::Child {
    let mut child =
        program(name).args(args).stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::piped()).spawn().expect(name);
    let mut stdin = child.stdin.take().expect("a pipe");
    std::thread::spawn(move || input.map(|line| stdin.write_all(line.as_bytes())).take_while(Result::is_ok).count());
    child
}

/// A stream of many files with one change each.
fn many(files: u64) -> impl Iterator<Item = String> + Send + 'static {
    let end = format!(
        "{{\"type\":\"end\",\"files\":{files},\"differing\":{files},\"changes\":{files},\"errors\":0,\"complete\":true}}\n"
    );
    std::iter::once(format!("{START}\n"))
        .chain((0..files).map(|n| {
            format!(
                "{{\"type\":\"file\",\"file\":\"f{n:07}.yaml\",\"format\":\"yaml\",\"status\":\"modified\"}}\n\
                 {{\"type\":\"change\",\"file\":\"f{n:07}.yaml\",\"path\":\"a.b\",\"op\":\"changed\",\"before\":{n},\"after\":\"{}\"}}\n",
                "x".repeat(200)
            )
        }))
        .chain(std::iter::once(end))
}

#[test]
fn a_closed_pipe_is_quiet() {
    for (name, args) in FILTERS.into_iter().filter(|(name, _)| *name != "flecto-payload") {
        let mut child = start(name, args, Stdio::piped(), many(20_000));
        let mut first = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut first).expect("a line");
        assert!(first.starts_with("{\"type\":\"start\""), "{name}: {first}");
        let output = child.wait_with_output().expect("its end");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{name}");
        assert_eq!(output.status.code(), Some(0), "{name}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_exit_2() {
    for (name, args) in FILTERS {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let child = start(name, args, full.into(), many(3));
        let output = child.wait_with_output().expect("its end");
        assert_eq!(output.status.code(), Some(2), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stderr).contains(name), "{name}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_stream_is_filtered_in_constant_memory() {
    for (name, args) in FILTERS.into_iter().filter(|(name, _)| *name != "flecto-payload") {
        let mut child = start(name, args, Stdio::piped(), many(60_000));
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let (mut line, mut lines, mut peak) = (Vec::new(), 0u64, 0u64);
        while out.read_until(b'\n', &mut line).expect("lines") > 0 {
            line.clear();
            lines += 1;
            if lines % 20_000 == 0 {
                peak = peak.max(peak_memory(child.id()));
            }
        }
        assert_eq!(child.wait().expect("its end").code(), Some(0), "{name}");
        assert!(lines > 120_000, "{name}: {lines}");
        assert!(peak > 0 && peak < 32 << 10, "{name} took {peak} KiB for a stream of 20 MiB");
    }
}

/// The most memory that a process has had, in KiB.
#[cfg(target_os = "linux")]
fn peak_memory(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}
