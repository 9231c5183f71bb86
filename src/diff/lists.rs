//! What differs between two lists?
//!
//! Items are matched by identity where they have one ([`super::identity`]), `KEY=VALUE` strings by key, lists of nothing
//! but flags by flag. Other lists are compared as sequences: the longest common subsequence stays, and what lies between
//! is paired by likeness ([`super::align`]), so that one insertion is one `added` and an edit in an unnamed map is an
//! edit. Order is one `reordered` record, never a row of removals and additions.

use super::align::{self, Pair};
use super::compare::{Comparer, Found, Side, Step};
use super::identity::{self, Identity};
use super::notes;
use super::same::{Look, look};
use crate::document::{Data, Node};
use crate::path::{Segment, Word};
use crate::record::Op;
use crate::value::{Value, WITHHELD};
use foldhash::{HashMap, HashMapExt as _, HashSet};
use std::collections::VecDeque;
use std::rc::Rc;

/// Lists of `KEY=VALUE` whose readers look entries up: their order means nothing.
const UNORDERED: [&str; 7] = ["environment", "env", "labels", "annotations", "sysctls", "build_args", "variables"];

/// A string of a list as a name and what it is set to.
#[derive(Clone, Copy, Debug)]
struct Setting<'t> {
    name: &'t str,
    value: Option<&'t str>,
    nth: usize,
}

