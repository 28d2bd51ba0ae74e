//! What every dialect must keep: what is written for a caller is what is read from a member, streamed or whole;
//! and a request goes through a dialect without losing what was said.

use proptest::prelude::*;
use serde_json::Value;
use wire::{
    CallKind, CallStart, Content, Dialect, Event, Finish, Message, Part, Reply, ReplyHead, Request, Role,
    Route, Target, Tool, ToolCall, ToolResult, Usage, format,
};

use crate::support::decode_as;

/// An answer as its member says it: pieces of text and thought, calls with arguments in pieces, an end.
fn answer() -> impl Strategy<Value = Vec<Event>> {
    let text = "[a-z\\n\"\\\\北🌍 ]{1,8}";
    let call = ("[a-z_]{1,8}", prop::collection::vec(("[a-z]{1,3}", "[a-z\"\\\\é]{0,6}"), 0..3));
    let piece = prop_oneof![
        text.prop_map(Piece::Text),
        text.prop_map(Piece::Thinking),
        call.prop_map(|(name, fields)| Piece::Call(name, fields)),
    ];
    (prop::collection::vec(piece, 0..6), any::<bool>()).prop_map(|(pieces, is_long)| {
        let mut events = vec![Event::Model("m".to_owned())];
        let mut calls = 0;
        for piece in pieces {
            match piece {
                Piece::Text(text) => events.push(Event::Text(text)),
                Piece::Thinking(text) => events.push(Event::Thinking(text)),
                Piece::Call(name, fields) => {
                    let index = calls;
                    calls += 1;
                    let id = format!("call_{index}");
                    events.push(Event::CallStart(CallStart { index, id, name, ..CallStart::default() }));
                    let fields: serde_json::Map<String, Value> =
                        fields.into_iter().map(|(key, value)| (key, value.into())).collect();
                    let arguments: Vec<char> = Value::Object(fields).to_string().chars().collect();
                    let pieces = arguments.chunks(5).map(|piece| piece.iter().collect());
                    events.extend(pieces.map(|delta| Event::CallArguments { index, delta }));
                    events.push(Event::CallEnd { index });
                }
            }
        }
        events.push(Event::Usage(Usage { input: Some(7), output: Some(3), ..Usage::default() }));
        let reason = match (calls, is_long) {
            (0, false) => Finish::Stop,
            (0, true) => Finish::Length,
            _ => Finish::ToolCalls,
        };
        events.push(Event::Finish { reason, inferred: false });
        events
    })
}

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Thinking(String),
    Call(String, Vec<(String, String)>),
}

/// What must be the same after any way through a dialect.
fn meaning(reply: &Reply) -> (String, String, Vec<(String, Value)>, Option<Finish>, Usage) {
    let thoughts = reply.parts.iter().filter_map(|part| match &part.content {
        Content::Thinking(thinking) => Some(thinking.text.as_str()),
        _ => None,
    });
    let calls =
        reply.tool_calls().map(|call| (call.name.clone(), serde_json::from_str(&call.arguments).unwrap()));
    (reply.text(), thoughts.collect(), calls.collect(), reply.finish, reply.usage)
}

fn dialects() -> impl Iterator<Item = Dialect> {
    Dialect::ALL.iter().copied().filter(|dialect| format(*dialect).is_spoken_to_members())
}

fn head() -> ReplyHead {
    ReplyHead { id: "1".to_owned(), model: "m".to_owned(), include_usage: true, ..ReplyHead::default() }
}

/// A conversation with a call, its result and a question after it.
fn conversation(texts: &[String; 4], arguments: &str) -> Request {
    let part = |text: &String| vec![Part::text(text.as_str())];
    let call = ToolCall {
        id: "call_0".to_owned(),
        name: "look".to_owned(),
        namespace: None,
        arguments: arguments.into(),
        kind: CallKind::Function,
        signature: None,
    };
    let result = ToolResult {
        call_id: "call_0".to_owned(),
        name: Some("look".to_owned()),
        parts: part(&texts[2]),
        is_error: false,
        kind: CallKind::Function,
    };
    Request {
        messages: vec![
            Message::new(Role::System, part(&texts[0])),
            Message::new(Role::User, part(&texts[1])),
            Message::new(Role::Assistant, vec![Content::ToolCall(call).into()]),
            Message::new(Role::Tool, vec![Content::ToolResult(result).into()]),
            Message::new(Role::User, part(&texts[3])),
        ],
        tools: vec![Tool::Function {
            name: "look".to_owned(),
            namespace: None,
            description: Some("Looks.".to_owned()),
            parameters: None,
            strict: None,
            cache: None,
        }],
        max_output: Some(64),
        ..Request::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_answer_streamed_reads_back(events in answer(), size in 1usize..40) {
        for dialect in dialects() {
            let mut encoder = format(dialect).encoder(head());
            let mut stream: Vec<u8> = events.iter().flat_map(|event| encoder.event(event)).collect();
            stream.extend(encoder.finish(Usage::default(), None));
            let read = Reply::from_events(&decode_as(dialect, stream.chunks(size)));
            prop_assert_eq!(meaning(&read), meaning(&Reply::from_events(&events)), "{:?}", dialect);
        }
    }

    #[test]
    fn an_answer_whole_reads_back(events in answer()) {
        let reply = Reply::from_events(&events);
        for dialect in dialects() {
            let body = format(dialect).encode_reply(&head(), &reply, None);
            let read = Reply::from_events(&decode_as(dialect, [body.as_slice()]));
            prop_assert_eq!(meaning(&read), meaning(&reply), "{:?}", dialect);
        }
    }

    #[test]
    fn a_request_reads_back(texts in prop::array::uniform4("[a-zé\"\\\\ ]{0,8}[a-z]"), value in "[a-z\"]{0,5}") {
        let arguments = serde_json::json!({"z": value, "a": 1}).to_string();
        let request = conversation(&texts, &arguments);
        let target = Target { served: "m".to_owned(), callers_options: true, ..Target::default() };
        for dialect in dialects() {
            let encoded = format(dialect).encode_request(&request, &target);
            let route = Route { model: Some("m"), ..Route::default() };
            let read = format(dialect).decode_request(&encoded.body, &route).unwrap();
            prop_assert_eq!(read.system_text(), texts[0].as_str(), "{:?}", dialect);
            prop_assert_eq!(read.last_user_text(), texts[3].as_str(), "{:?}", dialect);
            prop_assert_eq!(read.max_output, Some(64), "{:?}", dialect);
            prop_assert_eq!(read.tools[0].name(), "look", "{:?}", dialect);
            let calls: Vec<&ToolCall> = read.parts().filter_map(|part| match &part.content {
                Content::ToolCall(call) => Some(call),
                _ => None,
            }).collect();
            let results: Vec<&ToolResult> = read.parts().filter_map(|part| match &part.content {
                Content::ToolResult(result) => Some(result),
                _ => None,
            }).collect();
            prop_assert_eq!((calls.len(), results.len()), (1, 1), "{:?}", dialect);
            prop_assert_eq!(&calls[0].id, &results[0].call_id, "{:?}", dialect);
            let same: Value = serde_json::from_str(&calls[0].arguments).unwrap();
            prop_assert_eq!(same.to_string(), arguments.clone(), "{:?}: keys keep their order", dialect);
            prop_assert_eq!(results[0].parts[0].content.as_text(), Some(texts[2].as_str()), "{:?}", dialect);
        }
    }
}
