//! The catalog of models that is fetched, as it is shown.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CatalogView {
    /// The day of the catalog that came with the program.
    pub shipped: String,
    /// Whether the lists are fetched once a day.
    pub on: bool,
    pub sources: Vec<CatalogSource>,
}

/// A public list of models.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CatalogSource {
    pub name: String,
    pub url: String,
    /// When it was last fetched.
    pub refreshed_at: Option<String>,
    /// Why it could not be fetched now.
    pub error: Option<String>,
}
