//! The set-up file: setup-file.md.

use bench_tests::{
    Home, Scenario,
    scenario::{question, served},
    upstream::answers,
};
use serde_json::{Value, json};

fn good() -> Value {
    json!({
        "version": 1,
        "endpoints": [
            {"name": "fake", "base": "http://127.0.0.1:9900/v1", "api": "chat", "kind": "provider", "key_env": "FAKE_KEY",
             "headers": {"X-Title": "bench"}, "limits": {"rpm": 60, "rpd": null, "tpm": null, "tpd": null, "rpmo": null},
             "paid": false},
            {"name": "near", "base": "http://localhost:11434/v1"},
        ],
        "models": [
            {"alias": "alpha", "endpoint": "fake", "served": "vendor/alpha-1", "role": "general", "ad_hoc": false,
             "facts": {"context_window": 128_000, "tools": true, "price": {"input": 0.5, "output": 1.5}},
             "options": {"max_tokens": 4096, "temperature": 0.2}},
            {"alias": "beta", "endpoint": "near", "served": "beta"},
        ],
        "collections": [{"name": "core", "description": "everyday", "tags": ["code"], "members": ["alpha", "beta"],
            "shape": "", "reply": "all", "merger": null}],
        "settings": {"max_calls": 5, "max_explorers": 2},
    })
}

async fn import(home: &Home, file: &str) -> bench_tests::Bench {
    let path = home.file("setup.json", file);
    home.bench(&["import", &path.to_string_lossy()]).await
}

async fn export(home: &Home) -> Value {
    home.bench(&["export"]).await.exits(0).json()
}

#[tokio::test]
async fn what_goes_in_comes_out() {
    let home = Home::default();
    import(&home, &good().to_string()).await.exits(0);
    let out = export(&home).await;
    assert_eq!(out["version"], 1);
    assert_eq!(out["endpoints"][0]["base"], "http://127.0.0.1:9900/v1");
    assert_eq!(out["endpoints"][0]["headers"], json!({"X-Title": "bench"}));
    assert_eq!(out["endpoints"][0]["limits"]["rpm"], 60);
    assert_eq!(out["models"][0]["facts"]["context_window"], 128_000);
    assert_eq!(out["models"][0]["facts"]["price"]["output"], 1.5);
    assert_eq!(out["models"][0]["options"], json!({"max_tokens": 4096, "temperature": 0.2}));
    assert_eq!(out["collections"][0]["members"], json!(["alpha", "beta"]));

    let elsewhere = Home::default();
    import(&elsewhere, &out.to_string()).await.exits(0);
    assert_eq!(export(&elsewhere).await, out, "an export imports to the same");
    import(&elsewhere, &out.to_string()).await.exits(0);
    assert_eq!(export(&elsewhere).await, out, "twice is once");
}

#[tokio::test]
async fn it_adds_and_updates_and_removes_nothing() {
    let home = Home::default();
    import(&home, &good().to_string()).await.exits(0);
    let gateway = home.serve().await;
    let change = json!({
        "version": 1,
        "models": [{"alias": "gamma", "endpoint": "near", "served": "gamma"}],
        "collections": [{"name": "core", "description": "changed", "members": ["alpha", "gamma"]}],
    });
    let told = import(&home, &change.to_string()).await.exits(0);
    assert!(
        told.stdout.contains("gamma") && told.stdout.contains("core"),
        "it says what changed: {}",
        told.stdout
    );
    let out = export(&home).await;
    assert_eq!(out["endpoints"].as_array().map(Vec::len), Some(2));
    assert_eq!(out["models"].as_array().map(Vec::len), Some(3));
    assert_eq!(out["collections"][0]["description"], "changed");
    // The running gateway has it at once.
    let entry = gateway.http.get("/v1/models/bench/core").await.json();
    assert_eq!(entry["members"], json!(["alpha", "gamma"]));
}

#[tokio::test]
async fn a_panel_that_runs_keeps_the_set_up_it_began_with() {
    let gate = bench_tests::Gate::shut();
    let lab = bench_tests::panel_of([("alpha", answers("Answer of alpha.").held(&gate).into())]).await;
    let stream = lab.http().stream(&question("hi")).await;
    lab.upstream.arrived(&served("alpha"), 1).await;
    let other = json!({
        "version": 1,
        "models": [{"alias": "beta", "endpoint": "fake", "served": "b"}],
        "collections": [{"name": "core", "members": ["beta"]}],
    });
    lab.upstream.model("b", answers("Answer of beta."));
    import(&lab.gateway.home, &other.to_string()).await.exits(0);
    let reply = lab.http().chat(&question("hi")).await.json();
    assert_eq!(reply["bench"]["seats"][0]["alias"], "beta");
    lab.gateway.command("unregister_model", &json!({"name": "alpha"})).await;
    gate.open();
    let begun = stream.rest().await;
    assert_eq!(begun.finish()["bench"]["seats"][0]["answer"], "Answer of alpha.");
    let id = begun.finish()["bench"]["seats"][0]["call"].clone();
    let verdict = lab.http().post("/bench/verdict", &json!({"call": id, "useful": true})).await.json();
    assert_eq!(verdict["recorded"], true, "its record stays");
}

