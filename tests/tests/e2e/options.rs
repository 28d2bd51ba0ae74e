//! Sampling, budgets, forms and effort: a panel's seats keep their own, and each of the caller's that is ignored
//! is told; with `"bench": {"options": true}` they go to every seat, over the model's own.

use bench_tests::{Gateway, Scenario, Upstream, upstream::answers};
use http::Method;
use serde_json::{Map, Value, json};

const GEMINI: &str = "/v1beta/models/bench/core:generateContent";

/// An API's options: what is sent, how each is called when it is told, and what a chat member gets of them.
struct Case {
    path: &'static str,
    body: Value,
    told: &'static [&'static str],
    sent: Value,
}

fn cases() -> Vec<Case> {
    let messages = json!([{"role": "user", "content": "q"}]);
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let named = |name: &str| json!({"type": "json_schema", "json_schema": {"name": name, "schema": schema}});
    vec![
        Case {
            path: "/v1/chat/completions",
            body: json!({"model": "core", "messages": messages, "temperature": 0.5, "top_p": 0.9, "seed": 7,
                "stop": ["END"], "presence_penalty": 1, "max_completion_tokens": 70, "reasoning_effort": "low",
                "response_format": named("x")}),
            told: &[
                "temperature",
                "top_p",
                "seed",
                "stop",
                "presence_penalty",
                "max_completion_tokens",
                "reasoning_effort",
                "response_format",
            ],
            sent: json!({"temperature": 0.5, "top_p": 0.9, "seed": 7, "stop": ["END"], "presence_penalty": 1,
                "max_tokens": 70, "reasoning_effort": "low", "response_format": named("x")}),
        },
        Case {
            path: "/v1/completions",
            body: json!({"model": "core", "prompt": "q", "temperature": 0.5, "top_p": 0.9, "stop": "END",
                "max_tokens": 70}),
            told: &["temperature", "top_p", "stop", "max_tokens"],
            sent: json!({"temperature": 0.5, "top_p": 0.9, "stop": "END", "max_tokens": 70}),
        },
        Case {
            path: "/v1/responses",
            body: json!({"model": "core", "input": "q", "temperature": 0.5, "top_p": 0.9,
                "max_output_tokens": 70, "reasoning": {"effort": "low"},
                "text": {"verbosity": "low", "format": {"type": "json_schema", "name": "x", "schema": schema}}}),
            told: &[
                "temperature",
                "top_p",
                "max_output_tokens",
                "reasoning",
                "text.verbosity",
                "text.format",
            ],
            sent: json!({"temperature": 0.5, "top_p": 0.9, "max_tokens": 70, "reasoning_effort": "low",
                "verbosity": "low", "response_format": named("x")}),
        },
        Case {
            path: "/v1/messages",
            body: json!({"model": "core", "messages": messages, "temperature": 0.5, "top_p": 0.9, "top_k": 5,
                "stop_sequences": ["END"], "max_tokens": 70,
                "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": schema}}}),
            told: &[
                "temperature",
                "top_p",
                "top_k",
                "stop_sequences",
                "max_tokens",
                "output_config.effort",
                "output_config.format",
            ],
            sent: json!({"temperature": 0.5, "top_p": 0.9, "top_k": 5, "stop": ["END"], "max_tokens": 70,
                "reasoning_effort": "low", "response_format": named("response")}),
        },
        Case {
            path: "/api/chat",
            body: json!({"model": "core", "messages": messages, "stream": false, "format": schema, "think": "low",
                "options": {"temperature": 0.5, "top_p": 0.9, "top_k": 5, "seed": 7, "stop": ["END"],
                    "num_predict": 70}}),
            told: &[
                "options.temperature",
                "options.top_p",
                "options.top_k",
                "options.seed",
                "options.stop",
                "options.num_predict",
                "format",
                "think",
            ],
            sent: json!({"temperature": 0.5, "top_p": 0.9, "top_k": 5, "seed": 7, "stop": ["END"],
                "max_tokens": 70, "reasoning_effort": "low", "response_format": named("response")}),
        },
        Case {
            path: GEMINI,
            body: json!({"contents": [{"parts": [{"text": "q"}]}], "generationConfig": {"temperature": 0.5,
                "topP": 0.9, "topK": 5, "seed": 7, "stopSequences": ["END"], "maxOutputTokens": 70,
                "thinkingConfig": {"thinkingLevel": "LOW"}, "responseMimeType": "application/json",
                "responseJsonSchema": schema}}),
            told: &[
                "generationConfig.temperature",
                "generationConfig.topP",
                "generationConfig.topK",
                "generationConfig.seed",
                "generationConfig.stopSequences",
                "generationConfig.maxOutputTokens",
                "generationConfig.thinkingConfig",
                "generationConfig.responseJsonSchema",
            ],
            sent: json!({"temperature": 0.5, "top_p": 0.9, "top_k": 5, "seed": 7, "stop": ["END"],
                "max_tokens": 70, "reasoning_effort": "low", "response_format": named("response")}),
        },
    ]
}

