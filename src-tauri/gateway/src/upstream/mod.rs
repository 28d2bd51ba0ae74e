//! The way to providers: one pooled client behind [`Transport`], one call, one listing.

mod call;
mod count;
mod crowd;
mod far;
mod heard;
mod listing;
mod near;
#[cfg(test)]
mod reuse_tests;
#[cfg(test)]
mod streams_tests;
mod transport;

pub(crate) use call::{
    ACCEPT, AFTER_FINISH, CallEnd, Head, Limits, Outcome, Upstream, headers, network, notice, reuse, silence,
    text_header, url,
};
pub(crate) use heard::Heard;
pub(crate) use listing::list_models;
pub use listing::{EndpointTest, ListedModel};
pub(crate) use transport::{
    Counted, Counts, Incoming, Outgoing, OutgoingHeaders, Pooled, SendError, Sends, Transport,
};