/// Changes one place of the good file; gives where it is wrong and a word of why.
fn mistakes() -> Vec<(&'static str, Value, &'static str, &'static str)> {
    vec![
        ("/models/1/endpoint", json!("grok"), "models[1].endpoint", "grok"),
        ("/collections/0/members/1", json!("nobody"), "collections[0].members[1]", "nobody"),
        ("/collections/0/members", json!([]), "collections[0].members", ""),
        ("/collections/0/members", json!(["alpha", "alpha"]), "collections[0].members[1]", "alpha"),
        ("/collections/0/name", json!("Not a Name"), "collections[0].name", "lower-case"),
        ("/collections/0/description", json!("d".repeat(301)), "collections[0].description", "300"),
        ("/collections/0/tags", json!(["a".repeat(25)]), "collections[0].tags[0]", "24"),
        ("/collections/0/shape", json!("round"), "collections[0].shape", "round"),
        ("/collections/0/merger", json!("nobody"), "collections[0].merger", "nobody"),
        ("/endpoints/1/base", json!("not a url"), "endpoints[1].base", ""),
        ("/endpoints/1/base", json!("ftp://127.0.0.1/v1"), "endpoints[1].base", "http"),
        ("/endpoints/1/name", json!("A B"), "endpoints[1].name", ""),
        ("/endpoints/1/name", json!("fake"), "endpoints[1].name", "fake"),
        ("/endpoints/0/api", json!("telepathy"), "endpoints[0].api", "telepathy"),
        ("/endpoints/0/limits/rpm", json!("sixty"), "endpoints[0].limits.rpm", ""),
        ("/models/0/role", json!("wizard"), "models[0].role", "wizard"),
        ("/models/0/facts/context_window", json!("big"), "models[0].facts.context_window", ""),
        ("/models/1/alias", json!("alpha"), "models[1].alias", "alpha"),
        ("/models/1/served", json!(7), "models[1].served", ""),
        ("/settings/max_calls", json!(11), "settings.max_calls", "10"),
        ("/settings/max_calls", json!("five"), "settings.max_calls", ""),
        ("/version", json!(2), "version", "2"),
        ("/models", json!({}), "models", ""),
    ]
}

#[tokio::test]
async fn a_file_wrong_in_the_middle_changes_nothing_and_says_where() {
    let home = Home::default();
    import(&home, &good().to_string()).await.exits(0);
    let before = export(&home).await;
    for (pointer, value, place, word) in mistakes() {
        // Everything before and after the mistake is new and right.
        let mut file = good();
        file["endpoints"][0]["base"] = json!("http://127.0.0.1:9901/v1");
        file["collections"]
            .as_array_mut()
            .expect("a list")
            .push(json!({"name": "late", "members": ["alpha"]}));
        *file.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value.clone();
        let refused = import(&home, &file.to_string()).await;
        assert_eq!(refused.code, 1, "{pointer} = {value}: {}{}", refused.stdout, refused.stderr);
        assert!(
            refused.stderr.contains(&format!("{place}:")),
            "{pointer} = {value}: no {place} in {}",
            refused.stderr
        );
        assert!(refused.stderr.contains(word), "{pointer} = {value}: no {word:?} in {}", refused.stderr);
    }
    assert_eq!(export(&home).await, before);
}

#[tokio::test]
async fn a_misspelt_field_and_broken_json_are_placed() {
    let home = Home::default();
    let mut file = good();
    file["models"][1]["servde"] = json!("x");
    let refused = import(&home, &file.to_string()).await.exits(1);
    assert!(refused.stderr.contains("models[1]") && refused.stderr.contains("servde"), "{}", refused.stderr);
    for broken in ["", "{", "[]", "{\"version\": 1,\n \"models\": [}", "\u{0}"] {
        let refused = import(&home, broken).await;
        assert_eq!(refused.code, 1, "{broken:?}: {}", refused.stderr);
        assert!(!refused.stderr.trim().is_empty(), "{broken:?}");
    }
    let refused = import(&home, "{\"version\": 1,\n \"models\": [}").await;
    assert!(refused.stderr.contains("line 2"), "{}", refused.stderr);
    assert_eq!(export(&home).await["models"], json!([]));
    let missing = home.bench(&["import", "/no/such/file.json"]).await;
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("/no/such/file.json"), "{}", missing.stderr);
}

#[tokio::test]
async fn an_export_never_holds_a_secret() {
    let scenario = Scenario::new()
        .endpoint("fake", "http://127.0.0.1:9/v1")
        .key("FAKE_KEY", "sk-very-secret-0123456789");
    let gateway = scenario.start().await;
    let out = gateway.bench(&["export"]).await.exits(0).stdout;
    assert!(out.contains("FAKE_KEY") && !out.contains("sk-very-secret"), "{out}");
}
