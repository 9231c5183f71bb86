//! Is this JSON a Terraform plan, and what does it do? `terraform show -json PLAN`, by its content.
//!
//! The plan's own format (<https://developer.hashicorp.com/terraform/internals/json-format>) says everything several times
//! over and in lists. What it does is in `resource_changes`, `output_changes` and `resource_drift`; the rest (the prior state,
//! the whole configuration, the variables) follows from it or is full of secrets, and is left out. What remains is a map by
//! address, so that a resource is found by its name. A value that Terraform marks sensitive is replaced here. Its digest is
//! not shown, unlike a ciphertext's: a short secret could be guessed from it.

use super::flat::node;
use super::{Data, Entry, Key, Node, Span};
use std::borrow::Cow;

/// In the place of a value that Terraform marks sensitive.
const SENSITIVE: &str = "<sensitive>";

/// The same, where the plan changes the value.
const SENSITIVE_CHANGES: &str = "<sensitive, changes>";

/// In the place of a value that only the provider will know.
const UNKNOWN: &str = "(known after apply)";

const KEPT: [&str; 6] = ["format_version", "terraform_version", "applyable", "complete", "errored", "output_changes"];

/// Whether the root is a plan: the three keys that every plan has, and no state or configuration has.
fn is_plan(root: &Node<'_>) -> bool {
    let text = |name: &str| matches!(field(root, name).map(|node| &node.data), Some(Data::String(_)));
    let list = matches!(field(root, "resource_changes").map(|node| &node.data), Some(Data::List(_)));
    text("format_version") && text("terraform_version") && list
}

/// Makes what a plan does of a plan, and leaves every other tree alone.
pub(super) fn simplify(root: &mut Node<'_>) {
    if !is_plan(root) {
        return;
    }
    let Data::Map(entries) = &mut root.data else { return };
    let mut kept = Vec::new();
    for mut entry in std::mem::take(entries) {
        match entry.key.text() {
            "resource_changes" | "resource_drift" => {
                by_address(&mut entry.value);
                kept.push(entry);
            }
            "output_changes" => {
                if let Data::Map(outputs) = &mut entry.value.data {
                    outputs.iter_mut().for_each(|output| change(&mut output.value));
                }
                kept.push(entry);
            }
            name if KEPT.contains(&name) => kept.push(entry),
            _ => {}
        }
    }
    *entries = kept;
}

fn field<'n, 'a>(node: &'n Node<'a>, name: &str) -> Option<&'n Node<'a>> {
    match &node.data {
        Data::Map(entries) => entries.iter().find(|entry| entry.key.text() == name).map(|entry| &entry.value),
        _ => None,
    }
}

fn take<'a>(node: &mut Node<'a>, name: &str) -> Option<Node<'a>> {
    let Data::Map(entries) = &mut node.data else { return None };
    let at = entries.iter().position(|entry| entry.key.text() == name)?;
    Some(entries.swap_remove(at).value)
}

/// `[{"address": …, "change": …}, …]` as `{ADDRESS: …}`. A deposed object has an address and a key of its own.
fn by_address(list: &mut Node<'_>) {
    let Data::List(items) = &mut list.data else { return };
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for mut item in std::mem::take(items) {
        let Some(Node { data: Data::String(address), span, .. }) = take(&mut item, "address") else { continue };
        let deposed = match take(&mut item, "deposed").map(|node| node.data) {
            Some(Data::String(key)) => Some(key),
            _ => None,
        };
        let previous = take(&mut item, "previous_address");
        let reason = take(&mut item, "action_reason");
        let Some(mut value) = take(&mut item, "change") else { continue };
        change(&mut value);
        if let Data::Map(fields) = &mut value.data {
            for (name, extra) in [("action_reason", reason), ("previous_address", previous)] {
                if let Some(extra) = extra {
                    fields.push(entry_of(name, extra));
                }
            }
        }
        let key = Cow::Owned(match deposed {
            Some(deposed) => format!("{address} (deposed {deposed})"),
            None => address.into_owned(),
        });
        entries.push(Entry::new(Key::String(key), span, value));
    }
    list.data = Data::Map(entries);
}

