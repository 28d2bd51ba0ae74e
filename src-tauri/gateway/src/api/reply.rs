//! Response heads: content types, error shapes, the bench headers.

use axum::{body::Body, response::Response};
use http::{HeaderName, HeaderValue, StatusCode};
use percent_encoding::{CONTROLS, utf8_percent_encode};
use serde_json::{Value, json};
use wire::{ApiError, Dialect, Notice};

use super::{CONTENT_TYPE, JSON, retry_after};
use crate::{
    gateway::Gateway,
    panel::{chair, lossy_view},
    view::{LossyView, SeatView},
};

pub(crate) const PANEL: HeaderName = HeaderName::from_static("x-bench-panel");
pub(crate) const CONVERSATION: HeaderName = HeaderName::from_static("x-bench-conversation");
pub(crate) const MODEL: HeaderName = HeaderName::from_static("x-bench-model");
pub(crate) const SEATS: HeaderName = HeaderName::from_static("x-bench-seats");
pub(crate) const OVERHEAD: HeaderName = HeaderName::from_static("x-bench-overhead-ms");
pub(crate) const LOSSY: HeaderName = HeaderName::from_static("x-bench-lossy");

pub(crate) fn json(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// The head of a streamed reply.
pub(crate) fn stream(body: Body, content_type: &'static str) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(http::header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// An error in a dialect's shape.
pub(crate) fn error_response(
    dialect: Dialect,
    error: &ApiError,
    id: &str,
    bench: Option<&Value>,
) -> Response {
    let status = StatusCode::from_u16(error.kind.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    // A path or a name that is repeated to its caller may be a key.
    let masked =
        vault::gateway_key::mask(&error.message).map(|message| ApiError { message, ..error.clone() });
    let told = masked.as_ref().unwrap_or(error);
    let mut response = json(status, wire::format(dialect).encode_error(told, id, bench));
    if let Some(wait) = retry_after(error) {
        response.headers_mut().insert(http::header::RETRY_AFTER, wait);
    }
    if let Some((name, value)) = error.taken {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// Call, seat, alias and status of every seat, as a JSON list in ASCII.
pub(crate) fn seats(seats: &[SeatView]) -> HeaderValue {
    let list: Vec<Value> = seats
        .iter()
        .map(|seat| json!({"call": seat.call, "seat": chair(seat), "alias": seat.alias, "status": seat.status}))
        .collect();
    // Aliases, ids and words are ASCII by their rules.
    HeaderValue::from_str(&Value::Array(list).to_string()).unwrap_or(HeaderValue::from_static("[]"))
}

/// The most that a list of losses takes of a response's head.
const LOSSY_LENGTH: usize = 2_000;

/// `field=reason, …` in ASCII; where there is no room for all, `and 12 more` at the end: the record has them.
pub(crate) fn lossy(gateway: &Gateway, notices: &[Notice]) -> Option<HeaderValue> {
    let mut text = String::new();
    for (at, notice) in notices.iter().enumerate() {
        let LossyView { field, reason } = lossy_view(gateway, notice);
        let entry = format!("{field}={reason}");
        let entry: String =
            entry.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect();
        let comma = if at == 0 { "" } else { ", " };
        // Room is kept for saying how many are left.
        if text.len() + comma.len() + entry.len() > LOSSY_LENGTH - 32 {
            text.push_str(&format!("{comma}and {} more", notices.len() - at));
            break;
        }
        text.push_str(comma);
        text.push_str(&entry);
    }
    (!text.is_empty()).then(|| HeaderValue::from_str(&text).ok())?
}

/// A name as a header's value: what is not ASCII is percent-encoded.
pub(crate) fn name(name: &str) -> Option<HeaderValue> {
    HeaderValue::from_str(&utf8_percent_encode(name, CONTROLS).to_string()).ok()
}

pub(crate) fn milliseconds(ms: f64) -> HeaderValue {
    HeaderValue::from_str(&format!("{ms:.2}")).unwrap_or(HeaderValue::from_static("0"))
}
