//! Reports about Ollama's API, as member and as caller, and general ones in its framing.

use libtest_mimic::Trial;
use serde_json::json;
use wire::{CallStart, Class, Dialect, Event, Finish, ReplyHead, Route, Silence, Target, Usage, format};

use crate::{
    support::{decode_as_cut_everywhere, render},
    trial,
};

const OLLAMA: Dialect = Dialect::Ollama;

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = reads()
        .into_iter()
        .map(|(name, body, events)| {
            trial(name.to_owned(), move || {
                assert_eq!(render(&decode_as_cut_everywhere(OLLAMA, &body)), events);
            })
        })
        .collect();
    let others: [(&str, fn()); 11] = [
        ("W039 Ollama: two results of one call are one", || {
            let body = br#"{"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":{}}}]},{"role":"tool","tool_call_id":"c","content":"1"},{"role":"tool","tool_call_id":"c","content":"2"}]}"#;
            let asked = member(OLLAMA, body);
            assert_eq!(asked.matches(r#""role":"tool""#).count(), 1, "{asked}");
            assert!(asked.contains(r#""content":"2","tool_name":"f""#), "{asked}");
        }),
        ("W115 Ollama: a result as the value it is", || {
            let body = br#"{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{}}}]},{"role":"tool","tool_name":"f","content":{"z": 1.0}}]}"#;
            let asked = member(OLLAMA, body);
            assert!(
                asked.contains(r#""content":"{\"z\": 1.0}","tool_name":"f","tool_call_id":"call_0""#),
                "{asked}"
            );
        }),
        ("W038 Ollama: arguments keep their order and numbers both ways", arguments_keep_their_text),
        ("W061 Ollama: counts are numbers or absent", || {
            let out = text(encoder().finish(Usage::default(), None));
            assert!(!out.contains("null") && !out.contains("eval_count"), "{out}");
        }),
        ("W077 Ollama: an empty text beside other parts says nothing", || {
            let body = br#"{"messages":[{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"a"}]}]}"#;
            assert!(member(Dialect::Chat, body).contains(r#"{"role":"user","content":"a"}"#));
        }),
        ("W083 Ollama: an image of a result follows in a user turn", || {
            let body = br#"{"messages":[{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0K"}}]}]}"#;
            let asked = member(Dialect::Chat, body);
            assert!(
                asked.contains(r#""content":"[image 1: see the next user turn]","tool_name":"f""#),
                "{asked}"
            );
            assert!(asked.contains(r#"{"role":"user","content":"Media from the tool results above, in order:","images":["iVBORw0K"]}"#), "{asked}");
        }),
        ("W098 Ollama: a free-form tool is a function with one string", || {
            let body = br#"{"messages":[{"role":"user","content":"a"}],"tools":[{"type":"custom","custom":{"name":"patch"}}]}"#;
            let asked = member(Dialect::Chat, body);
            assert!(
                asked.contains(r#""function":{"name":"patch""#) && asked.contains(r#""required":["input"]"#),
                "{asked}"
            );
        }),
        ("W130 Ollama: a call in a line before the last, which says stop", || {
            let mut encoder = encoder();
            let start = CallStart { id: "c".to_owned(), name: "f".to_owned(), ..CallStart::default() };
            let events = [
                Event::CallStart(start),
                Event::CallArguments { index: 0, delta: "{\"a\":".to_owned() },
                Event::CallArguments { index: 0, delta: "1}".to_owned() },
                Event::CallEnd { index: 0 },
                Event::Finish { reason: Finish::ToolCalls, inferred: false },
            ];
            let mut out: Vec<u8> = events.iter().flat_map(|event| encoder.event(event)).collect();
            out.extend(encoder.finish(Usage::default(), None));
            let lines: Vec<serde_json::Value> =
                text(out).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(lines.len(), 2);
            assert_eq!(lines[0]["message"]["tool_calls"][0]["function"]["arguments"], json!({"a": 1}));
            assert_eq!((&lines[0]["done"], &lines[1]["done"]), (&json!(false), &json!(true)));
            assert_eq!(lines[1]["done_reason"], "stop");
        }),
        ("W152 Ollama: a tool's schema keeps its order", || {
            let tools = r#""tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"z":{"minimum":1.0},"a":{}}}}}]"#;
            let body = format!(r#"{{"messages":[{{"role":"user","content":"a"}}],{tools}}}"#);
            for dialect in [OLLAMA, Dialect::Chat] {
                let asked = member(dialect, body.as_bytes());
                assert!(asked.contains(tools), "{asked}");
            }
        }),
        ("W169 Ollama: a plain text error keeps its words and status", || {
            let error = format(OLLAMA).decode_error(502, "text/plain", b"upstream connect error");
            assert_eq!((error.status, error.message.as_str()), (Some(502), "upstream connect error"));
            assert_eq!(error.class, Class::Network);
        }),
        ("W019 Ollama: a keep-alive is a line with no text", || {
            let line: serde_json::Value =
                serde_json::from_slice(&encoder().keep_alive(Silence::Short)).unwrap();
            assert_eq!((&line["message"]["content"], &line["done"]), (&json!(""), &json!(false)));
        }),
    ];
    trials.extend(others.into_iter().map(|(name, check)| trial(name.to_owned(), check)));
    trials
}

fn reads() -> Vec<(&'static str, Vec<u8>, String)> {
    let said = |content: &str| {
        format!("{{\"message\":{{\"role\":\"assistant\",\"content\":{content}}},\"done\":false}}\n")
    };
    let done = |reason: &str| {
        format!(
            "{{\"message\":{{\"role\":\"assistant\",\"content\":\"\"}},\"done\":true,\"done_reason\":\"{reason}\"}}\n"
        )
    };
    let called = |arguments: &str| {
        format!(
            "{{\"message\":{{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{{\"function\":{{\"name\":\"f\",\"arguments\":{arguments}}}}}]}},\"done\":false}}\n"
        )
    };
    let call = "call 0 \"call_0\" f\narguments 0 \"{\\\"a\\\":1}\"\nend 0\n";
    let long = "x".repeat(600 * 1024);
    let case = |name, body: String, events: &str| (name, body.into_bytes(), events.to_owned());
    vec![
        case("W004 Ollama: characters cut in two", said("\"北京\"") + &done("stop"), "text \"北京\"\nfinish stop\n"),
        case(
            "W007 Ollama: a line of 600 KB",
            said(&format!("\"{long}\"")) + &done("stop"),
            &format!("text \"{} bytes\"\nfinish stop\n", long.len()),
        ),
        case(
            "W013 Ollama: a stream that was cut is not finished",
            said("\"a\""),
            "text \"a\"\nerror Network: the stream ended before its end mark\n",
        ),
        case("W046 Ollama: a call, then a line that says stop", called("{\"a\":1}") + &done("stop"), &format!("{call}finish tool_calls\n")),
        case("W048 Ollama: length outweighs a call", called("{\"a\":1}") + &done("length"), &format!("{call}finish length\n")),
        case(
            "W034 Ollama: calls without a name fail the turn",
            "{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"\",\"arguments\":{}}}]},\"done\":false}\n".to_owned() + &done("stop"),
            "error Other: the model called tools without naming any\n",
        ),
        case(
            "W036 Ollama: empty arguments are an empty object",
            called("\"\"") + &done("stop"),
            "call 0 \"call_0\" f\narguments 0 \"{}\"\nend 0\nfinish tool_calls\n",
        ),
        case(
            "W135 Ollama: an end without a reason",
            said("\"a\"") + "{\"done\":true,\"done_reason\":null}\n",
            "text \"a\"\nfinish stop (inferred)\n",
        ),
        case(
            "W174 Ollama: an error line after some text",
            said("\"a\"") + "{\"error\":\"server overloaded\"}\n" + &said("\"b\""),
            "text \"a\"\nerror Capacity: server overloaded\n",
        ),
        case(
            "W130 Ollama: a call in the last line",
            "{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{\"a\":1}}}]},\"done\":true,\"done_reason\":\"stop\"}\n".to_owned(),
            &format!("{call}finish tool_calls\n"),
        ),
        case(
            "W132 Ollama: null content is no text",
            said("null") + &said("\"a\"") + &done("stop"),
            "text \"a\"\nfinish stop\n",
        ),
        case(
            "W133 Ollama: arguments that come whole are told, and none are an empty object",
            called("{\"a\":1}") + &called("{}") + &called("null") + &done("stop"),
            &format!(
                "{call}call 1 \"call_1\" f\narguments 1 \"{{}}\"\nend 1\ncall 2 \"call_2\" f\narguments 2 \"{{}}\"\nend 2\nfinish tool_calls\n"
            ),
        ),
        case(
            "W151 Ollama: half a surrogate pair",
            said("\"a\\ud83d\"") + &called("{\"a\":1}") + &done("stop"),
            &format!("text \"a\u{fffd}\"\n{call}finish tool_calls\n"),
        ),
        case(
            "W180 Ollama: a second line that is not JSON ends the turn",
            said("\"a\"") + "{\"mess\n" + &said("\"b\"") + "{\"mess\n" + &said("\"c\""),
            "text \"a\"\ntext \"b\"\nerror Other: 2 lines of the stream could not be read as JSON\n",
        ),
    ]
}

fn arguments_keep_their_text() {
    let arguments = r#"{"z":1.0,"a":12345678901234567890123}"#;
    let call = format!(
        r#"{{"role":"assistant","tool_calls":[{{"function":{{"name":"f","arguments":{arguments}}}}}]}}"#
    );
    let body = format!(r#"{{"messages":[{{"role":"user","content":"a"}},{call}]}}"#);
    let asked = member(OLLAMA, body.as_bytes());
    assert!(asked.contains(&format!(r#""arguments":{arguments}"#)), "{asked}");
    let line = format!(
        "{{\"message\":{{\"tool_calls\":[{{\"function\":{{\"name\":\"f\",\"arguments\":{arguments}}}}}]}},\"done\":true}}\n"
    );
    let events = decode_as_cut_everywhere(OLLAMA, line.as_bytes());
    let mut encoder = encoder();
    let out: Vec<u8> = events.iter().flat_map(|event| encoder.event(event)).collect();
    assert!(text(out).contains(&format!(r#""arguments":{arguments}"#)));
}

/// What an Ollama member is asked when a caller of the dialect sends the body.
fn member(caller: Dialect, body: &[u8]) -> String {
    let request = format(caller).decode_request(body, &Route::default()).unwrap();
    let target = Target { served: "m".to_owned(), callers_options: true, ..Target::default() };
    text(format(OLLAMA).encode_request(&request, &target).body)
}

fn encoder() -> Box<dyn wire::EventEncoder> {
    format(OLLAMA).encoder(ReplyHead::default())
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}
