//! A member that refuses a field by name is asked again without it.

use libtest_mimic::Trial;
use serde_json::{Value, json};
use wire::{Dialect, Quirks, Route, Target, format};

use crate::trial;

pub fn trials() -> Vec<Trial> {
    let cases: [(&str, fn()); 2] = [
        ("W056 a server that refuses to be asked for usage is asked without it", || {
            let refused =
                json!({"error": {"message": "Extra inputs are not permitted, field: 'stream_options'"}});
            let body = json!({"messages": [{"role": "user", "content": "q"}], "stream": true});
            for [before, after] in asked_again(Dialect::Chat, Quirks::default(), &refused, &body) {
                assert_eq!(before["stream_options"], json!({"include_usage": true}));
                assert_eq!((&after["stream"], after.get("stream_options")), (&json!(true), None));
            }
        }),
        ("W114 a server that refuses cache marks is asked without them", || {
            let refused = json!({"error": {"message": "messages.0.content.0.cache_control: Extra inputs are not permitted"}});
            let part = json!({"type": "text", "text": "q", "cache_control": {"type": "ephemeral"}});
            let body = json!({"messages": [{"role": "user", "content": [part]}]});
            let marks = Quirks { cache_marks: true, ..Quirks::default() };
            let [before, after] = &asked_again(Dialect::Chat, marks, &refused, &body)[0];
            assert!(
                before.to_string().contains("cache_control") && !after.to_string().contains("cache_control")
            );
        }),
    ];
    cases.into_iter().map(|(name, check)| trial(name.to_owned(), check)).collect()
}

/// What the member is asked before and after it has refused, built anew and relayed.
fn asked_again(dialect: Dialect, quirks: Quirks, refused: &Value, body: &Value) -> [[Value; 2]; 2] {
    let (api, body) = (format(dialect), body.to_string());
    let request = api.decode_request(body.as_bytes(), &Route::default()).unwrap();
    let error = api.decode_error(400, "application/json", refused.to_string().as_bytes());
    let learned = quirks.without(error.refused_parameter().unwrap()).unwrap();
    let ask = |relay: bool, quirks| {
        let target = Target { served: "m".to_owned(), callers_options: true, quirks, ..Target::default() };
        let body = match relay {
            true => api.relay_request(body.as_bytes(), &request, &target).unwrap().body,
            false => api.encode_request(&request, &target).body,
        };
        serde_json::from_slice::<Value>(&body).unwrap()
    };
    [false, true].map(|relay| [ask(relay, quirks), ask(relay, learned)])
}
