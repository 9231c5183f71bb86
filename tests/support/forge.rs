//! A forge that does what a test tells it: the comment APIs of five of them on 127.0.0.1, with all that goes wrong there.
//!
//! It keeps its comments and every request that it got. Its switches are what was met in the world: pages by `Link` header or
//! all comments on every page, a token that may not ask who it is, a comment that is stored although the answer is an error.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Whose API it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    /// GitHub, also Gitea's.
    Github,
    Gitlab,
    Bitbucket,
    Azure,
}

/// How the list comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paging {
    /// Pages, named in a `Link` header.
    Link,
    /// Pages, named nowhere.
    Silent,
    /// Everything on every page (Gitea).
    Ignored,
}

/// What happens to the next request with a method.
#[derive(Clone, Debug)]
pub(crate) enum Accident {
    /// This answer instead.
    Answer(u16, Vec<(String, String)>, String),
    /// It is done, and then this status is answered.
    DoneBut(u16),
    /// A good head, and then a byte a second.
    Slow,
    /// A good head, and then bytes without end.
    Flood,
    /// The connection is closed without an answer.
    Close,
    /// These bytes, and then the connection is closed.
    Raw(&'static str),
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A stored comment.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) id: u64,
    pub(crate) user: &'static str,
    pub(crate) body: String,
}

#[derive(Debug)]
struct State {
    api: Api,
    paging: Paging,
    me: &'static str,
    knows_me: bool,
    comments: Vec<Stored>,
    seen: Vec<Seen>,
    accidents: VecDeque<(&'static str, Accident)>,
    port: u16,
}

/// The forge. It ends with the test's process.
#[derive(Clone, Debug)]
pub(crate) struct Forge {
    state: Arc<Mutex<State>>,
    port: u16,
}

impl Forge {
    /// An empty one; the token belongs to `me`.
    pub(crate) fn new(api: Api, me: &'static str) -> Forge {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new(Mutex::new(State {
            api,
            paging: Paging::Link,
            me,
            knows_me: true,
            comments: Vec::new(),
            seen: Vec::new(),
            accidents: VecDeque::new(),
            port,
        }));
        let forge = Forge { state: state.clone(), port };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = state.clone();
                std::thread::spawn(move || serve(stream, &state));
            }
        });
        forge
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn paging(self, paging: Paging) -> Forge {
        self.state.lock().expect("state").paging = paging;
        self
    }

    /// Whose the token is cannot be asked.
    pub(crate) fn anonymous(self) -> Forge {
        self.state.lock().expect("state").knows_me = false;
        self
    }

    pub(crate) fn comment(self, user: &'static str, body: impl Into<String>) -> Forge {
        {
            let mut state = self.state.lock().expect("state");
            let id = state.comments.len() as u64 + 1;
            state.comments.push(Stored { id, user, body: body.into() });
        }
        self
    }

    pub(crate) fn accident(self, method: &'static str, accident: Accident) -> Forge {
        self.state.lock().expect("state").accidents.push_back((method, accident));
        self
    }

    pub(crate) fn comments(&self) -> Vec<Stored> {
        self.state.lock().expect("state").comments.clone()
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.state.lock().expect("state").seen.clone()
    }

    /// How many requests came with a method.
    pub(crate) fn count(&self, method: &str) -> usize {
        self.seen().iter().filter(|seen| seen.method == method && !seen.path.ends_with("/graphql")).count()
    }
}

fn serve(mut stream: TcpStream, state: &Mutex<State>) {
    let mut bytes = Vec::new();
    let mut chunk = [0; 16384];
    let (head, body) = loop {
        let Ok(n) = stream.read(&mut chunk) else { return };
        if n == 0 {
            return;
        }
        bytes.extend_from_slice(&chunk[..n]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .filter_map(|line| line.split_once(": "))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .and_then(|(_, value)| value.parse::<usize>().ok())
                .unwrap_or(0);
            if body.len() >= length {
                break (head.to_string(), body.to_string());
            }
        }
    };
    let mut words = head.split(' ');
    let (method, path) = (words.next().unwrap_or("").to_string(), words.next().unwrap_or("").to_string());
    let accident = {
        let mut state = state.lock().expect("state");
        state.seen.push(Seen { method: method.clone(), path: path.clone(), head, body: body.clone() });
        let api_call = !path.ends_with("/graphql") && !path.ends_with("/user");
        match state.accidents.front() {
            Some((name, _)) if *name == method && api_call => state.accidents.pop_front().map(|(_, accident)| accident),
            _ => None,
        }
    };
    let json = [("content-type".to_string(), "application/json".to_string())];
    let (status, headers, body) = match accident {
        None => state.lock().expect("state").answer(&method, &path, &body),
        Some(Accident::Answer(status, headers, body)) => (status, headers, body),
        Some(Accident::DoneBut(status)) => {
            state.lock().expect("state").answer(&method, &path, &body);
            (status, Vec::new(), "{\"message\":\"internal error\"}".to_string())
        }
        Some(Accident::Slow) => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n");
            while stream.write_all(b" ").is_ok() {
                std::thread::sleep(Duration::from_millis(200));
            }
            return;
        }
        Some(Accident::Flood) => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 300000000\r\n\r\n");
            let block = vec![b' '; 1 << 16];
            while stream.write_all(&block).is_ok() {}
            return;
        }
        Some(Accident::Close) => return,
        Some(Accident::Raw(bytes)) => {
            let _ = stream.write_all(bytes.as_bytes());
            return;
        }
    };
    let mut out = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n", body.len());
    for (name, value) in headers.iter().chain(&json) {
        out.push_str(&format!("{name}: {value}\r\n"));
    }
    out.push_str("\r\n");
    out.push_str(&body);
    let _ = stream.write_all(out.as_bytes());
}

