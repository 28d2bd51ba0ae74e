//! OpenAI's chat completions.

use serde_json::{Value, json};

use super::TOKENS_IN;
use crate::upstream::{
    End, Reply,
    api::{data_url, parts},
};

pub(in crate::upstream) fn stream(pieces: &[&str], end: End) -> Reply {
    let mut reply = super::stream().send(chunk(json!({"role": "assistant", "content": ""}), None));
    for piece in pieces {
        reply = reply.send(chunk(json!({"content": piece}), None));
    }
    match end {
        End::Proper => reply.send(finish("stop")).send(usage(pieces.len())).send("data: [DONE]\n\n"),
        End::BrokenOff => reply,
        End::Error(message) => {
            let error = json!({"error": {"message": message, "code": 502}});
            reply.send(event(&error)).send("data: [DONE]\n\n")
        }
    }
}

/// One data event with a chunk.
pub fn chunk(delta: Value, finish_reason: Option<&str>) -> String {
    let mut chunk = empty_chunk();
    chunk["choices"] = json!([{"index": 0, "delta": delta, "finish_reason": finish_reason}]);
    event(&chunk)
}

pub fn finish(reason: &str) -> String {
    chunk(json!({}), Some(reason))
}

pub(in crate::upstream) fn error(status: u16, message: &str) -> Value {
    let code = match status {
        401 => "invalid_api_key",
        404 => "model_not_found",
        429 => "rate_limit_exceeded",
        _ => "error",
    };
    error_of(code, message)
}

pub(in crate::upstream) fn error_of(code: &str, message: &str) -> Value {
    json!({"error": {"message": message, "type": "error", "param": null, "code": code}})
}

pub(in crate::upstream) fn picture(request: &Value) -> Option<(Option<String>, String)> {
    parts(request, "messages", "image_url").find_map(|part| data_url(&part["image_url"]["url"]))
}

pub(in crate::upstream) fn usage(out: usize) -> String {
    let mut chunk = empty_chunk();
    chunk["usage"] = json!({
        "prompt_tokens": TOKENS_IN, "completion_tokens": out, "total_tokens": TOKENS_IN + out as u64
    });
    event(&chunk)
}

fn empty_chunk() -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": []
    })
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}
