//! Does this key mean what the rule means, however it is spelled? `pool_size`, `poolSize`, `POOL-SIZE` and `poolsize` are
//! one name; `DB_POOL_SIZE` ends in it; `spoolsize` does not.
//!
//! A name is split into lower-case words at everything that is no letter or digit and where case says so. A [`NameGlob`] is
//! compared with runs of whole words, joined, so that glued spellings match and substrings of words do not.

use crate::path::{Path, Segment};
use foldhash::HashMap;

/// The words of a key's name, lower-case: `maxPoolSize` is max, pool, size; `TLSVerify` is tls, verify.
pub fn words(name: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut open = false;
    let mut previous: Option<char> = None;
    let mut chars = name.chars().take(MAX_NAME).peekable();
    while let Some(c) = chars.next() {
        if !c.is_alphanumeric() {
            open = false;
            previous = Some(c);
            continue;
        }
        let hump = c.is_uppercase()
            && (previous.is_some_and(|p| p.is_lowercase() || p.is_numeric())
                || previous.is_some_and(|p| p.is_uppercase()) && chars.peek().is_some_and(|n| n.is_lowercase()));
        if !open || hump {
            out.push(String::with_capacity(16));
        }
        open = true;
        previous = Some(c);
        if let Some(word) = out.last_mut() {
            if c.is_ascii() { word.push(c.to_ascii_lowercase()) } else { word.extend(c.to_lowercase()) }
        }
    }
    out
}

/// Longer names are text; their first part decides.
const MAX_NAME: usize = 256;

/// The name that a value goes by: its key, the name of its entry, or, for the `value` of an item that has a `name`
/// (`env[name=DEBUG].value`), that name. An item of a list goes by the name of the list.
pub fn effective(path: &Path) -> Option<&str> {
    let mut segments = path.0.iter().rev().skip_while(|s| matches!(s, Segment::Index(_) | Segment::Item(_)));
    let name = match segments.next()? {
        Segment::Key(name) | Segment::Entry { name, .. } | Segment::Typed(name) => name,
        _ => return None,
    };
    if name == "value"
        && let Some(Segment::Item(fields)) = segments.next()
        && let Some((_, word)) = fields.iter().find(|(field, _)| field == "name" || field == "key")
    {
        return Some(word.text());
    }
    Some(name)
}

/// How many names up the path a rule's name may reach: `spring.jpa.hibernate.ddl-auto` has four.
pub const REACH: usize = 5;

/// The words that a value can be meant by: those of its effective name, and those with the names of what holds it before
/// them, one more each time, because `tls.enabled` and `tls_enabled` say the same.
#[derive(Clone, Debug, Default)]
pub struct Spellings {
    /// The words of the longest spelling.
    words: Vec<String>,
    /// Where in them each spelling begins; all end where they end.
    begins: Vec<usize>,
}

impl Spellings {
    /// Those of a value at this path.
    pub fn of(path: &Path) -> Spellings {
        let Some(name) = effective(path) else { return Spellings::default() };
        let mut names = path.names().rev();
        let holders: Vec<&str> = if names.next() == Some(name) { names.take(REACH - 1).collect() } else { Vec::new() };
        let mut spellings = Spellings::default();
        for part in holders.into_iter().rev().chain([name]) {
            spellings.begins.push(spellings.words.len());
            spellings.words.append(&mut words(part));
        }
        spellings
    }

    /// Each of them.
    pub fn each(&self) -> impl Iterator<Item = &[String]> {
        self.begins.iter().map(|begin| &self.words[*begin..])
    }
}

/// A name in a rule: `pool_size` is that name alone, `*_pool_size` any name that ends in these words, `pool_size_*` one that
/// begins with them, `*_pool_size_*` one that has them anywhere. The name itself is always among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameGlob {
    text: String,
    joined: String,
    more_before: bool,
    more_after: bool,
}

impl NameGlob {
    /// Reads it; `None` when no letter or digit is in it, or a star stands elsewhere than at an end.
    pub fn new(text: &str) -> Option<NameGlob> {
        let inner = text.strip_prefix('*').unwrap_or(text);
        let inner = inner.strip_suffix('*').unwrap_or(inner);
        let joined = words(inner).concat();
        let fine = !joined.is_empty() && !inner.contains('*');
        fine.then(|| NameGlob {
            text: text.to_string(),
            joined,
            more_before: text.starts_with('*'),
            more_after: text.ends_with('*'),
        })
    }

    /// The name's words, joined, and whether other words may stand before and after them: what [`NameIndex`] goes by.
    fn parts(&self) -> (&str, bool, bool) {
        (&self.joined, self.more_before, self.more_after)
    }

    /// Whether the name with these words is one of those that are meant.
    pub fn matches(&self, words: &[String]) -> bool {
        let starts = if self.more_before { words.len() } else { 1 };
        (0..starts.min(words.len())).any(|start| {
            let mut rest = self.joined.as_str();
            for (at, word) in words.iter().enumerate().skip(start) {
                match rest.strip_prefix(word.as_str()) {
                    Some("") => return self.more_after || at + 1 == words.len(),
                    Some(left) => rest = left,
                    None => return false,
                }
            }
            false
        })
    }
}

