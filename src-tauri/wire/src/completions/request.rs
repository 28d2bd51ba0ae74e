//! A caller's body into a [`Request`].

use crate::{
    caller,
    dialect::Dialect,
    error::ApiError,
    json::{self, Found, Json, Object, Place},
    model::{Message, Part, Request, Role},
};

pub(super) fn decode(body: &Json) -> Result<Request, ApiError> {
    let mut fields = body.fields()?;
    let root = Place::Root;
    let mut request = Request { dialect: Dialect::Completions, ..Request::default() };
    if let Some(raw) = fields.take("model") {
        request.model = json::string(raw, root.field("model"))?;
    }
    let prompt = prompt(&mut fields)?;
    request.messages.push(Message::new(Role::User, vec![Part::text(prompt).at("prompt")]).at("prompt"));
    for name in ["n", "best_of"] {
        one(&mut fields, name)?;
    }
    sampling(&mut fields, &mut request)?;
    if let Some(raw) = fields.take("max_tokens") {
        let place = root.field("max_tokens");
        let budget = json::whole_number(raw, place)?;
        if budget == 0 {
            return Err(place.expected("whole number from 1"));
        }
        request.max_output = Some(budget);
        request.spelled.push(("max_output", "max_tokens".to_owned()));
    }
    if let Some(raw) = fields.take("user") {
        request.metadata.user = Some(json::string(raw, root.field("user"))?);
    }
    if let Some(raw) = fields.take("stream") {
        request.stream = json::boolean(raw, root.field("stream"))?;
    }
    if let Some(raw) = fields.take("stream_options") {
        let place = root.field("stream_options");
        if let Some(raw) = Object::read(raw, place)?.take("include_usage") {
            request.include_usage = json::boolean(raw, place.field("include_usage"))?;
        }
    }
    caller::read(&mut fields, &mut request)?;
    request.extra.extend(fields.rest().map(|(name, raw)| (name.into_owned(), raw.into())));
    Ok(request)
}

/// A string, or a list of one string.
fn prompt(fields: &mut Object<'_>) -> Result<String, ApiError> {
    let place = Place::Root.field("prompt");
    let Some(raw) = fields.take("prompt") else {
        return Err(ApiError::invalid("missing_prompt", "prompt: expected a string"));
    };
    if raw.is_string() {
        return json::string(raw, place);
    }
    if !raw.is_list() {
        return Err(place.expected("string or a list of one string"));
    }
    let prompts = json::list(raw, place)?;
    if prompts.iter().any(|raw| raw.is_number() || raw.is_list()) {
        let words = "prompt: no member shares its tokens with us; send the prompt as text";
        return Err(ApiError::invalid("prompt_of_tokens", words));
    }
    match prompts.as_slice() {
        [prompt] => json::string(*prompt, place.index(0)),
        [] => Err(ApiError::invalid("missing_prompt", "prompt: the list is empty; send one string")),
        _ => {
            let words = "prompt: a reply answers one prompt; send each in a request of its own";
            Err(ApiError::invalid("one_prompt", words))
        }
    }
}

fn one(fields: &mut Object<'_>, name: &str) -> Result<(), ApiError> {
    let Some(raw) = fields.take(name) else { return Ok(()) };
    let place = Place::Root.field(name);
    match json::whole_number(raw, place)? {
        1 => Ok(()),
        0 => Err(place.expected("1")),
        _ => Err(ApiError::invalid(
            "one_choice",
            format!(
                "{name}: a reply holds one choice; leave {name} out, and ask a collection of several models for \
                 several answers"
            ),
        )),
    }
}

fn sampling(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    const NUMBERS: [&str; 9] = [
        "temperature",
        "top_p",
        "top_k",
        "min_p",
        "frequency_penalty",
        "presence_penalty",
        "repetition_penalty",
        "repeat_penalty",
        "seed",
    ];
    let mut keep = |name: &str, raw: Found<'_>| request.sampling.fields.push((name.to_owned(), raw.into()));
    for name in NUMBERS {
        if let Some(raw) = fields.take(name) {
            if !raw.is_number() {
                return Err(Place::Root.field(name).expected("number"));
            }
            keep(name, raw);
        }
    }
    if let Some(raw) = fields.take("stop") {
        let place = Place::Root.field("stop");
        match (raw.is_list(), raw.is_string()) {
            (true, _) => drop(json::strings(raw, place)?),
            (_, true) => {}
            _ => return Err(place.expected("string or list of strings")),
        }
        keep("stop", raw);
    }
    if let Some(raw) = fields.take("logit_bias") {
        if !raw.is_object() {
            return Err(Place::Root.field("logit_bias").expected("object"));
        }
        keep("logit_bias", raw);
    }
    Ok(())
}
