//! How limits stand, and what was spent, as they look from outside.

use plan::Budget;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What limits calls now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct LimitsView {
    /// Those that have rules of their owner, or of which a provider has said something; by name.
    pub connections: Vec<ConnectionLimits>,
    /// What is left alone for a while, the last to end first.
    pub cooling: Vec<CoolingView>,
    /// Of the collections that have one, by name.
    pub budgets: Vec<BudgetView>,
}

/// What is spent of a collection's budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct BudgetView {
    pub collection: String,
    pub budget: Budget,
    /// Spent in this day or month, and of how many calls nobody counted all: those are in it with an estimate.
    #[ts(type = "number")]
    pub tokens: u64,
    #[ts(type = "number")]
    pub tokens_unknown: u64,
    /// US dollars, and how many calls are not in them.
    pub dollars: f64,
    #[ts(type = "number")]
    pub cost_unknown: u64,
    /// Nothing is left: the collection is refused until then.
    pub is_spent: bool,
    /// RFC 3339, UTC.
    pub resets_at: String,
}

/// What shares a rate limit: an endpoint, or a part of a hub.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct ConnectionLimits {
    /// `groq`, `openrouter/anthropic`
    pub connection: String,
    pub endpoint: String,
    /// Calls under way, where there are rules.
    pub in_flight: u32,
    pub rules: Vec<RuleView>,
    /// What its provider stated as it refused a call, where its owner has no rule.
    pub stated: Vec<StatedView>,
    pub quota: Vec<QuotaView>,
}

/// A rule of the owner's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct RuleView {
    /// `rpm`, `rpd`, `tpm`, `tpd`, `rpmo`
    pub axis: String,
    /// Seconds that it looks back.
    #[ts(type = "number")]
    pub window_s: i64,
    #[ts(type = "number")]
    pub limit: u64,
    /// What is under way included.
    #[ts(type = "number")]
    pub used: u64,
}

/// A limit that a provider stated as it refused a call: it is kept to like a rule, for a day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct StatedView {
    /// The served name of the model it was stated of.
    pub model: String,
    /// As a rule's.
    pub axis: String,
    /// Seconds that it looks back.
    #[ts(type = "number")]
    pub window_s: i64,
    #[ts(type = "number")]
    pub limit: u64,
    /// What is under way included.
    #[ts(type = "number")]
    pub used: u64,
    /// RFC 3339, UTC.
    pub until: String,
}

/// What a provider last said of a quota.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct QuotaView {
    /// The served name of the model it was said to.
    pub model: String,
    /// `requests`, `tokens`, …
    pub metric: String,
    /// Seconds; `null` where it did not say.
    #[ts(type = "number | null")]
    pub window_s: Option<u64>,
    #[ts(type = "number | null")]
    pub limit: Option<u64>,
    #[ts(type = "number | null")]
    pub remaining: Option<u64>,
    /// When it is whole again: RFC 3339, UTC.
    pub resets_at: Option<String>,
    pub seen_at: String,
}

/// A model or a connection that is left alone after a rate limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct CoolingView {
    /// What to clear it by: an alias, or the connection.
    pub name: String,
    /// It is a whole connection.
    pub is_connection: bool,
    /// RFC 3339, UTC.
    pub until: String,
    pub why: String,
}

/// What calls took together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct SpendRow {
    /// The alias, the collection, …
    pub key: String,
    #[ts(type = "number")]
    pub calls: u64,
    /// Input without what was in the cache; of the calls whose tokens are known.
    #[ts(type = "number")]
    pub tokens_fresh: u64,
    /// Reasoning included.
    #[ts(type = "number")]
    pub tokens_out: u64,
    #[ts(type = "number")]
    pub tokens_reasoning: u64,
    #[ts(type = "number")]
    pub cache_read: u64,
    #[ts(type = "number")]
    pub cache_write: u64,
    /// Calls whose tokens nobody counted.
    #[ts(type = "number")]
    pub tokens_unknown: u64,
    /// US dollars of the calls whose cost is known, and how many are not.
    pub cost: f64,
    #[ts(type = "number")]
    pub cost_unknown: u64,
    /// Answers judged useful, and dollars for each of them.
    #[ts(type = "number")]
    pub useful: u64,
    pub cost_per_useful: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum SpendBy {
    Model,
    Collection,
    Caller,
    Endpoint,
    Purpose,
}

/// What calls took from an instant on, the dearest first. Practice is not in it.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Spend {
    /// RFC 3339, UTC.
    pub since: String,
    pub rows: Vec<SpendRow>,
}

impl SpendBy {
    pub const ALL: [SpendBy; 5] =
        [SpendBy::Model, SpendBy::Collection, SpendBy::Caller, SpendBy::Endpoint, SpendBy::Purpose];

    pub fn name(self) -> &'static str {
        match self {
            SpendBy::Model => "model",
            SpendBy::Collection => "collection",
            SpendBy::Caller => "caller",
            SpendBy::Endpoint => "endpoint",
            SpendBy::Purpose => "purpose",
        }
    }
}
