//! What members have been seen to refuse: they are asked otherwise from then on. In memory: after a restart it is
//! learned again, at the cost of one refusal.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use catalog::{Endpoint, Model};
use wire::{Member, Quirks, UpstreamError};

use crate::gateway::Gateway;

#[derive(Default)]
pub(crate) struct Learned {
    quirks: Mutex<HashMap<Member, Quirks>>,
}

impl Gateway {
    /// How a member departs from its dialect: as its catalog says, and as it has been learned.
    pub(crate) fn quirks(&self, endpoint: &Endpoint, model: &Model) -> Quirks {
        let member = Member::of(&endpoint.name, &model.served);
        let learned = self.learned().quirks.lock().unwrap_or_else(PoisonError::into_inner);
        learned.get(&member).copied().unwrap_or_else(|| catalog::quirks(endpoint, model))
    }

    /// Learns from a refusal that names a parameter.
    pub(crate) fn learn(&self, endpoint: &Endpoint, model: &Model, error: &UpstreamError) {
        let Some(quirks) = self.quirks(endpoint, model).after(error) else { return };
        let member = Member::of(&endpoint.name, &model.served);
        self.learned().quirks.lock().unwrap_or_else(PoisonError::into_inner).insert(member, quirks);
    }
}
