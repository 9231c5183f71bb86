//! A model provider that does what a test tells it: HTTP/1.1 on 127.0.0.1, in the test's own process.
//!
//! It answers by script, one [`Answer`] a connection, the last one for ever, and keeps every byte that it was sent. Its
//! answers are for both API shapes; what no client should ever meet (a hang, a reset, a body without end) is there too.
//!
//! ```ignore
//! let provider = Provider::new([Answer::anthropic("The pool grows from 5 to 20.")]);
//! let run = run_with(program("flecto-narrate").env("FLECTO_EXPLAIN_API_URL", provider.url()), stream);
//! assert_eq!(provider.requests().len(), 1);
//! ```

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What the provider does with one connection.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// Reads the request and sends these bytes as they are, then closes.
    Raw(Vec<u8>),
    /// Reads the request and sends these bytes one by one, with a pause after each.
    Drip(Vec<u8>, Duration),
    /// Reads the request and sends these pieces, with a pause before each, then closes.
    Pieces(Vec<Vec<u8>>, Duration),
    /// Reads the request, sends these bytes, and then as many `A` as the client takes (or this many).
    Flood(Vec<u8>, u64),
    /// Reads the request and never answers.
    Hang,
    /// Reads the request, sends these bytes, and then nothing more, with the connection kept open.
    Stall(Vec<u8>),
    /// Sends these bytes without having read anything, then closes.
    Greet(Vec<u8>),
    /// Accepts, reads nothing, and keeps the connection open.
    StopReading,
    /// Accepts and closes without having read: the client sees a reset or an end.
    CloseUnread,
    /// Reads the request and closes without an answer.
    CloseRead,
}

/// An answer with a status line, headers and a body of known length.
fn reply(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut out = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n", body.len());
    for (name, value) in headers {
        out.push_str(&format!("{name}: {value}\r\n"));
    }
    out.push_str("\r\n");
    let mut out = out.into_bytes();
    out.extend_from_slice(body);
    out
}

