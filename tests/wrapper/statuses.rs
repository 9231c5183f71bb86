//! Each stage killed, ending early, and missing, at every position of every plan: the statuses of docs and DESIGN.

use super::kit::{Kit, REPORT, STAGES, asking, changed};
use crate::support::provider::{Answer, Provider};
use crate::support::{Run, run};

/// The plans, by what is typed.
const STRAIGHT: &[&str] = &["ci", "config/prod.yaml", "--snapshot-ref", "origin/main", "--quiet"];
const FIRST: &[&str] =
    &["ci", "config/prod.yaml", "--snapshot-ref", "origin/main", "--quiet", "--explain", "--no-cache"];
const WITHIN: &[&str] =
    &["explain", "config/prod.yaml", "--snapshot-ref", "origin/main", "--format", "json", "--no-cache"];

/// What the stand-in does, and with which status a run ends where it stands for diff, policy, mask, payload, narrate,
/// render. The change fails the gate: a whole `ci` ends with 1, a whole `explain` with 0 (its gate has no say).
struct Row(&'static str, [i32; 6]);

/// In a plan without narration, what only narrates is not even started.
const CI_STRAIGHT: &[Row] = &[
    Row("kill", [2, 2, 1, 1, 1, 2]),
    Row("kill-late", [2, 2, 1, 1, 1, 2]),
    Row("exit-0", [2, 2, 1, 1, 1, 1]),
    Row("exit-1", [2, 2, 1, 1, 1, 1]),
    Row("exit-2", [2, 2, 1, 1, 1, 2]),
    Row("exit-3", [2, 2, 1, 1, 1, 2]),
    Row("late-0", [1, 1, 1, 1, 1, 1]),
    Row("late-1", [2, 1, 1, 1, 1, 1]),
    Row("late-2", [2, 2, 1, 1, 1, 2]),
    Row("late-101", [2, 2, 1, 1, 1, 2]),
    Row("missing", [2, 2, 1, 1, 1, 2]),
];

/// The mask counts where it runs; payload and narrate can only warn.
const CI_FIRST: &[Row] = &[
    Row("kill", [2, 2, 2, 1, 1, 2]),
    Row("kill-late", [2, 2, 2, 1, 1, 2]),
    Row("exit-0", [2, 2, 1, 1, 1, 1]),
    Row("exit-1", [2, 2, 2, 1, 1, 1]),
    Row("exit-2", [2, 2, 2, 1, 1, 2]),
    Row("late-0", [1, 1, 1, 1, 1, 1]),
    Row("late-2", [2, 2, 2, 1, 1, 2]),
    Row("missing", [2, 2, 2, 1, 1, 2]),
    Row("kill-narration", [1, 1, 1, 1, 1, 1]),
];

const EXPLAIN_WITHIN: &[Row] = &[
    Row("kill", [2, 2, 2, 0, 0, 2]),
    Row("kill-late", [2, 2, 2, 0, 0, 2]),
    Row("exit-0", [2, 2, 0, 0, 0, 0]),
    Row("exit-1", [2, 2, 2, 0, 0, 0]),
    Row("exit-2", [2, 2, 2, 0, 0, 2]),
    Row("late-0", [0, 0, 0, 0, 0, 0]),
    Row("late-2", [2, 2, 2, 0, 0, 2]),
    Row("missing", [2, 2, 2, 0, 0, 2]),
];

/// Runs every cell of a table, and gives what was said to `look`.
fn table(line: &[&str], rows: &[Row], look: impl Fn(&str, &str, &Run)) {
    let provider = Provider::new([Answer::openai("The pool grows.")]);
    let repo = changed();
    let mut wrong = Vec::new();
    for Row(how, expected) in rows {
        for (stage, expected) in STAGES.iter().zip(expected) {
            let kit = if *how == "missing" { Kit::new().remove(stage) } else { Kit::new().replace(stage) };
            let done = run(asking(kit.flecto(&repo, how).args(line), &provider));
            if done.status != Some(*expected) {
                wrong.push(format!("{stage} {how}: {:?}, not {expected}\n{}{}", done.status, done.stdout, done.stderr));
            }
            look(stage, how, &done);
            assert!(kit.alive().is_empty(), "{stage} {how} left {:?}", kit.alive());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n---\n"));
}

fn only_narrates(stage: &str) -> bool {
    ["flecto-payload", "flecto-narrate"].contains(&stage)
}

#[test]
fn statuses_of_a_plain_report() {
    table(STRAIGHT, CI_STRAIGHT, |stage, how, done| {
        let harmless = !["flecto-diff", "flecto-policy", "flecto-render"].contains(&stage) || how == "late-0";
        if harmless {
            assert_eq!(done.stdout, REPORT, "{stage} {how}");
            assert_eq!(done.stderr, "", "{stage} {how}");
        }
        if how == "missing" && !harmless {
            assert_eq!(done.stdout, "", "nothing runs when {stage} is missing");
            assert!(done.stderr.contains(stage) && done.stderr.lines().count() == 1, "{}", done.stderr);
        }
        if how.starts_with("kill") && !harmless {
            assert!(done.stderr.contains(&format!("flecto: {stage} was ended by signal 9")), "{}", done.stderr);
        }
        if how == "late-101" && !harmless {
            assert!(done.stderr.contains(&format!("flecto: {stage} ended with status 101")), "{}", done.stderr);
        }
    });
}

#[test]
fn statuses_of_a_report_that_is_narrated() {
    table(FIRST, CI_FIRST, |stage, how, done| {
        let narrated = done.stderr.contains("Model-generated narration (openai gate)");
        let refused = done.stderr.lines().filter(|line| line.starts_with("No narration: ")).count();
        if only_narrates(stage) || how == "kill-narration" {
            assert_eq!(done.stdout, REPORT, "{stage} {how}");
        }
        if how == "late-0" || how == "kill-narration" && stage != "flecto-render" {
            assert!(narrated && refused == 0, "{stage} {how}: {}", done.stderr);
        } else if only_narrates(stage) || how == "kill-narration" {
            assert!(!narrated && refused == 1, "{stage} {how}: {}", done.stderr);
        }
    });
}

#[test]
fn statuses_of_a_report_with_the_narration_in_it() {
    let provider = Provider::new([Answer::openai("The pool grows.")]);
    let repo = changed();
    let whole = run(asking(Kit::new().flecto(&repo, "").args(WITHIN), &provider)).exits(0).stdout;
    let without = run(Kit::new().flecto(&repo, "").args(WITHIN)).exits(0).stdout;
    assert!(whole.contains("The pool grows.") && !without.contains("narration\""), "{whole}\n{without}");
    table(WITHIN, EXPLAIN_WITHIN, |stage, how, done| {
        if how == "late-0" {
            assert_eq!(done.stdout, whole, "{stage} {how}");
        } else if only_narrates(stage) || stage == "flecto-mask" && how != "missing" {
            assert_eq!(done.stdout, without, "{stage} {how}");
            let refused = done.stderr.lines().filter(|line| line.starts_with("No narration: ")).count();
            assert_eq!(refused, 1, "{stage} {how}: {}", done.stderr);
        }
    });
}
