//! One JSON value of a reply, a stream's chunk or a whole completion, into events; and what must be
//! remembered from one to the next.

use serde_json::Value;

use super::calls::Calls;
use crate::{
    dialect::Dialect,
    error::{Class, UpstreamError},
    failure, json,
    model::{Content, Event, Finish, Seal, Source, Thinking},
    openai::usage as wire_usage,
    reading::{self, Framing, Step, Written},
    usage::Usage,
};

#[derive(Default)]
pub(super) struct Answer {
    model: String,
    usage: Usage,
    /// The choice that is followed: a reply of several would mix them.
    choice: Option<u64>,
    has_choices: bool,
    /// Some text has gone out.
    said: bool,
    calls: Calls,
    finish: Option<Finish>,
    /// A whole message was read, which is its own end mark.
    whole: bool,
}

impl reading::Answer for Answer {
    const FRAMING: Framing = Framing::Events;
    const ARGUMENTS: Written =
        Written { holders: &["function", "function_call"], kind: None, name: "arguments" };

    fn read(&mut self, _event: &str, value: &Value, out: &mut Vec<Event>) -> Result<Step, UpstreamError> {
        self.read_value(value, out).map(|()| Step::GoOn)
    }

    fn piece(&mut self, text: &str, out: &mut Vec<Event>) -> bool {
        self.read_piece(text, out)
    }

    fn has_begun(&self) -> bool {
        self.has_choices
    }

    /// How it ended, once the provider has said so: what weighs most of what it said.
    fn finish(&self) -> Option<Finish> {
        match self.finish? {
            Finish::Stop if self.calls.any() => Some(Finish::ToolCalls),
            finish => Some(finish),
        }
    }

    fn inferred(&self) -> Finish {
        if self.calls.any() { Finish::ToolCalls } else { Finish::Stop }
    }

    fn is_whole(&self) -> bool {
        self.whole
    }

    fn close(&mut self, finish: Finish, out: &mut Vec<Event>) -> Result<(), UpstreamError> {
        self.calls.close(finish, self.finish.is_some() || self.whole, out)
    }
}

impl Answer {
    fn read_value(&mut self, value: &Value, out: &mut Vec<Event>) -> Result<(), UpstreamError> {
        if let Value::Array(values) = value {
            return values.iter().try_for_each(|value| self.read_value(value, out));
        }
        if let Some(error) = failure::inside(value) {
            return Err(error);
        }
        if let Some(model) = value.get("model").and_then(Value::as_str) {
            self.tell_model(model, out);
        }
        let choices = value.get("choices").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for choice in choices {
            self.read_choice(choice, out)?;
        }
        let cached = wire_usage::cached_before(value.get("timings"));
        self.read_usage(value.get("usage"), cached, out);
        self.read_usage(json::at(value, &["x_groq", "usage"]), None, out);
        self.read_usage(choices.first().and_then(|choice| choice.get("usage")), None, out);
        Ok(())
    }

    pub(super) fn tell_model(&mut self, model: &str, out: &mut Vec<Event>) {
        if !model.is_empty() && model != self.model {
            model.clone_into(&mut self.model);
            out.push(Event::Model(model.to_owned()));
        }
    }

    /// A choice begins: whether it is the one that is followed.
    pub(super) fn follows(&mut self, index: Option<u64>) -> bool {
        self.has_choices = true;
        index.is_none_or(|index| *self.choice.get_or_insert(index) == index)
    }

    pub(super) fn say_text(&mut self, text: String, out: &mut Vec<Event>) {
        self.said = true;
        out.push(Event::Text(text));
    }

    fn read_choice(&mut self, choice: &Value, out: &mut Vec<Event>) -> Result<(), UpstreamError> {
        if !self.follows(choice.get("index").and_then(Value::as_u64)) {
            return Ok(());
        }
        if let Some(delta) = choice.get("delta").filter(|delta| !delta.is_null()) {
            self.read_message(delta, out);
        } else if let Some(message) = choice.get("message").filter(|message| !message.is_null()) {
            // Some streams close with the whole message that was already streamed.
            self.whole = true;
            if !self.said && !self.calls.any() {
                self.read_message(message, out);
            }
        } else if let Some(text) = choice.get("text") {
            self.whole |= choice.get("finish_reason").is_some_and(|reason| !reason.is_null());
            self.say(text, out);
        }
        if let Some(error) = failure::inside(choice) {
            return Err(error);
        }
        match choice.get("finish_reason").and_then(Value::as_str) {
            None | Some("") => {}
            Some("error") => {
                return Err(failure::fault(Class::Other, "the provider ended the answer with an error"));
            }
            Some(reason) => {
                let reason = finish_of(reason);
                self.finish = Some(self.finish.map_or(reason, |known| known.or_heavier(reason)));
            }
        }
        Ok(())
    }

