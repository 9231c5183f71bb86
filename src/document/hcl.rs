//! What does this HCL say? Terraform and its kin: blocks as maps, literals as values, everything else as an expression.
//!
//! - A block with labels stands under them: `resource "aws_s3_bucket" "logs" {}` is `resource.aws_s3_bucket.logs`.
//!   Two with the same labels are a list. A provider with an `alias` stands under `aws.west`, as Terraform calls it.
//! - A block without labels inside of another is a list, also when it is alone, as in Terraform's own state and plans: one
//!   becoming two must not rename it. Those that can stand but once ([`SINGLE`]) are maps; so are those at the top of a
//!   file, of which several `locals` and `terraform` are one.
//! - An expression is kept as written and compared without blanks, comments and trailing commas. A call with one list or
//!   map (`jsonencode({…})`) is that list or map with the tag `jsonencode()`.

use super::flat::node;
use super::lines::Cursor;
use super::{Data, Document, Entry, Error, Key, Node, Options, Parsed, Place, Scalar, ScalarKind, Span};
use crate::limits::MAX_DEPTH;
use hcl_edit::Span as _;
use hcl_edit::expr::{Expression, ObjectKey};
use hcl_edit::structure::{Block, Body, Structure};
use hcl_edit::template::Element;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Blocks without labels that a body can hold but once.
const SINGLE: [&str; 5] = ["lifecycle", "connection", "timeouts", "required_providers", "cloud"];

/// Blocks with labels of which a body can hold several with the same ones.
const REPEATED: [&str; 2] = ["provisioner", "dynamic"];

/// Blocks at the top of a file that can be repeated and have no labels.
const REPEATED_AT_TOP: [&str; 3] = ["moved", "import", "removed"];

pub(super) fn parse<'a>(text: &'a str, options: &Options) -> Result<Parsed<'a>, Error> {
    let body = hcl_edit::parser::parse_body(text).map_err(|error| explain(text, &error))?;
    let mut tree = Tree { text, cursor: Cursor::new(text), options, warnings: Vec::new() };
    let entries = tree.body(&body, true, 1)?;
    let end_line = tree.cursor.place(text.trim_end().len()).line;
    let start = entries.first().map_or(Place { line: 1, column: 1 }, |entry| entry.key_span.start);
    let root = node(Data::Map(entries), Span { start, end_line });
    Ok(Parsed { documents: vec![Document::new(root, 0)], warnings: tree.warnings })
}

struct Tree<'a, 'o> {
    text: &'a str,
    cursor: Cursor<'a>,
    options: &'o Options,
    warnings: Vec<String>,
}

