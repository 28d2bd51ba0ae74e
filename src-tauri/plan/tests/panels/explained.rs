use catalog::{Model, ModelRole};
use plan::{Unavailable, explain};

use crate::bench::{Bench, at, chosen, model, retired};

#[test]
fn who_would_sit_now_who_stands_by_and_who_cannot() {
    let mut bench = Bench::new()
        .models(["alpha", "x", "y", "z"])
        .model(at("hub", "apart", "groq/apart"))
        .model(at("practice", "quick", "quick"))
        .model(Model { role: ModelRole::LIGHT, ..model("light") })
        .members(["alpha"])
        .worked("x", "review", 3, 12)
        .worked("apart", "review", 1, 1)
        .worked("z", "review", 2, 2);
    for n in 0..7 {
        bench = bench.model(retired(model(&format!("old{n}"))));
    }
    bench.away.insert("z".to_owned(), Unavailable::Cooling { until_ms: bench.now_ms + 1 });
    let explained = bench.input(|input| explain(input, &chosen("review")));
    let seats: Vec<String> = explained
        .seating
        .expect("seated")
        .seats
        .iter()
        .map(|it| format!("{} {}: {}", it.seat, it.alias, it.why))
        .collect();
    assert_eq!(
        seats,
        [
            "member1 alpha: member",
            "explorer y: never asked",
            "explorer2 x: longest without real work (12 days)"
        ]
    );
    let reserves: Vec<String> =
        explained.reserves.iter().map(|it| format!("{}: {}", it.alias, it.why)).collect();
    assert_eq!(
        reserves,
        ["apart: on a connection of its own: 1 useful of 1 judged on review, 1 of 1 overall"]
    );
    assert_eq!(explained.leaders.primary.map(|it| it.alias).as_deref(), Some("x"));
    assert_eq!(explained.leaders.second, None);
    assert_eq!(explained.candidates, 3, "apart, x and y");
    let groups: Vec<String> = explained
        .not_candidates
        .iter()
        .map(|group| format!("{} {}: {}", group.count, group.why, group.some.join(" ")))
        .collect();
    assert_eq!(
        groups,
        [
            "7 retired: old0 old1 old2 old3 old4",
            "1 a member of the collection: alpha",
            "1 cooling down after a rate limit: z",
            "1 a practice model: quick",
            "1 the shape review does not admit the role light: light",
        ]
    );
}

#[test]
fn a_panel_that_cannot_be_seated_is_explained_too() {
    let bench = Bench::new().members(["gone"]);
    let explained = bench.input(|input| explain(input, &chosen("general")));
    assert_eq!(explained.seating.expect_err("nobody").code, "no_seat");
    assert_eq!((explained.candidates, explained.reserves.len()), (0, 0));
    // Without a collection in mind there is none to add a member to.
    let mut bench = Bench::new();
    bench.collection.name = String::new();
    let explained = bench.input(|input| explain(input, &chosen("general")));
    assert_eq!(explained.seating.expect_err("nobody").message, "no registered model may sit");
}
