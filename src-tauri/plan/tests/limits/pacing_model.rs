//! Pacing against a plain list of what was sent.

use catalog::Limits;
use plan::{Pace, Paced, Pacing, Place, Reserved, Rules, Settled, Spent, Tokens};
use proptest::prelude::*;

const MINUTE: i64 = 60_000;
const DAY: i64 = 1_440 * MINUTE;
const MONTH: i64 = 30 * DAY;

/// A call as the list has it.
#[derive(Debug)]
struct Call {
    connection: usize,
    model: usize,
    at: i64,
    tokens: u64,
    reserved: Option<Reserved>,
}

#[derive(Clone, Debug)]
enum Step {
    Ask {
        model: usize,
        input: u64,
        output: u64,
    },
    /// The oldest of those under way, having used a part of what it might have; never sent where that is none.
    Settle {
        part: Option<u8>,
    },
    Pass {
        ms: i64,
    },
    /// The clock is set back.
    SetBack {
        ms: i64,
    },
    /// The program starts anew.
    Restart,
    /// The rules are made only now: nobody knew of any while calls went out, some of which are under way.
    MakeRules,
}

/// Two connections of two models each.
const SERVED: [(&str, &str); 4] = [("one", "a"), ("one", "b"), ("two", "a"), ("two", "b")];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..4_usize, 0..40_u64, 0..60_u64).prop_map(|(model, input, output)| Step::Ask { model, input, output }),
        4 => proptest::option::weighted(0.9, 0..=100_u8).prop_map(|part| Step::Settle { part }),
        5 => prop_oneof![0..3_000_i64, 0..2 * MINUTE, 0..DAY / 4, 0..3 * DAY].prop_map(|ms| Step::Pass { ms }),
        1 => prop_oneof![0..500_i64, 0..3 * DAY].prop_map(|ms| Step::SetBack { ms }),
        1 => Just(Step::Restart),
        1 => Just(Step::MakeRules),
    ]
}

fn limits() -> impl Strategy<Value = Limits> {
    let rule = |range: std::ops::Range<u64>| proptest::option::weighted(0.4, range);
    (rule(1..6), rule(3..15), rule(20..300), rule(100..900), rule(5..40))
        .prop_map(|(rpm, rpd, tpm, tpd, rpmo)| Limits { rpm, rpd, tpm, tpd, rpmo })
}

/// What each rule counts, and within which time; the last is how late a bucket may leave.
fn rules_of(limits: &Limits) -> [(Option<u64>, bool, i64, i64); 5] {
    [
        (limits.rpm, false, MINUTE, 100),
        (limits.rpd, false, DAY, MINUTE),
        (limits.tpm, true, MINUTE, 100),
        (limits.tpd, true, DAY, MINUTE),
        (limits.rpmo, false, MONTH, 60 * MINUTE),
    ]
}

struct World {
    connections: [Limits; 2],
    models: [Limits; 4],
    pacing: Pacing,
    calls: Vec<Call>,
    /// Time as it passes, and how far the clock is behind it.
    now: i64,
    behind: i64,
    stepped: bool,
}

impl World {
    fn new(connections: [Limits; 2], models: [Limits; 4]) -> World {
        let (pacing, calls) = (Pacing::default(), Vec::new());
        World { connections, models, pacing, calls, now: MONTH, behind: 0, stepped: false }
    }

    fn clock(&self) -> i64 {
        self.now - self.behind
    }

    /// Everything that counts for a rule in the `within` before `end`, and from then on up to `last`.
    fn counted(&self, whose: impl Fn(&Call) -> bool, tokens: bool, from: i64, last: i64) -> u64 {
        let counts = |call: &&Call| whose(call) && call.at > from && call.at <= last;
        self.calls.iter().filter(counts).map(|call| if tokens { call.tokens } else { 1 }).sum()
    }

    /// The rules of a model, each with what it has to count.
    fn every_rule(&self, model: usize) -> impl Iterator<Item = (u64, bool, bool, i64, i64)> + use<> {
        let of = |limits: &Limits, own: bool| {
            rules_of(limits).map(|(limit, tokens, window, late)| (limit, own, tokens, window, late))
        };
        let all = [of(&self.connections[model / 2], false), of(&self.models[model], true)];
        all.into_iter()
            .flatten()
            .filter_map(|(limit, own, tokens, window, late)| Some((limit?, own, tokens, window, late)))
    }

