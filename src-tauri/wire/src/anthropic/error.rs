//! Our errors in Anthropic's shape.

use serde_json::{Value, json};

use crate::{
    error::{ApiError, Kind},
    json as text,
};

/// Anthropic's error body.
pub(super) fn write(error: &ApiError, request_id: &str, bench: Option<&Value>) -> Vec<u8> {
    text::to_vec(&shape(error, Some(request_id), bench))
}

pub(super) fn shape(error: &ApiError, request_id: Option<&str>, bench: Option<&Value>) -> Value {
    let mut body =
        json!({ "type": "error", "error": { "type": kind_word(error), "message": error.message } });
    if let Some(id) = request_id {
        body["request_id"] = json!(id);
    }
    if let Some(bench) = bench {
        body["bench"] = bench.clone();
    }
    body
}

/// The word for 503 is the API's own type; no message of ours holds it.
fn kind_word(error: &ApiError) -> &'static str {
    match error.kind {
        Kind::InvalidRequest
        | Kind::HeadTooLarge
        | Kind::MethodNotAllowed
        | Kind::Timeout
        | Kind::UnsupportedMediaType => "invalid_request_error",
        Kind::Authentication => "authentication_error",
        Kind::Permission => "permission_error",
        Kind::NotFound => "not_found_error",
        Kind::TooLarge => "request_too_large",
        Kind::RateLimit => "rate_limit_error",
        Kind::Unavailable => "overloaded_error",
        Kind::Internal | Kind::NotImplemented | Kind::Upstream => "api_error",
    }
}
