use serde_json::{Value, json};

use super::{Call, Declared, Input, Turn, each, function, pieces, text};
use crate::upstream::{
    Reply,
    replies::{
        numbered_events,
        responses::{response, usage},
    },
};

pub(super) fn turn(request: &Value) -> Turn {
    let result = |item: &&Value| {
        ["function_call_output", "custom_tool_call_output"].iter().any(|kind| item["type"] == *kind)
    };
    Turn {
        declared: each(request, "tools").map(declared).collect(),
        said: match &request["input"] {
            Value::String(said) => vec![said.clone()],
            _ => each(request, "input")
                .filter(|item| item["role"] == "user")
                .map(|item| text(&item["content"]))
                .collect(),
        },
        results: each(request, "input").filter(result).map(|item| text(&item["output"])).collect(),
    }
}

fn declared(tool: &Value) -> Declared {
    let free_form = tool["type"] == "custom";
    Declared { free_form, ..function(&tool["name"], &tool["parameters"]) }
}

pub(super) fn calls(id: &str, call: &Call) -> Reply {
    let (kind, field, event) = match call.input {
        Input::Arguments(_) => ("function_call", "arguments", "response.function_call_arguments"),
        Input::Text(_) => ("custom_tool_call", "input", "response.custom_tool_call_input"),
    };
    let whole = call.input.text();
    let item = |status: &str, input: &str| {
        let item_id = format!("item_{id}");
        json!({"id": item_id, "type": kind, "status": status, "call_id": id, "name": call.tool, field: input})
    };
    let of_item = |name: String, field: &str, value: &str| json!({"type": name, "item_id": format!("item_{id}"), "output_index": 0, field: value});
    let done = item("completed", &whole);
    let mut events = vec![
        json!({"type": "response.created", "response": response("in_progress")}),
        json!({"type": "response.in_progress", "response": response("in_progress")}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item("in_progress", "")}),
    ];
    let pieces = pieces(&whole);
    events.extend(pieces.iter().map(|piece| of_item(format!("{event}.delta"), "delta", piece)));
    let mut completed = response("completed");
    completed["output"] = json!([done]);
    completed["usage"] = usage(pieces.len());
    events.extend([
        of_item(format!("{event}.done"), field, &whole),
        json!({"type": "response.output_item.done", "output_index": 0, "item": done}),
        json!({"type": "response.completed", "response": completed}),
    ]);
    numbered_events(events)
}
