//! One JSON value of a reply, a stream's line or a whole answer, into events; and what must be remembered from
//! one to the next.

use serde_json::Value;

use crate::{
    error::{Class, UpstreamError},
    failure,
    model::{CallKind, CallStart, Event, Finish, Source},
    reading::{self, Framing, Step, Written},
    usage::Usage,
};

#[derive(Default)]
pub(super) struct Answer {
    model: String,
    usage: Usage,
    begun: bool,
    /// Calls that were streamed: they may stand in a line of their own, long before the end.
    calls: usize,
    /// A call came without a name.
    nameless: bool,
    finish: Option<Finish>,
}

impl reading::Answer for Answer {
    const FRAMING: Framing = Framing::Lines;
    const ARGUMENTS: Written = Written { holders: &["function"], kind: None, name: "arguments" };

    fn read(&mut self, _event: &str, value: &Value, out: &mut Vec<Event>) -> Result<Step, UpstreamError> {
        self.read_value(value, out)
    }

    fn piece(&mut self, text: &str, out: &mut Vec<Event>) -> bool {
        self.read_piece(text, out)
    }

    fn has_begun(&self) -> bool {
        self.begun
    }

    /// A call that was streamed outweighs a plain stop, which is what the dialect says then too.
    fn finish(&self) -> Option<Finish> {
        match self.finish? {
            Finish::Stop if self.calls > 0 => Some(Finish::ToolCalls),
            finish => Some(finish),
        }
    }

    fn inferred(&self) -> Finish {
        if self.calls > 0 { Finish::ToolCalls } else { Finish::Stop }
    }

    fn close(&mut self, finish: Finish, _out: &mut Vec<Event>) -> Result<(), UpstreamError> {
        if self.nameless && self.calls == 0 && matches!(finish, Finish::Stop | Finish::ToolCalls) {
            // Passing this on as a finished turn would stop an agent without a word.
            return Err(failure::fault(Class::Other, "the model called tools without naming any"));
        }
        Ok(())
    }
}

impl Answer {
    fn read_value(&mut self, value: &Value, out: &mut Vec<Event>) -> Result<Step, UpstreamError> {
        if let Value::Array(values) = value {
            for value in values {
                if self.read_value(value, out)? == Step::Done {
                    return Ok(Step::Done);
                }
            }
            return Ok(Step::GoOn);
        }
        if let Some(error) = failure::inside(value) {
            return Err(error);
        }
        if let Some(model) = value.get("model").and_then(Value::as_str) {
            self.tell_model(model, out);
        }
        self.begun |= ["message", "response", "done"].iter().any(|name| value.get(name).is_some());
        // `/api/generate` has the message's fields at the top, and its text under a name of its own.
        let message = value.get("message").filter(|message| message.is_object()).unwrap_or(value);
        self.read_message(message, out);
        self.read_usage(value, out);
        if value.get("done").and_then(Value::as_bool) != Some(true) {
            return Ok(Step::GoOn);
        }
        self.finish = match value.get("done_reason").and_then(Value::as_str) {
            None | Some("") => None,
            Some("error") => {
                return Err(failure::fault(Class::Other, "the provider ended the answer with an error"));
            }
            Some("length" | "max_tokens") => Some(Finish::Length),
            Some("content_filter" | "safety") => Some(Finish::ContentFilter),
            Some("tool_calls") => Some(Finish::ToolCalls),
            Some(_) => Some(Finish::Stop),
        };
        Ok(Step::Done)
    }

    pub(super) fn begin(&mut self) {
        self.begun = true;
    }

    pub(super) fn tell_model(&mut self, model: &str, out: &mut Vec<Event>) {
        if !model.is_empty() && model != self.model {
            model.clone_into(&mut self.model);
            out.push(Event::Model(model.to_owned()));
        }
    }

    fn read_message(&mut self, message: &Value, out: &mut Vec<Event>) {
        let text = |name: &str| message.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        out.extend(text("thinking").map(|text| Event::Thinking(text.to_owned())));
        let said = text("content").or_else(|| text("response"));
        out.extend(said.map(|text| Event::Text(text.to_owned())));
        let list = |name: &str| message.get(name).and_then(Value::as_array).into_iter().flatten();
        for data in list("images").filter_map(Value::as_str).filter(|data| !data.is_empty()) {
            if let Source::Base64 { media_type, data } = Source::image(data.to_owned()) {
                out.push(Event::Image { media_type, data });
            }
        }
        for call in list("tool_calls") {
            self.read_call(call, out);
        }
    }

    /// A call is whole when it comes.
    fn read_call(&mut self, call: &Value, out: &mut Vec<Event>) {
        let function = call.get("function").unwrap_or(call);
        let string = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let Some(name) = string(function, "name").filter(|name| !name.is_empty()) else {
            self.nameless = true;
            return;
        };
        let index = self.calls;
        self.calls += 1;
        out.push(Event::CallStart(CallStart {
            index,
            id: string(call, "id").unwrap_or_default(),
            name,
            namespace: None,
            kind: CallKind::Function,
            signature: None,
        }));
        let arguments = match function.get("arguments") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        if !arguments.is_empty() {
            out.push(Event::CallArguments { index, delta: arguments });
        }
        out.push(Event::CallEnd { index });
    }

    fn read_usage(&mut self, value: &Value, out: &mut Vec<Event>) {
        let count = |name: &str| value.get(name).and_then(Value::as_u64);
        let said =
            Usage { input: count("prompt_eval_count"), output: count("eval_count"), ..Usage::default() };
        let mut usage = self.usage;
        usage.update(said);
        if usage != self.usage {
            self.usage = usage;
            out.push(Event::Usage(usage));
        }
    }
}
