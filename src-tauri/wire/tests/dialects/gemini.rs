//! Gemini, both ways: here what callers ask and members are asked.

mod properties;
mod replies;

use serde_json::{Value, json};
use wire::{ApiError, Dialect, Form, Member, Request, Route, Target, ToolChoice, format};

fn read(body: &Value) -> Result<Request, ApiError> {
    let route = Route { model: Some("bench/core:route"), form: Form::Events };
    format(Dialect::Gemini).decode_request(body.to_string().as_bytes(), &route)
}

/// What a Gemini member is asked, and what was lost.
fn asked(dialect: Dialect, body: &Value, target: &Target) -> (Value, Vec<String>) {
    let route = Route { model: Some("m"), form: Form::Usual };
    let request = format(dialect).decode_request(body.to_string().as_bytes(), &route).unwrap();
    let encoded = format(Dialect::Gemini).encode_request(&request, target);
    let lost = encoded.notices.iter().map(|notice| format!("{}={}", notice.field, notice.reason)).collect();
    (serde_json::from_slice(&encoded.body).unwrap(), lost)
}

fn routed() -> Target {
    Target { served: "gemini-x".to_owned(), callers_options: true, member: Member(1), ..Target::default() }
}

/// Google reads bytes in either alphabet of base64, padded or not, and its Python client writes the URL's; the
/// other vendors read one.
#[test]
fn either_base64_alphabet_is_read() {
    for (sent, wanted) in [
        ("iVBORw0-_w==", "iVBORw0+/w=="),
        ("iVBORw0-_w", "iVBORw0+/w=="),
        ("-__-", "+//+"),
        ("iVBO", "iVBO"),
        ("iVBORw0", "iVBORw0="),
    ] {
        let picture = json!({"inlineData": {"mimeType": "image/png", "data": sent}});
        let pdf = json!({"inline_data": {"mime_type": "application/pdf", "data": sent}});
        let request = read(&json!({"contents": [{"parts": [picture, pdf, {"text": "what?"}]}]})).unwrap();
        for dialect in [Dialect::Chat, Dialect::Responses, Dialect::Anthropic, Dialect::Gemini] {
            let body = format(dialect).encode_request(&request, &routed()).body;
            let body = String::from_utf8(body).unwrap();
            let found = body.matches(&format!("{wanted}\"")).count();
            assert_eq!(found, 2, "{sent} for {dialect:?}: {body}");
        }
    }
}

