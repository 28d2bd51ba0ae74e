//! The model lists: every collection, under the modes that can be asked for.

use std::collections::BTreeSet;

use axum::response::Response;
use catalog::Facts;
use http::StatusCode;
use plan::Collection;
use wire::{ApiError, Dialect, Limits, ModelEntry, ModelList, ReplyMode, Together};

use super::{Call, name, reply};
use crate::{panel::unknown_collection, setup::Snapshot};

/// Every collection, in the shape its caller reads (wire.md §1).
pub(crate) fn list(call: &Call<'_>) -> Response {
    let list = all(call);
    let body = match call.dialect {
        Dialect::Gemini => list.encode_gemini(),
        Dialect::Anthropic => list.encode_anthropic(),
        _ => list.encode(),
    };
    reply::json(StatusCode::OK, body)
}

/// One entry, under the name it was asked by; the id comes decoded. Every name that can be asked for is found,
/// also one that the list spells otherwise (`core`, `bench/core:all`).
pub(crate) fn one(call: &Call<'_>, model: &str) -> Result<Response, ApiError> {
    let entry = find(call, model)?;
    let body = match call.dialect {
        Dialect::Gemini => entry.encode_gemini(),
        Dialect::Anthropic => entry.encode_anthropic(),
        _ => entry.encode(),
    };
    Ok(reply::json(StatusCode::OK, body))
}

pub(crate) fn ollama_tags(call: &Call<'_>) -> Response {
    reply::json(StatusCode::OK, all(call).encode_tags())
}

pub(crate) fn ollama_show(call: &Call<'_>, body: &[u8]) -> Result<Response, ApiError> {
    let model = wire::ollama_shown(body)?;
    Ok(reply::json(StatusCode::OK, find(call, &model)?.encode_show()))
}

fn all(call: &Call<'_>) -> ModelList {
    let snapshot = call.gateway.snapshot();
    let collections = snapshot.setup.collections.iter();
    ModelList { entries: collections.flat_map(|collection| entries(&snapshot, collection)).collect() }
}

fn find(call: &Call<'_>, model: &str) -> Result<ModelEntry, ApiError> {
    let snapshot = call.gateway.snapshot();
    let asked = name::parse(model);
    let built = |collection: &&Collection| asked.mode.unwrap_or(collection.reply) == ReplyMode::All;
    match snapshot.collection(asked.collection).filter(built) {
        Some(collection) => {
            let named = model.strip_prefix("models/").unwrap_or(model);
            let id = format!("bench/{}", named.strip_prefix("bench/").unwrap_or(named));
            Ok(entry(&snapshot, collection, id))
        }
        None => Err(unknown_collection(&snapshot, model)),
    }
}

/// As set, then once per other mode (wire.md §2); a mode that is not built is not offered.
fn entries(snapshot: &Snapshot, collection: &Collection) -> Vec<ModelEntry> {
    let id = match collection.reply {
        ReplyMode::All => format!("bench/{}", collection.name),
        ReplyMode::Merged | ReplyMode::Route => format!("bench/{}:all", collection.name),
    };
    vec![entry(snapshot, collection, id)]
}

fn entry(snapshot: &Snapshot, collection: &Collection, id: String) -> ModelEntry {
    ModelEntry {
        id,
        created: 0,
        description: collection.description.clone(),
        tags: collection.tags.clone(),
        members: collection.members.clone(),
        shape: collection.shape.as_ref().map(|shape| shape.name().to_owned()),
        explorers: 0,
        reply: ReplyMode::All,
        merger: collection.merger.clone(),
        together: together(snapshot, collection),
    }
}

/// Reads one fact of a model.
type Fact = fn(&Facts) -> Option<bool>;

/// What the members can do together, from the facts that are known.
fn together(snapshot: &Snapshot, collection: &Collection) -> Together {
    let models: Vec<_> = collection.members.iter().filter_map(|alias| snapshot.model(alias)).collect();
    let facts: [(&str, Fact); 5] = [
        ("tools", |facts| facts.tools),
        ("vision", |facts| facts.vision),
        ("structured_output", |facts| facts.structured_output),
        ("reasoning", |facts| facts.reasoning),
        ("pdf", |facts| facts.pdf),
    ];
    let every = |has: Fact| !models.is_empty() && models.iter().all(|model| has(&model.facts) == Some(true));
    let connections: BTreeSet<&str> = models.iter().map(|model| model.endpoint.as_str()).collect();
    let limits =
        || connections.iter().filter_map(|name| snapshot.endpoint(name)).map(|endpoint| &endpoint.limits);
    let unknown = models.iter().filter(|model| model.facts.context_window.is_none());
    Together {
        context_window: models.iter().filter_map(|model| model.facts.context_window).min(),
        context_unknown: unknown.map(|model| model.alias.clone()).collect(),
        capabilities: facts
            .iter()
            .filter(|(_, has)| every(*has))
            .map(|(name, _)| (*name).to_owned())
            .collect(),
        limits: Limits {
            rpm: limits().filter_map(|it| it.rpm).min(),
            rpd: limits().filter_map(|it| it.rpd).min(),
            tpm: limits().filter_map(|it| it.tpm).min(),
            tpd: limits().filter_map(|it| it.tpd).min(),
        },
        connections: connections.into_iter().map(str::to_owned).collect(),
    }
}
