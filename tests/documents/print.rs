//! Trees and how each format writes them, with the place of everything that was written.

use proptest::prelude::*;
use std::fmt::Write as _;

/// What a tree says, whatever wrote it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Model {
    Null,
    Bool(bool),
    /// A number by the text that all formats share.
    Number(String),
    String(String),
    List(Vec<Model>),
    Map(Vec<(String, Model)>),
}

/// A text, and the line and column of every key and scalar in it.
#[derive(Default)]
pub(super) struct Printed {
    pub(super) text: String,
    pub(super) places: Vec<(u32, u32)>,
    /// The last thing was a block text.
    in_block: bool,
}

impl Printed {
    fn mark(&mut self) {
        let line = self.text.matches('\n').count() + 1;
        let start = self.text.rfind('\n').map_or(0, |at| at + 1);
        let column = self.text[start..].chars().count() + 1;
        self.places.push((u32::try_from(line).expect("small"), u32::try_from(column).expect("small")));
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn marked(&mut self, text: &str) {
        self.mark();
        self.put(text);
    }
}

/// A cheap source of choices that a test can repeat.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z][a-z0-9_]{0,8}",
        1 => Just(String::new()),
        1 => prop::sample::select(vec!["yes", "null", "~", "1", "0x1", "1e3", "- a", "a: b", "#x", "a #b", "---", "{{ x }}", "'", "\"", "\\", "é🙂", "\u{feff}x", "\u{85}", "\u{2028}", "\u{7f}", "a\nb\n", "\n", " x ", "\tx", "<<", "ENC", "2024-01-02", "1:30", "=", "[", "]", "{", "}", ",", "&a", "*a", "!t", "|", ">", "%", "@", "`", "?", ":", "-"]).prop_map(str::to_string),
        1 => "\\PC{0,12}",
        1 => prop::collection::vec(any::<char>().prop_filter("text", |c| *c != '\0'), 0..6).prop_map(|chars| chars.into_iter().collect()),
    ]
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_filter("as all formats write it", |n| *n != 0 || n.is_positive()).prop_map(|n| n.to_string()),
        (1_u32..1000, 1_u32..1000).prop_map(|(a, b)| format!("{a}.{b}")),
    ]
}

fn scalar() -> impl Strategy<Value = Model> {
    prop_oneof![
        Just(Model::Null),
        any::<bool>().prop_map(Model::Bool),
        number().prop_map(Model::Number),
        text().prop_map(Model::String),
    ]
}

fn unique(entries: Vec<(String, Model)>) -> Model {
    let mut seen = std::collections::HashSet::new();
    Model::Map(entries.into_iter().filter(|(key, _)| seen.insert(key.clone())).collect())
}

fn grow(
    scalar: impl Strategy<Value = Model> + 'static,
    key: impl Strategy<Value = String> + Clone + 'static,
) -> impl Strategy<Value = Model> {
    scalar.prop_recursive(4, 30, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Model::List),
            prop::collection::vec((key.clone(), inner), 0..5).prop_map(unique),
        ]
    })
}

/// Any tree.
pub(super) fn tree() -> impl Strategy<Value = Model> {
    grow(scalar(), text().boxed())
}

fn in_map(value: impl Strategy<Value = Model>, key: impl Strategy<Value = String>) -> impl Strategy<Value = Model> {
    prop::collection::vec((key, value), 0..5).prop_map(unique)
}

fn without_null() -> impl Strategy<Value = Model> {
    scalar().prop_map(|model| if model == Model::Null { Model::Bool(false) } else { model })
}

/// TOML has no null, and its root is a map.
pub(super) fn map_without_null() -> impl Strategy<Value = Model> {
    in_map(grow(without_null(), text().boxed()), text())
}

/// HCL's attributes have names.
pub(super) fn map_of_names() -> impl Strategy<Value = Model> {
    in_map(grow(scalar(), text().boxed()), "[a-z][a-z0-9_-]{0,6}")
}