#[test]
fn camel_and_snake_case_are_one() {
    let camel = json!({
        "systemInstruction": {"parts": [{"text": "Be short."}]},
        "contents": [{"role": "user", "parts": [
            {"text": "look"},
            {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
            {"fileData": {"mimeType": "application/pdf", "fileUri": "https://x.test/a"}}
        ]}],
        "tools": [{"functionDeclarations": [
            {"name": "f", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": true}}}}
        ]}, {"googleSearch": {}}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
        "generationConfig": {"topP": 0.5, "maxOutputTokens": 9, "responseMimeType": "application/json",
            "thinkingConfig": {"includeThoughts": true, "thinkingBudget": 128}}
    });
    let snake = camel
        .to_string()
        .replace("systemInstruction", "system_instruction")
        .replace("inlineData", "inline_data")
        .replace("fileData", "file_data")
        .replace("mimeType", "mime_type")
        .replace("fileUri", "file_uri")
        .replace("functionDeclarations", "function_declarations")
        .replace("googleSearch", "google_search")
        .replace("toolConfig", "tool_config")
        .replace("functionCallingConfig", "function_calling_config")
        .replace("allowedFunctionNames", "allowed_function_names")
        .replace("generationConfig", "generation_config")
        .replace("topP", "top_p")
        .replace("maxOutputTokens", "max_output_tokens")
        .replace("responseMimeType", "response_mime_type")
        .replace("thinkingConfig", "thinking_config")
        .replace("includeThoughts", "include_thoughts")
        .replace("thinkingBudget", "thinking_budget");
    let read_camel = read(&camel).unwrap();
    let mut read_snake = read(&serde_json::from_str(&snake).unwrap()).unwrap();
    assert_eq!(read_snake.spelling("max_output"), "generation_config.max_output_tokens");
    assert_eq!(read_camel.spelling("max_output"), "generationConfig.maxOutputTokens");
    read_snake.spelled.clone_from(&read_camel.spelled);
    read_snake.messages[0].place.clone_from(&read_camel.messages[0].place);
    read_snake.messages[0].parts[0].place.clone_from(&read_camel.messages[0].parts[0].place);
    assert_eq!(read_snake, read_camel);
    assert_eq!(read_camel.model, "bench/core:route");
    assert!(read_camel.stream);
    assert_eq!(read_camel.system_text(), "Be short.");
    assert!(matches!(&read_camel.tool_choice, Some(ToolChoice::Named(tool)) if tool.name == "f"));
    let schema = match &read_camel.tools[0] {
        wire::Tool::Function { parameters, .. } => parameters.as_ref().unwrap().value(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        schema,
        json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}}),
        "standard words"
    );
}

#[test]
fn wrong_values_are_named_with_their_places() {
    let user = json!([{"parts": [{"text": "hi"}]}]);
    let with = |name: &str, value: Value| {
        let mut body = json!({ "contents": user });
        body[name] = value;
        body
    };
    let part = |part: Value| json!({"contents": [{"parts": [part]}]});
    for (body, said) in [
        (json!({}), "contents: expected a list with at least one content"),
        (json!({"contents": []}), "contents: the list is empty; send at least one content"),
        (json!({"contents": "hi"}), "contents: expected list"),
        (json!({"contents": [1]}), "contents[0]: expected object"),
        (json!({"contents": [{"role": "robot"}]}), "contents[0].role: expected user, model or function"),
        (json!({"contents": [{"parts": {}}]}), "contents[0].parts: expected list"),
        (part(json!({"text": 1})), "contents[0].parts[0].text: expected string"),
        (
            part(json!({"inline_data": {"data": "x"}})),
            "contents[0].parts[0].inline_data.mimeType: expected string",
        ),
        (
            part(json!({"functionCall": {"args": {}}})),
            "contents[0].parts[0].functionCall.name: expected string",
        ),
        (
            part(json!({"functionCall": {"name": "f", "args": []}})),
            "contents[0].parts[0].functionCall.args: expected object",
        ),
        (
            part(json!({"functionResponse": {"name": "f", "response": 1}})),
            "contents[0].parts[0].functionResponse.response: expected object",
        ),
        (with("tools", json!({})), "tools: expected list"),
        (with("tools", json!([{"googleSearch": 1}])), "tools[0].googleSearch: expected object"),
        (
            with("tools", json!([{"functionDeclarations": [{}]}])),
            "tools[0].functionDeclarations[0].name: expected string",
        ),
        (
            with("toolConfig", json!({"functionCallingConfig": {"mode": "SOME"}})),
            "toolConfig.functionCallingConfig.mode: expected AUTO, ANY, NONE or VALIDATED",
        ),
        (
            with("generationConfig", json!({"temperature": "hot"})),
            "generationConfig.temperature: expected number",
        ),
        (
            with("generationConfig", json!({"stopSequences": "a"})),
            "generationConfig.stopSequences: expected list of strings",
        ),
        (
            with("generationConfig", json!({"maxOutputTokens": 0})),
            "generationConfig.maxOutputTokens: expected whole number from 1",
        ),
        (
            with("generationConfig", json!({"thinkingConfig": {"thinkingBudget": "x"}})),
            "generationConfig.thinkingConfig.thinkingBudget: expected whole number",
        ),
        (
            with("generationConfig", json!({"responseSchema": "x"})),
            "generationConfig.responseSchema: expected object",
        ),
        (with("safetySettings", json!({})), "safetySettings: expected list"),
        (with("with", json!("a")), "with: expected list of strings"),
    ] {
        let error = read(&body).unwrap_err();
        assert_eq!((error.kind.status(), error.message.as_str()), (400, said), "{body}");
    }
}

#[test]
fn refusals_name_the_way_out() {
    let user = json!([{"parts": [{"text": "hi"}]}]);
    for (body, code, field) in [
        (json!({"contents": user, "cachedContent": "cachedContents/1"}), "cached_content", "cachedContent"),
        (
            json!({"contents": user, "generation_config": {"candidate_count": 2}}),
            "one_choice",
            "generation_config.candidate_count",
        ),
        (
            json!({"contents": [{"parts": [{"fileData": {"fileUri": "gs://b/a.png"}}]}]}),
            "uploaded_file",
            "contents[0].parts[0].fileData.fileUri",
        ),
        (
            json!({"contents": [{"parts": [{"fileData": {"fileUri": "https://generativelanguage.googleapis.com/v1beta/files/a"}}]}]}),
            "uploaded_file",
            "contents[0].parts[0].fileData.fileUri",
        ),
    ] {
        // A relay could carry what is kept elsewhere: whoever knows that there is none refuses it.
        let error = read(&body).map_or_else(|error| error, |request| request.bound().unwrap());
        assert_eq!(error.code, code);
        assert!(error.message.starts_with(&format!("{field}: ")), "{}", error.message);
    }
}

#[test]
fn calls_without_ids_are_given_them_by_position() {
    let request = read(&json!({"contents": [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [
            {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"},
            {"functionCall": {"name": "f", "args": {"a": 2}}},
            {"functionCall": {"name": "g", "id": "own"}}
        ]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "g", "id": "own", "response": {"error": "no"}}},
            {"functionResponse": {"name": "f", "response": {"output": "one"}}},
            {"functionResponse": {"name": "f", "response": {"a": 1, "b": 2},
                "parts": [{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}]}},
            {"text": "and?"}
        ]}
    ]}))
    .unwrap();
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for part in request.parts() {
        match &part.content {
            wire::Content::ToolCall(call) => calls.push((call.id.clone(), call.arguments.to_string())),
            wire::Content::ToolResult(result) => {
                let text = result.parts[0].content.as_text().unwrap().to_owned();
                results.push((result.call_id.clone(), text, result.is_error, result.parts.len()));
            }
            _ => {}
        }
    }
    let call = |id: &str, arguments: &str| (id.to_owned(), arguments.to_owned());
    assert_eq!(calls, [call("call_0", "{\"a\":1}"), call("call_1", "{\"a\":2}"), call("own", "{}")]);
    let result = |id: &str, text: &str, failed, parts| (id.to_owned(), text.to_owned(), failed, parts);
    assert_eq!(
        results,
        [
            result("own", "no", true, 1),
            result("call_0", "one", false, 1),
            result("call_1", "{\"a\":1,\"b\":2}", false, 2)
        ]
    );
    assert_eq!(request.last_user_text(), "and?");
}

