//! How many tokens: the only member's own count, or the gateway's estimate.

use bench_tests::{
    Gateway, Reply, Scenario, Upstream,
    http::Answer,
    scenario::KEY,
    upstream::{Script, cut_after, fails, html_page, stalls, without_head},
};
use http::Method;
use serde_json::{Value, json};

const COUNT: &str = "/v1/messages/count_tokens";
const GEMINI: &str = "/v1beta/models/bench/core:countTokens";

/// A collection whose members are on endpoints of these dialects, each under its own name: `claude-anthropic`.
async fn members(apis: &[&str], script: impl Into<Script>) -> (Upstream, Gateway) {
    let upstream = Upstream::start().await;
    let script = script.into();
    let mut scenario = Scenario::new();
    for api in apis {
        let served = format!("claude-{api}");
        upstream.model(&served, script.clone());
        let variable = format!("{}_KEY", api.to_uppercase());
        scenario =
            scenario.endpoint(api, &upstream.base()).api(api).key(&variable, KEY).model(api, api, &served);
    }
    let gateway = scenario.collection("core", apis).start().await;
    (upstream, gateway)
}

fn counts(body: Value) -> Reply {
    Reply::whole(200, "application/json", body.to_string())
}

fn question() -> Value {
    json!({"model": "bench/core:all", "system": "s".repeat(400), "messages": [{"role": "user", "content": "hi"}]})
}

async fn count(gateway: &Gateway, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut request = gateway.http.request(Method::POST, path).header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    gateway.http.send(request, body.to_owned()).await
}

/// The estimate, in the API's shape, and it says so.
fn is_estimate(name: &str, answer: &Answer) {
    assert_eq!((answer.status.as_u16(), answer.header("x-bench-count")), (200, "estimate"), "{name}");
    let told = answer.json()["input_tokens"].as_u64().unwrap_or_default();
    assert!((110..140).contains(&told), "{name}: {}", answer.text());
}

#[tokio::test]
async fn the_only_member_counts_for_itself() {
    let (upstream, gateway) =
        members(&["anthropic"], counts(json!({"input_tokens": 4711, "context_management": {"x": 1}}))).await;
    let body = r#"{"messages": [{"content":"hi","role":"user"}],  "model":"bench/core", "x_new": 1.50, "with": [], "bench": {}}"#;
    let callers = [
        ("anthropic-beta", "token-counting-2024-11-01"),
        ("anthropic-beta", "x-1"),
        ("anthropic-version", "2024-01-01"),
        ("authorization", "Bearer caller"),
        ("x-api-key", "caller"),
        ("cookie", "a=b"),
        ("x-forwarded-for", "10.0.0.1"),
        ("user-agent", "caller/1"),
    ];
    let answer = count(&gateway, "/v1/messages/count_tokens?beta=true", &callers, body).await;
    assert_eq!((answer.status.as_u16(), answer.header("x-bench-count")), (200, "exact"), "{}", answer.text());
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.json(), json!({"input_tokens": 4711, "context_management": {"x": 1}}));

    let sent = upstream.received();
    assert_eq!((sent.len(), sent[0].path.as_str()), (1, "/v1/messages/count_tokens"));
    let wanted =
        r#"{"messages": [{"content":"hi","role":"user"}],  "model":"claude-anthropic", "x_new": 1.50}"#;
    assert_eq!(String::from_utf8_lossy(&sent[0].body), wanted);
    let agent = format!("benchwarmers/{}", env!("CARGO_PKG_VERSION"));
    for (name, value) in [
        ("x-api-key", KEY),
        ("anthropic-beta", "token-counting-2024-11-01,x-1"),
        ("anthropic-version", "2024-01-01"),
        ("user-agent", agent.as_str()),
    ] {
        assert_eq!(sent[0].header(name), Some(value), "{name}");
    }
    for name in ["authorization", "cookie", "x-forwarded-for"] {
        assert_eq!(sent[0].header(name), None, "{name}");
    }
    // Nothing of the caller's: the version is still the dialect's.
    count(&gateway, COUNT, &[], body).await;
    assert_eq!(upstream.received()[1].header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(upstream.received()[1].header("anthropic-beta"), None);
}

#[tokio::test]
async fn gemini_counts_in_both_its_forms() {
    let said = json!({"totalTokens": 31, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 31}]});
    let (upstream, gateway) = members(&["gemini"], counts(said.clone())).await;
    let contents = json!([{"parts": [{"text": "hi"}]}]);
    for (body, wanted) in [
        (json!({"contents": contents}), json!({"contents": contents})),
        (
            json!({"generateContentRequest": {"contents": contents, "systemInstruction": {"parts": [{"text": "s"}]}}}),
            json!({"generateContentRequest": {"contents": contents, "systemInstruction": {"parts": [{"text": "s"}]},
                "model": "models/claude-gemini"}}),
        ),
    ] {
        let answer = count(&gateway, GEMINI, &[("x-goog-api-key", "caller")], &body.to_string()).await;
        assert_eq!(answer.header("x-bench-count"), "exact", "{}", answer.text());
        assert_eq!(answer.json(), said);
        let sent = upstream.received().pop().expect("asked");
        assert_eq!(sent.path, "/v1/models/claude-gemini:countTokens");
        assert_eq!(sent.json(), wanted);
        assert_eq!(sent.header("x-goog-api-key"), Some(KEY));
    }
}

