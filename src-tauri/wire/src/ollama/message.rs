//! One message of a caller.

use super::tools;
use crate::{
    error::ApiError,
    ids::Matcher,
    json::{self, Found, Object, Place},
    model::{CallKind, Content, Image, Message, Part, Role, Source, Thinking, ToolResult},
    text::Text,
};

pub(super) fn read(mut fields: Object<'_>, place: Place<'_>, ids: &mut Matcher) -> Result<Message, ApiError> {
    let role = read_role(&mut fields, place)?;
    let content = match fields.take("content") {
        None => Text::default(),
        // Some agents hand a tool's result over as what it returned.
        Some(raw) if role == Role::Tool && (raw.is_object() || raw.is_list()) => raw.get().into(),
        Some(raw) => json::text(raw, place.field("content"))?,
    };
    let mut string = |name| fields.take(name).map(|raw| json::string(raw, place.field(name))).transpose();
    let mut parts = Vec::new();
    if role == Role::Assistant
        && let Some(text) = string("thinking")?.filter(|text| !text.is_empty())
    {
        let thinking = Content::Thinking(Thinking { text, signature: None });
        parts.push(Part::new(thinking).at(place.field("thinking")));
    }
    let result = match role {
        Role::Tool => Some((string("tool_call_id")?, string("tool_name")?.or(string("name")?))),
        _ => None,
    };
    let images_at = place.field("images");
    let images = fields.take("images").map(|raw| images(raw, images_at)).transpose()?.unwrap_or_default();
    let calls_at = place.field("tool_calls");
    let calls = if role == Role::Assistant { fields.take("tool_calls") } else { None };
    if !content.is_empty() || (parts.is_empty() && images.is_empty() && calls.is_none()) {
        parts.push(Part::text(content).at(place.field("content")));
    }
    parts.extend(images);
    if let Some(raw) = calls {
        tools::read_calls(raw, calls_at, ids, &mut parts)?;
    }
    if let Some((id, name)) = result {
        let name = name.filter(|name| !name.is_empty());
        let call_id = ids.result(id.as_deref(), name.as_deref());
        let kind = CallKind::Function;
        let result = ToolResult { call_id, name, parts, is_error: false, kind };
        parts = vec![Part::new(Content::ToolResult(result)).at(place.field("content"))];
    }
    let extra = fields.rest().map(|(name, raw)| (name.into_owned(), raw.into())).collect();
    Ok(Message { role, parts, name: None, place: None, extra })
}

/// Base64 whose first bytes tell the type. A data URL says its own; a URL is taken as one.
pub(super) fn images(raw: Found<'_>, place: Place<'_>) -> Result<Vec<Part>, ApiError> {
    let images = json::strings(raw, place)?.into_iter().enumerate();
    images
        .map(|(index, text)| {
            let place = place.index(index);
            let source = if is_base64(&text) {
                Source::image(text)
            } else {
                Source::from_url(text).ok_or_else(|| place.expected("an image as base64"))?
            };
            Ok(Part::new(Content::Image(Image { source, detail: None })).at(place))
        })
        .collect()
}

fn is_base64(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_=\r\n".contains(&byte);
    !text.is_empty() && text.bytes().all(is_digit)
}

/// Ollama lowers the role first.
fn read_role(fields: &mut Object<'_>, place: Place<'_>) -> Result<Role, ApiError> {
    let place = place.field("role");
    let expected = || place.expected("system, user, assistant or tool");
    let role = json::word(fields.take("role").ok_or_else(expected)?, place).map_err(|_| expected())?;
    match role.to_ascii_lowercase().as_str() {
        "system" => Ok(Role::System),
        "developer" => Ok(Role::Developer),
        "user" => Ok(Role::User),
        "assistant" => Ok(Role::Assistant),
        "tool" => Ok(Role::Tool),
        _ => Err(expected()),
    }
}
