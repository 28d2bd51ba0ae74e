//! Step 5 of panel.md §3: the prompt's size against known windows.

use wire::Kind;

use super::{
    SeatingError, SeatingInput, Skipped,
    fitness::too_small,
    members::{EXPLORER, MEMBER, skip},
};
use crate::{Registered, WhenTooLarge};

/// The members whose window the prompt fits, or a refusal that names each other one and its window.
pub(super) fn members_that_fit<'a>(
    input: &SeatingInput<'_>,
    sitting: Vec<&'a Registered>,
    skipped: &mut Vec<Skipped>,
) -> Result<Vec<&'a Registered>, SeatingError> {
    let estimate = input.estimate_tokens;
    let refuse = input.collection.when_too_large == WhenTooLarge::Refuse;
    let mut fitting = Vec::with_capacity(sitting.len());
    let mut named = Vec::new();
    for it in sitting {
        let Some(window) = too_small(&it.model, estimate) else {
            fitting.push(it);
            continue;
        };
        named.push(format!("{} (window {window})", it.alias()));
        skipped.push(skip(MEMBER, it.alias(), does_not_fit(estimate, window)));
    }
    if named.is_empty() || (!refuse && !fitting.is_empty()) {
        return Ok(fitting);
    }
    let way_out = match refuse && !fitting.is_empty() {
        true => "shorten it, or let the collection skip such members (when_too_large: skip)",
        false => "shorten it, or ask a collection with larger windows",
    };
    Err(SeatingError {
        kind: Kind::TooLarge,
        code: "too_large",
        message: format!(
            "the prompt is about {estimate} tokens (an estimate), too large for {}; {way_out}",
            named.join(", ")
        ),
        skipped: std::mem::take(skipped),
    })
}

/// A nominee that is too small is left out, and refuses nothing.
pub(super) fn nominees_that_fit<'a>(
    input: &SeatingInput<'_>,
    mut nominees: Vec<&'a Registered>,
    skipped: &mut Vec<Skipped>,
) -> Vec<&'a Registered> {
    nominees.retain(|it| {
        let Some(window) = too_small(&it.model, input.estimate_tokens) else { return true };
        skipped.push(skip(EXPLORER, it.alias(), does_not_fit(input.estimate_tokens, window)));
        false
    });
    nominees
}

pub(crate) fn does_not_fit(estimate: u64, window: u64) -> String {
    format!("the prompt is about {estimate} tokens, its window is {window}")
}
