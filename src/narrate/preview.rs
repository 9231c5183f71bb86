//! What may a person see of an answer that is not whole yet? Whole lines, cleaned and marked as they will stay, and the line
//! that is being written, shortened to one that a terminal can take back.
//!
//! Cleaning looks at the text from its beginning, not at what just came: an escape sequence, a token or a key that two chunks
//! have half of is never shown. Of the last line everything from a character on that may open such a thing waits until the
//! line is whole.

use super::clean::clean;
use super::grounding;
use super::plan::Plan;
use crate::limits::MAX_NARRATION;
use crate::text::{inert_lines, is_active};
use std::time::{Duration, Instant};

/// How often it is looked at again. A person reads no faster, and a hostile stream buys no more of the machine.
const PAUSE: Duration = Duration::from_millis(50);

/// An answer on its way.
pub(super) struct Preview {
    raw: String,
    /// What of a character came, where bytes come.
    bytes: Vec<u8>,
    shown: usize,
    looked: Option<Instant>,
    full: bool,
}

/// What there is to show.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Glimpse {
    /// Lines that are new.
    pub(super) lines: Vec<String>,
    /// The line that is being written.
    pub(super) partial: String,
}

impl Preview {
    pub(super) fn new() -> Preview {
        Preview { raw: String::new(), bytes: Vec::new(), shown: 0, looked: None, full: false }
    }

    /// Takes bytes of a text; half a character waits for its other half.
    pub(super) fn push_bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let valid = match std::str::from_utf8(&self.bytes) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            // No text: then there will be no narration either.
            Err(_) => {
                self.full = true;
                0
            }
        };
        let rest = self.bytes.split_off(valid);
        let text = std::mem::replace(&mut self.bytes, rest);
        self.push(&String::from_utf8_lossy(&text));
    }

    /// Takes text.
    pub(super) fn push(&mut self, text: &str) {
        // What a narration may hold, with room for what cleaning takes out.
        self.full |= self.raw.len() + text.len() > 4 * MAX_NARRATION;
        if !self.full {
            self.raw.push_str(text);
        }
    }

    /// What there is to show, unless that was just asked. `user` and `mark` are the prompt, to check it against.
    pub(super) fn look(&mut self, plan: &Plan, user: &str, mark: &str) -> Option<Glimpse> {
        if self.full || self.raw.is_empty() || self.looked.is_some_and(|at| at.elapsed() < PAUSE) {
            return None;
        }
        self.looked = Some(Instant::now());
        Some(self.glimpse(plan, user, mark))
    }

    fn glimpse(&mut self, plan: &Plan, user: &str, mark: &str) -> Glimpse {
        let (whole, last) = self.raw.split_at(self.raw.rfind('\n').map_or(0, |at| at + 1));
        let text = plan.redact(&clean(whole));
        let lines = match text.is_empty() {
            true => Vec::new(),
            false => inert_lines(&grounding::check(&text, user, mark).map_or(text, |checked| checked.text)),
        };
        let lines = within_bound(lines);
        let fresh = lines.get(self.shown..).unwrap_or_default().to_vec();
        self.shown = self.shown.max(lines.len());
        // Whether the last line is a thought is only known from all before it; what the cleaned text ends with is shown.
        let safe = last.find(opens).map_or(last, |at| &last[..at]);
        let hidden = clean(&format!("{whole}x")) == clean(whole);
        let partial = if hidden { String::new() } else { plan.redact(&clean(safe)) };
        // The beginning of the key is not the key: it may become it.
        let partial = if plan.ends_in_part_of_key(&partial) { String::new() } else { partial };
        Glimpse { lines: fresh, partial: inert_lines(&partial).concat() }
    }
}

/// The lines that a narration has room for, with what will stand under it; the rest is its own end's business.
fn within_bound(mut lines: Vec<String>) -> Vec<String> {
    let mut room = MAX_NARRATION - MAX_NARRATION / 10;
    let fitting = lines.iter().position(|line| {
        let needed = line.chars().count() + 1;
        let fits = needed <= room;
        room = room.saturating_sub(needed);
        !fits
    });
    lines.truncate(fitting.unwrap_or(usize::MAX));
    lines
}

/// Whether a character may open what cleaning takes out.
fn opens(c: char) -> bool {
    c == '<' || c == '[' || is_active(c) && c != '\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that is shown of a text that comes in pieces of one character.
    fn shown(text: &str) -> (Vec<String>, Vec<String>) {
        let plan = Plan::for_tests("a canary key");
        let mut preview = Preview::new();
        let (mut lines, mut partials) = (Vec::new(), Vec::new());
        for c in text.chars() {
            preview.push(&c.to_string());
            let glimpse = preview.glimpse(&plan, "", "");
            lines.extend(glimpse.lines);
            partials.push(glimpse.partial);
        }
        (lines, partials)
    }

    #[test]
    fn r2_nothing_that_acts_is_shown_whatever_its_pieces_are() {
        let text = "Replicas\u{1b}]52;c;Y3VybA==\u{7} rise.\n\u{202e}all\u{200b} <|im_end|>safe \u{9b}2J [INST]x\n<think>hidden\nthoughts</think>\nend of it\n";
        let (lines, partials) = shown(text);
        assert_eq!(lines, ["Replicas rise.", "all safe  x", "", "end of it"].map(String::from));
        for partial in partials {
            assert!(!partial.chars().any(is_active), "{partial:?}");
            for part in ["52;", "im_end", "[INST", "hidden", "thoughts", "2J", "<|"] {
                assert!(!partial.contains(part), "{partial:?}");
            }
        }
    }

    #[test]
    fn k2_no_part_of_the_key_is_shown() {
        let (lines, partials) = shown("told: a canary key, yes\nnext\n");
        assert_eq!(lines, ["told: <FLECTO_EXPLAIN_API_KEY>, yes", "next"].map(String::from));
        assert!(!partials.iter().any(|partial| partial.contains("a cana")), "{partials:?}");
    }

    #[test]
    fn half_a_character_waits_and_no_text_shows_nothing() {
        let plan = Plan::for_tests("a canary key");
        let mut preview = Preview::new();
        for byte in "größer\n".bytes() {
            preview.push_bytes(&[byte]);
        }
        assert_eq!(preview.glimpse(&plan, "", "").lines, ["größer"]);
        preview.push_bytes(b"\xff\n");
        assert_eq!(preview.look(&plan, "", ""), None);
    }
}
