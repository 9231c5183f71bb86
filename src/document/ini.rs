//! What does this INI file say? Sections of keys with values that are text, and the dialects that matter.
//!
//! There is no standard, so the rules are few, written down in docs/formats.md, and chosen so that nothing that is written
//! is dropped: a value is what follows the first `=` or `:`, quotes included; a key or a section that is repeated adds to
//! what it has; a key without a value is `null`; names keep their case.

use super::flat::{Keys, Lines, Written, node};
use super::lines::Cursor;
use super::{Data, Document, Entry, Error, Key, Options, Parsed, Place, Span, key_name};
use std::borrow::Cow;
use std::collections::HashMap;

/// Which rules hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `=` or `:`; a line that is indented deeper than its key continues the value, as Python's configparser has it.
    Ini,
    /// systemd.syntax(7): `=` alone; a `\` at the end joins the next line; no inline comments.
    Systemd,
}

pub(super) fn parse<'a>(dialect: Dialect, text: &'a str, options: &Options) -> Result<Parsed<'a>, Error> {
    let mut reader = Reader {
        dialect,
        cursor: Cursor::new(text),
        sections: vec![Section::default()],
        section_of: HashMap::new(),
        current: 0,
        open: None,
        comments: Vec::new(),
    };
    let mut lines = Lines::new(text);
    while let Some((start, line)) = lines.next() {
        reader.line(start, line, &mut lines)?;
    }
    Ok(reader.finish(text, options))
}

#[derive(Default)]
struct Section<'a> {
    name: &'a str,
    span: Span,
    keys: Keys<'a>,
}

/// The key whose value the next line may continue.
#[derive(Clone, Copy)]
struct Open {
    key: usize,
    indentation: usize,
    blank_lines: usize,
}

struct Reader<'a> {
    dialect: Dialect,
    cursor: Cursor<'a>,
    /// The first is what stands above all sections.
    sections: Vec<Section<'a>>,
    section_of: HashMap<&'a str, usize>,
    current: usize,
    open: Option<Open>,
    /// Where inline comments were cut off.
    comments: Vec<Place>,
}

impl<'a> Reader<'a> {
    fn line(&mut self, start: usize, line: &'a str, lines: &mut Lines<'a>) -> Result<(), Error> {
        let content = line.trim();
        let indentation = line.len() - line.trim_start().len();
        let at = start + indentation;
        if content.is_empty() {
            if let Some(open) = &mut self.open {
                open.blank_lines += 1;
            }
            return Ok(());
        }
        if content.starts_with([';', '#']) {
            return Ok(());
        }
        if let Some(open) = self.open.filter(|open| self.dialect == Dialect::Ini && indentation > open.indentation) {
            self.continue_value(open, at, content);
            return Ok(());
        }
        if let Some(rest) = content.strip_prefix('[') {
            return self.open_section(at, rest, content.len());
        }
        let separator = match self.dialect {
            Dialect::Ini => memchr::memchr2(b'=', b':', content.as_bytes()),
            Dialect::Systemd => memchr::memchr(b'=', content.as_bytes()),
        };
        let key = match separator {
            Some(end) => content[..end].trim_end(),
            None => self.without_comment(at, content),
        };
        if key.is_empty() {
            let place = self.cursor.place(at);
            return Err(Error::new(place, "a value without a key; write `key = value`, or `;` before a comment"));
        }
        let key_span = self.cursor.span(at, at + key.len());
        let value = match separator {
            None => node(Data::Null, key_span),
            Some(end) => {
                let from = end + 1;
                let (text, span) = match self.dialect {
                    Dialect::Systemd => self.joined(at + from, &content[from..], lines),
                    Dialect::Ini => {
                        let text = self.without_comment(at + from, &content[from..]);
                        let (text, span) = self.trimmed(at + from, text);
                        (Cow::Borrowed(text), span)
                    }
                };
                let span = if text.is_empty() { key_span } else { span };
                node(Data::String(text), span)
            }
        };
        let key = self.sections[self.current].keys.add(Cow::Borrowed(key), key_span, value);
        self.open = Some(Open { key, indentation, blank_lines: 0 });
        Ok(())
    }

    /// `[name]`. A name may hold brackets (`.editorconfig` has globs there): the last `]` of the line closes it.
    fn open_section(&mut self, at: usize, rest: &'a str, length: usize) -> Result<(), Error> {
        let Some(end) = rest.rfind(']') else {
            return Err(Error::new(self.cursor.place(at), "a section name that is never closed; add its `]`"));
        };
        let (name, span) = (rest[..end].trim(), self.cursor.span(at, at + length));
        self.open = None;
        self.current = *self.section_of.entry(name).or_insert_with(|| {
            self.sections.push(Section { name, span, keys: Keys::default() });
            self.sections.len() - 1
        });
        Ok(())
    }

    fn trimmed(&mut self, at: usize, text: &'a str) -> (&'a str, Span) {
        let value = text.trim();
        let start = at + text.len() - text.trim_start().len();
        (value, self.cursor.span(start, start + value.len()))
    }

