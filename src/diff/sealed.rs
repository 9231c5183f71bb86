//! Which changes of an encrypted document are news?
//!
//! SOPS rewrites its MAC and its date with every edit, and the sealed data key of each recipient with every rotation: where
//! a value moved, they must, and say nothing. A MAC that moved alone does. (<https://getsops.io/docs/#encryption-protocol>)

use super::compare::{Found, Side};
use super::notes;
use crate::document::{Data, Node};
use crate::path::Segment;
use crate::record::Op;

/// Takes out of the changes of a SOPS document what SOPS had to write.
pub(super) fn fold(found: &mut Vec<Found<'_>>) {
    let own = |found: &Found<'_>| matches!(found.path.0.first(), Some(Segment::Key(key)) if key == "sops" || key.starts_with("sops_"));
    let moved = found.iter().any(|found| !own(found));
    // A date that moved with the MAC is the same news.
    let mac = found.iter().any(|found| own(found) && last(found) == "mac");
    found.retain(|found| {
        if !own(found) || found.op != Op::Changed {
            return true;
        }
        match last(found) {
            "mac" => !moved,
            "lastmodified" => !moved && !mac,
            "enc" | "created_at" => found.path.0.len() < 3 && !joined(found),
            _ => true,
        }
    });
}

/// Says of values that were all sealed anew at once that this is what happened: a rotated data key does it to all of them,
/// and which of them are other values beneath cannot be told.
pub(super) fn hint(found: &mut [Found<'_>], old: &Node<'_>) {
    let Data::Map(entries) = &old.data else { return };
    let own = |key: &str| key == "sops" || key.starts_with("sops_");
    let all: usize = entries.iter().filter(|entry| !own(entry.key.text())).map(|entry| sealed(&entry.value)).sum();
    let is_own = |found: &Found<'_>| matches!(found.path.0.first(), Some(Segment::Key(key)) if own(key));
    let side = |side: &Option<Side<'_>>| side.as_ref().and_then(Side::node).map_or(0, sealed);
    let anew = |found: &Found<'_>| {
        !is_own(found) && found.op == Op::Changed && side(&found.before) == 1 && side(&found.after) == 1
    };
    let count = found.iter().filter(|one| anew(one)).count();
    let gone: usize = found.iter().filter(|one| !is_own(one) && !anew(one)).map(|one| side(&one.before)).sum();
    if count < 2 || count + gone < all {
        return;
    }
    for one in found.iter_mut().filter(|one| anew(one)) {
        one.notes.push(notes::sealed_anew(count));
    }
}

/// How many ciphertexts are in a value.
fn sealed(node: &Node<'_>) -> usize {
    match &node.data {
        Data::Encrypted(_) => 1,
        Data::List(items) => items.iter().map(sealed).sum(),
        Data::Map(entries) => entries.iter().map(|entry| sealed(&entry.value)).sum(),
        _ => 0,
    }
}

/// Whether the path is one key with everything in it, as dotenv has it.
fn joined(found: &Found<'_>) -> bool {
    matches!(&found.path.0[..], [Segment::Key(key)] if key.contains("__list_"))
}

/// The last name of the path: `mac` of `sops.mac`, of `sops_mac`.
fn last<'f>(found: &'f Found<'_>) -> &'f str {
    match found.path.0.last() {
        Some(Segment::Key(key)) => match key.strip_prefix("sops_") {
            Some(rest) => rest.rsplit("__map_").next().unwrap_or(rest),
            None => key,
        },
        _ => "",
    }
}
