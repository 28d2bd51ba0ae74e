//! The steps by rules that chat does not have.

use serde_json::json;

use super::*;
use crate::{
    dialect::Dialect,
    model::{
        CallKind, CallStart, Document, Event, Member, Message, Part, Seal, Source, Thinking, Tool, ToolCall,
        ToolChoice, ToolMode, ToolRef, ToolResult,
    },
    names::Charset,
    raw::Raw,
    rules::{Keeps, Sources},
    schema::Profile,
};

const STRICT: Rules = Rules {
    dialect: Dialect::Chat,
    names: Charset::WORD,
    ids: Charset::WORD,
    custom_tools: false,
    namespaces: false,
    allowed_tools: false,
    tool_schema: &Profile::TOOL,
    response_schema: &Profile::RESPONSE,
    media_in_results: true,
    error_flag: true,
    results_required: true,
    cache_marks: true,
    cache_key: true,
    thinking: Keeps::Sealed,
    images: Sources { url: true, ..Sources::DATA },
    documents: Sources::NONE,
    audio: Sources::NONE,
};

fn function(namespace: Option<&str>, name: &str) -> Tool {
    Tool::Function {
        name: name.to_owned(),
        namespace: namespace.map(str::to_owned),
        description: None,
        parameters: None,
        strict: None,
        cache: None,
    }
}

fn call(id: &str, namespace: Option<&str>, name: &str) -> Part {
    Part::new(Content::ToolCall(ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        namespace: namespace.map(str::to_owned),
        arguments: "{}".into(),
        kind: CallKind::Function,
        signature: None,
    }))
}

fn result(id: &str) -> Message {
    let parts = vec![Part::text("x")];
    let kind = CallKind::Function;
    let result = ToolResult { call_id: id.to_owned(), name: None, parts, is_error: false, kind };
    Message::new(Role::Tool, vec![Content::ToolResult(result).into()])
}

fn lost(prepared: &Prepared<'_>) -> Vec<String> {
    prepared.notices.iter().map(|notice| format!("{}={}", notice.field, notice.reason)).collect()
}

#[test]
fn w040_ids_a_member_rejects_are_mapped_alike_in_call_and_result() {
    let request = Request {
        messages: vec![
            Message::new(Role::Assistant, vec![call("functions.read:0", None, "read")]),
            result("functions.read:0"),
        ],
        ..Request::default()
    };
    let prepared = prepare(&request, &Target::default(), &STRICT);
    let ids: Vec<&str> = prepared
        .request
        .parts()
        .filter_map(|part| match &part.content {
            Content::ToolCall(call) => Some(call.id.as_str()),
            Content::ToolResult(result) => Some(result.call_id.as_str()),
            _ => None,
        })
        .collect();
    assert!(Charset::WORD.fits(ids[0]) && ids[0].starts_with("functions_read_0_"), "{ids:?}");
    assert_eq!(ids[0], ids[1]);
    let start = CallStart { id: ids[0].to_owned(), name: "read".to_owned(), ..CallStart::default() };
    let events = prepared.restore.events(vec![Event::CallStart(start)]);
    assert!(matches!(&events[0], Event::CallStart(start) if start.id == "functions.read:0"));
    assert!(lost(&prepared).is_empty());
}

#[test]
fn w098_groups_are_flat_and_come_back_as_groups() {
    let request = Request {
        messages: vec![Message::new(Role::Assistant, vec![call("a", Some("gh"), "list")]), result("a")],
        tools: vec![function(Some("gh"), "list"), function(Some("jira"), "list"), function(None, "list")],
        tool_choice: Some(ToolChoice::Named(ToolRef {
            name: "list".to_owned(),
            namespace: Some("jira".to_owned()),
        })),
        ..Request::default()
    };
    let prepared = prepare(&request, &Target::default(), &STRICT);
    let names: Vec<&str> = prepared.request.tools.iter().map(Tool::name).collect();
    assert_eq!(names[2], "list");
    assert!(names[0].starts_with("gh_list_") && names[1].starts_with("jira_list_"), "{names:?}");
    assert_eq!(
        prepared.request.tool_choice,
        Some(ToolChoice::Named(ToolRef { name: names[1].to_owned(), namespace: None }))
    );
    let Content::ToolCall(earlier) = &prepared.request.messages[0].parts[0].content else { unreachable!() };
    assert_eq!((earlier.name.as_str(), &earlier.namespace), (names[0], &None));
    for (at, namespace) in [Some("gh"), Some("jira"), None].into_iter().enumerate() {
        let start = CallStart { id: "x".to_owned(), name: names[at].to_owned(), ..CallStart::default() };
        let events = prepared.restore.events(vec![Event::CallStart(start)]);
        let Event::CallStart(start) = &events[0] else { unreachable!() };
        assert_eq!((start.name.as_str(), start.namespace.as_deref()), ("list", namespace));
    }
}

