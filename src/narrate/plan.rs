//! Whom do we ask, and how much may it cost? The command line and the environment, read once into a plan that cannot be
//! wrong.
//!
//! A flag that is wrong is refused before anything runs. A variable that is wrong ends the narration with a reason and never
//! the run: it may come from a CI system's settings page, and no gate must fail over it.

use super::Reason;
use super::cost::{self, Prices};
use super::exec;
use crate::environment;
use crate::http::{Url, is_header_value};
use crate::limits::{MAX_INPUT_TOKENS, MAX_OUTPUT_TOKENS, NARRATION_TIMEOUT};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Whose API is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// The Messages API of Anthropic.
    Anthropic,
    /// The chat completions API of OpenAI, and of every server that speaks it.
    Openai,
    /// A program of the operator's: the prompt on its stdin, the narration on its stdout.
    Exec,
}

impl Provider {
    /// The word in options, variables and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Provider::Anthropic => "anthropic",
            Provider::Openai => "openai",
            Provider::Exec => "exec",
        }
    }

    /// The provider that a word names.
    pub fn from_word(word: &str) -> Option<Provider> {
        [Provider::Anthropic, Provider::Openai, Provider::Exec].into_iter().find(|provider| provider.as_str() == word)
    }

    /// Where its API is, unless told otherwise, and the variable that its own tools read the key from.
    fn home(self) -> Option<Home> {
        match self {
            Provider::Anthropic => {
                Some(Home { url: "https://api.anthropic.com", path: "/v1/messages", key: "ANTHROPIC_API_KEY" })
            }
            Provider::Openai => {
                Some(Home { url: "https://api.openai.com/v1", path: "/chat/completions", key: "OPENAI_API_KEY" })
            }
            Provider::Exec => None,
        }
    }
}

/// A provider's own place.
struct Home {
    url: &'static str,
    path: &'static str,
    key: &'static str,
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A model of Anthropic's own that is asked where nobody names one.
const DEFAULT_MODEL: &str = "claude-opus-5";

/// What the operator said on the command line.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `--provider`
    pub provider: Option<Provider>,
    /// `--model`
    pub model: Option<String>,
    /// `--max-tokens`
    pub max_tokens: Option<u64>,
    /// `--effort`: how hard the model is to think.
    pub effort: Option<String>,
    /// `--dry-run`, and in which format.
    pub dry_run: Option<DryRun>,
    /// `--no-cache`
    pub no_cache: bool,
    /// `--exec`, in words.
    pub exec: Option<Vec<String>>,
    /// `--max-cost`
    pub max_cost: Option<f64>,
    /// `--stream`: the answer is shown as it comes.
    pub stream: bool,
    /// `--cost`: says what a request may cost, and sends nothing.
    pub cost: bool,
}

/// How a request is printed that is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DryRun {
    /// As HTTP writes it: a line, headers, an empty line, the body.
    Text,
    /// As one JSON object.
    Json,
}

/// A key, and the variable that it came from. Never printed: `Debug` shows the variable alone.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    /// The key.
    pub secret: String,
    /// Where it was found.
    pub variable: &'static str,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.variable)
    }
}

/// Everything that decides about a request, and nothing that can still be wrong.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Whose API.
    pub provider: Provider,
    /// Which model.
    pub model: String,
    /// The endpoint, whole; `None` where a program is asked.
    pub url: Option<Url>,
    /// The program that is asked, and its arguments.
    pub command: Vec<String>,
    /// The key, where there is one.
    pub key: Option<Key>,
    /// The variable that a dry run names in the key's place; `None` where no key is sent.
    pub key_variable: Option<&'static str>,
    /// Whether the endpoint is the provider's own.
    pub first_party: bool,
    /// The output cap.
    pub max_tokens: u64,
    /// How hard the model is to think, in the API's own word; `None` leaves it to the model.
    pub effort: Option<String>,
    /// The input cap, estimated.
    pub max_input_tokens: u64,
    /// What a request may cost at most.
    pub max_cost: Option<f64>,
    /// What tokens cost, where the operator says.
    pub prices: Option<Prices>,
    /// The bound on everything.
    pub timeout: Duration,
    /// Whether the answer is asked for piece by piece, to be shown as it comes.
    pub stream: bool,
    /// Whether answers are kept and looked up.
    pub cache: bool,
    /// Where, when it is not the usual place.
    pub cache_dir: Option<PathBuf>,
}

