//! The options of `flecto-narrate`, and how it talks to a person.

use crate::narrate::{self, Console, DryRun, MAX_NUMBER, Options, Provider};
use crate::outcome::Outcome;
use crate::text;
use clap::Parser;
use std::io::{IsTerminal as _, Write as _};
use std::time::Instant;

/// Asks the model that you chose what a change may mean, and puts its answer into the stream.
#[derive(Debug, Parser)]
#[command(name = "flecto-narrate", version, about, max_term_width = 100)]
#[command(
    long_about = "Asks the model that you chose what a change may mean, and puts its answer into the stream.\n\n\
Reads records, passes them on, and replaces the `payload` record of flecto-payload with a `narration`. Whatever goes wrong \
with the provider, the network or a variable is one line `No narration: <reason>` on stderr and a `warning` record; the exit \
status is 0 all the same. The API key is read from FLECTO_EXPLAIN_API_KEY, else ANTHROPIC_API_KEY or OPENAI_API_KEY."
)]
#[command(after_help = "Example:\n  \
flecto-diff config/ | flecto-policy | flecto-payload | flecto-narrate --provider anthropic --dry-run\n\n\
Variables: FLECTO_EXPLAIN_PROVIDER, _MODEL, _API_URL, _API_KEY, _EFFORT, _MAX_TOKENS, _MAX_INPUT_TOKENS, _TIMEOUT_MS, _CACHE_DIR \
(each after FLECTO_EXPLAIN); FLECTO_EXPLAIN=0 turns narration off.\n\n\
Exit status: 0, or 2 when the input is no stream with a payload, or an option is wrong.")]
pub struct Args {
    /// Whose API to speak
    #[arg(long, value_name = "NAME")]
    provider: Option<Word>,
    /// Which model to ask
    #[arg(long, value_name = "MODEL", value_parser = model)]
    model: Option<String>,
    /// How many tokens the answer may have [default: 16000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_NUMBER))]
    max_tokens: Option<u64>,
    /// How hard the model thinks, as far as it knows the word [default: its own]
    #[arg(long, value_name = "LEVEL")]
    effort: Option<Effort>,
    /// Print the request, the key replaced by its variable's name, and send nothing
    #[arg(long)]
    dry_run: bool,
    /// How a dry run prints: as HTTP (text), or as one JSON object (json)
    #[arg(long, value_name = "FORMAT", default_value = "text", requires = "dry_run")]
    format: Format,
    /// The program that --provider exec asks: the prompt on its stdin, the narration on its stdout; no shell
    #[arg(long, value_name = "COMMAND", value_parser = command, allow_hyphen_values = true)]
    exec: Option<CommandLine>,
    /// Send nothing that may cost more, by the prices in FLECTO_EXPLAIN_PRICE_INPUT and _OUTPUT (per million tokens)
    #[arg(long, value_name = "SUM", value_parser = sum)]
    max_cost: Option<f64>,
    /// Print what the request may cost, and send nothing
    #[arg(long, conflicts_with = "dry_run")]
    cost: bool,
    /// Neither look in the cache nor write to it
    #[arg(long)]
    no_cache: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Word {
    Anthropic,
    Openai,
    Exec,
}

/// The levels of both APIs. No model knows all of them; which it refuses is its own answer.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

/// The words of `--exec`.
#[derive(Clone, Debug)]
struct CommandLine(Vec<String>);

fn command(text: &str) -> Result<CommandLine, String> {
    narrate::words(text).map(CommandLine).map_err(|what| format!("the command {what}"))
}

fn sum(text: &str) -> Result<f64, &'static str> {
    narrate::amount(text).ok_or("a sum is written like 0.50")
}

fn model(text: &str) -> Result<String, &'static str> {
    if narrate::is_model(text) { Ok(text.to_string()) } else { Err("a model's name has visible characters only") }
}

impl Args {
    fn options(&self) -> Options {
        let dry_run = self.dry_run.then_some(match self.format {
            Format::Text => DryRun::Text,
            Format::Json => DryRun::Json,
        });
        Options {
            provider: self.provider.map(|word| match word {
                Word::Anthropic => Provider::Anthropic,
                Word::Openai => Provider::Openai,
                Word::Exec => Provider::Exec,
            }),
            model: self.model.clone(),
            max_tokens: self.max_tokens,
            effort: self.effort.as_ref().and_then(clap::ValueEnum::to_possible_value).map(|v| v.get_name().to_string()),
            dry_run,
            no_cache: self.no_cache,
            exec: self.exec.clone().map(|command| command.0),
            max_cost: self.max_cost,
            cost: self.cost,
        }
    }
}

/// Runs the stage on standard input and output.
///
/// # Errors
/// As [`narrate::run`].
pub fn main(args: Args) -> anyhow::Result<Outcome> {
    super::expect_piped_input("flecto-diff config/ | flecto-payload | flecto-narrate")?;
    let mut console = Terminal::new();
    let outcome = narrate::run(std::io::stdin().lock(), std::io::stdout().lock(), &args.options(), &mut console);
    console.wipe();
    outcome
}

/// Standard error: whole lines, and while the provider is waited for a counter on a terminal. Never in CI, where every turn of
/// it would be a line of the log.
struct Terminal {
    spins: bool,
    since: Option<Instant>,
    shown: Option<u64>,
}

impl Terminal {
    fn new() -> Terminal {
        let ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        Terminal { spins: std::io::stderr().is_terminal() && !ci && !dumb, since: None, shown: None }
    }

    fn wipe(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(std::io::stderr().lock(), "\r\u{1b}[K");
        }
        self.since = None;
    }
}

impl Console for Terminal {
    fn line(&mut self, line: &str) {
        self.wipe();
        let _ = writeln!(std::io::stderr().lock(), "{}", text::escape(line));
    }

    fn waiting(&mut self) {
        let seconds = self.since.get_or_insert_with(Instant::now).elapsed().as_secs();
        if self.spins && seconds > 0 && self.shown != Some(seconds) {
            self.shown = Some(seconds);
            let mut out = std::io::stderr().lock();
            let _ = write!(out, "\r\u{1b}[Kwaiting for the model, {seconds} s");
            let _ = out.flush();
        }
    }
}
