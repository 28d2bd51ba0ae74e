//! What holds over many panels: nobody vanishes by silence, nobody is asked twice at once while others wait, and no
//! rule is broken whatever the set-up.

use std::collections::{HashMap, HashSet, VecDeque};

use catalog::{Model, ModelRole};
use plan::{Evidence, Roster, SeatKind, SeatingInput, Shape, Unavailable};
use proptest::prelude::*;

use crate::bench::{Bench, chosen, model};

/// A panel a minute, `in_flight` of them at a time; the longest any candidate went without a seat, in panels.
fn most_stale(bench: &mut Bench, panels: usize, in_flight: usize) -> usize {
    let roster = Roster::new(&bench.setup);
    let mut running: VecDeque<Vec<String>> = VecDeque::new();
    let mut last: HashMap<String, usize> = HashMap::new();
    let mut most = 0;
    for panel in 0..panels {
        if running.len() == in_flight {
            for alias in running.pop_front().unwrap_or_default() {
                bench.evidence.offload(&alias, &Shape::GENERAL, bench.now_ms);
                bench.evidence.released(&alias);
            }
        }
        bench.now_ms += 60_000;
        let input = SeatingInput {
            collection: &bench.collection,
            roster: &roster,
            settings: &bench.setup.settings,
            evidence: &bench.evidence,
            unavailable: &|_| None,
            has_images: false,
            documents: false,
            audio: false,
            barred: &|_| None,
            estimate_tokens: 1,
            nominees: &[],
            now_ms: bench.now_ms,
        };
        let seats = plan::seat(&input, &chosen("general")).map(|seating| seating.seats).unwrap_or_default();
        for seat in &seats {
            bench.evidence.seated(&seat.alias, bench.now_ms);
            let before = last.insert(seat.alias.clone(), panel + 1).unwrap_or_default();
            most = most.max(panel + 1 - before);
        }
        running.push_back(seats.into_iter().map(|seat| seat.alias).collect());
    }
    let never = bench.setup.models.iter().filter(|model| !last.contains_key(&model.alias)).count();
    assert_eq!(never, 0, "{never} models were never asked");
    let waiting = last.values().map(|at| panels - at).max().unwrap_or_default();
    most.max(waiting)
}

fn many(candidates: usize, families: usize) -> Bench {
    let mut bench = Bench::new().models(["member1", "member2", "member3"]);
    bench.collection.members = bench.setup.models.iter().map(|model| model.alias.clone()).collect();
    for n in 0..candidates {
        bench = bench.model(Model { served: format!("family{}", n % families), ..model(&format!("m{n}")) });
    }
    bench
}

/// With E explorer seats and N candidates of different families, the queue by staleness is served E at a time: a
/// model waits for at most the N - 1 others, so ceil(N / E) panels. Panels in flight hold each at most E of
/// them out of the queue, and change nothing in its order.
#[test]
fn every_model_is_seated_within_a_bound_when_members_never_change() {
    for candidates in [1_usize, 2, 7, 30, 61] {
        for in_flight in [1, 3, 20] {
            let bound = candidates.div_ceil(2);
            let most = most_stale(&mut many(candidates, candidates), 8 * candidates, in_flight);
            assert!(most <= bound, "{candidates} candidates, {in_flight} in flight: {most} > {bound}");
        }
    }
}

/// When families share seats, a panel seats at least one of those that wait, so N panels is the bound.
#[test]
fn and_within_a_wider_one_when_models_share_families() {
    for (candidates, families) in [(10, 1), (30, 3), (30, 29)] {
        let most = most_stale(&mut many(candidates, families), 300, 1);
        assert!(most <= candidates, "{candidates} of {families} families: {most}");
    }
}

#[test]
fn a_hundred_panels_at_once_share_the_work_evenly() {
    let mut bench = many(30, 30);
    let mut held: HashMap<String, u32> = HashMap::new();
    for _ in 0..100 {
        let seats = bench.seat("general").expect("seated").seats;
        for seat in seats {
            bench.evidence.seated(&seat.alias, bench.now_ms);
            if seat.kind == SeatKind::Explorer {
                *held.entry(seat.alias).or_default() += 1;
            }
        }
    }
    assert_eq!(held.len(), 30);
    let (least, most) = (held.values().min().expect("some"), held.values().max().expect("some"));
    assert_eq!(held.values().sum::<u32>(), 200);
    assert!(most - least <= 1, "{least} to {most} seats each");
}

