//! What may this change break, in a model's words? Sends the prompt to the model that the operator chose and puts what came
//! back in its place.
//!
//! This is the one program with a model key and a connection. It never fails a run: whatever goes wrong is one line
//! `No narration: <reason>` and exit status 0, within the time-out, however the server behaves. What the model says is
//! cleaned, labelled and bounded; it never reaches the verdict.

mod cache;
mod clean;
mod cost;
mod events;
mod exchange;
mod exec;
mod grounding;
mod keeper;
mod live;
mod plan;
mod preview;
mod reply;
mod request;
mod shelf;

use crate::json::Object;
use crate::limits::MAX_NARRATION;
use crate::outcome::Outcome;
use crate::record::{self, BadField};
use crate::stream::{Line, Reader, Tally, Writer};
use crate::text;
use cache::{Cache, Trouble};
pub use cost::{Prices, amount};
use exchange::Budget;
pub use exec::words;
#[cfg(unix)]
pub use keeper::end_group_with_stdin;
use live::{Screen, Watcher};
pub use plan::{DryRun, Key, MAX_NUMBER, Options, Plan, Provider, is_model};
use preview::Glimpse;
use reply::Reply;
use request::{Prompt, Request, Shape};
pub use shelf::{Shelf, Stock};
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// The stage's name in a `warning` record.
const STAGE: &str = "narrate";

/// Why there is no narration. One line, made by us: foreign text in it is cleaned and short, a key is never in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason(String);

impl Reason {
    fn new(text: impl Into<String>) -> Reason {
        Reason(text.into())
    }

    /// The reason alone.
    fn text(&self) -> &str {
        &self.0
    }

    /// The line on stderr.
    pub fn line(&self) -> String {
        format!("No narration: {}", self.0)
    }
}

/// How a person is told what goes on. Both are for stderr; neither fails.
pub trait Console {
    /// A whole line.
    fn line(&mut self, text: &str);
    /// Called about ten times a second while the provider is waited for.
    fn waiting(&mut self) {}
    /// A line of a narration, inert.
    fn said(&mut self, line: &str) {
        let _ = line;
    }
    /// The line that the model is writing, inert; it is shown again, longer, or followed by [`Console::said`].
    fn writing(&mut self, partial: &str) {
        let _ = partial;
    }
}

/// Reads a stream with a prompt at its end, passes everything else on byte for byte, and puts a narration, or a warning, in the
/// prompt's place. With [`Options::dry_run`] it writes the request alone, with [`Options::cost`] what that may cost.
///
/// # Errors
/// Input that is no stream or has no prompt, and output that fails. Nothing that a provider, a network or a variable does.
pub fn run(
    input: impl BufRead,
    output: impl Write,
    options: &Options,
    console: &mut impl Console,
) -> anyhow::Result<Outcome> {
    let (mut reader, mut writer) = (Reader::new(input), Writer::new(output));
    let mut tally = Tally::new();
    let shows = options.dry_run.is_some() || options.cost;
    let mut stage = Stage { options, console, asked: None };
    let (mut empty, mut prompted, mut withheld) = (true, false, None);
    while let Some(line) = reader.next_line()? {
        let kind = if line.is_blank() { "".into() } else { line.kind()? };
        empty &= line.is_blank();
        match &*kind {
            "payload" => {
                prompted = true;
                let payload = Payload::read(&line)?;
                match options.dry_run {
                    format if shows => stage.show(&payload, format, &mut writer)?,
                    _ => {
                        // What is computed is not to wait for what is asked.
                        writer.flush()?;
                        let closed = writer.is_closed();
                        if let Some(record) = stage.narrate(payload, closed) {
                            writer.line(&record)?;
                        }
                    }
                }
                continue;
            }
            "start" => tally.start(&line)?,
            "warning" => {
                let record = line.record()?;
                if record.str("stage").as_deref() == Some("payload") {
                    withheld = record.str("message");
                }
            }
            _ => {}
        }
        if !shows {
            writer.raw(line.text())?;
        }
    }
    match withheld {
        Some(reason) if !prompted => stage.console.line(&Reason::new(reason).line()),
        _ if prompted => {}
        _ if empty => anyhow::bail!("no record came in; the programs before it wrote nothing"),
        _ => anyhow::bail!("no `payload` record came in; put flecto-payload before flecto-narrate"),
    }
    writer.flush()?;
    Ok(Outcome::Clean)
}

/// A `payload` record.
#[derive(Clone, Debug)]
struct Payload {
    prompt: Prompt,
    /// What delimits the data in it.
    mark: String,
    /// The file that it is about, where there is a prompt for each.
    file: Option<String>,
    /// Whether there is anything to ask about.
    empty: bool,
}

