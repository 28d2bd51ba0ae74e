//! What probes find, and what follows from it.

use bench_tests::{
    Gateway,
    scenario::{KEY, question},
    upstream::{Script, answers, echoes_key, fails, rate_limited},
};
use serde_json::{Value, json};

use super::{can, item, lab, lab_with, models, onboard, outcomes, probed, served, step, steps_asked};

/// Whose word a fact is, and what it says.
async fn fact(gateway: &Gateway, alias: &str, name: &str) -> Value {
    let sheet = gateway.command("model", &json!({"name": alias})).await;
    let facts = sheet["facts"].as_array().expect("facts");
    let fact = facts.iter().find(|fact| fact["name"] == name).expect("every fact is there");
    json!([fact["value"], fact["source"]])
}

async fn spent(gateway: &Gateway, by: &str) -> Value {
    gateway.command("spend", &json!({"by": by, "since": null})).await["rows"].clone()
}

#[tokio::test]
async fn a_model_is_registered_probed_and_known() {
    let lab = lab([("a", can(&["tools", "vision"]))]).await;
    let queue = onboard(&lab.gateway, &["a"], "quick").await;
    assert_eq!(queue["has_suite"], false);
    assert_eq!(queue["items"][0]["steps"].as_array().map(Vec::len), Some(8), "{queue}");
    let done = item(&lab.gateway, "a", "done").await;
    let wanted = [
        "listed worked",
        "word worked",
        "word_again worked",
        "large worked",
        "tool worked",
        "vision worked",
        "facts worked",
    ];
    assert_eq!(outcomes(&done), wanted, "{done}");
    for entry in &done["log"].as_array().expect("a log")[1..6] {
        assert!(entry["seconds"].is_f64() && entry["first_token_s"].is_f64(), "{entry}");
    }
    let said = |at: usize| done["log"][at]["said"].as_str().expect("words");
    assert_eq!((said(0), said(1)), ("registered as a", "it said: ready"));
    assert!(said(4).contains("get_time") && said(6).contains("tools, images"), "{done}");
    assert_eq!(steps_asked(&lab, "a"), ["word", "word", "large", "tool", "vision"]);
    let large = &lab.upstream.asked("v/a")[2];
    assert!((17_000..21_000).contains(&large.body.len()), "{}", large.body.len());

    // Each call is in the ledger, and none is work of the model's.
    let rows = spent(&lab.gateway, "purpose").await;
    assert_eq!((&rows[0]["key"], &rows[0]["calls"]), (&json!("probe"), &json!(5)), "{rows}");
    assert_eq!(rows.as_array().map(Vec::len), Some(1));
    let panels = lab.gateway.command("panels", &json!({"before": null, "limit": 10})).await;
    assert_eq!(panels["panels"], json!([]));
    let preview = lab.gateway.command("preview_panel", &json!({"collection": ""})).await;
    assert_eq!(preview["seats"][0]["why"], "never asked", "{preview}");

    let (home, _) = lab.gateway.stop().await;
    let gateway = home.serve().await;
    for name in ["tools", "vision"] {
        assert_eq!(fact(&gateway, "a", name).await, json!([true, "learned"]), "{name}");
    }
    assert_eq!(outcomes(&item(&gateway, "a", "done").await), wanted, "the log is kept");
}

#[tokio::test]
async fn the_sheet_has_what_the_last_probes_found_also_after_a_restart_and_under_another_name() {
    let lab =
        lab([("a", can(&["tools"])), ("b", fails(404, "model_not_found", "No such model").into())]).await;
    let probes = async |gateway: &Gateway, alias: &str| {
        gateway.command("model", &json!({"name": alias})).await["probes"].clone()
    };
    onboard(&lab.gateway, &["a", "b"], "quick").await;
    let a = item(&lab.gateway, "a", "done").await;
    item(&lab.gateway, "b", "failed").await;
    let found = probes(&lab.gateway, "a").await;
    let calls = &a["log"].as_array().expect("a log")[1..6];
    assert_eq!(found.as_array().map(Vec::as_slice), Some(calls), "as the queue said it: {found}");
    assert!(calls[0]["tokens_in"].is_u64() && calls[0]["tokens_out"].is_u64(), "{}", calls[0]);
    let failed = probes(&lab.gateway, "b").await;
    let words = |it: &Value| json!([it["step"], it["outcome"], it["class"], it["said"]]);
    assert_eq!(words(&failed[0]), json!(["word", "failed", "not_found", "No such model (404)"]));
    assert_eq!(failed.as_array().map(Vec::len), Some(1));

    // The queue forgets, the sheet does not.
    lab.gateway.command("clear_onboarding", &json!({"all": true})).await;
    lab.gateway.command("rename_model", &json!({"alias": "a", "to": "aye"})).await;
    let (home, _) = lab.gateway.stop().await;
    let gateway = home.serve().await;
    assert_eq!(probes(&gateway, "aye").await, found);
    let shown = gateway.bench(&["model", "show", "aye"]).await.exits(0).stdout;
    assert!(shown.contains("it said: ready") && shown.contains("tool call"), "{shown}");
}