/// A stable number for an account.
fn number(user: &str) -> u64 {
    user.bytes().fold(7, |sum, byte| (sum * 31 + u64::from(byte)) % 1_000_003)
}

impl State {
    fn answer(&mut self, method: &str, path: &str, body: &str) -> (u16, Vec<(String, String)>, String) {
        let ok = |value: Value| (200, Vec::new(), value.to_string());
        let denied = (403, Vec::new(), "{\"message\":\"Resource not accessible by integration\"}".to_string());
        let (address, query) = path.split_once('?').unwrap_or((path, ""));
        let account = |user: &str| {
            json!({"login": user, "username": user, "nickname": user, "uniqueName": user,
            "id": number(user), "type": if user.ends_with("[bot]") { "Bot" } else { "User" }})
        };
        if address.ends_with("/graphql") || address.ends_with("/user") || address.ends_with("/connectionData") {
            if !self.knows_me {
                return denied;
            }
            return ok(match (self.api, address.ends_with("/graphql")) {
                (_, true) => json!({"data": {"viewer": {"login": self.me, "databaseId": number(self.me)}}}),
                (Api::Azure, _) => json!({"authenticatedUser": account(self.me)}),
                _ => account(self.me),
            });
        }
        let text = serde_json::from_str::<Value>(body).unwrap_or_default();
        let text = [&text["body"], &text["content"]["raw"], &text["content"], &text["comments"][0]["content"]]
            .into_iter()
            .find_map(|value| value.as_str().map(str::to_string))
            .unwrap_or_default();
        match method {
            "GET" => self.list(address, query),
            "POST" => {
                let id = self.comments.len() as u64 + 1;
                self.comments.push(Stored { id, user: self.me, body: text });
                (201, Vec::new(), json!({ "id": id }).to_string())
            }
            _ => {
                let id = address.split('/').filter_map(|part| part.parse::<u64>().ok()).next_back();
                // A thread's comment is always its first here.
                let id = if self.api == Api::Azure { thread(address) } else { id };
                match self.comments.iter_mut().find(|comment| Some(comment.id) == id) {
                    // Somebody who may write to the repository may edit anybody's comment on GitHub.
                    Some(comment) if comment.user == self.me || self.api == Api::Github => {
                        comment.body = text;
                        ok(json!({}))
                    }
                    Some(_) => denied,
                    None => (404, Vec::new(), "{\"message\":\"Not Found\"}".into()),
                }
            }
        }
    }

    fn list(&self, address: &str, query: &str) -> (u16, Vec<(String, String)>, String) {
        let parameter = |name: &str, default: usize| {
            let value = query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
            value.and_then(|value| value.parse().ok()).unwrap_or(default)
        };
        let size = parameter(if self.api == Api::Bitbucket { "pagelen" } else { "per_page" }, 30);
        let page = parameter("page", 1);
        let all = self.comments.iter().map(|comment| self.shown(comment));
        let ignored = self.paging == Paging::Ignored || self.api == Api::Azure;
        let items: Vec<Value> = if ignored { all.collect() } else { all.skip((page - 1) * size).take(size).collect() };
        let more = !ignored && self.comments.len() > page * size;
        let next = format!("http://127.0.0.1:{}{address}?per_page={size}&pagelen={size}&page={}", self.port, page + 1);
        let mut headers = Vec::new();
        if self.paging == Paging::Link && self.api != Api::Bitbucket {
            let last = format!("<http://127.0.0.1:{}{address}?page=1>; rel=\"first\"", self.port);
            headers.push(("Link".into(), if more { format!("{last}, <{next}>; rel=\"next\"") } else { last }));
        }
        let body = match self.api {
            Api::Bitbucket if more => json!({"values": items, "next": next}),
            Api::Bitbucket => json!({"values": items}),
            Api::Azure => json!({"value": items}),
            _ => Value::Array(items),
        };
        (200, headers, body.to_string())
    }

    fn shown(&self, comment: &Stored) -> Value {
        let user = json!({"login": comment.user, "username": comment.user, "nickname": comment.user,
            "id": number(comment.user), "type": if comment.user.ends_with("[bot]") { "Bot" } else { "User" }});
        match self.api {
            Api::Github => json!({"id": comment.id, "user": user, "body": comment.body}),
            Api::Gitlab => json!({"id": comment.id, "author": user, "body": comment.body, "system": false}),
            Api::Bitbucket => json!({"id": comment.id, "user": user, "content": {"raw": comment.body}}),
            Api::Azure => json!({"id": comment.id, "comments": [{"id": 1, "author": user, "content": comment.body}]}),
        }
    }
}

fn thread(address: &str) -> Option<u64> {
    address.split_once("/threads/")?.1.split('/').next()?.parse().ok()
}
