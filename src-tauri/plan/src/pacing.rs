//! Rules of how much may be sent, kept before a provider has to (providers.md §5).

mod clock;
mod rule;
mod window;

use std::collections::{HashMap, HashSet};

use catalog::Limits;

pub use self::rule::{Axis, Rule};
use self::{
    clock::Clock,
    rule::{Span, set},
    window::{Counts, Measure, Window},
};
use crate::Place;

/// What was sent to each place that has rules, and what is under way there. Times are ms since 1970; of a clock that
/// is set back only the step is lost.
///
/// A call counts at the time it is sent, with what it may take at most; once it has ended, with what it took. Whoever
/// has no rules need not ask: see [`Rules::is_empty`].
#[derive(Clone, Debug, Default)]
pub struct Pacing {
    clock: Clock,
    traffic: Vec<Traffic>,
    connections: HashMap<String, usize>,
    /// By endpoint and served name.
    models: HashMap<String, HashMap<String, usize>>,
    under_way: HashMap<u64, Sent>,
    taken: u64,
}

/// The rules that a call has to keep.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// What shares a rate limit (`catalog::connection`), and its endpoint's limits.
    pub connection: (&'a str, &'a Limits),
    /// Endpoint, served name, and the model's own limits.
    pub model: (&'a str, &'a str, &'a Limits),
}

/// What a call is going to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// The estimate of its input.
    pub input: u64,
    /// What its answer may have at most. It counts in full until the call has ended, and of what is larger than a
    /// rule, as much as the rule allows: such a call is sent when nothing else is counted.
    pub output: u64,
}

/// What becomes of a call. One that has a place is settled, once.
#[derive(Debug, PartialEq, Eq)]
pub enum Pace {
    Go(Reserved),
    /// It has its place, and is sent so many ms later, without asking again: 1 to 2000.
    Wait {
        ms: i64,
        reserved: Reserved,
    },
    /// Not to be sent.
    No(Paced),
}

/// Why a call is not sent. Its display is the rule's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule}")]
pub struct Paced {
    /// The one that would let it go last.
    pub rule: Rule,
    /// When there is room, if nobody else takes it; `None` where the call is larger than the rule allows.
    pub until_ms: Option<i64>,
}

/// A call's place among what is counted.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a place that is not settled counts with all that its call might have taken"]
pub struct Reserved(u64);

/// What became of a call that had a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It was sent, so many times; `tokens` in and out, `None` where nobody counted them: the place then stays as it
    /// was.
    Sent { requests: u32, tokens: Option<u64> },
    /// It was not.
    Nothing,
}

/// What was sent to a place at a time, as the ledger says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    pub place: Place,
    pub at_ms: i64,
    pub requests: u64,
    pub tokens: u64,
}

/// How a rule stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    pub axis: Axis,
    pub limit: u64,
    /// What counts now, what is under way included.
    pub used: u64,
}

/// What was sent to one place.
#[derive(Clone, Debug)]
struct Traffic {
    minute: Window,
    day: Window,
    month: Window,
}

/// A call that is under way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at_ms: i64,
    tokens: u64,
    /// The places it counts at.
    at: [Option<usize>; 2],
}

/// Longer than this nobody waits: the work goes to somebody else.
const LONGEST_WAIT_MS: i64 = 2_000;

impl Pacing {
    /// Takes a place for a call, or says which rule is in the way. One that waits has its place already, so nobody
    /// who comes later can keep it from being sent.
    pub fn ask(&mut self, rules: &Rules<'_>, tokens: Tokens, now_ms: i64) -> Pace {
        let now = self.clock.tick(now_ms);
        let at = [self.connection(rules), self.model(rules)];
        for at in at.into_iter().flatten() {
            self.traffic[at].each().for_each(|window| window.forget(now));
        }
        match self.wait(rules, tokens, now).map_err(|paced| self.told(paced, now_ms)) {
            Ok(ms) => {
                let sent = Sent { at_ms: now + ms, tokens: rules.reserved(tokens), at };
                self.count(&sent);
                self.taken += 1;
                self.under_way.insert(self.taken, sent);
                let reserved = Reserved(self.taken);
                if ms == 0 { Pace::Go(reserved) } else { Pace::Wait { ms, reserved } }
            }
            Err(paced) => Pace::No(paced),
        }
    }

    /// What `ask` would refuse a call for, without asking.
    pub fn look(&self, rules: &Rules<'_>, tokens: Tokens, now_ms: i64) -> Option<Paced> {
        self.wait(rules, tokens, self.clock.read(now_ms)).err().map(|paced| self.told(paced, now_ms))
    }

