//! A member that dies when its caller has heard some of it: route.md §4, wire.md §6.

use bench_tests::{
    Gate, Scenario, Upstream,
    sse::Ended,
    upstream::{Api, End, Framing, Reply, Said, Script, Step},
};
use serde_json::json;
use tokio::task::JoinSet;

use super::{
    caller::{Ask, Caller},
    heard::Heard,
    lab::{asked, head_then, heard_before, named, routed, served, with_member},
};

const HALF: &[Said] = &[Said::Text("Half of the answer")];

/// How it dies after that.
#[derive(Clone, Copy, Debug)]
enum Death {
    /// The body ends properly, the answer does not.
    Cut,
    Error,
    Reset,
    /// In the middle of a chunk of the transfer coding.
    MidChunk,
}

const DEATHS: [Death; 4] = [Death::Cut, Death::Error, Death::Reset, Death::MidChunk];

/// Says half of it and, where it streams, dies when the gate is open: what comes at once with its end has not begun.
fn dies(death: Death, gate: &Gate) -> Script {
    let gate = gate.clone();
    Script::in_any(move |api, request| {
        let end =
            if matches!(death, Death::Error) { End::Error("The engine fell over") } else { End::BrokenOff };
        let reply = request.told(api, HALF, end);
        if !request.wants_stream() {
            return reply;
        }
        let reply = heard_before(reply, b"answer", &gate);
        match death {
            Death::Cut | Death::Error => reply,
            Death::Reset => reply.step(Step::Reset),
            Death::MidChunk => mid_chunk(reply),
        }
    })
}

fn mid_chunk(reply: Reply) -> Reply {
    assert_eq!(reply.framing, Framing::Chunked);
    reply.step(Step::Raw("fff\r\ndata: {\"cho".into())).step(Step::Close)
}

/// Everybody at once: after an error the connection stands open for a moment before it is cut.
#[tokio::test]
async fn streamed_the_error_goes_into_the_stream_and_nobody_else_is_asked() {
    let upstream = Upstream::start().await;
    upstream.model(&served("beta"), named("beta"));
    let mut scenario = with_member(Scenario::new(), "beta", &upstream.base(), Api::Chat);
    let mut cases = Vec::new();
    for member in Api::ALL {
        for death in DEATHS {
            for (at, caller) in Caller::ALL.into_iter().enumerate() {
                let gate = Gate::shut();
                let alias = format!("{}-{death:?}-{at}", member.name()).to_lowercase();
                upstream.model(&served(&alias), dies(death, &gate));
                scenario = with_member(scenario, &alias, &upstream.base_of(member), member);
                scenario = scenario.collection(&alias, &[&alias, "beta"]).with("reply", "route");
                cases.push((member, death, caller, alias, gate));
            }
        }
    }
    let gateway = scenario.start().await;
    let mut asking = JoinSet::new();
    for (member, death, caller, alias, gate) in cases {
        let http = gateway.http.clone();
        asking.spawn(async move {
            let what = format!("{death:?} of {member:?} before {caller:?}");
            let ask = Ask::of(&what).model(&format!("bench/{alias}"));
            (head_then(&http, caller, &ask, &gate).await, caller, death, alias, what)
        });
    }
    for (heard, caller, death, alias, what) in asking.join_all().await {
        assert_eq!((heard.status, heard.by()), (200, alias.as_str()), "{what}: {}", heard.raw);
        assert_eq!(heard.text(), "Half of the answer", "{what}: {}", heard.raw);
        ends_as_failed(&heard, caller, &what);
        if matches!(death, Death::Error) {
            assert!(heard.raw.contains("The engine fell over"), "{what}: {}", heard.raw);
        }
    }
    assert_eq!(upstream.asked(&served("beta")).len(), 0);
}

/// The API's own error, no mark of a whole answer, and a connection that is cut.
fn ends_as_failed(heard: &Heard, caller: Caller, what: &str) {
    assert!(heard.error.is_some(), "{what}: {}", heard.raw);
    assert!(!heard.said_error().is_empty(), "{what}: {}", heard.raw);
    assert_eq!(heard.ended, Ended::Broken, "{what}: {}", heard.raw);
    assert_eq!(heard.finish, None, "{what}: no finish: {}", heard.raw);
    match caller {
        Caller::Responses => {
            assert!(heard.raw.contains("\"response.failed\""), "{what}: {}", heard.raw);
            assert!(!heard.raw.contains("response.completed"), "{what}: {}", heard.raw);
        }
        Caller::Anthropic => {
            assert!(heard.raw.contains("event: error\n"), "{what}: {}", heard.raw);
            assert!(!heard.raw.contains("message_stop"), "{what}: {}", heard.raw);
        }
        Caller::Ollama | Caller::Generate => {
            assert!(!heard.raw.contains("\"done\":true"), "{what}: {}", heard.raw);
            assert!(heard.error.as_ref().is_some_and(serde_json::Value::is_string), "{what}");
        }
        Caller::Gemini | Caller::GeminiArray => {
            assert!(heard.error.as_ref().is_some_and(|it| it["code"].is_u64()), "{what}: {}", heard.raw);
        }
        Caller::Chat | Caller::Completions => {
            let after = heard.raw.rsplit_once("\"error\"").map_or("", |(_, after)| after);
            assert!(after.contains("data: [DONE]"), "{what}: {}", heard.raw);
        }
    }
}

/// Nothing has gone out yet, so another member takes over.
#[tokio::test]
async fn whole_it_fails_over() {
    for member in Api::ALL {
        for death in DEATHS {
            let gate = Gate::shut();
            gate.open();
            let script = dies(death, &gate);
            let lab = routed([("alpha", member, script), ("beta", Api::Chat, named("beta"))]).await;
            for caller in Caller::ALL {
                let what = format!("{death:?} of {member:?} before {caller:?}");
                let heard = caller.ask(lab.http(), &Ask::of(&what)).await;
                assert!(heard.is_whole(), "{what}: {}", heard.raw);
                assert_eq!(
                    (heard.by(), heard.text().as_str()),
                    ("beta", "Said by beta."),
                    "{what}: {}",
                    heard.raw
                );
                if !caller.is_gemini() {
                    assert_eq!(heard.bench("failed_over")[0]["from"], json!("alpha"), "{what}");
                }
            }
        }
    }
}

/// A call's name is a piece too: what it would have said after that does not matter.
#[tokio::test]
async fn a_call_that_has_begun_holds_the_turn() {
    for member in [Api::Chat, Api::Anthropic, Api::Responses] {
        let lab = routed([("alpha", member, named("alpha")), ("beta", Api::Chat, named("beta"))]).await;
        for caller in [Caller::Chat, Caller::Anthropic, Caller::Responses] {
            let what = format!("{member:?} before {caller:?}");
            let gate = Gate::shut();
            let held = gate.clone();
            let calls = Script::in_any(move |api, request| {
                let said = [Said::Call("call_1", "look", &["{\"at\":", "\"a\"}"])];
                heard_before(request.told(api, &said, End::BrokenOff), b"\"look\"", &held)
            });
            lab.upstream.model(&served("alpha"), calls);
            let heard = head_then(lab.http(), caller, &Ask::of(&what).tools(), &gate).await;
            assert_eq!((heard.status, heard.by()), (200, "alpha"), "{what}: {}", heard.raw);
            assert_eq!(
                heard.calls().first().map(|call| call.name.as_str()),
                Some("look"),
                "{what}: {}",
                heard.raw
            );
            ends_as_failed(&heard, caller, &what);
        }
        assert_eq!(asked(&lab, "beta").len(), 0, "{member:?}");
    }
}
