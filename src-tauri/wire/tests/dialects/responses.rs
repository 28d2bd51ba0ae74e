//! The Responses dialect.

use proptest::prelude::*;
use serde_json::{Value, json};
use wire::{
    ApiError, CallKind, CallStart, Content, Dialect, Event, Finish, Kind, Member, Origin, Reply, ReplyHead,
    Request, Role, Route, Seal, Target, Usage, format, relay, sse,
};

use crate::support::{decode_as, decode_as_cut_everywhere, render};

fn read(body: &Value) -> Result<Request, ApiError> {
    format(Dialect::Responses).decode_request(body.to_string().as_bytes(), &Route::default())
}

fn events_of(bytes: &[u8]) -> Vec<Value> {
    let mut frames = Vec::new();
    sse::Decoder::default().push(bytes, &mut frames).unwrap();
    frames.iter().map(|frame| serde_json::from_str(&frame.data).unwrap()).collect()
}

fn head() -> ReplyHead {
    ReplyHead { id: "1".to_owned(), created: 7, model: "bench/x".to_owned(), ..ReplyHead::default() }
}

#[test]
fn every_wrong_value_is_named_with_its_place() {
    let item = |item: Value| json!({"input": [item]});
    let part = |part: Value| json!({"input": [{"role": "user", "content": [part]}]});
    let tool = |tool: Value| json!({"input": "a", "tools": [tool]});
    for (body, wanted) in [
        (json!({}), "input: expected a string or a list of items"),
        (json!({"input": []}), "input: the list is empty; send at least one item"),
        (json!({"input": 1}), "input: expected string or list"),
        (json!({"input": "a", "model": []}), "model: expected string"),
        (json!({"input": "a", "instructions": 1}), "instructions: expected string"),
        (item(json!(1)), "input[0]: expected object"),
        (item(json!({"type": 1})), "input[0].type: expected string"),
        (item(json!({"content": "a"})), "input[0].role: expected system, developer, user or assistant"),
        (item(json!({"role": "tool"})), "input[0].role: expected system, developer, user or assistant"),
        (item(json!({"role": "user"})), "input[0].content: expected string or list"),
        (item(json!({"role": "user", "content": {}})), "input[0].content: expected string or list"),
        (item(json!({"type": "function_call"})), "input[0].name: expected string"),
        (
            item(json!({"type": "function_call", "name": "f", "arguments": {}})),
            "input[0].arguments: expected string",
        ),
        (
            item(json!({"type": "function_call_output", "output": 1})),
            "input[0].output: expected string or list",
        ),
        (item(json!({"type": "reasoning", "summary": [1]})), "input[0].summary[0]: expected object"),
        (part(json!({"text": "a"})), "input[0].content[0].type: expected string"),
        (part(json!({"type": "input_text"})), "input[0].content[0].text: expected string"),
        (part(json!({"type": "input_image"})), "input[0].content[0].image_url: expected string"),
        (
            part(json!({"type": "input_image", "image_url": "ftp://x"})),
            "input[0].content[0].image_url: expected an http or https URL, or data:image/…;base64,…",
        ),
        (
            part(json!({"type": "input_file", "file_data": "zz"})),
            "input[0].content[0].file_data: expected data:<type>;base64,…, or the base64 of a PDF",
        ),
        (tool(json!({"type": "function"})), "tools[0].name: expected string"),
        (
            tool(json!({"type": "function", "name": "f", "parameters": []})),
            "tools[0].parameters: expected object",
        ),
        (tool(json!({"type": "namespace", "name": "n"})), "tools[0].tools: expected list"),
        (
            tool(
                json!({"type": "namespace", "name": "n", "tools": [{"type": "namespace", "name": "m", "tools": []}]}),
            ),
            "tools[0].tools[0].type: expected no namespace within a namespace",
        ),
        (
            tool(json!({"type": "namespace", "name": "n", "tools": [{"type": "function"}]})),
            "tools[0].tools[0].name: expected string",
        ),
        (json!({"input": "a", "tool_choice": 1}), "tool_choice: expected string or object"),
        (
            json!({"input": "a", "tool_choice": {"type": "allowed_tools", "mode": "x"}}),
            "tool_choice.mode: expected \"auto\" or \"required\"",
        ),
        (json!({"input": "a", "temperature": "x"}), "temperature: expected number"),
        (json!({"input": "a", "max_output_tokens": 0}), "max_output_tokens: expected whole number from 1"),
        (json!({"input": "a", "text": 1}), "text: expected object"),
        (
            json!({"input": "a", "text": {"format": {"type": "json_schema"}}}),
            "text.format.schema: expected object",
        ),
        (json!({"input": "a", "reasoning": {"effort": 1}}), "reasoning.effort: expected string"),
        (json!({"input": "a", "include": "x"}), "include: expected list of strings"),
        (json!({"input": "a", "store": "x"}), "store: expected true or false"),
        (json!({"input": "a", "previous_response_id": 1}), "previous_response_id: expected string"),
        (json!({"input": "a", "metadata": 1}), "metadata: expected object"),
        (json!({"input": "a", "truncation": 1}), "truncation: expected string"),
    ] {
        let error = read(&body).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (Kind::InvalidRequest, wanted), "{body}");
    }
}

