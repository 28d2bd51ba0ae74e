use serde_json::{Value, json};

use super::{Call, Turn, each, function, text};
use crate::upstream::{
    Reply,
    replies::ollama::{finished, line, said},
};

pub(super) fn turn(request: &Value) -> Turn {
    let of = |role: &'static str| {
        each(request, "messages").filter(move |message| message["role"] == role).map(|m| text(&m["content"]))
    };
    let declared = |tool: &Value| function(&tool["function"]["name"], &tool["function"]["parameters"]);
    Turn {
        declared: each(request, "tools").map(declared).collect(),
        said: of("user").collect(),
        results: of("tool").collect(),
    }
}

/// Whole: this API streams no arguments.
pub(super) fn calls(call: &Call) -> Reply {
    let mut asks = said("");
    let function = json!({"name": call.tool, "arguments": call.input.arguments()});
    asks["message"]["tool_calls"] = json!([{"function": function}]);
    Reply::new("application/x-ndjson").send(line(&asks)).send(line(&finished(1)))
}
