use serde_json::{Value, json};

use super::{Call, Turn, each, function, pieces, text};
use crate::upstream::{
    Reply,
    replies::{anthropic::message_start, named_events},
};

pub(super) fn turn(request: &Value) -> Turn {
    let users = || each(request, "messages").filter(|message| message["role"] == "user");
    let parts = |kind: &'static str| {
        users().flat_map(|message| each(message, "content")).filter(move |part| part["type"] == kind)
    };
    let bare = users().filter_map(|message| message["content"].as_str()).map(str::to_owned);
    Turn {
        declared: each(request, "tools").map(|tool| function(&tool["name"], &tool["input_schema"])).collect(),
        said: bare.chain(parts("text").map(|part| text(&part["text"]))).collect(),
        results: parts("tool_result").map(|part| text(&part["content"])).collect(),
    }
}

pub(super) fn calls(id: &str, call: &Call) -> Reply {
    let block = json!({"type": "tool_use", "id": format!("toolu_{id}"), "name": call.tool, "input": {}});
    let mut events = vec![
        message_start(),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": ""}}),
    ];
    let pieces = pieces(&call.input.arguments().to_string());
    events.extend(pieces.iter().map(|piece| {
        let delta = json!({"type": "input_json_delta", "partial_json": piece});
        json!({"type": "content_block_delta", "index": 0, "delta": delta})
    }));
    events.extend([
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null},
            "usage": {"output_tokens": pieces.len()},
        }),
        json!({"type": "message_stop"}),
    ]);
    named_events(&events)
}
