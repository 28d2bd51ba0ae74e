//! Google's generateContent: calls whole, and without ids.

use serde_json::{Value, json};

use super::{COST, SEAL, Said, value};
use crate::upstream::{End, Reply, Step, replies};

pub(super) fn stream(said: &[Said], end: End) -> Reply {
    let mut reply = replies::stream();
    for part in said.iter().flat_map(parts) {
        reply = reply.send(event(&chunk(json!([part]))));
    }
    match end {
        End::Proper => reply.send(event(&finished(chunk(json!([{"text": ""}]))))),
        End::BrokenOff => reply,
        End::Error(message) => {
            let error = json!({"code": 503, "message": message, "status": "UNAVAILABLE"});
            reply.send(event(&json!({"error": error})))
        }
    }
}

/// The events of a stream as the items of one JSON array, which is how it comes without `alt=sse`.
pub(super) fn array(stream: Reply, end: End) -> Reply {
    let mut reply = Reply::new("application/json; charset=UTF-8");
    for step in stream.steps {
        let Step::Send(event) = step else { panic!("only events: {step:?}") };
        let event = String::from_utf8_lossy(&event).into_owned();
        let before = if reply.steps.is_empty() { "[" } else { ",\r\n" };
        let item = event.trim_start_matches("data: ").trim_end().to_owned();
        reply = reply.send(format!("{before}{item}"));
    }
    match end {
        End::BrokenOff => reply,
        _ => reply.send("\r\n]"),
    }
}

pub(super) fn whole(said: &[Said]) -> Value {
    let said: Vec<Value> = said
        .iter()
        .map(|part| match part {
            Said::Text(text) => json!({"text": text}),
            other => parts(other).remove(0),
        })
        .collect();
    finished(chunk(json!(said)))
}

fn parts(part: &Said) -> Vec<Value> {
    match part {
        Said::Thinks(text) => vec![json!({"text": text, "thought": true})],
        Said::Text(text) => text.split_inclusive(' ').map(|word| json!({"text": word})).collect(),
        Said::Call(_, name, fragments) => {
            let call = json!({"name": name, "args": value(fragments)});
            vec![json!({"functionCall": call, "thoughtSignature": SEAL})]
        }
        Said::Custom(..) => panic!("Gemini has no free-form calls"),
    }
}

fn chunk(parts: Value) -> Value {
    json!({
        "candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}],
        "modelVersion": "scripted-001",
        "responseId": "r2",
    })
}

fn finished(mut chunk: Value) -> Value {
    chunk["candidates"][0]["finishReason"] = json!("STOP");
    chunk["usageMetadata"] = json!({
        "promptTokenCount": COST.input, "cachedContentTokenCount": COST.cached,
        "candidatesTokenCount": COST.output - COST.reasoning, "thoughtsTokenCount": COST.reasoning,
        "totalTokenCount": COST.input + COST.output,
    });
    chunk
}

fn event(data: &Value) -> String {
    format!("data: {data}\r\n\r\n")
}
