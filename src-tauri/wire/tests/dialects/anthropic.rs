//! Anthropic Messages by its public face.

use proptest::prelude::*;
use serde_json::{Value, json};
use wire::{
    ApiError, Auth, CallStart, Dialect, Event, Kind, Notice, Origin, Quirks, Reply, ReplyHead, Request,
    Route, Seal, Target, ThinkingScale, ToolChoice, ToolRef, Usage, format,
};

use crate::support::decode_as;

fn read(body: &Value) -> Result<Request, ApiError> {
    format(Dialect::Anthropic).decode_request(body.to_string().as_bytes(), &Route::default())
}

/// What a member is asked for a chat body, and what was lost.
fn ask(body: Value, thinking: ThinkingScale) -> (Value, Vec<String>) {
    let mut body = body;
    body["messages"] = json!([{"role": "user", "content": "a"}]);
    let request =
        format(Dialect::Chat).decode_request(body.to_string().as_bytes(), &Route::default()).unwrap();
    let quirks = Quirks { thinking, ..Quirks::default() };
    let target = Target { callers_options: true, quirks, ..Target::default() };
    let encoded = format(Dialect::Anthropic).encode_request(&request, &target);
    let told = |notice: &Notice| format!("{}={}", notice.field, notice.reason);
    (serde_json::from_slice(&encoded.body).unwrap(), encoded.notices.iter().map(told).collect())
}

#[test]
fn how_it_is_asked() {
    let dialect = format(Dialect::Anthropic);
    let request = read(&json!({"messages": [{"role": "user", "content": "a"}]})).unwrap();
    let encoded = dialect.encode_request(&request, &Target::default());
    assert_eq!(encoded.path, "/messages");
    assert_eq!(encoded.headers, [("anthropic-version", "2023-06-01")]);
    assert_eq!(dialect.auth(), Auth::Header("x-api-key"));
}

#[test]
fn every_wrong_value_is_named_with_its_place() {
    let user = json!([{"role": "user", "content": "a"}]);
    let block = |block: Value| json!({"messages": [{"role": "user", "content": [block]}]});
    let with = |name: &str, value: Value| {
        let mut body = json!({"messages": user});
        body[name] = value;
        body
    };
    let cases = [
        (json!({}), "messages: expected a list with at least one message"),
        (json!({"messages": [7]}), "messages[0]: expected object"),
        (
            json!({"messages": [{"role": "robot", "content": "a"}]}),
            "messages[0].role: expected user, assistant or system",
        ),
        (
            json!({"messages": [{"role": "user", "content": 7}]}),
            "messages[0].content: expected string or list",
        ),
        (block(json!({"type": "text"})), "messages[0].content[0].text: expected string"),
        (block(json!({"type": "image"})), "messages[0].content[0].source: expected object"),
        (
            block(json!({"type": "image", "source": {"type": "ftp"}})),
            "messages[0].content[0].source.type: expected base64, url or file",
        ),
        (
            block(json!({"type": "image", "source": {"type": "url", "url": "ftp://x"}})),
            "messages[0].content[0].source.url: expected an http or https URL",
        ),
        (
            block(json!({"type": "tool_use", "id": "a", "name": "f"})),
            "messages[0].content[0].type: expected tool_use in assistant turns only",
        ),
        (
            block(json!({"type": "tool_result", "tool_use_id": "a", "is_error": "no"})),
            "messages[0].content[0].is_error: expected true or false",
        ),
        (
            block(json!({"type": "text", "text": "a", "cache_control": 1})),
            "messages[0].content[0].cache_control: expected object",
        ),
        (with("system", json!(7)), "system: expected string or list"),
        (with("max_tokens", json!(0)), "max_tokens: expected whole number from 1"),
        (with("temperature", json!("hot")), "temperature: expected number"),
        (with("stop_sequences", json!("a")), "stop_sequences: expected list of strings"),
        (with("thinking", json!({"type": "deep"})), "thinking.type: expected enabled, disabled or adaptive"),
        (with("output_config", json!({"effort": 3})), "output_config.effort: expected string"),
        (with("output_config", json!({"format": 3})), "output_config.format: expected object"),
        (with("metadata", json!([])), "metadata: expected object"),
        (with("tools", json!([{"input_schema": {}}])), "tools[0].name: expected string"),
        (with("tools", json!([{"name": "f", "input_schema": 1}])), "tools[0].input_schema: expected object"),
        (with("tool_choice", json!({"type": "one"})), "tool_choice.type: expected auto, any, tool or none"),
        (with("stream", json!("yes")), "stream: expected true or false"),
        (with("bench", json!([])), "bench: expected object"),
        (with("mcp_servers", json!({})), "mcp_servers: expected list"),
    ];
    for (body, message) in cases {
        let error = read(&body).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (Kind::InvalidRequest, message));
    }
}

