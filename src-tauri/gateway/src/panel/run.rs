//! A panel's run: seats side by side, each told as it ends, then the panel's end.

use std::{collections::HashMap, sync::Arc, time::Duration};

use serde_json::Value;
use store::{PanelEnd as PanelEndRow, PanelOutcome, PanelRow, PlannedSeat};
use tokio::{sync::mpsc, task::JoinSet, time::Instant};
use tokio_util::sync::{CancellationToken, DropGuard};
use wire::{ApiError, Class, Kind, Origin, Usage, estimate_text_tokens};

use super::{
    ask::{Seated, request_for_record},
    reply::bench_object,
    seat::{SeatEnd, run_seat},
};
use crate::{
    alerts,
    gateway::Gateway,
    view::{PanelState, PanelView, SeatStatus},
};

/// A panel on its way, as its caller sees it. Dropping it is hanging up.
pub(crate) struct Running {
    pub panel: Arc<Seated>,
    pub updates: mpsc::Receiver<Update>,
    hang_up: Option<DropGuard>,
}

impl Running {
    /// Lets the panel run to its end with nobody waiting for it.
    pub(crate) fn leave_running(mut self) {
        if let Some(guard) = self.hang_up.take() {
            guard.disarm();
        }
    }
}

#[expect(clippy::large_enum_variant, reason = "a handful a panel, moved once")]
pub(crate) enum Update {
    Seat(SeatEnd),
    /// The last one.
    End(PanelEnd),
}

pub(crate) struct PanelEnd {
    pub bench: Value,
    pub usage: Usage,
    /// Nobody answered.
    pub failed: Option<ApiError>,
    /// The panel's time beyond its slowest seat's: before its call, and after its end. In milliseconds.
    pub overhead_ms: f64,
}

/// Begins a panel. It runs in the gateway's own tasks, so that a caller who leaves does not stop it (unless
/// the owner set it so); the channel holds every update it will ever send, so it never waits for its caller.
pub(crate) fn run(gateway: &Gateway, seated: Seated) -> Running {
    let panel = Arc::new(seated);
    let (sender, updates) = mpsc::channel(panel.seats.len() + 1);
    let cancel = gateway.closing().child_token();
    let hang_up = match panel.snapshot.setup.settings.panel_on_hangup {
        plan::OnHangup::Finish => None,
        plan::OnHangup::Cancel => Some(cancel.clone().drop_guard()),
    };
    gateway.panel_tasks().spawn(run_to_end(gateway.clone(), panel.clone(), sender, cancel));
    Running { panel, updates, hang_up }
}

async fn run_to_end(
    gateway: Gateway,
    panel: Arc<Seated>,
    updates: mpsc::Sender<Update>,
    cancel: CancellationToken,
) {
    let begun = Instant::now();
    if !panel.practice {
        // Until the vault is open, no key is known that could be masked; the seats wait for theirs too.
        gateway.vault().wait().await;
    }
    let view = panel.view(&gateway);
    let row = panel_row(&gateway, &panel, view.clone());
    gateway.live().started(view);
    // Not waited for: the writer keeps the order, so no call can be on disk before its panel.
    drop(gateway.store().panel_started(row));

    let mut running = JoinSet::new();
    let mut seat_of = HashMap::new();
    for at in 0..panel.seats.len() {
        let task = running.spawn(run_seat(gateway.clone(), panel.clone(), at));
        seat_of.insert(task.id(), at);
    }
    let mut ended: Vec<SeatEnd> = Vec::with_capacity(panel.seats.len());
    loop {
        let joined = tokio::select! {
            joined = running.join_next_with_id() => joined,
            () = cancel.cancelled() => break,
        };
        match joined {
            Some(Ok((_, end))) => {
                // A caller who has left is told nothing.
                let _ = updates.try_send(Update::Seat(end.clone()));
                ended.push(end);
            }
            Some(Err(error)) => {
                tracing::error!(panel = panel.id, seat = seat_of.get(&error.id()), "a seat's task failed");
            }
            None => break,
        }
    }
    running.shutdown().await;
    let end = finish(&gateway, &panel, ended, begun.elapsed()).await;
    let _ = updates.try_send(Update::End(end));
}

