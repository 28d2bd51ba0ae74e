//! Anthropic's Messages.

use serde_json::{Value, json};

use super::{TOKENS_IN, named_events};
use crate::upstream::{End, Reply, api::parts};

pub(in crate::upstream) fn stream(pieces: &[&str], end: End) -> Reply {
    let mut events = vec![
        message_start(),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "ping"}),
    ];
    events.extend(pieces.iter().map(|piece| {
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}})
    }));
    match end {
        End::Proper => events.extend([
            json!({"type": "content_block_stop", "index": 0}),
            json!({
                "type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null},
                "usage": {"output_tokens": pieces.len()},
            }),
            json!({"type": "message_stop"}),
        ]),
        End::BrokenOff => {}
        End::Error(message) => {
            events.push(json!({"type": "error", "error": {"type": "overloaded_error", "message": message}}));
        }
    }
    named_events(&events)
}

pub(in crate::upstream) fn message_start() -> Value {
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": {
            "input_tokens": TOKENS_IN, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1
        },
    });
    json!({"type": "message_start", "message": message})
}

pub(in crate::upstream) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"})
}

pub(in crate::upstream) fn picture(request: &Value) -> Option<(Option<String>, String)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    parts(request, "messages", "image").find_map(|part| {
        let source = &part["source"];
        Some((text(&source["media_type"]), text(&source["data"])?))
    })
}
