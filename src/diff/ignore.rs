//! What is left of a difference? `--ignore` and `--neat` leave out changes, and parts of values that were added or removed.
//!
//! A change at or below a path that a pattern matches is none. Where a pattern matches inside of a value that came, went or
//! became something of another kind, that part drops out of the value; a value of which nothing is left is no change.

use super::compare::{Found, Side, key_segment};
use super::{identity, lists};
use crate::document::{Data, Entry, Node};
use crate::path::{Segment, Word};
use crate::pattern::{Pattern, State};
use crate::record::Op;
use std::rc::Rc;

/// Takes out what the patterns mean, and counts what it took out: differences, and parts of some.
pub(super) fn take_out(found: &mut Vec<Found<'_>>, patterns: &[Pattern]) -> u64 {
    if patterns.is_empty() {
        return 0;
    }
    let sieve = Sieve { patterns };
    let mut count = 0;
    found.retain_mut(|one| {
        if patterns.iter().any(|pattern| pattern.covers(&one.path)) {
            count += 1;
            return false;
        }
        one.op == Op::Reordered || sieve.sift(one, &mut count)
    });
    count
}

struct Sieve<'p> {
    patterns: &'p [Pattern],
}

impl Sieve<'_> {
    /// Takes parts out of the values of a difference; `false` where nothing is left of it.
    fn sift(&self, one: &mut Found<'_>, count: &mut u64) -> bool {
        let mut states: Vec<State> = self.patterns.iter().map(Pattern::start).collect();
        for segment in &one.path.0 {
            states = self.step(&states, &[segment]);
        }
        if states.iter().all(|state| state.is_dead()) {
            return true;
        }
        let name = match one.path.0.last() {
            Some(Segment::Key(name)) => Some(name.as_str()),
            _ => None,
        };
        let both = one.before.is_some() && one.after.is_some();
        for side in [&mut one.before, &mut one.after] {
            let Some(node) = side.as_ref().and_then(tree).filter(|node| self.reaches(node, &states, name)) else {
                continue;
            };
            let left = match self.left(node, &states, name, count) {
                Some(left) => left,
                // What a value came from, or became, is told as an empty one.
                None if both => match &node.data {
                    Data::List(_) => Node { data: Data::List(Vec::new()), ..node.clone() },
                    _ => Node { data: Data::Map(Vec::new()), ..node.clone() },
                },
                None => return false,
            };
            *side = Some(Side::Left(Rc::new(left)));
        }
        true
    }

    /// The states after a step that has these names.
    fn step(&self, states: &[State], names: &[&Segment]) -> Vec<State> {
        let after = |(pattern, state): (&Pattern, &State)| {
            let mut steps = names.iter().map(|name| pattern.step(*state, name));
            let first = steps.next().unwrap_or(*state);
            steps.fold(first, State::or)
        };
        self.patterns.iter().zip(states).map(after).collect()
    }

    fn accepts(&self, states: &[State]) -> bool {
        self.patterns.iter().zip(states).any(|(pattern, state)| pattern.accepts(*state))
    }

    /// Whether some pattern matches inside of the value.
    fn reaches(&self, node: &Node<'_>, states: &[State], name: Option<&str>) -> bool {
        let inside = |states: Vec<State>, node: &Node<'_>, name: Option<&str>| {
            self.accepts(&states) || !states.iter().all(|state| state.is_dead()) && self.reaches(node, &states, name)
        };
        match &node.data {
            Data::Map(entries) => entries.iter().any(|entry| {
                inside(self.step(states, &[&key_segment(&entry.key)]), &entry.value, Some(entry.key.text()))
            }),
            Data::List(items) => items
                .iter()
                .zip(item_names(items, name))
                .any(|(item, names)| inside(self.step(states, &names.iter().collect::<Vec<_>>()), item, None)),
            _ => false,
        }
    }

    /// The value without what the patterns match; `None` where that was all there was in it.
    fn left<'t>(&self, node: &Node<'t>, states: &[State], name: Option<&str>, count: &mut u64) -> Option<Node<'t>> {
        let mut taken = 0;
        let mut keep = |states: Vec<State>, node: &Node<'t>, name: Option<&str>| {
            if self.accepts(&states) {
                taken += 1;
                return None;
            }
            self.left(node, &states, name, &mut taken)
        };
        let (data, is_empty) = match &node.data {
            Data::Map(entries) => {
                let kept = entries.iter().filter_map(|entry| {
                    let states = self.step(states, &[&key_segment(&entry.key)]);
                    let value = keep(states, &entry.value, Some(entry.key.text()))?;
                    Some(Entry { value, ..entry.clone() })
                });
                let kept: Vec<Entry<'t>> = kept.collect();
                let is_empty = kept.is_empty();
                (Data::Map(kept), is_empty)
            }
            Data::List(items) => {
                let kept = items
                    .iter()
                    .zip(item_names(items, name))
                    .filter_map(|(item, names)| keep(self.step(states, &names.iter().collect::<Vec<_>>()), item, None));
                let kept: Vec<Node<'t>> = kept.collect();
                let is_empty = kept.is_empty();
                (Data::List(kept), is_empty)
            }
            _ => return Some(node.clone()),
        };
        *count += taken;
        // What was empty before lost nothing.
        (taken == 0 || !is_empty).then(|| Node { data, ..node.clone() })
    }
}

/// The tree of a side, where it is one.
fn tree<'s, 't>(side: &'s Side<'t>) -> Option<&'s Node<'t>> {
    match side {
        Side::Node(node) => Some(*node),
        Side::Left(node) => Some(node.as_ref()),
        Side::Data(_) | Side::Value(_) => None,
    }
}

/// What a path may call each item of a list: by its place, by what identifies it, as an entry.
fn item_names(items: &[Node<'_>], list: Option<&str>) -> Vec<Vec<Segment>> {
    let fields = identity::find(list, items, items).map(|found| found.fields).filter(|_| !items.is_empty());
    let entries = lists::entry_names(items);
    let names = |(at, item): (usize, &Node<'_>)| {
        let mut names = vec![Segment::Index(at)];
        if let Some(fields) = &fields {
            let words: Vec<(String, Word)> =
                fields.iter().filter_map(|field| Some((field.clone(), identity::word(item, field)?))).collect();
            names.push(Segment::Item(words));
        }
        names.extend(entries.as_ref().and_then(|entries| entries.get(at).cloned()));
        names
    };
    items.iter().enumerate().map(names).collect()
}
