//! `usageMetadata`: thoughts are counted beside the candidates, a tool's own prompt beside the prompt.

use serde_json::{Map, Value, json};

use crate::usage::Usage;

pub(super) fn read(value: &Value) -> Usage {
    let count = |name: &str| {
        let snake = super::spelling::snake(name);
        value.get(name).or_else(|| value.get(&snake)).and_then(number)
    };
    let input = match (count("promptTokenCount"), count("toolUsePromptTokenCount")) {
        (None, None) => None,
        (prompt, tools) => Some(prompt.unwrap_or(0).saturating_add(tools.unwrap_or(0))),
    };
    let usage = Usage {
        input,
        reasoning: count("thoughtsTokenCount"),
        cache_read: count("cachedContentTokenCount"),
        ..Usage::default()
    };
    // A chunk that counts thoughts and no candidates yet has said nothing of the output but those.
    usage.with_output_beside_reasoning(count("candidatesTokenCount"))
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

pub(super) fn write(usage: Usage) -> Value {
    let input = usage.input.unwrap_or(0);
    let output = usage.output.unwrap_or(0);
    let mut object = Map::new();
    object.insert("promptTokenCount".to_owned(), json!(input));
    object.insert("candidatesTokenCount".to_owned(), json!(usage.output_beside_reasoning().unwrap_or(0)));
    if let Some(reasoning) = usage.reasoning {
        object.insert("thoughtsTokenCount".to_owned(), json!(reasoning));
    }
    if let Some(cached) = usage.cache_read {
        object.insert("cachedContentTokenCount".to_owned(), json!(cached));
    }
    let total = input.saturating_add(output.max(usage.reasoning.unwrap_or(0)));
    object.insert("totalTokenCount".to_owned(), json!(total));
    Value::Object(object)
}