fn entry_of<'a>(name: &'static str, value: Node<'a>) -> Entry<'a> {
    Entry::new(Key::String(Cow::Borrowed(name)), value.span, value)
}

/// A change as `action`, `before`, `after` and, where it replaces the resource, `replace_paths`.
fn change(node_: &mut Node<'_>) {
    let span = node_.span;
    let actions = take(node_, "actions");
    let (before, mut after) = (take(node_, "before"), take(node_, "after"));
    let mut hidden_before = before.clone();
    if let Some(mask) = take(node_, "before_sensitive")
        && let Some(before) = &mut hidden_before
    {
        hide(before, &mask, None);
    }
    if let (Some(mask), Some(after)) = (take(node_, "after_sensitive"), &mut after) {
        hide(after, &mask, Some(before.as_ref()));
    }
    if let Some(mask) = take(node_, "after_unknown") {
        let after = after.get_or_insert_with(|| node(Data::Null, span));
        unknown(after, &mask);
    }
    let (action, at) = match actions {
        Some(actions) => (action_of(&actions), actions.span),
        None => ("unknown", span),
    };
    let mut fields = vec![entry_of("action", node(Data::String(Cow::Borrowed(action)), at))];
    // What stays as it is says nothing.
    if action != "no-op" {
        fields.extend(hidden_before.map(|before| entry_of("before", before)));
        fields.extend(after.map(|after| entry_of("after", after)));
        fields.extend(take(node_, "replace_paths").map(|paths| entry_of("replace_paths", paths)));
    }
    fields.extend(take(node_, "importing").map(|importing| entry_of("importing", importing)));
    node_.data = Data::Map(fields);
}

fn action_of(actions: &Node<'_>) -> &'static str {
    let Data::List(items) = &actions.data else { return "unknown" };
    let words: Vec<&str> = items
        .iter()
        .map(|item| match &item.data {
            Data::String(word) => word.as_ref(),
            _ => "",
        })
        .collect();
    match words.as_slice() {
        ["no-op"] => "no-op",
        ["create"] => "create",
        ["read"] => "read",
        ["update"] => "update",
        ["delete"] => "delete",
        ["forget"] => "forget",
        ["delete", "create"] => "replace (delete, then create)",
        ["create", "delete"] => "replace (create, then delete)",
        _ => "unknown",
    }
}

/// Hides what the mask marks: `true` for the whole, else a map or a list of the same shape. `other` is the value before
/// where this is the one after: whether they differ is told.
fn hide(value: &mut Node<'_>, mask: &Node<'_>, other: Option<Option<&Node<'_>>>) {
    match (&mut value.data, &mask.data) {
        (_, Data::Bool(true)) => {
            let same = other.is_none_or(|other| other.is_some_and(|other| other.to_value() == value.to_value()));
            let text = if same { SENSITIVE } else { SENSITIVE_CHANGES };
            *value = node(Data::String(Cow::Borrowed(text)), value.span);
        }
        (Data::Map(entries), Data::Map(_)) => {
            for entry in entries {
                let name = entry.key.text();
                let inner = other.map(|other| other.and_then(|other| field(other, name)));
                if let Some(mask) = field(mask, name) {
                    hide(&mut entry.value, mask, inner);
                }
            }
        }
        (Data::List(items), Data::List(masks)) => {
            for (at, (item, mask)) in items.iter_mut().zip(masks).enumerate() {
                let inner = other.map(|other| match other.map(|other| &other.data) {
                    Some(Data::List(items)) => items.get(at),
                    _ => None,
                });
                hide(item, mask, inner);
            }
        }
        _ => {}
    }
}

/// Says `(known after apply)` where the mask does. Such a value is null or absent in `after`.
fn unknown<'a>(value: &mut Node<'a>, mask: &Node<'a>) {
    if let Data::Bool(true) = mask.data {
        *value = node(Data::String(Cow::Borrowed(UNKNOWN)), mask.span);
        return;
    }
    match (&mut value.data, &mask.data) {
        (Data::Map(entries), Data::Map(masks)) => {
            for masked in masks {
                let at = entries.iter().position(|entry| entry.key == masked.key);
                match at {
                    Some(at) => unknown(&mut entries[at].value, &masked.value),
                    None if any(&masked.value) => {
                        let mut inner = node(Data::Null, masked.value.span);
                        unknown(&mut inner, &masked.value);
                        let (key, key_span) = (masked.key.clone(), masked.key_span);
                        entries.push(Entry::new(key, key_span, inner));
                    }
                    None => {}
                }
            }
        }
        (Data::List(items), Data::List(masks)) => {
            items.iter_mut().zip(masks).for_each(|(item, mask)| unknown(item, mask))
        }
        (Data::Null, Data::Map(_)) if any(mask) => {
            value.data = Data::Map(Vec::new());
            unknown(value, mask);
        }
        (Data::Null, Data::List(masks)) if any(mask) => {
            let blank = |mask: &Node<'_>| node(Data::Null, Span { ..mask.span });
            value.data = Data::List(masks.iter().map(blank).collect());
            unknown(value, mask);
        }
        _ => {}
    }
}

