//! What does this YAML say? Documents as trees: types resolved, aliases and merge keys expanded, places kept.
//!
//! granit-parser gives events (YAML 1.2 grammar); everything that a meaning needs is made here. A document is built in one
//! pass; only one that has aliases, merge keys or a Kubernetes shape is walked again. What is written plainly, that is most,
//! is read without it, by [`plain`].

mod alias;
mod error;
mod plain;
mod scalar;

use super::lines::{Cursor, first_control};
use super::{Data, Document, Entry, Error, Key, Node, Options, Parsed, Place, Rare, Span, template};
use crate::limits::{MAX_DEPTH, MAX_DOCUMENTS};
use granit_parser::{Event, Parser, ScalarStyle, StructureStyle, Tag, YamlVersion};
use scalar::{Readings, Seen};
use std::borrow::Cow;

pub(super) fn parse<'a>(text: &'a str, options: &Options) -> Result<Parsed<'a>, Error> {
    if let Some(at) = first_control(text) {
        let byte = text.as_bytes()[at];
        let message = format!(
            "the control character U+{byte:04X}, which YAML does not allow; write it as \"\\x{byte:02x}\" in double quotes"
        );
        return Err(Error::new(Cursor::new(text).place(at), message));
    }
    if let Some(plain) = plain::parse(text) {
        let mut builder = Builder::new(text, options);
        builder.root = Some(plain.root);
        builder.kubernetes = plain.kubernetes;
        builder.kubernetes_keys = plain.kubernetes_keys;
        builder.finish()?;
        return Ok(builder.parsed);
    }
    by_events(text, options)
}

/// Reads any YAML, by the events of the parser.
fn by_events<'a>(text: &'a str, options: &Options) -> Result<Parsed<'a>, Error> {
    let parser_options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut parser = Parser::new_from_str_with_options(text, parser_options);
    let mut builder = Builder::new(text, options);
    while let Some(event) = parser.next_event() {
        match event {
            Ok((Event::StreamEnd, _)) => break,
            Ok((event, span)) => builder.event(event, &span)?,
            Err(error) => return Err(error::explain(text, &error)),
        }
    }
    Ok(builder.parsed)
}

/// A collection whose end was not seen yet.
struct Frame<'a> {
    tag: Option<Rare>,
    start: Place,
    /// Where it begins in the text, and whether it is written in brackets.
    offset: usize,
    flow: bool,
    /// It is the key of the map around it, and how many nodes there were before it.
    key_of: Option<u32>,
    items: Items<'a>,
}

enum Items<'a> {
    List(Vec<Node<'a>>),
    /// Entries, and the key whose value comes next.
    Map(Vec<Entry<'a>>, Option<NextKey<'a>>),
}

/// A key whose value was not seen yet.
struct NextKey<'a> {
    key: Key<'a>,
    yaml11: Option<Box<Key<'a>>>,
    span: Span,
}

