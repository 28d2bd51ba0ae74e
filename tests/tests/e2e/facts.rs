//! What is known of models: from their endpoint's list, from what calls meet, and from their owner.

use bench_tests::{
    Gateway, Home, Scenario, Upstream, eventually,
    scenario::KEY,
    upstream::{Listing, answers, fails},
};
use serde_json::{Value, json};

async fn sheet(gateway: &Gateway, alias: &str) -> Value {
    gateway.command("model", &json!({"name": alias})).await
}

fn fact<'a>(sheet: &'a Value, name: &str) -> &'a Value {
    let facts = sheet["facts"].as_array().expect("facts");
    facts.iter().find(|fact| fact["name"] == name).expect("every fact is there")
}

fn question() -> Value {
    json!({"model": "core", "messages": [{"role": "user", "content": "What is it?"}]})
}

/// What holds, whose word it is, and what each source says.
fn said(sheet: &Value, name: &str) -> Value {
    let fact = fact(sheet, name);
    let told = fact["told"].as_array().expect("told").iter();
    json!([
        fact["value"],
        fact["source"],
        told.map(|it| json!([it["source"], it["value"]])).collect::<Vec<_>>()
    ])
}

fn listing(window: u64) -> Listing {
    Listing::Told(json!({"data": [
        {"id": "a-1", "context_length": window, "supported_parameters": ["tools"],
         "pricing": {"prompt": "0.000001", "completion": "0.000002"}},
        {"id": "b-1"},
    ]}))
}

#[tokio::test]
async fn a_list_tells_of_models_and_the_owner_overrules_it() {
    let upstream = Upstream::start().await;
    upstream.listing(listing(64_000));
    let mut home = Home::default();
    home.set("LAB_KEY", KEY);
    let gateway = home.serve().await;
    let endpoint = json!({"name": "lab", "base": upstream.base(), "key_env": "LAB_KEY", "new": true,
                          "allow_plain_http": false});
    gateway.command("save_endpoint", &endpoint).await;
    gateway.command("test_endpoint", &json!({"name": "lab"})).await;
    let register = json!({"endpoint": "lab", "models": [{"served": "a-1", "alias": "a"},
                                                        {"served": "b-1", "alias": "b"}]});
    let registered = gateway.command("register_models", &register).await;
    assert_eq!(registered[0]["facts"], json!({}), "the owner's own");
    assert_eq!(registered[0]["known"]["context_window"], 64_000);
    let a = sheet(&gateway, "a").await;
    assert_eq!(said(&a, "context_window"), json!([64_000, "listing", [["listing", 64_000]]]));
    assert_eq!(said(&a, "tools"), json!([true, "listing", [["listing", true]]]));
    assert_eq!(fact(&a, "price")["value"], json!({"input": 1.0, "output": 2.0}));
    assert_eq!(said(&sheet(&gateway, "b").await, "context_window"), json!([null, null, []]));

    // What the owner changes is one fact; nothing else of the list becomes the owner's.
    gateway.bench(&["model", "set", "a", "--fact", "context_window=100000"]).await.exits(0);
    let a = sheet(&gateway, "a").await;
    assert_eq!(a["model"]["facts"], json!({"context_window": 100_000}));
    let both = json!([["listing", 64_000], ["owner", 100_000]]);
    assert_eq!(said(&a, "context_window"), json!([100_000, "owner", both]));
    let shown = gateway.bench(&["model", "show", "a"]).await.exits(0).stdout;
    assert!(shown.contains("100000") && shown.contains("endpoint's list: 64000"), "{shown}");

    // A later list, and a restart.
    upstream.listing(listing(32_000));
    gateway.command("test_endpoint", &json!({"name": "lab"})).await;
    gateway.bench(&["model", "set", "a", "--fact", "context_window="]).await.exits(0);
    let (home, _) = gateway.stop().await;
    let gateway = home.serve().await;
    let a = sheet(&gateway, "a").await;
    assert_eq!(said(&a, "context_window"), json!([32_000, "listing", [["listing", 32_000]]]));

    // At another address it is another provider.
    let moved = json!({"name": "lab", "base": format!("{}/x", upstream.base()), "key_env": "LAB_KEY",
                       "new": false, "allow_plain_http": false});
    gateway.command("save_endpoint", &moved).await;
    assert_eq!(said(&sheet(&gateway, "a").await, "context_window"), json!([null, null, []]));
}

