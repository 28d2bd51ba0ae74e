//! OpenAI's Responses.

use serde_json::{Value, json};

use super::{COST, SEAL, Said};
use crate::upstream::{
    End, Reply,
    replies::{self, named_event},
};

pub(super) fn stream(said: &[Said], end: End) -> Reply {
    let mut events = vec![
        json!({"type": "response.created", "response": response("in_progress")}),
        json!({"type": "response.in_progress", "response": response("in_progress")}),
    ];
    for (at, part) in said.iter().enumerate() {
        events.extend(item_events(at, part));
    }
    match end {
        End::Proper => events.push(json!({"type": "response.completed", "response": whole(said)})),
        End::BrokenOff => {}
        End::Error(message) => {
            let mut failed = response("failed");
            failed["error"] = json!({"code": "server_error", "message": message});
            events.extend([
                json!({"type": "error", "code": "server_error", "message": message, "param": null}),
                json!({"type": "response.failed", "response": failed}),
            ]);
        }
    }
    events.iter_mut().enumerate().fold(replies::stream(), |reply, (number, event)| {
        event["sequence_number"] = json!(number);
        reply.send(named_event(event))
    })
}

pub(super) fn whole(said: &[Said]) -> Value {
    let mut whole = response("completed");
    let items: Vec<Value> = said.iter().enumerate().map(|(at, part)| item(at, part)).collect();
    whole["output"] = json!(items);
    whole["usage"] = json!({
        "input_tokens": COST.input, "input_tokens_details": {"cached_tokens": COST.cached},
        "output_tokens": COST.output, "output_tokens_details": {"reasoning_tokens": COST.reasoning},
        "total_tokens": COST.input + COST.output,
    });
    whole
}

fn item_events(at: usize, part: &Said) -> Vec<Value> {
    let done = item(at, part);
    let mut begun = done.clone();
    let of = |kind: &str, more: Value| {
        let mut event = json!({"type": kind, "item_id": done["id"], "output_index": at});
        for (name, value) in more.as_object().expect("fields") {
            event[name] = value.clone();
        }
        event
    };
    let middle: Vec<Value> = match part {
        Said::Thinks(text) => {
            begun["summary"] = json!([]);
            begun["encrypted_content"] = Value::Null;
            let part = json!({"type": "summary_text", "text": text});
            let empty = json!({"type": "summary_text", "text": ""});
            vec![
                of("response.reasoning_summary_part.added", json!({"summary_index": 0, "part": empty})),
                of("response.reasoning_summary_text.delta", json!({"summary_index": 0, "delta": text})),
                of("response.reasoning_summary_text.done", json!({"summary_index": 0, "text": text})),
                of("response.reasoning_summary_part.done", json!({"summary_index": 0, "part": part})),
            ]
        }
        Said::Text(text) => {
            begun["content"] = json!([]);
            let part = |text: &str| json!({"content_index": 0, "part": output(text)});
            let words = text.split_inclusive(' ');
            let deltas = words.map(|word| {
                of("response.output_text.delta", json!({"content_index": 0, "delta": word, "logprobs": []}))
            });
            [of("response.content_part.added", part(""))]
                .into_iter()
                .chain(deltas)
                .chain([
                    of("response.output_text.done", json!({"content_index": 0, "text": text})),
                    of("response.content_part.done", part(text)),
                ])
                .collect()
        }
        Said::Call(_, _, fragments) => {
            begun["arguments"] = json!("");
            let kind = "response.function_call_arguments";
            pieces(fragments, |it| of(&format!("{kind}.delta"), json!({"delta": it})))
                .chain([of(&format!("{kind}.done"), json!({"arguments": fragments.concat()}))])
                .collect()
        }
        Said::Custom(_, _, fragments) => {
            begun["input"] = json!("");
            let kind = "response.custom_tool_call_input";
            pieces(fragments, |it| of(&format!("{kind}.delta"), json!({"delta": it})))
                .chain([of(&format!("{kind}.done"), json!({"input": fragments.concat()}))])
                .collect()
        }
    };
    if begun.get("status").is_some() {
        begun["status"] = json!("in_progress");
    }
    let added = json!({"type": "response.output_item.added", "output_index": at, "item": begun});
    let done = json!({"type": "response.output_item.done", "output_index": at, "item": done});
    [added].into_iter().chain(middle).chain([done]).collect()
}

fn pieces<'a>(fragments: &'a [&str], event: impl Fn(&str) -> Value + 'a) -> impl Iterator<Item = Value> + 'a {
    fragments.iter().map(move |it| event(it))
}

fn item(at: usize, part: &Said) -> Value {
    match part {
        Said::Thinks(text) => json!({
            "id": format!("rs_{at}"), "type": "reasoning",
            "summary": [{"type": "summary_text", "text": text}], "encrypted_content": SEAL,
        }),
        Said::Text(text) => json!({
            "id": format!("msg_{at}"), "type": "message", "role": "assistant", "status": "completed",
            "content": [output(text)],
        }),
        Said::Call(id, name, fragments) => json!({
            "id": format!("fc_{at}"), "type": "function_call", "status": "completed", "call_id": id,
            "name": name, "arguments": fragments.concat(),
        }),
        Said::Custom(id, name, fragments) => json!({
            "id": format!("ctc_{at}"), "type": "custom_tool_call", "status": "completed", "call_id": id,
            "name": name, "input": fragments.concat(),
        }),
    }
}

fn output(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn response(status: &str) -> Value {
    json!({
        "id": "resp_2", "object": "response", "created_at": 1, "model": "scripted", "status": status,
        "error": null, "incomplete_details": null, "output": [],
    })
}
