//! A relayed conversation that holds seals: our marks are taken off, what is another member's is taken out, and
//! every other byte stays.

use serde_json::Value;
use wire::{Dialect, Member, Quirks, Route, Seal, Target, format};

fn relayed(dialect: Dialect, body: &str) -> (String, Vec<String>) {
    relayed_with(dialect, body, Quirks::default())
}

fn relayed_with(dialect: Dialect, body: &str, quirks: Quirks) -> (String, Vec<String>) {
    let request = format(dialect).decode_request(body.as_bytes(), &Route::default()).unwrap();
    let encoded = format(dialect).relay_request(body.as_bytes(), &request, &target(quirks)).unwrap();
    (
        String::from_utf8(encoded.body).unwrap(),
        encoded.notices.into_iter().map(|notice| notice.field).collect(),
    )
}

/// Nobody marked `known`, which the member made, and `alpha`, `beta` and `QQ==`, which another did.
fn target(quirks: Quirks) -> Target {
    let prints = |seals: &[&str]| seals.iter().map(|seal| Seal::new(*seal).fingerprint()).collect();
    Target {
        served: "m".to_owned(),
        member: Member(1),
        callers_options: true,
        made: prints(&["known"]),
        foreign: prints(&["alpha", "beta", "QQ=="]),
        quirks,
        ..Target::default()
    }
}

/// A text with edits, each `⟨what the caller sends→what the member is sent⟩`: the one, and the other.
fn both(text: &str) -> (String, String) {
    let (mut sent, mut wanted) = (String::new(), String::new());
    for piece in text.split('⟨') {
        let (edit, rest) = piece.split_once('⟩').unwrap_or(("", piece));
        let (from, to) = edit.split_once('→').unwrap_or((edit, ""));
        sent.extend([from, rest]);
        wanted.extend([to, rest]);
    }
    (sent, wanted)
}

/// Numbers past 64 bits and past any, depth, escapes, key order and spaces: nothing that a parser could lose.
fn kept() -> String {
    let deep = "[".repeat(140) + &"]".repeat(140);
    format!(
        r#""x" : [ 1.0, 1e3, 123456789012345678901234567890, 1e999 ,"\u0041\/",{{ "b":1, "a" :2 }} ],
 "deep":{deep}"#
    )
}

#[test]
fn anthropic_blocks_are_edited_in_place() {
    let text = r#"{ "max_tokens" : 9 , "model":⟨"bench/x:route"→"m"⟩,
 KEPT,
 "messages": [
  {"role":"user","content":"a"} ,
  {"content" :[ {"type":"thinking" , "thinking":"I", "signature" : ⟨"bw1.0000000000000001.mine"→"mine"⟩ ,KEPT}⟨ ,
   {"type":"redacted_thinking","data":"bw1.0000000000000002.theirs"}⟩ ,{"type":"thinking","thinking":"p","signature":"plain"},
   {"type":"redacted_thinking","data":⟨"bw1.0000000000000001.dark"→"dark"⟩}, { "type":"tool_use","id":"t","name":"f","input":{ "n":1e400 } }],"role":"assistant"},
  {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"seen"}]}⟨,
  {"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"bw1.0000000000000002.theirs"}]}⟩ ]
}"#;
    let (sent, wanted) = both(&text.replace("KEPT", &kept()));
    let (body, notices) = relayed(Dialect::Anthropic, &sent);
    assert_eq!(body, wanted);
    assert_eq!(notices, ["messages[1].content[1]", "messages[3].content[0]"]);
}

#[test]
fn items_of_responses_are_edited_in_place() {
    let text = r#"{ "model":⟨"bench/x:route"→"m"⟩ ,
 KEPT, "input": [ ⟨{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"bw1.0000000000000002.theirs"} ,
  ⟩{"role":"user","content":"a" ,KEPT},
  {"type":"reasoning", "summary":[ ],"encrypted_content" : ⟨"bw1.0000000000000001.mine"→"mine"⟩ ,KEPT } ,
  {"type":"message"⟨,"id":"msg_1"⟩, "role":"assistant","content":"b"}
 ] }"#;
    let (sent, wanted) = both(&text.replace("KEPT", &kept()));
    let (body, notices) = relayed(Dialect::Responses, &sent);
    assert_eq!(body, wanted);
    assert_eq!(notices, ["input[0]"]);
}

const TURNED_OFF: &str = "thinking";

