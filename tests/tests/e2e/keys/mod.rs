//! Gateway keys: guard.md.

mod admitted;
mod cli;
mod named;
mod scope;
mod secret;
mod spent;

use bench_tests::{
    Gateway, Lab, Scenario, Upstream,
    http::{Answer, Http},
    scenario::{KEY, served},
    upstream::answers,
};
use http::Method;
use serde_json::{Value, json};

/// Makes a key and gives its text.
async fn make(gateway: &Gateway, asked: Value) -> String {
    let made = gateway.command("create_key", &asked).await;
    let text = made["text"].as_str().expect("text").to_owned();
    let is_secret = |text: &str| {
        text.len() == 43 && text.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_'))
    };
    assert!(text.strip_prefix("bwk_").is_some_and(is_secret), "{text}");
    assert_eq!(made["key"]["last4"], text[text.len() - 4..], "{made}");
    text
}

/// A key of this name that may use these collections.
async fn scoped(gateway: &Gateway, name: &str, collections: &[&str]) -> String {
    make(gateway, json!({"name": name, "collections": collections})).await
}

async fn require_keys(gateway: &Gateway) {
    let mut settings = gateway.command("setup", &json!({})).await["settings"].clone();
    settings["require_keys"] = json!(true);
    gateway.command("save_settings", &settings).await;
}

/// A request that carries these headers.
async fn send(
    gateway: &Gateway,
    what: (&Method, &str),
    headers: &[(&str, &str)],
    body: Option<&Value>,
) -> Answer {
    send_to(&gateway.http, what, headers, body).await
}

async fn send_to(
    http: &Http,
    what: (&Method, &str),
    headers: &[(&str, &str)],
    body: Option<&Value>,
) -> Answer {
    let (method, path) = what;
    let mut request = http.request(method.clone(), path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if body.is_some() {
        request = request.header("content-type", "application/json");
    }
    http.send(request, body.map(Value::to_string).unwrap_or_default()).await
}

/// A question with a key, as most programs send one.
async fn post(gateway: &Gateway, key: &str, path: &str, body: &Value) -> Answer {
    let bearer = format!("Bearer {key}");
    send(gateway, (&Method::POST, path), &[("authorization", &bearer)], Some(body)).await
}

async fn get(gateway: &Gateway, key: &str, path: &str) -> Answer {
    let bearer = format!("Bearer {key}");
    send(gateway, (&Method::GET, path), &[("authorization", &bearer)], None).await
}

/// The collections `core` (of `alpha`) and `other` (of `beta`), and `beta` as whom else one may ask.
async fn two_collections() -> Lab {
    let upstream = Upstream::start().await;
    let mut scenario = Scenario::new().endpoint("fake", &upstream.base()).key("FAKE_KEY", KEY);
    for alias in ["alpha", "beta"] {
        upstream.model(&served(alias), answers(&format!("Answer of {alias}.")));
        scenario = scenario.model(alias, "fake", &served(alias));
    }
    let gateway = scenario
        .collection("core", &["alpha"])
        .collection("other", &["beta"])
        .setting("list_models", true)
        .start()
        .await;
    Lab { upstream, gateway }
}

fn turn(text: &str) -> Value {
    json!({"model": "bench/core:route", "messages": [{"role": "user", "content": text}]})
}

/// How many calls each caller has in the ledger.
async fn callers(gateway: &Gateway) -> Value {
    let spend = gateway.command("spend", &json!({"by": "caller", "since": null})).await;
    let rows = spend["rows"].as_array().expect("rows");
    rows.iter().map(|row| (row["key"].as_str().expect("key").to_owned(), row["calls"].clone())).collect()
}
