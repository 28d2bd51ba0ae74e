//! The JSON Schema of a structured answer, as the API takes it: few words, and every object closed.

use serde_json::{Map, Value};

use crate::{notice::Notice, raw::Raw, schema::Profile};

/// Lengths, ranges and the like are refused: they are said in the description.
pub(super) const RESPONSE: Profile = Profile {
    keywords: Some(&[
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "const",
        "anyOf",
        "allOf",
        "$ref",
        "$defs",
        "definitions",
        "title",
        "description",
        "default",
        "format",
    ]),
    formats: Some(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "uri",
        "ipv4",
        "ipv6",
        "uuid",
    ]),
    ..Profile::RESPONSE
};

/// The schema with every object closed to properties it does not name; the text as it is where that is so.
pub(super) fn closed(schema: &Raw, place: &str, notices: &mut Vec<Notice>) -> Raw {
    let mut value = schema.value();
    if !close(&mut value) {
        return schema.clone();
    }
    notices.push(Notice::new(place, "objects closed to other properties, as this API wants"));
    Raw::from(&value)
}

/// Whether anything was changed.
fn close(schema: &mut Value) -> bool {
    let Value::Object(fields) = schema else { return false };
    let mut changed = false;
    if is_object(fields) && fields.get("additionalProperties") != Some(&Value::Bool(false)) {
        fields.insert("additionalProperties".to_owned(), Value::Bool(false));
        changed = true;
    }
    for (keyword, inner) in fields.iter_mut() {
        changed |= match (keyword.as_str(), inner) {
            ("properties" | "$defs" | "definitions", Value::Object(list)) => {
                list.values_mut().fold(false, |changed, inner| close(inner) | changed)
            }
            ("anyOf" | "allOf", Value::Array(list)) => {
                list.iter_mut().fold(false, |changed, inner| close(inner) | changed)
            }
            ("items", inner) => close(inner),
            _ => false,
        };
    }
    changed
}

fn is_object(fields: &Map<String, Value>) -> bool {
    let is = |word: &Value| word == "object";
    match fields.get("type") {
        Some(Value::Array(types)) => types.iter().any(is),
        Some(word) => is(word),
        None => fields.contains_key("properties"),
    }
}
