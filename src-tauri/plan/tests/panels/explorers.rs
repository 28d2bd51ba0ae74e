use catalog::{Model, ModelRole};
use plan::{Seat, SeatKind, Shape, ShapeRule, Unavailable};

use crate::bench::{Bench, at, chosen, model, retired, seen};

#[test]
fn longest_without_real_work_first_and_why() {
    let bench = Bench::new()
        .models(["alpha", "fresh", "stale", "staler"])
        .members(["alpha"])
        .worked("fresh", "general", 9, 1)
        .worked("stale", "code", 0, 12)
        .worked("staler", "general", 1, 40);
    assert_eq!(
        bench.explorers("general"),
        ["staler: longest without real work (40 days)", "stale: longest without real work (12 days)"],
        "the work counts whatever its shape"
    );
    let bench = bench.models(["newcomer"]);
    assert_eq!(bench.explorers("general")[0], "newcomer: never asked");
}

#[test]
fn equals_go_by_paid_then_fewest_offloads_then_alias() {
    let bench = Bench::new().models(["b", "a"]).model(at("paid", "z", "z"));
    assert_eq!(bench.explorers("general"), ["z: never asked", "a: never asked"]);
    let bench = Bench::new()
        .models(["a", "b", "c"])
        .worked("a", "general", 5, 3)
        .worked("b", "general", 2, 3)
        .worked("c", "general", 2, 3);
    let order: Vec<String> = bench.explorers("general");
    assert_eq!(order, ["b: longest without real work (3 days)", "c: longest without real work (3 days)"]);
}

#[test]
fn being_seated_counts_at_once() {
    let mut bench = Bench::new().models(["a", "b", "c"]).worked("c", "general", 0, 1);
    bench.setup.settings.max_explorers = 1;
    assert_eq!(bench.explorers("general"), ["a: never asked"]);
    bench.evidence.seated("a", bench.now_ms);
    assert_eq!(bench.explorers("general"), ["b: never asked"]);
    bench.evidence.seated("b", bench.now_ms);
    assert_eq!(bench.explorers("general"), ["c: longest without real work (1 day)"]);
    bench.evidence.seated("c", bench.now_ms);
    bench.evidence.seated("c", bench.now_ms);
    assert_eq!(bench.explorers("general"), ["a: every candidate is at work; it holds the fewest seats (1)"]);
    bench.evidence.released("b");
    assert_eq!(bench.explorers("general"), ["b: never asked"], "a seat that was given up is no work");
}

#[test]
fn none_is_the_model_of_a_stand_in_that_came_before_them() {
    let mut bench = Bench::new()
        .models(["alpha", "stand-in", "spare", "nominee"])
        .model(at("elsewhere", "twin", "stand-in"))
        .members(["alpha"])
        .worked("spare", "general", 0, 1);
    bench.with = vec!["stand-in".to_owned(), "nominee".to_owned()];
    let stand_in = Seat {
        seat: "member1.r1".to_owned(),
        kind: SeatKind::Reserve,
        alias: "stand-in".to_owned(),
        why: "best record".to_owned(),
    };
    let seating = bench.input(|input| plan::seat_beside(input, &chosen("general"), &[stand_in])).unwrap();
    let seats: Vec<_> = seating.seats.iter().map(seen).collect();
    assert_eq!(seats, [("member1", "alpha"), ("explorer", "nominee"), ("explorer2", "spare")]);
    let skipped: Vec<_> = seating.skipped.iter().map(|it| (it.alias.as_str(), it.why.as_str())).collect();
    assert_eq!(skipped, [("stand-in", "it stands in for a member already")]);
}

