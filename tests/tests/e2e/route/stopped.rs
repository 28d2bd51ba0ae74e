//! The gateway ends while turns are on their way, told to or not: they are on record, and whoever is still there is told.

use bench_tests::{
    Gate, Gateway, Home, Lab, Scenario, Upstream, eventually,
    upstream::{Api, End, Said, Script, Step, never_ends, stalls},
};
use http::{HeaderMap, Response};
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{
    caller::{Ask, Caller},
    heard::Heard,
    lab::{named, routed, served, with_member},
};

/// Says half of its answer, and the rest when the gate is open.
fn half(gate: &Gate) -> Script {
    let gate = gate.clone();
    Script::in_any(move |api, request| {
        let reply = request.told(api, &[Said::Text("Half of the answer")], End::Proper);
        let holds =
            |step: &Step| matches!(step, Step::Send(bytes) if bytes.windows(3).any(|it| it == b"of "));
        let at = reply.steps.iter().position(holds).expect("the words");
        reply.at(at + 1, Step::Wait(gate.clone()))
    })
}

/// A conversation with a model under its own name.
fn with(alias: &str, caller: Caller) -> Ask {
    Ask::of(&format!("{caller:?} of {alias}")).model(&format!("bench/model/{alias}"))
}

/// Every caller, of a member of its own API and of one of another.
fn pairs() -> Vec<(Caller, &'static str)> {
    let own = |caller: Caller| caller.own().map_or("chat", Api::name);
    let other = |caller: Caller| if own(caller) == "anthropic" { "gemini" } else { "anthropic" };
    Caller::ALL.into_iter().flat_map(|caller| [(caller, own(caller)), (caller, other(caller))]).collect()
}

/// A model of every API that stops half way, and two that say nothing, and one that says too much.
async fn halves(gate: &Gate) -> Lab {
    let upstream = Upstream::start().await;
    let mut scenario = Scenario::new();
    for (alias, api, script) in Api::ALL.into_iter().map(|api| (api.name(), api, half(gate))).chain([
        ("silent", Api::Chat, stalls().into()),
        ("mute", Api::Anthropic, stalls().into()),
        ("endless", Api::Chat, never_ends(30).into()),
    ]) {
        upstream.model(&served(alias), script);
        scenario = with_member(scenario, alias, &upstream.base_of(api), api);
    }
    Lab { upstream, gateway: scenario.start().await }
}

/// Asks all of them for a stream; each has its head when this is done, and half of its answer.
async fn heads(lab: &Lab) -> Vec<(Caller, &'static str, Response<Incoming>)> {
    let mut heads = Vec::new();
    for (caller, alias) in pairs() {
        heads.push((caller, alias, caller.head(lab.http(), &with(alias, caller), true).await));
    }
    heads
}

/// The only turn of every conversation there is.
async fn turns(gateway: &Gateway) -> Vec<Value> {
    let page = gateway.command("conversations", &json!({"before": null, "limit": 100})).await;
    let mut turns = Vec::new();
    for conversation in page["conversations"].as_array().expect("conversations") {
        assert_eq!((&conversation["running"], &conversation["turns"]), (&json!(false), &json!(1)));
        let asked = json!({"conversation": conversation["id"], "before": null, "limit": 10, "texts": false});
        let told = gateway.command("turns", &asked).await;
        turns.extend(told["turns"].as_array().expect("turns").iter().cloned());
    }
    turns
}

fn conversation(headers: &HeaderMap) -> String {
    headers["x-bench-conversation"].to_str().expect("text").to_owned()
}

#[tokio::test]
async fn asked_to_stop_it_tells_the_callers_that_are_left_and_records_their_turns() {
    let gate = Gate::shut();
    let lab = halves(&gate).await;
    let mut reading = JoinSet::new();
    for (caller, alias, head) in heads(&lab).await {
        reading.spawn(async move { (caller, alias, Heard::read(caller, true, head).await) });
    }
    let mut waiting = JoinSet::new();
    for (alias, caller, stream) in [("silent", Caller::Chat, false), ("mute", Caller::Responses, true)] {
        let http = lab.http().clone();
        waiting.spawn(async move { caller.either(&http, &with(alias, caller), stream).await });
        lab.upstream.arrived(&served(alias), 1).await;
    }
    // One that does not read what it asked for is told nothing, and kept for no longer.
    let unread = Caller::Chat.head(lab.http(), &with("endless", Caller::Chat), true).await;
    let (home, code) = lab.gateway.stop().await;
    assert_eq!(code, Some(0), "{}", home.logs());
    drop(unread);
    while let Some(read) = reading.join_next().await {
        let (caller, alias, heard) = read.expect("read");
        let what = format!("{caller:?} of {alias}: {}", heard.raw);
        assert_eq!((heard.status, heard.is_whole(), heard.proper), (200, false, false), "{what}");
        assert_eq!(heard.text(), "Half of ", "{what}");
        assert!(heard.said_error().contains("Benchwarmers is stopping"), "{what}");
    }
    while let Some(heard) = waiting.join_next().await {
        let heard = heard.expect("heard");
        // Where the head had to go out before anybody answered, it stands in the stream.
        assert!(heard.said_error().contains("Benchwarmers is stopping"), "{}", heard.raw);
        assert!(!heard.is_whole(), "{}", heard.raw);
    }
    let gateway = home.serve().await;
    let turns = turns(&gateway).await;
    assert_eq!(turns.len(), pairs().len() + 3);
    for turn in turns {
        assert_eq!(turn["status"], "cancelled", "{turn}");
        assert!(turn["error"].as_str().is_some_and(|why| why.contains("stopped")), "{turn}");
        let answered = !["silent", "mute"].contains(&turn["alias"].as_str().expect("text"));
        assert_eq!(turn["call"].as_str().is_some_and(|call| !call.is_empty()), answered, "{turn}");
    }
}

