//! The verbs.

mod facts;
mod gateway_keys;
mod holding;
mod ledger;
mod limits;
mod names;
mod onboarding;
mod routed;

use std::{
    fmt,
    fs::File,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use rusqlite::{Connection, InterruptHandle};

use crate::{
    Ack, AliasRecord, AuditEntry, AuditRow, CallRow, ClearOutcome, Hit, Judged, MovedAside, NewVerdict, Now,
    OpenOptions, PanelEnd, PanelRow, PlannedSeat, RecordFilter, RecordingState, ResponseChain, ResponseRow,
    SetupChange, SetupItem, ShapeRecord, StoreError, StoredCall, StoredPanel, VerdictEvent, VerdictOutcome,
    ahead::Ahead,
    backup,
    begun::Begun,
    error::Fault,
    files::RECORDS,
    job::{Slices, Waits, Write},
    migrate::TABLES,
    open,
    queue::Queue,
    readers::Readers,
    recording::Listeners,
    tables::{audit, calls, conversations, panels, record, responses, search, seats, setup, turns, verdicts},
    writer::Writer,
};

/// A data folder's records. A clone is the same store; it closes with the last of them.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

/// A store that was opened, and what happened on the way.
#[derive(Debug)]
pub struct Opened {
    pub store: Store,
    /// Set when the records were damaged; the store then starts empty.
    pub moved_aside: Option<MovedAside>,
    /// Panels that the last process left running: they are interrupted now.
    pub interrupted: u64,
}

struct Inner {
    folder: PathBuf,
    now: Now,
    queue: Arc<Queue>,
    ahead: Arc<Ahead>,
    begun: Arc<Begun>,
    listeners: Arc<Listeners>,
    readers: Readers,
    threads: Mutex<Threads>,
    backing_up: Arc<BackingUp>,
}

/// What ends with the store.
#[derive(Default)]
struct Threads {
    writer: Option<JoinHandle<()>>,
    backups: Vec<Backup>,
    /// Let go of last.
    lock: Option<File>,
}

#[derive(Default)]
struct BackingUp {
    /// Held by the backup that is being made: one at a time.
    turn: Mutex<()>,
    closing: AtomicBool,
}

struct Backup {
    thread: JoinHandle<()>,
    interrupt: InterruptHandle,
}

impl Store {
    /// Opens a data folder's records, or makes them.
    ///
    /// Errors: [`StoreError::Newer`] (nothing was changed), [`StoreError::Locked`] (open elsewhere), and
    /// [`StoreError::Io`] where the folder or the file cannot be used. A damaged file is no error: it is moved
    /// aside.
    pub fn open(options: OpenOptions) -> Result<Opened, StoreError> {
        let OpenOptions { path: folder, now, max_pages } = options;
        let now_ms = now();
        let mut ready = open::open(&folder, now_ms, TABLES)?;
        let io = |error| StoreError::io(&folder, error);
        let ahead = Ahead::open(&folder, &mut ready.connection, now_ms).map_err(io)?;
        let begun = Begun::open(&folder, &mut ready.connection, ahead.is_ahead(), now_ms).map_err(io)?;
        let (ahead, begun) = (Arc::new(ahead), Arc::new(begun));
        let queue = Arc::new(Queue::default());
        queue.limit_pages(max_pages);
        let listeners = Arc::new(Listeners::default());
        let writer =
            Writer::new(ready.connection, queue.clone(), ahead.clone(), listeners.clone(), now.clone());
        let writer = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || writer.run())
            .map_err(|error| StoreError::io(&folder, error))?;
        let threads = Threads { writer: Some(writer), backups: Vec::new(), lock: Some(ready.lock) };
        let readers = Readers::new(folder.join(RECORDS));
        let store = Store(Arc::new(Inner {
            folder,
            now,
            queue,
            ahead,
            begun,
            listeners,
            readers,
            threads: Mutex::new(threads),
            backing_up: Arc::default(),
        }));
        // On a full disk this waits with the other records; the panels then show as running for as long.
        let interrupted =
            store.write(Waits::Yes, 0, panels::interrupt_running).blocking_wait().unwrap_or_default();
        Ok(Opened { store, moved_aside: ready.moved_aside, interrupted })
    }

    /// Writes what waits, ends the writer and lets go of the files. Later verbs give
    /// [`StoreError::Closed`]. Closing again does nothing.
    pub fn close(&self) {
        self.0.close();
    }

    /// The set-up's documents, in the order they were added.
    pub fn setup_items(&self) -> Result<Vec<SetupItem>, StoreError> {
        self.read(setup::all)
    }

    /// Changes the set-up and notes it in the audit log: all of it or nothing. While recording is stopped it is
    /// refused and not made later.
    pub fn change_setup(&self, changes: Vec<SetupChange>, audit: Vec<AuditEntry>) -> Ack<()> {
        let at_ms = self.now();
        self.write(Waits::No, 0, move |connection| {
            changes.iter().try_for_each(|change| setup::apply(connection, change, at_ms))?;
            audit.iter().try_for_each(|entry| audit::insert(connection, entry, at_ms))
        })
    }

    /// The newest lines of the audit log, newest first.
    pub fn audit(&self, limit: u32) -> Result<Vec<AuditRow>, StoreError> {
        self.read(|connection| audit::newest(connection, limit))
    }

    /// A panel starts. A conflict when its id was used before.
    pub fn panel_started(&self, row: PanelRow) -> Ack<()> {
        let bytes = row.system.len() + row.prompt.len() + row.request_json.len();
        self.write(Waits::Yes, bytes, move |connection| panels::insert(connection, &row))
    }

    /// A panel that runs, or has ended, asks one more model: a stand-in, the merger.
    pub fn seat_added(&self, panel: String, seat: PlannedSeat) -> Ack<()> {
        self.write(Waits::Yes, 0, move |connection| {
            seats::insert(connection, &panel, std::slice::from_ref(&seat))
        })
    }

    /// A panel's seat was not sent in the end, and why: it has no call.
    pub fn seat_not_sent(&self, panel: String, call: String, why: String) -> Ack<()> {
        self.write(Waits::Yes, 0, move |connection| seats::not_sent(connection, &panel, &call, &why))
    }

    /// What the panel's task is has become known as it ran, and with it who was left out (a JSON array). Tells
    /// the verdicts that stood by then, each with the shape its call had before.
    pub fn panel_shaped(
        &self,
        panel: String,
        shape: String,
        shape_by: String,
        skipped_json: String,
    ) -> Ack<Vec<Judged>> {
        self.write(Waits::Yes, 0, move |connection| {
            panels::shape(connection, &panel, &shape, &shape_by, &skipped_json)?;
            let judged = calls::judged(connection, &panel)?;
            calls::shape(connection, &panel, &shape)?;
            Ok(judged)
        })
    }

    /// A seat's call ended. A conflict when its id was used before.
    pub fn call_ended(&self, row: CallRow) -> Ack<()> {
        self.holding(()).call_ended(row)
    }

    /// A panel ended. A conflict when it is not running. Calls of it that end later are still taken.
    pub fn panel_ended(&self, row: PanelEnd) -> Ack<()> {
        self.write(Waits::Yes, 0, move |connection| panels::end(connection, &row))
    }

    /// Gives a verdict on a call that ended. It takes the place of the one that stood, which stays in the
    /// history.
    pub fn give_verdict(&self, verdict: NewVerdict) -> Ack<VerdictOutcome> {
        let at_ms = self.now();
        self.write(Waits::Yes, 0, move |connection| verdicts::give(connection, &verdict, at_ms))
    }

    /// Withdraws the verdict that stands on a call.
    pub fn clear_verdict(&self, call: String, by: String) -> Ack<ClearOutcome> {
        let at_ms = self.now();
        self.write(Waits::Yes, 0, move |connection| verdicts::clear(connection, &call, &by, at_ms))
    }

    /// Every verdict given on a call and withdrawn from it, oldest first.
    pub fn verdict_history(&self, call: &str) -> Result<Vec<VerdictEvent>, StoreError> {
        self.read(|connection| verdicts::history(connection, call))
    }

    /// The newest panels with their calls and verdicts, newest first; with `before`, those older than that
    /// panel.
    pub fn panels(&self, before: Option<&str>, limit: u32) -> Result<Vec<StoredPanel>, StoreError> {
        self.read(|connection| panels::newest(connection, before, limit))
    }

    /// One panel with its calls and verdicts.
    pub fn panel(&self, id: &str) -> Result<Option<StoredPanel>, StoreError> {
        self.read(|connection| panels::one(connection, id))
    }

    /// One call with its verdict.
    pub fn call(&self, call: &str) -> Result<Option<StoredCall>, StoreError> {
        self.read(|connection| calls::one(connection, call))
    }

    /// Of the newest `panels` panels, those on which a verdict is owed, newest first, whole. Which of a
    /// panel's calls are owed, [`StoredCall::is_owed`] tells.
    pub fn owed(&self, panels: u32) -> Result<Vec<StoredPanel>, StoreError> {
        self.read(|connection| {
            let mut owed = Vec::new();
            for (panel, _) in calls::owed(connection, panels)? {
                owed.extend(panels::one(connection, &panel)?);
            }
            Ok(owed)
        })
    }

    /// How many verdicts are owed on the newest `panels` panels.
    pub fn owed_count(&self, panels: u32) -> Result<u32, StoreError> {
        self.read(|connection| Ok(calls::owed(connection, panels)?.iter().map(|(_, owed)| owed).sum()))
    }

    /// Of the calls named, those that are known, answered and were not judged, in the order named.
    pub fn pending(&self, calls: &[String]) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let mut pending = Vec::new();
            for call in calls {
                if calls::is_pending(connection, call)? {
                    pending.push(call.clone());
                }
            }
            Ok(pending)
        })
    }

    /// Each model's record, by alias. An alias that was never asked is not in it.
    pub fn record(&self, filter: RecordFilter) -> Result<Vec<AliasRecord>, StoreError> {
        self.read(|connection| record::by_alias(connection, &filter))
    }

    /// Every model's record by shape, practice models' too: what evidence is rebuilt from at start.
    pub fn record_by_shape(&self) -> Result<Vec<ShapeRecord>, StoreError> {
        self.read(record::by_shape)
    }

    /// Panels in which the words of `query` stand together, in the prompt, in an answer or in a verdict's note
    /// and claims; newest first, and with `before` those older than that panel. The last word may be the
    /// beginning of one. A query without a word finds nothing.
    pub fn search(&self, query: &str, before: Option<&str>, limit: u32) -> Result<Vec<Hit>, StoreError> {
        self.read(|connection| search::find(connection, query, before, limit))
    }

    /// Keeps a response. A conflict when its id was used before.
    pub fn keep_response(&self, row: ResponseRow) -> Ack<()> {
        let bytes = row.input.len() + row.body.len();
        self.write(Waits::Yes, bytes, move |connection| responses::insert(connection, &row))
    }

    /// What the caller of a response got, as JSON; `None` when it is not kept, another caller's, or older than
    /// `since_ms`.
    pub fn response(&self, id: &str, caller: &str, since_ms: i64) -> Result<Option<String>, StoreError> {
        self.read(|connection| responses::body(connection, (id, caller), since_ms))
    }

    /// A response of a caller's and all that it goes on from, however old those are, if they hold at most so much text.
    pub fn response_chain(
        &self,
        id: &str,
        caller: &str,
        since_ms: i64,
        most_bytes: usize,
    ) -> Result<ResponseChain, StoreError> {
        self.read(|connection| responses::chain(connection, (id, caller), since_ms, most_bytes))
    }

    /// Deletes a response of a caller's not older than `since_ms`; `false` when there was none. Its text stays, hidden, for as
    /// long as a later one goes on from it. While recording is stopped it is refused and not made later.
    pub fn delete_response(&self, id: String, caller: String, since_ms: i64) -> Ack<bool> {
        self.write(Waits::No, 0, move |connection| responses::delete(connection, (&id, &caller), since_ms))
    }

    /// Removes responses made before an instant (Unix milliseconds) that nothing younger goes on from, in slices,
    /// and gives how many that were.
    pub fn prune_responses(&self, older_than_ms: i64) -> Ack<u64> {
        self.in_slices(move |connection| responses::prune(connection, older_than_ms))
    }

    /// Answered when everything that was queued before is on disk; at once while recording is stopped.
    pub fn written(&self) -> Ack<()> {
        self.write(Waits::No, 0, |_| Ok(()))
    }

    /// Whether records reach the disk.
    pub fn recording(&self) -> RecordingState {
        self.0.queue.recording()
    }

    /// Calls `listener` on the writer's thread whenever recording stops or resumes. It must not wait for a
    /// write, nor hold a `Store`: that would keep the store open for ever.
    pub fn on_recording_change(&self, listener: impl Fn(RecordingState) + Send + Sync + 'static) {
        self.0.listeners.add(listener);
    }

    /// Empties prompts and answers from before an instant (Unix milliseconds), those of turns and the titles of
    /// conversations too, and gives how many panels, calls, turns and conversations that were. Counts, errors, notes
    /// and verdicts stay. It is done in slices, between which other writes are made. Backups made before still hold the text, until newer ones take their place.
    pub fn prune_text(&self, older_than_ms: i64) -> Ack<u64> {
        self.in_slices(move |connection| {
            Ok(panels::prune_text(connection, older_than_ms)?
                + calls::prune_text(connection, older_than_ms)?
                + conversations::prune_text(connection, older_than_ms)?
                + turns::prune_text(connection, older_than_ms)?)
        })
    }

    /// Makes a backup beside the writer, which goes on, and gives its path. The newest seven are kept.
    pub fn backup(&self) -> Ack<PathBuf> {
        self.0.backup()
    }

    /// Caps the file at so many pages of 4 KB, or lifts the cap, as [`OpenOptions::max_pages`] does.
    #[doc(hidden)]
    pub fn limit_pages(&self, pages: Option<u32>) {
        self.0.queue.limit_pages(pages);
    }

    /// Reads; what was written ahead is taken in first, so that nobody misses what they were told is there.
    fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, StoreError> {
        if self.0.ahead.is_ahead() {
            let _ = self.written().blocking_wait();
        }
        self.0.readers.read(read)
    }

    fn write<T: Send + 'static>(
        &self,
        waits: Waits,
        bytes: usize,
        work: impl FnMut(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Ack<T> {
        let (reply, ack) = Ack::new();
        self.0.queue.push(Box::new(Write::new(waits, bytes, work, reply)), self.now());
        ack
    }

    fn in_slices(&self, work: impl FnMut(&Connection) -> Result<u64, Fault> + Send + 'static) -> Ack<u64> {
        let (reply, ack) = Ack::new();
        self.0.queue.push(Box::new(Slices::new(work, reply)), self.now());
        ack
    }

    fn now(&self) -> i64 {
        (self.0.now)()
    }
}

