use catalog::Model;
use plan::{Cooldowns, Cooling, Place, Reach};
use proptest::prelude::*;

use crate::bench::at;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const DAY: i64 = 1_440 * MINUTE;

fn alpha() -> Model {
    at("hub", "alpha", "groq/alpha")
}

#[test]
fn a_guess_begins_at_a_minute_doubles_to_thirty_and_is_halved_by_success() {
    let mut cooldowns = Cooldowns::default();
    let mut now = 0;
    let mut limit = |cooldowns: &mut Cooldowns| {
        let until = cooldowns.limited(&alpha(), "hub/groq", Reach::Model, None, now);
        let length = until - now;
        now = until;
        length / MINUTE
    };
    let lengths: Vec<i64> = (0..7).map(|_| limit(&mut cooldowns)).collect();
    assert_eq!(lengths, [1, 2, 4, 8, 16, 30, 30]);
    cooldowns.succeeded(&alpha(), "hub/groq");
    cooldowns.succeeded(&alpha(), "hub/groq");
    assert_eq!(limit(&mut cooldowns), 15, "30 halved twice, and met again");
    let changed: Vec<bool> = (0..5).map(|_| cooldowns.succeeded(&alpha(), "hub/groq")).collect();
    assert!(changed[0] && !changed[4], "{changed:?}");
    assert_eq!(limit(&mut cooldowns), 1, "forgotten");
}

#[test]
fn calls_that_were_under_way_do_not_double_it() {
    let mut cooldowns = Cooldowns::default();
    for at in [0, 5, 10] {
        assert_eq!(cooldowns.limited(&alpha(), "c", Reach::Model, None, at), MINUTE);
    }
}

#[test]
fn a_stated_wait_is_kept_to() {
    // (stated before, stated now), at 0 and at 10 s: until when
    let cases = [
        (None, Some(5 * SECOND), 15 * SECOND),
        (None, Some(3 * DAY), DAY + 10 * SECOND),
        (Some(5 * MINUTE), Some(SECOND), 5 * MINUTE),
        (Some(5 * MINUTE), Some(9 * MINUTE), 9 * MINUTE + 10 * SECOND),
        (Some(5 * MINUTE), None, 5 * MINUTE),
        (Some(0), None, MINUTE + 10 * SECOND),
        (Some(-5), Some(i64::MAX), DAY + 10 * SECOND),
    ];
    for (before, now, wanted) in cases {
        let mut cooldowns = Cooldowns::default();
        cooldowns.limited(&alpha(), "c", Reach::Model, before, 0);
        let until = cooldowns.limited(&alpha(), "c", Reach::Model, now, 10 * SECOND);
        assert_eq!(until, wanted, "{before:?} {now:?}");
    }
}

#[test]
fn it_reaches_as_far_as_it_was_told_and_no_further() {
    let same_served = at("other", "alpha2", "groq/alpha");
    let neighbour = at("hub", "beta", "groq/beta");
    let mut cooldowns = Cooldowns::default();
    cooldowns.limited(&alpha(), "hub/groq", Reach::Model, None, 0);
    assert_eq!(cooldowns.cooling(&alpha(), "hub/groq", 1), Some(MINUTE));
    assert_eq!(cooldowns.cooling(&neighbour, "hub/groq", 1), None);
    assert_eq!(cooldowns.cooling(&same_served, "other", 1), None, "another endpoint serves it too");
    assert_eq!(cooldowns.cooling(&alpha(), "hub/groq", MINUTE), None, "over at that instant");

    cooldowns.limited(&neighbour, "hub/groq", Reach::Connection, Some(5 * MINUTE), 0);
    assert_eq!(cooldowns.cooling(&alpha(), "hub/groq", 1), Some(5 * MINUTE), "the longer of the two");
    assert_eq!(cooldowns.cooling(&neighbour, "hub/groq", 1), Some(5 * MINUTE));
    assert_eq!(cooldowns.cooling(&neighbour, "hub/meta", 1), None);

    let connection = Place::Connection("hub/groq".to_owned());
    let model = Place::Model { endpoint: "hub".to_owned(), served: "groq/alpha".to_owned() };
    assert_eq!(
        cooldowns.list(1),
        [
            Cooling { place: connection.clone(), until_ms: 5 * MINUTE, stated: true },
            Cooling { place: model.clone(), until_ms: MINUTE, stated: false },
        ]
    );
    assert_eq!(cooldowns.list(MINUTE).len(), 1);
    assert!(cooldowns.clear(&connection) && !cooldowns.clear(&connection));
    assert_eq!(cooldowns.cooling(&alpha(), "hub/groq", 1), Some(MINUTE));
    assert!(cooldowns.clear(&model));
    assert!(cooldowns.list(1).is_empty());
}

#[test]
fn a_restart_forgets_nothing() {
    let mut before = Cooldowns::default();
    before.limited(&alpha(), "hub/groq", Reach::Model, None, 0);
    before.limited(&alpha(), "hub/groq", Reach::Model, None, MINUTE);
    before.limited(&alpha(), "hub/groq", Reach::Connection, Some(DAY), 0);
    before.limited(&at("hub", "beta", "beta"), "hub", Reach::Model, Some(MINUTE), 0);
    let now = 4 * MINUTE;
    let state = before.state(now);
    let kept: Vec<(i64, bool, i64)> =
        state.iter().map(|it| (it.cooling.until_ms, it.cooling.stated, it.step_ms)).collect();
    assert_eq!(kept, [(3 * MINUTE, false, 2 * MINUTE), (DAY, true, 0)], "what is over and has no guess goes");

    let mut after = Cooldowns::default();
    after.load(state, now);
    assert_eq!((after.list(now), after.state(now)), (before.list(now), before.state(now)));
    assert_eq!(
        after.limited(&alpha(), "hub/groq", Reach::Model, None, now),
        now + 4 * MINUTE,
        "guesses go on from where they were"
    );
    // The clock was a week ahead when it was kept.
    let mut odd = Cooldowns::default();
    odd.load(before.state(now), now - 7 * DAY);
    assert_eq!(odd.cooling(&alpha(), "hub/groq", now - 7 * DAY), Some(now - 6 * DAY));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20_261_129),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Whatever happens, nothing cools for more than a day from now, and a limit always cools from now on unless
    /// the provider said not to.
    #[test]
    fn bounded(steps in proptest::collection::vec((0..3_u8, proptest::option::of(any::<i64>()), 0..DAY), 1..40)) {
        let mut cooldowns = Cooldowns::default();
        let mut now = 0;
        for (what, stated, later) in steps {
            now += later;
            match what {
                0 => {
                    cooldowns.succeeded(&alpha(), "c");
                }
                reach => {
                    let reach = if reach == 1 { Reach::Model } else { Reach::Connection };
                    let until = cooldowns.limited(&alpha(), "c", reach, stated, now);
                    prop_assert!(until > now || stated.is_some_and(|wait| wait <= 0));
                }
            }
            prop_assert!(cooldowns.cooling(&alpha(), "c", now).is_none_or(|until| until - now <= DAY));
        }
    }
}
