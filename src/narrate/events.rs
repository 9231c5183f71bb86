//! What does a stream of events say? Server-sent events, put together to the one answer that the same API gives without a
//! stream, so that everything after this is the same for both.
//!
//! An answer counts when its stream says that it is over (`message_stop`, `[DONE]`, a finish reason). One that merely ends is
//! cut off, whatever came before: a proxy's idle time-out looks like that.

use super::plan::Provider;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A stream as far as it came.
#[derive(Debug)]
pub(super) struct Events {
    provider: Provider,
    /// Bytes of a line that is not whole.
    line: Vec<u8>,
    /// The `data` lines of an event that is not whole.
    data: Vec<u8>,
    /// Whether a CR was the last byte: the LF of one line end is no second one.
    after_cr: bool,
    answer: Answer,
    /// An event that could not be read.
    broken: bool,
    over: bool,
}

/// What the events said so far.
#[derive(Debug, Default)]
struct Answer {
    message: Map<String, Value>,
    blocks: BTreeMap<u64, Block>,
    content: String,
    refusal: String,
    finish: Option<String>,
    error: Option<Value>,
}

/// A content block of the Messages API.
#[derive(Debug, Default)]
struct Block {
    head: Value,
    text: String,
}

impl Events {
    pub(super) fn new(provider: Provider) -> Events {
        Events {
            provider,
            line: Vec::new(),
            data: Vec::new(),
            after_cr: false,
            answer: Answer::default(),
            broken: false,
            over: false,
        }
    }

    /// Whether bytes look like the beginning of a stream of events.
    pub(super) fn begin(body: &[u8]) -> bool {
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start();
        [&b"data:"[..], b"event:", b":", b"id:", b"retry:"].iter().any(|field| body.starts_with(field))
    }

    /// Reads on. Gives the visible text that came with these bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        let mut text = String::new();
        for &byte in bytes {
            let ends_line = byte == b'\r' || byte == b'\n';
            let half = byte == b'\n' && self.after_cr;
            self.after_cr = byte == b'\r';
            if half || self.over {
                continue;
            }
            if ends_line {
                self.end_line(&mut text);
            } else {
                self.line.push(byte);
            }
        }
        text
    }

    /// The stream is at its end: some servers leave the last empty line out.
    pub(super) fn finish(&mut self) -> String {
        let mut text = String::new();
        self.end_line(&mut text);
        self.end_event(&mut text);
        text
    }

    /// Whether the answer is whole. What comes after it is not waited for.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// The model that answers, as far as it is known.
    pub(super) fn model(&self) -> Option<&str> {
        self.answer.message.get("model").and_then(Value::as_str)
    }

    fn end_line(&mut self, text: &mut String) {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.end_event(text);
        }
        // `event` and `id` say nothing that the data does not; a line that begins with `:` is a comment that keeps the
        // connection alive.
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
        if let Some(data) = line.strip_prefix(b"data:") {
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
        }
    }

    fn end_event(&mut self, text: &mut String) {
        let data = std::mem::take(&mut self.data);
        let data = data.trim_ascii();
        if data.is_empty() || self.over {
            return;
        }
        if data == b"[DONE]" {
            self.over = true;
            return;
        }
        match serde_json::from_slice::<Value>(data) {
            Ok(event @ Value::Object(_)) => self.event(&event, text),
            _ => {
                self.broken = true;
                self.over = true;
            }
        }
    }

    fn event(&mut self, event: &Value, text: &mut String) {
        if !event["error"].is_null() || event["type"] == "error" {
            self.answer.error = Some(event.clone());
            self.over = true;
            return;
        }
        match self.provider {
            Provider::Anthropic => self.over |= self.answer.anthropic(event, text),
            Provider::Openai | Provider::Exec => self.answer.openai(event, text),
        }
    }

    /// The answer as the API gives it in one piece, or what is wrong with the stream.
    pub(super) fn answer(self) -> Result<Value, &'static str> {
        let Answer { mut message, blocks, content, refusal, finish, error } = self.answer;
        if let Some(error) = error {
            return Ok(error);
        }
        if self.broken {
            return Err("a stream of events with something in it that is no JSON");
        }
        if !self.over && finish.is_none() {
            return Err("a stream of events that broke off before the answer was complete");
        }
        match self.provider {
            Provider::Anthropic if message.is_empty() => Err("a stream of events without an answer in it"),
            Provider::Anthropic => {
                let blocks = blocks.into_values().map(|block| {
                    let mut head = block.head;
                    if head["type"] == "text" {
                        head["text"] = Value::String(block.text);
                    }
                    head
                });
                message.insert("content".into(), blocks.collect());
                Ok(Value::Object(message))
            }
            Provider::Openai | Provider::Exec => {
                // Events of another API, or none at all: then there is no choice, and the reader says so.
                if message.is_empty() && content.is_empty() && finish.is_none() {
                    return Err("a stream of events without an answer in it");
                }
                let refusal = if refusal.is_empty() { Value::Null } else { Value::String(refusal) };
                let said = json!({"role": "assistant", "content": content, "refusal": refusal});
                message.insert("choices".into(), json!([{"index": 0, "message": said, "finish_reason": finish}]));
                Ok(Value::Object(message))
            }
        }
    }
}

