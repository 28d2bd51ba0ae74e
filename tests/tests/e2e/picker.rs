//! A decision model says what the task is, for the explorers' sake: panel.md §2.

use bench_tests::{
    Gate, Gateway, Lab, Scenario, Upstream,
    scenario::question,
    upstream::{Script, Step, answers, fails},
};
use serde_json::{Value, json};

use crate::{
    checks::{content, panel_id, recorded, seats},
    frames::Frames,
    staffed::{explorers, judge, panel_when},
};

/// alpha is the member, `coder` has a role that only code and review admit, `plain` is general; `judge` decides.
async fn decided_by(judge: impl Into<Script>) -> Lab {
    let upstream = Upstream::start().await;
    for (served, script) in [
        ("alpha", answers("Answer of alpha.").into()),
        ("coder", answers("Answer of coder.").into()),
        ("plain", answers("Answer of plain.").into()),
        ("judge", judge.into()),
    ] {
        let script: Script = script;
        upstream.model(served, script);
    }
    let gateway = Scenario::new()
        .setting("max_explorers", 2)
        .setting("explorer_grace", 5)
        .endpoint("fake", &upstream.base())
        .model("alpha", "fake", "alpha")
        .model("coder", "fake", "coder")
        .model_with("role", "code")
        .model("plain", "fake", "plain")
        .model("judge", "fake", "judge")
        .model_with("role", "decision")
        .collection("core", &["alpha"])
        .collection("set", &["alpha"])
        .with("shape", "prose")
        .start()
        .await;
    Lab { upstream, gateway }
}

