//! A turn's record: told live as it goes, and written down when it is over, whichever way that comes about.

use std::time::Duration;

use plan::{Shape, Tally, TurnOrder};
use store::{Ack, BegunTurn, ConversationRow, LedgerRow, TurnRow};
use tokio::time::Instant;
use wire::{Class, Dialect, UpstreamError};

use super::{asked::Asked, watch::Watch};
use crate::{
    alerts,
    clock::rfc3339,
    gateway::Gateway,
    metered::{Ended, Metered, Over},
    panel::{class_word, describe, finish_word, json, lossy_view, round, skipped_views},
    sending::Unwritten,
    upstream::Sends,
    view::{CandidateView, ConversationView, TurnFailedOver, TurnStatus, TurnView, WhyThisModel},
};

/// What of a turn is known from its beginning.
pub(crate) struct Began {
    /// The conversation's key.
    pub key: String,
    pub conversation: ConversationView,
    /// As the records name it.
    pub caller: String,
    /// When the conversation began, and this turn: ms since 1970.
    pub first_ms: i64,
    pub at_ms: i64,
    pub begun: Instant,
    pub shape: Shape,
    pub api: Dialect,
    pub order: TurnOrder,
    /// The caller's messages, where text is kept.
    pub question: String,
}

/// Dropped before its end, the turn is recorded as cancelled: its caller hung up.
pub(crate) struct Record {
    gateway: Gateway,
    /// `None` once it is over.
    open: Option<Box<Open>>,
}

struct Open {
    key: String,
    row: ConversationRow,
    at_ms: i64,
    begun: Instant,
    view: TurnView,
    /// What of the view is the same from its beginning, as it is recorded.
    why_json: String,
    skipped_json: String,
    errors: Vec<UpstreamError>,
    attempts: u32,
    /// The call that is under way, and the rows of those that have failed.
    metered: Option<Metered>,
    spent: Vec<LedgerRow>,
    unwritten: Vec<Unwritten>,
    shape: Shape,
    price: Option<catalog::Price>,
    /// The gateway's own time so far.
    own: Duration,
    /// Its place among those on their way; how often somebody was asked, and the call, that were noted there.
    begun_turn: BegunTurn,
    noted: Option<(u32, String)>,
}

/// Why a turn has no end.
const STOPPED: &str = "Benchwarmers was stopped while the turn ran";
const CUT_OFF: &str = "Benchwarmers ended while the turn ran";

impl Record {
    pub(crate) fn begin(gateway: &Gateway, began: Began) -> Record {
        let Began { key, conversation, caller, first_ms, at_ms, begun, shape, api, order, question } = began;
        let row = ConversationRow {
            id: conversation.id.clone(),
            key: key.clone(),
            collection: conversation.collection.clone(),
            shape: shape.name().to_owned(),
            caller,
            client: conversation.client.clone(),
            title: conversation.title.clone(),
            at_ms: first_ms,
            alias: String::new(),
            practice: conversation.practice,
        };
        let view = TurnView {
            conversation: conversation.id.clone(),
            turn: conversation.turns,
            at: rfc3339(at_ms),
            api: api.name().to_owned(),
            status: TurnStatus::Running,
            skipped: skipped_views(&order.skipped),
            why: why(order),
            question,
            ..TurnView::default()
        };
        gateway.live().turn(conversation, || view.clone());
        let open = Open {
            key,
            row,
            at_ms,
            begun,
            why_json: json(&view.why),
            skipped_json: json(&view.skipped),
            view,
            errors: Vec::new(),
            attempts: 0,
            metered: None,
            spent: Vec::new(),
            unwritten: Vec::new(),
            shape,
            price: None,
            own: Duration::ZERO,
            begun_turn: gateway.store().turn_begun(),
            noted: None,
        };
        Record { gateway: gateway.clone(), open: Some(Box::new(open)) }
    }

    /// A member is about to be asked.
    pub(crate) fn asks(&mut self, asked: &Asked) {
        let Some(open) = &mut self.open else { return };
        if open.attempts == 0 && open.errors.is_empty() {
            open.own = open.begun.elapsed();
        }
        let view = &mut open.view;
        view.alias = self.gateway.called_now(&asked.model.alias);
        asked.endpoint.name.clone_into(&mut view.endpoint);
        asked.model.served.clone_into(&mut view.served);
        asked.endpoint.api.name().clone_into(&mut view.member_api);
        view.lossy = asked.encoded.notices.iter().map(|it| lossy_view(&self.gateway, it)).collect();
        open.price.clone_from(&asked.model.facts.price);
    }

