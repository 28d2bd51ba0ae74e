//! A caller's `tools`, the calls of an assistant turn, and arguments as the object the dialect wants.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{
    dialect::Dialect,
    error::ApiError,
    ids::Matcher,
    json::{self, Object, Place},
    model::{CallKind, Content, Part, Request, Tool, ToolCall},
    raw::{Fields, Raw},
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
    raw: &RawValue,
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
        None => "{}".to_owned(),
        Some(raw) if json::is_object(raw) => raw.get().to_owned(),
        // Text, as other dialects have it.
        Some(raw) => json::string(raw, inner.field("arguments"))
            .map_err(|_| inner.field("arguments").expected("object"))?,
    };
    let id = ids.call(id.as_deref(), &name);
    Ok(ToolCall { id, name, namespace: None, arguments, kind: CallKind::Function, signature: None })
}

fn tool(raw: &RawValue, place: Place<'_>, unplaced: &mut Fields) -> Result<Tool, ApiError> {
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
    if parameters.is_some_and(|raw| !json::is_object(raw)) {
        return Err(inner_place.field("parameters").expected("object"));
    }
    let parameters = parameters.map(Into::into);
    unplaced.extend(inner.rest().map(|(name, raw)| (inner_place.field(&name).to_string(), raw.into())));
    unplaced.extend(fields.rest().map(|(name, raw)| (place.field(&name).to_string(), raw.into())));
    Ok(Tool::Function { name, namespace: None, description, parameters, strict: None, cache: None })
}

/// The arguments as one JSON object on one line, key order and number text untouched. Text that is no object
/// (`Err`) stands under `field`.
pub(super) fn as_object(arguments: &str, field: &str) -> Result<Raw, Raw> {
    let text = arguments.trim();
    let text = if text.is_empty() { "{}" } else { text };
    let object = Raw::new(compact(text).into_owned()).filter(|raw| raw.get().starts_with('{'));
    object.ok_or_else(|| Raw::from(&serde_json::json!({ field: arguments })))
}

/// JSON text without the spaces between its tokens: a line break among them would end the line it is sent in.
fn compact(text: &str) -> Cow<'_, str> {
    if !text.contains(['\n', '\r']) {
        return text.into();
    }
    let (mut in_string, mut escaped) = (false, false);
    let kept = text.chars().filter(|c| {
        if in_string {
            in_string = escaped || *c != '"';
            escaped = !escaped && *c == '\\';
            return true;
        }
        in_string = *c == '"';
        !c.is_ascii_whitespace()
    });
    kept.collect::<String>().into()
}

fn required(fields: &mut Object<'_>, name: &str, place: Place<'_>) -> Result<String, ApiError> {
    optional(fields, name, place)?.ok_or_else(|| place.field(name).expected("string"))
}

fn optional(fields: &mut Object<'_>, name: &str, place: Place<'_>) -> Result<Option<String>, ApiError> {
    fields.take(name).map(|raw| json::string(raw, place.field(name))).transpose()
}

#[cfg(test)]
mod tests {
    use super::as_object;

    #[test]
    fn arguments_are_one_line_with_their_own_order_and_numbers() {
        let text = "{\n  \"z\": 1.0e3,\r\n  \"a\": \"x \\\"\\n y\\\\\", \"n\": 12345678901234567890123 }";
        let wanted = r#"{"z":1.0e3,"a":"x \"\n y\\","n":12345678901234567890123}"#;
        assert_eq!(as_object(text, "arguments").unwrap().get(), wanted);
        assert_eq!(as_object("{\"b\": 1}", "arguments").unwrap().get(), "{\"b\": 1}");
        assert_eq!(as_object(" ", "arguments").unwrap().get(), "{}");
    }

    #[test]
    fn what_is_no_object_is_kept_as_text() {
        for text in ["[1]", "not json", "{\"a\":"] {
            let raw = as_object(text, "input").unwrap_err();
            assert_eq!(raw.value(), serde_json::json!({ "input": text }));
        }
    }
}
