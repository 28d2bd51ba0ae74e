//! What must hold of any bytes: no panic, the same events however they are cut, one last event; and of any request:
//! what was read is written and reads the same.

use proptest::prelude::*;
use wire::{Dialect, Route, Target, format};

use crate::support::decode_as;

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"data: ".to_vec()),
        Just(b"\r\n\r\n".to_vec()),
        Just(b"\n\n".to_vec()),
        Just(b"[".to_vec()),
        Just(b",".to_vec()),
        Just(b"]".to_vec()),
        Just("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"北🌍\"}]}}]}".into()),
        Just(br#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"},"thoughtSignature":"cw=="}]}}]}"#.to_vec()),
        Just(br#"{"candidates":[{"content":{"parts":[{"functionCall":{}},{"text":3},7,{}]},"index":"x"}]}"#.to_vec()),
        Just(br#"{"candidates":[{"finishReason":"STOP","index":0}]}"#.to_vec()),
        Just(br#"{"candidates":{},"usageMetadata":{"promptTokenCount":-1,"thoughtsTokenCount":2}}"#.to_vec()),
        Just(br#"{"promptFeedback":{"blockReason":"OTHER"}}"#.to_vec()),
        Just(br#"{"error":{"code":500,"message":"no"}}"#.to_vec()),
        prop::collection::vec(any::<u8>(), 0..8),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

/// Values that stand where a request has something else.
fn value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::json!(null)),
        Just(serde_json::json!(1)),
        Just(serde_json::json!("user")),
        Just(serde_json::json!(true)),
    ];
    let names = prop::sample::select(vec![
        "contents",
        "parts",
        "role",
        "text",
        "thought",
        "thoughtSignature",
        "functionCall",
        "function_response",
        "name",
        "args",
        "response",
        "inlineData",
        "mimeType",
        "data",
        "tools",
        "functionDeclarations",
        "parameters",
        "toolConfig",
        "generationConfig",
        "responseSchema",
        "thinkingConfig",
        "systemInstruction",
    ]);
    leaf.prop_recursive(6, 48, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(serde_json::Value::Array),
            prop::collection::vec((names.clone(), inner), 0..4).prop_map(|fields| {
                serde_json::Value::Object(
                    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
                )
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn events_do_not_depend_on_cuts(bytes in bytes(), at in any::<prop::sample::Index>()) {
        let whole = decode_as(Dialect::Gemini, [bytes.as_slice()]);
        let (before, after) = bytes.split_at(at.index(bytes.len() + 1));
        prop_assert_eq!(decode_as(Dialect::Gemini, [before, after]), whole.clone());
        prop_assert_eq!(decode_as(Dialect::Gemini, bytes.chunks(1)), whole);
    }

    #[test]
    fn any_value_is_read_or_refused_with_a_400(contents in value(), config in value(), tools in value()) {
        let body = serde_json::json!({"contents": [{"parts": [contents]}], "generationConfig": config, "tools": [tools]});
        let body = body.to_string();
        let gemini = format(Dialect::Gemini);
        match gemini.decode_request(body.as_bytes(), &Route::default()) {
            Err(error) => prop_assert_eq!(error.kind.status(), 400),
            Ok(request) => {
                let target = Target { callers_options: true, ..Target::default() };
                let asked = gemini.encode_request(&request, &target);
                // What we write is what callers may write.
                let again = gemini.decode_request(&asked.body, &Route::default());
                let is_empty = asked.body.starts_with(b"{\"contents\":[]");
                prop_assert!(again.is_ok() || is_empty, "{again:?}");
            }
        }
    }
}