    /// It is sent to; what is returned goes with what is sent.
    pub(crate) fn sends(&mut self, metered: Metered) -> Sends {
        let sends = metered.sends();
        if let Some(open) = &mut self.open {
            open.attempts += 1;
            metered.noted_at(open.begun_turn.again());
            open.metered = Some(metered);
        }
        sends
    }

    /// The member has said its first piece.
    pub(crate) fn begins(&mut self) {
        if let Some(metered) = self.open.as_mut().and_then(|open| open.metered.as_mut()) {
            metered.begins();
        }
    }

    /// What was sent last came to nothing.
    pub(crate) fn attempt_failed(&mut self, error: &UpstreamError) {
        let Some(open) = &mut self.open else { return };
        let Some(metered) = open.metered.take() else { return };
        open.attempts += metered.again();
        let status = if error.class == Class::Empty { "empty" } else { "error" };
        let turn = Some(open.view.turn);
        open.spend(metered.end(&Ended { status, error: Some(error), turn, ..Ended::default() }));
    }

    /// The member that was asked could not take it; `to` does now, or nobody.
    pub(crate) fn failed(&mut self, error: UpstreamError, to: Option<&str>) {
        let Some(open) = &mut self.open else { return };
        let failed_over = TurnFailedOver {
            from: open.view.alias.clone(),
            to: to.unwrap_or_default().to_owned(),
            why: describe(&error),
        };
        if to.is_some() {
            alerts::turn_failed_over(&self.gateway, &open.row.collection, &failed_over, &error);
        }
        open.view.failed_over.push(failed_over);
        open.errors.push(error);
        self.tell();
    }

    /// The member answers: the conversation is its own.
    pub(crate) fn answers(&mut self) {
        let Some(open) = &mut self.open else { return };
        open.view.first_token_s = Some(round(open.begun.elapsed().as_secs_f64()));
        if let Some(metered) = &mut open.metered {
            metered.answers();
        }
        let mut known = self.gateway.conversations().lock();
        open.view.alias = self.gateway.called_now(&open.view.alias);
        if let Some(it) = known.get(&open.key) {
            open.view.call = it.answered(&open.view.alias, &open.view.endpoint);
        }
        open.row.alias.clone_from(&open.view.alias);
        drop(known);
        self.tell();
    }

    /// Notes how it stands, in case the process ends before it does. It costs a small write, and is made while the
    /// member is waited for.
    pub(crate) fn note(&mut self) {
        let Some(open) = &mut self.open else { return };
        // Another is asked, or it is asked once more; or somebody answers.
        let stands = (open.attempts, open.view.call.clone());
        if open.noted.as_ref() == Some(&stands) {
            return;
        }
        open.noted = Some(stands);
        let seconds = round(open.begun.elapsed().as_secs_f64());
        let status = status_word(TurnStatus::Cancelled).to_owned();
        let spent = open.spent.iter().cloned().chain(open.cut_off()).collect();
        let attempts = open.attempts + open.metered.as_ref().map_or(0, Metered::again);
        let error = Some(CUT_OFF.to_owned());
        let row = TurnRow { status, seconds, error, spent, attempts, ..open.row(None) };
        open.begun_turn.note(&row);
    }

    pub(crate) fn failed_over(&self) -> &[TurnFailedOver] {
        self.open.as_ref().map_or(&[], |open| &open.view.failed_over)
    }

    pub(crate) fn errors(&self) -> &[UpstreamError] {
        self.open.as_ref().map_or(&[], |open| &open.errors)
    }

    pub(crate) fn view(&self) -> Option<&TurnView> {
        self.open.as_ref().map(|open| &open.view)
    }

    /// The gateway's own time after the member was done.
    pub(crate) fn took(&mut self, own: Duration) {
        if let Some(open) = &mut self.open {
            open.own += own;
        }
    }

    /// Milliseconds that the gateway itself took so far.
    pub(crate) fn own_ms(&self) -> f64 {
        self.open.as_ref().map_or(0.0, |open| open.own.as_secs_f64() * 1000.0)
    }

    /// The turn is over: what is known of its answer goes into the record. The ack is answered when it is on disk.
    pub(crate) fn end(mut self, watch: Option<&mut Watch>, status: TurnStatus) -> Option<Ack<()>> {
        self.close(watch, status)
    }

