//! How many tokens a question has (wire.md §9): the gateway's estimate, and the reply says that it is one.

use std::borrow::Cow;

use axum::response::Response;
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::json;
use wire::{ApiError, Dialect, Route, estimate_tokens};

use super::{Call, panel, reply};

const COUNT: HeaderName = HeaderName::from_static("x-bench-count");

/// Answers in the shape of the API that asks. The collection must be one that can be asked.
pub(crate) fn tokens(call: &Call<'_>, route: &Route<'_>, body: &[u8]) -> Result<Response, ApiError> {
    let body = question(call.dialect, body)?;
    let request = wire::format(call.dialect).decode_request(&body, route)?;
    panel::known_collection(&call.gateway.snapshot(), &request)?;
    let tokens = estimate_tokens(&request);
    let count = match call.dialect {
        Dialect::Gemini => json!({ "totalTokens": tokens }),
        _ => json!({ "input_tokens": tokens }),
    };
    let mut response = reply::json(StatusCode::OK, count.to_string());
    response.headers_mut().insert(COUNT, HeaderValue::from_static("estimate"));
    Ok(response)
}

/// What is counted: the body itself, or what Gemini's callers wrap as `generateContentRequest`.
fn question(dialect: Dialect, body: &[u8]) -> Result<Cow<'_, [u8]>, ApiError> {
    if dialect != Dialect::Gemini {
        return Ok(Cow::Borrowed(body));
    }
    let mut value = wire::json_value(body)?;
    let inner = ["generateContentRequest", "generate_content_request"]
        .into_iter()
        .find_map(|name| value.as_object_mut()?.remove(name));
    Ok(Cow::Owned(inner.unwrap_or(value).to_string().into_bytes()))
}
