//! Does the cost grow as the input does? Each dimension at n, 2n and 4n: four times the input is four times the time.

use crate::generate::{self, Random};
use crate::run::{Contender, Rounds, in_turn};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// A dimension: its name, n, and what makes the files `old` and `new` (or the stream `in`) of that size in a folder.
type Dimension = (&'static str, u64, fn(&Path, u64) -> std::io::Result<Kind>);

/// What is run.
enum Kind {
    /// `flecto-diff --no-index` of two names.
    Diff(&'static str, &'static str),
    /// A filter with options, fed with the file `in`.
    Filter(&'static str, &'static str),
}

const DIMENSIONS: &[Dimension] = &[
    ("files", 500, |at, n| {
        generate::tree(at, n, 7)?;
        Ok(Kind::Diff("old", "new"))
    }),
    ("documents, all changed", 1_000, |at, n| {
        pair(at, "yaml", |new| {
            let text = generate::manifest(n, 5, false);
            if new { text.replace("replicas: ", "replicas: 1") } else { text }
        })
    }),
    ("keys of a map, a tenth changed", 20_000, |at, n| {
        pair(at, "json", |new| {
            object((0..n).map(|k| (format!("key{k}"), (k + u64::from(new && k % 10 == 0)).to_string())))
        })
    }),
    ("keys of a map, in another order", 20_000, |at, n| {
        pair(at, "json", |new| {
            let mut keys: Vec<u64> = (0..n).collect();
            if new {
                keys.reverse();
            }
            object(keys.into_iter().map(|k| (format!("key{k}"), k.to_string())))
        })
    }),
    ("items of a list, rotated", 25_000, |at, n| {
        pair(at, "json", |new| list((0..n).map(|k| ((k + if new { n / 3 } else { 0 }) % n).to_string())))
    }),
    ("items of a list, shuffled", 25_000, |at, n| {
        pair(at, "json", |new| list(shuffled(n, new).map(|k| k.to_string())))
    }),
    ("items of a list, few distinct values", 25_000, |at, n| {
        pair(at, "json", |new| {
            let mut random = Random::new(u64::from(new));
            list((0..n).map(move |_| (random.next() % 3).to_string()))
        })
    }),
    ("items without a name, a tenth changed", 10_000, |at, n| {
        pair(at, "json", |new| {
            list((0..n).map(|k| format!("{{\"a\":{k},\"b\":{},\"c\":\"x\"}}", k % 7 + u64::from(new && k % 10 == 0))))
        })
    }),
    ("items with a name, shuffled", 10_000, |at, n| {
        pair(at, "json", |new| list(shuffled(n, new).map(|k| format!("{{\"name\":\"n{k}\",\"b\":{k}}}"))))
    }),
    ("equal flags of a list", 10_000, |at, n| {
        pair(at, "json", |new| list((0..n).map(|k| format!("\"--set=k{}\"", k + u64::from(new)))))
    }),
    ("changes", 10_000, |at, n| {
        pair(at, "json", |new| object((0..n).map(|k| (format!("key{k}"), format!("\"v{}\"", k + u64::from(new))))))
    }),
    ("keys renamed to what looks alike", 2_000, |at, n| {
        pair(at, "json", |new| {
            let e = if new { "e\u{301}" } else { "\u{e9}" };
            object((0..n).map(|k| (format!("cl{e}{k}"), k.to_string())))
        })
    }),
    ("depth (up to 240), many of them", 300, |at, n| {
        pair(at, "json", |new| {
            let deep = |k: u64| format!("{}{}{}", "[[1,".repeat(60), k + u64::from(new), "],2]".repeat(60));
            object((0..n).map(|k| (format!("key{k}"), deep(k))))
        })
    }),
    ("length of a value", 2_000_000, |at, n| {
        pair(at, "json", |new| {
            let text = "lorem ipsum ".repeat(usize::try_from(n).unwrap_or(0) / 12);
            format!("{{\"a\":\"{text}{new}\"}}\n")
        })
    }),
    ("records, policy", 20_000, |at, n| filter(at, &generate::stream(n, 9), "flecto-policy", "")),
    ("records, mask", 20_000, |at, n| filter(at, &generate::stream(n, 9), "flecto-mask", "")),
    ("findings, policy", 5_000, |at, n| {
        let text = generate::stream(n, 9).replace(".limit_", ".debug_");
        filter(at, &text.replace("\"op\":\"changed\"", "\"op\":\"added\""), "flecto-policy", "")
    }),
    ("rules, policy", 250, |at, n| {
        let mut pack = String::from("pack: many\nabout: many rules\nrules:\n");
        for k in 0..n {
            let _ = writeln!(
                pack,
                "- {{id: r{k}, severity: info, match: {{key: limit_{k}, after: {{above: 10}}}}, message: x}}"
            );
        }
        std::fs::write(at.join("pack.yaml"), pack)?;
        filter(at, &generate::stream(20_000, 9), "flecto-policy", "--policy-file pack.yaml")
    }),
    ("keys of two maps, policy", 5_000, |at, n| {
        let map = |plus: u64| object((0..n).map(|k| (format!("key{k}"), (k + plus).to_string()))).replace('\n', "");
        let (before, after) = (map(0), map(1));
        let change = format!(
            "{{\"type\":\"change\",\"file\":\"a\",\"path\":\"a\",\"op\":\"changed\",\"before\":{before},\"after\":{after}}}\n"
        );
        filter(at, &change, "flecto-policy", "--partial")
    }),
    ("length of a value, policy", 200_000, |at, n| filter(at, &long_value(n), "flecto-policy", "--partial")),
    ("length of a value, mask", 200_000, |at, n| filter(at, &long_value(n), "flecto-mask", "")),
    ("keys that are secrets, mask", 1_000, |at, n| {
        let mut random = Random::new(5);
        let map = object((0..n).map(|k| {
            let token = format!("{:016x}{:016x}{:08x}", random.next(), random.next(), k);
            (format!("{}{}{}", "gh", "p_", &token[..36]), k.to_string())
        }));
        let map = map.replace('\n', "");
        let change =
            format!("{{\"type\":\"change\",\"file\":\"a\",\"path\":\"a\",\"op\":\"added\",\"after\":{map}}}\n");
        filter(at, &change, "flecto-mask", "")
    }),
    ("secrets of one file, mask", 500, |at, n| {
        let mut text = String::from("{\"type\":\"start\",\"version\":1,\"baseline\":\"HEAD\"}\n");
        text.push_str("{\"type\":\"file\",\"file\":\"a.yaml\",\"format\":\"yaml\",\"status\":\"modified\"}\n");
        let mut random = Random::new(3);
        for k in 0..n {
            let secret = format!("{:016x}{:016x}", random.next(), random.next());
            let _ = writeln!(
                text,
                "{{\"type\":\"change\",\"file\":\"a.yaml\",\"path\":\"s{k}.password\",\"op\":\"added\",\"after\":\"{secret}\"}}\n{{\"type\":\"change\",\"file\":\"a.yaml\",\"path\":\"s{k}.note\",\"op\":\"added\",\"after\":\"uses {secret} here\"}}"
            );
        }
        let _ = writeln!(
            text,
            "{{\"type\":\"end\",\"files\":1,\"differing\":1,\"changes\":{},\"errors\":0,\"complete\":true}}",
            2 * n
        );
        filter(at, &text, "flecto-mask", "")
    }),
];

/// Measures every dimension and prints a table of processor time.
pub(crate) fn table(work: &Path, bin: &str, rounds: Rounds) {
    println!("\n| grows | n | ms at n | at 2n | at 4n | 4n / n |\n|---|---:|---:|---:|---:|---:|");
    for (name, n, make) in DIMENSIONS {
        let mut contenders = Vec::new();
        for factor in [1, 2, 4] {
            let folder = work.join("growth").join(format!("{}-{factor}", name.replace([' ', ',', '(', ')'], "_")));
            std::fs::create_dir_all(&folder).expect("a folder");
            let line = match make(&folder, n * factor).expect("an input") {
                Kind::Diff(old, new) => format!("{bin}/flecto-diff --no-index {old} {new}"),
                Kind::Filter(program, options) => format!("{bin}/{program} {options} < in; true"),
            };
            contenders.push(Contender::new(*name, format!("cd {} && {line}", folder.display())));
        }
        // What is too short to be measured is run several times over.
        let costs = in_turn(work, &contenders, rounds);
        let ms: Vec<f64> =
            costs.iter().map(|cost| cost.cpu.max(Duration::from_millis(1)).as_secs_f64() * 1e3).collect();
        println!("| {name} | {n} | {:.0} | {:.0} | {:.0} | {:.1} |", ms[0], ms[1], ms[2], ms[2] / ms[0]);
        let _ = std::fs::remove_dir_all(work.join("growth"));
    }
}

fn pair(at: &Path, suffix: &str, text: impl Fn(bool) -> String) -> std::io::Result<Kind> {
    for (side, new) in [("old", false), ("new", true)] {
        std::fs::write(at.join(format!("{side}.{suffix}")), text(new))?;
    }
    Ok(if suffix == "json" { Kind::Diff("old.json", "new.json") } else { Kind::Diff("old.yaml", "new.yaml") })
}

fn filter(at: &Path, text: &str, program: &'static str, options: &'static str) -> std::io::Result<Kind> {
    std::fs::write(at.join("in"), text)?;
    Ok(Kind::Filter(program, options))
}

/// A change whose new value is a text of so many bytes: settings, addresses, commands and prose, a line each.
fn long_value(bytes: u64) -> String {
    let lines =
        "key: value\\nurl=https://app:x@db.example.com/x\\nmysql -u app -px < dump\\nlorem ipsum dolor sit amet\\n";
    let text = lines.repeat(usize::try_from(bytes).unwrap_or(0) / lines.len());
    format!("{{\"type\":\"change\",\"file\":\"a\",\"path\":\"a\",\"op\":\"added\",\"after\":\"{text}\"}}\n")
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("{{\"items\": [\n{}\n]}}\n", items.collect::<Vec<_>>().join(",\n"))
}

fn object(entries: impl Iterator<Item = (String, String)>) -> String {
    format!("{{\n{}\n}}\n", entries.map(|(key, value)| format!("\"{key}\": {value}")).collect::<Vec<_>>().join(",\n"))
}

fn shuffled(n: u64, shuffle: bool) -> impl Iterator<Item = u64> {
    let mut items: Vec<u64> = (0..n).collect();
    let mut random = Random::new(11);
    for at in (1..items.len()).rev().filter(|_| shuffle) {
        items.swap(at, usize::try_from(random.next()).unwrap_or(0) % (at + 1));
    }
    items.into_iter()
}
