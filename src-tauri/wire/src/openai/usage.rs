//! Chat's `usage` object, both ways. Its `prompt_tokens` includes cached tokens, as ours does.

use serde_json::{Map, Value, json};

use crate::{json, usage::Usage};

/// What the object says; anything that is no count is unknown.
pub(crate) fn read(value: &Value) -> Usage {
    let first = |paths: &[&[&str]]| paths.iter().find_map(|path| count(json::at(value, path)?));
    Usage {
        input: first(&[&["prompt_tokens"], &["input_tokens"]]),
        output: first(&[&["completion_tokens"], &["output_tokens"]]),
        reasoning: first(&[
            &["completion_tokens_details", "reasoning_tokens"],
            &["output_tokens_details", "reasoning_tokens"],
            &["reasoning_tokens"],
        ]),
        cache_read: first(&[
            &["prompt_tokens_details", "cached_tokens"],
            &["input_tokens_details", "cached_tokens"],
            &["prompt_cache_hit_tokens"],
            &["cached_tokens"],
        ]),
        cache_write: first(&[&["prompt_tokens_details", "cache_write_tokens"]]),
    }
}

fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        (0.0..=1e15).contains(&number).then_some(number as u64)
    })
}

/// Numbers or nothing: a `null` in the details breaks clients.
pub(crate) fn write(usage: Usage) -> Value {
    let input = usage.input.unwrap_or(0);
    let output = usage.output.unwrap_or(0);
    let mut object = Map::new();
    object.insert("prompt_tokens".to_owned(), json!(input));
    object.insert("completion_tokens".to_owned(), json!(output));
    object.insert("total_tokens".to_owned(), json!(input.saturating_add(output)));
    if let Some(cached) = usage.cache_read {
        object.insert("prompt_tokens_details".to_owned(), json!({ "cached_tokens": cached }));
    }
    if let Some(reasoning) = usage.reasoning {
        object.insert("completion_tokens_details".to_owned(), json!({ "reasoning_tokens": reasoning }));
    }
    Value::Object(object)
}
