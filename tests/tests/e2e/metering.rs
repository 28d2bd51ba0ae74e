//! Whatever goes out counts, whoever sends it and however it ends: providers.md §5 and §6.

use std::sync::atomic::{AtomicUsize, Ordering};

use bench_tests::{
    Gate, Gateway, Lab, Reply, Scenario, Upstream, eventually,
    scenario::{KEY, question, served},
    upstream::{Api, Received, Script, answers, cut_mid_chunk, fails, rate_limited, without_head},
};
use serde_json::{Value, json};

/// `core` of one model, on an endpoint of these limits.
pub(crate) async fn limited(limits: Value, script: impl Into<Script>) -> Lab {
    let upstream = Upstream::start().await;
    upstream.model(&served("alpha"), script);
    let scenario = Scenario::new()
        .endpoint("tight", &upstream.base())
        .endpoint_with("limits", limits)
        .key("TIGHT_KEY", KEY)
        .model("alpha", "tight", &served("alpha"));
    let gateway = scenario.collection("core", &["alpha"]).start().await;
    Lab { upstream, gateway }
}

/// The same, after its process has ended and another has begun.
pub(crate) async fn started_again(lab: Lab) -> Lab {
    let Lab { upstream, gateway } = lab;
    let (home, _) = gateway.stop().await;
    Lab { upstream, gateway: home.serve().await }
}

/// What is used of the endpoint's first rule.
pub(crate) async fn used(gateway: &Gateway) -> u64 {
    let limits = gateway.command("limits", &json!({})).await;
    limits["connections"][0]["rules"][0]["used"].as_u64().unwrap_or_else(|| panic!("no rule in {limits}"))
}

pub(crate) fn turn(text: &str) -> Value {
    json!({"model": "bench/core:route", "messages": [{"role": "user", "content": text}]})
}

/// A turn whose answer has so much room.
fn bounded(text: &str, tokens: u64) -> Value {
    let mut turn = turn(text);
    turn["max_tokens"] = tokens.into();
    turn
}

/// Answers once, and closes its connection on whoever asks again.
fn answers_once() -> Script {
    let times = AtomicUsize::new(0);
    Script::by(move |_| match times.fetch_add(1, Ordering::Relaxed) {
        0 => answers("Answer of alpha."),
        _ => without_head(),
    })
}

#[tokio::test]
async fn a_question_that_goes_out_again_on_a_new_connection_counts_as_often_and_only_where_there_is_room() {
    // A turn's only member is asked once more by itself.
    for (asked, body, most) in [("a panel", question("two"), 3), ("a turn", turn("two"), 4)] {
        for (rpd, wanted) in [(5, most), (2, 2)] {
            let lab = limited(json!({"rpd": rpd}), answers_once()).await;
            assert_eq!(lab.http().chat(&question("one")).await.status, 200);
            assert_ne!(lab.http().chat(&body).await.status, 200, "{asked}");
            assert_eq!(lab.upstream.asked(&served("alpha")).len(), wanted, "{asked} {rpd}");
            assert_eq!(used(&lab.gateway).await, wanted as u64, "{asked} {rpd}");
            // The ledger has it so.
            let lab = started_again(lab).await;
            assert_eq!(used(&lab.gateway).await, wanted as u64, "{asked} {rpd} after a restart");
        }
    }
}

