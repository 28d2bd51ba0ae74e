//! The verbs of the ledger.

use rusqlite::Connection;

use crate::{
    Ack, DaySpend, FailureRow, LedgerRow, PaceRow, SentRow, Spend, SpendBy, Store, StoreError, StoredSpent,
    job::{Between, Waits},
    tables::{ledger, sums},
};

impl Store {
    /// A call to a provider ended that is part of no record of its own: a picker's, a probe's. Those of panels and turns
    /// are written with their record.
    pub fn spent(&self, row: LedgerRow) -> Ack<()> {
        self.holding(()).spent(row)
    }

    /// The newest rows of the ledger, newest first; with `before`, those older than that row.
    pub fn ledger(&self, before: Option<i64>, limit: u32) -> Result<Vec<StoredSpent>, StoreError> {
        self.read(|connection| ledger::newest(connection, before, limit))
    }

    /// What was spent from an instant on (Unix milliseconds), the dearest first: by real models, or by practice's.
    pub fn spend(&self, by: SpendBy, since_ms: i64, practice: bool) -> Result<Vec<Spend>, StoreError> {
        self.read(|connection| sums::spend(connection, by, since_ms, practice))
    }

    /// How long answers took from an instant on (Unix milliseconds), by model.
    pub fn paces(&self, since_ms: i64) -> Result<Vec<PaceRow>, StoreError> {
        self.read(|connection| sums::paces(connection, since_ms))
    }

    /// What was sent from an instant on, by model and minute, oldest first: what pacing is loaded with. Practice is not in
    /// it.
    pub fn sent(&self, since_ms: i64) -> Result<Vec<SentRow>, StoreError> {
        self.read(|connection| sums::sent(connection, since_ms))
    }

    /// The same, with nothing between it and what is under way: `then` is called on the writer's thread when all that was
    /// handed in before is in it and is held no more ([`Store::holding`]), and what was handed in after is not in it and
    /// still held. It must not wait for a write. While recording is stopped it gets an error at once.
    pub fn sent_by_now(
        &self,
        since_ms: i64,
        then: impl FnOnce(Result<Vec<SentRow>, StoreError>) + Send + 'static,
    ) {
        let read = move |connection: &Connection| sums::sent(connection, since_ms);
        self.0.queue.push(Box::new(Between::new(read, then)), self.now());
    }

    /// What was spent from an instant on, by caller, collection and day of UTC, oldest first: what budgets are loaded
    /// with. Practice is not in it.
    pub fn spend_by_day(&self, since_ms: i64) -> Result<Vec<DaySpend>, StoreError> {
        self.read(|connection| sums::by_day(connection, since_ms))
    }

    /// The same, with nothing between it and what is not written: as [`Store::sent_by_now`].
    pub fn spent_by_now(
        &self,
        since_ms: i64,
        then: impl FnOnce(Result<Vec<DaySpend>, StoreError>) + Send + 'static,
    ) {
        let read = move |connection: &Connection| sums::by_day(connection, since_ms);
        self.0.queue.push(Box::new(Between::new(read, then)), self.now());
    }

    /// Calls that failed with one of these classes from an instant on, oldest first, and when their models last
    /// answered since then. Practice is not in it.
    pub fn failures(&self, classes: &[&str], since_ms: i64) -> Result<Vec<FailureRow>, StoreError> {
        self.read(|connection| sums::failures(connection, classes, since_ms))
    }

    /// The endpoint and the served id that an alias was last called at; `None` where it never was. It is looked up once
    /// all is written that was handed in before.
    pub fn last_served_under(&self, alias: String) -> Ack<Option<(String, String)>> {
        self.write(Waits::No, 0, move |connection| ledger::last_served_under(connection, &alias))
    }
}