    /// A call has ended, or was never sent: it counts with what it was.
    pub fn settle(&mut self, reserved: Reserved, settled: Settled) {
        let Some(sent) = self.under_way.remove(&reserved.0) else { return };
        let was = Counts { requests: 1, tokens: sent.tokens };
        let is = match settled {
            Settled::Sent { requests, tokens } => {
                Counts { requests: requests.into(), tokens: tokens.unwrap_or(sent.tokens) }
            }
            Settled::Nothing => Counts::default(),
        };
        for at in sent.at.into_iter().flatten() {
            self.traffic[at].each().for_each(|window| window.correct(sent.at_ms, was, is));
        }
    }

    /// The tokens that a call counts with until it has ended.
    pub fn held(&self, reserved: &Reserved) -> u64 {
        self.under_way.get(&reserved.0).map_or(0, |sent| sent.tokens)
    }

    /// What the ledger holds of these places and of others that it names, oldest first, in place of all that was known of
    /// them but what is under way: at start, and where rules are new. A month back is enough; what lies ahead of now
    /// counts as sent now.
    pub fn load(&mut self, places: &[Place], spent: impl IntoIterator<Item = Spent>, now_ms: i64) {
        let mut loaded: HashSet<usize> = places.iter().filter_map(|place| self.at(place)).collect();
        for at in &loaded {
            self.traffic[*at].each().for_each(Window::clear);
        }
        for spent in spent {
            let at = self.named(&spent.place);
            if loaded.insert(at) {
                self.traffic[at].each().for_each(Window::clear);
            }
            self.add(&spent, now_ms);
        }
        let under_way: Vec<Sent> = self.under_way.values().copied().collect();
        for sent in under_way {
            let at = sent.at.map(|at| at.filter(|at| loaded.contains(at)));
            self.count(&Sent { at, ..sent });
        }
    }

    /// A call that was sent at `at_ms`, before there were these rules or one of them, counts by them too from now on, as
    /// one that had asked; twice by none. Where it has no place yet it gets one, to be settled.
    pub fn hold(
        &mut self,
        rules: &Rules<'_>,
        tokens: Tokens,
        at_ms: i64,
        reserved: &mut Option<Reserved>,
        now_ms: i64,
    ) {
        if rules.is_empty() {
            return;
        }
        let now = self.clock.tick(now_ms);
        let places = [self.connection(rules), self.model(rules)];
        let at_ms = at_ms.saturating_add(now.saturating_sub(now_ms)).min(now);
        let unplaced = Sent { at_ms, tokens: rules.reserved(tokens), at: [None; 2] };
        let Reserved(id) = reserved.get_or_insert_with(|| {
            self.taken += 1;
            Reserved(self.taken)
        });
        let sent = self.under_way.entry(*id).or_insert(unplaced);
        let mut new = Sent { at: [None; 2], ..*sent };
        for ((at, known), place) in new.at.iter_mut().zip(&mut sent.at).zip(places) {
            if known.is_none() {
                (*at, *known) = (place, place);
            }
        }
        self.count(&new);
    }

    /// What was sent before there was a rule for it, and has ended, beside what is known.
    pub fn add(&mut self, spent: &Spent, now_ms: i64) {
        let now = self.clock.tick(now_ms);
        let at = self.named(&spent.place);
        let at_ms = spent.at_ms.saturating_add(now.saturating_sub(now_ms)).min(now);
        for window in self.traffic[at].each() {
            window.add(at_ms, Counts { requests: spent.requests, tokens: spent.tokens });
            window.forget(now);
        }
    }

    /// How the rules of a place stand, in the order of the set-up file.
    pub fn used(&self, place: &Place, limits: &Limits, now_ms: i64) -> Vec<Used> {
        let now = self.clock.read(now_ms);
        let traffic = self.at(place).map(|at| &self.traffic[at]);
        let used =
            |axis: Axis| traffic.map_or(0, |it| it.window(axis.span()).counted(now).of(axis.measure()));
        set(limits).map(|(axis, limit)| Used { axis, limit, used: used(axis) }).collect()
    }

    /// Calls under way at a place.
    pub fn in_flight(&self, place: &Place) -> usize {
        let Some(at) = self.at(place) else { return 0 };
        self.under_way.values().filter(|sent| sent.at.contains(&Some(at))).count()
    }

