//! Who sits: the cases of panel.md §3 by name, and what must hold whatever is put in.

use std::collections::HashSet;

use catalog::{Model, ModelRole, Retired};
use plan::{
    ChosenShape, Collection, Evidence, Roster, SeatKind, Seating, SeatingError, SeatingInput, Settings,
    Setup, Shape, WhenTooLarge, shape_without_picker,
};
use proptest::prelude::*;
use wire::{ApiError, Kind, Origin};

#[derive(Clone, Debug)]
struct Case {
    collection: Collection,
    models: Vec<Model>,
    settings: Settings,
    has_images: bool,
    documents: bool,
    audio: bool,
    estimate: u64,
    with: Vec<String>,
}

/// Seats the members and nominees of a case: nobody else is picked for an explorer seat,
/// because the other models are ad hoc.
fn seat(case: &Case) -> Result<Seating, SeatingError> {
    let named =
        |model: &Model| case.collection.members.contains(&model.alias) || case.with.contains(&model.alias);
    let models = case.models.iter().map(|model| Model { ad_hoc: !named(model), ..model.clone() }).collect();
    let roster = Roster::new(&Setup { models, ..Setup::default() });
    let input = SeatingInput {
        collection: &case.collection,
        roster: &roster,
        settings: &case.settings,
        evidence: &Evidence::default(),
        unavailable: &|_| None,
        has_images: case.has_images,
        documents: case.documents,
        audio: case.audio,
        barred: &|_| None,
        estimate_tokens: case.estimate,
        nominees: &case.with,
        now_ms: 0,
    };
    let picked = ChosenShape { shape: Shape::GENERAL, by: "the test".to_owned() };
    plan::seat(&input, &shape_without_picker(&input)?.unwrap_or(picked))
}

fn model(alias: &str) -> Model {
    Model::new(alias, "fake", alias)
}

fn seeing(alias: &str, vision: Option<bool>) -> Model {
    let mut model = model(alias);
    model.facts.vision = vision;
    model
}

fn retired(alias: &str) -> Model {
    let retired = Retired { at: "2026-11-29T10:00:00Z".to_owned(), why: "went paid".to_owned() };
    Model { retired: Some(retired), ..model(alias) }
}

fn windowed(alias: &str, window: u64) -> Model {
    let mut model = model(alias);
    model.facts.context_window = Some(window);
    model
}

fn case(models: Vec<Model>) -> Case {
    Case {
        collection: Collection::new("core", models.iter().map(|model| model.alias.clone())),
        models,
        settings: Settings::default(),
        has_images: false,
        documents: false,
        audio: false,
        estimate: 100,
        with: Vec::new(),
    }
}

fn seats(seating: &Seating) -> Vec<(&str, &str)> {
    seating.seats.iter().map(|seat| (seat.seat.as_str(), seat.alias.as_str())).collect()
}

fn skipped(seating: &Seating) -> Vec<String> {
    seating.skipped.iter().map(|skip| format!("{} {}: {}", skip.seat, skip.alias, skip.why)).collect()
}

#[test]
fn members_sit_in_their_order() {
    let seating = seat(&case(vec![model("beta"), model("alpha")])).expect("seated");
    assert_eq!(seats(&seating), [("member1", "beta"), ("member2", "alpha")]);
    assert!(seating.skipped.is_empty());
    assert_eq!((seating.shape.shape.name(), seating.shape.by.as_str()), ("general", "the test"));
}

#[test]
fn an_unregistered_member_is_skipped_before_the_cap_and_the_rest_after_it() {
    let mut case = case(vec![model("alpha"), model("beta"), model("gamma")]);
    case.collection.members.insert(0, "gone".to_owned());
    case.settings.max_calls = 2;
    let seating = seat(&case).expect("seated");
    assert_eq!(seats(&seating), [("member1", "alpha"), ("member2", "beta")]);
    assert_eq!(
        skipped(&seating),
        [
            "member gone: no model of this alias is registered; register it, or take it off the collection",
            "member gamma: beyond the 2 seats of a panel (setting max_calls)",
        ]
    );
}

#[test]
fn documents_and_audio_go_to_those_known_to_take_them() {
    let mut reads = model("reads");
    reads.facts.pdf = Some(true);
    let mut hears = model("hears");
    (hears.facts.audio, hears.facts.pdf) = (Some(true), Some(false));
    let mut case = case(vec![reads, hears, model("unknown")]);
    case.documents = true;
    let seating = seat(&case).expect("seated");
    assert_eq!(seats(&seating), [("member1", "reads")]);
    assert_eq!(
        skipped(&seating),
        [
            "member hears: does not read documents; if it does, set the fact pdf on the model",
            "member unknown: not known to read documents; if it does, set the fact pdf on the model",
        ]
    );
    case.documents = false;
    case.audio = true;
    let seating = seat(&case).expect("seated");
    assert_eq!(seats(&seating), [("member1", "hears")]);
    assert_eq!(
        skipped(&seating)[0],
        "member reads: not known to hear audio; if it does, set the fact audio on the model"
    );
    case.documents = true;
    let error = seat(&case).expect_err("nobody takes both");
    assert_eq!((error.kind, error.code), (Kind::InvalidRequest, "audio_not_heard"));
}

