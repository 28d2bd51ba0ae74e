//! A model that was free costs money: providers.md §3.

use bench_tests::{
    Gateway, Lab, Scenario, Upstream, eventually,
    scenario::KEY,
    upstream::{Listing, answers},
};
use serde_json::{Value, json};

use crate::checks::{seat, seats};

/// A list in which `a-1` has this price, in dollars a token.
fn listing(price: &str) -> Listing {
    Listing::Told(json!({"data": [
        {"id": "a-1", "pricing": {"prompt": price, "completion": price}},
        {"id": "b-1", "pricing": {"prompt": "0.000001", "completion": "0.000001"}},
    ]}))
}

async fn two() -> Lab {
    let upstream = Upstream::start().await;
    upstream.listing(listing("0"));
    upstream.model("a-1", answers("For nothing."));
    upstream.model("b-1", answers("For something."));
    let gateway = Scenario::new()
        .endpoint("fake", &upstream.base())
        .key("FAKE_KEY", KEY)
        .model("a", "fake", "a-1")
        .model("b", "fake", "b-1")
        .collection("core", &["a", "b"])
        .start()
        .await;
    let lab = Lab { upstream, gateway };
    list(&lab).await;
    lab
}

async fn list(lab: &Lab) {
    lab.gateway.command("test_endpoint", &json!({"name": "fake"})).await;
}

async fn restarted(lab: Lab) -> Lab {
    let (home, _) = lab.gateway.stop().await;
    Lab { upstream: lab.upstream, gateway: home.serve().await }
}

/// Subjects of the alerts that stand.
async fn held(gateway: &Gateway) -> Value {
    let status = gateway.command("status", &json!({})).await;
    let alerts = status["alerts"].as_array().expect("alerts").iter();
    alerts.filter(|alert| alert["kind"] == "went_paid").map(|alert| alert["subject"].clone()).collect()
}

fn ask(model: &str, text: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": text}]})
}

#[tokio::test]
async fn a_model_that_was_free_is_not_called_for_money_until_its_owner_allows_it() {
    let lab = two().await;
    assert_eq!(seats(&lab.http().chat(&ask("core", "Free?")).await.json()).len(), 2);
    assert_eq!(held(&lab.gateway).await, json!([]), "a price that was there from the start is no news");

    lab.upstream.listing(listing("0.000002"));
    list(&lab).await;
    let lab = restarted(lab).await;
    assert_eq!(held(&lab.gateway).await, json!(["a"]));
    let asked = lab.upstream.asked("a-1").len();
    let panel = lab.http().chat(&ask("core", "Now?")).await.json();
    assert_eq!(seats(&panel).len(), 1, "{panel}");
    assert_eq!(seat(&panel, "b")["status"], "ok");
    let skipped = &panel["bench"]["skipped"][0];
    assert_eq!(skipped["alias"], "a", "{panel}");
    let why = skipped["why"].as_str().expect("why");
    assert!(why.contains("free and costs money now") && why.contains("bench model allow"), "{why}");
    let routed = lab.http().chat(&ask("core:route", "Whose turn?")).await.json();
    assert_eq!(routed["bench"]["alias"], "b");
    let alone = lab.http().chat(&ask("bench/model/a", "You?")).await;
    assert!(alone.refusal(400, "invalid_request_error", "no_member").contains("costs money now"));
    let nominated = json!({"model": "core", "with": ["a"], "messages": [{"role": "user", "content": "a?"}]});
    assert_eq!(seats(&lab.http().chat(&nominated).await.json()).len(), 1);
    let queued = lab.gateway.command("probe_model", &json!({"name": "a"})).await;
    assert_eq!(queued["items"][0]["alias"], "a", "{queued}");
    let waits =
        |queue: &Value| queue["items"][0]["why"].as_str().is_some_and(|why| why.contains("costs money now"));
    eventually("its probe waits", || async {
        let queue = lab.gateway.command("onboarding", &json!({})).await;
        waits(&queue).then_some(())
    })
    .await;
    assert_eq!(lab.upstream.asked("a-1").len(), asked, "nobody asked it");
    let shown = lab.gateway.bench(&["model", "list"]).await.exits(0).stdout;
    assert!(shown.contains("costs money now"), "{shown}");

    // Under another name it is the same model.
    lab.gateway.bench(&["model", "rename", "a", "c"]).await.exits(0);
    assert_eq!(held(&lab.gateway).await, json!(["c"]));
    lab.gateway.bench(&["model", "allow", "c"]).await.exits(0);
    assert_eq!(held(&lab.gateway).await, json!([]));
    let lab = restarted(lab).await;
    assert_eq!(held(&lab.gateway).await, json!([]));
    let panel = lab.http().chat(&ask("core", "Allowed?")).await.json();
    assert_eq!(seat(&panel, "c")["status"], "ok", "{panel}");
    let again = lab.gateway.admin("allow_paid", &json!({"name": "c"})).await;
    assert_eq!(again.status, 409, "{}", again.text());
    assert_eq!(lab.gateway.admin("allow_paid", &json!({"name": "nobody"})).await.status, 404);

    // Another price for what costs already is no news. Once it has been free again, it is.
    for (price, wanted) in [("0.000003", json!([])), ("0", json!([])), ("0.000001", json!(["c"]))] {
        lab.upstream.listing(listing(price));
        list(&lab).await;
        assert_eq!(held(&lab.gateway).await, wanted, "{price}");
    }
    lab.upstream.listing(listing("0"));
    list(&lab).await;
    assert_eq!(held(&lab.gateway).await, json!([]), "free again");
    assert_eq!(seats(&lab.http().chat(&ask("core", "Free again?")).await.json()).len(), 2);
}

#[tokio::test]
async fn who_has_set_what_a_model_costs_is_not_asked_again() {
    let lab = two().await;
    lab.gateway
        .bench(&["model", "set", "a", "--fact", "price.input=1", "--fact", "price.output=2"])
        .await
        .exits(0);
    lab.upstream.listing(listing("0.000002"));
    list(&lab).await;
    assert_eq!(held(&lab.gateway).await, json!([]));
}
