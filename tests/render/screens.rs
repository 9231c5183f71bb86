//! The rich style: the screens of docs/screens.md are what is printed, and what must hold for any screen.

use super::sample::{README, TWENTY, render};
use crate::support::{filter, program, run, run_with};
use serde_json::json;
use std::path::Path;
use unicode_width::UnicodeWidthStr as _;

/// What is printed for a pair of files of `tests/data/screens`.
fn screen(folder: &str, file: &str, width: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/screens").join(folder);
    let mut diff = program("flecto-diff");
    diff.current_dir(folder).args(["--no-index", &format!("old/{file}"), &format!("new/{file}")]);
    let judged = run_with(&mut program("flecto-policy"), run(&mut diff).exits(0).stdout).stdout;
    filter("flecto-render", ["--style", "rich", "--width", width], &judged).stdout
}

#[test]
fn the_screens_of_the_page_are_what_is_printed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/screens.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let mut written = String::new();
    let mut parts = page.split("<!-- screen: ");
    written.push_str(parts.next().expect("a beginning"));
    let mut screens = 0;
    for part in parts {
        let (mark, rest) = part.split_once(" -->\n```text\n").expect("a mark and a block");
        let (_, rest) = rest.split_once("```\n").expect("the block's end");
        let (place, width) = mark.split_once(' ').expect("a width");
        let (folder, file) = place.split_once('/').expect("a folder");
        let shown = screen(folder, file, width);
        assert!(shown.lines().all(|line| line.width() <= width.parse().expect("a number")), "{shown}");
        written.push_str(&format!("<!-- screen: {mark} -->\n```text\n{shown}```\n{rest}"));
        screens += 1;
    }
    assert_eq!(screens, 5);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &written).expect("the page");
    }
    assert!(written == page, "docs/screens.md shows something else; UPDATE_SNAPSHOTS=1 writes it anew\n{written}");
}

fn rich(width: &'static str, input: &str) -> String {
    render(["--format", "rich", "--partial", "--width", width], input).stdout
}

#[test]
fn no_colour_without_a_terminal_and_the_same_text_with_it() {
    let plain = rich("80", TWENTY);
    assert!(!plain.contains('\x1b'));
    let mut command = program("flecto-render");
    command.args(["--style", "rich", "--width", "80", "--color", "always"]);
    let coloured = run_with(&mut command, TWENTY).stdout;
    let stripped = regex::Regex::new("\x1b\\[[0-9]+m").expect("a regex").replace_all(&coloured, "").into_owned();
    assert!(coloured.contains('\x1b') && stripped == plain, "{coloured}");
}

#[test]
fn what_differs_in_two_long_values_is_seen_in_both() {
    let long = "the same beginning of a sentence ".repeat(9);
    let change = json!({"type":"change","file":"f.yaml","path":"k","op":"changed","before":format!("{long}OLD{long}"),"after":format!("{long}NEW{long}")});
    for width in ["40", "80", "120"] {
        let out = rich(width, &format!("{change}\n"));
        assert!(out.contains("OLD") && out.contains("NEW"), "{out}");
        assert!(out.lines().all(|line| line.width() <= width.parse().expect("a number")), "{out}");
    }
}

#[test]
fn a_finding_stands_under_its_change_or_under_what_it_is_in() {
    let out = rich("80", README);
    let at = |text: &str| out.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{text}: {out}"));
    assert_eq!(at("Pool size increased"), at("~ db.pool_size") + 1);
    assert_eq!(at("Potentially dangerous"), at("~ debug") + 1);
    let change = json!({"type":"change","file":"f.yaml","path":"a.b","op":"added","after":{"c":{"d":1}}});
    let finding =
        json!({"type":"finding","file":"f.yaml","path":"a.b.c.d","rule":"r","severity":"warn","message":"Deep."});
    let other =
        json!({"type":"finding","file":"f.yaml","path":"x.y","rule":"r","severity":"warn","message":"Elsewhere."});
    let out = rich("80", &format!("{change}\n{other}\n{finding}\n"));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(
        lines[1..7],
        [
            "  + a.b  {\"c\":{\"d\":1}}",
            "      at c.d",
            "      warn  Deep.",
            "            r",
            "  x.y",
            "    warn  Elsewhere."
        ],
        "{out}"
    );
}

#[test]
fn r4_no_value_begins_a_line_as_a_command_at_any_width() {
    let text = "word ".repeat(20) + "::error::x ##[add-mask]y ##vso[a]b";
    let change = json!({"type":"change","file":"f","path":format!("{}.k", "p".repeat(50)),"op":"changed","before":text,"after":format!("::warning::{text}")});
    let added = json!({"type":"change","file":"f","path":"m","op":"added","after":{"::error::x":"::error::y","b":[text, "::debug::z"]},"note":text});
    let lines = json!({"type":"change","file":"f","path":"t","op":"changed","before":"a\n","after":"::error::x\n##[add-mask]\n::a::b"});
    let finding = json!({"type":"finding","file":"f","path":"m.b[0]","rule":text,"severity":"warn","message":text});
    for width in ["40", "43", "57", "80", "120", "1000"] {
        let out = rich(width, &format!("{change}\n{added}\n{lines}\n{finding}\n"));
        let found = super::runner::commands(&out);
        assert!(found.is_empty(), "{width}: {found:?}\n{out}");
    }
}