#[tokio::test]
async fn a_window_that_was_met_is_learned() {
    let upstream = Upstream::start().await;
    let long = "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.";
    for served in ["a-1", "b-1"] {
        upstream.model(served, fails(400, "context_length_exceeded", long));
    }
    let gateway = Scenario::new()
        .endpoint("fake", &upstream.base())
        .key("FAKE_KEY", KEY)
        .model("a", "fake", "a-1")
        .model("b", "fake", "b-1")
        .facts(json!({"context_window": 128_000}))
        .collection("core", &["a", "b"])
        .start()
        .await;
    gateway.http.chat(&question()).await;
    eventually("both windows are learned", || async {
        let learned = json!(["learned", 8192]);
        let mut all = true;
        for alias in ["a", "b"] {
            let told = said(&sheet(&gateway, alias).await, "context_window")[2].clone();
            all &= told.as_array().expect("told").contains(&learned);
        }
        all.then_some(())
    })
    .await;
    let a = sheet(&gateway, "a").await;
    assert_eq!(said(&a, "context_window"), json!([8192, "learned", [["learned", 8192]]]));
    let b = sheet(&gateway, "b").await;
    let told = json!([["learned", 8192], ["owner", 128_000]]);
    assert_eq!(said(&b, "context_window"), json!([128_000, "owner", told]), "the owner's word is the last");
    assert_eq!(a["model"]["facts"], json!({}), "learned is not the owner's");
}

#[tokio::test]
async fn three_thousand_models_are_listed_and_registered() {
    let upstream = Upstream::start().await;
    let items: Vec<Value> =
        (0..3000).map(|n| json!({"id": format!("v/m-{n}"), "context_length": 1000 + n})).collect();
    upstream.listing(Listing::Told(json!({"data": items})));
    let gateway = Scenario::new().endpoint("hub", &upstream.base()).key("HUB_KEY", KEY).start().await;
    let test = gateway.command("test_endpoint", &json!({"name": "hub"})).await;
    assert_eq!(test["message"], "It answers with 3000 models.");
    let listed = test["models"].as_array().expect("models");
    let models: Vec<Value> =
        listed.iter().map(|it| json!({"served": it["served"], "alias": it["alias"]})).collect();
    let registered = gateway.command("register_models", &json!({"endpoint": "hub", "models": models})).await;
    let registered = registered.as_array().expect("models");
    assert_eq!(registered.len(), 3000);
    for (n, model) in registered.iter().enumerate() {
        assert_eq!(model["alias"], format!("m-{n}"));
        assert_eq!(model["known"]["context_window"], 1000 + n);
    }
}

#[tokio::test]
async fn azure_gets_its_key_in_a_header_of_its_own() {
    let proxy = Upstream::start().await;
    proxy.model("gpt", answers("An answer."));
    let mut scenario = Scenario::new()
        .endpoint("azure", "http://res.openai.azure.com:443/openai/v1")
        .endpoint_with("plain_http", true)
        .key("AZURE_KEY", KEY)
        .model("gpt", "azure", "gpt")
        .collection("core", &["gpt"]);
    scenario.home.set("HTTP_PROXY", &proxy.root());
    let gateway = scenario.start().await;
    let answer = gateway.http.chat(&question()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let sent = proxy.arrived("gpt", 1).await;
    assert_eq!(sent.path, "/openai/v1/chat/completions");
    assert_eq!((sent.header("api-key"), sent.header("authorization")), (Some(KEY), None));
}

#[tokio::test]
async fn azure_is_added_by_the_name_of_its_resource() {
    let gateway = Home::default().serve().await;
    let add = async |more: &[&str]| {
        let args = ["endpoint", "add", "azure", "--preset", "azure", "--key-env", "AZURE_KEY"];
        gateway.bench(&[&args[..], more].concat()).await
    };
    let missing = add(&[]).await;
    assert!(missing.code != 0 && missing.stderr.contains("--resource NAME"), "{missing:?}");
    let odd = add(&["--resource", "a/b"]).await;
    assert!(odd.code != 0 && odd.stderr.contains("letters, digits and -"), "{odd:?}");
    let added = add(&["--resource", "my-lab", "--force", "--json"]).await;
    assert!(added.stdout.contains("https://my-lab.openai.azure.com/openai/v1"), "{added:?}");
}