/// Calls, and those of unknown cost, by purpose.
async fn spent_on(gateway: &Gateway, purpose: &str) -> [Value; 3] {
    let spend = gateway.command("spend", &json!({"by": "purpose", "since": null})).await;
    let rows = spend["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["key"] == purpose).cloned().unwrap_or_default();
    [row["calls"].clone(), row["tokens_unknown"].clone(), row["cost_unknown"].clone()]
}

#[tokio::test]
async fn counting_tokens_is_a_call_that_takes_none() {
    let upstream = Upstream::start().await;
    let counts = |request: &Received| match request.path.ends_with("count_tokens") {
        true => Reply::whole(200, "application/json", json!({"input_tokens": 42}).to_string()),
        false => {
            Api::Anthropic.fails(429, "rate_limit_error: too many requests").header("retry-after", "600")
        }
    };
    upstream.model(&served("alpha"), Script::by(counts));
    let scenario = Scenario::new()
        .endpoint("tight", &upstream.base_of(Api::Anthropic))
        .endpoint_with("limits", json!({"rpd": 3}))
        .api("anthropic")
        .key("TIGHT_KEY", KEY)
        .model("alpha", "tight", &served("alpha"));
    let gateway = scenario.collection("core", &["alpha"]).start().await;
    let lab = Lab { upstream, gateway };
    let counted = async |question: &Value| {
        let answer = lab.http().post("/v1/messages/count_tokens", question).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.header("x-bench-count").to_owned()
    };
    let asked = || lab.upstream.asked(&served("alpha")).len();
    let all = question("how many");
    let routed = turn("how many");
    for (question, wanted) in [(&all, "exact"), (&routed, "exact"), (&all, "exact"), (&all, "estimate")] {
        assert_eq!(counted(question).await, wanted);
    }
    assert_eq!((asked(), used(&lab.gateway).await), (3, 3));
    let limits = ["endpoint", "set", "tight", "--limit", "rpd=5"];
    lab.gateway.home.bench(&limits).await.exits(0);

    // While the member cools down it is not asked.
    assert_eq!(lab.http().chat(&question("and what")).await.status, 429);
    assert_eq!(counted(&all).await, "estimate");
    assert_eq!(asked(), 4);
    assert_eq!(spent_on(&lab.gateway, "count").await, [json!(3), json!(0), json!(0)]);
    let lab = started_again(lab).await;
    assert_eq!(used(&lab.gateway).await, 4);
}

#[tokio::test]
async fn an_answer_counts_with_the_room_that_its_owner_or_its_caller_gives_it() {
    let callers = bounded("hi", 100);
    for (asked, body, options) in
        [("a panel", question("hi"), json!({"max_tokens": 100})), ("a turn", callers, json!({}))]
    {
        let gate = Gate::shut();
        let upstream = Upstream::start().await;
        upstream.model(&served("alpha"), answers("Answer of alpha.").held(&gate));
        let scenario = Scenario::new()
            .endpoint("tight", &upstream.base())
            .endpoint_with("limits", json!({"tpd": 1000}))
            .key("TIGHT_KEY", KEY)
            .model("alpha", "tight", &served("alpha"))
            .every_model("options", &options);
        let gateway = scenario.collection("core", &["alpha"]).start().await;
        let lab = Lab { upstream, gateway };
        let three = async {
            let (one, two, three) =
                tokio::join!(lab.http().chat(&body), lab.http().chat(&body), lab.http().chat(&body));
            [one.status.as_u16(), two.status.as_u16(), three.status.as_u16()]
        };
        let (statuses, ()) = tokio::join!(three, async {
            lab.upstream.arrived(&served("alpha"), 3).await;
            let used = used(&lab.gateway).await;
            assert!((300..400).contains(&used), "{asked}: {used}");
            gate.open();
        });
        assert_eq!(statuses, [200, 200, 200], "{asked}");
    }
}

#[tokio::test]
async fn what_was_cut_off_or_is_under_way_counts_the_same_when_rules_change_and_after_a_restart() {
    let gate = Gate::shut();
    let held = gate.clone();
    let script = Script::by(move |request| match request.json().to_string().contains("cut") {
        true => cut_mid_chunk(1),
        false => answers("Answer of alpha.").held(&held),
    });
    let upstream = Upstream::start().await;
    upstream.model(&served("alpha"), script);
    let scenario = Scenario::new()
        .endpoint("tight", &upstream.base())
        .endpoint_with("limits", json!({"tpd": 2000}))
        .key("TIGHT_KEY", KEY)
        .model("alpha", "tight", &served("alpha"))
        .every_model("options", &json!({"max_tokens": 900}));
    let gateway = scenario.collection("core", &["alpha"]).start().await;
    let lab = Lab { upstream, gateway };
    for body in [question("it is cut"), bounded("it is cut", 900)] {
        lab.http().chat(&body).await;
    }
    let cut_off = used(&lab.gateway).await;
    assert!((1800..2000).contains(&cut_off), "{cut_off}");
    lab.gateway.home.bench(&["endpoint", "set", "tight", "--limit", "tpd=4000"]).await.exits(0);
    assert_eq!(used(&lab.gateway).await, cut_off);

    let body = bounded("it takes its time", 900);
    let (answer, with_one_more) = tokio::join!(lab.http().chat(&body), async {
        lab.upstream.arrived(&served("alpha"), 3).await;
        let with_one_more = used(&lab.gateway).await;
        assert!(with_one_more > cut_off + 900, "{with_one_more}");
        // One of them looks back further than what is known.
        for limit in ["tpd=4001", "rpmo=50"] {
            lab.gateway.home.bench(&["endpoint", "set", "tight", "--limit", limit]).await.exits(0);
            assert_eq!(used(&lab.gateway).await, with_one_more, "{limit}");
        }
        gate.open();
        with_one_more
    });
    assert_eq!(answer.status, 200);
    let after = used(&lab.gateway).await;
    assert!(cut_off < after && after < with_one_more, "{after}");
    let lab = started_again(lab).await;
    assert_eq!(used(&lab.gateway).await, after);
}

#[tokio::test]
async fn a_cooldown_outlives_a_kill_right_after_it_was_met() {
    let lab = limited(json!({}), rate_limited(Some(3_000))).await;
    assert_eq!(lab.http().chat(&question("one")).await.status, 429);
    let gateway = lab.gateway.kill().await.serve().await;
    let limits = gateway.command("limits", &json!({})).await;
    assert_eq!(limits["cooling"][0]["name"], "alpha", "{limits}");
}

/// Refuses the first call with these words, and answers those that come after.
fn refuses_once(words: &'static str) -> Script {
    let times = AtomicUsize::new(0);
    Script::by(move |_| match times.fetch_add(1, Ordering::Relaxed) {
        0 => fails(429, "rate_limit_exceeded", words).header("retry-after", "1"),
        _ => answers("Answer of alpha."),
    })
}

/// What the provider has stated, as it is shown.
pub(crate) async fn stated(gateway: &Gateway) -> Value {
    let limits = gateway.command("limits", &json!({})).await;
    let mut stated = limits["connections"][0]["stated"].clone();
    for it in stated.as_array_mut().into_iter().flatten() {
        assert!(it.as_object_mut().and_then(|it| it.remove("until")).is_some_and(|until| until.is_string()));
    }
    stated
}

#[tokio::test]
async fn a_limit_that_a_refusal_states_is_kept_to() {
    let words = "Rate limit reached for alpha on requests per day (RPD): Limit 2, Used 2. Try again in 1s.";
    let lab = limited(json!({}), refuses_once(words)).await;
    assert_eq!(lab.http().chat(&question("one")).await.status, 429);
    let of = |used| json!([{"model": served("alpha"), "axis": "rpd", "window_s": 86_400, "limit": 2, "used": used}]);
    // What was sent before it was stated counts too.
    eventually("the refused call", || async { (stated(&lab.gateway).await == of(1)).then_some(()) }).await;
    let told = lab.gateway.home.bench(&["limits"]).await.exits(0).stdout;
    assert!(told.contains("stated by the provider"), "{told}");
    eventually("the end of the wait", || async {
        let limits = lab.gateway.command("limits", &json!({})).await;
        (limits["cooling"] == json!([])).then_some(())
    })
    .await;
    assert_eq!(lab.http().chat(&question("two")).await.status, 200);
    for body in [question("three"), turn("three")] {
        let refused = lab.http().chat(&body).await;
        assert_eq!(refused.status, 429);
        let rule =
            format!("the provider's stated limit of 2 requests a day for {} on tight", served("alpha"));
        assert!(refused.text().contains(&rule), "{}", refused.text());
    }
    assert_eq!(lab.upstream.asked(&served("alpha")).len(), 2);

    let lab = started_again(lab).await;
    assert_eq!(stated(&lab.gateway).await, of(2));
    // The owner's own rule stands over it.
    let bench = async |words: &[&str]| lab.gateway.home.bench(words).await.exits(0);
    bench(&["endpoint", "set", "tight", "--limit", "rpd=3"]).await;
    assert_eq!(stated(&lab.gateway).await, json!([]));
    assert_eq!(lab.http().chat(&question("four")).await.status, 200);
    assert_eq!(lab.http().chat(&question("five")).await.status, 429);
    bench(&["endpoint", "set", "tight", "--limit", "rpd="]).await;
    assert_eq!(lab.http().chat(&question("six")).await.status, 429);
    // Whoever knows better says so.
    bench(&["limits", "clear", "alpha"]).await;
    assert_eq!(lab.http().chat(&question("seven")).await.status, 200);
    assert_eq!(stated(&started_again(lab).await.gateway).await, json!([]));
}

#[tokio::test]
async fn of_two_limits_none_is_learned_and_headers_tell_which_was_met() {
    let refusal = |left: &'static str| {
        let reply = fails(429, "rate_limit_exceeded", "Slow down").header("retry-after", "1");
        let reply = reply.header("x-ratelimit-limit-requests-day", "9");
        reply
            .header("x-ratelimit-remaining-requests-day", "0")
            .header("x-ratelimit-limit-tokens-minute", "5000")
            .header("x-ratelimit-remaining-tokens-minute", left)
    };
    for (left, wanted) in [("17", 1), ("0", 0)] {
        for body in [question("one"), turn("one")] {
            let lab = limited(json!({}), refusal(left)).await;
            assert_eq!(lab.http().chat(&body).await.status, 429);
            let stated = stated(&lab.gateway).await;
            assert_eq!(stated.as_array().map(Vec::len), Some(wanted), "{left}: {stated}");
            assert!(wanted == 0 || (&stated[0]["axis"], &stated[0]["limit"]) == (&json!("rpd"), &json!(9)));
        }
    }
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the gateway under test has the same clock")]
async fn what_a_refusal_says_in_words_does_not_hide_what_its_headers_say() {
    // Of a window of a minute: what is years away is not believed.
    let reset =
        jiff::Timestamp::from_second(jiff::Timestamp::now().as_second() + 40).expect("a time").to_string();
    let told = reset.replace('Z', ".000Z");
    let words = "This request would exceed your organization's rate limit of 30,000 input tokens per minute.";
    let refusal = Api::Anthropic.fails(429, words).header("retry-after", "17");
    let refusal = refusal
        .header("anthropic-ratelimit-input-tokens-limit", "30000")
        .header("anthropic-ratelimit-input-tokens-remaining", "0")
        .header("anthropic-ratelimit-input-tokens-reset", &reset);
    for body in [question("one"), turn("one")] {
        let upstream = Upstream::start().await;
        upstream.model(&served("alpha"), refusal.clone());
        let scenario = Scenario::new()
            .endpoint("tight", &upstream.base_of(Api::Anthropic))
            .api("anthropic")
            .key("TIGHT_KEY", KEY)
            .model("alpha", "tight", &served("alpha"));
        let gateway = scenario.collection("core", &["alpha"]).start().await;
        assert_eq!(gateway.http.chat(&body).await.status, 429);
        let limits = gateway.command("limits", &json!({})).await;
        let quota = &limits["connections"][0]["quota"][0];
        assert_eq!(
            [&quota["metric"], &quota["limit"], &quota["remaining"], &quota["resets_at"]],
            [&json!("input_tokens"), &json!(30_000), &json!(0), &json!(told)],
            "{limits}"
        );
    }
}
