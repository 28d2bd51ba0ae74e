//! How often a key has asked within a minute that slides along.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::Duration,
};

const MINUTE_MS: i64 = 60_000;

/// The instants that still count, oldest first: as many as the key may ask at most. Its lock is this key's alone.
#[derive(Debug, Default)]
pub(super) struct Rate(Mutex<VecDeque<i64>>);

impl Rate {
    /// Takes a place among `most` in a minute.
    ///
    /// Errors: how long until there is one.
    pub(super) fn take(&self, most: u32, now_ms: i64) -> Result<(), Duration> {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // What lies ahead of a clock that was set back counts no longer than a minute either.
        let counts = |at_ms: &i64| (now_ms - MINUTE_MS + 1..=now_ms).contains(at_ms);
        while asked.front().is_some_and(|at_ms| !counts(at_ms)) {
            asked.pop_front();
        }
        match asked.front() {
            Some(oldest) if asked.len() >= most as usize => {
                Err(Duration::from_millis((oldest + MINUTE_MS - now_ms).unsigned_abs()))
            }
            _ => {
                asked.push_back(now_ms);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_more_than_its_count_in_any_minute() {
        let rate = Rate::default();
        let mut taken = Vec::new();
        for step in 0..4_000_i64 {
            // Bursts and gaps.
            let now_ms = step * 97 + (step % 7) * 13 + step / 500 * 40_000;
            match rate.take(20, now_ms) {
                Ok(()) => taken.push(now_ms),
                Err(wait) => {
                    let wait_ms = i64::try_from(wait.as_millis()).unwrap();
                    let then = now_ms + wait_ms;
                    let within = |at_ms: i64| taken.iter().filter(|it| **it > at_ms - MINUTE_MS).count();
                    assert!(within(then) < 20 && within(then - 1) == 20, "exactly so long");
                }
            }
        }
        let most = taken
            .iter()
            .map(|end| taken.iter().filter(|it| (end - MINUTE_MS + 1..=*end).contains(it)).count());
        assert_eq!(most.max(), Some(20));
    }

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out() {
        let rate = Rate::default();
        assert_eq!(rate.take(1, 10_000_000), Ok(()));
        assert_eq!(rate.take(1, 5_000_000), Ok(()));
        assert_eq!(rate.take(1, 5_000_001), Err(Duration::from_millis(59_999)));
    }
}
