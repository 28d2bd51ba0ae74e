//! The queue: kept, resumed after a restart, stopped, resumed and cleared; its calls keep the endpoint's limits.

use bench_tests::{
    Gate, Gateway, Lab, Scenario, Upstream, eventually,
    upstream::{Script, answers},
};
use serde_json::json;

use super::{can, item, items, lab, lab_with, onboard, outcomes, probed, served, step, steps_asked};

/// Answers the first `n` calls; those after them once the gate is open.
fn held_after(n: usize, gate: &Gate) -> Script {
    let (gate, asked) = (gate.clone(), std::sync::atomic::AtomicUsize::new(0));
    Script::by(move |request| {
        let turn = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let reply = probed(request, &["tools"]);
        if turn < n { reply } else { reply.held(&gate) }
    })
}

/// Whatever was to be written before is on disk.
async fn on_disk(gateway: &Gateway) {
    let none = json!({"endpoint": "fake", "served": ["none"]});
    gateway.command("dismiss_models", &none).await;
}

async fn in_the_middle() -> (Lab, Gate) {
    let gate = Gate::shut();
    let lab = lab([("a", held_after(2, &gate)), ("b", can(&[]))]).await;
    onboard(&lab.gateway, &["a", "b"], "quick").await;
    lab.upstream.arrived(&served("a"), 3).await;
    on_disk(&lab.gateway).await;
    let now = items(&lab.gateway).await;
    let states = [&now[0]["state"], &now[0]["step"], &now[1]["state"]];
    assert_eq!(states, ["running", "large", "waiting"]);
    (lab, gate)
}

#[tokio::test]
async fn after_a_restart_the_step_under_way_is_taken_again_and_no_other() {
    for killed in [false, true] {
        let (lab, gate) = in_the_middle().await;
        let home = if killed { lab.gateway.kill().await } else { lab.gateway.stop().await.0 };
        gate.open();
        let lab = Lab { upstream: lab.upstream, gateway: home.serve().await };
        let a = item(&lab.gateway, "a", "done").await;
        assert_eq!(
            outcomes(&a)[2..5],
            ["word_again worked", "large worked", "tool worked"],
            "killed: {killed}"
        );
        item(&lab.gateway, "b", "done").await;
        let asked = steps_asked(&lab, "a");
        assert_eq!(asked, ["word", "word", "large", "large", "tool", "vision"], "killed: {killed}");
    }
}

#[tokio::test]
async fn it_is_stopped_resumed_and_cleared() {
    let (lab, gate) = in_the_middle().await;
    let stopped = lab.gateway.command("stop_onboarding", &json!({})).await;
    assert_eq!([&stopped["items"][0]["state"], &stopped["items"][1]["state"]], ["stopped", "stopped"]);
    lab.upstream.arrived(&served("a"), 3).await.hung_up().await;
    eventually("the cancelled call is in the ledger", || async {
        let spend = lab.gateway.command("spend", &json!({"by": "model", "since": null})).await;
        (spend["rows"][0]["calls"] == 3).then_some(())
    })
    .await;
    // A restart does not resume what its owner stopped.
    let (home, _) = lab.gateway.stop().await;
    let lab = Lab { upstream: lab.upstream, gateway: home.serve().await };
    assert!(items(&lab.gateway).await.iter().all(|item| item["state"] == "stopped"));

    gate.open();
    lab.gateway.command("resume_onboarding", &json!({})).await;
    item(&lab.gateway, "a", "done").await;
    item(&lab.gateway, "b", "done").await;
    assert_eq!(steps_asked(&lab, "a"), ["word", "word", "large", "large", "tool", "vision"]);
    lab.gateway.command("onboard", &super::wanted(&["b"], "quick")).await;
    lab.gateway.command("stop_onboarding", &json!({})).await;
    let left = lab.gateway.command("clear_onboarding", &json!({"all": false})).await;
    assert_eq!(left["items"].as_array().map(Vec::len), Some(1), "what was stopped stays: {left}");
    let left = lab.gateway.command("clear_onboarding", &json!({"all": true})).await;
    assert_eq!(left["items"], json!([]));
}

