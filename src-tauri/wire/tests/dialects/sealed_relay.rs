//! A relayed conversation that holds our marks: they are taken off, what is another member's is taken out, and
//! every other byte stays.

use wire::{Dialect, Member, Route, Target, format};

fn relayed(dialect: Dialect, body: &str) -> (String, Vec<String>) {
    let request = format(dialect).decode_request(body.as_bytes(), &Route::default()).unwrap();
    let target = Target { served: "m".to_owned(), member: Member(1), ..Target::default() };
    let encoded = format(dialect).relay_request(body.as_bytes(), &request, &target).unwrap();
    (
        String::from_utf8(encoded.body).unwrap(),
        encoded.notices.into_iter().map(|notice| notice.field).collect(),
    )
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
