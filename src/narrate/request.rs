//! What exactly is sent? One request, built once as bytes: a dry run prints them, a real run sends them.

use super::plan::{DryRun, Plan, Provider};
use crate::json::{self, Object};
use crate::text;
use std::fmt::Write as _;

/// `anthropic-version`: still served, the one that every gateway knows, and our body is valid under its successor too.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// The beta that lets the server answer with another model where the asked one declines (P4).
const FALLBACK_BETA: &str = "server-side-fallback-2026-07-01";

/// The prompt of a `payload` record.
#[derive(Clone, Debug)]
pub(super) struct Prompt {
    pub(super) system: String,
    pub(super) user: String,
}

/// What the output cap is called. Newer models of OpenAI refuse `max_tokens`, older servers do not know its successor, and
/// some (Ollama) pass over it in silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cap {
    /// `max_tokens`
    Old,
    /// `max_completion_tokens`
    New,
}

impl Cap {
    pub(super) fn word(self) -> &'static str {
        match self {
            Cap::Old => "max_tokens",
            Cap::New => "max_completion_tokens",
        }
    }

    fn other(self) -> Cap {
        match self {
            Cap::Old => Cap::New,
            Cap::New => Cap::Old,
        }
    }
}

/// In which of the forms that servers differ about a request is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    cap: Cap,
    /// Whether the answer is to come as events.
    stream: bool,
    /// Whether the events are asked to say the usage too (`stream_options`): older servers do not know it.
    usage: bool,
}

impl Shape {
    /// The form that the plan's server takes, as far as its host tells.
    pub(super) fn of(plan: &Plan) -> Shape {
        let cap = if plan.provider == Provider::Openai && plan.first_party { Cap::New } else { Cap::Old };
        Shape { cap, stream: plan.stream, usage: plan.stream && plan.provider == Provider::Openai }
    }

    /// The same question, with the answer in one piece. It names the entry in the cache: how an answer travels does not
    /// shape it.
    pub(super) fn in_one_piece(self) -> Shape {
        Shape { stream: false, usage: false, ..self }
    }

    /// The form that is worth another attempt, where a server refuses a name that this one has.
    pub(super) fn instead(self, refuses: impl Fn(&str) -> bool) -> Option<Shape> {
        if self.usage && refuses("stream_options") {
            return Some(Shape { usage: false, ..self });
        }
        refuses(self.cap.word()).then(|| Shape { cap: self.cap.other(), ..self })
    }
}

/// A header's value.
#[derive(Clone, Debug)]
enum Content {
    /// As it stands.
    Text(String),
    /// The key, after this prefix.
    Key(&'static str),
}

/// A request, ready to be sent or printed.
#[derive(Clone, Debug)]
pub(super) struct Request {
    headers: Vec<(&'static str, Content)>,
    pub(super) body: String,
}

pub(super) const METHOD: &str = "POST";

impl Request {
    /// Writes the request. The same plan and prompt give the same bytes.
    pub(super) fn new(plan: &Plan, prompt: &Prompt, shape: Shape) -> Request {
        let json = "application/json".to_string();
        let agent = concat!("flecto/", env!("CARGO_PKG_VERSION")).to_string();
        let mut headers = vec![
            ("content-type", Content::Text(json.clone())),
            ("accept", Content::Text(json)),
            ("user-agent", Content::Text(agent)),
        ];
        let fallbacks = plan.first_party && plan.model == "claude-opus-5";
        let key = plan.key_variable.is_some();
        match plan.provider {
            Provider::Anthropic => {
                headers.extend(key.then_some(("x-api-key", Content::Key(""))));
                headers.push(("anthropic-version", Content::Text(ANTHROPIC_VERSION.into())));
                headers.extend(fallbacks.then(|| ("anthropic-beta", Content::Text(FALLBACK_BETA.into()))));
            }
            Provider::Openai if is_azure(plan) => headers.extend(key.then_some(("api-key", Content::Key("")))),
            Provider::Openai => headers.extend(key.then_some(("authorization", Content::Key("Bearer ")))),
            // A program reads the prompt alone: both parts of it, one after the other.
            Provider::Exec => {
                return Request { headers: vec![], body: format!("{}\n\n{}\n", prompt.system, prompt.user) };
            }
        }
        let message = |role: &str, content: &str| {
            let mut object = Object::new();
            object.str("role", role).str("content", content);
            object.finish()
        };
        let mut body = Object::new();
        body.str("model", &plan.model);
        match plan.provider {
            Provider::Anthropic => {
                body.uint("max_tokens", plan.max_tokens).str("system", &prompt.system);
                body.raw("messages", &format!("[{}]", message("user", &prompt.user)));
                if let Some(effort) = &plan.effort {
                    let mut config = Object::new();
                    config.str("effort", effort);
                    body.raw("output_config", &config.finish());
                }
                if fallbacks {
                    body.str("fallbacks", "default");
                }
                if shape.stream {
                    body.bool("stream", true);
                }
            }
            // `system` and not `developer`: every server takes it, and some chat templates drop the other.
            Provider::Openai => {
                body.uint(shape.cap.word(), plan.max_tokens).opt_str("reasoning_effort", plan.effort.as_deref());
                let both = [message("system", &prompt.system), message("user", &prompt.user)];
                body.raw("messages", &format!("[{}]", both.join(",")));
                if shape.stream {
                    body.bool("stream", true);
                }
                if shape.usage {
                    let mut options = Object::new();
                    options.bool("include_usage", true);
                    body.raw("stream_options", &options.finish());
                }
            }
            Provider::Exec => {}
        }
        Request { headers, body: body.finish() }
    }

