//! Which items of two lists are the same thing? By what they call themselves.
//!
//! A field identifies the items of a list where every item on both sides has it, as a string or a whole number, and no
//! two items of one side share its value. Fields are tried in one fixed order, so that the same lists always give the
//! same paths.

use crate::document::{Data, Node, ScalarKind};
use crate::path::Word;
use foldhash::{HashMap, HashMapExt as _};
use std::hash::BuildHasher as _;

/// What names an item anywhere.
const NAMES: [&str; 3] = ["id", "name", "key"];

/// What identifies the items of lists by the list's own name: the merge keys of Kubernetes, the public ids of SOPS
/// recipients, and others as well known. Several fields count together.
const BY_LIST: &[(&str, &[&str])] = &[
    ("ports", &["containerPort"]),
    ("ports", &["containerPort", "protocol"]),
    ("ports", &["port"]),
    ("ports", &["port", "protocol"]),
    ("ports", &["target", "published"]),
    ("ports", &["target"]),
    ("volumeMounts", &["mountPath"]),
    ("volumeDevices", &["devicePath"]),
    ("hostAliases", &["ip"]),
    ("topologySpreadConstraints", &["topologyKey"]),
    ("topologySpreadConstraints", &["topologyKey", "whenUnsatisfiable"]),
    ("ownerReferences", &["uid"]),
    ("conditions", &["type"]),
    ("addresses", &["type"]),
    ("addresses", &["type", "value"]),
    ("tolerations", &["key", "operator", "effect"]),
    ("tolerations", &["key", "effect"]),
    ("tolerations", &["key", "value", "effect"]),
    ("subjects", &["kind", "name"]),
    ("subjects", &["kind", "namespace", "name"]),
    ("rules", &["host"]),
    ("rules", &["alert"]),
    ("rules", &["record"]),
    ("groups", &["name"]),
    ("paths", &["path"]),
    ("paths", &["path", "pathType"]),
    ("parentRefs", &["name", "namespace"]),
    ("parentRefs", &["name", "sectionName"]),
    ("targetRefs", &["kind", "name"]),
    ("tls", &["secretName"]),
    ("age", &["recipient"]),
    ("pgp", &["fp"]),
    ("kms", &["arn"]),
    ("gcp_kms", &["resource_id"]),
    ("azure_kv", &["vault_url", "name"]),
    ("hc_vault", &["vault_address", "engine_path", "key_name"]),
];

/// What tells items with the same name apart.
const SECOND: [&str; 26] = [
    "namespace",
    "kind",
    "protocol",
    "in",
    "type",
    "scope",
    "method",
    "stage",
    "class",
    "arch",
    "os",
    "language",
    "locale",
    "account",
    "cluster",
    "domain",
    "effect",
    "operator",
    "version",
    "group",
    "port",
    "path",
    "region",
    "environment",
    "platform",
    "value",
];

/// What names an item where at least one is on both sides under the same one. Without that, a changed `path` of the
/// only item would read as another item.
const WEAK: [&str; 24] = [
    "path",
    "host",
    "hostname",
    "domain",
    "url",
    "uri",
    "address",
    "email",
    "username",
    "user",
    "uid",
    "uuid",
    "slug",
    "code",
    "label",
    "title",
    "alias",
    "arn",
    "ref",
    "repo",
    "repository",
    "package",
    "mountPath",
    "secretName",
];

