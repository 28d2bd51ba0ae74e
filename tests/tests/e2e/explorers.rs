//! Explorer seats: who gets them, and what becomes of those that are late. panel.md §3, §4, §5.

use std::collections::BTreeMap;

use bench_tests::{
    Gate, Lab, Scenario,
    scenario::{question, served},
    upstream::{Script, Step, answers, rate_limited},
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    checks::{call, content, panel_id, recorded, seat, seats},
    frames::Frames,
    staffed::{explorers, judge, panel_when, staffed},
};

fn says(alias: &str) -> Script {
    answers(&format!("Answer of {alias}.")).into()
}

fn exploring(seats: u32) -> impl FnOnce(Scenario) -> Scenario {
    move |scenario| scenario.setting("max_explorers", seats).setting("explorer_grace", 1)
}

async fn asked(lab: &Lab) -> Value {
    let answer = lab.http().chat(&question("whom?")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[tokio::test]
async fn the_one_longest_without_work_sits_and_says_why() {
    let models = [
        ("alpha", says("alpha")),
        ("beta", says("beta")),
        ("gamma", says("gamma")),
        ("delta", says("delta")),
    ];
    let lab = staffed(models, &["alpha"], exploring(1)).await;
    let mut sat = Vec::new();
    for _ in 0..5 {
        let reply = asked(&lab).await;
        assert_eq!(seats(&reply).len(), 2, "{reply}");
        assert!(content(&reply).contains("1 member, 1 explorer"), "{}", content(&reply));
        let explorer = seats(&reply)[1].clone();
        assert_eq!(explorer["call"], format!("{}.explorer", panel_id(&reply)));
        let alias = explorer["alias"].as_str().unwrap_or_default().to_owned();
        assert!(content(&reply).contains(&format!("## explorer — {alias}")), "{}", content(&reply));
        let kept = panel_when(&lab.gateway, &panel_id(&reply), |panel| panel["state"] == "done").await;
        let why = kept["seats"][1]["why"].as_str().unwrap_or_default();
        assert_eq!(why == "never asked", sat.len() < 3, "{alias}: {why}");
        sat.push(alias);
    }
    assert_eq!(sat, ["beta", "delta", "gamma", "beta", "delta"], "each in its turn, oldest first");
}

#[tokio::test]
async fn a_model_that_cools_down_or_is_a_members_twin_does_not_explore() {
    let models =
        [("alpha", says("alpha")), ("beta", rate_limited(Some(60)).into()), ("gamma", says("gamma"))];
    let twin = |it: Scenario| exploring(1)(it.model("aaa", "fake", &served("alpha")));
    let lab = staffed(models, &["alpha"], twin).await;
    let first = asked(&lab).await;
    assert_eq!(explorers(&first), ["beta"], "the twin aaa is first by alias");
    assert_eq!(seat(&first, "beta")["status"], "error");
    for _ in 0..2 {
        assert_eq!(explorers(&asked(&lab).await), ["gamma"], "beta asked for a minute");
    }
    assert_eq!(lab.upstream.asked(&served("beta")).len(), 1);
}

#[tokio::test]
async fn nominees_take_explorer_seats_and_all_others_are_named() {
    let models = [
        ("alpha", says("alpha")),
        ("beta", says("beta")),
        ("gamma", says("gamma")),
        ("delta", says("delta")),
    ];
    let more = |it: Scenario| {
        let it =
            it.model("old", "fake", "old").model_with("retired", json!({"at": "2026-03-01", "why": "gone"}));
        exploring(2)(it)
    };
    let lab = staffed(models, &["alpha"], more).await;
    let mut body = question("whom?");
    body["with"] = json!(["gamma", "nobody", "old", "alpha", "gamma", "delta", "beta"]);
    let reply = lab.http().chat(&body).await.json();
    assert_eq!(explorers(&reply), ["gamma", "delta"], "in the caller's order");
    let skipped = reply["bench"]["skipped"].as_array().expect("a list");
    let why: BTreeMap<&str, &str> = skipped
        .iter()
        .map(|it| (it["alias"].as_str().unwrap_or_default(), it["why"].as_str().unwrap_or_default()))
        .collect();
    assert_eq!(why.keys().copied().collect::<Vec<_>>(), ["beta", "nobody", "old"], "{skipped:?}");
    assert!(why["nobody"].contains("no model of this alias"), "{why:?}");
    assert!(why["old"].contains("2026-03-01") && why["old"].contains("gone"), "{why:?}");
    assert!(why["beta"].contains("2 explorer seats"), "{why:?}");
    assert!(content(&reply).contains("Not asked: nobody ("), "{}", content(&reply));

    // One nominee leaves a seat to the router.
    body["with"] = json!(["gamma"]);
    assert_eq!(explorers(&lab.http().chat(&body).await.json()), ["gamma", "beta"]);
}

#[tokio::test]
async fn without_explorer_seats_nobody_explores_and_a_nominee_is_told() {
    let lab = staffed([("alpha", says("alpha")), ("beta", says("beta"))], &["alpha"], exploring(0)).await;
    let mut body = question("whom?");
    body["with"] = json!(["beta"]);
    let reply = lab.http().chat(&body).await.json();
    assert_eq!(explorers(&reply), Vec::<String>::new());
    let skipped = &reply["bench"]["skipped"][0];
    assert!(skipped["why"].as_str().is_some_and(|why| why.contains("max_explorers")), "{skipped}");
    // As many as max_calls leaves free.
    let full = |it: Scenario| it.setting("max_explorers", 2).setting("max_calls", 1);
    let lab = staffed([("alpha", says("alpha")), ("beta", says("beta"))], &["alpha"], full).await;
    assert_eq!(seats(&asked(&lab).await).len(), 1);
}

/// alpha is the member; beta explores, and says nothing until the gate is open.
async fn slow_explorer(gate: &Gate, grace: u32) -> Lab {
    let beta = answers("Answer of beta.").at(2, Step::Wait(gate.clone())).into();
    let more = |it: Scenario| it.setting("max_explorers", 1).setting("explorer_grace", grace);
    staffed([("alpha", says("alpha")), ("beta", beta)], &["alpha"], more).await
}

#[tokio::test]
async fn an_explorer_that_is_late_is_answered_without_and_recorded_when_it_ends() {
    let gate = Gate::shut();
    let lab = slow_explorer(&gate, 1).await;
    let mut live = Frames::live(&lab.gateway).await;
    live.until("\"snapshot\"").await;
    let reply = asked(&lab).await;
    let panel = panel_id(&reply);
    let beta = seat(&reply, "beta");
    assert_eq!((&beta["status"], &beta["answer"]), (&json!("late"), &json!("")), "{beta}");
    assert!(content(&reply).contains("· late · ") && content(&reply).contains("will be on record"));
    let late = format!("{panel}.explorer");
    live.until("\"panel_ended\"").await;
    let ended = live.lines().pop().expect("events");
    assert_eq!(ended["panel"]["seats"][1]["status"], "late", "not cancelled: it runs on: {ended}");
    // Not on record, and not lost: it runs on, and nobody takes it for free.
    assert_eq!(call(&lab.gateway, &late).await.status, 404);
    let owed = lab.gateway.command("owed", &json!({})).await;
    assert_eq!(owed["panels"][0]["seats"][1]["status"], "late", "{owed}");
    gate.open();
    let kept = recorded(&lab.gateway, &late).await;
    assert_eq!((&kept["status"], &kept["answer"]), (&json!("ok"), &json!("Answer of beta.")));
    let kept = panel_when(&lab.gateway, &panel, |panel| panel["seats"][1]["status"] == "ok").await;
    assert_eq!((&kept["state"], kept["seats"].as_array().map(Vec::len)), (&json!("done"), Some(2)));
    let pending = lab.http().post("/bench/pending", &json!({"calls": [late, "p-unknown.member1"]})).await;
    assert_eq!(pending.json()["calls"], json!([late]), "it is owed a verdict");
    judge(&lab.gateway, &late, true).await;
    let preview = lab.gateway.command("preview_panel", &json!({"collection": "core", "shape": null})).await;
    let why = preview["primary"]["why"].as_str().unwrap_or_default().to_owned();
    assert!(why.contains("1 of 1"), "its work and its verdict are counted: {preview}");
}

#[tokio::test]
async fn streamed_the_late_section_comes_last_and_the_stream_ends() {
    let gate = Gate::shut();
    let lab = slow_explorer(&gate, 0).await;
    let streamed = lab.http().stream(&question("whom?")).await.rest().await;
    let text = streamed.text();
    assert!(text.find("## member — alpha") < text.find("## explorer — beta"), "{text}");
    assert_eq!(seat(&streamed.finish(), "beta")["status"], "late");
}

#[tokio::test]
async fn a_late_explorer_does_not_hold_up_the_end_of_the_program() {
    let gate = Gate::shut();
    let lab = slow_explorer(&gate, 0).await;
    let panel = panel_id(&asked(&lab).await);
    lab.upstream.arrived(&served("beta"), 1).await;
    let (home, code) = lab.gateway.stop().await;
    assert_eq!(code, Some(0), "{}", home.logs());
    let gateway = home.serve().await;
    let kept = panel_when(&gateway, &panel, |panel| panel["state"] == "done").await;
    assert_eq!(kept["seats"][0]["status"], "ok");
    assert_eq!(kept["seats"][1]["status"], "cancelled", "{kept}");
}

#[tokio::test]
async fn a_hundred_panels_at_once_spread_their_explorers_evenly() {
    let gate = Gate::shut();
    let held = |alias: &str| Script::from(answers(alias).held(&gate));
    let names = ["b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9"];
    let mut models = vec![("alpha", held("alpha"))];
    models.extend(names.map(|alias| (alias, held(alias))));
    let models: [(&str, Script); 11] = models.try_into().expect("eleven");
    let lab = staffed(models, &["alpha"], exploring(1)).await;
    let mut asking = JoinSet::new();
    for _ in 0..100 {
        let http = lab.gateway.http.clone();
        asking.spawn(async move { http.chat(&question("whom?")).await.json() });
    }
    lab.upstream.arrived(&served("alpha"), 100).await;
    gate.open();
    let mut sat: BTreeMap<String, u32> = BTreeMap::new();
    for reply in asking.join_all().await {
        for alias in explorers(&reply) {
            *sat.entry(alias).or_default() += 1;
        }
    }
    assert_eq!(sat.len(), names.len(), "{sat:?}");
    assert!(sat.values().all(|count| *count == 10), "{sat:?}");
}
