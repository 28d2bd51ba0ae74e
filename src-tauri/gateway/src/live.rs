//! What is happening now, for whoever watches: the window, `bench ask`, notifications.
//!
//! One lock orders everything: a change to a running panel and its event are one step, and so are a snapshot
//! and the subscription that goes on from it, so a listener never misses or repeats anything. The lock is
//! never held across an await, and a seat takes it at most some forty times a second (see `panel::seat`).

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::broadcast;

use crate::view::{
    Alert, AlertKind, ConversationView, FailedOverView, LiveEvent, PanelState, PanelView, SeatView,
    SkippedView, TurnView, VerdictView,
};

/// Events a slow listener may lag behind before it is told it missed some.
const BACKLOG: usize = 2_048;
/// Conversations that are shown at once; the records have the others.
const CONVERSATIONS: usize = 50;

#[derive(Clone)]
pub(crate) struct Live {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    /// Running panels, and ended ones until they are on disk. Newest first.
    panels: VecDeque<PanelView>,
    /// Those that a turn began in since the start, bounded. The newest turn first.
    conversations: VecDeque<ConversationView>,
    alerts: Vec<Alert>,
    sender: broadcast::Sender<LiveEvent>,
}

impl Live {
    pub(crate) fn new() -> Live {
        let inner = Inner {
            panels: VecDeque::new(),
            conversations: VecDeque::new(),
            alerts: Vec::new(),
            sender: broadcast::channel(BACKLOG).0,
        };
        Live { inner: Arc::new(Mutex::new(inner)) }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn started(&self, panel: PanelView) {
        let mut inner = self.lock();
        inner.panels.push_front(panel.clone());
        inner.send(LiveEvent::PanelStarted { panel });
    }

    /// One more model is asked.
    pub(crate) fn seat_added(&self, panel: &str, seat: SeatView) {
        let mut inner = self.lock();
        let Some(view) = inner.panels.iter_mut().find(|view| view.id == panel) else { return };
        view.seats.push(seat.clone());
        inner.send(LiveEvent::SeatAdded { panel: panel.to_owned(), seat });
    }

    /// The shape is known, and with it who was left out.
    pub(crate) fn shaped(&self, panel: &str, shape: &str, shape_by: &str, skipped: Vec<SkippedView>) {
        let mut inner = self.lock();
        let Some(view) = inner.panels.iter_mut().find(|view| view.id == panel) else { return };
        (view.shape, view.shape_by) = (shape.to_owned(), shape_by.to_owned());
        view.skipped.clone_from(&skipped);
        let (panel, shape, shape_by) = (panel.to_owned(), shape.to_owned(), shape_by.to_owned());
        inner.send(LiveEvent::PanelShaped { panel, shape, shape_by, skipped });
    }

    /// A seat passed to another model.
    pub(crate) fn failed_over(&self, panel: &str, failed_over: FailedOverView) {
        let mut inner = self.lock();
        let Some(view) = inner.panels.iter_mut().find(|view| view.id == panel) else { return };
        view.failed_over.push(failed_over.clone());
        inner.send(LiveEvent::SeatFailedOver { panel: panel.to_owned(), failed_over });
    }

    /// A model has a new alias: what is shown of it goes on under that.
    pub(crate) fn renamed(&self, from: &str, to: &str) {
        let mut inner = self.lock();
        let mut events = Vec::new();
        for panel in &mut inner.panels {
            for seat in panel.seats.iter_mut().filter(|seat| seat.alias == from) {
                to.clone_into(&mut seat.alias);
                events.push(LiveEvent::SeatChanged { panel: panel.id.clone(), seat: seat.clone() });
            }
        }
        for conversation in &mut inner.conversations {
            let of_calls = conversation.calls.iter_mut().map(|call| &mut call.alias);
            let mut all = of_calls.chain([&mut conversation.alias]).filter(|alias| *alias == from).peekable();
            if all.peek().is_some() {
                all.for_each(|alias| to.clone_into(alias));
                events.push(LiveEvent::ConversationChanged { conversation: Box::new(conversation.clone()) });
            }
        }
        events.into_iter().for_each(|event| inner.send(event));
    }

    /// Appends to a seat's answer. `at` is the UTF-16 length of what came before.
    pub(crate) fn delta(&self, panel: &str, call: &str, at: u32, text: &str) {
        let mut inner = self.lock();
        let Some(seat) = inner.seat(panel, call) else { return };
        seat.answer.push_str(text);
        let (panel, call, text) = (panel.to_owned(), call.to_owned(), text.to_owned());
        inner.send(LiveEvent::SeatDelta { panel, call, at, text });
    }

    pub(crate) fn seat_changed(&self, panel: &str, call: &str, change: impl FnOnce(&mut SeatView)) {
        let mut inner = self.lock();
        let Some(seat) = inner.seat(panel, call) else { return };
        change(seat);
        let seat = seat.clone();
        inner.send(LiveEvent::SeatChanged { panel: panel.to_owned(), seat });
    }

    /// A turn began, passed to another model, or ended.
    pub(crate) fn turn(&self, mut conversation: ConversationView, turn: impl FnOnce() -> TurnView) {
        let mut inner = self.lock();
        let known = inner.conversations.iter().position(|known| known.id == conversation.id);
        match known.and_then(|at| inner.conversations.remove(at)) {
            Some(known) => conversation.take_verdicts(&known),
            None => inner.conversations.truncate(CONVERSATIONS - 1),
        }
        if inner.sender.receiver_count() > 0 {
            let (conversation, turn) = (Box::new(conversation.clone()), Box::new(turn()));
            inner.send(LiveEvent::TurnChanged { conversation, turn });
        }
        inner.conversations.push_front(conversation);
    }

    /// A conversation has a shadow's answer.
    pub(crate) fn conversation(&self, conversation: ConversationView) {
        let mut inner = self.lock();
        let conversation = inner.judged(conversation);
        if let Some(known) = inner.conversations.iter_mut().find(|known| known.id == conversation.id) {
            known.clone_from(&conversation);
        }
        inner.send(LiveEvent::ConversationChanged { conversation: Box::new(conversation) });
    }

    /// A verdict on a routed call; its event is the caller's.
    pub(crate) fn routed_verdict(&self, call: &str, verdict: Option<VerdictView>) {
        let mut inner = self.lock();
        let calls = inner.conversations.iter_mut().flat_map(|it| &mut it.calls);
        if let Some(routed) = calls.into_iter().find(|routed| routed.call == call) {
            routed.verdict = verdict;
        }
    }

    /// A verdict on a call of a panel that is still in memory; its event is the caller's.
    pub(crate) fn seat_verdict(&self, panel: &str, call: &str, verdict: Option<VerdictView>) {
        if let Some(seat) = self.lock().seat(panel, call) {
            seat.verdict = verdict;
        }
    }

    /// The panel's end. It stays in snapshots until [`Live::on_disk`].
    pub(crate) fn ended(&self, panel: &str, change: impl FnOnce(&mut PanelView)) {
        let mut inner = self.lock();
        let Some(view) = inner.panels.iter_mut().find(|view| view.id == panel) else { return };
        change(view);
        let panel = view.clone();
        inner.send(LiveEvent::PanelEnded { panel });
    }

    pub(crate) fn on_disk(&self, panel: &str) {
        self.lock().panels.retain(|view| view.id != panel);
    }

    /// A panel that is running, or ended and not yet on disk.
    pub(crate) fn panel(&self, panel: &str) -> Option<PanelView> {
        self.lock().panels.iter().find(|view| view.id == panel).cloned()
    }

    /// Those that a turn began in since the start.
    pub(crate) fn conversations(&self) -> Vec<ConversationView> {
        self.lock().conversations.iter().cloned().collect()
    }

    pub(crate) fn running(&self) -> usize {
        self.lock().panels.iter().filter(|view| view.state == PanelState::Running).count()
    }

    pub(crate) fn publish(&self, event: LiveEvent) {
        self.lock().send(event);
    }

    /// Raises an alert; one of the same kind and subject is replaced.
    pub(crate) fn raise(&self, alert: Alert) {
        let mut inner = self.lock();
        inner.alerts.retain(|old| (old.kind, &old.subject) != (alert.kind, &alert.subject));
        inner.alerts.push(alert.clone());
        inner.send(LiveEvent::AlertRaised { alert });
    }

    pub(crate) fn clear(&self, kind: AlertKind, subject: &str) {
        let mut inner = self.lock();
        let before = inner.alerts.len();
        inner.alerts.retain(|old| (old.kind, old.subject.as_str()) != (kind, subject));
        if inner.alerts.len() < before {
            inner.send(LiveEvent::AlertCleared { kind, subject: subject.to_owned() });
        }
    }

    pub(crate) fn is_raised(&self, kind: AlertKind, subject: &str) -> bool {
        self.lock().alerts.iter().any(|alert| alert.kind == kind && alert.subject == subject)
    }

    pub(crate) fn alerts(&self) -> Vec<Alert> {
        self.lock().alerts.clone()
    }

    /// What is live now and everything from here on, in one step.
    fn watch(&self) -> (Recent, Vec<Alert>, broadcast::Receiver<LiveEvent>) {
        let inner = self.lock();
        let recent = Recent {
            panels: inner.panels.iter().cloned().collect(),
            conversations: inner.conversations.iter().cloned().collect(),
        };
        (recent, inner.alerts.clone(), inner.sender.subscribe())
    }
}

impl Inner {
    fn seat(&mut self, panel: &str, call: &str) -> Option<&mut SeatView> {
        let panel = self.panels.iter_mut().find(|view| view.id == panel)?;
        panel.seats.iter_mut().find(|seat| seat.call == call)
    }