impl Answer {
    /// One event of the Messages API. Says whether it was the last.
    fn anthropic(&mut self, event: &Value, text: &mut String) -> bool {
        let index = event["index"].as_u64().unwrap_or(0);
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => {
                if let Value::Object(message) = &event["message"] {
                    self.message = message.clone();
                }
            }
            "content_block_start" => {
                let head = event["content_block"].clone();
                let first = head["text"].as_str().unwrap_or_default().to_string();
                if head["type"] == "text" {
                    text.push_str(&first);
                } else if head["type"] == "fallback" {
                    text.push_str(&super::reply::seam(&head));
                    // From here on another model speaks.
                    if head["to"]["model"].is_string() {
                        self.message.insert("model".into(), head["to"]["model"].clone());
                    }
                }
                self.blocks.insert(index, Block { head, text: first });
            }
            "content_block_delta" if event["delta"]["type"] == "text_delta" => {
                let said = event["delta"]["text"].as_str().unwrap_or_default();
                let block = self
                    .blocks
                    .entry(index)
                    .or_insert_with(|| Block { head: json!({"type": "text"}), text: String::new() });
                if block.head["type"] == "text" {
                    block.text.push_str(said);
                    text.push_str(said);
                }
            }
            "message_delta" => {
                if let Value::Object(delta) = &event["delta"] {
                    self.message.extend(delta.clone());
                }
                self.take_usage(&event["usage"]);
            }
            "message_stop" => return true,
            _ => {}
        }
        false
    }

    /// One event of the chat completions API. The one with the usage has no choice in it.
    fn openai(&mut self, event: &Value, text: &mut String) {
        for field in ["model", "id"] {
            if event[field].is_string() {
                self.message.insert(field.into(), event[field].clone());
            }
        }
        self.take_usage(&event["usage"]);
        let Some(choice) = event["choices"].get(0) else { return };
        // A gateway that answers at once may send the whole message as one event.
        let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        let said = super::reply::content_text(&delta["content"]);
        self.content.push_str(&said);
        text.push_str(&said);
        self.refusal.push_str(delta["refusal"].as_str().unwrap_or_default());
        if let Some(finish) = choice["finish_reason"].as_str() {
            self.finish = Some(finish.to_string());
        }
    }

    /// The last word on each count holds: they grow with the answer.
    fn take_usage(&mut self, usage: &Value) {
        let Value::Object(counts) = usage else { return };
        let all = self.message.entry("usage").or_insert_with(|| json!({}));
        if !all.is_object() {
            *all = json!({});
        }
        for (name, count) in counts.iter().filter(|(_, count)| !count.is_null()) {
            all[name.as_str()] = count.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(provider: Provider, stream: &[u8], step: usize) -> (String, Result<Value, &'static str>) {
        let mut events = Events::new(provider);
        let mut text: String = stream.chunks(step).map(|bytes| events.push(bytes)).collect();
        text.push_str(&events.finish());
        (text, events.answer())
    }

    #[test]
    fn the_answer_does_not_depend_on_where_the_chunks_end() {
        let stream = "\u{feff}: keep-alive\r\nevent: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\r\n\r\nevent: ping\ndata: {\"type\":\"ping\"}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\ndata: {\"type\":\"content_block_delta\",\ndata: \"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"größer\"}}\r\rdata:{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":9}}\n\ndata: {\"type\":\"message_stop\"}\n\ndata: no JSON\n\n";
        for step in [1, 2, 3, 7, 64, 100_000] {
            let (text, answer) = read(Provider::Anthropic, stream.as_bytes(), step);
            let answer = answer.expect("an answer");
            assert_eq!((text.as_str(), &answer["content"][0]["text"]), ("größer", &json!("größer")), "{step}");
            assert_eq!(answer["usage"], json!({"input_tokens": 7, "output_tokens": 9}));
            assert_eq!((&answer["stop_reason"], &answer["model"]), (&json!("end_turn"), &json!("m")));
        }
    }

    #[test]
    fn a_stream_that_does_not_say_that_it_is_over_is_none() {
        let delta = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n";
        let whole = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
        assert!(read(Provider::Openai, delta.as_bytes(), 9).1.is_err());
        assert!(read(Provider::Openai, format!("{delta}{whole}").as_bytes(), 9).1.is_ok());
        assert!(read(Provider::Openai, format!("{delta}data: [DONE]").as_bytes(), 9).1.is_ok());
        assert!(read(Provider::Openai, format!("{delta}data: {{\n\n{whole}").as_bytes(), 9).1.is_err());
        assert!(read(Provider::Openai, b"data: [DONE]\n\n", 9).1.is_err());
        assert!(read(Provider::Anthropic, format!("{delta}{whole}").as_bytes(), 9).1.is_err());
    }
}
