//! What differs between two trees?
//!
//! One walk over both. Each difference becomes a [`Found`], which borrows its values from the trees; nothing is copied
//! until it is written. Maps are compared by key, lists in [`super::lists`], documents in strings in [`super::strings`].

use super::notes;
use super::same::{Decimal, Hashes, Looks, as_yaml11, same_key, same_leaf};
use crate::document::{Data, Entry, Key, Node, Span};
use crate::path::{Path, Segment, Word, typed_key};
use crate::pattern::Pattern;
use crate::record::Op;
use crate::value::{Value, WITHHELD};
use foldhash::{HashMap, HashMapExt as _};
use std::rc::Rc;

/// How trees are compared.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Paths whose lists are compared as sets; every list where a pattern matches everything.
    pub ignore_order: Vec<Pattern>,
    /// Paths of lists and the fields that identify their items.
    pub list_keys: Vec<(Pattern, Vec<String>)>,
    /// Documents in strings are compared as text.
    pub raw_strings: bool,
}

/// One side of a difference.
#[derive(Clone, Debug)]
pub(super) enum Side<'t> {
    /// A value as it stands in a tree.
    Node(&'t Node<'t>),
    /// What is left of one.
    Left(Rc<Node<'t>>),
    /// Another reading of one.
    Data(&'t Data<'t>),
    /// One that stands in no tree.
    Value(Value),
}

impl Side<'_> {
    pub(super) fn to_value(&self) -> Value {
        match self {
            Side::Node(node) => node.to_value(),
            Side::Left(node) => node.to_value(),
            Side::Data(data) => data.to_value(),
            Side::Value(value) => value.clone(),
        }
    }

    /// The tree, where it is one.
    pub(super) fn node(&self) -> Option<&Node<'_>> {
        match self {
            Side::Node(node) => Some(node),
            Side::Left(node) => Some(node),
            Side::Data(_) | Side::Value(_) => None,
        }
    }

    /// The same, without what it borrows.
    pub(super) fn detached(&self) -> Side<'static> {
        Side::Value(self.to_value())
    }
}

/// A difference.
#[derive(Clone, Debug)]
pub(super) struct Found<'t> {
    pub(super) document: Option<Rc<str>>,
    pub(super) path: Path,
    pub(super) op: Op,
    pub(super) before: Option<Side<'t>>,
    pub(super) after: Option<Side<'t>>,
    /// Where the value stands, on either side.
    pub(super) old_span: Option<Span>,
    pub(super) new_span: Option<Span>,
    /// Where what held a removed value stands on the new side: the line of its key.
    pub(super) parent_line: Option<u32>,
    /// Place of an item in its list, where the path does not say it.
    pub(super) index: Option<usize>,
    pub(super) notes: Vec<String>,
}

/// A step on the way to where the walk is. Borrowed: most steps lead to nothing that differs.
#[derive(Clone, Debug)]
pub(super) enum Step<'t> {
    Key(&'t Key<'t>),
    Index(usize),
    /// An item by these fields of it.
    Item(&'t Node<'t>, Rc<[String]>),
    Entry(&'t str, usize),
}

impl Step<'_> {
    fn segment(&self) -> Segment {
        match self {
            Step::Key(key) => key_segment(key),
            Step::Index(at) => Segment::Index(*at),
            Step::Item(node, fields) => Segment::Item(
                fields
                    .iter()
                    .filter_map(|field| Some((field.clone(), super::identity::word(node, field)?)))
                    .collect::<Vec<(String, Word)>>(),
            ),
            Step::Entry(name, nth) => Segment::Entry { name: (*name).to_string(), nth: *nth },
        }
    }
}

/// A key as a step of a path.
pub(super) fn key_segment(key: &Key<'_>) -> Segment {
    match key {
        Key::String(text) => Segment::Key(text.to_string()),
        Key::Typed(kind, text) => Segment::Typed(typed_key(kind, text)),
    }
}

