//! One seat: asked, watched, recorded.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use plan::{Registered, Seat};
use store::CallRow;
use tokio::{sync::Notify, time::Instant};
use wire::{Class, Finish, UpstreamError, Usage};

use super::ask::{Panel, SeatPlan};
use crate::{
    asking::{ForText, Told},
    evidence::Held,
    facts::Holds,
    gateway::Gateway,
    metered::{Booked, Call, Ended, Over, Purpose},
    upstream::{CallEnd, Limits, Outcome},
    view::{SeatKind, SeatStatus, SeatView},
};

/// Pieces of an answer are shown at most this often: the eye sees no more, and the live view's lock is spared.
const SHOW_EVERY: Duration = Duration::from_millis(25);

/// What is kept of a provider's error.
const ERROR_CHARS: usize = 300;
/// What fits into a line with other things on it.
const BRIEF_CHARS: usize = 80;

/// How long a finished answer waits to be on disk before it is given to the caller all the same.
pub(crate) const ON_DISK: Duration = Duration::from_millis(250);

/// A seat when it is over.
pub(crate) struct SeatEnd {
    /// The order of its section.
    pub order: usize,
    pub seat: Seat,
    pub view: SeatView,
    pub error: Option<UpstreamError>,
    /// It was not sent, for its endpoint's limits: the error says which.
    pub is_paced: bool,
    pub usage: Usage,
    /// When the provider was done: what comes after is the gateway's own time.
    pub done: Instant,
    /// When it ended, as the record has it: ms since 1970.
    pub at_ms: i64,
    /// Dropped once the evidence has been told.
    pub held: Option<Held>,
}

/// The seat's place by its endpoint's limits. It is taken before its task is spawned: what a limit has room for goes
/// to members in their order, and then to explorers, whichever task is the first to run.
pub(crate) fn book_seat(gateway: &Gateway, panel: &Panel, plan: &SeatPlan) -> Result<Booked, UpstreamError> {
    let it = panel.snapshot.roster.get(&plan.model.alias).ok_or_else(|| gone(&plan.model.alias))?;
    gateway.book(call_of(panel, plan, it))
}

/// Asks the seat's model and writes down what came, before anybody is told. `on_text` gets the answer's pieces.
pub(crate) async fn run_seat(
    gateway: Gateway,
    panel: Arc<Panel>,
    plan: SeatPlan,
    booked: Booked,
    mut on_text: impl FnMut(&str),
) -> SeatEnd {
    let metered = booked.due().await;
    let Some(it) = panel.snapshot.roster.get(&plan.model.alias) else {
        let error = gone(&plan.model.alias);
        return not_sent(&gateway, &panel, plan, error);
    };
    let call = call_of(&panel, &plan, it);
    let started_ms = gateway.clock().now_ms();
    let settings = &panel.snapshot.setup.settings;
    let limits = Limits {
        whole: Duration::from_secs(settings.seat_seconds.into()),
        idle: Duration::from_secs(settings.idle_seconds.into()),
    };
    let watcher = Watcher::new(&gateway, &panel.id, &plan.call);
    let request = plan.merge.as_deref().unwrap_or(&panel.asking.request);
    let asked = ForText { call, request, endpoint: &plan.endpoint, callers_options: false, limits };
    let body = plan.body.clone();
    let asked = gateway.ask_for_text(asked, metered, (&plan.encoded, body), |text| {
        watcher.take(text);
        on_text(text);
    });
    let mut told = watcher.follow(asked).await;
    told.outcome = cleaned(&gateway, told.outcome);
    let done = Instant::now();
    end(&gateway, &panel, plan, (started_ms, done), told).await
}

