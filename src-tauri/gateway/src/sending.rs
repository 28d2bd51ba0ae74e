//! A call as limits and budgets count it, from before it is sent until its row is on disk: those that are new find here
//! what the ledger does not know yet.

use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, PoisonError,
    atomic::{AtomicI64, Ordering},
};

use catalog::Limits;
use plan::{
    BudgetOf, Budgets, Pace, Paced, Pacing, Registered, Reserved, Rules, Settled, Spending, Spent, Tokens,
};
use store::{BegunAgain, BegunCall};

use crate::{
    gateway::Gateway,
    limits::{NewRules, slots::Slots},
    setup::Snapshot,
    under_way::Begun,
    upstream::{Counted, Counts, Heard},
};

pub(crate) struct Sending {
    snapshot: Arc<Snapshot>,
    alias: String,
    /// Whose budget it counts against.
    pub collection: String,
    /// What is stated of its model is of other calls.
    is_apart: bool,
    /// What it may take, where nobody has asked for more precision.
    most: Tokens,
    at_ms: AtomicI64,
    counted: Counted,
    standing: Mutex<Standing>,
    /// Where it is noted for the next start.
    noted: OnceLock<BegunAgain>,
}

struct Standing {
    /// Until it is over.
    gateway: Option<Gateway>,
    reserved: Option<Reserved>,
    /// What it took in the end: requests and tokens; and what it has spent, where that counts.
    took: Option<(u32, u64)>,
    spent: Option<Spending>,
    /// Its collection's budget has that.
    is_counted: bool,
}

/// What a call holds until its row is on disk; handed in with it.
pub(crate) struct Unwritten {
    on_its_way: Arc<Slots<Sending>>,
    slot: usize,
    /// Its alias is no other model's meanwhile.
    _under_way: Begun,
    /// Where it is known of if the process is killed; a turn's calls are, with their turn.
    place: Option<BegunCall>,
}

impl Sending {
    /// A call that is about to ask whether it may be sent. Rules that are made from here on find it.
    pub(crate) fn begin(
        gateway: &Gateway,
        snapshot: &Arc<Snapshot>,
        it: &Registered,
        collection: &str,
        (is_apart, most): (bool, Tokens),
    ) -> (Arc<Sending>, Unwritten) {
        let sending = Arc::new(Sending {
            snapshot: snapshot.clone(),
            alias: it.model.alias.clone(),
            collection: collection.to_owned(),
            is_apart,
            most,
            at_ms: AtomicI64::new(gateway.clock().now_ms()),
            counted: Counted::default(),
            standing: Mutex::new(Standing {
                gateway: Some(gateway.clone()),
                reserved: None,
                took: None,
                spent: None,
                is_counted: false,
            }),
            noted: OnceLock::new(),
        });
        let on_its_way = gateway.limits().on_its_way.clone();
        let slot = on_its_way.enter(sending.clone());
        let under_way = snapshot.under_way.begin(&it.model);
        (sending, Unwritten { on_its_way, slot, _under_way: under_way, place: None })
    }

    /// Takes a place by these rules: how many ms to wait for it, and the tokens that it counts with.
    pub(crate) fn ask(
        &self,
        gateway: &Gateway,
        rules: &Rules<'_>,
        tokens: Tokens,
        now_ms: i64,
    ) -> Result<(i64, u64), Paced> {
        let mut pacing = gateway.limits().pacing();
        let mut standing = self.standing();
        // Rules that have just been made have found it already.
        if let Some(found) = standing.reserved.take() {
            pacing.settle(found, Settled::Nothing);
        }
        let (ms, reserved) = match pacing.ask(rules, tokens, now_ms) {
            Pace::Go(reserved) => (0, reserved),
            Pace::Wait { ms, reserved } => (ms, reserved),
            Pace::No(paced) => return Err(paced),
        };
        let held = pacing.held(&reserved);
        standing.reserved = Some(reserved);
        Ok((ms, held))
    }

    /// It goes out now: ms since 1970.
    pub(crate) fn goes_out(&self, at_ms: i64) {
        self.at_ms.store(at_ms, Ordering::Relaxed);
    }

    /// Where it is noted, to be told when it is sent once more.
    pub(crate) fn noted_at(&self, noted: BegunAgain) {
        let _ = self.noted.set(noted);
    }

    /// It was never sent.
    pub(crate) fn is_off(&self) {
        self.settle(Settled::Nothing, (0, Some(0)), None);
    }

    /// It has ended and took so many tokens; `None` where nobody counted them. Gives what it counts with then. Budgets
    /// that are made from here on find what it has spent.
    pub(crate) fn is_over(&self, tokens: Option<u64>, spent: Option<Spending>) -> u64 {
        let times = self.times().max(1);
        // What went out again has its own place.
        let requests = times - self.counted.again();
        self.settle(Settled::Sent { requests, tokens }, (times, tokens), spent)
    }

    /// How often it went out.
    pub(crate) fn times(&self) -> u32 {
        self.counted.times()
    }

    /// How often of these a connection had been closed on it.
    pub(crate) fn again(&self) -> u32 {
        self.counted.again()
    }

