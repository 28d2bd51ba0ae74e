//! A message's `content`: a string or a list of parts.

use crate::{
    dialect::Dialect,
    error::ApiError,
    json::{self, Found, Object, Place},
    model::{Audio, CacheMark, Content, Document, Image, Part, Role, Source},
    text::Text,
};

/// Reads the parts of one message.
pub(super) fn read(raw: Option<Found<'_>>, role: Role, place: Place<'_>) -> Result<Vec<Part>, ApiError> {
    let Some(raw) = raw else {
        return match role {
            // An assistant turn may hold nothing but tool calls or a refusal.
            Role::Assistant => Ok(Vec::new()),
            _ => Err(place.expected("string or list")),
        };
    };
    if raw.is_string() {
        return Ok(vec![Part::text(json::text(raw, place)?)]);
    }
    if raw.is_list() {
        let items = json::list(raw, place)?;
        // A tool's result may be a list of its own, which is no list of parts.
        if role == Role::Tool && !items.iter().all(|item| is_part(*item)) {
            return Ok(vec![Part::text(raw.get())]);
        }
        let items = items.into_iter().enumerate();
        return items.map(|(index, raw)| read_part(raw, place.index(index))).collect();
    }
    // Some agents hand a tool's result over as the object it returned.
    if role == Role::Tool && raw.is_object() {
        return Ok(vec![Part::text(raw.get())]);
    }
    Err(place.expected("string or list"))
}

/// `{"type": "ephemeral", "ttl": "1h"}`
pub(super) fn cache_mark(raw: Found<'_>, place: Place<'_>) -> Result<CacheMark, ApiError> {
    let mut mark = Object::read(raw, place)?;
    let ttl = mark.take("ttl").map(|raw| json::string(raw, place.field("ttl"))).transpose()?;
    Ok(CacheMark { ttl })
}

fn is_part(raw: Found<'_>) -> bool {
    raw.is_object()
        && Object::read(raw, Place::Root).is_ok_and(|fields| fields.get("type").is_some_and(Found::is_string))
}

fn read_part(raw: Found<'_>, place: Place<'_>) -> Result<Part, ApiError> {
    let mut fields = Object::read(raw, place)?;
    let kind = fields.take("type").ok_or_else(|| place.field("type").expected("string"))?;
    let kind = json::string(kind, place.field("type"))?;
    let content = match kind.as_str() {
        "text" => Content::Text(text(&mut fields, "text", place)?),
        "refusal" => Content::Refusal(text(&mut fields, "refusal", place)?),
        "image_url" => Content::Image(image(&mut fields, place.field("image_url"))?),
        "input_audio" => Content::Audio(audio(&mut fields, place.field("input_audio"))?),
        "file" => match document(&fields, place.field("file"))? {
            Some(document) => {
                fields.take("file");
                Content::Document(document)
            }
            None => return Ok(vendor(kind, raw)),
        },
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
    Content::Vendor { dialect: Dialect::Chat, kind, raw: raw.into() }.into()
}

fn text(fields: &mut Object<'_>, name: &str, place: Place<'_>) -> Result<Text, ApiError> {
    let place = place.field(name);
    json::text(fields.take(name).ok_or_else(|| place.expected("string"))?, place)
}

fn image(fields: &mut Object<'_>, place: Place<'_>) -> Result<Image, ApiError> {
    let raw = fields.take("image_url").ok_or_else(|| place.expected("object with url"))?;
    // Some clients send the URL itself.
    if raw.is_string() {
        return Ok(Image { source: image_source(json::string(raw, place)?, place)?, detail: None });
    }
    let mut image = Object::read(raw, place)?;
    let url = image.take("url").ok_or_else(|| place.field("url").expected("string"))?;
    let source = image_source(json::string(url, place.field("url"))?, place.field("url"))?;
    let detail = image.take("detail").map(|raw| json::string(raw, place.field("detail"))).transpose()?;
    Ok(Image { source, detail })
}

fn image_source(url: String, place: Place<'_>) -> Result<Source, ApiError> {
    match Source::from_url(url) {
        Some(Source::Base64 { media_type, .. }) if !media_type.starts_with("image/") => None,
        source => source,
    }
    .ok_or_else(|| place.expected("an http or https URL, or data:image/…;base64,…"))
}

fn audio(fields: &mut Object<'_>, place: Place<'_>) -> Result<Audio, ApiError> {
    let raw = fields.take("input_audio").ok_or_else(|| place.expected("object with data and format"))?;
    let mut audio = Object::read(raw, place)?;
    let mut string = |name| text(&mut audio, name, place).map(Text::into_string);
    let (data, format) = (string("data")?, string("format")?);
    Ok(Audio { source: Source::Base64 { media_type: format!("audio/{format}"), data }, format })
}

/// `None` for a file in a form of some server's own.
fn document(fields: &Object<'_>, place: Place<'_>) -> Result<Option<Document>, ApiError> {
    let Some(raw) = fields.get("file") else { return Ok(None) };
    let file = Object::read(raw, place)?;
    let string = |name| file.get(name).map(|raw| json::string(raw, place.field(name))).transpose();
    match (string("file_data")?, string("file_id")?) {
        (None, Some(id)) => Ok(Some(Document { source: Source::File(id), name: string("filename")? })),
        (None, None) => Ok(None),
        (Some(data), _) => {
            let name = string("filename")?;
            Ok(Source::from_url(data).map(|source| Document { source, name }))
        }
    }
}
