//! Content of a turn: a string or a list of typed blocks.

use crate::{
    dialect::Dialect,
    error::ApiError,
    json::{self, Found, Object, Place},
    model::{
        CacheMark, CallKind, Content, Document, Image, Part, Role, Seal, Source, Thinking, ToolCall,
        ToolResult,
    },
    raw::Fields,
    text::Text,
};

/// Reads the parts of one turn. `unplaced` takes what blocks inside results hold that the model has no place for.
pub(super) fn read(
    raw: Found<'_>,
    role: Role,
    place: Place<'_>,
    unplaced: &mut Fields,
) -> Result<Vec<Part>, ApiError> {
    if raw.is_string() {
        return Ok(vec![Part::text(json::text(raw, place)?)]);
    }
    if !raw.is_list() {
        return Err(place.expected("string or list"));
    }
    let blocks = json::list(raw, place)?.into_iter().enumerate();
    blocks.map(|(at, raw)| block(raw, role, place.index(at), unplaced)).collect()
}

/// `{"type": "ephemeral", "ttl": "1h"}`
pub(super) fn cache_mark(raw: Found<'_>, place: Place<'_>) -> Result<CacheMark, ApiError> {
    let mut mark = Object::read(raw, place)?;
    Ok(CacheMark { ttl: optional(&mut mark, "ttl", place)? })
}

pub(super) fn required(fields: &mut Object<'_>, name: &str, place: Place<'_>) -> Result<String, ApiError> {
    optional(fields, name, place)?.ok_or_else(|| place.field(name).expected("string"))
}

pub(super) fn optional(
    fields: &mut Object<'_>,
    name: &str,
    place: Place<'_>,
) -> Result<Option<String>, ApiError> {
    fields.take(name).map(|raw| json::string(raw, place.field(name))).transpose()
}

fn text(fields: &mut Object<'_>, name: &str, place: Place<'_>) -> Result<Text, ApiError> {
    let place = place.field(name);
    json::text(fields.take(name).ok_or_else(|| place.expected("string"))?, place)
}

fn block(raw: Found<'_>, role: Role, place: Place<'_>, unplaced: &mut Fields) -> Result<Part, ApiError> {
    let mut fields = Object::read(raw, place)?;
    let kind = required(&mut fields, "type", place)?;
    let misplaced = |wanted: &str| place.field("type").expected(&format!("{kind} in {wanted} turns only"));
    let content = match kind.as_str() {
        "text" => Content::Text(text(&mut fields, "text", place)?),
        "image" => Content::Image(Image { source: image(&mut fields, place)?, detail: None }),
        "document" => match document(&mut fields, place)? {
            Some(document) => Content::Document(document),
            None => return Ok(vendor(kind, raw)),
        },
        "thinking" => {
            let text = optional(&mut fields, "thinking", place)?.unwrap_or_default();
            let signature = optional(&mut fields, "signature", place)?.filter(|text| !text.is_empty());
            Content::Thinking(Thinking { text, signature: signature.map(|text| Seal::from_caller(&text)) })
        }
        "redacted_thinking" => {
            Content::Redacted { seal: Seal::from_caller(&required(&mut fields, "data", place)?), id: None }
        }
        "tool_use" if role != Role::Assistant => return Err(misplaced("assistant")),
        "tool_use" => Content::ToolCall(call(&mut fields, place)?),
        "tool_result" if role != Role::User => return Err(misplaced("user")),
        "tool_result" => Content::ToolResult(result(&mut fields, place, unplaced)?),
        _ => return Ok(vendor(kind, raw)),
    };
    let mut part = Part::new(content);
    if let Some(raw) = fields.take("cache_control") {
        part.cache = Some(cache_mark(raw, place.field("cache_control"))?);
    }
    part.extra = fields.rest().map(|(name, raw)| (name.into_owned(), raw.into())).collect();
    Ok(part)
}

fn vendor(kind: String, raw: Found<'_>) -> Part {
    Content::Vendor { dialect: Dialect::Anthropic, kind, raw: raw.into() }.into()
}

