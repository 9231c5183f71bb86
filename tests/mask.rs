//! flecto-mask

mod attacks;
mod cases;
mod properties;
mod sets;

use crate::support::{self, filter, shared};
use serde_json::{Value, json};

/// Masks records and gives back those of type `change`, `finding`, … in order, all of them.
fn mask(records: &[Value]) -> Vec<Value> {
    mask_with(&[], records)
}

fn mask_with(args: &[&str], records: &[Value]) -> Vec<Value> {
    let input: String = records.iter().map(|record| record.to_string() + "\n").collect();
    let run = filter("flecto-mask", args, &input).exits(0);
    run.stdout.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

fn change(path: &str, after: Value) -> Value {
    json!({"type": "change", "file": "a.yaml", "path": path, "op": "added", "after": after})
}

/// A token of a published format, made here.
fn token() -> String {
    let mut dice = cases::Dice(0x00c0_ffee);
    format!("ghp_{}", dice.alnum(36))
}

#[test]
fn s3_a_value_under_a_key_that_names_a_secret_is_three_stars() {
    for key in [
        "password",
        "db.password",
        "auth.clientSecret",
        "API_KEY",
        "x['x-api-key']",
        "env[@DB_PASSWORD]",
        "users[name=a].token",
        "args[@--admin-token]",
    ] {
        assert_eq!(mask(&[change(key, json!("correct horse 1"))])[0]["after"], "***", "{key}");
    }
    let both = json!({"type": "change", "file": "a", "path": "db.password", "op": "changed", "before": "old-one-1", "after": 12345678});
    let out = mask(&[both]);
    assert_eq!((&out[0]["before"], &out[0]["after"]), (&json!("***"), &json!("***")));
    // In a subtree, and beside a name.
    let tree = json!({"db": {"user": "app", "password": "hunter2"}, "env": [{"name": "API_TOKEN", "value": "abc-1"}, {"name": "LOG", "value": "debug"}]});
    let shown = json!({"db": {"user": "app", "password": "***"}, "env": [{"name": "API_TOKEN", "value": "***"}, {"name": "LOG", "value": "debug"}]});
    assert_eq!(mask(&[change("svc", tree)])[0]["after"], shown);
}

#[test]
fn s3_the_key_is_read_as_a_person_reads_it() {
    // Zero width, full width, look-alike letters: the value is hidden, the key is shown as it is.
    for key in [
        "pass\u{200b}word",
        "pass\u{200b}word\u{2060}",
        "ｐａｓｓｗｏｒｄ",
        "pаsswоrd",
        "\u{feff}token",
        "se\u{ad}cret",
    ] {
        let out = mask(&[change("x", json!({ key: "hunter2" }))]);
        assert_eq!(out[0]["after"], json!({ key: "***" }), "{key}");
    }
}

#[test]
fn s3_what_cannot_be_a_secret_stays() {
    for value in [
        json!(true),
        json!(null),
        json!(""),
        json!("${DB_PASSWORD}"),
        json!("/run/secrets/db"),
        json!("vault:secret/db#pw"),
    ] {
        let record = change("db.password", value);
        assert_eq!(mask(std::slice::from_ref(&record)), [record]);
    }
    for (path, value) in [
        ("auth.token_ttl", json!(3600)),
        ("max_tokens", json!(4096)),
        ("passwordPolicy.minLength", json!(12)),
        ("led.pin", json!(13)),
    ] {
        let record = change(path, value);
        assert_eq!(mask(std::slice::from_ref(&record)), [record]);
    }
}

#[test]
fn s4_a_credential_shape_under_any_key() {
    let token = token();
    let gone = |out: &[Value]| assert!(!json!(out).to_string().contains(&token), "{out:?}");
    let shown = |value: Value| {
        let out = mask(&[change("a.b", value)]);
        gone(&out);
        out[0]["after"].clone()
    };
    assert_eq!(shown(json!(token)), "[REDACTED:github-token]");
    assert_eq!(shown(json!(format!("curl -H 'X: {token}' h."))), "curl -H 'X: [REDACTED:github-token]' h.");
    assert_eq!(shown(json!(["a", token])), json!(["a", "[REDACTED:github-token]"]));
    assert_eq!(shown(json!({"k": {"l": token}})), json!({"k": {"l": "[REDACTED:github-token]"}}));
    assert_eq!(shown(json!({ token.clone(): 1 })), json!({"[REDACTED:github-token]": 1}));
    assert_eq!(shown(json!("postgres://app:s3cr3t@db.internal/app")), "postgres://app:***@db.internal/app");
    let path = mask(&[change(&format!("tokens['{token}'].scope"), json!("read"))]);
    assert_eq!(path[0]["path"], "tokens['[REDACTED:github-token]'].scope");
    gone(&path);
    gone(&mask(&[
        json!({"type": "file", "file": format!("{token}.yaml"), "from": format!("old-{token}.yaml"), "format": "yaml", "status": "renamed"}),
    ]));
    gone(&mask(&[
        json!({"type": "change", "file": "a", "path": "a", "op": "added", "after": 1, "note": format!("see {token}")}),
    ]));
    gone(&mask(&[
        json!({"type": "change", "file": "a", "document": format!("X/{token}"), "path": "a", "op": "added", "after": 1}),
    ]));
    gone(&mask(&[json!({"type": "warning", "stage": "x", "message": format!("no {token}")})]));
    gone(&mask(&[
        json!({"type": "file", "file": "a", "format": "yaml", "status": "error", "side": "after", "error": format!("at {token}")}),
    ]));
    gone(&mask(&[json!({"type": "start", "version": 1, "baseline": format!("b-{token}")})]));
    // What nobody knows.
    gone(&mask(&[json!({"type": "mine", "x": {"y": [token]}})]));
    gone(&mask(&[
        json!({"type": "change", "file": "a", "path": "a", "op": "added", "after": 1, "mine": {"z": token}}),
    ]));
    assert_eq!(mask(&[json!({"type": "mine", "password": "hunter2"})])[0]["password"], "***");
}

#[test]
fn s4_two_keys_that_look_the_same_once_hidden_stay_two() {
    let mut dice = cases::Dice(7);
    let (a, b) = (format!("ghp_{}", dice.alnum(36)), format!("ghp_{}", dice.alnum(36)));
    let out = mask(&[change("x", json!({ a: 1, b: 2 }))]);
    assert_eq!(out[0]["after"], json!({"[REDACTED:github-token]": 1, "[REDACTED:github-token]#2": 2}));
}

#[test]
fn s5_a_finding_that_says_a_secret_has_it_masked() {
    let finding = |message: &str, template: Option<&str>| {
        let mut record = json!({"type": "finding", "file": "a.yaml", "path": "db.password", "rule": "r", "severity": "warn", "message": message, "before": "old", "after": "hunter2"});
        if let Some(template) = template {
            record["template"] = json!(template);
        }
        record
    };
    let made =
        mask(&[finding("db.password was old and is hunter2 {x}", Some("{path} was {before} and is {after} {{x}"))]);
    assert_eq!(made[0]["message"], "db.password was *** and is *** {x}");
    // A filter that writes the sentence alone, also quoted as JSON or for a shell.
    for text in ["new value hunter2!", "is 'hunter2'", "is \"hunter2\"", "(hunter2)"] {
        let out = mask(&[change("db.password", json!("hunter2")), finding(text, None)]);
        assert!(!out[1]["message"].as_str().expect("text").contains("hunter2"), "{out:?}");
    }
    let odd = "a\"b\\c d";
    let quoted = serde_json::to_string(odd).expect("json");
    let out = mask(&[change("db.password", json!(odd)), finding(&format!("now {quoted}"), None)]);
    assert!(!out[1]["message"].as_str().expect("text").contains("b\\\\c"), "{out:?}");
    // Nothing hidden: the sentence is the one that came.
    let plain = json!({"type": "finding", "file": "a", "path": "db.pool", "rule": "r", "severity": "warn", "message": "grew from 5 to 20", "template": "grew from {before} to {after}", "before": 5, "after": 20});
    assert_eq!(mask(std::slice::from_ref(&plain)), [plain]);
    let accepted = json!({"type": "finding", "file": "a", "path": "x", "rule": "r", "severity": "info", "message": "m", "accepted": {"by": "file", "reason": format!("known: {}", token())}});
    assert!(!json!(mask(&[accepted])).to_string().contains(&token()));
}

#[test]
fn s6_sentinels_stay_what_they_are() {
    for value in ["<encrypted:sops:0123456789ab>", "<no longer encrypted>", "***", "[REDACTED:jwt]"] {
        let record = change("db.password", json!(value));
        assert_eq!(mask(std::slice::from_ref(&record)), [record]);
    }
    let record = change("data", json!({"password": "<encrypted:sealed-secret:0123456789ab>"}));
    assert_eq!(mask(std::slice::from_ref(&record)), [record]);
}

#[test]
fn a_value_hidden_once_is_hidden_wherever_it_stands_in_the_file() {
    let out = mask(&[
        change("banner", json!("try Xk92-plmOq7 now")),
        change("db.password", json!("Xk92-plmOq7")),
        change("other", json!({"Xk92-plmOq7": "WGs5Mi1wbG1PcTc="})),
        change("longer", json!("aXk92-plmOq7b")),
        json!({"type": "mine", "file": "a.yaml", "text": "Xk92-plmOq7"}),
        json!({"type": "change", "file": "b.yaml", "path": "banner", "op": "added", "after": "try Xk92-plmOq7 now"}),
    ]);
    assert_eq!(out[0]["after"], "try *** now");
    assert_eq!(out[2]["after"], json!({"***": "***"}));
    assert_eq!(out[3]["after"], "aXk92-plmOq7b", "a part of a longer word is another word");
    assert_eq!(out[4]["text"], "***");
    assert_eq!(out[5]["after"], "try Xk92-plmOq7 now", "another file");
    // Common words are nobody's secret elsewhere.
    let out = mask(&[change("db.password", json!("wordpress")), change("image", json!("wordpress"))]);
    assert_eq!(out[1]["after"], "wordpress");
}

#[test]
fn what_is_not_masked_passes_byte_for_byte() {
    let input = "{ \"op\":\"changed\", \"type\" : \"change\",\"file\":\"a\",\"path\":\"x\",\"after\":1e3 }\n\n{\"type\":\"mine\",\"t\":\"\\u00e9 \\/\"}\n \n{\"type\":\"end\",\"files\":1,\"differing\":1,\"changes\":1,\"errors\":0,\"complete\":true}\n";
    assert_eq!(filter("flecto-mask", [""; 0], input).exits(0).stdout, input);
}

#[test]
fn a_masked_record_keeps_its_other_fields_in_order_and_loses_its_line_hash() {
    let input = "{\"type\":\"change\",\"mine\":[1, 2],\"file\":\"a\",\"path\":\"password\",\"op\":\"added\",\"after\":\"hunter2\",\"line_hash\":\"ab:1\",\"z\":1e2}\n";
    let run = filter("flecto-mask", [""; 0], input).exits(0);
    assert_eq!(
        run.stdout,
        "{\"type\":\"change\",\"mine\":[1, 2],\"file\":\"a\",\"path\":\"password\",\"op\":\"added\",\"after\":\"***\",\"z\":1e2}\n"
    );
}

#[test]
fn a_broken_line_is_an_error_with_its_number_after_what_was_whole() {
    let input = "{\"type\":\"change\",\"file\":\"a\",\"path\":\"password\",\"op\":\"added\",\"after\":\"hunter2\"}\nnonsense hunter2\n";
    let run = filter("flecto-mask", [""; 0], input).exits(2);
    assert!(run.stdout.contains("\"***\"") && !run.stdout.contains("hunter2"));
    assert!(
        run.stderr.starts_with("flecto-mask: line 2 of the input") && !run.stderr.contains("hunter2"),
        "{}",
        run.stderr
    );
    assert_eq!(run.stderr.lines().count(), 1);
}

#[test]
fn a_full_disk_is_an_error() {
    let input = change("a", json!(1)).to_string() + "\n";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "exec \"$0\" > /dev/full"]).arg(support::bin_dir().join("flecto-mask"));
    support::run_with(&mut support::clean(command), input).exits(2);
}