impl Answer {
    /// A stream of events: the Messages API with these texts, one event each, a comment before every one, and this stop reason.
    pub(crate) fn anthropic_stream(texts: &[&str], stop: &str) -> Answer {
        let event = |json: String| format!("event: x\ndata: {json}\n\n").into_bytes();
        let start = r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"claude-opus-5","content":[],"stop_reason":null,"usage":{"input_tokens":412,"output_tokens":1}}}"#;
        let mut pieces = vec![STREAM_HEAD.to_vec(), event(start.into())];
        pieces.push(event(
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#.into(),
        ));
        for text in texts {
            pieces.push(b": keep-alive\n\n".to_vec());
            pieces.push(event(format!(
                r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":{}}}}}"#,
                string(text)
            )));
        }
        pieces.push(event(r#"{"type":"content_block_stop","index":0}"#.into()));
        pieces.push(event(format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"{stop}","stop_details":null}},"usage":{{"output_tokens":61}}}}"#
        )));
        pieces.push(event(r#"{"type":"message_stop"}"#.into()));
        Answer::Pieces(pieces, Duration::ZERO)
    }

    /// The same of the chat completions API, with the usage at its end.
    pub(crate) fn openai_stream(texts: &[&str]) -> Answer {
        let mut pieces = vec![STREAM_HEAD.to_vec()];
        for text in texts {
            pieces.push(
                format!(
                    "data: {{\"model\":\"gate\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{}}},\"finish_reason\":null}}]}}\n\n",
                    string(text)
                )
                .into_bytes(),
            );
        }
        pieces.push(b"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n".to_vec());
        pieces.push(
            b"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5}}\n\ndata: [DONE]\n\n"
                .to_vec(),
        );
        Answer::Pieces(pieces, Duration::ZERO)
    }

    /// The pieces of a stream, changed, with a pause before each.
    pub(crate) fn pieces(self, pause: Duration, change: impl FnOnce(&mut Vec<Vec<u8>>)) -> Answer {
        match self {
            Answer::Pieces(mut pieces, _) => {
                change(&mut pieces);
                Answer::Pieces(pieces, pause)
            }
            other => other,
        }
    }

    /// Any status, headers and body.
    pub(crate) fn http(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Answer {
        Answer::Raw(reply(status, headers, body))
    }

    /// A JSON body with a status.
    pub(crate) fn json(status: u16, body: impl AsRef<[u8]>) -> Answer {
        Answer::http(status, &[("content-type", "application/json"), ("request-id", "req_t1")], body)
    }

    /// The Messages API says `text`.
    pub(crate) fn anthropic(text: &str) -> Answer {
        Answer::json(200, anthropic_body(text))
    }

    /// The Messages API with these content blocks (JSON), this stop reason, and more fields (`,"x":1`).
    pub(crate) fn anthropic_blocks(content: &str, stop: &str, more: &str) -> Answer {
        Answer::json(
            200,
            format!(
                r#"{{"id":"msg_t","type":"message","role":"assistant","content":{content},"stop_reason":"{stop}","stop_sequence":null,"usage":{{"input_tokens":412,"output_tokens":61}}{more}}}"#
            ),
        )
    }

    /// The Messages API declines, with HTTP 200.
    pub(crate) fn anthropic_refusal() -> Answer {
        let more = r#","model":"claude-opus-5","stop_details":{"type":"refusal","category":"cyber","explanation":"Declined by policy."}"#;
        Answer::anthropic_blocks("[]", "refusal", more)
    }

    /// The chat completions API says `text`.
    pub(crate) fn openai(text: &str) -> Answer {
        Answer::json(200, openai_body(text))
    }

    /// The chat completions API with this message (a JSON object) and this finish reason (JSON).
    pub(crate) fn openai_message(message: &str, finish: &str) -> Answer {
        Answer::json(
            200,
            format!(
                r#"{{"id":"c","object":"chat.completion","created":1,"model":"gate","choices":[{{"index":0,"finish_reason":{finish},"message":{message}}}],"usage":{{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}}}"#
            ),
        )
    }

    /// An error as the Messages API writes it.
    pub(crate) fn error(status: u16, message: &str) -> Answer {
        Answer::json(status, error_body(message))
    }

    /// An error with a `retry-after` header.
    pub(crate) fn retry_after(status: u16, value: &str) -> Answer {
        Answer::http(status, &[("content-type", "application/json"), ("retry-after", value)], error_body("slow down"))
    }

    /// A redirect.
    pub(crate) fn redirect(status: u16, location: &str) -> Answer {
        Answer::http(status, &[("location", location)], "")
    }

    /// A login page.
    pub(crate) fn html() -> Answer {
        Answer::http(200, &[("content-type", "text/html")], "<!doctype html><title>Log in</title><script>1</script>")
    }

    /// A body that claims to be JSON and is not.
    pub(crate) fn not_json() -> Answer {
        Answer::json(200, "this is no JSON")
    }

    /// A good Messages API answer with bytes in its text that are not UTF-8.
    pub(crate) fn invalid_utf8() -> Answer {
        let body = anthropic_body("repl@ca").into_bytes();
        let at = body.windows(7).position(|w| w == b"repl@ca").expect("the text") + 4;
        Answer::json(200, [&body[..at], b"\xff\xfe", &body[at + 1..]].concat())
    }

    /// A good Messages API answer in small chunks.
    pub(crate) fn chunked(text: &str) -> Answer {
        let mut out =
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
                .to_vec();
        for chunk in anthropic_body(text).as_bytes().chunks(7) {
            out.extend(format!("{:x}\r\n", chunk.len()).bytes().chain(chunk.iter().copied()).chain(*b"\r\n"));
        }
        out.extend(b"0\r\n\r\n");
        Answer::Raw(out)
    }

    /// A good Messages API answer, a byte at a time.
    pub(crate) fn drip(pause: Duration) -> Answer {
        let headers = [("content-type", "application/json")];
        Answer::Drip(reply(200, &headers, anthropic_body("a slow answer, byte after byte")), pause)
    }

    /// A JSON body that goes on for `bytes`.
    pub(crate) fn huge(bytes: u64) -> Answer {
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", bytes + 50);
        Answer::Flood([head.as_bytes(), br#"{"content":[{"type":"text","text":"ok"}],"pad":""#].concat(), bytes)
    }

    /// Headers that promise more than comes.
    pub(crate) fn cut_short() -> Answer {
        let body = anthropic_body("The replica count");
        Answer::Raw(format!("HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n{}", &body[..50]).into_bytes())
    }

    /// A stream of events that nobody asked for.
    pub(crate) fn sse() -> Answer {
        let body = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]\n\n";
        Answer::http(200, &[("content-type", "text/event-stream")], body)
    }
}

const STREAM_HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

fn string(text: &str) -> String {
    serde_json::to_string(text).expect("JSON")
}

/// A good body of the Messages API.
pub(crate) fn anthropic_body(text: &str) -> String {
    format!(
        r#"{{"id":"msg_t","type":"message","role":"assistant","model":"claude-opus-5","content":[{{"type":"text","text":{}}}],"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"usage":{{"input_tokens":412,"output_tokens":61}}}}"#,
        string(text)
    )
}

/// A good body of the chat completions API.
pub(crate) fn openai_body(text: &str) -> String {
    format!(
        r#"{{"id":"c","object":"chat.completion","created":1,"model":"gate","choices":[{{"index":0,"finish_reason":"stop","logprobs":null,"message":{{"role":"assistant","content":{},"refusal":null}}}}],"usage":{{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}}}"#,
        string(text)
    )
}

fn error_body(message: &str) -> String {
    format!(
        r#"{{"type":"error","error":{{"type":"invalid_request_error","message":{}}},"request_id":"req_t1"}}"#,
        string(message)
    )
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Every byte of it.
    pub(crate) raw: Vec<u8>,
}

impl Request {
    fn split(&self) -> (String, &[u8]) {
        let at = self.raw.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or(self.raw.len());
        let body = self.raw.get(at + 4..).unwrap_or_default();
        (String::from_utf8_lossy(&self.raw[..at]).into_owned(), body)
    }

    /// `POST /v1/messages HTTP/1.1`
    pub(crate) fn line(&self) -> String {
        self.split().0.lines().next().unwrap_or_default().to_string()
    }

    /// Every value of a header, whatever its case.
    pub(crate) fn headers(&self, name: &str) -> Vec<String> {
        let head = self.split().0;
        let pairs = head.lines().skip(1).filter_map(|line| line.split_once(':'));
        pairs.filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.trim().to_string()).collect()
    }

    /// The one value of a header.
    #[track_caller]
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let mut all = self.headers(name);
        assert!(all.len() <= 1, "{name} was sent {} times", all.len());
        all.pop()
    }

    /// The body.
    pub(crate) fn body(&self) -> &[u8] {
        self.split().1
    }

    /// The body as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(self.body()).expect("a JSON body")
    }
}