    fn ask(&mut self, model: usize, tokens: Tokens) {
        let (connection_limits, model_limits) = (self.connections[model / 2], self.models[model]);
        let (endpoint, served) = SERVED[model];
        let rules =
            Rules { connection: (endpoint, &connection_limits), model: (endpoint, served, &model_limits) };
        let connection = model / 2;
        let whose = |own: bool| {
            move |call: &Call| if own { call.model == model } else { call.connection == connection }
        };
        let limits: Vec<_> = self.every_rule(model).collect();
        let least = limits.iter().filter(|(_, _, tokens, ..)| *tokens).map(|(limit, ..)| *limit).min();
        let need =
            least.map_or(tokens.input + tokens.output, |least| (tokens.input + tokens.output).min(least));
        let need = need.max(tokens.input);
        let fits = |world: &World, at: i64, late: bool| {
            limits.iter().all(|(limit, own, tokens, window, bucket)| {
                let from = at - window - if late { *bucket } else { 0 };
                let need = if *tokens { need } else { 1 };
                world.counted(whose(*own), *tokens, from, i64::MAX) + need <= *limit
            })
        };

        let now = self.clock();
        let looked = self.pacing.look(&rules, tokens, now);
        let paced = self.pacing.ask(&rules, tokens, now);
        assert_eq!(looked.is_some(), matches!(paced, Pace::No(_)), "looking and asking differ");
        let (wait, reserved) = match paced {
            Pace::Go(reserved) => (0, reserved),
            Pace::Wait { ms, reserved } => {
                assert!((1..=2_000).contains(&ms), "{ms}");
                (ms, reserved)
            }
            Pace::No(paced) => {
                assert!(self.stepped || !fits(self, self.now, true), "there was room: {paced:?}");
                match paced.until_ms {
                    None => assert!(
                        limits
                            .iter()
                            .any(|(limit, _, tokens, ..)| { *limit < if *tokens { need } else { 1 } }),
                        "never, though the rules would allow it alone"
                    ),
                    // Whoever asks then, and is alone, goes.
                    Some(until) => {
                        assert!(until > now + 2_000);
                        let then = self.pacing.clone().ask(&rules, tokens, until);
                        assert!(matches!(then, Pace::Go(_)), "{until}: {then:?}");
                    }
                }
                return;
            }
        };
        assert!(wait == 0 || self.stepped || !fits(self, self.now, true), "it waited for nothing");
        let call = Call { connection, model, at: self.now + wait, tokens: need, reserved: Some(reserved) };
        let at = call.at;
        self.calls.push(call);
        // Never over a rule, in any window that the call is in.
        let ends: Vec<i64> = self.calls.iter().map(|call| call.at).filter(|end| *end >= at).collect();
        for (limit, own, tokens, window, _) in limits {
            for end in &ends {
                let counted = self.counted(whose(own), tokens, end - window, *end);
                assert!(counted <= limit, "{counted} of {limit} within {window} ms");
            }
        }
    }

    fn settle(&mut self, part: Option<u8>) {
        let Some(at) = self.calls.iter().position(|call| call.reserved.is_some()) else { return };
        let call = &mut self.calls[at];
        let Some(reserved) = call.reserved.take() else { return };
        match part {
            Some(part) => {
                call.tokens = call.tokens * u64::from(part) / 100;
                self.pacing.settle(reserved, Settled::Sent { requests: 1, tokens: Some(call.tokens) });
            }
            None => {
                self.calls.remove(at);
                self.pacing.settle(reserved, Settled::Nothing);
            }
        }
    }

    /// Nothing is under way any more; the ledger says what was sent, by the time it was sent.
    fn restart(&mut self) {
        self.calls.retain(|call| call.at <= self.now);
        self.calls.iter_mut().for_each(|call| call.reserved = None);
        self.calls.sort_by_key(|call| call.at);
        self.load();
    }

