//! Do the rules of a pack do what their examples say? The test that every rule carries with it.

use super::{Chosen, Judge};
use crate::record::{Change, Finding};
use crate::rules::{Example, Pack, Rule};

/// An example that a rule does not keep to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The rule.
    pub rule: String,
    /// The line of the example in the pack's file.
    pub line: u32,
    /// Whether the rule should have fired there; it did the opposite.
    pub should_fire: bool,
}

/// Tries every example of a pack and gives back those that fail.
pub fn check(pack: &Pack) -> Vec<Broken> {
    let mut broken = Vec::new();
    for rule in &pack.rules {
        for (examples, should_fire) in [(&rule.fires, true), (&rule.quiet, false)] {
            for example in examples {
                if findings(&[pack], example).iter().any(|finding| finding.rule == rule.id) != should_fire {
                    broken.push(Broken { rule: rule.id.clone(), line: example.line, should_fire });
                }
            }
        }
    }
    broken
}

/// The rules of a pack that have no example of one of the two kinds.
pub fn without_examples(pack: &Pack) -> Vec<&Rule> {
    pack.rules.iter().filter(|rule| rule.fires.is_empty() || rule.quiet.is_empty()).collect()
}

/// What some packs find at an example's change, their own choice of files respected.
pub fn findings(packs: &[&Pack], example: &Example) -> Vec<Finding> {
    let chosen: Vec<Chosen<'_>> =
        packs.iter().map(|pack| Chosen { pack, fitting_only: pack.fits.is_some_kind() }).collect();
    let mut judge = Judge::new(&chosen, |_, rule| Some(rule.severity));
    judge.file(&example.file, &example.kind.as_deref().into_iter().collect::<Vec<_>>());
    let change = Change {
        file: example.file.clone(),
        document: example.document.clone(),
        path: example.path.to_string(),
        op: example.op,
        before: example.before.clone(),
        after: example.after.clone(),
        index: None,
        note: None,
        line: None,
        column: None,
        end_line: None,
        before_line: None,
        parent_line: None,
        accept: None,
        line_hash: None,
    };
    judge.change(&change, &example.path)
}
