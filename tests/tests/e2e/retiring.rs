//! A model that fails for days in a way that waiting does not mend: providers.md §4.

use std::sync::Arc;

use bench_tests::{
    Gateway, Home, Lab, Scenario, Upstream,
    scenario::{KEY, question, served},
    upstream::{answers, fails, rate_limited},
};
use serde_json::{Value, json};
use store::{LedgerRow, OpenOptions, Store};

use crate::{checks::seat, staffed::explorers};

const DAY_MS: i64 = 24 * 3_600_000;

#[expect(clippy::disallowed_methods, reason = "the gateway under test has the same clock")]
fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_millis()).expect("a time")
}

/// Calls of `alpha` on days before today, as the gateway would have written them: status, class and HTTP status.
async fn on_days(home: &Home, calls: &[(i64, &str, Option<&str>, Option<u16>)]) {
    let options = OpenOptions { path: home.data(), now: Arc::new(now_ms), max_pages: None };
    let store = Store::open(options).expect("the records").store;
    for (days_ago, status, class, http_status) in calls {
        let row = LedgerRow {
            at_ms: now_ms() - days_ago * DAY_MS,
            alias: "alpha".to_owned(),
            endpoint: "fake".to_owned(),
            connection: "fake".to_owned(),
            served: served("alpha"),
            purpose: "panel".to_owned(),
            status: (*status).to_owned(),
            class: class.map(str::to_owned),
            http_status: *http_status,
            attempts: 1,
            ..LedgerRow::default()
        };
        store.spent(row).await.expect("written");
    }
    store.close();
}

/// Subjects and words of the alerts that stand.
async fn told(gateway: &Gateway) -> Vec<(String, String)> {
    let status = gateway.command("status", &json!({})).await;
    let alerts = status["alerts"].as_array().expect("alerts").iter();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    alerts
        .filter(|alert| alert["kind"] == "retiring")
        .map(|alert| (text(&alert["subject"]), text(&alert["message"])))
        .collect()
}

/// `alpha` and `beta`; `core` has `beta` alone, `both` has both.
async fn lab(before: &[(i64, &str, Option<&str>, Option<u16>)]) -> Lab {
    let upstream = Upstream::start().await;
    upstream.model(&served("alpha"), fails(404, "model_not_found", "The model does not exist."));
    upstream.model(&served("beta"), answers("Answer of beta."));
    let mut scenario =
        Scenario::new().setting("max_explorers", 1).endpoint("fake", &upstream.base()).key("FAKE_KEY", KEY);
    for alias in ["alpha", "beta"] {
        scenario = scenario.model(alias, "fake", &served(alias));
    }
    let gateway = scenario
        .collection("core", &["beta"])
        .with("shape", "general")
        .collection("both", &["alpha", "beta"])
        .with("shape", "general")
        .start()
        .await;
    let (home, _) = gateway.stop().await;
    on_days(&home, before).await;
    Lab { upstream, gateway: home.serve().await }
}

fn both(text: &str) -> Value {
    json!({"model": "both", "messages": [{"role": "user", "content": text}]})
}