#[derive(Debug, Default)]
struct Log {
    requests: Mutex<Vec<Request>>,
    bytes: Mutex<Vec<u8>>,
    connections: Mutex<Vec<Instant>>,
    stop: AtomicBool,
}

/// The server. It stops, and lets go of every connection, when it is dropped.
#[derive(Debug)]
pub(crate) struct Provider {
    port: u16,
    log: Arc<Log>,
}

impl Provider {
    /// Starts one that answers its connections in this order, and all further ones like the last.
    pub(crate) fn new(script: impl IntoIterator<Item = Answer>) -> Provider {
        let script: Vec<Answer> = script.into_iter().collect();
        assert!(!script.is_empty(), "a provider needs at least one answer");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let log = Arc::new(Log::default());
        let shared = Arc::clone(&log);
        std::thread::spawn(move || {
            for (at, stream) in listener.incoming().enumerate() {
                if shared.stop.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                shared.connections.lock().expect("a lock").push(Instant::now());
                let answer = script[at.min(script.len() - 1)].clone();
                let log = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, answer, &log));
            }
        });
        Provider { port, log }
    }

    /// `http://127.0.0.1:PORT`
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The port.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The whole requests so far, in the order in which they were complete.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.log.requests.lock().expect("a lock").clone()
    }

    /// The one request.
    #[track_caller]
    pub(crate) fn request(&self) -> Request {
        let mut requests = self.requests();
        assert_eq!(requests.len(), 1, "the provider got {} requests", requests.len());
        requests.remove(0)
    }

    /// When each connection came.
    pub(crate) fn connections(&self) -> Vec<Instant> {
        self.log.connections.lock().expect("a lock").clone()
    }

    /// Every byte that any connection brought, requests that were cut off included.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.log.bytes.lock().expect("a lock").clone()
    }

    /// Whether `text` is anywhere in what was sent here, in plain or JSON-escaped.
    pub(crate) fn got(&self, text: &str) -> bool {
        let escaped = string(text);
        let bytes = self.bytes();
        contains(&bytes, text) || contains(&bytes, escaped.trim_matches('"'))
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.log.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// An address where nobody listens.
pub(crate) fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    format!("http://127.0.0.1:{}", listener.local_addr().expect("an address").port())
}

