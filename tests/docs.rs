//! What the README and docs/ show is what happens: every `console` block is executed.
//!
//! In such a block `$ command` is run by `sh` in a repository with the README's change, and what it prints follows.
//! `...` stands for any text within a line; a line of `...` alone for any lines; `? 1` for exit status 1 (0 without it).

use crate::support::{PROD_YAML_CHANGED, Repo, bin_dir, clean, run};
use std::path::{Path, PathBuf};
use std::process::Command;

struct Example {
    place: String,
    command: String,
    prints: Vec<String>,
    status: i32,
}

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = vec![root.join("README.md")];
    for entry in std::fs::read_dir(root.join("docs")).expect("docs") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages
}

fn examples(page: &Path) -> Vec<Example> {
    let text = std::fs::read_to_string(page).expect("a page");
    let name = page.file_name().expect("a name").to_string_lossy().into_owned();
    let mut out: Vec<Example> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if !inside {
        } else if let Some(command) = line.strip_prefix("$ ") {
            let place = format!("{name}:{}", number + 1);
            out.push(Example { place, command: command.to_string(), prints: Vec::new(), status: 0 });
        } else if let Some(example) = out.last_mut() {
            match line.strip_prefix("? ") {
                Some(status) => example.status = status.parse().expect("a status"),
                None => example.prints.push(line.to_string()),
            }
        }
    }
    out
}

/// Whether a line is what the page says, `...` being any text.
fn fits(wanted: &str, line: &str) -> bool {
    let mut parts = wanted.split("...");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

fn all_fit(wanted: &[String], lines: &[&str]) -> bool {
    match (wanted.split_first(), lines.split_first()) {
        (None, None) => true,
        (Some((any, more)), _) if any == "..." => {
            all_fit(more, lines) || lines.split_first().is_some_and(|(_, rest)| all_fit(wanted, rest))
        }
        (Some((want, more)), Some((line, rest))) => fits(want, line) && all_fit(more, rest),
        _ => false,
    }
}

#[test]
fn every_console_example_prints_what_the_page_says() {
    let mut seen = 0;
    for page in pages() {
        for example in examples(&page) {
            seen += 1;
            let repo = Repo::new();
            repo.write("config/prod.yaml", PROD_YAML_CHANGED);
            let path = format!("{}:{}", bin_dir().display(), std::env::var("PATH").unwrap_or_default());
            let mut command = clean(Command::new("sh"));
            command.arg("-c").arg(format!("{{ {}\n}} 2>&1", example.command));
            let run = run(command.current_dir(repo.path()).env("PATH", path));
            let lines: Vec<&str> = run.stdout.lines().collect();
            assert_eq!(run.status, Some(example.status), "{}: {}\n{}", example.place, example.command, run.stdout);
            assert!(
                all_fit(&example.prints, &lines),
                "{}: {}\n--- printed\n{}\n--- the page says\n{}",
                example.place,
                example.command,
                run.stdout,
                example.prints.join("\n")
            );
        }
    }
    assert!(seen > 2, "only {seen} examples were found");
}

#[test]
fn every_relative_link_leads_somewhere() {
    let mut dead = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            if !page.parent().expect("a folder").join(target).exists() {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
}
