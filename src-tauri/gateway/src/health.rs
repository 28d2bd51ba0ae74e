//! Models that fail in a way that waiting does not mend: each call's end says so, and after three failing days an alert
//! does. Rate limits and broken lines never count.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use catalog::Model;
use plan::{DAY_MS, Health, Registered, Setup};
use store::{FailureRow, LearnedRow, Store, StoreError};
use wire::{Class, UpstreamError};

use crate::{alerts, facts::Place, gateway::Gateway};

#[derive(Default)]
pub(crate) struct Failing {
    health: Mutex<Health>,
}

/// How far back failing days are looked for at start.
const LOOK_BACK_MS: i64 = 30 * DAY_MS;

/// When its owner last mended a model, among what is kept of it.
const MENDED: &str = "mended";

/// The classes among which structural failures are, in the ledger's words.
const CLASSES: &[&str] = &["not_found", "entitlement", "paywalled", "empty", "other"];

impl Failing {
    /// From the ledger. Blocks.
    pub(crate) fn load(store: &Store, now_ms: i64) -> Result<Failing, StoreError> {
        let mut health = Health::default();
        let rows = store.learned()?.into_iter().filter(|row| row.what == MENDED);
        let mended: HashMap<Place, i64> = rows.map(|row| ((row.endpoint, row.served), row.at_ms)).collect();
        for row in store.failures(CLASSES, now_ms - LOOK_BACK_MS)? {
            let FailureRow { endpoint, served, class, http_status, at_ms, words, answered_ms } = row;
            let Ok(class) = serde_json::from_value::<Class>(class.into()) else { continue };
            let place = (endpoint, served);
            let (endpoint, served) = (&place.0, &place.1);
            if mended.get(&place).is_some_and(|mended_ms| at_ms <= *mended_ms) {
                continue;
            }
            if let Some(answered_ms) = answered_ms {
                health.answered(endpoint, served, answered_ms);
            }
            health.failed(endpoint, served, (class, http_status), &words, at_ms);
        }
        Ok(Failing { health: Mutex::new(health) })
    }

    fn lock(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gateway {
    /// A call has ended, or has begun to be answered: `error` is why it was not; nothing said is an error too.
    pub(crate) fn note_health(&self, it: &Registered, error: Option<&UpstreamError>, answered: bool) {
        if it.practice {
            return;
        }
        let (endpoint, served) = (&it.model.endpoint, &it.model.served);
        let now_ms = self.clock().now_ms();
        let mut health = self.failing().lock();
        let changed = if answered {
            let was_retiring = health.retiring(endpoint, served).is_some();
            health.answered(endpoint, served, now_ms);
            was_retiring
        } else {
            let class = error.map_or(Class::Empty, |error| error.class);
            let words =
                error.map_or_else(|| "an empty answer".to_owned(), |error| self.scrub(&error.message));
            let status = error.and_then(|error| error.status);
            health.failed(endpoint, served, (class, status), &words, now_ms).is_some()
        };
        drop(health);
        if changed {
            self.tell_retiring();
        }
    }

    /// Whether a model has failed for days and not answered since.
    pub(crate) fn is_retiring(&self, model: &Model) -> bool {
        self.failing().lock().retiring(&model.endpoint, &model.served).is_some()
    }

    /// The set-up has changed: a model that its owner has mended starts anew.
    pub(crate) fn forgive(&self, before: &Setup, after: &Setup) {
        let mut health = self.failing().lock();
        for model in &before.models {
            let (name, served) = (&model.endpoint, &model.served);
            let at = |setup: &Setup| {
                let endpoint = setup.endpoints.iter().find(|it| it.name == *name)?.clone();
                let mut models = setup.models.iter();
                let model = models.find(|it| it.endpoint == *name && it.served == *served)?;
                Some((endpoint, Model { alias: String::new(), ..model.clone() }))
            };
            if health.retiring(name, served).is_some() && at(before) != at(after) {
                self.start_anew(&mut health, name, served);
            }
        }
        drop(health);
        self.tell_retiring();
    }

    /// An endpoint has another key: what was refused under the old one says nothing.
    pub(crate) fn forgive_all_of(&self, endpoint: &str) {
        let mut health = self.failing().lock();
        for model in self.snapshot().setup.models.iter().filter(|model| model.endpoint == endpoint) {
            if health.retiring(endpoint, &model.served).is_some() {
                self.start_anew(&mut health, endpoint, &model.served);
            }
        }
        drop(health);
        self.tell_retiring();
    }

    /// After a restart too: the ledger keeps what it failed with.
    fn start_anew(&self, health: &mut Health, endpoint: &str, served: &str) {
        health.clear(endpoint, served);
        let row = LearnedRow {
            endpoint: endpoint.to_owned(),
            served: served.to_owned(),
            what: MENDED.to_owned(),
            body: String::new(),
            at_ms: self.clock().now_ms(),
        };
        self.panel_tasks().spawn(self.store().keep_learned(row));
    }

    /// Raises an alert for each model that is retiring, and clears those that are not so any more.
    pub(crate) fn tell_retiring(&self) {
        let snapshot = self.snapshot();
        let health = self.failing().lock();
        let retiring = snapshot.setup.models.iter().filter(|model| model.retired.is_none());
        let messages: BTreeMap<String, String> = retiring
            .filter_map(|model| {
                let failing = health.retiring(&model.endpoint, &model.served)?;
                Some((model.alias.clone(), alerts::retiring(&model.alias, failing)))
            })
            .collect();
        drop(health);
        alerts::stand(self, crate::view::AlertKind::Retiring, messages);
    }
}
