//! The way to providers: one pooled client behind [`Transport`], one call, one listing.

mod call;
mod count;
mod listing;
mod transport;

pub(crate) use call::{CallEnd, Limits, Outcome, Upstream};
pub(crate) use count::count;
pub(crate) use listing::list_models;
pub use listing::{EndpointTest, ListedModel};
pub(crate) use transport::{Reqwest, Transport};
