//! Budgets count what was taken, whoever hung up on it and whenever they were made: providers.md §6.

use std::sync::atomic::{AtomicBool, Ordering};

use bench_tests::{
    Gate, Gateway, Lab, Scenario, Upstream, eventually,
    http::Answer,
    scenario::{KEY, question, served},
    upstream::{Api, COST, End, Said, Script, Step, TOKENS_IN, answers, cut_mid_chunk, empty},
    within,
};
use http::Method;
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::metering::{started_again, used};

/// Forty words: by four bytes a token sixty tokens.
const LONG: &str = "alpha bravo cedar delta eager fable giant haste ideal joker karma lemon maple north \
                    ocean piano quiet river stone table umber vivid whale xenon young zebra amber birch \
                    coral dusty ember flint grape hazel ivory jelly kiosk lilac mango nymph";
const SAID: u64 = (LONG.len() as u64).div_ceil(4);

/// Says all of it and never that it is done.
fn never_done() -> Script {
    Script::in_any(|api, request| {
        let reply = request.told(api, &[Said::Text(LONG)], End::Proper);
        let last =
            |step: &Step| matches!(step, Step::Send(bytes) if bytes.windows(5).any(|it| it == b"nymph"));
        let at = reply.steps.iter().rposition(last).expect("the last word");
        reply.at(at + 1, Step::Stall)
    })
}

/// `core` answers as a turn: `alpha`, of this API.
async fn turns_of(api: Api, script: impl Into<Script>) -> Lab {
    let upstream = Upstream::start().await;
    upstream.model(&served("alpha"), script);
    let gateway = Scenario::new()
        .endpoint("fake", &upstream.base_of(api))
        .api(api.name())
        .key("FAKE_KEY", KEY)
        .model("alpha", "fake", &served("alpha"))
        .every_model("facts", &json!({"price": {"input": 1.0, "output": 2.0}}))
        .collection("core", &["alpha"])
        .with("reply", "route")
        .start()
        .await;
    Lab { upstream, gateway }
}

async fn budget(gateway: &Gateway, tokens: u64) {
    let tokens = tokens.to_string();
    let save = ["collection", "save", "core", "--budget-tokens", &tokens, "--per", "day"];
    gateway.home.bench(&save).await.exits(0);
}

async fn no_budget(gateway: &Gateway) {
    gateway.home.bench(&["collection", "save", "core", "--no-budget"]).await.exits(0);
}

async fn make_key(gateway: &Gateway, tokens: u64) -> String {
    let asked = json!({"name": "desk", "budget": {"tokens": tokens, "per": "day"}});
    gateway.command("create_key", &asked).await["text"].as_str().expect("text").to_owned()
}

/// What is spent of `core`'s budget.
async fn of_core(gateway: &Gateway) -> Value {
    gateway.command("limits", &json!({})).await["budgets"][0].clone()
}

async fn tokens(gateway: &Gateway) -> u64 {
    of_core(gateway).await["tokens"].as_u64().expect("a budget")
}

/// All that is in the ledger.
async fn ledger(gateway: &Gateway) -> Value {
    gateway.command("spend", &json!({"by": "collection", "since": null})).await["rows"][0].clone()
}

async fn written(gateway: &Gateway, calls: u64) -> Value {
    eventually("the calls in the ledger", async || {
        let row = ledger(gateway).await;
        (row["calls"] == calls).then_some(row)
    })
    .await
}

fn turn(text: &str) -> Value {
    json!({"model": "bench/core", "max_tokens": 30_000, "messages": [{"role": "user", "content": text}]})
}

/// Asks for a stream with a key, or without.
async fn head(gateway: &Gateway, path: &str, key: Option<&str>) -> http::Response<hyper::body::Incoming> {
    let mut body = turn("whom?");
    body["stream"] = json!(true);
    let mut request = gateway.http.request(Method::POST, path).header("content-type", "application/json");
    if let Some(key) = key {
        request = request.header("x-api-key", key);
    }
    gateway.http.head(request, body.to_string()).await
}

