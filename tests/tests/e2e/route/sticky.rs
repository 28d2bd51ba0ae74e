//! A conversation keeps its model: route.md §3.

use bench_tests::{
    Gate, Lab,
    upstream::{Api, Script},
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{
    caller::{Ask, Caller, Turn},
    heard::{Heard, Part},
    lab::{asked, call, named, routed, routed_as, says, served},
};

/// Two members, and every new conversation begins with the one that has gone longest without work: so a turn that
/// is not known for what it is goes to the other.
async fn turns_about(api: Api) -> Lab {
    routed_as([("alpha", api, named("alpha")), ("beta", api, named("beta"))], |it| it.setting("rotate", 1))
        .await
}

fn follows(first: &Heard, second: &Heard, what: &str) {
    assert!(second.is_whole(), "{what}: {}", second.raw);
    assert_eq!(second.conversation(), first.conversation(), "{what}");
    assert_eq!(second.by(), first.by(), "{what}");
}

fn is_another(first: &Heard, second: &Heard, what: &str) {
    assert!(second.is_whole(), "{what}: {}", second.raw);
    assert_ne!(second.conversation(), first.conversation(), "{what}");
    assert_ne!(second.by(), first.by(), "{what}");
}

#[tokio::test]
async fn by_its_system_text_and_first_words_in_every_api() {
    let lab = turns_about(Api::Chat).await;
    for caller in Caller::AGENTS {
        for stream in [false, true] {
            let what = format!("{caller:?}, streamed: {stream}");
            let begun = Ask::of(&format!("fix the bug, {what}")).system("You are an agent.");
            let first = caller.either(lab.http(), &begun, stream).await;
            let second = begun.clone().then(&first, "and the other one");
            let second = caller.either(lab.http(), &second, stream).await;
            follows(&first, &second, &what);
            // A side request has a system prompt of its own.
            let side = Ask::of(&format!("fix the bug, {what}")).system("You write titles.");
            is_another(&first, &caller.either(lab.http(), &side, stream).await, &what);
            // Other words, no system.
            let other = Ask::of(&format!("another bug, {what}")).system("You are an agent.");
            assert_ne!(caller.ask(lab.http(), &other).await.conversation(), first.conversation(), "{what}");
            let third = begun.then(&second, "thanks");
            follows(&first, &caller.either(lab.http(), &third, stream).await, &what);
        }
    }
    // Where there are no turns, the same prompt is the same conversation.
    for caller in [Caller::Completions, Caller::Generate] {
        let first = caller.ask(lab.http(), &Ask::of(&format!("once {caller:?}"))).await;
        follows(&first, &caller.stream(lab.http(), &Ask::of(&format!("once {caller:?}"))).await, "again");
    }
}

#[tokio::test]
async fn what_changes_with_the_day_does_not_count() {
    let lab = turns_about(Api::Chat).await;
    let system = |line: &str| format!("You are an agent.\n{line}\nBe brief.");
    for caller in Caller::AGENTS {
        for (one, other) in [
            ("Today's date: 2026-11-30", "Today's date: 2026-12-01"),
            ("Current time: 15:45:01", "Current time: 16:02:59"),
            (
                "x-anthropic-billing-header: cc_version=2.1; cch=0a1b2",
                "x-anthropic-billing-header: cc_version=2.1; cch=9f8e7",
            ),
        ] {
            let words = format!("fix it, {caller:?}, {one}");
            let first = caller.ask(lab.http(), &Ask::of(&words).system(&system(one))).await;
            let second = Ask::of(&words).system(&system(other)).then(&first, "more");
            follows(&first, &caller.ask(lab.http(), &second).await, &format!("{caller:?}: {other}"));
        }
        let words = format!("fix it, {caller:?}");
        let first = caller.ask(lab.http(), &Ask::of(&words).system(&system("Use tabs."))).await;
        let other = caller.ask(lab.http(), &Ask::of(&words).system(&system("Use spaces."))).await;
        is_another(&first, &other, &format!("{caller:?}: a line that says something"));
    }
}

#[tokio::test]
async fn by_the_clients_own_session() {
    let lab = turns_about(Api::Chat).await;
    let user = |session: &str| json!({"user_id": format!("user_1f_account_2e_session_{session}")});
    let with = |caller: Caller, way: &str, session: &str, text: &str| {
        let ask = Ask::of(text).system("You are an agent.");
        let ask = match way {
            "metadata.user_id" => ask.with("metadata", user(session)),
            "prompt_cache_key" => ask.with("prompt_cache_key", json!(session)),
            "x-session-id" => ask.header("x-session-id", session),
            "x-claude-code-session-id" => ask.header("x-claude-code-session-id", session),
            "session_id" => ask.header("session_id", session),
            other => panic!("{other}"),
        };
        (caller, ask)
    };
    let headers = ["x-session-id", "x-claude-code-session-id", "session_id"];
    let mut ways: Vec<(Caller, &str)> = Vec::new();
    for caller in Caller::ALL {
        ways.extend(headers.map(|header| (caller, header)));
    }
    ways.extend([
        (Caller::Anthropic, "metadata.user_id"),
        (Caller::Responses, "prompt_cache_key"),
        (Caller::Chat, "prompt_cache_key"),
    ]);
    for (caller, way) in ways {
        let what = format!("{caller:?} by {way}");
        let ask = async |session: &str, text: &str| {
            let (caller, ask) = with(caller, way, session, text);
            caller.ask(lab.http(), &ask).await
        };
        let session = format!("5e55-{caller:?}-{way}").replace('.', "-").replace('_', "-").to_lowercase();
        let first = ask(&session, "fix the bug").await;
        // Compacted: the first words are others.
        follows(&first, &ask(&session, "what was done so far is …").await, &what);
        is_another(&first, &ask(&format!("{session}2"), "fix the bug").await, &what);
    }
    // A side request of the same session is its own conversation.
    let (caller, ask) = with(Caller::Anthropic, "metadata.user_id", "side", "fix the bug");
    let first = caller.ask(lab.http(), &ask).await;
    let side = caller.ask(lab.http(), &ask.clone().system("You write titles.")).await;
    is_another(&first, &side, "a side request");
    follows(&first, &caller.ask(lab.http(), &ask).await, "the session goes on");
}

#[tokio::test]
async fn by_the_response_it_goes_on_from() {
    for api in [Api::Chat, Api::Responses] {
        let lab = turns_about(api).await;
        let first = Caller::Responses.ask(lab.http(), &Ask::of("fix the bug")).await;
        let id = serde_json::from_str::<Value>(&first.raw).expect("a reply")["id"].clone();
        let next = Ask::of("and the other one").with("previous_response_id", id.clone());
        let second = Caller::Responses.ask(lab.http(), &next).await;
        follows(&first, &second, &format!("{api:?}"));
        let sent = asked(&lab, first.by()).pop().expect("asked").json();
        let words = sent.to_string();
        assert!(
            words.contains("fix the bug") && words.contains("Said by") && words.contains("other one"),
            "{sent}"
        );
        assert!(sent.get("previous_response_id").is_none(), "the member knows no such response: {sent}");
        // And streamed, and from there on.
        let streamed = Caller::Responses.stream(lab.http(), &next).await;
        follows(&first, &streamed, &format!("{api:?}, streamed"));
    }
}

#[tokio::test]
async fn a_collection_and_a_caller_each_have_their_own() {
    let lab = routed_as([("alpha", Api::Chat, named("alpha")), ("beta", Api::Chat, named("beta"))], |it| {
        it.collection("other", &["alpha", "beta"]).with("reply", "route")
    })
    .await;
    let first = Caller::Chat.ask(lab.http(), &Ask::of("same words")).await;
    let other = Caller::Chat.ask(lab.http(), &Ask::of("same words").model("bench/other")).await;
    assert_ne!(first.conversation(), other.conversation());
    // However it is named, and in whatever API: not the name's spelling, but the collection.
    let spelled = Caller::Chat.ask(lab.http(), &Ask::of("same words").model("core")).await;
    follows(&first, &spelled, "spelled otherwise");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_first_turns_at_once_share_one_conversation_and_one_model() {
    let gate = Gate::shut();
    let slow = |alias: &'static str, gate: Gate| {
        Script::in_any(move |api, request| says(api, request, &format!("Said by {alias}.")).held(&gate))
    };
    let members =
        [("alpha", Api::Chat, slow("alpha", gate.clone())), ("beta", Api::Chat, slow("beta", gate.clone()))];
    let lab = routed_as(members, |it| it.setting("rotate", 1)).await;
    let mut asking = JoinSet::new();
    for caller in [Caller::Chat, Caller::Chat, Caller::Chat, Caller::Chat] {
        let http = lab.http().clone();
        asking.spawn(async move { caller.stream(&http, &Ask::of("at once")).await });
    }
    bench_tests::eventually("four turns under way", async || {
        (asked(&lab, "alpha").len() + asked(&lab, "beta").len() == 4).then_some(())
    })
    .await;
    gate.open();
    let heard = asking.join_all().await;
    let first = &heard[0];
    for it in &heard {
        follows(first, it, "at once");
    }
    let mut turns: Vec<u64> = heard.iter().filter_map(|it| it.bench("turn").as_u64()).collect();
    turns.sort_unstable();
    assert_eq!(turns, [1, 2, 3, 4], "each is a turn of its own");
    let record = lab.http().get("/bench/record?collection=bench/core").await.json();
    assert!(record["aliases"].is_object(), "{record}");
    let kept = call(&lab.gateway, first.bench("call").as_str().expect("a call")).await;
    assert_eq!(kept["alias"], first.by(), "{kept}");
}

#[tokio::test]
async fn it_survives_a_restart_and_a_kill() {
    let lab = turns_about(Api::Anthropic).await;
    let Lab { upstream: _upstream, mut gateway } = lab;
    let mut begun = Vec::new();
    for caller in Caller::AGENTS {
        let ask = Ask::of(&format!("fix it, {caller:?}")).system("You are an agent.");
        let first = caller.ask(&gateway.http, &ask).await;
        begun.push((caller, ask, first));
    }
    for (turn, kill) in [(2, false), (3, true)] {
        let home = match kill {
            true => gateway.kill().await,
            false => gateway.stop().await.0,
        };
        gateway = home.serve().await;
        for (caller, ask, first) in &mut begun {
            let what = format!("{caller:?}, turn {turn}");
            *ask = ask.clone().then(first, "go on");
            let next = caller.ask(&gateway.http, ask).await;
            follows(first, &next, &what);
            if !caller.is_gemini() {
                assert_eq!(next.bench("turn"), json!(turn), "{what}");
                assert_eq!(next.bench("call"), first.bench("call"), "{what}");
            }
        }
    }
}

#[tokio::test]
async fn when_its_model_cannot_take_a_turn_whoever_answers_keeps_the_conversation() {
    for api in [Api::Chat, Api::Anthropic, Api::Gemini] {
        let lab = routed_as([("blind", api, named("blind")), ("seeing", api, named("seeing"))], |it| {
            it.facts(json!({"tools": true, "vision": true}))
        })
        .await;
        for caller in Caller::AGENTS {
            let what = format!("{caller:?} over {api:?}");
            let begun = Ask::of(&format!("look, {what}"));
            let first = caller.ask(lab.http(), &begun).await;
            assert_eq!(first.by(), "blind", "{what}");
            let shown = begun.turn(Turn::Assistant(first.parts.clone())).turn(Turn::Picture("here".into()));
            let second = caller.ask(lab.http(), &shown).await;
            assert_eq!(
                (second.by(), second.conversation()),
                ("seeing", first.conversation()),
                "{what}: {}",
                second.raw
            );
            if !caller.is_gemini() {
                let id = first.conversation();
                assert_eq!(second.bench("call"), json!(format!("{id}.2")), "{what}");
                assert_eq!(second.bench("skipped")[0]["alias"], "blind", "{what}");
                let kept = call(&lab.gateway, &format!("{id}.2")).await;
                let by = kept["why"]["by"].as_str().unwrap_or_default().to_owned();
                assert_eq!(by, "best record; the conversation's model blind cannot take this turn", "{what}");
            }
            // The picture is no longer sent (an agent has compacted), and it stays with whoever saw it.
            let third =
                Ask::of(&format!("look, {what}")).turn(Turn::Assistant(vec![Part::Text("I saw.".into())]));
            let third = caller.ask(lab.http(), &third.turn(Turn::User("go on".into()))).await;
            assert_eq!((third.by(), third.conversation()), ("seeing", first.conversation()), "{what}");
        }
    }
}

#[tokio::test]
async fn after_a_failover_the_conversation_is_with_whoever_answered() {
    for caller in Caller::ALL {
        let once = Script::turns(vec![Api::Chat.fails(500, "Internal error")]);
        let lab = routed([("alpha", Api::Chat, once), ("beta", Api::Chat, named("beta"))]).await;
        let begun = Ask::of("fix it");
        let first = caller.stream(lab.http(), &begun).await;
        assert_eq!(first.by(), "beta", "{caller:?}: {}", first.raw);
        // Alpha is well again, and is not asked.
        lab.upstream.model(&served("alpha"), named("alpha"));
        let second = match Caller::AGENTS.contains(&caller) {
            true => begun.then(&first, "go on"),
            false => begun,
        };
        follows(&first, &caller.stream(lab.http(), &second).await, &format!("{caller:?}"));
        assert_eq!(asked(&lab, "alpha").len(), 1, "{caller:?}");
    }
}

#[tokio::test]
async fn one_that_fails_in_the_middle_of_its_conversation_hands_it_over() {
    let gate = Gate::shut();
    let script = {
        let gate = gate.clone();
        Script::in_any(move |api, request| match gate.is_open() {
            true => api.fails(503, "Over capacity"),
            false => says(api, request, "Said by alpha."),
        })
    };
    let lab = routed([("alpha", Api::Chat, script), ("beta", Api::Chat, named("beta"))]).await;
    let begun = Ask::of("fix it");
    let first = Caller::Chat.stream(lab.http(), &begun).await;
    gate.open();
    let second = Caller::Chat.stream(lab.http(), &begun.clone().then(&first, "go on")).await;
    assert_eq!((second.by(), second.conversation()), ("beta", first.conversation()), "{}", second.raw);
    assert_eq!(second.bench("failed_over")[0]["from"], "alpha");
    assert_eq!(second.bench("call"), json!(format!("{}.2", first.conversation())));
    let third = Caller::Chat.stream(lab.http(), &begun.then(&second, "and then?")).await;
    follows(&second, &third, "with beta from here on");
}
