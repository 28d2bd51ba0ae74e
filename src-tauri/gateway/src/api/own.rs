//! Our own routes: verdicts, the record, one call.

use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{NewVerdict, RecordFilter, StoreError};
use wire::{ApiError, Kind, Origin};

use super::{Call, name, reply};
use crate::records::VerdictError;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VerdictBody {
    call: String,
    useful: Option<bool>,
    #[serde(default)]
    note: Option<String>,
    #[serde(default)]
    real: Option<Vec<String>>,
    #[serde(default, rename = "false")]
    false_claims: Option<Vec<String>>,
    #[serde(default)]
    clear: bool,
}

pub(crate) async fn verdict(call: &Call<'_>, body: &[u8]) -> Result<Response, ApiError> {
    let body = wire::json_value(body)?;
    if !body.is_object() {
        return Err(ApiError::invalid("verdict", "body: expected object"));
    }
    let given: VerdictBody = serde_path_to_error::deserialize(body).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { "body" } else { &path };
        ApiError::invalid("verdict", format!("{place}: {}", error.inner()))
    })?;
    if given.clear && given.useful.is_some() {
        let message = "clear: a verdict is given (\"useful\") or withdrawn (\"clear\"), not both";
        return Err(ApiError::invalid("verdict", message));
    }
    let by = "local".to_owned();
    let recorded = if given.clear {
        call.gateway.clear_verdict(&given.call, &by).await
    } else {
        let Some(useful) = given.useful else {
            return Err(ApiError::invalid(
                "verdict",
                "useful: say true or false, or \"clear\": true to withdraw",
            ));
        };
        let VerdictBody { call: id, note, real, false_claims, .. } = given;
        call.gateway.give_verdict(NewVerdict { call: id, useful, note, real, false_claims, by }).await
    };
    let recorded = recorded.map_err(|error| match error {
        VerdictError::Invalid { .. } => ApiError::invalid("verdict", error.to_string()),
        VerdictError::UnknownCall(_) => {
            ApiError::new(Kind::NotFound, Origin::Client, "call_not_found", error.to_string())
        }
        VerdictError::Store(error) => internal(&error),
    })?;
    Ok(reply::json(StatusCode::OK, json!({"ok": true, "recorded": recorded}).to_string()))
}

pub(crate) async fn record(call: &Call<'_>, query: &str) -> Result<Response, ApiError> {
    let collection = name::query(query, "collection").filter(|collection| !collection.is_empty());
    let bare = collection.as_deref().map(|collection| name::parse(collection).collection.to_owned());
    let snapshot = call.gateway.snapshot();
    let practice = bare
        .as_deref()
        .and_then(|name| snapshot.collection(name))
        .is_some_and(|collection| snapshot.is_practice_collection(collection));
    let filter = RecordFilter { collection: bare.clone(), shape: name::query(query, "shape"), practice };
    let gateway = call.gateway.clone();
    let aliases = blocking(move || gateway.record(filter)).await?;
    let answer = json!({
        "collection": bare.map(|name| format!("bench/{name}")),
        "task": name::query(query, "task"),
        "aliases": aliases,
    });
    Ok(reply::json(StatusCode::OK, answer.to_string()))
}

pub(crate) async fn call(call: &Call<'_>, id: &str) -> Result<Response, ApiError> {
    let (gateway, wanted) = (call.gateway.clone(), id.to_owned());
    let Some(seat) = blocking(move || gateway.call(&wanted)).await? else {
        let message = format!("no call \"{}\" is on record", wire::redact::shorten(id, 80));
        return Err(ApiError::new(Kind::NotFound, Origin::Client, "call_not_found", message));
    };
    let body: Value = serde_json::to_value(&seat).unwrap_or_default();
    Ok(reply::json(StatusCode::OK, body.to_string()))
}

pub(super) async fn blocking<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, ApiError> {
    match tokio::task::spawn_blocking(read).await {
        Ok(read) => read.map_err(|error| internal(&error)),
        Err(_) => {
            Err(ApiError::new(Kind::Internal, Origin::Gateway, "internal", "the records could not be read"))
        }
    }
}

pub(super) fn internal(error: &StoreError) -> ApiError {
    ApiError::new(
        Kind::Internal,
        Origin::Gateway,
        "records",
        format!("the records could not be used: {error}"),
    )
}