/// Whether a mask marks anything.
fn any(mask: &Node<'_>) -> bool {
    match &mask.data {
        Data::Bool(value) => *value,
        Data::List(items) => items.iter().any(any),
        Data::Map(entries) => entries.iter().any(|entry| any(&entry.value)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::document::{Format, Options, parse};

    const PLAN: &str = r#"{
      "format_version": "1.2", "terraform_version": "1.9.0", "timestamp": "2026-01-01T00:00:00Z", "complete": true,
      "variables": {"db_password": {"value": "hunter2"}},
      "prior_state": {"values": {"secret": "hunter2"}},
      "resource_changes": [
        {"address": "aws_db.main", "mode": "managed", "type": "aws_db", "name": "main", "action_reason": "replace_because_cannot_update",
         "change": {"actions": ["delete", "create"],
           "before": {"size": 10, "password": "hunter2", "tags": {"a": "x"}, "list": ["hunter2", "b"]},
           "after": {"size": 20, "password": "hunter3", "tags": {"a": "x"}, "list": ["hunter2", "b"]},
           "after_unknown": {"id": true, "tags": {}, "net": [{"ip": true}]},
           "before_sensitive": {"password": true, "list": [true, false]}, "after_sensitive": {"password": true, "list": [true, false]},
           "replace_paths": [["size"]]}},
        {"address": "aws_db.old", "change": {"actions": ["no-op"], "before": {"a": 1}, "after": {"a": 1}}}
      ],
      "output_changes": {"url": {"actions": ["update"], "before": "hunter2", "after": null, "after_unknown": true, "before_sensitive": true, "after_sensitive": true}}
    }"#;

    #[test]
    fn a_plan_says_what_it_does_and_no_secret() {
        let parsed = parse(Format::Json, PLAN.as_bytes(), &Options::default()).expect("json");
        let value = parsed.documents[0].root.to_value().to_json();
        assert!(!value.contains("hunter") && !format!("{parsed:?}").contains("hunter"), "{value}");
        assert_eq!(
            value,
            concat!(
                r#"{"format_version":"1.2","terraform_version":"1.9.0","complete":true,"resource_changes":{"aws_db.main":"#,
                r#"{"action":"replace (delete, then create)","before":{"size":10,"password":"<sensitive>","tags":{"a":"x"},"list":["<sensitive>","b"]},"#,
                r#""after":{"size":20,"password":"<sensitive, changes>","tags":{"a":"x"},"list":["<sensitive>","b"],"id":"(known after apply)","net":[{"ip":"(known after apply)"}]},"#,
                r#""replace_paths":[["size"]],"action_reason":"replace_because_cannot_update"},"aws_db.old":{"action":"no-op"}},"#,
                r#""output_changes":{"url":{"action":"update","before":"<sensitive>","after":"(known after apply)"}}}"#
            )
        );
    }

    #[test]
    fn other_json_is_left_alone() {
        let text = r#"{"format_version":"1.0","terraform_version":"1.9.0","values":{"root_module":{}}}"#;
        let parsed = parse(Format::Json, text.as_bytes(), &Options::default()).expect("json");
        assert_eq!(parsed.documents[0].root.to_value().to_json(), text);
    }
}
