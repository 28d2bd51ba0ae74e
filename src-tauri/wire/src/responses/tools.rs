//! A caller's `tools`, `tool_choice`, `parallel_tool_calls`.

use super::content::{optional, required};
use crate::{
    dialect::Dialect,
    error::ApiError,
    json::{self, Found, Object, Place},
    model::{Request, Tool, ToolChoice, ToolMode, ToolRef},
    raw::Fields,
};

pub(super) fn read(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    let root = Place::Root;
    if let Some(raw) = fields.take("tools") {
        let place = root.field("tools");
        for (index, raw) in json::list(raw, place)?.into_iter().enumerate() {
            tool(raw, place.index(index), None, &mut request.tools, &mut request.extra)?;
        }
    }
    if let Some(raw) = fields.take("tool_choice") {
        let choice = choice(raw, root.field("tool_choice"))?;
        // Without tools a choice among them means nothing, and some servers refuse it.
        request.tool_choice = Some(choice).filter(|_| !request.tools.is_empty());
    }
    if let Some(raw) = fields.take("parallel_tool_calls") {
        let parallel = json::boolean(raw, root.field("parallel_tool_calls"))?;
        request.parallel_tool_calls = Some(parallel).filter(|_| !request.tools.is_empty());
    }
    Ok(())
}

/// Appends a tool, or the tools of a group (`namespace` is the one it stands in).
fn tool(
    raw: Found<'_>,
    place: Place<'_>,
    namespace: Option<&str>,
    tools: &mut Vec<Tool>,
    unplaced: &mut Fields,
) -> Result<(), ApiError> {
    let mut fields = Object::read(raw, place)?;
    let kind = required(&mut fields, "type", place)?;
    let owned = || namespace.map(str::to_owned);
    match kind.as_str() {
        "function" => {
            let name = required(&mut fields, "name", place)?;
            let description = optional(&mut fields, "description", place)?;
            let parameters = fields.take("parameters");
            if parameters.is_some_and(|raw| !raw.is_object()) {
                return Err(place.field("parameters").expected("object"));
            }
            let strict = fields.take("strict");
            let strict = strict.map(|raw| json::boolean(raw, place.field("strict"))).transpose()?;
            let parameters = parameters.map(Into::into);
            let namespace = owned();
            tools.push(Tool::Function { name, namespace, description, parameters, strict, cache: None });
        }
        "custom" => {
            let name = required(&mut fields, "name", place)?;
            let description = optional(&mut fields, "description", place)?;
            let grammar = fields.take("format").map(Into::into);
            tools.push(Tool::Custom { name, namespace: owned(), description, grammar, cache: None });
        }
        // It would be sent on as one of its own, which it is not.
        "namespace" if namespace.is_some() => {
            return Err(place.field("type").expected("no namespace within a namespace"));
        }
        "namespace" => {
            let name = required(&mut fields, "name", place)?;
            optional(&mut fields, "description", place)?;
            let inner = place.field("tools");
            let list = fields.take("tools").ok_or_else(|| inner.expected("list"))?;
            for (index, raw) in json::list(list, inner)?.into_iter().enumerate() {
                tool(raw, inner.index(index), Some(&name), tools, unplaced)?;
            }
        }
        _ => {
            tools.push(Tool::Vendor { dialect: Dialect::Responses, kind, raw: raw.into() });
            return Ok(());
        }
    }
    unplaced.extend(fields.rest().map(|(name, raw)| (place.field(&name).to_string(), raw.into())));
    Ok(())
}

fn choice(raw: Found<'_>, place: Place<'_>) -> Result<ToolChoice, ApiError> {
    let vendor = || ToolChoice::Vendor { dialect: Dialect::Responses, raw: raw.into() };
    if raw.is_string() {
        return Ok(match json::string(raw, place)?.as_str() {
            "auto" => ToolChoice::Auto,
            "none" => ToolChoice::None,
            "required" => ToolChoice::Required,
            _ => vendor(),
        });
    }
    if !raw.is_object() {
        return Err(place.expected("string or object"));
    }
    let mut fields = Object::read(raw, place)?;
    match required(&mut fields, "type", place)?.as_str() {
        "function" | "custom" => Ok(ToolChoice::Named(reference(&mut fields, place)?)),
        "allowed_tools" => {
            let mode = match optional(&mut fields, "mode", place)?.as_deref() {
                Some("required") => ToolMode::Required,
                None | Some("auto") => ToolMode::Auto,
                Some(_) => return Err(place.field("mode").expected("\"auto\" or \"required\"")),
            };
            let place = place.field("tools");
            let list = fields.take("tools").ok_or_else(|| place.expected("list"))?;
            let mut tools = Vec::new();
            for (at, mut fields) in json::objects(list, place)?.into_iter().enumerate() {
                // A vendor's own tools have no name; only their vendor could choose them.
                let kind = required(&mut fields, "type", place.index(at))?;
                if matches!(kind.as_str(), "function" | "custom") {
                    tools.push(reference(&mut fields, place.index(at))?);
                }
            }
            Ok(ToolChoice::Allowed { mode, tools })
        }
        _ => Ok(vendor()),
    }
}

fn reference(fields: &mut Object<'_>, place: Place<'_>) -> Result<ToolRef, ApiError> {
    let name = required(fields, "name", place)?;
    Ok(ToolRef { name, namespace: optional(fields, "namespace", place)? })
}
