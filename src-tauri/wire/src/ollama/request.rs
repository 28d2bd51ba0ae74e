//! A caller's body into a [`Request`].

use super::{message, options, tools};
use crate::{
    caller,
    dialect::Dialect,
    error::ApiError,
    ids::Matcher,
    json::{self, Json, Object, Place},
    model::{Form, Message, Part, Request, Role},
};

/// The code of the refusal of a body that asks nothing. Upstream such a body loads the model, and `ollama run` sends
/// one first: a gateway may answer it with [`loaded`](super::list::loaded).
pub const NOTHING_ASKED: &str = "nothing_asked";

pub(super) fn decode(body: &Json, form: Form) -> Result<Request, ApiError> {
    let mut fields = body.fields()?;
    let root = Place::Root;
    let form = if form == Form::Generate { form } else { Form::Usual };

    // The dialect streams unless told otherwise, and its last line always counts.
    let mut request =
        Request { dialect: Dialect::Ollama, form, stream: true, include_usage: true, ..Request::default() };
    if let Some(raw) = fields.take("model") {
        request.model = json::string(raw, root.field("model"))?;
    }
    if form == Form::Generate {
        refuse_context(&mut fields)?;
        read_prompt(&mut fields, &mut request)?;
    } else {
        read_messages(&mut fields, &mut request)?;
        tools::read(&mut fields, &mut request)?;
    }
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

/// Tokens of one model's own vocabulary mean nothing to another.
fn refuse_context(fields: &mut Object<'_>) -> Result<(), ApiError> {
    let place = Place::Root.field("context");
    let Some(raw) = fields.take("context") else { return Ok(()) };
    if json::list(raw, place)?.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid(
        "context",
        "context: tokens of an earlier answer are not taken; send the conversation as messages to /api/chat",
    ))
}

fn read_prompt(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    let root = Place::Root;
    let mut string = |name| fields.take(name).map(|raw| json::string(raw, root.field(name))).transpose();
    let system = string("system")?.filter(|text| !text.is_empty());
    let prompt = string("prompt")?.unwrap_or_default();
    let mut parts = vec![Part::text(prompt.as_str()).at("prompt")];
    if let Some(raw) = fields.take("images") {
        parts.extend(message::images(raw, root.field("images"))?);
    }
    if prompt.is_empty() && parts.len() == 1 {
        return Err(ApiError::invalid(NOTHING_ASKED, "prompt: expected a text"));
    }
    if let Some(system) = system {
        let parts = vec![Part::text(system).at("system")];
        request.messages.push(Message::new(Role::System, parts).at("system"));
    }
    request.messages.push(Message::new(Role::User, parts).at("prompt"));
    Ok(())
}

fn read_messages(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    let place = Place::Root.field("messages");
    let messages = fields.take("messages").map(|raw| json::list(raw, place)).transpose()?;
    let messages = messages.unwrap_or_default();
    if messages.is_empty() {
        return Err(ApiError::invalid(NOTHING_ASKED, "messages: expected a list with at least one message"));
    }
    request.messages.reserve_exact(messages.len());
    let mut ids = Matcher::default();
    for (index, found) in messages.into_iter().enumerate() {
        let place = place.index(index);
        request.messages.push(message::read(Object::read(found, place)?, place, &mut ids)?);
    }
    Ok(())
}
