//! What is told and written of a panel: its start, who joins, its end.

use plan::ChosenShape;
use serde_json::Value;
use store::{PanelEnd as PanelEndRow, PanelOutcome, PanelRow, PlannedSeat};
use tokio::time::Instant;
use wire::{ApiError, Class, Kind, Notice, Origin, UpstreamError, Usage, estimate_text_tokens};

use super::{
    as_text::request_for_record,
    ask::{SeatPlan, skipped_views},
    put_together::PutTogether,
    reply::bench_object,
    run::{PanelEnd, Run, Update},
    seat::{SeatEnd, kind_word, round},
};
use crate::{
    alerts,
    view::{PanelState, SeatStatus},
};

impl Run {
    /// The panel begins, in the live view and on disk.
    pub(super) fn started(&self, seats: &[SeatPlan], notices: &[Notice]) {
        let mut view = self.panel.view(&self.gateway, self.shape.as_ref(), &self.skipped, notices);
        view.seats = seats.iter().map(SeatPlan::view).collect();
        let row = PanelRow {
            id: self.panel.id.clone(),
            at_ms: self.panel.at_ms,
            collection: view.collection.clone(),
            shape: view.shape.clone(),
            shape_by: view.shape_by.clone(),
            reply: view.reply.clone(),
            caller: self.panel.asking.caller.name().to_owned(),
            client: view.client.clone(),
            system: view.system.clone(),
            prompt: view.prompt.clone(),
            turns: view.turns,
            request_json: self.gateway.scrub(&request_for_record(&self.panel.asking.request)),
            skipped_json: json(&view.skipped),
            lossy_json: json(&view.lossy),
            practice: self.panel.practice,
            seats: seats.iter().map(planned).collect(),
        };
        self.gateway.live().started(view);
        // Not waited for: the writer keeps the order, so no call can be on disk before its panel.
        drop(self.gateway.store().panel_started(row));
    }

    /// One more model is about to be asked.
    pub(super) fn seat_added(&mut self, plan: &SeatPlan) {
        self.seats.push(plan.seat.clone());
        self.gateway.live().seat_added(&self.panel.id, plan.view());
        drop(self.gateway.store().seat_added(self.panel.id.clone(), planned(plan)));
    }

    /// The picker has said what the task is.
    pub(super) fn record_shape(&self) {
        let Some(ChosenShape { shape, by }) = self.shape.clone() else { return };
        let skipped = skipped_views(&self.skipped);
        let (id, skipped_json) = (self.panel.id.clone(), json(&skipped));
        self.gateway.live().shaped(&id, shape.name(), &by, skipped);
        let gateway = self.gateway.clone();
        self.gateway.panel_tasks().spawn(async move {
            gateway.shape_recorded(id, &shape, by, skipped_json).await;
        });
    }

    /// Closes the panel in the live view and on disk, and tells its caller. Late seats run on.
    pub(super) async fn finish(mut self, put_together: PutTogether) {
        let PutTogether { given, text, merges } = put_together;
        let shape = self.shape.clone().unwrap_or_else(|| ChosenShape {
            shape: plan::Shape::GENERAL,
            by: "the panel ended before it was chosen".to_owned(),
        });
        if self.shape.replace(shape.clone()).is_none() {
            self.record_shape();
            self.tell_all();
        }
        let failed = self.failure();
        let error = failed.as_ref().map(|error| error.message.clone());
        let seconds = round(self.begun.elapsed().as_secs_f64());
        let state = if failed.is_some() { PanelState::Failed } else { PanelState::Done };
        self.gateway.live().ended(&self.panel.id, |view| {
            view.state = state;
            view.seconds = Some(seconds);
            view.error = error.clone();
            view.reply = given.reply.to_owned();
            view.note = given.note.clone();
            for seat in &mut view.seats {
                if matches!(seat.status, SeatStatus::Waiting | SeatStatus::Answering) {
                    seat.status = SeatStatus::Cancelled;
                }
            }
        });
        alerts::after_panel(&self.gateway, &self.panel, error.as_deref());
        let own = self.before + Instant::now().saturating_duration_since(self.last_done);
        let overhead_ms = (own.as_secs_f64() * 1e6).round() / 1e3;
        let on_disk = self.gateway.store().panel_ended(PanelEndRow {
            id: self.panel.id.clone(),
            seconds,
            state: if failed.is_some() { PanelOutcome::Failed } else { PanelOutcome::Done },
            error,
            overhead_ms,
            reply: given.reply.to_owned(),
            note: given.note.clone(),
            failed_over_json: json(&self.failed_over),
        });
        let outline = self.panel.outline(&shape, &self.seats, &self.skipped);
        let bench = bench_object(&outline, &self.ended, &self.failed_over, &given);
        let usage = self.usage(&merges);
        let seats = self.ended.iter().map(|end| end.view.clone()).collect();
        let end = PanelEnd { text, bench, seats, usage, failed, overhead_ms };
        let _ = self.updates.send(Update::End(Box::new(end)));

        // The caller has all there is. What is still on its way is recorded as it comes.
        let closing = self.gateway.closing().clone();
        loop {
            tokio::select! {
                joined = self.running.join_next() => match joined {
                    Some(Ok(mut end)) => self.tell_evidence(&mut end),
                    Some(Err(error)) => self.seat_lost(&error),
                    None => break,
                },
                () = closing.cancelled() => self.running.shutdown().await,
            }
        }
        self.tell_all();
        // Whether it could be written or not: what is not on disk is not kept in memory for ever.
        let _ = on_disk.await;
        self.gateway.live().on_disk(&self.panel.id);
    }

