//! Waiting for what must happen, and giving up loudly when it does not.

use std::{future::Future, time::Duration};

/// Longer than anything here takes on a loaded machine; reached only when something hangs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Awaits `work`; panics naming `what` when it hangs.
pub async fn within<T>(what: &str, work: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(done) => done,
        Err(_) => panic!("nothing after {} s: {what}", PATIENCE.as_secs()),
    }
}

/// Asks again and again until `probe` has an answer; for what can only be looked at, not waited for.
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut probe: impl FnMut() -> F) -> T {
    within(what, async {
        loop {
            if let Some(found) = probe().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
}
