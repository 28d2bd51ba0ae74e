//! Limits of endpoints, what is spent, and budgets: providers.md §5 and §6.

use bench_tests::{
    Lab, Scenario, Upstream,
    scenario::{KEY, question, served},
    upstream::answers,
};
use serde_json::{Value, json};

use crate::{apis::apis, checks::seat};

/// One model on an endpoint of its own limits, another without.
async fn two(limits: Value, reserves: u32, members: &[&str]) -> Lab {
    let upstream = Upstream::start().await;
    let mut scenario = Scenario::new()
        .endpoint("tight", &upstream.base())
        .endpoint_with("limits", limits)
        .key("TIGHT_KEY", KEY)
        .endpoint("fake", &upstream.base())
        .key("FAKE_KEY", KEY)
        .setting("reserves", reserves);
    for (alias, endpoint) in [("alpha", "tight"), ("beta", "fake")] {
        upstream.model(&served(alias), answers(&format!("Answer of {alias}.")));
        scenario = scenario.model(alias, endpoint, &served(alias));
    }
    let gateway = scenario.collection("core", members).start().await;
    Lab { upstream, gateway }
}

fn asked(lab: &Lab, alias: &str) -> usize {
    lab.upstream.asked(&served(alias)).len()
}

fn turn(text: &str) -> Value {
    json!({"model": "bench/core:route", "messages": [{"role": "user", "content": text}]})
}

/// Seconds of a `Retry-After`.
fn retry_after(answer: &bench_tests::http::Answer) -> u64 {
    let header = answer.headers.get("retry-after").expect("Retry-After").to_str().expect("text");
    header.parse().expect("seconds")
}

#[tokio::test]
async fn a_member_over_its_limit_is_not_sent_and_a_reserve_takes_its_seat() {
    let lab = two(json!({"rpm": 1}), 1, &["alpha"]).await;
    let first = lab.http().chat(&question("one")).await.json();
    assert_eq!(seat(&first, "alpha")["status"], "ok");
    let second = lab.http().chat(&question("two")).await.json();
    assert_eq!(seat(&second, "beta")["stood_in_for"], "alpha", "{second}");
    let why = second["bench"]["failed_over"][0]["why"].as_str().expect("why");
    assert!(why.contains("our own limit of 1 request a minute on tight"), "{why}");
    assert_eq!((asked(&lab, "alpha"), asked(&lab, "beta")), (1, 1));
}

#[tokio::test]
async fn a_turn_over_a_limit_passes_on() {
    let lab = two(json!({"rpm": 1}), 0, &["alpha", "beta"]).await;
    let by = |answer: &Value| answer["bench"]["alias"].as_str().map(str::to_owned);
    let first = lab.http().chat(&turn("one")).await.json();
    let second = lab.http().chat(&turn("two, of another conversation")).await.json();
    let third = lab.http().chat(&turn("three, of a third one")).await.json();
    let mut took: Vec<_> = [&first, &second, &third].into_iter().map(by).collect();
    took.sort();
    assert_eq!(asked(&lab, "alpha"), 1, "{took:?}");
    assert_eq!(took.iter().filter(|it| it.as_deref() == Some("beta")).count(), 2, "{took:?}");
}

#[tokio::test]
async fn explorers_at_a_limit_are_not_picked() {
    let upstream = Upstream::start().await;
    let mut scenario = Scenario::new()
        .endpoint("fake", &upstream.base())
        .key("FAKE_KEY", KEY)
        .endpoint("tight", &upstream.base())
        .endpoint_with("limits", json!({"rpm": 1}))
        .key("TIGHT_KEY", KEY)
        .setting("max_explorers", 1);
    for (alias, endpoint) in [("alpha", "fake"), ("beta", "tight")] {
        upstream.model(&served(alias), answers(&format!("Answer of {alias}.")));
        scenario = scenario.model(alias, endpoint, &served(alias));
    }
    let gateway = scenario.collection("core", &["alpha"]).with("shape", "general").start().await;
    let lab = Lab { upstream, gateway };
    let first = lab.http().chat(&question("one")).await.json();
    assert_eq!(seat(&first, "beta")["seat"], "explorer");
    let second = lab.http().chat(&question("two")).await.json();
    assert_eq!(second["bench"]["seats"].as_array().map(Vec::len), Some(1), "{second}");
    assert_eq!(asked(&lab, "beta"), 1);
}

#[tokio::test]
async fn a_call_is_counted_while_it_is_under_way() {
    let lab = two(json!({"rpm": 1}), 0, &["alpha"]).await;
    let (one, two) = (question("one"), question("two"));
    let (one, two) = tokio::join!(lab.http().chat(&one), lab.http().chat(&two));
    let mut statuses = [one.status.as_u16(), two.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 429]);
    assert_eq!(asked(&lab, "alpha"), 1);
}

#[tokio::test]
async fn everybody_over_their_limit_is_429_in_every_api() {
    let lab = two(json!({"rpd": 1}), 0, &["alpha"]).await;
    assert_eq!(lab.http().chat(&question("the only one")).await.status, 200);
    for api in apis() {
        let answer = lab.http().post(api.path, &api.body).await;
        assert_eq!(answer.status, 429, "{}: {}", api.name, answer.text());
        assert!((86_000..=86_400).contains(&retry_after(&answer)), "{}", api.name);
        assert!(answer.text().contains("1 request a day on tight"), "{}: {}", api.name, answer.text());
    }
    let routed = lab.http().chat(&turn("a turn")).await;
    assert_eq!(routed.status, 429, "{}", routed.text());
    assert!(retry_after(&routed) > 86_000);
    assert_eq!(asked(&lab, "alpha"), 1);
}

#[tokio::test]
async fn what_was_sent_is_known_after_a_restart_and_when_a_rule_is_new() {
    let lab = two(json!({"rpd": 1}), 0, &["alpha"]).await;
    assert_eq!(lab.http().chat(&question("the only one")).await.status, 200);
    let Lab { upstream, gateway } = lab;
    let home = gateway.home.clone();
    gateway.stop().await;
    let lab = Lab { upstream, gateway: home.serve().await };
    assert_eq!(lab.http().chat(&question("again")).await.status, 429);

    assert_eq!(asked(&lab, "alpha"), 1);
}
