//! What is recorded of panels and verdicts, and what is decided by it: panel.md §4, §8, §9.

use bench_tests::{
    Gate, Gateway, Lab, Scenario,
    scenario::{question, served},
    upstream::{Script, answers, fails, rate_limited},
};
use serde_json::{Value, json};

use crate::{
    checks::{panel_id, recorded, seats},
    staffed::{judge, panel_when, staffed},
};

fn says(alias: &str) -> Script {
    answers(&format!("Answer of {alias}.")).into()
}

/// alpha fails whenever it is asked; the others are free to stand in for it. (It is not limited: that would be
/// remembered by the process, and a restart forgets it.)
async fn lab() -> Lab {
    let models = [
        ("alpha", fails(503, "busy", "Over capacity").into()),
        ("beta", says("beta")),
        ("gamma", says("gamma")),
        ("omega", says("omega")),
    ];
    staffed(models, &["alpha"], |it| it.setting("reserves", 1)).await
}

async fn asked(gateway: &Gateway, text: &str) -> Value {
    let answer = gateway.http.chat(&question(text)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// Who stands in now, and for what record.
async fn stand_in(gateway: &Gateway) -> (String, String) {
    let reply = asked(gateway, "whom?").await;
    let panel = panel_when(gateway, &panel_id(&reply), |panel| panel["state"] == "done").await;
    let reserve = &panel["seats"][1];
    let text = |field: &str| reserve[field].as_str().unwrap_or_default().to_owned();
    (text("alias"), text("why"))
}

async fn preview(gateway: &Gateway) -> Value {
    gateway.command("preview_panel", &json!({"collection": "core", "shape": "general"})).await
}

#[tokio::test]
async fn a_verdict_changes_who_stands_in_next_and_a_restart_does_not() {
    let lab = lab().await;
    assert_eq!(stand_in(&lab.gateway).await.0, "beta", "no evidence: by alias");

    // gamma is judged on a panel of its own.
    let other = json!({"was": null, "name": "other", "members": ["gamma", "omega"], "tags": [],
        "description": "", "shape": "", "when_too_large": "refuse"});
    lab.gateway.command("save_collection", &other).await;
    let mut body = question("whom?");
    body["model"] = json!("bench/other");
    let other = panel_id(&lab.http().chat(&body).await.json());
    let (of_gamma, of_omega) = (format!("{other}.member1"), format!("{other}.member2"));
    judge(&lab.gateway, &of_gamma, true).await;
    let (alias, why) = stand_in(&lab.gateway).await;
    assert_eq!(alias, "gamma");
    assert!(why.contains("1 useful of 1 judged on general, 1 of 1 overall"), "{why}");

    judge(&lab.gateway, &of_gamma, false).await;
    judge(&lab.gateway, &of_omega, true).await;
    let (alias, why) = stand_in(&lab.gateway).await;
    assert!(alias == "omega" && why.contains("1 useful of 1"), "{alias}: {why}");

    let before = preview(&lab.gateway).await;
    let (home, _) = lab.gateway.stop().await;
    let gateway = home.serve().await;
    assert_eq!(preview(&gateway).await, before, "the evidence is rebuilt as it was");
    assert_eq!(stand_in(&gateway).await.0, "omega");

    let withdrawn = gateway.http.post("/bench/verdict", &json!({"call": of_omega, "clear": true})).await;
    assert_eq!(withdrawn.json()["recorded"], true);
    assert_eq!(stand_in(&gateway).await.0, "beta", "as before all verdicts");
    let before = preview(&gateway).await;
    // kill -9 takes nothing that was answered.
    assert_eq!(preview(&gateway.kill().await.serve().await).await, before);
}

#[tokio::test]
async fn killed_in_the_middle_a_panel_keeps_every_call_that_had_ended() {
    let gate = Gate::shut();
    let models = [
        ("alpha", rate_limited(None).into()),
        ("beta", says("beta")),
        ("gamma", answers("Answer of gamma.").held(&gate).into()),
    ];
    let more = |it: Scenario| it.setting("reserves", 1).setting("max_explorers", 1);
    let lab = staffed(models, &["alpha"], more).await;
    // beta explores (first by alias), gamma stands in.
    let stream = lab.http().stream(&question("whom?")).await;
    let panel = stream.headers["x-bench-panel"].to_str().expect("ASCII").to_owned();
    recorded(&lab.gateway, &format!("{panel}.member1")).await;
    recorded(&lab.gateway, &format!("{panel}.explorer")).await;
    lab.upstream.arrived(&served("gamma"), 1).await;
    let gateway = lab.gateway.kill().await.serve().await;
    let kept = panel_when(&gateway, &panel, |_| true).await;
    assert_eq!(kept["state"], "interrupted", "{kept}");
    let seats = kept["seats"].as_array().expect("seats");
    let ended: Vec<_> = seats.iter().map(|seat| (&seat["alias"], &seat["status"])).collect();
    assert_eq!(
        ended,
        [
            (&json!("alpha"), &json!("error")),
            (&json!("beta"), &json!("ok")),
            (&json!("gamma"), &json!("cancelled"))
        ]
    );
    assert_eq!(seats[2]["stood_in_for"], "alpha");
    // gamma never ended, so it is the stalest of all.
    gate.open();
    let reply = asked(&gateway, "whom?").await;
    assert_eq!(crate::staffed::explorers(&reply), ["gamma"]);
}

#[tokio::test]
async fn pending_is_what_is_known_answered_and_not_judged() {
    let lab = lab().await;
    let panel = panel_id(&asked(&lab.gateway, "whom?").await);
    let (failed, answered) = (format!("{panel}.member1"), format!("{panel}.member1.r1"));
    let pending = async |calls: Value| {
        let answer = lab.http().post("/bench/pending", &json!({"calls": calls})).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["calls"].clone()
    };
    let all = json!([failed, answered, "p20200101-000000-00000000.member1", ""]);
    assert_eq!(pending(all.clone()).await, json!([answered]));
    judge(&lab.gateway, &answered, false).await;
    assert_eq!(pending(all.clone()).await, json!([]));
    lab.http().post("/bench/verdict", &json!({"call": answered, "clear": true})).await;
    assert_eq!(pending(all).await, json!([answered]));
    assert_eq!(pending(json!([])).await, json!([]));
    for wrong in
        [json!({}), json!({"calls": "x"}), json!({"calls": [1]}), json!([]), json!({"calls": [], "more": 1})]
    {
        let answer = lab.http().post("/bench/pending", &wrong).await;
        assert_eq!(answer.status, 400, "{wrong}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_record_is_counted_by_shape_and_by_task() {
    let models = [("alpha", says("alpha")), ("beta", says("beta"))];
    let lab = staffed(models, &["alpha", "beta"], |it| {
        it.with("shape", "review").collection("prose", &["alpha"]).with("shape", "prose")
    })
    .await;
    let borrow = asked(&lab.gateway, "Review the borrow checker lifetimes in this Rust function").await;
    let soup = asked(&lab.gateway, "Plan a dinner of onion soup and bread for six guests").await;
    let mut body = question("Write a letter");
    body["model"] = json!("bench/prose");
    let letter = lab.http().chat(&body).await.json();
    judge(&lab.gateway, &format!("{}.member1", panel_id(&borrow)), true).await;
    judge(&lab.gateway, &format!("{}.member1", panel_id(&soup)), false).await;
    judge(&lab.gateway, &format!("{}.member1", panel_id(&letter)), true).await;
    let record = async |query: &str| {
        let answer = lab.http().get(&format!("/bench/record?{query}")).await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        answer.json()
    };
    let of = |record: &Value, alias: &str| {
        let counts = &record["aliases"][alias];
        (counts["useful"].as_u64().unwrap_or(0), counts["notUseful"].as_u64().unwrap_or(0))
    };
    assert_eq!(of(&record("collection=bench/core").await, "alpha"), (1, 1));
    assert_eq!(of(&record("").await, "alpha"), (2, 1), "over all collections");
    assert_eq!(of(&record("shape=prose").await, "alpha"), (1, 0));
    assert_eq!(of(&record("shape=review").await, "alpha"), (1, 1));
    let like = record("collection=bench/core&task=borrow+checker+lifetimes").await;
    assert_eq!(like["task"], "borrow checker lifetimes");
    assert_eq!(of(&like, "alpha"), (1, 0), "{like}");
    assert_eq!(of(&record("task=onion%20soup%20for%20guests").await, "alpha"), (0, 1));
    let none = record("task=zzz").await;
    assert_eq!(none["aliases"], json!({}), "nothing is like it");
    for odd in ["%22", "*", "AND+OR+NOT", "(", "a%00b", "NEAR(x", "%F0%9F%8D%B2", "-x", "col:on"] {
        record(&format!("task={odd}")).await;
    }
}

#[tokio::test]
async fn what_was_asked_answered_and_noted_is_found_again() {
    let lab = lab().await;
    let first = asked(&lab.gateway, "How do I peel the chestnuts?").await;
    let second = asked(&lab.gateway, "Wie schält man Äpfel?").await;
    let noted = format!("{}.member1.r1", panel_id(&first));
    let verdict = json!({"call": noted, "useful": true, "note": "a splendid pressure-cooker trick"});
    assert_eq!(lab.http().post("/bench/verdict", &verdict).await.status, 200);
    let search = async |query: &str| {
        let asked = json!({"query": query, "before": null, "limit": 10});
        lab.gateway.command("search", &asked).await["hits"].as_array().expect("hits").clone()
    };
    let hit = search("chestnuts").await;
    assert_eq!((hit.len(), &hit[0]["panel"]["id"]), (1, &first["bench"]["panel"]), "{hit:?}");
    assert_eq!((&hit[0]["in_prompt"], &hit[0]["calls"]), (&json!(true), &json!([])));
    assert_eq!(search("chest").await.len(), 1, "the beginning of a word");
    assert_eq!(search("ÄPFEL").await[0]["panel"]["id"], second["bench"]["panel"]);
    let hit = search("splendid cook").await;
    assert_eq!(
        (hit.len(), &hit[0]["in_prompt"], &hit[0]["calls"]),
        (1, &json!(false), &json!([noted])),
        "{hit:?}"
    );
    assert_eq!(search("Answer of beta").await.len(), 2, "in the answers of both");
    assert_eq!(search("chestnuts Äpfel").await.len(), 0, "they do not stand together");
    for odd in [
        "",
        " ",
        "\"",
        "\"\"",
        "*",
        "AND",
        "NOT x",
        "(",
        "a\u{0}b",
        "NEAR(a b",
        "prompt:x",
        "^x",
        "-",
        "🍲",
        "'; DROP TABLE calls; --",
        "x\" OR \"y",
    ] {
        assert_eq!(search(odd).await, Vec::<Value>::new(), "{odd:?}");
    }
    assert_eq!(seats(&first).len(), 1);
}
