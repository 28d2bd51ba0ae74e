//! A whole reply to a caller, and the pieces that a streamed one is made of too.

use serde_json::{Map, Value, json};

use super::{seals, usage as wire_usage};
use crate::{
    dialect::Dialect,
    error::{ApiError, Kind},
    format::ReplyHead,
    json as text,
    model::{CallKind, Content, Finish, Reply, Seal, Source},
    usage::Usage,
};

pub(super) fn whole(head: &ReplyHead, reply: &Reply, bench: Option<&Value>) -> Vec<u8> {
    let finish = reply.finish.unwrap_or(Finish::Stop);
    text::to_vec(&ended(head, finish, items(head, reply, finish), reply.usage, bench))
}

/// Neighbours that are said are one message; a cut call is left out.
fn items(head: &ReplyHead, reply: &Reply, finish: Finish) -> Vec<Value> {
    let mut items: Vec<Value> = Vec::new();
    let mut said: Vec<Value> = Vec::new();
    let mut thought: Option<&str> = None;
    for (at, part) in reply.parts.iter().enumerate() {
        if let Content::Text(words) = &part.content {
            think(head, &mut items, thought.take());
            said.push(text_part(words));
            continue;
        }
        if let Content::Refusal(words) = &part.content {
            think(head, &mut items, thought.take());
            said.push(refusal_part(words));
            continue;
        }
        speak(head, &mut items, &mut said, "completed");
        if let (Content::Redacted { seal, .. }, Some(words)) = (&part.content, thought) {
            // The summary that came with it.
            items.push(reasoning(&item_id(head, "rs", items.len()), words, Some(seal.to_caller())));
            thought = None;
            continue;
        }
        think(head, &mut items, thought.take());
        let id = |prefix: &str| item_id(head, prefix, items.len());
        let item = match &part.content {
            Content::Thinking(thinking) => match &thinking.signature {
                Some(seal) => reasoning(&id("rs"), &thinking.text, Some(seals::signature(seal))),
                None => {
                    thought = Some(&thinking.text);
                    continue;
                }
            },
            Content::Redacted { seal, id: own } => redacted(&id("rs"), seal, own.as_deref()),
            Content::ToolCall(_) if reply.is_cut_call(at) => continue,
            Content::ToolCall(call) => {
                let mut item = call_item(&id(call_prefix(call.kind)), call.kind, &call.id, &call.name);
                if let Some(namespace) = &call.namespace {
                    item["namespace"] = json!(namespace);
                }
                finish_call(&mut item, call.kind, &call.arguments);
                item
            }
            Content::Image(image) => match &image.source {
                Source::Base64 { media_type, data } => image_item(&id("ig"), media_type, data),
                _ => continue,
            },
            Content::Vendor { dialect, raw, .. } if *dialect == Dialect::Responses => json!(raw),
            _ => continue,
        };
        items.push(item);
    }
    think(head, &mut items, thought);
    // Only the last words can have been cut off.
    let status = if cut(finish).is_some() { "incomplete" } else { "completed" };
    speak(head, &mut items, &mut said, status);
    items
}

fn think(head: &ReplyHead, items: &mut Vec<Value>, thought: Option<&str>) {
    if let Some(words) = thought {
        items.push(reasoning(&item_id(head, "rs", items.len()), words, None));
    }
}

fn speak(head: &ReplyHead, items: &mut Vec<Value>, said: &mut Vec<Value>, status: &str) {
    if !said.is_empty() {
        let id = item_id(head, "msg", items.len());
        items.push(message(&id, status, std::mem::take(said)));
    }
}

/// Ids are told apart by the place of the item.
pub(super) fn item_id(head: &ReplyHead, prefix: &str, place: usize) -> String {
    format!("{prefix}_{}_{place}", head.id)
}

pub(super) fn call_prefix(kind: CallKind) -> &'static str {
    match kind {
        CallKind::Function => "fc",
        CallKind::Custom => "ctc",
    }
}

pub(super) fn text_part(words: &str) -> Value {
    json!({ "type": "output_text", "text": words, "annotations": [], "logprobs": [] })
}

pub(super) fn refusal_part(words: &str) -> Value {
    json!({ "type": "refusal", "refusal": words })
}

pub(super) fn message(id: &str, status: &str, content: Vec<Value>) -> Value {
    json!({ "id": id, "type": "message", "status": status, "role": "assistant", "content": content })
}

