//! Whatever a file holds, reading it ends, soon, in a tree or in an error that quotes nothing.

use flecto::document::{Format, Options, parse};
use proptest::prelude::*;
use std::time::Duration;

fn every_format() -> Vec<Format> {
    Format::words().filter_map(Format::from_word).collect()
}

/// The processor time of this thread: on a machine that does other things too, the time on the wall says little.
#[cfg(target_os = "linux")]
fn clock() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("a Linux");
    Duration::from_nanos(text.split(' ').next().and_then(|nanos| nanos.parse().ok()).expect("nanoseconds"))
}

#[cfg(not(target_os = "linux"))]
fn clock() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// Reads a text in every format. The test program is not optimised, so the bound is generous.
#[track_caller]
fn ends(what: &str, text: &[u8]) {
    for format in every_format() {
        let start = clock();
        let result = parse(format, text, &Options::default());
        let spent = clock() - start;
        assert!(spent < Duration::from_secs(3), "{what} as {}: {spent:?}", format.as_str());
        if let Err(error) = result {
            let said = error.to_string();
            assert!(!said.contains("hunter2"), "{what} as {}: {said}", format.as_str());
            assert!(said.chars().count() < 400 && !said.contains('\n'), "{what} as {}: {said}", format.as_str());
        }
    }
}

#[test]
fn nesting_a_hundred_thousand_deep() {
    const N: usize = 100_000;
    for unit in [
        "[",
        "{",
        "{\"a\":",
        "[{\"a\":",
        "- ",
        "? ",
        "a: {",
        "[[",
        "a {\n",
        "a = [",
        "a = {b=",
        "(",
        "a = -",
        "a = !",
        "\"${",
        "a = \"${\"",
        "!t ",
        "&a [",
        "- - ",
        ": ",
    ] {
        ends(unit, unit.repeat(N).as_bytes());
    }
    ends("a.b.c", format!("{}x = 1\n", "a.".repeat(N)).as_bytes());
    ends("[a.b.c]", format!("[{}x]\n", "a.".repeat(N)).as_bytes());
    ends("steps", (0..2000).map(|i| format!("{}a:\n", " ".repeat(i))).collect::<String>().as_bytes());
    ends("operators", format!("a = 1{}\n", " + 1".repeat(N)).as_bytes());
}

#[test]
fn much_of_anything() {
    const N: usize = 100_000;
    for unit in [
        "a", " ", "\t", "\n", "\r", "\\", "\"", "'", "`", ":", "=", "-", "#", "%", "&", "*", "!", "|", ">", ",", "}",
        "]", "é", "\u{feff}", "$", "${", "ENC[", "<", "0",
    ] {
        ends(unit, unit.repeat(N / unit.len()).as_bytes());
    }
    ends("one value", format!("a: \"{0}\"\nb = \"{0}\"\n", "x".repeat(10 * N)).as_bytes());
    ends("one key", format!("\"{}\": hunter2: hunter2\n", "k".repeat(10 * N)).as_bytes());
    ends("a block text", format!("a: |\n{}", "  hunter2\n".repeat(N)).as_bytes());
}

#[test]
fn many_of_everything() {
    const N: usize = 10_000;
    ends("documents", "---\n".repeat(110_000).as_bytes());
    ends("anchors", (0..N).map(|i| format!("- &a{i} x\n")).collect::<String>().as_bytes());
    ends("aliases", format!("- &a x\n{}", "- *a\n".repeat(N)).as_bytes());
    ends("the same key", "a: 1\n".repeat(N).as_bytes());
    ends("the same key, equals", "a = hunter2\n".repeat(N).as_bytes());
    ends("other keys", (0..N).map(|i| format!("k{i} = 1\n")).collect::<String>().as_bytes());
    ends("sections", (0..N).map(|i| format!("[s{}]\n", i % 1000)).collect::<String>().as_bytes());
    ends("tables in any order", (0..N).map(|i| format!("[t{}.u{i}]\nx = 1\n", i % 7)).collect::<String>().as_bytes());
    ends("merges", format!("a: &a {{x: 1}}\nb:\n{}", "  <<: *a\n".repeat(N)).as_bytes());
    ends("blocks", "x \"l\" {}\n".repeat(N).as_bytes());
    ends("tags", "- !t x\n".repeat(N).as_bytes());
    ends("comments", "# hunter2\n".repeat(N).as_bytes());
    ends("joined lines", "a=b\\\n".repeat(N).as_bytes());
    ends("armour", "-----BEGIN PGP MESSAGE-----\n".repeat(N).as_bytes());
    ends("brackets", format!("a: '{}'", "ENC[AES256_GCM,".repeat(N)).as_bytes());
    ends("half a sentinel", "<encrypted:".repeat(N).as_bytes());
    ends("vaults", "$ANSIBLE_VAULT;\n".repeat(N).as_bytes());
}

#[test]
fn what_is_no_text() {
    for text in [
        &b"a: \0"[..],
        b"\xff\xfea\0",
        b"\xfe\xff\0a",
        b"a\0b\0c\0",
        b"a: \xe9\n",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf\xef\xbb\xbfa: 1",
        b"\xed\xa0\x80",
        b"\"\\ud800\"",
        b"{\"a\": \"\\udc00\"}",
        b"a = \"\\uD800\"",
        b"a=\\ud800",
        b"\x1b[31m",
        b"",
        b"\n",
    ] {
        ends("no text", text);
    }
}

/// Pieces that mean something to some format: their mixtures go deeper than random bytes.
const PIECES: &[&str] = &[
    "a",
    "hunter2",
    "\"",
    "'",
    "`",
    ": ",
    ":",
    " = ",
    "=",
    "\n",
    "\r\n",
    "  ",
    "\t",
    "- ",
    "? ",
    "[",
    "]",
    "{",
    "}",
    ",",
    "#",
    " #",
    ";",
    "//",
    "/*",
    "*/",
    "&a ",
    "*a",
    "!t ",
    "!!int ",
    "|\n",
    ">-\n",
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    "<<: ",
    "0x1F",
    "0644",
    "1e9",
    ".inf",
    "~",
    "null",
    "true",
    "yes",
    "2024-01-02",
    "\\u0041",
    "\\ud800",
    "\\",
    "${",
    "%{",
    "<<EOT\n",
    "EOT\n",
    "[[",
    "]]",
    "export ",
    "$",
    "apiVersion: v1\nkind: X\n",
    "{{ x }}",
    "{% x %}",
    "ENC[AES256_GCM,",
    "ENC(",
    "<encrypted:",
    "sops:\n  mac: x\n",
    "-----BEGIN PGP MESSAGE-----\n",
    "-----END PGP MESSAGE-----\n",
    "é",
    "🙂",
    "\u{feff}",
    "\u{2028}",
    "\u{85}",
    "(",
    ")",
    "\"\"\"",
    "'''",
    "resource \"a\" \"b\" {\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mixtures(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..30)) {
        ends("a mixture", pieces.concat().as_bytes());
    }

    #[test]
    fn bytes(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        ends("bytes", &bytes);
    }
}
