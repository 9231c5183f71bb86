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
    /// Ask for the answer piece by piece, and show it on stderr as it comes, under the line that says whose it is; the record
    /// is the same
    #[arg(long)]
    stream: bool,
    /// Neither look in the cache nor write to it
    #[arg(long)]
    no_cache: bool,
    /// What a second process of this program is told, that ends the first one's program (see `narrate::keeper`)
    #[cfg(unix)]
    #[arg(long, hide = true, exclusive = true)]
    end_group: Option<u32>,
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
            stream: self.stream,
        }
    }
}

/// Runs the stage on standard input and output.
///
/// # Errors
/// As [`narrate::run`].
pub fn main(args: Args) -> anyhow::Result<Outcome> {
    #[cfg(unix)]
    if let Some(group) = args.end_group {
        narrate::end_group_with_stdin(group);
        return Ok(Outcome::Clean);
    }
    super::expect_piped_input("flecto-diff config/ | flecto-payload | flecto-narrate")?;
    let mut console = Terminal::new();
    let outcome = narrate::run(super::input(), std::io::stdout().lock(), &args.options(), &mut console);
    console.wipe();
    outcome
}

/// Standard error: whole lines, and on a terminal what will be one: a counter while the provider is waited for, the line that
/// the model is writing. Never in CI, where every turn of it would be a line of the log.
struct Terminal {
    redraws: bool,
    since: Option<Instant>,
    shown: Shown,
}

/// What stands in the last line of the terminal.
#[derive(Debug, PartialEq, Eq)]
enum Shown {
    Nothing,
    Seconds(u64),
    Writing,
}

impl Terminal {
    fn new() -> Terminal {
        let ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let redraws = std::io::stderr().is_terminal() && !ci && !dumb;
        Terminal { redraws, since: None, shown: Shown::Nothing }
    }

    fn wipe(&mut self) {
        if self.shown != Shown::Nothing {
            let _ = write!(std::io::stderr().lock(), "\r\u{1b}[K");
        }
        self.shown = Shown::Nothing;
        self.since = None;
    }

    fn redraw(&mut self, line: &str, shown: Shown) {
        self.shown = shown;
        let mut out = std::io::stderr().lock();
        let _ = write!(out, "\r\u{1b}[K{line}");
        let _ = out.flush();
    }
}

/// The end of a line, as much of it as surely fits into a row: a character that is not ASCII may take two columns.
fn tail(line: &str, columns: usize) -> &str {
    let mut left = columns;
    for (at, c) in line.char_indices().rev() {
        let width = match c {
            '\t' => 8,
            c if c.is_ascii() => 1,
            _ => 2,
        };
        if width > left {
            return &line[at + c.len_utf8()..];
        }
        left -= width;
    }
    line
}

impl Console for Terminal {
    fn line(&mut self, line: &str) {
        self.said(&text::escape(line));
    }

    fn said(&mut self, line: &str) {
        self.wipe();
        let _ = std::io::stderr().lock().write_all(format!("{line}\n").as_bytes());
    }

    fn waiting(&mut self) {
        let seconds = self.since.get_or_insert_with(Instant::now).elapsed().as_secs();
        if self.redraws && seconds > 0 && !matches!(self.shown, Shown::Writing) && self.shown != Shown::Seconds(seconds)
        {
            self.redraw(&format!("waiting for the model, {seconds} s"), Shown::Seconds(seconds));
        }
    }

    fn writing(&mut self, partial: &str) {
        if self.redraws && !partial.is_empty() {
            let size = terminal_size::terminal_size_of(std::io::stderr());
            let columns = size.map_or(80, |(terminal_size::Width(columns), _)| usize::from(columns));
            self.redraw(tail(partial, columns.saturating_sub(1)), Shown::Writing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::tail;

    #[test]
    fn a_line_that_is_being_written_stays_in_its_row() {
        assert_eq!(tail("short", 79), "short");
        assert_eq!(tail("0123456789", 4), "6789");
        assert_eq!(tail("ab漢字", 5), "b漢字");
        assert_eq!(tail("ab漢字", 3), "字");
        assert_eq!(tail("a\tb", 8), "b");
    }
}
