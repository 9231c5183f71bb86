//! What do aliases and merge keys stand for? A second walk over a document, only where it has any.
//!
//! While a document is built an alias is a [`Data::Cycle`], and this side table knows which. Every anchor that is used is
//! charged for all its uses before it is copied once, so a bomb of any kind fails at once and in little memory.

use crate::document::{Data, Entry, Error, Key, Node, Options, Place, Rare, Span, settle_duplicates};
use crate::limits::{MAX_ALIAS_NODES, MAX_DEPTH};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The type of the key that a plain `<<` is until merges are done.
pub(super) const MERGE: &str = "merge";

pub(super) const IN_KEY: &str = "an alias to a list or a map as a key, or inside of one; write the key out";

/// What was seen while building a document. Nodes are numbered from 0 in document order; keys are not counted.
#[derive(Debug, Default)]
pub(super) struct Seen<'a> {
    /// How many nodes there were.
    pub(super) nodes: u32,
    /// The number of the node of every anchor.
    pub(super) anchors: HashMap<usize, u32>,
    /// The scalars that have an anchor, for aliases that are keys.
    pub(super) key_anchors: HashMap<usize, (Data<'a>, Option<Rare>)>,
    /// The anchors that the aliases refer to, in document order.
    pub(super) aliases: Vec<usize>,
    /// How many merge keys there were.
    pub(super) merges: usize,
    /// Some map has a key twice.
    pub(super) duplicates: bool,
}

/// Expands aliases and merge keys, and settles duplicate keys where they are allowed.
pub(super) fn expand<'a>(
    root: &mut Node<'a>,
    seen: Seen<'a>,
    options: &Options,
    warnings: &mut Vec<String>,
) -> Result<(), Error> {
    if seen.aliases.is_empty() && seen.merges == 0 && !seen.duplicates {
        return Ok(());
    }
    let mut uses: HashMap<usize, u64> = HashMap::new();
    for id in &seen.aliases {
        *uses.entry(*id).or_default() += 1;
    }
    let anchored = uses.keys().filter_map(|id| seen.anchors.get(id).map(|number| (*number, *id))).collect();
    let mut walk = Walk {
        uses,
        anchored,
        aliases: seen.aliases.into_iter(),
        keys: seen.key_anchors,
        done: HashMap::new(),
        open: HashSet::new(),
        next: 0,
        spent: 0,
        options,
        warnings,
    };
    walk.node(root, 1).map(|_| ())
}

/// How much a tree is: nodes, with a node more for every 64 bytes of text, and how deep it nests.
#[derive(Clone, Copy)]
struct Size {
    nodes: u64,
    height: usize,
}

