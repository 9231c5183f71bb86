//! Which items of two sequences belong together?
//!
//! Equal items first, by the longest common subsequence; then, in each gap, the most similar ones, without crossing: first
//! those that are alike beyond doubt, then what is left between them in the way that pairs the most. All of it is deterministic and bounded: a list that would take too long is compared place by place instead.

use super::compare::Comparer;
use super::same::same_leaf;
use crate::document::{Data, Node};
use foldhash::{HashMap, HashMapExt as _};
use imara_diff::{Algorithm, Diff, InternedInput, Interner, Token};
use std::collections::BTreeMap;

/// Up to so many items on both sides together the edit is the shortest there is; above, a near one is taken.
const MINIMAL: usize = 4_000;

/// With more items than this on both sides together, what lies between the common start and end is compared by place.
const MAX_ITEMS: usize = 200_000;

/// How many comparisons the lists of one pair of trees may take. Some seconds; no real file comes near.
pub(super) const BUDGET: u64 = 400_000_000;

/// Gaps of more combinations than this are paired in order, not by likeness.
const MAX_GAP: usize = 10_000;

/// What the likeness of two scalars counts from: those at one place always belong together.
const LEAVES: u32 = 1_000;

/// From here on, per thousand, two values are alike beyond doubt.
const FIRM: u32 = 500;

/// What a value's likeness is judged by, at most.
const MAX_TRAITS: usize = 256;

/// Two items that belong together, or one without a partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    Both(usize, usize),
    Old(usize),
    New(usize),
}

/// For each new item an equal old one, each used once, first to first.
pub(super) fn same_items(old: &[u64], new: &[u64]) -> Vec<Option<usize>> {
    let mut places: HashMap<u64, std::collections::VecDeque<usize>> = HashMap::with_capacity(old.len());
    for (at, hash) in old.iter().enumerate() {
        places.entry(*hash).or_default().push_back(at);
    }
    new.iter().map(|hash| places.get_mut(hash).and_then(std::collections::VecDeque::pop_front)).collect()
}

/// Pairs two lists whose order counts. Equal items that stay are left out.
pub(super) fn sequences<'t>(
    comparer: &mut Comparer<'t, '_>,
    old: &'t [Node<'t>],
    new: &'t [Node<'t>],
    old_hashes: &[u64],
    new_hashes: &[u64],
) -> Vec<Pair> {
    let mut out = Vec::new();
    for (before, after) in gaps(&mut comparer.budget, old_hashes, new_hashes) {
        gap(comparer, old, new, before.collect(), after.collect(), &mut out);
    }
    out
}

/// Pairs two lists whose order does not count. Equal items are left out.
pub(super) fn sets<'t>(
    comparer: &mut Comparer<'t, '_>,
    old: &'t [Node<'t>],
    new: &'t [Node<'t>],
    partners: &[Option<usize>],
) -> Vec<Pair> {
    let mut kept = vec![false; old.len()];
    for &at in partners.iter().flatten() {
        kept[at] = true;
    }
    let gone = (0..old.len()).filter(|at| !kept[*at]).collect();
    let come = (0..new.len()).filter(|at| partners[*at].is_none()).collect();
    let mut out = Vec::new();
    gap(comparer, old, new, gone, come, &mut out);
    out
}

type Gap = (std::ops::Range<usize>, std::ops::Range<usize>);