    fn settle(
        &self,
        settled: Settled,
        (requests, tokens): (u32, Option<u64>),
        spent: Option<Spending>,
    ) -> u64 {
        let mut standing = self.standing();
        let mut held = self.held();
        if standing.reserved.is_some()
            && let Some(gateway) = standing.gateway.clone()
        {
            // In the order in which rules that are made take them.
            drop(standing);
            let mut pacing = gateway.limits().pacing();
            standing = self.standing();
            if let Some(reserved) = standing.reserved.take() {
                held = pacing.held(&reserved);
                pacing.settle(reserved, settled);
            }
        }
        standing.took = Some((requests, tokens.unwrap_or(held)));
        standing.spent = spent;
        let gateway = standing.gateway.take();
        drop(standing);
        drop(gateway);
        held
    }

    /// What it counts with until its end, where no rule says otherwise.
    pub(crate) fn held(&self) -> u64 {
        self.most.input.saturating_add(self.most.output)
    }

    /// The estimate of its input.
    pub(crate) fn input(&self) -> u64 {
        self.most.input
    }

    pub(crate) fn heard(&self) -> &Heard {
        self.counted.heard()
    }

    /// Whether what it has spent is still to be counted against its collection's budget: once. Asked while nobody else
    /// counts.
    pub(crate) fn counts(&self) -> bool {
        !std::mem::replace(&mut self.standing().is_counted, true)
    }

    /// Counts what it has spent, if it has ended, where its collection's budget is new.
    pub(crate) fn count_spent(&self, budgets: &mut Budgets, is_new: impl Fn(&str) -> bool) {
        if !is_new(&self.collection) {
            return;
        }
        let mut standing = self.standing();
        let Some(spent) = standing.spent else { return };
        standing.is_counted = true;
        let of = BudgetOf::Collection(self.collection.clone());
        budgets.spend(&of, spent, self.at_ms.load(Ordering::Relaxed));
    }

    /// Counts it where rules are new, as it is now.
    pub(crate) fn count(&self, gateway: &Gateway, pacing: &mut Pacing, new: &NewRules, now_ms: i64) {
        let Some(it) = self.snapshot.roster.get(&self.alias) else { return };
        let mut standing = self.standing();
        let at_ms = self.at_ms.load(Ordering::Relaxed);
        let mut add = |requests: u32, tokens| {
            for place in new.places(it, self.is_apart).filter(|_| requests > 0) {
                pacing.add(&Spent { place, at_ms, requests: requests.into(), tokens }, now_ms);
            }
        };
        match standing.took {
            Some((requests, tokens)) => add(requests, tokens),
            None => {
                add(self.again(), 0);
                self.by_rules(gateway, now_ms, |rules| {
                    pacing.hold(rules, self.most, at_ms, &mut standing.reserved, now_ms);
                });
            }
        }
    }

    /// The rules that there are now.
    fn by_rules<T>(&self, gateway: &Gateway, now_ms: i64, with: impl FnOnce(&Rules<'_>) -> T) -> Option<T> {
        let now = gateway.snapshot();
        let it =
            now.roster.get(now.called_now(&self.alias)).or_else(|| self.snapshot.roster.get(&self.alias))?;
        let stated = gateway.stated(it, self.is_apart, now_ms);
        Some(with(&rules(it, &stated)))
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts for Sending {
    fn counted(&self) -> &Counted {
        &self.counted
    }

    /// Its rules have to have room for it once more too; with the tokens that it counts with already.
    fn has_room(&self) -> bool {
        let Some(gateway) = self.standing().gateway.clone() else { return false };
        let now_ms = gateway.clock().now_ms();
        let has_room = self.by_rules(&gateway, now_ms, |rules| {
            if rules.is_empty() {
                return true;
            }
            let mut pacing = gateway.limits().pacing();
            match pacing.ask(rules, Tokens::default(), now_ms) {
                Pace::Go(reserved) => {
                    pacing.settle(reserved, Settled::Sent { requests: 1, tokens: Some(0) });
                    true
                }
                // Whoever asked it has failed, and knows what to do.
                Pace::Wait { reserved, .. } => {
                    pacing.settle(reserved, Settled::Nothing);
                    false
                }
                Pace::No(_) => false,
            }
        });
        has_room.unwrap_or(false)
    }

    fn sent_again(&self) {
        if let Some(noted) = self.noted.get() {
            noted.sent(self.at_ms.load(Ordering::Relaxed), self.times());
        }
    }
}

impl Unwritten {
    /// Of a call of its own.
    pub(crate) fn at(&mut self, place: BegunCall) {
        self.place = Some(place);
    }
}

impl Drop for Unwritten {
    fn drop(&mut self) {
        self.on_its_way.leave(self.slot);
    }
}

/// The owner's, of all that shares a rate limit, and beside them what was stated of the model.
pub(crate) fn rules<'a>(it: &'a Registered, stated: &'a Limits) -> Rules<'a> {
    Rules { connection: (&it.connection, &it.limits), model: (&it.model.endpoint, &it.model.served, stated) }
}
