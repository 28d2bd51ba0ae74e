//! A model gets another name: providers.md §3.

use bench_tests::{
    Gate, Gateway, Lab,
    http::Answer,
    scenario::{panel_of, question, served},
    upstream::{Step, answers},
};
use serde_json::{Value, json};

use crate::{
    checks::{panel_id, recorded, seat},
    staffed::judge,
};

async fn rename(gateway: &Gateway, alias: &str, to: &str) -> Answer {
    gateway.admin("rename_model", &json!({"alias": alias, "to": to})).await
}

fn turn(model: &str, text: &str) -> Value {
    json!({"model": model, "user": "one-agent", "messages": [{"role": "user", "content": text}]})
}

/// Verdicts by alias.
async fn record(gateway: &Gateway) -> Value {
    let record = gateway.http.get("/bench/record").await.json();
    let aliases = record["aliases"].as_object().expect("aliases").clone();
    aliases.into_iter().map(|(alias, of)| (alias, json!([of["useful"], of["notUseful"]]))).collect()
}

/// Who takes the first turn of a new conversation.
async fn best(gateway: &Gateway, text: &str) -> Value {
    gateway.http.chat(&turn("bench/core:route", text)).await.json()["bench"]["alias"].clone()
}

async fn restarted(lab: Lab) -> Lab {
    let (home, _) = lab.gateway.stop().await;
    Lab { upstream: lab.upstream, gateway: home.serve().await }
}

#[tokio::test]
async fn a_record_follows_its_model() {
    let lab = panel_of([("alpha", answers("First.").into()), ("beta", answers("Second.").into())]).await;
    let call = |reply: &Value, member: u32| format!("{}.member{member}", panel_id(reply));
    let first = lab.http().chat(&question("one")).await.json();
    judge(&lab.gateway, &call(&first, 1), true).await;
    judge(&lab.gateway, &call(&first, 2), false).await;

    let named = lab.gateway.bench(&["model", "rename", "alpha", "omega"]).await.exits(0).stdout;
    assert!(named.contains("omega"), "{named}");
    assert_eq!(record(&lab.gateway).await, json!({"omega": [1, 0], "beta": [0, 1]}));
    let setup = lab.gateway.command("setup", &json!({})).await;
    assert_eq!(setup["collections"][0]["members"], json!(["omega", "beta"]));
    assert_eq!(recorded(&lab.gateway, &call(&first, 1)).await["alias"], "omega");

    // A verdict on what it did under its old name, and work under its new one.
    judge(&lab.gateway, &call(&first, 1), false).await;
    let second = lab.http().chat(&question("two")).await.json();
    assert_eq!(seat(&second, "omega")["status"], "ok");
    judge(&lab.gateway, &call(&second, 1), true).await;
    let wanted = json!({"omega": [1, 1], "beta": [0, 1]});
    assert_eq!(record(&lab.gateway).await, wanted);

    // What decides who is asked says the same, before and after a restart.
    assert_eq!(best(&lab.gateway, "Who has the best record?").await, "omega");
    let lab = restarted(lab).await;
    assert_eq!(record(&lab.gateway).await, wanted);
    assert_eq!(best(&lab.gateway, "And after a restart?").await, "omega");
    assert_eq!(lab.upstream.asked(&served("alpha")).len(), 4);
}

