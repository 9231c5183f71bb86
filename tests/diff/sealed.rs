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
