use std::collections::HashMap;

use plan::{Evidence, Record, Shape, Suite, Tally};
use proptest::prelude::*;

const ALIASES: [&str; 3] = ["a", "b", "c"];
const SHAPES: [&str; 2] = ["general", "review"];

/// What can happen to a record.
#[derive(Clone, Debug)]
enum Step {
    /// A call of alias and shape ends.
    Call(usize, usize, i64),
    /// The nth call so far gets this verdict, or loses it.
    Judge(usize, Option<bool>),
    Rename(usize, usize),
    /// Everything is counted anew, as at a start.
    Restart,
}

/// A call as a store would keep it.
struct Kept {
    alias: String,
    shape: usize,
    at_ms: i64,
    verdict: Option<bool>,
}

fn any_step() -> impl Strategy<Value = Step> {
    let verdict = proptest::option::of(any::<bool>());
    prop_oneof![
        4 => (0..3_usize, 0..2_usize, -5..50_i64).prop_map(|(alias, shape, at)| Step::Call(alias, shape, at)),
        4 => (any::<usize>(), verdict).prop_map(|(call, verdict)| Step::Judge(call, verdict)),
        1 => (0..3_usize, 0..3_usize).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => Just(Step::Restart),
    ]
}

fn count<'a>(calls: impl Iterator<Item = &'a Kept>) -> Tally {
    calls.fold(Tally::default(), |tally, call| Tally {
        useful: tally.useful + u32::from(call.verdict == Some(true)),
        judged: tally.judged + u32::from(call.verdict.is_some()),
        offloads: tally.offloads + 1,
        last_offload_ms: tally.last_offload_ms.max(Some(call.at_ms)),
    })
}

fn recounted(kept: &[Kept]) -> Evidence {
    let mut evidence = Evidence::default();
    let mut groups: HashMap<(&str, usize), Vec<&Kept>> = HashMap::new();
    for call in kept {
        groups.entry((call.alias.as_str(), call.shape)).or_default().push(call);
    }
    for ((alias, shape), calls) in groups {
        evidence.add(alias, &Shape::new(SHAPES[shape]), count(calls.into_iter()));
    }
    evidence
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20_261_129),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn it_equals_a_recount_after_any_sequence(steps in proptest::collection::vec(any_step(), 0..60)) {
        let mut kept: Vec<Kept> = Vec::new();
        let mut evidence = Evidence::default();
        for step in steps {
            match step {
                Step::Call(alias, shape, at_ms) => {
                    evidence.offload(ALIASES[alias], &Shape::new(SHAPES[shape]), at_ms);
                    kept.push(Kept { alias: ALIASES[alias].to_owned(), shape, at_ms, verdict: None });
                }
                Step::Judge(call, verdict) => {
                    let count = kept.len();
                    let Some(call) = kept.get_mut(call % count.max(1)) else { continue };
                    evidence.verdict(&call.alias, &Shape::new(SHAPES[call.shape]), call.verdict, verdict);
                    call.verdict = verdict;
                }
                Step::Rename(from, to) => {
                    evidence.rename(ALIASES[from], ALIASES[to]);
                    kept.iter_mut().filter(|call| call.alias == ALIASES[from]).for_each(|call| {
                        call.alias = ALIASES[to].to_owned();
                    });
                }
                Step::Restart => evidence = recounted(&kept),
            }
        }
        for alias in ALIASES {
            for (at, shape) in SHAPES.iter().enumerate() {
                let of_model = || kept.iter().filter(|call| call.alias == alias);
                let wanted = Record {
                    shape: count(of_model().filter(|call| call.shape == at)),
                    overall: count(of_model()),
                    suite: Suite::default(),
                };
                prop_assert_eq!(evidence.record(alias, &Shape::new(*shape)), wanted);
            }
        }
    }
}

#[test]
fn seats_are_counted_and_released_under_the_alias_they_were_taken_under() {
    let mut evidence = Evidence::default();
    evidence.released("a");
    assert_eq!(evidence.in_flight("a"), 0, "nothing goes below zero");
    evidence.seated("a", 1);
    evidence.seated("a", 2);
    evidence.suite("a", Suite { verified: 1, tasks: 2, recall: 0.5 });
    evidence.rename("a", "b");
    evidence.rename("b", "b");
    assert_eq!((evidence.in_flight("a"), evidence.in_flight("b")), (2, 0));
    assert_eq!(evidence.record("b", &Shape::GENERAL).suite.tasks, 2);
    evidence.released("a");
    assert_eq!(evidence.in_flight("a"), 1);
}
