//! Text: E1 to the byte, values told apart, nothing that acts.

use super::sample::{README, TWENTY, render};

#[test]
fn e1_header_changes_then_findings_to_the_byte() {
    let run = render([], README).exits(1);
    assert_eq!(
        run.stdout,
        "config/prod.yaml — 2 changes from origin/main:\n\
         \x20 ~ db.pool_size: 5 → 20\n\
         \x20 ~ debug: false → true\n\
         \x20 ! policy(warn) [default] db.pool_size: Pool size increased from 5 to 20 (>=2x).\n\
         \x20 ! policy(error) [default] debug: Potentially dangerous toggle enabled.\n"
    );
    assert_eq!(run.stderr, "");
    assert_eq!(render(["--format", "text"], README).stdout, run.stdout);
}

#[test]
fn e1_every_kind_of_file_and_value() {
    let run = render([], TWENTY).exits(2);
    assert_eq!(
        run.stdout,
        "a/new.env — 1 change from origin/main to HEAD:\n\
         \x20 (new file)\n\
         \x20 + LOG_LEVEL: \"debug\"\n\
         a/old.json — 1 change from origin/main to HEAD:\n\
         \x20 (file removed)\n\
         \x20 - $: {\"x\":[1,\"1\",null],\"y\":{}}\n\
         broken.yaml — not compared (the new side): 12:3: mapping values are not allowed here\n\
         deploy/api.yaml — 6 changes from origin/main to HEAD:\n\
         \x20 (renamed from deploy/web.yaml)\n\
         \x20 ~ [Deployment/prod/api] spec.replicas: 3 → \"3\"\n\
         \x20 ~ [Deployment/prod/api] spec.args: [\"a\",\"b\"] → [\"b\",\"a\"] (order)\n\
         \x20 ~ [Secret/prod/db] data.token: <encrypted:sops:0123456789ab> → <no longer encrypted>\n\
         \x20 ~ [Secret/prod/db] big: 12345678901234567890123 → 2033-12-20 (another type)\n\
         \x20 ~ [ConfigMap/prod/app] data['app.yaml']!server.port: 80 → 8080\n\
         \x20 ~ [ConfigMap/prod/app] data['app.yaml']!db.password: *** → ***\n\
         \x20 ! policy(info) [Deployment/prod/api] spec.replicas: A number became a string.\n\
         \x20 ! policy(error, accepted) [default] [Secret/prod/db] data.token: An encrypted value is now in the clear. (accepted: rotated, see runbook)\n\
         \x20 ! policy(warn) [default] [ConfigMap/prod/app] data['app.yaml']!server.port: The port changed from 80 to 8080.\n\
         layout.yaml — no changes from origin/main to HEAD\n\
         warning: duplicate keys in a.yaml: the last one counts\n\
         incomplete: 1 file could not be compared\n"
    );
}

#[test]
fn e1_no_change_at_all() {
    let whole = |files: u64| {
        format!(
            "{{\"type\":\"start\",\"version\":1,\"baseline\":\"origin/main\"}}\n{{\"type\":\"end\",\"files\":{files},\"differing\":0,\"changes\":0,\"errors\":0,\"complete\":true}}\n"
        )
    };
    assert_eq!(render([], &whole(3)).exits(0).stdout, "no changes from origin/main in 3 files\n");
    assert_eq!(render([], &whole(1)).exits(0).stdout, "no changes from origin/main in 1 file\n");
    let named = whole(1).replace(
        "{\"type\":\"end\"",
        "{\"type\":\"file\",\"file\":\"config/prod.yaml\",\"format\":\"yaml\",\"status\":\"unchanged\"}\n{\"type\":\"end\"",
    );
    assert_eq!(render([], &named).exits(0).stdout, "config/prod.yaml — no changes from origin/main\n");
}

#[test]
fn e1_colour_only_when_asked_for_where_there_is_no_terminal() {
    let plain = render([], README).stdout;
    assert_eq!(render(["--color", "never"], README).stdout, plain);
    assert!(!plain.contains('\x1b'));
    let coloured = render(["--color", "always"], README).stdout;
    assert!(coloured.contains('\x1b'));
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once("\x1b[") {
        stripped.push_str(before);
        rest = after.split_once('m').expect("the end of a sequence").1;
    }
    stripped.push_str(rest);
    assert_eq!(stripped, plain);
}