    /// With the verdicts that were given meanwhile: whoever takes turns does not know them.
    fn judged(&self, mut conversation: ConversationView) -> ConversationView {
        if let Some(known) = self.conversations.iter().find(|known| known.id == conversation.id) {
            conversation.take_verdicts(known);
        }
        conversation
    }

    fn send(&self, event: LiveEvent) {
        // Nobody watching is no error.
        let _ = self.sender.send(event);
    }
}

/// Panels and conversations, newest first.
#[derive(Default)]
pub(crate) struct Recent {
    pub panels: Vec<PanelView>,
    pub conversations: Vec<ConversationView>,
}

/// A subscription. Its first event is a snapshot; after a `missed` another snapshot follows.
pub struct Events {
    live: Live,
    /// What the store has, for snapshots.
    ended: Arc<dyn Fn() -> Recent + Send + Sync>,
    state: State,
    closing: tokio_util::sync::CancellationToken,
}

enum State {
    Snapshot,
    Following(broadcast::Receiver<LiveEvent>),
}

impl Events {
    pub(crate) fn new(
        live: Live,
        ended: Arc<dyn Fn() -> Recent + Send + Sync>,
        closing: tokio_util::sync::CancellationToken,
    ) -> Events {
        Events { live, ended, state: State::Snapshot, closing }
    }

