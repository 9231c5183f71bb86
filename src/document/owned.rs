//! How does a tree outlive its text? For a text that was decoded on the way.

use super::{Data, Document, Entry, Key, Node, Parsed, Scalar};
use std::borrow::Cow;

fn own(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

fn key(key: Key<'_>) -> Key<'static> {
    match key {
        Key::String(text) => Key::String(own(text)),
        Key::Typed(kind, text) => Key::Typed(kind, own(text)),
    }
}

fn data(data: Data<'_>) -> Data<'static> {
    match data {
        Data::Null => Data::Null,
        Data::Bool(value) => Data::Bool(value),
        Data::Cycle => Data::Cycle,
        Data::String(text) => Data::String(own(text)),
        Data::Encrypted(text) => Data::Encrypted(own(text)),
        Data::Typed(Scalar { kind, source, canonical }) => Data::Typed(Scalar { kind, source: own(source), canonical }),
        Data::List(items) => Data::List(items.into_iter().map(node).collect()),
        Data::Map(entries) => Data::Map(
            entries
                .into_iter()
                .map(|entry| Entry {
                    key: key(entry.key),
                    key_span: entry.key_span,
                    yaml11: entry.yaml11.map(|other| Box::new(key(*other))),
                    value: node(entry.value),
                })
                .collect(),
        ),
    }
}

fn node(node: Node<'_>) -> Node<'static> {
    Node {
        data: data(node.data),
        tag: node.tag,
        yaml11: node.yaml11.map(|other| Box::new(data(*other))),
        span: node.span,
    }
}

/// The same, borrowed from nothing.
pub(super) fn parsed(parsed: Parsed<'_>) -> Parsed<'static> {
    let documents = parsed.documents.into_iter();
    Parsed {
        documents: documents
            .map(|document| Document {
                root: node(document.root),
                index: document.index,
                encrypted: document.encrypted,
            })
            .collect(),
        warnings: parsed.warnings,
    }
}
