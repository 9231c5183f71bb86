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
