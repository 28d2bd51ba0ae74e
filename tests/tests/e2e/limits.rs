//! Limits of endpoints, what is spent, and budgets: providers.md §5 and §6.

use std::sync::atomic::{AtomicUsize, Ordering};

use bench_tests::{
    Gate, Gateway, Lab, Scenario, Upstream, eventually,
    scenario::{KEY, question, served},
    upstream::{Reply, Script, TOKENS_IN, answers, fails, rate_limited, without_head},
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    apis::apis,
    checks::{panel_id, recorded, seat},
    staffed::{judge, staffed},
};

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

    // It was not sent: nothing cools, and the rule is shown as it stands.
    let limits = lab.gateway.command("limits", &json!({})).await;
    assert_eq!(limits["cooling"], json!([]));
    let rule = json!({"axis": "rpm", "window_s": 60, "limit": 1, "used": 1});
    assert_eq!(limits["connections"][0]["rules"], json!([rule]), "{limits}");
    assert_eq!(calls(&lab.gateway, "model").await, json!({"alpha": 1, "beta": 1}));
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

    let set = ["endpoint", "set", "tight", "--limit", "rpd=2"];

    lab.gateway.home.bench(&set).await.exits(0);
    assert_eq!(lab.http().chat(&question("one more")).await.status, 200);
    assert_eq!(lab.http().chat(&question("and no more")).await.status, 429);
    lab.gateway.home.bench(&["endpoint", "set", "tight", "--limit", "rpd="]).await.exits(0);
    assert_eq!(lab.http().chat(&question("as many as you like")).await.status, 200);
    lab.gateway.home.bench(&set).await.exits(0);
    assert_eq!(lab.http().chat(&question("a rule that is new")).await.status, 429);
    assert_eq!(asked(&lab, "alpha"), 3);
}

#[tokio::test]
async fn calls_that_a_kill_cut_off_count_and_stand_in_the_ledger() {
    let gate = Gate::shut();
    let lab = two(json!({"rpm": 3}), 0, &["alpha"]).await;
    lab.upstream.model(&served("alpha"), answers("Answer of alpha.").held(&gate));
    let mut asking = JoinSet::new();
    for body in [question("one"), question("two"), turn("three")] {
        let http = lab.http().clone();
        asking.spawn(async move { http.try_chat(&body).await });
    }
    lab.upstream.arrived(&served("alpha"), 3).await;
    let home = lab.gateway.kill().await;
    gate.open();

    let gateway = home.serve().await;
    for _ in 0..2 {
        assert_eq!(calls(&gateway, "purpose").await, json!({"panel": 2, "route": 1}));
        let refused = gateway.http.chat(&question("four")).await;
        assert_eq!(refused.status, 429, "{}", refused.text());
    }
    // Once is enough.
    let gateway = gateway.kill().await.serve().await;
    assert_eq!(calls(&gateway, "purpose").await, json!({"panel": 2, "route": 1}));
    let limits = gateway.command("limits", &json!({})).await;
    assert_eq!(limits["connections"][0]["rules"][0]["used"], 3, "{limits}");
}

#[tokio::test]
async fn a_question_that_went_out_again_counts_as_often_though_a_kill_cuts_it_off() {
    for (asked, body) in [("a panel", question("two")), ("a turn", turn("two"))] {
        let gate = Gate::shut();
        let lab = two(json!({"rpd": 9}), 0, &["alpha"]).await;
        let (held, times) = (gate.clone(), AtomicUsize::new(0));
        // The kept connection is closed on the second question, which goes out again and waits.
        let script = Script::by(move |_| match times.fetch_add(1, Ordering::Relaxed) {
            0 => answers("Answer of alpha."),
            1 => without_head(),
            _ => answers("Answer of alpha.").held(&held),
        });
        lab.upstream.model(&served("alpha"), script);
        assert_eq!(lab.http().chat(&question("one")).await.status, 200);
        let mut asking = JoinSet::new();
        let http = lab.http().clone();
        asking.spawn(async move { http.try_chat(&body).await });
        lab.upstream.arrived(&served("alpha"), 3).await;
        let used = async |gateway: &Gateway| {
            let limits = gateway.command("limits", &json!({})).await;
            limits["connections"][0]["rules"][0]["used"].clone()
        };
        assert_eq!(used(&lab.gateway).await, 3, "{asked}");
        let home = lab.gateway.kill().await;
        gate.open();
        let gateway = home.serve().await;
        assert_eq!(used(&gateway).await, 3, "{asked} after a kill");
    }
}

