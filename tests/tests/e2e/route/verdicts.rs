//! Verdicts on routed work: route.md §2, §6, panel.md §9.

use bench_tests::upstream::Api;
use serde_json::{Value, json};

use super::{
    caller::{Ask, Caller},
    lab::{call, named, routed},
};

#[tokio::test]
async fn a_verdict_on_a_turns_call_decides_who_goes_first_next() {
    let lab = routed([("alpha", Api::Chat, named("alpha")), ("beta", Api::Anthropic, named("beta"))]).await;
    let http = lab.http();
    let heard = Caller::Anthropic.ask(http, &Ask::of("work").model("bench/model/beta")).await;
    assert_eq!(heard.by(), "beta", "{}", heard.raw);
    let id = heard.bench("call");
    // As an agent that has only the reply can give it.
    let said = heard.bench("verdict");
    assert!(said.as_str().is_some_and(|it| it.starts_with("POST /bench/verdict")), "{said}");
    let verdict = json!({"call": id, "useful": true, "note": "it compiled", "real": ["a leak"]});
    let answer = http.post("/bench/verdict", &verdict).await;
    assert_eq!(answer.json(), json!({"ok": true, "recorded": true}), "{}", answer.text());
    let kept = call(&lab.gateway, id.as_str().expect("a call")).await;
    assert_eq!(kept["verdict"]["useful"], true, "{kept}");
    assert_eq!(kept["verdict"]["note"], "it compiled", "{kept}");

    let first = Caller::Chat.ask(http, &Ask::of("new work")).await;
    assert_eq!(first.by(), "beta");
    // A conversation under way stays where it is, whatever is said of it.
    let worse = json!({"call": first.bench("call"), "useful": false});
    assert_eq!(http.post("/bench/verdict", &worse).await.json()["recorded"], true);
    let cleared = json!({"call": id, "clear": true});
    assert_eq!(http.post("/bench/verdict", &cleared).await.json()["recorded"], true);
    let second = Caller::Chat.ask(http, &Ask::of("new work").then(&first, "more")).await;
    assert_eq!((second.by(), second.conversation()), ("beta", first.conversation()));
    assert_eq!(Caller::Chat.ask(http, &Ask::of("newer work")).await.by(), "alpha");
}

#[tokio::test]
async fn it_is_counted_for_the_collection_and_owed_by_nobody() {
    let lab = routed([("alpha", Api::Chat, named("alpha"))]).await;
    let http = lab.http();
    let heard = Caller::Chat.ask(http, &Ask::of("work")).await;
    let id = heard.bench("call");
    let owed = lab.gateway.command("owed", &json!({})).await;
    assert!(!owed.to_string().contains(heard.conversation()), "{owed}");
    let status = lab.gateway.command("status", &json!({})).await;
    assert!(status["owed"].as_u64().unwrap_or(0) == 0, "{status}");
    // Asked by name, it is unjudged like any other.
    let pending = http.post("/bench/pending", &json!({"calls": [id]})).await;
    assert_eq!(pending.status, 200, "{}", pending.text());
    assert_eq!(
        http.post("/bench/verdict", &json!({"call": id, "useful": true})).await.json()["recorded"],
        true
    );
    let record = http.get("/bench/record?collection=bench/core").await.json();
    let alpha = &record["aliases"]["alpha"];
    assert_eq!(
        (&alpha["useful"], &alpha["notUseful"], &alpha["judged"]),
        (&json!(1), &json!(0), &json!(1)),
        "{record}"
    );
    // It survives, and may be withdrawn.
    let (home, _) = lab.gateway.stop().await;
    let gateway = home.serve().await;
    let record = gateway.http.get("/bench/record?collection=bench/core").await.json();
    assert_eq!(record["aliases"]["alpha"]["judged"], 1, "{record}");
    let clear = gateway.http.post("/bench/verdict", &json!({"call": id, "clear": true})).await;
    assert_eq!(clear.json()["recorded"], true, "{}", clear.text());
    let unknown = format!("{}.9", heard.conversation());
    for call in [unknown.as_str(), heard.conversation()] {
        let answer = gateway.http.post("/bench/verdict", &json!({"call": call, "useful": true})).await;
        assert_eq!(answer.status, 404, "{call}: {}", answer.text());
    }
    let kept = call(&gateway, id.as_str().expect("a call")).await;
    assert_eq!(kept["verdict"], Value::Null, "{kept}");
}
