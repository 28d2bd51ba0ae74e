//! Callers that are let in by no key are answered ever more slowly. Whoever has a good key never waits here.

use std::{
    sync::atomic::{AtomicI64, AtomicU32, Ordering},
    time::Duration,
};

/// The first few are answered at once: a client that was just set up tries more than one route.
const FREE: u32 = 3;
const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);
/// After so long without one all is forgiven.
const FORGOTTEN_MS: i64 = 60_000;
/// Who waits here takes one of the gateway's open requests: no more than this, so that nobody can take them all.
const WAITING: u32 = 64;

/// Of the whole gateway: its peers are programs of one machine.
#[derive(Debug, Default)]
pub(super) struct Slowed {
    failures: AtomicU32,
    last_ms: AtomicI64,
    waiting: AtomicU32,
}

/// One that waits.
struct Waits<'a>(&'a AtomicU32);

impl Slowed {
    /// A request was refused for its key: it is answered after this. It holds no lock.
    pub(super) async fn wait(&self, now_ms: i64) {
        let wait = self.failed(now_ms);
        if wait.is_zero() {
            return;
        }
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waits = Waits(&self.waiting);
        if before < WAITING {
            tokio::time::sleep(wait).await;
        }
    }

    fn failed(&self, now_ms: i64) -> Duration {
        let last_ms = self.last_ms.swap(now_ms, Ordering::Relaxed);
        if now_ms.saturating_sub(last_ms) >= FORGOTTEN_MS {
            self.failures.store(0, Ordering::Relaxed);
        }
        let before = self.failures.fetch_add(1, Ordering::Relaxed).min(u32::MAX / 2);
        match before.checked_sub(FREE) {
            None => Duration::ZERO,
            Some(doublings) => FIRST.saturating_mul(1 << doublings.min(16)).min(LONGEST),
        }
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound_and_are_forgotten() {
        let slowed = Slowed::default();
        let waits: Vec<_> = (0..12).map(|at| slowed.failed(100_000 + at).as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 50, 100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000]);
        assert_eq!(slowed.failed(100_011 + FORGOTTEN_MS), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn those_that_would_be_too_many_wait_not_at_all() {
        let slowed = Slowed::default();
        for _ in 0..20 {
            slowed.failed(100_000);
        }
        let all = futures_util::future::join_all((0..WAITING).map(|_| slowed.wait(100_000)));
        let begun = tokio::time::Instant::now();
        tokio::select! {
            biased;
            _ = all => panic!("they wait"),
            () = async { tokio::task::yield_now().await; slowed.wait(100_000).await } => {}
        }
        assert_eq!(begun.elapsed(), Duration::ZERO);
        slowed.wait(100_000).await;
        assert_eq!(begun.elapsed(), LONGEST, "those that waited are gone");
    }
}
