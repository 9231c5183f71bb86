//! html: one page, and what a real browser makes of it.

#![allow(clippy::print_stderr, reason = "a skipped check says so")]

use super::hostile::{ATTACKS, stream_with};
use super::sample::{NARRATION, TWENTY, render};
use std::process::Command;

/// What the page is after its script has run, or `None` where no browser is.
fn in_browser(page: &str, fragment: &str) -> Option<String> {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("page.html");
    std::fs::write(&file, page).expect("a page");
    let mut command = Command::new("chromium");
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom"]);
    command.arg(format!("--user-data-dir={}", dir.path().join("profile").display()));
    command.env("HOME", dir.path()).arg(format!("file://{}{fragment}", file.display()));
    let Ok(output) = command.output() else {
        eprintln!("not checked here: the page in a browser; chromium is missing");
        return None;
    };
    let dom = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(dom.contains("</html>"), "{dom}\n{}", String::from_utf8_lossy(&output.stderr));
    Some(dom)
}

#[test]
fn the_page_needs_nothing_from_elsewhere_and_holds_no_model_text() {
    let page = render(["--format", "html"], &format!("{TWENTY}{NARRATION}")).exits(2).stdout;
    assert_eq!(page, render(["--format", "html"], TWENTY).stdout);
    for elsewhere in ["http://", "https://", "src=", "href=", "url(", "@import"] {
        assert!(!page.contains(elsewhere), "{elsewhere}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn in_a_browser_the_filter_and_the_search_work() {
    let page = render(["--format", "html"], TWENTY).exits(2).stdout;
    let Some(all) = in_browser(&page, "") else { return };
    let rows = |dom: &str| {
        let body: Vec<&str> = dom.split("<tr data-kind=").skip(1).collect();
        (body.len(), body.iter().filter(|row| row.split('>').next().is_some_and(|tag| tag.contains("hidden"))).count())
    };
    assert_eq!(rows(&all), (12, 0), "{all}");
    let some = in_browser(&page, "#without=change,info").expect("a browser");
    assert_eq!(rows(&some), (12, 9));
    assert!(some.contains("3 of 12 rows shown"));
    let found = in_browser(&page, "#q=replicas").expect("a browser");
    assert_eq!(rows(&found), (12, 10));
}

#[test]
fn in_a_browser_no_attack_becomes_an_element_or_runs() {
    let records = ["\"type\":\"change\"", "\"type\":\"finding\"", "\"type\":\"file\""];
    let mut input = String::new();
    for attack in ATTACKS {
        let stream = stream_with(attack);
        let kept = stream.lines().filter(|line| records.iter().any(|record| line.contains(record)));
        input.extend(kept.flat_map(|line| [line, "\n"]));
    }
    // What the mask withholds is the mask's to say: `file=/etc/passwd` has a key that names a secret.
    let page = render(["--format", "html", "--partial", "--show-secrets"], &input).exits(0).stdout;
    assert_eq!(page.matches("<script").count(), 1);
    let Some(dom) = in_browser(&page, "") else { return };
    assert_eq!(dom.matches("<script").count(), 1);
    let body = dom.split("</style>").nth(1).expect("a body");
    for element in ["<img", "<details", "<!--", "<error"] {
        assert!(!body.contains(element), "{element}");
    }
}
