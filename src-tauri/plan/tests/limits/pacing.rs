use catalog::Limits;
use plan::{Axis, Pace, Paced, Pacing, Place, Reserved, Rules, Settled, Spent, Tokens, Used};

const MINUTE: i64 = 60_000;
const DAY: i64 = 1_440 * MINUTE;
const NONE: &Limits = &Limits { rpm: None, rpd: None, tpm: None, tpd: None, rpmo: None };

fn on(limits: &Limits) -> Rules<'_> {
    Rules { connection: ("groq", limits), model: ("groq", "alpha", NONE) }
}

fn of_model(limits: &Limits) -> Rules<'_> {
    Rules { connection: ("groq", NONE), model: ("groq", "alpha", limits) }
}

fn tokens(input: u64, output: u64) -> Tokens {
    Tokens { input, output }
}

fn go(pace: Pace) -> Reserved {
    match pace {
        Pace::Go(reserved) => reserved,
        other => panic!("{other:?}"),
    }
}

fn no(pace: Pace) -> Paced {
    match pace {
        Pace::No(paced) => paced,
        other => panic!("{other:?}"),
    }
}

fn sent(tokens: u64) -> Settled {
    Settled::Sent { requests: 1, tokens: Some(tokens) }
}

#[test]
fn one_rule_of_each_kind() {
    // The rule, how often a call of 10 + 10 tokens goes, for how long not, and what is said.
    let cases = [
        (Limits { rpm: Some(2), ..Limits::default() }, 2, MINUTE, "2 requests a minute on groq"),
        (Limits { rpd: Some(1), ..Limits::default() }, 1, DAY, "1 request a day on groq"),
        (Limits { tpm: Some(50), ..Limits::default() }, 2, MINUTE, "50 tokens a minute on groq"),
        (Limits { tpd: Some(60), ..Limits::default() }, 3, DAY, "60 tokens a day on groq"),
        (Limits { rpmo: Some(2), ..Limits::default() }, 2, 30 * DAY, "2 requests a month on groq"),
        (Limits { rpm: Some(2), rpd: Some(2), ..Limits::default() }, 2, DAY, "2 requests a day on groq"),
    ];
    for (limits, calls, window, words) in cases {
        let mut pacing = Pacing::default();
        for _ in 0..calls {
            let _ = go(pacing.ask(&on(&limits), tokens(10, 10), 7));
        }
        let refused = no(pacing.ask(&on(&limits), tokens(10, 10), 8));
        assert_eq!((refused.to_string().as_str(), refused.until_ms), (words, Some(7 + window)));
        assert_eq!(pacing.look(&on(&limits), tokens(10, 10), 8), Some(refused), "looking says the same");
        assert_eq!(pacing.look(&on(&limits), tokens(10, 10), 7 + window), None);
        let _ = go(pacing.ask(&on(&limits), tokens(10, 10), 7 + window));
    }
}

#[test]
fn a_rule_of_a_model_is_its_own_and_said_so() {
    let limits = Limits { rpm: Some(1), ..Limits::default() };
    let mut pacing = Pacing::default();
    let _ = go(pacing.ask(&of_model(&limits), tokens(1, 1), 0));
    assert_eq!(
        no(pacing.ask(&of_model(&limits), tokens(1, 1), 1)).to_string(),
        "1 request a minute for alpha on groq"
    );
    let beta = Rules { connection: ("groq", NONE), model: ("groq", "beta", &limits) };
    let _ = go(pacing.ask(&beta, tokens(1, 1), 1));
    let elsewhere = Rules { connection: ("hub", NONE), model: ("hub", "alpha", &limits) };
    let _ = go(pacing.ask(&elsewhere, tokens(1, 1), 1));
}

#[test]
fn a_short_wait_is_waited_for_and_has_its_place() {
    let limits = Limits { rpm: Some(1), ..Limits::default() };
    let mut pacing = Pacing::default();
    let _ = go(pacing.ask(&on(&limits), tokens(1, 1), 0));
    let refused = no(pacing.ask(&on(&limits), tokens(1, 1), MINUTE - 2_001));
    assert_eq!(refused.until_ms, Some(MINUTE));
    let waiting = pacing.ask(&on(&limits), tokens(1, 1), MINUTE - 2_000);
    let Pace::Wait { ms: 2_000, reserved } = waiting else { panic!("{waiting:?}") };
    // Nobody gets in between, though the minute is over by now.
    let refused = no(pacing.ask(&on(&limits), tokens(1, 1), MINUTE));
    assert_eq!(refused.until_ms, Some(2 * MINUTE));
    // It gives up waiting: its place is free.
    pacing.settle(reserved, Settled::Nothing);
    let _ = go(pacing.ask(&on(&limits), tokens(1, 1), MINUTE));
}

