//! Gateway keys, as they look from outside. Never a key's text.

use plan::Budget;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A gateway key: what a program signs in with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct GatewayKeyView {
    /// Whose calls they are in every record. A name may be given again once its key is revoked or expired.
    pub name: String,
    /// The end of its text.
    pub last4: String,
    pub standing: KeyStanding,
    /// RFC 3339, UTC, as are the others.
    pub created: String,
    /// Without `bench/`; absent is every collection, and every model under its own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub collections: Option<Vec<String>>,
    /// Questions; absent is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub requests_a_minute: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub budget: Option<Budget>,
    /// What is spent of its budget, by every key that has had the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub spent: Option<KeySpending>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub expires: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub revoked: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub last_used: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeyStanding {
    Good,
    Expired,
    Revoked,
}

/// What is spent in the day or month of a key's budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct KeySpending {
    /// And of how many calls nobody counted all: those are in it with an estimate.
    #[ts(type = "number")]
    pub tokens: u64,
    #[ts(type = "number")]
    pub tokens_unknown: u64,
    /// US dollars, and how many calls are not in them.
    pub dollars: f64,
    #[ts(type = "number")]
    pub cost_unknown: u64,
    /// Nothing is left: its questions are refused until then.
    pub is_spent: bool,
    /// RFC 3339, UTC.
    pub resets_at: String,
}
