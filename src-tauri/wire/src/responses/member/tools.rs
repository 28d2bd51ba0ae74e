//! Tools and the choice among them as a member is sent them.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Value, json};

use crate::{
    model::{Tool, ToolChoice, ToolMode, ToolRef},
    raw::Raw,
};

pub(super) struct Offered<'a>(pub &'a Tool);

impl Serialize for Offered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, name, description) = match self.0 {
            Tool::Vendor { raw, .. } => return raw.serialize(serializer),
            Tool::Function { name, description, .. } => ("function", name, description),
            Tool::Custom { name, description, .. } => ("custom", name, description),
        };
        let mut tool = serializer.serialize_map(None)?;
        tool.serialize_entry("type", kind)?;
        tool.serialize_entry("name", name)?;
        if let Some(description) = description {
            tool.serialize_entry("description", description)?;
        }
        match self.0 {
            Tool::Function { parameters, strict, .. } => {
                tool.serialize_entry("parameters", parameters)?;
                // Left out means strict here, and not strict everywhere else.
                tool.serialize_entry("strict", &strict.unwrap_or(false))?;
            }
            Tool::Custom { grammar: Some(grammar), .. } => {
                tool.serialize_entry("format", &flat(grammar))?;
            }
            _ => {}
        }
        tool.end()
    }
}

/// Chat nests what stands flat here.
fn flat(grammar: &Raw) -> Value {
    let mut value = grammar.value();
    if let Some(Value::Object(inner)) = value.get_mut("grammar").map(Value::take) {
        let mut flat = json!({ "type": "grammar" });
        if let Value::Object(fields) = &mut flat {
            fields.extend(inner);
        }
        return flat;
    }
    value
}

pub(super) fn choice(choice: &ToolChoice, tools: &[Tool]) -> Value {
    let named = |tool: &ToolRef| {
        let is_custom = tools
            .iter()
            .any(|known| matches!(known, Tool::Custom { .. }) && known.reference().as_ref() == Some(tool));
        json!({ "type": if is_custom { "custom" } else { "function" }, "name": tool.name })
    };
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Named(tool) => named(tool),
        ToolChoice::Allowed { mode, tools } => {
            let mode = if *mode == ToolMode::Required { "required" } else { "auto" };
            let tools: Vec<Value> = tools.iter().map(named).collect();
            json!({ "type": "allowed_tools", "mode": mode, "tools": tools })
        }
        ToolChoice::Vendor { raw, .. } => json!(raw),
    }
}
