//! The Ollama dialect: what callers may say, and what members are asked.

use serde_json::{Value, json};
use wire::{
    ApiError, Content, Dialect, Form, Kind, Message, Part, Reasoning, ReplyMode, Request, Role, Route,
    Source, StructuredOutput, Target, ThinkingMode, Tool, ToolCall, ToolChoice, ToolRef, format,
    relay::ModelName,
};

const OLLAMA: Dialect = Dialect::Ollama;
const PNG: &str = "iVBORw0KGgoAAAANSUhEUg==";

fn decode(body: &str) -> Result<Request, ApiError> {
    format(OLLAMA).decode_request(body.as_bytes(), &Route::default())
}

fn generate(body: &str) -> Result<Request, ApiError> {
    let route = Route { form: Form::Generate, ..Route::default() };
    format(OLLAMA).decode_request(body.as_bytes(), &route)
}

/// A body with one plain message and the fields given.
fn with(fields: &str) -> String {
    format!(r#"{{"messages":[{{"role":"user","content":"a"}}],{fields}}}"#)
}

fn message(fields: &str) -> String {
    format!(r#"{{"messages":[{{"role":"user","content":"a"}},{{{fields}}}]}}"#)
}

fn target() -> Target {
    Target { served: "qwen3:8b".to_owned(), callers_options: true, ..Target::default() }
}

fn asked(request: &Request, target: &Target) -> (Value, Vec<String>) {
    let encoded = format(OLLAMA).encode_request(request, target);
    assert_eq!((encoded.path.as_str(), encoded.headers.len()), ("/api/chat", 0));
    let notices = encoded.notices.iter().map(|notice| format!("{}={}", notice.field, notice.reason));
    (serde_json::from_slice(&encoded.body).unwrap(), notices.collect())
}

#[test]
fn a_whole_chat_request() {
    let request = decode(&format!(
        r#"{{"model":"bench/core:latest","messages":[
            {{"role":"System","content":"be brief"}},
            {{"role":"user","content":"what is this","images":["{PNG}","data:image/gif;base64,R0lG"]}},
            {{"role":"assistant","content":"","thinking":"hm","tool_calls":[
                {{"function":{{"name":"look","arguments":{{"z":1.0,"a":2}}}}}},
                {{"id":"x","function":{{"index":1,"name":"see","arguments":"{{}}"}}}}]}},
            {{"role":"tool","content":"seen","tool_name":"see"}},
            {{"role":"tool","content":"looked","tool_name":"look"}}],
          "tools":[{{"type":"function","function":{{"name":"look","description":"Looks.","parameters":{{"z":1,"a":2}}}}}}],
          "think":"high","format":{{"type":"object"}},"keep_alive":"5m","with":["alpha"],"bench":{{"reply":"route"}},
          "options":{{"temperature":0.10,"num_predict":64,"num_ctx":4096,"stop":["x"],"seed":7}}}}"#
    ))
    .unwrap();
    assert_eq!(request.model, "bench/core:latest", "the gateway strips the tag");
    assert!(request.stream && request.include_usage, "a stream unless told otherwise");
    let roles: Vec<Role> = request.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::Tool, Role::Tool]);
    let types: Vec<&Source> = request.images().map(|image| &image.source).collect();
    let source =
        |kind: &str, data: &str| Source::Base64 { media_type: kind.to_owned(), data: data.to_owned() };
    assert_eq!(types, [&source("image/png", PNG), &source("image/gif", "R0lG")]);
    let calls: Vec<&ToolCall> = request
        .parts()
        .filter_map(|part| match &part.content {
            Content::ToolCall(call) => Some(call),
            _ => None,
        })
        .collect();
    assert_eq!((calls[0].id.as_str(), calls[0].arguments.as_str()), ("call_0", r#"{"z":1.0,"a":2}"#));
    assert_eq!((calls[1].id.as_str(), calls[1].arguments.as_str()), ("x", "{}"));
    let results: Vec<&str> = request
        .parts()
        .filter_map(|part| match &part.content {
            Content::ToolResult(result) => Some(result.call_id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(results, ["x", "call_0"], "by the tool's name");
    assert_eq!(request.reasoning, Reasoning { effort: Some("high".to_owned()), ..Reasoning::default() });
    assert_eq!(request.max_output, Some(64));
    assert_eq!(request.sampling.get("temperature").unwrap().get(), "0.10");
    assert_eq!(request.spelling("temperature"), "options.temperature");
    assert_eq!(request.spelling("max_output"), "options.num_predict");
    assert!(matches!(request.structured_output, Some(StructuredOutput::Schema { .. })));
    assert_eq!(request.with, ["alpha"]);
    assert_eq!(request.bench.reply, Some(ReplyMode::Route));
    let extra: Vec<&str> = request.extra.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(extra, ["options.num_ctx", "keep_alive"]);
    assert_eq!(request.part_place(1, 2), "messages[1].images[1]");
}

#[test]
fn a_whole_generate_request() {
    let request = generate(&format!(
        r#"{{"model":"m","prompt":"hi","system":"be brief","images":["{PNG}"],"think":false,"stream":false,
            "format":"json","suffix":"s","context":[],"options":{{"num_predict":-1}}}}"#
    ))
    .unwrap();
    assert_eq!((request.system_text().as_str(), request.last_user_text().as_str()), ("be brief", "hi"));
    assert_eq!((request.form, request.stream), (Form::Generate, false));
    assert_eq!(request.images().count(), 1);
    assert_eq!(request.reasoning.mode, Some(ThinkingMode::Off));
    assert_eq!(request.structured_output, Some(StructuredOutput::Object));
    assert_eq!(request.max_output, None, "-1 is no limit");
    assert_eq!(request.extra[0].0, "suffix");
    let places = [request.part_place(0, 0), request.part_place(1, 0), request.part_place(1, 1)];
    assert_eq!(places, ["system", "prompt", "images[0]"]);
}

#[test]
fn every_wrong_value_is_named_with_its_place() {
    let role = "messages[1].role: expected system, user, assistant or tool";
    let none = "messages: expected a list with at least one message";
    for (body, wanted) in [
        ("5".to_owned(), "body: expected object"),
        ("{}".to_owned(), none),
        (r#"{"messages":[]}"#.to_owned(), none),
        (r#"{"messages":{}}"#.to_owned(), "messages: expected list"),
        (r#"{"model":1}"#.to_owned(), "model: expected string"),
        (message(""), role),
        (message(r#""role":"bot""#), role),
        (message(r#""role":"user","content":[]"#), "messages[1].content: expected string"),
        (message(r#""role":"user","images":"x""#), "messages[1].images: expected list of strings"),
        (message(r#""role":"user","images":[5]"#), "messages[1].images[0]: expected string"),
        (
            message(r#""role":"user","images":["./a.png"]"#),
            "messages[1].images[0]: expected an image as base64",
        ),
        (message(r#""role":"assistant","thinking":5"#), "messages[1].thinking: expected string"),
        (message(r#""role":"assistant","tool_calls":{}"#), "messages[1].tool_calls: expected list"),
        (
            message(r#""role":"assistant","tool_calls":[{}]"#),
            "messages[1].tool_calls[0].function: expected object",
        ),
        (
            message(r#""role":"assistant","tool_calls":[{"function":{"name":"f","arguments":[]}}]"#),
            "messages[1].tool_calls[0].function.arguments: expected object",
        ),
        (message(r#""role":"tool","content":"a","tool_name":5"#), "messages[1].tool_name: expected string"),
        (with(r#""tools":{}"#), "tools: expected list"),
        (with(r#""tools":[{"type":"function"}]"#), "tools[0].function: expected object"),
        (with(r#""tools":[{"function":{}}]"#), "tools[0].function.name: expected string"),
        (
            with(r#""tools":[{"function":{"name":"f","parameters":[]}}]"#),
            "tools[0].function.parameters: expected object",
        ),
        (with(r#""stream":"no""#), "stream: expected true or false"),
        (with(r#""think":5"#), "think: expected true, false or a level such as \"low\""),
        (with(r#""format":"yaml""#), "format: expected \"json\" or a JSON schema"),
        (with(r#""format":[]"#), "format: expected \"json\" or a JSON schema"),
        (with(r#""keep_alive":{}"#), "keep_alive: expected string or number"),
        (with(r#""options":[]"#), "options: expected object"),
        (with(r#""options":{"temperature":"hot"}"#), "options.temperature: expected number"),
        (
            with(r#""options":{"num_predict":0}"#),
            "options.num_predict: expected whole number from 1, or -1 for no limit",
        ),
        (with(r#""options":{"num_predict":"x"}"#), "options.num_predict: expected whole number"),
        (with(r#""options":{"num_ctx":"x"}"#), "options.num_ctx: expected number"),
        (with(r#""options":{"use_mmap":1}"#), "options.use_mmap: expected true or false"),
        (with(r#""options":{"stop":[1]}"#), "options.stop[0]: expected string"),
        (with(r#""with":"a""#), "with: expected list of strings"),
        (with(r#""bench":{"reply":"x"}"#), "bench.reply: expected \"all\", \"merged\" or \"route\""),
    ] {
        let error = decode(&body).unwrap_err();
        assert_eq!((error.message.as_str(), error.kind), (wanted, Kind::InvalidRequest), "{body}");
    }
    for (body, wanted) in [
        ("{}", "prompt: expected a text"),
        (r#"{"prompt":5}"#, "prompt: expected string"),
        (r#"{"prompt":"a","system":[]}"#, "system: expected string"),
        (r#"{"prompt":"a","raw":1}"#, "raw: expected true or false"),
        (r#"{"prompt":"a","context":"x"}"#, "context: expected list"),
        (
            r#"{"prompt":"a","context":[1]}"#,
            "context: tokens of an earlier answer are not taken; send the conversation as messages to /api/chat",
        ),
    ] {
        assert_eq!(generate(body).unwrap_err().message, wanted, "{body}");
    }
}

#[test]
fn a_member_is_asked_in_its_own_words() {
    let chat = br#"{"model":"m","messages":[
        {"role":"developer","content":"be brief"},
        {"role":"user","name":"ann","content":[{"type":"text","text":"one"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0K"}},{"type":"text","text":"two"}]},
        {"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"look.at","arguments":"{\"z\": 1.0, \"a\": 12345678901234567890123}"}}]},
        {"role":"tool","tool_call_id":"c1","content":"seen"}],
        "tools":[{"type":"function","function":{"name":"look.at","parameters":{"type":"object","properties":{"z":{},"a":{}}},"strict":true}}],
        "tool_choice":"required","parallel_tool_calls":false,"max_tokens":50,"temperature":0.20,"stop":"END","logit_bias":{},
        "repetition_penalty":1.1,"reasoning_effort":"minimal","response_format":{"type":"json_object"}}"#;
    let request = format(Dialect::Chat).decode_request(chat, &Route::default()).unwrap();
    let owner = json!({"num_ctx": 8192, "temperature": 1, "keep_alive": "1h", "options": {"top_k": 5}, "stream": false});
    let target = Target { options: owner.as_object().unwrap().clone(), ..target() };
    let encoded = format(OLLAMA).encode_request(&request, &target);
    let wanted = concat!(
        r#"{"model":"qwen3:8b","messages":[{"role":"system","content":"be brief"},"#,
        r#"{"role":"user","content":"one\ntwo","images":["iVBORw0K"]},"#,
        r#"{"role":"assistant","content":"","thinking":"hm","tool_calls":[{"id":"c1","function":{"name":"look.at","#,
        r#""arguments":{"z": 1.0, "a": 12345678901234567890123}}}]},"#,
        r#"{"role":"tool","content":"seen","tool_name":"look.at","tool_call_id":"c1"}],"#,
        r#""tools":[{"type":"function","function":{"name":"look.at","parameters":{"type":"object","properties":{"z":{},"a":{}}}}}],"#,
        r#""stream":true,"keep_alive":"1h","format":"json","think":"low","#,
        r#""options":{"num_ctx":8192,"temperature":0.20,"top_k":5,"repeat_penalty":1.1,"stop":["END"],"num_predict":50}}"#,
    );
    assert_eq!(String::from_utf8(encoded.body).unwrap(), wanted);
    let notices: Vec<String> =
        encoded.notices.iter().map(|notice| format!("{}={}", notice.field, notice.reason)).collect();
    assert_eq!(
        notices,
        [
            "messages[0].role=developer sent as system",
            "messages[1].name=not sent to members",
            "messages[1]=its images are put before its text",
            "tool_choice=this API cannot force a tool",
            "parallel_tool_calls=this API cannot say it",
            "tools[0].strict=this API cannot say it",
            "options.stream=set by the gateway",
            "logit_bias=this API has no such option",
            "reasoning_effort=low is the nearest this API has",
        ]
    );
}

#[test]
fn a_choice_is_said_by_the_list_of_tools() {
    let tool = |name: &str| Tool::Function {
        name: name.to_owned(),
        namespace: None,
        description: None,
        parameters: None,
        strict: None,
        cache: None,
    };
    let mut request = Request {
        messages: vec![Message::new(Role::User, vec![Part::text("a")])],
        tools: vec![tool("f"), tool("g")],
        ..Request::default()
    };
    let mut names = |choice| {
        request.tool_choice = choice;
        let (body, notices) = asked(&request, &target());
        let tools = body["tools"].as_array().cloned().unwrap_or_default();
        let names: Vec<String> =
            tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect();
        (names.join(" "), notices.join(" "))
    };
    assert_eq!(names(None), ("f g".to_owned(), String::new()));
    assert_eq!(names(Some(ToolChoice::Auto)), ("f g".to_owned(), String::new()));
    assert_eq!(
        names(Some(ToolChoice::None)),
        (String::new(), "tool_choice=the tools are left out instead".to_owned())
    );
    let named = ToolChoice::Named(ToolRef { name: "g".to_owned(), namespace: None });
    assert_eq!(
        names(Some(named)),
        ("g".to_owned(), "tool_choice=only this tool is offered, and not forced".to_owned())
    );
}

#[test]
fn thinking_is_asked_for_in_levels_or_not_at_all() {
    let mut request = decode(&with(r#""stream":false"#)).unwrap();
    let mut think = |effort: Option<&str>, mode| {
        request.reasoning = Reasoning { effort: effort.map(str::to_owned), mode, summary: None };
        asked(&request, &target()).0["think"].clone()
    };
    assert_eq!(think(None, None), Value::Null);
    assert_eq!(think(Some("none"), None), json!(false));
    assert_eq!(think(Some("xhigh"), None), json!("high"));
    assert_eq!(think(Some("max"), None), json!("max"));
    assert_eq!(think(Some("lots"), None), json!(true));
    assert_eq!(think(None, Some(ThinkingMode::Off)), json!(false));
    assert_eq!(think(None, Some(ThinkingMode::Adaptive)), json!(true));
    assert_eq!(think(None, Some(ThinkingMode::Budget(8_000))), json!("medium"));
}

#[test]
fn a_panel_keeps_the_callers_options_from_its_seats() {
    let request =
        decode(&with(r#""think":true,"format":"json","options":{"seed":1,"num_predict":5}"#)).unwrap();
    let (body, notices) = asked(&request, &Target { callers_options: false, ..target() });
    assert_eq!(body, json!({"model":"qwen3:8b","messages":[{"role":"user","content":"a"}],"stream":true}));
    let ignored = ["options.seed", "options.num_predict", "format", "think"];
    assert_eq!(notices, ignored.map(|name| format!("{name}=ignored by a panel")));
}

#[test]
fn what_a_member_cannot_take_is_told_in_its_place() {
    let chat = br#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://h/i.png"}},{"type":"text","text":"q"}]}]}"#;
    let request = format(Dialect::Chat).decode_request(chat, &Route::default()).unwrap();
    let (body, notices) = asked(&request, &target());
    assert_eq!(body["messages"][0]["content"], "[image left out: this model cannot take it]\nq");
    assert_eq!(notices, ["messages[0].content[0]=image by URL not taken by this member"]);
}

#[test]
fn a_relayed_body_keeps_every_byte_that_need_not_change() {
    let body = br#"{ "model":"bench/x:route", "keep_alive":-1,"options":{"num_ctx":1e3, "num_predict":900},"bench":{},"messages":[{"role":"user","content":"a","x":{}}]}"#;
    let ollama = format(OLLAMA);
    let request = ollama.decode_request(body, &Route::default()).unwrap();
    let target = Target { max_output: Some(100), ..target() };
    let relayed = ollama.relay_request(body, &request, &target).unwrap();
    assert_eq!(
        String::from_utf8(relayed.body).unwrap(),
        r#"{ "model":"qwen3:8b", "keep_alive":-1,"options":{"num_ctx":1e3, "num_predict":100},"messages":[{"role":"user","content":"a","x":{}}]}"#
    );
    assert_eq!(
        (relayed.path.as_str(), relayed.notices[0].field.as_str()),
        ("/api/chat", "options.num_predict")
    );
    let mut names = ModelName::new(ollama.model_paths(), "bench/x:route");
    let stream = "{\"model\":\"qwen3:8b\",\"message\":{\"content\":\"qwen3:8b\"},\"done\":true}\n";
    let out = [names.push(stream.as_bytes()), names.end()].concat();
    assert_eq!(String::from_utf8(out).unwrap(), stream.replacen("qwen3:8b", "bench/x:route", 1));

    let body = br#"{"model":"m","prompt":"a"}"#;
    let request = generate(std::str::from_utf8(body).unwrap()).unwrap();
    assert_eq!(ollama.relay_request(body, &request, &target).unwrap().path, "/api/generate");
}

#[test]
fn a_level_the_api_has_not_and_calls_in_a_wrong_turn_are_listed() {
    let body = r#"{"messages":[{"role":"user","content":"a","tool_calls":[],"name":"ann"}],"think":"lots"}"#;
    let (asked, notices) = asked(&decode(body).unwrap(), &target());
    assert_eq!(asked["think"], true);
    let wanted = [
        "messages[0].tool_calls=not sent to members",
        "messages[0].name=not sent to members",
        "think=sent as true: this API has no such level",
    ];
    assert_eq!(notices, wanted);
}

#[test]
fn a_document_as_text_and_several_texts_are_one_text() {
    let part = |content: Content| Part::new(content);
    let document = wire::Document { source: Source::Text("body".to_owned()), name: Some("a.txt".to_owned()) };
    let parts = vec![Part::text("one"), Part::text(""), part(Content::Document(document))];
    let request = Request { messages: vec![Message::new(Role::User, parts)], ..Request::default() };
    let (body, notices) = asked(&request, &target());
    assert_eq!(body["messages"], json!([{"role": "user", "content": "one\na.txt\n\nbody"}]));
    assert!(notices.is_empty(), "{notices:?}");
}

#[test]
fn a_body_that_asks_nothing_is_told_from_a_wrong_one() {
    assert_eq!(decode("{}").unwrap_err().code, wire::NOTHING_ASKED);
    assert_eq!(decode(r#"{"messages":[]}"#).unwrap_err().code, wire::NOTHING_ASKED);
    assert_eq!(generate(r#"{"model":"m","keep_alive":0}"#).unwrap_err().code, wire::NOTHING_ASKED);
    assert_ne!(decode(r#"{"messages":5}"#).unwrap_err().code, wire::NOTHING_ASKED);
    let shown = |body: &str| wire::ollama_shown(body.as_bytes()).map_err(|error| error.message);
    assert_eq!(shown(r#"{"model":"a","name":"b"}"#), Ok("a".to_owned()));
    assert_eq!(shown(r#"{"model":"","name":"b"}"#), Ok("b".to_owned()));
    assert_eq!(shown(r#"{"model":5}"#), Err("model: expected string".to_owned()));
    assert_eq!(shown("{}"), Err("model: expected the name of a collection".to_owned()));
}
