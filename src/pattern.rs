//! Which paths does this pattern mean? The one language for `--ignore`, `--mask`, `--allow`, settings and rules.
//!
//! A pattern is the text of a [`Path`] in which steps may be left open:
//!
//! | pattern | matches |
//! |---|---|
//! | `db.pool_size` | that path: each word is a map key, or the name of a `KEY=VALUE` entry (`env.DEBUG` also means `env[@DEBUG]`) |
//! | `db.*` | any one step below `db`: a key, an index, an item, an entry |
//! | `**.password` | `password` at any depth, the top included; `**` is any number of steps, also into documents in strings |
//! | `db.*_timeout`, `servers[name=api-*].port` | `*` inside a word is any run of characters |
//! | `containers[*].image` | any item of the list: by index, by identity, by entry name |
//! | `containers[0]`, `containers[name=api]` | that item; of several identifying fields only the given ones are compared |
//! | `env[@DB_HOST]`, `args[@--set#2]` | that entry; without `#N` each of that name |
//! | `annotations['a.b/c']`, `['*']` | exactly this key: nothing in quotes is special, `'` is doubled |
//! | `responses.200`, `versions[?1.3]` | a key that is no string; unquoted `200` also means the string |
//! | `data['app.yaml']!server.*` | inside the document in the string; `!{'name'}` in one of several |
//! | `$` | the root |
//!
//! Case counts. [`Pattern::matches`] wants the whole path, [`Pattern::covers`] also takes what lies below a match, so that
//! ignoring `metadata.managedFields` ignores everything in it. A pattern is at most [`MAX_STEPS`] steps and
//! [`MAX_TEXT`] bytes; matching looks at each step of the path once, so its time is linear in the path. Regular
//! expressions over the path's text were rejected: `.` and `[` would need escapes in every real path.

use crate::path::{Path, Segment, Word};
use std::fmt;

/// The steps that one pattern may have: one bit each in a machine word.
pub const MAX_STEPS: usize = 60;

/// The bytes that one pattern may have. The longest path in the test data has 214.
pub const MAX_TEXT: usize = 1024;

/// A pattern over paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    steps: Vec<Step>,
    /// Which of the steps are `**`, a bit each. No two of them stand side by side.
    any: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// `**`
    Any,
    /// `*`: one step of any kind but into a string.
    One,
    /// `[*]`: one item of a list.
    Item,
    /// An unquoted word: a key of any type, or an entry.
    Word(Glob),
    /// `['…']`
    Key(String),
    /// `[?…]`
    Typed(String),
    /// `[3]`
    Index(usize),
    /// `[name=api]`
    Fields(Vec<(Glob, Glob)>),
    /// `[@NAME]`, `[@NAME#2]`
    Entry(Glob, Option<usize>),
    /// `!`, `!{'name'}`
    Inner(Option<String>),
}

/// How far along a path a pattern has matched; see [`Pattern::start`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State(u64);

impl State {
    /// Whether no longer path can match.
    pub fn is_dead(self) -> bool {
        self.0 == 0
    }

    /// The states of both: of two names of one step.
    pub fn or(self, other: State) -> State {
        State(self.0 | other.0)
    }
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// Text that is no pattern, by the byte where it stops making sense; one that is too long.
    pub fn parse(text: &str) -> Result<Pattern, BadPattern> {
        if text.len() > MAX_TEXT {
            return Err(BadPattern { at: MAX_TEXT, reason: "it is too long; 1024 bytes are the limit" });
        }
        let steps = if text == "$" { Vec::new() } else { Parser { text, at: 0 }.steps()? };
        if steps.len() > MAX_STEPS {
            return Err(BadPattern { at: text.len(), reason: "it has too many steps; 60 are the limit" });
        }
        let any = steps.iter().enumerate().filter(|(_, step)| matches!(step, Step::Any)).map(|(at, _)| 1 << at).sum();
        Ok(Pattern { text: text.to_string(), steps, any })
    }

    /// The text that it was read from.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it matches the whole path.
    pub fn matches(&self, path: &Path) -> bool {
        // Most patterns end in a name, and most paths in another one.
        if let (Some(last), Some(segment)) = (self.steps.last(), path.0.last())
            && !last.matches(segment)
        {
            return false;
        }
        let mut state = self.start();
        for segment in &path.0 {
            if state.is_dead() {
                return false;
            }
            state = self.step(state, segment);
        }
        self.accepts(state)
    }

