//! A panel's run: seats side by side, each told as it ends, stand-ins for those that fail, then the reply.

use std::{collections::HashMap, pin::Pin, sync::Arc, time::Duration};

use plan::{ChosenShape, Seat, SeatKind, Skipped};
use serde_json::Value;
use tokio::{sync::mpsc, task::JoinSet, time::Instant};
use tokio_util::sync::{CancellationToken, DropGuard};
use wire::{ApiError, ReplyMode, UpstreamError, Usage};

use super::{
    ask::{Panel, SeatPlan, Seated},
    markdown::{heading, section},
    picker,
    seat::{SeatEnd, book_seat, not_sent, round, run_seat},
};
use crate::{
    evidence::Held,
    gateway::Gateway,
    view::{FailedOverView, SeatStatus, SeatView},
};

/// A panel on its way, as its caller sees it. Dropping it is hanging up.
pub(crate) struct Running {
    pub panel: Arc<Panel>,
    pub updates: mpsc::UnboundedReceiver<Update>,
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

/// A merge is told word by word, so an update is no larger than a word must be.
pub(crate) enum Update {
    /// The next piece of a streamed reply.
    Text(String),
    /// The last one.
    End(Box<PanelEnd>),
}

pub(crate) struct PanelEnd {
    /// The whole reply's text, for a caller who does not stream; its sections stand in seating order. One who
    /// streams has been told every answer, and is not told it here.
    pub text: String,
    pub bench: Value,
    pub seats: Vec<SeatView>,
    pub usage: Usage,
    /// Nobody answered.
    pub failed: Option<ApiError>,
    /// The gateway's own time: before anybody was asked, and after the last one was done, in milliseconds.
    pub overhead_ms: f64,
}

/// Begins a panel. It runs in the gateway's own tasks, so that a caller who leaves does not stop it (unless
/// the owner set it so). Updates are not waited for: together they are no larger than the answers, which are
/// held anyway.
pub(crate) fn run(gateway: &Gateway, seated: Seated) -> Running {
    let panel = seated.panel.clone();
    let (sender, updates) = mpsc::unbounded_channel();
    let cancel = gateway.closing().child_token();
    let hang_up = match panel.snapshot.setup.settings.panel_on_hangup {
        plan::OnHangup::Finish => None,
        plan::OnHangup::Cancel => Some(cancel.clone().drop_guard()),
    };
    gateway.panel_tasks().spawn(run_to_end(gateway.clone(), seated, sender, cancel));
    Running { panel, updates, hang_up }
}

type Picking = Pin<Box<dyn Future<Output = ChosenShape> + Send>>;

async fn run_to_end(
    gateway: Gateway,
    seated: Seated,
    updates: mpsc::UnboundedSender<Update>,
    cancel: CancellationToken,
) {
    if !seated.panel.practice {
        // Until the vault is open, no key is known that could be masked; the seats wait for theirs too.
        gateway.vault().wait().await;
    }
    let mut picking: Option<Picking> = seated
        .shape
        .is_none()
        .then(|| Box::pin(picker::pick(gateway.clone(), seated.panel.clone())) as Picking);
    let mut run = Run::begin(gateway, seated, updates);
    while !(run.open.is_empty() && picking.is_none()) {
        let grace = run.grace_ends().filter(|_| picking.is_none());
        tokio::select! {
            joined = run.running.join_next_with_id(), if !run.running.is_empty() => match joined {
                Some(Ok((_, end))) => run.seat_ended(end),
                Some(Err(error)) => run.seat_lost(&error),
                None => {}
            },
            shape = picked(&mut picking) => {
                picking = None;
                run.shaped(shape);
            }
            () = until(grace) => {
                run.leave_late();
                break;
            }
            () = cancel.cancelled() => {
                run.running.shutdown().await;
                run.open.clear();
                break;
            }
        }
    }
    let given = run.put_together(&cancel).await;
    run.finish(given).await;
}

async fn picked(picking: &mut Option<Picking>) -> ChosenShape {
    match picking {
        Some(picking) => picking.await,
        None => std::future::pending().await,
    }
}

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// A panel while it runs.
pub(super) struct Run {
    pub(super) gateway: Gateway,
    pub(super) panel: Arc<Panel>,
    pub(super) updates: mpsc::UnboundedSender<Update>,
    pub(super) running: JoinSet<SeatEnd>,
    /// Which call a task is.
    tasks: HashMap<tokio::task::Id, String>,
    /// Calls that have not ended.
    pub(super) open: HashMap<String, Open>,
    /// Every seat so far, failed ones and stand-ins among them.
    pub(super) seats: Vec<Seat>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) shape: Option<ChosenShape>,
    /// Seats whose section the reply has: no failed member that another stands in for.
    pub(super) ended: Vec<SeatEnd>,
    pub(super) failed_over: Vec<FailedOverView>,
    /// Why those failed that another stands in for.
    pub(super) handed_over: Vec<Option<UpstreamError>>,
    /// Ends that the evidence has not been told of: the shape they count for is not known yet.
    untold: Vec<(String, i64, Held)>,
    /// Sections that wait for the heading.
    waiting: Vec<String>,
    /// When the last member was done, or explorers joined later.
    members_done: Instant,
    /// Before anybody was asked.
    pub(super) before: Duration,
    /// When the last provider was done, or waiting for it was given up.
    pub(super) last_done: Instant,
    pub(super) begun: Instant,
}