impl Payload {
    fn read(line: &Line<'_>) -> anyhow::Result<Payload> {
        let record = line.record()?;
        let text = |field| record.str(field).ok_or(BadField { record: "payload", field });
        let prompt = match (text("system"), text("user")) {
            (Ok(system), Ok(user)) => Prompt { system, user },
            (Err(field), _) | (_, Err(field)) => return Ok(line.fail(field)?),
        };
        let none = |field| record.uint(field) == Some(0);
        let mark = record.str("mark").unwrap_or_default();
        let file = record.str("file");
        Ok(Payload { prompt, mark, file, empty: none("changes") && none("findings") })
    }
}

/// What the worker tells while it works.
enum Event {
    Line(String),
    Glimpse(Glimpse, Option<String>),
    Done(Box<Result<Reply, String>>, bool),
}

struct Stage<'a, C> {
    options: &'a Options,
    console: &'a mut C,
    /// The plan and its time, once something was asked: several prompts share both.
    asked: Option<(Arc<Plan>, Budget)>,
}

impl<C: Console> Stage<'_, C> {
    fn plan(&mut self) -> Result<(Arc<Plan>, Budget), Reason> {
        if let Some((plan, budget)) = &self.asked {
            return Ok((Arc::clone(plan), *budget));
        }
        let plan = Arc::new(Plan::new(self.options)?);
        let budget = Budget::new(plan.timeout);
        self.asked = Some((Arc::clone(&plan), budget));
        Ok((plan, budget))
    }

    /// Writes what would be sent.
    fn show(
        &mut self,
        payload: &Payload,
        format: Option<DryRun>,
        writer: &mut Writer<impl Write>,
    ) -> std::io::Result<()> {
        let request = self.plan().and_then(|(plan, _)| {
            if payload.empty {
                return Err(Reason::new("nothing changed, so nothing would be sent"));
            }
            let request = Request::new(&plan, &payload.prompt, Shape::of(&plan));
            holds_no_key(&plan, &request)?;
            Ok((plan, request))
        });
        match request {
            Err(reason) => self.console.line(&reason.line()),
            Ok((plan, request)) => {
                let tokens = request.tokens();
                if let Err(reason) = within_budget(&plan, &request).and_then(|()| cost::within(&plan, tokens)) {
                    self.console.line(&format!("flecto explain: this request would not be sent: {}", reason.0));
                }
                match format {
                    Some(format) => writer.raw(&request.shown(&plan, format))?,
                    None => writer.line(&text::escape(&estimate(&plan, payload.file.as_deref(), tokens)))?,
                }
            }
        }
        Ok(())
    }

    /// Asks, and gives the record that takes the prompt's place; none where there was nothing to ask.
    fn narrate(&mut self, payload: Payload, closed: bool) -> Option<String> {
        if payload.empty {
            self.console.line(&Reason::new("nothing changed, so no model was asked").line());
            return None;
        }
        let file = payload.file.clone();
        let answered = match closed {
            true => Err(Reason::new("nobody reads it")),
            false => self.plan().and_then(|(plan, budget)| {
                let (user, mark) = (payload.prompt.user.clone(), payload.mark.clone());
                let mut screen = Screen::new(file.clone());
                let answered = self.ask(Arc::clone(&plan), payload, budget, &mut screen);
                let (reply, cached) = answered.inspect_err(|_| screen.break_off(self.console))?;
                let checked = grounding::check(&plan.redact(&reply.text), &user, &mark);
                let said = narration(&plan, &reply, file.as_deref(), checked.as_ref(), cached);
                if plan.stream {
                    screen.complete(&said, self.console);
                }
                Ok(said.record)
            }),
        };
        Some(answered.unwrap_or_else(|reason| {
            let reason = match file {
                Some(file) => Reason::new(format!("{file}: {}", reason.0)),
                None => reason,
            };
            self.console.line(&reason.line());
            record::warning_line(STAGE, &reason.0)
        }))
    }

    /// Lets a thread do everything that can hang, and waits for it no longer than the time-out. The thread is left to itself
    /// then; the process is about to end.
    fn ask(
        &mut self,
        plan: Arc<Plan>,
        payload: Payload,
        budget: Budget,
        screen: &mut Screen,
    ) -> Result<(Reply, bool), Reason> {
        let request = Request::new(&plan, &payload.prompt, Shape::of(&plan));
        holds_no_key(&plan, &request)?;
        within_budget(&plan, &request)?;
        cost::within(&plan, request.tokens())?;
        let (sender, events) = channel();
        let worker = Arc::clone(&plan);
        let spawned = std::thread::Builder::new().name("exchange".into()).spawn(move || {
            let (result, cached) = exchange(&worker, &payload, &request, budget, &sender);
            let _ = sender.send(Event::Done(Box::new(result), cached));
        });
        match spawned {
            Ok(_) => self.follow(&plan, &events, budget, screen),
            Err(_) => Err(Reason::new("this system gives no thread to wait for an answer in")),
        }
    }

    fn follow(
        &mut self,
        plan: &Plan,
        events: &Receiver<Event>,
        budget: Budget,
        screen: &mut Screen,
    ) -> Result<(Reply, bool), Reason> {
        loop {
            let left = budget.left();
            match events.recv_timeout(left.min(Duration::from_millis(100))) {
                Ok(Event::Line(line)) => screen.tell(line, self.console),
                Ok(Event::Glimpse(glimpse, model)) => {
                    let label = label(plan, answered_by(plan, model.as_deref()), false);
                    screen.show(&glimpse, &label, self.console);
                }
                Ok(Event::Done(result, cached)) => return result.map(|reply| (reply, cached)).map_err(Reason),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(Reason(exchange::timed_out(plan))),
                Err(RecvTimeoutError::Timeout) => self.console.waiting(),
                Err(RecvTimeoutError::Disconnected) => return Err(Reason::new("the exchange ended without an answer")),
            }
        }
    }
}

