//! The `content` of a message and the `output` of a tool: a string or a list of parts.

use crate::{
    dialect::Dialect,
    error::ApiError,
    json::{self, Found, Object, Place},
    model::{Audio, Content, Document, Image, Part, Source},
    text::Text,
};

pub(super) fn read(raw: Found<'_>, place: Place<'_>) -> Result<Vec<Part>, ApiError> {
    if raw.is_string() {
        return Ok(vec![Part::text(json::text(raw, place)?).at(place)]);
    }
    if !raw.is_list() {
        return Err(place.expected("string or list"));
    }
    let items = json::list(raw, place)?.into_iter().enumerate();
    items.map(|(index, raw)| read_part(raw, place.index(index))).collect()
}

/// What a tool gave back: text, parts, or any JSON as its text.
pub(super) fn read_output(raw: Found<'_>, place: Place<'_>) -> Result<Vec<Part>, ApiError> {
    let is_parts = raw.is_list() && json::list(raw, place)?.iter().all(|item| is_part(*item));
    if raw.is_string() || is_parts {
        return read(raw, place);
    }
    if raw.is_list() || raw.is_object() {
        return Ok(vec![Part::text(raw.get())]);
    }
    Err(place.expected("string or list"))
}

pub(super) fn required(fields: &mut Object<'_>, name: &str, place: Place<'_>) -> Result<String, ApiError> {
    optional(fields, name, place)?.ok_or_else(|| place.field(name).expected("string"))
}

/// [`required`], of what may be long.
fn text(fields: &mut Object<'_>, name: &str, place: Place<'_>) -> Result<Text, ApiError> {
    let place = place.field(name);
    json::text(fields.take(name).ok_or_else(|| place.expected("string"))?, place)
}

pub(super) fn optional(
    fields: &mut Object<'_>,
    name: &str,
    place: Place<'_>,
) -> Result<Option<String>, ApiError> {
    fields.take(name).map(|raw| json::string(raw, place.field(name))).transpose()
}

fn is_part(raw: Found<'_>) -> bool {
    raw.is_object()
        && Object::read(raw, Place::Root).is_ok_and(|fields| fields.get("type").is_some_and(Found::is_string))
}

fn read_part(raw: Found<'_>, place: Place<'_>) -> Result<Part, ApiError> {
    let mut fields = Object::read(raw, place)?;
    let kind = required(&mut fields, "type", place)?;
    let content = match kind.as_str() {
        "input_text" | "output_text" | "text" | "summary_text" => {
            // What the API tells beside a text of its own and reads back without use.
            fields.take("annotations");
            fields.take("logprobs");
            Content::Text(text(&mut fields, "text", place)?)
        }
        "refusal" => Content::Refusal(text(&mut fields, "refusal", place)?),
        "input_image" => Content::Image(image(&mut fields, place)?),
        "input_file" => Content::Document(document(&mut fields, place)?),
        "input_audio" => Content::Audio(audio(&mut fields, place.field("input_audio"))?),
        _ => {
            let content = Content::Vendor { dialect: Dialect::Responses, kind, raw: raw.into() };
            return Ok(Part::new(content).at(place));
        }
    };
    let mut part = Part::new(content).at(place);
    part.extra = fields.rest().map(|(name, raw)| (name.into_owned(), raw.into())).collect();
    Ok(part)
}

fn image(fields: &mut Object<'_>, place: Place<'_>) -> Result<Image, ApiError> {
    let detail = optional(fields, "detail", place)?;
    let url_place = place.field("image_url");
    let Some(raw) = fields.take("image_url") else {
        let id = optional(fields, "file_id", place)?.ok_or_else(|| url_place.expected("string"))?;
        return Ok(Image { source: Source::File(id), detail });
    };
    fields.take("file_id");
    // Some clients send chat's object.
    let url = if raw.is_object() {
        required(&mut Object::read(raw, url_place)?, "url", url_place)?
    } else {
        json::string(raw, url_place)?
    };
    let source = match Source::from_url(url) {
        Some(Source::Base64 { media_type, .. }) if !media_type.starts_with("image/") => None,
        source => source,
    };
    let expected = "an http or https URL, or data:image/…;base64,…";
    Ok(Image { source: source.ok_or_else(|| url_place.expected(expected))?, detail })
}

fn document(fields: &mut Object<'_>, place: Place<'_>) -> Result<Document, ApiError> {
    let name = optional(fields, "filename", place)?;
    let data = optional(fields, "file_data", place)?;
    let url = optional(fields, "file_url", place)?;
    let source = match (data, url) {
        (Some(data), _) => file_data(data).ok_or_else(|| {
            place.field("file_data").expected("data:<type>;base64,…, or the base64 of a PDF")
        })?,
        (None, Some(url)) => {
            Source::from_url(url).ok_or_else(|| place.field("file_url").expected("an http or https URL"))?
        }
        (None, None) => {
            let id = optional(fields, "file_id", place)?;
            Source::File(id.ok_or_else(|| place.field("file_data").expected("string"))?)
        }
    };
    fields.take("file_id");
    Ok(Document { source, name })
}

fn file_data(data: String) -> Option<Source> {
    // "%PDF-" as base64.
    if data.starts_with("JVBERi") {
        return Some(Source::Base64 { media_type: "application/pdf".to_owned(), data });
    }
    Source::from_url(data).filter(|source| matches!(source, Source::Base64 { .. }))
}

fn audio(fields: &mut Object<'_>, place: Place<'_>) -> Result<Audio, ApiError> {
    let raw = fields.take("input_audio").ok_or_else(|| place.expected("object with data and format"))?;
    let mut audio = Object::read(raw, place)?;
    let data = required(&mut audio, "data", place)?;
    let format = required(&mut audio, "format", place)?;
    Ok(Audio { source: Source::Base64 { media_type: format!("audio/{format}"), data }, format })
}
