use crate::{
    ChosenShape, Leaders, Registered, Seating, SeatingError, SeatingInput, Standing, primary_and_second,
    reserve::apart_first,
    router::{Candidates, standing},
    seat,
};

/// Who would sit if the panel were asked now, and why: what `bench panel` and the collection editor show.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The seats, each with why; explorers and nominees are at the end.
    pub seating: Result<Seating, SeatingError>,
    /// Who would stand in, in order: as many as the setting says.
    pub reserves: Vec<Standing>,
    pub leaders: Leaders,
    /// How many could be picked beside the members.
    pub candidates: usize,
    /// The others, grouped by why not, the largest group first.
    pub not_candidates: Vec<Group>,
}

/// Models that are no candidates for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub why: String,
    pub count: usize,
    /// The first few, in the set-up's order.
    pub some: Vec<String>,
}

/// Explains a panel without beginning one. Without a collection in mind, a collection without members will do:
/// its seats are explorers only.
pub fn explain(input: &SeatingInput<'_>, shape: &ChosenShape) -> Explanation {
    let seating = seat(input, shape);
    let candidates = Candidates::beside_members(input, &shape.shape);
    let mut groups: Vec<Group> = Vec::new();
    let mut count = 0;
    for it in input.roster.iter() {
        match candidates.why_not(it, &[]) {
            None => count += 1,
            Some(why) => add(&mut groups, why.in_words(it, &shape.shape), it),
        }
    }
    // Stable: equals stay in the order they were met.
    groups.sort_by_key(|group| std::cmp::Reverse(group.count));
    let sits = seating.as_ref().map(|seating| seating.seats.as_slice()).unwrap_or_default();
    let mut seated: Vec<&Registered> = sits.iter().filter_map(|it| input.roster.get(&it.alias)).collect();
    let mut reserves = Vec::new();
    for _ in 0..input.settings.reserves {
        let Some((it, connection)) = apart_first(&candidates, &seated) else { break };
        seated.push(it);
        let record = candidates.record(it);
        let why = format!("{}: {}", connection.in_words(), standing(&record, &shape.shape, it.paid));
        reserves.push(Standing { alias: it.alias().to_owned(), record, why });
    }
    Explanation {
        seating,
        reserves,
        leaders: primary_and_second(input, &shape.shape),
        candidates: count,
        not_candidates: groups,
    }
}

/// Aliases named in a group.
const SOME: usize = 5;

fn add(groups: &mut Vec<Group>, why: String, it: &Registered) {
    let at = groups.iter().position(|group| group.why == why).unwrap_or_else(|| {
        groups.push(Group { why, count: 0, some: Vec::new() });
        groups.len() - 1
    });
    if let Some(group) = groups.get_mut(at) {
        group.count += 1;
        if group.some.len() < SOME {
            group.some.push(it.alias().to_owned());
        }
    }
}
