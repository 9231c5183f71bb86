//! What did the server say? Every shape that an answer is known to come in, read into one [`Reply`], or a reason why there is
//! none.
//!
//! Nothing is believed: neither the content type, nor that a 200 is a success, nor that a success has text. Only text that
//! was meant for the reader is taken: no thoughts, no tool calls, no partial answer of a model that then declined.

use super::clean::{clean, one_line};
use super::events::Events;
use super::plan::{Plan, Provider};
use crate::http::Response;
use crate::json::Object;
use crate::limits::MAX_ERROR_TEXT;
use serde_json::Value;

/// A usable answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Reply {
    /// The text, cleaned.
    pub(super) text: String,
    /// The model that answered, as the server names it.
    pub(super) model: Option<String>,
    /// What was billed, as the server says.
    pub(super) usage: Option<Usage>,
    /// Why the answer stops before its end, where it does.
    pub(super) cut: Option<String>,
    /// What else a person should know; such an answer is not kept.
    pub(super) note: Option<String>,
}

/// What an exchange that gave no narration gave.
#[derive(Clone, Debug, Default)]
pub(super) struct NoReply {
    /// Why.
    pub(super) reason: String,
    /// What was billed all the same.
    pub(super) usage: Option<Usage>,
}

/// Tokens, as the server counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) thinking: Option<u64>,
}

impl Usage {
    /// The record's field.
    pub(super) fn to_json(self) -> String {
        let mut object = Object::new();
        object.uint("input_tokens", self.input).uint("output_tokens", self.output);
        object.opt_uint("thinking_tokens", self.thinking);
        object.finish()
    }

    fn read(usage: &Value) -> Option<Usage> {
        let number = |name: &str| usage[name].as_u64();
        let cached = number("cache_creation_input_tokens")
            .unwrap_or(0)
            .saturating_add(number("cache_read_input_tokens").unwrap_or(0));
        let details = [
            &usage["output_tokens_details"]["thinking_tokens"],
            &usage["completion_tokens_details"]["reasoning_tokens"],
        ];
        Some(Usage {
            input: number("input_tokens").map(|n| n.saturating_add(cached)).or_else(|| number("prompt_tokens"))?,
            output: number("output_tokens").or_else(|| number("completion_tokens"))?,
            thinking: details.into_iter().find_map(Value::as_u64).filter(|n| *n > 0),
        })
    }
}

/// Reads an answer with a status of success.
pub(super) fn read(plan: &Plan, response: &Response) -> Result<Reply, NoReply> {
    let body = parse(plan, response).map_err(|reason| NoReply { reason, usage: None })?;
    let usage = Usage::read(&body["usage"]);
    let result = match plan.provider {
        _ if !body["error"].is_null() || body["type"] == "error" => Err(format!(
            "{} answered with an error in place of a text: {}",
            plan.provider,
            error_text(plan, &body).unwrap_or_else(|| "it says no more".into())
        )),
        Provider::Anthropic => anthropic(plan, &body),
        Provider::Openai | Provider::Exec => openai(plan, &body),
    };
    let model =
        body["model"].as_str().map(|model| one_line(&plan.redact(model), 100)).filter(|model| !model.is_empty());
    match result {
        Ok(reply) if reply.text.is_empty() => Err(NoReply { reason: no_text(plan, &reply, usage), usage }),
        Ok(reply) => {
            let redact = |text: String| plan.redact(&text);
            let (cut, note) = (reply.cut.map(redact), reply.note.map(redact));
            Ok(Reply { text: redact(reply.text), model, usage, cut, note })
        }
        Err(reason) => Err(NoReply { reason: format!("{reason}{}", request_id(plan, response, Some(&body))), usage }),
    }
    .map_err(|no| NoReply { reason: plan.redact(&no.reason), ..no })
}

fn no_text(plan: &Plan, reply: &Reply, usage: Option<Usage>) -> String {
    let thought = usage.and_then(|usage| usage.thinking);
    match (&reply.cut, thought) {
        (Some(_), Some(thought)) => format!(
            "the model used its {} output tokens up before it wrote any text, {thought} of them to think; raise --max-tokens",
            plan.max_tokens
        ),
        (Some(cut), None) => format!("the model wrote no text: {cut}; raise --max-tokens if it needs room to think"),
        (None, _) => "the model wrote no text".to_string(),
    }
}

/// Whether an answer comes as events: as it says, or as it looks (some say `text/plain`). No JSON begins like that.
pub(super) fn is_stream(response: &Response) -> bool {
    let kind = response.header("content-type").unwrap_or_default().to_ascii_lowercase();
    let object = response.body.trim_ascii_start().starts_with(b"{");
    kind.contains("event-stream") && !object || Events::begin(&response.body)
}

