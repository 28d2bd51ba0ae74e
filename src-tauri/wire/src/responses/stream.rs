//! A reply to a caller, event by event.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    reply::{self, item_id},
    seals,
};
use crate::{
    dialect::Dialect,
    error::ApiError,
    format::{EventEncoder, ReplyHead, Silence},
    model::{CallKind, CallStart, Event, Finish},
    sse,
    usage::Usage,
};

/// Writes the API's events: each with its type, its number and the places of what it tells. Every item is added,
/// told and done; calls may be open side by side, words and thoughts one after the other.
pub(super) struct EventWriter {
    head: ReplyHead,
    number: u64,
    has_started: bool,
    /// The items by their place, once they are done.
    output: Vec<Option<Value>>,
    open: Open,
    /// By the call's index.
    calls: Vec<Call>,
    finish: Finish,
    usage: Usage,
    /// What the last event told, once it has.
    reply: Option<Value>,
}

/// The words or thoughts that are being told.
enum Open {
    Nothing,
    Message { place: usize, done: Vec<Value>, part: Option<Part> },
    Reasoning { place: usize, words: String },
}

struct Part {
    is_refusal: bool,
    words: String,
}

struct Call {
    place: usize,
    kind: CallKind,
    item: Value,
    said: String,
    ended: bool,
}

impl EventWriter {
    pub fn new(head: ReplyHead) -> Self {
        EventWriter {
            head,
            number: 0,
            has_started: false,
            output: Vec::new(),
            open: Open::Nothing,
            calls: Vec::new(),
            finish: Finish::Stop,
            usage: Usage::default(),
            reply: None,
        }
    }

