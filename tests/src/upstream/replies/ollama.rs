//! Ollama's chat, a JSON value a line.

use serde_json::{Value, json};

use super::TOKENS_IN;
use crate::upstream::{End, Reply};

pub(in crate::upstream) fn stream(pieces: &[&str], end: End) -> Reply {
    let reply =
        pieces.iter().fold(Reply::new("application/x-ndjson"), |reply, piece| reply.send(line(&said(piece))));
    match end {
        End::Proper => reply.send(line(&finished(pieces.len()))),
        End::BrokenOff => reply,
        End::Error(message) => reply.send(line(&error(message))),
    }
}

pub(in crate::upstream) fn error(message: &str) -> Value {
    json!({"error": message})
}

pub(in crate::upstream) fn picture(request: &Value) -> Option<(Option<String>, String)> {
    let mut turns = request["messages"].as_array()?.iter();
    turns.find_map(|turn| Some((None, turn["images"][0].as_str()?.to_owned())))
}

/// The last line: a finish and the usage.
pub(in crate::upstream) fn finished(out: usize) -> Value {
    let mut last = said("");
    last["done"] = json!(true);
    last["done_reason"] = json!("stop");
    last["prompt_eval_count"] = json!(TOKENS_IN);
    last["eval_count"] = json!(out);
    for duration in ["total_duration", "load_duration", "prompt_eval_duration", "eval_duration"] {
        last[duration] = json!(900);
    }
    last
}

pub(in crate::upstream) fn said(text: &str) -> Value {
    json!({
        "model": "scripted", "created_at": "2026-11-18T11:06:40.123456Z",
        "message": {"role": "assistant", "content": text}, "done": false,
    })
}

pub(in crate::upstream) fn line(value: &Value) -> String {
    format!("{value}\n")
}