/// The body as JSON, or what it is instead.
fn parse(plan: &Plan, response: &Response) -> Result<Value, String> {
    let who = plan.provider;
    let id = || request_id(plan, response, None);
    let kind = response.header("content-type").unwrap_or_default().to_ascii_lowercase();
    let encoding = response.header("content-encoding").unwrap_or("identity").to_ascii_lowercase();
    let body = response.body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&response.body).trim_ascii();
    let what = if encoding != "identity" && !encoding.is_empty() {
        "a compressed answer that was not asked for"
    } else if body.is_empty() {
        "an empty answer"
    } else if kind.contains("html") || body.starts_with(b"<") {
        "a web page in place of an answer; is there a login or a proxy in between, is the url right?"
    } else if std::str::from_utf8(body).is_err() {
        "an answer that is not UTF-8"
    } else if is_stream(response) {
        // Some gateways send one unasked. What it says counts, whole or not at all.
        let mut events = Events::new(plan.provider);
        events.push(body);
        events.finish();
        match events.answer() {
            Ok(answer) => return Ok(answer),
            Err(what) => what,
        }
    } else {
        match serde_json::from_slice::<Value>(body) {
            Ok(value @ Value::Object(_)) => return Ok(value),
            Ok(_) => "JSON that is no answer of this API; is the url right?",
            // The one other thing that serde_json stops at is depth.
            Err(error) if error.is_syntax() && error.to_string().starts_with("recursion") => {
                "JSON that is nested too deep"
            }
            Err(_) => "something that is no JSON",
        }
    };
    Err(format!("{who} sent {what}{}", id()))
}

fn anthropic(plan: &Plan, body: &Value) -> Result<Reply, String> {
    let Some(blocks) = body["content"].as_array() else {
        return Err(match body.get("choices") {
            Some(_) => "the server speaks the API of openai; use --provider openai".to_string(),
            None => "anthropic sent JSON that is no answer of its API; is the url right?".to_string(),
        });
    };
    let stop = body["stop_reason"].as_str();
    if stop == Some("refusal") {
        return Err(declined(plan, &body["stop_details"]));
    }
    let mut text = String::new();
    for block in blocks {
        match block["type"].as_str() {
            Some("text") => text.push_str(block["text"].as_str().unwrap_or_default()),
            // What stands before and after can be two beginnings of one sentence or one sentence; only the seam is certain.
            Some("fallback") => text.push_str(&seam(block)),
            _ => {}
        }
    }
    let said = blocks
        .iter()
        .any(|block| block["type"] == "text" && !clean(block["text"].as_str().unwrap_or_default()).is_empty());
    let mut reply = Reply { text: if said { clean(&text) } else { String::new() }, ..Reply::default() };
    match stop {
        Some("end_turn" | "stop_sequence") => {}
        Some("max_tokens") => {
            reply.cut = Some(format!("the model reached its limit of {} output tokens", plan.max_tokens))
        }
        Some("model_context_window_exceeded") => reply.cut = Some("the model's context window is full".into()),
        Some("pause_turn") => reply.cut = Some("the model paused".into()),
        other => reply.note = Some(unknown_stop(other)),
    }
    Ok(reply)
}

fn openai(plan: &Plan, body: &Value) -> Result<Reply, String> {
    let Some(choice) = body["choices"].get(0) else {
        return Err(match body["content"].is_array() {
            true => "the server speaks the API of anthropic; use --provider anthropic".to_string(),
            false => "openai sent JSON without an answer in it".to_string(),
        });
    };
    let message = &choice["message"];
    let finish = choice["finish_reason"].as_str().unwrap_or_default();
    let refusal =
        message["refusal"].as_str().map(|text| one_line(&plan.redact(text), MAX_ERROR_TEXT)).unwrap_or_default();
    if finish == "content_filter" || !refusal.is_empty() {
        let said = if refusal.is_empty() { "its content filter stopped the answer".into() } else { refusal };
        return Err(format!("the model declined: {said}"));
    }
    let mut reply = Reply { text: clean(&content_text(&message["content"])), ..Reply::default() };
    match finish {
        // Some servers write nothing, some the name of the token that ended it.
        "stop" | "" | "eos" | "eos_token" | "end_turn" => {}
        "length" => reply.cut = Some(format!("the model reached its limit of {} output tokens", plan.max_tokens)),
        other => reply.note = Some(unknown_stop(Some(other))),
    }
    Ok(reply)
}

/// The line that stands where one model took over from another.
pub(super) fn seam(block: &Value) -> String {
    let name = |side: &str| one_line(block[side]["model"].as_str().unwrap_or("?"), 100);
    format!("\n\n— model changed: {} → {} —\n\n", name("from"), name("to"))
}

/// The text of a message: a string, or a list of parts.
pub(super) fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter(|part| part["type"] == "text");
            texts.filter_map(|part| part["text"].as_str()).collect()
        }
        _ => String::new(),
    }
}