    /// Whether it matches the path or one that the path lies below.
    pub fn covers(&self, path: &Path) -> bool {
        let mut state = self.start();
        for segment in &path.0 {
            if self.accepts(state) {
                return true;
            }
            state = self.step(state, segment);
        }
        self.accepts(state)
    }

    /// Whether a path with this last name (of a key or an entry) can match at all: a cheap first question.
    pub fn may_end_in(&self, name: Option<&str>) -> bool {
        match self.steps.iter().rev().find(|step| !step.is_nameless()) {
            Some(Step::Word(glob) | Step::Entry(glob, _)) => name.is_some_and(|name| glob.matches(name)),
            Some(Step::Key(key) | Step::Typed(key)) => name == Some(key),
            _ => true,
        }
    }

    /// The last name of every path that this matches, where the pattern says it: the other first question, for many patterns at
    /// once.
    pub fn last_name(&self) -> Option<&str> {
        match self.steps.iter().rev().find(|step| !step.is_nameless()) {
            Some(Step::Word(glob) | Step::Entry(glob, _)) => glob.as_literal(),
            Some(Step::Key(key) | Step::Typed(key)) => Some(key),
            _ => None,
        }
    }

    /// The state before the first step: for a walk down a tree that carries its states along.
    pub fn start(&self) -> State {
        State(self.skip_any(1))
    }

    /// The state after one more step.
    pub fn step(&self, state: State, segment: &Segment) -> State {
        let mut next = 0;
        let mut left = state.0;
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            match self.steps.get(at) {
                Some(Step::Any) => next |= 1 << at,
                Some(step) if step.matches(segment) => next |= 1 << (at + 1),
                _ => {}
            }
        }
        State(self.skip_any(next))
    }

    /// Whether the steps so far are a match.
    pub fn accepts(&self, state: State) -> bool {
        state.0 & (1 << self.steps.len()) != 0
    }

    /// `**` may be nothing: from each state at one, the state after it is reached too.
    fn skip_any(&self, states: u64) -> u64 {
        states | (states & self.any) << 1
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::str::FromStr for Pattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Pattern, BadPattern> {
        Pattern::parse(text)
    }
}

/// A text that is no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPattern {
    /// Where it stops making sense, in bytes from 0.
    pub at: usize,
    reason: &'static str,
}

impl fmt::Display for BadPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no path pattern: at character {} {}", self.at + 1, self.reason)
    }
}

impl std::error::Error for BadPattern {}

impl Step {
    fn is_nameless(&self) -> bool {
        matches!(self, Step::Index(_) | Step::Fields(_))
    }

    fn matches(&self, segment: &Segment) -> bool {
        match (self, segment) {
            (Step::Any, _) => true,
            (Step::One, segment) => !matches!(segment, Segment::Inner(_)),
            (Step::Item, Segment::Index(_) | Segment::Item(_) | Segment::Entry { .. }) => true,
            (Step::Word(glob), Segment::Key(name) | Segment::Typed(name) | Segment::Entry { name, .. }) => {
                glob.matches(name)
            }
            (Step::Key(key), Segment::Key(name)) | (Step::Typed(key), Segment::Typed(name)) => key == name,
            (Step::Index(at), Segment::Index(index)) => at == index,
            (Step::Fields(fields), Segment::Item(item)) => fields.iter().all(|(field, value)| {
                item.iter().any(|(name, word)| field.matches(name) && value.matches(Word::text(word)))
            }),
            (Step::Entry(glob, nth), Segment::Entry { name, nth: found }) => {
                glob.matches(name) && nth.is_none_or(|nth| nth == *found)
            }
            (Step::Inner(None), Segment::Inner(_)) => true,
            (Step::Inner(wanted), Segment::Inner(found)) => wanted == found,
            _ => false,
        }
    }
}

/// A word in which `*` is any run of characters, also none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    /// What stands before, between and after the stars; one part means no star.
    parts: Vec<String>,
}