#[test]
fn tool_choices_are_read() {
    let tools =
        json!([{"name": "f", "input_schema": {}}, {"type": "web_search_20250305", "name": "web_search"}]);
    let choose = |choice: Value| {
        let messages = json!([{"role": "user", "content": "a"}]);
        let request = read(&json!({"messages": messages, "tools": tools, "tool_choice": choice})).unwrap();
        (request.tool_choice.unwrap(), request.parallel_tool_calls)
    };
    assert_eq!(choose(json!({"type": "auto"})), (ToolChoice::Auto, None));
    assert_eq!(
        choose(json!({"type": "any", "disable_parallel_tool_use": true})),
        (ToolChoice::Required, Some(false))
    );
    assert_eq!(choose(json!({"type": "none"})), (ToolChoice::None, None));
    let named = ToolChoice::Named(ToolRef { name: "f".to_owned(), namespace: None });
    assert_eq!(choose(json!({"type": "tool", "name": "f"})), (named, None));
    let (forced, _) = choose(json!({"type": "tool", "name": "web_search"}));
    assert!(matches!(forced, ToolChoice::Vendor { dialect: Dialect::Anthropic, .. }));
}

#[test]
fn sampling_in_the_apis_words() {
    let (body, lost) = ask(
        json!({"temperature": 1.5, "top_p": 0.90, "stop": "END", "seed": 7,
            "response_format": {"type": "json_object"}}),
        ThinkingScale::AsAsked,
    );
    assert_eq!(body["temperature"], 1);
    assert_eq!(body["top_p"].to_string(), "0.9");
    assert_eq!(body["stop_sequences"], json!(["END"]));
    assert_eq!(body["max_tokens"], 8192);
    assert_eq!(
        lost,
        [
            "temperature=cut to 1, the most this API takes",
            "seed=not taken by this member",
            "response_format=this API wants a schema",
        ]
    );
}

#[test]
fn effort_in_the_models_scale() {
    let (body, lost) = ask(json!({"reasoning_effort": "minimal", "temperature": 0.5}), ThinkingScale::Effort);
    assert_eq!(body["thinking"], json!({"type": "adaptive"}));
    assert_eq!(body["output_config"], json!({"effort": "low"}));
    assert_eq!(body["max_tokens"], 24_576 + 8192);
    assert_eq!(body.get("temperature"), None);
    assert_eq!(lost, ["temperature=not taken beside thinking"]);

    for scale in [ThinkingScale::Budget, ThinkingScale::AsAsked] {
        let (body, lost) = ask(json!({"reasoning_effort": "low"}), scale);
        assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": 4096}), "{scale:?}");
        assert_eq!(body["max_tokens"], 4096 + 8192);
        assert!(lost.is_empty());
    }
    let (body, lost) = ask(json!({"reasoning_effort": "high", "max_tokens": 4000}), ThinkingScale::Budget);
    assert_eq!(body["thinking"]["budget_tokens"], 2000);
    assert_eq!(lost, ["reasoning_effort=24576 tokens of thinking made 2000"]);
    let (body, lost) = ask(json!({"reasoning_effort": "high", "max_tokens": 500}), ThinkingScale::Budget);
    assert_eq!(body.get("thinking"), None);
    assert_eq!(lost.last().unwrap(), "reasoning_effort=no room for thinking in so small an output");
    let (body, _) = ask(json!({"reasoning_effort": "none"}), ThinkingScale::Effort);
    assert_eq!(body["thinking"], json!({"type": "disabled"}));

    let tools = json!([{"type": "function", "function": {"name": "f"}}]);
    let (body, lost) = ask(
        json!({"reasoning_effort": "low", "tools": tools, "tool_choice": "required"}),
        ThinkingScale::Effort,
    );
    assert_eq!((body.get("thinking"), &body["tool_choice"]), (None, &json!({"type": "any"})));
    assert_eq!(lost, ["reasoning_effort=a forced tool choice rules thinking out"]);
}

