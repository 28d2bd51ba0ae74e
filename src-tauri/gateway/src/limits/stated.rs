//! Limits that providers state as they refuse a call (providers.md §4): kept to for a day, where the owner has set none.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use catalog::{Limits, Quota};
use plan::{DAY_MS, Pacing, Registered, Setup, Spent};
use store::{LearnedRow, SentRow, Store, StoreError};
use wire::StatedLimit;

use super::looks_back_ms;
use crate::{
    facts::{Place, place},
    gateway::Gateway,
};

/// By endpoint and served name.
#[derive(Default)]
pub(crate) struct Stated {
    kept: Mutex<HashMap<Place, Kept>>,
    /// Nearly nobody has stated any: whoever calls looks here first.
    any: AtomicBool,
}

#[derive(Clone, Copy)]
struct Kept {
    limits: Limits,
    /// When the last of them was stated: ms since 1970.
    at_ms: i64,
}

const LIMITS: &str = "limits";

/// A provider raises its limits as its customers grow, and says so to nobody: after a day it is asked anew.
const HOLDS_MS: i64 = DAY_MS;

impl Stated {
    /// As they were kept. Blocks.
    pub(super) fn load(store: &Store) -> Result<Stated, StoreError> {
        let rows = store.learned()?.into_iter().filter(|row| row.what == LIMITS);
        let read = |row: LearnedRow| match serde_json::from_str(&row.body) {
            Ok(limits) => Some(((row.endpoint, row.served), Kept { limits, at_ms: row.at_ms })),
            Err(error) => {
                tracing::warn!(row.endpoint, row.served, %error, "stated limits could not be read");
                None
            }
        };
        let kept: HashMap<Place, Kept> = rows.filter_map(read).collect();
        Ok(Stated { any: AtomicBool::new(!kept.is_empty()), kept: Mutex::new(kept) })
    }

    /// What holds of a model now, and until when: nothing that its owner has set otherwise.
    pub(crate) fn of(&self, it: &Registered, now_ms: i64) -> Option<(Limits, i64)> {
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        let kept = *self.lock().get(&place(&it.model))?;
        let limits = kept.limits.without(&it.limits);
        let holds = !limits.is_empty() && now_ms.saturating_sub(kept.at_ms) < HOLDS_MS;
        holds.then_some((limits, kept.at_ms.saturating_add(HOLDS_MS)))
    }

    /// Gives all that holds of the model.
    fn learn(&self, it: &Registered, limits: &Limits, now_ms: i64) -> Limits {
        let mut known = self.lock();
        let before = known.get(&place(&it.model));
        let before = before.filter(|kept| now_ms.saturating_sub(kept.at_ms) < HOLDS_MS);
        let limits = before.map_or(*limits, |kept| limits.over(&kept.limits));
        known.insert(place(&it.model), Kept { limits, at_ms: now_ms });
        self.any.store(true, Ordering::Relaxed);
        limits
    }

    /// Says whether there was one.
    fn forget(&self, place: &Place) -> bool {
        self.lock().remove(place).is_some()
    }

