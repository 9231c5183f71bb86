//! Which documents of two files belong together, and what is each called?
//!
//! Objects of Kubernetes by kind, namespace and name, also out of a `List`, whatever their order and number; a bumped API
//! version, a namespace that appears, a generated suffix on a name do not part them. Other documents by a field that
//! names them all, else by content, else by place.

use super::align::{self, Pair};
use super::compare::{Comparer, Found, Settings, Side};
use super::identity::{self, get};
use super::sealed;
use crate::document::{Data, Document, Node};
use crate::record::Op;
use crate::value::Value;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A document, or an item of a `List`.
struct Unit<'t> {
    node: &'t Node<'t>,
    /// Which document of the file it is in, empty ones counted.
    index: usize,
    object: Option<Object<'t>>,
    /// By which scheme it is encrypted.
    encrypted: Option<&'static str>,
}

/// What Kubernetes knows an object by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Object<'t> {
    kind: &'t str,
    group: &'t str,
    namespace: &'t str,
    name: &'t str,
    /// The name is a `generateName`.
    generated: bool,
}

/// The pairs of units, what is left on either side, and which units had a partner.
struct Pairing {
    partners: Vec<Option<usize>>,
    taken: Vec<bool>,
}

impl Pairing {
    fn new(olds: usize, news: usize) -> Pairing {
        Pairing { partners: vec![None; news], taken: vec![false; olds] }
    }

    fn pair(&mut self, old: usize, new: usize) {
        self.partners[new] = Some(old);
        self.taken[old] = true;
    }

    fn free_old(&self) -> Vec<usize> {
        (0..self.taken.len()).filter(|at| !self.taken[*at]).collect()
    }

    fn free_new(&self) -> Vec<usize> {
        (0..self.partners.len()).filter(|at| self.partners[*at].is_none()).collect()
    }

    /// Pairs what has the same key; of several with one key the first with the first, or none if `alone`.
    fn by_key<K: std::hash::Hash + Eq>(
        &mut self,
        old: impl Fn(usize) -> Option<K>,
        new: impl Fn(usize) -> Option<K>,
        alone: bool,
    ) {
        let mut places: HashMap<K, (Vec<usize>, Vec<usize>)> = HashMap::new();
        let mut order = Vec::new();
        for at in self.free_old() {
            if let Some(key) = old(at) {
                places.entry(key).or_default().0.push(at);
            }
        }
        for at in self.free_new() {
            if let Some(entry) = new(at).and_then(|key| places.get_mut(&key)) {
                entry.1.push(at);
            }
        }
        for (olds, news) in places.into_values() {
            if !alone || olds.len() == 1 && news.len() == 1 {
                order.extend(olds.into_iter().zip(news));
            }
        }
        for (a, b) in order {
            self.pair(a, b);
        }
    }
}

/// Compares the documents of two files. `many` says that one of the files has several, also where equal ones were left
/// out here.
pub(super) fn compare<'t>(
    old: &'t [Document<'t>],
    new: &'t [Document<'t>],
    settings: &Settings,
    depth: usize,
    loose_numbers: bool,
) -> Vec<Found<'t>> {
    compare_part(old, new, settings, depth, loose_numbers, (old.len(), new.len()))
}

