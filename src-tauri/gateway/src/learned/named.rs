//! An owner's options by the names that a refusal may use: one within an object too, as `generationConfig.topK`.

use serde_json::{Map, Value};

/// Where an API holds its options: one of these is refused by its own name, whatever object holds it.
const HOLDERS: [&str; 5] =
    ["options", "generationConfig", "generation_config", "thinkingConfig", "thinking_config"];

/// An option under one of its names.
pub(super) struct Named {
    /// As a refusal may spell it.
    pub said: String,
    /// Where it stands: `seed`, `generationConfig.topK`.
    pub path: String,
}

/// Every option of the owner's, the outer before those within it.
pub(super) fn named(options: &Map<String, Value>) -> Vec<Named> {
    let mut named = Vec::new();
    add(options, "", true, &mut named);
    named
}

fn add(fields: &Map<String, Value>, outer: &str, by_own_name: bool, named: &mut Vec<Named>) {
    for (name, value) in fields {
        let path = if outer.is_empty() { name.clone() } else { format!("{outer}.{name}") };
        if by_own_name && path != *name {
            named.push(Named { said: name.clone(), path: path.clone() });
        }
        let snake = snake(name);
        if by_own_name && snake != *name {
            named.push(Named { said: snake, path: path.clone() });
        }
        named.push(Named { said: path.clone(), path: path.clone() });
        if let Value::Object(inner) = value {
            add(inner, &path, HOLDERS.contains(&name.as_str()), named);
        }
    }
}

/// `top_k` for `topK`: Google's servers spell their fields so in what they refuse.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// Takes out the option that stands at the path.
pub(super) fn remove(options: &mut Map<String, Value>, path: &str) {
    if options.shift_remove(path).is_some() {
        return;
    }
    for (at, _) in path.match_indices('.') {
        if let Some(Value::Object(inner)) = options.get_mut(&path[..at]) {
            return remove(inner, &path[at + 1..]);
        }
    }
}
