//! What a member says and what a caller is told.

use std::time::Duration;

use serde_json::{Value, json};
use wire::{
    ApiError, CallStart, Dialect, Event, Finish, Form, Kind, Member, Origin, Reply, ReplyHead, Seal, Silence,
    Target, Usage, format,
};

use super::{asked, routed};
use crate::support::{decode_as_cut_everywhere, render};

fn head(form: Form) -> ReplyHead {
    ReplyHead { id: "p1".to_owned(), model: "bench/core".to_owned(), form, ..ReplyHead::default() }
}

fn events(body: &str) -> String {
    render(&decode_as_cut_everywhere(Dialect::Gemini, body.as_bytes()))
}

fn data(value: &Value) -> String {
    format!("data: {value}\r\n\r\n")
}

#[test]
fn a_stream_of_everything() {
    let chunk = |parts: Value| {
        json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}],
        "modelVersion": "gemini-x"})
    };
    let mut body = data(&chunk(json!([{"text": "hm", "thought": true}])));
    body += &data(&chunk(json!([{"text": "北京"}, {"executableCode": {"code": "1"}}])));
    body +=
        &data(&chunk(json!([{"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "sig"}])));
    body += &data(&chunk(json!([{"functionCall": {"id": "own", "name": "g"}}])));
    body += &data(&chunk(json!([{"inlineData": {"mimeType": "image/png", "data": "iVBO"}}])));
    body += &data(&json!({"candidates": [{"content": {"parts": [{"text": "", "thoughtSignature": "end"}]},
        "finishReason": "STOP", "groundingMetadata": {"q": 1}}],
        "usageMetadata": {"promptTokenCount": 10, "cachedContentTokenCount": 4, "candidatesTokenCount": 3,
            "thoughtsTokenCount": 2, "toolUsePromptTokenCount": 5, "totalTokenCount": 20}}));
    assert_eq!(
        events(&body),
        r#"model gemini-x
thinking "hm"
text "北京"
vendor executableCode {"executableCode":{"code":"1"}}
call 0 "call_0" f signature "sig"
arguments 0 "{\"a\":1}"
end 0
call 1 "own" g
arguments 1 "{}"
end 1
image image/png "iVBO"
usage in=15 out=5 reasoning=2 cache_read=4
signature "end"
vendor groundingMetadata {"q":1}
finish tool_calls
"#
    );
    // The same as one array, and as one whole reply a line.
    let array = body.replace("data: ", "").trim_end().replace("\r\n\r\n", ",\n");
    assert_eq!(events(&format!("[{array}]")), events(&body));
    let cut = format!("[{array}");
    assert!(events(&cut).ends_with("error Network: the reply's JSON broke off\n"), "{}", events(&cut));
}

#[test]
fn finish_reasons_and_faults() {
    let ended = |reason: &str| {
        let value = json!({"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": reason,
            "finishMessage": "because"}]});
        events(&data(&value)).lines().last().unwrap().to_owned()
    };
    for (reason, told) in [
        ("STOP", "finish stop"),
        ("OTHER", "finish stop"),
        ("MAX_TOKENS", "finish length"),
        ("SAFETY", "finish content_filter"),
        ("RECITATION", "finish content_filter"),
        ("PROHIBITED_CONTENT", "finish content_filter"),
        (
            "MALFORMED_FUNCTION_CALL",
            "error Other: the provider ended the answer with MALFORMED_FUNCTION_CALL: because",
        ),
    ] {
        assert_eq!(ended(reason), told, "{reason}");
    }
    let blocked =
        json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}});
    assert_eq!(events(&data(&blocked)), "usage in=3\nfinish content_filter\n");
    assert_eq!(events(&blocked.to_string()), "usage in=3\nfinish content_filter\n");
    let unended = json!({"candidates": [{"content": {"parts": [{"text": "x"}]}}]});
    assert_eq!(events(&data(&unended)), "text \"x\"\nerror Network: the stream ended before its end mark\n");
    let failed =
        json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}});
    let told = "text \"x\"\nerror Capacity: The model is overloaded.\n";
    assert_eq!(events(&(data(&unended) + &data(&failed))), told);
    assert_eq!(events(&format!("[{unended},{failed}]")), told);
}