impl<'a> Tree<'a, '_> {
    fn slice(&self, range: Range<usize>) -> &'a str {
        self.text.get(range).unwrap_or_default()
    }

    fn body(&mut self, body: &Body, top: bool, depth: usize) -> Result<Vec<Entry<'a>>, Error> {
        let mut attributes = Vec::new();
        let mut blocks = Blocks::default();
        for structure in body {
            match structure {
                Structure::Attribute(attribute) => {
                    let range = attribute.key.span().unwrap_or_default();
                    let key_span = self.cursor.span(range.start, range.end);
                    let value = self.expression(&attribute.value, depth + 1)?;
                    let key = Key::String(Cow::Owned(attribute.key.as_str().to_string()));
                    attributes.push(Entry::new(key, key_span, value));
                }
                Structure::Block(block) => self.block(block, top, depth, &mut blocks)?,
            }
        }
        super::settle_duplicates(&mut attributes, self.options, &mut self.warnings)?;
        // A block may have the name of an attribute in some dialects; then they are told apart by type.
        let names: HashSet<&str> = attributes.iter().map(|attribute: &Entry<'_>| attribute.key.text()).collect();
        for block in &mut blocks.entries {
            if names.contains(block.key.text()) {
                block.key = Key::Typed("block", Cow::Owned(block.key.text().to_string()));
            }
        }
        attributes.append(&mut blocks.entries);
        attributes.sort_by_key(|entry| entry.key_span.start);
        Ok(attributes)
    }

    fn block(&mut self, block: &Block, top: bool, depth: usize, into: &mut Blocks<'a>) -> Result<(), Error> {
        let range = block.span().unwrap_or_default();
        let span = self.cursor.span(range.start, range.end);
        let ident = block.ident.as_str();
        let ident_range = block.ident.span().unwrap_or_default();
        let ident_span = self.cursor.span(ident_range.start, ident_range.end);
        if depth + block.labels.len() + 2 > MAX_DEPTH {
            return Err(Error::new(
                span.start,
                format!("nested deeper than {MAX_DEPTH} levels; flecto reads no deeper"),
            ));
        }
        let mut path = vec![(ident.to_string(), ident_span)];
        for label in &block.labels {
            let range = label.span().unwrap_or_default();
            path.push((label.as_str().to_string(), self.cursor.span(range.start, range.end)));
        }
        let inner = self.body(&block.body, false, depth + path.len() + 1)?;
        if top && ident == "provider" && path.len() == 2 {
            let alias = inner.iter().find(|entry| entry.key.text() == "alias").map(|entry| &entry.value.data);
            if let Some(Data::String(alias)) = alias {
                path[1].0 = format!("{}.{alias}", path[1].0);
            }
        }
        let labelled = !block.labels.is_empty();
        let always_list = match (labelled, top) {
            (true, _) => REPEATED.contains(&ident),
            (false, true) => REPEATED_AT_TOP.contains(&ident),
            (false, false) => !SINGLE.contains(&ident),
        };
        let merges = top && !labelled && matches!(ident, "locals" | "terraform");
        into.insert(path, node(Data::Map(inner), span), always_list, merges);
        Ok(())
    }

    fn expression(&mut self, expression: &Expression, depth: usize) -> Result<Node<'a>, Error> {
        let range = expression.span().unwrap_or_default();
        let span = self.cursor.span(range.start, range.end);
        if depth > MAX_DEPTH {
            return Err(Error::new(
                span.start,
                format!("nested deeper than {MAX_DEPTH} levels; flecto reads no deeper"),
            ));
        }
        let source = self.slice(range.clone());
        let data = match expression {
            Expression::Null(_) => Data::Null,
            Expression::Bool(value) => Data::Bool(*value.value()),
            Expression::Number(_) => number(source),
            Expression::UnaryOp(operation)
                if matches!(operation.expr, Expression::Number(_)) && source.starts_with('-') =>
            {
                number(source)
            }
            Expression::String(text) => Data::String(Cow::Owned(text.value().clone())),
            Expression::StringTemplate(_) => {
                let inner = source.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
                template_of(Cow::Borrowed(inner.unwrap_or(source)))
            }
            Expression::HeredocTemplate(heredoc) => {
                let text = heredoc_text(source);
                let literal = heredoc.template.iter().all(Element::is_literal);
                if literal { Data::String(unescape_template(text)) } else { template_of(text) }
            }
            Expression::Array(items) => {
                let mut list = Vec::with_capacity(items.len());
                for item in items {
                    list.push(self.expression(item, depth + 1)?);
                }
                Data::List(list)
            }
            Expression::Object(object) => {
                let mut entries = Vec::with_capacity(object.len());
                for (key, value) in object {
                    let range = match key {
                        ObjectKey::Ident(ident) => ident.span(),
                        ObjectKey::Expression(expression) => expression.span(),
                    };
                    let range = range.unwrap_or_default();
                    let key_span = self.cursor.span(range.start, range.end);
                    let key = match key {
                        ObjectKey::Ident(ident) => Key::String(Cow::Owned(ident.as_str().to_string())),
                        ObjectKey::Expression(Expression::String(text)) => {
                            Key::String(Cow::Owned(text.value().clone()))
                        }
                        ObjectKey::Expression(Expression::Number(_) | Expression::Bool(_)) => {
                            Key::String(Cow::Borrowed(self.slice(range)))
                        }
                        ObjectKey::Expression(_) => Key::Typed("expression", compact(self.slice(range))),
                    };
                    let value = self.expression(value.expr(), depth + 1)?;
                    entries.push(Entry::new(key, key_span, value));
                }
                super::settle_duplicates(&mut entries, self.options, &mut self.warnings)?;
                Data::Map(entries)
            }
            Expression::Parenthesis(inner) => return self.expression(inner.inner(), depth + 1),
            Expression::FuncCall(call) => {
                let mut args = call.args.iter();
                match (args.next(), args.next()) {
                    (Some(only @ (Expression::Object(_) | Expression::Array(_))), None) => {
                        let mut node = self.expression(only, depth + 1)?;
                        let name = source.split('(').next().unwrap_or_default().trim();
                        node.tag = Some(format!("{name}()").into());
                        node.span.start = span.start;
                        return Ok(node);
                    }
                    _ => expression_of(source),
                }
            }
            _ => expression_of(source),
        };
        Ok(node(data, span))
    }
}

/// The blocks of one body.
#[derive(Default)]
struct Blocks<'a> {
    entries: Vec<Entry<'a>>,
    /// Where the entry of a type, or of a type and its first labels, stands among its neighbours.
    index: HashMap<Vec<String>, usize>,
}

