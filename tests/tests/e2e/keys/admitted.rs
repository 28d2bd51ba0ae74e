//! Who is let in: every API, with every kind of key, in every way to send one.

use bench_tests::{Gateway, Lab, http::Answer, panel_of, scenario::question, upstream::answers};
use http::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{make, post, require_keys, send, send_to};
use crate::apis::apis;

async fn lab() -> Lab {
    panel_of([("alpha", answers("Answer of alpha.").into())]).await
}

/// What a caller sends as its key, and what a gateway that requires one says of it.
async fn texts(gateway: &Gateway) -> Vec<(&'static str, Option<String>)> {
    let good = make(gateway, json!({"name": "desk"})).await;
    let revoked = make(gateway, json!({"name": "lost"})).await;
    gateway.command("revoke_key", &json!({"name": "lost"})).await;
    let mut unknown = good.clone();
    unknown.replace_range(20..21, if &good[20..21] == "a" { "b" } else { "a" });
    vec![
        ("", Some(good)),
        ("is revoked", Some(revoked)),
        ("none of this gateway's", Some(unknown)),
        ("none of this gateway's", Some("sk-of-somebody-else".to_owned())),
        ("no request without a gateway key", None),
    ]
}

/// Panics unless it is a 401 that says this, in the API's shape.
fn refused(api: &crate::apis::Api, answer: &Answer, said: &str) {
    assert_eq!(answer.status, 401, "{}: {}", api.name, answer.text());
    assert_eq!(answer.header("www-authenticate"), "Bearer", "{}", api.name);
    let body = answer.json();
    let message =
        body.pointer(api.error).and_then(Value::as_str).unwrap_or_else(|| panic!("{}: {body}", api.name));
    assert!(message.contains(said), "{}: {message}", api.name);
    assert!(message.contains("bench key create"), "the way out: {message}");
    let kind = match api.name {
        "anthropic" => "/error/type",
        name if name.starts_with("gemini") => "/error/status",
        name if name.starts_with("ollama") => return,
        _ => "/error/type",
    };
    let word = if kind == "/error/status" { "UNAUTHENTICATED" } else { "authentication_error" };
    assert_eq!(body.pointer(kind), Some(&json!(word)), "{}: {body}", api.name);
}

#[tokio::test]
async fn every_api_takes_a_good_key_and_where_one_is_required_no_other() {
    let lab = lab().await;
    let texts = texts(&lab.gateway).await;
    for is_required in [false, true] {
        if is_required {
            require_keys(&lab.gateway).await;
        }
        // All at once: those that are refused are answered slowly.
        let mut asking = JoinSet::new();
        let (apis, before) = (apis(), lab.upstream.received().len());
        for (at, api) in apis.iter().enumerate() {
            for (said, text) in texts.clone() {
                let (http, path, body) = (lab.http().clone(), api.path, api.body.clone());
                asking.spawn(async move {
                    let bearer = text.as_ref().map(|text| format!("Bearer {text}"));
                    let headers: Vec<_> = bearer.iter().map(|it| ("authorization", it.as_str())).collect();
                    (at, said, text, send_to(&http, (&Method::POST, path), &headers, Some(&body)).await)
                });
            }
        }
        let mut let_in = 0;
        for (at, said, text, answer) in asking.join_all().await {
            let api = &apis[at];
            if is_required && !said.is_empty() {
                refused(api, &answer, said);
                assert!(!text.is_some_and(|text| answer.text().contains(&text)), "{}", answer.text());
                continue;
            }
            assert_eq!(answer.status, 200, "{} {said}: {}", api.name, answer.text());
            let_in += 1;
        }
        assert_eq!(lab.upstream.received().len() - before, let_in, "nobody is asked in vain");
    }
}

#[tokio::test]
async fn a_key_is_taken_in_every_way_that_programs_send_one() {
    let lab = lab().await;
    let key = make(&lab.gateway, json!({"name": "desk"})).await;
    require_keys(&lab.gateway).await;
    let gemini = "/v1beta/models/bench/core:generateContent";
    let (body, asked) = (json!({"contents": [{"parts": [{"text": "whom?"}]}]}), question("whom?"));
    let chat = "/v1/chat/completions";
    let bearer = format!("Bearer {key}");
    let tabbed = format!("bearer\t{key}");
    for (path, headers, wanted) in [
        (chat, vec![("authorization", tabbed.as_str())], 200),
        (chat, vec![("authorization", bearer.as_str())], 200),
        (chat, vec![("x-api-key", key.as_str())], 200),
        (chat, vec![("x-goog-api-key", key.as_str())], 200),
        // The first that is there is judged.
        (chat, vec![("authorization", "Bearer no"), ("x-api-key", key.as_str())], 401),
        (chat, vec![("x-api-key", "no"), ("x-goog-api-key", key.as_str())], 401),
        (chat, vec![("authorization", bearer.as_str()), ("x-api-key", "no")], 200),
        (chat, vec![("authorization", key.as_str())], 401),
        (&format!("{chat}?key={key}"), vec![], 401),
        (&format!("{gemini}?key={key}"), vec![], 200),
        (&format!("{gemini}?key=no"), vec![], 401),
        (&format!("{gemini}?key={key}&key=no"), vec![], 200),
        (&format!("{gemini}?key=no&key={key}"), vec![], 401),
        (&format!("{gemini}?alt=json&key={key}"), vec![("x-goog-api-key", "no")], 401),
    ] {
        let body = if path.starts_with(gemini) { &body } else { &asked };
        let answer = send(&lab.gateway, (&Method::POST, path), &headers, Some(body)).await;
        assert_eq!(answer.status, wanted, "{path} {headers:?}: {}", answer.text());
    }
    // No key of a caller's goes on to a provider.
    for received in lab.upstream.received() {
        let told = format!("{} {:?} {}", received.path, received.headers, received.json());
        assert!(!told.contains(&key) && !told.contains("bwk_"), "{told}");
    }
}

