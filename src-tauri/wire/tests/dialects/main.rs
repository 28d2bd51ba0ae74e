//! The crate by its public face: framing, requests, replies, failures, redaction, and what must hold of any
//! bytes at all.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod anthropic;
mod bound;
mod chat_answers;
mod completions;
mod conversation;
mod count;
mod failures;
mod framing;
mod gemini;
mod goldens;
mod ollama_answers;
mod ollama_asked;
mod owners_relay;
mod properties;
mod quirks;
mod redaction;
mod refusals;
mod relays;
mod replies;
mod requests;
mod responses;
mod roundtrip;
mod sealed_relay;
mod stated;
mod usage;

#[path = "../support/mod.rs"]
mod support;

/// The events of a chat reply that arrived in the given pieces.
fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<wire::Event> {
    support::decode_as(wire::Dialect::Chat, pieces)
}
