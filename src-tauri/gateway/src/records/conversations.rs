//! Routed conversations as the outside sees them: from the records, and as they are now where a turn was taken since
//! the start.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use store::{ConversationRow, StoreError, StoredCall, StoredConversation, Totals, TurnRow};

use super::verdict_view;
use crate::{
    callers,
    clock::rfc3339,
    gateway::Gateway,
    view::{ConversationView, RoutedCall, TurnStatus, TurnView, WhyThisModel},
};

/// Turns of one call that are told at once, the newest of them.
const TURNS: usize = 100;
/// Rows that are read at a time to find them.
const ROWS: u32 = 200;

/// A model's work in a conversation, with what it was: what `GET /bench/calls/{id}` answers.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RoutedCallView {
    #[serde(flatten)]
    pub call: RoutedCall,
    /// All its turns together.
    pub seconds: f64,
    pub first_token_s: Option<f64>,
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    /// Redacted; empty when its newest turn was answered.
    pub error: String,
    /// `null` where its own record was lost.
    pub conversation: Option<ConversationView>,
    /// Why it took its first turn, with the candidates and their counts; `null` for a shadow.
    pub why: Option<WhyThisModel>,
    /// Its newest turns, newest first; none of a shadow.
    pub turns: Vec<TurnView>,
}