#[test]
fn every_rule_of_a_candidate() {
    // One model that would explore, and each thing that keeps it from it.
    let away = |why| move |bench: &mut Bench| bench.away.extend([("x".to_owned(), why)]);
    let change = |change: fn(&mut Model)| {
        move |bench: &mut Bench| bench.setup.models.iter_mut().filter(|it| it.alias == "x").for_each(change)
    };
    type Break = Box<dyn Fn(&mut Bench)>;
    let cases: Vec<(&str, Break)> = vec![
        ("retired", Box::new(|bench| bench.setup.models[1] = retired(model("x")))),
        ("ad hoc", Box::new(change(|it| it.ad_hoc = true))),
        ("role not admitted", Box::new(change(|it| it.role = ModelRole::LIGHT))),
        ("role image", Box::new(change(|it| it.role = ModelRole::IMAGE))),
        ("role decision", Box::new(change(|it| it.role = ModelRole::DECISION))),
        (
            "a member beyond the cap",
            Box::new(|bench| {
                bench.collection.members.push("x".to_owned());
                (bench.setup.settings.max_calls, bench.setup.models[1].ad_hoc) = (1, false);
            }),
        ),
        ("family of a member", Box::new(change(|it| it.served = "vendor/Al-pha:free".to_owned()))),
        ("gone", Box::new(away(Unavailable::Gone))),
        ("cooling", Box::new(away(Unavailable::Cooling { until_ms: i64::MAX }))),
        ("retiring", Box::new(away(Unavailable::Retiring))),
        ("unlisted", Box::new(away(Unavailable::Unlisted))),
        ("probe failed", Box::new(away(Unavailable::ProbeFailed))),
        ("no key", Box::new(away(Unavailable::NoKey))),
        ("over a limit", Box::new(away(Unavailable::OverLimit))),
        ("window", Box::new(change(|it| it.facts.context_window = Some(512)))),
        ("cannot see", Box::new(|bench| bench.has_images = true)),
        ("cannot read", Box::new(|bench| bench.documents = true)),
        ("cannot hear", Box::new(|bench| bench.audio = true)),
        ("practice", Box::new(change(|it| it.endpoint = "practice".to_owned()))),
    ];
    let fresh = || {
        let mut able = model("alpha");
        (able.facts.vision, able.facts.pdf, able.facts.audio) = (Some(true), Some(true), Some(true));
        let mut bench = Bench::new().model(able).models(["x"]).members(["alpha"]);
        bench.estimate = 1_000;
        bench
    };
    assert_eq!(fresh().explorers("general"), ["x: never asked"]);
    for (rule, break_it) in cases {
        let mut bench = fresh();
        break_it(&mut bench);
        assert_eq!(bench.explorers("general"), [""; 0], "{rule}");
        assert_eq!(bench.seat("general").expect(rule).seats.len(), 1, "{rule}");
    }
}

#[test]
fn no_family_twice_among_explorers() {
    let bench = Bench::new()
        .model(at("paid", "one", "vendor/Same-1"))
        .model(at("hub", "two", "groq/same_1:free"))
        .models(["other"])
        .worked("other", "general", 0, 1);
    assert_eq!(bench.explorers("general"), ["one: never asked", "other: longest without real work (1 day)"]);
}

#[test]
fn practice_keeps_to_itself() {
    let bench = || {
        Bench::new()
            .models(["real", "other"])
            .model(at("practice", "quick", "quick"))
            .model(at("practice", "slow", "slow"))
    };
    assert_eq!(bench().members(["quick"]).explorers("general"), ["slow: never asked"]);
    assert_eq!(bench().members(["real"]).explorers("general"), ["other: never asked"]);
    assert_eq!(bench().members(["real", "quick"]).explorers("general"), ["other: never asked"], "mixed");
    assert_eq!(bench().explorers("general"), ["other: never asked", "real: never asked"], "no member");
}

#[test]
fn roles_by_shape_and_by_the_owner_s_shapes() {
    let roles = ["general", "code", "light", "vision", "jurist"];
    let mut bench = Bench::new();
    for role in roles {
        let mut model = Model { role: ModelRole::new(role), ..model(role) };
        model.facts.vision = Some(true);
        bench = bench.model(model);
    }
    bench.setup.shapes.push(ShapeRule {
        name: Shape::new("law"),
        description: "a question of law".to_owned(),
        roles: vec![ModelRole::new("jurist"), ModelRole::CODE],
    });
    let cases: [(&str, bool, &[&str]); 6] = [
        ("prose", false, &["general"]),
        ("review", false, &["code", "general"]),
        ("quick", false, &["general", "light"]),
        ("vision", true, &["general", "light", "vision"]),
        ("vision", false, &["general", "light"]),
        ("law", false, &["code", "jurist"]),
    ];
    for (shape, has_images, wanted) in cases {
        bench.has_images = has_images;
        // As many panels as it takes to seat everyone: each seat is taken for good.
        bench.evidence = Default::default();
        let mut met = Vec::new();
        for _ in 0..roles.len() {
            let seating = bench.seat(shape).expect(shape);
            for seat in seating.seats {
                bench.evidence.seated(&seat.alias, bench.now_ms);
                met.push(seat.alias);
            }
        }
        met.sort();
        met.dedup();
        assert_eq!(met, wanted, "{shape}");
    }
}

#[test]
fn a_panel_without_a_member_that_sits_is_its_explorers() {
    let bench = Bench::new().model(retired(model("alpha"))).models(["x"]).members(["alpha"]);
    let seating = bench.seat("general").expect("an explorer sits");
    assert_eq!((seating.seats.len(), seating.skipped.len()), (1, 1));
}
