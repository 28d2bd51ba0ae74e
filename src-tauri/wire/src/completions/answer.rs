//! One JSON value of a reply in this dialect into events. What callers are written reads back by it.

use serde_json::Value;

use crate::{
    error::UpstreamError,
    failure,
    model::{Event, Finish},
    openai::usage as wire_usage,
    reading::{self, Framing, Step, Written},
};

#[derive(Default)]
pub(super) struct Answer {
    has_model: bool,
    has_choices: bool,
    finish: Option<Finish>,
}

impl reading::Answer for Answer {
    const FRAMING: Framing = Framing::Events;
    const ARGUMENTS: Written = Written::NOWHERE;

    fn read(&mut self, _event: &str, value: &Value, out: &mut Vec<Event>) -> Result<Step, UpstreamError> {
        if let Some(error) = failure::inside(value) {
            return Err(error);
        }
        if let Some(model) = value.get("model").and_then(Value::as_str)
            && !std::mem::replace(&mut self.has_model, true)
        {
            out.push(Event::Model(model.to_owned()));
        }
        if let Some(choice) = value.pointer("/choices/0") {
            self.has_choices = true;
            if let Some(words) = choice.get("text").and_then(Value::as_str).filter(|words| !words.is_empty())
            {
                out.push(Event::Text(words.to_owned()));
            }
            match choice.get("finish_reason").and_then(Value::as_str) {
                None => {}
                Some("length") => self.finish = Some(Finish::Length),
                Some("content_filter") => self.finish = Some(Finish::ContentFilter),
                Some(_) => self.finish = Some(Finish::Stop),
            }
        }
        if let Some(usage) = value.get("usage").filter(|usage| usage.is_object()) {
            out.push(Event::Usage(wire_usage::read(usage)));
        }
        Ok(Step::GoOn)
    }

    fn has_begun(&self) -> bool {
        self.has_choices
    }

    fn finish(&self) -> Option<Finish> {
        self.finish
    }

    fn inferred(&self) -> Finish {
        Finish::Stop
    }
}
