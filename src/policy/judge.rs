//! Which rules fire at this change? Pure: a change in, findings out, in the order of the packs and of the values.

use super::walk::{Site, walk};
use crate::limits::MAX_LINE;
use crate::path::{Path, Segment};
use crate::record::{self, Change, Finding, Op, Severity};
use crate::rules::names::{self, NameIndex, Spellings};
use crate::rules::predicate::{self, Predicate};
use crate::rules::quantity::Quantity;
use crate::rules::{Growth, Pack, Rule, SecretBy, When};
use crate::secret::{self, By, Evidence};
use crate::text;
use crate::value::{Envelope, Value};
use foldhash::HashMap;
use std::cell::OnceCell;
use std::collections::HashSet;

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

/// The rules that apply to a file.
struct Set {
    /// Of each rule, whether it is one of them.
    rules: Vec<bool>,
    /// Those of them that can mean a value of any name.
    nameless: Vec<u32>,
}

/// Judges changes by the rules of some packs.
pub struct Judge<'p> {
    rules: Vec<Active<'p>>,
    file: String,
    kinds: Vec<String>,
    /// The sets of rules that apply to files; most files have one of very few.
    sets: Vec<Set>,
    /// That of the file at hand.
    set: usize,
    /// Which of `lists` are the rules of a set that can mean a value of this name, by the set, the last names of its path and
    /// its effective one. A file repeats few names many times; most rules are out after this.
    by_name: HashMap<Box<[u8]>, u32>,
    lists: Vec<Box<[u32]>>,
    /// The key of `by_name` that is asked for; kept, to be written into again.
    key: Vec<u8>,
    /// Which rules ask for a name, and which rule one out.
    keys: NameIndex,
    not_keys: NameIndex,
    /// Of the rules that ask for no name, those whose paths all say what the last name is, by that name; and the others.
    by_last: HashMap<&'p str, Vec<u32>>,
    nameless: Vec<u32>,
    seen: HashSet<(Option<String>, String, String)>,
}

/// The names that are remembered: more than most files have, and little memory.
const MAX_NAMES: usize = 8192;

/// The lists of rules among which an equal one is looked for.
const MAX_SEARCHED: usize = 256;