#[test]
fn errors_in_anthropics_shape() {
    let cases = [
        (Kind::InvalidRequest, "invalid_request_error"),
        (Kind::Authentication, "authentication_error"),
        (Kind::Permission, "permission_error"),
        (Kind::NotFound, "not_found_error"),
        (Kind::TooLarge, "request_too_large"),
        (Kind::RateLimit, "rate_limit_error"),
        (Kind::Unavailable, "overloaded_error"),
        (Kind::Internal, "api_error"),
        (Kind::Upstream, "api_error"),
    ];
    for (kind, word) in cases {
        let error = ApiError::new(kind, Origin::Gateway, "x", "said");
        let body = format(Dialect::Anthropic).encode_error(&error, "req-1", Some(&json!({"panel": "p"})));
        let wanted = json!({"type": "error", "error": {"type": word, "message": "said"},
            "request_id": "req-1", "bench": {"panel": "p"}});
        assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), wanted);
    }
}

#[test]
fn a_schema_in_the_apis_words() {
    let schema = json!({"type": "object", "properties": {
        "name": {"type": "string", "minLength": 2},
        "tags": {"type": "array", "items": {"type": "object", "properties": {}}}
    }});
    let format = json!({"type": "json_schema", "json_schema": {"name": "x", "schema": schema}});
    let (body, lost) = ask(json!({"response_format": format}), ThinkingScale::Effort);
    let sent = json!({"type": "object", "properties": {
        "name": {"type": "string", "description": "(minLength: 2)"},
        "tags": {"type": "array", "items":
            {"type": "object", "properties": {}, "additionalProperties": false}}
    }, "additionalProperties": false});
    assert_eq!(body["output_config"]["format"], json!({"type": "json_schema", "schema": sent}));
    assert_eq!(
        lost,
        [
            "response_format.properties.name.minLength=said in the description",
            "response_format=objects closed to other properties, as this API wants",
        ]
    );
}

#[test]
fn media_of_other_types_are_left_out_and_told() {
    let url = |kind: &str| format!("data:{kind};base64,AAAA");
    let body = json!({"model": "m", "messages": [{"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": url("image/bmp")}},
        {"type": "image_url", "image_url": {"url": url("image/webp")}},
        {"type": "file", "file": {"filename": "a.docx", "file_data": url("application/msword")}}
    ]}]});
    let request =
        format(Dialect::Chat).decode_request(body.to_string().as_bytes(), &Route::default()).unwrap();
    let encoded = format(Dialect::Anthropic).encode_request(&request, &Target::default());
    let sent: Value = serde_json::from_slice(&encoded.body).unwrap();
    let sent = &sent["messages"][0]["content"];
    assert_eq!(sent[0]["text"], "[image left out: this model cannot take it]");
    assert_eq!(sent[1]["source"]["media_type"], "image/webp");
    assert_eq!(sent[2]["text"], "[document left out: this model cannot take it]");
    assert_eq!(encoded.notices.len(), 2);
}

