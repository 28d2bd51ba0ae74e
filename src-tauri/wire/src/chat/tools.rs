//! A caller's `tools`, `tool_choice`, `parallel_tool_calls`, and the calls of an assistant turn.

use super::content;
use crate::{
    dialect::Dialect,
    error::ApiError,
    ids::Matcher,
    json::{self, Found, Object, Place},
    model::{CallKind, Content, Part, Request, Seal, Tool, ToolCall, ToolChoice, ToolMode, ToolRef},
    raw::Fields,
};

pub(super) fn read(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    let root = Place::Root;
    if let Some(raw) = fields.take("tools") {
        let place = root.field("tools");
        for (index, raw) in json::list(raw, place)?.into_iter().enumerate() {
            let tool = tool(raw, place.index(index), &mut request.extra)?;
            request.tools.push(tool);
        }
    }
    if let Some(raw) = fields.take("tool_choice") {
        let place = root.field("tool_choice");
        let choice = choice(raw, place)?;
        // Without tools a choice among them means nothing, and some servers refuse it.
        request.tool_choice = Some(choice).filter(|_| !request.tools.is_empty());
    }
    if let Some(raw) = fields.take("parallel_tool_calls") {
        let parallel = json::boolean(raw, root.field("parallel_tool_calls"))?;
        request.parallel_tool_calls = Some(parallel).filter(|_| !request.tools.is_empty());
    }
    Ok(())
}

/// Appends an assistant turn's calls to its parts.
pub(super) fn read_calls(
    raw: Found<'_>,
    place: Place<'_>,
    ids: &mut Matcher,
    parts: &mut Vec<Part>,
) -> Result<(), ApiError> {
    for (index, raw) in json::list(raw, place)?.into_iter().enumerate() {
        let place = place.index(index);
        parts.push(Part::new(Content::ToolCall(call(raw, place, ids)?)).at(place));
    }
    Ok(())
}

fn call(raw: Found<'_>, place: Place<'_>, ids: &mut Matcher) -> Result<ToolCall, ApiError> {
    let mut fields = Object::read(raw, place)?;
    let id = optional(&mut fields, "id", place)?;
    let kind = fields.take("type").map(|raw| json::word(raw, place.field("type"))).transpose()?;
    let is_custom = kind.as_deref() == Some("custom");
    let (field, arguments, kind) = if is_custom {
        ("custom", "input", CallKind::Custom)
    } else {
        ("function", "arguments", CallKind::Function)
    };
    let inner = place.field(field);
    let mut called = match fields.take(field) {
        Some(raw) => Object::read(raw, inner)?,
        None => Object::default(),
    };
    let name = optional(&mut called, "name", inner)?.unwrap_or_default();
    let arguments = called.take(arguments).map(|raw| json::text(raw, inner.field(arguments))).transpose()?;
    let arguments = arguments.unwrap_or_default();
    let id = ids.call(id.as_deref(), &name);
    let signature = fields.take("extra_content").and_then(|raw| {
        let value: serde_json::Value = serde_json::from_str(raw.get()).ok()?;
        Some(Seal::from_caller(value.pointer("/google/thought_signature")?.as_str()?))
    });
    Ok(ToolCall { id, name, namespace: None, arguments, kind, signature })
}

fn tool(raw: Found<'_>, place: Place<'_>, unplaced: &mut Fields) -> Result<Tool, ApiError> {
    let mut fields = Object::read(raw, place)?;
    let kind = required(&mut fields, "type", place)?;
    if !matches!(kind.as_str(), "function" | "custom") {
        return Ok(Tool::Vendor { dialect: Dialect::Chat, kind, raw: raw.into() });
    }
    let inner_place = place.field(&kind);
    let inner = fields.take(&kind).ok_or_else(|| inner_place.expected("object"))?;
    let mut inner = Object::read(inner, inner_place)?;
    let name = required(&mut inner, "name", inner_place)?;
    let description = optional(&mut inner, "description", inner_place)?;
    let cache = fields
        .take("cache_control")
        .map(|raw| content::cache_mark(raw, place.field("cache_control")))
        .transpose()?;
    let tool = if kind == "custom" {
        let grammar = inner.take("format").map(Into::into);
        Tool::Custom { name, namespace: None, description, grammar, cache }
    } else {
        let parameters = inner.take("parameters");
        if parameters.is_some_and(|raw| !raw.is_object()) {
            return Err(inner_place.field("parameters").expected("object"));
        }
        let strict = inner.take("strict");
        let strict = strict.map(|raw| json::boolean(raw, inner_place.field("strict"))).transpose()?;
        let parameters = parameters.map(Into::into);
        Tool::Function { name, namespace: None, description, parameters, strict, cache }
    };
    unplaced.extend(inner.rest().map(|(name, raw)| (inner_place.field(&name).to_string(), raw.into())));
    unplaced.extend(fields.rest().map(|(name, raw)| (place.field(&name).to_string(), raw.into())));
    Ok(tool)
}

fn choice(raw: Found<'_>, place: Place<'_>) -> Result<ToolChoice, ApiError> {
    let vendor = || ToolChoice::Vendor { dialect: Dialect::Chat, raw: raw.into() };
    if raw.is_string() {
        return Ok(match json::string(raw, place)?.as_str() {
            "auto" => ToolChoice::Auto,
            "none" => ToolChoice::None,
            // Mistral's word.
            "required" | "any" => ToolChoice::Required,
            _ => vendor(),
        });
    }
    if !raw.is_object() {
        return Err(place.expected("string or object"));
    }
    let mut fields = Object::read(raw, place)?;
    let kind = required(&mut fields, "type", place)?;
    match kind.as_str() {
        "function" | "custom" => Ok(ToolChoice::Named(reference(&mut fields, &kind, place)?)),
        "allowed_tools" => {
            let place = place.field("allowed_tools");
            let inner = fields.take("allowed_tools").ok_or_else(|| place.expected("object"))?;
            let mut inner = Object::read(inner, place)?;
            let mode = match optional(&mut inner, "mode", place)?.as_deref() {
                Some("required") => ToolMode::Required,
                None | Some("auto") => ToolMode::Auto,
                Some(_) => return Err(place.field("mode").expected("\"auto\" or \"required\"")),
            };
            let place = place.field("tools");
            let list = inner.take("tools").ok_or_else(|| place.expected("list"))?;
            let tools = json::objects(list, place)?.into_iter().enumerate().map(|(at, mut fields)| {
                let kind = required(&mut fields, "type", place.index(at))?;
                reference(&mut fields, &kind, place.index(at))
            });
            Ok(ToolChoice::Allowed { mode, tools: tools.collect::<Result<_, _>>()? })
        }
        _ => Ok(vendor()),
    }
}

fn reference(fields: &mut Object<'_>, kind: &str, place: Place<'_>) -> Result<ToolRef, ApiError> {
    let place = place.field(kind);
    let raw = fields.take(kind).ok_or_else(|| place.expected("object with name"))?;
    Ok(ToolRef { name: required(&mut Object::read(raw, place)?, "name", place)?, namespace: None })
}

fn required(fields: &mut Object<'_>, name: &str, place: Place<'_>) -> Result<String, ApiError> {
    optional(fields, name, place)?.ok_or_else(|| place.field(name).expected("string"))
}

fn optional(fields: &mut Object<'_>, name: &str, place: Place<'_>) -> Result<Option<String>, ApiError> {
    fields.take(name).map(|raw| json::string(raw, place.field(name))).transpose()
}
