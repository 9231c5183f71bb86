//! Applying the changes of a diff to its old side gives the new side: nothing is missing and nothing too much, lists
//! included. The records are those of the real program; the applier knows only what docs/schemas says of them.

use super::apply::applied;
use crate::support;
use flecto::path::{Path, Segment};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop_oneof![Just("id"), Just("name"), Just("key"), Just("port"), Just("a"), Just("b"), Just("c")].prop_map(str::to_string),
        1 => prop_oneof![
            Just("a.b/c"), Just("it's"), Just(""), Just("200"), Just("true"), Just("x[0]"), Just("!"), Just("@k#2"),
            Just("new\nline"), Just("$"), Just("?"), Just("-1"), Just("日本"), Just("\u{202e}"), Just("$flecto_")
        ]
        .prop_map(str::to_string),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..6).prop_map(Value::from),
        Just(json!(2.5)),
        Just(json!(9_007_199_254_740_993_u64)),
        prop_oneof![
            Just(""),
            Just("x"),
            Just("api"),
            Just("A=1"),
            Just("A=2"),
            Just("B=x=y"),
            Just("--v"),
            Just("--p=1"),
            Just("--p=2"),
            Just("-q"),
            Just("no"),
            Just("1")
        ]
        .prop_map(Value::from),
    ]
}

fn tree() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec(scalar(), 0..7).prop_map(Value::Array),
            // Items with names, settings, and flags.
            (
                prop_oneof![Just("id"), Just("name"), Just("path")],
                prop::collection::btree_map("[a-e]", inner.clone(), 1..5)
            )
                .prop_map(|(field, items)| items
                    .into_iter()
                    .map(|(name, value)| json!({field: name, "v": value, "w": 1}))
                    .collect()),
            (prop_oneof![Just(""), Just("--")], prop::collection::btree_map("[A-E]", "[a-c=]{0,2}", 1..5)).prop_map(
                |(dashes, settings)| settings
                    .into_iter()
                    .map(|(name, value)| json!(format!("{dashes}{name}={value}")))
                    .collect()
            ),
            prop::collection::btree_map(key(), inner, 0..6).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Another value that is like this one: some of it changed, in place, moved, gone or new.
fn mutate(value: &Value, random: &mut impl FnMut(usize) -> usize, fresh: &mut impl FnMut() -> Value) -> Value {
    if random(12) == 0 {
        return fresh();
    }
    match value {
        // Another value of a setting, mostly.
        Value::String(text) if text.contains('=') && random(3) == 0 => json!(format!("{text}{}", random(3))),
        Value::Object(map) => {
            let mut out: Vec<(String, Value)> = Vec::new();
            for (key, value) in map {
                if random(8) != 0 {
                    out.push((key.clone(), mutate(value, random, fresh)));
                }
            }
            if random(4) == 0 {
                out.push((format!("n{}", random(3)), fresh()));
            }
            Value::Object(out.into_iter().collect())
        }
        Value::Array(items) => {
            let mut out: Vec<Value> = Vec::new();
            for item in items {
                match random(9) {
                    0 => {}
                    1 => out.extend([item.clone(), fresh()]),
                    2 => out.insert(random(out.len() + 1), item.clone()),
                    _ => out.push(mutate(item, random, fresh)),
                }
            }
            Value::Array(out)
        }
        value => value.clone(),
    }
}

/// Some pairs of trees: unlike ones and like ones.
fn pairs(count: usize, seed: u8) -> Vec<(Value, Value)> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut out = Vec::with_capacity(count);
    while out.len() < count {
        let draw = |runner: &mut TestRunner| tree().new_tree(runner).expect("a tree").current();
        let old = draw(&mut runner);
        let mut numbers = TestRunner::new_with_rng(Config::default(), runner.new_rng());
        let mut random = |n: usize| (0..n.max(1)).new_tree(&mut numbers).expect("a number").current();
        let new = if random(5) == 0 { draw(&mut runner) } else { mutate(&old, &mut random, &mut || draw(&mut runner)) };
        out.push((old, new));
    }
    out
}

/// Compares all pairs in one run and hands over the changes of each.
fn told(pairs: &[(Value, Value)], ending: &str, options: &[&str]) -> Vec<Vec<Value>> {
    let dir = tempfile::tempdir().expect("a folder");
    for side in ["old", "new"] {
        std::fs::create_dir(dir.path().join(side)).expect("a folder");
    }
    for (at, (old, new)) in pairs.iter().enumerate() {
        // One side is laid out, so that equal trees are not equal bytes.
        let text = serde_json::to_string_pretty(old).expect("JSON");
        std::fs::write(dir.path().join(format!("old/{at:04}.{ending}")), text).expect("a file");
        std::fs::write(dir.path().join(format!("new/{at:04}.{ending}")), new.to_string()).expect("a file");
    }
    let mut command = support::program("flecto-diff");
    let run = support::run(command.args(options).args(["--no-index", "old", "new"]).current_dir(dir.path())).exits(0);
    let mut out = vec![Vec::new(); pairs.len()];
    for change in run.records("change") {
        let name = change["file"].as_str().expect("a name");
        let at: usize =
            name.trim_start_matches("new/").split('.').next().and_then(|n| n.parse().ok()).expect("a number");
        out[at].push(change);
    }
    out
}

#[test]
fn applying_the_changes_gives_the_new_side() {
    let pairs = pairs(700, 7);
    let mut kinds = std::collections::BTreeSet::new();
    for ending in ["json", "yaml"] {
        for ((old, new), changes) in pairs.iter().zip(told(&pairs, ending, &["--raw-strings"])) {
            let changes: Vec<&Value> = changes.iter().collect();
            let result = std::panic::catch_unwind(|| applied(old, &changes));
            let failed = || format!("{ending}\nold {old}\nnew {new}\nchanges {changes:#?}");
            let result = result.unwrap_or_else(|_| panic!("the changes do not apply: {}", failed()));
            assert!(result == *new, "got {result}\n{}", failed());
            assert_eq!(changes.is_empty(), old == new, "{}", failed());
            for change in changes {
                let last = match Path::parse(change["path"].as_str().expect("text")).expect("a path").0.last() {
                    Some(Segment::Item(_)) => "item",
                    Some(Segment::Entry { .. }) => "entry",
                    Some(Segment::Index(_)) => "index",
                    _ => "key",
                };
                kinds.insert((change["op"].as_str().expect("an op").to_string(), last));
            }
        }
    }
    // The pairs reach everything that there is: every op at every kind of place.
    for op in ["added", "removed", "changed"] {
        for last in ["item", "entry", "index", "key"] {
            assert!(
                kinds.contains(&(op.to_string(), last)) || (op, last) == ("changed", "item"),
                "no {op} of {last}: {kinds:?}"
            );
        }
    }
    assert!(kinds.iter().any(|(op, _)| op == "reordered"), "{kinds:?}");
}

#[test]
fn a_value_is_no_change_from_itself() {
    let pairs: Vec<(Value, Value)> = pairs(500, 9).into_iter().map(|(old, _)| (old.clone(), old)).collect();
    for ending in ["json", "yaml"] {
        for ((value, _), changes) in pairs.iter().zip(told(&pairs, ending, &[])) {
            assert!(changes.is_empty(), "{ending} {value}: {changes:?}");
        }
    }
}
