//! Endpoints: tested in words, a typo in the path, a refused key.

use bench_tests::{
    Gateway, Home, Upstream, panel_of,
    scenario::question,
    upstream::{Listing, answers, refuses_key},
};
use serde_json::{Value, json};

async fn saved(gateway: &Gateway, base: &str) -> Value {
    let endpoint =
        json!({"name": "fake", "base": base, "key_env": null, "new": false, "allow_plain_http": false});
    gateway.command("save_endpoint", &endpoint).await;
    gateway.command("test_endpoint", &json!({"name": "fake"})).await
}

#[tokio::test]
async fn a_test_lists_what_is_served() {
    let upstream = Upstream::start().await;
    upstream.model("vendor/alpha-1", answers("A"));
    upstream.model("beta:free", answers("B"));
    let gateway = Home::default().serve().await;
    for listing in [Listing::OpenAi, Listing::Bare] {
        upstream.listing(listing.clone());
        let test = saved(&gateway, &upstream.base()).await;
        assert_eq!(test["ok"], true, "{listing:?}: {test}");
        let served: Vec<_> =
            test["models"].as_array().expect("models").iter().map(|model| &model["served"]).collect();
        assert_eq!(served, ["beta:free", "vendor/alpha-1"], "{listing:?}");
        let aliases: Vec<_> =
            test["models"].as_array().expect("models").iter().map(|model| &model["alias"]).collect();
        assert_eq!(aliases, ["beta-free", "alpha-1"], "{listing:?}");
    }
    let models = json!({"endpoint": "fake", "models": [{"served": "vendor/alpha-1", "alias": "alpha"}]});
    gateway.command("register_models", &models).await;
    let again = gateway.command("test_endpoint", &json!({"name": "fake"})).await;
    assert_eq!(again["models"][1]["registered"], "alpha");
}

#[tokio::test]
async fn a_typo_in_the_path_is_answered_with_the_likely_right_one() {
    let upstream = Upstream::start().await;
    upstream.model("alpha", answers("A"));
    let gateway = Home::default().serve().await;
    for typo in [
        upstream.root(),
        format!("{}/", upstream.root()),
        format!("{}/v2", upstream.root()),
        format!("{}/api/v1", upstream.root()),
        format!("{}/v1/chat/completions", upstream.root()),
        format!("{}/v1/v1", upstream.root()),
    ] {
        let endpoint =
            json!({"name": "fake", "base": typo, "key_env": null, "new": false, "allow_plain_http": false});
        let answer = gateway.admin("save_endpoint", &endpoint).await;
        if answer.status == 400 {
            // Certain enough to be refused at once.
            let error = &answer.json()["error"];
            assert_eq!(error["field"], "base");
            assert!(
                error["message"].as_str().is_some_and(|said| said.contains(&upstream.base())),
                "{typo}: {error}"
            );
            continue;
        }
        let test = gateway.command("test_endpoint", &json!({"name": "fake"})).await;
        assert_eq!(test["ok"], false, "{typo}: {test}");
        assert_eq!(test["suggested_base"], upstream.base(), "{typo}: {test}");
        assert!(
            test["message"].as_str().is_some_and(|message| message.contains(&upstream.base())),
            "{typo}: {test}"
        );
    }
}

