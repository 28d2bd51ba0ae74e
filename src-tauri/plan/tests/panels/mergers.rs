use catalog::{Model, ModelRole};
use plan::{Shape, Unavailable, mergers};

use crate::bench::{Bench, at, model, retired};

/// The merge candidates in words, then who was skipped and why.
fn order(bench: &Bench) -> (Vec<String>, Vec<String>) {
    let found = bench.input(|input| mergers(input, &Shape::new("review"), 1_000));
    let seats = found.seats.iter().map(|seat| format!("{} {}: {}", seat.seat, seat.alias, seat.why));
    let skipped = found.skipped.iter().map(|skip| format!("{}: {}", skip.alias, skip.why));
    (seats.collect(), skipped.collect())
}

fn windowed(alias: &str, window: u64) -> Model {
    let mut model = model(alias);
    model.facts.context_window = Some(window);
    model
}

#[test]
fn the_collection_s_own_alone() {
    let mut bench = Bench::new().models(["a", "b", "m"]).members(["a", "b"]).worked("a", "review", 9, 1);
    bench.collection.merger = Some("m".to_owned());
    assert_eq!(order(&bench), (vec!["merger m: set on the collection".to_owned()], vec![]));
    bench.setup.models[2] = windowed("m", 999);
    let why = "m: the prompt is about 1000 tokens, its window is 999".to_owned();
    assert_eq!(order(&bench), (vec![], vec![why]), "nobody else merges when one is set");
    bench.setup.models[2] = retired(model("m"));
    let (seats, skipped) = order(&bench);
    assert_eq!(seats[0], "merger a: a member with 9 useful answers of shape review");
    assert_eq!(skipped, ["m: retired on 2026-11-29: gone"]);
}

#[test]
fn nobody_that_has_gone_since_the_panel_began() {
    let mut bench = Bench::new().models(["a", "b", "m"]).members(["a", "b"]).worked("a", "review", 9, 1);
    bench.collection.merger = Some("m".to_owned());
    bench.away.extend([("m".to_owned(), Unavailable::Gone), ("a".to_owned(), Unavailable::Gone)]);
    let (seats, skipped) = order(&bench);
    assert_eq!(seats, ["merger b: the router's primary"]);
    let gone = "retired or removed since the panel began";
    assert_eq!(skipped, [format!("m: {gone}"), format!("a: {gone}")]);
    bench.away.insert("m".to_owned(), Unavailable::WentPaid);
    let (seats, skipped) = order(&bench);
    assert_eq!(seats, ["merger b: the router's primary"]);
    assert!(skipped[0].starts_with("m: it was free and costs money now"), "{skipped:?}");
    // Whatever else is the matter with one, it may be asked to merge.
    bench.away.insert("m".to_owned(), Unavailable::NoKey);
    assert_eq!(order(&bench).0, ["merger m: set on the collection"]);
}

#[test]
fn members_by_useful_answers_then_the_primary_then_members_in_order() {
    let bench = || {
        Bench::new().models(["a", "b", "c"]).model(at("paid", "outside", "outside")).members(["a", "b", "c"])
    };
    // Two of these are tried; which they are shows the whole order.
    let cases: [(&str, Bench, [&str; 2]); 5] = [
        ("proven", bench().worked("c", "review", 2, 1).worked("b", "review", 5, 1), ["b", "c"]),
        (
            "equals in the collection's order",
            bench().worked("c", "review", 2, 1).worked("a", "review", 2, 1),
            ["a", "c"],
        ),
        ("then the primary", bench().worked("b", "review", 1, 1), ["b", "outside"]),
        ("then members in order", bench().worked("c", "prose", 8, 1), ["outside", "a"]),
        ("nothing known", bench(), ["outside", "a"]),
    ];
    for (case, bench, wanted) in cases {
        let found = bench.input(|input| mergers(input, &Shape::new("review"), 1_000));
        let seats: Vec<(&str, &str)> =
            found.seats.iter().map(|seat| (seat.seat.as_str(), seat.alias.as_str())).collect();
        assert_eq!(seats, [("merger", wanted[0]), ("merger.r1", wanted[1])], "{case}");
    }
}

#[test]
fn the_first_whose_window_fits_what_it_is_sent() {
    let mut bench = Bench::new()
        .model(windowed("small", 999))
        .model(windowed("fits", 1_000))
        .model(Model { role: ModelRole::IMAGE, ..model("paints") })
        .members(["small", "paints", "fits", "gone"])
        .worked("small", "review", 9, 1);
    // The panel was about images; the merger reads text.
    bench.has_images = true;
    let (seats, skipped) = order(&bench);
    assert_eq!(seats, ["merger fits: the router's primary"]);
    assert_eq!(
        skipped,
        [
            "paints: its role is image",
            "gone: no model of this alias is registered",
            "small: the prompt is about 1000 tokens, its window is 999",
        ]
    );
}
