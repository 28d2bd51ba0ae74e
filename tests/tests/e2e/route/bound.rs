//! What no translation can carry goes to a member of the caller's own API, or is refused with the way out: wire.md §4.

use bench_tests::upstream::Api;
use serde_json::{Value, json};

use super::{
    caller::{Ask, Caller},
    lab::{asked, named, routed_as},
};

/// A file that was uploaded to the caller's own vendor.
fn uploaded() -> [(Caller, Ask); 3] {
    let ask = || Ask::of("read it");
    let blocks = json!([{"role": "user", "content": [
        {"type": "document", "source": {"type": "file", "file_id": "file_011"}},
        {"type": "text", "text": "read it"},
    ]}]);
    let items = json!([{"role": "user", "content": [
        {"type": "input_file", "file_id": "file-011"}, {"type": "input_text", "text": "read it"},
    ]}]);
    let uri = "https://generativelanguage.googleapis.com/v1beta/files/011";
    let contents = json!([{"role": "user", "parts": [
        {"fileData": {"mimeType": "application/pdf", "fileUri": uri}}, {"text": "read it"},
    ]}]);
    [
        (Caller::Anthropic, ask().with("messages", blocks)),
        (Caller::Responses, ask().with("input", items)),
        (Caller::Gemini, ask().with("contents", contents)),
    ]
}

#[tokio::test]
async fn an_uploaded_file_goes_to_its_vendor_or_is_refused() {
    let facts = json!({"tools": true, "pdf": true});
    for (caller, ask) in uploaded() {
        let own = caller.own().expect("an agent");
        let members = [("other", Api::Chat, named("other")), ("native", own, named("native"))];
        let lab = routed_as(members, |it| it.every_model("facts", &facts)).await;
        let heard = caller.stream(lab.http(), &ask).await;
        assert_eq!((heard.status, heard.by()), (200, "native"), "{caller:?}: {}", heard.raw);
        let sent = asked(&lab, "native").pop().expect("asked").json().to_string();
        assert!(sent.contains("011"), "{caller:?}: as it was sent: {sent}");

        let members = [("other", Api::Chat, named("other"))];
        let lab = routed_as(members, |it| it.every_model("facts", &facts)).await;
        for stream in [false, true] {
            let heard = caller.either(lab.http(), &ask, stream).await;
            assert_eq!(heard.status, 400, "{caller:?}: {}", heard.raw);
            assert!(heard.said_error().contains("uploaded file"), "{caller:?}: {}", heard.raw);
        }
        assert_eq!(asked(&lab, "other").len(), 0, "{caller:?}");
    }
}

/// Refused whoever the members are; the message names the field.
#[tokio::test]
async fn what_nobody_is_asked() {
    for member in Api::ALL {
        let lab = routed_as([("alpha", member, named("alpha"))], |it| it).await;
        let functions = json!([{"name": "look", "parameters": {"type": "object"}}]);
        for (caller, field, value) in [
            (Caller::Chat, "n", json!(2)),
            (Caller::Chat, "functions", functions),
            (Caller::Completions, "n", json!(2)),
            (Caller::Completions, "prompt", json!(["one", "two"])),
            (Caller::Responses, "background", json!(true)),
            (Caller::Generate, "context", json!([1, 2, 3])),
            (Caller::Gemini, "generationConfig", json!({"candidateCount": 2})),
        ] {
            for stream in [false, true] {
                let what = format!("{caller:?}: {field} over {member:?}, streamed: {stream}");
                let heard =
                    caller.either(lab.http(), &Ask::of("hi").with(field, value.clone()), stream).await;
                assert_eq!(heard.status, 400, "{what}: {}", heard.raw);
                let named = match &value {
                    Value::Object(fields) => fields.keys().next().expect("a field").as_str(),
                    _ => field,
                };
                assert!(heard.said_error().contains(named), "{what}: {}", heard.raw);
            }
        }
        assert_eq!(asked(&lab, "alpha").len(), 0, "{member:?}");
    }
}
