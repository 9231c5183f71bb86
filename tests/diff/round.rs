//! Applying the changes of a diff to its old side gives the new side: nothing is missing and nothing too much, lists
//! included. The records are those of the real program; the applier here knows only what docs/schemas says of them.

use crate::support;
use flecto::path::{Path, Segment, Word};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

/// A change and what is left of its path.
#[derive(Clone, Debug)]
struct Step<'c> {
    rest: &'c [Segment],
    change: &'c Value,
}

fn op<'c>(step: &Step<'c>) -> &'c str {
    step.change["op"].as_str().expect("an op")
}

fn index(step: &Step<'_>) -> usize {
    usize::try_from(step.change["index"].as_u64().expect("an index")).expect("small")
}

/// The value after the changes.
fn apply(value: Value, steps: &[Step<'_>]) -> Value {
    if let Some(whole) = steps.iter().find(|step| step.rest.is_empty() && op(step) == "changed") {
        return whole.change["after"].clone();
    }
    match value {
        Value::Object(map) => apply_map(map, steps),
        Value::Array(items) => apply_list(items, steps),
        value => {
            assert!(steps.is_empty(), "{steps:?} inside of {value}");
            value
        }
    }
}

fn apply_map(mut map: Map<String, Value>, steps: &[Step<'_>]) -> Value {
    for (first, inner) in grouped(steps) {
        let Segment::Key(key) = first else { panic!("{first:?} in a map") };
        match &inner[..] {
            [one] if one.rest.is_empty() && op(one) == "added" => {
                assert!(map.insert(key.clone(), one.change["after"].clone()).is_none());
            }
            [one] if one.rest.is_empty() && op(one) == "removed" => {
                assert_eq!(map.remove(key), Some(one.change["before"].clone()));
            }
            inner => {
                let old = map.remove(key).expect("a value to change");
                map.insert(key.clone(), apply(old, inner));
            }
        }
    }
    Value::Object(map)
}

fn apply_list(items: Vec<Value>, steps: &[Step<'_>]) -> Value {
    let order = steps.iter().find(|step| step.rest.is_empty());
    let groups = grouped(steps);
    let is_gone = |inner: &[Step<'_>]| matches!(inner, [one] if one.rest.is_empty() && op(one) == "removed");
    let is_new = |inner: &[Step<'_>]| matches!(inner, [one] if one.rest.is_empty() && op(one) == "added");
    let place = |first: &Segment, step: &Step<'_>| match first {
        Segment::Index(at) => *at,
        _ => index(step),
    };
    let gone: Vec<usize> = groups
        .iter()
        .flat_map(|(first, inner)| {
            inner.iter().filter(|s| s.rest.is_empty() && op(s) == "removed").map(|s| place(first, s))
        })
        .collect();
    for (first, inner) in groups.iter().filter(|(_, inner)| is_gone(inner)) {
        if !matches!(first, Segment::Entry { .. }) {
            assert_eq!(items[place(first, &inner[0])], inner[0].change["before"]);
        }
    }
    let mut kept: Vec<Value> =
        items.iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, item)| item.clone()).collect();
    if let Some(order) = order {
        assert_eq!(op(order), "reordered");
        kept = reorder(&kept, &order.change["before"], &order.change["after"]);
    }
    let mut added: Vec<(usize, Value)> = groups
        .iter()
        .flat_map(|(first, inner)| {
            inner.iter().filter(|s| s.rest.is_empty() && op(s) == "added").map(|s| {
                let value = match first {
                    Segment::Entry { name, .. } => setting(name, &s.change["after"]),
                    _ => s.change["after"].clone(),
                };
                (place(first, s), value)
            })
        })
        .collect();
    added.sort_by_key(|(at, _)| *at);
    let mut out = kept;
    for (at, value) in added {
        out.insert(at, value);
    }
    for (first, inner) in groups {
        let inner: Vec<Step<'_>> =
            inner.into_iter().filter(|s| !(s.rest.is_empty() && matches!(op(s), "added" | "removed"))).collect();
        if inner.is_empty() || is_gone(&inner) || is_new(&inner) {
            continue;
        }
        let at = match first {
            Segment::Index(at) => *at,
            Segment::Item(fields) => out.iter().position(|item| identifies(fields, item)).expect("an item"),
            Segment::Entry { name, .. } => {
                let at = out.iter().position(|item| name_of(item) == *name).expect("an entry");
                out[at] = setting(name, &inner[0].change["after"]);
                continue;
            }
            other => panic!("{other:?} in a list"),
        };
        let old = out[at].clone();
        out[at] = apply(old, &inner);
    }
    Value::Array(out)
}

/// A list in the order that a record tells: by its items, by their names, or by their old places.
fn reorder(items: &[Value], before: &Value, after: &Value) -> Vec<Value> {
    let (before, after) = (before.as_array().expect("a list"), after.as_array().expect("a list"));
    assert_eq!((before.len(), before.len()), (items.len(), after.len()));
    if items.iter().all(|item| !item.is_object() && !item.is_array()) && before[..] == items[..] {
        return after.clone();
    }
    // Names and places are told in the order of the old list, so a name's place there is the item's.
    let mut used = vec![false; before.len()];
    after
        .iter()
        .map(|name| {
            let at = (0..before.len()).find(|at| !used[*at] && before[*at] == *name).expect("a name of before");
            used[at] = true;
            items[at].clone()
        })
        .collect()
}

fn identifies(fields: &[(String, Word)], item: &Value) -> bool {
    fields.iter().all(|(field, word)| match word {
        Word::Text(text) => item[field.as_str()] == **text,
        Word::Int(text) => serde_json::from_str::<Value>(text).is_ok_and(|number| item[field.as_str()] == number),
    })
}

fn name_of(item: &Value) -> String {
    let text = item.as_str().expect("a setting");
    text.split_once('=').map_or(text, |(name, _)| name).to_string()
}

fn setting(name: &str, value: &Value) -> Value {
    match value {
        Value::Null => json!(name),
        value => json!(format!("{name}={}", value.as_str().expect("text"))),
    }
}

/// The changes below this place, by their first step, in the order in which they came.
fn grouped<'c>(steps: &[Step<'c>]) -> Vec<(&'c Segment, Vec<Step<'c>>)> {
    let mut out: Vec<(&Segment, Vec<Step<'_>>)> = Vec::new();
    for step in steps.iter().filter(|step| !step.rest.is_empty()) {
        let inner = Step { rest: &step.rest[1..], change: step.change };
        match out.iter_mut().find(|(first, _)| **first == step.rest[0]) {
            Some((_, group)) => group.push(inner),
            None => out.push((&step.rest[0], vec![inner])),
        }
    }
    out
}

/// The new side, from the old one and the changes that were told.
fn applied(old: &Value, changes: &[&Value]) -> Value {
    let paths: Vec<Path> =
        changes.iter().map(|change| Path::parse(change["path"].as_str().expect("text")).expect("a path")).collect();
    let steps: Vec<Step<'_>> = paths.iter().zip(changes).map(|(path, change)| Step { rest: &path.0, change }).collect();
    match &steps[..] {
        [one] if one.rest.is_empty() && op(one) == "removed" => Value::Null,
        [one] if one.rest.is_empty() && op(one) == "added" => one.change["after"].clone(),
        steps => apply(old.clone(), steps),
    }
}

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