/// Looks in the cache, asks, and keeps the answer. Runs in a thread of its own.
fn exchange(
    plan: &Plan,
    payload: &Payload,
    request: &Request,
    budget: Budget,
    events: &Sender<Event>,
) -> (Result<Reply, String>, bool) {
    let say = |text: String| {
        let _ = events.send(Event::Line(format!("flecto explain: {}", plan.redact(&text))));
    };
    let cache = match plan.cache.then(|| Cache::open(plan)) {
        None | Some(Err(Trouble::NoPlace)) => None,
        Some(Ok(cache)) => {
            let in_one_piece = Request::new(plan, &payload.prompt, Shape::of(plan).in_one_piece());
            let name = cache.name(plan, &in_one_piece);
            Some((cache, name))
        }
        // Asking without it would be billed again with every run, and nobody would know why.
        Some(Err(Trouble::Unusable(reason))) => return (Err(reason), false),
    };
    if let Some((cache, name)) = &cache
        && let Some(reply) = cache.get(name)
    {
        say("the narration comes from the cache; nothing was sent.".into());
        return (Ok(reply), true);
    }
    say(format!(
        "sending the masked semantic diff to {} ({}) at {} — ~{} input tokens (estimated), output capped at {} tokens. \
         Advisory only: this never affects the exit code.",
        plan.provider,
        plan.model,
        plan.target(),
        request.tokens(),
        plan.max_tokens
    ));
    if let Some(prices) = plan.prices {
        say(format!("at most {:.4} by your prices.", prices.most(plan, request.tokens())));
    }
    if let (Some(url), true) = (&plan.url, plan.key.is_some())
        && !url.is_https()
        && !url.is_loopback()
    {
        say(format!("warning: the API key goes to {} over plain http, where others can read it", url.host()));
    }
    let mut watcher = Watcher::new(plan, payload, events);
    let result = exchange::ask(plan, &payload.prompt, request, budget, &mut watcher);
    let usage = result.as_ref().map_or_else(|no| no.usage, |reply| reply.usage);
    if let Some(usage) = usage {
        let thinking = usage.thinking.map_or_else(String::new, |tokens| format!(" ({tokens} of them to think)"));
        let cost =
            plan.prices.map_or_else(String::new, |prices| format!(", {:.4} by your prices", prices.billed(usage)));
        say(format!(
            "{} billed {} input tokens and {} output tokens{thinking}{cost}.",
            plan.provider, usage.input, usage.output
        ));
    } else if result.is_ok() && plan.url.is_some() {
        say(format!("{} did not say how many tokens it billed.", plan.provider));
    }
    let reply = match result {
        Ok(reply) => reply,
        Err(no) => return (Err(no.reason), false),
    };
    if let (Some((cache, name)), None, None) = (&cache, &reply.cut, &reply.note)
        && let Err(error) = cache.put(name, &reply)
    {
        say(format!("the narration could not be kept in the cache ({})", error.kind()));
    }
    (Ok(reply), false)
}

