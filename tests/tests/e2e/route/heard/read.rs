use std::collections::HashMap;

use serde_json::Value;

use super::{Called, Heard, Part};
use crate::route::caller::Caller;

/// Takes the body apart.
pub(super) fn read(heard: &mut Heard, caller: Caller, streamed: bool) {
    let raw = heard.raw.clone();
    if !streamed {
        let reply: Value =
            serde_json::from_str(&raw).unwrap_or_else(|error| panic!("{caller:?}: {error}: {raw}"));
        heard.error = error_of(&reply);
        heard.proper = heard.error.is_none();
        whole(heard, caller, &reply);
        return;
    }
    let mut reading = Reading { heard, at: HashMap::new() };
    match caller {
        Caller::GeminiArray => match serde_json::from_str::<Vec<Value>>(&raw) {
            Ok(values) => {
                reading.heard.proper = true;
                values.iter().for_each(|value| reading.event(caller, value));
            }
            Err(_) => {
                // Broken off: each value is on a line.
                let lines = raw.lines().map(|line| line.trim_matches(['[', ',', ']']));
                let values: Vec<Value> = lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
                values.iter().for_each(|value| reading.event(caller, value));
            }
        },
        Caller::Ollama | Caller::Generate => {
            for line in raw.lines().filter(|line| !line.is_empty()) {
                reading.event(caller, &parsed(caller, line));
            }
        }
        _ => {
            for line in raw.lines() {
                match line.strip_prefix("data:").map(str::trim_start) {
                    Some("[DONE]") => reading.heard.proper = true,
                    Some(data) => reading.event(caller, &parsed(caller, data)),
                    None => assert!(
                        line.is_empty() || line.starts_with("event: ") || line.starts_with(':'),
                        "{caller:?}: a line that is nothing: {line:?}"
                    ),
                }
            }
        }
    }
    if heard.error.is_some() {
        heard.proper = false;
    }
    if caller == Caller::Gemini {
        heard.proper = heard.finish.is_some();
    }
}

fn parsed(caller: Caller, text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{caller:?}: {error}: {text}"))
}

fn error_of(value: &Value) -> Option<Value> {
    value.get("error").filter(|error| !error.is_null()).cloned()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// One JSON value that is the whole reply.
fn whole(heard: &mut Heard, caller: Caller, reply: &Value) {
    heard.bench = reply.get("bench").cloned();
    heard.model = text(&reply["model"]).or_else(|| text(&reply["modelVersion"]));
    let mut reading = Reading { heard, at: HashMap::new() };
    match caller {
        Caller::Chat => {
            let choice = &reply["choices"][0];
            reading.heard.finish = text(&choice["finish_reason"]);
            reading.chat(&choice["message"]);
        }
        Caller::Completions => {
            let choice = &reply["choices"][0];
            reading.heard.finish = text(&choice["finish_reason"]);
            reading.say(&choice["text"]);
        }
        Caller::Responses => {
            reading.heard.finish = text(&reply["status"]);
            reply["output"].as_array().into_iter().flatten().for_each(|item| reading.item(item));
        }
        Caller::Anthropic => {
            reading.heard.finish = text(&reply["stop_reason"]);
            for block in reply["content"].as_array().into_iter().flatten() {
                let part = block_start(block);
                reading.heard.parts.push(part);
            }
        }
        Caller::Ollama | Caller::Generate | Caller::Gemini | Caller::GeminiArray => {
            reading.event(caller, reply);
        }
    }
}

struct Reading<'a> {
    heard: &'a mut Heard,
    /// Which part an index of the API is.
    at: HashMap<u64, usize>,
}