impl Glob {
    /// Reads a word; each `*` in it is a wildcard.
    pub fn new(text: &str) -> Glob {
        Glob { parts: text.split('*').map(str::to_string).collect() }
    }

    /// A word in which nothing is special.
    pub fn literal(text: &str) -> Glob {
        Glob { parts: vec![text.to_string()] }
    }

    /// The text, when there is no star in it.
    fn as_literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Whether it matches all of `text`. Each part is searched for once, from left to right: the leftmost hit leaves the
    /// most room for the rest.
    pub fn matches(&self, text: &str) -> bool {
        let [first, middle @ .., last] = self.parts.as_slice() else {
            return self.parts.first().is_some_and(|only| only == text);
        };
        let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
        for part in middle {
            match rest.find(part.as_str()) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        rest.ends_with(last.as_str())
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn bad<T>(&self, reason: &'static str) -> Result<T, BadPattern> {
        Err(BadPattern { at: self.at, reason })
    }

    fn expect(&mut self, token: &str, reason: &'static str) -> Result<(), BadPattern> {
        if self.eat(token) { Ok(()) } else { self.bad(reason) }
    }

    fn steps(&mut self) -> Result<Vec<Step>, BadPattern> {
        let mut steps = Vec::new();
        let mut dot = false;
        while !self.rest().is_empty() {
            let step = if self.eat("!") {
                if self.eat("{") {
                    let name = self.quoted()?;
                    self.expect("}", "`}` is missing")?;
                    Step::Inner(Some(name))
                } else {
                    Step::Inner(None)
                }
            } else if self.eat("[") {
                let step = self.bracket()?;
                self.expect("]", "`]` is missing")?;
                step
            } else {
                if dot {
                    self.expect(".", "a `.` is missing")?;
                }
                self.word()?
            };
            dot = step != Step::Inner(None);
            // `**.**` says what `**` says.
            if step != Step::Any || steps.last() != Some(&Step::Any) {
                steps.push(step);
            }
        }
        if steps.is_empty() { self.bad("it is empty; the root is `$`") } else { Ok(steps) }
    }

    fn word(&mut self) -> Result<Step, BadPattern> {
        let length = self.rest().find(['.', '[', '!', ']', '\'']).unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        let step = match word {
            "" => return self.bad("a name is missing; put names with other characters into `['…']`"),
            "*" => Step::One,
            "**" => Step::Any,
            word if word.contains("**") => return self.bad("`**` must stand alone between dots"),
            word => Step::Word(Glob::new(word)),
        };
        self.at += length;
        Ok(step)
    }

    fn bracket(&mut self) -> Result<Step, BadPattern> {
        if self.eat("@") {
            let name = self.part(&['#', ']'], "a name is missing after `@`")?;
            let nth = if self.eat("#") { Some(self.number()?) } else { None };
            return Ok(Step::Entry(name, nth));
        }
        if self.eat("?") {
            // Such a key is JSON; a `]` in it stands inside of a string, and only the last one ends the step.
            let mut in_string = false;
            let mut escaped = false;
            for (offset, c) in self.rest().char_indices() {
                match c {
                    _ if escaped => escaped = false,
                    '\\' if in_string => escaped = true,
                    '"' => in_string = !in_string,
                    ']' if !in_string => {
                        let text = self.rest()[..offset].to_string();
                        self.at += offset;
                        return Ok(Step::Typed(text));
                    }
                    _ => {}
                }
            }
            return self.bad("`]` is missing");
        }
        if self.rest().starts_with("*]") {
            self.at += 1;
            return Ok(Step::Item);
        }
        let bytes = self.rest().bytes();
        let digits = bytes.take_while(u8::is_ascii_digit).count();
        if digits > 0 && self.rest()[digits..].starts_with(']') {
            return Ok(Step::Index(self.number()?));
        }
        if self.rest().starts_with('\'') {
            let start = self.at;
            let key = self.quoted()?;
            if self.rest().starts_with(']') {
                return Ok(Step::Key(key));
            }
            self.at = start;
        }
        let mut fields = Vec::new();
        loop {
            let field = self.part(&['=', ',', ']'], "a field's name is missing")?;
            self.expect("=", "`=` is missing; write `[name=value]`, `[0]`, `[*]`, `[@ENTRY]` or `['key']`")?;
            let value = self.part(&['=', ',', ']'], "a field's value is missing")?;
            fields.push((field, value));
            if !self.eat(",") {
                return Ok(Step::Fields(fields));
            }
        }
    }

    /// A quoted text, literal, or an unquoted one up to one of `ends`, with stars.
    fn part(&mut self, ends: &[char], missing: &'static str) -> Result<Glob, BadPattern> {
        if self.rest().starts_with('\'') {
            return Ok(Glob::literal(&self.quoted()?));
        }
        let length = self.rest().find(ends).unwrap_or(self.rest().len());
        if length == 0 {
            return self.bad(missing);
        }
        let glob = Glob::new(&self.rest()[..length]);
        self.at += length;
        Ok(glob)
    }

    fn number(&mut self) -> Result<usize, BadPattern> {
        let length = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        match self.rest()[..length].parse() {
            Ok(number) => {
                self.at += length;
                Ok(number)
            }
            Err(_) => self.bad("a number is expected"),
        }
    }

    fn quoted(&mut self) -> Result<String, BadPattern> {
        self.expect("'", "a `'` is missing")?;
        let mut out = String::new();
        loop {
            let Some(length) = self.rest().find('\'') else { return self.bad("the closing `'` is missing") };
            out.push_str(&self.rest()[..length]);
            self.at += length + 1;
            if self.eat("'") { out.push('\'') } else { return Ok(out) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, path: &str) -> bool {
        let pattern = Pattern::parse(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"));
        pattern.matches(&Path::parse(path).unwrap_or_else(|e| panic!("{path}: {e}")))
    }

    #[test]
    fn the_table_of_the_module_holds() {
        let yes = [
            ("db.pool_size", "db.pool_size"),
            ("env.DEBUG", "env[@DEBUG]"),
            ("db.*", "db.pool_size"),
            ("db.*", "db[3]"),
            ("**.password", "password"),
            ("**.password", "a.b[0].c.password"),
            ("**.password", "data['app.yaml']!db.password"),
            ("**", "$"),
            ("**", "a.b"),
            ("a.**", "a"),
            ("a.**.z", "a.z"),
            ("a.**.b.**.z", "a.x.b.b.c.z"),
            ("db.*_timeout", "db.read_timeout"),
            ("servers[name=api-*].port", "servers[name=api-1].port"),
            ("spec.template.spec.containers[*].image", "spec.template.spec.containers[name=api].image"),
            ("c[*]", "c[0]"),
            ("c[*]", "c[@X]"),
            ("c[0]", "c[0]"),
            ("ports[containerPort=80]", "ports[containerPort=80,protocol=TCP]"),
            ("args[@--set]", "args[@--set#2]"),
            ("args[@--set#2]", "args[@--set#2]"),
            ("args[@--tls-*]", "args[@--tls-cert]"),
            ("annotations['a.b/c']", "annotations['a.b/c']"),
            ("['*']", "['*']"),
            ("['it''s']", "['it''s']"),
            ("responses.200", "responses.200"),
            ("responses.200", "responses['200']"),
            ("v[?1.3]", "v[?1.3]"),
            ("data['app.yaml']!server.*", "data['app.yaml']!server.port"),
            ("data.*!server", "data['app.yaml']!{'x'}server"),
            ("x!{'a'}.b", "x!{'a'}.b"),
            ("on.push", "['on'].push"),
            ("$", "$"),
        ];
        for (pattern, path) in yes {
            // The path grammar wants a dot after a named document; write it both ways here.
            let path = path.replace("!{'x'}server", "!{'x'}.server");
            assert!(matches(pattern, &path), "{pattern} must match {path}");
        }
    }

    #[test]
    fn what_a_pattern_does_not_mean() {
        let no = [
            ("db.*", "db"),
            ("db.*", "db.a.b"),
            ("db.pool_size", "db.Pool_size"),
            ("a.*.server", "a!server"),
            ("c[*]", "c.x"),
            ("c[0]", "c[1]"),
            ("c[name=a]", "c[id=a]"),
            ("args[@--set#2]", "args[@--set]"),
            ("['*']", "a"),
            ("v[?200]", "v['200']"),
            ("x!{'a'}.b", "x!{'b'}.b"),
            ("$", "a"),
            ("**.password", "password.x"),
            ("*", "$"),
        ];
        for (pattern, path) in no {
            assert!(!matches(pattern, path), "{pattern} must not match {path}");
        }
    }

    #[test]
    fn covering_takes_what_lies_below() {
        let pattern = Pattern::parse("metadata.managedFields").expect("a pattern");
        assert!(pattern.covers(&Path::parse("metadata.managedFields[0].manager").expect("a path")));
        assert!(!pattern.covers(&Path::parse("metadata").expect("a path")));
        assert!(!pattern.covers(&Path::parse("metadata.managedFieldsX").expect("a path")));
        assert!(Pattern::parse("$").expect("a pattern").covers(&Path::parse("a").expect("a path")));
    }

    #[test]
    fn bad_patterns_are_named_by_place() {
        for (text, at) in [
            ("", 0),
            ("a..b", 2),
            ("a.", 2),
            ("a**", 0),
            ("a.b**.c", 2),
            ("a[", 2),
            ("a[@]", 3),
            ("a[name]", 6),
            ("a['b", 3),
            ("a]", 1),
            ("!{x}", 2),
            ("a[99999999999999999999999]", 2),
        ] {
            assert_eq!(Pattern::parse(text).map_err(|error| error.at), Err(at), "{text}");
        }
    }

    #[test]
    fn hostile_patterns_end_at_once() {
        assert!(Pattern::parse(&"a".repeat(MAX_TEXT + 1)).is_err());
        assert!(Pattern::parse(&vec!["*"; MAX_STEPS + 1].join(".")).is_err());
        assert_eq!(Pattern::parse(&vec!["**"; 300].join(".")).map(|p| p.steps.len()), Ok(1));
        let stars = Pattern::parse(&"*a".repeat(500)).expect("a pattern");
        let many = Pattern::parse(&vec!["**.a*a*a*a*b"; 30].join(".")).expect("a pattern");
        let text = "a".repeat(200_000);
        let path = Path((0..255).map(|_| Segment::Key(text[..1000].to_string())).collect());
        let start = std::time::Instant::now();
        assert!(stars.matches(&Path(vec![Segment::Key(text)])));
        assert!(!many.matches(&path));
        assert!(start.elapsed().as_secs() < 2, "{:?}", start.elapsed());
    }

    proptest! {
        #[test]
        fn the_quick_answers_are_the_long_ones(
            pattern in "[ab*]{1,2}((\\.(\\*\\*|[ab*]))|(\\[[01*]\\])|(\\[@A\\])|(\\[n=[ab*]\\])|(\\['[ab]'\\])|!){0,4}",
            path in "[ab]{1,2}((\\.[ab])|(\\[[01]\\])|(\\[@A\\])|(\\[n=[ab]\\])|!){0,4}",
        ) {
            if let (Ok(pattern), Ok(path)) = (Pattern::parse(&pattern), Path::parse(&path)) {
                let mut state = pattern.start();
                path.0.iter().for_each(|segment| state = pattern.step(state, segment));
                let accepted = pattern.accepts(state);
                prop_assert_eq!(pattern.matches(&path), accepted, "{} {}", pattern, path);
                let last = path.names().next_back();
                prop_assert!(!accepted || pattern.may_end_in(last), "{} {}", pattern, path);
                prop_assert!(!accepted || pattern.last_name().is_none_or(|name| last == Some(name)), "{} {}", pattern, path);
                if let Some(name) = pattern.last_name() {
                    prop_assert_eq!(pattern.may_end_in(last), last == Some(name));
                }
            }
        }

        #[test]
        fn a_path_is_a_pattern_of_itself(text in "[a-z]{1,4}((\\.[a-z]{1,3})|(\\[[0-9]\\])|(\\[@[A-Z]{1,3}\\])|(\\['[a-z.*' ]{0,3}'\\])|!){0,5}") {
            if let Ok(path) = Path::parse(&text) {
                prop_assert!(Pattern::parse(&text).expect("a pattern").matches(&path), "{}", text);
                prop_assert!(Pattern::parse("**").expect("a pattern").matches(&path));
            }
        }
    }
}
