use crate::document::{self, Data, Format, Key, Node, Options};

#[track_caller]
fn read(text: &str) -> Vec<Node<'_>> {
    let parsed = document::parse(Format::Yaml, text.as_bytes(), &Options::default());
    let parsed = parsed.unwrap_or_else(|error| panic!("{error}\n{text}"));
    parsed.documents.into_iter().map(|document| document.root).collect()
}

#[track_caller]
fn json(text: &str) -> String {
    read(text).iter().map(|root| root.to_value().to_json()).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn error(text: &str) -> String {
    document::parse(Format::Yaml, text.as_bytes(), &Options::default()).expect_err(text).to_string()
}

#[test]
fn documents_are_read_and_counted() {
    assert_eq!(json("a: 1\n---\n# nothing\n---\nb: 2"), "{\"a\":1}\nnull\n{\"b\":2}");
    assert_eq!(json(""), "");
    assert_eq!(json("# only\n"), "");
    assert_eq!(json("%YAML 1.2\n---\na: yes\n...\n# x\n%YAML 1.1\n---\na: yes\n"), "{\"a\":\"yes\"}\n{\"a\":true}");
    assert_eq!(json("\u{feff}a: 1\r\nb: |\r\n  x\r\n  y\r\n"), r#"{"a":1,"b":"x\ny\n"}"#);
}

#[test]
fn block_scalars_keep_their_chomping() {
    assert_eq!(
        json("a: |\n  x\n\nb: |-\n  x\nc: |+\n  x\n\nd: >\n  x\n  y\n\n  z\ne: \"q\\n\"\n"),
        r#"{"a":"x\n","b":"x","c":"x\n\n","d":"x y\nz\n","e":"q\n"}"#
    );
}

#[test]
fn a_block_text_at_the_end_of_a_file_without_a_line_break_has_two_readings() {
    let other = |text: &str| {
        let roots = read(text);
        let Data::Map(entries) = &roots[0].data else { panic!("a map") };
        let last = entries.last().expect("an entry");
        (last.value.to_value().to_json(), last.value.yaml11.as_ref().map(|data| data.to_value().to_json()))
    };
    let both = |core: &str, libyaml: Option<&str>| (core.to_string(), libyaml.map(str::to_string));
    assert_eq!(other("a: |\n  x\n  y"), both(r#""x\ny\n""#, Some(r#""x\ny""#)));
    assert_eq!(other("a: >\n  x\n  y"), both(r#""x y\n""#, Some(r#""x y""#)));
    assert_eq!(other("a: |+\n  x"), both(r#""x\n""#, Some(r#""x""#)));
    for one in ["a: |\n  x\n", "a: |-\n  x", "a: |\n  x\nb: c", "a: |\n  x\n# y", "a: |\n  x\n  "] {
        assert_eq!(other(one).1, None, "{one:?}");
    }
    let before =
        |text: &str| read(text).iter().map(|root| format!("{root:?}").matches("yaml11: Some").count()).sum::<usize>();
    assert_eq!(before("- |\n  - x\n- x"), 0, "another text that ends as the file does");
    assert_eq!(before("--- |\n  x\n--- >\n  y\n  x"), 1);
    assert_eq!(json("apiVersion: v1\nkind: X\na: |\n  x"), r#"{"apiVersion":"v1","kind":"X","a":"x"}"#);
}

#[test]
fn kubernetes_documents_are_read_as_kubernetes_reads_them() {
    let text = "apiVersion: v1\nkind: X\nmode: 0644\non: off\nn: y\nat: 1:30\nday: 2024-01-02\nquoted: \"no\"\nlist: [08, yes]\n";
    assert_eq!(
        json(text),
        r#"{"apiVersion":"v1","kind":"X","mode":420,"true":false,"false":true,"at":"1:30","day":"2024-01-02","quoted":"no","list":[8,true]}"#
    );
    assert!(read(text)[0].yaml11.is_none());
}

#[test]
fn other_documents_say_where_yaml_11_differs() {
    let roots = read("a: no\nb: 0644\nc: 1:30\nd: 2024-01-02\ne: plain\nf: 10\ng: 'no'\nh: y\n");
    let Data::Map(entries) = &roots[0].data else { panic!("a map") };
    let said: Vec<String> = entries
        .iter()
        .map(|entry| {
            let other = entry.value.yaml11.as_ref().map_or("=".into(), |data| data.to_value().to_json());
            format!("{} {} {other}", entry.key.text(), entry.value.to_value().to_json())
        })
        .collect();
    assert_eq!(
        said,
        [
            "a \"no\" false",
            "b 644 420",
            "c \"1:30\" 90",
            "d \"2024-01-02\" \"2024-01-02\"",
            "e \"plain\" =",
            "f 10 =",
            "g \"no\" =",
            "h \"y\" true",
        ]
    );
}

#[test]
fn aliases_are_expanded_where_they_are_used() {
    let roots = read("base: &b\n  x: 1\n  y: [&s two, 3]\nuse: *b\nword: *s\n*s : key\n");
    assert_eq!(
        roots[0].to_value().to_json(),
        r#"{"base":{"x":1,"y":["two",3]},"use":{"x":1,"y":["two",3]},"word":"two","two":"key"}"#
    );
    let Data::Map(entries) = &roots[0].data else { panic!("a map") };
    let Data::Map(inner) = &entries[1].value.data else { panic!("a map") };
    let place = entries[1].value.span.start;
    assert_eq!((place.line, place.column), (4, 6));
    assert_eq!(inner[1].value.span, entries[1].value.span);
}

#[test]
fn merge_keys_merge_and_own_keys_win() {
    let base = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\n";
    for map in ["{<<: *a, <<: *b, w: 0, y: 9}", "{w: 0, y: 9, <<: [*a, *b]}"] {
        let text = format!("{base}m: {map}\n");
        let roots = read(&text);
        let Data::Map(entries) = &roots[0].data else { panic!("a map") };
        let Data::Map(map) = &entries[2].value.data else { panic!("a map") };
        let mut said: Vec<String> =
            map.iter().map(|entry| format!("{}={}", entry.key.text(), entry.value.to_value().to_json())).collect();
        said.sort();
        assert_eq!(said, ["w=0", "x=1", "y=9", "z=2"]);
    }
    assert_eq!(
        json("a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b}\n"),
        r#"{"a":{"x":1},"b":{"x":1,"y":2},"c":{"x":1,"y":2}}"#
    );
    assert_eq!(json("'<<': {x: 1}\n"), r#"{"<<":{"x":1}}"#, "quoted, it is a key like any other");
    assert_eq!(json("<<: text\n"), r#"{"<<":"text"}"#);
}

#[test]
fn recursion_ends_in_a_sentinel() {
    assert_eq!(json("a: &x\n  self: *x\n  n: 1\n"), r#"{"a":{"self":"<recursive alias>","n":1}}"#);
    assert_eq!(json("&r [*r]"), r#"["<recursive alias>"]"#);
    assert_eq!(json("&r {<<: *r, a: 1}"), r#"{"<<":"<recursive alias>","a":1}"#);
}

#[test]
fn bombs_fail_at_once() {
    let mut laughs = String::from("a: &a [x]\n");
    for pair in ('a'..='j').collect::<Vec<_>>().windows(2) {
        let (from, to) = (pair[0], pair[1]);
        laughs.push_str(&format!("{to}: &{to} [{}]\n", vec![format!("*{from}"); 9].join(",")));
    }
    let long = format!("a: &a |\n  {}\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 1000].join(","));
    // 254 anchors around one large body, each used once.
    let mut nested = String::from("a: ");
    (0..250).for_each(|i| nested.push_str(&format!("&n{i} [")));
    nested.push_str(&vec!["x"; 20_000].join(","));
    nested.push_str(&"]".repeat(250));
    nested.push_str(&format!("\nb: [{}]\n", (0..250).map(|i| format!("*n{i}")).collect::<Vec<_>>().join(",")));
    let mut merges = String::from("m0: &m0 {a: 1, b: 2}\n");
    for i in 1..40 {
        merges.push_str(&format!("m{i}: &m{i} {{k{i}a: *m{0}, k{i}b: *m{0}, <<: *m{0}}}\n", i - 1));
    }
    for bomb in [laughs, long, nested, merges] {
        let start = std::time::Instant::now();
        let error = error(&bomb);
        assert!(error.contains("alias"), "{error}");
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }
}

#[test]
fn aliases_do_not_nest_past_the_limit() {
    let mut text = String::from("- &a0 [x]\n");
    for i in 1..2000 {
        text.push_str(&format!("- &a{i} [*a{}]\n", i - 1));
    }
    assert!(error(&text).contains("255"), "{}", error(&text));
}

#[test]
fn duplicate_keys_are_refused_with_both_lines() {
    let text = "app:\n  replicas: 2\n  image: web\n  replicas: 9\n";
    let said = error(text);
    assert!(said.starts_with("4:3:") && said.contains("`replicas`") && said.contains("line 2"), "{said}");
    assert!(error("{1: a, 0x1: b}").contains("`1`"));
    assert_eq!(json("{1: a, '1': b, 1.0: c}"), r#"{"$flecto":"map","entries":[[1,"a"],["1","b"],[1.0,"c"]]}"#);
    let many: String = (0..20).map(|i| format!("k{i}: 1\n")).collect();
    assert!(error(&format!("{many}k7: 2\n")).contains("line 8"));
    let options = Options { allow_duplicate_keys: true, lines_before: 10, ..Options::default() };
    let parsed = document::parse(Format::Yaml, b"a: &x 1\nb: 2\na: *x\nc: *x\n", &options).expect("allowed");
    assert_eq!(parsed.documents[0].root.to_value().to_json(), r#"{"a":1,"b":2,"c":1}"#);
    assert_eq!(parsed.warnings, ["the key `a` of line 11 stands in its map again on line 13; the last one was taken"]);
}

#[test]
fn a_key_in_an_error_is_short_and_inert() {
    let key = format!("{}\u{202e}", "k".repeat(100));
    let said = error(&format!("\"{key}\": 1\n\"{key}\": 2\n"));
    assert!(!said.contains(&"k".repeat(61)) && !said.contains('\u{202e}'), "{said}");
}

#[test]
fn tags_are_part_of_the_value_unless_they_say_nothing_new() {
    assert_eq!(
        json(
            "a: !secret db\nb: !!str 12\nc: !!int '12'\nd: !!float 3\ne: !!binary aGk=\nf: !Sub\ng: !!map {x: 1}\nh: ! 12\ni: !!int x\n"
        ),
        concat!(
            r#"{"a":{"$flecto":"tagged","tag":"!secret","value":"db"},"b":"12","c":12,"d":3,"#,
            r#""e":{"$flecto":"tagged","tag":"!!binary","value":"aGk="},"f":{"$flecto":"tagged","tag":"!Sub","value":null},"#,
            r#""g":{"x":1},"h":"12","i":{"$flecto":"tagged","tag":"!!int","value":"x"}}"#
        )
    );
    assert_eq!(
        json("%TAG !e! tag:example.com,2000:\n---\na: !e!x 1\nb: !<tag:example.com,2000:x> 1\n"),
        r#"{"a":{"$flecto":"tagged","tag":"!<tag:example.com,2000:x>","value":"1"},"b":{"$flecto":"tagged","tag":"!<tag:example.com,2000:x>","value":"1"}}"#
    );
}

#[test]
fn keys_have_types() {
    let roots = read("200: a\n'200': b\n1.3: c\ntrue: d\n~: e\n? [x, 1]\n: f\n? {k: v}\n: g\n!t k: h\n");
    let Data::Map(entries) = &roots[0].data else { panic!("a map") };
    let keys: Vec<_> = entries.iter().map(|entry| entry.key.clone()).collect();
    let typed = |kind, text: &'static str| Key::Typed(kind, text.into());
    assert_eq!(
        keys,
        [
            typed("int", "200"),
            Key::String("200".into()),
            typed("float", "1.3"),
            typed("bool", "true"),
            typed("null", "null"),
            typed("list", "[\"x\",1]"),
            typed("map", "{\"k\":\"v\"}"),
            typed("tagged", "!t \"k\""),
        ]
    );
}

#[test]
fn places_point_at_keys_and_values() {
    let text =
        "# c\nkey: value\nmap:\n  é: [1, {x: 2}]\nempty:\ntext: |\n  one\n  two\n\n# after\nq: \"a\n  b\"\nl:\n- - z\n";
    let mut found = Vec::new();
    fn walk(node: &Node<'_>, found: &mut Vec<(String, u32, u32, u32)>) {
        let mut add =
            |what: String, span: document::Span| found.push((what, span.start.line, span.start.column, span.end_line));
        match &node.data {
            Data::Map(entries) => {
                add("{".into(), node.span);
                for entry in entries {
                    found.push((
                        entry.key.text().into(),
                        entry.key_span.start.line,
                        entry.key_span.start.column,
                        entry.key_span.end_line,
                    ));
                    walk(&entry.value, found);
                }
            }
            Data::List(items) => {
                add("[".into(), node.span);
                items.iter().for_each(|item| walk(item, found));
            }
            data => add(data.to_value().to_json(), node.span),
        }
    }
    walk(&read(text)[0], &mut found);
    let found: Vec<String> =
        found.iter().map(|(what, line, column, end)| format!("{what} {line}:{column}-{end}")).collect();
    assert_eq!(
        found,
        [
            "{ 2:1-14",
            "key 2:1-2",
            "\"value\" 2:6-2",
            "map 3:1-3",
            "{ 4:3-4",
            "é 4:3-4",
            "[ 4:6-4",
            "1 4:7-4",
            "{ 4:10-4",
            "x 4:11-4",
            "2 4:14-4",
            "empty 5:1-5",
            "null 5:1-5",
            "text 6:1-6",
            "\"one\\ntwo\\n\" 7:3-8",
            "q 11:1-11",
            "\"a b\" 11:4-12",
            "l 13:1-13",
            "[ 14:1-14",
            "[ 14:3-14",
            "\"z\" 14:5-14",
        ]
    );
}

#[test]
fn templates_are_recognised() {
    let helm = "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Release.Name }}\n{{- if .Values.lb }}\nspec: {type: LoadBalancer}\n{{- end }}\n";
    for (text, at) in [
        (helm, "4:9:"),
        ("a: {{ x }}\n", "1:4:"),
        ("{% if x %}\na: 1\n{% endif %}\n", "1:1:"),
        ("{{- if x }}\na: 1\n{{- end }}\n", "1:1:"),
        ("a:\n{{- toYaml .Values.x | nindent 2 }}\nb: 1\n", "2:1:"),
        ("a: 1\nb: \"x{{ y \"z\" }}\"\n", "2:"),
    ] {
        let said = error(text);
        assert!(said.starts_with(at), "{said}\n{text}");
        assert!(said.contains("template") && said.contains("values"), "{said}");
    }
    assert_eq!(
        json("if: ${{ github.ref }}\nb: x {{ y }}\nc: '{{ z }}'\n"),
        r#"{"if":"${{ github.ref }}","b":"x {{ y }}","c":"{{ z }}"}"#
    );
    let other = error("run: |\n  echo '{{ x }}'\n  {{ y }}\nok: 1\nfine: 2\nbroken: [1\n");
    assert!(!other.contains("template"), "{other}");
}

#[test]
fn errors_say_where_and_what() {
    for (text, at, word) in [
        ("a: 1\nb:\n\tc: 1\n", "3:1:", "tab"),
        ("a: 'x\n", "1:", "quote"),
        ("a: [1, 2\n", "1:", "bracket"),
        ("a: *nope\n", "1:4:", "anchor"),
        ("a: b: c\n", "1:5:", "colon"),
        ("a: @x\n", "1:4:", "quote"),
        ("a: 1\n b: 2\n", "2:", ""),
        ("a: \u{1}\n", "1:4:", "U+0001"),
        ("a: \"\\ud800\"\n", "1:", "half of a pair"),
    ] {
        let said = error(text);
        assert!(said.starts_with(at) && said.contains(word), "{said}");
    }
    let secret = error("password: hunter2: x\n  y\n");
    assert!(!secret.contains("hunter2"), "{secret}");
}

#[test]
fn nesting_has_a_limit_and_no_stack_to_overflow() {
    let flow = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
    let block = |n: usize| format!("{}1", "- ".repeat(n));
    assert_eq!(read(&flow(255)).len() + read(&block(255)).len(), 2);
    for text in [flow(256), flow(100_000), block(256), block(100_000), format!("{}{}", "- ".repeat(200), flow(200))] {
        assert!(error(&text).contains("255"));
    }
}