    /// The next event, or `None` when the gateway has shut down.
    pub async fn next(&mut self) -> Option<LiveEvent> {
        let State::Following(receiver) = &mut self.state else {
            return Some(self.snapshot().await);
        };
        tokio::select! {
            event = receiver.recv() => match event {
                Ok(event) => Some(event),
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    self.state = State::Snapshot;
                    Some(LiveEvent::Missed {})
                }
                Err(broadcast::error::RecvError::Closed) => None,
            },
            () = self.closing.cancelled() => None,
        }
    }

    async fn snapshot(&mut self) -> LiveEvent {
        let (Recent { mut panels, mut conversations }, alerts, receiver) = self.live.watch();
        self.state = State::Following(receiver);
        let ended = self.ended.clone();
        let stored = tokio::task::spawn_blocking(move || ended()).await.unwrap_or_default();
        // A live panel comes first and wins: the store may hold it as it was when it began.
        panels.extend(stored.panels);
        // The record has the last word on verdicts: they are on disk before anybody is told of them.
        for conversation in &mut conversations {
            if let Some(kept) = stored.conversations.iter().find(|kept| kept.id == conversation.id) {
                conversation.take_verdicts(kept);
            }
        }
        conversations.extend(stored.conversations);
        let mut seen = std::collections::HashSet::new();
        panels.retain(|panel| seen.insert(panel.id.clone()));
        panels.sort_by(|a, b| b.at.cmp(&a.at));
        conversations.retain(|conversation| seen.insert(conversation.id.clone()));
        conversations.sort_by(|a, b| b.last_at.cmp(&a.last_at));
        conversations.truncate(CONVERSATIONS);
        LiveEvent::Snapshot { panels, alerts, conversations }
    }
}
