//! What is known of limits, in memory: what was sent lately, by the rules of endpoints, and what collections and gateway
//! keys have spent, by their budgets.

pub(crate) mod stated;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plan::{Budget, BudgetOf, Budgets, DAY_MS, Pacing, Period, Place, Spending, Spent};
use store::{DaySpend, SentRow, Store, StoreError};
use wire::{ApiError, Kind, Origin};

use self::stated::Stated;
use crate::{
    callers::{Caller, LOCAL},
    clock::rfc3339,
    gateway::Gateway,
    setup::Snapshot,
    view::BudgetView,
};

#[derive(Default)]
pub(crate) struct Limits {
    pacing: Mutex<Pacing>,
    budgets: Mutex<Budgets>,
    pub stated: Stated,
}

/// The longest window of a rule: a month of 30 days.
const MONTH_MS: i64 = 30 * DAY_MS;

impl Limits {
    /// From the ledger, where a rule or a budget wants to know, or a gateway key may. Blocks.
    pub(crate) fn load(
        store: &Store,
        snapshot: &Snapshot,
        has_keys: bool,
        now_ms: i64,
    ) -> Result<Limits, StoreError> {
        let limits = Limits { stated: Stated::load(store)?, ..Limits::default() };
        limits.stated.count(store, &limits.pacing, now_ms)?;
        limits.load_pacing(store, snapshot, None, now_ms)?;
        if has_keys || snapshot.setup.collections.iter().any(|it| it.budget.is_some()) {
            limits.load_budgets(store, snapshot, None, now_ms)?;
        }
        Ok(limits)
    }

    pub(crate) fn pacing(&self) -> MutexGuard<'_, Pacing> {
        self.pacing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn budgets(&self) -> MutexGuard<'_, Budgets> {
        self.budgets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where rules look back further than those `before`, as far as the longest of them. What is counted already stays as
    /// it is: it knows what the ledger does not, the calls of this moment.
    fn load_pacing(
        &self,
        store: &Store,
        snapshot: &Snapshot,
        before: Option<&Snapshot>,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        let back = |snapshot: &Snapshot, endpoint: &str| {
            snapshot.endpoint(endpoint).map_or(0, |endpoint| looks_back_ms(&endpoint.limits))
        };
        let is_new =
            |endpoint: &str| back(snapshot, endpoint) > before.map_or(0, |before| back(before, endpoint));
        let new = snapshot.setup.endpoints.iter().filter(|it| is_new(&it.name));
        let Some(back_ms) = new.map(|it| looks_back_ms(&it.limits)).max() else { return Ok(()) };
        let limited = |row: &SentRow| is_new(&row.endpoint);
        let sent = store.sent(now_ms - back_ms, i64::MAX)?.into_iter().filter(limited).map(|row| Spent {
            place: Place::Connection(row.connection),
            at_ms: row.at_ms,
            requests: row.requests,
            tokens: row.tokens,
        });
        self.pacing().load(sent, now_ms);
        Ok(())
    }

    /// What was spent in this month: of the collections that have a budget, or have one now and had none `before`; at
    /// start, of every gateway key that has spent, whose next may have one.
    fn load_budgets(
        &self,
        store: &Store,
        snapshot: &Snapshot,
        before: Option<&Snapshot>,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        let has =
            |snapshot: &Snapshot, name: &str| snapshot.collection(name).is_some_and(|it| it.budget.is_some());
        let is_new = |name: &str| has(snapshot, name) && !before.is_some_and(|before| has(before, name));
        let is_start = before.is_none();
        let of_day = |day: DaySpend| {
            let DaySpend { caller, collection, at_ms, tokens, tokens_unknown, cost, cost_unknown } = day;
            let spending = Spending { tokens, tokens_unknown, dollars: cost, cost_unknown };
            let of_collection = is_new(&collection).then_some(BudgetOf::Collection(collection));
            let of_caller = (is_start && caller != LOCAL).then_some(BudgetOf::Caller(caller));
            of_collection.into_iter().chain(of_caller).map(move |of| (of, at_ms, spending))
        };
        let spent = store.spend_by_day(Period::Month.begins(now_ms))?.into_iter().flat_map(of_day);
        let loaded = Budgets::load(spent);
        self.budgets().put(loaded);
        Ok(())
    }
}

