//! The verbs of what is known of limits.

use crate::{
    Ack, CooldownRow, LearnedRow, PaidNowRow, QuotaRow, Store, StoreError, job::Waits, tables::limits,
};

impl Store {
    /// Keeps what is cooling, in place of what was kept.
    pub fn keep_cooldowns(&self, rows: Vec<CooldownRow>) -> Ack<()> {
        self.write(Waits::Yes, 0, move |connection| limits::put_cooldowns(connection, &rows))
    }

    pub fn cooldowns(&self) -> Result<Vec<CooldownRow>, StoreError> {
        self.read(limits::cooldowns)
    }

    /// Keeps what providers said of quotas, each in place of what was last said of the same.
    pub fn keep_quotas(&self, rows: Vec<QuotaRow>) -> Ack<()> {
        self.write(Waits::Yes, 0, move |connection| limits::put_quotas(connection, &rows))
    }

    pub fn quotas(&self) -> Result<Vec<QuotaRow>, StoreError> {
        self.read(limits::quotas)
    }

    /// Keeps what was learned of a model, in place of what was known of the same kind.
    pub fn keep_learned(&self, row: LearnedRow) -> Ack<()> {
        self.write(Waits::Yes, row.body.len(), move |connection| limits::put_learned(connection, &row))
    }

    pub fn learned(&self) -> Result<Vec<LearnedRow>, StoreError> {
        self.read(limits::learned)
    }

    /// Forgets what was learned of a model of one kind.
    pub fn forget_learned(&self, endpoint: String, served: String, what: &'static str) -> Ack<()> {
        self.write(Waits::Yes, 0, move |connection| {
            limits::forget_learned(connection, &endpoint, &served, what)
        })
    }

    /// A free model costs money now, or its owner has allowed that.
    pub fn keep_paid_now(&self, row: PaidNowRow) -> Ack<()> {
        self.write(Waits::Yes, 0, move |connection| limits::put_paid_now(connection, &row))
    }

    pub fn paid_now(&self) -> Result<Vec<PaidNowRow>, StoreError> {
        self.read(limits::paid_now)
    }

    /// It is free again.
    pub fn forget_paid_now(&self, endpoint: String, served: String) -> Ack<()> {
        self.write(Waits::Yes, 0, move |connection| limits::forget_paid_now(connection, &endpoint, &served))
    }
}
