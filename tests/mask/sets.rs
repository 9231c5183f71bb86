//! Labelled cases that are read from `tests/data/masking-set-*.txt` and made anew for every seed. The head of a file says how they are
//! written and what the first run on them gave.

use super::cases::Dice;
use super::texts;
use crate::support::filter;
use serde_json::{Value, json};
use std::path::Path;

/// A line of a set, with its tokens made.
struct Case {
    line: usize,
    path: String,
    value: Value,
    /// What must not survive.
    secret: Option<String>,
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// What a specification such as `a32` makes.
fn make(dice: &mut Dice, spec: &str) -> Option<String> {
    if spec == "pw" {
        return Some(dice.password());
    }
    if spec == "u" {
        return Some(format!("{}-{}-{}-{}-{}", dice.hex(8), dice.hex(4), dice.hex(4), dice.hex(4), dice.hex(12)));
    }
    let (kind, count) = spec.split_at_checked(1)?;
    let count: usize = count.parse().ok()?;
    Some(match kind {
        "a" => dice.alnum(count),
        "h" => dice.hex(count),
        "d" => dice.digits(count),
        "l" => dice.chars("abcdefghijklmnopqrstuvwxyz", count),
        "U" => dice.chars("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", count - 2) + "7K",
        "b" => {
            let bytes: Vec<u8> = (0..count).map(|_| u8::try_from(dice.below(256)).expect("a byte")).collect();
            let mut text = base64(&bytes);
            text.truncate(count);
            if count.is_multiple_of(4) && count < 100 {
                text.replace_range(count - 1.., "=");
            }
            text
        }
        _ => return None,
    })
}

/// Fills `⟨…⟩`, the innermost first.
fn fill(dice: &mut Dice, template: &str, secret: &str) -> String {
    let mut text = template.to_string();
    while let Some(close) = text.find('⟩') {
        let open = text[..close].rfind('⟨').expect("a bracket that opens");
        let inside = &text[open + '⟨'.len_utf8()..close];
        let made = match inside.strip_prefix("b64:") {
            Some(inside) => base64(inside.replace('§', secret).as_bytes()),
            None => make(dice, inside).unwrap_or_else(|| panic!("{inside}")),
        };
        text.replace_range(open..close + '⟩'.len_utf8(), &made);
    }
    text
}

fn read(name: &str, seed: u64) -> Vec<Case> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let text = std::fs::read_to_string(file).expect("a set");
    let mut dice = Dice(seed | 1);
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(at, line)| {
            let columns: Vec<&str> = line.split('¦').map(str::trim_start).collect();
            let column = |at: usize| columns.get(at).copied().unwrap_or("");
            let last = |at: usize| {
                if at + 1 < columns.len() { column(at).strip_suffix(' ').unwrap_or(column(at)) } else { column(at) }
            };
            let spec = if columns.len() > 4 { column(4) } else { "pw" };
            let mut secret =
                (last(0) == "S").then(|| make(&mut dice, spec).unwrap_or_else(|| fill(&mut dice, spec, "")));
            let value = last(3);
            let (is_json, value) = value.strip_prefix("json:").map_or((false, value), |value| (true, value));
            let value = if is_json {
                value.to_string()
            } else {
                value.replace("\\\\", "\0").replace("\\n", "\n").replace("\\t", "\t").replace('\0', "\\")
            };
            let hidden = secret.clone().unwrap_or_default();
            let wrapped = value.contains("⟨b64:") && value.contains('§');
            let value = fill(&mut dice, &value, &hidden).replace('§', &hidden);
            if wrapped {
                // The word of base64 that holds the secret must not survive.
                secret = value.split_whitespace().max_by_key(|word| word.len()).map(str::to_string);
            }
            let path = last(2).replace('§', &hidden);
            let value = if is_json { serde_json::from_str(&value).expect("json") } else { Value::String(value) };
            Case { line: at + 1, path, value, secret }
        })
        .collect()
}

/// The lines of a set that leak, and those that are hidden for nothing, over some seeds.
fn wrong(name: &str) -> (Vec<String>, Vec<String>, [usize; 2]) {
    let (mut leaks, mut over, mut counts) = (Vec::new(), Vec::new(), [0, 0]);
    for seed in [0x5eed_0011, 0xc0de_0022_0033] {
        let cases = read(name, seed);
        let mut input = String::new();
        for case in &cases {
            let record = json!({"type": "change", "file": format!("{}.yaml", case.line), "path": case.path, "op": "added", "after": case.value});
            input.push_str(&(record.to_string() + "\n"));
        }
        let run = filter("flecto-mask", [""; 0], &input).exits(0);
        for (case, record) in cases.iter().zip(run.records("change")) {
            let mut found = vec![record["path"].as_str().expect("a path").to_string()];
            texts(&record["after"], &mut found);
            match &case.secret {
                Some(secret) => {
                    counts[0] += 1;
                    if found.iter().any(|text| text.contains(secret.as_str())) {
                        leaks.push(format!(
                            "LEAK {name}:{} {} {} => {}",
                            case.line, case.path, case.value, record["after"]
                        ));
                    }
                }
                None => {
                    counts[1] += 1;
                    if record["after"] != case.value || record["path"] != json!(case.path) {
                        over.push(format!(
                            "OVER {name}:{} {} {} => {}",
                            case.line, case.path, case.value, record["after"]
                        ));
                    }
                }
            }
        }
    }
    (leaks, over, counts)
}

/// Leaks and values hidden for nothing in thousandths, at most.
#[track_caller]
fn hold(name: &str, leak: usize, over_most: usize) {
    let (leaks, over, [secret, ordinary]) = wrong(name);
    assert!(secret > 400 && ordinary > 400, "{secret} {ordinary}");
    let report = leaks.iter().chain(&over).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(
        leaks.len() * 1000 <= secret * leak && over.len() * 1000 <= ordinary * over_most,
        "{} of {secret} leak, {} of {ordinary} are hidden for nothing:\n{report}",
        leaks.len(),
        over.len()
    );
}

#[test]
fn the_first_set_of_cases_of_other_worlds_stays_within_the_goal() {
    hold("masking-set-1.txt", 5, 5);
}

/// Its leaks are lines of single products that no word names: a voicemail box, keys that an installer types, a home's switch.
#[test]
fn the_second_set_of_cases_of_other_worlds_stays_where_it_is() {
    hold("masking-set-2.txt", 15, 5);
}

/// What it still shows are passwords that are a word, where a sentence or a tool that nobody knows has them.
#[test]
fn the_third_set_of_cases_of_other_worlds_stays_where_it_is() {
    hold("masking-set-3.txt", 10, 5);
}
