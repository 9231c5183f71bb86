//! What in a document of several lines is secret by its place in it? Reads YAML's layout without being a parser: indentation, dashes
//! and `key: value`, so that parents, siblings and the kind of document count inside of strings too.
//!
//! A parser was rejected for this: what stands in a string is often a template or half a document, and a secret in it is one
//! all the same.

use super::context::{Context, NAME_FIELDS, VALUE_FIELDS, glued};
use super::scan::Span;
use super::words::{self, Named, Strength};
use super::{By, pairs, reading};
use std::ops::Range;

struct Level {
    indent: usize,
    context: Context,
    /// What a `name:` of the same map says, and where a `value:` that came before it stands.
    named: Option<Named>,
    early: Option<Range<usize>>,
    /// `kind: Secret` was seen in the map that this level's keys belong to.
    secret: bool,
}

/// Finds them.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    if !text.contains(": ") && !text.contains(":\n") && !text.contains("- ") {
        return;
    }
    let mut levels = vec![Level { indent: 0, context: Context::root(), named: None, early: None, secret: false }];
    let mut start = 0;
    // A block scalar under a key that is a secret, and the indentation that ends it.
    let mut block: Option<(usize, Option<Named>, By)> = None;
    for line in text.split('\n') {
        let at = start;
        start += line.len() + 1;
        let indent = line.len() - line.trim_start_matches(' ').len();
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        if let Some((outer, named, by)) = &block {
            if indent > *outer {
                if let Some(named) = named
                    && !reading::is_kept(content, named.strength)
                {
                    let offset = at + (line.len() - line.trim_start().len());
                    spans.push(Span::new(offset..offset + content.len(), *by, named.word));
                }
                continue;
            }
            block = None;
        }
        if content == "---" || content == "..." {
            levels.truncate(1);
            levels[0].named = None;
            levels[0].secret = false;
            continue;
        }
        // Dashes count as indentation: the map of an item starts behind them.
        let mut column = indent;
        let mut rest = line.trim_start();
        let mut dashed = false;
        while let Some(after) = rest.strip_prefix("- ") {
            let skipped = 2 + after.len() - after.trim_start().len();
            column += skipped;
            rest = after.trim_start();
            dashed = true;
        }
        while levels.len() > 1
            && levels.last().is_some_and(|level| level.indent > column || dashed && level.indent >= column)
        {
            levels.pop();
        }
        let Some((key, value_at)) = key_of(rest) else {
            // The item of a list.
            if dashed && let Some(level) = levels.last() {
                let context = level.context.item();
                let offset = at + column;
                item(rest.trim_end(), offset, &context, spans);
            } else if let Some(level) = levels.last().filter(|level| level.indent > 0 && column >= level.indent)
                && !rest.trim_end().contains(' ')
            {
                // A plain scalar in the line below its key.
                item(rest.trim_end(), at + column, &level.context, spans);
            }
            continue;
        };
        let fresh = levels.last().is_none_or(|level| level.indent < column) || levels.len() == 1 && column > 0;
        if fresh && levels.last().is_some_and(|level| level.indent < column) {
            let context = levels.last().map(|level| level.context.clone()).unwrap_or_default();
            let context = if dashed { context.item() } else { context };
            levels.push(Level { indent: column, context, named: None, early: None, secret: false });
        }
        let Some(level) = levels.last_mut() else { continue };
        // The level's own context is that of the map; the key's is one step further.
        let map = map_context(level);
        let value = rest[value_at..].trim();
        let value_start = at + column + value_at + (rest[value_at..].len() - rest[value_at..].trim_start().len());
        let (value, value_start) = unquote(strip_comment(value), value_start);
        let field = glued(key);
        if &*field == "kind" && value == "Secret" {
            level.secret = true;
        }
        let mut context = map.key(key);
        if level.secret && matches!(key, "data" | "stringData") {
            context = map.as_secret_data(key);
        }
        if NAME_FIELDS.contains(&&*field) && !value.is_empty() && value.len() < 128 {
            level.named = words::named(value).filter(|named| named.strength >= Strength::Medium);
            if let (Some(named), Some(early)) = (level.named, level.early.take()) {
                judge(text, early, &named, By::Sibling, spans);
            }
        } else if VALUE_FIELDS.contains(&&*field) {
            match level.named {
                Some(named) => context = map.beside(key, named),
                None => level.early = Some(value_start..value_start + value.len()),
            }
        }
        let opens_block = value.starts_with(['|', '>']) && value.len() <= 3;
        if opens_block {
            block = Some((
                indent.max(column.min(indent + 2)),
                context.hold.map(|hold| hold.named),
                context.hold.map_or(By::Key, |hold| hold.by),
            ));
        } else if value.is_empty() {
            // A map or a list follows: its keys are one step below this one, at any deeper indentation.
            let indent = column + 1;
            levels.push(Level { indent, context, named: None, early: None, secret: false });
        } else if let Some(hold) = context.hold {
            if hold.by == By::Document {
                if !reading::is_masked(value) && !reading::is_reference(value) {
                    spans.push(Span::new(value_start..value_start + value.len(), By::Document, hold.named.word));
                }
            } else {
                judge(text, value_start..value_start + value.len(), &hold.named, hold.by, spans);
            }
        }
    }
}

/// A level made for the children of a key holds that key's context; one made for a map's keys holds the map's.
fn map_context(level: &Level) -> Context {
    level.context.clone()
}

fn item(text: &str, offset: usize, context: &Context, spans: &mut Vec<Span>) {
    let (value, offset) = unquote(strip_comment(text), offset);
    let Some(hold) = context.hold else { return };
    if value.is_empty() {
        return;
    }
    if let Some((part, word)) = pairs::judge_value(value, &hold.named, false) {
        spans.push(Span::new(offset + part.start..offset + part.end, By::Container, word));
    }
}

fn judge(text: &str, range: Range<usize>, named: &Named, by: By, spans: &mut Vec<Span>) {
    if let Some((part, word)) = pairs::judge_value(&text[range.clone()], named, false) {
        let by = if by == By::Sibling { By::Sibling } else { By::Container };
        spans.push(Span::new(range.start + part.start..range.start + part.end, by, word));
    }
}

/// The key that a line begins with, and where its value does.
fn key_of(line: &str) -> Option<(&str, usize)> {
    if let Some(quote) = line.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let end = line[1..].find(quote)? + 1;
        let after = &line[end + 1..];
        let blanks = after.len() - after.trim_start().len();
        return after[blanks..].starts_with(':').then_some((&line[1..end], end + 1 + blanks + 1));
    }
    let colon = line.find(':')?;
    let key = line[..colon].trim_end();
    let fine = !key.is_empty()
        && key.len() <= 128
        && !key.contains([' ', '{', '"', '=', '<', '('])
        && line[colon + 1..].chars().next().is_none_or(|c| c == ' ' || c == '\r');
    fine.then_some((key, colon + 1))
}

fn strip_comment(value: &str) -> &str {
    if value.starts_with(['"', '\'']) {
        return value;
    }
    value.find(" #").map_or(value, |at| value[..at].trim_end())
}

fn unquote(value: &str, start: usize) -> (&str, usize) {
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote) {
            let inner = inner.find(quote).map_or(inner, |end| &inner[..end]);
            return (inner, start + 1);
        }
    }
    (value, start)
}
