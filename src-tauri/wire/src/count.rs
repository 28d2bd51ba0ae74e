//! Asking how many tokens a question has (wire.md §9), in the dialects whose callers ask.

use crate::{
    error::ApiError,
    format::Encoded,
    json::{Json, lenient},
    model::{Request, Target},
};

/// No window is as large; a count past it is a mistake.
const MOST: u64 = 100_000_000;

/// A dialect's way to count, for callers and members alike.
pub trait TokenCount: Send + Sync {
    /// The question in a caller's body, as [`Format::decode`](crate::Format::decode) reads it.
    fn question(&self, body: &Json) -> Result<Json, ApiError> {
        Ok(body.clone())
    }

    /// The caller's body for a member of the same dialect, edited in place as
    /// [`Format::relay`](crate::Format::relay) does. `request` is its question, decoded.
    fn relay(&self, body: &Json, request: &Request, target: &Target) -> Result<Encoded, ApiError>;

    /// The field of a reply that holds the count.
    fn field(&self) -> &'static str;

    /// What a member counted, in tokens; `None` when the reply holds no count that can be true.
    fn decode_reply(&self, body: &[u8]) -> Option<u64> {
        let reply = lenient::whole(&String::from_utf8_lossy(body))?;
        reply.get(self.field())?.as_u64().filter(|tokens| (1..=MOST).contains(tokens))
    }

    /// A count for a caller, in tokens.
    fn encode_reply(&self, tokens: u64) -> Vec<u8> {
        serde_json::json!({ self.field(): tokens }).to_string().into_bytes()
    }
}
