//! A caller's body into a [`Request`].

use super::{options, tools, turns};
use crate::{
    caller,
    dialect::Dialect,
    error::ApiError,
    json::{self, Json, Object, Place},
    model::{Message, Part, Request, Role},
};

pub(super) fn decode(body: &Json) -> Result<Request, ApiError> {
    let mut fields = body.fields()?;
    let root = Place::Root;
    refuse_kept_elsewhere(&mut fields)?;

    let mut request = Request { dialect: Dialect::Responses, ..Request::default() };
    if let Some(raw) = fields.take("model") {
        request.model = json::string(raw, root.field("model"))?;
    }
    // The stream always tells usage.
    request.include_usage = true;
    options::echo(&fields, &mut request);
    if let Some(raw) = fields.take("instructions") {
        let text = json::string(raw, root.field("instructions"))?;
        if !text.is_empty() {
            request.messages.push(Message::new(Role::System, vec![Part::text(text)]).at("instructions"));
        }
    }
    let goes_on = fields.get("previous_response_id").is_some();
    read_input(&mut fields, &mut request, goes_on)?;
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

/// What only OpenAI's own servers could run or look up.
fn refuse_kept_elsewhere(fields: &mut Object<'_>) -> Result<(), ApiError> {
    let place = Place::Root.field("background");
    if let Some(raw) = fields.take("background")
        && json::boolean(raw, place)?
    {
        return Err(ApiError::invalid(
            "no_background",
            "background: a response is made while the caller waits; leave background out and set stream to true",
        ));
    }
    let kept = [
        ("conversation", "stored_conversation", "send the turns as input, or previous_response_id"),
        ("prompt", "stored_prompt", "send its text as instructions and input"),
    ];
    for (name, code, instead) in kept {
        if fields.take(name).is_some() {
            return Err(ApiError::invalid(code, format!("{name}: it is kept by another service; {instead}")));
        }
    }
    Ok(())
}

fn read_input(fields: &mut Object<'_>, request: &mut Request, goes_on: bool) -> Result<(), ApiError> {
    let place = Place::Root.field("input");
    let Some(raw) = fields.take("input") else {
        if goes_on {
            return Ok(());
        }
        return Err(ApiError::invalid("missing_input", "input: expected a string or a list of items"));
    };
    if raw.is_string() {
        let text = json::string(raw, place)?;
        request.messages.push(Message::new(Role::User, vec![Part::text(text).at(place)]).at(place));
        return Ok(());
    }
    if !raw.is_list() {
        return Err(place.expected("string or list"));
    }
    let items = json::list(raw, place)?;
    if items.is_empty() && !goes_on {
        return Err(ApiError::invalid("missing_input", "input: the list is empty; send at least one item"));
    }
    turns::read(&items, place, request)
}
