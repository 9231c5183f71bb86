//! What is said about a rule, whatever it found? Title, description and help, for formats that show rules of their own.

use super::report::{Issue, UNREADABLE};
use crate::record::Severity;
use crate::rules::{Rule, read_builtin};
use crate::text::shorten;

/// GitHub's bound on a description, in characters.
const LONGEST: usize = 1_024;

/// The texts of a rule. None varies with what was found: a service takes them for the rule's identity.
#[derive(Debug)]
pub(super) struct RuleText {
    /// A few words.
    pub(super) title: String,
    /// A sentence or two.
    pub(super) description: String,
    /// What to do about it.
    pub(super) help: String,
    /// The same in Markdown.
    pub(super) help_markdown: String,
    /// How bad, from 0.1 to 10.0 as text, for a rule that is about security.
    pub(super) security: Option<&'static str>,
}

impl RuleText {
    /// The texts of an issue's rule: from its pack, else what can be said of any rule.
    pub(super) fn of(issue: &Issue<'_>) -> RuleText {
        let title = words(issue.rule);
        if issue.pack.is_none() && issue.rule == UNREADABLE {
            let help = "Correct the file; flecto-diff says on standard error where it is wrong.";
            return RuleText::new(
                title,
                "A side of the file could not be read or parsed, so nothing is known of it.",
                help,
            );
        }
        if let Some(rule) = issue.pack.and_then(|pack| shipped(pack, issue.rule)) {
            return RuleText::shipped(title, rule);
        }
        let from =
            issue.pack.map_or_else(|| "a filter of the user's own".to_string(), |pack| format!("the pack {pack}"));
        let description = format!("The rule {} of {from} fired at a changed configuration value.", issue.rule);
        RuleText::new(title, &description, "See the message; the rule's author says there what is meant.")
    }

    /// The texts of a rule that comes with flecto.
    fn shipped(title: String, rule: &Rule) -> RuleText {
        let help = rule.help.split_whitespace().collect::<Vec<_>>().join(" ");
        let description = help.split_inclusive(". ").next().unwrap_or(&help).trim().to_string();
        // A rule whose source is a catalogue of weaknesses is about security; others are about working.
        let about_security = ["cwe.mitre.org", "owasp.org", "getsops.io"].iter().any(|host| rule.source.contains(host));
        let security = about_security.then_some(match rule.severity {
            Severity::Error => "8.0",
            Severity::Warn => "5.5",
            Severity::Info => "2.0",
        });
        RuleText {
            title,
            description: shorten(&description, LONGEST).into_owned(),
            help_markdown: format!("{help}\n\n[Where this is known from]({})", rule.source),
            help: format!("{help} See {}", rule.source),
            security,
        }
    }

    fn new(title: String, description: &str, help: &str) -> RuleText {
        RuleText {
            title: shorten(&title, LONGEST).into_owned(),
            description: shorten(description, LONGEST).into_owned(),
            help: help.to_string(),
            help_markdown: help.to_string(),
            security: None,
        }
    }
}

/// A rule of a pack that comes with flecto.
fn shipped(pack: &str, rule: &str) -> Option<&'static Rule> {
    read_builtin(pack).ok()?.rules.iter().find(|known| known.id == rule)
}

/// `pool-size-doubled` → `Pool size doubled.`
fn words(id: &str) -> String {
    let mut text: String = id.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut chars = text.chars();
    let first = chars.next().map_or_else(|| "Rule".to_string(), |c| c.to_uppercase().collect());
    format!("{first}{}.", chars.as_str())
}
