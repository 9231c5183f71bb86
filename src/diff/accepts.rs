//! What do comments accept, and where? `flecto-ignore-next-line RULE — reason`, as the `accept` of a change.

use super::compare::key_segment;
use crate::document::{Data, Node, Place, Remark};
use crate::parts;
use crate::path::{Path, Segment};
use crate::value::Value;

/// The acceptances in a comment, one for each rule that it names. Without a reason they are told all the same: policy says
/// that they accept nothing.
pub(super) fn of(remark: &Remark, path: Option<&Path>) -> Vec<Value> {
    let (rules, reason) = read(&remark.text);
    let one = |rule: String| {
        let mut fields = vec![("rule".to_string(), Value::String(rule))];
        let mut put = |key: &str, value: Value| fields.push((key.to_string(), value));
        if !reason.is_empty() {
            put("reason", Value::String(reason.to_string()));
        }
        if let Some(path) = path {
            put("path", Value::String(path.to_string()));
        }
        put("line", Value::Number(remark.line.to_string()));
        Value::Map(fields)
    };
    rules.into_iter().map(one).collect()
}

/// Rules, and the reason that follows them after `—`, `–`, `--`, a `-` of its own or a `:`. Words without such a mark are
/// taken for rules, and are none: a reason must be told apart from what it is the reason for.
fn read(text: &str) -> (Vec<String>, &str) {
    let mut rules = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some(reason) = ["—", "–", "--"].iter().find_map(|mark| rest.strip_prefix(mark)) {
            return (rules, reason.trim());
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, more) = (&rest[..end], rest[end..].trim_start());
        if matches!(word, "-" | ":") {
            return (rules, more);
        }
        // `rule—why` without blanks: dashes of that length are in no rule's name.
        if let Some(at) = word.find(['—', '–']) {
            rules.push(word[..at].to_string());
            rest = &rest[at..];
            continue;
        }
        rules.extend(word.split([',', ':']).filter(|rule| !rule.is_empty()).map(str::to_string));
        if word.ends_with(':') {
            return (rules, more);
        }
        rest = more;
    }
    (rules, "")
}

/// The steps from a value to the part of it that begins at this place, with its key.
pub(super) fn below(node: &Node<'_>, place: Place) -> Option<Vec<Segment>> {
    let mut steps = Vec::new();
    walk(node, place, &mut steps).then_some(steps)
}

fn walk(node: &Node<'_>, place: Place, steps: &mut Vec<Segment>) -> bool {
    match &node.data {
        Data::Map(entries) => entries.iter().any(|entry| {
            steps.push(key_segment(&entry.key));
            let found = entry.key_span.start == place || walk(&entry.value, place, steps);
            if !found {
                steps.pop();
            }
            found
        }),
        Data::List(items) => items.iter().enumerate().any(|(at, item)| {
            let before = steps.len();
            steps.push(Segment::Index(at));
            let found = item.span.start == place || walk(item, place, steps);
            if found {
                // Its name, where the items of the list have one: only now, since that looks at all of them.
                if let Some((segment, _)) = parts::children(&node.to_value()).into_iter().nth(at) {
                    steps[before] = segment;
                }
            } else {
                steps.truncate(before);
            }
            found
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_and_their_reason_are_told_apart() {
        for (text, rules, reason) in [
            ("debug — a test bed", &["debug"][..], "a test bed"),
            ("debug – a test bed", &["debug"], "a test bed"),
            ("debug -- a test bed", &["debug"], "a test bed"),
            ("debug - a test bed", &["debug"], "a test bed"),
            ("debug: a test bed", &["debug"], "a test bed"),
            ("debug--on — why", &["debug--on"], "why"),
            ("debug—why — so", &["debug"], "why — so"),
            ("a, b,c — why - not", &["a", "b", "c"], "why - not"),
            ("default/a — why", &["default/a"], "why"),
            ("debug", &["debug"], ""),
            ("debug —  ", &["debug"], ""),
            ("debug because of this", &["debug", "because", "of", "this"], ""),
            ("— why", &[], "why"),
            ("", &[], ""),
        ] {
            let (found, why) = read(text);
            assert_eq!(
                (found.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), why),
                (rules, reason),
                "{text}"
            );
        }
    }
}
