//! Which rules judge, and how severe are they? What the command line and the settings say alike.

use crate::fields;
use crate::record::Severity;

/// Which packs that come with flecto judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policies {
    /// `default`, and those that fit a file by its kind and name.
    pub auto: bool,
    /// These, for every file.
    pub named: Vec<String>,
    /// Packs of the user's own, by the names of their files.
    pub files: Vec<String>,
}

impl Default for Policies {
    /// `auto`.
    fn default() -> Policies {
        Policies { auto: true, named: Vec::new(), files: Vec::new() }
    }
}

impl Policies {
    /// Reads a list of words: names of packs, `auto`, names of files (they end in `.yaml`, `.yml` or `.json`), or `none`. Each
    /// may hold several with commas between them. `none` goes with files only.
    ///
    /// # Errors
    /// An unknown name, no name, or `none` beside another, as a sentence.
    pub fn from_words<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<Policies, String> {
        let mut out = Policies { auto: false, named: Vec::new(), files: Vec::new() };
        let mut none = false;
        for word in words.into_iter().flat_map(|words| words.split(',')).map(str::trim) {
            match word {
                "auto" => out.auto = true,
                "none" => none = true,
                "" => return Err("an empty name in the list of policies; write `none` for none".into()),
                name if [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending)) => {
                    if !out.files.iter().any(|known| known == name) {
                        out.files.push(name.to_string());
                    }
                }
                name if super::builtin_names().contains(&name) => {
                    if !out.named.iter().any(|known| known == name) {
                        out.named.push(name.to_string());
                    }
                }
                name => {
                    let known: Vec<&str> = ["auto", "none"].into_iter().chain(super::builtin_names()).collect();
                    return Err(fields::unknown("pack", name, "the list of policies", &known));
                }
            }
        }
        match (none, out.auto || !out.named.is_empty()) {
            (true, true) => Err("`none` stands beside other policies; write one or the others".into()),
            (false, false) if out.files.is_empty() => Err("no policy is named; write `none` for none".into()),
            _ => Ok(out),
        }
    }

    /// The words again.
    pub fn words(&self) -> Vec<String> {
        let auto = self.auto.then(|| "auto".to_string());
        let named = self.named.iter().chain(&self.files).cloned();
        let words: Vec<String> = auto.into_iter().chain(named).collect();
        if words.is_empty() { vec!["none".into()] } else { words }
    }
}

impl std::str::FromStr for Policies {
    type Err = String;

    fn from_str(text: &str) -> Result<Policies, String> {
        Policies::from_words([text])
    }
}

/// Another severity for a rule: `RULE=LEVEL`, `PACK/RULE=LEVEL`, `off` among the levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjustment {
    /// The pack; any when there is none.
    pub pack: Option<String>,
    /// The rule.
    pub rule: String,
    /// The severity; `None` switches the rule off.
    pub severity: Option<Severity>,
}

/// The words of a level.
pub const LEVELS: &[&str] = &["error", "warn", "info", "off"];

impl std::fmt::Display for Adjustment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(pack) = &self.pack {
            write!(f, "{pack}/")?;
        }
        write!(f, "{}={}", self.rule, self.severity.map_or("off", Severity::as_str))
    }
}

impl std::str::FromStr for Adjustment {
    type Err = String;

    fn from_str(text: &str) -> Result<Adjustment, String> {
        let Some((rule, level)) = text.split_once('=') else {
            return Err("no `=`; write RULE=error, RULE=warn, RULE=info or RULE=off".into());
        };
        let severity = match level {
            "off" => None,
            word => match Severity::from_word(word) {
                Some(severity) => Some(severity),
                None => return Err(fields::unknown("level", word, "the severity", LEVELS)),
            },
        };
        let (pack, rule) = match rule.split_once('/') {
            Some((pack, rule)) => (Some(pack.to_string()), rule),
            None => (None, rule),
        };
        if rule.is_empty() {
            return Err("no rule before `=`; write RULE=LEVEL".into());
        }
        Ok(Adjustment { pack, rule: rule.to_string(), severity })
    }
}
