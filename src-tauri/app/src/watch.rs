//! Follows the gateway's events for the tray and the notifications, on the gateway's runtime.

use std::{sync::Arc, time::Duration};

use control::{Control, view::LiveEvent};
use tokio::time::Instant;

use crate::{bus::Bus, notice::Notices, pulse::Pulse};

/// Runs until the gateway shuts down. `show` is called with each pulse that differs from the one before; it
/// must not block.
pub(crate) async fn watch(control: Control, bus: Arc<Bus>, show: impl Fn(Pulse)) {
    let mut events = control.events();
    let began = Instant::now();
    let now_ms = || i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX);
    let mut notices = Notices::default();
    let mut shown = Pulse::default();
    let mut pulse = Pulse::default();
    // The first snapshot may hold alerts raised while the gateway started.
    loop {
        let held = notices.wait_ms(now_ms()).map(Duration::from_millis);
        let event = match held {
            None => events.next().await,
            // Cancelling is safe: a snapshot is only due first of all or after `missed`, and is then awaited whole.
            Some(wait) => match tokio::time::timeout(wait, events.next()).await {
                Ok(event) => event,
                Err(_) => {
                    notices.due(now_ms()).into_iter().for_each(|notice| bus.notify(notice));
                    continue;
                }
            },
        };
        let Some(mut event) = event else { return };
        if matches!(event, LiveEvent::Missed {}) {
            match events.next().await {
                Some(snapshot) => event = snapshot,
                None => return,
            }
        }
        let panels = match &event {
            LiveEvent::Snapshot { panels, .. } => panels.as_slice(),
            LiveEvent::PanelStarted { panel } => std::slice::from_ref(panel),
            _ => &[],
        };
        panels.iter().filter(|panel| panel.practice).for_each(|panel| notices.practises(&panel.collection));
        let conversations = match &event {
            LiveEvent::Snapshot { conversations, .. } => conversations.as_slice(),
            LiveEvent::TurnChanged { conversation, .. } => std::slice::from_ref(&**conversation),
            _ => &[],
        };
        conversations.iter().filter(|it| it.practice).for_each(|it| notices.practises(&it.collection));
        let alerts = match &event {
            LiveEvent::Snapshot { alerts, .. } => alerts.as_slice(),
            LiveEvent::AlertRaised { alert } | LiveEvent::Noticed { alert } => std::slice::from_ref(alert),
            _ => &[],
        };
        alerts
            .iter()
            .filter_map(|alert| notices.raise(alert, now_ms()))
            .for_each(|notice| bus.notify(notice));

        pulse.apply(&event);
        if matches!(event, LiveEvent::Snapshot { .. } | LiveEvent::PanelEnded { .. }) {
            pulse.owed = owed(&control).await.unwrap_or(pulse.owed);
        }
        if pulse != shown {
            shown = pulse.clone();
            show(pulse.clone());
        }
    }
}

/// Verdicts owed now. An ended panel changes it without an event of its own.
async fn owed(control: &Control) -> Option<u32> {
    let status = control.call("status", serde_json::Value::Null).await.ok()?;
    u32::try_from(status.get("owed")?.as_u64()?).ok()
}