#[test]
fn evidence_says_why_and_never_what() {
    let out = mask_with(
        &["--evidence"],
        &[
            change("db.password", json!("hunter22")),
            change("url", json!("postgres://a:hunter22x@h/d")),
            change("t", json!(token())),
            change("note", json!("hunter22")),
            change("plain", json!("x")),
        ],
    );
    assert_eq!(out[0]["masked"], json!([{"at": "after", "by": "key", "word": "password"}]));
    assert_eq!(out[1]["masked"], json!([{"at": "after", "by": "container", "word": "url userinfo"}]));
    assert_eq!(out[2]["masked"], json!([{"at": "after", "by": "format", "word": "github-token"}]));
    assert_eq!(out[3]["masked"][0]["by"], "propagated");
    assert!(out[4].get("masked").is_none());
    assert!(!json!(out).to_string().contains("hunter22"));
}

#[test]
fn the_operator_has_the_last_word() {
    let records = [
        change("db.password", json!("hunter22")),
        change("db.name", json!("orders")),
        change("x", json!({"password": "abc-def-1", "name": "n"})),
    ];
    let out = mask_with(&["--allow", "db.password", "--mask", "db.name"], &records);
    assert_eq!((&out[0]["after"], &out[1]["after"]), (&json!("hunter22"), &json!("***")));
    let out = mask_with(&["--allow", "x.password", "--mask", "x.name"], &records);
    assert_eq!(out[2]["after"], json!({"password": "abc-def-1", "name": "***"}));
    assert_eq!(out[0]["after"], "***");
    filter("flecto-mask", ["--allow", "a..b"], "").exits(2);
}

