//! What must hold for every text: masking is idempotent, a canary under evidence that must decide never survives, and nothing else is
//! touched; and the time grows with the length alone.

use flecto::secret::{Masker, Options, mask_text};
use flecto::stream::Reader;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

fn masked(input: &str) -> String {
    let (mut reader, mut masker) = (Reader::new(input.as_bytes()), Masker::new(Options::default()));
    let mut out = String::new();
    while let Some(line) = reader.next_line().expect("a line") {
        for line in masker.push(&line).expect("masked") {
            out.push_str(&line.text);
        }
    }
    for line in masker.finish().expect("masked") {
        out.push_str(&line.text);
    }
    out
}

/// A secret that is like nothing else: long enough to be found everywhere, of no published format.
fn canary() -> impl Strategy<Value = String> {
    "[A-Z][a-z]{3}[0-9]{2}[A-Z]{2}[a-z]{2}[0-9]{3}[a-z]{3}"
}

/// Texts that may stand around: words, signs, pieces of grammars.
fn noise() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            "[a-z]{1,8}",
            Just(" ".to_string()),
            Just("\n".to_string()),
            Just("\"".to_string()),
            Just("'".to_string()),
            Just("{{ .Values.x }}".to_string()),
            Just("${X}".to_string()),
            Just("key: ".to_string()),
            Just("a=b;".to_string()),
            Just("--flag ".to_string()),
            Just("https://example.org/a?b=c".to_string()),
            Just("@".to_string()),
            Just("password".to_string()),
            Just("<a>".to_string()),
            Just("\\".to_string()),
            Just("ü→".to_string()),
            "[-:=/.,;#%&?(){}\\[\\]|<>$*`]{1,3}",
        ],
        0..6,
    )
    .prop_map(|parts| parts.concat())
}

