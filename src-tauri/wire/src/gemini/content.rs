//! One content of a caller's: its role and its parts. Results and calls are turns of their own in the model, so one
//! content may be several.

use serde_json::Value;

use super::{
    media, seal,
    spelling::{self, Taken},
};
use crate::{
    dialect::Dialect,
    error::ApiError,
    ids::Matcher,
    json::{self, Found, Object, Place},
    model::{CallKind, Content, Message, Part, Role, Seal, Thinking, ToolCall, ToolResult},
    text::Text,
};

/// `given` is the role of a content that has none of its own (the system instruction).
pub(super) fn turns(
    mut fields: Object<'_>,
    place: Place<'_>,
    given: Option<Role>,
    ids: &mut Matcher,
) -> Result<Vec<Message>, ApiError> {
    let own = role(&mut fields, place, given.is_some())?;
    let role = given.unwrap_or(own);
    let mut turns: Vec<Message> = Vec::new();
    if let Some(raw) = fields.take("parts") {
        let parts = place.field("parts");
        for (at, raw) in json::list(raw, parts)?.into_iter().enumerate() {
            let place_of_part = parts.index(at);
            for (side, content) in read_part(raw, role, place_of_part, ids)? {
                let part = Part { extra: content.extra, ..Part::new(content.content).at(place_of_part) };
                match turns.last_mut() {
                    Some(last) if last.role == side => last.parts.push(part),
                    _ => turns.push(Message::new(side, vec![part]).at(place)),
                }
            }
        }
    }
    let extra: Vec<_> = fields.rest().map(|(name, raw)| (name.into_owned(), raw.into())).collect();
    match turns.first_mut() {
        Some(first) => first.extra = extra,
        None => turns.push(Message { extra, ..Message::new(role, Vec::new()).at(place) }),
    }
    Ok(turns)
}

/// Absent is the user.
fn role(fields: &mut Object<'_>, place: Place<'_>, any: bool) -> Result<Role, ApiError> {
    let place = place.field("role");
    let Some(raw) = fields.take("role") else { return Ok(Role::User) };
    match json::string(raw, place)?.as_str() {
        "user" | "function" | "tool" | "" => Ok(Role::User),
        "model" => Ok(Role::Assistant),
        _ if any => Ok(Role::System),
        _ => Err(place.expected("user, model or function")),
    }
}

/// One field of a part says what it is.
fn read_part(
    raw: Found<'_>,
    role: Role,
    place: Place<'_>,
    ids: &mut Matcher,
) -> Result<Vec<(Role, Part)>, ApiError> {
    let mut fields = Object::read(raw, place)?;
    let is_thought = match fields.take("thought") {
        Some(raw) => json::boolean(raw, place.field("thought"))? && role == Role::Assistant,
        None => false,
    };
    let mut signature = match signature(&mut fields, place)? {
        Some(text) => {
            if let Some(redacted) = seal::redacted_from_caller(&text).filter(|_| role == Role::Assistant) {
                return Ok(vec![(role, redacted.into())]);
            }
            seal::from_caller(&text)
        }
        None => None,
    };
    let mut extra = Vec::new();
    let mut side = role;
    let content = if let Some(raw) = fields.take("text") {
        let text = json::text(raw, place.field("text"))?;
        if is_thought {
            Content::Thinking(Thinking { text: text.into_string(), signature: signature.take() })
        } else {
            Content::Text(text)
        }
    } else if let Some(taken) = spelling::take(&mut fields, "inlineData") {
        media::inline(&taken, place, raw)?
    } else if let Some(taken) = spelling::take(&mut fields, "fileData") {
        media::file(&taken, place, raw)?
    } else if let Some(taken) = spelling::take(&mut fields, "functionCall") {
        side = Role::Assistant;
        Content::ToolCall(call(&taken, place, signature.take(), ids)?)
    } else if let Some(taken) = spelling::take(&mut fields, "functionResponse") {
        side = Role::Tool;
        let (result, more) = result(&taken, place, ids)?;
        extra = more;
        Content::ToolResult(result)
    } else {
        return Ok(vec![(role, vendor(fields, raw).into())]);
    };
    extra.extend(fields.rest().map(|(name, raw)| (name.into_owned(), raw.into())));
    let is_empty = matches!(&content, Content::Text(text) if text.is_empty());
    let mut parts = vec![(side, Part { extra, ..Part::new(content) })];
    // A signature of a part that is no thought and no call stands after it.
    if let Some(seal) = signature.filter(|_| role == Role::Assistant) {
        let thinking = Content::Thinking(Thinking { text: String::new(), signature: Some(seal) });
        parts.push((role, thinking.into()));
        if is_empty && parts[0].1.extra.is_empty() {
            parts.remove(0);
        }
    }
    Ok(parts)
}

