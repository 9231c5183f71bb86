//! The packs: each rule fires where its examples say and is quiet where they say that.

use super::{change, fired, policy, stream};
use flecto::policy::examples;
use flecto::rules;

#[test]
fn every_rule_of_every_pack_keeps_to_its_examples() {
    let mut ids = std::collections::HashSet::new();
    let mut broken = Vec::new();
    for name in rules::builtin_names() {
        let pack = match rules::read_builtin(name) {
            Ok(pack) => pack,
            Err(error) => {
                broken.push(error);
                continue;
            }
        };
        assert_eq!(pack.name, name);
        broken.extend(examples::check(pack).into_iter().map(|example| format!("{name}: {example:?}")));
        let lacking: Vec<_> = examples::without_examples(pack).iter().map(|rule| &rule.id).collect();
        assert!(lacking.is_empty(), "{name}: no example of both kinds: {lacking:?}");
        for rule in &pack.rules {
            assert!(ids.insert(&rule.id), "{} is in two packs", rule.id);
            assert!(rule.help.len() >= 80, "{}: help is too short to help", rule.id);
            assert!(rule.source.contains("https://"), "{}: no source", rule.id);
            assert!(rule.message.ends_with(['.', ')']), "{}: a message is a sentence", rule.id);
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(ids.len() >= 80, "{}", ids.len());
}

#[test]
fn s5_a_rule_about_a_secret_never_says_it() {
    let secret = ["hunter2", "Correct!Horse"].concat();
    for path in ["db.password", "api_key", "auth.token"] {
        for op in ["added", "changed"] {
            let before = if op == "changed" { r#","before":"other-Value9!""# } else { "" };
            let run = policy(&[], &stream(&[&change(path, op, &format!("{before},\"after\":\"{secret}\""))])).exits(1);
            let findings: Vec<_> = run.stdout.lines().filter(|line| line.contains("\"finding\"")).collect();
            assert!(!findings.is_empty(), "{path} {op}");
            for finding in findings {
                assert!(!finding.contains(&secret) && !finding.contains("other-Value9!"), "{finding}");
            }
        }
    }
    let foreign =
        "pack: mine\nabout: x\nrules:\n- {id: a, severity: info, match: {secret: name}, message: 'It is {after}.'}\n";
    let error = rules::read_pack("mine.yaml", foreign.as_bytes()).expect_err("a message that says a secret");
    assert!(error.to_string().starts_with("mine.yaml:4:"), "{error}");
}

#[test]
fn masked_and_encrypted_values_fire_nothing_by_accident() {
    let mut lines = Vec::new();
    for value in ["***", "[REDACTED:github-token]", "<encrypted:sops:0123456789ab>"] {
        for path in
            ["db.password", "db.pool_size", "debug", "replicas", "timeout", "image", "tls.verify", "cidr", "log_level"]
        {
            lines.push(change(path, "added", &format!(r#","after":"{value}""#)));
            lines.push(change(path, "changed", &format!(r#","before":"{value}","after":"{value}""#)));
            lines.push(change(path, "removed", &format!(r#","before":"{value}""#)));
        }
    }
    let packs = rules::builtin_names().into_iter().filter(|name| *name != "strict-prod").collect::<Vec<_>>().join(",");
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let run = policy(&["--policies", &packs], &stream(&lines)).exits(0);
    assert_eq!(fired(&run), [] as [&str; 0]);
}

#[test]
fn what_loses_its_encryption_is_an_error_without_the_value() {
    let values = r#","before":"<encrypted:sops:0123456789ab>","after":"<no longer encrypted>""#;
    let run = policy(&[], &stream(&[&change("db.password", "changed", values)])).exits(1);
    assert_eq!(fired(&run), ["encryption-removed db.password"]);
    let again = r#","before":"<encrypted:sops:0123456789ab>","after":"<encrypted:sops:ba9876543210>""#;
    policy(&[], &stream(&[&change("db.password", "changed", again)])).exits(0);
}

#[test]
fn an_encrypted_object_of_kubernetes_is_judged_as_both() {
    let file = |spec: &str, recipients: &str| {
        let enc = format!("ENC[{},data:QUFB,iv:aXY=,tag:dGFn,type:str]", "AES256_GCM");
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: api}}\nspec: {{template: {{spec: {{{spec}}}}}}}\ntoken: {enc}\n\
             sops:\n  age:\n{recipients}  mac: {enc}\n  lastmodified: '2024-01-01T00:00:00Z'\n  version: 3.8.1\n"
        )
    };
    let one = "  - {recipient: age1aaa, enc: x}\n";
    let two = format!("{one}  - {{recipient: age1bbb, enc: y}}\n");
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("old.yaml"), file("hostNetwork: false", one)).expect("a file");
    std::fs::write(dir.path().join("new.yaml"), file("hostNetwork: true", &two)).expect("a file");
    let mut diff = crate::support::program("flecto-diff");
    let diff = crate::support::run(diff.args(["--no-index", "old.yaml", "new.yaml"]).current_dir(dir.path())).exits(0);
    let record = &diff.records("file")[0];
    assert_eq!((&record["kind"], &record["kinds"]), (&"sops".into(), &serde_json::json!(["sops", "kubernetes"])));
    let fired = fired(&policy(&[], &diff.stdout).exits(1)).join("\n");
    assert!(fired.contains("k8s-host-namespace") && fired.contains("sops-recipient-added"), "{fired}");
}

#[test]
fn a_plan_is_judged_by_what_becomes_of_each_resource() {
    let plan = |resource: &str| {
        format!(r#"{{"format_version":"1.2","terraform_version":"1.9.0","resource_changes":[{resource}]}}"#)
    };
    let resource = |address: &str, actions: &str, before: &str, after: &str| {
        format!(
            r#"{{"address":"{address}","type":"t","name":"n","mode":"managed","provider_name":"p","change":{{"actions":[{actions}],"before":{before},"after":{after},"after_unknown":{{}},"before_sensitive":false,"after_sensitive":false}}}}"#
        )
    };
    let judged = |old: &str, new: &str| {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("old.json"), old).expect("a file");
        std::fs::write(dir.path().join("new.json"), new).expect("a file");
        let mut diff = crate::support::program("flecto-diff");
        let diff = crate::support::run(diff.args(["--no-index", "old.json", "new.json"]).current_dir(dir.path()));
        fired(&policy(&["--fail-on", "none"], &diff.exits(0).stdout))
    };
    let (on, off) = (
        r#"{"deletion_protection":true,"publicly_accessible":true}"#,
        r#"{"deletion_protection":false,"publicly_accessible":true}"#,
    );
    // What was public before is no news; what loses its guard is.
    let new = plan(&resource("db.a", "\"update\"", on, off));
    assert_eq!(
        judged(&plan(""), &new),
        ["tf-deletion-protection-off resource_changes['db.a'].after.deletion_protection"]
    );
    let gone = plan(&resource("db.a", "\"delete\"", on, "null"));
    assert_eq!(judged(&plan(""), &gone), ["tf-plan-deletes resource_changes['db.a'].action"]);
    let idle = plan(&resource("db.a", "\"no-op\"", on, on));
    let replaced = plan(&resource("db.a", "\"delete\",\"create\"", on, on));
    assert!(judged(&idle, &replaced).contains(&"tf-plan-deletes resource_changes['db.a'].action".to_string()));
    let made = plan(&resource("db.a", "\"create\"", "null", r#"{"publicly_accessible":true}"#));
    assert_eq!(judged(&plan(""), &made), ["tf-public-access resource_changes['db.a'].after.publicly_accessible"]);
}

#[test]
fn a_severity_can_be_changed_and_a_rule_left_out() {
    let input = stream(&[&change("debug", "changed", r#","before":false,"after":true"#)]);
    let run = policy(&["--severity", "dangerous-toggle-enabled=info"], &input).exits(0);
    assert_eq!(run.records("finding")[0]["severity"], "info");
    let run = policy(&["--severity", "default/dangerous-toggle-enabled=off"], &input).exits(0);
    assert_eq!(run.records("finding").len(), 0);
    let both = ["--severity", "dangerous-toggle-enabled=off", "--severity", "dangerous-toggle-enabled=warn"];
    assert_eq!(policy(&both, &input).exits(1).records("finding")[0]["severity"], "warn");
}

#[test]
fn the_page_names_every_pack_with_as_many_rules_as_it_has() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/policy.md");
    let page = std::fs::read_to_string(page).expect("the page");
    for name in rules::builtin_names() {
        let pack = rules::read_builtin(name).expect("a pack");
        let row = format!("| `{name}` | {} |", pack.rules.len());
        assert!(page.contains(&row), "docs/policy.md lacks: {row}");
    }
}
