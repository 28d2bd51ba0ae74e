//! The Ollama dialect: what a member's lines mean, and what callers get.

use serde_json::{Value, json};
use wire::{
    ApiError, Dialect, Event, Finish, Form, Kind, ModelEntry, ModelList, Origin, Reply, ReplyHead, ReplyMode,
    Silence, Together, Usage, format,
};

use proptest::prelude::*;

use crate::support::{decode_as, decode_as_cut_everywhere, render};

const OLLAMA: Dialect = Dialect::Ollama;
const PNG: &str = "iVBORw0KGgoAAAANSUhEUg==";

fn head(form: Form) -> ReplyHead {
    ReplyHead { created: 1_795_000_000, model: "bench/x:all".to_owned(), form, ..ReplyHead::default() }
}

#[test]
fn a_streamed_answer_with_everything_in_it() {
    let body = format!(
        concat!(
            r#"{{"model":"m","created_at":"x","message":{{"role":"assistant","content":"","thinking":"hm"}},"done":false}}"#,
            "\n",
            r#"{{"model":"m","message":{{"role":"assistant","content":"北"}},"done":false}}"#,
            "\r\n\n",
            r#"{{"model":"m","message":{{"role":"assistant","content":"","images":["{PNG}"]}},"done":false}}"#,
            "\n",
            r#"{{"model":"m","message":{{"role":"assistant","content":"","tool_calls":[{{"id":"c9","function":{{"index":0,"name":"f","arguments":{{"z":1.0,"a":12345678901234567890123}}}}}},{{"function":{{"name":"g","arguments":{{}}}}}}]}},"done":false}}"#,
            "\n",
            r#"{{"model":"m","message":{{"role":"assistant","content":""}},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":3}}"#,
        ),
        PNG = PNG
    );
    let wanted = concat!(
        "model m\nthinking \"hm\"\ntext \"北\"\nimage image/png \"iVBORw0KGgoAAAANSUhEUg==\"\n",
        "call 0 \"c9\" f\narguments 0 \"{\\\"z\\\":1.0,\\\"a\\\":12345678901234567890123}\"\nend 0\n",
        "call 1 \"call_1\" g\narguments 1 \"{}\"\nend 1\nusage in=7 out=3\nfinish tool_calls\n",
    );
    assert_eq!(render(&decode_as_cut_everywhere(OLLAMA, body.as_bytes())), wanted);
}

#[test]
fn an_answer_in_every_other_form() {
    for (body, wanted) in [
        // Whole, with the calls in the last line.
        (
            r#"{"model":"m","message":{"role":"assistant","content":"a","tool_calls":[{"function":{"name":"f"}}]},"done":true,"done_reason":"stop"}"#,
            "model m\ntext \"a\"\ncall 0 \"call_0\" f\narguments 0 \"{}\"\nend 0\nfinish tool_calls\n",
        ),
        // Whole, over several lines.
        (
            "{\n  \"message\": {\n    \"content\": \"a\"\n  },\n  \"done\": true,\n  \"done_reason\": \"stop\"\n}\n",
            "text \"a\"\nfinish stop\n",
        ),
        // Generated.
        (
            "{\"model\":\"m\",\"response\":\"a\",\"thinking\":\"t\",\"done\":false}\n{\"response\":\"\",\"done\":true,\"done_reason\":\"length\",\"eval_count\":2}\n",
            "model m\nthinking \"t\"\ntext \"a\"\nusage out=2\nfinish length\n",
        ),
        // No reason: servers before 0.1.38 gave none.
        ("{\"message\":{\"content\":\"a\"}}\n{\"done\":true}\n", "text \"a\"\nfinish stop (inferred)\n"),
        // Cut off, in a line and between lines.
        (
            "{\"message\":{\"content\":\"a\"},\"done\":false}\n{\"message\":{\"con",
            "text \"a\"\nerror Network: the stream ended before its end mark\n",
        ),
        (
            "{\"message\":{\"content\":\"a\"},\"done\":false}\n",
            "text \"a\"\nerror Network: the stream ended before its end mark\n",
        ),
        // Errors in a 200, first and in the middle.
        ("{\"error\":\"model 'x' not found\"}\n", "error Other: model 'x' not found\n"),
        (
            "{\"message\":{\"content\":\"a\"},\"done\":false}\n{\"error\":\"an error was encountered while running the model\"}\n",
            "text \"a\"\nerror Other: an error was encountered while running the model\n",
        ),
        ("{\n \"error\": \"boom\"\n}\n", "error Other: boom\n"),
        // As other servers frame it.
        (
            "data: {\"message\":{\"content\":\"a\"},\"done\":false}\n\ndata: {\"done\":true,\"done_reason\":\"stop\"}\n\n",
            "text \"a\"\nfinish stop\n",
        ),
        (
            "[{\"message\":{\"content\":\"a\"},\"done\":false},{\"done\":true,\"done_reason\":\"stop\"}]",
            "text \"a\"\nfinish stop\n",
        ),
        (
            "<html><title>502</title></html>",
            "error Other: an HTML page where an answer should be: 502; check the endpoint's base URL\n",
        ),
    ] {
        assert_eq!(render(&decode_as_cut_everywhere(OLLAMA, body.as_bytes())), wanted, "{body}");
    }
}

