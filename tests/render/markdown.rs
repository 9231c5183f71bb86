//! What does a hostile pull request become in a comment that is rendered? Text in cells, whatever it says.

#![allow(clippy::print_stderr, reason = "a skipped check says so")]

use super::cases::{markdown, plain};
use super::hostile::{ATTACKS, stream_with};
use super::sample::{NARRATION, README, render};
use regex::Regex;
use serde_json::json;

/// What Markdown, GitHub's autolinks or a forge that looks for our comment could act on.
const MARKS: [&str; 30] = [
    "a | b | c",
    "| | | | | |\n|---|---|---|---|---|\n| x | x | x | x | x |",
    "\\|",
    "`` ` ``` `",
    "</code></td>",
    "line\n\nparagraph\r\n# heading\rlone",
    "@team @org/team user@0123456789abcdef0123456789abcdef01234567",
    "#1 GH-1 owner/repo#1 owner/repo@0123456789abcdef0123456789abcdef01234567 Fixes #1",
    "0123456789abcdef0123456789abcdef01234567",
    "https://x.invalid/a http://x.invalid ftp://x.invalid www.x.invalid a@x.invalid mailto:a@x.invalid",
    "![](https://x.invalid/p.png)",
    "[![a](https://x.invalid/p.png)](https://x.invalid) [a][b] [b]: https://x.invalid",
    "<https://x.invalid> <a@x.invalid>",
    "-->",
    "--><script>x</script>",
    "<!-- flecto:pr-comment -->",
    "\n<!-- flecto:pr-comment -->\n",
    "<!-- flecto:pr-comment --><!-- flecto:instance prod -->",
    "<!-- flecto:end -->",
    "\n<!-- flecto:end -->\n\n<!-- flecto:pr-comment -->\n",
    "&lt;b&gt; &#64;octo &commat;octo &amp;",
    "**b** __b__ *i* _i_ ~~s~~ $m$ $$m$$ [^1] :tada:",
    "- [x] done\n1. one\n> quoted\n\n---\n\n    code",
    "\u{202e}drowssap\u{202c} \u{2066}a\u{2069}",
    "a\u{200b}b\u{200d}c\u{feff}d\u{2060}e\u{ad}f",
    "\u{e0041}\u{e0042}\u{fe0f}\u{3164}",
    "```suggestion\nrm -rf\n```",
    "<details open><summary>x</summary>",
    "<table><tr><td>",
    "\\",
];

/// Elements that our own layout is made of.
const OWN: [&str; 15] = [
    "h3", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "code", "pre", "details", "summary", "hr", "wbr",
];

fn outside_code(html: &str) -> String {
    Regex::new("(?s)<code.*?</code>").expect("a regex").replace_all(html, "").into_owned()
}

#[test]
fn a_hostile_text_is_text_wherever_it_stands() {
    if let Err(what) = markdown("") {
        eprintln!("not checked here: rendered Markdown; {what} is missing");
        return;
    }
    let tag = Regex::new("</?([a-zA-Z][a-zA-Z0-9]*)").expect("a regex");
    let acts = Regex::new(r"@\w|#\d|GH-\d|://|www\.|[0-9a-f]{40}|!\[|\]\(").expect("a regex");
    for attack in ATTACKS.iter().chain(&MARKS) {
        let input = stream_with(attack);
        let layout = |html: &str| {
            tag.captures_iter(html).map(|found| found[0].to_string()).filter(|tag| tag != "<wbr").collect::<Vec<_>>()
        };
        for format in ["pr-comment", "markdown"] {
            let out = render(["--format", format, "--show-secrets"], &input).exits(0).stdout;
            let html = markdown(&out).expect("it is there");
            let comments: Vec<&str> =
                html.split("<!--").skip(1).map(|rest| rest.split("-->").next().unwrap_or("")).collect();
            let expected: &[&str] = if format == "pr-comment" { &[" flecto:pr-comment ", " flecto:end "] } else { &[] };
            assert_eq!(comments, expected, "{attack:?}\n{out}");
            let elements: Vec<String> = layout(&html);
            assert!(elements.iter().all(|e| OWN.contains(&e.trim_start_matches(['<', '/']))), "{attack:?}\n{html}");
            // Not a cell, a row or a paragraph more than around a harmless text. The label of a narration is prose where
            // no character of it could act, so the harmless text is one of the same kind.
            let plain_label = html.contains("<p>Model-generated");
            let layout_of = stream_with(if plain_label { "plain" } else { "a_b" });
            let plain_html =
                markdown(&render(["--format", format, "--show-secrets"], &layout_of).stdout).expect("it is there");
            assert_eq!(elements, layout(&plain_html), "{attack:?}\n{html}");
            let prose = outside_code(&html);
            assert!(!acts.is_match(&plain(&prose)), "{attack:?}\n{prose}");
            assert!(out.lines().all(|line| !line.starts_with('/')), "{attack:?}\n{out}");
        }
    }
}

