//! What an endpoint's list offers, under which aliases, and the command line.

use bench_tests::{
    Scenario, Upstream,
    scenario::KEY,
    upstream::{Listing, answers, fails},
};
use serde_json::{Value, json};

use super::{can, item, items, lab, models, onboard, served};

#[tokio::test]
async fn dismissed_models_are_not_offered_until_they_are_restored() {
    let lab = lab([("a", can(&[])), ("b", can(&[])), ("c", can(&[]))]).await;
    let dismissed = async || {
        let test = lab.gateway.command("test_endpoint", &json!({"name": "fake"})).await;
        let listed = test["models"].as_array().expect("models").clone();
        let away = listed.into_iter().filter(|model| model["dismissed"] == true);
        away.map(|model| model["served"].clone()).collect::<Vec<_>>()
    };
    assert!(dismissed().await.is_empty());
    lab.gateway.bench(&["model", "dismiss", "fake", "v/a", "v/b"]).await.exits(0);
    assert_eq!(dismissed().await, ["v/a", "v/b"]);
    let offered = lab.gateway.bench(&["model", "add", "fake"]).await.exits(0);
    assert!(offered.stdout.contains("v/c") && !offered.stdout.contains("v/a"), "{offered:?}");
    assert!(offered.stderr.contains("2 dismissed are not shown"), "{offered:?}");
    let all = lab.gateway.bench(&["model", "add", "fake", "--all"]).await.exits(0);
    assert!(all.stdout.contains("(dismissed)"), "{all:?}");
    lab.gateway.bench(&["model", "dismiss", "fake", "v/a", "--restore"]).await.exits(0);
    let (home, _) = lab.gateway.stop().await;
    let gateway = home.serve().await;
    let test = gateway.command("test_endpoint", &json!({"name": "fake"})).await;
    let kept: Vec<&Value> = test["models"].as_array().expect("models").iter().collect();
    assert_eq!(kept.iter().filter(|model| model["dismissed"] == true).count(), 1, "{test}");
    let nowhere = gateway.admin("dismiss_models", &json!({"endpoint": "x", "served": ["y"]})).await;
    assert_eq!(nowhere.json()["error"]["field"], "endpoint");
    gateway.bench(&["model", "dismiss", "fake", ""]).await.exits(1);
    let nothing = gateway.admin("dismiss_models", &json!({"endpoint": "fake", "served": ["v/c", " "]})).await;
    assert_eq!(nothing.json()["error"]["field"], "served[1]");
    assert_eq!(nothing.status, 400);
}

#[tokio::test]
async fn three_thousand_models_that_are_alike_are_offered_and_queued() {
    let upstream = Upstream::start().await;
    let items_listed: Vec<Value> = (0..3000).map(|n| json!({"id": format!("v{n}/m")})).collect();
    upstream.listing(Listing::Told(json!({"data": items_listed})));
    let gateway = Scenario::new().endpoint("hub", &upstream.base()).key("HUB_KEY", KEY).start().await;
    let test = gateway.command("test_endpoint", &json!({"name": "hub"})).await;
    let listed = test["models"].as_array().expect("models");
    assert_eq!((&listed[0]["alias"], &listed[2999]["alias"]), (&json!("m"), &json!("m-hub-2999")));
    let all: Vec<Value> =
        listed.iter().map(|it| json!({"served": it["served"], "alias": it["alias"]})).collect();
    let queue = gateway.command("onboard", &json!({"endpoint": "hub", "models": all, "mode": "quick"})).await;
    assert_eq!(queue["items"].as_array().map(Vec::len), Some(3000));
    gateway.command("stop_onboarding", &json!({})).await;
    assert_eq!(items(&gateway).await.len(), 3000);
    let left = gateway.command("clear_onboarding", &json!({"all": true})).await;
    assert_eq!(left["items"], json!([]));
}

#[tokio::test]
async fn an_alias_is_one_models() {
    let lab = lab([("a", can(&[])), ("b", can(&[]))]).await;
    onboard(&lab.gateway, &["a"], "quick").await;
    item(&lab.gateway, "a", "done").await;
    for (models, field) in [
        (json!([{"served": "v/b", "alias": "a"}]), "models[0].alias"),
        (json!([{"served": "v/b", "alias": "b"}, {"served": "v/c", "alias": "b"}]), "models[1].alias"),
        (json!([{"served": "v/b", "alias": "no alias"}]), "models[0].alias"),
    ] {
        let asked = json!({"endpoint": "fake", "models": models, "mode": "quick"});
        let refused = lab.gateway.admin("onboard", &asked).await;
        assert_eq!(refused.json()["error"]["field"], field, "{}", refused.text());
    }
    let elsewhere = json!({"endpoint": "x", "models": [], "mode": "quick"});
    assert_eq!(lab.gateway.admin("onboard", &elsewhere).await.json()["error"]["field"], "endpoint");
    assert_eq!(items(&lab.gateway).await.len(), 1, "a refused list puts nothing there");
    assert_eq!(models(&lab.gateway).await.len(), 1);

    // What waits keeps its alias too, and what is registered is probed under the one it has.
    lab.gateway.command("stop_onboarding", &json!({})).await;
    onboard(&lab.gateway, &["b"], "quick").await;
    lab.gateway.command("stop_onboarding", &json!({})).await;
    let again = json!({"endpoint": "fake", "models": [{"served": "v/a", "alias": "other"}], "mode": "quick"});
    let queue = lab.gateway.command("onboard", &again).await;
    let aliases: Vec<&Value> =
        queue["items"].as_array().expect("items").iter().map(|it| &it["alias"]).collect();
    assert_eq!(aliases, ["b", "a"], "in place of what it was before");
}

