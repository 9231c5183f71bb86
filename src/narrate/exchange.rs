//! How is the question asked? Up to three attempts, all within what is left of the time.

use super::events::Events;
use super::plan::{Plan, Provider};
use super::reply::{self, NoReply, Reply};
use super::request::{METHOD, Prompt, Request, Shape};
use crate::http::{self, Response};
use crate::limits::{MAX_RESPONSE, RETRIES};
use std::ops::ControlFlow;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Time that runs out. Measured from a start, because an end can lie beyond what a clock can say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    start: Instant,
    whole: Duration,
}

impl Budget {
    pub(super) fn new(whole: Duration) -> Budget {
        Budget { start: Instant::now(), whole }
    }

    pub(super) fn left(&self) -> Duration {
        self.whole.saturating_sub(self.start.elapsed())
    }
}

/// What is said when the time is up.
pub(super) fn timed_out(plan: &Plan) -> String {
    format!("no answer within {} ms; FLECTO_EXPLAIN_TIMEOUT_MS sets how long to wait", plan.timeout.as_millis())
}

/// What comes of an answer while it comes.
pub(super) trait Watch {
    /// Text that the reader will see, as it came.
    fn text(&mut self, text: &str, model: Option<&str>);
    /// The same from a program, in bytes.
    fn bytes(&mut self, bytes: &[u8]);
}

