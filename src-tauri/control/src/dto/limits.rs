//! Limits, and what was spent.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use catalog::Limits;
pub use gateway::view::{LimitsView, ModelRecord, Spend, SpendBy};

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SpendQuery {
    pub by: SpendBy,
    /// `24h`, `7d`, `2026-11-01`, or RFC 3339; `null` is the last 30 days.
    pub since: Option<String>,
}