/// As [`compare`], of files that have so many documents; equal ones may be left out.
pub(super) fn compare_part<'t>(
    old: &'t [Document<'t>],
    new: &'t [Document<'t>],
    settings: &Settings,
    depth: usize,
    loose_numbers: bool,
    (olds, news): (usize, usize),
) -> Vec<Found<'t>> {
    let mut comparer = Comparer::new(settings);
    comparer.depth = depth;
    comparer.hashes.loose_numbers = loose_numbers;
    let before = units(old);
    let after = units(new);
    let pairing = pair(&mut comparer, &before, &after);
    let names = Names::new(&before, &after, olds, news);
    let mut out = Vec::new();
    order(&mut comparer, &before, &after, &pairing, &names, &mut out);
    let mut report = |comparer: &mut Comparer<'t, '_>, document: Option<Rc<str>>| {
        out.extend(comparer.out.drain(..).map(|found| Found { document: document.clone(), ..found }));
    };
    // Where an encrypted document went, what came may be what was in it.
    let sealed = |units: &[Unit<'_>]| units.iter().filter(|unit| unit.encrypted.is_some()).count();
    let fewer_sealed = sealed(&after) < sealed(&before);
    let renamed = renamed(&mut comparer, &before, &after, &pairing);
    let say = |comparer: &mut Comparer<'t, '_>, other: Option<Rc<str>>, what: &str| {
        if let (Some(found), Some(other)) = (comparer.out.last_mut(), other) {
            found.notes.push(format!("{what} {other}"));
        }
    };
    let sealed_gone = sealed_secrets_gone(&before, &pairing);
    // A Secret may be what was in a SealedSecret that is gone.
    let unsealed_secret = |unit: &Unit<'_>| {
        unit.object
            .is_some_and(|object| object.kind == "Secret" && sealed_gone.contains(&(object.namespace, object.name)))
    };
    let mut next_old = 0;
    let flush = |comparer: &mut Comparer<'t, '_>,
                 upto: usize,
                 next_old: &mut usize,
                 report: &mut dyn FnMut(&mut Comparer<'t, '_>, Option<Rc<str>>)| {
        while *next_old < upto {
            if !pairing.taken[*next_old] {
                comparer.removed(before[*next_old].node, None);
                let became = renamed.iter().find(|(old, _)| old == next_old).and_then(|(_, new)| names.new_alone(*new));
                say(comparer, became, "renamed to");
                report(comparer, names.old(*next_old));
            }
            *next_old += 1;
        }
    };
    for (at, partner) in pairing.partners.iter().enumerate() {
        match partner {
            None => {
                comparer.unsealed = after[at].encrypted.is_none() && (fewer_sealed || unsealed_secret(&after[at]));
                comparer.added(after[at].node, None);
                comparer.unsealed = false;
                let was = renamed.iter().find(|(_, new)| *new == at).and_then(|(old, _)| names.old(*old));
                say(&mut comparer, was, "renamed from");
                report(&mut comparer, names.new_alone(at));
            }
            Some(other) => {
                flush(&mut comparer, *other, &mut next_old, &mut report);
                let (a, b) = (&before[*other], &after[at]);
                comparer.unsealed = a.encrypted.is_some() && b.encrypted.is_none();
                comparer.holder = b.node.span.start.line;
                comparer.node(a.node, b.node);
                comparer.holder = 0;
                comparer.unsealed = false;
                if a.encrypted == Some("sops") && b.encrypted == Some("sops") {
                    sealed::fold(&mut comparer.out);
                    sealed::hint(&mut comparer.out, a.node);
                }
                report(&mut comparer, names.new_paired(at));
            }
        }
    }
    flush(&mut comparer, before.len(), &mut next_old, &mut report);
    out
}

/// The namespaces and names of the SealedSecrets that are gone.
fn sealed_secrets_gone<'t>(before: &[Unit<'t>], pairing: &Pairing) -> HashSet<(&'t str, &'t str)> {
    let gone = pairing.free_old().into_iter().filter_map(|at| before[at].object);
    gone.filter(|object| object.kind == "SealedSecret").map(|object| (object.namespace, object.name)).collect()
}

