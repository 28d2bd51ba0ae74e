//! The items of `input` into turns: what an assistant thought, said and called is one turn.

use super::{content, seals};
use crate::{
    dialect::Dialect,
    error::ApiError,
    ids::Matcher,
    json::{self, Found, Object, Place},
    model::{CallKind, Content, Message, Part, Request, Role, Thinking, ToolCall, ToolResult},
    raw::Fields,
};

pub(super) fn read(items: &[Found<'_>], place: Place<'_>, request: &mut Request) -> Result<(), ApiError> {
    let mut ids = Matcher::default();
    for (index, raw) in items.iter().enumerate() {
        read_item(*raw, place.index(index), &mut ids, request)?;
    }
    Ok(())
}

fn read_item(
    raw: Found<'_>,
    place: Place<'_>,
    ids: &mut Matcher,
    request: &mut Request,
) -> Result<(), ApiError> {
    let mut fields = Object::read(raw, place)?;
    let kind = content::optional(&mut fields, "type", place)?;
    match kind.as_deref() {
        None | Some("message") => return message(fields, place, request),
        Some("function_call") => call(&mut fields, place, CallKind::Function, ids, request)?,
        Some("custom_tool_call") => call(&mut fields, place, CallKind::Custom, ids, request)?,
        Some("function_call_output") => result(&mut fields, place, CallKind::Function, ids, request)?,
        Some("custom_tool_call_output") => result(&mut fields, place, CallKind::Custom, ids, request)?,
        Some("reasoning") => reasoning(&mut fields, place, request)?,
        Some(kind) => {
            let role = if kind.ends_with("_output") { Role::User } else { Role::Assistant };
            let content =
                Content::Vendor { dialect: Dialect::Responses, kind: kind.to_owned(), raw: raw.into() };
            add(request, role, Part::new(content).at(place), place);
            return Ok(());
        }
    }
    // An item's own id and status say nothing to a model.
    fields.take("id");
    fields.take("status");
    leave(fields, place, &mut request.extra);
    Ok(())
}

fn message(mut fields: Object<'_>, place: Place<'_>, request: &mut Request) -> Result<(), ApiError> {
    let role_place = place.field("role");
    let expected = || role_place.expected("system, developer, user or assistant");
    let role = json::word(fields.take("role").ok_or_else(expected)?, role_place).map_err(|_| expected())?;
    let role = match &*role {
        "system" => Role::System,
        "developer" => Role::Developer,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return Err(expected()),
    };
    let inner = place.field("content");
    let parts = match fields.take("content") {
        Some(raw) => content::read(raw, inner)?,
        None if role == Role::Assistant => Vec::new(),
        None => return Err(inner.expected("string or list")),
    };
    // Codex tells which of its messages are the answer.
    for name in ["id", "status", "phase"] {
        fields.take(name);
    }
    let extra: Fields = fields.rest().map(|(name, raw)| (name.into_owned(), raw.into())).collect();
    match request.messages.last_mut() {
        // What it thought before it spoke is of the same turn.
        Some(last) if role == Role::Assistant && last.role == role && !has_spoken(last) => {
            last.parts.extend(parts);
            last.extra.extend(extra);
        }
        _ => {
            let mut message = Message::new(role, parts).at(place);
            message.extra = extra;
            request.messages.push(message);
        }
    }
    Ok(())
}

fn has_spoken(message: &Message) -> bool {
    message.parts.iter().any(|part| !matches!(part.content, Content::Thinking(_) | Content::Redacted { .. }))
}

fn call(
    fields: &mut Object<'_>,
    place: Place<'_>,
    kind: CallKind,
    ids: &mut Matcher,
    request: &mut Request,
) -> Result<(), ApiError> {
    let said = if kind == CallKind::Custom { "input" } else { "arguments" };
    let name = content::required(fields, "name", place)?;
    let id = content::optional(fields, "call_id", place)?;
    let arguments =
        fields.take(said).map(|raw| json::text(raw, place.field(said))).transpose()?.unwrap_or_default();
    let namespace = content::optional(fields, "namespace", place)?.filter(|name| !name.is_empty());
    let id = ids.call(id.as_deref(), &name);
    let call = ToolCall { id, name, namespace, arguments, kind, signature: None };
    add(request, Role::Assistant, Part::new(Content::ToolCall(call)).at(place), place);
    Ok(())
}

fn result(
    fields: &mut Object<'_>,
    place: Place<'_>,
    kind: CallKind,
    ids: &mut Matcher,
    request: &mut Request,
) -> Result<(), ApiError> {
    let id = content::optional(fields, "call_id", place)?;
    let inner = place.field("output");
    let mut parts = match fields.take("output") {
        Some(raw) => content::read_output(raw, inner)?,
        None => Vec::new(),
    };
    // The parts of a result have no place of their own in the model: what they hold beside is told here.
    for (at, part) in parts.iter_mut().enumerate() {
        part.place = None;
        let extra = part.extra.drain(..);
        request.extra.extend(extra.map(|(name, raw)| (inner.index(at).field(&name).to_string(), raw)));
    }
    let name = content::optional(fields, "name", place)?;
    let call_id = ids.result(id.as_deref(), name.as_deref());
    let result = ToolResult { call_id, name, parts, is_error: false, kind };
    let part = Part::new(Content::ToolResult(result)).at(place);
    request.messages.push(Message::new(Role::Tool, vec![part]).at(place));
    Ok(())
}

/// The summary, else the reasoning itself, and what only its maker can read.
fn reasoning(fields: &mut Object<'_>, place: Place<'_>, request: &mut Request) -> Result<(), ApiError> {
    let id = content::optional(fields, "id", place)?;
    let mut texts = Vec::new();
    for name in ["summary", "content"] {
        let Some(raw) = fields.take(name) else { continue };
        let inner = place.field(name);
        for (at, mut piece) in json::objects(raw, inner)?.into_iter().enumerate() {
            let text = content::optional(&mut piece, "text", inner.index(at))?.unwrap_or_default();
            texts.push((name, text));
        }
    }
    let has_summary = texts.iter().any(|(name, text)| *name == "summary" && !text.is_empty());
    let told = if has_summary { "summary" } else { "content" };
    let texts = texts.into_iter().filter(|(name, text)| *name == told && !text.is_empty());
    let text = texts.map(|(_, text)| text).collect::<Vec<_>>().join("\n\n");
    let sealed = content::optional(fields, "encrypted_content", place)?.filter(|text| !text.is_empty());
    let (signature, redacted) = match sealed.as_deref().map(seals::from_caller) {
        Some(seals::Sealed::Signature(seal)) => (Some(seal), None),
        Some(seals::Sealed::Redacted(seal)) => (None, Some(seal)),
        None => (None, None),
    };
    if !text.is_empty() || signature.is_some() {
        let thinking = Content::Thinking(Thinking { text, signature });
        add(request, Role::Assistant, Part::new(thinking).at(place), place);
    }
    if let Some(seal) = redacted {
        add(request, Role::Assistant, Part::new(Content::Redacted { seal, id }).at(place), place);
    }
    Ok(())
}

/// Adds a part to the turn that is being told, or begins one.
fn add(request: &mut Request, role: Role, part: Part, place: Place<'_>) {
    match request.messages.last_mut() {
        Some(last) if role == Role::Assistant && last.role == role => last.parts.push(part),
        _ => request.messages.push(Message::new(role, vec![part]).at(place)),
    }
}

fn leave(fields: Object<'_>, place: Place<'_>, unplaced: &mut Fields) {
    unplaced.extend(fields.rest().map(|(name, raw)| (place.field(&name).to_string(), raw.into())));
}
