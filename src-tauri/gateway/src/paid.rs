//! Models that were free and cost money now: nobody asks them until their owner has allowed it. By endpoint and served
//! name, and kept over a restart.

use std::collections::HashMap;

use catalog::{Model, Price};
use store::{PaidNowRow, Store, StoreError};

use crate::{
    alerts,
    facts::{Place, place},
    gateway::Gateway,
    setup::ChangeError,
    view::LiveEvent,
};

#[derive(Default)]
pub(crate) struct Paid(HashMap<Place, PaidNow>);

struct PaidNow {
    price: Price,
    at_ms: i64,
    is_allowed: bool,
}

/// What is to be written of it.
pub(crate) enum PaidChange {
    Keep(PaidNowRow),
    Forget(Place),
}

impl Paid {
    /// As it was kept. Blocks.
    pub(crate) fn load(store: &Store) -> Result<Paid, StoreError> {
        let rows = store.paid_now()?.into_iter().map(|row| {
            // A price that does not read is still one that the owner has not allowed.
            let price = serde_json::from_str(&row.price).unwrap_or_default();
            let paid = PaidNow { price, at_ms: row.at_ms, is_allowed: row.allowed_ms.is_some() };
            ((row.endpoint, row.served), paid)
        });
        Ok(Paid(rows.collect()))
    }

    /// What a model costs while its owner has not allowed that it does.
    pub(crate) fn held(&self, model: &Model) -> Option<&Price> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&place(model)).filter(|paid| !paid.is_allowed).map(|paid| &paid.price)
    }

    /// What others than the owner say of a model's price was one thing, and is another now.
    pub(crate) fn told(
        &mut self,
        model: &Model,
        before: Option<&Price>,
        now: Option<&Price>,
        at_ms: i64,
    ) -> Option<PaidChange> {
        if now.is_some_and(Price::is_free) {
            return self.forget(&place(model));
        }
        // Who has set what it costs knows that it does.
        let is_known = model.facts.price.as_ref().is_some_and(|price| !price.is_free());
        if is_known || !catalog::went_paid(before, now) {
            return None;
        }
        let paid = PaidNow { price: now?.clone(), at_ms, is_allowed: false };
        let change = PaidChange::Keep(paid.row(&place(model), None));
        self.0.insert(place(model), paid);
        Some(change)
    }

    fn allow(&mut self, model: &Model, now_ms: i64) -> Option<PaidChange> {
        let paid = self.0.get_mut(&place(model)).filter(|paid| !paid.is_allowed)?;
        paid.is_allowed = true;
        Some(PaidChange::Keep(paid.row(&place(model), Some(now_ms))))
    }

    /// It is free again, not there any more, or another.
    pub(crate) fn forget(&mut self, place: &Place) -> Option<PaidChange> {
        self.0.remove(place).map(|_| PaidChange::Forget(place.clone()))
    }

    /// Lets go of all that `stays` does not hold of.
    pub(crate) fn retain(&mut self, stays: impl Fn(&Place) -> bool) -> Vec<PaidChange> {
        let gone: Vec<Place> = self.0.keys().filter(|place| !stays(place)).cloned().collect();
        gone.iter().filter_map(|place| self.forget(place)).collect()
    }
}

impl PaidNow {
    fn row(&self, (endpoint, served): &Place, allowed_ms: Option<i64>) -> PaidNowRow {
        PaidNowRow {
            endpoint: endpoint.clone(),
            served: served.clone(),
            at_ms: self.at_ms,
            // Numbers: they always serialise.
            price: serde_json::to_string(&self.price).unwrap_or_default(),
            allowed_ms,
        }
    }
}

/// Writes what has changed.
pub(crate) async fn keep(store: &Store, changes: Vec<PaidChange>) -> Result<(), StoreError> {
    for change in changes {
        match change {
            PaidChange::Keep(row) => store.keep_paid_now(row).await?,
            PaidChange::Forget((endpoint, served)) => store.forget_paid_now(endpoint, served).await?,
        }
    }
    Ok(())
}

/// Why a model was not allowed.
#[derive(Debug, thiserror::Error)]
pub enum AllowError {
    #[error("There is no model \"{0}\".")]
    Unknown(String),
    #[error("{0} is called as it is: it is not one that was free and costs money now.")]
    NotHeld(String),
}

impl Gateway {
    /// Lets a model be called that was free and costs money now.
    ///
    /// Errors: there is no such model, or it needs no allowing.
    pub async fn allow_paid(&self, alias: &str) -> Result<(), ChangeError<AllowError>> {
        let now_ms = self.clock().now_ms();
        let allow = |paid: &mut Paid, model: Option<&Model>| {
            let model = model.ok_or_else(|| AllowError::Unknown(alias.to_owned()))?;
            paid.allow(model, now_ms).ok_or_else(|| AllowError::NotHeld(alias.to_owned()))
        };
        self.setup_state().allow_paid(alias, allow).await?;
        self.live().publish(LiveEvent::SetupChanged {});
        self.tell_paid();
        Ok(())
    }

    /// Raises an alert for each model that costs money now and may not, and clears those that are not so any more.
    pub(crate) fn tell_paid(&self) {
        alerts::went_paid(self, &self.setup_state().paid_now());
    }
}