struct Builder<'a, 'o> {
    text: &'a str,
    options: &'o Options,
    parsed: Parsed<'a>,
    stack: Vec<Frame<'a>>,
    root: Option<Node<'a>>,
    version: Option<YamlVersion>,
    seen: alias::Seen<'a>,
    /// What Kubernetes reads where that is something else, in document order.
    kubernetes: Vec<(Place, Data<'a>)>,
    kubernetes_keys: Vec<(Place, Key<'a>)>,
    /// How deep inside keys that are collections.
    in_key: usize,
}

impl<'a, 'o> Builder<'a, 'o> {
    fn new(text: &'a str, options: &'o Options) -> Builder<'a, 'o> {
        Builder {
            text,
            options,
            parsed: Parsed::default(),
            stack: Vec::new(),
            root: None,
            version: None,
            seen: alias::Seen::default(),
            kubernetes: Vec::new(),
            kubernetes_keys: Vec::new(),
            in_key: 0,
        }
    }

    fn event(&mut self, event: Event<'a>, span: &granit_parser::Span) -> Result<(), Error> {
        match event {
            Event::DocumentStart(_, version) => {
                self.version = version;
                if self.parsed.documents.len() >= MAX_DOCUMENTS {
                    let message = format!("more than {MAX_DOCUMENTS} documents; split the file");
                    return Err(Error::new(place(span.start), message));
                }
            }
            Event::DocumentEnd => self.finish()?,
            Event::Scalar(text, style, anchor, tag) => self.scalar(text, style, anchor, tag, span)?,
            Event::Alias(id) => self.alias(id, span)?,
            Event::SequenceStart(style, anchor, tag) => self.open(Items::List(Vec::new()), style, anchor, tag, span)?,
            Event::MappingStart(style, anchor, tag) => {
                self.open(Items::Map(Vec::new(), None), style, anchor, tag, span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span)?,
            _ => {}
        }
        Ok(())
    }

    /// Whether the next node is a key.
    fn expects_key(&self) -> bool {
        matches!(self.stack.last(), Some(Frame { items: Items::Map(_, None), .. }))
    }

    fn scalar(
        &mut self,
        text: Cow<'a, str>,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<Cow<'a, Tag>>,
        span: &granit_parser::Span,
    ) -> Result<(), Error> {
        let empty = style == ScalarStyle::Plain && span.is_empty();
        let place = self.scalar_span(span, empty);
        let tag = tag.as_deref().map(tag_of);
        let is_key = self.expects_key();
        let merge = is_key && tag.is_none() && style == ScalarStyle::Plain && text == "<<";
        let readings = if empty {
            None
        } else if style == ScalarStyle::Plain && tag.is_none() {
            Some(scalar::resolve(&text))
        } else {
            None
        };
        let mut key11 = None;
        let (data, tag, yaml11) = match (readings, tag) {
            (None, None | Some(TagOf::Collection)) if empty => (Data::Null, None, None),
            (None, None | Some(TagOf::Collection)) => {
                let cut = without_last_break(self.text, span, &text, style)
                    .map(|cut| Data::String(Cow::Owned(cut.to_string())));
                if let Some(cut) = &cut
                    && !is_key
                    && self.in_key == 0
                {
                    self.kubernetes.push((place.start, cut.clone()));
                }
                (Data::String(text), None, cut.filter(|_| !is_key).map(Box::new))
            }
            (None, Some(tag)) => {
                let (data, tag) = tagged(if empty { Cow::Borrowed("") } else { text }, tag, empty);
                (data, tag, None)
            }
            (Some(readings), _) => {
                let Readings { core, yaml11, kubernetes } = readings;
                if let Some(seen) = kubernetes.filter(|_| self.in_key == 0) {
                    let data = seen.into_data(text.clone());
                    if is_key {
                        self.kubernetes_keys.push((place.start, key_of(data, None)));
                    } else {
                        self.kubernetes.push((place.start, data));
                    }
                }
                let mut yaml11 = yaml11.map(|seen| seen.into_data(text.clone()));
                if is_key {
                    key11 = yaml11.take().map(|data| Box::new(key_of(data, None)));
                }
                (core.into_data(text), None, yaml11.map(Box::new))
            }
        };
        if anchor != 0 && self.in_key == 0 {
            if is_key {
                self.seen.key_anchors.insert(anchor, (data.clone(), tag.clone()));
            } else {
                self.seen.anchors.insert(anchor, self.seen.nodes);
                self.seen.key_anchors.insert(anchor, (data.clone(), tag.clone()));
            }
        }
        if is_key {
            let key = if merge { self.merge_key() } else { key_of(data, tag.as_deref()) };
            self.key(NextKey { key, yaml11: key11, span: place });
            return Ok(());
        }
        self.seen.nodes += 1;
        self.value(Node { data, tag, yaml11, span: place });
        Ok(())
    }

    /// `<<` as a key that is equal to no other, because a map may have several. They are gone after [`alias::expand`].
    fn merge_key(&mut self) -> Key<'a> {
        self.seen.merges += 1;
        Key::Typed(alias::MERGE, Cow::Owned(self.seen.merges.to_string()))
    }

    fn alias(&mut self, id: usize, span: &granit_parser::Span) -> Result<(), Error> {
        let place = Span { start: place(span.start), end_line: line(span.start) };
        if self.in_key > 0 {
            return Err(Error::new(place.start, alias::IN_KEY));
        }
        if self.expects_key() {
            let (data, tag) = self.seen.key_anchors.get(&id).ok_or_else(|| Error::new(place.start, alias::IN_KEY))?;
            let key = key_of(data.clone(), tag.as_deref());
            self.key(NextKey { key, yaml11: None, span: place });
            return Ok(());
        }
        self.seen.aliases.push(id);
        self.seen.nodes += 1;
        self.value(Node { data: Data::Cycle, tag: None, yaml11: None, span: place });
        Ok(())
    }

    fn open(
        &mut self,
        items: Items<'a>,
        style: StructureStyle,
        anchor: usize,
        tag: Option<Cow<'a, Tag>>,
        span: &granit_parser::Span,
    ) -> Result<(), Error> {
        let mut start = place(span.start);
        if self.stack.len() >= MAX_DEPTH {
            return Err(Error::new(start, format!("nested deeper than {MAX_DEPTH} levels; flecto reads no deeper")));
        }
        let offset = span.start.byte_offset().unwrap_or_default();
        let flow = style == StructureStyle::Flow;
        let is_key = self.expects_key();
        // A list that is not indented deeper than its key begins at its first item for the parser; we say at its dash.
        let is_value = matches!(self.stack.last(), Some(Frame { items: Items::Map(_, Some(_)), .. }));
        if !flow && is_value && matches!(items, Items::List(_)) {
            let before = self.text[..offset].trim_end_matches([' ', '\t']);
            if before.ends_with('-') {
                let back = u32::try_from(offset - before.len() + 1).unwrap_or_default();
                start.column = start.column.saturating_sub(back).max(1);
            }
        }
        // `{{ x }}` is YAML: a map whose key is a map. Nobody means that.
        let doubled = is_key && flow && offset > 0 && self.text.as_bytes()[offset - 1] == b'{';
        if doubled && self.stack.last().is_some_and(|outer| outer.flow && outer.offset + 1 == offset) {
            return Err(template::error(Place { column: start.column - 1, ..start }, "{{ … }}"));
        }
        if anchor != 0 && self.in_key == 0 && !is_key {
            self.seen.anchors.insert(anchor, self.seen.nodes);
        }
        let key_of = is_key.then_some(self.seen.nodes);
        self.in_key += usize::from(is_key);
        self.seen.nodes += u32::from(!is_key);
        let tag = match tag.as_deref().map(tag_of) {
            Some(TagOf::Custom(tag)) => Some(tag),
            _ => None,
        };
        self.stack.push(Frame { tag, start, offset, flow, key_of, items });
        Ok(())
    }

    fn close(&mut self, span: &granit_parser::Span) -> Result<(), Error> {
        let Some(frame) = self.stack.pop() else { return Ok(()) };
        let mut end_line = if frame.flow { line(span.start) } else { frame.start.line };
        let data = match frame.items {
            Items::List(items) => {
                end_line = end_line.max(items.last().map_or(0, |item| item.span.end_line));
                Data::List(items)
            }
            Items::Map(entries, _) => {
                end_line = end_line.max(entries.last().map_or(0, |entry| entry.value.span.end_line));
                if let Some((first, second)) = super::find_duplicate(&entries) {
                    // Where it is allowed, it is settled after aliases were counted through.
                    self.seen.duplicates = true;
                    if !self.options.allow_duplicate_keys {
                        let name = entries[second].key.text();
                        super::duplicate_key(name, entries[first].key_span, entries[second].key_span, self.options)?;
                    }
                }
                Data::Map(entries)
            }
        };
        let node = Node { data, tag: frame.tag, yaml11: None, span: Span { start: frame.start, end_line } };
        match frame.key_of {
            None => self.value(node),
            Some(nodes) => {
                self.in_key -= 1;
                self.seen.nodes = nodes;
                let kind = if matches!(node.data, Data::List(_)) { "list" } else { "map" };
                let mut text = String::new();
                node.write_json(&mut text);
                self.key(NextKey { key: Key::Typed(kind, Cow::Owned(text)), yaml11: None, span: node.span });
            }
        }
        Ok(())
    }

    fn key(&mut self, key: NextKey<'a>) {
        if let Some(Frame { items: Items::Map(_, next), .. }) = self.stack.last_mut() {
            *next = Some(key);
        }
    }

    fn value(&mut self, mut node: Node<'a>) {
        match self.stack.last_mut() {
            None => self.root = Some(node),
            Some(Frame { items: Items::List(items), .. }) => items.push(node),
            Some(Frame { items: Items::Map(entries, next), .. }) => {
                let Some(NextKey { key, yaml11, span: key_span }) = next.take() else { return };
                // A value that is not written has the place of whatever comes next: its key tells more.
                if node.span.start.line == 0 {
                    node.span = key_span;
                }
                entries.push(Entry { key, key_span, yaml11, value: node });
            }
        }
    }

    fn scalar_span(&self, span: &granit_parser::Span, empty: bool) -> Span {
        if empty && matches!(self.stack.last(), Some(Frame { items: Items::Map(_, Some(_)), .. })) {
            return Span::default();
        }
        let start = place(span.start);
        let mut end_line = start.line;
        if span.end.line() > span.start.line() {
            // The span of a block scalar runs on to the next token.
            let text = span.slice(self.text).unwrap_or_default().trim_end();
            let lines = text.bytes().filter(|&b| b == b'\n').count();
            end_line = end_line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        }
        Span { start, end_line }
    }

    fn finish(&mut self) -> Result<(), Error> {
        let empty = Node { data: Data::Null, tag: None, yaml11: None, span: Span::default() };
        let mut root = self.root.take().unwrap_or(empty);
        if is_kubernetes(&root) {
            let mut data = std::mem::take(&mut self.kubernetes).into_iter().peekable();
            let mut keys = std::mem::take(&mut self.kubernetes_keys).into_iter().peekable();
            read_as_kubernetes(&mut root, &mut data, &mut keys);
        } else if self.version == Some(YamlVersion { major: 1, minor: 1 }) {
            read_as_yaml11(&mut root);
        }
        self.kubernetes.clear();
        self.kubernetes_keys.clear();
        let seen = std::mem::take(&mut self.seen);
        alias::expand(&mut root, seen, self.options, &mut self.parsed.warnings)?;
        if self.options.lines_before > 0 {
            move_down(&mut root, self.options.lines_before);
        }
        let index = self.parsed.documents.len() + self.options.documents_before;
        self.parsed.documents.push(Document::new(root, index));
        Ok(())
    }
}

fn line(marker: granit_parser::Marker) -> u32 {
    u32::try_from(marker.line()).unwrap_or(u32::MAX)
}

fn place(marker: granit_parser::Marker) -> Place {
    Place { line: line(marker), column: u32::try_from(marker.col() + 1).unwrap_or(u32::MAX) }
}

/// A block text that is the end of a file without a line break, as libyaml and what is built on it read it (go-yaml, PyYAML):
/// without one. YAML 1.2 has it end in one all the same.
fn without_last_break<'t>(
    file: &str,
    span: &granit_parser::Span,
    text: &'t str,
    style: ScalarStyle,
) -> Option<&'t str> {
    let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
    let cut = text.strip_suffix('\n').filter(|_| is_block && !file.ends_with(['\n', '\r']))?;
    // The span runs on to the next token, or to the end.
    let written = span.slice(file)?;
    if written.as_bytes().as_ptr_range().end != file.as_bytes().as_ptr_range().end {
        return None;
    }
    // Not a comment after it, nor blank lines, which have their line breaks.
    let last = file.rsplit(['\n', '\r']).next().unwrap_or_default().trim_start_matches([' ', '\t']);
    (!last.is_empty() && cut.ends_with(last)).then_some(cut)
}

