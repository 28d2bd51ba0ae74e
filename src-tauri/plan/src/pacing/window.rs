use std::collections::VecDeque;

/// What was sent within a stretch of time that slides along.
///
/// It is kept in buckets, so that a month of calls takes no more room than a minute of them. A bucket counts whole
/// until the newest in it has left: what is counted is never less than what was sent.
#[derive(Clone, Debug)]
pub(super) struct Window {
    length_ms: i64,
    bucket_ms: i64,
    /// By time. Those of calls that are still being waited for lie ahead of now.
    buckets: VecDeque<Bucket>,
    total: Counts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub requests: u64,
    pub tokens: u64,
}

/// Which of the two a rule counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    Requests,
    Tokens,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Its place on the line of buckets.
    index: i64,
    newest_ms: i64,
    counts: Counts,
}

impl Window {
    pub(super) fn new(length_ms: i64, bucket_ms: i64) -> Window {
        Window { length_ms, bucket_ms, buckets: VecDeque::new(), total: Counts::default() }
    }

    /// From when on a rule has room for `need` more, `now_ms` at the earliest; `None` where it never has.
    ///
    /// Calls that are booked ahead count as if they were sent: whatever goes before them must leave them their room.
    /// It walks over what has to leave first: no step where there is room now, the number of buckets at most.
    pub(super) fn room_from(&self, measure: Measure, need: u64, limit: u64, now_ms: i64) -> Option<i64> {
        let most = limit.checked_sub(need)?;
        let mut counted = self.total.of(measure);
        let mut from = now_ms;
        for bucket in &self.buckets {
            let leaves = bucket.newest_ms.saturating_add(self.length_ms);
            if counted <= most && leaves > now_ms {
                return Some(from);
            }
            counted = counted.saturating_sub(bucket.counts.of(measure));
            from = from.max(leaves);
        }
        (counted <= most).then_some(from)
    }

    /// What counts now, calls that are booked ahead included.
    pub(super) fn counted(&self, now_ms: i64) -> Counts {
        let gone = self.buckets.iter().take_while(|bucket| self.is_gone(bucket, now_ms));
        gone.fold(self.total, |counted, bucket| counted.less(bucket.counts))
    }

    pub(super) fn add(&mut self, at_ms: i64, counts: Counts) {
        let index = at_ms.div_euclid(self.bucket_ms);
        self.total = self.total.and(counts);
        match self.buckets.binary_search_by_key(&index, |bucket| bucket.index) {
            Ok(at) => {
                let bucket = &mut self.buckets[at];
                bucket.newest_ms = bucket.newest_ms.max(at_ms);
                bucket.counts = bucket.counts.and(counts);
            }
            Err(at) => self.buckets.insert(at, Bucket { index, newest_ms: at_ms, counts }),
        }
    }

    /// What was added at that time was something else; nothing changes when it does not count any more.
    pub(super) fn correct(&mut self, at_ms: i64, was: Counts, is: Counts) {
        let index = at_ms.div_euclid(self.bucket_ms);
        if let Ok(at) = self.buckets.binary_search_by_key(&index, |bucket| bucket.index) {
            let bucket = &mut self.buckets[at];
            bucket.counts = bucket.counts.less(was).and(is);
            self.total = self.total.less(was).and(is);
        }
    }

    /// Forgets what has left.
    pub(super) fn forget(&mut self, now_ms: i64) {
        while let Some(bucket) = self.buckets.front().copied().filter(|bucket| self.is_gone(bucket, now_ms)) {
            self.total = self.total.less(bucket.counts);
            self.buckets.pop_front();
        }
    }

    pub(super) fn clear(&mut self) {
        self.buckets.clear();
        self.total = Counts::default();
    }

    fn is_gone(&self, bucket: &Bucket, now_ms: i64) -> bool {
        bucket.newest_ms.saturating_add(self.length_ms) <= now_ms
    }
}

impl Counts {
    pub(super) fn of(self, measure: Measure) -> u64 {
        match measure {
            Measure::Requests => self.requests,
            Measure::Tokens => self.tokens,
        }
    }

    fn and(self, other: Counts) -> Counts {
        Counts {
            requests: self.requests.saturating_add(other.requests),
            tokens: self.tokens.saturating_add(other.tokens),
        }
    }

    fn less(self, other: Counts) -> Counts {
        Counts {
            requests: self.requests.saturating_sub(other.requests),
            tokens: self.tokens.saturating_sub(other.tokens),
        }
    }
}