    /// What was sent to the models of which something is stated, in place of what was known of each. Blocks.
    pub(super) fn count(&self, store: &Store, pacing: &Mutex<Pacing>, now_ms: i64) -> Result<(), StoreError> {
        let known: HashMap<Place, i64> =
            self.lock().iter().map(|(place, kept)| (place.clone(), looks_back_ms(&kept.limits))).collect();
        let Some(back_ms) = known.values().max() else { return Ok(()) };
        let rows = store.sent(now_ms - back_ms, i64::MAX)?.into_iter();
        let sent = rows.filter_map(|row| {
            let SentRow { endpoint, served, at_ms, requests, tokens, .. } = row;
            let place = (endpoint, served);
            known.contains_key(&place).then_some(())?;
            let (endpoint, served) = place;
            Some(Spent { place: plan::Place::Model { endpoint, served }, at_ms, requests, tokens })
        });
        pacing.lock().unwrap_or_else(PoisonError::into_inner).load(sent, now_ms);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Place, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gateway {
    /// A call that was sent then was refused for its rate: what the refusal names as the one limit that was met is kept
    /// to. `named` is what its body tells, `beside` its headers.
    pub(crate) fn learn_rate(&self, it: &Registered, sent_ms: i64, named: &[Quota], beside: &[Quota]) {
        let limits = met(named, beside);
        if limits.is_empty() || it.practice {
            return;
        }
        let at_ms = self.clock().now_ms();
        let known = self.limits().stated.of(it, at_ms).map(|(limits, _)| limits);
        let limits = self.limits().stated.learn(it, &limits, at_ms);
        let (endpoint, served) = place(&it.model);
        // Numbers: they always serialise.
        let body = serde_json::to_string(&limits).unwrap_or_default();
        let row = LearnedRow { endpoint, served, what: LIMITS.to_owned(), body, at_ms };
        self.panel_tasks().spawn(self.store().keep_learned(row));
        let back_ms = looks_back_ms(&limits);
        if known.is_some_and(|known| looks_back_ms(&known) >= back_ms) {
            return;
        }
        // What ends from now on counts, this call too. What was sent before it is read, while the model cools down.
        let gateway = self.clone();
        let (endpoint, served) = place(&it.model);
        let read = move || {
            let limits = gateway.limits();
            if known.is_some() {
                return limits.stated.count(gateway.store(), &limits.pacing, at_ms);
            }
            let rows = gateway.store().sent(at_ms - back_ms, sent_ms)?.into_iter();
            for row in rows.filter(|row| row.endpoint == endpoint && row.served == served) {
                let place = plan::Place::Model { endpoint: row.endpoint, served: row.served };
                let (at_ms, requests, tokens) = (row.at_ms, row.requests, row.tokens);
                limits.pacing().add(&Spent { place, at_ms, requests, tokens }, gateway.clock().now_ms());
            }
            Ok::<_, StoreError>(())
        };
        self.tasks().spawn_blocking(move || {
            if let Err(error) = read() {
                tracing::warn!(%error, "what was sent before could not be read: a stated limit counts from now on");
            }
        });
    }

    /// A model is asked anew how much it takes. Says whether something was known.
    pub(crate) fn forget_rate(&self, it: &Registered) -> bool {
        self.forget_rate_of(&place(&it.model))
    }

    /// The set-up has changed: what was stated elsewhere says nothing any more.
    pub(crate) fn forget_rates(&self, before: &Setup, after: &Setup) {
        for it in &before.models {
            let at = |setup: &Setup| {
                let endpoint = setup.endpoints.iter().find(|endpoint| endpoint.name == it.endpoint)?;
                let is_there = setup
                    .models
                    .iter()
                    .any(|other| (&other.endpoint, &other.served) == (&it.endpoint, &it.served));
                is_there.then(|| (endpoint.base.clone(), endpoint.api))
            };
            if at(before) != at(after) {
                self.forget_rate_of(&place(it));
            }
        }
    }

    fn forget_rate_of(&self, place: &Place) -> bool {
        let known = self.limits().stated.forget(place);
        if known {
            let (endpoint, served) = place.clone();
            self.panel_tasks().spawn(self.store().forget_learned(endpoint, served, LIMITS));
        }
        known
    }
}

/// The one limit that is named: in words or in a quota's violation, else by what the headers have nothing left of. Two
/// say nothing of which was met.
fn met(named: &[Quota], beside: &[Quota]) -> Limits {
    let stated = |quota: &Quota| {
        let window = Duration::from_secs(quota.window_s?);
        Some(StatedLimit {
            axis: quota.metric,
            window,
            allowed: quota.limit.filter(|it| *it > 0)?,
            used: None,
        })
    };
    let spent = beside.iter().filter(|quota| quota.remaining == Some(0));
    let mut all: Vec<StatedLimit> = match named {
        [] => spent.filter_map(stated).collect(),
        named => named.iter().filter_map(stated).collect(),
    };
    all.dedup();
    match &all[..] {
        [one] => Limits::stated(one),
        _ => Limits::default(),
    }
}

#[cfg(test)]
mod tests {
    use wire::Axis;

    use super::*;

    fn quota(metric: Axis, window_s: Option<u64>, limit: u64, remaining: Option<u64>) -> Quota {
        Quota { metric, window_s, limit: Some(limit), remaining, reset_ms: None }
    }

    #[test]
    fn one_limit_is_learned_and_two_are_not() {
        let rpm = quota(Axis::Requests, Some(60), 3, Some(0));
        let tpm = quota(Axis::Tokens, Some(60), 30_000, Some(0));
        let left = quota(Axis::Tokens, Some(60), 30_000, Some(7));
        let (three, none) = (Limits { rpm: Some(3), ..Limits::default() }, Limits::default());
        let tokens = Limits { tpm: Some(30_000), ..none };
        for (named, beside, wanted) in [
            (vec![rpm], vec![], three),
            (vec![left], vec![rpm], tokens),
            (vec![rpm, rpm], vec![tpm], three),
            (vec![rpm, tpm], vec![], none),
            // In headers that which has nothing left was met.
            (vec![], vec![rpm, left], three),
            (vec![], vec![rpm, tpm], none),
            (vec![], vec![left], none),
            // Of a window that is not said, or has no rule, nothing follows.
            (vec![quota(Axis::Requests, None, 3, Some(0))], vec![], none),
            (vec![quota(Axis::Tokens, Some(3600), 3, Some(0))], vec![], none),
            (vec![quota(Axis::InputTokens, Some(60), 3, Some(0))], vec![], none),
            (vec![quota(Axis::Requests, Some(60), 0, Some(0))], vec![], none),
        ] {
            assert_eq!(met(&named, &beside), wanted, "{named:?} {beside:?}");
        }
    }
}
