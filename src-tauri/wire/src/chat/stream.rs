//! A reply to a caller, chunk by chunk.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Value, json};

use super::reply::{envelope, finish_word, redacted, signed};
use crate::{
    dialect::Dialect,
    error::ApiError,
    format::{EventEncoder, ReplyHead, Silence},
    model::{CallKind, CallStart, Event, Finish},
    openai::{error, usage as wire_usage},
    sse,
    usage::Usage,
};

const CHUNK: &str = "chat.completion.chunk";

/// Writes `chat.completion.chunk`s. The role is on the first only, the finish reason on its own, usage after
/// it with no choices.
pub(super) struct ChunkWriter {
    head: ReplyHead,
    /// The reply's id in chat's spelling.
    id: String,
    role_sent: bool,
    /// The kind of each call, by its index.
    calls: Vec<CallKind>,
    finish: Finish,
    usage: Usage,
}

impl ChunkWriter {
    pub fn new(head: ReplyHead) -> Self {
        ChunkWriter {
            id: format!("chatcmpl-{}", head.id),
            head,
            role_sent: false,
            calls: Vec::new(),
            finish: Finish::Stop,
            usage: Usage::default(),
        }
    }

    /// Nearly every chunk is one of these: it is written without building a value.
    fn delta(&mut self, name: &'static str, value: impl Serialize, out: &mut Vec<u8>) {
        let has_role = !std::mem::replace(&mut self.role_sent, true);
        let chunk = DeltaChunk {
            id: &self.id,
            object: CHUNK,
            created: self.head.created,
            model: &self.head.model,
            choices: [DeltaChoice { index: 0, delta: Delta { has_role, name, value }, finish_reason: () }],
        };
        sse::write_json(out, None, &chunk);
    }

    fn call(&mut self, start: &CallStart, out: &mut Vec<u8>) {
        self.calls.push(start.kind);
        let mut call = match start.kind {
            CallKind::Function => json!({
                "index": start.index, "id": start.id, "type": "function",
                "function": { "name": start.name, "arguments": "" }
            }),
            CallKind::Custom => json!({
                "index": start.index, "id": start.id, "type": "custom",
                "custom": { "name": start.name, "input": "" }
            }),
        };
        if let Some(seal) = &start.signature {
            call["extra_content"] = json!({ "google": { "thought_signature": seal.to_caller() } });
        }
        self.delta("tool_calls", [call], out);
    }

    fn arguments(&mut self, index: usize, delta: &str, out: &mut Vec<u8>) {
        let call = match self.calls.get(index) {
            Some(CallKind::Custom) => json!({ "index": index, "custom": { "input": delta } }),
            _ => json!({ "index": index, "function": { "arguments": delta } }),
        };
        self.delta("tool_calls", [call], out);
    }

    fn chunk(&self, choices: Value, more: Option<(&str, Value)>) -> Vec<u8> {
        let mut chunk = envelope(&self.head, CHUNK);
        chunk.insert("choices".to_owned(), choices);
        if let Some((name, value)) = more {
            chunk.insert(name.to_owned(), value);
        }
        event(&Value::Object(chunk))
    }
}

impl EventEncoder for ChunkWriter {
    fn event_to(&mut self, event: &Event, out: &mut Vec<u8>) {
        match event {
            Event::Text(piece) => self.delta("content", piece, out),
            Event::Refusal(piece) => self.delta("refusal", piece, out),
            Event::Thinking(piece) => self.delta("reasoning_content", piece, out),
            Event::ThinkingSignature(seal) => self.delta("reasoning_details", [signed(None, seal)], out),
            Event::Redacted { seal, id } => {
                self.delta("reasoning_details", [redacted(seal, id.as_deref())], out);
            }
            Event::CallStart(start) => self.call(start, out),
            Event::CallArguments { index, delta } => self.arguments(*index, delta, out),
            Event::Image { media_type, data } => {
                let url = format!("data:{media_type};base64,{data}");
                self.delta("images", json!([{ "type": "image_url", "image_url": { "url": url } }]), out);
            }
            Event::Vendor { dialect, raw, .. } if *dialect == Dialect::Chat => {
                self.delta("annotations", [raw], out);
            }
            Event::Usage(usage) => self.usage.update(*usage),
            Event::Finish { reason, .. } => self.finish = *reason,
            Event::Vendor { .. } | Event::Model(_) | Event::CallEnd { .. } | Event::Error(_) => {}
        }
    }

    fn keep_alive(&mut self, _silence: Silence) -> Vec<u8> {
        let mut out = Vec::new();
        sse::comment(&mut out, "keep-alive");
        out
    }

    fn finish(&mut self, usage: Usage, bench: Option<&Value>) -> Vec<u8> {
        self.usage.update(usage);
        let mut out = if self.role_sent { Vec::new() } else { self.text("") };
        let reason = finish_word(self.finish, !self.calls.is_empty());
        let choice = json!({ "index": 0, "delta": {}, "finish_reason": reason });
        out.extend(self.chunk(json!([choice]), bench.map(|bench| ("bench", bench.clone()))));
        if self.head.include_usage {
            out.extend(self.chunk(json!([]), Some(("usage", wire_usage::write(self.usage)))));
        }
        sse::write(&mut out, None, "[DONE]");
        out
    }

    fn error(&mut self, error: &ApiError, bench: Option<&Value>) -> Vec<u8> {
        let mut out = event(&error::shape(error, None, bench));
        sse::write(&mut out, None, "[DONE]");
        out
    }
}

/// Members in the order of [`envelope`].
#[derive(Serialize)]
struct DeltaChunk<'a, V> {
    id: &'a str,
    object: &'static str,
    created: i64,
    model: &'a str,
    choices: [DeltaChoice<V>; 1],
}

#[derive(Serialize)]
struct DeltaChoice<V> {
    index: u8,
    delta: Delta<V>,
    /// `null`
    finish_reason: (),
}

struct Delta<V> {
    has_role: bool,
    name: &'static str,
    value: V,
}

impl<V: Serialize> Serialize for Delta<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut delta = serializer.serialize_map(None)?;
        if self.has_role {
            delta.serialize_entry("role", "assistant")?;
        }
        delta.serialize_entry(self.name, &self.value)?;
        delta.end()
    }
}

fn event(value: &impl Serialize) -> Vec<u8> {
    let mut out = Vec::new();
    sse::write_json(&mut out, None, value);
    out
}
