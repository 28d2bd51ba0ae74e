use catalog::{Model, ModelRole};
use plan::{SeatKind, Seating, Settings, Shape, Unavailable, shape_without_picker};

use crate::bench::{Bench, at, model, retired, seen};

fn seats(seating: &Seating) -> Vec<(&str, &str)> {
    seating.seats.iter().map(seen).collect()
}

fn skipped(seating: &Seating) -> Vec<String> {
    seating.skipped.iter().map(|skip| format!("{} {}: {}", skip.seat, skip.alias, skip.why)).collect()
}

fn with<const N: usize>(aliases: [&str; N]) -> Vec<String> {
    aliases.map(str::to_owned).into()
}

fn windowed(alias: &str, window: u64) -> Model {
    let mut model = model(alias);
    model.facts.context_window = Some(window);
    model
}

#[test]
fn a_retired_member_is_skipped_with_date_and_why_before_the_cap() {
    let mut bench = Bench::new()
        .model(retired(model("alpha")))
        .models(["beta", "gamma"])
        .members(["alpha", "beta", "gamma"]);
    bench.setup.settings.max_calls = 2;
    let seating = bench.seat("general").expect("seated");
    assert_eq!(seats(&seating), [("member1", "beta"), ("member2", "gamma")]);
    assert_eq!(skipped(&seating), ["member alpha: retired on 2026-11-29: gone"]);
}

#[test]
fn what_costs_money_now_is_asked_by_nobody_until_its_owner_allows_it() {
    let mut bench = Bench::new().models(["alpha", "beta", "gamma"]).members(["alpha", "beta"]);
    bench.away.extend(["alpha", "gamma"].map(|alias| (alias.to_owned(), Unavailable::WentPaid)));
    bench.with = with(["gamma"]);
    let seating = bench.seat("general").expect("seated");
    assert_eq!(seats(&seating), [("member1", "beta")]);
    let why = "it was free and costs money now; allow that under Models (bench model allow), or take it off";
    assert_eq!(skipped(&seating), [format!("member alpha: {why}"), format!("explorer gamma: {why}")]);
    // Whatever else is the matter with a member, it sits.
    bench.away.insert("alpha".to_owned(), Unavailable::Retiring);
    assert_eq!(seats(&bench.seat("general").expect("seated"))[0], ("member1", "alpha"));
}

#[test]
fn nominees_take_explorer_seats_once_each_and_the_others_are_named() {
    let mut bench = Bench::new()
        .models(["alpha", "beta", "gamma", "delta"])
        .model(retired(model("old")))
        .model(Model { role: ModelRole::IMAGE, ..model("paints") })
        .model(at("free", "twin", "vendor/Alpha:free"))
        .members(["alpha"]);
    bench.with = with(["beta", "alpha", "nobody", "beta", "old", "paints", "twin", "gamma", "delta"]);
    let seating = bench.seat("general").expect("seated");
    assert_eq!(seats(&seating), [("member1", "alpha"), ("explorer", "beta"), ("explorer2", "gamma")]);
    assert_eq!(seating.seats[1].why, "nominated");
    assert_eq!(
        skipped(&seating),
        [
            "explorer nobody: no model of this alias is registered",
            "explorer old: retired on 2026-11-29: gone",
            "explorer paints: its role is image; such a model never sits",
            "explorer twin: the same model as alpha, which sits already",
            "explorer delta: nominees before it took the 2 explorer seats",
        ]
    );
    // Five seats a panel, and four members sit: one explorer.
    let mut bench = bench.models(["more"]).members(["alpha", "gamma", "delta", "beta"]);
    bench.with = with(["more", "twin"]);
    assert_eq!(seats(&bench.seat("general").expect("seated"))[4], ("explorer", "more"));
    bench.setup.settings.max_calls = 4;
    let seating = bench.seat("general").expect("seated");
    assert_eq!(
        skipped(&seating)[0],
        "explorer more: this panel has no explorer seat (settings max_calls, max_explorers)"
    );
}

#[test]
fn a_nominee_of_role_vision_sits_without_an_image_and_one_too_small_does_not() {
    let mut bench = Bench::new()
        .models(["alpha"])
        .model(Model { role: ModelRole::VISION, ..model("eye") })
        .model(windowed("small", 512))
        .members(["alpha"]);
    bench.estimate = 600;
    bench.with = with(["small", "eye"]);
    let seating = bench.seat("general").expect("seated");
    assert_eq!(seats(&seating), [("member1", "alpha"), ("explorer", "eye")]);
    assert_eq!(
        skipped(&seating),
        ["explorer small: the prompt is about 600 tokens, its window is 512"],
        "a nominee refuses no panel"
    );
}

#[test]
fn the_explorer_count_is_of_the_members_that_sit() {
    // (max_calls, max_explorers, members, of which blind, seats that may go to nominees)
    for (max_calls, max_explorers, members, blind, wanted) in [
        (5, 2, 2, 0, 2),
        (5, 2, 4, 0, 1),
        (5, 2, 5, 0, 0),
        (5, 2, 5, 1, 1),
        (5, 2, 5, 3, 2),
        (3, 1, 1, 0, 1),
        (10, 0, 1, 0, 0),
        (5, 2, 2, 2, 2),
    ] {
        let mut bench = Bench::new();
        for (alias, sees) in (0..members)
            .map(|n| (format!("m{n}"), n >= blind))
            .chain(with(["x", "y", "z"]).into_iter().map(|alias| (alias, true)))
        {
            let mut model = model(&alias);
            model.facts.vision = Some(sees);
            bench = bench.model(model);
        }
        bench.collection.members = (0..members).map(|n| format!("m{n}")).collect();
        bench.with = with(["x", "y", "z"]);
        bench.has_images = true;
        bench.setup.settings = Settings { max_calls, max_explorers, ..Settings::default() };
        let seating = bench.seat("general").expect("seated");
        let explorers = seating.seats.iter().filter(|seat| seat.kind == SeatKind::Explorer).count();
        assert_eq!(explorers, wanted, "{max_calls} {max_explorers} {members} {blind}");
    }
}

#[test]
fn which_shape_and_when_the_picker_is_asked() {
    // (images, set shape, explorer seats) and what is known without the picker
    let cases = [
        (false, None, true, None),
        (false, None, false, Some("general, the default")),
        (false, Some("review"), true, Some("review, set on the collection")),
        (false, Some("review"), false, Some("review, set on the collection")),
        (true, None, true, Some("vision, the request holds an image")),
        (true, None, false, Some("vision, the request holds an image")),
        (true, Some("review"), true, Some("review, set on the collection")),
    ];
    for (has_images, set, explorers, wanted) in cases {
        let mut able = model("alpha");
        able.facts.vision = Some(true);
        let mut bench = Bench::new().model(able).members(["alpha"]);
        bench.collection.shape = set.map(Shape::new);
        bench.setup.settings.max_explorers = u32::from(explorers);
        bench.has_images = has_images;
        let chosen = bench.input(shape_without_picker).expect("seatable");
        let said = chosen.map(|chosen| format!("{}, {}", chosen.shape.name(), chosen.by));
        assert_eq!(said.as_deref(), wanted, "{has_images} {set:?} {explorers}");
    }
}