#[test]
fn a_value_too_deep_to_look_into_is_hidden_whole() {
    let deep = format!("{}\"hunter2\"{}", "[".repeat(3000), "]".repeat(3000));
    let input = format!("{{\"type\":\"change\",\"file\":\"a\",\"path\":\"x\",\"op\":\"added\",\"after\":{deep}}}\n");
    let run = filter("flecto-mask", [""; 0], &input);
    assert!(!run.stdout.contains("hunter2"), "{}", run.stdout);
}

#[test]
fn a_name_that_is_not_utf_8_does_not_keep_the_secret_in_its_bytes() {
    let record = json!({"type": "file", "file": format!("{}\u{fffd}.yaml", token()), "file_bytes": "eA==", "format": "yaml", "status": "added"});
    let out = mask(&[record]);
    assert!(out[0].get("file_bytes").is_none() && !out[0]["file"].as_str().expect("a name").contains(&token()));
}

/// The check at the end: what was hidden stands in a list of evidence, which a mask never writes values into.
#[test]
fn what_cannot_be_taken_out_of_a_line_withholds_it_and_what_follows() {
    let secret = "Xk92-plmOq7";
    let mut strange = change("x", json!("plain"));
    strange["masked"] = json!([{"at": "after", "by": "key", "word": secret}]);
    let records = [change("db.password", json!(secret)), strange, change("later", json!("plain"))];
    let input: String = records.iter().map(|record| record.to_string() + "\n").collect();
    let run = filter("flecto-mask", [""; 0], &input).exits(2);
    assert!(!run.stdout.contains(secret) && !run.stdout.contains("later"), "{}", run.stdout);
    assert_eq!(
        run.stderr,
        "flecto-mask: line 2 of the input holds a secret where it cannot be hidden; the line and what follows are withheld\n"
    );
}

