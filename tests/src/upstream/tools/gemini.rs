use serde_json::{Value, json};

use super::{Call, Declared, Turn, each, function};
use crate::upstream::{
    Reply,
    replies::{
        gemini::{chunk_of, event, finished},
        stream,
    },
};

pub(super) fn turn(request: &Value) -> Turn {
    let parts = || {
        let user = |turn: &&Value| turn["role"] != "model";
        each(request, "contents").filter(user).flat_map(|turn| each(turn, "parts"))
    };
    let result = |part: &Value| {
        let response = &part["functionResponse"]["response"];
        response.is_object().then(|| response.to_string())
    };
    Turn {
        declared: each(request, "tools")
            .flat_map(|group| each(group, "functionDeclarations"))
            .map(declared)
            .collect(),
        said: parts().filter_map(|part| part["text"].as_str()).map(str::to_owned).collect(),
        results: parts().filter_map(result).collect(),
    }
}

fn declared(tool: &Value) -> Declared {
    let schema = tool.get("parametersJsonSchema").unwrap_or(&tool["parameters"]);
    function(&tool["name"], schema)
}

/// Whole: this API streams no arguments.
pub(super) fn calls(call: &Call) -> Reply {
    let part = json!({"functionCall": {"name": call.tool, "args": call.input.arguments()}});
    stream().send(event(&chunk_of(part))).send(event(&finished(1)))
}
