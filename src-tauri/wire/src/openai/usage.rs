//! Chat's `usage` object, both ways. Its `prompt_tokens` includes cached tokens, as ours does.

use serde_json::{Map, Value, json};

use crate::usage::Usage;

/// What the object says; anything that is no count is unknown.
pub(crate) fn read(value: &Value) -> Usage {
    let within = |object: Option<&Value>, names: &[&str]| {
        let object = object?.as_object()?;
        names.iter().find_map(|name| count(object.get(*name)?))
    };
    let top = |names: &[&str]| within(Some(value), names);
    let either =
        |names: [&str; 2], inner: &[&str]| names.iter().find_map(|name| within(value.get(*name), inner));
    let of_input = ["prompt_tokens_details", "input_tokens_details"];
    let of_output = ["completion_tokens_details", "output_tokens_details"];
    Usage {
        input: top(&["prompt_tokens", "input_tokens"]),
        output: top(&["completion_tokens", "output_tokens"]),
        reasoning: either(of_output, &["reasoning_tokens"]).or_else(|| top(&["reasoning_tokens"])),
        cache_read: either(of_input, &["cached_tokens"])
            .or_else(|| top(&["prompt_cache_hit_tokens", "cached_tokens"])),
        cache_write: within(value.get(of_input[0]), &["cache_write_tokens"]),
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