/// Where two sequences differ: ranges of either, in order.
pub(super) fn gaps(budget: &mut u64, old: &[u64], new: &[u64]) -> Vec<Gap> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (before, after) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    let whole = vec![(start..old.len() - end, start..new.len() - end)];
    if before.is_empty() || after.is_empty() {
        return whole;
    }
    let mut ids: HashMap<u64, (u32, u64, u64)> = HashMap::new();
    let mut intern = |hashes: &[u64], side: usize| -> Vec<Token> {
        let token = |hash: &u64| {
            let next = u32::try_from(ids.len()).unwrap_or(u32::MAX);
            let known = ids.entry(*hash).or_insert((next, 0, 0));
            if side == 0 {
                known.1 += 1
            } else {
                known.2 += 1
            }
            Token(known.0)
        };
        hashes.iter().map(token).collect()
    };
    let (before, after) = (intern(before, 0), intern(after, 1));
    // What the search may take: every combination of equal items, and each item once.
    let cost = ids.values().fold((before.len() + after.len()) as u64, |sum, (_, a, b)| sum.saturating_add(a * b));
    if before.len() + after.len() > MAX_ITEMS || cost > *budget {
        return whole;
    }
    *budget -= cost;
    let mut out = Vec::new();
    if before.len() + after.len() <= MINIMAL {
        edit(Algorithm::MyersMinimal, before, after, ids.len(), (start, start), &mut out);
        return out;
    }
    // One search over all of a long list takes as many walks over it as there are differences. So it is cut first.
    let mut known: HashMap<Token, u32> = HashMap::new();
    let (mut a, mut b) = (0, 0);
    let ends = anchors(&before, &after, ids.len());
    for (next_a, next_b) in ends.into_iter().chain([(before.len(), after.len())]) {
        let (gone, come) = (&before[a..next_a], &after[b..next_b]);
        known.clear();
        let mut renumber = |tokens: &[Token]| -> Vec<Token> {
            tokens
                .iter()
                .map(|token| {
                    let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
                    Token(*known.entry(*token).or_insert(next))
                })
                .collect()
        };
        if !gone.is_empty() && !come.is_empty() {
            let (gone, come) = (renumber(gone), renumber(come));
            edit(Algorithm::Histogram, gone, come, known.len(), (start + a, start + b), &mut out);
        } else if !gone.is_empty() || !come.is_empty() {
            out.push((start + a..start + next_a, start + b..start + next_b));
        }
        (a, b) = (next_a + 1, next_b + 1);
    }
    out
}

/// The gaps of one search, moved to where the sequences begin.
fn edit(
    algorithm: Algorithm,
    before: Vec<Token>,
    after: Vec<Token>,
    tokens: usize,
    (old_start, new_start): (usize, usize),
    out: &mut Vec<Gap>,
) {
    let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
    let mut input: InternedInput<u64> = InternedInput { before, after, interner: Interner::new(0) };
    let mut diff = Diff::default();
    diff.compute_with(algorithm, &input.before, &input.after, tokens);
    diff.postprocess_no_heuristic(&input);
    let shift = |start: usize, range: std::ops::Range<u32>| start + range.start as usize..start + range.end as usize;
    out.extend(diff.hunks().map(|hunk| (shift(old_start, hunk.before), shift(new_start, hunk.after))));
    input.clear();
}

/// Where two long sequences surely go together: the longest row, without crossing, of items that each of them has once
/// (patience diff). In order.
fn anchors(before: &[Token], after: &[Token], tokens: usize) -> Vec<(usize, usize)> {
    /// How often an item is there, and where.
    #[derive(Clone, Copy, Default)]
    struct Seen {
        old: u32,
        new: u32,
        place: usize,
    }
    let mut seen = vec![Seen::default(); tokens];
    for token in before {
        seen[token.0 as usize].old += 1;
    }
    for (at, token) in after.iter().enumerate() {
        let seen = &mut seen[token.0 as usize];
        seen.new += 1;
        seen.place = at;
    }
    let pairs: Vec<(usize, usize)> = before
        .iter()
        .enumerate()
        .filter_map(|(at, token)| {
            let seen = seen[token.0 as usize];
            (seen.old == 1 && seen.new == 1).then_some((at, seen.place))
        })
        .collect();
    // The last pair of the best row of each length, and what stands before each pair in its row.
    let mut rows: Vec<usize> = Vec::new();
    let mut earlier = vec![None; pairs.len()];
    for (at, (_, place)) in pairs.iter().enumerate() {
        let length = rows.partition_point(|last| pairs[*last].1 < *place);
        earlier[at] = length.checked_sub(1).map(|shorter| rows[shorter]);
        if length == rows.len() {
            rows.push(at);
        } else {
            rows[length] = at;
        }
    }
    let mut row: Vec<(usize, usize)> =
        std::iter::successors(rows.last().copied(), |at| earlier[*at]).map(|at| pairs[at]).collect();
    row.reverse();
    row
}

