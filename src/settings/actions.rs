//! Does a settings file try to act? What is said on the command line and in the environment alone is refused in every file.

use super::read::format_of;
use crate::document::{Data, Key, Node};
use crate::fields::{self, BadFile, Source};
use crate::text;

/// The error for the first action that a settings file tries to take, if it tries. Asked of the head's file too, which
/// otherwise counts for nothing: somebody meant it to work. A file that cannot be parsed takes no action.
pub fn refused(name: &str, bytes: &[u8]) -> Option<BadFile> {
    let format = format_of(name, bytes).ok()?;
    fields::document(name, format, bytes, |source, root| Ok(find_action(source, root, Level::Top))).ok().flatten()
}

/// What a map's keys are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Top,
    /// Names of profiles: not settings themselves.
    Profiles,
    Settings,
    /// Names of rules, patterns: not settings themselves.
    Names,
}

/// Keys that would make flecto act, by how they begin or by their whole name, and why not. Compared in lower case without
/// `-` and `_`.
const ACTIONS: &[(&[&str], &[&str], &str)] = &[
    (
        &[
            "explain",
            "narrat",
            "provider",
            "model",
            "endpoint",
            "apiurl",
            "apikey",
            "anthropic",
            "openai",
            "maxtoken",
            "prompt",
        ],
        &["url", "key", "keys", "token", "llm", "cache", "cachedir", "timeout", "timeoutms"],
        "whether a model is asked, and which, is said on the command line or in the environment alone",
    ),
    (
        &["prcomment", "post", "comment", "webhook", "notify"],
        &["forge", "github", "gitlab"],
        "posting is asked for on the command line alone",
    ),
    (&["accept", "suppress"], &["updatebaseline"], "accepting a finding is an action on the command line"),
    (
        &["baseline", "snapshot", "configfrom"],
        &["base", "baseref", "toref", "to", "ref", "staged", "mergebase", "noindex", "config", "noconfig"],
        "what is compared with what is said on the command line alone",
    ),
    (
        &["output", "outfile"],
        &["out", "o", "report", "reportfile", "summary", "summaryfile", "directory"],
        "where something is written is said on the command line alone",
    ),
    (&["showsecret"], &["unmask"], "showing secrets is asked for on the command line alone"),
    (
        &["plugin", "exec", "command", "script"],
        &["run", "require", "extends"],
        "settings run nothing; a rule of your own is a filter or a pack",
    ),
];

pub(super) fn find_action(source: &Source<'_>, node: &Node<'_>, level: Level) -> Option<BadFile> {
    let Data::Map(entries) = &node.data else { return None };
    for entry in entries {
        let Key::String(key) = &entry.key else { continue };
        if matches!(level, Level::Top | Level::Settings) {
            let plain = key.to_lowercase().replace(['-', '_', '.', ' '], "");
            let plain = plain.strip_prefix("flecto").unwrap_or(&plain).to_string();
            let action = ACTIONS.iter().find(|(starts, names, _)| {
                starts.iter().any(|start| plain.starts_with(start)) || names.contains(&plain.as_str())
            });
            if let Some((_, _, why)) = action {
                let shown = text::shorten(key, 64);
                let message = format!("`{shown}` cannot be set in a file; {why}");
                return source.fail::<()>(Some(entry.key_span.start), message).err();
            }
        }
        let below = match (level, key.as_ref()) {
            (Level::Top, "profiles") => Level::Profiles,
            (Level::Top | Level::Settings, "severity" | "listKeys") => Level::Names,
            (Level::Names, _) => continue,
            _ => Level::Settings,
        };
        if let Some(error) = find_action(source, &entry.value, below) {
            return Some(error);
        }
    }
    None
}
