//! What is kept of agents' conversations, as a person reads it: the window's commands, `bench log`, a call by its id.

use bench_tests::{
    Lab, Scenario, Upstream, eventually,
    scenario::{KEY, question, served},
    upstream::{Script, answers, rate_limited},
};
use serde_json::{Value, json};

/// `alpha` is rate limited, `beta` answers, `gamma` may stand beside as a shadow; all take tools, `delta` does not.
async fn lab(more: impl FnOnce(Scenario) -> Scenario) -> Lab {
    let upstream = Upstream::start().await;
    let mut scenario = Scenario::new().endpoint("fake", &upstream.base()).key("FAKE_KEY", KEY);
    let scripts: [(&str, Script); 4] = [
        ("alpha", rate_limited(Some(40)).into()),
        ("beta", answers("Done by beta.").into()),
        ("gamma", answers("Done by gamma.").into()),
        ("delta", answers("Done by delta.").into()),
    ];
    for (alias, script) in scripts {
        upstream.model(&served(alias), script);
        scenario = scenario.model(alias, "fake", &served(alias)).facts(json!({"tools": alias != "delta"}));
    }
    let members = ["alpha", "delta", "beta", "gamma"];
    let scenario = scenario.collection("agents", &members).with("reply", "route");
    let gateway = more(scenario).start().await;
    Lab { upstream, gateway }
}

