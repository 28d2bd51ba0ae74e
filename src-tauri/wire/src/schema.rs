//! JSON Schema reduced to what a dialect takes: by whitelist, never by a list of what is known to be refused.
//! `$ref` is inlined (bounded, cycle-safe). What is lost is listed, and a constraint that is lost is said in the
//! description.

mod reduce;

#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::{notice::Notice, raw::Raw};

/// What a dialect takes of JSON Schema. Tools' parameters and response schemas may differ: each has its own.
#[derive(Debug)]
pub struct Profile {
    /// Every keyword it takes; `None` takes all, and the text goes on as it was written.
    pub keywords: Option<&'static [&'static str]>,
    /// `$ref` and `$defs`; otherwise references are inlined.
    pub refs: bool,
    /// `"type": ["string", "null"]`; otherwise `nullable: true` beside one type, or `anyOf`.
    pub type_lists: bool,
    /// Values of `enum` that are no strings.
    pub any_enum: bool,
    /// The `format`s it takes; `None` takes all.
    pub formats: Option<&'static [&'static str]>,
    /// `STRING` for `string`.
    pub upper_types: bool,
    /// The root must be of `"type": "object"`, as with a tool's parameters.
    pub object_root: bool,
}

impl Profile {
    /// All of JSON Schema, for a tool's parameters.
    pub const TOOL: Profile = Profile {
        keywords: None,
        refs: true,
        type_lists: true,
        any_enum: true,
        formats: None,
        upper_types: false,
        object_root: true,
    };
    /// All of JSON Schema, for a response.
    pub const RESPONSE: Profile = Profile { object_root: false, ..Profile::TOOL };
}

/// The parameters of a tool that takes none.
pub(crate) fn empty() -> Raw {
    Raw::from(&serde_json::json!({"type": "object", "properties": {}}))
}

/// The schema as the profile has it. `place` is where it stands in the caller's words.
pub(crate) fn reduce(schema: &Raw, profile: &Profile, place: &str, notices: &mut Vec<Notice>) -> Raw {
    let Some(keywords) = profile.keywords else { return with_root(schema, profile) };
    let root = schema.value();
    let mut reducer = reduce::Reducer::new(&root, profile, keywords);
    let mut reduced = reducer.root();
    if profile.object_root {
        set_object(&mut reduced, profile);
    }
    for (path, reason) in reducer.losses {
        notices.push(Notice::new(format!("{place}{path}"), reason));
    }
    Raw::from(&reduced)
}

/// The text as it is, with a root type set in front where one is wanted and none stands.
fn with_root(schema: &Raw, profile: &Profile) -> Raw {
    let text = schema.get();
    if !profile.object_root {
        return schema.clone();
    }
    let root = schema.value();
    let Value::Object(fields) = &root else { return empty() };
    if fields.contains_key("type") || fields.contains_key("$ref") {
        return schema.clone();
    }
    if fields.is_empty() {
        return empty();
    }
    let rest = text.trim_start().strip_prefix('{').unwrap_or_default();
    Raw::new(format!("{{\"type\":\"object\",{rest}")).unwrap_or_else(|| schema.clone())
}

fn set_object(reduced: &mut Value, profile: &Profile) {
    let word = if profile.upper_types { "OBJECT" } else { "object" };
    if !reduced.is_object() {
        *reduced = Value::Object(serde_json::Map::new());
    }
    if let Value::Object(fields) = reduced {
        if fields.get("type").and_then(Value::as_str) != Some(word) {
            fields.insert("type".to_owned(), word.into());
        }
        fields.remove("nullable");
    }
}