#[test]
fn w143_only_a_members_own_reasoning_goes_back() {
    let seal = |member| Seal { data: "s".to_owned(), origin: Some(Member(member)) };
    let thought = |signature| Part::new(Content::Thinking(Thinking { text: "t".to_owned(), signature }));
    let redacted = |member| Part::new(Content::Redacted { seal: seal(member), id: None });
    let parts = vec![
        thought(Some(seal(1))),
        thought(Some(seal(2))),
        thought(None),
        redacted(1),
        redacted(2),
        Part::text("a"),
    ];
    let request = Request { messages: vec![Message::new(Role::Assistant, parts)], ..Request::default() };
    let target = Target { member: Member(1), ..Target::default() };
    let prepared = prepare(&request, &target, &STRICT);
    let kept: Vec<&Content> = prepared.request.parts().map(|part| &part.content).collect();
    let wanted = [thought(Some(seal(1))).content, redacted(1).content, Content::Text("a".into())];
    assert_eq!(kept, wanted.iter().collect::<Vec<_>>());
    assert_eq!(
        lost(&prepared),
        [
            "messages[0].content[1]=reasoning signed by another member",
            "messages[0].content[2]=reasoning without a signature",
            "messages[0].content[4]=reasoning that only another member can read",
        ]
    );
}

#[test]
fn tools_that_are_not_allowed_are_left_out() {
    let tools = vec![ToolRef { name: "b".to_owned(), namespace: None }];
    let request = Request {
        tools: vec![function(None, "a"), function(None, "b")],
        tool_choice: Some(ToolChoice::Allowed { mode: ToolMode::Required, tools }),
        ..Request::default()
    };
    let prepared = prepare(&request, &Target::default(), &STRICT);
    assert_eq!(prepared.request.tools.iter().map(Tool::name).collect::<Vec<_>>(), ["b"]);
    assert_eq!(prepared.request.tool_choice, Some(ToolChoice::Required));
    assert_eq!(lost(&prepared), ["tool_choice=the tools that are not allowed are left out"]);
}

#[test]
fn what_a_member_cannot_take_is_left_out_and_told() {
    let source = Source::Base64 { media_type: "application/pdf".to_owned(), data: "JVBERi0=".to_owned() };
    let document = Part::new(Content::Document(Document { source, name: None }));
    let raw = Raw::from(&json!({}));
    let vendor = Part::new(Content::Vendor { dialect: Dialect::Chat, kind: "x".to_owned(), raw });
    let messages = vec![Message::new(Role::User, vec![Part::text("a"), document, vendor])];
    let request = Request { messages, ..Request::default() };
    let prepared = prepare(&request, &Target::default(), &STRICT);
    let parts = &prepared.request.messages[0].parts;
    assert_eq!(parts[1].content.as_text(), Some("[document left out: this model cannot take it]"));
    assert!(matches!(parts[2].content, Content::Vendor { .. }));
    assert_eq!(lost(&prepared), ["messages[0].content[1]=document not taken by this member"]);
}

#[test]
fn a_plain_request_is_not_copied() {
    let request =
        Request { messages: vec![Message::new(Role::User, vec![Part::text("a")])], ..Request::default() };
    assert!(matches!(prepare(&request, &Target::default(), &STRICT).request, Cow::Borrowed(_)));
}

#[test]
fn structured_output_in_another_apis_words_is_left_out_of_a_plain_question_too() {
    let output = StructuredOutput::Vendor {
        dialect: Dialect::Gemini,
        raw: Raw::new(r#"{"responseMimeType":"text/x.enum"}"#.to_owned()).unwrap(),
    };
    let request = Request {
        messages: vec![Message::new(Role::User, vec![Part::text("Which?")])],
        structured_output: Some(output),
        ..Request::default()
    };
    let target = Target { callers_options: true, ..Target::default() };
    let prepared = prepare(&request, &target, &STRICT);
    assert_eq!(prepared.request.structured_output, None);
    let notices: Vec<_> = prepared.notices.iter().map(|notice| notice.field.as_str()).collect();
    assert_eq!(notices, ["structured_output"]);
}
