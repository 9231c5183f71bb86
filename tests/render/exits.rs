//! Exit status, and streams that are not whole.

use super::sample::{README, TWENTY, render};
use crate::support::program;
use std::io::{Read as _, Write as _};
use std::process::Stdio;

const FORMATS: [&str; 3] = ["text", "json", "ndjson"];

#[test]
fn g1_the_verdict_is_the_status() {
    for format in FORMATS {
        render(["--format", format], README).exits(1);
        render(["--format", format], &README.replace("\"failed\":true", "\"failed\":false")).exits(0);
        render(["--format", format], &README.replace("\"complete\":true", "\"complete\":false")).exits(2);
    }
    let unjudged: String = README.lines().filter(|line| !line.contains("verdict")).flat_map(|l| [l, "\n"]).collect();
    assert!(!unjudged.contains("verdict"));
    render([], &unjudged).exits(0);
}

#[test]
fn g1_a_stream_that_lost_records_is_told_in_every_format() {
    let lost: String =
        README.lines().filter(|line| !line.contains("\"path\":\"debug\"")).flat_map(|l| [l, "\n"]).collect();
    for format in FORMATS {
        let run = render(["--format", format], &lost).exits(2);
        assert!(run.stdout.contains("1 of the 2 changes"), "{}", run.stdout);
        assert!(run.stderr.contains("--partial") && run.stderr.lines().count() == 1, "{}", run.stderr);
        let run = render(["--format", format, "--partial"], &lost).exits(1);
        assert!(run.stdout.contains("1 of the 2 changes"), "{}", run.stdout);
        assert_eq!(run.stderr, "");
    }
    let document: serde_json::Value =
        serde_json::from_str(&render(["--format", "json"], &lost).stdout).expect("a whole document");
    assert_eq!(document["complete"], false);
    let ndjson = render(["--format", "ndjson"], &lost);
    assert_eq!(ndjson.records("end")[0]["complete"], false);
    assert_eq!(
        ndjson.records("warning")[0]["message"],
        "incomplete: the stream has 1 of the 2 changes that its `end` record tells of"
    );
}

#[test]
fn g1_a_stream_cut_at_any_byte_never_looks_whole() {
    let twenty = TWENTY.replace("\"complete\":false", "\"complete\":true");
    let end_of_end = twenty.find("{\"type\":\"payload\"").expect("a payload");
    // Every line end, and some bytes inside of lines.
    let cuts = (1..end_of_end)
        .filter(|at| twenty.is_char_boundary(*at))
        .filter(|at| twenty.as_bytes()[at - 1] == b'\n' || at % 97 == 0);
    for at in cuts {
        for format in FORMATS {
            let run = render(["--format", format], &twenty[..at]);
            let status = if at == end_of_end { 0 } else { 2 };
            assert_eq!(run.status, Some(status), "{format} cut at {at}: {}", run.stderr);
            assert!(run.stdout.contains("incomplete"), "{format} cut at {at}: {}", run.stdout);
            if format == "json" {
                serde_json::from_str::<serde_json::Value>(&run.stdout).expect("a whole document all the same");
            }
        }
    }
}

#[test]
fn broken_lines_are_named_and_what_came_before_is_shown() {
    let input = format!("{}not json\n", README.lines().take(3).flat_map(|l| [l, "\n"]).collect::<String>());
    for format in FORMATS {
        let run = render(["--format", format], &input).exits(2);
        assert!(run.stdout.contains("db.pool_size"), "{}", run.stdout);
        assert!(
            run.stderr.starts_with("flecto-render: the report is incomplete: line 4 of the input is no JSON"),
            "{}",
            run.stderr
        );
    }
    let two = format!("{README}{README}");
    assert!(render([], &two).exits(2).stderr.contains("two streams are not one"));
}

#[test]
fn a_reader_that_is_gone_is_quiet_and_the_verdict_still_counts() {
    let change = README.lines().nth(2).expect("a change");
    let many = 40_000;
    let mut input = README.lines().take(2).flat_map(|l| [l, "\n"]).collect::<String>();
    for _ in 0..many {
        input.push_str(change);
        input.push('\n');
    }
    input.push_str(README.lines().nth(6).expect("a verdict"));
    input.push_str(&format!(
        "\n{{\"type\":\"end\",\"files\":1,\"differing\":1,\"changes\":{many},\"errors\":0,\"complete\":true}}\n"
    ));
    for format in FORMATS {
        let mut child = program("flecto-render")
            .args(["--format", format])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("flecto-render");
        drop(child.stdout.take());
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("all of it is read");
        let mut said = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("stderr");
        assert_eq!(child.wait().expect("a status").code(), Some(1), "{format}: {said}");
        assert_eq!(said, "");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_trouble() {
    for format in FORMATS {
        let mut command = program("flecto-render");
        command.args(["--format", format]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full"))
            .stderr(Stdio::piped())
            .spawn()
            .expect("flecto-render");
        let _ = child.stdin.take().expect("a pipe").write_all(README.as_bytes());
        let mut said = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("stderr");
        assert_eq!(child.wait().expect("a status").code(), Some(2));
        assert!(said.starts_with("flecto-render: cannot write standard output: "), "{said}");
    }
}

#[test]
fn unknown_formats_are_refused() {
    let run = render(["--format", "txet"], README).exits(2);
    assert_eq!(run.stdout, "");
}
