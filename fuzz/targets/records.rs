#![no_main]
//! Every filter over a stream of anything: it ends in records or in an error, the masked stream is read like the stream, and what a
//! person or a runner sees acts on neither.

use flecto::render::{self, Format, Options, Style};
use flecto::{mask, payload, policy, secret};
use libfuzzer_sys::fuzz_target;

const FORMATS: [Format; 12] = [
    Format::Text,
    Format::Json,
    Format::Ndjson,
    Format::Narration,
    Format::PrComment,
    Format::Markdown,
    Format::GithubAnnotations,
    Format::Sarif,
    Format::Html,
    Format::Rdjsonl,
    Format::GitlabCodequality,
    Format::Junit,
];

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("UTF-8 is written")
}

fn rendered(format: Format, style: Style, mask: bool, stream: &[u8]) -> (String, bool) {
    let options = Options {
        format,
        style,
        width: 80,
        color: false,
        partial: true,
        mask: mask.then(secret::Options::default),
        path_prefix: String::new(),
        instance: None,
        max_bytes: None,
        category: None,
        with_accepted: true,
    };
    let mut out = Vec::new();
    let whole = render::run(&options, stream, &mut out).is_ok();
    (text(out), whole)
}

/// What a terminal or a CI runner would act on. A runner's command stands at the start of a line; Azure's may stand anywhere.
fn acts(format: Format, out: &str) -> bool {
    let control = out.contains(|c: char| c.is_control() && c != '\n');
    let command = format != Format::GithubAnnotations && out.lines().any(|line| line.trim_start().starts_with("::"));
    control || command || out.contains("##vso[") || out.lines().any(|line| line.trim_start().starts_with("##["))
}

fuzz_target!(|bytes: &[u8]| {
    let mut judged = Vec::new();
    let options = policy::Options { partial: true, accept_inline: true, ..policy::Options::default() };
    // What the judge does not handle is copied by its first bytes; the mask reads all of it.
    let lines = || bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let is_json = lines().all(|line| serde_json::from_slice::<serde_json::Value>(line).is_ok());
    let is_stream = policy::run(options, bytes, &mut judged).is_ok() && is_json;

    let mut masked = Vec::new();
    let was_masked = mask::run(&judged[..], &mut masked, secret::Options::default()).is_ok();
    if is_stream {
        assert!(was_masked, "judged, and not masked");
        let mut again = Vec::new();
        mask::run(&masked[..], &mut again, secret::Options::default()).expect("masked, and not masked again");
        assert_eq!(text(masked.clone()), text(again), "masking twice");
    }
    let evidence = secret::Options { evidence: true, ..secret::Options::default() };
    let _ = mask::run(bytes, &mut Vec::new(), evidence);

    let mut sent = Vec::new();
    for by_file in [false, true] {
        sent.clear();
        let options = payload::Options { partial: true, by_file };
        let done = payload::run(&masked[..], &mut sent, options, |_| {});
        assert!(done.is_ok() || !is_stream, "judged and masked, and no payload: {:?}", done.err());
    }
    for (stream, is_judged) in [(&judged[..], true), (bytes, false)] {
        for format in FORMATS {
            let style = Style::Plain;
            let (out, whole) = rendered(format, style, format.is_published(), stream);
            assert!(!acts(format, &out), "{format:?}: {out:?}");
            let lines: Vec<&str> = match format {
                Format::Json | Format::Sarif | Format::GitlabCodequality => vec![&out],
                // Records are copied by their first bytes, so it is the judge before that reads them.
                Format::Ndjson if !is_judged => Vec::new(),
                Format::Rdjsonl | Format::Ndjson => out.lines().collect(),
                _ => Vec::new(),
            };
            for line in lines.into_iter().filter(|line| whole && !line.trim().is_empty()) {
                assert!(flecto::value::Value::parse(line).is_ok(), "{format:?} is no JSON: {line}");
            }
        }
    }
    let (out, _) = rendered(Format::Text, Style::Rich, false, &judged);
    assert!(!acts(Format::Text, &out), "{out:?}");
});