    fn start(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.has_started, true) {
            self.progress("response.created", out);
            self.progress("response.in_progress", out);
        }
    }

    fn progress(&mut self, kind: &str, out: &mut Vec<u8>) {
        let response = Value::Object(reply::in_progress(&self.head));
        self.send(kind, json!({ "response": response }), out);
    }

    /// `fields` is an object.
    fn send(&mut self, kind: &str, fields: Value, out: &mut Vec<u8>) {
        let mut event = Map::new();
        event.insert("type".to_owned(), json!(kind));
        event.insert("sequence_number".to_owned(), json!(self.number));
        if let Value::Object(fields) = fields {
            event.extend(fields);
        }
        self.number += 1;
        sse::write_json(out, Some(kind), &event);
    }

    /// The place of a new item.
    fn place(&mut self) -> usize {
        self.output.push(None);
        self.output.len() - 1
    }

    fn added(&mut self, place: usize, item: &Value, out: &mut Vec<u8>) {
        self.send("response.output_item.added", json!({ "output_index": place, "item": item }), out);
    }

    fn done(&mut self, place: usize, item: Value, out: &mut Vec<u8>) {
        self.send("response.output_item.done", json!({ "output_index": place, "item": item }), out);
        self.output[place] = Some(item);
    }

    /// An item that is told whole.
    fn whole(&mut self, prefix: &str, item: impl FnOnce(&str) -> Value, out: &mut Vec<u8>) {
        self.close(out);
        let place = self.place();
        let item = item(&item_id(&self.head, prefix, place));
        self.added(place, &item, out);
        self.done(place, item, out);
    }

    fn say(&mut self, piece: &str, is_refusal: bool, out: &mut Vec<u8>) {
        if piece.is_empty() {
            return;
        }
        self.open_part(is_refusal, out);
        let Open::Message { place, done, part: Some(part) } = &mut self.open else { return };
        part.words.push_str(piece);
        let (place, index) = (*place, done.len());
        let kind = if is_refusal { "response.refusal.delta" } else { "response.output_text.delta" };
        let event = TextDelta {
            kind,
            sequence_number: self.number,
            item_id: item_id(&self.head, "msg", place),
            output_index: place,
            content_index: index,
            delta: piece,
            logprobs: (!is_refusal).then_some([]),
        };
        self.number += 1;
        sse::write_json(out, Some(kind), &event);
    }

    fn open_part(&mut self, is_refusal: bool, out: &mut Vec<u8>) {
        if !matches!(self.open, Open::Message { .. }) {
            self.close(out);
            let place = self.place();
            let item = reply::message(&item_id(&self.head, "msg", place), "in_progress", Vec::new());
            self.added(place, &item, out);
            self.open = Open::Message { place, done: Vec::new(), part: None };
        }
        let Open::Message { part, .. } = &self.open else { return };
        match part {
            Some(part) if part.is_refusal == is_refusal => return,
            Some(_) => self.close_part(out),
            None => {}
        }
        let Open::Message { place, done, part } = &mut self.open else { return };
        *part = Some(Part { is_refusal, words: String::new() });
        let empty = if is_refusal { reply::refusal_part("") } else { reply::text_part("") };
        let id = item_id(&self.head, "msg", *place);
        let fields =
            json!({ "item_id": id, "output_index": *place, "content_index": done.len(), "part": empty });
        self.send("response.content_part.added", fields, out);
    }

    fn close_part(&mut self, out: &mut Vec<u8>) {
        let Open::Message { place, done, part } = &mut self.open else { return };
        let Some(part) = part.take() else { return };
        let (place, index) = (*place, done.len());
        let whole =
            if part.is_refusal { reply::refusal_part(&part.words) } else { reply::text_part(&part.words) };
        done.push(whole.clone());
        let id = item_id(&self.head, "msg", place);
        let mut fields = json!({ "item_id": id, "output_index": place, "content_index": index });
        let kind = if part.is_refusal {
            fields["refusal"] = json!(part.words);
            "response.refusal.done"
        } else {
            fields["text"] = json!(part.words);
            fields["logprobs"] = json!([]);
            "response.output_text.done"
        };
        self.send(kind, fields, out);
        let fields = json!({ "item_id": id, "output_index": place, "content_index": index, "part": whole });
        self.send("response.content_part.done", fields, out);
    }

    fn think(&mut self, piece: &str, out: &mut Vec<u8>) {
        if piece.is_empty() {
            return;
        }
        if !matches!(self.open, Open::Reasoning { .. }) {
            self.close(out);
            let place = self.place();
            let id = item_id(&self.head, "rs", place);
            self.added(place, &reply::reasoning(&id, "", None), out);
            self.summary("response.reasoning_summary_part.added", place, part_of(""), out);
            self.open = Open::Reasoning { place, words: String::new() };
        }
        let Open::Reasoning { place, words } = &mut self.open else { return };
        words.push_str(piece);
        let place = *place;
        self.summary("response.reasoning_summary_text.delta", place, ("delta", json!(piece)), out);
    }

    fn summary(&mut self, kind: &str, place: usize, field: (&str, Value), out: &mut Vec<u8>) {
        let id = item_id(&self.head, "rs", place);
        let mut fields = json!({ "item_id": id, "output_index": place, "summary_index": 0 });
        fields[field.0] = field.1;
        self.send(kind, fields, out);
    }

    /// Ends the thought that is being told with its seal; whether there was one.
    fn seal(&mut self, sealed: Option<String>, out: &mut Vec<u8>) -> bool {
        let Open::Reasoning { place, words } = std::mem::replace(&mut self.open, Open::Nothing) else {
            return false;
        };
        self.summary("response.reasoning_summary_text.done", place, ("text", json!(words)), out);
        self.summary("response.reasoning_summary_part.done", place, part_of(&words), out);
        let item = reply::reasoning(&item_id(&self.head, "rs", place), &words, sealed);
        self.done(place, item, out);
        true
    }

    /// Ends the words or the thought that is being told.
    fn close(&mut self, out: &mut Vec<u8>) {
        self.close_part(out);
        match &mut self.open {
            Open::Nothing => {}
            Open::Reasoning { .. } => {
                self.seal(None, out);
            }
            Open::Message { place, done, .. } => {
                let (place, content) = (*place, std::mem::take(done));
                self.open = Open::Nothing;
                let id = item_id(&self.head, "msg", place);
                // The API's own word for an answer that is cut off in the middle of its last words.
                let status = if reply::cut(self.finish).is_some() { "incomplete" } else { "completed" };
                self.done(place, reply::message(&id, status, content), out);
            }
        }
    }

    fn call(&mut self, start: &CallStart, out: &mut Vec<u8>) {
        self.close(out);
        let place = self.place();
        let id = item_id(&self.head, reply::call_prefix(start.kind), place);
        let mut item = reply::call_item(&id, start.kind, &start.id, &start.name);
        if let Some(namespace) = &start.namespace {
            item["namespace"] = json!(namespace);
        }
        self.added(place, &item, out);
        self.calls.push(Call { place, kind: start.kind, item, said: String::new(), ended: false });
    }

    fn arguments(&mut self, index: usize, delta: &str, out: &mut Vec<u8>) {
        let Some(call) = self.calls.get_mut(index).filter(|call| !call.ended) else { return };
        call.said.push_str(delta);
        let kind = match call.kind {
            CallKind::Function => "response.function_call_arguments.delta",
            CallKind::Custom => "response.custom_tool_call_input.delta",
        };
        let fields = json!({ "item_id": call.item["id"], "output_index": call.place, "delta": delta });
        self.send(kind, fields, out);
    }

    fn end_call(&mut self, index: usize, out: &mut Vec<u8>) {
        let Some(call) = self.calls.get_mut(index).filter(|call| !call.ended) else { return };
        call.ended = true;
        let (place, mut item) = (call.place, call.item.take());
        reply::finish_call(&mut item, call.kind, &call.said);
        let mut fields = json!({ "item_id": item["id"], "output_index": place });
        let kind = match call.kind {
            CallKind::Function => {
                fields["name"] = item["name"].clone();
                fields["arguments"] = json!(call.said);
                "response.function_call_arguments.done"
            }
            CallKind::Custom => {
                fields["input"] = json!(call.said);
                "response.custom_tool_call_input.done"
            }
        };
        self.send(kind, fields, out);
        self.done(place, item, out);
    }

    /// What is whole, in its order: a call that was cut off is none that anyone could carry out.
    fn take_output(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.output).into_iter().flatten().collect()
    }
}

