//! The legacy completions dialect.

use serde_json::{Value, json};
use wire::{ApiError, Dialect, Event, Finish, Kind, Reply, ReplyHead, Request, Route, Usage, format};

fn read(body: &Value) -> Result<Request, ApiError> {
    format(Dialect::Completions).decode_request(body.to_string().as_bytes(), &Route::default())
}

#[test]
fn one_prompt_is_one_user_turn() {
    for prompt in [json!("a\nb"), json!(["a\nb"])] {
        let request = read(&json!({"model": "bench/x", "prompt": prompt, "max_tokens": 9, "n": 1})).unwrap();
        assert_eq!(request.last_user_text(), "a\nb");
        assert_eq!(request.message_place(0), "prompt");
        assert_eq!((request.max_output, request.extra.len()), (Some(9), 0));
    }
}

#[test]
fn every_wrong_value_is_named_with_its_place() {
    for (body, wanted) in [
        (json!({}), "prompt: expected a string"),
        (json!({"prompt": null}), "prompt: expected a string"),
        (json!({"prompt": {}}), "prompt: expected string or a list of one string"),
        (json!({"prompt": []}), "prompt: the list is empty; send one string"),
        (
            json!({"prompt": ["a", "b"]}),
            "prompt: a reply answers one prompt; send each in a request of its own",
        ),
        (json!({"prompt": [1, 2]}), "prompt: no member shares its tokens with us; send the prompt as text"),
        (
            json!({"prompt": [[1], [2]]}),
            "prompt: no member shares its tokens with us; send the prompt as text",
        ),
        (json!({"prompt": [true]}), "prompt[0]: expected string"),
        (json!({"prompt": "a", "model": 1}), "model: expected string"),
        (json!({"prompt": "a", "stop": 1}), "stop: expected string or list of strings"),
        (json!({"prompt": "a", "stop": ["x", 1]}), "stop[1]: expected string"),
        (json!({"prompt": "a", "temperature": "hot"}), "temperature: expected number"),
        (json!({"prompt": "a", "logit_bias": []}), "logit_bias: expected object"),
        (json!({"prompt": "a", "max_tokens": 0}), "max_tokens: expected whole number from 1"),
        (json!({"prompt": "a", "stream": "yes"}), "stream: expected true or false"),
        (json!({"prompt": "a", "best_of": "x"}), "best_of: expected whole number"),
    ] {
        let error = read(&body).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (Kind::InvalidRequest, wanted), "{body}");
    }
    let error = read(&json!({"prompt": "a", "best_of": 2})).unwrap_err();
    assert!(error.message.starts_with("best_of: a reply holds one choice"), "{}", error.message);
}

#[test]
fn a_reply_whole_and_streamed() {
    let head =
        ReplyHead { id: "1".to_owned(), created: 7, model: "bench/x".to_owned(), ..ReplyHead::default() };
    let events = [
        Event::Thinking("hm".to_owned()),
        Event::Text("a".to_owned()),
        Event::Finish { reason: Finish::Length, inferred: false },
    ];
    let usage = Usage { input: Some(3), output: Some(2), ..Usage::default() };
    let bench = json!({"panel": "p"});
    let mut reply = Reply::from_events(&events);
    reply.usage = usage;
    let whole = format(Dialect::Completions).encode_reply(&head, &reply, Some(&bench));
    assert_eq!(
        String::from_utf8(whole).unwrap(),
        r#"{"id":"cmpl-1","object":"text_completion","created":7,"model":"bench/x","choices":[{"text":"a","index":0,"logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5},"bench":{"panel":"p"}}"#
    );
    let mut encoder = format(Dialect::Completions).encoder(head);
    let mut stream: Vec<u8> = events.iter().flat_map(|event| encoder.event(event)).collect();
    stream.extend(encoder.finish(usage, Some(&bench)));
    let head = r#"data: {"id":"cmpl-1","object":"text_completion","created":7,"model":"bench/x","choices":"#;
    let chunks = [
        r#"[{"text":"a","index":0,"logprobs":null,"finish_reason":null}]}"#,
        r#"[{"text":"","index":0,"logprobs":null,"finish_reason":"length"}],"bench":{"panel":"p"}}"#,
    ];
    let wanted: String = chunks.iter().map(|chunk| format!("{head}{chunk}\n\n")).collect();
    assert_eq!(String::from_utf8(stream).unwrap(), wanted + "data: [DONE]\n\n");
}

#[test]
fn no_member_is_asked_in_it() {
    let body = br#"{"model":"bench/x","prompt":"a"}"#;
    let request = format(Dialect::Completions).decode_request(body, &Route::default()).unwrap();
    assert!(!format(Dialect::Completions).is_spoken_to_members());
    let error =
        format(Dialect::Completions).relay_request(body, &request, &wire::Target::default()).unwrap_err();
    assert_eq!(error.kind, Kind::NotImplemented);
}
