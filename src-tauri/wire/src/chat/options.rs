//! Fields that shape how an answer is made: which there are, what type each has, where each is kept.

use crate::{
    dialect::Dialect,
    error::ApiError,
    json::{self, Found, Object, Place},
    model::{Request, StructuredOutput, ThinkingMode},
    raw::Raw,
};

#[derive(Clone, Copy)]
enum Type {
    Number,
    Whole,
    Bool,
    String,
    StringOrStrings,
    List,
    Object,
}

/// Kept in `Request::sampling`.
const SAMPLING: &[(&str, Type)] = &[
    ("temperature", Type::Number),
    ("top_p", Type::Number),
    ("top_k", Type::Number),
    ("top_a", Type::Number),
    ("min_p", Type::Number),
    ("typical_p", Type::Number),
    ("frequency_penalty", Type::Number),
    ("presence_penalty", Type::Number),
    ("repetition_penalty", Type::Number),
    ("repeat_penalty", Type::Number),
    ("seed", Type::Number),
    ("stop", Type::StringOrStrings),
    ("logit_bias", Type::Object),
    ("logprobs", Type::Bool),
    ("top_logprobs", Type::Whole),
    ("verbosity", Type::String),
];

/// Fields of the API that the model has no place for. They are kept raw, but a wrong type is still the
/// caller's mistake and is said.
const KNOWN: &[(&str, Type)] = &[
    ("audio", Type::Object),
    ("modalities", Type::List),
    ("prediction", Type::Object),
    ("prompt_cache_retention", Type::String),
    ("safety_identifier", Type::String),
    ("service_tier", Type::String),
    ("store", Type::Bool),
    ("web_search_options", Type::Object),
];

pub(super) fn read(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    let root = Place::Root;
    refuse_many(fields)?;
    for (name, kind) in SAMPLING {
        if let Some(raw) = fields.take(name) {
            check(raw, *kind, root.field(name))?;
            request.sampling.fields.push(((*name).to_owned(), raw.into()));
        }
    }
    // The newer name wins where both are sent.
    for name in ["max_tokens", "max_completion_tokens"] {
        if let Some(raw) = fields.take(name) {
            let budget = json::whole_number(raw, root.field(name))?;
            if budget == 0 {
                return Err(root.field(name).expected("whole number from 1"));
            }
            request.max_output = Some(budget);
            request.spelled.retain(|(option, _)| *option != "max_output");
            request.spelled.push(("max_output", name.to_owned()));
        }
    }
    if let Some(raw) = fields.take("response_format") {
        request.structured_output = structured(raw, root.field("response_format"))?;
        request.spelled.push(("structured_output", "response_format".to_owned()));
    }
    reasoning(fields, request)?;
    let mut string = |name| fields.take(name).map(|raw| json::string(raw, root.field(name))).transpose();
    request.cache_key = string("prompt_cache_key")?;
    request.metadata.user = string("user")?;
    if let Some(raw) = fields.take("metadata") {
        check(raw, Type::Object, root.field("metadata"))?;
        request.metadata.fields = Some(raw.into());
    }
    Ok(())
}

/// `None` for plain text.
fn structured(raw: Found<'_>, place: Place<'_>) -> Result<Option<StructuredOutput>, ApiError> {
    let mut fields = Object::read(raw, place)?;
    let kind = fields.take("type").ok_or_else(|| place.field("type").expected("string"))?;
    let kind = json::string(kind, place.field("type"))?;
    let object = |raw: Found<'_>, place: Place<'_>| {
        if raw.is_object() { Ok(Raw::from(raw)) } else { Err(place.expected("object")) }
    };
    Ok(match kind.as_str() {
        "text" => None,
        "json_object" => Some(match fields.take("schema") {
            // Some servers take the schema here.
            Some(raw) => StructuredOutput::Schema {
                name: None,
                description: None,
                schema: object(raw, place.field("schema"))?,
                strict: None,
            },
            None => StructuredOutput::Object,
        }),
        "json_schema" => {
            let place = place.field("json_schema");
            let inner = fields.take("json_schema").ok_or_else(|| place.expected("object"))?;
            let mut inner = Object::read(inner, place)?;
            let schema = inner.take("schema").ok_or_else(|| place.field("schema").expected("object"))?;
            let schema = object(schema, place.field("schema"))?;
            let strict = inner.take("strict");
            let strict = strict.map(|raw| json::boolean(raw, place.field("strict"))).transpose()?;
            let mut string =
                |name| inner.take(name).map(|raw| json::string(raw, place.field(name))).transpose();
            Some(StructuredOutput::Schema {
                name: string("name")?,
                description: string("description")?,
                schema,
                strict,
            })
        }
        _ => Some(StructuredOutput::Vendor { dialect: Dialect::Chat, raw: raw.into() }),
    })
}

/// OpenAI's `reasoning_effort`, and the `reasoning` object of hubs.
fn reasoning(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    if let Some(raw) = fields.take("reasoning_effort") {
        request.reasoning.effort = Some(json::string(raw, Place::Root.field("reasoning_effort"))?);
        request.spelled.push(("reasoning", "reasoning_effort".to_owned()));
    }
    let place = Place::Root.field("reasoning");
    let Some(raw) = fields.take("reasoning") else { return Ok(()) };
    let mut reasoning = Object::read(raw, place)?;
    if let Some(raw) = reasoning.take("effort") {
        request.reasoning.effort = Some(json::string(raw, place.field("effort"))?);
    }
    if let Some(raw) = reasoning.take("max_tokens") {
        let tokens = json::whole_number(raw, place.field("max_tokens"))?;
        request.reasoning.mode = Some(ThinkingMode::Budget(tokens));
    }
    if let Some(raw) = reasoning.take("enabled") {
        let enabled = json::boolean(raw, place.field("enabled"))?;
        let mode = if enabled { ThinkingMode::On } else { ThinkingMode::Off };
        request.reasoning.mode.get_or_insert(mode);
    }
    let rest = reasoning.rest().map(|(name, raw)| (place.field(&name).to_string(), raw.into()));
    request.extra.extend(rest);
    Ok(())
}

/// The type of a field that is kept in `extra`.
pub(super) fn check_known(name: &str, raw: Found<'_>) -> Result<(), ApiError> {
    match KNOWN.iter().find(|(known, _)| *known == name) {
        Some((_, kind)) => check(raw, *kind, Place::Root.field(name)),
        None => Ok(()),
    }
}

fn refuse_many(fields: &mut Object<'_>) -> Result<(), ApiError> {
    let Some(raw) = fields.take("n") else { return Ok(()) };
    let place = Place::Root.field("n");
    match json::whole_number(raw, place)? {
        1 => Ok(()),
        0 => Err(place.expected("1")),
        _ => Err(ApiError::invalid(
            "one_choice",
            "n: a reply holds one choice; leave n out, and ask a collection of several models for several answers",
        )),
    }
}

fn check(raw: Found<'_>, kind: Type, place: Place<'_>) -> Result<(), ApiError> {
    let (fits, expected) = match kind {
        Type::Number => (raw.is_number(), "number"),
        Type::Whole => return json::whole_number(raw, place).map(drop),
        Type::Bool => return json::boolean(raw, place).map(drop),
        Type::String => return json::string(raw, place).map(drop),
        Type::StringOrStrings if raw.is_list() => return json::strings(raw, place).map(drop),
        Type::StringOrStrings => (raw.is_string(), "string or list of strings"),
        Type::List => (raw.is_list(), "list"),
        Type::Object => (raw.is_object(), "object"),
    };
    if fits { Ok(()) } else { Err(place.expected(expected)) }
}
