//! What stands around every call to a member: it is sent only where its endpoint's rules have room for it, and its end
//! is told to all that learn from it, and written into the ledger.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use catalog::Limits;
use plan::{BudgetOf, Paced, Place, Registered, Spending, Tokens};
use store::{Ack, BegunAgain, LedgerRow};
use tokio::time::Instant;
use wire::{Class, UpstreamError, Usage};

use crate::{
    alerts,
    callers::Caller,
    facts::Holds,
    gateway::Gateway,
    panel::{class_word, round},
    sending::{Sending, Unwritten, rules},
    setup::Snapshot,
    upstream::{Head, Sends},
};

/// What a call is for, as the ledger has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Panel,
    Route,
    Merge,
    Shadow,
    Picker,
    Probe,
    /// How many tokens a question has: it takes none itself, nobody asks money for it, and providers limit it apart from
    /// answers, so that it says nothing of those.
    Count,
}

/// A call that is about to be sent.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub snapshot: &'a Arc<Snapshot>,
    pub it: &'a Registered,
    pub purpose: Purpose,
    pub collection: &'a str,
    /// On whose behalf.
    pub caller: &'a Caller,
    /// What goes out, and the estimate of its input.
    pub body: &'a Bytes,
    pub estimate: u64,
    pub holds: Holds,
}

/// A call that has its place by its endpoint's rules, and is not sent yet.
pub(crate) struct Booked {
    metered: Metered,
    wait: Duration,
}

/// A call that may be sent. Dropped before its end it was cancelled, and is written down so.
pub(crate) struct Metered {
    gateway: Gateway,
    snapshot: Arc<Snapshot>,
    alias: String,
    caller: Caller,
    purpose: Purpose,
    holds: Holds,
    sending: Arc<Sending>,
    /// `None` once it is over.
    unwritten: Option<Unwritten>,
    /// The tokens that it counts with by the rules there were, until they are known.
    held: Option<u64>,
    /// Whether it has gone out, and whether what it says of its model has been told.
    is_sent: bool,
    is_told: bool,
    at_ms: i64,
    begun: Instant,
    first_token_s: Option<f64>,
}

/// A call that is over: its row, and what it holds until that is on disk
/// ([`Store::holding`](store::Store::holding)).
pub(crate) struct Over {
    pub row: LedgerRow,
    pub unwritten: Option<Unwritten>,
}

/// How a call ended.
#[derive(Default)]
pub(crate) struct Ended<'a> {
    /// As in the ledger.
    pub status: &'static str,
    pub error: Option<&'a UpstreamError>,
    pub served_as: Option<&'a str>,
    pub first_token_s: Option<f64>,
    /// The call whose verdict is about it, and its turn.
    pub call: &'a str,
    pub turn: Option<u32>,
}

const NOTHING: Usage =
    Usage { input: Some(0), output: Some(0), reasoning: None, cache_read: None, cache_write: None };

/// What an answer counts with whose length nobody bounds, until it has ended.
const USUAL_OUTPUT: u64 = 4_096;

impl Gateway {
    /// Takes a place for a call by its endpoint's rules, waiting at most 2 s for it.
    ///
    /// Errors: the rule in the way, as an error that passes the work on. It is nobody's rate limit: it must not be noted
    /// as one.
    pub(crate) async fn admit(&self, call: Call<'_>) -> Result<Metered, UpstreamError> {
        Ok(self.book(call)?.due().await)
    }

    /// The same without waiting: calls have their places in the order in which they are booked.
    pub(crate) fn book(&self, call: Call<'_>) -> Result<Booked, UpstreamError> {
        let is_apart = call.purpose == Purpose::Count;
        let (sending, unwritten) =
            Sending::begin(self, call.snapshot, call.it, call.collection, (is_apart, call.most()));
        // Rules that are made before this are asked here; those that are made after find it on its way.
        let now = self.snapshot();
        let mut metered = Metered {
            gateway: self.clone(),
            snapshot: call.snapshot.clone(),
            alias: call.it.model.alias.clone(),
            caller: call.caller.clone(),
            purpose: call.purpose,
            holds: call.holds,
            sending,
            unwritten: Some(unwritten),
            held: None,
            is_sent: false,
            is_told: false,
            at_ms: 0,
            begun: Instant::now(),
            first_token_s: None,
        };
        let mut wait_ms = 0;
        let it = still(&now, call.it)?;
        let now_ms = self.clock().now_ms();
        let stated = self.stated(it, is_apart, now_ms);
        let rules = rules(it, &stated);
        if !rules.is_empty() {
            let tokens = call.tokens(&it.limits.over(&stated));
            let asked = metered.sending.ask(self, &rules, tokens, now_ms);
            let (ms, held) = asked.map_err(|paced| in_the_way(&paced, now_ms))?;
            metered.held = Some(held);
            wait_ms = ms;
        }
        Ok(Booked { metered, wait: Duration::from_millis(wait_ms.unsigned_abs()) })
    }