/// How many turns stand in the file of those on their way, and how many of these are being answered.
fn noted(home: &Home) -> (usize, usize) {
    let files = home.files();
    let begun = files.iter().find(|(path, _)| path.ends_with("records.begun"));
    let bytes = begun.map_or(&[][..], |(_, bytes)| bytes);
    let lines = bytes.chunks(4096).filter_map(|place| place.split(|byte| *byte == b'\n').next());
    let turns: Vec<Value> =
        lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok()?.get("turn").cloned()).collect();
    (turns.len(), turns.iter().filter(|turn| turn["call"] != "").count())
}

#[tokio::test]
async fn killed_it_records_at_its_next_start_what_was_on_its_way() {
    let gate = Gate::shut();
    let lab = halves(&gate).await;
    let before = lab.http().clone();
    let heads = heads(&lab).await;
    let mut waiting = JoinSet::new();
    waiting.spawn(async move {
        let ask = with("silent", Caller::Chat);
        let body = Caller::Chat.body(&ask, false);
        before.try_chat(&body).await
    });
    let all = pairs().len();
    eventually("every turn to be noted", async || (noted(&lab.gateway.home) == (all + 1, all)).then_some(()))
        .await;
    let home = lab.gateway.kill().await;
    assert!(waiting.join_next().await.expect("one").expect("asked").is_none());

    let gateway = home.serve().await;
    let turns = turns(&gateway).await;
    assert_eq!(turns.len(), all + 1);
    for turn in &turns {
        assert_eq!(turn["status"], "cancelled", "{turn}");
        assert!(turn["error"].as_str().is_some_and(|why| why.contains("ended while")), "{turn}");
        assert_eq!(turn["call"] == "", turn["alias"] == "silent", "{turn}");
    }
    // A conversation that was cut off goes on with its model.
    gate.open();
    for (caller, alias, head) in heads {
        let heard = caller.ask(&gateway.http, &with(alias, caller)).await;
        assert_eq!(
            heard.conversation(),
            conversation(head.headers()),
            "{caller:?} of {alias}: {}",
            heard.raw
        );
        assert!(turns.iter().any(|turn| turn["conversation"] == heard.conversation()));
        if heard.bench.is_some() {
            assert_eq!(heard.bench("turn"), 2, "{}", heard.raw);
        }
    }
    // What was recorded once is not recorded again.
    let gateway = gateway.kill().await.serve().await;
    let page = gateway.command("conversations", &json!({"before": null, "limit": 100})).await;
    assert_eq!(page["conversations"].as_array().map(Vec::len), Some(all + 1));
}

/// Nothing came on a connection that had been used: the member is asked once more, and keeps its conversation.
#[tokio::test]
async fn a_kept_connection_that_is_closed_just_then_costs_a_conversation_nothing() {
    for ends in [Step::Close, Step::Reset] {
        let ends = bench_tests::upstream::Reply { before: vec![ends], head: false, ..stalls() };
        let says = |text: &'static str| bench_tests::upstream::answers(text);
        let alpha =
            Script::turns(vec![says("One."), ends.clone(), says("Two."), ends.clone(), ends, says("Three.")]);
        let lab = routed([("alpha", Api::Chat, alpha), ("beta", Api::Chat, named("beta"))]).await;
        let ask = Ask::of("fix it");
        let first = Caller::Chat.stream(lab.http(), &ask).await;
        assert_eq!((first.by(), first.text().as_str()), ("alpha", "One."), "{}", first.raw);
        let second = Caller::Chat.stream(lab.http(), &ask.clone().then(&first, "and that")).await;
        assert_eq!((second.by(), second.text().as_str()), ("alpha", "Two."), "{}", second.raw);
        assert_eq!(second.bench("failed_over"), Value::Null);
        // A new connection that is closed too is a member that fails.
        let third = Caller::Chat.stream(lab.http(), &ask.then(&second, "and those")).await;
        assert_eq!(third.by(), "beta", "{}", third.raw);
        assert_eq!(lab.upstream.asked(&served("alpha")).len(), 5);
    }
}