    fn read_message(&mut self, message: &Value, out: &mut Vec<Event>) {
        think(message, out);
        if let Some(content) = message.get("content") {
            self.say(content, out);
        }
        if let Some(refusal) = message.get("refusal").and_then(Value::as_str).filter(|text| !text.is_empty())
        {
            self.said = true;
            out.push(Event::Refusal(refusal.to_owned()));
        }
        let list = |name: &str| message.get(name).and_then(Value::as_array).into_iter().flatten();
        for call in list("tool_calls").filter(|call| call.is_object()) {
            self.calls.read(call, out);
        }
        if let Some(call) = message.get("function_call").filter(|call| call.is_object()) {
            self.calls.read(call, out);
        }
        for image in list("images") {
            out.extend(image_of(image));
        }
        for annotation in list("annotations").filter(|annotation| annotation.is_object()) {
            let kind = annotation.get("type").and_then(Value::as_str).unwrap_or("annotation").to_owned();
            out.push(Event::Vendor { dialect: Dialect::Chat, kind, raw: annotation.into() });
        }
    }

    /// Content: a string, a list of strings and parts, or nothing.
    fn say(&mut self, content: &Value, out: &mut Vec<Event>) {
        match content {
            Value::String(text) if !text.is_empty() => self.say_text(text.clone(), out),
            Value::Array(parts) => parts.iter().for_each(|part| self.say_part(part, out)),
            Value::Object(_) => self.say_part(content, out),
            _ => {}
        }
    }

    fn say_part(&mut self, part: &Value, out: &mut Vec<Event>) {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        if !matches!(kind, "thinking" | "reasoning") {
            if part.is_string() {
                self.say(part, out);
            } else if let Some(text) = part.get("text").filter(|text| text.is_string()) {
                self.say(text, out);
            } else if let Some(refusal) = part.get("refusal").and_then(Value::as_str) {
                self.said = true;
                out.push(Event::Refusal(refusal.to_owned()));
            }
            return;
        }
        let thought = part.get("thinking").or_else(|| part.get("text"));
        let pieces = match thought {
            Some(Value::Array(pieces)) => pieces.as_slice(),
            Some(piece) => std::slice::from_ref(piece),
            None => &[],
        };
        for piece in pieces {
            let text = piece.as_str().or_else(|| piece.get("text")?.as_str());
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                out.push(Event::Thinking(text.to_owned()));
            }
        }
    }

    /// Usage in a stream counts from the beginning each time: the last one stands. `cached` is what was told of the
    /// cache beside it.
    fn read_usage(&mut self, value: Option<&Value>, cached: Option<u64>, out: &mut Vec<Event>) {
        let Some(value) = value.filter(|value| value.is_object()) else { return };
        let said = wire_usage::read(value);
        let mut usage = self.usage;
        usage.update(Usage { cache_read: said.cache_read.or(cached), ..said });
        if usage != self.usage {
            self.usage = usage;
            out.push(Event::Usage(usage));
        }
    }
}

/// Reasoning has three spellings; where two stand side by side they say the same. Only the details can hold a
/// signature or a ciphertext.
fn think(message: &Value, out: &mut Vec<Event>) {
    let spelled = ["reasoning_content", "reasoning", "thinking"]
        .iter()
        .find_map(|name| message.get(*name)?.as_str().filter(|text| !text.is_empty()));
    if let Some(text) = spelled {
        out.push(Event::Thinking(text.to_owned()));
    }
    let list = message.get("reasoning_details").and_then(Value::as_array).map(Vec::as_slice);
    for content in details(list.unwrap_or_default(), |text| Seal::new(text)) {
        match content {
            Content::Thinking(Thinking { text, signature }) => {
                if spelled.is_none() && !text.is_empty() {
                    out.push(Event::Thinking(text));
                }
                out.extend(signature.map(Event::ThinkingSignature));
            }
            Content::Redacted { seal, id } => out.push(Event::Redacted { seal, id }),
            _ => {}
        }
    }
}

/// The `reasoning_details` of hubs, as thinking and redacted parts.
pub(super) fn details(list: &[Value], seal: impl Fn(&str) -> Seal) -> Vec<Content> {
    let string = |detail: &Value, name: &str| {
        detail.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    list.iter()
        .filter_map(|detail| {
            if let Some(data) = string(detail, "data") {
                return Some(Content::Redacted { seal: seal(&data), id: string(detail, "id") });
            }
            let text = string(detail, "text").or_else(|| string(detail, "summary"));
            let signature = string(detail, "signature").map(|text| seal(&text));
            (text.is_some() || signature.is_some())
                .then(|| Content::Thinking(Thinking { text: text.unwrap_or_default(), signature }))
        })
        .collect()
}

fn image_of(image: &Value) -> Option<Event> {
    let url = image.pointer("/image_url/url")?.as_str()?;
    match Source::from_url(url.to_owned())? {
        Source::Base64 { media_type, data } => Some(Event::Image { media_type, data }),
        _ => None,
    }
}

fn finish_of(reason: &str) -> Finish {
    match reason.to_ascii_lowercase().as_str() {
        "length" | "max_tokens" | "model_length" => Finish::Length,
        "content_filter" | "safety" | "refusal" | "sensitive" => Finish::ContentFilter,
        "tool_calls" | "tool_use" | "function_call" => Finish::ToolCalls,
        _ => Finish::Stop,
    }
}