    fn close(&mut self, watch: Option<&mut Watch>, status: TurnStatus) -> Option<Ack<()>> {
        let mut open = self.open.take()?;
        let now_ms = self.gateway.clock().now_ms();
        // Whatever it looks like from where it is noticed.
        let is_stopped = status != TurnStatus::Ok && self.gateway.closing().is_cancelled();
        let status = if is_stopped { TurnStatus::Cancelled } else { status };
        open.view.alias = self.gateway.called_now(&open.view.alias);
        open.row.alias = self.gateway.called_now(&open.row.alias);
        open.view.status = status;
        open.view.seconds = Some(round(open.begun.elapsed().as_secs_f64()));
        open.view.overhead_ms = (open.own.as_secs_f64() * 1e6).round() / 1e3;
        let broke = match watch {
            Some(watch) => {
                watch.served_as = watch.served_as.take().map(|said| self.gateway.scrub(&said));
                open.watched(watch);
                open.view.answer = self.gateway.scrub(&watch.answer);
                Some(watch.error.take())
            }
            None => None,
        };
        open.over(broke.as_ref().and_then(Option::as_ref));
        let error = match broke {
            Some(broke) => broke.map(|error| (self.gateway.scrub(&describe(&error)), error.class)),
            None => open.errors.last().map(|error| (describe(error), error.class)),
        };
        let class = error.as_ref().map(|(_, class)| class_word(*class).to_owned());
        let is_error = matches!(status, TurnStatus::Error | TurnStatus::Empty);
        open.view.error = match is_stopped {
            true => STOPPED.to_owned(),
            false => error.filter(|_| is_error).map(|(said, _)| said).unwrap_or_default(),
        };
        let mut conversation = None;
        if let Some(it) = self.gateway.conversations().lock().get(&open.key) {
            let is_new = it.ended(&open.view.call, now_ms);
            it.view.count(&open.view);
            conversation = Some(it.view.clone());
            self.evidence(&open, is_new, now_ms);
        }
        if let Some(conversation) = conversation {
            let view = &open.view;
            self.gateway.live().turn(conversation, || view.clone());
        }
        let row = TurnRow {
            question: std::mem::take(&mut open.view.question),
            answer: std::mem::take(&mut open.view.answer),
            spent: std::mem::take(&mut open.spent),
            ..open.row(class.filter(|_| is_error))
        };
        let Open { begun_turn, unwritten, .. } = *open;
        Some(self.gateway.store().holding((begun_turn, unwritten)).turn_ended(row))
    }

    /// One offload for each model of a conversation; its later turns only make it younger.
    fn evidence(&self, open: &Open, is_new: bool, now_ms: i64) {
        if open.view.call.is_empty() {
            return;
        }
        let counts = Tally { offloads: u32::from(is_new), last_offload_ms: Some(now_ms), ..Tally::default() };
        let mut evidence = self.gateway.known().evidence();
        evidence.add(self.gateway.snapshot().called_now(&open.view.alias), &open.shape, counts);
    }

    fn tell(&self) {
        let Some(open) = &self.open else { return };
        let conversation = self.gateway.conversations().lock().get(&open.key).map(|it| it.view.clone());
        if let Some(conversation) = conversation {
            self.gateway.live().turn(conversation, || open.view.clone());
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if let Some(written) = self.close(None, TurnStatus::Cancelled) {
            // Shutting down waits for it.
            self.gateway.panel_tasks().spawn(written);
        }
    }
}

impl Open {
    /// The call that is under way has ended with the turn.
    fn over(&mut self, error: Option<&UpstreamError>) {
        let Some(metered) = self.metered.take() else { return };
        self.attempts += metered.again();
        let view = &self.view;
        let over = metered.end(&Ended {
            status: status_word(view.status),
            error,
            served_as: view.served_as.as_deref(),
            call: &view.call,
            turn: Some(view.turn),
            ..Ended::default()
        });
        self.spend(over);
    }

    fn spend(&mut self, over: Over) {
        self.spent.push(over.row);
        self.unwritten.extend(over.unwritten);
    }

    /// The row of the call that is under way, if the process ends now.
    fn cut_off(&self) -> Option<LedgerRow> {
        let cut_off = self.metered.as_ref()?.cut_off();
        Some(LedgerRow { call: self.view.call.clone(), turn: Some(self.view.turn), ..cut_off })
    }

