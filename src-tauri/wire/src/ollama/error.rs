//! Our errors in Ollama's shape: `{"error": "message"}`.

use serde_json::{Value, json};

use crate::{
    error::{ApiError, Kind},
    json as text,
};

pub(super) fn write(error: &ApiError, request_id: &str, bench: Option<&Value>) -> Vec<u8> {
    text::to_vec(&shape(error, Some(request_id), bench))
}

/// `request_id` is told for faults of ours, so that a report can be matched with the log.
pub(super) fn shape(error: &ApiError, request_id: Option<&str>, bench: Option<&Value>) -> Value {
    let mut body = match request_id.filter(|id| error.kind == Kind::Internal && !error.message.contains(*id))
    {
        Some(id) => json!({ "error": format!("{} (request {id})", error.message) }),
        None => json!({ "error": error.message }),
    };
    if let Some(bench) = bench {
        body["bench"] = bench.clone();
    }
    body
}
