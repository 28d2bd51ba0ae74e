//! A whole reply to a caller, and what its pieces share with a streamed one.

use serde_json::{Map, Value, json};

use super::{media, seal, usage as wire_usage};
use crate::{
    dialect::Dialect,
    format::ReplyHead,
    json as text,
    model::{Content, Finish, Reply, Seal, Thinking},
    raw::Raw,
    usage::Usage,
};

pub(super) fn whole(head: &ReplyHead, reply: &Reply) -> Vec<u8> {
    let mut parts = Vec::new();
    let mut candidate = Map::new();
    for (at, part) in reply.parts.iter().enumerate() {
        match &part.content {
            Content::Text(text) | Content::Refusal(text) => parts.push(json!({ "text": text })),
            Content::Thinking(Thinking { text, signature }) => {
                let mut part = json!({ "text": text });
                if !text.is_empty() {
                    part["thought"] = json!(true);
                }
                if let Some(seal) = signature {
                    part["thoughtSignature"] = json!(seal::to_caller(seal));
                }
                parts.push(part);
            }
            Content::Redacted { seal, id } => parts.push(redacted(seal, id.as_deref())),
            // A call that was cut off has no form here.
            Content::ToolCall(_) if reply.is_cut_call(at) => {}
            Content::ToolCall(call) => {
                parts.push(function_call(&call.id, &call.name, &call.arguments, call.signature.as_ref()));
            }
            Content::Image(image) => parts.extend(media::part(&image.source, "image/png", None)),
            Content::Vendor { dialect, kind, raw } if *dialect == Dialect::Gemini => {
                if is_metadata(kind) {
                    candidate.insert(kind.clone(), raw.value());
                } else {
                    parts.push(raw.value());
                }
            }
            _ => {}
        }
    }
    if parts.is_empty() {
        parts.push(json!({ "text": "" }));
    }
    let mut fields = chunk(parts);
    if let Some(Value::Object(first)) = fields.pointer_mut("/candidates/0") {
        first.insert("finishReason".to_owned(), json!(finish_word(reply.finish.unwrap_or(Finish::Stop))));
        first.insert("index".to_owned(), json!(0));
        first.append(&mut candidate);
    }
    text::to_vec(&closed(fields, head, Some(reply.usage)))
}

/// `{"candidates": [{"content": {"parts": […], "role": "model"}}]}`
pub(super) fn chunk(parts: Vec<Value>) -> Value {
    json!({ "candidates": [{ "content": { "parts": parts, "role": "model" } }] })
}

/// With what stands at the end of every piece.
pub(super) fn closed(mut fields: Value, head: &ReplyHead, usage: Option<Usage>) -> Value {
    if let Some(usage) = usage {
        fields["usageMetadata"] = wire_usage::write(usage);
    }
    fields["modelVersion"] = json!(head.model);
    fields["responseId"] = json!(head.id);
    fields
}

pub(super) fn function_call(id: &str, name: &str, arguments: &str, signature: Option<&Seal>) -> Value {
    // A free-form tool's input and whatever else is no object go inside one.
    let arguments =
        Raw::new(arguments.to_owned()).map(|raw| raw.value()).filter(Value::is_object).unwrap_or_else(|| {
            if arguments.trim().is_empty() { json!({}) } else { json!({ "input": arguments }) }
        });
    let mut part = json!({ "functionCall": { "id": id, "name": name, "args": arguments } });
    if let Some(seal) = signature {
        part["thoughtSignature"] = json!(seal::to_caller(seal));
    }
    part
}

pub(super) fn redacted(seal: &Seal, id: Option<&str>) -> Value {
    json!({ "text": "", "thought": true, "thoughtSignature": seal::redacted_to_caller(seal, id) })
}

/// What is told of a candidate and is no part of it.
pub(super) fn is_metadata(kind: &str) -> bool {
    matches!(kind, "groundingMetadata" | "citationMetadata" | "urlContextMetadata")
}

pub(super) fn finish_word(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::ToolCalls => "STOP",
        Finish::Length => "MAX_TOKENS",
        Finish::ContentFilter => "SAFETY",
    }
}
