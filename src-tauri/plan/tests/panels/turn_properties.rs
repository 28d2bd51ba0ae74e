//! What holds of turns whatever the set-up, and of conversations in the long run.

use std::collections::HashMap;

use catalog::{Model, ModelRole};
use plan::{Shape, TurnOrder, Unavailable};
use proptest::{collection::vec, option, prelude::*};

use crate::{
    bench::{Bench, DAY, model, retired},
    turns::Turn,
};

#[derive(Clone, Debug)]
struct Case {
    models: Vec<Model>,
    members: Vec<usize>,
    away: Vec<Option<u8>>,
    worked: Vec<(usize, i64, bool)>,
    content: (bool, bool, bool, bool),
    by_name: bool,
    kept: Option<usize>,
    rotates: bool,
}

const MODELS: usize = 8;

fn any_model() -> impl Strategy<Value = Model> {
    let role = prop_oneof![
        5 => Just(ModelRole::GENERAL),
        1 => Just(ModelRole::VISION),
        1 => Just(ModelRole::DECISION),
    ];
    let fact = || option::weighted(0.8, prop::bool::weighted(0.8));
    let endpoint = prop_oneof![2 => Just("free"), 1 => Just("paid")];
    (role, endpoint, fact(), fact(), fact(), 0..8_u8).prop_map(|(role, endpoint, tools, vision, pdf, odd)| {
        let mut made = Model::new("x", endpoint, if odd == 3 { "elsewhere" } else { "x" });
        made.role = role;
        (made.facts.tools, made.facts.vision, made.facts.pdf) = (tools, vision, pdf);
        made.facts.context_window = (odd == 0).then_some(512);
        made.ad_hoc = odd == 1;
        if odd == 2 { retired(made) } else { made }
    })
}

fn any_case() -> impl Strategy<Value = Case> {
    let content = (any::<bool>(), prop::bool::weighted(0.3), prop::bool::weighted(0.3), any::<bool>());
    (
        vec(any_model(), MODELS),
        // One of them is not registered, and one may be there twice.
        vec(0..=MODELS, 0..7),
        vec(option::weighted(0.3, 0..7_u8), MODELS),
        vec((0..MODELS, 0..90_i64, any::<bool>()), 0..40),
        content,
        any::<bool>(),
        option::of(0..=MODELS),
        any::<bool>(),
    )
        .prop_map(|(mut models, members, away, worked, content, by_name, kept, rotates)| {
            models.iter_mut().enumerate().for_each(|(n, model)| model.alias = format!("m{n}"));
            Case { models, members, away, worked, content, by_name, kept, rotates }
        })
}

fn bench_of(case: &Case) -> Bench {
    let mut bench = Bench::new();
    bench.setup.models = case.models.clone();
    bench.collection.members = case.members.iter().map(|n| format!("m{n}")).collect();
    (_, bench.has_images, bench.documents, _) = case.content;
    bench.estimate = if case.content.3 { 1000 } else { 100 };
    for (n, away) in case.away.iter().enumerate() {
        let why = match away {
            None => continue,
            Some(0) => Unavailable::Cooling { until_ms: i64::MAX },
            Some(1) => Unavailable::Retiring,
            Some(2) => Unavailable::Unlisted,
            Some(3) => Unavailable::ProbeFailed,
            Some(4) => Unavailable::NoKey,
            Some(5) => Unavailable::Gone,
            Some(6) => Unavailable::WentPaid,
            Some(_) => Unavailable::OverLimit,
        };
        bench.away.insert(format!("m{n}"), why);
    }
    let now = bench.now_ms;
    for (n, days, useful) in &case.worked {
        let (alias, shape) = (format!("m{n}"), Shape::GENERAL);
        bench.evidence.offload(&alias, &shape, now - days * DAY);
        bench.evidence.verdict(&alias, &shape, None, Some(*useful));
    }
    bench
}

fn aliases(order: &TurnOrder) -> Vec<String> {
    order.candidates.iter().map(|it| it.alias.clone()).collect()
}

