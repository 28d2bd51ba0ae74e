//! `generationConfig`: which fields there are, what type each has, where each is kept.

use serde_json::json;

use super::{
    schema,
    spelling::{self, Taken},
};
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
    Strings,
    List,
    Object,
}

/// Google's name and chat's.
pub(super) const SAMPLING: &[(&str, &str)] = &[
    ("temperature", "temperature"),
    ("topP", "top_p"),
    ("topK", "top_k"),
    ("seed", "seed"),
    ("stopSequences", "stop"),
    ("presencePenalty", "presence_penalty"),
    ("frequencyPenalty", "frequency_penalty"),
    ("responseLogprobs", "logprobs"),
    ("logprobs", "top_logprobs"),
];

fn type_of(name: &str) -> Type {
    match name {
        "stopSequences" => Type::Strings,
        "responseLogprobs" => Type::Bool,
        "logprobs" => Type::Whole,
        _ => Type::Number,
    }
}

/// Kept raw, but a wrong type is still the caller's mistake and is said.
const KNOWN: &[(&str, Type)] = &[
    ("cachedContent", Type::String),
    ("safetySettings", Type::List),
    ("labels", Type::Object),
    ("store", Type::Bool),
    ("serviceTier", Type::String),
    ("responseModalities", Type::List),
    ("speechConfig", Type::Object),
    ("imageConfig", Type::Object),
    ("mediaResolution", Type::String),
    ("enableEnhancedCivicAnswers", Type::Bool),
];

pub(super) fn read(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    let Some(taken) = spelling::take(fields, "generationConfig") else { return Ok(()) };
    let place = Place::Root.field(&taken.name);
    let mut fields = Object::read(taken.raw, place)?;
    for (google, name) in SAMPLING {
        if let Some(taken) = spelling::take(&mut fields, google) {
            let here = place.field(&taken.name);
            check(taken.raw, type_of(google), here)?;
            request.sampling.fields.push(((*name).to_owned(), taken.raw.into()));
            request.spelled.push((name, here.to_string()));
        }
    }
    if let Some(taken) = spelling::take(&mut fields, "candidateCount") {
        one_candidate(&taken, place)?;
    }
    if let Some(taken) = spelling::take(&mut fields, "maxOutputTokens") {
        let here = place.field(&taken.name);
        match json::whole_number(taken.raw, here)? {
            0 => return Err(here.expected("whole number from 1")),
            budget => request.max_output = Some(budget),
        }
        request.spelled.push(("max_output", here.to_string()));
    }
    if let Some(taken) = spelling::take(&mut fields, "thinkingConfig") {
        thinking(&taken, place, request)?;
    }
    structured(&mut fields, place, request)?;
    for (name, raw) in fields.rest() {
        let here = place.field(&name);
        check_type(&name, raw, here)?;
        request.extra.push((here.to_string(), raw.into()));
    }
    Ok(())
}

/// The type of a field of the body that is kept in `extra`.
pub(super) fn check_known(name: &str, raw: Found<'_>) -> Result<(), ApiError> {
    check_type(name, raw, Place::Root.field(name))
}

fn check_type(name: &str, raw: Found<'_>, place: Place<'_>) -> Result<(), ApiError> {
    let camel = spelling::camel(name);
    match KNOWN.iter().find(|(known, _)| *known == camel) {
        Some((_, kind)) => check(raw, *kind, place),
        None => Ok(()),
    }
}

fn one_candidate(taken: &Taken<'_>, place: Place<'_>) -> Result<(), ApiError> {
    let place = place.field(&taken.name);
    match json::whole_number(taken.raw, place)? {
        1 => Ok(()),
        0 => Err(place.expected("1")),
        _ => Err(ApiError::invalid(
            "one_choice",
            format!(
                "{place}: a reply holds one candidate; leave it out, and ask a collection of several models for \
                 several answers"
            ),
        )),
    }
}

fn thinking(taken: &Taken<'_>, place: Place<'_>, request: &mut Request) -> Result<(), ApiError> {
    let place = place.field(&taken.name);
    let mut fields = Object::read(taken.raw, place)?;
    request.spelled.push(("reasoning", place.to_string()));
    let reasoning = &mut request.reasoning;
    if let Some(taken) = spelling::take(&mut fields, "includeThoughts") {
        let told = json::boolean(taken.raw, place.field(&taken.name))?;
        reasoning.summary = Some(if told { "auto" } else { "none" }.to_owned());
    }
    if let Some(taken) = spelling::take(&mut fields, "thinkingBudget") {
        reasoning.mode = Some(match taken.raw.get() {
            "-1" => ThinkingMode::Adaptive,
            _ => match json::whole_number(taken.raw, place.field(&taken.name))? {
                0 => ThinkingMode::Off,
                tokens => ThinkingMode::Budget(tokens),
            },
        });
    }
    if let Some(taken) = spelling::take(&mut fields, "thinkingLevel") {
        let level = json::string(taken.raw, place.field(&taken.name))?.to_ascii_lowercase();
        reasoning.effort = Some(level).filter(|level| level != "thinking_level_unspecified");
    }
    request.extra.extend(fields.rest().map(|(name, raw)| (place.field(&name).to_string(), raw.into())));
    Ok(())
}

fn structured(fields: &mut Object<'_>, place: Place<'_>, request: &mut Request) -> Result<(), ApiError> {
    let kind = spelling::take(fields, "responseMimeType");
    let own = spelling::take(fields, "responseSchema");
    let plain = spelling::take(fields, "responseJsonSchema")
        .or_else(|| spelling::take(fields, "_responseJsonSchema"));
    let spelled =
        plain.as_ref().or(own.as_ref()).or(kind.as_ref()).map(|taken| place.field(&taken.name).to_string());
    let kind = kind.map(|taken| json::string(taken.raw, place.field(&taken.name))).transpose()?;
    for taken in own.iter().chain(&plain) {
        check(taken.raw, Type::Object, place.field(&taken.name))?;
    }
    let output = match (kind.as_deref(), plain, own) {
        (Some("text/plain"), ..) | (None, None, None) => None,
        (Some("application/json") | None, Some(taken), _) => Some(schema_of(taken.raw.into())),
        (Some("application/json") | None, None, Some(taken)) => {
            Some(schema_of(schema::standard(&taken.raw.into())))
        }
        (Some("application/json"), None, None) => Some(StructuredOutput::Object),
        (Some(kind), _, own) => {
            let mut form = json!({ "responseMimeType": kind });
            if let Some(taken) = own {
                form["responseSchema"] = Raw::from(taken.raw).value();
            }
            Some(StructuredOutput::Vendor { dialect: Dialect::Gemini, raw: Raw::from(&form) })
        }
    };
    if output.is_some() {
        request.spelled.extend(spelled.map(|spelled| ("structured_output", spelled)));
    }
    request.structured_output = output;
    Ok(())
}

fn schema_of(schema: Raw) -> StructuredOutput {
    StructuredOutput::Schema { name: None, description: None, schema, strict: None }
}

fn check(raw: Found<'_>, kind: Type, place: Place<'_>) -> Result<(), ApiError> {
    let (fits, expected) = match kind {
        Type::Number => (raw.is_number(), "number"),
        Type::Whole => return json::whole_number(raw, place).map(drop),
        Type::Bool => return json::boolean(raw, place).map(drop),
        Type::String => return json::string(raw, place).map(drop),
        Type::Strings => return json::strings(raw, place).map(drop),
        Type::List => (raw.is_list(), "list"),
        Type::Object => (raw.is_object(), "object"),
    };
    if fits { Ok(()) } else { Err(place.expected(expected)) }
}
