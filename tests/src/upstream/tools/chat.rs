use serde_json::{Value, json};

use super::{Call, Declared, Input, Turn, each, function, pieces, text};
use crate::upstream::{
    Reply,
    replies::{
        chat::{chunk, finish, usage},
        stream,
    },
};

pub(super) fn turn(request: &Value) -> Turn {
    let of = |role: &'static str| {
        each(request, "messages").filter(move |message| message["role"] == role).map(|m| text(&m["content"]))
    };
    Turn {
        declared: each(request, "tools").map(declared).collect(),
        said: of("user").collect(),
        results: of("tool").collect(),
    }
}

fn declared(tool: &Value) -> Declared {
    match tool["type"].as_str() {
        Some("custom") => Declared { free_form: true, ..function(&tool["custom"]["name"], &Value::Null) },
        _ => function(&tool["function"]["name"], &tool["function"]["parameters"]),
    }
}

pub(super) fn calls(id: &str, call: &Call) -> Reply {
    let (kind, field) = match call.input {
        Input::Arguments(_) => ("function", "arguments"),
        Input::Text(_) => ("custom", "input"),
    };
    let first = json!({"index": 0, "id": id, "type": kind, kind: {"name": call.tool, field: ""}});
    let reply =
        stream().send(chunk(json!({"role": "assistant", "content": null, "tool_calls": [first]}), None));
    let pieces = pieces(&call.input.text());
    let out = pieces.len();
    pieces
        .into_iter()
        .fold(reply, |reply, piece| {
            reply.send(chunk(json!({"tool_calls": [{"index": 0, kind: {field: piece}}]}), None))
        })
        .send(finish("tool_calls"))
        .send(usage(out))
        .send("data: [DONE]\n\n")
}
