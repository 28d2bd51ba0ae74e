//! Providers, presets, model facts and prices: data files and their loader. No network.
//!
//! Everything here is read from data or from one string and can be tested with neither clock nor socket.
//! Whether a value is acceptable is said by `check` functions, each naming the field and the way out.

mod alias;
mod base;
mod check;
mod connection;
mod endpoint;
mod headers;
mod known;
mod limits;
mod listing;
mod model;
mod models;
mod options;
mod preset;
mod quirks;
mod quota;
mod retired;
mod role;
mod swap;

pub use alias::{FreeAliases, alias_for, family, valid_alias};
pub use base::{BaseError, PRACTICE_BASE, check_base, is_loopback};
pub use check::FieldError;
pub use connection::connection;
pub use endpoint::{Endpoint, EndpointKind, env_variable, valid_endpoint_name};
pub use known::{FactSource, KnownFacts, effective};
pub use limits::Limits;
pub use listing::facts_in_listing;
pub use model::{Facts, Model, Price, valid_served, went_paid};
pub use models::{CatalogError, ModelCatalog, SNAPSHOT_DATE, read_models_dev, read_openrouter, snapshot};
pub use options::wrong_options;
pub use preset::{AuthStyle, Preset, auth, models_url, preset, presets};
pub use quirks::{Quirks, quirks};
pub use quota::{Quota, QuotaProfile, quotas, quotas_in_body};
pub use retired::Retired;
pub use role::ModelRole;
pub use swap::is_swap;
