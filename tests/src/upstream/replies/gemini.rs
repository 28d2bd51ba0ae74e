//! Google's generateContent, streamed as events.

use serde_json::{Value, json};

use super::TOKENS_IN;
use crate::upstream::{End, Reply};

pub(in crate::upstream) fn stream(pieces: &[&str], end: End) -> Reply {
    let mut reply = super::stream();
    for piece in pieces {
        reply = reply.send(event(&chunk_of(json!({"text": piece}))));
    }
    match end {
        End::Proper => reply.send(event(&finished(pieces.len()))),
        End::BrokenOff => reply,
        End::Error(message) => reply.send(event(&error(503, message))),
    }
}

pub(in crate::upstream) fn error(status: u16, message: &str) -> Value {
    let word = match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    json!({"error": {"code": status, "message": message, "status": word}})
}

pub(in crate::upstream) fn picture(request: &Value) -> Option<(Option<String>, String)> {
    let turns = request["contents"].as_array()?.iter();
    let mut parts = turns.flat_map(|turn| turn["parts"].as_array().into_iter().flatten());
    parts.find_map(|part| {
        let text = |field: &str| part["inlineData"][field].as_str().map(str::to_owned);
        Some((text("mimeType"), text("data")?))
    })
}

/// The model of `/v1beta/models/NAME:streamGenerateContent`.
pub(in crate::upstream) fn served(path: &str) -> Option<&str> {
    Some(path.split('?').next()?.split_once("/models/")?.1.rsplit_once(':')?.0)
}

/// The last chunk: a finish and the usage.
pub(in crate::upstream) fn finished(out: usize) -> Value {
    let mut last = chunk_of(json!({"text": ""}));
    last["candidates"][0]["finishReason"] = json!("STOP");
    last["usageMetadata"]["candidatesTokenCount"] = json!(out);
    last["usageMetadata"]["totalTokenCount"] = json!(TOKENS_IN + out as u64);
    last
}

pub(in crate::upstream) fn chunk_of(part: Value) -> Value {
    json!({
        "candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0}],
        "usageMetadata": {"promptTokenCount": TOKENS_IN, "totalTokenCount": TOKENS_IN},
        "modelVersion": "scripted-001",
        "responseId": "r1",
    })
}

pub(in crate::upstream) fn event(data: &Value) -> String {
    format!("data: {data}\r\n\r\n")
}