    /// One token per four characters, rounded up (C1).
    pub(super) fn tokens(&self) -> u64 {
        (self.body.chars().count() as u64).div_ceil(4)
    }

    /// The headers with the key in them: for the connection, and for nothing else.
    pub(super) fn sent_headers(&self, plan: &Plan) -> Vec<(String, String)> {
        self.headers_with(plan.key.as_ref().map_or("", |key| &key.secret))
    }

    /// The headers with the key's variable in its place.
    pub(super) fn shown_headers(&self, plan: &Plan) -> Vec<(String, String)> {
        self.headers_with(&format!("<{}>", plan.key_variable.unwrap_or_default()))
    }

    fn headers_with(&self, key: &str) -> Vec<(String, String)> {
        let value = |content: &Content| match content {
            Content::Text(text) => text.clone(),
            Content::Key(prefix) => format!("{prefix}{key}"),
        };
        self.headers.iter().map(|(name, content)| ((*name).to_string(), value(content))).collect()
    }

    /// The request as a dry run prints it, with a newline at its end.
    pub(super) fn shown(&self, plan: &Plan, format: DryRun) -> String {
        let url = plan.target();
        if plan.url.is_none() {
            let words: Vec<String> = plan.command.iter().map(|word| json::string(word)).collect();
            return match format {
                DryRun::Text => format!("EXEC [{}]\n\n{}", words.join(","), self.body),
                DryRun::Json => {
                    let mut object = Object::new();
                    object.raw("exec", &format!("[{}]", words.join(","))).str("stdin", &self.body);
                    object.finish() + "\n"
                }
            };
        }
        match format {
            DryRun::Text => {
                let mut out = format!("{METHOD} {}\n", text::escape(&url));
                for (name, value) in self.shown_headers(plan) {
                    let _ = writeln!(out, "{name}: {value}");
                }
                let _ = writeln!(out, "\n{}", self.body);
                out
            }
            DryRun::Json => {
                let mut headers = Object::new();
                for (name, value) in self.shown_headers(plan) {
                    headers.str(&name, &value);
                }
                let mut object = Object::new();
                object.str("method", METHOD).str("url", &url).raw("headers", &headers.finish());
                object.str("body", &self.body);
                object.finish() + "\n"
            }
        }
    }
}

/// Azure takes the key in a header of its own: by its hosts, and by the path that only it has.
fn is_azure(plan: &Plan) -> bool {
    plan.url
        .as_ref()
        .is_some_and(|url| url.host().ends_with(".azure.com") || url.path().contains("/openai/deployments/"))
}