#[test]
fn a_failure_is_read_with_its_wait() {
    let body = json!([{"error": {"code": 429, "message": "Resource exhausted", "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}]}}]);
    let error = format(Dialect::Gemini).decode_error(429, "application/json", body.to_string().as_bytes());
    assert_eq!(error.class, wire::Class::Capacity);
    assert_eq!(error.message, "Resource exhausted");
    assert_eq!(error.retry_after, Some(Duration::from_millis(34_500)));
}

#[test]
fn errors_in_googles_shape() {
    let mut error = ApiError::new(Kind::RateLimit, Origin::Upstream, "no_answer", "Wait.");
    error.retry_after = Some(Duration::from_millis(1_500));
    let written = format(Dialect::Gemini).encode_error(&error, "r1", Some(&json!({"panel": "p"})));
    assert_eq!(
        String::from_utf8(written).unwrap(),
        r#"{"error":{"code":429,"message":"Wait.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2s"}]},"bench":{"panel":"p"}}"#
    );
    for (kind, status) in [
        (Kind::InvalidRequest, "INVALID_ARGUMENT"),
        (Kind::Authentication, "UNAUTHENTICATED"),
        (Kind::Permission, "PERMISSION_DENIED"),
        (Kind::NotFound, "NOT_FOUND"),
        (Kind::Upstream, "UNAVAILABLE"),
        (Kind::Internal, "INTERNAL"),
    ] {
        let error = ApiError::new(kind, Origin::Gateway, "x", "No.");
        let written = format(Dialect::Gemini).encode_error(&error, "r1", None);
        let value: Value = serde_json::from_slice(&written).unwrap();
        assert_eq!(value["error"]["status"], status);
        assert_eq!(value["error"]["code"], kind.status());
    }
}

fn answer() -> Vec<Event> {
    let sealed = |data: &str| Seal { data: data.to_owned(), origin: Some(Member(7)) };
    let start = |index: usize, id: &str| CallStart {
        index,
        id: id.to_owned(),
        name: format!("f{index}"),
        signature: (index == 0).then(|| sealed("call-sig")),
        ..CallStart::default()
    };
    let arguments = |index, delta: &str| Event::CallArguments { index, delta: delta.to_owned() };
    vec![
        Event::Thinking("hm".to_owned()),
        Event::ThinkingSignature(sealed("s.1")),
        Event::Text("hi".to_owned()),
        Event::CallStart(start(0, "a")),
        arguments(0, "{\"x\""),
        Event::CallStart(start(1, "b")),
        arguments(1, "{}"),
        arguments(0, ":1}"),
        Event::CallEnd { index: 1 },
        Event::CallEnd { index: 0 },
        Event::CallStart(start(2, "cut")),
        arguments(2, "{\"y"),
        Event::Usage(Usage { input: Some(7), output: Some(5), reasoning: Some(2), ..Usage::default() }),
        Event::Finish { reason: Finish::Length, inferred: false },
    ]
}

#[test]
fn a_stream_is_events_or_an_array() {
    let bench = json!({"panel": "p"});
    let written = |form| {
        let mut encoder = format(Dialect::Gemini).encoder(head(form));
        let mut out = encoder.keep_alive(Silence::Short);
        out.extend(answer().iter().flat_map(|event| encoder.event(event)));
        out.extend(encoder.finish(Usage::default(), Some(&bench)));
        String::from_utf8(out).unwrap()
    };
    let array: Vec<Value> = serde_json::from_str(&written(Form::Array)).unwrap();
    let stream = written(Form::Events);
    let chunks: Vec<Value> = stream
        .split("\n\n")
        .filter(|frame| !frame.is_empty())
        .map(|frame| serde_json::from_str(frame.strip_prefix("data: ").unwrap()).unwrap())
        .collect();
    assert_eq!(array, chunks);
    let parts: Vec<&Value> =
        chunks.iter().map(|chunk| &chunk["candidates"][0]["content"]["parts"][0]).collect();
    // `thoughtSignature` is bytes: base64 of our mark, the maker and the seal.
    assert_eq!(parts[0], &json!({"text": ""}), "the keep-alive");
    assert_eq!(parts[1], &json!({"text": "hm", "thought": true}));
    assert_eq!(
        parts[2],
        &json!({"text": "", "thoughtSignature": "YncxLjAwMDAwMDAwMDAwMDAwMDcucy4x", "thought": true})
    );
    assert_eq!(parts[3], &json!({"text": "hi"}));
    assert_eq!(parts[4], &json!({"functionCall": {"id": "b", "name": "f1", "args": {}}}));
    assert_eq!(parts[5]["functionCall"], json!({"id": "a", "name": "f0", "args": {"x": 1}}));
    assert_eq!(chunks.len(), 7, "a call that was cut off is not told");
    assert_eq!(
        chunks[6],
        json!({
            "candidates": [{"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": "MAX_TOKENS", "index": 0}],
            "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3, "thoughtsTokenCount": 2, "totalTokenCount": 12},
            "modelVersion": "bench/core", "responseId": "p1", "bench": {"panel": "p"}
        })
    );
}

#[test]
fn a_whole_reply_has_no_room_for_bench() {
    let reply = Reply::from_events(&answer());
    let bench = json!({"panel": "p"});
    let body = format(Dialect::Gemini).encode_reply(&head(Form::Usual), &reply, Some(&bench));
    let value: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(value.get("bench"), None);
    let candidate = &value["candidates"][0];
    assert_eq!(candidate["finishReason"], "MAX_TOKENS");
    let parts = candidate["content"]["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 4);
    assert_eq!(parts[0]["thought"], true);
    assert_eq!(parts[0]["thoughtSignature"], "YncxLjAwMDAwMDAwMDAwMDAwMDcucy4x");
    // What the caller hands back is the member's own again, and only its.
    let again = json!({"contents": [
        {"role": "user", "parts": [{"text": "q"}]}, candidate["content"],
        {"role": "user", "parts": [{"functionResponse": {"id": "a", "name": "f0", "response": {"output": "1"}}},
            {"functionResponse": {"id": "b", "name": "f1", "response": {"output": "2"}}}]}
    ]});
    let (body, _) = asked(Dialect::Gemini, &again, &Target { member: Member(7), ..routed() });
    assert_eq!(
        body["contents"][1]["parts"][0],
        json!({"text": "hm", "thought": true, "thoughtSignature": "s.1"})
    );
    assert_eq!(body["contents"][1]["parts"][2]["thoughtSignature"], "call-sig");
    let (body, lost) = asked(Dialect::Gemini, &again, &Target { member: Member(8), ..routed() });
    assert_eq!(body["contents"][1]["parts"][0], json!({"text": "hi"}));
    assert_eq!(body["contents"][1]["parts"][1]["thoughtSignature"], "skip_thought_signature_validator");
    assert_eq!(
        lost,
        [
            "contents[1].parts[0]=reasoning signed by another member",
            "contents[1].parts[2]=goes without its signature, which only its maker can read"
        ]
    );
}

#[test]
fn an_error_after_the_head() {
    let error = ApiError::new(Kind::Upstream, Origin::Upstream, "no_answer", "All failed.");
    for (form, expected) in [
        (
            Form::Events,
            "data: {\"error\":{\"code\":502,\"message\":\"All failed.\",\"status\":\"UNAVAILABLE\"}}\n\n",
        ),
        (Form::Array, "[{\"error\":{\"code\":502,\"message\":\"All failed.\",\"status\":\"UNAVAILABLE\"}}]"),
    ] {
        let written = format(Dialect::Gemini).encoder(head(form)).error(&error, None);
        assert_eq!(String::from_utf8(written).unwrap(), expected);
    }
    assert_eq!(format(Dialect::Gemini).stream_type(Form::Array), "application/json");
    assert_eq!(format(Dialect::Gemini).stream_type(Form::Events), "text/event-stream");
}

#[test]
fn sealed_reasoning_without_words_goes_round_and_comes_back() {
    let redacted = |origin| Event::Redacted {
        seal: Seal { data: "gAAA".to_owned(), origin: Some(Member(origin)) },
        id: Some("rs_1".to_owned()),
    };
    let said =
        [redacted(7), Event::Text("hi".to_owned()), Event::Finish { reason: Finish::Stop, inferred: false }];
    let body = format(Dialect::Gemini).encode_reply(&head(Form::Usual), &Reply::from_events(&said), None);
    let content = serde_json::from_slice::<Value>(&body).unwrap()["candidates"][0]["content"].clone();
    let mut encoder = format(Dialect::Gemini).encoder(head(Form::Array));
    let chunk = encoder.event(&said[0]);
    let chunk: Value = serde_json::from_slice(&[chunk.as_slice(), b"]"].concat()).unwrap();
    assert_eq!(chunk[0]["candidates"][0]["content"]["parts"][0], content["parts"][0]);
    let again = json!({"contents": [{"role": "user", "parts": [{"text": "q"}]}, content]});
    let request = super::read(&again).unwrap();
    let expected = wire::Content::Redacted {
        seal: Seal { data: "gAAA".to_owned(), origin: Some(Member(7)) },
        id: Some("rs_1".to_owned()),
    };
    assert_eq!(request.messages[1].parts[0].content, expected);
}

#[test]
fn a_relay_gives_marked_signatures_to_their_maker_only() {
    let reply = Reply::from_events(&answer());
    let body = format(Dialect::Gemini).encode_reply(&head(Form::Usual), &reply, None);
    let content = serde_json::from_slice::<Value>(&body).unwrap()["candidates"][0]["content"].clone();
    let again = json!({"contents": [{"role": "user", "parts": [{"text": "q"}]}, content]}).to_string();
    let request = super::read(&serde_json::from_str(&again).unwrap()).unwrap();
    let relayed = |member| {
        let target = Target { member: Member(member), ..routed() };
        let relayed = format(Dialect::Gemini).relay_request(again.as_bytes(), &request, &target).unwrap();
        let value: Value = serde_json::from_slice(&relayed.body).unwrap();
        let parts = &value["contents"][1]["parts"];
        (parts[0]["thoughtSignature"].clone(), parts[2]["thoughtSignature"].clone())
    };
    assert_eq!(relayed(7), (json!("s.1"), json!("call-sig")));
    let skip = json!("skip_thought_signature_validator");
    assert_eq!(relayed(8), (skip.clone(), skip));
}