/// Pairs what two lists do not have in common at one place.
fn gap<'t>(
    comparer: &mut Comparer<'t, '_>,
    old: &'t [Node<'t>],
    new: &'t [Node<'t>],
    gone: Vec<usize>,
    come: Vec<usize>,
    out: &mut Vec<Pair>,
) {
    if gone.is_empty() || come.is_empty() {
        out.extend(gone.into_iter().map(Pair::Old));
        out.extend(come.into_iter().map(Pair::New));
        return;
    }
    let cells = gone.len() * come.len();
    if cells > MAX_GAP || comparer.budget < cells as u64 {
        for (&a, &b) in gone.iter().zip(&come) {
            if pairable(&old[a], &new[b]) {
                out.push(Pair::Both(a, b));
            } else {
                out.extend([Pair::Old(a), Pair::New(b)]);
            }
        }
        out.extend(gone.iter().skip(come.len()).map(|a| Pair::Old(*a)));
        out.extend(come.iter().skip(gone.len()).map(|b| Pair::New(*b)));
        return;
    }
    comparer.budget -= cells as u64;
    let olds: Vec<Traits> = gone.iter().map(|at| Traits::of(comparer, &old[*at])).collect();
    let news: Vec<Traits> = come.iter().map(|at| Traits::of(comparer, &new[*at])).collect();
    let score = |a: usize, b: usize, alone: bool| likeness(&old[gone[a]], &new[come[b]], &olds[a], &news[b], alone);
    // What is alike beyond doubt first, the most alike before all: a sum over all pairs would part it from its like to
    // make two weak pairs. Then what is left between.
    let firm = firm(gone.len(), come.len(), |a, b| score(a, b, false));
    let (mut a, mut b) = (0, 0);
    for (next_a, next_b) in
        firm.into_iter().map(Some).chain([None]).map(|next| next.unwrap_or((gone.len(), come.len())))
    {
        let alone = next_a - a == 1 && next_b - b == 1;
        for pair in best(next_a - a, next_b - b, |x, y| score(a + x, b + y, alone)) {
            out.push(match pair {
                Pair::Both(x, y) => Pair::Both(gone[a + x], come[b + y]),
                Pair::Old(x) => Pair::Old(gone[a + x]),
                Pair::New(y) => Pair::New(come[b + y]),
            });
        }
        if next_a < gone.len() {
            out.push(Pair::Both(gone[next_a], come[next_b]));
        }
        (a, b) = (next_a + 1, next_b + 1);
    }
}

/// Pairs that are alike in more than half of what they are, the most alike first, without crossing; in order.
fn firm(olds: usize, news: usize, score: impl Fn(usize, usize) -> u32) -> Vec<(usize, usize)> {
    let mut scores = Vec::new();
    for a in 0..olds {
        for b in 0..news {
            let alike = match score(a, b) {
                leaf if leaf >= LEAVES => leaf - LEAVES,
                container => container,
            };
            if alike >= FIRM {
                scores.push((std::cmp::Reverse(alike), a, b));
            }
        }
    }
    scores.sort_unstable();
    let mut pairs: BTreeMap<usize, usize> = BTreeMap::new();
    for (_, a, b) in scores {
        let before = pairs.range(..=a).next_back().is_none_or(|(x, y)| *x < a && *y < b);
        if before && pairs.range(a..).next().is_none_or(|(_, y)| b < *y) {
            pairs.insert(a, b);
        }
    }
    pairs.into_iter().collect()
}

/// How alike two containers are, per thousand; 0 for everything else.
pub(super) fn resemblance<'t>(comparer: &mut Comparer<'t, '_>, old: &Node<'t>, new: &Node<'t>) -> u32 {
    if is_leaf(old) || is_leaf(new) {
        return 0;
    }
    let (a, b) = (Traits::of(comparer, old), Traits::of(comparer, new));
    match a.common(&b) {
        0 => u32::from(!a.keys.is_empty() && a.keys == b.keys),
        values => 1 + values,
    }
}

