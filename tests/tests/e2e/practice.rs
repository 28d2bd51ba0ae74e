//! From nothing to a verdict without touching a network.

use bench_tests::Home;
use serde_json::json;

use crate::checks::{panel_id, seats};

#[tokio::test]
async fn a_panel_of_practice_models_end_to_end() {
    let gateway = Home::default().serve().await;
    let status = gateway.command("status", &json!({})).await;
    assert_eq!(status["first_run"], true);

    let collection = gateway.command("start_practice", &json!({})).await;
    assert_eq!(collection["practice"], true);
    let name = collection["name"].as_str().expect("a name").to_owned();
    assert_eq!(gateway.command("start_practice", &json!({})).await["name"], name.as_str(), "twice is once");
    let list = gateway.http.get("/v1/models").await.json();
    assert_eq!(list["data"][0]["id"], format!("bench/{name}"));
    let setup = gateway.command("setup", &json!({})).await;
    assert!(
        setup["endpoints"].as_array().is_some_and(|all| all.len() == 1 && all[0]["practice"] == true),
        "{setup}"
    );
    assert!(
        setup["models"]
            .as_array()
            .is_some_and(|all| all.len() >= 4 && all.iter().all(|m| m["practice"] == true))
    );

    let body = json!({"model": format!("bench/{name}"), "messages": [{"role": "user", "content": "Tea or coffee?"}]});
    let streamed = gateway.http.stream(&body).await.rest().await;
    let finish = streamed.finish();
    let seats = seats(&finish);
    let sat: Vec<_> = seats.iter().map(|seat| (&seat["seat"], &seat["alias"], &seat["status"])).collect();
    assert_eq!(
        sat,
        [
            (&json!("member"), &json!("practice-quick"), &json!("ok")),
            (&json!("member"), &json!("practice-thinker"), &json!("ok")),
            (&json!("member"), &json!("practice-contrarian"), &json!("ok")),
            (&json!("member"), &json!("practice-substitute"), &json!("ok")),
            (&json!("explorer"), &json!("practice-newcomer"), &json!("ok")),
        ]
    );
    let handed = &finish["bench"]["failed_over"];
    assert_eq!((handed.as_array().map(Vec::len), &handed[0]["from"]), (Some(1), &json!("practice-limited")));
    assert!(
        handed[0]["why"].as_str().is_some_and(|why| why.to_lowercase().contains("limit")),
        "and one that is rate limited: {handed}"
    );
    let mut texts: Vec<_> = seats.iter().map(|seat| seat["answer"].to_string()).collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), seats.len(), "they do not all say the same");

    let call = seats[0]["call"].clone();
    assert!(call.as_str().is_some_and(|call| call.starts_with(&panel_id(&finish))));
    let verdict = gateway.http.post("/bench/verdict", &json!({"call": call, "useful": true})).await.json();
    assert_eq!(verdict["recorded"], true);
    let record = gateway.http.get(&format!("/bench/record?collection=bench/{name}")).await.json();
    let judged: u64 = record["aliases"]
        .as_object()
        .expect("aliases")
        .values()
        .map(|counts| counts["judged"].as_u64().unwrap_or_default())
        .sum();
    assert_eq!(judged, 1, "{record}");
    let panels = gateway.command("panels", &json!({"before": null, "limit": 10})).await;
    assert_eq!(panels["panels"][0]["practice"], true);
    assert_eq!(gateway.command("status", &json!({})).await["first_run"], false);
}

#[tokio::test]
async fn practice_is_merged_by_its_editor() {
    let gateway = Home::default().serve().await;
    let name =
        gateway.command("start_practice", &json!({})).await["name"].as_str().expect("a name").to_owned();
    let body =
        json!({"model": format!("bench/{name}:merged"), "messages": [{"role": "user", "content": "Tea?"}]});
    let streamed = gateway.http.stream(&body).await.rest().await;
    let finish = streamed.finish();
    assert_eq!(finish["bench"]["merger"]["alias"], "practice-editor", "{}", finish["bench"]);
    assert!(streamed.chunks().len() > 10, "word by word");
    assert!(streamed.text().contains("Merged by practice-editor"), "{}", streamed.text());
}

#[tokio::test]
async fn practice_survives_a_restart_on_another_port() {
    let gateway = Home::default().serve().await;
    let name =
        gateway.command("start_practice", &json!({})).await["name"].as_str().expect("a name").to_owned();
    let (home, code) = gateway.stop().await;
    assert_eq!(code, Some(0), "{}", home.logs());
    let gateway = home.serve().await;
    let body = json!({"model": name, "messages": [{"role": "user", "content": "Tea or coffee?"}]});
    let answer = gateway.http.chat(&body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}
