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
