//! Attacks: text of the diff in every place and every format, and what a CI runner, a terminal or a renderer makes of it.

use super::runner::commands;
use super::sample::{NARRATION, render};
use crate::support::{Run, shared};
use serde_json::{Value, json};

/// Every format, and whether it may hold commands of its own.
pub(crate) const FORMATS: [&str; 13] = [
    "text",
    "rich",
    "json",
    "ndjson",
    "narration",
    "pr-comment",
    "markdown",
    "github-annotations",
    "sarif",
    "rdjsonl",
    "gitlab-codequality",
    "junit",
    "html",
];

/// What tries to become more than text.
pub(crate) const ATTACKS: [&str; 24] = [
    "\n::set-output name=pwn::1\n::add-mask::main",
    "\r::stop-commands::tok\rrest",
    "##[set-output name=pwn]1",
    "###[stop-commands]tok",
    "##vso[task.setvariable variable=a]b",
    "##teamcity[buildStop]",
    "\u{2028}::error::x\u{85}::error::y",
    "--- section\n+++ other",
    "section_start:1:x\r\u{1b}[0Kname",
    "\u{1b}[2J\u{1b}]52;c;x\u{7}\u{9b}31m",
    "\u{202e}gnp\u{2066}\u{200b}\u{feff}\u{e0041}\u{fe0f}",
    "\0\u{8}\u{7f}",
    "x,title=y::z,file=/etc/passwd",
    "%0A::error::x%25",
    "</td></table><details><summary><!-- flecto:pr-comment -->",
    "```\n~~~\n````",
    "@octo @org/team #1 GH-2 o/r#3 https://x.invalid www.x.invalid",
    "![x](https://x.invalid/p.png) [a](1) | `x` ]]> & \" '",
    "]]><error/>\u{fffe}\u{ffff}",
    "/merge\n/close",
    "::add-mask::x ::add-mask::x ::add-mask::x ::add-mask::x ::add-mask::x ::add-mask::x ::add-mask::x ::add-mask::x ::add-mask::x",
    "one\ntwo ##[error]x\n::error::y\n--- z",
    "{0} {path} {after} %s ${{ github.token }}",
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
];

/// A stream that has `text` wherever something foreign can stand.
pub(crate) fn stream_with(text: &str) -> String {
    let records = [
        json!({"type":"start","version":1,"baseline":text,"to":text}),
        json!({"type":"file","file":text,"format":"yaml","status":"renamed","from":text}),
        json!({"type":"change","file":text,"document":text,"path":text,"op":"changed","before":text,"after":{text:[text]},"note":text,"line":1}),
        json!({"type":"finding","file":text,"document":text,"path":text,"rule":text,"pack":text,"severity":"error","message":text,"line":1,"accepted":{"reason":text}}),
        json!({"type":"finding","file":text,"path":text,"rule":text,"severity":"warn","message":text,"line":2}),
        json!({"type":"change","file":text,"path":text,"op":"added","after":{"$flecto":"tagged","tag":text,"value":text}}),
        json!({"type":"change","file":text,"path":text,"op":"removed","before":{"$flecto":"int","text":text}}),
        json!({"type":"file","file":"z","format":text,"status":"error","side":"after","error":text}),
        json!({"type":"verdict","fail_on":[text],"failed":false,"error":1,"warn":1,"info":0,"added":1,"removed":1,"changed":1,"reordered":0}),
        json!({"type":"end","files":2,"differing":1,"changes":3,"errors":1,"complete":true}),
        json!({"type":"warning","stage":"diff","message":text}),
        json!({"type":text,"x":text}),
        json!({"type":"narration","provider":text,"model":text,"answered_by":text,"label":text,"text":text,"cached":false,"truncated":false}),
    ];
    let last = records.len() - usize::from(text.is_empty()) * 2;
    records[..last].iter().map(|record| format!("{record}\n")).collect()
}