impl<'a> Blocks<'a> {
    /// Puts a body under its type and labels, beside others of the same ones.
    fn insert(&mut self, path: Vec<(String, Span)>, body: Node<'a>, always_list: bool, merges: bool) {
        let Blocks { entries, index } = self;
        let mut entries = entries;
        let mut names = Vec::with_capacity(path.len());
        let mut path = path.into_iter();
        while let Some((name, key_span)) = path.next() {
            names.push(name.clone());
            let last = path.len() == 0;
            let Some(&at) = index.get(&names) else {
                let span = body.span;
                // What is not there yet, from the inside out; and where each part of it stands.
                let mut keys = vec![(name, key_span)];
                index.insert(names.clone(), entries.len());
                for (name, key_span) in path {
                    names.push(name.clone());
                    index.insert(names.clone(), 0);
                    keys.push((name, key_span));
                }
                let mut value = if always_list { node(Data::List(vec![body]), span) } else { body };
                while let Some((name, key_span)) = keys.pop() {
                    let entry = Entry::new(Key::String(Cow::Owned(name)), key_span, value);
                    if keys.is_empty() {
                        entries.push(entry);
                        return;
                    }
                    value = node(Data::Map(vec![entry]), span);
                }
                return;
            };
            let value = &mut entries[at].value;
            value.span.end_line = value.span.end_line.max(body.span.end_line);
            match (&mut value.data, last) {
                (Data::Map(_), false) => {}
                (Data::List(list), true) => return list.push(body),
                (Data::Map(inner), true) if merges && disjoint(inner, &body) => {
                    if let Data::Map(more) = body.data {
                        inner.extend(more);
                    }
                    return;
                }
                _ => return append(value, path, body),
            }
            let Data::Map(inner) = &mut entries[at].value.data else { return };
            entries = inner;
        }
    }
}

/// A second block of a name, or blocks of one name with labels and without: a list of what there is.
fn append<'a>(value: &mut Node<'a>, rest: std::vec::IntoIter<(String, Span)>, body: Node<'a>) {
    let span = value.span;
    let first = std::mem::replace(value, node(Data::Null, span));
    let mut list = match (first.data, first.tag) {
        (Data::List(list), None) => list,
        (data, tag) => vec![Node { data, tag, yaml11: first.yaml11, span: first.span }],
    };
    let span = body.span;
    list.push(rest.rev().fold(body, |body, (name, key_span)| {
        node(Data::Map(vec![Entry::new(Key::String(Cow::Owned(name)), key_span, body)]), span)
    }));
    value.data = Data::List(list);
}

fn disjoint(entries: &[Entry<'_>], body: &Node<'_>) -> bool {
    match &body.data {
        Data::Map(more) => {
            let keys: HashSet<&Key<'_>> = entries.iter().map(|entry| &entry.key).collect();
            more.iter().all(|entry| !keys.contains(&entry.key))
        }
        _ => false,
    }
}

fn number(source: &str) -> Data<'_> {
    Data::Typed(Scalar::new(ScalarKind::Number, compact(source)))
}

fn template_of(text: Cow<'_, str>) -> Data<'_> {
    Data::Typed(Scalar::new(ScalarKind::Template, text))
}

fn expression_of(source: &str) -> Data<'_> {
    let source = source.trim();
    Data::Typed(Scalar::with_canonical(ScalarKind::Expression, source, compact(source)))
}

/// An expression without what changes nothing: blanks but one between words, comments, a comma before a closing bracket.
/// Strings and heredocs stay as they are.
fn compact(source: &str) -> Cow<'_, str> {
    if source.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'[' | b']')) {
        return Cow::Borrowed(source);
    }
    // A heredoc inside of an expression: leave all of it alone, its layout is its text.
    if source.contains("<<") {
        return Cow::Borrowed(source);
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut out = String::with_capacity(source.len());
    let mut blank = false;
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let length = if c.is_whitespace() {
            blank = true;
            c.len_utf8()
        } else if c == '#' || rest.starts_with("//") {
            blank = true;
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            blank = true;
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            if blank && is_word(c) && out.ends_with(is_word) {
                out.push(' ');
            }
            blank = false;
            if matches!(c, ')' | ']' | '}') && out.ends_with(',') {
                out.pop();
            }
            let length = if c == '"' { quoted(rest) } else { c.len_utf8() };
            out.push_str(&rest[..length]);
            length
        };
        rest = &rest[length..];
    }
    if out == source { Cow::Borrowed(source) } else { Cow::Owned(out) }
}