impl Plan {
    /// Puts the command line and the environment together.
    ///
    /// # Errors
    /// Why nobody can be asked.
    pub fn new(options: &Options) -> Result<Plan, Reason> {
        if is_switched_off() {
            return Err(Reason::new("FLECTO_EXPLAIN turns it off"));
        }
        let timeout = Duration::from_millis(number("FLECTO_EXPLAIN_TIMEOUT_MS", NARRATION_TIMEOUT.as_millis() as u64)?);
        let max_input_tokens = number("FLECTO_EXPLAIN_MAX_INPUT_TOKENS", MAX_INPUT_TOKENS)?;
        let max_tokens = match options.max_tokens {
            Some(tokens) => tokens,
            None => number("FLECTO_EXPLAIN_MAX_TOKENS", MAX_OUTPUT_TOKENS)?,
        };
        let provider = provider(options)?;
        let max_cost = match (options.max_cost, environment::text("FLECTO_EXPLAIN_MAX_COST")) {
            (Some(max), _) => Some(max),
            (None, None) => None,
            (None, Some(text)) => Some(
                cost::amount(&text)
                    .ok_or_else(|| Reason::new("FLECTO_EXPLAIN_MAX_COST is no sum; write it like 0.50"))?,
            ),
        };
        let mut plan = Plan {
            provider,
            model: String::new(),
            url: None,
            command: Vec::new(),
            key: None,
            key_variable: None,
            first_party: false,
            max_tokens,
            effort: effort(options, provider)?,
            max_input_tokens,
            max_cost,
            prices: Prices::from_environment()?,
            timeout,
            stream: options.stream,
            cache: !options.no_cache,
            cache_dir: cache_dir()?,
        };
        match provider.home() {
            Some(home) => plan.aim_at_server(options, &home)?,
            None => plan.aim_at_program(options)?,
        }
        Ok(plan)
    }

    fn aim_at_server(&mut self, options: &Options, home: &Home) -> Result<(), Reason> {
        let provider = self.provider;
        self.model = model(options, provider)?;
        let own = url(home.url)?;
        let base =
            environment::text("FLECTO_EXPLAIN_API_URL").map(|text| url(&text)).transpose()?.unwrap_or(own.clone());
        self.first_party = base == own;
        self.key = ["FLECTO_EXPLAIN_API_KEY", home.key]
            .into_iter()
            .find_map(|variable| Some(Key { secret: environment::text(variable)?, variable }));
        if let Some(key) = self.key.as_ref().filter(|key| !is_header_value(&key.secret)) {
            return Err(Reason::new(format!(
                "the key in {} holds a line break or another character that no key has",
                key.variable
            )));
        }
        if self.key.is_none() && self.first_party && options.dry_run.is_none() && !options.cost {
            return Err(Reason::new(format!("no key for {provider}; set FLECTO_EXPLAIN_API_KEY or {}", home.key)));
        }
        self.key_variable = match &self.key {
            Some(key) => Some(key.variable),
            None => self.first_party.then_some(home.key),
        };
        self.url = Some(base.join(home.path));
        Ok(())
    }