/// A member whose owner set two of the options.
async fn lab() -> (Upstream, Gateway) {
    let upstream = Upstream::start().await;
    upstream.model("alpha-1", answers("A"));
    let gateway = Scenario::new()
        .endpoint("fake", &upstream.base())
        .model("alpha", "fake", "alpha-1")
        .model_with("options", owners())
        .collection("core", &["alpha"])
        .start()
        .await;
    (upstream, gateway)
}

fn owners() -> Value {
    json!({"temperature": 0.1, "max_tokens": 5})
}

/// The options in a body that arrived.
fn options(body: &Value) -> Map<String, Value> {
    let mut options = body.as_object().cloned().unwrap_or_default();
    for name in ["model", "messages", "stream", "stream_options"] {
        options.remove(name);
    }
    options
}

#[tokio::test]
async fn each_is_ignored_and_told_or_passed_on() {
    let (upstream, gateway) = lab().await;
    let mut asked = 0;
    for Case { path, body, told, sent } in cases() {
        let answer = gateway.http.post(path, &body).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        let wanted: Vec<String> = told.iter().map(|name| format!("{name}=ignored by a panel")).collect();
        let mut listed: Vec<&str> = answer.header("x-bench-lossy").split(", ").collect();
        listed.sort_unstable();
        let mut sorted = wanted;
        sorted.sort_unstable();
        assert_eq!(listed, sorted, "{path}");
        asked += 1;
        let arrived = upstream.arrived("alpha-1", asked).await.json();
        assert_eq!(Value::Object(options(&arrived)), owners(), "{path}: a seat keeps its own");

        let mut body = body;
        body["bench"] = json!({"options": true});
        let answer = gateway.http.post(path, &body).await;
        assert_eq!((answer.status.as_u16(), answer.header("x-bench-lossy")), (200, ""), "{path}");
        asked += 1;
        let arrived = upstream.arrived("alpha-1", asked).await.json();
        assert_eq!(Value::Object(options(&arrived)), sent, "{path}: the caller's over the owner's");
    }
}

/// What a header may hold: ASCII, whole entries, and how many there was no room for.
#[tokio::test]
async fn a_long_list_of_losses_is_cut_between_two() {
    let (_upstream, gateway) = lab().await;
    let mut body = json!({"model": "core", "messages": [{"role": "user", "content": "q"}]});
    for at in 0..200 {
        body[format!("unbekanntes_f\u{e9}ld_{at}")] = json!(1);
    }
    let answer = gateway.http.post("/v1/chat/completions", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let lossy = answer.header("x-bench-lossy");
    assert!(lossy.is_ascii() && lossy.len() <= 2_000, "{}: {lossy}", lossy.len());
    let entries: Vec<&str> = lossy.split(", ").collect();
    let (last, told) = entries.split_last().expect("a list");
    assert!(told.iter().all(|entry| entry.ends_with("=not sent to members")), "{lossy}");
    assert_eq!(*last, format!("and {} more", 200 - told.len()), "{lossy}");
}

/// A turn in the member's own API is relayed: what the caller says stays as it is, and where it is silent the model's
/// own options are put behind it.
#[tokio::test]
async fn a_relayed_turn_has_the_models_own_options_where_its_caller_is_silent() {
    let (upstream, gateway) = lab().await;
    let messages = r#"[{"role": "user","content":"q"}]"#;
    for (nth, (said, added)) in [
        ("", r#","temperature":0.1,"max_tokens":5"#),
        (r#","temperature": 1.50"#, r#","max_tokens":5"#),
        (r#","max_completion_tokens":7,"temperature":null"#, ""),
    ]
    .into_iter()
    .enumerate()
    {
        let body = |model: &str, added: &str| {
            format!(r#"{{"model":"{model}", "messages":{messages},"user":"u{nth}"{said}{added}}}"#)
        };
        let asked: Value = serde_json::from_str(&body("core:route", "")).expect("json");
        let answer = gateway
            .http
            .send(
                gateway
                    .http
                    .request(Method::POST, "/v1/chat/completions")
                    .header("content-type", "application/json"),
                body("core:route", ""),
            )
            .await;
        assert_eq!((answer.status.as_u16(), answer.header("x-bench-lossy")), (200, ""), "{asked}");
        let arrived = upstream.arrived("alpha-1", nth + 1).await;
        let wanted = body("alpha-1", added).replace(r#""temperature":null"#, r#""temperature":0.1"#);
        assert_eq!(String::from_utf8_lossy(&arrived.body), wanted);
    }
}
