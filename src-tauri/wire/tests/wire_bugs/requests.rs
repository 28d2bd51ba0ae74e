//! A caller's body, and the body a member is asked with or the refusal.

use libtest_mimic::Trial;
use wire::{Dialect, Route, Target, format};

use crate::trial;

struct Case {
    id: &'static str,
    what: &'static str,
    client: &'static str,
    /// The member's body between its messages' brackets, or `error: …`.
    upstream: &'static str,
    notices: &'static str,
}

const fn case(
    id: &'static str,
    what: &'static str,
    client: &'static str,
    upstream: &'static str,
    notices: &'static str,
) -> Case {
    Case { id, what, client, upstream, notices }
}

pub fn trials() -> Vec<Trial> {
    CASES
        .iter()
        .map(|case| {
            trial(format!("{} {}", case.id, case.what), || {
                let (upstream, notices) = ask(case.client);
                assert_eq!(upstream, case.upstream);
                assert_eq!(notices, case.notices);
                // The same question gives the same bytes, or members' prompt caches are lost.
                assert_eq!(ask(case.client).0, upstream);
            })
        })
        .collect()
}

/// The member's body and what was lost, or the refusal.
fn ask(client: &str) -> (String, String) {
    let chat = format(Dialect::Chat);
    let request = match chat.decode_request(client.as_bytes(), &Route::default()) {
        Ok(request) => request,
        Err(error) => return (format!("{}: {error}", error.code), String::new()),
    };
    let target = Target { served: "m".to_owned(), ..Target::default() };
    let encoded = chat.encode_request(&request, &target);
    let body = String::from_utf8(encoded.body).unwrap();
    let lost: Vec<String> = encoded.notices.iter().map(|n| format!("{}={}", n.field, n.reason)).collect();
    (body, lost.join(", "))
}

/// What every member is asked for beside the messages.
macro_rules! asked {
    ($messages:literal) => {
        concat!(
            r#"{"model":"m","messages":["#,
            $messages,
            r#"],"stream":true,"stream_options":{"include_usage":true}}"#
        )
    };
    ($messages:literal, $more:literal) => {
        concat!(
            r#"{"model":"m","messages":["#,
            $messages,
            r#"],"stream":true,"stream_options":{"include_usage":true},"#,
            $more,
            "}"
        )
    };
}