#[tokio::test]
async fn what_is_no_count_gives_the_estimate() {
    let with = |text: &str| Reply::whole(200, "application/json", text.to_owned());
    let cases: Vec<(&str, Reply)> = vec![
        ("404", fails(404, "not_found", "no such route")),
        ("500", fails(500, "boom", "boom")),
        ("401", fails(401, "invalid_api_key", "no")),
        ("a redirect", Reply::whole(307, "text/plain", "").header("location", "http://127.0.0.1:1/")),
        ("a page", html_page(200)),
        ("not JSON", with("{\"input_tokens\": 5")),
        ("nothing", with("")),
        ("an error", with(r#"{"error": {"message": "no"}}"#)),
        ("negative", with(r#"{"input_tokens": -5}"#)),
        ("zero", with(r#"{"input_tokens": 0}"#)),
        ("absurd", with(r#"{"input_tokens": 99999999999}"#)),
        ("past any number", with(r#"{"input_tokens": 1e400}"#)),
        ("half", with(r#"{"input_tokens": 5.5}"#)),
        ("a text", with(r#"{"input_tokens": "5"}"#)),
        ("another's", with(r#"{"totalTokens": 5}"#)),
        ("a stream", cut_after(2)),
        ("endless", with(&format!("{{\"input_tokens\": 5, \"x\": \"{}\"}}", "a".repeat(100_000)))),
        ("a reset", without_head()),
    ];
    let replies = cases.iter().map(|(_, reply)| reply.clone()).collect();
    let (upstream, gateway) = members(&["anthropic"], Script::turns(replies)).await;
    for (name, _) in &cases {
        is_estimate(name, &count(&gateway, COUNT, &[], &question().to_string()).await);
    }
    assert_eq!(upstream.received().len(), cases.len(), "each was asked once");
}

/// The only test that waits the whole 5 seconds; the gateway's own tests have them pass at once.
#[tokio::test]
async fn a_silent_member_is_not_waited_for() {
    let (_upstream, gateway) = members(&["anthropic"], stalls()).await;
    is_estimate("silent", &count(&gateway, COUNT, &[], &question().to_string()).await);
}

#[tokio::test]
async fn members_that_cannot_speak_for_the_collection_are_not_asked() {
    let own = counts(json!({"input_tokens": 7, "totalTokens": 7}));
    for apis in [&["chat"][..], &["gemini"], &["anthropic", "chat"], &["ollama"]] {
        let (upstream, gateway) = members(apis, own.clone()).await;
        is_estimate(&apis.join(", "), &count(&gateway, COUNT, &[], &question().to_string()).await);
        assert_eq!(upstream.received().len(), 0, "{apis:?}");
    }
    // Two on one endpoint are two all the same.
    let upstream = Upstream::start().await;
    let two = Scenario::new()
        .endpoint("one", &upstream.base())
        .api("anthropic")
        .model("a", "one", "claude-a")
        .model("b", "one", "claude-b")
        .collection("core", &["a", "b"])
        .start()
        .await;
    is_estimate("two", &count(&two, COUNT, &[], &question().to_string()).await);
    assert_eq!(upstream.received().len(), 0);
    // A malformed question is refused before anybody is asked.
    let (upstream, gateway) = members(&["anthropic"], own).await;
    let refused = count(&gateway, COUNT, &[], r#"{"model": "core", "messages": 7}"#).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    let unknown = count(
        &gateway,
        COUNT,
        &[],
        r#"{"model": "nowhere", "messages": [{"role": "user", "content": "hi"}]}"#,
    )
    .await;
    assert_eq!(unknown.status, 404, "{}", unknown.text());
    assert_eq!(upstream.received().len(), 0);
}

/// A member whose role keeps it from this question does not count as one.
#[tokio::test]
async fn one_that_may_not_sit_leaves_the_other_alone() {
    let upstream = Upstream::start().await;
    upstream.model("claude-a", counts(json!({"input_tokens": 9})));
    let gateway = Scenario::new()
        .endpoint("one", &upstream.base())
        .api("anthropic")
        .model("a", "one", "claude-a")
        .model("painter", "one", "claude-p")
        .model_with("role", "image")
        .collection("core", &["painter", "a"])
        .start()
        .await;
    let answer = count(&gateway, COUNT, &[], &question().to_string()).await;
    assert_eq!((answer.header("x-bench-count"), answer.json()), ("exact", json!({"input_tokens": 9})));
}