fn unknown_stop(reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("the model stopped for a reason that flecto does not know ({})", one_line(reason, 60)),
        None => "the server does not say why the model stopped".to_string(),
    }
}

fn declined(plan: &Plan, details: &Value) -> String {
    let field = |name: &str| details[name].as_str().map(|text| one_line(&plan.redact(text), MAX_ERROR_TEXT));
    let mut out = String::from("the model declined");
    if let Some(category) = field("category") {
        out.push_str(&format!(" (category {category})"));
    }
    if let Some(explanation) = field("explanation").filter(|text| !text.is_empty()) {
        out.push_str(&format!(": {explanation}"));
    }
    if let Some(model) = field("recommended_model").filter(|text| !text.is_empty()) {
        out.push_str(&format!(" (the provider recommends {model})"));
    }
    out
}

/// Why an answer with another status than success came, in one line.
pub(super) fn http_error(plan: &Plan, response: &Response) -> String {
    let body = body_of_error(response);
    let kind =
        body["error"]["type"].as_str().map(|kind| one_line(&plan.redact(kind), 60)).filter(|kind| !kind.is_empty());
    let text = error_text(plan, &body).or_else(|| raw_text(plan, response));
    let mut out = format!("{} answered {}", plan.provider, response.status);
    if let Some(kind) = kind {
        out.push_str(&format!(" ({kind})"));
    }
    if let Some(text) = text {
        out.push_str(&format!(": {text}"));
    }
    plan.redact(&(out + &request_id(plan, response, Some(&body))))
}

fn body_of_error(response: &Response) -> Value {
    serde_json::from_slice(&response.body).unwrap_or(Value::Null)
}

/// The provider's sentence in a body of an error, wherever it is known to stand: the key removed, cleaned, one line, at most
/// 200 characters (K2).
fn error_text(plan: &Plan, body: &Value) -> Option<String> {
    let details = || -> Option<String> {
        let list = body["detail"].as_array()?;
        let sentences: Vec<&str> = list.iter().filter_map(|item| item["msg"].as_str()).collect();
        Some(sentences.join("; "))
    };
    let fields = [&body["error"]["message"], &body["error"], &body["message"], &body["detail"]];
    let text = fields.into_iter().find_map(Value::as_str).map(str::to_string).or_else(details)?;
    shown_error(plan, &text)
}

/// The beginning of a body that is no JSON. A page's markup tells nobody anything.
fn raw_text(plan: &Plan, response: &Response) -> Option<String> {
    let text = String::from_utf8_lossy(&response.body[..response.body.len().min(4096)]);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('<') {
        return Some("a web page".to_string());
    }
    shown_error(plan, text)
}

/// The key goes before the cut, or the beginning of one would be left; and it goes after the cleaning, which could put it
/// together.
fn shown_error(plan: &Plan, text: &str) -> Option<String> {
    let whole = one_line(text, usize::MAX);
    let shown = crate::text::shorten(&plan.redact(&whole), MAX_ERROR_TEXT).into_owned();
    (!shown.is_empty()).then_some(shown)
}

/// ` [request req_1]`, where the server gave its answer a name: what its support will ask for.
fn request_id(plan: &Plan, response: &Response, body: Option<&Value>) -> String {
    let header = ["request-id", "x-request-id"].into_iter().find_map(|name| response.header(name));
    let id = header.or_else(|| body.and_then(|body| body["request_id"].as_str())).unwrap_or_default();
    let id: String = plan.redact(id).chars().filter(char::is_ascii_graphic).take(64).collect();
    if id.is_empty() { String::new() } else { format!(" [request {id}]") }
}

/// Whether an error says that the server does not know a field by this name: another form may be worth one more attempt.
pub(super) fn refuses(response: &Response, name: &str) -> bool {
    let body = body_of_error(response);
    let error = &body["error"];
    let text =
        [&error["message"], &body["message"], &body["detail"]].into_iter().find_map(Value::as_str).unwrap_or_default();
    let named =
        error["param"] == name || text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name);
    let lower = text.to_ascii_lowercase();
    let unknown = ["unsupported", "not supported", "unrecognized", "unknown", "not permitted", "unexpected"];
    [400, 422].contains(&response.status)
        && named
        && (error["code"] == "unsupported_parameter" || unknown.iter().any(|word| lower.contains(word)))
}

/// Whether a 429 means that no money is left, which no waiting mends.
pub(super) fn is_out_of_credit(response: &Response) -> bool {
    let body = body_of_error(response);
    let words = [&body["error"]["code"], &body["error"]["type"], &body["error"]["details"]["error_code"]];
    words.into_iter().filter_map(Value::as_str).any(|word| {
        ["insufficient_quota", "credit_balance_exhausted", "billing_error"].contains(&word)
            || word.ends_with("spend_limit_exceeded")
    })
}