#[tokio::test]
async fn what_is_wrong_is_said_in_words() {
    let upstream = Upstream::start().await;
    upstream.model("alpha", answers("A"));
    let gateway = Home::default().serve().await;
    for (listing, word) in [(Listing::Refused, "key"), (Listing::Html, "page"), (Listing::Missing, "404")] {
        upstream.listing(listing.clone());
        let test = saved(&gateway, &upstream.base()).await;
        assert_eq!(test["ok"], false, "{listing:?}");
        let message = test["message"].as_str().unwrap_or_default();
        assert!(message.to_lowercase().contains(word), "{listing:?}: {message}");
        assert!(!message.contains('<'), "{listing:?}: {message}");
    }
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address").port()
    };
    for (base, word) in [
        (format!("http://127.0.0.1:{port}/v1"), "Nothing listens"),
        ("http://no-such-host.invalid/v1".to_owned(), "no-such-host.invalid"),
    ] {
        let endpoint =
            json!({"name": "fake", "base": base, "key_env": null, "new": false, "allow_plain_http": true});
        gateway.command("save_endpoint", &endpoint).await;
        let test = gateway.command("test_endpoint", &json!({"name": "fake"})).await;
        assert_eq!(test["ok"], false, "{base}");
        assert!(test["message"].as_str().is_some_and(|message| message.contains(word)), "{base}: {test}");
    }
}

#[tokio::test]
async fn plain_http_to_another_machine_needs_consent() {
    let gateway = Home::default().serve().await;
    let mut endpoint = json!({"name": "far", "base": "http://192.0.2.1/v1", "key_env": null, "new": true, "allow_plain_http": false});
    let refused = gateway.admin("save_endpoint", &endpoint).await;
    assert_ne!(refused.status, 200);
    assert_eq!(refused.json()["error"]["code"], "plain_http", "{}", refused.text());
    endpoint["allow_plain_http"] = json!(true);
    gateway.command("save_endpoint", &endpoint).await;
}

#[tokio::test]
async fn a_refused_key_is_the_seats_error_and_an_alert_till_it_is_taken() {
    let lab = panel_of([("alpha", refuses_key().into()), ("beta", answers("B").into())]).await;
    let alert = || async {
        let setup = lab.gateway.command("setup", &json!({})).await;
        setup["endpoints"][0]["alert"].clone()
    };
    assert_eq!(alert().await, Value::Null);
    lab.upstream.model(&bench_tests::scenario::served("beta"), refuses_key());
    let answer = lab.http().chat(&question("hi")).await;
    assert_eq!(answer.status, 502);
    let told = alert().await;
    let words = told.as_str().unwrap_or_default();
    assert!(words.contains("key") && words.contains("FAKE_KEY"), "it says where the key comes from: {told}");

    for alias in ["alpha", "beta"] {
        lab.upstream.model(&bench_tests::scenario::served(alias), answers("A"));
    }
    assert_eq!(lab.http().chat(&question("hi")).await.status, 200);
    assert_eq!(alert().await, Value::Null, "an answer clears it");
}

#[tokio::test]
async fn what_is_in_use_is_not_taken_away() {
    let lab = panel_of([("alpha", answers("A").into())]).await;
    for (command, name) in [("delete_endpoint", "fake"), ("unregister_model", "alpha")] {
        let refused = lab.gateway.admin(command, &json!({"name": name})).await;
        assert_ne!(refused.status, 200, "{command}");
        assert_eq!(refused.json()["error"]["code"], "conflict", "{}", refused.text());
        assert!(
            refused.json()["error"]["message"].as_str().is_some_and(|message| message.contains("core")),
            "{}",
            refused.text()
        );
    }
    lab.gateway.command("delete_collection", &json!({"name": "core"})).await;
    lab.gateway.command("unregister_model", &json!({"name": "alpha"})).await;
    lab.gateway.command("delete_endpoint", &json!({"name": "fake"})).await;
    assert_eq!(lab.http().get("/v1/models").await.json()["data"], json!([]));
}

#[tokio::test]
async fn a_key_is_found_by_the_endpoints_own_variable() {
    let upstream = Upstream::start().await;
    upstream.model("a", answers("A"));
    let mut scenario = bench_tests::Scenario::new()
        .endpoint("my-lab", &upstream.base())
        .model("alpha", "my-lab", "a")
        .collection("core", &["alpha"]);
    scenario.home.set("BENCHWARMERS_KEY_MY_LAB", "sk-from-the-environment");
    let gateway = scenario.start().await;
    assert_eq!(gateway.http.chat(&question("hi")).await.status, 200);
    assert_eq!(
        upstream.arrived("a", 1).await.header("authorization"),
        Some("Bearer sk-from-the-environment")
    );
    let endpoint = gateway.command("setup", &json!({})).await["endpoints"][0].clone();
    assert_eq!(endpoint["key"]["source"], "environment");
    assert_eq!(endpoint["key"]["variable"], "BENCHWARMERS_KEY_MY_LAB");
    assert_eq!(endpoint["key"]["hint"], "••••ment");
}