fn sorted(mut aliases: Vec<String>) -> Vec<String> {
    aliases.sort();
    aliases
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20_261_130),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_member_is_a_candidate_or_skipped_once(case in any_case()) {
        let bench = bench_of(&case);
        let kept = case.kept.map(|n| format!("m{n}"));
        let turn = Turn {
            tools: case.content.0,
            by_name: case.by_name,
            kept: kept.as_deref(),
            rotates: case.rotates,
        };
        let outcome = turn.order(&bench);
        prop_assert_eq!(&turn.order(&bench), &outcome, "the same again");

        let mut members = sorted(bench.collection.members.clone());
        members.dedup();
        let (named, skipped) = match &outcome {
            Ok(order) => (aliases(order), &order.skipped),
            Err(refused) => (Vec::new(), &refused.skipped),
        };
        let all = named.iter().cloned().chain(skipped.iter().map(|skip| skip.alias.clone())).collect();
        prop_assert_eq!(sorted(all), members);
        prop_assert!(skipped.iter().all(|skip| !skip.why.is_empty()));
        let Ok(order) = outcome else { return Ok(()) };
        prop_assert!(!order.candidates.is_empty());

        // Those that rest are behind all that do not, but for the conversation's own where all rest.
        let rest: Vec<bool> = order.candidates.iter().map(|it| it.held_back.is_some()).collect();
        prop_assert!(rest.is_sorted(), "{:?}", order);
        if let Some(kept) = &kept
            && let Some(at) = named.iter().position(|alias| alias == kept)
            && (!rest[at] || rest.iter().all(|rests| *rests))
        {
            prop_assert_eq!(at, 0);
            prop_assert_eq!(&order.by, "the conversation's model");
        }
        // Behind the first stands the same order, whoever begins.
        let ranked = aliases(&Turn { kept: None, rotates: false, ..turn }.order(&bench).expect("the same members"));
        let first = &named[0];
        let others: Vec<_> = ranked.iter().filter(|alias| *alias != first).cloned().collect();
        prop_assert_eq!(&named[1..], &others[..]);

        // What is known of them moves them about, and never out.
        let mut judged = bench_of(&Case { worked: Vec::new(), ..case.clone() });
        for n in 0..MODELS {
            judged.evidence.verdict(&format!("m{n}"), &Shape::GENERAL, None, Some(false));
        }
        let judged = turn.order(&judged).expect("a verdict does not exclude");
        prop_assert_eq!(sorted(aliases(&judged)), sorted(named));
        prop_assert_eq!(judged.skipped, order.skipped);
    }

}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20_261_130),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Whoever has gone longest without work is the next to be rotated in, so that of N members each begins a
    /// conversation within N rotations.
    #[test]
    fn nobody_vanishes_by_silence(members in 2..6_usize, seed in any::<u64>()) {
        let mut bench = Bench::new();
        for n in 0..members {
            bench = bench.model(model(&format!("m{n}")));
            bench.collection.members.push(format!("m{n}"));
        }
        // The first is the best for ever.
        bench = bench.worked("m0", "general", 1000, 1);
        let mut random = seed | 1;
        let (mut began, mut rotated, mut since) = (HashMap::new(), 0, HashMap::<String, u32>::new());
        for _ in 0..400 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            // One in four.
            let rotates = random % 4 == 0;
            rotated += u32::from(rotates);
            bench.now_ms += 60_000;
            let order = Turn { rotates, ..Turn::default() }.order(&bench).expect("members");
            let first = order.candidates[0].alias.clone();
            bench.evidence.offload(&first, &Shape::GENERAL, bench.now_ms);
            *began.entry(first.clone()).or_insert(0_u32) += 1;
            let waited = rotated - since.insert(first, rotated).unwrap_or(0);
            prop_assert!(waited <= members as u32, "{waited} rotations");
        }
        prop_assert!((60..=140).contains(&rotated), "{rotated} of 400");
        prop_assert_eq!(began.len(), members);
        prop_assert!(since.values().all(|last| rotated - last <= members as u32));
        // The best still has the most.
        prop_assert!(began["m0"] >= 400 - rotated);
    }
}
