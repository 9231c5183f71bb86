//! What docs/schemas says of a `change`, turned around: the old side and its changes give the new side. Knows only the
//! records, nothing of how they were made; the fuzz targets hold the differ to the same words.

use flecto::path::{Path, Segment, Word};
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
pub(crate) fn applied(old: &Value, changes: &[&Value]) -> Value {
    let paths: Vec<Path> =
        changes.iter().map(|change| Path::parse(change["path"].as_str().expect("text")).expect("a path")).collect();
    let steps: Vec<Step<'_>> = paths.iter().zip(changes).map(|(path, change)| Step { rest: &path.0, change }).collect();
    match &steps[..] {
        [one] if one.rest.is_empty() && op(one) == "removed" => Value::Null,
        [one] if one.rest.is_empty() && op(one) == "added" => one.change["after"].clone(),
        steps => apply(old.clone(), steps),
    }
}
