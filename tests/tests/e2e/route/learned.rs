//! What a member refuses by name is left out or named otherwise, and learned: route.md §4, providers.md §2.

use bench_tests::upstream::{Api, Received, Reply, Script};
use serde_json::{Value, json};

use super::{
    caller::{Ask, Caller},
    lab::{asked, named, routed, says},
};

/// Refuses a request whose body holds the field.
fn refuses(field: &'static str, words: &'static str) -> Script {
    Script::in_any(move |api: Api, request: &Received| -> Reply {
        match request.json().get(field) {
            Some(_) => api.fails(400, words),
            None => says(api, request, "Said by alpha."),
        }
    })
}

#[tokio::test]
async fn a_refused_name_is_tried_otherwise_once_and_learned() {
    let max_tokens = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    let newer = "Unrecognized request argument supplied: max_completion_tokens";
    for (field, words, other) in [
        ("max_tokens", max_tokens, "max_completion_tokens"),
        ("max_completion_tokens", newer, "max_tokens"),
        ("temperature", "Unsupported value: 'temperature' does not support 0.5 with this model.", ""),
        (
            "parallel_tool_calls",
            "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
            "",
        ),
    ] {
        for caller in [Caller::Chat, Caller::Anthropic, Caller::Responses] {
            for stream in [false, true] {
                let what = format!("{field} before {caller:?}, streamed: {stream}");
                let lab =
                    routed([("alpha", Api::Chat, refuses(field, words)), ("beta", Api::Chat, named("beta"))])
                        .await;
                let ask = |text: &str| {
                    let ask = Ask::of(text).tools().with("temperature", json!(0.5));
                    match (caller, field) {
                        (Caller::Chat, "parallel_tool_calls") => {
                            ask.with("parallel_tool_calls", json!(false))
                        }
                        (Caller::Chat, "max_completion_tokens") => {
                            ask.with("max_completion_tokens", json!(64))
                        }
                        (Caller::Chat, _) => ask.with("max_tokens", json!(64)),
                        (Caller::Responses, "parallel_tool_calls") => {
                            ask.with("parallel_tool_calls", json!(false)).with("max_output_tokens", json!(64))
                        }
                        (Caller::Responses, _) => ask.with("max_output_tokens", json!(64)),
                        (_, "parallel_tool_calls") => {
                            let choice = json!({"type": "auto", "disable_parallel_tool_use": true});
                            ask.with("max_tokens", json!(64)).with("tool_choice", choice)
                        }
                        _ => ask.with("max_tokens", json!(64)),
                    }
                };
                let first = caller.either(lab.http(), &ask("one"), stream).await;
                assert!(first.is_whole(), "{what}: {}", first.raw);
                assert_eq!(first.by(), "alpha", "{what}: {}", first.raw);
                assert_eq!(first.bench("failed_over"), Value::Null, "{what}");
                let sent = asked(&lab, "alpha");
                let last = sent.last().expect("asked").json();
                assert!(last.get(field).is_none(), "{what}: {last}");
                if !other.is_empty() {
                    assert_eq!(last[other], 64, "{what}: {last}");
                }
                let before = sent.len();
                assert!(before <= 2, "{what}: asked {before} times");
                // Learned: another conversation is not refused first.
                let second = caller.either(lab.http(), &ask("two"), stream).await;
                assert!(second.is_whole(), "{what}: {}", second.raw);
                let sent = asked(&lab, "alpha");
                assert_eq!(sent.len(), before + 1, "{what}");
                assert!(sent.last().expect("asked").json().get(field).is_none(), "{what}");
                assert_eq!(asked(&lab, "beta").len(), 0, "{what}");
            }
        }
    }
}

/// A member that takes the budget by no name is not asked for ever.
#[tokio::test]
async fn what_is_refused_under_every_name_passes_on() {
    let script = Script::in_any(|api: Api, request: &Received| {
        let body = request.json();
        match (body.get("max_tokens"), body.get("max_completion_tokens")) {
            (Some(_), _) => api.fails(
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            ),
            (_, Some(_)) => api.fails(400, "Unrecognized request argument supplied: max_completion_tokens"),
            _ => says(api, request, "Said by alpha."),
        }
    });
    for caller in [Caller::Chat, Caller::Anthropic] {
        let lab = routed([("alpha", Api::Chat, script.clone()), ("beta", Api::Chat, named("beta"))]).await;
        for text in ["one", "two"] {
            let heard = caller.ask(lab.http(), &Ask::of(text).with("max_tokens", json!(64))).await;
            assert!(heard.is_whole(), "{caller:?}: {}", heard.raw);
            assert!(
                asked(&lab, "alpha").len() <= 6,
                "{caller:?}: asked {} times",
                asked(&lab, "alpha").len()
            );
        }
    }
}