/// Sends the request until there is an answer, or a reason why there is none.
pub(super) fn ask(
    plan: &Plan,
    prompt: &Prompt,
    request: &Request,
    budget: Budget,
    watch: &mut impl Watch,
) -> Result<Reply, NoReply> {
    let Some(url) = &plan.url else { return super::exec::ask(plan, &request.body, budget, watch) };
    let mut request = request.clone();
    let mut shape = Shape::of(plan);
    let mut forms = vec![shape];
    let mut attempt = 0;
    let no = |reason: String| Err(NoReply { reason: plan.redact(&reason), usage: None });
    loop {
        let left = budget.left();
        if left.is_zero() {
            return no(timed_out(plan));
        }
        let headers = request.sent_headers(plan);
        let last = attempt >= RETRIES;
        let (mut events, mut read) = (Events::new(plan.provider), 0);
        let see = |so_far: &Response| {
            if !plan.stream || !(200..300).contains(&so_far.status) || !reply::is_stream(so_far) {
                return ControlFlow::Continue(());
            }
            let text = events.push(&so_far.body[read..]);
            read = so_far.body.len();
            if !text.is_empty() {
                watch.text(&text, events.model());
            }
            if events.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let sent = http::send_watched(METHOD, url, &headers, request.body.as_bytes(), left, MAX_RESPONSE, see);
        let wait = match sent {
            Err(failure) if failure.timed_out => return no(timed_out(plan)),
            Err(failure) if failure.unsent && !last => backoff(attempt),
            Err(failure) => return no(failure.message),
            Ok(response) if (200..300).contains(&response.status) => return reply::read(plan, &response),
            Ok(response) if (300..400).contains(&response.status) => return no(redirected(plan, &response)),
            Ok(response) => {
                let other = shape.instead(|name| reply::refuses(&response, name));
                let other = other.filter(|other| plan.provider == Provider::Openai && !last && !forms.contains(other));
                if let Some(other) = other {
                    shape = other;
                    forms.push(shape);
                    request = Request::new(plan, prompt, shape);
                    Duration::ZERO
                } else if last || !is_worth_another(&response) {
                    return no(reply::http_error(plan, &response));
                } else {
                    let wait = retry_after(&response, SystemTime::now()).unwrap_or(backoff(attempt));
                    if wait >= budget.left() {
                        let error = reply::http_error(plan, &response);
                        return no(format!("{error}; the server asks to wait longer than the time-out leaves"));
                    }
                    wait
                }
            }
        };
        std::thread::sleep(wait.min(budget.left()));
        attempt += 1;
    }
}

fn redirected(plan: &Plan, response: &Response) -> String {
    let to = response.redirect_host().map(|host| super::clean::one_line(&host, 100)).filter(|host| !host.is_empty());
    let to = to.map_or_else(|| "another place of the same server".to_string(), |host| format!("host {host}"));
    format!(
        "{} answered {} with a redirect to {to}, which is not followed; the key goes to the configured endpoint or nowhere",
        plan.provider, response.status
    )
}

fn backoff(attempt: u32) -> Duration {
    Duration::from_millis(500 << attempt.min(4))
}

fn is_worth_another(response: &Response) -> bool {
    let worth = matches!(response.status, 408 | 429 | 500..=599);
    let told_not_to = response.header("x-should-retry").is_some_and(|word| word.eq_ignore_ascii_case("false"));
    worth && !told_not_to && !(response.status == 429 && reply::is_out_of_credit(response))
}

/// How long the server asks to wait: `retry-after-ms`, or `retry-after` as seconds or as a date. Anything that is no time is
/// no wish.
fn retry_after(response: &Response, now: SystemTime) -> Option<Duration> {
    let seconds = |text: &str, scale: f64| {
        let number: f64 = text.trim().parse().ok()?;
        let sane = number.is_finite() && number >= 0.0;
        // A number beyond the largest duration is a long time, not none.
        sane.then(|| Duration::try_from_secs_f64(number * scale).unwrap_or(Duration::MAX))
    };
    if let Some(wait) = response.header("retry-after-ms").and_then(|text| seconds(text, 1e-3)) {
        return Some(wait);
    }
    let text = response.header("retry-after")?;
    seconds(text, 1.0).or_else(|| {
        let at = UNIX_EPOCH + Duration::from_secs(http_date(text)?);
        Some(at.duration_since(now).unwrap_or(Duration::ZERO))
    })
}

/// Seconds since 1970 of `Wed, 21 Oct 2037 07:28:00 GMT` (RFC 9110, section 5.6.7, the form that senders must write).
fn http_date(text: &str) -> Option<u64> {
    let (_, rest) = text.trim().split_once(", ")?;
    let mut parts = rest.split(' ');
    let day: u64 = parts.next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let name = parts.next()?;
    let month = names.iter().position(|known| *known == name)? as u64 + 1;
    let year: u64 = parts.next()?.parse().ok().filter(|year| (1970..=9999).contains(year))?;
    let mut time = parts.next()?.split(':').map(|part| part.parse::<u64>().ok().filter(|n| *n < 61));
    let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
    (parts.next() == Some("GMT")).then_some(())?;
    // Days before a date in the proleptic Gregorian calendar, with the year beginning in March.
    let (y, m) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1;
    Some((days - 719_468) * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(name: &str, value: &str) -> Option<Duration> {
        let response = Response { status: 429, headers: vec![(name.into(), value.into())], body: vec![] };
        retry_after(&response, UNIX_EPOCH + Duration::from_secs(1_000_000_000))
    }

    #[test]
    fn every_spelling_of_retry_after_is_a_time_or_no_wish() {
        let seconds = Duration::from_secs;
        assert_eq!(asks("retry-after", "3"), Some(seconds(3)));
        assert_eq!(asks("retry-after", "0.25"), Some(Duration::from_millis(250)));
        assert_eq!(asks("retry-after-ms", "1500"), Some(Duration::from_millis(1500)));
        assert_eq!(asks("retry-after", "99999999999999999999999999"), Some(Duration::MAX));
        for text in ["-1", "NaN", "inf", "soon", "", "1e400", "Wed, 99 Oct 2037 07:28:00 GMT", "Wed, 21 Oct 2037"] {
            assert_eq!(asks("retry-after", text), None, "{text}");
        }
        assert_eq!(asks("retry-after", "Sun, 09 Sep 2001 01:46:45 GMT"), Some(seconds(5)));
        assert_eq!(asks("retry-after", "Sun, 09 Sep 2001 01:46:35 GMT"), Some(Duration::ZERO));
        assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(http_date("Wed, 21 Oct 2037 07:28:00 GMT"), Some(2_139_722_880));
    }
}
