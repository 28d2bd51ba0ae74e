//! What a chat caller is told of everything an answer can say, and what of it goes back.

use serde_json::{Value, json};
use wire::{
    CallKind, CallStart, Content, Dialect, Event, Finish, Member, Raw, Reply, ReplyHead, Restore, Route,
    Seal, Target, Thinking, Usage, format, relay::ModelName,
};

fn seal(data: &str) -> Seal {
    Seal { data: data.to_owned(), origin: Some(Member(1)) }
}

fn events() -> Vec<Event> {
    let citation = Raw::new(r#"{"type":"url_citation","z":1.0}"#.to_owned()).unwrap();
    vec![
        Event::Thinking("hm".to_owned()),
        Event::ThinkingSignature(seal("s==")),
        Event::Redacted { seal: seal("r=="), id: Some("rs_1".to_owned()) },
        Event::Text("a".to_owned()),
        Event::Vendor { dialect: Dialect::Chat, kind: "url_citation".to_owned(), raw: citation },
        Event::Image { media_type: "image/png".to_owned(), data: "iVBO".to_owned() },
        Event::Refusal("no".to_owned()),
        Event::CallStart(CallStart { id: "x".to_owned(), name: "f".to_owned(), ..CallStart::default() }),
        Event::CallArguments { index: 0, delta: "{}".to_owned() },
        Event::CallEnd { index: 0 },
        Event::CallStart(CallStart {
            index: 1,
            id: "y".to_owned(),
            name: "patch".to_owned(),
            kind: CallKind::Custom,
            ..CallStart::default()
        }),
        Event::CallArguments { index: 1, delta: "***".to_owned() },
        Event::CallEnd { index: 1 },
        Event::Finish { reason: Finish::ToolCalls, inferred: false },
    ]
}

#[test]
fn a_whole_reply_with_everything_in_it() {
    let reply =
        format(Dialect::Chat).encode_reply(&ReplyHead::default(), &Reply::from_events(&events()), None);
    let reply: Value = serde_json::from_slice(&reply).unwrap();
    let signature = "bw1.0000000000000001.s==";
    assert_eq!(
        reply["choices"][0]["message"].to_string(),
        json!({
            "role": "assistant", "content": "a", "refusal": "no", "reasoning_content": "hm",
            "reasoning_details": [
                {"type": "reasoning.text", "signature": signature, "text": "hm"},
                {"type": "reasoning.encrypted", "data": "bw1.0000000000000001.r==", "id": "rs_1"}
            ],
            "tool_calls": [
                {"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "y", "type": "custom", "custom": {"name": "patch", "input": "***"}}
            ],
            "images": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}],
            "annotations": [{"type": "url_citation", "z": 1.0}]
        })
        .to_string()
    );
    assert_eq!(reply["choices"][0]["finish_reason"], "tool_calls");
}

#[test]
fn a_streamed_reply_with_everything_in_it() {
    let mut encoder = format(Dialect::Chat).encoder(ReplyHead::default());
    let mut stream: Vec<u8> = events().iter().flat_map(|event| encoder.event(event)).collect();
    stream.extend(encoder.finish(Usage::default(), None));
    let mut decoder = format(Dialect::Chat).decoder();
    let mut read = Vec::new();
    decoder.push(&stream, &mut read);
    decoder.end(&mut read);
    let marked = |event| match event {
        Event::ThinkingSignature(seal) => Event::ThinkingSignature(Seal::new(seal.to_caller())),
        Event::Redacted { seal, id } => Event::Redacted { seal: Seal::new(seal.to_caller()), id },
        event => event,
    };
    let wanted: Vec<Event> = events().into_iter().map(marked).collect();
    assert_eq!(read, wanted);
}