#[test]
fn what_is_under_way_counts_in_full_and_then_as_what_it_was() {
    let limits = Limits { tpm: Some(1_000), ..Limits::default() };
    let place = Place::Connection("groq".to_owned());
    let used = |pacing: &Pacing, now| pacing.used(&place, &limits, now)[0].used;
    let mut pacing = Pacing::default();
    let first = go(pacing.ask(&on(&limits), tokens(100, 700), 0));
    assert_eq!((used(&pacing, 1), pacing.in_flight(&place)), (800, 1));
    no(pacing.ask(&on(&limits), tokens(100, 200), 1));
    pacing.settle(first, sent(150));
    assert_eq!((used(&pacing, 2), pacing.in_flight(&place)), (150, 0));
    let second = go(pacing.ask(&on(&limits), tokens(100, 700), 2));
    // Nobody counted: it stays what it may have been.
    pacing.settle(second, Settled::Sent { requests: 1, tokens: None });
    assert_eq!(used(&pacing, 3), 950);
    // More than was thought: the rule is broken, and nothing goes until it is not.
    let third = go(pacing.ask(&on(&limits), tokens(10, 10), 4));
    pacing.settle(third, sent(5_000));
    assert_eq!(no(pacing.ask(&on(&limits), tokens(1, 1), 5)).until_ms, Some(MINUTE + 4));
    assert_eq!(used(&pacing, MINUTE + 4), 0);
}

#[test]
fn a_call_that_was_sent_twice_counts_twice_and_one_never_sent_not_at_all() {
    let limits = Limits { rpm: Some(3), ..Limits::default() };
    let mut pacing = Pacing::default();
    let retried = go(pacing.ask(&on(&limits), tokens(1, 1), 0));
    pacing.settle(retried, Settled::Sent { requests: 2, tokens: None });
    let cancelled = go(pacing.ask(&on(&limits), tokens(1, 1), 0));
    no(pacing.ask(&on(&limits), tokens(1, 1), 0));
    pacing.settle(cancelled, Settled::Nothing);
    let _ = go(pacing.ask(&on(&limits), tokens(1, 1), 0));
}

#[test]
fn an_answer_that_may_be_larger_than_the_rule_goes_alone_and_a_question_never() {
    let limits = Limits { tpm: Some(6_000), tpd: Some(100_000), ..Limits::default() };
    let mut pacing = Pacing::default();
    let large = go(pacing.ask(&on(&limits), tokens(500, 8_192), 0));
    no(pacing.ask(&on(&limits), tokens(1, 1), 0));
    pacing.settle(large, sent(900));
    let after = no(pacing.ask(&on(&limits), tokens(500, 8_192), 1));
    assert_eq!(after.until_ms, Some(MINUTE));
    let never = no(pacing.ask(&on(&limits), tokens(6_001, 1), 1));
    assert_eq!((never.rule.axis, never.until_ms), (Axis::Tpm, None));
    let closed = Limits { rpd: Some(0), ..Limits::default() };
    assert_eq!(no(pacing.ask(&on(&closed), tokens(1, 1), 1)).until_ms, None);
}

#[test]
fn the_ledger_takes_the_place_of_what_was_known_but_not_of_what_is_under_way() {
    let limits = Limits { rpm: Some(9), rpd: Some(9), tpd: Some(900), rpmo: Some(9), ..Limits::default() };
    let place = Place::Connection("groq".to_owned());
    let spent = |at_ms, requests, tokens| Spent { place: place.clone(), at_ms, requests, tokens };
    let mut pacing = Pacing::default();
    let now = 40 * DAY;
    let ended = go(pacing.ask(&on(&limits), tokens(50, 50), now));
    let _ = go(pacing.ask(&on(&limits), tokens(60, 60), now));
    pacing.settle(ended, sent(30));
    let rows = [
        spent(now - 31 * DAY, 5, 5),
        spent(now - 2 * DAY, 2, 100),
        spent(now - DAY + MINUTE, 1, 10),
        spent(now - 30_000, 1, 30),
        // Of a clock that was ahead.
        spent(now + 3 * DAY, 1, 7),
    ];
    pacing.load(&[], rows, now);
    let stand: Vec<(Axis, u64)> =
        pacing.used(&place, &limits, now).iter().map(|Used { axis, used, .. }| (*axis, *used)).collect();
    assert_eq!(
        stand,
        [(Axis::Rpm, 3), (Axis::Rpd, 4), (Axis::Tpd, 167), (Axis::Rpmo, 6)],
        "in the order of the file"
    );
    assert_eq!(pacing.in_flight(&place), 1);
}