#[derive(Clone, Debug)]
struct Case {
    models: Vec<Model>,
    members: Vec<usize>,
    nominees: Vec<usize>,
    away: Vec<Option<u8>>,
    worked: Vec<(usize, i64, bool)>,
    shape: usize,
    has_images: bool,
    settings: (u32, u32, u32),
}

const SHAPES: [&str; 4] = ["general", "review", "quick", "vision"];

fn any_model() -> impl Strategy<Value = Model> {
    let role = prop_oneof![
        5 => Just(ModelRole::GENERAL),
        1 => Just(ModelRole::CODE),
        1 => Just(ModelRole::LIGHT),
        1 => Just(ModelRole::VISION),
        1 => Just(ModelRole::DECISION),
    ];
    let endpoint = prop_oneof![4 => Just("free"), 2 => Just("paid"), 1 => Just("hub"), 1 => Just("practice")];
    (role, endpoint, 0..8_u8, any::<bool>(), 0..8_u8).prop_map(|(role, endpoint, family, vision, odd)| {
        let mut made = Model::new("x", endpoint, format!("f{family}/f{family}"));
        made.role = role;
        made.facts.vision = Some(vision);
        made.facts.context_window = (odd == 0).then_some(512);
        made.ad_hoc = odd == 1;
        if odd == 2 { crate::bench::retired(made) } else { made }
    })
}

fn any_case() -> impl Strategy<Value = Case> {
    let some = || proptest::collection::vec(0..14_usize, 0..5);
    (
        proptest::collection::vec(any_model(), 14),
        some(),
        some(),
        proptest::collection::vec(proptest::option::weighted(0.3, 0..6_u8), 14),
        proptest::collection::vec((0..14_usize, 0..90_i64, any::<bool>()), 0..40),
        0..SHAPES.len(),
        any::<bool>(),
        (1..=6_u32, 0..=2_u32, 0..=2_u32),
    )
        .prop_map(|(mut models, members, nominees, away, worked, shape, has_images, settings)| {
            models.iter_mut().enumerate().for_each(|(n, model)| model.alias = format!("m{n}"));
            Case { models, members, nominees, away, worked, shape, has_images, settings }
        })
}

