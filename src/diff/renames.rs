//! Which file that is gone is which file that came? As git sees it: by content, with fixed limits.
//!
//! git's own detection reads the user's settings and runs filters on the work tree; this one does the same sum on bytes
//! that were read here: lines that both have, by weight, of the larger of the two. Half of it makes a rename.

use super::file::Content;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

/// What share of the larger file both must have in common, in percent: git's default.
const SIMILAR: u64 = 50;

/// With more files than this on one side, only files of equal content are told as renamed: git's default limit.
const MAX_FILES: usize = 1_000;

/// What a file is recognised by: its size, the hash of its bytes, and how much each line weighs.
#[derive(Debug)]
pub(super) struct Signature {
    whole: u64,
    size: u64,
    lines: HashMap<u64, u64>,
}

/// Makes signatures that can be compared with each other.
#[derive(Debug, Default)]
pub(super) struct Signer(RandomState);

impl Signer {
    /// The signature of a file; `None` for what is no file, and for an empty one, which is like any other.
    pub(super) fn sign(&self, content: &Content) -> Option<Signature> {
        let Content::Bytes(bytes) = content else { return None };
        if bytes.is_empty() {
            return None;
        }
        let bytes: Vec<u8> = super::file::folded(bytes).collect();
        let mut lines = HashMap::new();
        for line in bytes.split_inclusive(|&b| b == b'\n') {
            for chunk in line.chunks(64) {
                *lines.entry(self.0.hash_one(chunk)).or_insert(0) += chunk.len() as u64;
            }
        }
        Some(Signature { whole: self.0.hash_one(&bytes[..]), size: bytes.len() as u64, lines })
    }
}

impl Signature {
    /// What both have in common, in percent of the larger.
    fn similarity(&self, other: &Signature) -> u64 {
        let larger = self.size.max(other.size);
        if self.size.min(other.size) * 100 < larger * SIMILAR {
            return 0;
        }
        let common: u64 =
            self.lines.iter().map(|(line, weight)| (*weight).min(other.lines.get(line).copied().unwrap_or(0))).sum();
        common * 100 / larger.max(1)
    }
}

/// For each file that came the one that it was: pairs of (gone, came). Each is in the order of names; the result depends
/// on nothing else.
pub(super) fn pair(gone: &[(Vec<u8>, Signature)], came: &[(Vec<u8>, Signature)]) -> Vec<(usize, usize)> {
    let mut taken = vec![false; gone.len()];
    let mut found = vec![None; came.len()];
    let base = |name: &[u8]| name.rsplit(|&b| b == b'/').next().map(<[u8]>::to_vec);
    // The same bytes; of several the one with the same last name, else the first.
    for same_name in [true, false] {
        let mut by_content: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, (_, signature)) in gone.iter().enumerate().filter(|(at, _)| !taken[*at]) {
            by_content.entry(signature.whole).or_default().push(at);
        }
        for (to, (name, signature)) in
            came.iter().enumerate().filter(|(to, _)| found[*to].is_none()).collect::<Vec<_>>()
        {
            let Some(places) = by_content.get_mut(&signature.whole) else { continue };
            if let Some(at) = places.iter().position(|at| !same_name || base(&gone[*at].0) == base(name)) {
                let from = places.remove(at);
                taken[from] = true;
                found[to] = Some(from);
            }
        }
    }
    if gone.len() <= MAX_FILES && came.len() <= MAX_FILES {
        let mut scores = Vec::new();
        for (to, (name, new)) in came.iter().enumerate().filter(|(to, _)| found[*to].is_none()) {
            for (from, (old_name, old)) in gone.iter().enumerate().filter(|(from, _)| !taken[*from]) {
                let score = old.similarity(new);
                if score >= SIMILAR {
                    scores.push((std::cmp::Reverse((score, base(old_name) == base(name))), from, to));
                }
            }
        }
        scores.sort_unstable();
        for (_, from, to) in scores {
            if !taken[from] && found[to].is_none() {
                taken[from] = true;
                found[to] = Some(from);
            }
        }
    }
    found.into_iter().enumerate().filter_map(|(to, from)| Some((from?, to))).collect()
}