#[tokio::test]
async fn after_three_failing_days_it_is_told_and_not_picked_until_it_answers() {
    let gone = |days| (days, "error", Some("not_found"), Some(404));
    // Before its last answer nothing counts, and a day without a call says nothing.
    let lab = lab(&[gone(9), (8, "ok", None, None), gone(7), gone(4), gone(4)]).await;
    assert_eq!(told(&lab.gateway).await, [], "two days");
    let panel = lab.http().chat(&question("one")).await.json();
    assert_eq!(explorers(&panel), ["alpha"], "it is picked, and fails for the third day");
    let alerts = told(&lab.gateway).await;
    let [(subject, message)] = &alerts[..] else { panic!("one alert: {alerts:?}") };
    assert_eq!(subject, "alpha");
    assert!(
        message.starts_with("alpha has failed on 3 days") && message.contains("does not exist"),
        "{message}"
    );

    assert_eq!(explorers(&lab.http().chat(&question("two")).await.json()), [""; 0]);
    let routed = json!({"model": "both:route", "messages": [{"role": "user", "content": "Whose turn?"}]});
    assert_eq!(lab.http().chat(&routed).await.json()["bench"]["alias"], "beta");
    // A member sits whatever it is.
    assert_eq!(seat(&lab.http().chat(&both("three")).await.json(), "alpha")["status"], "error");

    let (home, _) = lab.gateway.stop().await;
    let lab = Lab { upstream: lab.upstream, gateway: home.serve().await };
    assert_eq!(told(&lab.gateway).await.len(), 1, "known after a restart");
    lab.gateway.bench(&["model", "rename", "alpha", "omega"]).await.exits(0);
    assert_eq!(told(&lab.gateway).await[0].0, "omega");
    lab.upstream.model(&served("alpha"), answers("Back again."));
    assert_eq!(seat(&lab.http().chat(&both("four")).await.json(), "omega")["status"], "ok");
    assert_eq!(told(&lab.gateway).await, [], "an answer ends it");
    assert_eq!(explorers(&lab.http().chat(&question("five")).await.json()), ["omega"]);
}

#[tokio::test]
async fn what_its_owner_has_changed_starts_anew() {
    let gone = |days| (days, "error", Some("not_found"), Some(404));
    let lab = lab(&[gone(3), gone(2), gone(1)]).await;
    assert_eq!(told(&lab.gateway).await.len(), 1);
    lab.gateway.bench(&["model", "retire", "alpha", "--why", "it is gone"]).await.exits(0);
    assert_eq!(told(&lab.gateway).await, []);
}

#[tokio::test]
async fn nothing_is_retired_for_rate_limits_or_a_provider_in_trouble() {
    let days = |class, status| {
        [
            (3, "error", Some(class), Some(status)),
            (2, "error", Some(class), Some(status)),
            (1, "error", Some(class), Some(status)),
        ]
    };
    for (class, status) in [("capacity", 429), ("other", 500), ("timeout", 504), ("sign_in", 401)] {
        let lab = lab(&days(class, status)).await;
        lab.upstream.model(&served("alpha"), rate_limited(None));
        lab.http().chat(&both("one")).await;
        assert_eq!(told(&lab.gateway).await, [], "{class}");
    }
}

/// What it failed with before stays in the ledger, and is not held against it after a restart either.
#[tokio::test]
async fn what_its_owner_has_mended_stays_so_over_a_restart() {
    let gone = |days| (days, "error", Some("not_found"), Some(404));
    let restarted = async |gateway: Gateway| {
        let (home, _) = gateway.stop().await;
        home.serve().await
    };
    for key in [false, true] {
        let Lab { upstream, gateway } = lab(&[gone(3), gone(2), gone(1)]).await;
        assert_eq!(told(&gateway).await.len(), 1);
        let gateway = if key {
            let opened = gateway.home.bench_with(&["vault", "--passphrase-stdin"], "a passphrase").await;
            opened.exits(0);
            gateway.command("set_key", &json!({"endpoint": "fake", "key": "sk-other-1234567890abc"})).await;
            gateway
        } else {
            gateway.bench(&["endpoint", "set", "fake", "--limit", "rpm=600"]).await.exits(0);
            gateway
        };
        assert_eq!(told(&gateway).await, [], "mended");
        let gateway = restarted(gateway).await;
        assert_eq!(told(&gateway).await, [], "mended, after a restart");
        // Another change forgets nothing of it, and it fails anew from there.
        gateway.bench(&["model", "set", "alpha", "--option", "seed=1"]).await.exits(0);
        let mut gateway = restarted(gateway).await;
        assert_eq!(told(&gateway).await, [], "mended, after another change");
        gateway.http.chat(&both("one")).await;
        gateway = restarted(gateway).await;
        assert_eq!(told(&gateway).await, [], "one failing day");
        drop(upstream);
    }
}
