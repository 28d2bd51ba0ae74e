//! The bounded queue in front of the writer, and with it the state of recording.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    RecordingState, StoreError,
    job::{Job, Waits},
};

/// Records that may wait, and what they may weigh together. One record is taken however heavy it is.
const MOST_WAITING: usize = 8_192;
const MOST_BYTES: usize = 256 * 1024 * 1024;

/// How long the writer leaves a disk that cannot be written alone.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// How long writes that are written ahead gather, and how many: a transaction costs as much as a hundred of them.
const GATHER: Duration = Duration::from_millis(100);
const GATHERED: usize = 256;

pub(crate) type Batch = VecDeque<Box<dyn Job>>;

#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Batch,
    /// Of these, the writes that somebody waits for.
    awaited: usize,
    /// What waits and what the writer has in hand.
    held: usize,
    held_bytes: usize,
    stopped: Option<Stopped>,
    /// Whether listeners were told that recording stopped.
    told: bool,
    closing: bool,
    nudged: bool,
    page_limit: Option<u32>,
}

struct Stopped {
    why: String,
    since_ms: i64,
    lost: u64,
    /// The disk refused a write (and not only: too much came at once).
    disk: bool,
}

/// What the writer does next.
pub(crate) enum Turn {
    Write(Batch),
    End,
}

impl Queue {
    /// Takes a write in, or settles it at once when it cannot be taken. Never waits.
    pub(crate) fn push(&self, mut job: Box<dyn Job>, now_ms: i64) {
        let mut state = self.lock();
        let refusal = if state.closing {
            Some(StoreError::Closed)
        } else if state.held > 0
            && (state.held >= MOST_WAITING || state.held_bytes.saturating_add(job.bytes()) > MOST_BYTES)
        {
            if job.waits() == Waits::Yes {
                state.lose(now_ms);
            }
            Some(StoreError::Lost)
        } else {
            match &state.stopped {
                Some(stopped) if stopped.disk && job.waits() == Waits::No => Some(not_now(&stopped.why)),
                _ => None,
            }
        };
        if let Some(error) = refusal {
            drop(state);
            job.fail(error);
            job.settle();
            return;
        }
        if state.stopped.as_ref().is_some_and(|stopped| stopped.disk) {
            job.fail(StoreError::RecordingStopped);
            job.settle();
        }
        state.held += 1;
        state.held_bytes = state.held_bytes.saturating_add(job.bytes());
        state.awaited += usize::from(!job.is_ahead());
        state.waiting.push_back(job);
        // The first of those that gather starts the writer's patience, the last ends it.
        let wakes = state.awaited > 0 || matches!(state.waiting.len(), 1 | GATHERED);
        drop(state);
        if wakes {
            self.wake.notify_all();
        }
    }

