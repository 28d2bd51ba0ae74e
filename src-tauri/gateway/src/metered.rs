//! What stands around every call to a member: it is sent only where its endpoint's rules have room for it, and its end
//! is told to all that learn from it, and written into the ledger.

use std::{sync::Arc, time::Duration};

use catalog::Limits;
use plan::{BudgetOf, Pace, Paced, Registered, Reserved, Rules, Settled, Spending, Tokens};
use store::{BegunCall, LedgerRow};
use tokio::time::Instant;
use wire::{Class, Request, UpstreamError, Usage};

use crate::{
    alerts,
    gateway::Gateway,
    panel::{class_word, round},
    setup::Snapshot,
    under_way::Begun,
    upstream::Head,
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
}

/// A call that is about to be sent.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub snapshot: &'a Arc<Snapshot>,
    pub it: &'a Registered,
    pub purpose: Purpose,
    pub collection: &'a str,
    /// What it asks, and the estimate of its input.
    pub request: &'a Request,
    pub estimate: u64,
}

/// A call that may be sent. Dropped before its end it was cancelled, and is written down so.
pub(crate) struct Metered {
    gateway: Gateway,
    snapshot: Arc<Snapshot>,
    alias: String,
    collection: String,
    purpose: Purpose,
    reserved: Option<Reserved>,
    /// Its alias is no other model's meanwhile.
    _under_way: Begun,
    /// Whether it has gone out, and whether what it says of its model has been told.
    is_sent: bool,
    is_told: bool,
    is_over: bool,
    at_ms: i64,
    begun: Instant,
    first_token_s: Option<f64>,
    /// Where it is known of if the process is killed; a turn's calls are, with their turn.
    place: Option<BegunCall>,
}

/// How a call ended.
#[derive(Default)]
pub(crate) struct Ended<'a> {
    /// As in the ledger.
    pub status: &'static str,
    pub error: Option<&'a UpstreamError>,
    pub usage: Usage,
    pub served_as: Option<&'a str>,
    /// Times it was sent; 0 is once.
    pub attempts: u32,
    pub first_token_s: Option<f64>,
    /// The call whose verdict is about it, and its turn.
    pub call: &'a str,
    pub turn: Option<u32>,
}

/// What an answer counts with that nobody bounds, until it has ended.
const USUAL_OUTPUT: u64 = 4_096;

/// No model has rules of its own.
static NO_LIMITS: Limits = Limits { rpm: None, rpd: None, tpm: None, tpd: None, rpmo: None };

impl Gateway {
    /// Takes a place for a call by its endpoint's rules, waiting at most 2 s for it.
    ///
    /// Errors: the rule in the way, as an error that passes the work on. It is nobody's rate limit: it must not be noted
    /// as one.
    pub(crate) async fn admit(&self, call: Call<'_>) -> Result<Metered, UpstreamError> {
        let under_way = call.snapshot.under_way.begin(&call.it.model);
        self.is_still(call.it)?;
        let mut metered = Metered {
            gateway: self.clone(),
            snapshot: call.snapshot.clone(),
            alias: call.it.model.alias.clone(),
            collection: call.collection.to_owned(),
            purpose: call.purpose,
            reserved: None,
            _under_way: under_way,
            is_sent: false,
            is_told: false,
            is_over: false,
            at_ms: 0,
            begun: Instant::now(),
            first_token_s: None,
            place: None,
        };
        if !call.it.limits.is_empty() {
            let now_ms = self.clock().now_ms();
            let asked = self.limits().pacing().ask(&rules(call.it), call.tokens(), now_ms);
            match asked {
                Pace::Go(reserved) => metered.reserved = Some(reserved),
                Pace::Wait { ms, reserved } => {
                    metered.reserved = Some(reserved);
                    tokio::time::sleep(Duration::from_millis(ms.unsigned_abs())).await;
                    metered.begun = Instant::now();
                }
                Pace::No(paced) => {
                    metered.is_over = true;
                    return Err(in_the_way(&paced, now_ms));
                }
            }
        }
        metered.at_ms = self.clock().now_ms();
        metered.is_sent = true;
        if call.purpose != Purpose::Route {
            metered.place = Some(self.store().call_begun(&metered.cut_off()));
        }
        Ok(metered)
    }

    /// Errors: the alias was given to another model since its work was planned.
    fn is_still(&self, it: &Registered) -> Result<(), UpstreamError> {
        let now = self.snapshot();
        match now.roster.get(&it.model.alias) {
            Some(now)
                if (&now.model.endpoint, &now.model.served) != (&it.model.endpoint, &it.model.served) =>
            {
                Err(UpstreamError {
                    class: Class::NotFound,
                    status: None,
                    message: "not sent: its alias is another model's now".to_owned(),
                    retry_after: None,
                })
            }
            _ => Ok(()),
        }
    }

    /// Whether an endpoint's rules have no room for even a small call.
    pub(crate) fn is_over_limit(&self, it: &Registered, now_ms: i64) -> bool {
        let least = Tokens { input: 1, output: 0 };
        !it.limits.is_empty() && self.limits().pacing().look(&rules(it), least, now_ms).is_some()
    }
}

impl Call<'_> {
    /// What it may take at most.
    fn tokens(&self) -> Tokens {
        let model = &self.it.model;
        let output = self.request.max_output.or(model.facts.max_output).unwrap_or(USUAL_OUTPUT);
        Tokens { input: self.estimate, output }
    }
}

