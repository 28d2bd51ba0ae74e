//! The model lists: every collection, under the modes that can be asked for.

use std::collections::BTreeSet;

use axum::response::Response;
use catalog::Facts;
use http::StatusCode;
use plan::Collection;
use wire::{ApiError, Dialect, Limits, ModelEntry, ModelList, ReplyMode, Together};

use super::{Call, ask::unknown_name, name, reply};
use crate::{panel::reply_word, setup::Snapshot};

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

/// Errors: 403 for what the caller may not use, 404 for what is not there.
pub(crate) fn may_be_asked(call: &Call<'_>, model: &str) -> Result<(), ApiError> {
    found(call, model).map(drop)
}

fn all(call: &Call<'_>) -> ModelList {
    let snapshot = call.gateway.snapshot();
    let collections = snapshot.setup.collections.iter().filter(|it| call.caller.may_use(&it.name));
    let mut entries: Vec<_> = collections.flat_map(|collection| entries(&snapshot, collection)).collect();
    if snapshot.setup.settings.list_models && call.caller.scope().is_none() {
        let models = snapshot.setup.models.iter().filter(|model| model.retired.is_none());
        entries.extend(models.map(|model| of_model(&snapshot, &model.alias)));
    }
    ModelList { entries: entries.into_iter().map(|entry| shown(call, entry)).collect() }
}

/// A key that its owner wrote into a description before it was one is not told.
fn shown(call: &Call<'_>, entry: ModelEntry) -> ModelEntry {
    let description = call.gateway.scrub(&entry.description);
    ModelEntry { description, ..entry }
}

fn find(call: &Call<'_>, model: &str) -> Result<ModelEntry, ApiError> {
    found(call, model).map(|entry| shown(call, entry))
}

fn found(call: &Call<'_>, model: &str) -> Result<ModelEntry, ApiError> {
    let snapshot = call.gateway.snapshot();
    let asked = name::parse(model);
    if let Some(collection) = snapshot.collection(asked.collection) {
        call.caller.allow(&collection.name)?;
        let named = model.strip_prefix("models/").unwrap_or(model);
        let id = format!("bench/{}", named.strip_prefix("bench/").unwrap_or(named));
        return Ok(entry(&snapshot, collection, id, asked.mode.unwrap_or(collection.reply)));
    }
    let alias = name::model(model).filter(|alias| snapshot.model(alias).is_some());
    match alias {
        Some(alias) => {
            call.caller.allow(&format!("model/{alias}"))?;
            Ok(of_model(&snapshot, alias))
        }
        None => Err(unknown_name(&snapshot, &call.caller, model)),
    }
}

/// One model under its own name: what it can, as of a collection of one.
fn of_model(snapshot: &Snapshot, alias: &str) -> ModelEntry {
    let alone = Collection { reply: ReplyMode::Route, ..Collection::new("", [alias]) };
    entry(snapshot, &alone, format!("bench/model/{alias}"), ReplyMode::Route)
}

/// As set, then once per other mode (wire.md §2).
fn entries(snapshot: &Snapshot, collection: &Collection) -> Vec<ModelEntry> {
    let mut modes = [ReplyMode::All, ReplyMode::Merged, ReplyMode::Route];
    modes.sort_by_key(|mode| *mode != collection.reply);
    let entry = |mode| {
        let id = match mode == collection.reply {
            true => format!("bench/{}", collection.name),
            false => format!("bench/{}:{}", collection.name, reply_word(mode)),
        };
        entry(snapshot, collection, id, mode)
    };
    modes.map(entry).into()
}

fn entry(snapshot: &Snapshot, collection: &Collection, id: String, reply: ReplyMode) -> ModelEntry {
    let settings = &snapshot.setup.settings;
    let callable = |alias: &&String| snapshot.model(alias).is_some_and(|model| model.retired.is_none());
    let members = collection.members.iter().filter(callable).count();
    let free = settings.max_calls.saturating_sub(u32::try_from(members).unwrap_or(u32::MAX));
    ModelEntry {
        id,
        created: 0,
        description: collection.description.clone(),
        tags: collection.tags.clone(),
        members: collection.members.clone(),
        shape: collection.shape.as_ref().map(|shape| shape.name().to_owned()),
        explorers: if reply == ReplyMode::Route { 0 } else { free.min(settings.max_explorers) },
        reply,
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