/// A value of the diff can be the API key itself. Then it is not sent, not even to those who know it.
fn holds_no_key(plan: &Plan, request: &Request) -> Result<(), Reason> {
    let telling = plan.key.as_ref().is_some_and(|key| key.secret.len() >= 8);
    if !telling || plan.redact(&request.body) == request.body {
        return Ok(());
    }
    Err(Reason::new("the diff holds the API key itself; nothing was sent"))
}

/// A request is sent whole or not at all (C2).
fn within_budget(plan: &Plan, request: &Request) -> Result<(), Reason> {
    let tokens = request.tokens();
    if tokens <= plan.max_input_tokens {
        return Ok(());
    }
    Err(Reason::new(format!(
        "the request is estimated at {tokens} input tokens, above the limit of {}; ask with --by file, narrate fewer \
         files at once, or raise FLECTO_EXPLAIN_MAX_INPUT_TOKENS",
        plan.max_input_tokens
    )))
}

/// What `--cost` says of a request.
fn estimate(plan: &Plan, file: Option<&str>, tokens: u64) -> String {
    let cost = match plan.prices {
        Some(prices) => format!("at most {:.4} by your prices", prices.most(plan, tokens)),
        None => "cost unknown: FLECTO_EXPLAIN_PRICE_INPUT and FLECTO_EXPLAIN_PRICE_OUTPUT are not set".to_string(),
    };
    let about = file.map_or_else(String::new, |file| format!("{file}: "));
    format!(
        "{about}{} ({}): ~{tokens} input tokens (estimated), at most {} output tokens; {cost}",
        plan.provider, plan.model, plan.max_tokens
    )
}

/// The line that stands before model text (E5).
fn label(plan: &Plan, answered_by: Option<&str>, cached: bool) -> String {
    let answered = answered_by.map_or_else(String::new, |model| format!(", answered by {model}"));
    let cached = if cached { ", cached" } else { "" };
    format!(
        "Model-generated narration ({} {}{answered}{cached}) — advisory, not computed by Flecto, and never part of the exit code",
        plan.provider, plan.model
    )
}

/// The model that answered, where it is not the one that was asked.
fn answered_by<'m>(plan: &Plan, model: Option<&'m str>) -> Option<&'m str> {
    model.filter(|model| !model.is_empty() && !is_same_model(&plan.model, model))
}

/// A narration as it is shown, and the record of it.
struct Said {
    label: String,
    text: String,
    record: String,
}

fn narration(
    plan: &Plan,
    reply: &Reply,
    file: Option<&str>,
    checked: Option<&grounding::Checked>,
    cached: bool,
) -> Said {
    let answered_by = answered_by(plan, reply.model.as_deref());
    let notes = reply.cut.iter().map(|cut| format!("[cut off: {cut}]"));
    let notes: Vec<String> = notes.chain(reply.note.iter().map(|note| format!("[{note}]"))).collect();
    let below = [notes, checked.map(grounding::Checked::summary).unwrap_or_default()].concat();
    let text = checked.map_or_else(|| plan.redact(&reply.text), |checked| checked.text.clone());
    let text = bounded(&text, &below.join("\n"));
    let label = label(plan, answered_by, cached);
    let mut object = Object::new();
    object.str("type", "narration").str("provider", plan.provider.as_str()).str("model", &plan.model);
    object.opt_str("answered_by", answered_by).opt_str("file", file).str("label", &label).str("text", &text);
    object.bool("cached", cached).bool("truncated", reply.cut.is_some());
    object.opt_raw("usage", reply.usage.map(reply::Usage::to_json).as_deref());
    object.opt_raw("grounding", checked.map(grounding::Checked::to_json).as_deref());
    Said { label, text, record: object.finish() }
}

/// The text and what stands below it, within the bound, saying so where it was cut (R2).
fn bounded(text: &str, below: &str) -> String {
    let below = if below.is_empty() { String::new() } else { format!("\n\n{below}") };
    if text.chars().count() + below.chars().count() <= MAX_NARRATION {
        return format!("{text}{below}");
    }
    let notice = format!("\n\n[cut here by flecto: a narration is at most {MAX_NARRATION} characters]");
    let room = MAX_NARRATION.saturating_sub(below.chars().count() + notice.chars().count());
    let end = text.char_indices().nth(room).map_or(text.len(), |(at, _)| at);
    format!("{}{notice}{below}", &text[..end])
}

/// Whether a served model is the asked one: itself, or the dated release that its name stands for.
fn is_same_model(asked: &str, served: &str) -> bool {
    let Some(rest) = served.strip_prefix(asked) else { return false };
    let date = rest.strip_prefix(['-', '@', ':']).unwrap_or("x");
    rest.is_empty() || date.len() >= 6 && date.bytes().all(|b| b.is_ascii_digit() || b == b'-')
}