pub(super) fn reasoning(id: &str, words: &str, sealed: Option<String>) -> Value {
    let mut item = json!({ "id": id, "type": "reasoning", "summary": [] });
    if !words.is_empty() {
        item["summary"] = json!([{ "type": "summary_text", "text": words }]);
    }
    if let Some(sealed) = sealed {
        item["encrypted_content"] = json!(sealed);
    }
    item
}

/// `own` is the id the item had where it was made.
pub(super) fn redacted(id: &str, seal: &Seal, own: Option<&str>) -> Value {
    reasoning(own.unwrap_or(id), "", Some(seal.to_caller()))
}

pub(super) fn image_item(id: &str, media_type: &str, data: &str) -> Value {
    let format = media_type.strip_prefix("image/").unwrap_or("png");
    json!({
        "id": id, "type": "image_generation_call", "status": "completed", "result": data,
        "output_format": format
    })
}

/// A call that has just begun.
pub(super) fn call_item(id: &str, kind: CallKind, call_id: &str, name: &str) -> Value {
    match kind {
        CallKind::Function => json!({
            "id": id, "type": "function_call", "status": "in_progress", "call_id": call_id, "name": name,
            "arguments": ""
        }),
        CallKind::Custom => json!({
            "id": id, "type": "custom_tool_call", "status": "in_progress", "call_id": call_id, "name": name,
            "input": ""
        }),
    }
}

pub(super) fn finish_call(item: &mut Value, kind: CallKind, said: &str) {
    item["status"] = json!("completed");
    item[if kind == CallKind::Custom { "input" } else { "arguments" }] = json!(said);
}

/// The response as it is told while it is being made.
pub(super) fn in_progress(head: &ReplyHead) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    set("id", json!(format!("resp_{}", head.id)));
    set("object", json!("response"));
    set("created_at", json!(head.created));
    set("status", json!("in_progress"));
    set("background", json!(false));
    set("error", Value::Null);
    set("incomplete_details", Value::Null);
    set("instructions", Value::Null);
    set("max_output_tokens", Value::Null);
    set("model", json!(head.model));
    set("output", json!([]));
    set("parallel_tool_calls", json!(true));
    set("previous_response_id", Value::Null);
    set("reasoning", json!({ "effort": null, "summary": null }));
    set("store", json!(true));
    set("temperature", Value::Null);
    set("text", json!({ "format": { "type": "text" } }));
    set("tool_choice", json!("auto"));
    set("tools", json!([]));
    set("top_p", Value::Null);
    set("truncation", json!("disabled"));
    set("usage", Value::Null);
    set("user", Value::Null);
    set("metadata", json!({}));
    for (name, raw) in &head.echo {
        fields.insert(name.clone(), raw.value());
    }
    // Clients read the form of the text without asking whether there is one.
    if let Some(text) = fields.get_mut("text").and_then(Value::as_object_mut) {
        text.entry("format").or_insert_with(|| json!({ "type": "text" }));
    }
    fields
}

/// The response at its end.
pub(super) fn ended(
    head: &ReplyHead,
    finish: Finish,
    output: Vec<Value>,
    usage: Usage,
    bench: Option<&Value>,
) -> Value {
    let mut response = Value::Object(in_progress(head));
    match cut(finish) {
        Some(reason) => {
            response["status"] = json!("incomplete");
            response["incomplete_details"] = json!({ "reason": reason });
        }
        None => response["status"] = json!("completed"),
    }
    response["output"] = Value::Array(output);
    response["usage"] = wire_usage::write(usage);
    if let Some(bench) = bench {
        response["bench"] = bench.clone();
    }
    response
}

/// Why the answer is incomplete, in the API's words.
pub(super) fn cut(finish: Finish) -> Option<&'static str> {
    match finish {
        Finish::Length => Some("max_output_tokens"),
        Finish::ContentFilter => Some("content_filter"),
        Finish::Stop | Finish::ToolCalls => None,
    }
}

/// The response of a turn that failed.
pub(super) fn failed(head: &ReplyHead, error: &ApiError, output: Vec<Value>, bench: Option<&Value>) -> Value {
    let mut response = Value::Object(in_progress(head));
    response["status"] = json!("failed");
    // The API's types know a few words only.
    let code = match error.kind {
        Kind::RateLimit => "rate_limit_exceeded",
        Kind::InvalidRequest => "invalid_prompt",
        _ => "server_error",
    };
    response["error"] = json!({ "code": code, "message": error.message });
    response["output"] = Value::Array(output);
    if let Some(bench) = bench {
        response["bench"] = bench.clone();
    }
    response
}