/// The length of the string that the text begins with, interpolations with strings of their own included.
fn quoted(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut braces) = (1, Vec::new());
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if braces.is_empty() || braces.last() == Some(&b'"') => at += 1,
            b'$' | b'%' if bytes.get(at + 1) == Some(&b'{') && braces.last() != Some(&b'{') => {
                braces.push(b'{');
                at += 1;
            }
            b'}' if braces.last() == Some(&b'{') => {
                braces.pop();
            }
            b'"' if braces.is_empty() => return at + 1,
            b'"' if braces.last() == Some(&b'"') => {
                braces.pop();
            }
            b'"' => braces.push(b'"'),
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// The text of a heredoc; of `<<-` without the indentation that all lines share.
fn heredoc_text(source: &str) -> Cow<'_, str> {
    let (Some(first), Some(last)) = (source.find('\n'), source.trim_end().rfind('\n')) else {
        return Cow::Borrowed("");
    };
    let text = source.get(first + 1..=last).unwrap_or_default();
    if !source.starts_with("<<-") {
        return Cow::Borrowed(text);
    }
    let shared = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches([' ', '\t']).len())
        .min()
        .unwrap_or(0);
    Cow::Owned(
        text.split_inclusive('\n')
            .map(|line| line.get(shared..).unwrap_or_else(|| line.trim_start_matches([' ', '\t'])))
            .collect(),
    )
}

/// `$${` and `%%{` stand for `${` and `%{`.
fn unescape_template(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains("$${") || text.contains("%%{") {
        return Cow::Owned(text.replace("$${", "${").replace("%%{", "%{"));
    }
    text
}

/// The parser's error in our words: its own has the whole line.
fn explain(text: &str, error: &hcl_edit::parser::Error) -> Error {
    let offset = error.location().offset().min(text.len());
    let place = Cursor::new(text).place(offset);
    if error.message().contains("redefined") {
        return redefined(text, offset, place);
    }
    let message = if error.message().contains("nested levels") || error.message().contains("nesting") {
        "nested too deep (the limit for HCL is 64 levels); flecto reads no deeper"
    } else if error.message().contains("operator") && error.message().contains("at most") {
        "too many operators in one expression (the limit is 128); split it"
    } else {
        "this is not HCL here; look for a missing quote, bracket or `=` at this place or just before it"
    };
    if let Some(error) = super::template::explain(text, place.line) {
        return error;
    }
    Error::new(place, message)
}

