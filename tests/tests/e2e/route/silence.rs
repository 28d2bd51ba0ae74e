//! A member that is silent for long: route.md §4, wire.md §6. The slow tests of route mode, and all of them at once.

use bench_tests::{
    Gate, Scenario, Upstream,
    upstream::{Api, Script, Step, stalls},
    within,
};
use http_body_util::BodyExt;
use serde_json::json;
use tokio::task::JoinSet;

use super::{
    caller::{Ask, Caller},
    heard::Heard,
    lab::{named, says, served, with_member},
};

/// The shortest that the setting takes.
const IDLE_SECONDS: u32 = 5;

#[tokio::test]
async fn one_that_says_nothing_in_time_is_followed_by_another() {
    let upstream = Upstream::start().await;
    let mut scenario = Scenario::new().setting("idle_seconds", IDLE_SECONDS);
    // What comes in one piece has the time of a whole answer.
    scenario = scenario.setting("seat_seconds", IDLE_SECONDS);
    let mut asking = JoinSet::new();
    let mut cases = Vec::new();
    for member in Api::ALL {
        for (how, script) in [
            ("head", Script::from(stalls())),
            ("piece", Script::in_any(|api, request| says(api, request, "never").at(0, Step::Stall))),
        ] {
            let alias = format!("{}-{how}", member.name());
            upstream.model(&served(&alias), script);
            scenario = with_member(scenario, &alias, &upstream.base_of(member), member);
            cases.push((member, alias));
        }
    }
    upstream.model(&served("beta"), named("beta"));
    scenario = with_member(scenario, "beta", &upstream.base(), Api::Chat);
    for (_, alias) in &cases {
        scenario = scenario.collection(alias, &[alias, "beta"]).with("reply", "route");
    }
    let gateway = scenario.start().await;
    for (member, alias) in cases {
        for caller in Caller::ALL {
            for stream in [false, true] {
                let (http, alias) = (gateway.http.clone(), alias.clone());
                asking.spawn(async move {
                    let what = format!("{alias} of {member:?} before {caller:?}, streamed: {stream}");
                    let ask = Ask::of(&what).model(&format!("bench/{alias}"));
                    (caller.either(&http, &ask, stream).await, what)
                });
            }
        }
    }
    for (heard, what) in asking.join_all().await {
        assert!(heard.is_whole(), "{what}: {}", heard.raw);
        assert_eq!((heard.by(), heard.text().as_str()), ("beta", "Said by beta."), "{what}: {}", heard.raw);
    }
}

/// Falls silent in the middle: the caller is told, and nobody else is asked.
#[tokio::test]
async fn one_that_falls_silent_in_its_answer_ends_it() {
    let upstream = Upstream::start().await;
    let mut scenario = Scenario::new().setting("idle_seconds", IDLE_SECONDS);
    for member in Api::ALL {
        let alias = member.name();
        upstream.model(
            &served(alias),
            Script::in_any(|api, request| {
                request
                    .told(
                        api,
                        &[bench_tests::upstream::Said::Text("Half of it")],
                        bench_tests::upstream::End::BrokenOff,
                    )
                    .step(Step::Stall)
            }),
        );
        scenario = with_member(scenario, alias, &upstream.base_of(member), member);
        scenario = scenario.collection(&format!("c-{alias}"), &[alias]).with("reply", "route");
    }
    let gateway = scenario.start().await;
    let mut asking = JoinSet::new();
    for member in Api::ALL {
        for caller in Caller::ALL {
            let http = gateway.http.clone();
            asking.spawn(async move {
                let what = format!("{member:?} before {caller:?}");
                let ask = Ask::of(&what).model(&format!("bench/c-{}", member.name()));
                (caller.stream(&http, &ask).await, what)
            });
        }
    }
    for (heard, what) in asking.join_all().await {
        assert_eq!((heard.status, heard.text().as_str()), (200, "Half of it"), "{what}: {}", heard.raw);
        assert!(heard.error.is_some(), "{what}: {}", heard.raw);
        assert_eq!(heard.ended, bench_tests::sse::Ended::Broken, "{what}");
    }
}