/// A seat that has not ended.
pub(super) struct Open {
    pub(super) seat: Seat,
    pub(super) order: usize,
    pub(super) view: SeatView,
}

impl Run {
    fn begin(gateway: Gateway, seated: Seated, updates: mpsc::UnboundedSender<Update>) -> Run {
        let Seated { panel, seats, skipped, shape, notices } = seated;
        let begun = Instant::now();
        let mut run = Run {
            gateway,
            panel,
            updates,
            running: JoinSet::new(),
            tasks: HashMap::new(),
            open: HashMap::new(),
            seats: seats.iter().map(|plan| plan.seat.clone()).collect(),
            skipped,
            shape,
            ended: Vec::with_capacity(seats.len()),
            failed_over: Vec::new(),
            handed_over: Vec::new(),
            untold: Vec::new(),
            waiting: Vec::new(),
            members_done: begun,
            before: Duration::ZERO,
            last_done: begun,
            begun,
        };
        run.started(&seats, &notices);
        for plan in seats {
            run.ask(plan);
        }
        run.before = begun.elapsed();
        run.say_heading();
        run
    }

    /// Asks one seat. One that a limit has no room for has ended, and whoever stands in for it is asked before those
    /// that come after.
    pub(super) fn ask(&mut self, plan: SeatPlan) {
        let booked = match book_seat(&self.gateway, &self.panel, &plan) {
            Ok(booked) => booked,
            Err(error) => {
                let end = not_sent(&self.gateway, &self.panel, plan, error);
                return self.seat_ended(end);
            }
        };
        let open = Open { seat: plan.seat.clone(), order: plan.order, view: plan.view() };
        self.open.insert(plan.call.clone(), open);
        let call = plan.call.clone();
        let asked = run_seat(self.gateway.clone(), self.panel.clone(), plan, booked, |_| {});
        let task = self.running.spawn(asked);
        self.tasks.insert(task.id(), call);
    }

    fn seat_ended(&mut self, mut end: SeatEnd) {
        self.open.remove(&end.view.call);
        self.last_done = self.last_done.max(end.done);
        self.tell_evidence(&mut end);
        if self.stands_in(&end) {
            self.handed_over.push(end.error);
            return;
        }
        if matches!(end.seat.kind, SeatKind::Member | SeatKind::Reserve) && self.members_open() == 0 {
            self.members_done = Instant::now();
        }
        self.say_section(&end);
        self.ended.push(end);
    }

    pub(super) fn seat_lost(&mut self, error: &tokio::task::JoinError) {
        let call = self.tasks.get(&error.id()).cloned().unwrap_or_default();
        tracing::error!(call, "a seat's task failed");
        self.open.remove(&call);
    }

    /// A seat's work counts for its shape; until that is known it waits, and its seat is held.
    pub(super) fn tell_evidence(&mut self, end: &mut SeatEnd) {
        let Some(held) = end.held.take() else { return };
        self.untold.push((end.view.alias.clone(), end.at_ms, held));
        if self.shape.is_some() {
            self.tell_all();
        }
    }

    pub(super) fn tell_all(&mut self) {
        let Some(ChosenShape { shape, .. }) = &self.shape else { return };
        let told = std::mem::take(&mut self.untold);
        let mut evidence = self.gateway.known().evidence();
        let now = self.gateway.snapshot();
        for (alias, at_ms, _) in &told {
            evidence.offload(now.called_now(alias), shape, *at_ms);
        }
        // Dropping what was held takes the lock again.
        drop(evidence);
        drop(told);
    }

