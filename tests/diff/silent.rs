//! Never silent, never noisy: what is a change although it looks like none, and what is none although it looks like one.

use super::{pair, told, yaml};

/// The notes of the changes between two texts under this name, `-` where there is none.
#[track_caller]
fn notes(name: &str, old: &str, new: &str) -> Vec<String> {
    let run = pair(name, old, new, &[]).exits(0);
    run.records("change").iter().map(|c| c["note"].as_str().unwrap_or("-").to_string()).collect()
}

#[test]
fn a_block_text_whose_last_line_break_went_with_the_file_s_is_a_noted_record() {
    let (with, without) = ("a: 1\nb: |\n  x\n", "a: 1\nb: |\n  x");
    assert_eq!(yaml(with, without), [r#"~ b: "x\n" → "x""#]);
    assert_eq!(yaml(without, with), [r#"~ b: "x" → "x\n""#]);
    assert!(notes("a.yaml", with, without)[0].contains("libyaml"));
    assert_eq!(yaml(without, without), [""; 0]);
    // Another kind of text, and another end, are the same to every reader.
    assert_eq!(yaml("b: |-\n  x\n", "b: |-\n  x"), [""; 0]);
    assert_eq!(yaml("b: x\n", "b: x"), [""; 0]);
    let object =
        |end: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  k: |\n    x{end}");
    assert_eq!(yaml(&object("\n"), &object("")), [r#"~ {ConfigMap/a} data.k: "x\n" → "x""#]);
}

#[test]
fn a_key_that_only_a_yaml_11_reader_sees_change_is_a_noted_record() {
    let key = |text: &str| format!(r#"{{"$flecto":"key","text":{}}}"#, serde_json::to_string(text).expect("JSON"));
    for (old, new, path, before, after) in [
        ("on: x\n", "\"on\": x\n", "['on']", "true", "\"on\""),
        ("'yes': x\n", "yes: x\n", "['yes']", "\"yes\"", "true"),
        ("no: x\n", "!!str no: x\n", "['no']", "false", "\"no\""),
        ("OFF: x\n", "\"OFF\": x\n", "['OFF']", "false", "\"OFF\""),
        ("y: x\n", "\"y\": x\n", "['y']", "true", "\"y\""),
        ("0o17: x\n", "15: x\n", "[?15]", "\"0o17\"", "15"),
        ("017: x\n", "17: x\n", "[?17]", "15", "17"),
        ("1_000: x\n", "\"1_000\": x\n", "['1_000']", "1000", "\"1_000\""),
        ("1:30: x\n", "\"1:30\": x\n", "['1:30']", "90", "\"1:30\""),
        ("2020-01-01: x\n", "\"2020-01-01\": x\n", "['2020-01-01']", "2020-01-01", "\"2020-01-01\""),
        ("- {id: 1, on: x}\n", "- {id: 1, \"on\": x}\n", "[id=1]['on']", "true", "\"on\""),
        ("a: [1, {on: x}]\n", "a: [1, {\"on\": x}]\n", "a[1]['on']", "true", "\"on\""),
        ("a.yaml: |\n  on: x\n", "a.yaml: |\n  'on': x\n", "['a.yaml']!['on']", "true", "\"on\""),
    ] {
        assert_eq!(yaml(old, new), [format!("~ {path}: {} → {}", key(before), key(after))], "{old}");
        let note = &notes("a.yaml", old, new)[0];
        assert!(note.starts_with("the key is the same to a YAML 1.2 reader; a YAML 1.1 reader sees"), "{note}");
    }
    // Where the value changed as well, it is one record with both.
    assert_eq!(yaml("on: x\n", "\"on\": z\n"), [r#"~ ['on']: "x" → "z""#]);
    assert!(notes("a.yaml", "on: x\n", "\"on\": z\n")[0].contains("a bool become a string"));
    // The place is the key's.
    let run = pair("a.yaml", "a: 1\non: x\n", "a: 1\n\n\"on\": x\n", &[]).exits(0);
    let change = &run.records("change")[0];
    assert_eq!(
        (change["line"].as_u64(), change["column"].as_u64(), change["before_line"].as_u64()),
        (Some(3), Some(1), Some(2))
    );
    // The same to every reader, or written as it was.
    for (old, new) in [
        ("on: x\n", "on:   x # y\n"),
        ("0x10: x\n", "16: x\n"),
        ("'on': x\n", "\"on\": x\n"),
        ("on: x\na: 1\n", "a: 1\non: x\n"),
    ] {
        assert_eq!(yaml(old, new), Vec::<String>::new(), "{old}");
    }
    // Read as 1.1 in the first place, the key itself is another one.
    assert_eq!(yaml("%YAML 1.1\n---\non: x\n", "%YAML 1.1\n---\n\"on\": x\n").len(), 2);
    assert_eq!(yaml("%YAML 1.1\n---\ny: x\n", "%YAML 1.1\n---\n\"y\": x\n"), Vec::<String>::new());
    assert_eq!(yaml("%YAML 1.1\n---\non: x\n", "---\non: x\n").len(), 2);
}

#[test]
fn an_interpolation_that_lost_its_quotes_is_said_to_be_the_same_value() {
    let note = |old: &str, new: &str| notes("a.tf", &format!("x = {old}\n"), &format!("x = {new}\n")).join("|");
    assert_eq!(note("\"${var.x}\"", "var.x"), "the same value: a string that is one interpolation is what is in it");
    assert_eq!(note("max(var.x, 1)", "\"${max(var.x, 1)}\""), note("\"${var.x}\"", "var.x"));
    assert_eq!(note("\"${var.x}\"", "var.y"), "-");
    assert_eq!(note("\"${var.x}${var.y}\"", "var.x"), "-");
}

#[test]
fn a_float_as_a_key_is_the_same_however_it_is_written() {
    assert_eq!(yaml("1.5: x\n", "1.50: x\n"), Vec::<String>::new());
    assert_eq!(yaml("1.5: x\n", "1.50: y\n"), [r#"~ [?1.50]: "x" → "y""#]);
    assert_eq!(yaml("1.5: x\n", "15e-1: x\n2.5: x\n"), [r#"+ [?2.5]: "x""#]);
    assert_eq!(yaml("1.5: x\n", "1.51: x\n").len(), 2);
    // In one map they are two, as many a reader's last one wins.
    assert_eq!(yaml("1.5: x\n1.50: y\n", "1.5: y\n1.50: x\n").len(), 2);
    assert_eq!(yaml("1.5: x\n1.50: y\n", "1.50: y\n"), [r#"- [?1.5]: "x""#]);
    // As one of many.
    let many = |last: &str| (0..40).map(|n| format!("{n}.5: x\n")).collect::<String>() + last;
    assert_eq!(yaml(&many("50.5: x\n"), &many("50.50: x\n")), Vec::<String>::new());
}

#[test]
fn an_item_that_only_a_yaml_11_reader_sees_change_and_that_moved_is_both_told() {
    assert_eq!(
        yaml("a: [no, x]\n", "a: [x, \"no\"]\n"),
        [r#"% a: ["no","x"] → ["x","no"]"#, r#"~ a[1]: false → "no""#]
    );
    assert_eq!(yaml("a: [no, x]\n", "a: [x, no]\n"), [r#"% a: ["no","x"] → ["x","no"]"#]);
    assert_eq!(yaml("a: [no, x]\n", "a: [\"no\", x]\n"), [r#"~ a[0]: false → "no""#]);
}

#[test]
fn a_letter_that_go_yaml_takes_for_a_boolean_is_a_noted_change() {
    assert_eq!(yaml("a: y\n", "a: \"y\"\n"), [r#"~ a: true → "y""#]);
    assert_eq!(yaml("a: 'N'\n", "a: N\n"), [r#"~ a: "N" → false"#]);
    assert_eq!(yaml("a: y\n", "a: n\n"), [r#"~ a: "y" → "n""#]);
}

#[test]
fn types_and_tags_are_part_of_a_value() {
    let tagged = |tag: &str, value: &str| format!(r#"{{"$flecto":"tagged","tag":"{tag}","value":{value}}}"#);
    for (old, new, expected, note) in [
        ("a: 5\n", "a: !!str 5\n", r#"~ a: 5 → "5""#.to_string(), "the type changed: int → string"),
        ("a: ! 1\n", "a: 1\n", r#"~ a: "1" → 1"#.into(), "the type changed: string → int"),
        ("a: 1\n", "a: 1.0\n", "~ a: 1 → 1.0".into(), "the type changed: int → float"),
        ("a: !!float 1\n", "a: 1\n", "~ a: 1 → 1".into(), "the type changed: float → int"),
        ("a: true\n", "a: 'true'\n", r#"~ a: true → "true""#.into(), "the type changed: bool → string"),
        ("a: null\n", "a: 'null'\n", r#"~ a: null → "null""#.into(), "the type changed: null → string"),
        ("a: ~\n", "a: ''\n", r#"~ a: null → """#.into(), "-"),
        (
            "a: !x {b: 1}\n",
            "a: {b: 1}\n",
            format!("~ a: {} → {{\"b\":1}}", tagged("!x", "{\"b\":1}")),
            "the tag changed: !x → none",
        ),
        ("a: !x\n", "a:\n", format!("~ a: {} → null", tagged("!x", "null")), "the tag changed: !x → none"),
        (
            "a: !x z\n",
            "a: !y z\n",
            format!("~ a: {} → {}", tagged("!x", "\"z\""), tagged("!y", "\"z\"")),
            "the tag changed: !x → !y",
        ),
        (
            "a: !!set {b}\n",
            "a: {b}\n",
            format!("~ a: {} → {{\"b\":null}}", tagged("!!set", "{\"b\":null}")),
            "the tag changed: !!set → none",
        ),
        ("!x\n", "\n", format!("- $: {}", tagged("!x", "null")), "-"),
    ] {
        assert_eq!(yaml(old, new), [expected], "{old}");
        assert_eq!(notes("a.yaml", old, new), [note], "{old}");
    }
    for (old, new, note) in [
        ("200: x\n", "\"200\": x\n", "the key was an int and is a string now"),
        ("true: x\n", "\"true\": x\n", "the key was a bool and is a string now"),
        ("null: x\n", "\"null\": x\n", "the key was a null and is a string now"),
    ] {
        assert_eq!(notes("a.yaml", old, new), [note], "{old}");
    }
}

#[test]
fn white_space_in_a_value_is_part_of_it() {
    for (old, new, note) in [
        ("a: |\n  x\n", "a: |-\n  x\n", "only the line breaks at the end differ: \\n → none"),
        ("a: |\n  x\n", "a: |+\n  x\n\n", "only the line breaks at the end differ: \\n → \\n\\n"),
        ("a: \"x\\r\\ny\"\n", "a: \"x\\ny\"\n", "only white space differs"),
        ("a: \"x\\r\\n\"\n", "a: \"x\\n\"\n", "only the line breaks at the end differ: \\r\\n → \\n"),
        ("a: ''\n", "a: ' '\n", "only white space differs"),
        ("a: \"\\ufeffx\"\n", "a: x\n", "looks the same: only invisible characters differ"),
    ] {
        assert_eq!(notes("a.yaml", old, new), [note], "{old}");
    }
    assert_eq!(notes("a.json", r#"{"a": "x\r\ny"}"#, r#"{"a": "x\ny"}"#), ["only white space differs"]);
}

#[test]
fn what_is_written_otherwise_and_says_the_same_is_no_change() {
    for (name, old, new) in [
        ("a.yaml", "a: &x 1\nb: *x\n", "a: 1\nb: 1\n"),
        ("a.yaml", "a: &x {c: 1}\nb: {<<: *x}\n", "a: {c: 1}\nb: {c: 1}\n"),
        ("a.yaml", "a: &unused 1\n", "a: 1\n"),
        ("a.yaml", "a: 1.50\nb: 1e3\nc: 0x10\nd: +1\n", "a: 1.5\nb: 1000.0\nc: 16\nd: 1\n"),
        ("a.yaml", "%YAML 1.2\n---\na: 5\n", "a: 5\n"),
        ("a.yaml", "%TAG !e! tag:example.org,2000:\n---\na: 5\n", "a: 5\n"),
        ("a.yaml", "\u{feff}a: 1\n", "a: 1\n"),
        ("a.json", "\u{feff}{\"a\": 1}", "{\"a\": 1}"),
        ("a.json", "{\"a\": \"\\u0061\"}", "{\"a\": \"a\"}"),
        ("a.toml", "a = 1979-05-27T07:32:00Z\n", "a = 1979-05-27 07:32:00Z\n"),
        // As IEEE 754 compares them.
        ("a.yaml", "a: 0.0\n", "a: -0.0\n"),
        ("a.json", "{\"a\": 0}", "{\"a\": -0.0}"),
        // An empty document says nothing, whatever it is written with.
        ("a.yaml", "", "# a comment\n"),
        ("a.yaml", "", "null\n"),
        ("a.yaml", "a: 1\n---\nb: 1\n", "a: 1\n---\n---\nb: 1\n"),
        ("a.toml", "", "# a comment\n"),
        ("a.yaml", "a: x\r\n", "a: x\n"),
        ("a.yaml", "a: |\r\n  x\r\n  y\r\n", "a: |\n  x\n  y\n"),
        ("a.yaml", "x.json: '{\"a\": 1}'\n", "x.json: '{ \"a\": 1.0 }'\n"),
    ] {
        assert_eq!(told(&pair(name, old, new, &[]).exits(0)), Vec::<String>::new(), "{name} {old:?} {new:?}");
    }
}

#[test]
fn nothing_an_empty_map_and_null_are_three_things() {
    assert_eq!(yaml("", "{}\n"), ["+ $: {}"]);
    assert_eq!(yaml("", "[]\n"), ["+ $: []"]);
    assert_eq!(yaml("# gone\n", "''\n"), [r#"+ $: """#]);
    assert_eq!(yaml("null\n", "{}\n"), ["+ $: {}"]);
    assert_eq!(yaml("a: 1\n", "# a: 1\n"), [r#"- $: {"a":1}"#]);
    assert_eq!(yaml("a:\n", "{}\n"), ["- a: null"]);
    let json = |old: &str, new: &str| told(&pair("a.json", old, new, &[]).exits(0));
    assert_eq!(json("{}", "null"), ["~ $: {} → null"]);
    assert_eq!(json("{}", "[]"), ["~ $: {} → []"]);
    assert_eq!(told(&pair("a.toml", "", "[a]\n", &[]).exits(0)), ["+ a: {}"]);
    assert_eq!(told(&pair("a.ini", "a\n", "a=\n", &[]).exits(0)), [r#"~ a: null → """#]);
}

#[test]
fn what_is_there_twice_is_never_passed_over() {
    let json = ("{\"a\": 1}", "{\"a\": 1, \"a\": 1}", "`a` stands in this map twice");
    let toml = ("a = 1\n", "a = 1\na = 1\n", "`a` is defined a second time");
    for (name, (once, twice, says)) in [("a.yaml", json), ("a.json", json), ("a.toml", toml)] {
        let run = pair(name, once, twice, &[]).exits(2);
        assert!(run.stderr.contains(says), "{}", run.stderr);
        let run = pair(name, twice, once, &[]).exits(2);
        assert_eq!(run.records("file")[0]["side"], "before");
    }
    assert_eq!(told(&pair("a.ini", "a=1\na=1\n", "a=1\n", &[]).exits(0)), [r#"~ a: ["1","1"] → "1""#]);
    assert_eq!(yaml("[a, a, b]\n", "[a, b]\n").len(), 1);
    assert_eq!(yaml("a: 1\n", "a: 1\n---\na: 1\n"), [r#"+ {1} $: {"a":1}"#]);
}
