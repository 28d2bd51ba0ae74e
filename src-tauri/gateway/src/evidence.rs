//! What decides who is asked, in memory: the evidence, the cooldowns, and what endpoints last listed.
//!
//! Its plain locks are held for as long as a panel is seated, never across an await, and no disk is read under them.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use catalog::{EndpointKind, Model};
use plan::{Cooldowns, Evidence, Reach, Registered, Shape, Tally, Unavailable};
use store::{ShapeRecord, Store, StoreError};
use wire::{Class, UpstreamError};

use crate::{facts::Holds, gateway::Gateway, setup::Snapshot, view::AlertKind};

pub(crate) struct Known {
    evidence: Mutex<Evidence>,
    cooldowns: Mutex<Cooldowns>,
    /// What each endpoint served when it was last listed; of one never listed nothing is known.
    listed: Mutex<HashMap<String, HashSet<String>>>,
    /// Verdicts are counted in the order in which they were written.
    verdicts: tokio::sync::Mutex<()>,
}

impl Known {
    /// Rebuilt from the records. Blocks.
    pub(crate) fn load(store: &Store) -> Result<Known, StoreError> {
        let mut evidence = Evidence::default();
        for ShapeRecord { shape, record } in store.record_by_shape()? {
            let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
            let counts = Tally {
                useful: small(record.useful),
                judged: small(record.judged),
                offloads: small(record.offloads),
                last_offload_ms: Some(record.last_at_ms),
            };
            evidence.add(&record.alias, &Shape::new(shape), counts);
        }
        let (evidence, cooldowns, listed) = (Mutex::new(evidence), Mutex::default(), Mutex::default());
        Ok(Known { evidence, cooldowns, listed, verdicts: tokio::sync::Mutex::default() })
    }

    pub(crate) fn evidence(&self) -> MutexGuard<'_, Evidence> {
        self.evidence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn cooldowns(&self) -> MutexGuard<'_, Cooldowns> {
        self.cooldowns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Held from a verdict's way to the disk until the evidence has been told of it.
    pub(crate) async fn verdicts(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.verdicts.lock().await
    }

    /// What an endpoint serves, by its listing.
    pub(crate) fn listed(&self, endpoint: &str, served: impl Iterator<Item = String>) {
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        listed.insert(endpoint.to_owned(), served.collect());
    }

    /// Whether an endpoint's listing has a model; `None` while there is no listing.
    pub(crate) fn is_listed(&self, endpoint: &str, served: &str) -> Option<bool> {
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        listed.get(endpoint).map(|listing| listing.contains(served))
    }

    fn is_unlisted(&self, model: &Model, snapshot: &Snapshot) -> bool {
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(listing) = listed.get(&model.endpoint).filter(|listing| !listing.contains(&model.served))
        else {
            return false;
        };
        // A listing that names none of its models calls them something else: it says nothing of this one.
        let mut of_endpoint = snapshot.setup.models.iter().filter(|other| other.endpoint == model.endpoint);
        of_endpoint.any(|other| listing.contains(&other.served))
    }
}

/// A model's seat, from when it is chosen until it ends: meanwhile another panel looks for its explorers
/// elsewhere.
pub(crate) struct Held {
    gateway: Gateway,
    alias: String,
}

impl Held {
    /// Takes a seat that was chosen under `evidence`'s lock.
    pub(crate) fn take(gateway: &Gateway, evidence: &mut Evidence, alias: &str, now_ms: i64) -> Held {
        evidence.seated(alias, now_ms);
        Held { gateway: gateway.clone(), alias: alias.to_owned() }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.gateway.known().evidence().released(&self.alias);
    }
}

impl Gateway {
    /// Why a model cannot be picked at this moment.
    pub(crate) fn unavailable(&self, snapshot: &Snapshot, model: &Model, now_ms: i64) -> Option<Unavailable> {
        // A panel keeps the set-up it began with, and whom its owner has retired meanwhile is called no more.
        if self.is_gone(&model.alias) {
            return Some(Unavailable::Gone);
        }
        let current = self.snapshot();
        if current.has_gone_paid(current.called_now(&model.alias)) {
            return Some(Unavailable::WentPaid);
        }
        if let Some(until_ms) = snapshot.roster.get(&model.alias).and_then(|it| self.cooling(it, now_ms)) {
            return Some(Unavailable::Cooling { until_ms });
        }
        if self.is_retiring(model) {
            return Some(Unavailable::Retiring);
        }
        if self.known().is_unlisted(model, snapshot) {
            return Some(Unavailable::Unlisted);
        }
        if self.onboarding().has_failed(model) {
            return Some(Unavailable::ProbeFailed);
        }
        if snapshot.roster.get(&model.alias).is_some_and(|it| self.is_over_limit(it, now_ms)) {
            return Some(Unavailable::OverLimit);
        }
        let endpoint = snapshot.endpoint(&model.endpoint)?;
        let wants_key = || matches!(endpoint.kind(), EndpointKind::Provider | EndpointKind::Aggregator);
        let refused = self.live().is_raised(AlertKind::KeyRefused, &endpoint.name);
        (refused || (!self.has_key(endpoint) && wants_key())).then_some(Unavailable::NoKey)
    }

    /// Until when a model is left alone.
    pub(crate) fn cooling(&self, it: &Registered, now_ms: i64) -> Option<i64> {
        self.known().cooldowns().cooling(&it.model, &it.connection, now_ms)
    }

    /// What a call's end says of its model's limits: its rate, and what it can take.
    pub(crate) fn note_limits(&self, it: &Registered, holds: Holds, error: Option<&UpstreamError>) {
        if let Some(error) = error {
            self.learn_facts(it, holds, error);
        }
        match error {
            None if self.known().cooldowns().succeeded(&it.model, &it.connection) => self.cooldowns_changed(),
            Some(error) if error.class == Class::Capacity && is_limit(error) => {
                let stated =
                    error.retry_after.map(|wait| i64::try_from(wait.as_millis()).unwrap_or(i64::MAX));
                let is_of_all = error.is_of_the_whole_key(&it.model.served);
                self.cools(it, if is_of_all { Reach::Connection } else { Reach::Model }, stated);
            }
            _ => {}
        }
    }
}

/// A limit, or a server that says how long it is busy: it is not asked until then.
fn is_limit(error: &UpstreamError) -> bool {
    error.retry_after.is_some() || is_rate_limit(error)
}

/// A rate limit, and not a server that is busy.
pub(crate) fn is_rate_limit(error: &UpstreamError) -> bool {
    let said = || {
        let said = error.message.to_lowercase();
        ["limit", "quota", "too many", "credit", "balance"].iter().any(|word| said.contains(word))
    };
    error.status.map_or_else(said, |status| status == 429)
}

#[cfg(test)]
mod tests;
