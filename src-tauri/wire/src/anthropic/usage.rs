//! Anthropic's `usage` object, both ways. Its `input_tokens` leaves cached tokens out; ours includes them.

use serde_json::{Map, Value, json};

use crate::{json, usage::Usage};

/// The counts of a turn as they stand so far, in the dialect's own meaning.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    fresh: Option<u64>,
    output: Option<u64>,
    /// Part of the output.
    reasoning: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
}

impl Counts {
    /// Takes what a later object says. A count of nothing where there was one is a server that does not count at
    /// that place; any other count stands over the earlier, smaller ones too (some servers begin with the whole
    /// context and tell at the end how much of it was fresh).
    pub fn update(&mut self, value: &Value) {
        let fields: [(&[&str], _); 5] = [
            (&["input_tokens"], &mut self.fresh),
            (&["output_tokens"], &mut self.output),
            (&["output_tokens_details", "thinking_tokens"], &mut self.reasoning),
            (&["cache_read_input_tokens"], &mut self.cache_read),
            (&["cache_creation_input_tokens"], &mut self.cache_write),
        ];
        for (path, known) in fields {
            if let Some(count) = json::at(value, path).and_then(count)
                && (count > 0 || known.is_none())
            {
                *known = Some(count);
            }
        }
    }

    pub fn usage(&self) -> Usage {
        Usage {
            output: self.output,
            reasoning: self.reasoning,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            ..Usage::default()
        }
        .with_input_beside_cache(self.fresh)
    }
}

fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        (0.0..=1e15).contains(&number).then_some(number as u64)
    })
}

/// The two counts the API always has, and the others where they are known: never null.
pub(super) fn write(usage: Usage) -> Value {
    let mut object = Map::new();
    object.insert("input_tokens".to_owned(), json!(usage.input_beside_cache().unwrap_or(0)));
    let cached =
        [("cache_creation_input_tokens", usage.cache_write), ("cache_read_input_tokens", usage.cache_read)];
    for (name, count) in cached {
        if let Some(count) = count {
            object.insert(name.to_owned(), json!(count));
        }
    }
    object.insert("output_tokens".to_owned(), json!(usage.output.unwrap_or(0)));
    Value::Object(object)
}