/// Nearly every event is one of these: it is written without building a value.
#[derive(Serialize)]
struct TextDelta<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    sequence_number: u64,
    item_id: String,
    output_index: usize,
    content_index: usize,
    delta: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<[(); 0]>,
}

fn part_of(words: &str) -> (&'static str, Value) {
    ("part", json!({ "type": "summary_text", "text": words }))
}

impl EventEncoder for EventWriter {
    fn event_to(&mut self, event: &Event, out: &mut Vec<u8>) {
        match event {
            Event::Usage(usage) => {
                return self.usage.update(*usage);
            }
            Event::Finish { reason, .. } => {
                self.finish = *reason;
                return;
            }
            Event::Model(_) | Event::Error(_) => return,
            Event::Vendor { dialect, .. } if *dialect != Dialect::Responses => return,
            _ => self.start(out),
        }
        match event {
            Event::Text(piece) => self.say(piece, false, out),
            Event::Refusal(piece) => self.say(piece, true, out),
            Event::Thinking(piece) => self.think(piece, out),
            Event::ThinkingSignature(seal) => {
                let sealed = seals::signature(seal);
                if !self.seal(Some(sealed.clone()), out) {
                    self.whole("rs", |id| reply::reasoning(id, "", Some(sealed)), out);
                }
            }
            Event::Redacted { seal, id: own } => {
                if !self.seal(Some(seal.to_caller()), out) {
                    self.whole("rs", |id| reply::redacted(id, seal, own.as_deref()), out);
                }
            }
            Event::CallStart(start) => self.call(start, out),
            Event::CallArguments { index, delta } => self.arguments(*index, delta, out),
            Event::CallEnd { index } => self.end_call(*index, out),
            Event::Image { media_type, data } => {
                self.whole("ig", |id| reply::image_item(id, media_type, data), out);
            }
            Event::Vendor { raw, .. } => self.whole("", |_| raw.value(), out),
            Event::Usage(_) | Event::Finish { .. } | Event::Model(_) | Event::Error(_) => {}
        }
    }

    /// A client's idle timer may not count comments, but it counts an event.
    fn keep_alive(&mut self, silence: Silence) -> Vec<u8> {
        let mut out = Vec::new();
        match silence {
            Silence::Short => sse::comment(&mut out, "keep-alive"),
            Silence::Long if self.has_started => self.progress("response.in_progress", &mut out),
            Silence::Long => self.start(&mut out),
        }
        out
    }

    fn finish(&mut self, usage: Usage, bench: Option<&Value>) -> Vec<u8> {
        let mut out = Vec::new();
        self.usage.update(usage);
        self.start(&mut out);
        self.close(&mut out);
        let output = self.take_output();
        let response = reply::ended(&self.head, self.finish, output, self.usage, bench);
        let kind =
            if reply::cut(self.finish).is_some() { "response.incomplete" } else { "response.completed" };
        self.send(kind, json!({ "response": response }), &mut out);
        self.reply = Some(response);
        out
    }

    fn take_reply(&mut self) -> Option<Value> {
        self.reply.take()
    }

    fn error(&mut self, error: &ApiError, bench: Option<&Value>) -> Vec<u8> {
        let mut out = Vec::new();
        self.start(&mut out);
        let fields = json!({ "code": error.code, "message": error.message, "param": null });
        self.send("error", fields, &mut out);
        let output = self.take_output();
        let response = reply::failed(&self.head, error, output, bench);
        self.send("response.failed", json!({ "response": response }), &mut out);
        out
    }
}