/// A text in which the canary stands under evidence that decides whatever stands in other lines.
fn evident(canary: &str, shape: usize, before: &str, after: &str) -> String {
    let line = match shape % 14 {
        0 => format!("postgres://app:{canary}@db.internal/app"),
        1 => format!("DB_PASSWORD={canary}"),
        2 => format!("  api_token: {canary}"),
        3 => format!("curl -u deploy:{canary} https://example.org/"),
        4 => format!("Server=s;Database=d;User Id=sa;Password={canary};Encrypt=True"),
        5 => format!("https://example.org/x?access_token={canary}&y=1"),
        6 => format!("\"client_secret\": \"{canary}\","),
        7 => format!("<password>{canary}</password>"),
        8 => format!("X-Api-Key: {canary}"),
        9 => format!("host=h user=u password={canary} dbname=d"),
        10 => format!("requirepass {canary}"),
        11 => format!("run --admin-password {canary} --port 80"),
        12 => format!("define('DB_PASSWORD', '{canary}');"),
        _ => format!("CREATE USER 'a' IDENTIFIED BY '{canary}';"),
    };
    let lines = |text: &str| text.replace(['"', '\'', '`', '<', '>', '\\', '|'], " ");
    format!("{}\n{line}\n{}", lines(before), lines(after))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn masking_a_text_twice_is_masking_it_once(a in noise(), b in noise(), canary in canary(), shape in 0usize..14) {
        for text in [format!("{a}{canary}{b}"), evident(&canary, shape, &a, &b), a.clone() + &b] {
            let once = mask_text(&text).into_owned();
            prop_assert_eq!(mask_text(&once).into_owned(), once.clone(), "from {}", text);
        }
    }

    #[test]
    fn masking_a_record_twice_is_masking_it_once(a in noise(), b in noise(), key in "(password|token|url|name|auth|key|env|secret)", canary in canary(), shape in 0usize..14) {
        let value = json!({ key.clone(): a, "x": [evident(&canary, shape, "", ""), b], "name": "DB_PASSWORD", "value": canary });
        let record = json!({"type": "change", "file": "f", "path": key, "op": "added", "after": value, "note": b});
        let once = masked(&(record.to_string() + "\n"));
        prop_assert_eq!(masked(&once), once);
    }

    #[test]
    fn a_canary_never_survives_where_evidence_decides(a in noise(), b in noise(), canary in canary(), shape in 0usize..14, place in 0usize..10) {
        let text = evident(&canary, shape, &a, &b);
        let record = match place {
            0 => json!({"type": "change", "file": "f", "path": "x.y", "op": "added", "after": text}),
            1 => json!({"type": "change", "file": "f", "path": "x.y", "op": "changed", "before": {"k": [text]}, "after": a}),
            2 => json!({"type": "finding", "file": "f", "path": "x.y", "rule": "r", "severity": "warn", "message": text}),
            3 => json!({"type": "mine", "deep": [{"er": [text]}]}),
            4 => json!({"type": "change", "file": "f", "path": "x", "op": "added", "after": 1, "note": text}),
            5 => json!({"type": "warning", "stage": "s", "message": text}),
            6 => json!({"type": "change", "file": "f", "path": "db.password", "op": "added", "after": canary, "mine": format!("{} {canary}", a.replace(char::is_alphanumeric, " "))}),
            7 => json!({"type": "change", "file": "f", "path": "env[name=DB_PASSWORD].value", "op": "added", "after": canary}),
            8 => json!({"type": "change", "file": "f", "path": "x", "op": "added", "after": {"password": {"value": [canary]}, "note": a}}),
            _ => json!({"type": "change", "file": "f", "path": "x", "op": "added", "after": serde_json::to_string(&json!({"a": text})).expect("json")}),
        };
        let out = masked(&(record.to_string() + "\n"));
        prop_assert!(!out.contains(&canary), "{} => {}", record, out);
    }

    #[test]
    fn no_text_makes_it_fail(parts in prop::collection::vec(prop_oneof![any::<String>(), noise(), "[ -~]{0,40}", Just("é".to_string()), Just("密码".to_string()), Just("-----BEGIN ".to_string()), Just("eyJ".to_string()), Just("🙂".to_string()), Just("password=".to_string()), Just("://".to_string()), Just("curl -u ".to_string()), Just("Cookie: ".to_string()), Just("x from ".to_string())], 0..10), key in "(password|token|x|auth|key|secrets|data|pin|description)") {
        let text = parts.concat();
        let once = mask_text(&text).into_owned();
        prop_assert_eq!(mask_text(&once).into_owned(), once);
        let record = json!({"type": "change", "file": text, "document": "Secret/a/b", "path": key, "op": "changed", "before": {key.clone(): text, text.clone(): [text]}, "after": text, "note": text, "mine": {text.clone(): {"name": key, "value": text}}});
        let once = masked(&(record.to_string() + "\n"));
        prop_assert_eq!(masked(&once), once);
    }

    #[test]
    fn what_is_no_text_and_no_secret_is_never_touched(numbers in prop::collection::vec(any::<i64>(), 0..5), flags in prop::collection::vec(any::<bool>(), 0..5), words in prop::collection::vec("[a-z]{1,10}", 0..5)) {
        let value = json!({"n": numbers, "f": flags, "w": words, "z": null, "deep": {"list": [{"enabled": true, "replicas": 3, "ratio": 0.5}]}});
        let line = json!({"type": "change", "file": "f", "path": "spec", "op": "added", "after": value}).to_string() + "\n";
        prop_assert_eq!(masked(&line), line);
    }
}

