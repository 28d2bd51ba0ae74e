//! Rules that are made while calls are under way count those at once, and each call once: providers.md §5.

use std::sync::atomic::{AtomicUsize, Ordering};

use bench_tests::{
    Gate, Gateway, Lab, Scenario, Upstream, eventually,
    scenario::{KEY, question, served},
    upstream::{Script, answers, cut_mid_chunk, fails},
};
use serde_json::{Value, json};

use crate::metering::{limited, started_again, stated, turn, used};

/// Answers what does not ask to be held; the rest when the gate is open.
fn held_if_asked(gate: &Gate) -> Script {
    let gate = gate.clone();
    Script::by(move |request| match request.json().to_string().contains("hold on") {
        true => answers("Answer of alpha.").held(&gate),
        false => answers("Answer of alpha."),
    })
}

/// `core` of two members on one endpoint that has no rule.
async fn two(alpha: impl Into<Script>, beta: impl Into<Script>) -> Lab {
    let upstream = Upstream::start().await;
    upstream.model(&served("alpha"), alpha);
    upstream.model(&served("beta"), beta);
    let scenario = Scenario::new().endpoint("tight", &upstream.base()).key("TIGHT_KEY", KEY);
    let scenario =
        ["alpha", "beta"].into_iter().fold(scenario, |it, alias| it.model(alias, "tight", &served(alias)));
    let gateway = scenario.collection("core", &["alpha", "beta"]).start().await;
    Lab { upstream, gateway }
}

async fn set(gateway: &Gateway, limit: &str) {
    gateway.home.bench(&["endpoint", "set", "tight", "--limit", limit]).await.exits(0);
}

/// What is used of each rule of the endpoint, and how many calls are under way there.
async fn all_used(gateway: &Gateway) -> (Vec<u64>, u64) {
    let limits = gateway.command("limits", &json!({})).await;
    let of = &limits["connections"][0];
    let rules = of["rules"].as_array().unwrap_or_else(|| panic!("no rule in {limits}"));
    let used = rules.iter().map(|rule| rule["used"].as_u64().expect("a number")).collect();
    (used, of["in_flight"].as_u64().expect("a number"))
}

#[tokio::test]
async fn what_is_under_way_when_the_first_rule_is_made_counts_at_once_and_once() {
    for (asked, ended, held) in
        [("a panel", question("hi"), question("hold on")), ("a turn", turn("hi"), turn("hold on"))]
    {
        let gate = Gate::shut();
        let lab = limited(json!({}), held_if_asked(&gate)).await;
        assert_eq!(lab.http().chat(&ended).await.status, 200);
        let (one, two, ()) = tokio::join!(lab.http().chat(&held), lab.http().chat(&held), async {
            lab.upstream.arrived(&served("alpha"), 3).await;
            // The one that had ended is in the ledger, and two are under way.
            set(&lab.gateway, "rpd=3").await;
            assert_eq!(all_used(&lab.gateway).await, (vec![3], 2), "{asked}");
            assert_eq!(lab.http().chat(&ended).await.status, 429, "{asked}");
            // A longer one beside it, a shorter one, and the first anew.
            for (limit, wanted) in [("rpmo=9", 2), ("rpm=9", 3), ("rpd=", 2), ("rpd=4", 3)] {
                set(&lab.gateway, limit).await;
                let stand = all_used(&lab.gateway).await;
                assert_eq!(stand, (vec![3; wanted], 2), "{asked} {limit}");
            }
            gate.open();
        });
        assert_eq!((one.status.as_u16(), two.status.as_u16()), (200, 200), "{asked}");
        assert_eq!(all_used(&lab.gateway).await, (vec![3; 3], 0), "{asked}");
        assert_eq!(lab.http().chat(&ended).await.status, 200, "{asked}: there is room for one");
        assert_eq!(lab.http().chat(&ended).await.status, 429, "{asked}");
        assert_eq!(lab.upstream.asked(&served("alpha")).len(), 4, "{asked}");
        let lab = started_again(lab).await;
        assert_eq!(all_used(&lab.gateway).await, (vec![4; 3], 0), "{asked} after a restart");
    }
}