/// Whether `text` is in `bytes`.
pub(crate) fn contains(bytes: &[u8], text: &str) -> bool {
    !text.is_empty() && bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

fn serve(mut stream: TcpStream, answer: Answer, log: &Log) {
    let _ = stream.set_nodelay(true);
    let _ = stream.set_write_timeout(Some(Duration::from_secs(20)));
    match answer {
        Answer::CloseUnread => return,
        Answer::StopReading => return wait(log),
        Answer::Greet(bytes) => {
            let _ = stream.write_all(&bytes);
            std::thread::sleep(Duration::from_millis(50));
            return;
        }
        _ => {}
    }
    let Some(request) = read_request(&mut stream, log) else { return };
    log.requests.lock().expect("a lock").push(request);
    let sent = match answer {
        Answer::Raw(bytes) => stream.write_all(&bytes),
        Answer::Drip(bytes, pause) => bytes.iter().try_for_each(|byte| {
            std::thread::sleep(pause);
            if log.stop.load(Ordering::SeqCst) {
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            stream.write_all(&[*byte])
        }),
        Answer::Pieces(pieces, pause) => pieces.iter().try_for_each(|piece| {
            std::thread::sleep(pause);
            stream.write_all(piece)
        }),
        Answer::Flood(head, bytes) => stream.write_all(&head).and_then(|()| {
            let block = [b'A'; 1 << 16];
            (0..bytes.div_ceil(block.len() as u64)).try_for_each(|_| stream.write_all(&block))
        }),
        Answer::Stall(bytes) => stream.write_all(&bytes).map(|()| wait(log)),
        Answer::Hang => {
            wait(log);
            Ok(())
        }
        Answer::CloseRead | Answer::CloseUnread | Answer::StopReading | Answer::Greet(_) => Ok(()),
    };
    if sent.is_ok() {
        // A close with unread bytes would be a reset, and could overtake the answer.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
        let _ = stream.read(&mut [0; 64]);
    }
}

fn wait(log: &Log) {
    while !log.stop.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Reads up to the end of a body that `content-length` tells or that comes in chunks.
fn read_request(stream: &mut TcpStream, log: &Log) -> Option<Request> {
    let mut raw = Vec::new();
    let mut block = [0; 1 << 14];
    loop {
        let count = stream.read(&mut block).ok().filter(|count| *count > 0)?;
        raw.extend_from_slice(&block[..count]);
        log.bytes.lock().expect("a lock").extend_from_slice(&block[..count]);
        let request = Request { raw };
        let (head, body) = request.split();
        if head.len() < request.raw.len() {
            let length = request.header("content-length").and_then(|text| text.parse::<usize>().ok());
            let chunked = request.header("transfer-encoding").is_some();
            let whole = match length {
                Some(length) => body.len() >= length,
                None => !chunked || body.ends_with(b"0\r\n\r\n"),
            };
            if whole {
                return Some(request);
            }
        }
        raw = request.raw;
    }
}
