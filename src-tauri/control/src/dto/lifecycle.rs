//! What becomes of a model once it is registered.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use gateway::view::{CatalogSource, CatalogView};

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct RenameModel {
    pub alias: String,
    /// A name that no other model has, nor had.
    pub to: String,
}
