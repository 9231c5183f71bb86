#![no_main]
//! JSON, with comments, JSON5. What `json` takes without a note, serde_json takes too and reads the same, and so do the
//! formats that hold JSON.

use flecto::document::{Format, parse};
use flecto_fuzz::{read, tree};
use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;

/// Why a text that serde_json takes may be refused all the same: promised in docs/formats.md.
const OURS: [&str; 4] = ["stands in this map twice", "surrogate", "levels", "NUL"];

/// What is replaced while reading, so that the values differ on purpose.
const REPLACED: [&str; 9] =
    ["ENC", "BEGIN", "ANSIBLE", "crypt", "$flecto", "resource_changes", "age-", "SealedSecret", "sops"];

fuzz_target!(|bytes: &[u8]| {
    for format in [Format::Jsonc, Format::Json5] {
        let _ = read(format, bytes);
    }
    let json = read(Format::Json, bytes);
    // What is ignored is not checked to be UTF-8.
    let strict = std::str::from_utf8(bytes).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
    let bom = bytes.starts_with("\u{feff}".as_bytes());
    let replaced = |text: &str| text.contains('\\') || REPLACED.iter().any(|mark| text.contains(mark));
    match &json {
        Ok(parsed) if parsed.warnings.is_empty() => {
            let Ok(text) = std::str::from_utf8(bytes) else { return };
            if flecto::document::whole_file(bytes).is_some() {
                return;
            }
            assert!(strict || bom, "no JSON, taken without a note");
            let root = &parsed.documents[0].root;
            if !replaced(text)
                && let Ok(theirs) = serde_json::from_slice::<serde_json::Value>(bytes)
                && let Ok(ours) = serde_json::from_str::<serde_json::Value>(&root.to_value().to_json())
                && !root.to_value().to_json().contains("$flecto")
            {
                assert_eq!(ours, theirs);
            }
            let mut said = String::new();
            tree(root, &mut said);
            for format in [Format::Jsonc, Format::Json5] {
                let other = parse(format, bytes, &Default::default()).expect("JSON is this too");
                let mut also = String::new();
                tree(&other.documents[0].root, &mut also);
                assert_eq!(said, also, "{}", format.as_str());
            }
        }
        Ok(_) => {}
        Err(error) => {
            assert!(!strict || OURS.iter().any(|why| error.message.contains(why)), "JSON is refused: {error}");
        }
    }
});
