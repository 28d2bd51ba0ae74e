//! Replies both ways: what callers get, what members' bodies mean.

use std::time::Duration;

use serde_json::{Value, json};
use wire::{
    ApiError, Dialect, Event, Kind, Limits, ModelEntry, ModelList, Origin, Reply, ReplyHead, ReplyMode,
    Route, Silence, Target, Together, Usage, format, quota_notice,
};

use crate::{
    decode,
    support::{decode_cut_everywhere, render},
};

fn head() -> ReplyHead {
    ReplyHead { id: "1".to_owned(), created: 7, model: "bench/x".to_owned(), ..ReplyHead::default() }
}

fn value(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn a_whole_reply() {
    let usage = Usage {
        input: Some(10),
        output: Some(5),
        reasoning: Some(2),
        cache_read: Some(4),
        cache_write: None,
    };
    let reply = format(Dialect::Chat).encode_reply(
        &head(),
        &Reply::of_text("a\n\"b\"", usage),
        Some(&json!({"panel": "p1"})),
    );
    assert_eq!(
        String::from_utf8(reply.clone()).unwrap(),
        concat!(
            r#"{"id":"chatcmpl-1","object":"chat.completion","created":7,"model":"bench/x","choices":[{"index":0,"#,
            r#""message":{"role":"assistant","content":"a\n\"b\"","refusal":null},"logprobs":null,"#,
            r#""finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"#,
            r#""prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}},"#,
            r#""bench":{"panel":"p1"}}"#
        )
    );
    // What we write for a caller is what we read from a member.
    assert_eq!(
        render(&format(Dialect::Chat).decode_reply(&reply)),
        "model bench/x\ntext \"a\\n\\\"b\\\"\"\nusage in=10 out=5 reasoning=2 cache_read=4\nfinish stop\n"
    );
}

#[test]
fn a_streamed_reply_reads_back() {
    let mut encoder = format(Dialect::Chat).encoder(ReplyHead { include_usage: true, ..head() });
    let mut stream = encoder.keep_alive(Silence::Short);
    for piece in ["## member — alpha\n\n", "北京🌍\0"] {
        stream.extend(encoder.text(piece));
    }
    stream.extend(encoder.keep_alive(Silence::Short));
    let usage = Usage { input: Some(1), output: Some(2), ..Usage::default() };
    stream.extend(encoder.finish(usage, Some(&json!({"panel": "p1"}))));
    assert_eq!(
        render(&decode_cut_everywhere(&stream)),
        "model bench/x\ntext \"## member — alpha\\n\\n\"\ntext \"北京🌍\\0\"\nusage in=1 out=2\nfinish stop\n"
    );
    let text = String::from_utf8(stream).unwrap();
    assert_eq!(text.matches("\"role\"").count(), 1);
    assert_eq!(text.matches("\"bench\":{\"panel\":\"p1\"}").count(), 1);
    let finish = text.lines().find(|line| line.contains("\"stop\"")).unwrap();
    assert!(finish.ends_with(r#""finish_reason":"stop"}],"bench":{"panel":"p1"}}"#), "{finish}");
    assert!(text.ends_with("data: [DONE]\n\n"));
}

#[test]
fn a_reply_without_a_word_still_has_its_role() {
    let mut encoder = format(Dialect::Chat).encoder(head());
    let stream = String::from_utf8(encoder.finish(Usage::default(), None)).unwrap();
    assert!(stream.contains(r#""delta":{"role":"assistant","content":""}"#), "{stream}");
    assert_eq!(stream.matches("data: ").count(), 3);
}

#[test]
fn errors_in_chats_shape() {
    let types = [
        (Kind::InvalidRequest, "invalid_request_error"),
        (Kind::Authentication, "authentication_error"),
        (Kind::Permission, "permission_error"),
        (Kind::NotFound, "not_found_error"),
        (Kind::MethodNotAllowed, "invalid_request_error"),
        (Kind::Timeout, "invalid_request_error"),
        (Kind::TooLarge, "invalid_request_error"),
        (Kind::UnsupportedMediaType, "invalid_request_error"),
        (Kind::HeadTooLarge, "invalid_request_error"),
        (Kind::RateLimit, "rate_limit_error"),
        (Kind::Internal, "server_error"),
        (Kind::NotImplemented, "server_error"),
        (Kind::Upstream, "server_error"),
        (Kind::Unavailable, "server_error"),
    ];
    for (kind, word) in types {
        let error = ApiError::new(kind, Origin::Gateway, "a_code", "words");
        let body = value(&format(Dialect::Chat).encode_error(&error, "r1", None));
        assert_eq!(body["error"]["type"], word, "{kind:?}");
        assert_eq!(body["error"]["code"], "a_code");
        assert_eq!(body["error"]["param"], Value::Null);
        let told = body["error"]["message"].as_str().unwrap();
        assert_eq!(told, if kind == Kind::Internal { "words (request r1)" } else { "words" });
        assert!(body.get("bench").is_none());
    }
    let error = ApiError::new(Kind::Unavailable, Origin::Gateway, "overloaded", "too many panels run");
    let body = value(&format(Dialect::Chat).encode_error(&error, "r1", Some(&json!({"panel": "p"}))));
    assert_eq!(body["error"]["type"], "overloaded_error");
    assert_eq!(body["bench"]["panel"], "p");
}

#[test]
fn a_plain_reply_that_came_as_events_is_put_together() {
    let stream = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    assert_eq!(render(&format(Dialect::Chat).decode_reply(stream)), "text \"a\"\ntext \"b\"\nfinish stop\n");
}

/// `data:` frames of one delta each, then `[DONE]`.
fn deltas(deltas: &[&str]) -> String {
    let frames: String = deltas
        .iter()
        .map(|delta| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n"))
        .collect();
    frames + "data: [DONE]\n\n"
}

#[test]
fn content_in_every_form() {
    for (delta, wanted) in [
        (r#"{"content":["a",{"type":"text","text":"b"},null,5]}"#, "text \"a\"\ntext \"b\"\n"),
        (r#"{"content":{"type":"text","text":"a"}}"#, "text \"a\"\n"),
        (
            r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"t"}]},{"type":"text","text":"a"}]}"#,
            "thinking \"t\"\ntext \"a\"\n",
        ),
        (r#"{"refusal":"no"}"#, "refusal \"no\"\n"),
        (r#"{"content":5}"#, ""),
        (r#"{"reasoning_content":"t","content":"a"}"#, "thinking \"t\"\ntext \"a\"\n"),
        (r#"{"reasoning_content":"","reasoning":"t"}"#, "thinking \"t\"\n"),
        (r#"null"#, ""),
    ] {
        let events = render(&decode_cut_everywhere(deltas(&[delta]).as_bytes()));
        assert_eq!(events, format!("{wanted}finish stop (inferred)\n"), "{delta}");
    }
}

#[test]
fn ends_in_every_form() {
    for (reason, wanted) in [
        ("stop", "stop"),
        ("length", "length"),
        ("MAX_TOKENS", "length"),
        ("content_filter", "content_filter"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("eos", "stop"),
    ] {
        let body = format!(r#"{{"choices":[{{"message":{{"content":"a"}},"finish_reason":"{reason}"}}]}}"#);
        assert_eq!(render(&decode([body.as_bytes()])), format!("text \"a\"\nfinish {wanted}\n"));
    }
}

#[test]
fn one_choice_is_followed_and_a_closing_message_is_no_repeat() {
    let two = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}},{\"index\":1,\"delta\":{\"content\":\"x\"}}]}\n\n\
               data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"y\"}}]}\n\n\
               data: {\"choices\":[{\"index\":0,\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n";
    assert_eq!(render(&decode_cut_everywhere(two.as_bytes())), "text \"a\"\nfinish stop\n");
}

#[test]
fn the_last_event_needs_no_blank_line_if_it_is_whole() {
    let said = r#"data: {"choices":[{"delta":{"content":"a"}}]}"#;
    assert_eq!(
        render(&decode_cut_everywhere(format!("{said}\n\ndata: [DONE]").as_bytes())),
        "text \"a\"\nfinish stop (inferred)\n"
    );
    let finished = r#"data: {"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}"#;
    assert_eq!(
        render(&decode_cut_everywhere(format!("{said}\n\n{finished}").as_bytes())),
        "text \"a\"\ntext \"b\"\nfinish stop\n"
    );
    assert_eq!(
        render(&decode_cut_everywhere(said.as_bytes())),
        "text \"a\"\nerror Network: the stream ended before its end mark\n"
    );
}

#[test]
fn a_byte_order_mark_hides_nothing() {
    let whole = r#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}"#;
    for body in [
        format!("\u{feff}{whole}"),
        format!("\u{feff}data: {whole}\n\n"),
        format!("\n\u{feff} {whole}"),
        format!("\u{feff}\u{feff}{whole}"),
    ] {
        assert_eq!(render(&decode_cut_everywhere(body.as_bytes())), "text \"a\"\nfinish stop\n", "{body:?}");
    }
}

#[test]
fn bodies_that_are_no_reply() {
    for (body, wanted) in [
        ("{}", "error Other: {}"),
        ("[]", "error Other: []"),
        (r#"{"detail":"Not Found"}"#, "error Other: Not Found"),
        (r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, "error Other: body: field required"),
        (
            r#"{"object":"error","message":"The model `x` does not exist.","type":"NotFoundError","code":404}"#,
            "error NotFound: The model `x` does not exist.",
        ),
        (
            r#"{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"},"choices":null}"#,
            "error Paywalled: insufficient balance",
        ),
        (r#"{"error":true}"#, r#"error Other: {"error":true}"#),
        ("{\"choices\": oops}", "error Other: the reply is not JSON"),
        ("[DONE]", "error Other: the reply is not JSON"),
        ("Internal Server Error", "error Other: Internal Server Error"),
        ("   ", "error Network: the reply ended before anything came"),
        (
            "<html>",
            "error Other: an HTML page where an answer should be: no title; check the endpoint's base URL",
        ),
        ("dat", "error Network: the stream ended before its end mark"),
    ] {
        assert_eq!(render(&decode_cut_everywhere(body.as_bytes())), format!("{wanted}\n"), "{body}");
    }
}

#[test]
fn a_reply_over_the_cap_is_an_error_and_the_last_event() {
    let said = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    let filler = vec![b'x'; 1024 * 1024];
    let mut decoder = format(Dialect::Chat).decoder();
    let mut events = Vec::new();
    decoder.push(said.as_bytes(), &mut events);
    decoder.push(b"data: ", &mut events);
    for _ in 0..40 {
        decoder.push(&filler, &mut events);
    }
    decoder.push(b"\n\ndata: [DONE]\n\n", &mut events);
    decoder.end(&mut events);
    assert_eq!(render(&events), "text \"a\"\nerror Other: the reply is over 32 MiB\n");
}

#[test]
fn frames_that_could_not_be_read_are_counted() {
    let mut decoder = format(Dialect::Chat).decoder();
    let mut events: Vec<Event> = Vec::new();
    decoder.push(b"data: {oops\n\n", &mut events);
    assert_eq!((decoder.skipped(), events.len()), (1, 0));
    decoder.push(b"data: [DONE]\n\n", &mut events);
    assert_eq!((decoder.skipped(), events.len()), (1, 1), "after the end too");
}

#[test]
fn a_named_event_of_the_answer_that_cannot_be_read_is_missing_from_it() {
    for (dialect, own) in
        [(Dialect::Anthropic, "content_block_delta"), (Dialect::Responses, "response.output_text.delta")]
    {
        let read = |event: &str, times: usize| {
            let mut decoder = format(dialect).decoder();
            let mut events: Vec<Event> = Vec::new();
            let frame = format!("event: {event}\ndata: {{oops\n\n");
            decoder.push(frame.repeat(times).as_bytes(), &mut events);
            (decoder.skipped(), render(&events))
        };
        assert_eq!(read(own, 1), (1, String::new()), "{dialect:?}");
        let fault = "error Other: 2 events of the stream could not be read as JSON\n".to_owned();
        assert_eq!(read(own, 2), (2, fault), "{dialect:?}");
        assert_eq!(read("private.event", 2), (0, String::new()), "{dialect:?}: it may hold anything");
    }
}

#[test]
fn the_owners_options_go_in_and_the_callers_over_them() {
    let options = json!({"max_completion_tokens": 4096, "temperature": 0.2, "extra_body": {"z": 1, "a": 2}, "stream": false});
    let Value::Object(options) = options else { unreachable!() };
    let target = Target { served: "vendor/alpha-1".to_owned(), options, ..Target::default() };
    let body = |client: &str| {
        let request = format(Dialect::Chat).decode_request(client.as_bytes(), &Route::default()).unwrap();
        let encoded = format(Dialect::Chat).encode_request(&request, &target);
        assert_eq!(encoded.path, "/chat/completions");
        assert_eq!(encoded.notices[encoded.notices.len() - 1].field, "options.stream");
        String::from_utf8(encoded.body).unwrap()
    };
    let start = r#"{"model":"vendor/alpha-1","messages":[{"role":"user","content":"a"}],"stream":true,"stream_options":{"include_usage":true},"#;
    assert_eq!(
        body(r#"{"temperature":1,"max_tokens":9,"messages":[{"role":"user","content":"a"}]}"#),
        format!(r#"{start}"max_completion_tokens":4096,"temperature":0.2,"extra_body":{{"z":1,"a":2}}}}"#)
    );
    assert_eq!(
        body(
            r#"{"bench":{"options":true},"temperature":1,"max_tokens":9,"top_p":0.5,"messages":[{"role":"user","content":"a"}]}"#
        ),
        format!(
            r#"{start}"max_completion_tokens":9,"temperature":1,"extra_body":{{"z":1,"a":2}},"top_p":0.5}}"#
        )
    );
}

#[test]
fn the_list_of_models() {
    let entry = ModelEntry {
        id: "bench/core".to_owned(),
        created: 7,
        description: "d".to_owned(),
        tags: vec!["t".to_owned()],
        members: vec!["alpha".to_owned()],
        shape: None,
        explorers: 1,
        reply: ReplyMode::All,
        merger: None,
        together: Together {
            context_window: Some(8192),
            context_unknown: vec!["beta".to_owned()],
            capabilities: vec!["tools".to_owned()],
            connections: vec!["fake".to_owned()],
            limits: Limits { rpm: Some(20), ..Limits::default() },
        },
    };
    let one = concat!(
        r#"{"id":"bench/core","object":"model","created":7,"owned_by":"benchwarmers","description":"d","tags":["t"],"#,
        r#""members":["alpha"],"shape":null,"explorers":1,"reply":"all","merger":null,"together":{"context_window":8192,"#,
        r#""context_unknown":["beta"],"capabilities":["tools"],"connections":["fake"],"#,
        r#""limits":{"rpm":20,"rpd":null,"tpm":null,"tpd":null}}}"#
    );
    assert_eq!(String::from_utf8(entry.encode()).unwrap(), one);
    let list = ModelList { entries: vec![entry] }.encode();
    assert_eq!(String::from_utf8(list).unwrap(), format!(r#"{{"object":"list","data":[{one}]}}"#));
}

#[test]
fn quota_notices_are_told_from_answers() {
    for notice in [
        "You have exceeded your daily quota. Please try again tomorrow.",
        "You've reached your usage limit for GPT-4.",
        "You’ve hit your limit · resets 3pm",
        "Insufficient credits. Please add credits to your account to continue.",
        "Rate limit exceeded, please try again in 20 seconds.",
        "Sorry, you have run out of credits.",
        "Daily limit reached.",
        "Your free trial has ended.",
    ] {
        assert!(quota_notice(notice), "{notice}");
    }
    for answer in [
        "",
        "4",
        "A 429 means that the rate limit was exceeded: wait, then retry.",
        "The limit of 1/x as x grows is 0.",
        "Quotas limit imports; the credit market is another matter.",
        "HTTP 402 Payment Required is reserved for future use.",
    ] {
        assert!(!quota_notice(answer), "{answer}");
    }
    assert!(!quota_notice(&format!("You have exceeded your quota. {}", "x".repeat(400))));
}

#[test]
fn a_wait_of_ours_is_rounded_up() {
    assert_eq!(wire::wait::whole_seconds(Duration::from_millis(1)), 1);
    assert_eq!(wire::wait::whole_seconds(Duration::from_secs(2)), 2);
    for (seconds, words) in [
        (0, "1 s"),
        (40, "40 s"),
        (119, "119 s"),
        (120, "2 min"),
        (7_199, "120 min"),
        (7_200, "2 h"),
        (86_400, "24 h"),
        (86_401, "more than a day"),
        (2_303_661_291, "more than a day"),
    ] {
        assert_eq!(wire::wait::in_words(Duration::from_secs(seconds)), words);
    }
}

#[test]
fn a_provider_that_falls_silent_after_its_finish_reason_has_finished() {
    let mut decoder = format(Dialect::Chat).decoder();
    let mut events: Vec<Event> = Vec::new();
    decoder.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", &mut events);
    assert!(!decoder.may_end());
    decoder.push(b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n", &mut events);
    assert!(decoder.may_end());
    assert_eq!(render(&events), "text \"a\"\n");
    decoder.end(&mut events);
    assert_eq!(render(&events), "text \"a\"\nfinish stop\n");
}

#[test]
fn tokens_are_estimated_by_characters_and_images() {
    let body = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"北京12"},{"type":"image_url","image_url":{"url":"https://h/i"}}]}]}"#;
    let request = format(Dialect::Chat).decode_request(body.as_bytes(), &Route::default()).unwrap();
    assert_eq!(wire::estimate_tokens(&request), 2 + 2_500);
    assert_eq!(wire::estimate_text_tokens(&"x".repeat(40)), 11);
    assert_eq!(wire::estimate_text_tokens(""), 0);
}