    fn watched(&mut self, watch: &mut Watch) {
        let view = &mut self.view;
        let usage = watch.took();
        view.tool_calls = watch.tool_calls;
        view.finish = watch.finish.map(|finish| finish_word(finish).to_owned());
        view.served_as = watch.served_as.take();
        view.swapped = view.served_as.as_deref().is_some_and(|said| catalog::is_swap(&view.served, said));
        (view.tokens_in, view.tokens_out) = (usage.input, usage.output);
        view.tokens_reasoning = usage.reasoning;
        (view.cache_read, view.cache_write) = (usage.cache_read, usage.cache_write);
        view.cost = self.price.as_ref().and_then(|price| price.cost(&usage));
    }

    /// As it is recorded, without its texts and what it took.
    fn row(&self, error_class: Option<String>) -> TurnRow {
        let view = &self.view;
        TurnRow {
            conversation: self.row.clone(),
            n: view.turn,
            at_ms: self.at_ms,
            call: view.call.clone(),
            alias: view.alias.clone(),
            endpoint: view.endpoint.clone(),
            served: view.served.clone(),
            served_as: view.served_as.clone(),
            api: view.api.clone(),
            member_api: view.member_api.clone(),
            status: status_word(view.status).to_owned(),
            seconds: view.seconds.unwrap_or_default(),
            first_token_s: view.first_token_s,
            tool_calls: view.tool_calls,
            finish: view.finish.clone(),
            tokens_in: view.tokens_in,
            tokens_out: view.tokens_out,
            tokens_reasoning: view.tokens_reasoning,
            cache_read: view.cache_read,
            cache_write: view.cache_write,
            cost: view.cost,
            attempts: self.attempts,
            overhead_ms: view.overhead_ms,
            error_class,
            error: (!view.error.is_empty()).then(|| view.error.clone()),
            failed_over_json: json(&view.failed_over),
            skipped_json: self.skipped_json.clone(),
            lossy_json: json(&view.lossy),
            why_json: self.why_json.clone(),
            ..TurnRow::default()
        }
    }
}

impl ConversationView {
    /// Takes a turn that is over in.
    fn count(&mut self, turn: &TurnView) {
        let sum = |known: Option<u64>, more: Option<u64>| match (known, more) {
            (None, None) => None,
            (known, more) => Some(known.unwrap_or(0).saturating_add(more.unwrap_or(0))),
        };
        self.tool_calls += turn.tool_calls;
        // Where everybody failed nobody took over.
        self.failed_over += u32::from(!turn.call.is_empty() && !turn.failed_over.is_empty());
        self.tokens_in = sum(self.tokens_in, turn.tokens_in);
        self.tokens_out = sum(self.tokens_out, turn.tokens_out);
        self.status = turn.status;
        match turn.cost {
            Some(cost) => self.cost = Some(self.cost.unwrap_or(0.0) + cost),
            None => self.cost_unknown += 1,
        }
        if let Some(call) = self.calls.iter_mut().find(|call| call.call == turn.call) {
            call.status = turn.status;
        }
    }
}

fn why(order: TurnOrder) -> WhyThisModel {
    let candidate = |it: plan::Candidate| CandidateView {
        alias: it.alias,
        why: it.why,
        useful: it.record.shape.useful,
        judged: it.record.shape.judged,
        useful_overall: it.record.overall.useful,
        judged_overall: it.record.overall.judged,
        offloads: it.record.overall.offloads,
    };
    WhyThisModel { by: order.by, candidates: order.candidates.into_iter().map(candidate).collect() }
}

pub(crate) fn status_word(status: TurnStatus) -> &'static str {
    match status {
        TurnStatus::Running => "running",
        TurnStatus::Ok => "ok",
        TurnStatus::Empty => "empty",
        TurnStatus::Error => "error",
        TurnStatus::Cancelled => "cancelled",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_counts_as_failed_over_when_somebody_took_over() {
        let passed =
            |to: &str| TurnFailedOver { from: "a".to_owned(), to: to.to_owned(), why: String::new() };
        for (call, failed_over, wanted) in
            [("r1.1", vec![passed("b")], 1), ("", vec![passed("b"), passed("")], 0), ("r1.1", Vec::new(), 0)]
        {
            let mut conversation = ConversationView::default();
            conversation.count(&TurnView { call: call.to_owned(), failed_over, ..TurnView::default() });
            assert_eq!(conversation.failed_over, wanted, "{call}");
        }
    }
}
