//! A tool loop from every caller over a member of every dialect: wire.md §4, §6.

use bench_tests::{
    Lab,
    upstream::{Api, End, Received, Said, Script},
};
use serde_json::{Value, json};

use super::{
    caller::{Ask, Caller, PIXEL, Turn},
    heard::{Called, Heard, Part},
    lab::{asked, routed_as, says},
};

const ARGUMENTS: &[&str] = &["{\"z\":", " 1.50,\"at\": \"caf\u{e9}\"}"];
const CALLS: &[Said] = &[
    Said::Thinks("I should look."),
    Said::Text("Looking now."),
    Said::Call("call_a", "look", ARGUMENTS),
    Said::Call("call_b", "now", &["{}"]),
];

/// Calls two tools at once, then answers.
fn looks_then_answers() -> Script {
    Script::in_any(|api, request| match has_results(api, request) {
        true => says(api, request, "It is dark."),
        false => request.told(api, CALLS, End::Proper),
    })
}

fn has_results(api: Api, request: &Received) -> bool {
    !sent_results(api, &request.json()).is_empty()
}

async fn lab(api: Api) -> Lab {
    let facts = json!({"tools": true, "vision": true});
    routed_as([("alpha", api, looks_then_answers())], |it| it.facts(facts)).await
}

fn has_ids(caller: Caller) -> bool {
    matches!(caller, Caller::Chat | Caller::Responses | Caller::Anthropic)
}

fn gives_ids(member: Api) -> bool {
    matches!(member, Api::Chat | Api::Responses | Api::Anthropic)
}

#[tokio::test]
async fn calls_come_with_their_thoughts_ids_and_arguments() {
    for member in Api::ALL {
        let lab = lab(member).await;
        for caller in Caller::AGENTS {
            let mut ids = Vec::new();
            for stream in [false, true] {
                let what = format!("{caller:?} over {member:?}, streamed: {stream}");
                let heard = caller.either(lab.http(), &Ask::of(&what).tools(), stream).await;
                assert!(heard.is_whole(), "{what}: {}", heard.raw);
                assert_eq!(heard.thinking(), "I should look.", "{what}: {}", heard.raw);
                assert_eq!(heard.text(), "Looking now.", "{what}: {}", heard.raw);
                let calls = heard.calls();
                let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
                assert_eq!(names, ["look", "now"], "{what}: {}", heard.raw);
                let arguments: Vec<Value> = calls.iter().map(|call| arguments(call, &what)).collect();
                assert_eq!(arguments, [json!({"z": 1.5, "at": "café"}), json!({})], "{what}: {}", heard.raw);
                finishes_with_calls(&heard, caller, &what);
                if has_ids(caller) {
                    let own: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
                    match gives_ids(member) {
                        true => assert_eq!(own, ["call_a", "call_b"], "{what}"),
                        false => assert!(!own[0].is_empty() && own[0] != own[1], "{what}: {own:?}"),
                    }
                    ids.push(own);
                    if gives_ids(member) && stream {
                        assert_eq!(heard.fragments, 3, "{what}: as they come: {}", heard.raw);
                        assert_eq!(calls[0].arguments, ARGUMENTS.concat(), "{what}: to the letter");
                    }
                }
            }
            // The same ids, streamed and whole.
            assert!(ids.windows(2).all(|pair| pair[0] == pair[1]), "{caller:?} over {member:?}: {ids:?}");
        }
    }
}

fn arguments(call: &Called, what: &str) -> Value {
    serde_json::from_str(&call.arguments).unwrap_or_else(|error| panic!("{what}: {error}: {call:?}"))
}

fn finishes_with_calls(heard: &Heard, caller: Caller, what: &str) {
    let wanted = match caller {
        Caller::Chat => "tool_calls",
        Caller::Responses => "completed",
        Caller::Anthropic => "tool_use",
        Caller::Gemini => "STOP",
        _ => "stop",
    };
    assert_eq!(heard.finish.as_deref(), Some(wanted), "{what}: {}", heard.raw);
}