#[tokio::test]
async fn without_a_keychain_that_is_said_and_nothing_is_written_in_plain() {
    let gateway = Home::default().serve().await;
    let keys = gateway.command("status", &json!({})).await["keys"].clone();
    assert_eq!(keys["kind"], "none");
    assert!(keys["message"].as_str().is_some_and(|message| message.len() > 20), "{keys}");
    let endpoint = json!({"name": "fake", "base": "http://127.0.0.1:9/v1", "key_env": null, "new": true, "allow_plain_http": false});
    gateway.command("save_endpoint", &endpoint).await;
    let refused =
        gateway.admin("set_key", &json!({"endpoint": "fake", "key": "sk-homeless-0123456789"})).await;
    assert_eq!(refused.json()["error"]["code"], "no_keychain", "{}", refused.text());

    // The owner chooses the encrypted file.
    gateway.command("open_vault_file", &json!({"passphrase": "correct horse battery staple"})).await;
    let kept =
        gateway.command("set_key", &json!({"endpoint": "fake", "key": "sk-homeless-0123456789"})).await;
    assert_eq!(kept["key"]["source"], "vault_file");
    let (home, _) = gateway.stop().await;
    for (path, bytes) in home.files() {
        let found = bytes.windows(11).any(|part| part == b"sk-homeless");
        assert!(!found, "the key is in {}", path.display());
    }
    // Locked at the next start, until the passphrase comes.
    let gateway = home.serve().await;
    assert_eq!(gateway.command("status", &json!({})).await["keys"]["kind"], "vault_locked");
    let wrong = gateway.admin("open_vault_file", &json!({"passphrase": "not that one at all"})).await;
    assert_ne!(wrong.status, 200);
    gateway.command("open_vault_file", &json!({"passphrase": "correct horse battery staple"})).await;
    let endpoint = gateway.command("setup", &json!({})).await["endpoints"][0].clone();
    assert_eq!(endpoint["key"]["source"], "vault_file");
}

/// What a saved and tested endpoint is sent with.
fn save(base: &str, more: &Value) -> Value {
    let mut save = json!({"name": "lab", "base": base, "key_env": null, "new": true, "allow_plain_http": false, "test": true});
    save.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    save
}

#[tokio::test]
async fn an_endpoint_that_does_not_answer_is_not_saved_unless_it_must_be() {
    let upstream = Upstream::start().await;
    upstream.model("alpha", answers("A"));
    let gateway = Home::default().serve().await;
    let names = async || {
        let setup = gateway.command("setup", &json!({})).await;
        setup["endpoints"]
            .as_array()
            .expect("endpoints")
            .iter()
            .map(|it| it["name"].clone())
            .collect::<Vec<_>>()
    };
    let elsewhere = format!("{}/v2", upstream.root());
    let refused = gateway.admin("save_endpoint", &save(&elsewhere, &json!({}))).await;
    let error = refused.json()["error"].clone();
    assert_eq!((refused.status.as_u16(), &error["code"]), (409, &json!("test_failed")), "{error}");
    assert_eq!(error["suggestion"], upstream.base(), "{error}");
    assert!(error["message"].as_str().is_some_and(|said| said.contains("404")), "{error}");
    assert_eq!(names().await, Vec::<Value>::new(), "nothing was saved");

    gateway.command("save_endpoint", &save(&elsewhere, &json!({"test": false}))).await;
    assert_eq!(names().await, ["lab"]);
    // A change that breaks it leaves it as it was.
    let worked = save(&upstream.base(), &json!({"new": false}));
    assert_eq!(gateway.command("save_endpoint", &worked).await["base"], upstream.base());
    let broken = gateway.admin("save_endpoint", &save(&elsewhere, &json!({"new": false}))).await;
    assert_eq!(broken.json()["error"]["code"], "test_failed");
    let setup = gateway.command("setup", &json!({})).await;
    assert_eq!(setup["endpoints"][0]["base"], upstream.base());
}