/// A walk over two trees.
#[derive(Debug)]
pub(super) struct Comparer<'t, 's> {
    pub(super) settings: &'s Settings,
    pub(super) hashes: Hashes,
    pub(super) looks: Looks,
    pub(super) steps: Vec<Step<'t>>,
    pub(super) out: Vec<Found<'t>>,
    /// What comparing lists may still cost: see [`super::align`].
    pub(super) budget: u64,
    /// How many strings lie around these trees.
    pub(super) depth: usize,
    /// The line of the key, or of the item, that holds what is being compared, on the new side; 0 before there is any.
    pub(super) holder: u32,
    /// The document was encrypted and is no longer: what is new in it is withheld.
    pub(super) unsealed: bool,
}

impl<'t, 's> Comparer<'t, 's> {
    pub(super) fn new(settings: &'s Settings) -> Comparer<'t, 's> {
        Comparer {
            settings,
            hashes: Hashes::default(),
            looks: Looks::default(),
            steps: Vec::new(),
            out: Vec::new(),
            budget: super::align::BUDGET,
            depth: 0,
            holder: 0,
            unsealed: false,
        }
    }

    /// Compares two values a step further down, of which the new one stands under a key, or as an item, on this line.
    pub(super) fn below(&mut self, step: Step<'t>, line: u32, old: &'t Node<'t>, new: &'t Node<'t>) {
        let holder = std::mem::replace(&mut self.holder, line);
        self.steps.push(step);
        self.node(old, new);
        self.steps.pop();
        self.holder = holder;
    }

    /// The path to where the walk is.
    pub(super) fn path(&self) -> Path {
        Path(self.steps.iter().map(Step::segment).collect())
    }

    /// Compares two values at the same place.
    pub(super) fn node(&mut self, old: &'t Node<'t>, new: &'t Node<'t>) {
        if old.tag != new.tag {
            return self.changed(old, new);
        }
        match (&old.data, &new.data) {
            (Data::Map(a), Data::Map(b)) => self.map(a, b),
            (Data::List(a), Data::List(b)) => self.list(old, new, a, b),
            (a, b) if same_leaf(a, b) => self.yaml11(old, new),
            _ => self.changed(old, new),
        }
    }

    /// Says what only a YAML 1.1 reader sees.
    fn yaml11(&mut self, old: &'t Node<'t>, new: &'t Node<'t>) {
        if old.yaml11.is_none() && new.yaml11.is_none() {
            return;
        }
        let (before, after) = (as_yaml11(old), as_yaml11(new));
        if same_leaf(before, after) {
            return;
        }
        let found = self.found(Op::Changed, Some(Side::Data(before)), Some(Side::Data(after)));
        self.out.push(Found {
            old_span: Some(old.span),
            new_span: Some(new.span),
            notes: vec![notes::only_yaml11(before, after)],
            ..found
        });
    }