/// The head is held for the first piece, 15 s at most; then it goes, and after 10 s more something with nothing in it
/// keeps the connection alive. What fails after that is told in the stream.
#[tokio::test]
async fn the_head_waits_for_the_first_piece_and_no_longer_than_it_may() {
    let (gate, upstream) = (Gate::shut(), Upstream::start().await);
    let mut scenario = Scenario::new();
    for member in [Api::Chat, Api::Anthropic, Api::Gemini] {
        for (what, fails) in [("answers", false), ("fails", true)] {
            let alias = format!("{}-{what}", member.name());
            let held = gate.clone();
            let script = Script::in_any(move |api, request| match fails {
                true => api.fails(500, "The engine fell over").held(&held),
                false => says(api, request, "At last.").held(&held),
            });
            upstream.model(&served(&alias), script);
            scenario = with_member(scenario, &alias, &upstream.base_of(member), member);
            scenario = scenario.collection(&alias, &[&alias]).with("reply", "route");
        }
    }
    let gateway = scenario.start().await;
    let mut asking = JoinSet::new();
    for member in [Api::Chat, Api::Anthropic, Api::Gemini] {
        for fails in [false, true] {
            for caller in Caller::ALL {
                let http = gateway.http.clone();
                asking.spawn(async move {
                    let word = if fails { "fails" } else { "answers" };
                    let what = format!("{member:?} that {word} before {caller:?}");
                    let ask = Ask::of(&what).model(&format!("bench/{}-{word}", member.name()));
                    // The head comes though the member has said nothing.
                    let response = caller.head(&http, &ask, true).await;
                    assert_eq!(response.status(), 200, "{what}");
                    let (head, mut body) = response.into_parts();
                    let mut bytes = Vec::new();
                    // Between the items of an array nothing can stand that says nothing.
                    if caller != Caller::GeminiArray {
                        let first = within(&what, body.frame()).await.expect("a piece").expect("unbroken");
                        bytes.extend_from_slice(first.data_ref().expect("no trailers"));
                        keeps_alive(&String::from_utf8_lossy(&bytes), caller, &what);
                    }
                    (caller, fails, (head, bytes, body), what)
                });
            }
        }
    }
    let begun = asking.join_all().await;
    gate.open();
    for (caller, fails, (head, bytes, body), what) in begun {
        let heard = Heard::go_on(caller, true, head, bytes, body).await;
        assert!(super::lab::is_conversation(heard.conversation()), "{what}: {:?}", heard.headers);
        match fails {
            false => {
                assert!(heard.is_whole(), "{what}: {}", heard.raw);
                assert_eq!(heard.text(), "At last.", "{what}: {}", heard.raw);
                assert!(heard.bench.is_none() || heard.bench("turn") == json!(1), "{what}");
            }
            true => {
                assert!(heard.error.is_some(), "{what}: {}", heard.raw);
                assert!(heard.said_error().contains("The engine fell over"), "{what}: {}", heard.raw);
                assert_eq!(heard.ended, bench_tests::sse::Ended::Broken, "{what}");
            }
        }
    }
}

/// In the API's own way, with nothing in it.
fn keeps_alive(first: &str, caller: Caller, what: &str) {
    let alive = match caller {
        Caller::Chat | Caller::Completions | Caller::Responses => first.starts_with(':'),
        Caller::Anthropic => first.starts_with("event: ping\n"),
        Caller::Ollama => first.contains("\"content\":\"\""),
        Caller::Generate => first.contains("\"response\":\"\""),
        Caller::Gemini | Caller::GeminiArray => first.starts_with("data: {\"candidates\""),
    };
    assert!(alive, "{what}: {first}");
}