    /// Writes the row of a call that is part of no record.
    pub(crate) fn spent(&self, over: Over) -> Ack<()> {
        self.store().holding(over.unwritten).spent(over.row)
    }

    /// Whether an endpoint's rules have no room for even a small call.
    pub(crate) fn is_over_limit(&self, it: &Registered, now_ms: i64) -> bool {
        let least = Tokens { input: 1, output: 0 };
        let stated = self.stated(it, false, now_ms);
        let rules = rules(it, &stated);
        !rules.is_empty() && self.limits().pacing().look(&rules, least, now_ms).is_some()
    }

    /// What its provider has stated of a model, and its owner has not set; of calls that count apart, nothing.
    pub(crate) fn stated(&self, it: &Registered, is_apart: bool, now_ms: i64) -> Limits {
        let stated = if is_apart { None } else { self.limits().stated.of(it, now_ms) };
        stated.map(|(limits, _)| limits).unwrap_or_default()
    }
}

/// As it is now. Errors: the alias was given to another model since its work was planned.
fn still<'a>(now: &'a Snapshot, it: &'a Registered) -> Result<&'a Registered, UpstreamError> {
    let Some(now) = now.roster.get(now.called_now(&it.model.alias)) else { return Ok(it) };
    if (&now.model.endpoint, &now.model.served) == (&it.model.endpoint, &it.model.served) {
        return Ok(now);
    }
    Err(UpstreamError {
        class: Class::NotFound,
        status: None,
        message: "not sent: its alias is another model's now".to_owned(),
        retry_after: None,
    })
}

impl Call<'_> {
    /// What it may take at most by these limits.
    fn tokens(&self, limits: &Limits) -> Tokens {
        let most = self.most();
        let endpoint = self.snapshot.endpoint(&self.it.model.endpoint);
        // Whoever said it, caller or owner, it stands in what is sent. It is read where tokens are counted.
        let counts = self.purpose != Purpose::Count && (limits.tpm.is_some() || limits.tpd.is_some());
        let said = endpoint.filter(|_| counts).and_then(|it| wire::budget(it.api, self.body));
        Tokens { output: said.unwrap_or(most.output), ..most }
    }

    /// The same, whatever is said in what is sent.
    fn most(&self) -> Tokens {
        match self.purpose {
            Purpose::Count => Tokens::default(),
            _ => {
                let output = self.it.model.facts.max_output.unwrap_or(USUAL_OUTPUT);
                Tokens { input: self.estimate, output }
            }
        }
    }
}

impl Booked {
    /// It is sent now, or when its place comes, 2 s later at most.
    pub(crate) async fn due(self) -> Metered {
        let Booked { mut metered, wait } = self;
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
            metered.begun = Instant::now();
        }
        metered.goes_out(metered.gateway.clock().now_ms());
        metered
    }
}

impl Metered {
    /// Goes with what is sent.
    pub(crate) fn sends(&self) -> Sends {
        Sends::of(self.sending.clone())
    }

    /// How often it went out.
    pub(crate) fn times(&self) -> u32 {
        self.sending.times()
    }

    /// How often of these a connection had been closed on it.
    pub(crate) fn again(&self) -> u32 {
        self.sending.again()
    }

    /// Where it is noted for the next start, of a call that has no place of its own there.
    pub(crate) fn noted_at(&self, noted: BegunAgain) {
        self.sending.noted_at(noted);
    }

    /// The member has begun to answer, whatever becomes of that.
    pub(crate) fn begins(&mut self) {
        let begun = self.begun;
        self.first_token_s.get_or_insert_with(|| round(begun.elapsed().as_secs_f64()));
    }

    /// Its answer counts: its key is good, and it is not limited.
    pub(crate) fn answers(&mut self) {
        self.begins();
        self.told(None, true);
    }

