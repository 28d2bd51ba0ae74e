//! One JSON value of a reply, a stream's event or a whole response, into events; and what must be remembered from
//! one to the next.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    calls::{self, Calls},
    item, usage as wire_usage,
};
use crate::{
    error::{Class, UpstreamError},
    failure,
    model::{Event, Finish},
    reading::{self, Framing, Step, Written},
    usage::Usage,
};

#[derive(Default)]
pub(super) struct Answer {
    model: String,
    usage: Usage,
    has_begun: bool,
    calls: Calls,
    said: Said,
    finish: Option<Finish>,
    /// Some item was read: the whole response at the end repeats them all.
    has_items: bool,
}

/// What has been told, so that the events that repeat it whole are not told again.
#[derive(Default)]
pub(super) struct Said {
    /// (place of the item, kind, place of the part).
    parts: BTreeSet<(u64, &'static str, u64)>,
    items: BTreeSet<(u64, &'static str)>,
}

impl Said {
    /// Notes a piece; whether it is the first of its part.
    fn note(&mut self, place: u64, kind: &'static str, part: u64) -> bool {
        self.items.insert((place, kind));
        self.parts.insert((place, kind, part))
    }

    fn any(&self, place: u64, kind: &'static str) -> bool {
        self.items.contains(&(place, kind))
    }
}

impl reading::Answer for Answer {
    const FRAMING: Framing = Framing::Events;
    const ARGUMENTS: Written =
        Written { holders: &["item", "output"], kind: Some("function_call"), name: "arguments" };

    fn is_said_in(event: &str) -> bool {
        event.starts_with("response.")
    }

    fn read(&mut self, event: &str, value: &Value, out: &mut Vec<Event>) -> Result<Step, UpstreamError> {
        if value.get("object").and_then(Value::as_str) == Some("response") && value.get("type").is_none() {
            return self.whole(value, out);
        }
        // Some servers name the event beside the JSON only.
        let kind = value.get("type").and_then(Value::as_str).unwrap_or(event);
        if let Some(error) = failure::inside(value).filter(|_| !kind.starts_with("response.")) {
            return Err(error);
        }
        self.has_begun |= kind.starts_with("response.");
        self.event(kind, value, out)
    }

    fn piece(&mut self, text: &str, out: &mut Vec<Event>) -> bool {
        self.read_piece(text, out)
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn finish(&self) -> Option<Finish> {
        match self.finish? {
            Finish::Stop if self.calls.any() => Some(Finish::ToolCalls),
            finish => Some(finish),
        }
    }

    fn inferred(&self) -> Finish {
        if self.calls.any() { Finish::ToolCalls } else { Finish::Stop }
    }

    fn close(&mut self, finish: Finish, out: &mut Vec<Event>) -> Result<(), UpstreamError> {
        let is_stated = self.finish.is_some();
        self.calls.close(is_stated && matches!(finish, Finish::Stop | Finish::ToolCalls), out);
        Ok(())
    }
}

impl Answer {
    /// Events we do not know are passed over: some servers send private ones.
    fn event(&mut self, kind: &str, value: &Value, out: &mut Vec<Event>) -> Result<Step, UpstreamError> {
        let place = value.get("output_index").and_then(Value::as_u64);
        let at = place.unwrap_or(0);
        let string = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        let part = |name: &str| value.get(name).and_then(Value::as_u64).unwrap_or(0);
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => {
                self.tell_model(response(value), out);
            }
            "response.output_item.added" => {
                if let Some(item) = value.get("item")
                    && let Some(kind) = calls::kind_of(item)
                {
                    self.has_items = true;
                    self.calls.start(kind, place, item, out);
                }
            }
            "response.output_text.delta" => {
                self.say("text", at, part("content_index"), string("delta"), out);
            }
            "response.refusal.delta" => {
                self.say("refusal", at, part("content_index"), string("delta"), out);
            }
            "response.reasoning_summary_text.delta" => {
                self.say("summary", at, part("summary_index"), string("delta"), out);
            }
            "response.reasoning_text.delta" => {
                self.say("reasoning", at, part("content_index"), string("delta"), out);
            }
            "response.output_text.done" => self.all("text", at, part("content_index"), string("text"), out),
            "response.refusal.done" => self.all("refusal", at, part("content_index"), string("refusal"), out),
            "response.reasoning_summary_text.done" => {
                self.all("summary", at, part("summary_index"), string("text"), out);
            }
            "response.reasoning_text.done" => {
                self.all("reasoning", at, part("content_index"), string("text"), out);
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                self.calls.delta(place, string("item_id"), string("delta"), out);
            }
            "response.function_call_arguments.done" => {
                self.calls.all(place, string("item_id"), string("arguments"), out);
            }
            "response.custom_tool_call_input.done" => {
                self.calls.all(place, string("item_id"), string("input"), out);
            }
            "response.output_item.done" => {
                if let Some(item) = value.get("item") {
                    self.item(place, item, out);
                }
            }
            "response.completed"
            | "response.done"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => return self.end(kind, response(value), out),
            "response.error" => return Err(failure::stated(None, value)),
            _ => {}
        }
        Ok(Step::GoOn)
    }

    /// A whole response: its own end mark.
    fn whole(&mut self, value: &Value, out: &mut Vec<Event>) -> Result<Step, UpstreamError> {
        self.has_begun = true;
        let status = value.get("status").and_then(Value::as_str).unwrap_or("completed");
        self.end(&format!("response.{status}"), value, out)
    }

    fn end(&mut self, kind: &str, response: &Value, out: &mut Vec<Event>) -> Result<Step, UpstreamError> {
        if let Some(error) = failure::inside(response) {
            return Err(error);
        }
        let status = response.get("status").and_then(Value::as_str).unwrap_or_default();
        match (kind, status) {
            ("response.failed", _) | (_, "failed") => {
                return Err(failure::fault(Class::Other, "the provider ended the response as failed"));
            }
            ("response.cancelled", _) | (_, "cancelled") => {
                return Err(failure::fault(Class::Other, "the provider cancelled the response"));
            }
            ("response.in_progress" | "response.queued", _) => {
                return Err(failure::fault(
                    Class::Other,
                    "the provider gave a response that is not finished",
                ));
            }
            _ => {}
        }
        self.tell_model(response, out);
        if !self.has_items {
            let items = response.get("output").and_then(Value::as_array).map(Vec::as_slice);
            for (place, item) in items.unwrap_or_default().iter().enumerate() {
                self.item(Some(place as u64), item, out);
            }
        }
        if let Some(value) = response.get("usage").filter(|value| value.is_object()) {
            self.usage.update(wire_usage::read(value));
            out.push(Event::Usage(self.usage));
        }
        let is_cut = kind == "response.incomplete" || status == "incomplete";
        self.finish = Some(match response.pointer("/incomplete_details/reason").and_then(Value::as_str) {
            Some("content_filter") => Finish::ContentFilter,
            Some("max_output_tokens" | "max_tokens") => Finish::Length,
            _ if is_cut => Finish::Length,
            _ => Finish::Stop,
        });
        Ok(Step::Done)
    }

    /// A whole item: what of it was not streamed is told.
    fn item(&mut self, place: Option<u64>, item: &Value, out: &mut Vec<Event>) {
        self.has_items = true;
        if let Some(kind) = calls::kind_of(item) {
            return self.calls.end(kind, place, item, out);
        }
        let at = place.unwrap_or(0);
        for (kind, part, text) in item::texts(item) {
            // The summary stands for the reasoning it sums up.
            if kind != "reasoning" || !self.said.any(at, "summary") {
                self.all(kind, at, part, text, out);
            }
        }
        out.extend(item::opaque(item));
    }

    pub(super) fn begin(&mut self) {
        self.has_begun = true;
    }

    pub(super) fn say(
        &mut self,
        kind: &'static str,
        place: u64,
        part: u64,
        text: &str,
        out: &mut Vec<Event>,
    ) {
        // Servers that stream both say the same twice.
        if text.is_empty() || (kind == "reasoning" && self.said.any(place, "summary")) {
            return;
        }
        self.has_items = true;
        let is_first = self.said.note(place, kind, part);
        match kind {
            "text" => out.push(Event::Text(text.to_owned())),
            "refusal" => out.push(Event::Refusal(text.to_owned())),
            _ => {
                // Parts of a summary are paragraphs.
                if is_first && part > 0 {
                    out.push(Event::Thinking("\n\n".to_owned()));
                }
                out.push(Event::Thinking(text.to_owned()));
            }
        }
    }

    fn all(&mut self, kind: &'static str, place: u64, part: u64, text: &str, out: &mut Vec<Event>) {
        if !self.said.parts.contains(&(place, kind, part)) {
            self.say(kind, place, part, text, out);
        }
    }

    fn tell_model(&mut self, response: &Value, out: &mut Vec<Event>) {
        if let Some(model) = response.get("model").and_then(Value::as_str)
            && !model.is_empty()
            && model != self.model
        {
            self.model = model.to_owned();
            out.push(Event::Model(model.to_owned()));
        }
    }
}

/// Some servers do not wrap it.
fn response(value: &Value) -> &Value {
    value.get("response").filter(|response| response.is_object()).unwrap_or(value)
}
