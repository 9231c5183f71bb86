//! Documents: which belong together, what each is called, and documents in strings.

use super::{pair, told, yaml};

fn object(kind: &str, name: &str, spec: &str) -> String {
    format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: ns}}\nspec: {spec}\n")
}

#[test]
fn objects_are_matched_by_identity_whatever_their_order_and_number() {
    let (a, b) = (object("Service", "a", "1"), object("Service", "b", "1"));
    assert_eq!(yaml(&a, &object("Service", "a", "2")), ["~ {Service/ns/a} spec: 1 → 2"]);
    assert_eq!(yaml(&format!("{a}---\n{b}"), &format!("{b}---\n{a}")), Vec::<String>::new());
    let changed = format!("{}---\n{}", b, object("Service", "a", "2"));
    assert_eq!(yaml(&format!("{a}---\n{b}"), &changed), ["~ {Service/ns/a} spec: 1 → 2"]);
    assert_eq!(yaml(&format!("{a}---\n{b}"), &b)[0].split(": ").next(), Some("- {Service/ns/a} $"));
    // Another kind or another namespace is another object.
    let other = a.replace("namespace: ns", "namespace: other");
    assert_eq!(yaml(&a, &other).len(), 2);
}

#[test]
fn an_object_survives_what_tools_do_to_it() {
    // A new API version, a group that moved, a generated suffix, a namespace that appears.
    let old = "apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: web}\nspec: 1\n";
    let new = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web}\nspec: 1\n";
    assert_eq!(yaml(old, new), [r#"~ {Ingress/web} apiVersion: "extensions/v1beta1" → "networking.k8s.io/v1""#]);
    let config =
        |name: &str, data: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {data}\n");
    assert_eq!(
        yaml(&config("app-5h2k7f8g9t", "{a: x}"), &config("app-m4c8b2d6fh", "{a: z}")),
        [
            r#"~ {ConfigMap/app-m4c8b2d6fh} metadata.name: "app-5h2k7f8g9t" → "app-m4c8b2d6fh""#,
            r#"~ {ConfigMap/app-m4c8b2d6fh} data.a: "x" → "z""#
        ]
    );
    assert_eq!(
        yaml(
            &config("app", "{}"),
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: prod}\ndata: {}\n"
        ),
        [r#"+ {ConfigMap/prod/app} metadata.namespace: "prod""#]
    );
    // Two groups that both have the kind and the name stay apart.
    let service =
        |group: &str, spec: u8| format!("apiVersion: {group}v1\nkind: Service\nmetadata: {{name: s}}\nspec: {spec}\n");
    let both = |a: u8, b: u8| format!("{}---\n{}", service("", a), service("serving.knative.dev/", b));
    assert_eq!(
        yaml(&both(1, 1), &both(3, 2)),
        ["~ {Service/s} spec: 1 → 3", "~ {Service.serving.knative.dev/s} spec: 1 → 2"]
    );
    assert_eq!(yaml(&both(1, 1), &service("serving.knative.dev/", 1)).len(), 1);
    // `kubectl get -o yaml` prints a list of what the file has one by one.
    let list = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: app}, data: {a: '1'}}\n";
    assert_eq!(yaml(&config("app", "{a: '2'}"), list), [r#"~ {ConfigMap/app} data.a: "2" → "1""#]);
}

#[test]
fn other_documents_by_name_by_content_or_by_place() {
    assert_eq!(
        yaml("name: a\nv: 1\n---\nname: b\nv: 1\n", "name: b\nv: 2\n---\nname: a\nv: 1\n"),
        [r#"% $: ["a","b"] → ["b","a"]"#, "~ {b} v: 1 → 2"]
    );
    assert_eq!(yaml("a: 1\n---\nb: 1\n---\nc: 1\n", "a: 1\n---\nc: 2\n"), [r#"- {1} $: {"b":1}"#, "~ {1} c: 1 → 2"]);
    assert_eq!(yaml("a: 1\n---\nb: 1\n", "b: 1\n---\na: 1\n"), [r#"% $: ["0","1"] → ["1","0"]"#]);
}

#[test]
fn one_document_that_becomes_two_is_not_another_one() {
    assert_eq!(yaml("a: 1\nb: 1\n", "a: 1\nb: 2\n---\nc: 1\n"), ["~ b: 1 → 2", r#"+ {1} $: {"c":1}"#]);
    assert_eq!(yaml("a: 1\nb: 1\n---\nc: 1\n", "a: 1\nb: 2\n"), ["~ b: 1 → 2", r#"- {1} $: {"c":1}"#]);
}

#[test]
fn equal_documents_of_a_manifest_are_passed_over_and_places_stay_right() {
    let doc = |n: usize, spec: usize| object("Service", &format!("s{n}"), &spec.to_string());
    let file =
        |spec: usize| (0..200).map(|n| doc(n, if n == 150 { spec } else { 0 })).collect::<Vec<_>>().join("---\n");
    let run = pair("a.yaml", file(0), file(1), &[]).exits(0);
    assert_eq!(told(&run), ["~ {Service/ns/s150} spec: 0 → 1"]);
    assert_eq!(run.records("change")[0]["line"], 150 * 5 + 4);
}

#[test]
fn documents_in_strings_are_compared_inside() {
    let old = "data:\n  app.yaml: |\n    # pool\n    server:\n      port: 80\n    list: [1, 2]\n  j: '{\"a\": 1, \"b\": [1]}'\n";
    let new =
        "data:\n  app.yaml: |\n    server:\n      port: 81\n    list:\n    - 1\n    - 2\n  j: '{\"b\":[1],\"a\":2}'\n";
    let run = pair("a.yaml", old, new, &[]).exits(0);
    assert_eq!(told(&run), ["~ data['app.yaml']!server.port: 80 → 81", "~ data.j!a: 1 → 2"]);
    assert_eq!(run.records("change")[0]["line"], 4);
    let run = pair("a.yaml", old, new, &["--raw-strings"]).exits(0);
    assert_eq!(run.records("change").len(), 2);
    assert_eq!(run.records("change")[0]["path"], "data['app.yaml']");
}

#[test]
fn prose_and_scripts_are_text() {
    for (old, new) in [
        ("text: |\n  #!/bin/sh\n  a: 1\n", "text: |\n  #!/bin/sh\n  a: 2\n"),
        ("text: |\n  Note this: one\n  Other thing: x\n", "text: |\n  Note this: two\n  Other thing: x\n"),
        ("text: |\n  one\n  two\n", "text: |\n  one\n  three\n"),
        ("text: 'a: 1'\n", "text: 'a: 2'\n"),
    ] {
        let run = pair("a.yaml", old, new, &[]).exits(0);
        assert_eq!(run.records("change")[0]["path"], "text", "{old}");
    }
}

#[test]
fn noise_is_left_out_on_request_and_counted() {
    let object = |generation: u8, replicas: u8| {
        format!(
            "apiVersion: v1\nkind: X\nmetadata: {{name: a, generation: {generation}, labels: {{v: '{generation}'}}}}\nspec: {{r: {replicas}}}\nstatus: {{seen: {generation}}}\n"
        )
    };
    let run = pair("a.yaml", object(1, 1), object(2, 2), &["--neat"]).exits(0);
    assert_eq!(told(&run), [r#"~ {X/a} metadata.labels.v: "1" → "2""#, "~ {X/a} spec.r: 1 → 2"]);
    assert!(run.stderr.contains("2 changes left out by --neat"), "{}", run.stderr);
    let run = pair("a.yaml", object(1, 1), object(2, 2), &["--ignore", "metadata", "--ignore", "*.seen"]).exits(0);
    assert_eq!(told(&run), ["~ {X/a} spec.r: 1 → 2"]);
    assert!(run.stderr.contains("3 changes left out by --ignore"), "{}", run.stderr);
    assert_eq!(run.records("end")[0]["changes"], 1);
}

#[test]
fn a_renamed_object_is_gone_and_new_with_notes_that_name_each_other() {
    let data = |value: &str| format!("{{a: 1, b: 2, c: 3, d: {value}}}");
    let config = |name: &str, value: &str| object("ConfigMap", name, &data(value));
    let notes = |old: &str, new: &str| -> Vec<String> {
        let run = pair("a.yaml", old, new, &[]).exits(0);
        let changes = run.records("change");
        changes
            .iter()
            .map(|c| format!("{} {}", c["op"].as_str().expect("an op"), c["note"].as_str().unwrap_or("-")))
            .collect()
    };
    let (gone, came) = ("removed renamed to ConfigMap/ns/new", "added renamed from ConfigMap/ns/old");
    let sorted = |mut notes: Vec<String>| {
        notes.sort();
        notes
    };
    assert_eq!(sorted(notes(&config("old", "4"), &config("new", "4"))), [came, gone]);
    // Nearly the same.
    assert_eq!(sorted(notes(&config("old", "4"), &config("new", "5"))), [came, gone]);
    // Not another thing, another kind, another namespace, or one of two that are as like.
    let plain = ["added -", "removed -"];
    assert_eq!(sorted(notes(&config("old", "4"), &object("ConfigMap", "new", "{x: 1, y: 2, z: 3, d: 4}"))), plain);
    assert_eq!(sorted(notes(&config("old", "4"), &object("Secret", "new", &data("4")))), plain);
    assert_eq!(
        sorted(notes(&config("old", "4"), &config("new", "4").replace("namespace: ns", "namespace: other"))),
        plain
    );
    let two = format!("{}---\n{}", config("new", "4"), config("newer", "4"));
    assert_eq!(sorted(notes(&config("old", "4"), &two)), ["added -", "added -", "removed -"]);
}

#[test]
fn a_key_whose_value_turns_up_elsewhere_says_where() {
    let notes = |old: &str, new: &str| -> Vec<String> {
        let run = pair("a.yaml", old, new, &[]).exits(0);
        let changes = run.records("change");
        let line = |c: &serde_json::Value| {
            format!("{} {}", c["path"].as_str().expect("a path"), c["note"].as_str().unwrap_or("-"))
        };
        changes.iter().map(line).collect()
    };
    // Moved to another place: only a value that is no chance.
    assert_eq!(
        notes("a: {x: {p: 1, q: 2}}\nb: {}\n", "a: {}\nb: {z: {p: 1, q: 2}}\n"),
        ["a.x moved to b.z", "b.z moved from a.x"]
    );
    assert_eq!(notes("a: {x: 30}\nb: {}\n", "a: {}\nb: {z: 30}\n"), ["a.x -", "b.z -"]);
    // Renamed under the same parent: any value, if the names have a word in common.
    assert_eq!(
        notes("http: {timeout: 30}\n", "http: {request_timeout: 30}\n"),
        ["http.request_timeout renamed from http.timeout", "http.timeout renamed to http.request_timeout"]
    );
    assert_eq!(
        notes("timezone: UTC\n", "time_zone: UTC\n"),
        ["time_zone renamed from timezone", "timezone renamed to time_zone"]
    );
    for (old, new) in [("jzs: true\n", "jsz: true\n"), ("port: 80\n", "ports: 80\n"), ("http_url: x\n", "htp_url: x\n")]
    {
        assert!(notes(old, new).iter().all(|note| note.contains("renamed")), "{old} {new}");
    }
    for (old, new) in
        [("port1: 80\n", "port2: 80\n"), ("x: 1\n", "y: 1\n"), ("ab: 1\n", "ba: 1\n"), ("a: 1\n", "ab: 1\n")]
    {
        assert!(notes(old, new).iter().all(|note| note.ends_with('-')), "{old} {new}");
    }
    assert!(notes("a-b: 1\n", "a-c: 1\n").iter().all(|note| note.ends_with('-')));
    assert_eq!(notes("maxSize: 1\n", "size-max: 1\n").iter().filter(|note| note.contains("renamed")).count(), 2);
    assert!(notes("timeout: 30\n", "retries: 30\n").iter().all(|note| note.ends_with('-')));
    assert!(notes("timeout: 30\n", "timeout_a: 30\ntimeout_b: 30\n").iter().all(|note| note.ends_with('-')));
}
