use plan::{Failing, Health, is_structural};
use wire::Class;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

const GONE: (Class, Option<u16>) = (Class::NotFound, Some(404));

/// What is told of a model, at an hour: that it answered, or how it failed.
type Told = (i64, Option<(Class, Option<u16>)>);

/// What is told, the failing days afterwards, and the hour at which it is news.
type Case = (&'static str, &'static [Told], Option<u32>, Option<i64>);

const fn fail(hour: i64) -> Told {
    (hour, Some(GONE))
}

const fn ok(hour: i64) -> Told {
    (hour, None)
}

const fn limit(hour: i64) -> Told {
    (hour, Some((Class::Capacity, Some(429))))
}

/// The failing days after all of it, and when it first became news.
fn told(events: &[Told]) -> (Option<u32>, Option<i64>) {
    let mut health = Health::default();
    let mut news = None;
    for (hour, how) in events {
        match how {
            None => health.answered("fake", "alpha", hour * HOUR),
            Some(failure) => {
                let words = format!("at {hour}");
                let is_news = health.failed("fake", "alpha", *failure, &words, hour * HOUR).is_some();
                assert!(!is_news || news.is_none(), "told twice");
                news = news.or(is_news.then_some(*hour));
            }
        }
    }
    (health.retiring("fake", "alpha").map(|failing| failing.days), news)
}

#[test]
fn three_failing_days_and_no_fewer() {
    const CASES: &[Case] = &[
        ("two days", &[fail(0), fail(25)], None, None),
        ("the third", &[fail(0), fail(25), fail(49), fail(50)], Some(3), Some(49)),
        ("one day, often", &[fail(0), fail(1), fail(2), fail(3)], None, None),
        ("days between, on which nothing was asked", &[fail(0), fail(240), fail(480)], Some(3), Some(480)),
        ("by UTC", &[fail(23), fail(24), fail(48)], Some(3), Some(48)),
        ("an answer between", &[fail(0), fail(25), ok(30), fail(49)], None, None),
        ("an answer afterwards", &[fail(0), fail(25), fail(49), ok(50)], None, Some(49)),
        ("an answer before, that day", &[ok(1), fail(2), fail(25), fail(49)], None, None),
        ("so the day after is the first", &[ok(1), fail(2), fail(25), fail(49), fail(73)], Some(3), Some(73)),
        ("limits say nothing", &[limit(0), limit(25), limit(49), limit(73)], None, None),
        ("nor do they mend anything", &[fail(0), limit(25), fail(49), fail(73)], Some(3), Some(73)),
        ("a fourth day", &[fail(0), fail(25), fail(49), fail(73)], Some(4), Some(49)),
        // Read back from the ledger, successes may come late, and clocks may have been set back.
        ("an older answer, told later", &[fail(25), fail(49), ok(1), fail(73)], Some(3), Some(73)),
        ("a clock set back", &[fail(25), fail(49), fail(25), fail(49)], None, None),
    ];
    for (what, events, days, news) in CASES {
        assert_eq!(told(events), (*days, *news), "{what}");
    }
}

#[test]
fn it_says_since_when_and_the_last_words_and_starts_anew_when_cleared() {
    let mut health = Health::default();
    for (day, words) in [(0, "no such model"), (1, "gone"), (2, "pay first")] {
        let failure = if day == 2 { (Class::Paywalled, Some(402)) } else { GONE };
        let news = health.failed("fake", "alpha", failure, words, day * DAY).is_some();
        assert_eq!(news, day == 2);
    }
    let expected = Failing {
        since_ms: 0,
        last_ms: 2 * DAY,
        days: 3,
        class: Class::Paywalled,
        words: "pay first".to_owned(),
    };
    assert_eq!(health.retiring("fake", "alpha"), Some(&expected));
    assert_eq!(health.retiring("fake", "beta"), None);
    assert_eq!(health.retiring("other", "alpha"), None, "another endpoint serves it too");
    assert!(health.clear("fake", "alpha") && !health.clear("fake", "alpha"));
    assert_eq!(health.retiring("fake", "alpha"), None);
}

#[test]
fn what_waiting_does_not_mend() {
    let cases = [
        (Class::SignIn, Some(401), false),
        (Class::NotFound, Some(404), true),
        (Class::Paywalled, Some(402), true),
        (Class::Entitlement, Some(403), true),
        (Class::Capacity, Some(429), false),
        (Class::Capacity, Some(503), false),
        (Class::TooLarge, Some(413), false),
        (Class::BadRequest, Some(400), false),
        (Class::Timeout, None, false),
        (Class::Network, None, false),
        (Class::Empty, None, true),
        (Class::Other, None, true),
        (Class::Other, Some(418), true),
        (Class::Other, Some(500), false),
        (Class::Other, Some(502), false),
    ];
    for (class, status, wanted) in cases {
        assert_eq!(is_structural(class, status), wanted, "{class:?} {status:?}");
    }
}
