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
use plan::{DAY_MS, Registered, Setup};
use store::{LearnedRow, Store, StoreError};
use wire::StatedLimit;

use super::{NewRules, new::looks_back_ms};
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

    fn lock(&self) -> MutexGuard<'_, HashMap<Place, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gateway {
    /// A call was refused for its rate: what the refusal names as the one limit that was met is kept to. `named` is what
    /// its body tells, `beside` its headers.
    pub(crate) fn learn_rate(&self, it: &Registered, named: &[Quota], beside: &[Quota]) {
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
        if known.is_none_or(|known| looks_back_ms(&known) < looks_back_ms(&limits)) {
            let (gateway, new) = (self.clone(), NewRules::stated(it, &limits));
            self.tasks().spawn(async move { gateway.count_by(new).await });
        }
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
