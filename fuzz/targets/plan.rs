#![no_main]
//! Terraform plans: what is marked sensitive is nowhere in what was read, wherever it stands and whatever else the plan says.

use flecto::document::Format;
use flecto_fuzz::Feed;
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};

/// A value, and what marks its sensitive parts: `true` for all of it, else a mask of the same shape.
fn value(feed: &mut Feed<'_>, canary: &str, depth: usize) -> (Value, Value) {
    match feed.below(if depth == 0 { 5 } else { 8 }) {
        0 => (Value::Null, json!(false)),
        1 => (json!(feed.byte()), json!(false)),
        2 => (json!(canary), json!(true)),
        3 => (json!(feed.text()), json!(false)),
        4 => (json!({ canary: canary, "x": [canary] }), json!(true)),
        5 => {
            let parts: Vec<_> = (0..feed.below(4)).map(|_| value(feed, canary, depth - 1)).collect();
            parts.into_iter().unzip::<_, _, Vec<_>, Vec<_>>().into_values()
        }
        _ => {
            let (mut values, mut masks) = (Map::new(), Map::new());
            for at in 0..feed.below(4) {
                let key = if feed.below(4) == 0 { feed.text() } else { format!("k{at}") };
                let (inner, mask) = value(feed, canary, depth - 1);
                // A mask says nothing of what is not sensitive, or says so.
                if mask != json!(false) || feed.below(2) == 0 {
                    masks.insert(key.clone(), mask);
                } else {
                    masks.remove(&key);
                }
                values.insert(key, inner);
            }
            (Value::Object(values), Value::Object(masks))
        }
    }
}

trait IntoValues {
    fn into_values(self) -> (Value, Value);
}

impl IntoValues for (Vec<Value>, Vec<Value>) {
    fn into_values(self) -> (Value, Value) {
        (Value::Array(self.0), Value::Array(self.1))
    }
}

fn change(feed: &mut Feed<'_>, canary: &str) -> Value {
    let actions = feed.one_of(&["create", "update", "delete", "no-op", "read", "forget", "x"]);
    let (before, before_mask) = value(feed, canary, 4);
    let (after, after_mask) = value(feed, canary, 4);
    let (unknown, _) = value(feed, "x", 3);
    json!({
        "actions": if feed.below(3) == 0 { json!(["delete", "create"]) } else { json!([actions]) },
        "before": before, "after": after, "after_unknown": unknown,
        "before_sensitive": before_mask, "after_sensitive": after_mask,
        "replace_paths": [[feed.text(), feed.byte()]],
    })
}

fuzz_target!(|bytes: &[u8]| {
    let mut feed = Feed::new(bytes);
    let canary = feed.canary();
    let resources: Vec<Value> = (0..=feed.below(3))
        .map(|at| json!({"address": if at == 0 { "a.b".into() } else { feed.text() }, "change": change(&mut feed, &canary)}))
        .collect();
    let plan = json!({
        "format_version": "1.2", "terraform_version": "1.9.0",
        "resource_changes": resources,
        "resource_drift": [{"address": feed.text(), "change": change(&mut feed, &canary)}],
        "output_changes": {"o": change(&mut feed, &canary)},
        "variables": {"v": {"value": canary}}, "prior_state": canary, "configuration": {"c": canary},
    });
    let text = if feed.below(2) == 0 { plan.to_string() } else { format!("{plan:#}") };
    match flecto_fuzz::read(Format::Json, text.as_bytes()) {
        Ok(parsed) => assert!(!format!("{parsed:?}").contains(&canary), "sensitive, and read: {canary} of {text}"),
        Err(error) => assert!(!error.message.contains(&canary), "{error}"),
    }
});
