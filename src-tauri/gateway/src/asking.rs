//! One member asked for its text, and asked once more where its end says so: without what it refused by name, or with
//! more room where thinking took all there was (providers.md §2).

use bytes::Bytes;
use catalog::Endpoint;
use plan::Registered;
use tokio::time::Instant;
use wire::{Encoded, Finish, Request, Target, Usage};

use crate::{
    gateway::Gateway,
    metered::{Call, Ended, Metered},
    upstream::{CallEnd, Limits, Outcome},
};

/// Who is asked, what, and for how long.
pub(crate) struct ForText<'a> {
    pub call: Call<'a>,
    pub request: &'a Request,
    /// With a base that can be asked.
    pub endpoint: &'a Endpoint,
    /// The request's own options go along.
    pub callers_options: bool,
    /// Of all attempts together.
    pub limits: Limits,
}

/// How it ended.
pub(crate) struct Told {
    pub outcome: Outcome,
    /// Of the last call.
    pub metered: Metered,
}

/// Refusals that are learned from in one call: each leaves something else out.
const MOST_LEARNED: u32 = 4;

/// What an answer took that nobody counted.
const USUAL_SPENT: u64 = 4_096;

/// Why a member is asked once more.
#[derive(Default)]
pub(crate) struct Again {
    learned: u32,
    /// What the answer that had no room for a word took, in tokens.
    spent: Option<u64>,
}

impl Again {
    /// A refusal was learned from: it is asked otherwise.
    pub(crate) fn learns(&mut self, has_learned: impl FnOnce() -> bool) -> bool {
        let learns = self.learned < MOST_LEARNED && has_learned();
        self.learned += u32::from(learns);
        learns
    }

    /// An answer was empty, as it was over before its first word: once, it gets more room.
    pub(crate) fn widens(&mut self, usage: &Usage) -> bool {
        let is_first = self.spent.is_none();
        self.spent.get_or_insert(usage.output.unwrap_or(USUAL_SPENT));
        is_first
    }

    /// The body with the room that it is to have; `None` where there is no more.
    pub(crate) fn body(
        &self,
        gateway: &Gateway,
        it: &Registered,
        endpoint: &Endpoint,
        body: Bytes,
    ) -> Option<Bytes> {
        let Some(spent) = self.spent else { return Some(body) };
        let most = it.model.facts.max_output;
        let wide = wire::with_twice_the_budget(endpoint.api, &body, spent, most, gateway.quirks(it));
        wide.map(Bytes::from)
    }
}

impl Gateway {
    /// Asks a member in its dialect, as often as its ends say; `on_text` gets the answer's pieces. What is written of a
    /// call that is followed by another is its row in the ledger.
    pub(crate) async fn ask_for_text(
        &self,
        asked: ForText<'_>,
        mut metered: Metered,
        (first, body): (&Encoded, Bytes),
        mut on_text: impl FnMut(&str),
    ) -> Told {
        let ForText { call, endpoint, limits, .. } = &asked;
        let begun = Instant::now();
        let mut again = Again::default();
        let mut before = 0;
        let (mut otherwise, mut body): (Option<Encoded>, Bytes) = (None, body);
        loop {
            let from = begun.elapsed();
            let limits = Limits { whole: limits.whole.saturating_sub(from), ..*limits };
            let key = self.key(endpoint).await;
            let encoded = otherwise.as_ref().unwrap_or(first);
            let sends = metered.sends();
            let with = (key, &sends);
            let mut outcome = self.upstream().ask(endpoint, encoded, body, with, limits, &mut on_text).await;
            before += outcome.attempts;
            outcome.attempts = before;
            outcome.first_token_s = outcome.first_token_s.map(|first| from.as_secs_f64() + first);
            outcome.seconds = begun.elapsed().as_secs_f64();
            let Some((encoded, wide)) = self.once_more(&asked, &mut again, &outcome) else {
                return Told { outcome, metered };
            };
            // Where there is no room for another call, this is how it ended.
            let Ok(room) = self.admit(Call { body: &wide, ..*call }).await else {
                return Told { outcome, metered };
            };
            (otherwise, body) = (Some(encoded), wide);
            self.over(std::mem::replace(&mut metered, room), &outcome);
        }
    }

    /// What it is asked next, where its end says that it is.
    fn once_more(
        &self,
        asked: &ForText<'_>,
        again: &mut Again,
        outcome: &Outcome,
    ) -> Option<(Encoded, Bytes)> {
        let it = asked.call.it;
        let goes_on = match &outcome.end {
            CallEnd::Ok => false,
            CallEnd::Empty => outcome.finish == Some(Finish::Length) && again.widens(&outcome.usage),
            CallEnd::Error(error) => again.learns(|| self.learn(it, error)),
        };
        goes_on.then_some(())?;
        let (encoded, body) = self.encode_for(it, asked.endpoint, asked.request, asked.callers_options);
        let body = again.body(self, it, asked.endpoint, body)?;
        Some((encoded, body))
    }

    /// A request in a member's dialect: without its body, and that.
    pub(crate) fn encode_for(
        &self,
        it: &Registered,
        endpoint: &Endpoint,
        request: &Request,
        callers_options: bool,
    ) -> (Encoded, Bytes) {
        let target = self.target(it, request, None);
        let target = Target { callers_options: callers_options || target.callers_options, ..target };
        let mut encoded = wire::format(endpoint.api).encode_request(request, &target);
        let body = Bytes::from(std::mem::take(&mut encoded.body));
        (encoded, body)
    }

    /// A call is over that is part of no record: its row is written by itself.
    pub(crate) fn over(&self, metered: Metered, outcome: &Outcome) {
        if let Some(head) = &outcome.head {
            metered.head(head);
        }
        let (status, error) = match &outcome.end {
            CallEnd::Ok => ("ok", None),
            CallEnd::Empty if !outcome.called.is_empty() => ("ok", None),
            CallEnd::Empty => ("empty", None),
            CallEnd::Error(error) => ("error", Some(error)),
        };
        let over = metered.end(&Ended {
            status,
            error,
            served_as: outcome.served_as.as_deref(),
            ..Ended::default()
        });
        self.panel_tasks().spawn(self.spent(over));
    }
}
