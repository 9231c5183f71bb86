//! Which changes of an encrypted document are news?
//!
//! SOPS rewrites its MAC and its date with every edit, and the sealed data key of each recipient with every rotation: where
//! a value moved, they must, and say nothing. A MAC that moved alone does. (<https://getsops.io/docs/#encryption-protocol>)

use super::compare::Found;
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
