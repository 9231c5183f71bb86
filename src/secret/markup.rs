//! What in XML and HTML is secret? The text of an element and the value beside an attribute that a key word names.

use super::scan::Span;
use super::words::{self, Named, Strength};
use super::{By, pairs};

/// Attributes that say what the element's value is called.
const NAMES: &[&str] = &["name", "key", "id", "property", "param"];

/// Finds them. One pass from tag to tag; the state is the last names that were said.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    if !text.contains('<') || !text.contains('>') {
        return;
    }
    // The name that the next text belongs to, and whether a nested `<value>` may stand before it.
    let mut pending: Option<Named> = None;
    let mut from = 0;
    let mut last_key = false;
    while let Some(open) = text[from..].find('<').map(|at| from + at) {
        let inside = &text[open + 1..];
        let first = inside.chars().next().unwrap_or(' ');
        if !(first.is_alphabetic() || first == '/' || first == '_') {
            from = open + 1;
            continue;
        }
        let Some(close) = tag_end(inside).map(|at| open + 1 + at) else { return };
        let tag = &text[open + 1..close];
        from = if text[close..].starts_with('<') { close } else { close + 1 };
        if first == '/' {
            let name = tag[1..].trim();
            if !(last_key && name == "key") {
                pending = pending.filter(|_| matches!(local(name), "name" | "key"));
            }
            continue;
        }
        let length = tag.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(tag.len());
        let written = local(&tag[..length]);
        let lower = written.to_ascii_lowercase();
        // The words of other formats are in lower case; `<Value>` is Microsoft's.
        let element = if matches!(lower.as_str(), "value" | "string" | "val" | "default" | "data") {
            lower.as_str()
        } else {
            written
        };
        let attributes = attributes(&tag[length..], open + 1 + length);
        let said = attributes
            .iter()
            .find(|(name, _, _)| NAMES.contains(&local(name)))
            .and_then(|(_, value, _)| words::named(value));
        if let Some(named) = said {
            for (name, value, start) in &attributes {
                if matches!(local(name), "value" | "val" | "default" | "content" | "data")
                    && let Some((part, word)) = pairs::judge_value(value, &named, false)
                {
                    spans.push(Span::new(start + part.start..start + part.end, By::Sibling, word));
                }
            }
        }
        let own = words::named(element).filter(|named| named.strength >= Strength::Medium);
        // Over the frame of `<![CDATA[…]]>`.
        let framed = text[from..].trim_start().strip_prefix("<![CDATA[").and_then(|inside| {
            let start = text.len() - inside.len();
            let area = &text[start..super::formats::floor(text, start + 4096)];
            area.find("]]>").map(|length| (start, start + length))
        });
        let (from_body, text_end) =
            framed.unwrap_or_else(|| (from, text[from..].find('<').map_or(text.len(), |at| from + at)));
        let body = &text[from_body..text_end];
        let carried = matches!(element, "value" | "string" | "val" | "default" | "data").then_some(pending).flatten();
        let named = own.or(said).or(carried);
        let trimmed = body.trim();
        if let Some(named) = named
            && !trimmed.is_empty()
            && (framed.is_some() || text[text_end..].starts_with("</"))
            && !(element == "key" || element == "name")
        {
            let start = from_body + (trimmed.as_ptr() as usize - body.as_ptr() as usize);
            if let Some((part, word)) = pairs::judge_value(trimmed, &named, false) {
                spans.push(Span::new(start + part.start..start + part.end, By::Container, word));
            }
        }
        // `<key>Password</key><string>x</string>`, `<name>password</name><value>x</value>`, `<entry key="p"><value>x</value>`.
        last_key = matches!(element, "key" | "name");
        if last_key {
            pending = words::named(trimmed).filter(|_| trimmed.len() < 80);
        } else if said.is_some() || own.is_some() {
            pending = said.or(own);
        } else if carried.is_some() {
            pending = None;
        }
    }
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// The `>` that ends a tag, or the `<` that shows it was none. A `>` inside of an attribute ends it too early, which loses nothing: the
/// pairs see the attribute as well. Looking for quotes would not be linear.
fn tag_end(inside: &str) -> Option<usize> {
    inside.find(['<', '>'])
}

/// Name, value and the value's place.
fn attributes(text: &str, offset: usize) -> Vec<(&str, &str, usize)> {
    let mut out = Vec::new();
    let mut from = 0;
    while let Some(sign) = text[from..].find('=').map(|at| from + at) {
        let name = text[from..sign].trim();
        let name = name.rsplit(char::is_whitespace).next().unwrap_or(name);
        let rest = text[sign + 1..].trim_start();
        let start = text.len() - rest.len();
        let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            from = sign + 1;
            continue;
        };
        let Some(length) = rest[1..].find(quote) else { break };
        out.push((name, &rest[1..1 + length], offset + start + 1));
        from = start + 1 + length + 1;
    }
    out
}
