//! Who goes first in a new conversation: route.md §2.

use bench_tests::{Lab, Scenario, upstream::Api};
use serde_json::{Value, json};

use super::{
    caller::{Ask, Caller},
    lab::{call, named, routed, routed_as},
};

/// Who answers the first turn of a new conversation that begins so.
async fn first(lab: &Lab, text: &str) -> String {
    let heard = Caller::Chat.ask(lab.http(), &Ask::of(text)).await;
    assert!(heard.is_whole(), "{}", heard.raw);
    heard.by().to_owned()
}

fn three() -> [super::lab::Member; 3] {
    [
        ("alpha", Api::Chat, named("alpha")),
        ("beta", Api::Chat, named("beta")),
        ("gamma", Api::Chat, named("gamma")),
    ]
}

/// Gives a verdict on a turn's call.
async fn judged(lab: &Lab, call: &Value, useful: bool) {
    let body = json!({"call": call, "useful": useful});
    let answer = lab.http().post("/bench/verdict", &body).await;
    assert_eq!(
        (answer.status.as_u16(), answer.json()["recorded"].clone()),
        (200, json!(true)),
        "{}",
        answer.text()
    );
}

#[tokio::test]
async fn without_evidence_it_is_the_collections_order_and_paid_goes_before() {
    let lab = routed(three()).await;
    for text in ["one", "two", "three"] {
        assert_eq!(first(&lab, text).await, "alpha");
    }
    let paid = |scenario: Scenario| {
        // Gamma's endpoint is the last one.
        scenario.endpoint_with("paid", true)
    };
    let lab = routed_as(three(), paid).await;
    assert_eq!(first(&lab, "one").await, "gamma");
}

#[tokio::test]
async fn useful_verdicts_decide_and_the_call_says_why() {
    let lab = routed(three()).await;
    let turn = Caller::Chat.ask(lab.http(), &Ask::of("one").model("bench/model/gamma")).await;
    assert_eq!(turn.by(), "gamma");
    judged(&lab, &turn.bench("call"), true).await;
    let heard = Caller::Chat.ask(lab.http(), &Ask::of("two")).await;
    assert_eq!(heard.by(), "gamma", "the best record goes first: {}", heard.raw);
    let kept = call(&lab.gateway, heard.bench("call").as_str().expect("a call")).await;
    let why = &kept["why"];
    assert_eq!(why["by"], "best record", "{kept}");
    let candidates = why["candidates"].as_array().expect("candidates");
    let aliases: Vec<&str> = candidates.iter().filter_map(|it| it["alias"].as_str()).collect();
    assert_eq!(aliases, ["gamma", "alpha", "beta"], "{kept}");
    assert_eq!((&candidates[0]["useful"], &candidates[0]["judged"]), (&json!(1), &json!(1)), "{kept}");
    assert_eq!(candidates[0]["offloads"], 1, "{kept}");
    assert!(candidates[0]["why"].as_str().is_some_and(|why| why.contains('1')), "{kept}");
    assert_eq!(candidates[1]["why"], "no evidence yet", "{kept}");

    // A verdict that it was of no use puts nobody out, and counts nothing for it.
    judged(&lab, &turn.bench("call"), false).await;
    assert_eq!(first(&lab, "three").await, "alpha");
}

#[tokio::test]
async fn with_rotation_the_one_that_has_gone_longest_without_work_begins() {
    let lab = routed_as(three(), |scenario| scenario.setting("rotate", 1)).await;
    let mut begun = Vec::new();
    for text in ["one", "two", "three", "four", "five", "six"] {
        begun.push(first(&lab, text).await);
    }
    assert_eq!(begun, ["alpha", "beta", "gamma", "alpha", "beta", "gamma"]);
    let heard = Caller::Chat.ask(lab.http(), &Ask::of("seven")).await;
    let kept = call(&lab.gateway, heard.bench("call").as_str().expect("a call")).await;
    let by = kept["why"]["by"].as_str().unwrap_or_default();
    assert!(by.starts_with("rotation: longest without real work"), "{kept}");
    // A conversation under way is not rotated.
    let next = Ask::of("seven").then(&heard, "and now?");
    assert_eq!(Caller::Chat.ask(lab.http(), &next).await.by(), heard.by());
}

#[tokio::test]
async fn one_that_rests_after_a_rate_limit_goes_last() {
    let limited = bench_tests::upstream::Script::turns(vec![
        bench_tests::upstream::rate_limited(Some(600)),
        Api::Chat
            .tells_whole(&[bench_tests::upstream::Said::Text("Again.")], bench_tests::upstream::End::Proper),
    ]);
    let lab = routed([("alpha", Api::Chat, limited), ("beta", Api::Chat, named("beta"))]).await;
    let heard = Caller::Chat.ask(lab.http(), &Ask::of("one")).await;
    assert_eq!(heard.bench("failed_over")[0]["from"], "alpha", "{}", heard.raw);
    let heard = Caller::Chat.ask(lab.http(), &Ask::of("two")).await;
    assert_eq!(
        (heard.by(), heard.bench("failed_over")),
        ("beta", Value::Null),
        "it is not asked while it rests"
    );
    let kept = call(&lab.gateway, heard.bench("call").as_str().expect("a call")).await;
    let last = &kept["why"]["candidates"][1];
    assert_eq!(last["alias"], "alpha", "{kept}");
    assert!(last["why"].as_str().is_some_and(|why| why.contains("cooling down for ")), "{kept}");
}