/// Reads streams and hangs up on each before its end, until one is refused: how many were read.
async fn hang_ups(gateway: &Gateway, path: &str, key: Option<&str>) -> u64 {
    let before = ledger(gateway).await["calls"].as_u64().unwrap_or(0);
    for read in 0..10 {
        let response = head(gateway, path, key).await;
        if response.status() == 429 {
            let refused: Answer = bench_tests::http::whole(response).await;
            assert!(refused.text().contains("is whole again"), "{}", refused.text());
            return read;
        }
        assert_eq!(response.status(), 200, "{path}");
        let mut body = response.into_body();
        let mut said = Vec::new();
        while !said.windows(5).any(|it| it == b"nymph") {
            let frame = within("the next piece", body.frame()).await.expect("more").expect("a frame");
            said.extend_from_slice(frame.data_ref().expect("data"));
        }
        drop(body);
        written(gateway, before + read + 1).await;
    }
    panic!("no budget was ever spent")
}

const CHAT: &str = "/v1/chat/completions";
const MESSAGES: &str = "/v1/messages";

#[tokio::test]
async fn a_stream_that_is_hung_up_on_counts_with_what_it_has_said() {
    // Relayed, and translated.
    for (path, api) in
        [(CHAT, Api::Chat), (MESSAGES, Api::Anthropic), (CHAT, Api::Anthropic), (MESSAGES, Api::Chat)]
    {
        let what = format!("{path} of {api:?}");
        let lab = turns_of(api, never_done()).await;
        budget(&lab.gateway, 2 * SAID).await;
        assert_eq!(hang_ups(&lab.gateway, path, None).await, 2, "{what}");
        let spent = of_core(&lab.gateway).await;
        // Not the whole room that it had; and what it was asked, as the member said, or else by the estimate.
        let took = spent["tokens"].as_u64().expect("tokens");
        let asked = if api == Api::Anthropic { COST.input..=COST.input } else { 1..=20 };
        assert!((2 * (SAID + asked.start())..=2 * (SAID + asked.end())).contains(&took), "{what}: {spent}");
        assert_eq!((&spent["tokens_unknown"], &spent["cost_unknown"]), (&json!(2), &json!(0)), "{what}");
        let dollars = spent["dollars"].as_f64().expect("dollars");
        let wanted = (took + 2 * SAID) as f64 / 1e6;
        assert!((dollars - wanted).abs() < 1e-12, "{what}: {spent}");
        // Nobody counted it.
        let row = ledger(&lab.gateway).await;
        assert_eq!(
            [&row["tokens_fresh"], &row["tokens_out"], &row["tokens_unknown"], &row["cost_unknown"]],
            [&json!(0), &json!(0), &json!(2), &json!(2)],
            "{what}: {row}"
        );
        let lab = started_again(lab).await;
        assert_eq!(of_core(&lab.gateway).await, spent, "{what} after a restart");
        assert_eq!(hang_ups(&lab.gateway, path, None).await, 0, "{what} after a restart");
        // A limit that is made afterwards counts what it might have taken.
        lab.gateway.home.bench(&["endpoint", "set", "fake", "--limit", "tpd=100000"]).await.exits(0);
        assert!(used(&lab.gateway).await >= 2 * 4_096, "{what}");
    }
}

#[tokio::test]
async fn the_same_of_a_keys_budget() {
    for (path, api) in [(CHAT, Api::Chat), (MESSAGES, Api::Anthropic), (CHAT, Api::Anthropic)] {
        let lab = turns_of(api, never_done()).await;
        let key = make_key(&lab.gateway, 2 * SAID).await;
        assert_eq!(hang_ups(&lab.gateway, path, Some(&key)).await, 2, "{path} of {api:?}");
        let Lab { upstream, gateway } = lab;
        let gateway = gateway.kill().await.serve().await;
        assert_eq!(hang_ups(&gateway, path, Some(&key)).await, 0, "{path} of {api:?} after a kill");
        drop(upstream);
    }
}

