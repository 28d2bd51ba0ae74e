//! Chat's `usage` object, both ways. Its `prompt_tokens` includes cached tokens, as ours does.

use serde_json::{Map, Value, json};

use crate::{json, usage::Usage};

/// What the object says; anything that is no count is unknown.
pub(crate) fn read(value: &Value) -> Usage {
    let first = |paths: &[&[&str]]| paths.iter().find_map(|path| count(json::at(value, path)?));
    let input = first(&[&["prompt_tokens"], &["input_tokens"]]);
    let output = first(&[&["completion_tokens"], &["output_tokens"]]);
    let within = first(&[
        &["completion_tokens_details", "reasoning_tokens"],
        &["output_tokens_details", "reasoning_tokens"],
    ]);
    let reasoning = within.or_else(|| first(&[&["reasoning_tokens"]]));
    let total = first(&[&["total_tokens"]]);
    Usage {
        input,
        output: output.map(|output| with_reasoning(input, output, reasoning, total, within.is_none())),
        reasoning,
        cache_read: first(&[
            &["prompt_tokens_details", "cached_tokens"],
            &["input_tokens_details", "cached_tokens"],
            &["prompt_cache_hit_tokens"],
            &["cached_tokens"],
        ]),
        cache_write: first(&[
            &["prompt_tokens_details", "cache_write_tokens"],
            &["prompt_tokens_details", "cache_creation_input_tokens"],
            &["cache_creation_input_tokens"],
        ]),
    }
}

/// The output with the reasoning in it, as most count it. Where reasoning stands beside it the total tells (xAI).
/// Where the total leaves it out too, there is more of it than of the output and it is no detail of that
/// (Perplexity's research).
fn with_reasoning(
    input: Option<u64>,
    output: u64,
    reasoning: Option<u64>,
    total: Option<u64>,
    is_apart: bool,
) -> u64 {
    let reasoning = reasoning.unwrap_or(0);
    let beside = match (input, total) {
        (Some(input), Some(total)) => total.saturating_sub(input).saturating_sub(output).min(reasoning),
        _ => 0,
    };
    if beside == 0 && is_apart && reasoning > output {
        return output.saturating_add(reasoning);
    }
    output.saturating_add(beside).max(reasoning)
}

/// What llama.cpp had of the prompt already: older ones tell it beside `usage` only.
pub(crate) fn cached_before(timings: Option<&Value>) -> Option<u64> {
    timings?.get("cache_n").and_then(count)
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
