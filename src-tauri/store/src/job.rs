//! One write, as the writer sees it: something to run in a transaction, as often as it takes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{StoreError, error::Fault};

/// Whether a write waits for a disk that cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// A record: it is kept in memory and written when that is possible again.
    Yes,
    /// A change somebody asked for: told that it failed, they must not find it made later.
    No,
}

pub(crate) trait Job: Send {
    /// Does the work and keeps its outcome for [`Job::settle`]. A fault that stops recording is handed back;
    /// the work is then run again later.
    fn run(&mut self, connection: &Connection) -> Result<(), Fault>;
    /// Replaces the outcome.
    fn fail(&mut self, error: StoreError);
    /// Tells whoever waits, once.
    fn settle(&mut self);
    /// Whether it has more to do, in a transaction of its own behind what waits by now.
    fn has_more(&self) -> bool {
        false
    }
    fn waits(&self) -> Waits;
    /// Whether it is written ahead of the database: nobody waits for it, and it may be gathered with others.
    fn is_ahead(&self) -> bool {
        false
    }
    /// About how many bytes it holds.
    fn bytes(&self) -> usize;
}

pub(crate) struct Write<T, W> {
    work: W,
    waits: Waits,
    bytes: usize,
    outcome: Option<Result<T, StoreError>>,
    reply: Option<oneshot::Sender<Result<T, StoreError>>>,
    ahead: bool,
}

impl<T, W> Write<T, W> {
    pub(crate) fn new(
        waits: Waits,
        bytes: usize,
        work: W,
        reply: oneshot::Sender<Result<T, StoreError>>,
    ) -> Write<T, W> {
        Write { work, waits, bytes, outcome: None, reply: Some(reply), ahead: false }
    }

    /// Of what is written ahead.
    pub(crate) fn ahead(bytes: usize, work: W) -> Write<T, W> {
        Write { work, waits: Waits::Yes, bytes, outcome: None, reply: None, ahead: true }
    }
}

impl<T, W> Job for Write<T, W>
where
    T: Send,
    W: FnMut(&Connection) -> Result<T, Fault> + Send,
{
    fn run(&mut self, connection: &Connection) -> Result<(), Fault> {
        self.outcome = Some(Ok(caught(|| (self.work)(connection))?));
        Ok(())
    }

    fn fail(&mut self, error: StoreError) {
        self.outcome = Some(Err(error));
    }

    fn settle(&mut self) {
        let Some(outcome) = self.outcome.take() else { return };
        match (self.reply.take(), outcome) {
            // Nobody waiting any more is no error: the write was made.
            (Some(reply), outcome) => drop(reply.send(outcome)),
            (None, Ok(_)) => {}
            (None, Err(error)) => tracing::error!(%error, "a record kept in memory could not be written"),
        }
    }

    fn waits(&self) -> Waits {
        self.waits
    }

    fn is_ahead(&self) -> bool {
        self.ahead
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Work that would hold the writer up if it were done at once: it is done slice by slice, until a slice has
/// nothing left to do. Its outcome is the sum.
pub(crate) struct Slices<W> {
    work: W,
    total: u64,
    has_more: bool,
    error: Option<StoreError>,
    reply: Option<oneshot::Sender<Result<u64, StoreError>>>,
}

impl<W> Slices<W> {
    pub(crate) fn new(work: W, reply: oneshot::Sender<Result<u64, StoreError>>) -> Slices<W> {
        Slices { work, total: 0, has_more: true, error: None, reply: Some(reply) }
    }
}

impl<W> Job for Slices<W>
where
    W: FnMut(&Connection) -> Result<u64, Fault> + Send,
{
    fn run(&mut self, connection: &Connection) -> Result<(), Fault> {
        let done = caught(|| (self.work)(connection))?;
        self.total += done;
        self.has_more = done > 0;
        Ok(())
    }

    fn fail(&mut self, error: StoreError) {
        self.error = Some(error);
        self.has_more = false;
    }

    fn settle(&mut self) {
        if let Some(reply) = self.reply.take() {
            drop(reply.send(self.error.take().map_or(Ok(self.total), Err)));
        }
    }

    fn has_more(&self) -> bool {
        self.has_more
    }

    fn waits(&self) -> Waits {
        Waits::No
    }

    fn bytes(&self) -> usize {
        0
    }
}

/// A read in the writer's turn, and what is done with it on the writer's thread: just then what was handed in before is
/// on disk and let go of, and what was handed in after is neither.
pub(crate) struct Between<T, R, F> {
    read: R,
    found: Option<Result<T, StoreError>>,
    then: Option<F>,
}

impl<T, R, F> Between<T, R, F> {
    pub(crate) fn new(read: R, then: F) -> Between<T, R, F> {
        Between { read, found: None, then: Some(then) }
    }
}

impl<T, R, F> Job for Between<T, R, F>
where
    T: Send,
    R: FnMut(&Connection) -> Result<T, Fault> + Send,
    F: FnOnce(Result<T, StoreError>) + Send,
{
    fn run(&mut self, connection: &Connection) -> Result<(), Fault> {
        self.found = Some(Ok(caught(|| (self.read)(connection))?));
        Ok(())
    }

    fn fail(&mut self, error: StoreError) {
        self.found = Some(Err(error));
    }

    fn settle(&mut self) {
        let (Some(found), Some(then)) = (self.found.take(), self.then.take()) else { return };
        if catch_unwind(AssertUnwindSafe(|| then(found))).is_err() {
            tracing::error!("what was to be done between two writes failed");
        }
    }

    fn waits(&self) -> Waits {
        Waits::No
    }

    fn bytes(&self) -> usize {
        0
    }
}

/// A panic in one write must not take the writer, and with it every other record, down.
fn caught<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Fault::Refused(StoreError::Sql("a write failed inside".to_owned()))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ack;

    #[test]
    fn a_panic_inside_a_write_is_its_own_error() {
        let connection = Connection::open_in_memory().unwrap();
        let (reply, ack) = Ack::<()>::new();
        let mut job = Write::new(Waits::Yes, 0, |_: &Connection| panic!("inside"), reply);
        let fault = job.run(&connection).unwrap_err();
        assert_eq!(fault.stops_recording(), None);
        job.fail(fault.into());
        job.settle();
        assert_eq!(ack.blocking_wait(), Err(StoreError::Sql("a write failed inside".to_owned())));
    }
}
