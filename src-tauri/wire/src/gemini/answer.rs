//! One JSON value of a reply, a stream's chunk, a whole reply or a list of chunks, into events.

use serde_json::Value;

use super::usage as wire_usage;
use crate::{
    dialect::Dialect,
    error::{Class, UpstreamError},
    failure,
    model::{CallKind, CallStart, Event, Finish, Seal},
    reading::{self, Framing, Step, Written},
    usage::Usage,
};

#[derive(Default)]
pub(super) struct Answer {
    model: String,
    usage: Usage,
    begun: bool,
    calls: usize,
    finish: Option<Finish>,
    /// The candidate that is followed: a reply of several would mix them.
    candidate: Option<u64>,
}

impl reading::Answer for Answer {
    const FRAMING: Framing = Framing::Events;
    const ARGUMENTS: Written =
        Written { holders: &["functionCall", "function_call"], kind: None, name: "args" };

    fn read(&mut self, _event: &str, value: &Value, out: &mut Vec<Event>) -> Result<Step, UpstreamError> {
        self.read_value(value, out).map(|()| Step::GoOn)
    }

    fn piece(&mut self, text: &str, out: &mut Vec<Event>) -> bool {
        self.read_piece(text, out)
    }

    fn has_begun(&self) -> bool {
        self.begun
    }

    fn finish(&self) -> Option<Finish> {
        match self.finish? {
            Finish::Stop if self.calls > 0 => Some(Finish::ToolCalls),
            finish => Some(finish),
        }
    }

    fn inferred(&self) -> Finish {
        if self.calls > 0 { Finish::ToolCalls } else { Finish::Stop }
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
        // Google's own coding tools wrap each chunk.
        let value = value.get("response").filter(|inner| inner.is_object()).unwrap_or(value);
        self.tell_model(field(value, "modelVersion").and_then(Value::as_str).unwrap_or_default(), out);
        // Before the candidates: one of them may end the turn with an error.
        if let Some(counts) = field(value, "usageMetadata") {
            self.count(counts, out);
        }
        let blocked = field(value, "promptFeedback").and_then(|feedback| field(feedback, "blockReason"));
        if blocked.is_some_and(Value::is_string) {
            self.begun = true;
            self.end(Finish::ContentFilter);
        }
        let candidates = value.get("candidates").and_then(Value::as_array).map(Vec::as_slice);
        for candidate in candidates.unwrap_or_default() {
            self.read_candidate(candidate, out)?;
        }
        Ok(())
    }

    pub(super) fn tell_model(&mut self, model: &str, out: &mut Vec<Event>) {
        if !model.is_empty() && model != self.model {
            model.clone_into(&mut self.model);
            out.push(Event::Model(model.to_owned()));
        }
    }

    pub(super) fn count(&mut self, counts: &Value, out: &mut Vec<Event>) {
        if !counts.is_object() {
            return;
        }
        let mut usage = self.usage;
        usage.update(wire_usage::read(counts));
        if usage != self.usage {
            self.usage = usage;
            out.push(Event::Usage(usage));
        }
    }

    /// A candidate begins: whether it is the one that is followed.
    pub(super) fn follows(&mut self, index: Option<u64>) -> bool {
        self.begun = true;
        let index = index.unwrap_or(0);
        *self.candidate.get_or_insert(index) == index
    }

    fn read_candidate(&mut self, candidate: &Value, out: &mut Vec<Event>) -> Result<(), UpstreamError> {
        if !self.follows(candidate.get("index").and_then(Value::as_u64)) {
            return Ok(());
        }
        let parts = candidate.pointer("/content/parts").and_then(Value::as_array).map(Vec::as_slice);
        for part in parts.unwrap_or_default() {
            self.read_part(part, out);
        }
        for name in ["groundingMetadata", "citationMetadata", "urlContextMetadata"] {
            let metadata = field(candidate, name).and_then(Value::as_object).filter(|told| !told.is_empty());
            if let Some(metadata) = metadata {
                let raw = (&Value::Object(metadata.clone())).into();
                out.push(Event::Vendor { dialect: Dialect::Gemini, kind: name.to_owned(), raw });
            }
        }
        match field(candidate, "finishReason").and_then(Value::as_str) {
            None | Some("" | "FINISH_REASON_UNSPECIFIED") => Ok(()),
            Some(reason) => {
                let said = field(candidate, "finishMessage").and_then(Value::as_str);
                self.end(finish_of(reason, said)?);
                Ok(())
            }
        }
    }

