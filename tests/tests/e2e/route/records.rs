//! What is written down of turns: route.md §6.

use bench_tests::{
    Gateway, Lab, eventually,
    upstream::{Api, COST, End, Said, Script},
};
use serde_json::{Value, json};

use super::{
    caller::{Ask, Caller},
    lab::{asked, call, conversations, named, routed, routed_as},
};
use crate::frames::Frames;

const CALLS: &[Said] = &[
    Said::Thinks("Hm."),
    Said::Text("Looking."),
    Said::Call("call_a", "look", &["{}"]),
    Said::Call("call_b", "now", &["{}"]),
];

/// The ends of turns, as whoever watches is told.
async fn turns_ended(live: &mut Frames, count: usize) -> Vec<Value> {
    loop {
        let lines = live.lines();
        let ended =
            lines.into_iter().filter(|it| it["type"] == "turn_changed" && it["turn"]["status"] != "running");
        let ended: Vec<Value> = ended.collect();
        if ended.len() >= count {
            return ended;
        }
        let seen = live.text.len();
        live.beyond(seen).await;
    }
}

#[tokio::test]
async fn a_turn_is_told_with_all_that_it_cost() {
    for member in Api::ALL {
        let lab = routed([("alpha", member, Script::tells(CALLS, End::Proper))]).await;
        let mut live = Frames::live(&lab.gateway).await;
        live.until("\"snapshot\"").await;
        let mut count = 0;
        for caller in Caller::AGENTS {
            for stream in [false, true] {
                count += 1;
                let what = format!("{caller:?} over {member:?}, streamed: {stream}");
                let heard = caller.either(lab.http(), &Ask::of(&what).tools(), stream).await;
                let told = turns_ended(&mut live, count).await.pop().expect("an end");
                let (turn, conversation) = (&told["turn"], &told["conversation"]);
                assert_eq!(turn["conversation"], heard.conversation(), "{what}");
                let is =
                    |field: &str, wanted: Value| assert_eq!(turn[field], wanted, "{what}: {field}: {turn}");
                is("turn", json!(1));
                is("call", json!(format!("{}.1", heard.conversation())));
                is("alias", json!("alpha"));
                is("endpoint", json!("alpha"));
                is("served", json!("alpha-1"));
                is("api", json!(caller.own().expect("an agent").name()));
                is("member_api", json!(member.name()));
                is("status", json!("ok"));
                is("tool_calls", json!(2));
                is("tokens_in", json!(COST.input));
                is("tokens_out", json!(COST.output));
                if member != Api::Ollama {
                    is("cache_read", json!(COST.cached));
                }
                if !matches!(member, Api::Ollama | Api::Anthropic) {
                    is("tokens_reasoning", json!(COST.reasoning));
                }
                is("error", json!(""));
                is("failed_over", json!([]));
                is("cost", Value::Null);
                is("question", json!(""));
                is("answer", json!(""));
                is("finish", json!("tool_calls"));
                for seconds in ["seconds", "first_token_s"] {
                    assert!(turn[seconds].as_f64().is_some_and(|it| it >= 0.0), "{what}: {turn}");
                }
                assert!(turn["overhead_ms"].as_f64().is_some_and(|it| it > 0.0), "{what}: {turn}");
                assert_eq!(turn["why"]["by"], "the only member that may take it", "{what}");
                assert_eq!(conversation["title"], what, "{what}");
                assert_eq!(
                    (&conversation["turns"], &conversation["tool_calls"]),
                    (&json!(1), &json!(2)),
                    "{what}"
                );
                assert_eq!(conversation["collection"], "core", "{what}");
            }
        }
    }
}

#[tokio::test]
async fn what_it_cost_is_counted_with_the_cache() {
    let price = json!({"input": 1.0, "output": 10.0, "cache_read": 0.1, "cache_write": 1.25});
    for member in [Api::Chat, Api::Anthropic, Api::Responses, Api::Gemini] {
        let lab = routed_as([("alpha", member, Script::tells(CALLS, End::Proper))], |it| {
            it.facts(json!({"tools": true, "price": price}))
        })
        .await;
        for caller in Caller::AGENTS {
            let heard = caller.stream(lab.http(), &Ask::of(&format!("{caller:?}")).tools()).await;
            let conversation = conversation(&lab.gateway, heard.conversation()).await;
            let fresh = (COST.input - COST.cached) as f64;
            let wanted = (fresh * 1.0 + COST.cached as f64 * 0.1 + COST.output as f64 * 10.0) / 1e6;
            let cost = conversation["cost"].as_f64().unwrap_or_default();
            assert!((cost - wanted).abs() < 1e-12, "{caller:?} over {member:?}: {cost} is not {wanted}");
            assert_eq!(conversation["cost_unknown"], 0, "{conversation}");
        }
    }
}

/// The conversation as it is shown, once its turn has ended.
async fn conversation(gateway: &Gateway, id: &str) -> Value {
    eventually(&format!("{id} having ended"), async || {
        let all = conversations(gateway).await;
        all.into_iter().find(|it| it["id"] == id && it["running"] == false)
    })
    .await
}