#[tokio::test]
async fn what_is_not_seen_is_not_known_to_be_missing() {
    let refuses = Script::by(|request| match step(&request.json()) {
        "tool" => fails(400, "invalid_request_error", "This model does not do tools."),
        _ => probed(request, &[]),
    });
    let lab = lab([("a", can(&[])), ("b", refuses)]).await;
    onboard(&lab.gateway, &["a", "b"], "quick").await;
    let a = item(&lab.gateway, "a", "done").await;
    assert_eq!(outcomes(&a)[4..6], ["tool not_seen", "vision not_seen"]);
    assert_eq!(a["log"][5]["said"], "it said: A green circle.", "the right colour of a wrong shape");
    let b = item(&lab.gateway, "b", "done").await;
    assert_eq!(outcomes(&b)[4], "tool failed");
    assert_eq!(b["log"][4]["class"], "bad_request");
    for (alias, name) in [("a", "tools"), ("a", "vision"), ("b", "tools")] {
        assert_eq!(fact(&lab.gateway, alias, name).await, json!([null, null]), "{alias} {name}");
    }
}

#[tokio::test]
async fn how_thoroughly_is_the_owners_choice() {
    let lab = lab([("a", can(&[])), ("b", can(&[]))]).await;
    onboard(&lab.gateway, &["a"], "quick_ad_hoc").await;
    onboard(&lab.gateway, &["b"], "full").await;
    let b = item(&lab.gateway, "b", "done").await;
    let said = b["log"][6]["said"].as_str().expect("words");
    assert!(said.contains("there is no suite yet"), "{said}");
    let known = models(&lab.gateway).await;
    let ad_hoc: Vec<_> = known.iter().map(|model| (&model["alias"], &model["ad_hoc"])).collect();
    assert_eq!(ad_hoc, [(&json!("a"), &json!(true)), (&json!("b"), &json!(false))]);
}

#[tokio::test]
async fn a_model_that_does_not_answer_is_not_chosen_until_it_does() {
    let lab =
        lab([("a", answers("Hello.").into()), ("b", fails(404, "model_not_found", "No such model").into())])
            .await;
    onboard(&lab.gateway, &["a", "b"], "quick").await;
    let failed = item(&lab.gateway, "b", "failed").await;
    assert_eq!(outcomes(&failed), ["listed worked", "word failed", "facts worked"]);
    let why = failed["why"].as_str().expect("why");
    assert!(why.contains("No such model (404)") && why.contains("not chosen"), "{why}");
    assert_eq!(steps_asked(&lab, "b").len(), 1, "what is final is asked once");

    let kept_out = json!([{"why": "its last probe got no answer", "count": 1, "some": ["b"]}]);
    let preview = lab.gateway.command("preview_panel", &json!({"collection": "", "shape": "general"})).await;
    assert_eq!(preview["not_candidates"], kept_out, "{preview}");
    let (home, _) = lab.gateway.stop().await;
    let gateway = home.serve().await;
    let preview = gateway.command("preview_panel", &json!({"collection": "", "shape": "general"})).await;
    assert_eq!(preview["not_candidates"], kept_out, "after a restart too");

    lab.upstream.model(&served("b"), can(&[]));
    gateway.command("probe_model", &json!({"name": "b"})).await;
    item(&gateway, "b", "done").await;
    let preview = gateway.command("preview_panel", &json!({"collection": "", "shape": "general"})).await;
    assert_eq!(preview["candidates"], 2, "{preview}");
    let unknown = gateway.admin("probe_model", &json!({"name": "zeta"})).await;
    assert_eq!((unknown.status.as_u16(), &unknown.json()["error"]["code"]), (404, &json!("not_found")));
}

#[tokio::test]
async fn a_limit_of_the_provider_is_waited_for() {
    let turns = Script::turns(vec![rate_limited(Some(1)), answers("ready")]);
    let lab = lab_with(json!({}), [("a", turns)]).await;
    onboard(&lab.gateway, &["a"], "quick").await;
    let waits = item(&lab.gateway, "a", "waiting").await;
    assert_eq!(waits["why"], "it is cooling down after a rate limit", "{waits}");
    assert!(waits["until"].is_string(), "{waits}");
    let done = item(&lab.gateway, "a", "done").await;
    assert_eq!(outcomes(&done)[1..3], ["word failed", "word_again worked"], "once is not in vain");
    assert_eq!(done["log"][1]["class"], "capacity");
}

#[tokio::test]
async fn no_key_is_told() {
    let lab = lab([("a", echoes_key()), ("b", answers(&format!("ready {KEY}")).into())]).await;
    onboard(&lab.gateway, &["a"], "quick").await;
    let a = item(&lab.gateway, "a", "failed").await;
    assert!(a["why"].as_str().expect("why").contains("key was refused"), "{a}");
    assert_eq!(a["log"][1]["class"], "sign_in");
    onboard(&lab.gateway, &["b"], "quick").await;
    let b = item(&lab.gateway, "b", "waiting").await;
    assert!(b["why"].as_str().expect("why").contains("give it a new one"), "{b}");
    // An answer shows that the key is good after all.
    let register = json!({"endpoint": "fake", "models": [{"served": "v/b", "alias": "c"}]});
    lab.gateway.command("register_models", &register).await;
    let members = json!({"name": "core", "was": null, "description": "", "tags": [], "members": ["c"],
                         "shape": "", "when_too_large": "refuse"});
    lab.gateway.command("save_collection", &members).await;
    assert_eq!(lab.http().chat(&question("hi")).await.status, 200);
    lab.gateway.command("save_settings", &lab.gateway.command("setup", &json!({})).await["settings"]).await;
    let seen = [a, item(&lab.gateway, "c", "done").await].map(|item| item.to_string());
    for text in &seen {
        assert!(!text.contains(KEY), "{text}");
    }
    assert!(seen[1].contains("it said: ready"), "{}", seen[1]);
    let (home, _) = lab.gateway.stop().await;
    for (path, bytes) in home.files() {
        let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!found, "the key is in {}", path.display());
    }
    assert!(!home.logs().contains(KEY), "the key is in a log");
}