#[tokio::test]
async fn an_answer_that_was_counted_counts_exactly() {
    let lab = turns_of(Api::Chat, answers("Answer of alpha.")).await;
    budget(&lab.gateway, 1_000).await;
    let answer = lab.http().chat(&turn("one")).await.json();
    let took = TOKENS_IN + answer["usage"]["completion_tokens"].as_u64().expect("tokens out");
    assert_eq!(tokens(&lab.gateway).await, took);
    let streamed = lab.http().stream(&turn("two")).await.rest().await;
    assert!(streamed.text().contains("alpha"), "{}", streamed.text());
    let panel = json!({"model": "bench/core:all", "messages": [{"role": "user", "content": "three"}]});
    assert_eq!(lab.http().chat(&panel).await.status, 200);
    let spent = of_core(&lab.gateway).await;
    assert_eq!((&spent["tokens"], &spent["tokens_unknown"]), (&json!(3 * took), &json!(0)), "{spent}");
    assert_eq!(of_core(&started_again(lab).await.gateway).await, spent);
}

#[tokio::test]
async fn seats_that_are_cut_off_or_cancelled_count_with_what_they_have_said() {
    let upstream = Upstream::start().await;
    upstream.model(&served("alpha"), never_done());
    upstream.model(&served("beta"), cut_mid_chunk(8));
    let scenario = Scenario::new().endpoint("fake", &upstream.base()).key("FAKE_KEY", KEY);
    let gateway = ["alpha", "beta"]
        .into_iter()
        .fold(scenario, |it, alias| it.model(alias, "fake", &served(alias)))
        .collection("core", &["alpha", "beta"])
        .with("budget", json!({"tokens": 9_000, "per": "day"}))
        .setting("panel_on_hangup", "cancel")
        .setting("reserves", 0)
        .start()
        .await;
    let stream = gateway.http.stream(&question("whom?")).await;
    // It is cut off after eight pieces of seven bytes.
    written(&gateway, 1).await;
    let cut = tokens(&gateway).await;
    assert!((15..40).contains(&cut), "{cut}");
    drop(stream);
    written(&gateway, 2).await;
    let both = of_core(&gateway).await;
    let cancelled = both["tokens"].as_u64().expect("tokens") - cut;
    assert!((SAID..SAID + 30).contains(&cancelled), "{both}");
    let (home, _) = gateway.stop().await;
    assert_eq!(of_core(&home.serve().await).await, both);
}

#[tokio::test]
async fn what_a_kill_cuts_off_counts_with_what_it_was_asked() {
    let gate = Gate::shut();
    let lab = turns_of(Api::Chat, answers("Answer of alpha.").held(&gate)).await;
    budget(&lab.gateway, 1_000).await;
    let mut asking = tokio::task::JoinSet::new();
    let panel = json!({"model": "bench/core:all", "messages": [{"role": "user", "content": LONG}]});
    for body in [turn(LONG), panel] {
        let http = lab.http().clone();
        asking.spawn(async move { http.try_chat(&body).await });
    }
    lab.upstream.arrived(&served("alpha"), 2).await;
    eventually("the turn to be noted", async || {
        let files = lab.gateway.home.files();
        let (_, begun) = files.into_iter().find(|(path, _)| path.ends_with("records.begun"))?;
        let begun = String::from_utf8_lossy(&begun).into_owned();
        (begun.contains("\"purpose\":\"route\"") && begun.contains("\"purpose\":\"panel\"")).then_some(())
    })
    .await;
    let Lab { gateway, upstream } = lab;
    let gateway = gateway.kill().await.serve().await;
    gate.open();
    let spent = of_core(&gateway).await;
    let took = spent["tokens"].as_u64().expect("tokens");
    assert!((2 * SAID..2 * SAID + 60).contains(&took), "{spent}");
    assert_eq!(spent["tokens_unknown"], 2, "{spent}");
    drop(upstream);
}

/// Answers at once where it is asked so, and else when the gate is open.
fn held_if_asked(gate: &Gate) -> Script {
    let gate = gate.clone();
    Script::by(move |request| match request.json().to_string().contains("hold on") {
        true => answers("Answer of alpha.").held(&gate),
        false => answers("Answer of alpha."),
    })
}

