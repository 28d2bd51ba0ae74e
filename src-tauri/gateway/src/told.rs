//! What providers say of limits, kept over a restart: quotas, and what is cooling.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use catalog::{Endpoint, Quota};
use http::HeaderMap;
use plan::{Cooldowns, Cooling, KeptCooldown, Place, Reach, Registered};
use store::{CooldownRow, QuotaRow, Store, StoreError};

use crate::{
    clock::rfc3339,
    gateway::Gateway,
    view::{ConnectionLimits, CoolingView, LimitsView, QuotaView, RuleView, StatedView},
};

/// Connection, served name, metric, window.
type Key = (String, String, String, u64);

#[derive(Default)]
pub(crate) struct Told {
    quotas: Mutex<Quotas>,
    cooldowns_changed: AtomicBool,
    /// A task is on its way to write what has changed.
    is_keeping: AtomicBool,
}

#[derive(Default)]
struct Quotas {
    known: BTreeMap<Key, QuotaRow>,
    /// Not on disk yet.
    changed: BTreeMap<Key, QuotaRow>,
}

/// What is said in every reply is written at most this often.
const KEEP_EVERY: Duration = Duration::from_secs(1);

/// A cooldown that ends this soon, in ms, is over by the time a process that was killed is there again.
const SHORT_MS: i64 = 3_000;

const MODEL: &str = "model";
const CONNECTION: &str = "connection";

impl Told {
    /// What was said before, and into `cooldowns` what was cooling. Blocks.
    pub(crate) fn load(store: &Store, cooldowns: &mut Cooldowns, now_ms: i64) -> Result<Told, StoreError> {
        let told = Told::default();
        let known = store.quotas()?.into_iter().map(|row| (key(&row), row)).collect();
        told.quotas.lock().unwrap_or_else(PoisonError::into_inner).known = known;
        cooldowns.load(store.cooldowns()?.into_iter().map(from_row), now_ms);
        Ok(told)
    }

    fn known(&self) -> Vec<QuotaRow> {
        self.quotas.lock().unwrap_or_else(PoisonError::into_inner).known.values().cloned().collect()
    }
}

impl Gateway {
    /// What a reply's headers say of quotas. Most say nothing.
    pub(crate) fn note_headers(&self, endpoint: &Endpoint, it: &Registered, headers: &HeaderMap) {
        if !headers.keys().any(|name| name.as_str().contains("limit")) {
            return;
        }
        let text = |name: &str| headers.get(name)?.to_str().ok();
        let now_ms = self.clock().now_ms();
        self.note_quotas(it, &catalog::quotas(endpoint, text, now_ms), now_ms);
    }

    /// What the refusal of a call says of them beside, in its body; and of the limit that was met.
    pub(crate) fn note_refusal(
        &self,
        endpoint: &Endpoint,
        it: &Registered,
        (status, headers, body): (u16, &HeaderMap, &[u8]),
    ) {
        let now_ms = self.clock().now_ms();
        let text = |name: &str| headers.get(name)?.to_str().ok();
        let mut named = catalog::quotas_in_body(endpoint, status, body, now_ms);
        let beside = catalog::quotas(endpoint, text, now_ms);
        self.learn_rate(it, &named, &beside);
        // Words seldom say how much is left and until when, and the headers beside them do.
        for quota in &mut named {
            let same = |it: &&Quota| (it.metric, it.window_s) == (quota.metric, quota.window_s);
            if let Some(more) = beside.iter().find(same) {
                quota.limit = quota.limit.or(more.limit);
                quota.remaining = quota.remaining.or(more.remaining);
                quota.reset_ms = quota.reset_ms.or(more.reset_ms);
            }
        }
        self.note_quotas(it, &named, now_ms);
    }

    fn note_quotas(&self, it: &Registered, quotas: &[Quota], now_ms: i64) {
        if quotas.is_empty() {
            return;
        }
        let mut kept = self.told().quotas.lock().unwrap_or_else(PoisonError::into_inner);
        for quota in quotas {
            let row = QuotaRow {
                connection: it.connection.clone(),
                model: it.model.served.clone(),
                metric: metric(quota),
                window_s: quota.window_s.unwrap_or(0),
                allowed: quota.limit,
                remaining: quota.remaining,
                reset_ms: quota.reset_ms,
                seen_ms: now_ms,
            };
            kept.changed.insert(key(&row), row.clone());
            kept.known.insert(key(&row), row);
        }
        drop(kept);
        self.keep_told();
    }

