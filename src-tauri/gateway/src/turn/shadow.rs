//! Shadows (route.md §7): the same turn, put to other members once its caller has been answered. Nothing the caller
//! sees waits for them or changes because of them; their tools are never run.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use plan::{DAY_MS, Shape};
use store::CallRow;
use tokio::time::Instant;
use wire::{Json, Request, UpstreamError};

use super::{
    Turn,
    answering::Answering,
    asked::{Asked, Said},
    commit::{Features, Patience, send},
    watch::Watch,
};
use crate::{
    asking::Again,
    callers::Caller,
    facts::Holds,
    gateway::Gateway,
    metered::{Call, Ended, Metered, Purpose},
    panel::{class_word, describe, finish_word, round},
    setup::Snapshot,
    view::{RoutedCall, TurnStatus},
};

/// What shadows are asked, and where their answers belong.
pub(super) struct Shadows {
    gateway: Gateway,
    snapshot: Arc<Snapshot>,
    request: Request,
    body: Json,
    features: Features,
    conversation: String,
    key: String,
    /// The call that they stand beside, and its turn.
    call: String,
    turn: u32,
    collection: String,
    caller: Caller,
    shape: Shape,
    practice: bool,
    aliases: Vec<String>,
    /// Tokens a day; 0 is no limit.
    budget: u64,
    patience: Patience,
    /// Of its input, in tokens.
    estimate: u64,
}

impl Turn {
    /// The shadows of a turn that was answered by `alias`; `None` when it has none.
    pub(super) fn shadows(&self, alias: &str) -> Option<Shadows> {
        if !self.shadowed {
            return None;
        }
        let view = self.record.view()?;
        let failed = |alias: &str| view.failed_over.iter().any(|it| it.from == alias);
        let others =
            self.order.iter().filter(|it| it.alias != alias && it.held_back.is_none() && !failed(&it.alias));
        let aliases: Vec<String> =
            others.take(self.collection.shadow as usize).map(|it| it.alias.clone()).collect();
        (!aliases.is_empty()).then(|| Shadows {
            gateway: self.gateway.clone(),
            snapshot: self.snapshot.clone(),
            request: self.request.clone(),
            body: self.body.clone(),
            features: self.features.clone(),
            conversation: self.conversation.clone(),
            key: self.key.clone(),
            call: view.call.clone(),
            turn: view.turn,
            collection: self.collection.name.clone(),
            caller: self.caller.clone(),
            shape: self.collection.shape_or_general(),
            practice: self.snapshot.is_practice_collection(&self.collection),
            aliases,
            budget: self.collection.shadow_tokens,
            patience: self.patience,
            estimate: self.estimate,
        })
    }
}

impl Shadows {
    /// Asks them side by side, in a task of its own. A gateway that stops waits for none.
    pub(super) fn begin(self) {
        let tasks = self.gateway.panel_tasks().clone();
        let stopping = self.gateway.stopping().clone();
        tasks.spawn(async move {
            tokio::select! {
                biased;
                () = stopping.cancelled() => {}
                () = self.ask_all() => {}
            }
        });
    }

    async fn ask_all(self) {
        let mut room = self.aliases.len();
        if self.budget > 0 {
            // Each will take what it is asked, at the least.
            let left = self.budget.saturating_sub(self.spent_today().await);
            room = usize::try_from(left.div_ceil(self.estimate.max(1))).unwrap_or(usize::MAX);
        }
        join_all(self.aliases.iter().take(room).map(|alias| self.ask(alias))).await;
    }

    /// Tokens that the collection's shadows have taken since midnight, UTC.
    async fn spent_today(&self) -> u64 {
        let now_ms = self.gateway.clock().now_ms();
        let since_ms = now_ms - now_ms.rem_euclid(DAY_MS);
        let (store, collection) = (self.gateway.store().clone(), self.collection.clone());
        let read = tokio::task::spawn_blocking(move || store.shadow_tokens(&collection, since_ms)).await;
        // What cannot be read is not spent past.
        read.ok().and_then(Result::ok).unwrap_or(u64::MAX)
    }

