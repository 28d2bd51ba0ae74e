//! Going on from an earlier response.

use serde_json::{Value, json};
use wire::{
    ApiError, Dialect, Json, Kind, ReplyHead, Request, Role, Route, Target, Usage,
    conversation::{Page, Turn, go_on, input_items, new_input},
    format,
};

fn sent(body: &[u8]) -> Json {
    Json::read(body.to_vec()).unwrap()
}

fn read(body: &[u8]) -> Request {
    format(Dialect::Responses).decode_request(body, &Route::default()).unwrap()
}

/// Role and text of every message.
fn said(request: &Request) -> Vec<(Role, String)> {
    request.messages.iter().map(|message| (message.role, message.text())).collect()
}

fn answer(id: &str, text: &str) -> String {
    let part = json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
    let item = json!({"id": format!("msg_{id}_0"), "type": "message", "status": "completed", "role": "assistant",
        "content": [part]});
    json!({"id": format!("resp_{id}"), "object": "response", "instructions": "said then", "output": [item]})
        .to_string()
}

const FIRST: &str = r#"[{"type":"message","role":"user","content":[{"type":"input_text","text":"one?"}]}]"#;

#[test]
fn what_a_request_adds_is_its_input_as_it_was_written() {
    for (body, wanted) in [
        (r#"{"input":"one?","instructions":"be brief"}"#, FIRST),
        (r#"{"input":null}"#, "[]"),
        (r#"{"previous_response_id":"resp_1"}"#, "[]"),
        (r#"{"input":[ {"b":1.0,"a":1e400} ]}"#, r#"[ {"b":1.0,"a":1e400} ]"#),
        (
            r#"{"input":"first","input":"a\"\u0000\ud83d"}"#,
            "[{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"a\\\"\\u0000\u{fffd}\"}]}]",
        ),
    ] {
        assert_eq!(new_input(&sent(body.as_bytes())).unwrap(), wanted, "{body}");
    }
}

#[test]
fn earlier_turns_come_before_the_new_input_without_their_instructions() {
    let (one, two) = (answer("1", "One."), answer("2", "Two."));
    let turns = [
        Turn { id: "resp_1", input: FIRST, response: &one },
        Turn { id: "resp_2", input: r#"[{"role":"user","content":"two?"}]"#, response: &two },
    ];
    let body = br#"{"model":"m", "instructions":"said now","input":"three?","previous_response_id":"resp_2","top_p":1.0}"#;
    let joined = go_on(&sent(body), &turns).unwrap();
    let request = read(&joined);
    let wanted = [
        (Role::System, "said now"),
        (Role::User, "one?"),
        (Role::Assistant, "One."),
        (Role::User, "two?"),
        (Role::Assistant, "Two."),
        (Role::User, "three?"),
    ];
    assert_eq!(said(&request), wanted.map(|(role, text)| (role, text.to_owned())));
    assert_eq!(request.previous_response_id().as_deref(), Some("resp_2"), "a reply repeats it");
    assert!(
        String::from_utf8(joined.clone())
            .unwrap()
            .ends_with(r#""previous_response_id":"resp_2","top_p":1.0}"#)
    );
    // Nothing of an answer's own form is told as lost.
    let encoded = format(Dialect::Chat)
        .encode_request(&request, &Target { served: "m".to_owned(), ..Target::default() });
    assert_eq!(encoded.notices.iter().map(|notice| notice.field.as_str()).collect::<Vec<_>>(), ["top_p"]);
    // A relay is given the same turns, and no id that only the gateway knows.
    let relayed = format(Dialect::Responses).relay_request(&joined, &request, &Target::default()).unwrap();
    let relayed: Value = serde_json::from_slice(&relayed.body).unwrap();
    assert_eq!(relayed["input"].as_array().unwrap().len(), 5);
    assert_eq!(relayed.get("previous_response_id"), None);
}

#[test]
fn with_no_input_of_its_own_the_earlier_turns_are_all() {
    let one = answer("1", "One.");
    let turns = [Turn { id: "resp_1", input: FIRST, response: &one }];
    for body in
        [&br#"{"previous_response_id":"resp_1"}"#[..], br#"{"input":[],"previous_response_id":"resp_1"}"#]
    {
        let request = read(&go_on(&sent(body), &turns).unwrap());
        assert_eq!(said(&request).last().unwrap(), &(Role::Assistant, "One.".to_owned()));
    }
}

#[test]
fn calls_results_and_reasoning_come_back_as_they_were() {
    let response = json!({"output": [
        {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "sealed"},
        {"id": "fc_1", "type": "function_call", "call_id": "c1", "name": "f", "arguments": "{\"b\":1,\"a\":2}", "status": "completed"},
    ]})
    .to_string();
    let turns = [Turn { id: "resp_1", input: FIRST, response: &response }];
    let body = json!({"previous_response_id": "resp_1",
        "input": [{"type": "function_call_output", "call_id": "c1", "output": "3"}]});
    let joined = go_on(&sent(body.to_string().as_bytes()), &turns).unwrap();
    let whole = json!({"previous_response_id": "resp_1", "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "one?"}]},
        {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "sealed"},
        {"id": "fc_1", "type": "function_call", "call_id": "c1", "name": "f", "arguments": "{\"b\":1,\"a\":2}", "status": "completed"},
        {"type": "function_call_output", "call_id": "c1", "output": "3"},
    ]});
    assert_eq!(read(&joined), read(whole.to_string().as_bytes()));
}

#[test]
fn what_cannot_be_read_is_our_fault_and_says_what_to_do() {
    for (input, response) in [("[", "{}"), ("{}", "{}"), ("[]", "x"), ("[]", r#"{"output":1}"#)] {
        let turns = [Turn { id: "resp_1", input, response }];
        let error: ApiError = go_on(&sent(br#"{"input":"a"}"#), &turns).unwrap_err();
        assert_eq!((error.kind, error.code), (Kind::Internal, "response_unreadable"));
        assert!(error.message.contains("send the whole conversation"), "{}", error.message);
    }
}

#[test]
fn the_last_event_can_be_had_whole_as_it_was_told() {
    let head = ReplyHead { id: "1".to_owned(), model: "bench/x".to_owned(), ..ReplyHead::default() };
    let mut encoder = format(Dialect::Responses).encoder(head.clone());
    encoder.text("One.");
    assert_eq!(encoder.take_reply(), None);
    let last = encoder.finish(Usage::default(), Some(&json!({"panel": "p"})));
    let reply = encoder.take_reply().unwrap();
    assert_eq!((&reply["status"], &reply["bench"]["panel"]), (&json!("completed"), &json!("p")));
    let told = String::from_utf8(last).unwrap();
    assert!(told.contains(&format!(r#""response":{reply}"#)), "{told}");
    assert_eq!(encoder.take_reply(), None);
    assert_eq!(format(Dialect::Chat).encoder(head).take_reply(), None);
}

fn page(
    turns: &[Turn<'_>],
    after: Option<&str>,
    limit: usize,
    newest_first: bool,
) -> Result<Value, ApiError> {
    let page = Page { after: after.map(str::to_owned), limit, newest_first };
    input_items(turns, &page).map(|body| serde_json::from_slice(&body).unwrap())
}

#[test]
fn input_is_listed_page_by_page_each_item_once() {
    let (one, two) = (answer("1", "One."), answer("2", "Two."));
    // An id that the caller used twice, and one that is ours.
    let second = r#"[{"role":"user","content":"two?","id":"x"},{"id":"x","type":"function_call_output","call_id":"c","output":"o"},{"role":"assistant","content":"hm"}]"#;
    let turns = [
        Turn { id: "resp_1", input: FIRST, response: &one },
        Turn { id: "resp_2", input: second, response: &two },
    ];
    let whole = page(&turns, None, 100, false).unwrap();
    let ids: Vec<&str> =
        whole["data"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        ["msg_1_i0", "msg_1_0", "x", "item_2_i1", "msg_2_i2"],
        "the response's own output is not input"
    );
    assert_eq!((&whole["object"], &whole["has_more"]), (&json!("list"), &json!(false)));
    assert_eq!((&whole["first_id"], &whole["last_id"]), (&json!("msg_1_i0"), &json!("msg_2_i2")));
    assert_eq!(whole["data"][2]["content"], json!([{"type": "input_text", "text": "two?"}]));
    assert_eq!(whole["data"][4]["content"], json!([{"type": "output_text", "text": "hm"}]));

    for limit in 1..=6 {
        for newest_first in [false, true] {
            let mut seen: Vec<String> = Vec::new();
            loop {
                let part = page(&turns, seen.last().map(String::as_str), limit, newest_first).unwrap();
                let items = part["data"].as_array().unwrap();
                seen.extend(items.iter().map(|item| item["id"].as_str().unwrap().to_owned()));
                assert_eq!(part["last_id"], *seen.last().unwrap());
                if part["has_more"] == false {
                    break;
                }
                assert_eq!(items.len(), limit);
            }
            if newest_first {
                seen.reverse();
            }
            assert_eq!(seen, ids, "{limit} {newest_first}");
        }
    }
    let error = page(&turns, Some("nobody"), 5, false).unwrap_err();
    assert_eq!(error.message, "after: expected the id of an item of this list");
    let empty = page(&[Turn { id: "resp_1", input: "[]", response: &one }], None, 5, true).unwrap();
    assert_eq!(
        empty,
        json!({"object": "list", "data": [], "first_id": null, "last_id": null, "has_more": false})
    );
}