    /// A model is left alone after a rate limit, or all of its connection; for as long as was stated, if that was.
    pub(crate) fn cools(&self, it: &Registered, reach: Reach, stated_ms: Option<i64>) {
        let now_ms = self.clock().now_ms();
        let mut cooldowns = self.known().cooldowns();
        let was_ms = cooldowns.cooling(&it.model, &it.connection, now_ms).unwrap_or(now_ms);
        let until_ms = cooldowns.limited(&it.model, &it.connection, reach, stated_ms, now_ms);
        drop(cooldowns);
        // One that is met again and again while it runs is hardly longer for that.
        match until_ms.saturating_sub(was_ms) > SHORT_MS {
            true => self.keep_cooldowns(),
            false => self.cooldowns_changed(),
        }
    }

    /// Something cools, or does not any more.
    pub(crate) fn cooldowns_changed(&self) {
        self.told().cooldowns_changed.store(true, Ordering::Release);
        self.keep_told();
    }

    /// Writes what has changed: at once where nothing was written lately, else soon, and when the gateway stops.
    fn keep_told(&self) {
        if self.told().is_keeping.swap(true, Ordering::AcqRel) {
            return;
        }
        let gateway = self.clone();
        self.tasks().spawn(async move {
            gateway.keep_changed();
            tokio::select! {
                () = tokio::time::sleep(KEEP_EVERY) => {}
                () = gateway.stopping().cancelled() => {}
            }
            gateway.told().is_keeping.store(false, Ordering::Release);
            gateway.keep_changed();
        });
    }

    fn keep_changed(&self) {
        let rows =
            std::mem::take(&mut self.told().quotas.lock().unwrap_or_else(PoisonError::into_inner).changed);
        if !rows.is_empty() {
            drop(self.store().keep_quotas(rows.into_values().collect()));
        }
        if self.told().cooldowns_changed.swap(false, Ordering::AcqRel) {
            self.keep_cooldowns();
        }
    }

    fn keep_cooldowns(&self) {
        // Held until it is queued: what is written last is how it stands.
        let cooldowns = self.known().cooldowns();
        let state = cooldowns.state(self.clock().now_ms());
        drop(self.store().keep_cooldowns(state.into_iter().map(to_row).collect()));
    }