const CASES: &[Case] = &[
    case(
        "W056",
        "usage is asked for though the client did not",
        r#"{"model":"bench/x","stream":true,"messages":[{"role":"user","content":"hi"}]}"#,
        asked!(r#"{"role":"user","content":"hi"}"#),
        "",
    ),
    case(
        "W085",
        "an image stays an image",
        r#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}]}"#,
        asked!(
            r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}"#
        ),
        "",
    ),
    case(
        "W110",
        "text, image, text keep their order",
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"https://h/i.png","detail":"low"}},{"type":"text","text":"b"}]}]}"#,
        asked!(
            r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"https://h/i.png","detail":"low"}},{"type":"text","text":"b"}]}"#
        ),
        "",
    ),
    case(
        "W077",
        "an empty text beside other parts is left out",
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":" "},{"type":"text","text":"b"}]}]}"#,
        asked!(r#"{"role":"user","content":"b"}"#),
        "",
    ),
    case(
        "W087",
        "cache marks are not sent to members that may refuse them, and listed",
        r#"{"messages":[{"role":"system","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":"b"}]}"#,
        asked!(r#"{"role":"system","content":"a"},{"role":"user","content":"b"}"#),
        "messages[0].content[0].cache_control=not sent to members",
    ),
    case(
        "W114",
        "vendor fields are not sent to other vendors, and listed",
        r#"{"prompt_cache_key":"k","prompt_cache_retention":"24h","store":false,"messages":[{"role":"user","content":"b"}]}"#,
        asked!(r#"{"role":"user","content":"b"}"#),
        "prompt_cache_key=not sent to members, prompt_cache_retention=not sent to members, store=not sent to members",
    ),
    case(
        "W096",
        "developer goes as system",
        r#"{"messages":[{"role":"developer","content":"a"},{"role":"user","content":"b"}]}"#,
        asked!(r#"{"role":"system","content":"a"},{"role":"user","content":"b"}"#),
        "messages[0].role=developer sent as system",
    ),
    case(
        "W100",
        "a tool choice without tools is dropped",
        r#"{"tools":[],"tool_choice":"auto","messages":[{"role":"user","content":"b"}]}"#,
        asked!(r#"{"role":"user","content":"b"}"#),
        "",
    ),
    case(
        "W109",
        "sampling is each seat's own, and listed",
        r#"{"temperature":0.16,"top_p":1,"max_completion_tokens":50,"response_format":{"type":"json_object"},"reasoning_effort":"low","messages":[{"role":"user","content":"b"}]}"#,
        asked!(r#"{"role":"user","content":"b"}"#),
        "temperature=ignored by a panel, top_p=ignored by a panel, max_completion_tokens=ignored by a panel, response_format=ignored by a panel, reasoning_effort=ignored by a panel",
    ),
    case(
        "W109",
        "sampling goes to every seat when asked, number text untouched",
        r#"{"bench":{"options":true},"temperature":0.10,"stop":["a","b"],"max_tokens":50,"messages":[{"role":"user","content":"b"}]}"#,
        asked!(r#"{"role":"user","content":"b"}"#, r#""temperature":0.10,"stop":["a","b"],"max_tokens":50"#),
        "",
    ),
    case(
        "W115",
        "a tool result as parts, as an object, as a list",
        r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"x"}]},{"role":"tool","tool_call_id":"b","content":{"z":1,"a":2.0}},{"role":"tool","tool_call_id":"c","content":[1, {}]}]}"#,
        asked!(
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":"x","tool_call_id":"a"},{"role":"tool","content":"{\"z\":1,\"a\":2.0}","tool_call_id":"b"},{"role":"tool","content":"[1, {}]","tool_call_id":"c"}"#
        ),
        "",
    ),
    case(
        "W038",
        "argument and schema text is untouched",
        r#"{"tools":[{"type":"function","function":{"name":"f","parameters":{"z":1.0,"a":{},"type":"object"}}}],"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"functions.f:0","type":"function","function":{"name":"f","arguments":"{\"z\":1,\"a\":2}"}}]}]}"#,
        r#"{"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"functions.f:0","type":"function","function":{"name":"f","arguments":"{\"z\":1,\"a\":2}"}}]}],"tools":[{"type":"function","function":{"name":"f","parameters":{"z":1.0,"a":{},"type":"object"}}}],"stream":true,"stream_options":{"include_usage":true}}"#,
        "",
    ),
    case(
        "W151",
        "a lone surrogate is accepted",
        r#"{"messages":[{"role":"user","content":"abc\ud83d"}]}"#,
        asked!("{\"role\":\"user\",\"content\":\"abc\u{fffd}\"}"),
        "",
    ),
    case(
        "W151",
        "a pair is a character, an escaped backslash is none",
        r#"{"messages":[{"role":"user","content":"\ud83c\udf0d \\ud83d \udf0d\ud83c\ud83c\udf0d"}]}"#,
        asked!("{\"role\":\"user\",\"content\":\"🌍 \\\\ud83d \u{fffd}\u{fffd}🌍\"}"),
        "",
    ),
    case(
        "W152",
        "what is not ours keeps its key order",
        r#"{"bench":{"options":true},"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"z":{},"a":{}}}},"messages":[{"role":"user","content":"b"}]}"#,
        asked!(
            r#"{"role":"user","content":"b"}"#,
            r#""response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"z":{},"a":{}}}}"#
        ),
        "",
    ),
    case(
        "W181",
        "NUL is carried",
        r#"{"messages":[{"role":"user","content":"a\u0000b"}]}"#,
        asked!(r#"{"role":"user","content":"a\u0000b"}"#),
        "",
    ),
    case(
        "W183",
        "a document goes on as it is",
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0="}}]}]}"#,
        asked!(
            r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0="}}]}"#
        ),
        "",
    ),
];
