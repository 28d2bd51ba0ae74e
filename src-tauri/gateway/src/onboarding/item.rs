//! A model in the queue: as it is kept, and as it looks from outside.

use plan::Registered;
use plan::onboarding::{Mode, Onboarded, Outcome, Step};
use store::OnboardingRow;
use wire::Class;

use super::Place;
use crate::{
    clock::rfc3339,
    view::{OnboardingItem, OnboardingLog, OnboardingOutcome, OnboardingState as State},
};

/// There are no suites to run yet: a full look is as quick as a quick one.
pub(super) const HAS_SUITE: bool = false;

#[derive(Clone, Debug)]
pub(super) struct Item {
    pub id: i64,
    pub place: Place,
    pub alias: String,
    pub mode: Mode,
    pub state: State,
    pub step: Step,
    pub added_ms: i64,
    pub started_ms: Option<i64>,
    pub ended_ms: Option<i64>,
    /// Why it waits, or failed.
    pub why: Option<String>,
    pub log: Vec<OnboardingLog>,
    /// It is not gone on with before: unix milliseconds. After a restart it is looked at again.
    pub until_ms: Option<i64>,
}

impl Item {
    /// As it was kept; `None` when it is not one that this version writes.
    pub(super) fn read(row: OnboardingRow) -> Option<Item> {
        Some(Item {
            id: row.id,
            place: (row.endpoint, row.served),
            alias: row.alias,
            mode: Mode::named(&row.mode)?,
            state: named(&row.state)?,
            step: Step::named(&row.step)?,
            added_ms: row.added_ms,
            started_ms: row.started_ms,
            ended_ms: row.ended_ms,
            why: row.why,
            log: serde_json::from_str(&row.log_json).ok()?,
            until_ms: None,
        })
    }

    pub(super) fn row(&self) -> OnboardingRow {
        OnboardingRow {
            id: self.id,
            endpoint: self.place.0.clone(),
            served: self.place.1.clone(),
            alias: self.alias.clone(),
            mode: self.mode.name().to_owned(),
            state: word(self.state).to_owned(),
            step: self.step.name().to_owned(),
            added_ms: self.added_ms,
            started_ms: self.started_ms,
            ended_ms: self.ended_ms,
            why: self.why.clone(),
            // Texts and numbers: they always serialise.
            log_json: serde_json::to_string(&self.log).unwrap_or_default(),
        }
    }

    /// `it` is its model, where it is registered.
    pub(super) fn view(&self, it: Option<&Registered>) -> OnboardingItem {
        OnboardingItem {
            id: self.id,
            endpoint: self.place.0.clone(),
            served: self.place.1.clone(),
            // It may have been renamed meanwhile.
            alias: it.map_or(&self.alias, |it| &it.model.alias).clone(),
            mode: self.mode,
            state: self.state,
            step: self.step,
            steps: self.with(it, |onboarded| onboarded.steps()),
            why: self.why.clone(),
            until: self.until_ms.filter(|_| self.state == State::Waiting).map(rfc3339),
            added_at: rfc3339(self.added_ms),
            started_at: self.started_ms.map(rfc3339),
            ended_at: self.ended_ms.map(rfc3339),
            log: self.log.clone(),
        }
    }

    /// What has come of it so far.
    pub(super) fn with<T>(&self, it: Option<&Registered>, read: impl FnOnce(&Onboarded<'_>) -> T) -> T {
        let outcomes: Vec<(Step, Outcome)> =
            self.log.iter().filter_map(|entry| Some((entry.step, outcome(entry)?))).collect();
        let facts = it.map(|it| it.model.facts.clone()).unwrap_or_default();
        read(&Onboarded { mode: self.mode, facts: &facts, has_suite: HAS_SUITE, outcomes: &outcomes })
    }

    /// It waits for its turn, or is being taken on.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Waiting | State::Running)
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, State::Done | State::Failed)
    }
}

fn outcome(entry: &OnboardingLog) -> Option<Outcome> {
    match entry.outcome {
        OnboardingOutcome::Worked => Some(Outcome::Worked),
        OnboardingOutcome::NotSeen => Some(Outcome::NotSeen),
        OnboardingOutcome::Failed => Some(Outcome::Failed(entry.class.unwrap_or(Class::Other))),
        OnboardingOutcome::Skipped => None,
    }
}

const STATES: [(State, &str); 5] = [
    (State::Waiting, "waiting"),
    (State::Running, "running"),
    (State::Done, "done"),
    (State::Failed, "failed"),
    (State::Stopped, "stopped"),
];

fn word(state: State) -> &'static str {
    STATES.iter().find(|(known, _)| *known == state).map_or("stopped", |(_, word)| word)
}

fn named(word: &str) -> Option<State> {
    STATES.iter().find(|(_, known)| *known == word).map(|(state, _)| *state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_kept_whole() {
        let entry = OnboardingLog {
            step: Step::Word,
            at: rfc3339(7),
            outcome: OnboardingOutcome::Failed,
            class: Some(Class::Capacity),
            seconds: Some(0.5),
            first_token_s: None,
            tokens_a_s: None,
            tokens_in: None,
            tokens_out: None,
            said: "rate limited".to_owned(),
        };
        let item = Item {
            id: 3,
            place: ("lab".to_owned(), "v/a".to_owned()),
            alias: "a".to_owned(),
            mode: Mode::QuickAdHoc,
            state: State::Running,
            step: Step::WordAgain,
            added_ms: 1,
            started_ms: Some(2),
            ended_ms: None,
            why: Some("why".to_owned()),
            log: vec![entry],
            until_ms: None,
        };
        let row = item.row();
        assert_eq!(
            (row.mode.as_str(), row.state.as_str(), row.step.as_str()),
            ("quick_ad_hoc", "running", "word_again")
        );
        let read = Item::read(row.clone()).expect("its own row");
        assert_eq!(read.row(), row);
        assert_eq!(outcome(&read.log[0]), Some(Outcome::Failed(Class::Capacity)));
        for (state, word) in STATES {
            assert_eq!(named(word), Some(state));
        }
        let strange = OnboardingRow { state: "napping".to_owned(), ..row };
        assert!(Item::read(strange).is_none());
    }
}
