//! A model's sheet: what is known of it and who says so, and what its last probes found.

pub use catalog::FactSource;
use gateway::view::OnboardingLog;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::dto::ModelView;

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ModelSheet {
    pub model: ModelView,
    /// Every fact there is, known or not.
    pub facts: Vec<FactView>,
    /// What the last probe of each kind found, in the order of the steps; empty when it was never probed.
    pub probes: Vec<OnboardingLog>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct FactView {
    /// `context_window`, `tools`, `price`, …
    pub name: String,
    /// What holds: a number, a truth, or a price by its parts; `null` is unknown.
    #[ts(type = "unknown")]
    pub value: serde_json::Value,
    /// Whose word holds.
    pub source: Option<FactSource>,
    /// What each source says that knows the fact, in rising precedence.
    pub told: Vec<FactTold>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct FactTold {
    pub source: FactSource,
    #[ts(type = "unknown")]
    pub value: serde_json::Value,
    /// RFC 3339, or the day of the shipped catalog; `null` for the owner's.
    pub at: Option<String>,
}