#[test]
fn what_the_ledger_does_not_name_stays_as_it_is_known() {
    let limits = Limits { rpm: Some(9), ..Limits::default() };
    let place = |connection: &str| Place::Connection(connection.to_owned());
    let spent =
        |connection: &str, requests| Spent { place: place(connection), at_ms: 1, requests, tokens: 0 };
    let mut pacing = Pacing::default();
    let ended = go(pacing.ask(&on(&limits), tokens(1, 1), 1));
    let under_way = go(pacing.ask(&on(&limits), tokens(1, 1), 1));
    assert_eq!(pacing.held(&under_way), 2);
    pacing.settle(ended, sent(1));
    pacing.load(&[], [spent("other", 3)], 2);
    let used = |pacing: &Pacing, connection| pacing.used(&place(connection), &limits, 2)[0].used;
    assert_eq!((used(&pacing, "groq"), used(&pacing, "other")), (2, 3));
    // One that began before there was a rule, and has ended.
    pacing.add(&spent("groq", 1), 2);
    assert_eq!(used(&pacing, "groq"), 3);
    pacing.load(&[], [spent("groq", 5)], 2);
    assert_eq!((used(&pacing, "groq"), used(&pacing, "other")), (6, 3), "with what is under way");
    // Of a place that was asked for, nothing else stays either.
    pacing.load(&[place("groq"), place("new")], [], 2);
    assert_eq!((used(&pacing, "groq"), used(&pacing, "other"), used(&pacing, "new")), (1, 3, 0));
}

#[test]
fn a_call_under_way_counts_by_a_rule_that_is_new_once() {
    let (day, none) = (Limits { rpd: Some(9), tpd: Some(900), ..Limits::default() }, Limits::default());
    let place = Place::Connection("groq".to_owned());
    let model = Place::Model { endpoint: "groq".to_owned(), served: "alpha".to_owned() };
    let used = |pacing: &Pacing, place: &Place, now| {
        pacing.used(place, &day, now).iter().map(|it| it.used).collect::<Vec<u64>>()
    };
    let mut pacing = Pacing::default();
    let mut reserved = None;
    pacing.hold(&on(&none), tokens(100, 200), 5, &mut reserved, 9);
    assert_eq!((&reserved, pacing.in_flight(&place)), (&None, 0), "there is no rule");
    // The connection's, again, then the model's beside it, then the model's alone.
    let (one, both) = (on(&day), Rules { model: ("groq", "alpha", &day), ..on(&day) });
    for (rules, of_model) in [(&one, 0), (&one, 0), (&both, 1), (&of_model(&day), 1)] {
        pacing.hold(rules, tokens(100, 200), 5, &mut reserved, 9);
        assert_eq!((used(&pacing, &place, 9), pacing.in_flight(&place)), (vec![1, 300], 1));
        assert_eq!(used(&pacing, &model, 9), [of_model, 300 * of_model]);
    }
    // One that is asked about now has room beside it, and what the ledger knows comes in beside both.
    let ended = Spent { place: place.clone(), at_ms: 7, requests: 2, tokens: 20 };
    pacing.load(&[place.clone(), model.clone()], [ended], 9);
    assert_eq!((used(&pacing, &place, 9), used(&pacing, &model, 9)), (vec![3, 320], vec![1, 300]));
    pacing.settle(reserved.expect("a place"), sent(150));
    assert_eq!((used(&pacing, &place, 9), used(&pacing, &model, 9)), (vec![3, 170], vec![1, 150]));
    // It counts at the time it was sent.
    assert_eq!((used(&pacing, &model, DAY + 4), used(&pacing, &model, DAY + 5)), (vec![1, 150], vec![0, 0]));
    // One that asked by one rule is held by another.
    let mut asked = Some(go(pacing.ask(&on(&day), tokens(10, 10), DAY + 10)));
    pacing.hold(&both, tokens(99, 99), DAY, &mut asked, DAY + 11);
    assert_eq!(used(&pacing, &model, DAY + 11), [1, 20]);
    pacing.settle(asked.expect("a place"), Settled::Nothing);
    assert_eq!(used(&pacing, &model, DAY + 11), [0, 0]);
}

#[test]
fn without_rules_there_is_nothing_to_keep() {
    assert!(on(NONE).is_empty());
    assert!(!of_model(&Limits { tpd: Some(1), ..Limits::default() }).is_empty());
    let mut pacing = Pacing::default();
    for _ in 0..1_000 {
        let _ = go(pacing.ask(&on(NONE), tokens(1, 1), 0));
    }
}
