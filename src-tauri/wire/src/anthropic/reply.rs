//! A whole reply to a caller.

use serde_json::{Map, Value, json};

use super::{member::tree::Node, usage as wire_usage};
use crate::{
    arguments, custom,
    dialect::Dialect,
    format::ReplyHead,
    json as text,
    model::{CallKind, Content, Finish, Reply, ToolCall},
    raw::Raw,
    usage::Usage,
};

/// Stands where a reply of this API has no place for an image.
pub(super) const NO_IMAGE: &str = "[image left out: a reply of this API holds none]";

pub(super) fn whole(head: &ReplyHead, reply: &Reply, bench: Option<&Value>) -> Vec<u8> {
    let has_calls = reply.tool_calls().next().is_some();
    let refused = reply.parts.iter().any(|part| matches!(part.content, Content::Refusal(_)));
    let reason = stop_reason(reply.finish.unwrap_or(Finish::Stop), has_calls, refused);
    let mut fields = message(head);
    fields.insert("stop_reason".to_owned(), json!(reason));
    // Where the member counted nothing the gateway's estimate stands.
    let usage = Usage { input: reply.usage.input.or(head.input_tokens), ..reply.usage };
    fields.insert("usage".to_owned(), wire_usage::write(usage));
    if let Some(bench) = bench {
        fields.insert("bench".to_owned(), bench.clone());
    }
    text::to_vec(&Node::from_object(Value::Object(fields)).with("content", Node::List(content(reply))))
}

/// A message before anything is in it.
pub(super) fn message(head: &ReplyHead) -> Map<String, Value> {
    let Value::Object(fields) = json!({
        "id": format!("msg_{}", head.id), "type": "message", "role": "assistant", "model": head.model,
        "content": [], "stop_reason": null, "stop_sequence": null
    }) else {
        return Map::new();
    };
    fields
}

fn content(reply: &Reply) -> Vec<Node> {
    let mut blocks: Vec<Node> = Vec::new();
    for part in &reply.parts {
        let block = match &part.content {
            Content::Text(text) | Content::Refusal(text) if text.is_empty() => continue,
            Content::Text(text) | Content::Refusal(text) => json!({ "type": "text", "text": text }),
            Content::Thinking(thinking) => {
                let signature = thinking.signature.as_ref().map(|seal| seal.to_caller()).unwrap_or_default();
                json!({ "type": "thinking", "thinking": thinking.text, "signature": signature })
            }
            Content::Redacted { seal, .. } => {
                json!({ "type": "redacted_thinking", "data": seal.to_caller() })
            }
            Content::ToolCall(call) => {
                let block = json!({ "type": "tool_use", "id": call.id, "name": call.name });
                blocks.push(Node::from_object(block).with("input", Node::Raw(input(call))));
                continue;
            }
            Content::Image(_) => json!({ "type": "text", "text": NO_IMAGE }),
            Content::Vendor { dialect: Dialect::Anthropic, kind, raw } => {
                if kind == "citation" {
                    cite(&mut blocks, raw.value());
                    continue;
                }
                blocks.push(Node::Raw(raw.clone()));
                continue;
            }
            _ => continue,
        };
        blocks.push(Node::Value(block));
    }
    blocks
}

fn cite(blocks: &mut [Node], citation: Value) {
    if let Some(Node::Value(block)) = blocks.last_mut()
        && block["type"] == "text"
    {
        match block.get_mut("citations").and_then(Value::as_array_mut) {
            Some(citations) => citations.push(citation),
            None => block["citations"] = json!([citation]),
        }
    }
}

/// An object, always, as it was written: arguments that were cut off or are none are `{}`.
fn input(call: &ToolCall) -> Raw {
    let given = match call.kind {
        CallKind::Custom => arguments::as_object(&custom::arguments(&call.arguments), "input"),
        CallKind::Function => arguments::as_object(&call.arguments, "input"),
    };
    given.unwrap_or_else(|_| Raw::from(&json!({})))
}

/// A call that was made outweighs a plain stop.
pub(super) fn stop_reason(finish: Finish, has_calls: bool, refused: bool) -> &'static str {
    match finish {
        Finish::Length => "max_tokens",
        Finish::ContentFilter => "refusal",
        Finish::ToolCalls => "tool_use",
        Finish::Stop if has_calls => "tool_use",
        Finish::Stop if refused => "refusal",
        Finish::Stop => "end_turn",
    }
}
