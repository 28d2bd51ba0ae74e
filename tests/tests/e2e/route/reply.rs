//! What a routed answer looks like, in every API over members of every dialect: route.md §5, wire.md §5.

use bench_tests::upstream::{Api, End, Said, Script};
use serde_json::json;

use super::{
    caller::{Ask, Caller},
    lab::{asked, is_conversation, routed, routed_as},
};

const ANSWER: &[Said] = &[Said::Text("Ask the lake, not the sea.")];

#[tokio::test]
async fn every_caller_is_answered_by_a_member_of_every_dialect() {
    for api in Api::ALL {
        let lab = routed([("alpha", api, Script::tells(ANSWER, End::Proper))]).await;
        for caller in Caller::ALL {
            for stream in [false, true] {
                let what = format!("{caller:?} over {api:?}, streamed: {stream}");
                let ask = Ask::of(&format!("whom? {what}"));
                let heard = caller.either(lab.http(), &ask, stream).await;
                assert_eq!(heard.status, 200, "{what}: {}", heard.raw);
                assert!(heard.is_whole(), "{what}: {}", heard.raw);
                assert_eq!(heard.text(), "Ask the lake, not the sea.", "{what}: {}", heard.raw);
                assert_eq!(heard.by(), "alpha", "{what}");
                let id = heard.conversation();
                assert!(is_conversation(id), "{what}: {id}");
                let overhead = heard.header("x-bench-overhead-ms").parse::<f64>();
                assert!(overhead.is_ok_and(|ms| ms >= 0.0), "{what}: {:?}", heard.headers);
                assert!(!heard.header("x-request-id").is_empty(), "{what}");

                // A Gemini caller names the model in its path, and reads it nowhere.
                if !caller.is_gemini() {
                    assert_eq!(heard.model.as_deref(), Some("bench/core:route"), "{what}: {}", heard.raw);
                }
                let told = tells_bench(caller, api, stream);
                assert_eq!(heard.bench.is_some(), told, "{what}: {}", heard.raw);
                if told {
                    let mut bench = heard.bench.clone().expect("bench");
                    let verdict = bench["verdict"].take();
                    assert!(verdict.as_str().is_some_and(|it| it.contains("/bench/verdict")), "{what}");
                    bench.as_object_mut().expect("an object").remove("verdict");
                    assert_eq!(
                        bench,
                        json!({
                            "collection": "bench/core", "reply": "route", "conversation": id,
                            "call": format!("{id}.1"), "alias": "alpha", "turn": 1,
                        }),
                        "{what}"
                    );
                }
            }
        }
        assert_eq!(asked(&lab, "alpha").len(), Caller::ALL.len() * 2, "{api:?}: each once");
    }
}

/// Whole replies have room but Gemini's; streams of chat always, and others where they are translated, as Gemini's
/// other form of a stream is.
fn tells_bench(caller: Caller, member: Api, stream: bool) -> bool {
    match stream {
        false => !caller.is_gemini(),
        // An array is written anew of the member's events.
        true => caller.own() != Some(member) || matches!(caller, Caller::Chat | Caller::GeminiArray),
    }
}

/// Where in a stream it stands.
#[tokio::test]
async fn bench_is_on_the_last_event_with_room() {
    for api in [Api::Chat, Api::Anthropic] {
        let lab = routed([("alpha", api, Script::tells(ANSWER, End::Proper))]).await;
        for (caller, begins) in [
            (Caller::Responses, "data: {\"type\":\"response.completed\""),
            (Caller::Anthropic, "data: {\"type\":\"message_delta\""),
            (Caller::Ollama, "{"),
            (Caller::Generate, "{"),
            (Caller::Gemini, "data: {"),
            (Caller::Completions, "data: {"),
            (Caller::Chat, "data: {"),
        ] {
            if caller.own() == Some(api) && caller != Caller::Chat {
                continue;
            }
            let heard = caller.stream(lab.http(), &Ask::of(&format!("where? {caller:?}"))).await;
            let lines: Vec<&str> = heard.raw.lines().filter(|line| !line.is_empty()).collect();
            let holding: Vec<usize> =
                (0..lines.len()).filter(|at| lines[*at].contains("\"bench\":{")).collect();
            assert_eq!(holding.len(), 1, "{caller:?} over {api:?}: once: {}", heard.raw);
            let after = lines[holding[0] + 1..].to_vec();
            match caller {
                Caller::Chat | Caller::Completions => assert_eq!(after, ["data: [DONE]"], "{caller:?}"),
                Caller::Anthropic => {
                    assert_eq!(after.len(), 2, "{caller:?}: {after:?}");
                    assert!(after[1].contains("message_stop"), "{after:?}");
                }
                _ => assert_eq!(after, Vec::<&str>::new(), "{caller:?}"),
            }
            let line = lines[holding[0]];
            assert!(line.starts_with(begins), "{caller:?}: {line}");
            match caller {
                Caller::Ollama | Caller::Generate => assert!(line.contains("\"done\":true"), "{line}"),
                // A relay's chunk of its own.
                Caller::Chat if api == Api::Chat => assert!(line.contains("\"choices\":[]"), "{line}"),
                _ => {}
            }
        }
    }
}

#[tokio::test]
async fn a_turn_is_counted_and_its_call_stays() {
    let lab = routed([("alpha", Api::Chat, Script::tells(ANSWER, End::Proper))]).await;
    for caller in Caller::AGENTS {
        let first = caller.ask(lab.http(), &Ask::of(&format!("one {caller:?}"))).await;
        let next = Ask::of(&format!("one {caller:?}")).then(&first, "two");
        let heard = caller.ask(lab.http(), &next).await;
        assert_eq!(heard.conversation(), first.conversation(), "{caller:?}");
        if !caller.is_gemini() {
            assert_eq!(heard.bench("turn"), json!(2), "{caller:?}: {}", heard.raw);
            assert_eq!(heard.bench("call"), first.bench("call"), "{caller:?}");
        }
    }
}

/// The mode is the collection's, the name's or the body's.
#[tokio::test]
async fn however_route_is_asked_for() {
    let members = [("alpha", Api::Chat, Script::tells(ANSWER, End::Proper))];
    let lab = routed_as(members, |it| it.collection("panels", &["alpha"])).await;
    for (model, more) in [
        ("bench/core", json!(null)),
        ("core", json!(null)),
        ("bench/panels:route", json!(null)),
        ("panels:route", json!(null)),
        ("bench/panels:all", json!({"reply": "route"})),
    ] {
        for caller in [Caller::Chat, Caller::Anthropic, Caller::Ollama] {
            let mut ask = Ask::of(&format!("how? {model} {more}")).model(model);
            if !more.is_null() {
                ask = ask.with("bench", more.clone());
            }
            let heard = caller.ask(lab.http(), &ask).await;
            assert_eq!(heard.bench("reply"), "route", "{model} {more}: {}", heard.raw);
            assert_eq!(heard.model.as_deref(), Some(model), "as it was asked: {}", heard.raw);
        }
    }
    let heard = Caller::Chat.ask(lab.http(), &Ask::of("a panel").model("core:all")).await;
    assert_eq!(heard.bench("reply"), "all", "{}", heard.raw);
}
