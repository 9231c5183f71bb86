//! How is a program of the operator's asked? The prompt on its stdin, the narration on its stdout: any local model runner or
//! company gateway is a filter.
//!
//! No shell stands in between, unless the operator writes one. The program gets no key: one that needs its own reads it
//! where it keeps it. It has the same time as a server, and its answer the same bounds.

use super::exchange::{Budget, Watch, timed_out};
use super::keeper;
use super::plan::Plan;
use super::reply::{NoReply, Reply};
use crate::environment;
use crate::limits::{MAX_ERROR_TEXT, MAX_RESPONSE};
use std::io::{ErrorKind, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How much of the time is kept to end the program in.
const GRACE: Duration = Duration::from_millis(200);

/// How often a program that says nothing is looked after.
const POLL: Duration = Duration::from_millis(100);

/// Splits a command line into words: blanks separate, quotes and `\` keep them together. Nothing is expanded.
///
/// # Errors
/// A quote that is not closed, or no word at all.
pub fn words(text: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        None => return Err("has a quote that is not closed"),
                        Some(end) if end == c => break,
                        Some('\\') if c == '"' => word.extend(chars.next()),
                        Some(inner) => word.push(inner),
                    }
                }
            }
            // On Windows it separates folders.
            '\\' if !cfg!(windows) => match chars.next() {
                None => return Err("ends in a \\"),
                Some(escaped) => word.get_or_insert_default().push(escaped),
            },
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if words.first().is_none_or(String::is_empty) { Err("is empty") } else { Ok(words) }
}

/// Runs the program and reads its answer. Nothing that it started is left behind: it has a process group of its own, which is
/// ended with it, and which a [`keeper`] ends where this process is itself killed.
pub(super) fn ask(plan: &Plan, input: &str, budget: Budget, watch: &mut impl Watch) -> Result<Reply, NoReply> {
    let no = |reason: String| NoReply { reason, usage: None };
    let [program, arguments @ ..] = plan.command.as_slice() else { return Err(no("there is no command".into())) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    environment::withhold_all(&mut command).env_remove(environment::LIFELINE).env_remove(environment::WRAPPER);
    keeper::own_group(&mut command);
    let name = &plan.model;
    let mut child = command.spawn().map_err(|error| no(format!("{name} could not be started ({})", error.kind())))?;
    let keeper = keeper::Keeper::start(&child);
    let (sender, complaint) = channel();
    if let Some(stderr) = child.stderr.take() {
        std::thread::spawn(move || complain(stderr, &sender));
    }
    let answer = converse(&mut child, input, budget, watch);
    let ended = answer.is_ok() && keeper::await_end(&mut child, || budget.left() > GRACE);
    keeper.end_group(&mut child);
    let status = child.wait().ok().filter(|_| ended);
    match (answer, status) {
        (Err(Trouble::Time), _) | (Ok(_), None) => Err(no(timed_out(plan))),
        (Err(Trouble::Long), _) => Err(no(format!("{name} wrote more than {} MiB", MAX_RESPONSE >> 20))),
        (Ok(_), Some(status)) if !status.success() => {
            // Its group is ended, so what it said is all there.
            let said = complaint.recv_timeout(GRACE).unwrap_or_default();
            let said = if said.is_empty() { String::new() } else { format!(": {}", plan.redact(&said)) };
            Err(no(match status.code() {
                Some(code) => format!("{name} failed with exit status {code}{said}"),
                None => format!("{name} was ended by a signal{said}"),
            }))
        }
        (Ok(bytes), Some(_)) => {
            let text = String::from_utf8(bytes).map_err(|_| no(format!("{name} wrote what is not UTF-8")))?;
            let text = super::clean::clean(&text);
            if text.is_empty() {
                return Err(no(format!("{name} wrote no text")));
            }
            Ok(Reply { text, ..Reply::default() })
        }
    }
}

/// Tells the first of what a program says on its stderr, as one line. The rest is read and thrown away, so that it can end.
fn complain(mut stderr: impl std::io::Read, to: &Sender<String>) {
    let mut bytes = Vec::new();
    let _ = stderr.by_ref().take(4096).read_to_end(&mut bytes);
    let _ = to.send(super::clean::one_line(&String::from_utf8_lossy(&bytes), MAX_ERROR_TEXT));
    let _ = std::io::copy(&mut stderr, &mut std::io::sink());
}

enum Trouble {
    Time,
    Long,
}

/// Writes and reads at once, each in a thread: a program may answer before it has read everything, or never. The answer is
/// whole when the program closes its stdout, and also when it has ended and something that it started holds it open.
fn converse(child: &mut Child, input: &str, budget: Budget, watch: &mut impl Watch) -> Result<Vec<u8>, Trouble> {
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (sender, receiver) = channel();
    let input = input.to_string();
    std::thread::spawn(move || {
        // A program that does not want to read all of it may say so by closing.
        let _ = stdin.map(|mut stdin| stdin.write_all(input.as_bytes()));
    });
    std::thread::spawn(move || {
        let Some(mut stdout) = stdout else { return };
        let mut piece = [0; 1 << 14];
        loop {
            match stdout.read(&mut piece) {
                Ok(0) => return,
                Ok(length) if sender.send(piece[..length].to_vec()).is_err() => return,
                Err(error) if error.kind() != ErrorKind::Interrupted => return,
                _ => {}
            }
        }
    });
    let mut answer = Vec::new();
    let mut ended = false;
    loop {
        let left = budget.left().saturating_sub(GRACE);
        match receiver.recv_timeout(left.min(POLL)) {
            Ok(piece) => {
                watch.bytes(&piece);
                answer.extend_from_slice(&piece);
                if answer.len() as u64 > MAX_RESPONSE {
                    return Err(Trouble::Long);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(answer),
            // It was over before this pause, and in all of it nothing came.
            Err(RecvTimeoutError::Timeout) if ended => return Ok(answer),
            Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(Trouble::Time),
            Err(RecvTimeoutError::Timeout) => ended = keeper::has_ended(child),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_split_and_nothing_is_expanded() {
        let split = |text: &str| words(text).map(|words| words.join("|"));
        assert_eq!(split("ollama run  qwen3").as_deref(), Ok("ollama|run|qwen3"));
        assert_eq!(split(r#"sh -c 'a "b" $X' "c \" d" e\ f '' "#).as_deref(), Ok("sh|-c|a \"b\" $X|c \" d|e f|"));
        for text in ["", "  ", "'a", "\"a", "''"] {
            assert!(words(text).is_err(), "{text:?}");
        }
    }
}