async fn asked(lab: &Lab) -> Value {
    let answer = lab.http().chat(&question("Review this code.")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[tokio::test]
async fn the_shape_it_chooses_says_who_explores() {
    let lab = decided_by(answers(r#"{"choice": "code", "confidence": 0.91}"#)).await;
    let reply = asked(&lab).await;
    let bench = &reply["bench"];
    assert_eq!((&bench["shape"], &bench["shape_by"]), (&json!("code"), &json!("chosen by judge (0.91)")));
    assert_eq!(explorers(&reply), ["coder", "plain"]);
    assert!(content(&reply).contains("shape code (chosen by judge (0.91))"), "{}", content(&reply));
    let sent = lab.upstream.arrived("judge", 1).await.json();
    assert!(sent.to_string().contains("Review this code."), "{sent}");
    assert_eq!(sent["response_format"]["json_schema"]["name"], "shape", "{sent}");
    // On record as if it had been known from the start; the decision is no seat and no offload.
    let kept = panel_when(&lab.gateway, &panel_id(&reply), |panel| panel["state"] == "done").await;
    assert_eq!((&kept["shape"], kept["seats"].as_array().map(Vec::len)), (&json!("code"), Some(3)), "{kept}");
    let record = lab.http().get("/bench/record?collection=bench/core&shape=code").await.json();
    let aliases: Vec<_> = record["aliases"].as_object().expect("aliases").keys().collect();
    assert_eq!(aliases, ["alpha", "coder", "plain"], "{record}");
}

#[tokio::test]
async fn a_choice_that_is_unsure_or_unreadable_or_fails_is_general() {
    for (judge, why) in [
        (answers(r#"{"choice": "code", "confidence": 0.3}"#), "judge was not sure of code"),
        (answers("I would say it is code."), "judge gave no choice that could be read"),
        (answers(r#"{"choice": "poetry", "confidence": 1}"#), "judge chose something that was not offered"),
        (fails(500, "boom", "under water"), "judge could not be asked"),
        (fails(429, "slow", "slow down"), "judge could not be asked"),
    ] {
        let lab = decided_by(judge).await;
        let reply = asked(&lab).await;
        assert_eq!(reply["bench"]["shape"], "general", "{why}");
        let by = reply["bench"]["shape_by"].as_str().unwrap_or_default();
        assert!(by.contains(why), "{why}: {by}");
        assert_eq!(explorers(&reply), ["plain"], "coder is not for general: {why}");
    }
}

#[tokio::test]
async fn it_is_not_asked_where_nothing_hangs_on_it() {
    let lab = decided_by(answers(r#"{"choice": "code", "confidence": 1}"#)).await;
    let mut body = question("whom?");
    body["model"] = json!("bench/set");
    let reply = lab.http().chat(&body).await.json();
    assert_eq!(reply["bench"]["shape_by"], "set on the collection");
    assert_eq!(explorers(&reply), ["plain"]);
    assert_eq!(lab.upstream.asked("judge").len(), 0);
}

/// A decision that waits for the gate.
fn held(gate: &Gate) -> Script {
    answers(r#"{"choice": "code", "confidence": 0.9}"#).held(gate).into()
}

#[tokio::test]
async fn members_are_asked_while_it_thinks_and_everything_counts_for_the_shape() {
    let gate = Gate::shut();
    let lab = decided_by(held(&gate)).await;
    let mut live = Frames::live(&lab.gateway).await;
    let mut stream = lab.http().stream(&question("Review this.")).await;
    let panel = stream.headers["x-bench-panel"].to_str().expect("ASCII").to_owned();
    let call = format!("{panel}.member1");
    recorded(&lab.gateway, &call).await;
    // Judged before its shape is known.
    judge(&lab.gateway, &call, true).await;
    gate.open();
    let head = stream.until("Answer of alpha.").await;
    assert!(head.starts_with("# bench/core") && head.contains("shape code"), "the heading is first: {head}");
    let finish = stream.rest().await.finish();
    assert_eq!(explorers(&finish), ["coder", "plain"]);
    assert_eq!(seats(&finish)[0]["alias"], "alpha");
    live.until("\"panel_ended\"").await;
    let shaped = live.lines().into_iter().find(|event| event["type"] == "panel_shaped").expect("an event");
    assert_eq!((&shaped["panel"], &shaped["shape"]), (&json!(panel), &json!("code")));
    let record = lab.http().get("/bench/record?collection=bench/core&shape=code").await.json();
    assert_eq!(record["aliases"]["alpha"]["useful"], 1, "{record}");
    // In memory too, and after a restart.
    let standing = async |gateway: &Gateway| {
        let wanted = json!({"collection": "core", "shape": "code"});
        gateway.command("preview_panel", &wanted).await["primary"]["why"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let before = standing(&lab.gateway).await;
    assert!(before.contains("1 useful of 1 judged on code, 1 of 1 overall"), "{before}");
    let (home, _) = lab.gateway.stop().await;
    assert_eq!(standing(&home.serve().await).await, before);
}

#[tokio::test]
async fn a_panel_called_off_while_it_thinks_is_general_in_memory_and_on_record() {
    let gate = Gate::shut();
    let upstream = Upstream::start().await;
    upstream.model("alpha", answers("Answer of alpha."));
    upstream.model("beta", answers("one two three").at(1, Step::Stall));
    upstream.model("judge", held(&gate));
    let gateway = Scenario::new()
        .setting("max_explorers", 1)
        .setting("panel_on_hangup", "cancel")
        .endpoint("fake", &upstream.base())
        .model("alpha", "fake", "alpha")
        .model("beta", "fake", "beta")
        .model("judge", "fake", "judge")
        .model_with("role", "decision")
        .collection("core", &["alpha", "beta"])
        .start()
        .await;
    let stream = gateway.http.stream(&question("Review this.")).await;
    let panel = stream.headers["x-bench-panel"].to_str().expect("ASCII").to_owned();
    recorded(&gateway, &format!("{panel}.member1")).await;
    let asked = upstream.arrived("judge", 1).await;
    drop(stream);
    asked.hung_up().await;
    let kept = panel_when(&gateway, &panel, |panel| panel["state"] == "done").await;
    assert_eq!(kept["shape"], "general", "{kept}");
    let record = gateway.http.get("/bench/record?collection=bench/core&shape=general").await.json();
    assert!(record["aliases"]["alpha"].is_object(), "{record}");
}

#[tokio::test]
async fn one_that_takes_too_long_is_not_waited_for() {
    let gate = Gate::shut();
    let lab = decided_by(held(&gate)).await;
    let reply = asked(&lab).await;
    assert_eq!(reply["bench"]["shape"], "general");
    assert_eq!(reply["bench"]["shape_by"], "the default; judge took too long to choose");
    assert_eq!(explorers(&reply), ["plain"], "explorers are asked all the same");
    assert_eq!(reply["bench"]["seats"][1]["status"], "ok", "and have their time: {}", reply["bench"]);
    let next = asked(&lab).await;
    let by = &next["bench"]["shape_by"];
    assert_eq!(*by, "the default; no decision model is there to choose", "it rests for a while");
}
