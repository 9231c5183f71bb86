//! What is secret in a dialogue that a script holds with a program? `expect "password:"` and then `send "…\r"`: the answer to a
//! question that names a secret.

use super::By;
use super::reading;
use super::scan::Span;
use super::words::Strength;

/// What a question has in it that asks for a secret, in small letters; the first letter is often left out.
const QUESTIONS: &[&str] =
    &["assword", "assphrase", "asscode", "asswort", "ecret", "oken", "nter pin", "pin:", "pin code"];

/// The word behind which the answer stands.
const ANSWERS: &[&str] =
    &["send", "send_user", "exp_send", "sendline", "SendLine", "Send", "SendText", "putln", "waitln"];

/// An answer stands no farther from its question.
const REACH: usize = 160;

/// Finds them.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    if !(text.contains("send") || text.contains("Send")) {
        return;
    }
    for word in ANSWERS {
        for (at, _) in text.match_indices(word) {
            let before = text[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
                continue;
            }
            let rest = text[at + word.len()..].trim_start_matches([' ', '\t', '(']);
            let rest = rest.strip_prefix("-- ").unwrap_or(rest).trim_start();
            let rest = rest.strip_prefix("-s ").unwrap_or(rest);
            let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '{')) else { continue };
            let inside = &rest[1..];
            let Some(length) = inside.find(if quote == '{' { '}' } else { quote }) else { continue };
            let shown = inside[..length].trim_end_matches(['\n', '\r']);
            let shown = ["\\r\\n", "\\r", "\\n"].iter().find_map(|end| shown.strip_suffix(end)).unwrap_or(shown);
            let head = &text[super::formats::floor(text, at.saturating_sub(REACH))..at];
            if shown.len() >= 3 && asks(head) && !reading::is_kept(shown, Strength::Strong) {
                let from = text.len() - inside.len();
                spans.push(Span::new(from..from + shown.len(), By::Container, "answer"));
            }
        }
    }
}

/// Whether the last question before an answer asks for a secret: no other answer stands between.
fn asks(head: &str) -> bool {
    let lower = head.to_lowercase();
    let asked = QUESTIONS.iter().filter_map(|word| lower.rfind(word)).max();
    let answered = lower.rfind("send");
    asked.is_some_and(|asked| answered.is_none_or(|answered| answered < asked))
}