fn signature(fields: &mut Object<'_>, place: Place<'_>) -> Result<Option<String>, ApiError> {
    let Some(taken) = spelling::take(fields, "thoughtSignature") else { return Ok(None) };
    json::string(taken.raw, place.field(&taken.name)).map(Some)
}

/// Executable code, its result, whatever comes later; a part of nothing is an empty text.
fn vendor(fields: Object<'_>, raw: Found<'_>) -> Content {
    match fields.rest().next() {
        Some((name, _)) => {
            Content::Vendor { dialect: Dialect::Gemini, kind: spelling::camel(&name), raw: raw.into() }
        }
        None => Content::Text(Text::default()),
    }
}

fn call(
    taken: &Taken<'_>,
    place: Place<'_>,
    signature: Option<Seal>,
    ids: &mut Matcher,
) -> Result<ToolCall, ApiError> {
    let place = place.field(&taken.name);
    let mut fields = Object::read(taken.raw, place)?;
    let id = fields.take("id").map(|raw| json::string(raw, place.field("id"))).transpose()?;
    let name = fields.take("name").ok_or_else(|| place.field("name").expected("string"))?;
    let name = json::string(name, place.field("name"))?;
    let arguments = match fields.take("args") {
        Some(raw) if raw.is_object() => raw.get().into(),
        Some(_) => return Err(place.field("args").expected("object")),
        None => "{}".into(),
    };
    let id = ids.call(id.as_deref(), &name);
    Ok(ToolCall { id, name, namespace: None, arguments, kind: CallKind::Function, signature })
}

fn result(
    taken: &Taken<'_>,
    place: Place<'_>,
    ids: &mut Matcher,
) -> Result<(ToolResult, crate::raw::Fields), ApiError> {
    let place = place.field(&taken.name);
    let mut fields = Object::read(taken.raw, place)?;
    let mut string = |name| fields.take(name).map(|raw| json::string(raw, place.field(name))).transpose();
    let (id, name) = (string("id")?, string("name")?);
    let (mut parts, mut is_error) = (Vec::new(), false);
    if let Some(raw) = fields.take("response") {
        if !raw.is_object() {
            return Err(place.field("response").expected("object"));
        }
        let (text, failed) = told(raw);
        is_error = failed;
        parts.push(Part::text(text));
    }
    if let Some(raw) = fields.take("parts") {
        let list = place.field("parts");
        for (at, raw) in json::list(raw, list)?.into_iter().enumerate() {
            let place = list.index(at);
            let mut part = Object::read(raw, place)?;
            let content = if let Some(taken) = spelling::take(&mut part, "inlineData") {
                media::inline(&taken, place, raw)?
            } else if let Some(taken) = spelling::take(&mut part, "fileData") {
                media::file(&taken, place, raw)?
            } else if let Some(raw) = part.take("text") {
                Content::Text(json::text(raw, place.field("text"))?)
            } else {
                return Err(place.expected("an object with inlineData"));
            };
            parts.push(content.into());
        }
    }
    let call_id = ids.result(id.as_deref(), name.as_deref());
    let extra = fields.rest().map(|(name, raw)| (format!("{}.{name}", taken.name), raw.into())).collect();
    Ok((ToolResult { call_id, name, parts, is_error, kind: CallKind::Function }, extra))
}

/// The words of a response: `output` and `error` are the names Google gives them, others are common; anything else
/// is told as it stands.
fn told(raw: Found<'_>) -> (String, bool) {
    let whole = || (raw.get().to_owned(), false);
    let Ok(fields) = Object::read(raw, Place::Root) else { return whole() };
    let mut fields = fields.rest();
    let (Some((name, only)), None) = (fields.next(), fields.next()) else { return whole() };
    if !matches!(&*name, "output" | "result" | "content" | "error") {
        return whole();
    }
    let text = match serde_json::from_str::<Value>(only.get()) {
        Ok(Value::String(text)) => text,
        _ => only.get().to_owned(),
    };
    (text, name == "error")
}
