//! Step 7 of panel.md §3: explorer seats, to nominees first, then by the router.

use super::{
    Seat, SeatKind, SeatingInput, explorer_seat,
    members::{Considered, EXPLORER, skip},
};
use crate::{Registered, Shape, router::Candidates};

pub(super) fn add(
    input: &SeatingInput<'_>,
    shape: &Shape,
    stand_ins: &[Seat],
    considered: &mut Considered<'_>,
    seats: &mut Vec<Seat>,
) {
    let free = considered.explorer_seats(input);
    let mut seated: Vec<&Registered> = considered.sitting.clone();
    seated.extend(stand_ins.iter().filter_map(|seat| input.roster.get(&seat.alias)));
    let mut explorers = 0;
    let mut sit = |it: &Registered, why: String| {
        let seat = explorer_seat(explorers);
        seats.push(Seat { seat, kind: SeatKind::Explorer, alias: it.alias().to_owned(), why });
        explorers += 1;
    };

    let mut taken = 0;
    for nominee in &considered.nominees {
        let twin = seated.iter().find(|it| it.family == nominee.family);
        let why_not = match twin {
            Some(twin) if twin.alias() == nominee.alias() => Some("it stands in for a member already".into()),
            Some(twin) => Some(format!("the same model as {}, which sits already", twin.alias())),
            None if free == 0 => {
                Some("this panel has no explorer seat (settings max_calls, max_explorers)".into())
            }
            None if taken == free => Some(format!("nominees before it took the {}", seats_in_words(free))),
            None => None,
        };
        match why_not {
            Some(why) => considered.skipped.push(skip(EXPLORER, nominee.alias(), why)),
            None => {
                sit(nominee, "nominated".to_owned());
                seated.push(nominee);
                taken += 1;
            }
        }
    }
    let candidates = Candidates::beside_members(input, shape);
    for _ in taken..free {
        let Some(stalest) = candidates.stalest(&seated) else { break };
        sit(stalest, candidates.why_stalest(stalest));
        seated.push(stalest);
    }
}

fn seats_in_words(seats: usize) -> String {
    match seats {
        1 => "one explorer seat".to_owned(),
        many => format!("{many} explorer seats"),
    }
}