    /// What a reply says of quotas, beside its answer.
    pub(crate) fn head(&self, head: &Head) {
        let Some(it) = self.snapshot.roster.get(&self.alias) else { return };
        let Some(endpoint) = self.snapshot.endpoint(&it.model.endpoint) else { return };
        self.gateway.note_headers(endpoint, it, &head.headers);
        if head.status == 429 {
            let refusal = (head.status, &head.headers, &head.refusal[..]);
            self.gateway.note_refusal(endpoint, it, refusal);
        }
    }

    /// It is over: whoever learns from it is told, and it counts with what it took. Its row is written by the caller,
    /// with the record that it belongs to.
    pub(crate) fn end(mut self, ended: &Ended<'_>) -> Over {
        // Of one that was not waited for to its end, nothing is known.
        if !matches!(ended.status, "cancelled" | "late") {
            self.told(ended.error, ended.status == "ok");
        }
        self.over(ended)
    }

    /// Its row, if nothing more is heard of it.
    pub(crate) fn cut_off(&self) -> LedgerRow {
        let cancelled = Ended { status: "cancelled", ..Ended::default() };
        let (row, _) = self.taken(&cancelled);
        LedgerRow { tokens_held: Some(self.held.unwrap_or(self.sending.held())), ..row }
    }

    fn told(&mut self, error: Option<&UpstreamError>, answered: bool) {
        if std::mem::replace(&mut self.is_told, true) || self.purpose == Purpose::Count {
            return;
        }
        let Some(it) = self.snapshot.roster.get(&self.alias) else { return };
        if let Some(endpoint) = self.snapshot.endpoint(&it.model.endpoint) {
            alerts::after_call(&self.gateway, endpoint, error);
        }
        self.gateway.note_health(it, error, answered);
        if error.is_some() || answered {
            self.gateway.note_limits(it, self.holds, error);
        }
    }

    fn goes_out(&mut self, at_ms: i64) {
        self.at_ms = at_ms;
        self.is_sent = true;
        self.sending.goes_out(at_ms);
        if self.purpose != Purpose::Route {
            let place = self.gateway.store().call_begun(&self.cut_off());
            self.sending.noted_at(place.again());
            if let Some(unwritten) = &mut self.unwritten {
                unwritten.at(place);
            }
        }
    }

    fn over(&mut self, ended: &Ended<'_>) -> Over {
        let (mut row, counted) = self.taken(ended);
        let spent = (!self.snapshot.is_practice(&self.alias)).then(|| spending(&row));
        let held = self.sending.is_over(counted, spent);
        row.tokens_held = counted.is_none().then_some(held);
        if let Some(spent) = spent {
            self.spend(spent);
        }
        Over { row, unwritten: self.unwritten.take() }
    }

    /// Its row, with what it took where that was counted, and else with what it is taken to have taken; and the tokens that
    /// it counts with against its endpoint's rules, `None` where what it might have taken stays.
    fn taken(&self, ended: &Ended<'_>) -> (LedgerRow, Option<u64>) {
        let heard = self.sending.heard();
        let is_refused = self.is_refused(ended);
        let (usage, least) = match self.purpose {
            Purpose::Count => (NOTHING, NOTHING),
            _ if is_refused => (heard.whole(), NOTHING),
            _ => (heard.whole(), heard.so_far(self.sending.input())),
        };
        let mut row = self.row(ended, &usage, self.times().max(1));
        if usage.input.is_none() || usage.output.is_none() {
            row.tokens_spent = tokens(&least);
        }
        if row.cost.is_none() {
            row.cost_spent = if is_refused { Some(0.0) } else { self.cost(&least) };
        }
        (row, tokens(&usage).or(is_refused.then_some(0)))
    }

    /// What was refused, or never arrived, took nothing.
    fn is_refused(&self, ended: &Ended<'_>) -> bool {
        let heard = self.sending.heard();
        let has_said = ended.first_token_s.or(self.first_token_s).is_some() || heard.has_said();
        ended.error.is_some_and(|error| match error.status {
            Some(_) => !has_said,
            None => error.class == Class::Network && !has_said && !heard.has_counted(),
        })
    }

    /// Counts against the budgets there are now.
    fn spend(&self, spent: Spending) {
        let collection = &self.sending.collection;
        // Read after what it has spent is known to those that are made meanwhile.
        let now = self.gateway.snapshot();
        if now.collection(collection).is_some_and(|it| it.budget.is_some()) {
            let mut budgets = self.gateway.limits().budgets();
            if self.sending.counts() {
                budgets.spend(&BudgetOf::Collection(collection.clone()), spent, self.at_ms);
            }
        }
        // Whether its key has a budget or not: the next of its name may.
        if let Some(of) = self.caller.budget_of() {
            self.gateway.limits().budgets().spend(&of, spent, self.at_ms);
        }
    }

