//! What is kept of what models said, and how does it go away?

use super::to_stdout;
use crate::narrate::{Shelf, Stock};
use crate::outcome::Outcome;
use crate::text::{count, escape};
use anyhow::anyhow;
use clap::{Args, Subcommand};
use std::time::Duration;

/// Show where narrations are kept and how much that is, or delete them
///
/// Without a word after it, shows the folder. Only entries are ever deleted: whatever else lies there stays. What an entry
/// says is not shown; without the key that it was made with nobody can tell whether it is genuine.
#[derive(Args, Debug)]
#[command(after_help = "Exit status: 0, or 2 when the folder cannot be used.\n\n\
                  Examples:\n  flecto cache\n  flecto cache prune --older-than 30d")]
pub(super) struct Cache {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Delete the entries that are older than a time
    Prune {
        /// A number with m, h, d or w: minutes, hours, days or weeks
        #[arg(long, value_name = "TIME", value_parser = time)]
        older_than: Duration,
    },
    /// Delete all entries
    Clear,
}

impl Cache {
    /// # Errors
    /// A folder that cannot be used.
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        let shelf = Shelf::open().map_err(|reason| anyhow!("{reason}"))?;
        let failed = |error: std::io::Error| anyhow!("{}: {}", shelf.folder().display(), error.kind());
        let text = match &self.command {
            None => {
                let stock = shelf.look().map_err(failed)?;
                let folder = shelf.folder().display().to_string();
                format!("{}\n{}\n", escape(&folder), told(stock))
            }
            Some(Command::Prune { older_than }) => {
                format!("deleted {}\n", told(shelf.delete(Some(*older_than)).map_err(failed)?))
            }
            Some(Command::Clear) => format!("deleted {}\n", told(shelf.delete(None).map_err(failed)?)),
        };
        to_stdout(text.as_bytes())?;
        Ok(Outcome::Clean)
    }
}

fn told(stock: Stock) -> String {
    let entries = if stock.entries == 1 { "1 entry".to_string() } else { format!("{} entries", stock.entries) };
    let others = match stock.others {
        0 => String::new(),
        others => format!("; {} that flecto did not make, left alone", count(others, "file")),
    };
    format!("{entries}, {} KiB{others}", stock.bytes.div_ceil(1024))
}

fn time(text: &str) -> Result<Duration, &'static str> {
    let wrong = "write it like 30d: a number with m, h, d or w";
    let unit = text.chars().next_back().ok_or(wrong)?;
    let seconds = match unit {
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return Err(wrong),
    };
    let number = text.strip_suffix(unit).unwrap_or_default();
    let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let number: Option<u64> = digits.then(|| number.parse().ok()).flatten();
    number.and_then(|number| number.checked_mul(seconds)).map(Duration::from_secs).ok_or(wrong)
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_are_read_or_refused() {
        for (text, seconds) in [("0m", 0), ("90m", 5400), ("12h", 43_200), ("30d", 2_592_000), ("2w", 1_209_600)] {
            assert_eq!(time(text).map(|time| time.as_secs()), Ok(seconds));
        }
        for text in ["", "d", "30", "-1d", "1.5d", "30 d", "1y", "99999999999999999999d", "999999999999999999w", "3é"]
        {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
