//! Tools and the choice among them as a member is sent them.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Value, json};

use super::turn::cache_control;
use crate::{
    model::{CacheMark, Tool, ToolChoice, ToolMode},
    raw::Raw,
};

pub(super) struct Offered<'a>(pub &'a Tool);

impl Serialize for Offered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Function<'a> {
            name: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            description: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            parameters: Option<&'a Raw>,
            #[serde(skip_serializing_if = "Option::is_none")]
            strict: Option<bool>,
        }
        #[derive(Serialize)]
        struct Custom<'a> {
            name: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            description: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            format: Option<&'a Raw>,
        }
        let mark = |cache: &Option<CacheMark>| cache.as_ref().map(cache_control);
        match self.0 {
            Tool::Vendor { raw, .. } => raw.serialize(serializer),
            Tool::Function { name, description, parameters, strict, cache, .. } => {
                let (description, parameters) = (description.as_deref(), parameters.as_ref());
                let function = Function { name, description, parameters, strict: *strict };
                tool(serializer, "function", &function, mark(cache))
            }
            Tool::Custom { name, description, grammar, cache, .. } => {
                let custom = Custom { name, description: description.as_deref(), format: grammar.as_ref() };
                tool(serializer, "custom", &custom, mark(cache))
            }
        }
    }
}

fn tool<S: Serializer>(
    serializer: S,
    kind: &str,
    inner: &impl Serialize,
    mark: Option<Value>,
) -> Result<S::Ok, S::Error> {
    let mut tool = serializer.serialize_map(None)?;
    tool.serialize_entry("type", kind)?;
    tool.serialize_entry(kind, inner)?;
    if let Some(mark) = mark {
        tool.serialize_entry("cache_control", &mark)?;
    }
    tool.end()
}

pub(super) fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Named(tool) => json!({ "type": "function", "function": { "name": tool.name } }),
        ToolChoice::Allowed { mode, tools } => {
            let tools: Vec<Value> = tools
                .iter()
                .map(|tool| json!({ "type": "function", "function": { "name": tool.name } }))
                .collect();
            let mode = if *mode == ToolMode::Required { "required" } else { "auto" };
            json!({ "type": "allowed_tools", "allowed_tools": { "mode": mode, "tools": tools } })
        }
        ToolChoice::Vendor { raw, .. } => json!(raw),
    }
}