#[test]
fn a_secret_in_a_field_for_flecto_s_own_words_is_hidden_there_too() {
    let secret = "Xk92-plmOq7";
    for field in ["rule", "pack", "op", "type", "format"] {
        let mut finding =
            json!({"type": "finding", "file": "a.yaml", "path": "x", "rule": "r", "severity": "warn", "message": "m"});
        finding[field] = json!(secret);
        let records = [change("db.password", json!(secret)), finding, change("later", json!("plain"))];
        let input: String = records.iter().map(|record| record.to_string() + "\n").collect();
        let run = filter("flecto-mask", [""; 0], &input).exits(0);
        assert!(!run.stdout.contains(secret) && run.stdout.contains("later"), "{field}: {}", run.stdout);
    }
}

/// An attack on the gate: a secret that is spelled like a word of the records must not make them unreadable.
#[test]
fn a_secret_that_is_a_word_of_the_records_changes_none_of_them() {
    for word in ["kubernetes", "k8s-image-unpinned", "finding", "warn", "modified"] {
        let finding = json!({"type": "finding", "file": "a.yaml", "path": "x", "rule": "k8s-image-unpinned", "pack": "kubernetes", "severity": "warn", "message": "m"});
        let records = [change("db.password", json!(word)), finding.clone()];
        let input: String = records.iter().map(|record| record.to_string() + "\n").collect();
        let run = filter("flecto-mask", [""; 0], &input).exits(0);
        assert_eq!(run.stdout.lines().nth(1), Some(finding.to_string().as_str()), "{word}");
    }
}

