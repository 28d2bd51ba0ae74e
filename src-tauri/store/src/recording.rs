//! Whether what happens is being written down, and who wants to know.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
};

/// Whether records reach the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordingState {
    Ok,
    Stopped {
        /// In plain words, with the way out.
        why: String,
        /// Unix milliseconds.
        since_ms: i64,
        /// Records kept in memory until the disk can be written again.
        waiting: usize,
        /// Records given up since it stopped, because too much was waiting.
        lost: u64,
    },
}

type Listener = Arc<dyn Fn(RecordingState) + Send + Sync>;

/// Those who are told when recording stops and resumes. They are called on the writer's thread only, so they
/// hear of changes in order.
#[derive(Default)]
pub(crate) struct Listeners(Mutex<Vec<Listener>>);

impl Listeners {
    pub(crate) fn add(&self, listener: impl Fn(RecordingState) + Send + Sync + 'static) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::new(listener));
    }

    pub(crate) fn tell(&self, state: &RecordingState) {
        let listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for listener in listeners {
            if catch_unwind(AssertUnwindSafe(|| listener(state.clone()))).is_err() {
                tracing::error!("a listener to the recording state failed");
            }
        }
    }
}
