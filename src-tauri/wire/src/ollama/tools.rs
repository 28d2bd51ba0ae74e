//! A caller's `tools` and the calls of an assistant turn.

use crate::{
    dialect::Dialect,
    error::ApiError,
    ids::Matcher,
    json::{self, Found, Object, Place},
    model::{CallKind, Content, Part, Request, Tool, ToolCall},
    raw::Fields,
};

pub(super) fn read(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    let Some(raw) = fields.take("tools") else { return Ok(()) };
    let place = Place::Root.field("tools");
    for (index, raw) in json::list(raw, place)?.into_iter().enumerate() {
        let tool = tool(raw, place.index(index), &mut request.extra)?;
        request.tools.push(tool);
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
    for (index, fields) in json::objects(raw, place)?.into_iter().enumerate() {
        let place = place.index(index);
        parts.push(Part::new(Content::ToolCall(call(fields, place, ids)?)).at(place));
    }
    Ok(())
}

fn call(mut fields: Object<'_>, place: Place<'_>, ids: &mut Matcher) -> Result<ToolCall, ApiError> {
    let id = optional(&mut fields, "id", place)?;
    let inner = place.field("function");
    let raw = fields.take("function").ok_or_else(|| inner.expected("object"))?;
    let mut called = Object::read(raw, inner)?;
    let name = required(&mut called, "name", inner)?;
    let arguments = match called.take("arguments") {
        None => "{}".into(),
        Some(raw) if raw.is_object() => raw.get().into(),
        // Text, as other dialects have it.
        Some(raw) => json::text(raw, inner.field("arguments"))
            .map_err(|_| inner.field("arguments").expected("object"))?,
    };
    let id = ids.call(id.as_deref(), &name);
    Ok(ToolCall { id, name, namespace: None, arguments, kind: CallKind::Function, signature: None })
}

fn tool(raw: Found<'_>, place: Place<'_>, unplaced: &mut Fields) -> Result<Tool, ApiError> {
    let mut fields = Object::read(raw, place)?;
    let kind = optional(&mut fields, "type", place)?.unwrap_or_else(|| "function".to_owned());
    if kind != "function" {
        return Ok(Tool::Vendor { dialect: Dialect::Ollama, kind, raw: raw.into() });
    }
    let inner_place = place.field("function");
    let inner = fields.take("function").ok_or_else(|| inner_place.expected("object"))?;
    let mut inner = Object::read(inner, inner_place)?;
    let name = required(&mut inner, "name", inner_place)?;
    let description = optional(&mut inner, "description", inner_place)?;
    let parameters = inner.take("parameters");
    if parameters.is_some_and(|raw| !raw.is_object()) {
        return Err(inner_place.field("parameters").expected("object"));
    }
    let parameters = parameters.map(Into::into);
    unplaced.extend(inner.rest().map(|(name, raw)| (inner_place.field(&name).to_string(), raw.into())));
    unplaced.extend(fields.rest().map(|(name, raw)| (place.field(&name).to_string(), raw.into())));
    Ok(Tool::Function { name, namespace: None, description, parameters, strict: None, cache: None })
}

fn required(fields: &mut Object<'_>, name: &str, place: Place<'_>) -> Result<String, ApiError> {
    optional(fields, name, place)?.ok_or_else(|| place.field(name).expected("string"))
}

fn optional(fields: &mut Object<'_>, name: &str, place: Place<'_>) -> Result<Option<String>, ApiError> {
    fields.take(name).map(|raw| json::string(raw, place.field(name))).transpose()
}
