/// A clock that is never set back. Time that is given twice passes once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// The latest that was told.
    latest_ms: i64,
    /// How far it is ahead of the one that is given.
    ahead_ms: i64,
}

/// A time may be older than one given before because its giver was slow to give it: that is waited for. A larger
/// step is of the clock itself, and time goes on from there.
const LATE_MS: i64 = 10_000;

impl Clock {
    pub(super) fn tick(&mut self, given_ms: i64) -> i64 {
        self.ahead_ms = self.ahead(given_ms);
        self.latest_ms = self.read(given_ms);
        self.latest_ms
    }

    /// As `tick`, for those who only look.
    pub(super) fn read(&self, given_ms: i64) -> i64 {
        given_ms.saturating_add(self.ahead(given_ms)).max(self.latest_ms)
    }

    /// When the clock that is given will say what this one does at `at_ms`.
    pub(super) fn as_given(&self, at_ms: i64, given_ms: i64) -> i64 {
        at_ms.saturating_sub(self.ahead(given_ms))
    }

    fn ahead(&self, given_ms: i64) -> i64 {
        match self.latest_ms.saturating_sub(given_ms.saturating_add(self.ahead_ms)) {
            step if step > LATE_MS => self.latest_ms.saturating_sub(given_ms),
            _ => self.ahead_ms,
        }
    }
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { latest_ms: i64::MIN / 2, ahead_ms: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stands_while_times_come_late_and_goes_on_after_a_step() {
        let mut clock = Clock::default();
        let day = 24 * 3_600_000;
        let given = [
            (1_000, 1_000),
            (900, 1_000),
            (1_001, 1_001),
            // Set back by a day: nothing has passed, then as much as passes.
            (1_001 - day, 1_001),
            (1_500 - day, 1_500),
            // Set right again, and on.
            (2_000, 2_000 + day),
            (2_001, 2_001 + day),
        ];
        for (given, wanted) in given {
            assert_eq!(clock.read(given), wanted, "{given}");
            assert_eq!(clock.tick(given), wanted, "{given}");
        }
    }
}