#[test]
fn with_images_only_models_known_to_see_sit() {
    let mut case =
        case(vec![seeing("sees", Some(true)), seeing("unknown", None), seeing("blind", Some(false))]);
    case.has_images = true;
    let seating = seat(&case).expect("seated");
    assert_eq!(seats(&seating), [("member1", "sees")]);
    assert_eq!(
        skipped(&seating),
        [
            "member unknown: not known to see images; if it does, set the fact vision on the model",
            "member blind: does not see images; if it does, set the fact vision on the model",
        ]
    );
    assert_eq!(
        (seating.shape.shape.name(), seating.shape.by.as_str()),
        ("vision", "the request holds an image")
    );
    case.collection.shape = Some(Shape::new("review"));
    assert_eq!(seat(&case).expect("seated").shape.by, "set on the collection");
}

#[test]
fn some_roles_never_sit_and_vision_sits_only_with_an_image() {
    let roles = [
        ModelRole::GENERAL,
        ModelRole::CODE,
        ModelRole::LIGHT,
        ModelRole::VISION,
        ModelRole::IMAGE,
        ModelRole::DECISION,
    ];
    let models = roles.map(|role| Model { role: role.clone(), ..seeing(role.name(), Some(true)) });
    let mut case = case(models.into());
    case.settings.max_calls = 10;
    let without = seat(&case).expect("seated");
    assert_eq!(seats(&without), [("member1", "general"), ("member2", "code"), ("member3", "light")]);
    assert_eq!(
        skipped(&without),
        [
            "member vision: its role is vision and the request holds no image",
            "member image: its role is image; such a model never sits",
            "member decision: its role is decision; such a model never sits",
        ]
    );
    case.has_images = true;
    assert_eq!(seat(&case).expect("seated").seats.len(), 4);
}

#[test]
fn a_prompt_too_large_is_refused_naming_each_member_or_skips_it() {
    let mut case = case(vec![
        windowed("small", 1_000),
        windowed("exact", 2_000),
        model("unknown"),
        windowed("tiny", 512),
    ]);
    case.estimate = 2_000;
    let error = seat(&case).expect_err("refuse");
    assert_eq!((error.kind, error.code), (Kind::TooLarge, "too_large"));
    assert_eq!(
        error.message,
        "the prompt is about 2000 tokens (an estimate), too large for small (window 1000), tiny (window 512); \
         shorten it, or let the collection skip such members (when_too_large: skip)"
    );
    let api = ApiError::from(error);
    assert_eq!((api.kind.status(), api.origin), (413, Origin::Client));

    case.collection.when_too_large = WhenTooLarge::Skip;
    let seating = seat(&case).expect("skip");
    assert_eq!(seats(&seating), [("member1", "exact"), ("member2", "unknown")]);
    assert_eq!(skipped(&seating)[0], "member small: the prompt is about 2000 tokens, its window is 1000");

    case.collection.members = vec!["small".to_owned(), "tiny".to_owned()];
    let error = seat(&case).expect_err("none is left");
    assert_eq!(error.kind, Kind::TooLarge);
    assert!(
        error.message.ends_with("shorten it, or ask a collection with larger windows"),
        "{}",
        error.message
    );
}

#[test]
fn with_no_seat_every_reason_is_given() {
    let mut case = case(vec![seeing("blind", Some(false))]);
    case.collection.members.push("gone".to_owned());
    case.with = vec!["nobody".to_owned()];
    case.has_images = true;
    let error = seat(&case).expect_err("images are why");
    assert_eq!((error.kind, error.code), (Kind::InvalidRequest, "images_not_seen"));
    assert_eq!(error.skipped.len(), 3);
    for named in ["bench/core", "blind: does not see images", "gone: no model", "nobody: no model"] {
        assert!(error.message.contains(named), "{}", error.message);
    }

    case.has_images = false;
    case.collection.members = vec!["gone".to_owned()];
    let error = seat(&case).expect_err("nobody is registered");
    assert_eq!((error.kind, error.code), (Kind::Unavailable, "no_seat"));
    assert!(error.message.contains("gone: no model"), "{}", error.message);
    assert_eq!(ApiError::from(error).origin, Origin::Gateway);

    case.collection.members.clear();
    case.with.clear();
    assert_eq!(seat(&case).expect_err("no members").message, "bench/core has no members; add one");
}

