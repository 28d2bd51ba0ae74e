//! The one thread that writes.
//!
//! Everything that waits goes into one transaction (a group commit), each write under its own savepoint, so
//! that one that contradicts what is there takes nothing else down. Acks are answered after the commit. Turns that
//! were gathered go without savepoints, which cost as much as they do, as long as nothing contradicts.
//!
//! The journal is a WAL with `synchronous=NORMAL`: a committed transaction has been handed to the operating
//! system, which is all that surviving a killed process takes, and no commit waits for the platter. A machine
//! that loses power may lose the last commits, never the file's soundness: checkpoints do sync.

use std::{path::Path, sync::Arc};

use rusqlite::Connection;

use crate::{
    ahead::Ahead,
    damage,
    error::{Fault, StoreError, is_damage},
    job::Job,
    open::Now,
    queue::{Batch, Queue, Turn},
    recording::Listeners,
};

pub(crate) struct Writer {
    connection: Connection,
    queue: Arc<Queue>,
    ahead: Arc<Ahead>,
    listeners: Arc<Listeners>,
    now: Now,
    /// The cap on the file's pages that the connection has now.
    page_limit: Option<u32>,
}

impl Writer {
    pub(crate) fn new(
        connection: Connection,
        queue: Arc<Queue>,
        ahead: Arc<Ahead>,
        listeners: Arc<Listeners>,
        now: Now,
    ) -> Writer {
        Writer { connection, queue, ahead, listeners, now, page_limit: None }
    }

    pub(crate) fn run(mut self) {
        while let Turn::Write(mut batch) = self.queue.next() {
            match self.write(&mut batch) {
                Ok(()) => {
                    let bytes = batch.iter().map(|job| job.bytes()).sum();
                    self.ahead.taken(batch.iter().filter(|job| job.is_ahead()).count());
                    let news = self.queue.written(batch.len(), bytes);
                    for mut job in batch {
                        match job.has_more() {
                            true => self.queue.put_last(job),
                            false => job.settle(),
                        }
                    }
                    news.iter().for_each(|state| self.listeners.tell(state));
                }
                Err(why) => {
                    tracing::error!(why, waiting = batch.len(), "recording stopped");
                    match self.queue.put_back(batch, why, (self.now)()) {
                        Some(news) => news.iter().for_each(|state| self.listeners.tell(state)),
                        None => break,
                    }
                }
            }
        }
        // Leaves one tidy file behind. If it cannot be done the log stays, and the next open reads it.
        if let Err(error) = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)") {
            tracing::warn!(%error, "the write-ahead log was left in place");
        }
    }

    /// Writes a batch in one transaction. On an error nothing of it was written, and it says why.
    fn write(&mut self, batch: &mut Batch) -> Result<(), String> {
        let gathered = batch.iter().all(|job| job.is_ahead());
        let mut outcome = self.transact(|writer| {
            batch.iter_mut().try_for_each(|job| match gathered {
                true => job.run(&writer.connection),
                false => writer.run_apart(job),
            })
        });
        if gathered && outcome.as_ref().is_err_and(|fault| fault.stops_recording().is_none()) {
            outcome = self.transact(|writer| batch.iter_mut().try_for_each(|job| writer.run_apart(job)));
        }
        let Err(fault) = outcome else { return Ok(()) };
        if let (Fault::Sqlite(error), Some(file)) = (&fault, self.connection.path())
            && is_damage(error)
        {
            damage::suspect(Path::new(file));
        }
        Err(match fault.stops_recording() {
            Some(why) => why.to_owned(),
            None => StoreError::from(fault).to_string(),
        })
    }

    fn transact(&mut self, run: impl FnOnce(&Self) -> Result<(), Fault>) -> Result<(), Fault> {
        let limit = self.queue.page_limit();
        if limit != self.page_limit {
            self.connection.pragma_update(None, "max_page_count", limit.unwrap_or(NO_PAGE_LIMIT))?;
            self.page_limit = limit;
        }
        self.execute("BEGIN IMMEDIATE")?;
        let outcome = run(self).and_then(|()| self.execute("COMMIT"));
        // A full disk may have rolled back already; then there is nothing left to undo.
        if outcome.is_err() && !self.connection.is_autocommit() && self.execute("ROLLBACK").is_err() {
            tracing::error!("a failed write could not be rolled back");
        }
        outcome
    }

    /// Runs a job; one that contradicts what is there fails alone.
    fn run_apart(&self, job: &mut Box<dyn Job>) -> Result<(), Fault> {
        self.execute("SAVEPOINT one")?;
        match job.run(&self.connection) {
            Ok(()) => self.execute("RELEASE one"),
            Err(fault) if fault.stops_recording().is_some() => Err(fault),
            Err(fault) => {
                self.execute("ROLLBACK TO one")?;
                self.execute("RELEASE one")?;
                job.fail(fault.into());
                Ok(())
            }
        }
    }

    fn execute(&self, sql: &str) -> Result<(), Fault> {
        self.connection.prepare_cached(sql)?.execute([])?;
        Ok(())
    }
}

/// The most SQLite knows.
const NO_PAGE_LIMIT: u32 = 4_294_967_294;