    fn cost(&self, usage: &Usage) -> Option<f64> {
        let it = self.snapshot.roster.get(&self.alias)?;
        it.model.facts.price.as_ref()?.cost(usage)
    }

    fn row(&self, ended: &Ended<'_>, usage: &Usage, attempts: u32) -> LedgerRow {
        let it = self.snapshot.roster.get(&self.alias);
        let of = |text: fn(&Registered) -> &String| it.map(text).cloned().unwrap_or_default();
        LedgerRow {
            at_ms: self.at_ms,
            alias: self.gateway.called_now(&self.alias),
            endpoint: of(|it| &it.model.endpoint),
            connection: of(|it| &it.connection),
            served: of(|it| &it.model.served),
            served_as: ended.served_as.map(|said| self.gateway.scrub(said)),
            purpose: self.purpose.word().to_owned(),
            call: ended.call.to_owned(),
            turn: ended.turn,
            status: ended.status.to_owned(),
            class: ended.error.map(|error| class_word(error.class).to_owned()),
            http_status: ended.error.and_then(|error| error.status),
            attempts,
            tokens_fresh: usage.input_beside_cache(),
            tokens_out: usage.output,
            tokens_reasoning: usage.reasoning,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            seconds: round(self.begun.elapsed().as_secs_f64()),
            first_token_s: ended.first_token_s.or(self.first_token_s),
            cost: match self.purpose {
                Purpose::Count => Some(0.0),
                _ => self.cost(usage),
            },
            caller: self.caller.name().to_owned(),
            collection: self.sending.collection.clone(),
            practice: it.is_some_and(|it| it.practice),
            ..LedgerRow::default()
        }
    }
}

impl Drop for Metered {
    fn drop(&mut self) {
        if self.unwritten.is_none() {
            return;
        }
        if !self.is_sent {
            self.sending.is_off();
            return;
        }
        let over = self.over(&Ended { status: "cancelled", ..Ended::default() });
        // Shutting down waits for it.
        self.gateway.panel_tasks().spawn(self.gateway.spent(over));
    }
}

impl Purpose {
    fn word(self) -> &'static str {
        match self {
            Purpose::Panel => "panel",
            Purpose::Route => "route",
            Purpose::Merge => "merge",
            Purpose::Shadow => "shadow",
            Purpose::Picker => "picker",
            Purpose::Probe => "probe",
            Purpose::Count => "count",
        }
    }
}

/// In and out, cache included; `None` where nobody counted.
fn tokens(usage: &Usage) -> Option<u64> {
    match (usage.input, usage.output) {
        (None, None) => None,
        (input, output) => Some(input.unwrap_or(0).saturating_add(output.unwrap_or(0))),
    }
}

/// What budgets count of a row.
fn spending(row: &LedgerRow) -> Spending {
    let counted = [row.tokens_fresh, row.cache_read, row.cache_write, row.tokens_out];
    let is_counted = row.tokens_fresh.is_some() || row.tokens_out.is_some();
    let known = counted.into_iter().flatten().fold(0, u64::saturating_add);
    Spending {
        tokens_unknown: (!is_counted).into(),
        ..Spending::of_call(Some(row.tokens_spent.unwrap_or(known)), row.cost.or(row.cost_spent))
    }
}

/// As the failure of a seat or a turn: one that waiting mends, or a size that nothing does.
fn in_the_way(paced: &Paced, now_ms: i64) -> UpstreamError {
    let rule = &paced.rule;
    let whose = match &rule.place {
        Place::Connection(_) => "our own",
        Place::Model { .. } => "the provider's stated",
    };
    match paced.until_ms {
        Some(until_ms) => UpstreamError {
            class: Class::Capacity,
            status: Some(429),
            message: format!("not sent: {whose} limit of {rule} is reached"),
            retry_after: Some(Duration::from_millis(u64::try_from(until_ms - now_ms).unwrap_or(0))),
        },
        None => UpstreamError {
            class: Class::TooLarge,
            status: Some(413),
            message: format!("not sent: it is larger than {whose} limit of {rule}"),
            retry_after: None,
        },
    }
}
