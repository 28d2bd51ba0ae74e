//! Records as the outside sees them: panels, conversations, calls, verdicts, what is owed.

pub(crate) mod conversations;

use std::collections::HashMap;

use plan::Shape;
use serde::Serialize;
use serde_json::{Value, json};
use store::{
    ClearOutcome, Judged, NewVerdict, PlannedSeat, RecordFilter, RecordingState, StoreError, StoredCall,
    StoredPanel, VerdictOutcome, VerdictRow,
};

use crate::{
    callers,
    clock::rfc3339,
    gateway::Gateway,
    live::Recent,
    view::{LiveEvent, PanelState, PanelView, Recording, SeatKind, SeatStatus, SeatView, VerdictView},
};

use conversations::{RoutedCallView, is_routed};
pub use store::NewVerdict as Verdict;

/// Panels whose unjudged answers are owed a verdict.
const OWED_PANELS: u32 = 30;
const NOTE_CHARS: usize = 2_000;
const CLAIMS: usize = 20;
const CLAIM_CHARS: usize = 400;

#[derive(Debug, thiserror::Error)]
pub enum VerdictError {
    /// Names the field and the bound.
    #[error("{field}: {message}")]
    Invalid { field: &'static str, message: String },
    #[error("call: no call \"{0}\" is on record")]
    UnknownCall(String),
    #[error("the verdict could not be written down: {0}")]
    Store(#[from] StoreError),
}

/// A call: a panel's seat, or a model's work in a conversation.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum CallView {
    Seat(Box<SeatView>),
    Routed(Box<RoutedCallView>),
}

impl Gateway {
    /// Panels, newest first: those older than the panel `before`, or the newest.
    pub fn panels(&self, before: Option<&str>, limit: u32) -> Result<Vec<PanelView>, StoreError> {
        let stored = self.store().panels(before, limit)?;
        Ok(stored.into_iter().map(|panel| self.panel_view(panel)).collect())
    }

    /// What a listener is told first. Blocks.
    pub(crate) fn recent(&self) -> Recent {
        Recent {
            panels: self.panels(None, 30).unwrap_or_default(),
            conversations: self.conversation_page(None, 30).unwrap_or_default(),
        }
    }

    /// One panel: as it runs, or from the records.
    pub fn panel(&self, id: &str) -> Result<Option<PanelView>, StoreError> {
        if let Some(live) = self.live().panel(id) {
            return Ok(Some(live));
        }
        Ok(self.store().panel(id)?.map(|panel| self.panel_view(panel)))
    }

    /// Panels with answers owed a verdict, newest first, and the calls that are owed.
    pub fn owed(&self) -> Result<(Vec<PanelView>, Vec<String>), StoreError> {
        let stored = self.store().owed(OWED_PANELS)?;
        let calls = stored.iter().flat_map(|panel| &panel.calls).filter(|call| call.is_owed());
        let calls = calls.map(|call| call.row.call.clone()).collect();
        Ok((stored.into_iter().map(|panel| self.panel_view(panel)).collect(), calls))
    }

    /// How many verdicts are owed.
    pub fn owed_count(&self) -> Result<u32, StoreError> {
        self.store().owed_count(OWED_PANELS)
    }

    /// Gives a verdict; the same again writes nothing (`false`).
    pub async fn give_verdict(&self, verdict: NewVerdict) -> Result<bool, VerdictError> {
        check_verdict(&verdict)?;
        // Until the vault is open, no key is known that could be masked.
        self.vault().wait().await;
        let (gateway, verdict) = (self.clone(), self.without_keys(verdict));
        self.to_the_end(async move { gateway.write_verdict(verdict).await }).await
    }

    async fn write_verdict(&self, verdict: NewVerdict) -> Result<bool, VerdictError> {
        let call = verdict.call.clone();
        let in_turn = self.known().verdicts().await;
        match self.store().give_verdict(verdict).await? {
            VerdictOutcome::Given { recorded, verdict, judged } => {
                if recorded {
                    self.judged(&judged, Some(verdict.useful));
                    drop(in_turn);
                    self.verdict_changed(&call, Some(verdict_view(verdict))).await;
                }
                Ok(recorded)
            }
            VerdictOutcome::UnknownCall => Err(VerdictError::UnknownCall(call)),
        }
    }

    /// A caller that hangs up does not leave a verdict on disk that the evidence was not told of.
    async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, VerdictError>> + Send + 'static,
    ) -> Result<T, VerdictError> {
        self.panel_tasks().spawn(work).await.unwrap_or(Err(VerdictError::Store(StoreError::Closed)))
    }

    /// Masks known keys in what a person wrote.
    fn without_keys(&self, verdict: NewVerdict) -> NewVerdict {
        let all = |claims: Vec<String>| claims.iter().map(|claim| self.scrub(claim)).collect();
        NewVerdict {
            note: verdict.note.map(|note| self.scrub(&note)),
            real: verdict.real.map(all),
            false_claims: verdict.false_claims.map(all),
            ..verdict
        }
    }