/// One offload for each model of a conversation, however many turns it took; what failed did no work.
#[tokio::test]
async fn one_offload_for_a_conversation_and_model() {
    let fails_later = {
        let asked = std::sync::atomic::AtomicUsize::new(0);
        Script::in_any(move |api, request| match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0..3 => super::lab::says(api, request, "Said by alpha."),
            _ => api.fails(500, "Internal error"),
        })
    };
    let lab = routed([("alpha", Api::Chat, fails_later), ("beta", Api::Anthropic, named("beta"))]).await;
    let mut ask = Ask::of("fix it").system("You are an agent.");
    let mut by = Vec::new();
    for _ in 0..5 {
        let heard = Caller::Anthropic.stream(lab.http(), &ask).await;
        by.push(heard.by().to_owned());
        ask = ask.then(&heard, "go on");
    }
    assert_eq!(by, ["alpha", "alpha", "alpha", "beta", "beta"]);
    assert_eq!(offloads(&lab).await, [("alpha".to_owned(), 1), ("beta".to_owned(), 1)]);
    let shown = conversations(&lab.gateway).await;
    let mine = shown.iter().find(|it| it["title"] == "fix it").expect("the conversation");
    assert_eq!((&mine["turns"], &mine["failed_over"]), (&json!(5), &json!(1)), "{mine}");
    let calls: Vec<_> =
        mine["calls"].as_array().into_iter().flatten().map(|it| (&it["alias"], &it["status"])).collect();
    assert_eq!(calls, [(&json!("alpha"), &json!("ok")), (&json!("beta"), &json!("ok"))], "{mine}");
}

/// What a new conversation's candidates are counted with, by alias.
async fn offloads(lab: &Lab) -> Vec<(String, u64)> {
    let heard = Caller::Chat.ask(lab.http(), &Ask::of("another one")).await;
    let kept = call(&lab.gateway, heard.bench("call").as_str().expect("a call")).await;
    let candidates = kept["why"]["candidates"].as_array().cloned().expect("candidates");
    let mut counts: Vec<(String, u64)> = candidates
        .iter()
        .map(|it| {
            (it["alias"].as_str().unwrap_or_default().to_owned(), it["offloads"].as_u64().expect("a count"))
        })
        .collect();
    counts.sort();
    counts
}

#[tokio::test]
async fn the_text_is_kept_only_where_the_owner_wants() {
    for keeps in [false, true] {
        let lab =
            routed_as([("alpha", Api::Chat, named("alpha"))], |it| it.setting("keep_route_text", keeps))
                .await;
        for (caller, stream) in [(Caller::Chat, true), (Caller::Anthropic, false), (Caller::Gemini, true)] {
            let mut live = Frames::live(&lab.gateway).await;
            live.until("\"snapshot\"").await;
            let ask = Ask::of(&format!("the secret plan, {caller:?}"));
            assert!(caller.either(lab.http(), &ask, stream).await.is_whole());
            let told = turns_ended(&mut live, 1).await.remove(0);
            let (question, answer) =
                (told["turn"]["question"].to_string(), told["turn"]["answer"].to_string());
            assert_eq!(question.contains("the secret plan"), keeps, "{caller:?}: {question}");
            assert_eq!(answer.contains("Said by alpha."), keeps, "{caller:?}: {answer}");
        }
        // The first words name the conversation either way; what comes after 90 characters is nowhere.
        let long = format!("{} the hidden end", "word ".repeat(40));
        Caller::Chat.ask(lab.http(), &Ask::of(&long)).await;
        let (home, _) = lab.gateway.stop().await;
        let kept =
            home.files().into_values().any(|bytes| bytes.windows(14).any(|it| it == b"the hidden end"));
        assert_eq!(kept, keeps, "on the disk");
    }
}

/// On disk before the last byte: whoever has read the answer finds it after a kill.
#[tokio::test]
async fn a_turn_is_on_disk_when_its_answer_has_been_read() {
    let Lab { upstream: _upstream, mut gateway } =
        routed([("alpha", Api::Anthropic, Script::tells(CALLS, End::Proper))]).await;
    for (at, caller) in Caller::ALL.into_iter().enumerate() {
        let stream = at % 2 == 0;
        let heard = caller.either(&gateway.http, &Ask::of(&format!("{caller:?}")), stream).await;
        assert!(heard.is_whole(), "{caller:?}: {}", heard.raw);
        let id = heard.conversation().to_owned();
        gateway = gateway.kill().await.serve().await;
        let kept = call(&gateway, &format!("{id}.1")).await;
        assert_eq!((&kept["alias"], &kept["status"]), (&json!("alpha"), &json!("ok")), "{caller:?}: {kept}");
        assert_eq!(kept["tokens_in"], COST.input, "{caller:?}: {kept}");
    }
}

/// What did not answer is kept too.
#[tokio::test]
async fn a_turn_that_failed_is_told_with_why() {
    let fails = |status, words: &'static str| Script::in_any(move |api, _| api.fails(status, words));
    let members =
        [("alpha", Api::Chat, fails(500, "fell over")), ("beta", Api::Gemini, fails(429, "slow down"))];
    let lab = routed(members).await;
    let mut live = Frames::live(&lab.gateway).await;
    live.until("\"snapshot\"").await;
    let heard = Caller::Anthropic.ask(lab.http(), &Ask::of("hi")).await;
    assert_eq!(heard.status, 502, "{}", heard.raw);
    let told = turns_ended(&mut live, 1).await.remove(0);
    let turn = &told["turn"];
    assert_eq!(
        (&turn["status"], &turn["call"], &turn["alias"]),
        (&json!("error"), &json!(""), &json!("beta")),
        "{turn}"
    );
    assert!(turn["error"].as_str().is_some_and(|it| it.contains("slow down")), "{turn}");
    let handed = &turn["failed_over"];
    assert_eq!((&handed[0]["from"], &handed[0]["to"]), (&json!("alpha"), &json!("beta")), "{turn}");
    assert_eq!(asked(&lab, "alpha").len(), 1);
}
