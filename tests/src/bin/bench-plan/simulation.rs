//! One run: thousands of panels of one policy, and what its record knows in the end.

use plan::{ChosenShape, Collection, Evidence, Roster, SeatingInput, Settings};

use crate::{
    policy::Policy,
    world::{MEMBERS, MODELS, PANELS, SHAPES, World, alias, number, shape},
};

/// What a policy came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// After each of `LOOKS`: of the three outsiders that are best at a shape, the part that is among the
    /// record's first three; the mean over shapes.
    pub found: [f64; LOOKS.len()],
    /// What the reserve that would stand in at the end lacks to the best outsider; the mean over shapes.
    pub reserve_lacks: f64,
    /// Useful answers of explorer seats.
    pub explorers_useful: f64,
    /// The most panels any model went without being asked.
    pub stalest: usize,
}

/// Panels after which the record is looked at.
pub const LOOKS: [usize; 4] = [500, 1_000, 2_500, PANELS];

const BEST: usize = 3;
const MINUTE: i64 = 60_000;

pub fn simulate(policy: Policy, seed: u64) -> Run {
    let mut world = World::new(seed);
    let roster = Roster::new(&World::setup());
    let settings = Settings::default();
    let collection = Collection::new("core", (0..MEMBERS).map(alias));
    let mut evidence = Evidence::default();
    let mut run = Run { found: [0.0; LOOKS.len()], reserve_lacks: 0.0, explorers_useful: 0.0, stalest: 0 };
    let (mut turn, mut explored, mut useful_explored) = (0, 0_u32, 0_u32);
    let mut asked_at = [0; MODELS];
    for panel in 0..PANELS {
        let now_ms = panel as i64 * MINUTE;
        world.next_outages(panel);
        let at = world.next_shape();
        let chosen = ChosenShape { shape: shape(at), by: "the simulation".to_owned() };
        let is_away = |model: usize| world.is_away(model, panel);
        let mut asked: Vec<String> =
            collection.members.iter().filter(|alias| !is_away(number(alias))).cloned().collect();
        let members = asked.len();
        let unavailable =
            |model: &catalog::Model| is_away(number(&model.alias)).then_some(plan::Unavailable::Unlisted);
        let input = input(&collection, &roster, &settings, &evidence, &unavailable, now_ms);
        asked.extend(policy.explorers(&input, &chosen, &mut turn, is_away));
        for (seat, alias) in asked.iter().enumerate() {
            let model = number(alias);
            run.stalest = run.stalest.max(panel - asked_at[model]);
            asked_at[model] = panel;
            let (useful, verdict) = world.answer(model, at);
            if seat >= members {
                explored += 1;
                useful_explored += u32::from(useful);
            }
            evidence.offload(alias, &chosen.shape, now_ms);
            evidence.verdict(alias, &chosen.shape, None, verdict);
        }
        if let Some(look) = LOOKS.iter().position(|look| *look == panel + 1) {
            let input = self::input(&collection, &roster, &settings, &evidence, &|_| None, now_ms);
            (run.found[look], run.reserve_lacks) = looked_at(&input, &world);
        }
    }
    let waiting = asked_at.iter().map(|at| PANELS - at).max().unwrap_or_default();
    run.stalest = run.stalest.max(waiting);
    run.explorers_useful = f64::from(useful_explored) / f64::from(explored.max(1));
    run
}

/// What the record knows: the part of the best that it puts first, and what its reserve lacks.
fn looked_at(input: &SeatingInput<'_>, world: &World) -> (f64, f64) {
    let (mut found, mut lacks) = (0.0, 0.0);
    for at in 0..SHAPES.len() {
        let mut best: Vec<usize> = (MEMBERS..MODELS).collect();
        best.sort_by(|a, b| world.quality(*b, at).total_cmp(&world.quality(*a, at)));
        let first: Vec<usize> = plan::best_records(input, &shape(at), usize::MAX)
            .iter()
            .map(|standing| number(&standing.alias))
            .filter(|model| *model >= MEMBERS)
            .take(BEST)
            .collect();
        found += best[..BEST].iter().filter(|model| first.contains(model)).count() as f64 / BEST as f64;
        let chosen = ChosenShape { shape: shape(at), by: String::new() };
        let seats = plan::seat(input, &chosen).map(|seating| seating.seats).unwrap_or_default();
        // Explorers aside: which two sit at the moment says nothing of the record.
        let panel: Vec<_> = seats.into_iter().filter(|seat| seat.kind == plan::SeatKind::Member).collect();
        let reserve = plan::reserve(input, &shape(at), &panel, "member1");
        let got = reserve.map_or(0.0, |seat| world.quality(number(&seat.alias), at));
        lacks += world.quality(best[0], at) - got;
    }
    (found / SHAPES.len() as f64, lacks / SHAPES.len() as f64)
}

fn input<'a>(
    collection: &'a Collection,
    roster: &'a Roster,
    settings: &'a Settings,
    evidence: &'a Evidence,
    unavailable: &'a dyn Fn(&catalog::Model) -> Option<plan::Unavailable>,
    now_ms: i64,
) -> SeatingInput<'a> {
    SeatingInput {
        collection,
        roster,
        settings,
        evidence,
        unavailable,
        has_images: false,
        documents: false,
        audio: false,
        barred: &|_| None,
        estimate_tokens: 1_000,
        nominees: &[],
        now_ms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the router is for, in worlds of different seeds: it finds the best, as following the leader does not,
    /// and lets nobody go unasked for longer than round robin does.
    #[test]
    fn the_router_finds_the_best_and_forgets_nobody() {
        let (mut router_found, mut leader_found) = (0.0, 0.0);
        let seeds = [1, 2, 3, 4];
        for seed in seeds {
            let [router, round, leader] = Policy::ALL.map(|policy| simulate(policy, seed));
            assert!(router.stalest <= round.stalest, "{seed}: {} > {}", router.stalest, round.stalest);
            assert!(router.stalest < 60, "{seed}: {}", router.stalest);
            assert!(leader.stalest > 1_000, "{seed}: {}", leader.stalest);
            assert!(router.reserve_lacks < 0.1, "{seed}: {}", router.reserve_lacks);
            router_found += router.found[3];
            leader_found += leader.found[3];
        }
        let worlds = seeds.len() as f64;
        let (router, leader) = (router_found / worlds, leader_found / worlds);
        assert!(router > 0.5 && router > leader, "{router} {leader}");
    }

    #[test]
    fn a_run_is_the_same_every_time() {
        assert_eq!(simulate(Policy::Router, 7), simulate(Policy::Router, 7));
    }
}