/// The places of a stream in which a text can stand. Each makes the lines of one file with the text at it.
const TEXT_PLACES: &[fn(&str) -> Vec<Value>] = &[
    |text| vec![json!({"type": "file", "file": text, "format": "yaml", "status": "added"})],
    |text| vec![json!({"type": "file", "file": "f", "from": text, "format": "yaml", "status": "renamed"})],
    |text| {
        vec![json!({"type": "file", "file": "f", "format": "yaml", "status": "error", "side": "after", "error": text})]
    },
    |text| vec![json!({"type": "file", "file": "f", "format": "yaml", "status": "modified", "warnings": [text]})],
    |text| {
        vec![
            json!({"type": "change", "file": "f", "path": format!("a['{}'].b", text.replace('\'', "\\'")), "op": "added", "after": 1}),
        ]
    },
    |text| vec![json!({"type": "change", "file": "f", "path": text, "op": "added", "after": 1})],
    |text| vec![json!({"type": "change", "file": "f", "path": "a", "op": "removed", "before": text})],
    |text| {
        vec![
            json!({"type": "change", "file": "f", "path": "a", "op": "changed", "before": [1, text], "after": {"b": {"c": text}}}),
        ]
    },
    |text| vec![json!({"type": "change", "file": "f", "path": "a", "op": "added", "after": {text: 1}})],
    |text| vec![json!({"type": "change", "file": "f", "path": "a", "op": "added", "after": 1, "note": text})],
    |text| vec![json!({"type": "change", "file": "f", "document": text, "path": "a", "op": "added", "after": 1})],
    |text| {
        vec![
            json!({"type": "change", "file": "f", "path": "a", "op": "added", "after": 1, "accept": {"rule": "r", "reason": text}}),
        ]
    },
    |text| {
        vec![json!({"type": "change", "file": "f", "path": "a", "op": "added", "after": 1, "mine": {"x": [[text]]}})]
    },
    |text| vec![json!({"type": "change", "file": "f", "path": "a", "op": "added", "after": 1, text: true})],
    |text| vec![json!({"type": "finding", "file": "f", "path": "a", "rule": "r", "severity": "warn", "message": text})],
    |text| {
        vec![
            json!({"type": "finding", "file": "f", "path": "a", "rule": "r", "severity": "warn", "message": text, "template": "now {after}", "after": text}),
        ]
    },
    |text| {
        vec![
            json!({"type": "finding", "file": "f", "path": "a", "rule": text, "pack": text, "severity": "warn", "message": "m"}),
        ]
    },
    |text| {
        vec![
            json!({"type": "finding", "file": "f", "path": "a", "rule": "r", "severity": "warn", "message": "m", "accepted": {"by": "file", "reason": text}}),
        ]
    },
    |text| vec![json!({"type": "finding", "file": "f", "path": "a", "rule": "r", "severity": text, "message": "m"})],
    |text| vec![json!({"type": "warning", "stage": "diff", "message": text})],
    |text| vec![json!({"type": "warning", "stage": text, "message": "m"})],
    |text| vec![json!({"type": "start", "version": 1, "baseline": text, "to": text})],
    |text| {
        vec![
            json!({"type": "end", "files": 0, "differing": 0, "changes": 0, "errors": 0, "complete": true, "mine": text}),
        ]
    },
    |text| vec![json!({"type": "verdict", "outcome": text})],
    |text| vec![json!({"type": "mine", "text": text})],
    |text| vec![json!({"type": "mine", "file": "f", "deep": {text: [{"er": text}]}})],
];

