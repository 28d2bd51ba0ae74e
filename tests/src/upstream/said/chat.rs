//! OpenAI's chat completions.

use serde_json::{Value, json};

use super::{COST, Said, calls};
use crate::upstream::{End, Reply, replies};

pub(super) fn stream(said: &[Said], end: End) -> Reply {
    let mut reply = replies::stream().send(chunk(&json!({"role": "assistant", "content": ""}), None));
    let mut index = 0;
    for part in said {
        match part {
            Said::Thinks(text) => reply = reply.send(chunk(&json!({"reasoning_content": text}), None)),
            Said::Text(text) => {
                for word in text.split_inclusive(' ') {
                    reply = reply.send(chunk(&json!({"content": word}), None));
                }
            }
            Said::Call(id, name, fragments) => {
                let function = json!({"name": name, "arguments": ""});
                let start = json!({"index": index, "id": id, "type": "function", "function": function});
                reply = reply.send(chunk(&json!({"tool_calls": [start]}), None));
                for fragment in *fragments {
                    let more = json!({"index": index, "function": {"arguments": fragment}});
                    reply = reply.send(chunk(&json!({"tool_calls": [more]}), None));
                }
                index += 1;
            }
            Said::Custom(..) => panic!("chat streams no free-form calls here"),
        }
    }
    match end {
        End::Proper => {
            let mut usage_chunk = empty();
            usage_chunk["usage"] = usage();
            reply
                .send(chunk(&json!({}), Some(finish(said))))
                .send(event(&usage_chunk))
                .send("data: [DONE]\n\n")
        }
        End::BrokenOff => reply,
        End::Error(message) => {
            reply.send(event(&json!({"error": {"message": message, "code": 503}}))).send("data: [DONE]\n\n")
        }
    }
}

pub(super) fn whole(said: &[Said]) -> Value {
    let mut message = json!({"role": "assistant", "content": null});
    for part in said {
        match part {
            Said::Thinks(text) => message["reasoning_content"] = json!(text),
            Said::Text(text) => message["content"] = json!(text),
            Said::Call(id, name, fragments) => {
                let function = json!({"name": name, "arguments": fragments.concat()});
                let call = json!({"id": id, "type": "function", "function": function});
                match message["tool_calls"].as_array_mut() {
                    Some(calls) => calls.push(call),
                    None => message["tool_calls"] = json!([call]),
                }
            }
            Said::Custom(..) => panic!("chat tells no free-form calls here"),
        }
    }
    json!({
        "id": "chatcmpl-2", "object": "chat.completion", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish(said)}],
        "usage": usage(),
    })
}

fn finish(said: &[Said]) -> &'static str {
    if calls(said) { "tool_calls" } else { "stop" }
}

fn usage() -> Value {
    json!({
        "prompt_tokens": COST.input, "completion_tokens": COST.output,
        "total_tokens": COST.input + COST.output,
        "prompt_tokens_details": {"cached_tokens": COST.cached},
        "completion_tokens_details": {"reasoning_tokens": COST.reasoning},
    })
}

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    let mut chunk = empty();
    chunk["choices"] = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
    event(&chunk)
}

fn empty() -> Value {
    json!({
        "id": "chatcmpl-2", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": []
    })
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}
