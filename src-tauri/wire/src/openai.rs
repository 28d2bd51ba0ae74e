//! What OpenAI's APIs have in common: the error body, and the usage object of the older two.

pub(crate) mod error;
pub(crate) mod usage;
