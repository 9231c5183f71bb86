//! The man pages in `man/` are what the options say today, and the completions cover every program.

use crate::support::{program, run};
use std::path::{Path, PathBuf};

/// Set to write the pages anew instead of comparing them.
const UPDATE: &str = "FLECTO_BLESS";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("man")
}

#[test]
fn the_manuals_are_up_to_date() {
    let mut expected: Vec<(String, Vec<u8>)> =
        flecto::cli::flecto::commands().into_iter().flat_map(flecto::cli::flecto::pages).collect();
    expected.sort();
    let found = std::fs::read_dir(folder()).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut found: Vec<String> =
        found.map(|name| name.to_string_lossy().into_owned()).filter(|n| n.ends_with(".1")).collect();
    found.sort();
    if std::env::var_os(UPDATE).is_some() {
        std::fs::create_dir_all(folder()).expect("a folder");
        for name in found {
            std::fs::remove_file(folder().join(name)).expect("a page");
        }
        for (name, page) in expected {
            std::fs::write(folder().join(name), page).expect("a page");
        }
        return;
    }
    let names: Vec<&String> = expected.iter().map(|(name, _)| name).collect();
    assert_eq!(found.iter().collect::<Vec<_>>(), names, "{UPDATE}=1 cargo test manuals writes them");
    for (name, page) in &expected {
        let kept = std::fs::read(folder().join(name)).expect("a page");
        assert!(kept == *page, "man/{name} is not what the options say; {UPDATE}=1 cargo test manuals writes it");
    }
}

#[test]
fn every_program_has_a_page_and_every_help_an_example() {
    for command in flecto::cli::flecto::commands() {
        let name = command.get_name().to_string();
        let help = run(program(&name).arg("--help")).exits(0).stdout;
        assert!(help.contains("Example"), "{name} --help has no example");
        assert!(run(program(&name).arg("--version")).exits(0).stdout.starts_with(&format!("{name} ")));
        for option in command.get_arguments() {
            assert!(option.get_help().is_some(), "{name} {} is not documented", option.get_id());
        }
        for subcommand in command.get_subcommands() {
            let sub = subcommand.get_name();
            assert!(
                subcommand.get_after_help().is_some_and(|help| help.to_string().contains("Example")),
                "{name} {sub}"
            );
            for option in subcommand.get_arguments() {
                assert!(option.get_help().is_some(), "{name} {sub} {} is not documented", option.get_id());
            }
        }
    }
}

#[test]
fn the_record_page_names_every_field_of_every_record() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(folder().join("flecto-records.5")).expect("man/flecto-records.5");
    let schema = std::fs::read_to_string(root.join("docs/schemas/record.schema.json")).expect("the schema");
    let schema: serde_json::Value = serde_json::from_str(&schema).expect("JSON");
    // An acceptance is a field's value, told with the field.
    let is_record = |kind: &str, def: &serde_json::Value| def["properties"].is_object() && kind != "acceptance";
    let records = schema["$defs"].as_object().expect("definitions").iter().filter(|(kind, def)| is_record(kind, def));
    let mut seen = 0;
    for (kind, def) in records {
        let (_, rest) = page.split_once(&format!("\n.SS {kind}\n")).unwrap_or_else(|| panic!("no section {kind}"));
        let section = rest.split("\n.S").next().expect("text");
        let tags = section.split("\n.TP\n").skip(1).filter_map(|entry| entry.lines().next());
        let words: Vec<String> = tags
            .flat_map(|tag| {
                tag.split(|c: char| !c.is_ascii_lowercase() && c != '_').map(str::to_string).collect::<Vec<_>>()
            })
            .collect();
        for field in def["properties"].as_object().expect("fields").keys().filter(|field| *field != "type") {
            assert!(words.contains(field), "{kind}.{field} is not in man/flecto-records.5");
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen} fields");
}

#[test]
fn completions_cover_every_program() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(program("flecto").args(["completions", shell])).exits(0).stdout;
        for command in flecto::cli::flecto::commands() {
            assert!(script.contains(command.get_name()), "{shell}: {}", command.get_name());
        }
        assert!(script.contains("snapshot-ref"), "{shell}");
    }
    run(program("flecto").args(["completions", "tcsh"])).exits(2);
}
