//! Collections, as they are shown and saved.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use plan::{Budget, Period, in_dollars};

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CollectionView {
    pub name: String,
    pub description: String,
    pub tags: Vec<String>,
    pub members: Vec<String>,
    pub shape: String,
    pub reply: String,
    pub merger: Option<String>,
    pub when_too_large: String,
    /// Other members that a routed turn is also put to: 0 is none.
    pub shadow: u32,
    /// 0–1
    pub shadow_share: f64,
    /// Tokens a day; 0 is no limit.
    #[ts(type = "number")]
    pub shadow_tokens: u64,
    /// What it may spend; absent where it has no budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub budget: Option<Budget>,
    /// Every member is a practice model.
    pub practice: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SaveCollection {
    /// The collection being edited; `null` makes a new one.
    pub was: Option<String>,
    pub name: String,
    pub description: String,
    pub tags: Vec<String>,
    pub members: Vec<String>,
    /// Empty is automatic.
    pub shape: String,
    pub when_too_large: String,
    /// `all`, `merged`, `route`; absent keeps what is there.
    #[serde(default)]
    #[ts(optional)]
    pub reply: Option<String>,
    /// An alias, or empty for none; absent keeps what is there.
    #[serde(default)]
    #[ts(optional)]
    pub merger: Option<String>,
    /// 0 to 3; absent keeps what is there.
    #[serde(default)]
    #[ts(optional)]
    pub shadow: Option<u32>,
    /// 0–1; absent keeps what is there.
    #[serde(default)]
    #[ts(optional)]
    pub shadow_share: Option<f64>,
    /// Tokens a day, 0 for no limit; absent keeps what is there.
    #[serde(default)]
    #[ts(optional, type = "number")]
    pub shadow_tokens: Option<u64>,
    /// Absent keeps what is there.
    #[serde(default)]
    #[ts(optional)]
    pub budget: Option<Budget>,
    /// It has none from now on.
    #[serde(default)]
    #[ts(optional, as = "Option<bool>")]
    pub no_budget: bool,
}
