//! Our errors in the shape of OpenAI's APIs.

use serde_json::{Map, Value, json};

use crate::{
    error::{ApiError, Kind},
    json as text,
};

/// The error body.
pub(crate) fn write(error: &ApiError, request_id: &str, bench: Option<&Value>) -> Vec<u8> {
    text::to_vec(&shape(error, Some(request_id), bench))
}

/// `request_id` is told for faults of ours, so that a report can be matched with the log.
pub(crate) fn shape(error: &ApiError, request_id: Option<&str>, bench: Option<&Value>) -> Value {
    let message = match request_id.filter(|id| error.kind == Kind::Internal && !error.message.contains(*id)) {
        Some(id) => format!("{} (request {id})", error.message),
        None => error.message.clone(),
    };
    let mut body = Map::new();
    body.insert(
        "error".to_owned(),
        json!({ "message": message, "type": kind_word(error), "param": null, "code": error.code }),
    );
    if let Some(bench) = bench {
        body.insert("bench".to_owned(), bench.clone());
    }
    Value::Object(body)
}

fn kind_word(error: &ApiError) -> &'static str {
    match error.kind {
        Kind::InvalidRequest
        | Kind::HeadTooLarge
        | Kind::MethodNotAllowed
        | Kind::Timeout
        | Kind::TooLarge
        | Kind::UnsupportedMediaType => "invalid_request_error",
        Kind::Authentication => "authentication_error",
        Kind::Permission => "permission_error",
        Kind::NotFound => "not_found_error",
        Kind::RateLimit => "rate_limit_error",
        // Some agents retry for ever on this word, so it is only said when it is so.
        Kind::Unavailable if error.code == "overloaded" => "overloaded_error",
        Kind::Internal | Kind::NotImplemented | Kind::Upstream | Kind::Unavailable => "server_error",
    }
}