    /// The text before an inline comment: `;` after a blank, or `#` between blanks. Inside quotes, for a value that begins
    /// with one, neither counts.
    fn without_comment(&mut self, at: usize, text: &'a str) -> &'a str {
        let bytes = text.as_bytes();
        let value = text.trim_start();
        let mut from = 0;
        if let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) {
            let start = text.len() - value.len();
            from = value[1..].rfind(quote).map_or(0, |end| start + end + 2);
        }
        let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
        let begins = |at: usize| match bytes[at] {
            b';' => at > 0 && blank(bytes.get(at - 1)),
            b'#' => at > 0 && blank(bytes.get(at - 1)) && (at + 1 == bytes.len() || blank(bytes.get(at + 1))),
            _ => false,
        };
        match (from..bytes.len()).find(|&at| begins(at)) {
            Some(end) => {
                let place = self.cursor.place(at + end);
                self.comments.push(place);
                text[..end].trim_end()
            }
            None => text.trim_end(),
        }
    }

    /// Adds a line to a value. It has no inline comments: such values are lists, commands and scripts, whose readers see
    /// every character.
    fn continue_value(&mut self, open: Open, at: usize, text: &'a str) {
        let start = self.cursor.place(at);
        self.open = Some(Open { blank_lines: 0, ..open });
        let written = self.sections[self.current].keys.written.get_mut(open.key);
        let Some(Written { value, .. }) = written else { return };
        match &mut value.data {
            // `key =` and lines below: the value begins with a line break, as configparser has it.
            Data::String(before) => {
                if before.is_empty() {
                    value.span.start = start;
                }
                let before = before.to_mut();
                before.push_str(&"\n".repeat(open.blank_lines + 1));
                before.push_str(text);
            }
            other => *other = Data::String(Cow::Borrowed(text)),
        }
        value.span.end_line = start.line;
    }

    /// The value of systemd: comment lines between joined lines are skipped, each joint is a blank.
    fn joined(&mut self, at: usize, text: &'a str, lines: &mut Lines<'a>) -> (Cow<'a, str>, Span) {
        let (first, mut span) = self.trimmed(at, text);
        let Some(first) = first.strip_suffix('\\') else { return (Cow::Borrowed(first), span) };
        let mut value = first.to_string();
        for (start, line) in lines {
            let content = line.trim();
            if content.starts_with([';', '#']) {
                continue;
            }
            span.end_line = self.cursor.place(start).line;
            value.truncate(value.trim_end().len());
            value.push(' ');
            match content.strip_suffix('\\') {
                Some(content) => value.push_str(content),
                None => {
                    value.push_str(content);
                    break;
                }
            }
        }
        (Cow::Owned(value), span)
    }

    fn finish(mut self, text: &'a str, options: &Options) -> Parsed<'a> {
        let end_line = self.cursor.place(text.trim_end().len()).line;
        let mut warnings = Vec::new();
        if let Some(first) = self.comments.first() {
            let line = first.line + options.lines_before;
            warnings.push(format!(
                "{} read without the comment after it, first on line {line}; some readers take it as part of the value",
                if self.comments.len() == 1 {
                    "a value was".to_string()
                } else {
                    format!("{} values were", self.comments.len())
                }
            ));
        }
        self.sections.iter().for_each(|section| warn_of_case(&section.keys, options, &mut warnings));
        let mut sections = self.sections.into_iter();
        let top = sections.next().unwrap_or_default();
        let mut entries = Vec::new();
        for section in sections {
            let taken = top.keys.contains(section.name);
            // A key above all sections may have the name of one.
            let name = Cow::Borrowed(section.name);
            let key = if taken { Key::Typed("section", name) } else { Key::String(name) };
            let inner = section.keys.into_lists();
            let end_line = inner.iter().map(|entry| entry.value.span.end_line).fold(section.span.end_line, u32::max);
            let value = node(Data::Map(inner), Span { end_line, ..section.span });
            entries.push(Entry::new(key, section.span, value));
        }
        let mut all = top.keys.into_lists();
        all.append(&mut entries);
        let start = all.first().map_or(Place { line: 1, column: 1 }, |entry| entry.key_span.start);
        let root = node(Data::Map(all), Span { start, end_line });
        Parsed { documents: vec![Document::new(root, 0)], warnings }
    }
}

fn lower_case(key: &str) -> Cow<'_, str> {
    let is_lower = key.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    if is_lower { Cow::Borrowed(key) } else { Cow::Owned(key.to_lowercase()) }
}

