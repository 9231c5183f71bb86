//! What is this file for? By its content, and by its name where a tool looks for the name.

use super::identity::get;
use crate::document::{Data, Document, Key, Node};

/// `kubernetes`, `compose`, `github-workflow`, …; none where nothing tells. How it is encrypted comes before what it is.
pub(super) fn of(name: &str, documents: &[&Document<'_>]) -> Vec<&'static str> {
    let sops = documents.iter().any(|document| document.encrypted == Some("sops")).then_some("sops");
    sops.into_iter().chain(purpose(name, documents)).collect()
}

fn purpose(name: &str, documents: &[&Document<'_>]) -> Option<&'static str> {
    let file = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let roots = || documents.iter().map(|document| &document.root);
    if roots().any(|root| string(root, "apiVersion") && string(root, "kind")) {
        let flux = |root: &Node<'_>| get(root, "metadata").is_none();
        let kustomization = matches!(file.as_str(), "kustomization.yaml" | "kustomization.yml");
        return Some(if kustomization && roots().all(flux) { "kustomization" } else { "kubernetes" });
    }
    if file.ends_with(".tf") || file.ends_with(".tfvars") || file.ends_with(".tf.json") {
        return Some("terraform");
    }
    let root = roots().next()?;
    if !matches!(root.data, Data::Map(_)) {
        let playbook = |items: &[Node<'_>]| {
            !items.is_empty() && items.iter().all(|item| has(item, "hosts") || has(item, "import_playbook"))
        };
        return match &root.data {
            Data::List(items) if playbook(items) => Some("ansible-playbook"),
            _ => None,
        };
    }
    let workflow = in_folder(name, ".github/workflows");
    if has(root, "jobs") && (workflow || has(root, "on") || typed(root, "true")) {
        return Some("github-workflow");
    }
    if has(root, "runs") && matches!(file.as_str(), "action.yml" | "action.yaml") {
        return Some("github-action");
    }
    match file.as_str() {
        ".gitlab-ci.yml" | ".gitlab-ci.yaml" => return Some("gitlab-ci"),
        "package.json" => return Some("package-json"),
        "chart.yaml" => return Some("helm-chart"),
        "kustomization.yaml" | "kustomization.yml" => return Some("kustomization"),
        ".pre-commit-config.yaml" => return Some("pre-commit"),
        "dependabot.yml" | "dependabot.yaml" => return Some("dependabot"),
        "renovate.json" | "renovate.json5" | ".renovaterc" | ".renovaterc.json" => return Some("renovate"),
        _ => {}
    }
    if file.starts_with("tsconfig") || file.starts_with("jsconfig") {
        return Some("tsconfig");
    }
    if has(root, "terraform_version") && (has(root, "resource_changes") || has(root, "planned_values")) {
        return Some("terraform-plan");
    }
    if has(root, "AWSTemplateFormatVersion")
        || has(root, "Resources") && (has(root, "Transform") || has(root, "Parameters"))
    {
        return Some("cloudformation");
    }
    if has(root, "Statement") && (string(root, "Version") || typed_value(root, "Version")) {
        return Some("iam-policy");
    }
    if has(root, "openapi") || has(root, "swagger") {
        return Some("openapi");
    }
    if let Some(services) = get(root, "services")
        && map_of(services, |service| {
            ["image", "build", "extends", "command", "environment", "ports", "volumes", "deploy"]
                .iter()
                .any(|key| has(service, key))
        })
    {
        return Some("compose");
    }
    if file.starts_with("values") && (file.ends_with(".yaml") || file.ends_with(".yml")) {
        return Some("helm-values");
    }
    let prometheus = |root: &Node<'_>| {
        get(root, "groups").is_some_and(
            |groups| matches!(&groups.data, Data::List(items) if items.iter().any(|item| has(item, "rules"))),
        )
    };
    if prometheus(root) {
        return Some("prometheus-rules");
    }
    None
}

fn has(node: &Node<'_>, key: &str) -> bool {
    get(node, key).is_some()
}

/// A key that a YAML 1.1 reader took for `true`: `on`.
fn typed(node: &Node<'_>, text: &str) -> bool {
    matches!(&node.data, Data::Map(entries) if entries.iter().any(|entry| matches!(&entry.key, Key::Typed("bool", key) if key == text)))
}

/// `Version: 2012-10-17` without quotes is a date in YAML.
fn typed_value(node: &Node<'_>, key: &str) -> bool {
    get(node, key).is_some_and(|value| matches!(value.data, Data::Typed(_)))
}

fn string(node: &Node<'_>, key: &str) -> bool {
    get(node, key).is_some_and(|value| matches!(value.data, Data::String(_)))
}

fn map_of(node: &Node<'_>, test: impl Fn(&Node<'_>) -> bool) -> bool {
    matches!(&node.data, Data::Map(entries) if !entries.is_empty() && entries.iter().all(|entry| test(&entry.value)))
}

fn in_folder(name: &str, folder: &str) -> bool {
    name.rsplit_once('/').is_some_and(|(parent, _)| parent == folder || parent.ends_with(&format!("/{folder}")))
}