    /// The sum of the seats' own counts where known, else the estimate.
    fn usage(&self, merges: &[SeatEnd]) -> Usage {
        let answered = || self.ended.iter().chain(merges).filter(|end| end.view.status == SeatStatus::Ok);
        // Counts are the providers' word: two absurd ones must not cost the panel.
        let sum = |counts: &mut dyn Iterator<Item = u64>| Some(counts.fold(0, u64::saturating_add));
        Usage {
            input: sum(&mut answered().map(|end| end.usage.input.unwrap_or(self.panel.estimate))),
            output: sum(&mut answered()
                .map(|end| end.usage.output.unwrap_or_else(|| estimate_text_tokens(&end.view.answer)))),
            ..Usage::default()
        }
    }

    /// The error of a panel in which nobody answered: 429 when every failure was a rate limit, else 502.
    fn failure(&self) -> Option<ApiError> {
        let ended = &self.ended;
        if ended.iter().any(|end| end.view.status == SeatStatus::Ok) {
            return None;
        }
        let handed_over = self.failed_over.iter().map(|it| (&it.from, wire::redact::shorten(&it.why, 200)));
        let reasons = by_reason(handed_over.chain(ended.iter().map(|end| {
            let why = match end.view.status {
                SeatStatus::Late => "no answer yet".to_owned(),
                SeatStatus::Empty => "an empty answer".to_owned(),
                _ => wire::redact::shorten(&end.view.error, 200),
            };
            (&end.view.alias, why)
        })));
        let collection = &self.panel.asking.collection;
        let message = match reasons.is_empty() {
            true => format!("The panel of bench/{collection} was stopped before anybody answered."),
            false => format!("No seat of bench/{collection} answered. {}", reasons),
        };
        let errors = || ended.iter().map(|end| &end.error).chain(&self.handed_over).map(Option::as_ref);
        let rate_limited =
            |error: &UpstreamError| error.class == Class::Capacity && error.status == Some(429);
        let all_limited = !ended.is_empty() && errors().all(|error| error.is_some_and(rate_limited));
        let (kind, code) =
            if all_limited { (Kind::RateLimit, "all_rate_limited") } else { (Kind::Upstream, "no_answer") };
        let mut error = ApiError::new(kind, Origin::Upstream, code, message);
        if all_limited {
            error.retry_after = errors().flatten().filter_map(|error| error.retry_after).min();
        }
        Some(error)
    }
}

/// Why each failed, a reason that several share said once: `alpha, beta: out of credit; gamma: no answer yet`.
fn by_reason<'a>(failed: impl Iterator<Item = (&'a String, String)>) -> String {
    let mut reasons: Vec<(String, String)> = Vec::new();
    for (alias, why) in failed {
        match reasons.iter_mut().find(|(_, said)| *said == why) {
            Some((aliases, _)) => {
                aliases.push_str(", ");
                aliases.push_str(alias);
            }
            None => reasons.push((alias.clone(), why)),
        }
    }
    let reasons: Vec<String> =
        reasons.into_iter().map(|(aliases, why)| format!("{aliases}: {why}")).collect();
    reasons.join("; ")
}

fn planned(plan: &SeatPlan) -> PlannedSeat {
    PlannedSeat {
        call: plan.call.clone(),
        seat: plan.seat.seat.clone(),
        kind: kind_word(plan.seat.kind.into()).to_owned(),
        alias: plan.model.alias.clone(),
        endpoint: plan.endpoint.name.clone(),
        why: plan.why().to_owned(),
        stood_in_for: plan.stood_in_for.clone(),
        not_sent: None,
    }
}

/// These hold text, numbers and lists: they always serialise.
pub(crate) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).map_or_else(|_| "[]".to_owned(), |value: Value| value.to_string())
}
