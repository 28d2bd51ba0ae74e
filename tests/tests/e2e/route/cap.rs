//! The output budget is cut to what the member can write, whatever it is called: route.md §4.

use bench_tests::upstream::{Api, Received};
use serde_json::{Value, json};

use super::{
    caller::{Ask, Caller},
    lab::{asked, named, routed_as},
};

/// How callers say it: the field of the body, and where in it.
const NAMES: [(Caller, &str); 9] = [
    (Caller::Chat, "/max_tokens"),
    (Caller::Chat, "/max_completion_tokens"),
    (Caller::Completions, "/max_tokens"),
    (Caller::Responses, "/max_output_tokens"),
    (Caller::Anthropic, "/max_tokens"),
    (Caller::Ollama, "/options/num_predict"),
    (Caller::Generate, "/options/num_predict"),
    (Caller::Gemini, "/generationConfig/maxOutputTokens"),
    (Caller::GeminiArray, "/generationConfig/maxOutputTokens"),
];

/// With a budget of so many, at the pointer.
fn with_budget(text: &str, pointer: &str, budget: u64) -> Ask {
    let names: Vec<&str> = pointer.split('/').skip(1).collect();
    match names[..] {
        [field] => Ask::of(text).with(field, json!(budget)),
        [object, field] => Ask::of(text).with(object, json!({field: budget})),
        _ => panic!("{pointer}"),
    }
}

/// The budget as the member was told.
fn told(api: Api, request: &Received) -> Value {
    let body = request.json();
    let names: &[&str] = match api {
        Api::Chat => &["/max_tokens", "/max_completion_tokens"],
        Api::Responses => &["/max_output_tokens"],
        Api::Anthropic => &["/max_tokens"],
        Api::Gemini => &["/generationConfig/maxOutputTokens"],
        Api::Ollama => &["/options/num_predict"],
    };
    let mut told = names.iter().filter_map(|name| body.pointer(name));
    let first = told.next().cloned().unwrap_or(Value::Null);
    assert!(told.next().is_none(), "told twice: {body}");
    first
}

#[tokio::test]
async fn a_budget_over_the_members_is_cut_and_listed() {
    for api in Api::ALL {
        let members = [("alpha", api, named("alpha"))];
        let lab = routed_as(members, |it| it.facts(json!({"tools": true, "max_output": 100}))).await;
        for (caller, pointer) in NAMES {
            for stream in [false, true] {
                for (budget, wanted) in [(5_000, 100), (50, 50)] {
                    let what = format!("{caller:?} {pointer} {budget} over {api:?}, streamed: {stream}");
                    let ask = with_budget(&what, pointer, budget);
                    let heard = caller.either(lab.http(), &ask, stream).await;
                    assert!(heard.is_whole(), "{what}: {}", heard.raw);
                    let sent = asked(&lab, "alpha").pop().expect("asked");
                    assert_eq!(told(api, &sent), json!(wanted), "{what}: {}", sent.json());
                    let field = pointer.trim_start_matches('/').replace('/', ".");
                    let lossy = heard.header("x-bench-lossy");
                    assert_eq!(lossy.contains(&format!("{field}=")), budget > 100, "{what}: {lossy}");
                }
            }
        }
    }
}

/// What follows has a window of its own: each member is cut to its own most.
#[tokio::test]
async fn each_member_has_its_own_most() {
    let fails = bench_tests::upstream::Script::in_any(|api, _| api.fails(500, "Internal error"));
    let members = [("beta", Api::Chat, fails), ("alpha", Api::Anthropic, named("alpha"))];
    let lab = routed_as(members, |it| it.facts(json!({"tools": true, "max_output": 100}))).await;
    for (caller, pointer) in NAMES {
        let heard =
            caller.ask(lab.http(), &with_budget(&format!("{caller:?} {pointer}"), pointer, 5_000)).await;
        assert_eq!(heard.by(), "alpha", "{caller:?}: {}", heard.raw);
        let beta = asked(&lab, "beta").pop().expect("asked");
        assert_eq!(told(Api::Chat, &beta), json!(5_000), "{caller:?}: {}", beta.json());
        let alpha = asked(&lab, "alpha").pop().expect("asked");
        assert_eq!(told(Api::Anthropic, &alpha), json!(100), "{caller:?}: {}", alpha.json());
    }
}
