use serde_json::json;

use super::*;

/// Strict as the strictest: one type, `nullable`, string enums, inlined references.
const SMALL: Profile = Profile {
    keywords: Some(&[
        "type",
        "description",
        "properties",
        "required",
        "items",
        "enum",
        "nullable",
        "anyOf",
        "format",
    ]),
    refs: false,
    type_lists: false,
    any_enum: false,
    formats: Some(&["date-time"]),
    upper_types: false,
    object_root: true,
};

fn check(profile: &Profile, schema: Value, wanted: Value, losses: &[&str]) {
    let mut notices = Vec::new();
    let reduced = reduce(&Raw::from(&schema), profile, "p", &mut notices);
    assert_eq!(reduced.get(), wanted.to_string());
    let lost: Vec<String> =
        notices.iter().map(|notice| format!("{}={}", notice.field, notice.reason)).collect();
    assert_eq!(lost, losses);
}

#[test]
fn w117_words_about_the_schema_go_without_a_loss() {
    check(
        &SMALL,
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}),
        json!({"type": "object"}),
        &[],
    );
}

#[test]
fn w118_a_constraint_that_is_not_taken_is_told() {
    check(
        &SMALL,
        json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}, "uniqueItems": true}}}),
        json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}, "description": "(uniqueItems: true)"}}}),
        &["p.properties.a.uniqueItems=said in the description"],
    );
}

#[test]
fn w121_a_list_of_types_is_one_nullable_type() {
    check(
        &SMALL,
        json!({"type": "object", "properties": {
            "a": {"type": ["string", "null"]}, "b": {"type": ["string", "integer"]},
            "c": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "d": {"type": ["null"]},
            "e": {"oneOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}
        }}),
        json!({"type": "object", "properties": {
            "a": {"type": "string", "nullable": true}, "b": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "c": {"nullable": true, "type": "integer"}, "d": {"nullable": true},
            "e": {"anyOf": [{"type": "integer"}, {"type": "string"}], "nullable": true}
        }}),
        &[],
    );
}

#[test]
fn w124_references_are_inlined_and_cycles_cut() {
    check(
        &SMALL,
        json!({"$ref": "#/$defs/A", "type": "object", "$defs": {"A": {"type": "object", "description": "a", "properties": {
            "next": {"$ref": "#/$defs/A", "description": "n"}, "b": {"$ref": "#/%24defs/B"}, "gone": {"$ref": "#/$defs/C"}
        }}, "B": {"type": "string"}}}),
        json!({"type": "object", "description": "a", "properties": {
            "next": {"description": "n", "type": "object"}, "b": {"type": "string"}, "gone": {}
        }}),
        &["p.properties.next=cut: $ref to itself", "p.properties.gone=dropped: $ref to nothing"],
    );
}

#[test]
fn references_that_multiply_are_bounded() {
    let mut defs = serde_json::Map::new();
    for n in 0..40 {
        let next = format!("#/$defs/d{}", n + 1);
        let properties = json!({"a": {"$ref": next}, "b": {"$ref": next}});
        defs.insert(format!("d{n}"), json!({"type": "object", "properties": properties}));
    }
    let mut notices = Vec::new();
    let schema = Raw::from(&json!({"$ref": "#/$defs/d0", "$defs": defs}));
    let reduced = reduce(&schema, &SMALL, "p", &mut notices);
    assert!(reduced.get().len() < 300_000, "{}", reduced.get().len());
    assert_eq!(notices.len(), 50);
}

#[test]
fn alternatives_constants_and_enums() {
    check(
        &SMALL,
        json!({"type": "object", "properties": {
            "a": {"const": "x"}, "b": {"const": 5}, "c": {"enum": [1, 2]}, "d": {"format": "uri"}, "e": {"format": "date-time"},
            "f": {"allOf": [{"type": "object", "properties": {"x": {}}, "required": ["x"]}, {"properties": {"y": true}, "required": ["y", "z"]}]}
        }, "required": ["a", "q"], "additionalProperties": false}),
        json!({"type": "object", "properties": {
            "a": {"enum": ["x"]}, "b": {"description": "(always 5)"}, "c": {"description": "(one of [1,2])"},
            "d": {"description": "(format: uri)"}, "e": {"format": "date-time"},
            "f": {"type": "object", "properties": {"x": {}, "y": {}}, "required": ["x", "y"]}
        }, "required": ["a"]}),
        &[
            "p.properties.b.const=said in the description",
            "p.properties.c.enum=said in the description",
            "p.properties.d.format=said in the description",
            "p.additionalProperties=not taken",
        ],
    );
}

#[test]
fn w186_a_response_keeps_what_a_tool_may_not_have() {
    const RESPONSE: Profile = Profile {
        keywords: Some(&["type", "properties", "additionalProperties"]),
        object_root: false,
        ..SMALL
    };
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    check(&RESPONSE, schema.clone(), schema, &[]);
}

#[test]
fn w101_a_root_type_is_set_and_the_rest_untouched() {
    for (text, wanted) in [
        ("null", r#"{"type":"object","properties":{}}"#),
        ("{ }", r#"{"type":"object","properties":{}}"#),
        (r#"{ "oneOf": [{"z": 1.0, "a": 1e3}]}"#, r#"{"type":"object", "oneOf": [{"z": 1.0, "a": 1e3}]}"#),
        (r#"{"z": 1.0, "type": "object"}"#, r#"{"z": 1.0, "type": "object"}"#),
    ] {
        let raw = Raw::new(text.to_owned()).unwrap();
        assert_eq!(reduce(&raw, &Profile::TOOL, "p", &mut Vec::new()).get(), wanted);
    }
    check(
        &SMALL,
        json!({"oneOf": [{"type": "string"}]}),
        json!({"anyOf": [{"type": "string"}], "type": "object"}),
        &[],
    );
}