    async fn ask(&self, alias: &str) {
        let Some(it) = self.snapshot.roster.get(alias) else { return };
        let started_ms = self.gateway.clock().now_ms();
        let begun = Instant::now();
        let (endpoint, served) = (it.model.endpoint.clone(), it.model.served.clone());
        let mut again = Again::default();
        let (asked, metered, sent) = loop {
            let said = Said { request: &self.request, body: &self.body, conversation: &self.conversation };
            let Some(Ok(asked)) = Asked::new(&self.gateway, &self.snapshot, alias, said) else { return };
            let call = Call {
                snapshot: &self.snapshot,
                it,
                purpose: Purpose::Shadow,
                collection: &self.collection,
                caller: &self.caller,
                body: &asked.body,
                estimate: self.estimate,
                holds: Holds::of(&self.request),
            };
            // One that its endpoint's limits have no room for is left out.
            let Ok(metered) = self.gateway.admit(call).await else { return };
            let streamed = self.request.stream;
            let whom = (it, &asked, metered.sends());
            let sent = send(&self.gateway, whom, &self.features, streamed, self.patience).await;
            match &sent {
                Err(failed) if again.learns(|| self.gateway.learn(it, &failed.error)) => {
                    let (error, turn) = (Some(&failed.error), Some(self.turn));
                    let over = metered.end(&Ended { status: "error", error, turn, ..Ended::default() });
                    drop(self.gateway.spent(over));
                }
                _ => break (asked, metered, sent),
            }
        };
        let (watch, error) = match sent {
            Err(failed) => (None, Some(failed.error)),
            Ok(incoming) => {
                let listening = self.gateway.origins().listen(asked.member, &self.conversation);
                let watch = Watch::new(listening, metered.sends(), false, true);
                let closing = self.gateway.stopping().child_token();
                let mut answering =
                    Answering::new(asked, incoming, &self.request, watch, self.patience.idle, closing);
                while !answering.watch.is_over() {
                    answering.read().await;
                    answering.forget();
                }
                let error = answering.watch.error.take();
                (Some(answering.watch), error)
            }
        };
        self.record((alias, endpoint, served), metered, started_ms, begun.elapsed(), watch, error).await;
    }

    async fn record(
        &self,
        (alias, endpoint, served): (&str, String, String),
        metered: Metered,
        started_ms: i64,
        took: Duration,
        watch: Option<Watch>,
        error: Option<UpstreamError>,
    ) {
        let mut answer = String::new();
        let mut row = CallRow {
            panel: self.conversation.clone(),
            seat: format!("turn{}", self.turn),
            kind: "shadow".to_owned(),
            alias: self.gateway.called_now(alias),
            endpoint: endpoint.clone(),
            served,
            started_ms,
            seconds: round(took.as_secs_f64()),
            attempts: metered.times(),
            practice: self.practice,
            ..CallRow::default()
        };
        if let Some(watch) = watch {
            let usage = watch.took();
            row.finish = watch.finish.map(|finish| finish_word(finish).to_owned());
            row.first_token_s =
                watch.first_piece.map(|at| round(took.as_secs_f64() - at.elapsed().as_secs_f64()));
            (row.tokens_in, row.tokens_out) = (usage.input, usage.output);
            row.tokens_reasoning = usage.reasoning;
            (row.cache_read, row.cache_write) = (usage.cache_read, usage.cache_write);
            row.served_as = watch.served_as.map(|said| self.gateway.scrub(&said));
            answer = self.gateway.scrub(&watch.answer);
        }
        let status = match &error {
            Some(_) => TurnStatus::Error,
            None if answer.trim().is_empty() => TurnStatus::Empty,
            None => TurnStatus::Ok,
        };
        super::record::status_word(status).clone_into(&mut row.status);
        row.error = error.as_ref().map(|error| self.gateway.scrub(&describe(error)));
        row.error_class = error.as_ref().map(|error| class_word(error.class).to_owned());
        row.answer.clone_from(&answer);
        let ended = Ended {
            status: super::record::status_word(status),
            error: error.as_ref(),
            served_as: row.served_as.as_deref(),
            first_token_s: row.first_token_s,
            turn: Some(self.turn),
            ..Ended::default()
        };
        let mut over = metered.end(&ended);
        let shape = self.shape.name().to_owned();
        let at_ms = self.gateway.clock().now_ms();
        let conversation = {
            let mut known = self.gateway.conversations().lock();
            let Some(it) = known.get(&self.key).filter(|it| it.view.id == self.conversation) else {
                // Its conversation is over: there is no call to judge, and what it took was spent.
                drop(self.gateway.spent(over));
                return;
            };
            row.call = it.shadow(&self.call);
            over.row.call.clone_from(&row.call);
            row.cost = over.row.cost;
            row.spent = Some(over.row);
            it.view.calls.push(RoutedCall {
                call: row.call.clone(),
                alias: self.gateway.called_now(alias),
                endpoint,
                shadow: true,
                turn: Some(self.turn),
                status,
                answer,
                verdict: None,
            });
            it.view.clone()
        };
        let store = self.gateway.store().holding(over.unwritten);
        let _ = store.shadow_ended(row, self.collection.clone(), shape).await;
        let mut evidence = self.gateway.known().evidence();
        evidence.offload(self.gateway.snapshot().called_now(alias), &self.shape, at_ms);
        drop(evidence);
        self.gateway.live().conversation(conversation);
    }
}