/// What a tag asks for.
enum TagOf {
    /// One of the core schema's scalar types, by its word.
    Core(&'static str),
    /// `!!map`, `!!seq`: nothing that the notation does not say.
    Collection,
    /// Any other, as it is kept.
    Custom(Rare),
}

fn tag_of(tag: &Tag) -> TagOf {
    const CORE: [&str; 6] = ["str", "int", "float", "bool", "null", "timestamp"];
    let full = format!("{}{}", tag.handle(), tag.suffix());
    match full.strip_prefix("tag:yaml.org,2002:") {
        Some("map" | "seq") => TagOf::Collection,
        Some(suffix) => match CORE.iter().find(|core| **core == suffix) {
            Some(core) => TagOf::Core(core),
            None => TagOf::Custom(format!("!!{suffix}").into()),
        },
        // `! text`: the non-specific tag makes it a string.
        None if full == "!" => TagOf::Core("str"),
        None if full.starts_with('!') => TagOf::Custom(full.into()),
        None => TagOf::Custom(format!("!<{full}>").into()),
    }
}

/// A scalar with a tag, and the tag where it says more than the type. What does not fit its tag keeps both.
fn tagged<'a>(text: Cow<'a, str>, tag: TagOf, empty: bool) -> (Data<'a>, Option<Rare>) {
    use super::ScalarKind::{Date, Float, Int};
    let core = match tag {
        TagOf::Core(core) => core,
        TagOf::Collection => return (Data::String(text), None),
        TagOf::Custom(tag) if empty => return (Data::Null, Some(tag)),
        TagOf::Custom(tag) => return (Data::String(text), Some(tag)),
    };
    let Readings { core: seen, yaml11, .. } = scalar::resolve(&text);
    let fitting = match (core, seen, yaml11) {
        ("str", ..) => Some(Seen::String),
        ("null", Seen::Null, _) => Some(Seen::Null),
        ("bool", seen @ Seen::Bool(_), _) | ("bool", _, Some(seen @ Seen::Bool(_))) => Some(seen),
        ("int", seen @ Seen::Typed(Int, _), _) | ("int", _, Some(seen @ Seen::Typed(Int, _))) => Some(seen),
        ("float", Seen::Typed(Int | Float, canonical), _) => Some(Seen::Typed(Float, canonical)),
        ("timestamp", _, Some(seen @ Seen::Typed(Date, _))) => Some(seen),
        _ => None,
    };
    match fitting {
        Some(seen) => (seen.into_data(text), None),
        None => (Data::String(text), Some(format!("!!{core}").into())),
    }
}

