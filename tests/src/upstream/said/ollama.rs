//! Ollama's chat: a JSON value a line, calls whole and without ids.

use serde_json::{Value, json};

use super::{COST, Said, value};
use crate::upstream::{End, Reply, Step};

pub(super) fn stream(said: &[Said], end: End) -> Reply {
    let mut reply = Reply::new("application/x-ndjson");
    for part in said {
        let messages = match part {
            Said::Thinks(text) => vec![json!({"role": "assistant", "content": "", "thinking": text})],
            Said::Text(text) => {
                let words = text.split_inclusive(' ');
                words.map(|word| json!({"role": "assistant", "content": word})).collect()
            }
            call => vec![json!({"role": "assistant", "content": "", "tool_calls": [called(call)]})],
        };
        for message in messages {
            reply = reply.send(line(&json!({
                "model": "scripted", "created_at": CREATED, "message": message, "done": false
            })));
        }
    }
    match end {
        End::Proper => reply.send(line(&done(json!({"role": "assistant", "content": ""})))),
        End::BrokenOff => reply,
        End::Error(message) => reply.send(line(&json!({"error": message}))),
    }
}

pub(super) fn whole(said: &[Said]) -> Value {
    let mut message = json!({"role": "assistant", "content": ""});
    for part in said {
        match part {
            Said::Thinks(text) => message["thinking"] = json!(text),
            Said::Text(text) => message["content"] = json!(text),
            call => match message["tool_calls"].as_array_mut() {
                Some(calls) => calls.push(called(call)),
                None => message["tool_calls"] = json!([called(call)]),
            },
        }
    }
    done(message)
}

/// The same as `/api/generate` has it: no message, its parts in its place.
pub(super) fn generated(mut reply: Reply) -> Reply {
    for step in &mut reply.steps {
        let Step::Send(bytes) = step else { continue };
        // What is broken off stays so.
        let Ok(mut value) = serde_json::from_slice::<Value>(bytes) else { continue };
        let end = if bytes.ends_with(b"\n") { "\n" } else { "" };
        if let Some(message) = value.as_object_mut().and_then(|value| value.remove("message")) {
            value["response"] = message["content"].clone();
            if message["thinking"].is_string() {
                value["thinking"] = message["thinking"].clone();
            }
        }
        *bytes = format!("{value}{end}").into();
    }
    reply
}

const CREATED: &str = "2026-11-18T11:06:40.123456Z";

fn called(part: &Said) -> Value {
    let Said::Call(_, name, fragments) = part else { panic!("Ollama has no {part:?}") };
    json!({"function": {"name": name, "arguments": value(fragments)}})
}

fn done(message: Value) -> Value {
    json!({
        "model": "scripted", "created_at": CREATED, "message": message, "done": true, "done_reason": "stop",
        "total_duration": 900, "load_duration": 900, "prompt_eval_count": COST.input,
        "prompt_eval_duration": 900, "eval_count": COST.output, "eval_duration": 900,
    })
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}