fn any_model() -> impl Strategy<Value = Model> {
    let role = prop_oneof![
        4 => Just(ModelRole::GENERAL),
        1 => Just(ModelRole::CODE),
        1 => Just(ModelRole::VISION),
        1 => Just(ModelRole::IMAGE),
        1 => Just(ModelRole::DECISION),
    ];
    let window = proptest::option::of(prop_oneof![Just(512_u64), Just(4_000), Just(100_000)]);
    (role, proptest::option::of(any::<bool>()), window, 0..6_u8).prop_map(
        |(role, vision, window, is_retired)| {
            let mut model = Model { role, ..if is_retired == 0 { retired("x") } else { model("x") } };
            model.facts.vision = vision;
            model.facts.context_window = window;
            model
        },
    )
}

fn any_case() -> impl Strategy<Value = Case> {
    let alias = (0..12_u8).prop_map(|n| format!("m{n}"));
    (
        proptest::collection::vec(any_model(), 0..9),
        proptest::collection::vec(alias.clone(), 0..8),
        proptest::collection::vec(alias, 0..5),
        any::<bool>(),
        any::<bool>(),
        prop_oneof![Just(10_u64), Just(512), Just(513), Just(50_000), Just(u64::MAX)],
        1..=10_u32,
    )
        .prop_map(|(mut models, members, with, has_images, skip, estimate, max_calls)| {
            for (n, model) in models.iter_mut().enumerate() {
                (model.alias, model.served) = (format!("m{n}"), format!("m{n}"));
            }
            let mut collection = Collection::new("core", members);
            collection.when_too_large = if skip { WhenTooLarge::Skip } else { WhenTooLarge::Refuse };
            let settings = Settings { max_calls, ..Settings::default() };
            Case { collection, models, settings, has_images, documents: false, audio: false, estimate, with }
        })
}

proptest! {
    // A fixed seed: the same cases on every machine.
    #![proptest_config(ProptestConfig {
        cases: 500,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20_261_129),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn nobody_is_lost_and_nobody_unfit_sits(case in any_case()) {
        let outcome = seat(&case);
        let (seated, skipped) = match &outcome {
            Ok(seating) => (seating.seats.clone(), seating.skipped.clone()),
            Err(error) => (Vec::new(), error.skipped.clone()),
        };

        // Everyone considered is seated or named with a reason, once.
        let mut named: Vec<&str> = seated.iter().map(|seat| seat.alias.as_str()).collect();
        named.extend(skipped.iter().map(|skip| skip.alias.as_str()));
        let wanted: HashSet<&str> =
            case.collection.members.iter().chain(&case.with).map(String::as_str).collect();
        let once: HashSet<&str> = named.iter().copied().collect();
        if outcome.as_ref().is_err_and(|error| error.kind == Kind::TooLarge) {
            // A refusal names those too small; the others would have sat.
            prop_assert!(once.is_subset(&wanted));
        } else {
            prop_assert_eq!(&once, &wanted);
        }
        // An unregistered member named twice is the one thing that may repeat.
        let registered = |alias: &str| case.models.iter().any(|model| model.alias == alias);
        for alias in once.iter().filter(|alias| registered(alias)) {
            prop_assert_eq!(named.iter().filter(|name| *name == alias).count(), 1, "{} twice", alias);
        }
        prop_assert!(skipped.iter().all(|skip| !skip.why.is_empty()));

        match outcome {
            Ok(seating) => {
                prop_assert!(!seating.seats.is_empty());
                prop_assert!(seating.seats.len() <= case.settings.max_calls as usize);
                let members = seating.seats.iter().filter(|seat| seat.kind == SeatKind::Member).count();
                let explorers = seating.seats.len() - members;
                prop_assert!(explorers <= case.settings.max_explorers as usize);
                let mut last = None;
                for (at, seat) in seating.seats.iter().enumerate() {
                    let explorer = at.checked_sub(members);
                    let wanted = match explorer {
                        None => format!("member{}", at + 1),
                        Some(0) => "explorer".to_owned(),
                        Some(nth) => format!("explorer{}", nth + 1),
                    };
                    prop_assert_eq!(&seat.seat, &wanted);
                    let list = if explorer.is_none() { &case.collection.members } else { &case.with };
                    let position = list.iter().position(|alias| *alias == seat.alias).expect("it was named");
                    if explorer == Some(0) {
                        last = None;
                    }
                    prop_assert!(last < Some(position), "out of order");
                    last = Some(position);
                    let model = case.models.iter().find(|model| model.alias == seat.alias).expect("registered");
                    prop_assert!(model.role.sits() && model.retired.is_none());
                    prop_assert!(!case.has_images || model.facts.vision == Some(true));
                    prop_assert!(case.has_images || explorer.is_some() || model.role != ModelRole::VISION);
                    prop_assert!(model.facts.context_window.is_none_or(|window| case.estimate <= window));
                }
            }
            Err(error) => {
                prop_assert!(matches!(error.kind.status(), 400 | 413 | 503));
                prop_assert!(error.message.len() > 10);
                if error.kind == Kind::TooLarge {
                    prop_assert!(case.estimate > 512);
                }
            }
        }
    }

    #[test]
    fn the_same_question_seats_the_same_panel(case in any_case()) {
        prop_assert_eq!(seat(&case), seat(&case));
    }
}
