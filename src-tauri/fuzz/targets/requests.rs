//! A caller's request in any API: read or refused with its place, in bounded memory; what is read is written for
//! members of every dialect, where it reads back; and for its own it is edited in place.

#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, value::RawValue};
use wire::{Content, Dialect, Form, Member, Message, Request, Role, Route, Target, estimate_tokens, format};
use wire_fuzz::{Input, Seeds, bounded, members};

fuzz_target!(init: Seeds::Requests.write_if_asked(), |bytes: &[u8]| {
    let input = Input::read(bytes);
    let (dialect, option) = (input.dialect(), input.option());
    let form = [Form::Usual, Form::Generate, Form::Events, Form::Array][usize::from(option) % 4];
    let route = Route { model: Some("m"), form };
    let read = bounded(input.body.len(), || format(dialect).decode_request(input.body, &route));
    let request = match read {
        Ok(request) => request,
        Err(error) => {
            assert_eq!(error.kind.status(), 400, "{error:?}");
            serde_json::from_slice::<Value>(&format(dialect).encode_error(&error, "r", None))
                .expect("an error is JSON");
            return;
        }
    };
    let _ = estimate_tokens(&request);
    let target = Target {
        served: "vendor/model-1".to_owned(),
        member: Member(1),
        callers_options: option & 4 == 0,
        max_output: (option & 8 == 0).then_some(64),
        ..Target::default()
    };
    for member in members() {
        let encoded = bounded(input.body.len(), || format(member).encode_request(&request, &target));
        let again = format(member).encode_request(&request, &target);
        assert_eq!(encoded.body, again.body, "the same bytes each time");
        // Not a value: a number of any size stays as it was written.
        let raw: &RawValue = serde_json::from_slice(&encoded.body).expect("a body is JSON");
        assert!(raw.get().starts_with('{'));
        let route = Route { model: Some("m"), form: Form::Usual };
        // Of what only its own API can say nothing may be left.
        if !is_plain(&request) {
            continue;
        }
        if let Err(error) = format(member).decode_request(&encoded.body, &route) {
            panic!("{member:?}: {}\n{raw}", error.message);
        }
    }
    if format(dialect).is_spoken_to_members() {
        relayed(dialect, input.body, &request, &target);
    }
});

/// Whether something is asked, and nothing is sent along: what a data URL holds, or of which type it says it is, is
/// the caller's, and only some dialects look at it.
fn is_plain(request: &Request) -> bool {
    let is_asked = |message: &Message| message.role == Role::User && !message.text().is_empty();
    let mut parts = request.parts().flat_map(|part| match &part.content {
        Content::ToolResult(result) => result.parts.iter().collect(),
        _ => vec![part],
    });
    request.messages.iter().any(is_asked)
        && !parts.any(|part| match part.content {
            Content::Image(_) | Content::Document(_) | Content::Audio(_) | Content::Vendor { .. } => true,
            _ => false,
        })
}

/// A relayed body says what the caller's says, but for a few fields.
fn relayed(dialect: Dialect, body: &[u8], request: &Request, target: &Target) {
    const EDITED: &[&str] = &[
        "model",
        "bench",
        "with",
        "stream_options",
        "max_tokens",
        "max_completion_tokens",
        "max_output_tokens",
        "options",
        "generationConfig",
        "generation_config",
    ];
    let encoded = format(dialect).relay_request(body, request, target).expect("what was read is relayed");
    // A number that no value can hold.
    let Ok(was) = wire::json_value(body) else { return };
    let is = wire::json_value(&encoded.body).expect("a relayed body is JSON");
    let was_text = was.to_string();
    let (Some(was), Some(is)) = (was.as_object(), is.as_object()) else { panic!("no object: {is}") };
    // Our mark on a seal, as it is and in base64: it is taken off on the way to the member that made it.
    let has_marks = ["bw1.", "YncxL"].iter().any(|mark| was_text.contains(mark));
    let names: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    for name in names.into_iter().filter(|name| !EDITED.contains(&name.as_str())) {
        // Reasoning of other members is taken out of these.
        let is_history = matches!(name.as_str(), "messages" | "input" | "contents");
        if is_history && (has_marks || !encoded.notices.is_empty()) {
            continue;
        }
        // Thinking is not asked for any more where what began a chain of calls was another member's: told as a loss.
        if encoded.notices.iter().any(|notice| notice.field == *name) {
            continue;
        }
        assert_eq!(is.get(name), was.get(name), "{name}");
    }
    if dialect != Dialect::Gemini {
        assert_eq!(is.get("model"), Some(&Value::from("vendor/model-1")));
    }
}