fn inert(run: &Run, format: &str, what: &str) {
    let own: &[&str] = if format == "github-annotations" { &["error", "warning", "notice"] } else { &[] };
    // A log shows both streams.
    let loud = commands(&run.stderr);
    assert!(loud.is_empty(), "{format}, {what:?}: {loud:?}\n{}", run.stderr);
    assert!(!run.stderr.chars().any(|c| c != '\n' && flecto::text::is_active(c)), "{format}, {what:?}\n{}", run.stderr);
    for command in commands(&run.stdout) {
        assert!(own.contains(&command.name.as_str()), "{format}, {what:?}: {command:?}\n{}", run.stdout);
    }
    let acting = run.stdout.chars().find(|c| *c != '\n' && flecto::text::is_active(*c));
    // The tab is layout in what a model says.
    let acting = acting.filter(|c| !(*c == '\t' && matches!(format, "narration" | "pr-comment" | "markdown")));
    assert_eq!(acting, None, "{format}, {what:?}\n{}", run.stdout);
}

#[test]
fn r3_r4_no_attack_acts_in_any_format() {
    for attack in ATTACKS {
        let input = stream_with(attack);
        for format in FORMATS {
            let run = render(["--format", format], &input).exits(0);
            assert!(!run.stdout.is_empty(), "{format}");
            inert(&run, format, attack);
        }
    }
}

#[test]
fn r4_the_shared_hostile_inputs_act_in_no_format() {
    let Some(file) = shared("data/hostile/dev.ndjson.gz") else { return };
    let gunzip = std::process::Command::new("gzip").arg("-dc").arg(file).output().expect("gzip");
    for line in String::from_utf8(gunzip.stdout).expect("UTF-8").lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let text = case["text"].as_str().expect("text");
        // One place of a huge text is enough.
        let short: String = text.chars().take(20_000).collect();
        let input = stream_with(&short);
        for format in FORMATS {
            let run = render(["--format", format], &input).exits(0);
            inert(&run, format, case["id"].as_str().expect("id"));
        }
    }
}

/// Pieces that make commands when they meet.
const PIECES: [&str; 26] = [
    "#", "##", "[", "]", "##[", ":", "::", "error", "vso[", "add-mask", " ", "\n", "\r", "\t", "\u{2028}", "\u{a0}",
    "\\", "%", "0A", "%25", "|", "`", "<!--", "-->", "é", "\u{200b}",
];

#[test]
fn r4_generated_records_hold_no_command() {
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut next = move |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut text = move || (0..=next(6)).map(|_| PIECES[next(PIECES.len())]).collect::<String>();
    // FLECTO_MANY=1 makes ten thousand.
    let records: u64 = if std::env::var_os("FLECTO_MANY").is_some() { 10_000 } else { 600 };
    let mut input = format!("{}\n", json!({"type":"start","version":1,"baseline":text()}));
    let mut changes = 0;
    for n in 0..records {
        let file = if n % 7 == 0 { text() } else { "f".into() };
        let record = if n % 2 == 0 {
            changes += 1;
            json!({"type":"change","file":file,"document":text(),"path":text(),"op":"changed","before":text(),"after":[text(),{text():text()}],"note":text()})
        } else {
            json!({"type":"finding","file":file,"path":text(),"rule":text(),"pack":text(),"severity":"warn","message":text()})
        };
        input.push_str(&format!("{record}\n"));
    }
    input.push_str(&format!(
        "{}\n{}",
        json!({"type":"end","files":1,"differing":0,"changes":changes,"errors":0,"complete":true}),
        NARRATION.replace("- `debug`", "##[error]x\\n::add-mask::y\\n##vso[a]b\\n")
    ));
    for format in FORMATS {
        let run = if matches!(format, "pr-comment" | "markdown") {
            render(["--format", format, "--max-bytes", "10000000"], &input)
        } else {
            render(["--format", format], &input)
        };
        inert(&run.exits(0), format, "generated");
    }
}
