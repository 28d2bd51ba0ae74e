//! A relayed body as its member takes it: what a request that is built anew is spared or told otherwise is edited in
//! place.

use super::Body;
use crate::{
    model::{Quirks, Request, Target},
    notice::Notice,
};

/// What a model that samples as it likes refuses, in chat's words.
pub(crate) const SAMPLING: [&str; 13] = [
    "temperature",
    "top_p",
    "top_k",
    "top_a",
    "min_p",
    "typical_p",
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
    "repeat_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
];

/// The two names of chat's output budget, the one that wins first.
pub(crate) const BUDGETS: [&str; 2] = ["max_completion_tokens", "max_tokens"];

/// Where a dialect may hold an option, beside where the request says that it stands.
#[derive(Default)]
pub(crate) struct Places {
    pub budgets: &'static [&'static str],
    pub efforts: &'static [&'static str],
}

pub(crate) fn bend(
    body: &mut Body<'_>,
    request: &Request,
    target: &Target,
    places: &Places,
    notices: &mut Vec<Notice>,
) {
    let quirks = target.quirks;
    let mut leave_out = |field: &str, why: &str| {
        if body.remove(&path(field)) {
            notices.push(Notice::new(field, why));
        }
    };
    if quirks.own_sampling {
        let sampling = request.sampling.fields.iter().filter(|(name, _)| SAMPLING.contains(&name.as_str()));
        sampling.for_each(|(name, _)| leave_out(request.spelling(name), "this model samples as it likes"));
    }
    if quirks.no_effort {
        leave_out(request.spelling("reasoning"), NO_EFFORT);
        places.efforts.iter().for_each(|field| leave_out(field, NO_EFFORT));
    }
    if quirks.no_parallel && request.parallel_tool_calls.is_some() {
        leave_out(request.spelling("parallel_tool_calls"), NO_PARALLEL);
    }
    if let (Some(limit), Some(asked)) = (target.max_output, request.max_output)
        && asked > limit
    {
        let field = request.spelling("max_output");
        notices.push(Notice::new(field, format!("cut from {asked} to {limit}, the most this model writes")));
        body.set(&path(field), &limit.to_string());
        for other in places.budgets.iter().filter(|other| **other != field) {
            if body.has(other) {
                body.set(&[other], &limit.to_string());
            }
        }
    }
}

pub(crate) const NO_EFFORT: &str = "this model is not told how much to think";
pub(crate) const NO_PARALLEL: &str = "this model is not told whether to call side by side";

/// A chat body's budget under the name that the member takes.
pub(crate) fn name_budget(body: &mut Body<'_>, quirks: Quirks) {
    let [newer, older] = BUDGETS;
    let (taken, refused) = match (quirks.completion_budget, quirks.plain_budget) {
        (true, _) => (newer, older),
        (false, true) => (older, newer),
        (false, false) => return,
    };
    // Where both stand the newer is meant.
    if body.has(newer) {
        body.remove(&[older]);
    }
    if body.has(refused) {
        body.rename(refused, taken);
    }
}

fn path(field: &str) -> Vec<&str> {
    field.split('.').collect()
}