/// The agent runs both, and sends all of it back with their results.
#[tokio::test]
async fn the_loop_goes_on_with_results_and_pictures_in_them() {
    for member in Api::ALL {
        let lab = lab(member).await;
        for caller in Caller::AGENTS {
            for (stream, picture) in [(false, false), (true, false), (true, true)] {
                let what =
                    format!("{caller:?} over {member:?}, streamed: {stream}, with a picture: {picture}");
                let begun = Ask::of(&what).system("You are an agent.").tools();
                let heard = caller.either(lab.http(), &begun, stream).await;
                let mut next = begun.turn(Turn::Assistant(heard.parts.clone()));
                for (call, text) in heard.calls().into_iter().zip(["dark there", "it is noon"]) {
                    next = next.turn(Turn::Result {
                        id: call.id.clone(),
                        name: call.name.clone(),
                        text: text.into(),
                        picture: picture && call.name == "look",
                    });
                }
                let answered = caller.either(lab.http(), &next, stream).await;
                assert!(answered.is_whole(), "{what}: {}", answered.raw);
                assert_eq!(answered.text(), "It is dark.", "{what}: {}", answered.raw);
                assert_eq!(answered.conversation(), heard.conversation(), "{what}");

                let sent = asked(&lab, "alpha").pop().expect("asked").json();
                let calls = sent_calls(member, &sent);
                let named: Vec<(&str, &Value)> =
                    calls.iter().map(|call| (call.1.as_str(), &call.2)).collect();
                let look = json!({"z": 1.5, "at": "café"});
                assert_eq!(named, [("look", &look), ("now", &json!({}))], "{what}: {sent}");
                let results = sent_results(member, &sent);
                assert_eq!(results.len(), 2, "{what}: {sent}");
                for (at, words) in ["dark there", "it is noon"].into_iter().enumerate() {
                    assert_eq!(results[at].0, calls[at].0, "{what}: a result is its call's: {sent}");
                    assert!(results[at].1.contains(words), "{what}: {}", results[at].1);
                }
                if gives_ids(member) && has_ids(caller) {
                    assert_eq!((calls[0].0.as_str(), calls[1].0.as_str()), ("call_a", "call_b"), "{what}");
                }
                assert_eq!(sent.to_string().contains(PIXEL), picture, "{what}: {sent}");
                // The thoughts go back to a member that takes them without a seal.
                assert_eq!(sent["tools"].as_array().map(Vec::is_empty), Some(false), "{what}: {sent}");
            }
        }
    }
}

/// The calls in a request to a member: id (or the name, where there are no ids), name, arguments.
fn sent_calls(api: Api, sent: &Value) -> Vec<(String, String, Value)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let parsed = |value: &Value| match value {
        Value::String(text) => serde_json::from_str(text).expect("arguments"),
        object => object.clone(),
    };
    let calls: Vec<&Value> = match api {
        Api::Chat | Api::Ollama => {
            each(&sent["messages"]).flat_map(|message| each(&message["tool_calls"])).collect()
        }
        Api::Responses => each(&sent["input"]).filter(|item| item["type"] == "function_call").collect(),
        Api::Anthropic => {
            let blocks = each(&sent["messages"]).flat_map(|message| each(&message["content"]));
            blocks.filter(|block| block["type"] == "tool_use").collect()
        }
        Api::Gemini => {
            let parts = each(&sent["contents"]).flat_map(|content| each(&content["parts"]));
            parts.filter(|part| part["functionCall"].is_object()).collect()
        }
    };
    let taken = calls.into_iter().map(|call| match api {
        Api::Chat => {
            (text(&call["id"]), text(&call["function"]["name"]), parsed(&call["function"]["arguments"]))
        }
        Api::Ollama => {
            let name = text(&call["function"]["name"]);
            (name.clone(), name, parsed(&call["function"]["arguments"]))
        }
        Api::Responses => (text(&call["call_id"]), text(&call["name"]), parsed(&call["arguments"])),
        Api::Anthropic => (text(&call["id"]), text(&call["name"]), call["input"].clone()),
        Api::Gemini => {
            let name = text(&call["functionCall"]["name"]);
            let args = &call["functionCall"]["args"];
            (name.clone(), name, if args.is_null() { json!({}) } else { args.clone() })
        }
    });
    taken.collect()
}