#[tokio::test]
async fn of_a_turn_that_a_kill_cut_off_each_call_counts() {
    let gate = Gate::shut();
    let upstream = Upstream::start().await;
    let scenario = Scenario::new().endpoint("fake", &upstream.base()).key("FAKE_KEY", KEY);
    upstream.model(&served("alpha"), fails(500, "server_error", "Try again."));
    upstream.model(&served("beta"), answers("Answer of beta.").held(&gate));
    let scenario =
        ["alpha", "beta"].into_iter().fold(scenario, |it, alias| it.model(alias, "fake", &served(alias)));
    let gateway = scenario.collection("core", &["alpha", "beta"]).start().await;
    let mut asking = JoinSet::new();
    let http = gateway.http.clone();
    asking.spawn(async move { http.try_chat(&turn("one")).await });
    upstream.arrived(&served("beta"), 1).await;
    // Noted while beta is waited for.
    eventually("beta to be noted", async || {
        let files = gateway.home.files();
        let (_, begun) = files.into_iter().find(|(path, _)| path.ends_with("records.begun"))?;
        String::from_utf8_lossy(&begun).contains("\"alias\":\"beta\"").then_some(())
    })
    .await;
    let home = gateway.kill().await;
    gate.open();

    let gateway = home.serve().await;
    assert_eq!(calls(&gateway, "model").await, json!({"alpha": 1, "beta": 1}));
    let page = gateway.command("conversations", &json!({"before": null, "limit": 10})).await;
    assert_eq!(page["conversations"][0]["status"], "cancelled", "{page}");
}

/// Calls by what `spend` is summed by.
async fn calls(gateway: &Gateway, by: &str) -> Value {
    let spend = gateway.command("spend", &json!({"by": by, "since": null})).await;
    let rows = spend["rows"].as_array().expect("rows");
    rows.iter().map(|row| (row["key"].as_str().expect("key").to_owned(), row["calls"].clone())).collect()
}

/// Both models cost a dollar for a million tokens in, and two for a million out.
async fn priced() -> Lab {
    let models = [("alpha", answers("Answer of alpha.").into()), ("beta", rate_limited(Some(1)).into())];
    let price = json!({"price": {"input": 1.0, "output": 2.0}});
    staffed(models, &["beta", "alpha"], |scenario| scenario.every_model("facts", &price)).await
}

/// What so many tokens out cost, for two questions' tokens in.
fn cost_of_two(out: u64) -> f64 {
    (2.0 * TOKENS_IN as f64 + 2.0 * out as f64) / 1e6
}