fn call(fields: &mut Object<'_>, place: Place<'_>) -> Result<ToolCall, ApiError> {
    let arguments = match fields.take("input") {
        None => "{}".into(),
        Some(raw) if raw.is_object() => raw.get().into(),
        // What a client makes of arguments that never came.
        Some(raw) if raw.get() == "\"\"" => "{}".into(),
        Some(_) => return Err(place.field("input").expected("object")),
    };
    Ok(ToolCall {
        id: required(fields, "id", place)?,
        name: required(fields, "name", place)?,
        namespace: None,
        arguments,
        kind: CallKind::Function,
        signature: None,
    })
}

fn result(fields: &mut Object<'_>, place: Place<'_>, unplaced: &mut Fields) -> Result<ToolResult, ApiError> {
    let call_id = required(fields, "tool_use_id", place)?;
    let is_error =
        fields.take("is_error").map(|raw| json::boolean(raw, place.field("is_error"))).transpose()?;
    let inner = place.field("content");
    let mut parts = match fields.take("content") {
        Some(raw) => read(raw, Role::Tool, inner, &mut Fields::new())?,
        None => Vec::new(),
    };
    for (at, part) in parts.iter_mut().enumerate() {
        if matches!(part.content, Content::Thinking(_) | Content::Redacted { .. }) {
            return Err(inner.index(at).field("type").expected("text, image or document"));
        }
        let extra = part.extra.drain(..);
        unplaced.extend(extra.map(|(name, raw)| (inner.index(at).field(&name).to_string(), raw)));
    }
    let kind = CallKind::Function;
    Ok(ToolResult { call_id, name: None, parts, is_error: is_error.unwrap_or_default(), kind })
}

fn image(fields: &mut Object<'_>, place: Place<'_>) -> Result<Source, ApiError> {
    let place = place.field("source");
    let raw = fields.take("source").ok_or_else(|| place.expected("object"))?;
    let mut source = Object::read(raw, place)?;
    let kind = required(&mut source, "type", place)?;
    match kind.as_str() {
        "base64" => {
            let media_type = optional(&mut source, "media_type", place)?.filter(|word| !word.is_empty());
            let data = required(&mut source, "data", place)?;
            Ok(match media_type {
                Some(media_type) => Source::Base64 { media_type, data },
                None => Source::image(data),
            })
        }
        "url" => url(&mut source, place),
        "file" => Ok(Source::File(required(&mut source, "file_id", place)?)),
        _ => Err(place.field("type").expected("base64, url or file")),
    }
}

/// `None` for a document made of blocks that are no text.
fn document(fields: &mut Object<'_>, place: Place<'_>) -> Result<Option<Document>, ApiError> {
    let name = optional(fields, "title", place)?;
    let place = place.field("source");
    let raw = fields.take("source").ok_or_else(|| place.expected("object"))?;
    let mut source = Object::read(raw, place)?;
    let kind = required(&mut source, "type", place)?;
    let source = match kind.as_str() {
        "base64" => {
            let media_type = optional(&mut source, "media_type", place)?.filter(|word| !word.is_empty());
            let media_type = media_type.unwrap_or_else(|| "application/pdf".to_owned());
            Source::Base64 { media_type, data: required(&mut source, "data", place)? }
        }
        "url" => url(&mut source, place)?,
        "text" => Source::Text(required(&mut source, "data", place)?),
        "content" => {
            let place = place.field("content");
            let raw = source.take("content").ok_or_else(|| place.expected("string or list"))?;
            let parts = read(raw, Role::User, place, &mut Fields::new())?;
            let texts: Option<Vec<&str>> = parts.iter().map(|part| part.content.as_text()).collect();
            match texts {
                Some(texts) => Source::Text(texts.join("\n\n")),
                None => return Ok(None),
            }
        }
        "file" => Source::File(required(&mut source, "file_id", place)?),
        _ => return Err(place.field("type").expected("base64, url, text, content or file")),
    };
    Ok(Some(Document { source, name }))
}

fn url(source: &mut Object<'_>, place: Place<'_>) -> Result<Source, ApiError> {
    let url = required(source, "url", place)?;
    Source::from_url(url).ok_or_else(|| place.field("url").expected("an http or https URL"))
}
