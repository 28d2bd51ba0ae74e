//! The verbs of what others than the owner say of models.

use crate::{Ack, FactsRow, RefreshedRow, Store, StoreError, job::Waits, tables::facts};

impl Store {
    /// Keeps what sources say of models, each in place of what it said before.
    pub fn keep_facts(&self, rows: Vec<FactsRow>) -> Ack<()> {
        let bytes = rows.iter().map(|row| row.body.len()).sum();
        self.write(Waits::Yes, bytes, move |connection| facts::put(connection, &rows))
    }

    pub fn facts(&self) -> Result<Vec<FactsRow>, StoreError> {
        self.read(facts::all)
    }

    /// Forgets what a source says of all models of an endpoint.
    pub fn forget_facts(&self, endpoint: String, source: String) -> Ack<()> {
        self.write(Waits::Yes, 0, move |connection| facts::forget(connection, &endpoint, &source))
    }

    /// Keeps a catalog that was fetched, in place of the last one of its source.
    pub fn keep_refreshed(&self, row: RefreshedRow) -> Ack<()> {
        self.write(Waits::Yes, row.body.len(), move |connection| facts::put_refreshed(connection, &row))
    }

    /// What was fetched of a source is what is kept of it.
    pub fn refreshed_again(&self, source: String, at_ms: i64) -> Ack<()> {
        self.write(Waits::Yes, 0, move |connection| facts::refreshed_again(connection, &source, at_ms))
    }

    pub fn refreshed(&self, source: &str) -> Result<Option<RefreshedRow>, StoreError> {
        self.read(|connection| facts::refreshed(connection, source))
    }
}
