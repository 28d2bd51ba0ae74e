//! `inlineData` and `fileData`, both ways.

use serde_json::{Value, json};

use super::spelling::{self, Taken};
use crate::{
    dialect::Dialect,
    error::ApiError,
    json::{self, Found, Object, Place},
    media,
    model::{Audio, Content, Document, Image, Source},
};

/// `part` is the whole part, for what only Gemini can say (video).
pub(super) fn inline(taken: &Taken<'_>, place: Place<'_>, part: Found<'_>) -> Result<Content, ApiError> {
    let place = place.field(&taken.name);
    let mut fields = Object::read(taken.raw, place)?;
    let media_type = string(&mut fields, "mimeType", place)?
        .filter(|word| !word.is_empty())
        .ok_or_else(|| place.field("mimeType").expected("string"))?;
    let data = string(&mut fields, "data", place)?.ok_or_else(|| place.field("data").expected("string"))?;
    let name = string(&mut fields, "displayName", place)?;
    let data = media::usual_base64(data);
    Ok(medium(media_type.clone(), Source::Base64 { media_type, data }, name, part))
}

pub(super) fn file(taken: &Taken<'_>, place: Place<'_>, part: Found<'_>) -> Result<Content, ApiError> {
    let place = place.field(&taken.name);
    let mut fields = Object::read(taken.raw, place)?;
    let media_type = string(&mut fields, "mimeType", place)?.filter(|word| !word.is_empty());
    let uri =
        string(&mut fields, "fileUri", place)?.ok_or_else(|| place.field("fileUri").expected("string"))?;
    let name = string(&mut fields, "displayName", place)?;
    let lower = uri.to_ascii_lowercase();
    let is_http = lower.starts_with("http://") || lower.starts_with("https://");
    let media_type =
        media_type.or_else(|| guessed(&uri).map(str::to_owned)).unwrap_or_else(|| "video/*".to_owned());
    // Google's own store answers only to the account that uploaded it.
    let is_kept = !is_http || lower.contains("generativelanguage.googleapis.com/");
    let source = if is_kept { Source::File(uri) } else { Source::Url(uri) };
    Ok(medium(media_type, source, name, part))
}

fn string(fields: &mut Object<'_>, name: &'static str, place: Place<'_>) -> Result<Option<String>, ApiError> {
    spelling::take(fields, name).map(|taken| json::string(taken.raw, place.field(&taken.name))).transpose()
}

fn medium(media_type: String, source: Source, name: Option<String>, part: Found<'_>) -> Content {
    match media_type.split('/').next().unwrap_or_default() {
        "image" => Content::Image(Image { source, detail: None }),
        "audio" => Content::Audio(Audio { source, format: format_of(&media_type).to_owned() }),
        // What a kept file is needs no telling apart: nobody else can read it.
        "video" if !matches!(source, Source::File(_)) => {
            Content::Vendor { dialect: Dialect::Gemini, kind: "video".to_owned(), raw: part.into() }
        }
        _ => Content::Document(Document { source, name }),
    }
}

/// `wav`, `mp3`: as the other APIs name them.
fn format_of(media_type: &str) -> &str {
    let subtype = media_type.split('/').nth(1).unwrap_or_default();
    let subtype = subtype.split(';').next().unwrap_or_default().trim();
    match subtype {
        "mpeg" | "mpga" => "mp3",
        "x-wav" | "wave" => "wav",
        subtype => subtype,
    }
}

/// A part of a member's content; `None` for what cannot be said.
pub(super) fn part(source: &Source, otherwise: &str, name: Option<&str>) -> Option<Value> {
    let mut inner = match source {
        Source::Base64 { media_type, data } => json!({ "mimeType": media_type, "data": data }),
        Source::Url(url) => json!({ "mimeType": guessed(url).unwrap_or(otherwise), "fileUri": url }),
        Source::Text(_) | Source::File(_) => return None,
    };
    if let Some(name) = name {
        inner["displayName"] = name.into();
    }
    let field = if matches!(source, Source::Url(_)) { "fileData" } else { "inlineData" };
    Some(json!({ field: inner }))
}

/// A type by the end of a URL's path.
fn guessed(url: &str) -> Option<&'static str> {
    const KNOWN: &[(&str, &str)] = &[
        (".png", "image/png"),
        (".jpg", "image/jpeg"),
        (".jpeg", "image/jpeg"),
        (".gif", "image/gif"),
        (".webp", "image/webp"),
        (".heic", "image/heic"),
        (".pdf", "application/pdf"),
        (".txt", "text/plain"),
        (".md", "text/plain"),
        (".csv", "text/csv"),
        (".html", "text/html"),
        (".wav", "audio/wav"),
        (".mp3", "audio/mpeg"),
        (".flac", "audio/flac"),
        (".ogg", "audio/ogg"),
    ];
    let path = url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    KNOWN.iter().find(|(end, _)| path.ends_with(end)).map(|(_, media_type)| *media_type)
}