#[test]
fn four_cache_marks_are_taken() {
    let text = |words: &str| json!({"type": "text", "text": words, "cache_control": {"type": "ephemeral"}});
    let body = json!({
        "model": "m",
        "tools": [{"name": "f", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": [text("a"), text("b"), text("c"), text("d"), text("e")]}]
    });
    let encoded = format(Dialect::Anthropic).encode_request(&read(&body).unwrap(), &Target::default());
    let sent: Value = serde_json::from_slice(&encoded.body).unwrap();
    let blocks = sent["messages"][0]["content"].as_array().unwrap();
    let marked: Vec<bool> = blocks.iter().map(|block| block.get("cache_control").is_some()).collect();
    assert_eq!(marked, [false, false, true, true, true]);
    assert!(sent["tools"][0].get("cache_control").is_some());
    let fields: Vec<&str> = encoded.notices.iter().map(|notice| notice.field.as_str()).collect();
    assert_eq!(fields, ["messages[0].content[0].cache_control", "messages[0].content[1].cache_control"]);
}

/// Events of a member's stream in any order, whole or not.
fn any_stream() -> impl Strategy<Value = String> {
    let index = || prop_oneof![Just(json!(0)), Just(json!(1)), Just(Value::Null), Just(json!("x"))];
    let block = prop_oneof![
        Just(json!({"type": "text", "text": ""})),
        Just(json!({"type": "thinking", "thinking": "h", "signature": "s"})),
        Just(json!({"type": "redacted_thinking", "data": "r"})),
        Just(json!({"type": "tool_use", "id": "t", "name": "f", "input": {}})),
        Just(json!({"type": "tool_use", "name": "f", "input": {"a": 1}})),
        Just(json!({"type": "server_tool_use", "id": "s", "name": "w", "input": {}})),
        Just(json!(7)),
    ];
    let delta = prop_oneof![
        Just(json!({"type": "text_delta", "text": "t"})),
        Just(json!({"type": "thinking_delta", "thinking": "h"})),
        Just(json!({"type": "signature_delta", "signature": "s"})),
        Just(json!({"type": "input_json_delta", "partial_json": "{}"})),
        Just(json!({"type": "input_json_delta", "partial_json": ""})),
        Just(json!({"type": "input_json_delta", "partial_json": "{\"a"})),
        Just(json!([])),
    ];
    let event = prop_oneof![
        (index(), block).prop_map(
            |(at, block)| json!({"type": "content_block_start", "index": at, "content_block": block})
        ),
        (index(), delta)
            .prop_map(|(at, delta)| json!({"type": "content_block_delta", "index": at, "delta": delta})),
        index().prop_map(|at| json!({"type": "content_block_stop", "index": at})),
        Just(json!({"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 3}}})),
        Just(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": null})),
        Just(json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}})),
        Just(json!({"type": "message_stop"})),
        Just(json!({"type": "ping"})),
    ];
    prop::collection::vec(event, 0..16)
        .prop_map(|events| events.iter().map(|event| format!("data: {event}\n\n")).collect())
}

/// What may happen in any order: calls that overlap, calls that are cut.
#[derive(Clone, Debug)]
enum Move {
    Text,
    Thinking,
    Signature,
    Redacted,
    Start,
    Arguments(usize),
    End(usize),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        Just(Move::Text),
        Just(Move::Thinking),
        Just(Move::Signature),
        Just(Move::Redacted),
        Just(Move::Start),
        (0usize..3).prop_map(Move::Arguments),
        (0usize..3).prop_map(Move::End),
    ];
    prop::collection::vec(one, 0..24)
}

/// The events of those moves that are possible; every call's arguments are `{"a":[` and more, closed by its end.
fn events_of(moves: &[Move]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut calls: Vec<Option<bool>> = Vec::new();
    for one in moves {
        match one {
            Move::Text => events.push(Event::Text("t".to_owned())),
            Move::Thinking => events.push(Event::Thinking("h".to_owned())),
            Move::Signature => events.push(Event::ThinkingSignature(Seal::new("s"))),
            Move::Redacted => events.push(Event::Redacted { seal: Seal::new("r"), id: None }),
            Move::Start => {
                let (index, name) = (calls.len(), "f".to_owned());
                let id = format!("c{index}");
                events.push(Event::CallStart(CallStart { index, id, name, ..CallStart::default() }));
                calls.push(Some(false));
            }
            Move::Arguments(index) => {
                if let Some(Some(begun)) = calls.get_mut(*index) {
                    let delta = if *begun { ",1" } else { "{\"a\":[1" }.to_owned();
                    *begun = true;
                    events.push(Event::CallArguments { index: *index, delta });
                }
            }
            Move::End(index) => {
                if let Some(call) = calls.get_mut(*index)
                    && let Some(begun) = call.take()
                {
                    if begun {
                        events.push(Event::CallArguments { index: *index, delta: "]}".to_owned() });
                    }
                    events.push(Event::CallEnd { index: *index });
                }
            }
        }
    }
    events
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_stream_is_read_in_order_however_it_is_cut(stream in any_stream()) {
        let whole = decode_as(Dialect::Anthropic, [stream.as_bytes()]);
        prop_assert_eq!(decode_as(Dialect::Anthropic, stream.as_bytes().chunks(1)), whole);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = format(Dialect::Anthropic).decode_request(&bytes, &Route::default());
        let _ = format(Dialect::Anthropic).decode_reply(&bytes);
    }

    #[test]
    fn a_request_with_one_value_replaced_is_read_or_refused_with_its_place(
        at in 0usize..22,
        value in prop_oneof![
            Just("null"), Just("5"), Just("-1.5e3"), Just("true"), Just("\"\""), Just("[]"), Just("{}"),
            Just("[null]"), Just("{\"a\":[]}"), Just("\"\\ud800\"")
        ],
    ) {
        const SLOTS: &str = r#"{"model":@,"system":@,"messages":[{"role":@,"content":@},{"role":"assistant","content":[{"type":@,"text":@},{"type":"thinking","thinking":@,"signature":@},{"type":"tool_use","id":@,"name":@,"input":@}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":@,"content":@,"is_error":@},{"type":"document","source":@}]}],"tools":@,"tool_choice":@,"thinking":@,"output_config":@,"metadata":@,"stop_sequences":@,"max_tokens":@}"#;
        const GOOD: [&str; 22] = [
            "\"m\"", "\"s\"", "\"user\"", "\"a\"", "\"text\"", "\"a\"", "\"h\"", "\"s\"", "\"t\"", "\"f\"", "{}",
            "\"t\"", "\"r\"", "true", "{\"type\":\"text\",\"data\":\"d\"}", "[]", "{\"type\":\"auto\"}",
            "{\"type\":\"adaptive\"}", "{}", "{}", "[]", "9",
        ];
        let mut slots = SLOTS.split('@');
        let mut body = slots.next().unwrap().to_owned();
        for (index, after) in slots.enumerate() {
            body.push_str(if index == at { value } else { GOOD[index] });
            body.push_str(after);
        }
        let dialect = format(Dialect::Anthropic);
        match dialect.decode_request(body.as_bytes(), &Route::default()) {
            Ok(request) => {
                let target = Target { callers_options: true, ..Target::default() };
                let asked = dialect.encode_request(&request, &target);
                prop_assert!(serde_json::from_slice::<Value>(&asked.body).is_ok());
                prop_assert!(dialect.relay_request(body.as_bytes(), &request, &target).is_ok());
            }
            Err(error) => {
                prop_assert_eq!(error.kind.status(), 400);
                prop_assert!(error.message.contains(": "), "{}", error.message);
            }
        }
    }

    #[test]
    fn blocks_follow_each_other_whatever_is_said(moves in moves()) {
        let events = events_of(&moves);
        let mut encoder = format(Dialect::Anthropic).encoder(ReplyHead::default());
        let mut stream: Vec<u8> = events.iter().flat_map(|event| encoder.event(event)).collect();
        stream.extend(encoder.finish(Usage::default(), None));
        let text = String::from_utf8(stream.clone()).unwrap();
        let mut open: Option<u64> = None;
        let mut next = 0;
        for line in text.lines().filter_map(|line| line.strip_prefix("data: ")) {
            let event: Value = serde_json::from_str(line).unwrap();
            let index = event["index"].as_u64();
            match event["type"].as_str().unwrap() {
                "content_block_start" => {
                    prop_assert_eq!((open, index), (None, Some(next)));
                    (open, next) = (index, next + 1);
                }
                "content_block_delta" => prop_assert_eq!(open, index),
                "content_block_stop" => prop_assert_eq!(open.take(), index),
                _ => prop_assert_eq!(open, None),
            }
        }
        let whole = Reply::from_events(&events);
        let read = Reply::from_events(&decode_as(Dialect::Anthropic, [stream.as_slice()]));
        prop_assert_eq!(read.text(), whole.text());
        let calls = |reply: &Reply| -> Vec<(String, String)> {
            let call = |call: &wire::ToolCall| {
                let none = call.arguments.is_empty();
                (call.id.clone(), if none { "{}".to_owned() } else { call.arguments.to_string() })
            };
            reply.tool_calls().map(call).collect()
        };
        prop_assert_eq!(calls(&read), calls(&whole));
    }
}
