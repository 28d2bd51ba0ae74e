//! OpenAI's Responses.

use serde_json::{Value, json};

use super::{TOKENS_IN, numbered_events};
use crate::upstream::{
    End, Reply,
    api::{data_url, parts},
};

pub(in crate::upstream) fn stream(pieces: &[&str], end: End) -> Reply {
    let mut events = vec![
        json!({"type": "response.created", "response": response("in_progress")}),
        json!({"type": "response.in_progress", "response": response("in_progress")}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": message("in_progress", &[])}),
        of_part("response.content_part.added", "part", part("")),
    ];
    events.extend(pieces.iter().map(|piece| of_part("response.output_text.delta", "delta", json!(piece))));
    match end {
        End::Proper => {
            let text = pieces.concat();
            let item = message("completed", &[part(&text)]);
            let mut done = response("completed");
            done["output"] = json!([item]);
            done["usage"] = usage(pieces.len());
            events.extend([
                of_part("response.output_text.done", "text", json!(text)),
                of_part("response.content_part.done", "part", part(&text)),
                json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
                json!({"type": "response.completed", "response": done}),
            ]);
        }
        End::BrokenOff => {}
        End::Error(message) => {
            let mut failed = response("failed");
            failed["error"] = json!({"code": "server_error", "message": message});
            events.extend([
                json!({"type": "error", "code": "server_error", "message": message, "param": null}),
                json!({"type": "response.failed", "response": failed}),
            ]);
        }
    }
    numbered_events(events)
}

pub(in crate::upstream) fn picture(request: &Value) -> Option<(Option<String>, String)> {
    parts(request, "input", "input_image").find_map(|part| data_url(&part["image_url"]))
}

pub(in crate::upstream) fn usage(out: usize) -> Value {
    json!({
        "input_tokens": TOKENS_IN,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": out,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": TOKENS_IN + out as u64,
    })
}

pub(in crate::upstream) fn response(status: &str) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1, "model": "scripted", "status": status,
        "error": null, "incomplete_details": null, "output": [],
    })
}

fn message(status: &str, content: &[Value]) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": content})
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn of_part(kind: &str, field: &str, value: Value) -> Value {
    json!({"type": kind, "item_id": "msg_1", "output_index": 0, "content_index": 0, field: value})
}
