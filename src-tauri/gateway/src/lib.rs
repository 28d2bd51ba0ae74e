//! The gateway: a request comes in, is planned, goes upstream, and its answer goes out and is recorded.
//!
//! It starts, serves and drains without a window, D-Bus or keychain, and knows none of them. [`Gateway::open`]
//! takes the data folder; [`Gateway::serve`] listens. Everything a person does in a window goes through the
//! same methods (the `control` crate names them).

mod alerts;
mod api;
mod asking;
mod callers;
mod clock;
mod data_dir;
mod discover;
mod evidence;
mod facts;
mod gateway;
mod guard;
mod health;
mod keys;
mod learned;
mod limits;
mod linger;
mod live;
mod metered;
mod names;
mod onboarding;
mod origins;
mod paid;
mod panel;
mod practice;
mod records;
mod refresh;
mod sending;
mod server;
mod setup;
mod spend;
mod standing;
mod told;
mod turn;
mod under_way;
mod unfit;
mod unmasked;
mod upkeep;
mod upstream;
pub mod view;

pub use callers::{GatewayKeyError, NewGatewayKey};
pub use clock::{Clock, rfc3339};
pub use data_dir::{Owner, data_dir, write_private};
pub use discover::{FoundKey, FoundRuntime};
pub use facts::ModelFacts;
pub use gateway::{Gateway, OpenError, Options};
pub use keys::KeyError;
pub use live::Events;
pub use names::RenameError;
pub use onboarding::OnboardError;
pub use paid::AllowError;
pub use panel::{Ask, Asked};
pub use records::{Verdict, VerdictError};
pub use server::{ServeError, Serving};
pub use setup::{ChangeError, Snapshot};
pub use spend::SpendError;
pub use unfit::Unfit;
pub use upstream::{EndpointTest, ListedModel};
pub use vault::{KeyInfo, Source as KeySource, VaultError, VaultState};