    /// The picker has spoken: explorers are chosen for its shape.
    fn shaped(&mut self, shape: ChosenShape) {
        // Members that failed meanwhile may have stand-ins by now.
        let is_stand_in = |seat: &&Seat| seat.kind == SeatKind::Reserve;
        let stand_ins: Vec<Seat> = self.seats.iter().filter(is_stand_in).cloned().collect();
        let chosen = self.gateway.choose(&self.panel, |input| {
            let mut seating = plan::seat_beside(input, &shape, &stand_ins)?;
            seating.seats.retain(|seat| seat.kind == SeatKind::Explorer);
            Ok::<_, plan::SeatingError>((seating.seats, seating.skipped))
        });
        self.shape = Some(shape);
        let explorers = match chosen {
            Ok((explorers, skipped)) => {
                self.skipped = skipped;
                self.gateway.plan_seats(&self.panel, explorers)
            }
            Err(error) => {
                tracing::warn!(panel = self.panel.id, %error, "no explorers");
                Vec::new()
            }
        };
        self.record_shape();
        self.tell_all();
        // They have just been asked, however long the members have been done.
        self.members_done = Instant::now();
        for plan in explorers {
            self.seat_added(&plan);
            self.ask(plan);
        }
        self.say_heading();
    }

    pub(super) fn members_open(&self) -> usize {
        let is_member = |open: &&Open| matches!(open.seat.kind, SeatKind::Member | SeatKind::Reserve);
        self.open.values().filter(is_member).count()
    }

    /// When explorers are no longer waited for: only once every member is done, and there was one.
    fn grace_ends(&self) -> Option<Instant> {
        let had_members = self.seats.iter().any(|seat| seat.kind == SeatKind::Member);
        let grace = self.panel.snapshot.setup.settings.explorer_grace;
        (had_members && self.members_open() == 0 && !self.open.is_empty())
            .then(|| self.members_done + Duration::from_secs(grace.into()))
    }

    /// The panel is answered without those that have not ended. They run on.
    fn leave_late(&mut self) {
        self.last_done = Instant::now();
        let mut late: Vec<SeatEnd> = self
            .open
            .values()
            .map(|open| SeatEnd {
                order: open.order,
                seat: open.seat.clone(),
                view: SeatView {
                    status: SeatStatus::Late,
                    seconds: Some(round(self.begun.elapsed().as_secs_f64())),
                    ..open.view.clone()
                },
                error: None,
                is_paced: false,
                usage: Usage::default(),
                done: self.last_done,
                at_ms: 0,
                held: None,
            })
            .collect();
        late.sort_by_key(|end| end.order);
        for end in late {
            self.gateway
                .live()
                .seat_changed(&self.panel.id, &end.view.call, |seat| seat.status = SeatStatus::Late);
            self.say_section(&end);
            self.ended.push(end);
        }
    }

    pub(super) fn gives_all(&self) -> bool {
        self.panel.asking.reply != ReplyMode::Merged
    }

    fn say_heading(&mut self) {
        if self.shape.is_none() || !self.gives_all() {
            return;
        }
        let text = self.heading();
        self.say(text);
        for section in std::mem::take(&mut self.waiting) {
            self.say(section);
        }
    }

    fn say_section(&mut self, end: &SeatEnd) {
        if !self.gives_all() {
            return;
        }
        let text = self.section(end);
        match self.shape {
            Some(_) => self.say(text),
            None => self.waiting.push(text),
        }
    }

    pub(super) fn heading(&self) -> String {
        let general = ChosenShape { shape: plan::Shape::GENERAL, by: "the default".to_owned() };
        let shape = self.shape.as_ref().unwrap_or(&general);
        heading(&self.panel.outline(shape, &self.seats, &self.skipped))
    }

    pub(super) fn section(&self, end: &SeatEnd) -> String {
        let first = self.failed_over.iter().find(|it| Some(&it.from) == end.view.stood_in_for.as_ref());
        section(&end.view, first.map(|failed| failed.why.as_str()))
    }

    /// A piece of a streamed reply. A caller who has left is told nothing.
    pub(super) fn say(&self, text: String) {
        if self.panel.asking.request.stream {
            let _ = self.updates.send(Update::Text(text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Update;

    #[test]
    fn a_word_to_a_slow_reader_costs_little_more_than_itself() {
        assert!(size_of::<Update>() <= 32, "{} bytes", size_of::<Update>());
    }
}