    fn aim_at_program(&mut self, options: &Options) -> Result<(), Reason> {
        self.command = match (&options.exec, environment::text("FLECTO_EXPLAIN_EXEC")) {
            (Some(words), _) => words.clone(),
            (None, Some(text)) => {
                exec::words(&text).map_err(|what| Reason::new(format!("FLECTO_EXPLAIN_EXEC {what}")))?
            }
            (None, None) => {
                return Err(Reason::new("no command for exec; name one with --exec or FLECTO_EXPLAIN_EXEC"));
            }
        };
        // What the label names: a model where the operator says which, else the program.
        self.model = match options.model.clone().or_else(|| environment::text("FLECTO_EXPLAIN_MODEL")) {
            Some(model) if is_model(&model) => model,
            Some(_) => return Err(Reason::new("FLECTO_EXPLAIN_MODEL is no model's name")),
            None => {
                let program = self.command.first().map(String::as_str).unwrap_or_default();
                let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
                crate::text::shorten(&crate::text::escape(name), 60).into_owned()
            }
        };
        Ok(())
    }

    /// Who is asked, for a person: the endpoint, or the program.
    pub fn target(&self) -> String {
        match &self.url {
            Some(url) => self.redact(&url.to_string()),
            None => self.command.first().cloned().unwrap_or_default(),
        }
    }

    /// Whether `text` ends in the beginning of the key, in any case.
    pub(super) fn ends_in_part_of_key(&self, text: &str) -> bool {
        let Some(key) = self.key.as_ref().filter(|key| key.secret.len() >= SHORTEST_SECRET) else { return false };
        let (text, key) = (text.to_ascii_lowercase(), key.secret.to_ascii_lowercase());
        // A key is ASCII, and so any of its bytes is a place to cut it at.
        (3..key.len()).any(|length| text.as_bytes().ends_with(&key.as_bytes()[..length]))
    }

    /// `text` without the key, and without what the key looks like in a URL. Whatever the case: a server may change it.
    pub fn redact(&self, text: &str) -> String {
        let Some(key) = &self.key else { return text.to_string() };
        let encoded = key.secret.bytes().fold(String::new(), |mut out, byte| {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                out.push(char::from(byte));
            } else {
                out.push_str(&format!("%{byte:02X}"));
            }
            out
        });
        let mark = format!("<{}>", key.variable);
        let text = replace_any_case(text, &key.secret, &mark);
        if encoded == key.secret { text } else { replace_any_case(&text, &encoded, &mark) }
    }
}

/// A word shorter than this is no secret, and removing it would only garble what a person must read: local servers are
/// given keys like `none`.
const SHORTEST_SECRET: usize = 6;

fn replace_any_case(text: &str, secret: &str, mark: &str) -> String {
    if secret.len() < SHORTEST_SECRET {
        return text.to_string();
    }
    // Both are compared in ASCII lower case, which keeps every byte offset.
    let (lower, secret) = (text.to_ascii_lowercase(), secret.to_ascii_lowercase());
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, found) in lower.match_indices(&secret) {
        out.push_str(&text[done..at]);
        out.push_str(mark);
        done = at + found.len();
    }
    out.push_str(&text[done..]);
    out
}

fn is_switched_off() -> bool {
    environment::text("FLECTO_EXPLAIN")
        .is_some_and(|word| ["0", "false", "off"].contains(&word.trim().to_ascii_lowercase().as_str()))
}

/// The words of `--effort` and `FLECTO_EXPLAIN_EFFORT`: those of both APIs.
pub(super) const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

fn effort(options: &Options, provider: Provider) -> Result<Option<String>, Reason> {
    let from_variable = || environment::text("FLECTO_EXPLAIN_EFFORT");
    let Some(word) = options.effort.clone().or_else(from_variable) else { return Ok(None) };
    if !EFFORTS.contains(&word.as_str()) {
        return Err(Reason::new(format!("FLECTO_EXPLAIN_EFFORT is none of {}", EFFORTS.join(", "))));
    }
    match provider {
        // Said, not passed over: somebody counts on it.
        Provider::Exec if options.effort.is_some() => {
            Err(Reason::new("exec knows no --effort; say it in the command of --exec"))
        }
        Provider::Exec => Ok(None),
        Provider::Anthropic | Provider::Openai => Ok(Some(word)),
    }
}

