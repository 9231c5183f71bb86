//! Which environment variables hold a secret, and who may see them?
//!
//! A secret is in one process: the model's key in `flecto-narrate`, a forge's token in `flecto-post`. Whoever starts a
//! process of another kind (git, a filter, a program of the user's) takes them out of its environment first.

use std::process::Command;

/// The variables that `flecto-narrate` reads a model provider's key from, in the order of their precedence.
pub const MODEL_KEYS: [&str; 3] = ["FLECTO_EXPLAIN_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"];

/// The variables that CI systems and the forges' own command line programs keep a token in. `flecto-post` alone sees them.
pub const FORGE_TOKENS: [&str; 13] = [
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITLAB_TOKEN",
    "GITLAB_PRIVATE_TOKEN",
    "CI_JOB_TOKEN",
    "GITEA_TOKEN",
    "FORGEJO_TOKEN",
    "BITBUCKET_TOKEN",
    "SYSTEM_ACCESSTOKEN",
    "ACTIONS_RUNTIME_TOKEN",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
];

/// In which a stage finds the version of the wrapper that started it: one of another release refuses to run.
pub const WRAPPER: &str = "FLECTO_WRAPPER";

/// In which a stage finds the number of an inherited pipe that closes when the wrapper is gone.
pub const LIFELINE: &str = "FLECTO_LIFELINE";

/// Takes every secret out of the environment that `command` will start with.
pub fn withhold_all(command: &mut Command) -> &mut Command {
    for name in MODEL_KEYS.into_iter().chain(FORGE_TOKENS) {
        command.env_remove(name);
    }
    command
}

/// A variable's text. One that is set to the empty string is unset (a fork's `${{ secrets.X }}` is one), and so is one
/// that is not UTF-8.
pub fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}
