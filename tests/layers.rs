//! Imports point downward: the picture in `src/lib.rs` is a test, not a wish.

use std::path::{Path, PathBuf};

/// Which layer each module stands in. A module imports from layers below its own; modules of [`STAGES`] never from each
/// other, as the processes that they become never do.
const LAYERS: &[&[&str]] = &[
    &["environment", "limits", "outcome", "text"],
    &["json"],
    &["parts", "path", "value"],
    &["record"],
    &["stream", "pattern", "document"],
    &["secret", "git"],
    &["fields"],
    &["settings", "http", "rules"],
    STAGES,
    &["pipeline"],
    &["cli"],
];

const STAGES: &[&str] = &["diff", "policy", "mask", "payload", "narrate", "render", "post"];

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

fn sources(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("src") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// The modules that a source names after `crate::`, in code or in `use`.
fn imports(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap_or(source);
    let mut out = Vec::new();
    for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
        let mut rest = line;
        while let Some(at) = rest.find("crate::") {
            rest = &rest[at + "crate::".len()..];
            if let Some(group) = rest.strip_prefix('{') {
                let group = group.split_once('}').map_or(group, |(inside, _)| inside);
                out.extend(group.split(',').filter_map(|item| item.trim().split("::").next()).map(str::to_string));
            } else {
                out.push(rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect());
            }
        }
    }
    out.retain(|name| layer(name).is_some());
    out
}

#[test]
fn modules_import_downward_and_stages_never_each_other() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let mut wrong = Vec::new();
    for file in files {
        let relative = file.strip_prefix(&src).expect("below src");
        let module = relative.components().next().expect("a name").as_os_str().to_string_lossy().replace(".rs", "");
        if module == "lib" {
            continue;
        }
        let Some(own) = layer(&module) else {
            wrong.push(format!("{module} has no layer; give it one in tests/layers.rs"));
            continue;
        };
        for import in imports(&std::fs::read_to_string(&file).expect("a source")) {
            let other = layer(&import).expect("a layer");
            if import != module && (other > own || other == own && STAGES.contains(&import.as_str())) {
                wrong.push(format!("{} imports {import}", relative.display()));
            }
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn programs_are_thin() {
    let bin = Path::new(env!("CARGO_MANIFEST_DIR")).join("bin");
    for entry in std::fs::read_dir(bin).expect("bin") {
        let path = entry.expect("an entry").path();
        let lines = std::fs::read_to_string(&path).expect("a source").lines().count();
        assert!(lines <= 40, "{} has {lines} lines; what it does belongs into the library", path.display());
    }
}
