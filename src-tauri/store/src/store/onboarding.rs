//! The verbs of taking models on.

use crate::{
    Ack, OnboardingRow, ProbeRow, Store, StoreError,
    job::Waits,
    tables::{onboarding, probes},
};

impl Store {
    /// Puts models at the end of the queue, and gives those that were, with their ids: a model that waits or is taken on
    /// already is not put there again, and one that is over or was stopped is put there in place of what it was. While
    /// recording is stopped it is refused and not made later.
    pub fn onboard(&self, rows: Vec<OnboardingRow>) -> Ack<Vec<OnboardingRow>> {
        self.write(Waits::No, 0, move |connection| onboarding::add(connection, &rows))
    }

    /// How one of them stands: its state, step, times, reason and log. A conflict when it is not in the queue.
    pub fn onboarding_changed(&self, row: OnboardingRow) -> Ack<()> {
        self.write(Waits::Yes, row.log_json.len(), move |connection| onboarding::change(connection, &row))
    }

    /// In the order of the queue, those that are done included.
    pub fn onboarding(&self) -> Result<Vec<OnboardingRow>, StoreError> {
        self.read(onboarding::all)
    }

    /// Takes out of the queue what is over, and with `all` whatever is not being taken on; gives how many that were.
    /// While recording is stopped it is refused and not made later.
    pub fn clear_onboarding(&self, all: bool) -> Ack<u64> {
        self.write(Waits::No, 0, move |connection| onboarding::clear(connection, all))
    }

    /// Keeps what a probe found, in place of what the last of its kind did.
    pub fn probed(&self, row: ProbeRow) -> Ack<()> {
        self.write(Waits::Yes, 0, move |connection| probes::put(connection, &row))
    }

    /// Forgets what probes found of an endpoint's models: it is elsewhere now.
    pub fn forget_probes(&self, endpoint: String) -> Ack<()> {
        self.write(Waits::Yes, 0, move |connection| probes::forget(connection, &endpoint))
    }

    pub fn probes(&self) -> Result<Vec<ProbeRow>, StoreError> {
        self.read(probes::all)
    }

    /// What the last probe of each kind found of one model.
    pub fn probes_of(&self, endpoint: &str, served: &str) -> Result<Vec<ProbeRow>, StoreError> {
        self.read(|connection| probes::of(connection, endpoint, served))
    }
}