impl Inner {
    fn backup(&self) -> Ack<PathBuf> {
        let (reply, ack) = Ack::new();
        // Held until the thread is among those that `close` waits for.
        let mut threads = lock(&self.threads);
        let connection = match self.readers.connect() {
            Ok(connection) => connection,
            Err(error) => {
                let _ = reply.send(Err(error));
                return ack;
            }
        };
        let interrupt = connection.get_interrupt_handle();
        let (folder, now_ms, backing_up) = (self.folder.clone(), (self.now)(), self.backing_up.clone());
        let thread = std::thread::Builder::new().name("store-backup".to_owned()).spawn(move || {
            let _turn = lock(&backing_up.turn);
            let outcome = match backing_up.closing.load(Ordering::Acquire) {
                true => Err(StoreError::Closed),
                false => backup::make(&connection, &folder, now_ms),
            };
            drop(connection);
            let _ = reply.send(outcome);
        });
        threads.backups.retain(|backup| !backup.thread.is_finished());
        match thread {
            Ok(thread) => threads.backups.push(Backup { thread, interrupt }),
            // The reply went with the thread's closure: the ack gives `Closed`.
            Err(error) => tracing::error!(%error, "no backup: a thread could not be started"),
        }
        ack
    }

    fn close(&self) {
        self.queue.close();
        self.readers.close();
        self.backing_up.closing.store(true, Ordering::Release);
        let mut threads = lock(&self.threads);
        for Backup { thread, interrupt } in threads.backups.drain(..) {
            // A backup is made again another day; a closing program does not wait for it.
            interrupt.interrupt();
            join(thread);
        }
        if let Some(writer) = threads.writer.take() {
            join(writer);
            self.ahead.close();
            // What was given up is on record at the next start for as long as its place is.
            if self.queue.recording() == RecordingState::Ok {
                self.begun.close();
            }
        }
        threads.lock = None;
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Store").field("folder", &self.0.folder).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}

fn join(thread: JoinHandle<()>) {
    // A listener that holds the last store closes it on the writer's own thread, which then ends by itself.
    if thread.thread().id() != std::thread::current().id() && thread.join().is_err() {
        tracing::error!("a thread of the store ended badly");
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
