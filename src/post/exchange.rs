//! How does one question to a forge end? With an answer, or with a reason in our words; the token stays where it belongs.

use super::forge::Call;
use super::place::Place;
use crate::http::{self, Response, Url};
use crate::text;
use serde_json::Value;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The longest that one request may take.
const REQUEST: Duration = Duration::from_secs(30);

/// How many times a question that changes nothing is asked again.
const RETRIES: u32 = 2;

/// The largest answer, in bytes: a hundred comments of the largest size that GitHub has, escaped.
const MAX_ANSWER: u64 = 32 << 20;

/// How long a server's error text may be, in characters.
const ERROR_TEXT: usize = 200;

/// What speaks with one forge for one comment.
#[derive(Debug)]
pub(super) struct Speaker<'p> {
    pub(super) place: &'p Place,
    token: &'p str,
    deadline: Instant,
}

/// Why a question has no answer.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    /// The status, when there was one.
    pub(super) status: Option<u16>,
    /// The reason.
    pub(super) why: String,
}

impl Refused {
    fn of(why: impl Into<String>) -> Refused {
        Refused { status: None, why: why.into() }
    }

    /// Whether the forge may have done what it was asked for all the same.
    pub(super) fn is_uncertain(&self) -> bool {
        self.status.is_none_or(|status| status >= 500)
    }
}

impl<'p> Speaker<'p> {
    /// Speaks for at most `time`.
    pub(super) fn new(place: &'p Place, token: &'p str, time: Duration) -> Speaker<'p> {
        Speaker { place, token, deadline: Instant::now() + time }
    }

    /// Asks, and gives back what was answered with success, as JSON, and the answer itself.
    ///
    /// # Errors
    /// No answer, or one that is no success.
    pub(super) fn ask(&self, call: &Call) -> Result<(Value, Response), Refused> {
        let url = self.url(&call.path)?;
        let mut attempt = 0;
        let repeatable = call.method == "GET";
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Refused::of("the time ran out"));
            }
            let forge = self.place.forge;
            let mut headers = forge.headers();
            headers.push(forge.authorization(self.token));
            if !call.body.is_empty() {
                headers.push(("content-type".into(), "application/json".into()));
            }
            let sent = http::send(call.method, &url, &headers, call.body.as_bytes(), left.min(REQUEST), MAX_ANSWER);
            let wait = match sent {
                Err(failure) if (repeatable || failure.unsent) && attempt < RETRIES => backoff(attempt),
                Err(failure) => return Err(Refused::of(failure.message)),
                Ok(answer) if (200..300).contains(&answer.status) => {
                    let json = serde_json::from_slice(&answer.body);
                    let json = if answer.body.is_empty() { Ok(Value::Null) } else { json };
                    return match json {
                        Ok(json) => Ok((json, answer)),
                        Err(_) => Err(Refused::of(format!("{} did not answer in JSON", url.host()))),
                    };
                }
                Ok(answer) if (300..400).contains(&answer.status) => return Err(self.redirected(&url, &answer)),
                Ok(answer) => match wish(&answer) {
                    Some(wait)
                        if attempt < RETRIES && wait < self.deadline.saturating_duration_since(Instant::now()) =>
                    {
                        wait
                    }
                    Some(_) => {
                        let told = self.told(&answer);
                        return Err(Refused { why: format!("{}; it asks to wait too long", told.why), ..told });
                    }
                    None if repeatable && answer.status >= 500 && attempt < RETRIES => backoff(attempt),
                    None => return Err(self.told(&answer)),
                },
            };
            attempt += 1;
            std::thread::sleep(wait);
        }
    }

    fn url(&self, path: &str) -> Result<Url, Refused> {
        if path.contains("://") {
            let url = Url::parse(path).map_err(|wrong| Refused::of(format!("the forge named a url that {wrong}")))?;
            return if same_server(&url, &self.place.api) {
                Ok(url)
            } else {
                Err(Refused::of("the forge named a page on another server, which is not asked"))
            };
        }
        let (path, query) = path.split_once('?').map_or((path, String::new()), |(path, q)| (path, format!("?{q}")));
        let whole = format!("{}{query}", self.place.api.join(path));
        Url::parse(&whole).map_err(|wrong| Refused::of(format!("the API's url {wrong}")))
    }

    /// A redirect is refused, within one server too: CI systems name a repository as it is called now, so what redirects
    /// is not what was asked for.
    fn redirected(&self, from: &Url, answer: &Response) -> Refused {
        let to = match answer.redirect_host() {
            Some(host) if same_server_name(&host, from) => "another address there".to_string(),
            Some(host) => self.clean(&host),
            None => "another address there".to_string(),
        };
        let renamed = "; if the repository was renamed, say its new name with --repository";
        let why = format!("{} redirects to {to}, which is not followed{renamed}", from.host());
        Refused { status: Some(answer.status), why }
    }

    /// What the server said of its refusal: on one line, without the token, and not long.
    fn told(&self, answer: &Response) -> Refused {
        let json: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let message = [&json["message"], &json["error"]["message"], &json["error"], &json["errors"][0]["message"]]
            .into_iter()
            .find_map(Value::as_str);
        let said = message.map_or_else(String::new, |message| format!(": {}", self.clean(message)));
        let hint = match answer.status {
            401 => "; check the token",
            403 => "; the token may not write comments (a fork's pull request has a read-only one)",
            404 => "; the pull request is not there, or the token may not see it",
            _ => "",
        };
        let why = format!("{} answered {}{said}{hint}", self.place.forge.name(), answer.status);
        Refused { status: Some(answer.status), why }
    }

    fn clean(&self, message: &str) -> String {
        let without = message.replace(self.token, "***");
        text::shorten(&text::escape(&without), ERROR_TEXT).into_owned()
    }
}

/// `https://host:port`.
fn server(url: &Url) -> String {
    let whole = url.to_string();
    let start = whole.find("://").map_or(0, |at| at + 3);
    let end = whole[start..].find(['/', '?']).map_or(whole.len(), |at| start + at);
    whole[..end].to_string()
}

/// Whether a `host:port` is that of a URL.
fn same_server_name(host: &str, url: &Url) -> bool {
    server(url).rsplit_once("//").is_some_and(|(_, own)| own.eq_ignore_ascii_case(host))
}

fn same_server(one: &Url, other: &Url) -> bool {
    server(one) == server(other)
}

fn backoff(attempt: u32) -> Duration {
    Duration::from_millis(500 << attempt.min(4))
}

/// How long a server asks to wait before the same question: only with 403, 429 and 503, and only when it says so. A plain
/// 403 is an answer, not a wish.
fn wish(answer: &Response) -> Option<Duration> {
    if !matches!(answer.status, 403 | 429 | 503) {
        return None;
    }
    let number = |name: &str| answer.header(name).and_then(|text| text.trim().parse::<u64>().ok());
    if let Some(seconds) = number("retry-after") {
        return Some(Duration::from_secs(seconds));
    }
    if number("x-ratelimit-remaining") == Some(0) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        return Some(Duration::from_secs(number("x-ratelimit-reset")?.saturating_sub(now)));
    }
    // GitHub's advice for a secondary limit without a header is a minute.
    (answer.status == 429).then_some(Duration::from_secs(60))
}