impl<'t> Comparer<'t, '_> {
    /// Compares two lists.
    pub(super) fn list(
        &mut self,
        old_node: &'t Node<'t>,
        new_node: &'t Node<'t>,
        old: &'t [Node<'t>],
        new: &'t [Node<'t>],
    ) {
        if self.same_lists(old_node, new_node) {
            return;
        }
        let ordered = self.settings.ignore_order.is_empty() || {
            let path = self.path();
            !self.settings.ignore_order.iter().any(|pattern| pattern.matches(&path))
        };
        if let Some(identity) = self.identity(old, new) {
            return self.by_identity((old_node, new_node), old, new, identity, ordered);
        }
        let name = self.list_name();
        if let (Some(a), Some(b)) = (settings(old, assignment), settings(new, assignment))
            && unique(&a)
            && unique(&b)
        {
            let ordered = ordered && !name.is_some_and(|name| UNORDERED.contains(&name)) && !self.is_build_args();
            return self.by_name((old_node, new_node), (old, &a), (new, &b), ordered);
        }
        if let (Some(a), Some(b)) = (settings(old, flag), settings(new, flag)) {
            return self.by_name((old_node, new_node), (old, &a), (new, &b), ordered);
        }
        self.sequence((old_node, new_node), old, new, ordered);
    }

    /// Whether two lists are the same. They are looked at first, which is cheap where they part early or not at all.
    fn same_lists(&mut self, old: &Node<'_>, new: &Node<'_>) -> bool {
        let known = self.looks.get(&(std::ptr::from_ref(old) as usize)).copied();
        match known.unwrap_or_else(|| look(old, new, &mut self.looks)) {
            Look::Same => true,
            Look::Different => false,
            Look::Unclear => self.hashes.of(old) == self.hashes.of(new),
        }
    }

    /// The hashes of the items of two lists. What both begin with, and, where order counts, end with is not hashed: its
    /// items are numbered.
    fn item_hashes(&mut self, old: &[Node<'_>], new: &[Node<'_>], ordered: bool) -> (Vec<u64>, Vec<u64>) {
        let looks = &mut self.looks;
        let mut same = |(a, b): &(&Node<'_>, &Node<'_>)| look(a, b, looks) == Look::Same;
        let start = old.iter().zip(new).take_while(&mut same).count();
        let (old_rest, new_rest) = (&old[start..], &new[start..]);
        let end =
            if ordered { old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(&mut same).count() } else { 0 };
        let numbers = |range: std::ops::Range<usize>| range.map(|at| at as u64);
        let mut hashes = |rest: &[Node<'_>]| -> Vec<u64> {
            let middle = rest[..rest.len() - end].iter().map(|item| self.hashes.of(item));
            numbers(0..start).chain(middle).chain(numbers(start..start + end)).collect()
        };
        (hashes(old_rest), hashes(new_rest))
    }

    /// The key that the list stands under.
    fn list_name(&self) -> Option<&'t str> {
        match self.steps.last() {
            Some(Step::Key(key)) => Some(key.text()),
            _ => None,
        }
    }

    /// Whether the list is Compose's `build.args`, which are variables; those of a command are another thing.
    fn is_build_args(&self) -> bool {
        let name = |step: Option<&Step<'t>>| match step {
            Some(Step::Key(key)) => Some(key.text()),
            _ => None,
        };
        let mut steps = self.steps.iter().rev();
        (name(steps.next()), name(steps.next())) == (Some("args"), Some("build"))
    }

    fn identity(&self, old: &[Node<'_>], new: &[Node<'_>]) -> Option<Identity> {
        if !self.settings.list_keys.is_empty() {
            let path = self.path();
            for (pattern, fields) in &self.settings.list_keys {
                let names: Vec<&str> = fields.iter().map(String::as_str).collect();
                if pattern.matches(&path)
                    && let Some(found) = identity::identify(&names, old, new)
                {
                    return Some(found);
                }
            }
        }
        identity::find(self.list_name(), old, new)
    }

    fn by_identity(
        &mut self,
        lists: (&'t Node<'t>, &'t Node<'t>),
        old: &'t [Node<'t>],
        new: &'t [Node<'t>],
        identity: Identity,
        ordered: bool,
    ) {
        let Identity { fields, mut partners } = identity;
        let fields: &Rc<[String]> = &fields.into();
        let words =
            |item: &Node<'_>| -> Vec<Word> { fields.iter().filter_map(|field| identity::word(item, field)).collect() };
        let renamed = self.renamed(old, new, fields, &mut partners);
        if ordered {
            let label = |item: &Node<'_>| match &words(item)[..] {
                [Word::Int(text)] => Value::Number(text.clone()),
                words => Value::String(words.iter().map(Word::text).collect::<Vec<_>>().join("/")),
            };
            self.order(lists, old, &partners, &label);
        }
        self.walk(old.len(), &partners, |this, event| match event {
            Pair::Both(a, b) => {
                // An item that changed its name has none that holds on both sides.
                let is_renamed = renamed.contains(&b);
                let step = if is_renamed { Step::Index(b) } else { Step::Item(&new[b], Rc::clone(fields)) };
                this.below(step, new[b].span.start.line, &old[a], &new[b]);
            }
            Pair::Old(a) => {
                this.steps.push(Step::Item(&old[a], Rc::clone(fields)));
                this.removed(&old[a], Some(a));
                this.steps.pop();
            }
            Pair::New(b) => {
                this.steps.push(Step::Item(&new[b], Rc::clone(fields)));
                this.added(&new[b], Some(b));
                this.steps.pop();
            }
        });
    }

    /// Pairs items that are the same and in the same place but for what they call themselves, where no other could be
    /// meant: one changed name is one change. Gives the places of the new ones.
    fn renamed(
        &mut self,
        old: &[Node<'_>],
        new: &[Node<'_>],
        fields: &[String],
        partners: &mut [Option<usize>],
    ) -> HashSet<usize> {
        let mut kept = vec![false; old.len()];
        for &at in partners.iter().flatten() {
            kept[at] = true;
        }
        let mut rest = |item: &Node<'_>| -> Option<u64> {
            let Data::Map(entries) = &item.data else { return None };
            let others = entries.iter().filter(|entry| !fields.iter().any(|field| field == entry.key.text()));
            let hashes: Vec<u64> = others.map(|entry| self.hashes.entry(entry)).collect();
            let named = entries.len() - hashes.len() == fields.len();
            (named && !hashes.is_empty()).then(|| hashes.iter().fold(0_u64, |sum, hash| sum.wrapping_add(*hash)))
        };
        let mut places: HashMap<u64, (Vec<usize>, Vec<usize>)> = HashMap::new();
        for at in (0..old.len()).filter(|at| !kept[*at]) {
            if let Some(hash) = rest(&old[at]) {
                places.entry(hash).or_default().0.push(at);
            }
        }
        for at in (0..new.len()).filter(|at| partners[*at].is_none()) {
            if let Some(place) = rest(&new[at]).and_then(|hash| places.get_mut(&hash)) {
                place.1.push(at);
            }
        }
        // It has to stand where it stood, among the items that kept their names.
        let before = |kept: &mut dyn Iterator<Item = bool>| -> Vec<usize> {
            kept.scan(0, |count, kept| Some(std::mem::replace(count, *count + usize::from(kept)))).collect()
        };
        let stood = before(&mut kept.iter().copied());
        let stands = before(&mut partners.iter().map(Option::is_some));
        let mut pairs = Vec::new();
        for (olds, news) in places.into_values() {
            if let ([a], [b]) = (&olds[..], &news[..])
                && stood[*a] == stands[*b]
            {
                pairs.push((*a, *b));
            }
        }
        for (a, b) in &pairs {
            partners[*b] = Some(*a);
        }
        pairs.into_iter().map(|(_, b)| b).collect()
    }

    fn by_name(
        &mut self,
        lists: (&'t Node<'t>, &'t Node<'t>),
        (old, a): (&'t [Node<'t>], &[Setting<'t>]),
        (new, b): (&'t [Node<'t>], &[Setting<'t>]),
        ordered: bool,
    ) {
        // Of several with one name, equal ones belong together; the others pair up in order.
        let mut partners = vec![None; b.len()];
        let mut taken = vec![false; a.len()];
        for exact in [true, false] {
            let key = |setting: &Setting<'t>| (setting.name, setting.value.filter(|_| exact));
            let mut free: HashMap<_, VecDeque<usize>> = HashMap::new();
            for (at, setting) in a.iter().enumerate().filter(|(at, _)| !taken[*at]) {
                free.entry(key(setting)).or_default().push_back(at);
            }
            for (setting, partner) in b.iter().zip(&mut partners).filter(|(_, partner)| partner.is_none()) {
                *partner = free.get_mut(&key(setting)).and_then(VecDeque::pop_front);
                if let Some(at) = *partner {
                    taken[at] = true;
                }
            }
        }
        if ordered {
            let label = |item: &Node<'_>| match &item.data {
                Data::String(text) => Value::String(flag(text).or_else(|| assignment(text)).map_or("", |s| s.0).into()),
                _ => Value::Null,
            };
            self.order(lists, old, &partners, &label);
        }
        let value = |setting: &Setting<'_>| {
            Side::Value(setting.value.map_or(Value::Null, |text| Value::String(text.to_string())))
        };
        self.walk(a.len(), &partners, |this, event| {
            let (step, op, before, after, index) = match event {
                Pair::Both(i, j) if a[i].value == b[j].value => return,
                Pair::Both(i, j) => (&b[j], Op::Changed, Some(i), Some(j), None),
                Pair::Old(i) => (&a[i], Op::Removed, Some(i), None, Some(i)),
                Pair::New(j) => (&b[j], Op::Added, None, Some(j), Some(j)),
            };
            this.steps.push(Step::Entry(step.name, step.nth));
            let mut found = this.found(op, before.map(|i| value(&a[i])), after.map(|j| value(&b[j])));
            if let (Some(i), Some(j)) = (before, after) {
                found.notes = notes::of_texts(a[i].value.unwrap_or(""), b[j].value.unwrap_or(""));
            }
            found.old_span = before.map(|i| old[i].span);
            found.new_span = after.map(|j| new[j].span);
            found.index = index;
            found.parent_line = Some(this.holder).filter(|line| *line > 0 && after.is_none());
            if this.unsealed && found.after.is_some() {
                found.after = Some(Side::Value(Value::String(WITHHELD.into())));
            }
            this.out.push(found);
            this.steps.pop();
        });
    }

    /// One record where what both lists have stands in another order.
    fn order(
        &mut self,
        (old_node, new_node): (&'t Node<'t>, &'t Node<'t>),
        old: &'t [Node<'t>],
        partners: &[Option<usize>],
        label: &dyn Fn(&Node<'_>) -> Value,
    ) {
        let now: Vec<usize> = partners.iter().flatten().copied().collect();
        if now.is_sorted() {
            return;
        }
        let mut was = now.clone();
        was.sort_unstable();
        let names = |places: &[usize]| Value::List(places.iter().map(|at| label(&old[*at])).collect());
        let found = self.found(Op::Reordered, Some(Side::Value(names(&was))), Some(Side::Value(names(&now))));
        let notes = notes::few_moved(&now).into_iter().collect();
        self.out.push(Found { old_span: Some(old_node.span), new_span: Some(new_node.span), notes, ..found });
    }

    /// Calls `event` for every item, in the order of the new list; what is gone comes where it was.
    fn walk(&mut self, old: usize, partners: &[Option<usize>], mut event: impl FnMut(&mut Self, Pair)) {
        let mut kept = vec![false; old];
        for &at in partners.iter().flatten() {
            kept[at] = true;
        }
        let mut next = 0;
        for (new_at, partner) in partners.iter().enumerate() {
            let Some(old_at) = *partner else {
                event(self, Pair::New(new_at));
                continue;
            };
            while next < old_at {
                if !kept[next] {
                    event(self, Pair::Old(next));
                }
                next += 1;
            }
            event(self, Pair::Both(old_at, new_at));
        }
        for (at, kept) in kept.iter().enumerate().skip(next) {
            if !kept {
                event(self, Pair::Old(at));
            }
        }
    }

    fn sequence(
        &mut self,
        lists: (&'t Node<'t>, &'t Node<'t>),
        old: &'t [Node<'t>],
        new: &'t [Node<'t>],
        ordered: bool,
    ) {
        let (old_hashes, new_hashes) = self.item_hashes(old, new, ordered);
        let partners = align::same_items(&old_hashes, &new_hashes);
        let permuted = |partners: &[Option<usize>]| old.len() == new.len() && partners.iter().all(Option::is_some);
        if permuted(&partners) {
            // The same items: nothing but their order differs, if that.
            if ordered && !partners.is_sorted() {
                self.permuted(lists, old, new, &partners);
            }
            return;
        }
        if old.iter().chain(new).any(|item| item.yaml11.is_some()) {
            // The same items to a YAML 1.2 reader: their order, and what a YAML 1.1 reader sees of each.
            let mut as_core =
                |items: &[Node<'_>]| items.iter().map(|item| self.hashes.as_core(item)).collect::<Vec<_>>();
            let (before, after) = (as_core(old), as_core(new));
            let partners = align::same_items(&before, &after);
            if before != after && permuted(&partners) {
                if ordered {
                    self.permuted(lists, old, new, &partners);
                }
                for (b, a) in partners.iter().enumerate().filter_map(|(b, a)| Some((b, (*a)?))) {
                    self.below(Step::Index(b), new[b].span.start.line, &old[a], &new[b]);
                }
                return;
            }
        }
        let pairs = if ordered {
            align::sequences(self, old, new, &old_hashes, &new_hashes)
        } else {
            align::sets(self, old, new, &partners)
        };
        // Where ciphertext went, what came is not shown: it may be what was in it.
        let sealed = |items: &[Node<'_>]| items.iter().filter(|item| matches!(item.data, Data::Encrypted(_))).count();
        let unsealed = self.unsealed;
        self.unsealed |= sealed(new) < sealed(old);
        for pair in pairs {
            match pair {
                Pair::Both(a, b) => self.below(Step::Index(b), new[b].span.start.line, &old[a], &new[b]),
                Pair::Old(a) => {
                    self.steps.push(Step::Index(a));
                    self.removed(&old[a], None);
                    self.steps.pop();
                }
                Pair::New(b) => {
                    self.steps.push(Step::Index(b));
                    self.added(&new[b], None);
                    self.steps.pop();
                }
            }
        }
        self.unsealed = unsealed;
    }

    fn permuted(
        &mut self,
        (old_node, new_node): (&'t Node<'t>, &'t Node<'t>),
        old: &[Node<'_>],
        new: &[Node<'_>],
        partners: &[Option<usize>],
    ) {
        let container = |item: &Node<'_>| matches!(item.data, Data::List(_) | Data::Map(_));
        let (before, after, mut notes) = if old.iter().any(container) {
            // Items without a name are called by their old places.
            let number = |at: usize| Value::Number(at.to_string());
            let was = Value::List((0..old.len()).map(number).collect());
            let now = Value::List(partners.iter().flatten().map(|at| number(*at)).collect());
            (was, now, vec![notes::BY_PLACE.to_string()])
        } else {
            let values = |items: &[Node<'_>]| Value::List(items.iter().map(Node::to_value).collect());
            (values(old), values(new), Vec::new())
        };
        notes.extend(notes::few_moved(&partners.iter().flatten().copied().collect::<Vec<usize>>()));
        let found = self.found(Op::Reordered, Some(Side::Value(before)), Some(Side::Value(after)));
        self.out.push(Found { old_span: Some(old_node.span), new_span: Some(new_node.span), notes, ..found });
    }
}

/// Every item as a setting; `None` where one is none, and for a list without items beside one with some only if `read`
/// would not say otherwise: an empty list is a list of anything.
fn settings<'t>(
    items: &'t [Node<'t>],
    read: impl Fn(&'t str) -> Option<(&'t str, Option<&'t str>)>,
) -> Option<Vec<Setting<'t>>> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut out = Vec::with_capacity(items.len());
    for item in items {
        let Data::String(text) = &item.data else { return None };
        let (name, value) = read(text).filter(|_| item.tag.is_none())?;
        let nth = seen.entry(name).and_modify(|n| *n += 1).or_insert(1);
        out.push(Setting { name, value, nth: *nth });
    }
    Some(out)
}

/// What the items are called as entries, where all of them are `KEY=VALUE` or all of them flags.
pub(super) fn entry_names(items: &[Node<'_>]) -> Option<Vec<Segment>> {
    let found = settings(items, assignment).filter(|found| unique(found)).or_else(|| settings(items, flag))?;
    Some(found.iter().map(|one| Segment::Entry { name: one.name.to_string(), nth: one.nth }).collect())
}

fn unique(settings: &[Setting<'_>]) -> bool {
    settings.iter().all(|setting| setting.nth == 1)
}

/// `KEY=VALUE`, the name of a variable or of a label. `package==1.2` requires a version and sets nothing.
fn assignment(text: &str) -> Option<(&str, Option<&str>)> {
    let (name, value) = text.split_once('=').filter(|(_, value)| !value.starts_with('='))?;
    let mut bytes = name.bytes();
    let starts = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    let rest = bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/'));
    (starts && rest).then_some((name, Some(value)))
}

/// `--flag`, `--flag=value`, `-f`.
fn flag(text: &str) -> Option<(&str, Option<&str>)> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let word = name.strip_prefix("--").or_else(|| name.strip_prefix('-'))?;
    let starts = word.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
    let rest = word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':' | b'/'));
    (starts && rest).then_some((name, value))
}
