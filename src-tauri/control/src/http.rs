//! The control API over HTTP, for the command line and, with `bench serve --ui`, for the window in a browser.
//!
//! - `POST /bench/admin/{command}`: JSON in, JSON out, or `{"error": {code, message, field}}`.
//! - `GET /bench/admin/events`: a [`LiveEvent`](gateway::view::LiveEvent) a line, for as long as the caller
//!   listens. A blank line every 15 seconds says that the line is alive.
//!
//! Both want the control token of the data folder. They sit behind the gateway's own guard, which has checked
//! the Host.

mod gate;
mod ui;

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use bytes::Bytes;
use http::{StatusCode, header};
use serde_json::{Value, json};

use crate::{Code, Control, ControlError};

/// A prompt with files, or a set-up file, is the largest thing asked.
const BODY_BYTES: usize = 20 << 20;
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// What is served beside the commands.
#[derive(Clone, Debug, Default)]
pub struct HttpOptions {
    /// The built window (`ui/dist`), served at `/ui/`. With it pages of this gateway's own origin may call
    /// the control API; without it nothing that a browser sends may.
    pub ui_dir: Option<PathBuf>,
}

/// The routes under `/bench/admin/`, and `/ui/` when there is a window to serve.
pub fn router(control: Control, token: &str, options: HttpOptions) -> Router {
    let gate = gate::Gate { token: Arc::from(token), own_pages: options.ui_dir.is_some() };
    let admin = Router::new()
        .route("/bench/admin/events", get(events).fallback(wrong_method))
        .route("/bench/admin/{command}", post(command).fallback(wrong_method))
        .route_layer(middleware::from_fn_with_state(gate, gate::check))
        .with_state(control);
    let all = match options.ui_dir {
        Some(dir) => admin.merge(ui::router(dir)),
        None => admin,
    };
    all.fallback(no_such_path)
}

async fn no_such_path() -> Response {
    let error =
        ControlError::not_found("There is nothing at this path; commands are POST /bench/admin/{command}.");
    refuse(StatusCode::NOT_FOUND, &error)
}

async fn command(State(control): State<Control>, Path(name): Path<String>, body: Body) -> Response {
    let args = match arguments(body).await {
        Ok(args) => args,
        Err(refusal) => return refusal,
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "a command runs to its end when its caller hangs up: a change half made is worse than one unseen"
    )]
    let running = tokio::spawn(async move { control.call(&name, args).await });
    match running.await {
        Ok(Ok(reply)) => ([(header::CACHE_CONTROL, "no-store")], Json(reply)).into_response(),
        Ok(Err(error)) => refuse(status(error.code), &error),
        Err(failed) => {
            tracing::error!(panicked = failed.is_panic(), "a control command did not end");
            let error = ControlError::internal("The command failed inside the gateway; its log says where.");
            refuse(StatusCode::INTERNAL_SERVER_ERROR, &error)
        }
    }
}

async fn arguments(body: Body) -> Result<Value, Response> {
    let Ok(body) = axum::body::to_bytes(body, BODY_BYTES).await else {
        let error =
            ControlError::new(Code::BadInput, "The body is larger than 20 MB, or did not arrive whole.");
        return Err(refuse(StatusCode::PAYLOAD_TOO_LARGE, &error));
    };
    if body.is_empty() {
        return Ok(Value::Null);
    }
    let mut reader = serde_json::Deserializer::from_slice(&body);
    let read: Result<Value, _> = serde_path_to_error::deserialize(&mut reader);
    let wrong = match read {
        Ok(value) => match reader.end() {
            Ok(()) => return Ok(value),
            Err(wrong) => ControlError::new(Code::BadInput, format!("The body is not JSON: {wrong}.")),
        },
        // JSON has such numbers, and nobody else.
        Err(wrong) if wrong.inner().to_string().starts_with("number out of range") => {
            let field = wrong.path().to_string();
            ControlError::bad_input(&field, format!("{field}: the number is past any that can be kept"))
        }
        Err(wrong) => ControlError::new(Code::BadInput, format!("The body is not JSON: {}.", wrong.inner())),
    };
    Err(refuse(StatusCode::BAD_REQUEST, &wrong))
}

async fn events(State(control): State<Control>) -> Response {
    let lines = async_stream::stream! {
        let mut events = control.events();
        loop {
            // One `next` is awaited across keep-alives: dropped half way it could lose its event.
            let next = events.next();
            tokio::pin!(next);
            let event = loop {
                match tokio::time::timeout(KEEP_ALIVE, &mut next).await {
                    Ok(event) => break event,
                    Err(_) => yield Ok::<_, Infallible>(Bytes::from_static(b"\n")),
                }
            };
            let Some(event) = event else { return };
            let Ok(mut line) = serde_json::to_vec(&event) else { return };
            line.push(b'\n');
            yield Ok(Bytes::from(line));
        }
    };
    let head = [
        (header::CONTENT_TYPE, "application/x-ndjson"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (head, Body::from_stream(lines)).into_response()
}

async fn wrong_method() -> Response {
    let error = ControlError::new(Code::BadInput, "Commands are asked with POST, events with GET.");
    refuse(StatusCode::METHOD_NOT_ALLOWED, &error)
}

fn status(code: Code) -> StatusCode {
    match code {
        Code::BadInput => StatusCode::BAD_REQUEST,
        Code::Denied => StatusCode::FORBIDDEN,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::Conflict | Code::NoKeychain | Code::VaultLocked | Code::PlainHttp | Code::TestFailed => {
            StatusCode::CONFLICT
        }
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn refuse(status: StatusCode, error: &ControlError) -> Response {
    (status, [(header::CACHE_CONTROL, "no-store")], Json(json!({ "error": error }))).into_response()
}

#[cfg(test)]
mod tests;
