//! A gate that a script waits at and a test opens.

use std::sync::Arc;

use tokio::sync::watch;

/// Shut when made. Clones are the same gate.
#[derive(Clone, Debug)]
pub struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    pub fn shut() -> Self {
        Gate(Arc::new(watch::Sender::new(false)))
    }

    /// Lets everybody through, now and later.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    pub fn is_open(&self) -> bool {
        *self.0.borrow()
    }

    pub async fn passed(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.0.subscribe().wait_for(|open| *open).await;
    }
}