#[test]
fn a_member_is_asked_in_geminis_words() {
    let body = json!({
        "model": "x",
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": [{"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": "https://x.test/a.webp?s=1"}}]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"z\": 1.0, \"a\": 2}"}},
                {"id": "b", "type": "function", "function": {"name": "g", "arguments": ""}}]},
            {"role": "tool", "tool_call_id": "b", "content": "two"},
            {"role": "tool", "tool_call_id": "a", "content": "one"},
            {"role": "system", "content": "Late."},
            {"role": "user", "content": "and?"}
        ],
        "tools": [
            {"type": "function", "function": {"name": "f", "description": "F.", "parameters": {"type": "object",
                "properties": {"l": {"type": "array"}}}}},
            {"type": "function", "function": {"name": "g"}}
        ],
        "tool_choice": "required", "temperature": 0.50, "stop": "END", "max_tokens": 7, "top_a": 1,
        "reasoning_effort": "low"
    });
    let (asked, lost) = asked(Dialect::Chat, &body, &routed());
    assert_eq!(
        asked,
        json!({
            "systemInstruction": {"parts": [{"text": "Be short."}, {"text": "Late."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "look"},
                    {"fileData": {"mimeType": "image/webp", "fileUri": "https://x.test/a.webp?s=1"}}]},
                {"role": "model", "parts": [
                    {"functionCall": {"id": "a", "name": "f", "args": {"z": 1.0, "a": 2}},
                        "thoughtSignature": "skip_thought_signature_validator"},
                    {"functionCall": {"id": "b", "name": "g", "args": {}}}]},
                {"role": "user", "parts": [
                    {"functionResponse": {"id": "a", "name": "f", "response": {"output": "one"}}},
                    {"functionResponse": {"id": "b", "name": "g", "response": {"output": "two"}}}]},
                {"role": "user", "parts": [{"text": "and?"}]}
            ],
            "tools": [{"functionDeclarations": [
                {"name": "f", "description": "F.", "parameters": {"type": "OBJECT",
                    "properties": {"l": {"type": "ARRAY", "items": {"type": "STRING"}}}}},
                {"name": "g"}
            ]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
            "generationConfig": {"temperature": 0.5, "stopSequences": ["END"], "maxOutputTokens": 7,
                "thinkingConfig": {"includeThoughts": true, "thinkingBudget": 4096}}
        })
    );
    assert_eq!(
        lost,
        ["messages[5]=moved to the one system instruction in front", "top_a=not sent to members"]
    );
}