#[test]
fn an_answer_handed_back_is_read_with_its_makers() {
    let reply =
        format(Dialect::Chat).encode_reply(&ReplyHead::default(), &Reply::from_events(&events()), None);
    let reply: Value = serde_json::from_slice(&reply).unwrap();
    let body = json!({"messages": [reply["choices"][0]["message"], {"role": "user", "content": "b"}]});
    let request =
        format(Dialect::Chat).decode_request(body.to_string().as_bytes(), &Route::default()).unwrap();
    let contents: Vec<&Content> = request.messages[0].parts.iter().map(|part| &part.content).collect();
    assert_eq!(
        contents[..2],
        [
            &Content::Thinking(Thinking { text: "hm".to_owned(), signature: Some(seal("s==")) }),
            &Content::Redacted { seal: seal("r=="), id: Some("rs_1".to_owned()) },
        ]
    );
    let kinds: Vec<&str> = contents[2..].iter().map(|content| content.kind()).collect();
    assert_eq!(kinds, ["text", "refusal", "tool call", "tool call"]);
}

#[test]
fn seals_are_marked_with_the_member_that_was_asked() {
    let chat = format(Dialect::Chat);
    let request =
        chat.decode_request(br#"{"messages":[{"role":"user","content":"a"}]}"#, &Route::default()).unwrap();
    let target = Target { member: Member(9), ..Target::default() };
    let restore: Restore = chat.encode_request(&request, &target).restore;
    let events = restore.events(vec![Event::ThinkingSignature(Seal::new("s"))]);
    let wanted = Seal { data: "s".to_owned(), origin: Some(Member(9)) };
    assert_eq!(events, [Event::ThinkingSignature(wanted)]);
}

#[test]
fn a_budget_over_the_models_limit_is_cut_and_told() {
    let chat = format(Dialect::Chat);
    let body = br#"{"messages":[{"role":"user","content":"a"}],"max_completion_tokens":5000, "z":1.0}"#;
    let request = chat.decode_request(body, &Route::default()).unwrap();
    let target = Target { max_output: Some(100), callers_options: true, ..Target::default() };
    let encoded = chat.encode_request(&request, &target);
    let relayed = chat.relay_request(body, &request, &target).unwrap();
    let told = "max_completion_tokens=cut from 5000 to 100, the most this model writes";
    for notices in [&encoded.notices, &relayed.notices] {
        let told_of = notices.iter().map(|notice| format!("{}={}", notice.field, notice.reason));
        assert!(told_of.into_iter().any(|notice| notice == told));
    }
    let value: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(value["max_completion_tokens"], 100);
    assert_eq!(
        String::from_utf8(relayed.body).unwrap(),
        r#"{"messages":[{"role":"user","content":"a"}],"max_completion_tokens":100, "z":1.0,"model":""}"#
    );
}

#[test]
fn a_relayed_body_differs_only_where_it_must() {
    let body = br#"{ "model":"bench/x:route", "with":["a"],"stream":true,"top_k":1e0,"tools":[{"type":"web_search","z":[ ]}],"messages":[{"role":"user","content":"a","x":{}}],"bench":{"reply":"route"}}"#;
    let chat = format(Dialect::Chat);
    let request = chat.decode_request(body, &Route::default()).unwrap();
    let target = Target { served: "vendor/m".to_owned(), ..Target::default() };
    assert_eq!(
        String::from_utf8(chat.relay_request(body, &request, &target).unwrap().body).unwrap(),
        r#"{ "model":"vendor/m","stream":true,"top_k":1e0,"tools":[{"type":"web_search","z":[ ]}],"messages":[{"role":"user","content":"a","x":{}}],"stream_options":{"include_usage":true}}"#
    );
    let mut names = ModelName::new(chat.model_paths(), "bench/x:route");
    let stream = "data: {\"model\":\"vendor/m-2\",\"choices\":[{\"delta\":{\"content\":\"model\"}}]}\n\n";
    let out = [names.push(stream.as_bytes()), names.end()].concat();
    assert_eq!(String::from_utf8(out).unwrap(), stream.replace("vendor/m-2", "bench/x:route"));
}