    fn map(&mut self, old: &'t [Entry<'t>], new: &'t [Entry<'t>]) {
        if old.len() == new.len() && old.iter().zip(new).all(|(a, b)| a.key == b.key) {
            old.iter().zip(new).for_each(|(a, b)| self.entry(a, b));
            return;
        }
        let pairs = pair_keys(old, new);
        // In the order of the new map; what is gone is told where it was.
        let mut next_old = 0;
        let mut kept = vec![false; old.len()];
        for &at in pairs.iter().flatten() {
            kept[at] = true;
        }
        for (entry, partner) in new.iter().zip(&pairs) {
            match partner {
                None => self.entry_added(entry),
                Some(at) => {
                    while next_old < *at {
                        if !kept[next_old] {
                            self.entry_removed(&old[next_old]);
                        }
                        next_old += 1;
                    }
                    self.entry(&old[*at], entry);
                }
            }
        }
        for (entry, kept) in old.iter().zip(kept).skip(next_old) {
            if !kept {
                self.entry_removed(entry);
            }
        }
    }

    fn entry(&mut self, old: &'t Entry<'t>, new: &'t Entry<'t>) {
        let before = self.out.len();
        self.below(Step::Key(&new.key), new.key_span.start.line, &old.value, &new.value);
        self.steps.push(Step::Key(&new.key));
        if !same_key(&old.key, &new.key) && !self.hashes.loose_numbers {
            let note = notes::key_type(&old.key, &new.key);
            if self.out.len() == before {
                // The value is the same, so the keys themselves are what changed.
                let (a, b) = (notes::key_value(&old.key), notes::key_value(&new.key));
                let found = self.found(Op::Changed, Some(Side::Value(a)), Some(Side::Value(b)));
                let (old_span, new_span) = (Some(old.key_span), Some(new.key_span));
                self.out.push(Found { old_span, new_span, ..found });
            }
            self.out[before].notes.push(note);
        } else if old.yaml11.is_some() || new.yaml11.is_some() {
            self.key_yaml11(old, new, before);
        }
        self.steps.pop();
    }

    /// Says that two keys which are one to YAML 1.2 are two to a YAML 1.1 reader: `on` and `"on"`.
    fn key_yaml11(&mut self, old: &'t Entry<'t>, new: &'t Entry<'t>, before: usize) {
        let (was, is) = (old.yaml11.as_deref().unwrap_or(&old.key), new.yaml11.as_deref().unwrap_or(&new.key));
        if was == is {
            return;
        }
        if self.out.len() == before {
            let (a, b) = (notes::key_value(was), notes::key_value(is));
            let found = self.found(Op::Changed, Some(Side::Value(a)), Some(Side::Value(b)));
            self.out.push(Found { old_span: Some(old.key_span), new_span: Some(new.key_span), ..found });
        }
        self.out[before].notes.push(notes::key_only_yaml11(was, is));
    }

    fn entry_added(&mut self, entry: &'t Entry<'t>) {
        self.steps.push(Step::Key(&entry.key));
        self.added(&entry.value, None);
        self.steps.pop();
    }

    fn entry_removed(&mut self, entry: &'t Entry<'t>) {
        self.steps.push(Step::Key(&entry.key));
        self.removed(&entry.value, None);
        self.steps.pop();
    }

    /// A value that is new at this place.
    pub(super) fn added(&mut self, node: &'t Node<'t>, index: Option<usize>) {
        let withheld = self.unsealed && !matches!(node.data, Data::Null | Data::Encrypted(_));
        let side = if withheld { Side::Value(Value::String(WITHHELD.into())) } else { Side::Node(node) };
        let found = self.found(Op::Added, None, Some(side));
        let notes = if withheld { vec![notes::WITHHELD_NEW.to_string()] } else { Vec::new() };
        self.out.push(Found { new_span: Some(node.span), index, notes, ..found });
    }

    /// A value that is gone from this place.
    pub(super) fn removed(&mut self, node: &'t Node<'t>, index: Option<usize>) {
        let found = self.found(Op::Removed, Some(Side::Node(node)), None);
        let parent_line = Some(self.holder).filter(|line| *line > 0);
        self.out.push(Found { old_span: Some(node.span), parent_line, index, ..found });
    }

    /// A value that is another one.
    pub(super) fn changed(&mut self, old: &'t Node<'t>, new: &'t Node<'t>) {
        if let (Data::String(a), Data::String(b)) = (&old.data, &new.data)
            && old.tag == new.tag
            && self.embedded(new.span, a, b)
        {
            return;
        }
        let sealed = holds_ciphertext(old) && !holds_ciphertext(new) && !matches!(new.data, Data::Null);
        let withheld = sealed || self.unsealed && !matches!(new.data, Data::Null | Data::Encrypted(_));
        let after = if withheld { Side::Value(Value::String(WITHHELD.into())) } else { Side::Node(new) };
        let notes = if withheld { vec![notes::UNSEALED.to_string()] } else { notes::of_change(old, new) };
        let found = self.found(Op::Changed, Some(Side::Node(old)), Some(after));
        self.out.push(Found { old_span: Some(old.span), new_span: Some(new.span), notes, ..found });
    }

    /// A difference here, without its places.
    pub(super) fn found(&self, op: Op, before: Option<Side<'t>>, after: Option<Side<'t>>) -> Found<'t> {
        Found {
            document: None,
            path: self.path(),
            op,
            before,
            after,
            old_span: None,
            new_span: None,
            parent_line: None,
            index: None,
            notes: Vec::new(),
        }
    }
}

