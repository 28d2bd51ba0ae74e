//! A reply to a caller, line by line.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    error,
    reply::{Called, End, Said, line},
};
use crate::{
    error::ApiError,
    format::{EventEncoder, ReplyHead, Silence},
    json,
    model::{CallStart, Event, Finish},
    usage::Usage,
};

/// Writes one JSON value a line. A call goes out whole, in a line of its own before the last, and that one says
/// `stop`, as upstream.
pub(super) struct LineWriter {
    head: ReplyHead,
    /// Calls whose arguments still come, and what has come of them.
    open: BTreeMap<usize, (CallStart, String)>,
    /// How many calls have gone out.
    called: usize,
    finish: Finish,
    usage: Usage,
}

impl LineWriter {
    pub fn new(head: ReplyHead) -> Self {
        LineWriter { head, open: BTreeMap::new(), called: 0, finish: Finish::Stop, usage: Usage::default() }
    }

    fn say(&self, said: &Said) -> Vec<u8> {
        ended(line(&self.head, said, None))
    }

    fn end_call(&mut self, index: usize) -> Vec<u8> {
        let Some((start, arguments)) = self.open.remove(&index) else { return Vec::new() };
        let call = Called::new(self.called, &start.id, &start.name, start.kind, &arguments);
        self.called += 1;
        self.say(&Said { calls: vec![call], ..Said::default() })
    }

    fn tell(&mut self, event: &Event) -> Vec<u8> {
        match event {
            Event::Text(text) | Event::Refusal(text) => {
                self.say(&Said { text: text.clone(), ..Said::default() })
            }
            Event::Thinking(text) => self.say(&Said { thinking: text.clone(), ..Said::default() }),
            Event::Image { data, .. } => self.say(&Said { images: vec![data.clone()], ..Said::default() }),
            Event::CallStart(start) => {
                self.open.insert(start.index, (start.clone(), String::new()));
                Vec::new()
            }
            Event::CallArguments { index, delta } => {
                if let Some((_, arguments)) = self.open.get_mut(index) {
                    arguments.push_str(delta);
                }
                Vec::new()
            }
            Event::CallEnd { index } => self.end_call(*index),
            Event::Usage(usage) => {
                self.usage.update(*usage);
                Vec::new()
            }
            Event::Finish { reason, .. } => {
                self.finish = *reason;
                Vec::new()
            }
            // The dialect has no place for seals, nor for what only another can say.
            Event::ThinkingSignature(_)
            | Event::Redacted { .. }
            | Event::Vendor { .. }
            | Event::Model(_)
            | Event::Error(_) => Vec::new(),
        }
    }
}

impl EventEncoder for LineWriter {
    fn event_to(&mut self, event: &Event, out: &mut Vec<u8>) {
        out.extend(self.tell(event));
    }

    fn keep_alive(&mut self, _silence: Silence) -> Vec<u8> {
        self.say(&Said::default())
    }

    fn finish(&mut self, usage: Usage, bench: Option<&Value>) -> Vec<u8> {
        self.usage.update(usage);
        // What is still open was cut off: half a call is none.
        self.open.clear();
        ended(line(&self.head, &Said::default(), Some(End::new(self.finish, self.usage, bench))))
    }

    fn error(&mut self, error: &ApiError, bench: Option<&Value>) -> Vec<u8> {
        ended(json::to_vec(&error::shape(error, None, bench)))
    }
}

fn ended(mut line: Vec<u8>) -> Vec<u8> {
    line.push(b'\n');
    line
}
