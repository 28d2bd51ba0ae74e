use bench_tests::{Lab, panel_of, upstream::answers};
use http::Method;

async fn lab() -> Lab {
    panel_of([("alpha", answers("A").into()), ("beta", answers("B").into())]).await
}

#[tokio::test]
async fn every_spelling_of_the_list_answers() {
    let lab = lab().await;
    for path in
        ["/v1/models", "/models", "/v1/v1/models", "/v1/models/", "/v1/models?limit=20", "/v1/v1/models/?a=b"]
    {
        let answer = lab.http().get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        assert_eq!(answer.header("content-type").split(';').next(), Some("application/json"), "{path}");
        let list = answer.json();
        assert_eq!(list["object"], "list", "{path}");
        let ids: Vec<_> = list["data"].as_array().expect("data").iter().map(|entry| &entry["id"]).collect();
        // As set, then as it can be asked otherwise.
        assert_eq!(ids, ["bench/core", "bench/core:merged", "bench/core:route"], "{path}");
    }
}

#[tokio::test]
async fn an_entry_describes_its_collection() {
    let lab = lab().await;
    let list = lab.http().get("/v1/models").await.json();
    let entry = &list["data"][0];
    assert_eq!(entry["object"], "model");
    assert!(entry["created"].is_u64(), "{entry}");
    assert_eq!(entry["owned_by"], "benchwarmers");
    assert_eq!(entry["description"], "everyday second opinions");
    assert_eq!(entry["members"], serde_json::json!(["alpha", "beta"]));
    assert_eq!(entry["reply"], "all");
    for field in ["tags", "shape", "explorers", "merger", "together"] {
        assert!(entry.as_object().is_some_and(|entry| entry.contains_key(field)), "no {field} in {entry}");
    }
    let merged = &list["data"][1];
    assert_eq!((&merged["reply"], &merged["members"]), (&serde_json::json!("merged"), &entry["members"]));
    let together = &entry["together"];
    assert_eq!(together["context_window"], serde_json::Value::Null);
    assert_eq!(together["context_unknown"], serde_json::json!(["alpha", "beta"]));
}

#[tokio::test]
async fn together_is_what_every_member_can_do() {
    let upstream = bench_tests::Upstream::start().await;
    let gateway = bench_tests::Scenario::new()
        .endpoint("fake", &upstream.base())
        .model("alpha", "fake", "a")
        .facts(serde_json::json!({"context_window": 128_000, "tools": true, "vision": true}))
        .model("beta", "fake", "b")
        .facts(serde_json::json!({"context_window": 32_000, "tools": true, "vision": false}))
        .collection("core", &["alpha", "beta"])
        .with("tags", vec!["code", "daily"])
        .with("shape", "review")
        .setting("max_calls", 3)
        .setting("max_explorers", 2)
        .start()
        .await;
    let entry = gateway.http.get("/v1/models/bench/core").await.json();
    assert_eq!(entry["together"]["context_window"], 32_000);
    assert_eq!(entry["together"]["context_unknown"], serde_json::json!([]));
    assert_eq!(entry["together"]["capabilities"], serde_json::json!(["tools"]));
    assert_eq!(entry["tags"], serde_json::json!(["code", "daily"]));
    assert_eq!((&entry["shape"], &entry["explorers"]), (&serde_json::json!("review"), &serde_json::json!(1)));
}

#[tokio::test]
async fn one_model_is_found_by_every_spelling() {
    let lab = lab().await;
    for path in [
        "/v1/models/bench/core",
        "/v1/models/bench%2Fcore",
        "/v1/models/bench%2fcore/",
        "/models/bench/core",
        "/v1/v1/models/bench/core",
        "/v1/models/bench/core:all",
        "/v1/models/bench/core:merged",
        "/v1/models/bench/core:route",
        "/v1/models/bench%2Fcore%3Aall",
        "/v1/models/core",
        "/v1/models/bench/core?x=1",
    ] {
        let answer = lab.http().get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        let entry = answer.json();
        assert_eq!(entry["object"], "model", "{path}");
        assert_eq!(entry["owned_by"], "benchwarmers", "{path}");
        assert_eq!(entry["members"], serde_json::json!(["alpha", "beta"]), "{path}");
    }
}

#[tokio::test]
async fn a_model_that_is_none_is_a_404_that_lists_the_collections() {
    let lab = lab().await;
    for path in
        ["/v1/models/bench/nope", "/v1/models/gpt-4o", "/v1/models/bench%2Fcore%2Fmore", "/v1/models/%ff"]
    {
        let answer = lab.http().get(path).await;
        let message = answer.refusal(404, "not_found_error", "collection_not_found");
        assert!(message.contains("bench/core"), "{path}: {message}");
    }
    // In the shape that its reader would have had the entry in.
    for (header, at, wanted) in [
        ("anthropic-version", "/error/type", "not_found_error"),
        ("x-goog-api-key", "/error/status", "NOT_FOUND"),
    ] {
        let request = lab.http().request(Method::GET, "/v1/models/bench/nope").header(header, "2023-06-01");
        let error = lab.http().send(request, "").await.json();
        assert_eq!(error.pointer(at).and_then(|it| it.as_str()), Some(wanted), "{header}: {error}");
        assert!(error["error"].get("param").is_none(), "{header}: {error}");
    }
}

#[tokio::test]
async fn probes_answer() {
    let lab = lab().await;
    let health = lab.http().get("/health").await;
    assert_eq!(health.status, 200);
    assert_eq!(health.json()["ok"], true);
    assert!(
        health.json()["version"].as_str().is_some_and(|version| version.contains('.')),
        "{}",
        health.text()
    );
    assert_eq!(lab.http().get("/").await.status, 200);
    for path in ["/", "/health", "/v1/models", "/v1/models/bench/core", "/models/"] {
        let answer = lab.http().send(lab.http().request(Method::HEAD, path), "").await;
        assert_eq!(answer.status, 200, "HEAD {path}");
        assert!(answer.body.is_empty(), "HEAD {path}: {}", answer.text());
        assert!(!answer.header("x-request-id").is_empty(), "HEAD {path}");
    }
}

#[tokio::test]
async fn no_collection_yet_is_an_empty_list() {
    let gateway = bench_tests::Home::default().serve().await;
    let list = gateway.http.get("/v1/models").await.json();
    assert_eq!(list["object"], "list");
    assert_eq!(list["data"], serde_json::json!([]));
}
