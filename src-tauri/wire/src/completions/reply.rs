//! A reply to a caller, whole or chunk by chunk. There is room for text only.

use serde_json::{Map, Value, json};

use crate::{
    error::ApiError,
    format::{EventEncoder, ReplyHead, Silence},
    json as text,
    model::{Event, Finish, Reply},
    openai::{error, usage as wire_usage},
    sse,
    usage::Usage,
};

pub(super) fn whole(head: &ReplyHead, reply: &Reply, bench: Option<&Value>) -> Vec<u8> {
    let reason = finish_word(reply.finish.unwrap_or(Finish::Stop));
    let mut fields = envelope(head);
    fields.insert("choices".to_owned(), choice(&reply.text(), Some(reason)));
    fields.insert("usage".to_owned(), wire_usage::write(reply.usage));
    if let Some(bench) = bench {
        fields.insert("bench".to_owned(), bench.clone());
    }
    text::to_vec(&fields)
}

fn envelope(head: &ReplyHead) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("id".to_owned(), json!(format!("cmpl-{}", head.id)));
    fields.insert("object".to_owned(), json!("text_completion"));
    fields.insert("created".to_owned(), json!(head.created));
    fields.insert("model".to_owned(), json!(head.model));
    fields
}

fn choice(words: &str, reason: Option<&str>) -> Value {
    json!([{ "text": words, "index": 0, "logprobs": null, "finish_reason": reason }])
}

/// The API knows no calls.
fn finish_word(finish: Finish) -> &'static str {
    match finish {
        Finish::Length => "length",
        Finish::ContentFilter => "content_filter",
        Finish::Stop | Finish::ToolCalls => "stop",
    }
}

/// Writes `text_completion` chunks: the finish reason on its own, usage after it with no choices.
pub(super) struct ChunkWriter {
    head: ReplyHead,
    finish: Finish,
    usage: Usage,
}

impl ChunkWriter {
    pub fn new(head: ReplyHead) -> Self {
        ChunkWriter { head, finish: Finish::Stop, usage: Usage::default() }
    }

    fn chunk(&self, choices: Value, more: Option<(&str, Value)>) -> Vec<u8> {
        let mut chunk = envelope(&self.head);
        chunk.insert("choices".to_owned(), choices);
        if let Some((name, value)) = more {
            chunk.insert(name.to_owned(), value);
        }
        event(&Value::Object(chunk))
    }

    fn tell(&mut self, event: &Event) -> Vec<u8> {
        match event {
            Event::Text(piece) | Event::Refusal(piece) => return self.chunk(choice(piece, None), None),
            Event::Usage(usage) => self.usage.update(*usage),
            Event::Finish { reason, .. } => self.finish = *reason,
            _ => {}
        }
        Vec::new()
    }
}

impl EventEncoder for ChunkWriter {
    fn event_to(&mut self, event: &Event, out: &mut Vec<u8>) {
        out.extend(self.tell(event));
    }

    fn keep_alive(&mut self, _silence: Silence) -> Vec<u8> {
        let mut out = Vec::new();
        sse::comment(&mut out, "keep-alive");
        out
    }

    fn finish(&mut self, usage: Usage, bench: Option<&Value>) -> Vec<u8> {
        self.usage.update(usage);
        let bench = bench.map(|bench| ("bench", bench.clone()));
        let mut out = self.chunk(choice("", Some(finish_word(self.finish))), bench);
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

fn event(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    sse::write_json(&mut out, None, value);
    out
}
