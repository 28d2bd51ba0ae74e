//! Anthropic Messages: what is read from members and callers, what each is sent.

use libtest_mimic::Trial;
use serde_json::{Value, json};
use wire::{
    CallStart, Dialect, Event, Finish, Member, Quirks, Reply, ReplyHead, Request, Route, Seal, Silence,
    Target, ThinkingScale, Usage, format,
};

use crate::{
    support::{decode_as, decode_as_cut_everywhere, render},
    trial,
};

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = READS
        .iter()
        .map(|(name, body, wanted)| {
            trial((*name).to_owned(), || {
                let events = decode_as_cut_everywhere(Dialect::Anthropic, body.as_bytes());
                assert_eq!(render(&events), *wanted);
            })
        })
        .collect();
    let cases: [(&str, fn()); 26] = [
        ("W023 the keep-alive is a ping", || {
            let mut encoder = format(Dialect::Anthropic).encoder(head());
            let out = String::from_utf8(encoder.keep_alive(Silence::Short)).unwrap();
            assert!(out.ends_with("event: ping\ndata: {\"type\":\"ping\"}\n\n"), "{out}");
        }),
        ("W039 one result a call", || {
            let (body, _) = ask(json!([
                chat_call("c1", "f", "{}"),
                {"role": "tool", "tool_call_id": "c1", "content": "first"},
                {"role": "tool", "tool_call_id": "c1", "content": "last"}
            ]));
            let results = &body["messages"][2]["content"];
            assert_eq!(results, &json!([{"type": "tool_result", "tool_use_id": "c1", "content": "last"}]));
        }),
        ("W040 ids are of the characters the API takes", || {
            let (body, _) = ask(json!([
                {"role": "user", "content": "a"},
                chat_call("functions.read:0", "read", "{}"),
                {"role": "tool", "tool_call_id": "functions.read:0", "content": "x"}
            ]));
            let id = body["messages"][1]["content"][0]["id"].as_str().unwrap();
            assert!(id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')), "{id}");
            assert_eq!(body["messages"][2]["content"][0]["tool_use_id"], id);
        }),
        ("W042 arguments that come whole are one delta", || {
            let out = write(&[start(0, "a", "f"), arguments(0, r#"{"x":1}"#), Event::CallEnd { index: 0 }]);
            let deltas: Vec<&Value> =
                out.iter().filter(|event| event["type"] == "content_block_delta").collect();
            assert_eq!(deltas.len(), 1);
            assert_eq!(deltas[0]["delta"], json!({"type": "input_json_delta", "partial_json": "{\"x\":1}"}));
        }),
        ("W043 arguments that never came are {}", || {
            for events in [&[start(0, "a", "f"), Event::CallEnd { index: 0 }][..], &[start(0, "a", "f")]] {
                let out = write(events);
                assert_eq!(out[2]["delta"], json!({"type": "input_json_delta", "partial_json": "{}"}));
                assert_eq!(out[3]["type"], "content_block_stop");
            }
        }),
        ("W043 an empty string that a client made of them is {}", || {
            let body = json!({"model": "m", "messages": [
                {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": ""}]}
            ]});
            let request = read(&body);
            let wire::Content::ToolCall(call) = &request.messages[0].parts[0].content else { unreachable!() };
            assert_eq!(call.arguments, "{}");
        }),
        ("W044 empty arguments of an earlier call are {}", || {
            let (body, _) = ask(json!([{"role": "user", "content": "a"}, chat_call("a", "f", "")]));
            assert_eq!(body["messages"][1]["content"][0]["input"], json!({}));
        }),
        ("W063 one block open at a time", || {
            let out = write(&[
                Event::Thinking("a".to_owned()),
                start(0, "a", "f"),
                arguments(0, "{"),
                Event::Thinking("b".to_owned()),
                arguments(0, "}"),
                Event::CallEnd { index: 0 },
            ]);
            assert_eq!(kinds(&out), ["thinking", "tool_use", "thinking"]);
        }),
        ("W063 interleaved calls follow each other", || {
            let out = write(&[
                start(0, "a", "f"),
                start(1, "b", "g"),
                arguments(0, "{\"x\""),
                arguments(1, "{\"y\":2}"),
                arguments(0, ":1}"),
                Event::CallEnd { index: 0 },
                Event::CallEnd { index: 1 },
            ]);
            assert_eq!(kinds(&out), ["tool_use", "tool_use"]);
            let stream = stream(&[
                start(0, "a", "f"),
                start(1, "b", "g"),
                arguments(0, "{\"x\""),
                arguments(1, "{\"y\":2}"),
                arguments(0, ":1}"),
                Event::CallEnd { index: 0 },
                Event::CallEnd { index: 1 },
            ]);
            let read = Reply::from_events(&decode_as(Dialect::Anthropic, [stream.as_slice()]));
            let arguments: Vec<&str> = read.tool_calls().map(|call| call.arguments.as_str()).collect();
            assert_eq!(arguments, ["{\"x\":1}", "{\"y\":2}"]);
        }),
        ("W064 the first block is of the real type", || {
            let out = write(&[Event::Thinking("a".to_owned()), Event::Text("b".to_owned())]);
            assert_eq!(kinds(&out), ["thinking", "text"]);
            let deltas: Vec<&Value> =
                out.iter().filter(|event| event["type"] == "content_block_delta").collect();
            assert_eq!(deltas[0]["delta"]["thinking"], "a");
            assert_eq!(deltas[1]["delta"]["text"], "b");
        }),
        ("W067 indices are dense and every start has its stop", || {
            let out = write(&[
                Event::Thinking("a".to_owned()),
                Event::ThinkingSignature(Seal::new("s")),
                Event::Redacted { seal: Seal::new("r"), id: None },
                Event::Text("b".to_owned()),
                start(0, "a", "f"),
                start(1, "b", "g"),
            ]);
            assert_eq!(kinds(&out), ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"]);
        }),
        ("W068 a call right after thinking has the next index", || {
            let out = write(&[Event::Thinking("a".to_owned()), start(0, "a", "f")]);
            assert_eq!(kinds(&out), ["thinking", "tool_use"]);
        }),
        ("W069 only calls have an input", || {
            let out = write(&[Event::Thinking("a".to_owned()), Event::Text("b".to_owned())]);
            assert!(!Value::Array(out).to_string().contains("input\""));
        }),
        ("W073 a chain of calls without its thinking is not asked to think", || {
            let body = json!({
                "model": "m", "max_tokens": 4096, "reasoning_effort": "low",
                "messages": [
                    {"role": "user", "content": "a"},
                    chat_call("a", "f", "{}"),
                    {"role": "tool", "tool_call_id": "a", "content": "x"}
                ]
            });
            let (body, lost) =
                ask_with(&body, Quirks { thinking: ThinkingScale::Budget, ..Quirks::default() });
            assert_eq!(body.get("thinking"), None);
            assert_eq!(
                lost,
                ["reasoning_effort=turned off: the thinking before the last tool call is not there"]
            );
        }),
        ("W074 another member's signature is left out", || {
            let seal = |member| Seal { data: "s".to_owned(), origin: Some(Member(member)) }.to_caller();
            let body = json!({"model": "m", "max_tokens": 10, "messages": [
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "mine", "signature": seal(1)},
                    {"type": "thinking", "thinking": "theirs", "signature": seal(2)},
                    {"type": "redacted_thinking", "data": seal(2)},
                    {"type": "text", "text": "a"}
                ]},
                {"role": "user", "content": "more"}
            ]});
            let bytes = body.to_string().into_bytes();
            let request = read(&body);
            let target = Target {
                served: "s".to_owned(),
                member: Member(1),
                callers_options: true,
                ..Target::default()
            };
            let dialect = format(Dialect::Anthropic);
            let asked = dialect.encode_request(&request, &target);
            let relayed = dialect.relay_request(&bytes, &request, &target).unwrap();
            for encoded in [asked, relayed] {
                let sent: Value = serde_json::from_slice(&encoded.body).unwrap();
                let mine = json!({"type": "thinking", "thinking": "mine", "signature": "s"});
                assert_eq!(sent["messages"][1]["content"], json!([mine, {"type": "text", "text": "a"}]));
                assert_eq!(encoded.notices.len(), 2, "{:?}", encoded.notices);
            }
        }),
        ("W076 an empty piece of text opens no block", || {
            let out = write(&[
                start(0, "a", "f"),
                arguments(0, "{"),
                Event::Text(String::new()),
                arguments(0, "}"),
            ]);
            assert_eq!(kinds(&out), ["tool_use"]);
        }),
        ("W077 no empty texts, no empty turns", || {
            let (body, _) = ask(json!([
                {"role": "user", "content": "a"},
                {"role": "assistant", "content": [{"type": "text", "text": " "}]},
                {"role": "user", "content": [{"type": "text", "text": ""}, {"type": "text", "text": "b"}]}
            ]));
            let said = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
            assert_eq!(body["messages"], json!([{"role": "user", "content": said}]));
        }),
        ("W079 a result without its call is a user turn", || {
            let (body, lost) = ask(json!([{"role": "tool", "tool_call_id": "gone", "content": "42"}]));
            assert_eq!(body["messages"][0]["role"], "user");
            assert!(!body.to_string().contains("tool_result"));
            assert_eq!(lost, ["messages[0]=a result without its call, sent as a user turn"]);
        }),
        ("W085 an image stays an image", || {
            let body = json!({"model": "m", "messages": [{"role": "user", "content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
            ]}]});
            let asked = format(Dialect::Chat).encode_request(&read(&body), &Target::default());
            let asked: Value = serde_json::from_slice(&asked.body).unwrap();
            let url = "data:image/png;base64,iVBORw0KGgo=";
            assert_eq!(
                asked["messages"][0]["content"],
                json!([{"type": "image_url", "image_url": {"url": url}}])
            );
        }),
        ("W089 how long a mark holds is told to members that take it only", || {
            let mark = json!({"type": "ephemeral", "ttl": "1h"});
            let input = json!({"cache_control": mark});
            let body = json!({"model": "m", "messages": [
                {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": mark}]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": input}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]}
            ]});
            for (cache_ttl, kept) in [(false, json!({"type": "ephemeral"})), (true, mark)] {
                let (sent, _) = send(&read(&body), Quirks { cache_ttl, ..Quirks::default() });
                assert_eq!(sent["messages"][0]["content"][0]["cache_control"], kept);
                assert_eq!(sent["messages"][1]["content"][0]["input"], input);
            }
        }),
        ("W095 user and assistant in turn, the user first", || {
            let (body, _) = ask(json!([
                {"role": "assistant", "content": "z"},
                {"role": "user", "content": "a"},
                {"role": "user", "content": "b"},
                {"role": "assistant", "content": "c"}
            ]));
            let roles: Vec<&str> = body["messages"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|turn| turn["role"].as_str())
                .collect();
            assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
        }),
        ("W105 one call at a time, there and back", || {
            let tools = json!([{"name": "f", "input_schema": {"type": "object"}}]);
            let body = json!({"model": "m", "messages": [{"role": "user", "content": "a"}], "tools": tools,
                "tool_choice": {"type": "auto", "disable_parallel_tool_use": true}});
            let request = read(&body);
            let asked = format(Dialect::Chat).encode_request(&request, &Target::default());
            let asked: Value = serde_json::from_slice(&asked.body).unwrap();
            assert_eq!(asked["parallel_tool_calls"], false);
            let (asked, _) = send(&request, Quirks::default());
            assert_eq!(asked["tool_choice"], body["tool_choice"]);
        }),
        ("W151 half a surrogate pair is U+FFFD", || {
            let body = br#"{"messages":[{"role":"user","content":"abc\ud83d"}]}"#;
            let request = format(Dialect::Anthropic).decode_request(body, &Route::default()).unwrap();
            assert_eq!(request.last_user_text(), "abc\u{fffd}");
        }),
        ("W152 schemas and numbers stay as they were written", || {
            let body = r#"{"model":"m","messages":[{"role":"user","content":"a"}],"top_p":0.90,"tools":[{"name":"f","input_schema":{"type":"object","properties":{"z":{},"a":{"minimum":1.0}}}}]}"#;
            let request =
                format(Dialect::Anthropic).decode_request(body.as_bytes(), &Route::default()).unwrap();
            let target = Target { callers_options: true, ..Target::default() };
            let asked = format(Dialect::Anthropic).encode_request(&request, &target);
            let asked = String::from_utf8(asked.body).unwrap();
            assert!(
                asked.contains(r#"{"type":"object","properties":{"z":{},"a":{"minimum":1.0}}}"#),
                "{asked}"
            );
            assert!(asked.contains(r#""top_p":0.90"#), "{asked}");
        }),
        ("W173 overload is a want of room", || {
            let said = br#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
            let error = format(Dialect::Anthropic).decode_error(529, "application/json", said);
            assert_eq!((error.class, error.message.as_str()), (wire::Class::Capacity, "Overloaded"));
        }),
        ("W103 no choice takes no flag", || {
            let tools = json!([{"type": "function", "function": {"name": "f"}}]);
            let body = json!({"model": "m", "messages": [{"role": "user", "content": "a"}], "tools": tools,
                "tool_choice": "none", "parallel_tool_calls": false});
            let (body, _) = ask_with(&body, Quirks::default());
            assert_eq!(body["tool_choice"], json!({"type": "none"}));
        }),
    ];
    trials.extend(cases.into_iter().map(|(name, check)| trial(name.to_owned(), check)));
    trials
}

/// A member's stream, and what is read.
const READS: &[(&str, &str, &str)] = &[
    (
        "W043 an empty partial_json is a call without arguments",
        concat!(
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}\n\n",
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\n\n",
            "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
            "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n",
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
        ),
        "call 0 \"t\" f\narguments 0 \"{}\"\nend 0\nfinish tool_calls\n",
    ),
    (
        "W045 the index of a call counts calls only",
        concat!(
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n",
            "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":1}\"}}\n\n",
            "data: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
            "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n",
            "data: {\"type\":\"message_stop\"}\n\n"
        ),
        "text \"hi\"\ncall 0 \"t\" f\narguments 0 \"{\\\"a\\\":1}\"\nend 0\nfinish tool_calls\n",
    ),
    (
        "W048 a call that the budget cut is not ended",
        concat!(
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\"}}\n\n",
            "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
            "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"}}\n\n",
            "data: {\"type\":\"message_stop\"}\n\n"
        ),
        "call 0 \"t\" f\narguments 0 \"{\\\"a\"\nfinish length\n",
    ),
    (
        "W057 cached tokens are counted once",
        "{\"type\":\"message\",\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":20,\"cache_read_input_tokens\":80,\"cache_creation_input_tokens\":null,\"output_tokens\":3}}",
        "model m\nusage in=100 out=3 cache_read=80\ntext \"a\"\nfinish stop\n",
    ),
    (
        "W059 a smaller count at the end is the fresh part",
        concat!(
            "data: {\"type\":\"message_start\",\"message\":{\"model\":\"q\",\"usage\":{\"input_tokens\":1000,\"output_tokens\":1}}}\n\n",
            "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"input_tokens\":100,\"cache_read_input_tokens\":900,\"output_tokens\":5}}\n\n",
            "data: {\"type\":\"message_stop\"}\n\n"
        ),
        "model q\nusage in=1000 out=1\nusage in=1000 out=5 cache_read=900\nfinish stop\n",
    ),
    (
        "W062 usage is cumulative, and a zero at the end is no count",
        concat!(
            "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n",
            "data: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":3}}\n\n",
            "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"input_tokens\":0,\"output_tokens\":5}}\n\n",
            "data: {\"type\":\"message_stop\"}\n\n"
        ),
        "usage in=10 out=1\nusage in=10 out=3\nusage in=10 out=5\nfinish stop\n",
    ),
    (
        "W070 an error event is no normal end",
        concat!(
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n",
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"Internal server error\"}}\n\n"
        ),
        "text \"a\"\nerror Other: Internal server error\n",
    ),
    (
        "W072 blocks keep their order",
        concat!(
            "{\"type\":\"message\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"a\",\"signature\":\"s1\"},",
            "{\"type\":\"text\",\"text\":\"b\"},{\"type\":\"thinking\",\"thinking\":\"c\",\"signature\":\"s2\"}],\"stop_reason\":\"end_turn\"}"
        ),
        "thinking \"a\"\nsignature \"s1\"\ntext \"b\"\nthinking \"c\"\nsignature \"s2\"\nfinish stop\n",
    ),
    (
        "W173 an overload inside a 200",
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
        "error Capacity: Overloaded\n",
    ),
    (
        "W107 a stream that breaks off is no finish",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n",
        "text \"a\"\nerror Network: the stream ended before its end mark\n",
    ),
];

