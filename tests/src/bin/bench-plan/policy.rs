//! Three ways to fill explorer seats.

use plan::{ChosenShape, SeatKind, SeatingInput};

use crate::world::{MEMBERS, MODELS, alias};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// As the gateway does.
    Router,
    /// The next in line, those that cannot be asked passed over.
    RoundRobin,
    /// The best record of the shape so far.
    Leader,
}

impl Policy {
    pub const ALL: [Policy; 3] = [Policy::Router, Policy::RoundRobin, Policy::Leader];

    pub fn name(self) -> &'static str {
        match self {
            Policy::Router => "the router",
            Policy::RoundRobin => "round robin",
            Policy::Leader => "always the leader",
        }
    }

    /// The aliases of a panel's explorers. `turn` is where the round stands.
    pub fn explorers(
        self,
        input: &SeatingInput<'_>,
        shape: &ChosenShape,
        turn: &mut usize,
        is_away: impl Fn(usize) -> bool,
    ) -> Vec<String> {
        let seats = input.settings.max_explorers as usize;
        match self {
            Policy::Router => {
                let seats = plan::seat(input, shape).map(|seating| seating.seats).unwrap_or_default();
                let explorers = seats.into_iter().filter(|seat| seat.kind == SeatKind::Explorer);
                explorers.map(|seat| seat.alias).collect()
            }
            Policy::RoundRobin => {
                let outsiders = MODELS - MEMBERS;
                let mut picked = Vec::new();
                for _ in 0..outsiders {
                    if picked.len() == seats {
                        break;
                    }
                    let model = MEMBERS + *turn % outsiders;
                    *turn += 1;
                    if !is_away(model) {
                        picked.push(alias(model));
                    }
                }
                picked
            }
            Policy::Leader => plan::best_records(input, &shape.shape, usize::MAX)
                .into_iter()
                .map(|standing| standing.alias)
                .filter(|alias| !input.collection.members.contains(alias))
                .take(seats)
                .collect(),
        }
    }
}
