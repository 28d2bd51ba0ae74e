//! What the tray shows, folded from the gateway's events: running panels and turns, standing alerts, verdicts owed.

use std::collections::BTreeSet;

use control::view::{Alert, AlertKind, LiveEvent, PanelState};

/// The tray icon's three states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Face {
    #[default]
    Idle,
    Running,
    Attention,
}

/// What is going on, as far as the tray cares. Equal pulses look the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pulse {
    running: BTreeSet<String>,
    /// Conversations with a turn on its way.
    turning: BTreeSet<String>,
    /// Oldest first; one a kind and subject.
    alerts: Vec<(AlertKind, String)>,
    /// Verdicts owed, as last told.
    pub(crate) owed: u32,
}

impl Pulse {
    pub(crate) fn apply(&mut self, event: &LiveEvent) {
        match event {
            LiveEvent::Snapshot { panels, alerts, conversations } => {
                let running = panels.iter().filter(|panel| panel.state == PanelState::Running);
                self.running = running.map(|panel| panel.id.clone()).collect();
                let turning = conversations.iter().filter(|conversation| conversation.running);
                self.turning = turning.map(|conversation| conversation.id.clone()).collect();
                self.alerts.clear();
                alerts.iter().for_each(|alert| self.raise(alert));
            }
            LiveEvent::PanelStarted { panel } => {
                self.running.insert(panel.id.clone());
            }
            LiveEvent::PanelEnded { panel } => {
                self.running.remove(&panel.id);
            }
            LiveEvent::TurnChanged { conversation, .. } => {
                match conversation.running {
                    true => self.turning.insert(conversation.id.clone()),
                    false => self.turning.remove(&conversation.id),
                };
            }
            LiveEvent::VerdictChanged { owed, .. } => self.owed = *owed,
            LiveEvent::AlertRaised { alert } => self.raise(alert),
            LiveEvent::AlertCleared { kind, subject } => {
                self.alerts.retain(|(k, s)| (k, s) != (kind, subject));
            }
            // A seat that failed over has another model on it already: the tray waits for nobody.
            LiveEvent::Noticed { .. }
            | LiveEvent::ConversationChanged { .. }
            | LiveEvent::SeatAdded { .. }
            | LiveEvent::PanelShaped { .. }
            | LiveEvent::SeatFailedOver { .. }
            | LiveEvent::SeatDelta { .. }
            | LiveEvent::SeatChanged { .. }
            | LiveEvent::OnboardingChanged { .. }
            | LiveEvent::SetupChanged {}
            | LiveEvent::Missed {} => {}
        }
    }

    fn raise(&mut self, alert: &Alert) {
        // A taken port is told once and stands in the menu's address line: nothing about it waits for anyone.
        if alert.kind == AlertKind::PortTaken {
            return;
        }
        self.alerts.retain(|(kind, subject)| (kind, subject) != (&alert.kind, &alert.subject));
        self.alerts.push((alert.kind, alert.subject.clone()));
    }

    /// Attention outweighs running: it is the one that waits for somebody.
    pub(crate) fn face(&self) -> Face {
        match (self.alerts.is_empty(), self.running.is_empty() && self.turning.is_empty()) {
            (false, _) => Face::Attention,
            (true, false) => Face::Running,
            (true, true) => Face::Idle,
        }
    }

    /// The newest standing alert.
    pub(crate) fn alert(&self) -> Option<(AlertKind, &str)> {
        self.alerts.last().map(|(kind, subject)| (*kind, subject.as_str()))
    }

    /// Panels.
    pub(crate) fn running(&self) -> usize {
        self.running.len()
    }

