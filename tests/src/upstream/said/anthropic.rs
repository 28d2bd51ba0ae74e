//! Anthropic's Messages.

use serde_json::{Value, json};

use super::{COST, SEAL, Said, calls, value};
use crate::upstream::{
    End, Reply,
    replies::{self, named_event},
};

pub(super) fn stream(said: &[Said], end: End) -> Reply {
    let mut start = message();
    start["usage"] = usage();
    start["usage"]["output_tokens"] = json!(1);
    let mut events = vec![json!({"type": "message_start", "message": start}), json!({"type": "ping"})];
    for (index, part) in said.iter().enumerate() {
        let (block, deltas) = block(part);
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    match end {
        End::Proper => events.extend([
            json!({
                "type": "message_delta", "delta": {"stop_reason": stop(said), "stop_sequence": null},
                "usage": {"output_tokens": COST.output},
            }),
            json!({"type": "message_stop"}),
        ]),
        End::BrokenOff => {}
        End::Error(message) => {
            events.push(json!({"type": "error", "error": {"type": "api_error", "message": message}}));
        }
    }
    events.iter().fold(replies::stream(), |reply, event| reply.send(named_event(event)))
}

pub(super) fn whole(said: &[Said]) -> Value {
    let mut whole = message();
    let content: Vec<Value> = said
        .iter()
        .map(|part| match part {
            Said::Thinks(text) => json!({"type": "thinking", "thinking": text, "signature": SEAL}),
            Said::Text(text) => json!({"type": "text", "text": text}),
            Said::Call(id, name, fragments) => {
                json!({"type": "tool_use", "id": id, "name": name, "input": value(fragments)})
            }
            Said::Custom(..) => panic!("Messages has no free-form calls"),
        })
        .collect();
    whole["content"] = json!(content);
    whole["stop_reason"] = json!(stop(said));
    whole["usage"] = usage();
    whole
}

/// A block as it starts, and its deltas.
fn block(part: &Said) -> (Value, Vec<Value>) {
    match part {
        Said::Thinks(text) => (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            vec![
                json!({"type": "thinking_delta", "thinking": text}),
                json!({"type": "signature_delta", "signature": SEAL}),
            ],
        ),
        Said::Text(text) => (
            json!({"type": "text", "text": ""}),
            text.split_inclusive(' ').map(|word| json!({"type": "text_delta", "text": word})).collect(),
        ),
        Said::Call(id, name, fragments) => (
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            fragments.iter().map(|it| json!({"type": "input_json_delta", "partial_json": it})).collect(),
        ),
        Said::Custom(..) => panic!("Messages has no free-form calls"),
    }
}

fn message() -> Value {
    json!({
        "id": "msg_2", "type": "message", "role": "assistant", "model": "scripted", "content": [],
        "stop_reason": null, "stop_sequence": null,
    })
}

fn usage() -> Value {
    json!({
        "input_tokens": COST.input - COST.cached, "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": COST.cached, "output_tokens": COST.output,
    })
}

fn stop(said: &[Said]) -> &'static str {
    if calls(said) { "tool_use" } else { "end_turn" }
}