impl Gateway {
    /// Conversations, the newest turn first: those after the conversation `before`, or the newest.
    pub fn conversation_page(
        &self,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Vec<ConversationView>, StoreError> {
        let live = self.live().conversations();
        // One that a turn was taken in since the start stands where that turn puts it, and not where the records do.
        let place = |it: &ConversationView| (it.last_at.clone(), it.id.clone());
        let after = before.map(|id| live.iter().find(|it| it.id == id).map(place));
        if let Some(None) = after {
            return Ok(with_live(self.store().conversations(before, limit)?, live, false));
        }
        let spare = u32::try_from(live.len()).unwrap_or(u32::MAX);
        let stored = self.store().conversations(None, limit.saturating_add(spare))?;
        let mut all = with_live(stored, live, true);
        all.sort_by_cached_key(|it| std::cmp::Reverse(place(it)));
        if let Some(Some(after)) = after {
            all.retain(|it| place(it) < after);
        }
        all.truncate(limit as usize);
        Ok(all)
    }

    /// One conversation: as it is now, or from the records.
    pub fn conversation(&self, id: &str) -> Result<Option<ConversationView>, StoreError> {
        let live = self.live().conversations().into_iter().find(|it| it.id == id);
        Ok(match (self.store().conversation(id)?, live) {
            (Some(stored), Some(live)) => Some(with_record(live, stored)),
            (None, live) => live,
            (Some(stored), None) => Some(conversation_view(stored)),
        })
    }

    /// A conversation's ended turns, newest first: those before the turn `before`, or the newest.
    pub fn turns(
        &self,
        conversation: &str,
        before: Option<u32>,
        limit: u32,
    ) -> Result<Vec<TurnView>, StoreError> {
        let rows = self.store().turns(conversation, before, limit)?;
        Ok(rows.into_iter().map(turn_view).collect())
    }

    pub(super) fn routed_call(&self, stored: StoredCall) -> Result<RoutedCallView, StoreError> {
        let conversation = self.conversation(&stored.row.panel)?;
        let (why, turns) = match stored.row.kind.as_str() {
            ROUTE => {
                let first = self.store().turn_of_call(&stored.row.call)?;
                (first.map(|turn| json(&turn.why_json)), self.turns_of(&stored)?)
            }
            _ => (None, Vec::new()),
        };
        Ok(RoutedCallView {
            seconds: stored.row.seconds,
            first_token_s: stored.row.first_token_s,
            tokens_in: stored.row.tokens_in,
            tokens_out: stored.row.tokens_out,
            error: stored.row.error.clone().unwrap_or_default(),
            call: routed(stored),
            conversation,
            why,
            turns,
        })
    }

    /// The newest turns that a call's model answered.
    fn turns_of(&self, call: &StoredCall) -> Result<Vec<TurnView>, StoreError> {
        let (mut turns, mut before) = (Vec::new(), None);
        loop {
            let rows = self.store().turns(&call.row.panel, before, ROWS)?;
            let last = rows.last().map(|row| row.n);
            turns.extend(rows.into_iter().filter(|row| row.call == call.row.call).map(turn_view));
            turns.truncate(TURNS);
            if turns.len() == TURNS || last.is_none_or(|n| n <= 1) {
                return Ok(turns);
            }
            before = last;
        }
    }
}

const ROUTE: &str = "route";
const SHADOW: &str = "shadow";

/// Whether a call is a conversation's and not a panel's.
pub(super) fn is_routed(call: &StoredCall) -> bool {
    matches!(call.row.kind.as_str(), ROUTE | SHADOW)
}

/// What is stored, as it is now where it is live; with the live ones that are not stored yet, if those are asked for.
fn with_live(
    stored: Vec<StoredConversation>,
    live: Vec<ConversationView>,
    all: bool,
) -> Vec<ConversationView> {
    let mut live: HashMap<String, ConversationView> =
        live.into_iter().map(|it| (it.id.clone(), it)).collect();
    let mut views: Vec<ConversationView> = stored
        .into_iter()
        .map(|stored| match live.remove(&stored.row.id) {
            Some(live) => with_record(live, stored),
            None => conversation_view(stored),
        })
        .collect();
    if all {
        views.extend(live.into_values());
    }
    views
}

/// As it is now, judged as the record says: a verdict is on disk before anybody is told of it. What the record has of
/// calls from before the start comes with it.
fn with_record(mut live: ConversationView, stored: StoredConversation) -> ConversationView {
    let stored = conversation_view(stored);
    live.take_verdicts(&stored);
    let known: HashSet<String> = live.calls.iter().map(|call| call.call.clone()).collect();
    live.calls.extend(stored.calls.into_iter().filter(|call| !known.contains(&call.call)));
    live.calls.sort_by_key(|call| (call.shadow, call.turn));
    live
}

/// A conversation as its newest ended turn left it.
fn conversation_view(stored: StoredConversation) -> ConversationView {
    let StoredConversation { row, last_at_ms, turns, totals, calls } = stored;
    let mut calls: Vec<RoutedCall> = calls.into_iter().map(routed).collect();
    calls.sort_by_key(|call| call.shadow);
    ConversationView { calls, ..at_rest(row, last_at_ms, turns, totals) }
}

/// The same, without its calls.
pub(crate) fn at_rest(row: ConversationRow, last_at_ms: i64, turns: u32, totals: Totals) -> ConversationView {
    ConversationView {
        id: row.id,
        collection: row.collection,
        at: rfc3339(row.at_ms),
        last_at: rfc3339(last_at_ms),
        client: row.client,
        caller: callers::shown(&row.caller),
        title: row.title,
        alias: row.alias,
        running: false,
        turns,
        tool_calls: totals.tool_calls,
        failed_over: totals.failed_over,
        tokens_in: totals.tokens_in,
        tokens_out: totals.tokens_out,
        cost: totals.cost,
        cost_unknown: totals.cost_unknown,
        status: status_of(&totals.status),
        calls: Vec::new(),
        practice: row.practice,
    }
}

fn routed(call: StoredCall) -> RoutedCall {
    RoutedCall {
        shadow: call.row.kind == SHADOW,
        // A shadow's seat is the turn that it was put: `turn12`.
        turn: call.row.seat.strip_prefix("turn").and_then(|n| n.parse().ok()),
        status: status_of(&call.row.status),
        call: call.row.call,
        alias: call.row.alias,
        endpoint: call.row.endpoint,
        answer: call.row.answer,
        verdict: call.verdict.map(verdict_view),
    }
}

fn turn_view(row: TurnRow) -> TurnView {
    TurnView {
        conversation: row.conversation.id,
        turn: row.n,
        at: rfc3339(row.at_ms),
        call: row.call,
        alias: row.alias,
        endpoint: row.endpoint,
        swapped: row.served_as.as_deref().is_some_and(|said| catalog::is_swap(&row.served, said)),
        served: row.served,
        served_as: row.served_as,
        api: row.api,
        member_api: row.member_api,
        status: status_of(&row.status),
        seconds: Some(row.seconds),
        first_token_s: row.first_token_s,
        tool_calls: row.tool_calls,
        finish: row.finish,
        tokens_in: row.tokens_in,
        tokens_out: row.tokens_out,
        tokens_reasoning: row.tokens_reasoning,
        cache_read: row.cache_read,
        cache_write: row.cache_write,
        cost: row.cost,
        overhead_ms: row.overhead_ms,
        error: row.error.unwrap_or_default(),
        failed_over: json(&row.failed_over_json),
        skipped: json(&row.skipped_json),
        lossy: json(&row.lossy_json),
        why: json(&row.why_json),
        question: row.question,
        answer: row.answer,
    }
}

/// What was written as it is shown.
fn json<T: Default + for<'a> Deserialize<'a>>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_default()
}

fn status_of(word: &str) -> TurnStatus {
    match word {
        "ok" => TurnStatus::Ok,
        "empty" => TurnStatus::Empty,
        "cancelled" => TurnStatus::Cancelled,
        _ => TurnStatus::Error,
    }
}

#[cfg(test)]
mod tests;