/// The seat's call, as its endpoint's limits count it.
fn call_of<'a>(panel: &'a Panel, plan: &'a SeatPlan, it: &'a Registered) -> Call<'a> {
    let merges = plan.merge.is_some();
    Call {
        snapshot: &panel.snapshot,
        it,
        purpose: if merges { Purpose::Merge } else { Purpose::Panel },
        collection: &panel.collection.name,
        caller: &panel.asking.caller,
        body: &plan.body,
        // A merger is asked the answers too.
        estimate: if merges { panel.estimate.max(plan.body.len() as u64 / 4) } else { panel.estimate },
        holds: if merges { Holds::default() } else { Holds::of(&panel.asking.request) },
    }
}

/// Nobody was asked: there is no call to record, and no work of the model's to count.
pub(crate) fn not_sent(gateway: &Gateway, panel: &Panel, plan: SeatPlan, error: UpstreamError) -> SeatEnd {
    // It is nobody's answer: of its status nothing is said.
    let why = describe(&UpstreamError { status: None, ..error.clone() });
    let view = SeatView { status: SeatStatus::Error, seconds: Some(0.0), error: why.clone(), ..plan.view() };
    drop(gateway.store().seat_not_sent(panel.id.clone(), plan.call.clone(), why));
    gateway.live().seat_changed(&panel.id, &plan.call, |seat| *seat = view.clone());
    let SeatPlan { order, seat, .. } = plan;
    SeatEnd {
        order,
        seat,
        view,
        error: Some(error),
        is_paced: true,
        usage: Usage::default(),
        done: Instant::now(),
        at_ms: 0,
        held: None,
    }
}

async fn end(
    gateway: &Gateway,
    panel: &Panel,
    plan: SeatPlan,
    (started_ms, done): (i64, Instant),
    Told { outcome, metered }: Told,
) -> SeatEnd {
    let (status, error) = match outcome.end {
        CallEnd::Ok => (SeatStatus::Ok, None),
        CallEnd::Empty => (SeatStatus::Empty, None),
        CallEnd::Error(error) => (SeatStatus::Error, Some(error)),
    };
    if let Some(head) = &outcome.head {
        metered.head(head);
    }
    let Over { row: spent, unwritten } = metered.end(&Ended {
        status: status_word(status),
        error: error.as_ref(),
        served_as: outcome.served_as.as_deref(),
        first_token_s: outcome.first_token_s.map(round),
        call: &plan.call,
        turn: None,
    });
    let view = SeatView {
        alias: gateway.called_now(&plan.model.alias),
        status,
        seconds: Some(round(outcome.seconds)),
        first_token_s: outcome.first_token_s.map(round),
        tokens_in: outcome.usage.input,
        tokens_out: outcome.usage.output,
        cost: spent.cost,
        swapped_for: swapped(&plan.model.served, outcome.served_as.as_deref()),
        answer: outcome.answer,
        error: error.as_ref().map(describe).unwrap_or_default(),
        ..plan.view()
    };
    let on_disk = gateway.store().holding(unwritten).call_ended(CallRow {
        call: view.call.clone(),
        panel: panel.id.clone(),
        seat: view.seat.clone(),
        kind: kind_word(view.kind).to_owned(),
        alias: view.alias.clone(),
        endpoint: view.endpoint.clone(),
        served: plan.model.served.clone(),
        status: status_word(status).to_owned(),
        started_ms,
        seconds: round(outcome.seconds),
        first_token_s: view.first_token_s,
        tokens_in: outcome.usage.input,
        tokens_out: outcome.usage.output,
        tokens_reasoning: outcome.usage.reasoning,
        cache_read: outcome.usage.cache_read,
        cache_write: outcome.usage.cache_write,
        answer: view.answer.clone(),
        error: (!view.error.is_empty()).then(|| view.error.clone()),
        error_class: error.as_ref().map(|error| class_word(error.class).to_owned()),
        attempts: outcome.attempts,
        served_as: outcome.served_as,
        practice: panel.practice,
        finish: outcome.finish.map(|finish| finish_word(finish).to_owned()),
        cost: spent.cost,
        spent: Some(spent),
    });
    // Written down before its last byte goes out; a disk that is slow or full does not hold the answer back.
    let _ = tokio::time::timeout(ON_DISK, on_disk).await;
    gateway.live().seat_changed(&panel.id, &plan.call, |seat| *seat = view.clone());
    let at_ms = started_ms.saturating_add((round(outcome.seconds) * 1000.0) as i64);
    let SeatPlan { order, seat, held, .. } = plan;
    let usage = outcome.usage;
    SeatEnd { order, seat, view, error, is_paced: false, usage, done, at_ms, held: Some(held) }
}