#[tokio::test]
async fn a_key_that_is_refused_is_not_kept_and_not_repeated() {
    let upstream = Upstream::start().await;
    upstream.listing(Listing::Refused);
    let mut home = Home::default();
    home.bench_with(&["vault", "--passphrase-stdin"], "correct horse battery").await.exits(0);
    home.set("BENCHWARMERS_VAULT_PASSPHRASE", "correct horse battery");
    let gateway = home.serve().await;
    let key = "sk-tried-0123456789abcdef";
    let refused = gateway.admin("save_endpoint", &save(&upstream.base(), &json!({"key": key}))).await;
    assert_eq!(refused.json()["error"]["code"], "test_failed", "{}", refused.json());
    assert!(!refused.json().to_string().contains(key));
    let sent = upstream.received();
    let sent = sent.last().and_then(|it| it.header("authorization"));
    assert_eq!(sent, Some(format!("Bearer {key}").as_str()), "it was tried");
    assert_eq!(gateway.command("setup", &json!({})).await["endpoints"], json!([]));
    // Forced, it is kept and shown by its end.
    let forced = save(&upstream.base(), &json!({"key": key, "test": false}));
    assert_eq!(gateway.command("save_endpoint", &forced).await["key"]["hint"], "••••cdef");
}

#[tokio::test]
async fn what_else_an_endpoint_has_is_saved_and_stays() {
    let upstream = Upstream::start().await;
    upstream.model("alpha", answers("A"));
    let gateway = Home::default().serve().await;
    let more = json!({"kind": "hub", "paid": true, "headers": {"X-Title": "bench"}, "limits": {"rpm": 7}});
    gateway.command("save_endpoint", &save(&upstream.base(), &more)).await;
    let kept = gateway.command("save_endpoint", &save(&upstream.base(), &json!({"new": false}))).await;
    assert_eq!(
        (&kept["kind"], &kept["paid"], &kept["headers"]),
        (&json!("hub"), &json!(true), &json!({"X-Title": "bench"})),
        "what is absent stays"
    );
    assert_eq!(kept["limits"]["rpm"], 7);
    let listed = upstream.received();
    assert_eq!(listed.last().and_then(|it| it.header("x-title")), Some("bench"));
    let secret = json!({"new": false, "headers": {"Authorization": "Bearer abc"}});
    let refused = gateway.admin("save_endpoint", &save(&upstream.base(), &secret)).await;
    assert_eq!(refused.json()["error"]["field"], "headers[\"Authorization\"]");

    let base = format!("{}/v2", upstream.root());
    let add = ["endpoint", "add", "box", "--base", &base];
    let said = gateway.bench(&add).await.exits(1).stderr;
    assert!(said.contains("--force"), "{said}");
    let more = ["--force", "--paid", "true", "--header", "X-Title=bench", "--kind", "aggregator"];
    gateway.bench(&[&add[..], &more].concat()).await.exits(0);
    gateway.bench(&["endpoint", "set", "box", "--header", "X-Title=", "--paid", "false"]).await.exits(0);
    let setup = gateway.command("setup", &json!({})).await;
    let box_ = &setup["endpoints"][1];
    assert_eq!(
        (&box_["kind"], &box_["paid"], &box_["headers"]),
        (&json!("aggregator"), &json!(false), &json!({}))
    );
}