/// How far back the longest of an endpoint's rules looks, in ms; 0 where it has none.
fn looks_back_ms(limits: &catalog::Limits) -> i64 {
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

impl Gateway {
    /// Refuses what the budget of a collection or of the caller's key has nothing left for, before anybody is asked.
    pub(crate) fn within_budget(
        &self,
        snapshot: &Snapshot,
        collection: &plan::Collection,
        caller: &Caller,
    ) -> Result<(), ApiError> {
        let of_key = caller.key().and_then(|key| Some((key, key.budget.as_ref()?)));
        if (collection.budget.is_none() && of_key.is_none()) || snapshot.is_practice_collection(collection) {
            return Ok(());
        }
        let name = &collection.name;
        if let Some(budget) = &collection.budget {
            let way_out = "until then ask another collection, or give this one more under Collections";
            self.has_left(&BudgetOf::Collection(name.clone()), budget, &format!("bench/{name}"), way_out)?;
        }
        if let Some((key, budget)) = of_key {
            let way_out = "the gateway's owner can make a key with more under Settings";
            let whose = format!("the gateway key \"{}\"", key.name);
            self.has_left(&BudgetOf::Caller(key.name.clone()), budget, &whose, way_out)?;
        }
        Ok(())
    }

    fn has_left(&self, of: &BudgetOf, budget: &Budget, whose: &str, way_out: &str) -> Result<(), ApiError> {
        let now_ms = self.clock().now_ms();
        let Some(over) = self.limits().budgets().over(of, budget, now_ms) else { return Ok(()) };
        let resets = rfc3339(over.resets_ms);
        let message =
            format!("{over} for {whose}, and nobody was asked. It is whole again at {resets}; {way_out}");
        let mut error = ApiError::new(Kind::RateLimit, Origin::Gateway, "budget_reached", message);
        let wait = u64::try_from(over.resets_ms.saturating_sub(now_ms)).unwrap_or(0);
        error.retry_after = Some(std::time::Duration::from_millis(wait));
        Err(error)
    }

    /// What is spent of every budget there is.
    pub(crate) fn budgets_view(&self) -> Vec<BudgetView> {
        let (snapshot, now_ms) = (self.snapshot(), self.clock().now_ms());
        let budgets = self.limits().budgets();
        let with = snapshot.setup.collections.iter().filter_map(|it| Some((it, it.budget.clone()?)));
        let view = with.map(|(collection, budget)| {
            let of = BudgetOf::Collection(collection.name.clone());
            let spent = budgets.spent(&of, budget.per, now_ms);
            BudgetView {
                collection: collection.name.clone(),
                tokens: spent.tokens,
                tokens_unknown: spent.tokens_unknown,
                dollars: spent.dollars,
                cost_unknown: spent.cost_unknown,
                is_spent: budgets.over(&of, &budget, now_ms).is_some(),
                resets_at: rfc3339(budget.per.ends(now_ms)),
                budget,
            }
        });
        view.collect()
    }

    /// The set-up has changed: rules and budgets that are new know what was sent and spent before them.
    pub(crate) async fn reload_limits(&self, before: Arc<Snapshot>) {
        let now = self.snapshot();
        let rules = |snapshot: &Snapshot| -> Vec<(String, catalog::Limits)> {
            snapshot.setup.endpoints.iter().map(|it| (it.name.clone(), it.limits)).collect()
        };
        let budgets = |snapshot: &Snapshot| -> Vec<String> {
            let with = snapshot.setup.collections.iter().filter(|it| it.budget.is_some());
            with.map(|it| it.name.clone()).collect()
        };
        let (new_rules, new_budgets) = (rules(&before) != rules(&now), budgets(&before) != budgets(&now));
        if !new_rules && !new_budgets {
            return;
        }
        let gateway = self.clone();
        let now_ms = self.clock().now_ms();
        let read = tokio::task::spawn_blocking(move || {
            let (limits, store) = (gateway.limits(), gateway.store());
            if new_rules {
                limits.load_pacing(store, &now, Some(&before), now_ms)?;
            }
            if new_budgets {
                limits.load_budgets(store, &now, Some(&before), now_ms)?;
            }
            Ok::<_, StoreError>(())
        });
        if let Ok(Err(error)) = read.await {
            tracing::warn!(%error, "what was sent before could not be read: new limits count from now on");
        }
    }
}