/// Strings that INI can hold: one line, no blanks around, no comment.
fn ini_text() -> impl Strategy<Value = Model> {
    "[a-zA-Z0-9=:/'.,{}$ é-]{0,12}".prop_map(|text| Model::String(text.trim().to_string()))
}

pub(super) fn sections() -> impl Strategy<Value = Model> {
    in_map(in_map(ini_text(), "[a-zA-Z][a-z0-9_.]{0,6}"), "[a-zA-Z][a-z0-9_. ]{0,6}[a-z]")
}

pub(super) fn variables() -> impl Strategy<Value = Model> {
    let value = text().prop_map(|text| Model::String(text.replace(['$', '\r'], "")));
    in_map(value, "[A-Za-z_][A-Za-z0-9_]{0,6}")
}

pub(super) fn flat() -> impl Strategy<Value = Model> {
    in_map(text().prop_map(Model::String), text())
}

/// A string in double quotes with the escapes that JSON, YAML, TOML and HCL share.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if (c.is_control() || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}'))
                && u32::from(c) < 0x10000 =>
            {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn write_json(model: &Model, out: &mut Printed, dice: &mut Dice, comments: bool) {
    let blank = |out: &mut Printed, dice: &mut Dice| match dice.roll(if comments { 6 } else { 4 }) {
        0 => out.put("\n  "),
        1 => out.put("\r\n"),
        2 => out.put(" "),
        4 => out.put("/* {\"é\": */ "),
        5 => out.put("// [\n"),
        _ => {}
    };
    blank(out, dice);
    match model {
        Model::Null => out.marked("null"),
        Model::Bool(value) => out.marked(&value.to_string()),
        Model::Number(text) => out.marked(text),
        Model::String(text) => out.marked(&quoted(text)),
        Model::List(items) => {
            out.put("[");
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.put(",");
                }
                write_json(item, out, dice, comments);
                blank(out, dice);
            }
            if comments && !items.is_empty() && dice.roll(2) == 0 {
                out.put(",");
            }
            out.put("]");
        }
        Model::Map(entries) => {
            out.put("{");
            for (at, (key, value)) in entries.iter().enumerate() {
                if at > 0 {
                    out.put(",");
                }
                blank(out, dice);
                out.marked(&quoted(key));
                blank(out, dice);
                out.put(": ");
                write_json(value, out, dice, comments);
            }
            blank(out, dice);
            out.put("}");
        }
    }
}

pub(super) fn json(model: &Model, seed: u64) -> Printed {
    let mut out = Printed::default();
    // A line break between a key and its colon is no YAML, and this is read as YAML too.
    write_json_compact(model, &mut out, &mut Dice(seed));
    out
}

/// JSON that is YAML as well: no break between a key and its colon.
fn write_json_compact(model: &Model, out: &mut Printed, dice: &mut Dice) {
    let blank = |out: &mut Printed, dice: &mut Dice| match dice.roll(3) {
        0 => out.put("\n  "),
        1 => out.put(" "),
        _ => {}
    };
    match model {
        Model::List(items) => {
            out.put("[");
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.put(",");
                }
                blank(out, dice);
                write_json_compact(item, out, dice);
            }
            out.put("]");
        }
        Model::Map(entries) => {
            out.put("{");
            for (at, (key, value)) in entries.iter().enumerate() {
                if at > 0 {
                    out.put(",");
                }
                blank(out, dice);
                out.marked(&quoted(key));
                out.put(": ");
                write_json_compact(value, out, dice);
            }
            out.put("}");
        }
        scalar => write_json(scalar, out, &mut Dice(0), false),
    }
}

pub(super) fn jsonc(model: &Model, seed: u64) -> Printed {
    let mut out = Printed::default();
    write_json(model, &mut out, &mut Dice(seed), true);
    out
}

/// Whether YAML reads the text as itself without quotes, in block and in flow style. Words and numbers are left out.
fn plain(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !matches!(text, "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n")
}