/// The pairs without crossing whose scores have the highest sum; 0 is no pair. Of equal ones the first.
pub(super) fn best(olds: usize, news: usize, mut score: impl FnMut(usize, usize) -> u32) -> Vec<Pair> {
    let width = news + 1;
    let mut sums = vec![0_u32; (olds + 1) * width];
    let mut scores = vec![0_u32; olds * news];
    for a in (0..olds).rev() {
        for b in (0..news).rev() {
            let own = score(a, b);
            scores[a * news + b] = own;
            let skip = sums[(a + 1) * width + b].max(sums[a * width + b + 1]);
            let take = if own > 0 { own + sums[(a + 1) * width + b + 1] } else { 0 };
            sums[a * width + b] = skip.max(take);
        }
    }
    let (mut a, mut b) = (0, 0);
    let mut out = Vec::with_capacity(olds + news);
    while a < olds && b < news {
        let own = scores[a * news + b];
        let here = sums[a * width + b];
        if own > 0 && here == own + sums[(a + 1) * width + b + 1] {
            out.push(Pair::Both(a, b));
            (a, b) = (a + 1, b + 1);
        } else if here == sums[(a + 1) * width + b] {
            out.push(Pair::Old(a));
            a += 1;
        } else {
            out.push(Pair::New(b));
            b += 1;
        }
    }
    out.extend((a..olds).map(Pair::Old));
    out.extend((b..news).map(Pair::New));
    out
}

fn is_leaf(node: &Node<'_>) -> bool {
    !matches!(node.data, Data::List(_) | Data::Map(_))
}

/// Whether two values at one place may be one value that changed.
fn pairable(old: &Node<'_>, new: &Node<'_>) -> bool {
    match (&old.data, &new.data) {
        (Data::Map(a), Data::Map(b)) => {
            a.is_empty() || b.is_empty() || a.iter().any(|a| b.iter().take(64).any(|b| a.key == b.key))
        }
        (Data::List(_), Data::List(_)) => true,
        _ => is_leaf(old) && is_leaf(new),
    }
}

/// How alike two values are: 0 is not at all. Scalars at one place always belong together, so they count for more.
fn likeness(old: &Node<'_>, new: &Node<'_>, a: &Traits, b: &Traits, alone: bool) -> u32 {
    match (is_leaf(old), is_leaf(new)) {
        (true, true) if same_leaf(&old.data, &new.data) && old.tag == new.tag => 3 * LEAVES,
        (true, true) => LEAVES + alike_texts(old, new),
        (true, false) | (false, true) => u32::from(alone),
        (false, false) => {
            let values = a.common(b);
            if values > 0 || alone && pairable(old, new) {
                return 1 + values;
            }
            // Maps of one or two entries have little to share: their keys must do.
            let small = a.values.len() <= 2 && b.values.len() <= 2;
            u32::from(
                small && a.keys == b.keys && std::mem::discriminant(&old.data) == std::mem::discriminant(&new.data),
            )
        }
    }
}

/// Per thousand of the longer text that the two start and end with.
fn alike_texts(old: &Node<'_>, new: &Node<'_>) -> u32 {
    let (Data::String(a), Data::String(b)) = (&old.data, &new.data) else {
        return u32::from(std::mem::discriminant(&old.data) == std::mem::discriminant(&new.data));
    };
    let (a, b) = (&a.as_bytes()[..a.len().min(512)], &b.as_bytes()[..b.len().min(512)]);
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let end = a[start..].iter().rev().zip(b[start..].iter().rev()).take_while(|(a, b)| a == b).count();
    let longer = a.len().max(b.len()).max(1);
    u32::try_from((start + end) * 998 / longer).unwrap_or(0) + 1
}

/// What a container is recognised by: its leaves with their keys, and the keys alone.
pub(super) struct Traits {
    values: Vec<u64>,
    keys: Vec<u64>,
}

impl Traits {
    /// Those of an object of Kubernetes, without what it has in common with others of its kind by being one: its kind, its
    /// name and its namespace.
    pub(super) fn of_object(comparer: &mut Comparer<'_, '_>, node: &Node<'_>) -> Traits {
        let mut traits = Traits { values: Vec::new(), keys: Vec::new() };
        let Data::Map(entries) = &node.data else { return traits };
        for entry in entries {
            let key = comparer.hashes.text(entry.key.text());
            match (entry.key.text(), &entry.value.data) {
                ("apiVersion" | "kind", _) => {}
                ("metadata", Data::Map(metadata)) => {
                    for inner in metadata.iter().filter(|inner| !matches!(inner.key.text(), "name" | "namespace")) {
                        let inner_key = comparer.hashes.text(inner.key.text());
                        traits.collect(comparer, &inner.value, key.rotate_left(5) ^ inner_key);
                    }
                }
                _ => traits.collect(comparer, &entry.value, key),
            }
        }
        traits.values.sort_unstable();
        traits
    }