fn units<'t>(documents: &'t [Document<'t>]) -> Vec<Unit<'t>> {
    let mut out = Vec::with_capacity(documents.len());
    for document in documents {
        if let Some(items) = list_items(&document.root) {
            out.extend(items.iter().map(|node| Unit {
                node,
                index: document.index,
                object: object(node),
                encrypted: document.encrypted,
            }));
        } else {
            out.push(Unit {
                node: &document.root,
                index: document.index,
                object: object(&document.root),
                encrypted: document.encrypted,
            });
        }
    }
    out
}

/// The objects of a `List` that is nothing but one: they are what `kubectl get -o yaml` prints.
fn list_items<'t>(root: &'t Node<'t>) -> Option<&'t [Node<'t>]> {
    let Data::Map(entries) = &root.data else { return None };
    if !text(root, "kind")?.ends_with("List") || text(root, "apiVersion").is_none() {
        return None;
    }
    let plain = entries.iter().all(|entry| match entry.key.text() {
        "apiVersion" | "kind" | "items" => true,
        "metadata" => match &entry.value.data {
            Data::Map(metadata) => metadata.iter().all(|entry| {
                matches!(entry.key.text(), "resourceVersion" | "selfLink" | "continue")
                    && matches!(&entry.value.data, Data::String(text) if text.is_empty())
            }),
            _ => false,
        },
        _ => false,
    });
    match &get(root, "items")?.data {
        Data::List(items) if plain && !items.is_empty() && items.iter().all(|item| object(item).is_some()) => {
            Some(items)
        }
        _ => None,
    }
}

fn text<'t>(node: &'t Node<'_>, key: &str) -> Option<&'t str> {
    match &get(node, key)?.data {
        Data::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

fn object<'t>(node: &'t Node<'_>) -> Option<Object<'t>> {
    let (version, kind) = (text(node, "apiVersion")?, text(node, "kind")?);
    let metadata = get(node, "metadata")?;
    let group = version.rsplit_once('/').map_or("", |(group, _)| group);
    let namespace = text(metadata, "namespace").unwrap_or_default();
    let (name, generated) = match text(metadata, "name") {
        Some(name) => (name, false),
        None => (text(metadata, "generateName")?, true),
    };
    Some(Object { kind, group, namespace, name, generated })
}

/// API groups that the same objects moved between: extensions was split up, others were renamed.
fn home(group: &str) -> &str {
    match group {
        "extensions" | "apps" | "networking.k8s.io" | "policy" => "apps",
        "gateway.networking.x-k8s.io" => "gateway.networking.k8s.io",
        "certmanager.k8s.io" => "cert-manager.io",
        "traefik.containo.us" => "traefik.io",
        "events.k8s.io" => "",
        group => group,
    }
}

/// A name without the suffix that kustomize or a controller generates from the content: `-` and 8 to 10 hexadecimal
/// digits, or 10 of kustomize's alphabet.
fn stem(name: &str) -> &str {
    let Some((stem, suffix)) = name.rsplit_once('-') else { return name };
    let hex = matches!(suffix.len(), 8..=10) && suffix.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let kustomize = suffix.len() == 10 && suffix.bytes().all(|b| b"bcdfghkmt2456789".contains(&b));
    let has_digit = suffix.bytes().any(|b| b.is_ascii_digit());
    if (hex && has_digit || kustomize) && !stem.is_empty() { stem } else { name }
}

fn pair<'t>(comparer: &mut Comparer<'t, '_>, old: &[Unit<'t>], new: &[Unit<'t>]) -> Pairing {
    let mut pairing = Pairing::new(old.len(), new.len());
    // Two files of one document each are about the same thing, unless both say what they are about and it is not the same.
    // Nothing has to be hashed for that.
    if let ([a], [b]) = (old, new)
        && (a.object.is_none() || b.object.is_none() || a.object == b.object)
    {
        pairing.pair(0, 0);
        return pairing;
    }
    let olds: Vec<u64> = old.iter().map(|unit| comparer.hashes.of(unit.node)).collect();
    let news: Vec<u64> = new.iter().map(|unit| comparer.hashes.of(unit.node)).collect();
    objects(&mut pairing, old, new, &olds, &news);
    let free = |at: &usize, units: &[Unit<'_>]| units[*at].object.is_none();
    let gone: Vec<usize> = pairing.free_old().into_iter().filter(|at| free(at, old)).collect();
    let come: Vec<usize> = pairing.free_new().into_iter().filter(|at| free(at, new)).collect();
    if gone.is_empty() || come.is_empty() {
        return pairing;
    }
    if let Some(fields) = stable(old, new) {
        let key = |node: &Node<'_>| fields.iter().map(|field| identity::word(node, field)).collect::<Option<Vec<_>>>();
        pairing.by_key(|at| key(old[at].node), |at| key(new[at].node), true);
        return pairing;
    }
    let plain = |units: &[Unit<'_>], hashes: &[u64], at: usize| units[at].object.is_none().then(|| hashes[at]);
    pairing.by_key(|at| plain(old, &olds, at), |at| plain(new, &news, at), false);
    // What is most alike, in order; then what is left at the same place.
    let gone: Vec<usize> = pairing.free_old().into_iter().filter(|at| free(at, old)).collect();
    let come: Vec<usize> = pairing.free_new().into_iter().filter(|at| free(at, new)).collect();
    if gone.len() * come.len() <= 10_000 {
        let pairs = align::best(gone.len(), come.len(), |a, b| {
            align::resemblance(comparer, old[gone[a]].node, new[come[b]].node)
        });
        for found in pairs {
            if let Pair::Both(a, b) = found {
                pairing.pair(gone[a], come[b]);
            }
        }
    }
    let place = |units: &[Unit<'_>], at: usize| units[at].object.is_none().then(|| units[at].index);
    pairing.by_key(|at| place(old, at), |at| place(new, at), true);
    pairing
}

fn objects(pairing: &mut Pairing, old: &[Unit<'_>], new: &[Unit<'_>], olds: &[u64], news: &[u64]) {
    if old.iter().all(|unit| unit.object.is_none()) || new.iter().all(|unit| unit.object.is_none()) {
        return;
    }
    let (a, b) = (|at: usize| old[at].object, |at: usize| new[at].object);
    // Of objects with one identity the equal ones first, then in order.
    pairing.by_key(|at| Some((a(at)?, olds[at])), |at| Some((b(at)?, news[at])), false);
    pairing.by_key(a, b, false);
    let homed = |object: Object<'_>| {
        (object.kind.to_string(), home(object.group).to_string(), object.namespace.to_string(), object.name.to_string())
    };
    pairing.by_key(|at| a(at).map(homed), |at| b(at).map(homed), true);
    let stemmed = |object: Object<'_>| {
        (
            object.kind.to_string(),
            home(object.group).to_string(),
            object.namespace.to_string(),
            stem(object.name).to_string(),
        )
    };
    pairing.by_key(|at| a(at).map(stemmed), |at| b(at).map(stemmed), true);
    // A namespace that appears or goes. Two that differ are two objects.
    let wild = |object: Object<'_>| (object.kind.to_string(), home(object.group).to_string(), object.name.to_string());
    let bare = |object: &Object<'_>| object.namespace.is_empty();
    pairing.by_key(|at| a(at).filter(bare).map(wild), |at| b(at).filter(|o| !bare(o)).map(wild), true);
    pairing.by_key(|at| a(at).filter(|o| !bare(o)).map(wild), |at| b(at).filter(bare).map(wild), true);
}

/// How alike two objects must be, per thousand of what is not their identity, to be one that has another name.
const RENAMED: u32 = 700;

/// With more combinations than this of objects that are gone and that came, nobody looks for names that changed.
const MAX_RENAMES: usize = 10_000;

/// Objects that are gone and came under another name, the rest being the same or nearly: pairs of (old, new). They stay a
/// removal and an addition, because to a cluster that is what they are. The most alike first; a tie is no pair.
fn renamed(
    comparer: &mut Comparer<'_, '_>,
    old: &[Unit<'_>],
    new: &[Unit<'_>],
    pairing: &Pairing,
) -> Vec<(usize, usize)> {
    let objects = |places: Vec<usize>, units: &[Unit<'_>]| -> Vec<usize> {
        places.into_iter().filter(|at| units[*at].object.is_some()).collect()
    };
    let (gone, came) = (objects(pairing.free_old(), old), objects(pairing.free_new(), new));
    if gone.len() * came.len() == 0 || gone.len() * came.len() > MAX_RENAMES {
        return Vec::new();
    }
    let mut traits = |places: &[usize], units: &[Unit<'_>]| -> Vec<align::Traits> {
        places.iter().map(|at| align::Traits::of_object(comparer, units[*at].node)).collect()
    };
    let (olds, news) = (traits(&gone, old), traits(&came, new));
    let mut scores = Vec::new();
    for (a, from) in gone.iter().enumerate() {
        for (b, to) in came.iter().enumerate() {
            let (Some(x), Some(y)) = (old[*from].object, new[*to].object) else { continue };
            let one = (x.kind, home(x.group), x.namespace) == (y.kind, home(y.group), y.namespace);
            let score = if one { olds[a].common(&news[b]) } else { 0 };
            if score >= RENAMED {
                scores.push((score, *from, *to));
            }
        }
    }
    let best = |(score, from, to): &(u32, usize, usize)| {
        scores.iter().all(|(other, a, b)| (a, b) == (from, to) || a != from && b != to || other < score)
    };
    scores.iter().filter(|pair| best(pair)).map(|(_, from, to)| (*from, *to)).collect()
}

/// The field that names every document that is no object of Kubernetes.
fn stable(old: &[Unit<'_>], new: &[Unit<'_>]) -> Option<Vec<String>> {
    let plain = |units: &[Unit<'_>]| -> Vec<Vec<Option<crate::path::Word>>> {
        let fields = ["id", "name", "key"];
        let units = units.iter().filter(|unit| unit.object.is_none());
        units.map(|unit| fields.iter().map(|field| identity::word(unit.node, field)).collect()).collect()
    };
    let (old, new) = (plain(old), plain(new));
    if old.len() + new.len() < 3 {
        return None;
    }
    let unique = |units: &[Vec<Option<crate::path::Word>>], at: usize| {
        let mut seen = std::collections::HashSet::new();
        units.iter().all(|unit| unit[at].as_ref().is_some_and(|word| seen.insert(word)))
    };
    let fields = ["id", "name", "key"];
    (0..fields.len()).find(|at| unique(&old, *at) && unique(&new, *at)).map(|at| vec![fields[at].to_string()])
}

/// What documents are called.
struct Names {
    old: Vec<Option<Rc<str>>>,
    new: Vec<Option<Rc<str>>>,
    old_alone: bool,
    new_alone: bool,
}

impl Names {
    fn new(old: &[Unit<'_>], new: &[Unit<'_>], olds: usize, news: usize) -> Names {
        let many = olds.max(news) > 1;
        // Two objects that only their group tells apart are called by it, too.
        let mut groups: HashMap<(&str, &str, &str), std::collections::HashSet<&str>> = HashMap::new();
        for unit in old.iter().chain(new) {
            if let Some(object) = unit.object {
                groups.entry((object.kind, object.namespace, object.name)).or_default().insert(home(object.group));
            }
        }
        let stable = stable(old, new);
        let name = |units: &[Unit<'_>]| -> Vec<Option<Rc<str>>> {
            let mut seen: HashMap<String, usize> = HashMap::new();
            units
                .iter()
                .map(|unit| {
                    let base = match (unit.object, &stable) {
                        (Some(object), _) => {
                            let shared = groups
                                .get(&(object.kind, object.namespace, object.name))
                                .is_some_and(|groups| groups.len() > 1);
                            display(object, shared)
                        }
                        (None, _) if !many => return None,
                        (None, Some(fields)) => {
                            let words = fields.iter().filter_map(|field| identity::word(unit.node, field));
                            words.map(|word| word.text().to_string()).collect::<Vec<_>>().join("/")
                        }
                        (None, None) => unit.index.to_string(),
                    };
                    let count = seen.entry(base.clone()).and_modify(|n| *n += 1).or_insert(1);
                    Some(if *count == 1 { base.into() } else { format!("{base}#{count}").into() })
                })
                .collect()
        };
        Names { old: name(old), new: name(new), old_alone: olds == 1, new_alone: news == 1 }
    }

    fn old(&self, at: usize) -> Option<Rc<str>> {
        self.old[at].clone()
    }

    fn new_alone(&self, at: usize) -> Option<Rc<str>> {
        self.new[at].clone()
    }

    /// A document that is alone in its file on one side keeps what it is called there, so that one document that becomes
    /// two is not another one.
    fn new_paired(&self, new: usize) -> Option<Rc<str>> {
        let name = self.new[new].clone();
        let by_place = name.as_deref().is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit()));
        if by_place && (self.old_alone || self.new_alone) { None } else { name }
    }
}

fn display(object: Object<'_>, with_group: bool) -> String {
    let mut out = object.kind.to_string();
    if with_group && !object.group.is_empty() {
        out.push('.');
        out.push_str(object.group);
    }
    if !object.namespace.is_empty() {
        out.push('/');
        out.push_str(object.namespace);
    }
    out.push('/');
    out.push_str(object.name);
    if object.generated {
        out.push('*');
    }
    out
}

/// One record where documents that are no objects stand in another order.
fn order<'t>(
    comparer: &mut Comparer<'t, '_>,
    old: &[Unit<'t>],
    new: &[Unit<'t>],
    pairing: &Pairing,
    names: &Names,
    out: &mut Vec<Found<'t>>,
) {
    let now: Vec<usize> = (0..new.len())
        .filter(|at| new[*at].object.is_none())
        .filter_map(|at| pairing.partners[at])
        .filter(|at| old[*at].object.is_none())
        .collect();
    if now.is_sorted() {
        return;
    }
    let mut was = now.clone();
    was.sort_unstable();
    let list = |places: &[usize]| {
        let name = |at: &usize| Value::String(names.old[*at].as_deref().unwrap_or_default().to_string());
        Some(Side::Value(Value::List(places.iter().map(name).collect())))
    };
    let (old_span, new_span) = (old.first().map(|unit| unit.node.span), new.first().map(|unit| unit.node.span));
    out.push(Found { old_span, new_span, ..comparer.found(Op::Reordered, list(&was), list(&now)) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_suffixes_are_told_from_words() {
        for (name, expected) in [
            ("app-config-5h2k7f8g9t", "app-config"),
            ("web-6d4cf56db6", "web"),
            ("api-deadbeef", "api-deadbeef"),
            ("api-dead0eef", "api"),
            ("api-v1", "api-v1"),
            ("-6d4cf56db6", "-6d4cf56db6"),
            ("plain", "plain"),
        ] {
            assert_eq!(stem(name), expected, "{name}");
        }
    }
}
