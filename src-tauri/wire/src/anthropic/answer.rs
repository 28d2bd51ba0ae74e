//! One JSON value of a reply, a stream's event or a whole message, into events; and what must be remembered from
//! one to the next.

use serde_json::Value;

use super::{blocks::Blocks, usage::Counts};
use crate::{
    error::UpstreamError,
    failure,
    model::{Event, Finish},
    reading::{self, Framing, Step, Written},
    usage::Usage,
};

#[derive(Default)]
pub(super) struct Answer {
    model: String,
    counts: Counts,
    usage: Usage,
    blocks: Blocks,
    begun: bool,
    finish: Option<Finish>,
    /// A whole message was read, which is its own end mark.
    whole: bool,
}

impl reading::Answer for Answer {
    const FRAMING: Framing = Framing::Events;
    const ARGUMENTS: Written =
        Written { holders: &["content_block", "content"], kind: Some("tool_use"), name: "input" };

    fn is_said_in(event: &str) -> bool {
        event.starts_with("message_") || event.starts_with("content_block_")
    }

    fn read(&mut self, event: &str, value: &Value, out: &mut Vec<Event>) -> Result<Step, UpstreamError> {
        if let Some(error) = failure::inside(value) {
            return Err(error);
        }
        // Some servers name the event in its field only.
        match value.get("type").and_then(Value::as_str).unwrap_or(event) {
            "message_start" => {
                self.begun = true;
                if let Some(message) = value.get("message") {
                    self.head(message, out);
                }
            }
            "content_block_start" => {
                self.begun = true;
                if let Some(block) = value.get("content_block") {
                    self.blocks.start(index(value), block, out)?;
                }
            }
            "content_block_delta" => {
                self.begun = true;
                if let Some(delta) = value.get("delta") {
                    self.blocks.delta(index(value), delta, out);
                }
            }
            "content_block_stop" => self.blocks.stop(index(value), out),
            "message_delta" => {
                self.begun = true;
                self.count(value.get("usage"), out);
                self.reason(value.pointer("/delta/stop_reason"));
            }
            "message_stop" => return Ok(Step::Done),
            "message" => self.message(value, out)?,
            _ => {}
        }
        Ok(Step::GoOn)
    }

    fn piece(&mut self, text: &str, out: &mut Vec<Event>) -> bool {
        self.read_piece(text, out)
    }

    fn has_begun(&self) -> bool {
        self.begun
    }

    fn finish(&self) -> Option<Finish> {
        match self.finish? {
            Finish::Stop if self.blocks.any_call() => Some(Finish::ToolCalls),
            finish => Some(finish),
        }
    }

    fn inferred(&self) -> Finish {
        if self.blocks.any_call() { Finish::ToolCalls } else { Finish::Stop }
    }

    fn is_whole(&self) -> bool {
        self.whole
    }

    fn close(&mut self, finish: Finish, out: &mut Vec<Event>) -> Result<(), UpstreamError> {
        self.blocks.close(finish, self.finish.is_some() || self.whole, out);
        Ok(())
    }
}

impl Answer {
    pub(super) fn begin(&mut self) {
        self.begun = true;
    }

    fn message(&mut self, message: &Value, out: &mut Vec<Event>) -> Result<(), UpstreamError> {
        self.begun = true;
        self.whole = true;
        self.head(message, out);
        match message.get("content") {
            Some(Value::Array(blocks)) => {
                for (at, block) in blocks.iter().enumerate() {
                    self.blocks.start(Some(at as u64), block, out)?;
                    self.blocks.stop(Some(at as u64), out);
                }
            }
            Some(Value::String(text)) if !text.is_empty() => out.push(Event::Text(text.clone())),
            _ => {}
        }
        self.reason(message.get("stop_reason"));
        Ok(())
    }

    fn head(&mut self, message: &Value, out: &mut Vec<Event>) {
        if let Some(model) = message.get("model").and_then(Value::as_str)
            && !model.is_empty()
            && model != self.model
        {
            self.model = model.to_owned();
            out.push(Event::Model(model.to_owned()));
        }
        self.count(message.get("usage"), out);
    }

    fn count(&mut self, usage: Option<&Value>, out: &mut Vec<Event>) {
        let Some(usage) = usage else { return };
        self.counts.update(usage);
        let usage = self.counts.usage();
        if usage != self.usage {
            self.usage = usage;
            out.push(Event::Usage(usage));
        }
    }

    fn reason(&mut self, reason: Option<&Value>) {
        if let Some(reason) = reason.and_then(Value::as_str).filter(|reason| !reason.is_empty()) {
            let reason = finish_of(reason);
            self.finish = Some(self.finish.map_or(reason, |known| known.or_heavier(reason)));
        }
    }
}

fn index(value: &Value) -> Option<u64> {
    value.get("index").and_then(Value::as_u64)
}

fn finish_of(reason: &str) -> Finish {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "refusal" => Finish::ContentFilter,
        "tool_use" => Finish::ToolCalls,
        _ => Finish::Stop,
    }
}
