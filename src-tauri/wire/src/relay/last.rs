//! How a relayed chat stream ends: with a chunk of ours before the end mark, and without the count of tokens that only
//! the gateway asked for.

use std::borrow::Cow;

use memchr::memmem::Finder;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::Value;

use super::plain::says;
use crate::{model::Request, sse};

const DONE: &str = "[DONE]";

pub(super) struct Last {
    model: String,
    /// The caller asked for the chunk of usage.
    usage: bool,
    /// What every chunk of the stream repeats, once one has come.
    head: Option<Head>,
    /// The end mark has come: nothing goes on after it.
    done: bool,
    /// A blank line closed what went on last.
    closed: bool,
    mark: Finder<'static>,
    counts: Finder<'static>,
}

/// As the member's own chunks have it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Head {
    id: Value,
    object: Value,
    created: Value,
}

impl Last {
    pub fn new(request: &Request) -> Self {
        Last {
            model: request.model.clone(),
            usage: request.include_usage,
            head: None,
            done: false,
            closed: true,
            mark: Finder::new(DONE),
            counts: Finder::new("\"usage\""),
        }
    }

    /// What of an event goes on now.
    pub fn goes_on<'e>(&mut self, event: &'e [u8]) -> Option<Cow<'e, [u8]>> {
        if self.done {
            return None;
        }
        let event = self.without_mark(event)?;
        if self.head.is_none() {
            self.head = data(&event).and_then(|data| serde_json::from_str(data).ok());
        }
        let is_unasked = !self.usage && says(&event, &self.counts) && is_usage(&event);
        (!is_unasked).then_some(event)
    }

    /// What went on last was broken off.
    pub fn leave_open(&mut self) {
        self.closed = false;
    }

    /// A chunk that has no choices and carries `bench`, then the end mark.
    pub fn write(&self, bench: Option<&Value>) -> Vec<u8> {
        #[derive(Serialize)]
        struct Chunk<'a> {
            #[serde(skip_serializing_if = "Value::is_null")]
            id: &'a Value,
            #[serde(skip_serializing_if = "Value::is_null")]
            object: &'a Value,
            #[serde(skip_serializing_if = "Value::is_null")]
            created: &'a Value,
            model: &'a str,
            choices: [(); 0],
            bench: &'a Value,
        }
        let mut out = Vec::new();
        if !self.closed {
            out.extend_from_slice(b"\n\n");
        }
        if let Some(bench) = bench {
            let none = Head::default();
            let Head { id, object, created } = self.head.as_ref().unwrap_or(&none);
            let chunk = Chunk { id, object, created, model: &self.model, choices: [], bench };
            sse::write_json(&mut out, None, &chunk);
        }
        sse::write(&mut out, None, DONE);
        out
    }

    /// The event without the end mark, which may stand in an event of its own or have lost the blank line before it.
    fn without_mark<'e>(&mut self, event: &'e [u8]) -> Option<Cow<'e, [u8]>> {
        if self.mark.find(event).is_none() {
            return Some(Cow::Borrowed(event));
        }
        let mut kept = Vec::with_capacity(event.len());
        let mut holds_data = false;
        for line in event.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let told = line.strip_prefix(b"data:");
            if told.is_some_and(|told| told.trim_ascii_start().starts_with(DONE.as_bytes())) {
                self.done = true;
            } else {
                holds_data |= told.is_some();
                kept.extend_from_slice(line);
            }
        }
        match (self.done, holds_data) {
            (false, _) => Some(Cow::Borrowed(event)),
            (true, true) => Some(Cow::Owned(kept)),
            (true, false) => None,
        }
    }
}

/// The event's first line of data.
fn data(event: &[u8]) -> Option<&str> {
    let mut lines = event.split(|byte| matches!(byte, b'\n' | b'\r'));
    let data = lines.find_map(|line| line.strip_prefix(b"data:"))?;
    std::str::from_utf8(data).ok()
}

/// Whether a chunk tells usage and has no choices.
fn is_usage(event: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Chunk {
        #[serde(default)]
        choices: Option<Vec<IgnoredAny>>,
        usage: Option<serde_json::Map<String, Value>>,
    }
    let chunk = data(event).and_then(|data| serde_json::from_str::<Chunk>(data).ok());
    chunk.is_some_and(|chunk| chunk.usage.is_some() && chunk.choices.is_none_or(|choices| choices.is_empty()))
}