/// Whether ciphertext is the value or in it.
fn holds_ciphertext(node: &Node<'_>) -> bool {
    match &node.data {
        Data::Encrypted(_) => true,
        Data::List(items) => items.iter().any(holds_ciphertext),
        Data::Map(entries) => entries.iter().any(|entry| holds_ciphertext(&entry.value)),
        _ => false,
    }
}

/// Maps whose keys are looked up rather than searched for.
const SMALL: usize = 16;

/// For each new entry the old one with its key: of the same type and text first, else of the same text, because a JSON
/// reader sees one key, else of the same number: `1.5` and `1.50` are one float.
fn pair_keys(old: &[Entry<'_>], new: &[Entry<'_>]) -> Vec<Option<usize>> {
    let mut pairs = pair_by_text(old, new);
    let number = |entry: &Entry<'_>| match &entry.key {
        Key::Typed("float", text) => Decimal::parse(text),
        _ => None,
    };
    if !new.iter().zip(&pairs).any(|(entry, pair)| pair.is_none() && number(entry).is_some()) {
        return pairs;
    }
    let mut taken = vec![false; old.len()];
    for &at in pairs.iter().flatten() {
        taken[at] = true;
    }
    let free = (0..old.len()).filter(|at| !taken[*at]);
    let mut places: HashMap<Decimal, usize> = free.filter_map(|at| Some((number(&old[at])?, at))).collect();
    for (entry, pair) in new.iter().zip(&mut pairs).filter(|(_, pair)| pair.is_none()) {
        *pair = number(entry).and_then(|number| places.remove(&number));
    }
    pairs
}

fn pair_by_text(old: &[Entry<'_>], new: &[Entry<'_>]) -> Vec<Option<usize>> {
    if old.len() <= SMALL || new.len() <= 2 {
        let mut taken = vec![false; old.len()];
        let mut pairs = vec![None; new.len()];
        // Most maps keep their order: look at the same place first.
        for (at, entry) in new.iter().enumerate() {
            let same = |other: &usize| !taken[*other] && old[*other].key == entry.key;
            let hint = Some(at).filter(|at| *at < old.len()).filter(same);
            if let Some(found) = hint.or_else(|| (0..old.len()).find(same)) {
                taken[found] = true;
                pairs[at] = Some(found);
            }
        }
        for (entry, pair) in new.iter().zip(&mut pairs).filter(|(_, pair)| pair.is_none()) {
            *pair = (0..old.len()).find(|at| !taken[*at] && old[*at].key.text() == entry.key.text());
            if let Some(at) = *pair {
                taken[at] = true;
            }
        }
        return pairs;
    }
    let mut by_key: HashMap<&Key<'_>, usize> = HashMap::with_capacity(old.len());
    for (at, entry) in old.iter().enumerate() {
        by_key.insert(&entry.key, at);
    }
    let mut pairs: Vec<Option<usize>> = Vec::with_capacity(new.len());
    for (at, entry) in new.iter().enumerate() {
        let same_place = old.get(at).is_some_and(|other| other.key == entry.key);
        pairs.push(if same_place { Some(at) } else { by_key.get(&entry.key).copied() });
    }
    if pairs.iter().any(Option::is_none) {
        let mut by_text: HashMap<&str, usize> = HashMap::new();
        let mut taken = vec![false; old.len()];
        for &at in pairs.iter().flatten() {
            taken[at] = true;
        }
        for (at, entry) in old.iter().enumerate().filter(|(at, _)| !taken[*at]) {
            by_text.entry(entry.key.text()).or_insert(at);
        }
        for (entry, pair) in new.iter().zip(&mut pairs).filter(|(_, pair)| pair.is_none()) {
            *pair = by_text.remove(entry.key.text());
        }
    }
    pairs
}
