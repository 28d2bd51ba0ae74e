//! Our errors in Google's shape.

use serde_json::{Map, Value, json};

use crate::{
    error::{ApiError, Kind},
    json as text,
};

pub(super) fn write(error: &ApiError, request_id: &str, bench: Option<&Value>) -> Vec<u8> {
    text::to_vec(&shape(error, Some(request_id), bench))
}

/// `request_id` is told for faults of ours, so that a report can be matched with the log.
pub(super) fn shape(error: &ApiError, request_id: Option<&str>, bench: Option<&Value>) -> Value {
    let message = match request_id.filter(|id| error.kind == Kind::Internal && !error.message.contains(*id)) {
        Some(id) => format!("{} (request {id})", error.message),
        None => error.message.clone(),
    };
    let mut inner = json!({ "code": error.kind.status(), "message": message, "status": status(error.kind) });
    if let Some(wait) = error.retry_after {
        // Whole seconds, up: a client that comes back too early is refused again.
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        inner["details"] = json!([{
            "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s")
        }]);
    }
    let mut body = Map::new();
    body.insert("error".to_owned(), inner);
    if let Some(bench) = bench {
        body.insert("bench".to_owned(), bench.clone());
    }
    Value::Object(body)
}

fn status(kind: Kind) -> &'static str {
    match kind {
        Kind::InvalidRequest
        | Kind::HeadTooLarge
        | Kind::MethodNotAllowed
        | Kind::Timeout
        | Kind::TooLarge
        | Kind::UnsupportedMediaType => "INVALID_ARGUMENT",
        Kind::Authentication => "UNAUTHENTICATED",
        Kind::Permission => "PERMISSION_DENIED",
        Kind::NotFound => "NOT_FOUND",
        Kind::RateLimit => "RESOURCE_EXHAUSTED",
        Kind::Upstream | Kind::Unavailable => "UNAVAILABLE",
        Kind::Internal | Kind::NotImplemented => "INTERNAL",
    }
}
