//! What a provider is told of a caller: nothing (wire.md §8).

use std::collections::BTreeMap;

use bench_tests::{
    Scenario, Upstream,
    scenario::KEY,
    upstream::{Received, answers},
};
use http::Method;
use serde_json::{Value, json};

/// What a caller, a proxy before it, or an SDK may send.
const CALLERS: [(&str, &str); 32] = [
    ("accept", "*/*"),
    ("accept-encoding", "identity"),
    ("accept-language", "de"),
    ("anthropic-beta", "x-1"),
    ("anthropic-dangerous-direct-browser-access", "true"),
    ("anthropic-version", "2020-01-01"),
    ("api-key", "caller"),
    ("authorization", "Bearer caller"),
    ("cache-control", "no-cache"),
    ("connection", "x-hop"),
    ("cookie", "session=caller"),
    ("forwarded", "for=10.0.0.1"),
    ("from", "caller@example.org"),
    ("if-none-match", "\"x\""),
    ("keep-alive", "timeout=5"),
    ("openai-beta", "x=v1"),
    ("openai-organization", "caller"),
    ("proxy-authorization", "Basic caller"),
    ("referer", "http://caller.example/"),
    ("te", "trailers"),
    ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    ("user-agent", "caller/1.0"),
    ("via", "1.1 caller"),
    ("x-api-key", "caller"),
    ("x-custom", "caller"),
    ("x-forwarded-for", "10.0.0.1"),
    ("x-forwarded-host", "caller.example"),
    ("x-goog-api-key", "caller"),
    ("x-hop", "caller"),
    ("x-real-ip", "10.0.0.1"),
    ("x-request-id", "caller-1"),
    ("x-stainless-os", "Linux"),
];

/// Each dialect a member may speak, and the headers that are its own.
fn dialects() -> [(&'static str, Vec<(&'static str, String)>); 5] {
    let bearer = || vec![("authorization", format!("Bearer {KEY}"))];
    [
        ("chat", bearer()),
        ("responses", bearer()),
        ("ollama", bearer()),
        ("anthropic", vec![("x-api-key", KEY.to_owned()), ("anthropic-version", "2023-06-01".to_owned())]),
        ("gemini", vec![("x-goog-api-key", KEY.to_owned())]),
    ]
}

fn apis() -> [(&'static str, Value); 8] {
    let messages = json!([{"role": "user", "content": "hi"}]);
    let gemini = json!({"contents": [{"parts": [{"text": "hi"}]}]});
    [
        ("/v1/chat/completions", json!({"model": "core", "messages": messages})),
        ("/v1/completions", json!({"model": "core", "prompt": "hi"})),
        ("/v1/responses", json!({"model": "core", "input": "hi"})),
        ("/v1/messages", json!({"model": "core", "max_tokens": 9, "messages": messages})),
        ("/api/chat", json!({"model": "core", "stream": false, "messages": messages})),
        ("/api/generate", json!({"model": "core", "stream": false, "prompt": "hi"})),
        ("/v1beta/models/bench/core:generateContent", gemini.clone()),
        ("/v1beta/models/bench/core:streamGenerateContent", gemini),
    ]
}

fn headers(request: &Received) -> BTreeMap<String, String> {
    let lower = |(name, value): &(String, String)| (name.to_lowercase(), value.clone());
    let mut told: BTreeMap<String, String> = request.headers.iter().map(lower).collect();
    // Their order says nothing.
    if let Some(codings) = told.get_mut("accept-encoding") {
        let mut sorted: Vec<&str> = codings.split(',').map(str::trim).collect();
        sorted.sort_unstable();
        *codings = sorted.join(", ");
    }
    assert_eq!(told.len(), request.headers.len(), "each once: {:?}", request.headers);
    told
}

#[tokio::test]
async fn a_provider_gets_these_headers_and_no_others() {
    let upstream = Upstream::start().await;
    let mut scenario = Scenario::new();
    for (api, _) in dialects() {
        upstream.model(api, answers("An answer."));
        let variable = format!("{}_KEY", api.to_uppercase());
        scenario = scenario.endpoint(api, &upstream.base()).api(api).key(&variable, KEY).model(api, api, api);
    }
    let gateway = scenario.collection("core", &dialects().map(|(api, _)| api)).start().await;
    for (nth, (path, body)) in apis().into_iter().enumerate() {
        let mut request = gateway.http.request(Method::POST, path).header("content-type", "application/json");
        for (name, value) in CALLERS {
            request = request.header(name, value);
        }
        let answer = gateway.http.send(request, body.to_string()).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        for (api, own) in dialects() {
            let sent = upstream.arrived(api, nth + 1).await;
            let mut wanted: BTreeMap<String, String> = [
                ("accept", "text/event-stream, application/x-ndjson, application/json".to_owned()),
                ("accept-encoding", "br, deflate, gzip, zstd".to_owned()),
                ("content-length", sent.body.len().to_string()),
                ("content-type", "application/json".to_owned()),
                ("host", upstream.root().trim_start_matches("http://").to_owned()),
                ("user-agent", format!("benchwarmers/{}", env!("CARGO_PKG_VERSION"))),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .into();
            wanted.extend(own.into_iter().map(|(name, value)| (name.to_owned(), value)));
            assert_eq!(headers(&sent), wanted, "{path} to a member that speaks {api}");
        }
    }
}