impl Reading<'_> {
    fn event(&mut self, caller: Caller, event: &Value) {
        if let Some(error) = error_of(event) {
            self.heard.error = Some(error);
        }
        if let Some(bench) = event.get("bench").or_else(|| event["response"].get("bench")) {
            self.heard.bench = Some(bench.clone());
        }
        for at in ["/model", "/response/model", "/message/model", "/modelVersion"] {
            if let Some(model) = event.pointer(at).and_then(text) {
                self.heard.model = Some(model);
            }
        }
        match caller {
            Caller::Chat => {
                let choice = &event["choices"][0];
                self.finish(&choice["finish_reason"]);
                self.chat(&choice["delta"]);
            }
            Caller::Completions => {
                let choice = &event["choices"][0];
                self.finish(&choice["finish_reason"]);
                self.say(&choice["text"]);
            }
            Caller::Responses => self.responses(event),
            Caller::Anthropic => self.anthropic(event),
            Caller::Ollama => {
                self.finish(&event["done_reason"]);
                self.heard.proper |= event["done"] == true;
                self.ollama(&event["message"]);
            }
            Caller::Generate => {
                self.finish(&event["done_reason"]);
                self.heard.proper |= event["done"] == true;
                self.think(&event["thinking"]);
                self.say(&event["response"]);
            }
            Caller::Gemini | Caller::GeminiArray => {
                let candidate = &event["candidates"][0];
                self.finish(&candidate["finishReason"]);
                for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
                    self.gemini(part);
                }
            }
        }
    }

    fn finish(&mut self, finish: &Value) {
        if let Some(finish) = text(finish).filter(|finish| !finish.is_empty()) {
            self.heard.finish = Some(finish);
        }
    }

    fn say(&mut self, said: &Value) {
        let Some(said) = said.as_str().filter(|said| !said.is_empty()) else { return };
        match self.heard.parts.last_mut() {
            Some(Part::Text(text)) => text.push_str(said),
            _ => self.heard.parts.push(Part::Text(said.to_owned())),
        }
    }

    fn think(&mut self, thought: &Value) {
        let Some(thought) = thought.as_str().filter(|thought| !thought.is_empty()) else { return };
        match self.heard.parts.last_mut() {
            Some(Part::Thinking { text, .. }) => text.push_str(thought),
            _ => self.heard.parts.push(Part::Thinking { text: thought.to_owned(), seal: None }),
        }
    }

    /// A message, or the delta of one.
    fn chat(&mut self, message: &Value) {
        self.think(&message["reasoning_content"]);
        self.say(&message["content"]);
        for (place, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
            let index = call["index"].as_u64().unwrap_or(place as u64);
            let at = *self.at.entry(index).or_insert_with(|| {
                self.heard.parts.push(Part::Call(Called::default()));
                self.heard.parts.len() - 1
            });
            let Part::Call(known) = &mut self.heard.parts[at] else { panic!("not a call") };
            if let Some(id) = text(&call["id"]) {
                known.id = id;
            }
            if let Some(name) = text(&call["function"]["name"]) {
                known.name = name;
            }
            if let Some(more) = call["function"]["arguments"].as_str().filter(|more| !more.is_empty()) {
                self.heard.fragments += 1;
                known.arguments.push_str(more);
            }
        }
    }

    fn ollama(&mut self, message: &Value) {
        self.think(&message["thinking"]);
        self.say(&message["content"]);
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            self.heard.parts.push(Part::Call(Called {
                id: text(&call["id"]).unwrap_or_default(),
                name: text(&call["function"]["name"]).unwrap_or_default(),
                arguments: call["function"]["arguments"].to_string(),
                ..Called::default()
            }));
        }
    }

    fn gemini(&mut self, part: &Value) {
        let seal = text(&part["thoughtSignature"]);
        if part["functionCall"].is_object() {
            self.heard.parts.push(Part::Call(Called {
                id: text(&part["functionCall"]["id"]).unwrap_or_default(),
                name: text(&part["functionCall"]["name"]).unwrap_or_default(),
                arguments: part["functionCall"]["args"].to_string(),
                seal,
                ..Called::default()
            }));
        } else if part["thought"] == true {
            self.think(&part["text"]);
            if let (Some(seal), Some(Part::Thinking { seal: known, .. })) =
                (seal, self.heard.parts.last_mut())
            {
                *known = Some(seal);
            }
        } else {
            self.say(&part["text"]);
        }
    }

    fn anthropic(&mut self, event: &Value) {
        let index = event["index"].as_u64().unwrap_or_default();
        match event["type"].as_str().unwrap_or_default() {
            "content_block_start" => {
                let mut part = block_start(&event["content_block"]);
                if let Part::Call(call) = &mut part {
                    call.arguments.clear();
                }
                self.at.insert(index, self.heard.parts.len());
                self.heard.parts.push(part);
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                let said = |field: &str| text(&delta[field]);
                match &mut self.heard.parts[self.at[&index]] {
                    Part::Text(text) => text.push_str(&said("text").expect("text")),
                    Part::Thinking { text, seal } => match said("thinking") {
                        Some(more) => text.push_str(&more),
                        None => *seal = said("signature"),
                    },
                    Part::Redacted(_) => panic!("it comes whole"),
                    Part::Call(call) => {
                        let more = said("partial_json").expect("arguments");
                        self.heard.fragments += usize::from(!more.is_empty());
                        call.arguments.push_str(&more);
                    }
                }
            }
            "message_delta" => self.finish(&event["delta"]["stop_reason"]),
            "message_stop" => self.heard.proper = true,
            _ => {}
        }
    }

    fn responses(&mut self, event: &Value) {
        match event["type"].as_str().unwrap_or_default() {
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                self.heard.fragments += 1;
                let index = event["output_index"].as_u64().unwrap_or_default();
                let at = *self.at.get(&index).expect("an item that was added");
                let Part::Call(call) = &mut self.heard.parts[at] else { panic!("not a call") };
                call.arguments.push_str(event["delta"].as_str().unwrap_or_default());
            }
            "response.output_text.delta" => self.say(&event["delta"]),
            "response.reasoning_summary_text.delta" => self.think(&event["delta"]),
            "response.output_item.added"
                if event["item"]["type"].as_str().is_some_and(|it| it.ends_with("_call")) =>
            {
                let mut begun = event["item"].clone();
                for field in ["arguments", "input"] {
                    begun[field] = Value::String(String::new());
                }
                self.at.insert(event["output_index"].as_u64().unwrap_or_default(), self.heard.parts.len());
                self.item(&begun);
            }
            "response.output_item.done" => match event["item"]["type"].as_str() {
                Some("reasoning") => self.reasoned(&event["item"]),
                Some("function_call" | "custom_tool_call") => {
                    let index = event["output_index"].as_u64().unwrap_or_default();
                    let Part::Call(call) = &self.heard.parts[self.at[&index]] else { panic!("not a call") };
                    let field = if call.custom { "input" } else { "arguments" };
                    assert_eq!(event["item"][field], call.arguments, "what the item ends with is what came");
                }
                _ => {}
            },
            "response.completed" => {
                self.heard.proper = true;
                self.finish(&event["response"]["status"]);
            }
            "response.failed" => self.heard.error = Some(event["response"]["error"].clone()),
            "error" => self.heard.error = Some(event.clone()),
            _ => {}
        }
    }

    /// An item of thoughts is done: its words have come, and its seal is here.
    fn reasoned(&mut self, item: &Value) {
        let seal = text(&item["encrypted_content"]);
        let summary: String = item["summary"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|part| part["text"].as_str())
            .collect();
        match self.heard.parts.last_mut() {
            Some(Part::Thinking { text, seal: known }) if !summary.is_empty() => {
                assert_eq!(*text, summary, "what the item ends with is what came");
                *known = seal;
            }
            _ => self.heard.parts.push(Part::Thinking { text: summary, seal }),
        }
    }

    /// One whole item of Responses.
    fn item(&mut self, item: &Value) {
        let custom = item["type"] == "custom_tool_call";
        match item["type"].as_str().unwrap_or_default() {
            "message" => {
                for part in item["content"].as_array().into_iter().flatten() {
                    self.say(&part["text"]);
                }
            }
            "reasoning" => {
                let summary = item["summary"].as_array().into_iter().flatten();
                let words: String = summary.filter_map(|part| part["text"].as_str()).collect();
                let seal = text(&item["encrypted_content"]);
                self.heard.parts.push(Part::Thinking { text: words, seal });
            }
            "function_call" | "custom_tool_call" => self.heard.parts.push(Part::Call(Called {
                id: text(&item["call_id"]).unwrap_or_default(),
                name: text(&item["name"]).unwrap_or_default(),
                namespace: text(&item["namespace"]),
                arguments: text(&item[if custom { "input" } else { "arguments" }]).unwrap_or_default(),
                custom,
                seal: None,
            })),
            other => panic!("an item of type {other:?}"),
        }
    }
}

/// A block of Messages as it stands.
fn block_start(block: &Value) -> Part {
    match block["type"].as_str().unwrap_or_default() {
        "text" => Part::Text(text(&block["text"]).unwrap_or_default()),
        "thinking" => Part::Thinking {
            text: text(&block["thinking"]).unwrap_or_default(),
            seal: text(&block["signature"]).filter(|seal| !seal.is_empty()),
        },
        "tool_use" => Part::Call(Called {
            id: text(&block["id"]).unwrap_or_default(),
            name: text(&block["name"]).unwrap_or_default(),
            arguments: block["input"].to_string(),
            ..Called::default()
        }),
        "redacted_thinking" => Part::Redacted(text(&block["data"]).unwrap_or_default()),
        other => panic!("a block of type {other:?}"),
    }
}