struct Walk<'a, 'o> {
    uses: HashMap<usize, u64>,
    /// Which nodes have an anchor that is used.
    anchored: HashMap<u32, usize>,
    aliases: std::vec::IntoIter<usize>,
    keys: HashMap<usize, (Data<'a>, Option<Rare>)>,
    done: HashMap<usize, (Node<'a>, Size)>,
    open: HashSet<usize>,
    next: u32,
    spent: u64,
    options: &'o Options,
    warnings: &'o mut Vec<String>,
}

impl<'a> Walk<'a, '_> {
    fn node(&mut self, node: &mut Node<'a>, depth: usize) -> Result<Size, Error> {
        let number = self.next;
        self.next += 1;
        if matches!(node.data, Data::Cycle) {
            return self.alias(node, depth);
        }
        let id = self.anchored.get(&number).copied();
        if let Some(id) = id {
            self.open.insert(id);
        }
        let mut size = Size { nodes: 1, height: 1 };
        let mut add = |inner: Size| {
            size.nodes += inner.nodes;
            size.height = size.height.max(inner.height + 1);
        };
        match &mut node.data {
            Data::String(text) => size.nodes += text.len() as u64 / 64,
            Data::List(items) => {
                for item in items {
                    add(self.node(item, depth + 1)?);
                }
            }
            Data::Map(entries) => {
                for entry in entries.iter_mut() {
                    add(self.node(&mut entry.value, depth + 1)?);
                }
                settle_duplicates(entries, self.options, self.warnings)?;
                merge(entries);
            }
            _ => {}
        }
        if let Some(id) = id {
            self.open.remove(&id);
            let uses = self.uses.get(&id).copied().unwrap_or_default();
            self.charge(size.nodes.saturating_mul(uses), node.span.start)?;
            self.done.insert(id, (node.clone(), size));
        }
        Ok(size)
    }

    fn alias(&mut self, node: &mut Node<'a>, depth: usize) -> Result<Size, Error> {
        let leaf = Size { nodes: 1, height: 1 };
        let Some(id) = self.aliases.next() else { return Ok(leaf) };
        if self.open.contains(&id) {
            return Ok(leaf);
        }
        let last = self.uses.get_mut(&id).is_some_and(|left| {
            *left = left.saturating_sub(1);
            *left == 0
        });
        let copy = if last { self.done.remove(&id) } else { self.done.get(&id).cloned() };
        let (copy, size) = match (copy, self.keys.get(&id)) {
            (Some(copy), _) => copy,
            // The anchor of a key.
            (None, Some((data, tag))) => {
                (Node { data: data.clone(), tag: tag.clone(), yaml11: None, span: node.span }, leaf)
            }
            (None, None) => return Err(Error::new(node.span.start, IN_KEY)),
        };
        if depth + size.height - 1 > MAX_DEPTH {
            let message = format!("an alias expands deeper than {MAX_DEPTH} levels; flecto reads no deeper");
            return Err(Error::new(node.span.start, message));
        }
        let span = node.span;
        *node = copy;
        relocate(node, span);
        Ok(size)
    }

    fn charge(&mut self, nodes: u64, place: Place) -> Result<(), Error> {
        self.spent = self.spent.saturating_add(nodes);
        if self.spent <= MAX_ALIAS_NODES as u64 {
            return Ok(());
        }
        let message = format!(
            "the aliases of this file expand to more than {MAX_ALIAS_NODES} values; if it is no attack, write out what \
             they stand for or split the file"
        );
        Err(Error::new(place, message))
    }
}

/// An alias stands where it is used, with everything in it.
fn relocate(node: &mut Node<'_>, span: Span) {
    node.span = span;
    match &mut node.data {
        Data::List(items) => items.iter_mut().for_each(|item| relocate(item, span)),
        Data::Map(entries) => {
            for entry in entries {
                entry.key_span = span;
                relocate(&mut entry.value, span);
            }
        }
        _ => {}
    }
}

/// Merges what stands under `<<` (<https://yaml.org/type/merge.html>): the map's own keys win, then the earlier of several.
/// Several `<<` in one map are one list of them. What is under `<<` but no map stays an ordinary value.
fn merge<'a>(entries: &mut Vec<Entry<'a>>) {
    let is_merge = |entry: &Entry<'_>| matches!(entry.key, Key::Typed(MERGE, _));
    if !entries.iter().any(is_merge) {
        return;
    }
    let mut taken: HashSet<Key<'a>> =
        entries.iter().filter(|entry| !is_merge(entry)).map(|entry| entry.key.clone()).collect();
    let mut merged = Vec::with_capacity(entries.len());
    for mut entry in entries.drain(..) {
        if !is_merge(&entry) {
            merged.push(entry);
            continue;
        }
        let mut add = |map: Vec<Entry<'a>>| {
            merged.extend(map.into_iter().filter(|entry| taken.insert(entry.key.clone())));
        };
        match std::mem::replace(&mut entry.value.data, Data::Null) {
            Data::Map(map) => add(map),
            Data::List(items) if items.iter().all(|item| matches!(item.data, Data::Map(_))) => {
                for item in items {
                    if let Data::Map(map) = item.data {
                        add(map);
                    }
                }
            }
            Data::Null => {}
            other => {
                entry.key = Key::String(Cow::Borrowed("<<"));
                entry.value.data = other;
                merged.push(entry);
            }
        }
    }
    *entries = merged;
}
