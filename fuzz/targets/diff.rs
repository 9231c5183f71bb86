#![no_main]
//! The differ, through the stage itself: a file is no change from itself in another layout; a change one way is a change the other way; and for
//! trees of JSON, the changes applied to the old side are the new side.

use flecto::diff::{Options, Settings, Sides, run};
use flecto::document::{self, Document, Format, parse};
use flecto::pattern::Pattern;
use flecto_fuzz::{Feed, applied};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A folder in memory, where there is one.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let shared = Path::new("/dev/shm");
        let root = if shared.is_dir() { shared.to_path_buf() } else { std::env::temp_dir() };
        let folder = root.join(format!("flecto-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        folder
    })
}

/// The changes that are told, and whether both sides could be read.
fn changes(format: Format, settings: &Settings, old: &str, new: &str) -> (Vec<Value>, bool) {
    for (name, text) in [("old", old), ("new", new)] {
        std::fs::write(folder().join(name), text).expect("a file");
    }
    let options = Options {
        directory: folder().to_path_buf(),
        sides: Sides::Disk,
        targets: vec!["old".into(), "new".into()],
        guess: false,
        max_file_size: 64 << 20,
        allow_empty: false,
        exit_code: false,
        input_format: Some(format),
        format_map: Vec::new(),
        include: Vec::new(),
        exclude: Vec::new(),
        ignore: Vec::new(),
        neat: Vec::new(),
        allow_duplicate_keys: false,
        settings: settings.clone(),
    };
    let mut out = Vec::new();
    run(&options, &mut out, &mut |_| {}).expect("a comparison");
    let records: Vec<Value> = String::from_utf8(out)
        .expect("UTF-8")
        .lines()
        .map(|line| {
            flecto::value::Value::parse(line).map(|_| serde_json::from_str(line).unwrap_or_default()).expect("a record")
        })
        .collect();
    let complete = records.last().is_some_and(|end| end["complete"] == true);
    (records.into_iter().filter(|record| record["type"] == "change").collect(), complete)
}

/// A line that says nothing, in front.
fn comment(format: Format) -> &'static str {
    match format {
        Format::Json => " ",
        Format::Jsonc | Format::Json5 => "// x\n",
        Format::Ini | Format::Systemd => "; x\n",
        _ => "# x\n",
    }
}

fn seen(format: Format, text: &str) -> Option<Vec<Document<'_>>> {
    parse(format, text.as_bytes(), &document::Options::default()).ok().map(|parsed| parsed.documents)
}

fuzz_target!(|bytes: &[u8]| {
    let mut feed = Feed::new(bytes);
    let format = feed.one_of(&Format::words().filter_map(Format::from_word).collect::<Vec<_>>());
    let mode = feed.byte();
    let every = || Pattern::parse("**").into_iter().collect::<Vec<_>>();
    let settings = Settings {
        ignore_order: if mode & 1 == 0 { Vec::new() } else { every() },
        list_keys: Vec::new(),
        raw_strings: mode & 2 != 0,
    };
    let (old, new) = (feed.text(), feed.text());
    let (Some(before), Some(after)) = (seen(format, &old), seen(format, &new)) else {
        let (told, complete) = changes(format, &settings, &old, &new);
        // Equal bytes are not read.
        assert!(!complete || told.is_empty(), "half of it could not be read: {told:?}");
        return;
    };
    for text in [&old, &new] {
        // The first characters say that the file stands for another, is one ciphertext, or has a byte order mark.
        if text.starts_with('\u{feff}') || document::whole_file(text.as_bytes()).is_some() || text.starts_with("version https://git-lfs") {
            continue;
        }
        let laid_out = format!("{}{text}", comment(format));
        let (told, complete) = changes(format, &settings, text, &laid_out);
        assert!(complete && told.is_empty(), "no change: {told:#?}");
    }
    let (forth, complete) = changes(format, &settings, &old, &new);
    let (back, also) = changes(format, &settings, &new, &old);
    assert!(complete && also);
    assert_eq!(forth.is_empty(), back.is_empty(), "{forth:#?}\n{back:#?}");
    if format != Format::Json || mode & 1 != 0 {
        return;
    }
    let json = |documents: &[Document<'_>]| serde_json::from_str::<Value>(&documents[0].root.to_value().to_json()).ok();
    let (Some(before), Some(after)) = (json(&before), json(&after)) else { return };
    assert_eq!(forth.is_empty(), before == after, "{forth:#?}");
    let special = |text: &str| ["$flecto", "ENC", "encrypted", "BEGIN"].iter().any(|mark| text.contains(mark));
    if mode & 2 != 0 && !special(&old) && !special(&new) {
        let told: Vec<&Value> = forth.iter().collect();
        assert_eq!(applied(&before, &told), after, "{forth:#?}");
    }
});