#[test]
fn a_cut_out_change_is_shown_alone() {
    let change = README.lines().nth(2).expect("a change");
    let run = render(["--partial"], &format!("{change}\n")).exits(0);
    assert_eq!(
        run.stdout,
        "config/prod.yaml — 1 change:\n  ~ db.pool_size: 5 → 20\nincomplete: the stream has no `end` record\n"
    );
}

#[test]
fn long_values_show_both_ends_and_their_length() {
    let long = "A".repeat(102_400);
    let input = format!(
        "{{\"type\":\"change\",\"file\":\"f.yaml\",\"path\":\"k\",\"op\":\"changed\",\"before\":\"{long}\",\"after\":\"{}\"}}\n",
        "😀".repeat(25_600)
    );
    let out = render(["--partial"], &input).stdout;
    assert!(out.contains("102400 characters") && out.contains("25600 characters"), "{out}");
    assert!(out.lines().all(|line| line.len() < 2_000));
}

#[test]
fn long_values_that_differ_in_the_middle_show_the_difference_in_every_format_for_people() {
    let long = |middle: &str| format!("{}{middle}{}", "a".repeat(400), "z".repeat(400));
    let stream = format!(
        "{{\"type\":\"start\",\"version\":1,\"baseline\":\"HEAD\"}}\n\
         {{\"type\":\"file\",\"file\":\"a.yaml\",\"status\":\"modified\"}}\n\
         {{\"type\":\"change\",\"file\":\"a.yaml\",\"path\":\"k\",\"op\":\"changed\",\"before\":\"{}\",\"after\":\"{}\"}}\n\
         {{\"type\":\"end\",\"files\":1,\"differing\":1,\"changes\":1,\"errors\":0,\"complete\":true}}\n",
        long("OLD"),
        long("NEW"),
    );
    for format in ["text", "pr-comment", "markdown", "github-annotations", "html"] {
        let run = render(["--format", format], &stream).exits(0);
        assert!(run.stdout.contains("aOLDz") && run.stdout.contains("aNEWz"), "{format}: {}", run.stdout);
    }
}

#[test]
fn an_unreadable_file_that_was_renamed_names_what_it_was() {
    let stream = "{\"type\":\"start\",\"version\":1,\"baseline\":\"HEAD\"}\n\
        {\"type\":\"file\",\"file\":\"new.yaml\",\"status\":\"error\",\"from\":\"old.yaml\",\"side\":\"after\",\"error\":\"1:1: no\"}\n\
        {\"type\":\"end\",\"files\":1,\"differing\":0,\"changes\":0,\"errors\":1,\"complete\":false}\n";
    let run = render([], stream).exits(2);
    assert!(run.stdout.contains("\n  (renamed from old.yaml)\n"), "{}", run.stdout);
}

#[test]
fn r3_active_characters_are_visible_everywhere_in_text() {
    let nasty = "a\\u200bb\\u202ec\\u001b[2Jd\\ne\\rf";
    let input = TWENTY
        .replace("LOG_LEVEL", nasty)
        .replace("a/new.env", &format!("a/{nasty}"))
        .replace("\"debug\"", &format!("\"{nasty}\""))
        .replace("another type", nasty)
        .replace("A number became a string.", nasty)
        .replace("Secret/prod/db", nasty)
        .replace("rotated, see runbook", nasty)
        .replace("origin/main", nasty)
        .replace("deploy/web.yaml", nasty)
        .replace("12:3: mapping values", nasty)
        .replace("duplicate keys", nasty);
    let out = render([], &input).exits(2).stdout;
    assert_eq!(out.lines().count(), render([], TWENTY).stdout.lines().count());
    assert_eq!(out.matches("a\\u{200b}b\\u{202e}c\\u{1b}[2Jd\\ne\\rf").count(), 16, "{out}");
    assert!(out.chars().all(|c| c == '\n' || !flecto::text::is_active(c)));
}