impl SeatEnd {
    /// Why its seat is handed to another model: a want of capacity. `None` for an answer, and for what another
    /// model would not mend or the owner must know (a bad request, a key).
    pub(crate) fn hands_over(&self) -> Option<String> {
        let Some(error) = &self.error else {
            return (self.view.status == SeatStatus::Empty).then(|| "an empty answer".to_owned());
        };
        let by_class = matches!(
            error.class,
            Class::Capacity | Class::Paywalled | Class::Timeout | Class::Network | Class::Empty
        );
        let by_status = error.status.is_some_and(|status| matches!(status, 402 | 408 | 429) || status >= 500);
        (by_class || by_status || self.is_paced).then(|| self.view.error.clone())
    }

    /// Why it failed, for a line with other things on it.
    pub(crate) fn why_in_brief(&self) -> String {
        if self.is_paced {
            return self.error.as_ref().map(|error| error.message.clone()).unwrap_or_default();
        }
        self.error.as_ref().map_or_else(|| "an empty answer".to_owned(), in_brief)
    }
}

/// The name a model says it answered as, where that is another model.
pub(crate) fn swapped(served: &str, served_as: Option<&str>) -> Option<String> {
    served_as.filter(|said| catalog::is_swap(served, said)).map(str::to_owned)
}

fn gone(alias: &str) -> UpstreamError {
    let message = format!("{alias} was removed while the panel ran");
    UpstreamError { class: Class::Other, status: None, message, retry_after: None }
}

/// A provider's words about a failure as they may be kept, shown and cut: known keys masked first, then short.
pub(crate) fn cleaned_error(gateway: &Gateway, message: &str) -> String {
    wire::redact::shorten(&gateway.scrub(message), ERROR_CHARS)
}

fn cleaned(gateway: &Gateway, mut outcome: Outcome) -> Outcome {
    outcome.answer = gateway.scrub(&outcome.answer);
    outcome.served_as = outcome.served_as.map(|said| gateway.scrub(&said));
    if let CallEnd::Error(error) = &mut outcome.end {
        error.message = cleaned_error(gateway, &error.message);
    }
    outcome
}

/// What a person reads: the provider's words, then the status and the wait it stated.
pub(crate) fn describe(error: &UpstreamError) -> String {
    let mut facts = Vec::new();
    facts.extend(error.status.map(|status| status.to_string()));
    facts.extend(error.retry_after.map(|wait| format!("wait {}", wire::wait::in_words(wait))));
    if facts.is_empty() {
        return error.message.clone();
    }
    format!("{} ({})", error.message.trim_end_matches('.'), facts.join(", "))
}

/// `429, 40 s`; where there is no status, what happened.
pub(crate) fn in_brief(error: &UpstreamError) -> String {
    let wait = error.retry_after.map(wire::wait::in_words);
    let facts: Vec<String> = error.status.map(|status| status.to_string()).into_iter().chain(wait).collect();
    match (facts.is_empty(), error.class) {
        (false, _) => facts.join(", "),
        (true, Class::Timeout) => "no answer in time".to_owned(),
        (true, Class::Network) => "the connection failed".to_owned(),
        (true, Class::Empty) => "an empty answer".to_owned(),
        (true, _) => wire::redact::shorten(&error.message, BRIEF_CHARS),
    }
}

pub(crate) fn class_word(class: Class) -> &'static str {
    match class {
        Class::SignIn => "sign_in",
        Class::NotFound => "not_found",
        Class::Paywalled => "paywalled",
        Class::Entitlement => "entitlement",
        Class::Capacity => "capacity",
        Class::TooLarge => "too_large",
        Class::BadRequest => "bad_request",
        Class::Timeout => "timeout",
        Class::Network => "network",
        Class::Empty => "empty",
        Class::Other => "other",
    }
}