    /// Waits for something to write; while recording is stopped, for the time to try again.
    pub(crate) fn next(&self) -> Turn {
        let mut state = self.lock();
        if state.stopped.as_ref().is_some_and(|stopped| stopped.disk) {
            state = self
                .wake
                .wait_timeout_while(state, RETRY_AFTER, |state| !state.nudged && !state.closing)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        } else {
            state = self
                .wake
                .wait_while(state, |state| state.waiting.is_empty() && !state.closing && !state.nudged)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.awaited == 0 && state.waiting.len() < GATHERED && !state.closing && !state.nudged {
            let gathers = |state: &mut State| {
                state.awaited == 0 && state.waiting.len() < GATHERED && !state.closing && !state.nudged
            };
            state = self
                .wake
                .wait_timeout_while(state, GATHER, gathers)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        state.nudged = false;
        if state.waiting.is_empty() && state.closing {
            return Turn::End;
        }
        state.awaited = 0;
        Turn::Write(std::mem::take(&mut state.waiting))
    }

    /// The batch is on disk. Gives what listeners are to be told, if anything changed.
    pub(crate) fn written(&self, count: usize, bytes: usize) -> Vec<RecordingState> {
        let mut state = self.lock();
        state.held = state.held.saturating_sub(count);
        state.held_bytes = state.held_bytes.saturating_sub(bytes);
        let mut news = Vec::new();
        if let Some(stopped) = &state.stopped {
            if stopped.lost > 0 {
                tracing::error!(lost = stopped.lost, "records were lost while too many were waiting");
            }
            if !state.told {
                news.push(state.recording());
            }
            news.push(RecordingState::Ok);
            state.stopped = None;
            state.told = false;
        }
        news
    }

    /// The batch could not be written: it goes back to the front, and everybody who waits is told.
    /// Gives what listeners are to be told; `None` once the queue is closing, when the batch is given up.
    pub(crate) fn put_back(&self, batch: Batch, why: String, now_ms: i64) -> Option<Vec<RecordingState>> {
        let mut state = self.lock();
        let mut kept = Batch::new();
        let later = std::mem::take(&mut state.waiting);
        let closing = state.closing;
        for mut job in batch.into_iter().chain(later) {
            let keep = job.waits() == Waits::Yes && !closing;
            job.fail(if job.waits() == Waits::Yes { StoreError::RecordingStopped } else { not_now(&why) });
            job.settle();
            if keep {
                kept.push_back(job);
            } else {
                state.held = state.held.saturating_sub(1);
                state.held_bytes = state.held_bytes.saturating_sub(job.bytes());
            }
        }
        state.awaited = kept.iter().filter(|job| !job.is_ahead()).count();
        state.waiting = kept;
        match &mut state.stopped {
            Some(stopped) if stopped.disk => stopped.why = why,
            stopped => {
                let lost = stopped.as_ref().map_or(0, |stopped| stopped.lost);
                *stopped = Some(Stopped { why, since_ms: now_ms, lost, disk: true });
                state.told = false;
            }
        }
        if closing {
            return None;
        }
        let news = if state.told { Vec::new() } else { vec![state.recording()] };
        state.told = true;
        Some(news)
    }

    /// Work that has more to do goes behind what waits; a store that closes gives it up.
    pub(crate) fn put_last(&self, mut job: Box<dyn Job>) {
        let mut state = self.lock();
        if state.closing {
            drop(state);
            job.fail(StoreError::Closed);
            job.settle();
            return;
        }
        state.held += 1;
        state.held_bytes = state.held_bytes.saturating_add(job.bytes());
        state.awaited += 1;
        state.waiting.push_back(job);
    }

    pub(crate) fn recording(&self) -> RecordingState {
        self.lock().recording()
    }

    /// Lets the writer write what waits, and end.
    pub(crate) fn close(&self) {
        self.lock().closing = true;
        self.wake.notify_all();
    }

    /// Caps the file at so many pages, or lifts the cap; the writer tries again at once.
    pub(crate) fn limit_pages(&self, pages: Option<u32>) {
        let mut state = self.lock();
        state.page_limit = pages;
        state.nudged = true;
        drop(state);
        self.wake.notify_all();
    }

    pub(crate) fn page_limit(&self) -> Option<u32> {
        self.lock().page_limit
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn recording(&self) -> RecordingState {
        match &self.stopped {
            None => RecordingState::Ok,
            Some(stopped) => RecordingState::Stopped {
                why: stopped.why.clone(),
                since_ms: stopped.since_ms,
                waiting: self.held,
                lost: stopped.lost,
            },
        }
    }

    fn lose(&mut self, now_ms: i64) {
        let stopped = self.stopped.get_or_insert_with(|| Stopped {
            why: "records come faster than the disk takes them".to_owned(),
            since_ms: now_ms,
            lost: 0,
            disk: false,
        });
        stopped.lost += 1;
    }
}

fn not_now(why: &str) -> StoreError {
    StoreError::Unwritable { why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::{Ack, error::Fault, job::Write};

    fn push(queue: &Queue, bytes: usize, waits: Waits) -> Ack<()> {
        let (reply, ack) = Ack::new();
        let work = |_: &Connection| -> Result<(), Fault> { Ok(()) };
        queue.push(Box::new(Write::new(waits, bytes, work, reply)), 5);
        ack
    }

    /// What the writer does with a batch it can write.
    fn write_all(queue: &Queue) -> Vec<RecordingState> {
        let Turn::Write(mut batch) = queue.next() else { panic!("the queue ended") };
        let connection = Connection::open_in_memory().unwrap();
        batch.iter_mut().for_each(|job| job.run(&connection).unwrap());
        let news = queue.written(batch.len(), batch.iter().map(|job| job.bytes()).sum());
        batch.iter_mut().for_each(|job| job.settle());
        news
    }

    fn overrun(lost: u64, waiting: usize) -> RecordingState {
        let why = "records come faster than the disk takes them".to_owned();
        RecordingState::Stopped { why, since_ms: 5, waiting, lost }
    }

    #[test]
    fn what_is_too_much_is_lost_and_counted_and_the_rest_is_written() {
        let queue = Queue::default();
        let kept: Vec<_> = (0..MOST_WAITING).map(|_| push(&queue, 0, Waits::Yes)).collect();
        assert_eq!(queue.recording(), RecordingState::Ok);
        for _ in 0..2 {
            assert_eq!(push(&queue, 0, Waits::Yes).blocking_wait(), Err(StoreError::Lost));
        }
        // A change is refused, and told so; no record is lost by it.
        assert_eq!(push(&queue, 0, Waits::No).blocking_wait(), Err(StoreError::Lost));
        assert_eq!(queue.recording(), overrun(2, MOST_WAITING));

        assert_eq!(write_all(&queue), [overrun(2, 0), RecordingState::Ok]);
        assert!(kept.into_iter().all(|ack| ack.blocking_wait() == Ok(())));
        assert_eq!(queue.recording(), RecordingState::Ok);
        let next = push(&queue, 0, Waits::Yes);
        assert_eq!(write_all(&queue), []);
        assert_eq!(next.blocking_wait(), Ok(()));
    }

    #[test]
    fn what_weighs_too_much_is_lost_unless_it_is_alone() {
        let queue = Queue::default();
        let huge = push(&queue, usize::MAX, Waits::Yes);
        assert_eq!(push(&queue, 1, Waits::Yes).blocking_wait(), Err(StoreError::Lost));
        write_all(&queue);
        assert_eq!(huge.blocking_wait(), Ok(()));
        let half = push(&queue, MOST_BYTES / 2, Waits::Yes);
        let other_half = push(&queue, MOST_BYTES / 2, Waits::Yes);
        assert_eq!(push(&queue, 1, Waits::Yes).blocking_wait(), Err(StoreError::Lost));
        write_all(&queue);
        assert_eq!((half.blocking_wait(), other_half.blocking_wait()), (Ok(()), Ok(())));
    }

    #[test]
    fn a_batch_that_comes_back_stays_in_front_and_is_bounded_with_the_rest() {
        let queue = Queue::default();
        let first: Vec<_> = (0..MOST_WAITING).map(|_| push(&queue, 0, Waits::Yes)).collect();
        let Turn::Write(batch) = queue.next() else { panic!("the queue ended") };
        // In the writer's hand they still count.
        assert_eq!(push(&queue, 0, Waits::Yes).blocking_wait(), Err(StoreError::Lost));
        let stopped =
            RecordingState::Stopped { why: "full".to_owned(), since_ms: 9, waiting: MOST_WAITING, lost: 1 };
        assert_eq!(queue.put_back(batch, "full".to_owned(), 9), Some(vec![stopped]));
        assert!(first.into_iter().all(|ack| ack.blocking_wait() == Err(StoreError::RecordingStopped)));
        assert_eq!(queue.put_back(Batch::new(), "still full".to_owned(), 10), Some(Vec::new()));
        assert_eq!(push(&queue, 0, Waits::Yes).blocking_wait(), Err(StoreError::Lost));
        let expected = RecordingState::Stopped {
            why: "still full".to_owned(),
            since_ms: 9,
            waiting: MOST_WAITING,
            lost: 2,
        };
        assert_eq!(queue.recording(), expected);
        queue.limit_pages(None);
        assert_eq!(write_all(&queue), [RecordingState::Ok]);
    }

    #[test]
    fn what_comes_back_stays_in_front_of_what_came_since() {
        let queue = Queue::default();
        let first = [1, 2].map(|bytes| push(&queue, bytes, Waits::Yes));
        let Turn::Write(batch) = queue.next() else { panic!("the queue ended") };
        let refused = push(&queue, 3, Waits::No);
        let later = push(&queue, 4, Waits::Yes);
        queue.put_back(batch, "full".to_owned(), 9);
        // Everybody who waits is told at once, whatever had been taken in hand.
        let unwritable = StoreError::Unwritable { why: "full".to_owned() };
        assert_eq!(refused.blocking_wait(), Err(unwritable));
        for ack in first.into_iter().chain([later]) {
            assert_eq!(ack.blocking_wait(), Err(StoreError::RecordingStopped));
        }
        queue.limit_pages(None);
        let Turn::Write(batch) = queue.next() else { panic!("the queue ended") };
        assert_eq!(batch.iter().map(|job| job.bytes()).collect::<Vec<_>>(), [1, 2, 4]);
    }

    #[test]
    fn a_closing_queue_takes_nothing_and_ends_when_empty() {
        let queue = Queue::default();
        let before = push(&queue, 0, Waits::Yes);
        queue.close();
        assert_eq!(push(&queue, 0, Waits::Yes).blocking_wait(), Err(StoreError::Closed));
        write_all(&queue);
        assert_eq!(before.blocking_wait(), Ok(()));
        assert!(matches!(queue.next(), Turn::End));
    }
}
