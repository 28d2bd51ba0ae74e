use plan::{NoReserve, Seat, SeatKind, Shape, Unavailable};

use crate::bench::{Bench, at, model, retired, seen};

fn reserve(bench: &Bench, panel: &[Seat], failed: &str) -> Result<Seat, NoReserve> {
    bench.input(|input| plan::reserve(input, &Shape::new("review"), panel, failed))
}

fn panel(bench: &Bench) -> Vec<Seat> {
    bench.seat("review").map(|seating| seating.seats).unwrap_or_default()
}

fn bench() -> Bench {
    let mut bench = Bench::new().models(["alpha", "beta"]).members(["alpha", "beta"]);
    bench.setup.settings.max_explorers = 0;
    bench
}

#[test]
fn the_best_record_on_a_connection_of_its_own() {
    let bench = bench()
        .models(["same-connection"])
        .model(at("hub", "good", "groq/good"))
        .model(at("hub", "better", "groq/better"))
        .worked("same-connection", "review", 50, 1)
        .worked("good", "review", 2, 1)
        .worked("better", "review", 3, 1);
    let seat = reserve(&bench, &panel(&bench), "member2").expect("a reserve");
    assert_eq!(seen(&seat), ("member2.r1", "better"));
    assert_eq!(seat.kind, SeatKind::Reserve);
    assert_eq!(
        seat.why,
        "best record, on a connection of its own: 3 useful of 3 judged on review, 3 of 3 overall"
    );
}

#[test]
fn else_on_any_connection_and_without_evidence_too() {
    let bench = bench().models(["c"]).model(at("free", "twin", "x/al-pha"));
    let seat = reserve(&bench, &panel(&bench), "member1").expect("a reserve");
    assert_eq!(seen(&seat), ("member1.r1", "c"), "the twin is of the family that failed");
    assert!(seat.why.ends_with("no other being free: no evidence yet"), "{}", seat.why);
}

/// The order of best records, one difference at a time, everything before it equal.
#[test]
fn best_record_first() {
    type With = fn(Bench) -> Bench;
    let cases: [(&str, With); 5] = [
        ("of the shape before overall", |bench| {
            bench.worked("win", "review", 1, 1).worked("lose", "prose", 99, 1)
        }),
        ("overall", |bench| bench.worked("win", "prose", 2, 1).worked("lose", "code", 1, 1)),
        ("suite findings", |mut bench| {
            bench.evidence.suite("win", plan::Suite { verified: 1, tasks: 1, recall: 0.1 });
            bench.evidence.suite("lose", plan::Suite { verified: 0, tasks: 9, recall: 0.9 });
            bench
        }),
        ("one lucky verdict", |bench| bench.worked("win", "review", 20, 1).worked("lose", "review", 1, 1)),
        ("a paid connection", |mut bench| {
            bench.setup.models.retain(|model| model.alias != "win");
            bench.model(at("paid", "win", "win"))
        }),
    ];
    for (case, with) in cases {
        let bench = with(bench().model(at("hub", "lose", "a/lose")).model(at("hub", "win", "b/win")));
        let seat = reserve(&bench, &panel(&bench), "member1").expect(case);
        assert_eq!(seat.alias, "win", "{case}");
    }
    let bench = bench().model(at("hub", "b", "x/b")).model(at("hub", "a", "x/a"));
    assert_eq!(reserve(&bench, &panel(&bench), "member1").expect("one").alias, "a", "then the alias");
}

#[test]
fn at_most_as_many_as_the_setting_says() {
    let mut bench = bench().models(["c", "d", "e"]);
    bench.setup.settings.reserves = 2;
    let mut panel = panel(&bench);
    for (failed, wanted) in [("member1", ("member1.r1", "c")), ("member1.r1", ("member1.r2", "d"))] {
        let seat = reserve(&bench, &panel, failed).expect(failed);
        assert_eq!(seen(&seat), wanted);
        panel.push(seat);
    }
    assert_eq!(reserve(&bench, &panel, "member2"), Err(NoReserve::Used(2)));
    bench.setup.settings.reserves = 0;
    assert_eq!(reserve(&bench, &panel, "member2"), Err(NoReserve::Off));
}

#[test]
fn nobody_unfit_stands_in_and_only_for_members() {
    let mut bench = bench().models(["small", "away"]).model(retired(model("old")));
    bench.setup.models[2].facts.context_window = Some(512);
    bench.estimate = 1_000;
    bench.away.insert("away".to_owned(), Unavailable::Cooling { until_ms: i64::MAX });
    let seats = panel(&bench);
    assert_eq!(reserve(&bench, &seats, "member1"), Err(NoReserve::NoCandidate));
    bench.away.clear();
    assert_eq!(reserve(&bench, &seats, "member1").expect("back").alias, "away");
    for seat in ["explorer", "merger", "member9"] {
        assert_eq!(reserve(&bench, &seats, seat), Err(NoReserve::NotAMember), "{seat}");
    }
}