#[tokio::test]
async fn every_call_stands_in_the_ledger_with_what_it_cost() {
    let lab = priced().await;
    let reply = lab.http().chat(&question("a panel")).await.json();
    let call = format!("{}.member2", panel_id(&reply));
    let kept = recorded(&lab.gateway, &call).await;
    assert_eq!((&kept["alias"], &kept["tokens_in"]), (&json!("alpha"), &json!(TOKENS_IN)), "{kept}");
    let out = kept["tokens_out"].as_u64().expect("tokens out");
    assert_eq!(kept["cost"], json!((TOKENS_IN as f64 + 2.0 * out as f64) / 1e6), "{kept}");
    lab.gateway.command("clear_cooldown", &json!({"name": "beta"})).await;

    // A turn whose first member fails is two calls.
    let routed = lab.http().chat(&turn("a turn")).await.json();
    assert_eq!(routed["bench"]["alias"], "alpha", "{routed}");
    eventually("both of the turn's calls", || async {
        (calls(&lab.gateway, "purpose").await["route"] == 2).then_some(())
    })
    .await;
    judge(&lab.gateway, &call, true).await;
    let spend = lab.gateway.command("spend", &json!({"by": "model", "since": "1h"})).await;
    let rows = spend["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 2, "{spend}");
    let alpha = &rows[0];
    assert_eq!(
        [&alpha["key"], &alpha["calls"], &alpha["tokens_fresh"], &alpha["useful"]],
        [&json!("alpha"), &json!(2), &json!(2 * TOKENS_IN), &json!(1)]
    );
    let wanted = cost_of_two(alpha["tokens_out"].as_u64().expect("tokens out"));
    for cost in [&alpha["cost"], &alpha["cost_per_useful"]] {
        assert!((cost.as_f64().expect("cost") - wanted).abs() < 1e-12, "{alpha}");
    }
    assert_eq!(
        [&rows[1]["key"], &rows[1]["calls"], &rows[1]["cost"], &rows[1]["cost_unknown"]],
        [&json!("beta"), &json!(2), &json!(0.0), &json!(2)]
    );
    for (by, wanted) in [
        ("purpose", json!({"panel": 2, "route": 2})),
        ("collection", json!({"core": 4})),
        ("endpoint", json!({"fake": 4})),
        ("caller", json!({"local": 4})),
    ] {
        assert_eq!(calls(&lab.gateway, by).await, wanted, "{by}");
    }
    let told = lab.gateway.home.bench(&["spend", "--by", "purpose"]).await.exits(0).stdout;
    assert!(told.contains("panel") && told.contains("under $0.0001"), "{told}");
    lab.gateway.home.bench(&["spend", "--since", "yesterday"]).await.exits(1);
}

#[tokio::test]
async fn a_budget_that_is_spent_is_429_before_anybody_is_asked() {
    let lab = priced().await;
    let save = ["collection", "save", "core", "--budget-tokens", "20", "--per", "day"];
    lab.gateway.home.bench(&save).await.exits(0);
    assert_eq!(lab.http().chat(&question("one")).await.status, 200);
    assert_eq!(lab.http().chat(&turn("two")).await.status, 200);
    let before = (asked(&lab, "alpha"), asked(&lab, "beta"));
    for body in [question("three"), turn("three")] {
        let answer = lab.http().chat(&body).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.json()["error"]["code"]),
            (429, &json!("budget_reached"))
        );
        assert!(answer.text().contains("the budget of 20 tokens a day is spent"), "{}", answer.text());
        assert!((1..=86_400).contains(&retry_after(&answer)));
    }
    assert_eq!((asked(&lab, "alpha"), asked(&lab, "beta")), before);

    // It is known after a restart, and a budget in dollars knows what was spent before it.
    let Lab { upstream, gateway } = lab;
    let home = gateway.home.clone();
    gateway.stop().await;
    let lab = Lab { upstream, gateway: home.serve().await };
    assert_eq!(lab.http().chat(&question("four")).await.status, 429);
    home.bench(&["collection", "save", "core", "--no-budget"]).await.exits(0);
    assert_eq!(lab.http().chat(&question("five")).await.status, 200);
    home.bench(&["collection", "save", "core", "--budget-dollars", "0.00001", "--per", "month"])
        .await
        .exits(0);
    let refused = lab.http().chat(&question("six")).await;
    assert_eq!(refused.status, 429, "{}", refused.text());
    let shown = home.bench(&["collection", "show", "core"]).await.exits(0).stdout;
    assert!(shown.contains("$0.00001 a month"), "{shown}");
}

#[tokio::test]
async fn what_cools_is_shown_and_cleared_and_known_after_a_restart() {
    let models = [("alpha", rate_limited(Some(3_000)).into())];
    let lab = staffed(models, &["alpha"], |scenario| scenario).await;
    assert_eq!(lab.http().chat(&question("one")).await.status, 429);
    let Lab { upstream, gateway } = lab;
    let home = gateway.home.clone();
    gateway.stop().await;
    let lab = Lab { upstream, gateway: home.serve().await };
    let limits = lab.gateway.command("limits", &json!({})).await;
    let cooling = &limits["cooling"][0];
    assert_eq!((&cooling["name"], &cooling["is_connection"]), (&json!("alpha"), &json!(false)), "{limits}");
    assert_eq!(cooling["why"], "a rate limit, for as long as the provider said");
    assert!(home.bench(&["limits"]).await.exits(0).stdout.contains("cooling down"));
    home.bench(&["limits", "clear", "alpha"]).await.exits(0);
    assert_eq!(lab.gateway.command("limits", &json!({})).await["cooling"], json!([]));
    let again = home.bench(&["limits", "clear", "alpha"]).await.exits(1);
    assert!(again.stderr.contains("Nothing is cooling down"), "{}", again.stderr);
}

