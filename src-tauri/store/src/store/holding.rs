//! What is held until a row is on disk.

use rusqlite::Connection;

use crate::{
    Ack, CallRow, LedgerRow, Store, TurnRow,
    error::Fault,
    job::{Waits, Write},
    tables::{calls, ledger, turns},
};

/// A store that holds something until what is handed in through it is on disk, or will never be: it is dropped then, on
/// the writer's thread. Made by [`Store::holding`].
#[must_use]
pub struct Holding<'s, H> {
    store: &'s Store,
    held: H,
}

impl Store {
    /// Holds something until the row that is handed in through this is on disk: a call's place among those on their
    /// way ([`BegunCall`](crate::BegunCall)), say. It must hold no `Store`.
    pub fn holding<H: Send + 'static>(&self, held: H) -> Holding<'_, H> {
        Holding { store: self, held }
    }
}

impl<H: Send + 'static> Holding<'_, H> {
    /// As [`Store::spent`].
    pub fn spent(self, row: LedgerRow) -> Ack<()> {
        self.write(0, move |connection| ledger::insert(connection, &row))
    }

    /// As [`Store::call_ended`].
    pub fn call_ended(self, row: CallRow) -> Ack<()> {
        self.write(row.answer.len(), move |connection| calls::insert(connection, &row))
    }

    /// As [`Store::shadow_ended`].
    pub fn shadow_ended(self, row: CallRow, collection: String, shape: String) -> Ack<()> {
        self.write(row.answer.len(), move |connection| {
            calls::insert_shadow(connection, &row, &collection, &shape)
        })
    }

    /// As [`Store::turn_ended`]: it is held until the database has the turn.
    pub fn turn_ended(self, row: TurnRow) -> Ack<()> {
        let bytes = row.question.len() + row.answer.len() + row.why_json.len();
        if !self.store.0.ahead.note(&row) {
            return self.write(bytes, move |connection| turns::end(connection, &row));
        }
        let held = self.held;
        let work = move |connection: &Connection| with(&held, || turns::end(connection, &row));
        self.store.0.queue.push(Box::new(Write::ahead(bytes, work)), self.store.now());
        let (reply, ack) = Ack::new();
        let _ = reply.send(Ok(()));
        ack
    }

    fn write(
        self,
        bytes: usize,
        mut work: impl FnMut(&Connection) -> Result<(), Fault> + Send + 'static,
    ) -> Ack<()> {
        let held = self.held;
        self.store.write(Waits::Yes, bytes, move |connection| with(&held, || work(connection)))
    }
}

/// Whoever does this has it for as long as they are there to do it.
fn with<H, T>(_held: &H, work: impl FnOnce() -> T) -> T {
    work()
}
