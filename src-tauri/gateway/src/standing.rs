//! How each model stands: whether it can be called now, and what is on its record.

use std::collections::HashMap;

use catalog::Model;
use plan::{DAY_MS, Shape, Unavailable};
use store::{PaceRow, StoreError};

use crate::{
    clock::rfc3339,
    gateway::Gateway,
    setup::Snapshot,
    view::{ModelRecord, ModelState},
};

const PACES_MS: i64 = 30 * DAY_MS;

impl Gateway {
    /// Every registered model, in the set-up's order. Blocks.
    pub fn model_records(&self) -> Result<Vec<ModelRecord>, StoreError> {
        let (snapshot, now_ms) = (self.snapshot(), self.clock().now_ms());
        let paces = self.store().paces(now_ms - PACES_MS)?.into_iter().map(|row| (row.alias.clone(), row));
        let paces: HashMap<String, PaceRow> = paces.collect();
        let models = &snapshot.setup.models;
        Ok(models.iter().map(|it| self.record_of(&snapshot, it, paces.get(&it.alias), now_ms)).collect())
    }

    fn record_of(
        &self,
        snapshot: &Snapshot,
        model: &Model,
        pace: Option<&PaceRow>,
        now_ms: i64,
    ) -> ModelRecord {
        let (state, why, until_ms) = self.state_of(snapshot, model, now_ms);
        let record = self.known().evidence().record(&model.alias, &Shape::GENERAL).overall;
        ModelRecord {
            alias: model.alias.clone(),
            state,
            why,
            until: until_ms.map(rfc3339),
            offloads: record.offloads,
            last_at: record.last_offload_ms.map(rfc3339),
            useful: record.useful,
            judged: record.judged,
            answers: pace.map_or(0, |pace| pace.answers),
            seconds: pace.map(|pace| pace.seconds),
            first_token_s: pace.and_then(|pace| pace.first_token_s),
        }
    }

    fn state_of(&self, snapshot: &Snapshot, model: &Model, now_ms: i64) -> (ModelState, String, Option<i64>) {
        if let Some(retired) = &model.retired {
            return (ModelState::Retired, retired.why.clone(), None);
        }
        let Some(reason) = self.unavailable(snapshot, model, now_ms) else {
            return (ModelState::Ready, String::new(), None);
        };
        let (state, until_ms) = match reason {
            Unavailable::Cooling { until_ms } => (ModelState::Resting, Some(until_ms)),
            Unavailable::OverLimit => (ModelState::OverLimit, None),
            _ => (ModelState::Out, None),
        };
        (state, reason.to_string(), until_ms)
    }
}
