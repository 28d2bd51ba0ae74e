//! Fields that shape how an answer is made: which there are, what type each has, where each is kept.

use super::content;
use crate::{
    dialect::Dialect,
    error::ApiError,
    json::{self, Found, Object, Place},
    model::{Request, StructuredOutput},
};

#[derive(Clone, Copy)]
enum Type {
    Number,
    Whole,
    Bool,
    String,
    List,
    Object,
}

/// Kept in `Request::sampling`.
const SAMPLING: &[(&str, Type)] = &[
    ("temperature", Type::Number),
    ("top_p", Type::Number),
    ("top_logprobs", Type::Whole),
    // Not of the API, but some servers take them and some clients send them.
    ("top_k", Type::Number),
    ("min_p", Type::Number),
    ("frequency_penalty", Type::Number),
    ("presence_penalty", Type::Number),
    ("seed", Type::Number),
];

/// What the gateway serves itself: told back, and never a loss.
const SERVED: &[(&str, Type)] = &[("store", Type::Bool), ("previous_response_id", Type::String)];

/// Fields of the API that the model has no place for. They are kept raw, but a wrong type is still the
/// caller's mistake and is said.
const KNOWN: &[(&str, Type)] = &[
    ("client_metadata", Type::Object),
    ("context_management", Type::List),
    ("max_tool_calls", Type::Whole),
    ("prompt_cache_retention", Type::String),
    ("safety_identifier", Type::String),
    ("service_tier", Type::String),
    ("stream_options", Type::Object),
    ("truncation", Type::String),
];

/// What a response repeats of its request.
const ECHO: &[&str] = &[
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt_cache_key",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

pub(super) fn echo(fields: &Object<'_>, request: &mut Request) {
    let sent = ECHO.iter().filter_map(|name| Some(((*name).to_owned(), fields.get(name)?.into())));
    request.echo.extend(sent);
}

pub(super) fn read(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    let root = Place::Root;
    for (name, kind) in SAMPLING {
        if let Some(raw) = fields.take(name) {
            check(raw, *kind, root.field(name))?;
            request.sampling.fields.push(((*name).to_owned(), raw.into()));
        }
    }
    for (name, kind) in SERVED {
        if let Some(raw) = fields.take(name) {
            check(raw, *kind, root.field(name))?;
        }
    }
    if let Some(raw) = fields.take("max_output_tokens") {
        let place = root.field("max_output_tokens");
        let budget = json::whole_number(raw, place)?;
        if budget == 0 {
            return Err(place.expected("whole number from 1"));
        }
        request.max_output = Some(budget);
        request.spelled.push(("max_output", "max_output_tokens".to_owned()));
    }
    text(fields, request)?;
    reasoning(fields, request)?;
    include(fields, request)?;
    request.cache_key = content::optional(fields, "prompt_cache_key", root)?;
    request.metadata.user = content::optional(fields, "user", root)?;
    if let Some(raw) = fields.take("metadata") {
        check(raw, Type::Object, root.field("metadata"))?;
        request.metadata.fields = Some(raw.into());
    }
    Ok(())
}

/// `text`: the form of the answer, and how wordy it is.
fn text(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    let place = Place::Root.field("text");
    let Some(raw) = fields.take("text") else { return Ok(()) };
    let mut text = Object::read(raw, place)?;
    if let Some(raw) = text.take("format") {
        request.structured_output = structured(raw, place.field("format"))?;
        request.spelled.push(("structured_output", "text.format".to_owned()));
    }
    if let Some(raw) = text.take("verbosity") {
        check(raw, Type::String, place.field("verbosity"))?;
        request.sampling.fields.push(("verbosity".to_owned(), raw.into()));
        request.spelled.push(("verbosity", "text.verbosity".to_owned()));
    }
    request.extra.extend(text.rest().map(|(name, raw)| (place.field(&name).to_string(), raw.into())));
    Ok(())
}

/// `None` for plain text.
fn structured(raw: Found<'_>, place: Place<'_>) -> Result<Option<StructuredOutput>, ApiError> {
    let mut fields = Object::read(raw, place)?;
    let kind = content::required(&mut fields, "type", place)?;
    Ok(match kind.as_str() {
        "text" => None,
        "json_object" => Some(StructuredOutput::Object),
        "json_schema" => {
            let schema = fields.take("schema").filter(|raw| raw.is_object());
            let schema = schema.ok_or_else(|| place.field("schema").expected("object"))?.into();
            let strict = fields.take("strict");
            let strict = strict.map(|raw| json::boolean(raw, place.field("strict"))).transpose()?;
            let name = content::optional(&mut fields, "name", place)?;
            let description = content::optional(&mut fields, "description", place)?;
            Some(StructuredOutput::Schema { name, description, schema, strict })
        }
        _ => Some(StructuredOutput::Vendor { dialect: Dialect::Responses, raw: raw.into() }),
    })
}

fn reasoning(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    let place = Place::Root.field("reasoning");
    let Some(raw) = fields.take("reasoning") else { return Ok(()) };
    let mut reasoning = Object::read(raw, place)?;
    request.reasoning.effort = content::optional(&mut reasoning, "effort", place)?;
    // The older name of the same.
    let older = content::optional(&mut reasoning, "generate_summary", place)?;
    request.reasoning.summary = content::optional(&mut reasoning, "summary", place)?.or(older);
    request.spelled.push(("reasoning", "reasoning".to_owned()));
    request.extra.extend(reasoning.rest().map(|(name, raw)| (place.field(&name).to_string(), raw.into())));
    Ok(())
}

/// Encrypted reasoning is asked for wherever there may be some; only what else is wanted is a loss.
fn include(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    let place = Place::Root.field("include");
    let Some(raw) = fields.take("include") else { return Ok(()) };
    if json::strings(raw, place)?.iter().any(|wanted| wanted != "reasoning.encrypted_content") {
        request.extra.push(("include".to_owned(), raw.into()));
    }
    Ok(())
}

/// The type of a field that is kept in `extra`.
pub(super) fn check_known(name: &str, raw: Found<'_>) -> Result<(), ApiError> {
    match KNOWN.iter().find(|(known, _)| *known == name) {
        Some((_, kind)) => check(raw, *kind, Place::Root.field(name)),
        None => Ok(()),
    }
}

fn check(raw: Found<'_>, kind: Type, place: Place<'_>) -> Result<(), ApiError> {
    let (fits, expected) = match kind {
        Type::Number => (raw.is_number(), "number"),
        Type::Whole => return json::whole_number(raw, place).map(drop),
        Type::Bool => return json::boolean(raw, place).map(drop),
        Type::String => return json::string(raw, place).map(drop),
        Type::List => (raw.is_list(), "list"),
        Type::Object => (raw.is_object(), "object"),
    };
    if fits { Ok(()) } else { Err(place.expected(expected)) }
}