#[test]
fn the_path_names_the_model_and_the_key_has_its_header() {
    let body = br#"{"contents":[{"parts":[{"text":"hi"}]}], "x": 1.0, "generationConfig": {"maxOutputTokens": 90}, "bench": {}}"#;
    let gemini = format(Dialect::Gemini);
    for (served, form, path) in [
        ("gemini-x", Form::Usual, "/models/gemini-x:generateContent"),
        ("models/gemini-x", Form::Events, "/models/gemini-x:streamGenerateContent?alt=sse"),
        ("tunedModels/a b", Form::Array, "/tunedModels/a%20b:streamGenerateContent"),
    ] {
        let request = gemini.decode_request(body, &Route { model: Some("m"), form }).unwrap();
        let target = Target { served: served.to_owned(), max_output: Some(50), ..Target::default() };
        let relayed = gemini.relay_request(body, &request, &target).unwrap();
        assert_eq!(relayed.path, path);
        assert_eq!(
            String::from_utf8(relayed.body).unwrap(),
            r#"{"contents":[{"parts":[{"text":"hi"}]}], "x": 1.0, "generationConfig": {"maxOutputTokens": 50}}"#
        );
        let asked = gemini.encode_request(&request, &target).path;
        assert!(asked.ends_with(":streamGenerateContent?alt=sse"), "{asked}");
    }
    assert_eq!(gemini.auth(), wire::Auth::Header("x-goog-api-key"));
}

#[test]
fn the_owners_options_go_where_they_belong() {
    let target = Target {
        options: json!({
            "temperature": 0.1, "max_output_tokens": 5, "contents": [], "safetySettings": [{"a": 1}],
            "generationConfig": {"topK": 3}
        })
        .as_object()
        .unwrap()
        .clone(),
        ..routed()
    };
    let body = json!({"contents": [{"parts": [{"text": "hi"}]}], "generationConfig": {"maxOutputTokens": 9}});
    let (asked, lost) = asked(Dialect::Gemini, &body, &target);
    assert_eq!(asked["safetySettings"], json!([{"a": 1}]));
    assert_eq!(asked["generationConfig"], json!({"temperature": 0.1, "max_output_tokens": 9, "topK": 3}));
    assert_eq!(lost, ["options.contents=set by the gateway"]);
}

#[test]
fn structured_output_and_thinking_both_ways() {
    let config =
        |config: Value| json!({"contents": [{"parts": [{"text": "hi"}]}], "generationConfig": config});
    for (sent, told) in [
        (json!({"responseMimeType": "application/json"}), json!({"responseMimeType": "application/json"})),
        (
            json!({"responseMimeType": "application/json", "responseSchema": {"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}}}),
            json!({"responseMimeType": "application/json", "responseJsonSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}),
        ),
        (
            json!({"responseMimeType": "text/x.enum", "responseSchema": {"type": "STRING", "enum": ["a"]}}),
            json!({"responseMimeType": "text/x.enum", "responseSchema": {"type": "STRING", "enum": ["a"]}}),
        ),
        (json!({"thinkingConfig": {"thinkingBudget": 0}}), json!({"thinkingConfig": {"thinkingBudget": 0}})),
        (
            json!({"thinkingConfig": {"thinkingBudget": -1, "includeThoughts": false}}),
            json!({"thinkingConfig": {"thinkingBudget": -1, "includeThoughts": false}}),
        ),
        (
            json!({"thinkingConfig": {"includeThoughts": true}}),
            json!({"thinkingConfig": {"includeThoughts": true}}),
        ),
        (
            json!({"thinkingConfig": {"thinkingLevel": "HIGH"}}),
            json!({"thinkingConfig": {"includeThoughts": true, "thinkingBudget": 24576}}),
        ),
    ] {
        let (asked, lost) = asked(Dialect::Gemini, &config(sent.clone()), &routed());
        assert_eq!(asked["generationConfig"], told, "{sent}");
        assert!(lost.is_empty(), "{lost:?}");
    }
}

#[test]
fn the_same_ids_in_a_later_turn_are_that_turns() {
    let call = |name: &str| {
        json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}}]})
    };
    let result = |text: &str| json!({"role": "tool", "tool_call_id": "c", "content": text});
    let body = json!({"messages": [
        {"role": "user", "content": "go"}, call("f"), result("1"), {"role": "user", "content": "on"}, call("g"), result("2")
    ]});
    let (asked, lost) = asked(Dialect::Chat, &body, &routed());
    let name = |at: usize| asked["contents"][at]["parts"][0]["functionResponse"]["name"].clone();
    assert_eq!((name(2), name(5)), (json!("f"), json!("g")));
    assert!(lost.is_empty(), "{lost:?}");
}