    /// How limits stand now.
    pub fn limits_view(&self) -> LimitsView {
        let (snapshot, now_ms) = (self.snapshot(), self.clock().now_ms());
        let mut connections: BTreeMap<String, ConnectionLimits> = BTreeMap::new();
        for it in snapshot.roster.iter().filter(|it| !it.practice && !it.limits.is_empty()) {
            let place = Place::Connection(it.connection.clone());
            let pacing = self.limits().pacing();
            connections.entry(it.connection.clone()).or_insert_with(|| ConnectionLimits {
                connection: it.connection.clone(),
                endpoint: it.model.endpoint.clone(),
                in_flight: u32::try_from(pacing.in_flight(&place)).unwrap_or(u32::MAX),
                rules: pacing
                    .used(&place, &it.limits, now_ms)
                    .into_iter()
                    .map(|used| RuleView {
                        axis: used.axis.name().to_owned(),
                        window_s: used.axis.window_ms() / 1000,
                        limit: used.limit,
                        used: used.used,
                    })
                    .collect(),
                ..ConnectionLimits::default()
            });
        }
        for it in snapshot.roster.iter() {
            let Some((limits, until_ms)) = self.limits().stated.of(it, now_ms) else { continue };
            let of = connections.entry(it.connection.clone()).or_insert_with(|| ConnectionLimits {
                connection: it.connection.clone(),
                endpoint: it.model.endpoint.clone(),
                ..ConnectionLimits::default()
            });
            let (endpoint, served) = (it.model.endpoint.clone(), it.model.served.clone());
            let place = Place::Model { endpoint, served };
            of.stated.extend(self.limits().pacing().used(&place, &limits, now_ms).into_iter().map(|used| {
                StatedView {
                    model: it.model.served.clone(),
                    axis: used.axis.name().to_owned(),
                    window_s: used.axis.window_ms() / 1000,
                    limit: used.limit,
                    used: used.used,
                    until: rfc3339(until_ms),
                }
            }));
        }
        for row in self.told().known() {
            let of = connections.entry(row.connection.clone()).or_insert_with(|| ConnectionLimits {
                endpoint: row.connection.split('/').next().unwrap_or_default().to_owned(),
                connection: row.connection.clone(),
                ..ConnectionLimits::default()
            });
            of.quota.push(QuotaView {
                model: row.model,
                metric: row.metric,
                window_s: (row.window_s > 0).then_some(row.window_s),
                limit: row.allowed,
                remaining: row.remaining,
                resets_at: row.reset_ms.map(rfc3339),
                seen_at: rfc3339(row.seen_ms),
            });
        }
        let cooling = self.known().cooldowns().list(now_ms);
        let alias = |endpoint: &str, served: &str| {
            let mut models = snapshot.setup.models.iter();
            models.find(|it| it.endpoint == endpoint && it.served == served).map(|it| it.alias.clone())
        };
        let cooling = cooling
            .into_iter()
            .map(|Cooling { place, until_ms, stated }| {
                let (name, is_connection) = match place {
                    Place::Model { endpoint, served } => {
                        (alias(&endpoint, &served).unwrap_or_else(|| format!("{endpoint}/{served}")), false)
                    }
                    Place::Connection(connection) => (connection, true),
                };
                let why = match stated {
                    true => "a rate limit, for as long as the provider said",
                    false => "a rate limit; the provider did not say for how long",
                };
                CoolingView { name, is_connection, until: rfc3339(until_ms), why: why.to_owned() }
            })
            .collect();
        LimitsView { connections: connections.into_values().collect(), cooling, budgets: self.budgets_view() }
    }

    /// Ends the cooldown of a model, by its alias, and of its connection, and forgets what limits its provider stated; or
    /// ends that of a connection, by its name. Says whether there was one.
    pub fn clear_cooldown(&self, name: &str) -> bool {
        let snapshot = self.snapshot();
        let mut places = vec![Place::Connection(name.to_owned())];
        let mut had_rate = false;
        if let Some(it) = snapshot.roster.get(name) {
            let (endpoint, served) = (it.model.endpoint.clone(), it.model.served.clone());
            places.extend([Place::Model { endpoint, served }, Place::Connection(it.connection.clone())]);
            had_rate = self.forget_rate(it);
        } else if let Some((endpoint, served)) = name.split_once('/') {
            places.push(Place::Model { endpoint: endpoint.to_owned(), served: served.to_owned() });
        }
        let mut cooldowns = self.known().cooldowns();
        // Each of them, and not only the first.
        let cleared = places.iter().filter(|place| cooldowns.clear(place)).count();
        drop(cooldowns);
        if cleared > 0 {
            self.keep_cooldowns();
        }
        cleared > 0 || had_rate
    }
}

fn key(row: &QuotaRow) -> Key {
    (row.connection.clone(), row.model.clone(), row.metric.clone(), row.window_s)
}

/// `input_tokens`, as it is serialised.
fn metric(quota: &Quota) -> String {
    let word = serde_json::to_value(quota.metric).ok();
    word.as_ref().and_then(|word| word.as_str()).unwrap_or_default().to_owned()
}

fn to_row(kept: KeptCooldown) -> CooldownRow {
    let KeptCooldown { cooling: Cooling { place, until_ms, stated }, step_ms } = kept;
    let (kind, endpoint, name) = match place {
        Place::Model { endpoint, served } => (MODEL, endpoint, served),
        Place::Connection(connection) => (CONNECTION, String::new(), connection),
    };
    CooldownRow { kind: kind.to_owned(), endpoint, name, until_ms, stated, step_ms }
}

fn from_row(row: CooldownRow) -> KeptCooldown {
    let place = match row.kind == CONNECTION {
        true => Place::Connection(row.name),
        false => Place::Model { endpoint: row.endpoint, served: row.name },
    };
    KeptCooldown {
        cooling: Cooling { place, until_ms: row.until_ms, stated: row.stated },
        step_ms: row.step_ms,
    }
}