#[test]
fn a_refusing_member_is_read() {
    let error = format(OLLAMA).decode_error(404, "application/json", br#"{"error":"model 'x' not found"}"#);
    assert_eq!((error.class, error.message.as_str()), (wire::Class::NotFound, "model 'x' not found"));
}

#[test]
fn a_whole_reply() {
    let reply = Reply::of_text("hi", Usage { input: Some(3), output: Some(2), ..Usage::default() });
    let ends = r#""done":true,"done_reason":"stop","total_duration":0,"load_duration":0,"prompt_eval_count":3,"prompt_eval_duration":0,"eval_count":2,"eval_duration":0,"bench":{"panel":"p"}}"#;
    let begins = r#"{"model":"bench/x:all","created_at":"2026-11-18T11:06:40Z","#;
    let write = |form| {
        let body = format(OLLAMA).encode_reply(&head(form), &reply, Some(&json!({"panel": "p"})));
        String::from_utf8(body).unwrap()
    };
    assert_eq!(
        write(Form::Usual),
        format!(r#"{begins}"message":{{"role":"assistant","content":"hi"}},{ends}"#)
    );
    assert_eq!(write(Form::Generate), format!(r#"{begins}"response":"hi",{ends}"#));
}

#[test]
fn a_stream_line_by_line() {
    let mut encoder = format(OLLAMA).encoder(head(Form::Usual));
    let start = |index: usize| {
        Event::CallStart(wire::CallStart {
            index,
            id: format!("c{index}"),
            name: "f".to_owned(),
            ..wire::CallStart::default()
        })
    };
    let arguments = |index, delta: &str| Event::CallArguments { index, delta: delta.to_owned() };
    let events = [
        Event::Thinking("hm".to_owned()),
        Event::Text("a".to_owned()),
        start(0),
        arguments(0, "{\n \"z\":"),
        start(1),
        arguments(1, "{\"a\":"),
        arguments(0, " 1.0\n}"),
        Event::CallEnd { index: 0 },
        // The second is cut off.
        Event::Finish { reason: Finish::Length, inferred: false },
    ];
    let mut out: Vec<u8> = encoder.keep_alive(Silence::Short);
    out.extend(events.iter().flat_map(|event| encoder.event(event)));
    out.extend(encoder.finish(Usage { output: Some(2), ..Usage::default() }, Some(&json!({"panel": "p"}))));
    let begins = r#"{"model":"bench/x:all","created_at":"2026-11-18T11:06:40Z","message":{"role":"assistant","content":"#;
    let wanted = [
        r#"""},"done":false}"#,
        r#""","thinking":"hm"},"done":false}"#,
        r#""a"},"done":false}"#,
        r#""","tool_calls":[{"id":"c0","function":{"index":0,"name":"f","arguments":{"z":1.0}}}]},"done":false}"#,
        r#"""},"done":true,"done_reason":"length","total_duration":0,"load_duration":0,"prompt_eval_duration":0,"eval_count":2,"eval_duration":0,"bench":{"panel":"p"}}"#,
    ];
    let wanted: String = wanted.iter().map(|rest| format!("{begins}{rest}\n")).collect();
    assert_eq!(String::from_utf8(out).unwrap(), wanted);
    assert_eq!(format(OLLAMA).stream_type(Form::Usual), "application/x-ndjson");
}

#[test]
fn a_generated_stream_keeps_its_shape() {
    let mut encoder = format(OLLAMA).encoder(head(Form::Generate));
    let out = [encoder.keep_alive(Silence::Long), encoder.text("a"), encoder.finish(Usage::default(), None)]
        .concat();
    let lines: Vec<Value> =
        String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let said: Vec<&Value> = lines.iter().map(|line| &line["response"]).collect();
    assert_eq!(said, ["", "a", ""]);
    assert_eq!(lines[2]["done_reason"], "stop");
    assert!(lines.iter().all(|line| line.get("message").is_none()));
}

#[test]
fn errors_in_ollamas_shape() {
    let ollama = format(OLLAMA);
    let error = ApiError::new(Kind::Upstream, Origin::Upstream, "no_answer", "nobody\nanswered");
    let bench = json!({"panel": "p"});
    let body = ollama.encode_error(&error, "r1", Some(&bench));
    assert_eq!(String::from_utf8(body).unwrap(), r#"{"error":"nobody\nanswered","bench":{"panel":"p"}}"#);
    let line = ollama.encoder(head(Form::Usual)).error(&error, None);
    assert_eq!(String::from_utf8(line).unwrap(), "{\"error\":\"nobody\\nanswered\"}\n");
    let fault = ApiError::new(Kind::Internal, Origin::Gateway, "internal", "a fault of ours");
    let body = ollama.encode_error(&fault, "r1", None);
    assert_eq!(String::from_utf8(body).unwrap(), r#"{"error":"a fault of ours (request r1)"}"#);
}

#[test]
fn lists_as_ollamas_clients_read_them() {
    let entry = |id: &str, reply| ModelEntry {
        id: id.to_owned(),
        created: 0,
        description: String::new(),
        tags: Vec::new(),
        members: vec!["alpha".to_owned()],
        shape: None,
        explorers: 0,
        reply,
        merger: None,
        together: Together {
            context_window: Some(32_768),
            capabilities: ["tools", "vision", "reasoning", "pdf"].map(str::to_owned).to_vec(),
            ..Together::default()
        },
    };
    let value = |body: Vec<u8>| serde_json::from_slice::<Value>(&body).unwrap();
    let list = ModelList {
        entries: vec![entry("bench/x", ReplyMode::All), entry("bench/x:route", ReplyMode::Route)],
    };
    let tags = value(list.encode_tags());
    let models = tags["models"].as_array().unwrap();
    assert_eq!((&models[0]["name"], &models[1]["model"]), (&json!("bench/x"), &json!("bench/x:route")));
    assert_eq!(models[0]["modified_at"], "1970-01-01T00:00:00Z");
    assert_eq!(models[0]["digest"].as_str().unwrap().len(), 64);
    assert_ne!(models[0]["digest"], models[1]["digest"]);
    assert_eq!(models[0]["details"]["families"], json!(["benchwarmers"]));

    let panel = value(list.entries[0].encode_show());
    assert_eq!(panel["capabilities"], json!(["completion", "vision", "thinking"]));
    let info = json!({"general.architecture": "benchwarmers", "general.basename": "bench/x", "benchwarmers.context_length": 32_768});
    assert_eq!(panel["model_info"], info);
    let route = value(list.entries[1].encode_show());
    assert_eq!(route["capabilities"], json!(["completion", "tools", "vision", "thinking"]));

    assert_eq!(value(wire::ollama_running()), json!({"models": []}));
    let version = value(wire::ollama_version());
    let parts: Vec<u32> =
        version["version"].as_str().unwrap().split('.').map(|part| part.parse().unwrap()).collect();
    assert!(parts >= vec![0, 12, 0], "{version}");
}

#[test]
fn a_model_that_is_asked_nothing_is_loaded() {
    let begins = r#"{"model":"bench/x","created_at":"1970-01-01T00:00:00Z","#;
    let ends = r#""done":true,"done_reason":"load"}"#;
    let body = |form| String::from_utf8(wire::ollama_loaded("bench/x", 0, form)).unwrap();
    assert_eq!(body(Form::Generate), format!(r#"{begins}"response":"",{ends}"#));
    assert_eq!(body(Form::Usual), format!(r#"{begins}"message":{{"role":"assistant","content":""}},{ends}"#));
}

#[test]
fn a_whole_reply_leaves_half_a_call_out() {
    let start = |index: usize| {
        Event::CallStart(wire::CallStart {
            index,
            id: format!("c{index}"),
            name: "f".to_owned(),
            ..wire::CallStart::default()
        })
    };
    let arguments = |index| Event::CallArguments { index, delta: "{\"a\":".to_owned() };
    let events = [
        start(0),
        Event::CallEnd { index: 0 },
        start(1),
        arguments(1),
        Event::Finish { reason: Finish::Length, inferred: false },
    ];
    let body = format(OLLAMA).encode_reply(&head(Form::Usual), &Reply::from_events(&events), None);
    let body: Value = serde_json::from_slice(&body).unwrap();
    let calls = json!([{"id": "c0", "function": {"index": 0, "name": "f", "arguments": {}}}]);
    assert_eq!((&body["message"]["tool_calls"], &body["done_reason"]), (&calls, &json!("length")));
    let body = format(OLLAMA).encode_reply(&head(Form::Generate), &Reply::from_events(&events), None);
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((&body["tool_calls"], &body["response"]), (&calls, &json!("")));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever comes ends in one last event, the same however it is cut.
    #[test]
    fn any_lines_end_once(
        lines in prop::collection::vec(prop_oneof![
            Just(r#"{"message":{"content":"a"},"done":false}"#),
            Just(r#"{"message":{"tool_calls":[{"function":{"name":"f","arguments":{"a":1.0}}},null,5]}}"#),
            Just(r#"{"message":{"tool_calls":[{"function":{"arguments":{}}}]}}"#),
            Just(r#"{"message":5,"response":{},"thinking":[],"eval_count":-1}"#),
            Just(r#"{"done":true,"done_reason":"length"}"#),
            Just(r#"{"done":true,"done_reason":5}"#),
            Just(r#"{"error":"x"}"#),
            Just("{"), Just("}"), Just("[]"), Just("nul"), Just("data: {}"), Just("\u{feff}"), Just(""),
        ], 0..6),
        size in 1usize..30,
    ) {
        let body = lines.join("\n");
        let whole = decode_as(OLLAMA, [body.as_bytes()]);
        prop_assert!(whole.last().is_some_and(Event::is_last));
        prop_assert_eq!(decode_as(OLLAMA, body.as_bytes().chunks(size)), whole);
    }
}