fn yaml_text(text: &str, dice: &mut Dice) -> String {
    match dice.roll(3) {
        0 if plain(text) => text.to_string(),
        1 if !text
            .chars()
            .any(|c| c.is_control() || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')) =>
        {
            format!("'{}'", text.replace('\'', "''"))
        }
        _ => quoted(text),
    }
}

fn yaml_flow(model: &Model, out: &mut Printed, dice: &mut Dice) {
    match model {
        Model::Null => out.marked(if dice.roll(2) == 0 { "null" } else { "~" }),
        Model::Bool(value) => out.marked(&value.to_string()),
        Model::Number(text) => out.marked(text),
        Model::String(text) => out.marked(&yaml_text(text, dice)),
        Model::List(items) => {
            out.put("[");
            for item in items {
                yaml_flow(item, out, dice);
                out.put(", ");
            }
            out.put("]");
        }
        Model::Map(entries) => {
            out.put("{");
            for (key, value) in entries {
                out.marked(&yaml_text(key, dice));
                out.put(": ");
                yaml_flow(value, out, dice);
                out.put(", ");
            }
            out.put("}");
        }
    }
}

/// Block style; the cursor stands where the value begins, at column `indent` of its line or after a key.
fn yaml_block(model: &Model, out: &mut Printed, dice: &mut Dice, indent: usize, inline: bool) {
    let pad = " ".repeat(indent);
    match model {
        Model::List(items) if !items.is_empty() && dice.roll(4) > 0 => {
            for (at, item) in items.iter().enumerate() {
                if at > 0 || inline {
                    out.put("\n");
                    out.put(&pad);
                }
                out.put("- ");
                yaml_block(item, out, dice, indent + 2, false);
            }
        }
        Model::Map(entries)
            if !entries.is_empty() && dice.roll(4) > 0 && entries.iter().all(|(key, _)| key.len() < 200) =>
        {
            for (at, (key, value)) in entries.iter().enumerate() {
                if at > 0 || inline {
                    // After a block text it would be more of the text.
                    if dice.roll(5) == 0 && !out.in_block {
                        out.put(" # é: [");
                    }
                    out.put("\n");
                    out.put(&pad);
                }
                out.in_block = false;
                out.marked(&yaml_text(key, dice));
                out.put(": ");
                yaml_block(value, out, dice, indent + 2, true);
            }
        }
        Model::String(text) if inline && literal(text) && dice.roll(2) == 0 => {
            let chomp = if text.ends_with('\n') { "" } else { "-" };
            out.put(&format!("|{chomp}"));
            for (at, line) in text.trim_end_matches('\n').split('\n').enumerate() {
                out.put("\n");
                out.put(&pad);
                if at == 0 {
                    out.mark();
                }
                out.put(line);
            }
            out.in_block = true;
        }
        other => yaml_flow(other, out, dice),
    }
}

/// Whether a literal block can hold the text: lines that begin with no blank, at most one line break at the end.
fn literal(text: &str) -> bool {
    !text.is_empty()
        && !text.ends_with("\n\n")
        && text.trim_end_matches('\n').split('\n').all(|line| !line.is_empty() && !line.starts_with([' ', '\t']))
        && !text.chars().any(|c| {
            (c.is_control() && c != '\n') || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')
        })
}

pub(super) fn yaml(model: &Model, seed: u64) -> Printed {
    let mut out = Printed::default();
    yaml_block(model, &mut out, &mut Dice(seed), 0, false);
    out.put("\n");
    out
}

fn toml_key(key: &str, out: &mut Printed) {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    out.marked(&if bare { key.to_string() } else { quoted(key) });
}

fn toml_value(model: &Model, out: &mut Printed) {
    match model {
        Model::Null => out.marked("false"),
        Model::Bool(value) => out.marked(&value.to_string()),
        Model::Number(text) => out.marked(text),
        Model::String(text) => out.marked(&quoted(text)),
        Model::List(items) => {
            out.put("[");
            for item in items {
                out.put("\n  ");
                toml_value(item, out);
                out.put(",");
            }
            out.put("]");
        }
        Model::Map(entries) => {
            out.put("{");
            for (at, (key, value)) in entries.iter().enumerate() {
                if at > 0 {
                    out.put(", ");
                }
                toml_key(key, out);
                out.put(" = ");
                toml_value(value, out);
            }
            out.put("}");
        }
    }
}

pub(super) fn toml(model: &Model) -> Printed {
    let mut out = Printed::default();
    let Model::Map(entries) = model else { panic!("a map") };
    for (key, value) in entries {
        toml_key(key, &mut out);
        out.put(" = ");
        toml_value(value, &mut out);
        out.put("\n");
    }
    out
}

fn hcl_text(text: &str) -> String {
    quoted(text).replace("${", "$${").replace("%{", "%%{")
}

fn hcl_value(model: &Model, out: &mut Printed) {
    match model {
        Model::Null => out.marked("null"),
        Model::Bool(value) => out.marked(&value.to_string()),
        Model::Number(text) => out.marked(text),
        Model::String(text) => out.marked(&hcl_text(text)),
        Model::List(items) => {
            out.put("[");
            for item in items {
                out.put("\n  ");
                hcl_value(item, out);
                out.put(",");
            }
            out.put("]");
        }
        Model::Map(entries) => {
            out.put("{");
            for (key, value) in entries {
                out.put("\n  ");
                out.marked(&hcl_text(key));
                out.put(" = ");
                hcl_value(value, out);
            }
            out.put("\n}");
        }
    }
}

pub(super) fn hcl(model: &Model) -> Printed {
    let mut out = Printed::default();
    let Model::Map(entries) = model else { panic!("a map") };
    for (key, value) in entries {
        out.marked(key);
        out.put(" = ");
        hcl_value(value, &mut out);
        out.put("\n");
    }
    out
}

fn string(model: &Model) -> &str {
    match model {
        Model::String(text) => text,
        other => panic!("a string, not {other:?}"),
    }
}

pub(super) fn ini(model: &Model) -> Printed {
    let mut out = Printed::default();
    let Model::Map(sections) = model else { panic!("a map") };
    for (name, section) in sections {
        let Model::Map(entries) = section else { panic!("a map") };
        out.put(&format!("[{name}]\n; comment\n"));
        for (at, (key, value)) in entries.iter().enumerate() {
            let separator = if at % 2 == 0 { " = " } else { ":" };
            out.put(&format!("{key}{separator}{}\n", string(value)));
        }
    }
    out
}

pub(super) fn dotenv(model: &Model, seed: u64) -> Printed {
    let (mut out, mut dice) = (Printed::default(), Dice(seed));
    let Model::Map(entries) = model else { panic!("a map") };
    for (key, value) in entries {
        if dice.roll(3) == 0 {
            out.put("export ");
        }
        out.marked(key);
        out.put("=");
        let text = string(value);
        let safe = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:".contains(c));
        match dice.roll(3) {
            0 if safe => out.marked(text),
            1 if !text.contains('\'') => out.marked(&format!("'{text}'")),
            _ => out.marked(&format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))),
        }
        out.put("\n");
    }
    out
}

pub(super) fn properties(model: &Model) -> Printed {
    let mut out = Printed::default();
    let Model::Map(entries) = model else { panic!("a map") };
    let escaped = |text: &str, key: bool| {
        let mut escaped = String::new();
        for (at, c) in text.chars().enumerate() {
            match c {
                '\n' => escaped.push_str("\\n"),
                '\r' => escaped.push_str("\\r"),
                '\t' => escaped.push_str("\\t"),
                '\u{c}' => escaped.push_str("\\f"),
                // At the front of a file it would be its byte order mark.
                '\u{feff}' => escaped.push_str("\\ufeff"),
                ' ' if key || at == 0 => escaped.push_str("\\ "),
                '\\' | '=' | ':' | '#' | '!' => {
                    escaped.push('\\');
                    escaped.push(c);
                }
                c => escaped.push(c),
            }
        }
        escaped
    };
    for (key, value) in entries {
        out.put(&format!("{}={}\n", escaped(key, true), escaped(string(value), false)));
    }
    out
}
