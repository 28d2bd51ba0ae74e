//! Seals of thoughts go back to their maker, and to nobody else: wire.md §4.

use bench_tests::{
    Gate, Lab,
    upstream::{Api, End, Received, SEAL, Said, Script},
};

use super::{
    caller::{Ask, Caller, Turn},
    heard::Heard,
    lab::{asked, routed, says},
};

const THINKS: &[Said] = &[Said::Thinks("I should look."), Said::Call("call_a", "look", &["{\"at\":\"a\"}"])];

/// Thinks and calls at first; once results are there it answers, or fails where it is told to.
fn thinks(fails: &Gate) -> Script {
    let fails = fails.clone();
    Script::in_any(move |api, request| {
        let words = request.json().to_string();
        match words.contains("dark there") {
            true if fails.is_open() => api.fails(500, "Internal error"),
            true => says(api, request, "It is dark."),
            false => request.told(api, THINKS, End::Proper),
        }
    })
}

/// The second turn: what was heard, and the result.
fn next(begun: Ask, heard: &Heard) -> Ask {
    let call = heard.calls()[0].clone();
    begun.turn(Turn::Assistant(heard.parts.clone())).turn(Turn::Result {
        id: call.id,
        name: call.name,
        text: "dark there".into(),
        picture: false,
    })
}

fn last(lab: &Lab, alias: &str) -> Received {
    asked(lab, alias).pop().expect("asked")
}

/// Whether a caller has room for a seal of this member's.
fn holds(caller: Caller, member: Api) -> bool {
    match member {
        // Kept by the call's id where the caller's API has no room.
        Api::Gemini => true,
        Api::Anthropic | Api::Responses => {
            matches!(caller, Caller::Anthropic | Caller::Responses | Caller::Gemini)
        }
        Api::Chat | Api::Ollama => false,
    }
}

#[tokio::test]
async fn their_maker_gets_them_back_as_it_made_them() {
    for member in [Api::Anthropic, Api::Responses, Api::Gemini] {
        let lab = routed([("alpha", member, thinks(&Gate::shut()))]).await;
        for caller in Caller::AGENTS {
            for stream in [false, true] {
                let what = format!("{caller:?} over {member:?}, streamed: {stream}");
                let begun = Ask::of(&what).tools();
                let heard = caller.either(lab.http(), &begun, stream).await;
                assert!(heard.is_whole(), "{what}: {}", heard.raw);
                if caller.own() != Some(member) {
                    // To the caller it is a seal of ours, by which its maker is known.
                    assert!(!heard.raw.contains(&format!("\"{SEAL}\"")), "{what}: {}", heard.raw);
                }
                let answered = caller.either(lab.http(), &next(begun, &heard), stream).await;
                assert!(answered.is_whole(), "{what}: {}", answered.raw);
                let sent = String::from_utf8_lossy(&last(&lab, "alpha").body).into_owned();
                assert_eq!(sent.contains(SEAL), holds(caller, member), "{what}: {sent}");
            }
        }
    }
}

#[tokio::test]
async fn another_member_gets_none_and_that_is_listed() {
    for member in [Api::Anthropic, Api::Responses, Api::Gemini] {
        for other in Api::ALL {
            let second = Script::in_any(|api, request| says(api, request, "Said by beta."));
            for caller in Caller::AGENTS {
                let fails = Gate::shut();
                let lab = routed([("alpha", member, thinks(&fails)), ("beta", other, second.clone())]).await;
                let what = format!("{caller:?} over {member:?}, then {other:?}");
                let begun = Ask::of("look").tools();
                let heard = caller.stream(lab.http(), &begun).await;
                fails.open();
                let answered = caller.stream(lab.http(), &next(begun, &heard)).await;
                assert_eq!(
                    (answered.by(), answered.text().as_str()),
                    ("beta", "Said by beta."),
                    "{what}: {}",
                    answered.raw
                );
                let sent = String::from_utf8_lossy(&last(&lab, "beta").body).into_owned();
                assert!(!sent.contains(SEAL), "{what}: {sent}");
                assert!(!sent.contains("bw1."), "{what}: nor ours: {sent}");
                let had = heard.parts.iter().any(|part| match part {
                    super::heard::Part::Thinking { seal, .. } => seal.is_some(),
                    super::heard::Part::Call(call) => call.seal.is_some(),
                    super::heard::Part::Redacted(_) => true,
                    super::heard::Part::Text(_) => false,
                });
                if had {
                    assert_ne!(answered.header("x-bench-lossy"), "", "{what}: it is listed");
                }
            }
        }
    }
}