#[test]
fn refusals_name_the_way_out() {
    let file = |kind: &str| json!({"input": [{"role": "user", "content": [{"type": kind, "file_id": "f"}]}]});
    for (body, code, wanted) in [
        (json!({"input": "a", "background": true}), "no_background", "set stream to true"),
        (json!({"input": "a", "conversation": "conv_1"}), "stored_conversation", "previous_response_id"),
        (json!({"prompt": {"id": "p"}}), "stored_prompt", "instructions and input"),
        (file("input_image"), "uploaded_file", "image_url"),
        (file("input_file"), "uploaded_file", "file_data"),
    ] {
        let error = read(&body).map_or_else(|error| error, |request| request.bound().unwrap());
        assert_eq!((error.kind, error.code), (Kind::InvalidRequest, code));
        assert!(error.message.contains(wanted), "{}", error.message);
    }
    assert!(read(&json!({"input": "a", "background": false})).unwrap().extra.is_empty());
}

#[test]
fn what_an_assistant_thought_said_and_called_is_one_turn() {
    let request = read(&json!({"input": [
        {"role": "user", "content": "a"},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "t"}], "encrypted_content": "e"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]},
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "2", "name": "g", "input": "raw"},
        {"type": "function_call_output", "call_id": "1", "output": {"ok": true}},
        {"type": "custom_tool_call_output", "call_id": "2", "output": [{"type": "input_text", "text": "x"}]},
        {"type": "message", "role": "assistant", "content": "c"},
        {"type": "message", "role": "assistant", "content": "d"}
    ]}))
    .unwrap();
    let roles: Vec<Role> = request.messages.iter().map(|message| message.role).collect();
    assert_eq!(
        roles,
        [Role::User, Role::Assistant, Role::Tool, Role::Tool, Role::Assistant, Role::Assistant]
    );
    let kinds: Vec<&str> = request.messages[1].parts.iter().map(|part| part.content.kind()).collect();
    assert_eq!(kinds, ["thinking", "thinking", "text", "tool call", "tool call"]);
    assert_eq!(request.part_place(1, 2), "input[2].content[0]");
    let results = request.parts().filter_map(|part| match &part.content {
        Content::ToolResult(result) => {
            Some((result.call_id.as_str(), result.kind, result.parts[0].content.as_text().unwrap()))
        }
        _ => None,
    });
    assert_eq!(
        results.collect::<Vec<_>>(),
        [("1", CallKind::Function, r#"{"ok":true}"#), ("2", CallKind::Custom, "x")]
    );
}

#[test]
fn every_kind_of_item_is_added_told_and_done() {
    let call = |index, name: &str, kind| {
        let (id, name) = (format!("call_{index}"), name.to_owned());
        Event::CallStart(CallStart { index, id, name, kind, ..CallStart::default() })
    };
    let seal = Seal { data: "s".to_owned(), origin: Some(Member(1)) };
    let all = [
        Event::Thinking("th".to_owned()),
        Event::ThinkingSignature(seal.clone()),
        Event::Redacted { seal, id: Some("rs_own".to_owned()) },
        Event::Text("te".to_owned()),
        Event::Refusal("no".to_owned()),
        call(0, "f", CallKind::Function),
        call(1, "g", CallKind::Custom),
        Event::CallArguments { index: 1, delta: "raw".to_owned() },
        Event::CallArguments { index: 0, delta: "{}".to_owned() },
        Event::CallEnd { index: 0 },
        Event::CallEnd { index: 1 },
        Event::Finish { reason: Finish::ToolCalls, inferred: false },
    ];
    let mut encoder = format(Dialect::Responses).encoder(head());
    let mut stream: Vec<u8> = all.iter().flat_map(|event| encoder.event(event)).collect();
    stream.extend(encoder.finish(Usage::default(), Some(&json!({"panel": "p"}))));
    let events = events_of(&stream);
    let told: Vec<String> = events
        .iter()
        .map(|event| {
            let kind = event["type"].as_str().unwrap().trim_start_matches("response.");
            let place = |name: &str| event.get(name).map(|place| format!(" {place}")).unwrap_or_default();
            format!("{kind}{}{}", place("output_index"), place("content_index"))
        })
        .collect();
    assert_eq!(
        told,
        [
            "created",
            "in_progress",
            "output_item.added 0",
            "reasoning_summary_part.added 0",
            "reasoning_summary_text.delta 0",
            "reasoning_summary_text.done 0",
            "reasoning_summary_part.done 0",
            "output_item.done 0",
            "output_item.added 1",
            "output_item.done 1",
            "output_item.added 2",
            "content_part.added 2 0",
            "output_text.delta 2 0",
            "output_text.done 2 0",
            "content_part.done 2 0",
            "content_part.added 2 1",
            "refusal.delta 2 1",
            "refusal.done 2 1",
            "content_part.done 2 1",
            "output_item.done 2",
            "output_item.added 3",
            "output_item.added 4",
            "custom_tool_call_input.delta 4",
            "function_call_arguments.delta 3",
            "function_call_arguments.done 3",
            "output_item.done 3",
            "custom_tool_call_input.done 4",
            "output_item.done 4",
            "completed",
        ]
    );
    // An item has one id from beginning to end, and what is done is what the response holds.
    let done: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done")
        .map(|event| &event["item"])
        .collect();
    let last = &events[events.len() - 1]["response"];
    assert_eq!(json!(done), last["output"]);
    assert_eq!(last["bench"], json!({"panel": "p"}));
    for event in events.iter().filter(|event| event.get("output_index").is_some()) {
        let id = event.get("item_id").or_else(|| event["item"].get("id")).unwrap();
        assert_eq!(*id, last["output"][event["output_index"].as_u64().unwrap() as usize]["id"], "{event}");
    }
    // The whole reply says the same.
    let whole = format(Dialect::Responses).encode_reply(&head(), &Reply::from_events(&all), None);
    let whole: Value = serde_json::from_slice(&whole).unwrap();
    assert_eq!(whole["output"], last["output"]);
}

#[test]
fn signatures_and_ciphertexts_come_back_as_what_they_were() {
    let seal = |data: &str| Seal { data: data.to_owned(), origin: Some(Member(7)) };
    let said = [
        Event::Thinking("a\n\nb".to_owned()),
        Event::ThinkingSignature(seal("sig")),
        Event::Thinking("c".to_owned()),
        Event::Redacted { seal: seal("enc"), id: Some("rs_1".to_owned()) },
        Event::Text("d".to_owned()),
    ];
    let reply = format(Dialect::Responses).encode_reply(&head(), &Reply::from_events(&said), None);
    let reply: Value = serde_json::from_slice(&reply).unwrap();
    let request = read(&json!({"input": reply["output"]})).unwrap();
    let parts: Vec<&Content> = request.parts().map(|part| &part.content).collect();
    assert!(
        matches!(parts[0], Content::Thinking(thinking)
            if thinking.text == "a\n\nb" && thinking.signature == Some(seal("sig"))),
        "{parts:?}"
    );
    assert!(matches!(parts[1], Content::Thinking(thinking) if thinking.text == "c"), "{parts:?}");
    assert!(matches!(parts[2], Content::Redacted { seal: found, .. } if *found == seal("enc")), "{parts:?}");
}

#[test]
fn an_error_is_told_twice_and_the_stream_fails() {
    let mut encoder = format(Dialect::Responses).encoder(head());
    let mut out = encoder.text("a");
    let error = ApiError::new(Kind::RateLimit, Origin::Upstream, "no_answer", "no seat answered");
    out.extend(encoder.error(&error, Some(&json!({"panel": "p"}))));
    let events = events_of(&out);
    let [.., told, failed] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(
        *told,
        json!({"type": "error", "sequence_number": 5, "code": "no_answer", "message": "no seat answered", "param": null})
    );
    assert_eq!(
        (&failed["type"], &failed["response"]["status"]),
        (&json!("response.failed"), &json!("failed"))
    );
    assert_eq!(
        failed["response"]["error"],
        json!({"code": "rate_limit_exceeded", "message": "no seat answered"})
    );
    assert_eq!(failed["response"]["bench"], json!({"panel": "p"}));
    // Read back it is an error too.
    assert!(matches!(decode_as(Dialect::Responses, [out.as_slice()]).last(), Some(Event::Error(_))));
}

#[test]
fn what_was_not_streamed_is_read_from_what_is_told_whole() {
    for (what, body, wanted) in [
        (
            "done events alone",
            "data: {\"type\":\"response.output_text.done\",\"output_index\":0,\"content_index\":0,\"text\":\"a\"}\n\n\
             data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"message\",\
             \"content\":[{\"type\":\"output_text\",\"text\":\"a\"}]}}\n\n\
             data: {\"type\":\"response.completed\",\"response\":{\"output\":[{\"type\":\"message\",\
             \"content\":[{\"type\":\"output_text\",\"text\":\"a\"}]}]}}\n\n",
            "text \"a\"\nfinish stop\n",
        ),
        (
            "the end alone",
            "data: {\"type\":\"response.completed\",\"response\":{\"output\":[{\"type\":\"function_call\",\
             \"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"\"}]}}\n\n",
            "call 0 \"c\" f\narguments 0 \"{}\"\nend 0\nfinish tool_calls\n",
        ),
        (
            "arguments with the item only",
            "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\
             \"call_id\":\"c\",\"name\":\"f\"}}\n\n\
             data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\
             \"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}\n\n\
             data: {\"type\":\"response.completed\",\"response\":{}}\n\n",
            "call 0 \"c\" f\narguments 0 \"{\\\"a\\\":1}\"\nend 0\nfinish tool_calls\n",
        ),
        (
            "reasoning and its summary say the same",
            "data: {\"type\":\"response.reasoning_summary_text.delta\",\"output_index\":0,\"delta\":\"s\"}\n\n\
             data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"reasoning\",\
             \"summary\":[{\"text\":\"s\"}],\"content\":[{\"text\":\"long\"}]}}\n\n\
             data: {\"type\":\"response.completed\",\"response\":{}}\n\n",
            "thinking \"s\"\nfinish stop\n",
        ),
        (
            "not finished",
            "{\"object\":\"response\",\"status\":\"in_progress\",\"output\":[]}",
            "error Other: the provider gave a response that is not finished\n",
        ),
        (
            "cancelled",
            "data: {\"type\":\"response.cancelled\",\"response\":{\"status\":\"cancelled\"}}\n\n",
            "error Other: the provider cancelled the response\n",
        ),
        (
            "broken off",
            "data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\n",
            "text \"a\"\nerror Network: the stream ended before its end mark\n",
        ),
    ] {
        let events = decode_as_cut_everywhere(Dialect::Responses, body.as_bytes());
        assert_eq!(render(&events), wanted, "{what}");
    }
}

#[test]
fn a_relayed_body_changes_where_it_must_only() {
    let body = br#"{"model":"bench/x:route", "input":[{"role":"user","content":"a"}],"with":["b"], "tools":[{"type":"namespace","name":"n","tools":[]}],"top_p":1.0,"max_output_tokens":64,"bench":{"reply":"route"}}"#;
    let request = format(Dialect::Responses).decode_request(body, &Route::default()).unwrap();
    let target = Target { served: "m".to_owned(), max_output: Some(32), ..Target::default() };
    let relayed = format(Dialect::Responses).relay_request(body, &request, &target).unwrap();
    assert_eq!(
        String::from_utf8(relayed.body).unwrap(),
        r#"{"model":"m", "input":[{"role":"user","content":"a"}], "tools":[{"type":"namespace","name":"n","tools":[]}],"top_p":1.0,"max_output_tokens":32}"#
    );
    assert_eq!(relayed.notices[0].field, "max_output_tokens");
}

#[test]
fn options_of_owner_and_caller_are_joined() {
    let request =
        read(&json!({"input": "a", "reasoning": {"effort": "low"}, "text": {"verbosity": "low"}})).unwrap();
    let options = json!({"reasoning": {"effort": "high", "summary": "auto"}, "text": {"verbosity": "high", "x": 1},
        "store": true, "stream": false, "temperature": 0.2});
    let target = Target {
        served: "m".to_owned(),
        options: options.as_object().unwrap().clone(),
        callers_options: true,
        ..Target::default()
    };
    let encoded = format(Dialect::Responses).encode_request(&request, &target);
    assert_eq!(
        String::from_utf8(encoded.body).unwrap(),
        r#"{"model":"m","input":[{"type":"message","role":"user","content":"a"}],"stream":true,"store":true,"reasoning":{"effort":"low","summary":"auto"},"text":{"x":1,"verbosity":"low"},"temperature":0.2,"include":["reasoning.encrypted_content"]}"#
    );
    assert_eq!(encoded.notices[0].field, "options.stream");
}

/// What goes on of a stream, the same however it is cut.
fn relayed(dialect: Dialect, body: &[u8], size: usize) -> (Vec<u8>, u32) {
    let mut events = relay::PublicEvents::new(format(dialect));
    let mut out: Vec<u8> = body.chunks(size).flat_map(|piece| events.push(piece)).collect();
    out.extend(events.end());
    (out, events.dropped())
}

#[test]
fn private_events_are_not_relayed() {
    for end in ["\n", "\r\n", "\r"] {
        let public = [
            "event: response.created|data: {\"type\":\"response.created\"}||",
            ": comment||",
            "data: {\"a\":1,\"type\":\"response.output_text.delta\"}||",
            "event: error|data: {}||",
            "data: [DONE]||",
        ];
        let private = [
            "event: codex.rate_limits|data: {\"type\":\"codex.rate_limits\"}||",
            "data: {\"type\":\"responsesapi.websocket_timing\"}||",
        ];
        let lines = |text: String| text.replace('|', end).into_bytes();
        let mixed =
            lines([public[0], private[0], public[1], public[2], private[1], public[3], public[4]].concat());
        for size in 1..mixed.len() {
            let wanted = (lines(public.concat()), 2);
            assert_eq!(relayed(Dialect::Responses, &mixed, size), wanted, "{end:?} {size}");
        }
        assert_eq!(relayed(Dialect::Chat, &mixed, 7), (mixed, 0));
    }
    let whole = b"{\"type\":\"x\"}\n\n{\"type\":\"y\"}\n\n";
    assert_eq!(relayed(Dialect::Responses, whole, 3), (whole.to_vec(), 0));
}

/// Pieces of streams, in whatever order a server might send them.
fn piece() -> impl Strategy<Value = Value> {
    let place = 0u64..3;
    let kinds =
        prop::sample::select(vec!["function_call", "custom_tool_call", "message", "reasoning", "other"]);
    let words = prop::sample::select(vec!["", "{}", "{\"a\"", ":1}", "x"]);
    let item = (kinds, words.clone(), "f?", any::<bool>()).prop_map(|(kind, words, name, is_cut)| {
        json!({"type": kind, "id": "i", "call_id": "c", "name": name, "arguments": words, "input": words,
            "content": [{"type": "output_text", "text": words}], "summary": [{"text": words}],
            "encrypted_content": words, "status": if is_cut { "incomplete" } else { "completed" }})
    });
    let kind = prop::sample::select(vec![
        "output_item.added",
        "output_item.done",
        "output_text.delta",
        "output_text.done",
        "refusal.delta",
        "reasoning_summary_text.delta",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "completed",
        "incomplete",
        "in_progress",
    ]);
    (kind, place, item, words).prop_map(|(kind, place, item, words)| {
        json!({"type": format!("response.{kind}"), "output_index": place, "item_id": "i", "item": item,
            "delta": words, "text": words, "arguments": words, "input": words,
            "response": {"output": [item], "usage": {"input_tokens": place}}})
    })
}

proptest! {
    /// [`decode_as`] holds every answer to the order of events; what callers are written then reads back.
    #[test]
    fn events_in_any_order_give_an_answer_in_order(pieces in prop::collection::vec(piece(), 0..12)) {
        let body: String = pieces.iter().map(|piece| format!("data: {piece}\n\n")).collect();
        let events = decode_as(Dialect::Responses, [body.as_bytes()]);
        let mut encoder = format(Dialect::Responses).encoder(head());
        let mut stream: Vec<u8> = events.iter().flat_map(|event| encoder.event(event)).collect();
        stream.extend(encoder.finish(Usage::default(), None));
        let told = events_of(&stream);
        let last = &told[told.len() - 1]["response"];
        let whole = format(Dialect::Responses).encode_reply(&head(), &Reply::from_events(&events), None);
        let whole: Value = serde_json::from_slice(&whole).unwrap();
        // Calls side by side make neighbours of words that were said apart, so only the number of calls is the same.
        let calls = |output: &Value| output.as_array().unwrap().iter().filter(|item| item.get("call_id").is_some()).count();
        prop_assert_eq!(calls(&last["output"]), calls(&whole["output"]));
        for (at, event) in told.iter().enumerate() {
            prop_assert_eq!(&event["sequence_number"], at);
        }
    }

    #[test]
    fn any_bytes_are_relayed_the_same_however_they_are_cut(
        text in "[\\r\\n:x{]{0,6}(event: a|data: \\{\"type\":\"b\"\\}|\\r|\\n|:|response\\.|é){0,20}",
        size in 1usize..9,
    ) {
        let bytes = text.as_bytes();
        prop_assert_eq!(relayed(Dialect::Responses, bytes, size), relayed(Dialect::Responses, bytes, bytes.len().max(1)));
        prop_assert_eq!(relayed(Dialect::Chat, bytes, size).0, bytes);
    }
}