    /// Agents whose turn is on its way.
    pub(crate) fn turning(&self) -> usize {
        self.turning.len()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::notice::tests::alert;

    fn panel(id: &str, state: PanelState) -> control::view::PanelView {
        control::view::PanelView {
            id: id.into(),
            collection: "core".into(),
            at: "2026-11-29T15:45:01.000Z".into(),
            client: "curl".into(),
            caller: None,
            system: String::new(),
            prompt: "why".into(),
            turns: 1,
            shape: "general".into(),
            shape_by: "default".into(),
            reply: "all".into(),
            state,
            seconds: None,
            seats: Vec::new(),
            skipped: Vec::new(),
            failed_over: Vec::new(),
            note: None,
            lossy: Vec::new(),
            error: None,
            practice: false,
        }
    }

    pub(crate) fn turn(id: &str, running: bool) -> LiveEvent {
        let conversation = control::view::ConversationView { id: id.into(), running, ..Default::default() };
        let turn = control::view::TurnView { conversation: id.into(), ..Default::default() };
        LiveEvent::TurnChanged { conversation: Box::new(conversation), turn: Box::new(turn) }
    }

    #[test]
    fn a_turn_on_its_way_is_something_that_runs() {
        let mut pulse = Pulse::default();
        let steps = [
            (turn("a", true), Face::Running, 1),
            (turn("b", true), Face::Running, 2),
            (turn("a", true), Face::Running, 2),
            (turn("a", false), Face::Running, 1),
            (turn("b", false), Face::Idle, 0),
        ];
        for (event, face, turning) in steps {
            pulse.apply(&event);
            assert_eq!((pulse.face(), pulse.turning(), pulse.running()), (face, turning, 0), "{event:?}");
        }
        pulse.apply(&turn("gone", true));
        let LiveEvent::TurnChanged { conversation, .. } = turn("here", true) else { unreachable!() };
        let conversations = vec![*conversation];
        pulse.apply(&LiveEvent::Snapshot { panels: Vec::new(), alerts: Vec::new(), conversations });
        assert_eq!(pulse.turning(), 1);
    }

    #[test]
    fn the_face_follows_panels_and_alerts() {
        let mut pulse = Pulse::default();
        let steps: Vec<(LiveEvent, Face, usize)> = vec![
            (LiveEvent::PanelStarted { panel: panel("a", PanelState::Running) }, Face::Running, 1),
            (LiveEvent::PanelStarted { panel: panel("b", PanelState::Running) }, Face::Running, 2),
            (LiveEvent::PanelEnded { panel: panel("a", PanelState::Done) }, Face::Running, 1),
            (LiveEvent::AlertRaised { alert: alert(AlertKind::KeyRefused, "groq") }, Face::Attention, 1),
            (LiveEvent::AlertRaised { alert: alert(AlertKind::KeyRefused, "groq") }, Face::Attention, 1),
            (LiveEvent::PanelEnded { panel: panel("b", PanelState::Done) }, Face::Attention, 0),
            (
                LiveEvent::AlertCleared { kind: AlertKind::KeyRefused, subject: "mistral".into() },
                Face::Attention,
                0,
            ),
            (LiveEvent::AlertCleared { kind: AlertKind::KeyRefused, subject: "groq".into() }, Face::Idle, 0),
            (LiveEvent::AlertRaised { alert: alert(AlertKind::PortTaken, "8123") }, Face::Idle, 0),
            (LiveEvent::Noticed { alert: alert(AlertKind::FailedOver, "core") }, Face::Idle, 0),
        ];
        for (event, face, running) in steps {
            pulse.apply(&event);
            assert_eq!((pulse.face(), pulse.running()), (face, running), "after {event:?}");
        }
    }

    #[test]
    fn a_snapshot_replaces_what_was_known() {
        let mut pulse = Pulse::default();
        pulse.apply(&LiveEvent::PanelStarted { panel: panel("gone", PanelState::Running) });
        pulse.apply(&LiveEvent::Snapshot {
            panels: vec![panel("x", PanelState::Running), panel("y", PanelState::Done)],
            alerts: vec![alert(AlertKind::PanelFailed, "core")],
            conversations: Vec::new(),
        });
        assert_eq!((pulse.running(), pulse.alert()), (1, Some((AlertKind::PanelFailed, "core"))));
    }

    #[test]
    fn deltas_change_nothing() {
        let mut pulse = Pulse::default();
        let before = pulse.clone();
        pulse.apply(&LiveEvent::SeatDelta {
            panel: "a".into(),
            call: "a.member1".into(),
            at: 0,
            text: "x".into(),
        });
        assert_eq!(pulse, before);
    }
}