    /// Withdraws a verdict; `false` when there was none.
    pub async fn clear_verdict(&self, call: &str, by: &str) -> Result<bool, VerdictError> {
        let (gateway, call, by) = (self.clone(), call.to_owned(), by.to_owned());
        self.to_the_end(async move { gateway.withdraw_verdict(call, by).await }).await
    }

    async fn withdraw_verdict(&self, call: String, by: String) -> Result<bool, VerdictError> {
        let in_turn = self.known().verdicts().await;
        match self.store().clear_verdict(call.clone(), by).await? {
            ClearOutcome::Cleared(judged) => {
                self.judged(&judged, None);
                drop(in_turn);
                self.verdict_changed(&call, None).await;
                Ok(true)
            }
            ClearOutcome::NothingStood => Ok(false),
            ClearOutcome::UnknownCall => Err(VerdictError::UnknownCall(call)),
        }
    }

    /// A panel's shape has become known: verdicts that were given before it count for it.
    pub(crate) async fn shape_recorded(
        &self,
        panel: String,
        shape: &Shape,
        shape_by: String,
        skipped_json: String,
    ) {
        let _in_turn = self.known().verdicts().await;
        let name = shape.name().to_owned();
        let Ok(judged) = self.store().panel_shaped(panel, name, shape_by, skipped_json).await else { return };
        let mut evidence = self.known().evidence();
        for Judged { alias, shape: before, was } in judged {
            evidence.verdict(&alias, &Shape::new(before), was, None);
            evidence.verdict(&alias, shape, None, was);
        }
    }

    fn judged(&self, judged: &Judged, now: Option<bool>) {
        let Judged { alias, shape, was } = judged;
        self.known().evidence().verdict(alias, &Shape::new(shape.clone()), *was, now);
    }

    async fn verdict_changed(&self, call: &str, verdict: Option<VerdictView>) {
        let store = self.store().clone();
        let owed = tokio::task::spawn_blocking(move || store.owed_count(OWED_PANELS)).await;
        let owed = owed.ok().and_then(Result::ok).unwrap_or_default();
        // A stand-in's call has a dot more than its seat's, a shadow's one more than the call it stands beside.
        let panel = call.split_once('.').map_or(call, |(panel, _)| panel).to_owned();
        self.live().seat_verdict(&panel, call, verdict.clone());
        self.live().routed_verdict(call, verdict.clone());
        self.live().publish(LiveEvent::VerdictChanged { panel, call: call.to_owned(), verdict, owed });
    }

    /// Counts by alias: what `GET /bench/record` answers.
    pub fn record(&self, filter: RecordFilter) -> Result<Value, StoreError> {
        let aliases: serde_json::Map<String, Value> = self
            .store()
            .record(filter)?
            .into_iter()
            .map(|row| {
                let counts = json!({
                    "useful": row.useful,
                    "notUseful": row.not_useful,
                    "judged": row.judged,
                    "lastAt": rfc3339(row.last_at_ms),
                });
                (row.alias, counts)
            })
            .collect();
        Ok(Value::Object(aliases))
    }

    /// Of the calls named, those that are known, answered and not judged.
    pub fn pending(&self, calls: &[String]) -> Result<Vec<String>, StoreError> {
        self.store().pending(calls)
    }

