//! How models do, as it looks from outside.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Whether a model can be called now, and what is on its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ModelRecord {
    pub alias: String,
    pub state: ModelState,
    /// Why it is not ready: `its endpoint has no key`. Empty when it is.
    pub why: String,
    /// When it ends by itself: RFC 3339, UTC.
    pub until: Option<String>,
    pub offloads: u32,
    /// Its last work: RFC 3339, UTC.
    pub last_at: Option<String>,
    /// Verdicts: useful of judged.
    pub useful: u32,
    pub judged: u32,
    /// Of the last 30 days: answers, and the medians of their whole time and of their first token.
    #[ts(type = "number")]
    pub answers: u64,
    pub seconds: Option<f64>,
    pub first_token_s: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ModelState {
    Ready,
    /// Left alone after a rate limit; `until` says how long.
    Resting,
    /// A limit of its endpoint is reached.
    OverLimit,
    /// Its owner has retired it.
    Retired,
    /// Something else is in the way; `why` says what.
    Out,
}
