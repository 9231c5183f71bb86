//! narration: the model's text and its label, and nothing else.

use super::sample::{NARRATION, README, render};

const LABEL: &str = "Model-generated narration (anthropic claude-opus-5) — advisory, not computed by Flecto, and never part of the exit code";

fn narration(record: &str) -> String {
    render(["--format", "narration"], &format!("{README}{record}")).exits(1).stdout
}

#[test]
fn e5_label_first() {
    assert_eq!(narration(NARRATION), format!("\n{LABEL}\n\n- The pool is four times as large.\n- `debug` is on.\n"));
}

#[test]
fn e5_label_from_the_cache_and_of_another_model() {
    let cached = narration(&NARRATION.replace("\"cached\":false", "\"cached\":true"));
    assert!(cached.starts_with("\nModel-generated narration (anthropic claude-opus-5, cached) — advisory"), "{cached}");
    let other = narration(&NARRATION.replace("\"label\"", "\"answered_by\":\"claude-sonnet-5\",\"label\""));
    assert!(
        other.starts_with("\nModel-generated narration (anthropic claude-opus-5, answered by claude-sonnet-5) — "),
        "{other}"
    );
}

#[test]
fn e5_label_even_when_a_filter_took_it_out() {
    let bare = "{\"type\":\"narration\",\"text\":\"All safe.\",\"label\":\"Approved by flecto\"}\n";
    let out = narration(bare);
    assert!(out.starts_with("\nModel-generated narration (unknown unknown) — advisory, "), "{out}");
    assert!(!out.contains("Approved"));
}

#[test]
fn nothing_without_a_narration() {
    assert_eq!(narration(""), "");
    assert_eq!(narration("{\"type\":\"warning\",\"stage\":\"narrate\",\"message\":\"No narration: x\"}\n"), "");
}

#[test]
fn e3_the_report_formats_hold_no_model_text() {
    for format in ["text", "ndjson"] {
        let with = render(["--format", format], &format!("{README}{NARRATION}"));
        assert_eq!(with.stdout, render(["--format", format], README).stdout, "{format}");
    }
}

#[test]
fn r2_r4_model_text_acts_on_nothing() {
    let out = narration(&NARRATION.replace("- `debug`", "::add-mask::x\\n ##[error]\\u001b]52;c;x\\u0007 \\u202e\\r"));
    assert!(out.contains("\n:\\:add-mask::x\n #\\#[error]\\u{1b}]52;c;x\\u{7} \\u{202e}\\r"), "{out}");
}