#[tokio::test]
async fn a_name_that_was_given_up_is_nobody_elses_and_says_what_it_is_called_now() {
    let lab = panel_of([("alpha", answers("First.").into()), ("beta", answers("Second.").into())]).await;
    assert_eq!(rename(&lab.gateway, "alpha", "omega").await.status, 200);
    let lab = restarted(lab).await;
    for (alias, to, status, words) in [
        ("beta", "alpha", 409, "was the name of omega once"),
        ("beta", "omega", 409, "is taken"),
        ("alpha", "gamma", 404, "no model \"alpha\""),
        ("beta", "a b", 400, "to: 1 to 64 letters"),
    ] {
        let answer = rename(&lab.gateway, alias, to).await;
        assert_eq!(answer.status, status, "{alias} {to}: {}", answer.text());
        assert!(answer.text().contains(&words.replace('"', "\\\"")), "{alias} {to}: {}", answer.text());
    }
    let answer = lab.http().chat(&turn("bench/model/alpha", "Who is it?")).await;
    let said = answer.refusal(404, "not_found_error", "model_renamed");
    assert_eq!(said, "the model \"alpha\" is called \"omega\" now: ask for bench/model/omega");
    assert_eq!(lab.http().chat(&turn("bench/model/omega", "Who is it?")).await.status, 200);
    // Its own it may have back.
    assert_eq!(rename(&lab.gateway, "omega", "alpha").await.status, 200);
    assert_eq!(lab.http().chat(&turn("bench/model/alpha", "And now?")).await.status, 200);
}

#[tokio::test]
async fn what_is_under_way_ends_under_the_new_name() {
    let gate = Gate::shut();
    let held = answers("A slow answer.").at(1, Step::Wait(gate.clone()));
    let lab = panel_of([("alpha", held.into()), ("beta", answers("Second.").into())]).await;
    let (panel, routed) = (question("one"), turn("bench/model/alpha", "A turn."));
    let answers = async { tokio::join!(lab.http().chat(&panel), lab.http().chat(&routed)) };
    let renamed = async {
        lab.upstream.arrived(&served("alpha"), 2).await;
        assert_eq!(rename(&lab.gateway, "alpha", "omega").await.status, 200);
        gate.open();
    };
    let ((panel, routed), ()) = tokio::join!(answers, renamed);
    let (panel, routed) = (panel.json(), routed.json());
    assert_eq!(seat(&panel, "omega")["status"], "ok", "{panel}");
    assert_eq!(routed["bench"]["alias"], "omega", "{routed}");
    let call = format!("{}.member1", panel_id(&panel));
    assert_eq!(recorded(&lab.gateway, &call).await["alias"], "omega");
    let turn_call = routed["bench"]["call"].as_str().expect("a call");
    judge(&lab.gateway, turn_call, true).await;
    assert_eq!(record(&lab.gateway).await["omega"], json!([1, 0]));
    let spend = lab.gateway.command("spend", &json!({"by": "model", "since": null})).await;
    let rows = spend["rows"].as_array().expect("rows");
    let calls: Value = rows.iter().map(|row| json!([row["key"], row["calls"]])).collect();
    assert!(!calls.to_string().contains("alpha"), "{calls}");
    let lab = restarted(lab).await;
    assert_eq!(record(&lab.gateway).await["omega"], json!([1, 0]));
}

#[tokio::test]
async fn a_conversation_stays_with_its_model() {
    let lab = panel_of([("alpha", answers("First.").into()), ("beta", answers("Second.").into())]).await;
    let session = |text: &str| {
        json!({"model": "bench/core:route", "messages": [
            {"role": "user", "content": "The same beginning."},
            {"role": "assistant", "content": "Yes."},
            {"role": "user", "content": text}]})
    };
    let begun = json!({"model": "bench/core:route", "messages": [
        {"role": "user", "content": "The same beginning."}]});
    let first = lab.http().chat(&begun).await.json();
    let whose = first["bench"]["alias"].as_str().expect("an alias").to_owned();
    assert_eq!(rename(&lab.gateway, &whose, "omega").await.status, 200);
    let second = lab.http().chat(&session("Go on.")).await.json();
    assert_eq!(second["bench"]["conversation"], first["bench"]["conversation"]);
    assert_eq!(second["bench"]["call"], first["bench"]["call"], "one call of one model");
    assert_eq!(second["bench"]["alias"], "omega");
    let lab = restarted(lab).await;
    let third = lab.http().chat(&session("And on.")).await.json();
    assert_eq!(
        (&third["bench"]["call"], &third["bench"]["alias"]),
        (&first["bench"]["call"], &json!("omega"))
    );
}
