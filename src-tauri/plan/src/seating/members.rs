//! Steps 2 to 6 of panel.md §3: the members and nominees that can sit, and why the others cannot.

use wire::Kind;

use super::{SeatingError, SeatingInput, Skipped, fitness, size};
use crate::{Registered, Unavailable, router::WENT_PAID};

/// Who was considered, before explorers are picked.
pub(super) struct Considered<'a> {
    /// Members, in the collection's order.
    pub sitting: Vec<&'a Registered>,
    /// Nominees that may take an explorer seat, in the caller's order.
    pub nominees: Vec<&'a Registered>,
    pub skipped: Vec<Skipped>,
    /// Set when what the request holds keeps somebody out.
    refusal: Option<&'static str>,
}

pub(super) fn considered<'a>(input: &SeatingInput<'a>) -> Result<Considered<'a>, SeatingError> {
    let mut skipped = Vec::new();
    // Those that cannot be asked at all go before the cap, so that they take nobody's place.
    let callable = callable_members(input, &mut skipped);
    let mut sitting = under_the_cap(input, callable, &mut skipped);
    let mut nominees = nominees(input, &mut skipped);

    let mut refusal = None;
    for (seat, models) in [(MEMBER, &mut sitting), (EXPLORER, &mut nominees)] {
        models.retain(|it| {
            let Some(unfit) = fitness::unfit(&it.model, input) else { return true };
            // A nominee of role vision sits anyway: it was asked for by name.
            if unfit == fitness::Unfit::NothingToSee && seat == EXPLORER {
                return true;
            }
            refusal = refusal.or(unfit.code());
            skipped.push(skip(seat, it.alias(), unfit.why(&it.model)));
            false
        });
    }
    let sitting = size::members_that_fit(input, sitting, &mut skipped)?;
    let nominees = size::nominees_that_fit(input, nominees, &mut skipped);
    Ok(Considered { sitting, nominees, skipped, refusal })
}

/// No seat at all: every reason is given.
pub(super) fn nobody_sits(input: &SeatingInput<'_>, considered: Considered<'_>) -> SeatingError {
    let Considered { skipped, refusal, .. } = considered;
    let (kind, code) = match refusal {
        Some(code) => (Kind::InvalidRequest, code),
        None => (Kind::Unavailable, "no_seat"),
    };
    let reasons: Vec<String> = skipped.iter().map(|skip| format!("{}: {}", skip.alias, skip.why)).collect();
    let name = &input.collection.name;
    let message = match reasons.is_empty() {
        true if name.is_empty() => "no registered model may sit".to_owned(),
        true => format!("bench/{name} has no members; add one"),
        false => format!("nobody can sit for bench/{name}: {}", reasons.join("; ")),
    };
    SeatingError { kind, code, message, skipped }
}

pub(super) const MEMBER: &str = "member";
pub(super) const EXPLORER: &str = "explorer";

impl Considered<'_> {
    /// How many explorers there may be: by the members that sit.
    pub(super) fn explorer_seats(&self, input: &SeatingInput<'_>) -> usize {
        let settings = input.settings;
        (settings.max_calls as usize).saturating_sub(self.sitting.len()).min(settings.max_explorers as usize)
    }
}

fn callable_members<'a>(input: &SeatingInput<'a>, skipped: &mut Vec<Skipped>) -> Vec<&'a Registered> {
    let members = &input.collection.members;
    let mut callable = Vec::with_capacity(members.len());
    for (at, alias) in members.iter().enumerate() {
        // A member named twice is one member.
        if members[..at].contains(alias) {
            continue;
        }
        match find(input, alias) {
            Ok(registered) => callable.push(registered),
            Err(NotCallable::Owner(why)) => skipped.push(skip(MEMBER, alias, why)),
            Err(NotCallable::Unknown) => {
                let why = "no model of this alias is registered; register it, or take it off the collection";
                skipped.push(skip(MEMBER, alias, why.to_owned()));
            }
        }
    }
    callable
}

fn under_the_cap<'a>(
    input: &SeatingInput<'_>,
    mut callable: Vec<&'a Registered>,
    skipped: &mut Vec<Skipped>,
) -> Vec<&'a Registered> {
    let most = input.settings.max_calls as usize;
    for it in callable.drain(most.min(callable.len())..) {
        let why = format!("beyond the {most} seats of a panel (setting max_calls)");
        skipped.push(skip(MEMBER, it.alias(), why));
    }
    callable
}

/// The caller's nominees, deduplicated, minus members.
fn nominees<'a>(input: &SeatingInput<'a>, skipped: &mut Vec<Skipped>) -> Vec<&'a Registered> {
    let mut nominees = Vec::new();
    for (at, alias) in input.nominees.iter().enumerate() {
        if input.collection.members.contains(alias) || input.nominees[..at].contains(alias) {
            continue;
        }
        match find(input, alias) {
            Ok(registered) => nominees.push(registered),
            Err(NotCallable::Owner(why)) => skipped.push(skip(EXPLORER, alias, why)),
            Err(NotCallable::Unknown) => {
                skipped.push(skip(EXPLORER, alias, "no model of this alias is registered".to_owned()));
            }
        }
    }
    nominees
}

enum NotCallable {
    Unknown,
    /// Its owner has retired it, or has not allowed what it costs: why.
    Owner(String),
}

fn find<'a>(input: &SeatingInput<'a>, alias: &str) -> Result<&'a Registered, NotCallable> {
    let registered = input.roster.get(alias).ok_or(NotCallable::Unknown)?;
    match &registered.model.retired {
        None if (input.unavailable)(&registered.model) == Some(Unavailable::WentPaid) => {
            Err(NotCallable::Owner(WENT_PAID.to_owned()))
        }
        None => Ok(registered),
        Some(retired) => Err(NotCallable::Owner(format!("retired on {}: {}", retired.date(), retired.why))),
    }
}

pub(super) fn skip(seat: &'static str, alias: &str, why: String) -> Skipped {
    Skipped { seat, alias: alias.to_owned(), why }
}