    /// The ledger says what has ended, and what is under way is found to be.
    fn make_rules(&mut self) {
        if self.calls.iter().any(|call| call.at > self.now) {
            return;
        }
        self.load();
        let (now, behind) = (self.clock(), self.behind);
        for call in self.calls.iter_mut().filter(|call| call.reserved.is_some()) {
            let (endpoint, served) = SERVED[call.model];
            let rules = Rules {
                connection: (endpoint, &self.connections[call.connection]),
                model: (endpoint, served, &self.models[call.model]),
            };
            call.reserved = None;
            let tokens = Tokens { input: call.tokens, output: 0 };
            for _ in 0..2 {
                self.pacing.hold(&rules, tokens, call.at - behind, &mut call.reserved, now);
            }
            // Where there is no rule a place is as good as none.
            if call.reserved.is_none() {
                call.reserved = match self.pacing.ask(&rules, tokens, now) {
                    Pace::Go(reserved) => Some(reserved),
                    other => panic!("{other:?}"),
                };
            }
        }
    }

    fn load(&mut self) {
        self.pacing = Pacing::default();
        let behind = self.behind;
        let ended = self.calls.iter().filter(|call| call.reserved.is_none());
        let spent = ended.flat_map(|call| {
            let (endpoint, served) = SERVED[call.model];
            let model = Place::Model { endpoint: endpoint.to_owned(), served: served.to_owned() };
            [Place::Connection(endpoint.to_owned()), model].map(|place| Spent {
                place,
                at_ms: call.at - behind,
                requests: 1,
                tokens: call.tokens,
            })
        });
        self.pacing.load(&[], spent, self.now - behind);
    }

    fn run(&mut self, steps: &[Step]) {
        for step in steps {
            match *step {
                Step::Ask { model, input, output } => self.ask(model, Tokens { input, output }),
                Step::Settle { part } => self.settle(part),
                Step::Pass { ms } => self.now += ms,
                Step::SetBack { ms } => {
                    self.behind += ms;
                    self.stepped = true;
                }
                Step::Restart => self.restart(),
                Step::MakeRules => self.make_rules(),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20_261_130),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Never over a rule in any window, what is under way counted in full; and where there was room, it was given.
    #[test]
    fn it_keeps_every_rule_and_refuses_nothing_else(
        connections in [limits(), limits()],
        models in [limits(), limits(), limits(), limits()],
        steps in proptest::collection::vec(step(), 1..160),
    ) {
        World::new(connections, models).run(&steps);
    }
}

/// Many who ask at once, and again whenever they may: the rule is kept and used up, and each of them is served.
#[test]
fn whoever_asks_is_served_in_the_long_run() {
    let limits = Limits { rpm: Some(30), tpm: Some(20_000), ..Limits::default() };
    let none = Limits::default();
    let rules = Rules { connection: ("groq", &limits), model: ("groq", "alpha", &none) };
    let mut pacing = Pacing::default();
    // When each asks next. They want different amounts, and one of them all there is.
    let mut asks: Vec<(i64, u64)> = (0..8).map(|who| (who, 200 + 100 * who as u64)).collect();
    asks[7].1 = 20_000;
    let mut served = [0_u32; 8];
    let minutes = 240;
    while let Some(who) = (0..8).min_by_key(|who| asks[*who]).filter(|who| asks[*who].0 < minutes * MINUTE) {
        let (now, input) = asks[who];
        asks[who].0 = match pacing.ask(&rules, Tokens { input, output: 0 }, now) {
            Pace::Go(_) => {
                served[who] += 1;
                now + 1_000
            }
            Pace::Wait { ms, .. } => {
                served[who] += 1;
                now + ms + 1_000
            }
            Pace::No(Paced { until_ms: Some(until), .. }) => until,
            never => panic!("none of them is too large: {never:?}"),
        };
    }
    let small: u32 = served[..7].iter().sum();
    let most = 30 * minutes as u32;
    assert!(small <= most && small > most * 9 / 10, "{small} of {most}");
    assert!(served[..7].iter().all(|count| *count > 100), "{served:?}");
}