    /// Panels in which a query's words stand together, newest first: each with the calls in whose answer or
    /// verdict they do, and whether they do in its prompt.
    pub fn search(
        &self,
        query: &str,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Vec<(PanelView, Vec<String>, bool)>, StoreError> {
        let hits = self.store().search(query, before, limit)?;
        Ok(hits.into_iter().map(|hit| (self.panel_view(hit.panel), hit.calls, hit.in_prompt)).collect())
    }

    /// One call with its answer and verdict.
    pub(crate) fn call(&self, id: &str) -> Result<Option<CallView>, StoreError> {
        let Some(call) = self.store().call(id)? else { return Ok(None) };
        if is_routed(&call) {
            return Ok(Some(CallView::Routed(Box::new(self.routed_call(call)?))));
        }
        let panel = self.store().panel(&call.row.panel)?;
        let planned = panel.and_then(|panel| panel.row.seats.into_iter().find(|seat| seat.call == id));
        Ok(Some(CallView::Seat(Box::new(match planned {
            Some(planned) => seat_as_planned(planned, call),
            None => seat_view(call),
        }))))
    }

    /// A panel with late seats is over and still runs: the store does not know of those yet.
    fn panel_view(&self, stored: StoredPanel) -> PanelView {
        if let Some(live) = self.live().panel(&stored.row.id) {
            return live;
        }
        let StoredPanel { row, state, seconds, error, calls, note, failed_over_json, .. } = stored;
        let mut ended: HashMap<String, StoredCall> =
            calls.into_iter().map(|call| (call.row.call.clone(), call)).collect();
        let state = match state {
            store::PanelState::Done => PanelState::Done,
            store::PanelState::Failed => PanelState::Failed,
            store::PanelState::Interrupted => PanelState::Interrupted,
            store::PanelState::Running => PanelState::Running,
        };
        PanelView {
            id: row.id,
            collection: row.collection,
            at: rfc3339(row.at_ms),
            client: row.client,
            caller: callers::shown(&row.caller),
            system: row.system,
            prompt: row.prompt,
            turns: row.turns,
            shape: row.shape,
            shape_by: row.shape_by,
            reply: row.reply,
            state,
            seconds,
            seats: row
                .seats
                .into_iter()
                .map(|seat| match ended.remove(&seat.call) {
                    Some(call) => seat_as_planned(seat, call),
                    None => never_ended(seat),
                })
                .collect(),
            skipped: serde_json::from_str(&row.skipped_json).unwrap_or_default(),
            failed_over: serde_json::from_str(&failed_over_json).unwrap_or_default(),
            note,
            lossy: serde_json::from_str(&row.lossy_json).unwrap_or_default(),
            error,
            practice: row.practice,
        }
    }
}

/// A call that ended, with how it came to be asked.
fn seat_as_planned(planned: PlannedSeat, call: StoredCall) -> SeatView {
    SeatView { why: planned.why, stood_in_for: planned.stood_in_for, ..seat_view(call) }
}

fn seat_view(call: StoredCall) -> SeatView {
    let StoredCall { row, verdict, .. } = call;
    SeatView {
        call: row.call,
        seat: row.seat,
        kind: kind(&row.kind),
        alias: row.alias,
        endpoint: row.endpoint,
        why: String::new(),
        stood_in_for: None,
        status: match row.status.as_str() {
            "ok" => SeatStatus::Ok,
            "empty" => SeatStatus::Empty,
            "late" => SeatStatus::Late,
            "cancelled" => SeatStatus::Cancelled,
            _ => SeatStatus::Error,
        },
        seconds: Some(row.seconds),
        first_token_s: row.first_token_s,
        tokens_in: row.tokens_in,
        tokens_out: row.tokens_out,
        cost: row.cost,
        swapped_for: crate::panel::swapped(&row.served, row.served_as.as_deref()),
        answer: row.answer,
        error: row.error.unwrap_or_default(),
        verdict: verdict.map(verdict_view),
    }
}

fn kind(word: &str) -> SeatKind {
    match word {
        "explorer" => SeatKind::Explorer,
        "merger" => SeatKind::Merger,
        "reserve" => SeatKind::Reserve,
        _ => SeatKind::Member,
    }
}

/// A seat without a call: it was not sent, or nobody saw its end.
fn never_ended(seat: PlannedSeat) -> SeatView {
    let status = if seat.not_sent.is_some() { SeatStatus::Error } else { SeatStatus::Cancelled };
    SeatView {
        call: seat.call,
        seat: seat.seat,
        kind: kind(&seat.kind),
        alias: seat.alias,
        endpoint: seat.endpoint,
        why: seat.why,
        stood_in_for: seat.stood_in_for,
        status,
        seconds: None,
        first_token_s: None,
        tokens_in: None,
        tokens_out: None,
        cost: None,
        swapped_for: None,
        answer: String::new(),
        error: seat.not_sent.unwrap_or_default(),
        verdict: None,
    }
}

fn verdict_view(row: VerdictRow) -> VerdictView {
    VerdictView {
        call: row.call,
        useful: row.useful,
        note: row.note,
        real: row.real,
        false_claims: row.false_claims,
        at: rfc3339(row.at_ms),
    }
}

pub(crate) fn recording(state: &RecordingState) -> Recording {
    match state {
        RecordingState::Ok => Recording { ok: true, message: String::new() },
        RecordingState::Stopped { why, waiting, lost, .. } => {
            let mut message = format!(
                "Recording has stopped: {}. Answers still come; {waiting} records wait.",
                why.trim_end_matches('.')
            );
            if *lost > 0 {
                message.push_str(&format!(" {lost} could not be kept."));
            }
            Recording { ok: false, message }
        }
    }
}

fn check_verdict(verdict: &NewVerdict) -> Result<(), VerdictError> {
    let invalid = |field, message: String| Err(VerdictError::Invalid { field, message });
    if verdict.note.as_deref().is_some_and(|note| note.chars().count() > NOTE_CHARS) {
        return invalid("note", format!("at most {NOTE_CHARS} characters"));
    }
    for (field, claims) in [("real", &verdict.real), ("false", &verdict.false_claims)] {
        let Some(claims) = claims else { continue };
        if claims.len() > CLAIMS {
            return invalid(field, format!("at most {CLAIMS} claims"));
        }
        if claims.iter().any(|claim| claim.chars().count() > CLAIM_CHARS) {
            return invalid(field, format!("a claim has at most {CLAIM_CHARS} characters"));
        }
        if claims.iter().any(|claim| claim.trim().is_empty()) {
            return invalid(field, "a claim must not be empty".to_owned());
        }
    }
    Ok(())
}
