//! The caller hangs up in the middle of a panel.

use bench_tests::{
    Gate, Scenario, Upstream, panel_of,
    scenario::{question, served},
    upstream::{Step, answers},
};

use crate::{
    checks::recorded,
    staffed::{panel_when, staffed},
};

#[tokio::test]
async fn the_panel_goes_on_and_is_recorded() {
    let gate = Gate::shut();
    let lab = panel_of([
        ("alpha", answers("Answer of alpha.").into()),
        ("beta", answers("Answer of beta.").held(&gate).into()),
    ])
    .await;
    let mut stream = lab.http().stream(&question("hi")).await;
    let panel = stream.headers["x-bench-panel"].to_str().expect("ASCII").to_owned();
    stream.until("Answer of alpha.").await;
    lab.upstream.arrived(&served("beta"), 1).await;
    drop(stream);
    // The gateway still answers, and beta is still being asked.
    assert_eq!(lab.http().get("/health").await.status, 200);
    gate.open();
    let beta = recorded(&lab.gateway, &format!("{panel}.member2")).await;
    assert_eq!(beta["status"], "ok");
    assert_eq!(beta["answer"], "Answer of beta.");
    assert_eq!(recorded(&lab.gateway, &format!("{panel}.member1")).await["answer"], "Answer of alpha.");
}

#[tokio::test]
async fn an_unstreamed_panel_goes_on_too() {
    let gate = Gate::shut();
    let lab = panel_of([("alpha", answers("Answer of alpha.").held(&gate).into())]).await;
    {
        let (body, alpha) = (question("hi"), served("alpha"));
        let asking = lab.http().chat(&body);
        tokio::select! {
            answer = asking => panic!("it cannot be done: {answer:?}"),
            _ = lab.upstream.arrived(&alpha, 1) => {}
        }
    }
    gate.open();
    let panels = bench_tests::eventually("the panel's end", || async {
        let page = lab.gateway.command("panels", &serde_json::json!({"before": null, "limit": 10})).await;
        (page["panels"][0]["state"] == "done").then_some(page)
    })
    .await;
    assert_eq!(panels["panels"][0]["seats"][0]["answer"], "Answer of alpha.");
}

#[tokio::test]
async fn where_the_owner_wants_it_the_panel_is_cancelled() {
    let upstream = Upstream::start().await;
    upstream.model("alpha", answers("Answer of alpha."));
    upstream.model("beta", answers("one two three four").at(2, Step::Stall));
    let gateway = Scenario::new()
        .setting("panel_on_hangup", "cancel")
        .endpoint("fake", &upstream.base())
        .model("alpha", "fake", "alpha")
        .model("beta", "fake", "beta")
        .collection("core", &["alpha", "beta"])
        .start()
        .await;
    let mut stream = gateway.http.stream(&question("hi")).await;
    let panel = stream.headers["x-bench-panel"].to_str().expect("ASCII").to_owned();
    stream.until("Answer of alpha.").await;
    let asked = upstream.arrived("beta", 1).await;
    drop(stream);
    asked.hung_up().await;
    assert_eq!(recorded(&gateway, &format!("{panel}.member1")).await["status"], "ok");
    let ended = bench_tests::eventually("the panel's end", || async {
        let seen = gateway.command("panel", &serde_json::json!({"id": panel})).await;
        (seen["state"] != "running").then_some(seen)
    })
    .await;
    assert_eq!(ended["seats"][0]["status"], "ok", "{ended}");
    assert_eq!(ended["seats"][1]["status"], "cancelled", "{ended}");
}

/// The members are done, and an explorer is waited for, when the caller leaves.
#[tokio::test]
async fn in_the_grace_explorers_go_on_or_are_cancelled() {
    for (mode, status) in [("finish", "ok"), ("cancel", "cancelled")] {
        let gate = Gate::shut();
        let models = [
            ("alpha", answers("Answer of alpha.").into()),
            ("beta", answers("Answer of beta.").at(2, Step::Wait(gate.clone())).into()),
        ];
        let set = |it: Scenario| it.setting("max_explorers", 1).setting("panel_on_hangup", mode);
        let lab = staffed(models, &["alpha"], set).await;
        let mut stream = lab.http().stream(&question("hi")).await;
        let panel = stream.headers["x-bench-panel"].to_str().expect("ASCII").to_owned();
        stream.until("Answer of alpha.").await;
        let explorer = lab.upstream.arrived(&served("beta"), 1).await;
        drop(stream);
        if mode == "cancel" {
            explorer.hung_up().await;
        }
        gate.open();
        let kept = panel_when(&lab.gateway, &panel, |panel| panel["state"] == "done").await;
        assert_eq!(kept["seats"][1]["status"], status, "{mode}: {kept}");
        assert_eq!(kept["seats"][0]["status"], "ok", "{mode}: {kept}");
    }
}
