//! The member a request is built for.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use crate::model::Seal;

/// What the encoder must know of a member beside its dialect.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// The provider's id of the model.
    pub served: String,
    /// The owner's default options for this model, merged into the body in the member's own words
    /// (`max_tokens`, `temperature`, …).
    pub options: serde_json::Map<String, serde_json::Value>,
    /// The most the model can write, in tokens, where it is known: a larger budget is cut to it.
    pub max_output: Option<u64>,
    /// The caller's own options go to the member: true for a routed turn. A panel passes them only when the body
    /// says so.
    pub callers_options: bool,
    /// Who the member is, for reasoning that only its maker may read.
    pub member: Member,
    /// Fingerprints of the seals this member is known to have made, of those that carry no mark of ours.
    pub made: BTreeSet<u64>,
    /// Of the same seals, those another member is known to have made. A seal in neither is of an unknown maker.
    pub foreign: BTreeSet<u64>,
    /// What the caller's dialect could not hold, kept by tool-call id, for this member.
    pub kept: BTreeMap<String, Kept>,
    pub quirks: Quirks,
}

/// A member by a hash of its endpoint and model: stable over restarts, and tells nothing.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Member(pub u64);

/// What belongs to a tool call and went round the caller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    pub signature: Option<Seal>,
    /// The reasoning that led to the call, for members that want it back.
    pub thinking: Option<String>,
}

/// What a member does otherwise than its dialect says. A closed set; which member has which is the caller's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    /// Takes `cache_control` though its dialect has none (a hub in front of models that know it).
    pub cache_marks: bool,
    /// Takes how long a cache mark holds (`ttl`).
    pub cache_ttl: bool,
    /// Refuses earlier reasoning that carries no signature.
    pub signed_thinking: bool,
    /// How an Anthropic member is told to think.
    pub thinking: ThinkingScale,
    /// Wants its reasoning back on assistant turns that call tools.
    pub reasoning_back: bool,
    /// Takes one system turn, the first.
    pub one_system: bool,
    /// User and assistant turns must alternate.
    pub alternate: bool,
    /// Knows the `developer` role.
    pub developer: bool,
    /// Takes the output budget as `max_completion_tokens` and refuses `max_tokens`.
    pub completion_budget: bool,
    /// Takes the output budget as `max_tokens` and refuses `max_completion_tokens`.
    pub plain_budget: bool,
    /// Samples as it likes: refuses `temperature`, `top_p`, penalties and their like.
    pub own_sampling: bool,
    /// Refuses to be told how much to think.
    pub no_effort: bool,
    /// Refuses to be told whether to call tools side by side.
    pub no_parallel: bool,
    /// Refuses to be asked for the count of tokens (`stream_options`).
    pub no_usage: bool,
}

/// How much a member of the Anthropic dialect should think.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingScale {
    /// As its own callers say it; from other dialects, a budget.
    #[default]
    AsAsked,
    /// A budget in tokens, and nothing else.
    Budget,
    /// A level of effort; a budget is refused.
    Effort,
}

impl Member {
    /// `endpoint` and `served` as the owner has them.
    pub fn of(endpoint: &str, served: &str) -> Self {
        Member(crate::hash::fnv1a(&[endpoint, "\n", served]))
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Member({:016x})", self.0)
    }
}
