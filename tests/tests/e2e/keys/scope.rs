//! What a key may use: model lists, calls, counts, verdicts, records and kept responses.

use bench_tests::http::Answer;
use http::Method;
use serde_json::{Value, json};

use super::{get, make, post, scoped, send, two_collections};
use crate::{apis::apis, checks::panel_id};

fn ids(list: &Value, at: &str, id: &str) -> Vec<String> {
    let entries = list[at].as_array().unwrap_or_else(|| panic!("no {at} in {list}"));
    entries.iter().map(|entry| entry[id].as_str().expect("a name").to_owned()).collect()
}

/// Panics unless it is a 403 that names the key and this collection, and what the key may use.
fn beyond(answer: &Answer, collection: &str) {
    assert_eq!(answer.status, 403, "{}", answer.text());
    let said = answer.text();
    assert!(said.contains("desk") && said.contains(collection), "{said}");
    assert!(said.contains("bench/core"), "the way out: {said}");
}

#[tokio::test]
async fn lists_hold_what_the_key_may_use() {
    let lab = two_collections().await;
    let key = scoped(&lab.gateway, "desk", &["core"]).await;
    let free = make(&lab.gateway, json!({"name": "free"})).await;
    for (path, at, id) in
        [("/v1/models", "data", "id"), ("/v1beta/models", "models", "name"), ("/api/tags", "models", "name")]
    {
        let named = |names: &[String], what: &str| names.iter().any(|name| name.contains(what));
        let its = ids(&get(&lab.gateway, &key, path).await.json(), at, id);
        assert!(named(&its, "core") && !named(&its, "other") && !named(&its, "model/"), "{path}: {its:?}");
        let all = ids(&get(&lab.gateway, &free, path).await.json(), at, id);
        assert!(named(&all, "other") && named(&all, "model/beta"), "{path}: {all:?}");
    }
    let anthropic = [("x-api-key", key.as_str()), ("anthropic-version", "2023-06-01")];
    let list = send(&lab.gateway, (&Method::GET, "/v1/models"), &anthropic, None).await.json();
    assert_eq!(ids(&list, "data", "id"), ["bench/core", "bench/core:merged", "bench/core:route"]);
    for (path, wanted) in [
        ("/v1/models/bench/core", 200),
        ("/v1/models/bench/other", 403),
        ("/v1/models/other:all", 403),
        ("/v1/models/bench/model/beta", 403),
        ("/v1/models/bench/nobody", 404),
    ] {
        let answer = get(&lab.gateway, &key, path).await;
        assert_eq!(answer.status, wanted, "{path}: {}", answer.text());
        assert!(!answer.text().contains("bench/other ("), "{path}: {}", answer.text());
    }
    let unknown = get(&lab.gateway, &key, "/v1/models/bench/nobody").await.text();
    assert!(unknown.contains("bench/core") && !unknown.contains("bench/other"), "{unknown}");
    let show = |name: &str| json!({"model": name});
    assert_eq!(post(&lab.gateway, &key, "/api/show", &show("core")).await.status, 200);
    beyond(&post(&lab.gateway, &key, "/api/show", &show("other")).await, "bench/other");
}

