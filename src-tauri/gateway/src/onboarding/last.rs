//! What a model's last probes found, as it is kept and shown: one of each kind, however long ago.

use plan::onboarding::{Outcome, Step};
use store::{ProbeRow, StoreError};

use super::{Place, found};
use crate::{
    clock::rfc3339,
    gateway::Gateway,
    panel::class_word,
    view::{OnboardingLog, OnboardingOutcome},
};

impl Gateway {
    /// What the last probe of each kind found of a model, in the order of the steps; nothing of one that was never
    /// probed. Blocks.
    pub fn last_probes(&self, alias: &str) -> Result<Vec<OnboardingLog>, StoreError> {
        let snapshot = self.snapshot();
        let Some(model) = snapshot.model(alias) else { return Ok(Vec::new()) };
        let rows = self.store().probes_of(&model.endpoint, &model.served)?;
        let mut entries: Vec<OnboardingLog> = rows.into_iter().filter_map(entry).collect();
        entries.sort_by_key(|entry| entry.step);
        Ok(entries)
    }
}

pub(super) fn row(place: &Place, entry: &OnboardingLog, at_ms: i64) -> ProbeRow {
    ProbeRow {
        endpoint: place.0.clone(),
        served: place.1.clone(),
        step: entry.step.name().to_owned(),
        at_ms,
        ok: entry.outcome == OnboardingOutcome::Worked,
        class: entry.class.map(|class| class_word(class).to_owned()),
        seconds: entry.seconds,
        first_token_s: entry.first_token_s,
        tokens_a_s: entry.tokens_a_s,
        tokens_in: entry.tokens_in,
        tokens_out: entry.tokens_out,
        said: entry.said.clone(),
    }
}

/// `None` for a step that this version does not know.
fn entry(row: ProbeRow) -> Option<OnboardingLog> {
    let step = Step::named(&row.step)?;
    let (outcome, class) = match found(&row) {
        Outcome::Worked => (OnboardingOutcome::Worked, None),
        Outcome::NotSeen => (OnboardingOutcome::NotSeen, None),
        Outcome::Failed(class) => (OnboardingOutcome::Failed, Some(class)),
    };
    Some(OnboardingLog {
        step,
        at: rfc3339(row.at_ms),
        outcome,
        class,
        seconds: row.seconds,
        first_token_s: row.first_token_s,
        tokens_a_s: row.tokens_a_s,
        tokens_in: row.tokens_in,
        tokens_out: row.tokens_out,
        said: row.said,
    })
}

#[cfg(test)]
mod tests {
    use wire::Class;

    use super::*;

    #[test]
    fn a_probe_is_read_as_it_was_found() {
        let place = ("lab".to_owned(), "v/a".to_owned());
        for (outcome, class) in [
            (OnboardingOutcome::Worked, None),
            (OnboardingOutcome::NotSeen, None),
            (OnboardingOutcome::Failed, Some(Class::Capacity)),
        ] {
            let found = OnboardingLog {
                step: Step::Tool,
                at: rfc3339(7_000),
                outcome,
                class,
                seconds: Some(0.5),
                first_token_s: Some(0.2),
                tokens_a_s: Some(90.0),
                tokens_in: Some(61),
                tokens_out: Some(12),
                said: "it called get_time {}".to_owned(),
            };
            assert_eq!(entry(row(&place, &found, 7_000)), Some(found));
        }
        assert_eq!(entry(ProbeRow { step: "a later one".to_owned(), ..ProbeRow::default() }), None);
    }
}
