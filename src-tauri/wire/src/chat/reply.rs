//! A whole reply to a caller.

use serde_json::{Map, Value, json};

use crate::{
    dialect::Dialect,
    format::ReplyHead,
    json as text,
    model::{CallKind, Content, Finish, Reply, Seal, ToolCall},
    openai::usage as wire_usage,
};

pub(super) fn whole(head: &ReplyHead, reply: &Reply, bench: Option<&Value>) -> Vec<u8> {
    let mut fields = envelope(head, "chat.completion");
    let has_calls = reply.tool_calls().next().is_some();
    let reason = finish_word(reply.finish.unwrap_or(Finish::Stop), has_calls);
    let message = message(reply);
    let choice = json!({ "index": 0, "message": message, "logprobs": null, "finish_reason": reason });
    fields.insert("choices".to_owned(), json!([choice]));
    fields.insert("usage".to_owned(), wire_usage::write(reply.usage));
    if let Some(bench) = bench {
        fields.insert("bench".to_owned(), bench.clone());
    }
    text::to_vec(&fields)
}

/// Neighbours of one kind are joined: chat has one place for each.
fn message(reply: &Reply) -> Value {
    let (mut said, mut refused, mut thought) = (String::new(), String::new(), String::new());
    let (mut calls, mut details, mut images, mut annotations) = (vec![], vec![], vec![], vec![]);
    for part in &reply.parts {
        match &part.content {
            Content::Text(text) => said.push_str(text),
            Content::Refusal(text) => refused.push_str(text),
            Content::Thinking(thinking) => {
                thought.push_str(&thinking.text);
                details.extend(thinking.signature.as_ref().map(|seal| signed(Some(&thinking.text), seal)));
            }
            Content::Redacted { seal, id } => details.push(redacted(seal, id.as_deref())),
            Content::ToolCall(call) => calls.push(tool_call(call)),
            Content::Image(image) => images.extend(
                image.source.to_url().map(|url| json!({ "type": "image_url", "image_url": { "url": url } })),
            ),
            Content::Vendor { dialect, raw, .. } if *dialect == Dialect::Chat => annotations.push(json!(raw)),
            Content::Vendor { .. } | Content::Document(_) | Content::Audio(_) | Content::ToolResult(_) => {}
        }
    }
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    let says_nothing = said.is_empty() && (!calls.is_empty() || !refused.is_empty());
    message.insert("content".to_owned(), if says_nothing { Value::Null } else { json!(said) });
    message.insert("refusal".to_owned(), if refused.is_empty() { Value::Null } else { json!(refused) });
    if !thought.is_empty() {
        message.insert("reasoning_content".to_owned(), json!(thought));
    }
    let lists = [
        ("reasoning_details", details),
        ("tool_calls", calls),
        ("images", images),
        ("annotations", annotations),
    ];
    for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        message.insert(name.to_owned(), Value::Array(list));
    }
    Value::Object(message)
}

fn tool_call(call: &ToolCall) -> Value {
    let mut value = match call.kind {
        CallKind::Function => json!({
            "id": call.id, "type": "function",
            "function": { "name": call.name, "arguments": call.arguments }
        }),
        CallKind::Custom => json!({
            "id": call.id, "type": "custom", "custom": { "name": call.name, "input": call.arguments }
        }),
    };
    if let Some(seal) = &call.signature {
        value["extra_content"] = json!({ "google": { "thought_signature": seal.to_caller() } });
    }
    value
}

/// A signature as one of the `reasoning_details` that clients of hubs hand back.
pub(super) fn signed(thought: Option<&str>, seal: &Seal) -> Value {
    let mut detail = json!({ "type": "reasoning.text", "signature": seal.to_caller() });
    if let Some(thought) = thought {
        detail["text"] = json!(thought);
    }
    detail
}

pub(super) fn redacted(seal: &Seal, id: Option<&str>) -> Value {
    let mut detail = json!({ "type": "reasoning.encrypted", "data": seal.to_caller() });
    if let Some(id) = id {
        detail["id"] = json!(id);
    }
    detail
}

/// A call that was made outweighs a plain stop.
pub(super) fn finish_word(finish: Finish, has_calls: bool) -> &'static str {
    match finish {
        Finish::Length => "length",
        Finish::ContentFilter => "content_filter",
        Finish::ToolCalls => "tool_calls",
        Finish::Stop if has_calls => "tool_calls",
        Finish::Stop => "stop",
    }
}

pub(super) fn envelope(head: &ReplyHead, object: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("id".to_owned(), json!(format!("chatcmpl-{}", head.id)));
    fields.insert("object".to_owned(), json!(object));
    fields.insert("created".to_owned(), json!(head.created));
    fields.insert("model".to_owned(), json!(head.model));
    fields
}