/// Closes the panel in the live view and on disk.
async fn finish(gateway: &Gateway, panel: &Seated, mut ended: Vec<SeatEnd>, took: Duration) -> PanelEnd {
    ended.sort_by_key(|end| end.at);
    let slowest = ended.iter().filter_map(|end| end.view.seconds).fold(0.0, f64::max);
    let overhead_ms = ((took.as_secs_f64() - slowest).max(0.0) * 1e6).round() / 1e3;
    let failed = failure(panel, &ended);
    let seconds = (took.as_secs_f64() * 1000.0).round() / 1000.0;
    let error = failed.as_ref().map(|error| error.message.clone());
    let state = if failed.is_some() { PanelState::Failed } else { PanelState::Done };

    gateway.live().ended(&panel.id, |view| {
        view.state = state;
        view.seconds = Some(seconds);
        view.error = error.clone();
        for seat in &mut view.seats {
            if matches!(seat.status, SeatStatus::Waiting | SeatStatus::Answering) {
                seat.status = SeatStatus::Cancelled;
            }
        }
    });
    alerts::after_panel(gateway, panel, error.as_deref());
    let on_disk = gateway.store().panel_ended(PanelEndRow {
        id: panel.id.clone(),
        seconds,
        state: if failed.is_some() { PanelOutcome::Failed } else { PanelOutcome::Done },
        error,
        overhead_ms,
    });
    let live = gateway.live().clone();
    let id = panel.id.clone();
    gateway.panel_tasks().spawn(async move {
        // Whether it could be written or not: what is not on disk is not kept in memory for ever.
        let _ = on_disk.await;
        live.on_disk(&id);
    });
    let usage = usage(panel, &ended);
    PanelEnd { bench: bench_object(panel, &ended), usage, failed, overhead_ms }
}

/// The sum of the seats' own counts where known, else the estimate.
fn usage(panel: &Seated, ended: &[SeatEnd]) -> Usage {
    let answered = || ended.iter().filter(|end| end.error.is_none());
    // Counts are the providers' word: two absurd ones must not cost the panel.
    let sum = |counts: &mut dyn Iterator<Item = u64>| Some(counts.fold(0, u64::saturating_add));
    Usage {
        input: sum(&mut answered().map(|end| end.usage.input.unwrap_or(panel.estimate))),
        output: sum(&mut answered()
            .map(|end| end.usage.output.unwrap_or_else(|| estimate_text_tokens(&end.view.answer)))),
        ..Usage::default()
    }
}

/// The error of a panel in which nobody answered: 429 when every failure was a rate limit, else 502.
fn failure(panel: &Seated, ended: &[SeatEnd]) -> Option<ApiError> {
    if ended.iter().any(|end| end.view.status == SeatStatus::Ok) {
        return None;
    }
    let reasons: Vec<String> = ended
        .iter()
        .map(|end| match &end.error {
            Some(_) => format!("{}: {}", end.view.alias, wire::redact::shorten(&end.view.error, 200)),
            None => format!("{}: an empty answer", end.view.alias),
        })
        .collect();
    let message = if reasons.is_empty() {
        format!("The panel of bench/{} was stopped before anybody answered.", panel.asking.collection)
    } else {
        format!("No seat of bench/{} answered. {}", panel.asking.collection, reasons.join("; "))
    };
    let rate_limited = |end: &SeatEnd| {
        end.error.as_ref().is_some_and(|error| error.class == Class::Capacity && error.status == Some(429))
    };
    let all_limited = !ended.is_empty() && ended.iter().all(rate_limited);
    let (kind, code) =
        if all_limited { (Kind::RateLimit, "all_rate_limited") } else { (Kind::Upstream, "no_answer") };
    let mut error = ApiError::new(kind, Origin::Upstream, code, message);
    if all_limited {
        error.retry_after = ended.iter().filter_map(|end| end.error.as_ref()?.retry_after).min();
    }
    Some(error)
}

fn panel_row(gateway: &Gateway, panel: &Seated, view: PanelView) -> PanelRow {
    let skipped: Vec<Value> = panel
        .skipped
        .iter()
        .map(|skipped| serde_json::json!({"seat": skipped.seat, "alias": skipped.alias, "why": skipped.why}))
        .collect();
    PanelRow {
        id: panel.id.clone(),
        at_ms: panel.at_ms,
        collection: view.collection,
        shape: view.shape,
        shape_by: view.shape_by,
        reply: view.reply,
        caller: "local".to_owned(),
        client: view.client,
        system: view.system,
        prompt: view.prompt,
        turns: view.turns,
        request_json: gateway.scrub(&request_for_record(&panel.asking.request)),
        skipped_json: Value::Array(skipped).to_string(),
        lossy_json: serde_json::to_string(&panel.notices).unwrap_or_default(),
        practice: panel.practice,
        seats: panel
            .seats
            .iter()
            .map(|plan| PlannedSeat {
                call: plan.call.clone(),
                seat: plan.seat.seat.clone(),
                kind: "member".to_owned(),
                alias: plan.model.alias.clone(),
                endpoint: plan.endpoint.name.clone(),
            })
            .collect(),
    }
}
