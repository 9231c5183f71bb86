//! What should `flecto-render` write, and how?

use crate::cli::{expect_piped_input, say};
use crate::outcome::Outcome;
use crate::render::{self, DEFAULT_WIDTH, Format, MIN_WIDTH, Options, Style};
use crate::secret;
use clap::{Parser, ValueEnum};
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Instant;

/// Shows records to a person or to another program, and ends with the exit status of their verdict.
#[derive(Debug, Parser)]
#[command(
    name = "flecto-render",
    version,
    about = "Show the records of a diff: as text, as one JSON document, as a comment, as a code scanning log, …",
    after_help = "Exit status: 0, 1 when the verdict in the stream is that the gate failed, 2 when the report is not the whole one.\n\n\
                  Example:\n  flecto-diff 'config/**/*.yaml' | flecto-policy | flecto-render --format json"
)]
pub struct Render {
    /// What to write
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,
    /// When to colour text; `auto` is on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: Color,
    /// How to lay out text
    #[arg(long, value_enum, default_value_t, value_name = "STYLE")]
    pub style: Style,
    /// Columns of the rich style [default: the terminal's, else 100]
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(MIN_WIDTH as i64..=1000))]
    pub width: Option<u16>,
    /// Accept a stream that lost records on purpose, after grep or head
    #[arg(long)]
    pub partial: bool,
    /// Hide secrets in text, json and ndjson too; the other formats always do
    #[arg(long)]
    pub mask_secrets: bool,
    /// Show secrets in formats that are made to be published
    #[arg(long, conflicts_with = "mask_secrets")]
    pub show_secrets: bool,
    /// Folder, relative to the repository's top level, that file names are relative to; found by itself in a work tree
    #[arg(long, value_name = "DIR")]
    pub path_prefix: Option<String>,
    /// Name that tells flecto's comments on one pull request apart; letters, digits, `.`, `_` and `-`
    #[arg(long, value_name = "NAME", value_parser = instance)]
    pub instance: Option<String>,
    /// Most bytes of a comment or summary [default: 65000, markdown: 500000]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(8_000..=10_000_000))]
    pub max_bytes: Option<u64>,
    /// Category of a SARIF log, one for each upload of a commit [default: flecto]
    #[arg(long, value_name = "NAME", value_parser = instance)]
    pub category: Option<String>,
    /// Keep accepted findings in a SARIF log, as suppressed ones
    #[arg(long)]
    pub with_accepted: bool,
    /// Say on stderr, in one line, what was found, whether the gate failed, and how long it took
    #[arg(long)]
    pub summary: bool,
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Whether to colour what goes to standard output.
    pub fn on_stdout(self) -> bool {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => std::io::stdout().is_terminal() && !set("NO_COLOR") && !dumb(),
        }
    }
}

/// How wide the terminal on standard output is.
fn terminal_width() -> usize {
    let size = terminal_size::terminal_size_of(std::io::stdout());
    size.map_or(DEFAULT_WIDTH, |(terminal_size::Width(columns), _)| usize::from(columns))
}

/// A name that can stand in an HTML comment and in a marker that is compared byte by byte.
fn instance(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if text.is_empty() || text.len() > 64 || !text.chars().all(fits) || text.contains("--") {
        return Err("use at most 64 letters, digits, `.`, `_` and single `-`".into());
    }
    Ok(text.to_string())
}

/// The way from the top level of the work tree to the current folder; empty outside of one.
fn own_prefix() -> String {
    let Ok(here) = std::env::current_dir() else { return String::new() };
    let Some(top) = here.ancestors().find(|folder| folder.join(".git").exists()) else { return String::new() };
    let names = |path: &Path| path.iter().map(|name| name.to_string_lossy().into_owned()).collect::<Vec<_>>().join("/");
    here.strip_prefix(top).map_or_else(|_| String::new(), names)
}

/// Runs `flecto-render` over standard input.
///
/// # Errors
/// As [`render::run`], and a terminal on standard input.
pub fn run(arguments: Render) -> anyhow::Result<Outcome> {
    let began = Instant::now();
    expect_piped_input("flecto-diff TARGET | flecto-render")?;
    let mask = arguments.mask_secrets || (arguments.format.is_published() && !arguments.show_secrets);
    let options = Options {
        format: arguments.format,
        style: arguments.style,
        width: arguments.width.map_or_else(terminal_width, usize::from),
        color: arguments.color.on_stdout(),
        partial: arguments.partial,
        mask: mask.then(secret::Options::default),
        path_prefix: arguments.path_prefix.unwrap_or_else(own_prefix),
        instance: arguments.instance,
        max_bytes: arguments.max_bytes.and_then(|bytes| usize::try_from(bytes).ok()),
        category: arguments.category,
        with_accepted: arguments.with_accepted,
    };
    let rendered = render::run(&options, super::input(), std::io::stdout().lock())?;
    for note in &rendered.notes {
        say("flecto-render", note);
    }
    if let Some(summary) = rendered.summary.filter(|_| arguments.summary) {
        // The stages of a line begin together, so that this one's time is that of the run.
        say("flecto", &format!("{summary}; {:.2} s", began.elapsed().as_secs_f64()));
    }
    Ok(rendered.outcome)
}
