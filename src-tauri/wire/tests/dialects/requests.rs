//! A caller's body: what is read, and what is refused with its place.

use serde_json::json;
use wire::{
    ApiError, Content, Dialect, Image, Part, ReplyMode, Request, Role, Route, Source, Target,
    estimate_tokens, format,
};

fn decode(body: &str) -> Result<Request, ApiError> {
    format(Dialect::Chat).decode_request(body.as_bytes(), &Route::default())
}

fn read(body: &str) -> Request {
    decode(body).unwrap()
}

/// A body with one good message and the fields given.
fn with(fields: &str) -> String {
    format!(r#"{{"messages":[{{"role":"user","content":"hi"}}],{fields}}}"#)
}

/// A body with one message that has the fields given.
fn message(fields: &str) -> String {
    format!(r#"{{"messages":[{{"role":"user","content":"a"}},{{{fields}}}]}}"#)
}

/// A body whose one message has one part.
fn part(part: &str) -> String {
    format!(r#"{{"messages":[{{"role":"user","content":[{part}]}}]}}"#)
}

#[test]
fn every_wrong_value_is_named_with_its_place() {
    let image = "an http or https URL, or data:image/…;base64,…";
    let cases: Vec<(String, &str)> = vec![
        ("5".into(), "body: expected object"),
        ("1e999".into(), "body: expected object"),
        ("[]".into(), "body: expected object"),
        ("null".into(), "body: expected object"),
        (r#"{"model":5,"messages":[]}"#.into(), "model: expected string"),
        ("{}".into(), "messages: expected a list with at least one message"),
        (r#"{"messages":null}"#.into(), "messages: expected a list with at least one message"),
        (r#"{"messages":[]}"#.into(), "messages: the list is empty; send at least one message"),
        (r#"{"messages":"hi"}"#.into(), "messages: expected list"),
        (r#"{"messages":{}}"#.into(), "messages: expected list"),
        (r#"{"messages":[{"role":"user","content":"a"},5]}"#.into(), "messages[1]: expected object"),
        (r#"{"messages":[null]}"#.into(), "messages[0]: expected object"),
        (
            message(r#""content":"a""#),
            "messages[1].role: expected system, developer, user, assistant or tool",
        ),
        (message(r#""role":5"#), "messages[1].role: expected system, developer, user, assistant or tool"),
        (message(r#""role":"bot""#), "messages[1].role: expected system, developer, user, assistant or tool"),
        (message(r#""role":"user""#), "messages[1].content: expected string or list"),
        (message(r#""role":"user","content":null"#), "messages[1].content: expected string or list"),
        (message(r#""role":"user","content":5"#), "messages[1].content: expected string or list"),
        (message(r#""role":"user","content":true"#), "messages[1].content: expected string or list"),
        (message(r#""role":"user","content":{"a":1}"#), "messages[1].content: expected string or list"),
        (message(r#""role":"user","content":"a","name":5"#), "messages[1].name: expected string"),
        (
            message(r#""role":"tool","content":"a","tool_call_id":5"#),
            "messages[1].tool_call_id: expected string",
        ),
        (message(r#""role":"assistant","tool_calls":{}"#), "messages[1].tool_calls: expected list"),
        (message(r#""role":"assistant","tool_calls":[5]"#), "messages[1].tool_calls[0]: expected object"),
        (
            message(r#""role":"assistant","tool_calls":[{"function":{"arguments":{}}}]"#),
            "messages[1].tool_calls[0].function.arguments: expected string",
        ),
        (part("5"), "messages[0].content[0]: expected object"),
        (part(r#""a""#), "messages[0].content[0]: expected object"),
        (part("{}"), "messages[0].content[0].type: expected string"),
        (part(r#"{"type":5}"#), "messages[0].content[0].type: expected string"),
        (part(r#"{"type":"text"}"#), "messages[0].content[0].text: expected string"),
        (part(r#"{"type":"text","text":["a"]}"#), "messages[0].content[0].text: expected string"),
        (part(r#"{"type":"image_url"}"#), "messages[0].content[0].image_url: expected object with url"),
        (part(r#"{"type":"image_url","image_url":5}"#), "messages[0].content[0].image_url: expected object"),
        (
            part(r#"{"type":"image_url","image_url":{}}"#),
            "messages[0].content[0].image_url.url: expected string",
        ),
        (
            part(r#"{"type":"image_url","image_url":{"url":"https://h/i","detail":1}}"#),
            "messages[0].content[0].image_url.detail: expected string",
        ),
        (with(r#""tools":{}"#), "tools: expected list"),
        (with(r#""tools":[5]"#), "tools[0]: expected object"),
        (with(r#""tools":[{"function":{}}]"#), "tools[0].type: expected string"),
        (with(r#""tools":[{"type":"function","function":{}}]"#), "tools[0].function.name: expected string"),
        (with(r#""tool_choice":5"#), "tool_choice: expected string or object"),
        (with(r#""stream":"yes""#), "stream: expected true or false"),
        (with(r#""stream":1"#), "stream: expected true or false"),
        (with(r#""stream_options":true"#), "stream_options: expected object"),
        (
            with(r#""stream_options":{"include_usage":"yes"}"#),
            "stream_options.include_usage: expected true or false",
        ),
        (with(r#""temperature":"hot""#), "temperature: expected number"),
        (with(r#""top_p":[1]"#), "top_p: expected number"),
        (with(r#""seed":"x""#), "seed: expected number"),
        (with(r#""stop":5"#), "stop: expected string or list of strings"),
        (with(r#""stop":["a",5]"#), "stop[1]: expected string"),
        (with(r#""logit_bias":[]"#), "logit_bias: expected object"),
        (with(r#""logprobs":"yes""#), "logprobs: expected true or false"),
        (with(r#""top_logprobs":1.5"#), "top_logprobs: expected whole number"),
        (with(r#""max_tokens":"many""#), "max_tokens: expected whole number"),
        (with(r#""max_tokens":0"#), "max_tokens: expected whole number from 1"),
        (with(r#""max_tokens":-1"#), "max_tokens: expected whole number"),
        (with(r#""max_completion_tokens":1e400"#), "max_completion_tokens: expected whole number"),
        (with(r#""response_format":"json""#), "response_format: expected object"),
        (with(r#""response_format":{}"#), "response_format.type: expected string"),
        (with(r#""reasoning_effort":3"#), "reasoning_effort: expected string"),
        (with(r#""user":5"#), "user: expected string"),
        (with(r#""metadata":[]"#), "metadata: expected object"),
        (with(r#""modalities":"text""#), "modalities: expected list"),
        (with(r#""parallel_tool_calls":"no""#), "parallel_tool_calls: expected true or false"),
        (with(r#""n":"1""#), "n: expected whole number"),
        (with(r#""n":0"#), "n: expected 1"),
        (with(r#""with":"alpha""#), "with: expected list of strings"),
        (with(r#""with":["alpha",5]"#), "with[1]: expected string"),
        (with(r#""bench":true"#), "bench: expected object"),
        (with(r#""bench":{"reply":"some"}"#), r#"bench.reply: expected "all", "merged" or "route""#),
        (with(r#""bench":{"reply":5}"#), r#"bench.reply: expected "all", "merged" or "route""#),
        (with(r#""bench":{"options":"yes"}"#), "bench.options: expected true or false"),
    ];
    for (body, wanted) in cases {
        let error = decode(&body).expect_err(&body);
        assert_eq!(error.message, wanted, "{body}");
        assert_eq!(error.kind.status(), 400, "{body}");
    }
    for url in [
        "",
        "ftp://h/i",
        "https://",
        "http:/h/i",
        "/i.png",
        "data:image/png,abc",
        "data:text/plain;base64,YQ==",
        "data:image/;base64,YQ==",
        "data:image/png;base64,",
        "https://h/a b",
        "file:///etc/passwd",
    ] {
        let body = part(&format!(r#"{{"type":"image_url","image_url":{{"url":"{url}"}}}}"#));
        let wanted = format!("messages[0].content[0].image_url.url: expected {image}");
        assert_eq!(decode(&body).expect_err(url).message, wanted, "{url}");
    }
}

#[test]
fn what_is_not_json_says_where() {
    let message =
        |body: &[u8]| format(Dialect::Chat).decode_request(body, &Route::default()).unwrap_err().message;
    assert_eq!(message(b""), "body: not JSON: EOF while parsing a value at line 1 column 0");
    assert_eq!(message(b"{\"messages\":["), "body: not JSON: EOF while parsing a list at line 1 column 13");
    assert!(message(b"{} {}").starts_with("body: not JSON: trailing characters"));
    assert_eq!(message(b"{\"model\":\"a\xFF\"}"), "body: not UTF-8 at byte 11");
}

#[test]
fn refusals_name_the_way_out() {
    for (fields, code, words) in [
        (r#""n":2"#, "one_choice", "leave n out"),
        (
            r#""functions":[{"name":"f"}]"#,
            "legacy_functions",
            "functions: the legacy function-calling fields are not taken; send tools",
        ),
        (
            r#""function_call":"auto""#,
            "legacy_functions",
            "function_call: the legacy function-calling fields are not taken; send tool_choice",
        ),
    ] {
        let error = decode(&with(fields)).unwrap_err();
        assert_eq!(error.code, code);
        assert!(error.message.contains(words), "{}", error.message);
    }
    let error = decode(&message(r#""role":"function","name":"f","content":"a""#)).unwrap_err();
    assert_eq!(
        error.message,
        "messages[1].role: the legacy function-calling fields are not taken; send the tool role instead"
    );
    let error = decode(&message(r#""role":"assistant","function_call":{"name":"f"}"#)).unwrap_err();
    assert_eq!(error.code, "legacy_functions");
    let error = read(&part(r#"{"type":"file","file":{"file_id":"f1"}}"#)).bound().unwrap();
    assert_eq!(
        error.message,
        "messages[0].content[0].file.file_id: no member can fetch an uploaded file; send its content as file_data"
    );
    assert!(decode(&with(r#""functions":[],"function_call":null"#)).is_ok());
}

#[test]
fn a_whole_request() {
    let request = read(
        r#"{"model":"bench/core:all","stream":true,"stream_options":{"include_usage":true},"with":["alpha"],
        "bench":{"reply":"merged","options":true,"more":1},"temperature":0.30,"user":"u","n":1,
        "messages":[{"role":"system","content":"be brief"},{"role":"developer","content":"be kind"},
        {"role":"user","name":"ann","content":[{"type":"text","text":"what"},{"type":"image_url","image_url":{"url":"HTTPS://h/i.png?q=1","detail":"high"}},
        {"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}]},
        {"role":"assistant","content":null}]}"#,
    );
    assert_eq!(request.model, "bench/core:all");
    assert!(request.stream && request.include_usage && request.bench.options);
    assert_eq!(request.with, ["alpha"]);
    assert_eq!(request.bench.reply, Some(ReplyMode::Merged));
    assert_eq!(request.sampling.fields[0].1.get(), "0.30");
    assert_eq!(request.system_text(), "be brief\n\nbe kind");
    assert_eq!(request.last_user_text(), "what");
    assert_eq!(
        request.images().map(|image| &image.source).collect::<Vec<_>>(),
        [&Source::Url("HTTPS://h/i.png?q=1".to_owned())]
    );
    assert_eq!(request.tool_use(), None);
    let extra: Vec<(&str, &str)> =
        request.extra.iter().map(|(name, raw)| (name.as_str(), raw.get())).collect();
    assert_eq!(extra, [("bench.more", "1")]);
    assert_eq!(request.metadata.user.as_deref(), Some("u"));
    assert_eq!(request.messages[2].name.as_deref(), Some("ann"));
    assert_eq!(request.messages[3].role, Role::Assistant);
    assert!(request.messages[3].parts.is_empty());
    assert_eq!(decode(&with(r#""stream":null"#)).unwrap().model, "");
}

#[test]
fn tools_are_seen() {
    for (body, place) in [
        (with(r#""tools":[{"type":"function","function":{"name":"f"}}]"#), "tools"),
        (with(r#""tools":[{"type":"custom","custom":{"name":"f"}}]"#), "tools"),
        (
            message(
                r#""role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]"#,
            ),
            "messages[1].tool_calls[0]",
        ),
        (message(r#""role":"tool","tool_call_id":"a","content":"x""#), "messages[1].content"),
    ] {
        assert_eq!(read(&body).tool_use().as_deref(), Some(place), "{body}");
    }
    for body in [
        with(r#""tools":[]"#),
        with(r#""tools":null,"tool_choice":"none""#),
        message(r#""role":"assistant","content":"a","tool_calls":[]"#),
    ] {
        assert_eq!(read(&body).tool_use(), None, "{body}");
    }
}

#[test]
fn of_duplicate_keys_the_last_wins() {
    let request = read(
        r#"{"model":"a","x":1,"messages":[{"role":"user","content":"a"}],"model":"b","x":2,"y":3,"messages":[{"role":"user","role":"assistant","content":"c","content":"d"}]}"#,
    );
    assert_eq!(request.model, "b");
    assert_eq!(request.messages.len(), 1);
    assert_eq!(request.messages[0].role, Role::Assistant);
    assert_eq!(request.messages[0].text(), "d");
    let extra: Vec<(&str, &str)> =
        request.extra.iter().map(|(name, raw)| (name.as_str(), raw.get())).collect();
    assert_eq!(extra, [("x", "2"), ("y", "3")]);
}

#[test]
fn a_field_of_depth_is_kept_and_costs_no_stack() {
    let deep = "[".repeat(200_000) + &"]".repeat(200_000);
    let request = read(&with(&format!(r#""deep":{deep}"#)));
    assert_eq!(request.extra[0].1.get(), deep);
    assert!(decode(&with(&format!(r#""with":{deep}"#))).is_err());
}

#[test]
fn many_keys_and_many_messages_are_read() {
    let keys: String = (0..100_000).map(|n| format!(r#""k{n}":{n},"#)).collect();
    assert_eq!(read(&with(&format!(r#"{keys}"last":1"#))).extra.len(), 100_001);
    let messages = vec![r#"{"role":"user","content":[{"type":"text","text":"a"}]}"#; 50_000].join(",");
    let request = read(&format!(r#"{{"messages":[{messages}]}}"#));
    assert_eq!(request.messages.len(), 50_000);
    assert_eq!(estimate_tokens(&request), 13_750);
}

#[test]
fn a_byte_order_mark_and_an_image_url_as_a_string_are_taken() {
    let request = read(
        "\u{feff}{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":\"https://h/i\"}]}]}",
    );
    let image = Image { source: Source::Url("https://h/i".to_owned()), detail: None };
    assert_eq!(request.messages[0].parts, [Part::new(Content::Image(image))]);
}

/// A document of text is that text to every member, whatever way it was sent.
#[test]
fn documents_of_text() {
    let part = |kind: &str, data: &str| json!({"type": "file", "file": {"filename": "a.txt", "file_data": format!("data:{kind};base64,{data}")}});
    // "h\u{e9}llo\n", whole, in two lines and in the alphabet of URLs
    for (kind, data, text) in [
        ("text/plain", "aMOpbGxvCg==", Some("h\u{e9}llo\n")),
        ("text/markdown", "aMOp\nbGxvCg==", Some("h\u{e9}llo\n")),
        ("application/json", "e30", Some("{}")),
        ("text/plain", "Pz8_", Some("???")),
        // No text: bytes that are no UTF-8, no base64, another type.
        ("text/plain", "/w==", None),
        ("text/plain", "a", None),
        ("application/pdf", "JVBERi0=", None),
    ] {
        let body = json!({"messages": [{"role": "user", "content": [part(kind, data)]}]});
        let request = read(&body.to_string());
        assert_eq!(request.has_documents(), text.is_none(), "{kind} {data}");
        for dialect in Dialect::ALL.iter().filter(|dialect| format(**dialect).is_spoken_to_members()) {
            let rules = format(*dialect).rules();
            let sent = format(*dialect).encode_request(&request, &Target::default());
            let Some(text) = text else {
                assert_eq!(
                    rules.first_lacking(&request).is_some(),
                    !sent.notices.is_empty(),
                    "{dialect:?} {kind}"
                );
                continue;
            };
            assert_eq!((rules.first_lacking(&request), sent.notices.len()), (None, 0), "{dialect:?} {kind}");
            let text = serde_json::to_string(text).unwrap();
            let body = String::from_utf8_lossy(&sent.body);
            assert!(body.contains(text.trim_matches('"')), "{dialect:?} {kind}: {body}");
        }
    }
}

#[test]
fn a_number_past_any_is_json_wherever_it_stands() {
    assert_eq!(read(&with(r#""x":[1e999]"#)).extra[0].1.get(), "[1e999]");
    let told = wire::json_value(br#"{"note":1e999}"#).unwrap_err();
    assert_eq!(
        (told.code, told.message.as_str()),
        ("invalid_value", "body: number out of range at line 1 column 13")
    );
}
