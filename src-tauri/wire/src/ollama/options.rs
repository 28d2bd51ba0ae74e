//! Fields that shape how an answer is made: which there are, what type each has, where each is kept.

use crate::{
    error::ApiError,
    json::{self, Found, Object, Place},
    model::{Request, StructuredOutput, ThinkingMode},
};

#[derive(Clone, Copy)]
enum Type {
    Number,
    Bool,
    String,
    StringOrStrings,
    StringOrNumber,
}

/// Members of `options` that other dialects know by the same name: kept in `Request::sampling`.
pub(super) const SAMPLING: [&str; 10] = [
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "typical_p",
    "frequency_penalty",
    "presence_penalty",
    "repeat_penalty",
    "seed",
    "stop",
];

/// The output budget's name among `options`.
pub(super) const BUDGET: &str = "num_predict";

/// Members of `options` that only Ollama knows and that are no numbers.
const SWITCHES: [&str; 7] =
    ["penalize_newline", "numa", "low_vram", "f16_kv", "vocab_only", "use_mmap", "use_mlock"];

/// Fields of the body that the model has no place for. They are kept raw, but a wrong type is still the
/// caller's mistake and is said.
const KNOWN: &[(&str, Type)] = &[
    ("keep_alive", Type::StringOrNumber),
    ("template", Type::String),
    ("suffix", Type::String),
    ("raw", Type::Bool),
    ("truncate", Type::Bool),
    ("shift", Type::Bool),
];

pub(super) fn read(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    let root = Place::Root;
    if let Some(raw) = fields.take("options") {
        members(Object::read(raw, root.field("options"))?, root.field("options"), request)?;
    }
    for name in ["logprobs", "top_logprobs"] {
        if let Some(raw) = fields.take(name) {
            let kind = if name == "logprobs" { Type::Bool } else { Type::Number };
            check(raw, kind, root.field(name))?;
            request.sampling.fields.push((name.to_owned(), raw.into()));
        }
    }
    if let Some(raw) = fields.take("format") {
        request.structured_output = format(raw, root.field("format"))?;
        request.spelled.push(("structured_output", "format".to_owned()));
    }
    if let Some(raw) = fields.take("think") {
        think(raw, root.field("think"), request)?;
        request.spelled.push(("reasoning", "think".to_owned()));
    }
    Ok(())
}

fn members(mut options: Object<'_>, place: Place<'_>, request: &mut Request) -> Result<(), ApiError> {
    for name in SAMPLING {
        if let Some(raw) = options.take(name) {
            let kind = if name == "stop" { Type::StringOrStrings } else { Type::Number };
            check(raw, kind, place.field(name))?;
            request.sampling.fields.push((name.to_owned(), raw.into()));
            request.spelled.push((name, place.field(name).to_string()));
        }
    }
    if let Some(raw) = options.take(BUDGET) {
        request.max_output = budget(raw, place.field(BUDGET))?;
        request.spelled.push(("max_output", place.field(BUDGET).to_string()));
    }
    for (name, raw) in options.rest() {
        if SWITCHES.contains(&name.as_ref()) {
            check(raw, Type::Bool, place.field(&name))?;
        } else if name.starts_with("num_") {
            check(raw, Type::Number, place.field(&name))?;
        }
        request.extra.push((place.field(&name).to_string(), raw.into()));
    }
    Ok(())
}

/// Below 0 there is no end set.
fn budget(raw: Found<'_>, place: Place<'_>) -> Result<Option<u64>, ApiError> {
    if raw.is_number() && raw.get().starts_with('-') {
        return Ok(None);
    }
    match json::whole_number(raw, place)? {
        0 => Err(place.expected("whole number from 1, or -1 for no limit")),
        budget => Ok(Some(budget)),
    }
}

/// `"json"`, a schema, or the empty text that older clients send for none.
fn format(raw: Found<'_>, place: Place<'_>) -> Result<Option<StructuredOutput>, ApiError> {
    if raw.is_object() {
        let schema = raw.into();
        return Ok(Some(StructuredOutput::Schema { name: None, description: None, schema, strict: None }));
    }
    match json::string(raw, place).as_deref() {
        Ok("") => Ok(None),
        Ok("json") => Ok(Some(StructuredOutput::Object)),
        _ => Err(place.expected("\"json\" or a JSON schema")),
    }
}

fn think(raw: Found<'_>, place: Place<'_>, request: &mut Request) -> Result<(), ApiError> {
    if raw.is_string() {
        let level = json::string(raw, place)?;
        request.reasoning.effort = Some(level).filter(|level| !level.is_empty());
        return Ok(());
    }
    let on =
        json::boolean(raw, place).map_err(|_| place.expected("true, false or a level such as \"low\""))?;
    request.reasoning.mode = Some(if on { ThinkingMode::On } else { ThinkingMode::Off });
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
        Type::Bool => return json::boolean(raw, place).map(drop),
        Type::String => return json::string(raw, place).map(drop),
        Type::StringOrStrings if raw.is_list() => return json::strings(raw, place).map(drop),
        Type::StringOrStrings => (raw.is_string(), "string or list of strings"),
        Type::StringOrNumber => (raw.is_string() || raw.is_number(), "string or number"),
    };
    if fits { Ok(()) } else { Err(place.expected(expected)) }
}
