//! A caller's body into a [`Request`].

use super::{content, options, tools};
use crate::{
    caller,
    dialect::Dialect,
    error::ApiError,
    json::{self, Found, Json, Object, Place},
    model::{Content, Message, Part, Request, Role},
    raw::Fields,
};

pub(super) fn decode(body: &Json) -> Result<Request, ApiError> {
    let mut fields = body.fields()?;
    let root = Place::Root;
    // A stream of this API always carries usage.
    let mut request = Request { dialect: Dialect::Anthropic, include_usage: true, ..Request::default() };
    if let Some(raw) = fields.take("model") {
        request.model = json::string(raw, root.field("model"))?;
    }
    if let Some(raw) = fields.take("system") {
        system(raw, &mut request)?;
    }
    read_messages(&mut fields, &mut request)?;
    tools::read(&mut fields, &mut request)?;
    options::read(&mut fields, &mut request)?;
    if let Some(raw) = fields.take("stream") {
        request.stream = json::boolean(raw, root.field("stream"))?;
    }
    caller::read(&mut fields, &mut request)?;
    for (name, raw) in fields.rest() {
        options::check_known(&name, raw)?;
        request.extra.push((name.into_owned(), raw.into()));
    }
    Ok(request)
}

fn system(raw: Found<'_>, request: &mut Request) -> Result<(), ApiError> {
    let place = Place::Root.field("system");
    let mut parts = content::read(raw, Role::System, place, &mut request.extra)?;
    for (at, part) in parts.iter_mut().enumerate() {
        part.place = Some(if raw.is_string() { place } else { place.index(at) }.into());
    }
    if parts.iter().any(|part| part.content.as_text() != Some("")) {
        request.messages.push(Message::new(Role::System, parts).at("system"));
    }
    Ok(())
}

fn read_messages(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    let place = Place::Root.field("messages");
    let missing = |what: &str| ApiError::invalid("missing_messages", format!("messages: {what}"));
    let messages = fields.take("messages").map(|raw| json::list(raw, place)).transpose()?;
    let messages = messages.ok_or_else(|| missing("expected a list with at least one message"))?;
    if messages.is_empty() {
        return Err(missing("the list is empty; send at least one message"));
    }
    for (index, found) in messages.into_iter().enumerate() {
        let place = place.index(index);
        let turns = read_message(Object::read(found, place)?, place, &mut request.extra)?;
        request.messages.extend(turns);
    }
    Ok(())
}

/// One turn; a user turn with results in it is several, in its order: results stand alone.
fn read_message(
    mut fields: Object<'_>,
    place: Place<'_>,
    unplaced: &mut Fields,
) -> Result<Vec<Message>, ApiError> {
    let role = read_role(&mut fields, place)?;
    let inner = place.field("content");
    let raw = fields.take("content").ok_or_else(|| inner.expected("string or list"))?;
    let mut parts = content::read(raw, role, inner, unplaced)?;
    for (at, part) in parts.iter_mut().enumerate() {
        part.place = Some(if raw.is_string() { inner } else { inner.index(at) }.into());
    }
    let mut turns: Vec<Message> = Vec::new();
    for part in parts {
        let role = if matches!(part.content, Content::ToolResult(_)) { Role::Tool } else { role };
        add(&mut turns, role, part, place);
    }
    if turns.is_empty() {
        turns.push(Message::new(role, Vec::new()).at(place));
    }
    turns[0].extra = fields.rest().map(|(name, raw)| (name.into_owned(), raw.into())).collect();
    Ok(turns)
}

fn add(turns: &mut Vec<Message>, role: Role, part: Part, place: Place<'_>) {
    match turns.last_mut() {
        Some(last) if last.role == role => last.parts.push(part),
        _ => turns.push(Message::new(role, vec![part]).at(place)),
    }
}

fn read_role(fields: &mut Object<'_>, place: Place<'_>) -> Result<Role, ApiError> {
    let place = place.field("role");
    let expected = || place.expected("user, assistant or system");
    let role = json::word(fields.take("role").ok_or_else(expected)?, place).map_err(|_| expected())?;
    match &*role {
        "user" => Ok(Role::User),
        "assistant" => Ok(Role::Assistant),
        "system" => Ok(Role::System),
        _ => Err(expected()),
    }
}