/// The sets of rules that are remembered.
const MAX_SETS: usize = 64;

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
        let (mut keys, mut not_keys) = (NameIndex::default(), NameIndex::default());
        let mut by_last: HashMap<&'p str, Vec<u32>> = HashMap::default();
        let mut nameless = Vec::new();
        for (number, (at, Active { rule, .. })) in (0..).zip(rules.iter().enumerate()) {
            let when = &rule.when;
            when.keys.iter().for_each(|key| keys.add(at, key));
            when.not_keys.iter().for_each(|key| not_keys.add(at, key));
            let names: Option<Vec<&str>> = when.paths.iter().map(|pattern| pattern.last_name()).collect();
            match names.filter(|names| !names.is_empty() && !asks_of_lists(when)) {
                _ if !when.keys.is_empty() => {}
                Some(names) => names.iter().for_each(|name| by_last.entry(name).or_default().push(number)),
                None => nameless.push(number),
            }
        }
        let mut judge = Judge {
            rules,
            file: String::new(),
            kinds: Vec::new(),
            sets: Vec::new(),
            set: 0,
            by_name: HashMap::default(),
            lists: Vec::new(),
            key: Vec::new(),
            keys,
            not_keys,
            by_last,
            nameless,
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
        let mut set = vec![false; self.rules.len()];
        // The rules of a pack stand together: whether it takes the file is asked once.
        let mut asked: Option<(&Pack, bool)> = None;
        for (active, applies) in self.rules.iter().zip(&mut set) {
            let taken = match asked {
                _ if !active.fitting_only => true,
                Some((pack, taken)) if std::ptr::eq(pack, active.pack) => taken,
                _ => {
                    let taken = active.pack.fits.takes(file, kinds);
                    asked = Some((active.pack, taken));
                    taken
                }
            };
            let when = &active.rule.when;
            *applies = taken
                && (when.kinds.is_empty() || when.kinds.iter().any(|known| kinds.contains(&known.as_str())))
                && (when.files.is_empty() || when.files.iter().any(|glob| glob.matches(file)))
                && !when.not_files.iter().any(|glob| glob.matches(file));
        }
        self.set = match self.sets.iter().position(|known| known.rules == set) {
            Some(known) => known,
            None => {
                if self.sets.len() >= MAX_SETS {
                    self.sets.clear();
                    self.forget_names();
                }
                let nameless = self.nameless.iter().copied().filter(|at| set[*at as usize]).collect();
                self.sets.push(Set { rules: set, nameless });
                self.sets.len() - 1
            }
        };
    }

    fn forget_names(&mut self) {
        self.by_name.clear();
        self.lists.clear();
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
        let list = self.list(site.path);
        let evidence = OnceCell::new();
        // What Kubernetes calls a secret is one, however the rest of the file is kept.
        let kind = self.kinds.last();
        let mut fired: Vec<(usize, String)> = Vec::new();
        for &at in &self.lists[list] {
            let at = at as usize;
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
                            kind: kind.map(String::as_str),
                            document,
                            path: site.path,
                        };
                        secret::inspect_new(&place, site.before, value)
                    })
                    .as_ref()
            };
            if let Some(place) = place(&self.rules[at].rule.when, change.document.as_deref(), site, &secret) {
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

    /// Which of `lists` are the rules that apply to the file and can mean a value at this path.
    fn list(&mut self, path: &Path) -> usize {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        // With the length of each before it: a name may have any character in it.
        let mut part = |bytes: &[u8]| {
            key.extend_from_slice(&bytes.len().to_le_bytes());
            key.extend_from_slice(bytes);
        };
        part(&self.set.to_le_bytes());
        part(names::effective(path).unwrap_or_default().as_bytes());
        path.names().rev().take(names::REACH).for_each(|name| part(name.as_bytes()));
        let list = match self.by_name.get(key.as_slice()) {
            Some(list) => *list,
            None => {
                if self.by_name.len() >= MAX_NAMES {
                    self.forget_names();
                }
                let candidates = self.candidates(path);
                // Most names have the list of another: the rules that ask for none.
                let known = self.lists.iter().take(MAX_SEARCHED).position(|list| **list == *candidates);
                let list = known.unwrap_or(self.lists.len());
                if known.is_none() {
                    self.lists.push(candidates.into());
                }
                let list = u32::try_from(list).unwrap_or(u32::MAX);
                self.by_name.insert(key.as_slice().into(), list);
                list
            }
        };
        self.key = key;
        list as usize
    }

    /// The rules of the file at hand that can mean a value of this name at all, in their order.
    fn candidates(&self, path: &Path) -> Vec<u32> {
        let last = path.names().next_back();
        let spellings = Spellings::of(path);
        let set = &self.sets[self.set];
        let can = |at: &u32| {
            let at = *at as usize;
            set.rules[at] && may_end(&self.rules[at].rule.when, last)
        };
        let mut out: Vec<u32> = set.nameless.iter().copied().filter(can).collect();
        out.extend(last.and_then(|last| self.by_last.get(last)).into_iter().flatten().filter(|at| can(at)));
        let met = |at: usize| u32::try_from(at).ok();
        self.keys.each(&spellings, |at| out.extend(met(at).filter(can)));
        out.sort_unstable();
        out.dedup();
        self.not_keys.each(&spellings, |at| {
            if let Some(found) = met(at).and_then(|at| out.binary_search(&at).ok()) {
                out.remove(found);
            }
        });
        out
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

/// Whether a rule is about what a list gains or loses: it is asked at the items too, below the path that it means.
fn asks_of_lists(when: &When) -> bool {
    when.gains.is_some() || when.loses.is_some()
}

/// Whether a path that ends in this name can be one that a rule means.
fn may_end(when: &When, last: Option<&str>) -> bool {
    when.paths.is_empty() || asks_of_lists(when) || when.paths.iter().any(|pattern| pattern.may_end_in(last))
}

/// Whether a rule fires at a value, and at which place: that of the value, or of the list that got or lost it.
fn place<'e>(
    when: &When,
    document: Option<&str>,
    site: &Site<'_>,
    secret: &dyn Fn() -> Option<&'e Evidence>,
) -> Option<Path> {
    if !when.ops.contains(&site.op) || site.op != Op::Changed && when.within.is_some_and(|steps| site.depth > steps) {
        return None;
    }
    if !when.documents.is_empty() && !document.is_some_and(|name| when.documents.iter().any(|glob| glob.matches(name)))
    {
        return None;
    }
    // Asked of each value once, for all rules that ask: nearly always no.
    if let Some(by) = when.secret
        && !secret().is_some_and(|found| is_by(by, found))
    {
        return None;
    }
    let is_item = matches!(site.path.0.last(), Some(Segment::Index(_) | Segment::Item(_) | Segment::Entry { .. }));
    let parent;
    let path = if asks_of_lists(when) && is_item {
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
    Some(path.clone())
}

/// Whether what says that a value is a secret is of the kind that a rule asks for.
fn is_by(by: SecretBy, found: &Evidence) -> bool {
    match by {
        SecretBy::Name => matches!(found.by, By::Key | By::Sibling | By::Document),
        SecretBy::Shape => found.by == By::Format || found.by == By::Container && found.of_address(),
        SecretBy::Text => found.by == By::Opaque || found.by == By::Container && !found.of_address(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;

    /// Each rule asked by itself, as the index of names must answer for all of them.
    fn asked_one_by_one(judge: &Judge<'_>, path: &Path) -> Vec<u32> {
        let (spellings, last) = (Spellings::of(path), path.names().next_back());
        let named = |keys: &[names::NameGlob]| keys.iter().any(|key| spellings.each().any(|words| key.matches(words)));
        let means = |at: &u32| {
            let when = &judge.rules[*at as usize].rule.when;
            (when.keys.is_empty() || named(&when.keys)) && !named(&when.not_keys) && may_end(when, last)
        };
        (0..)
            .zip(&judge.sets[judge.set].rules)
            .filter(|(_, applies)| **applies)
            .map(|(at, _)| at)
            .filter(means)
            .collect()
    }

    #[test]
    fn the_index_of_names_says_what_each_rule_says() {
        let packs: Vec<&Pack> =
            rules::builtin_names().iter().map(|name| rules::read_builtin(name).expect("a pack")).collect();
        let chosen: Vec<Chosen<'_>> = packs.iter().map(|pack| Chosen { pack, fitting_only: true }).collect();
        let mut judge = Judge::new(&chosen, |_, rule| Some(rule.severity));
        let mut paths: Vec<Path> = ["$", "a", "[0]", "a[0]", "a[name=b]", "a[@B]", "x!y", "a[?1].b", "a['b\\0c']"]
            .iter()
            .filter_map(|text| Path::parse(text).ok())
            .collect();
        for rule in packs.iter().flat_map(|pack| &pack.rules) {
            paths.extend(rule.fires.iter().chain(&rule.quiet).map(|example| example.path.clone()));
        }
        assert!(paths.len() > 500);
        for (file, kinds) in [
            ("a.yaml", vec![]),
            ("k8s/a.yaml", vec!["kubernetes"]),
            ("main.tf", vec!["terraform"]),
            (".github/workflows/ci.yml", vec!["github-workflow"]),
            ("package.json", vec!["package-json"]),
            ("docker-compose.yml", vec!["compose"]),
        ] {
            judge.file(file, &kinds);
            for path in &paths {
                let expected = asked_one_by_one(&judge, path);
                assert_eq!(judge.candidates(path), expected, "{file} {path}");
                // Asked again, from memory, and after whatever was asked between.
                for _ in 0..2 {
                    let list = judge.list(path);
                    assert_eq!(*judge.lists[list], *expected, "{file} {path}");
                }
            }
        }
    }

    #[test]
    fn names_that_end_where_others_begin_are_not_mixed_up() {
        let pack = rules::read_builtin("limits").expect("a pack");
        let mut judge = Judge::new(&[Chosen { pack, fitting_only: false }], |_, rule| Some(rule.severity));
        let key = |name: &str| Segment::Key(name.to_string());
        let one = Path(vec![key("a\0timeout")]);
        let two = Path(vec![key("timeout"), key("a")]);
        for path in [&one, &two, &one] {
            let expected = judge.candidates(path);
            let list = judge.list(path);
            assert_eq!(*judge.lists[list], *expected, "{path}");
        }
    }

    #[test]
    fn more_names_and_kinds_of_files_than_are_remembered_change_no_answer() {
        let pack = rules::read_builtin("limits").expect("a pack");
        let mut judge = Judge::new(&[Chosen { pack, fitting_only: false }], |_, rule| Some(rule.severity));
        for n in 0..2 * MAX_NAMES {
            let path = Path(vec![Segment::Key(format!("x{n}")), Segment::Key("timeout".into())]);
            let list = judge.list(&path);
            assert!(!judge.lists[list].is_empty());
        }
        assert!(judge.by_name.len() <= MAX_NAMES && judge.lists.len() <= MAX_NAMES);
    }
}
