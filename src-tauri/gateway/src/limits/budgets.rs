//! Budgets that are new know what was spent before them: what the ledger has, and of what it does not have yet, what has
//! ended.

use std::collections::HashSet;

use plan::{BudgetOf, Budgets, Period, Spending};
use store::{DaySpend, StoreError};
use tokio::sync::oneshot;

use super::Limits;
use crate::{callers::LOCAL, gateway::Gateway, setup::Snapshot};

/// Whose they are.
pub(super) struct NewBudgets {
    collections: HashSet<String>,
    /// At start, every gateway key's that has spent, whose next may have one.
    callers: bool,
}

impl NewBudgets {
    /// Of the collections that have one now and had none `before`; at start, of all that there are.
    pub(super) fn made(now: &Snapshot, before: Option<&Snapshot>) -> NewBudgets {
        let had = |name: &str| {
            let before = before.and_then(|before| before.collection(name));
            before.is_some_and(|it| it.budget.is_some())
        };
        let with = now.setup.collections.iter().filter(|it| it.budget.is_some() && !had(&it.name));
        NewBudgets { collections: with.map(|it| it.name.clone()).collect(), callers: before.is_none() }
    }

    pub(super) fn has_collections(&self) -> bool {
        !self.collections.is_empty()
    }

    pub(crate) fn has(&self, collection: &str) -> bool {
        self.collections.contains(collection)
    }

    fn of_day(&self, day: DaySpend) -> impl Iterator<Item = (BudgetOf, i64, Spending)> + use<> {
        let DaySpend { caller, collection, at_ms, tokens, tokens_unknown, cost, cost_unknown } = day;
        let spending = Spending { tokens, tokens_unknown, dollars: cost, cost_unknown };
        let of_collection = self.has(&collection).then_some(BudgetOf::Collection(collection));
        let of_caller = (self.callers && caller != LOCAL).then_some(BudgetOf::Caller(caller));
        of_collection.into_iter().chain(of_caller).map(move |of| (of, at_ms, spending))
    }
}

impl Limits {
    /// In place of what was counted of them. Whatever ends from here on finds them in the newest set-up, and counts
    /// itself.
    pub(super) fn count_spent(&self, new: &NewBudgets, days: Vec<DaySpend>) {
        let loaded = Budgets::load(days.into_iter().flat_map(|day| new.of_day(day)));
        let mut budgets = self.budgets();
        for name in &new.collections {
            budgets.forget(&BudgetOf::Collection(name.clone()));
        }
        budgets.put(loaded);
        self.on_its_way.each(|call| call.count_spent(&mut budgets, |collection| new.has(collection)));
    }
}

impl Gateway {
    /// Counts what was spent before them. What is counted already is counted anew.
    pub(super) async fn spent_before(&self, new: NewBudgets) {
        if !new.has_collections() {
            return;
        }
        let since_ms = Period::Month.begins(self.clock().now_ms());
        let (done, counted) = oneshot::channel();
        let gateway = self.clone();
        self.store().spent_by_now(since_ms, move |days| {
            let counted = days.map(|days| gateway.limits().count_spent(&new, days));
            drop(gateway);
            let _ = done.send(counted.map_err(|error| (new, error)));
        });
        let Ok(Err((new, stopped))) = counted.await else { return };
        // Nothing is written now: the ledger stays as it is.
        let gateway = self.clone();
        let read = tokio::task::spawn_blocking(move || {
            gateway.limits().count_spent(&new, gateway.store().spend_by_day(since_ms)?);
            Ok::<_, StoreError>(())
        });
        if let Ok(Err(error)) = read.await {
            tracing::warn!(%error, %stopped, "what was spent before could not be read: new budgets count from now on");
        }
    }
}