#[tokio::test]
async fn every_route_of_callers_wants_one_and_no_other_does() {
    let lab = lab().await;
    let good = make(&lab.gateway, json!({"name": "desk"})).await;
    require_keys(&lab.gateway).await;
    let mut refused = JoinSet::new();
    for (method, path) in [
        (Method::GET, "/"),
        (Method::GET, "/v1/models"),
        (Method::GET, "/v1/models/bench/core"),
        (Method::GET, "/v1beta/models"),
        (Method::GET, "/api/tags"),
        (Method::POST, "/api/show"),
        (Method::GET, "/api/version"),
        (Method::GET, "/api/ps"),
        (Method::POST, "/v1/messages/count_tokens"),
        (Method::POST, "/bench/verdict"),
        (Method::POST, "/bench/pending"),
        (Method::GET, "/bench/record"),
        (Method::GET, "/bench/calls/p1.member1"),
        (Method::GET, "/v1/responses/resp_1"),
        (Method::DELETE, "/v1/responses/resp_1"),
        (Method::GET, "/v1/responses/resp_1/input_items"),
        (Method::GET, "/nowhere"),
    ] {
        let body = (method == Method::POST).then(|| json!({}));
        let (http, without) = (lab.http().clone(), body.clone());
        let what = method.clone();
        refused.spawn(async move { (path, send_to(&http, (&what, path), &[], without.as_ref()).await) });
        let with = send(&lab.gateway, (&method, path), &[("x-api-key", &good)], body.as_ref()).await;
        assert_ne!(with.status, 401, "{method} {path}: {}", with.text());
    }
    for (path, without) in refused.join_all().await {
        assert_eq!(without.status, 401, "{path}: {}", without.text());
    }
    for path in ["/health", "/practice/v1/models"] {
        assert_eq!(lab.http().get(path).await.status, 200, "{path}");
    }
    lab.gateway.command("status", &json!({})).await;
    let ours = lab.gateway.bench(&["ask", "core", "whom?"]).await.exits(0);
    assert!(ours.stdout.contains("Answer of alpha."), "{}", ours.stdout);
}

/// The gateway asks its practice models over its own address, and needs no key for it.
#[tokio::test]
async fn practice_goes_on_where_keys_are_required() {
    let lab = lab().await;
    let key = make(&lab.gateway, json!({"name": "desk"})).await;
    lab.gateway.command("start_practice", &json!({})).await;
    require_keys(&lab.gateway).await;
    let body = json!({"model": "bench/practice", "messages": [{"role": "user", "content": "whom?"}]});
    let answer = post(&lab.gateway, &key, "/v1/chat/completions", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[tokio::test]
async fn a_key_ends_when_it_is_to_and_its_name_is_given_again() {
    let lab = lab().await;
    let soon = make(&lab.gateway, json!({"name": "desk", "expires": "+1h"})).await;
    let taken = lab.gateway.admin("create_key", &json!({"name": "desk"})).await;
    assert_eq!(taken.status, 409, "{}", taken.text());
    assert_eq!(
        (&taken.json()["error"]["code"], &taken.json()["error"]["field"]),
        (&json!("conflict"), &json!("name"))
    );
    require_keys(&lab.gateway).await;
    let ask = async |key: &str| {
        post(&lab.gateway, key, "/v1/chat/completions", &question("whom?")).await.status.as_u16()
    };
    assert_eq!(ask(&soon).await, 200);
    let revoked = lab.gateway.command("revoke_key", &json!({"name": "desk"})).await;
    assert_eq!(revoked["standing"], "revoked");
    assert_eq!(ask(&soon).await, 401);
    // Again changes nothing, and its name is free.
    assert_eq!(
        lab.gateway.command("revoke_key", &json!({"name": "desk"})).await["revoked"],
        revoked["revoked"]
    );
    let next = make(&lab.gateway, json!({"name": "desk"})).await;
    assert_eq!((ask(&soon).await, ask(&next).await), (401, 200));

    // All of it is so after a restart.
    let Lab { upstream, gateway } = lab;
    let home = gateway.kill().await;
    let lab = Lab { upstream, gateway: home.serve().await };
    let ask = async |key: &str| {
        post(&lab.gateway, key, "/v1/chat/completions", &question("whom?")).await.status.as_u16()
    };
    assert_eq!((ask(&soon).await, ask(&next).await), (401, 200));
    let keys = lab.gateway.command("keys", &json!({})).await;
    let standing: Vec<_> = keys.as_array().expect("keys").iter().map(|key| &key["standing"]).collect();
    assert_eq!(standing, ["revoked", "good"], "{keys}");
}
