//! Rules that are new, or look back further than those before: they count what was sent before them, what is under way
//! included.

use std::collections::HashSet;

use catalog::Limits;
use plan::{DAY_MS, Place, Registered, Spent};
use store::{SentRow, StoreError};
use tokio::sync::oneshot;

use super::stated::Stated;
use crate::{facts, gateway::Gateway, setup::Snapshot};

/// Whose they are, and how far back the longest of them looks.
#[derive(Default)]
pub(crate) struct NewRules {
    /// Of whatever shares a rate limit there.
    endpoints: HashSet<String>,
    /// Of which something was stated.
    models: HashSet<facts::Place>,
    /// In ms; 0 where there are none.
    pub back_ms: i64,
}

/// The longest window of a rule: a month of 30 days.
const MONTH_MS: i64 = 30 * DAY_MS;

impl NewRules {
    /// What is to be counted since the set-up `before`, at start all.
    pub(super) fn made(now: &Snapshot, before: Option<&Snapshot>, stated: &Stated, now_ms: i64) -> NewRules {
        let mut new = NewRules::default();
        let owners = |snapshot: &Snapshot, name: &str| {
            snapshot.endpoint(name).map_or(0, |endpoint| looks_back_ms(&endpoint.limits))
        };
        for endpoint in &now.setup.endpoints {
            let back_ms = looks_back_ms(&endpoint.limits);
            if back_ms > before.map_or(0, |before| owners(before, &endpoint.name)) {
                new.endpoints.insert(endpoint.name.clone());
                new.back_ms = new.back_ms.max(back_ms);
            }
        }
        for it in now.setup.models.iter().filter_map(|model| now.roster.get(&model.alias)) {
            let of = |it: &Registered| stated.of(it, now_ms).map_or(0, |(limits, _)| looks_back_ms(&limits));
            let before = before.and_then(|before| before.roster.get(&it.model.alias));
            // What its owner's rule stood over holds again.
            let before = before.filter(|before| facts::place(&before.model) == facts::place(&it.model));
            let back_ms = of(it);
            if back_ms > before.map_or(0, of) {
                new.models.insert(facts::place(&it.model));
                new.back_ms = new.back_ms.max(back_ms);
            }
        }
        new
    }

    /// What was stated of a model.
    pub(super) fn stated(it: &Registered, limits: &Limits) -> NewRules {
        let models = HashSet::from([facts::place(&it.model)]);
        NewRules { models, back_ms: looks_back_ms(limits), ..NewRules::default() }
    }

    /// The places where a call to a model counts by them; of one that is apart nothing was stated.
    pub(crate) fn places(&self, it: &Registered, is_apart: bool) -> impl Iterator<Item = Place> + use<> {
        let connection = self.endpoints.contains(&it.model.endpoint);
        let connection = connection.then(|| Place::Connection(it.connection.clone()));
        let (endpoint, served) = facts::place(&it.model);
        let is_stated = !is_apart && self.models.contains(&(endpoint.clone(), served.clone()));
        connection.into_iter().chain(is_stated.then_some(Place::Model { endpoint, served }))
    }

    /// As the ledger says.
    pub(super) fn spent(&self, sent: Vec<SentRow>) -> impl Iterator<Item = Spent> {
        sent.into_iter().flat_map(|row| {
            let SentRow { connection, endpoint, served, at_ms, requests, tokens } = row;
            let of_connection = self.endpoints.contains(&endpoint).then_some(Place::Connection(connection));
            let place = (endpoint, served);
            let of_model = self.models.contains(&place).then(|| {
                let (endpoint, served) = place;
                Place::Model { endpoint, served }
            });
            let spent = move |place| Spent { place, at_ms, requests, tokens };
            of_connection.into_iter().chain(of_model).map(spent)
        })
    }
}

impl Gateway {
    /// Counts by rules that are new what was sent before them. What is counted already is counted anew.
    pub(crate) async fn count_by(&self, new: NewRules) {
        if new.back_ms == 0 {
            return;
        }
        let since_ms = self.clock().now_ms() - new.back_ms;
        let (done, counted) = oneshot::channel();
        let gateway = self.clone();
        self.store().sent_by_now(since_ms, move |sent| {
            let counted = sent.map(|sent| gateway.count_sent(&new, sent));
            drop(gateway);
            let _ = done.send(counted.map_err(|error| (new, error)));
        });
        let Ok(Err((new, stopped))) = counted.await else { return };
        // Nothing is written now: the ledger stays as it is.
        let gateway = self.clone();
        let read = tokio::task::spawn_blocking(move || {
            gateway.count_sent(&new, gateway.store().sent(since_ms)?);
            Ok::<_, StoreError>(())
        });
        if let Ok(Err(error)) = read.await {
            tracing::warn!(%error, %stopped, "what was sent before could not be read: new limits count from now on");
        }
    }

    fn count_sent(&self, new: &NewRules, sent: Vec<SentRow>) {
        let (snapshot, now_ms) = (self.snapshot(), self.clock().now_ms());
        let known = snapshot.setup.models.iter().filter_map(|model| snapshot.roster.get(&model.alias));
        let places: Vec<Place> = known.flat_map(|it| new.places(it, false)).collect();
        let mut pacing = self.limits().pacing();
        pacing.load(&places, new.spent(sent), now_ms);
        self.limits().on_its_way.each(|call| call.count(self, &mut pacing, new, now_ms));
    }
}

/// How far back the longest of these rules looks, in ms; 0 where there are none.
pub(super) fn looks_back_ms(limits: &Limits) -> i64 {
    if limits.rpmo.is_some() {
        MONTH_MS
    } else if limits.rpd.is_some() || limits.tpd.is_some() {
        DAY_MS
    } else if limits.is_empty() {
        0
    } else {
        60_000
    }
}