/// Each with the caller's body and its edits, and what is listed.
#[test]
fn what_another_member_is_known_to_have_sealed_goes_to_its_maker_only() {
    for (dialect, text, wanted) in [
        (
            Dialect::Anthropic,
            r#"{"model":⟨"x"→"m"⟩,"max_tokens":9,"messages":[{"role":"user","content":"a"},
 {"role":"assistant","content":[⟨{"type":"thinking","thinking":"t","signature":"alpha"}, ⟩{"type":"thinking","thinking":"t","signature":"known"},
  {"type":"thinking","thinking":"t","signature":"unheard"}⟨,{"type":"redacted_thinking","data":"beta"}⟩,{"type":"text","text":"b"}]},
 {"role":"user","content":"c"}],"thinking":{"type":"enabled","budget_tokens":1024}}"#,
            &["messages[1].content[0]", "messages[1].content[3]"][..],
        ),
        (
            Dialect::Responses,
            r#"{"model":⟨"x"→"m"⟩,"input":[{"role":"user","content":"a"}⟨, {"type":"reasoning","summary":[],"encrypted_content":"alpha"}⟩,
 {"type":"reasoning","summary":[],"encrypted_content":"known"}⟨,{"type":"reasoning","summary":[],"encrypted_content":"unheard"}⟩,
 {"type":"function_call"⟨,"id":"fc_1"⟩,"call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"x"}]}"#,
            &["input[1]", "input[3]"],
        ),
        (
            Dialect::Gemini,
            r#"{"contents":[{"role":"user","parts":[{"text":"a"}]},
 {"role":"model","parts":[{"text":"t","thought":true,"thoughtSignature" : ⟨"QQ=="→"skip_thought_signature_validator"⟩ },
  {"functionCall":{"name":"f","args":{"s":"QQ=="}},"thought_signature":⟨"\u0051\u0051=="→"skip_thought_signature_validator"⟩},
  {"functionCall":{"name":"f","args":{}},"thoughtSignature":"known"},{"functionCall":{"name":"g","args":{}},"thoughtSignature":"unheard"}]},
 {"role":"user","parts":[{"functionResponse":{"name":"f","response":{"r":1.0}}}]}]}"#,
            &["contents[1].parts[0].thoughtSignature", "contents[1].parts[1].thought_signature"],
        ),
        (
            Dialect::Chat,
            r#"{"model":⟨"x"→"m"⟩,"messages":[{"role":"user","content":"a"},
 {"role":"assistant","content":null,"reasoning_details":[⟨{"type":"reasoning.text","text":"t","signature":"alpha","index":0}, ⟩{"type":"reasoning.text","text":"t","signature":"known"},
   {"type":"reasoning.encrypted","data":⟨"bw1.0000000000000001.mine"→"mine"⟩}⟨,{"type":"reasoning.encrypted","data":"bw1.0000000000000002.theirs"}⟩,{"type":"reasoning.encrypted","data":"unheard"}⟨,{"type":"reasoning.encrypted","data":"beta"}⟩],
  "tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":⟨"alpha"→"skip_thought_signature_validator"⟩}}},
   {"id":"d","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":⟨"bw1.0000000000000001.g"→"g"⟩}}}]},
 {"role":"tool","tool_call_id":"c","content":"x"},{"role":"tool","tool_call_id":"d","content":"x"}]}"#,
            &[
                "messages[1].reasoning_details[0]",
                "messages[1].reasoning_details[3]",
                "messages[1].reasoning_details[5]",
                "messages[1].tool_calls[0].extra_content",
            ],
        ),
    ] {
        let (sent, expected) = both(text);
        let (body, notices) = relayed(dialect, &sent);
        assert_eq!(body, expected);
        assert_eq!(notices, wanted, "{dialect:?}");
    }
}

