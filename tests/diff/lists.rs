//! Lists: what belongs together, and what order says.

use super::{pair, told, yaml};

#[test]
fn items_are_matched_by_what_they_call_themselves() {
    assert_eq!(
        yaml(
            "c:\n- {name: a, v: 1}\n- {name: b, v: 2}\n",
            "c:\n- {name: a, v: 1}\n- {name: b, v: 3}\n- {name: x, v: 0}\n"
        ),
        ["~ c[name=b].v: 2 → 3", r#"+ c[name=x]: {"name":"x","v":0}"#]
    );
    // Not where one name is there twice.
    assert_eq!(
        yaml("c:\n- {name: a, v: 1}\n- {name: a, v: 2}\n", "c:\n- {name: a, v: 1}\n- {name: a, v: 3}\n"),
        ["~ c[1].v: 2 → 3"]
    );
    assert_eq!(
        yaml(
            "ports:\n- {containerPort: 53, protocol: TCP}\n- {containerPort: 53, protocol: UDP}\n",
            "ports:\n- {containerPort: 53, protocol: TCP, hostPort: 1}\n- {containerPort: 53, protocol: UDP}\n"
        ),
        ["+ ports[containerPort=53,protocol=TCP].hostPort: 1"]
    );
    // A weak name is one only where it ties the two lists together.
    assert_eq!(
        yaml("files:\n- {path: /a, m: 1}\n", "files:\n- {path: /b, m: 1}\n"),
        [r#"~ files[0].path: "/a" → "/b""#]
    );
}

#[test]
fn an_item_that_only_changed_its_name_is_one_change() {
    let list =
        |names: &[(&str, u8)]| names.iter().map(|(n, v)| format!("- {{name: {n}, v: {v}}}\n")).collect::<String>();
    assert_eq!(yaml(&list(&[("a", 1), ("b", 2)]), &list(&[("a", 1), ("x", 2)])), [r#"~ [1].name: "b" → "x""#]);
    // Not where it stands elsewhere, changed, too, or could be another.
    assert_eq!(yaml(&list(&[("a", 1), ("b", 2)]), &list(&[("x", 2), ("a", 1)])).len(), 2);
    assert_eq!(yaml(&list(&[("a", 1), ("b", 2)]), &list(&[("a", 1), ("x", 3)])).len(), 2);
    assert_eq!(yaml(&list(&[("a", 1), ("b", 1)]), &list(&[("x", 1), ("y", 1)])).len(), 4);
}

#[test]
fn one_insertion_is_one_addition_and_order_is_one_record() {
    assert_eq!(yaml("[a, b, c]\n", "[x, a, b, c]\n"), [r#"+ [0]: "x""#]);
    assert_eq!(yaml("[a, b, c]\n", "[a, c]\n"), [r#"- [1]: "b""#]);
    assert_eq!(yaml("[a, b, c]\n", "[c, a, b]\n"), [r#"% $: ["a","b","c"] → ["c","a","b"]"#]);
    assert_eq!(
        yaml("[{name: a}, {name: b}]\n", "[{name: b}, {name: x}, {name: a}]\n"),
        [r#"% $: ["a","b"] → ["b","a"]"#, r#"+ [name=x]: {"name":"x"}"#]
    );
    assert_eq!(yaml("[[1], {a: 1}]\n", "[{a: 1}, [1]]\n"), ["% $: [0,1] → [1,0]"]);
}

#[test]
fn an_edit_in_an_unnamed_map_is_an_edit() {
    let old = "- {from: a, to: b, via: [x, y]}\n- {from: c, to: d}\n- {from: e, to: f}\n";
    let new = "- {from: a, to: b, via: [x, z]}\n- {from: q, to: r}\n- {from: c, to: d2}\n- {from: e, to: f}\n";
    assert_eq!(
        yaml(old, new),
        [r#"~ [0].via[1]: "y" → "z""#, r#"+ [1]: {"from":"q","to":"r"}"#, r#"~ [2].to: "d" → "d2""#]
    );
}

#[test]
fn settings_and_flags_are_matched_by_name() {
    let old = "args: [--port=80, --verbose, --set=a=1, --set=b=2]\n";
    let new = "args: [--port=81, --set=a=1, --set=b=3, --quiet]\n";
    assert_eq!(
        yaml(old, new),
        [
            r#"~ args[@--port]: "80" → "81""#,
            "- args[@--verbose]: null",
            r#"~ args[@--set#2]: "b=2" → "b=3""#,
            "+ args[@--quiet]: null"
        ]
    );
    // Only where every item is one.
    assert_eq!(
        yaml("args: [run, --port=80]\n", "args: [run, --port=81]\n"),
        [r#"~ args[1]: "--port=80" → "--port=81""#]
    );
    // An environment has no order; another list of assignments may.
    assert_eq!(yaml("environment: [A=1, B=2]\n", "environment: [B=2, A=1]\n"), Vec::<String>::new());
    assert_eq!(yaml("steps: [A=1, B=2]\n", "steps: [B=2, A=1]\n"), [r#"% steps: ["A","B"] → ["B","A"]"#]);
}

#[test]
fn order_and_keys_can_be_chosen() {
    let changes = |options: &[&str], old: &str, new: &str| told(&pair("a.yaml", old, new, options).exits(0));
    let (old, new) = ("a: [1, 2]\nb: [1, 2]\n", "a: [2, 1]\nb: [2, 1]\n");
    assert_eq!(changes(&["--ignore-order"], old, new), Vec::<String>::new());
    assert_eq!(changes(&["--ignore-order=a"], old, new), ["% b: [1,2] → [2,1]"]);
    assert_eq!(changes(&["--ignore-order"], "[1, 2, 2]\n", "[2, 1]\n"), ["- [2]: 2"]);
    let (old, new) = ("r:\n- {from: a, to: x}\n- {from: b, to: y}\n", "r:\n- {from: b, to: z}\n- {from: a, to: x}\n");
    assert_eq!(changes(&["--list-key", "r=from", "--ignore-order"], old, new), [r#"~ r[from=b].to: "y" → "z""#]);
}

#[test]
fn what_is_most_alike_belongs_together() {
    // The first item is gone, the second edited, a third is new: no item becomes its neighbour.
    assert_eq!(
        yaml("[alpine:3.18, registry/app:1.4]\n", "[registry/app:1.5, postgres:16]\n"),
        [r#"- [0]: "alpine:3.18""#, r#"~ [0]: "registry/app:1.4" → "registry/app:1.5""#, r#"+ [1]: "postgres:16""#]
    );
    let url = |host: &str, page: &str| format!("https://{host}.example.org/{page}");
    let list = |urls: &[String]| format!("- {}\n", urls.join("\n- "));
    let old = list(&[url("one", "a"), url("two", "some/long/page")]);
    let new = list(&[url("two", "some/long/page2"), url("three", "b")]);
    assert!(
        yaml(&old, &new).contains(&format!(
            "~ [0]: \"{}\" → \"{}\"",
            url("two", "some/long/page"),
            url("two", "some/long/page2")
        )),
        "{:?}",
        yaml(&old, &new)
    );
    // Maps without a name.
    let old = "- {t: x, p: 1, q: 1, r: 1}\n- {t: x, p: 2, q: 2, r: 2}\n";
    let new = "- {t: x, p: 2, q: 2, r: 3}\n- {t: x, p: 9, q: 9, r: 9}\n";
    assert_eq!(
        yaml(old, new),
        [r#"- [0]: {"p":1,"q":1,"r":1,"t":"x"}"#, "~ [0].r: 2 → 3", r#"+ [1]: {"p":9,"q":9,"r":9,"t":"x"}"#]
    );
}

#[test]
fn an_item_that_became_another_at_its_place_is_a_change() {
    assert_eq!(yaml("[a, b, c]\n", "[a, x, c]\n"), [r#"~ [1]: "b" → "x""#]);
    assert_eq!(yaml("[a, b, c]\n", "[p, q, r]\n").len(), 3);
    assert_eq!(yaml("[10, 20, 30]\n", "[10, 25, 30]\n"), ["~ [1]: 20 → 25"]);
    assert_eq!(yaml("[a, b]\n", "[a, x, y]\n"), [r#"~ [1]: "b" → "x""#, r#"+ [2]: "y""#]);
}

#[test]
fn a_removed_value_points_at_what_held_it() {
    let parent = |old: &str, new: &str| -> Vec<Option<u64>> {
        let run = pair("a.yaml", old, new, &[]).exits(0);
        run.records("change").iter().map(|c| c["parent_line"].as_u64()).collect()
    };
    let old = "a: 1\ndb:\n  host: h\n  pool: {size: 5, wait: 1}\nlist:\n- {name: x, v: 1, w: 2}\n- {name: y}\nenv: [A=1, B=2]\n";
    let new = "a: 1\n\ndb:\n  pool: {size: 5}\nlist:\n- {name: x, v: 1}\nenv: [A=1]\n";
    // db.host under `db`, db.pool.wait under `pool`, w under its item, the item under `list`, B under `env`.
    assert_eq!(parent(old, new), [3, 4, 6, 5, 7].map(Some));
    // At the top: the document's own line; a document that is gone has none, and neither has what is still there.
    assert_eq!(parent("# x\na: 1\nb: 2\n", "# x\n\na: 1\n"), [Some(3)]);
    assert_eq!(parent("a: 1\n", ""), [None]);
    assert_eq!(parent("a: 1\n", "a: 2\nb: 1\n"), [None, None]);
    // In a document in a string.
    assert_eq!(parent("x: |\n  p:\n    q: 1\n    r: 1\n", "x: |\n  p:\n    q: 1\n"), [Some(2)]);
}

#[test]
fn build_args_are_variables_and_of_a_long_list_what_moved_is_told() {
    let args = |parent: &str, args: &str| format!("services: {{x: {{{parent}: {{args: [{args}]}}}}}}\n");
    assert_eq!(yaml(&args("build", "A=1, B=2"), &args("build", "B=2, A=1")), Vec::<String>::new());
    assert_eq!(yaml(&args("run", "A=1, B=2"), &args("run", "B=2, A=1")).len(), 1);
    let run = pair("a.yaml", "a: [1, 2, 3, 4, 5, 6, 7, 8, 9]\n", "a: [9, 1, 2, 3, 4, 5, 6, 7, 8]\n", &[]).exits(0);
    assert_eq!(run.records("change")[0]["note"].as_str(), Some("1 of 9 items moved: [8] → [0]"));
}