fn head() -> ReplyHead {
    ReplyHead {
        id: "1".to_owned(),
        model: "bench/x".to_owned(),
        input_tokens: Some(9),
        ..ReplyHead::default()
    }
}

fn start(index: usize, id: &str, name: &str) -> Event {
    Event::CallStart(CallStart { index, id: id.to_owned(), name: name.to_owned(), ..CallStart::default() })
}

fn arguments(index: usize, delta: &str) -> Event {
    Event::CallArguments { index, delta: delta.to_owned() }
}

fn stream(events: &[Event]) -> Vec<u8> {
    let mut encoder = format(Dialect::Anthropic).encoder(head());
    let mut out: Vec<u8> = events.iter().flat_map(|event| encoder.event(event)).collect();
    out.extend(encoder.event(&Event::Finish { reason: Finish::Stop, inferred: false }));
    out.extend(encoder.finish(Usage::default(), None));
    out
}

/// The events of a stream to a caller, whose order is checked: one start, one block open at a time, dense indices,
/// every start with its stop, one delta of the message, the end last.
fn write(events: &[Event]) -> Vec<Value> {
    let text = String::from_utf8(stream(events)).unwrap();
    let out: Vec<Value> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let (mut next, mut open) = (0, false);
    for (at, event) in out.iter().enumerate() {
        let kind = event["type"].as_str().unwrap();
        assert_eq!(kind == "message_start", at == 0, "{text}");
        assert_eq!(kind == "message_delta", at + 2 == out.len(), "{text}");
        assert_eq!(kind == "message_stop", at + 1 == out.len(), "{text}");
        match kind {
            "content_block_start" => {
                assert!(!open && event["index"] == next, "{text}");
                open = true;
            }
            "content_block_delta" => assert!(open && event["index"] == next, "{text}"),
            "content_block_stop" => {
                assert!(open && event["index"] == next, "{text}");
                (next, open) = (next + 1, false);
            }
            _ => assert!(!open, "{text}"),
        }
    }
    out
}

fn kinds(out: &[Value]) -> Vec<&str> {
    out.iter().filter_map(|event| event["content_block"]["type"].as_str()).collect()
}

fn read(body: &Value) -> Request {
    format(Dialect::Anthropic).decode_request(body.to_string().as_bytes(), &Route::default()).unwrap()
}

fn chat_call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"role": "assistant", "tool_calls": [
        {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
    ]})
}

/// What an Anthropic member is asked for a chat caller's messages, and what was lost.
fn ask(messages: Value) -> (Value, Vec<String>) {
    ask_with(&json!({"model": "m", "messages": messages}), Quirks::default())
}

fn ask_with(body: &Value, quirks: Quirks) -> (Value, Vec<String>) {
    let request =
        format(Dialect::Chat).decode_request(body.to_string().as_bytes(), &Route::default()).unwrap();
    send(&request, quirks)
}

fn send(request: &Request, quirks: Quirks) -> (Value, Vec<String>) {
    let target = Target { callers_options: true, quirks, ..Target::default() };
    let encoded = format(Dialect::Anthropic).encode_request(request, &target);
    let lost = encoded.notices.iter().map(|n| format!("{}={}", n.field, n.reason)).collect();
    (serde_json::from_slice(&encoded.body).unwrap(), lost)
}