/// Within an open chain of calls the API refuses to think on where the thinking that it began with is not there.
#[test]
fn a_chain_of_calls_that_loses_its_thinking_goes_on_without() {
    const ASKED: &str = r#""thinking": {"type":"enabled","budget_tokens":1024}"#;
    const OFF: &str = r#""thinking": ⟨{"type":"enabled","budget_tokens":1024}→{"type":"disabled"}⟩"#;
    const ADAPTIVE: &str = r#""thinking":{"type":"adaptive"},"context_management":{"edits":[{"type":"clear_thinking_20251015"}]}"#;
    const USER: &str = r#"{"role":"user","content":"a"}"#;
    const RESULT: &str =
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}"#;
    const REMINDED: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"},{"type":"text","text":"now"}]}"#;
    const BARE: &str = r#"{"role":"assistant","content":[CALL]}"#;
    const ALPHA: &str =
        r#"{"role":"assistant","content":[⟨{"type":"thinking","thinking":"t","signature":"alpha"},⟩CALL]}"#;
    const OWN: &str =
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"known"},CALL]}"#;
    const BOTH: &str = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"known"},⟨{"type":"redacted_thinking","data":"beta"},⟩CALL]}"#;
    const UNSIGNED: &str = r#"{"role":"assistant","content":[⟨{"type":"thinking","thinking":"t"},⟩CALL]}"#;
    const DONE: &str = r#"{"role":"assistant","content":"done"}"#;
    const FIRST: &str = "messages[1].content[0]";
    let clears = |edits: &str| format!(r#"{OFF},"context_management":{edits}"#);
    for (asked, turns, wanted) in [
        (OFF.to_owned(), &[USER, ALPHA, RESULT][..], &[FIRST, TURNED_OFF][..]),
        (OFF.to_owned(), &[USER, ALPHA, REMINDED], &[FIRST, TURNED_OFF]),
        (OFF.to_owned(), &[USER, ALPHA, RESULT, BARE, REMINDED, BARE, RESULT], &[FIRST, TURNED_OFF]),
        (OFF.to_owned(), &[USER, UNSIGNED, RESULT], &[FIRST, TURNED_OFF]),
        // It began with the member's own.
        (ASKED.to_owned(), &[USER, OWN, RESULT, ALPHA, RESULT], &["messages[3].content[0]"]),
        (ASKED.to_owned(), &[USER, BOTH, RESULT], &["messages[1].content[1]"]),
        // A chain that is done.
        (ASKED.to_owned(), &[USER, ALPHA, RESULT, DONE, USER], &[FIRST]),
        (ASKED.to_owned(), &[USER, ALPHA, RESULT, DONE, USER, OWN, RESULT], &[FIRST]),
        // Nothing is lost, or nothing asked that wants it.
        (ASKED.to_owned(), &[USER, BARE, RESULT], &[]),
        (ADAPTIVE.to_owned(), &[USER, ALPHA, RESULT], &[FIRST]),
        (r#""x":1"#.to_owned(), &[USER, ALPHA, RESULT], &[FIRST]),
        (
            format!(
                r#"{OFF}⟨,"context_management":{{"edits":[{{"type":"clear_thinking_20251015","keep":"all"}}]}}⟩"#
            ),
            &[USER, ALPHA, RESULT],
            &[FIRST, TURNED_OFF, "context_management.edits[0]"],
        ),
        (
            clears(
                r#"{"edits":⟨[ {"type":"clear_thinking_20251015"}, {"type":"clear_tool_uses_20250919","n":1.0} ]→[{"type":"clear_tool_uses_20250919","n":1.0}]⟩}"#,
            ),
            &[USER, ALPHA, RESULT],
            &[FIRST, TURNED_OFF, "context_management.edits[0]"],
        ),
        (
            clears(r#"{"edits":[ {"type":"clear_tool_uses_20250919"} ]}"#),
            &[USER, ALPHA, RESULT],
            &[FIRST, TURNED_OFF],
        ),
    ] {
        let turns =
            turns.join(",\n").replace("CALL", r#"{"type":"tool_use","id":"t","name":"f","input":{}}"#);
        let text = format!(r#"{{"model":⟨"x"→"m"⟩,"max_tokens":4096,{asked} ,"messages":[{turns}]}}"#);
        let (sent, expected) = both(&text);
        let quirks = Quirks { signed_thinking: true, ..Quirks::default() };
        let (body, notices) = relayed_with(Dialect::Anthropic, &sent, quirks);
        assert_eq!(body, expected);
        assert_eq!(notices, wanted, "{sent}");
        if wanted.is_empty() {
            continue;
        }
        // A body that is built anew asks for thinking where the relayed one still does.
        let dialect = format(Dialect::Anthropic);
        let request = dialect.decode_request(sent.as_bytes(), &Route::default()).unwrap();
        let built: Value =
            serde_json::from_slice(&dialect.encode_request(&request, &target(quirks)).body).unwrap();
        let relayed: Value = serde_json::from_str(&body).unwrap();
        let thinks = |body: &Value| {
            body["thinking"]["type"].as_str().filter(|kind| *kind != "disabled").map(str::to_owned)
        };
        assert_eq!(thinks(&built), thinks(&relayed), "{sent}");
    }
}
