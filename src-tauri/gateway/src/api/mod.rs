//! From a request to its answer: the guard, the route, and who answers it.

mod ask;
mod body;
pub(crate) mod coding;
mod count;
mod models;
mod name;
mod own;
mod panel;
mod reply;
mod responses;
mod route;
mod silence;
mod turn;

use axum::{Router, body::Body, response::Response};
use http::{HeaderValue, Method, Request, StatusCode, header};
use hyper::body::Incoming;
use serde_json::{Value, json};
use wire::{ApiError, Dialect, Form, Kind, Origin};

pub(crate) use body::Held;
pub(crate) use name::query as query_value;
pub(crate) use panel::LAST_WORDS;
pub(crate) use reply::error_response;
pub(crate) use responses::{Keeping, since as responses_since};
pub(crate) use silence::Silences;

pub(crate) use self::route::dialect;
use self::route::{Route, route};
use crate::{callers::Caller, gateway::Gateway, guard, practice};

/// A request on its way through the API.
pub(crate) struct Call<'a> {
    pub gateway: &'a Gateway,
    pub id: &'a str,
    /// The API that was asked.
    pub dialect: Dialect,
    pub caller: Caller,
}

impl Call<'_> {
    /// An error in the shape of the API that was asked.
    pub(crate) fn refuse(&self, error: &ApiError, bench: Option<&Value>) -> Response {
        error_response(self.dialect, error, self.id, bench)
    }
}

/// Answers any request, and says who asked, where somebody was let in; refusals take the shape of the API that was asked.
pub(crate) async fn answer(
    gateway: &Gateway,
    extra: Option<&Router>,
    request: Request<Incoming>,
    id: &str,
) -> (Response, Option<Caller>) {
    let path = request.uri().path();
    let admitted = admit(gateway, &request);
    if let (Ok(()), Some(extra)) = (&admitted, extra.filter(|_| is_extra(path))) {
        let answered = tower::Service::call(&mut extra.clone(), request.map(Body::new)).await;
        return (answered.unwrap_or_else(|never| match never {}), None);
    }
    let query = request.uri().query().unwrap_or_default();
    let dialect = dialect(path, request.headers());
    let caller = match admitted {
        Ok(()) if is_open(path) => Ok(Caller::default()),
        Ok(()) => gateway.caller(request.headers(), dialect, query).await,
        Err(error) => Err(error),
    };
    let (caller, routed) = match caller {
        Ok(caller) => (Some(caller), route(request.method(), path, query)),
        Err(error) => (None, Err(error)),
    };
    let call = Call { gateway, id, dialect, caller: caller.clone().unwrap_or_default() };
    let answered = match routed {
        Ok(route) => act(&call, route, request).await,
        Err(error) => {
            body::unread(request).await;
            Err(error)
        }
    };
    (answered.unwrap_or_else(|error| call.refuse(&error, None)), caller)
}

/// Whether the request may be looked at at all.
fn admit(gateway: &Gateway, request: &Request<Incoming>) -> Result<(), ApiError> {
    let path = request.uri().path();
    let authority = request.uri().authority().map(|authority| authority.as_str());
    guard::check(request.method(), path, authority, request.headers(), gateway.port())?;
    // A panel that finishes may still need the practice endpoint.
    match gateway.stopping().is_cancelled() && !path.starts_with(practice::PATH) {
        true => Err(shutting_down()),
        false => Ok(()),
    }
}

/// The control API and the window's files are the `control` crate's.
fn is_extra(path: &str) -> bool {
    path.starts_with("/bench/admin/") || path == "/ui" || path.starts_with("/ui/")
}

/// What needs no gateway key, whatever the owner requires: whether the gateway lives, and the practice models, which the
/// gateway asks itself.
fn is_open(path: &str) -> bool {
    path.trim_end_matches('/') == "/health" || path.starts_with(practice::PATH)
}

async fn act(call: &Call<'_>, route: Route, request: Request<Incoming>) -> Result<Response, ApiError> {
    let query = request.uri().query().unwrap_or_default();
    match route {
        Route::Root => {
            Ok(reply::json(StatusCode::OK, json!({"name": "Benchwarmers", "ok": true}).to_string()))
        }
        Route::Health => {
            let health = json!({"ok": true, "version": env!("CARGO_PKG_VERSION")});
            Ok(reply::json(StatusCode::OK, health.to_string()))
        }
        Route::Models => Ok(models::list(call)),
        Route::Model(id) => models::one(call, &id),
        Route::Ask(form, model) => {
            let route = wire::Route { model: model.as_deref(), form };
            let (headers, query) = (request.headers().clone(), query.to_owned());
            ask::ask(call, &route, headers, &query, body::read(request).await?).await
        }
        Route::Count(model) => {
            let route = wire::Route { model: model.as_deref(), form: Form::Usual };
            let headers = request.headers().clone();
            count::tokens(call, &route, &headers, body::read(request).await?).await
        }
        Route::Response(id) if request.method() == Method::DELETE => responses::delete(call, &id).await,
        Route::Response(id) => responses::one(call, &id, query).await,
        Route::ResponseInput(id) => responses::input_items(call, &id, query).await,
        Route::OllamaTags => Ok(models::ollama_tags(call)),
        Route::OllamaShow => models::ollama_show(call, &body::read(request).await?),
        Route::OllamaVersion => Ok(reply::json(StatusCode::OK, wire::ollama_version())),
        Route::OllamaRunning => Ok(reply::json(StatusCode::OK, wire::ollama_running())),
        Route::Verdict => own::verdict(call, &body::read(request).await?).await,
        Route::Pending => own::pending(call, &body::read(request).await?).await,
        Route::Record => own::record(call, query).await,
        Route::Call(id) => own::call(call, &id).await,
        Route::PracticeModels => Ok(reply::json(StatusCode::OK, practice::models().to_string())),
        Route::PracticeChat => practice::chat(&body::read(request).await?).await,
    }
}

pub(crate) fn shutting_down() -> ApiError {
    let message = "Benchwarmers is stopping: ask again when it runs";
    let mut error = ApiError::new(Kind::Unavailable, Origin::Gateway, "shutting_down", message);
    error.retry_after = Some(std::time::Duration::from_secs(5));
    error
}

/// `Retry-After` and its like in whole seconds, never 0.
pub(crate) fn retry_after(error: &ApiError) -> Option<HeaderValue> {
    // No client should be told more than a cooldown lasts: providers state years.
    let wait = error.retry_after?.min(std::time::Duration::from_secs(24 * 3600));
    Some(HeaderValue::from(wire::wait::whole_seconds(wait).max(1)))
}

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(crate) const CONTENT_TYPE: http::HeaderName = header::CONTENT_TYPE;
