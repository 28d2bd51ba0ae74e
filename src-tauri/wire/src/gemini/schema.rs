//! Schemas: what members take, and callers' schemas in standard words.

use serde_json::{Map, Value};

use crate::{raw::Raw, schema::Profile};

/// `parameters` of a function: Google's own `Schema`.
pub(super) const TOOL: Profile = Profile {
    keywords: Some(&[
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "items",
        "minItems",
        "maxItems",
        "properties",
        "required",
        "propertyOrdering",
        "anyOf",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "minProperties",
        "maxProperties",
    ]),
    refs: false,
    type_lists: false,
    any_enum: false,
    formats: Some(&["enum", "date-time", "float", "double", "int32", "int64"]),
    upper_types: true,
    object_root: true,
};

/// `responseJsonSchema`: a part of JSON Schema in its own words. A `$ref` may have no neighbours there, so
/// references are inlined here too.
pub(super) const RESPONSE: Profile = Profile {
    keywords: Some(&[
        "type",
        "format",
        "title",
        "description",
        "enum",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "anyOf",
        "properties",
        "additionalProperties",
        "required",
        "propertyOrdering",
    ]),
    refs: false,
    type_lists: true,
    any_enum: true,
    formats: None,
    upper_types: false,
    object_root: false,
};

/// Google's `Schema` as JSON Schema: types in lower case, `nullable` as a type, counts as numbers. A schema that
/// says nothing of that sort stays as it was written.
pub(super) fn standard(raw: &Raw) -> Raw {
    let value = raw.value();
    let mut said = value.clone();
    node(&mut said);
    if said == value { raw.clone() } else { Raw::from(&said) }
}

fn node(value: &mut Value) {
    let Value::Object(fields) = value else { return };
    for (google, standard) in [
        ("any_of", "anyOf"),
        ("min_items", "minItems"),
        ("max_items", "maxItems"),
        ("min_length", "minLength"),
        ("max_length", "maxLength"),
        ("min_properties", "minProperties"),
        ("max_properties", "maxProperties"),
        ("property_ordering", "propertyOrdering"),
    ] {
        if let Some(value) = fields.remove(google) {
            fields.insert(standard.to_owned(), value);
        }
    }
    match fields.get("type").and_then(Value::as_str) {
        Some("TYPE_UNSPECIFIED") => _ = fields.remove("type"),
        Some(word) => {
            let word = word.to_ascii_lowercase();
            fields.insert("type".to_owned(), word.into());
        }
        None => {}
    }
    nullable(fields);
    for name in ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"] {
        if let Some(count) =
            fields.get(name).and_then(Value::as_str).and_then(|text| text.parse::<u64>().ok())
        {
            fields.insert(name.to_owned(), count.into());
        }
    }
    for name in ["items", "additionalProperties"] {
        if let Some(inner) = fields.get_mut(name) {
            node(inner);
        }
    }
    for name in ["properties", "$defs", "defs"] {
        if let Some(Value::Object(inner)) = fields.get_mut(name) {
            inner.values_mut().for_each(node);
        }
    }
    for name in ["anyOf", "prefixItems"] {
        if let Some(Value::Array(inner)) = fields.get_mut(name) {
            inner.iter_mut().for_each(node);
        }
    }
}

fn nullable(fields: &mut Map<String, Value>) {
    let Some(nullable) = fields.get("nullable").and_then(Value::as_bool) else { return };
    let word = fields.get("type").cloned();
    match word {
        Some(Value::String(word)) if nullable => {
            fields.insert("type".to_owned(), serde_json::json!([word, "null"]));
        }
        None if nullable => {
            let Some(Value::Array(choices)) = fields.get_mut("anyOf") else { return };
            choices.push(serde_json::json!({ "type": "null" }));
        }
        _ => {}
    }
    fields.remove("nullable");
}

/// A list of nothing is refused: of what its items are is said that they are strings, the commonest.
pub(super) fn with_items(value: &mut Value) {
    let Value::Object(fields) = value else { return };
    if fields.get("type").and_then(Value::as_str) == Some("ARRAY") && !fields.contains_key("items") {
        fields.insert("items".to_owned(), serde_json::json!({ "type": "STRING" }));
    }
    for (name, inner) in fields.iter_mut() {
        match (name.as_str(), inner) {
            ("items", inner) => with_items(inner),
            ("properties", Value::Object(inner)) => inner.values_mut().for_each(with_items),
            ("anyOf", Value::Array(inner)) => inner.iter_mut().for_each(with_items),
            _ => {}
        }
    }
}