pub(crate) fn status_word(status: SeatStatus) -> &'static str {
    match status {
        SeatStatus::Ok => "ok",
        SeatStatus::Empty => "empty",
        SeatStatus::Late => "late",
        SeatStatus::Cancelled => "cancelled",
        SeatStatus::Waiting | SeatStatus::Answering | SeatStatus::Error => "error",
    }
}

pub(crate) fn finish_word(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::ContentFilter => "content_filter",
        Finish::ToolCalls => "tool_calls",
    }
}

pub(crate) fn kind_word(kind: SeatKind) -> &'static str {
    match kind {
        SeatKind::Member => "member",
        SeatKind::Explorer => "explorer",
        SeatKind::Merger => "merger",
        SeatKind::Reserve => "reserve",
    }
}

/// Seconds to the millisecond.
pub(crate) fn round(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

/// Shows an answer's pieces as they come, gathered so that the live view is touched at most every
/// [`SHOW_EVERY`].
struct Watcher<'a> {
    gateway: &'a Gateway,
    panel: &'a str,
    call: &'a str,
    pending: Mutex<String>,
    came: Notify,
}

impl<'a> Watcher<'a> {
    fn new(gateway: &'a Gateway, panel: &'a str, call: &'a str) -> Watcher<'a> {
        Watcher { gateway, panel, call, pending: Mutex::default(), came: Notify::new() }
    }

    fn take(&self, text: &str) {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
        self.came.notify_one();
    }

    /// Runs the call to its end, showing what comes meanwhile.
    async fn follow<T>(&self, call: impl Future<Output = T>) -> T {
        tokio::pin!(call);
        let begun = Instant::now();
        let mut shown = 0;
        let mut next_show = begun;
        let mut waiting = false;
        loop {
            tokio::select! {
                told = &mut call => {
                    self.show(&mut shown, begun);
                    return told;
                }
                () = self.came.notified(), if !waiting => waiting = true,
                () = tokio::time::sleep_until(next_show), if waiting => {
                    self.show(&mut shown, begun);
                    next_show = Instant::now() + SHOW_EVERY;
                    waiting = false;
                }
            }
        }
    }

    fn show(&self, shown: &mut u32, begun: Instant) {
        let text = std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        if text.is_empty() {
            return;
        }
        if *shown == 0 {
            self.gateway.live().seat_changed(self.panel, self.call, |seat| {
                // A late one stays late: its panel has been answered without it.
                if seat.status == SeatStatus::Waiting {
                    seat.status = SeatStatus::Answering;
                }
                seat.first_token_s = Some(round(begun.elapsed().as_secs_f64()));
            });
        }
        // A key cut in two by the stream shows here until the seat ends, and nowhere after.
        let text = self.gateway.scrub(&text);
        self.gateway.live().delta(self.panel, self.call, *shown, &text);
        *shown += text.encode_utf16().count() as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_a_seat_failed_fits_into_a_line() {
        let error = |class, status, wait: Option<u64>, message: &str| UpstreamError {
            class,
            status,
            message: message.to_owned(),
            retry_after: wait.map(Duration::from_secs),
        };
        let cases = [
            (error(Class::Capacity, Some(429), Some(40), "Slow down."), "429, 40 s"),
            (error(Class::Capacity, Some(529), None, "Overloaded."), "529"),
            (error(Class::Capacity, None, Some(7), "Slow down."), "7 s"),
            (error(Class::Timeout, None, None, "nothing in 90 s"), "no answer in time"),
            (error(Class::Network, None, None, "connection refused"), "the connection failed"),
            (error(Class::Paywalled, None, None, "Your credit is used up."), "Your credit is used up."),
        ];
        for (error, brief) in cases {
            assert_eq!(in_brief(&error), brief, "{error:?}");
        }
    }
}