#[tokio::test]
async fn a_budget_that_is_made_while_calls_are_under_way_counts_each_once() {
    let gate = Gate::shut();
    let lab = turns_of(Api::Chat, held_if_asked(&gate)).await;
    let answer = lab.http().chat(&turn("ended before")).await.json();
    let took = TOKENS_IN + answer["usage"]["completion_tokens"].as_u64().expect("tokens out");
    let panel = json!({"model": "bench/core:all", "messages": [{"role": "user", "content": "hold on"}]});
    let held = turn("hold on");
    let (one, two, ()) = tokio::join!(lab.http().chat(&held), lab.http().chat(&panel), async {
        lab.upstream.arrived(&served("alpha"), 3).await;
        budget(&lab.gateway, 10_000).await;
        assert_eq!(tokens(&lab.gateway).await, took);
        no_budget(&lab.gateway).await;
        assert_eq!(lab.http().chat(&turn("ended without one")).await.status, 200);
        budget(&lab.gateway, 10_000).await;
        assert_eq!(tokens(&lab.gateway).await, 2 * took);
        gate.open();
    });
    assert_eq!((one.status.as_u16(), two.status.as_u16()), (200, 200));
    assert_eq!(tokens(&lab.gateway).await, 4 * took);
    assert_eq!(tokens(&started_again(lab).await.gateway).await, 4 * took);
}

/// A turn's first member has ended when the budget is made, and its row is written with the turn.
#[tokio::test]
async fn what_has_ended_and_is_not_written_counts_once() {
    let gate = Gate::shut();
    let upstream = Upstream::start().await;
    upstream.model(&served("alpha"), empty());
    upstream.model(&served("beta"), answers("Answer of beta.").held(&gate));
    let scenario = Scenario::new().endpoint("fake", &upstream.base()).key("FAKE_KEY", KEY);
    let gateway = ["alpha", "beta"]
        .into_iter()
        .fold(scenario, |it, alias| it.model(alias, "fake", &served(alias)))
        .collection("core", &["alpha", "beta"])
        .with("reply", "route")
        .start()
        .await;
    let body = turn("whom?");
    let (answer, ()) = tokio::join!(gateway.http.chat(&body), async {
        upstream.arrived(&served("beta"), 1).await;
        let asked = upstream.asked(&served("alpha")).len() as u64;
        for _ in 0..3 {
            budget(&gateway, 10_000).await;
            assert_eq!(tokens(&gateway).await, asked * TOKENS_IN);
            no_budget(&gateway).await;
        }
        budget(&gateway, 10_000).await;
        gate.open();
    });
    let asked = upstream.asked(&served("alpha")).len() as u64;
    let took = TOKENS_IN + answer.json()["usage"]["completion_tokens"].as_u64().expect("tokens out");
    assert_eq!(tokens(&gateway).await, asked * TOKENS_IN + took);
}

#[tokio::test]
async fn budgets_that_come_and_go_under_load_lose_and_double_nothing() {
    let lab = turns_of(Api::Chat, answers("Answer of alpha.")).await;
    let done = AtomicBool::new(false);
    let work = async |panel: bool| {
        for n in 0.. {
            if done.load(Ordering::Relaxed) {
                break;
            }
            let mut body = turn(&format!("question {n}"));
            if panel {
                body["model"] = json!("bench/core:all");
            }
            assert_eq!(lab.http().chat(&body).await.status, 200);
        }
    };
    let changes = async {
        for _ in 0..6 {
            no_budget(&lab.gateway).await;
            budget(&lab.gateway, 1_000_000_000).await;
        }
        done.store(true, Ordering::Relaxed);
    };
    tokio::join!(changes, work(true), work(false), work(true), work(false), work(true), work(false));
    let row = ledger(&lab.gateway).await;
    let of = |name: &str| row[name].as_u64().expect("a number");
    assert!(of("calls") > 12, "{row}");
    assert_eq!(tokens(&lab.gateway).await, of("tokens_fresh") + of("tokens_out"), "{row}");
}
