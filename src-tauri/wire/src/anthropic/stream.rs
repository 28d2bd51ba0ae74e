//! A reply to a caller, event by event: one block open at a time, indices dense from 0.

use std::collections::VecDeque;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    error,
    reply::{NO_IMAGE, message, stop_reason},
    usage as wire_usage,
};
use crate::{
    custom,
    dialect::Dialect,
    error::ApiError,
    format::{EventEncoder, ReplyHead, Silence},
    model::{CallKind, CallStart, Event, Finish},
    raw::Raw,
    sse,
    usage::Usage,
};

pub(super) struct EventWriter {
    head: ReplyHead,
    started: bool,
    /// The index of the next block.
    next: usize,
    open: Open,
    /// The call whose block is open, or the last that was.
    call: Call,
    /// What was said while a call's block was open and its arguments had not all come, in order.
    held: VecDeque<Event>,
    has_calls: bool,
    refused: bool,
    finish: Finish,
    usage: Usage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Text,
    Thinking,
    Call,
}

#[derive(Default)]
struct Call {
    /// Ours, counting calls only.
    index: usize,
    kind: CallKind,
    arguments: String,
}

impl EventWriter {
    pub fn new(head: ReplyHead) -> Self {
        EventWriter {
            head,
            started: false,
            next: 0,
            open: Open::Nothing,
            call: Call::default(),
            held: VecDeque::new(),
            has_calls: false,
            refused: false,
            finish: Finish::Stop,
            usage: Usage::default(),
        }
    }

    fn start(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        let mut message = message(&self.head);
        let usage = Usage { input: self.head.input_tokens, ..Usage::default() };
        message.insert("usage".to_owned(), wire_usage::write(usage));
        write(out, "message_start", json!({ "message": message }));
    }

    /// Writes what can be written now; what belongs after an open call is held.
    fn say(&mut self, event: &Event, out: &mut Vec<u8>) {
        if self.open == Open::Call {
            match event {
                Event::CallArguments { index, delta } if *index == self.call.index => {
                    return self.arguments(delta, out);
                }
                Event::CallEnd { index } if *index == self.call.index => {
                    self.close(out);
                    return self.release(out);
                }
                // A call whose block was ended because it was whole.
                Event::CallEnd { index } if *index < self.call.index => return,
                // Nothing can be added to a whole object.
                _ if self.held.is_empty() && is_object(&self.call.arguments) => self.close(out),
                _ => return self.held.push_back(event.clone()),
            }
        }
        match event {
            Event::Text(piece) => self.text_piece(piece, out),
            Event::Refusal(piece) => {
                self.refused = true;
                self.text_piece(piece, out);
            }
            Event::Image { .. } => {
                self.close(out);
                self.text_piece(NO_IMAGE, out);
                self.close(out);
            }
            Event::Thinking(piece) => {
                self.thinking(out);
                self.delta(Delta::Thinking { thinking: piece }, out);
            }
            Event::ThinkingSignature(seal) => {
                self.thinking(out);
                self.delta(Delta::Signature { signature: seal.to_caller() }, out);
                self.close(out);
            }
            Event::Redacted { seal, .. } => {
                self.block(json!({ "type": "redacted_thinking", "data": seal.to_caller() }), out);
            }
            Event::CallStart(start) => self.call(start, out),
            Event::Vendor { dialect: Dialect::Anthropic, kind, raw } => {
                if kind != "citation" {
                    self.block(raw.value(), out);
                } else if self.open == Open::Text {
                    self.delta(Delta::Citation { citation: raw }, out);
                }
            }
            _ => {}
        }
    }

    /// A call's block has ended: what was held goes on, up to the next call that is still open.
    fn release(&mut self, out: &mut Vec<u8>) {
        for event in std::mem::take(&mut self.held) {
            self.say(&event, out);
        }
    }

    fn text_piece(&mut self, piece: &str, out: &mut Vec<u8>) {
        if piece.is_empty() {
            return;
        }
        if self.open != Open::Text {
            self.open(Open::Text, json!({ "type": "text", "text": "" }), out);
        }
        self.delta(Delta::Text { text: piece }, out);
    }

    fn thinking(&mut self, out: &mut Vec<u8>) {
        if self.open != Open::Thinking {
            self.open(Open::Thinking, json!({ "type": "thinking", "thinking": "", "signature": "" }), out);
        }
    }

