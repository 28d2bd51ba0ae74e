//! The Responses dialect: what members send, what callers send, what callers get.

use libtest_mimic::Trial;
use serde_json::{Value, json};
use wire::{
    CallStart, Dialect, Encoded, Event, EventEncoder, Finish, Member, Reply, ReplyHead, Request, Route, Seal,
    Silence, Target, Usage, format, sse,
};

use crate::{
    support::{decode_as_cut_everywhere, render},
    trial,
};

pub fn trials() -> Vec<Trial> {
    let answers = ANSWERS.iter().map(|(name, body, wanted)| {
        let (body, wanted) = (*body, *wanted);
        trial((*name).to_owned(), move || {
            let events = decode_as_cut_everywhere(Dialect::Responses, body.as_bytes());
            assert_eq!(render(&events), wanted);
        })
    });
    let checks = CHECKS.iter().map(|(name, check)| trial((*name).to_owned(), *check));
    answers.chain(checks).collect()
}

type Answer = (&'static str, &'static str, &'static str);

/// A member's body, and the events it must give however it is cut.
const ANSWERS: &[Answer] = &[
    (
        "W001 CRLF and no space after the colon",
        "event: response.output_text.delta\r\ndata:{\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\r\n\r\n\
         event: response.completed\r\ndata:{\"type\":\"response.completed\",\"response\":{\"usage\":\
         {\"input_tokens\":3,\"output_tokens\":1}}}\r\n\r\n",
        "text \"a\"\nusage in=3 out=1\nfinish stop\n",
    ),
    (
        "W017 private events are passed over",
        "event: codex.rate_limits\ndata: {\"type\":\"codex.rate_limits\"}\n\n\
         data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\n\
         event: codex.response.metadata\ndata: {\"type\":\"codex.response.metadata\"}\n\n\
         event: responsesapi.websocket_timing\ndata: x\n\n\
         data: {\"type\":\"response.output_text.delta\",\"delta\":\"b\"}\n\n\
         data: {\"type\":\"response.completed\",\"response\":{}}\n\n",
        "text \"a\"\ntext \"b\"\nfinish stop\n",
    ),
    (
        "W138 no type in the data and nothing wrapped",
        "event: response.created\ndata: {\"model\":\"m\"}\n\n\
         event: response.output_text.delta\ndata: {\"delta\":\"a\"}\n\n\
         event: response.completed\ndata: {\"id\":\"r\",\"usage\":{\"input_tokens\":1,\"output_tokens\":2}}\n\n",
        "model m\ntext \"a\"\nusage in=1 out=2\nfinish stop\n",
    ),
    (
        "W139 a call that the length cut off never ends",
        "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\
         \"id\":\"fc\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"\"}}\n\n\
         data: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":0,\"delta\":\"{\\\"a\"}\n\n\
         data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\
         \"id\":\"fc\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{\\\"a\",\"status\":\"completed\"}}\n\n\
         data: {\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\",\
         \"incomplete_details\":{\"reason\":\"max_output_tokens\"}}}\n\n",
        "call 0 \"c\" f\narguments 0 \"{\\\"a\"\nfinish length\n",
    ),
    (
        "W139 a content filter is no plain end",
        "data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\n\
         data: {\"type\":\"response.incomplete\",\"response\":{\"incomplete_details\":\
         {\"reason\":\"content_filter\"}}}\n\n",
        "text \"a\"\nfinish content_filter\n",
    ),
    (
        "W148 several messages of a whole response",
        "{\"object\":\"response\",\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":\
         [{\"type\":\"output_text\",\"text\":\"a\"},{\"type\":\"output_text\",\"text\":\"b\"}]},\
         {\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"c\"}]}]}",
        "text \"a\"\ntext \"b\"\ntext \"c\"\nfinish stop\n",
    ),
    (
        "W163 failed after a 200",
        "data: {\"type\":\"response.created\",\"response\":{\"status\":\"in_progress\"}}\n\n\
         data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\
         \"server_error\",\"message\":\"model at capacity\"}}}\n\n",
        "error Capacity: model at capacity\n",
    ),
    (
        "W163 failed without a word",
        "data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":null}}\n\n",
        "error Other: the provider ended the response as failed\n",
    ),
];

const CHECKS: &[(&str, fn())] = &[
    ("W022 a long silence is broken by an event", || {
        let mut encoder = encoder();
        assert_eq!(text(encoder.keep_alive(Silence::Short)), ": keep-alive\n\n");
        let mut out = encoder.keep_alive(Silence::Long);
        out.extend(encoder.keep_alive(Silence::Long));
        out.extend(encoder.text("a"));
        out.extend(encoder.finish(Usage::default(), None));
        let events = events(&out);
        assert_eq!(
            kinds(&events)[..4],
            [
                "response.created",
                "response.in_progress",
                "response.in_progress",
                "response.output_item.added"
            ]
        );
    }),
    ("W096 a developer turn stays one", || {
        let chat = json!({"messages": [
            {"role": "user", "content": "a"}, {"role": "developer", "content": "b"},
            {"role": "user", "content": "c"}
        ]});
        let body = asked(&chat, Dialect::Chat);
        assert_eq!(body["input"][1]["role"], "developer");
    }),
    ("W100 no choice among no tools", || {
        let body = asked(&json!({"input": "a", "tool_choice": "auto", "tools": []}), Dialect::Responses);
        assert!(body.get("tool_choice").is_none() && body.get("tools").is_none(), "{body}");
    }),
    ("W113 chat's own fields are left out and listed", || {
        let chat = json!({"messages": [{"role": "user", "content": "a"}], "stop": "x", "seed": 1, "stream": true,
            "temperature": 0.5, "stream_options": {"include_usage": true}});
        let encoded = encode(&chat, Dialect::Chat);
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        for name in ["stream_options", "stop", "seed", "messages", "max_tokens"] {
            assert!(body.get(name).is_none(), "{name}: {body}");
        }
        assert_eq!((&body["temperature"], &body["stream"]), (&json!(0.5), &json!(true)));
        let listed: Vec<&str> = encoded.notices.iter().map(|notice| notice.field.as_str()).collect();
        assert_eq!(listed, ["seed", "stop"]);
    }),
    ("W138 every event has its type and its number", || {
        let out = told(&[
            Event::Thinking("t".to_owned()),
            Event::Text("a".to_owned()),
            Event::CallStart(CallStart { id: "c".to_owned(), name: "f".to_owned(), ..CallStart::default() }),
            Event::CallArguments { index: 0, delta: "{}".to_owned() },
            Event::CallEnd { index: 0 },
            Event::Refusal("no".to_owned()),
        ]);
        let mut frames = Vec::new();
        sse::Decoder::default().push(&out, &mut frames).unwrap();
        for (at, frame) in frames.iter().enumerate() {
            let data: Value = serde_json::from_str(&frame.data).unwrap();
            assert_eq!(data["type"], frame.event.as_str());
            assert_eq!(data["sequence_number"], at);
        }
        let last = &events(&out)[frames.len() - 1];
        assert_eq!(
            (&last["type"], &last["response"]["object"]),
            (&json!("response.completed"), &json!("response"))
        );
    }),
    ("W139 half a call is no item of an incomplete response", || {
        let all = [
            Event::Text("a".to_owned()),
            Event::CallStart(CallStart { id: "c".to_owned(), name: "f".to_owned(), ..CallStart::default() }),
            Event::CallArguments { index: 0, delta: "{\"a".to_owned() },
            Event::Finish { reason: Finish::Length, inferred: false },
        ];
        let events = events(&told(&all));
        let last = &events[events.len() - 1];
        assert_eq!(last["type"], "response.incomplete");
        assert_eq!(last["response"]["incomplete_details"], json!({"reason": "max_output_tokens"}));
        assert_eq!(last["response"]["output"].as_array().unwrap().len(), 1);
        let calls = events.iter().filter(|event| event["item"]["type"] == "function_call");
        assert_eq!(
            calls.map(|event| event["type"].clone()).collect::<Vec<_>>(),
            ["response.output_item.added"]
        );
        let whole = format(Dialect::Responses).encode_reply(&head(), &Reply::from_events(&all), None);
        let whole: Value = serde_json::from_slice(&whole).unwrap();
        assert_eq!((&whole["status"], whole["output"].as_array().unwrap().len()), (&json!("incomplete"), 1));
    }),
    ("W143 another member's reasoning is left out, relayed and translated", || {
        let own = Seal { data: "own".to_owned(), origin: Some(Member(1)) }.to_caller();
        let other = Seal { data: "other".to_owned(), origin: Some(Member(2)) }.to_caller();
        let body = json!({"model": "bench/x:route", "input": [
            {"role": "user", "content": "a"},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": own},
            {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": other},
            {"type": "reasoning", "id": "rs_3", "summary": [], "encrypted_content": "unknown"},
            {"type": "reasoning", "id": "rs_4", "summary": [], "encrypted_content": "known"},
            {"type": "message", "id": "msg_1", "role": "assistant", "content": "b"},
            {"role": "user", "content": "c"}
        ]});
        let target = Target { made: [Seal::new("known").fingerprint()].into(), ..target() };
        let bytes = body.to_string().into_bytes();
        let request = read(&body, Dialect::Responses);
        let relayed = format(Dialect::Responses).relay_request(&bytes, &request, &target).unwrap();
        let built = format(Dialect::Responses).encode_request(&request, &target);
        for encoded in [relayed, built] {
            let body: Value = serde_json::from_slice(&encoded.body).unwrap();
            let items = body["input"].as_array().unwrap();
            let seals = items.iter().filter_map(|item| item["encrypted_content"].as_str());
            assert_eq!(seals.collect::<Vec<_>>(), ["own", "known"]);
            assert!(items.iter().all(|item| item["id"] != "msg_1"), "{body}");
            let listed: Vec<&str> = encoded.notices.iter().map(|notice| notice.field.as_str()).collect();
            assert_eq!(listed, ["input[2]", "input[3]"]);
        }
    }),
    ("W145 the response to go on from is read for the gateway, and told back", || {
        let request = read(&json!({"input": [], "previous_response_id": "resp_0"}), Dialect::Responses);
        assert_eq!(request.previous_response_id().as_deref(), Some("resp_0"));
        assert!(request.wants_store() && request.extra.is_empty());
        assert!(!read(&json!({"input": "a", "store": false}), Dialect::Responses).wants_store());
        let head = ReplyHead::of(&request, "1", 7);
        let whole =
            format(Dialect::Responses).encode_reply(&head, &Reply::of_text("a", Usage::default()), None);
        let whole: Value = serde_json::from_slice(&whole).unwrap();
        assert_eq!(whole["previous_response_id"], "resp_0");
    }),
    ("W146 null instructions are none", || {
        let request = read(&json!({"input": "a", "instructions": null}), Dialect::Responses);
        assert_eq!((request.messages.len(), request.system_text().as_str()), (1, ""));
    }),
    ("W147 the form of the text, both ways", || {
        let schema = json!({"type": "object", "properties": {}});
        let body = json!({"input": "a", "text": {"format":
            {"type": "json_schema", "name": "x", "schema": schema, "strict": true}}});
        let request = read(&body, Dialect::Responses);
        let chat = format(Dialect::Chat).encode_request(&request, &target());
        let chat: Value = serde_json::from_slice(&chat.body).unwrap();
        assert_eq!(
            chat["response_format"],
            json!({"type": "json_schema", "json_schema": {"name": "x", "schema": schema, "strict": true}})
        );
        let chat = json!({"messages": [{"role": "user", "content": "a"}],
            "response_format": chat["response_format"]});
        assert_eq!(asked(&chat, Dialect::Chat)["text"], body["text"]);
    }),
    ("W183 a document goes as a file", || {
        let chat = json!({"messages": [{"role": "user", "content": [{"type": "file", "file":
            {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}}]}]});
        assert_eq!(
            asked(&chat, Dialect::Chat)["input"][0]["content"],
            json!([{"type": "input_file", "filename": "a.pdf",
                "file_data": "data:application/pdf;base64,JVBERi0="}])
        );
    }),
];

fn target() -> Target {
    Target { served: "m".to_owned(), callers_options: true, member: Member(1), ..Target::default() }
}

fn read(body: &Value, dialect: Dialect) -> Request {
    format(dialect).decode_request(body.to_string().as_bytes(), &Route::default()).unwrap()
}

fn encode(body: &Value, dialect: Dialect) -> Encoded {
    format(Dialect::Responses).encode_request(&read(body, dialect), &target())
}

fn asked(body: &Value, dialect: Dialect) -> Value {
    serde_json::from_slice(&encode(body, dialect).body).unwrap()
}

fn head() -> ReplyHead {
    ReplyHead { id: "1".to_owned(), created: 7, model: "bench/x:all".to_owned(), ..ReplyHead::default() }
}

fn encoder() -> Box<dyn EventEncoder> {
    format(Dialect::Responses).encoder(head())
}

fn told(all: &[Event]) -> Vec<u8> {
    let mut encoder = encoder();
    let mut out: Vec<u8> = all.iter().flat_map(|event| encoder.event(event)).collect();
    out.extend(encoder.finish(Usage::default(), None));
    out
}

fn events(out: &[u8]) -> Vec<Value> {
    let mut frames = Vec::new();
    sse::Decoder::default().push(out, &mut frames).unwrap();
    frames.iter().map(|frame| serde_json::from_str(&frame.data).unwrap()).collect()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}
