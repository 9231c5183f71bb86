//! `--ignore` and `--neat`: also parts of what was added, removed or became something of another kind.

use super::{folder, pair, told};
use crate::support;

fn run(old: &str, new: &str, options: &[&str]) -> (Vec<String>, String) {
    let run = pair("a.yaml", old, new, options).exits(0);
    (told(&run), run.stderr)
}

#[test]
fn parts_drop_out_of_added_and_removed_values() {
    let whole = "a: 1\nweb: {image: x, meta: {checksum: abc, by: me}, list: [{name: p, checksum: q}, {name: r}]}\n";
    let left = r#"web: {"image":"x","list":[{"name":"p"},{"name":"r"}],"meta":{"by":"me"}}"#;
    let (changes, said) = run("a: 1\n", whole, &["--ignore", "**.checksum"]);
    assert_eq!(changes, [format!("+ {left}")]);
    assert!(said.contains("2 changes left out by --ignore"), "{said}");
    let (changes, _) = run(whole, "a: 1\n", &["--ignore", "**.checksum"]);
    assert_eq!(changes, [format!("- {left}")]);
    // What a part is called: by place, by identity, as an entry.
    for (pattern, left) in [
        ("web.list[0]", r#"[{"name":"r"}]"#),
        ("web.list[name=r]", r#"[{"checksum":"q","name":"p"}]"#),
        ("web.list[*].name", r#"[{"checksum":"q"}]"#),
    ] {
        let (changes, _) =
            run("a: 1\n", whole, &["--ignore", pattern, "--ignore", "web.image", "--ignore", "web.meta"]);
        assert_eq!(changes, [format!(r#"+ web: {{"list":{left}}}"#)], "{pattern}");
    }
    let (changes, _) = run("a: 1\n", "a: 1\nc: {env: [A=1, B=2]}\n", &["--ignore", "c.env[@A]"]);
    assert_eq!(changes, [r#"+ c: {"env":["B=2"]}"#]);
    // What does not match inside stays whole, and so does what was empty before.
    let (changes, said) = run("a: 1\n", "a: 1\nb: {c: {}, d: []}\n", &["--ignore", "b.x", "--ignore", "x"]);
    assert_eq!((changes, said), (vec![r#"+ b: {"c":{},"d":[]}"#.to_string()], String::new()));
}

#[test]
fn a_value_of_which_nothing_is_left_is_no_change() {
    let (changes, said) = run("a: 1\n", "a: 1\nweb: {meta: {checksum: abc}}\n", &["--ignore", "**.checksum"]);
    assert_eq!(changes, Vec::<String>::new());
    assert!(said.contains("1 change left out by --ignore"), "{said}");
    let (changes, _) = run("a: 1\n", "a: 1\nweb: {x: 1, y: 2}\n", &["--ignore", "web.*"]);
    assert_eq!(changes, Vec::<String>::new());
    // A whole document, and a whole file.
    let (changes, _) = run("", "a: 1\nb: {c: 1}\n", &["--ignore", "a", "--ignore", "b.c"]);
    assert_eq!(changes, Vec::<String>::new());
}

#[test]
fn a_value_of_another_kind_is_told_without_the_part() {
    let (changes, _) = run("a: {x: 1, sum: 2}\n", "a: text\n", &["--ignore", "a.sum"]);
    assert_eq!(changes, [r#"~ a: {"x":1} → "text""#]);
    let (changes, _) = run("a: text\n", "a: {sum: 2}\n", &["--ignore", "a.sum"]);
    assert_eq!(changes, [r#"~ a: "text" → {}"#]);
}

#[test]
fn what_a_cluster_writes_drops_out_of_a_new_object() {
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, uid: u, managedFields: [1]}\ndata: {x: z}\nstatus: {z: 1}\n";
    let (changes, said) = run("", object, &["--neat"]);
    assert_eq!(
        changes,
        [r#"+ {ConfigMap/a} $: {"apiVersion":"v1","data":{"x":"z"},"kind":"ConfigMap","metadata":{"name":"a"}}"#]
    );
    assert!(said.contains("3 changes left out by --neat"), "{said}");
    // Both together.
    let (changes, said) = run("", object, &["--neat", "--ignore", "data", "--ignore", "metadata.name"]);
    assert_eq!(changes, [r#"+ {ConfigMap/a} $: {"apiVersion":"v1","kind":"ConfigMap"}"#]);
    assert!(said.contains("by --neat") && said.contains("by --ignore"), "{said}");
}

#[test]
fn wide_values_and_many_patterns_end_soon() {
    let mut text = String::from("a: 1\nb:\n");
    for n in 0..20_000 {
        text.push_str(&format!("  k{n}: {{x: {n}, y: [1, 2]}}\n"));
    }
    let dir = folder(&[("old.yaml", b"a: 1\n"), ("new.yaml", text.as_bytes())]);
    let mut command = support::program("flecto-diff");
    command.args(["--no-index", "old.yaml", "new.yaml"]).current_dir(dir.path());
    for n in 0..50 {
        command.args(["--ignore", &format!("**.k{n}.*.**.x{n}")]).args(["--ignore", &format!("b.k{n}")]);
    }
    let run = support::run(&mut command).exits(0);
    assert!(run.stderr.contains("50 changes left out"), "{}", run.stderr);
}