impl Metered {
    /// The member has begun to answer: its key is good, and it is not limited.
    pub(crate) fn answers(&mut self) {
        self.first_token_s = Some(round(self.begun.elapsed().as_secs_f64()));
        self.told(None, true);
    }

    /// What a reply says of quotas, beside its answer.
    pub(crate) fn head(&self, head: &Head) {
        let Some(it) = self.snapshot.roster.get(&self.alias) else { return };
        let Some(endpoint) = self.snapshot.endpoint(&it.model.endpoint) else { return };
        self.gateway.note_headers(endpoint, it, &head.headers);
        if head.status == 429 {
            self.gateway.note_body(endpoint, it, head.status, &head.refusal);
        }
    }

    /// It is over: whoever learns from it is told, and it counts with what it took. Its row is written by the caller,
    /// with the record that it belongs to.
    pub(crate) fn end(mut self, ended: &Ended<'_>) -> LedgerRow {
        // Of one that was not waited for to its end, nothing is known.
        if !matches!(ended.status, "cancelled" | "late") {
            self.told(ended.error, ended.status == "ok");
        }
        self.over(ended)
    }

    /// Its row, if nothing more is heard of it.
    pub(crate) fn cut_off(&self) -> LedgerRow {
        self.row(&Ended { status: "cancelled", ..Ended::default() }, 1)
    }

    fn told(&mut self, error: Option<&UpstreamError>, answered: bool) {
        if std::mem::replace(&mut self.is_told, true) {
            return;
        }
        let Some(it) = self.snapshot.roster.get(&self.alias) else { return };
        if let Some(endpoint) = self.snapshot.endpoint(&it.model.endpoint) {
            alerts::after_call(&self.gateway, endpoint, error);
        }
        self.gateway.note_health(it, error, answered);
        if error.is_some() || answered {
            self.gateway.note_limits(it, error);
        }
    }

    fn over(&mut self, ended: &Ended<'_>) -> LedgerRow {
        self.is_over = true;
        let attempts = ended.attempts.max(1);
        let tokens = tokens(&ended.usage);
        if let Some(reserved) = self.reserved.take() {
            // What was refused, or never arrived, took nothing.
            let nothing = ended.error.is_some_and(|error| {
                error.status.is_some()
                    || (error.class == Class::Network && ended.first_token_s.or(self.first_token_s).is_none())
            });
            let tokens = tokens.or(nothing.then_some(0));
            self.gateway.limits().pacing().settle(reserved, Settled::Sent { requests: attempts, tokens });
        }
        let row = self.row(ended, attempts);
        self.spend(tokens, row.cost);
        row
    }

    /// Counts against the budgets there are now.
    fn spend(&self, tokens: Option<u64>, dollars: Option<f64>) {
        let is_practice = self.snapshot.is_practice(&self.alias);
        let now = self.gateway.snapshot();
        let has_budget = now.collection(&self.collection).is_some_and(|it| it.budget.is_some());
        if has_budget && !is_practice {
            let of = BudgetOf::Collection(self.collection.clone());
            self.gateway.limits().budgets().spend(&of, Spending::of_call(tokens, dollars), self.at_ms);
        }
    }

    fn row(&self, ended: &Ended<'_>, attempts: u32) -> LedgerRow {
        let it = self.snapshot.roster.get(&self.alias);
        let price = it.and_then(|it| it.model.facts.price.as_ref());
        let of = |text: fn(&Registered) -> &String| it.map(text).cloned().unwrap_or_default();
        let usage = &ended.usage;
        LedgerRow {
            at_ms: self.at_ms,
            alias: self.gateway.called_now(&self.alias),
            endpoint: of(|it| &it.model.endpoint),
            connection: of(|it| &it.connection),
            served: of(|it| &it.model.served),
            served_as: ended.served_as.map(str::to_owned),
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
            cost: price.and_then(|price| price.cost(usage)),
            caller: "local".to_owned(),
            collection: self.collection.clone(),
            practice: it.is_some_and(|it| it.practice),
        }
    }
}

impl Drop for Metered {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        if !self.is_sent {
            if let Some(reserved) = self.reserved.take() {
                self.gateway.limits().pacing().settle(reserved, Settled::Nothing);
            }
            return;
        }
        let row = self.over(&Ended { status: "cancelled", ..Ended::default() });
        // Shutting down waits for it.
        self.gateway.panel_tasks().spawn(self.gateway.store().spent(row));
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
        }
    }
}

fn rules(it: &Registered) -> Rules<'_> {
    Rules {
        connection: (&it.connection, &it.limits),
        model: (&it.model.endpoint, &it.model.served, &NO_LIMITS),
    }
}

/// In and out, cache included; `None` where nobody counted.
fn tokens(usage: &Usage) -> Option<u64> {
    match (usage.input, usage.output) {
        (None, None) => None,
        (input, output) => Some(input.unwrap_or(0).saturating_add(output.unwrap_or(0))),
    }
}

/// As the failure of a seat or a turn: one that waiting mends, or a size that nothing does.
fn in_the_way(paced: &Paced, now_ms: i64) -> UpstreamError {
    let rule = &paced.rule;
    match paced.until_ms {
        Some(until_ms) => UpstreamError {
            class: Class::Capacity,
            status: Some(429),
            message: format!("not sent: our own limit of {rule} is reached"),
            retry_after: Some(Duration::from_millis(u64::try_from(until_ms - now_ms).unwrap_or(0))),
        },
        None => UpstreamError {
            class: Class::TooLarge,
            status: Some(413),
            message: format!("not sent: it is larger than our own limit of {rule}"),
            retry_after: None,
        },
    }
}
