//! What members have been seen to refuse: they are asked otherwise from then on. In memory: after a restart it is
//! learned again, at the cost of one refusal.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use plan::Registered;
use wire::{Member, Quirks, UpstreamError};

use crate::gateway::Gateway;

#[derive(Default)]
pub(crate) struct Learned {
    quirks: Mutex<HashMap<Member, Quirks>>,
}

impl Gateway {
    /// How a member departs from its dialect: as its catalog says, and as it has been learned.
    pub(crate) fn quirks(&self, it: &Registered) -> Quirks {
        let learned = self.learned().quirks.lock().unwrap_or_else(PoisonError::into_inner);
        match learned.is_empty() {
            true => it.quirks,
            false => learned.get(&member(it)).copied().unwrap_or(it.quirks),
        }
    }

    /// Learns from a refusal that names a parameter; whether it is asked otherwise from now on.
    pub(crate) fn learn(&self, it: &Registered, error: &UpstreamError) -> bool {
        let refused = error.refused_parameter();
        let Some(quirks) = refused.and_then(|parameter| self.quirks(it).without(parameter)) else {
            return false;
        };
        self.learned().quirks.lock().unwrap_or_else(PoisonError::into_inner).insert(member(it), quirks);
        true
    }
}

fn member(it: &Registered) -> Member {
    Member::of(&it.model.endpoint, &it.model.served)
}
