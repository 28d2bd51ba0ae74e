//! Reports about Gemini: schemas it refuses, signatures it wants back, arguments that must not be lost.

use libtest_mimic::Trial;
use serde_json::{Value, json};
use wire::{CallStart, Dialect, Event, Kept, Member, ReplyHead, Restore, Route, Seal, Target, Usage, format};

use crate::{
    support::{decode_as_cut_everywhere, render},
    trial,
};

pub fn trials() -> Vec<Trial> {
    let cases: [(&str, fn()); 17] = [
        ("W042 a call with a signature keeps its arguments and its id is its own", arguments),
        (
            "W042 in another dialect the arguments come whole and the signature is no part of the id",
            other_caller,
        ),
        ("W074 a signature of another model is not sent to Gemini", foreign),
        ("W117 $schema is not sent", || {
            let schema = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
                "properties": {"a": {"type": "string"}}});
            let (told, lost) = parameters(&schema);
            assert_eq!(told, json!({"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}));
            assert!(lost.is_empty(), "{lost:?}");
        }),
        ("W117 words that nobody knows are left out and listed", || {
            let (told, lost) = parameters(&json!({"type": "object", "x-own": 1,
                "properties": {"a": {"type": "string", "contentEncoding": "base64"}}}));
            assert_eq!(told, json!({"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}));
            assert_eq!(
                lost,
                [
                    "tools[0].parameters.x-own=not taken",
                    "tools[0].parameters.properties.a.contentEncoding=not taken"
                ]
            );
        }),
        ("W117 no parameters are no empty object", || {
            let (told, _) = parameters(&json!({"type": "object", "properties": {}}));
            assert_eq!(told, Value::Null);
        }),
        ("W118 uniqueItems is said in the description", || {
            let (told, lost) =
                property(&json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}));
            assert_eq!(
                told,
                json!({"type": "ARRAY", "items": {"type": "STRING"}, "description": "(uniqueItems: true)"})
            );
            assert_eq!(lost, ["tools[0].parameters.properties.a.uniqueItems=said in the description"]);
        }),
        ("W118 a format it refuses is said in the description", || {
            let (told, _) = property(&json!({"type": "string", "format": "uri", "description": "Where."}));
            assert_eq!(told, json!({"type": "STRING", "description": "Where. (format: uri)"}));
        }),
        ("W121 a list of types is one that may be null", || {
            let (told, lost) = property(&json!({"type": ["string", "null"]}));
            assert_eq!(told, json!({"type": "STRING", "nullable": true}));
            assert!(lost.is_empty(), "{lost:?}");
            let (told, _) = property(&json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}));
            assert_eq!(told, json!({"type": "INTEGER", "nullable": true}));
        }),
        ("W124 a $ref is inlined, its neighbours over what it names", || {
            let schema = json!({"type": "object",
                "properties": {"a": {"$ref": "#/$defs/A", "description": "Mine."}},
                "$defs": {"A": {"type": "object", "description": "Its.", "properties": {"n": {"type": "number"}}}}});
            let (told, lost) = parameters(&schema);
            assert_eq!(
                told["properties"]["a"],
                json!({"type": "OBJECT", "description": "Mine.", "properties": {"n": {"type": "NUMBER"}}})
            );
            assert!(!told.to_string().contains("$"), "{told}");
            assert!(lost.is_empty(), "{lost:?}");
        }),
        ("W124 a $ref to itself is cut", || {
            let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}},
                "$defs": {"A": {"type": "object", "properties": {"next": {"$ref": "#/$defs/A"}}}}});
            let (told, lost) = parameters(&schema);
            assert_eq!(told["properties"]["a"]["properties"]["next"], json!({"type": "OBJECT"}));
            assert_eq!(lost, ["tools[0].parameters.properties.a.properties.next=cut: $ref to itself"]);
        }),
        ("W124 in a response schema too", || {
            let schema = json!({"$ref": "#/$defs/A", "type": "object",
                "$defs": {"A": {"properties": {"next": {"$ref": "#/$defs/A"}}}}});
            let (told, _) = response(&schema);
            assert_eq!(told["type"], "object");
            assert!(!told.to_string().contains("$ref"), "{told}");
        }),
        ("W126 a signature that went round the caller is put back by the call's id", || {
            let kept = Kept { signature: Some(seal("kept", 1)), thinking: None };
            let target = Target { kept: [("a".to_owned(), kept)].into(), ..member() };
            let body = ask(&two_turns(), &target).0;
            assert_eq!(body["contents"][1]["parts"][0]["thoughtSignature"], "kept");
        }),
        ("W126 a signature that chat's caller hands back is Gemini's again", || {
            let mut body = two_turns();
            body["messages"][1]["tool_calls"][0]["extra_content"] =
                json!({"google": {"thought_signature": "bw1.0000000000000001.own"}});
            let body = ask(&body, &member()).0;
            assert_eq!(body["contents"][1]["parts"][0]["thoughtSignature"], "own");
        }),
        ("W126 a call that never had one is given the documented value", || {
            let body = ask(&two_turns(), &member()).0;
            let parts = body["contents"][1]["parts"].as_array().unwrap();
            assert_eq!(parts[0]["thoughtSignature"], "skip_thought_signature_validator");
            assert_eq!(parts[1].get("thoughtSignature"), None, "of calls made at once only the first");
            // And it says nothing when it comes back.
            let body = json!({"contents": body["contents"]});
            let request = format(Dialect::Gemini)
                .decode_request(body.to_string().as_bytes(), &Route::default())
                .unwrap();
            let signed = request.parts().any(
                |part| matches!(&part.content, wire::Content::ToolCall(call) if call.signature.is_some()),
            );
            assert!(!signed);
        }),
        ("W186 additionalProperties stays in a response schema", || {
            let schema = json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}},
                "required": ["a"], "additionalProperties": false});
            let (told, lost) = response(&schema);
            assert_eq!(told, schema);
            assert!(lost.is_empty(), "{lost:?}");
        }),
        ("W186 and is left out of a tool's", || {
            let (told, lost) = parameters(&json!({"type": "object", "properties": {"a": {"type": "string"}},
                "additionalProperties": false}));
            assert_eq!(told, json!({"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}));
            assert_eq!(lost, ["tools[0].parameters.additionalProperties=not taken"]);
        }),
    ];
    cases.into_iter().map(|(name, check)| trial(name.to_owned(), check)).collect()
}

fn member() -> Target {
    Target { served: "gemini-x".to_owned(), callers_options: true, member: Member(1), ..Target::default() }
}

fn seal(data: &str, member: u64) -> Seal {
    Seal { data: data.to_owned(), origin: Some(Member(member)) }
}

/// A chat caller's request as a Gemini member is asked it, and what was lost.
fn ask(body: &Value, target: &Target) -> (Value, Vec<String>) {
    let request =
        format(Dialect::Chat).decode_request(body.to_string().as_bytes(), &Route::default()).unwrap();
    let encoded = format(Dialect::Gemini).encode_request(&request, target);
    let lost = encoded.notices.iter().map(|notice| format!("{}={}", notice.field, notice.reason)).collect();
    (serde_json::from_slice(&encoded.body).unwrap(), lost)
}

fn parameters(schema: &Value) -> (Value, Vec<String>) {
    let body = json!({"messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}]});
    let (body, lost) = ask(&body, &member());
    (body["tools"][0]["functionDeclarations"][0]["parameters"].clone(), lost)
}

fn property(schema: &Value) -> (Value, Vec<String>) {
    let (told, lost) = parameters(&json!({"type": "object", "properties": {"a": schema}}));
    (told["properties"]["a"].clone(), lost)
}

fn response(schema: &Value) -> (Value, Vec<String>) {
    let body = json!({"messages": [{"role": "user", "content": "hi"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "r", "schema": schema}}});
    let (body, lost) = ask(&body, &member());
    (body["generationConfig"]["responseJsonSchema"].clone(), lost)
}

fn two_turns() -> Value {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    json!({"messages": [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "tool", "tool_call_id": "b", "content": "2"}
    ]})
}

const SIGNED: &str = r#"data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"city":"北京"}},"thoughtSignature":"c2ln"}],"role":"model"},"finishReason":"STOP"}]}

"#;

fn arguments() {
    assert_eq!(
        render(&decode_as_cut_everywhere(Dialect::Gemini, SIGNED.as_bytes())),
        "call 0 \"call_0\" f signature \"c2ln\"\narguments 0 \"{\\\"city\\\":\\\"北京\\\"}\"\nend 0\nfinish tool_calls\n"
    );
}

fn other_caller() {
    let mut events = Vec::new();
    let mut decoder = Restore::default().over(format(Dialect::Gemini).decoder());
    decoder.push(SIGNED.as_bytes(), &mut events);
    decoder.end(&mut events);
    for dialect in Dialect::ALL {
        let mut encoder = format(*dialect).encoder(ReplyHead::default());
        let mut stream: Vec<u8> = events.iter().flat_map(|event| encoder.event(event)).collect();
        stream.extend(encoder.finish(Usage::default(), None));
        if !format(*dialect).is_spoken_to_members() {
            continue;
        }
        let again = decode_as_cut_everywhere(*dialect, &stream);
        let ids: Vec<&str> = again
            .iter()
            .filter_map(|event| match event {
                Event::CallStart(CallStart { id, .. }) => Some(id.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(ids, ["call_0"], "{dialect:?}");
        let arguments: String = again
            .iter()
            .filter_map(|event| match event {
                Event::CallArguments { delta, .. } => Some(delta.as_str()),
                _ => None,
            })
            .collect();
        let arguments: Value = serde_json::from_str(&arguments).unwrap();
        assert_eq!(arguments, json!({"city": "北京"}), "{dialect:?}");
    }
}

fn foreign() {
    let mut body = two_turns();
    body["messages"][1]["tool_calls"][0]["extra_content"] =
        json!({"google": {"thought_signature": "bw1.0000000000000002.theirs"}});
    body["messages"][1]["reasoning_details"] =
        json!([{"type": "reasoning.text", "text": "hm", "signature": "bw1.0000000000000002.theirs"}]);
    let (body, _) = ask(&body, &member());
    assert!(!body.to_string().contains("theirs"), "{body}");
    assert_eq!(body["contents"][1]["parts"][0]["thoughtSignature"], "skip_thought_signature_validator");
}