/// Many names at once: which of them a value can be meant by costs what the value's names cost, not what the rules do.
#[derive(Clone, Debug, Default)]
pub struct NameIndex {
    /// By the words, joined: who asks, and whether other words may stand before and after.
    known: HashMap<String, Vec<(usize, bool, bool)>>,
    longest: usize,
}

impl NameIndex {
    /// Adds a name that `asker` asks about.
    pub fn add(&mut self, asker: usize, name: &NameGlob) {
        let (joined, more_before, more_after) = name.parts();
        self.longest = self.longest.max(joined.len());
        self.known.entry(joined.to_string()).or_default().push((asker, more_before, more_after));
    }

    /// Calls `met` for whoever asks about one of these spellings, once or more often.
    pub fn each(&self, spellings: &Spellings, mut met: impl FnMut(usize)) {
        let words = &spellings.words;
        let mut run = String::new();
        for start in 0..words.len() {
            let begins = spellings.begins.contains(&start);
            run.clear();
            for (end, word) in words.iter().enumerate().skip(start) {
                run.push_str(word);
                if run.len() > self.longest {
                    break;
                }
                for &(asker, before, after) in self.known.get(run.as_str()).map(Vec::as_slice).unwrap_or_default() {
                    if (before || begins) && (after || end + 1 == words.len()) {
                        met(asker);
                    }
                }
            }
        }
    }
}

impl std::fmt::Display for NameGlob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_split_where_a_reader_splits_them() {
        for (name, expected) in [
            ("maxPoolSize", "max pool size"),
            ("DB_POOL-SIZE", "db pool size"),
            ("TLSVerify", "tls verify"),
            ("http2Port", "http2 port"),
            ("spring.datasource.url", "spring datasource url"),
            ("APIKey2", "api key2"),
            ("", ""),
            ("--", ""),
            ("größeMax", "größe max"),
        ] {
            assert_eq!(words(name).join(" "), expected, "{name}");
        }
    }

    #[test]
    fn one_name_in_all_spellings_and_nothing_else() {
        let matches = |glob: &str, name: &str| NameGlob::new(glob).expect("a glob").matches(&words(name));
        for name in ["pool_size", "poolSize", "POOL-SIZE", "poolsize", "PoolSize"] {
            assert!(matches("pool_size", name), "{name}");
            assert!(matches("*_pool_size", name), "{name}");
        }
        for name in ["DB_POOL_SIZE", "maxPoolSize", "db.poolsize"] {
            assert!(matches("*_pool_size", name) && !matches("pool_size", name), "{name}");
        }
        assert!(!matches("*_pool_size", "spoolsize"));
        assert!(!matches("*_pool_size", "pool_size_max") && matches("pool_size_*", "pool_size_max"));
        assert!(matches("*_pool_size_*", "dbPoolSizeMax"));
        assert!(!matches("debug", "debugger") && !matches("debug", "debug_port"));
        let means = |glob: &str, path: &str| {
            let glob = NameGlob::new(glob).expect("a glob");
            Spellings::of(&Path::parse(path).expect("a path")).each().any(|words| glob.matches(words))
        };
        assert!(means("tls_enabled", "server.tls.enabled") && means("tls_enabled", "tlsEnabled"));
        assert!(means("*_exposure_include", "management.endpoints.web.exposure.include"));
        assert!(means("logging_level_*", "logging.level.org.springframework"));
        assert!(means("pool_size", "db.pool.size") && !means("enabled", "x.disabled"));
        assert!(means("debug", "env[name=DEBUG].value") && !means("env_debug", "env[name=DEBUG].value"));
        assert_eq!(NameGlob::new("*"), None);
        assert_eq!(NameGlob::new("a*b"), None);
    }

    #[test]
    fn an_index_says_what_each_name_says() {
        let globs: Vec<NameGlob> = [
            "pool_size",
            "*_pool_size",
            "pool_size_*",
            "*_pool_size_*",
            "size",
            "*_size",
            "debug",
            "tls_enabled",
            "*_s*",
        ]
        .iter()
        .filter_map(|text| NameGlob::new(text))
        .collect();
        let mut index = NameIndex::default();
        globs.iter().enumerate().for_each(|(at, glob)| index.add(at, glob));
        for path in [
            "db.pool.size",
            "maxPoolSize",
            "poolsize.x",
            "a.poolSize.max",
            "server.tls.enabled",
            "env[@DEBUG]",
            "s",
            "$",
        ] {
            let spellings = Spellings::of(&Path::parse(path).expect("a path"));
            let mut met = vec![false; globs.len()];
            index.each(&spellings, |at| met[at] = true);
            let each: Vec<bool> = globs.iter().map(|glob| spellings.each().any(|words| glob.matches(words))).collect();
            assert_eq!(met, each, "{path}");
        }
    }

    #[test]
    fn an_environment_entry_goes_by_its_name() {
        let name = |text: &str| effective(&Path::parse(text).expect("a path")).map(str::to_string);
        assert_eq!(name("env[name=DEBUG].value").as_deref(), Some("DEBUG"));
        assert_eq!(name("env[@DEBUG]").as_deref(), Some("DEBUG"));
        assert_eq!(name("cors.origins[2]").as_deref(), Some("origins"));
        assert_eq!(name("containers[name=api].image").as_deref(), Some("image"));
        assert_eq!(name("a!b").as_deref(), Some("b"));
        assert_eq!(name("$"), None);
    }
}
