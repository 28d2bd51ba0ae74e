//! What is known of limits, in memory: what was sent lately, by the rules of endpoints, and what collections and gateway
//! keys have spent, by their budgets.

mod budgets;
mod new;
pub(crate) mod slots;
pub(crate) mod stated;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plan::{Budget, BudgetOf, Budgets, Pacing, Period};
use store::{Store, StoreError};
use wire::{ApiError, Kind, Origin};

pub(crate) use self::new::NewRules;
use self::{budgets::NewBudgets, slots::Slots, stated::Stated};
use crate::{
    callers::Caller, clock::rfc3339, gateway::Gateway, sending::Sending, setup::Snapshot, view::BudgetView,
};

#[derive(Default)]
pub(crate) struct Limits {
    pacing: Mutex<Pacing>,
    /// What the ledger does not have yet.
    pub on_its_way: Arc<Slots<Sending>>,
    budgets: Mutex<Budgets>,
    pub stated: Stated,
}

impl Limits {
    /// From the ledger, where a rule or a budget wants to know, or a gateway key may. Blocks.
    pub(crate) fn load(
        store: &Store,
        snapshot: &Snapshot,
        has_keys: bool,
        now_ms: i64,
    ) -> Result<Limits, StoreError> {
        let limits = Limits { stated: Stated::load(store)?, ..Limits::default() };
        let new = NewRules::made(snapshot, None, &limits.stated, now_ms);
        if new.back_ms > 0 {
            limits.pacing().load(&[], new.spent(store.sent(now_ms - new.back_ms)?), now_ms);
        }
        let new = NewBudgets::made(snapshot, None);
        if has_keys || new.has_collections() {
            limits.count_spent(&new, store.spend_by_day(Period::Month.begins(now_ms))?);
        }
        Ok(limits)
    }

    pub(crate) fn pacing(&self) -> MutexGuard<'_, Pacing> {
        self.pacing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn budgets(&self) -> MutexGuard<'_, Budgets> {
        self.budgets.lock().unwrap_or_else(PoisonError::into_inner)
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
        let now_ms = self.clock().now_ms();
        self.count_by(NewRules::made(&now, Some(&before), &self.limits().stated, now_ms)).await;
        self.spent_before(NewBudgets::made(&now, Some(&before))).await;
    }
}