    /// How long a call waits for its place: 2 s at most, and not at all where a rule is in the way for longer.
    /// By our own clock.
    fn wait(&self, rules: &Rules<'_>, tokens: Tokens, now: i64) -> Result<i64, Paced> {
        let reserved = rules.reserved(tokens);
        let (connection, connection_limits) = rules.connection;
        let (endpoint, served, model_limits) = rules.model;
        let (connection_at, model_at) = (self.connection_at(connection), self.model_at(endpoint, served));
        let every = set(connection_limits)
            .map(|it| (connection_at, true, it))
            .chain(set(model_limits).map(|it| (model_at, false, it)));
        let mut longest = 0;
        let mut last = None;
        for (at, of_connection, (axis, limit)) in every {
            let need = match axis.measure() {
                Measure::Requests => 1,
                Measure::Tokens => reserved,
            };
            let from = match at {
                Some(at) => self.traffic[at].window(axis.span()).room_from(axis.measure(), need, limit, now),
                None => (need <= limit).then_some(now),
            };
            let rule = || {
                let place = match of_connection {
                    true => Place::Connection(connection.to_owned()),
                    false => Place::Model { endpoint: endpoint.to_owned(), served: served.to_owned() },
                };
                Rule { place, axis, limit }
            };
            let Some(from) = from else { return Err(Paced { rule: rule(), until_ms: None }) };
            if from - now > longest {
                longest = from - now;
                last = (longest > LONGEST_WAIT_MS).then(rule);
            }
        }
        match last {
            Some(rule) => Err(Paced { rule, until_ms: Some(now.saturating_add(longest)) }),
            None => Ok(longest),
        }
    }

    /// By the clock that is given.
    fn told(&self, paced: Paced, now_ms: i64) -> Paced {
        Paced { until_ms: paced.until_ms.map(|until| self.clock.as_given(until, now_ms)), ..paced }
    }

    fn count(&mut self, sent: &Sent) {
        let counts = Counts { requests: 1, tokens: sent.tokens };
        for at in sent.at.into_iter().flatten() {
            self.traffic[at].each().for_each(|window| window.add(sent.at_ms, counts));
        }
    }

    /// Where a place's traffic is, when it has any.
    fn at(&self, place: &Place) -> Option<usize> {
        match place {
            Place::Connection(connection) => self.connection_at(connection),
            Place::Model { endpoint, served } => self.model_at(endpoint, served),
        }
    }

    fn connection_at(&self, connection: &str) -> Option<usize> {
        self.connections.get(connection).copied()
    }

    fn model_at(&self, endpoint: &str, served: &str) -> Option<usize> {
        self.models.get(endpoint)?.get(served).copied()
    }

    fn connection(&mut self, rules: &Rules<'_>) -> Option<usize> {
        let (connection, limits) = rules.connection;
        (!limits.is_empty()).then(|| self.connection_named(connection))
    }

    fn model(&mut self, rules: &Rules<'_>) -> Option<usize> {
        let (endpoint, served, limits) = rules.model;
        (!limits.is_empty()).then(|| self.model_named(endpoint, served))
    }

    fn named(&mut self, place: &Place) -> usize {
        match place {
            Place::Connection(connection) => self.connection_named(connection),
            Place::Model { endpoint, served } => self.model_named(endpoint, served),
        }
    }

    fn connection_named(&mut self, connection: &str) -> usize {
        if let Some(at) = self.connection_at(connection) {
            return at;
        }
        let at = self.room();
        self.connections.insert(connection.to_owned(), at);
        at
    }

    fn model_named(&mut self, endpoint: &str, served: &str) -> usize {
        if let Some(at) = self.model_at(endpoint, served) {
            return at;
        }
        let at = self.room();
        self.models.entry(endpoint.to_owned()).or_default().insert(served.to_owned(), at);
        at
    }

    fn room(&mut self) -> usize {
        self.traffic.push(Traffic::default());
        self.traffic.len() - 1
    }
}

impl Rules<'_> {
    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        self.connection.1.is_empty() && self.model.2.is_empty()
    }

    /// What a call counts with until it has ended.
    fn reserved(&self, tokens: Tokens) -> u64 {
        let limits = [self.connection.1, self.model.2];
        let least = limits.iter().flat_map(|limits| [limits.tpm, limits.tpd]).flatten().min();
        let most = tokens.input.saturating_add(tokens.output);
        least.map_or(most, |least| most.min(least)).max(tokens.input)
    }
}

impl Traffic {
    fn each(&mut self) -> impl Iterator<Item = &mut Window> {
        [&mut self.minute, &mut self.day, &mut self.month].into_iter()
    }

    fn window(&self, span: Span) -> &Window {
        match span {
            Span::Minute => &self.minute,
            Span::Day => &self.day,
            Span::Month => &self.month,
        }
    }
}

impl Default for Traffic {
    fn default() -> Traffic {
        let window = |span: Span| Window::new(span.ms(), span.bucket_ms());
        Traffic { minute: window(Span::Minute), day: window(Span::Day), month: window(Span::Month) }
    }
}
