//! A question to a collection in any API, plain or streamed: `POST /v1/chat/completions` and its like.

use axum::response::Response;
use http::{HeaderMap, StatusCode};
use plan::Collection;
use tokio::time::Instant;
use wire::{ApiError, Dialect, Json, Kind, Origin, ReplyHead, ReplyMode, Request, Route};

use super::{
    Call, count, models, name, panel, reply,
    responses::{self, Keeping},
    turn,
};
use crate::{
    callers::Caller,
    panel::{collections_in_words, unknown_collection},
    setup::Snapshot,
};

/// A question, read as far as both ways of answering it have in common.
pub(crate) struct Question {
    pub request: Request,
    pub head: ReplyHead,
    pub keeping: Option<Keeping>,
    /// As the caller sent it, with what it goes on from.
    pub body: Json,
    pub client: String,
    pub begun: Instant,
}

pub(crate) async fn ask(
    call: &Call<'_>,
    route: &Route<'_>,
    headers: HeaderMap,
    query: &str,
    body: Vec<u8>,
) -> Result<Response, ApiError> {
    let begun = Instant::now();
    let format = wire::format(call.dialect);
    let mut body = Json::read(body)?;
    let created = call.gateway.clock().now_ms() / 1000;
    let mut request = match format.decode(&body, route) {
        // Ollama's own client asks nothing first, to have the model loaded.
        Err(error) if error.code == wire::NOTHING_ASKED => {
            let model = wire::ollama_shown(body.text().as_bytes())?;
            models::may_be_asked(call, &model)?;
            return Ok(reply::json(StatusCode::OK, wire::ollama_loaded(&model, created, route.form)));
        }
        request => request?,
    };
    let id = match call.dialect {
        Dialect::Responses => responses::fresh_id()?,
        _ => call.id.trim_start_matches("req_").to_owned(),
    };
    let keeping = Keeping::of(call, &request, &body, &id)?;
    if let Some(previous) = request.previous_response_id() {
        body = Json::read(responses::go_on(call, &previous, &body).await?)?;
        request = format.decode(&body, route)?;
    }
    let snapshot = call.gateway.snapshot();
    let (asked, mode) = asked_for(call, &snapshot, &request)?;
    call.caller.asks(call.gateway.clock().now_ms())?;
    let head = ReplyHead::of(&request, id, created);
    let client = name::client(&headers, |name| call.gateway.scrub(name));
    let question = Question { request, head, keeping, body, client, begun };
    if mode == ReplyMode::Route {
        let features = count::features(call.dialect, &headers);
        let sent = turn::Sent { features, headers, query: query.to_owned() };
        // A panel's future and a turn's are large: neither is moved about.
        return Box::pin(turn::take(call, asked, question, sent)).await;
    }
    Box::pin(panel::ask(call, asked.collection.name, mode, question)).await
}

/// Who is asked: a collection, or one model under its own name.
pub(crate) struct AskedFor {
    pub collection: Collection,
    pub by_name: bool,
}

/// What a request names (wire.md §2), and the mode that it is to be answered in. Its caller may use it.
pub(crate) fn asked_for(
    call: &Call<'_>,
    snapshot: &Snapshot,
    request: &Request,
) -> Result<(AskedFor, ReplyMode), ApiError> {
    let caller = &call.caller;
    if request.model.trim().is_empty() {
        let message = format!("model: none is named. {}", collections_in_words(snapshot, caller));
        return Err(ApiError::invalid("model_missing", message));
    }
    let asked = name::parse(&request.model);
    let wanted = request.bench.reply.or(asked.mode);
    if let Some(collection) = snapshot.collection(asked.collection) {
        caller.allow(&collection.name)?;
        caller.allow_nominees(snapshot, &request.with)?;
        let mode = wanted.unwrap_or(collection.reply);
        return Ok((AskedFor { collection: collection.clone(), by_name: false }, mode));
    }
    // A model under its own name is a panel of one, which is routed.
    let alias = name::model(&request.model).filter(|alias| snapshot.model(alias).is_some());
    let Some(alias) = alias else { return Err(unknown_name(snapshot, caller, &request.model)) };
    let name = format!("model/{alias}");
    caller.allow(&name)?;
    let collection = Collection { name, ..Collection::new("", [alias]) };
    Ok((AskedFor { collection, by_name: true }, ReplyMode::Route))
}

/// 404 for what names neither a collection nor a model; a model that was called so is named.
pub(super) fn unknown_name(snapshot: &Snapshot, caller: &Caller, named: &str) -> ApiError {
    let asked = name::parse(named).collection;
    let now = name::model(named)
        .filter(|_| caller.scope().is_none())
        .and_then(|alias| Some((alias, snapshot.names.now(alias)?)));
    let Some((alias, now)) = now else { return unknown_collection(snapshot, caller, asked) };
    let message = format!("the model \"{alias}\" is called \"{now}\" now: ask for bench/model/{now}");
    ApiError::new(Kind::NotFound, Origin::Client, "model_renamed", message)
}