#[tokio::test]
async fn limits_of_the_endpoint_hold_for_probes() {
    let lab = lab_with(json!({"rpm": 2}), [("a", can(&[]))]).await;
    onboard(&lab.gateway, &["a"], "quick").await;
    let waits = item(&lab.gateway, "a", "waiting").await;
    let why = waits["why"].as_str().expect("why");
    assert!(why.contains("our own limit of 2 requests a minute"), "{why}");
    assert_eq!((&waits["step"], steps_asked(&lab, "a").len()), (&json!("large"), 2), "{waits}");
    assert!(waits["until"].is_string(), "{waits}");

    // Without the limit there is nothing to wait for.
    let base = lab.upstream.base();
    let endpoint = json!({"name": "fake", "base": base, "key_env": "FAKE_KEY", "new": false,
                          "allow_plain_http": false, "limits": {}});
    lab.gateway.command("save_endpoint", &endpoint).await;
    let done = item(&lab.gateway, "a", "done").await;
    assert_eq!(outcomes(&done).len(), 7, "it has not failed: {done}");
}

#[tokio::test]
async fn a_prompt_larger_than_the_endpoints_own_limit_is_left_out() {
    let lab = lab_with(json!({"tpm": 4_000}), [("a", answers("ready").into())]).await;
    onboard(&lab.gateway, &["a"], "quick").await;
    let large = eventually("the large prompt is decided", || async {
        let log = items(&lab.gateway).await[0]["log"].clone();
        log.as_array().expect("a log").iter().find(|entry| entry["step"] == "large").cloned()
    })
    .await;
    assert_eq!((&large["outcome"], &large["class"]), (&json!("failed"), &json!("too_large")));
    assert!(large["said"].as_str().expect("words").contains("larger than our own limit"), "{large}");
    assert!(!steps_asked(&lab, "a").contains(&"large"));
}

#[tokio::test]
async fn what_waits_for_a_key_goes_on_when_there_is_one() {
    let upstream = Upstream::start().await;
    upstream.model("v/a", can(&[]));
    let scenario = Scenario::new().endpoint("fake", &upstream.base()).endpoint_with("kind", "provider");
    let lab = Lab { upstream, gateway: scenario.start().await };
    onboard(&lab.gateway, &["a"], "quick").await;
    let waits = item(&lab.gateway, "a", "waiting").await;
    assert_eq!(waits["why"], "fake has no key; give it one under Endpoints");
    assert!(steps_asked(&lab, "a").is_empty(), "nobody is asked without a key");
    lab.gateway.command("open_vault_file", &json!({"passphrase": "correct horse battery"})).await;
    lab.gateway.command("set_key", &json!({"endpoint": "fake", "key": bench_tests::scenario::KEY})).await;
    item(&lab.gateway, "a", "done").await;
}

#[tokio::test]
async fn what_is_taken_away_meanwhile_fails_in_words() {
    let gate = Gate::shut();
    let lab = lab([("a", held_after(0, &gate)), ("b", can(&[])), ("c", can(&[]))]).await;
    onboard(&lab.gateway, &["a", "b"], "quick").await;
    lab.upstream.arrived(&served("a"), 1).await;
    // Its alias goes to another model, which was registered by hand.
    let file = json!({"version": 1, "models": [{"alias": "b", "endpoint": "fake", "served": "v/c"}]});
    lab.gateway.command("import_setup", &json!({"text": file.to_string()})).await;
    lab.gateway.command("retire_model", &json!({"alias": "a", "why": "slow"})).await;
    gate.open();
    let a = item(&lab.gateway, "a", "failed").await;
    assert_eq!(a["why"], "a is retired; restore it first");
    let b = eventually("b has failed", || async {
        items(&lab.gateway)
            .await
            .into_iter()
            .find(|item| item["served"] == "v/b" && item["state"] == "failed")
    })
    .await;
    assert!(b["why"].as_str().expect("why").contains("the alias b was taken"), "{b}");
    assert_eq!(step(&lab.upstream.asked(&served("a"))[0].json()), "word");
    assert!(lab.upstream.asked(&served("b")).is_empty());
}

/// Its model may be gone when somebody looks: the queue says what it was called last.
#[tokio::test]
async fn a_renamed_models_item_has_its_new_name_whatever_becomes_of_it() {
    let lab = lab([("a", can(&[]))]).await;
    onboard(&lab.gateway, &["a"], "quick").await;
    item(&lab.gateway, "a", "done").await;
    lab.gateway.bench(&["model", "rename", "a", "omega"]).await.exits(0);
    assert_eq!(items(&lab.gateway).await[0]["alias"], "omega");
    lab.gateway.command("unregister_model", &json!({"name": "omega"})).await;
    assert_eq!(items(&lab.gateway).await[0]["alias"], "omega");
}