#[test]
fn masking_twice_is_masking_once() {
    let cases = cases::cases(0xabcd_ef01);
    let once = filter("flecto-mask", [""; 0], &stream(&cases)).exits(0).stdout;
    assert_eq!(filter("flecto-mask", [""; 0], &once).exits(0).stdout, once);
}

/// Cases as one stream, each in a file of its own, so that one case does not hide another's value.
fn stream(cases: &[cases::Case]) -> String {
    let mut out = String::from("{\"type\":\"start\",\"version\":1,\"baseline\":\"HEAD\"}\n");
    for (at, case) in cases.iter().enumerate() {
        let mut record = json!({"type": "change", "file": format!("case-{at}.yaml"), "path": case.path, "op": "added", "after": case.value});
        if let Some(document) = case.document {
            record["document"] = json!(document);
        }
        out.push_str(&(record.to_string() + "\n"));
    }
    out
}

fn texts(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Number(number) => out.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, out)),
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            out.push(key.clone());
            texts(value, out);
        }),
        Value::Null | Value::Bool(_) => {}
    }
}

#[test]
fn generated_cases_of_other_providers_and_habits_do_not_leak_and_stay_readable() {
    let (mut secret, mut leaks, mut ordinary, mut over) = (0, Vec::new(), 0, Vec::new());
    for seed in [0x5eed_0001, 0xfeed_beef_0042, 0x1234_5678_9abc_def1] {
        let cases = cases::cases(seed);
        let run = filter("flecto-mask", ["--evidence"], &stream(&cases)).exits(0);
        for (case, record) in cases.iter().zip(run.records("change")) {
            let mut found = Vec::new();
            texts(&record["after"], &mut found);
            found.push(record["path"].as_str().expect("a path").to_string());
            match &case.secret {
                Some(span) => {
                    secret += 1;
                    if found.iter().any(|text| text.contains(span.as_str())) {
                        leaks.push(format!(
                            "LEAK {} | {} | {} => {}",
                            case.kind, case.path, case.value, record["after"]
                        ));
                    }
                }
                None => {
                    ordinary += 1;
                    if record["after"] != case.value || record["path"] != json!(case.path) {
                        over.push(format!(
                            "OVER {} | {} => {} {}",
                            case.path, case.value, record["after"], record["masked"]
                        ));
                    }
                }
            }
        }
    }
    let report = leaks.iter().chain(&over).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(
        leaks.len() * 200 <= secret && over.len() * 200 <= ordinary,
        "{} of {secret} leak, {} of {ordinary} are hidden for nothing:\n{report}",
        leaks.len(),
        over.len()
    );
}

#[test]
fn the_shared_cases_stay_within_their_goal() {
    use std::io::Read as _;
    let Some(path) = shared("data/secrets/dev.ndjson.gz") else { return };
    let unpacked = std::process::Command::new("gzip").args(["-dc"]).arg(path).output().expect("gzip");
    let mut text = String::new();
    unpacked.stdout.as_slice().read_to_string(&mut text).expect("text");
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a case")).collect();
    let mut input = String::new();
    for case in &cases {
        let record =
            json!({"type": "change", "file": "case.yaml", "path": case["path"], "op": "added", "after": case["value"]});
        input.push_str(&(record.to_string() + "\n"));
    }
    let run = filter("flecto-mask", [""; 0], &input).exits(0);
    let (mut leaks, mut over) = (Vec::new(), Vec::new());
    let (mut secret, mut ordinary) = (0, 0);
    for (case, record) in cases.iter().zip(run.records("change")) {
        let mut found = vec![record["path"].as_str().expect("a path").to_string()];
        texts(&record["after"], &mut found);
        if case["label"] == "secret" {
            secret += 1;
            let span = case["span"].as_str().expect("a span");
            if found.iter().any(|text| text.contains(span)) {
                assert_ne!(case["tier"], "format", "{case}");
                leaks.push(case["id"].to_string());
            }
        } else {
            ordinary += 1;
            if record["after"] != case["value"] || record["path"] != case["path"] {
                over.push(case["id"].to_string());
            }
        }
    }
    assert!(
        leaks.len() * 200 <= secret && over.len() * 200 <= ordinary,
        "{leaks:?} leak, {over:?} are hidden for nothing"
    );
}