/// A whole number above zero from a variable.
fn number(variable: &str, default: u64) -> Result<u64, Reason> {
    let Some(text) = environment::text(variable) else { return Ok(default) };
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let parsed = text.parse().ok().filter(|number| digits && (1..=MAX_NUMBER).contains(number));
    parsed.ok_or_else(|| Reason::new(format!("{variable} is no whole number from 1 to {MAX_NUMBER}")))
}

/// The largest number that an option or a variable takes: eleven days of milliseconds, more tokens than any model has.
pub const MAX_NUMBER: u64 = 1_000_000_000;

fn provider(options: &Options) -> Result<Provider, Reason> {
    if let Some(provider) = options.provider {
        return Ok(provider);
    }
    let Some(word) = environment::text("FLECTO_EXPLAIN_PROVIDER") else {
        return Err(Reason::new(
            "no provider; name one with --provider or FLECTO_EXPLAIN_PROVIDER (anthropic, openai, exec)",
        ));
    };
    Provider::from_word(&word)
        .ok_or_else(|| Reason::new("FLECTO_EXPLAIN_PROVIDER names no known provider; use anthropic, openai or exec"))
}

fn model(options: &Options, provider: Provider) -> Result<String, Reason> {
    let model = options.model.clone().or_else(|| environment::text("FLECTO_EXPLAIN_MODEL"));
    match (model, provider) {
        (Some(model), _) if is_model(&model) => Ok(model),
        (Some(_), _) => Err(Reason::new("FLECTO_EXPLAIN_MODEL is no model's name")),
        (None, Provider::Anthropic) => Ok(DEFAULT_MODEL.to_string()),
        (None, Provider::Openai) => {
            Err(Reason::new("no model for openai; name one with --model or FLECTO_EXPLAIN_MODEL"))
        }
        (None, Provider::Exec) => Ok(String::new()),
    }
}

/// Whether a text can be a model's name: visible characters, and not a page of them.
pub fn is_model(text: &str) -> bool {
    !text.is_empty()
        && text.chars().count() <= 200
        && !text.chars().any(|c| c.is_whitespace() || crate::text::is_active(c))
}

fn url(text: &str) -> Result<Url, Reason> {
    Url::parse(text).map_err(|what| Reason::new(format!("FLECTO_EXPLAIN_API_URL {what}")))
}

pub(super) fn cache_dir() -> Result<Option<PathBuf>, Reason> {
    let Some(dir) = std::env::var_os("FLECTO_EXPLAIN_CACHE_DIR").filter(|dir| !dir.is_empty()) else { return Ok(None) };
    let dir = PathBuf::from(dir);
    // A relative folder would be another one in every place that flecto starts from, and mostly in a repository.
    if dir.is_absolute() { Ok(Some(dir)) } else { Err(Reason::new("FLECTO_EXPLAIN_CACHE_DIR is no absolute path")) }
}

#[cfg(test)]
impl Plan {
    /// A plan with this key, that asks nobody.
    pub(super) fn for_tests(key: &str) -> Plan {
        Plan {
            provider: Provider::Anthropic,
            model: "m".into(),
            url: Url::parse("http://h").ok(),
            command: vec![],
            key: Some(Key { secret: key.into(), variable: "FLECTO_EXPLAIN_API_KEY" }),
            key_variable: None,
            first_party: false,
            max_tokens: 1,
            effort: None,
            max_input_tokens: 1,
            max_cost: None,
            prices: None,
            timeout: Duration::ZERO,
            stream: false,
            cache: false,
            cache_dir: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k2_the_key_is_removed_in_any_case_and_in_its_url_spelling() {
        let plan = Plan::for_tests("Key/With+Signs");
        assert_eq!(
            plan.redact("a KEY/with+signs b key%2fWith%2BSigns é"),
            "a <FLECTO_EXPLAIN_API_KEY> b <FLECTO_EXPLAIN_API_KEY> é"
        );
        assert_eq!(format!("{:?}", plan.key), "Some(<FLECTO_EXPLAIN_API_KEY>)");
    }
}
