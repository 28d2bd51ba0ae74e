//! What a key may ask in a minute, and spend in a day.

use bench_tests::{
    Gate, Lab,
    http::Answer,
    scenario::{question, served},
    upstream::{TOKENS_IN, answers},
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{get, make, post, turn, two_collections};
use crate::apis::apis;

const CHAT: &str = "/v1/chat/completions";

fn retry_after(answer: &Answer) -> u64 {
    let header = answer.header("retry-after");
    header.parse().unwrap_or_else(|_| panic!("Retry-After: {header:?}"))
}

/// Panels and turns, which begin at different places.
fn both() -> [Value; 2] {
    [question("whom?"), turn("whom?")]
}

#[tokio::test]
async fn over_its_rate_it_is_429_in_every_api_and_nobody_is_asked() {
    let lab = two_collections().await;
    let key = make(&lab.gateway, json!({"name": "desk", "requests_a_minute": 2})).await;
    for body in both() {
        assert_eq!(post(&lab.gateway, &key, CHAT, &body).await.status, 200);
    }
    let before = lab.upstream.received().len();
    for api in apis() {
        let answer = post(&lab.gateway, &key, api.path, &api.body).await;
        assert_eq!(answer.status, 429, "{}: {}", api.name, answer.text());
        assert!((1..=60).contains(&retry_after(&answer)), "{}", api.name);
        let said = answer.json().pointer(api.error).and_then(Value::as_str).map(str::to_owned);
        assert!(said.is_some_and(|said| said.contains("may ask 2 times a minute")), "{}", answer.text());
    }
    let counting = json!({"model": "bench/core", "messages": [{"role": "user", "content": "whom?"}]});
    assert_eq!(post(&lab.gateway, &key, "/v1/messages/count_tokens", &counting).await.status, 429);
    assert_eq!(lab.upstream.received().len(), before);
    // What asks no model goes on, and so does everybody else.
    assert_eq!(get(&lab.gateway, &key, "/v1/models").await.status, 200);
    let other = make(&lab.gateway, json!({"name": "lab", "requests_a_minute": 1})).await;
    assert_eq!(post(&lab.gateway, &other, CHAT, &question("whom?")).await.status, 200);
    assert_eq!(lab.http().chat(&question("whom?")).await.status, 200);
}

#[tokio::test]
async fn over_its_budget_it_is_429_until_that_resets_and_nobody_is_asked() {
    let lab = two_collections().await;
    let budget = json!({"tokens": TOKENS_IN + 1, "per": "day"});
    let key = make(&lab.gateway, json!({"name": "desk", "budget": budget})).await;
    assert_eq!(post(&lab.gateway, &key, CHAT, &question("whom?")).await.status, 200);
    let refused = async |lab: &Lab, key: &str| {
        let before = lab.upstream.received().len();
        for body in both() {
            let answer = post(&lab.gateway, key, CHAT, &body).await;
            assert_eq!(
                (answer.status.as_u16(), &answer.json()["error"]["code"]),
                (429, &json!("budget_reached"))
            );
            assert!((1..=86_400).contains(&retry_after(&answer)));
            let said = answer.text();
            assert!(
                said.contains("gateway key \\\"desk\\\"") && said.contains("It is whole again at 20"),
                "{said}"
            );
        }
        assert_eq!(lab.upstream.received().len(), before);
    };
    refused(&lab, &key).await;
    let shown = lab.gateway.command("keys", &json!({})).await[0].clone();
    assert_eq!(shown["spent"]["is_spent"], true, "{shown}");
    assert!(shown["spent"]["tokens"].as_u64().is_some_and(|tokens| tokens > TOKENS_IN), "{shown}");
    assert!(shown["last_used"].is_string(), "{shown}");
    // It is nobody else's.
    assert_eq!(lab.http().chat(&question("whom?")).await.status, 200);

    // After a stop, and after a kill.
    let Lab { upstream, gateway } = lab;
    let (home, _) = gateway.stop().await;
    let lab = Lab { upstream, gateway: home.serve().await };
    refused(&lab, &key).await;
    let used = lab.gateway.command("keys", &json!({})).await[0]["last_used"].clone();
    assert!(used.as_str() >= shown["last_used"].as_str(), "{used}");
    let Lab { upstream, gateway } = lab;
    let home = gateway.kill().await;
    let lab = Lab { upstream, gateway: home.serve().await };
    refused(&lab, &key).await;

    // What a name has spent stays with it: rotating a key gives no more.
    lab.gateway.command("revoke_key", &json!({"name": "desk"})).await;
    let next = make(&lab.gateway, json!({"name": "desk", "budget": budget})).await;
    refused(&lab, &next).await;
    lab.gateway.command("revoke_key", &json!({"name": "desk"})).await;
    let free = make(&lab.gateway, json!({"name": "desk"})).await;
    assert_eq!(post(&lab.gateway, &free, CHAT, &question("whom?")).await.status, 200);
}

/// A name that had no budget has spent all the same, also what a kill cut off of it.
#[tokio::test]
async fn a_budget_knows_what_its_name_spent_before_it() {
    let lab = two_collections().await;
    let first = make(&lab.gateway, json!({"name": "desk"})).await;
    assert_eq!(post(&lab.gateway, &first, CHAT, &question("whom?")).await.status, 200);
    let budget = json!({"tokens": TOKENS_IN, "per": "month"});
    let rotated = async |lab: &Lab| {
        lab.gateway.command("revoke_key", &json!({"name": "desk"})).await;
        make(&lab.gateway, json!({"name": "desk", "budget": budget})).await
    };
    let key = rotated(&lab).await;
    assert_eq!(post(&lab.gateway, &key, CHAT, &question("whom?")).await.status, 429);

    let gate = Gate::shut();
    lab.upstream.model(&served("beta"), answers("Answer of beta.").held(&gate));
    let free = make(&lab.gateway, json!({"name": "lab"})).await;
    let http = lab.http().clone();
    let mut asking = JoinSet::new();
    asking.spawn(async move {
        let request = http
            .request(http::Method::POST, CHAT)
            .header("content-type", "application/json")
            .header("x-api-key", free);
        let body = json!({"model": "bench/other", "messages": [{"role": "user", "content": "whom?"}]});
        http.head(request, body.to_string()).await
    });
    lab.upstream.arrived(&served("beta"), 1).await;
    asking.abort_all();
    let Lab { upstream, gateway } = lab;
    let home = gateway.kill().await;
    gate.open();
    let lab = Lab { upstream, gateway: home.serve().await };
    let spent = super::callers(&lab.gateway).await;
    assert_eq!(spent, json!({"desk": 1, "lab": 1}));
    assert_eq!(post(&lab.gateway, &key, CHAT, &question("whom?")).await.status, 429);
}
