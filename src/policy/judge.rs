//! Which rules fire at this change? Pure: a change in, findings out, in the order of the packs and of the values.

use super::walk::{Site, walk};
use crate::limits::MAX_LINE;
use crate::path::{Path, Segment};
use crate::record::{self, Change, Finding, Op, Severity};
use crate::rules::names::{self, NameIndex};
use crate::rules::predicate::{self, Predicate};
use crate::rules::quantity::Quantity;
use crate::rules::{Growth, Pack, Rule, SecretBy, When};
use crate::secret::{self, By, Evidence};
use crate::text;
use crate::value::{Envelope, Value};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

/// A pack and whether it chooses its files itself.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'p> {
    /// The pack.
    pub pack: &'p Pack,
    /// Whether it judges only the files that it fits. One that somebody named judges every file.
    pub fitting_only: bool,
}

/// The rule of the finding that a value was too long to be judged.
pub const NOT_JUDGED: &str = "value-not-judged";

/// The pack name of findings that no pack's rule makes.
pub const OWN_PACK: &str = "flecto";

struct Active<'p> {
    pack: &'p Pack,
    fitting_only: bool,
    rule: &'p Rule,
    severity: Severity,
}

/// Judges changes by the rules of some packs.
pub struct Judge<'p> {
    rules: Vec<Active<'p>>,
    file: String,
    kinds: Vec<String>,
    /// For each rule, whether it applies to the file at hand.
    active: Vec<bool>,
    /// Which rules can mean a value of this name, by the last names of its path and its effective one. A file repeats
    /// few names many times; most rules are out after this.
    by_name: HashMap<String, Vec<usize>>,
    /// Which rules ask for a name, and which rule one out.
    keys: NameIndex,
    not_keys: NameIndex,
    seen: HashSet<(Option<String>, String, String)>,
}

/// The names that are remembered: more than any real file has, and little memory.
const MAX_NAMES: usize = 20_000;

/// How long a value may be that a sentence says, in bytes. Longer ones are in the change.
const MAX_TOLD: usize = 4096;

/// How much of a finding's place a record can hold beside its message.
const MAX_PLACE: usize = MAX_LINE / 4;