    fn call(&mut self, start: &CallStart, out: &mut Vec<u8>) {
        let block = json!({ "type": "tool_use", "id": start.id, "name": start.name, "input": {} });
        self.open(Open::Call, block, out);
        self.has_calls = true;
        self.call = Call { index: start.index, kind: start.kind, arguments: String::new() };
    }

    fn arguments(&mut self, delta: &str, out: &mut Vec<u8>) {
        self.call.arguments.push_str(delta);
        // A free-form input is no JSON before it is whole.
        if self.call.kind == CallKind::Function && !delta.is_empty() {
            self.delta(Delta::Input { partial_json: delta }, out);
        }
    }

    /// A whole block at once.
    fn block(&mut self, block: Value, out: &mut Vec<u8>) {
        self.open(Open::Thinking, block, out);
        self.close(out);
    }

    fn open(&mut self, kind: Open, block: Value, out: &mut Vec<u8>) {
        self.start(out);
        self.close(out);
        write(out, "content_block_start", json!({ "index": self.next, "content_block": block }));
        self.open = kind;
    }

    /// Nearly every event is one of these: it is written without building a value.
    fn delta(&mut self, delta: Delta<'_>, out: &mut Vec<u8>) {
        const KIND: &str = "content_block_delta";
        sse::write_json(out, Some(KIND), &BlockDelta { kind: KIND, index: self.next, delta });
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        let arguments = match (self.open, self.call.kind) {
            (Open::Nothing, _) => return,
            (Open::Call, CallKind::Custom) => custom::arguments(&self.call.arguments),
            (Open::Call, CallKind::Function) if self.call.arguments.trim().is_empty() => "{}".to_owned(),
            _ => String::new(),
        };
        if !arguments.is_empty() {
            self.delta(Delta::Input { partial_json: &arguments }, out);
        }
        write(out, "content_block_stop", json!({ "index": self.next }));
        self.open = Open::Nothing;
        self.next += 1;
    }
}

impl EventEncoder for EventWriter {
    fn event_to(&mut self, event: &Event, out: &mut Vec<u8>) {
        match event {
            Event::Usage(usage) => self.usage.update(*usage),
            Event::Finish { reason, .. } => self.finish = *reason,
            Event::Model(_) | Event::Error(_) => {}
            event => self.say(event, out),
        }
    }

    fn keep_alive(&mut self, _silence: Silence) -> Vec<u8> {
        let mut out = Vec::new();
        self.start(&mut out);
        write(&mut out, "ping", json!({}));
        out
    }

    fn finish(&mut self, usage: Usage, bench: Option<&Value>) -> Vec<u8> {
        self.usage.update(usage);
        let mut out = Vec::new();
        self.start(&mut out);
        self.close(&mut out);
        while !self.held.is_empty() {
            // A call that was never ended was cut off: the next one begins all the same.
            self.release(&mut out);
            self.close(&mut out);
        }
        let reason = stop_reason(self.finish, self.has_calls, self.refused);
        let mut usage = wire_usage::write(self.usage);
        // Only what is known goes over the count of the start.
        if self.usage.input.is_none()
            && let Some(fields) = usage.as_object_mut()
        {
            fields.shift_remove("input_tokens");
        }
        let mut last = json!({ "delta": { "stop_reason": reason, "stop_sequence": null }, "usage": usage });
        if let Some(bench) = bench {
            last["bench"] = bench.clone();
        }
        write(&mut out, "message_delta", last);
        write(&mut out, "message_stop", json!({}));
        out
    }

    fn error(&mut self, error: &ApiError, bench: Option<&Value>) -> Vec<u8> {
        let mut out = Vec::new();
        sse::write_json(&mut out, Some("error"), &error::shape(error, None, bench));
        out
    }
}

#[derive(Serialize)]
struct BlockDelta<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    index: usize,
    delta: Delta<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type")]
enum Delta<'a> {
    #[serde(rename = "text_delta")]
    Text { text: &'a str },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: &'a str },
    #[serde(rename = "signature_delta")]
    Signature { signature: String },
    #[serde(rename = "input_json_delta")]
    Input { partial_json: &'a str },
    #[serde(rename = "citations_delta")]
    Citation { citation: &'a Raw },
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(text).is_ok()
}

fn write(out: &mut Vec<u8>, kind: &str, fields: Value) {
    let mut event = Map::new();
    event.insert("type".to_owned(), json!(kind));
    if let Value::Object(fields) = fields {
        event.extend(fields);
    }
    sse::write_json(out, Some(kind), &event);
}
