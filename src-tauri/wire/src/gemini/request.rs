//! A caller's body into a [`Request`].

use super::{content, options, spelling, tools};
use crate::{
    caller,
    dialect::Dialect,
    error::ApiError,
    ids::Matcher,
    json::{self, Json, Object, Place},
    model::{Form, Message, Part, Request, Role, Route},
};

pub(super) fn decode(body: &Json, route: &Route<'_>) -> Result<Request, ApiError> {
    let mut fields = body.fields()?;
    let mut request = Request {
        dialect: Dialect::Gemini,
        form: route.form,
        stream: route.form != Form::Usual,
        include_usage: true,
        ..Request::default()
    };
    if let Some(raw) = fields.take("model") {
        request.model = json::string(raw, Place::Root.field("model"))?;
    }
    if let Some(model) = route.model {
        model.clone_into(&mut request.model);
    }
    if let Some(name) = request.model.strip_prefix("models/") {
        request.model = name.to_owned();
    }
    system(&mut fields, &mut request)?;
    contents(&mut fields, &mut request)?;
    tools::read(&mut fields, &mut request)?;
    options::read(&mut fields, &mut request)?;
    caller::read(&mut fields, &mut request)?;
    for (name, raw) in fields.rest() {
        options::check_known(&name, raw)?;
        request.extra.push((name.into_owned(), raw.into()));
    }
    Ok(request)
}

/// A content whose role says nothing; some clients send the text itself.
fn system(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    let Some(taken) = spelling::take(fields, "systemInstruction") else { return Ok(()) };
    let place = Place::Root.field(&taken.name);
    if taken.raw.is_string() {
        let part = Part::text(json::string(taken.raw, place)?).at(place);
        request.messages.push(Message::new(Role::System, vec![part]).at(place));
        return Ok(());
    }
    let content = Object::read(taken.raw, place)?;
    let turns = content::turns(content, place, Some(Role::System), &mut Matcher::default())?;
    request
        .messages
        .extend(turns.into_iter().filter(|turn| !turn.parts.is_empty() || !turn.extra.is_empty()));
    Ok(())
}

fn contents(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    let place = Place::Root.field("contents");
    let Some(contents) = fields.take("contents").map(|raw| json::list(raw, place)).transpose()? else {
        return Err(ApiError::invalid(
            "missing_messages",
            "contents: expected a list with at least one content",
        ));
    };
    if contents.is_empty() {
        return Err(ApiError::invalid(
            "missing_messages",
            "contents: the list is empty; send at least one content",
        ));
    }
    let mut ids = Matcher::default();
    for (index, found) in contents.into_iter().enumerate() {
        let place = place.index(index);
        let turns = content::turns(Object::read(found, place)?, place, None, &mut ids)?;
        request.messages.extend(turns);
    }
    Ok(())
}