fn bench_of(case: &Case) -> Bench {
    let mut bench = Bench::new();
    bench.setup.models = case.models.clone();
    bench.collection.members = case.members.iter().map(|n| format!("m{n}")).collect();
    bench.with = case.nominees.iter().map(|n| format!("m{n}")).collect();
    bench.has_images = case.has_images;
    bench.estimate = 400;
    let settings = &mut bench.setup.settings;
    (settings.max_calls, settings.max_explorers, settings.reserves) = case.settings;
    for (n, away) in case.away.iter().enumerate() {
        let why = match away {
            None => continue,
            Some(0) => Unavailable::Cooling { until_ms: i64::MAX },
            Some(1) => Unavailable::Retiring,
            Some(2) => Unavailable::Unlisted,
            Some(3) => Unavailable::ProbeFailed,
            Some(4) => Unavailable::NoKey,
            Some(_) => Unavailable::OverLimit,
        };
        bench.away.insert(format!("m{n}"), why);
    }
    let now = bench.now_ms;
    for (n, days, useful) in &case.worked {
        let (alias, shape) = (format!("m{n}"), Shape::GENERAL);
        bench.evidence.offload(&alias, &shape, now - days * crate::bench::DAY);
        bench.evidence.verdict(&alias, &shape, None, Some(*useful));
    }
    bench
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20_261_129),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_router_breaks_no_rule(case in any_case()) {
        let bench = bench_of(&case);
        let shape = chosen(SHAPES[case.shape]);
        let roster = Roster::new(&bench.setup);
        let Ok(seating) = bench.seat(SHAPES[case.shape]) else { return Ok(()) };
        let mut panel = seating.seats.clone();
        // Every member's seat is handed on as far as it goes.
        for seat in seating.seats.iter().filter(|seat| seat.kind == SeatKind::Member) {
            if let Ok(reserve) = bench.input(|input| plan::reserve(input, &shape.shape, &panel, &seat.seat)) {
                panel.push(reserve);
            }
        }
        let of_kind = |kind| panel.iter().filter(move |seat| seat.kind == kind).count();
        let (max_calls, max_explorers, reserves) = case.settings;
        prop_assert!(of_kind(SeatKind::Member) + of_kind(SeatKind::Explorer) <= max_calls as usize);
        prop_assert!(of_kind(SeatKind::Explorer) <= max_explorers as usize);
        prop_assert!(of_kind(SeatKind::Reserve) <= reserves as usize);
        let names: HashSet<&str> = panel.iter().map(|seat| seat.seat.as_str()).collect();
        prop_assert_eq!(names.len(), panel.len(), "a seat twice: {:?}", panel);

        let practice = roster.is_practice(&bench.collection.members);
        for (at, seat) in panel.iter().enumerate() {
            let it = roster.get(&seat.alias).expect("registered");
            prop_assert!(it.model.retired.is_none() && it.model.role.sits());
            prop_assert!(it.model.facts.context_window.is_none_or(|window| window >= 400));
            prop_assert!(!case.has_images || it.model.facts.vision == Some(true));
            if seat.kind == SeatKind::Member {
                continue;
            }
            let before = panel[..at].iter().filter_map(|other| roster.get(&other.alias));
            prop_assert!(before.into_iter().all(|other| other.family != it.family), "a family twice: {:?}", panel);
            prop_assert!(!bench.collection.members.contains(&seat.alias));
            if seat.why != "nominated" {
                prop_assert!(!bench.away.contains_key(&seat.alias), "{} is away", seat.alias);
                prop_assert!(!it.model.ad_hoc && it.practice == practice);
                prop_assert!(roster.shapes().roles(&shape.shape).contains(&it.model.role));
            }
        }

        // An explorer seat stays empty only when nobody could take it.
        let members = of_kind(SeatKind::Member);
        let free = (max_calls as usize - members).min(max_explorers as usize);
        if of_kind(SeatKind::Explorer) < free {
            let explained = bench.input(|input| plan::explain(input, &shape));
            let sits: HashSet<&str> =
                seating.seats.iter().filter_map(|seat| roster.get(&seat.alias)).map(|it| it.family.as_str()).collect();
            let families = explained.candidates;
            let beside = bench.input(|input| plan::best_records(input, &shape.shape, usize::MAX));
            let left: Vec<&str> = beside
                .iter()
                .filter_map(|standing| roster.get(&standing.alias))
                .filter(|it| !bench.collection.members.contains(&it.model.alias))
                .filter(|it| !sits.contains(it.family.as_str()))
                .map(|it| it.alias())
                .collect();
            prop_assert!(left.is_empty(), "{left:?} of {families} could have sat: {:?}", seating);
        }
    }

    /// The stalest candidate is found by a scan that looks at few; a slow one that looks at all agrees.
    #[test]
    fn the_first_explorer_is_the_stalest_of_all_candidates(case in any_case()) {
        let mut bench = bench_of(&case);
        bench.with.clear();
        let shape = SHAPES[case.shape];
        let Ok(seating) = bench.seat(shape) else { return Ok(()) };
        let Some(first) = seating.seats.iter().find(|seat| seat.kind == SeatKind::Explorer) else { return Ok(()) };
        let roster = Roster::new(&bench.setup);
        let members: Vec<_> = seating
            .seats
            .iter()
            .filter(|seat| seat.kind == SeatKind::Member)
            .filter_map(|seat| roster.get(&seat.alias))
            .collect();
        let candidates = bench.input(|input| plan::best_records(input, &Shape::new(shape), usize::MAX));
        let wanted = candidates
            .iter()
            .filter_map(|standing| roster.get(&standing.alias).map(|it| (it, standing.record.overall)))
            .filter(|(it, _)| !bench.collection.members.contains(&it.model.alias))
            .filter(|(it, _)| members.iter().all(|member| member.family != it.family))
            .min_by_key(|(it, work)| (work.last_offload_ms, !it.paid, work.offloads, it.model.alias.clone()));
        prop_assert_eq!(Some(first.alias.as_str()), wanted.map(|(it, _)| it.alias()));
    }
}

#[test]
fn seating_is_a_function_of_its_arguments() {
    let bench = many(30, 10);
    assert_eq!(bench.seat("general"), bench.seat("general"));
    let nothing = Evidence::default();
    assert_eq!(nothing.record("m1", &Shape::GENERAL), plan::Record::default());
}
