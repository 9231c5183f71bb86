#![no_main]
//! The mask: a canary under evidence that must decide is nowhere in what is written, whatever stands around it; and masking
//! twice is masking once.

use flecto::secret::{Masker, Options};
use flecto::stream::Reader;
use flecto_fuzz::Feed;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

const ALNUM: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &[u8] = b"0123456789abcdef";

/// A token of a published format, made here: its prefix and its random part, which must not be seen.
fn token(feed: &mut Feed<'_>) -> (String, String) {
    let (before, alphabet, length, after) = feed.one_of(&[
        ("ghp_", ALNUM, 36, ""),
        ("glpat-", ALNUM, 20, ""),
        ("AKIA", UPPER, 16, ""),
        ("dop_v1_", HEX, 64, ""),
        ("npm_", ALNUM, 36, ""),
        ("xoxb-123456789012-123456789012-", ALNUM, 24, ""),
        ("sk_live_", ALNUM, 24, ""),
        ("hf_", ALNUM, 34, ""),
        ("GOCSPX-", ALNUM, 28, ""),
        ("AIza", ALNUM, 35, ""),
        ("sk-ant-api03-", ALNUM, 93, "AA"),
        ("-----BEGIN RSA PRIVATE KEY-----\n", ALNUM, 64, "\n-----END RSA PRIVATE KEY-----\n"),
    ]);
    let word = feed.word(alphabet, length);
    (format!("{before}{word}{after}"), word)
}

/// A text of one line in which the canary stands under evidence that decides.
fn evident(canary: &str, shape: usize) -> String {
    match shape {
        0 => format!("postgres://app:{canary}@db.internal/app"),
        1 => format!("DB_PASSWORD={canary}"),
        2 => format!("  api_token: {canary}"),
        3 => format!("curl -u deploy:{canary} https://example.org/"),
        4 => format!("Server=s;Database=d;User Id=sa;Password={canary};Encrypt=True"),
        5 => format!("https://example.org/x?access_token={canary}&y=1"),
        6 => format!("\"client_secret\": \"{canary}\","),
        7 => format!("<password>{canary}</password>"),
        8 => format!("X-Api-Key: {canary}"),
        9 => format!("Authorization: Bearer {canary}"),
        10 => format!("host=h user=u password={canary} dbname=d"),
        11 => format!("requirepass {canary}"),
        12 => format!("run --admin-password {canary} --port 80"),
        13 => format!("define('DB_PASSWORD', '{canary}');"),
        14 => format!("//registry.example.org/:_authToken={canary}"),
        15 => format!("machine example.org login app password {canary}"),
        _ => format!("CREATE USER 'a' IDENTIFIED BY '{canary}';"),
    }
}

const KEYS: [&str; 12] = [
    "password",
    "dbPassword",
    "DB_PASSWORD",
    "api_key",
    "client-secret",
    "accessToken",
    "private_key",
    "passphrase",
    "auth_token",
    "secretKey",
    "admin.password",
    "MYSQL_ROOT_PASSWORD",
];

/// A value with the canary in it, at a place that names it a secret.
fn value(feed: &mut Feed<'_>, secret: &str, in_text: &str) -> Value {
    let key = feed.one_of(&KEYS);
    let mut value = match feed.below(6) {
        0 => json!({ key: secret }),
        1 => json!({ key: [secret, feed.text()] }),
        2 => json!({ key: { "value": secret, "x": feed.text() } }),
        3 => json!([{ "name": key, "value": secret }]),
        4 => json!(in_text),
        _ => json!({ feed.text(): in_text }),
    };
    for _ in 0..feed.below(4) {
        value = match feed.below(3) {
            0 => json!([feed.text(), value]),
            1 => json!({ "a": value, "b": feed.text() }),
            _ => json!({ feed.text(): value }),
        };
    }
    value
}

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

/// A text without what could take the evidence from the next line: quotes, brackets and backslashes that open something.
fn around(text: &str) -> String {
    text.replace(['"', '\'', '`', '<', '>', '\\', '|', '{', '}', '(', ')', '[', ']', '$', '%'], " ")
}

fuzz_target!(|bytes: &[u8]| {
    let mut feed = Feed::new(bytes);
    let published = feed.below(2) == 0;
    let (secret, hidden) = if published {
        token(&mut feed)
    } else {
        let canary = feed.canary();
        (canary.clone(), canary)
    };
    let line = if published { secret.clone() } else { evident(&secret, feed.below(17)) };
    let in_text = format!("{}\n{line}\n{}", around(&feed.text()), around(&feed.text()));
    let file = feed.text();
    let change = |op: &str, fields: Value| {
        let mut record = json!({"type": "change", "file": file, "path": "x.y", "op": op});
        for (name, value) in fields.as_object().expect("fields") {
            record[name] = value.clone();
        }
        record
    };
    let decided = match feed.below(8) {
        0 => change("added", json!({"after": value(&mut feed, &secret, &in_text)})),
        1 => change("removed", json!({"before": value(&mut feed, &secret, &in_text)})),
        2 => change("changed", json!({"before": feed.text(), "after": value(&mut feed, &secret, &in_text)})),
        3 => change(
            "added",
            json!({"path": feed.one_of(&["a.password", "env[@API_TOKEN]", "env[name=DB_PASSWORD].value"]), "after": secret}),
        ),
        4 => change("added", json!({"after": 1, "note": in_text})),
        5 => json!({"type": "finding", "file": file, "path": "x", "rule": "r", "severity": "warn", "message": in_text}),
        6 => json!({"type": "warning", "stage": "s", "message": in_text}),
        _ => json!({"type": feed.text() + "x", "deep": [{"er": [value(&mut feed, &secret, &in_text)]}]}),
    };
    let in_file = decided["file"].is_string();
    let mut records = vec![decided];
    for _ in 0..feed.below(3) {
        // Other records of the file. The secret may stand there too, a whole word, where only the first record says that it is one.
        let mut text = feed.text();
        if in_file && !published && feed.below(3) == 0 {
            text = format!("{} {secret} {text}", around(&feed.text()).replace(char::is_alphanumeric, " "));
        }
        let key = feed.text();
        let record = change("changed", json!({"before": {key.clone(): text}, "after": text, "note": key}));
        records.insert(feed.below(2), record);
    }
    let input: String = records.iter().map(|record| format!("{record}\n")).collect();
    let once = masked(&input);
    assert!(!once.contains(&hidden), "{hidden} is shown:\n{input}{once}");
    assert_eq!(masked(&once), once, "from\n{input}");
});