    fn of<'t>(comparer: &mut Comparer<'t, '_>, node: &Node<'t>) -> Traits {
        let mut traits = Traits { values: Vec::new(), keys: Vec::new() };
        if !is_leaf(node) {
            traits.collect(comparer, node, 0);
            traits.values.sort_unstable();
            traits.keys.sort_unstable();
            traits.keys.dedup();
        }
        traits
    }

    fn collect(&mut self, comparer: &mut Comparer<'_, '_>, node: &Node<'_>, path: u64) {
        if self.values.len() >= MAX_TRAITS {
            return;
        }
        match &node.data {
            Data::Map(entries) if !entries.is_empty() => {
                for entry in entries {
                    let key = comparer.hashes.text(entry.key.text());
                    self.collect(comparer, &entry.value, path.rotate_left(5) ^ key);
                }
            }
            Data::List(items) if !items.is_empty() => {
                for item in items {
                    self.collect(comparer, item, path.rotate_left(5) ^ 1);
                }
            }
            _ => {
                let value = comparer.hashes.of(node);
                self.values.push(value.rotate_left(17).wrapping_add(path));
                self.keys.push(path);
            }
        }
    }

    /// Per thousand of the leaves of both that both have.
    pub(super) fn common(&self, other: &Traits) -> u32 {
        let (mut a, mut b, mut common) = (0, 0, 0_usize);
        while let (Some(x), Some(y)) = (self.values.get(a), other.values.get(b)) {
            match x.cmp(y) {
                std::cmp::Ordering::Less => a += 1,
                std::cmp::Ordering::Greater => b += 1,
                std::cmp::Ordering::Equal => {
                    common += 1;
                    a += 1;
                    b += 1;
                }
            }
        }
        u32::try_from(common * 2_000 / (self.values.len() + other.values.len()).max(1)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_insertion_is_one_gap() {
        let mut budget = BUDGET;
        assert_eq!(gaps(&mut budget, &[1, 2, 3], &[1, 9, 2, 3]), [(1..1, 1..2)]);
        assert_eq!(gaps(&mut budget, &[1, 2], &[1, 2, 1]), [(2..2, 2..3)]);
        assert_eq!(gaps(&mut budget, &[], &[7]), [(0..0, 0..1)]);
    }

    #[test]
    fn a_long_list_is_cut_where_it_surely_goes_together() {
        let old: Vec<u64> = (0..100_000).collect();
        let mut new = old.clone();
        new.iter_mut().step_by(10).for_each(|item| *item += 1_000_000);
        let mut budget = BUDGET;
        let found = gaps(&mut budget, &old, &new);
        assert_eq!(found.len(), 10_000);
        assert!(found.iter().all(|(a, b)| a == b && a.len() == 1), "{:?}", &found[..3]);
        // Items that stand in it several times, between those that do not.
        let old: Vec<u64> = (0..9_000).map(|n| if n % 3 == 0 { n } else { n % 3 }).collect();
        let mut new = old.clone();
        new.remove(4_000);
        let mut budget = BUDGET;
        assert_eq!(gaps(&mut budget, &old, &new).iter().map(|(a, b)| a.len() + b.len()).sum::<usize>(), 1);
    }

    #[test]
    fn a_list_that_would_take_too_long_is_one_gap() {
        let old: Vec<u64> = (0..60_000).map(|n| n % 2).collect();
        let new: Vec<u64> = (0..60_000).map(|n| (n / 2 + n) % 2).collect();
        let mut budget = BUDGET;
        assert_eq!(gaps(&mut budget, &old, &new).len(), 1);
    }

    #[test]
    fn the_best_pairs_do_not_cross() {
        let table = [[5, 0, 9], [0, 4, 0]];
        let pairs = best(2, 3, |a, b| table[a][b]);
        assert_eq!(pairs, [Pair::Both(0, 0), Pair::Both(1, 1), Pair::New(2)]);
        assert_eq!(best(1, 0, |_, _| 1), [Pair::Old(0)]);
    }
}