/// The results in a request to a member: the call's id (or name), and what it holds.
fn sent_results(api: Api, sent: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match api {
        Api::Chat => each(&sent["messages"])
            .filter(|message| message["role"] == "tool")
            .map(|message| (text(&message["tool_call_id"]), message["content"].to_string()))
            .collect(),
        Api::Ollama => each(&sent["messages"])
            .filter(|message| message["role"] == "tool")
            .map(|message| (text(&message["tool_name"]), message["content"].to_string()))
            .collect(),
        Api::Responses => each(&sent["input"])
            .filter(|item| item["type"] == "function_call_output")
            .map(|item| (text(&item["call_id"]), item["output"].to_string()))
            .collect(),
        Api::Anthropic => each(&sent["messages"])
            .flat_map(|message| each(&message["content"]))
            .filter(|block| block["type"] == "tool_result")
            .map(|block| (text(&block["tool_use_id"]), block["content"].to_string()))
            .collect(),
        Api::Gemini => each(&sent["contents"])
            .flat_map(|content| each(&content["parts"]))
            .filter(|part| part["functionResponse"].is_object())
            .map(|part| (text(&part["functionResponse"]["name"]), part["functionResponse"].to_string()))
            .collect(),
    }
}

fn each(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// Free-form tools and groups of Responses callers, over members that have neither: they come back as they were
/// declared.
#[tokio::test]
async fn free_form_tools_and_groups_come_back_as_they_were_declared() {
    for member in Api::ALL {
        let script = Script::in_any(move |api, request| {
            let body = request.json().to_string();
            // The names that this member knows them by.
            let flat = |part: &str| {
                let names = declared(api, &request.json());
                let name = names.into_iter().find(|name| name.contains(part));
                let name = name.unwrap_or_else(|| panic!("no {part} in {body}"));
                &*Box::leak(name.into_boxed_str())
            };
            let said = match api {
                Api::Responses => vec![Said::Custom("call_a", "apply_patch", &["*** Begin", " Patch\n"])],
                _ => vec![
                    Said::Call("call_a", flat("apply_patch"), &["{\"input\":", "\"*** Begin Patch\\n\"}"]),
                    Said::Call("call_b", flat("read"), &["{\"p\":\"x\"}"]),
                ],
            };
            request.told(api, &said, End::Proper)
        });
        let lab = routed_as([("alpha", member, script)], |it| it).await;
        let ask = Ask::of("patch it").with(
            "tools",
            json!([
                {"type": "custom", "name": "apply_patch", "description": "Patches.",
                 "format": {"type": "grammar", "syntax": "lark", "definition": "start: \"x\""}},
                {"type": "namespace", "name": "mcp__files", "description": "Files.", "tools": [
                    {"type": "function", "name": "read", "strict": false,
                     "parameters": {"type": "object", "properties": {"p": {"type": "string"}}}},
                ]},
            ]),
        );
        for stream in [false, true] {
            let what = format!("{member:?}, streamed: {stream}");
            let heard = Caller::Responses.either(lab.http(), &ask, stream).await;
            assert!(heard.is_whole(), "{what}: {}", heard.raw);
            let calls = heard.calls();
            let patch = Called {
                id: calls[0].id.clone(),
                name: "apply_patch".into(),
                arguments: "*** Begin Patch\n".into(),
                custom: true,
                ..Called::default()
            };
            assert_eq!(calls[0], &patch, "{what}: {}", heard.raw);
            if stream {
                let done = "\"response.custom_tool_call_input.done\"";
                assert!(heard.raw.contains(done), "{what}: {}", heard.raw);
            }
            if member != Api::Responses {
                assert_eq!(
                    (calls[1].name.as_str(), calls[1].namespace.as_deref(), calls[1].arguments.as_str()),
                    ("read", Some("mcp__files"), "{\"p\":\"x\"}"),
                    "{what}: {}",
                    heard.raw
                );
            }
            // And back: the member gets the result of the tool that it called.
            let next = ask.clone().with(
                "input",
                json!([
                    {"role": "user", "content": format!("patch it, {stream}")},
                    {"type": "custom_tool_call", "call_id": calls[0].id, "name": "apply_patch", "input": "*** Begin Patch\n"},
                    {"type": "custom_tool_call_output", "call_id": calls[0].id, "output": "patched"},
                ]),
            );
            let _ = Caller::Responses.ask(lab.http(), &next).await;
            let sent = asked(&lab, "alpha").pop().expect("asked").json();
            if member != Api::Responses {
                let calls = sent_calls(member, &sent);
                assert!(calls[0].1.contains("apply_patch"), "{what}: {sent}");
                assert_eq!(calls[0].2, json!({"input": "*** Begin Patch\n"}), "{what}: {sent}");
                assert!(sent_results(member, &sent)[0].1.contains("patched"), "{what}: {sent}");
            }
        }
    }
}

/// The names of the functions that a member is offered.
fn declared(api: Api, sent: &Value) -> Vec<String> {
    let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
    match api {
        Api::Chat | Api::Ollama => each(&sent["tools"]).map(|tool| name(&tool["function"])).collect(),
        Api::Gemini => {
            each(&sent["tools"]).flat_map(|tool| each(&tool["functionDeclarations"])).map(name).collect()
        }
        _ => each(&sent["tools"]).map(name).collect(),
    }
}

/// Structured output and how much to think, as callers say them and as members are told.
#[tokio::test]
async fn structured_output_and_effort_reach_a_member_of_every_dialect() {
    let schema = json!({
        "type": "object", "properties": {"capital": {"type": "string"}}, "required": ["capital"],
        "additionalProperties": false,
    });
    let said = |caller: Caller| {
        let ask = Ask::of("the capital?");
        match caller {
            Caller::Chat => ask
                .with("response_format", json!({"type": "json_schema", "json_schema": {"name": "c", "schema": schema, "strict": true}}))
                .with("reasoning_effort", json!("high")),
            Caller::Responses => ask
                .with("text", json!({"format": {"type": "json_schema", "name": "c", "schema": schema, "strict": true}}))
                .with("reasoning", json!({"effort": "high"})),
            Caller::Anthropic => ask
                .with("output_config", json!({"format": {"type": "json_schema", "schema": schema}, "effort": "high"}))
                .with("thinking", json!({"type": "adaptive"}))
                .with("max_tokens", json!(20_000)),
            Caller::Ollama => ask.with("format", schema.clone()).with("think", json!("high")),
            _ => ask.with(
                "generationConfig",
                json!({
                    "responseMimeType": "application/json", "responseJsonSchema": schema,
                    "thinkingConfig": {"thinkingLevel": "HIGH"},
                }),
            ),
        }
    };
    for member in Api::ALL {
        let lab = routed_as([("alpha", member, super::lab::named("alpha"))], |it| it).await;
        for caller in Caller::AGENTS {
            let what = format!("{caller:?} over {member:?}");
            let heard = caller.ask(lab.http(), &said(caller)).await;
            assert!(heard.is_whole(), "{what}: {}", heard.raw);
            let sent = asked(&lab, "alpha").pop().expect("asked").json();
            let (format, effort): (&[&str], &[&str]) = match member {
                Api::Chat => (&["/response_format"], &["/reasoning_effort"]),
                Api::Responses => (&["/text/format"], &["/reasoning/effort"]),
                Api::Anthropic => {
                    (&["/output_config/format", "/output_format"], &["/thinking", "/output_config/effort"])
                }
                Api::Gemini => (
                    &["/generationConfig/responseJsonSchema", "/generationConfig/responseSchema"],
                    &["/generationConfig/thinkingConfig"],
                ),
                Api::Ollama => (&["/format"], &["/think"]),
            };
            let find = |at: &[&str]| at.iter().find_map(|at| sent.pointer(at)).cloned();
            let told = find(format).unwrap_or_else(|| panic!("{what}: no schema: {sent}"));
            assert!(told.to_string().contains("capital"), "{what}: {told}");
            assert!(find(effort).is_some(), "{what}: no effort: {sent}");
        }
    }
}

/// An assistant's turn that says nothing but calls goes on as it is.
#[tokio::test]
async fn what_is_resent_is_told_alike_each_time() {
    for member in Api::ALL {
        let lab = lab(member).await;
        for caller in Caller::AGENTS {
            let begun = Ask::of(&format!("{caller:?}")).tools();
            let heard = caller.stream(lab.http(), &begun).await;
            let mut next = begun.turn(Turn::Assistant(heard.parts.clone()));
            for call in heard.calls() {
                let (id, name) = (call.id.clone(), call.name.clone());
                next = next.turn(Turn::Result { id, name, text: "done".into(), picture: false });
            }
            caller.stream(lab.http(), &next).await;
            let once = sent_calls(member, &asked(&lab, "alpha").pop().expect("asked").json());
            let later =
                next.turn(Turn::Assistant(vec![Part::Text("So.".into())])).turn(Turn::User("and?".into()));
            caller.stream(lab.http(), &later).await;
            let twice = sent_calls(member, &asked(&lab, "alpha").pop().expect("asked").json());
            assert_eq!(once, twice, "{caller:?} over {member:?}: the same prefix, so that caches hold");
        }
    }
}
