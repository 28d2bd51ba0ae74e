//! Same dialect in and out: bytes go on as they came, but for a few values edited in place. Unknown fields, key
//! order, number text and spaces survive, because nothing is parsed and written again.

pub(crate) mod bend;
mod body;
mod edits;
mod last;
mod names;
pub(crate) mod owners;
mod plain;
mod public;
mod reply;
mod scan;
mod units;

#[cfg(test)]
mod tests;

pub(crate) use body::Body;
pub(crate) use edits::Edits;
pub use names::ModelName;
pub use plain::Plain;
pub use public::PublicEvents;
pub use reply::{Relay, restore, whole};