#[tokio::test]
async fn what_providers_say_of_quotas_is_kept() {
    let quota = |reply: Reply| {
        reply.header("x-ratelimit-limit-requests", "30").header("x-ratelimit-remaining-requests", "29")
    };
    let models = [("alpha", quota(answers("Answer of alpha.")).into())];
    let lab = staffed(models, &["alpha"], |scenario| scenario).await;
    assert_eq!(lab.http().chat(&question("one")).await.status, 200);
    assert_eq!(lab.http().chat(&turn("two")).await.status, 200);
    let Lab { upstream, gateway } = lab;
    let home = gateway.home.clone();
    gateway.stop().await;
    let lab = Lab { upstream, gateway: home.serve().await };
    let limits = lab.gateway.command("limits", &json!({})).await;
    let of = &limits["connections"][0];
    let quota = &of["quota"][0];
    assert_eq!(
        [&of["connection"], &quota["model"], &quota["metric"], &quota["limit"], &quota["remaining"]],
        [&json!("fake"), &json!(served("alpha")), &json!("requests"), &json!(30), &json!(29)],
        "{limits}"
    );
    assert!(quota["seen_at"].as_str().is_some_and(|at| at.ends_with('Z')), "{quota}");
}

#[tokio::test]
async fn a_seat_that_was_not_sent_says_by_which_rule_after_a_restart_too() {
    let lab = two(json!({"rpd": 1}), 0, &["alpha", "beta"]).await;
    lab.http().chat(&question("one")).await.json();
    let second = lab.http().chat(&question("two")).await.json();
    let id = panel_id(&second);
    let told = async |gateway: &Gateway| {
        let panel = gateway.command("panel", &json!({"id": id})).await;
        let seats = panel["seats"].as_array().expect("seats").clone();
        seats.into_iter().find(|it| it["alias"] == "alpha").expect("the seat")
    };
    let rule = "not sent: our own limit of 1 request a day on tight is reached";
    let live = told(&lab.gateway).await;
    assert_eq!(live["status"], "error", "{live}");
    assert!(live["error"].as_str().is_some_and(|why| why.starts_with(rule)), "{live}");
    assert!(!live["error"].as_str().is_some_and(|why| why.contains("429")), "nobody answered so: {live}");
    let (home, _) = lab.gateway.stop().await;
    let kept = told(&home.serve().await).await;
    assert_eq!((&kept["status"], &kept["error"]), (&live["status"], &live["error"]));
}

#[tokio::test]
async fn how_models_stand_and_what_a_budget_has_left_is_told() {
    let lab = two(json!({"rpm": 1}), 0, &["alpha", "beta"]).await;
    let first = lab.http().chat(&question("one")).await.json();
    judge(&lab.gateway, &format!("{}.member2", panel_id(&first)), true).await;
    lab.upstream.model(&served("beta"), rate_limited(Some(40)));
    lab.http().chat(&question("two")).await;
    let records = lab.gateway.command("model_records", &json!({})).await;
    let of = |alias: &str| {
        records.as_array().expect("records").iter().find(|it| it["alias"] == alias).expect("a record").clone()
    };
    let (alpha, beta) = (of("alpha"), of("beta"));
    assert_eq!((&alpha["state"], &alpha["offloads"]), (&json!("over_limit"), &json!(1)), "{alpha}");
    assert_eq!(alpha["why"], "at a limit of its endpoint");
    assert_eq!((&beta["state"], &beta["offloads"]), (&json!("resting"), &json!(2)), "{beta}");
    assert_eq!((&beta["useful"], &beta["judged"], &beta["answers"]), (&json!(1), &json!(1), &json!(1)));
    assert!(beta["until"].is_string() && beta["seconds"].is_number(), "{beta}");
    lab.gateway.command("retire_model", &json!({"alias": "alpha", "why": "done"})).await;
    let records = lab.gateway.command("model_records", &json!({})).await;
    assert_eq!((&records[0]["state"], &records[0]["why"]), (&json!("retired"), &json!("done")));
    assert_eq!(lab.gateway.command("limits", &json!({})).await["budgets"], json!([]));
}