#[tokio::test]
async fn an_alias_that_was_given_up_is_no_other_models() {
    let lab = lab([("a", can(&[])), ("b", can(&[]))]).await;
    onboard(&lab.gateway, &["a"], "quick").await;
    item(&lab.gateway, "a", "done").await;
    lab.gateway.command("unregister_model", &json!({"name": "a"})).await;
    let (home, _) = lab.gateway.stop().await;
    let gateway = home.serve().await;
    let other = json!({"endpoint": "fake", "models": [{"served": "v/b", "alias": "a"}]});
    let refused = gateway.admin("register_models", &other).await;
    assert_eq!(refused.json()["error"]["code"], "conflict", "{}", refused.text());
    assert!(refused.text().contains("The alias a was another model's"), "{}", refused.text());
    let file = json!({"version": 1, "models": [{"alias": "a", "endpoint": "fake", "served": "v/b"}]});
    let refused = gateway.admin("import_setup", &json!({"text": file.to_string()})).await;
    assert_eq!(refused.json()["error"]["code"], "conflict", "{}", refused.text());
    assert!(models(&gateway).await.is_empty());

    // A list offers another; its own model may have it again, and has its record.
    let test = gateway.command("test_endpoint", &json!({"name": "fake"})).await;
    assert_eq!(test["models"][0]["alias"], "a-fake", "{test}");
    let own = json!({"endpoint": "fake", "models": [{"served": "v/a", "alias": "a"}]});
    gateway.command("register_models", &own).await;
    assert_eq!(models(&gateway).await[0]["alias"], "a");
}

/// The endpoint's name and the served id are the same, and the model need not be.
#[tokio::test]
async fn an_alias_goes_with_its_endpoint_only_where_that_is_where_it_was() {
    let lab = lab([("a", can(&[])), ("b", can(&[]))]).await;
    onboard(&lab.gateway, &["a"], "quick").await;
    item(&lab.gateway, "a", "done").await;
    let elsewhere = Upstream::start().await;
    let save = async |base: &str| {
        let endpoint = json!({"name": "fake", "base": base, "key_env": "FAKE_KEY", "new": true, "allow_plain_http": false});
        lab.gateway.command("save_endpoint", &endpoint).await;
    };
    let own = json!({"endpoint": "fake", "models": [{"served": "v/a", "alias": "a"}]});
    lab.gateway.command("delete_endpoint", &json!({"name": "fake"})).await;
    save(&elsewhere.base()).await;
    let refused = lab.gateway.admin("register_models", &own).await;
    assert_eq!(refused.json()["error"]["code"], "conflict", "{}", refused.text());
    assert!(refused.text().contains("The alias a was another model's"), "{}", refused.text());
    lab.gateway.command("delete_endpoint", &json!({"name": "fake"})).await;
    save(&format!("{}/", lab.upstream.base())).await;
    lab.gateway.command("register_models", &own).await;
    assert_eq!(models(&lab.gateway).await[0]["alias"], "a");
}

#[tokio::test]
async fn the_command_line_follows_them_to_their_end() {
    let lab =
        lab([("a", can(&["tools"])), ("b", fails(404, "model_not_found", "No such model").into())]).await;
    let added = lab.gateway.bench(&["model", "add", "fake", "v/a", "--quick"]).await.exits(0);
    assert!(
        added.stderr.contains("a: a word ok in") && added.stderr.contains("a: tool call ok"),
        "{added:?}"
    );
    assert!(added.stdout.contains("done") && added.stdout.contains("large prompts, tools"), "{added:?}");
    let failed = lab.gateway.bench(&["model", "add", "fake", "bee=v/b", "--ad-hoc"]).await.exits(1);
    assert!(failed.stdout.contains("No such model (404)"), "{failed:?}");
    let status = lab.gateway.bench(&["--json", "onboard"]).await.exits(0).json();
    assert_eq!(status["items"].as_array().map(Vec::len), Some(2), "{status}");
    lab.upstream.model(&served("b"), answers("ready"));
    let probed = lab.gateway.bench(&["--json", "model", "probe", "bee"]).await.exits(0).json();
    assert_eq!(probed[0]["state"], "done", "{probed}");
    lab.gateway.bench(&["onboard", "clear"]).await.exits(0);
    let empty = lab.gateway.bench(&["onboard"]).await.exits(0);
    assert_eq!(empty.stdout, "no models in the queue\n");
    lab.gateway.bench(&["model", "add", "fake", "v/a", "--quick", "--full"]).await.exits(2);
    lab.gateway.bench(&["model", "probe", "zeta"]).await.exits(1);

    // No gateway runs: the command opens one for as long as it takes.
    let (home, _) = lab.gateway.stop().await;
    let probed = home.bench(&["model", "probe", "a"]).await.exits(0);
    assert!(probed.stdout.contains("done"), "{probed:?}");
}
