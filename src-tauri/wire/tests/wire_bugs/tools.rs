//! Tools, calls and results on the way to a member: what it is asked and what is lost, and the way back.

use libtest_mimic::Trial;
use serde_json::{Value, json};
use wire::{CallKind, CallStart, Dialect, Event, Kept, Quirks, Route, Seal, Target, format};

use crate::trial;

pub fn trials() -> Vec<Trial> {
    let cases: [(&str, fn()); 17] = [
        ("W036 empty arguments of an earlier call are {}", || {
            let (body, _) = ask(json!([call("a", "now", ""), result("a", json!("x"))]), &Target::default());
            assert_eq!(body["messages"][0]["tool_calls"][0]["function"]["arguments"], "{}");
        }),
        ("W039 of two results of one call the last one stands in the first one's place", || {
            let messages = json!([
                call("c1", "f", "{}"),
                result("c1", json!("first")),
                result("c1", json!("last")),
                user("go on")
            ]);
            let (body, lost) = ask(messages, &Target::default());
            assert_eq!(roles(&body), ["assistant", "tool", "user"]);
            assert_eq!(body["messages"][1]["content"], "last");
            assert_eq!(lost, ["messages[2]=a second result of one call, put in the first one's place"]);
        }),
        ("W039 a result after another turn is moved to its call, a call without one is given one", || {
            let two = json!({"role": "assistant", "tool_calls": [call("a", "f", "{}")["tool_calls"][0], call("b", "g", "{}")["tool_calls"][0]]});
            let (body, lost) =
                ask(json!([two, user("wait"), result("b", json!("late"))]), &Target::default());
            assert_eq!(roles(&body), ["assistant", "tool", "tool", "user"]);
            assert_eq!(body["messages"][1]["tool_call_id"], "b");
            assert_eq!(body["messages"][2]["tool_call_id"], "a");
            assert_eq!(
                lost,
                [
                    "messages[2]=a result moved to its call",
                    "messages[0]=a call without a result was given an empty one"
                ]
            );
        }),
        ("W039 the same ids in a later turn are that turn's", || {
            let turn = |text: &str| [call("call_0", "f", "{}"), result("call_0", json!(text))];
            let messages: Vec<Value> = turn("one").into_iter().chain(turn("two")).collect();
            let (body, lost) = ask(json!(messages), &Target::default());
            assert_eq!(body["messages"][3]["content"], "two");
            assert!(lost.is_empty(), "{lost:?}");
        }),
        ("W079 a result without its call is a user turn", || {
            let (body, lost) = ask(json!([result("gone", json!("42")), user("and?")]), &Target::default());
            assert_eq!(roles(&body), ["user", "user"]);
            assert_eq!(body["messages"][0]["content"][1]["text"], "42");
            assert_eq!(lost, ["messages[0]=a result without its call, sent as a user turn"]);
        }),
        ("W083 an image in a result follows in a user turn", || media("data:image/png;base64,iVBORw0KGgo=")),
        ("W084 a result without media stays as it is", || {
            let messages = json!([call("a", "f", "{}"), result("a", json!([{"type": "text", "text": "x"}]))]);
            let (body, lost) = ask(messages, &Target::default());
            assert_eq!(
                body["messages"][1].to_string(),
                r#"{"role":"tool","content":"x","tool_call_id":"a"}"#
            );
            assert!(lost.is_empty());
        }),
        ("W088 cache marks stay where the member takes them", || {
            let quirks = Quirks { cache_marks: true, ..Quirks::default() };
            let target = Target { quirks, ..Target::default() };
            let text =
                json!([{"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]);
            let (body, lost) = ask(json!([{"role": "user", "content": text}]), &target);
            assert_eq!(body["messages"][0]["content"], text);
            assert!(lost.is_empty());
        }),
        ("W091 reasoning kept by call id goes back to a member that wants it", || {
            let messages = json!([call("a", "f", "{}"), result("a", json!("x"))]);
            let mut target = Target::default();
            let kept = Kept { thinking: Some("because".to_owned()), ..Kept::default() };
            target.kept.insert("a".to_owned(), kept);
            assert_eq!(ask(messages.clone(), &target).0["messages"][0]["reasoning_content"], Value::Null);
            target.quirks.reasoning_back = true;
            assert_eq!(ask(messages, &target).0["messages"][0]["reasoning_content"], "because");
        }),
        ("W093 one system turn in front", || {
            let mut target = Target::default();
            target.quirks.one_system = true;
            let turn = |role: &str, text: &str| json!({"role": role, "content": text});
            let messages = json!([turn("system", "a"), user("b"), turn("developer", "c"), user("d")]);
            let (body, lost) = ask(messages, &target);
            assert_eq!(roles(&body), ["system", "user", "user"]);
            assert_eq!(body["messages"][0]["content"], "a\n\nc");
            assert_eq!(lost, ["messages[2]=moved to the one system turn in front"]);
        }),
        ("W095 turns alternate", || {
            let mut target = Target::default();
            target.quirks.alternate = true;
            let (body, _) =
                ask(json!([user("a"), user("b"), {"role": "assistant", "content": "c"}]), &target);
            assert_eq!(roles(&body), ["user", "assistant"]);
            assert_eq!(body["messages"][0]["content"][1]["text"], "b");
        }),
        ("W098 a free-form tool is a function and comes back as what it was", free_form),
        ("W101 parameters that are null", || {
            let body = json!({"tools": [{"type": "function", "function": {"name": "x", "parameters": null}}], "messages": [user("a")]});
            let (body, _) = ask_body(body, &Target::default());
            assert_eq!(
                body["tools"][0]["function"]["parameters"].to_string(),
                r#"{"type":"object","properties":{}}"#
            );
        }),
        ("W103 no parallel flag beside a choice of none", || {
            let body = json!({"tools": [tool("f")], "tool_choice": "none", "parallel_tool_calls": false, "messages": [user("a")]});
            let (body, _) = ask_body(body, &Target::default());
            assert_eq!(body["tool_choice"], "none");
            assert!(body.get("parallel_tool_calls").is_none());
        }),
        ("W105 the parallel flag is carried", || {
            let body = json!({"tools": [tool("f")], "tool_choice": "auto", "parallel_tool_calls": false, "messages": [user("a")]});
            assert_eq!(ask_body(body, &Target::default()).0["parallel_tool_calls"], false);
        }),
        ("W126 a kept signature goes back to its maker only", || {
            let target = Target { member: wire::Member(7), ..Target::default() };
            let signed = |member| {
                let mut target = target.clone();
                let seal = Seal { data: "S==".to_owned(), origin: Some(wire::Member(member)) };
                target.kept.insert("a".to_owned(), Kept { signature: Some(seal), ..Kept::default() });
                let (body, _) = ask(json!([call("a", "f", "{}"), result("a", json!("x"))]), &target);
                body["messages"][0]["tool_calls"][0]["extra_content"]["google"]["thought_signature"].clone()
            };
            assert_eq!(signed(7), "S==");
            assert_eq!(signed(8), Value::Null);
        }),
        ("W154 names are made fit and given back; W155 long ones too", names),
    ];
    let mut trials: Vec<Trial> =
        cases.into_iter().map(|(name, check)| trial(name.to_owned(), check)).collect();
    trials.push(trial("W155 a name of 90 characters".to_owned(), names));
    trials
}

fn free_form() {
    let grammar = json!({"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /.+/s"}});
    let earlier = json!({"role": "assistant", "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "apply_patch", "input": "*** x"}}]});
    let body = json!({
        "tools": [{"type": "custom", "custom": {"name": "apply_patch", "description": "Edits.", "format": grammar}}],
        "messages": [earlier, result("a", json!("done")), user("more")]
    });
    let chat = format(Dialect::Chat);
    let request = chat.decode_request(body.to_string().as_bytes(), &Route::default()).unwrap();
    let encoded = chat.encode_request(&request, &Target::default());
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    let function = &body["tools"][0]["function"];
    assert_eq!(function["parameters"]["required"], json!(["input"]));
    assert_eq!(function["description"], "Edits.\n\nThe input must follow this lark grammar:\nstart: /.+/s");
    assert_eq!(body["messages"][0]["tool_calls"][0]["function"]["arguments"], r#"{"input":"*** x"}"#);
    let start = CallStart { id: "b".to_owned(), name: "apply_patch".to_owned(), ..CallStart::default() };
    let piece = |delta: &str| Event::CallArguments { index: 0, delta: delta.to_owned() };
    let events = encoded.restore.events(vec![
        Event::CallStart(start.clone()),
        piece("{\"input\": \"*** Be"),
        piece("gin\\nx\"}"),
        Event::CallEnd { index: 0 },
    ]);
    let start = CallStart { kind: CallKind::Custom, ..start };
    assert_eq!(
        events,
        [Event::CallStart(start), piece("*** Be"), piece("gin\nx"), Event::CallEnd { index: 0 }]
    );
}

fn names() {
    let long = "n".repeat(90);
    let body = json!({
        "tools": [tool("a.b"), tool("a_b"), tool(&long)],
        "tool_choice": {"type": "function", "function": {"name": "a.b"}},
        "messages": [call("functions.a:0", "a.b", "{}"), result("functions.a:0", json!("x"))]
    });
    let chat = format(Dialect::Chat);
    let request = chat.decode_request(body.to_string().as_bytes(), &Route::default()).unwrap();
    let encoded = chat.encode_request(&request, &Target::default());
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    let name = |at: usize| body["tools"][at]["function"]["name"].as_str().unwrap();
    assert_eq!(name(1), "a_b");
    assert_ne!(name(0), "a_b");
    for at in 0..3 {
        assert!(name(at).len() <= 64 && name(at).chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    }
    assert_eq!(body["tool_choice"]["function"]["name"], name(0));
    assert_eq!(body["messages"][0]["tool_calls"][0]["function"]["name"], name(0));
    assert_eq!(body["messages"][0]["tool_calls"][0]["id"], "functions.a:0");
    for (at, known) in [(0, "a.b"), (1, "a_b"), (2, long.as_str())] {
        let start = CallStart { id: "x".to_owned(), name: name(at).to_owned(), ..CallStart::default() };
        let events = encoded.restore.events(vec![Event::CallStart(start)]);
        assert!(matches!(&events[0], Event::CallStart(start) if start.name == known), "{events:?}");
    }
}

fn media(url: &str) {
    let image = json!({"type": "image_url", "image_url": {"url": url}});
    let content = json!([{"type": "text", "text": "see"}, image]);
    let two = json!({"role": "assistant", "tool_calls": [call("a", "f", "{}")["tool_calls"][0], call("b", "g", "{}")["tool_calls"][0]]});
    let (body, lost) =
        ask(json!([two, result("a", content), result("b", json!("x")), user("so?")]), &Target::default());
    assert_eq!(roles(&body), ["assistant", "tool", "tool", "user", "user"]);
    assert_eq!(body["messages"][1]["content"][1]["text"], "[image 1: see the next user turn]");
    assert_eq!(body["messages"][3]["content"][1], image);
    assert_eq!(lost, ["messages[1].content=image of a tool result sent in a user turn"]);
}

fn ask(messages: Value, target: &Target) -> (Value, Vec<String>) {
    ask_body(json!({ "messages": messages }), target)
}

/// The member's body and what was lost, developer turns aside.
fn ask_body(body: Value, target: &Target) -> (Value, Vec<String>) {
    let chat = format(Dialect::Chat);
    let request = chat.decode_request(body.to_string().as_bytes(), &Route::default()).unwrap();
    let encoded = chat.encode_request(&request, target);
    let lost = encoded.notices.iter().map(|notice| format!("{}={}", notice.field, notice.reason));
    (serde_json::from_slice(&encoded.body).unwrap(), lost.collect())
}

fn roles(body: &Value) -> Vec<&str> {
    body["messages"].as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect()
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn tool(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}})
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}]})
}

fn result(id: &str, content: Value) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": content})
}
