//! Encrypted values and files: their ciphertext is nowhere, and what lost its encryption is told and not shown.

use super::{pair, told};
use crate::support::Run;

fn sops(body: &str, mac: &str) -> String {
    format!(
        "{body}sops:\n  age:\n  - recipient: age1aaa\n    enc: old{mac}\n  mac: {}\n  lastmodified: \"2024-01-0{mac}\"\n  version: 3.8.1\n",
        enc(mac)
    )
}

fn enc(data: &str) -> String {
    format!("ENC[{},data:{data}QUFB,iv:aXY=,tag:dGFn,type:str]", "AES256_GCM")
}

#[track_caller]
fn hides(run: &Run, secrets: &[&str]) {
    for secret in secrets {
        assert!(!run.stdout.contains(secret) && !run.stderr.contains(secret), "{secret} in {}", run.stdout);
    }
}

#[test]
fn ciphertext_is_a_sentinel_and_what_sops_must_write_is_no_news() {
    let old = sops(&format!("a: {}\nb: {}\n", enc("1"), enc("2")), "1");
    let new = sops(&format!("a: {}\nb: {}\n", enc("3"), enc("2")), "2");
    let run = pair("a.yaml", &old, &new, &[]).exits(0);
    assert_eq!(run.records("change").len(), 1, "{:?}", told(&run));
    assert_eq!(run.records("file")[0]["kind"], "sops");
    hides(&run, &["QUFB", "ENC["]);
    // A MAC that moved alone is.
    let run = pair("a.yaml", &old, sops(&format!("a: {}\nb: {}\n", enc("1"), enc("2")), "2"), &[]).exits(0);
    assert_eq!(told(&run).len(), 1);
    assert!(told(&run)[0].starts_with("~ sops.mac"), "{:?}", told(&run));
}

#[test]
fn what_lost_its_encryption_is_told_and_withheld() {
    let old = sops(&format!("a: {}\nlist: ['{}', '{}']\nplain: 1\n", enc("1"), enc("2"), enc("3")), "1");
    // One value of it.
    let one = old.replace(&enc("1"), "canary-1");
    let run = pair("a.yaml", &old, &one, &[]).exits(0);
    assert_eq!(run.records("change")[0]["after"], "<no longer encrypted>");
    assert!(run.records("change")[0]["before"].as_str().expect("text").starts_with("<encrypted:sops:"));
    hides(&run, &["canary"]);
    // In a list, also where it stands elsewhere or among new ones.
    for list in ["[canary-2, x]", "[x, canary-2, canary-3]", "[canary-2]", "canary-2", "{a: canary-2}"] {
        let new = old.replace(&format!("['{}', '{}']", enc("2"), enc("3")), list);
        hides(&pair("a.yaml", &old, &new, &[]).exits(0), &["canary"]);
    }
    // The whole document, with what is new in it.
    let whole = "a: canary-1\nlist: [canary-2, canary-3]\nplain: 1\nnew: canary-4\nmap: {x: canary-5}\n";
    let run = pair("a.yaml", &old, whole, &[]).exits(0);
    hides(&run, &["canary"]);
    assert_eq!(
        run.records("change").iter().filter(|c| c["after"] == "<no longer encrypted>").count(),
        5,
        "{:?}",
        told(&run)
    );
}

#[test]
fn files_that_are_ciphertext_as_a_whole() {
    let armour = |body: &str| format!("-----BEGIN {0}-----\n{body}\n-----END {0}-----\n", "AGE ENCRYPTED FILE");
    let run = pair("a.yaml", armour("YWdl"), armour("b3Ro"), &[]).exits(0);
    assert_eq!(run.records("change").len(), 1);
    hides(&run, &["YWdl", "b3Ro"]);
    for plain in [
        "password: canary\n",
        "a: canary\n---\nb: canary\n",
        "canary\n",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {a: canary}\n",
    ] {
        let run = pair("a.yaml", armour("YWdl"), plain, &[]).exits(0);
        hides(&run, &["canary"]);
        assert!(run.records("change").iter().any(|c| c["after"] == "<no longer encrypted>"), "{:?}", told(&run));
    }
    // Without a format that is known.
    let run = pair("secrets.age", armour("YWdl"), armour("b3Ro"), &[]).exits(0);
    assert_eq!(run.records("file")[0]["format"], "age");
    pair("secrets.age", armour("YWdl"), "canary", &[]).exits(2);
}

#[test]
fn a_sealed_secret_that_becomes_a_secret_is_withheld() {
    let old = "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: db, namespace: p}\nspec: {encryptedData: {pw: AgBy3i4OJSWK}}\n";
    let new = "apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: p}\ndata: {pw: canary}\n";
    let run = pair("a.yaml", old, new, &[]).exits(0);
    hides(&run, &["canary", "AgBy3i4OJSWK"]);
    assert_eq!(
        run.records("change").iter().filter(|c| c["after"] == "<no longer encrypted>").count(),
        1,
        "{:?}",
        told(&run)
    );
}

#[test]
fn a_value_dressed_up_as_ciphertext_is_none() {
    let run =
        pair("a.yaml", "a: 1\n", "a: '<encrypted:sops:0123456789ab>'\nb: '<no longer encrypted>'\n", &[]).exits(0);
    for change in run.records("change") {
        let after = change["after"].as_str().expect("text");
        assert!(!after.starts_with("<encrypted:") && after != "<no longer encrypted>", "{after}");
    }
}

#[test]
fn a_document_that_was_sealed_anew_says_so_and_keeps_its_facts() {
    let notes = |old: &str, new: &str| -> Vec<String> {
        let run = pair("a.yaml", old, new, &[]).exits(0);
        hides(&run, &["QUFB"]);
        let changes = run.records("change");
        let line = |c: &serde_json::Value| {
            format!("{} {}", c["path"].as_str().expect("a path"), c["note"].as_str().unwrap_or("-"))
        };
        changes.iter().map(line).collect()
    };
    let body =
        |a: &str, b: &str, c: &str| format!("a: {}\nb: {{c: '{}', d: ['{}']}}\nplain: 1\n", enc(a), enc(b), enc(c));
    let old = sops(&body("1", "2", "3"), "1");
    let rotated = notes(&old, &sops(&body("4", "5", "6"), "2"));
    assert_eq!(rotated.len(), 3, "{rotated:?}");
    assert!(rotated.iter().all(|note| note.contains("encrypted anew: all 3 encrypted values")), "{rotated:?}");
    // With a recipient that came, and a new value: facts of their own.
    let more = sops(&format!("{}new: {}\n", body("4", "5", "6"), enc("7")), "2")
        .replace("  mac:", "  - recipient: age1bbb\n    enc: x\n  mac:");
    let told = notes(&old, &more);
    assert_eq!(told.iter().filter(|note| note.contains("encrypted anew: all 3")).count(), 3, "{told:?}");
    assert!(
        told.contains(&"new -".to_string()) && told.contains(&"sops.age[recipient=age1bbb] -".to_string()),
        "{told:?}"
    );
    // One value that stayed, or the only one, is an edit.
    assert!(notes(&old, &sops(&body("4", "5", "3"), "2")).iter().all(|note| note.ends_with('-')));
    let one = |data: &str| sops(&format!("a: {}\nb: 1\n", enc(data)), data);
    assert_eq!(notes(&one("1"), &one("2")), ["a -"]);
}
