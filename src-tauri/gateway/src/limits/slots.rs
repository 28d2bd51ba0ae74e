//! Who is there now: they come and go without a lock that anybody else takes, and are looked at one by one.

use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, PoisonError,
    atomic::{AtomicU64, Ordering},
};

/// Slots, and where all are taken more of them: as many as there were at once, for ever.
pub(crate) struct Slots<T> {
    /// A bit each.
    taken: AtomicU64,
    slots: [Mutex<Option<Arc<T>>>; MANY],
    more: OnceLock<Box<Slots<T>>>,
}

const MANY: usize = u64::BITS as usize;

impl<T> Slots<T> {
    /// Gives the slot, to be left.
    pub(crate) fn enter(&self, it: Arc<T>) -> usize {
        let (mut slots, mut first) = (self, 0);
        loop {
            if let Some(at) = slots.claim() {
                *lock(&slots.slots[at]) = Some(it);
                return first + at;
            }
            first += MANY;
            slots = slots.more.get_or_init(Box::default);
        }
    }

    /// Whoever has entered, once.
    pub(crate) fn leave(&self, slot: usize) {
        let mut slots = self;
        for _ in 0..slot / MANY {
            let Some(more) = slots.more.get() else { return };
            slots = more;
        }
        let at = slot % MANY;
        let it = lock(&slots.slots[at]).take();
        slots.taken.fetch_and(!(1 << at), Ordering::Release);
        drop(it);
    }

    /// Those that are there. Of one that comes or goes meanwhile nothing is said.
    pub(crate) fn each(&self, mut look: impl FnMut(&T)) {
        let mut slots = Some(self);
        while let Some(these) = slots {
            for slot in &these.slots {
                let it = lock(slot).clone();
                if let Some(it) = it {
                    look(&it);
                }
            }
            slots = these.more.get().map(|more| &**more);
        }
    }

    fn claim(&self) -> Option<usize> {
        let next = |taken: u64| (taken != u64::MAX).then(|| taken | (taken + 1));
        let before = self.taken.fetch_update(Ordering::Acquire, Ordering::Relaxed, next).ok()?;
        Some(before.trailing_ones() as usize)
    }
}

impl<T> Default for Slots<T> {
    fn default() -> Slots<T> {
        let slots = std::array::from_fn(|_| Mutex::default());
        Slots { taken: AtomicU64::default(), slots, more: OnceLock::new() }
    }
}

fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there(slots: &Slots<usize>) -> Vec<usize> {
        let mut there = Vec::new();
        slots.each(|it| there.push(*it));
        there.sort_unstable();
        there
    }

    #[test]
    fn whoever_enters_is_there_until_they_leave_and_slots_are_taken_again() {
        let slots = Slots::default();
        let entered: Vec<usize> = (0..3 * MANY).map(|it| slots.enter(Arc::new(it))).collect();
        assert_eq!(entered, (0..3 * MANY).collect::<Vec<_>>());
        assert_eq!(there(&slots), entered);
        for slot in [0, MANY - 1, MANY, 2 * MANY + 7] {
            slots.leave(slot);
            assert!(!there(&slots).contains(&slot));
            assert_eq!(slots.enter(Arc::new(1_000 + slot)), slot);
            assert!(there(&slots).contains(&(1_000 + slot)));
        }
        (0..3 * MANY).for_each(|slot| slots.leave(slot));
        assert!(there(&slots).is_empty());
    }

    #[test]
    fn of_many_at_once_each_has_a_slot_of_its_own() {
        let slots = Slots::default();
        std::thread::scope(|threads| {
            for thread in 0..4 {
                let slots = &slots;
                threads.spawn(move || {
                    for round in 0..200 {
                        let own: Vec<usize> = (0..50).map(|n| thread * 100_000 + round * 100 + n).collect();
                        let entered: Vec<usize> = own.iter().map(|it| slots.enter(Arc::new(*it))).collect();
                        let seen = there(slots);
                        assert!(own.iter().all(|it| seen.binary_search(it).is_ok()));
                        entered.into_iter().for_each(|slot| slots.leave(slot));
                    }
                });
            }
        });
        assert!(there(&slots).is_empty());
    }
}
