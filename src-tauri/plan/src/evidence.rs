use std::collections::HashMap;

use crate::Shape;

/// What is known of every model's work, in counts: kept in memory, and updated as calls and verdicts are
/// written, so that seating a panel reads no disk. Nothing is kept per call.
///
/// A model nothing is known of has zeroes. Practice models have records here like any other; they are never
/// candidates beside real ones.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    models: HashMap<String, Work>,
}

/// A model's record for a shape.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Record {
    /// Of calls of this shape.
    pub shape: Tally,
    /// Of all calls.
    pub overall: Tally,
    pub suite: Suite,
}

/// Counts of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls whose standing verdict is useful.
    pub useful: u32,
    /// Calls with a standing verdict.
    pub judged: u32,
    pub offloads: u32,
    /// The latest, in ms since 1970; `None` is never.
    pub last_offload_ms: Option<i64>,
}

/// What test suites found of a model; zero until it has been through one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Suite {
    /// Findings that were verified as real.
    pub verified: u32,
    /// Tasks done.
    pub tasks: u32,
    /// 0 to 1: the part of what there was to find that it found.
    pub recall: f64,
}

/// How long a model has gone without real work: less is longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Staleness {
    /// Seats it holds right now: being seated counts at once, so that two panels in flight do not both pick
    /// the same stalest model.
    pub in_flight: u32,
    /// Its last offload, or, while it is seated, when it was last seated. Never is before everything.
    pub since_ms: Option<i64>,
}

#[derive(Clone, Debug, Default)]
struct Work {
    overall: Tally,
    /// A handful of shapes: a list is quicker than a map.
    by_shape: Vec<(Shape, Tally)>,
    suite: Suite,
    in_flight: u32,
    seated_ms: i64,
}

impl Evidence {
    /// Counts from a recount, added to what is there: how evidence is rebuilt at start, one call for each alias
    /// and shape.
    pub fn add(&mut self, alias: &str, shape: &Shape, counts: Tally) {
        self.change(alias, shape, |tally| tally.add(counts));
    }

    /// A call of a seat, or a routed conversation, has ended at that instant, whatever its status.
    pub fn offload(&mut self, alias: &str, shape: &Shape, at_ms: i64) {
        self.add(alias, shape, Tally { offloads: 1, last_offload_ms: Some(at_ms), ..Tally::default() });
    }

    /// A call's verdict has changed: `old` is what stood before (useful or not, `None` for no verdict), `new`
    /// what stands now.
    pub fn verdict(&mut self, alias: &str, shape: &Shape, old: Option<bool>, new: Option<bool>) {
        self.change(alias, shape, |tally| {
            let moved =
                |count: u32, was: bool, is: bool| (count + u32::from(is)).saturating_sub(u32::from(was));
            tally.judged = moved(tally.judged, old.is_some(), new.is_some());
            tally.useful = moved(tally.useful, old == Some(true), new == Some(true));
        });
    }

    /// What test suites have found of a model, in place of what was known.
    pub fn suite(&mut self, alias: &str, found: Suite) {
        self.work(alias).suite = found;
    }

    /// A model has taken a seat and is about to be asked. `released` must follow, once for each.
    pub fn seated(&mut self, alias: &str, now_ms: i64) {
        let work = self.work(alias);
        work.in_flight += 1;
        work.seated_ms = now_ms;
    }

    /// A seat has ended, or will never be asked. Its offload is told apart, before this.
    pub fn released(&mut self, alias: &str) {
        if let Some(work) = self.models.get_mut(alias) {
            work.in_flight = work.in_flight.saturating_sub(1);
        }
    }

    /// A model has a new alias, and its record follows; a record under the new alias is added to. Seats it holds
    /// stay with the alias they were taken under, which is the one they are released under.
    pub fn rename(&mut self, from: &str, to: &str) {
        if from == to {
            return;
        }
        let Some(moved) = self.models.remove(from) else { return };
        if moved.in_flight > 0 {
            let held = self.work(from);
            (held.in_flight, held.seated_ms) = (moved.in_flight, moved.seated_ms);
        }
        for (shape, tally) in &moved.by_shape {
            self.add(to, shape, *tally);
        }
        if moved.suite.tasks > 0 {
            self.work(to).suite = moved.suite;
        }
    }

    /// A model's record for a shape.
    pub fn record(&self, alias: &str, shape: &Shape) -> Record {
        let Some(work) = self.models.get(alias) else { return Record::default() };
        let of_shape = work.by_shape.iter().find(|(known, _)| known == shape);
        Record {
            shape: of_shape.map(|(_, tally)| *tally).unwrap_or_default(),
            overall: work.overall,
            suite: work.suite,
        }
    }

    /// Seats a model holds right now.
    pub fn in_flight(&self, alias: &str) -> u32 {
        self.models.get(alias).map_or(0, |work| work.in_flight)
    }

    pub(crate) fn staleness(&self, alias: &str) -> Staleness {
        match self.models.get(alias) {
            None => Staleness { in_flight: 0, since_ms: None },
            Some(work) if work.in_flight > 0 => {
                Staleness { in_flight: work.in_flight, since_ms: Some(work.seated_ms) }
            }
            Some(work) => Staleness { in_flight: 0, since_ms: work.overall.last_offload_ms },
        }
    }

    fn change(&mut self, alias: &str, shape: &Shape, change: impl Fn(&mut Tally)) {
        let work = self.work(alias);
        change(&mut work.overall);
        match work.by_shape.iter_mut().find(|(known, _)| known == shape) {
            Some((_, tally)) => change(tally),
            None => {
                let mut tally = Tally::default();
                change(&mut tally);
                work.by_shape.push((shape.clone(), tally));
            }
        }
    }

    fn work(&mut self, alias: &str) -> &mut Work {
        self.models.entry(alias.to_owned()).or_default()
    }
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.useful += other.useful;
        self.judged += other.judged;
        self.offloads += other.offloads;
        self.last_offload_ms = self.last_offload_ms.max(other.last_offload_ms);
    }
}
