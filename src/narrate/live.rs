//! How does a narration come onto a terminal? Line by line while it is written, whole in the end, and never a line twice unless
//! its end changed its beginning.

use super::clean;
use super::exchange::Watch;
use super::plan::Plan;
use super::preview::{Glimpse, Preview};
use super::{Console, Event, Payload, Said};
use crate::text;
use std::sync::mpsc::Sender;

/// What of one narration stands on the terminal.
pub(super) struct Screen {
    file: Option<String>,
    label: Option<String>,
    lines: Vec<String>,
    /// What is to be said when the narration is at its end.
    later: Vec<String>,
}

impl Screen {
    pub(super) fn new(file: Option<String>) -> Screen {
        Screen { file, label: None, lines: Vec::new(), later: Vec::new() }
    }

    /// Says something about the exchange: not in the middle of a narration.
    pub(super) fn tell(&mut self, line: String, console: &mut impl Console) {
        match self.label {
            None => console.line(&line),
            Some(_) => self.later.push(line),
        }
    }

    fn head(&mut self, label: &str, console: &mut impl Console) {
        console.said("");
        console.said(&text::escape(label));
        console.said("");
        if let Some(file) = &self.file {
            console.said(&format!("{}:", text::header_name(file)));
            console.said("");
        }
        self.label = Some(label.to_string());
    }

    /// What just came.
    pub(super) fn show(&mut self, glimpse: &Glimpse, label: &str, console: &mut impl Console) {
        if glimpse.lines.is_empty() && glimpse.partial.is_empty() {
            return;
        }
        if self.label.is_none() {
            self.head(label, console);
        }
        glimpse.lines.iter().for_each(|line| console.said(line));
        self.lines.extend_from_slice(&glimpse.lines);
        console.writing(&glimpse.partial);
    }

    /// What is still missing of the narration; all of it, where the end showed that it is not what stands there: another
    /// model took over, or the beginning was a thought.
    pub(super) fn complete(&mut self, said: &Said, console: &mut impl Console) {
        let lines = text::inert_lines(&said.text);
        let mut rest = lines.as_slice();
        match (&self.label, lines.strip_prefix(self.lines.as_slice())) {
            (None, _) => self.head(&said.label, console),
            (Some(label), Some(missing)) if *label == said.label => rest = missing,
            _ => {
                console.said("[its end changes what stands above; this is the narration]");
                self.head(&said.label, console);
            }
        }
        rest.iter().for_each(|line| console.said(line));
        self.later.drain(..).for_each(|line| console.line(&line));
    }

    /// There is no narration after all.
    pub(super) fn break_off(&mut self, console: &mut impl Console) {
        if self.label.is_some() {
            console.said("[what stands above broke off; it is no narration]");
        }
        self.later.drain(..).for_each(|line| console.line(&line));
    }
}

/// Sends what a person may see of an answer that comes.
pub(super) struct Watcher<'a> {
    plan: &'a Plan,
    payload: &'a Payload,
    events: &'a Sender<Event>,
    preview: Preview,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(plan: &'a Plan, payload: &'a Payload, events: &'a Sender<Event>) -> Watcher<'a> {
        Watcher { plan, payload, events, preview: Preview::new() }
    }

    fn look(&mut self, model: Option<&str>) {
        if let Some(glimpse) = self.preview.look(self.plan, &self.payload.prompt.user, &self.payload.mark) {
            let model = model.map(|model| clean::one_line(&self.plan.redact(model), 100));
            let _ = self.events.send(Event::Glimpse(glimpse, model));
        }
    }
}

impl Watch for Watcher<'_> {
    fn text(&mut self, text: &str, model: Option<&str>) {
        self.preview.push(text);
        self.look(model);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        if self.plan.stream {
            self.preview.push_bytes(bytes);
            self.look(None);
        }
    }
}
