//! What somebody does who wants a secret shown: it is written, named or wrapped so that no rule should know it. No token is written here;
//! they are put together when the test runs.

use crate::support::filter;
use base64::Engine as _;
use serde_json::{Value, json};

fn base64(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// Masks one change, and holds that what it hides is not in what comes out.
#[track_caller]
fn hides(secret: &str, fields: Value) {
    let mut record = json!({"type": "change", "file": "a.yaml", "path": "app.opt", "op": "added"});
    for (name, value) in fields.as_object().expect("fields") {
        record[name] = value.clone();
    }
    let run = filter("flecto-mask", [""; 0], &(record.to_string() + "\n")).exits(0);
    let shown: Vec<String> = run.records("change").iter().map(ToString::to_string).collect();
    assert!(!shown.is_empty() && !shown.iter().any(|line| line.contains(secret)), "{record} => {shown:?}");
}

fn password() -> String {
    ["Falcon", "River", "77"].join("-")
}

#[test]
fn names_with_letters_that_are_none() {
    let secret = password();
    for name in [
        "pass\u{200b}word",
        "p\u{430}ssword",
        "ｐａｓｓｗｏｒｄ",
        "𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝",
        "pa\u{308}ssword",
        "passw0rd",
        "db_p4ssword",
        "t0ken",
        "s3cret",
    ] {
        hides(&secret, json!({"path": name, "after": secret}));
        hides(&secret, json!({"after": {name: secret}}));
    }
    hides(&secret, json!({"path": format!("{}_password", "a".repeat(300)), "after": secret}));
}

#[test]
fn signs_that_are_drawn_like_others() {
    let secret = password();
    for text in [
        "password：§",
        "密码：§",
        "password＝§",
        "password\u{a0}=\u{a0}§",
        "pass\u{ad}word=§",
        "pass&#119;ord=§",
        "password&#x3D;§",
    ] {
        hides(&secret, json!({"after": text.replace('§', &secret)}));
    }
}

#[test]
fn layers_of_encoding() {
    let text = format!("password={}", password());
    let mut word = text.clone();
    for _ in 0..3 {
        word = base64(&word);
        hides(&word, json!({"after": word}));
    }
    let hex: String = text.bytes().map(|b| format!("{b:02x}")).collect();
    hides(&hex, json!({"after": hex}));
    let secret = password();
    hides(&secret, json!({"after": format!("a%3Db%26password%3D{secret}")}));
    hides(&secret, json!({"after": format!("a%253Db%2526password%253D{secret}")}));
    let nested = json!({"b": json!({"password": secret}).to_string()}).to_string();
    hides(&secret, json!({"after": json!({"a": nested}).to_string()}));
    hides(&secret, json!({"after": format!("x = \"\"\"\ny: '{{\"password\": \"{secret}\"}}'\n\"\"\"")}));
}

#[test]
fn values_in_the_place_of_names() {
    let secret = password();
    hides(&secret, json!({"after": {"passwords": {secret.as_str(): null}}}));
    hides(&secret, json!({"after": {"password": {secret.as_str(): true}}}));
    hides(&secret, json!({"after": {format!("postgres://u:{secret}@db/x"): 1}}));
    hides(&secret, json!({"after": [{"value": secret, "name": "DB_PASSWORD"}]}));
    hides(&secret, json!({"after": ["DB_PASSWORD", secret]}));
    hides(&secret, json!({"after": format!("- value: {secret}\n  name: DB_PASSWORD\n")}));
    hides(&secret, json!({"after": 1, "note": format!("password={secret}")}));
}

#[test]
fn literals_that_a_template_falls_back_to() {
    let secret = password();
    for text in [
        "{{ default \"§\" .Values.password }}",
        "{{ db_password | default('§', true) }}",
        "${DB_PASSWORD:=§}",
        "sed -i 's/DB_PASSWORD_PLACEHOLDER/§/' f",
        "bash -c 'mysql -uroot -p§ app'",
        "useradd joe -p $(openssl passwd -1 §)",
        "rsync --password-file=<(echo §) a b::c",
    ] {
        hides(&secret, json!({"after": text.replace('§', &secret)}));
    }
    hides(&secret, json!({"path": "password", "after": format!("{{{{ x ? '{secret}' : '' }}}}")}));
    hides(&secret, json!({"op": "removed", "path": "db.password", "before": secret}));
}

#[test]
fn a_character_of_four_bytes_before_a_name_of_two_words() {
    let secret = password();
    hides(&secret, json!({"after": format!("Cookie: é the 🙂key: ${{X}} and password: {secret}")}));
}
