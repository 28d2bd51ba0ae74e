//! The API's `usage` object, both ways. Its `input_tokens` includes cached tokens, as ours does.

use serde_json::{Map, Value, json};

use crate::usage::Usage;

/// What the object says; anything that is no count is unknown.
pub(super) fn read(value: &Value) -> Usage {
    let count = |path: &str| {
        let value = value.pointer(path)?;
        value.as_u64().or_else(|| {
            let number = value.as_f64()?;
            (0.0..=1e15).contains(&number).then_some(number as u64)
        })
    };
    Usage {
        input: count("/input_tokens").or_else(|| count("/prompt_tokens")),
        output: count("/output_tokens").or_else(|| count("/completion_tokens")),
        reasoning: count("/output_tokens_details/reasoning_tokens"),
        cache_read: count("/input_tokens_details/cached_tokens"),
        cache_write: count("/input_tokens_details/cache_write_tokens"),
    }
}

/// Numbers or nothing: a `null` in the details breaks clients.
pub(super) fn write(usage: Usage) -> Value {
    let input = usage.input.unwrap_or(0);
    let output = usage.output.unwrap_or(0);
    let mut object = Map::new();
    object.insert("input_tokens".to_owned(), json!(input));
    if let Some(cached) = usage.cache_read {
        object.insert("input_tokens_details".to_owned(), json!({ "cached_tokens": cached }));
    }
    object.insert("output_tokens".to_owned(), json!(output));
    if let Some(reasoning) = usage.reasoning {
        object.insert("output_tokens_details".to_owned(), json!({ "reasoning_tokens": reasoning }));
    }
    object.insert("total_tokens".to_owned(), json!(input.saturating_add(output)));
    Value::Object(object)
}