/// A token of a published format: hidden by itself wherever it stands.
fn token_canary() -> impl Strategy<Value = String> {
    "[A-Z][a-z]{3}[0-9]{2}[A-Z]{2}[a-z]{2}[0-9]{3}[a-z]{3}[A-Za-z0-9]{20}".prop_map(|body| format!("ghp_{body}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_canary_survives_in_no_place_where_a_text_can_be(a in "[a-z ]{0,12}", canary in token_canary(), at in 0..TEXT_PLACES.len()) {
        let records = TEXT_PLACES[at](&format!("{a} {canary}"));
        let input: String = records.iter().map(|record| record.to_string() + "\n").collect();
        let out = masked(&input);
        prop_assert!(!out.contains(&canary), "{input} => {out}");
        prop_assert_eq!(masked(&out), out.clone());
        // What is no text stays: a record keeps its fields that are none.
        for (before, after) in input.lines().zip(out.lines()) {
            let (before, after): (Value, Value) = (serde_json::from_str(before).expect("json"), serde_json::from_str(after).expect("json"));
            for (key, value) in before.as_object().expect("a record").iter().filter(|(_, value)| value.is_number() || value.is_boolean()) {
                let kept = after.get(key) == Some(value) || key.contains(&canary);
                prop_assert!(kept, "{key}: {before} => {after}");
            }
            prop_assert_eq!(&before["type"], &after["type"]);
        }
    }

    /// A value that is hidden at its key is hidden in every other place of its file, or nothing is written of that line.
    #[test]
    fn a_value_hidden_at_its_key_survives_in_no_place_of_its_file(canary in canary(), at in 0..TEXT_PLACES.len(), first in any::<bool>()) {
        let mut records: Vec<Value> = TEXT_PLACES[at](&canary).into_iter().filter(|record| record["file"] == "f").collect();
        let key = json!({"type": "change", "file": "f", "path": "db.password", "op": "added", "after": canary});
        records.insert(if first { 0 } else { records.len() }, key);
        let input: String = records.iter().map(|record| record.to_string() + "\n").collect();
        let (mut reader, mut masker) = (Reader::new(input.as_bytes()), Masker::new(Options::default()));
        let mut out = String::new();
        let mut whole = true;
        while let Some(line) = reader.next_line().expect("a line") {
            match masker.push(&line) {
                Ok(lines) => lines.iter().for_each(|line| out.push_str(&line.text)),
                Err(_) => whole = false,
            }
        }
        match masker.finish() {
            Ok(lines) => lines.iter().for_each(|line| out.push_str(&line.text)),
            Err(_) => whole = false,
        }
        prop_assert!(!out.contains(&canary), "{input} => {out}");
        prop_assert!(whole, "{}", input);
    }
}

/// How long this thread has been on a processor: a busy machine changes it little. Where the system does not say, the time of day.
fn on_processor() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = counted.and_then(|text| text.split(' ').next().and_then(|nanos| nanos.parse().ok()));
    nanos.map_or_else(|| START.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}

/// The processor's time for a text, the best of three: what disturbs a measurement makes it longer, never shorter.
fn time(text: &str) -> Duration {
    (0..3)
        .map(|_| {
            let start = on_processor();
            std::hint::black_box(mask_text(text));
            on_processor().saturating_sub(start)
        })
        .min()
        .expect("a measurement")
}

#[test]
fn time_grows_with_the_length_for_texts_made_to_be_slow() {
    let units = [
        "eyJ",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----\n",
        "://",
        "=",
        "a:b@",
        "a=",
        "password=",
        "password=\"",
        "password: $x ",
        "ghp_",
        "<a>",
        "<password>",
        "\"password\":",
        "--password ",
        "{",
        "{{",
        "${",
        "${A:-",
        "%41",
        "\\\"",
        "a b ",
        "AKIA",
        "QUJD",
        "Bearer ",
        "machine login password ",
        "x://u:p@",
        "AbC1",
        "key: |\n  ",
        "- name: a\n",
        "@",
        "&",
        "a&",
        "'",
        "glpat-",
        "xoxb-",
        ";password=",
        "from \"",
        "/",
        "A/b+",
        "*",
        "-u a:b ",
        "EAA",
        "curl -u ",
        "docker login ",
        "mysql -p",
        "vault login x ",
        "echo x | sudo -S ",
        "password from ",
        "Cookie: a=b; ",
        "<key>a</key>",
        "name=",
        "\u{200b}a",
        "&quot;",
    ];
    let mut slow = Vec::new();
    for unit in units {
        let n = 12_000 / unit.len();
        // Four times the text may take four times the time and some; a square would take sixteen times as long. A busy machine
        // disturbs a measurement: what is slow three times is slow.
        let measure = || (time(&unit.repeat(n)), time(&unit.repeat(4 * n)));
        let is_slow = |(one, four): (Duration, Duration)| {
            four > one * 9 && four > Duration::from_millis(40) || four > Duration::from_secs(6)
        };
        if (0..3).all(|_| is_slow(measure())) {
            slow.push(format!("{unit:?}: {:?}", measure()));
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}

/// The window: a file with more records than are held back says so, and still hides each value where it stands.
#[test]
fn past_the_window_a_warning_says_so() {
    // What is masked already is read fast.
    let filler = "x".repeat(2 << 20);
    let record = |path: &str, after: &Value| {
        json!({"type": "change", "file": "f", "path": path, "op": "added", "after": after}).to_string() + "\n"
    };
    let mut input = record("a", &json!("Xk92-plmOq7"));
    for n in 0..18 {
        input.push_str(&record(&format!("filler{n}"), &json!(filler)));
    }
    input.push_str(&record("db.password", &json!("Xk92-plmOq7")));
    input.push_str(&record("b", &json!("Xk92-plmOq7")));
    let out = masked(&input);
    assert!(out.contains("\"type\":\"warning\"") && out.contains("32 MiB"));
    assert!(
        out.ends_with("\"path\":\"b\",\"after\":\"***\"}\n") || !out.lines().last().expect("a line").contains("plmOq7")
    );
}