    fn end(&mut self, finish: Finish) {
        self.finish = Some(self.finish.map_or(finish, |known| known.or_heavier(finish)));
    }

    fn read_part(&mut self, part: &Value, out: &mut Vec<Event>) {
        let signature = field(part, "thoughtSignature").and_then(Value::as_str);
        let signature = signature.filter(|text| !text.is_empty()).map(Seal::new);
        if let Some(call) = field(part, "functionCall").filter(|call| call.is_object()) {
            return self.read_call(call, signature, out);
        }
        if let Some(text) = part.get("text").and_then(Value::as_str) {
            let is_thought = part.get("thought").and_then(Value::as_bool).unwrap_or_default();
            if !text.is_empty() {
                let text = text.to_owned();
                out.push(if is_thought { Event::Thinking(text) } else { Event::Text(text) });
            }
        } else if let Some(data) = field(part, "inlineData") {
            let string = |name| field(data, name).and_then(Value::as_str).filter(|text| !text.is_empty());
            match (string("mimeType"), string("data")) {
                (Some(kind), Some(data)) if kind.starts_with("image/") => {
                    out.push(Event::Image { media_type: kind.to_owned(), data: data.to_owned() });
                }
                _ => out.push(vendor("inlineData", part)),
            }
        } else if let Some(kind) = part.as_object().and_then(kind) {
            out.push(vendor(&kind, part));
        }
        // After the part: alone it signs what stands beside it.
        out.extend(signature.map(Event::ThinkingSignature));
    }

    /// A call is whole at once.
    fn read_call(&mut self, call: &Value, signature: Option<Seal>, out: &mut Vec<Event>) {
        let string = |name: &str| call.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let name = string("name");
        if name.is_empty() {
            out.extend(signature.map(Event::ThinkingSignature));
            return;
        }
        let index = self.calls;
        self.calls += 1;
        out.push(Event::CallStart(CallStart {
            index,
            id: string("id"),
            name,
            namespace: None,
            kind: CallKind::Function,
            signature,
        }));
        let arguments = match call.get("args") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(arguments) => arguments.to_string(),
        };
        if !arguments.is_empty() {
            out.push(Event::CallArguments { index, delta: arguments });
        }
        out.push(Event::CallEnd { index });
    }
}

fn field<'v>(value: &'v Value, camel: &str) -> Option<&'v Value> {
    value.get(camel).or_else(|| value.get(super::spelling::snake(camel)))
}

fn vendor(kind: &str, part: &Value) -> Event {
    Event::Vendor { dialect: Dialect::Gemini, kind: kind.to_owned(), raw: part.into() }
}

/// What a part is, by the first field that is not about another.
fn kind(part: &serde_json::Map<String, Value>) -> Option<String> {
    let kinds = part.keys().map(|name| super::spelling::camel(name));
    kinds.into_iter().find(|name| !matches!(name.as_str(), "thought" | "thoughtSignature" | "videoMetadata"))
}

fn finish_of(reason: &str, said: Option<&str>) -> Result<Finish, UpstreamError> {
    Ok(match reason {
        "MAX_TOKENS" => Finish::Length,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION"
        | "MODEL_ARMOR" => Finish::ContentFilter,
        "MALFORMED_FUNCTION_CALL"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MALFORMED_RESPONSE"
        | "MISSING_THOUGHT_SIGNATURE" => {
            let words = said.map_or_else(|| reason.to_owned(), |said| format!("{reason}: {said}"));
            let words = format!("the provider ended the answer with {words}");
            return Err(failure::fault(Class::Other, crate::redact::redact(&words)));
        }
        _ => Finish::Stop,
    })
}