/// A [`Word`] where it stands in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Name<'n> {
    Text(&'n str),
    Int(&'n str),
}

/// What an item calls itself, by one field or several.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Names<'n> {
    One(Name<'n>),
    Several(Vec<Name<'n>>),
}

/// What an item calls itself; `None` where it lacks one of the fields.
pub(super) fn names<'n>(node: &'n Node<'_>, fields: &[impl AsRef<str>]) -> Option<Names<'n>> {
    match fields {
        [field] => name(node, field.as_ref()).map(Names::One),
        fields => fields.iter().map(|field| name(node, field.as_ref())).collect::<Option<_>>().map(Names::Several),
    }
}

/// The field as what identifies the item, to be kept.
pub(super) fn word(node: &Node<'_>, field: &str) -> Option<Word> {
    name(node, field).map(|name| match name {
        Name::Text(text) => Word::Text(text.to_string()),
        Name::Int(text) => Word::Int(text.to_string()),
    })
}

/// The field as what identifies the item: a string that is not empty, or a whole number.
fn name<'n>(node: &'n Node<'_>, field: &str) -> Option<Name<'n>> {
    let value = lookup(node, field)?;
    if value.tag.is_some() {
        return None;
    }
    match &value.data {
        Data::String(text) if !text.is_empty() => Some(Name::Text(text)),
        Data::Typed(scalar)
            if matches!(scalar.kind, ScalarKind::Int | ScalarKind::Number)
                && scalar.canonical().bytes().all(|b| b.is_ascii_digit() || b == b'-') =>
        {
            Some(Name::Int(scalar.canonical()))
        }
        _ => None,
    }
}

/// The value of a field; `metadata.name` for the name of an object that has its name there.
fn lookup<'n, 'a>(node: &'n Node<'a>, field: &str) -> Option<&'n Node<'a>> {
    let direct = get(node, field);
    if direct.is_some() || !matches!(field, "name" | "namespace") || get(node, "kind").is_none() {
        return direct;
    }
    get(node, "metadata").and_then(|metadata| get(metadata, field))
}

/// What stands under a string key of a map.
pub(super) fn get<'n, 'a>(node: &'n Node<'a>, key: &str) -> Option<&'n Node<'a>> {
    let Data::Map(entries) = &node.data else { return None };
    let found = entries.iter().find(|entry| matches!(&entry.key, crate::document::Key::String(text) if text == key));
    found.map(|entry| &entry.value)
}

/// What identifies the items of two lists, and which belong together.
#[derive(Debug)]
pub(super) struct Identity {
    /// The fields that count, together.
    pub(super) fields: Vec<String>,
    /// For each new item the old one that calls itself the same.
    pub(super) partners: Vec<Option<usize>>,
}

/// What identifies the items of both lists; `None` where nothing does.
pub(super) fn find(name: Option<&str>, old: &[Node<'_>], new: &[Node<'_>]) -> Option<Identity> {
    if old.iter().chain(new).any(|item| !matches!(item.data, Data::Map(_)) || item.tag.is_some()) {
        return None;
    }
    let fits = |fields: &[&str]| identify(fields, old, new);
    // An object of Kubernetes is its kind and its name.
    let objects = old.iter().chain(new).all(|item| get(item, "kind").is_some() && get(item, "metadata").is_some());
    if objects {
        return fits(&["kind", "name"]).or_else(|| fits(&["kind", "namespace", "name"]));
    }
    if let Some(found) = NAMES.iter().find_map(|field| fits(&[*field])) {
        return Some(found);
    }
    let known = BY_LIST.iter().filter(|(list, _)| Some(*list) == name);
    if let Some(found) = known.clone().find_map(|(_, fields)| fits(fields)) {
        return Some(found);
    }
    for first in NAMES {
        if !old.iter().chain(new).all(|item| self::name(item, first).is_some()) {
            continue;
        }
        if let Some(found) = SECOND.iter().find_map(|second| fits(&[first, *second])) {
            return Some(found);
        }
    }
    WEAK.iter().find_map(|field| fits(&[*field]).filter(|found| found.partners.iter().any(Option::is_some)))
}

/// The items by these fields: `None` where one lacks a field, or two of one side call themselves the same.
pub(super) fn identify(fields: &[&str], old: &[Node<'_>], new: &[Node<'_>]) -> Option<Identity> {
    let found = |partners| Identity { fields: fields.iter().map(|field| (*field).to_string()).collect(), partners };
    if are_one_row(fields, old, new)? {
        return Some(found((0..new.len()).map(Some).collect()));
    }
    let mut places = HashMap::with_capacity(old.len());
    for (at, item) in old.iter().enumerate() {
        if places.insert(names(item, fields)?, at).is_some() {
            return None;
        }
    }
    // Most lists begin with the same items, which needs no search.
    let same = |(a, b): &(&Node<'_>, &Node<'_>)| names(a, fields) == names(b, fields);
    let start = old.iter().zip(new).take_while(same).count();
    let mut partners: Vec<Option<usize>> = (0..start).map(Some).collect();
    // A name that only the new side has gets the place that it would have.
    for item in &new[start..] {
        let next = places.len();
        let place = *places.entry(names(item, fields)?).or_insert(next);
        partners.push(Some(place));
    }
    let mut seen = vec![false; places.len()];
    if partners.iter().flatten().any(|place| std::mem::replace(&mut seen[*place], true)) {
        return None;
    }
    let partners = partners.into_iter().map(|place| place.filter(|place| *place < old.len())).collect();
    Some(found(partners))
}

/// Whether both lists name the same items in the same order, and surely no item twice: most lists do, and no table of names
/// is made for them. `None` where an item has no name.
fn are_one_row(fields: &[&str], old: &[Node<'_>], new: &[Node<'_>]) -> Option<bool> {
    if old.len() != new.len() {
        return Some(false);
    }
    let state = foldhash::fast::RandomState::default();
    let mut hashes = Vec::with_capacity(old.len());
    for (a, b) in old.iter().zip(new) {
        let (a, b) = (names(a, fields)?, names(b, fields)?);
        if a != b {
            return Some(false);
        }
        hashes.push(state.hash_one(&a));
    }
    hashes.sort_unstable();
    // Two equal hashes may be two names; the table tells.
    Some(hashes.windows(2).all(|pair| pair[0] != pair[1]))
}