/// A turn with a tool, of a session; its `bench` object.
async fn turn(lab: &Lab, session: &str) -> Value {
    let mut body = question("Mend the loop.");
    body["model"] = json!("bench/agents");
    body["tools"] =
        json!([{"type": "function", "function": {"name": "shell", "parameters": {"type": "object"}}}]);
    let http = &lab.gateway.http;
    let request = http
        .request(http::Method::POST, "/v1/chat/completions")
        .header("content-type", "application/json")
        .header("user-agent", "probe/1.0")
        .header("x-session-id", session);
    let answer = http.send(request, body.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["bench"].clone()
}

#[tokio::test]
async fn the_window_is_told_conversations_turns_and_why() {
    let lab = lab(|scenario| scenario).await;
    let first = turn(&lab, "one").await;
    let second = turn(&lab, "one").await;
    let other = turn(&lab, "two").await;
    let id = first["conversation"].clone();
    assert_eq!((&second["conversation"], &second["turn"]), (&id, &json!(2)));

    let gateway = &lab.gateway;
    let page = gateway.command("conversations", &json!({"before": null, "limit": 1})).await;
    assert_eq!((&page["conversations"][0]["id"], &page["more"]), (&other["conversation"], &json!(true)));
    let older = json!({"before": other["conversation"], "limit": 1});
    let page = gateway.command("conversations", &older).await;
    assert_eq!((&page["conversations"][0]["id"], &page["more"]), (&id, &json!(false)));

    let one = gateway.command("conversation", &json!({"id": id})).await;
    assert_eq!(one["collection"], "agents");
    assert_eq!(one["title"], "Mend the loop.");
    assert_eq!((&one["alias"], &one["turns"], &one["running"]), (&json!("beta"), &json!(2), &json!(false)));
    assert_eq!(one["calls"][0]["call"], first["call"]);

    let asked = |before: Value, limit: u32| json!({"conversation": id, "before": before, "limit": limit, "texts": false});
    let newest = gateway.command("turns", &asked(Value::Null, 1)).await;
    assert_eq!((&newest["turns"][0]["turn"], &newest["more"]), (&json!(2), &json!(true)));
    assert_eq!(newest["turns"][0]["why"]["by"], "the conversation's model");
    let begun = gateway.command("turns", &asked(json!(2), 10)).await;
    let begun = &begun["turns"][0];
    assert_eq!(begun["failed_over"][0]["from"], "alpha");
    assert_eq!(begun["failed_over"][0]["to"], "beta");
    assert_eq!(begun["skipped"][0]["alias"], "delta");
    let candidates: Vec<_> = begun["why"]["candidates"].as_array().into_iter().flatten().collect();
    assert_eq!(candidates.iter().map(|it| &it["alias"]).collect::<Vec<_>>(), ["alpha", "beta", "gamma"]);
    assert_eq!(candidates[0]["why"], "no evidence yet");
    assert_eq!((&begun["question"], &begun["answer"]), (&json!(""), &json!("")), "texts are not kept");

    let unknown = json!({"conversation": "r0", "before": null, "limit": 1, "texts": false});
    for (command, args) in [("turns", unknown), ("conversation", json!({"id": "r0"}))] {
        let refused = gateway.admin(command, &args).await;
        assert_eq!(refused.json()["error"]["code"], "not_found", "{command}: {}", refused.text());
    }
}

#[tokio::test]
async fn a_call_by_its_id_says_why_and_can_be_judged_but_is_never_owed() {
    let lab = lab(|scenario| scenario).await;
    let first = turn(&lab, "one").await;
    turn(&lab, "one").await;
    let call = first["call"].as_str().expect("a call");
    let path = format!("/bench/calls/{call}");
    let shown = lab.gateway.http.get(&path).await.json();
    assert_eq!(
        (&shown["call"], &shown["alias"], &shown["shadow"]),
        (&json!(call), &json!("beta"), &json!(false))
    );
    assert_eq!(shown["conversation"]["id"], first["conversation"]);
    assert_eq!(shown["turns"].as_array().map(Vec::len), Some(2), "{shown}");
    assert_eq!(shown["why"]["candidates"][1]["alias"], "beta", "of its first turn: {shown}");
    assert_eq!(shown["verdict"], Value::Null);

    let owed = lab.gateway.command("owed", &json!({})).await;
    assert_eq!(owed["calls"], json!([]));
    let given = json!({"call": call, "useful": true, "note": "it held"});
    assert_eq!(lab.gateway.command("give_verdict", &given).await["recorded"], true);
    assert_eq!(lab.gateway.http.get(&path).await.json()["verdict"]["note"], "it held");
    // Whoever tells of the next turn does not forget it, and neither does a restart.
    turn(&lab, "one").await;
    let id = json!({"id": first["conversation"]});
    let judged = lab.gateway.command("conversation", &id).await;
    assert_eq!(judged["calls"][0]["verdict"]["useful"], true, "{judged}");
    let Lab { upstream, gateway } = lab;
    let (home, code) = gateway.stop().await;
    assert_eq!(code, Some(0));
    let lab = Lab { upstream, gateway: home.serve().await };
    turn(&lab, "one").await;
    let after = lab.gateway.command("conversation", &id).await;
    assert_eq!(after["calls"][0]["verdict"]["useful"], true, "{after}");
    assert_eq!((&after["turns"], &after["failed_over"]), (&json!(4), &judged["failed_over"]), "{after}");
    assert_eq!(lab.gateway.command("clear_verdict", &json!({"call": call})).await["recorded"], true);
    assert_eq!(lab.gateway.command("conversation", &id).await["calls"][0]["verdict"], Value::Null);
}

#[tokio::test]
async fn a_shadow_stands_beside_its_turn_with_its_answer() {
    let lab = lab(|scenario| scenario.with("shadow", 1)).await;
    let first = turn(&lab, "one").await;
    let id = json!({"id": first["conversation"]});
    let gateway = &lab.gateway;
    let shadow = eventually("the shadow's answer", || async {
        let conversation = gateway.command("conversation", &id).await;
        conversation["calls"].as_array()?.iter().find(|call| call["shadow"] == true).cloned()
    })
    .await;
    assert_eq!((&shadow["turn"], &shadow["answer"]), (&json!(1), &json!("Done by gamma.")), "{shadow}");
    let call = shadow["call"].as_str().expect("a call");
    let shown = eventually("the shadow on record", || async {
        let answer = gateway.http.get(&format!("/bench/calls/{call}")).await;
        (answer.status == 200).then(|| answer.json())
    })
    .await;
    assert_eq!(
        (&shown["answer"], &shown["shadow"], &shown["turn"]),
        (&json!("Done by gamma."), &json!(true), &json!(1))
    );
    assert_eq!((&shown["conversation"]["id"], &shown["why"]), (&first["conversation"], &Value::Null));
    assert_eq!(gateway.command("owed", &json!({})).await["calls"], json!([]));
}

#[tokio::test]
async fn the_log_shows_conversations_and_one_of_them() {
    let lab = lab(|scenario| scenario.setting("keep_route_text", true)).await;
    let first = turn(&lab, "one").await;
    turn(&lab, "one").await;
    let id = first["conversation"].as_str().expect("an id");
    let home = &lab.gateway.home;
    let listed = home.bench(&["log"]).await.exits(0).stdout;
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 2, "{listed}");
    for said in
        [id, "agents", "beta", "answered", "2 turns", "1 failed over", "cost unknown", "Mend the loop."]
    {
        assert!(lines[1].contains(said), "{said}: {listed}");
    }
    let shown = home.bench(&["log", id]).await.exits(0).stdout;
    for said in [
        "turn 1 passed from alpha to beta: ",
        "why beta in turn 2: the conversation's model",
        "no evidence yet",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let one = home.bench(&["log", id, "--turn", "1"]).await.exits(0).stdout;
    for said in [
        "could not take it: delta (takes no tools",
        "why beta in turn 1: best record",
        "Mend the loop.",
        "Done by beta.",
    ] {
        assert!(one.contains(said), "{said}: {one}");
    }
    let page = home.bench(&["--json", "log", id, "-n", "1"]).await.exits(0).json();
    assert_eq!((&page["conversation"]["id"], &page["more"]), (&json!(id), &json!(true)));
    assert_eq!((&page["turns"][0]["turn"], &page["turns"][0]["answer"]), (&json!(2), &json!("")));
    let older = home.bench(&["--json", "log", id, "--before", "2"]).await.exits(0).json();
    assert_eq!(older["turns"].as_array().map(Vec::len), Some(1));
    let all = home.bench(&["--json", "log"]).await.exits(0).json();
    assert_eq!((&all["panels"], &all["conversations"][0]["id"]), (&json!([]), &json!(id)));

    assert!(home.bench(&["log", "r0"]).await.exits(1).stderr.contains("no conversation \"r0\""));
    assert!(home.bench(&["log", id, "--turn", "9"]).await.exits(1).stderr.contains("no turn 9"));
    assert!(home.bench(&["log", id, "--before", "p1"]).await.exits(2).stderr.contains("a turn's number"));
}