impl<'p> Judge<'p> {
    /// Judges by these packs. `severity` gives a rule's severity, `None` to leave it out.
    pub fn new(packs: &[Chosen<'p>], severity: impl Fn(&Pack, &Rule) -> Option<Severity>) -> Judge<'p> {
        let mut rules = Vec::new();
        for chosen in packs {
            for rule in &chosen.pack.rules {
                if let Some(severity) = severity(chosen.pack, rule) {
                    let Chosen { pack, fitting_only } = *chosen;
                    rules.push(Active { pack, fitting_only, rule, severity });
                }
            }
        }
        let active = vec![false; rules.len()];
        let (mut keys, mut not_keys) = (NameIndex::default(), NameIndex::default());
        for (at, Active { rule, .. }) in rules.iter().enumerate() {
            rule.when.keys.iter().for_each(|key| keys.add(at, key));
            rule.when.not_keys.iter().for_each(|key| not_keys.add(at, key));
        }
        let mut judge = Judge {
            rules,
            file: String::new(),
            kinds: Vec::new(),
            active,
            by_name: HashMap::new(),
            keys,
            not_keys,
            seen: HashSet::new(),
        };
        judge.file("", &[]);
        judge
    }

    /// A file begins: the changes that follow are of it.
    pub fn file(&mut self, file: &str, kinds: &[&str]) {
        self.file = file.to_string();
        self.kinds = kinds.iter().map(|kind| (*kind).to_string()).collect();
        self.seen.clear();
        for (active, on) in self.rules.iter().zip(&mut self.active) {
            let when = &active.rule.when;
            *on = (!active.fitting_only || active.pack.fits.takes(file, kinds))
                && (when.kinds.is_empty() || when.kinds.iter().any(|known| kinds.contains(&known.as_str())))
                && (when.files.is_empty() || when.files.iter().any(|glob| glob.matches(file)))
                && !when.not_files.iter().any(|glob| glob.matches(file));
        }
    }

    /// Takes note of a finding that is there already, so that no rule says the same again.
    pub fn known(&mut self, finding: &Finding) {
        self.seen.insert((finding.document.clone(), finding.path.clone(), finding.rule.clone()));
    }

    /// The findings of one change.
    pub fn change(&mut self, change: &Change, path: &Path) -> Vec<Finding> {
        if self.file != change.file {
            // No `file` record came before: after `grep`, say. Its kind is unknown then.
            self.file(&change.file, &[]);
        }
        if self.rules.is_empty() {
            return Vec::new();
        }
        let mut out = Vec::new();
        let whole =
            Site { path, op: change.op, before: change.before.as_ref(), after: change.after.as_ref(), depth: 0 };
        walk(&whole, &mut |site| self.site(change, site, &mut out));
        out
    }

    fn site(&mut self, change: &Change, site: &Site<'_>, out: &mut Vec<Finding>) {
        let is_cut = |value: Option<&Value>| matches!(value.and_then(Value::envelope), Some(Envelope::Long { .. }));
        if is_cut(site.before) || is_cut(site.after) {
            let place = site.path.to_string();
            self.add(change, place, out, |path| Finding {
                path: path.to_string(),
                pack: Some(OWN_PACK.into()),
                message: "A value is too long to be compared by rules; nobody judged it.".into(),
                ..Finding::at(change, NOT_JUDGED, Severity::Warn)
            });
        }
        let last = site.path.names().next_back();
        let mut key = names::effective(site.path).unwrap_or_default().to_string();
        for name in site.path.names().rev().take(names::REACH) {
            key.push('\0');
            key.push_str(name);
        }
        if !self.by_name.contains_key(&key) {
            if self.by_name.len() >= MAX_NAMES {
                self.by_name.clear();
            }
            let candidates = self.candidates(last, &names::spellings(site.path));
            self.by_name.insert(key.clone(), candidates);
        }
        let evidence = OnceCell::new();
        // What Kubernetes calls a secret is one, however the rest of the file is kept.
        let kind = self.kinds.last().cloned();
        let mut fired: Vec<(usize, String)> = Vec::new();
        for &at in self.by_name.get(&key).map(Vec::as_slice).unwrap_or_default() {
            let secret = || {
                evidence
                    .get_or_init(|| {
                        let value = site.after.filter(|value| !predicate::is_opaque(value))?;
                        if matches!(value, Value::List(_) | Value::Map(_) | Value::Null | Value::Bool(_)) {
                            return None;
                        }
                        let document = change.document.as_deref();
                        let place = secret::Place {
                            file: Some(&change.file),
                            kind: kind.as_deref(),
                            document,
                            path: site.path,
                        };
                        secret::inspect_new(&place, site.before, value)
                    })
                    .clone()
            };
            if self.active[at]
                && let Some(place) = place(&self.rules[at].rule.when, change.document.as_deref(), site, &secret)
            {
                fired.push((at, place.to_string()));
            }
        }
        for (at, path) in fired {
            let Active { rule, pack, severity, .. } = &self.rules[at];
            let (rule, pack, severity) = (*rule, *pack, *severity);
            self.add(change, path, out, |path| {
                let tells = rule.tells_values();
                let told = |value: Option<&Value>| value.filter(|_| tells).map(shorten);
                let (before, after) = (told(site.before), told(site.after));
                Finding {
                    path: path.to_string(),
                    pack: Some(pack.name.clone()),
                    message: record::fill(&rule.message, path, before.as_ref(), after.as_ref()),
                    template: rule.message.contains('{').then(|| rule.message.clone()),
                    before,
                    after,
                    ..Finding::at(change, &rule.id, severity)
                }
            });
        }
    }

    /// The rules that can mean a value of this name at all.
    fn candidates(&self, last: Option<&str>, spellings: &[Vec<String>]) -> Vec<usize> {
        let mut meant: Vec<bool> = self.rules.iter().map(|active| active.rule.when.keys.is_empty()).collect();
        self.keys.each(spellings, |at| meant[at] = true);
        self.not_keys.each(spellings, |at| meant[at] = false);
        (0..meant.len()).filter(|at| meant[*at] && may_end(&self.rules[*at].rule.when, last)).collect()
    }

    fn add(&mut self, change: &Change, path: String, out: &mut Vec<Finding>, make: impl FnOnce(&str) -> Finding) {
        let path = if path.len() > MAX_PLACE { change.path.clone() } else { path };
        let finding = make(&path);
        if self.seen.insert((change.document.clone(), path, finding.rule.clone())) {
            out.push(finding);
        }
    }
}

/// A value as a sentence says it: one that is too long is in the change, and a record has to fit into its line.
fn shorten(value: &Value) -> Value {
    let told = value.to_text();
    if told.len() <= MAX_TOLD { value.clone() } else { Value::String(text::shorten(&told, 200).into_owned()) }
}

/// Whether a path that ends in this name can be one that a rule means.
fn may_end(when: &When, last: Option<&str>) -> bool {
    when.paths.is_empty()
        || when.gains.is_some()
        || when.loses.is_some()
        || when.paths.iter().any(|pattern| pattern.may_end_in(last))
}

/// Whether a rule fires at a value, and at which place: that of the value, or of the list that got or lost it.
fn place(when: &When, document: Option<&str>, site: &Site<'_>, secret: &dyn Fn() -> Option<Evidence>) -> Option<Path> {
    if !when.ops.contains(&site.op) || site.op != Op::Changed && when.within.is_some_and(|steps| site.depth > steps) {
        return None;
    }
    if !when.documents.is_empty() && !document.is_some_and(|name| when.documents.iter().any(|glob| glob.matches(name)))
    {
        return None;
    }
    let set = when.gains.is_some() || when.loses.is_some();
    let is_item = matches!(site.path.0.last(), Some(Segment::Index(_) | Segment::Item(_) | Segment::Entry { .. }));
    let parent;
    let path = if set && is_item {
        parent = Path(site.path.0[..site.path.0.len() - 1].to_vec());
        &parent
    } else {
        site.path
    };
    let at_place = (when.paths.is_empty() || when.paths.iter().any(|pattern| pattern.matches(path)))
        && !when.not_paths.iter().any(|pattern| pattern.matches(path));
    if !at_place {
        return None;
    }
    let holds = |predicate: &Option<Predicate>, value| predicate.as_ref().is_none_or(|p| p.test(value) == Some(true));
    if !holds(&when.before, site.before) || !holds(&when.after, site.after) {
        return None;
    }
    if let Some(growth) = &when.growth
        && !grew(growth, site)
    {
        return None;
    }
    let got = |predicate: &Option<Predicate>, from: Option<&Value>, to: Option<&Value>| {
        predicate
            .as_ref()
            .is_none_or(|wanted| new_members(from, to, is_item).iter().any(|m| wanted.test(Some(m)) == Some(true)))
    };
    if !got(&when.gains, site.before, site.after) || !got(&when.loses, site.after, site.before) {
        return None;
    }
    match (when.secret, || secret()) {
        (None, _) => {}
        (Some(SecretBy::Name), by) => {
            if !matches!(by()?.by, By::Key | By::Sibling | By::Document) {
                return None;
            }
        }
        (Some(SecretBy::Shape), by) => {
            let found = by()?;
            if !(found.by == By::Format || found.by == By::Container && found.of_address()) {
                return None;
            }
        }
        (Some(SecretBy::Text), by) => {
            let found = by()?;
            if !(found.by == By::Opaque || found.by == By::Container && !found.of_address()) {
                return None;
            }
        }
    }
    Some(path.clone())
}

/// What `to` has and `from` has not: for an item of a list itself, for a text of words its words. A list's items are
/// looked at one by one, as values of their own.
fn new_members(from: Option<&Value>, to: Option<&Value>, is_item: bool) -> Vec<Value> {
    match (to, is_item) {
        (Some(to), true) if from != Some(to) => vec![to.clone()],
        (Some(to @ Value::String(_)), false) if !predicate::is_opaque(to) => {
            let old = from.map(predicate::members).unwrap_or_default();
            predicate::members(to).into_iter().filter(|member| !old.contains(member)).collect()
        }
        _ => Vec::new(),
    }
}

fn grew(growth: &Growth, site: &Site<'_>) -> bool {
    let read = |value: Option<&Value>| value.and_then(|value| Quantity::of(value, growth.unit));
    match (read(site.before), read(site.after)) {
        (Some(before), Some(after)) if growth.down => before.grew_from(&after, growth.factor, growth.amount),
        (Some(before), Some(after)) => after.grew_from(&before, growth.factor, growth.amount),
        _ => false,
    }
}