#[tokio::test]
async fn what_it_may_take_counts_until_it_is_known_what_it_took() {
    let gate = Gate::shut();
    let lab = limited(json!({}), held_if_asked(&gate)).await;
    let body = question("hold on");
    let (answer, ()) = tokio::join!(lab.http().chat(&body), async {
        lab.upstream.arrived(&served("alpha"), 1).await;
        set(&lab.gateway, "tpd=100000").await;
        let used = used(&lab.gateway).await;
        assert!((4_096..5_000).contains(&used), "{used}");
        gate.open();
    });
    assert_eq!(answer.status, 200);
    let took = used(&lab.gateway).await;
    assert!((1..100).contains(&took), "{took}");
    assert_eq!(used(&started_again(lab).await.gateway).await, took);
}

#[tokio::test]
async fn of_one_that_is_cut_off_what_it_may_have_taken_stays_after_a_restart_too() {
    let gate = Gate::shut();
    let lab = limited(json!({}), cut_mid_chunk(1).held(&gate)).await;
    let body = question("hold on");
    let (_, before) = tokio::join!(lab.http().chat(&body), async {
        lab.upstream.arrived(&served("alpha"), 1).await;
        set(&lab.gateway, "tpd=100000").await;
        let before = used(&lab.gateway).await;
        gate.open();
        before
    });
    assert!(before > 4_096, "{before}");
    assert_eq!(used(&lab.gateway).await, before);
    assert_eq!(used(&started_again(lab).await.gateway).await, before);
}

#[tokio::test]
async fn a_turns_attempt_that_has_failed_counts_while_another_is_under_way() {
    let gate = Gate::shut();
    let lab = two(fails(500, "server_error", "Not now."), answers("Answer of beta.").held(&gate)).await;
    let body = turn("hi");
    let (answer, ()) = tokio::join!(lab.http().chat(&body), async {
        lab.upstream.arrived(&served("beta"), 1).await;
        set(&lab.gateway, "rpd=9").await;
        assert_eq!(all_used(&lab.gateway).await, (vec![2], 1));
        gate.open();
    });
    assert_eq!(answer.status, 200);
    assert_eq!(all_used(&lab.gateway).await, (vec![2], 0));
    assert_eq!(used(&started_again(lab).await.gateway).await, 2);
}

#[tokio::test]
async fn whoever_began_before_a_rule_keeps_it_with_what_it_sends_next() {
    let gate = Gate::shut();
    let alpha = fails(500, "server_error", "Not now.").held(&gate);
    let lab = two(alpha, answers("Answer of beta.")).await;
    let body = turn("hi");
    let (answer, ()) = tokio::join!(lab.http().chat(&body), async {
        lab.upstream.arrived(&served("alpha"), 1).await;
        set(&lab.gateway, "rpd=1").await;
        gate.open();
    });
    assert_ne!(answer.status, 200, "{}", answer.text());
    assert_eq!(lab.upstream.asked(&served("beta")).len(), 0);
    assert_eq!(all_used(&lab.gateway).await, (vec![1], 0));
}

#[tokio::test]
async fn a_limit_that_is_stated_counts_what_is_under_way_with_its_model() {
    let gate = Gate::shut();
    let held = gate.clone();
    let words = "Rate limit reached for alpha on requests per day (RPD): Limit 5, Used 5. Try again in 1s.";
    let times = AtomicUsize::new(0);
    let script = Script::by(move |_| match times.fetch_add(1, Ordering::Relaxed) {
        0 => answers("Answer of alpha."),
        1 => answers("Answer of alpha.").held(&held),
        _ => fails(429, "rate_limit_exceeded", words).header("retry-after", "1"),
    });
    let lab = limited(json!({}), script).await;
    assert_eq!(lab.http().chat(&question("one")).await.status, 200);
    let of = async |wanted: u64| {
        eventually("what is stated to count", async || {
            let stated: Value = stated(&lab.gateway).await;
            (stated[0]["used"] == wanted && stated[0]["limit"] == 5).then_some(())
        })
        .await;
    };
    let body = question("two");
    let (answer, ()) = tokio::join!(lab.http().chat(&body), async {
        lab.upstream.arrived(&served("alpha"), 2).await;
        assert_eq!(lab.http().chat(&question("three")).await.status, 429);
        of(3).await;
        gate.open();
    });
    assert_eq!(answer.status, 200);
    of(3).await;
    let lab = started_again(lab).await;
    assert_eq!(stated(&lab.gateway).await[0]["used"], 3);
}