#[test]
fn a_hostile_text_reads_back_from_its_cell() {
    if markdown("").is_err() {
        return;
    }
    for attack in MARKS {
        let change = json!({"type":"change","file":"a.yaml","path":"k","op":"changed","before":"","after":attack});
        let out =
            render(["--format", "markdown", "--partial", "--show-secrets"], &format!("{change}\n")).exits(0).stdout;
        let html = markdown(&out).expect("it is there");
        let cell = html.split("<td>").nth(4).and_then(|rest| rest.split("</td>").next()).expect("the value's cell");
        let marked: String = attack
            .chars()
            .map(|c| match c {
                '\n' => '␊',
                '\r' => '␍',
                '\t' => '␉',
                c => c,
            })
            .collect();
        assert_eq!(plain(cell), format!("\"{}\"", flecto::text::spelled(&marked)), "{html}");
    }
}

#[test]
fn a_marker_in_a_value_is_no_marker() {
    for mark in ["<!-- flecto:pr-comment -->", "<!-- flecto:end -->", "\n<!-- flecto:pr-comment -->\n", "-->\n<!--"] {
        for format in ["pr-comment", "markdown"] {
            let out = render(["--format", format, "--show-secrets"], &stream_with(mark)).exits(0).stdout;
            let own = if format == "pr-comment" { 1 } else { 0 };
            for marker in ["<!-- flecto:pr-comment", "<!-- flecto:end"] {
                let lines = out.lines().filter(|line| line.contains(marker));
                // Inside the model's fence nothing is escaped; there it never is the first line, and no line begins with it.
                let begins = lines.filter(|line| line.starts_with(marker)).count();
                assert!(begins >= own, "{out}");
                if format == "pr-comment" {
                    assert!(
                        out.starts_with("<!-- flecto:pr-comment -->\n") && out.ends_with("\n<!-- flecto:end -->\n")
                    );
                }
            }
            let computed = out.split("### Model-generated narration").next().expect("a part");
            assert_eq!(computed.matches("<!--").count(), own, "{out}");
        }
    }
}

#[test]
fn a_cut_leaves_characters_code_elements_and_fences_whole() {
    // Texts of two, three and four bytes a character, and a fence that must stay wider than the text's own, cut at every
    // byte of a span.
    let model = "é😀漢`````".repeat(900);
    let narration = NARRATION.replace("- The pool is four times as large.", &model);
    let rows: String = (0..400)
        .map(|n| {
            let finding = json!({"type":"finding","file":"config/größe.yaml","path":format!("schlüssel.{n}"),"rule":"r","severity":"warn","message":"漢😀é|`".repeat(9)});
            let change = json!({"type":"change","file":"config/größe.yaml","path":format!("schlüssel.{n}"),"op":"added","after":"漢😀é|`".repeat(9)});
            format!("{finding}\n{change}\n")
        })
        .collect();
    let (head, tail) = README.split_at(README.find("{\"type\":\"verdict\"").expect("a verdict"));
    let input = format!("{head}{rows}{}{narration}", tail.replace("\"changes\":2", "\"changes\":402"));
    for max in (0..14).map(|n| 8_000 + n).chain([9_999, 32_000, 64_999, 65_000]) {
        let args: Vec<String> =
            ["--format", "pr-comment", "--max-bytes"].map(String::from).into_iter().chain([max.to_string()]).collect();
        let out = crate::support::filter("flecto-render", args, &input).exits(1).stdout;
        assert!(out.len() <= max && !out.contains('\u{fffd}'), "{max}: {}", out.len());
        assert!(out.ends_with("\n<!-- flecto:end -->\n"));
        assert_eq!(out.matches("<code>").count(), out.matches("</code>").count(), "{max}");
        assert!(out.lines().filter(|line| line.starts_with("| ")).all(|line| line.ends_with(" |")), "{max}");
        let fence = "``````";
        let fences: Vec<&str> = out.lines().filter(|line| line.starts_with(fence)).collect();
        assert_eq!(fences, ["``````text", fence], "{max}");
        assert_eq!(out.matches("<details>").count(), out.matches("</details>").count());
    }
}
