//! What stands in a reply's head (wire.md §8): these headers, and none of a provider's.

use std::{collections::BTreeSet, time::Duration};

use bench_tests::{
    Lab, panel_of,
    scenario::question,
    upstream::{Step, answers, fails},
};
use http::HeaderMap;
use serde_json::{Value, json};

const ALWAYS: [&str; 5] = ["cache-control", "content-length", "content-type", "date", "x-request-id"];

/// Names beyond [`ALWAYS`]; every value is ASCII.
fn more(headers: &HeaderMap) -> BTreeSet<&str> {
    for (name, value) in headers {
        assert!(value.to_str().is_ok(), "{name}: {value:?}");
    }
    headers.keys().map(|name| name.as_str()).filter(|name| !ALWAYS.contains(name)).collect()
}

async fn lab() -> Lab {
    let told = answers("An answer.")
        .header("set-cookie", "provider=1")
        .header("x-ratelimit-remaining-requests", "3")
        .header("x-request-id", "provider-1")
        .header("openai-organization", "provider")
        .header("content-language", "en");
    panel_of([("alpha", told.into())]).await
}

#[tokio::test]
async fn each_reply_has_these_headers_and_no_others() {
    let lab = lab().await;
    let messages = json!([{"role": "user", "content": "hi"}]);
    let gemini = json!({"contents": [{"parts": [{"text": "hi"}]}]});
    let chat = |more: Value| {
        let mut body = question("hi");
        body.as_object_mut().expect("a body").extend(more.as_object().expect("fields").clone());
        body
    };
    let panel = ["x-bench-overhead-ms", "x-bench-panel"];
    let cases: Vec<(&str, Value, Vec<&str>)> = vec![
        ("/v1/chat/completions", chat(json!({})), panel.to_vec()),
        ("/v1/chat/completions", chat(json!({"temperature": 1})), [&panel[..], &["x-bench-lossy"]].concat()),
        (
            "/v1/chat/completions",
            chat(json!({"stream": true})),
            [&panel[..], &["x-accel-buffering"]].concat(),
        ),
        ("/v1/completions", json!({"model": "core", "prompt": "hi"}), panel.to_vec()),
        ("/v1/responses", json!({"model": "core", "input": "hi"}), panel.to_vec()),
        ("/api/chat", json!({"model": "core", "stream": false, "messages": messages}), panel.to_vec()),
        (
            "/v1beta/models/bench/core:generateContent",
            gemini.clone(),
            [&panel[..], &["x-bench-seats"]].concat(),
        ),
        ("/v1beta/models/bench/core:countTokens", gemini, vec!["x-bench-count"]),
        ("/v1/messages/count_tokens", json!({"model": "core", "messages": messages}), vec!["x-bench-count"]),
        ("/api/show", json!({"model": "core"}), vec![]),
        ("/v1/chat/completions", json!({"model": 7}), vec![]),
        ("/v1/chat/completions", json!({"model": "nowhere", "messages": messages}), vec![]),
        ("/v1/models", json!({}), vec!["allow"]),
    ];
    for (path, body, wanted) in cases {
        let answer = lab.http().post(path, &body).await;
        let wanted: BTreeSet<&str> = wanted.into_iter().collect();
        let told: BTreeSet<&str> =
            more(&answer.headers).into_iter().filter(|name| *name != "transfer-encoding").collect();
        assert_eq!(told, wanted, "{path} {body}: {}", answer.text());
        assert_ne!(answer.header("x-request-id"), "provider-1", "{path}");
    }
}

#[tokio::test]
async fn a_panel_that_failed_tells_its_id_too() {
    let lab = panel_of([("alpha", fails(500, "boom", "boom").into())]).await;
    let answer = lab.http().chat(&question("hi")).await;
    assert_eq!(answer.status, 502);
    assert_eq!(more(&answer.headers), BTreeSet::from(["x-bench-overhead-ms", "x-bench-panel"]));
    assert_eq!(answer.header("x-bench-panel"), answer.json()["bench"]["panel"]);
}

/// Whatever the machine is doing, the gateway's own time is no part of the slowest seat's, nor the other way.
#[tokio::test]
async fn overhead_leaves_out_the_time_of_the_members() {
    let slow = answers("An answer.").at(2, Step::Pause(Duration::from_millis(300)));
    let lab = panel_of([("alpha", slow.into()), ("beta", answers("At once.").into())]).await;
    let begun = tokio::time::Instant::now();
    let answer = lab.http().chat(&question("hi")).await;
    let all = begun.elapsed().as_secs_f64() * 1000.0;
    let seats = answer.json()["bench"]["seats"].clone();
    let seconds = |at: usize| seats[at]["seconds"].as_f64().expect("seconds");
    assert!(seconds(0) >= 0.3, "{seats}");
    let overhead: f64 = answer.header("x-bench-overhead-ms").parse().expect("milliseconds");
    // A millisecond for what is rounded.
    assert!(
        overhead > 0.0 && overhead <= all - seconds(0).max(seconds(1)) * 1000.0 + 1.0,
        "{overhead} of {all}"
    );

    // A stream's head is out before anybody has answered: it tells the time before the panel.
    let begun = tokio::time::Instant::now();
    let head = lab.http().stream_head(&question("hi")).await;
    let all = begun.elapsed().as_secs_f64() * 1000.0;
    let told = head.headers()["x-bench-overhead-ms"].to_str().expect("ASCII");
    let overhead: f64 = told.parse().expect("milliseconds");
    assert!(overhead > 0.0 && overhead <= all, "{overhead} of {all}");
}
