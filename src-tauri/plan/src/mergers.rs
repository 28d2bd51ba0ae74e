use std::cmp::Reverse;

use crate::{
    Registered, Seat, SeatKind, SeatingInput, Shape, Skipped, Unavailable, primary_and_second,
    router::{GONE, WENT_PAID},
    seating::{does_not_fit, too_small},
};

/// Who may write the merged answer, and who may not and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mergers {
    /// At most two, to be tried in this order; the second when the first fails before its first token. Empty:
    /// the reply is every answer, with a note.
    pub seats: Vec<Seat>,
    pub skipped: Vec<Skipped>,
}

/// The merger's candidates (panel.md §7): the collection's merger alone, if one is set and may be called; else
/// members with useful verdicts on this shape, most useful first, then the router's primary, then members in
/// order. Of these, the first two whose window fits.
///
/// `estimate_tokens` is of what the merger is sent (the request as text, and every answer), in place of the
/// input's. Images are placeholders in it, so a merger need not see; the input's `has_images` and its like are
/// left out of account.
pub fn mergers(input: &SeatingInput<'_>, shape: &Shape, estimate_tokens: u64) -> Mergers {
    let text = SeatingInput {
        has_images: false,
        documents: false,
        audio: false,
        barred: &|_| None,
        estimate_tokens,
        ..*input
    };
    let mut found = Mergers { seats: Vec::new(), skipped: Vec::new() };
    if let Some(alias) = &input.collection.merger {
        match callable(input, alias) {
            Ok(it) => {
                found.consider(it, "set on the collection", estimate_tokens);
                return found;
            }
            Err(why) => found.skip(alias, why),
        }
    }
    let mut members: Vec<&Registered> = Vec::new();
    for alias in &input.collection.members {
        match callable(input, alias) {
            Ok(it) if !it.model.role.sits() => {
                found.skip(alias, format!("its role is {}", it.model.role.name()));
            }
            Ok(it) => members.push(it),
            Err(why) => found.skip(alias, why),
        }
    }
    let useful = |it: &Registered| input.evidence.record(it.alias(), shape).shape.useful;
    let mut proven: Vec<&Registered> = members.iter().copied().filter(|it| useful(it) > 0).collect();
    // Stable: equals stay in the collection's order.
    proven.sort_by_key(|it| Reverse(useful(it)));
    for it in proven {
        let why = format!("a member with {} useful answers of shape {}", useful(it), shape.name());
        found.consider(it, &why, estimate_tokens);
    }
    let primary = primary_and_second(&text, shape).primary;
    if let Some(it) = primary.as_ref().and_then(|standing| input.roster.get(&standing.alias)) {
        found.consider(it, "the router's primary", estimate_tokens);
    }
    for it in members {
        found.consider(it, "a member", estimate_tokens);
    }
    found
}

/// How many are tried.
const TRIES: usize = 2;

impl Mergers {
    fn consider(&mut self, it: &Registered, why: &str, estimate: u64) {
        let alias = it.alias();
        let known = self.seats.iter().any(|seat| seat.alias == alias)
            || self.skipped.iter().any(|skipped| skipped.alias == alias);
        if known || self.seats.len() == TRIES {
            return;
        }
        if let Some(window) = too_small(&it.model, estimate) {
            return self.skip(alias, does_not_fit(estimate, window));
        }
        self.seats.push(Seat {
            seat: if self.seats.is_empty() { "merger" } else { "merger.r1" }.to_owned(),
            kind: SeatKind::Merger,
            alias: alias.to_owned(),
            why: why.to_owned(),
        });
    }

    fn skip(&mut self, alias: &str, why: String) {
        self.skipped.push(Skipped { seat: "merger", alias: alias.to_owned(), why });
    }
}

fn callable<'a>(input: &SeatingInput<'a>, alias: &str) -> Result<&'a Registered, String> {
    let Some(it) = input.roster.get(alias) else {
        return Err("no model of this alias is registered".to_owned());
    };
    match &it.model.retired {
        None => match (input.unavailable)(&it.model) {
            Some(Unavailable::Gone) => Err(GONE.to_owned()),
            Some(Unavailable::WentPaid) => Err(WENT_PAID.to_owned()),
            _ => Ok(it),
        },
        Some(retired) => Err(format!("retired on {}: {}", retired.date(), retired.why)),
    }
}
