//! When every member fails: route.md §4, wire.md §7.

use bench_tests::upstream::{Api, End, Said, Script};
use serde_json::{Value, json};

use super::{
    caller::{Ask, Caller},
    heard::Heard,
    lab::{Member, routed},
};

fn fails(
    alias: &'static str,
    api: Api,
    status: u16,
    words: &'static str,
    wait: Option<&'static str>,
) -> Member {
    let script = Script::in_any(move |api, _| match wait {
        Some(wait) => api.fails(status, words).header("retry-after", wait),
        None => api.fails(status, words),
    });
    (alias, api, script)
}

/// Each API's own words for a status.
fn has_its_shape(heard: &Heard, caller: Caller, status: u16, what: &str) {
    assert_eq!(heard.status, status, "{what}: {}", heard.raw);
    let body: Value =
        serde_json::from_str(&heard.raw).unwrap_or_else(|error| panic!("{what}: {error}: {}", heard.raw));
    let at = |path: &str| body.pointer(path).cloned().unwrap_or(Value::Null);
    match caller {
        Caller::Chat | Caller::Completions | Caller::Responses => {
            let kind = match status {
                429 => "rate_limit_error",
                413 => "invalid_request_error",
                _ => "server_error",
            };
            assert_eq!(at("/error/type"), kind, "{what}: {body}");
            assert!(body["error"].get("param").is_some() && at("/error/code").is_string(), "{what}: {body}");
        }
        Caller::Anthropic => {
            let kind = match status {
                429 => "rate_limit_error",
                413 => "request_too_large",
                _ => "api_error",
            };
            assert_eq!((at("/type"), at("/error/type")), (json!("error"), json!(kind)), "{what}: {body}");
            assert!(at("/request_id").is_string(), "{what}: {body}");
        }
        Caller::Ollama | Caller::Generate => assert!(at("/error").is_string(), "{what}: {body}"),
        Caller::Gemini | Caller::GeminiArray => {
            let word = match status {
                429 => json!("RESOURCE_EXHAUSTED"),
                413 => json!("INVALID_ARGUMENT"),
                _ => at("/error/status"),
            };
            assert_eq!((at("/error/code"), at("/error/status")), (json!(status), word), "{what}: {body}");
            assert!(at("/error/status").is_string(), "{what}: {body}");
        }
    }
    assert!(!heard.header("x-request-id").is_empty(), "{what}");
}

#[tokio::test]
async fn what_every_failure_was_is_the_status_in_every_apis_shape() {
    let long = "This model's maximum context length is 600 tokens, however you requested 9000";
    let cases = [
        (
            "all limited",
            [
                fails("alpha", Api::Chat, 429, "Slow down", Some("40")),
                fails("beta", Api::Anthropic, 429, "Slow down", Some("7")),
                fails("gamma", Api::Gemini, 429, "Slow down", None),
            ],
            429,
            "7",
        ),
        (
            "all too small",
            [
                fails("alpha", Api::Chat, 400, long, None),
                fails("beta", Api::Anthropic, 413, "prompt is too long: 9000 tokens > 600 maximum", None),
                fails("gamma", Api::Responses, 400, long, None),
            ],
            413,
            "",
        ),
        (
            "one limited, one broken",
            [
                fails("alpha", Api::Chat, 429, "Slow down", Some("40")),
                fails("beta", Api::Ollama, 500, "Internal error", None),
                fails("gamma", Api::Chat, 529, "Overloaded", None),
            ],
            502,
            "",
        ),
        (
            "keys and models",
            [
                fails("alpha", Api::Chat, 401, "Invalid API key", None),
                fails("beta", Api::Gemini, 404, "The model does not exist", None),
                fails("gamma", Api::Chat, 400, long, None),
            ],
            502,
            "",
        ),
    ];
    for (case, (what, members, status, wait)) in cases.into_iter().enumerate() {
        for (at, caller) in Caller::ALL.into_iter().enumerate() {
            let stream = (case + at) % 2 == 0;
            let what = format!("{what}: {caller:?}, streamed: {stream}");
            // Afresh, so that nobody rests and no key is known to be refused.
            let lab = routed(members.clone()).await;
            let heard = caller.either(lab.http(), &Ask::of("hi"), stream).await;
            has_its_shape(&heard, caller, status, &what);
            assert_eq!(heard.header("retry-after"), wait, "{what}: {}", heard.raw);
            let said = heard.said_error();
            for alias in ["alpha", "beta", "gamma"] {
                assert!(said.contains(alias), "{what}: {alias} is not in {said}");
            }
            let overloaded = said.to_lowercase().matches("overloaded").count();
            assert_eq!(overloaded > 0, what.starts_with("one limited"), "{what}: {said}");
        }
    }
}

/// Whoever failed is in the error's `bench`, where the API has room, and in the record.
#[tokio::test]
async fn who_failed_is_told_and_kept() {
    let members = || {
        [
            fails("alpha", Api::Chat, 500, "Internal error", None),
            fails("beta", Api::Anthropic, 529, "Overloaded", None),
        ]
    };
    let lab = routed(members()).await;
    for caller in [Caller::Chat, Caller::Responses, Caller::Anthropic] {
        let heard = caller.ask(lab.http(), &Ask::of(&format!("{caller:?}"))).await;
        let body: Value = serde_json::from_str(&heard.raw).expect("an error");
        let handed = &body["bench"]["failed_over"];
        assert_eq!(handed[0]["from"], "alpha", "{caller:?}: {body}");
        assert_eq!(body["bench"]["reply"], "route", "{caller:?}: {body}");
    }
    // No offload: nobody did any work.
    let record = lab.http().get("/bench/record?collection=bench/core").await.json();
    assert_eq!(record["aliases"]["alpha"]["judged"].as_u64().unwrap_or(0), 0, "{record}");
}

/// A reply that only looks like one everywhere.
#[tokio::test]
async fn nobody_says_anything() {
    let empty = || Script::tells(&[], End::Proper);
    let thought = || Script::tells(&[Said::Thinks("Hm, secretly.")], End::Proper);
    for caller in Caller::ALL {
        for stream in [false, true] {
            let lab = routed([("alpha", Api::Chat, empty()), ("beta", Api::Anthropic, thought())]).await;
            let heard = caller.either(lab.http(), &Ask::of("hi"), stream).await;
            has_its_shape(&heard, caller, 502, &format!("{caller:?}, streamed: {stream}"));
            assert!(!heard.raw.contains("secretly"), "{}", heard.raw);
        }
    }
}