/// Keys that differ by case alone: many readers take them for one, and which wins differs.
fn warn_of_case(keys: &Keys<'_>, options: &Options, warnings: &mut Vec<String>) {
    let mut seen = HashMap::new();
    for entry in &keys.written {
        if let Some((line, other)) = seen.insert(lower_case(&entry.key), (entry.key_span.start.line, &entry.key)) {
            warnings.push(format!(
                "the keys {} on line {} and {} on line {} differ by case alone; many readers take them for one",
                key_name(other),
                line + options.lines_before,
                key_name(&entry.key),
                entry.key_span.start.line + options.lines_before,
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::document::{Data, Format, Options, parse};

    #[track_caller]
    fn read(format: Format, text: &str) -> (String, Vec<String>) {
        let parsed = parse(format, text.as_bytes(), &Options::default()).expect(text);
        (parsed.documents[0].root.to_value().to_json(), parsed.warnings)
    }

    #[test]
    fn repeated_keys_and_sections_add_up() {
        let (value, _) =
            read(Format::Ini, "top = 0\n[Mount]\nFile=a.txt\n[Other]\nx=1\n[Mount]\nFile=b.txt\n[Empty]\n");
        assert_eq!(value, r#"{"top":"0","Mount":{"File":["a.txt","b.txt"]},"Other":{"x":"1"},"Empty":{}}"#);
        let (value, _) = read(Format::Ini, "a = 1\n[a]\nb = 2\n");
        assert_eq!(value, r#"{"$flecto":"map","entries":[["a","1"],[{"$flecto":"key","text":"a"},{"b":"2"}]]}"#);
    }

    #[test]
    fn keys_without_a_value_and_case() {
        let (value, warnings) = read(Format::Ini, "[mysqld]\nskip-networking\nport=3306\nempty=\nPort : 3307\n");
        assert_eq!(value, r#"{"mysqld":{"skip-networking":null,"port":"3306","empty":"","Port":"3307"}}"#);
        assert_eq!(
            warnings,
            ["the keys `port` on line 3 and `Port` on line 5 differ by case alone; many readers take them for one"]
        );
    }

    #[test]
    fn inline_comments_follow_one_rule() {
        let (value, warnings) = read(
            Format::Ini,
            "a = 1 ; one\nb = 2 # two\nc = #fff\nd = x;y\ne = pytest #{posargs}\nf = \"q ; q\" ; c\ng = ; none\nh = 'it # is'\ni = https://x/#y\nflag ; note\nj = `a # b` #c\n",
        );
        assert_eq!(
            value,
            r##"{"a":"1","b":"2","c":"#fff","d":"x;y","e":"pytest #{posargs}","f":"\"q ; q\"","g":"","h":"'it # is'","i":"https://x/#y","flag":null,"j":"`a # b` #c"}"##
        );
        assert_eq!(
            warnings,
            [
                "5 values were read without the comment after it, first on line 1; some readers take it as part of the value"
            ]
        );
    }

    #[test]
    fn deeper_lines_continue_a_value() {
        let (value, _) = read(
            Format::Ini,
            "[options]\ndeps =\n  one\n  # no\n  two # 2\n\n    three\nnext = a\n\n[x]\n\tk = 1\n\tl = 2\n",
        );
        assert_eq!(value, r#"{"options":{"deps":"\none\ntwo # 2\n\nthree","next":"a"},"x":{"k":"1","l":"2"}}"#);
    }

    #[test]
    fn systemd_joins_lines_and_keeps_the_rest() {
        let (value, warnings) = read(
            Format::Systemd,
            "[Service]\nExecStart=\nExecStart=/bin/x --a \\\n  # why\n  --b:1 ; /bin/y \\\n  c\nEnvironment=A=1 # no comment\n  Indented=yes\n",
        );
        assert_eq!(
            value,
            r#"{"Service":{"ExecStart":["","/bin/x --a --b:1 ; /bin/y c"],"Environment":"A=1 # no comment","Indented":"yes"}}"#
        );
        assert!(warnings.is_empty());
    }

    #[test]
    fn places_point_at_keys_and_values() {
        let text = "[s]\nkey  =  é v ; c\nlong =\n   a\n   b\n";
        let parsed = parse(Format::Ini, text.as_bytes(), &Options::default()).expect("ini");
        let Data::Map(root) = &parsed.documents[0].root.data else { panic!("a map") };
        let Data::Map(section) = &root[0].value.data else { panic!("a map") };
        let said: Vec<String> = section
            .iter()
            .map(|entry| {
                let (key, value) = (entry.key_span.start, entry.value.span);
                format!("{}:{} {}:{}-{}", key.line, key.column, value.start.line, value.start.column, value.end_line)
            })
            .collect();
        assert_eq!(said, ["2:1 2:9-2", "3:1 4:4-5"]);
        assert_eq!((root[0].key_span.start.line, root[0].value.span.end_line), (1, 5));
    }

    #[test]
    fn what_is_no_ini_is_refused_without_quoting_it() {
        for (text, at) in [("[s\n", "1:1:"), ("a=1\n = hunter2\n", ""), ("= hunter2\n", "1:1:")] {
            let result = parse(Format::Ini, text.as_bytes(), &Options::default());
            if at.is_empty() {
                assert!(result.is_ok(), "an indented line continues");
                continue;
            }
            let error = result.expect_err(text).to_string();
            assert!(error.starts_with(at) && !error.contains("hunter2"), "{error}");
        }
    }
}