/// A scalar as a key. A tagged key is a key of its own.
fn key_of<'a>(data: Data<'a>, tag: Option<&str>) -> Key<'a> {
    if let Some(tag) = tag {
        let mut text = format!("{tag} ");
        data.write_json(&mut text);
        return Key::Typed("tagged", Cow::Owned(text));
    }
    match data {
        Data::String(text) => Key::String(text),
        Data::Bool(value) => Key::Typed("bool", Cow::Borrowed(if value { "true" } else { "false" })),
        Data::Typed(scalar) => Key::Typed(scalar.kind.name(), scalar.into_canonical()),
        _ => Key::Typed("null", Cow::Borrowed("null")),
    }
}

/// A map with `apiVersion` and `kind`: a Kubernetes object, or what reads its files in the same way.
fn is_kubernetes(root: &Node<'_>) -> bool {
    let Data::Map(entries) = &root.data else { return false };
    let has = |name: &str| {
        entries.iter().any(|entry| {
            matches!(&entry.key, Key::String(key) if key == name) && matches!(entry.value.data, Data::String(_))
        })
    };
    has("apiVersion") && has("kind")
}

/// Puts in what Kubernetes reads. Both sides are in document order.
fn read_as_kubernetes<'a>(
    node: &mut Node<'a>,
    data: &mut std::iter::Peekable<std::vec::IntoIter<(Place, Data<'a>)>>,
    keys: &mut std::iter::Peekable<std::vec::IntoIter<(Place, Key<'a>)>>,
) {
    node.yaml11 = None;
    match &mut node.data {
        Data::List(items) => items.iter_mut().for_each(|item| read_as_kubernetes(item, data, keys)),
        Data::Map(entries) => {
            for entry in entries {
                entry.yaml11 = None;
                if let Some((_, key)) = keys.next_if(|(place, _)| *place == entry.key_span.start) {
                    entry.key = key;
                }
                read_as_kubernetes(&mut entry.value, data, keys);
            }
        }
        _ => {
            if let Some((_, seen)) = data.next_if(|(place, _)| *place == node.span.start) {
                node.data = seen;
            }
        }
    }
}

/// Puts in what a reader of YAML 1.1 sees. `y` and `n` stay text: only where a reader may be go-yaml is there a doubt.
fn read_as_yaml11(node: &mut Node<'_>) {
    let is_letter = |text: &str| text.len() == 1;
    if let Some(data) = node.yaml11.take()
        && !matches!(&node.data, Data::String(text) if is_letter(text))
    {
        node.data = *data;
    }
    match &mut node.data {
        Data::List(items) => items.iter_mut().for_each(read_as_yaml11),
        Data::Map(entries) => {
            for entry in entries {
                if let Some(key) = entry.yaml11.take()
                    && !is_letter(entry.key.text())
                {
                    entry.key = *key;
                }
                read_as_yaml11(&mut entry.value);
            }
        }
        _ => {}
    }
}

fn move_down(node: &mut Node<'_>, lines: u32) {
    let move_span = |span: &mut Span| {
        span.start.line = span.start.line.saturating_add(lines);
        span.end_line = span.end_line.saturating_add(lines);
    };
    move_span(&mut node.span);
    match &mut node.data {
        Data::List(items) => items.iter_mut().for_each(|item| move_down(item, lines)),
        Data::Map(entries) => {
            for entry in entries {
                move_span(&mut entry.key_span);
                move_down(&mut entry.value, lines);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
