//! The caller of a turn hangs up: route.md §4, wire.md §6.

use bench_tests::{
    Gate, Lab, eventually,
    upstream::{Api, Received, Reply, Script, Step},
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{
    caller::{Ask, Caller},
    lab::{asked, conversations, named, routed, routed_as, says, served},
};

/// The newest conversation, once its turn has ended.
async fn ended(lab: &Lab) -> Value {
    eventually("the turn's end", async || {
        let newest = conversations(&lab.gateway).await.into_iter().next()?;
        (newest["running"] == false).then_some(newest)
    })
    .await
}

/// Asks, and holds the reply when its head has come, without reading on; the gate says when.
fn hold(lab: &Lab, caller: Caller, stream: bool) -> (JoinSet<()>, Gate) {
    let (http, answered) = (lab.http().clone(), Gate::shut());
    let gate = answered.clone();
    let mut asking = JoinSet::new();
    asking.spawn(async move {
        let response = caller.head(&http, &Ask::of("hi"), stream).await;
        gate.open();
        std::future::pending::<()>().await;
        drop(response);
    });
    (asking, answered)
}

/// Says some, then waits to be let on; the whole of it only when it is asked whole.
fn slowly(api: Api, request: &Received, gate: &Gate, early: bool) -> Reply {
    let reply = says(api, request, "one two three four");
    match (early, request.wants_stream()) {
        (true, _) | (_, false) => reply.held(gate),
        (false, true) => {
            // After the first piece of text, whatever comes before it in this API.
            let at = reply
                .steps
                .iter()
                .position(|step| matches!(step, Step::Send(bytes) if has(bytes, b"one ")))
                .expect("a piece");
            reply.at(at + 1, Step::Wait(gate.clone()))
        }
    }
}

fn has(bytes: &[u8], words: &[u8]) -> bool {
    bytes.windows(words.len()).any(|window| window == words)
}

#[tokio::test]
async fn the_member_is_hung_up_on_and_nobody_is_asked_again() {
    for member in [Api::Chat, Api::Anthropic, Api::Gemini] {
        for (stream, early) in [(true, true), (true, false), (false, true)] {
            for caller in [Caller::Chat, Caller::Anthropic, Caller::Responses, Caller::Ollama, Caller::Gemini]
            {
                let what = format!(
                    "{caller:?} over {member:?}, streamed: {stream}, before the first piece: {early}"
                );
                let gate = Gate::shut();
                let held = gate.clone();
                let slow = Script::in_any(move |api, request| slowly(api, request, &held, early));
                let lab = routed([("alpha", member, slow), ("beta", Api::Chat, named("beta"))]).await;
                let (asking, answered) = hold(&lab, caller, stream);
                let request = lab.upstream.arrived(&served("alpha"), 1).await;
                if !early {
                    answered.passed().await;
                }
                drop(asking);
                request.hung_up().await;
                let conversation = ended(&lab).await;
                assert_eq!(conversation["status"], "cancelled", "{what}: {conversation}");
                assert_eq!(asked(&lab, "alpha").len(), 1, "{what}");
                assert_eq!(asked(&lab, "beta").len(), 0, "{what}");
            }
        }
    }
}

/// Its owner wants turns to go on.
#[tokio::test]
async fn where_it_is_set_the_turn_is_finished_and_recorded() {
    for stream in [true, false] {
        let gate = Gate::shut();
        let held = gate.clone();
        let slow = Script::in_any(move |api, request| slowly(api, request, &held, false));
        let lab = routed_as([("alpha", Api::Chat, slow)], |it| it.setting("route_on_hangup", "finish")).await;
        let (asking, answered) = hold(&lab, Caller::Anthropic, stream);
        lab.upstream.arrived(&served("alpha"), 1).await;
        if stream {
            answered.passed().await;
        }
        drop(asking);
        // It has seen the hang-up, and has not hung up itself.
        assert_eq!(lab.http().get("/health").await.status, 200);
        gate.open();
        let conversation = ended(&lab).await;
        assert_eq!(
            (&conversation["status"], &conversation["alias"]),
            (&json!("ok"), &json!("alpha")),
            "{conversation}"
        );
    }
}

/// A turn that failed over, and whose caller left while the second one thought.
#[tokio::test]
async fn the_second_member_is_hung_up_on_too() {
    let gate = Gate::shut();
    let held = gate.clone();
    let lab = routed([
        ("alpha", Api::Chat, Script::in_any(|api, _| api.fails(500, "Internal error"))),
        ("beta", Api::Anthropic, Script::in_any(move |api, request| slowly(api, request, &held, true))),
        ("gamma", Api::Chat, named("gamma")),
    ])
    .await;
    let (asking, _) = hold(&lab, Caller::Chat, true);
    let request = lab.upstream.arrived(&served("beta"), 1).await;
    drop(asking);
    request.hung_up().await;
    assert_eq!(ended(&lab).await["status"], "cancelled");
    assert_eq!(asked(&lab, "gamma").len(), 0);
}