#[tokio::test]
async fn a_question_beyond_it_is_403_in_every_api_and_asks_nobody() {
    let lab = two_collections().await;
    let key = scoped(&lab.gateway, "desk", &["core"]).await;
    for api in apis() {
        let answer = post(&lab.gateway, &key, api.path, &api.body).await;
        assert_eq!(answer.status, 200, "{}: {}", api.name, answer.text());
    }
    let before = lab.upstream.received().len();
    for api in apis() {
        for (name, named) in [("other", "bench/other"), ("model/beta", "bench/model/beta")] {
            let path = api.path.replace("bench/core", &format!("bench/{name}"));
            let mut body = api.body.clone();
            if let Some(model) = body.get_mut("model") {
                *model = json!(format!("bench/{name}"));
            }
            let answer = post(&lab.gateway, &key, &path, &body).await;
            beyond(&answer, named);
            let message = answer.json().pointer(api.error).and_then(Value::as_str).map(str::to_owned);
            assert!(message.is_some_and(|said| said.contains(named)), "{}: {}", api.name, answer.text());
        }
    }
    let (user, chat) = (json!([{"role": "user", "content": "whom?"}]), "/v1/chat/completions");
    for (path, name, wanted) in [
        ("/api/generate", "bench/core", 200),
        ("/api/chat", "bench/core", 200),
        ("/api/generate", "bench/nobody", 404),
    ] {
        let loaded = post(&lab.gateway, &key, path, &json!({"model": name})).await;
        assert_eq!(loaded.status, wanted, "{path} {name}: {}", loaded.text());
    }
    let others: [(&str, Value); 9] = [
        // Ollama's own client asks nothing, to have the model loaded.
        ("/api/generate", json!({"model": "bench/other"})),
        ("/api/generate", json!({"model": "bench/model/beta", "prompt": ""})),
        ("/api/chat", json!({"model": "other:latest"})),
        ("/api/chat", json!({"model": "beta", "messages": []})),
        (chat, json!({"model": "other:route", "messages": user})),
        (chat, json!({"model": "beta", "messages": user})),
        (chat, json!({"model": "core", "messages": user, "with": ["beta"]})),
        ("/v1/messages/count_tokens", json!({"model": "bench/other", "max_tokens": 9, "messages": user})),
        ("/v1beta/models/bench/other:countTokens", json!({"contents": [{"parts": [{"text": "whom?"}]}]})),
    ];
    for (path, body) in others {
        let answer = post(&lab.gateway, &key, path, &body).await;
        assert_eq!(answer.status, 403, "{path} {body}: {}", answer.text());
    }
    assert_eq!(lab.upstream.received().len(), before);
    // A collection that is gone is of no use, and no error of the gateway's.
    lab.gateway.command("delete_collection", &json!({"name": "core"})).await;
    let answer = post(&lab.gateway, &key, chat, &json!({"model": "bench/core", "messages": user})).await;
    assert_eq!(answer.status, 404, "{}", answer.text());
    assert!(!answer.text().contains("bench/other"), "{}", answer.text());
}

#[tokio::test]
async fn verdicts_and_records_are_of_its_collections() {
    let lab = two_collections().await;
    let gateway = &lab.gateway;
    let key = scoped(gateway, "desk", &["core"]).await;
    let ask = async |name: &str| {
        let body = json!({"model": name, "messages": [{"role": "user", "content": "whom?"}]});
        gateway.http.chat(&body).await.json()
    };
    let call = async |name: &str| format!("{}.member1", panel_id(&ask(name).await));
    let (core, other) = (call("core").await, call("other").await);
    let routed = ask("bench/model/beta").await["bench"]["call"].as_str().expect("a call").to_owned();
    for (id, wanted) in [(&core, 200), (&other, 403), (&routed, 403), (&"p1.member1".to_owned(), 404)] {
        let looked_up = get(gateway, &key, &format!("/bench/calls/{id}")).await;
        assert_eq!(looked_up.status, wanted, "{id}: {}", looked_up.text());
        for body in [json!({"call": id, "useful": true}), json!({"call": id, "clear": true})] {
            let judged = post(gateway, &key, "/bench/verdict", &body).await;
            assert_eq!(judged.status, wanted, "{body}: {}", judged.text());
        }
        if wanted == 403 {
            assert!(!looked_up.text().contains("Answer of"), "{}", looked_up.text());
            beyond(&looked_up, if *id == other { "bench/other" } else { "bench/model/beta" });
        }
    }
    let pending = post(gateway, &key, "/bench/pending", &json!({"calls": [core, other, routed]})).await;
    assert_eq!(pending.json()["calls"], json!([core]));
    for (query, wanted) in [("?collection=bench/core", 200), ("?collection=other", 403), ("", 403)] {
        let record = get(gateway, &key, &format!("/bench/record{query}")).await;
        assert_eq!(record.status, wanted, "{query}: {}", record.text());
    }
}