/// An attribute that stands there twice. The first is looked for above, at the same indentation.
fn redefined(text: &str, offset: usize, place: Place) -> Error {
    let rest = &text[offset..];
    let quoted = rest.strip_prefix('"').and_then(|inner| Some(&rest[..inner.find('"')? + 2]));
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(rest.len());
    let key = quoted.unwrap_or(&rest[..end]);
    let line_start = text[..offset].rfind('\n').map_or(0, |end| end + 1);
    let indentation = &text[line_start..offset];
    let is_first = |line: &str| {
        let after = line.strip_prefix(indentation).and_then(|line| line.strip_prefix(key));
        after.is_some_and(|after| after.trim_start().starts_with(['=', ':']))
    };
    let first = (1_u32..).zip(text[..line_start].lines()).filter(|(_, line)| is_first(line)).last();
    let first = first.map_or_else(String::new, |(line, _)| format!(", first on line {line}"));
    let name = super::key_name(key.trim_matches('"'));
    Error::new(place, format!("the key {name} stands here twice{first}; remove one"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Format, parse};

    #[track_caller]
    fn read(text: &str) -> String {
        let parsed =
            parse(Format::Hcl, text.as_bytes(), &Options::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        parsed.documents[0].root.to_value().to_json()
    }

    #[test]
    fn blocks_stand_under_their_labels() {
        assert_eq!(
            read(
                "resource \"aws_s3_bucket\" \"logs\" {\n  bucket = \"x\"\n  ingress {\n    port = 1\n  }\n  lifecycle {\n    prevent_destroy = true\n  }\n}\nresource \"aws_s3_bucket\" \"data\" {}\nlocals {\n  a = 1\n}\nlocals {\n  b = 2\n}\n"
            ),
            r#"{"resource":{"aws_s3_bucket":{"logs":{"bucket":"x","ingress":[{"port":1}],"lifecycle":{"prevent_destroy":true}},"data":{}}},"locals":{"a":1,"b":2}}"#
        );
        assert_eq!(
            read(
                "provider \"aws\" {\n  region = \"a\"\n}\nprovider \"aws\" {\n  alias  = \"west\"\n}\nmoved {\n  from = a.b\n  to   = a.c\n}\nx \"l\" {}\nx \"l\" {}\n"
            ),
            r#"{"provider":{"aws":{"region":"a"},"aws.west":{"alias":"west"}},"moved":[{"from":{"$flecto":"expression","text":"a.b"},"to":{"$flecto":"expression","text":"a.c"}}],"x":{"l":[{},{}]}}"#
        );
    }

    #[test]
    fn literals_are_values_and_the_rest_is_as_written() {
        assert_eq!(
            read(
                "a = 1.50\nb = -3\nc = null\nd = [\"x\", var.y]\ne = { k = 1, \"q r\" = 2, (var.z) = 3 }\nf = \"p-${var.q}\"\ng = \"${var.q}\"\nh = f(1, 2)\ni = jsonencode({ x = 1 })\nj = \"$${no}\"\nk = <<-EOT\n    one\n      two $${x}\n  EOT\nl = <<EOT\n${var.x}\nEOT\nm = 1 == 2 ? \"a\" : \"b\"\n"
            ),
            concat!(
                r#"{"a":1.50,"b":-3,"c":null,"d":["x",{"$flecto":"expression","text":"var.y"}],"#,
                r#""e":{"k":1,"q r":2,"(var.z)":3},"f":"p-${var.q}","g":"${var.q}","#,
                r#""h":{"$flecto":"expression","text":"f(1, 2)"},"i":{"$flecto":"tagged","tag":"jsonencode()","value":{"x":1}},"#,
                r#""j":"${no}","k":"one\n  two ${x}\n","l":"${var.x}\n","m":{"$flecto":"expression","text":"1 == 2 ? \"a\" : \"b\""}}"#
            )
        );
    }

    #[test]
    fn formatting_an_expression_changes_nothing() {
        let canonical = |text: &str| {
            let parsed = parse(Format::Hcl, text.as_bytes(), &Options::default()).expect(text);
            let Data::Map(entries) = &parsed.documents[0].root.data else { panic!("a map") };
            match &entries[0].value.data {
                Data::Typed(scalar) => scalar.canonical().to_string(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            canonical("a = f( 1,\n  \"x  y\", # why\n  [for k in v : k],\n)\n"),
            canonical("a = f(1, \"x  y\", [ for k in v : k ])\n")
        );
        assert_ne!(canonical("a = f(\"x  y\")\n"), canonical("a = f(\"x y\")\n"));
        assert_eq!(quoted("\"a ${f(\"b\")} \\\" c\" + 1"), 18);
    }

    #[test]
    fn errors_say_where_and_quote_nothing() {
        for text in ["password = \"hunter2\n", "x {\n  password = hunter2 hunter2\n}\n", "= hunter2\n"] {
            let error = parse(Format::Hcl, text.as_bytes(), &Options::default()).expect_err(text).to_string();
            assert!(!error.contains("hunter2") && error.contains(';'), "{error}");
        }
        let error = parse(Format::Hcl, b"a = 1\nb = 2\na = 3\n", &Options::default()).expect_err("twice").to_string();
        assert!(error.starts_with("3:1:") && error.contains("line 1"), "{error}");
        for object in ["a = {\n  x = 1\n  y = 2\n  x = 3\n}\n", "a = {\n  \"x\" = 1\n  y = 2\n  x : 3\n}\n"] {
            let error = parse(Format::Hcl, object.as_bytes(), &Options::default()).expect_err("twice").to_string();
            assert!(
                error.starts_with("4:3: the key `x` ") && error.contains("twice") && error.contains("line 2"),
                "{error}"
            );
        }
        let deep = format!("a = {}1{}\n", "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse(Format::Hcl, deep.as_bytes(), &Options::default()).expect_err("deep").to_string().contains("64"));
    }

    #[test]
    fn places_point_at_keys_and_values() {
        let text = "a = 1\nb \"l\" {\n  c = [\n    \"é\",\n  ]\n}\n";
        let parsed = parse(Format::Hcl, text.as_bytes(), &Options::default()).expect("hcl");
        let mut found = Vec::new();
        fn walk(node: &Node<'_>, found: &mut Vec<String>) {
            if let Data::Map(entries) = &node.data {
                for entry in entries {
                    let (key, value) = (entry.key_span.start, entry.value.span);
                    found.push(format!(
                        "{} {}:{} {}:{}-{}",
                        entry.key.text(),
                        key.line,
                        key.column,
                        value.start.line,
                        value.start.column,
                        value.end_line
                    ));
                    walk(&entry.value, found);
                }
            }
        }
        walk(&parsed.documents[0].root, &mut found);
        assert_eq!(found, ["a 1:1 1:5-1", "b 2:1 2:1-6", "l 2:3 2:1-6", "c 3:3 3:7-5"]);
    }
}
