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
    let given: VerdictBody = own_body(body, "verdict")?;
    if given.clear && given.useful.is_some() {
        let message = "clear: a verdict is given (\"useful\") or withdrawn (\"clear\"), not both";
        return Err(ApiError::invalid("verdict", message));
    }
    allowed(call, &given.call).await?;
    let by = call.caller.name().to_owned();
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

/// A scoped key judges and looks up calls of its collections alone. One that nobody knows is for whoever looks it up.
///
/// Errors: 403, naming the key and the call's collection.
async fn allowed(call: &Call<'_>, id: &str) -> Result<(), ApiError> {
    if call.caller.scope().is_none() {
        return Ok(());
    }
    let (store, id) = (call.gateway.store().clone(), id.to_owned());
    match blocking(move || store.collection_of(&id)).await? {
        Some(collection) => call.caller.allow(&collection),
        None => Ok(()),
    }
}

pub(crate) async fn record(call: &Call<'_>, query: &str) -> Result<Response, ApiError> {
    let collection = name::query(query, "collection").filter(|collection| !collection.is_empty());
    let bare = collection.as_deref().map(|collection| name::parse(collection).collection.to_owned());
    match &bare {
        Some(name) => call.caller.allow(name)?,
        None if call.caller.scope().is_none() => {}
        None => {
            let what = format!(
                "the gateway key \"{}\" may not see every record: add ?collection=",
                call.caller.name()
            );
            return Err(call.caller.beyond(what));
        }
    }
    let snapshot = call.gateway.snapshot();
    let practice = bare
        .as_deref()
        .and_then(|name| snapshot.collection(name))
        .is_some_and(|collection| snapshot.is_practice_collection(collection));
    let named = |field: &str| name::query(query, field).filter(|value| !value.is_empty());
    let (shape, task) = (named("shape"), named("task"));
    let filter = RecordFilter { collection: bare.clone(), shape, task: task.clone(), practice };
    let gateway = call.gateway.clone();
    let aliases = blocking(move || gateway.record(filter)).await?;
    let answer = json!({
        "collection": bare.map(|name| format!("bench/{name}")),
        "task": task,
        "aliases": aliases,
    });
    Ok(reply::json(StatusCode::OK, answer.to_string()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PendingBody {
    calls: Vec<String>,
}

/// Calls a caller may ask about at once.
const PENDING: usize = 1_000;

/// Of the calls named, those that wait for a verdict: known, answered, not judged.
pub(crate) async fn pending(call: &Call<'_>, body: &[u8]) -> Result<Response, ApiError> {
    let PendingBody { calls } = own_body(body, "pending")?;
    if calls.len() > PENDING {
        return Err(ApiError::invalid(
            "pending",
            format!("calls: at most {PENDING} call ids, not {}", calls.len()),
        ));
    }
    let (gateway, caller) = (call.gateway.clone(), call.caller.clone());
    let pending = blocking(move || {
        let pending = gateway.pending(&calls)?;
        if caller.scope().is_none() {
            return Ok(pending);
        }
        // Of what it may not use it learns nothing.
        let mut its = Vec::new();
        for id in pending {
            let collection = gateway.store().collection_of(&id)?;
            its.extend(collection.filter(|it| caller.may_use(it)).map(|_| id));
        }
        Ok(its)
    })
    .await?;
    Ok(reply::json(StatusCode::OK, json!({ "calls": pending }).to_string()))
}

/// A body of our own: an object, wrong values named by their path.
fn own_body<T: serde::de::DeserializeOwned>(body: &[u8], code: &'static str) -> Result<T, ApiError> {
    let body = wire::json_value(body)?;
    if !body.is_object() {
        return Err(ApiError::invalid(code, "body: expected object"));
    }
    serde_path_to_error::deserialize(body).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { "body" } else { &path };
        ApiError::invalid(code, format!("{place}: {}", error.inner()))
    })
}

pub(crate) async fn call(call: &Call<'_>, id: &str) -> Result<Response, ApiError> {
    allowed(call, id).await?;
    let (gateway, wanted) = (call.gateway.clone(), id.to_owned());
    let Some(found) = blocking(move || gateway.call(&wanted)).await? else {
        let message = format!("no call \"{}\" is on record", wire::redact::shorten(id, 80));
        return Err(ApiError::new(Kind::NotFound, Origin::Client, "call_not_found", message));
    };
    let body: Value = serde_json::to_value(&found).unwrap_or_default();
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
