//! Gateway keys, as they are made and shown.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use gateway::view::{GatewayKeyView, KeySpending, KeyStanding};

use super::Budget;

/// A gateway key to be made: what a program of another's signs in with.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct CreateKey {
    /// Whose calls they will be in every record: as an endpoint's name, and not `local`.
    pub name: String,
    /// Without `bench/`; absent is every collection, and every model under its own name.
    #[serde(default)]
    #[ts(optional)]
    pub collections: Option<Vec<String>>,
    /// 1 to 10,000 questions; absent is no limit.
    #[serde(default)]
    #[ts(optional)]
    pub requests_a_minute: Option<u32>,
    #[serde(default)]
    #[ts(optional)]
    pub budget: Option<Budget>,
    /// `+30d`, `+12h`, a day such as `2027-01-31` (its beginning, UTC), or RFC 3339; absent is never.
    #[serde(default)]
    #[ts(optional)]
    pub expires: Option<String>,
}

/// A key that was made. Its text is told here and never again.
#[derive(Clone, Serialize, Deserialize, TS)]
pub struct NewKey {
    pub key: GatewayKeyView,
    /// `bwk_` and 43 characters.
    pub text: String,
}
