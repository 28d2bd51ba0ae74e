//! A key's name stands in every record of what it asks, and keeps its conversations apart.

use bench_tests::{
    Gate, Home, Lab, Scenario, Upstream, eventually,
    scenario::{KEY, question, served},
    upstream::{Script, answers},
};
use serde_json::{Value, json};
use store::{OpenOptions, Store};

use super::{callers, make, post, turn, two_collections};
use crate::checks::panel_id;

/// The records of a gateway that has ended.
fn store_of(home: &Home) -> Store {
    let options = OpenOptions { path: home.data(), now: std::sync::Arc::new(|| 0), max_pages: None };
    Store::open(options).expect("the records").store
}

/// A panel of `alpha` with everybody who may work on its behalf: an explorer, a picker, a merger; and turns with a shadow.
async fn busy() -> Lab {
    let upstream = Upstream::start().await;
    let mut scenario = Scenario::new().endpoint("fake", &upstream.base()).key("FAKE_KEY", KEY);
    for (alias, says) in [
        ("alpha", "Answer of alpha."),
        ("beta", "Answer of beta."),
        ("explorer", "Answer of explorer."),
        ("editor", "Both say so."),
        ("judge", r#"{"choice": "general", "confidence": 0.9}"#),
    ] {
        upstream.model(&served(alias), answers(says));
        scenario = scenario.model(alias, "fake", &served(alias));
        scenario = match alias {
            "judge" => scenario.model_with("role", "decision"),
            "editor" => scenario.model_with("ad_hoc", true),
            _ => scenario,
        };
    }
    let gateway = scenario
        .setting("max_explorers", 1)
        .collection("core", &["alpha", "beta"])
        .with("reply", "merged")
        .with("merger", "editor")
        .with("shadow", 1)
        .start()
        .await;
    Lab { upstream, gateway }
}

#[tokio::test]
async fn whatever_is_done_on_its_behalf_is_its_own() {
    let lab = busy().await;
    let key = make(&lab.gateway, json!({"name": "desk"})).await;
    let panel = panel_id(&post(&lab.gateway, &key, "/v1/chat/completions", &question("whom?")).await.json());
    let routed = post(&lab.gateway, &key, "/v1/chat/completions", &turn("whom?")).await.json();
    let conversation = routed["bench"]["conversation"].as_str().expect("a conversation").to_owned();
    let call = routed["bench"]["call"].as_str().expect("a call").to_owned();
    eventually("the shadow", async || {
        (lab.http().get(&format!("/bench/calls/{call}.s1")).await.status == 200).then_some(())
    })
    .await;
    let verdict = json!({"call": call, "useful": true});
    assert_eq!(post(&lab.gateway, &key, "/bench/verdict", &verdict).await.status, 200);
    lab.http().chat(&question("without a key")).await;

    let shown = async |command: &str, id: &str| {
        lab.gateway.command(command, &json!({"id": id})).await["caller"].clone()
    };
    assert_eq!(shown("panel", &panel).await, "desk");
    assert_eq!(shown("conversation", &conversation).await, "desk");
    let log = lab.gateway.bench(&["log", &conversation]).await.exits(0).stdout;
    assert!(log.contains("(key desk)"), "{log}");
    let (home, _) = lab.gateway.stop().await;

    let store = store_of(&home);
    let by: Vec<String> =
        store.verdict_history(&call).expect("history").into_iter().map(|it| it.by).collect();
    assert_eq!(by, ["desk"]);
    let ledger = store.ledger(None, 100).expect("the ledger");
    let mut desk: Vec<_> =
        ledger.iter().filter(|it| it.row.caller == "desk").map(|it| it.row.purpose.as_str()).collect();
    desk.sort_unstable();
    assert_eq!(desk, ["merge", "panel", "panel", "panel", "picker", "route", "shadow"]);
    let local = ledger.iter().filter(|it| it.row.caller == "local").count();
    let spent = json!({"desk": desk.len(), "local": local});
    let panels = store.panels(None, 10).expect("panels");
    let mut named: Vec<_> = panels.iter().map(|it| it.row.caller.as_str()).collect();
    named.sort_unstable();
    assert_eq!(named, ["desk", "local"]);
    store.close();

    // It is told so after a restart.
    let gateway = home.serve().await;
    assert_eq!(callers(&gateway).await, spent);
    for (command, id) in [("panel", &panel), ("conversation", &conversation)] {
        let it = gateway.command(command, &json!({"id": id})).await;
        assert_eq!(it["caller"], "desk", "{command}: {it}");
    }
    let panels = gateway.command("panels", &json!({"before": null, "limit": 10})).await;
    let unnamed: Vec<_> =
        panels["panels"].as_array().expect("panels").iter().map(|it| it.get("caller")).collect();
    assert_eq!(unnamed, [None, Some(&json!("desk"))], "without a key there is none: {panels}");
}

#[tokio::test]
async fn two_keys_that_begin_alike_have_a_conversation_each() {
    let lab = two_collections().await;
    let keys = [
        make(&lab.gateway, json!({"name": "desk"})).await,
        make(&lab.gateway, json!({"name": "lab"})).await,
        "none".to_owned(),
    ];
    let of = |answer: Value| answer["bench"]["conversation"].as_str().expect("a conversation").to_owned();
    for session in [false, true] {
        let ask = async |gateway: &bench_tests::Gateway, key: &str| {
            let bearer = format!("Bearer {key}");
            let mut headers = vec![("authorization", bearer.as_str())];
            if session {
                headers.push(("x-session-id", "the same"));
            }
            let what = (&http::Method::POST, "/v1/chat/completions");
            of(super::send(gateway, what, &headers, Some(&turn("the same words"))).await.json())
        };
        let mut begun = Vec::new();
        for key in &keys {
            begun.push(ask(&lab.gateway, key).await);
        }
        for (key, conversation) in keys.iter().zip(&begun) {
            assert_eq!(&ask(&lab.gateway, key).await, conversation, "it goes on: {key}");
        }
        begun.sort();
        begun.dedup();
        assert_eq!(begun.len(), keys.len(), "{session}");
    }
}

#[tokio::test]
async fn a_conversation_goes_on_after_a_kill_and_is_its_keys() {
    let gate = Gate::shut();
    let lab = two_collections().await;
    let (desk, other) =
        (make(&lab.gateway, json!({"name": "desk"})).await, make(&lab.gateway, json!({"name": "lab"})).await);
    let chat = "/v1/chat/completions";
    let first = post(&lab.gateway, &desk, chat, &turn("the same words")).await.json();
    lab.upstream.model(&served("alpha"), answers("Answer of alpha.").held(&gate));
    let http = lab.http().clone();
    let mut asking = tokio::task::JoinSet::new();
    for body in [turn("cut off"), question("cut off")] {
        let (http, desk) = (http.clone(), desk.clone());
        asking.spawn(async move {
            let request = http
                .request(http::Method::POST, chat)
                .header("content-type", "application/json")
                .header("x-api-key", desk);
            drop(
                tokio::time::timeout(
                    std::time::Duration::from_secs(60),
                    http.head(request, body.to_string()),
                )
                .await,
            );
        });
    }
    lab.upstream.arrived(&served("alpha"), 3).await;
    eventually("the turn to be noted", async || {
        let files = lab.gateway.home.files();
        let (_, begun) = files.into_iter().find(|(path, _)| path.ends_with("records.begun"))?;
        let begun = String::from_utf8_lossy(&begun).into_owned();
        (begun.contains("\"turn\"") && begun.contains("\"call\"")).then_some(())
    })
    .await;
    asking.abort_all();
    let home = lab.gateway.kill().await;
    gate.open();

    let gateway = home.serve().await;
    // Both calls that were cut off, and the one that ended.
    assert_eq!(callers(&gateway).await, json!({"desk": 3}));
    let conversations = gateway.command("conversations", &json!({"before": null, "limit": 10})).await;
    for it in conversations["conversations"].as_array().expect("conversations") {
        assert_eq!(it["caller"], "desk", "{it}");
    }
    let of = |answer: Value| answer["bench"]["conversation"].clone();
    let again = of(post(&gateway, &desk, chat, &turn("the same words")).await.json());
    assert_eq!(again, first["bench"]["conversation"]);
    assert_ne!(of(post(&gateway, &other, chat, &turn("the same words")).await.json()), again);
}

/// A member's count is asked for on the key's behalf.
#[tokio::test]
async fn counting_is_its_own_too() {
    let upstream = Upstream::start().await;
    upstream.model("a", Script::from(answers("Answer of alpha.")));
    let gateway = Scenario::new()
        .endpoint("fake", &upstream.base_of(bench_tests::upstream::Api::Anthropic))
        .api("anthropic")
        .key("FAKE_KEY", KEY)
        .model("alpha", "fake", "a")
        .collection("core", &["alpha"])
        .start()
        .await;
    let key = make(&gateway, json!({"name": "desk"})).await;
    let body = json!({"model": "bench/core", "messages": [{"role": "user", "content": "whom?"}]});
    let counted = post(&gateway, &key, "/v1/messages/count_tokens", &body).await;
    assert_eq!(counted.status, 200, "{}", counted.text());
    // Its row is not waited for.
    eventually("its row", async || (callers(&gateway).await == json!({"desk": 1})).then_some(())).await;
}