#[tokio::test]
async fn a_kept_response_is_its_callers() {
    let lab = two_collections().await;
    let gateway = &lab.gateway;
    let (desk, lab_key) =
        (scoped(gateway, "desk", &["core"]).await, make(gateway, json!({"name": "lab"})).await);
    let ask = async |key: &str, previous: Option<&str>| {
        let mut body = json!({"model": "bench/core", "input": "whom?"});
        if let Some(previous) = previous {
            body["previous_response_id"] = json!(previous);
        }
        post(gateway, key, "/v1/responses", &body).await
    };
    let id = ask(&desk, None).await.json()["id"].as_str().expect("id").to_owned();
    let path = format!("/v1/responses/{id}");
    for (key, wanted) in [(&lab_key, 404), (&"none".to_owned(), 404), (&desk, 200)] {
        assert_eq!(get(gateway, key, &path).await.status, wanted, "{key}");
        assert_eq!(get(gateway, key, &format!("{path}/input_items")).await.status, wanted, "{key}");
        assert_eq!(ask(key, Some(&id)).await.status, wanted, "{key}");
        let bearer = format!("Bearer {key}");
        let deleted = send(gateway, (&Method::DELETE, &path), &[("authorization", &bearer)], None).await;
        assert_eq!(deleted.status, wanted, "{key}: {}", deleted.text());
    }
}

/// A name goes to another key, which may use less: what was kept of a collection beyond it is not read, gone on from or
/// deleted.
#[tokio::test]
async fn a_kept_response_of_a_collection_beyond_the_key_is_403() {
    let lab = two_collections().await;
    let gateway = &lab.gateway;
    let wide = make(gateway, json!({"name": "desk"})).await;
    let ask = async |key: &str, model: &str, more: Value| {
        let mut body = json!({"model": model, "input": "whom?"});
        body.as_object_mut().expect("object").extend(more.as_object().expect("object").clone());
        post(gateway, key, "/v1/responses", &body).await
    };
    let id_of = |answer: &Answer| -> String {
        let text = answer.text();
        let at = text.find("\"resp_").unwrap_or_else(|| panic!("no id in {text}")) + 1;
        text[at..].split('"').next().expect("an id").to_owned()
    };
    let first = async |model: &str, more: Value| {
        let answer = ask(&wide, model, more).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        id_of(&answer)
    };
    let core = first("bench/core", json!({})).await;
    let routed = first("bench/core:route", json!({"stream": true})).await;
    let mut beyond_it = Vec::new();
    for model in ["bench/other", "bench/other:route", "bench/model/beta"] {
        for stream in [false, true] {
            let named = if model.contains("other") { "bench/other" } else { model };
            beyond_it.push((named, first(model, json!({"stream": stream})).await));
        }
    }
    let joined = first("bench/core", json!({"previous_response_id": beyond_it[0].1})).await;
    gateway.command("revoke_key", &json!({"name": "desk"})).await;
    let desk = scoped(gateway, "desk", &["core"]).await;
    let bearer = format!("Bearer {desk}");
    let asked = lab.upstream.received().len();
    for (named, id) in &beyond_it {
        let path = format!("/v1/responses/{id}");
        beyond(&get(gateway, &desk, &path).await, named);
        beyond(&get(gateway, &desk, &format!("{path}/input_items")).await, named);
        beyond(&ask(&desk, "bench/core", json!({"previous_response_id": id})).await, named);
        let deleted = send(gateway, (&Method::DELETE, &path), &[("authorization", &bearer)], None).await;
        beyond(&deleted, named);
    }
    // Of what goes on from one of them, what came before is not told either.
    beyond(&get(gateway, &desk, &format!("/v1/responses/{joined}/input_items")).await, "bench/other");
    beyond(&ask(&desk, "bench/core", json!({"previous_response_id": joined})).await, "bench/other");
    assert_eq!(lab.upstream.received().len(), asked, "nobody was asked");
    for id in [&core, &routed, &joined] {
        let path = format!("/v1/responses/{id}");
        assert_eq!(get(gateway, &desk, &path).await.status, 200, "{id}");
        let deleted = send(gateway, (&Method::DELETE, &path), &[("authorization", &bearer)], None).await;
        assert_eq!(deleted.status, 200, "{id}: {}", deleted.text());
    }
    gateway.command("revoke_key", &json!({"name": "desk"})).await;
    let wide = make(gateway, json!({"name": "desk"})).await;
    for (_, id) in &beyond_it {
        let path = format!("/v1/responses/{id}");
        assert_eq!(get(gateway, &wide, &path).await.status, 200, "{id} is still kept");
    }
}
