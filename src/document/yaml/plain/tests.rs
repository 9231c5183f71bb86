use super::super::{Options, by_events};
use super::*;
use proptest::prelude::*;

/// What this reader says, as a document, and what the other one says: `None` for one that says nothing.
fn both(text: &str) -> (Option<String>, Option<String>) {
    let options = Options::default();
    let said = |parsed: crate::document::Parsed<'_>| format!("{:?}", parsed.documents);
    let plain = parse(text).is_some().then(|| super::super::parse(text, &options).expect("it says so"));
    (plain.map(said), by_events(text, &options).ok().map(said))
}

const GOOD: [&str; 17] = [
    "a: 1\nb: two words\nc:\nd: ~\n",
    "# c\n\n---  # c\n# c\na: b # c\n#c\n  # c\nb:   c\n\n",
    "- a\n-   b: 1\n    c: 2\n- - x\n  - y\n-\n  z: 1\n",
    "a:\n- x\n- y: 1\n  z:\n  - 1\nb:\n    - q\n    - r\nc:\n  d:\n   e: f\n  g:\n",
    "\"a\" : 'it''s'\n'b c': \"\\\"q\\\\ \\n\\t\\/\"\n\"\": ''\n",
    "a: [1, two, \"3\", [], {}, ~, -1]\nb: {x: 1, \"y\": [a,b], z: {q: 'r'}} # c\nc: [ a , b ]\nd: { x: y }\n",
    "a: |\n  x\n   y # no comment\n\n  z\n\nb: |-\n    x\n\n\nc: d\nl:\n  - |\n    \ttab\n  - e\n",
    "a: >\n\n  x\n  y\n\n  z\n   deeper\n\n   deeper\n  a\n\n\n  b\nc:\n- >- # c\n  x\n\n- d\n- >\n x\n",
    "a: word\n  - goes on\n\n\n  \"and\" on # c\nb: 1\n",
    "a: word\n  - goes on\n\n\n  \"and\" on # c\nb:\n- x\n  y:z\n-\n  - w\n-\n  2001-12-14\n   21:59:43.10\nc:\n  'x'\nd:\n  [y]\n",
    "apiVersion: v1\nkind: X\nmode: 0644\non: off\nn: y\nat: 1:30\nday: 2024-01-02\nq: \"no\"\nl: [08, yes]\n",
    "url: http://x:80/a#b\nt: a:b\nk#x: --flag=1\n-x: <<\nno: on\n1: 2\n0x10: 1.5\ntrue: =\n",
    "é: ü\nb: {é: ü, x: \"🙂\", y: z}\r\nc: |\r\n  é\r\n  x\r\n\r\nd: 1\r\n",
    "  a: 1\n  b:\n  - c\n",
    "a: b\n",
    "- a",
    "a: \"x y\n  z  \\\n  \\  w\n\n  # \\xe9\\u00e9 \\\"\n \"\nb:\n- 'it''s\n  -\n\n\n  on: '\nc: ''\n",
];

#[test]
fn what_it_reads_the_other_reader_reads_alike() {
    for text in GOOD {
        let (plain, other) = both(text);
        assert!(plain.is_some(), "{text}");
        assert_eq!(plain, other, "{text}");
    }
    const WITH: [&str; 34] = [
        "", " ", "  ", "\n", "\n\n", "\n ", "\t", "\r", "\r\n", "-", "- ", ":", ": ", "#", " #", "\"", "'", "[", "]",
        "{", "}", ",", "|", ">", "&a ", "*a", "!t ", "?", "---", "\n---\n", "\\", "\u{85}", "\u{7f}", "x",
    ];
    for text in GOOD {
        for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            for with in WITH {
                for skip in [0, 1, 2] {
                    let Some(rest) = text.get(at + skip..) else { continue };
                    let damaged = format!("{}{with}{rest}", &text[..at]);
                    if let (Some(plain), other) = both(&damaged) {
                        assert_eq!(Some(plain), other, "{damaged:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_it_does_not_know_is_left_to_the_other_reader() {
    for text in [
        "",
        "a",
        "# c\n",
        "a: 1\na: 2\n",
        "a: &x 1\n",
        "a: *x\n",
        "a: !t 1\n",
        "<<: {}\n",
        "a: x # c\n  y\n",
        "a: >+\n  x\n",
        "a: |2\n  x\n",
        "a: |\n  x",
        "a:\tb\n",
        "a: 1\n---\nb: 1\n",
        "a: 1\n...\n",
        "%YAML 1.1\n---\na: 1\n",
        "? a\n",
        "a: b: c\n",
        "a: {{ x }}\n",
        "{{ x }}\n",
        "a: [1,\n 2]\n",
        "a: \"x\ny\"\n",
        "a: \"\\0\"\n",
        "a: \"x\t \n  y\"\n",
        "a: 'x\t\n  y'\n",
        "a:\n  &b b\n",
        "- \n- a\n",
    ] {
        assert!(parse(text).is_none(), "{text:?}");
    }
}

#[test]
fn a_long_line_of_wide_characters_is_left_to_the_other_reader() {
    let list = |item: &str| format!("a: [{}]\n", [item; 3000].join(", "));
    assert!(parse(&list("é")).is_none());
    assert!(parse(&list("e")).is_some());
}

/// Lines that are mostly plain YAML, with depth and quirks at random.
fn lines() -> impl Strategy<Value = String> {
    let content = prop::sample::select(vec![
        "a:",
        "b: 1",
        "c: x y",
        "- d",
        "- e: 1",
        "- f:",
        "-",
        "- - g",
        "h: [1, 2]",
        "i: {j: k}",
        "l: |",
        "m: |-",
        "\"n\": 'o'",
        "# p",
        "",
        "q",
        "> x",
        "\"q",
        "a: 'x",
        "b: \"x  \\",
        "y'",
        "z\"",
        "s: >",
        "t: >-",
        "- >",
        "w: x y z",
        "  z",
        "r # s",
        "[1]",
        "r: \"s\" # t",
        "- |",
        "u: ~",
        "on: no",
        "v : w",
        "x:  ",
        "y: - z",
        "- [a, {b: c}]",
        "é: 08",
        "kind: X",
        "apiVersion: v1",
        "a: 0x1F",
        "- \"k\": v",
        "- 'x'",
        "---",
        "text: it's # c",
    ]);
    prop::collection::vec((prop::sample::select(vec![0, 0, 0, 2, 2, 2, 4, 1, 3, 6]), content), 1..14)
        .prop_map(|lines| lines.iter().map(|(indent, content)| format!("{}{content}\n", " ".repeat(*indent))).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_lines_are_read_alike_or_left(text in lines()) {
        if let (Some(plain), other) = both(&text) {
            prop_assert_eq!(Some(plain), other, "{}", text);
        }
    }
}
